//! Redaction of a text that arrives in pieces: bytes in, redacted text with the same lines out.
//!
//! It keeps escape sequences and carriage returns as they are; it does not shorten.

use std::rc::Rc;

use crate::redact::{Findings, Redactor, Rules};
use crate::text::Decoder;

/// A text on its way through redaction. Its memory does not depend on the text's length.
#[derive(Debug)]
pub struct Filter {
    decoder: Decoder,
    redactor: Redactor,
}

impl Filter {
    /// Starts at the beginning of a text.
    #[must_use]
    pub fn new(rules: Rc<Rules>) -> Self {
        Self {
            decoder: Decoder::default(),
            redactor: Redactor::new(rules),
        }
    }

    /// Takes the next bytes and returns what can be given by now. What is not UTF-8 is
    /// replaced by U+FFFD. What an earlier call gave of a line beyond the held-back length is not
    /// taken back; it held no secret by itself.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let Self { decoder, redactor } = self;
        let mut given = String::new();
        decoder.push(bytes, |text| redactor.push(text, &mut given));
        given
    }

    /// Returns what was held back, and all that was found.
    #[must_use]
    pub fn finish(self) -> (String, Findings) {
        let Self {
            mut decoder,
            mut redactor,
        } = self;
        let mut given = String::new();
        decoder.finish(|text| redactor.push(text, &mut given));
        redactor.finish(&mut given);
        (given, redactor.findings().clone())
    }
}
