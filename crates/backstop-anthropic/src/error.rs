//! From an error response to a kind of failure.
//!
//! Codes and types are those of [`backstop_http::recognise`]. What this vendor says in text only, because it names no
//! code and no parameter, is read here; such wording is not promised to last, so it is asked last of all.

use std::time::SystemTime;

use backstop_core::{FailureKind, ProviderError};
use backstop_http::{
    ErrorBody, Reply,
    recognise::{self, Asked},
};
use serde_json::Value;

/// Codes beyond the common ones. The key that encrypts the account's data cannot be used: only its owner can help.
const CODES: &[(&str, FailureKind)] =
    &[("cmek_key_disabled", FailureKind::Permission), ("cmek_key_network_blocked", FailureKind::Permission)];

/// Texts of a 400 that has no code, in lower case.
const PHRASES: &[(&str, FailureKind)] = &[("content filtering policy", FailureKind::Filtered)];

/// How the vendor says that it does not take a schema, in lower case. None of them is documented.
const NO_SCHEMA: &[&str] = &["output_config.format", "output_format", "output format", "structured output"];

/// How it says that it does not take a parameter, in lower case. None of them is documented.
const NOT_TAKEN: &[&str] = &[
    "cannot both be specified",
    "deprecated for this model",
    "does not support",
    "extra inputs are not permitted",
    "is not available",
    "not supported",
    "unsupported",
];

/// Reads an error response.
pub(crate) fn read(reply: &Reply, asked: &Asked<'_>, now: SystemTime) -> ProviderError {
    refined(recognise::http_error(reply, asked, now), &ErrorBody::read(&reply.body), asked)
}

/// Reads an error within a success response or a stream: as if it had the status that its type usually has.
pub(crate) fn in_band(error: &Value, asked: &Asked<'_>) -> ProviderError {
    let mut body = ErrorBody::from_value(error);
    body.status = body.status.or_else(|| usual_status(body.kind.as_deref()?));
    refined(recognise::in_band_error(&body, asked), &body, asked)
}

/// Source: the errors page of the vendor's documentation.
fn usual_status(kind: &str) -> Option<u16> {
    Some(match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// The failure, if the common rules found no more than that the request is wrong, with what the text says.
fn refined(error: ProviderError, body: &ErrorBody, asked: &Asked<'_>) -> ProviderError {
    if error.kind() != FailureKind::InvalidRequest {
        return error;
    }
    if let Some((_, kind)) = CODES.iter().find(|(code, _)| body.codes.iter().any(|found| found == code)) {
        return error.with_kind(*kind);
    }
    // What the vendor has to say stands at the beginning; a quoted prompt may follow.
    let said: String = body.message.iter().flat_map(|text| text.chars().take(300)).collect();
    let text = said.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if let Some((_, kind)) = PHRASES.iter().find(|(phrase, _)| text.contains(phrase)) {
        return error.with_kind(*kind);
    }
    if asked.schema && says(NO_SCHEMA) {
        return error.with_kind(FailureKind::SchemaRejected);
    }
    match field(&said) {
        Some(field) if asked.optional.contains(&field) && says(NOT_TAKEN) => {
            error.with_kind(FailureKind::ParamRejected).with_param(field)
        }
        Some(field) => error.with_param(field),
        None => error,
    }
}

/// The field that a message begins with, as in "`top_p`: …" and "max_tokens: …", or that it has in backquotes first.
fn field(text: &str) -> Option<&str> {
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    // A path such as `thinking.enabled.budget_tokens` begins with the field.
    let head = text.split_once(": ").and_then(|(path, _)| path.split('.').next()).filter(is_name);
    head.or_else(|| text.split('`').nth(1).filter(is_name))
}

#[cfg(test)]
mod tests;
