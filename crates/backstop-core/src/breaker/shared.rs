//! State that several processes share: only *until when* a circuit is open and *who* probes. What is counted stays
//! local.
//!
//! A breaker never waits for a store. Where the processes have to agree, which is just before a probe, the machine
//! answers [`Admission::NeedsLease`], and the caller asks outside of every lock. The lease saves the provider from
//! one probe per process; it is no safety property, so a store that is slow, empty or gone costs a few probes more
//! and nothing else.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::Serialize;

use super::{Breaker, BreakerKey, Permit, Rejected, Transition};

/// A store that processes share, such as Redis.
#[async_trait]
pub trait SharedState: Send + Sync + 'static {
    /// A breaker that shares its state through this was built. Hold it weakly, to tell it later what other
    /// processes found ([`Breaker::shared_open`], [`Breaker::shared_close`]); call none of its methods from in here,
    /// for its registry is locked. By default nothing is done.
    fn attached(&self, breaker: &Arc<Breaker>) {
        let _ = breaker;
    }

    /// Asks for the right to probe. Must answer within a short time of its own (50 to 100 ms) and say
    /// [`LeaseAnswer::Unknown`] if the store does not.
    async fn lease(&self, key: &BreakerKey, token: LeaseToken, lease: Duration) -> LeaseAnswer;

    /// A local transition. Called outside the lock, in order, on a call's own task: it must queue and return.
    fn changed(&self, transition: &Transition);

    /// A lease is no longer needed. Called like [`changed`](Self::changed). A verdict for a lease that is no longer
    /// `token`'s must be ignored.
    fn settled(&self, key: &BreakerKey, token: LeaseToken, verdict: LeaseVerdict);

    /// Whether the store can be reached, as [`Snapshot::shared`](super::Snapshot::shared) shows it. By default it is
    /// said to be.
    fn status(&self) -> SharedStatus {
        SharedStatus::Connected
    }
}

/// How a breaker stands with the store that it shares its state through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SharedStatus {
    /// What other processes found is known here, and the other way round.
    Connected,
    /// The store is down, slow, or not listened to: each process decides for itself.
    Degraded,
}

/// Names one request for a lease, so that a late verdict cannot speak for somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseToken(u64);

impl LeaseToken {
    pub(super) fn new(value: u64) -> Self {
        Self(value)
    }
}

impl fmt::Display for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What the store says to a process that wants to probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseAnswer {
    /// This process probes.
    Granted,
    /// Another one does, or the shared cooldown is not over: come back after `wait`.
    Refused {
        /// How long that takes.
        wait: Duration,
    },
    /// The store knows of no outage, or does not answer: decide locally.
    Unknown,
}

/// How a lease ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseVerdict {
    /// The probes succeeded.
    Recovered,
    /// A probe failed, by an answer of the provider's.
    Failed {
        /// For how long this process will not probe again.
        cooldown: Duration,
    },
    /// Nothing was learnt that concerns others, so another process may probe at once: the probe was cancelled or
    /// lost, or it failed on [`Evidence::Local`](super::Evidence::Local).
    Released,
}

/// The answer to a call that wants to be admitted by a breaker with shared state.
#[derive(Debug)]
#[non_exhaustive]
pub enum Admission {
    /// Go ahead.
    Admitted(Permit),
    /// Do not.
    Rejected(Rejected),
    /// A probe is due: [`ask`](LeaseRequest::ask) the store first.
    NeedsLease(LeaseRequest),
}

/// Where a caller of the machine stands with regard to shared state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// There is none, or it cannot be reached.
    Alone,
    /// There is one, not yet asked.
    Ask,
    /// It has granted a lease to who asked in that epoch.
    Leased { token: LeaseToken, epoch: u64 },
}

/// A call that may probe if the store agrees. Dropping it gives a lease that it may have got back.
#[must_use]
pub struct LeaseRequest {
    breaker: Arc<Breaker>,
    shared: Arc<dyn SharedState>,
    token: LeaseToken,
    epoch: u64,
    open: bool,
}

impl LeaseRequest {
    pub(super) fn new(
        breaker: Arc<Breaker>,
        shared: Arc<dyn SharedState>,
        token: LeaseToken,
        epoch: u64,
    ) -> Self {
        Self { breaker, shared, token, epoch, open: true }
    }

    /// The token to ask with.
    pub fn token(&self) -> LeaseToken {
        self.token
    }

    /// Asks the store and acts on its answer. Dropping the future asks for nothing and holds nothing.
    ///
    /// # Errors
    /// If another process probes, or the state has moved on meanwhile.
    pub async fn ask(self) -> Result<Permit, Rejected> {
        let answer = self.shared.lease(self.breaker.key(), self.token, self.breaker.probe_lease()).await;
        let now = self.breaker.now();
        self.answer_at(answer, now)
    }

    /// Acts on the store's answer, for callers that ask it themselves.
    ///
    /// # Errors
    /// If another process probes, or the state has moved on meanwhile.
    pub fn answer_at(mut self, answer: LeaseAnswer, now: Instant) -> Result<Permit, Rejected> {
        self.open = answer == LeaseAnswer::Granted;
        match answer {
            LeaseAnswer::Granted => {
                let standing = Standing::Leased { token: self.token, epoch: self.epoch };
                let (result, serves) = self.breaker.acquire_leased(now, standing, self.token);
                // If the lease came to nothing, dropping `self` gives it back.
                self.open = !serves;
                result
            }
            LeaseAnswer::Refused { wait } => self.breaker.lease_refused(self.epoch, wait, now),
            LeaseAnswer::Unknown => self.breaker.try_acquire_at(now),
        }
    }
}

impl Drop for LeaseRequest {
    fn drop(&mut self) {
        if self.open {
            let give_back = || self.shared.settled(self.breaker.key(), self.token, LeaseVerdict::Released);
            // A store's panic must not become an abort in a drop during another panic.
            let _ = catch_unwind(AssertUnwindSafe(give_back));
        }
    }
}

impl fmt::Debug for LeaseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseRequest").field("key", self.breaker.key()).field("token", &self.token).finish()
    }
}
