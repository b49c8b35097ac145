//! What opens a breaker, what closes it, and what it has no opinion on.

use std::{future::IntoFuture, sync::Arc};

use backstop::{
    Skip, Stage,
    mock::{MockProvider, Step, server::ClosedPort},
    prelude::*,
};
use backstop_core::{
    breaker::{Breaker, BreakerKey, Outcome, Reason, State},
    quality::QualityWindows,
};
use backstop_tests::{millis, secs};
use tokio::{
    sync::Notify,
    time::{advance, timeout},
};

use crate::support::{answering, at, breaker, chain, failing, hits, registry, saying, short, state};

fn limited(wait: u64) -> Step {
    Step::error(move || ProviderError::new(FailureKind::RateLimited, "slow").with_retry_after(secs(wait)))
}

#[tokio::test(start_paused = true)]
async fn br_02_a_probe_whose_caller_goes_away_gives_its_place_back() {
    let script = [Step::fail(FailureKind::Server), Step::hang(Stage::Body), Step::text("back")];
    let provider = MockProvider::new("a", script);
    let registry = registry(1, 30);
    let target = provider.clone().model("m").retries(0);
    let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    advance(secs(30)).await;
    assert!(timeout(secs(2), chain.complete("x")).await.is_err(), "the probe hangs and is dropped");
    assert_eq!((breaker(&registry, "a").probes_in_flight, provider.in_flight()), (0, 0));
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!(state(&registry, "a"), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn br_03_a_probe_that_is_never_heard_of_again_is_replaced_and_its_late_word_ignored() {
    let gate = Arc::new(Notify::new());
    let late = Step::fail(FailureKind::Server).once_notified(Arc::clone(&gate));
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Server), late, Step::text("back")]);
    let config = BreakerConfig::builder().consecutive_failures(1).cooldown(secs(30)).jitter(0.0);
    let registry = Registry::builder().config(config.probe_lease(millis(500)).build().unwrap()).build();
    let patient = provider.clone().model("m").retries(0).timeout(secs(86_400));
    let chain = Chain::builder().target(patient).breakers(&registry).deadline(secs(86_400)).build().unwrap();
    chain.complete("x").await.unwrap_err();
    advance(secs(30)).await;
    let lost = tokio::spawn(chain.complete("x").into_future());
    while provider.calls() < 2 {
        tokio::task::yield_now().await;
    }
    let error = chain.complete("x").await.unwrap_err();
    assert!(matches!(error.report().skips[0].reason, Skip::BreakerOpen { .. }), "one probe at a time");
    advance(millis(501)).await;
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!(breaker(&registry, "a").lost_probe_total, 1);
    gate.notify_one();
    lost.await.unwrap().unwrap_err();
    assert_eq!(state(&registry, "a"), State::Closed, "what the lost probe found is old news");
}

