//! One provider behind a target, with what is remembered of it: who may be asked now.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::bulkhead::Gauge;
use crate::{
    breaker::{Admission, Breaker, BreakerKey, LeaseRequest, Permit, RejectReason, Rejected, State},
    budget::RetryBudget,
    error::FailureKind,
    gate::Gate,
    policy::Closing,
    provider::{CredentialId, Provider},
    registry::{Credential, CredentialKey, GateKey, Registry},
    report::Skip,
    target::Target,
};

pub(crate) struct Member {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) breaker: Arc<Breaker>,
    pub(crate) budget: Arc<RetryBudget>,
    /// Only counted in a pool; alone, its load is the target's.
    pub(crate) load: Arc<Gauge>,
    instance: Arc<str>,
    model: Arc<str>,
    registry: Registry,
    standing: Mutex<Standing>,
}

/// What is remembered of the credential that the provider has now.
struct Standing {
    credential_id: CredentialId,
    credential: Arc<Credential>,
    gate: Arc<Gate>,
}

impl Standing {
    fn look_up(instance: &Arc<str>, model: &Arc<str>, registry: &Registry, id: CredentialId) -> Self {
        let key = CredentialKey::new(Arc::clone(instance), id);
        let gate = registry.gate(&GateKey::new(key.clone(), Arc::clone(model)));
        Self { credential_id: id, credential: registry.credential(&key), gate }
    }
}

/// Whether an attempt may begin.
pub(crate) enum Entry {
    Admitted(Permit),
    /// Processes that share the breaker must agree on who probes.
    NeedsLease(LeaseRequest),
    Skip(Skip),
}

impl Member {
    pub(crate) fn new(provider: &Arc<dyn Provider>, target: &Target, registry: &Registry) -> Self {
        let instance: Arc<str> = provider.instance().as_ref().into();
        let model: Arc<str> = target.model.as_ref().into();
        let standing = Standing::look_up(&instance, &model, registry, provider.credential());
        let breaker = registry.breaker(&BreakerKey::new(Arc::clone(&instance), target.group()));
        breaker.fit_timeout(target.longest_silence());
        Self {
            provider: Arc::clone(provider),
            breaker,
            budget: registry.budget(&instance),
            load: Arc::default(),
            instance,
            model,
            registry: registry.clone(),
            standing: Mutex::new(standing),
        }
    }

    /// Credential first, then the model's gate, then the breaker: a permit is only taken when it will be used.
    pub(crate) fn enter(&self, now: Instant) -> Entry {
        if let Err(skip) = self.gates_open(now) {
            return Entry::Skip(skip);
        }
        match self.breaker.admit_at(now) {
            Admission::Admitted(permit) => Entry::Admitted(permit),
            Admission::NeedsLease(request) => Entry::NeedsLease(request),
            Admission::Rejected(rejected) => Entry::Skip(skip(rejected)),
        }
    }

    /// The same question without taking anything, and without a promise.
    pub(crate) fn admits(&self, now: Instant) -> Result<(), Skip> {
        self.gates_open(now)?;
        self.breaker.admits_at(now).map_err(skip)
    }

    /// Whether an attempt would be an ordinary one, not a probe.
    pub(crate) fn is_healthy(&self, now: Instant) -> bool {
        self.admits(now).is_ok()
            && matches!(self.breaker.snapshot().state, State::Closed | State::ForcedClosed)
    }

    fn gates_open(&self, now: Instant) -> Result<(), Skip> {
        let standing = self.standing();
        if standing.credential.latch().get().is_some() {
            return Err(Skip::CredentialLatched);
        }
        let closed = [standing.credential.gate().remaining(now), standing.gate.remaining(now)];
        match closed.into_iter().flatten().max() {
            Some(retry_in) => Err(Skip::GateClosed { retry_in }),
            None => Ok(()),
        }
    }

    /// Closes a gate or latches the credential that an attempt was sent with, which may not be the one of now. True
    /// unless it was so already.
    pub(crate) fn close(&self, used: CredentialId, what: Closing, kind: FailureKind, now: Instant) -> bool {
        let standing = self.standing();
        let rotated = (used != standing.credential_id)
            .then(|| Standing::look_up(&self.instance, &self.model, &self.registry, used));
        let standing = rotated.as_ref().unwrap_or(&*standing);
        let (gate, wait) = match what {
            Closing::Latch => return standing.credential.latch().latch(kind),
            Closing::Model(wait) => (&*standing.gate, wait),
            Closing::Credential(wait) => (standing.credential.gate(), wait),
        };
        gate.close_for(wait, now)
    }

    /// When it may be asked again, if something keeps it away now and that ends by itself.
    pub(crate) fn back_in(&self, now: Instant) -> Option<Duration> {
        let gate = match self.gates_open(now) {
            Err(Skip::GateClosed { retry_in }) => Some(retry_in),
            Err(_) => return None,
            Ok(()) => None,
        };
        let breaker = self.breaker.admits_at(now).err().and_then(|rejected| rejected.retry_in);
        gate.max(breaker)
    }

    /// For how long a gate keeps it away, and what its credential was rejected for.
    pub(crate) fn credential(&self, now: Instant) -> (Option<Duration>, Option<FailureKind>) {
        let standing = self.standing();
        let closed = [standing.credential.gate().remaining(now), standing.gate.remaining(now)];
        (closed.into_iter().flatten().max(), standing.credential.latch().get())
    }

    /// Whether a failure of another member says nothing about this one.
    pub(crate) fn may_do_better(&self, failed: &Self, kind: FailureKind) -> bool {
        use FailureKind as Kind;
        match kind {
            Kind::RateLimited | Kind::QuotaExhausted | Kind::Authentication | Kind::Permission => {
                self.instance != failed.instance || self.provider.credential() != failed.provider.credential()
            }
            Kind::Timeout
            | Kind::Connect
            | Kind::Overloaded
            | Kind::Server
            | Kind::MalformedResponse
            | Kind::ModelNotFound
            | Kind::Unknown => self.instance != failed.instance,
            // The same model will make the same of the same request.
            _ => false,
        }
    }

    /// The credential's standing; looked up anew if the provider has another key than last time.
    fn standing(&self) -> MutexGuard<'_, Standing> {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let id = self.provider.credential();
        if id != standing.credential_id {
            *standing = Standing::look_up(&self.instance, &self.model, &self.registry, id);
        }
        standing
    }
}

pub(crate) fn skip(rejected: Rejected) -> Skip {
    match (rejected.reason, rejected.retry_in) {
        (RejectReason::Throttled, Some(retry_in)) => Skip::GateClosed { retry_in },
        (_, retry_in) => Skip::BreakerOpen { retry_in },
    }
}
