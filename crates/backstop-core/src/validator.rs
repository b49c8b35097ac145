//! Validators turn a response into the caller's value, or into a soft failure with a reason.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::{ConfigError, Rejection},
    request::Request,
    response::{Response, Usage},
    target::TargetId,
};

/// What a validator judges. `Debug` shows sizes, never the text.
///
/// ```
/// use backstop_core::{Candidate, Request, Response, Validator, validator};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), backstop_core::Rejection> {
/// // A validator is tested without a chain.
/// let (response, request) = (Response::new("blue"), Request::new("Name a colour."));
/// assert_eq!(validator::Text.validate(Candidate::new(&response, &request)).await?, "blue");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// The answer.
    pub response: &'a Response,
    /// What was asked, without re-asks.
    pub request: &'a Request,
    /// Who answered; `None` outside a chain.
    pub target: Option<&'a TargetId>,
    /// The JSON value that a validator has read from the answer, for the checks that it runs on it.
    pub value: Option<&'a Value>,
    changes: Option<&'a Changes>,
}

impl<'a> Candidate<'a> {
    /// A candidate outside a chain, for tests of a validator.
    #[must_use]
    pub fn new(response: &'a Response, request: &'a Request) -> Self {
        Self { response, request, target: None, value: None, changes: None }
    }

    pub(crate) fn with_target(mut self, target: &'a TargetId) -> Self {
        self.target = Some(target);
        self
    }

    /// Adds the value that was read from the answer.
    #[must_use]
    pub fn with_value(mut self, value: &'a Value) -> Self {
        self.value = Some(value);
        self
    }

    /// Collects what the validator [records](Self::record), outside a chain.
    #[must_use]
    pub fn with_changes(mut self, changes: &'a Changes) -> Self {
        self.changes = Some(changes);
        self
    }

    /// The answer's text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        &self.response.text
    }

    /// Records that the value differs from what the model wrote. Kept only if the answer is accepted.
    pub fn record(&self, change: Change) {
        if let Some(changes) = self.changes {
            changes.0.lock().unwrap_or_else(PoisonError::into_inner).push(change);
        }
    }

    /// What was recorded so far.
    pub(crate) fn recorded(&self) -> Vec<Change> {
        let changes =
            self.changes.map(|changes| changes.0.lock().unwrap_or_else(PoisonError::into_inner).clone());
        changes.unwrap_or_default()
    }

    /// Adds tokens that judging took, for example of a model that is asked for its opinion. The report shows them,
    /// whether the answer is accepted or not.
    pub fn spend(&self, usage: Usage) {
        if let Some(changes) = self.changes {
            *changes.1.lock().unwrap_or_else(PoisonError::into_inner) += usage;
        }
    }
}

impl fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("response", self.response)
            .field("request", self.request)
            .field("target", &self.target)
            .field("has_value", &self.value.is_some())
            .finish_non_exhaustive()
    }
}

/// What validators changed about one answer, and what judging it took.
#[derive(Debug, Default)]
pub struct Changes(Mutex<Vec<Change>>, Mutex<Usage>);

impl Changes {
    /// Takes out what was recorded.
    #[must_use]
    pub fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tokens that judging took.
    #[must_use]
    pub fn spent(&self) -> Usage {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One difference between what the model wrote and the value that the caller gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// Whether the text was repaired or a value converted.
    pub class: ChangeClass,
    /// What was done, in snake case: `trailing_comma`, `string_to_number`, …
    pub kind: Cow<'static, str>,
    /// How sure we are that the model meant it.
    pub risk: Risk,
    /// JSON pointer of what was changed.
    pub pointer: String,
    /// Byte offset in the answer's text.
    pub offset: Option<usize>,
}

impl Change {
    /// A repair of the text.
    #[must_use]
    pub fn repair(kind: impl Into<Cow<'static, str>>, risk: Risk, pointer: impl Into<String>) -> Self {
        Self { class: ChangeClass::Repair, kind: kind.into(), risk, pointer: pointer.into(), offset: None }
    }

