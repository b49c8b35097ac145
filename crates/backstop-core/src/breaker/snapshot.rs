//! A breaker as seen from outside.

use std::time::Duration;

use serde::Serialize;

use super::{BreakerKey, Reason, SharedStatus, State};

/// A breaker at one moment. Taking it changes nothing: a circuit whose cooldown is over shows as open with
/// `probe_in` zero until a call comes to probe. Holds no error text and nothing secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The breaker.
    pub key: BreakerKey,
    /// Its state.
    pub state: State,
    /// Counts the transitions, starting with 1.
    pub epoch: u64,
    /// For how long it has been in this state.
    pub since: Duration,
    /// Why it came into this state; `None` if it never changed.
    pub reason: Option<Reason>,
    /// How many times it opened without being closed for long in between: how far the cooldown has grown.
    pub trips: u32,
    /// Open or half-open: when the next probe can start. Zero means with the next call.
    pub probe_in: Option<Duration>,
    /// Probes under way.
    pub probes_in_flight: usize,
    /// Probes that succeeded in this half-open phase.
    pub probe_successes: u32,
    /// The calls that rates are about.
    pub window: WindowCounts,
    /// Failures in a row.
    pub consecutive: u32,
    /// For how long a `Throttled` outcome turns calls away yet.
    pub throttled_for: Option<Duration>,
    /// Calls turned away, since the breaker exists.
    pub rejected_total: u64,
    /// Verdicts that came too late to count: the state had changed since their call was admitted.
    pub stale_total: u64,
    /// Probes that were not heard of within their lease.
    pub lost_probe_total: u64,
    /// How it stands with the store that it shares its state through; `None` if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedStatus>,
}

/// What a breaker's sliding window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WindowCounts {
    /// Calls with a verdict.
    pub calls: u32,
    /// Those that failed.
    pub failed: u32,
    /// Those that were slow; always 0 unless slow calls are watched.
    pub slow: u32,
}
