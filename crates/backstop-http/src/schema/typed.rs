//! Schemas with a type: values, arrays and the keywords that constrain them.

use serde_json::{Value, json};

use super::{
    Change, Enums, Patterns, Types, Unsupported,
    flatten::list,
    keywords::{Flat, is_annotation},
    path::Path,
    rewrite::{Out, Writer, is_null, text},
};

/// Longer constraints do not go into descriptions.
const LONGEST_CONSTRAINT: usize = 120;

/// The types of JSON Schema.
const KINDS: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// Keywords that shape a schema and are written by other functions.
const SHAPE: &[&str] = &[
    "additionalProperties",
    "const",
    "description",
    "enum",
    "items",
    "nullable",
    "prefixItems",
    "properties",
    "required",
    "type",
];

impl Writer<'_> {
    /// Writes a schema without alternatives and references.
    pub(super) fn typed(&mut self, mut flat: Flat<'_>, at: &Path<'_>) -> Result<Out, Unsupported> {
        let mut kinds = kinds(&flat);
        let mut nullable = flat.remove("nullable").is_some_and(|flag| *flag == json!(true));
        if kinds.len() > 1 {
            let all = kinds.len();
            kinds.retain(|kind| kind != "null");
            nullable |= kinds.len() < all;
        }
        let out = match kinds.as_slice() {
            [] => self.untyped(flat, at)?,
            [kind] => self.one_type(kind, flat, at)?,
            several => self.several_types(several, &flat, at)?,
        };
        Ok(if nullable { self.nullable(out) } else { out })
    }

    fn untyped(&mut self, flat: Flat<'_>, at: &Path<'_>) -> Result<Out, Unsupported> {
        if !self.rules.untyped {
            return Err(Unsupported::new(
                at.to_string(),
                "takes any value, which this dialect cannot express",
            ));
        }
        let mut out = Out::new();
        self.keywords(&mut out, "", flat, at);
        Ok(out)
    }

    fn several_types(
        &mut self,
        kinds: &[String],
        flat: &Flat<'_>,
        at: &Path<'_>,
    ) -> Result<Out, Unsupported> {
        let scalars = kinds.iter().all(|kind| !matches!(kind.as_str(), "array" | "object"));
        let plain = flat.keys().all(|key| *key == "type" || is_annotation(key));
        let mut out = Out::new();
        if scalars && plain && self.rules.types == Types::JsonSchema {
            out.insert("type".to_owned(), json!(kinds));
            self.annotate(&mut out, flat.clone(), at);
            return Ok(out);
        }
        let (annotations, rest): (Flat<'_>, Flat<'_>) =
            flat.clone().into_iter().partition(|(key, _)| is_annotation(key));
        let branches = kinds
            .iter()
            .map(|kind| self.deeper(at, |writer| writer.one_type(kind, of_kind(&rest, kind), at)))
            .collect::<Result<Vec<_>, _>>()?;
        out.insert("anyOf".to_owned(), json!(branches));
        self.annotate(&mut out, annotations, at);
        Ok(out)
    }

    fn one_type(&mut self, kind: &str, flat: Flat<'_>, at: &Path<'_>) -> Result<Out, Unsupported> {
        if !KINDS.contains(&kind) {
            return Err(Unsupported::new(
                at.to_string(),
                format!("has the type {kind:?}, which does not exist"),
            ));
        }
        let mut out = Out::from_iter([("type".to_owned(), json!(self.type_name(kind)))]);
        self.values(&mut out, kind, &flat, at)?;
        match kind {
            "object" => self.object(&mut out, &flat, at)?,
            "array" => self.array(&mut out, &flat, at)?,
            _ => {}
        }
        self.keywords(&mut out, kind, flat, at);
        Ok(out)
    }

    /// Writes those values of `enum` or `const` that are of the type; no others can be right.
    fn values(
        &mut self,
        out: &mut Out,
        kind: &str,
        flat: &Flat<'_>,
        at: &Path<'_>,
    ) -> Result<(), Unsupported> {
        let (keyword, values) = match (flat.get("const"), flat.get("enum")) {
            (Some(value), _) => ("const", vec![&**value]),
            (None, Some(values)) => ("enum", list(values)),
            (None, None) => return Ok(()),
        };
        let values: Vec<&Value> = values.into_iter().filter(|value| is_of_kind(value, kind)).collect();
        let Some(first) = values.first() else {
            return Err(Unsupported::new(at.to_string(), format!("lists no {kind} as a value, but is one")));
        };
        if kind == "null" {
            // The type says it all.
        } else if values.iter().all(|value| self.may_list(value)) {
            let (keyword, written) = match keyword {
                "const" if self.rules.constants => ("const", json!(first)),
                _ => ("enum", json!(values)),
            };
            out.insert(keyword.to_owned(), written);
        } else if values.iter().any(|value| value.is_object() || value.is_array()) {
            return Err(Unsupported::new(at.to_string(), "lists objects or arrays as values"));
        } else {
            self.describe(out, "enum", &json!(values), at);
        }
        Ok(())
    }

    fn may_list(&self, value: &Value) -> bool {
        match self.rules.enums {
            Enums::Any => true,
            Enums::Primitives => !value.is_object() && !value.is_array(),
            Enums::StringsAndNumbers => value.is_string() || value.is_number(),
            Enums::Strings => value.is_string(),
        }
    }

    fn array(&mut self, out: &mut Out, flat: &Flat<'_>, at: &Path<'_>) -> Result<(), Unsupported> {
        // Before 2020 tuples were written as a list under `items`.
        let old_tuple = flat.get("items").filter(|items| items.is_array());
        let tuple = flat.get("prefixItems").or(old_tuple).filter(|tuple| ***tuple != json!([]));
        let rest = flat.get("items").filter(|items| !items.is_array());
        let Some(positions) = tuple.map(|tuple| list(tuple)) else {
            let items = match rest {
                Some(schema) => self.node(schema, &at.key("items"))?,
                None => self.node(&Value::Bool(true), &at.key("items"))?,
            };
            out.insert("items".to_owned(), Value::Object(items));
            return Ok(());
        };
        let place = at.key(if flat.contains_key("prefixItems") { "prefixItems" } else { "items" });
        if self.rules.tuples {
            let positions = positions.into_iter().enumerate();
            let written: Result<Vec<Out>, _> =
                positions.map(|(index, item)| self.node(item, &place.index(index))).collect();
            out.insert("prefixItems".to_owned(), json!(written?));
            return Ok(());
        }
        self.note(&place, Change::Tuple);
        let mut written = Vec::new();
        let mut nullable = false;
        for (index, position) in positions.into_iter().enumerate() {
            nullable |= is_null(position);
            let alternative =
                if is_null(position) { continue } else { self.node(position, &place.index(index))? };
            if !written.contains(&alternative) {
                written.push(alternative);
            }
        }
        if let Some(schema @ Value::Object(_)) = rest.map(|rest| &**rest) {
            written.push(self.node(schema, &at.key("items"))?);
        }
        out.extend(self.union(written, nullable).map(|items| ("items".to_owned(), Value::Object(items))));
        Ok(())
    }

    /// Writes all keywords that shape nothing.
    fn keywords(&mut self, out: &mut Out, kind: &str, flat: Flat<'_>, at: &Path<'_>) {
        let (annotations, constraints): (Flat<'_>, Flat<'_>) = flat
            .into_iter()
            .filter(|(key, _)| !SHAPE.contains(key) || *key == "description")
            .partition(|(key, _)| is_annotation(key));
        for (key, value) in constraints {
            if !is_well_formed(key, &value) {
                self.note(at, Change::Dropped(key.to_owned()));
            } else if self.knows(key, &value) {
                out.insert(key.to_owned(), value.into_owned());
            } else if key == "format" && matches!(kind, "integer" | "number") {
                // The width of a number type, which means nothing to a model; its bounds stand beside it.
                self.note(at, Change::Dropped(key.to_owned()));
            } else {
                self.describe(out, key, &value, at);
            }
        }
        self.annotate(out, annotations, at);
    }

    fn knows(&self, key: &str, value: &Value) -> bool {
        if !self.rules.keywords.contains(&key) {
            return false;
        }
        match (key, value) {
            ("format", Value::String(format)) => self.rules.formats.contains(&format.as_str()),
            ("pattern", Value::String(pattern)) => {
                self.rules.patterns == Patterns::All || (pattern.starts_with('^') && pattern.ends_with('$'))
            }
            ("minItems", count) => {
                self.rules.min_items.is_none_or(|most| count.as_u64().is_some_and(|n| n <= most))
            }
            _ => true,
        }
    }

    /// Keeps a constraint that the dialect lacks where the model can read it.
    pub(super) fn describe(&mut self, out: &mut Out, key: &str, value: &Value, at: &Path<'_>) {
        let constraint = match value {
            Value::String(text) => format!("{key}: {text}"),
            other => format!("{key}: {other}"),
        };
        if !self.rules.describe || constraint.len() > LONGEST_CONSTRAINT {
            return self.note(at, Change::Dropped(key.to_owned()));
        }
        add_description(out, &constraint, "; ");
        self.note(at, Change::Described(key.to_owned()));
    }

    /// Writes what constrains nothing; a description comes before the constraints that were moved there.
    pub(super) fn annotate(&mut self, out: &mut Out, annotations: Flat<'_>, at: &Path<'_>) {
        for (key, value) in annotations {
            match (key, text(&value)) {
                ("description", Some(description)) => {
                    let constraints = out.remove("description");
                    out.insert("description".to_owned(), json!(description));
                    if let Some(Value::String(constraints)) = constraints {
                        add_description(out, &format!("({constraints})"), " ");
                    }
                }
                ("title", Some(title)) if self.rules.keywords.contains(&"title") => {
                    out.entry("title").or_insert_with(|| json!(title));
                }
                _ => self.note(at, Change::Dropped(key.to_owned())),
            }
        }
    }
}

