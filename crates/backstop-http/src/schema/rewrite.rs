//! The walk that rewrites a schema for a dialect with rules.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::{
    Change, Dialect, MAX_DEPTH, MAX_NODES, Note, Recursion, Refs, Rendered, Rules, Types, Unsupported,
    keywords::{Flat, is_annotation},
    path::Path,
    refs::{self, Circles, Names},
    wrap,
};

pub(super) fn rewrite(schema: &Value, dialect: &Dialect, rules: &Rules) -> Result<Rendered, Unsupported> {
    let circles = match rules.refs {
        Refs::Defs(Recursion::BelowOptional | Recursion::Forbidden) => Circles::find(schema)?,
        Refs::Defs(Recursion::Allowed) | Refs::Inlined => Circles::default(),
    };
    let mut writer = Writer::new(schema, rules, circles);
    let mut root = writer.definition("", schema)?;
    let wrapped = dialect.object_root && !wrap::is_plain_object(&root);
    if wrapped {
        root = wrap::wrapped(Value::Object(root));
        writer.note(&Path::Base(""), Change::Wrapped);
    }
    let definitions = writer.definitions()?;
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Ok(Rendered { schema: Value::Object(root), notes: writer.notes, wrapped, widened: writer.widened })
}

/// A written schema.
pub(super) type Out = Map<String, Value>;

pub(super) struct Writer<'s> {
    root: &'s Value,
    pub(super) rules: &'s Rules,
    pub(super) notes: Vec<Note>,
    pub(super) widened: bool,
    /// What is being written or inlined, so that no circle is walked twice.
    pub(super) inlining: Vec<String>,
    /// References since the last optional property that close a circle.
    pub(super) circular: usize,
    names: Names,
    circles: Circles,
    /// The definition that is being written.
    current: String,
    depth: usize,
    nodes: usize,
}

impl<'s> Writer<'s> {
    fn new(root: &'s Value, rules: &'s Rules, circles: Circles) -> Self {
        Self {
            root,
            rules,
            notes: Vec::new(),
            widened: false,
            inlining: Vec::new(),
            circular: 0,
            names: Names::default(),
            circles,
            current: String::new(),
            depth: 0,
            nodes: 0,
        }
    }

    fn definitions(&mut self) -> Result<Out, Unsupported> {
        let mut written = Out::new();
        while let Some((pointer, name)) = self.names.next() {
            let target = self.resolve(&pointer, &Path::Base(&pointer))?;
            written.insert(name, Value::Object(self.definition(&pointer, target)?));
        }
        Ok(written)
    }

    fn definition(&mut self, pointer: &str, schema: &Value) -> Result<Out, Unsupported> {
        let at = Path::Base(pointer);
        pointer.clone_into(&mut self.current);
        self.inlining.push(pointer.to_owned());
        self.circular = 0;
        let out = self.node(schema, &at)?;
        self.inlining.clear();
        if let Some(target) = out.get("$ref") {
            let own = pointer.is_empty() || *target == json!(format!("#/$defs/{}", self.names.name(pointer)));
            if own {
                return Err(Unsupported::new(pointer, "is nothing but a reference to itself"));
            }
        }
        if self.circular > 0 {
            return Err(Unsupported::new(pointer, "contains itself outside of any property"));
        }
        Ok(out)
    }

    /// Writes one schema.
    pub(super) fn node(&mut self, schema: &Value, at: &Path<'_>) -> Result<Out, Unsupported> {
        let map = self.as_map(schema, at)?;
        if let (Some(reference), Refs::Defs(_)) = (map.get("$ref"), self.rules.refs) {
            if map.keys().all(|key| matches!(key.as_str(), "$ref" | "$comment")) {
                return self.reference(reference, at);
            }
        }
        let outer = self.inlining.len();
        let out = self.deeper(at, |writer| {
            let flat = writer.flatten(map, at)?;
            writer.write(flat, at)
        });
        self.inlining.truncate(outer);
        out
    }

