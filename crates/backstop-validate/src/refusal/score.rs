//! What the rules found in one text, and how many points it makes.

use super::{Evidence, Language};

/// What the rules found in one text.
#[derive(Default)]
pub(crate) struct Score {
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) language: Option<Language>,
    /// Points of a plain decline, an obstacle or a filter notice.
    pub(crate) declined: i32,
    /// Points of moralising or a change of topic.
    pub(crate) deflected: i32,
    /// Points of a filter notice.
    pub(crate) filtered: i32,
    /// Points for missing input.
    pub(crate) input: i32,
    /// Whether a policy or a norm is named, which missing input never needs.
    pub(crate) obstacle: bool,
    /// Whether the very first words decline.
    pub(crate) opens_with_decline: bool,
    /// What the answer's substance took away (zero or negative).
    pub(crate) substance: i32,
}

impl Score {
    pub(crate) fn points(&self) -> i32 {
        self.evidence.iter().fold(0, |sum: i32, evidence| sum.saturating_add(evidence.points))
    }

    /// Adds evidence about the answer as a whole.
    pub(crate) fn note(&mut self, rule: &'static str, points: i32) {
        self.evidence.push(Evidence { span: 0..0, rule, points });
    }
}
