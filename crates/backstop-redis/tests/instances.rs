//! Several instances of an application that share one Redis: two registries in one process know as little of each
//! other as two processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use backstop_core::breaker::{
    Breaker, BreakerConfig, BreakerKey, Outcome, Reason, SharedStatus, Snapshot, State,
};
use backstop_core::clock::ManualClock;
use backstop_core::registry::Registry;
use backstop_core::{Chain, FailureKind, ProviderExt, Stage};
use backstop_mock::{MockProvider, Step};
use backstop_redis::{RedisOptions, RedisState};
use support::RedisServer;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);
/// The cooldown where it has to pass: longer than a loaded machine needs to spread the news.
const COOLDOWN: Duration = Duration::from_millis(800);

/// One application: a registry, a chain of a provider that may be down and one that is up.
struct Instance {
    state: Arc<RedisState>,
    sync: JoinHandle<()>,
    registry: Registry,
    chain: Chain,
    primary: MockProvider,
}

impl Instance {
    /// Opens after two failures in a row.
    async fn start(address: &str, options: RedisOptions, cooldown: Duration, steps: Vec<Step>) -> Self {
        let instance = Self::offline(address, options, cooldown, steps);
        until(|| instance.breaker().shared == Some(SharedStatus::Connected)).await;
        instance
    }

    fn offline(address: &str, options: RedisOptions, cooldown: Duration, steps: Vec<Step>) -> Self {
        let (state, sync) = RedisState::connect(address, options).unwrap();
        let config = BreakerConfig::builder()
            .consecutive_failures(2)
            .cooldown(cooldown)
            .cooldown_growth(1.0)
            .jitter(0.0)
            .build()
            .unwrap();
        let shared = Arc::clone(&state);
        let registry = Registry::builder().config(config).shared_state(shared).build();
        let primary = MockProvider::new("primary", steps);
        let chain = Chain::builder()
            .target(primary.clone().model("m").retries(0).timeout(200 * Duration::from_millis(1)))
            .target(MockProvider::new("fallback", [Step::text("fallback")]).model("m"))
            .breakers(&registry)
            .build()
            .unwrap();
        Self { state, sync: tokio::spawn(sync.run()), registry, chain, primary }
    }

    /// A call, and which provider served it.
    async fn call(&self) -> String {
        self.chain.complete("hello").await.unwrap().value
    }

    /// Calls until the circuit opens.
    async fn suffer(&self) {
        self.call().await;
        self.call().await;
        assert_eq!(self.breaker().state, State::Open);
    }

    fn key() -> BreakerKey {
        BreakerKey::new("primary", "m")
    }

    fn breaker(&self) -> Snapshot {
        self.registry.breaker(&Self::key()).snapshot()
    }

    fn state(&self) -> State {
        self.breaker().state
    }

    /// The cooldown is over, and nobody has probed yet.
    async fn due(&self) {
        until(|| self.breaker().probe_in == Some(Duration::ZERO)).await;
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.sync.abort();
    }
}

async fn until(holds: impl Fn() -> bool) {
    let limit = Instant::now() + 20 * SECOND;
    while !holds() {
        assert!(Instant::now() < limit, "it did not come to that within 20 s");
        sleep(Duration::from_millis(2)).await;
    }
}

/// Quick to look, and patient where a loaded machine is not to be taken for a slow Redis.
fn options() -> RedisOptions {
    RedisOptions::new().poll_interval(Duration::from_millis(20)).timeout(SECOND)
}

/// Long enough for news to arrive, if there were any.
async fn a_few_polls() {
    sleep(Duration::from_millis(300)).await;
}

fn down() -> Vec<Step> {
    vec![Step::fail(FailureKind::Overloaded)]
}

fn up() -> Vec<Step> {
    vec![Step::text("primary")]
}

