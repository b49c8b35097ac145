//! One table per dialect.

use backstop_http::schema::{Change, Dialect, Limits, render};
use serde_json::{Value, json};

use crate::checker;

/// A name, a schema, and what it becomes.
type Row = (&'static str, Value, Value);

fn table(dialect: &Dialect, rows: Vec<Row>) {
    for (name, schema, expected) in rows {
        let rendered = render(&schema, dialect).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(rendered.schema, expected, "{name} in {}", dialect.name);
        checker::check(&rendered.schema, dialect).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
}

fn refused(dialect: &Dialect, rows: Vec<(&'static str, Value, &'static str)>) {
    for (name, schema, pointer) in rows {
        let error = render(&schema, dialect).map(|rendered| rendered.schema).expect_err(name);
        assert_eq!(error.pointer, pointer, "{name}: {error}");
    }
}

fn changes(schema: &Value, dialect: &Dialect) -> Vec<(String, Change)> {
    render(schema, dialect).unwrap().notes.into_iter().map(|note| (note.pointer, note.what)).collect()
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn closed(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn tree() -> Value {
    json!({
        "$ref": "#/$defs/Node",
        "$defs": {"Node": object(json!({
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        }), &["name", "children"])},
    })
}

#[test]
fn openai_strict() {
    table(&Dialect::OPENAI_STRICT, vec![
        (
            "constraints it knows stay, the others are described",
            object(json!({
                "a": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
                "b": {"type": "string", "description": "A code.", "minLength": 2, "pattern": "^[a-z]+$"},
                "c": {"type": "string", "format": "uri"},
                "d": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true},
            }), &["d", "c", "b", "a"]),
            closed(json!({
                "a": {"type": "integer", "minimum": 0, "maximum": 255},
                "b": {"type": "string", "description": "A code. (minLength: 2)", "pattern": "^[a-z]+$"},
                "c": {"type": "string", "description": "format: uri"},
                "d": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "uniqueItems: true"},
            }), &["d", "c", "b", "a"]),
        ),
        (
            "optional properties become nullable, in whatever form they have",
            object(json!({
                "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "both": {"type": ["string", "null"]},
                "fixed": {"const": 1},
                "kind": {"type": "string", "enum": ["a", "b"]},
                "known": {"type": "string"},
                "linked": {"$ref": "#/$defs/D"},
                "plain": {"type": "boolean", "default": true},
            }), &["known"]),
            json!({"x": "see below"}),
        ),
    ].into_iter().filter(|row| row.2.get("x").is_none()).collect());
    let optional = json!({
        "type": "object",
        "properties": {
            "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "both": {"type": ["string", "null"]},
            "kind": {"type": "string", "enum": ["a", "b"], "description": "Which."},
            "known": {"type": "string"},
            "linked": {"$ref": "#/$defs/D"},
            "plain": {"type": "boolean", "default": true},
        },
        "required": ["known"],
        "$defs": {"D": {"type": "string"}, "unused": {"type": "wrong"}},
    });
    let mut expected = closed(
        json!({
            "any": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            "both": {"type": ["string", "null"]},
            "kind": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}], "description": "Which."},
            "known": {"type": "string"},
            "linked": {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]},
            "plain": {"type": ["boolean", "null"]},
        }),
        &["known", "any", "both", "kind", "linked", "plain"],
    );
    expected["$defs"] = json!({"D": {"type": "string"}});
    table(&Dialect::OPENAI_STRICT, vec![("optional properties become nullable", optional.clone(), expected)]);
    let notes = changes(&optional, &Dialect::OPENAI_STRICT);
    for expected in [
        (String::new(), Change::Closed),
        ("/properties/any".into(), Change::Nullable),
        ("/properties/plain".into(), Change::Dropped("default".into())),
    ] {
        assert!(notes.contains(&expected), "{expected:?} in {notes:?}");
    }
    assert!(!notes.contains(&("/properties/both".into(), Change::Nullable)), "{notes:?}");
}