    /// Writes one schema that has been flattened.
    pub(super) fn write(&mut self, mut flat: Flat<'_>, at: &Path<'_>) -> Result<Out, Unsupported> {
        if let Some(reference) = flat.remove("$ref") {
            if let Some(key) = flat.keys().find(|key| !is_annotation(key)) {
                return Err(Unsupported::new(
                    at.to_string(),
                    format!("has `{key}` beside a reference to itself"),
                ));
            }
            for key in flat.keys() {
                self.note(at, Change::Dropped((*key).to_owned()));
            }
            return self.reference(&reference, at);
        }
        match (flat.remove("anyOf"), flat.remove("oneOf")) {
            (Some(_), Some(_)) => Err(Unsupported::new(at.to_string(), "combines `anyOf` and `oneOf`")),
            (Some(branches), None) => self.alternatives(flat, &branches, &at.key("anyOf"), at),
            (None, Some(branches)) => {
                self.note(at, Change::AnyOf);
                self.alternatives(flat, &branches, &at.key("oneOf"), at)
            }
            (None, None) => self.typed(flat, at),
        }
    }

    fn reference(&mut self, reference: &Value, at: &Path<'_>) -> Result<Out, Unsupported> {
        let pointer = refs::pointer(reference).map_err(|why| Unsupported::new(at.to_string(), why))?;
        self.resolve(&pointer, at)?;
        if self.circles.closes(&self.current, &pointer) {
            match self.rules.refs {
                Refs::Defs(Recursion::Forbidden) => {
                    return Err(Unsupported::new(
                        at.to_string(),
                        "contains itself, which this dialect cannot express",
                    ));
                }
                Refs::Defs(Recursion::BelowOptional) => self.circular += 1,
                Refs::Defs(Recursion::Allowed) | Refs::Inlined => {}
            }
        }
        let target = format!("#/$defs/{}", self.names.name(&pointer));
        Ok(Out::from_iter([("$ref".to_owned(), json!(target))]))
    }