#[tokio::test(start_paused = true)]
async fn br_03_a_probe_may_take_as_long_as_its_target_allows() {
    let slow = Step::text("back").after(secs(90));
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Server), slow]);
    let registry = registry(1, 30);
    let target = provider.clone().model("m").retries(0).timeout(secs(120));
    let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    advance(secs(30)).await;
    let probe = tokio::spawn(chain.complete("x").into_future());
    while provider.calls() < 2 {
        tokio::task::yield_now().await;
    }
    advance(secs(80)).await;
    let error = chain.complete("x").await.unwrap_err();
    assert!(matches!(error.report().skips[0].reason, Skip::BreakerOpen { .. }), "slow, not lost: {error:?}");
    assert_eq!(probe.await.unwrap().unwrap().value, "back");
    assert_eq!(state(&registry, "a"), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn br_04_of_fifty_callers_one_probes_and_the_others_are_served_elsewhere() {
    let script = [Step::fail(FailureKind::Server), Step::text("back").after(millis(100))];
    let (first, second) = (MockProvider::new("first", script), saying("second", "spare"));
    let registry = registry(1, 1);
    let chain = Chain::builder()
        .target(first.clone().model("m").retries(0))
        .target(second.model("m"))
        .breakers(&registry)
        .build()
        .unwrap();
    chain.complete("x").await.unwrap();
    advance(secs(1)).await;
    let calls: Vec<_> = (0..50).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    let mut served = Vec::new();
    for call in calls {
        served.push(call.await.unwrap().unwrap().value);
    }
    let spare = served.iter().filter(|value| *value == "spare").count();
    assert_eq!((first.calls(), spare), (2, 49));
}

#[tokio::test(start_paused = true)]
async fn br_05_a_probe_with_a_fault_of_the_request_neither_opens_nor_blocks() {
    let script = [
        Step::fail(FailureKind::Server),
        Step::fail(FailureKind::ModelNotFound),
        Step::fail(FailureKind::InvalidRequest),
        Step::text("back"),
    ];
    let provider = MockProvider::new("a", script);
    let registry = registry(1, 30);
    let target = provider.clone().model("m").retries(0);
    let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    advance(secs(30)).await;
    for kind in [FailureKind::ModelNotFound, FailureKind::InvalidRequest] {
        let error = chain.complete("x").await.unwrap_err();
        assert_eq!(error.kind(), ChainErrorKind::GaveUp(kind));
        assert_eq!((state(&registry, "a"), breaker(&registry, "a").probes_in_flight), (State::HalfOpen, 0));
    }
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!(state(&registry, "a"), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn br_06_bad_requests_are_no_outage_and_a_bad_key_is_kept_out_by_its_own_latch() {
    let mut script = vec![Step::fail(FailureKind::InvalidRequest); 100];
    script.push(Step::fail(FailureKind::Authentication));
    let (first, second) = (MockProvider::new("first", script), saying("second", "spare"));
    let registry = registry(3, 60);
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.model("m"))
        .policy(FailurePolicy::keep_serving())
        .breakers(&registry)
        .build()
        .unwrap();
    for _ in 0..100 {
        assert_eq!(chain.complete("x").await.unwrap().value, "spare");
    }
    assert_eq!((state(&registry, "first"), breaker(&registry, "first").window.failed), (State::Closed, 0));
    let alerts: Vec<_> = [chain.complete("x").await, chain.complete("x").await, chain.complete("x").await]
        .map(|answer| answer.unwrap().report.has_alert())
        .into();
    assert_eq!((alerts, first.calls()), (vec![true, false, false], 101));
    let member = &chain.snapshot().targets[0].members[0];
    assert_eq!((member.breaker.state, member.latched), (State::Closed, Some(FailureKind::Authentication)));
}

#[tokio::test(start_paused = true)]
async fn br_07_of_two_waits_the_one_that_ends_later_counts() {
    for (first, second) in [(3, 9), (9, 3)] {
        let script =
            [limited(first).after(millis(10)), limited(second).after(millis(210)), Step::text("back")];
        let provider = MockProvider::new("a", script);
        let chain = chain([provider.clone().model("m")]);
        let calls: Vec<_> = (0..2).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
        for call in calls {
            call.await.unwrap().unwrap_err();
        }
        let closed = chain.snapshot().targets[0].members[0].closed_for.unwrap();
        assert!(closed > secs(8) && closed <= secs(9), "{first}, {second}: {closed:?}");
        let error = chain.complete("x").await.unwrap_err();
        assert_eq!((error.retry_in(), provider.calls()), (Some(closed), 2));
    }
}

#[tokio::test]
async fn br_08_a_host_that_refuses_connections_is_asked_until_the_breaker_opens() {
    let (closed, second) = (ClosedPort::reserve().unwrap(), answering("served").await);
    let nobody = OpenAi::builder().base_url(closed.url()).build().unwrap();
    let chain = Chain::builder()
        .target(short(nobody.model("m"), "first").retries(0))
        .target(at(&second, "second"))
        .breakers(&registry(3, 60))
        .build()
        .unwrap();
    let mut attempts = Vec::new();
    for _ in 0..10 {
        let answer = chain.complete("x").await.unwrap();
        attempts
            .push(answer.report.attempts.iter().filter(|attempt| attempt.target.as_str() == "first").count());
    }
    assert_eq!((attempts, hits(&second)), (vec![1, 1, 1, 0, 0, 0, 0, 0, 0, 0], 10));
}

#[tokio::test(start_paused = true)]
async fn br_12_calls_that_were_turned_away_here_are_no_failures_of_the_provider() {
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Server), Step::text("back")]);
    let registry = registry(1, 30);
    let target = provider.clone().model("m").retries(0);
    let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
    chain.complete("x").await.unwrap_err();
    for _ in 0..100 {
        let error = chain.complete("x").await.unwrap_err();
        assert_eq!(error.kind(), ChainErrorKind::NoTargetAvailable { retry_in: Some(secs(30)) });
    }
    let open = breaker(&registry, "a");
    assert_eq!((open.trips, open.rejected_total), (1, 100));
    advance(secs(30)).await;
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
    assert_eq!((state(&registry, "a"), provider.calls()), (State::Closed, 2));
}

