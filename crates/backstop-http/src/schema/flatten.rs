//! One level of a schema without `allOf` and without references beside other keywords.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{
    Change, Refs, Unsupported,
    keywords::{Flat, is_annotation},
    path::Path,
    refs,
    rewrite::Writer,
};

/// Keywords that a walk has dealt with before it comes to the others.
const RESOLVED: &[&str] = &["$comment", "$defs", "$ref", "$schema", "allOf", "definitions"];

impl<'s> Writer<'s> {
    /// Merges what `allOf` and `$ref` bring in. A reference to what is being written right now stays one.
    pub(super) fn flatten<'a>(
        &mut self,
        map: &'a Map<String, Value>,
        at: &Path<'_>,
    ) -> Result<Flat<'a>, Unsupported>
    where
        's: 'a,
    {
        self.spend(at)?;
        let own = map.iter().filter(|(key, _)| !RESOLVED.contains(&key.as_str()));
        let mut flat: Flat<'a> = own.map(|(key, value)| (key.as_str(), Cow::Borrowed(value))).collect();
        if let Some(branches) = map.get("allOf") {
            let list = at.key("allOf");
            for (index, branch) in branches.as_array().into_iter().flatten().enumerate() {
                let place = list.index(index);
                let branch = self.as_map(branch, &place)?;
                let branch = self.deeper(&place, |writer| writer.flatten(branch, &place))?;
                self.merge(&mut flat, branch, &place)?;
            }
            self.note(at, Change::Merged);
        }
        if let Some(reference) = map.get("$ref") {
            self.inline(&mut flat, reference, at)?;
        }
        Ok(flat)
    }

    fn inline<'a>(&mut self, flat: &mut Flat<'a>, reference: &Value, at: &Path<'_>) -> Result<(), Unsupported>
    where
        's: 'a,
    {
        let pointer = refs::pointer(reference).map_err(|why| Unsupported::new(at.to_string(), why))?;
        if self.inlining.contains(&pointer) {
            if self.rules.refs == Refs::Inlined {
                return Err(Unsupported::new(
                    at.to_string(),
                    "contains itself, which this dialect cannot express",
                ));
            }
            flat.insert("$ref", Cow::Owned(reference.clone()));
            return Ok(());
        }
        let target = self.as_map(self.resolve(&pointer, at)?, at)?;
        self.inlining.push(pointer);
        let target = self.deeper(at, |writer| writer.flatten(target, at))?;
        if !flat.is_empty() {
            self.note(at, Change::Merged);
        }
        self.merge(flat, target, at)
    }

    /// Both must hold. Where that cannot be said in one schema, the first is kept and the second reported.
    pub(super) fn merge<'a>(
        &mut self,
        into: &mut Flat<'a>,
        from: Flat<'a>,
        at: &Path<'_>,
    ) -> Result<(), Unsupported> {
        for (key, new) in from {
            let alternatives = matches!(key, "anyOf" | "oneOf");
            if alternatives && (into.contains_key("anyOf") || into.contains_key("oneOf")) {
                return Err(Unsupported::new(at.to_string(), "combines two lists of alternatives"));
            }
            let Some(old) = into.get(key) else {
                into.insert(key, new);
                continue;
            };
            if *old == new || is_annotation(key) {
                continue;
            }
            match both(key, old, &new) {
                Both::Value(merged) => {
                    into.insert(key, Cow::Owned(merged));
                }
                Both::First => self.note(at, Change::Dropped(key.to_owned())),
                Both::Nothing => {
                    return Err(Unsupported::new(
                        at.to_string(),
                        format!("has `{key}`s that exclude each other"),
                    ));
                }
            }
        }
        Ok(())
    }
}

enum Both {
    Value(Value),
    /// Cannot be said in one keyword.
    First,
    /// No value satisfies both.
    Nothing,
}

fn both(key: &str, old: &Value, new: &Value) -> Both {
    match key {
        "properties" => properties(old, new),
        "required" => {
            let mut names = list(old);
            names.extend(list(new).into_iter().filter(|name| !list(old).contains(name)));
            Both::Value(json!(names))
        }
        "enum" => some(list(old).into_iter().filter(|value| list(new).contains(value)).collect()),
        "const" => Both::Nothing,
        "type" => some(list(old).into_iter().filter_map(|t| narrowed(t, &list(new))).collect()),
        "items" => Both::Value(json!({ "allOf": [old, new] })),
        "additionalProperties" => match (old, new) {
            (Value::Bool(false), _) | (_, Value::Bool(false)) => Both::Value(json!(false)),
            (Value::Bool(true), schema) | (schema, Value::Bool(true)) => Both::Value(schema.clone()),
            _ => Both::Value(json!({ "allOf": [old, new] })),
        },
        _ if key.starts_with("min") || key == "exclusiveMinimum" => bound(old, new, f64::gt),
        _ if key.starts_with("max") || key == "exclusiveMaximum" => bound(old, new, f64::lt),
        _ => Both::First,
    }
}

fn properties(old: &Value, new: &Value) -> Both {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return Both::First };
    let mut all = old.clone();
    for (name, schema) in new {
        let merged = match all.get(name) {
            Some(known) if known != schema => json!({ "allOf": [known, schema] }),
            _ => schema.clone(),
        };
        all.insert(name.clone(), merged);
    }
    Both::Value(Value::Object(all))
}

fn some(values: Vec<&Value>) -> Both {
    if values.is_empty() { Both::Nothing } else { Both::Value(json!(values)) }
}

/// An array's values, or the value itself.
pub(super) fn list(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |values| values.iter().collect())
}

fn narrowed<'v>(kind: &'v Value, others: &[&'v Value]) -> Option<&'v Value> {
    let is = |value: &Value, name: &str| value.as_str() == Some(name);
    if others.contains(&kind) || (is(kind, "integer") && others.iter().any(|other| is(other, "number"))) {
        return Some(kind);
    }
    others.iter().find(|other| is(kind, "number") && is(other, "integer")).copied()
}

fn bound(old: &Value, new: &Value, tighter: fn(&f64, &f64) -> bool) -> Both {
    match (old.as_f64(), new.as_f64()) {
        (Some(a), Some(b)) => Both::Value(if tighter(&b, &a) { new.clone() } else { old.clone() }),
        _ => Both::First,
    }
}
