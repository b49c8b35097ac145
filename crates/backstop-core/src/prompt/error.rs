//! What is wrong with a template, or with the values that it is given.

/// What is wrong with a template, or with the values that it is given. Names parts and variables, shows neither the
/// texts nor the values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// A template without any text.
    #[error("the prompt template is empty: add `.user(\"…\")` or `.system(\"…\")`")]
    Empty,
    /// A `{{` that begins no variable.
    #[error(
        "{part} of the prompt template has a `{{{{` at byte {offset} that begins no variable such as `{{{{name}}}}`: \
         close it, or write `\\{{{{` for the braces themselves"
    )]
    Syntax {
        /// The text that it stands in: `system`, `user`, `example 1`, …; for which target, if it is an override.
        part: String,
        /// Where in that text.
        offset: usize,
    },
    /// An override that no target can match.
    #[error("an override of the prompt template has an empty {what}: name one, or leave the override out")]
    Override {
        /// `provider` or `model`.
        what: &'static str,
    },
    /// A variable without a value.
    #[error(
        "the variable `{variable}` in {part} of the prompt template has no value: give it one when rendering"
    )]
    Missing {
        /// The variable.
        variable: String,
        /// The text that wants it.
        part: String,
    },
    /// A value that no text uses.
    #[error(
        "no text of the prompt template uses the variable `{variable}`: check its spelling, or leave it out"
    )]
    Unused {
        /// The variable.
        variable: String,
    },
    /// A variable with two values.
    #[error("the variable `{variable}` was given twice: which value is meant?")]
    Twice {
        /// The variable.
        variable: String,
    },
}
