//! Streams over real sockets, through every adapter.

use std::{sync::Arc, time::Duration};

use backstop::{
    AttemptOutcome, Response, Stage,
    mock::{
        MockServer,
        server::{ApiError, Completion, End, Gate, Reply, Streaming},
    },
    openai::Api,
    prelude::*,
};
use backstop_tests::Heard;
use tokio::time::sleep;

use crate::support::{KEY, millis};

const ADAPTERS: usize = 5;

/// Every adapter, asked for a model that it knows.
fn adapters(server: &MockServer) -> Vec<(&'static str, Target)> {
    let url = server.url();
    vec![
        ("openai", OpenAi::builder().base_url(&url).api_key(KEY).build().unwrap().model("gpt-4o")),
        (
            "anthropic",
            Anthropic::builder().base_url(&url).api_key(KEY).build().unwrap().model("claude-sonnet-4-5"),
        ),
        ("gemini", Gemini::builder().base_url(&url).api_key(KEY).build().unwrap().model("gemini-2.5-flash")),
        (
            "openai, responses",
            OpenAi::builder()
                .base_url(&url)
                .api_key(KEY)
                .api(Api::Responses)
                .build()
                .unwrap()
                .model("gpt-4o"),
        ),
        ("ollama", Ollama::builder().base_url(url).build().unwrap().model("llama3.1:8b")),
    ]
}

/// One target without retries, whose breaker does not open.
fn alone(target: Target) -> Chain {
    let config = BreakerConfig::builder().consecutive_failures(1_000_000).without_failure_rate();
    let registry = Registry::builder().config(config.build().unwrap()).build();
    Chain::builder().target(target.retries(0).timeout(millis(5_000))).breakers(&registry).build().unwrap()
}

struct Got {
    text: String,
    end: Result<(Response, Arc<Report>), Interrupted>,
}

async fn read(mut stream: AnswerStream) -> Got {
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(StreamEvent::Delta(piece)) => text.push_str(&piece),
            Ok(StreamEvent::Restarted { .. }) => text.clear(),
            Ok(StreamEvent::Finished { response, report }) => {
                return Got { text, end: Ok((*response, report)) };
            }
            Ok(_) => {}
            Err(interrupted) => return Got { text, end: Err(interrupted) },
        }
    }
    panic!("a stream without an end");
}

const TEXT: &str = "Grüße — a story of four words, then a few more: 東京 🙂, and the end of it.";

fn story(streaming: Streaming) -> Reply {
    Reply::from(Completion::text(TEXT).tokens(12, 34)).streamed(streaming)
}

#[tokio::test]
async fn byte_by_byte_is_the_same_as_whole_for_every_adapter() {
    for index in 0..ADAPTERS {
        let server = MockServer::start().await.unwrap();
        let (name, target) = adapters(&server).swap_remove(index);
        let chain = alone(target);
        for bytes in [1, 7, usize::MAX] {
            server.push(story(Streaming::new().piece_chars(5).keep_alives(1).write_bytes(bytes)));
            let got = read(chain.stream("hi").await.unwrap()).await;
            let (response, report) = got.end.unwrap();
            assert_eq!((got.text.as_str(), response.text.as_str()), (TEXT, TEXT), "{name} by {bytes}");
            assert_eq!(response.usage, Some(Usage::new(12, 34)), "{name} by {bytes}");
            let attempt = &report.attempts[0];
            assert!(attempt.first_content.is_some_and(|first| first <= attempt.latency), "{name} by {bytes}");
            server.clear_scripts();
        }
    }
}

/// The whole answer, or a typed failure before or after its first content: never a hang, a panic or other text.
async fn outcome_of_a_cut(chain: &Chain, at: u64, name: &str) -> bool {
    let whole = "Är 🙂 two";
    let stream = match chain.stream("hi").head(0, Duration::ZERO).await {
        Ok(stream) => stream,
        Err(error) => {
            let kind = error.report().attempts[0].failure().unwrap();
            let typed = matches!(kind, FailureKind::MalformedResponse | FailureKind::Connect);
            assert!(typed, "{name} at {at}: {error:?}");
            return false;
        }
    };
    let got = read(stream).await;
    match got.end {
        Ok((response, _)) => {
            assert_eq!((response.text.as_str(), got.text.as_str()), (whole, whole), "{name} at {at}")
        }
        Err(interrupted) => {
            assert_eq!(interrupted.kind(), FailureKind::StreamInterrupted, "{name} at {at}");
            assert!(whole.starts_with(&interrupted.text) && !got.text.is_empty(), "{name} at {at}");
            assert_eq!(interrupted.text, got.text, "{name} at {at}");
            assert!(interrupted.usage.unwrap().output_tokens > 0, "{name} at {at}");
            return false;
        }
    }
    true
}

