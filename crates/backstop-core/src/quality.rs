//! Remembers which target is no good at which task.
//!
//! A soft failure (an answer that may not be used) is a success for the outage breaker: the provider is up. But a
//! target of whose answers to one task half are useless costs a call each time. With quality windows on, such a
//! target is skipped for that task only, for a while, and then probed: the rules of a
//! [`breaker`](crate::breaker), with soft failures in place of outages. They are off by default, because what makes
//! an answer fail is as often the prompt or the schema, which no other target will like better.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::breaker::{
    Breaker, BreakerConfig, BreakerConfigBuilder, BreakerKey, Listeners, Outcome, Permit, Snapshot,
    Subscription, Transition,
};
use crate::clock::{Clock, TokioClock};
use crate::registry::bounded::Bounded;

/// Task names may come from users, so they are bounded; a pair that finds no room is not watched.
const MOST_PAIRS: usize = 1024;

/// The shares of soft failures per target and task. Clones share them. The default is off.
///
/// ```
/// use backstop_core::quality::QualityWindows;
///
/// let windows = QualityWindows::on(QualityWindows::settings().build()?);
/// for _ in 0..20 {
///     windows.admit("ollama/llama3.1:8b", "invoices")?.settle(false);
/// }
/// assert!(windows.admit("ollama/llama3.1:8b", "invoices").is_err());
/// assert!(windows.admit("ollama/llama3.1:8b", "summaries").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct QualityWindows {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    config: BreakerConfig,
    clock: Arc<dyn Clock>,
    listeners: Listeners,
    windows: Mutex<Bounded<BreakerKey, Breaker>>,
}

impl QualityWindows {
    /// Never skips anything.
    pub fn off() -> Self {
        Self::default()
    }

    /// Skips by these settings. [`settings`](Self::settings) has sensible ones to begin with.
    pub fn on(config: BreakerConfig) -> Self {
        Self::with_clock(config, TokioClock)
    }

    /// The same with a clock of one's own.
    pub fn with_clock(config: BreakerConfig, clock: impl Clock) -> Self {
        let windows = Mutex::new(Bounded::new(MOST_PAIRS));
        let inner = Inner { config, clock: Arc::new(clock), listeners: Listeners::default(), windows };
        Self { inner: Some(Arc::new(inner)) }
    }

    /// Settings that suit quality: half of at least 20 answers within 10 minutes are useless, then 5 minutes off,
    /// twice as long each time, at most 30 minutes. Soft failures in a row alone skip nothing: three bad documents
    /// after each other are no verdict on a model.
    pub fn settings() -> BreakerConfigBuilder {
        let minutes = |n: u64| Duration::from_secs(60 * n);
        BreakerConfig::builder()
            .without_consecutive_failures()
            .failure_rate(0.5)
            .min_calls(20)
            .window(minutes(10))
            .cooldown_cap(minutes(30))
            .cooldown(minutes(5))
    }

    /// Asks whether a target may be used for a task.
    ///
    /// # Errors
    /// [`QualitySkip`] if it is to be skipped.
    pub fn admit(&self, target: &str, task: &str) -> Result<QualityPermit, QualitySkip> {
        match &self.inner {
            Some(inner) => inner.admit(target, task, inner.clock.now()),
            None => Ok(QualityPermit { permit: None }),
        }
    }

    /// The same with a time that the caller has anyway.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub fn admit_at(&self, target: &str, task: &str, now: Instant) -> Result<QualityPermit, QualitySkip> {
        match &self.inner {
            Some(inner) => inner.admit(target, task, now),
            None => Ok(QualityPermit { permit: None }),
        }
    }

    /// Has `listener` called when a target begins or ceases to be skipped for a task; the transition's key is
    /// target and task. `None` if the windows are off.
    pub fn subscribe(&self, listener: impl Fn(&Transition) + Send + Sync + 'static) -> Option<Subscription> {
        self.inner.as_ref().map(|inner| inner.listeners.subscribe(listener))
    }

    /// All windows, sorted by target and task (the two parts of their keys).
    pub fn snapshot(&self) -> Vec<Snapshot> {
        let Some(inner) = &self.inner else { return Vec::new() };
        let windows = inner.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = windows.iter().map(|(_, window)| window.snapshot()).collect();
        drop(windows);
        all.sort_by(|a, b| a.key.cmp(&b.key));
        all
    }
}

impl Inner {
    fn admit(&self, target: &str, task: &str, now: Instant) -> Result<QualityPermit, QualitySkip> {
        let Some(window) = self.window(BreakerKey::new(target, task)) else {
            return Ok(QualityPermit { permit: None });
        };
        match window.try_acquire_at(now) {
            Ok(permit) => Ok(QualityPermit { permit: Some(permit) }),
            Err(rejected) => Err(QualitySkip { retry_in: rejected.retry_in }),
        }
    }

