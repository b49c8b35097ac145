#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // The figures are part of what these tests are for.
//! Refusal detection, seen from outside: how well it does on the project's own texts, and what must never change.

use backstop_validate::refusal::{Detector, Kind, Language, RefusalClassifier, Signals, Verdict};
use proptest::prelude::*;
use serde_json::Value;

struct Case {
    lang: String,
    label: String,
    text: String,
}

fn cases() -> Vec<Case> {
    let field = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
    include_str!("fixtures/refusal.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|v| Case { lang: field(&v, "lang"), label: field(&v, "label"), text: field(&v, "text") })
        .collect()
}

/// Counts of one group of texts.
#[derive(Debug, Default)]
struct Tally {
    refusals: usize,
    found: usize,
    others: usize,
    false_alarms: usize,
}

impl Tally {
    fn of<'c>(detector: &Detector, cases: impl Iterator<Item = &'c Case>) -> Self {
        let mut tally = Self::default();
        for case in cases {
            let flagged = detector.detect(&case.text).refusal;
            tally.add(case.label == "refusal", flagged);
            if flagged != (case.label == "refusal") {
                println!("{} {}: {:?} {:?}", case.lang, case.label, case.text, detector.detect(&case.text));
            }
        }
        tally
    }

    fn add(&mut self, is_refusal: bool, flagged: bool) {
        if is_refusal {
            self.refusals += 1;
            self.found += usize::from(flagged);
        } else {
            self.others += 1;
            self.false_alarms += usize::from(flagged);
        }
    }

    fn recall(&self) -> f64 {
        self.found as f64 / self.refusals as f64
    }

    fn false_alarm_rate(&self) -> f64 {
        self.false_alarms as f64 / self.others as f64
    }

    fn report(&self, name: &str) {
        println!(
            "{name}: {} of {} refusals found, {} false alarms in {} other texts",
            self.found, self.refusals, self.false_alarms, self.others
        );
    }
}

#[test]
fn balanced_finds_the_fixtures_refusals_in_english_and_in_other_languages() {
    let cases = cases();
    assert!(cases.len() >= 200);
    let english = Tally::of(&Detector::balanced(), cases.iter().filter(|case| case.lang == "en"));
    let others = Tally::of(&Detector::balanced(), cases.iter().filter(|case| case.lang != "en"));
    english.report("English");
    others.report("other languages");
    for tally in [english, others] {
        assert!(tally.recall() >= 0.95, "{tally:?}");
        assert!(tally.false_alarm_rate() <= 0.02, "{tally:?}");
    }
}

#[test]
fn presets_trade_recall_for_false_alarms() {
    let cases = cases();
    let [strict, balanced, sensitive] = [Detector::strict(), Detector::balanced(), Detector::sensitive()]
        .map(|d| Tally::of(&d, cases.iter()));
    strict.report("strict");
    balanced.report("balanced");
    sensitive.report("sensitive");
    assert!(strict.found <= balanced.found && balanced.found <= sensitive.found);
    assert!(strict.false_alarms <= balanced.false_alarms && balanced.false_alarms <= sensitive.false_alarms);
    assert!(strict.recall() >= 0.8 && strict.false_alarm_rate() <= 0.02, "{strict:?}");
    assert!(sensitive.false_alarm_rate() <= 0.05, "{sensitive:?}");
}

#[test]
fn partial_answers_and_requests_for_input_are_kinds_of_their_own() {
    for case in cases() {
        let verdict = Detector::balanced().detect(&case.text);
        match case.label.as_str() {
            "partial" => assert_eq!(verdict.kind, Kind::Partial, "{} {verdict:?}", case.text),
            "needs_input" => assert_eq!(verdict.kind, Kind::NeedsInput, "{} {verdict:?}", case.text),
            // Nothing can be done about missing input but give up, so it must not be seen where it is not.
            _ => assert_ne!(verdict.kind, Kind::NeedsInput, "{} {verdict:?}", case.text),
        }
    }
}

#[test]
fn the_language_of_a_refusal_is_reported() {
    for case in cases().iter().filter(|case| case.label == "refusal") {
        let verdict = Detector::balanced().detect(&case.text);
        if let Some(language) = verdict.language {
            assert_eq!(language.code(), case.lang, "{}", case.text);
        }
    }
}

