//! Remembers what lies ahead in a block, so that every search passes over it once.
//!
//! It does not search.

/// Where the next anchors of a block stand, so that each is searched once.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The next rare anchor.
    pub(super) rare: Next,
    /// The next shape: an odd byte, a long run, or a long run of base64.
    pub(super) shape: Next,
}

/// The next position of one search.
#[derive(Debug, Default)]
pub(super) enum Next {
    /// It was not searched.
    #[default]
    Unknown,
    /// It is there.
    At(usize),
    /// There is none.
    Never,
}

impl Next {
    /// Returns the next position at or after `position`, by `search` where it is not known yet.
    pub(super) fn at_or_after(
        &mut self,
        position: usize,
        search: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        let is_known = match self {
            Self::At(at) => *at >= position,
            Self::Never => true,
            Self::Unknown => false,
        };
        if !is_known {
            *self = search().map_or(Self::Never, Self::At);
        }
        match self {
            Self::At(at) => Some(*at),
            Self::Never | Self::Unknown => None,
        }
    }
}
