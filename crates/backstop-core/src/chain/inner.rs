//! What all calls of a chain share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fastrand::Rng;

use super::{
    hedge::Hedge,
    options::CallOptions,
    order::{Canary, find},
    slot::Slot,
};
use crate::{
    attempt::CallId, check::Check, clock::FAR, error::ConfigError, observer::Observers,
    policy::FailurePolicy, quality::QualityWindows, reask::Reask, request::Request,
};

/// What all calls of a chain share.
pub(crate) struct Inner {
    pub(crate) slots: Vec<Slot>,
    pub(crate) checks: Vec<Arc<dyn Check>>,
    pub(crate) policy: FailurePolicy,
    pub(crate) reask: Reask,
    pub(crate) deadline: Duration,
    pub(crate) kept_share: f64,
    pub(crate) max_retry_after: Duration,
    pub(crate) hedge: Option<Hedge>,
    pub(crate) canary: Option<Canary>,
    pub(crate) quality: QualityWindows,
    pub(crate) observers: Observers,
    pub(crate) seed: u64,
    pub(crate) calls: AtomicU64,
}

impl Inner {
    /// A name and a source of randomness for the next call; both follow from the seed.
    pub(crate) fn next_call(&self) -> (CallId, Rng) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut rng = Rng::with_seed(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (CallId(rng.u64(..)), rng)
    }

    /// Most time for a call with these options.
    pub(crate) fn limit(&self, options: &CallOptions) -> Duration {
        options.deadline.map_or(self.deadline, |deadline| deadline.min(self.deadline)).min(FAR)
    }

    /// Whether a call for this with these options can be made.
    pub(crate) fn check(&self, request: &Request, options: &CallOptions) -> Result<(), ConfigError> {
        // A template may have messages for some targets only.
        if request.messages.is_empty() && request.variants.is_empty() {
            return Err(ConfigError::setting(
                "request",
                "has no message: add what is asked, with `.message(Message::user(\"…\"))`",
            ));
        }
        options.policy.as_deref().map_or(Ok(()), FailurePolicy::check)?;
        options.only.as_ref().map_or(Ok(()), |name| find(&self.slots, name).map(|_| ()))
    }
}
