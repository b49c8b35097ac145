//! Puts a chain together and finds what cannot work.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use super::{call::Chain, slot::Slot};
use crate::{
    check::Check,
    error::ConfigError,
    observer::{Observer, Observers},
    policy::FailurePolicy,
    registry::Registry,
    target::Target,
};

/// Most time for a call that names no deadline.
const DEADLINE_CAP: Duration = Duration::from_secs(120);

/// What all calls of a chain share.
pub(crate) struct Inner {
    pub(crate) slots: Vec<Slot>,
    pub(crate) checks: Vec<Arc<dyn Check>>,
    pub(crate) policy: FailurePolicy,
    pub(crate) deadline: Duration,
    pub(crate) max_retry_after: Duration,
    pub(crate) observers: Observers,
    pub(crate) seed: u64,
    pub(crate) calls: AtomicU64,
}

/// Builds a [`Chain`].
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | deadline | sum of the targets' timeouts, at most 120 s | nobody waits longer, and no target is cut off below that |
/// | policy | [`FailurePolicy::default`] | |
/// | longest Retry-After that is waited for | 2 s | beyond it the next target answers sooner |
/// | breakers | a registry of its own | see [`Registry`] |
#[derive(Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ChainBuilder {
    targets: Vec<Target>,
    checks: Vec<Arc<dyn Check>>,
    policy: FailurePolicy,
    deadline: Option<Duration>,
    max_retry_after: Option<Duration>,
    registry: Option<Registry>,
    observers: Vec<Arc<dyn Observer>>,
    seed: Option<u64>,
}

impl ChainBuilder {
    /// Adds a target. They are tried in the order of being added.
    pub fn target(mut self, target: impl Into<Target>) -> Self {
        self.targets.push(target.into());
        self
    }

    /// Adds a check that every answer of every call must pass, before the call's own validator.
    pub fn check(mut self, check: impl Check) -> Self {
        self.checks.push(Arc::new(check));
        self
    }

    /// What failures lead to.
    pub fn policy(mut self, policy: FailurePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Most time for a whole call, from its first poll. A call can only ask for less.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Longest Retry-After that is waited for on the same target. Default 2 s.
    pub fn max_retry_after(mut self, wait: Duration) -> Self {
        self.max_retry_after = Some(wait);
        self
    }

    /// Shares breakers, gates and latches with the other chains that are given the same registry, and sets how
    /// breakers behave. Default: a registry of the chain's own with default breakers.
    pub fn breakers(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Adds an observer.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Makes jitter and call ids repeatable, for tests. Default: random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Builds the chain.
    ///
    /// # Errors
    /// There is no target, or a setting cannot work; the error says which and why.
    pub fn build(self) -> Result<Chain, ConfigError> {
        if self.targets.is_empty() {
            return Err(ConfigError::NoTargets);
        }
        if self.deadline.is_some_and(|deadline| deadline.is_zero()) {
            return Err(ConfigError::setting("deadline", "is 0 s: no call could ever succeed"));
        }
        let all =
            self.targets.iter().map(|target| target.timeout).fold(Duration::ZERO, Duration::saturating_add);
        let registry = self.registry.unwrap_or_default();
        let mut slots: Vec<Slot> = Vec::with_capacity(self.targets.len());
        for target in self.targets {
            target.validate()?;
            slots.push(Slot::new(target, &registry));
        }
        Ok(Chain::new(Inner {
            slots,
            checks: self.checks,
            policy: self.policy,
            deadline: self.deadline.unwrap_or_else(|| all.min(DEADLINE_CAP)),
            max_retry_after: self.max_retry_after.unwrap_or(Duration::from_secs(2)),
            observers: Observers::new(self.observers),
            seed: self.seed.unwrap_or_else(|| fastrand::u64(..)),
            calls: AtomicU64::new(0),
        }))
    }
}

impl fmt::Debug for ChainBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainBuilder").field("targets", &self.targets).finish_non_exhaustive()
    }
}
