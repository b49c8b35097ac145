//! How the engine, which does not know the value's type, has an answer judged.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;

use crate::{
    error::Rejection,
    validator::{BoxValidator, Candidate, Sink},
};

/// Judges an answer and keeps the value to itself.
pub(crate) trait Judge: Send + Sync {
    fn judge<'a>(&'a self, candidate: Candidate<'a>) -> BoxFuture<'a, Result<(), Rejection>>;
}

/// Keeps the first accepted value.
pub(crate) struct ValueSlot<'a, 'v, T> {
    validator: &'a BoxValidator<'v, T>,
    value: Mutex<Option<T>>,
}

impl<'a, 'v, T> ValueSlot<'a, 'v, T> {
    pub(crate) fn new(validator: &'a BoxValidator<'v, T>) -> Self {
        Self { validator, value: Mutex::new(None) }
    }

    pub(crate) fn into_value(self) -> Option<T> {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> Sink<T> for ValueSlot<'_, '_, T> {
    fn put(&self, value: T) {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(value);
    }
}

impl<T: Send> Judge for ValueSlot<'_, '_, T> {
    fn judge<'a>(&'a self, candidate: Candidate<'a>) -> BoxFuture<'a, Result<(), Rejection>> {
        self.validator.judge(candidate, self)
    }
}
