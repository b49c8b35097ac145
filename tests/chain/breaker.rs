//! Breakers, gates and latches as a caller of a chain meets them.

use std::future::IntoFuture;

use backstop_core::{
    BreakerConfig, Candidate, Chain, ChainErrorKind, CredentialId, FailureKind, FailurePolicy, ProviderError,
    ProviderExt, Registry, Rejection, Skip, Stage, Validator,
    breaker::{BreakerKey, State},
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{course, secs};
use tokio::time::{advance, timeout};

/// Opens after `failures`, for `cooldown` seconds.
fn registry(failures: u32, cooldown: u64) -> Registry {
    let config = BreakerConfig::builder()
        .consecutive_failures(failures)
        .without_failure_rate()
        .cooldown(secs(cooldown))
        .jitter(0.0)
        .build()
        .unwrap();
    Registry::builder().config(config).build()
}

fn state(registry: &Registry, provider: &str) -> State {
    registry.breaker(&BreakerKey::new(provider, "m")).snapshot().state
}

#[tokio::test(start_paused = true)]
async fn a_dead_primary_sees_no_request_until_the_cooldown_and_then_exactly_one() {
    let primary = MockProvider::new(
        "primary",
        [Step::fail(FailureKind::Overloaded), Step::text("back").after(secs(5))],
    );
    let backup = MockProvider::new("backup", [Step::text("backup")]);
    let registry = registry(1, 60);
    let chain = Chain::builder()
        .target(primary.clone().model("m").retries(0))
        .target(backup.clone().model("m"))
        .breakers(&registry)
        .build()
        .unwrap();
    chain.complete("x").await.unwrap();
    assert_eq!(state(&registry, "primary"), State::Open);
    for _ in 0..20 {
        let answer = chain.complete("x").await.unwrap();
        assert!(matches!(answer.report.skips[0].reason, Skip::BreakerOpen { retry_in: Some(_) }));
    }
    assert_eq!(primary.calls(), 1);
    advance(secs(60)).await;
    let calls: Vec<_> = (0..64).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(primary.calls(), 2, "one probe for 64 callers");
    assert_eq!(state(&registry, "primary"), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_probe_frees_its_place() {
    let provider = MockProvider::new(
        "a",
        [Step::fail(FailureKind::Overloaded), Step::hang(Stage::Headers), Step::text("back")],
    );
    let registry = registry(1, 60);
    let chain =
        Chain::builder().target(provider.clone().model("m").retries(0)).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    advance(secs(61)).await;
    assert!(timeout(secs(1), chain.complete("x")).await.is_err());
    assert_eq!(state(&registry, "a"), State::HalfOpen);
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!(state(&registry, "a"), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_answered_with_junk_closes_the_breaker() {
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Overloaded), Step::refusal("no")]);
    let registry = registry(1, 60);
    let chain =
        Chain::builder().target(provider.clone().model("m").retries(0)).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    advance(secs(61)).await;
    chain.complete("x").await.unwrap_err();
    assert_eq!(state(&registry, "a"), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_alone_is_an_error_that_says_when_to_come_back() {
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Overloaded)]);
    let registry = registry(1, 60);
    let chain =
        Chain::builder().target(provider.clone().model("m").retries(0)).breakers(&registry).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!((error.kind(), error.retry_in()), (ChainErrorKind::Exhausted, Some(secs(60))));
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::NoTargetAvailable { retry_in: Some(secs(60)) });
    assert_eq!(
        error.to_string(),
        "no target could be asked: a/m (breaker open, for 60 s); a target may be back in 60 s"
    );
}

#[tokio::test(start_paused = true)]
async fn a_rejected_key_is_asked_once_and_latched_until_it_changes_or_is_reset() {
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Authentication)]);
    let spare = MockProvider::new("b", [Step::text("spare")]);
    let registry = registry(1, 60);
    let chain = Chain::builder()
        .target(provider.clone().model("m"))
        .target(spare.clone().model("m"))
        .breakers(&registry)
        .build()
        .unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::Authentication));
    assert!(error.report().has_alert() && !error.is_retryable());
    assert_eq!((provider.calls(), spare.calls()), (1, 0));
    assert_eq!(state(&registry, "a"), State::Closed);

    let answer = chain.complete("x").await.unwrap();
    assert_eq!(answer.report.skips[0].reason, Skip::CredentialLatched);
    assert_eq!((answer.value.as_str(), provider.calls()), ("spare", 1));

    provider.push(Step::text("new key"));
    provider.set_credential(CredentialId(2));
    assert_eq!(chain.complete("x").await.unwrap().value, "new key");
}

