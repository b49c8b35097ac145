//! After the first content: a typed interruption, or what the caller opted for.

use backstop_core::{
    Capabilities, Chain, FailureKind, FinishKind, OnInterrupt, ProviderExt, Skip, StreamEvent, Usage,
};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{course, secs};

use super::support::{chain, read};

const LONG: &str = "This sentence is long enough to be shown before anything else has come. ";

fn broken(then: Piece) -> Step {
    Step::stream([LONG.into(), then])
}

fn second() -> Step {
    Step::stream(["Another answer.".into(), Piece::end()])
}

#[tokio::test(start_paused = true)]
async fn every_break_after_content_is_an_interruption_with_its_cause() {
    use FailureKind as Kind;
    let cases = [
        (Piece::cut(), Kind::StreamInterrupted),
        (Piece::fail(Kind::Connect), Kind::StreamInterrupted),
        (Piece::fail(Kind::MalformedResponse), Kind::StreamInterrupted),
        (Piece::fail(Kind::Overloaded), Kind::Overloaded),
        (Piece::fail(Kind::RateLimited), Kind::RateLimited),
        (Piece::hang(), Kind::Timeout),
        (Piece::refusal("no"), Kind::Refused),
        (Piece::end_with(FinishKind::Length), Kind::Truncated),
        (Piece::end_with(FinishKind::ContentFilter), Kind::Filtered),
        (Piece::end_with(FinishKind::Refusal), Kind::Refused),
    ];
    for (piece, kind) in cases {
        let shown = format!("{piece:?}");
        let got = read(chain([broken(piece), second()]).stream("hi").await.unwrap()).await;
        let interrupted = got.interrupted();
        assert_eq!((interrupted.kind(), interrupted.text.as_str()), (kind, LONG), "{shown}");
        assert_eq!((interrupted.target.as_str(), got.text.as_str()), ("a/m", LONG), "{shown}");
        assert_eq!(course(&interrupted.report), [("a/m", Some(kind))], "nobody else is asked: {shown}");
        let decision = interrupted.report.attempts[0].decision.unwrap().to_string();
        assert!(decision.starts_with("give up"), "{decision}");
        assert!(!format!("{interrupted:?} {interrupted}").contains("long enough"), "no text in errors");
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_of_a_broken_stream_are_estimated_and_those_that_the_vendor_named_are_kept() {
    let got = read(chain([broken(Piece::cut())]).stream("x".repeat(40)).await.unwrap()).await;
    let expected = Usage::new(10, (LONG.len() as u64).div_ceil(4)).as_estimate();
    assert_eq!(got.interrupted().usage, Some(expected));
    assert_eq!(got.interrupted().report.usage, expected);

    let counted = Step::stream([Piece::usage(Usage::new(77, 1)), LONG.into(), Piece::cut()]);
    let got = read(chain([counted]).stream("x").await.unwrap()).await;
    let usage = got.interrupted().usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (77, expected.output_tokens));
    assert!(usage.estimated);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_token_counts_ends_well_with_an_estimate() {
    let silent = Step::stream([LONG.into(), Piece::end()]).without_usage();
    let got = read(chain([silent]).stream("hi").await.unwrap()).await;
    assert!(got.response().usage.unwrap().estimated && got.report().usage.estimated);
}

#[tokio::test(start_paused = true)]
async fn with_restart_the_next_target_begins_anew_and_says_so() {
    let chain = chain([broken(Piece::cut()), broken(Piece::fail(FailureKind::Server)), second()]);
    let got = read(chain.stream("hi").on_interrupt(OnInterrupt::Restart).await.unwrap()).await;
    assert_eq!((got.names(), got.restarts), (vec!["a/m", "b/m", "c/m"], 2));
    assert_eq!((got.text.as_str(), got.response().text.as_str()), ("Another answer.", "Another answer."));
    let expected =
        [("a/m", Some(FailureKind::StreamInterrupted)), ("b/m", Some(FailureKind::Server)), ("c/m", None)];
    assert_eq!(course(got.report()), expected);
    assert!(got.report().usage.estimated, "the tokens of the broken attempts are in the sum");
    assert!(got.report().usage.output_tokens > 5 + 2 * 15);
}

#[tokio::test(start_paused = true)]
async fn a_soft_failure_at_the_end_restarts_too() {
    let chain = chain([broken(Piece::end_with(FinishKind::Length)), second()]);
    let got = read(chain.stream("hi").on_interrupt(OnInterrupt::Restart).await.unwrap()).await;
    assert_eq!((got.names(), got.text.as_str()), (vec!["a/m", "b/m"], "Another answer."));
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_nobody_serves_is_the_first_interruption() {
    let chain = chain([broken(Piece::cut()), Step::fail(FailureKind::Overloaded)]);
    let got = read(chain.stream("hi").on_interrupt(OnInterrupt::Restart).await.unwrap()).await;
    let interrupted = got.interrupted();
    assert_eq!((interrupted.kind(), interrupted.text.as_str()), (FailureKind::StreamInterrupted, LONG));
    assert_eq!(got.restarts, 0, "nothing was cleared");
    assert_eq!(interrupted.report.attempts.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_the_callers_own_fault_does_not_restart() {
    let chain = chain([broken(Piece::fail(FailureKind::Authentication)), second()]);
    let got = read(chain.stream("hi").on_interrupt(OnInterrupt::Restart).await.unwrap()).await;
    assert_eq!(got.interrupted().kind(), FailureKind::Authentication);
    assert_eq!(got.interrupted().report.attempts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_restart_late_in_a_stream_has_a_deadline_of_its_own() {
    let late = Step::stream([LONG.into(), Piece::wait(secs(25)), Piece::cut()]);
    let slow = Step::stream([Piece::wait(secs(8)), "late".into(), Piece::end()]);
    let chain = chain([late, slow]);
    let call = chain.stream("hi").deadline(secs(10)).on_interrupt(OnInterrupt::Restart);
    assert_eq!(read(call.await.unwrap()).await.text, "late");
}

#[tokio::test(start_paused = true)]
async fn with_continue_a_target_that_can_goes_on_with_the_text() {
    let able = MockProvider::new("c", [Step::stream([" The end".into(), ".".into(), Piece::end()])])
        .capable(Capabilities::unknown().with_prefill(true));
    let chain = Chain::builder()
        .target(MockProvider::new("a", [broken(Piece::cut())]).model("m"))
        .target(MockProvider::new("b", [second()]).model("m"))
        .target(able.clone().model("m"))
        .build()
        .unwrap();
    let got = read(chain.stream("hi").on_interrupt(OnInterrupt::Continue).await.unwrap()).await;
    let whole = format!("{LONG}The end.");
    assert_eq!((got.text.as_str(), got.response().text.as_str()), (whole.as_str(), whole.as_str()));
    assert_eq!((got.names(), got.restarts), (vec!["a/m", "c/m"], 0));
    assert!(got.events.iter().any(|event| matches!(event, StreamEvent::Continued { .. })));
    let report = got.report();
    assert!(matches!(&report.skips[0].reason, Skip::Unsupported { .. }), "{report}");
    assert!(report.attempts[1].continued && !report.attempts[0].continued);
    assert!(report.to_string().contains("1 continued"), "{report}");
    let seen = &able.seen()[0];
    assert_eq!((seen.messages.len(), seen.last_text().as_str()), (2, LONG.trim_end()));
}

#[tokio::test(start_paused = true)]
async fn nobody_goes_on_with_what_came_to_an_end_or_without_being_able_to() {
    let able = || Capabilities::unknown().with_prefill(true);
    for (piece, able, kind) in [
        (Piece::end_with(FinishKind::Length), able(), FailureKind::Truncated),
        (Piece::end_with(FinishKind::ContentFilter), able(), FailureKind::Filtered),
        (Piece::cut(), Capabilities::unknown(), FailureKind::StreamInterrupted),
    ] {
        let second = MockProvider::new("b", [second()]).capable(able);
        let chain = Chain::builder()
            .target(MockProvider::new("a", [broken(piece)]).model("m"))
            .target(second.clone().model("m"))
            .build()
            .unwrap();
        let got = read(chain.stream("hi").on_interrupt(OnInterrupt::Continue).await.unwrap()).await;
        assert_eq!((got.interrupted().kind(), second.calls()), (kind, 0));
    }
}