#[tokio::test]
async fn one_sees_the_outage_and_the_other_never_calls_the_dead_provider() {
    let Some(server) = RedisServer::start() else { return };
    let first = Instance::start(&server.address(), options(), 45 * SECOND, down()).await;
    let second = Instance::start(&server.address(), options(), 45 * SECOND, down()).await;
    first.suffer().await;
    until(|| second.state() == State::Open).await;
    for _ in 0..10 {
        assert_eq!(second.call().await, "fallback");
    }
    assert_eq!(second.primary.calls(), 0);
    let breaker = second.breaker();
    assert_eq!((breaker.reason, breaker.trips), (Some(Reason::Shared), 0), "its own cooldown has not grown");
    assert!(breaker.probe_in.unwrap() <= 45 * SECOND && breaker.probe_in.unwrap() > 20 * SECOND);

    let late = Instance::start(&server.address(), options(), 45 * SECOND, down()).await;
    until(|| late.state() == State::Open).await;
    assert_eq!(late.call().await, "fallback");
    assert_eq!(late.primary.calls(), 0, "who comes later hears of it too");
}

#[tokio::test]
async fn a_closed_circuit_asks_redis_nothing() {
    let Some(server) = RedisServer::start() else { return };
    let only = Instance::start(&server.address(), options(), COOLDOWN, up()).await;
    for _ in 0..50 {
        assert_eq!(only.call().await, "primary");
    }
    let stats: String = server.command(&["INFO", "commandstats"]);
    assert!(stats.contains("cmdstat_hmget"), "it polls: {stats}");
    assert!(!stats.contains("cmdstat_eval"), "but runs no script: {stats}");
}

#[tokio::test]
async fn one_of_five_probes_and_its_success_reaches_all() {
    let Some(server) = RedisServer::start() else { return };
    let gate = Arc::new(tokio::sync::Notify::new());
    let mut all = Vec::new();
    for _ in 0..5 {
        let waits = Step::text("primary").once_notified(Arc::clone(&gate));
        let steps = vec![Step::fail(FailureKind::Server), Step::fail(FailureKind::Server), waits];
        let mut instance = Instance::offline(&server.address(), options(), COOLDOWN, steps);
        instance.chain = Chain::builder()
            .target(instance.primary.clone().model("m").retries(0).timeout(60 * SECOND))
            .target(MockProvider::new("fallback", [Step::text("fallback")]).model("m"))
            .breakers(&instance.registry)
            .build()
            .unwrap();
        until(|| instance.breaker().shared == Some(SharedStatus::Connected)).await;
        all.push(instance);
    }
    for instance in &all {
        // Those who have heard of it by now are spared.
        instance.call().await;
        instance.call().await;
    }
    for instance in &all {
        until(|| instance.state() == State::Open).await;
    }
    for instance in &all {
        instance.due().await;
    }
    let before: usize = all.iter().map(|instance| instance.primary.calls()).sum();
    let chains: Vec<Chain> = all.iter().map(|instance| instance.chain.clone()).collect();
    let mut calls = tokio::task::JoinSet::new();
    for chain in chains {
        calls.spawn(async move { chain.complete("hello").await.unwrap().value });
    }
    for _ in 0..4 {
        assert_eq!(calls.join_next().await.unwrap().unwrap(), "fallback");
    }
    let after: usize = all.iter().map(|instance| instance.primary.calls()).sum();
    assert_eq!(after - before, 1, "the fifth one is asking the provider");
    gate.notify_one();
    assert_eq!(calls.join_next().await.unwrap().unwrap(), "primary");
    assert_eq!(all.iter().filter(|instance| instance.state() == State::Closed).count(), 1);
    for instance in &all {
        gate.notify_one();
        until(|| instance.breaker().probe_in.is_none_or(|left| left <= SECOND)).await;
        until(|| instance.breaker().probe_in.is_none_or(|left| left.is_zero())).await;
        assert_eq!(instance.call().await, "primary", "each probes for itself, soon");
        assert_eq!(instance.state(), State::Closed);
    }
}

