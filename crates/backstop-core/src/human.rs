//! Durations for people, and texts that are not for them.

use std::{fmt, time::Duration};

/// A duration in a unit that fits: `400 ms`, `1.5 s`, `15 min`.
pub(crate) struct Human(pub(crate) Duration);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        let text = match self.0.as_millis() {
            0..1_000 => format!("{} ms", self.0.as_millis()),
            1_000..600_000 if seconds.fract() < 0.05 => format!("{seconds:.0} s"),
            1_000..600_000 => format!("{seconds:.1} s"),
            _ => format!("{:.0} min", seconds / 60.0),
        };
        f.pad(&text)
    }
}

/// The size of a text that no log may hold: `12 bytes`.
pub(crate) struct Bytes<'a>(pub(crate) &'a str);

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit() {
        let shown = |millis| Human(Duration::from_millis(millis)).to_string();
        assert_eq!(
            [0, 400, 1_000, 1_500, 90_000, 900_000].map(shown),
            ["0 ms", "400 ms", "1 s", "1.5 s", "90 s", "15 min"]
        );
    }
}
