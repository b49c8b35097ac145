//! A second target asked beside one that is slow.

use std::collections::BTreeSet;

use backstop_core::{
    AttemptOutcome, BudgetConfig, Chain, ChainErrorKind, FailureKind, Hedge, ProviderExt, Registry, Skip,
    Stage, Usage,
    breaker::{BreakerConfig, BreakerKey, State},
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{Heard, course, millis, outcomes, secs};
use tokio::time::{Instant, advance, timeout};

const AFTER: Hedge = Hedge::after(secs(2));

fn slow(name: &'static str, seconds: u64) -> MockProvider {
    MockProvider::new(name, [Step::text(name).after(secs(seconds))])
}

fn chain(providers: &[MockProvider]) -> Chain {
    let chain = Chain::builder().hedge(AFTER);
    let targets = providers.iter().map(|provider| provider.clone().model("m"));
    targets.fold(chain, |chain, target| chain.target(target)).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_first_valid_answer_wins_and_the_loser_is_cancelled_with_its_line_kept() {
    let providers = [slow("first", 10), slow("second", 1)];
    let began = Instant::now();
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let answer = chain(&providers).complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), began.elapsed()), ("second", secs(3)));
    assert_eq!(outcomes(&answer.report), [AttemptOutcome::Cancelled, AttemptOutcome::Served]);
    let hedges: Vec<_> = answer.report.attempts.iter().map(|attempt| attempt.hedge).collect();
    assert_eq!(hedges, [false, true]);
    assert!(answer.report.used_fallback);
    assert_eq!(answer.report.attempts[0].latency, secs(3));
    assert_eq!((providers[0].in_flight(), providers[0].calls()), (0, 1));
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks);
    assert!(answer.report.to_string().contains("hedge"), "{}", answer.report);
}

#[tokio::test(start_paused = true)]
async fn a_fast_answer_is_one_request_and_a_slow_one_may_still_win() {
    let providers = [slow("first", 1), slow("second", 1)];
    assert_eq!(chain(&providers).complete("x").await.unwrap().value, "first");
    assert_eq!(providers[1].calls(), 0);

    let providers = [slow("first", 3), slow("second", 5)];
    let answer = chain(&providers).complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), answer.report.used_fallback), ("first", false));
    assert_eq!(outcomes(&answer.report), [AttemptOutcome::Served, AttemptOutcome::Cancelled]);
    let budget = &chain(&providers).snapshot().targets[1].members[0].budget;
    assert_eq!((budget.in_flight, budget.retries_in_flight), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_may_not_be_used_does_not_win() {
    let providers = [
        slow("first", 10),
        MockProvider::new("second", [Step::refusal("no").after(secs(1))]),
        slow("third", 1),
    ];
    let answer = chain(&providers).complete("x").await.unwrap();
    assert_eq!(answer.value, "third");
    let refused = Some(FailureKind::Refused);
    assert_eq!(course(&answer.report), [("first/m", None), ("second/m", refused), ("third/m", None)]);
}

/// Notes 70 tokens, then hangs.
struct Counting;

#[async_trait::async_trait]
impl backstop_core::Provider for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    async fn complete(
        &self,
        attempt: &backstop_core::Attempt<'_>,
    ) -> Result<backstop_core::Response, backstop_core::ProviderError> {
        attempt.progress.usage(Usage::new(60, 10));
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn the_tokens_of_the_loser_are_kept() {
    let chain = Chain::builder()
        .target(Counting.model("m"))
        .target(slow("second", 1).model("m"))
        .hedge(AFTER)
        .build()
        .unwrap();
    let report = chain.complete("x").await.unwrap().report;
    assert_eq!(report.attempts[0].outcome, AttemptOutcome::Cancelled);
    assert_eq!((report.attempts[0].usage, report.usage.total()), (Some(Usage::new(60, 10)), 85));
}

#[tokio::test(start_paused = true)]
async fn giving_up_on_one_target_does_not_end_the_attempt_beside_it() {
    let bad_key = MockProvider::new("bad", [Step::fail(FailureKind::Authentication).after(secs(1))]);
    let providers = [slow("first", 5), bad_key.clone(), slow("third", 1)];
    let answer = chain(&providers).complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), providers[2].calls()), ("first", 0), "but nothing more was begun");
    assert!(answer.report.has_alert());

    let failing = MockProvider::new("first", [Step::fail(FailureKind::Server).after(secs(5))]);
    let providers = [failing, bad_key, slow("third", 1)];
    let error = chain(&providers).complete("x").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::Authentication));
    assert_eq!(providers[2].calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn failing_over_needs_no_hedge_and_no_budget() {
    let failing = MockProvider::new("first", [Step::fail(FailureKind::Overloaded)]);
    let registry = Registry::builder().retry_budget(BudgetConfig::default().floor(0.0, 0)).build();
    let chain = Chain::builder()
        .target(failing.model("m").retries(0))
        .target(slow("second", 1).model("m"))
        .hedge(AFTER)
        .breakers(&registry)
        .build()
        .unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), answer.report.attempts[1].hedge), ("second", false));
}

