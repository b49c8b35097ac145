//! Puts a schema whose root is no object into one, because vendors take objects only.

use serde_json::{Map, Value, json};

/// The one property of the object.
pub(crate) const KEY: &str = "value";
/// Where a schema that refers to its own root is kept.
const ROOT: &str = "Root";

/// The schema in an object, if its root is not one already.
pub(super) fn as_object(schema: &Value) -> (Option<Value>, bool) {
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        return (None, false);
    }
    let Value::Object(map) = schema else {
        // `true` or `false` as a whole schema.
        return (Some(object(schema.clone(), Map::new())), true);
    };
    let mut inner = map.clone();
    let mut outer = Map::new();
    // What only means something at the root moves to the new one.
    for key in ["$schema", "$id", "$defs", "definitions"] {
        if let Some(value) = inner.remove(key) {
            outer.insert(key.to_owned(), value);
        }
    }
    let mut inner = Value::Object(inner);
    let mut again = redirect(&mut inner);
    for key in ["$defs", "definitions"] {
        again |= outer.get_mut(key).is_some_and(redirect);
    }
    if !again {
        return (Some(object(inner, outer)), true);
    }
    let defs = outer.entry("$defs").or_insert_with(|| json!({}));
    if let Value::Object(defs) = defs {
        defs.insert(ROOT.to_owned(), inner);
    }
    (Some(object(json!({"$ref": format!("#/$defs/{ROOT}")}), outer)), true)
}

fn object(value: Value, mut outer: Map<String, Value>) -> Value {
    outer.insert("type".to_owned(), json!("object"));
    outer.insert("properties".to_owned(), json!({ KEY: value }));
    outer.insert("required".to_owned(), json!([KEY]));
    outer.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(outer)
}

/// Points references to the old root to where it has gone. True if there were any. The schema's depth has been
/// checked before, so this may recurse.
fn redirect(schema: &mut Value) -> bool {
    match schema {
        Value::Array(items) => items.iter_mut().fold(false, |any, item| redirect(item) | any),
        Value::Object(map) => map.iter_mut().fold(false, |any, (key, value)| {
            let own = key == "$ref" && value.as_str() == Some("#");
            if own {
                *value = json!(format!("#/$defs/{ROOT}"));
            }
            own | redirect(value) | any
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_stay_as_they_are() {
        assert_eq!(as_object(&json!({"type": "object"})), (None, false));
    }

    #[test]
    fn definitions_move_to_the_new_root() {
        let schema =
            json!({"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": {"type": "string"}}});
        let (wire, wrapped) = as_object(&schema);
        let wire = wire.unwrap();
        assert!(wrapped);
        assert_eq!(wire["$defs"]["A"]["type"], "string");
        assert_eq!(wire["properties"]["value"], json!({"type": "array", "items": {"$ref": "#/$defs/A"}}));
        assert!(jsonschema::validator_for(&wire).unwrap().is_valid(&json!({"value": ["x"]})));
    }

    #[test]
    fn a_schema_that_contains_itself_still_does() {
        let tree = json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]});
        let wire = as_object(&tree).0.unwrap();
        let validator = jsonschema::validator_for(&wire).unwrap();
        assert!(validator.is_valid(&json!({"value": [1, [2, [3]]]})));
        assert!(!validator.is_valid(&json!({"value": [1, ["x"]]})));
    }
}