#[tokio::test(start_paused = true)]
async fn br_15_a_fallback_that_fails_is_put_aside_like_a_primary() {
    let (first, second) = (failing("first", FailureKind::Server), failing("second", FailureKind::Server));
    let third = saying("third", "ok");
    let builder = [&first, &second, &third]
        .into_iter()
        .fold(Chain::builder(), |chain, provider| chain.target(provider.clone().model("m").retries(0)));
    let registry = registry(3, 60);
    let chain = builder.breakers(&registry).build().unwrap();
    for _ in 0..10 {
        assert_eq!(chain.complete("x").await.unwrap().value, "ok");
    }
    assert_eq!((first.calls(), second.calls(), third.calls()), (3, 3, 10));
    assert_eq!((state(&registry, "first"), state(&registry, "second")), (State::Open, State::Open));
}

#[tokio::test(start_paused = true)]
async fn br_16_answers_of_no_use_are_counted_apart_from_outages() {
    let (first, second) = (saying("first", "not json"), saying("second", "{\"n\": 1}"));
    let quality = QualityWindows::on(QualityWindows::settings().min_calls(10).jitter(0.0).build().unwrap());
    let registry = registry(3, 60);
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.model("m"))
        .breakers(&registry)
        .quality(quality.clone())
        .build()
        .unwrap();
    let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    for _ in 0..20 {
        chain.extract_value(schema.clone(), "x").task("numbers").await.unwrap();
    }
    assert_eq!(first.calls(), 20, "ten calls of two attempts, then none");
    assert_eq!((state(&registry, "first"), breaker(&registry, "first").window.failed), (State::Closed, 0));
    let window = &quality.snapshot()[0];
    assert_eq!((window.key.to_string().contains("numbers"), window.state), (true, State::Open));
    assert_eq!(chain.complete("x").task("prose").await.unwrap().value, "not json", "fine for other tasks");
}

#[tokio::test(start_paused = true)]
async fn br_17_a_provider_that_answers_too_slowly_is_put_aside_although_it_answers() {
    let first = MockProvider::new("first", [Step::text("slow").after(millis(400))]);
    let second = MockProvider::new("second", [Step::text("quick").after(millis(20))]);
    let config = BreakerConfig::builder().slow_calls(millis(200), 0.5).min_calls(5).jitter(0.0);
    let registry = Registry::builder().config(config.build().unwrap()).build();
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.model("m"))
        .breakers(&registry)
        .build()
        .unwrap();
    let mut served = Vec::new();
    for _ in 0..7 {
        served.push(chain.complete("x").await.unwrap().value);
    }
    assert_eq!(served, ["slow", "slow", "slow", "slow", "slow", "quick", "quick"]);
    let open = breaker(&registry, "first");
    assert!(matches!(open.reason, Some(Reason::SlowCalls { .. })), "{:?}", open.reason);
}

#[test]
fn br_03_what_a_probe_finds_after_its_lease_does_not_count() {
    let clock = backstop_core::clock::ManualClock::new();
    let config = BreakerConfig::builder().consecutive_failures(1).cooldown(secs(30)).jitter(0.0);
    let config = config.probe_lease(millis(500)).build().unwrap();
    let breaker = Breaker::builder(BreakerKey::new("a", "m")).config(config).clock(clock.clone()).build();
    breaker.try_acquire().unwrap().settle(Outcome::FAILURE);
    clock.advance(secs(30));
    let lost = breaker.try_acquire().unwrap();
    assert!(breaker.try_acquire().is_err());
    clock.advance(millis(501));
    breaker.try_acquire().unwrap().settle(Outcome::Success);
    lost.settle(Outcome::FAILURE);
    assert_eq!(breaker.snapshot().state, State::Closed);
}
