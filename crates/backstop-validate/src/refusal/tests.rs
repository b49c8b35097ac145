//! Tests of the rules themselves: that they compile, and that none of them quotes the texts they are measured on.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::head::fold_phrase;
use super::languages::PACKS;
use super::pattern::Pattern;
use super::rule::Signal;

fn every_pattern() -> Vec<(&'static str, &'static Pattern)> {
    let mut patterns: Vec<_> = PACKS
        .iter()
        .flat_map(|pack| {
            let rules = pack.rules().map(|rule| (rule.name, &rule.pattern));
            rules.chain([(pack.language.code(), &pack.cue)])
        })
        .collect();
    patterns.extend(super::shape::patterns().map(|pattern| ("form", pattern)));
    patterns
}

#[test]
fn every_built_in_pattern_compiles() {
    for (name, pattern) in every_pattern() {
        assert_eq!(pattern.error(), None, "{name}");
        assert!(!pattern.expanded().contains('<'), "{name}: a word list is missing");
    }
}

/// The boundary is the ASCII one, so that beside another letter it would mean the opposite.
#[test]
fn word_boundaries_stand_beside_ascii_letters_only() {
    for (name, pattern) in every_pattern() {
        let expanded = pattern.expanded();
        for (at, boundary) in expanded.match_indices(r"(?-u:\b)") {
            let before = expanded[..at].chars().next_back();
            let after = expanded[at + boundary.len()..].chars().next();
            let ascii = |char: Option<char>| char.is_none_or(|char| char.is_ascii());
            assert!(ascii(before) && ascii(after), "{name}: {before:?} \\b {after:?}");
        }
    }
}

#[test]
fn rule_names_are_unique_and_carry_their_language() {
    let mut seen = HashSet::new();
    for pack in PACKS {
        for rule in pack.rules() {
            assert!(rule.name.starts_with(&format!("{}/", pack.language.code())), "{}", rule.name);
            assert!(seen.insert(rule.name), "{} occurs twice", rule.name);
        }
    }
}

/// Rules must know kinds of refusals, not the texts of a corpus.
#[test]
fn no_rule_quotes_five_words_of_the_corpus() {
    let Some(files) = corpus() else {
        eprintln!("SKIPPED: set BACKSTOP_CASES to the folder with the corpora to check rules for quotations");
        return;
    };
    let texts: Vec<String> = files.iter().flat_map(|file| texts(file)).collect();
    assert!(!texts.is_empty(), "no texts in {files:?}");
    let shingles: HashSet<String> = texts.iter().flat_map(|text| shingles(&fold_phrase(text))).collect();
    let mut quoted = Vec::new();
    for (name, pattern) in every_pattern() {
        for run in literal_runs(&pattern.expanded()) {
            quoted
                .extend(self::shingles(&run).into_iter().filter(|s| shingles.contains(s)).map(|s| (name, s)));
        }
    }
    assert!(quoted.is_empty(), "rules quote the corpus: {quoted:#?}");
}

fn corpus() -> Option<Vec<PathBuf>> {
    let folder = PathBuf::from(std::env::var_os("BACKSTOP_CASES")?).join("refusal");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    Some(
        files
            .map(|file| file.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
            .collect(),
    )
}

fn texts(file: &Path) -> Vec<String> {
    let lines = std::fs::read_to_string(file).unwrap();
    let text = |line: &str| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().map(str::to_owned)
    };
    lines.lines().filter_map(text).collect()
}

/// What a pattern spells out: the stretches between its operators. Optional letters (`colou?r`) end a stretch.
fn literal_runs(pattern: &str) -> Vec<String> {
    pattern
        .split(|c: char| !(c.is_alphanumeric() || c == ' ' || c == '\'' || c == ','))
        .map(|run| run.trim().to_owned())
        .filter(|run| !run.is_empty())
        .collect()
}

/// Five words in a row; in scripts without spaces, fifteen characters.
fn shingles(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split([' ', ',', '.', '!', '?', ';', ':', '"']).filter(|w| !w.is_empty()).collect();
    let mut found: Vec<String> = words.windows(5).map(|five| five.join(" ")).collect();
    let chars: Vec<char> = text.chars().collect();
    let wide = |c: &char| *c >= '\u{3000}';
    found.extend(chars.windows(15).filter(|w| w.iter().all(wide)).map(|w| w.iter().collect::<String>()));
    found
}

/// The cheap way out must not be one for texts that a rule would have caught.
#[test]
fn the_cheap_way_out_misses_nothing_in_the_fixtures() {
    let fixtures = include_str!("../../tests/fixtures/refusal.jsonl");
    for line in fixtures.lines() {
        let text =
            serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned();
        let folded = fold_phrase(&text);
        for pack in PACKS.iter().filter(|pack| !pack.cue.is_match(&folded)) {
            let strong = pack.rules().filter(|rule| !matches!(rule.signal, Signal::Support | Signal::Benign));
            for rule in strong.filter(|rule| !rule.name.ends_with("/lecture")) {
                assert!(!rule.pattern.is_match(&folded), "{} has no cue in {text:?}", rule.name);
            }
        }
    }
}

#[test]
fn a_prepared_detector_has_nothing_left_to_compile() {
    let detector = super::Detector::balanced().prepared();
    assert_eq!(super::weigh::prepare(None), 0);
    for (name, pattern) in every_pattern() {
        assert!(pattern.is_prepared(), "{name}");
    }
    assert!(detector.detect("I can't help with that.").refusal);
}

/// Later rules must not see the words of an ordinary inability.
#[test]
fn benign_rules_come_before_all_others() {
    for pack in PACKS {
        let benign = pack.rules().take_while(|rule| rule.signal == Signal::Benign).count();
        let all = pack.rules().filter(|rule| rule.signal == Signal::Benign).count();
        assert_eq!(benign, all, "{:?}", pack.language);
    }
}
