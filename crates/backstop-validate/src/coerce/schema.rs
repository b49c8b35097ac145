//! A view of a JSON Schema: only what conversions need.

use serde_json::{Map, Value};

/// `$ref`s that are followed in a row.
const LONGEST_CHAIN: usize = 16;

/// The types of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// Whether a value is of this type. An integer must be written as one: `3.0` is not.
    pub(super) fn holds(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// The types a schema allows; `None` if it does not say.
pub(super) fn types(schema: &Map<String, Value>) -> Option<Vec<Type>> {
    match schema.get("type") {
        Some(Value::String(name)) => Type::from_name(name).map(|t| vec![t]),
        Some(Value::Array(names)) => {
            Some(names.iter().filter_map(|n| Type::from_name(n.as_str()?)).collect())
        }
        _ if schema.contains_key("properties") => Some(vec![Type::Object]),
        _ if schema.contains_key("items") => Some(vec![Type::Array]),
        _ => None,
    }
}

/// The values a schema lists with `enum` or `const`.
pub(super) fn listed(schema: &Map<String, Value>) -> Option<&[Value]> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values),
        (_, Some(value)) => Some(std::slice::from_ref(value)),
        _ => None,
    }
}

/// The variants of `anyOf` or `oneOf`.
pub(super) fn variants(schema: &Map<String, Value>) -> Option<&[Value]> {
    ["anyOf", "oneOf"].into_iter().find_map(|word| schema.get(word)?.as_array()).map(Vec::as_slice)
}

/// The schema that `schema` stands for, through `$ref`s within the document.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Map<String, Value>> {
    let mut schema = schema.as_object()?;
    for _ in 0..LONGEST_CHAIN {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        schema = definition(root, reference.strip_prefix('#')?)?.as_object()?;
    }
    None
}

/// What a JSON pointer leads to. `Value::pointer` makes two texts of each of its words to undo escapes, which the names
/// of definitions hardly ever have.
fn definition<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let Some(path) = pointer.strip_prefix('/').filter(|path| !path.contains('~')) else {
        return root.pointer(pointer);
    };
    let objects = path.split('/').try_fold(root, |at, word| at.as_object()?.get(word));
    // An array is on the way, or nothing is there.
    objects.or_else(|| root.pointer(pointer))
}

/// Whether a property must be there.
pub(super) fn requires(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|n| n.as_str() == Some(name)))
}

/// Whether a schema forbids properties it does not name.
pub(super) fn is_closed(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && !schema.contains_key("patternProperties")
}

/// The schema of the item at an index.
pub(super) fn item_schema(schema: &Map<String, Value>, index: usize) -> Option<&Value> {
    let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    first.get(index).or_else(|| schema.get("items"))
}

/// The schema of a property.
pub(super) fn property_schema<'s>(schema: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    let own = schema.get("properties").and_then(|p| p.get(name));
    own.or_else(|| schema.get("additionalProperties").filter(|s| s.is_object()))
}
