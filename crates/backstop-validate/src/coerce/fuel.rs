//! The bounds of one coercion.

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
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}
