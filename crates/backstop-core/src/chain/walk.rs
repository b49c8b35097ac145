//! What a call learns on its way from target to target, and which of them it does not even consider.

use fastrand::Rng;

use super::{context::Cx, slot::Slot};
use crate::report::Skip;

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
        if cx.beginning.is_some() {
            let what = match slot.capabilities.prefill {
                Some(true) => None,
                Some(false) => Some("going on with a text"),
                None => Some(
                    "going on with a text, as far as is known (say so with `Capabilities::with_prefill`)",
                ),
            };
            if let Some(what) = what {
                return Some(Skip::Unsupported { what: what.into() });
            }
        }
        let window = slot.capabilities.context_window;
        (!self.has_room(window)).then_some(Skip::ContextTooSmall { window })
    }
}
