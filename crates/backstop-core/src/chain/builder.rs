//! Puts a chain together and finds what cannot work.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use super::{call::Chain, hedge::Hedge, inner::Inner, order::Canary, slot::Slot};
use crate::{
    check::Check,
    error::ConfigError,
    human::Human,
    observer::{Observer, Observers},
    policy::FailurePolicy,
    quality::QualityWindows,
    reask::Reask,
    registry::Registry,
    target::Target,
};

/// Most time for a call that names no deadline.
const DEADLINE_CAP: Duration = Duration::from_secs(120);
/// Share of the time left that each target still to come is sure of.
const KEPT_SHARE: f64 = 0.25;

/// Builds a [`Chain`].
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | deadline | sum of the targets' timeouts, at most 120 s | nobody waits longer, and no target is cut off below that |
/// | policy | [`FailurePolicy::default`] | |
/// | longest Retry-After that is waited for | 2 s | beyond it the next target answers sooner |
/// | kept for each target to come | 25 % of the time left, at most its timeout | see [`keep_time`](Self::keep_time) |
/// | breakers, retry budgets | a registry of its own | see [`Registry`] |
/// | quality windows, hedging, canary | off | they cost calls, or answers that were asked for |
///
/// ```
/// use std::time::Duration;
/// use backstop_core::{Chain, ConfigError, FailurePolicy, Hedge, Provider, ProviderExt, Registry};
///
/// fn build(first: impl Provider, second: impl Provider, shared: &Registry) -> Result<Chain, ConfigError> {
///     Chain::builder()
///         .target(first.model("large").timeout(Duration::from_secs(20)))
///         .target(second.model("small"))
///         .deadline(Duration::from_secs(30))
///         .hedge(Hedge::after(Duration::from_secs(6)))
///         .policy(FailurePolicy::keep_serving())
///         .breakers(shared)
///         .build()
/// }
/// ```
#[derive(Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ChainBuilder {
    targets: Vec<Target>,
    checks: Vec<Arc<dyn Check>>,
    policy: FailurePolicy,
    reask: Reask,
    deadline: Option<Duration>,
    max_retry_after: Option<Duration>,
    kept_share: Option<f64>,
    hedge: Option<Hedge>,
    canary: Option<(Cow<'static, str>, f64)>,
    quality: QualityWindows,
    registry: Option<Registry>,
    observers: Vec<Arc<dyn Observer>>,
    seed: Option<u64>,
}

impl Chain {
    /// Begins a chain.
    pub fn builder() -> ChainBuilder {
        ChainBuilder::default()
    }
}

impl ChainBuilder {
    /// Adds a target: a provider with one of its models, `provider.model("…")`. They are tried in the order of being
    /// added.
    pub fn target(mut self, target: Target) -> Self {
        self.targets.push(target);
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

    /// How a model is told that its answer cannot be used. Default: [`Reask::default`].
    pub fn reask(mut self, reask: Reask) -> Self {
        self.reask = reask;
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

    /// Keeps time for the targets still to come: for each its timeout, but no more than this share of the time left
    /// when a target is asked first, and for none more than an equal part. Only targets count that could be asked
    /// then: an open breaker is kept no time. Default 0.25; 0 lets the first target use up the deadline.
    ///
    /// A quarter leaves the first of two targets three quarters of the deadline, and the second still enough to
    /// answer in. It makes a difference only where the deadline is shorter than the targets' timeouts together. A
    /// retry whose wait does not leave that time is not made.
    pub fn keep_time(mut self, share: f64) -> Self {
        self.kept_share = Some(share);
        self
    }

    /// Asks the next target beside one that takes long; the first valid answer wins, and the other attempt is
    /// cancelled. Default: off. It pays with requests for less waiting, within the retry budget of the provider
    /// that is asked in addition. Never beside or as a breaker's probe.
    pub fn hedge(mut self, hedge: Hedge) -> Self {
        self.hedge = Some(hedge);
        self
    }

    /// Lets a share of the calls, from 0 to 1, begin at this target instead of the first, to see how it does before
    /// it is made the first. If it fails, the others follow in their order. Default: none. Which calls it are
    /// follows from the [`seed`](Self::seed); reports say so. Calls that ask for one target only are left alone.
    pub fn canary(mut self, target: impl Into<Cow<'static, str>>, share: f64) -> Self {
        self.canary = Some((target.into(), share));
        self
    }

    /// Skips a target for a [task](crate::Call::task) that it keeps answering with what may not be used. One
    /// visit of a call to a target counts once, by how it ended: a re-ask that helped is no failure. Calls without
    /// a task count as one task. Default: off.
    pub fn quality(mut self, windows: QualityWindows) -> Self {
        self.quality = windows;
        self
    }

    /// Shares breakers, gates, latches and retry budgets with the other chains that are given the same registry, and
    /// sets how breakers behave. Default: a registry of the chain's own with default breakers.
    pub fn breakers(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// Adds an observer.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Makes jitter, call ids and the choice of canary calls repeatable, for tests. Default: random.
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
            return Err(ConfigError::setting(
                "deadline",
                "is 0 s, so that no call could ever succeed: give it seconds",
            ));
        }
        let kept_share = self.kept_share.unwrap_or(KEPT_SHARE);
        if !(0.0..=1.0).contains(&kept_share) {
            return Err(ConfigError::setting("keep_time", format!("is {kept_share}: give it 0 to 1")));
        }
        if let Some(why) = self.hedge.as_ref().and_then(Hedge::wrong) {
            return Err(ConfigError::setting("hedge", why));
        }
        self.policy.check()?;
        self.checks.iter().try_for_each(|check| check.ready())?;
        let timeouts = self.targets.iter().map(Target::longest_timeout);
        let all = timeouts.fold(Duration::ZERO, Duration::saturating_add);
        let registry = self.registry.unwrap_or_default();
        registry.check()?;
        let watched = self.hedge.as_ref().is_some_and(Hedge::watches);
        let mut slots: Vec<Slot> = Vec::with_capacity(self.targets.len());
        for target in self.targets {
            target.validate()?;
            let name = target.id();
            if slots.iter().any(|slot| slot.id == name) {
                return Err(ConfigError::DuplicateTarget { name: name.to_string() });
            }
            let slot = Slot::new(target, &registry, watched);
            warn_of_long_probes(&slot);
            slots.push(slot);
        }
        let canary = self.canary.map(|(name, share)| Canary::find(&slots, &name, share)).transpose()?;
        Ok(Chain::new(Inner {
            slots,
            checks: self.checks,
            policy: self.policy,
            reask: self.reask,
            deadline: self.deadline.unwrap_or_else(|| all.min(DEADLINE_CAP)),
            kept_share,
            max_retry_after: self.max_retry_after.unwrap_or(Duration::from_secs(2)),
            hedge: self.hedge,
            canary,
            quality: self.quality,
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

/// A probe may hang for the whole timeout: one that is no shorter than the cooldown halves how often a target that is
/// down is looked at.
fn warn_of_long_probes(slot: &Slot) {
    let cooldown = slot.members.iter().map(|member| member.breaker.config().cooldown()).min();
    if let Some(cooldown) = cooldown.filter(|cooldown| slot.target.timeout >= *cooldown) {
        tracing::warn!(
            target: "backstop", target_id = %slot.id,
            "the timeout of {} is not below the breaker's cooldown of {}: shorten one or lengthen the other",
            Human(slot.target.timeout), Human(cooldown)
        );
    }
}
