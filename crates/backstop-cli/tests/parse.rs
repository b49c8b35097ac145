#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
//! `backstop parse`, as a shell sees it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn parse(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backstop"));
    command.arg("parse").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that fails early may not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn a_text_gives_its_value_and_what_was_repaired() {
    let output = parse(&[], b"Here:\n```json\n{\"a\": 1,}\n```");
    assert_eq!(output.status.code(), Some(0));
    let answer = &lines(&output)[0];
    assert_eq!(answer["value"], json!({"a": 1}));
    let comma = json!({"kind": "trailing_comma", "risk": "cosmetic", "offset": 21, "pointer": ""});
    assert!(answer["repairs"].as_array().unwrap().contains(&comma), "{answer}");
}

#[test]
fn a_text_without_an_answer_exits_with_1_and_says_why() {
    let output = parse(&[], b"{\"a\": \"cut of");
    assert_eq!(output.status.code(), Some(1));
    let answer = &lines(&output)[0];
    assert_eq!((&answer["kind"], &answer["truncated"]["pointer"]), (&json!("truncated"), &json!("/a")));
    let salvaged = parse(&["--policy", "salvage"], b"{\"a\": \"cut of");
    assert_eq!(lines(&salvaged)[0]["value"], json!({"a": "cut of"}));
    assert_eq!(parse(&["--policy", "strict"], b"{a: 1}").status.code(), Some(1));
}

#[test]
fn a_schema_converts_and_refuses() {
    let schema =
        file("age.json", "{\"type\": \"object\", \"properties\": {\"age\": {\"type\": \"integer\"}}}");
    let schema = schema.to_str().unwrap();
    let answer = &lines(&parse(&["--schema", schema], b"{\"age\": \"30\"}"))[0];
    assert_eq!(answer["value"], json!({"age": 30}));
    assert_eq!(answer["coercions"], json!([{"kind": "string_to_number", "pointer": "/age"}]));
    let output = parse(&["--schema", schema, "--coerce", "off"], b"{\"age\": \"30\"}");
    assert_eq!(output.status.code(), Some(1));
    let answer = &lines(&output)[0];
    assert_eq!((&answer["kind"], &answer["would_be"]), (&json!("schema_mismatch"), &json!({"age": "30"})));
    assert!(answer["mismatches"][0].as_str().unwrap().starts_with("`/age`: expected "), "{answer}");
}

#[test]
fn a_value_that_follows_the_schema_loses_nothing() {
    let with_id = r#"{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}"#;
    let closed = r#"{"type": "object", "properties": {"note": {}}, "additionalProperties": false}"#;
    let schema = file("either.json", &format!(r#"{{"anyOf": [{with_id}, {closed}]}}"#));
    let answer = &lines(&parse(&["--schema", schema.to_str().unwrap()], b"{\"id\": 1e20}"))[0];
    assert_eq!((&answer["value"], &answer["coercions"]), (&json!({"id": 1e20}), &json!([])));
}

#[test]
fn jsonl_answers_line_by_line_and_goes_on_after_a_bad_one() {
    let input = b"{\"id\": 1, \"input\": \"[1,]\"}\nnot json\n\n\xff\n{\"id\": 2, \"input\": \"[1]\", \"schema\": {\"type\": 5}}\n\
        {\"id\": 3, \"input\": \"\\\"5\\\"\", \"schema\": {\"type\": \"integer\"}}\n{\"id\": 4, \"input\": \"no\", \"schema\": null}\n";
    let output = parse(&["--jsonl"], input);
    assert_eq!(output.status.code(), Some(1));
    let answers = lines(&output);
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(null), &json!(null), &json!(2), &json!(3), &json!(4)]);
    assert_eq!((&answers[0]["value"], &answers[4]["value"]), (&json!([1]), &json!(5)));
    assert_eq!(answers[5]["kind"], json!("not_json"));
    for (answer, line, why) in [(1, 2, "expected {\"id\""), (2, 4, "expected {\"id\""), (3, 5, "bad schema")]
    {
        let answer = &answers[answer];
        assert_eq!(answer["line"], json!(line), "{answer}");
        assert!(answer["error"].as_str().unwrap().starts_with(why), "{answer}");
    }
    assert_eq!(complaint(&output), "");
    assert_eq!(parse(&["--jsonl"], b"{\"id\": 1, \"input\": \"none\"}\n").status.code(), Some(0));
}

