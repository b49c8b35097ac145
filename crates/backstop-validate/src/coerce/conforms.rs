//! Whether a value has the shape a schema asks for.
//!
//! Types, listed values, properties, items and unions: enough to choose among variants. Bounds, patterns and formats are
//! the validator's business.

use serde_json::{Map, Value};

use super::fuel::{Fuel, MAX_DEPTH};
use super::schema::{is_closed, item_schema, listed, property_schema, requires, resolve, types, variants};

/// Tells whether the value has the shape. Out of fuel, nothing has.
pub(super) fn conforms(root: &Value, value: &Value, schema: &Value, fuel: &mut Fuel, depth: usize) -> bool {
    if depth > MAX_DEPTH || !fuel.burn() {
        return false;
    }
    if let Value::Bool(allows) = schema {
        return *allows;
    }
    let Some(schema) = resolve(root, schema) else { return false };
    if listed(schema).is_some_and(|values| !values.contains(value)) {
        return false;
    }
    if types(schema).is_some_and(|types| !types.iter().any(|t| t.holds(value))) {
        return false;
    }
    if let Some(variants) = variants(schema) {
        if !variants.iter().any(|variant| conforms(root, value, variant, fuel, depth + 1)) {
            return false;
        }
    }
    if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
        if !all.iter().all(|part| conforms(root, value, part, fuel, depth + 1)) {
            return false;
        }
    }
    match value {
        Value::Object(map) => object_conforms(root, map, schema, fuel, depth),
        Value::Array(items) => items.iter().enumerate().all(|(i, item)| {
            item_schema(schema, i).is_none_or(|sub| conforms(root, item, sub, fuel, depth + 1))
        }),
        _ => true,
    }
}

fn object_conforms(
    root: &Value,
    map: &Map<String, Value>,
    schema: &Map<String, Value>,
    fuel: &mut Fuel,
    depth: usize,
) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if !required.iter().filter_map(Value::as_str).all(|name| map.contains_key(name)) {
        return false;
    }
    let known = |name: &String| properties.is_some_and(|p| p.contains_key(name));
    if is_closed(schema) && !map.keys().all(known) {
        return false;
    }
    map.iter().all(|(name, value)| {
        property_schema(schema, name).is_none_or(|sub| {
            conforms(root, value, sub, fuel, depth + 1)
                // Absent and null mean the same for an optional property.
                || value.is_null() && !requires(schema, name)
        })
    })
}
