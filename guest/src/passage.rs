//! The redacted text of a stream on its way out, beside its way into the excerpt.
//!
//! It keeps nothing between two calls but how much of the open line was given.

use crate::excerpt::Picker;
use crate::expect::Watch;
use crate::redact::{Redactor, Sink, Telling};
use crate::text::SEAM;

/// What one call gives of a stream's redacted text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    text: String,
    taken_back: u64,
    /// How much of the line that is open at the start of `text` was given before and stays.
    before: u64,
}

impl Passage {
    /// Starts one, after `given` bytes of a line that is still open.
    pub(crate) fn after(given: u64) -> Self {
        Self {
            before: given,
            ..Self::default()
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text, and uses the passage up.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns how many bytes of what earlier calls gave do not count any more. It is all of the
    /// line that was open, or nothing.
    #[must_use]
    pub fn taken_back(&self) -> u64 {
        self.taken_back
    }

    /// Returns how much of the line that is open now was given.
    pub(crate) fn open_bytes(&self) -> u64 {
        let length = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
        match self.text.rsplit_once('\n') {
            Some((_, open)) => length(open),
            None => self.before + length(&self.text),
        }
    }

    fn retract_line(&mut self) {
        match self.text.rfind('\n') {
            Some(at) => self.text.truncate(at + 1),
            None => {
                self.text.clear();
                self.taken_back += std::mem::take(&mut self.before);
            }
        }
    }
}

/// Takes redacted text into the excerpt, past what is expected of it, and out where it is wanted.
pub(crate) struct Outlet<'a> {
    pub(crate) picker: &'a mut Picker,
    pub(crate) passage: Option<&'a mut Passage>,
    pub(crate) watch: Option<&'a mut Watch>,
}

impl Outlet<'_> {
    /// Hands text on: to what is expected of it as it is, and here after redaction.
    pub(crate) fn pass(&mut self, text: &str, redactor: &mut Redactor) {
        if let Some(watch) = &mut self.watch {
            // What is expected is looked for in the text itself.
            text.split(SEAM).for_each(|part| watch.push(part));
        }
        redactor.push(text, self);
    }

    /// Shows redacted text to all but the excerpt, which takes it next.
    fn see(&mut self, text: &str) {
        if let Some(watch) = &mut self.watch {
            watch.see(text, self.picker.lines());
        }
        if let Some(passage) = &mut self.passage {
            passage.text.push_str(text);
        }
    }
}

impl Sink for Outlet<'_> {
    fn text(&mut self, text: &str) {
        self.see(text);
        self.picker.text(text);
    }

    fn sifted(&mut self, text: &str, telling: Telling<'_>) {
        self.see(text);
        self.picker.sifted(text, telling);
    }

    fn retract_line(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.retract_line();
        }
        self.picker.retract_line();
        if let Some(passage) = &mut self.passage {
            passage.retract_line();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Passage;

    #[test]
    fn only_the_open_line_is_taken_back() {
        let mut passage = Passage::after(5);
        passage.text.push_str("x\nopen");
        passage.retract_line();
        assert_eq!((passage.text(), passage.taken_back()), ("x\n", 0));
        assert_eq!(passage.open_bytes(), 0);
        let mut passage = Passage::after(5);
        passage.text.push_str("more");
        assert_eq!(passage.open_bytes(), 9);
        passage.retract_line();
        passage.text.push_str("gone");
        assert_eq!((passage.text(), passage.taken_back()), ("gone", 5));
        assert_eq!(passage.open_bytes(), 4);
    }
}
