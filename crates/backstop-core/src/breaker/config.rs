//! When a breaker opens, for how long, and what closes it again.

use std::time::Duration;

use super::BreakerConfigError;

const SECOND: Duration = Duration::from_secs(1);
/// Nothing about an outage is longer than this, and sums of such times cannot overflow.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);
const MOST_PROBES: u32 = 1024;

/// The settings of a [`Breaker`](super::Breaker), checked.
///
/// The default: opens after 5 failures in a row, or when half of the last 60 s' calls failed and there were at
/// least 10; stays open for 45 s, twice as long each time it flaps, at most 300 s, plus up to a fifth of jitter;
/// then one probe at a time, and one success closes.
///
/// ```
/// use backstop_core::breaker::BreakerConfig;
/// use std::time::Duration;
///
/// let config = BreakerConfig::builder()
///     .consecutive_failures(3)
///     .cooldown(Duration::from_secs(20))
///     .build()?;
/// assert_eq!(config.cooldown(), Duration::from_secs(20));
///
/// let wrong = BreakerConfig::builder().probes(0).build().unwrap_err();
/// assert_eq!(wrong.setting(), "probes");
/// # Ok::<(), backstop_core::breaker::BreakerConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakerConfig {
    settings: Settings,
}

/// Builds a [`BreakerConfig`]; what is not set keeps the value of the preset it began with.
#[derive(Clone, Debug)]
#[must_use]
pub struct BreakerConfigBuilder {
    settings: Settings,
}

#[derive(Clone, Debug, PartialEq)]
struct Settings {
    consecutive: Option<u32>,
    consecutive_gap: Duration,
    rate: Option<f64>,
    min_calls: u32,
    window: Duration,
    slow: Option<(Duration, f64)>,
    cooldown: Duration,
    growth: f64,
    cooldown_cap: Duration,
    jitter: f64,
    probes: u32,
    successes: u32,
    lease: Duration,
    /// The lease was not chosen by hand, so that it may follow the targets' timeouts.
    lease_fits: bool,
    throttle: Duration,
    throttle_cap: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            consecutive: Some(5),
            consecutive_gap: 600 * SECOND,
            rate: Some(0.5),
            min_calls: 10,
            window: 60 * SECOND,
            slow: None,
            cooldown: 45 * SECOND,
            growth: 2.0,
            cooldown_cap: 300 * SECOND,
            jitter: 0.2,
            probes: 1,
            successes: 1,
            lease: 40 * SECOND,
            lease_fits: true,
            throttle: 5 * SECOND,
            throttle_cap: 60 * SECOND,
        }
    }
}

impl Settings {
    /// The same cooldown every time, to the second: what the presets' origins do.
    fn fixed(cooldown: Duration) -> Self {
        Self { cooldown, cooldown_cap: cooldown, growth: 1.0, jitter: 0.0, ..Self::default() }
    }

    fn consecutive_only(cooldown: Duration, successes: u32) -> Self {
        Self { rate: None, successes, ..Self::fixed(cooldown) }
    }
}

impl BreakerConfig {
    /// Starts from the default.
    pub fn builder() -> BreakerConfigBuilder {
        BreakerConfigBuilder { settings: Settings::default() }
    }

    /// Starts from the widespread "5 failures, 30 seconds, 1 probe": 5 in a row open it for 30 s, then one
    /// success closes it. No failure rate, no growth, no jitter.
    pub fn five_then_thirty_seconds() -> BreakerConfigBuilder {
        BreakerConfigBuilder { settings: Settings::consecutive_only(30 * SECOND, 1) }
    }

    /// Starts from "5 failures, 10 seconds, 3 successes": quick to ask again, slow to trust. For local servers
    /// and for providers that restart fast.
    pub fn five_then_ten_seconds() -> BreakerConfigBuilder {
        BreakerConfigBuilder { settings: Settings::consecutive_only(10 * SECOND, 3) }
    }

    /// Starts from "5 failures, 60 seconds, 2 successes".
    pub fn five_then_a_minute() -> BreakerConfigBuilder {
        BreakerConfigBuilder { settings: Settings::consecutive_only(60 * SECOND, 2) }
    }

    /// Starts from "half of a minute's calls failed: 5 minutes off", with at least 10 calls. Failures in a row do
    /// not open it. For busy chains with good fallbacks.
    pub fn half_then_five_minutes() -> BreakerConfigBuilder {
        BreakerConfigBuilder { settings: Settings { consecutive: None, ..Settings::fixed(300 * SECOND) } }
    }

    /// A builder that starts from these settings.
    pub fn to_builder(&self) -> BreakerConfigBuilder {
        BreakerConfigBuilder { settings: self.settings.clone() }
    }

    /// The first cooldown. A target whose attempts may take longer than this is suspicious.
    pub fn cooldown(&self) -> Duration {
        self.settings.cooldown
    }

