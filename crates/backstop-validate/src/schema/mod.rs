//! A JSON Schema, compiled once: what goes to the model, and what its answers are held against.

mod cache;
mod explain;
mod found;
mod graph;
mod limits;
mod root;
mod violation;
mod words;

use std::{
    any::TypeId,
    borrow::Cow,
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use backstop_core::ConfigError;
use jsonschema::{PatternOptions, error::ValidationErrorKind as Kind};
use schemars::JsonSchema;
use serde_json::Value;

pub(crate) use root::KEY as WRAPPER;
pub use violation::Violation;

use self::{cache::Cache, explain::Explainer, graph::Names};
use crate::coerce::{self, Coercion, CoercionKind, Mode};

/// Most violations that are described.
const MAX_VIOLATIONS: usize = 5;
/// Most steps that one pattern may take back in one string. Only patterns with look-around or back references ever do.
const MAX_BACKTRACKS: usize = 10_000;

/// A compiled JSON Schema. Cheap to clone.
///
/// Drafts are recognised by `$schema` (2020-12 without one), formats are checked, and a `$ref` never reaches the
/// network or the disk. Patterns run in linear time; those that need look-around or back references are given up after
/// 10,000 steps and then do not match.
///
/// Refused, because they could take all time or memory: schemas of more than 50,000 values, 96 levels or 256 patterns,
/// and those whose references multiply (more than a million subschemas for one place, or more than 32 that apply each
/// other without descending).
///
/// ```
/// use backstop_validate::Schema;
/// use serde_json::json;
///
/// let schema = Schema::new("point", json!({
///     "type": "object",
///     "properties": {"x": {"type": "number"}},
///     "required": ["x"]
/// }))?;
/// assert!(schema.violations(&json!({"x": 1})).is_empty());
/// let wrong = schema.violations(&json!({"x": "one"}));
/// assert_eq!(wrong[0].to_string(), "`/x`: expected number, found a string");
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    name: Cow<'static, str>,
    original: Arc<Value>,
    wire: Arc<Value>,
    wrapped: bool,
    names: Names,
    validator: jsonschema::Validator,
}

