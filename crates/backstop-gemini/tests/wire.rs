//! The adapter against a loopback server that speaks Gemini's wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_core::{Attempt, Chain, Chunk, FinishKind, Provider, ProviderError, Request, Usage};
use backstop_gemini::{Auth, ClientOptions, Gemini, GeminiBuilder};
use backstop_mock::server::{Completion, MockServer, Received, Reply};
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
async fn a_stream_is_asked_for_by_a_method_of_its_own() {
    let (server, gemini) = start().await;
    server.push(Reply::text("ok"));
    assert_eq!(text(&streamed(&gemini, &Request::new("x")).await.unwrap()), "ok");
    let received = &server.requests()[0];
    assert_key_is_hidden(received);
    assert_eq!(received.path(), "/v1beta/models/gemini-2.5-flash:streamGenerateContent");
    assert_eq!(received.query(), Some("alt=sse"));
}

#[tokio::test]
async fn chunks_in_an_array_are_one_answer() {
    let (server, gemini) = start().await;
    let array = r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]"#;
    server.push(Reply::bytes("application/json; charset=UTF-8", array));
    let chunks = streamed(&gemini, &Request::new("x")).await.unwrap();
    assert_eq!(text(&chunks), "ab");
    assert!(matches!(chunks.last(), Some(Chunk::End(finish)) if finish.kind == FinishKind::Stop));
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
