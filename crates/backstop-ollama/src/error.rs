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
    let asked =
        asked.with_path_advice("there is no /api/chat here: check `base_url`, which stands without /v1");
    refined(recognise::http_error(reply, &asked, now), &asked, model)
}

/// Reads an error inside a success response or a stream.
pub(crate) fn in_band(error: Value, asked: &Asked<'_>, model: &str) -> ProviderError {
    let body = ErrorBody::from_value(&json!({ "error": error }));
    refined(recognise::in_band_error(&body, asked), asked, model)
}

/// No answer came. That the server does not run is by far the likeliest reason, unless a connection was there before.
pub(crate) fn unreached(error: ProviderError) -> ProviderError {
    if error.kind() != Connect || error.is_stale() {
        return error;
    }
    let advice = "start it with `ollama serve`, or set `base_url` or OLLAMA_HOST to where it runs";
    let message = format!("{}; {advice}", error.message());
    error.with_message(message)
}

/// What Ollama means by it.
fn refined(error: ProviderError, asked: &Asked<'_>, model: &str) -> ProviderError {
    let text = error.message().to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let advised = |advice: &str| format!("{}; {advice}", error.message());
    let kind = match error.kind() {
        RateLimited if says(USED_UP) => QuotaExhausted,
        ModelNotFound | Server if says(&["not found"]) && says(&["model"]) => {
            let message = advised(&format!("`ollama pull {model}` installs it"));
            return error.with_kind(ModelNotFound).with_message(message);
        }
        ModelNotFound => InvalidRequest,
        Authentication => {
            let message = advised("pass a key, or run `ollama signin` on the server");
            return error.with_message(message);
        }
        Server if text.trim() == "unauthorized" => Authentication,
        // Inside a stream there is no status: the words have to do.
        Server if says(USED_UP) => QuotaExhausted,
        Server if says(&["usage limit", "too many requests"]) => RateLimited,
        Server if says(&["server busy", "maximum pending requests"]) => Overloaded,
        InvalidRequest if says(&["does not support thinking", "think value"]) => {
            return error.with_kind(ParamRejected).with_param("think");
        }
        InvalidRequest | Server if says(&["does not support", "missing data required for image input"]) => {
            Unsupported
        }
        InvalidRequest | Server if asked.schema && says(&["schema", "grammar", "invalid format"]) => {
            SchemaRejected
        }
        _ => return error,
    };
    error.with_kind(kind)
}

/// The limits of a plan of Ollama's cloud, which last for hours or days. There is no code for them, and no wait.
const USED_UP: &[&str] =
    &["hourly usage limit", "session usage limit", "weekly usage limit", "monthly usage limit"];

#[cfg(test)]
mod tests;
