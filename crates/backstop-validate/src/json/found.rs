//! What a scan found: candidates for the answer, and what lies around them.

use std::ops::Range;

use serde_json::Value;

use super::repair::{Repair, RepairKind, RepairLog};
use super::truncation::Truncation;

/// What surrounds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// Nothing but blanks.
    Whole,
    /// The code fence with this number, from 0.
    Fence(usize),
    /// Other text.
    Prose,
}

/// What reading a candidate gave.
#[derive(Debug)]
pub(crate) enum Reading {
    Value(Value),
    Cut { at: Truncation, partial: Option<Value> },
    NotAllowed(Repair),
    Damaged { offset: usize, pointer: String, expected: &'static str },
}

/// A value, or what should have been one.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) span: Range<usize>,
    pub(crate) source: Source,
    pub(crate) reading: Reading,
    pub(crate) log: RepairLog,
    /// May as well be part of the prose, if there is any, such as the citation `[1]`.
    pub(crate) weak: bool,
    pub(crate) fence_at: Option<usize>,
}

impl Candidate {
    /// One that nothing surrounds.
    pub(crate) fn whole(span: Range<usize>, reading: Reading, log: RepairLog) -> Self {
        Self { span, source: Source::Whole, reading, log, weak: false, fence_at: None }
    }
}

/// Everything that a scan found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    /// Where reasoning starts, and whether it never ends.
    pub(crate) reasoning: Option<(usize, bool)>,
    /// What was wrong with the first bracket that turned out to be no value.
    pub(crate) rejected: Option<Reading>,
    pub(crate) prose: Option<usize>,
    /// The first fence.
    pub(crate) fence: Option<usize>,
    pub(crate) too_deep: Option<usize>,
}

impl Found {
    /// Takes the candidates out. If there are several, each is part of what surrounds the others.
    pub(crate) fn take_candidates(&mut self) -> Vec<Candidate> {
        let mut candidates = std::mem::take(&mut self.candidates);
        if self.prose.is_none() {
            candidates.iter_mut().for_each(|candidate| candidate.weak = false);
        }
        if let [first, second, ..] = candidates.as_slice() {
            self.prose = self.prose.or(Some(first.span.start.min(second.span.start)));
        }
        candidates
    }

    /// Notes on a candidate what was taken away around it.
    pub(crate) fn note_wrapping(&self, candidate: &mut Candidate) {
        if candidate.source == Source::Whole {
            return;
        }
        let places = [
            (RepairKind::Reasoning, self.reasoning.map(|(at, _)| at)),
            (RepairKind::Prose, self.prose),
            (RepairKind::Fence, candidate.fence_at.or(self.fence)),
        ];
        for (kind, at) in places {
            if let Some(at) = at {
                candidate.log.note(kind, at, String::new);
            }
        }
    }
}
