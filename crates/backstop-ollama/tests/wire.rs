//! The adapter against a loopback server that speaks Ollama's wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::Duration;

use backstop_core::{Attempt, Chain, FailureKind, Media, Message, Provider, Request, Usage};
use backstop_mock::server::{ApiError, ClosedPort, Completion, MockServer, Reply};
use backstop_ollama::{ClientOptions, Ollama, OllamaBuilder};
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
async fn a_stream_that_nobody_asked_for_is_put_together() {
    let (server, ollama) = start().await;
    let lines =
        "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"b\"},\"done\":true}\n";
    server.push(Reply::bytes("application/x-ndjson", lines));
    let request = Request::new("x");
    assert_eq!(ollama.complete(&Attempt::new(MODEL, &request)).await.unwrap().text, "ab");
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
