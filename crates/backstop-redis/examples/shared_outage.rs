//! Two processes that share their breakers through Redis: one finds an outage, the other never calls the dead
//! provider. Then the one that probes is killed, and the other takes over when its lease ends.
//!
//! ```text
//! cargo run -p backstop-redis --example shared_outage
//! ```
//!
//! Starts a `redis-server` of its own and starts itself once more. Without a `redis-server` it says so and ends.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)] // It is a program, and a test.

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use backstop_core::breaker::{BreakerConfig, BreakerKey, SharedStatus, Snapshot, State};
use backstop_core::registry::Registry;
use backstop_core::{Chain, FailureKind, ProviderExt, Stage};
use backstop_mock::{MockProvider, Step};
use backstop_redis::{RedisOptions, RedisState};
use support::RedisServer;
use tokio::time::sleep;

const COOLDOWN: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(3);
/// Tells a process that it is the child, and where Redis is.
const CHILD: &str = "SHARED_OUTAGE_REDIS";

pub(crate) fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match std::env::var(CHILD) {
        Ok(address) => runtime.block_on(child(&address)),
        Err(_) => runtime.block_on(parent()),
    }
}

/// An application: a chain of a provider and a fallback, with breakers in Redis.
struct Application {
    chain: Chain,
    registry: Registry,
    primary: MockProvider,
}

impl Application {
    async fn start(name: &'static str, address: &str, steps: Vec<Step>) -> Self {
        let options = RedisOptions::new().instance(name).poll_interval(Duration::from_millis(50));
        let (shared, sync) = RedisState::connect(address, options).expect("right settings");
        tokio::spawn(sync.run());

        let config = BreakerConfig::builder().consecutive_failures(2).cooldown(COOLDOWN).probe_lease(LEASE);
        let config = config.jitter(0.0).build().expect("right settings");
        let registry = Registry::builder().config(config).shared_state(shared).build();
        registry.subscribe(move |transition| println!("{name}: {transition}")).keep();

        let primary = MockProvider::new("primary", steps);
        let chain = Chain::builder()
            .target(primary.clone().model("m").retries(0).timeout(Duration::from_secs(60)))
            .target(MockProvider::new("fallback", [Step::text("fallback")]).model("m"))
            .breakers(&registry)
            .build()
            .expect("right settings");
        let application = Self { chain, registry, primary };
        until(|| application.breaker().shared == Some(SharedStatus::Connected)).await;
        application
    }

    /// A call, and who served it.
    async fn call(&self) -> String {
        self.chain.complete("hello").await.expect("the fallback is up").value
    }

    fn breaker(&self) -> Snapshot {
        self.registry.breaker(&BreakerKey::new("primary", "m")).snapshot()
    }
}

/// Finds the outage, and then hangs in its probe.
async fn child(address: &str) {
    let overloaded = || Step::fail(FailureKind::Overloaded);
    let steps = vec![overloaded(), overloaded(), Step::hang(Stage::Headers)];
    let application = Application::start("child ", address, steps).await;
    println!("child : calls a provider that answers 529");
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(60) {
        application.call().await;
        sleep(Duration::from_millis(20)).await;
    }
}

async fn parent() {
    let Some(redis) = RedisServer::start() else { return };
    println!("parent: redis-server runs at port {}", redis.port());
    let application = Application::start("parent", &redis.address(), vec![Step::text("primary")]).await;
    let child = Killed(start_child(&redis.address()));

    until(|| application.breaker().state == State::Open).await;
    for _ in 0..10 {
        assert_eq!(application.call().await, "fallback");
    }
    assert_eq!(application.primary.calls(), 0);
    println!("parent: 10 calls, all served by the fallback; it asked the dead provider 0 times");

    let lease = "backstop:{primary|m}:lease";
    let leased = || redis.command::<bool>(&["EXISTS", lease]);
    until(leased).await;
    until(|| application.breaker().probe_in == Some(Duration::ZERO)).await;
    assert_eq!(application.call().await, "fallback");
    assert_eq!(application.primary.calls(), 0);
    println!("parent: the cooldown is over, but the child probes: served by the fallback");

    drop(child);
    let killed = Instant::now();
    assert!(leased(), "a process that is killed gives nothing back");
    println!("parent: killed the child with SIGKILL while it probed");
    let mut waited = 0;
    while application.call().await == "fallback" {
        waited += 1;
        assert!(killed.elapsed() < Duration::from_secs(30), "the lease must end by itself");
        sleep(Duration::from_millis(20)).await;
    }
    assert!(waited > 0, "not before the lease has ended");
    assert_eq!(application.primary.calls(), 1);
    assert_eq!(application.breaker().state, State::Closed);
    println!(
        "parent: {waited} calls went to the fallback until the lease ended; {:.1} s after the kill, its own probe \
         found the provider up",
        killed.elapsed().as_secs_f64()
    );
}

fn start_child(address: &str) -> Child {
    let program = std::env::current_exe().expect("a path");
    Command::new(program).env(CHILD, address).stdin(Stdio::null()).spawn().expect("a second process")
}

/// A process that is killed (SIGKILL on Unix) when this is dropped, also by a failed assertion.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn until(holds: impl Fn() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(30), "it did not come to that within 30 s");
        sleep(Duration::from_millis(5)).await;
    }
}
