use std::time::Duration;

use backstop_http::{ApiKey, header::HeaderMap};

use super::*;
use FailureKind::{Authentication, ContextTooLong, MalformedResponse, ModelNotFound, Overloaded, Server};

fn body(code: u16, status: &str, message: &str, details: &str) -> String {
    format!(
        r#"{{"error":{{"code":{code},"message":"{message}","status":"{status}","details":[{details}]}}}}"#
    )
}

fn of(status: u16, body: &str, schema: bool) -> ProviderError {
    let reply = Reply::new(status, HeaderMap::new(), body.to_owned());
    read(&reply, &Asked::new(schema, &[], None), SystemTime::UNIX_EPOCH)
}

fn quota(id: &str) -> String {
    format!(
        r#"{{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{id}"}}]}}"#
    )
}

const PLAN: &str = "You exceeded your current quota, please check your plan and billing details.";
const RETRY: &str = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}"#;
const BAD_KEY: &str = r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}"#;

#[test]
fn every_error_has_its_kind() {
    let per_minute = quota("GenerateRequestsPerMinutePerProjectPerModel");
    let per_day = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    let table = [
        (400, "INVALID_ARGUMENT", "API key not valid.", BAD_KEY, Authentication),
        (400, "INVALID_ARGUMENT", "Request contains an invalid argument.", "", InvalidRequest),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
            "",
            ContextTooLong,
        ),
        (400, "FAILED_PRECONDITION", "Please enable billing.", "", QuotaExhausted),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", "", Permission),
        (401, "UNAUTHENTICATED", "No credentials.", "", Authentication),
        (402, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", "", QuotaExhausted),
        (403, "PERMISSION_DENIED", "Your key may not do this.", "", Permission),
        (403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)", "", InvalidRequest),
        (
            403,
            "PERMISSION_DENIED",
            "You may not access the File abc or it may not exist.",
            "",
            InvalidRequest,
        ),
        (404, "NOT_FOUND", "models/x is not found for API version v1beta.", "", ModelNotFound),
        (413, "INVALID_ARGUMENT", "Request payload size exceeds the limit.", "", ContextTooLong),
        (429, "RESOURCE_EXHAUSTED", PLAN, &per_minute, RateLimited),
        (429, "RESOURCE_EXHAUSTED", PLAN, "", RateLimited),
        (429, "RESOURCE_EXHAUSTED", PLAN, &per_day, QuotaExhausted),
        (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", "", QuotaExhausted),
        (
            429,
            "RESOURCE_EXHAUSTED",
            "The project has exceeded its monthly spending cap.",
            RETRY,
            QuotaExhausted,
        ),
        (499, "CANCELLED", "Cancelled.", "", FailureKind::Unknown),
        (500, "INTERNAL", "An internal error has occurred.", "", Server),
        (503, "UNAVAILABLE", "The model is overloaded.", "", Overloaded),
        (504, "DEADLINE_EXCEEDED", "The deadline expired.", "", Server),
    ];
    for (status, word, message, details, kind) in table {
        let body = body(status, word, message, details);
        // Without server-sent events Google puts the error of a stream into an array.
        for body in [body.clone(), format!("[{body}]")] {
            let error = of(status, &body, false);
            assert_eq!(error.kind(), kind, "{body}");
            assert_eq!((error.status(), error.message()), (Some(status), message));
        }
    }
    assert_eq!(of(502, "<html><h1>Bad Gateway</h1></html>", false).kind(), Server);
    assert_eq!(of(302, "", false).kind(), MalformedResponse);
}

#[test]
fn a_schema_that_google_refuses_is_told_from_other_mistakes() {
    let states = "The specified schema produces a constraint that has too many states for serving.";
    let of_tools = "GenerateContentRequest.tools[0].function_declarations[0].parameters: the schema is empty";
    let violation =
        r#"{"fieldViolations":[{"field":"generation_config.response_json_schema","description":"d"}]}"#;
    let table = [
        (states, "", true, SchemaRejected),
        (states, "", false, InvalidRequest),
        ("Request contains an invalid argument.", violation, true, SchemaRejected),
        ("Request contains an invalid argument.", "", true, InvalidRequest),
        (of_tools, "", true, InvalidRequest),
        (
            "Function calling with a response mime type: 'application/json' is unsupported",
            "",
            true,
            SchemaRejected,
        ),
    ];
    for (message, details, schema, kind) in table {
        let error = of(400, &body(400, "INVALID_ARGUMENT", message, details), schema);
        assert_eq!(error.kind(), kind, "{message} {schema}");
    }
}

#[test]
fn a_parameter_that_google_does_not_know_is_named_as_the_caller_names_it() {
    for (name, param) in [("topK", "top_k"), ("stop_sequences", "stop"), ("thinkingLevel", "thinking_level")]
    {
        let message = format!(
            r#"Invalid JSON payload received. Unknown name \"{name}\" at 'generation_config': Cannot find field."#
        );
        let error = of(400, &body(400, "INVALID_ARGUMENT", &message, ""), true);
        assert_eq!((error.kind(), error.param()), (ParamRejected, Some(param)));
    }
    for (message, param) in [
        ("Thinking level is not supported for this model.", "thinking_level"),
        ("The thinking budget (52428) is invalid.", "thinking_budget"),
        ("Budget 0 is invalid. This model only works in thinking mode.", "thinking_budget"),
    ] {
        let error = of(400, &body(400, "INVALID_ARGUMENT", message, ""), true);
        assert_eq!((error.kind(), error.param()), (ParamRejected, Some(param)));
    }
    let message = r#"Unknown name \"contentz\": Cannot find field."#;
    assert_eq!(of(400, &body(400, "INVALID_ARGUMENT", message, ""), true).kind(), InvalidRequest);
}

#[test]
fn the_wait_and_the_code_survive_a_change_of_kind() {
    let details = format!("{},{RETRY}", quota("GenerateRequestsPerMinutePerProject"));
    let error = of(429, &body(429, "RESOURCE_EXHAUSTED", PLAN, &details), false);
    assert_eq!((error.kind(), error.retry_after()), (RateLimited, Some(Duration::from_millis(34_500))));
    assert_eq!(error.code(), Some("GenerateRequestsPerMinutePerProject"));
    assert!(error.stage().is_some());
}

#[test]
fn codes_may_be_texts_and_the_key_is_taken_out() {
    let key = ApiKey::new("AIza-hush-hush").unwrap();
    let text = r#"{"error":{"code":"400","message":"API key not valid: AIza-hush-hush","status":3}}"#;
    let reply = Reply::new(400, HeaderMap::new(), text);
    let error = read(&reply, &Asked::new(false, &[], Some(&key)), SystemTime::UNIX_EPOCH);
    assert_eq!(error.kind(), Authentication);
    assert!(!format!("{error:?}").contains("hush"), "{error:?}");
}