    /// Writes a list of alternatives; what stands beside it is merged into each.
    fn alternatives(
        &mut self,
        base: Flat<'_>,
        branches: &Value,
        list: &Path<'_>,
        at: &Path<'_>,
    ) -> Result<Out, Unsupported> {
        let branches = branches.as_array().map(Vec::as_slice).unwrap_or_default();
        let (annotations, base): (Flat<'_>, Flat<'_>) =
            base.into_iter().partition(|(key, _)| is_annotation(key));
        let mut nullable = false;
        let mut written = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let place = list.index(index);
            if is_null(branch) {
                // Beside other constraints no null can satisfy both.
                nullable |= base.is_empty();
            } else if base.is_empty() {
                written.push(self.node(branch, &place)?);
            } else {
                written.push(self.distributed(&base, branch, &place)?);
            }
        }
        let mut out = self
            .union(written, nullable)
            .ok_or_else(|| Unsupported::new(at.to_string(), "has alternatives that nothing satisfies"))?;
        self.annotate(&mut out, annotations, at);
        Ok(out)
    }

    /// One branch together with what stands beside the list.
    fn distributed(&mut self, base: &Flat<'_>, branch: &Value, place: &Path<'_>) -> Result<Out, Unsupported> {
        let map = self.as_map(branch, place)?;
        let outer = self.inlining.len();
        let out = self.deeper(place, |writer| {
            let branch = writer.flatten(map, place)?;
            let mut all = base.clone();
            writer.merge(&mut all, branch, place)?;
            writer.write(all, place)
        });
        self.inlining.truncate(outer);
        out
    }

    /// One of several written schemas, or null.
    pub(super) fn union(&self, written: Vec<Out>, nullable: bool) -> Option<Out> {
        let (nulls, mut written): (Vec<Out>, Vec<Out>) =
            written.into_iter().partition(|out| *out == self.null());
        let nullable = nullable || !nulls.is_empty();
        let out = match (written.len(), nullable) {
            (0, false) => return None,
            (0, true) => self.null(),
            (1, _) => self.alone(written.remove(0), nullable),
            (_, _) => Out::from_iter([("anyOf".to_owned(), json!(written))]),
        };
        Some(if nullable { self.nullable(out) } else { out })
    }

    /// A single alternative needs no list, unless it is a reference, which takes no siblings.
    fn alone(&self, only: Out, nullable: bool) -> Out {
        if only.contains_key("$ref") && !nullable {
            Out::from_iter([("anyOf".to_owned(), json!([only]))])
        } else {
            only
        }
    }

    fn null(&self) -> Out {
        Out::from_iter([("type".to_owned(), json!(self.type_name("null")))])
    }

    /// Lets a written schema take null as well.
    pub(super) fn nullable(&self, mut out: Out) -> Out {
        if self.rules.types == Types::OpenApi {
            out.insert("nullable".to_owned(), json!(true));
            return out;
        }
        if let Some(Value::Array(branches)) = out.get_mut("anyOf") {
            if !branches.iter().any(is_null) {
                branches.push(json!({ "type": "null" }));
            }
            return out;
        }
        let fixed = out.contains_key("enum") || out.contains_key("const");
        match out.get_mut("type").filter(|_| !fixed) {
            Some(kind @ Value::String(_)) if kind != "null" => *kind = json!([kind.take(), "null"]),
            Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => {
                kinds.push(json!("null"))
            }
            Some(_) => {}
            None => {
                let description = out.remove("description");
                let mut union = Out::from_iter([("anyOf".to_owned(), json!([out, { "type": "null" }]))]);
                union.extend(description.map(|text| ("description".to_owned(), text)));
                return union;
            }
        }
        out
    }

    pub(super) fn type_name(&self, name: &str) -> String {
        if self.rules.types == Types::OpenApi { name.to_uppercase() } else { name.to_owned() }
    }

    pub(super) fn resolve(&self, pointer: &str, at: &Path<'_>) -> Result<&'s Value, Unsupported> {
        let missing =
            || Unsupported::new(at.to_string(), format!("refers to {pointer:?}, which is not there"));
        self.root.pointer(pointer).ok_or_else(missing)
    }

    /// A schema's keywords; `true` has none.
    pub(super) fn as_map<'a>(
        &self,
        schema: &'a Value,
        at: &Path<'_>,
    ) -> Result<&'a Map<String, Value>, Unsupported> {
        static ANYTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        match schema {
            Value::Object(map) => Ok(map),
            Value::Bool(true) => Ok(&ANYTHING),
            Value::Bool(false) => {
                Err(Unsupported::new(at.to_string(), "is `false`, which nothing satisfies"))
            }
            _ => Err(Unsupported::new(at.to_string(), "is not a schema")),
        }
    }

    pub(super) fn note(&mut self, at: &Path<'_>, what: Change) {
        self.notes.push(Note { pointer: at.to_string(), what });
    }

    pub(super) fn spend(&mut self, at: &Path<'_>) -> Result<(), Unsupported> {
        self.nodes += 1;
        if self.nodes > MAX_NODES { Err(Unsupported::new(at.to_string(), TOO_LARGE)) } else { Ok(()) }
    }

    pub(super) fn deeper<T>(
        &mut self,
        at: &Path<'_>,
        work: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        if self.depth >= MAX_DEPTH {
            return Err(Unsupported::new(at.to_string(), "is nested too deeply"));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }
}

const TOO_LARGE: &str = "comes to too many sub-schemas";

pub(super) fn is_null(schema: &Value) -> bool {
    let only = |key: &str, value: &Value| schema.get(key) == Some(value);
    only("type", &json!("null")) || only("const", &Value::Null) || only("enum", &json!([null]))
}

/// A text that a schema shows to the model.
pub(super) fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}
