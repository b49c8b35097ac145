//! Streams that always have another chunk ready. In real time: paused time stands still while somebody is busy.

use std::{iter, time::Instant};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Chain, Chunk, ChunkStream, FailureKind, Provider, ProviderError, ProviderExt, Response, Stage,
};
use backstop_tests::{millis, secs};
use futures_util::{StreamExt, stream};

use super::support::read;

/// Some text, then one chunk for ever: for so long that a test that waits for its end fails.
struct Flood {
    text: &'static str,
    chunk: Chunk,
}

#[async_trait]
impl Provider for Flood {
    fn name(&self) -> &str {
        "flood"
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        Ok(Response::new("whole"))
    }

    async fn stream(&self, _: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let (chunk, began) = (self.chunk.clone(), Instant::now());
        let endless = iter::from_fn(move || (began.elapsed() < secs(10)).then(|| Ok(chunk.clone())));
        let text = (!self.text.is_empty()).then(|| Ok(Chunk::Text(self.text.into())));
        Ok(stream::iter(text.into_iter().chain(endless)).boxed())
    }
}

fn chain(text: &'static str, chunk: Chunk) -> Chain {
    let target = Flood { text, chunk }.model("m").timeout(millis(100)).idle(millis(100)).retries(0);
    Chain::builder().target(target).build().unwrap()
}

fn no_content() -> [Chunk; 3] {
    [Chunk::Ping, Chunk::Text(String::new()), Chunk::Reasoning("hm".into())]
}

#[tokio::test]
async fn the_first_content_is_not_waited_for_longer() {
    for chunk in no_content() {
        let error = chain("", chunk.clone()).stream("hi").await.unwrap_err();
        let attempt = &error.report().attempts[0];
        let timeout = (Some(FailureKind::Timeout), Some(Stage::FirstContent));
        assert_eq!((attempt.failure(), attempt.stage), timeout, "{chunk:?}");
    }
}

#[tokio::test]
async fn the_next_content_is_not_waited_for_longer() {
    for chunk in no_content() {
        let got = read(chain("Once.", chunk.clone()).stream("hi").head(0, secs(0)).await.unwrap()).await;
        assert_eq!(
            (got.text.as_str(), got.interrupted().kind()),
            ("Once.", FailureKind::Timeout),
            "{chunk:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_is_held_back_is_not_read_past_its_time() {
    let error = chain("", Chunk::Text("word ".into())).stream("hi").hold(true).await.unwrap_err();
    assert_eq!(error.report().attempts[0].failure(), Some(FailureKind::Timeout));
}

#[tokio::test]
async fn other_tasks_have_their_turn() {
    let chain = chain("", Chunk::Ping);
    let (error, others) = tokio::join!(chain.stream("hi"), async {
        let began = Instant::now();
        tokio::time::sleep(millis(1)).await;
        began.elapsed()
    });
    assert_eq!(error.unwrap_err().report().attempts[0].failure(), Some(FailureKind::Timeout));
    assert!(others < secs(5), "{others:?}");
}
