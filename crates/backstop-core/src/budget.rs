//! Retry budgets keep retries from becoming the outage: when much of the traffic to a provider fails, asking each
//! time twice doubles the load on what is already failing.
//!
//! One budget per provider instance, shared by all chains of a [`Registry`](crate::Registry). It pays for retries
//! at the same provider and for hedges. Failing over is not charged: that load goes elsewhere, and an outage of one
//! provider must not use up the budget of another. Re-asking after an answer that may not be used is not charged
//! either; the provider is up, and the target's own count bounds it.
//!
//! Two limits must both allow a retry:
//!
//! - *rate*: every first attempt earns a fifth of a retry, which lasts for a minute; beside that there is a reserve
//!   that fills up by one retry a second, so that an application with few calls can retry at all;
//! - *concurrency*: at most a fifth of the attempts under way may be retries, but three always.
//!
//! Nobody waits for a budget: a retry that it does not pay for becomes a failover at once.

use std::fmt;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering},
};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{clock::Clock, error::ConfigError};

/// Parts of the time for which an earned retry lasts; it is forgotten with its part.
const PARTS: usize = 10;
/// One retry, in the unit that budgets are counted in.
const RETRY: u64 = 1000;

/// How many retries a provider may be asked for.
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | share | 0.2 | in an outage the provider sees at most a fifth more than its usual load |
/// | floor | 1 a second, 10 saved up | a single caller's retries are no load |
/// | lifetime | 60 s | calls take seconds, so less would forget what the calls under way have earned |
/// | concurrent | 20 % of the attempts under way, at least 3 | slow failures pile up without breaking a rate |
///
/// ```
/// use backstop_core::budget::BudgetConfig;
/// use backstop_core::Registry;
///
/// // A value out of its range is an error of `ChainBuilder::build`.
/// let registry = Registry::builder().retry_budget(BudgetConfig::default().share(0.1)).build();
/// # let _ = registry;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct BudgetConfig {
    limited: bool,
    share: f64,
    floor: f64,
    saved: u32,
    lifetime: Duration,
    concurrent_share: f64,
    concurrent_least: u32,
}

impl Default for BudgetConfig {
    fn default() -> Self {
        Self {
            limited: true,
            share: 0.2,
            floor: 1.0,
            saved: 10,
            lifetime: Duration::from_secs(60),
            concurrent_share: 0.2,
            concurrent_least: 3,
        }
    }
}

impl BudgetConfig {
    /// Pays for every retry. The targets' own counts still hold.
    pub fn unlimited() -> Self {
        Self { limited: false, ..Self::default() }
    }

    /// Retries earned by each first attempt, from 0 to 10. Default 0.2.
    pub fn share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// Retries a second that are paid for without being earned, and how many of them are saved up at most.
    /// Default 1 and 10. The first is from 0 to 1000.
    pub fn floor(mut self, per_second: f64, saved: u32) -> Self {
        self.floor = per_second;
        self.saved = saved;
        self
    }

    /// How long an earned retry lasts, 1 s or more. Default 60 s.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// The largest share of the attempts under way that may be retries, and how many always may. Default 0.2
    /// and 3. The first is from 0 to 1.
    pub fn concurrent(mut self, share: f64, at_least: u32) -> Self {
        self.concurrent_share = share;
        self.concurrent_least = at_least;
        self
    }

    /// Whether it can work.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let numbers = [
            ("share", self.share, 10.0),
            ("floor", self.floor, 1000.0),
            ("concurrent", self.concurrent_share, 1.0),
        ];
        let wrong = numbers.into_iter().find(|(_, value, most)| !(0.0..=*most).contains(value));
        if let Some((setting, value, most)) = wrong {
            let why = format!("of the retry budget is {value}: give it 0 to {most}");
            return Err(ConfigError::setting(setting, why));
        }
        if self.lifetime < Duration::from_secs(1) {
            return Err(ConfigError::setting("lifetime", "of the retry budget is below 1 s"));
        }
        Ok(())
    }
}

/// A budget at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BudgetSnapshot {
    /// The provider instance.
    pub provider: Arc<str>,
    /// Whole retries that the rate would pay for now; `None` if it is not limited.
    pub retries_left: Option<u64>,
    /// Attempts under way, retries included.
    pub in_flight: u32,
    /// Retries and hedges under way, or waiting to be sent.
    pub retries_in_flight: u32,
    /// Retries and hedges that were not paid for, since the budget exists.
    pub refused_total: u64,
}

/// The retries that one provider instance may still be asked for.
pub(crate) struct RetryBudget {
    provider: Arc<str>,
    config: BudgetConfig,
    clock: Arc<dyn Clock>,
    in_flight: AtomicU32,
    state: Mutex<State>,
}

