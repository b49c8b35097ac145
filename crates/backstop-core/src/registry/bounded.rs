//! A map of shared values that does not grow without end.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// At most `most` values. When it is full, values that nobody else holds and that have nothing to remember make
/// room; one that is held is never forgotten, or its holders and later comers would have two of the same key.
#[derive(Debug)]
pub(crate) struct Bounded<K, V> {
    most: usize,
    values: HashMap<K, Arc<V>>,
}

impl<K: Eq + Hash, V> Bounded<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, values: HashMap::new() }
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&Arc<V>>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.values.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &Arc<V>)> {
        self.values.iter()
    }

    /// Keeps `value`, if there is or can be made room for it. Says whether it did.
    pub(crate) fn insert(&mut self, key: K, value: &Arc<V>, is_idle: impl Fn(&V) -> bool) -> bool {
        if self.values.len() >= self.most {
            // Nobody can come to hold a value while we look: the only way to it is through this map.
            self.values.retain(|_, value| Arc::strong_count(value) > 1 || !is_idle(value));
        }
        let room = self.values.len() < self.most;
        if room {
            self.values.insert(key, Arc::clone(value));
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_idle_and_held_by_nobody_makes_room() {
        let mut map = Bounded::new(3);
        let held = Arc::new("idle");
        let is_idle = |value: &&str| *value == "idle";
        assert!(map.insert(1, &held, is_idle));
        assert!(map.insert(2, &Arc::new("busy"), is_idle));
        assert!(map.insert(3, &Arc::new("idle"), is_idle));
        assert!(map.insert(4, &Arc::new("busy"), is_idle), "3 makes room");
        assert!(map.get(&3).is_none());
        assert!(!map.insert(5, &Arc::new("busy"), is_idle), "1 is held, 2 and 4 are busy");
        drop(held);
        assert!(map.insert(5, &Arc::new("busy"), is_idle));
        assert_eq!(map.iter().count(), 3);
    }
}
