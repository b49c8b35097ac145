//! Observers hear what calls do, for metrics and logs.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    attempt::CallId,
    report::{AttemptRecord, Report, Skip},
    target::TargetId,
};

/// Something that happened in a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A call was polled for the first time.
    CallStarted {
        /// Names the call.
        call_id: CallId,
    },
    /// A target was passed over.
    Skipped {
        /// Who was not asked.
        target: &'a TargetId,
        /// Why.
        reason: &'a Skip,
    },
    /// An attempt ended, also by being cancelled.
    AttemptFinished {
        /// Its line of the report.
        record: &'a AttemptRecord,
    },
    /// A call ended, also by being dropped: there is one for each [`CallStarted`](Self::CallStarted).
    CallFinished {
        /// Everything that happened.
        report: &'a Report,
        /// How it ended.
        outcome: CallOutcome,
    },
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallOutcome {
    /// With an answer; a stream came to its end.
    Served,
    /// With an error; a stream was interrupted.
    Failed,
    /// The caller went away, or its code or a provider's panicked.
    Cancelled,
}

/// Hears of events, on the caller's task and outside all locks. Must not block; a panic is caught and ignored.
///
/// A closure is an observer:
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use backstop_core::{CallOutcome, Chain, Event};
///
/// let failed = Arc::new(AtomicU64::new(0));
/// let counter = Arc::clone(&failed);
/// let chain = Chain::builder().observer(move |event: &Event<'_>| match event {
///     Event::CallFinished { outcome: CallOutcome::Failed, .. } => {
///         counter.fetch_add(1, Ordering::Relaxed);
///     }
///     Event::AttemptFinished { record } if record.alert => eprintln!("{} needs somebody", record.target),
///     _ => {}
/// });
/// # let _ = chain;
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Something happened.
    fn on_event(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync + 'static> Observer for F {
    fn on_event(&self, event: &Event<'_>) {
        self(event);
    }
}

/// The observers of a chain.
#[derive(Clone, Default)]
pub(crate) struct Observers(Arc<[Arc<dyn Observer>]>);

impl Observers {
    pub(crate) fn new(observers: Vec<Arc<dyn Observer>>) -> Self {
        Self(observers.into())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn emit(&self, event: &Event<'_>) {
        for observer in self.0.iter() {
            // A broken metric must not fail a call, nor abort it while it is being dropped.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.on_event(event)));
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observer(s)", self.0.len())
    }
}
