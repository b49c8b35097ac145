//! A target inside a chain, with its breaker, gates and latch: who may be asked now.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    breaker::{Admission, Breaker, BreakerKey, LeaseRequest, Permit, RejectReason, Rejected},
    capabilities::Capabilities,
    error::FailureKind,
    gate::Gate,
    message::Part,
    policy,
    provider::CredentialId,
    registry::{Credential, CredentialKey, GateKey, Registry},
    report::Skip,
    request::Request,
    target::{Target, TargetId},
};

pub(crate) struct Slot {
    pub(crate) id: TargetId,
    pub(crate) target: Target,
    pub(crate) capabilities: Capabilities,
    pub(crate) breaker: Arc<Breaker>,
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
    fn look_up(target: &Target, registry: &Registry, credential_id: CredentialId) -> Self {
        let key = CredentialKey::new(target.provider.instance().as_ref(), credential_id);
        let gate = registry.gate(&GateKey::new(key.clone(), target.model.as_ref()));
        Self { credential_id, credential: registry.credential(&key), gate }
    }
}

/// Whether an attempt may begin.
pub(crate) enum Entry {
    Admitted(Permit),
    /// Processes that share the breaker must agree on who probes.
    NeedsLease(LeaseRequest),
    Skip(Skip),
}

impl Slot {
    pub(crate) fn new(target: Target, registry: &Registry) -> Self {
        let key = BreakerKey::new(target.provider.instance().as_ref(), target.group());
        let credential_id = target.provider.credential();
        Self {
            id: target.id(),
            capabilities: target.provider.capabilities(&target.model).overlaid(target.capabilities),
            breaker: registry.breaker(&key),
            standing: Mutex::new(Standing::look_up(&target, registry, credential_id)),
            registry: registry.clone(),
            target,
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.registry.now()
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

    /// Closes a gate or latches the credential. True unless it was so already.
    pub(crate) fn close(&self, gate: policy::Gate, kind: FailureKind, now: Instant) -> bool {
        let standing = self.standing();
        let (gate, wait) = match gate {
            policy::Gate::Latch => return standing.credential.latch().latch(kind),
            policy::Gate::Model(wait) => (&*standing.gate, wait),
            policy::Gate::Credential(wait) => (standing.credential.gate(), wait),
        };
        let newly = gate.remaining(now).is_none();
        gate.close_for(wait, now);
        newly
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

    /// What the request needs and the model is known not to have.
    pub(crate) fn lacks(&self, request: &Request) -> Option<Cow<'static, str>> {
        let no = Some(false);
        let has = |wanted: fn(&Part) -> bool| {
            request.messages.iter().flat_map(|message| &message.parts).any(wanted)
        };
        if self.capabilities.images == no && has(|part| matches!(part, Part::Image(_))) {
            return Some("images".into());
        }
        if self.capabilities.documents == no && has(|part| matches!(part, Part::Document(_))) {
            return Some("documents".into());
        }
        if self.capabilities.tools == no && !request.tools.is_empty() {
            return Some("tools".into());
        }
        None
    }

    /// The credential's standing; looked up anew if the provider has another key than last time.
    fn standing(&self) -> MutexGuard<'_, Standing> {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let credential_id = self.target.provider.credential();
        if credential_id != standing.credential_id {
            *standing = Standing::look_up(&self.target, &self.registry, credential_id);
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
