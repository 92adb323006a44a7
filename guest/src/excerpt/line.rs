//! A line that may be kept: the part of it that can be shown, and how long all of it is.
//!
//! It does not know why the line is kept.

/// A complete line of redacted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Position in the stream, from 1.
    pub(super) number: u64,
    /// The first bytes, up to the longest clamp.
    text: Box<str>,
    /// The length of the whole line without its newline.
    bytes: u64,
}

impl Line {
    /// Keeps of a line of `bytes` bytes, which starts with `text`, at most `limit` bytes.
    pub(super) fn new(number: u64, text: &str, bytes: u64, limit: usize) -> Self {
        Self {
            number,
            text: prefix(text, limit).into(),
            bytes,
        }
    }

    /// Returns the length of the whole line without its newline.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many bytes the line takes when clamped at `limit`, without its newline.
    pub(super) fn shown_bytes(&self, limit: usize) -> usize {
        let whole = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        if whole <= limit {
            return whole;
        }
        let kept = self.cut(limit);
        kept.len() + marker_bytes(self.left_out(kept), "bytes")
    }

    /// Writes the line, clamped at `limit`, and returns how many of its bytes were left out.
    pub(super) fn show(&self, limit: usize, text: &mut String) -> u64 {
        if usize::try_from(self.bytes).is_ok_and(|whole| whole <= limit) {
            text.push_str(&self.text);
            return 0;
        }
        let kept = self.cut(limit);
        let left_out = self.left_out(kept);
        text.push_str(kept);
        text.push_str(&marker(left_out, "bytes"));
        left_out
    }

    /// Returns the first bytes of the line that fit into `limit` together with the marker.
    fn cut(&self, limit: usize) -> &str {
        // The marker's number has at most as many digits as the line's length.
        let room = limit.saturating_sub(marker_bytes(self.bytes, "bytes"));
        prefix(&self.text, room)
    }

    fn left_out(&self, kept: &str) -> u64 {
        self.bytes - u64::try_from(kept.len()).unwrap_or(self.bytes)
    }

    /// Returns what the line begins with.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the line shows nothing.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }
}

/// Returns the text that stands for what is missing.
pub(super) fn marker(count: u64, unit: &str) -> String {
    format!("...truncated {count} {unit}...")
}

/// Returns the length of that text.
pub(super) fn marker_bytes(count: u64, unit: &str) -> usize {
    let digits = usize::try_from(count.checked_ilog10().unwrap_or(0)).unwrap_or(0) + 1;
    "...truncated  ...".len() + digits + unit.len()
}

/// Returns the longest prefix of `text` of at most `limit` bytes that ends on a character border.
pub(super) fn prefix(text: &str, limit: usize) -> &str {
    text.split_at_checked(text.floor_char_boundary(limit))
        .map_or(text, |(kept, _)| kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_as_long_as_it_says() {
        for count in [0, 1, 9, 10, 99, 100, 12_345, u64::MAX] {
            assert_eq!(marker(count, "lines").len(), marker_bytes(count, "lines"));
        }
    }

    #[test]
    fn a_clamped_line_fits_and_says_what_it_left_out() {
        let text = "é".repeat(300);
        let line = Line::new(1, &text, 600, 400);
        for limit in [0, 20, 48, 80, 399, 400] {
            let mut shown = String::new();
            let left_out = line.show(limit, &mut shown);
            assert_eq!(shown.len(), line.shown_bytes(limit));
            assert!(shown.len() <= limit.max(25), "{limit}");
            let (kept, _) = shown.split_once("...truncated ").unwrap();
            assert_eq!(u64::try_from(kept.len()).unwrap() + left_out, 600);
            assert!(shown.ends_with(&marker(left_out, "bytes")));
        }
    }
}
