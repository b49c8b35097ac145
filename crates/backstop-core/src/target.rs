//! A provider with one of its models and its limits: an entry of a chain.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    capabilities::Capabilities, clock::FAR, error::ConfigError, policy::FailurePolicy, provider::Provider,
    request::Request, retry::RetryPolicy,
};

/// What a target makes of a request.
type Adapt = Arc<dyn Fn(Request) -> Request + Send + Sync>;

/// A provider with one of its models and its limits: an entry of a chain. Made by
/// [`ProviderExt::model`].
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | timeout | 30 s | long enough for a long answer, short enough to leave time for the next target |
/// | first content of a stream | the timeout | who waits for a whole answer waits as long |
/// | pause in a stream | 30 s | models pause to reason in the middle of an answer, which is no content |
/// | retry | one retry after 0–0.5 s | see [`RetryPolicy`] |
/// | re-asks | 1 | a model that misses the schema twice rarely meets it the third time |
/// | larger limit | twice the first, once | where the model's own maximum allows it |
/// | attempts at once | no limit | vendors queue by themselves; a local server may not |
/// | queue wait | 1 s | a short burst gets through; beyond that the next target answers sooner |
///
/// ```
/// use std::time::Duration;
/// use backstop_core::{Provider, ProviderExt, Target};
///
/// fn local(server: impl Provider) -> Target {
///     server.model("llama3.1:8b").named("local").timeout(Duration::from_secs(90)).retries(0).max_in_flight(2)
/// }
/// ```
#[derive(Clone)]
#[must_use = "a target does nothing until a chain has it"]
pub struct Target {
    /// One, or the members of a pool.
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    pub(crate) model: Cow<'static, str>,
    pub(crate) name: Option<Cow<'static, str>>,
    pub(crate) timeout: Duration,
    pub(crate) first_content: Option<Duration>,
    pub(crate) idle: Duration,
    pub(crate) retry: RetryPolicy,
    pub(crate) reasks: u8,
    pub(crate) policy: Option<Arc<FailurePolicy>>,
    pub(crate) breaker_group: Option<Cow<'static, str>>,
    pub(crate) capabilities: Capabilities,
    pub(crate) droppable: Vec<Cow<'static, str>>,
    pub(crate) adapt: Option<Adapt>,
    pub(crate) max_in_flight: Option<usize>,
    pub(crate) queue_wait: Duration,
    #[cfg(feature = "rate-limit")]
    pub(crate) rates: crate::rate_limit::Rates,
    #[cfg(feature = "adaptive")]
    pub(crate) adaptive: Option<crate::latency::AdaptiveTimeout>,
}

impl Target {
    /// A target with default limits.
    pub fn new(provider: Arc<dyn Provider>, model: impl Into<Cow<'static, str>>) -> Self {
        Self::of(vec![provider], model)
    }

    /// One target with several keys or endpoints behind it: providers of the same kind that serve the same model.
    ///
    /// Each attempt goes to the member with the fewest attempts under way among those that may be asked; members
    /// that are equal take turns. Gates, latches, breakers and retry budgets are kept for each member's key and
    /// endpoint. Where a failure would lead to the next target but says nothing about another member (a key's
    /// rate limit, account or rejection; an outage of another endpoint), that member is asked first. A
    /// rejected key still gives up by default, as without a pool; the calls that follow leave it out. Reports
    /// name a member by its number, from 1. Capabilities are those of the first.
    ///
    /// ```
    /// use backstop_core::{Chain, Target};
    /// # use backstop_core::{Attempt, Provider, ProviderError, Response};
    /// # struct Vendor;
    /// # impl Vendor { fn new(_key: &str) -> Self { Self } }
    /// # #[async_trait::async_trait] impl Provider for Vendor {
    /// #     fn name(&self) -> &str { "vendor" }
    /// #     async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> { Ok(Response::new("")) }
    /// # }
    /// let pool = Target::pool([Vendor::new("key 1"), Vendor::new("key 2")], "large");
    /// let chain = Chain::builder().target(pool).build()?;
    /// # Ok::<(), backstop_core::ConfigError>(())
    /// ```
    pub fn pool<P: Provider>(
        members: impl IntoIterator<Item = P>,
        model: impl Into<Cow<'static, str>>,
    ) -> Self {
        let members = members.into_iter().map(|member| Arc::new(member) as Arc<dyn Provider>);
        Self::of(members.collect(), model)
    }

