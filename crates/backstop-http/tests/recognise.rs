//! What errors mean: one row per way in which a vendor says something.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::{Duration, SystemTime};

use backstop_core::{
    FailureKind::{self, *},
    ProviderError,
};
use backstop_http::{
    ApiKey, ErrorBody, Reply,
    header::HeaderMap,
    recognise::{self, Asked},
};

const OPTIONAL: &[&str] = &["temperature", "seed"];

fn error(
    status: u16,
    headers: &[(&'static str, &'static str)],
    body: &str,
    asked: &Asked<'_>,
) -> ProviderError {
    let headers: HeaderMap = headers.iter().map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).collect();
    recognise::http_error(&Reply::new(status, headers, body.to_owned()), asked, SystemTime::now())
}

fn kind(status: u16, body: &str) -> FailureKind {
    error(status, &[], body, &Asked::new(true, OPTIONAL, None)).kind()
}

/// `{"error": {"message", "type", "code", "param"}}`.
fn openai(message: &str, kind: &str, code: &str, param: &str) -> String {
    format!(r#"{{"error":{{"message":"{message}","type":"{kind}","code":"{code}","param":"{param}"}}}}"#)
}

fn google(code: u16, status: &str, message: &str, details: &str) -> String {
    format!(
        r#"{{"error":{{"code":{code},"message":"{message}","status":"{status}","details":[{details}]}}}}"#
    )
}

fn anthropic(kind: &str, message: &str, code: &str) -> String {
    format!(
        r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}","details":{{"error_code":"{code}"}}}}}}"#
    )
}

#[test]
fn status_alone() {
    let table = [
        (400, InvalidRequest),
        (401, Authentication),
        (402, QuotaExhausted),
        (403, Permission),
        (404, ModelNotFound),
        (408, Server),
        (409, Server),
        (413, ContextTooLong),
        (418, Unknown),
        (422, InvalidRequest),
        (424, Server),
        (425, Server),
        (429, RateLimited),
        (498, Overloaded),
        (500, Server),
        (502, Server),
        (503, Overloaded),
        (504, Server),
        (524, Server),
        (526, Connect),
        (529, Overloaded),
        (599, Server),
        (307, MalformedResponse),
    ];
    for (status, expected) in table {
        for body in ["", "{}", "null", "<html>oops</html>", "oops", r#""oops""#] {
            assert_eq!(kind(status, body), expected, "{status} {body}");
        }
    }
}

