//! `docs/failures.md` keeps up with the tests, and with a list of failures where one is given.

use std::{collections::BTreeMap, env, fs, path::Path};

const DOCUMENT: &str = include_str!("../../docs/failures.md");
const SOURCES: [&str; 14] = [
    include_str!("breaker.rs"),
    include_str!("concurrency.rs"),
    include_str!("config.rs"),
    include_str!("empty.rs"),
    include_str!("fallback.rs"),
    include_str!("json.rs"),
    include_str!("refusal.rs"),
    include_str!("request.rs"),
    include_str!("retry.rs"),
    include_str!("schema.rs"),
    include_str!("streaming.rs"),
    include_str!("timeout.rs"),
    include_str!("transport.rs"),
    include_str!("usage.rs"),
];
const VERDICTS: [&str; 4] = ["holds", "differs", "in part", "needs"];

/// A row of the document's tables.
struct Row<'a> {
    test: Option<&'a str>,
    verdict: &'a str,
}

/// The rows by id: `| FB-02 | fb_02_… | holds |`.
fn rows() -> BTreeMap<&'static str, Row<'static>> {
    let mut rows = BTreeMap::new();
    for line in DOCUMENT.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, id, test, verdict, ..] = cells.as_slice() else { continue };
        if id.len() == 5 && id.as_bytes()[2] == b'-' {
            let test = Some(test.trim_matches('`')).filter(|test| !test.is_empty());
            assert!(rows.insert(*id, Row { test, verdict }).is_none(), "{id} has two rows");
        }
    }
    rows
}

fn is_a_test(name: &str) -> bool {
    SOURCES.iter().any(|source| source.contains(&format!("fn {name}(")))
}

#[test]
fn every_row_has_a_verdict_and_the_test_that_it_names() {
    let rows = rows();
    assert!(rows.len() > 100, "{}", rows.len());
    for (id, row) in &rows {
        let verdict = VERDICTS.iter().find(|verdict| row.verdict.starts_with(**verdict));
        assert!(verdict.is_some(), "{id}: {:?} is no verdict", row.verdict);
        match row.test {
            Some(test) => {
                let prefix = id.to_lowercase().replace('-', "_");
                assert!(test.starts_with(&prefix) && is_a_test(test), "{id}: there is no test {test}");
            }
            None => assert!(row.verdict.starts_with("needs"), "{id} has no test"),
        }
    }
}

#[test]
fn every_test_is_in_the_document() {
    let ids = rows();
    for source in SOURCES {
        for name in
            source.lines().filter_map(|line| line.trim().trim_start_matches("async ").strip_prefix("fn "))
        {
            let id: String = name.chars().take(5).collect::<String>().to_uppercase().replace('_', "-");
            let of_a_case =
                id.as_bytes().get(2) == Some(&b'-') && id[3..].bytes().all(|b| b.is_ascii_digit());
            assert!(!of_a_case || ids.contains_key(id.as_str()), "{name} is not in docs/failures.md");
        }
    }
}

/// `BACKSTOP_CASES` names a folder with a list of failures, one JSON object with an `id` on each line.
#[test]
fn every_failure_of_a_given_list_is_in_the_document() {
    let Ok(folder) = env::var("BACKSTOP_CASES") else {
        eprintln!(
            "SKIPPED: set BACKSTOP_CASES to a folder with failures.jsonl to hold docs/failures.md against it"
        );
        return;
    };
    let list = fs::read_to_string(Path::new(&folder).join("failures.jsonl")).unwrap();
    let rows = rows();
    let mut count = 0;
    for line in list.lines().filter(|line| !line.trim().is_empty()) {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        assert!(rows.contains_key(id), "{id} has no row in docs/failures.md");
        count += 1;
    }
    assert!(count > 0, "the list is empty");
}
