//! Reads RFC 3339 times.
//!
//! It does not know what time it is.

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Reads a time such as `2026-03-01T12:00:00.250Z`, with any offset and any number of
    /// digits after the point (what is beyond milliseconds is cut). `None` where it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once(['T', 't', ' '])?;
        let days = days(date)?;
        let (clock, offset) = split_offset(time)?;
        let (whole, millis) = match clock.split_once('.') {
            Some((whole, fraction)) => (whole, milliseconds(fraction)?),
            None => (clock, 0),
        };
        let mut parts = whole.split(':');
        let hour = number(parts.next()?, 2, 0..=23)?;
        let minute = number(parts.next()?, 2, 0..=59)?;
        // A leap second is the last moment of its minute.
        let second = number(parts.next()?, 2, 0..=60)?.min(59);
        if parts.next().is_some() {
            return None;
        }
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset;
        Some(Self(seconds * 1_000 + millis))
    }

    /// Returns the time so many milliseconds later.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add_unsigned(millis))
    }

    /// Returns how many milliseconds this is after `other`; negative where it is before.
    #[must_use]
    pub fn millis_after(self, other: Self) -> i64 {
        self.0.saturating_sub(other.0)
    }
}

/// The days since 1970-01-01.
fn days(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4, 0..=9_999)?;
    let month = number(parts.next()?, 2, 1..=12)?;
    let day = number(parts.next()?, 2, 1..=31)?;
    if parts.next().is_some() {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if day > length {
        return None;
    }
    // Years are counted from March, so that the leap day is the last of its year.
    let shifted = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leap_days = shifted.div_euclid(4) - shifted.div_euclid(100) + shifted.div_euclid(400);
    Some(shifted * 365 + leap_days + day_of_year - 719_468)
}

/// The clock and the offset from UTC in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let (clock, offset, sign) = match time.split_once('+') {
        Some((clock, offset)) => (clock, offset, 1),
        None => time
            .split_once('-')
            .map(|(clock, offset)| (clock, offset, -1))?,
    };
    let (hours, minutes) = offset.split_once(':')?;
    let hours = number(hours, 2, 0..=23)?;
    let minutes = number(minutes, 2, 0..=59)?;
    Some((clock, sign * (hours * 3_600 + minutes * 60)))
}

fn milliseconds(fraction: &str) -> Option<i64> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: String = fraction.chars().chain("00".chars()).take(3).collect();
    digits.parse().ok()
}

fn number(text: &str, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = if plain {
        text.parse().ok()?
    } else {
        return None;
    };
    range.contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<i64> {
        Timestamp::parse(text).map(|time| time.0)
    }

    #[test]
    fn known_moments_are_read_exactly() {
        assert_eq!(millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(millis("1970-01-01T00:00:00.5Z"), Some(500));
        assert_eq!(millis("2000-02-29T23:59:59.999Z"), Some(951_868_799_999));
        assert_eq!(millis("2026-11-30T12:00:00.250Z"), Some(1_796_040_000_250));
        assert_eq!(millis("1969-12-31T23:59:59.999Z"), Some(-1));
        assert_eq!(millis("1970-01-01T01:30:00.000123+01:30"), Some(0));
        assert_eq!(millis("1969-12-31T23:00:00-01:00"), Some(0));
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_day_before() {
        let mut last = days("1899-12-31").unwrap();
        for year in 1900..2300 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(now) = days(&format!("{year:04}-{month:02}-{day:02}")) {
                        assert_eq!(now, last + 1, "{year}-{month}-{day}");
                        last = now;
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "T",
            "now",
            "2026-01-01",
            "2026-02-30T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00Z",
            "2026-1-01T00:00:00Z",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00+1:00",
            "2026-01-01T00:00:00é",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}
