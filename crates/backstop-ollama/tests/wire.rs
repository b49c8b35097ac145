//! The adapter against a loopback server that speaks Ollama's wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::Duration;

use backstop_core::{
    Attempt, Chain, Chunk, FailureKind, FinishKind, Media, Message, Provider, ProviderError, Request, Usage,
};
use backstop_mock::server::{ApiError, ClosedPort, Completion, End, MockServer, Reply, Streaming};
use backstop_ollama::{ClientOptions, Ollama, OllamaBuilder};
use futures_util::StreamExt;
use serde_json::json;

const MODEL: &str = "llama3.1:8b";

fn at(url: String) -> OllamaBuilder {
    Ollama::builder().base_url(url).client(ClientOptions::new().no_proxy())
}

async fn start() -> (MockServer, Ollama) {
    let server = MockServer::start().await.unwrap();
    let ollama = at(server.url()).build().unwrap();
    (server, ollama)
}

async fn streamed(ollama: &Ollama, request: &Request) -> Result<Vec<Chunk>, ProviderError> {
    let stream = ollama.stream(&Attempt::new(MODEL, request)).await?;
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
    let (server, _) = start().await;
    server.push(Completion::text(r#"{"name":"Ann"}"#).reasoning("hm").tokens(26, 8));
    let ollama = at(server.url()).num_ctx(8_192).keep_alive(Duration::from_secs(60)).build().unwrap();
    let schema =
        json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let request =
        Request::new("Ann is 31").system("Extract.").json_schema("person", schema.clone()).keep_raw();
    let attempt = Attempt::new(MODEL, &request);
    let response = ollama.complete(&attempt).await.unwrap();
    assert_eq!(response.text, r#"{"name":"Ann"}"#);
    assert_eq!((response.usage, response.model.as_deref()), (Some(Usage::new(26, 8)), Some(MODEL)));
    assert!(response.raw.is_some_and(|raw| raw["done"] == true));
    assert_eq!(attempt.progress.take().1, response.usage);

    let received = &server.requests()[0];
    assert_eq!((received.method(), received.path(), received.query()), ("POST", "/api/chat", None));
    assert_eq!(received.header("authorization"), None);
    let body = received.json();
    assert_eq!((&body["stream"], &body["truncate"]), (&json!(false), &json!(false)));
    assert_eq!((&body["options"]["num_ctx"], &body["keep_alive"]), (&json!(8_192), &json!(60.0)));
    assert_eq!(body["format"], schema);
}

#[tokio::test]
async fn a_stream_over_the_wire_however_it_is_cut() {
    let (server, ollama) = start().await;
    let completion = Completion::text("naïve 日本語 👩‍👩‍👧").reasoning("hm").tool_call("f", r#"{"a":1}"#);
    for bytes in [1, 7, usize::MAX] {
        let streaming = Streaming::new().piece_chars(3).write_bytes(bytes);
        server.clear_scripts().push(Reply::from(completion.clone()).streamed(streaming));
        let chunks = streamed(&ollama, &Request::new("x")).await.unwrap();
        assert_eq!(text(&chunks), "naïve 日本語 👩‍👩‍👧");
        assert!(matches!(&chunks[0], Chunk::Meta { model: Some(model), .. } if model == MODEL));
        assert!(chunks.contains(&Chunk::Reasoning("hm".into())));
        assert!(chunks.iter().any(|chunk| matches!(chunk, Chunk::ToolCall { index: 0, .. })));
        let [.., Chunk::Usage(usage), Chunk::End(finish)] = chunks.as_slice() else { panic!("{chunks:?}") };
        assert_eq!((*usage, finish.kind), (Usage::new(10, 5), FinishKind::ToolCalls));
    }
    assert!(server.requests().iter().all(|received| received.is_stream() && received.path() == "/api/chat"));
}

#[tokio::test]
async fn a_server_that_streams_otherwise_than_asked_is_understood() {
    let (server, ollama) = start().await;
    server.push(Reply::text("all at once").streamed(Streaming::new().ignored()));
    let chunks = streamed(&ollama, &Request::new("x")).await.unwrap();
    assert_eq!(text(&chunks), "all at once");
    assert!(matches!(chunks.last(), Some(Chunk::End(finish)) if finish.kind == FinishKind::Stop));
    let lines =
        "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"b\"},\"done\":true}\n";
    server.push(Reply::bytes("application/x-ndjson", lines));
    let request = Request::new("x");
    assert_eq!(ollama.complete(&Attempt::new(MODEL, &request)).await.unwrap().text, "ab");
}

#[tokio::test]
async fn every_problem_over_the_wire_has_its_kind() {
    let (server, ollama) = start().await;
    let table: Vec<(ApiError, FailureKind)> = vec![
        (ApiError::bad_key(), FailureKind::Authentication),
        (ApiError::forbidden(), FailureKind::Permission),
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
        assert_eq!(ollama.complete(&attempt).await.unwrap_err().kind(), kind, "{error:?}");
        assert_eq!(ollama.stream(&attempt).await.err().unwrap().kind(), kind, "{error:?}");
    }
}

#[tokio::test]
async fn an_error_inside_a_success_is_one() {
    let (server, ollama) = start().await;
    let request = Request::new("x");
    for (error, kind) in [
        (ApiError::model_not_found(), FailureKind::ModelNotFound),
        (ApiError::overloaded(), FailureKind::Overloaded),
        (ApiError::server(), FailureKind::Server),
    ] {
        server.clear_scripts().push(Reply::in_band(error));
        let error = ollama.complete(&Attempt::new(MODEL, &request)).await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(streamed(&ollama, &request).await.unwrap_err().kind(), kind);
    }
}

#[tokio::test]
async fn a_model_that_is_missing_can_be_pulled() {
    let (server, ollama) = start().await;
    server.push(ApiError::model_not_found());
    let request = Request::new("x");
    let error = ollama.complete(&Attempt::new(MODEL, &request)).await.unwrap_err();
    assert!(error.to_string().contains("`ollama pull llama3.1:8b`"), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_run_can_be_started() {
    let port = ClosedPort::reserve().unwrap();
    let ollama = at(port.url()).build().unwrap();
    let request = Request::new("x");
    let error = ollama.complete(&Attempt::new(MODEL, &request)).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Connect);
    assert!(error.to_string().contains("`ollama serve`"), "{error}");
}

#[tokio::test]
async fn answers_that_are_none_are_told_apart() {
    let (server, ollama) = start().await;
    let request = Request::new("x");
    let attempt = Attempt::new(MODEL, &request);
    server.push(Completion::truncated("half"));
    server.push(Completion::empty());
    server.push(Completion::empty().finish_word("load"));
    let finishes = [FinishKind::Length, FinishKind::Stop, FinishKind::Other];
    for (finish, words) in finishes.into_iter().zip(["half", "", ""]) {
        let response = ollama.complete(&attempt).await.unwrap();
        assert_eq!((response.finish.kind, response.text.as_str()), (finish, words));
    }
    for reply in [Completion::no_choices().into(), Reply::html(200, "<html>login</html>"), Reply::bare(200)] {
        server.clear_scripts().push(reply);
        let error = ollama.complete(&attempt).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedResponse);
    }
}

#[tokio::test]
async fn a_broken_stream_has_no_end() {
    let (server, ollama) = start().await;
    let pieces = || Reply::from(Completion::pieces(["one ", "two ", "three"]));
    server.push(pieces().streamed(Streaming::new().end_after(2)));
    server.push(pieces().streamed(Streaming::new().no_end()));
    for expected in ["one two ", "one two three"] {
        let chunks = streamed(&ollama, &Request::new("x")).await.unwrap();
        assert_eq!(text(&chunks), expected);
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::End(_))));
    }
    server.push(pieces().streamed(Streaming::new().error_after(1, ApiError::server())));
    assert_eq!(streamed(&ollama, &Request::new("x")).await.unwrap_err().kind(), FailureKind::Server);
    server.push(pieces().cut_at(150, End::Reset));
    assert!(streamed(&ollama, &Request::new("x")).await.is_err());
}

#[tokio::test]
async fn keys_gateways_and_headers_end_up_where_they_belong() {
    let (server, _) = start().await;
    server.require_key("hush-hush-hush").push(Reply::text("ok"));
    let base = format!("{}/gateway/?tenant=a", server.url());
    let ollama = at(base).api_key("hush-hush-hush").build().unwrap();
    let request = Request::new("x").extra_header("x-trace", "t-1");
    ollama.complete(&Attempt::new(MODEL, &request)).await.unwrap();
    let received = &server.requests()[0];
    assert_eq!((received.path(), received.query()), ("/gateway/api/chat", Some("tenant=a")));
    assert_eq!(received.header("authorization"), Some("Bearer hush-hush-hush"));
    assert_eq!(received.header("x-trace"), Some("t-1"));
    assert!(!String::from_utf8_lossy(received.body()).contains("hush"));
}

#[tokio::test]
async fn a_document_goes_to_a_target_that_takes_it() {
    let (server, ollama) = start().await;
    server.push(Reply::text("ok"));
    let chain = Chain::builder().target(ollama.model(MODEL)).build().unwrap();
    let document = Media::from_bytes("application/pdf", b"%PDF");
    let request = Request::default().message(Message::user("read").part(document));
    assert!(chain.complete(request).await.is_err());
    assert!(server.requests().is_empty());
    assert_eq!(chain.complete("hello").await.unwrap().value, "ok");
}
