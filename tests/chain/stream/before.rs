//! Before the first content: failing over is silent.

use backstop::validate::Refusal;
use backstop_core::{
    Chain, ChainErrorKind, FailureKind, FinishKind, Hedge, ProviderExt, Remedy, StreamEvent, Usage,
};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{course, millis, secs};

use super::support::{chain, read};

fn hello() -> Step {
    Step::stream(["Hello, ".into(), "world".into(), Piece::end()])
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_its_pieces_and_then_its_response_and_report() {
    let step = Step::stream([Piece::meta("m-1", "req-1"), "Hello, ".into(), "world".into(), Piece::end()]);
    let got = read(chain([step]).stream("hi").head(0, secs(0)).tag("job", "7").await.unwrap()).await;
    assert!(matches!(&got.events[0], StreamEvent::Started { target } if target.as_str() == "a/m"));
    assert!(matches!(&got.events[1], StreamEvent::Delta(text) if text == "Hello, "));
    assert!(matches!(&got.events[2], StreamEvent::Delta(text) if text == "world"));
    assert_eq!((got.events.len(), got.text.as_str()), (4, "Hello, world"));
    let (response, report) = (got.response(), got.report());
    assert_eq!((response.text.as_str(), response.finish.kind), ("Hello, world", FinishKind::Stop));
    assert_eq!((response.model.as_deref(), response.usage), (Some("m-1"), Some(Usage::new(10, 5))));
    assert_eq!((report.served_by(), report.usage), (Some("a/m"), Usage::new(10, 5)));
    assert_eq!((report.tags["job"].as_str(), report.attempts[0].request_id.as_deref()), ("7", Some("req-1")));
}

#[tokio::test(start_paused = true)]
async fn what_fails_before_the_first_content_fails_over_unseen() {
    use FailureKind as Kind;
    let cases = [
        (Step::fail(Kind::Overloaded), Kind::Overloaded),
        (Step::stream([Piece::ping(), Piece::fail(Kind::Overloaded)]), Kind::Overloaded),
        (Step::stream([Piece::ping(), Piece::cut()]), Kind::MalformedResponse),
        (Step::stream([Piece::meta("m", "r"), Piece::end()]), Kind::Empty),
        (Step::stream([Piece::reasoning("hm"), Piece::end()]), Kind::Empty),
        (Step::stream(["  \n ".into(), Piece::end()]), Kind::Empty),
        (Step::stream([Piece::refusal("I can't"), Piece::hang()]), Kind::Refused),
        (Step::stream([Piece::end_with(FinishKind::ContentFilter)]), Kind::Filtered),
        (Step::stream([Piece::end_with(FinishKind::Refusal)]), Kind::Refused),
        (Step::stream([Piece::ping(), Piece::hang()]), Kind::Timeout),
        // Held back, so nobody has seen it.
        (Step::stream(["Hel".into(), Piece::cut()]), Kind::MalformedResponse),
        (Step::stream(["Hel".into(), Piece::end_with(FinishKind::Length)]), Kind::Truncated),
    ];
    for (step, kind) in cases {
        let shown = format!("{step:?} {kind}");
        let first = MockProvider::new("a", [step]);
        let chain = Chain::builder()
            .target(first.model("m").retries(0))
            .target(MockProvider::new("b", [hello()]).model("m"))
            .build()
            .unwrap();
        let got = read(chain.stream("hi").await.unwrap()).await;
        assert_eq!((got.names(), got.text.as_str()), (vec!["b/m"], "Hello, world"), "{shown}");
        let attempts = &got.report().attempts;
        assert_eq!(attempts.first().unwrap().failure(), Some(kind), "{shown}");
        assert!(got.report().used_fallback, "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn if_nobody_answers_the_error_is_that_of_a_call() {
    let chain = chain([Step::fail(FailureKind::Overloaded), Step::stream([Piece::ping()])]);
    let error = chain.stream("hi").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Exhausted);
    let expected = [("a/m", Some(FailureKind::Overloaded)), ("b/m", Some(FailureKind::MalformedResponse))];
    assert_eq!(course(error.report()), expected);
    let error = chain.stream("hi").only("nobody").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Config);
    let error = chain.stream("hi").no_failover().await.unwrap_err();
    assert_eq!(course(error.report()), &expected[..1]);
    let error =
        self::chain([Step::fail(FailureKind::InvalidRequest), hello()]).stream("hi").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::InvalidRequest));
}

