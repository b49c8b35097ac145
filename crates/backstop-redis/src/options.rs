//! How state is shared, and with how much distrust.

use std::time::Duration;

use crate::RedisStateError;

/// The settings of a [`RedisState`](crate::RedisState). All processes that share state should have the same, the
/// instance's name aside.
///
/// ```
/// use backstop_redis::RedisOptions;
/// use std::time::Duration;
///
/// let options = RedisOptions::new().prefix("shop:breakers").quorum(2).timeout(Duration::from_millis(50));
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct RedisOptions {
    pub(crate) prefix: String,
    pub(crate) instance: String,
    pub(crate) timeout: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) quorum: u32,
    pub(crate) report_window: Duration,
    pub(crate) report_local: bool,
    pub(crate) cooldown_cap: Duration,
}

impl RedisOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            prefix: "backstop".to_owned(),
            instance: format!("{:016x}", fastrand::Rng::new().u64(..)),
            timeout: Duration::from_millis(100),
            poll_interval: Duration::from_secs(1),
            quorum: 1,
            report_window: Duration::from_secs(60),
            report_local: false,
            cooldown_cap: Duration::from_secs(300),
        }
    }

    /// What all names in Redis begin with. Default `backstop`. Applications that share a Redis but not their
    /// providers' fate need different ones.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// This process's name, such as its pod's. Default: a random one. Two processes of one name count as one
    /// witness.
    pub fn instance(mut self, name: impl Into<String>) -> Self {
        self.instance = name.into();
        self
    }

    /// How long a call that wants to probe waits for Redis before the process decides for itself. Default 100 ms.
    /// What happens in the background (connecting, polling, reporting) may take ten times as long.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often to look for what others found: one round trip for all breakers in use. Default 1 s.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// How many instances must have found an outage before it counts for all. Default 1: the first one's word is
    /// enough. With three instances or more, 2 keeps one broken node from turning the others away, at the price of
    /// a second instance that has to find out for itself.
    pub fn quorum(mut self, instances: u32) -> Self {
        self.quorum = instances;
        self
    }

    /// How long such a report counts. Default 60 s.
    pub fn report_window(mut self, window: Duration) -> Self {
        self.report_window = window;
        self
    }

    /// Whether to report outages that rest on [local evidence](backstop_core::breaker::Evidence::Local) as well:
    /// connect errors, timeouts, slow calls. Default false, for a starved node sees nothing but timeouts. Worth
    /// turning on together with a [`quorum`](Self::quorum) of 2 or more if providers rather hang than answer 5xx.
    pub fn report_local(mut self, report: bool) -> Self {
        self.report_local = report;
        self
    }

    /// The longest that one report can close a provider to all. Default 300 s, like a breaker's own; what comes in
    /// is cut to the breaker's own cap once more.
    pub fn cooldown_cap(mut self, cap: Duration) -> Self {
        self.cooldown_cap = cap;
        self
    }

    /// How long things may take that no call waits for.
    pub(crate) fn background_timeout(&self) -> Duration {
        self.timeout.saturating_mul(10)
    }

    pub(crate) fn check(&self) -> Result<(), RedisStateError> {
        let wrong = |setting, problem| Err(RedisStateError::Setting { setting, problem });
        let ms = Duration::from_millis(1);
        if self.prefix.is_empty() || self.prefix.contains(['{', '}']) {
            return wrong("prefix", "must not be empty or hold braces: they mark what Redis Cluster hashes");
        }
        if self.instance.is_empty() {
            return wrong("instance", "must not be empty: without names all instances are one witness");
        }
        if !(ms..=Duration::from_secs(10)).contains(&self.timeout) {
            return wrong("timeout", "must be from 1 ms to 10 s: calls wait for it");
        }
        if !(10 * ms..=Duration::from_secs(60)).contains(&self.poll_interval) {
            return wrong("poll_interval", "must be from 10 ms to 60 s");
        }
        if self.quorum == 0 {
            return wrong("quorum", "must be at least 1");
        }
        if !(ms..=Duration::from_secs(86_400)).contains(&self.report_window) {
            return wrong("report_window", "must be from 1 ms to a day");
        }
        if !(ms..=Duration::from_secs(86_400)).contains(&self.cooldown_cap) {
            return wrong("cooldown_cap", "must be from 1 ms to a day");
        }
        Ok(())
    }
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_right_and_no_two_instances_have_one_name() {
        assert_eq!(RedisOptions::new().check(), Ok(()));
        assert_ne!(RedisOptions::new().instance, RedisOptions::new().instance);
    }

    #[test]
    fn a_setting_that_makes_no_sense_is_named() {
        let zero = Duration::ZERO;
        let cases = [
            ("prefix", RedisOptions::new().prefix("")),
            ("prefix", RedisOptions::new().prefix("{app}")),
            ("instance", RedisOptions::new().instance("")),
            ("timeout", RedisOptions::new().timeout(zero)),
            ("timeout", RedisOptions::new().timeout(Duration::from_secs(11))),
            ("poll_interval", RedisOptions::new().poll_interval(zero)),
            ("quorum", RedisOptions::new().quorum(0)),
            ("report_window", RedisOptions::new().report_window(zero)),
            ("cooldown_cap", RedisOptions::new().cooldown_cap(Duration::MAX)),
        ];
        for (name, options) in cases {
            match options.check() {
                Err(RedisStateError::Setting { setting, .. }) => assert_eq!(setting, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
