//! Server-sent events, as far as LLM APIs use them.

use serde_json::Value;

pub(super) const CONTENT_TYPE: &str = "text/event-stream; charset=utf-8";
/// A comment: clients must skip it.
pub(super) const COMMENT: &str = ": keep-alive\n\n";

pub(super) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// An event named by the `type` of its data, the way OpenAI's Responses and Anthropic do it.
pub(super) fn named(value: &Value) -> String {
    let name = value.get("type").and_then(Value::as_str).unwrap_or("message");
    format!("event: {name}\ndata: {value}\n\n")
}
