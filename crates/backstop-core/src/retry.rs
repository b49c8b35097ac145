//! How often and how soon the same target is asked again.

use std::{fmt, sync::Arc, time::Duration};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use fastrand::Rng;

/// How often and how soon the same target is asked again after a hard failure.
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | retries | 1 | one retry cures the passing faults; a second mostly delays failing over |
/// | first wait | 0.5 s | long enough for a load balancer to drop a bad host |
/// | factor | 2 | |
/// | longest wait | 8 s | below the usual attempt timeout |
/// | jitter | full: from 0 to the wait | spreads callers best (AWS Architecture Blog, "Exponential Backoff And Jitter") |
///
/// ```
/// use std::time::Duration;
/// use backstop_core::RetryPolicy;
///
/// let patient = RetryPolicy::default().retries(3).base(Duration::from_secs(1));
/// assert_eq!(patient.get_retries(), 3);
/// ```
#[derive(Clone)]
#[must_use]
pub struct RetryPolicy {
    retries: u8,
    schedule: ScheduleFactory,
    /// A factor that would make waits shorter.
    wrong_factor: Option<f32>,
}

#[derive(Clone)]
enum ScheduleFactory {
    Exponential { builder: ExponentialBuilder, jitter: bool },
    Custom(Arc<dyn Fn() -> BoxSchedule + Send + Sync>),
}

/// Gives the waits one by one; `None` means fail over.
type BoxSchedule = Box<dyn FnMut() -> Option<Duration> + Send>;

impl Default for RetryPolicy {
    fn default() -> Self {
        let builder = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(500))
            .with_factor(2.0)
            .with_max_delay(Duration::from_secs(8))
            .without_max_times();
        let schedule = ScheduleFactory::Exponential { builder, jitter: true };
        Self { retries: 1, schedule, wrong_factor: None }
    }
}

impl RetryPolicy {
    /// No retry on the same target.
    pub fn none() -> Self {
        Self::default().retries(0)
    }

    /// Most retries after hard failures. Default 1.
    pub fn retries(mut self, retries: u8) -> Self {
        self.retries = retries;
        self
    }

    /// The first wait. Default 0.5 s. Replaces a schedule of one's own.
    pub fn base(self, wait: Duration) -> Self {
        self.exponential(|builder| builder.with_min_delay(wait))
    }

    /// The longest wait. Default 8 s. Replaces a schedule of one's own.
    pub fn cap(self, wait: Duration) -> Self {
        self.exponential(|builder| builder.with_max_delay(wait))
    }

    /// By how much each wait is longer than the one before: 1 or more. Default 2. Replaces a schedule of one's own.
    pub fn factor(mut self, factor: f32) -> Self {
        self.wrong_factor = (!(1.0..f32::INFINITY).contains(&factor)).then_some(factor);
        self.exponential(|builder| builder.with_factor(factor.max(1.0)))
    }

    /// Waits exactly as scheduled, for tests.
    pub fn without_jitter(mut self) -> Self {
        self = self.exponential(|builder| builder);
        if let ScheduleFactory::Exponential { jitter, .. } = &mut self.schedule {
            *jitter = false;
        }
        self
    }

    /// Waits of one's own: the factory is asked once per target and call, the schedule before each retry.
    /// `None` means fail over.
    pub fn schedule<F, S>(mut self, factory: F) -> Self
    where
        F: Fn() -> S + Send + Sync + 'static,
        S: Iterator<Item = Duration> + Send + 'static,
    {
        self.schedule = ScheduleFactory::Custom(Arc::new(move || {
            let mut waits = factory();
            Box::new(move || waits.next())
        }));
        self
    }

    /// Waits of a [`backoff`] schedule; `None` of it means fail over.
    ///
    /// [`backoff`]: ::backoff
    #[cfg(feature = "backoff")]
    pub fn backoff<F, B>(mut self, factory: F) -> Self
    where
        F: Fn() -> B + Send + Sync + 'static,
        B: ::backoff::backoff::Backoff + Send + 'static,
    {
        self.schedule = ScheduleFactory::Custom(Arc::new(move || {
            let mut waits = factory();
            waits.reset();
            Box::new(move || waits.next_backoff())
        }));
        self
    }

