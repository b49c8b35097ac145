//! In which order a call goes to the targets.

use fastrand::Rng;

use super::{options::CallOptions, slot::Slot};
use crate::error::ConfigError;

/// Some of the calls begin at another target than the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Canary {
    pub(crate) index: usize,
    pub(crate) share: f64,
}

impl Canary {
    pub(crate) fn find(slots: &[Slot], name: &str, share: f64) -> Result<Self, ConfigError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(ConfigError::setting("canary", format!("has a share of {share}: give it 0 to 1")));
        }
        let index = find(slots, name)?;
        Ok(Self { index, share })
    }
}

/// Where the target of this name stands.
pub(crate) fn find(slots: &[Slot], name: &str) -> Result<usize, ConfigError> {
    slots.iter().position(|slot| slot.id.as_str() == name).ok_or_else(|| {
        let known: Vec<&str> = slots.iter().map(|slot| slot.id.as_str()).collect();
        ConfigError::UnknownTarget { name: name.to_owned(), known: known.join(", ") }
    })
}

/// The order of one call: as the chain has them, but perhaps with another one in front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    first: usize,
    count: usize,
}

impl Order {
    /// Of so many targets.
    pub(crate) fn of(count: usize, canary: Option<Canary>, options: &CallOptions, rng: &mut Rng) -> Self {
        let canary = canary.filter(|_| options.only.is_none() && !options.no_failover);
        let first = canary.filter(|canary| rng.f64() < canary.share).map_or(0, |canary| canary.index);
        Self { first, count }
    }

    /// Which target is the one at this position.
    pub(crate) fn index(self, position: usize) -> Option<usize> {
        (position < self.count).then(|| match position {
            0 => self.first,
            position if position <= self.first => position - 1,
            position => position,
        })
    }

    /// Whether the call begins at another target than the chain's first because of the canary.
    pub(crate) fn is_canary(self) -> bool {
        self.first != 0
    }

    pub(crate) fn positions(self) -> std::ops::Range<usize> {
        0..self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_goes_first_and_the_others_keep_their_order() {
        let order = |first| {
            let order = Order { first, count: 4 };
            order.positions().filter_map(|position| order.index(position)).collect::<Vec<_>>()
        };
        assert_eq!(order(0), [0, 1, 2, 3]);
        assert_eq!(order(2), [2, 0, 1, 3]);
        assert_eq!(order(3), [3, 0, 1, 2]);
        assert_eq!(Order { first: 0, count: 4 }.index(4), None);
    }
}
