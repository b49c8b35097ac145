//! A head of 200 is no verdict: breakers, windows and places hear of a stream at its end.

use backstop_core::{
    BreakerConfig, Chain, FailureKind, FinishKind, ProviderExt, QualityWindows, Registry, Skip,
    breaker::{BreakerKey, State},
};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::secs;
use tokio::time::{advance, sleep};

use super::support::read;

fn registry() -> Registry {
    let config = BreakerConfig::builder()
        .consecutive_failures(2)
        .without_failure_rate()
        .cooldown(secs(60))
        .jitter(0.0)
        .probe_lease(secs(40))
        .build()
        .unwrap();
    Registry::builder().config(config).build()
}

fn state(registry: &Registry) -> State {
    registry.breaker(&BreakerKey::new("a", "m")).snapshot().state
}

fn chain(registry: &Registry, step: Step) -> Chain {
    let target = MockProvider::new("a", [step]).model("m").retries(0);
    Chain::builder().target(target).breakers(registry).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn streams_that_break_open_the_breaker_though_each_began_well() {
    for piece in [Piece::cut(), Piece::hang(), Piece::fail(FailureKind::Overloaded)] {
        let registry = registry();
        let chain = chain(&registry, Step::stream(["begun".into(), piece]));
        for _ in 0..2 {
            assert_eq!(state(&registry), State::Closed);
            let got = read(chain.stream("hi").head(0, secs(0)).await.unwrap()).await;
            assert!(got.interrupted.is_some());
        }
        assert_eq!(state(&registry), State::Open);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_providers_fault_counts_as_nothing_or_as_success() {
    let registry = registry();
    let cut = chain(&registry, Step::stream(["begun".into(), Piece::cut()]));
    read(cut.stream("hi").head(0, secs(0)).await.unwrap()).await;
    // Dropped: counts as nothing.
    let endless = chain(&registry, Step::stream(["begun".into(), Piece::hang()]));
    drop(endless.stream("hi").head(0, secs(0)).await.unwrap());
    // The caller's own total: counts as nothing.
    let got = read(endless.stream("hi").head(0, secs(0)).total(secs(20)).await.unwrap()).await;
    assert_eq!(got.interrupted().kind(), FailureKind::Timeout);
    assert_eq!(state(&registry), State::Closed);
    // A soft failure is a success for the breaker: the failures in a row begin anew.
    let soft = chain(&registry, Step::stream(["begun".into(), Piece::end_with(FinishKind::Length)]));
    read(soft.stream("hi").head(0, secs(0)).await.unwrap()).await;
    read(cut.stream("hi").head(0, secs(0)).await.unwrap()).await;
    assert_eq!(state(&registry), State::Closed);
    read(cut.stream("hi").head(0, secs(0)).await.unwrap()).await;
    assert_eq!(state(&registry), State::Open);
}

#[tokio::test(start_paused = true)]
async fn one_callers_hurry_fails_over_and_opens_no_breaker_for_all() {
    let registry = registry();
    let spare = || MockProvider::new("spare", [Step::text("spare")]).model("m");
    let late =
        Step::stream([Piece::wait(secs(5)), "late".into(), Piece::wait(secs(5)), "r".into(), Piece::end()]);
    let target = MockProvider::new("a", [late]).model("m").retries(0);
    let chain = Chain::builder().target(target).target(spare()).breakers(&registry).build().unwrap();
    for _ in 0..4 {
        let hasty = chain.stream("hi").first_content(secs(4));
        assert_eq!(read(hasty.await.unwrap()).await.text, "spare");
        let hasty = chain.stream("hi").head(0, secs(0)).idle(secs(4));
        assert_eq!(read(hasty.await.unwrap()).await.interrupted().kind(), FailureKind::Timeout);
    }
    assert_eq!(state(&registry), State::Closed);
    assert_eq!(read(chain.stream("hi").await.unwrap()).await.text, "later");
}

#[tokio::test(start_paused = true)]
async fn what_is_too_slow_by_the_targets_own_settings_counts() {
    let hangs = || Step::stream([Piece::ping(), Piece::hang()]);
    let stalls = || Step::stream(["begun".into(), Piece::hang()]);
    let reports = || Step::fail(FailureKind::Timeout).after(secs(1));
    let target = |step| MockProvider::new("a", [step]).model("m").retries(0);
    for target in [
        target(hangs()).first_content(secs(4)),
        target(hangs()).timeout(secs(4)),
        target(stalls()).idle(secs(4)),
        target(reports()),
    ] {
        let registry = registry();
        let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
        for _ in 0..2 {
            assert_eq!(state(&registry), State::Closed);
            // No tighter than the target, or no reason that the attempt failed.
            let call = chain.stream("hi").head(0, secs(0)).first_content(secs(4)).idle(secs(4));
            if let Ok(stream) = call.await {
                assert_eq!(read(stream).await.interrupted().kind(), FailureKind::Timeout);
            }
        }
        assert_eq!(state(&registry), State::Open);
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_probe_keeps_its_lease_by_its_content_and_closes_the_circuit_at_its_end() {
    let registry = registry();
    let cut = chain(&registry, Step::stream(["begun".into(), Piece::cut()]));
    for _ in 0..2 {
        read(cut.stream("hi").head(0, secs(0)).await.unwrap()).await;
    }
    advance(secs(60)).await;
    let pieces = (0..6).flat_map(|_| ["more ".into(), Piece::wait(secs(25))]).chain([Piece::end()]);
    let long = chain(&registry, Step::stream(pieces));
    let probe = tokio::spawn(read(long.stream("hi").head(0, secs(0)).await.unwrap()));
    sleep(secs(110)).await;
    let error = long.stream("hi").await.unwrap_err();
    assert!(matches!(error.report().skips[0].reason, Skip::BreakerOpen { .. }), "one probe at a time");
    assert_eq!(state(&registry), State::HalfOpen);
    assert!(probe.await.unwrap().finished.is_some());
    assert_eq!(state(&registry), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_probe_keeps_its_lease_while_a_slow_consumer_takes_what_is_there() {
    let registry = registry();
    let cut = chain(&registry, Step::stream(["begun".into(), Piece::cut()]));
    for _ in 0..2 {
        read(cut.stream("hi").head(0, secs(0)).await.unwrap()).await;
    }
    advance(secs(60)).await;
    let long = chain(&registry, Step::stream((0..6).map(|_| "more ".into()).chain([Piece::end()])));
    let mut probe = long.stream("hi").head(0, secs(0)).await.unwrap();
    for _ in 0..6 {
        probe.next().await.unwrap().unwrap();
        sleep(secs(15)).await;
        let error = long.stream("hi").await.unwrap_err();
        assert!(matches!(error.report().skips[0].reason, Skip::BreakerOpen { .. }), "one probe at a time");
    }
    assert!(read(probe).await.finished.is_some());
    assert_eq!(state(&registry), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_probe_may_pause_for_as_long_as_its_target_may() {
    let config = BreakerConfig::five_then_thirty_seconds().consecutive_failures(1).build().unwrap();
    let registry = Registry::builder().config(config).build();
    let pauses = Step::stream(["one ".into(), Piece::wait(secs(90)), "two".into(), Piece::end()]);
    let provider = MockProvider::new("a", [Step::fail(FailureKind::Overloaded), pauses]);
    let target = provider.clone().model("m").retries(0).idle(secs(100));
    let chain = Chain::builder().target(target).breakers(&registry).build().unwrap();
    chain.stream("hi").await.unwrap_err();
    advance(secs(30)).await;
    let probe = tokio::spawn(read(chain.stream("hi").head(0, secs(0)).await.unwrap()));
    sleep(secs(80)).await;
    chain.stream("hi").await.unwrap_err();
    assert_eq!(provider.calls(), 2, "the probe still has its place");
    assert_eq!(probe.await.unwrap().text, "one two");
    assert_eq!(state(&registry), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_long_probe_that_is_held_back_keeps_its_lease_too() {
    let registry = registry();
    let cut = chain(&registry, Step::stream(["begun".into(), Piece::cut()]));
    for _ in 0..2 {
        read(cut.stream("hi").head(0, secs(0)).await.unwrap()).await;
    }
    advance(secs(60)).await;
    let pieces = (0..6).flat_map(|_| ["more ".into(), Piece::wait(secs(25))]).chain([Piece::end()]);
    let target = MockProvider::new("a", [Step::stream(pieces)]).model("m").retries(0);
    let long = Chain::builder().target(target).deadline(secs(300)).breakers(&registry).build().unwrap();
    let call = long.stream("hi").hold(true);
    let probe = tokio::spawn(async { read(call.await.unwrap()).await });
    sleep(secs(110)).await;
    let error = long.stream("hi").await.unwrap_err();
    assert!(matches!(error.report().skips[0].reason, Skip::BreakerOpen { .. }), "one probe at a time");
    assert!(probe.await.unwrap().finished.is_some());
    assert_eq!(state(&registry), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_probe_frees_its_place() {
    let registry = registry();
    let cut = chain(&registry, Step::stream(["begun".into(), Piece::cut()]));
    for _ in 0..2 {
        read(cut.stream("hi").head(0, secs(0)).await.unwrap()).await;
    }
    advance(secs(60)).await;
    let well = chain(&registry, Step::stream(["begun".into(), Piece::end()]));
    drop(well.stream("hi").head(0, secs(0)).await.unwrap());
    assert_eq!(state(&registry), State::HalfOpen);
    assert!(read(well.stream("hi").await.unwrap()).await.finished.is_some());
    assert_eq!(state(&registry), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_inside_a_stream_closes_the_gate() {
    let limited =
        || backstop_core::ProviderError::new(FailureKind::RateLimited, "slow down").with_retry_after(secs(9));
    let chain = chain(&registry(), Step::stream(["begun".into(), Piece::error(limited)]));
    read(chain.stream("hi").head(0, secs(0)).await.unwrap()).await;
    let error = chain.stream("hi").await.unwrap_err();
    assert_eq!(error.report().skips[0].reason, Skip::GateClosed { retry_in: secs(9) });
}

#[tokio::test(start_paused = true)]
async fn a_place_is_taken_until_the_stream_ends() {
    let step = Step::stream(["begun".into(), Piece::wait(secs(3)), Piece::end()]);
    let target = MockProvider::new("a", [step]).model("m").max_in_flight(1).queue_wait(secs(1));
    let chain = Chain::builder().target(target).build().unwrap();
    let mut first = chain.stream("hi").head(0, secs(0)).await.unwrap();
    let error = chain.stream("hi").await.unwrap_err();
    assert!(matches!(error.report().skips[0].reason, Skip::BulkheadFull { .. }));
    assert_eq!(chain.snapshot().targets[0].in_flight, 1);
    while first.next().await.is_some() {}
    assert_eq!(chain.snapshot().targets[0].in_flight, 0);
    let second = chain.stream("hi").await.unwrap();
    drop(second);
    assert!(chain.stream("hi").await.is_ok(), "a dropped stream gives its place back");
}

#[tokio::test(start_paused = true)]
async fn quality_is_told_of_how_a_stream_ended() {
    let config = QualityWindows::settings().min_calls(2).build().unwrap();
    let quality = QualityWindows::on(config);
    let step = Step::stream(["begun".into(), Piece::end_with(FinishKind::Length)]);
    let target = MockProvider::new("a", [step]).model("m");
    let chain = Chain::builder().target(target).quality(quality).build().unwrap();
    for _ in 0..2 {
        read(chain.stream("hi").head(0, secs(0)).task("t").await.unwrap()).await;
    }
    let error = chain.stream("hi").task("t").await.unwrap_err();
    assert!(matches!(error.report().skips[0].reason, Skip::Quality { .. }));
}
