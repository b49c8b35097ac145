//! Which subschemas a schema applies to what: enough to know, before anything is evaluated, how much work a schema
//! can make of a value.

use std::collections::HashMap;

use serde_json::Value;

use crate::json::pointer::{Segment, push};

/// Keywords that apply one subschema to the same value.
const SAME_ONE: &[&str] = &["not", "if", "then", "else"];
/// Keywords that apply each of a list to the same value.
const SAME_LIST: &[&str] = &["allOf", "anyOf", "oneOf"];
/// Keywords that apply each of a map to the same value.
const SAME_MAP: &[&str] = &["dependentSchemas", "dependencies"];
/// Keywords that apply one subschema, or each of a list, to items.
const ITEMS: &[&str] = &["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"];
/// Keywords that apply one subschema to every property or name.
const PROPERTIES: &[&str] = &["additionalProperties", "unevaluatedProperties", "propertyNames"];

/// A subschema and what it is applied to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge<'a> {
    /// The value itself.
    Same(&'a Value),
    /// The property of that name.
    Property(&'a str, &'a Value),
    /// Items or properties: which ones is not told apart.
    Each(&'a Value),
}

/// The names that a `$ref` may use beside pointers: anchors and ids, each with the pointer of its schema.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<String, String>);

impl Names {
    pub(super) fn of(schema: &Value) -> Self {
        let mut names = HashMap::new();
        let mut open = vec![(schema, String::new())];
        while let Some((value, pointer)) = open.pop() {
            match value {
                Value::Object(map) => {
                    for key in ["$anchor", "$dynamicAnchor"] {
                        if let Some(name) = map.get(key).and_then(Value::as_str) {
                            names.insert(format!("#{name}"), pointer.clone());
                        }
                    }
                    for key in ["$id", "id"] {
                        if let Some(id) = map.get(key).and_then(Value::as_str) {
                            names.insert(last(id).to_owned(), pointer.clone());
                        }
                    }
                    open.extend(map.iter().map(|(key, inner)| (inner, below(&pointer, Segment::Key(key)))));
                }
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    open.extend(items.map(|(index, inner)| (inner, below(&pointer, Segment::Index(index)))));
                }
                _ => {}
            }
        }
        Self(names)
    }

    fn resolve<'a>(&self, root: &'a Value, reference: &str) -> Option<&'a Value> {
        if let Some(pointer) =
            reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        {
            return at(root, pointer);
        }
        if let Some(pointer) = self.0.get(reference) {
            return at(root, pointer);
        }
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = at(root, self.0.get(last(resource))?)?;
        if fragment.is_empty() || fragment.starts_with('/') { at(resource, fragment) } else { None }
    }
}

fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.is_empty() { Some(value) } else { value.pointer(pointer) }
}

fn below(pointer: &str, segment: Segment<'_>) -> String {
    let mut pointer = pointer.to_owned();
    push(&mut pointer, segment);
    pointer
}

/// The last part of an address, by which relative references find it.
fn last(id: &str) -> &str {
    id.trim_end_matches('#').rsplit('/').next().unwrap_or(id)
}

/// Everything that one schema applies.
pub(super) fn edges<'a>(names: &Names, root: &'a Value, schema: &'a Value, edges: &mut Vec<Edge<'a>>) {
    edges.clear();
    let Value::Object(map) = schema else { return };
    for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
        let target = map.get(key).and_then(Value::as_str);
        edges.extend(target.and_then(|target| names.resolve(root, target)).map(Edge::Same));
    }
    edges.extend(SAME_ONE.iter().filter_map(|key| map.get(*key)).map(Edge::Same));
    let lists = SAME_LIST.iter().filter_map(|key| map.get(*key)?.as_array());
    edges.extend(lists.flatten().map(Edge::Same));
    let maps = SAME_MAP.iter().filter_map(|key| map.get(*key)?.as_object());
    edges.extend(maps.flat_map(|map| map.values()).map(Edge::Same));
    if let Some(properties) = map.get("properties").and_then(Value::as_object) {
        edges.extend(properties.iter().map(|(name, schema)| Edge::Property(name, schema)));
    }
    if let Some(patterns) = map.get("patternProperties").and_then(Value::as_object) {
        edges.extend(patterns.values().map(Edge::Each));
    }
    edges.extend(PROPERTIES.iter().filter_map(|key| map.get(*key)).map(Edge::Each));
    for value in ITEMS.iter().filter_map(|key| map.get(*key)) {
        match value {
            Value::Array(list) => edges.extend(list.iter().map(Edge::Each)),
            one => edges.push(Edge::Each(one)),
        }
    }
}
