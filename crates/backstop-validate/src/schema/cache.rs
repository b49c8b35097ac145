//! Schemas known only at run time, compiled once however often they are given.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use super::Schema;

/// Most schemas that are kept. A program that has more gets those compiled again that it used longest ago.
const MAX_KEPT: usize = 64;
/// Most text of all schemas that are kept, in bytes of compact JSON; a compiled schema takes a few times that.
const MAX_BYTES: usize = 4 << 20;

/// The schemas used last, the latest at the back.
pub(super) struct Cache {
    kept: VecDeque<Kept>,
    bytes: usize,
}

struct Kept {
    key: u64,
    bytes: usize,
    schema: Schema,
}

/// Name and content as one number, with the length of the content. Random per process, so that nobody can
/// prepare schemas that collide; equality is checked all the same.
pub(super) fn key(name: &str, schema: &Value) -> (u64, usize) {
    static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    let text = schema.to_string();
    (STATE.hash_one((name, text.as_str())), text.len())
}

impl Cache {
    pub(super) const fn new() -> Self {
        Self { kept: VecDeque::new(), bytes: 0 }
    }

    /// The cache of the process.
    pub(super) fn shared() -> MutexGuard<'static, Self> {
        static CACHE: Mutex<Cache> = Mutex::new(Cache::new());
        CACHE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&mut self, key: u64, name: &str, schema: &Value) -> Option<Schema> {
        let same = |kept: &Kept| {
            kept.key == key && kept.schema.name() == name && **kept.schema.original() == *schema
        };
        let index = self.kept.iter().position(same)?;
        let found = self.kept.remove(index)?;
        let schema = found.schema.clone();
        self.kept.push_back(found);
        Some(schema)
    }

    pub(super) fn put(&mut self, key: u64, bytes: usize, schema: Schema) {
        if bytes > MAX_BYTES {
            return;
        }
        self.bytes += bytes;
        self.kept.push_back(Kept { key, bytes, schema });
        while self.kept.len() > MAX_KEPT || self.bytes > MAX_BYTES {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(n: usize) -> Schema {
        Schema::new("x", json!({ "minimum": n })).unwrap()
    }

    #[test]
    fn the_one_used_longest_ago_goes_first() {
        let mut cache = Cache::new();
        let look = |cache: &mut Cache, n: usize| {
            let (key, _) = key("x", &json!({ "minimum": n }));
            cache.get(key, "x", &json!({ "minimum": n })).is_some()
        };
        for n in 0..MAX_KEPT {
            cache.put(key("x", &json!({ "minimum": n })).0, 10, schema(n));
        }
        assert!(look(&mut cache, 0));
        cache.put(key("x", &json!({ "minimum": 1000 })).0, 10, schema(1000));
        assert!(look(&mut cache, 0) && !look(&mut cache, 1) && look(&mut cache, 1000));
    }

    #[test]
    fn memory_is_bounded_by_bytes_too() {
        let mut cache = Cache::new();
        for n in 0..5 {
            cache.put(n, MAX_BYTES / 2, schema(0));
        }
        assert_eq!((cache.kept.len(), cache.bytes), (2, MAX_BYTES));
        cache.put(9, MAX_BYTES + 1, schema(0));
        assert_eq!(cache.kept.len(), 2);
    }

    #[test]
    fn neither_another_name_nor_a_colliding_key_is_taken_for_the_same() {
        let mut cache = Cache::new();
        cache.put(7, 10, schema(1));
        assert!(cache.get(7, "y", &json!({"minimum": 1})).is_none());
        assert!(cache.get(7, "x", &json!({"minimum": 2})).is_none());
        assert!(cache.get(7, "x", &json!({"minimum": 1})).is_some());
    }
}
