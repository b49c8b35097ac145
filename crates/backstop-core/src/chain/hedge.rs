//! When a second target is asked beside one that takes long.

use std::time::Duration;

use super::slot::Slot;

/// When a second target is asked beside one that takes long.
///
/// ```
/// use std::time::Duration;
/// use backstop_core::chain::Hedge;
///
/// let hedge = Hedge::after(Duration::from_secs(4));
/// # let _ = hedge;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Hedge {
    after: Duration,
    quantile: Option<f64>,
}

impl Hedge {
    /// Once an answer has taken this long. Most answers should be faster, or every call is asked twice.
    pub const fn after(wait: Duration) -> Self {
        Self { after: wait, quantile: None }
    }

    /// Once an answer takes longer than this share of the target's latest answers to the same task: 0.95 hedges
    /// about one call in twenty. Until there are 20 of them, `wait` holds.
    #[cfg(feature = "adaptive")]
    pub fn at_quantile(quantile: f64, wait: Duration) -> Self {
        Self { after: wait, quantile: Some(quantile) }
    }

    /// Why it cannot work.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let quantile = self.quantile.unwrap_or(0.95);
        (!(quantile > 0.0 && quantile < 1.0))
            .then_some("has a quantile that is not between 0 and 1: give it 0.95, say")
    }

    /// Whether the targets' latencies have to be known.
    pub(crate) fn watches(&self) -> bool {
        self.quantile.is_some()
    }

    /// For how long a target is waited for alone.
    pub(crate) fn delay(&self, slot: &Slot, task: Option<&str>) -> Duration {
        let _ = (slot, task);
        #[cfg(feature = "adaptive")]
        if let (Some(quantile), Some(latencies)) = (self.quantile, &slot.latencies) {
            return latencies.quantile(task, quantile, 20).unwrap_or(self.after);
        }
        self.after
    }
}