    /// The longest a circuit can stay open without a probe, jitter included.
    pub fn longest_cooldown(&self) -> Duration {
        self.settings.cooldown_cap.mul_f64(1.0 + self.settings.jitter)
    }

    /// How long a probe may take before its place is given to another.
    pub fn probe_lease(&self) -> Duration {
        self.settings.lease
    }

    /// Whether the lease may be made longer to fit a target's timeout.
    pub(super) fn lease_fits(&self) -> bool {
        self.settings.lease_fits
    }

    pub(super) fn limits(&self) -> Limits {
        let s = &self.settings;
        Limits {
            consecutive: s.consecutive,
            consecutive_gap: nanos(s.consecutive_gap),
            rate: s.rate.map(millionths),
            min_calls: s.min_calls,
            window: nanos(s.window),
            slow: s.slow.map(|(threshold, share)| (nanos(threshold), millionths(share))),
            cooldown: nanos(s.cooldown),
            growth: s.growth,
            cooldown_cap: nanos(s.cooldown_cap),
            jitter: s.jitter,
            // Rounded up, so that no jittered cooldown is longer than this.
            longest_open: nanos(self.longest_cooldown()).saturating_add(1),
            probes: s.probes as usize,
            successes: s.successes,
            lease: nanos(s.lease),
            throttle: nanos(s.throttle),
            throttle_cap: nanos(s.throttle_cap),
        }
    }
}

impl BreakerConfigBuilder {
    /// So many failures in a row open the circuit. Default 5.
    ///
    /// Finds an outage that a rate cannot see: with slow calls and little traffic a window may never hold enough
    /// of them.
    pub fn consecutive_failures(mut self, failures: u32) -> Self {
        self.settings.consecutive = Some(failures);
        self
    }

    /// Failures in a row do not open the circuit.
    pub fn without_consecutive_failures(mut self) -> Self {
        self.settings.consecutive = None;
        self
    }

    /// A pause between two failures after which they no longer count as "in a row". Default 10 minutes.
    pub fn consecutive_gap(mut self, gap: Duration) -> Self {
        self.settings.consecutive_gap = gap;
        self
    }

    /// The share of failed calls in the window that opens the circuit, above 0 and at most 1. Default 0.5.
    pub fn failure_rate(mut self, share: f64) -> Self {
        self.settings.rate = Some(share);
        self
    }

    /// The failure rate does not open the circuit.
    pub fn without_failure_rate(mut self) -> Self {
        self.settings.rate = None;
        self
    }

    /// The calls a window must hold before a rate means anything. Default 10: without a minimum the first failure
    /// after a silence would be a rate of 100 %.
    pub fn min_calls(mut self, calls: u32) -> Self {
        self.settings.min_calls = calls;
        self
    }

    /// The time that rates look back. Default 60 s. Results count when they arrive, so it may be shorter than a
    /// call takes.
    pub fn window(mut self, window: Duration) -> Self {
        self.settings.window = window;
        self
    }

    /// Opens the circuit when this share of the window's calls took `threshold` or longer. Off by default: how long
    /// a model takes depends on how much it has to say. For streams, measure to the first content.
    pub fn slow_calls(mut self, threshold: Duration, share: f64) -> Self {
        self.settings.slow = Some((threshold, share));
        self
    }

    /// The first cooldown. Default 45 s. If the cap is below it, set that too.
    pub fn cooldown(mut self, cooldown: Duration) -> Self {
        self.settings.cooldown = cooldown;
        self
    }

    /// What a cooldown is multiplied by when the circuit opens again before it was closed for as long as the last
    /// cooldown was. At least 1, which means no growth. Default 2.
    pub fn cooldown_growth(mut self, factor: f64) -> Self {
        self.settings.growth = factor;
        self
    }

    /// The longest cooldown, before jitter; also for what a `Retry-After` or another process asks. Default 300 s.
    pub fn cooldown_cap(mut self, cap: Duration) -> Self {
        self.settings.cooldown_cap = cap;
        self
    }

    /// Lengthens each cooldown by a random part of up to this share, 0 to 1. Default 0.2. Only ever longer, so a
    /// promised `retry_in` holds; without it all processes that saw the same outage probe at the same moment.
    pub fn jitter(mut self, share: f64) -> Self {
        self.settings.jitter = share;
        self
    }

    /// How many probes may be under way at once while half-open, 1 to 1024. Default 1.
    pub fn probes(mut self, probes: u32) -> Self {
        self.settings.probes = probes;
        self
    }

    /// How many probes must succeed to close the circuit. Default 1. One failure opens it again.
    pub fn successes_to_close(mut self, successes: u32) -> Self {
        self.settings.successes = successes;
        self
    }

