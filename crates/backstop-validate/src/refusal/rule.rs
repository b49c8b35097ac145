//! What a text rule is: a pattern, where it is looked for, what a hit says and what it is worth.

use super::Language;
use super::pattern::{Pattern, Word};

/// What a hit says about the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The model declines in so many words. Of several, the best counts.
    Decline,
    /// The request is named as the obstacle: a policy, a scope, a norm.
    Obstacle,
    /// Moralising or a change of topic in place of an answer.
    Deflect,
    /// Words that often stand beside a refusal and mean nothing alone.
    Support,
    /// A gateway or filter speaks, not the model.
    Filter,
    /// The input is missing or unreadable.
    NeedsInput,
    /// Looks like inability and is an ordinary answer: its words are blanked before the other rules run.
    Benign,
}

/// How much of the head a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The first sentence.
    First,
    /// The first two sentences.
    Two,
    /// The first four sentences.
    Four,
    /// The whole head.
    Head,
}

/// What a hit is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The same anywhere.
    Flat(i32),
    /// More in the first sentence than later.
    Opening(i32, i32),
    /// 90, 75, 60 or 40 points, by the byte at which the hit starts (before 60, 130, 240, later).
    Position,
}

impl Weight {
    pub(crate) fn points(self, start: usize, first_sentence_end: usize) -> i32 {
        match self {
            Self::Flat(points) => points,
            Self::Opening(early, late) => {
                if start < first_sentence_end {
                    early
                } else {
                    late
                }
            }
            Self::Position => match start {
                0..60 => 90,
                60..130 => 75,
                130..240 => 60,
                _ => 40,
            },
        }
    }
}

/// One rule of a language.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) signal: Signal,
    pub(crate) scope: Scope,
    pub(crate) weight: Weight,
    pub(crate) pattern: Pattern,
}

impl Rule {
    pub(crate) const fn new(
        name: &'static str,
        signal: Signal,
        scope: Scope,
        weight: Weight,
        words: &'static [Word],
        template: &'static str,
    ) -> Self {
        Self { name, signal, scope, weight, pattern: Pattern::new(template, words) }
    }
}

/// The rules of one language.
pub(crate) struct Pack {
    pub(crate) language: Language,
    /// An alternation of plain words, at least one of which every rule of the pack needs: the cheap way out.
    pub(crate) cue: Pattern,
    /// In groups, so that a language with many rules can keep them in several files. Benign ones come first.
    pub(crate) rules: &'static [&'static [Rule]],
}

impl Pack {
    pub(crate) fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        self.rules.iter().copied().flatten()
    }
}