#[tokio::test]
async fn a_failed_probe_keeps_all_away() {
    let Some(server) = RedisServer::start() else { return };
    let first = Instance::start(&server.address(), options(), COOLDOWN, down()).await;
    let second = Instance::start(&server.address(), options(), COOLDOWN, down()).await;
    first.suffer().await;
    until(|| second.state() == State::Open).await;
    first.due().await;
    second.due().await;
    first.call().await;
    assert_eq!(first.primary.calls(), 3);
    until(|| second.breaker().probe_in > Some(COOLDOWN / 4)).await;
    assert_eq!(second.call().await, "fallback");
    assert_eq!(second.primary.calls(), 0);
    second.due().await;
    second.call().await;
    assert_eq!(second.primary.calls(), 1, "the next probe may be anybody's");
}

#[tokio::test]
async fn a_probe_that_is_dropped_frees_its_lease_at_once() {
    let Some(server) = RedisServer::start() else { return };
    let first = Instance::start(&server.address(), options(), COOLDOWN, down()).await;
    let second = Instance::start(&server.address(), options(), COOLDOWN, up()).await;
    first.suffer().await;
    until(|| second.state() == State::Open).await;
    first.due().await;
    second.due().await;
    first.primary.push(Step::hang(Stage::Connect));
    let slow = Chain::builder()
        .target(first.primary.clone().model("m").retries(0).timeout(60 * SECOND))
        .breakers(&first.registry)
        .build()
        .unwrap();
    let probe = tokio::spawn(async move { slow.complete("hello").await.map(|_| ()) });
    until(|| first.primary.in_flight() == 1).await;
    probe.abort();
    until(|| first.primary.in_flight() == 0).await;
    until(|| server.command::<i64>(&["EXISTS", "backstop:{primary|m}:lease"]) == 0).await;
    assert_eq!(second.call().await, "primary", "not 40 s later");
}

#[tokio::test]
async fn what_may_be_this_processs_own_fault_is_not_reported() {
    let Some(server) = RedisServer::start() else { return };
    for steps in [vec![Step::hang(Stage::Headers)], vec![Step::fail(FailureKind::Connect)]] {
        let first = Instance::start(&server.address(), options(), 45 * SECOND, steps.clone()).await;
        let second = Instance::start(&server.address(), options(), 45 * SECOND, up()).await;
        first.suffer().await;
        a_few_polls().await;
        assert_eq!(second.call().await, "primary");
    }
    let trusting = options().report_local(true);
    let first =
        Instance::start(&server.address(), trusting, 45 * SECOND, vec![Step::hang(Stage::Headers)]).await;
    let second = Instance::start(&server.address(), options(), 45 * SECOND, up()).await;
    first.suffer().await;
    until(|| second.state() == State::Open).await;
}

#[tokio::test]
async fn a_bad_node_alone_turns_nobody_away_if_a_quorum_is_asked_for() {
    let Some(server) = RedisServer::start() else { return };
    let wary = || options().quorum(2);
    let bad = Instance::start(&server.address(), wary(), 100 * Duration::from_millis(1), down()).await;
    let second = Instance::start(&server.address(), wary(), 45 * SECOND, down()).await;
    let third = Instance::start(&server.address(), wary(), 45 * SECOND, up()).await;
    for _ in 0..3 {
        bad.call().await;
        bad.call().await;
        until(|| bad.breaker().probe_in.is_none_or(|left| left.is_zero())).await;
    }
    assert!(bad.breaker().trips >= 2, "{:?}", bad.breaker());
    a_few_polls().await;
    assert_eq!((second.state(), third.state()), (State::Closed, State::Closed));

    second.suffer().await;
    until(|| third.state() == State::Open).await;
    assert_eq!(third.primary.calls(), 0, "two of three are believed");
}

#[tokio::test]
async fn a_name_in_common_makes_two_instances_one_witness() {
    let Some(server) = RedisServer::start() else { return };
    let same = || options().quorum(2).instance("same");
    let first = Instance::start(&server.address(), same(), 45 * SECOND, down()).await;
    let second = Instance::start(&server.address(), same(), 45 * SECOND, down()).await;
    let third = Instance::start(&server.address(), same(), 45 * SECOND, up()).await;
    first.suffer().await;
    second.suffer().await;
    a_few_polls().await;
    assert_eq!(third.state(), State::Closed);
}

