//! Which of the values in a text is the answer.
//!
//! A schema decides first: what fits as it is, then what fits after coercion, then what fits although it was cut off.
//! Several *different* values of the best class are ambiguous. Without a schema every container that does not look like
//! part of the prose counts, and one that could not be read stands against those that could.

use serde_json::Value;

use super::accept::{Accept, Fit};
use super::error::ExtractError;
use super::extracted::Extracted;
use super::found::{Candidate, Found, Reading};
use super::policy::{Candidates, Policy};
use super::repair::{Repair, RepairKind, RepairLog, Risk};
use super::truncation::Truncation;

/// A candidate whose value the policy allows.
struct Usable {
    value: Value,
    cut: Option<Truncation>,
    candidate: Candidate,
    fit: Fit,
}

impl Usable {
    /// Lower is better.
    fn class(&self) -> (u8, bool) {
        let fit = match self.fit {
            Fit::Exact => 0,
            Fit::Coerced(_) => 1,
            Fit::No => 2,
        };
        (fit, self.cut.is_some())
    }
}

/// The rules of a choice.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'a> {
    pub(crate) policy: Policy,
    pub(crate) candidates: Candidates,
    pub(crate) accept: Option<&'a dyn Accept>,
}

/// The first repair of a log that the policy does not allow.
pub(crate) fn forbidden(policy: Policy, log: &RepairLog) -> Option<Repair> {
    match policy {
        Policy::Salvage => None,
        Policy::Tolerant => log.worst.clone().filter(|worst| worst.risk > Risk::Structural),
        Policy::Strict if log.inner => {
            log.list.iter().find(|r| !r.kind.is_wrapping()).or(log.worst.as_ref()).cloned()
        }
        Policy::Strict => None,
    }
}

impl Choice<'_> {
    pub(crate) fn pick(self, mut found: Found) -> Result<Extracted, ExtractError> {
        let candidates = found.take_candidates();
        if candidates.is_empty() {
            return Err(nothing(found));
        }
        let (mut usable, blocked) = self.sort(candidates, &found);
        match self.accept {
            Some(accept) => {
                if let Some(all) = collect(&usable, accept) {
                    return Ok(all);
                }
                let best = usable.iter().map(Usable::class).min();
                if best.is_some_and(|(fit, _)| fit < 2) {
                    usable.retain(|u| Some(u.class()) == best);
                    return self.one(usable, 0);
                }
                match (blocked, usable.into_iter().next()) {
                    (Some(error), _) => Err(error),
                    (None, Some(first)) => Err(ExtractError::Mismatch(Box::new(first.extracted(1)))),
                    (None, None) => Err(ExtractError::NoJson),
                }
            }
            None => {
                let firm = usable.iter().any(|u| !u.candidate.weak) || blocked.is_some();
                usable.retain(|u| !firm && !is_scalar_item(u) || !u.candidate.weak);
                match blocked {
                    Some(error) => Err(error),
                    None if usable.is_empty() => Err(nothing(found)),
                    None => self.one(usable, 0),
                }
            }
        }
    }

    /// The candidates that the policy allows, and why the first of the others cannot be used.
    fn sort(self, candidates: Vec<Candidate>, found: &Found) -> (Vec<Usable>, Option<ExtractError>) {
        let mut usable = Vec::new();
        let mut blocked = None;
        for mut candidate in candidates {
            found.note_wrapping(&mut candidate);
            let reading = std::mem::replace(&mut candidate.reading, Reading::Value(Value::Null));
            let (value, cut) = match reading {
                Reading::Value(value) => (value, None),
                Reading::Cut { at, partial: Some(value) } if self.policy == Policy::Salvage => {
                    (value, Some(at))
                }
                other => {
                    blocked.get_or_insert(unreadable(other));
                    continue;
                }
            };
            if let Some(repair) = forbidden(self.policy, &candidate.log) {
                blocked.get_or_insert(ExtractError::NotAllowed(repair));
                continue;
            }
            let fit = self.accept.map_or(Fit::Exact, |accept| accept.fit(&value));
            usable.push(Usable { value, cut, candidate, fit });
        }
        (usable, blocked)
    }

    /// The one value, or one of several by the caller's rule.
    fn one(self, usable: Vec<Usable>, skipped: usize) -> Result<Extracted, ExtractError> {
        let mut different: Vec<Usable> = Vec::new();
        for u in usable {
            match different.iter_mut().find(|d| d.value == u.value) {
                // Of equal values, the one that needed the fewest repairs.
                Some(same) if u.candidate.log.count() < same.candidate.log.count() => *same = u,
                Some(_) => {}
                None => different.push(u),
            }
        }
        let count = different.len() + skipped;
        let mut different = different.into_iter();
        let chosen = match self.candidates {
            Candidates::Refuse if count > 1 => return Err(ExtractError::Ambiguous { count }),
            Candidates::Refuse | Candidates::First => different.next(),
            Candidates::Last => different.next_back(),
        };
        chosen.map(|u| u.extracted(count)).ok_or(ExtractError::NoJson)
    }
}

impl Usable {
    fn extracted(self, different: usize) -> Extracted {
        let Candidate { span, source, log, .. } = self.candidate;
        Extracted::new(self.value, source, span, log, self.cut, different).with_fit(self.fit)
    }
}

/// A citation such as `[1]`: an array of one scalar.
fn is_scalar_item(u: &Usable) -> bool {
    u.candidate.weak && u.value.as_array().is_some_and(|items| items.len() == 1)
}

/// All values in one array, if the schema wants that and none of them alone.
fn collect(usable: &[Usable], accept: &dyn Accept) -> Option<Extracted> {
    if usable.len() < 2 || usable.iter().any(|u| u.fit == Fit::Exact || u.cut.is_some()) {
        return None;
    }
    let all = Value::Array(usable.iter().map(|u| u.value.clone()).collect());
    if accept.fit(&all) == Fit::No {
        return None;
    }
    let (first, last) = (usable.first()?, usable.last()?);
    let span = first.candidate.span.start..last.candidate.span.end;
    let mut log = first.candidate.log.clone();
    for u in usable.iter().skip(1) {
        log.absorb(u.candidate.log.clone());
    }
    log.note(RepairKind::Collected, span.start, String::new);
    Some(Extracted::new(all, first.candidate.source, span, log, None, 1))
}

fn unreadable(reading: Reading) -> ExtractError {
    match reading {
        Reading::Value(_) => ExtractError::NoJson,
        Reading::Cut { at, .. } => ExtractError::Truncated(at),
        Reading::NotAllowed(repair) => ExtractError::NotAllowed(repair),
        Reading::Damaged { offset, pointer, expected } => ExtractError::Damaged { offset, pointer, expected },
    }
}

/// The error for a text without any candidate.
fn nothing(found: Found) -> ExtractError {
    match (found.reasoning, found.rejected) {
        (Some((_, unclosed)), _) => ExtractError::OnlyReasoning { unclosed },
        (None, Some(reading)) => unreadable(reading),
        (None, None) => ExtractError::NoJson,
    }
}
