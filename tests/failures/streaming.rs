//! Streams: as the adapters read them, and as a chain shows them.

use std::{sync::Arc, time::Duration};

use backstop::{
    AnswerStream, Chunk, FinishKind, Interrupted, Stage,
    mock::{
        MockProvider, MockServer, Piece, Step,
        server::{ApiError, Completion, Reply, Streaming},
    },
    prelude::*,
};
use backstop_tests::{Heard, millis, secs};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{answering, ask, at, at_anthropic, chain, kinds, openai, over, saying, server};

async fn streamed(server: &MockServer) -> Result<Vec<Chunk>, ProviderError> {
    let request = Request::new("x");
    let stream = openai(server).stream(&Attempt::new("m", &request)).await?;
    stream.collect::<Vec<_>>().await.into_iter().collect()
}

fn text(chunks: &[Chunk]) -> String {
    chunks
        .iter()
        .filter_map(|chunk| if let Chunk::Text(text) = chunk { Some(text.as_str()) } else { None })
        .collect()
}

fn usage(chunks: &[Chunk]) -> Option<Usage> {
    chunks.iter().rev().find_map(|chunk| if let Chunk::Usage(usage) = chunk { Some(*usage) } else { None })
}

fn finish(chunks: &[Chunk]) -> Option<FinishKind> {
    chunks.iter().find_map(|chunk| if let Chunk::End(finish) = chunk { Some(finish.kind) } else { None })
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn delta(content: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {"content": content}}]}))
}

fn stop() -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
}

const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn st_08_chunks_without_choices_are_read_for_what_they_hold() {
    let counts = event(&json!({"choices": [], "usage": {"prompt_tokens": 6, "completion_tokens": 2}}));
    let annotations = event(&json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}));
    let first = server([Reply::events([annotations, delta("ok"), stop(), counts, DONE.to_owned()])]).await;
    let chunks = streamed(&first).await.unwrap();
    assert_eq!((text(&chunks).as_str(), finish(&chunks)), ("ok", Some(FinishKind::Stop)));
    assert_eq!(usage(&chunks), Some(Usage::new(6, 2)));
}

#[tokio::test]
async fn st_09_a_stream_without_counts_has_none_rather_than_zero() {
    let first = server([Reply::events([delta("o"), delta("k"), stop(), DONE.to_owned()])]).await;
    let chunks = streamed(&first).await.unwrap();
    assert_eq!(
        (text(&chunks).as_str(), finish(&chunks), usage(&chunks)),
        ("ok", Some(FinishKind::Stop), None)
    );
}

#[tokio::test]
async fn st_10_running_totals_are_replaced_and_not_added_up() {
    let piece = |content: &str, count: u64| {
        let usage = json!({"prompt_tokens": 5, "completion_tokens": count});
        event(&json!({"choices": [{"index": 0, "delta": {"content": content}}], "usage": usage}))
    };
    let events = [piece("a", 1), piece("b", 2), piece("c", 3), stop(), DONE.to_owned()];
    let first = server([Reply::events(events)]).await;
    let chunks = streamed(&first).await.unwrap();
    assert_eq!((text(&chunks).as_str(), usage(&chunks)), ("abc", Some(Usage::new(5, 3))));
}

#[tokio::test]
async fn st_11_characters_may_be_cut_by_the_network_at_any_byte() {
    const TEXT: &str = "日本語 🦀 é";
    for bytes in [1, 2, 3, 5, 7] {
        let reply = Reply::from(Completion::text(TEXT)).streamed(Streaming::new().write_bytes(bytes));
        let first = server([reply]).await;
        assert_eq!(text(&streamed(&first).await.unwrap()), TEXT, "{bytes} bytes at a time");
    }
}

