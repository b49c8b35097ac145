//! What the caller allows: how much may be repaired, what happens when several answers fit, and how large the input
//! may get.

/// How much an [`Extractor`](super::Extractor) may change to get a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The JSON must be valid as it stands. Only what surrounds it goes: byte order mark, prose, fences, reasoning.
    Strict,
    /// Cosmetic and structural repairs. No guess, and nothing from a text that was cut off.
    #[default]
    Tolerant,
    /// Guesses too, and the readable part of a text that was cut off. Both are always flagged; for display and for
    /// people who look at the result, not for a pipeline.
    Salvage,
}

/// What to do when several *different* values would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Candidates {
    /// Take the first, and say how many there were.
    First,
    /// Take the last, and say how many there were.
    Last,
    /// Refuse with [`ExtractError::Ambiguous`](super::ExtractError::Ambiguous).
    #[default]
    Refuse,
}

/// Bounds of one extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest text that is looked at, in bytes. Default 16 MiB.
    pub max_bytes: usize,
    /// Deepest nesting. Default and maximum [`Limits::MAX_DEPTH`].
    pub max_depth: usize,
    /// Most values that are looked at in one text. Default 64.
    pub max_candidates: usize,
    /// Most repairs that are listed; more are only counted. Default 64.
    pub max_repairs: usize,
}

impl Limits {
    /// The deepest nesting that serde_json reads back. Nothing deeper is ever built, so that every value can be
    /// printed, read again and dropped on a small stack.
    pub const MAX_DEPTH: usize = 127;

    pub(crate) fn depth(&self) -> usize {
        self.max_depth.min(Self::MAX_DEPTH)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 16 * 1024 * 1024, max_depth: Self::MAX_DEPTH, max_candidates: 64, max_repairs: 64 }
    }
}
