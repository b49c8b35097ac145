//! Answers back in the form of the caller's schema.

use serde_json::{Map, Value};

use super::{MAX_DEPTH, Rendered, WRAPPER, refs};

/// How many schemas may speak about one value; further ones are not looked at.
const MOST_SCHEMAS: usize = 64;

pub(super) fn restore(rendered: &Rendered, original: &Value, text: String) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return text };
    let mut changed = false;
    if rendered.wrapped {
        if let Some(inner) =
            value.as_object_mut().filter(|map| map.len() == 1).and_then(|map| map.remove(WRAPPER))
        {
            value = inner;
            changed = true;
        }
    }
    if rendered.widened {
        changed |= Nulls { root: original }.remove(&mut value, &[original], 0);
    }
    if changed { value.to_string() } else { text }
}

/// Removes nulls that stand for an absent property.
struct Nulls<'s> {
    root: &'s Value,
}

impl<'s> Nulls<'s> {
    /// `schemas` are those that may speak about `value`.
    fn remove(&self, value: &mut Value, schemas: &[&'s Value], depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let mut all = Vec::new();
        schemas.iter().for_each(|schema| self.expand(schema, &mut all, 0));
        let mut changed = false;
        match value {
            Value::Object(map) => {
                let before = map.len();
                map.retain(|name, value| !(value.is_null() && self.stands_for_absence(name, &all)));
                changed |= map.len() < before;
                for (name, value) in map.iter_mut() {
                    changed |= self.remove(value, &of_property(&all, name), depth + 1);
                }
            }
            Value::Array(values) => {
                let of_items: Vec<&Value> = all
                    .iter()
                    .flat_map(|map| ["items", "prefixItems"].map(|key| map.get(key)))
                    .flatten()
                    .flat_map(flat)
                    .collect();
                for value in values {
                    changed |= self.remove(value, &of_items, depth + 1);
                }
            }
            _ => {}
        }
        changed
    }

    /// Some schema has `name` as an optional property, and none lets it be null.
    fn stands_for_absence(&self, name: &str, schemas: &[&'s Map<String, Value>]) -> bool {
        let optional = schemas.iter().any(|map| {
            let listed = map.get("properties").and_then(|properties| properties.get(name)).is_some();
            let required = map.get("required").and_then(Value::as_array);
            listed && !required.is_some_and(|names| names.iter().any(|required| required == name))
        });
        optional && !of_property(schemas, name).iter().any(|schema| self.takes_null(schema, 0))
    }

    fn takes_null(&self, schema: &Value, depth: usize) -> bool {
        let Some(map) = schema.as_object() else { return schema != &Value::Bool(false) };
        if depth > MAX_DEPTH {
            return true;
        }
        let target = map.get("$ref").and_then(|reference| self.target(reference));
        let any = |key: &str| map.get(key).and_then(Value::as_array);
        let of_type = map.get("type").is_none_or(|kind| flat(kind).any(|kind| kind == "null"));
        (of_type || map.get("nullable") == Some(&Value::Bool(true)))
            && any("enum").is_none_or(|values| values.contains(&Value::Null))
            && map.get("const").is_none_or(Value::is_null)
            && target.is_none_or(|target| self.takes_null(target, depth + 1))
            && ["anyOf", "oneOf"]
                .iter()
                .all(|key| any(key).is_none_or(|b| b.iter().any(|s| self.takes_null(s, depth + 1))))
            && any("allOf")
                .is_none_or(|branches| branches.iter().all(|schema| self.takes_null(schema, depth + 1)))
    }

    /// The schema itself, and all that it refers to or combines.
    fn expand(&self, schema: &'s Value, into: &mut Vec<&'s Map<String, Value>>, depth: usize) {
        let Some(map) = schema.as_object() else { return };
        if depth > MAX_DEPTH
            || into.len() >= MOST_SCHEMAS
            || into.iter().any(|known| std::ptr::eq(*known, map))
        {
            return;
        }
        into.push(map);
        if let Some(target) = map.get("$ref").and_then(|reference| self.target(reference)) {
            self.expand(target, into, depth + 1);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for branch in map.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.expand(branch, into, depth + 1);
            }
        }
    }

    fn target(&self, reference: &Value) -> Option<&'s Value> {
        self.root.pointer(&refs::pointer(reference).ok()?)
    }
}

fn of_property<'s>(schemas: &[&'s Map<String, Value>], name: &str) -> Vec<&'s Value> {
    schemas.iter().filter_map(|map| map.get("properties")?.get(name)).collect()
}

fn flat(value: &Value) -> impl Iterator<Item = &Value> {
    let (many, one) = match value {
        Value::Array(values) => (values.as_slice(), None),
        other => ([].as_slice(), Some(other)),
    };
    many.iter().chain(one)
}
