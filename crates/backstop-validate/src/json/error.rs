//! Why a text yields no value. Each reason calls for something else: another attempt, more tokens, feedback.

use super::extracted::Extracted;
use super::repair::Repair;
use super::truncation::Truncation;

/// Why no value came out of a text.
///
/// The texts of these errors hold no part of the input beyond the keys in a pointer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// Nothing but blanks.
    #[error("the text is empty: ask again")]
    Empty,
    /// No JSON in the text.
    #[error("there is no JSON in the text: ask for JSON alone, without prose")]
    NoJson,
    /// Reasoning, and no answer after it.
    #[error("the text holds reasoning but no answer after it: {}", if *unclosed { "it was cut off, so raise the token limit" } else { "ask again" })]
    OnlyReasoning {
        /// The block of reasoning never ends.
        unclosed: bool,
    },
    /// The text ends before the value does.
    #[error("the JSON was cut off {0}: raise the token limit, or ask for a shorter answer")]
    Truncated(Truncation),
    /// Several different values would do.
    #[error(
        "{count} different values would do: ask for one, give a schema that tells them apart, or allow the first or last"
    )]
    Ambiguous {
        /// How many different values there are.
        count: usize,
    },
    /// There is JSON, but the schema accepts none of it.
    #[error("the JSON does not match the schema: tell the model what is wrong with it")]
    Mismatch(Box<Extracted>),
    /// A value could be had only by a repair that the policy does not allow.
    #[error("the JSON needs a repair that the policy does not allow: {0}")]
    NotAllowed(Repair),
    /// The JSON is damaged beyond repair.
    #[error("the JSON is damaged at byte {offset}{}: expected {expected}", at(pointer))]
    Damaged {
        /// Where, in bytes.
        offset: usize,
        /// Where in the value, as a JSON pointer.
        pointer: String,
        /// What would have been right there.
        expected: &'static str,
    },
    /// Nested deeper than [`Limits::max_depth`](super::Limits::max_depth).
    #[error("the JSON is nested deeper than {limit} levels (byte {offset})")]
    TooDeep {
        /// Where the level too many opens, in bytes.
        offset: usize,
        /// The limit.
        limit: usize,
    },
    /// Longer than [`Limits::max_bytes`](super::Limits::max_bytes).
    #[error("the text has {len} bytes, more than the limit of {limit}")]
    TooLong {
        /// Bytes of the text.
        len: usize,
        /// The limit.
        limit: usize,
    },
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" ({pointer})") }
}

impl ExtractError {
    /// The kind of error as a word for logs and metrics, such as `truncated`: that of the
    /// [`FailureKind`](backstop_core::FailureKind) where there is one for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoJson => "not_json",
            Self::OnlyReasoning { .. } => "only_reasoning",
            Self::Truncated(_) => "truncated",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Mismatch(_) => "schema_mismatch",
            Self::NotAllowed(_) => "not_allowed",
            Self::Damaged { .. } => "damaged",
            Self::TooDeep { .. } => "too_deep",
            Self::TooLong { .. } => "too_long",
        }
    }
}
