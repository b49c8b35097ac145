//! What reports and errors say.

use backstop_core::{
    AttemptOutcome, Candidate, Chain, ChainErrorKind, FailureKind, OnInterrupt, ProviderError, ProviderExt,
    Rejection, Report, Request, check,
};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::secs;

#[tokio::test(start_paused = true)]
async fn a_rejection_names_its_check_and_score() {
    let provider = MockProvider::new("a", [Step::text("short"), Step::text("no thanks")]);
    let polite = check::from_fn("polite", |answer: Candidate<'_>| match answer.text() {
        text if text.contains("please") => Ok(()),
        _ => Err(Rejection::new("not polite").with_score(0.25)),
    });
    let chain = Chain::builder().target(provider.model("m")).check(polite).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert!(error.to_string().ends_with("rejected (check `polite`, score 0.25): not polite"), "{error}");
    assert!(error.report().to_string().contains("(check `polite`, score 0.25)"), "{}", error.report());
    let json = serde_json::to_value(error.report()).unwrap();
    assert_eq!(
        (&json["attempts"][0]["check"], &json["attempts"][0]["score"]),
        (&"polite".into(), &0.25.into())
    );
    assert_eq!(error.last_failure().and_then(|failure| failure.as_soft()?.check()), Some("polite"));
}

#[tokio::test(start_paused = true)]
async fn a_check_of_the_beginning_of_a_stream_is_named_too() {
    struct NoLists;
    #[async_trait::async_trait]
    impl backstop_core::Check for NoLists {
        fn name(&self) -> &str {
            "no_lists"
        }
        async fn check(&self, _: Candidate<'_>) -> Result<(), Rejection> {
            Ok(())
        }
        fn check_head(&self, head: &str) -> Result<(), Rejection> {
            if head.starts_with("- ") { Err(Rejection::new("a list")) } else { Ok(()) }
        }
    }
    let provider = MockProvider::new("a", [Step::stream([Piece::text("- one. ".repeat(40)), Piece::end()])]);
    let chain = Chain::builder().target(provider.model("m")).check(NoLists).build().unwrap();
    let error = chain.stream("x").await.unwrap_err();
    assert_eq!(error.report().attempts[0].check.as_deref(), Some("no_lists"));
}

#[tokio::test(start_paused = true)]
async fn what_acts_on_a_terminal_stays_out_of_reports_and_errors() {
    let fail = || {
        ProviderError::new(FailureKind::InvalidRequest, "a\u{1b}[31mred\u{202e}gnp\nline")
            .with_code("c\u{9b}d")
    };
    let provider = MockProvider::new("a", [Step::error(fail)]);
    let chain = Chain::builder().target(provider.model("m")).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    let shown = format!("{error}{}", serde_json::to_string(error.report()).unwrap());
    assert!(shown.contains("(c d): a [31mred gnp line"), "{shown}");
    let mut report: Report = error.report().clone();
    report.attempts[0].outcome =
        AttemptOutcome::Failed { kind: FailureKind::Unknown, message: "read\u{1b}from a\u{2066}file".into() };
    assert!(report.to_string().contains("read from a file"), "{report}");
    let rejection = Rejection::new("a\u{7}b").to_string();
    assert_eq!(rejection, "rejected: a b");
}

#[tokio::test(start_paused = true)]
async fn skips_stand_before_the_attempts_that_followed_them() {
    let [first, second, third] = ["first", "second", "third"]
        .map(|name| MockProvider::new(name, [Step::fail(FailureKind::InvalidRequest)]));
    let chain = Chain::builder()
        .target(first.model("m"))
        .target(second.model("m"))
        .target(third.model("m"))
        .build()
        .unwrap();
    chain.set_enabled("first/m", false).unwrap();
    let report = chain.complete("x").await.unwrap_err().report().clone();
    assert_eq!((report.skips[0].at, report.attempts[0].at), (secs(0), secs(0)));
    let table = report.to_string();
    assert!(table.find("first/m") < table.find("second/m"), "{table}");
    let back: Report = serde_json::from_value(serde_json::to_value(&report).unwrap()).unwrap();
    assert_eq!(back.to_string(), table);
}

#[tokio::test(start_paused = true)]
async fn the_last_line_tells_time_from_tokens() {
    let provider = MockProvider::new("a", [Step::text("hello")]);
    let chain = Chain::builder().target(provider.model("m")).build().unwrap();
    let report = chain.complete("hi").await.unwrap().report;
    assert!(report.to_string().ends_with("1 attempt(s), 0 skip(s), 0 ms; 10 tokens in, 5 out"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn no_time_at_all_is_said_by_the_option_that_leaves_none() {
    let provider = MockProvider::new("a", [Step::text("hello")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let error = chain.complete("x").deadline(secs(0)).await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Deadline);
    assert!(error.to_string().contains("`deadline` is 0 s"), "{error}");
    let error = chain.stream("x").total(secs(0)).await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Deadline);
    assert!(error.to_string().contains("`total` is 0 s"), "{error}");
    assert_eq!(provider.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_target_that_might_go_on_with_a_text_is_told_how_to_say_so() {
    let broken = Step::stream([Piece::text("Once upon a time"), Piece::fail(FailureKind::StreamInterrupted)]);
    let first = MockProvider::new("first", [broken]);
    let second = MockProvider::new("second", [Step::text(" there was")]);
    let chain = Chain::builder().target(first.model("m")).target(second.model("m")).build().unwrap();
    let mut stream = chain.stream("x").head(0, secs(0)).on_interrupt(OnInterrupt::Continue).await.unwrap();
    let mut end = None;
    while let Some(event) = stream.next().await {
        end = event.err();
    }
    let report = end.unwrap().report.to_string();
    assert!(report.contains("`Capabilities::with_prefill`"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_without_a_wait_closes_the_gate_however_that_is_said() {
    let limited = || ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(secs(0));
    let provider = MockProvider::new("a", [Step::error(limited)]);
    let chain = Chain::builder().target(provider.model("m")).build().unwrap();
    let error = chain.complete(Request::new("x")).await.unwrap_err();
    assert!(
        error.report().attempts.iter().any(|attempt| attempt.decision.unwrap().gate.is_some()),
        "{error:?}"
    );
    let error = chain.complete("x").await.unwrap_err();
    assert!(matches!(error.kind(), ChainErrorKind::NoTargetAvailable { retry_in: Some(_) }), "{error}");
}
