//! A value out of a text, with everything that was done to get it.

use std::ops::Range;

use serde_json::Value;

use super::accept::Fit;
use super::found::Source;
use super::repair::{Repair, RepairLog, Risk};
use super::truncation::Truncation;

/// A value, and all that is known about how it came out of the text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extracted {
    /// The value.
    pub value: Value,
    /// What was changed, in the order it was found; at most [`Limits::max_repairs`](super::Limits::max_repairs).
    pub repairs: Vec<Repair>,
    /// Repairs beyond those listed.
    pub unlisted_repairs: usize,
    /// What surrounded the value.
    pub source: Source,
    /// Where the value stands in the text, in bytes.
    pub span: Range<usize>,
    /// Where the text was cut off, if it was. Only [`Policy::Salvage`](super::Policy::Salvage) gives such a value, and the leaf named here is
    /// not finished.
    pub truncated: Option<Truncation>,
    /// How many different values would have done. More than 1 only with [`First`](super::Candidates::First) or
    /// [`Last`](super::Candidates::Last).
    pub different: usize,
    risk: Option<Risk>,
    /// It was found to fit as it is.
    exact: bool,
}

impl Extracted {
    pub(crate) fn new(
        value: Value,
        source: Source,
        span: Range<usize>,
        log: RepairLog,
        truncated: Option<Truncation>,
        different: usize,
    ) -> Self {
        let risk = log.risk();
        let RepairLog { list, unlisted, .. } = log;
        let unlisted_repairs = unlisted;
        Self {
            value,
            repairs: list,
            unlisted_repairs,
            source,
            span,
            truncated,
            different,
            risk,
            exact: false,
        }
    }

    pub(crate) fn with_fit(self, fit: Fit) -> Self {
        Self { exact: fit == Fit::Exact, ..self }
    }

    /// The same, read after what these repairs stand for.
    pub(crate) fn after(mut self, head: Vec<Repair>) -> Self {
        self.risk = self.risk.max(head.first().map(|repair| repair.risk));
        self.repairs.splice(0..0, head);
        self
    }

    /// Whether [`Accept`](super::Accept) found that it fits as it is, so that it need not be asked again.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// The risk of the least sure repair, listed or not; `None` if nothing was changed.
    pub fn risk(&self) -> Option<Risk> {
        self.risk
    }
}
