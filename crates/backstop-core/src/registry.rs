//! What is remembered of providers and credentials, in one place that several chains may share.
//!
//! | what | per | after |
//! | --- | --- | --- |
//! | [`Breaker`] | provider instance and group | an outage |
//! | [`Gate`] | provider instance, credential and model | a rate limit |
//! | [`Credential`]: gate and latch | provider instance and credential | an exhausted account, a bad key |
//! | [retry budget](crate::budget) | provider instance | retries |
//!
//! A chain looks its own up once, when it is built, and holds them.

pub(crate) mod bounded;

use std::fmt;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use crate::breaker::{
    Breaker, BreakerConfig, BreakerKey, Listeners, SharedState, Snapshot, Subscription, Transition,
};
use crate::budget::{BudgetConfig, BudgetSnapshot, RetryBudget};
use crate::clock::{Clock, TokioClock};
use crate::error::{ConfigError, FailureKind};
use crate::gate::{Gate, Latch};
use crate::provider::CredentialId;
use bounded::Bounded;

/// A credential at a provider instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct CredentialKey {
    /// The provider instance: adapter and base URL.
    pub provider: Arc<str>,
    /// Which credential.
    #[serde(serialize_with = "hex")]
    pub credential: CredentialId,
}

/// As text, for not every reader of JSON has 64-bit integers.
fn hex<S: Serializer>(id: &CredentialId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{:016x}", id.0))
}

impl CredentialKey {
    /// A key of its parts.
    pub fn new(provider: impl Into<Arc<str>>, credential: CredentialId) -> Self {
        Self { provider: provider.into(), credential }
    }
}

/// A model as used with a credential: what rate limits are about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct GateKey {
    /// The credential.
    #[serde(flatten)]
    pub credential: CredentialKey,
    /// The model.
    pub model: Arc<str>,
}

impl GateKey {
    /// A key of its parts.
    pub fn new(credential: CredentialKey, model: impl Into<Arc<str>>) -> Self {
        Self { credential, model: model.into() }
    }
}

/// What is remembered of a credential as a whole.
#[derive(Debug)]
pub struct Credential {
    gate: Gate,
    latch: Latch,
}

impl Credential {
    /// Closed while the account is exhausted.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Set once the provider has rejected the credential.
    pub fn latch(&self) -> &Latch {
        &self.latch
    }
}

/// Breakers, gates, latches and retry budgets by key. Cloning it gives another handle to the same.
///
/// ```
/// use backstop_core::breaker::BreakerKey;
/// use backstop_core::registry::Registry;
/// use std::sync::Arc;
///
/// let registry = Registry::new();
/// let key = BreakerKey::new("openai@https://api.openai.com", "gpt-4o");
/// assert!(Arc::ptr_eq(&registry.breaker(&key), &registry.clone().breaker(&key)));
/// ```
#[derive(Clone)]
pub struct Registry {
    inner: Arc<Inner>,
}

struct Inner {
    config: BreakerConfig,
    clock: Arc<dyn Clock>,
    seed: Option<u64>,
    gate_cap: Duration,
    budget: BudgetConfig,
    listeners: Listeners,
    shared: Option<Arc<dyn SharedState>>,
    maps: Mutex<Maps>,
    unlisted: AtomicU64,
}

struct Maps {
    breakers: Bounded<BreakerKey, Breaker>,
    gates: Bounded<GateKey, Gate>,
    credentials: Bounded<CredentialKey, Credential>,
    budgets: Bounded<Arc<str>, RetryBudget>,
}

/// Builds a [`Registry`].
#[must_use]
pub struct RegistryBuilder {
    config: BreakerConfig,
    clock: Arc<dyn Clock>,
    seed: Option<u64>,
    gate_cap: Duration,
    budget: BudgetConfig,
    max_keys: usize,
    shared: Option<Arc<dyn SharedState>>,
}

impl RegistryBuilder {
    /// The settings of breakers that do not bring their own. Default [`BreakerConfig::default`].
    pub fn config(mut self, config: BreakerConfig) -> Self {
        self.config = config;
        self
    }

    /// The clock. Default [`TokioClock`].
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Makes all jitter repeatable.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The longest that a gate closes for. Default [`Gate::DEFAULT_CAP`].
    pub fn gate_cap(mut self, cap: Duration) -> Self {
        self.gate_cap = cap;
        self
    }

    /// How many retries a provider may be asked for. Default [`BudgetConfig::default`].
    pub fn retry_budget(mut self, budget: BudgetConfig) -> Self {
        self.budget = budget;
        self
    }

