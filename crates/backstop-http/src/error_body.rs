//! What a vendor's error says, whatever its shape.
//!
//! | shape | who |
//! | --- | --- |
//! | `{"error": {"message", "type", "code", "param"}}` | OpenAI and most compatible servers; `code` may be an integer |
//! | `{"type": "error", "error": {"type", "message", "details": {"error_code"}}}` | Anthropic |
//! | `{"error": {"code": 429, "status", "details": [..]}}`, also in an array | Google |
//! | `{"error": {"metadata": {"error_type", "raw": "<an upstream's body>"}}}` | OpenRouter |
//! | `{"error": {"innererror": {"code"}}}` | Azure |
//! | `{"error": "text"}` | Ollama |
//! | `{"message", "type", "code"}`, `{"detail": ..}` | Mistral, older vLLM, gateways |
//! | HTML, plain text, nothing | proxies |

use std::time::Duration;

use serde_json::{Map, Value};

use crate::retry_after::parse_duration;

/// Upstream errors within errors are followed to this depth.
const DEEPEST: usize = 8;
/// Codes beyond this many are not looked at.
const MOST_CODES: usize = 32;
/// A message is kept to this many characters.
pub(crate) const LONGEST_MESSAGE: usize = 300;

/// A vendor's error in neutral terms. Everything is optional; the reader never fails.
///
/// ```
/// use backstop_http::ErrorBody;
///
/// let body = ErrorBody::read(br#"{"error":{"message":"Slow down.","type":"requests","code":"rate_limit_exceeded"}}"#);
/// assert_eq!(body.code.as_deref(), Some("rate_limit_exceeded"));
/// assert_eq!(body.message.as_deref(), Some("Slow down."));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ErrorBody {
    /// What it says to people, whole; the innermost upstream's where there are several.
    pub message: Option<String>,
    /// The class of error (`type`).
    pub kind: Option<String>,
    /// The most exact code that is not a number.
    pub code: Option<String>,
    /// The request's field that it is about.
    pub param: Option<String>,
    /// A status that stands in the body.
    pub status: Option<u16>,
    /// All codes and types that were found, the innermost first.
    pub codes: Vec<String>,
    /// The wait that stands in the body.
    pub retry_after: Option<Duration>,
    /// The request id that stands in the body.
    pub request_id: Option<String>,
    /// What the model had written when a server refused its own output (Groq).
    pub failed_generation: Option<String>,
    /// The body is a web page.
    pub html: bool,
}

