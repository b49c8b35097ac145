//! What a schema asks for, in words.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::found;

/// Most names or options that are listed.
const MAX_LIST: usize = 12;
/// Longest pattern that is shown, in characters.
const MAX_PATTERN: usize = 200;

/// What is there, without and with its value. Where a property is the matter, its name says more than the object.
pub(super) fn found_at(error: &ValidationError<'_>) -> (String, String) {
    let instance = error.instance();
    match error.kind() {
        Kind::Required { .. } => ("none".to_owned(), "none".to_owned()),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names = list(unexpected.iter().map(|name| found::name(name)));
            // A name that the model made up is part of its answer.
            (format!("{} more", unexpected.len()), format!("also {names}"))
        }
        Kind::MinLength { .. } | Kind::MaxLength { .. } => {
            let length = instance.as_str().map_or(0, |text| text.chars().count());
            (format!("{length}"), format!("{length}: {}", found::quoted(instance)))
        }
        Kind::UniqueItems => match first_repeat(instance) {
            Some((first, second)) => {
                let words = format!("item {second} equal to item {first}");
                (words.clone(), words)
            }
            None => (found::kind(instance), found::quoted(instance)),
        },
        Kind::PropertyNames { error } => (found::kind(error.instance()), found::quoted(error.instance())),
        _ => (found::kind(instance), found::quoted(instance)),
    }
}

/// The first item of an array that was there before, after the one it repeats.
fn first_repeat(array: &Value) -> Option<(usize, usize)> {
    let mut seen = std::collections::HashMap::new();
    for (index, item) in array.as_array()?.iter().enumerate() {
        if let Some(first) = seen.insert(item.to_string(), index) {
            return Some((first, index));
        }
    }
    None
}

/// What is asked for, where `beside` is the subschema with the broken keyword.
pub(super) fn expected(error: &ValidationError<'_>, beside: Option<&Value>) -> String {
    match error.kind() {
        Kind::Type { kind } => types(kind),
        Kind::Required { property } => required(property.as_str().unwrap_or_default(), beside),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => known_properties(beside),
        Kind::Enum { options } => match &**options {
            Value::Array(options) => format!("one of {}", list(options.iter().map(found::quoted))),
            other => found::quoted(other),
        },
        Kind::Constant { expected_value } => found::quoted(expected_value),
        Kind::Format { format } => format!("a string in the format `{format}`"),
        Kind::Pattern { pattern } => {
            format!("a string that matches `{}`", found::shortened(pattern, MAX_PATTERN))
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => match pattern_of(beside) {
            Some(pattern) => format!("a string that matches `{}`", found::shortened(pattern, MAX_PATTERN)),
            None => "a string that matches its pattern".to_owned(),
        },
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
        Kind::Contains => "an item of the kind that `contains` describes".to_owned(),
        Kind::PropertyNames { error } => format!("every property name to be {}", expected(error, None)),
        Kind::Not { .. } => "a value other than the ones that `not` rules out".to_owned(),
        Kind::FalseSchema => "nothing here; leave it out".to_owned(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives(context.iter().filter_map(|branch| branch.first()))
        }
        Kind::OneOfMultipleValid { .. } => {
            "a value that fits exactly one of the alternatives, not several".to_owned()
        }
        other => format!("a value that passes `{}`", other.keyword()),
    }
}

fn required(name: &str, beside: Option<&Value>) -> String {
    let kind = beside.and_then(|schema| schema.get("properties")?.get(name)?.get("type")?.as_str());
    match kind {
        Some(kind) => format!("a property {} of type {kind}", found::name(name)),
        None => format!("a property {}", found::name(name)),
    }
}

fn known_properties(beside: Option<&Value>) -> String {
    match beside.and_then(|schema| schema.get("properties")?.as_object()) {
        Some(known) if !known.is_empty() => {
            format!("no properties but {}", list(known.keys().map(|name| found::name(name))))
        }
        _ => "no more properties".to_owned(),
    }
}

fn pattern_of(beside: Option<&Value>) -> Option<&str> {
    beside?.get("pattern")?.as_str()
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => list(several.iter().map(|one| one.to_string())).replace(", ", " or "),
    }
}

