//! Rules that `#[derive(garde::Validate)]` puts on a type.

use garde::{Path, Validate, error::Kind};

use super::{FieldRule, broken::Broken};
use crate::json::pointer::{Segment, push};

/// The rules that the type itself has.
pub(crate) fn derived<T>() -> FieldRule<T>
where
    T: Validate<Context: Default> + 'static,
{
    FieldRule::finding("", |value: &T, _, broken| {
        let Err(report) = value.validate() else { return };
        broken.extend(
            report.iter().map(|(path, error)| Broken::explained(&pointer(path), error.message().to_owned())),
        );
    })
}

fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for (kind, name) in path.__iter().rev() {
        match kind {
            Kind::Index => push(&mut pointer, Segment::Index(name.parse().unwrap_or_default())),
            Kind::Key => push(&mut pointer, Segment::Key(name)),
            Kind::None => {}
        }
    }
    pointer
}