    /// A conversion of a value to what the schema asks for.
    #[must_use]
    pub fn coercion(kind: impl Into<Cow<'static, str>>, risk: Risk, pointer: impl Into<String>) -> Self {
        Self { class: ChangeClass::Coercion, ..Self::repair(kind, risk, pointer) }
    }

    /// Sets the byte offset in the answer's text.
    #[must_use]
    pub fn at(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }
}

/// What kind of thing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeClass {
    /// The text was not JSON as it stood.
    Repair,
    /// A value had another type than the schema asks for.
    Coercion,
}

/// How sure we are that a change is what the model meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Risk {
    /// The value is the same however one reads it.
    Cosmetic,
    /// The structure was completed in the only way that fits.
    Structural,
    /// Another reading is possible.
    Guess,
}

/// Parses an answer into the caller's value. Implement with `async fn`; one that never awaits costs nothing.
///
/// A chain asks only for answers that are neither empty, cut off nor marked as refused by the vendor.
///
/// ```
/// use backstop_core::{Candidate, ConfigError, Rejection, Request, Validator};
///
/// struct Number;
///
/// impl Validator for Number {
///     type Output = f64;
///
///     fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
///         request.body_mut().system = Some("Answer with a number only.".into());
///         Ok(())
///     }
///
///     async fn validate(&self, answer: Candidate<'_>) -> Result<f64, Rejection> {
///         let text = answer.text().trim();
///         text.parse().map_err(|_| Rejection::new("not a number").with_feedback("Write digits only."))
///     }
/// }
/// ```
pub trait Validator: Send + Sync {
    /// What an accepted answer becomes.
    type Output: Send;

    /// Judges an answer.
    ///
    /// # Errors
    /// The answer may not be used, and why.
    fn validate(
        &self,
        candidate: Candidate<'_>,
    ) -> impl Future<Output = Result<Self::Output, Rejection>> + Send;

    /// Puts into the request what an answer needs to pass, for example the schema. Called once per call.
    ///
    /// # Errors
    /// The validator cannot work, for example because its schema is wrong. The call fails before anything is
    /// sent.
    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        let _ = request;
        Ok(())
    }
}

impl<V: Validator + ?Sized> Validator for &V {
    type Output = V::Output;

    fn validate(
        &self,
        candidate: Candidate<'_>,
    ) -> impl Future<Output = Result<V::Output, Rejection>> + Send {
        (**self).validate(candidate)
    }

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        (**self).prepare(request)
    }
}

impl<V: Validator + ?Sized> Validator for Arc<V> {
    type Output = V::Output;

    fn validate(
        &self,
        candidate: Candidate<'_>,
    ) -> impl Future<Output = Result<V::Output, Rejection>> + Send {
        (**self).validate(candidate)
    }

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        (**self).prepare(request)
    }
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

/// A closure as a validator.
///
/// ```
/// use backstop_core::{Candidate, Rejection, validator};
///
/// let short = validator::from_fn(|answer: Candidate<'_>| match answer.text() {
///     text if text.len() <= 80 => Ok(text.to_owned()),
///     _ => Err(Rejection::new("longer than 80 bytes")),
/// });
/// # let _ = short;
/// ```
pub fn from_fn<T, F>(judge: F) -> FromFn<F>
where
    T: Send,
    F: Fn(Candidate<'_>) -> Result<T, Rejection> + Send + Sync,
{
    FromFn(judge)
}

/// See [`from_fn`].
pub struct FromFn<F>(F);

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromFn")
    }
}

