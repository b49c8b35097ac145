//! A consumer that goes away: the request is cancelled, and what it cost is known.

use std::sync::Arc;

use backstop_core::{AnswerStream, AttemptOutcome, CallOutcome, Chain, ProviderExt, Stage, StreamEvent};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{Heard, secs};
use futures_util::StreamExt;
use tokio::time::timeout;

fn watched(step: Step) -> (Chain, MockProvider, Heard) {
    let (provider, heard) = (MockProvider::new("a", [step]), Heard::default());
    let chain = Chain::builder().target(provider.clone().model("m")).observer(heard.clone()).build().unwrap();
    (chain, provider, heard)
}

/// The outcome of the only call, whose report has this many attempts.
fn only_end(heard: &Heard, attempts: usize) -> CallOutcome {
    let ended = heard.ended();
    assert_eq!((heard.started(), ended.len(), ended[0].1.attempts.len()), (1, 1, attempts));
    ended[0].0
}

#[test]
fn a_stream_can_be_sent_stored_and_moved() {
    fn holds<T: Send + Unpin + 'static>() {}
    holds::<AnswerStream>();
    holds::<Result<StreamEvent, backstop_core::Interrupted>>();
    assert!(size_of::<Result<StreamEvent, backstop_core::Interrupted>>() <= 128);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_cancels_the_request_and_keeps_line_and_tokens() {
    let (chain, provider, heard) = watched(Step::stream(["x".repeat(400).as_str().into(), Piece::hang()]));
    let mut stream = chain.stream("y".repeat(80)).await.unwrap();
    stream.next().await.unwrap().unwrap();
    assert_eq!(provider.in_flight(), 1);
    drop(stream);
    assert_eq!(provider.in_flight(), 0);
    let record = &heard.attempts()[0];
    let usage = record.usage.unwrap();
    assert_eq!(record.outcome, AttemptOutcome::Cancelled);
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), (20, 100, true));
    assert_eq!(record.first_content, Some(secs(0)));
    assert_eq!(only_end(&heard, 1), CallOutcome::Cancelled);
    assert_eq!(heard.ended()[0].1.usage, usage);
}

#[tokio::test(start_paused = true)]
async fn what_was_read_until_a_stream_is_dropped_is_counted_and_no_more() {
    let pieces = (0..100).map(|_| Piece::text("four"));
    for cancels in [false, true] {
        let (chain, provider, heard) = watched(Step::stream(pieces.clone().chain([Piece::end()])));
        let mut stream = chain.stream("hi").head(0, secs(0)).await.unwrap();
        for _ in 0..=40 {
            stream.next().await.unwrap().unwrap();
        }
        if cancels {
            assert_eq!(stream.cancel().usage.output_tokens, 40);
        } else {
            drop(stream);
        }
        let record = &heard.attempts()[0];
        assert_eq!(provider.in_flight(), 0);
        assert_eq!((&record.outcome, record.usage.unwrap().output_tokens), (&AttemptOutcome::Cancelled, 40));
        assert_eq!(
            (only_end(&heard, 1), heard.ended()[0].1.usage.output_tokens),
            (CallOutcome::Cancelled, 40)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_gives_the_report() {
    let (chain, provider, heard) = watched(Step::stream(["x".repeat(400).as_str().into(), Piece::hang()]));
    let report = chain.stream("hi").await.unwrap().cancel();
    assert_eq!((provider.in_flight(), report.attempts[0].outcome.clone()), (0, AttemptOutcome::Cancelled));
    assert_eq!(report.usage.output_tokens, 100);
    assert_eq!(only_end(&heard, 1), CallOutcome::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_before_its_first_content_says_where_it_was() {
    let (chain, provider, heard) = watched(Step::stream([Piece::ping(), Piece::hang()]));
    let call = std::future::IntoFuture::into_future(chain.stream("hi"));
    assert!(timeout(secs(1), call).await.is_err());
    assert_eq!(provider.in_flight(), 0);
    let records = heard.attempts();
    assert_eq!((records.len(), records[0].stage), (1, Some(Stage::FirstContent)));
    assert_eq!(only_end(&heard, 1), CallOutcome::Cancelled);
    assert_eq!(records[0].usage, None, "nothing came, nothing is guessed");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_that_nobody_asks_for() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let step = Step::stream([
        "one".into(),
        "two".into(),
        Piece::gate(Arc::clone(&gate)),
        "three".into(),
        Piece::end(),
    ]);
    let (chain, ..) = watched(step);
    let mut stream = chain.stream("hi").head(0, secs(0)).await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(StreamEvent::Started { .. }))));
    assert!(matches!(stream.next().await, Some(Ok(StreamEvent::Delta(text))) if text == "one"));
    // A permit that nobody waits for is stored: the stream has not come to the gate.
    gate.notify_one();
    tokio::task::yield_now().await;
    let rest: Vec<_> = stream.collect().await;
    assert_eq!(rest.len(), 3);
}
