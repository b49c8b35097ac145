//! A schema on the wire, with its properties in an order that means something.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

/// Serialises a schema with the properties of each object in the order of its `propertyOrdering`, else of its
/// `required`, the others after them.
///
/// `serde_json` sorts object keys, and models fill properties in the order in which they read them.
///
/// ```
/// use backstop_http::schema::Wire;
///
/// let schema = serde_json::json!({"properties": {"answer": {}, "reasoning": {}}, "required": ["reasoning", "answer"]});
/// let text = serde_json::to_string(&Wire(&schema))?;
/// assert_eq!(text, r#"{"properties":{"reasoning":{},"answer":{}},"required":["reasoning","answer"]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Wire<'a>(pub &'a Value);

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("properties", Value::Object(properties)) => {
                            out.serialize_entry(key, &Properties { properties, order: order(map) })?;
                        }
                        _ => out.serialize_entry(key, &Wire(value))?,
                    }
                }
                out.end()
            }
            Value::Array(values) => serializer.collect_seq(values.iter().map(Wire)),
            plain => plain.serialize(serializer),
        }
    }
}

fn order(map: &Map<String, Value>) -> &[Value] {
    let named = map.get("propertyOrdering").or_else(|| map.get("required"));
    named.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

struct Properties<'a> {
    properties: &'a Map<String, Value>,
    order: &'a [Value],
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = std::collections::BTreeSet::new();
        let mut out = serializer.serialize_map(Some(self.properties.len()))?;
        let ordered = self.order.iter().filter_map(Value::as_str);
        for name in ordered.chain(self.properties.keys().map(String::as_str)) {
            if let Some(schema) = self.properties.get(name).filter(|_| written.insert(name)) {
                out.serialize_entry(name, &Wire(schema))?;
            }
        }
        out.end()
    }
}
