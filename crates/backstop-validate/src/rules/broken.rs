//! Rules that a value breaks, as one rejection.

use std::borrow::Cow;

use backstop_core::Rejection;
use serde_json::Value;

use super::names::as_in_json;
use crate::schema::Violation;

/// Most broken rules that are described.
const MAX_LINES: usize = 5;

/// One rule that a value breaks.
pub(crate) struct Broken {
    pointer: String,
    words: Words,
}

enum Words {
    /// Completes "expected …"; quotes nothing.
    Expected(Cow<'static, str>),
    /// For the model only.
    Explained(String),
}

impl Broken {
    pub(super) fn expected(pointer: &str, expected: impl Into<Cow<'static, str>>) -> Self {
        Self { pointer: pointer.to_owned(), words: Words::Expected(expected.into()) }
    }

    pub(super) fn explained(pointer: &str, words: String) -> Self {
        Self { pointer: pointer.to_owned(), words: Words::Explained(words) }
    }

    fn place(&self, json: &Value) -> String {
        as_in_json(&self.pointer, json)
    }

    /// The line for people and the line for the model.
    fn lines(&self, json: &Value) -> (String, String) {
        match &self.words {
            Words::Expected(expected) => {
                let violation = Violation::at(&self.place(json), expected.clone().into_owned(), json);
                (violation.to_string(), violation.feedback())
            }
            Words::Explained(words) => {
                let place = self.place(json);
                let place = if place.is_empty() { "the whole value".into() } else { format!("`{place}`") };
                (format!("{place} breaks its rule"), format!("{place}: {words}"))
            }
        }
    }
}

/// The rejection of a value that breaks rules.
pub(super) fn rejection(broken: &[Broken], json: &Value) -> Result<(), Rejection> {
    let Some(first) = broken.first() else { return Ok(()) };
    let lines = broken.iter().take(MAX_LINES).map(|broken| broken.lines(json));
    let (mut reasons, mut feedback): (Vec<String>, Vec<String>) =
        lines.map(|(reason, line)| (reason, format!("- {line}"))).unzip();
    let more = broken.len().saturating_sub(MAX_LINES);
    if more > 0 {
        reasons.push(format!("{more} more"));
        feedback.push(format!("- and {more} more"));
    }
    let rejection = Rejection::schema(reasons.join("; ")).with_feedback(feedback.join("\n"));
    Err(rejection.with_pointer(first.place(json)))
}
