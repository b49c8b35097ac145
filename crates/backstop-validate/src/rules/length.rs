//! What has a length.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// Something with a length that a [rule](super::Field::length) can be about.
pub trait Length {
    /// Characters of a text, items of a collection.
    fn length(&self) -> usize;
    /// What is counted, in the plural.
    const UNIT: &'static str;
}

impl Length for String {
    const UNIT: &'static str = "characters";

    fn length(&self) -> usize {
        self.chars().count()
    }
}

macro_rules! items {
    ($([$($param:ident),*] $collection:ty;)*) => {$(
        impl<$($param),*> Length for $collection {
            const UNIT: &'static str = "items";

            fn length(&self) -> usize {
                self.len()
            }
        }
    )*};
}

items! {
    [T] Vec<T>;
    [T] VecDeque<T>;
    [T] BTreeSet<T>;
    [T, S] HashSet<T, S>;
    [K, V] BTreeMap<K, V>;
    [K, V, S] HashMap<K, V, S>;
    [] serde_json::Map<String, serde_json::Value>;
}
