//! From the JSON of `generateContent` to a response.
//!
//! Only what is used is read, and almost nothing is required. Words that we do not know are kept.

use std::borrow::Cow;

use backstop_core::{FailureKind, FinishKind, FinishReason, ProviderError, Response, ToolCall, Usage};
use backstop_http::{
    Reply, lenient,
    recognise::{self, Asked},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::error;

/// Reads a success body: one answer, or the chunks of one in an array, as Google streams without server-sent events.
pub(crate) fn read(reply: &Reply, keep_raw: bool, asked: &Asked<'_>) -> Result<Response, ProviderError> {
    let no_json = |_| recognise::malformed(reply, "the body is not the JSON of `generateContent`");
    let generated = if reply.body.trim_ascii_start().starts_with(b"[") {
        let chunks: Vec<Generated<'_>> = reply.json().map_err(no_json)?;
        let generated = chunks.into_iter().reduce(Generated::and).unwrap_or_default();
        generated.complete(reply)?
    } else {
        reply.json().map_err(no_json)?
    };
    let mut response = generated.into_response(asked)?;
    response.request_id = reply.request_id.clone().or(response.request_id);
    if keep_raw {
        response.raw = reply.json().ok().map(Box::new);
    }
    Ok(response)
}

/// A whole answer, or a chunk of one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Generated<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, deserialize_with = "lenient::object")]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(deserialize_with = "lenient::object")]
    pub(crate) usage_metadata: Option<WireUsage>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    pub(crate) model_version: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    pub(crate) response_id: Option<Cow<'a, str>>,
    pub(crate) error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Feedback<'a> {
    #[serde(borrow, deserialize_with = "lenient::word")]
    block_reason: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    pub(crate) finish_reason: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "lenient::quoted_count")]
    index: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<WirePart<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WirePart<'a> {
    text: Option<String>,
    #[serde(deserialize_with = "lenient::flag")]
    thought: Option<bool>,
    // Boxed, because few parts are one and all are moved.
    #[serde(borrow)]
    function_call: Option<Box<WireCall<'a>>>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    thought_signature: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireCall<'a> {
    #[serde(borrow, deserialize_with = "lenient::word")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    /// Stands beside the call.
    #[serde(skip)]
    signature: Option<Cow<'a, str>>,
}

/// What a part holds, as far as it matters.
pub(crate) enum Piece<'a> {
    Text(String),
    Thought(String),
    Call(WireCall<'a>),
}

impl<'a> WirePart<'a> {
    pub(crate) fn into_piece(self) -> Option<Piece<'a>> {
        match (self.function_call, self.text.filter(|text| !text.is_empty())) {
            (Some(call), _) => Some(Piece::Call(WireCall { signature: self.thought_signature, ..*call })),
            (None, Some(text)) if self.thought == Some(true) => Some(Piece::Thought(text)),
            (None, Some(text)) => Some(Piece::Text(text)),
            (None, None) => None,
        }
    }
}

impl WireCall<'_> {
    /// `index` counts the calls of the answer.
    pub(crate) fn into_call(self, index: usize) -> ToolCall {
        let some = |text: Option<Cow<'_, str>>| text.filter(|text| !text.is_empty()).map(Cow::into_owned);
        let id = some(self.id).unwrap_or_else(|| format!("{MADE_UP}{index}"));
        let arguments = self.args.map_or("{}", RawValue::get);
        let mut call = ToolCall::new(id, self.name.unwrap_or_default(), arguments);
        call.signature = some(self.signature);
        call
    }
}

const MADE_UP: &str = "call_";

/// Whether an id is one that [`WireCall::into_call`] makes up.
pub(crate) fn made_up(id: &str) -> bool {
    let number = id.strip_prefix(MADE_UP).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

impl<'a> Candidate<'a> {
    pub(crate) fn parts(&mut self) -> Vec<WirePart<'a>> {
        self.content.take().and_then(|content| content.parts).unwrap_or_default()
    }
}