#[tokio::test(start_paused = true)]
async fn a_late_rejection_of_the_old_key_does_not_lock_out_the_new_one() {
    let rejected = Step::fail(FailureKind::Authentication).after(secs(5));
    let provider = MockProvider::new("a", [rejected, Step::text("new key")]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let late = tokio::spawn(chain.complete("x").into_future());
    tokio::time::sleep(secs(1)).await;
    provider.set_credential(CredentialId(2));
    late.await.unwrap().unwrap_err();
    assert_eq!(chain.complete("x").await.unwrap().value, "new key");
    provider.set_credential(CredentialId(0));
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.report().skips[0].reason, Skip::CredentialLatched, "the old one stays out");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_the_provider_reports_counts_however_short_the_deadline() {
    let timer = || Step::fail(FailureKind::Timeout).after(secs(5));
    let provider = MockProvider::new("a", [timer()]);
    let registry = registry(1, 60);
    let chain = Chain::builder()
        .target(provider.model("m").timeout(secs(30)))
        .breakers(&registry)
        .deadline(secs(10))
        .build()
        .unwrap();
    chain.complete("x").await.unwrap_err();
    assert_eq!(state(&registry, "a"), State::Open);
}

#[tokio::test(start_paused = true)]
async fn keep_serving_passes_over_a_rejected_key() {
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Authentication)]);
    let spare = MockProvider::new("b", [Step::text("spare")]);
    let chain = Chain::builder()
        .target(provider.clone().model("m"))
        .target(spare.model("m"))
        .policy(FailurePolicy::keep_serving())
        .build()
        .unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(course(&answer.report), [("a/m", Some(FailureKind::Authentication)), ("b/m", None)]);
    assert!(answer.report.has_alert());
}

#[tokio::test(start_paused = true)]
async fn a_hundred_bad_requests_leave_the_breaker_closed() {
    let provider = MockProvider::new("a", [Step::fail(FailureKind::InvalidRequest)]);
    let registry = registry(3, 60);
    let chain = Chain::builder().target(provider.clone().model("m")).breakers(&registry).build().unwrap();
    for _ in 0..100 {
        let error = chain.complete("x").await.unwrap_err();
        assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::InvalidRequest));
    }
    assert_eq!((provider.calls(), state(&registry, "a")), (100, State::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_long_rate_limit_closes_the_model_and_an_empty_account_the_whole_credential() {
    let limited =
        || Step::error(|| ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(secs(30)));
    let provider = MockProvider::new("a", [limited(), Step::text("other model"), Step::text("same model")]);
    let chain = Chain::builder()
        .target(provider.clone().model("m").named("m"))
        .target(provider.clone().model("n").named("n"))
        .build()
        .unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(answer.report.served_by(), Some("n"), "another model of the same key is not closed");
    let error = chain.complete("x").only("m").await.unwrap_err();
    assert_eq!(error.report().skips[0].reason, Skip::GateClosed { retry_in: secs(30) });
    advance(secs(31)).await;
    assert_eq!(chain.complete("x").only("m").await.unwrap().value, "same model");

    let empty = MockProvider::new("b", [Step::fail(FailureKind::QuotaExhausted)]);
    let chain =
        Chain::builder().target(empty.clone().model("m")).target(empty.clone().model("n")).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert!(error.report().has_alert());
    assert_eq!((empty.calls(), error.retry_in()), (1, Some(secs(900))));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_the_deadline_cut_short_says_nothing_about_the_provider() {
    let provider = MockProvider::new("a", [Step::hang(Stage::Headers)]);
    let registry = registry(1, 60);
    let chain = Chain::builder()
        .target(provider.clone().model("m").timeout(secs(30)))
        .breakers(&registry)
        .build()
        .unwrap();
    chain.complete("x").deadline(secs(14)).await.unwrap_err();
    assert_eq!(state(&registry, "a"), State::Closed);
    chain.complete("x").deadline(secs(16)).await.unwrap_err();
    assert_eq!(state(&registry, "a"), State::Open, "half of its timeout counts");
}

#[tokio::test(start_paused = true)]
async fn a_slow_validator_does_not_make_the_provider_slow() {
    struct Slow(bool);
    impl Validator for Slow {
        type Output = ();
        async fn validate(&self, _: Candidate<'_>) -> Result<(), Rejection> {
            tokio::time::sleep(secs(5)).await;
            if self.0 { Ok(()) } else { Err(Rejection::new("not this one")) }
        }
    }
    let config = BreakerConfig::builder().slow_calls(secs(4), 0.5).min_calls(2).build().unwrap();
    let with = |answer: Step| {
        let registry = Registry::builder().config(config.clone()).build();
        let target = MockProvider::new("a", [answer]).model("m");
        let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
        (chain, registry)
    };
    for accepts in [true, false] {
        let (chain, registry) = with(Step::text("hi").after(secs(3)));
        for _ in 0..4 {
            assert_eq!(chain.call("x", Slow(accepts)).await.is_ok(), accepts);
        }
        let breaker = registry.breaker(&BreakerKey::new("a", "m")).snapshot();
        assert_eq!((breaker.state, breaker.window.slow), (State::Closed, 0));
        assert_eq!(breaker.window.calls, 4);
    }
    let (chain, registry) = with(Step::text("hi").after(secs(4)));
    for _ in 0..2 {
        chain.complete("x").await.unwrap();
    }
    assert_eq!(state(&registry, "a"), State::Open, "what the provider takes counts");
}

#[tokio::test(start_paused = true)]
async fn a_stale_connection_is_retried_for_free_and_counts_as_nothing() {
    let stale = || Step::error(|| ProviderError::new(FailureKind::Connect, "reset").as_stale());
    let provider = MockProvider::new("a", [stale(), Step::text("hi")]);
    let registry = registry(1, 60);
    let chain =
        Chain::builder().target(provider.clone().model("m").retries(0)).breakers(&registry).build().unwrap();
    assert_eq!(chain.complete("x").await.unwrap().value, "hi");
    assert_eq!(state(&registry, "a"), State::Closed);
}
