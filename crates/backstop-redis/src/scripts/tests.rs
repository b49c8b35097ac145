//! The scripts against a real server.

use std::collections::HashSet;

use backstop_core::breaker::BreakerKey;
use tokio::time::{Instant, sleep};

use super::*;
use crate::support::RedisServer;

const SECOND: Duration = Duration::from_secs(1);
/// Short, but longer than what a loaded machine needs for a few round trips.
const SHORT: Duration = Duration::from_millis(400);

/// One instance at one breaker.
struct Instance {
    scripts: Scripts,
    names: Names,
    options: RedisOptions,
    connection: MultiplexedConnection,
}

impl Instance {
    async fn new(server: &RedisServer, options: RedisOptions) -> Self {
        let client = redis::Client::open(server.address()).unwrap();
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(10 * SECOND));
        Self {
            scripts: Scripts::new(),
            names: Names::new("test", &BreakerKey::new("provider", "model")),
            connection: client.get_multiplexed_async_connection_with_config(&config).await.unwrap(),
            options,
        }
    }

    async fn trip(&mut self, seen: u64, cooldown: Duration) -> (Report, Known) {
        self.scripts.trip(&mut self.connection, &self.names, &self.options, seen, cooldown).await.unwrap()
    }

    async fn probe(&mut self, token: &str, lease: Duration) -> Turn {
        self.scripts.probe(&mut self.connection, &self.names, &self.options, token, lease).await.unwrap()
    }

    async fn done(&mut self, token: &str, verdict: Verdict) -> (bool, Known) {
        self.scripts.done(&mut self.connection, &self.names, &self.options, token, verdict).await.unwrap()
    }

    async fn look(&mut self) -> Known {
        look(&mut self.connection, std::iter::once(&self.names)).await.unwrap()[0]
    }

    /// Opens the circuit and waits until a probe is due.
    async fn due(&mut self) -> u64 {
        let (report, known) = self.trip(u64::MAX >> 16, Duration::from_millis(1)).await;
        assert_eq!(report, Report::Opened);
        until(async || self.look().await.circuit == Circuit::Due).await;
        known.epoch
    }
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let limit = Instant::now() + 10 * SECOND;
    while !holds().await {
        assert!(Instant::now() < limit, "it did not come to that within 10 s");
        sleep(Duration::from_millis(5)).await;
    }
}

fn left(known: Known) -> Duration {
    match known.circuit {
        Circuit::Open(left) => left,
        other => panic!("not open: {other:?}"),
    }
}

#[tokio::test]
async fn twenty_that_trip_at_once_open_it_once() {
    let Some(server) = RedisServer::start() else { return };
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let mut instance = Instance::new(&server, RedisOptions::new()).await;
        calls.spawn(async move { instance.trip(0, 10 * SECOND).await });
    }
    let answers = calls.join_all().await;
    assert_eq!(answers.iter().filter(|(report, _)| *report == Report::Opened).count(), 1);
    assert_eq!(answers.iter().filter(|(report, _)| *report == Report::Late).count(), 19);
    let epochs: HashSet<u64> = answers.iter().map(|(_, known)| known.epoch).collect();
    assert_eq!(epochs.len(), 1, "all know the same epoch afterwards");
    assert!(answers.iter().all(|(_, known)| left(*known) > 5 * SECOND), "and the same deadline");
}

#[tokio::test]
async fn a_deadline_only_moves_later_and_never_beyond_the_cap() {
    let Some(server) = RedisServer::start() else { return };
    let mut one = Instance::new(&server, RedisOptions::new().cooldown_cap(60 * SECOND)).await;
    let (_, first) = one.trip(0, 30 * SECOND).await;
    let (report, second) = one.trip(first.epoch, 2 * SECOND).await;
    assert_eq!(report, Report::Opened);
    assert!(second.epoch > first.epoch);
    assert!(left(second) > 15 * SECOND, "a shorter cooldown shortens nothing");
    let (_, third) = one.trip(second.epoch, Duration::from_secs(86_400)).await;
    assert!(left(third) > 50 * SECOND && left(third) <= 60 * SECOND);
}

#[tokio::test]
async fn a_deadline_that_a_clock_left_in_the_future_is_brought_back() {
    let Some(server) = RedisServer::start() else { return };
    let mut one = Instance::new(&server, RedisOptions::new().cooldown_cap(SHORT)).await;
    one.due().await;
    let far = (u64::from(u32::MAX) * 1000).to_string();
    server.command::<()>(&["HSET", &one.names.state, "u", &far]);
    let Turn::Wait(wait) = one.probe("a", SECOND).await else { panic!("it is open") };
    assert!(wait <= SHORT);
    until(async || one.probe("a", 30 * SECOND).await == Turn::Yours).await;
}

