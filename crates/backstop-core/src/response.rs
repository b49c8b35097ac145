//! What came back, in the same terms for every vendor.

use std::{borrow::Cow, fmt, ops::AddAssign};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::ToolCall;

/// One answer of one target, not yet judged. `Debug` shows sizes, never the text.
///
/// ```
/// use backstop_core::{FinishKind, Response, Usage};
///
/// let cut = Response::new("Once upon a").with_finish(FinishKind::Length).with_usage(Usage::new(12, 3));
/// assert_eq!(cut.usage.map(|usage| usage.total()), Some(15));
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Response {
    /// Version of this serialised form.
    pub version: u32,
    /// The answer's text; empty where there was none.
    pub text: String,
    /// Tool calls that the model asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// Tokens, where the vendor says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that served it, as the vendor names it; may differ from the one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The vendor's request id, for support.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The vendor's own signal that the model declined, with its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What of the request this target could not honour, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Cow<'static, str>>,
    /// The vendor's whole answer, if [`Request::keep_raw`](crate::Request::keep_raw) asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Box<Value>>,
}

impl Response {
    /// A text that ended normally.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            version: 1,
            text: text.into(),
            finish: FinishReason::from(FinishKind::Stop),
            ..Self::default()
        }
    }

    /// Adds a tool call.
    #[must_use]
    pub fn with_tool_call(mut self, call: ToolCall) -> Self {
        self.tool_calls.push(call);
        self
    }

    /// Sets why the model stopped.
    #[must_use]
    pub fn with_finish(mut self, finish: impl Into<FinishReason>) -> Self {
        self.finish = finish.into();
        self
    }

    /// Sets the token counts.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the model that served it.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the vendor's request id.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Sets the vendor's refusal signal.
    #[must_use]
    pub fn with_refusal(mut self, text: impl Into<String>) -> Self {
        self.refusal = Some(text.into());
        self
    }

    /// Adds a word on what could not be honoured.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<Cow<'static, str>>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Keeps the vendor's whole answer.
    #[must_use]
    pub fn with_raw(mut self, raw: Value) -> Self {
        self.raw = Some(Box::new(raw));
        self
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("text_bytes", &self.text.len())
            .field("tool_calls", &self.tool_calls)
            .field("finish", &self.finish)
            .field("usage", &self.usage)
            .field("model", &self.model)
            .field("request_id", &self.request_id)
            .field("refused", &self.refusal.is_some())
            .finish_non_exhaustive()
    }
}

/// Why the model stopped: a kind to match on, and the vendor's own word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FinishReason {
    /// What it means.
    pub kind: FinishKind,
    /// The word on the wire, also when the kind is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Cow<'static, str>>,
}

impl FinishReason {
    /// A kind with the vendor's word for it.
    #[must_use]
    pub fn new(kind: FinishKind, raw: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, raw: Some(raw.into()) }
    }
}

impl From<FinishKind> for FinishReason {
    fn from(kind: FinishKind) -> Self {
        Self { kind, raw: None }
    }
}

/// What a vendor's stop reason means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishKind {
    /// The model was done, or met a stop text.
    Stop,
    /// The token limit or the context window ended it.
    Length,
    /// It waits for tool results.
    ToolCalls,
    /// It declined.
    Refusal,
    /// The vendor's filter ended it.
    ContentFilter,
    /// The vendor paused a long turn and wants to be asked to go on.
    Paused,
    /// A word we do not know, kept in [`FinishReason::raw`].
    Other,
    /// The vendor named none (default).
    #[default]
    Unknown,
}

/// Tokens of one answer, or of all attempts of a call.
///
/// `input_tokens` counts the whole prompt, cached parts included; `output_tokens` the whole answer, reasoning
/// included. Adapters convert vendors that count otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Of the input: read from the vendor's cache.
    pub cached_tokens: u64,
    /// Of the input: written to the vendor's cache.
    pub cache_write_tokens: u64,
    /// Of the output: reasoning that the answer does not show.
    pub reasoning_tokens: u64,
    /// Counted by us, because the vendor did not get to say.
    pub estimated: bool,
}

impl Usage {
    /// Counts without cache and reasoning.
    #[must_use]
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_tokens: 0,
            cache_write_tokens: 0,
            reasoning_tokens: 0,
            estimated: false,
        }
    }

    /// Sets what was read from the cache.
    #[must_use]
    pub const fn with_cached(mut self, tokens: u64) -> Self {
        self.cached_tokens = tokens;
        self
    }

    /// Sets what was written to the cache.
    #[must_use]
    pub const fn with_cache_write(mut self, tokens: u64) -> Self {
        self.cache_write_tokens = tokens;
        self
    }

    /// Sets the hidden reasoning.
    #[must_use]
    pub const fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
        self
    }

    /// Marks the counts as ours, not the vendor's.
    #[must_use]
    pub const fn as_estimate(mut self) -> Self {
        self.estimated = true;
        self
    }

    /// Nothing was counted.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.input_tokens == 0 && self.output_tokens == 0
    }

    /// Input and output together.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.estimated = self.estimated || other.estimated;
    }
}