#[tokio::test]
async fn st_12_only_line_feeds_and_carriage_returns_end_lines() {
    const TEXT: &str = "one\u{2028}two\u{85}three\u{2029}four\u{b}five";
    let data = json!({"choices": [{"index": 0, "delta": {"content": TEXT}}]}).to_string();
    let cut = data.find(':').unwrap() + 1;
    let (head, tail) = data.split_at(cut);
    let forms = [
        format!("data: {data}\n\n"),
        format!("data:{data}\n\n"),
        format!("data: {data}\r\n\r\n"),
        format!("data: {data}\r\r"),
        format!(": a comment\nevent: x\nid: 7\ndata: {head}\ndata: {tail}\n\n"),
    ];
    for form in forms {
        let first = server([Reply::events([form.clone(), stop(), DONE.to_owned()])]).await;
        assert_eq!(text(&streamed(&first).await.unwrap()), TEXT, "{form:?}");
    }
}

#[tokio::test]
async fn st_17_an_answer_of_the_other_shape_than_was_asked_for_is_understood() {
    let events = || Reply::events([delta("o"), delta("k"), stop(), DONE.to_owned()]);
    let first = server([events()]).await;
    assert_eq!(over(&[&first]).complete("x").await.unwrap().value, "ok");
    assert_eq!(ask(&openai(&first), "m").await.unwrap().finish.kind, FinishKind::Stop);

    let whole = Reply::from(Completion::text("ok")).streamed(Streaming::new().ignored());
    let second = server([whole]).await;
    let chunks = streamed(&second).await.unwrap();
    assert_eq!((text(&chunks).as_str(), finish(&chunks)), ("ok", Some(FinishKind::Stop)));
}

/// What a consumer gets of a stream: the text, who answered, and how it ended.
struct Shown {
    text: String,
    targets: Vec<String>,
    end: Result<Arc<Report>, Interrupted>,
}

async fn shown(mut stream: AnswerStream) -> Shown {
    let (mut text, mut targets) = (String::new(), Vec::new());
    while let Some(event) = stream.next().await {
        match event {
            Ok(StreamEvent::Delta(piece)) => text.push_str(&piece),
            Ok(StreamEvent::Started { target } | StreamEvent::Restarted { target }) => {
                targets.push(target.to_string());
            }
            Ok(StreamEvent::Finished { report, .. }) => return Shown { text, targets, end: Ok(report) },
            Ok(_) => {}
            Err(interrupted) => return Shown { text, targets, end: Err(interrupted) },
        }
    }
    panic!("a stream without an end: {text}");
}

/// A scripted provider that streams these pieces.
fn streaming(name: &'static str, pieces: impl IntoIterator<Item = Piece>) -> MockProvider {
    MockProvider::new(name, [Step::stream(pieces)])
}

/// A chain of a first provider that streams so, without retries, and a second one that says `spare`.
fn beside_a_spare(pieces: impl IntoIterator<Item = Piece>) -> (Chain, MockProvider) {
    let (first, second) = (streaming("first", pieces), saying("second", "spare"));
    (chain([first.model("m").retries(0), second.clone().model("m")]), second)
}

