//! The Responses API against a loopback server that speaks it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::Duration;

use backstop_core::{
    Attempt, Chunk, FailureKind, FinishKind, Provider, ProviderError, Request, Response, Tool, Usage,
};
use backstop_mock::server::{ApiError, Completion, End, MockServer, Reply, Streaming};
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
async fn answers_that_may_not_be_used_are_still_answers() {
    let refused = answered(Completion::refusal("I can't.")).await.unwrap();
    assert_eq!((refused.text.as_str(), refused.refusal.as_deref()), ("", Some("I can't.")));
    assert_eq!(answered(Completion::empty()).await.unwrap().text, "");
    assert_eq!(answered(Completion::truncated("{\"a")).await.unwrap().finish.kind, FinishKind::Length);
    assert_eq!(answered(Completion::filtered("par")).await.unwrap().finish.kind, FinishKind::ContentFilter);
    let called = answered(Completion::empty().tool_call("f", "{\"x\":1}")).await.unwrap();
    assert_eq!((called.tool_calls[0].name.as_str(), called.finish.kind), ("f", FinishKind::ToolCalls));
}

#[tokio::test]
async fn errors_before_and_inside_a_success() {
    use FailureKind::*;
    let table = [
        (Reply::from(ApiError::bad_key()), Authentication),
        (Reply::from(ApiError::rate_limited()), RateLimited),
        (Reply::from(ApiError::quota_exhausted()), QuotaExhausted),
        (Reply::from(ApiError::context_too_long()), ContextTooLong),
        (Reply::from(ApiError::server()), Server),
        (Reply::in_band(ApiError::overloaded()), Overloaded),
        (Reply::in_band(ApiError::rate_limited()), RateLimited),
        (Reply::html(200, "<html>login</html>"), MalformedResponse),
        (Reply::from(Completion::text("hello")).cut_at(20, End::Close), MalformedResponse),
    ];
    for (reply, kind) in table {
        let shown = format!("{reply:?}");
        assert_eq!(answered(reply).await.unwrap_err().kind(), kind, "{shown}");
    }
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
async fn a_stream_of_text_reasoning_and_calls() {
    let answer =
        Completion::pieces(["日本", "", "語"]).tokens(5, 2).reasoning("hm").tool_call("f", "{\"x\":1}");
    let chunks = streamed(answer).await;
    assert_eq!(text(&chunks), "日本語");
    let calls: String = chunks
        .iter()
        .filter_map(|chunk| {
            if let Ok(Chunk::ToolCall { index: 0, arguments, .. }) = chunk {
                Some(arguments.as_str())
            } else {
                None
            }
        })
        .collect();
    assert_eq!(calls, "{\"x\":1}");
    assert!(
        chunks
            .iter()
            .any(|chunk| matches!(chunk, Ok(Chunk::ToolCall { name: Some(name), .. }) if name == "f"))
    );
    assert!(
        chunks.iter().any(|chunk| matches!(chunk, Ok(Chunk::Usage(usage)) if *usage == Usage::new(5, 2)))
    );
    assert!(
        matches!(chunks.last(), Some(Ok(Chunk::End(finish))) if finish.kind == FinishKind::ToolCalls),
        "{chunks:?}"
    );
}

#[tokio::test]
async fn a_stream_in_single_bytes_is_the_same_stream() {
    let answer = || Completion::pieces(["日本", "語"]).tokens(5, 2);
    let whole = streamed(answer()).await;
    let pieces = streamed(Reply::from(answer()).slow_body(1, Duration::ZERO)).await;
    let shown = |chunks: Vec<Result<Chunk, ProviderError>>| {
        chunks.into_iter().map(Result::unwrap).collect::<Vec<_>>()
    };
    let without_ids = |chunks: Vec<Chunk>| {
        chunks.into_iter().filter(|chunk| !matches!(chunk, Chunk::Meta { .. })).collect::<Vec<_>>()
    };
    assert_eq!(without_ids(shown(whole)), without_ids(shown(pieces)));
}

#[tokio::test]
async fn streams_that_are_refused_cut_or_filtered() {
    let refused = streamed(Completion::refusal("I can't.")).await;
    assert!(refused.iter().any(|chunk| matches!(chunk, Ok(Chunk::Refusal(_)))));
    let end = |chunks: &[Result<Chunk, ProviderError>]| match chunks.last() {
        Some(Ok(Chunk::End(finish))) => Some(finish.kind),
        _ => None,
    };
    assert_eq!(end(&streamed(Completion::truncated("{\"a")).await), Some(FinishKind::Length));
    assert_eq!(end(&streamed(Completion::filtered("par")).await), Some(FinishKind::ContentFilter));
    let cut = Reply::from(Completion::pieces(["one ", "two ", "three"])).cut_at(2_000, End::Close);
    assert_eq!(end(&streamed(cut).await), None);
}

#[tokio::test]
async fn an_error_ends_a_stream_wherever_it_comes() {
    let first = streamed(Reply::in_band(ApiError::overloaded())).await;
    assert_eq!(first.last().unwrap().as_ref().unwrap_err().kind(), FailureKind::Overloaded);
    let late = Reply::from(Completion::pieces(["one ", "two"]))
        .streamed(Streaming::new().error_after(1, ApiError::rate_limited()));
    let late = streamed(late).await;
    assert_eq!(text(&late), "one ");
    assert_eq!(late.last().unwrap().as_ref().unwrap_err().kind(), FailureKind::RateLimited);
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

#[tokio::test]
async fn tools_go_out_and_come_back() {
    let server = MockServer::start().await.unwrap();
    server.push(Completion::empty().tool_call("weather", "{}"));
    let request = Request::new("x").tool(Tool::new("weather", json!({"type": "object"})));
    let response = provider(&server).complete(&Attempt::new("m", &request)).await.unwrap();
    assert_eq!(response.tool_calls.len(), 1);
    assert_eq!(server.requests()[0].json()["tools"][0]["name"], "weather");
}
