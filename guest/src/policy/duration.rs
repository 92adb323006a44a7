//! Reads durations as people write them: `90s`, `1h30m`, `250ms`.
//!
//! A bare number is refused: nothing says whether it means seconds or milliseconds.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A number of milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millis(pub(crate) u64);

/// Thirty days: what is longer is a slip of the pen, and fits no timer.
const LONGEST: u64 = 30 * 24 * 3_600_000;

/// From the largest to the smallest.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

impl Millis {
    /// Reads whole numbers, each with its unit, the larger units first.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut total: u64 = 0;
        let mut finest: Option<usize> = None;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, tail) = rest.split_at_checked(digits)?;
            let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (name, tail) = tail.split_at_checked(letters)?;
            let rank = UNITS.iter().position(|(unit, _)| *unit == name)?;
            let (_, factor) = UNITS.get(rank)?;
            if finest.is_some_and(|finest| rank <= finest) {
                return None;
            }
            finest = Some(rank);
            let number: u64 = number.parse().ok()?;
            total = total.checked_add(number.checked_mul(*factor)?)?;
            rest = tail;
        }
        (finest.is_some() && total <= LONGEST).then_some(Self(total))
    }
}

impl fmt::Display for Millis {
    /// Writes what is read as a duration: whole units, the larger first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (unit, factor) in UNITS {
            let count = rest / factor;
            rest %= factor;
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        if self.0 == 0 {
            f.write_str("0s")?;
        }
        Ok(())
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(MillisVisitor)
    }
}

struct MillisVisitor;

impl Visitor<'_> for MillisVisitor {
    type Value = Millis;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"90s\", \"1h30m\" or \"250ms\", at most \"30d\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Millis, E> {
        Millis::parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_sums_of_whole_units() {
        for (text, millis) in [
            ("90s", 90_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("250ms", 250),
            ("1m250ms", 60_250),
            ("1d2h3m4s5ms", 93_784_005),
            ("0s", 0),
            ("30d", LONGEST),
        ] {
            assert_eq!(Millis::parse(text), Some(Millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        for text in ["90s", "1h30m", "250ms", "1d2h3m4s5ms", "0s", "30d"] {
            let read = Millis::parse(text).unwrap();
            assert_eq!(Millis::parse(&read.to_string()), Some(read), "{text}");
        }
        assert_eq!(Millis(90_000).to_string(), "1m30s");
    }

    #[test]
    fn what_is_ambiguous_or_endless_is_refused() {
        for text in [
            "",
            "90",
            "s",
            "1.5s",
            "-1s",
            "1m1h",
            "1s1s",
            "1 s",
            "1S",
            "1ms1s",
            "30d1ms",
            "99999999999999999999s",
            "18446744073709551615d",
            "1s ",
            "é",
            "1sé",
        ] {
            assert_eq!(Millis::parse(text), None, "{text}");
        }
    }
}
