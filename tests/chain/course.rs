//! How a call goes from attempt to attempt.

use std::{error::Error as _, future::IntoFuture};

use backstop_core::{
    AttemptOutcome, Candidate, Chain, ChainErrorKind, ConfigError, FailureKind, ProviderError, ProviderExt,
    Rejection, Remedy, Request, Skip, Stage, ValidatorExt, check, validator,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{Heard, course, millis, outcomes, secs};
use tokio::time::{Instant, timeout};

#[tokio::test(start_paused = true)]
async fn the_happy_path_is_one_request_and_no_timer() {
    let provider = MockProvider::new("a", [Step::text("hello")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let started = Instant::now();
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let answer = chain.complete("hi").tenant("acme").task("greet").tag("job", "1").await.unwrap();
    assert_eq!(answer.value, "hello");
    assert_eq!(answer.report.served_by(), Some("a/m"));
    assert_eq!((provider.calls(), started.elapsed()), (1, secs(0)), "a timer would have moved paused time");
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks);
    assert_eq!(answer.report.tenant.as_deref(), Some("acme"));
    assert_eq!(answer.report.usage.total(), 15);
    assert!(!answer.report.used_fallback && answer.report.skips.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_hard_failure_is_retried_after_a_wait_and_then_fails_over_with_the_same_request() {
    let first = MockProvider::new("first", [Step::fail(FailureKind::Server)]);
    let second = MockProvider::new("second", [Step::text("hi")]);
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.clone().model("m"))
        .seed(1)
        .build()
        .unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(
        course(&answer.report),
        [("first/m", Some(FailureKind::Server)), ("first/m", Some(FailureKind::Server)), ("second/m", None)]
    );
    let waits: Vec<_> = answer.report.attempts.iter().map(|attempt| attempt.wait).collect();
    assert!(waits[1] > secs(0) && waits[1] <= millis(500), "full jitter of 0.5 s: {waits:?}");
    assert_eq!((waits[0], waits[2]), (secs(0), secs(0)));
    assert!(answer.report.used_fallback);
    let requests: Vec<_> = first.seen().into_iter().chain(second.seen()).map(|seen| seen.request).collect();
    assert!(requests.windows(2).all(|pair| pair[0].ptr_eq(&pair[1])), "the prompt was copied");
}

#[tokio::test(start_paused = true)]
async fn the_reask_holds_the_errors_and_nothing_of_it_reaches_the_next_target() {
    let first = MockProvider::new("first", [Step::text("seven"), Step::text("eight")]);
    let second = MockProvider::new("second", [Step::text("9")]);
    let chain =
        Chain::builder().target(first.clone().model("m")).target(second.clone().model("m")).build().unwrap();
    let number = validator::from_fn(|answer: Candidate<'_>| {
        let parsed = answer.text().parse::<u8>();
        parsed.map_err(|_| Rejection::not_json("not a number").with_feedback("write digits"))
    });
    let answer = chain.call(Request::new("count"), number).await.unwrap();
    assert_eq!(answer.value, 9);
    let asked = first.seen();
    assert_eq!((asked[0].messages.len(), asked[1].messages.len()), (1, 3));
    assert_eq!(asked[1].messages[1].text(), "seven");
    assert!(asked[1].messages[2].text().contains("write digits"));
    assert_eq!(answer.report.attempts[1].remedies, [Remedy::Feedback]);
    assert_eq!(second.seen()[0].messages, Request::new("count").messages);
    assert_eq!(answer.report.usage.input_tokens, 30, "the tokens of failed attempts are kept");
}

#[tokio::test(start_paused = true)]
async fn a_truncated_answer_is_asked_for_again_with_a_larger_limit_only() {
    let provider = MockProvider::new("a", [Step::truncated("lo"), Step::truncated("lon"), Step::text("x")]);
    let chain = Chain::builder().target(provider.clone().model("m").max_output_tokens(300)).build().unwrap();
    let error = chain.complete(Request::new("x").max_tokens(200)).await.unwrap_err();
    let limits: Vec<_> = provider.seen().iter().map(|seen| seen.max_tokens).collect();
    assert_eq!(limits, [Some(200), Some(300)]);
    assert_eq!(error.kind(), ChainErrorKind::Exhausted);

    let at_its_limit = MockProvider::new("b", [Step::truncated("lo")]);
    let chain =
        Chain::builder().target(at_its_limit.clone().model("m").max_output_tokens(200)).build().unwrap();
    assert!(chain.complete(Request::new("x").max_tokens(200)).await.is_err());
    assert_eq!(at_its_limit.calls(), 1, "the same limit would be cut at the same place");
}

#[tokio::test(start_paused = true)]
async fn a_refused_schema_is_asked_for_in_json_mode_and_then_in_words() {
    let refuses = || Step::fail(FailureKind::SchemaRejected);
    let provider = MockProvider::new("a", [refuses(), Step::text("{}")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    assert!(chain.complete("x").await.is_err(), "nothing was asked for that could be left out");
    let provider = MockProvider::new("a", [refuses(), Step::text("{}")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let answer = chain.complete(Request::new("x").output(backstop_core::Output::Json)).await.unwrap();
    assert_eq!(answer.report.attempts[1].remedies, [Remedy::PromptOnly]);

    let provider = MockProvider::new("a", [refuses(), Step::text("{}")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let request = Request::new("x").json_schema("thing", serde_json::json!({"type": "object"}));
    chain.complete(request).await.unwrap();
    let modes: Vec<_> = provider.seen().iter().map(|seen| seen.json_mode).collect();
    assert_eq!(modes, [false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_param_is_dropped_only_with_leave() {
    let refuses = || Step::error(|| ProviderError::new(FailureKind::ParamRejected, "no").with_param("seed"));
    let strict = MockProvider::new("a", [refuses(), Step::text("hi")]);
    let chain = Chain::builder().target(strict.clone().model("m")).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::ParamRejected));

    let lenient = MockProvider::new("a", [refuses(), Step::text("hi")]);
    let chain = Chain::builder().target(lenient.clone().model("m").may_drop("seed")).build().unwrap();
    chain.complete("x").await.unwrap();
    assert_eq!(lenient.seen()[1].dropped, ["seed"]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_call_over_two_hanging_targets() {
    let first = MockProvider::new("first", [Step::hang(Stage::Headers)]);
    let second = MockProvider::new("second", [Step::hang(Stage::Connect)]);
    let chain = Chain::builder()
        .target(first.clone().model("m").timeout(millis(700)))
        .target(second.clone().model("m").timeout(millis(700)))
        .build()
        .unwrap();
    let started = Instant::now();
    let error = chain.complete("x").deadline(secs(1)).await.unwrap_err();
    assert_eq!((started.elapsed(), error.kind()), (secs(1), ChainErrorKind::Deadline));
    assert_eq!(
        course(error.report()),
        [("first/m", Some(FailureKind::Timeout)), ("second/m", Some(FailureKind::Timeout))]
    );
    let stages: Vec<_> = error.report().attempts.iter().map(|attempt| attempt.stage).collect();
    assert_eq!(stages, [Some(Stage::Headers), Some(Stage::Connect)]);
    assert!(error.report().attempts[1].latency == millis(300));
    assert_eq!((first.in_flight(), second.in_flight()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_does_not_fit_into_the_deadline_is_not_waited() {
    let busy = || {
        Step::error(|| ProviderError::new(FailureKind::RateLimited, "slow down").with_retry_after(secs(2)))
    };
    let first = MockProvider::new("first", [busy(), Step::text("late")]);
    let second = MockProvider::new("second", [Step::text("in time")]);
    let chain =
        Chain::builder().target(first.clone().model("m")).target(second.clone().model("m")).build().unwrap();
    let started = Instant::now();
    let answer = chain.complete("x").deadline(secs(1)).await.unwrap();
    assert_eq!((answer.value.as_str(), started.elapsed()), ("in time", secs(0)));
    assert!(answer.report.to_string().contains("needed"), "{}", answer.report);
}

#[tokio::test(start_paused = true)]
async fn nothing_valid_anywhere_lists_every_attempt_and_when_a_target_may_be_back() {
    let first = MockProvider::new(
        "first",
        [Step::error(|| ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(secs(60)))],
    );
    let second = MockProvider::new("second", [Step::refusal("no")]);
    let chain =
        Chain::builder().target(first.clone().model("m")).target(second.clone().model("m")).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(
        course(error.report()),
        [("first/m", Some(FailureKind::RateLimited)), ("second/m", Some(FailureKind::Refused))]
    );
    assert_eq!(error.kind(), ChainErrorKind::Exhausted);
    assert_eq!(error.retry_in(), Some(secs(60)));
    assert!(error.source().unwrap().to_string().starts_with("refused"), "{error}");
    assert!(error.is_retryable());
    let shown = format!("{error:?}");
    for part in
        ["first/m", "second/m", "rate_limited", "refused", "asked to wait 60 s, `max_retry_after` is 2 s"]
    {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    let json = serde_json::to_value(error.report()).unwrap();
    assert_eq!(json["attempts"][0]["outcome"]["failed"]["kind"], "rate_limited");
    let back: backstop_core::Report = serde_json::from_value(json).unwrap();
    assert_eq!(back.attempts.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_chain_without_targets_and_wrong_settings_are_config_errors() {
    assert!(matches!(Chain::builder().build(), Err(ConfigError::NoTargets)));
    let provider = MockProvider::new("a", [Step::text("hi")]);
    let error = Chain::builder().target(provider.clone().model("m").timeout(secs(0))).build().unwrap_err();
    assert!(error.to_string().contains("`timeout` of target a/m is 0 s"), "{error}");
    assert!(Chain::builder().target(provider.clone().model(" ")).build().is_err());
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let error = chain.complete("x").only("b/m").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Config);
    assert!(error.to_string().contains("no target `b/m`; it has: a/m"), "{error}");
    assert_eq!(provider.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_limit_is_a_limit_that_a_clock_can_hold() {
    use std::time::Duration;
    let provider = MockProvider::new("a", [Step::text("hi")]);
    let chain = Chain::builder()
        .target(provider.model("m").timeout(Duration::MAX))
        .deadline(Duration::MAX)
        .build()
        .unwrap();
    assert_eq!(chain.complete("x").deadline(Duration::MAX).await.unwrap().value, "hi");
    let call = chain.stream("x").idle(Duration::MAX).total(Duration::MAX).first_content(Duration::MAX);
    drop(call.head(10, Duration::MAX).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_call_may_name_its_target_or_forbid_failing_over() {
    let first = MockProvider::new("first", [Step::fail(FailureKind::Overloaded)]);
    let second = MockProvider::new("second", [Step::text("two")]);
    let chain = Chain::builder()
        .target(first.clone().model("m").retries(0))
        .target(second.clone().model("m").named("spare"))
        .build()
        .unwrap();
    let answer = chain.complete("x").only("spare").await.unwrap();
    assert_eq!((answer.value.as_str(), first.calls()), ("two", 0));
    let error = chain.complete("x").no_failover().await.unwrap_err();
    assert_eq!(course(error.report()), [("first/m", Some(FailureKind::Overloaded))]);
    assert_eq!(error.report().skips[0].reason, Skip::NotAsked);
}

#[tokio::test(start_paused = true)]
async fn a_target_that_cannot_do_it_is_skipped_and_an_unknown_one_is_tried() {
    use backstop_core::{Capabilities, Media, Message};
    let blind =
        MockProvider::new("blind", [Step::text("?")]).capable(Capabilities::unknown().with_images(false));
    let unknown = MockProvider::new("unknown", [Step::text("a cat")]);
    let chain =
        Chain::builder().target(blind.clone().model("m")).target(unknown.clone().model("m")).build().unwrap();
    let request =
        Request::default().message(Message::user("What is it?").part(Media::image("image/png", b"x")));
    let answer = chain.complete(request).await.unwrap();
    assert_eq!((answer.value.as_str(), blind.calls()), ("a cat", 0));
    assert_eq!(answer.report.skips[0].reason, Skip::Unsupported { what: "images".into() });
}

#[tokio::test(start_paused = true)]
async fn too_long_a_context_goes_to_larger_windows_and_to_one_unknown() {
    let too_long = || Step::fail(FailureKind::ContextTooLong);
    let names = ["small", "same", "unknown", "unknown2", "large"];
    let providers = names.map(|name| MockProvider::new(name, [too_long()]));
    let windows = [Some(8_000), Some(8_000), None, None, Some(32_000)];
    let builder = providers.iter().zip(windows).fold(Chain::builder(), |builder, (provider, window)| {
        let target = provider.clone().model("m");
        builder.target(match window {
            Some(tokens) => target.context_window(tokens),
            None => target,
        })
    });
    let error = builder.build().unwrap().complete("x").await.unwrap_err();
    let calls: Vec<_> = providers.iter().map(MockProvider::calls).collect();
    assert_eq!(calls, [1, 0, 1, 0, 1]);
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::ContextTooLong));
}

#[tokio::test(start_paused = true)]
async fn checks_of_the_chain_come_before_the_validator_of_the_call() {
    let first = MockProvider::new("first", [Step::text("rude")]);
    let second = MockProvider::new("second", [Step::text("please")]);
    let polite = check::from_fn("polite", |answer: Candidate<'_>| {
        if answer.text() == "please" { Ok(()) } else { Err(Rejection::new("not polite").with_score(0.2)) }
    });
    let chain =
        Chain::builder().target(first.model("m")).target(second.model("m")).check(polite).build().unwrap();
    let long = validator::from_fn(|answer: Candidate<'_>| Ok(answer.text().len())).verify(|length| {
        assert_eq!(*length, 6, "the validator saw an answer that a check had rejected");
        Ok(())
    });
    let answer = chain.call("x", long).await.unwrap();
    assert_eq!(answer.value, 6);
    assert_eq!(answer.report.attempts[0].score, Some(0.2));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_cancels_the_request_and_keeps_its_line() {
    let provider = MockProvider::new("a", [Step::hang(Stage::Body).request_id("req-7")]);
    let heard = Heard::default();
    let chain = Chain::builder()
        .target(provider.clone().model("m"))
        .observer(|_: &backstop_core::Event<'_>| panic!("a broken observer"))
        .observer(heard.clone())
        .build()
        .unwrap();
    assert!(timeout(secs(1), chain.complete("x")).await.is_err());
    assert_eq!(provider.in_flight(), 0);
    let line = &heard.attempts()[0];
    assert_eq!(line.outcome, AttemptOutcome::Cancelled);
    assert_eq!((line.request_id.as_deref(), line.stage), (Some("req-7"), Some(Stage::Body)));
}

#[tokio::test(start_paused = true)]
async fn a_validator_that_hangs_is_ended_by_the_deadline() {
    struct Hangs;
    impl backstop_core::Validator for Hangs {
        type Output = ();
        async fn validate(&self, _: Candidate<'_>) -> Result<(), Rejection> {
            std::future::pending().await
        }
    }
    let provider = MockProvider::new("a", [Step::text("hi")]);
    let chain = Chain::builder().target(provider.model("m")).deadline(secs(3)).build().unwrap();
    let started = Instant::now();
    let error = chain.call("x", Hangs).await.unwrap_err();
    assert_eq!((started.elapsed(), error.kind()), (secs(3), ChainErrorKind::Deadline));
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_asked_for_again_once() {
    let provider = MockProvider::new("a", [Step::text(" "), Step::text(""), Step::text("hi")]);
    let spare = MockProvider::new("b", [Step::text("spare")]);
    let chain = Chain::builder()
        .target(provider.clone().model("m").retries(5))
        .target(spare.model("m"))
        .build()
        .unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), provider.calls()), ("spare", 2));
}

#[tokio::test(start_paused = true)]
async fn a_hopeless_round_of_refusals_ends_where_it_was_told_to() {
    let providers = ["a", "b", "c"].map(|name| MockProvider::new(name, [Step::refusal("no")]));
    let policy = backstop_core::FailurePolicy::default().max_declines(2);
    let chain = providers
        .iter()
        .fold(Chain::builder().policy(policy), |builder, provider| {
            builder.target(provider.clone().model("m"))
        })
        .build()
        .unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::Refused));
    assert_eq!(providers.each_ref().map(MockProvider::calls), [1, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn jitter_and_call_ids_follow_the_seed() {
    let run = |seed| async move {
        let provider = MockProvider::new("a", [Step::fail(FailureKind::Server)]);
        let chain = Chain::builder().target(provider.model("m").retries(3)).seed(seed).build().unwrap();
        let report = chain.complete("x").await.unwrap_err().report().clone();
        (report.call_id, report.attempts.iter().map(|attempt| attempt.wait).collect::<Vec<_>>())
    };
    assert_eq!(run(5).await, run(5).await);
    assert_ne!(run(5).await, run(6).await);
}

#[tokio::test]
async fn handles_are_shared_between_tasks_and_small() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + Sync + 'static>() {}
    fn future<T: Send>(_: &T) {}
    shared::<Chain>();
    sent::<backstop_core::ChainError>();
    sent::<backstop_core::ProviderError>();
    sent::<Rejection>();
    sent::<ConfigError>();
    let provider = MockProvider::new("a", [Step::text("hi")]);
    let chain = Chain::builder().target(provider.model("m")).build().unwrap();
    let call = chain.complete("x").into_future();
    future(&call);
    assert_eq!(tokio::spawn(call).await.unwrap().unwrap().value, "hi");
    assert_eq!(size_of::<backstop_core::ChainError>(), size_of::<usize>());
    assert_eq!(size_of::<Result<(), Rejection>>(), size_of::<usize>());
    assert_eq!(size_of::<ProviderError>(), size_of::<usize>());
    assert!(size_of::<Result<backstop_core::Answer<String>, backstop_core::ChainError>>() <= 96);
    assert!(outcomes(&chain.complete("x").await.unwrap().report) == [AttemptOutcome::Served]);
}