#[test]
fn openai_strict_alternatives() {
    let cat = object(json!({"kind": {"const": "cat"}, "lives": {"type": "integer"}}), &["kind", "lives"]);
    let dog = object(json!({"kind": {"const": "dog"}}), &["kind"]);
    let closed_cat = closed(
        json!({"kind": {"type": "string", "const": "cat"}, "lives": {"type": "integer"}}),
        &["kind", "lives"],
    );
    let closed_dog = closed(json!({"kind": {"type": "string", "const": "dog"}}), &["kind"]);
    table(
        &Dialect::OPENAI_STRICT,
        vec![
            (
                "a root of alternatives is wrapped",
                json!({"oneOf": [cat, dog]}),
                closed(json!({"value": {"anyOf": [closed_cat, closed_dog]}}), &["value"]),
            ),
            (
                "what stands beside alternatives goes into each",
                object(
                    json!({"pet": {
                        "type": "object",
                        "description": "A pet.",
                        "properties": {"name": {"type": "string"}},
                        "required": ["name"],
                        "oneOf": [dog, {"$ref": "#/$defs/Fish"}],
                    }}),
                    &["pet"],
                )
                .as_object()
                .map(|map| {
                    let mut map = map.clone();
                    map.insert(
                        "$defs".into(),
                        json!({"Fish": object(json!({"fins": {"type": "integer"}}), &["fins"])}),
                    );
                    Value::Object(map)
                })
                .unwrap(),
                closed(
                    json!({"pet": {
                        "description": "A pet.",
                        "anyOf": [
                            closed(json!({"kind": {"type": "string", "const": "dog"}, "name": {"type": "string"}}), &["name", "kind"]),
                            closed(json!({"fins": {"type": "integer"}, "name": {"type": "string"}}), &["name", "fins"]),
                        ],
                    }}),
                    &["pet"],
                ),
            ),
            (
                "allOf is merged, the tighter bound wins",
                object(
                    json!({"n": {"allOf": [
                        {"type": "number", "minimum": 1, "maximum": 9},
                        {"type": "integer", "minimum": 3, "description": "A number."},
                    ]}}),
                    &["n"],
                ),
                closed(
                    json!({"n": {"type": "integer", "minimum": 3, "maximum": 9, "description": "A number."}}),
                    &["n"],
                ),
            ),
            (
                "a reference with a description is put in its place",
                json!({
                    "type": "object",
                    "properties": {"a": {"description": "First.", "$ref": "#/$defs/A"}},
                    "required": ["a"],
                    "$defs": {"A": {"type": "string", "description": "Any."}},
                }),
                closed(json!({"a": {"type": "string", "description": "First."}}), &["a"]),
            ),
            (
                "a documented optional reference keeps it",
                json!({
                    "type": "object",
                    "properties": {"a": {"description": "First.", "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}},
                    "required": ["a"],
                    "$defs": {"A": {"type": "string"}},
                }),
                {
                    let mut out = closed(
                        json!({"a": {"description": "First.", "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}),
                        &["a"],
                    );
                    out["$defs"] = json!({"A": {"type": "string"}});
                    out
                },
            ),
            (
                "null among the values",
                object(
                    json!({"a": {"enum": ["x", null]}, "b": {"type": "string", "nullable": true}}),
                    &["a", "b"],
                ),
                closed(
                    json!({
                        "a": {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]},
                        "b": {"type": ["string", "null"]},
                    }),
                    &["a", "b"],
                ),
            ),
            (
                "a tuple becomes a list of alternatives",
                object(
                    json!({"pair": {
                        "type": "array",
                        "prefixItems": [{"type": "string"}, {"type": "integer"}, {"type": "string"}],
                        "minItems": 3, "maxItems": 3,
                    }}),
                    &["pair"],
                ),
                closed(
                    json!({"pair": {
                        "type": "array",
                        "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                        "minItems": 3, "maxItems": 3,
                    }}),
                    &["pair"],
                ),
            ),
            (
                "several types, one of them an array",
                object(
                    json!({"a": {"type": ["string", "array"], "items": {"type": "string"}, "pattern": "x"}}),
                    &["a"],
                ),
                closed(
                    json!({"a": {"anyOf": [
                        {"type": "string", "pattern": "x"},
                        {"type": "array", "items": {"type": "string"}},
                    ]}}),
                    &["a"],
                ),
            ),
        ],
    );
}

#[test]
fn openai_strict_roots_and_recursion() {
    let node = closed(
        json!({
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        }),
        &["name", "children"],
    );
    let with_defs = |mut root: Value, defs: Value| {
        root["$defs"] = defs;
        root
    };
    table(
        &Dialect::OPENAI_STRICT,
        vec![
            (
                "a scalar root",
                json!({"type": "string"}),
                closed(json!({"value": {"type": "string"}}), &["value"]),
            ),
            (
                "a list root",
                json!({"type": "array", "items": {"type": "integer"}}),
                closed(json!({"value": {"type": "array", "items": {"type": "integer"}}}), &["value"]),
            ),
            ("a root that is a reference", tree(), with_defs(node.clone(), json!({"Node": node}))),
            (
                "a root that refers to itself, wrapped",
                json!({"type": "array", "items": {"$ref": "#"}}),
                with_defs(
                    closed(
                        json!({"value": {"type": "array", "items": {"$ref": "#/$defs/root"}}}),
                        &["value"],
                    ),
                    json!({"root": {"type": "array", "items": {"$ref": "#/$defs/root"}}}),
                ),
            ),
            (
                "a documented reference to what is being written",
                object(json!({"next": {"description": "The rest.", "$ref": "#"}}), &[]),
                with_defs(
                    closed(
                        json!({"next": {"anyOf": [{"$ref": "#/$defs/root"}, {"type": "null"}]}}),
                        &["next"],
                    ),
                    json!({"root": closed(json!({"next": {"anyOf": [{"$ref": "#/$defs/root"}, {"type": "null"}]}}), &["next"])}),
                ),
            ),
            (
                "names of definitions are made fit, and stay apart",
                json!({
                    "type": "object",
                    "properties": {"a": {"$ref": "#/$defs/x~1y%20z"}, "b": {"$ref": "#/definitions/x_y_z"}},
                    "required": ["a", "b"],
                    "$defs": {"x/y z": {"type": "string"}},
                    "definitions": {"x_y_z": {"type": "integer"}},
                }),
                with_defs(
                    closed(
                        json!({"a": {"$ref": "#/$defs/x_y_z"}, "b": {"$ref": "#/$defs/x_y_z_2"}}),
                        &["a", "b"],
                    ),
                    json!({"x_y_z": {"type": "string"}, "x_y_z_2": {"type": "integer"}}),
                ),
            ),
        ],
    );
}

#[test]
fn openai_strict_refuses() {
    let deep = (0..12).fold(json!({"type": "string"}), |inner, _| object(json!({"a": inner}), &["a"]));
    let many: Vec<String> = (0..1_001).map(|n| format!("v{n}")).collect();
    let long: Vec<String> = (0..251).map(|n| format!("{n:060}")).collect();
    refused(
        &Dialect::OPENAI_STRICT,
        vec![
            (
                "a map",
                object(json!({"m": {"type": "object", "additionalProperties": {"type": "string"}}}), &["m"]),
                "/properties/m",
            ),
            (
                "a map by pattern",
                json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}}),
                "",
            ),
            ("a free object", object(json!({"m": {"type": "object"}}), &["m"]), "/properties/m"),
            ("any value", object(json!({"any": true}), &["any"]), "/properties/any"),
            ("a list of anything", object(json!({"l": {"type": "array"}}), &["l"]), "/properties/l/items"),
            ("nothing", object(json!({"no": false}), &["no"]), "/properties/no"),
            ("no schema", object(json!({"no": 7}), &["no"]), "/properties/no"),
            ("not even an object", json!("string"), ""),
            (
                "a reference elsewhere",
                object(json!({"r": {"$ref": "https://host/x"}}), &["r"]),
                "/properties/r",
            ),
            ("a reference to nothing", object(json!({"r": {"$ref": "#/$defs/X"}}), &["r"]), "/properties/r"),
            ("an anchor", object(json!({"r": {"$ref": "#x"}}), &["r"]), "/properties/r"),
            (
                "a contradiction",
                object(json!({"c": {"allOf": [{"type": "string"}, {"type": "integer"}]}}), &["c"]),
                "/properties/c/allOf/1",
            ),
            (
                "two lists of alternatives",
                object(json!({"c": {"anyOf": [{"type": "string"}], "oneOf": [{"type": "string"}]}}), &["c"]),
                "/properties/c",
            ),
            (
                "too deep",
                deep,
                "/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a/properties/a",
            ),
            ("too many values", object(json!({"e": {"enum": many}}), &["e"]), ""),
            ("one list of values too long", object(json!({"e": {"enum": long}}), &["e"]), "/properties/e"),
        ],
    );
}

#[test]
fn anthropic() {
    let mut with_optional = closed(
        json!({
            "a": {"type": "string", "description": "pattern: ^x; maxLength: 3"},
            "b": {"type": "integer", "description": "minimum: 1"},
            "c": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "d": {"type": "array", "items": {"type": "string"}, "description": "minItems: 2"},
            "e": {"$ref": "#/$defs/E"},
            "f": {"type": "string", "format": "uri"},
        }),
        &["a"],
    );
    with_optional["$defs"] = json!({"E": {"type": "string", "enum": ["x", "y"]}});
    with_optional["properties"]["a"]["description"] = json!("maxLength: 3; pattern: ^x");
    table(
        &Dialect::ANTHROPIC,
        vec![(
            "numbers and lengths are described, optional properties stay optional",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "a": {"type": "string", "pattern": "^x", "maxLength": 3},
                    "b": {"type": "integer", "minimum": 1},
                    "c": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    "d": {"type": "array", "items": {"type": "string"}, "minItems": 2},
                    "e": {"$ref": "#/$defs/E"},
                    "f": {"type": "string", "format": "uri"},
                },
                "required": ["a"],
                "$defs": {"E": {"enum": ["x", "y"]}},
            }),
            with_optional,
        )],
    );
    let many: serde_json::Map<String, Value> =
        (0..25).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let unions: serde_json::Map<String, Value> =
        (0..17).map(|n| (format!("p{n}"), json!({"type": ["string", "null"]}))).collect();
    let names: Vec<String> = unions.keys().cloned().collect();
    refused(
        &Dialect::ANTHROPIC,
        vec![
            ("recursion", tree(), "/$defs/Node/properties/children/items"),
            ("values that are lists", object(json!({"a": {"enum": [[1]]}}), &["a"]), "/properties/a"),
            ("too many optional properties", object(Value::Object(many), &[]), ""),
            ("too many unions", json!({"type": "object", "properties": unions, "required": names}), ""),
            ("a map", json!({"type": "object", "additionalProperties": {"type": "string"}}), ""),
        ],
    );
}

