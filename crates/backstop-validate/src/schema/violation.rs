//! One place where a value does not follow its schema.

use std::fmt;

use serde_json::Value;

use super::found;

/// Longest pointer that is shown, in characters. A model may make up keys of any length.
const MAX_POINTER: usize = 200;

/// One place where a value does not follow its schema. `Display` names the place and what was expected but not the
/// value found, so it may go into logs; [`feedback`](Self::feedback) quotes the value, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// JSON pointer of the place; empty for the whole value. Cut after 200 characters.
    pub pointer: String,
    /// What is asked for there.
    pub expected: String,
    /// What kind of value is there.
    pub found: String,
    quoted: String,
}

impl Violation {
    pub(crate) fn new(pointer: &str, expected: String, found: String, quoted: String) -> Self {
        Self { pointer: found::shortened(pointer, MAX_POINTER), expected, found, quoted }
    }

    /// What is expected at a place, and what is there in a value.
    pub(crate) fn at(pointer: &str, expected: String, root: &Value) -> Self {
        let place = if pointer.is_empty() { Some(root) } else { root.pointer(pointer) };
        match place {
            Some(value) => Self::of(pointer, expected, value),
            None => Self::new(pointer, expected, "none".to_owned(), "none".to_owned()),
        }
    }

    /// What is expected instead of a value.
    pub(crate) fn of(pointer: &str, expected: String, value: &Value) -> Self {
        Self::new(pointer, expected, found::kind(value), found::quoted(value))
    }

    /// For a value that is wrong in a place that would take too long to find.
    pub(super) fn somewhere(value: &Value) -> Self {
        Self::at("", "a value that follows the schema in all its parts".to_owned(), value)
    }

    /// The line that is sent to the model: place, expectation, and the value found, shortened.
    #[must_use]
    pub fn feedback(&self) -> String {
        format!("{}: expected {}, found {}", self.place(), self.expected, self.quoted)
    }

    fn place(&self) -> String {
        if self.pointer.is_empty() { "the whole value".to_owned() } else { format!("`{}`", self.pointer) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.place(), self.expected, self.found)
    }
}
