//! The request as each target gets it: with the texts that a template has for it, adapted by the target's own function.

use std::sync::{Arc, OnceLock};

use super::slot::Slot;
use crate::request::Request;

/// Clones share what was made.
#[derive(Clone)]
pub(crate) struct Requests<'a> {
    asked: &'a Request,
    /// One for each target of the chain, made when it is first looked at. None if all get the caller's.
    own: Option<Arc<[OnceLock<Request>]>>,
}

impl<'a> Requests<'a> {
    pub(crate) fn new(asked: &'a Request, slots: &[Slot]) -> Self {
        let differ = asked.has_variants() || slots.iter().any(|slot| slot.target.adapt.is_some());
        Self { asked, own: differ.then(|| slots.iter().map(|_| OnceLock::new()).collect()) }
    }

    /// What the target at this place of the chain is sent.
    pub(crate) fn of(&self, index: usize, slot: &Slot) -> &Request {
        let own = self.own.as_ref().and_then(|own| own.get(index));
        own.map_or(self.asked, |own| own.get_or_init(|| slot.target.render(self.asked)))
    }
}
