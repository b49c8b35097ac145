//! Rules on a typed value: what no schema can say, or what is easier said in Rust.

mod broken;
mod field;
#[cfg(feature = "garde")]
mod garde;
mod length;
mod names;

use std::{borrow::Cow, fmt, sync::Arc};

use backstop_core::{ConfigError, Rejection};
use serde_json::Value;

use self::broken::Broken;
#[cfg(feature = "garde")]
pub(crate) use self::garde::derived;
pub use self::{
    field::{Field, field, optional},
    length::Length,
};

/// A rule that a value of `T` must keep, with the JSON pointer of the place that it is about. An answer that breaks one
/// is asked for again like one that does not follow its schema: with pointer, expectation, and what was found.
///
/// [`field`] begins rules about one field; these are for everything else, such as two fields that must agree.
///
/// ```
/// use backstop_validate::rules::{FieldRule, field};
/// # struct Line { amount: f64 }
/// # struct Invoice { number: String, total: f64, lines: Vec<Line> }
///
/// let rules: [FieldRule<Invoice>; 3] = [
///     field("/number", |invoice: &Invoice| &invoice.number).matches(r"^INV-\d+$").into(),
///     field("/lines", |invoice: &Invoice| &invoice.lines)
///         .length(1..=100)
///         .each([field("/amount", |line: &Line| &line.amount).at_least(0.0).into()])
///         .into(),
///     FieldRule::new("/total", "the sum of the lines' amounts", |invoice: &Invoice| {
///         let sum: f64 = invoice.lines.iter().map(|line| line.amount).sum();
///         (invoice.total - sum).abs() < 0.01
///     }),
/// ];
/// # let _ = rules;
/// ```
pub struct FieldRule<T> {
    pointer: Cow<'static, str>,
    find: Arc<Find<T>>,
    wrong: Option<Arc<str>>,
}

/// Looks for broken rules below a place of the whole value.
type Find<T> = dyn Fn(&T, &str, &mut Vec<Broken>) + Send + Sync;

impl<T: 'static> FieldRule<T> {
    /// `test` must hold. `expected` completes "expected …" and goes to the model and into reports, so it must not
    /// quote the answer. An empty pointer means the whole value.
    pub fn new(
        pointer: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
        test: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        let expected = expected.into();
        Self::finding(pointer, move |value, at, broken| {
            if !test(value) {
                broken.push(Broken::expected(at, expected.clone()));
            }
        })
    }

    /// As [`new`](Self::new) with words that depend on the value: the text of the error goes to the model only.
    ///
    /// ```
    /// use backstop_validate::rules::FieldRule;
    /// # struct Stay { from: u32, to: u32 }
    ///
    /// let rule = FieldRule::explained("/to", |stay: &Stay| match stay.to.checked_sub(stay.from) {
    ///     Some(_) => Ok(()),
    ///     None => Err(format!("`to` must not be before `from`, which is {}", stay.from)),
    /// });
    /// # let _ = rule;
    /// ```
    pub fn explained(
        pointer: impl Into<Cow<'static, str>>,
        test: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self::finding(pointer, move |value, at, broken| {
            if let Err(words) = test(value) {
                broken.push(Broken::explained(at, words));
            }
        })
    }

    fn finding(
        pointer: impl Into<Cow<'static, str>>,
        find: impl Fn(&T, &str, &mut Vec<Broken>) + Send + Sync + 'static,
    ) -> Self {
        let pointer = pointer.into();
        let wrong = (!pointer.is_empty() && !pointer.starts_with('/'))
            .then(|| format!("pointer {pointer:?} does not begin with `/`").into());
        Self { pointer, find: Arc::new(find), wrong }
    }

    fn find(&self, value: &T, base: &str, broken: &mut Vec<Broken>) {
        let at = format!("{base}{}", self.pointer);
        (self.find)(value, &at, broken);
    }
}

impl<T> FieldRule<T> {
    /// A mistake in the rule itself, such as a pattern that does not compile.
    pub(crate) fn mistake(&self) -> Option<ConfigError> {
        self.wrong.as_ref().map(|wrong| ConfigError::setting("rule", wrong.to_string()))
    }
}

/// Holds a value against all rules.
pub(crate) fn check<T: 'static>(rules: &[FieldRule<T>], value: &T, json: &Value) -> Result<(), Rejection> {
    let mut broken = Vec::new();
    for rule in rules {
        rule.find(value, "", &mut broken);
    }
    broken::rejection(&broken, json)
}

impl<T> Clone for FieldRule<T> {
    fn clone(&self) -> Self {
        Self { pointer: self.pointer.clone(), find: Arc::clone(&self.find), wrong: self.wrong.clone() }
    }
}

impl<T> fmt::Debug for FieldRule<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FieldRule").field(&self.pointer).finish()
    }
}
