//! Roots that a vendor does not take: put under a property of an object.

use serde_json::{Map, Value, json};

use super::{
    Change, Dialect, MAX_DEPTH, Note, Rendered, Unsupported, WRAPPER,
    path::Path,
    refs,
    walk::{self, Place},
};

/// An object without alternatives at its root.
pub(super) fn is_plain_object(map: &Map<String, Value>) -> bool {
    let object = map.get("type").is_some_and(|kind| kind == "object");
    object && !["$ref", "allOf", "anyOf", "enum", "not", "oneOf"].iter().any(|key| map.contains_key(*key))
}

/// An object with `root` as its one property.
pub(super) fn wrapped(root: Value) -> Map<String, Value> {
    let object = json!({
        "type": "object",
        "properties": { WRAPPER: root },
        "required": [WRAPPER],
        "additionalProperties": false,
    });
    match object {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Sends a schema as it is, but for its root: for dialects without rules.
pub(super) fn as_is(schema: &Value, dialect: &Dialect) -> Result<Rendered, Unsupported> {
    let mut schema = schema.clone();
    let plain = schema.as_object().is_some_and(is_plain_object);
    let wrap = dialect.object_root && !plain;
    check(&mut schema, &Path::Base(""), wrap, 0)?;
    let mut notes = Vec::new();
    if let Value::Object(map) = &mut schema {
        map.remove("$schema");
    }
    if wrap {
        let definitions: Vec<_> = ["$defs", "definitions"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), schema.as_object_mut()?.remove(key)?)))
            .collect();
        let mut outer = wrapped(schema);
        outer.extend(definitions);
        schema = Value::Object(outer);
        notes.push(Note { pointer: String::new(), what: Change::Wrapped });
    }
    Ok(Rendered { schema, notes, wrapped: wrap, widened: false })
}

/// Whether this is a schema whose references stay within it; they follow the root to its new place if it moves.
fn check(schema: &mut Value, at: &Path<'_>, moves: bool, depth: usize) -> Result<(), Unsupported> {
    let fault = |why: &'static str| Err(Unsupported::new(at.to_string(), why));
    let map = match schema {
        Value::Object(map) => map,
        Value::Bool(_) => return Ok(()),
        _ => return fault("is not a schema"),
    };
    if depth > MAX_DEPTH {
        return fault("is nested too deeply");
    }
    if let Some(reference) = map.get_mut("$ref") {
        let pointer = refs::pointer(reference).map_err(|why| Unsupported::new(at.to_string(), why))?;
        let stays = pointer.starts_with("/$defs/") || pointer.starts_with("/definitions/");
        if moves && !stays {
            *reference = json!(format!(
                "#/properties/{WRAPPER}{}",
                reference.as_str().unwrap_or("#").trim_start_matches('#')
            ));
        }
    }
    walk::try_children_mut(map, |keyword, place, child| {
        let list = at.key(keyword);
        let at = match place {
            Place::Whole => list,
            Place::Index(index) => list.index(index),
            Place::Name(name) => list.key(name),
        };
        check(child, &at, moves, depth + 1)
    })
}