#[tokio::test]
async fn without_redis_from_the_start_each_decides_for_itself() {
    let Some(mut server) = RedisServer::start() else { return };
    server.kill();
    let steps = vec![Step::fail(FailureKind::Server), Step::fail(FailureKind::Server), Step::text("primary")];
    let only = Instance::offline(&server.address(), options(), COOLDOWN, steps);
    assert_eq!(only.breaker().shared, Some(SharedStatus::Degraded));
    only.suffer().await;
    assert_eq!(only.call().await, "fallback", "open, as without Redis; not \"allow all\"");
    assert_eq!(only.primary.calls(), 2);
    only.due().await;
    assert_eq!(only.call().await, "primary");
    assert_eq!(only.state(), State::Closed);
}

#[tokio::test]
async fn a_redis_that_dies_and_comes_back_is_used_again() {
    let Some(mut server) = RedisServer::start() else { return };
    let first = Instance::start(&server.address(), options(), 45 * SECOND, down()).await;
    let second = Instance::start(&server.address(), options(), 45 * SECOND, down()).await;
    server.kill();
    until(|| first.breaker().shared == Some(SharedStatus::Degraded)).await;
    first.suffer().await;
    assert_eq!(second.state(), State::Closed);
    server.restart();
    // What was found in the meantime is said now, to an empty Redis.
    until(|| second.state() == State::Open).await;
    assert_eq!(second.call().await, "fallback");
    assert_eq!(second.primary.calls(), 0);
    until(|| first.breaker().shared == Some(SharedStatus::Connected)).await;
}

#[tokio::test]
async fn a_report_that_got_no_answer_is_made_again() {
    let Some(mut server) = RedisServer::start() else { return };
    let seldom = options().poll_interval(60 * SECOND).timeout(SECOND / 20);
    let first = Instance::start(&server.address(), seldom, 45 * SECOND, down()).await;
    let second = Instance::start(&server.address(), options(), 45 * SECOND, down()).await;
    server.freeze();
    first.suffer().await;
    until(|| first.breaker().shared == Some(SharedStatus::Degraded)).await;
    server.restart();
    until(|| second.state() == State::Open).await;
}

#[tokio::test]
async fn a_flushed_redis_neither_closes_nor_opens_anything() {
    let Some(server) = RedisServer::start() else { return };
    let first = Instance::start(&server.address(), options(), COOLDOWN, down()).await;
    let second = Instance::start(&server.address(), options(), COOLDOWN, down()).await;
    first.suffer().await;
    until(|| second.state() == State::Open).await;
    server.command::<()>(&["FLUSHALL"]);
    a_few_polls().await;
    assert_eq!((first.state(), second.state()), (State::Open, State::Open));
    first.due().await;
    second.due().await;
    first.call().await;
    assert_eq!(first.primary.calls(), 3, "Redis knows of no outage: it probes on its own");
    until(|| second.breaker().probe_in > Some(COOLDOWN / 4)).await;
    assert_eq!(second.primary.calls(), 0, "and what it finds is shared anew");
}

#[tokio::test]
async fn a_lease_that_redis_forgot_hurts_nobody() {
    let Some(server) = RedisServer::start() else { return };
    let first = Instance::start(&server.address(), options(), COOLDOWN, down()).await;
    let second = Instance::start(&server.address(), options(), COOLDOWN, up()).await;
    first.suffer().await;
    until(|| second.state() == State::Open).await;
    first.due().await;
    second.due().await;
    let breaker = first.registry.breaker(&Instance::key());
    let probe = breaker.acquire().await.unwrap();
    assert!(probe.is_probe());
    server.command::<()>(&["FLUSHALL"]);
    assert_eq!(second.call().await, "primary", "a second probe, at most");
    probe.settle(Outcome::FAILURE);
    a_few_polls().await;
    assert_eq!(first.state(), State::Open, "here it counts");
    assert_eq!(second.state(), State::Closed, "a verdict on a lease that is gone concerns nobody else");
}

