//! Walks through the lines of a block that are to be looked at, so that every search passes over
//! it once.
//!
//! It does not say why a line is one of them.

use super::sweep::first_shape;

/// What lies ahead in a block.
#[derive(Debug)]
pub(super) struct Ahead<'a> {
    /// Places of rare texts, in order.
    rare: &'a [usize],
    shape: Next,
}

/// The next shape: an odd byte, a long run, or a long run of base64.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// It was not searched.
    Unknown,
    /// It is there.
    At(usize),
    /// There is none.
    Never,
}

impl<'a> Ahead<'a> {
    /// Starts at the beginning of the block in which `rare` was found.
    pub(super) const fn new(rare: &'a [usize]) -> Self {
        Self {
            rare,
            shape: Next::Unknown,
        }
    }

    /// Returns a place in the first line to be looked at, from the line that begins at
    /// `position` on. The positions must only go up.
    pub(super) fn next(&mut self, block: &[u8], position: usize) -> Option<usize> {
        while let Some((first, rest)) = self.rare.split_first()
            && *first < position
        {
            self.rare = rest;
        }
        let rare = self.rare.first().copied();
        rare.into_iter().chain(self.shape(block, position)).min()
    }

    fn shape(&mut self, block: &[u8], position: usize) -> Option<usize> {
        let is_known = match self.shape {
            Next::At(at) => at >= position,
            Next::Never => true,
            Next::Unknown => false,
        };
        if !is_known {
            self.shape = first_shape(block, position).map_or(Next::Never, Next::At);
        }
        match self.shape {
            Next::At(at) => Some(at),
            Next::Never | Next::Unknown => None,
        }
    }
}