#[test]
fn the_help_says_where_the_text_comes_from_and_what_the_exit_codes_mean() {
    for arg in ["--help", "-h"] {
        let help = parse(&[arg], b"");
        let text = String::from_utf8_lossy(&help.stdout).into_owned();
        assert_eq!(help.status.code(), Some(0));
        for part in ["standard input", "Exit codes: 0 a value was found", "--jsonl"] {
            assert!(text.contains(part), "{arg}: {text}");
        }
        assert!(!text.contains("[FILES]"), "{text}");
    }
}

#[test]
fn wrong_usage_exits_with_2_and_names_the_cause() {
    let missing = parse(&["--schema", "no/such/file.json"], b"1");
    assert_eq!(missing.status.code(), Some(2));
    assert!(complaint(&missing).contains("no/such/file.json"));
    let no_json = file("broken.json", "{");
    let broken = parse(&["--schema", no_json.to_str().unwrap()], b"1");
    assert_eq!(broken.status.code(), Some(2));
    assert!(complaint(&broken).contains("is not JSON"));
    let no_schema = file("invalid.json", "{\"type\": 5}");
    let invalid = parse(&["--schema", no_schema.to_str().unwrap()], b"1");
    assert_eq!(invalid.status.code(), Some(2));
    assert!(complaint(&invalid).contains("invalid.json: `schema` is no usable JSON Schema"));
    assert_eq!(parse(&["--policy", "bold"], b"1").status.code(), Some(2));
    let named = parse(&["a.txt"], b"1");
    assert_eq!(named.status.code(), Some(2));
    assert!(complaint(&named).contains("backstop parse < a.txt"), "{}", complaint(&named));
    assert_eq!(parse(&[], b"\xff").status.code(), Some(2));
}

#[test]
fn a_schema_that_costs_too_much_is_one_bad_line() {
    let twice = |below: usize| json!({"allOf": [{"$ref": format!("#/$defs/{below}")}, {"$ref": format!("#/$defs/{below}")}]});
    let mut defs: serde_json::Map<_, _> = (1..30).map(|n| (n.to_string(), twice(n - 1))).collect();
    defs.insert("0".into(), json!({}));
    let explodes = json!({"id": 1, "input": "{}", "schema": {"$defs": defs, "$ref": "#/$defs/29"}});
    let backtracks =
        json!({"id": 2, "input": format!("\"{}!\"", "a".repeat(40)), "schema": {"pattern": "^(?=a)(a+)+$"}});
    let output = parse(&["--jsonl"], format!("{explodes}\n{backtracks}\n").as_bytes());
    let answers = lines(&output);
    assert!(answers[0]["error"].as_str().unwrap().starts_with("bad schema"), "{}", answers[0]);
    assert_eq!((&answers[1]["id"], &answers[1]["kind"]), (&json!(2), &json!("schema_mismatch")));
}

#[test]
fn a_mark_at_the_beginning_of_a_file_is_no_part_of_it() {
    let schema = file("marked.json", "\u{feff}{\"type\": \"array\"}");
    let input =
        "\u{feff}{\"id\": 1, \"input\": \"[1]\"}\r\n\r\n{\"id\": 2, \"input\": \"[2]\", \"note\": 0}\r\n";
    let output = parse(&["--jsonl", "--schema", schema.to_str().unwrap()], input.as_bytes());
    assert_eq!((output.status.code(), complaint(&output)), (Some(0), String::new()));
    assert_eq!(lines(&output).len(), 2);
}

#[cfg(unix)]
#[test]
fn whoever_has_read_enough_ends_the_command_quietly() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backstop"));
    command.args(["parse", "--jsonl"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    // More than a pipe and a buffer hold.
    for _ in 0..50_000 {
        if input.write_all(b"{\"id\": 1, \"input\": \"[1]\"}\n").is_err() {
            break;
        }
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), complaint(&output)), (Some(0), String::new()));
}
