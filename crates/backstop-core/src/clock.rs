//! Where "now" comes from: breakers, gates and windows ask a [`Clock`], so that their time can be tested.
//!
//! Only monotonic time is used. Wall clocks step, and a step would shorten or stretch every cooldown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What "no limit" comes to: a time that can still be added to a clock.
pub(crate) const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);

/// A source of monotonic time.
pub trait Clock: Send + Sync + 'static {
    /// The present moment. It may repeat, and should not go back; if it does, nothing gets stuck, but
    /// cooldowns and windows are only as good as the clock.
    fn now(&self) -> Instant;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Instant {
        (**self).now()
    }
}

/// The operating system's monotonic clock, [`Instant::now`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// Tokio's clock: the system's, except in a runtime whose time is paused, where it follows
/// `tokio::time::advance` and automatic advancing. The default of everything that runs calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioClock;

impl Clock for TokioClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

/// A clock that moves only when told to. Clones share the same time.
///
/// ```
/// use backstop_core::clock::{Clock, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(45));
/// assert_eq!(clock.now() - before, Duration::from_secs(45));
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<Mutex<Instant>>,
}

impl ManualClock {
    /// A clock that stands at the real present.
    pub fn new() -> Self {
        Self::starting_at(Instant::now())
    }

    /// A clock that stands at `start`.
    pub fn starting_at(start: Instant) -> Self {
        Self { now: Arc::new(Mutex::new(start)) }
    }

    /// Moves time forward.
    pub fn advance(&self, by: Duration) {
        let mut now = self.time();
        *now = now.checked_add(by).unwrap_or(*now);
    }

    /// Moves time back, which no monotonic clock should do: for tests of what happens if one does.
    /// Stays where it is if the platform cannot represent the earlier moment.
    pub fn rewind(&self, by: Duration) {
        let mut now = self.time();
        *now = now.checked_sub(by).unwrap_or(*now);
    }

    /// Sets the time, forward or back.
    pub fn set(&self, to: Instant) {
        *self.time() = to;
    }

    fn time(&self) -> MutexGuard<'_, Instant> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        *self.time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_manual_clock_share_one_time() {
        let clock = ManualClock::new();
        let twin = clock.clone();
        let start = clock.now();
        twin.advance(Duration::from_secs(2));
        assert_eq!(clock.now() - start, Duration::from_secs(2));
        twin.rewind(Duration::from_secs(3));
        assert_eq!(start - clock.now(), Duration::from_secs(1));
        twin.set(start);
        assert_eq!(clock.now(), start);
    }

    #[tokio::test(start_paused = true)]
    async fn the_tokio_clock_follows_paused_time() {
        let before = TokioClock.now();
        tokio::time::advance(Duration::from_secs(86_400)).await;
        assert_eq!(TokioClock.now() - before, Duration::from_secs(86_400));
    }
}
