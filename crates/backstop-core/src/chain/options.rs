//! The options of one call, whole or streamed.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Duration};

use crate::{policy::FailurePolicy, reask::Reask};

/// The options of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallOptions {
    pub(crate) deadline: Option<Duration>,
    pub(crate) tenant: Option<Arc<str>>,
    pub(crate) task: Option<Arc<str>>,
    pub(crate) tags: BTreeMap<Cow<'static, str>, String>,
    pub(crate) only: Option<Cow<'static, str>>,
    pub(crate) no_failover: bool,
    pub(crate) policy: Option<Arc<FailurePolicy>>,
    pub(crate) reask: Option<Reask>,
}

/// The setters that a call for a whole answer and one for a stream have in common, for whatever has a field `options`.
macro_rules! setters {
    () => {
        /// On whose behalf, for the report.
        pub fn tenant(mut self, tenant: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.tenant = Some(tenant.into());
            self
        }

        /// What kind of work it is, for the report. Quality windows and adaptive timeouts are kept for each.
        pub fn task(mut self, task: impl Into<std::sync::Arc<str>>) -> Self {
            self.options.task = Some(task.into());
            self
        }

        /// A label for the report.
        pub fn tag(
            mut self,
            key: impl Into<std::borrow::Cow<'static, str>>,
            value: impl Into<String>,
        ) -> Self {
            self.options.tags.insert(key.into(), value.into());
            self
        }

        /// Asks this target only, by its name (`provider/model` unless it was given one).
        pub fn only(mut self, target: impl Into<std::borrow::Cow<'static, str>>) -> Self {
            self.options.only = Some(target.into());
            self
        }

        /// Asks the first target only.
        pub fn no_failover(mut self) -> Self {
            self.options.no_failover = true;
            self
        }

        /// What failures of this call lead to, instead of the targets' and the chain's policies.
        pub fn policy(mut self, policy: $crate::policy::FailurePolicy) -> Self {
            self.options.policy = Some(std::sync::Arc::new(policy));
            self
        }
    };
}

pub(crate) use setters;
