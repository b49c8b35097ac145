//! The two APIs that one server may have.

/// Which of OpenAI's APIs is spoken.
///
/// Both give the same answers to the same requests. Responses is OpenAI's newer one: some models reason and call
/// tools only there, and documents may be given by address. It has no `stop`, `seed` or penalties; what a request
/// has of them is left out and noted. Nothing is kept at the vendor unless
/// [`OpenAiOptions::store`](crate::OpenAiOptions::store) asks for it.
///
/// ```
/// use backstop_openai::{Api, OpenAi};
///
/// let openai = OpenAi::builder().api_key("sk-0123456789").api(Api::Responses).build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// Chat Completions, which compatible servers speak (default).
    #[default]
    Chat,
    /// Responses.
    Responses,
}

impl Api {
    /// Parameters that other APIs have and this one does not.
    pub(crate) fn lacks(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &[],
            Self::Responses => &["stop", "seed", "presence_penalty", "frequency_penalty"],
        }
    }

    /// Where a parameter stands in the body, as complaints about it name it.
    pub(crate) fn place_of(self, param: &'static str) -> &'static str {
        match (self, param) {
            (Self::Responses, "reasoning_effort") => "reasoning.effort",
            (Self::Responses, "verbosity") => "text.verbosity",
            _ => param,
        }
    }

    pub(crate) fn path(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["chat", "completions"],
            Self::Responses => &["responses"],
        }
    }
}
