//! Checks judge an answer without making a value of it; a chain owns some for all its calls.

use std::{borrow::Cow, fmt, sync::Arc};

use async_trait::async_trait;

use crate::{
    error::{ConfigError, Failure, FailureKind, ProviderError, Rejection},
    request::{Output, Request},
    response::{FinishKind, Response},
    validator::Candidate,
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a check",
    note = "for a closure, write `check::from_fn(\"name\", |answer: Candidate<'_>| …)`"
)]
pub trait Check: Send + Sync + 'static {
    /// A short name. Reports and errors say by it which check has rejected an answer.
    fn name(&self) -> &str;

    /// Whether it can work as it is set. A chain asks when it is built, a validator when a call begins, so that a
    /// mistake costs no request. Default: it can.
    ///
    /// # Errors
    /// A setting cannot work; the error names it.
    fn ready(&self) -> Result<(), ConfigError> {
        Ok(())
    }

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

#[async_trait]
impl<C: Check + ?Sized> Check for Arc<C> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn ready(&self) -> Result<(), ConfigError> {
        (**self).ready()
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        (**self).check(candidate).await
    }

    fn check_head(&self, head: &str) -> Result<(), Rejection> {
        (**self).check_head(head)
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
/// off, and not empty unless that is allowed. Tool calls count as content where text was asked for; a model that was
/// asked for JSON and calls a tool instead has not answered.
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
            let word = response.finish.raw.as_deref();
            return Err(word.into_iter().fold(error, ProviderError::with_code).into());
        }
        FinishKind::Length => return Err(Rejection::truncated(cut(response)).into()),
        _ => {}
    }
    let called_a_tool = request.output == Output::Text && !response.tool_calls.is_empty();
    if response.text.trim().is_empty() && !called_a_tool && !request.allow_empty {
        return Err(Rejection::empty().into());
    }
    Ok(())
}

/// What used the token limit up.
fn cut(response: &Response) -> Cow<'static, str> {
    let reasoning = response.usage.map_or(0, |usage| usage.reasoning_tokens);
    if response.text.trim().is_empty() && reasoning > 0 {
        return Cow::Owned(format!("{reasoning} tokens of reasoning used up the limit; raise `max_tokens`"));
    }
    Cow::Borrowed("the answer met its token limit; raise `max_tokens`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        response::{FinishReason, Usage},
        tool::ToolCall,
    };

    fn judged(request: &Request, response: &Response) -> Option<FailureKind> {
        baseline(request, response).err().map(|failure| failure.kind())
    }

    #[test]
    fn an_empty_answer_will_do_where_the_caller_says_so() {
        let (strict, lenient) = (Request::new("x"), Request::new("x").allow_empty());
        for text in ["", " \n"] {
            assert_eq!(judged(&strict, &Response::new(text)), Some(FailureKind::Empty));
            assert_eq!(judged(&lenient, &Response::new(text)), None);
        }
        let cut = Response::new("").with_finish(FinishKind::Length);
        assert_eq!(judged(&lenient, &cut), Some(FailureKind::Truncated), "which is another matter");
        let called = Response::new("").with_tool_call(ToolCall::new("1", "f", "{}"));
        assert_eq!(judged(&strict, &called), None);
    }

    #[test]
    fn a_cut_answer_says_what_used_up_the_limit_and_a_filter_by_which_name() {
        let spent = Response::new("").with_finish(FinishKind::Length);
        let spent = spent.with_usage(Usage::new(9, 70).with_reasoning(70));
        let failure = baseline(&Request::new("x"), &spent).unwrap_err().to_string();
        assert!(failure.contains("70 tokens of reasoning") && failure.contains("`max_tokens`"), "{failure}");
        let finish = FinishReason::new(FinishKind::ContentFilter, "BLOCKLIST");
        let failure = baseline(&Request::new("x"), &Response::new("").with_finish(finish)).unwrap_err();
        assert_eq!(failure.as_hard().and_then(ProviderError::code), Some("BLOCKLIST"));
    }
}
