#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
//! `backstop refusal`, as a shell sees it.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn refusal(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backstop"));
    command.arg("refusal").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command line that is refused is refused before anything is read.
    child.stdin.take().unwrap().write_all(input).ok();
    child.wait_with_output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_refusal_is_printed_with_its_evidence_and_exits_with_1() {
    let text = "I'm sorry, but I can't help with that.";
    let output = refusal(&[], text.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let verdict = &lines(&output)[0];
    assert_eq!(verdict["refusal"], json!(true));
    assert_eq!(verdict["kind"], json!("refusal"));
    assert_eq!(verdict["language"], json!("en"));
    let span = &verdict["evidence"][0]["span"];
    let words = &text[span["start"].as_u64().unwrap() as usize..span["end"].as_u64().unwrap() as usize];
    assert_eq!(words, "I can't help");
}

#[test]
fn an_answer_exits_with_0() {
    let output = refusal(&[], b"The total is 42 euros.");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(lines(&output)[0]["refusal"], json!(false));
}

#[test]
fn presets_and_phrases_reach_the_detector() {
    let text = b"I can only help with questions about our products.";
    assert_eq!(refusal(&["--preset", "balanced"], text).status.code(), Some(1));
    assert_eq!(refusal(&["--preset", "strict"], text).status.code(), Some(0));
    assert_eq!(
        refusal(&["--allow", "I can only help with questions about our products"], text).status.code(),
        Some(0)
    );
    assert_eq!(refusal(&["--deny", "computer says no"], b"Computer says no.").status.code(), Some(1));
    assert_eq!(refusal(&["--preset", "lax"], text).status.code(), Some(2));
    let named = refusal(&["answer.txt"], text);
    assert!(String::from_utf8_lossy(&named.stderr).contains("backstop refusal < answer.txt"));
    assert_eq!(named.status.code(), Some(2));
}

#[test]
fn jsonl_answers_line_by_line_and_goes_on_after_a_bad_one() {
    let input = b"{\"id\": 1, \"text\": \"I must decline.\"}\nnot json\n\n{\"id\": \"b\"}\n\xff\xfe\n{\"id\": \"c\", \"text\": \"Done: 3 files.\"}";
    let output = refusal(&["--jsonl"], input);
    assert_eq!(output.status.code(), Some(1));
    let answers = lines(&output);
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(null), &json!("b"), &json!(null), &json!("c")]);
    assert_eq!((&answers[0]["refusal"], &answers[4]["refusal"]), (&json!(true), &json!(false)));
    assert_eq!(answers[4]["kind"], json!("comply"));
    assert!(answers[0]["points"].as_i64().unwrap() >= 40);
    for (answer, line) in [(1, 2), (2, 4), (3, 5)] {
        assert!(
            answers[answer]["line"] == line && answers[answer]["error"].is_string(),
            "{}",
            answers[answer]
        );
    }
    assert!(output.stderr.is_empty());
}

#[test]
fn jsonl_exits_with_0_whatever_the_verdicts() {
    let output = refusal(&["--jsonl"], b"{\"id\": 1, \"text\": \"I must decline.\"}\n");
    assert_eq!(output.status.code(), Some(0));
}
