//! Circuit breakers that several processes share through Redis.
//!
//! Two facts are shared, nothing else: *until when* a circuit is open, and *who* probes. One process that finds an
//! outage spares the others the same five failures, and at the end of a cooldown one of them asks, not all. What is
//! counted stays in each process.
//!
//! ```no_run
//! use backstop_core::registry::Registry;
//! use backstop_redis::{RedisOptions, RedisState};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let (shared, sync) = RedisState::connect("redis://localhost", RedisOptions::new())?;
//! let registry = Registry::builder().shared_state(shared).build();
//! tokio::spawn(sync.run());
//! // Chain::builder().breakers(&registry) …
//! # Ok(()) }
//! ```
//!
//! - **Local first.** A closed circuit never asks Redis, and an open one rejects without it. A call waits for Redis
//!   only when it is about to probe, [100 ms](RedisOptions::timeout) at most.
//! - **Redis is no dependency.** While it is down, slow or empty, each process decides as if it were alone: the cost
//!   is a probe per process. [`Snapshot::shared`](backstop_core::breaker::Snapshot::shared) shows it, and one
//!   warning is logged.
//! - **Its clock only.** Scripts read the server's time, and durations cross the wire; clocks of processes are never
//!   compared.
//! - **Distrust.** A report is capped, counts only if the provider itself answered with the failures, and with a
//!   [quorum](RedisOptions::quorum) only together with others. Another process's recovery closes no circuit: it
//!   makes this process probe within a second.
//! - **Nothing is spawned.** [`RedisSync::run`] is a future that you run; the Redis client has a task of its own for
//!   its connection, which ends with it.
//!
//! Needs Redis 5 or newer, or Valkey, as one node or behind Sentinel's or a cloud's single address. Nodes of a Redis
//! Cluster are not followed around; all names of one breaker are on one of them.

mod error;
mod names;
mod options;
mod outbox;
mod scripts;
mod state;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
mod sync;
mod watched;

pub use error::RedisStateError;
pub use options::RedisOptions;
/// The client that [`RedisState::with_client`] takes, in the version that this crate uses.
pub use redis as client;
pub use state::RedisState;
pub use sync::RedisSync;
