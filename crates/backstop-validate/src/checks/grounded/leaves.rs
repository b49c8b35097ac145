//! The strings and numbers of a value.

use std::collections::HashSet;

use backstop_core::{Output, Request};
use serde_json::Value;

use crate::json::pointer::{Segment, push};

/// Most leaves that are judged.
const MAX_LEAVES: usize = 2_000;

/// A string or number that has to occur in the input.
#[derive(Clone, Debug)]
pub(super) struct Leaf<'a> {
    pub(super) pointer: String,
    pub(super) value: &'a Value,
}

/// A JSON pointer in which `*` stands for any segment.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Vec<String>);

impl Pattern {
    pub(super) fn new(pointer: &str) -> Self {
        Self(pointer.split('/').skip(1).map(str::to_owned).collect())
    }

    /// Whether a place is the pattern's or below it.
    fn covers(&self, pointer: &str) -> bool {
        let mut segments = pointer.split('/').skip(1);
        self.0.iter().all(|wanted| segments.next().is_some_and(|segment| wanted == "*" || wanted == segment))
    }
}

/// The first leaves of a value, in order.
pub(super) fn leaves<'a>(value: &'a Value, ignored: &[Pattern], labels: &HashSet<&str>) -> Vec<Leaf<'a>> {
    let mut leaves = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((pointer, value)) = open.pop() {
        if leaves.len() == MAX_LEAVES {
            break;
        }
        if ignored.iter().any(|pattern| pattern.covers(&pointer)) {
            continue;
        }
        let below = |segment| {
            let mut pointer = pointer.clone();
            push(&mut pointer, segment);
            pointer
        };
        match value {
            Value::Object(map) => {
                open.extend(map.iter().rev().map(|(key, inner)| (below(Segment::Key(key)), inner)));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate().rev();
                open.extend(items.map(|(index, inner)| (below(Segment::Index(index)), inner)));
            }
            Value::String(text) if text.trim().is_empty() || labels.contains(text.as_str()) => {}
            Value::String(_) | Value::Number(_) => leaves.push(Leaf { pointer, value }),
            Value::Bool(_) | Value::Null => {}
        }
    }
    leaves
}

/// The strings that the request's schema offers for choice.
pub(super) fn labels(request: &Request) -> HashSet<&str> {
    let mut labels = HashSet::new();
    let Output::Schema(wanted) = &request.output else { return labels };
    let mut open = vec![&*wanted.schema];
    while let Some(schema) = open.pop() {
        match schema {
            Value::Object(map) => {
                let options = map.get("enum").and_then(Value::as_array);
                labels
                    .extend(options.into_iter().flatten().chain(map.get("const")).filter_map(Value::as_str));
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ignored_places_labels_and_empty_values_are_left_out() {
        let value = json!({
            "kind": "card", "name": "Ada", "note": "x", "ok": true, "none": null, "blank": " ",
            "lines": [{"text": "tea", "note": "y"}, {"text": 3, "note": {"deep": "z"}}]
        });
        let ignored = [Pattern::new("/note"), Pattern::new("/lines/*/note")];
        let found = leaves(&value, &ignored, &HashSet::from(["card"]));
        let mut pointers: Vec<&str> = found.iter().map(|leaf| leaf.pointer.as_str()).collect();
        pointers.sort_unstable();
        assert_eq!(pointers, ["/lines/0/text", "/lines/1/text", "/name"]);
    }

    #[test]
    fn labels_come_from_everywhere_in_the_schema() {
        let schema = json!({"$defs": {"k": {"enum": ["a", 1, "b"]}}, "properties": {"t": {"const": "c"}}});
        let request = Request::new("x").json_schema("s", schema);
        assert_eq!(labels(&request), HashSet::from(["a", "b", "c"]));
    }
}
