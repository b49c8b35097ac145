//! The adapter against a loopback server that speaks the real wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_core::{Attempt, Chunk, FailureKind, FinishKind, Provider, Request, Stage, Usage};
use backstop_mock::server::{ApiError, Completion, MockServer};
use backstop_openai::OpenAi;
use futures_util::StreamExt;
use serde_json::json;

const KEY: &str = "sk-test-0123456789";

fn provider(server: &MockServer) -> OpenAi {
    OpenAi::builder().base_url(server.url()).api_key(KEY).build().unwrap()
}

#[tokio::test]
async fn a_plain_answer() {
    let server = MockServer::start().await.unwrap();
    server.push(Completion::text("blue").tokens(12, 3).cached_tokens(4).model("m-2026"));
    let request = Request::new("Name a colour.").system("One word.").max_tokens(16);
    let attempt = Attempt::new("m", &request);
    let response = provider(&server).complete(&attempt).await.unwrap();
    assert_eq!(response.text, "blue");
    assert_eq!(response.finish.kind, FinishKind::Stop);
    assert_eq!(response.usage, Some(Usage::new(12, 3).with_cached(4)));
    assert_eq!(response.model.as_deref(), Some("m-2026"));
    assert!(response.request_id.is_some());
    assert_eq!(attempt.progress.stage(), Stage::Body);
    let received = &server.requests()[0];
    assert_eq!(received.path(), "/v1/chat/completions");
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received.header("content-length"), Some(received.body().len().to_string().as_str()));
    assert_eq!(
        received.json(),
        &json!({
            "model": "m",
            "messages": [{"role": "system", "content": "One word."}, {"role": "user", "content": "Name a colour."}],
            "max_tokens": 16,
        })
    );
}

#[tokio::test]
async fn an_error_is_recognised() {
    let server = MockServer::start().await.unwrap();
    server.push(ApiError::quota_exhausted());
    let request = Request::new("x");
    let error = provider(&server).complete(&Attempt::new("m", &request)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (FailureKind::QuotaExhausted, Some(429)));
}

#[tokio::test]
async fn a_stream() {
    let server = MockServer::start().await.unwrap();
    server.push(Completion::pieces(["bl", "ue"]).tokens(5, 2));
    let request = Request::new("x");
    let stream = provider(&server).stream(&Attempt::new("m", &request)).await.unwrap();
    let chunks: Vec<Chunk> = stream.map(Result::unwrap).collect().await;
    let text: String =
        chunks.iter().filter_map(|c| if let Chunk::Text(t) = c { Some(t.as_str()) } else { None }).collect();
    assert_eq!(text, "blue");
    assert!(chunks.contains(&Chunk::Usage(Usage::new(5, 2))), "{chunks:?}");
    assert!(
        matches!(chunks.last(), Some(Chunk::End(finish)) if finish.kind == FinishKind::Stop),
        "{chunks:?}"
    );
}