#[test]
fn gemini_json_schema() {
    let node = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        },
        "required": ["name"],
        "propertyOrdering": ["name", "children"],
    });
    // The root itself is in no circle.
    let mut recursive = node.clone();
    recursive["required"] = json!(["name", "children"]);
    recursive["$defs"] = json!({"Node": node});
    table(
        &Dialect::GEMINI_JSON,
        vec![
            ("a tree: the circle goes through an optional property", tree(), recursive),
            (
                "maps, tuples, anything and constants",
                object(
                    json!({
                        "map": {"type": "object", "additionalProperties": {"type": "integer", "exclusiveMinimum": 0}},
                        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2},
                        "any": {},
                        "fixed": {"const": "x"},
                        "flag": {"const": true},
                        "text": {"type": "string", "maxLength": 5},
                    }),
                    &["text", "map", "pair", "any", "fixed", "flag"],
                ),
                json!({
                    "type": "object",
                    "properties": {
                        "map": {"type": "object", "properties": {}, "additionalProperties": {"type": "integer", "description": "exclusiveMinimum: 0"}},
                        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2},
                        "any": {},
                        "fixed": {"type": "string", "enum": ["x"]},
                        "flag": {"type": "boolean", "description": "enum: [true]"},
                        "text": {"type": "string", "description": "maxLength: 5"},
                    },
                    "required": ["text", "map", "pair", "any", "fixed", "flag"],
                    "propertyOrdering": ["text", "map", "pair", "any", "fixed", "flag"],
                }),
            ),
            (
                "a list root stays",
                json!({"type": "array", "items": {"type": "string"}}),
                json!({"type": "array", "items": {"type": "string"}}),
            ),
        ],
    );
    assert!(
        changes(&tree(), &Dialect::GEMINI_JSON)
            .contains(&("/$defs/Node/properties/children".into(), Change::Optional))
    );
    refused(
        &Dialect::GEMINI_JSON,
        vec![("a circle outside of properties", json!({"type": "array", "items": {"$ref": "#"}}), "")],
    );
}

