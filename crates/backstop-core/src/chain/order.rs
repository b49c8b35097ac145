//! In which order a call goes to the targets, and which of them it does not even consider.

use fastrand::Rng;

use super::{builder::Inner, call::CallOptions, engine::Cx, slot::Slot};
use crate::{error::ConfigError, report::Skip};

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
    pub(crate) fn of(chain: &Inner, options: &CallOptions, rng: &mut Rng) -> Self {
        let canary = chain.canary.filter(|_| options.only.is_none() && !options.no_failover);
        let first = canary.filter(|canary| rng.f64() < canary.share).map_or(0, |canary| canary.index);
        Self { first, count: chain.slots.len() }
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

/// What a call learns on its way from target to target.
pub(crate) struct Walk {
    pub(crate) rng: Rng,
    pub(crate) declines: u32,
    /// Set once a context was too long for a target.
    context: Option<TooLong>,
}

/// A prompt was too long for a target.
#[derive(Clone, Copy)]
struct TooLong {
    /// The largest window that was too small, where one was known.
    window: Option<u32>,
    /// A target of unknown window has been tried since; one is enough.
    unknown_tried: bool,
}

impl Walk {
    pub(crate) fn new(rng: Rng) -> Self {
        Self { rng, declines: 0, context: None }
    }

    /// For a lane of its own, which starts from what is known now.
    pub(crate) fn fork(&mut self) -> Self {
        Self { rng: self.rng.fork(), declines: self.declines, context: self.context }
    }

    /// Learns what a lane has learnt since it was forked from a walk of `declines`.
    pub(crate) fn join(&mut self, lane: &Self, declines: u32) {
        self.declines += lane.declines.saturating_sub(declines);
        if let Some(context) = lane.context {
            let unknown_tried = context.unknown_tried;
            self.context_too_long(context.window);
            self.context = self
                .context
                .map(|known| TooLong { unknown_tried: known.unknown_tried || unknown_tried, ..known });
        }
    }

    pub(crate) fn context_too_long(&mut self, window: Option<u32>) {
        let unknown_tried = self.context.is_some_and(|context| context.unknown_tried);
        let known = self.context.and_then(|context| context.window);
        self.context = Some(TooLong { window: known.max(window), unknown_tried });
    }

    /// Whether a target may have room for a prompt that was too long for another.
    fn has_room(&self, window: Option<u32>) -> bool {
        let Some(context) = &self.context else { return true };
        match (context.window, window) {
            (Some(too_small), Some(window)) => window > too_small,
            (None, Some(_)) => true,
            (_, None) => !context.unknown_tried,
        }
    }

    /// A target is asked now.
    pub(crate) fn asks(&mut self, slot: &Slot) {
        if let (Some(context), None) = (&mut self.context, slot.capabilities.context_window) {
            context.unknown_tried = true;
        }
    }

    /// Why a target is not even considered.
    pub(crate) fn passes_over(&self, cx: &Cx<'_>, position: usize, slot: &Slot) -> Option<Skip> {
        let options = cx.options;
        let asked = match &options.only {
            Some(only) => slot.id.as_str() == only,
            None => position == 0 || !options.no_failover,
        };
        if !asked {
            return Some(Skip::NotAsked);
        }
        if !slot.is_on() {
            return Some(Skip::Disabled);
        }
        if let Some(what) = slot.lacks(cx.request_for(position)) {
            return Some(Skip::Unsupported { what });
        }
        if cx.beginning.is_some() && slot.capabilities.prefill != Some(true) {
            return Some(Skip::Unsupported { what: "going on with a text".into() });
        }
        let window = slot.capabilities.context_window;
        (!self.has_room(window)).then_some(Skip::ContextTooSmall { window })
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
