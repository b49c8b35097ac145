//! The rules of each dialect, written down a second time: as a check of a schema instead of a way to make one.

use backstop_http::schema::{Additional, Dialect, Enums, Patterns, Recursion, Refs, Rules, Types};
use serde_json::{Map, Value};

pub(crate) const ALL: &[&Dialect] = &[
    &Dialect::OPENAI_STRICT,
    &Dialect::OPENAI_LOOSE,
    &Dialect::ANTHROPIC,
    &Dialect::ANTHROPIC_TOOL,
    &Dialect::GEMINI_JSON,
    &Dialect::GEMINI_OPENAPI,
    &Dialect::GRAMMAR,
    &Dialect::PROMPT,
];

const SHAPE: &[&str] = &[
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "items",
    "nullable",
    "prefixItems",
    "properties",
    "propertyOrdering",
    "required",
    "type",
];

pub(crate) fn check(schema: &Value, dialect: &Dialect) -> Result<(), String> {
    let root = schema.as_object();
    if dialect.object_root {
        let plain =
            root.is_some_and(|map| map.get("type") == Some(&"object".into()) && !map.contains_key("anyOf"));
        ensure(plain, || format!("the root is not an object: {schema}"))?;
    }
    match &dialect.rules {
        Some(rules) => Checker { root: schema, rules }.schema(schema),
        None => Ok(()),
    }
}

fn ensure(holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(fault()) }
}

struct Checker<'s> {
    root: &'s Value,
    rules: &'s Rules,
}

impl Checker<'_> {
    fn schema(&self, schema: &Value) -> Result<(), String> {
        let map = schema.as_object().ok_or_else(|| format!("not an object: {schema}"))?;
        if let Some(reference) = map.get("$ref") {
            ensure(map.len() == 1, || format!("siblings of a reference: {schema}"))?;
            return self.reference(reference.as_str().ok_or("a reference that is no text")?);
        }
        for (key, value) in map {
            let known = SHAPE.contains(&key.as_str()) || self.rules.keywords.contains(&key.as_str());
            ensure(known, || format!("unknown keyword {key}"))?;
            self.keyword(key, value, map)?;
        }
        let typed = map.contains_key("type") || map.contains_key("anyOf");
        ensure(typed || self.rules.untyped, || format!("untyped: {schema}"))?;
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind.eq_ignore_ascii_case("object") {
            self.object(map)?;
        }
        if kind.eq_ignore_ascii_case("array") {
            let items = map.contains_key("items") || (self.rules.tuples && map.contains_key("prefixItems"));
            ensure(items, || format!("an array without items: {schema}"))?;
        }
        Ok(())
    }

    fn keyword(&self, key: &str, value: &Value, map: &Map<String, Value>) -> Result<(), String> {
        let rules = self.rules;
        match key {
            "type" => self.types(value),
            "anyOf" => {
                let branches =
                    value.as_array().filter(|branches| !branches.is_empty()).ok_or("an empty anyOf")?;
                ensure(!map.contains_key("type"), || format!("anyOf beside a type: {map:?}"))?;
                branches.iter().try_for_each(|branch| self.schema(branch))
            }
            "prefixItems" => {
                ensure(rules.tuples, || "a tuple".into())?;
                value.as_array().ok_or("no list")?.iter().try_for_each(|position| self.schema(position))
            }
            "items" => self.schema(value),
            "additionalProperties" => {
                ensure(rules.additional != Additional::Unknown, || "additionalProperties".into())?;
                if value.is_object() {
                    self.schema(value)
                } else {
                    ensure(value.is_boolean(), || "no flag".into())
                }
            }
            "properties" => {
                value.as_object().ok_or("no map")?.values().try_for_each(|property| self.schema(property))
            }
            "$defs" => {
                ensure(matches!(rules.refs, Refs::Defs(_)), || "definitions".into())?;
                value.as_object().ok_or("no map")?.values().try_for_each(|target| self.schema(target))
            }
            "const" => ensure(rules.constants && self.listed(value), || format!("const {value}")),
            "enum" => {
                let values = value.as_array().filter(|values| !values.is_empty()).ok_or("an empty enum")?;
                ensure(values.iter().all(|value| self.listed(value)), || format!("enum {value}"))
            }
            "nullable" => ensure(rules.types == Types::OpenApi, || "nullable".into()),
            "propertyOrdering" => ensure(rules.ordering, || "propertyOrdering".into()),
            "format" => {
                ensure(rules.formats.contains(&value.as_str().unwrap_or("?")), || format!("format {value}"))
            }
            "pattern" => {
                let pattern = value.as_str().ok_or("a pattern that is no text")?;
                let anchored = pattern.starts_with('^') && pattern.ends_with('$');
                ensure(rules.patterns == Patterns::All || anchored, || format!("pattern {pattern}"))
            }
            "minItems" => {
                let count = value.as_u64().ok_or("a count that is no number")?;
                ensure(rules.min_items.is_none_or(|most| count <= most), || format!("minItems {count}"))
            }
            _ => Ok(()),
        }
    }

    fn types(&self, value: &Value) -> Result<(), String> {
        let names: Vec<&str> = match value {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            name => name.as_str().into_iter().collect(),
        };
        let list = value.is_array();
        match self.rules.types {
            Types::OpenApi => {
                let capital = names.iter().all(|name| name.chars().all(|c| !c.is_lowercase()));
                ensure(!list && names.len() == 1 && capital, || format!("type {value}"))
            }
            Types::JsonSchema => {
                ensure(!names.is_empty() && (!list || names.len() > 1), || format!("type {value}"))
            }
        }
    }

    fn listed(&self, value: &Value) -> bool {
        match self.rules.enums {
            Enums::Any => true,
            Enums::Primitives => !value.is_array() && !value.is_object(),
            Enums::StringsAndNumbers => value.is_string() || value.is_number(),
            Enums::Strings => value.is_string(),
        }
    }

    fn object(&self, map: &Map<String, Value>) -> Result<(), String> {
        let properties =
            map.get("properties").and_then(Value::as_object).ok_or("an object without properties")?;
        let required: Vec<&str> = map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        ensure(required.iter().all(|name| properties.contains_key(*name)), || {
            format!("required but unknown: {map:?}")
        })?;
        match self.rules.additional {
            Additional::Closed => {
                ensure(map.get("additionalProperties") == Some(&Value::Bool(false)), || {
                    format!("open: {map:?}")
                })?;
            }
            Additional::Unknown => ensure(!properties.is_empty(), || format!("free: {map:?}"))?,
            Additional::Known => {}
        }
        if self.rules.all_required {
            ensure(required.len() == properties.len(), || format!("optional properties: {map:?}"))?;
        }
        if self.rules.refs == Refs::Defs(Recursion::BelowOptional) {
            for name in required {
                ensure(!self.circular(&properties[name]), || {
                    format!("a circle through {name}, which is required")
                })?;
            }
        }
        Ok(())
    }

    fn reference(&self, reference: &str) -> Result<(), String> {
        let Refs::Defs(recursion) = self.rules.refs else { return Err(format!("a reference: {reference}")) };
        let target = self.target(reference).ok_or_else(|| format!("{reference} points at nothing"))?;
        let circular = reaches(self.root, target, reference, &mut Vec::new());
        ensure(recursion != Recursion::Forbidden || !circular, || format!("{reference} contains itself"))
    }

    fn target(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#').filter(|pointer| pointer.starts_with("/$defs/"))?)
    }

    /// Whether a reference below this property comes back to this very property without an optional one between.
    fn circular(&self, property: &Value) -> bool {
        required_refs(property).iter().any(|reference| {
            let mut seen = Vec::new();
            let mut waiting = vec![*reference];
            while let Some(next) = waiting.pop() {
                let Some(target) = self.target(next) else { continue };
                if seen.contains(&next) {
                    continue;
                }
                seen.push(next);
                let inner = required_refs(target);
                if inner.contains(reference) {
                    return true;
                }
                waiting.extend(inner);
            }
            false
        })
    }
}

