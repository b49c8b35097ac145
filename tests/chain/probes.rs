//! Probes that go wrong: whatever becomes of one, the breaker finds its way back.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, AttemptOutcome, BreakerConfig, CallOutcome, Candidate, Chain, FailureKind, Provider,
    ProviderError, ProviderExt, Registry, Response, Stage,
    breaker::{BreakerKey, Snapshot, State},
    clock::ManualClock,
    validator,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{Heard, secs};
use tokio::{
    sync::{Barrier, Notify},
    time::{advance, sleep, timeout},
};

fn config() -> BreakerConfig {
    let config = BreakerConfig::builder().consecutive_failures(1).without_failure_rate();
    config.cooldown(secs(60)).jitter(0.0).build().unwrap()
}

fn breaker(registry: &Registry) -> Snapshot {
    registry.breaker(&BreakerKey::new("p", "m")).snapshot()
}

/// A chain of one target whose breaker has opened, at the end of the cooldown.
async fn cooled_down(then: impl IntoIterator<Item = Step>) -> (MockProvider, Registry, Chain) {
    let provider = MockProvider::new("p", [Step::fail(FailureKind::Overloaded)].into_iter().chain(then));
    let registry = Registry::builder().config(config()).build();
    let target = provider.clone().model("m").retries(0).timeout(secs(30));
    let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    assert_eq!(breaker(&registry).state, State::Open);
    advance(secs(60)).await;
    (provider, registry, chain)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_tasks_on_four_threads_at_the_end_of_the_cooldown_send_one_request() {
    let open = Arc::new(Notify::new());
    let back = Step::text("back").once_notified(Arc::clone(&open));
    let primary = MockProvider::new("p", [Step::fail(FailureKind::Overloaded), back]);
    let clock = ManualClock::new();
    let registry = Registry::builder().config(config()).clock(clock.clone()).build();
    let chain = Chain::builder()
        .target(primary.clone().model("m").retries(0))
        .target(MockProvider::new("spare", [Step::text("spare")]).model("m"))
        .breakers(&registry)
        .build()
        .unwrap();
    chain.complete("x").await.unwrap();
    clock.advance(secs(60));

    let (start, spared) = (Arc::new(Barrier::new(64)), Arc::new(AtomicUsize::new(0)));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (chain, start, spared) = (chain.clone(), Arc::clone(&start), Arc::clone(&spared));
        calls.spawn(async move {
            start.wait().await;
            let value = chain.complete("x").await.unwrap().value;
            if value == "spare" {
                spared.fetch_add(1, Ordering::SeqCst);
            }
            value
        });
    }
    while spared.load(Ordering::SeqCst) < 63 {
        tokio::task::yield_now().await;
    }
    assert_eq!((primary.calls(), breaker(&registry).state), (2, State::HalfOpen), "the probe is under way");
    open.notify_one();
    let values = calls.join_all().await;
    assert_eq!(values.iter().filter(|value| *value == "back").count(), 1);
    assert_eq!((primary.calls(), breaker(&registry).state), (2, State::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_probe_whose_caller_goes_away_leaves_its_place_to_the_next_call() {
    let (provider, registry, chain) = cooled_down([Step::hang(Stage::Headers), Step::text("back")]).await;
    assert!(timeout(secs(5), chain.complete("x")).await.is_err());
    assert_eq!((breaker(&registry).state, breaker(&registry).probes_in_flight), (State::HalfOpen, 0));
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!((provider.calls(), breaker(&registry).state), (3, State::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_ends_with_its_timeout_and_the_next_cooldown_has_an_end_too() {
    let (_, registry, chain) = cooled_down([Step::hang(Stage::Headers), Step::text("back")]).await;
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.last_failure().unwrap().kind(), FailureKind::Timeout);
    assert_eq!((breaker(&registry).state, error.retry_in()), (State::Open, Some(secs(120))));
    advance(secs(120)).await;
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_outlives_its_lease_loses_its_place_and_its_say() {
    let provider = MockProvider::new(
        "p",
        [
            Step::fail(FailureKind::Overloaded),
            Step::fail(FailureKind::Server).after(secs(100)),
            Step::text("back"),
        ],
    );
    let config = config().to_builder().probe_lease(secs(40)).build().unwrap();
    let registry = Registry::builder().config(config).build();
    let target = provider.clone().model("m").retries(0).timeout(secs(110));
    let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    advance(secs(60)).await;
    let first = tokio::spawn(chain.complete("x").into_future());
    sleep(secs(10)).await;
    assert!(chain.complete("x").await.is_err(), "the probe is under way");
    sleep(secs(40)).await;
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!(breaker(&registry).state, State::Closed);
    first.await.unwrap().unwrap_err();
    assert_eq!(breaker(&registry).state, State::Closed, "a late failure changes nothing");
}

/// Overloaded once, then a panic, then an answer.
struct Panics(AtomicUsize);

#[async_trait]
impl Provider for Panics {
    fn name(&self) -> &str {
        "p"
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Err(ProviderError::new(FailureKind::Overloaded, "busy")),
            1 => panic!("a bug in the adapter"),
            _ => Ok(Response::new("back")),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_panics_takes_its_call_along_and_nothing_else() {
    let registry = Registry::builder().config(config()).build();
    let heard = Heard::default();
    let chain = Chain::builder()
        .target(Panics(AtomicUsize::new(0)).model("m").retries(0).max_in_flight(1))
        .target(MockProvider::new("spare", [Step::text("spare")]).model("m"))
        .breakers(&registry)
        .observer(heard.clone())
        .build()
        .unwrap();
    chain.complete("x").await.unwrap();
    advance(secs(60)).await;
    let panicked = tokio::spawn(chain.complete("x").into_future()).await.unwrap_err();
    assert!(panicked.is_panic(), "a bug is not turned into a failover that hides it");
    let last = heard.attempts().pop().unwrap();
    assert_eq!((last.target.as_str(), last.outcome), ("p/m", AttemptOutcome::Cancelled));
    assert_eq!(heard.ended().pop().unwrap().0, CallOutcome::Cancelled);

    let target = chain.snapshot().targets[0].clone();
    assert_eq!((target.in_flight, target.members[0].budget.in_flight), (0, 0));
    assert_eq!((breaker(&registry).state, breaker(&registry).probes_in_flight), (State::HalfOpen, 0));
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!(breaker(&registry).state, State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_validator_that_panics_during_a_probe_leaves_the_breaker_able_to_probe() {
    let (_, registry, chain) = cooled_down([Step::text("back")]).await;
    let panics = validator::from_fn(|_: Candidate<'_>| -> Result<(), backstop_core::Rejection> {
        panic!("a bug in the caller's code")
    });
    assert!(tokio::spawn(chain.call("x", panics).into_future()).await.unwrap_err().is_panic());
    assert_eq!(breaker(&registry).probes_in_flight, 0);
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
}
