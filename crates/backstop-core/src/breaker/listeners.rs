//! Who is told of transitions.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use super::Transition;

type Listener = dyn Fn(&Transition) + Send + Sync;

/// A list of listeners that several breakers may share.
#[derive(Clone, Default)]
pub(crate) struct Listeners {
    list: Arc<RwLock<List>>,
}

#[derive(Default)]
struct List {
    next: u64,
    /// Replaced as a whole, so that telling them needs no lock.
    entries: Arc<Vec<(u64, Arc<Listener>)>>,
}

impl Listeners {
    pub(crate) fn subscribe(&self, listener: impl Fn(&Transition) + Send + Sync + 'static) -> Subscription {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let id = list.next;
        list.next += 1;
        Arc::make_mut(&mut list.entries).push((id, Arc::new(listener)));
        Subscription { list: Arc::downgrade(&self.list), id }
    }

    /// Tells all of them. One that panics hinders neither the others nor the call on whose task this runs.
    pub(super) fn tell(&self, transition: &Transition) {
        let entries = self.list.read().unwrap_or_else(PoisonError::into_inner).entries.clone();
        for (_, listener) in entries.iter() {
            let _ = catch_unwind(AssertUnwindSafe(|| listener(transition)));
        }
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Listeners").field("count", &list.entries.len()).finish()
    }
}

/// A listener's place in a list. Dropping it takes the listener out.
#[must_use = "dropping it takes the listener out; `keep` leaves it in"]
#[derive(Debug)]
pub struct Subscription {
    list: Weak<RwLock<List>>,
    id: u64,
}

impl Subscription {
    /// Leaves the listener in place for as long as the list lives.
    pub fn keep(mut self) {
        self.list = Weak::new();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(list) = self.list.upgrade() else { return };
        let mut list = list.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut list.entries).retain(|(id, _)| *id != self.id);
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("count", &self.entries.len()).finish()
    }
}
