//! What decides whether a value is an answer: usually a JSON Schema, but this module need not know.

use serde_json::Value;

/// How well a value fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// As it is.
    Exact,
    /// After this many changes of values that the caller will make, such as `"3"` to `3`.
    Coerced(usize),
    /// Not at all.
    No,
}

/// Decides whether a value is an answer. Implemented for closures `Fn(&Value) -> bool`.
pub trait Accept {
    /// How well the value fits.
    fn fit(&self, value: &Value) -> Fit;
}

impl<F: Fn(&Value) -> bool + ?Sized> Accept for F {
    fn fit(&self, value: &Value) -> Fit {
        if self(value) { Fit::Exact } else { Fit::No }
    }
}