/// The references below `schema` that are not below an optional property.
fn required_refs(schema: &Value) -> Vec<&str> {
    let Some(map) = schema.as_object() else { return Vec::new() };
    let mut found: Vec<&str> = map.get("$ref").and_then(Value::as_str).into_iter().collect();
    for key in ["items", "additionalProperties"] {
        found.extend(map.get(key).into_iter().flat_map(required_refs));
    }
    for key in ["anyOf", "prefixItems"] {
        found.extend(map.get(key).and_then(Value::as_array).into_iter().flatten().flat_map(required_refs));
    }
    let required = map.get("required").and_then(Value::as_array);
    for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if required.is_some_and(|names| names.iter().any(|required| required == name)) {
            found.extend(required_refs(property));
        }
    }
    found
}

/// Whether `schema` leads to `reference`.
fn reaches<'s>(root: &'s Value, schema: &'s Value, reference: &str, seen: &mut Vec<&'s str>) -> bool {
    match schema {
        Value::Object(map) => {
            if let Some(next) = map.get("$ref").and_then(Value::as_str) {
                if next == reference {
                    return true;
                }
                if !seen.contains(&next) {
                    seen.push(next);
                    let target = next.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
                    if target.is_some_and(|target| reaches(root, target, reference, seen)) {
                        return true;
                    }
                }
            }
            map.iter().any(|(key, value)| key != "$defs" && reaches(root, value, reference, seen))
        }
        Value::Array(values) => values.iter().any(|value| reaches(root, value, reference, seen)),
        _ => false,
    }
}
