use std::time::Duration;

use backstop_http::header::HeaderMap;
use serde_json::json;

use super::*;
use crate::request::OPTIONAL;
use FailureKind::*;

fn error(status: u16, body: &str) -> ProviderError {
    let reply = Reply::new(status, HeaderMap::new(), body.to_owned());
    read(&reply, &Asked::new(true, OPTIONAL, None), SystemTime::UNIX_EPOCH)
}

fn of(status: u16, kind: &str, message: &str, code: Option<&str>) -> ProviderError {
    let details = code.map(|code| json!({ "error_code": code }));
    let body = json!({
        "type": "error",
        "error": {"type": kind, "message": message, "details": details},
        "request_id": "req_7",
    });
    error(status, &body.to_string())
}

const INVALID: &str = "invalid_request_error";

#[test]
fn every_error_has_its_kind() {
    let table: &[(u16, &str, &str, Option<&str>, FailureKind)] = &[
        (401, "authentication_error", "invalid x-api-key", None, Authentication),
        (402, "billing_error", "Pay.", Some("linked_organization_billing_unavailable"), QuotaExhausted),
        (402, "billing_error", "Pay.", None, QuotaExhausted),
        (403, "permission_error", "No.", None, Permission),
        (403, "permission_error", "No.", Some("sandbox_egress_restricted"), Permission),
        (404, "not_found_error", "model: claude-9", None, ModelNotFound),
        (408, "timeout_error", "Slow.", None, Server),
        (409, "conflict_error", "Again.", None, Server),
        (413, "request_too_large", "Too large.", None, ContextTooLong),
        (429, "rate_limit_error", "Slow down.", None, RateLimited),
        (429, "rate_limit_error", "Slow down.", Some("ramp_limit_exceeded"), RateLimited),
        (429, "rate_limit_error", "Cap.", Some("enforced_spend_limit_reached"), QuotaExhausted),
        (429, "rate_limit_error", "Cap.", Some("contract_spend_limit_reached"), QuotaExhausted),
        (500, "api_error", "Oops.", None, Server),
        (503, "api_error", "Oops.", Some("cmek_key_unreachable"), Overloaded),
        (504, "timeout_error", "Slow.", None, Server),
        (529, "overloaded_error", "Overloaded", None, Overloaded),
        (529, "overloaded_error", "Overloaded", Some("compaction_unavailable"), Overloaded),
        (400, INVALID, "Something else.", None, InvalidRequest),
        (400, INVALID, "prompt is too long: 210000 tokens > 200000 maximum", None, ContextTooLong),
        (
            400,
            INVALID,
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            None,
            ContextTooLong,
        ),
        (400, INVALID, "You have reached your specified API usage limits. Wait.", None, QuotaExhausted),
        (400, INVALID, "This would exceed your workspace API usage limits.", None, QuotaExhausted),
        (400, INVALID, "Your credit balance is too low to use the API.", None, QuotaExhausted),
        (400, INVALID, "On hold.", Some("organization_on_hold"), Permission),
        (400, INVALID, "Key off.", Some("cmek_key_disabled"), Permission),
        (400, INVALID, "Output blocked by content filtering policy", None, Filtered),
        (400, INVALID, "Schema is too complex for compilation.", None, SchemaRejected),
        (400, INVALID, "The compiled grammar is too large, simplify it.", None, SchemaRejected),
        (400, INVALID, "output_config.format.schema: `minLength` is not allowed", None, SchemaRejected),
        (400, INVALID, "claude-x does not support structured outputs", None, SchemaRejected),
        (400, INVALID, "`temperature` is deprecated for this model.", None, ParamRejected),
        (400, INVALID, "top_k: Extra inputs are not permitted", None, ParamRejected),
        (400, INVALID, "`temperature` and `top_p` cannot both be specified.", None, ParamRejected),
        (400, INVALID, "messages: this is not supported", None, InvalidRequest),
        (418, "teapot_error", "New.", None, Unknown),
        (599, "newest_error", "New.", None, Server),
    ];
    for (status, kind, message, code, expected) in table {
        let error = of(*status, kind, message, *code);
        assert_eq!(error.kind(), *expected, "{status} {kind} {message} {code:?}");
        assert_eq!((error.status(), error.request_id()), (Some(*status), Some("req_7")), "{message}");
        assert_eq!(error.code(), Some(code.unwrap_or(kind)), "{message}");
    }
}

