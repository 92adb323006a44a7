//! Excerpts: what is kept of a stream of redacted text, and the numbers of what is not.
//!
//! It neither decodes nor redacts. The same text gives the same excerpt, however it comes in pieces.

mod bucket;
mod budget;
mod choice;
mod decoration;
mod form;
mod grade;
mod layout;
mod line;
mod location;
mod marks;
mod open;
mod picker;
mod place;
mod policy;
#[cfg(test)]
#[expect(
    clippy::as_conversions,
    reason = "a test may stop at the first surprise"
)]
mod reference;
mod screen;
mod search;
mod tail;
mod words;

pub(crate) use grade::{EXPLAINED, grade as grade_of};
pub(crate) use search::telling_texts;

pub use budget::{Shares, share};
pub use picker::{Cut, Picker};
pub use policy::{CaptureOptions, ExcerptPolicy};