    fn window(&self, pair: BreakerKey) -> Option<Arc<Breaker>> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(window) = windows.get(&pair) {
            return Some(Arc::clone(window));
        }
        let window = Breaker::builder(pair.clone())
            .config(self.config.clone())
            .clock(Arc::clone(&self.clock))
            .listeners(self.listeners.clone())
            .build();
        windows.insert(pair, &window, Breaker::is_idle).then_some(window)
    }
}

impl fmt::Debug for QualityWindows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = self.inner.as_ref().map(|inner| &inner.config);
        f.debug_struct("QualityWindows").field("config", &config).finish_non_exhaustive()
    }
}

/// Leave to use a target for a task. Dropping it counts as nothing, which is right for hard failures: they are the
/// outage breaker's matter.
#[derive(Debug)]
#[must_use = "dropping it counts as nothing"]
pub struct QualityPermit {
    /// `None` if nothing is watched.
    permit: Option<Permit>,
}

impl QualityPermit {
    /// True if this answer decides whether the target is used for the task again.
    pub fn is_probe(&self) -> bool {
        self.permit.as_ref().is_some_and(Permit::is_probe)
    }

    /// Says whether the answer could be used.
    pub fn settle(self, usable: bool) {
        if let Some(permit) = self.permit {
            permit.settle(verdict(usable));
        }
    }

    /// The same with a time that the caller has anyway.
    pub fn settle_at(self, usable: bool, now: Instant) {
        if let Some(permit) = self.permit {
            permit.settle_at(verdict(usable), now);
        }
    }
}

fn verdict(usable: bool) -> Outcome {
    if usable { Outcome::Success } else { Outcome::FAILURE }
}

/// A target that is not used for a task at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("too many unusable answers to this task: use another target for it")]
pub struct QualitySkip {
    /// When asking again makes sense.
    pub retry_in: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breaker::State;
    use crate::clock::ManualClock;

    const MINUTE: Duration = Duration::from_secs(60);

    fn windows() -> (QualityWindows, ManualClock) {
        let clock = ManualClock::new();
        let config = QualityWindows::settings().jitter(0.0).build().unwrap();
        (QualityWindows::with_clock(config, clock.clone()), clock)
    }

    #[test]
    fn off_never_skips() {
        let windows = QualityWindows::default();
        for _ in 0..100 {
            windows.admit("t", "task").unwrap().settle(false);
        }
        assert!(windows.admit("t", "task").is_ok());
        assert!(windows.snapshot().is_empty());
    }

    #[test]
    fn a_target_is_skipped_for_one_task_then_probed() {
        let (windows, clock) = windows();
        for n in 0..20 {
            windows.admit("t", "invoices").unwrap().settle(n % 2 == 0);
        }
        assert_eq!(windows.admit("t", "invoices").unwrap_err().retry_in, Some(5 * MINUTE));
        assert!(windows.admit("t", "letters").is_ok());
        assert!(windows.admit("other", "invoices").is_ok());

        clock.advance(5 * MINUTE);
        let probe = windows.admit("t", "invoices").unwrap();
        assert!(probe.is_probe());
        assert!(windows.admit("t", "invoices").is_err());
        probe.settle(false);
        assert_eq!(windows.admit("t", "invoices").unwrap_err().retry_in, Some(10 * MINUTE));
        clock.advance(10 * MINUTE);
        windows.admit("t", "invoices").unwrap().settle(true);
        assert!(!windows.admit("t", "invoices").unwrap().is_probe());
    }

    #[test]
    fn bad_answers_in_a_row_and_hard_failures_skip_nothing() {
        let (windows, _clock) = windows();
        for _ in 0..19 {
            windows.admit("t", "task").unwrap().settle(false);
        }
        for _ in 0..100 {
            drop(windows.admit("t", "task").unwrap());
        }
        assert!(windows.admit("t", "task").is_ok());
    }

    #[test]
    fn tasks_are_bounded_and_a_skipped_pair_is_not_forgotten() {
        let (windows, _clock) = windows();
        for _ in 0..20 {
            windows.admit("t", "bad").unwrap().settle(false);
        }
        for n in 0..3 * MOST_PAIRS {
            let _ = windows.admit("t", &format!("task {n}"));
        }
        let all = windows.snapshot();
        assert!(all.len() <= MOST_PAIRS);
        assert!(all.iter().any(|window| window.state == State::Open));
        assert!(windows.admit("t", "bad").is_err());
    }
}
