//! The open containers of the tolerant parser, on a stack of its own.

use serde_json::{Map, Value, map::Entry};

use super::pointer::Segment;

/// An open container.
#[derive(Debug)]
pub(crate) enum Frame {
    Array(Vec<Value>),
    /// `(…)`: an array if it holds a comma, otherwise just its one value.
    Tuple {
        items: Vec<Value>,
        comma: bool,
    },
    Object {
        map: Map<String, Value>,
        key: Option<String>,
    },
    /// An object inside an array that lacks its braces.
    Bare {
        map: Map<String, Value>,
        key: Option<String>,
    },
    /// The outer brace of `{{`, which stands for nothing; the object inside it, once that is closed.
    Ghost(Option<Value>),
}

impl Frame {
    pub(crate) fn object() -> Self {
        Self::Object { map: Map::new(), key: None }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object { .. } | Self::Bare { .. })
    }

    /// The key of the member that is being read.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Self::Object { key, .. } | Self::Bare { key, .. } => key.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Array(items) | Self::Tuple { items, .. } => items.is_empty(),
            Self::Object { map, key } | Self::Bare { map, key } => map.is_empty() && key.is_none(),
            Self::Ghost(inner) => inner.is_none(),
        }
    }

    /// The bracket that closes it.
    pub(crate) fn closer(&self) -> u8 {
        match self {
            Self::Array(_) => b']',
            Self::Tuple { .. } => b')',
            Self::Object { .. } | Self::Bare { .. } | Self::Ghost(_) => b'}',
        }
    }

    /// Adds a finished value; a key that was there already comes back.
    pub(crate) fn put(&mut self, value: Value) -> Option<String> {
        match self {
            Self::Array(items) | Self::Tuple { items, .. } => items.push(value),
            Self::Object { map, key } | Self::Bare { map, key } => {
                match map.entry(key.take().unwrap_or_default()) {
                    Entry::Vacant(entry) => {
                        entry.insert(value);
                    }
                    Entry::Occupied(mut entry) => {
                        entry.insert(value);
                        return Some(entry.key().clone());
                    }
                }
            }
            Self::Ghost(inner) => *inner = Some(value),
        }
        None
    }

    /// What the closed container stands for.
    pub(crate) fn finish(self) -> Option<Value> {
        match self {
            Self::Tuple { mut items, comma: false } if items.len() == 1 => items.pop(),
            Self::Array(items) | Self::Tuple { items, .. } => Some(Value::Array(items)),
            Self::Object { map, .. } | Self::Bare { map, .. } => Some(Value::Object(map)),
            Self::Ghost(inner) => inner,
        }
    }

    /// The step of a pointer to what is being read inside it.
    pub(crate) fn segment(&self) -> Option<Segment<'_>> {
        match self {
            Self::Array(items) | Self::Tuple { items, .. } => Some(Segment::Index(items.len())),
            Self::Object { key, .. } | Self::Bare { key, .. } => key.as_deref().map(Segment::Key),
            Self::Ghost(_) => None,
        }
    }
}
