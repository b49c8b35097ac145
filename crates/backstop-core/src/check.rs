//! Checks judge an answer without making a value of it; a chain owns some for all its calls.

use std::{borrow::Cow, fmt};

use async_trait::async_trait;

use crate::{
    error::{Failure, FailureKind, ProviderError, Rejection},
    request::{Output, Request},
    response::{FinishKind, Response},
    validator::{Candidate, Validator},
};

/// A validator without a value. Dyn-safe, so that a chain can own a list of them
/// ([`ChainBuilder::check`](crate::ChainBuilder::check)).
///
/// ```
/// use async_trait::async_trait;
/// use backstop_core::{Candidate, Check, Rejection};
///
/// struct NoMarkdown;
///
/// #[async_trait]
/// impl Check for NoMarkdown {
///     fn name(&self) -> &str {
///         "no_markdown"
///     }
///
///     async fn check(&self, answer: Candidate<'_>) -> Result<(), Rejection> {
///         if answer.text().contains("**") { Err(Rejection::new("has markdown")) } else { Ok(()) }
///     }
/// }
/// ```
#[async_trait]
pub trait Check: Send + Sync + 'static {
    /// A short name, for reports.
    fn name(&self) -> &str;

    /// Judges an answer.
    ///
    /// # Errors
    /// The answer may not be used, and why.
    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection>;

    /// Judges the beginning of a streamed answer, before any of it is shown: the last moment at which going to the
    /// next target is silent. `head` may end anywhere. Default: accepts it; [`check`](Self::check) judges the whole
    /// answer at the end in any case.
    ///
    /// # Errors
    /// The answer will not be usable, and why.
    fn check_head(&self, head: &str) -> Result<(), Rejection> {
        let _ = head;
        Ok(())
    }
}

/// A closure as a check.
///
/// ```
/// use backstop_core::{Candidate, Rejection, check};
///
/// let polite = check::from_fn("polite", |answer: Candidate<'_>| {
///     if answer.text().contains("please") { Ok(()) } else { Err(Rejection::new("not polite")) }
/// });
/// # let _ = polite;
/// ```
pub fn from_fn<F>(name: impl Into<Cow<'static, str>>, judge: F) -> FromFn<F>
where
    F: Fn(Candidate<'_>) -> Result<(), Rejection> + Send + Sync + 'static,
{
    FromFn { name: name.into(), judge }
}

/// See [`from_fn`].
pub struct FromFn<F> {
    name: Cow<'static, str>,
    judge: F,
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Check({})", self.name)
    }
}

#[async_trait]
impl<F> Check for FromFn<F>
where
    F: Fn(Candidate<'_>) -> Result<(), Rejection> + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        (self.judge)(candidate)
    }
}

/// What every answer must pass before a check or validator looks at it: no refusal signal, not filtered, not cut
/// off, and not empty. Tool calls count as content where text was asked for; a model that was asked for JSON and
/// calls a tool instead has not answered.
pub(crate) fn baseline(request: &Request, response: &Response) -> Result<(), Failure> {
    if response.refusal.is_some() {
        return Err(Rejection::refused("the vendor marked the answer as a refusal").into());
    }
    match response.finish.kind {
        FinishKind::Refusal => {
            return Err(Rejection::refused("the vendor's stop reason is a refusal").into());
        }
        FinishKind::ContentFilter => {
            let error = ProviderError::new(FailureKind::Filtered, "the vendor's filter stopped the answer");
            return Err(error.into());
        }
        FinishKind::Length => return Err(Rejection::truncated("the answer met its token limit").into()),
        _ => {}
    }
    let called_a_tool = request.output == Output::Text && !response.tool_calls.is_empty();
    if response.text.trim().is_empty() && !called_a_tool {
        return Err(Rejection::empty().into());
    }
    Ok(())
}

/// The answer's text, once the vendor's signals are clean. What [`Chain::complete`](crate::Chain::complete) uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text;

impl Validator for Text {
    type Output = String;

    async fn validate(&self, candidate: Candidate<'_>) -> Result<String, Rejection> {
        Ok(candidate.text().to_owned())
    }
}