#[test]
fn a_partial_answer_counts_as_a_refusal_only_on_request() {
    let text = "I can't list the salaries, but here is the rest: Ada, engineer; Bo, designer.";
    assert!(!Detector::balanced().detect(text).refusal);
    let verdict = Detector::balanced().partial_is_refusal(true).detect(text);
    assert!(verdict.refusal);
    assert_eq!(verdict.kind, Kind::Partial);
}

#[test]
fn vendor_signals_decide_before_any_text() {
    let detector = Detector::strict().allow("All good");
    let refused = detector.detect_with(Signals::new().vendor_refusal(true), "All good, here is the table.");
    assert!(refused.refusal && refused.is_certain());
    assert_eq!(refused.kind, Kind::Refusal);
    let filtered = detector.detect_with(Signals::new().filtered(true), "");
    assert!(filtered.refusal);
    assert_eq!(filtered.kind, Kind::Filtered);
}

#[test]
fn prose_in_place_of_json_is_more_suspicious() {
    let text = "Unfortunately, the contract of 2019 names three parties.";
    let detector = Detector::balanced();
    let prose = detector.detect(text).points;
    assert_eq!(detector.detect_with(Signals::new().json_expected(true), text).points, prose + 25);
    let answer = "The contract of 2019 names three parties.";
    assert_eq!(detector.detect_with(Signals::new().json_expected(true), answer).points, 0);
}

#[test]
fn an_empty_answer_is_no_refusal() {
    for text in ["", " \n\t", "{}", "[]", "\u{200b}", "\"\"", "<think>hm"] {
        assert_eq!(Detector::sensitive().detect(text).points, 0, "{text:?}");
    }
}

#[test]
fn evidence_points_at_the_words_in_the_original() {
    let text = "Hm…  **I can’t** help with that.";
    let verdict = Detector::balanced().detect(text);
    let decline = verdict.evidence.iter().find(|e| e.rule == "en/first-person-inability").unwrap();
    assert_eq!(&text[decline.span.clone()], "I can’t** help");
    let json = r#"{"error": "I can't help with that."}"#;
    let verdict = Detector::balanced().detect(json);
    assert_eq!(&json[verdict.evidence[0].span.clone()], "I can't help");
    let escaped = r#"{"error": "I can\u2019t help with that."}"#;
    let verdict = Detector::balanced().detect(escaped);
    assert_eq!(&escaped[verdict.evidence[0].span.clone()], r"I can\u2019t help with that.");
}

#[test]
fn an_allowed_phrase_counts_for_nothing_and_the_rest_is_judged() {
    let detector = Detector::balanced().allow("I can't give tax advice");
    assert!(!detector.detect("I can’t give  tax advice, but the form is due in May.").refusal);
    assert!(detector.detect("I can't give tax advice. I won't answer this question either.").refusal);
    assert!(!detector.clone().allow("").detect("The form is due in May.").refusal);
}

#[test]
fn a_denied_phrase_decides_whatever_the_form() {
    let detector = Detector::strict().deny("please call our front desk");
    let verdict = detector.detect("Dear Ana,\n\nPlease CALL our front desk.");
    assert!(verdict.refusal, "{verdict:?}");
    assert!(!detector.detect("The front desk is on the left.").refusal);
    assert!(!Detector::balanced().deny("").detect("The front desk is on the left.").refusal);
}

#[test]
fn languages_can_be_limited() {
    let german = "Dabei kann ich Ihnen leider nicht helfen.";
    assert!(Detector::balanced().languages([Language::German]).detect(german).refusal);
    assert!(!Detector::balanced().languages([Language::English]).detect(german).refusal);
}

struct Second(i32);

impl RefusalClassifier for Second {
    fn name(&self) -> &'static str {
        "second opinion"
    }
    fn points(&self, _text: &str, _so_far: &Verdict) -> i32 {
        self.0
    }
}

#[test]
fn a_classifier_tips_the_scales_both_ways_and_shows_in_the_evidence() {
    let more = Detector::balanced().classifier(Second(50)).detect("The total is 42.");
    assert!(more.refusal);
    assert_eq!(more.evidence.last().unwrap().rule, "second opinion");
    let less = Detector::balanced().classifier(Second(-90)).detect("I can't help with that.");
    assert!(!less.refusal);
    assert!(!Detector::balanced().classifier(Second(0)).detect("The total is 42.").refusal);
    assert!(!Detector::balanced().classifier(Second(i32::MIN)).detect("I can't help with that.").refusal);
}