#[test]
fn money_and_rates_are_told_apart() {
    let table = [
        (429, openai("quota", "insufficient_quota", "insufficient_quota", ""), QuotaExhausted),
        (429, openai("quota", "insufficient_quota", "credit_balance_exhausted", ""), QuotaExhausted),
        (429, openai("slow", "tokens", "rate_limit_exceeded", ""), RateLimited),
        (429, openai("slow", "requests", "slow_down", ""), RateLimited),
        (429, openai("Request too large for m on tokens per min", "tokens", "rate_limit_exceeded", ""), ContextTooLong),
        (503, openai("busy", "service_unavailable_error", "server_is_overloaded", ""), Overloaded),
        (503, openai("busy", "x", "slow_down", ""), Overloaded),
        (503, openai("busy", "server_error", "", ""), Overloaded),
        (529, anthropic("api_error", "busy", ""), Overloaded),
        (500, openai("oops", "server_error", "", ""), Server),
        (429, anthropic("rate_limit_error", "cap", "enforced_spend_limit_reached"), QuotaExhausted),
        (429, anthropic("rate_limit_error", "slow", "ramp_limit_exceeded"), RateLimited),
        (429, anthropic("rate_limit_error", "slow", ""), RateLimited),
        (400, anthropic("invalid_request_error", "You have reached your specified API usage limits.", ""), QuotaExhausted),
        (400, anthropic("invalid_request_error", "Your credit balance is too low", ""), QuotaExhausted),
        (402, anthropic("billing_error", "pay", ""), QuotaExhausted),
        (402, google(402, "RESOURCE_EXHAUSTED", "credits", ""), QuotaExhausted),
        (429, google(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", ""), QuotaExhausted),
        (429, google(429, "RESOURCE_EXHAUSTED", "q", r#"{"violations":[{"quotaId":"RequestsPerDayPerModel"}]}"#), QuotaExhausted),
        (429, google(429, "RESOURCE_EXHAUSTED", "q", r#"{"violations":[{"quotaId":"RequestsPerMinutePerModel"}]}"#), RateLimited),
        (400, google(400, "FAILED_PRECONDITION", "billing is off", ""), QuotaExhausted),
        (402, r#"{"error":{"code":402,"message":"budget","metadata":{"limit_source":"openrouter_in_flight_budget"}}}"#.into(), RateLimited),
        (402, r#"{"error":{"code":402,"message":"pay"}}"#.into(), QuotaExhausted),
        (429, r#"{"error":{"code":"rate_limited"}}"#.into(), RateLimited),
        (498, r#"{"error":{"message":"flex capacity"}}"#.into(), Overloaded),
    ];
    for (status, body, expected) in table {
        assert_eq!(kind(status, &body), expected, "{status} {body}");
    }
    let asked = Asked::default();
    assert_eq!(error(402, &[("retry-after", "3")], "{}", &asked).kind(), RateLimited);
}

#[test]
fn keys_permissions_and_models() {
    let table = [
        (401, openai("Incorrect", "invalid_request_error", "invalid_api_key", ""), Authentication),
        (400, google(400, "INVALID_ARGUMENT", "x", r#"{"reason":"API_KEY_INVALID"}"#), Authentication),
        (400, google(400, "INVALID_ARGUMENT", "API key not valid. Pass a valid one.", ""), Authentication),
        (403, google(403, "PERMISSION_DENIED", "no", ""), Permission),
        (400, anthropic("invalid_request_error", "held", "organization_on_hold"), Permission),
        (401, r#"{"error":"unauthorized","signin_url":"x"}"#.into(), Authentication),
        (404, openai("no model", "invalid_request_error", "model_not_found", ""), ModelNotFound),
        (400, openai("no model", "invalid_request_error", "model_not_found", "model"), ModelNotFound),
        (404, r#"{"error":{"code":"DeploymentNotFound","message":"x"}}"#.into(), ModelNotFound),
        (404, r#"{"error":"model 'x' not found"}"#.into(), ModelNotFound),
        (404, google(404, "NOT_FOUND", "models/x is not found", ""), ModelNotFound),
    ];
    for (status, body, expected) in table {
        assert_eq!(kind(status, &body), expected, "{status} {body}");
    }
}

#[test]
fn filters_and_lengths() {
    let azure = r#"{"error":{"message":"m","code":CODE,"status":400,"innererror":{"code":"INNER"}}}"#;
    let table = [
        (400, azure.replace("CODE", r#""content_filter""#), Filtered),
        (400, azure.replace("CODE", "null").replace("INNER", "ResponsibleAIPolicyViolation"), Filtered),
        (400, azure.replace("CODE", "null").replace("INNER", "ContentFiltered"), Filtered),
        (400, openai("The response was filtered due to the prompt", "", "", "prompt"), Filtered),
        (400, openai("no", "invalid_request_error", "content_policy_violation", ""), Filtered),
        (403, r#"{"error":{"code":403,"message":"flagged","metadata":{"reasons":["x"],"flagged_input":"y"}}}"#.into(), Filtered),
        (403, r#"{"error":{"code":403,"message":"no","metadata":{"error_type":"permission_denied"}}}"#.into(), Permission),
        (400, openai("too long", "invalid_request_error", "context_length_exceeded", "messages"), ContextTooLong),
        (400, openai("This model's maximum context length is 10 tokens.", "", "", ""), ContextTooLong),
        (400, r#"{"error":{"message":"The input (9 tokens) is longer than the model's context length (8 tokens).","code":400}}"#.into(), ContextTooLong),
        (400, anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", ""), ContextTooLong),
        (400, google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8).", ""), ContextTooLong),
        (400, r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"x","n_ctx":8}}"#.into(), ContextTooLong),
        (400, r#"{"error":"input exceeds the available context size (8)"}"#.into(), ContextTooLong),
        (403, r#"{"error":{"message":"Input and max_tokens exceed the context length"}}"#.into(), ContextTooLong),
        (413, "<html>413</html>".into(), ContextTooLong),
        (
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"input length exceeds context limit: 9 > 8\"}}"}}}"#.into(),
            ContextTooLong,
        ),
    ];
    for (status, body, expected) in table {
        assert_eq!(kind(status, &body), expected, "{status} {body}");
    }
}

#[test]
fn schemas_and_parameters() {
    let unsupported = |param: &str| openai("no", "invalid_request_error", "unsupported_value", param);
    let table = [
        (
            400,
            openai("Invalid schema for response_format 'x'", "invalid_request_error", "", "response_format"),
            SchemaRejected,
        ),
        (400, r#"{"error":"unknown field response_format"}"#.into(), SchemaRejected),
        (
            400,
            anthropic("invalid_request_error", "Schema is too complex for compilation.", ""),
            SchemaRejected,
        ),
        (400, anthropic("invalid_request_error", "The compiled grammar is too large.", ""), SchemaRejected),
        (
            400,
            google(
                400,
                "INVALID_ARGUMENT",
                "x",
                r#"{"fieldViolations":[{"field":"generation_config.response_json_schema.properties"}]}"#,
            ),
            SchemaRejected,
        ),
        (400, google(400, "INVALID_ARGUMENT", "Unknown name responseJsonSchema", ""), SchemaRejected),
        (500, r#"{"error":"cannot serve response_format"}"#.into(), Server),
        (400, openai("filtered, see response_format", "x", "content_filter", ""), Filtered),
        (400, unsupported("temperature"), ParamRejected),
        (400, unsupported("messages"), InvalidRequest),
        (
            422,
            r#"{"detail":[{"loc":["body","seed"],"msg":"Extra inputs","type":"extra_forbidden"}]}"#.into(),
            ParamRejected,
        ),
        (
            422,
            r#"{"detail":[{"loc":["body","mine"],"msg":"Extra inputs","type":"extra_forbidden"}]}"#.into(),
            InvalidRequest,
        ),
        (400, openai("wrong", "invalid_request_error", "invalid_type", "temperature"), InvalidRequest),
    ];
    for (status, body, expected) in table {
        assert_eq!(kind(status, &body), expected, "{status} {body}");
    }
    let image = openai("image input is not supported - hint: none", "server_error", "", "");
    assert_eq!((kind(500, &image), kind(501, &image)), (Unsupported, Unsupported));
    assert_eq!(kind(501, &openai("no", "not_supported_error", "", "")), Unsupported);
    // Without a schema in the request, a complaint about one is about something else.
    let asked = Asked::new(false, OPTIONAL, None);
    assert_eq!(
        error(400, &[], r#"{"error":"Invalid schema for function 'f'"}"#, &asked).kind(),
        InvalidRequest
    );
}

#[test]
fn a_server_may_have_its_own_meaning_of_a_status() {
    let own = [(403, ContextTooLong), (403, Server), (418, Overloaded)];
    let asked = Asked::default().with_statuses(&own);
    let table = [
        (403, "{}".to_owned(), ContextTooLong),
        (418, "{}".to_owned(), Overloaded),
        (404, "{}".to_owned(), ModelNotFound),
        (403, openai("no", "", "permission_denied", ""), Permission),
        (403, openai("your organization has been disabled", "", "", ""), Permission),
    ];
    for (status, body, expected) in table {
        assert_eq!(error(status, &[], &body, &asked).kind(), expected, "{status} {body}");
    }
}

#[test]
fn a_404_without_a_word_about_the_model_leads_to_the_base_url() {
    let asked = Asked::default();
    for body in
        ["", "{}", r#"{"detail":"Not Found"}"#, &openai("Invalid URL", "invalid_request_error", "", "")]
    {
        let error = error(404, &[], body, &asked);
        assert!(
            error.kind() == ModelNotFound && error.message().contains("check `base_url`"),
            "{body}: {error}"
        );
    }
    for body in [
        openai("no", "invalid_request_error", "model_not_found", ""),
        openai("gone", "", "", "model"),
        r#"{"error":{"code":"DeploymentNotFound","message":"x"}}"#.to_owned(),
        r#"{"error":"model 'x' not found"}"#.to_owned(),
    ] {
        let error = error(404, &[], &body, &asked);
        assert!(!error.message().contains("base_url"), "{body}: {error}");
    }
    let elsewhere = error(404, &[], "{}", &asked.with_path_advice("see the map"));
    assert!(elsewhere.message().ends_with("; see the map"), "{elsewhere}");
}

#[test]
fn words_count_only_where_they_can_mean_it() {
    // A prompt quoted in a message of another kind of error.
    let body = openai(
        "Rate limit reached. Prompt: my API key not valid, maximum context length",
        "requests",
        "rate_limit_exceeded",
        "",
    );
    assert_eq!(kind(429, &body), RateLimited);
    assert_eq!(kind(500, r#"{"error":"incorrect api key"}"#), Server);
}

#[test]
fn an_error_inside_a_success_is_read_by_its_own_code() {
    let table = [
        (r#"{"error":{"code":502,"message":"upstream"}}"#, Server, Some(502)),
        (r#"{"error":{"code":429,"message":"slow"}}"#, RateLimited, Some(429)),
        (r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, Overloaded, None),
        (r#"{"error":{"code":"rate_limit_exceeded"}}"#, RateLimited, None),
        (r#"{"error":{"message":"overloaded"}}"#, Overloaded, None),
        (r#"{"error":"something"}"#, Server, None),
        (r#"{"error":{"code":200,"message":"odd"}}"#, Server, None),
        (r#"{"error":{"code":"insufficient_quota"}}"#, QuotaExhausted, None),
        (r#"{"error":{"type":"invalid_request_error","message":"no"}}"#, InvalidRequest, None),
        (r#"{"error":{"type":"invalid_request_error","message":"context window"}}"#, ContextTooLong, None),
        (r#"{"error":{"type":"NotFoundError","message":"no"}}"#, ModelNotFound, None),
    ];
    for (body, kind, status) in table {
        let error = recognise::in_band_error(&ErrorBody::read(body.as_bytes()), &Asked::default());
        assert_eq!((error.kind(), error.status()), (kind, status), "{body}");
    }
}

#[test]
fn waits_come_from_headers_then_bodies_then_limits() {
    let asked = Asked::default();
    let google = google(429, "RESOURCE_EXHAUSTED", "q", r#"{"retryDelay":"3.5s"}"#);
    let limits = ("x-ratelimit-reset-tokens", "9s");
    let wait = |status, headers: &[(&'static str, &'static str)], body: &str| {
        error(status, headers, body, &asked).retry_after()
    };
    assert_eq!(wait(429, &[("retry-after", "2"), limits], &google), Some(Duration::from_secs(2)));
    assert_eq!(wait(429, &[limits], &google), Some(Duration::from_millis(3_500)));
    assert_eq!(wait(429, &[limits], "{}"), Some(Duration::from_secs(9)));
    assert_eq!(wait(500, &[limits], "{}"), None);
    assert_eq!(wait(503, &[("retry-after", "2")], "{}"), Some(Duration::from_secs(2)));
    let vetoed = error(500, &[("x-should-retry", "false")], "{}", &asked);
    assert_eq!(vetoed.server_retry(), Some(false));
}

#[test]
fn messages_are_short_single_lines_without_the_key() {
    let key = ApiKey::new("sk-hush-0123456789").unwrap();
    let asked = Asked::new(false, &[], Some(&key));
    let body = openai(
        "Incorrect API key provided: sk-hush-0123456789. See\\nhere",
        "x",
        "sk-hush-0123456789",
        "sk-hush-0123456789",
    );
    let error = error(401, &[], &body, &asked);
    assert_eq!(error.message(), "Incorrect API key provided: [redacted]. See here");
    assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    let long = self::error(500, &[], &format!(r#"{{"error":"{}"}}"#, "é".repeat(5_000)), &asked);
    assert_eq!(long.message().chars().count(), 301);
    assert_eq!(
        self::error(500, &[], "<html>secret page</html>", &asked).message(),
        "the answer is a web page; a proxy or a wrong `base_url` is likely"
    );
    assert!(self::error(302, &[], "", &asked).message().contains("redirect"));
}

#[test]
fn malformed_bodies_say_what_they_are() {
    for (body, expected) in [("", "empty"), (" \n", "empty"), ("<html>", "web page"), ("[1]", "no choice")] {
        let error = recognise::malformed(&Reply::new(200, HeaderMap::new(), body.to_owned()), "no choice");
        assert_eq!((error.kind(), error.status()), (MalformedResponse, Some(200)));
        assert!(error.message().contains(expected), "{body}: {error}");
    }
}

#[test]
fn what_a_vendor_says_without_a_code_is_understood() {
    let table = [
        ("The input (12000 tokens) is longer than the model's context length (8192 tokens).", ContextTooLong),
        ("This model's maximum prompt length is 8192 but the request contains 12000 tokens.", ContextTooLong),
        (
            "The decoder prompt (length 12000) is longer than the maximum model length of 8192.",
            ContextTooLong,
        ),
        ("Your request exceeded model token limit: 8192", ContextTooLong),
        ("prompt token count of 12000 exceeds the limit of 8192", ContextTooLong),
        ("too many tokens: size limit exceeded by 3808 tokens", ContextTooLong),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096", ContextTooLong),
        ("Please reduce the length of the messages.", ContextTooLong),
        ("Input is too long for requested model.", ContextTooLong),
        (
            "max_tokens is too large: 32000. This model supports at most 8192 completion tokens",
            InvalidRequest,
        ),
        ("Invalid prompt: it may be violating our usage policy", Filtered),
        ("Your prompt violates our usage policies.", Filtered),
        ("Your request was rejected by our safety system.", Filtered),
        ("This is against the content policy.", Filtered),
        ("`messages` is missing", InvalidRequest),
    ];
    for (text, expected) in table {
        assert_eq!(kind(400, &openai(text, "invalid_request_error", "", "")), expected, "{text}");
    }
}
