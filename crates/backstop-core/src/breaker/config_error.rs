//! What can be wrong with a breaker's settings.

use std::time::Duration;

/// A setting of a [`BreakerConfig`](super::BreakerConfig) that makes no sense, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakerConfigError {
    /// Neither failures in a row, nor a failure rate, nor slow calls would open the circuit.
    #[error(
        "breaker: `consecutive_failures`, `failure_rate` and `slow_calls` are all off, so it would never open: \
         set one of them, or use no breaker"
    )]
    NothingOpens,
    /// A count or a duration is zero.
    #[error("breaker setting `{setting}` is zero: it must be more")]
    Zero {
        /// The setting.
        setting: &'static str,
    },
    /// A share is not a share.
    #[error("breaker setting `{setting}` is {value}: a share must be above 0 and at most 1 (0.5 is 50 %)")]
    NotAShare {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: f64,
    },
    /// The jitter is not from 0 to 1.
    #[error("breaker setting `jitter` is {value}: it must be from 0 (none) to 1 (up to twice the cooldown)")]
    Jitter {
        /// Its value.
        value: f64,
    },
    /// Cooldowns would get shorter.
    #[error("breaker setting `cooldown_growth` is {factor}: it must be finite and at least 1 (no growth)")]
    Shrinks {
        /// Its value.
        factor: f64,
    },
    /// The first cooldown is longer than the longest.
    #[error("breaker setting `cooldown` ({cooldown:?}) is above `cooldown_cap` ({cap:?}): raise the cap too")]
    CooldownAboveCap {
        /// The first cooldown.
        cooldown: Duration,
        /// The longest one.
        cap: Duration,
    },
    /// A duration is longer than makes sense.
    #[error("breaker setting `{setting}` is {value:?}: it may be at most {most:?}")]
    TooLong {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: Duration,
        /// The longest that is allowed.
        most: Duration,
    },
    /// Half-open would be as good as closed.
    #[error("breaker setting `probes` is {probes}: at most {most} may be under way at once")]
    TooManyProbes {
        /// Its value.
        probes: u32,
        /// The most that are allowed.
        most: u32,
    },
}

impl BreakerConfigError {
    /// The setting that is wrong, as its builder method is called.
    pub fn setting(&self) -> &'static str {
        match self {
            Self::NothingOpens => "consecutive_failures",
            Self::Zero { setting } | Self::NotAShare { setting, .. } | Self::TooLong { setting, .. } => {
                setting
            }
            Self::Jitter { .. } => "jitter",
            Self::Shrinks { .. } => "cooldown_growth",
            Self::CooldownAboveCap { .. } => "cooldown",
            Self::TooManyProbes { .. } => "probes",
        }
    }
}
