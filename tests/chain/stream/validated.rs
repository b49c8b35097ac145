//! Streams whose answer is judged at its end, shown or held back until then.

use async_trait::async_trait;
use backstop_core::{
    Candidate, Chain, ChainErrorKind, Change, Check, ConfigError, FailureKind, FinishKind, OnInterrupt,
    ProviderExt, Rejection, Remedy, Request, Risk, Stage, StreamEvent, Usage, Validator, validator,
};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{course, millis, secs};

use super::support::{chain, read};

/// A text without the word "bad", by its length.
fn good() -> impl Validator<Output = usize> + 'static {
    validator::from_fn(|answer: Candidate<'_>| {
        if answer.text().contains("bad") {
            return Err(Rejection::schema("a bad word").with_feedback("Write no bad word."));
        }
        answer.record(Change::repair("trimmed", Risk::Cosmetic, ""));
        Ok(answer.text().len())
    })
}

fn says(text: &str) -> Step {
    Step::stream(text.split_inclusive(' ').map(Piece::text).chain([Piece::end()]))
}

#[tokio::test(start_paused = true)]
async fn the_value_is_there_when_the_stream_has_finished() {
    let (call, accepted) = chain([says("a good answer")]).stream("hi").validated(good());
    let got = read(call.await.unwrap()).await;
    let (response, report) = got.finished.unwrap();
    let answer = accepted.into_answer(Box::new(response), report.into()).unwrap();
    assert_eq!((answer.value, answer.response.text.as_str()), (13, "a good answer"));
    assert_eq!((answer.repairs.len(), answer.coercions.len()), (1, 0));
    assert_eq!(answer.report.served_by(), Some("a/m"));
}

/// Converts something, and never rejects.
struct Converts;