    /// How long a probe may take before its place is given to another. Default 40 s, the default attempt timeout
    /// and some, and longer where a chain has a target with a longer timeout ([`Breaker::fit_timeout`]). A probe
    /// that hangs for ever would otherwise keep the circuit half-open for ever.
    ///
    /// [`Breaker::fit_timeout`]: super::Breaker::fit_timeout
    pub fn probe_lease(mut self, lease: Duration) -> Self {
        (self.settings.lease, self.settings.lease_fits) = (lease, false);
        self
    }

    /// A probe lease that fits an attempt timeout: 10 s more than it, at least 30 s.
    pub fn probe_lease_for(self, attempt_timeout: Duration) -> Self {
        self.probe_lease(lease_for(attempt_timeout))
    }

    /// For how long a `Throttled` outcome without a hint turns calls away. Default 5 s.
    pub fn throttle(mut self, wait: Duration) -> Self {
        self.settings.throttle = wait;
        self
    }

    /// The longest that a `Throttled` outcome may turn calls away, whatever its hint says. Default 60 s.
    pub fn throttle_cap(mut self, cap: Duration) -> Self {
        self.settings.throttle_cap = cap;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Names the first setting that makes no sense, and why.
    pub fn build(self) -> Result<BreakerConfig, BreakerConfigError> {
        let s = &self.settings;
        if s.consecutive.is_none() && s.rate.is_none() && s.slow.is_none() {
            return Err(BreakerConfigError::NothingOpens);
        }
        self.check_counts()?;
        self.check_shares()?;
        self.check_durations()?;
        if s.cooldown > s.cooldown_cap {
            return Err(BreakerConfigError::CooldownAboveCap { cooldown: s.cooldown, cap: s.cooldown_cap });
        }
        Ok(BreakerConfig { settings: self.settings })
    }

    fn check_counts(&self) -> Result<(), BreakerConfigError> {
        let s = &self.settings;
        let counts = [
            ("consecutive_failures", s.consecutive.unwrap_or(1)),
            ("min_calls", s.min_calls),
            ("probes", s.probes),
            ("successes_to_close", s.successes),
        ];
        if let Some((setting, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(BreakerConfigError::Zero { setting });
        }
        if s.probes > MOST_PROBES {
            return Err(BreakerConfigError::TooManyProbes { probes: s.probes, most: MOST_PROBES });
        }
        Ok(())
    }

    fn check_shares(&self) -> Result<(), BreakerConfigError> {
        let s = &self.settings;
        let shares = [("failure_rate", s.rate), ("slow_calls", s.slow.map(|(_, share)| share))];
        for (setting, share) in shares {
            match share {
                // Below a millionth it would round to a share of nothing, which every call reaches.
                Some(value) if !(0.000_001..=1.0).contains(&value) => {
                    return Err(BreakerConfigError::NotAShare { setting, value });
                }
                _ => {}
            }
        }
        if !(0.0..=1.0).contains(&s.jitter) {
            return Err(BreakerConfigError::Jitter { value: s.jitter });
        }
        if !s.growth.is_finite() || s.growth < 1.0 {
            return Err(BreakerConfigError::Shrinks { factor: s.growth });
        }
        Ok(())
    }

    fn check_durations(&self) -> Result<(), BreakerConfigError> {
        let s = &self.settings;
        let durations = [
            ("consecutive_gap", s.consecutive_gap),
            ("window", s.window),
            ("slow_calls", s.slow.map_or(SECOND, |(threshold, _)| threshold)),
            ("cooldown", s.cooldown),
            ("cooldown_cap", s.cooldown_cap),
            ("probe_lease", s.lease),
            ("throttle", s.throttle),
            ("throttle_cap", s.throttle_cap),
        ];
        for (setting, value) in durations {
            if value.is_zero() {
                return Err(BreakerConfigError::Zero { setting });
            }
            if value > LONGEST {
                return Err(BreakerConfigError::TooLong { setting, value, most: LONGEST });
            }
        }
        Ok(())
    }
}

/// The settings as the machine uses them: nanoseconds, and shares in millionths, because 0.1 of 30 calls is not
/// quite 3 in floating point.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) consecutive: Option<u32>,
    pub(super) consecutive_gap: u64,
    pub(super) rate: Option<u64>,
    pub(super) min_calls: u32,
    pub(super) window: u64,
    pub(super) slow: Option<(u64, u64)>,
    cooldown: u64,
    growth: f64,
    pub(super) cooldown_cap: u64,
    jitter: f64,
    pub(super) longest_open: u64,
    pub(super) probes: usize,
    pub(super) successes: u32,
    pub(super) lease: u64,
    pub(super) throttle: u64,
    pub(super) throttle_cap: u64,
}

impl Limits {
    /// The cooldown of the n-th trip of a series, before jitter.
    pub(super) fn cooldown(&self, trips: u32) -> u64 {
        let exponent = i32::try_from(trips.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.cooldown as f64 * self.growth.powi(exponent);
        grown.min(self.cooldown_cap as f64) as u64
    }

    /// `draw` is from 0 to 1.
    pub(super) fn jittered(&self, cooldown: u64, draw: f64) -> u64 {
        let extra = (cooldown as f64 * self.jitter * draw) as u64;
        cooldown.saturating_add(extra).min(self.longest_open)
    }
}

/// An attempt that timed out has 10 s left to be judged.
pub(super) fn lease_for(attempt_timeout: Duration) -> Duration {
    attempt_timeout.saturating_add(10 * SECOND).clamp(30 * SECOND, LONGEST)
}

/// Not by way of `as_nanos`, whose 128 bits would cost every call a few nanoseconds.
#[inline]
pub(super) fn nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}

fn millionths(share: f64) -> u64 {
    (share * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cooldowns_grow_up_to_the_cap_and_do_not_overflow() {
        let limits = BreakerConfig::default().limits();
        let seconds = |trips| limits.cooldown(trips) / 1_000_000_000;
        assert_eq!([1, 2, 3, 4, 5, u32::MAX].map(seconds), [45, 90, 180, 300, 300, 300]);
    }

    #[test]
    fn jitter_only_lengthens_and_stays_within_its_share() {
        let limits = BreakerConfig::default().limits();
        for trips in 1..8 {
            let plain = limits.cooldown(trips);
            for draw in [0.0, 0.3, 0.999_999, 1.0] {
                let jittered = limits.jittered(plain, draw);
                assert!(jittered >= plain && jittered <= plain + plain / 5 + 1, "{jittered} from {plain}");
                assert!(jittered <= limits.longest_open);
            }
        }
    }

    #[test]
    fn shares_are_exact_where_floating_point_is_not() {
        let limits = BreakerConfig::builder().failure_rate(0.1).build().unwrap().limits();
        assert_eq!(limits.rate.map(|rate| rate * 30), Some(3_000_000));
    }

    #[test]
    fn presets_carry_their_numbers() {
        let of = |builder: BreakerConfigBuilder| {
            let s = builder.build().unwrap().settings;
            (s.consecutive, s.rate, s.cooldown.as_secs(), s.cooldown_cap.as_secs(), s.probes, s.successes)
        };
        assert_eq!(of(BreakerConfig::builder()), (Some(5), Some(0.5), 45, 300, 1, 1));
        assert_eq!(of(BreakerConfig::five_then_thirty_seconds()), (Some(5), None, 30, 30, 1, 1));
        assert_eq!(of(BreakerConfig::five_then_ten_seconds()), (Some(5), None, 10, 10, 1, 3));
        assert_eq!(of(BreakerConfig::five_then_a_minute()), (Some(5), None, 60, 60, 1, 2));
        assert_eq!(of(BreakerConfig::half_then_five_minutes()), (None, Some(0.5), 300, 300, 1, 1));
    }

    #[test]
    fn every_setting_that_makes_no_sense_is_named() {
        let zero = Duration::ZERO;
        let long = Duration::from_secs(400 * 86_400);
        let b = BreakerConfig::builder;
        let table = [
            (b().consecutive_failures(0), "consecutive_failures"),
            (b().consecutive_gap(zero), "consecutive_gap"),
            (b().failure_rate(0.0), "failure_rate"),
            (b().failure_rate(f64::NAN), "failure_rate"),
            (b().failure_rate(50.0), "failure_rate"),
            (b().min_calls(0), "min_calls"),
            (b().window(zero), "window"),
            (b().slow_calls(zero, 0.5), "slow_calls"),
            (b().slow_calls(SECOND, -0.5), "slow_calls"),
            (b().cooldown(zero), "cooldown"),
            (b().cooldown(301 * SECOND), "cooldown"),
            (b().cooldown_cap(long), "cooldown_cap"),
            (b().cooldown_growth(0.5), "cooldown_growth"),
            (b().cooldown_growth(f64::INFINITY), "cooldown_growth"),
            (b().jitter(-0.1), "jitter"),
            (b().jitter(f64::NAN), "jitter"),
            (b().probes(0), "probes"),
            (b().probes(5000), "probes"),
            (b().successes_to_close(0), "successes_to_close"),
            (b().probe_lease(zero), "probe_lease"),
            (b().throttle(zero), "throttle"),
            (b().throttle_cap(zero), "throttle_cap"),
            (b().without_consecutive_failures().without_failure_rate(), "consecutive_failures"),
        ];
        for (builder, setting) in table {
            let error = builder.build().unwrap_err();
            assert_eq!(error.setting(), setting, "{error}");
            assert!(error.to_string().contains(setting), "{error}");
        }
    }
}