#[tokio::test]
async fn a_lease_has_one_holder_and_ends_by_itself() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new()).await;
    assert_eq!(one.probe("a", SECOND).await, Turn::NothingOpen);
    one.due().await;
    assert_eq!(one.probe("a", SHORT).await, Turn::Yours);
    let Turn::Wait(wait) = other.probe("b", 30 * SECOND).await else { panic!("it is taken") };
    assert!(!wait.is_zero() && wait <= SHORT);
    until(async || other.probe("b", 30 * SECOND).await == Turn::Yours).await;
    let (applied, known) = one.done("a", Verdict::Recovered).await;
    assert!(!applied, "it came too late to have a say");
    assert_eq!(known.circuit, Circuit::Due);
    assert!(other.done("b", Verdict::Recovered).await.0);
}

#[tokio::test]
async fn while_it_is_open_nobody_probes() {
    let Some(server) = RedisServer::start() else { return };
    let mut one = Instance::new(&server, RedisOptions::new()).await;
    one.trip(0, 30 * SECOND).await;
    let Turn::Wait(wait) = one.probe("a", SECOND).await else { panic!("it is open") };
    assert!(wait > 10 * SECOND && wait <= 30 * SECOND);
}

#[tokio::test]
async fn only_the_holder_of_a_lease_has_a_say() {
    let Some(server) = RedisServer::start() else { return };
    let mut one = Instance::new(&server, RedisOptions::new()).await;
    let epoch = one.due().await;
    for verdict in [Verdict::Recovered, Verdict::Failed(SECOND), Verdict::Released] {
        assert!(!one.done("nobody", verdict).await.0, "there is no lease");
    }
    assert_eq!(one.probe("a", 30 * SECOND).await, Turn::Yours);
    for verdict in [Verdict::Recovered, Verdict::Failed(SECOND), Verdict::Released] {
        assert!(!one.done("b", verdict).await.0, "it is another's");
    }
    assert_eq!(one.look().await, Known { epoch, circuit: Circuit::Due });
    assert!(matches!(one.probe("b", SECOND).await, Turn::Wait(_)));
    assert!(one.done("a", Verdict::Released).await.0);
}

#[tokio::test]
async fn what_a_verdict_does() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new()).await;
    let epoch = one.due().await;

    one.probe("a", 30 * SECOND).await;
    assert_eq!(one.done("a", Verdict::Released).await, (true, Known { epoch, circuit: Circuit::Due }));
    assert_eq!(other.probe("b", 30 * SECOND).await, Turn::Yours, "a lease that is dropped is free at once");

    let (applied, failed) = other.done("b", Verdict::Failed(20 * SECOND)).await;
    assert!(applied && failed.epoch > epoch);
    assert!(left(failed) > 10 * SECOND);

    let mut third = Instance::new(&server, RedisOptions::new()).await;
    third.names = Names::new("test", &BreakerKey::new("another", "model"));
    let epoch = third.due().await;
    third.probe("c", 30 * SECOND).await;
    let (applied, recovered) = third.done("c", Verdict::Recovered).await;
    assert!(applied && recovered.epoch > epoch);
    assert_eq!(recovered.circuit, Circuit::Closed);
    assert_eq!(third.probe("d", SECOND).await, Turn::NothingOpen);
}

#[tokio::test]
async fn a_lease_ends_with_its_epoch() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new()).await;
    let epoch = one.due().await;
    assert_eq!(one.probe("a", 30 * SECOND).await, Turn::Yours);
    let (report, known) = other.trip(epoch, 20 * SECOND).await;
    assert_eq!(report, Report::Opened);
    assert!(!one.done("a", Verdict::Recovered).await.0);
    assert_eq!(one.look().await.epoch, known.epoch);
}

#[tokio::test]
async fn with_a_quorum_one_instance_alone_opens_nothing() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new().quorum(2)).await;
    for _ in 0..5 {
        let (report, known) = one.trip(0, 10 * SECOND).await;
        assert_eq!((report, known.circuit), (Report::Noted, Circuit::Closed));
    }
    assert_eq!(other.probe("b", SECOND).await, Turn::NothingOpen);
    let (report, known) = other.trip(0, 10 * SECOND).await;
    assert_eq!(report, Report::Opened);
    assert!(left(known) > 5 * SECOND);
}

#[tokio::test]
async fn an_old_report_is_no_witness() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new().quorum(2).report_window(SHORT)).await;
    one.trip(0, 10 * SECOND).await;
    sleep(2 * SHORT).await;
    assert_eq!(other.trip(0, 10 * SECOND).await.0, Report::Noted);
}

#[tokio::test]
async fn twenty_witnesses_at_once_open_it_once() {
    let Some(server) = RedisServer::start() else { return };
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let mut instance = Instance::new(&server, RedisOptions::new().quorum(5)).await;
        calls.spawn(async move { instance.trip(0, 10 * SECOND).await.0 });
    }
    let reports = calls.join_all().await;
    let count = |wanted| reports.iter().filter(|report| **report == wanted).count();
    assert_eq!((count(Report::Noted), count(Report::Opened), count(Report::Late)), (4, 1, 15));
}