impl Schema {
    /// Compiles a schema. Its name is shown to the model.
    ///
    /// # Errors
    /// It is no JSON Schema, it is too large, or it refers to something outside itself.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        schema: impl Into<Arc<Value>>,
    ) -> Result<Self, ConfigError> {
        let (name, original) = (name.into(), schema.into());
        limits::check_size(&original)?;
        let names = Names::of(&original);
        limits::check_work(&names, &original)?;
        let validator = compile(&original)?;
        let (wire, wrapped) = root::as_object(&original);
        let wire = wire.map_or_else(|| Arc::clone(&original), Arc::new);
        Ok(Self(Arc::new(Inner { name, original, wire, wrapped, names, validator })))
    }

    /// The same, compiled once however often it is given: for schemas that are known only at run time and come with
    /// every call. The 64 used last are kept, up to 4 MiB of them; they are told apart by name and content.
    ///
    /// ```
    /// use backstop_validate::Schema;
    /// use serde_json::json;
    /// use std::sync::Arc;
    ///
    /// let schema = || Schema::cached("id", json!({"type": "string", "maxLength": 8}));
    /// assert!(Arc::ptr_eq(schema()?.original(), schema()?.original()));
    /// # Ok::<(), backstop_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn cached(
        name: impl Into<Cow<'static, str>>,
        schema: impl Into<Arc<Value>>,
    ) -> Result<Self, ConfigError> {
        let (name, schema) = (name.into(), schema.into());
        limits::check_size(&schema)?;
        let (key, bytes) = cache::key(&name, &schema);
        if let Some(found) = Cache::shared().get(key, &name, &schema) {
            return Ok(found);
        }
        // Outside the lock: compiling takes milliseconds, and others want their schemas meanwhile.
        let compiled = Self::new(name, schema)?;
        Cache::shared().put(key, bytes, compiled.clone());
        Ok(compiled)
    }

    /// The schema of a Rust type, generated and compiled once per process.
    ///
    /// # Errors
    /// As [`new`](Self::new); derived schemas do not fail.
    pub fn of<T: JsonSchema + 'static>() -> Result<Self, ConfigError> {
        static CACHE: LazyLock<RwLock<HashMap<TypeId, Schema>>> = LazyLock::new(RwLock::default);
        let id = TypeId::of::<T>();
        if let Some(schema) = CACHE.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(schema.clone());
        }
        // Outside the lock: a `JsonSchema` impl is the user's code.
        let schema = Self::new(T::schema_name(), schemars::schema_for!(T).to_value())?;
        Ok(CACHE.write().unwrap_or_else(PoisonError::into_inner).entry(id).or_insert(schema).clone())
    }

    /// The name that is shown to the model.
    #[must_use]
    pub fn name(&self) -> &Cow<'static, str> {
        &self.0.name
    }

    /// The schema as it was given. Answers are held against this one.
    #[must_use]
    pub fn original(&self) -> &Arc<Value> {
        &self.0.original
    }

    /// The schema that goes to the model: the original, in an object if its root is none, because vendors take
    /// objects only.
    #[must_use]
    pub fn wire(&self) -> &Arc<Value> {
        &self.0.wire
    }

    /// Takes an answer out of the object that [`wire`](Self::wire) put around it. A model may also leave the
    /// object away; then the answer is taken as it is.
    #[must_use]
    pub fn unwrap(&self, mut answer: Value) -> Value {
        match self.wrapped_answer(&answer) {
            Some(_) => answer.get_mut(root::KEY).map(Value::take).unwrap_or_default(),
            None => answer,
        }
    }

    /// Whether [`wire`](Self::wire) has put an object around the schema.
    pub(crate) fn wraps(&self) -> bool {
        self.0.wrapped
    }

    /// Whether an answer, wrapped or not, follows the schema.
    #[must_use]
    pub fn accepts(&self, answer: &Value) -> bool {
        self.0.validator.is_valid(self.wrapped_answer(answer).unwrap_or(answer))
    }

    /// Whether a value follows the schema.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.0.validator.is_valid(value)
    }

    /// A value brought to the schema, and what was converted for that. One that follows it already is changed in no way but
    /// from whole floats to integers (`3.0` is an integer to JSON Schema, and none to a Rust type); one that cannot be
    /// brought to it comes back as it was.
    ///
    /// ```
    /// use backstop_validate::{Schema, coerce::Mode};
    /// use serde_json::json;
    ///
    /// let schema = Schema::new("age", json!({"type": "integer"}))?;
    /// assert_eq!(schema.convert(json!("30"), Mode::Safe).0, json!(30));
    /// assert_eq!(schema.convert(json!("thirty"), Mode::Safe).0, json!("thirty"));
    /// # Ok::<(), backstop_core::ConfigError>(())
    /// ```
    #[must_use]
    pub fn convert(&self, value: Value, mode: Mode) -> (Value, Vec<Coercion>) {
        let follows = self.is_valid(&value);
        self.convert_known(value, follows, mode)
    }

    /// The same for a value of which it is known whether it follows the schema.
    pub(crate) fn convert_known(&self, value: Value, follows: bool, mode: Mode) -> (Value, Vec<Coercion>) {
        if follows && !coerce::writes_integer_as_float(self.original(), &value) {
            return (value, Vec::new());
        }
        let (converted, coercions) = coerce::coerce(value.clone(), self.original(), mode);
        let only_integers = coercions.iter().all(|done| done.kind == CoercionKind::FloatToInteger);
        let usable = self.is_valid(&converted) && (only_integers || !follows);
        if usable { (converted, coercions) } else { (value, Vec::new()) }
    }

    /// What is wrong with a value: at most five places, none if it follows the schema. A value so large that finding
    /// all places would take long has only its first items looked at.
    #[must_use]
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        if self.is_valid(value) {
            return Vec::new();
        }
        let explainable = |value: &Value| limits::explainable(&self.0.names, &self.0.original, value);
        if explainable(value) {
            return self.explain(value, false);
        }
        let start = excerpt(value);
        let found = if explainable(&start) { self.explain(&start, true) } else { Vec::new() };
        if found.is_empty() { vec![Violation::somewhere(value)] } else { found }
    }

    fn explain(&self, value: &Value, excerpt: bool) -> Vec<Violation> {
        let errors = self.0.validator.iter_errors(value);
        Explainer::new(&self.0.original, MAX_VIOLATIONS, excerpt).explain(errors)
    }

    fn wrapped_answer<'a>(&self, answer: &'a Value) -> Option<&'a Value> {
        let object = answer.as_object().filter(|object| self.0.wrapped && object.len() == 1)?;
        object.get(root::KEY)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("name", &self.0.name)
            .field("wrapped", &self.0.wrapped)
            .finish_non_exhaustive()
    }
}

