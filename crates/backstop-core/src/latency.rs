//! How long a target takes lately, for timeouts and hedges that follow it.
//!
//! Latencies are kept for each target and task: how long an answer takes is mostly a matter of how long it is. Whole
//! answers count, accepted or not, and attempts that ran into the target's own timeout count as having taken that
//! long: without them a provider that gets slower would be cut off by a timeout that never learns of it. Quick errors
//! and cancelled attempts say nothing.
//!
//! What is older than ten minutes is forgotten, and of more than 1000 answers the older ones.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;

use crate::clock::Clock;

/// Half of the time, and of the answers, that are remembered.
const HALF_TIME: Duration = Duration::from_secs(300);
const HALF_COUNT: u64 = 500;
/// Task names may come from users, so they are bounded; what finds no room is counted together.
const MOST_TASKS: usize = 64;
/// Milliseconds: an hour is longer than any timeout that makes sense.
const LONGEST: u64 = 3_600_000;
/// Answers between two calculations of the same quantile.
const FRESH: u64 = 16;

/// A timeout that follows what a target takes lately.
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | quantile | 0.95 | the usual slow answer, not the odd one |
/// | factor | 2.5 | an answer that takes that much longer will hardly come |
/// | floor | 1 s | a pause of the network is no outage |
/// | ceiling | the target's timeout | never more than was asked for |
/// | least samples | 20 | below that a 95th percentile is one answer |
///
/// ```
/// use std::time::Duration;
/// use backstop_core::latency::AdaptiveTimeout;
/// # use backstop_core::{Attempt, Provider, ProviderError, ProviderExt, Response};
/// # struct Vendor;
/// # #[async_trait::async_trait] impl Provider for Vendor {
/// #     fn name(&self) -> &str { "vendor" }
/// #     async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> { Ok(Response::new("")) }
/// # }
/// let target = Vendor.model("large").adaptive_timeout(AdaptiveTimeout::new().floor(Duration::from_secs(3)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct AdaptiveTimeout {
    quantile: f64,
    factor: f64,
    floor: Duration,
    ceiling: Option<Duration>,
    least_samples: u64,
}

impl Default for AdaptiveTimeout {
    fn default() -> Self {
        Self { quantile: 0.95, factor: 2.5, floor: Duration::from_secs(1), ceiling: None, least_samples: 20 }
    }
}

impl AdaptiveTimeout {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which latency is multiplied: above 0, at most 1. Default 0.95.
    pub fn quantile(mut self, quantile: f64) -> Self {
        self.quantile = quantile;
        self
    }

    /// By how much: 1 or more. Default 2.5.
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The shortest timeout. Default 1 s.
    pub fn floor(mut self, floor: Duration) -> Self {
        self.floor = floor;
        self
    }

    /// The longest timeout. Default: the target's [`timeout`](crate::Target::timeout).
    pub fn ceiling(mut self, ceiling: Duration) -> Self {
        self.ceiling = Some(ceiling);
        self
    }

    /// Until there are so many latencies of a task, the target's own timeout holds. Default 20.
    pub fn least_samples(mut self, samples: u64) -> Self {
        self.least_samples = samples;
        self
    }

    pub(crate) fn longest(&self, timeout: Duration) -> Duration {
        self.ceiling.map_or(timeout, |ceiling| ceiling.max(timeout))
    }

    /// `None` until enough is known.
    pub(crate) fn of(
        &self,
        latencies: &Latencies,
        task: Option<&str>,
        timeout: Duration,
    ) -> Option<Duration> {
        let usual = latencies.quantile(task, self.quantile, self.least_samples)?;
        let ceiling = self.ceiling.unwrap_or(timeout);
        Some(usual.mul_f64(self.factor).max(self.floor).min(ceiling))
    }

    /// A setting that cannot work, its value, and why.
    pub(crate) fn wrong(&self, timeout: Duration) -> Option<(&'static str, String, &'static str)> {
        let ceiling = self.ceiling.unwrap_or(timeout);
        if !(self.quantile > 0.0 && self.quantile <= 1.0) {
            Some(("adaptive_timeout.quantile", self.quantile.to_string(), "give it more than 0, at most 1"))
        } else if !(self.factor >= 1.0 && self.factor <= 1000.0) {
            let why = "below 1 it would cut off usual answers; give it 1 to 1000";
            Some(("adaptive_timeout.factor", self.factor.to_string(), why))
        } else if self.floor > ceiling || ceiling.is_zero() {
            let why = "it lies above the ceiling, which is the target's timeout unless set";
            Some(("adaptive_timeout.floor", format!("{:?}", self.floor), why))
        } else {
            None
        }
    }
}

/// The latencies of one target, for each task.
pub(crate) struct Latencies {
    clock: Arc<dyn Clock>,
    tasks: Mutex<HashMap<Box<str>, Recent>>,
}

impl Latencies {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, tasks: Mutex::default() }
    }

    pub(crate) fn record(&self, task: Option<&str>, latency: Duration) {
        let now = self.clock.now();
        let mut tasks = self.tasks();
        let name = name(&tasks, task);
        if let Some(recent) = tasks.get_mut(name) {
            recent.record(latency, now);
        } else if let Some(mut recent) = Recent::new(now) {
            recent.record(latency, now);
            tasks.insert(name.into(), recent);
        }
    }

    pub(crate) fn quantile(&self, task: Option<&str>, quantile: f64, least: u64) -> Option<Duration> {
        let now = self.clock.now();
        let mut tasks = self.tasks();
        let name = name(&tasks, task);
        tasks.get_mut(name)?.quantile(quantile, least, now)
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<Box<str>, Recent>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a task is counted.
fn name<'a>(tasks: &HashMap<Box<str>, Recent>, task: Option<&'a str>) -> &'a str {
    let task = task.unwrap_or_default();
    if tasks.len() < MOST_TASKS || tasks.contains_key(task) { task } else { "" }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "latencies of {} task(s)", self.tasks().len())
    }
}

