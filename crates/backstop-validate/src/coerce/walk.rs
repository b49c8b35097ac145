//! The walk over a value beside its schema.

use serde_json::{Map, Value};

use super::conforms::conforms;
use super::fuel::{Fuel, MAX_DEPTH, size};
use super::names::{Spellings, named_in, same_name};
use super::scalars::convert;
use super::schema::{Type, item_schema, listed, resolve, types, variants};
use super::{Coercion, CoercionKind, Mode};
use crate::json::pointer::{Segment, push};
use crate::json::{self, Policy};

pub(super) struct Walk<'s> {
    root: &'s Value,
    pub(super) mode: Mode,
    pub(super) path: String,
    log: Vec<Coercion>,
    fuel: Fuel,
    spellings: Spellings<'s>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(root: &'s Value, mode: Mode) -> Self {
        Self {
            root,
            mode,
            path: String::new(),
            log: Vec::new(),
            fuel: Fuel::full(),
            spellings: Spellings::default(),
        }
    }

    pub(super) fn into_log(self) -> Vec<Coercion> {
        self.log
    }

    pub(super) fn note(&mut self, kind: CoercionKind) {
        self.log.push(Coercion { kind, pointer: self.path.clone() });
    }

    /// Notes a conversion of a member of the current value.
    pub(super) fn note_member(&mut self, kind: CoercionKind, name: &str) {
        let mut pointer = self.path.clone();
        push(&mut pointer, Segment::Key(name));
        self.log.push(Coercion { kind, pointer });
    }

    /// Which of the properties is meant by a name that is spelled otherwise.
    pub(super) fn meant(&mut self, properties: &'s Map<String, Value>, name: &str) -> Option<&'s str> {
        self.spellings.meant(properties, name)
    }

    pub(super) fn conforms(&mut self, value: &Value, schema: &'s Value) -> bool {
        conforms(self.root, value, schema, &mut self.fuel, 0)
    }

    /// Brings a value nearer to its schema.
    pub(super) fn value(&mut self, value: Value, schema: &'s Value, depth: usize) -> Value {
        match resolve(self.root, schema) {
            Some(schema) => self.resolved(value, schema, depth),
            None => value,
        }
    }

    fn resolved(&mut self, mut value: Value, schema: &'s Map<String, Value>, depth: usize) -> Value {
        if depth > MAX_DEPTH || !self.fuel.burn() {
            return value;
        }
        if let Some(variants) = variants(schema) {
            value = self.union(value, variants, depth);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            for part in parts {
                value = self.value(value, part, depth + 1);
            }
        }
        if let Some(values) = listed(schema) {
            return self.listed(value, values, types(schema));
        }
        match types(schema) {
            Some(types) if !types.iter().any(|t| t.holds(&value)) => {
                self.other_type(value, schema, &types, depth)
            }
            _ => self.members(value, schema, depth),
        }
    }

    /// At a member: the same with the path one step longer.
    pub(super) fn member(
        &mut self,
        value: Value,
        segment: Segment<'_>,
        schema: &'s Value,
        depth: usize,
    ) -> Value {
        let len = self.path.len();
        push(&mut self.path, segment);
        let value = self.value(value, schema, depth + 1);
        self.path.truncate(len);
        value
    }

    fn members(&mut self, value: Value, schema: &'s Map<String, Value>, depth: usize) -> Value {
        match value {
            Value::Object(map) => Value::Object(self.object(map, schema, depth)),
            Value::Array(items) => {
                let walked = items.into_iter().enumerate().map(|(i, item)| match item_schema(schema, i) {
                    Some(sub) => self.member(item, Segment::Index(i), sub, depth),
                    None => item,
                });
                Value::Array(walked.collect())
            }
            scalar => scalar,
        }
    }

    /// The variant that fits as it is; failing that, the one that fits after the fewest conversions.
    fn union(&mut self, value: Value, variants: &'s [Value], depth: usize) -> Value {
        if variants.iter().any(|variant| self.conforms(&value, variant)) {
            return value;
        }
        let before = self.log.len();
        let mut best: Option<(Value, Vec<Coercion>)> = None;
        let size = size(&value);
        for variant in variants.iter().take(16) {
            if !self.fuel.spend(size) {
                break;
            }
            let converted = self.value(value.clone(), variant, depth + 1);
            let changes = self.log.split_off(before);
            let fewer = best.as_ref().is_none_or(|(_, fewest)| changes.len() < fewest.len());
            if fewer && self.conforms(&converted, variant) {
                best = Some((converted, changes));
            }
        }
        match best {
            Some((converted, changes)) => {
                self.log.extend(changes);
                converted
            }
            None => value,
        }
    }

    fn listed(&mut self, value: Value, values: &[Value], types: Option<Vec<Type>>) -> Value {
        if values.contains(&value) {
            return value;
        }
        if let Value::String(text) = &value {
            let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            if !self.fuel.spend(names.len()) {
                return value;
            }
            let spelled = same_name(text, &names).map(|i| (i, CoercionKind::EnumSpelling));
            let eager = self.mode == Mode::Eager;
            let named =
                || named_in(text, &names).filter(|_| eager).map(|i| (i, CoercionKind::EnumInSentence));
            if let Some((index, kind)) = spelled.or_else(named) {
                if let Some(name) = names.get(index) {
                    self.note(kind);
                    return Value::String((*name).to_owned());
                }
            }
        }
        let types = types
            .unwrap_or_else(|| vec![Type::Integer, Type::Number, Type::Boolean, Type::Null, Type::String]);
        match convert(&value, &types, self.mode) {
            Some((converted, kind)) if values.contains(&converted) => {
                self.note(kind);
                converted
            }
            _ => value,
        }
    }

    /// The value is of none of the types that are wanted.
    fn other_type(
        &mut self,
        value: Value,
        schema: &'s Map<String, Value>,
        types: &[Type],
        depth: usize,
    ) -> Value {
        if let Some((converted, kind)) = convert(&value, types, self.mode) {
            self.note(kind);
            return converted;
        }
        if let Some(inner) = parse_container(&value, types) {
            self.note(CoercionKind::JsonInString);
            return self.members(inner, schema, depth);
        }
        let before = self.log.len();
        if types.contains(&Type::Array) && !value.is_null() && self.fuel.spend(size(&value)) {
            self.note(CoercionKind::Wrapped);
            let wrapped = self.members(Value::Array(vec![value.clone()]), schema, depth);
            if self.items_conform(&wrapped, schema) {
                return wrapped;
            }
            self.log.truncate(before);
        }
        if self.mode == Mode::Eager {
            return self.eager(value, schema, types, depth);
        }
        value
    }

    fn eager(&mut self, value: Value, schema: &'s Map<String, Value>, types: &[Type], depth: usize) -> Value {
        let before = self.log.len();
        if let Value::Array(items) = &value {
            if let [only] = items.as_slice() {
                self.note(CoercionKind::Unwrapped);
                let inner = self.resolved(only.clone(), schema, depth + 1);
                if types.iter().any(|t| t.holds(&inner)) {
                    return inner;
                }
                self.log.truncate(before);
            }
            return value;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let only = properties.filter(|p| p.len() == 1).and_then(|p| p.iter().next());
        if let (Some((name, sub)), false) = (only, value.is_object() || value.is_null()) {
            self.note(CoercionKind::OnlyProperty);
            let inner = self.member(value.clone(), Segment::Key(name), sub, depth);
            if self.conforms(&inner, sub) {
                return Value::Object([(name.clone(), inner)].into_iter().collect());
            }
            self.log.truncate(before);
        }
        value
    }

    fn items_conform(&mut self, array: &Value, schema: &'s Map<String, Value>) -> bool {
        let items = array.as_array().map_or(&[][..], Vec::as_slice);
        items
            .iter()
            .enumerate()
            .all(|(i, item)| item_schema(schema, i).is_none_or(|sub| self.conforms(item, sub)))
    }
}

/// The container that a string holds as strict JSON, if one is wanted.
fn parse_container(value: &Value, types: &[Type]) -> Option<Value> {
    let text = value.as_str()?.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let inner = json::Extractor::new().policy(Policy::Strict).extract(text).ok()?;
    let whole = inner.repairs.is_empty()
        && [Type::Object, Type::Array].iter().any(|t| types.contains(t) && t.holds(&inner.value));
    whole.then_some(inner.value)
}
