//! The breakers of this process, and what each of them was told last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use backstop_core::breaker::{Breaker, BreakerKey};

use crate::{
    names::Names,
    scripts::{Circuit, Known},
};

/// Holds breakers weakly: one that nobody else holds is forgotten, here and in what is polled.
pub(crate) struct Watched {
    prefix: String,
    entries: Mutex<HashMap<BreakerKey, Entry>>,
}

struct Entry {
    names: Arc<Names>,
    /// The latest epoch that was heard of.
    epoch: u64,
    /// A lease's verdict has said what the transition that follows would say again.
    spoken_for: bool,
    breakers: Vec<Member>,
}

struct Member {
    breaker: Weak<Breaker>,
    /// The epoch it was told of; a breaker that is new has missed everything.
    told: Option<u64>,
}

impl Watched {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), entries: Mutex::default() }
    }

    pub(crate) fn attach(&self, breaker: &Arc<Breaker>) {
        let mut entries = self.lock();
        forget_the_dead(&mut entries);
        let entry = self.entry(&mut entries, breaker.key());
        entry.breakers.push(Member { breaker: Arc::downgrade(breaker), told: None });
    }

    pub(crate) fn in_use(&self) -> Vec<(BreakerKey, Arc<Names>)> {
        let mut entries = self.lock();
        forget_the_dead(&mut entries);
        entries.iter().map(|(key, entry)| (key.clone(), Arc::clone(&entry.names))).collect()
    }

    pub(crate) fn names(&self, key: &BreakerKey) -> Arc<Names> {
        Arc::clone(&self.entry(&mut self.lock(), key).names)
    }

    pub(crate) fn epoch(&self, key: &BreakerKey) -> u64 {
        self.lock().get(key).map_or(0, |entry| entry.epoch)
    }

    pub(crate) fn speak_for(&self, key: &BreakerKey) {
        self.entry(&mut self.lock(), key).spoken_for = true;
    }

    /// Whether the next transition was spoken for; it then no longer is.
    pub(crate) fn take_spoken_for(&self, key: &BreakerKey) -> bool {
        self.lock().get_mut(key).is_some_and(|entry| std::mem::take(&mut entry.spoken_for))
    }

    /// Tells the breakers what they have not heard yet. Each epoch is told once: somebody who then resets a breaker
    /// by hand is not overruled a second later.
    pub(crate) fn learn(&self, key: &BreakerKey, known: Known) {
        for (breaker, first) in self.ignorant(key, known.epoch) {
            match known.circuit {
                Circuit::Open(left) => breaker.shared_open(left),
                // An old recovery is no news to who has just come.
                Circuit::Closed if !first => breaker.shared_close(),
                Circuit::Closed | Circuit::Due => {}
            }
        }
    }

    /// Who has not heard of this epoch, and whether it is the first that they hear of. Returned rather than told
    /// in here: whoever listens to a breaker may come back to this.
    fn ignorant(&self, key: &BreakerKey, epoch: u64) -> Vec<(Arc<Breaker>, bool)> {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(key) else { return Vec::new() };
        // A smaller epoch means that Redis has lost its memory. What it says next is new all the same; that it
        // knows of no outage is no recovery.
        let forgot = epoch < entry.epoch;
        entry.epoch = epoch;
        let unaware = entry.breakers.iter_mut().filter(|member| member.told != Some(epoch));
        unaware
            .filter_map(|member| {
                let first = member.told.replace(epoch).is_none();
                Some((member.breaker.upgrade()?, first || forgot))
            })
            .collect()
    }

    fn entry<'a>(&self, entries: &'a mut HashMap<BreakerKey, Entry>, key: &BreakerKey) -> &'a mut Entry {
        entries.entry(key.clone()).or_insert_with(|| Entry {
            names: Arc::new(Names::new(&self.prefix, key)),
            epoch: 0,
            spoken_for: false,
            breakers: Vec::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BreakerKey, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_the_dead(entries: &mut HashMap<BreakerKey, Entry>) {
    entries.retain(|_, entry| {
        entry.breakers.retain(|member| member.breaker.strong_count() > 0);
        !entry.breakers.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use backstop_core::breaker::{Outcome, State};
    use backstop_core::clock::ManualClock;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn watched() -> (Watched, BreakerKey, Arc<Breaker>) {
        let (watched, key) = (Watched::new("x"), BreakerKey::new("p", "m"));
        let breaker = Breaker::builder(key.clone()).clock(ManualClock::new()).build();
        watched.attach(&breaker);
        (watched, key, breaker)
    }

    fn open(epoch: u64) -> Known {
        Known { epoch, circuit: Circuit::Open(10 * SECOND) }
    }

    fn closed(epoch: u64) -> Known {
        Known { epoch, circuit: Circuit::Closed }
    }

    fn trip(breaker: &Arc<Breaker>) {
        while let Ok(permit) = breaker.try_acquire() {
            permit.settle(Outcome::FAILURE);
        }
    }

    #[test]
    fn each_epoch_is_told_once() {
        let (watched, key, breaker) = watched();
        watched.learn(&key, open(1));
        assert_eq!(breaker.snapshot().probe_in, Some(10 * SECOND));
        breaker.reset();
        watched.learn(&key, open(1));
        assert_eq!(breaker.snapshot().state, State::Closed, "a reset by hand stands");
        watched.learn(&key, open(2));
        assert_eq!(breaker.snapshot().state, State::Open);
    }

    #[test]
    fn a_breaker_that_comes_later_hears_what_is_open() {
        let (watched, key, first) = watched();
        watched.learn(&key, open(1));
        first.reset();
        let second = Breaker::builder(key.clone()).clock(ManualClock::new()).build();
        watched.attach(&second);
        watched.learn(&key, open(1));
        assert_eq!(second.snapshot().state, State::Open);
        assert_eq!(first.snapshot().state, State::Closed);
    }

    #[test]
    fn a_recovery_shortens_the_wait_unless_it_is_old() {
        let (watched, key, breaker) = watched();
        trip(&breaker);
        watched.learn(&key, closed(7));
        assert!(breaker.snapshot().probe_in.unwrap() > SECOND, "the first thing it hears may be long past");
        watched.learn(&key, closed(8));
        assert!(breaker.snapshot().probe_in.unwrap() <= SECOND);
        assert_eq!(breaker.snapshot().state, State::Open, "it probes for itself");
    }

    #[test]
    fn a_store_that_lost_its_memory_reports_no_recovery() {
        let (watched, key, breaker) = watched();
        watched.learn(&key, open(7));
        watched.learn(&key, closed(0));
        assert!(breaker.snapshot().probe_in.unwrap() > SECOND);
        assert_eq!(watched.epoch(&key), 0);
        watched.learn(&key, open(8));
        assert_eq!(breaker.snapshot().state, State::Open);
    }

    #[test]
    fn breakers_that_nobody_holds_are_no_longer_watched() {
        let (watched, key, breaker) = watched();
        assert_eq!(watched.in_use().len(), 1);
        drop(breaker);
        assert!(watched.in_use().is_empty());
        watched.learn(&key, open(1));
        assert_eq!(watched.epoch(&key), 0);
    }
}
