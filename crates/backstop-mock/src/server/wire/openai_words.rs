//! OpenAI's words for problems and its error object, shared by its two APIs and by everyone who is compatible.

use serde_json::{Map, Value, json};

use super::super::{
    ApiError,
    api_error::{Problem, Settled, Words},
};

const INVALID: &str = "invalid_request_error";

/// Sources: the error codes page of OpenAI's documentation and the bodies that its users report.
fn words(problem: Problem) -> Words {
    let new = Words::new;
    match problem {
        Problem::BadKey => new(401, INVALID, Some("invalid_api_key"), "Incorrect API key provided."),
        Problem::Forbidden => {
            new(403, "permission_error", None, "You have insufficient permissions for this operation.")
        }
        Problem::QuotaExhausted => {
            new(429, "insufficient_quota", Some("insufficient_quota"), "You exceeded your current quota.")
        }
        Problem::RateLimited => {
            new(429, "requests", Some("rate_limit_exceeded"), "Rate limit reached on requests per min.")
        }
        Problem::Overloaded => new(
            503,
            "service_unavailable_error",
            Some("server_is_overloaded"),
            "The server is overloaded or not ready yet.",
        ),
        Problem::Server => new(500, "server_error", None, "The server had an error."),
        Problem::Timeout => new(504, "server_error", None, "The upstream server timed out."),
        Problem::ModelNotFound => new(404, INVALID, Some("model_not_found"), "The model does not exist."),
        Problem::NoSuchPath => new(404, INVALID, None, "Invalid URL."),
        Problem::InvalidRequest => new(400, INVALID, None, "The request is invalid."),
        Problem::ContextTooLong => new(
            400,
            INVALID,
            Some("context_length_exceeded"),
            "This model's maximum context length is 8192 tokens, but the messages have 9000 tokens.",
        ),
        Problem::SchemaRejected => {
            new(400, INVALID, None, "Invalid schema for response_format: unsupported keyword.")
        }
        Problem::PromptFiltered => new(
            400,
            INVALID,
            Some("content_filter"),
            "The response was filtered due to the prompt triggering the content policy.",
        ),
        Problem::TooLarge => new(413, INVALID, None, "The request body is too large."),
        Problem::Status(status) => new(status, kind_of(status), None, "The mock server was told to fail."),
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        429 => "requests",
        500.. => "server_error",
        _ => INVALID,
    }
}

/// The parameter that OpenAI names for a problem of its own accord.
fn usual_param(problem: Problem) -> Option<&'static str> {
    match problem {
        Problem::ContextTooLong => Some("messages"),
        Problem::SchemaRejected => Some("response_format"),
        Problem::PromptFiltered => Some("prompt"),
        _ => None,
    }
}

pub(super) fn settle(error: &ApiError) -> Settled<'_> {
    let mut settled = error.settle(words(error.problem));
    settled.param = settled.param.or_else(|| usual_param(error.problem));
    settled
}

/// `{"error": {…}}`, with the status that goes with it.
pub(super) fn envelope(error: &ApiError) -> (u16, Value) {
    let settled = settle(error);
    let mut object = Map::new();
    object.insert("message".into(), settled.message.into());
    object.insert("type".into(), settled.kind.into());
    object.insert("param".into(), settled.param.map_or(Value::Null, Value::from));
    object.insert("code".into(), settled.code.clone().unwrap_or(Value::Null));
    settled.add_fields(&mut object);
    (settled.status, json!({ "error": object }))
}

/// The text of a message's content: a string, or parts of which only the text counts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}
