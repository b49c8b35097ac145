//! What an adapter implements.

use std::{borrow::Cow, sync::Arc};

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use crate::{
    attempt::Attempt,
    capabilities::Capabilities,
    chunk::{self, ChunkStream},
    error::ProviderError,
    response::Response,
};

/// One vendor endpoint with its credential. [`name`](Self::name) and [`complete`](Self::complete) are enough for one
/// endpoint with one credential. Where a program uses several, implement [`instance`](Self::instance) and
/// [`credential`](Self::credential) too: otherwise they share breakers, gates and latches, and the outage or the
/// empty account of one keeps calls from the others.
///
/// An adapter makes exactly one attempt per call: it does not retry, sleep or log bodies. Put `#[async_trait]` on the
/// `impl` and write the method's signature as below (`&Attempt<'_>`, by reference): without either rustc reports E0195.
///
/// ```
/// use async_trait::async_trait;
/// use backstop_core::{Attempt, Chain, Provider, ProviderError, ProviderExt, Response, Usage};
///
/// struct Echo;
///
/// #[async_trait]
/// impl Provider for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
///         let text: String = attempt.messages().map(|message| message.text()).collect();
///         Ok(Response::new(text).with_usage(Usage::new(1, 1)))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let chain = Chain::builder().target(Echo.model("any")).build()?;
/// assert_eq!(chain.complete("hello").await?.value, "hello");
/// # Ok(()) }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a provider",
    note = "a builder becomes one by `.build()?`; a provider of your own implements `Provider` with `#[async_trait]`"
)]
pub trait Provider: Send + Sync + 'static {
    /// The adapter's name, as in reports: `openai`, `anthropic`, …
    fn name(&self) -> &str;

    /// Names the endpoint: targets whose providers give the same text share circuit breakers. Default: the name.
    /// HTTP adapters add the base URL. It has to be the same text in all processes that share breakers, which is why
    /// it cannot tell two values of a type apart by itself.
    fn instance(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.name())
    }

    /// Tells credentials of one endpoint apart. Rate limits and rejected keys are remembered per credential, and
    /// a new value clears them. Must not reveal the secret. Default: one for all.
    fn credential(&self) -> CredentialId {
        CredentialId::default()
    }

    /// What a model can do. Default: unknown.
    fn capabilities(&self, model: &str) -> Capabilities {
        let _ = model;
        Capabilities::unknown()
    }

    /// Asks once for a whole answer.
    ///
    /// # Errors
    /// Whatever kept the provider from answering, classified. An answer that may not be used is not an error
    /// here: that is for validators to say.
    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError>;

    /// Asks once for a stream. Default: [`complete`](Self::complete), given out in one piece.
    ///
    /// # Errors
    /// As [`complete`](Self::complete), before the stream has begun.
    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        Ok(chunk::whole(self.complete(attempt).await?))
    }
}

/// Tells credentials of one endpoint apart without revealing them: a number that the adapter derives from its
/// key, for example a keyed hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CredentialId(pub u64);

// By hand: the macro would box a future that awaits the boxed future, and method lookup finds this impl first.
impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn instance(&self) -> Cow<'_, str> {
        (**self).instance()
    }

    fn credential(&self) -> CredentialId {
        (**self).credential()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        (**self).capabilities(model)
    }

    fn complete<'s, 'a, 'r, 'f>(
        &'s self,
        attempt: &'a Attempt<'r>,
    ) -> BoxFuture<'f, Result<Response, ProviderError>>
    where
        's: 'f,
        'a: 'f,
        'r: 'f,
        Self: 'f,
    {
        (**self).complete(attempt)
    }

    fn stream<'s, 'a, 'r, 'f>(
        &'s self,
        attempt: &'a Attempt<'r>,
    ) -> BoxFuture<'f, Result<ChunkStream, ProviderError>>
    where
        's: 'f,
        'a: 'f,
        'r: 'f,
        Self: 'f,
    {
        (**self).stream(attempt)
    }
}