#[test]
fn a_refusal_deep_in_the_text_is_not_looked_for() {
    let text = format!("{} I cannot help with that.", "The survey covers nine towns. ".repeat(40));
    assert!(!Detector::sensitive().detect(&text).refusal);
}

/// The threshold that the corpus outside the project is held to: F1 and the false alarms on hard negatives.
#[test]
fn balanced_holds_on_the_corpus_outside_the_project() {
    let Some(folder) = std::env::var_os("BACKSTOP_CASES") else {
        eprintln!(
            "SKIPPED: set BACKSTOP_CASES to the folder with the corpora to measure refusal detection on them"
        );
        return;
    };
    let file = std::path::Path::new(&folder).join("refusal/dev.jsonl");
    let detector = Detector::balanced();
    let (mut all, mut hard) = (Tally::default(), Tally::default());
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let flagged = detector.detect(case["text"].as_str().unwrap()).refusal;
        match case["label"].as_str().unwrap() {
            "refusal" => all.add(true, flagged),
            "comply" => {
                all.add(false, flagged);
                if case["hard"].as_bool().unwrap() {
                    hard.add(false, flagged);
                }
            }
            _ => {}
        }
    }
    all.report("corpus");
    hard.report("corpus, hard negatives");
    let f1 = 2.0 * all.found as f64 / (all.found + all.refusals + all.false_alarms) as f64;
    assert!(f1 >= 0.945, "F1 {f1:.3}");
    assert!(hard.false_alarm_rate() <= 0.035, "{hard:?}");
}

/// Texts with a verdict worth keeping, for the properties below.
fn any_case() -> impl Strategy<Value = String> {
    let texts: Vec<String> = cases().into_iter().map(|case| case.text).collect();
    proptest::sample::select(texts)
}

proptest! {
    #[test]
    fn any_text_gets_a_verdict_that_adds_up(text in any::<String>(), signals in any::<[bool; 2]>()) {
        let signals = Signals::new().truncated(signals[0]).json_expected(signals[1]);
        let verdict = Detector::balanced().detect_with(signals, &text);
        check(&text, &verdict)?;
    }

    #[test]
    fn a_cut_text_gets_a_verdict_that_adds_up(text in any_case(), keep in 0.0..1.0f64) {
        let cut: String = text.chars().take((text.chars().count() as f64 * keep) as usize).collect();
        check(&cut, &Detector::balanced().detect(&cut))?;
    }

    #[test]
    fn spacing_markup_and_apostrophes_do_not_change_the_points(text in any_case()) {
        prop_assume!(!text.contains(['{', '[', '`', '|', '>', '<', '\n', '*', '-']));
        let detector = Detector::balanced();
        let points = detector.detect(&text).points;
        for variant in [
            text.replace('\'', "\u{2019}"),
            text.replace(' ', "  "),
            text.replace(' ', "\u{a0}"),
            format!("  {text}\n"),
            format!("**{text}**"),
            format!("<think>I cannot help with this.</think>{text}"),
        ] {
            prop_assert_eq!(detector.detect(&variant).points, points, "{}", variant);
        }
    }

    #[test]
    fn a_quoted_refusal_in_a_good_answer_flips_nothing(at in 0usize..3, quote in 0usize..4) {
        let refusal = ["I'm sorry, but I can't help with that", "I must decline", "Ich kann dabei nicht helfen", "Je refuse"][quote];
        let mut parts = vec!["The log has three lines.".to_owned(), "Two are warnings.".into(), "One is a note.".into()];
        parts.insert(at + 1, format!("It reads \u{201c}{refusal}\u{201d} at the top."));
        let text = parts.join(" ");
        prop_assert!(!Detector::balanced().detect(&text).refusal, "{}", text);
    }
}

fn check(text: &str, verdict: &Verdict) -> Result<(), TestCaseError> {
    prop_assert_eq!(verdict.points, verdict.evidence.iter().map(|e| e.points).sum::<i32>());
    for evidence in &verdict.evidence {
        prop_assert!(text.get(evidence.span.clone()).is_some(), "{:?}", evidence);
    }
    Ok(())
}