#[tokio::test]
async fn with_a_quorum_one_failed_probe_prolongs_nothing_for_others() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new().quorum(2)).await;
    one.trip(0, Duration::from_millis(1)).await;
    other.trip(0, Duration::from_millis(1)).await;
    until(async || one.look().await.circuit == Circuit::Due).await;
    for token in ["a", "b"] {
        assert_eq!(one.probe(token, 30 * SECOND).await, Turn::Yours);
        let (applied, known) = one.done(token, Verdict::Failed(10 * SECOND)).await;
        assert!(applied);
        assert_eq!(known.circuit, Circuit::Due, "another instance may probe at once");
    }
    assert_eq!(other.probe("c", 30 * SECOND).await, Turn::Yours);
    let (_, known) = other.done("c", Verdict::Failed(10 * SECOND)).await;
    assert!(left(known) > 5 * SECOND, "two say so");
}

#[tokio::test]
async fn a_recovery_voids_the_reports_from_before() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new().quorum(2)).await;
    one.trip(0, Duration::from_millis(1)).await;
    let (_, known) = other.trip(0, Duration::from_millis(1)).await;
    one.trip(known.epoch, Duration::from_millis(1)).await;
    until(async || one.look().await.circuit == Circuit::Due).await;
    assert_eq!(one.probe("a", 30 * SECOND).await, Turn::Yours);
    let (_, known) = one.done("a", Verdict::Recovered).await;
    assert_eq!(other.trip(known.epoch, SECOND).await.0, Report::Noted);
}

#[tokio::test]
async fn scripts_that_the_server_forgot_are_sent_again() {
    let Some(server) = RedisServer::start() else { return };
    let mut one = Instance::new(&server, RedisOptions::new()).await;
    one.due().await;
    server.command::<()>(&["SCRIPT", "FLUSH"]);
    assert_eq!(one.probe("a", 30 * SECOND).await, Turn::Yours);
    server.command::<()>(&["SCRIPT", "FLUSH"]);
    assert!(one.done("a", Verdict::Released).await.0);
    assert_eq!(one.probe("b", 30 * SECOND).await, Turn::Yours);
    assert!(matches!(one.probe("c", SECOND).await, Turn::Wait(_)));
    assert_eq!(
        calls(&server, "eval"),
        4,
        "trip, and probe, done, probe after they were forgotten; not the last"
    );
}

fn calls(server: &RedisServer, command: &str) -> u64 {
    let stats: String = server.command(&["INFO", "commandstats"]);
    let start = format!("cmdstat_{command}:calls=");
    let count = stats.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or("0");
    count.split(',').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn an_epoch_after_a_flush_is_later_than_all_before_it() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new()).await;
    let (_, before) = one.trip(0, 10 * SECOND).await;
    server.command::<()>(&["FLUSHALL"]);
    sleep(Duration::from_millis(5)).await; // Epochs are milliseconds.
    assert_eq!(one.look().await, Known { epoch: 0, circuit: Circuit::Closed });
    let (first, known) = one.trip(before.epoch, 10 * SECOND).await;
    let (second, _) = other.trip(before.epoch, 10 * SECOND).await;
    assert!(known.epoch > before.epoch);
    assert_eq!((first, second), (Report::Opened, Report::Late), "it still opens only once");
}

#[tokio::test]
async fn nothing_is_kept_for_ever() {
    let Some(server) = RedisServer::start() else { return };
    let (mut one, mut other) = two(&server, RedisOptions::new().quorum(2)).await;
    let expires = |name: &str| server.command::<i64>(&["PTTL", name]) > 0;
    one.trip(0, Duration::from_millis(1)).await;
    assert!(expires(&one.names.reporters));
    other.trip(0, Duration::from_millis(1)).await;
    assert!(expires(&one.names.state));
    until(async || one.look().await.circuit == Circuit::Due).await;
    one.probe("a", SECOND).await;
    assert!(expires(&one.names.lease) && expires(&one.names.state));
    one.done("a", Verdict::Recovered).await;
    assert!(expires(&one.names.state));
    let names: Vec<String> = server.command(&["KEYS", "*"]);
    assert_eq!(names, [one.names.state.clone()]);
}

#[tokio::test]
async fn looking_shows_what_scripts_say() {
    let Some(server) = RedisServer::start() else { return };
    let mut one = Instance::new(&server, RedisOptions::new()).await;
    let unknown = Names::new("test", &BreakerKey::new("another", "model"));
    let (_, tripped) = one.trip(0, 30 * SECOND).await;
    let both = look(&mut one.connection, [&unknown, &one.names].into_iter()).await.unwrap();
    assert_eq!(both[0], Known { epoch: 0, circuit: Circuit::Closed });
    assert_eq!(both[1].epoch, tripped.epoch);
    assert!(left(both[1]) > 20 * SECOND && left(both[1]) <= left(tripped));
    assert!(look(&mut one.connection, std::iter::empty()).await.unwrap().is_empty());
}

async fn two(server: &RedisServer, options: RedisOptions) -> (Instance, Instance) {
    let one = Instance::new(server, options.clone().instance("one")).await;
    (one, Instance::new(server, options.instance("other")).await)
}