/// A value with the first few items of its arrays only. Its places are places of the whole value too.
fn excerpt(value: &Value) -> Value {
    /// Enough to show a pattern of errors, few enough for tables of wide rows.
    const ITEMS: usize = 16;
    match value {
        Value::Array(items) => items.iter().take(ITEMS).map(excerpt).collect(),
        Value::Object(map) => map.iter().map(|(key, inner)| (key.clone(), excerpt(inner))).collect(),
        scalar => scalar.clone(),
    }
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, ConfigError> {
    let options = || jsonschema::options().should_validate_formats(true).offline();
    // The linear-time engine first; the other one, with its own limit on backtracking, only for patterns that
    // need look-around.
    let linear = options().with_pattern_options(PatternOptions::regex()).build(schema);
    let backtracking = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS);
    linear.or_else(|_| options().with_pattern_options(backtracking).build(schema)).map_err(|error| {
        // The schema is itself an instance, of the schema of schemas: its place is the instance's.
        let place = match error.instance_path().as_str() {
            "" => String::new(),
            place => format!(" at `{place}`, which is {}", found::quoted(error.instance())),
        };
        let why = match error.kind() {
            // What there is to choose from says more than that nothing of it was chosen.
            Kind::AnyOf { .. } | Kind::Enum { .. } | Kind::Type { .. } => {
                format!("expected {}", words::expected(&error, None))
            }
            _ => error.masked().to_string(),
        };
        ConfigError::setting("schema", format!("is no usable JSON Schema{place}: {why}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_reach_neither_network_nor_disk() {
        for target in ["http://127.0.0.1:1/x.json", "https://example.com/s", "file:///etc/hostname"] {
            let error = Schema::new("x", json!({"$ref": target})).unwrap_err();
            assert!(error.to_string().contains("no usable JSON Schema"), "{error}");
        }
    }

    #[test]
    fn a_wrong_schema_is_told_where_it_is_wrong() {
        let cases = [
            (
                json!({"properties": {"a": {"type": "objekt"}}}),
                "at `/properties/a/type`, which is \"objekt\": expected one of \"array\", \"boolean\", \"integer\", ",
            ),
            (json!({"required": "date"}), "at `/required`, which is \"date\": expected array"),
            (json!({"properties": [1]}), "at `/properties`, which is an array of 1:"),
            (json!(5), "is no usable JSON Schema:"),
        ];
        for (schema, words) in cases {
            let error = Schema::new("x", schema).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn size_and_depth_are_bounded() {
        let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(Schema::new("x", deep).unwrap_err().to_string().contains("deeper than 96"));
        let wide: Vec<Value> = (0..60_000).map(Value::from).collect();
        assert!(Schema::new("x", json!({"enum": wide})).unwrap_err().to_string().contains("50,000"));
    }

    #[test]
    fn formats_are_checked_and_drafts_recognised() {
        let date = Schema::new("x", json!({"type": "string", "format": "date"})).unwrap();
        assert!(date.is_valid(&json!("2026-02-28")) && !date.is_valid(&json!("2026-02-30")));
        let draft4 = json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "number", "maximum": 5, "exclusiveMaximum": true
        });
        let draft4 = Schema::new("x", draft4).unwrap();
        assert!(draft4.is_valid(&json!(4)) && !draft4.is_valid(&json!(5)));
    }

    #[test]
    fn a_pattern_with_look_around_still_compiles() {
        let schema = Schema::new("x", json!({"type": "string", "pattern": "^(?!bad)"})).unwrap();
        assert!(schema.is_valid(&json!("good")) && !schema.is_valid(&json!("bad one")));
    }

    #[test]
    fn a_types_schema_is_made_once() {
        let (one, two) = (Schema::of::<Vec<u8>>().unwrap(), Schema::of::<Vec<u8>>().unwrap());
        assert!(Arc::ptr_eq(&one.0, &two.0));
    }

    #[test]
    fn answers_are_taken_out_of_the_object_around_them() {
        let list = Schema::new("list", json!({"type": "array", "items": {"type": "integer"}})).unwrap();
        assert_eq!(list.wire()["properties"]["value"]["type"], "array");
        for answer in [json!({"value": [1]}), json!([1])] {
            assert!(list.accepts(&answer));
            assert_eq!(list.unwrap(answer), json!([1]));
        }
        let object = Schema::new("o", json!({"type": "object", "properties": {"value": {}}})).unwrap();
        assert_eq!(object.unwrap(json!({"value": 1})), json!({"value": 1}));
    }
}