#[tokio::test]
async fn a_redis_that_hangs_costs_a_few_timeouts_and_then_nothing() {
    let Some(server) = RedisServer::start() else { return };
    let (shared, sync) =
        RedisState::connect(&server.address(), options().poll_interval(60 * SECOND)).unwrap();
    let sync = tokio::spawn(sync.run());
    let clock = ManualClock::new();
    let build = |name: u32| {
        Breaker::builder(BreakerKey::new("p", format!("m{name}")))
            .clock(clock.clone())
            .shared_state(Arc::clone(&shared) as _)
            .build()
    };
    let breakers: Vec<_> = (0..20).map(build).collect();
    until(|| breakers[0].snapshot().shared == Some(SharedStatus::Connected)).await;
    for breaker in &breakers {
        while let Ok(permit) = breaker.try_acquire() {
            permit.settle(Outcome::NoAnswer);
        }
    }
    clock.advance(300 * SECOND);
    server.freeze();
    let started = Instant::now();
    for breaker in &breakers {
        assert!(breaker.acquire().await.unwrap().is_probe(), "it decides for itself");
    }
    let took = started.elapsed();
    assert!(took >= 3 * SECOND, "three waited for the timeout: {took:?}");
    assert!(took < 8 * SECOND, "not all twenty: {took:?}");
    assert_eq!(breakers[0].snapshot().shared, Some(SharedStatus::Degraded));
    server.thaw();
    sync.abort();
}

#[tokio::test]
async fn a_lease_that_was_granted_too_late_is_given_back() {
    let Some(server) = RedisServer::start() else { return };
    let steps = vec![Step::fail(FailureKind::Server), Step::fail(FailureKind::Server), Step::text("primary")];
    let first = Instance::start(&server.address(), options(), COOLDOWN, steps).await;
    first.suffer().await;
    // A server that does not know the script yet would only answer that.
    let other = first.registry.breaker(&BreakerKey::new("other", "m"));
    other.try_acquire().unwrap().settle(Outcome::FAILURE);
    other.try_acquire().unwrap().settle(Outcome::FAILURE);
    until(|| other.snapshot().probe_in == Some(Duration::ZERO)).await;
    drop(other.acquire().await.unwrap());
    first.due().await;
    server.freeze();
    assert_eq!(first.call().await, "primary", "it probes without an answer");
    server.thaw();
    a_few_polls().await;
    let stats: String = server.command(&["INFO", "commandstats"]);
    assert!(stats.contains("cmdstat_set:calls=2,"), "the question was answered after all: {stats}");
    assert_eq!(server.command::<i64>(&["EXISTS", "backstop:{primary|m}:lease"]), 0);
}

#[tokio::test]
async fn clocks_that_are_hours_apart_do_no_harm() {
    let Some(server) = RedisServer::start() else { return };
    let mut instances = Vec::new();
    for hours in [0, 10] {
        let (shared, sync) = RedisState::connect(&server.address(), options()).unwrap();
        let sync = tokio::spawn(sync.run());
        let clock = ManualClock::new();
        let breaker = Breaker::builder(BreakerKey::new("p", "m"))
            .config(BreakerConfig::builder().jitter(0.0).build().unwrap())
            .clock(clock.clone())
            .shared_state(shared)
            .build();
        clock.advance(3600 * hours * SECOND);
        until(|| breaker.snapshot().shared == Some(SharedStatus::Connected)).await;
        instances.push((breaker, sync));
    }
    let [(first, _), (second, _)] = &instances[..] else { panic!() };
    while let Ok(permit) = first.try_acquire() {
        permit.settle(Outcome::FAILURE);
    }
    until(|| second.snapshot().state == State::Open).await;
    let left = second.snapshot().probe_in.unwrap();
    assert!(left > 20 * SECOND && left <= 45 * SECOND, "{left:?}");
    instances.iter().for_each(|(_, sync)| sync.abort());
}