    /// How many breakers, gates, credentials and budgets are kept, of each. Default 1024. Keys come from configuration,
    /// so more than that are a mistake, such as a key per tenant. Beyond it a new key gets what it asks for, but
    /// neither shared nor listed.
    pub fn max_keys(mut self, most: usize) -> Self {
        self.max_keys = most;
        self
    }

    /// Shares the breakers' state with other processes.
    pub fn shared_state(mut self, shared: Arc<dyn SharedState>) -> Self {
        self.shared = Some(shared);
        self
    }

    /// The registry, empty. Every transition of its breakers is logged as a `WARN` event of the target `backstop`.
    pub fn build(self) -> Registry {
        let listeners = Listeners::default();
        listeners.subscribe(|transition| tracing::warn!(target: "backstop", "breaker {transition}")).keep();
        let maps = Maps {
            breakers: Bounded::new(self.max_keys),
            gates: Bounded::new(self.max_keys),
            credentials: Bounded::new(self.max_keys),
            budgets: Bounded::new(self.max_keys),
        };
        Registry {
            inner: Arc::new(Inner {
                config: self.config,
                clock: self.clock,
                seed: self.seed,
                gate_cap: self.gate_cap,
                budget: self.budget,
                listeners,
                shared: self.shared,
                maps: Mutex::new(maps),
                unlisted: AtomicU64::new(0),
            }),
        }
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Registry {
    /// A registry with the default settings.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Starts building one.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder {
            config: BreakerConfig::default(),
            clock: Arc::new(TokioClock),
            seed: None,
            gate_cap: Gate::DEFAULT_CAP,
            budget: BudgetConfig::default(),
            max_keys: 1024,
            shared: None,
        }
    }

    /// The breaker of a key, made with the registry's settings if there is none.
    pub fn breaker(&self, key: &BreakerKey) -> Arc<Breaker> {
        self.breaker_with(key, &self.inner.config)
    }

    /// The breaker of a key, made with these settings if there is none. One that exists keeps its own: compare
    /// [`Breaker::config`] to find out.
    pub fn breaker_with(&self, key: &BreakerKey, config: &BreakerConfig) -> Arc<Breaker> {
        let mut maps = self.maps();
        if let Some(breaker) = maps.breakers.get(key) {
            return Arc::clone(breaker);
        }
        let breaker = self.new_breaker(key, config);
        let listed = maps.breakers.insert(key.clone(), &breaker, Breaker::is_idle);
        self.note(listed);
        breaker
    }

    fn new_breaker(&self, key: &BreakerKey, config: &BreakerConfig) -> Arc<Breaker> {
        let inner = &self.inner;
        let mut builder = Breaker::builder(key.clone())
            .config(config.clone())
            .clock(Arc::clone(&inner.clock))
            .listeners(inner.listeners.clone());
        if let Some(seed) = inner.seed {
            builder = builder.seed(seed);
        }
        if let Some(shared) = &inner.shared {
            builder = builder.shared_state(Arc::clone(shared));
        }
        builder.build()
    }

    /// The gate of a model as used with a credential.
    pub fn gate(&self, key: &GateKey) -> Arc<Gate> {
        let mut maps = self.maps();
        if let Some(gate) = maps.gates.get(key) {
            return Arc::clone(gate);
        }
        let gate = Arc::new(Gate::new(self.inner.gate_cap));
        let now = self.now();
        let listed = maps.gates.insert(key.clone(), &gate, |gate| gate.remaining(now).is_none());
        self.note(listed);
        gate
    }

    /// What is remembered of a credential as a whole.
    pub fn credential(&self, key: &CredentialKey) -> Arc<Credential> {
        let mut maps = self.maps();
        if let Some(credential) = maps.credentials.get(key) {
            return Arc::clone(credential);
        }
        let credential =
            Arc::new(Credential { gate: Gate::new(self.inner.gate_cap), latch: Latch::default() });
        let now = self.now();
        let is_idle = |credential: &Credential| {
            credential.gate.remaining(now).is_none() && credential.latch.get().is_none()
        };
        let listed = maps.credentials.insert(key.clone(), &credential, is_idle);
        self.note(listed);
        credential
    }