/// Two halves; the older one is dropped when the newer one is full.
struct Recent {
    newer: Histogram<u32>,
    older: Histogram<u32>,
    began: Instant,
    /// A quantile, its value, and how many answers have come since it was calculated.
    last: Option<(f64, Duration, u64)>,
}

impl Recent {
    fn new(now: Instant) -> Option<Self> {
        // Two digits are a hundredth: closer than any timeout needs.
        let empty = Histogram::new_with_bounds(1, LONGEST, 2).ok()?;
        Some(Self { newer: empty.clone(), older: empty, began: now, last: None })
    }

    fn record(&mut self, latency: Duration, now: Instant) {
        self.turn(now);
        let millis = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        self.newer.saturating_record(millis.clamp(1, LONGEST));
        if let Some((_, _, age)) = &mut self.last {
            *age += 1;
        }
    }

    fn turn(&mut self, now: Instant) {
        let age = now.saturating_duration_since(self.began);
        if age < HALF_TIME && self.newer.len() < HALF_COUNT {
            return;
        }
        std::mem::swap(&mut self.newer, &mut self.older);
        self.newer.reset();
        if age >= 2 * HALF_TIME {
            self.older.reset();
        }
        (self.began, self.last) = (now, None);
    }

    fn quantile(&mut self, quantile: f64, least: u64, now: Instant) -> Option<Duration> {
        self.turn(now);
        if self.newer.len() + self.older.len() < least.max(1) {
            return None;
        }
        if let Some((of, value, age)) = self.last {
            if of == quantile && age < FRESH {
                return Some(value);
            }
        }
        let mut both = self.newer.clone();
        both.add(&self.older).ok()?;
        let value = Duration::from_millis(both.value_at_quantile(quantile));
        self.last = Some((quantile, value, 0));
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    const SECOND: Duration = Duration::from_secs(1);

    fn latencies() -> (Latencies, ManualClock) {
        let clock = ManualClock::new();
        (Latencies::new(Arc::new(clock.clone())), clock)
    }

    /// Within the two digits that are kept.
    fn about(got: Option<Duration>, expected: Duration) -> bool {
        got.is_some_and(|got| got.abs_diff(expected) <= expected / 50)
    }

    #[test]
    fn the_timeout_is_two_and_a_half_times_the_95th_percentile_between_floor_and_ceiling() {
        let (latencies, _) = latencies();
        let adaptive = AdaptiveTimeout::new();
        for n in 1..=100 {
            if n <= 20 {
                assert_eq!(adaptive.of(&latencies, None, 30 * SECOND), None, "{n}");
            }
            latencies.record(None, n * SECOND / 25);
        }
        let of = |adaptive: AdaptiveTimeout| adaptive.of(&latencies, None, 30 * SECOND);
        assert!(about(of(adaptive), Duration::from_millis(9_500)), "{:?}", of(adaptive));
        assert_eq!(of(adaptive.ceiling(5 * SECOND)), Some(5 * SECOND));
        assert_eq!(of(adaptive.floor(20 * SECOND)), Some(20 * SECOND));
        assert_eq!(adaptive.of(&latencies, Some("other"), 30 * SECOND), None);
    }

    #[test]
    fn what_is_old_is_forgotten_by_time_and_by_count() {
        let (latencies, clock) = latencies();
        let median = |latencies: &Latencies| latencies.quantile(Some("t"), 0.5, 20);
        let record = |count: u32, latency| (0..count).for_each(|_| latencies.record(Some("t"), latency));
        record(100, 10 * SECOND);
        clock.advance(Duration::from_secs(310));
        record(20, SECOND);
        assert!(about(median(&latencies), 10 * SECOND));
        clock.advance(Duration::from_secs(310));
        assert!(about(median(&latencies), SECOND));
        clock.advance(Duration::from_secs(3600));
        assert_eq!(median(&latencies), None);

        record(1100, 10 * SECOND);
        record(1100, SECOND);
        assert!(about(median(&latencies), SECOND));
        assert!(about(latencies.quantile(Some("t"), 1.0, 1), SECOND));
    }

    #[test]
    fn tasks_are_bounded() {
        let (latencies, _) = latencies();
        for n in 0..10 * MOST_TASKS {
            latencies.record(Some(&format!("task {n}")), SECOND);
        }
        assert!(latencies.tasks().len() <= MOST_TASKS + 1);
        assert!(latencies.quantile(Some("task 0"), 0.5, 1).is_some());
    }

    #[test]
    fn settings_that_cannot_work_are_named() {
        let setting = |adaptive: AdaptiveTimeout| adaptive.wrong(30 * SECOND).map(|(setting, ..)| setting);
        assert_eq!(setting(AdaptiveTimeout::new()), None);
        assert_eq!(setting(AdaptiveTimeout::new().quantile(f64::NAN)), Some("adaptive_timeout.quantile"));
        assert_eq!(setting(AdaptiveTimeout::new().factor(0.5)), Some("adaptive_timeout.factor"));
        assert_eq!(setting(AdaptiveTimeout::new().floor(31 * SECOND)), Some("adaptive_timeout.floor"));
        assert_eq!(setting(AdaptiveTimeout::new().floor(31 * SECOND).ceiling(60 * SECOND)), None);
    }
}