impl ErrorBody {
    /// Reads a body of any kind.
    pub fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            return Self::from_value(&value);
        }
        let start = text.get(..512).unwrap_or(text).to_ascii_lowercase();
        let html = start.starts_with('<')
            && (start.contains("<html") || start.contains("<!doctype") || start.contains("<head"));
        let message = (!html && !text.is_empty()).then(|| text.to_owned());
        Self { message, html, ..Self::default() }
    }

    /// Reads a body that has been parsed, or the error within an answer.
    pub fn from_value(value: &Value) -> Self {
        let mut body = Self::default();
        body.take(value, 0);
        body
    }

    /// Whether nothing at all was found.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn take(&mut self, value: &Value, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => self.take(&inner, depth + 1),
                _ => self.say(text),
            },
            Value::Array(values) => values.iter().take(1).for_each(|first| self.take(first, depth + 1)),
            Value::Object(map) => self.take_map(map, depth),
            _ => {}
        }
    }

    /// Inner errors come first: they are the more exact.
    fn take_map(&mut self, map: &Map<String, Value>, depth: usize) {
        for key in ["error", "metadata", "raw", "innererror"] {
            if let Some(inner @ (Value::Object(_) | Value::Array(_) | Value::String(_))) = map.get(key) {
                self.take(inner, depth + 1);
            }
        }
        match map.get("message") {
            Some(Value::String(text)) => self.say(text),
            Some(inner @ Value::Object(_)) => self.take(inner, depth + 1),
            _ => {}
        }
        match map.get("detail") {
            Some(Value::String(text)) => self.say(text),
            Some(Value::Array(faults)) => self.take_faults(faults),
            Some(inner @ Value::Object(_)) => self.take(inner, depth + 1),
            _ => {}
        }
        match map.get("details") {
            Some(Value::Array(details)) => details.iter().for_each(|detail| self.take_detail(detail)),
            Some(Value::Object(details)) => self.take_code(details.get("error_code")),
            _ => {}
        }
        self.take_codes(map);
        self.take_rest(map);
    }

    fn take_codes(&mut self, map: &Map<String, Value>) {
        for key in ["error_code", "code", "reason", "error_type", "limit_source", "provider_code"] {
            self.take_code(map.get(key));
        }
        // OpenRouter's moderation names no code, but lists why the input was flagged.
        if map.contains_key("flagged_input") || map.get("reasons").is_some_and(|reasons| reasons.is_array()) {
            self.add_code("moderation");
        }
        match map.get("status") {
            Some(Value::String(status)) => {
                self.add_code(status);
            }
            number => self.take_status(number),
        }
        if let Some(Value::String(kind)) = map.get("type") {
            // Anthropic's outer `"type": "error"` says nothing.
            if kind != "error" {
                self.kind.get_or_insert_with(|| kind.clone());
                self.add_code(kind);
            }
        }
    }

    fn take_rest(&mut self, map: &Map<String, Value>) {
        let text = |key: &str| {
            map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        self.param = self.param.take().or_else(|| text("param"));
        self.request_id = self.request_id.take().or_else(|| text("request_id"));
        self.failed_generation = self.failed_generation.take().or_else(|| text("failed_generation"));
        self.take_status(map.get("raw_status_code"));
        let seconds =
            map.get("retry_after_seconds").or_else(|| map.get("retry_after")).and_then(Value::as_f64);
        self.retry_after = self.retry_after.or_else(|| parse_duration(&format!("{}s", seconds?)));
    }

    /// One of Google's typed details.
    fn take_detail(&mut self, detail: &Value) {
        let Some(map) = detail.as_object() else { return };
        self.take_code(map.get("reason"));
        let violations = map.get("violations").and_then(Value::as_array).into_iter().flatten();
        violations.for_each(|violation| self.take_code(violation.get("quotaId")));
        if let Some(delay) = map.get("retryDelay").and_then(Value::as_str) {
            self.retry_after = self.retry_after.or_else(|| parse_duration(delay));
        }
        let faults = map.get("fieldViolations").and_then(Value::as_array).into_iter().flatten();
        for fault in faults {
            if let Some(field) = fault.get("field").and_then(Value::as_str) {
                self.param.get_or_insert_with(|| field.to_owned());
            }
        }
    }

    /// FastAPI's list of faults: `[{"loc": ["body", "field"], "msg": "..", "type": ".."}]`.
    fn take_faults(&mut self, faults: &[Value]) {
        let Some(fault) = faults.first() else { return };
        self.take_code(fault.get("type"));
        if let Some(text) = fault.get("msg").and_then(Value::as_str) {
            self.say(text);
        }
        let path = fault.get("loc").and_then(Value::as_array).into_iter().flatten();
        let fields: Vec<&str> =
            path.filter_map(Value::as_str).skip_while(|part| *part == "body").take(DEEPEST).collect();
        if !fields.is_empty() {
            self.param.get_or_insert_with(|| fields.join("."));
        }
    }

    fn take_code(&mut self, code: Option<&Value>) {
        match code {
            Some(Value::String(text)) => match text.parse::<u16>() {
                Ok(number) if (100..600).contains(&number) => self.status = self.status.or(Some(number)),
                _ => {
                    if self.add_code(text) {
                        self.code.get_or_insert_with(|| text.clone());
                    }
                }
            },
            number => self.take_status(number),
        }
    }

    fn take_status(&mut self, number: Option<&Value>) {
        let status = number
            .and_then(Value::as_u64)
            .and_then(|n| u16::try_from(n).ok())
            .filter(|n| (100..600).contains(n));
        self.status = self.status.or(status);
    }

    fn add_code(&mut self, code: &str) -> bool {
        let usable = !code.is_empty() && code.len() <= 100 && self.codes.len() < MOST_CODES;
        if usable && !self.codes.iter().any(|known| known == code) {
            self.codes.push(code.to_owned());
        }
        usable
    }

    fn say(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.message.get_or_insert_with(|| text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(body: &str) -> ErrorBody {
        ErrorBody::read(body.as_bytes())
    }

    /// Message, type, code, param and status of a body.
    type Row = (&'static str, [Option<&'static str>; 4], Option<u16>);

    #[test]
    fn every_shape_is_read() {
        let table: &[Row] = &[
            (
                r#"{"error":{"message":"no","type":"invalid_request_error","param":"messages","code":"too_long"}}"#,
                [Some("no"), Some("invalid_request_error"), Some("too_long"), Some("messages")],
                None,
            ),
            (r#"{"error":{"message":"no","code":400}}"#, [Some("no"), None, None, None], Some(400)),
            (r#"{"error":{"message":"no","code":"429"}}"#, [Some("no"), None, None, None], Some(429)),
            (r#"{"error":{"message":"no","code":"3280"}}"#, [Some("no"), None, Some("3280"), None], None),
            (r#"{"error":"plain words"}"#, [Some("plain words"), None, None, None], None),
            (r#"{"error":null,"message":"outside"}"#, [Some("outside"), None, None, None], None),
            (
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"cap","details":{"error_code":"spent"}},"request_id":"r"}"#,
                [Some("cap"), Some("rate_limit_error"), Some("spent"), None],
                None,
            ),
            (
                r#"[{"error":{"code":400,"message":"bad key","status":"INVALID_ARGUMENT","details":[{"@type":"x","reason":"API_KEY_INVALID"}]}}]"#,
                [Some("bad key"), None, Some("API_KEY_INVALID"), None],
                Some(400),
            ),
            (
                r#"{"error":{"message":"Provider failed","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"inner\",\"code\":\"deep\"}}","provider_name":"P"}}}"#,
                [Some("inner"), None, Some("deep"), None],
                Some(400),
            ),
            (
                r#"{"error":{"code":"outer","message":"m","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
                [Some("m"), None, Some("ResponsibleAIPolicyViolation"), None],
                None,
            ),
            (
                r#"{"object":"error","message":"m","type":"t","code":"c"}"#,
                [Some("m"), Some("t"), Some("c"), None],
                None,
            ),
            (
                r#"{"message":{"detail":[{"loc":["body","top_p"],"msg":"m","type":"t"}]}}"#,
                [Some("m"), None, Some("t"), Some("top_p")],
                None,
            ),
            (
                r#"{"detail":[{"loc":["body","response_format","json_schema",0,"strict"],"msg":"m","type":"t"}]}"#,
                [Some("m"), None, Some("t"), Some("response_format.json_schema.strict")],
                None,
            ),
            (r#"{"detail":"not here"}"#, [Some("not here"), None, None, None], None),
            (r#""only a text""#, [Some("only a text"), None, None, None], None),
            ("upstream connect error", [Some("upstream connect error"), None, None, None], None),
            ("\n\n {\"error\":\"after blank lines\"}", [Some("after blank lines"), None, None, None], None),
            ("", [None; 4], None),
            ("null", [None; 4], None),
            ("[]", [None; 4], None),
            ("{}", [None; 4], None),
        ];
        for (body, [message, kind, code, param], status) in table {
            let found = read(body);
            assert_eq!(found.message.as_deref(), *message, "{body}");
            assert_eq!(found.kind.as_deref(), *kind, "{body}");
            assert_eq!(found.code.as_deref(), *code, "{body}");
            assert_eq!(found.param.as_deref(), *param, "{body}");
            assert_eq!(found.status, *status, "{body}");
        }
    }

    #[test]
    fn waits_and_ids_in_bodies_are_found() {
        let google =
            r#"{"error":{"details":[{"retryDelay":"3.5s"},{"violations":[{"quotaId":"PerDayX"}]}]}}"#;
        assert_eq!(read(google).retry_after, Some(Duration::from_millis(3_500)));
        assert_eq!(read(google).codes, ["PerDayX"]);
        let router = r#"{"error":{"metadata":{"retry_after_seconds":7}}}"#;
        assert_eq!(read(router).retry_after, Some(Duration::from_secs(7)));
        assert_eq!(read(r#"{"error":{"metadata":{"retry_after_seconds":-7}}}"#).retry_after, None);
        assert_eq!(read(r#"{"error":"x","request_id":"req-1"}"#).request_id.as_deref(), Some("req-1"));
        assert_eq!(read(r#"{"error":{"metadata":{"reasons":["x"]}}}"#).codes, ["moderation"]);
    }

    #[test]
    fn web_pages_are_told_from_text() {
        assert!(read("<!DOCTYPE html><html><title>502</title></html>").html);
        assert!(read("  <HTML>\n<body>").html);
        assert_eq!(read("<html>login</html>").message, None);
        assert!(!read("<error>xml</error>").html);
    }

    #[test]
    fn nesting_and_floods_of_codes_are_bounded() {
        let mut body = r#"{"code":"core"}"#.to_owned();
        for _ in 0..20 {
            body = format!(r#"{{"error":{body}}}"#);
        }
        assert_eq!(read(&body).code, None);
        let violations: Vec<String> = (0..1_000).map(|n| format!(r#"{{"quotaId":"q{n}"}}"#)).collect();
        let flood = format!(r#"{{"error":{{"details":[{{"violations":[{}]}}]}}}}"#, violations.join(","));
        assert_eq!(read(&flood).codes.len(), MOST_CODES);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = ErrorBody::read(&body);
        }
    }
}
