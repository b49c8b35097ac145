//! The adapter against a loopback server that speaks Gemini's wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::Duration;

use backstop_core::{
    Attempt, Chain, Chunk, FailureKind, FinishKind, Provider, ProviderError, Request, Usage,
};
use backstop_gemini::{Auth, ClientOptions, Gemini, GeminiBuilder};
use backstop_mock::server::{ApiError, Completion, End, MockServer, Received, Reply, Streaming};
use futures_util::StreamExt;
use serde_json::json;

const KEY: &str = "AIza-hush-hush";
const MODEL: &str = "gemini-2.5-flash";

fn builder(server: &MockServer) -> GeminiBuilder {
    Gemini::builder().base_url(server.url()).api_key(KEY).client(ClientOptions::new().no_proxy())
}

async fn start() -> (MockServer, Gemini) {
    let server = MockServer::start().await.unwrap();
    server.require_key(KEY);
    let gemini = builder(&server).build().unwrap();
    (server, gemini)
}

fn assert_key_is_hidden(received: &Received) {
    assert_eq!(received.header("x-goog-api-key"), Some(KEY));
    let place = format!("{}?{}", received.path(), received.query().unwrap_or_default());
    assert!(!place.contains("hush") && !place.contains("key="), "{place}");
    assert!(!String::from_utf8_lossy(received.body()).contains("hush"));
}

async fn streamed(gemini: &Gemini, request: &Request) -> Result<Vec<Chunk>, ProviderError> {
    let stream = gemini.stream(&Attempt::new(MODEL, request)).await?;
    stream.collect::<Vec<_>>().await.into_iter().collect()
}

fn text(chunks: &[Chunk]) -> String {
    let piece = |chunk: &Chunk| match chunk {
        Chunk::Text(text) => Some(text.clone()),
        _ => None,
    };
    chunks.iter().filter_map(piece).collect()
}

#[tokio::test]
async fn a_whole_answer_over_the_wire() {
    let (server, gemini) = start().await;
    let completion =
        Completion::text(r#"{"name":"Ann"}"#).reasoning("hm").tokens(12, 46).reasoning_tokens(40);
    server.push(completion.model("gemini-2.5-flash-001"));
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "age": { "type": "integer" } },
        "required": ["name"],
    });
    let request = Request::new("Ann is 31").system("Extract.").json_schema("person", schema).keep_raw();
    let attempt = Attempt::new(MODEL, &request);
    let response = gemini.complete(&attempt).await.unwrap();
    assert_eq!(response.text, r#"{"name":"Ann"}"#);
    assert_eq!(response.usage, Some(Usage::new(12, 46).with_reasoning(40)));
    assert_eq!(response.model.as_deref(), Some("gemini-2.5-flash-001"));
    assert!(response.request_id.as_deref().is_some_and(|id| id.starts_with("mock-")));
    assert!(response.raw.is_some());
    assert_eq!(attempt.progress.take().1, response.usage);

    let received = &server.requests()[0];
    assert_key_is_hidden(received);
    assert_eq!(
        (received.method(), received.path()),
        ("POST", "/v1beta/models/gemini-2.5-flash:generateContent")
    );
    assert_eq!(received.query(), None);
    let config = &received.json()["generationConfig"];
    assert_eq!(config["responseJsonSchema"]["propertyOrdering"], json!(["name", "age"]));
}

#[tokio::test]
async fn a_stream_over_the_wire_however_it_is_cut() {
    let (server, gemini) = start().await;
    let completion = Completion::text("naïve 日本語 👩‍👩‍👧").reasoning("hm").tool_call("f", r#"{"a":1}"#);
    for bytes in [1, 7, usize::MAX] {
        let streaming = Streaming::new().piece_chars(3).write_bytes(bytes);
        server.clear_scripts().push(Reply::from(completion.clone()).streamed(streaming));
        let chunks = streamed(&gemini, &Request::new("x")).await.unwrap();
        assert_eq!(text(&chunks), "naïve 日本語 👩‍👩‍👧");
        assert!(matches!(&chunks[0], Chunk::Meta { model: Some(model), .. } if model == MODEL));
        assert!(chunks.contains(&Chunk::Reasoning("hm".into())));
        assert!(chunks.iter().any(|chunk| matches!(chunk, Chunk::ToolCall { index: 0, .. })));
        let [.., Chunk::Usage(usage), Chunk::End(finish)] = chunks.as_slice() else { panic!("{chunks:?}") };
        assert_eq!((*usage, finish.kind), (Usage::new(10, 5), FinishKind::ToolCalls));
    }
    for received in server.requests() {
        assert_key_is_hidden(&received);
        assert_eq!(received.path(), "/v1beta/models/gemini-2.5-flash:streamGenerateContent");
        assert_eq!(received.query(), Some("alt=sse"));
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let (server, gemini) = start().await;
    server.push(Reply::text("all at once").streamed(Streaming::new().ignored()));
    let array = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]"#;
    server.push(Reply::bytes("application/json; charset=UTF-8", array));
    for expected in ["all at once", "ab"] {
        let chunks = streamed(&gemini, &Request::new("x")).await.unwrap();
        assert_eq!(text(&chunks), expected);
        assert!(matches!(chunks.last(), Some(Chunk::End(finish)) if finish.kind == FinishKind::Stop));
    }
}

#[tokio::test]
async fn every_problem_over_the_wire_has_its_kind() {
    let (server, gemini) = start().await;
    let table: Vec<(ApiError, FailureKind)> = vec![
        (ApiError::bad_key(), FailureKind::Authentication),
        (ApiError::forbidden(), FailureKind::Permission),
        (ApiError::quota_exhausted(), FailureKind::QuotaExhausted),
        (ApiError::rate_limited(), FailureKind::RateLimited),
        (ApiError::overloaded(), FailureKind::Overloaded),
        (ApiError::server(), FailureKind::Server),
        (ApiError::timeout(), FailureKind::Server),
        (ApiError::model_not_found(), FailureKind::ModelNotFound),
        (ApiError::invalid_request(), FailureKind::InvalidRequest),
        (ApiError::context_too_long(), FailureKind::ContextTooLong),
        (ApiError::schema_rejected(), FailureKind::SchemaRejected),
        (ApiError::too_large(), FailureKind::ContextTooLong),
    ];
    let request =
        Request::new("x").json_schema("any", json!({ "type": "object", "properties": { "a": {} } }));
    let attempt = Attempt::new(MODEL, &request);
    for (error, kind) in table {
        server.clear_scripts().push(error.clone());
        assert_eq!(gemini.complete(&attempt).await.unwrap_err().kind(), kind, "{error:?}");
        assert_eq!(gemini.stream(&attempt).await.err().unwrap().kind(), kind, "{error:?}");
        server.clear_scripts().push(Reply::in_band(error.clone()));
        assert_eq!(gemini.complete(&attempt).await.unwrap_err().kind(), kind, "in band: {error:?}");
        assert_eq!(streamed(&gemini, &request).await.unwrap_err().kind(), kind, "in band: {error:?}");
    }
}

#[tokio::test]
async fn a_wait_in_the_body_is_found() {
    let (server, gemini) = start().await;
    let details = json!([
        { "@type": "type.googleapis.com/google.rpc.QuotaFailure",
          "violations": [{ "quotaId": "GenerateRequestsPerMinutePerProjectPerModel" }] },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s" },
    ]);
    server.push(ApiError::rate_limited().field("details", details));
    let request = Request::new("x");
    let error = gemini.complete(&Attempt::new(MODEL, &request)).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after()), (FailureKind::RateLimited, Some(Duration::from_secs(7))));
}