#[tokio::test]
async fn a_reset_by_hand_is_not_overruled() {
    let Some(server) = RedisServer::start() else { return };
    let first = Instance::start(&server.address(), options(), 45 * SECOND, down()).await;
    let second = Instance::start(&server.address(), options(), 45 * SECOND, up()).await;
    first.suffer().await;
    until(|| second.state() == State::Open).await;
    second.registry.breaker(&Instance::key()).reset();
    a_few_polls().await;
    assert_eq!(second.call().await, "primary");
}

#[tokio::test]
async fn a_redis_that_says_no_leaves_each_to_itself() {
    let Some(server) = RedisServer::start() else { return };
    let steps = vec![Step::fail(FailureKind::Server), Step::fail(FailureKind::Server), Step::text("primary")];
    let first = Instance::start(&server.address(), options(), COOLDOWN, steps).await;
    let second = Instance::start(&server.address(), options(), COOLDOWN, up()).await;
    server.command::<()>(&["REPLICAOF", "127.0.0.1", "1"]);
    first.suffer().await;
    until(|| first.state.lost_messages() > 0).await;
    assert_eq!(second.state(), State::Closed, "a read-only replica takes no report");
    first.due().await;
    assert_eq!(first.call().await, "primary");
    server.command::<()>(&["REPLICAOF", "NO", "ONE"]);
    until(|| first.breaker().shared == Some(SharedStatus::Connected)).await;
}

#[tokio::test]
async fn a_wrong_password_leaves_each_to_itself() {
    let Some(server) = RedisServer::start() else { return };
    server.command::<()>(&["CONFIG", "SET", "requirepass", "right"]);
    let address = |password: &str| format!("redis://:{password}@127.0.0.1:{}", server.port());
    let right = Instance::start(&address("right"), options(), 45 * SECOND, down()).await;
    let wrong = Instance::offline(&address("wrong"), options(), 45 * SECOND, up());
    right.suffer().await;
    a_few_polls().await;
    assert_eq!(wrong.breaker().shared, Some(SharedStatus::Degraded));
    assert_eq!(wrong.call().await, "primary");
}

#[tokio::test]
async fn a_sync_that_is_dropped_closes_its_connection() {
    let Some(server) = RedisServer::start() else { return };
    let only = Instance::start(&server.address(), options(), 45 * SECOND, up()).await;
    let clients = || server.command::<String>(&["CLIENT", "LIST"]).lines().count();
    assert_eq!(clients(), 2, "its own, and the one that asks");
    only.sync.abort();
    until(|| only.breaker().shared == Some(SharedStatus::Degraded)).await;
    until(|| clients() == 1).await;
    assert_eq!(only.call().await, "primary");
}

#[tokio::test]
async fn a_sync_ends_with_the_state_that_it_serves() {
    let Some(mut server) = RedisServer::start() else { return };
    for alive in [true, false] {
        if !alive {
            server.kill();
        }
        let (state, sync) = RedisState::connect(&server.address(), options()).unwrap();
        let sync = tokio::spawn(sync.run());
        let breaker = Breaker::builder(BreakerKey::new("p", "m")).shared_state(state).build();
        a_few_polls().await;
        assert!(!sync.is_finished());
        drop(breaker);
        timeout(10 * SECOND, sync).await.expect("it ends").unwrap();
    }
}

#[cfg(any(feature = "rustls", feature = "native-tls"))]
#[tokio::test]
async fn encryption_that_the_server_does_not_speak_leaves_each_to_itself() {
    let Some(server) = RedisServer::start() else { return };
    let address = format!("rediss://127.0.0.1:{}", server.port());
    let only = Instance::offline(&address, options(), 45 * SECOND, up());
    a_few_polls().await;
    assert!(!only.sync.is_finished(), "a panic would end it");
    assert_eq!(only.breaker().shared, Some(SharedStatus::Degraded));
    assert_eq!(only.call().await, "primary");
}