impl<T, F> Validator for FromFn<F>
where
    T: Send,
    F: Fn(Candidate<'_>) -> Result<T, Rejection> + Send + Sync,
{
    type Output = T;

    async fn validate(&self, candidate: Candidate<'_>) -> Result<T, Rejection> {
        (self.0)(candidate)
    }
}

/// Combinators of validators.
pub trait ValidatorExt: Validator + Sized {
    /// Looks at the typed value once more.
    ///
    /// ```
    /// use backstop_core::{Candidate, Rejection, ValidatorExt, validator};
    ///
    /// let even = validator::from_fn(|answer: Candidate<'_>| {
    ///     answer.text().parse::<i64>().map_err(|_| Rejection::new("not a number"))
    /// })
    /// .verify(|number| if number % 2 == 0 { Ok(()) } else { Err(Rejection::new("odd")) });
    /// # let _ = even;
    /// ```
    fn verify<F>(self, test: F) -> Verify<Self, F>
    where
        F: Fn(&Self::Output) -> Result<(), Rejection> + Send + Sync,
    {
        Verify { inner: self, test }
    }

    /// Erases the validator's type.
    fn boxed<'v>(self) -> BoxValidator<'v, Self::Output>
    where
        Self: 'v,
    {
        BoxValidator::new(self)
    }
}

impl<V: Validator> ValidatorExt for V {}

/// See [`ValidatorExt::verify`].
pub struct Verify<V, F> {
    inner: V,
    test: F,
}

impl<V: fmt::Debug, F> fmt::Debug for Verify<V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Verify").field(&self.inner).finish()
    }
}

impl<V, F> Validator for Verify<V, F>
where
    V: Validator,
    F: Fn(&V::Output) -> Result<(), Rejection> + Send + Sync,
{
    type Output = V::Output;

    async fn validate(&self, candidate: Candidate<'_>) -> Result<V::Output, Rejection> {
        let value = self.inner.validate(candidate).await?;
        (self.test)(&value)?;
        Ok(value)
    }

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        self.inner.prepare(request)
    }
}

/// Where the engine, which does not know the value's type, leaves an accepted value.
pub(crate) trait Sink<T>: Sync {
    fn put(&self, value: T);
}

/// The dyn-safe twin of [`Validator`].
trait Erased<T>: Send + Sync {
    fn validate<'a>(&'a self, candidate: Candidate<'a>) -> BoxFuture<'a, Result<T, Rejection>>;
    fn judge<'a>(
        &'a self,
        candidate: Candidate<'a>,
        sink: &'a dyn Sink<T>,
    ) -> BoxFuture<'a, Result<(), Rejection>>;
    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError>;
}

impl<V: Validator> Erased<V::Output> for V {
    fn validate<'a>(&'a self, candidate: Candidate<'a>) -> BoxFuture<'a, Result<V::Output, Rejection>> {
        Box::pin(Validator::validate(self, candidate))
    }

    fn judge<'a>(
        &'a self,
        candidate: Candidate<'a>,
        sink: &'a dyn Sink<V::Output>,
    ) -> BoxFuture<'a, Result<(), Rejection>> {
        Box::pin(async move {
            sink.put(Validator::validate(self, candidate).await?);
            Ok(())
        })
    }

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        Validator::prepare(self, request)
    }
}

/// Any validator of `T`. Cheap to clone.
pub struct BoxValidator<'v, T>(Arc<dyn Erased<T> + 'v>);

impl<'v, T: Send> BoxValidator<'v, T> {
    /// Erases the type of a validator.
    pub fn new<V: Validator<Output = T> + 'v>(validator: V) -> Self {
        Self(Arc::new(validator))
    }

    pub(crate) fn judge<'a>(
        &'a self,
        candidate: Candidate<'a>,
        sink: &'a dyn Sink<T>,
    ) -> BoxFuture<'a, Result<(), Rejection>> {
        self.0.judge(candidate, sink)
    }
}

impl<T> Clone for BoxValidator<'_, T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for BoxValidator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxValidator")
    }
}

impl<T: Send> Validator for BoxValidator<'_, T> {
    type Output = T;

    async fn validate(&self, candidate: Candidate<'_>) -> Result<T, Rejection> {
        self.0.validate(candidate).await
    }

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        self.0.prepare(request)
    }
}
