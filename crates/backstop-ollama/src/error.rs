//! From an error response to a failure.
//!
//! Ollama's errors are a bare text, so the text decides more than elsewhere.

use std::time::SystemTime;

use backstop_core::{FailureKind, ProviderError};
use backstop_http::{
    ErrorBody, Reply,
    recognise::{self, Asked},
};
use serde_json::{Value, json};

use FailureKind::{
    Authentication, Connect, InvalidRequest, ModelNotFound, Overloaded, ParamRejected, QuotaExhausted,
    RateLimited, SchemaRejected, Server, Unsupported,
};

/// Reads an error response.
pub(crate) fn read(reply: &Reply, asked: &Asked<'_>, model: &str, now: SystemTime) -> ProviderError {
    refined(recognise::http_error(reply, asked, now), asked, model)
}

/// Reads an error inside a success response or a stream.
pub(crate) fn in_band(error: Value, asked: &Asked<'_>, model: &str) -> ProviderError {
    let body = ErrorBody::from_value(&json!({ "error": error }));
    refined(recognise::in_band_error(&body, asked), asked, model)
}

/// `error: null`, `false` and `""` are none.
pub(crate) fn is_error(error: &Value) -> bool {
    !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("")
}

/// No answer came. That the server does not run is by far the likeliest reason, unless a connection was there before.
pub(crate) fn unreached(error: ProviderError) -> ProviderError {
    if error.kind() != Connect || error.is_stale() {
        return error;
    }
    let advice = "start it with `ollama serve`, or set `base_url` or OLLAMA_HOST to where it runs";
    let message = format!("{}; {advice}", error.message());
    changed(&error, Connect, message).with_source(error)
}

/// What Ollama means by it.
fn refined(error: ProviderError, asked: &Asked<'_>, model: &str) -> ProviderError {
    let text = error.message().to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let own = error.message();
    let (kind, message) = match error.kind() {
        RateLimited if says(USED_UP) => (QuotaExhausted, own.to_owned()),
        ModelNotFound | Server if says(&["not found"]) && says(&["model"]) => {
            (ModelNotFound, format!("{own}; `ollama pull {model}` installs it"))
        }
        ModelNotFound => (
            InvalidRequest,
            format!("{own}; there is no /api/chat here: check `base_url`, which stands without /v1"),
        ),
        Authentication => {
            (Authentication, format!("{own}; pass a key, or run `ollama signin` on the server"))
        }
        Server if text.trim() == "unauthorized" => (Authentication, own.to_owned()),
        Server if says(&["server busy", "maximum pending requests"]) => (Overloaded, own.to_owned()),
        InvalidRequest if says(&["does not support thinking", "think value"]) => {
            return changed(&error, ParamRejected, own.to_owned()).with_param("think");
        }
        InvalidRequest | Server if says(&["does not support", "missing data required for image input"]) => {
            (Unsupported, own.to_owned())
        }
        InvalidRequest | Server if asked.schema && says(&["schema", "grammar", "invalid format"]) => {
            (SchemaRejected, own.to_owned())
        }
        _ => return error,
    };
    changed(&error, kind, message)
}

/// The limits of a plan of Ollama's cloud, which last for hours or days. There is no code for them, and no wait.
const USED_UP: &[&str] =
    &["hourly usage limit", "session usage limit", "weekly usage limit", "monthly usage limit"];

/// The same failure, of another kind and with another message.
fn changed(error: &ProviderError, kind: FailureKind, message: String) -> ProviderError {
    let mut other = ProviderError::new(kind, message);
    if let Some(status) = error.status() {
        other = other.with_status(status);
    }
    if let Some(code) = error.code() {
        other = other.with_code(code);
    }
    if let Some(param) = error.param() {
        other = other.with_param(param);
    }
    if let Some(id) = error.request_id() {
        other = other.with_request_id(id);
    }
    if let Some(wait) = error.retry_after() {
        other = other.with_retry_after(wait);
    }
    if let Some(retry) = error.server_retry() {
        other = other.with_server_retry(retry);
    }
    if let Some(stage) = error.stage() {
        other = other.with_stage(stage);
    }
    other
}

#[cfg(test)]
mod tests;