#[tokio::test(start_paused = true)]
async fn the_same_target_is_retried_as_in_a_call() {
    let provider =
        MockProvider::new("a", [Step::fail(FailureKind::Server), Step::stream([Piece::cut()]), hello()]);
    let chain = Chain::builder().target(provider.model("m").retries(2)).build().unwrap();
    let got = read(chain.stream("hi").await.unwrap()).await;
    let kinds: Vec<_> = got.report().attempts.iter().map(|attempt| attempt.failure()).collect();
    assert_eq!(kinds, [Some(FailureKind::Server), Some(FailureKind::MalformedResponse), None]);
    assert_eq!(got.names(), ["a/m"]);
}

#[tokio::test(start_paused = true)]
async fn a_short_answer_that_was_cut_off_is_asked_for_with_more_tokens() {
    let cut_off = Step::stream(["Hel".into(), Piece::end_with(FinishKind::Length)]);
    let provider = MockProvider::new("a", [cut_off, hello()]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let got = read(chain.stream(backstop_core::Request::new("hi").max_tokens(2)).await.unwrap()).await;
    assert_eq!(got.text, "Hello, world");
    assert_eq!(got.report().attempts[1].remedies, [Remedy::MoreTokens]);
    assert_eq!(provider.seen()[1].max_tokens, Some(4));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_at_the_beginning_fails_over_before_anything_is_shown() {
    let words = ["I'm sorry, ", "but I cannot ", "help with that request. ", "Ask someone else."];
    let refusing = || Step::stream(words.map(Piece::text).into_iter().chain([Piece::hang()]));
    let build = || {
        Chain::builder()
            .target(MockProvider::new("a", [refusing()]).model("m"))
            .target(MockProvider::new("b", [hello()]).model("m"))
            .check(Refusal::default())
            .build()
            .unwrap()
    };
    let got = read(build().stream("hi").await.unwrap()).await;
    assert_eq!(got.names(), ["b/m"]);
    assert_eq!(course(got.report()), [("a/m", Some(FailureKind::Refused)), ("b/m", None)]);
    assert!(got.report().attempts[0].usage.is_some_and(|usage| usage.estimated), "what was read is paid for");

    let got = read(build().stream("hi").head(0, secs(0)).await.unwrap()).await;
    assert_eq!(
        (got.names(), got.interrupted().kind()),
        (vec!["a/m"], FailureKind::Timeout),
        "nothing held back"
    );
}

#[tokio::test(start_paused = true)]
async fn a_head_is_shown_at_last_when_its_time_is_over() {
    let slow = Step::stream(["Well".into(), Piece::wait(secs(5)), ", now".into(), Piece::end()]);
    let chain = chain([slow]);
    let started = tokio::time::Instant::now();
    let stream = chain.stream("hi").head(120, millis(200)).await.unwrap();
    assert_eq!(started.elapsed(), millis(200));
    assert_eq!(read(stream).await.text, "Well, now");
}

#[tokio::test(start_paused = true)]
async fn a_check_of_the_whole_answer_fails_over_while_it_is_held_back() {
    let check = backstop_core::check::from_fn("no_bad", |answer: backstop_core::Candidate<'_>| {
        if answer.text().contains("bad") { Err(backstop_core::Rejection::new("bad")) } else { Ok(()) }
    });
    let chain = Chain::builder()
        .target(MockProvider::new("a", [Step::stream(["bad".into(), Piece::end()])]).model("m"))
        .target(MockProvider::new("b", [hello()]).model("m"))
        .check(check)
        .build()
        .unwrap();
    let got = read(chain.stream("hi").await.unwrap()).await;
    assert_eq!((got.names(), got.report().attempts.len()), (vec!["b/m"], 2));
    let got = read(chain.stream("hi").head(0, secs(0)).await.unwrap()).await;
    assert_eq!((got.text.as_str(), got.interrupted().kind()), ("bad", FailureKind::Rejected));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_stream_gives_its_answer_in_one_piece() {
    let got = read(chain([Step::text("whole")]).stream("hi").await.unwrap()).await;
    assert_eq!((got.text.as_str(), got.response().usage), ("whole", Some(Usage::new(10, 5))));
    let called = read(chain([Step::tool_call("f", "{}")]).stream("hi").await.unwrap()).await;
    assert_eq!(called.response().tool_calls[0].name, "f");
}

#[tokio::test(start_paused = true)]
async fn tool_calls_come_in_pieces_and_end_whole() {
    let step = Step::stream([
        Piece::tool_call(1, "find", "{\"q\":"),
        Piece::tool_call(0, "add", "{"),
        Piece::arguments(1, "\"x\"}"),
        Piece::arguments(0, "}"),
        Piece::end_with(FinishKind::ToolCalls),
    ]);
    let got = read(chain([step]).stream("hi").await.unwrap()).await;
    let pieces = got.events.iter().filter(|event| matches!(event, StreamEvent::ToolCall { .. })).count();
    let calls: Vec<_> =
        got.response().tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!((pieces, calls), (4, vec![("find", "{\"q\":\"x\"}"), ("add", "{}")]));
}

#[tokio::test(start_paused = true)]
async fn pieces_of_very_many_calls_in_turn_find_their_calls() {
    // Looking through all calls for each piece would take minutes.
    let calls = 0..30_000;
    let begun = calls.clone().map(|index| Piece::tool_call(index, "f", "["));
    let ended = (0..5).flat_map(|_| calls.clone()).map(|index| Piece::arguments(index, index.to_string()));
    let step = Step::stream(begun.chain(ended).chain([Piece::end_with(FinishKind::ToolCalls)]));
    let got = read(chain([step]).stream("hi").await.unwrap()).await;
    let calls = &got.response().tool_calls;
    assert_eq!(calls.len(), 30_000);
    for (index, call) in calls.iter().enumerate() {
        assert_eq!(call.arguments, format!("[{}", index.to_string().repeat(5)));
    }
}

#[tokio::test(start_paused = true)]
async fn reasoning_is_held_back_unless_asked_for_and_then_ends_the_wait_early() {
    let thinks = || {
        Step::stream([
            Piece::reasoning("let me see"),
            Piece::wait(secs(3)),
            "Yes".into(),
            Piece::reasoning("done"),
            Piece::end(),
        ])
    };
    let got = read(chain([thinks()]).stream("hi").await.unwrap()).await;
    assert!(!got.events.iter().any(|event| matches!(event, StreamEvent::Reasoning(_))));

    let started = tokio::time::Instant::now();
    let stream = chain([thinks()]).stream("hi").reasoning(true).await.unwrap();
    assert_eq!(started.elapsed(), secs(0));
    let got = read(stream).await;
    let reasoning: Vec<_> = got
        .events
        .iter()
        .filter_map(|event| if let StreamEvent::Reasoning(text) = event { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!((reasoning, got.text.as_str()), (vec!["let me see", "done"], "Yes"));
}

#[tokio::test(start_paused = true)]
async fn after_reasoning_was_shown_failing_over_is_a_restart_and_failing_an_interruption() {
    let thinks = || Step::stream([Piece::reasoning("hm"), Piece::fail(FailureKind::Overloaded)]);
    let got = read(chain([thinks(), hello()]).stream("hi").reasoning(true).await.unwrap()).await;
    assert_eq!((got.names(), got.restarts, got.text.as_str()), (vec!["a/m", "b/m"], 1, "Hello, world"));
    let got = read(chain([thinks()]).stream("hi").reasoning(true).await.unwrap()).await;
    let interrupted = got.interrupted();
    assert_eq!((interrupted.kind(), interrupted.text.as_str()), (FailureKind::Overloaded, ""));
    assert_eq!(interrupted.target.as_str(), "a/m");
}

#[tokio::test(start_paused = true)]
async fn a_hedge_runs_until_the_first_content_of_either() {
    let slow = MockProvider::new("a", [Step::stream([Piece::wait(secs(20)), "slow".into(), Piece::end()])]);
    let fast = MockProvider::new("b", [hello()]);
    let chain = Chain::builder()
        .target(slow.clone().model("m"))
        .target(fast.clone().model("m"))
        .hedge(Hedge::after(secs(2)))
        .build()
        .unwrap();
    let stream = chain.stream("hi").await.unwrap();
    assert_eq!(slow.in_flight(), 0, "the loser is cancelled when the winner shows its first content");
    let got = read(stream).await;
    assert_eq!((got.names(), got.text.as_str()), (vec!["b/m"], "Hello, world"));
    let cancelled = &got.report().attempts[0];
    assert_eq!(cancelled.outcome, backstop_core::AttemptOutcome::Cancelled);
}
