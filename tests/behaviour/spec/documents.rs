//! Files of specifications as JSON.

use std::{env, fs, path::PathBuf, sync::Once};

use serde_json::{Number, Value};
use yaml_rust2::{Yaml, YamlLoader};

/// Reads a file; `None`, and a word on standard error, if it is not there.
pub fn load(file: &str) -> Option<Value> {
    let path = folder().join(file);
    let Ok(text) = fs::read_to_string(&path) else {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            eprintln!("WARNING: nothing is held against specifications, because they are not in {path:?}")
        });
        return None;
    };
    Some(match file.ends_with(".yaml") {
        true => from_yaml(YamlLoader::load_from_str(&text).unwrap().swap_remove(0)),
        false => serde_json::from_str(&text).unwrap(),
    })
}

fn folder() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    env::var_os("BACKSTOP_SHARED").map_or_else(beside, PathBuf::from).join("specs")
}

fn from_yaml(yaml: Yaml) -> Value {
    match yaml {
        Yaml::Boolean(value) => value.into(),
        Yaml::Integer(value) => value.into(),
        Yaml::Real(text) => text.parse().ok().and_then(Number::from_f64).map_or(Value::Null, Value::Number),
        Yaml::String(text) => text.into(),
        Yaml::Array(items) => items.into_iter().map(from_yaml).collect(),
        Yaml::Hash(fields) => {
            let name = |key: Yaml| key.into_string().unwrap_or_default();
            fields.into_iter().map(|(key, value)| (name(key), from_yaml(value))).collect()
        }
        Yaml::Alias(_) | Yaml::Null | Yaml::BadValue => Value::Null,
    }
}

/// `nullable` is a word of OpenAPI that JSON Schema does not know.
pub fn null_where_nullable(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(null_where_nullable),
        Value::Object(fields) => {
            fields.values_mut().for_each(null_where_nullable);
            if fields.get("nullable") == Some(&Value::Bool(true)) {
                fields.remove("nullable");
                let strict = schema.take();
                *schema = serde_json::json!({ "anyOf": [strict, { "type": "null" }] });
            }
        }
        _ => {}
    }
}

#[test]
fn nullable_means_null_as_well() {
    let mut schema = serde_json::json!({ "properties": { "a": { "type": "string", "nullable": true } } });
    null_where_nullable(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (value, valid) in [(Value::Null, true), ("x".into(), true), (7.into(), false)] {
        assert_eq!(validator.is_valid(&serde_json::json!({ "a": value })), valid);
    }
}
