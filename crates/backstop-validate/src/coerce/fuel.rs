//! The bounds of one coercion.

use serde_json::Value;

/// Deepest nesting that is looked at; what lies deeper stays as it is.
pub(super) const MAX_DEPTH: usize = 48;

/// Bounds the work on nested unions, which would otherwise grow with the power of their depth.
pub(super) struct Fuel(u32);

impl Fuel {
    pub(super) fn full() -> Self {
        Self(1_000_000)
    }

    /// Uses one unit; false if there is none left.
    pub(super) fn burn(&mut self) -> bool {
        self.spend(1)
    }

    /// Takes several steps at once; `false` if there is not enough left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
        self.0 > 0
    }
}

/// How many steps it takes to copy a value.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        _ => 1,
    }
}
