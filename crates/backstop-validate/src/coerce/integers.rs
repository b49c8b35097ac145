//! Integers that are written as floats, such as `3.0`, in a value that follows its schema.

use serde_json::{Map, Value};

use super::{
    fuel::MAX_DEPTH,
    schema::{Type, item_schema, listed, property_schema, resolve, types, variants},
};

/// Whether a walk over a value that follows the schema could turn such a float into the integer that is wanted. Answers
/// mostly hold none, and a walk costs several times what checking the whole value costs, so it is asked first.
pub(crate) fn writes_integer_as_float(root: &Value, value: &Value) -> bool {
    holds_whole_float(value) && below(root, value, root, 0)
}

/// The same below `schema`, for a value that holds such a float somewhere. Schemas of the others are not looked up.
fn below(root: &Value, value: &Value, schema: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let Some(schema) = resolve(root, schema) else { return false };
    // Which of several schemas is meant is for the walk to find out.
    if variants(schema).is_some() || listed(schema).is_some() || schema.contains_key("allOf") {
        return true;
    }
    match value {
        Value::Array(items) => items.iter().enumerate().any(|(index, item)| {
            holds_whole_float(item)
                && item_schema(schema, index).is_some_and(|schema| below(root, item, schema, depth + 1))
        }),
        Value::Object(map) => map.iter().any(|(name, member)| {
            holds_whole_float(member)
                && property_schema(schema, name).is_some_and(|schema| below(root, member, schema, depth + 1))
        }),
        _ => wants_integer(schema),
    }
}

fn wants_integer(schema: &Map<String, Value>) -> bool {
    types(schema).is_some_and(|types| types.contains(&Type::Integer) && !types.contains(&Type::Number))
}

fn is_whole_float(value: &Value) -> bool {
    value.as_f64().is_some_and(|float| value.is_f64() && float.fract() == 0.0)
}

/// Values are never nested too deeply to recurse.
fn holds_whole_float(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_whole_float),
        Value::Object(map) => map.values().any(holds_whole_float),
        scalar => is_whole_float(scalar),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::coerce::{Mode, coerce};

    #[test]
    fn says_so_wherever_the_walk_would_convert() {
        let schema = json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer"},
                "price": {"type": "number"},
                "maybe": {"type": ["integer", "null"]},
                "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
                "both": {"allOf": [{"type": "integer"}]},
                "level": {"enum": [1, 2]},
            },
            "additionalProperties": {"type": "integer"},
            "$defs": {"line": {"type": "object", "properties": {"quantity": {"type": "integer"}}}},
        });
        let cases = [
            (json!({"count": 3.0}), true),
            (json!({"count": 3, "price": 4.0}), false),
            (json!({"maybe": 3.0}), true),
            (json!({"either": 3.0}), true),
            (json!({"lines": [{"quantity": 1}, {"quantity": 2.0}]}), true),
            (json!({"lines": [{"quantity": 1, "weight": 2.0}]}), false),
            (json!({"both": 3.0}), true),
            (json!({"level": 2.0}), true),
            (json!({"other": 3.0}), true),
            (json!({"count": 3, "price": 2.5, "lines": []}), false),
        ];
        for (value, expected) in cases {
            assert_eq!(writes_integer_as_float(&schema, &value), expected, "{value}");
            let converted = !coerce(value.clone(), &schema, Mode::Safe).1.is_empty();
            assert!(expected || !converted, "the walk converts what was not announced: {value}");
        }
    }
}
