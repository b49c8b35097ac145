//! Four timers: first content, the head's, idle, total. None of them runs while the consumer is busy.

use backstop_core::{AnswerStream, FailureKind, Interrupted, OnInterrupt, Stage, StreamEvent, Usage};
use backstop_mock::{Piece, Step};
use backstop_tests::{millis, secs};
use tokio::time::{Instant, advance, sleep};

use super::support::{chain, read};

fn stage(interrupted: &Interrupted) -> (FailureKind, Option<Stage>) {
    (interrupted.kind(), interrupted.cause.as_hard().and_then(|error| error.stage()))
}

/// A sign of life each second, for a minute.
fn pings() -> impl Iterator<Item = Piece> {
    (0..60).flat_map(|_| [Piece::wait(secs(1)), Piece::ping()])
}

#[tokio::test(start_paused = true)]
async fn signs_of_life_and_reasoning_are_no_first_content() {
    let alive = pings().chain([Piece::meta("m", "r"), Piece::reasoning("hm"), "late".into(), Piece::end()]);
    let thinking = (0..60).flat_map(|_| [Piece::wait(secs(1)), Piece::reasoning("hm")]);
    let chain = chain([Step::stream(alive), Step::stream(thinking), Step::text("here")]);
    let started = Instant::now();
    let got = read(chain.stream("hi").first_content(secs(5)).await.unwrap()).await;
    assert_eq!((got.text.as_str(), started.elapsed()), ("here", secs(10)));
    for attempt in &got.report().attempts[..2] {
        assert_eq!(
            (attempt.failure(), attempt.stage),
            (Some(FailureKind::Timeout), Some(Stage::FirstContent))
        );
        assert_eq!(attempt.allowed, secs(30));
    }
}

#[tokio::test(start_paused = true)]
async fn the_targets_timeout_and_the_deadline_hold_until_the_first_content_only() {
    let slow = Step::stream([
        Piece::wait(secs(9)),
        "a".into(),
        Piece::wait(secs(29)),
        "b".into(),
        Piece::wait(secs(29)),
        "c".into(),
        Piece::end(),
    ]);
    let got = read(chain([slow]).stream("hi").deadline(secs(10)).await.unwrap()).await;
    assert_eq!(got.text, "abc");
    let hangs = chain([Step::hang(Stage::Headers)]);
    let error = hangs.stream("hi").deadline(secs(10)).await.unwrap_err();
    assert_eq!(error.report().attempts[0].stage, Some(Stage::Headers));
    assert_eq!(error.report().elapsed, secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_stall_between_contents_is_an_idle_timeout_whatever_else_comes() {
    let alive = [Piece::text("one")].into_iter().chain(pings()).chain(["two".into(), Piece::end()]);
    let started = Instant::now();
    let got =
        read(chain([Step::stream(alive)]).stream("hi").head(0, secs(0)).idle(secs(7)).await.unwrap()).await;
    assert_eq!(stage(got.interrupted()), (FailureKind::Timeout, Some(Stage::Idle)));
    assert_eq!((got.text.as_str(), started.elapsed()), ("one", secs(7)));
    assert_eq!(got.interrupted().report.attempts[0].stage, Some(Stage::Idle));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_stops_meets_its_total() {
    let endless = (0..1_000).flat_map(|_| [Piece::wait(secs(1)), "a".into()]);
    let got = read(chain([Step::stream(endless)]).stream("hi").total(secs(60)).await.unwrap()).await;
    assert_eq!(stage(got.interrupted()), (FailureKind::Timeout, Some(Stage::Total)));
    assert!((58..=60).contains(&got.text.len()), "{}", got.text.len());
}

/// Takes everything, but is busy for a while before it asks for the next event.
async fn read_slowly(mut stream: AnswerStream, busy: std::time::Duration) -> String {
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            StreamEvent::Delta(piece) => text.push_str(&piece),
            StreamEvent::Finished { report, .. } => {
                let attempt = &report.attempts[0];
                assert_eq!(attempt.first_content, Some(secs(1)));
                assert_eq!(attempt.per_output_token, Some(secs(1)), "the consumer's own time is left out");
            }
            _ => {}
        }
        sleep(busy).await;
    }
    text
}

#[tokio::test(start_paused = true)]
async fn a_slow_consumer_trips_no_timer_and_is_not_counted_as_the_providers_time() {
    let pieces = (0..5).flat_map(|_| [Piece::wait(secs(1)), "x".into()]).chain([Piece::end()]);
    let chain = chain([Step::stream(pieces)]);
    let call = chain.stream("hi").head(0, secs(0)).idle(secs(2)).total(secs(20)).first_content(secs(5));
    assert_eq!(read_slowly(call.await.unwrap(), secs(500)).await, "xxxxx");
}

#[tokio::test(start_paused = true)]
async fn a_slow_consumer_of_what_is_there_already_trips_no_timer_and_is_not_counted_either() {
    let ready = || (0..5).map(|_| Piece::text("four"));
    let step = Step::stream(
        [Piece::wait(secs(1))]
            .into_iter()
            .chain(ready())
            .chain([Piece::wait(secs(9))])
            .chain(ready())
            .chain([Piece::end()]),
    )
    .usage(Usage::new(1, 10));
    let mut stream =
        chain([step]).stream("hi").head(0, secs(0)).idle(secs(10)).total(secs(11)).await.unwrap();
    let mut report = None;
    while let Some(event) = stream.next().await {
        if let StreamEvent::Finished { report: ended, .. } = event.unwrap() {
            report = Some(ended);
        }
        sleep(secs(500)).await;
    }
    let attempt = &report.unwrap().attempts[0];
    assert_eq!((attempt.first_content, attempt.per_output_token), (Some(secs(1)), Some(secs(1))));
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_stops_polling_for_a_while_finds_what_came_meanwhile() {
    let step = Step::stream(["one".into(), Piece::wait(secs(1)), "two".into(), Piece::end()]);
    let mut stream = chain([step]).stream("hi").head(0, secs(0)).idle(secs(5)).await.unwrap();
    let mut text = String::new();
    while text.is_empty() {
        if let Some(Ok(StreamEvent::Delta(piece))) = stream.next().await {
            text.push_str(&piece);
        }
    }
    assert!(tokio::time::timeout(millis(1), stream.next()).await.is_err());
    advance(secs(60)).await;
    assert!(matches!(stream.next().await, Some(Ok(StreamEvent::Delta(text))) if text == "two"));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_reasoning_takes_no_time_from_the_first_content() {
    let thinks = (0..4).flat_map(|_| [Piece::wait(secs(1)), Piece::reasoning("hm")]);
    let step = Step::stream(thinks.chain(["yes".into(), Piece::end()]));
    let chain = chain([step]);
    let mut stream = chain.stream("hi").reasoning(true).first_content(secs(6)).await.unwrap();
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::Delta(piece) = event.unwrap() {
            text.push_str(&piece);
        }
        sleep(secs(100)).await;
    }
    assert_eq!(text, "yes");
}

#[tokio::test(start_paused = true)]
async fn an_idle_stream_restarts_if_asked_to() {
    let stalls = Step::stream(["a".into(), Piece::hang()]);
    let call = chain([stalls, Step::text("b")]).stream("hi").on_interrupt(OnInterrupt::Restart);
    let got = read(call.await.unwrap()).await;
    assert_eq!((got.text.as_str(), got.restarts), ("b", 1));
    assert_eq!(got.report().attempts[0].stage, Some(Stage::Idle));
}
