//! How a model is told that its answer cannot be used.

use std::{borrow::Cow, fmt, sync::Arc};

use crate::{error::ConfigError, message::Message, response::Response};

/// Most characters of errors that are sent. A validator may have a line for each of a thousand rows.
const MAX_ERRORS: usize = 4_000;
const ERRORS: &str = "{errors}";
const DEFAULT: &str = "That answer cannot be used:\n{errors}\nAnswer again. Give the complete corrected answer and nothing else.";

/// How a model is told that its answer cannot be used: after the conversation come its own bad answer and a user
/// message with the errors. The schema is not repeated there; it stays where the request has it.
///
/// Set on a chain ([`ChainBuilder::reask`](crate::ChainBuilder::reask)) or on one call
/// ([`Call::reask`](crate::Call::reask)). How often a model is asked again is
/// [`Target::reasks`](crate::Target::reasks), which is counted apart from retries.
///
/// ```
/// use backstop_core::Reask;
///
/// let german = Reask::new("So geht es nicht:\n{errors}\nBitte noch einmal, vollständig.")?.without_answer();
/// assert!(Reask::new("Try again.").is_err(), "the model would not learn what is wrong");
/// # let _ = german;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use = "a template does nothing until a chain or a call has it"]
pub struct Reask(Arc<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    before: Cow<'static, str>,
    after: Cow<'static, str>,
    with_answer: bool,
}

impl Reask {
    /// A message in which `{errors}` stands for what is wrong: one line for each place, at most 4,000 characters.
    ///
    /// # Errors
    /// `{errors}` does not occur exactly once.
    pub fn new(template: impl Into<String>) -> Result<Self, ConfigError> {
        let template = template.into();
        let mut parts = template.split(ERRORS);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(before), Some(after), None) => Ok(Self(Arc::new(Inner {
                before: before.to_owned().into(),
                after: after.to_owned().into(),
                with_answer: true,
            }))),
            _ => Err(ConfigError::setting(
                "reask",
                "needs `{errors}` exactly once: it is replaced by what is wrong",
            )),
        }
    }

    /// Leaves out the bad answer. Saves its tokens, and a model cannot copy its mistake; but it answers from the
    /// beginning. Default: the answer is shown.
    pub fn without_answer(mut self) -> Self {
        Arc::make_mut(&mut self.0).with_answer = false;
        self
    }

    /// The messages that follow the conversation.
    pub(crate) fn messages(&self, bad: &Response, errors: &str) -> Vec<Message> {
        let errors = match errors.char_indices().nth(MAX_ERRORS) {
            Some((end, _)) => Cow::Owned(format!("{}…", errors.get(..end).unwrap_or_default())),
            None => Cow::Borrowed(errors),
        };
        let wrong = Message::user(format!("{}{errors}{}", self.0.before, self.0.after));
        // Vendors reject an assistant message without text.
        if !self.0.with_answer || bad.text.trim().is_empty() {
            return vec![wrong];
        }
        vec![Message::assistant(bad.text.clone()), wrong]
    }
}

/// Without its words, which are part of a prompt.
impl fmt::Debug for Reask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reask").field("with_answer", &self.0.with_answer).finish_non_exhaustive()
    }
}

impl Default for Reask {
    /// In English, with the bad answer.
    fn default() -> Self {
        let (before, after) = DEFAULT.split_once(ERRORS).unwrap_or((DEFAULT, ""));
        Self(Arc::new(Inner { before: before.into(), after: after.into(), with_answer: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_hold_the_bad_answer_and_the_errors() {
        let messages = Reask::default().messages(&Response::new("{}"), "`/total` is missing");
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[0].text(), "{}");
        assert_eq!(messages[1].text(), DEFAULT.replace(ERRORS, "`/total` is missing"));
        assert_eq!(Reask::default().messages(&Response::new(" "), "x").len(), 1);
        assert_eq!(Reask::default().without_answer().messages(&Response::new("{}"), "x").len(), 1);
    }

    #[test]
    fn errors_are_inserted_as_they_are_and_cut_at_a_character() {
        let reask = Reask::new("<{errors}>").unwrap();
        assert_eq!(reask.messages(&Response::new(""), "a {errors} b")[0].text(), "<a {errors} b>");
        let long = "é".repeat(MAX_ERRORS + 1);
        let sent = reask.messages(&Response::new(""), &long)[0].text().into_owned();
        assert_eq!(sent.chars().count(), MAX_ERRORS + 3);
        assert!(sent.ends_with("é…>"));
    }

    #[test]
    fn a_template_needs_the_errors_once() {
        for wrong in ["", "again", "{errors} {errors}", "{error}"] {
            assert!(Reask::new(wrong).unwrap_err().to_string().contains("exactly once"), "{wrong}");
        }
    }
}