#[test]
fn a_parameter_is_named_where_the_text_names_one() {
    let param = |message: &str| of(400, INVALID, message, None).param().map(str::to_owned);
    assert_eq!(param("max_tokens: 9000 > 8192, which is the most").as_deref(), Some("max_tokens"));
    assert_eq!(param("thinking.enabled.budget_tokens: not supported").as_deref(), Some("thinking"));
    assert_eq!(param("The field `top_p` is not supported").as_deref(), Some("top_p"));
    assert_eq!(param("Something: else"), None);
    assert_eq!(param("é: x"), None);
}

#[test]
fn bodies_of_proxies_are_read_by_status() {
    let page = "<html><body>Request Entity Too Large</body></html>";
    assert_eq!(error(413, page).kind(), ContextTooLong);
    assert_eq!(error(502, page).kind(), Server);
    assert_eq!(error(529, "").kind(), Overloaded);
    let wrapped = json!({"error": {"message": "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}", "code": 500}});
    assert_eq!(error(500, &wrapped.to_string()).kind(), Overloaded);
}

#[test]
fn without_a_schema_no_complaint_is_about_one() {
    let body = json!({"error": {"type": INVALID, "message": "output_format: no such field"}}).to_string();
    let reply = Reply::new(400, HeaderMap::new(), body);
    let error = read(&reply, &Asked::new(false, OPTIONAL, None), SystemTime::UNIX_EPOCH);
    assert_eq!(error.kind(), InvalidRequest);
}

#[test]
fn waits_vetoes_and_ids_survive_a_change_of_kind() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", "3".parse().unwrap());
    headers.insert("x-should-retry", "false".parse().unwrap());
    let body = json!({"error": {"type": INVALID, "message": "Output blocked by content filtering policy"}});
    let mut reply = Reply::new(400, headers, body.to_string());
    reply.request_id = Some("req_1".into());
    let error = read(&reply, &Asked::new(false, OPTIONAL, None), SystemTime::UNIX_EPOCH);
    assert_eq!(
        (error.kind(), error.request_id(), error.server_retry()),
        (Filtered, Some("req_1"), Some(false))
    );
    assert_eq!((error.retry_after(), error.code()), (Some(Duration::from_secs(3)), Some(INVALID)));
}

#[test]
fn an_error_inside_a_success_counts_as_its_status() {
    let table: &[(&str, &str, Option<u16>, FailureKind)] = &[
        ("overloaded_error", "Overloaded", Some(529), Overloaded),
        ("rate_limit_error", "Slow.", Some(429), RateLimited),
        ("api_error", "Oops.", Some(500), Server),
        ("timeout_error", "Slow.", Some(504), Server),
        ("authentication_error", "Key.", Some(401), Authentication),
        ("billing_error", "Pay.", Some(402), QuotaExhausted),
        ("permission_error", "No.", Some(403), Permission),
        ("not_found_error", "No model.", Some(404), ModelNotFound),
        ("request_too_large", "Big.", Some(413), ContextTooLong),
        (INVALID, "prompt is too long: 3 tokens > 2 maximum", Some(400), ContextTooLong),
        (INVALID, "Wrong.", Some(400), InvalidRequest),
        (INVALID, "Output blocked by content filtering policy", Some(400), Filtered),
        ("newest_error", "New.", None, Server),
    ];
    for (kind, message, status, expected) in table {
        let error = in_band(&json!({"type": kind, "message": message}), &Asked::new(true, OPTIONAL, None));
        assert_eq!((error.kind(), error.status()), (*expected, *status), "{kind} {message}");
    }
}
