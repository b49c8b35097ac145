//! What the caller holds: the chain, a call that has not started, and its answer.

use std::{fmt, future::IntoFuture, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;

use super::{
    engine,
    inner::Inner,
    judge::ValueSlot,
    options::{CallOptions, setters},
    order::find,
    snapshot::ChainSnapshot,
};
use crate::{
    error::{ChainError, ConfigError},
    reask::Reask,
    report::Report,
    request::Request,
    response::Response,
    validator::{BoxValidator, Change, ChangeClass, Text, Validator},
};

/// Ordered targets, checks and a deadline. Cloning is one atomic increment; share it between all tasks.
///
/// # Panics
/// Calls need a tokio runtime with its time driver, as `#[tokio::main]` and `enable_all` give it. Awaited outside
/// one, they panic as tokio's own timers do.
///
/// ```
/// use std::time::Duration;
/// use backstop_core::{Chain, ProviderExt};
/// # use backstop_core::{Attempt, Provider, ProviderError, Response};
/// # struct First; struct Second;
/// # #[async_trait::async_trait] impl Provider for First {
/// #     fn name(&self) -> &str { "first" }
/// #     async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> { Ok(Response::new("")) }
/// # }
/// # #[async_trait::async_trait] impl Provider for Second {
/// #     fn name(&self) -> &str { "second" }
/// #     async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> { Ok(Response::new("hi")) }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let chain = Chain::builder()
///     .target(First.model("large").timeout(Duration::from_secs(10)))
///     .target(Second.model("small"))
///     .deadline(Duration::from_secs(30))
///     .build()?;
/// let answer = chain.complete("Say hi.").await?;
/// println!("{} from {:?}\n{}", answer.value, answer.report.served_by(), answer.report);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Chain(Arc<Inner>);

impl Chain {
    pub(crate) fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    /// A call whose answer must satisfy a validator, given by value, by reference or in an `Arc`. A validator that
    /// cannot work (a wrong schema, for example) makes the call fail as
    /// [`ChainErrorKind::Config`](crate::ChainErrorKind::Config) before anything is sent.
    pub fn call<'v, V>(&self, request: impl Into<Request>, validator: V) -> Call<'v, V::Output>
    where
        V: Validator + 'v,
    {
        let mut request = request.into();
        let prepared = validator.prepare(&mut request);
        Call {
            chain: self.clone(),
            request,
            prepared,
            validator: BoxValidator::new(validator),
            options: CallOptions::default(),
        }
    }

    /// Switches a target off or on again, for this chain and its clones: a vendor's maintenance, a price that has
    /// gone up. Calls that are at it already go on; others skip it. Targets begin switched on.
    ///
    /// # Errors
    /// The chain has no target of this name.
    pub fn set_enabled(&self, target: &str, enabled: bool) -> Result<(), ConfigError> {
        let index = find(&self.0.slots, target)?;
        if let Some(slot) = self.0.slots.get(index) {
            slot.switch(enabled);
        }
        Ok(())
    }

    /// What the chain's targets are at now: load, breakers, budgets.
    #[must_use]
    pub fn snapshot(&self) -> ChainSnapshot {
        self.0.snapshot()
    }

    /// A call for text. Core itself checks that the answer is not empty, not cut off and not marked as refused.
    pub fn complete(&self, request: impl Into<Request>) -> Call<'static, String> {
        self.call(request, Text)
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.0.slots.iter().map(|slot| slot.id.as_str());
        f.debug_struct("Chain")
            .field("targets", &ids.collect::<Vec<_>>())
            .field("deadline", &self.0.deadline)
            .finish_non_exhaustive()
    }
}

/// A call that has not started: set options, then `.await` it. Dropping the future cancels the request.
///
/// ```
/// use std::time::Duration;
/// use backstop_core::{Chain, ChainError};
///
/// async fn summary(chain: &Chain, letter: &str) -> Result<String, ChainError> {
///     let call = chain.complete(format!("Sum up in one sentence:\n{letter}"));
///     let answer = call.deadline(Duration::from_secs(8)).task("summaries").tag("source", "mail").await?;
///     if answer.report.used_fallback {
///         println!("{}", answer.report);
///     }
///     Ok(answer.value)
/// }
/// ```
///
/// Where a plain future is needed (`tokio::spawn`, `join_all`), write `.into_future()`.
#[must_use = "a call does nothing until awaited"]
pub struct Call<'v, T> {
    chain: Chain,
    request: Request,
    prepared: Result<(), ConfigError>,
    validator: BoxValidator<'v, T>,
    options: CallOptions,
}

impl<'v, T: Send> Call<'v, T> {
    /// Most time for this call, from its first poll, if it is less than the chain's.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options.deadline = Some(deadline);
        self
    }

    setters!();

    /// How the model is told that its answer cannot be used, instead of the chain's words.
    pub fn reask(mut self, reask: Reask) -> Self {
        self.options.reask = Some(reask);
        self
    }

    /// Replaces the validator by one made of it.
    pub fn map_validator<U: Send>(
        self,
        map: impl FnOnce(BoxValidator<'v, T>) -> BoxValidator<'v, U>,
    ) -> Call<'v, U> {
        let Self { chain, request, prepared, validator, options } = self;
        Call { chain, request, prepared, validator: map(validator), options }
    }

    async fn run(self) -> Result<Answer<T>, ChainError> {
        let slot = ValueSlot::new(&self.validator);
        if let Err(error) = self.prepared {
            return Err(engine::refuse(&self.chain.0, &self.request, &slot, &self.options, error));
        }
        let done = engine::execute(&self.chain.0, &self.request, &slot, &self.options).await?;
        match slot.into_value() {
            Some(value) => Ok(Answer::new(value, done.response, done.report, done.changes)),
            // The engine reports success only after the validator has left a value.
            None => Err(ChainError::without_value(Arc::unwrap_or_clone(done.report))),
        }
    }
}

impl<'v, T: Send + 'v> IntoFuture for Call<'v, T> {
    type Output = Result<Answer<T>, ChainError>;
    type IntoFuture = BoxFuture<'v, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("chain", &self.chain)
            .field("request", &self.request)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// A live answer that the validator has accepted. `Debug` leaves the value out.
#[derive(Clone)]
#[non_exhaustive]
pub struct Answer<T> {
    /// What the validator made of it.
    pub value: T,
    /// The answer as it came.
    pub response: Arc<Response>,
    /// Everything that happened.
    pub report: Arc<Report>,
    /// What had to be mended in the text; empty if it was right as it stood.
    pub repairs: Vec<Change>,
    /// Which values were converted to the type that the schema asks for.
    pub coercions: Vec<Change>,
}

impl<T> Answer<T> {
    pub(crate) fn new(value: T, response: Arc<Response>, report: Arc<Report>, changes: Vec<Change>) -> Self {
        let (coercions, repairs) =
            changes.into_iter().partition(|change| change.class == ChangeClass::Coercion);
        Self { value, response, report, repairs, coercions }
    }
}

impl<T> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("response", &self.response)
            .field("report", &self.report)
            .field("repairs", &self.repairs)
            .field("coercions", &self.coercions)
            .finish_non_exhaustive()
    }
}
