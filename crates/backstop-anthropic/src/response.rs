//! From the JSON of the Messages API to a response.
//!
//! Only what is used is read, and almost nothing is required: a field of an unknown form counts as absent.

mod block;
mod usage;

use std::borrow::Cow;

use backstop_core::{FinishKind, FinishReason, ProviderError, Response, ToolCall, Usage};
use backstop_http::{
    Reply, lenient,
    recognise::{self, Asked},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

pub(crate) use block::{Block, Kind};
pub(crate) use usage::WireUsage;

use crate::error;

/// Reads a success body. The input of the tool `answer_tool` is the answer's text.
pub(crate) fn read(
    reply: &Reply,
    keep_raw: bool,
    answer_tool: Option<&str>,
    asked: &Asked<'_>,
) -> Result<Response, ProviderError> {
    let malformed = || recognise::malformed(reply, "the body is not the JSON of a message");
    let message: WireMessage<'_> = reply.json().map_err(|_| malformed())?;
    let request_id = reply.request_id.clone().or_else(|| message.id.as_deref().map(str::to_owned));
    if let Some(found) = message.error.as_ref().filter(|found| recognise::is_error(found)) {
        let error = error::in_band(found, asked);
        return Err(request_id.iter().fold(error, |error, id| error.with_request_id(id)));
    }
    if message.content.is_none() && message.stop_reason.is_none() {
        return Err(malformed());
    }
    let mut response = message.into_response(answer_tool);
    response.request_id = request_id;
    if keep_raw {
        response.raw = reply.json().ok().map(Box::new);
    }
    Ok(response)
}

/// A message: a whole answer, or what a stream begins with.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct WireMessage<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(crate) model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "lenient::object")]
    stop_details: Option<StopDetails>,
    #[serde(deserialize_with = "lenient::object")]
    pub(crate) usage: Option<WireUsage>,
    error: Option<Value>,
}

impl WireMessage<'_> {
    fn into_response(self, answer_tool: Option<&str>) -> Response {
        let mut content = Content::default();
        for block in self.content.map(block::list).unwrap_or_default() {
            content.add(block, answer_tool);
        }
        let finish =
            finish(self.stop_reason.as_deref(), content.answer.is_some() && content.calls.is_empty());
        let mut response = Response::new(content.answer.unwrap_or(content.text));
        response.tool_calls = content.calls;
        response.notes = content.hops;
        if content.thought && response.text.is_empty() {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        if finish.kind == FinishKind::Refusal {
            let details = self.stop_details.unwrap_or_default();
            response.notes.extend(details.classification());
            response.notes.extend(details.recommendation());
            response.refusal = Some(details.words());
        }
        let named = self.model.map(Cow::into_owned).filter(|model| !model.is_empty());
        // Whether a proxy still names the model that was asked for, the block says who went on.
        response.model = content.served.or(named);
        response.usage = self.usage.filter(WireUsage::is_counted).map(Usage::from);
        response.with_finish(finish)
    }
}

/// What the blocks of a message come to.
#[derive(Default)]
struct Content {
    text: String,
    /// The input of the tool that takes the answer.
    answer: Option<String>,
    calls: Vec<ToolCall>,
    /// Which models the vendor's own fallback went through.
    hops: Vec<Cow<'static, str>>,
    /// The last of them, which is the one that answered.
    served: Option<String>,
    thought: bool,
}

impl Content {
    fn add(&mut self, block: Block<'_>, answer_tool: Option<&str>) {
        match block.kind() {
            Kind::Text => self.text.push_str(block.text.as_deref().unwrap_or_default()),
            Kind::ToolUse if block.name.is_some() && block.name.as_deref() == answer_tool => {
                // One answer was asked for; of several the first counts.
                self.answer.get_or_insert_with(|| block.input_text().to_owned());
            }
            Kind::ToolUse => {
                let arguments = block.input_text().to_owned();
                let id = block.id_or(self.calls.len());
                self.calls.push(ToolCall::new(id, block.name.unwrap_or_default(), arguments));
            }
            Kind::Fallback => {
                self.served = block.next_model().map(str::to_owned).or(self.served.take());
                self.hops.push(Cow::Owned(block.hop()));
            }
            Kind::Thinking => self.thought = true,
            Kind::Other => {}
        }
    }
}

/// What a `stop_reason` means. `answered`: all tools that were called took the answer, which is then complete.
pub(crate) fn finish(word: Option<&str>, answered: bool) -> FinishReason {
    let kind = match word {
        None | Some("") => return FinishReason::from(FinishKind::Unknown),
        Some("end_turn" | "stop_sequence") => FinishKind::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => FinishKind::Length,
        Some("tool_use") if answered => FinishKind::Stop,
        Some("tool_use") => FinishKind::ToolCalls,
        Some("refusal") => FinishKind::Refusal,
        // The vendor wants the turn back to go on with it.
        Some("pause_turn" | "compaction") => FinishKind::Paused,
        Some(_) => FinishKind::Other,
    };
    FinishReason::new(kind, Cow::Owned(word.unwrap_or_default().to_owned()))
}

/// Why the model declined.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct StopDetails {
    #[serde(deserialize_with = "lenient::text")]
    category: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    explanation: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    recommended_model: Option<String>,
}

impl StopDetails {
    /// The vendor's words, or ours where it has none.
    pub(crate) fn words(&self) -> String {
        let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        some(&self.explanation).unwrap_or_else(|| match some(&self.category) {
            Some(category) => format!("declined by the vendor's policy: {category}"),
            None => "declined by the vendor's policy".to_owned(),
        })
    }

    /// What the vendor files the request under. Its explanation, which may quote the prompt, is not for reports.
    fn classification(&self) -> Option<Cow<'static, str>> {
        let category = self.category.as_deref().filter(|category| !category.is_empty())?;
        Some(Cow::Owned(format!("declined as {category}")))
    }

    fn recommendation(&self) -> Option<Cow<'static, str>> {
        let model = self.recommended_model.as_deref().filter(|model| !model.is_empty())?;
        Some(Cow::Owned(format!("the vendor recommends asking {model}")))
    }
}

#[cfg(test)]
mod tests;