    fn of(providers: Vec<Arc<dyn Provider>>, model: impl Into<Cow<'static, str>>) -> Self {
        Self {
            providers,
            model: model.into(),
            name: None,
            timeout: Duration::from_secs(30),
            first_content: None,
            idle: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            reasks: 1,
            policy: None,
            breaker_group: None,
            capabilities: Capabilities::unknown(),
            droppable: Vec::new(),
            adapt: None,
            max_in_flight: None,
            queue_wait: Duration::from_secs(1),
            #[cfg(feature = "rate-limit")]
            rates: crate::rate_limit::Rates::default(),
            #[cfg(feature = "adaptive")]
            adaptive: None,
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

    /// Longest time until the first content of a stream, if it is less than the [`timeout`](Self::timeout). A call
    /// may ask for less with [`StreamCall::first_content`](crate::StreamCall::first_content), but only what is too
    /// slow by this setting counts for the breaker. Default: the timeout.
    pub fn first_content(mut self, wait: Duration) -> Self {
        self.first_content = Some(wait);
        self
    }

    /// Longest time between one piece of content of a stream and the next. A call may set another with
    /// [`StreamCall::idle`](crate::StreamCall::idle), but a shorter one counts for no breaker. Default 30 s.
    pub fn idle(mut self, wait: Duration) -> Self {
        self.idle = wait.min(FAR);
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

    /// Changes the request for this target, in any way: another token limit, a picture left out for a model that takes
    /// none, instructions of its own. Runs at most once for a call, when the target is first considered, on the
    /// request as a [template](crate::PromptTemplate) renders it for this target; further functions run on what the
    /// earlier ones give back. No other target sees the outcome.
    ///
    /// What is sent, charged to the target's limits and changed by retries is the adapted request. Checks and
    /// validators judge by the caller's, so asking for other JSON here makes answers invalid. The function must be
    /// quick and must not block.
    ///
    /// ```
    /// use backstop_core::{Request, Target};
    ///
    /// fn tuned(target: Target) -> Target {
    ///     target.adapt(|request: Request| request.temperature(0.2).max_tokens(400))
    /// }
    /// ```
    pub fn adapt(mut self, change: impl Fn(Request) -> Request + Send + Sync + 'static) -> Self {
        self.adapt = Some(match self.adapt {
            None => Arc::new(change),
            Some(earlier) => Arc::new(move |request| change(earlier(request))),
        });
        self
    }

    /// The request as this target gets it.
    pub(crate) fn render(&self, request: &Request) -> Request {
        let provider = self.providers.first().map_or("", |provider| provider.name());
        let request = request.for_target(provider, &self.model);
        match &self.adapt {
            // It may have added something that is for this provider.
            Some(adapt) => adapt(request).for_target(provider, &self.model),
            None => request,
        }
    }

    /// Most attempts at once, of all calls of a chain and its clones. Further ones queue for
    /// [`queue_wait`](Self::queue_wait), then go to the next target. Default: no limit. Right for local servers,
    /// whose answers get slower with each request that runs beside them.
    pub fn max_in_flight(mut self, attempts: usize) -> Self {
        self.max_in_flight = Some(attempts);
        self
    }

    /// Longest wait for a place under [`max_in_flight`](Self::max_in_flight) and under the limits a minute.
    /// Default 1 s, and never longer than the call has for this target. Set it to zero to fail over at once, or
    /// to more where no other target follows.
    pub fn queue_wait(mut self, wait: Duration) -> Self {
        self.queue_wait = wait;
        self
    }

    /// Most requests a minute, of all calls of a chain and its clones. A sixth of them may be sent at once, then
    /// they are spread evenly. One that would have to wait longer than [`queue_wait`](Self::queue_wait) goes to
    /// the next target. Default: no limit, the vendor's 429 is heeded.
    #[cfg(feature = "rate-limit")]
    pub fn requests_per_minute(mut self, requests: u32) -> Self {
        self.rates.requests = Some(requests);
        self
    }

    /// Most tokens a minute, as [`requests_per_minute`](Self::requests_per_minute). What a request will take is
    /// guessed from the length of its text and its token limit; what it took beyond that is charged to those
    /// that follow. Default: no limit.
    #[cfg(feature = "rate-limit")]
    pub fn tokens_per_minute(mut self, tokens: u32) -> Self {
        self.rates.tokens = Some(tokens);
        self
    }

    /// Lets the timeout follow what the target takes lately, for each [task](crate::Call::task). Default: off,
    /// [`timeout`](Self::timeout) holds.
    #[cfg(feature = "adaptive")]
    pub fn adaptive_timeout(mut self, adaptive: crate::latency::AdaptiveTimeout) -> Self {
        self.adaptive = Some(adaptive);
        self
    }

    /// The longest that an attempt may come to be given.
    pub(crate) fn longest_timeout(&self) -> Duration {
        #[cfg(feature = "adaptive")]
        if let Some(adaptive) = &self.adaptive {
            return adaptive.longest(self.timeout);
        }
        self.timeout
    }

    /// The longest that an attempt may go on without content, which renews a probe's lease.
    pub(crate) fn longest_silence(&self) -> Duration {
        self.longest_timeout().max(self.idle)
    }

    pub(crate) fn id(&self) -> TargetId {
        match &self.name {
            Some(name) => TargetId(name.as_ref().into()),
            None => TargetId(self.default_id().into()),
        }
    }

    fn default_id(&self) -> String {
        let provider = self.providers.first().map_or("pool", |provider| provider.name());
        format!("{provider}/{}", self.model)
    }

    pub(crate) fn group(&self) -> &str {
        self.breaker_group.as_deref().unwrap_or(&self.model)
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err(ConfigError::Target {
                target: self.default_id(),
                setting: "named",
                value: "empty".into(),
                why: "give it a name, or leave it out".into(),
            });
        }
        let wrong = |setting, value: String, why| ConfigError::Target {
            target: self.id().to_string(),
            setting,
            value,
            why: Cow::Borrowed(why),
        };
        if self.model.trim().is_empty() {
            return Err(wrong("model", "empty".into(), "name the model, for example \"gpt-4o\""));
        }
        if self.providers.is_empty() {
            return Err(wrong("pool", "empty".into(), "name at least one provider"));
        }
        if self.max_in_flight == Some(0) {
            return Err(wrong("max_in_flight", "0".into(), "nothing could ever be sent; allow at least 1"));
        }
        #[cfg(feature = "rate-limit")]
        if let Some(setting) = self.rates.zero() {
            return Err(wrong(setting, "0".into(), "nothing could ever be sent; allow at least 1"));
        }
        #[cfg(feature = "adaptive")]
        if let Some((setting, value, why)) = self.adaptive.as_ref().and_then(|it| it.wrong(self.timeout)) {
            return Err(wrong(setting, value, why));
        }
        if let Some(factor) = self.retry.wrong_factor() {
            return Err(wrong("factor", factor.to_string(), "waits would get shorter; give it 1 or more"));
        }
        self.policy.as_deref().map_or(Ok(()), FailurePolicy::check)?;
        let times = [
            ("timeout", Some(self.timeout)),
            ("first_content", self.first_content),
            ("idle", Some(self.idle)),
        ];
        if let Some((setting, _)) = times.into_iter().find(|(_, time)| time.is_some_and(|it| it.is_zero())) {
            return Err(wrong(setting, "0 s".into(), "no attempt could ever succeed; give it seconds"));
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

/// `provider.model("…")`, for every provider.
pub trait ProviderExt: Provider + Sized {
    /// A target: this provider with one of its models. Clone the provider, or keep it in an `Arc`, to use
    /// several models.
    fn model(self, model: impl Into<Cow<'static, str>>) -> Target {
        Target::new(Arc::new(self), model)
    }
}

impl<P: Provider> ProviderExt for P {}

/// `provider/model`, or the name that the target was given. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetId(pub(crate) Arc<str>);

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