#[test]
fn gemini_openapi() {
    table(
        &Dialect::GEMINI_OPENAPI,
        vec![(
            "capital types, nullable, no references",
            json!({
                "$schema": "x",
                "title": "T",
                "type": "object",
                "properties": {
                    "a": {"type": ["string", "null"], "title": "A", "default": "x"},
                    "b": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]},
                    "c": {"type": "integer", "enum": [1, 2]},
                    "d": {"oneOf": [{"type": "string"}, {"type": "integer", "format": "int32"}]},
                    "e": {"type": ["string", "integer"]},
                },
                "required": ["b", "a"],
                "additionalProperties": false,
                "$defs": {"B": {"type": "string", "enum": ["x", "y"], "description": "Which."}},
            }),
            json!({
                "type": "OBJECT",
                "properties": {
                    "a": {"type": "STRING", "nullable": true},
                    "b": {"type": "STRING", "enum": ["x", "y"], "description": "Which.", "nullable": true},
                    "c": {"type": "INTEGER", "description": "enum: [1,2]"},
                    "d": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER", "format": "int32"}]},
                    "e": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
                },
                "required": ["b", "a"],
                "propertyOrdering": ["b", "a", "c", "d", "e"],
            }),
        )],
    );
    refused(
        &Dialect::GEMINI_OPENAPI,
        vec![
            ("recursion", tree(), "/properties/children/items"),
            ("a free object", json!({"type": "object"}), ""),
            (
                "a map",
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
                "",
            ),
        ],
    );
}

