//! From an error response to a failure, or to the answer that a server threw away.

use std::time::SystemTime;

use backstop_core::{FinishKind, ProviderError, Response};
use backstop_http::{
    ErrorBody, Reply,
    recognise::{self, Asked},
};
use serde_json::{Value, json};

/// Groq's codes for an answer of the model that its own check of JSON, or of tool calls, refused.
const REFUSED_OUTPUT: &[&str] = &["json_validate_failed", "tool_use_failed"];

/// Reads an error response.
///
/// Groq answers 400 when the model's text does not pass the server's JSON check, and gives the text. The model did
/// answer, so it is an answer: the validators say what is wrong with it, and the model can be asked again.
pub(crate) fn read(reply: &Reply, asked: &Asked<'_>, now: SystemTime) -> Result<Response, ProviderError> {
    if reply.status == 400 {
        let body = ErrorBody::read(&reply.body);
        let refused = body.codes.iter().any(|code| REFUSED_OUTPUT.contains(&code.as_str()));
        if let (true, Some(text)) = (refused, body.failed_generation) {
            let mut response = Response::new(text).with_finish(FinishKind::Unknown);
            response.request_id = reply.request_id.clone();
            return Ok(response.with_note("the server's own check refused this text"));
        }
    }
    Err(recognise::http_error(reply, asked, now))
}

/// The failure that the `error` of a success is.
pub(crate) fn in_band(error: Value, asked: &Asked<'_>) -> ProviderError {
    recognise::in_band_error(&ErrorBody::from_value(&json!({ "error": error })), asked)
}
