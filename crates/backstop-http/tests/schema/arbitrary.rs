//! Any schema, and any JSON at all: no panic, and a result that follows the dialect's rules.

use backstop_http::schema::{Dialect, render};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::checker;

fn scalar() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..300).prop_map(Value::from),
        select(vec!["a", "b", "", "^x$", "date", "uuid", "email"]).prop_map(Value::from),
    ]
    .boxed()
}

fn reference() -> BoxedStrategy<Value> {
    select(vec![
        "#",
        "#/$defs/A",
        "#/$defs/B",
        "#/properties/a",
        "#/$defs/none",
        "#anchor",
        "http://x",
        "#/%zz",
    ])
    .prop_map(|target| json!({"$ref": target}))
    .boxed()
}

/// Something like a schema; often a right one.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => select(vec!["string", "integer", "number", "boolean", "null"]).prop_map(|kind| json!({"type": kind})),
        2 => reference(),
        1 => vec(scalar(), 0..3).prop_map(|values| json!({"enum": values})),
        1 => scalar().prop_map(|value| json!({"const": value})),
        1 => scalar(),
    ];
    let nested = leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            (properties(inner.clone()), vec(select(vec!["a", "b", "c", "x"]), 0..4), select(vec![json!(null), json!(false), json!(true)]))
                .prop_map(|(properties, required, additional)| {
                    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": additional})
                }),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (select(vec!["anyOf", "oneOf", "allOf", "prefixItems"]), vec(inner.clone(), 0..4))
                .prop_map(|(key, list)| Value::Object(Map::from_iter([(key.to_owned(), Value::Array(list))]))),
            (inner.clone(), keyword(inner.clone())).prop_map(|(mut schema, (key, value))| {
                if let Some(map) = schema.as_object_mut() {
                    map.insert(key, value);
                }
                schema
            }),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| match (a, b) {
                (Value::Object(mut a), Value::Object(b)) => {
                    a.extend(b);
                    Value::Object(a)
                }
                (a, _) => a,
            }),
        ]
    });
    (nested.clone(), nested.clone(), nested).prop_map(|(mut root, a, b)| {
        if let Some(map) = root.as_object_mut() {
            map.insert("$defs".to_owned(), json!({"A": a, "B": b}));
        }
        root
    })
}

fn properties(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    vec((select(vec!["a", "b", "c", "properties", "~/"]), inner), 0..4).prop_map(|pairs| {
        pairs.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect::<Map<_, _>>().into()
    })
}

fn keyword(inner: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = (String, Value)> {
    let keys = vec![
        "description",
        "title",
        "default",
        "format",
        "pattern",
        "minimum",
        "maxItems",
        "minItems",
        "nullable",
        "not",
        "additionalProperties",
        "patternProperties",
        "type",
        "$ref",
        "enum",
        "required",
        "x-odd",
        "anyOf",
    ];
    (select(keys), prop_oneof![scalar(), inner, vec(scalar(), 0..3).prop_map(Value::Array)])
        .prop_map(|(key, value)| (key.to_owned(), value))
}

fn json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        let keys = select(vec![
            "$ref",
            "$defs",
            "type",
            "properties",
            "items",
            "anyOf",
            "allOf",
            "enum",
            "const",
            "required",
            "a",
        ]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((keys, inner), 0..5).prop_map(|pairs| {
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_comes_out_follows_the_rules(schema in schema()) {
        for dialect in checker::ALL {
            if let Ok(rendered) = render(&schema, dialect) {
                let verdict = checker::check(&rendered.schema, dialect);
                prop_assert!(verdict.is_ok(), "{}: {verdict:?}\n{}", dialect.name, rendered.schema);
            }
        }
    }

    #[test]
    fn any_json_is_taken_without_a_panic(schema in json(), answer in json()) {
        for dialect in checker::ALL {
            if let Ok(rendered) = render(&schema, dialect) {
                let verdict = checker::check(&rendered.schema, dialect);
                prop_assert!(verdict.is_ok(), "{}: {verdict:?}\n{}", dialect.name, rendered.schema);
                rendered.restore(&schema, answer.to_string());
            }
        }
    }

    #[test]
    fn a_strict_schema_is_strict_already(schema in schema()) {
        let dialect = &Dialect::OPENAI_STRICT;
        if let Ok(once) = render(&schema, dialect) {
            let twice = render(&once.schema, dialect).expect("a strict schema");
            prop_assert!(!twice.changes_answers(), "{}\n{}", once.schema, twice.schema);
        }
    }
}