#[tokio::test(start_paused = true)]
async fn fb_11_a_call_without_failover_has_none_in_a_stream_either() {
    for (pieces, text) in [
        (vec!["he".into(), Piece::fail(FailureKind::Overloaded)], "he"),
        (vec![Piece::fail(FailureKind::Overloaded)], ""),
    ] {
        let (chain, second) = beside_a_spare(pieces);
        match chain.stream("x").no_failover().head(0, Duration::ZERO).await {
            Ok(stream) => {
                let shown = shown(stream).await;
                assert_eq!(
                    (shown.text.as_str(), shown.end.unwrap_err().kind()),
                    (text, FailureKind::Overloaded)
                );
            }
            Err(error) => assert_eq!((kinds(error.report()), text), (vec![FailureKind::Overloaded], "")),
        }
        assert_eq!(second.calls(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn to_02_a_stream_without_content_is_given_up_like_a_call_without_answer() {
    let (chain, _) = beside_a_spare([Piece::meta("m", "r"), Piece::hang()]);
    let began = Instant::now();
    let shown = shown(chain.stream("x").first_content(millis(300)).await.unwrap()).await;
    assert_eq!((shown.text.as_str(), shown.targets), ("spare", vec!["second/m".to_owned()]));
    assert_eq!(began.elapsed(), millis(300));
    assert_eq!(kinds(&shown.end.unwrap()), [FailureKind::Timeout]);
}

#[tokio::test(start_paused = true)]
async fn to_03_signs_of_life_are_no_content() {
    let alive = (0..1_000).flat_map(|_| [Piece::wait(millis(50)), Piece::ping()]);
    let chain = chain([streaming("first", alive).model("m").retries(0)]);
    let began = Instant::now();
    let error = chain.stream("x").first_content(millis(400)).idle(millis(200)).await.unwrap_err();
    assert_eq!((kinds(error.report()), began.elapsed()), (vec![FailureKind::Timeout], millis(400)));
    assert_eq!(error.report().attempts[0].stage, Some(Stage::FirstContent));
}

#[tokio::test(start_paused = true)]
async fn to_05_a_stall_after_content_is_an_error_with_what_there_was() {
    let (chain, second) = beside_a_spare(["one ".into(), "two ".into(), "three".into(), Piece::hang()]);
    let began = Instant::now();
    let call = chain.stream("x").head(0, Duration::ZERO).idle(millis(300));
    let shown = shown(call.await.unwrap()).await;
    let interrupted = shown.end.unwrap_err();
    assert_eq!((interrupted.kind(), interrupted.text.as_str()), (FailureKind::Timeout, "one two three"));
    assert_eq!((began.elapsed(), second.calls()), (millis(300), 0));
    assert!(interrupted.usage.is_some_and(|usage| usage.estimated), "{:?}", interrupted.usage);
}

#[tokio::test]
async fn st_01_an_error_as_the_first_event_fails_over_unseen() {
    for anthropic in [true, false] {
        let (first, second) =
            (server([Reply::in_band(ApiError::overloaded())]).await, answering("served").await);
        let target = if anthropic { at_anthropic(&first, "first") } else { at(&first, "first") };
        let chain = chain([target, at(&second, "second")]);
        let shown = shown(chain.stream("x").await.unwrap()).await;
        assert_eq!((shown.text.as_str(), shown.targets), ("served", vec!["second".to_owned()]));
        assert!(kinds(&shown.end.unwrap()).iter().all(|kind| *kind == FailureKind::Overloaded));
    }
}

#[tokio::test]
async fn st_13_roles_and_annotations_before_an_error_commit_to_nothing() {
    let events = [
        event(&json!({"choices": []})),
        event(&json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})),
        event(&json!({"error": {"code": "rate_limit_exceeded", "message": "slow down"}})),
    ];
    let (first, second) = (server([Reply::events(events)]).await, answering("served").await);
    let shown = shown(over(&[&first, &second]).stream("x").await.unwrap()).await;
    assert_eq!((shown.text.as_str(), shown.targets), ("served", vec!["second".to_owned()]));
    assert!(kinds(&shown.end.unwrap()).iter().all(|kind| *kind == FailureKind::RateLimited));
}

#[tokio::test(start_paused = true)]
async fn st_14_a_chain_with_fallbacks_still_streams() {
    let pieces = || (0..5).flat_map(|_| [Piece::wait(millis(100)), "word ".into()]).chain([Piece::end()]);
    // How long the beginning is held back for the checks, and when the first and the last piece are there.
    for (head, first, last) in
        [(millis(0), millis(100), millis(500)), (millis(150), millis(250), millis(500))]
    {
        let (chain, _) = beside_a_spare(pieces());
        let began = Instant::now();
        let chars = if head.is_zero() { 0 } else { 120 };
        let mut stream = chain.stream("x").head(chars, head).await.unwrap();
        let mut times = Vec::new();
        while let Some(event) = stream.next().await {
            if matches!(event.unwrap(), StreamEvent::Delta(_)) {
                times.push(began.elapsed());
            }
        }
        assert_eq!((times.first(), times.last()), (Some(&first), Some(&last)), "{times:?}");
    }
}

#[tokio::test]
async fn st_15_a_stream_of_nothing_but_its_end_is_an_empty_answer() {
    for events in [vec![DONE.to_owned()], vec![stop(), DONE.to_owned()]] {
        let (first, second) = (server([Reply::events(events)]).await, answering("served").await);
        let shown = shown(over(&[&first, &second]).stream("x").await.unwrap()).await;
        assert_eq!((shown.text.as_str(), shown.targets), ("served", vec!["second".to_owned()]));
        let failures = kinds(&shown.end.unwrap());
        assert!(failures.iter().all(|kind| *kind == FailureKind::Empty), "{failures:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn st_18_a_stream_that_never_ends_is_ended_by_its_total() {
    let endless = ["{\"a\": 1}".into()]
        .into_iter()
        .chain((0..10_000).flat_map(|_| [Piece::wait(millis(20)), "\n".into()]));
    let first = streaming("first", endless);
    let chain = chain([first.clone().model("m")]);
    let began = Instant::now();
    let shown = shown(chain.stream("x").head(0, Duration::ZERO).total(secs(1)).await.unwrap()).await;
    let interrupted = shown.end.unwrap_err();
    assert_eq!((interrupted.kind(), began.elapsed()), (FailureKind::Timeout, secs(1)));
    assert!(interrupted.text.starts_with("{\"a\": 1}"));
    assert_eq!(first.in_flight(), 0, "the request is cancelled");
}

#[tokio::test(start_paused = true)]
async fn rf_03_a_refusal_at_the_end_takes_back_what_came_before_or_says_so() {
    let declines = || ["Sure, first".into(), Piece::end_with(FinishKind::Refusal)];
    let (chain, _) = beside_a_spare(declines());
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), kinds(&answer.report)), ("spare", vec![FailureKind::Refused]));

    let (chain, second) = beside_a_spare(declines());
    let shown = shown(chain.stream("x").head(0, Duration::ZERO).await.unwrap()).await;
    let interrupted = shown.end.unwrap_err();
    assert_eq!((interrupted.kind(), interrupted.text.as_str()), (FailureKind::Refused, "Sure, first"));
    assert_eq!(second.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn us_02_a_stream_that_broke_or_was_dropped_is_charged_for_what_there_was() {
    let pieces = |end| {
        let counts = Usage::new(100, 0);
        [Piece::usage(counts), "one ".into(), "two ".into(), "three".into(), end]
    };
    let plausible = |usage: Usage| {
        usage.estimated && usage.input_tokens == 100 && (1..=13).contains(&usage.output_tokens)
    };
    let (chain_, _) = beside_a_spare(pieces(Piece::cut()));
    let shown = shown(chain_.stream("x").head(0, Duration::ZERO).await.unwrap()).await;
    let usage = shown.end.unwrap_err().usage.unwrap();
    assert!(plausible(usage), "{usage:?}");

    let heard = Heard::default();
    let chain = Chain::builder()
        .target(streaming("first", pieces(Piece::hang())).model("m"))
        .observer(heard.clone())
        .build()
        .unwrap();
    let mut stream = chain.stream("x").head(0, Duration::ZERO).await.unwrap();
    while !matches!(stream.next().await, Some(Ok(StreamEvent::Delta(text))) if text == "three") {}
    drop(stream);
    let usage = heard.attempts()[0].usage.unwrap();
    assert!(plausible(usage), "{usage:?}");
}

#[tokio::test(start_paused = true)]
async fn cc_01_a_dropped_stream_gives_its_place_back() {
    let provider = MockProvider::new("a", [Step::stream(["one".into(), Piece::hang()]), Step::text("ok")]);
    let chain = chain([provider.clone().model("m").max_in_flight(1).queue_wait(secs(0))]);
    let mut stream = chain.stream("x").head(0, Duration::ZERO).await.unwrap();
    while !matches!(stream.next().await, Some(Ok(StreamEvent::Delta(_)))) {}
    assert_eq!(chain.snapshot().targets[0].in_flight, 1);
    assert!(chain.complete("x").await.is_err(), "the place is taken");
    drop(stream);
    assert_eq!(chain.snapshot().targets[0].in_flight, 0);
    assert_eq!(chain.complete("x").await.unwrap().value, "ok");
}