impl<'a> Generated<'a> {
    /// The first candidate; only one is ever asked for.
    pub(crate) fn take_candidate(&mut self) -> Option<Candidate<'a>> {
        let candidates = self.candidates.take().unwrap_or_default();
        candidates.into_iter().find(|candidate| candidate.index.unwrap_or(0) == 0)
    }

    /// Why the prompt was blocked.
    pub(crate) fn block_reason(&mut self) -> Option<String> {
        self.prompt_feedback.take().and_then(|feedback| feedback.block_reason).map(Cow::into_owned)
    }

    /// This chunk and the next as one.
    pub(crate) fn and(mut self, mut next: Self) -> Self {
        let candidate = match (self.take_candidate(), next.take_candidate()) {
            (Some(mut one), Some(mut more)) => {
                let mut parts = one.parts();
                parts.extend(more.parts());
                let finish_reason = more.finish_reason.or(one.finish_reason);
                Some(Candidate { content: Some(Content { parts: Some(parts) }), finish_reason, index: None })
            }
            (one, other) => one.or(other),
        };
        Self {
            candidates: candidate.map(|candidate| vec![candidate]),
            prompt_feedback: self.prompt_feedback.or(next.prompt_feedback),
            usage_metadata: match (self.usage_metadata, next.usage_metadata) {
                (Some(before), Some(after)) => Some(before.updated(after)),
                (before, after) => after.or(before),
            },
            model_version: self.model_version.or(next.model_version),
            response_id: self.response_id.or(next.response_id),
            error: self.error.or(next.error),
        }
    }

    /// What was put together from chunks, if the last of them was among these.
    pub(crate) fn complete(self, reply: &Reply) -> Result<Self, ProviderError> {
        let mut candidates = self.candidates.iter().flatten();
        let open = candidates.any(|candidate| candidate.finish_reason.is_none());
        if open && self.error.is_none() {
            return Err(recognise::malformed(reply, "the stream ended before the model was done"));
        }
        Ok(self)
    }

    pub(crate) fn into_response(mut self, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        if let Some(error) = self.error.take().filter(recognise::is_error) {
            return Err(error::in_band(error, asked));
        }
        let usage = self.usage_metadata.map(Usage::from);
        let mut response = self.answer().map_err(|error| {
            let error = self.response_id.iter().fold(error, |error, id| error.with_request_id(id.as_ref()));
            usage.into_iter().fold(error, ProviderError::with_usage)
        })?;
        response.usage = usage;
        let some = |text: Option<Cow<'_, str>>| text.filter(|text| !text.is_empty()).map(Cow::into_owned);
        response.model = some(self.model_version);
        response.request_id = some(self.response_id);
        Ok(response)
    }

    fn answer(&mut self) -> Result<Response, ProviderError> {
        let Some(mut candidate) = self.take_candidate() else {
            return match self.block_reason() {
                Some(reason) => Ok(Response::new("").with_finish(blocked(reason))),
                None => {
                    Err(ProviderError::new(FailureKind::MalformedResponse, "the answer has no candidate")
                        .with_status(200))
                }
            };
        };
        let (mut response, mut thought) = (Response::new(""), false);
        for piece in candidate.parts().into_iter().filter_map(WirePart::into_piece) {
            match piece {
                Piece::Text(text) if response.text.is_empty() => response.text = text,
                Piece::Text(text) => response.text.push_str(&text),
                Piece::Call(call) => response.tool_calls.push(call.into_call(response.tool_calls.len())),
                Piece::Thought(_) => thought = true,
            }
        }
        if thought && response.text.is_empty() {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        response.finish = finish(candidate.finish_reason, !response.tool_calls.is_empty())?;
        if let Some(word) = response.finish.raw.as_deref().filter(|word| BROKEN.contains(word)) {
            let note = format!("Gemini calls its own answer broken ({word}); its text was dropped");
            response.text = String::new();
            response.tool_calls = Vec::new();
            response.notes.push(Cow::Owned(note));
        }
        Ok(response)
    }
}

/// Reasons with which the answer, as far as there is one, is not to be used.
pub(crate) const BROKEN: &[&str] =
    &["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL"];

/// Reasons for which Google's filter ends an answer. `LANGUAGE`: the filter does not know the language.
const FILTERED: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "ESCALATION",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
];

/// Why a prompt got no answer.
pub(crate) fn blocked(reason: String) -> FinishReason {
    FinishReason::new(FinishKind::ContentFilter, Cow::Owned(reason))
}

/// What a `finishReason` means; one of them is about the account.
pub(crate) fn finish(word: Option<Cow<'_, str>>, calls: bool) -> Result<FinishReason, ProviderError> {
    let kind = match word.as_deref() {
        None | Some("" | "FINISH_REASON_UNSPECIFIED") => FinishKind::Unknown,
        // Gemini has no word of its own for an answer that waits for its tools.
        Some("STOP") if calls => FinishKind::ToolCalls,
        Some("STOP") => FinishKind::Stop,
        Some("MAX_TOKENS") => FinishKind::Length,
        Some("CONTINUATION") => FinishKind::Paused,
        Some("PUP_LIMITED_DISABLED") => {
            let message = "Google has disabled this account for its use of the API; contact its support";
            let error = ProviderError::new(FailureKind::Permission, message);
            return Err(error.with_status(200).with_code("PUP_LIMITED_DISABLED"));
        }
        Some(word) if FILTERED.contains(&word) => FinishKind::ContentFilter,
        Some(_) => FinishKind::Other,
    };
    Ok(match word {
        Some(word) if !word.is_empty() => FinishReason::new(kind, Cow::Owned(word.into_owned())),
        _ => FinishReason::from(kind),
    })
}

/// Token counts. Thoughts are counted beside the answer, what comes from the cache within the prompt.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WireUsage {
    #[serde(deserialize_with = "lenient::quoted_count")]
    prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient::quoted_count")]
    cached_content_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient::quoted_count")]
    candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient::quoted_count")]
    thoughts_token_count: Option<u64>,
    /// Results of Google's own tools, which the model read as well.
    #[serde(deserialize_with = "lenient::quoted_count")]
    tool_use_prompt_token_count: Option<u64>,
}

impl WireUsage {
    /// These, where a later chunk does not say otherwise.
    pub(crate) fn updated(self, later: Self) -> Self {
        Self {
            prompt_token_count: later.prompt_token_count.or(self.prompt_token_count),
            cached_content_token_count: later.cached_content_token_count.or(self.cached_content_token_count),
            candidates_token_count: later.candidates_token_count.or(self.candidates_token_count),
            thoughts_token_count: later.thoughts_token_count.or(self.thoughts_token_count),
            tool_use_prompt_token_count: later
                .tool_use_prompt_token_count
                .or(self.tool_use_prompt_token_count),
        }
    }
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let sum = |one: Option<u64>, more: Option<u64>| one.unwrap_or(0).saturating_add(more.unwrap_or(0));
        Usage::new(
            sum(wire.prompt_token_count, wire.tool_use_prompt_token_count),
            sum(wire.candidates_token_count, wire.thoughts_token_count),
        )
        .with_cached(wire.cached_content_token_count.unwrap_or(0))
        .with_reasoning(wire.thoughts_token_count.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests;
