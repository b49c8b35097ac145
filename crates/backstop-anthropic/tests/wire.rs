//! The adapter against a loopback server that speaks the real wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_anthropic::{Anthropic, AnthropicOptions, Auth, Fallback, ModelTraits, Sampling};
use backstop_core::{
    Attempt, Chain, Chunk, FailureKind, FinishKind, Provider, ProviderError, Request, Response, Stage, Usage,
};
use backstop_mock::server::{ApiError, Completion, MockServer, Reply};
use futures_util::StreamExt;
use serde_json::json;

const KEY: &str = "sk-ant-test-0123456789";
/// Has the vendor's own output format.
const STRICT: &str = "claude-sonnet-4-5";
/// Has not.
const OLDER: &str = "claude-3-haiku";

fn provider(server: &MockServer) -> Anthropic {
    Anthropic::builder().base_url(server.url()).api_key(KEY).build().unwrap()
}

async fn server(reply: impl Into<Reply>) -> MockServer {
    let server = MockServer::start().await.unwrap();
    server.push(reply);
    server
}

async fn ask(server: &MockServer, model: &str, request: &Request) -> Result<Response, ProviderError> {
    provider(server).complete(&Attempt::new(model, request)).await
}

async fn answered(reply: impl Into<Reply>) -> Result<Response, ProviderError> {
    ask(&server(reply).await, STRICT, &Request::new("x")).await
}

async fn streamed(reply: impl Into<Reply>, request: &Request) -> Vec<Result<Chunk, ProviderError>> {
    let server = server(reply).await;
    let stream = provider(&server).stream(&Attempt::new(OLDER, request)).await.unwrap();
    stream.collect().await
}

fn text(chunks: &[Result<Chunk, ProviderError>]) -> String {
    chunks.iter().filter_map(|c| if let Ok(Chunk::Text(t)) = c { Some(t.as_str()) } else { None }).collect()
}

fn with_schema() -> Request {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    Request::new("Ann is 31").json_schema("person", schema)
}

#[tokio::test]
async fn a_plain_answer() {
    let server = server(Completion::text("blue").tokens(12, 3).cached_tokens(4).model("m-2026")).await;
    let request = Request::new("Name a colour.").max_tokens(16).extra_header("x-team", "blue");
    let attempt = Attempt::new(STRICT, &request);
    let response = provider(&server).complete(&attempt).await.unwrap();
    assert_eq!((response.text.as_str(), response.finish.kind), ("blue", FinishKind::Stop));
    assert_eq!(response.usage, Some(Usage::new(12, 3).with_cached(4)));
    assert_eq!(response.model.as_deref(), Some("m-2026"));
    assert_eq!(attempt.progress.stage(), Stage::Body);
    assert_eq!(attempt.progress.take(), (response.request_id, response.usage));
    let received = &server.requests()[0];
    assert_eq!((received.method(), received.path()), ("POST", "/v1/messages"));
    assert_eq!(received.header("x-api-key"), Some(KEY));
    assert_eq!((received.header("authorization"), received.header("anthropic-beta")), (None, None));
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(received.header("x-team"), Some("blue"));
    assert_eq!(received.last_user_text(), "Name a colour.");
}

#[tokio::test]
async fn versions_keys_and_betas_go_into_headers() {
    let server = server(Completion::text("x")).await;
    let anthropic = Anthropic::builder()
        .base_url(format!("{}/v1/", server.url()))
        .api_key(KEY)
        .auth(Auth::Bearer)
        .version("2026-10-21")
        .beta("one-2026-01-01")
        .build()
        .unwrap();
    let options =
        AnthropicOptions::new().fallbacks([Fallback::new("claude-haiku-4-5")]).beta("two-2026-01-01");
    let request = Request::new("x")
        .temperature(0.2)
        .options(&options)
        .unwrap()
        .extra_header("Anthropic-Beta", "two-2026-01-01, three");
    let response = anthropic.complete(&Attempt::new(OLDER, &request)).await.unwrap();
    assert!(response.notes[0].contains("temperature"), "{:?}", response.notes);
    let received = &server.requests()[0];
    assert_eq!((received.path(), received.header("x-api-key")), ("/v1/messages", None));
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received.header("anthropic-version"), Some("2026-10-21"));
    let betas = "one-2026-01-01,two-2026-01-01,server-side-fallback-2026-07-01,three";
    assert_eq!(received.header("anthropic-beta"), Some(betas));
    assert_eq!(received.json().get("temperature"), None);
    let older = options.clone().beta("server-side-fallback-2026-06-01");
    anthropic.complete(&Attempt::new(OLDER, &Request::new("x").options(&older).unwrap())).await.unwrap();
    let named = server.requests()[1].header("anthropic-beta").unwrap().to_owned();
    assert_eq!(named, "one-2026-01-01,two-2026-01-01,server-side-fallback-2026-06-01");
}

