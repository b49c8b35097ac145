//! The Responses API against a loopback server that speaks it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_core::{
    Attempt, Chunk, FailureKind, FinishKind, Provider, ProviderError, Request, Response, Usage,
};
use backstop_mock::server::{ApiError, Completion, MockServer, Reply};
use backstop_openai::{Api, OpenAi};
use futures_util::StreamExt;
use serde_json::json;

fn provider(server: &MockServer) -> OpenAi {
    OpenAi::builder()
        .base_url(server.url())
        .api_key("sk-test-0123456789")
        .api(Api::Responses)
        .build()
        .unwrap()
}

async fn answered(reply: impl Into<Reply>) -> Result<Response, ProviderError> {
    let server = MockServer::start().await.unwrap();
    server.push(reply);
    provider(&server).complete(&Attempt::new("m", &Request::new("x"))).await
}

async fn streamed(reply: impl Into<Reply>) -> Vec<Result<Chunk, ProviderError>> {
    let server = MockServer::start().await.unwrap();
    server.push(reply);
    let request = Request::new("x");
    provider(&server).stream(&Attempt::new("m", &request)).await.unwrap().collect().await
}

fn text(chunks: &[Result<Chunk, ProviderError>]) -> String {
    chunks.iter().filter_map(|c| if let Ok(Chunk::Text(t)) = c { Some(t.as_str()) } else { None }).collect()
}

#[tokio::test]
async fn a_plain_answer() {
    let server = MockServer::start().await.unwrap();
    server.push(
        Completion::text("blue")
            .tokens(12, 3)
            .cached_tokens(4)
            .reasoning("hm")
            .reasoning_tokens(2)
            .model("m-2026"),
    );
    let request = Request::new("Name a colour.").system("One word.").max_tokens(16);
    let attempt = Attempt::new("m", &request);
    let response = provider(&server).complete(&attempt).await.unwrap();
    assert_eq!((response.text.as_str(), response.finish.kind), ("blue", FinishKind::Stop));
    assert_eq!(response.usage, Some(Usage::new(12, 3).with_cached(4).with_reasoning(2)));
    assert_eq!(attempt.progress.take(), (response.request_id, response.usage));
    let received = &server.requests()[0];
    assert_eq!(received.path(), "/v1/responses");
    assert_eq!(
        received.json(),
        &json!({"model": "m", "instructions": "One word.", "store": false, "max_output_tokens": 16,
                "input": [{"role": "user", "content": "Name a colour."}]})
    );
}

#[tokio::test]
async fn a_refused_format_is_a_refused_schema() {
    let server = MockServer::start().await.unwrap();
    server.push(ApiError::invalid_request().param("text.format.schema").code("invalid_json_schema"));
    let request = Request::new("x")
        .json_schema("s", json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let error = provider(&server).complete(&Attempt::new("m", &request)).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::SchemaRejected);
    server
        .clear_scripts()
        .push(ApiError::invalid_request().param("reasoning.effort").code("unsupported_value"));
    let error = provider(&server).complete(&Attempt::new("m", &request)).await.unwrap_err();
    assert_eq!((error.kind(), error.param()), (FailureKind::ParamRejected, Some("reasoning.effort")));
}

#[tokio::test]
async fn a_stream_nobody_asked_for_is_put_together() {
    let delta = json!({"type": "response.output_text.delta", "delta": "ok"});
    let end =
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}});
    let events = format!("data: {delta}\n\ndata: {end}\n\n");
    assert_eq!(answered(Reply::bytes("text/event-stream", events)).await.unwrap().text, "ok");
    let whole = json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]});
    assert_eq!(text(&streamed(Reply::json(&whole)).await), "ok");
}