fn add_description(out: &mut Out, addition: &str, separator: &str) {
    let text = match out.get("description").and_then(Value::as_str) {
        Some(before) => format!("{before}{separator}{addition}"),
        None => addition.to_owned(),
    };
    out.insert("description".to_owned(), json!(text));
}

/// The types that a schema names or, if it names none, those that its keywords speak about.
fn kinds(flat: &Flat<'_>) -> Vec<String> {
    if let Some(named) = flat.get("type") {
        return list(named).into_iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect();
    }
    let constant = flat.get("const").map(|value| vec![&**value]);
    if let Some(values) = constant.or_else(|| flat.get("enum").map(|values| list(values))) {
        let mut kinds: Vec<String> = values.into_iter().map(|value| kind_of(value).to_owned()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        return kinds;
    }
    let speaks = |keys: &[&str]| keys.iter().any(|key| flat.contains_key(key));
    let kind = match () {
        () if speaks(&["properties", "required", "additionalProperties", "patternProperties"]) => "object",
        () if speaks(&["items", "prefixItems", "minItems", "maxItems"]) => "array",
        () if speaks(&["pattern", "minLength", "maxLength", "format"]) => "string",
        () if speaks(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => {
            "number"
        }
        () => return Vec::new(),
    };
    vec![kind.to_owned()]
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_of_kind(value: &Value, kind: &str) -> bool {
    kind_of(value) == kind || (kind == "number" && value.is_number())
}

/// What of a schema with several types is about `kind`.
fn of_kind<'a>(flat: &Flat<'a>, kind: &str) -> Flat<'a> {
    let mut own = flat.clone();
    own.retain(|key, _| about(key).is_none_or(|kinds| kinds.contains(&kind)));
    if let Some(values) = own.get("enum") {
        let values: Vec<&Value> = list(values).into_iter().filter(|value| is_of_kind(value, kind)).collect();
        let values = json!(values);
        own.insert("enum", std::borrow::Cow::Owned(values));
    }
    own
}

/// The types that a keyword constrains; `None`: all of them.
fn about(key: &str) -> Option<&'static [&'static str]> {
    Some(match key {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => &["object"],
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" | "additionalItems" => &["array"],
        "pattern" | "minLength" | "maxLength" => &["string"],
        "format" => &["string", "number", "integer"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            &["number", "integer"]
        }
        _ => return None,
    })
}

/// Whether a keyword's value has the form that vendors check for.
fn is_well_formed(key: &str, value: &Value) -> bool {
    match key {
        "format" | "pattern" => value.is_string(),
        "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
            value.is_u64()
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => value.is_number(),
        _ => true,
    }
}
