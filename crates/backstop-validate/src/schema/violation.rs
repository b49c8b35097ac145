//! One place where a value does not follow its schema, in words that a model can act on.

use std::fmt;

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::found;

/// Most names or options that are listed.
const MAX_LIST: usize = 12;

/// One place where a value does not follow its schema. `Display` names the place and what was expected but not the
/// value found, so it may go into logs; [`feedback`](Self::feedback) quotes the value, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// JSON pointer of the place; empty for the whole value.
    pub pointer: String,
    /// What the schema asks for there.
    pub expected: String,
    /// What kind of value is there.
    pub found: String,
    quoted: String,
}

impl Violation {
    pub(super) fn new(error: &ValidationError<'_>) -> Self {
        let error = most_telling(error);
        let (found, quoted) = found(error);
        Self { pointer: error.instance_path().to_string(), expected: expected(error), found, quoted }
    }

    /// The line that is sent to the model: place, expectation, and the value found, shortened.
    #[must_use]
    pub fn feedback(&self) -> String {
        format!("{}: expected {}, found {}", self.place(), self.expected, self.quoted)
    }

    fn place(&self) -> String {
        if self.pointer.is_empty() { "the whole value".to_owned() } else { format!("`{}`", self.pointer) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.place(), self.expected, self.found)
    }
}

/// Where a value fits none of several alternatives, the one that it comes nearest to says most: the one whose
/// error lies deepest.
fn most_telling<'e, 'a>(error: &'e ValidationError<'a>) -> &'e ValidationError<'a>
where
    'static: 'a,
{
    let context = match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => context,
        _ => return error,
    };
    let own = depth(error);
    let nested = context.iter().filter_map(|branch| branch.iter().max_by_key(|error| depth(error)));
    match nested.max_by_key(|error| depth(error)) {
        Some(deepest) if depth(deepest) > own => most_telling(deepest),
        _ => error,
    }
}

fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

/// What is there, without and with its value. Where a property is the matter, its name says more than the object.
fn found(error: &ValidationError<'_>) -> (String, String) {
    match error.kind() {
        Kind::Required { .. } => ("none".to_owned(), "none".to_owned()),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names = list(unexpected.iter().map(|name| format!("`{name}`")));
            // A name that the model made up is part of its answer.
            (format!("{} more", unexpected.len()), names)
        }
        _ => (found::kind(error.instance()), found::quoted(error.instance())),
    }
}

fn expected(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Type { kind } => types(kind),
        Kind::Required { property } => format!("a property `{}`", property.as_str().unwrap_or_default()),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "only the properties of the schema".to_owned()
        }
        Kind::Enum { options } => match &**options {
            Value::Array(options) => format!("one of {}", list(options.iter().map(found::quoted))),
            other => found::quoted(other),
        },
        Kind::Constant { expected_value } => found::quoted(expected_value),
        Kind::Format { format } => format!("a string in the format `{format}`"),
        Kind::Pattern { pattern } => format!("a string that matches `{pattern}`"),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => format!("at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("at most {limit} properties"),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::FalseSchema => "nothing here".to_owned(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(context),
        Kind::OneOfMultipleValid { .. } => "exactly one of the alternatives, not several".to_owned(),
        other => format!("a value that passes `{}`", other.keyword()),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => list(several.iter().map(|one| one.to_string())).replace(", ", " or "),
    }
}

fn alternatives(context: &[Vec<ValidationError<'static>>]) -> String {
    let mut wanted: Vec<String> = Vec::new();
    for branch in context.iter().filter_map(|branch| branch.first()) {
        let one = expected(branch);
        if !wanted.contains(&one) {
            wanted.push(one);
        }
    }
    if wanted.is_empty() { "one of the alternatives".to_owned() } else { wanted.join(" or ") }
}

fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MAX_LIST);
    let mut shown: Vec<String> = names.take(MAX_LIST).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use crate::Schema;
    use serde_json::{Value, json};

    fn feedback(schema: Value, value: Value) -> Vec<String> {
        let violations = Schema::new("x", schema).unwrap().violations(&value);
        violations.iter().map(|violation| violation.feedback()).collect()
    }

    #[test]
    fn each_line_names_place_expectation_and_finding() {
        let cases = [
            (json!({"type": "number"}), json!("12"), "the whole value: expected number, found \"12\""),
            (
                json!({"type": ["number", "null"]}),
                json!("x"),
                "the whole value: expected null or number, found \"x\"",
            ),
            (json!({"required": ["a"]}), json!({}), "the whole value: expected a property `a`, found none"),
            (
                json!({"properties": {"a": {"enum": ["x", "y"]}}}),
                json!({"a": "z"}),
                "`/a`: expected one of \"x\", \"y\", found \"z\"",
            ),
            (
                json!({"properties": {"a": {}}, "additionalProperties": false}),
                json!({"b": 1}),
                "the whole value: expected only the properties of the schema, found `b`",
            ),
            (
                json!({"items": {"type": "string", "format": "date"}}),
                json!(["2026-13-01"]),
                "`/0`: expected a string in the format `date`, found \"2026-13-01\"",
            ),
            (json!({"minimum": 3}), json!(2), "the whole value: expected at least 3, found 2"),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!("x"),
                "the whole value: expected integer or null, found \"x\"",
            ),
            (
                json!({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"type": "integer"}}}]}),
                json!({"a": "one"}),
                "`/a`: expected integer, found \"one\"",
            ),
        ];
        for (schema, value, line) in cases {
            assert_eq!(feedback(schema, value), [line]);
        }
    }

    #[test]
    fn at_most_five_places_are_named_and_display_quotes_nothing() {
        let schema = json!({"items": {"type": "integer"}});
        let value = Value::Array((0..9).map(|n| json!(format!("secret{n}"))).collect());
        let violations = Schema::new("x", schema).unwrap().violations(&value);
        assert_eq!(violations.len(), 5);
        assert!(violations.iter().all(|violation| !violation.to_string().contains("secret")));
    }
}
