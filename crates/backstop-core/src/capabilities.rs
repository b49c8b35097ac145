//! What a model can do, as far as anybody told us.

use serde::{Deserialize, Serialize};

/// How a model can be held to a JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StructuredOutput {
    /// The vendor constrains the answer to a schema.
    Strict,
    /// The vendor constrains the answer to JSON; the schema goes into the prompt.
    JsonObject,
    /// The schema is given as a tool that must be called.
    Tool,
    /// Nothing: schema and wish go into the prompt.
    None,
}

/// What a model can do. `None` means unknown: it is tried, not skipped.
///
/// ```
/// use backstop_core::{Capabilities, StructuredOutput};
///
/// let known = Capabilities::unknown().with_context_window(128_000).with_images(true);
/// let corrected = Capabilities::unknown().with_structured_output(StructuredOutput::Strict).with_images(false);
/// let here = known.overlaid(corrected);
/// assert_eq!((here.context_window, here.images), (Some(128_000), Some(false)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Capabilities {
    /// How it can be held to a schema.
    pub structured_output: Option<StructuredOutput>,
    /// Tokens of prompt and answer together.
    pub context_window: Option<u32>,
    /// Most tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// Takes pictures.
    pub images: Option<bool>,
    /// Takes documents.
    pub documents: Option<bool>,
    /// Takes tools.
    pub tools: Option<bool>,
    /// Streams.
    pub streaming: Option<bool>,
    /// Goes on with an assistant message that stands last. Needed by [`OnInterrupt::Continue`](crate::OnInterrupt),
    /// which takes unknown for no.
    pub prefill: Option<bool>,
}

impl Capabilities {
    /// Nothing known.
    #[must_use]
    pub const fn unknown() -> Self {
        Self {
            structured_output: None,
            context_window: None,
            max_output_tokens: None,
            images: None,
            documents: None,
            tools: None,
            streaming: None,
            prefill: None,
        }
    }

    /// Sets how it can be held to a schema.
    #[must_use]
    pub const fn with_structured_output(mut self, mode: StructuredOutput) -> Self {
        self.structured_output = Some(mode);
        self
    }

    /// Sets the context window, in tokens.
    #[must_use]
    pub const fn with_context_window(mut self, tokens: u32) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the most tokens of one answer.
    #[must_use]
    pub const fn with_max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets whether it takes pictures.
    #[must_use]
    pub const fn with_images(mut self, yes: bool) -> Self {
        self.images = Some(yes);
        self
    }

    /// Sets whether it takes documents.
    #[must_use]
    pub const fn with_documents(mut self, yes: bool) -> Self {
        self.documents = Some(yes);
        self
    }

    /// Sets whether it takes tools.
    #[must_use]
    pub const fn with_tools(mut self, yes: bool) -> Self {
        self.tools = Some(yes);
        self
    }

    /// Sets whether it streams.
    #[must_use]
    pub const fn with_streaming(mut self, yes: bool) -> Self {
        self.streaming = Some(yes);
        self
    }

    /// Sets whether it goes on with an assistant message that stands last.
    #[must_use]
    pub const fn with_prefill(mut self, yes: bool) -> Self {
        self.prefill = Some(yes);
        self
    }

    /// These, with what `other` knows laid over them.
    #[must_use]
    pub fn overlaid(self, other: Self) -> Self {
        Self {
            structured_output: other.structured_output.or(self.structured_output),
            context_window: other.context_window.or(self.context_window),
            max_output_tokens: other.max_output_tokens.or(self.max_output_tokens),
            images: other.images.or(self.images),
            documents: other.documents.or(self.documents),
            tools: other.tools.or(self.tools),
            streaming: other.streaming.or(self.streaming),
            prefill: other.prefill.or(self.prefill),
        }
    }
}
