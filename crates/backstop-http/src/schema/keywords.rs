//! The keywords of one schema, and which of them constrain nothing.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

/// The keywords of one schema, borrowed where nothing had to be merged.
pub(super) type Flat<'a> = BTreeMap<&'a str, Cow<'a, Value>>;

/// Keywords that constrain nothing.
pub(super) const ANNOTATIONS: &[&str] = &[
    "$anchor",
    "$id",
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}
