//! What keeps calls away from a credential rather than from a provider: a [`Gate`] that opens again by itself, and
//! a [`Latch`] that does not.
//!
//! A 429 says "later", not "down": counting it as an outage would turn away callers with other credentials, and
//! the breaker's growing cooldowns would outlast a limit of a minute by far. A rejected key says "never": no
//! cooldown will mend it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::FailureKind;

/// Closed until a moment in time, after a 429 or for an exhausted account.
///
/// ```
/// use backstop_core::gate::Gate;
/// use std::time::{Duration, Instant};
///
/// let (gate, now) = (Gate::default(), Instant::now());
/// assert!(gate.close_for(Duration::from_secs(20), now), "the first to find out");
/// assert!(!gate.close_for(Duration::from_secs(5), now));
/// assert_eq!(gate.remaining(now), Some(Duration::from_secs(20)), "the later deadline stays");
/// assert_eq!(gate.remaining(now + Duration::from_secs(20)), None);
/// ```
#[derive(Debug)]
pub struct Gate {
    cap: Duration,
    until: Mutex<Option<Instant>>,
}

impl Gate {
    /// The default cap, 15 minutes: an account may have been paid for, a limit raised, and a vendor's hint may be
    /// wrong.
    pub const DEFAULT_CAP: Duration = Duration::from_secs(15 * 60);

    /// An open gate that never closes for longer than `cap`.
    pub fn new(cap: Duration) -> Self {
        Self { cap, until: Mutex::new(None) }
    }

    /// Closes it for `wait` from `now`, at most for the cap. A later deadline that it already has stays. True if it
    /// was open before, for exactly one of many concurrent callers: that one raises the alert.
    pub fn close_for(&self, wait: Duration, now: Instant) -> bool {
        let mut until = self.until();
        let open = until.is_none_or(|until| until <= now);
        // A moment that the platform cannot represent is out of any cap's reach.
        *until = now.checked_add(wait.min(self.cap)).max(*until);
        open
    }

    /// For how long it is closed yet; `None` if it is open.
    pub fn remaining(&self, now: Instant) -> Option<Duration> {
        let mut until = self.until();
        let left = until.map(|until| until.saturating_duration_since(now)).filter(|left| !left.is_zero())?;
        if left > self.cap {
            // The clock went back: waiting for it to catch up could take for ever.
            *until = now.checked_add(self.cap);
        }
        Some(left.min(self.cap))
    }

    /// Opens it at once. True if it had a deadline.
    pub fn reset(&self) -> bool {
        self.until().take().is_some()
    }

    fn until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new(Self::DEFAULT_CAP)
    }
}

/// Set when a credential turns out to be bad, until somebody has mended it and calls [`reset`](Self::reset).
///
/// ```
/// use backstop_core::error::FailureKind;
/// use backstop_core::gate::Latch;
///
/// let latch = Latch::default();
/// assert!(latch.latch(FailureKind::Authentication), "the first to find out raises the alert");
/// assert!(!latch.latch(FailureKind::Authentication));
/// assert_eq!(latch.get(), Some(FailureKind::Authentication));
/// assert!(latch.reset());
/// assert_eq!(latch.get(), None);
/// ```
#[derive(Debug, Default)]
pub struct Latch {
    kind: Mutex<Option<FailureKind>>,
}

impl Latch {
    /// Sets it. True if it was not set before, for exactly one of many concurrent callers: that one raises the
    /// alert. The first kind stays.
    pub fn latch(&self, kind: FailureKind) -> bool {
        let mut latched = self.kind();
        let newly = latched.is_none();
        latched.get_or_insert(kind);
        newly
    }

    /// What it is set to.
    pub fn get(&self) -> Option<FailureKind> {
        *self.kind()
    }

    /// Releases it. True if it was set.
    pub fn reset(&self) -> bool {
        self.kind().take().is_some()
    }

    fn kind(&self) -> MutexGuard<'_, Option<FailureKind>> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_later_deadline_stays_and_the_cap_holds() {
        let (gate, now) = (Gate::new(60 * SECOND), Instant::now());
        assert_eq!(gate.remaining(now), None);
        gate.close_for(10 * SECOND, now);
        gate.close_for(3 * SECOND, now + SECOND);
        assert_eq!(gate.remaining(now), Some(10 * SECOND));
        gate.close_for(10 * SECOND, now + SECOND);
        assert_eq!(gate.remaining(now), Some(11 * SECOND), "a second 429 extends it");
        gate.close_for(Duration::MAX, now);
        assert_eq!(gate.remaining(now), Some(60 * SECOND));
    }

    #[test]
    fn it_opens_by_time_or_by_hand() {
        let (gate, now) = (Gate::default(), Instant::now());
        gate.close_for(5 * SECOND, now);
        assert_eq!(gate.remaining(now + 5 * SECOND - Duration::from_nanos(1)), Some(Duration::from_nanos(1)));
        assert_eq!(gate.remaining(now + 5 * SECOND), None);
        gate.close_for(5 * SECOND, now);
        assert!(gate.reset());
        assert_eq!(gate.remaining(now), None);
        assert!(!gate.reset());
    }

    #[test]
    fn a_clock_that_goes_back_a_day_keeps_it_closed_for_the_cap_only() {
        let (gate, now) = (Gate::new(60 * SECOND), Instant::now());
        let later = now + 86_400 * SECOND;
        gate.close_for(10 * SECOND, later);
        assert_eq!(gate.remaining(now), Some(60 * SECOND));
        assert_eq!(gate.remaining(now + 60 * SECOND), None);
    }

    /// How many of 16 threads are told that they were the first.
    fn first_of_many(find_out: impl Fn() -> bool + Sync) -> usize {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(&find_out)).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|first| *first).count()
        })
    }

    #[test]
    fn one_of_many_threads_closes_a_gate_each_time_that_it_was_open() {
        let (gate, now) = (Gate::default(), Instant::now());
        assert_eq!(first_of_many(|| gate.close_for(SECOND, now)), 1);
        assert_eq!(first_of_many(|| gate.close_for(SECOND, now + SECOND)), 1);
    }

    #[test]
    fn one_of_many_threads_latches() {
        let latch = Latch::default();
        assert_eq!(first_of_many(|| latch.latch(FailureKind::Permission)), 1);
        assert!(!latch.latch(FailureKind::Authentication));
        assert_eq!(latch.get(), Some(FailureKind::Permission), "the first kind stays");
    }
}