/// What several errors ask for, each wish once.
pub(super) fn alternatives<'e>(errors: impl Iterator<Item = &'e ValidationError<'static>>) -> String {
    let mut wanted: Vec<String> = Vec::new();
    for error in errors {
        let one = expected(error, None);
        if !wanted.contains(&one) {
            wanted.push(one);
        }
    }
    let more = wanted.len().saturating_sub(MAX_LIST);
    wanted.truncate(MAX_LIST);
    if more > 0 {
        wanted.push(format!("{more} more"));
    }
    if wanted.is_empty() { "one of the alternatives".to_owned() } else { wanted.join(" or ") }
}

pub(super) fn list(names: impl ExactSizeIterator<Item = String>) -> String {
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
                "the whole value: expected no properties but `a`, found also `b`",
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
                json!({"minLength": 3}),
                json!("ab"),
                "the whole value: expected at least 3 characters, found 2: \"ab\"",
            ),
            (
                json!({"uniqueItems": true}),
                json!([1, 2, 1]),
                "the whole value: expected items that all differ, found item 2 equal to item 0",
            ),
            (
                json!({"required": ["id"], "properties": {"id": {"type": "integer"}}}),
                json!({}),
                "the whole value: expected a property `id` of type integer, found none",
            ),
            (
                json!({"propertyNames": {"maxLength": 3}}),
                json!({"long name": 1}),
                "the whole value: expected every property name to be at most 3 characters, found \"long name\"",
            ),
            (
                json!({"properties": {"a": false}}),
                json!({"a": 1}),
                "`/a`: expected nothing here; leave it out, found 1",
            ),
            (
                json!({"contains": {"type": "integer"}}),
                json!(["x"]),
                "the whole value: expected an item of the kind that `contains` describes, found an array of 1",
            ),
            (
                json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
                json!(3),
                "the whole value: expected a value that fits exactly one of the alternatives, not several, found 3",
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

    fn payment() -> Value {
        json!({"oneOf": [
            {
                "properties": {"kind": {"const": "card"}, "number": {"type": "integer"}, "name": {"type": "string"}},
                "required": ["kind", "number", "name"]
            },
            {"properties": {"kind": {"enum": ["cash"]}, "coins": {"items": {"type": "integer"}}}, "required": ["kind"]}
        ]})
    }

    #[test]
    fn the_tag_tells_which_alternative_was_meant() {
        assert_eq!(
            feedback(payment(), json!({"kind": "card", "number": "1"})),
            [
                "the whole value: expected a property `name` of type string, found none",
                "`/number`: expected integer, found \"1\"",
            ]
        );
        assert_eq!(
            feedback(payment(), json!({"kind": "cash", "coins": [1, "2"]})),
            ["`/coins/1`: expected integer, found \"2\""]
        );
    }

    #[test]
    fn without_a_fitting_tag_the_tags_are_named() {
        assert_eq!(
            feedback(payment(), json!({"kind": "cheque"})),
            ["`/kind`: expected one of \"card\", \"cash\", found \"cheque\""]
        );
    }

    #[test]
    fn recursive_alternatives_lead_to_the_innermost_mistake() {
        let tree = json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {"anyOf": [
                {"type": "integer"},
                {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}, "required": ["left"]}
            ]}}
        });
        let value = json!({"left": {"left": {"left": "x"}}});
        assert_eq!(feedback(tree, value), ["`/left/left/left`: expected integer or object, found \"x\""]);
    }

    #[test]
    fn names_and_patterns_that_a_model_or_a_schema_made_long_are_cut() {
        let name = "n".repeat(10_000);
        let schema = json!({"additionalProperties": {"pattern": format!("^{}$", "p".repeat(5_000))}});
        let lines = feedback(schema, json!({ name: "v".repeat(10_000) }));
        assert!(lines[0].len() < 800, "{}", lines[0].len());
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