#[async_trait]
impl Check for Converts {
    fn name(&self) -> &str {
        "converts"
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        candidate.record(Change::coercion("rounded", Risk::Guess, ""));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_chains_checks_changed_is_in_the_answer_as_in_that_of_a_call() {
    let provider = MockProvider::new("a", [says("a good answer")]);
    let chain = Chain::builder().target(provider.model("m")).check(Converts).build().unwrap();
    let called = chain.call("hi", good()).await.unwrap();
    for hold in [false, true] {
        let (call, accepted) = chain.stream("hi").head(0, secs(0)).hold(hold).validated(good());
        let (response, report) = read(call.await.unwrap()).await.finished.unwrap();
        let answer = accepted.into_answer(Box::new(response), report.into()).unwrap();
        assert_eq!((&answer.repairs, &answer.coercions), (&called.repairs, &called.coercions));
        assert_eq!((answer.repairs.len(), answer.coercions.len()), (1, 1));
    }
}

/// Asks somebody, who never answers.
struct Asks;

impl Validator for Asks {
    type Output = ();

    async fn validate(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        candidate.spend(Usage::new(3, 4));
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_of_judging_that_did_not_end_are_in_the_report() {
    let chain = chain([says("a good answer")]);
    let call = chain.stream("hi").head(0, secs(0)).total(secs(9)).validated(Asks).0;
    let got = read(call.await.unwrap()).await;
    assert_eq!(got.interrupted().report.check_usage.output_tokens, 4);

    let mut stream = chain.stream("hi").head(0, secs(0)).validated(Asks).0.await.unwrap();
    let dropped = async { while stream.next().await.is_some() {} };
    assert!(tokio::time::timeout(secs(9), dropped).await.is_err());
    assert_eq!(stream.cancel().check_usage.output_tokens, 4);
}

#[tokio::test(start_paused = true)]
async fn what_is_rejected_after_it_was_shown_is_an_interruption_or_restarts() {
    let targets = || chain([says("a bad answer"), says("a good answer")]);
    let (call, accepted) = targets().stream("hi").head(0, secs(0)).validated(good());
    let got = read(call.await.unwrap()).await;
    assert_eq!(got.interrupted().kind(), FailureKind::SchemaMismatch);
    assert_eq!((got.text.as_str(), course(&got.interrupted().report).len()), ("a bad answer", 1));
    let nothing = accepted.into_answer(Box::default(), Default::default()).unwrap_err();
    assert_eq!(nothing.kind(), FailureKind::Unknown);

    let call = targets().stream("hi").head(0, secs(0)).on_interrupt(OnInterrupt::Restart);
    let (call, accepted) = call.validated(good());
    let got = read(call.await.unwrap()).await;
    assert_eq!((got.text.as_str(), got.restarts), ("a good answer", 1));
    let (response, report) = got.finished.unwrap();
    assert_eq!(accepted.into_answer(Box::new(response), report.into()).unwrap().value, 13);
}

#[tokio::test(start_paused = true)]
async fn what_is_held_back_follows_the_policy_unseen() {
    let provider = MockProvider::new("a", [says("a bad answer"), says("a good answer")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let (call, accepted) = chain.stream("hi").hold(true).validated(good());
    let got = read(call.await.unwrap()).await;
    assert_eq!((got.text.as_str(), got.restarts, provider.calls()), ("a good answer", 0, 2));
    assert_eq!(got.report().attempts[1].remedies, [Remedy::Feedback]);
    assert!(provider.seen()[1].last_text().contains("Write no bad word."));
    let (response, report) = got.finished.unwrap();
    assert_eq!(accepted.into_answer(Box::new(response), report.into()).unwrap().value, 13);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_while_it_is_held_back_fails_over_unseen() {
    let long = "Long enough to be shown if it were not held back, and more than a head of it. ".repeat(3);
    for (piece, kind) in [
        (Piece::cut(), FailureKind::MalformedResponse),
        (Piece::hang(), FailureKind::Timeout),
        (Piece::fail(FailureKind::Overloaded), FailureKind::Overloaded),
        (Piece::end_with(FinishKind::ContentFilter), FailureKind::Filtered),
    ] {
        let chain = chain([Step::stream([long.as_str().into(), piece]), says("a good answer")]);
        let got = read(chain.stream("hi").hold(true).await.unwrap()).await;
        assert_eq!((got.names(), got.text.as_str()), (vec!["b/m"], "a good answer"));
        assert_eq!(course(got.report()), [("a/m", Some(kind)), ("b/m", None)]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_held_back_has_time_between_contents_and_the_deadline_as_a_whole() {
    let slow = |pauses| {
        Step::stream((0..pauses).flat_map(|_| ["word ".into(), Piece::wait(secs(9))]).chain([Piece::end()]))
    };
    let got =
        read(chain([slow(3)]).stream("hi").hold(true).idle(secs(10)).deadline(secs(60)).await.unwrap()).await;
    assert_eq!(got.text.len(), 15);
    let error = chain([slow(4)]).stream("hi").hold(true).idle(secs(8)).await.unwrap_err();
    assert_eq!(error.report().attempts[0].stage, Some(Stage::Idle));
    let error = chain([slow(9)]).stream("hi").hold(true).deadline(secs(30)).await.unwrap_err();
    assert_eq!((error.kind(), error.report().elapsed), (ChainErrorKind::Deadline, secs(30)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_held_back_for_too_long_leaves_time_for_the_next_target() {
    let endless = Step::stream((0..90).flat_map(|_| ["word ".into(), Piece::wait(secs(1))]));
    let call = chain([endless, says("a good answer")]).stream("hi").hold(true).deadline(secs(40));
    let got = read(call.await.unwrap()).await;
    assert_eq!((got.names(), got.text.as_str()), (vec!["b/m"], "a good answer"));
    let error = got.report().attempts[0].to_owned();
    assert_eq!((error.failure(), error.stage), (Some(FailureKind::Timeout), Some(Stage::Total)));
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_has_a_beginning_and_an_end_where_it_is_allowed() {
    let empty = || chain([Step::stream([Piece::meta("m", "r"), Piece::end()])]);
    for hold in [false, true] {
        let got = read(empty().stream(Request::new("hi").allow_empty()).hold(hold).await.unwrap()).await;
        assert_eq!((got.names(), got.text.as_str(), got.events.len()), (vec!["a/m"], "", 2));
        assert_eq!(got.report().served_by(), Some("a/m"));
    }
}

struct Wrong;

impl Validator for Wrong {
    type Output = ();

    fn prepare(&self, _: &mut Request) -> Result<(), ConfigError> {
        Err(ConfigError::setting("wrong", "is wrong"))
    }

    async fn validate(&self, _: Candidate<'_>) -> Result<(), Rejection> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_validator_that_cannot_work_fails_the_call_before_anything_is_sent() {
    let provider = MockProvider::new("a", [says("x")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let error = chain.stream("hi").tag("job", "7").validated(Wrong).0.await.unwrap_err();
    assert_eq!((error.kind(), provider.calls()), (ChainErrorKind::Config, 0));
    assert_eq!(error.report().tags["job"], "7");
}

#[tokio::test(start_paused = true)]
async fn blanks_are_shown_but_are_no_content() {
    let blanks = (0..20).flat_map(|_| [Piece::wait(secs(1)), "\n ".into()]);
    let never = Step::stream(blanks.clone());
    let error = chain([never]).stream("hi").first_content(secs(5)).await.unwrap_err();
    assert_eq!(error.report().attempts[0].stage, Some(Stage::FirstContent));

    let stalls = Step::stream(["word".into()].into_iter().chain(blanks).chain([Piece::hang()]));
    let call = chain([stalls]).stream("hi").head(0, secs(0)).idle(secs(5));
    let started = tokio::time::Instant::now();
    let got = read(call.await.unwrap()).await;
    assert_eq!(got.interrupted().report.attempts[0].stage, Some(Stage::Idle));
    assert_eq!((started.elapsed(), got.text.as_str()), (secs(5), "word\n \n \n \n \n "));

    let spaced = Step::stream([
        "\n".into(),
        Piece::wait(millis(100)),
        "a".into(),
        " ".into(),
        "b".into(),
        Piece::end(),
    ]);
    let got = read(chain([spaced]).stream("hi").head(0, secs(0)).await.unwrap()).await;
    assert_eq!((got.text.as_str(), got.response().text.as_str()), ("\na b", "\na b"), "none is lost");
}

#[tokio::test(start_paused = true)]
async fn cancelling_after_the_end_gives_the_report_of_the_whole_call() {
    for step in [says("a good answer"), Step::stream(["half".into(), Piece::cut()])] {
        let mut stream = chain([step]).stream("hi").head(0, secs(0)).await.unwrap();
        let mut ended = None;
        while let Some(event) = stream.next().await {
            match event {
                Ok(StreamEvent::Finished { report, .. }) => ended = Some(report),
                Err(interrupted) => ended = Some(interrupted.report),
                Ok(_) => {}
            }
        }
        let report = stream.cancel();
        let ended = ended.unwrap();
        assert_eq!((report.attempts.len(), report.call_id), (1, ended.call_id));
        assert_eq!(report.usage, ended.usage);
    }
}

#[tokio::test(start_paused = true)]
async fn no_text_is_in_the_debug_form_of_events() {
    let step = Step::stream([
        Piece::reasoning("secret thought"),
        "secret text".into(),
        Piece::tool_call(0, "find", "{\"secret\": 1}"),
        Piece::refusal("secret refusal"),
        Piece::end(),
    ]);
    assert!(!format!("{step:?}").contains("secret"), "{step:?}");
    let got = read(chain([step]).stream("hi").reasoning(true).head(0, secs(0)).await.unwrap()).await;
    let shown = format!("{:?}", got.events);
    assert!(!shown.contains("secret") && shown.contains("11 bytes") && shown.contains("find"), "{shown}");
    let chunk = backstop_core::Chunk::ToolSignature { index: 0, signature: "secret".into() };
    assert_eq!(format!("{chunk:?}"), "ToolSignature { index: 0, signature: 6 bytes }");
}