struct State {
    reserve: u64,
    filled_at: Instant,
    /// What was earned in each part of the lifetime, in a circle.
    earned: [u64; PARTS],
    /// Counts the parts since the beginning.
    part: u64,
    origin: Instant,
    retries: u32,
    refused: u64,
}

impl RetryBudget {
    pub(crate) fn new(provider: Arc<str>, config: BudgetConfig, clock: Arc<dyn Clock>) -> Self {
        let now = clock.now();
        let state = State {
            reserve: u64::from(config.saved) * RETRY,
            filled_at: now,
            earned: [0; PARTS],
            part: 0,
            origin: now,
            retries: 0,
            refused: 0,
        };
        Self { provider, config, clock, in_flight: AtomicU32::new(0), state: Mutex::new(state) }
    }

    /// An attempt begins. The first of a call at this provider earns part of a retry. The time is that of the
    /// budget's clock.
    pub(crate) fn begin_at(self: &Arc<Self>, first: bool, now: Instant) -> InFlight {
        if self.config.limited && first {
            let mut state = self.state();
            state.turn(now, self.config.lifetime);
            state.earn((self.config.share * RETRY as f64).round() as u64);
        }
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight { budget: Arc::clone(self) }
    }

    /// Pays for one retry, if both limits allow it.
    pub(crate) fn withdraw(self: &Arc<Self>) -> Option<RetryToken> {
        let now = self.clock.now();
        let mut state = self.state();
        let source = if self.config.limited {
            state.turn(now, self.config.lifetime);
            state.fill(now, &self.config);
            state.take(&self.config, self.in_flight.load(Ordering::Relaxed))
        } else {
            Some(Source::Nothing)
        };
        let Some(source) = source else {
            state.refused += 1;
            return None;
        };
        state.retries += 1;
        drop(state);
        Some(RetryToken { budget: Arc::clone(self), source: Some(source) })
    }

    pub(crate) fn snapshot(&self) -> BudgetSnapshot {
        let now = self.clock.now();
        let mut state = self.state();
        state.turn(now, self.config.lifetime);
        state.fill(now, &self.config);
        let left = state.reserve / RETRY + state.earned.iter().sum::<u64>() / RETRY;
        BudgetSnapshot {
            provider: Arc::clone(&self.provider),
            retries_left: self.config.limited.then_some(left),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            retries_in_flight: state.retries,
            refused_total: state.refused,
        }
    }

    /// Nothing to remember but what comes back by itself.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0 && self.state().retries == 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBudget").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// Where a token came from, and goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Reserve,
    Earned,
    Nothing,
}

impl State {
    /// Forgets the parts whose time is over.
    fn turn(&mut self, now: Instant, lifetime: Duration) {
        let length = (lifetime / PARTS as u32).as_millis().max(1);
        let passed = now.saturating_duration_since(self.origin).as_millis();
        let (length, passed) = (u64::try_from(length), u64::try_from(passed));
        let part = (passed.unwrap_or(u64::MAX) / length.unwrap_or(u64::MAX)).max(self.part);
        let steps = (part - self.part).min(PARTS as u64);
        for step in 1..=steps {
            // A part comes into the place of the one that is a lifetime older.
            *self.place(part - steps + step) = 0;
        }
        self.part = part;
    }

    fn place(&mut self, part: u64) -> &mut u64 {
        #[allow(clippy::indexing_slicing)] // A remainder of the length is always inside.
        &mut self.earned[(part % PARTS as u64) as usize]
    }

    fn earn(&mut self, amount: u64) {
        let place = self.place(self.part);
        *place = place.saturating_add(amount);
    }

    fn fill(&mut self, now: Instant, config: &BudgetConfig) {
        let passed = now.saturating_duration_since(self.filled_at);
        let more = (passed.as_secs_f64() * config.floor * RETRY as f64) as u64;
        if more > 0 {
            self.reserve = self.reserve.saturating_add(more).min(u64::from(config.saved) * RETRY);
            self.filled_at = now;
        }
    }

    fn take(&mut self, config: &BudgetConfig, in_flight: u32) -> Option<Source> {
        let share = (f64::from(in_flight) * config.concurrent_share) as u32;
        if self.retries >= share.max(config.concurrent_least) {
            return None;
        }
        // What is earned goes first: it spoils.
        if self.earned.iter().sum::<u64>() >= RETRY {
            let mut owed = RETRY;
            for age in (0..PARTS as u64).rev() {
                let place = self.place(self.part.wrapping_sub(age));
                let paid = owed.min(*place);
                *place -= paid;
                owed -= paid;
            }
            return Some(Source::Earned);
        }
        if self.reserve >= RETRY {
            self.reserve -= RETRY;
            return Some(Source::Reserve);
        }
        None
    }
}

