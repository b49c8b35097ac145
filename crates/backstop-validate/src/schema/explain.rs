//! From the evaluator's errors to places that a model can mend.
//!
//! Most errors are one place. A value that fits none of several alternatives is another matter: what is wrong depends
//! on which one was meant. That is the one whose tag (a `const` or one-word `enum`) and type fit; if several do, the one
//! that the value comes nearest to; if none does, the alternatives are named.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use super::{
    Violation, found,
    words::{expected, found_at, list},
};

type Branches = [Vec<ValidationError<'static>>];

/// Collects violations, each once.
pub(super) struct Explainer<'a> {
    /// The schema, to look up what stands beside a broken keyword.
    schema: &'a Value,
    most: usize,
    /// Only the first items of arrays are there, so that their number says nothing.
    excerpt: bool,
    found: Vec<Violation>,
}

impl<'a> Explainer<'a> {
    pub(super) fn new(schema: &'a Value, most: usize, excerpt: bool) -> Self {
        Self { schema, most, excerpt, found: Vec::new() }
    }

    pub(super) fn explain<'e>(mut self, errors: impl Iterator<Item = ValidationError<'e>>) -> Vec<Violation> {
        for error in errors {
            if self.is_full() {
                break;
            }
            self.add(&error);
        }
        self.found
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.most
    }

    fn add(&mut self, error: &ValidationError<'_>) {
        let branches = match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => context,
            Kind::MinItems { .. } | Kind::Contains if self.excerpt => return,
            _ => return self.push(self.violation(error)),
        };
        let own = depth(error);
        match meant(branches, own) {
            Some(branch) => {
                for error in branch {
                    if self.is_full() {
                        break;
                    }
                    self.add(error);
                }
            }
            None => match tags(branches, own) {
                Some((pointer, tags, error)) => {
                    let (found, quoted) = found_at(error);
                    self.push(Violation::new(&pointer, tags, found, quoted));
                }
                None => self.push(self.violation(error)),
            },
        }
    }

    fn push(&mut self, violation: Violation) {
        if !self.found.contains(&violation) {
            self.found.push(violation);
        }
    }

    fn violation(&self, error: &ValidationError<'_>) -> Violation {
        let (found, quoted) = found_at(error);
        let beside = self.beside(error);
        Violation::new(error.instance_path().as_str(), expected(error, beside), found, quoted)
    }

    /// The subschema that the broken keyword stands in.
    fn beside(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
        if parent.is_empty() { Some(self.schema) } else { self.schema.pointer(parent) }
    }
}

fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

/// The alternative that the value was meant to be, if that can be told.
fn meant(branches: &Branches, own: usize) -> Option<&Vec<ValidationError<'static>>> {
    let fitting = branches.iter().filter(|branch| !branch.is_empty() && fits_roughly(branch, own));
    let nearest = |branch: &&Vec<ValidationError<'static>>| {
        let deepest = branch.iter().map(depth).max().unwrap_or_default();
        (deepest, std::cmp::Reverse(branch.len()))
    };
    let fitting: Vec<_> = fitting.collect();
    match fitting.as_slice() {
        [only] => Some(only),
        several => {
            let best = several.iter().copied().max_by_key(nearest)?;
            (nearest(&best).0 > own).then_some(best)
        }
    }
}

/// Neither the type nor a tag is another one's.
fn fits_roughly(branch: &[ValidationError<'static>], own: usize) -> bool {
    branch.iter().all(|error| match error.kind() {
        Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. } if depth(error) == own => false,
        Kind::Constant { .. } => depth(error) > own + 1,
        Kind::Enum { options } => {
            depth(error) > own + 1 || options.as_array().is_none_or(|all| all.len() != 1)
        }
        _ => true,
    })
}

/// The tags that would choose an alternative, if every one of them has its tag in the same place.
fn tags(branches: &Branches, own: usize) -> Option<(String, String, &ValidationError<'static>)> {
    let mut place: Option<&ValidationError<'static>> = None;
    let mut wanted = Vec::new();
    for branch in branches {
        let (error, tag) = branch.iter().find_map(|error| match error.kind() {
            Kind::Constant { expected_value } if depth(error) == own + 1 => {
                Some((error, found::quoted(expected_value)))
            }
            Kind::Enum { options } if depth(error) == own + 1 => match options.as_array()?.as_slice() {
                [only] => Some((error, found::quoted(only))),
                _ => None,
            },
            _ => None,
        })?;
        if place.is_some_and(|place| place.instance_path().as_str() != error.instance_path().as_str()) {
            return None;
        }
        place = Some(error);
        wanted.push(tag);
    }
    let place = place?;
    Some((place.instance_path().to_string(), format!("one of {}", list(wanted.into_iter())), place))
}