#[tokio::test]
async fn a_cut_at_any_byte_has_a_typed_outcome_for_every_adapter() {
    for index in 0..ADAPTERS {
        let server = MockServer::start().await.unwrap();
        let (name, target) = adapters(&server).swap_remove(index);
        let chain = alone(target);
        let (mut at, mut complete, mut failed) = (0, 0, 0);
        // What comes after the end is shorter than that.
        while complete < 300 {
            server.clear_scripts();
            let streaming = Streaming::new().piece_chars(4);
            server
                .push(Reply::from(Completion::text("Är 🙂 two")).streamed(streaming).cut_at(at, End::Close));
            match outcome_of_a_cut(&chain, at, name).await {
                true => complete += 1,
                false => failed += 1,
            }
            assert!(at < 10_000, "{name} never comes to its end");
            at += 1;
        }
        assert!(failed > 100, "{name} was cut in {failed} places");
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_is_of_its_kind_for_every_adapter() {
    for index in 0..ADAPTERS {
        let server = MockServer::start().await.unwrap();
        let (name, target) = adapters(&server).swap_remove(index);
        let chain = alone(target);
        server.push(story(Streaming::new().error_after(2, ApiError::overloaded())));
        let got = read(chain.stream("hi").head(0, Duration::ZERO).await.unwrap()).await;
        let interrupted = got.end.unwrap_err();
        assert!(!interrupted.text.is_empty() && TEXT.starts_with(&interrupted.text), "{name}");
        let kind = interrupted.kind();
        assert!(matches!(kind, FailureKind::Overloaded | FailureKind::Server), "{name}: {interrupted:?}");

        server.push(story(Streaming::new().error_after(0, ApiError::overloaded())));
        server.push(Reply::text("second"));
        let error = chain.stream("hi").await.unwrap_err();
        assert_eq!(error.report().attempts[0].failure(), Some(kind), "{name}: nothing was shown");
    }
}

#[tokio::test]
async fn a_broken_stream_begins_anew_at_another_vendor() {
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)] {
        let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
        first.push(story(Streaming::new().end_after(3)));
        second.push(Reply::text("from the second"));
        let chain = Chain::builder()
            .target(adapters(&first).swap_remove(from).1.named("first"))
            .target(adapters(&second).swap_remove(to).1.named("second"))
            .build()
            .unwrap();
        let call = chain.stream("hi").head(0, Duration::ZERO);
        let interrupted = read(call.await.unwrap()).await.end.unwrap_err();
        assert_eq!((interrupted.kind(), second.requests().len()), (FailureKind::StreamInterrupted, 0));

        let call = chain.stream("hi").head(0, Duration::ZERO).on_interrupt(OnInterrupt::Restart);
        let got = read(call.await.unwrap()).await;
        let (response, report) = got.end.unwrap();
        assert_eq!((got.text.as_str(), response.text.as_str()), ("from the second", "from the second"));
        assert_eq!((report.served_by(), report.attempts.len()), (Some("second"), 2));
        // What is held back breaks unseen.
        let got = read(chain.stream("hi").head(500, millis(5_000)).await.unwrap()).await;
        assert_eq!(got.text, "from the second");
    }
}

#[tokio::test]
async fn a_stream_with_nothing_but_its_end_is_an_empty_answer() {
    let server = MockServer::start().await.unwrap();
    let chain = alone(adapters(&server).swap_remove(0).1);
    server.push(Reply::events(["data: [DONE]\n\n"]));
    let error = chain.stream("hi").await.unwrap_err();
    assert_eq!(error.report().attempts[0].failure(), Some(FailureKind::Empty));
    server.push(Reply::events([": nothing\n\n"]));
    let error = chain.stream("hi").await.unwrap_err();
    assert_eq!(error.report().attempts[0].failure(), Some(FailureKind::MalformedResponse));
}

#[tokio::test]
async fn keep_alives_are_no_content_and_a_stall_is_an_idle_timeout() {
    let server = MockServer::start().await.unwrap();
    let chain = alone(adapters(&server).swap_remove(0).1);
    let never = Gate::new();
    server.push(story(Streaming::new().keep_alives(3).gate_at(0, &never)));
    let error = chain.stream("hi").first_content(millis(150)).await.unwrap_err();
    let attempt = &error.report().attempts[0];
    assert_eq!((attempt.failure(), attempt.stage), (Some(FailureKind::Timeout), Some(Stage::FirstContent)));
    server.clear_scripts();
    server.push(story(Streaming::new().gate_at(1, &never)));
    let call = chain.stream("hi").head(0, Duration::ZERO).idle(millis(150));
    let interrupted = read(call.await.unwrap()).await.end.unwrap_err();
    assert_eq!(interrupted.report.attempts[0].stage, Some(Stage::Idle));
    server.wait_for_disconnects(2).await.unwrap();
}

#[tokio::test]
async fn a_slow_consumer_trips_no_timer() {
    let server = MockServer::start().await.unwrap();
    server.push(story(Streaming::new().piece_chars(20)));
    let chain = alone(adapters(&server).swap_remove(0).1);
    let call = chain.stream("hi").head(0, Duration::ZERO).idle(millis(100)).total(millis(400));
    let (mut stream, mut text) = (call.await.unwrap(), String::new());
    while let Some(event) = stream.next().await {
        if let StreamEvent::Delta(piece) = event.unwrap() {
            text.push_str(&piece);
        }
        sleep(millis(150)).await;
    }
    assert_eq!(text, TEXT);
}

#[tokio::test]
async fn dropping_a_stream_closes_its_connection_and_keeps_its_tokens() {
    for index in 0..ADAPTERS {
        let server = MockServer::start().await.unwrap();
        let (name, target) = adapters(&server).swap_remove(index);
        let never = Gate::new();
        server.push(story(Streaming::new().gate_at(2, &never)));
        let heard = Heard::default();
        let chain = Chain::builder().target(target).observer(heard.clone()).build().unwrap();
        let mut stream = chain.stream("hi").head(0, Duration::ZERO).await.unwrap();
        while !matches!(stream.next().await, Some(Ok(StreamEvent::Delta(_)))) {}
        assert_eq!(server.disconnects().len(), 0, "{name}");
        drop(stream);
        server.wait_for_disconnect().await.unwrap();
        let records = heard.attempts();
        assert_eq!((records.len(), &records[0].outcome), (1, &AttemptOutcome::Cancelled), "{name}");
        assert!(records[0].usage.is_some_and(|usage| usage.estimated && usage.output_tokens > 0), "{name}");
    }
}