#[tokio::test(start_paused = true)]
async fn a_hedge_needs_a_token_of_the_provider_that_it_goes_to() {
    let registry = Registry::builder().retry_budget(BudgetConfig::default().floor(0.0, 1)).build();
    let providers = [slow("first", 10), slow("second", 1)];
    let chain = Chain::builder()
        .target(providers[0].clone().model("m"))
        .target(providers[1].clone().model("m"))
        .hedge(AFTER)
        .breakers(&registry)
        .build()
        .unwrap();
    assert_eq!(chain.complete("x").await.unwrap().value, "second");
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), providers[1].calls()), ("first", 1));
    assert_eq!(answer.report.skips[0].reason, Skip::HedgeNotPaid);
    assert!(answer.report.to_string().contains("no hedge, retry budget empty"), "{}", answer.report);
    let budgets = registry.snapshot().budgets;
    let left: Vec<_> = budgets.iter().map(|it| (it.provider.as_ref(), it.retries_left)).collect();
    assert_eq!(left, [("first", Some(1)), ("second", Some(0))]);
}

fn opens_at_once() -> Registry {
    let config = BreakerConfig::builder().consecutive_failures(1).without_failure_rate().cooldown(secs(60));
    Registry::builder().config(config.jitter(0.0).build().unwrap()).build()
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_beside_a_probe_and_no_hedge_becomes_one() {
    let down = || Step::fail(FailureKind::Overloaded);
    let first = MockProvider::new("first", [down(), Step::text("back").after(secs(5))]);
    let second = slow("second", 1);
    let registry = opens_at_once();
    let chain = Chain::builder()
        .target(first.clone().model("m").retries(0))
        .target(second.clone().model("m"))
        .hedge(AFTER)
        .breakers(&registry)
        .build()
        .unwrap();
    chain.complete("x").await.unwrap();
    advance(secs(61)).await;
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), answer.report.attempts.len()), ("back", 1));

    let recovering = MockProvider::new("second", [down(), Step::text("second")]);
    let registry = opens_at_once();
    let chain = Chain::builder()
        .target(slow("first", 5).model("m"))
        .target(recovering.clone().model("m").retries(0))
        .target(slow("third", 1).model("m"))
        .hedge(AFTER)
        .breakers(&registry)
        .build()
        .unwrap();
    chain.complete("x").only("second/m").await.unwrap_err();
    advance(secs(61)).await;
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), recovering.calls()), ("third", 1), "the healthy one was hedged with");
    assert_eq!(registry.breaker(&BreakerKey::new("second", "m")).snapshot().state, State::Open);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_cancels_both_and_observers_hear_of_it() {
    let providers = [slow("first", 10), slow("second", 10)];
    let heard = Heard::default();
    let chain = Chain::builder()
        .target(providers[0].clone().model("m"))
        .target(providers[1].clone().model("m"))
        .hedge(AFTER)
        .observer(heard.clone())
        .build()
        .unwrap();
    assert!(timeout(secs(5), chain.complete("x")).await.is_err());
    assert_eq!((providers[0].in_flight(), providers[1].in_flight()), (0, 0));
    let attempts = heard.attempts();
    assert!(attempts.iter().all(|attempt| attempt.outcome == AttemptOutcome::Cancelled));
    let targets: BTreeSet<_> = attempts.iter().map(|attempt| attempt.target.as_str()).collect();
    assert_eq!((attempts.len(), targets), (2, BTreeSet::from(["first/m", "second/m"])));
}

#[tokio::test(start_paused = true)]
async fn no_more_than_two_are_asked_at_a_time_and_the_deadline_ends_them_all() {
    let providers = ["a", "b", "c"].map(|name| MockProvider::new(name, [Step::hang(Stage::Headers)]));
    let began = Instant::now();
    let call = chain(&providers);
    let call = tokio::spawn(async move { call.complete("x").deadline(secs(20)).await });
    tokio::time::sleep(secs(9)).await;
    assert_eq!(providers.iter().map(MockProvider::in_flight).sum::<usize>(), 2);
    let error = call.await.unwrap().unwrap_err();
    assert_eq!((error.kind(), began.elapsed()), (ChainErrorKind::Deadline, secs(20)));
    assert_eq!(error.report().attempts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_hedge_at_a_quantile_follows_what_the_target_takes_lately() {
    let first = MockProvider::new("first", (0..20).map(|_| Step::text("first").after(millis(500))));
    first.push(Step::hang(Stage::Headers));
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(slow("second", 1).model("m"))
        .hedge(Hedge::at_quantile(0.95, secs(9)))
        .build()
        .unwrap();
    for _ in 0..20 {
        assert_eq!(chain.complete("x").await.unwrap().value, "first");
    }
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(answer.value, "second");
    assert!(answer.report.attempts[1].at.abs_diff(millis(500)) < millis(10), "{}", answer.report);
}
