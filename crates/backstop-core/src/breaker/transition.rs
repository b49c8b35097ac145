//! What a breaker reports when its state changes.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::{BreakerKey, Evidence};

/// The state of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// Calls go through, results are counted.
    Closed,
    /// Calls are turned away until the cooldown is over.
    Open,
    /// A few probes go through; they decide.
    HalfOpen,
    /// Held open by hand.
    ForcedOpen,
    /// Held closed by hand; results are not counted.
    ForcedClosed,
}

impl State {
    /// The state as a metric label: `closed`, `open`, `half_open`, `forced_open`, `forced_closed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::ForcedOpen => "forced_open",
            Self::ForcedClosed => "forced_closed",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a circuit changed its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// So many failures in a row.
    Consecutive {
        /// How many.
        failures: u32,
    },
    /// The share of failures in the window reached its limit.
    FailureRate {
        /// Failures in the window.
        failed: u32,
        /// Calls in the window.
        calls: u32,
    },
    /// The share of slow calls in the window reached its limit.
    SlowCalls {
        /// Slow calls in the window.
        slow: u32,
        /// Calls in the window.
        calls: u32,
    },
    /// A probe failed.
    ProbeFailed,
    /// A probe succeeded, but took as long as a slow call.
    ProbeSlow,
    /// The cooldown ended and a call came to probe.
    CooldownOver,
    /// Enough probes succeeded.
    Recovered {
        /// How many.
        successes: u32,
    },
    /// Another process found the provider down.
    Shared,
    /// `force_open` was called.
    ForcedOpen,
    /// `force_closed` was called.
    ForcedClosed,
    /// `reset` was called.
    Reset,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Consecutive { failures } => write!(f, "{failures} failures in a row"),
            Self::FailureRate { failed, calls } => write!(f, "{failed} of {calls} calls failed"),
            Self::SlowCalls { slow, calls } => write!(f, "{slow} of {calls} calls were slow"),
            Self::ProbeFailed => f.write_str("the probe failed"),
            Self::ProbeSlow => f.write_str("the probe was slow"),
            Self::CooldownOver => f.write_str("the cooldown is over"),
            Self::Recovered { successes: 1 } => f.write_str("the probe succeeded"),
            Self::Recovered { successes } => write!(f, "{successes} probes succeeded"),
            Self::Shared => f.write_str("another process found it down"),
            Self::ForcedOpen => f.write_str("opened by hand"),
            Self::ForcedClosed => f.write_str("closed by hand"),
            Self::Reset => f.write_str("reset by hand"),
        }
    }
}

/// One change of state. Its `Display` is a line for the log:
/// `openai/gpt-4o: closed -> open for 45s: 5 failures in a row (epoch 2)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Transition {
    /// The breaker.
    pub key: BreakerKey,
    /// The state before.
    pub from: State,
    /// The state now.
    pub to: State,
    /// Counts the transitions of a breaker without a gap, starting with 2: permits of a smaller epoch are stale.
    pub epoch: u64,
    /// Why.
    pub reason: Reason,
    /// For how long calls will be turned away, if the circuit opened.
    pub cooldown: Option<Duration>,
    /// What the circuit opened on, if this process found the outage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.key, self.from, self.to)?;
        if let Some(cooldown) = self.cooldown {
            write!(f, " for {cooldown:.1?}")?;
        }
        write!(f, ": {} (epoch {})", self.reason, self.epoch)
    }
}

/// A transition as the machine knows it, before the breaker puts its key to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) from: State,
    pub(super) to: State,
    pub(super) epoch: u64,
    pub(super) reason: Reason,
    pub(super) cooldown: Option<u64>,
    pub(super) evidence: Option<Evidence>,
}

impl Change {
    pub(super) fn of(self, key: &BreakerKey) -> Transition {
        Transition {
            key: key.clone(),
            from: self.from,
            to: self.to,
            epoch: self.epoch,
            reason: self.reason,
            cooldown: self.cooldown.map(Duration::from_nanos),
            evidence: self.evidence,
        }
    }
}
