//! Retry budgets as a caller of a chain meets them.

use std::{future::IntoFuture, sync::Arc};

use backstop_core::{
    BudgetConfig, Chain, FailureKind, ProviderError, ProviderExt, Registry, RetryPolicy, Stage,
    breaker::BreakerConfig, policy::Why,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{course, millis, secs};
use tokio::{
    sync::Notify,
    time::{advance, timeout},
};

/// A registry whose breakers stay closed, so that only the budget stops retries.
fn registry(budget: BudgetConfig) -> Registry {
    let config = BreakerConfig::builder().consecutive_failures(1_000_000).without_failure_rate().build();
    Registry::builder().config(config.unwrap()).retry_budget(budget).build()
}

fn failing(name: &'static str) -> MockProvider {
    MockProvider::new(name, [Step::fail(FailureKind::Server)])
}

#[tokio::test(start_paused = true)]
async fn an_empty_budget_fails_over_at_once_and_says_so() {
    let (first, second) = (failing("first"), MockProvider::new("second", [Step::text("hi")]));
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.model("m"))
        .breakers(&registry(BudgetConfig::default().floor(0.0, 1)))
        .build()
        .unwrap();
    assert_eq!(chain.complete("x").await.unwrap().report.attempts.len(), 3, "the one that was saved up");
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(course(&answer.report), [("first/m", Some(FailureKind::Server)), ("second/m", None)]);
    assert_eq!(answer.report.attempts[0].decision.unwrap().why, Why::BudgetEmpty);
    assert_eq!(answer.report.elapsed, secs(0), "nobody waits for a budget");
    assert!(answer.report.to_string().contains("retry budget empty"), "{}", answer.report);
}

#[tokio::test(start_paused = true)]
async fn in_a_long_outage_the_provider_sees_a_fifth_more_than_its_usual_load() {
    let (first, second) = (failing("first"), MockProvider::new("second", [Step::text("hi")]));
    let chain = Chain::builder()
        .target(first.clone().model("m").retry(RetryPolicy::default().base(millis(10))))
        .target(second.clone().model("m"))
        .breakers(&registry(BudgetConfig::default().floor(0.0, 0)))
        .build()
        .unwrap();
    for _ in 0..1000 {
        chain.complete("x").await.unwrap();
        advance(millis(10)).await;
    }
    assert!((1190..=1200).contains(&first.calls()), "{}", first.calls());
    assert_eq!(second.calls(), 1000);
    let budget = &chain.snapshot().targets[1].members[0].budget;
    assert_eq!((budget.refused_total, budget.retries_left), (0, Some(200)), "failing over is not charged");
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_one_for_all_chains_and_models_of_a_provider() {
    let provider = failing("p");
    let registry = registry(BudgetConfig::default().floor(0.0, 2));
    let chain = |model: &'static str| {
        Chain::builder().target(provider.clone().model(model)).breakers(&registry).build().unwrap()
    };
    let (one, other) = (chain("a"), chain("b"));
    let mut sent = Vec::new();
    for chain in [&one, &other, &one] {
        sent.push(chain.complete("x").await.unwrap_err().report().attempts.len());
    }
    assert_eq!(sent, [2, 2, 1]);
    assert_eq!(registry.snapshot().budgets[0].provider.as_ref(), "p");
}

#[tokio::test(start_paused = true)]
async fn retries_at_once_are_a_fifth_of_what_is_under_way_or_three() {
    let gate = Arc::new(Notify::new());
    let provider = MockProvider::new("p", [Step::fail(FailureKind::Server).once_notified(Arc::clone(&gate))]);
    let chain = Chain::builder()
        .target(provider.clone().model("m"))
        .breakers(&registry(BudgetConfig::default().floor(1000.0, 1000)))
        .build()
        .unwrap();
    let calls: Vec<_> = (0..10).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    tokio::task::yield_now().await;
    assert_eq!(provider.in_flight(), 10);
    gate.notify_waiters();
    tokio::time::sleep(secs(1)).await;
    let budget = chain.snapshot().targets[0].members[0].budget.clone();
    assert_eq!((budget.retries_in_flight, budget.in_flight, budget.refused_total), (3, 3, 7));
    gate.notify_waiters();
    for call in calls {
        call.await.unwrap().unwrap_err();
    }
    assert_eq!(provider.calls(), 13);
    assert_eq!(chain.snapshot().targets[0].members[0].budget.retries_in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_retries_twice_has_one_retry_under_way_at_a_time() {
    let provider = failing("p");
    let chain = Chain::builder()
        .target(provider.clone().model("m").retries(2))
        .breakers(&registry(BudgetConfig::default().concurrent(0.0, 1)))
        .build()
        .unwrap();
    chain.complete("x").await.unwrap_err();
    assert_eq!(provider.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_is_not_sent_gives_its_token_back() {
    let left = |chain: &Chain| chain.snapshot().targets[0].members[0].budget.retries_left;
    let busy =
        || Step::error(|| ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(secs(2)));
    let provider = MockProvider::new("p", [busy(), Step::hang(Stage::Headers)]);
    let chain = Chain::builder()
        .target(provider.clone().model("m"))
        .breakers(&registry(BudgetConfig::default().floor(0.0, 1)))
        .build()
        .unwrap();
    assert!(timeout(secs(1), chain.complete("x")).await.is_err(), "dropped during the wait");
    assert_eq!((provider.calls(), left(&chain)), (1, Some(1)));

    // The breaker opens while the retry waits.
    let provider = MockProvider::new("q", [Step::fail(FailureKind::Server)]);
    let registry = registry(BudgetConfig::default().floor(0.0, 1));
    let chain = Chain::builder().target(provider.clone().model("m")).breakers(&registry).build().unwrap();
    let breaker = registry.breaker(&backstop_core::breaker::BreakerKey::new("q", "m"));
    let call = tokio::spawn(chain.complete("x").into_future());
    tokio::task::yield_now().await;
    assert_eq!(left(&chain), Some(0));
    breaker.force_open();
    let error = call.await.unwrap().unwrap_err();
    assert_eq!((error.report().attempts.len(), error.report().skips.len()), (1, 1));
    assert_eq!(left(&chain), Some(1));
}

#[tokio::test(start_paused = true)]
async fn reasks_and_stale_connections_are_not_charged() {
    let stale = || Step::error(|| ProviderError::new(FailureKind::Connect, "reset").as_stale());
    let provider = MockProvider::new("p", [stale(), Step::text("seven"), Step::text("7")]);
    let chain = Chain::builder()
        .target(provider.clone().model("m").retries(0))
        .breakers(&registry(BudgetConfig::default().floor(0.0, 0)))
        .build()
        .unwrap();
    let number = backstop_core::validator::from_fn(|answer: backstop_core::Candidate<'_>| {
        answer.text().parse::<u8>().map_err(|_| backstop_core::Rejection::not_json("not a number"))
    });
    assert_eq!(chain.call("x", number).await.unwrap().value, 7);
    assert_eq!(provider.calls(), 3);
}
