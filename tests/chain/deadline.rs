//! How the deadline is shared between the targets of a call.

use backstop_core::{
    AdaptiveTimeout, Chain, ChainErrorKind, FailureKind, LimitedBy, ProviderError, ProviderExt, Registry,
    Stage,
    breaker::{BreakerKey, State},
    policy::Why,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{course, millis, secs};
use tokio::time::Instant;

fn hanging(name: &'static str) -> MockProvider {
    MockProvider::new(name, [Step::hang(Stage::Headers)])
}

/// In real time: a call takes a little before its attempt begins.
#[tokio::test]
async fn the_only_target_is_limited_by_its_timeout_though_the_deadline_is_no_longer() {
    let provider = MockProvider::new("a", [Step::text("hi")]);
    let chain = Chain::builder().target(provider.model("m")).build().unwrap();
    assert_eq!(chain.complete("x").await.unwrap().report.attempts[0].limited_by, LimitedBy::Timeout);
}

#[tokio::test(start_paused = true)]
async fn a_first_target_that_could_eat_the_deadline_leaves_the_next_its_share() {
    let (first, second) =
        (hanging("first"), MockProvider::new("second", [Step::text("hi").after(millis(240))]));
    let chain = Chain::builder().target(first.model("m")).target(second.model("m")).build().unwrap();
    let began = Instant::now();
    let answer = chain.complete("x").deadline(secs(1)).await.unwrap();
    assert_eq!((answer.value.as_str(), began.elapsed()), ("hi", millis(990)));
    let limits: Vec<_> = answer.report.attempts.iter().map(|it| (it.allowed, it.limited_by)).collect();
    assert_eq!(limits, [(millis(750), LimitedBy::TargetsToCome), (millis(250), LimitedBy::Deadline)]);
    let shown = answer.report.to_string();
    assert!(shown.contains("no complete answer in 750 ms; the rest is for the next targets"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn two_targets_of_which_each_could_eat_the_deadline_are_both_in_the_report() {
    let chain = Chain::builder()
        .target(hanging("first").model("m"))
        .target(hanging("second").model("m"))
        .build()
        .unwrap();
    let began = Instant::now();
    let error = chain.complete("x").deadline(secs(1)).await.unwrap_err();
    assert_eq!((began.elapsed(), error.kind()), (secs(1), ChainErrorKind::Deadline));
    let timeout = Some(FailureKind::Timeout);
    assert_eq!(course(error.report()), [("first/m", timeout), ("second/m", timeout)]);
}

#[tokio::test(start_paused = true)]
async fn ten_hanging_targets_are_all_asked_within_the_deadline() {
    let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let chain = names.iter().fold(Chain::builder(), |chain, name| chain.target(hanging(name).model("m")));
    let error = chain.build().unwrap().complete("x").deadline(secs(10)).await.unwrap_err();
    assert_eq!(error.report().attempts.len(), 10);
    let given: Vec<_> = error.report().attempts.iter().map(|attempt| attempt.allowed.as_millis()).collect();
    assert!(given.iter().all(|given| *given >= 375), "{given:?}");
    assert_eq!(given.iter().sum::<u128>(), 10_000);
}

#[tokio::test(start_paused = true)]
async fn no_time_is_kept_for_targets_that_could_not_be_asked() {
    let registry = Registry::new();
    registry.breaker(&BreakerKey::new("down", "m")).force_open();
    let chain = Chain::builder()
        .target(MockProvider::new("slow", [Step::text("hi").after(millis(950))]).model("m"))
        .target(hanging("down").model("m"))
        .target(hanging("off").model("m"))
        .breakers(&registry)
        .build()
        .unwrap();
    chain.set_enabled("off/m", false).unwrap();
    let answer = chain.complete("x").deadline(secs(1)).await.unwrap();
    assert_eq!(answer.report.attempts[0].limited_by, LimitedBy::Deadline);
    chain.complete("x").deadline(secs(1)).no_failover().await.unwrap();
    chain.complete("x").deadline(secs(1)).only("slow/m").await.unwrap();
    chain.set_enabled("off/m", true).unwrap();
    let error = chain.complete("x").deadline(secs(1)).await.unwrap_err();
    assert_eq!(error.report().attempts[0].limited_by, LimitedBy::TargetsToCome);
}

#[tokio::test(start_paused = true)]
async fn retries_share_the_time_of_their_target_instead_of_eating_into_the_rest() {
    let slow_failure = || Step::fail(FailureKind::Server).after(millis(600));
    let first = MockProvider::new("first", [slow_failure(), Step::hang(Stage::Body)]);
    let second = MockProvider::new("second", [Step::text("hi").after(millis(240))]);
    let target = first.clone().model("m").retry(backstop_core::RetryPolicy::default().base(millis(1)));
    let chain = Chain::builder().target(target).target(second.model("m")).build().unwrap();
    let answer = chain.complete("x").deadline(secs(1)).await.unwrap();
    assert_eq!(answer.value, "hi");
    assert_eq!(answer.report.attempts[1].limited_by, LimitedBy::TargetsToCome);
    assert!(answer.report.attempts[2].at <= millis(750), "{}", answer.report);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_would_use_up_the_next_targets_time_is_not_waited() {
    let busy =
        Step::error(|| ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(millis(800)));
    let first = MockProvider::new("first", [busy, Step::text("late")]);
    let second = MockProvider::new("second", [Step::text("in time")]);
    let chain = Chain::builder().target(first.clone().model("m")).target(second.model("m")).build().unwrap();
    let answer = chain.complete("x").deadline(secs(1)).await.unwrap();
    assert_eq!((answer.value.as_str(), answer.report.elapsed), ("in time", secs(0)));
    let why = answer.report.attempts[0].decision.unwrap().why;
    assert!(matches!(why, Why::TimeIsKept { left, needed } if left == millis(750) && needed >= millis(800)));
    assert!(
        answer.report.to_string().contains("750 ms left before the next targets' time"),
        "{}",
        answer.report
    );

    let busy =
        Step::error(|| ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(millis(800)));
    let alone = MockProvider::new("alone", [busy, Step::text("late")]);
    let chain = Chain::builder().target(alone.model("m")).build().unwrap();
    assert_eq!(
        chain.complete("x").deadline(secs(1)).await.unwrap().value,
        "late",
        "nothing to keep time for"
    );
}

#[tokio::test(start_paused = true)]
async fn without_kept_time_the_first_target_may_use_up_the_deadline() {
    let second = MockProvider::new("second", [Step::text("hi")]);
    let chain = Chain::builder()
        .target(hanging("first").model("m"))
        .target(second.clone().model("m"))
        .keep_time(0.0)
        .build()
        .unwrap();
    let error = chain.complete("x").deadline(secs(1)).await.unwrap_err();
    assert_eq!((error.kind(), second.calls()), (ChainErrorKind::Deadline, 0));
    assert_eq!(error.report().attempts[0].limited_by, LimitedBy::Deadline);
}

/// Answers after as long as the request says, in milliseconds.
fn slow() -> MockProvider {
    let step = |millis_: u64| Step::text("hi").after(millis(millis_));
    let asks = |text: &'static str| move |seen: &backstop_mock::Seen| seen.last_text() == text;
    MockProvider::new("slow", [step(100)])
        .when(asks("2000"), step(2000))
        .when(asks("hang"), Step::hang(Stage::Body))
}

#[tokio::test(start_paused = true)]
async fn the_timeout_follows_what_a_task_takes_lately_from_the_first_twenty_answers_on() {
    let registry = Registry::new();
    let chain = Chain::builder()
        .target(slow().model("m").adaptive_timeout(AdaptiveTimeout::new().floor(millis(200))))
        .breakers(&registry)
        .build()
        .unwrap();
    for n in 0..20 {
        let answer = chain.complete("100").task("short").await.unwrap();
        assert_eq!(answer.report.attempts[0].limited_by, LimitedBy::Timeout, "{n}");
        chain.complete("2000").task("long").await.unwrap();
    }
    let error = chain.complete("hang").task("short").await.unwrap_err();
    let attempt = &error.report().attempts[0];
    assert_eq!(attempt.limited_by, LimitedBy::AdaptiveTimeout);
    assert!(attempt.allowed.abs_diff(millis(250)) <= millis(5), "{:?}", attempt.allowed);
    assert!(error.to_string().contains("long for what the target takes lately"), "{error}");
    chain.complete("2000").task("long").await.unwrap();
    let breaker = registry.breaker(&BreakerKey::new("slow", "m")).snapshot();
    assert_eq!(
        (breaker.state, breaker.window.failed),
        (State::Closed, 1),
        "it counts as a timeout of its own"
    );
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_gets_slower_is_not_cut_off_for_good() {
    let config = backstop_core::BreakerConfig::builder().consecutive_failures(1000).without_failure_rate();
    let chain = Chain::builder()
        .target(slow().model("m").adaptive_timeout(AdaptiveTimeout::new().floor(millis(200))))
        .breakers(&Registry::builder().config(config.build().unwrap()).build())
        .build()
        .unwrap();
    for _ in 0..100 {
        chain.complete("100").await.unwrap();
    }
    let mut lost = 0;
    while chain.complete("2000").await.is_err() {
        lost += 1;
        assert!(lost < 100, "the timeout never grew");
    }
    assert!(lost > 0, "the timeout was not adapted");
}