    /// A factor with which it cannot work.
    pub(crate) fn wrong_factor(&self) -> Option<f32> {
        self.wrong_factor
    }

    /// Most retries after hard failures.
    #[must_use]
    pub fn get_retries(&self) -> u8 {
        self.retries
    }

    pub(crate) fn start(&self) -> Schedule {
        match &self.schedule {
            ScheduleFactory::Exponential { builder, jitter } => {
                Schedule { waits: Waits::Exponential(builder.build()), jitter: *jitter }
            }
            ScheduleFactory::Custom(factory) => Schedule { waits: Waits::Custom(factory()), jitter: false },
        }
    }

    fn exponential(mut self, change: impl FnOnce(ExponentialBuilder) -> ExponentialBuilder) -> Self {
        self.schedule = match self.schedule {
            ScheduleFactory::Exponential { builder, jitter } => {
                ScheduleFactory::Exponential { builder: change(builder), jitter }
            }
            ScheduleFactory::Custom(_) => match Self::default().schedule {
                ScheduleFactory::Exponential { builder, jitter } => {
                    ScheduleFactory::Exponential { builder: change(builder), jitter }
                }
                custom @ ScheduleFactory::Custom(_) => custom,
            },
        };
        self
    }
}

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schedule: &dyn fmt::Debug = match &self.schedule {
            ScheduleFactory::Exponential { builder, .. } => builder,
            ScheduleFactory::Custom(_) => &"custom",
        };
        f.debug_struct("RetryPolicy").field("retries", &self.retries).field("schedule", schedule).finish()
    }
}

/// The waits of one target in one call.
pub(crate) struct Schedule {
    waits: Waits,
    jitter: bool,
}

enum Waits {
    Exponential(ExponentialBackoff),
    Custom(BoxSchedule),
}

impl Schedule {
    /// The next wait; `None` when the schedule has ended.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> Option<Duration> {
        let wait = match &mut self.waits {
            Waits::Exponential(waits) => waits.next(),
            Waits::Custom(next) => next(),
        }?;
        Some(if self.jitter { wait.mul_f64(rng.f64()) } else { wait })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(policy: &RetryPolicy, seed: u64, count: usize) -> Vec<Duration> {
        let (mut schedule, mut rng) = (policy.start(), Rng::with_seed(seed));
        std::iter::from_fn(|| schedule.next(&mut rng)).take(count).collect()
    }

    #[test]
    fn waits_double_up_to_the_cap() {
        let policy = RetryPolicy::default().without_jitter();
        let millis: Vec<_> = waits(&policy, 1, 6).iter().map(Duration::as_millis).collect();
        assert_eq!(millis, [500, 1000, 2000, 4000, 8000, 8000]);
    }

    #[test]
    fn full_jitter_stays_below_the_wait_and_follows_the_seed() {
        let policy = RetryPolicy::default();
        assert_eq!(waits(&policy, 7, 5), waits(&policy, 7, 5));
        assert_ne!(waits(&policy, 7, 5), waits(&policy, 8, 5));
        let first: Vec<_> = (0..200).map(|seed| waits(&policy, seed, 1)[0].as_millis()).collect();
        assert!(first.iter().all(|wait| *wait <= 500));
        assert!(first.iter().any(|wait| *wait < 100) && first.iter().any(|wait| *wait > 400));
    }

    #[test]
    fn a_schedule_of_ones_own_may_end() {
        let policy = RetryPolicy::default().schedule(|| [Duration::from_secs(3)].into_iter());
        assert_eq!(waits(&policy, 1, 9), [Duration::from_secs(3)]);
        assert_eq!(
            waits(&policy.base(Duration::from_secs(1)).without_jitter(), 1, 1),
            [Duration::from_secs(1)]
        );
    }

    #[cfg(feature = "backoff")]
    #[test]
    fn a_backoff_schedule_is_taken() {
        use ::backoff::backoff::{Constant, Stop};
        let policy = RetryPolicy::default().backoff(|| Constant::new(Duration::from_secs(2)));
        assert_eq!(waits(&policy, 1, 2), [Duration::from_secs(2); 2]);
        assert_eq!(waits(&policy.backoff(|| Stop {}), 1, 2), []);
    }
}
