use backstop_http::{ApiKey, header::HeaderMap};

use super::*;
use FailureKind::{ContextTooLong, MalformedResponse, Permission, Unknown};

fn of(status: u16, text: &str, schema: bool) -> ProviderError {
    let reply = Reply::new(status, HeaderMap::new(), json!({ "error": text }).to_string());
    read(&reply, &Asked::new(schema, &[], None), "llama3.1:8b", SystemTime::UNIX_EPOCH)
}

#[test]
fn every_error_has_its_kind() {
    let table = [
        (400, "missing request body", InvalidRequest),
        (400, r#""all-minilm" does not support chat"#, Unsupported),
        (400, "registry.example/library/gemma:2b does not support tools", Unsupported),
        (400, r#""gemma:2b" does not support thinking"#, ParamRejected),
        (400, "invalid options: num_ctx", InvalidRequest),
        (
            400,
            "the prompt is longer than the context length currently available to the model; shorten it",
            ContextTooLong,
        ),
        (400, "input (9000 tokens) exceeds the available context size (4096 tokens)", ContextTooLong),
        (401, "unauthorized", Authentication),
        (403, "cloud features are disabled", Permission),
        (404, "model 'llama3.1:8b' not found", ModelNotFound),
        (404, r#"model "llama3.1:8b" not found, try pulling it first"#, ModelNotFound),
        (429, "you have reached your usage limit", RateLimited),
        (429, "you (ann) have reached your weekly usage limit, upgrade for higher limits", QuotaExhausted),
        (499, "request cancelled", Unknown),
        (500, "llama runner process has terminated: exit status 2", Server),
        (500, "model requires more system memory (9.1 GiB) than is available (4.2 GiB)", Server),
        (500, "this model is missing data required for image input", Unsupported),
        (502, "the cloud model cannot be reached", Server),
        (503, "server busy, please try again.  maximum pending requests exceeded", Overloaded),
    ];
    for (status, text, kind) in table {
        let error = of(status, text, false);
        assert_eq!((error.kind(), error.status()), (kind, Some(status)), "{text}");
        assert!(error.message().starts_with(text), "{error}");
    }
    let reply = |status, body: &'static str| Reply::new(status, HeaderMap::new(), body);
    let kind = |reply| read(&reply, &Asked::default(), "m", SystemTime::UNIX_EPOCH).kind();
    assert_eq!(kind(reply(404, "404 page not found")), InvalidRequest);
    assert_eq!(kind(reply(502, "<html>Bad Gateway</html>")), Server);
    assert_eq!(kind(reply(302, "")), MalformedResponse);
    assert_eq!(kind(reply(401, r#"{"error":"unauthorized","signin_url":"https://x"}"#)), Authentication);
}

#[test]
fn errors_say_what_to_do_next() {
    let table = [
        (of(404, "model 'llama3.1:8b' not found", false), "`ollama pull llama3.1:8b`"),
        (of(404, "404 page not found", false), "`base_url`"),
        (of(401, "unauthorized", false), "`ollama signin`"),
        (unreached(ProviderError::new(Connect, "cannot connect to localhost")), "`ollama serve`"),
    ];
    for (error, advice) in table {
        assert!(error.message().contains(advice), "{error}");
    }
    let stale = unreached(ProviderError::new(Connect, "closed").as_stale());
    assert_eq!((stale.message(), stale.is_stale()), ("closed", true));
    assert_eq!(unreached(ProviderError::new(FailureKind::Timeout, "late")).message(), "late");
    assert_eq!(of(400, "\"m\" does not support thinking", false).param(), Some("think"));
}

#[test]
fn a_schema_that_the_server_refuses_is_told_from_other_mistakes() {
    let table = [
        (400, "invalid JSON schema in format", true, SchemaRejected),
        (400, "invalid JSON schema in format", false, InvalidRequest),
        (500, "failed to parse grammar", true, SchemaRejected),
        (500, "failed to parse grammar", false, Server),
        (
            400,
            r#"invalid format: "xml"; expected "json" or a valid JSON Schema object"#,
            true,
            SchemaRejected,
        ),
        (400, "invalid role", true, InvalidRequest),
    ];
    for (status, text, schema, kind) in table {
        assert_eq!(of(status, text, schema).kind(), kind, "{text} {schema}");
    }
}

#[test]
fn errors_inside_a_success_are_told_by_their_text() {
    let table = [
        ("model 'm' not found", ModelNotFound),
        ("server busy, please try again.  maximum pending requests exceeded", Overloaded),
        ("unauthorized", Authentication),
        ("the prompt exceeds the available context size", ContextTooLong),
        ("an error was encountered while running the model: unexpected EOF", Server),
    ];
    for (text, kind) in table {
        for error in [json!(text), json!({ "message": text })] {
            assert_eq!(in_band(error, &Asked::default(), "m").kind(), kind, "{text}");
        }
    }
    for (code, kind) in [(json!(429), RateLimited), (json!("503"), Overloaded)] {
        let error = in_band(json!({ "message": "from a gateway", "code": code }), &Asked::default(), "m");
        assert_eq!(error.kind(), kind);
    }
}

#[test]
fn the_key_is_taken_out() {
    let key = ApiKey::new("hush-hush-hush").unwrap();
    let reply = Reply::new(401, HeaderMap::new(), r#"{"error":"no such key: hush-hush-hush"}"#);
    let error = read(&reply, &Asked::new(false, &[], Some(&key)), "m", SystemTime::UNIX_EPOCH);
    assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
}
