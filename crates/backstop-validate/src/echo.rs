//! Answers that are no answer at all: what the model was shown, given back, or an error page on the way.

use std::borrow::Cow;

use backstop_core::{Rejection, Remedy, Request};
use serde_json::Value;

use crate::{checks::repeats_what_was_not_asked, schema::Schema};

/// Longest text that is taken for a proxy's message, in bytes.
const MAX_MESSAGE: usize = 512;

/// The model gave back the schema instead of a value.
pub(crate) fn schema(schema: &Schema, value: &Value) -> Option<Rejection> {
    let looks_like_a_schema = |value: &Value| {
        value.get("properties").is_some_and(Value::is_object)
            && ["type", "$schema", "$defs", "required"].iter().any(|key| value.get(*key).is_some())
    };
    let echoed = value == &**schema.original() || value == &**schema.wire() || looks_like_a_schema(value);
    echoed.then(|| {
        Rejection::schema("the answer repeats the schema")
            .with_feedback("It repeats the schema. Write a value that follows the schema.")
    })
}

/// Whether a value is the answer of an example that was shown, and not by chance the right answer again.
pub(crate) fn is_example(examples: &[Value], value: &Value, request: &Request) -> bool {
    examples.contains(value) && repeats_what_was_not_asked(value, request)
}

/// The model gave back an example's answer.
pub(crate) fn example() -> Rejection {
    Rejection::schema("the answer repeats an example")
        .with_feedback("It repeats the answer of an example. Answer from the last input only.")
}

/// Not the model but something on the way to it answered. Asking for better words would be no use, so that a retry
/// sends the same request again.
pub(crate) fn error_page(schema: &Schema, text: &str, value: Option<&Value>) -> Option<Rejection> {
    let what: Cow<'static, str> = if is_markup(text) {
        "the answer is an HTML or XML page".into()
    } else if value.is_some_and(|value| is_error_object(schema, value)) {
        "the answer is an error message in JSON".into()
    } else if value.is_none() && is_proxy_message(text) {
        "the answer is the error message of a proxy".into()
    } else {
        return None;
    };
    Some(Rejection::not_json(what).with_remedy(Remedy::Nothing))
}

fn is_markup(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect::<String>().to_ascii_lowercase();
    ["<!doctype", "<html", "<head", "<body", "<?xml"].iter().any(|tag| start.starts_with(tag))
}

/// What gateways and API frameworks send: `{"error": …}`, `{"detail": "…"}`, `{"message": "…", "status": 502}`, RFC 9457.
fn is_error_object(schema: &Schema, value: &Value) -> bool {
    const WORDS: [&str; 4] = ["error", "errors", "detail", "message"];
    const CODES: [&str; 4] = ["status", "statusCode", "status_code", "code"];
    let Some(map) = value.as_object().filter(|map| map.len() <= 6) else { return false };
    let wanted = schema.original().get("properties").and_then(Value::as_object);
    let known = |key: &str| wanted.is_some_and(|wanted| wanted.contains_key(key));
    if map.keys().any(|key| known(key)) {
        return false;
    }
    let error = map.get("error").or_else(|| map.get("errors"));
    let wrapped = error.is_some_and(|error| match error {
        Value::String(_) => true,
        Value::Object(inner) => {
            WORDS.iter().chain(&CODES).chain(&["type"]).any(|key| inner.contains_key(*key))
        }
        Value::Array(list) => {
            list.first().is_some_and(|first| first.is_string() || first.get("message").is_some())
        }
        _ => false,
    });
    let code = CODES
        .iter()
        .filter_map(|key| map.get(*key))
        .any(|code| code.as_u64().is_some_and(|code| code >= 400));
    let worded = ["message", "detail", "title"].iter().any(|key| map.get(*key).is_some_and(Value::is_string));
    let detail_only = map.len() == 1 && map.get("detail").is_some_and(Value::is_string);
    wrapped || (code && worded) || detail_only
}

fn is_proxy_message(text: &str) -> bool {
    const STARTS: [&str; 10] = [
        "upstream connect error",
        "upstream request timeout",
        "no healthy upstream",
        "bad gateway",
        "gateway timeout",
        "gateway time-out",
        "service unavailable",
        "service temporarily unavailable",
        "internal server error",
        "error code: ",
    ];
    let text = text.trim();
    if text.len() > MAX_MESSAGE {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    // A status may stand before the words: `502 Bad Gateway`.
    let status =
        lower.get(..4).filter(|start| start.starts_with('5') && start.trim_end().parse::<u16>().is_ok());
    let words = status.and_then(|_| lower.get(4..)).unwrap_or(&lower);
    STARTS.iter().any(|start| words.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn invoice() -> Schema {
        Schema::new("invoice", json!({"type": "object", "properties": {"total": {"type": "number"}}}))
            .unwrap()
    }

    #[test]
    fn pages_and_messages_of_proxies_are_known() {
        for text in [
            "<!DOCTYPE html><title>502</title>",
            " <HTML><body>down",
            "<?xml version=\"1.0\"?><Error/>",
            "502 Bad Gateway",
            "upstream connect error or disconnect/reset before headers",
            "error code: 1015",
        ] {
            let rejection = error_page(&invoice(), text, None).unwrap();
            assert_eq!(rejection.remedy(), Some(Remedy::Nothing), "{text}");
        }
        for text in ["The bad gateway was the cause.", "500 euros", "5 Bad Gateways", "<total>3</total>"] {
            assert!(error_page(&invoice(), text, None).is_none(), "{text}");
        }
    }

    #[test]
    fn error_objects_are_known_unless_they_are_what_was_asked_for() {
        for value in [
            json!({"error": {"message": "no capacity", "type": "server_error"}}),
            json!({"error": "overloaded", "request_id": "x"}),
            json!({"errors": [{"message": "no"}]}),
            json!({"detail": "Not authenticated"}),
            json!({"message": "upstream failed", "status": 502}),
            json!({"type": "about:blank", "title": "Bad Gateway", "status": 502}),
        ] {
            assert!(error_page(&invoice(), "", Some(&value)).is_some(), "{value}");
        }
        for value in
            [json!({"total": "x", "error": "x"}), json!({"message": "hi"}), json!({"error": 3}), json!([1])]
        {
            assert!(error_page(&invoice(), "", Some(&value)).is_none(), "{value}");
        }
        let log = json!({"type": "object", "properties": {"error": {"type": "integer"}}});
        let log = Schema::new("log", log).unwrap();
        assert!(error_page(&log, "", Some(&json!({"error": "x"}))).is_none());
    }
}
