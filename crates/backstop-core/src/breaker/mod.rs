//! The circuit breaker: remembers that a provider is down, so that calls go elsewhere at once instead of finding
//! out one by one.
//!
//! ```text
//!                 5 failures in a row, or half of 60 s' calls (>= 10)
//!      +--------+ ------------------------------------------------> +------+
//!      | closed |                                                   | open |
//!      +--------+                                                   +------+
//!           ^                                                        |    ^
//!           | a probe succeeds      +-----------+     cooldown over, |    | a probe fails
//!           +---------------------- | half-open | <------------------+    | (the cooldown grows)
//!                                   +-----------+     a call comes        |
//!                                         +-------------------------------+
//! ```
//!
//! - One [`Permit`] per attempt. Dropping it counts as nothing and frees a probe's place at once.
//! - [`Outcome`]s, not a boolean: only `Success`, `Failure` and `NoAnswer` count; the caller's own mistakes and
//!   "slow down" say nothing about the provider's health.
//! - Every transition begins an *epoch*. A verdict on a call of an earlier epoch changes nothing: a late success
//!   of a call from before the outage does not close the circuit, a late failure does not open it.
//! - At cooldown's end as many calls as configured become probes, whatever the number of threads. Each probe has
//!   a *lease*: one that hangs loses its place to the next call. No state lasts for ever without a manual action.
//! - Cooldowns grow while the circuit flaps, have a cap, and are jittered upward only, so a promised `retry_in`
//!   never lies early.
//! - A closed circuit admits, and an open one rejects, without a lock.
//!
//! ```
//! use backstop_core::breaker::{Breaker, BreakerKey, Outcome};
//! use backstop_core::clock::ManualClock;
//! use std::time::Duration;
//!
//! let clock = ManualClock::new();
//! let breaker = Breaker::builder(BreakerKey::new("openai", "gpt-4o")).clock(clock.clone()).build();
//! for _ in 0..5 {
//!     breaker.try_acquire()?.settle(Outcome::FAILURE);
//! }
//! let rejected = breaker.try_acquire().unwrap_err();
//!
//! clock.advance(rejected.retry_in.unwrap_or(Duration::ZERO));
//! let probe = breaker.try_acquire()?;
//! assert!(probe.is_probe());
//! assert!(breaker.try_acquire().is_err(), "one probe at a time");
//! probe.settle(Outcome::Success);
//! assert!(breaker.try_acquire().is_ok());
//! # Ok::<(), backstop_core::breaker::Rejected>(())
//! ```

mod circuit;
mod config;
mod config_error;
mod evidence;
mod key;
mod listeners;
mod machine;
mod mirror;
mod outcome;
mod permit;
mod probes;
mod shared;
mod snapshot;
mod sync;
mod transition;
mod window;

pub use circuit::{Breaker, BreakerBuilder};
pub use config::{BreakerConfig, BreakerConfigBuilder};
pub use config_error::BreakerConfigError;
pub use evidence::Evidence;
pub use key::BreakerKey;
pub(crate) use listeners::Listeners;
pub use listeners::Subscription;
pub use outcome::{Outcome, RejectReason, Rejected};
pub use permit::Permit;
pub use shared::{Admission, LeaseAnswer, LeaseRequest, LeaseToken, LeaseVerdict, SharedState, SharedStatus};
pub use snapshot::{Snapshot, WindowCounts};
pub use transition::{Reason, State, Transition};