    /// Whether its settings can work.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.inner.budget.check()
    }

    /// The retry budget of a provider instance.
    pub(crate) fn budget(&self, provider: &Arc<str>) -> Arc<RetryBudget> {
        let mut maps = self.maps();
        if let Some(budget) = maps.budgets.get(provider) {
            return Arc::clone(budget);
        }
        let clock = Arc::clone(&self.inner.clock);
        let budget = Arc::new(RetryBudget::new(Arc::clone(provider), self.inner.budget, clock));
        let listed = maps.budgets.insert(Arc::clone(provider), &budget, RetryBudget::is_idle);
        self.note(listed);
        budget
    }

    /// The credential was mended or its account filled up: releases its latch and opens its gates, also those of
    /// its models. True if any of them was set.
    pub fn reset_credential(&self, key: &CredentialKey) -> bool {
        let maps = self.maps();
        let mut changed = false;
        if let Some(credential) = maps.credentials.get(key) {
            changed |= credential.latch.reset();
            changed |= credential.gate.reset();
        }
        for (_, gate) in maps.gates.iter().filter(|(gate, _)| gate.credential == *key) {
            changed |= gate.reset();
        }
        changed
    }

    /// Has `listener` called with every transition of every breaker, present and future; see
    /// [`Breaker::subscribe`]. The order holds for each breaker, not between them.
    pub fn subscribe(&self, listener: impl Fn(&Transition) + Send + Sync + 'static) -> Subscription {
        self.inner.listeners.subscribe(listener)
    }

    /// The clock that everything in here uses.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Everything that is remembered, sorted by key. Changes nothing.
    pub fn snapshot(&self) -> RegistrySnapshot {
        let now = self.now();
        let maps = self.maps();
        let mut breakers: Vec<_> = maps.breakers.iter().map(|(_, breaker)| breaker.snapshot()).collect();
        let mut gates: Vec<_> =
            maps.gates.iter().filter_map(|(key, gate)| gate_snapshot(key, gate, now)).collect();
        let mut credentials: Vec<_> =
            maps.credentials.iter().filter_map(|(key, it)| credential_snapshot(key, it, now)).collect();
        let mut budgets: Vec<_> = maps.budgets.iter().map(|(_, budget)| budget.snapshot()).collect();
        drop(maps);
        budgets.sort_by(|a, b| a.provider.cmp(&b.provider));
        breakers.sort_by(|a, b| a.key.cmp(&b.key));
        gates.sort_by(|a, b| a.key.cmp(&b.key));
        credentials.sort_by(|a, b| a.key.cmp(&b.key));
        RegistrySnapshot {
            breakers,
            gates,
            credentials,
            budgets,
            unlisted_total: self.inner.unlisted.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.inner.clock.now()
    }

    fn note(&self, listed: bool) {
        if !listed {
            self.inner.unlisted.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn maps(&self) -> MutexGuard<'_, Maps> {
        self.inner.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let maps = self.maps();
        f.debug_struct("Registry")
            .field("breakers", &maps.breakers.iter().map(|(key, _)| key).collect::<Vec<_>>())
            .field("credentials", &maps.credentials.iter().map(|(key, _)| key).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// What a [`Registry`] remembers at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RegistrySnapshot {
    /// All breakers.
    pub breakers: Vec<Snapshot>,
    /// The gates that are closed.
    pub gates: Vec<GateSnapshot>,
    /// The credentials that are gated or latched.
    pub credentials: Vec<CredentialSnapshot>,
    /// All retry budgets.
    pub budgets: Vec<BudgetSnapshot>,
    /// Keys that found no room, so that what they got is neither shared nor listed here.
    pub unlisted_total: u64,
}

/// A closed gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GateSnapshot {
    /// Whose it is.
    pub key: GateKey,
    /// For how long.
    pub closed_for: Duration,
}

/// A credential that is not used at present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CredentialSnapshot {
    /// Which.
    pub key: CredentialKey,
    /// For how long its gate is closed yet.
    pub closed_for: Option<Duration>,
    /// What its latch is set to.
    pub latched: Option<FailureKind>,
}

fn gate_snapshot(key: &GateKey, gate: &Gate, now: Instant) -> Option<GateSnapshot> {
    gate.remaining(now).map(|closed_for| GateSnapshot { key: key.clone(), closed_for })
}

fn credential_snapshot(
    key: &CredentialKey,
    credential: &Credential,
    now: Instant,
) -> Option<CredentialSnapshot> {
    let (closed_for, latched) = (credential.gate.remaining(now), credential.latch.get());
    let used = closed_for.is_none() && latched.is_none();
    (!used).then(|| CredentialSnapshot { key: key.clone(), closed_for, latched })
}