#[tokio::test]
async fn answers_that_are_none_are_told_apart() {
    let (server, gemini) = start().await;
    let request = Request::new("x");
    let attempt = Attempt::new(MODEL, &request);
    server.push(Reply::refusal("no"));
    server.push(Completion::filtered("half"));
    server.push(Completion::truncated("half"));
    server.push(Completion::empty());
    let finishes =
        [FinishKind::ContentFilter, FinishKind::ContentFilter, FinishKind::Length, FinishKind::Stop];
    for (finish, words) in finishes.into_iter().zip(["", "half", "half", ""]) {
        let response = gemini.complete(&attempt).await.unwrap();
        assert_eq!((response.finish.kind, response.text.as_str()), (finish, words));
    }
    for reply in [Completion::no_choices().into(), Reply::html(200, "<html>login</html>"), Reply::bare(200)] {
        server.clear_scripts().push(reply);
        let error = gemini.complete(&attempt).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedResponse);
    }
}

#[tokio::test]
async fn a_broken_stream_has_no_end() {
    let (server, gemini) = start().await;
    let pieces = || Reply::from(Completion::pieces(["one ", "two ", "three"]));
    server.push(pieces().streamed(Streaming::new().end_after(2)));
    let chunks = streamed(&gemini, &Request::new("x")).await.unwrap();
    assert_eq!(text(&chunks), "one two ");
    assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::End(_))));
    server.push(pieces().streamed(Streaming::new().error_after(1, ApiError::overloaded())));
    assert_eq!(streamed(&gemini, &Request::new("x")).await.unwrap_err().kind(), FailureKind::Overloaded);
    server.push(pieces().cut_at(150, End::Reset));
    assert!(streamed(&gemini, &Request::new("x")).await.is_err());
}

#[tokio::test]
async fn one_attempt_is_one_request() {
    let (server, gemini) = start().await;
    server.push_times(3, ApiError::overloaded());
    let request = Request::new("x");
    let _ = gemini.complete(&Attempt::new(MODEL, &request)).await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn names_gateways_and_headers_end_up_where_they_belong() {
    let (server, _) = start().await;
    server.push(Reply::text("ok"));
    let base = format!("{}/gateway/v1?tenant=a", server.url());
    let gemini = builder(&server).base_url(base).auth(Auth::Bearer).build().unwrap();
    let request = Request::new("x").extra_header("x-trace", "t-1");
    for model in ["models/gemini-2.5-flash", "tunedModels/mine", "../up?x"] {
        gemini.complete(&Attempt::new(model, &request)).await.unwrap();
    }
    let received = server.requests();
    let paths: Vec<&str> = received.iter().map(Received::path).collect();
    let expected = [
        "/gateway/v1/models/gemini-2.5-flash:generateContent",
        "/gateway/v1/tunedModels/mine:generateContent",
        "/gateway/v1/models/..%2Fup%3Fx:generateContent",
    ];
    assert_eq!(paths, expected);
    assert_eq!(received[0].query(), Some("tenant=a"));
    assert_eq!(received[0].header("authorization"), Some("Bearer AIza-hush-hush"));
    assert_eq!((received[0].header("x-goog-api-key"), received[0].header("x-trace")), (None, Some("t-1")));
    let bad = Request::new("x").extra_header("x y", "hush");
    let error = gemini.complete(&Attempt::new(MODEL, &bad)).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert!(!error.to_string().contains("hush"), "{error}");
}

#[tokio::test]
async fn a_chain_fails_over_when_the_prompt_is_blocked() {
    let (server, gemini) = start().await;
    server.when(|request| request.model() == MODEL, Reply::refusal("no"));
    server.push(Reply::text("fine"));
    let chain =
        Chain::builder().target(gemini.model(MODEL)).target(gemini.model("gemini-2.5-pro")).build().unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(answer.value, "fine");
    assert_eq!(server.requests().len(), 2);
}
