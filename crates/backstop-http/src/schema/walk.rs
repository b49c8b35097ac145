//! Which keywords of a schema hold further schemas.

use serde_json::{Map, Value};

const ONE: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const MAPS: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Calls `visit` with every direct sub-schema and the keyword that holds it.
pub(super) fn children<'s>(map: &'s Map<String, Value>, mut visit: impl FnMut(&'static str, &'s Value)) {
    for keyword in ONE {
        if let Some(schema @ (Value::Object(_) | Value::Bool(_))) = map.get(*keyword) {
            visit(keyword, schema);
        }
    }
    for keyword in LISTS {
        if let Some(Value::Array(schemas)) = map.get(*keyword) {
            schemas.iter().for_each(|schema| visit(keyword, schema));
        }
    }
    for keyword in MAPS {
        if let Some(Value::Object(schemas)) = map.get(*keyword) {
            schemas.values().for_each(|schema| visit(keyword, schema));
        }
    }
}

/// The same for changing them, with the rest of the JSON pointer to each; stops at the first error.
pub(super) fn try_children_mut<E>(
    map: &mut Map<String, Value>,
    mut visit: impl FnMut(&str, Place<'_>, &mut Value) -> Result<(), E>,
) -> Result<(), E> {
    for (keyword, value) in map.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(schemas) if MAPS.contains(&keyword) => {
                schemas
                    .iter_mut()
                    .try_for_each(|(name, schema)| visit(keyword, Place::Name(name), schema))?;
            }
            Value::Array(schemas) if LISTS.contains(&keyword) => {
                let mut schemas = schemas.iter_mut().enumerate();
                schemas.try_for_each(|(index, schema)| visit(keyword, Place::Index(index), schema))?;
            }
            Value::Object(_) if ONE.contains(&keyword) => visit(keyword, Place::Whole, value)?,
            _ => {}
        }
    }
    Ok(())
}

/// Where a sub-schema is under its keyword.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'n> {
    Whole,
    Index(usize),
    Name(&'n str),
}

/// Whether JSON is nested deeper than `limit`; does not recurse.
pub(super) fn is_deeper_than(value: &Value, limit: usize) -> bool {
    let mut waiting = vec![(value, 0)];
    while let Some((value, depth)) = waiting.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(values) => waiting.extend(values.iter().map(|inner| (inner, depth + 1))),
            Value::Object(map) => waiting.extend(map.values().map(|inner| (inner, depth + 1))),
            _ => {}
        }
    }
    false
}