#[tokio::test]
async fn a_rule_of_the_callers_own_lets_parameters_through() {
    let server = server(Completion::text("x")).await;
    let traits = ModelTraits::latest().sampling(Sampling::Free).max_tokens(77);
    let anthropic =
        Anthropic::builder().base_url(server.url()).version("2026-10-21").model_traits("mine", traits);
    let request = Request::new("x").temperature(0.2);
    anthropic.build().unwrap().complete(&Attempt::new("mine", &request)).await.unwrap();
    let body = server.requests()[0].json().clone();
    assert_eq!((&body["temperature"], &body["max_tokens"]), (&json!(0.2), &json!(77)));
}

#[tokio::test]
async fn a_schema_by_the_vendors_format_and_by_a_tool() {
    let strict = server(Completion::text(r#"{"name":"Ann"}"#)).await;
    assert_eq!(ask(&strict, STRICT, &with_schema()).await.unwrap().text, r#"{"name":"Ann"}"#);
    assert_eq!(strict.requests()[0].json()["output_config"]["format"]["type"], "json_schema");
    let older = server(Completion::empty().tool_call("person", r#"{"name":"Ann"}"#)).await;
    let response = ask(&older, OLDER, &with_schema()).await.unwrap();
    assert_eq!((response.text.as_str(), response.finish.kind), (r#"{"name":"Ann"}"#, FinishKind::Stop));
    assert!(response.tool_calls.is_empty());
    assert_eq!(older.requests()[0].json()["tool_choice"]["name"], "person");
}

#[tokio::test]
async fn a_refused_schema_is_sent_again_in_a_weaker_form() {
    let server = server(ApiError::schema_rejected()).await;
    server.push(Completion::empty().tool_call("person", r#"{"name":"Ann"}"#));
    let chain = Chain::builder().target(provider(&server).model(STRICT)).build().unwrap();
    assert_eq!(chain.complete(with_schema()).await.unwrap().value, r#"{"name":"Ann"}"#);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].json().get("output_config"), None);
    assert_eq!(requests[1].json()["tools"][0]["name"], "person");
}

#[tokio::test]
async fn a_refused_parameter_is_dropped_where_the_caller_allows_it() {
    let server =
        server(ApiError::invalid_request().message("`temperature` is deprecated for this model.")).await;
    server.push(Completion::text("fine"));
    let target = provider(&server).model("claude-sonnet-4-5").may_drop("temperature");
    let chain = Chain::builder().target(target).build().unwrap();
    assert_eq!(chain.complete(Request::new("x").temperature(0.1)).await.unwrap().value, "fine");
    let sent: Vec<bool> = server.requests().iter().map(|r| r.json().get("temperature").is_some()).collect();
    assert_eq!(sent, [true, false]);
}

#[tokio::test]
async fn a_streamed_answer_of_a_tool_is_text() {
    let completion = Completion::empty().tool_call("person", r#"{"name":"Ann"}"#);
    let chunks = streamed(completion, &with_schema()).await;
    assert_eq!(text(&chunks), r#"{"name":"Ann"}"#);
    assert!(!chunks.iter().any(|chunk| matches!(chunk, Ok(Chunk::ToolCall { .. }))));
    assert!(matches!(chunks.last(), Some(Ok(Chunk::End(end))) if end.kind == FinishKind::Stop));
}

#[tokio::test]
async fn a_stream_that_nobody_asked_for_is_put_together() {
    let events = [
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ];
    let response = answered(Reply::events(events)).await.unwrap();
    assert_eq!((response.text.as_str(), response.usage), ("hi", Some(Usage::new(3, 2))));
    let error = answered(Reply::events(events[..2].to_vec())).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::MalformedResponse);
}

#[tokio::test]
async fn a_beta_that_cannot_be_sent_is_the_callers_fault() {
    let server = server(Completion::text("x")).await;
    let request = Request::new("x").extra_header("anthropic-beta", "a b");
    let error = ask(&server, STRICT, &request).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert!(server.requests().is_empty());
}
