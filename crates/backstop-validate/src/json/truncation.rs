//! Where and in what a text was cut off.

use std::fmt;

/// What a text that was cut off ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CutState {
    /// Inside a string.
    String,
    /// At the last digit seen of a number: more may have followed.
    Number,
    /// Inside a literal or another bare word.
    Literal,
    /// Inside a key.
    Key,
    /// After a key, before its colon.
    AfterKey,
    /// After a colon, before the value.
    AfterColon,
    /// Between the members of a container that is still open.
    Container,
}

impl fmt::Display for CutState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "inside a string",
            Self::Number => "inside a number",
            Self::Literal => "inside a bare word",
            Self::Key => "inside a key",
            Self::AfterKey => "after a key",
            Self::AfterColon => "before a value",
            Self::Container => "inside an open container",
        })
    }
}

/// Where a text was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Truncation {
    /// The place in the value, as a JSON pointer (RFC 6901): the leaf or container under construction.
    pub pointer: String,
    /// What the text ends in.
    pub state: CutState,
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.state)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(f, " at {}", self.pointer) }
    }
}
