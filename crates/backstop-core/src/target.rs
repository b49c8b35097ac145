//! A provider with one of its models and its limits: an entry of a chain.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    capabilities::Capabilities, error::ConfigError, policy::FailurePolicy, provider::Provider,
    retry::RetryPolicy,
};

/// A provider with one of its models and its limits: an entry of a chain. Made by
/// [`ProviderExt::model`](crate::ProviderExt::model).
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | timeout | 30 s | long enough for a long answer, short enough to leave time for the next target |
/// | retry | one retry after 0–0.5 s | see [`RetryPolicy`] |
/// | re-asks | 1 | a model that misses the schema twice rarely meets it the third time |
/// | larger limit | twice the first, once | where the model's own maximum allows it |
#[derive(Clone)]
#[must_use = "a target does nothing until a chain has it"]
pub struct Target {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) model: Cow<'static, str>,
    pub(crate) name: Option<Cow<'static, str>>,
    pub(crate) timeout: Duration,
    pub(crate) retry: RetryPolicy,
    pub(crate) reasks: u8,
    pub(crate) policy: Option<Arc<FailurePolicy>>,
    pub(crate) breaker_group: Option<Cow<'static, str>>,
    pub(crate) capabilities: Capabilities,
    pub(crate) droppable: Vec<Cow<'static, str>>,
}

impl Target {
    /// A target with default limits.
    pub fn new(provider: Arc<dyn Provider>, model: impl Into<Cow<'static, str>>) -> Self {
        Self {
            provider,
            model: model.into(),
            name: None,
            timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            reasks: 1,
            policy: None,
            breaker_group: None,
            capabilities: Capabilities::unknown(),
            droppable: Vec::new(),
        }
    }

    /// Names the target in reports and for [`Call::only`](crate::Call::only). Default: `provider/model`.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Longest time for one attempt: connecting, headers and the whole body. Default 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often and how soon it is asked again after hard failures.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Most retries after hard failures. Default 1.
    pub fn retries(mut self, retries: u8) -> Self {
        self.retry = self.retry.retries(retries);
        self
    }

    /// Waits of a `backoff` schedule between retries; `None` of it means fail over.
    #[cfg(feature = "backoff")]
    pub fn backoff<F, B>(mut self, factory: F) -> Self
    where
        F: Fn() -> B + Send + Sync + 'static,
        B: ::backoff::backoff::Backoff + Send + 'static,
    {
        self.retry = self.retry.backoff(factory);
        self
    }

    /// How often an answer that fails validation is sent back with the errors. Default 1.
    pub fn reasks(mut self, reasks: u8) -> Self {
        self.reasks = reasks;
        self
    }

    /// What failures of this target lead to, instead of the chain's policy.
    pub fn policy(mut self, policy: FailurePolicy) -> Self {
        self.policy = Some(Arc::new(policy));
        self
    }

    /// Shares one circuit breaker with the other targets of this provider and group. Default: the model.
    pub fn breaker_group(mut self, group: impl Into<Cow<'static, str>>) -> Self {
        self.breaker_group = Some(group.into());
        self
    }

    /// What the model can do, over what the adapter knows.
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = self.capabilities.overlaid(capabilities);
        self
    }

    /// Tokens of prompt and answer together, over what the adapter knows.
    pub fn context_window(self, tokens: u32) -> Self {
        self.capabilities(Capabilities::unknown().with_context_window(tokens))
    }

    /// Most tokens of one answer, over what the adapter knows.
    pub fn max_output_tokens(self, tokens: u32) -> Self {
        self.capabilities(Capabilities::unknown().with_max_output_tokens(tokens))
    }

    /// Allows a retry without this optional parameter (`temperature`, `seed`, …) if the vendor refuses it.
    /// Default: none is dropped, because the answer would not be what was asked for.
    pub fn may_drop(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.droppable.push(param.into());
        self
    }

    pub(crate) fn id(&self) -> TargetId {
        match &self.name {
            Some(name) => TargetId(name.as_ref().into()),
            None => TargetId(format!("{}/{}", self.provider.name(), self.model).into()),
        }
    }

    pub(crate) fn group(&self) -> &str {
        self.breaker_group.as_deref().unwrap_or(&self.model)
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let wrong = |setting, value: String, why| ConfigError::Target {
            target: self.id().to_string(),
            setting,
            value,
            why: Cow::Borrowed(why),
        };
        if self.model.trim().is_empty() {
            return Err(wrong("model", "empty".into(), "name the model, for example \"gpt-4o\""));
        }
        if self.timeout.is_zero() {
            return Err(wrong("timeout", "0 s".into(), "no attempt could ever succeed; give it seconds"));
        }
        Ok(())
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("id", &self.id().as_str())
            .field("timeout", &self.timeout)
            .field("retry", &self.retry)
            .field("reasks", &self.reasks)
            .field("breaker_group", &self.group())
            .finish_non_exhaustive()
    }
}

/// `provider/model`, or the name that the target was given. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetId(Arc<str>);

impl TargetId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
