//! The steps of a parse: what comes next, and how it ends.

use serde_json::Value;

use crate::json::repair::{Repair, RepairKind};
use crate::json::truncation::{CutState, Truncation};

/// How a parse ended.
#[derive(Debug)]
pub(crate) enum End {
    Value(Value),
    /// The text ended first. What was there, closed, if guesses are allowed.
    Cut {
        at: Truncation,
        partial: Option<Value>,
    },
    /// Only a repair that is not allowed would help.
    NotAllowed(Repair),
    Damaged {
        offset: usize,
        pointer: String,
        expected: &'static str,
    },
    TooDeep(usize),
}

/// Why the parser stops before the end of the value.
pub(super) enum Halt {
    Cut(CutState, Option<Value>),
    NotAllowed(RepairKind, usize),
    Damaged(usize, &'static str),
    TooDeep(usize),
    /// The text that is still to come decides.
    More,
}

pub(super) type Step<T> = Result<T, Halt>;

/// What comes next.
#[derive(Clone)]
pub(super) enum State {
    /// A key or an item, or the closing bracket.
    Member,
    /// The colon after the key at this offset.
    Colon(usize),
    /// The value after a colon.
    Value,
    /// The rest of a string value.
    Text,
    /// What may be joined to a string value.
    Join,
    /// A comma or the closing bracket.
    After,
    Done(Value),
}
