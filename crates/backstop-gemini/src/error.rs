//! From an error response to a failure.
//!
//! The shared tables know Google's codes. What only Google means by them is here.

use std::time::SystemTime;

use backstop_core::{FailureKind, ProviderError};
use backstop_http::{
    ErrorBody, Reply,
    recognise::{self, Asked},
};
use serde_json::{Value, json};

use crate::params::OPTIONAL;

use FailureKind::{InvalidRequest, ParamRejected, Permission, QuotaExhausted, RateLimited, SchemaRejected};

/// Reads an error response.
pub(crate) fn read(reply: &Reply, asked: &Asked<'_>, now: SystemTime) -> ProviderError {
    let error = recognise::http_error(reply, asked, now);
    refined(error, &ErrorBody::read(&reply.body), asked)
}

/// Reads an error inside a success response or a stream.
pub(crate) fn in_band(error: Value, asked: &Asked<'_>) -> ProviderError {
    let body = ErrorBody::from_value(&json!({ "error": error }));
    refined(recognise::in_band_error(&body, asked), &body, asked)
}

/// What Google means by it.
fn refined(error: ProviderError, body: &ErrorBody, asked: &Asked<'_>) -> ProviderError {
    let text = body.message.as_deref().unwrap_or_default().to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let daily = || body.codes.iter().any(|code| code.contains("PerDay"));
    let kind = match error.kind() {
        // The same words, "check your plan and billing details", go with the limits per minute.
        QuotaExhausted if error.status() == Some(429) && !daily() && !says(SPENT) => RateLimited,
        RateLimited if says(SPENT) => QuotaExhausted,
        // The other case of FAILED_PRECONDITION: the free tier is not offered where the caller is.
        QuotaExhausted if says(&["user location is not supported"]) => Permission,
        // A missing file or cached prompt is about this request, not about the key or the model.
        Permission | FailureKind::ModelNotFound
            if says(&["cachedcontent", "cached content", "the file "]) =>
        {
            InvalidRequest
        }
        InvalidRequest => match refused_param(&text) {
            Some(param) => return error.with_kind(ParamRejected).with_param(param),
            None if asked.schema && about_schema(&text, body) => SchemaRejected,
            None => return error,
        },
        _ => return error,
    };
    error.with_kind(kind)
}

/// Words for an account that is out of money, whatever the status.
const SPENT: &[&str] = &["credits are depleted", "spending cap", "spend cap"];

fn about_schema(text: &str, body: &ErrorBody) -> bool {
    let param = body.param.as_deref().unwrap_or_default().to_lowercase().replace('_', "");
    // Schemas of tools are not what JSON mode would help with.
    let of_tools = text.contains("function_declaration") || param.starts_with("tools");
    let words = ["schema", "response mime type"];
    !of_tools
        && (words.iter().any(|word| text.contains(word))
            || param.contains("responseschema")
            || param.contains("jsonschema"))
}

/// The parameter that Google complains about: `Unknown name "topK" at 'generation_config': Cannot find field.`, or a
/// model without the kind of thinking that was asked for.
fn refused_param(text: &str) -> Option<&'static str> {
    if let Some((_, rest)) = text.split_once("unknown name \"") {
        let name = rest.split('"').next()?.replace('_', "");
        return OPTIONAL.iter().find(|(wire, _)| wire.eq_ignore_ascii_case(&name)).map(|(_, param)| *param);
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    match () {
        () if says(&["thinking budget", "thinking_budget", "only works in thinking mode"]) => {
            Some("thinking_budget")
        }
        () if says(&["thinking level", "thinking_level"]) => Some("thinking_level"),
        () => None,
    }
}

#[cfg(test)]
mod tests;
