//! Captured bytes made into plain text: decoded across reads, then normalised.
//!
//! It does not redact and it does not shorten; what it takes out it counts.

mod decode;
mod escape;
mod normalise;

pub use decode::Decoder;
pub use normalise::{Normaliser, SEAM, SEAM_BYTE, is_word};

/// Turns the bytes of one stream into plain text, however they were cut into reads.
#[derive(Debug, Default)]
pub struct PlainText {
    decoder: Decoder,
    normaliser: Normaliser,
}

impl PlainText {
    /// Takes the next bytes and gives the text that no later byte can change.
    pub fn push(&mut self, bytes: &[u8], mut give: impl FnMut(&str)) {
        let Self {
            decoder,
            normaliser,
        } = self;
        decoder.push(bytes, |text| normaliser.push(text, &mut give));
    }

    /// Gives the text that was held back.
    pub fn finish(&mut self, mut give: impl FnMut(&str)) {
        let Self {
            decoder,
            normaliser,
        } = self;
        decoder.finish(|text| normaliser.push(text, &mut give));
        normaliser.finish(&mut give);
    }

    /// Returns how many bytes were not UTF-8 and became U+FFFD.
    #[must_use]
    pub fn invalid_bytes(&self) -> u64 {
        self.decoder.invalid_bytes()
    }

    /// Returns how many escape sequences and control characters were taken out.
    #[must_use]
    pub fn controls_removed(&self) -> u64 {
        self.normaliser.controls_removed()
    }

    /// Returns how many carriage-return frames a later frame overwrote.
    #[must_use]
    pub fn frames_collapsed(&self) -> u64 {
        self.normaliser.frames_collapsed()
    }
}
