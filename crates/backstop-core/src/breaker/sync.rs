//! The primitives the breaker is built on, in one place so that loom can stand in for them.

#[cfg(not(backstop_loom))]
pub(super) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};

#[cfg(backstop_loom)]
pub(super) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};

/// No user code runs under a breaker's lock, so a poisoned one still guards a consistent state.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