/// An attempt under way.
#[derive(Debug)]
pub(crate) struct InFlight {
    budget: Arc<RetryBudget>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.budget.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A retry that is paid for. Dropped before it was sent, it goes back.
#[derive(Debug)]
#[must_use = "dropping it gives the retry back"]
pub(crate) struct RetryToken {
    budget: Arc<RetryBudget>,
    /// `None` once it was sent.
    source: Option<Source>,
}

impl RetryToken {
    /// The request goes out now; keep the token until it is over.
    pub(crate) fn sent(&mut self) {
        self.source = None;
    }
}

impl Drop for RetryToken {
    fn drop(&mut self) {
        let saved = u64::from(self.budget.config.saved) * RETRY;
        let mut state = self.budget.state();
        state.retries = state.retries.saturating_sub(1);
        match self.source {
            Some(Source::Reserve) => state.reserve = state.reserve.saturating_add(RETRY).min(saved),
            Some(Source::Earned) => state.earn(RETRY),
            Some(Source::Nothing) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    fn budget(config: BudgetConfig) -> (Arc<RetryBudget>, ManualClock) {
        let clock = ManualClock::new();
        (Arc::new(RetryBudget::new("p".into(), config, Arc::new(clock.clone()))), clock)
    }

    /// Spends until it is refused.
    fn spend(budget: &Arc<RetryBudget>) -> usize {
        let pay = || {
            let mut token = budget.withdraw()?;
            token.sent();
            Some(token)
        };
        std::iter::from_fn(|| pay().map(drop)).count()
    }

    fn begin(budget: &Arc<RetryBudget>, first: bool) -> InFlight {
        budget.begin_at(first, budget.clock.now())
    }

    #[test]
    fn the_reserve_is_ten_and_fills_up_by_one_a_second() {
        let (budget, clock) = budget(BudgetConfig::default());
        assert_eq!(spend(&budget), 10);
        clock.advance(Duration::from_millis(2500));
        assert_eq!(spend(&budget), 2);
        clock.advance(Duration::from_millis(500));
        assert_eq!(spend(&budget), 1, "the half second before counts");
        clock.advance(Duration::from_secs(3600));
        assert_eq!(spend(&budget), 10, "no more than ten are saved up");
        assert_eq!(budget.snapshot().refused_total, 4);
    }

    #[test]
    fn five_first_attempts_earn_one_retry_which_lasts_a_minute() {
        let (budget, clock) = budget(BudgetConfig::default().floor(0.0, 0));
        assert_eq!(spend(&budget), 0);
        for _ in 0..14 {
            drop(begin(&budget, true));
        }
        drop(begin(&budget, false));
        assert_eq!(budget.snapshot().retries_left, Some(2));
        clock.advance(Duration::from_secs(53));
        assert_eq!(budget.snapshot().retries_left, Some(2));
        clock.advance(Duration::from_secs(7));
        assert_eq!(spend(&budget), 0);
    }

    #[test]
    fn a_fifth_of_the_attempts_under_way_may_be_retries_but_three_always() {
        let (budget, _) = budget(BudgetConfig::default().floor(0.0, 1000));
        let held: Vec<_> = std::iter::from_fn(|| budget.withdraw()).collect();
        assert_eq!(held.len(), 3);
        let _attempts: Vec<_> = (0..50).map(|_| begin(&budget, true)).collect();
        let more: Vec<_> = std::iter::from_fn(|| budget.withdraw()).collect();
        assert_eq!(held.len() + more.len(), 10);
        assert_eq!(budget.snapshot().retries_in_flight, 10);
        drop(held);
        assert_eq!(
            spend(&budget),
            1000 + 10 - 7,
            "three unsent ones went back, of ten earned ones seven are held"
        );
    }

    #[test]
    fn a_token_that_is_not_sent_goes_back_to_where_it_came_from() {
        let (budget, _) = budget(BudgetConfig::default().floor(0.0, 1));
        drop(budget.withdraw().unwrap());
        drop(budget.withdraw().unwrap());
        assert_eq!(spend(&budget), 1);
        for _ in 0..5 {
            drop(begin(&budget, true));
        }
        drop(budget.withdraw().unwrap());
        assert_eq!(spend(&budget), 1);
        assert_eq!(budget.snapshot().retries_in_flight, 0);
        assert!(budget.is_idle());
    }

    #[test]
    fn unlimited_pays_for_all_and_a_clock_that_goes_back_loses_nothing() {
        let (all, _) = budget(BudgetConfig::unlimited());
        assert!((0..1000).all(|_| all.withdraw().is_some()));
        assert_eq!(all.snapshot().retries_left, None);

        let (budget, clock) = budget(BudgetConfig::default().floor(0.0, 0));
        clock.advance(Duration::from_secs(30));
        for _ in 0..5 {
            drop(begin(&budget, true));
        }
        clock.rewind(Duration::from_secs(20));
        assert_eq!(spend(&budget), 1);
    }
}
