//! A chain as seen from outside, for health pages and tests.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{inner::Inner, member::Member, slot::Slot};
use crate::{breaker, budget::BudgetSnapshot, error::FailureKind, target::TargetId};

/// A chain at one moment. Taking it changes nothing. Holds no key and no text.
///
/// ```
/// use backstop_core::Chain;
///
/// fn is_healthy(chain: &Chain) -> bool {
///     chain.snapshot().targets.iter().any(|target| target.available)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChainSnapshot {
    /// Its targets, in order.
    pub targets: Vec<TargetSnapshot>,
}

/// A target of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TargetSnapshot {
    /// Its name.
    pub target: TargetId,
    /// False if it was switched off.
    pub enabled: bool,
    /// Whether an attempt would be admitted now, by the switch, gates, latches and breakers.
    pub available: bool,
    /// Attempts under way.
    pub in_flight: usize,
    /// The most that ever were under way at once.
    pub most_in_flight: usize,
    /// Calls that wait for a place.
    pub queued: usize,
    /// How many attempts may be under way at once, if that is limited.
    pub max_in_flight: Option<usize>,
    /// The timeout of an attempt of a call without a task that began now.
    pub timeout: Duration,
    /// What stands behind it: one, or the members of a pool.
    pub members: Vec<MemberSnapshot>,
}

/// One provider behind a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MemberSnapshot {
    /// Attempts of this chain under way.
    pub in_flight: usize,
    /// For how long a rate limit or an empty account keeps it away yet.
    pub closed_for: Option<Duration>,
    /// What its credential was rejected for.
    pub latched: Option<FailureKind>,
    /// Its breaker.
    pub breaker: breaker::Snapshot,
    /// Its retry budget.
    pub budget: BudgetSnapshot,
}

impl Inner {
    pub(crate) fn snapshot(&self) -> ChainSnapshot {
        ChainSnapshot { targets: self.slots.iter().map(Slot::snapshot).collect() }
    }
}

impl Slot {
    fn snapshot(&self) -> TargetSnapshot {
        let now = self.now();
        TargetSnapshot {
            target: self.id.clone(),
            enabled: self.is_on(),
            available: self.is_on() && self.admits(now).is_ok(),
            in_flight: self.load.now(),
            most_in_flight: self.load.most(),
            queued: self.bulkhead.as_ref().map_or(0, |bulkhead| bulkhead.waiting()),
            max_in_flight: self.bulkhead.as_ref().map(|bulkhead| bulkhead.size()),
            timeout: self.timeout(None).0,
            members: self.members.iter().map(|member| member.snapshot(now, self)).collect(),
        }
    }
}

impl Member {
    fn snapshot(&self, now: Instant, slot: &Slot) -> MemberSnapshot {
        let load = if slot.members.len() > 1 { &self.load } else { &slot.load };
        let (closed_for, latched) = self.credential(now);
        MemberSnapshot {
            in_flight: load.now(),
            closed_for,
            latched,
            breaker: self.breaker.snapshot(),
            budget: self.budget.snapshot(),
        }
    }
}
