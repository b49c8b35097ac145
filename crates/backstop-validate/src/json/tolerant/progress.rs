//! How far a parse of a text that is still coming has got.

use super::quotes::ClosingQuote;
use super::step::State;
use crate::json::growth::Tree;

/// What an open parse has beside the parser itself.
pub(super) struct Growing {
    pub(super) state: State,
    pub(super) undo: Undo,
    /// Nothing more will come.
    pub(super) ended: bool,
    /// Nothing was repaired so far.
    pub(super) strict: bool,
    pub(super) tree: Tree,
}

/// Where to go on when a step has to be taken again.
pub(super) struct Undo {
    pub(super) pos: usize,
    pub(super) comma: Option<usize>,
    pub(super) committed: bool,
    pub(super) colonless: bool,
    pub(super) closing_quote: ClosingQuote,
    pub(super) lookahead: usize,
    pub(super) strict: bool,
}