#[test]
fn grammar() {
    table(
        &Dialect::GRAMMAR,
        vec![(
            "nearly everything stays, patterns must be anchored",
            json!({
                "type": "object",
                "properties": {
                    "a": {"type": "string", "pattern": "^[0-9]{4}$"},
                    "b": {"type": "string", "pattern": "[0-9]", "minLength": 1},
                    "c": {"type": "object", "additionalProperties": {"type": "integer"}},
                    "d": {"const": {"any": ["json"]}},
                    "e": {"type": "string", "format": "email", "description": "Mail."},
                },
                "required": ["a", "b"],
            }),
            json!({
                "type": "object",
                "properties": {
                    "a": {"type": "string", "pattern": "^[0-9]{4}$"},
                    "b": {"type": "string", "minLength": 1},
                    "c": {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
                    "d": {"type": "object", "properties": {}, "const": {"any": ["json"]}},
                    "e": {"type": "string", "description": "Mail."},
                },
                "required": ["a", "b"],
            }),
        )],
    );
}

#[test]
fn dialects_without_rules_change_only_the_root() {
    let odd = json!({
        "$schema": "x",
        "type": "object",
        "patternProperties": {"^x": {"not": {"const": {"$ref": "https://this/is/data"}}}},
        "if": {"required": ["a"]},
    });
    let mut kept = odd.clone();
    kept.as_object_mut().unwrap().remove("$schema");
    for dialect in [Dialect::OPENAI_LOOSE, Dialect::ANTHROPIC_TOOL, Dialect::PROMPT] {
        table(
            &dialect,
            vec![
                ("as it is", odd.clone(), kept.clone()),
                (
                    "a root of another kind is wrapped, and references follow",
                    json!({
                        "type": "array",
                        "items": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#"}, {"$ref": "#/items/anyOf/0"}]},
                        "$defs": {"A": {"type": "string"}},
                    }),
                    json!({
                        "type": "object",
                        "properties": {"value": {
                            "type": "array",
                            "items": {"anyOf": [
                                {"$ref": "#/$defs/A"},
                                {"$ref": "#/properties/value"},
                                {"$ref": "#/properties/value/items/anyOf/0"},
                            ]},
                        }},
                        "required": ["value"],
                        "additionalProperties": false,
                        "$defs": {"A": {"type": "string"}},
                    }),
                ),
            ],
        );
        refused(
            &dialect,
            vec![
                (
                    "a reference elsewhere",
                    object(json!({"a~/b": {"items": {"$ref": "file:///etc/passwd"}}}), &[]),
                    "/properties/a~0~1b/items",
                ),
                ("no schema", json!({"type": "object", "properties": {"a": 7}}), "/properties/a"),
            ],
        );
    }
}

#[test]
fn limits_are_data() {
    let shallow = Dialect { limits: Limits { depth: Some(1), ..Limits::NONE }, ..Dialect::OPENAI_STRICT };
    let inner = object(json!({"b": {"type": "string"}}), &["b"]);
    refused(&shallow, vec![("two levels", object(json!({"a": inner}), &["a"]), "/properties/a")]);
    let few = Dialect { limits: Limits { properties: Some(1), ..Limits::NONE }, ..Dialect::OPENAI_STRICT };
    refused(
        &few,
        vec![("two", object(json!({"a": {"type": "string"}, "b": {"type": "string"}}), &["a", "b"]), "")],
    );
    let short = Dialect { limits: Limits { chars: Some(5), ..Limits::NONE }, ..Dialect::OPENAI_STRICT };
    refused(&short, vec![("six", object(json!({"abc": {"enum": ["xyz"]}}), &["abc"]), "")]);
}

#[test]
fn growth_and_depth_are_bounded() {
    // Each definition holds the one before twice: 2^40 copies, were all put in place.
    let mut defs = serde_json::Map::from_iter([("d0".to_owned(), json!({"type": "string"}))]);
    for n in 1..40 {
        let inner = json!({"$ref": format!("#/$defs/d{}", n - 1)});
        defs.insert(format!("d{n}"), object(json!({"a": inner, "b": inner}), &["a", "b"]));
    }
    let explosive = json!({"$ref": "#/$defs/d39", "$defs": defs});
    assert!(render(&explosive, &Dialect::GEMINI_OPENAPI).is_err());
    assert!(render(&explosive, &Dialect { limits: Limits::NONE, ..Dialect::OPENAI_STRICT }).is_ok());
    // Moved, not copied: copying would recurse.
    let deep = (0..5_000).fold(json!({"type": "string"}), |inner, _| {
        let mut list = json!({"type": "array"});
        list["items"] = inner;
        list
    });
    for dialect in crate::checker::ALL {
        assert!(render(&deep, dialect).is_err(), "{}", dialect.name);
    }
    // Taken apart by hand: dropping it in one go would recurse.
    let mut rest = deep;
    while let Some(inner) = rest.get_mut("items").map(Value::take) {
        rest = inner;
    }
}
