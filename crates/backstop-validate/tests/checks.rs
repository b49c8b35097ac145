//! Ready checks, on chains and on typed values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{sync::Arc, time::Duration};

use backstop_core::{
    Candidate, Chain, ChainErrorKind, Check, Disposition, FailureKind, FailurePolicy, Media, Message,
    ProviderExt, Rejection, Remedy, Request, Response, Role, Usage, check,
};
use backstop_mock::{MockProvider, Step};
use backstop_validate::{
    Against, ChainExt, CheckExt, Grounded, InputSeen, Judge, MinLength, PassFail, Refusal, Schema, Score,
    Typed, Untyped, Weighted,
};
use serde_json::{Value, json};

#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[schemars(crate = "backstop_validate::schemars")]
struct Invoice {
    vendor: String,
    total: f64,
    date: String,
    kind: Kind,
    note: Option<String>,
}

#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[schemars(crate = "backstop_validate::schemars")]
enum Kind {
    Goods,
    Services,
}

const MAIL: &str = "Hello, Müller & Söhne GmbH bill you EUR 1.234,50 for one anvil, due on 5 March 2024.";

fn invoice(vendor: &str, total: f64) -> String {
    json!({"vendor": vendor, "total": total, "date": "2024-03-05", "kind": "Goods", "note": null}).to_string()
}

async fn grade(score: &impl Score, input: impl Into<Request>, value: Value) -> Option<f64> {
    let (response, request) = (Response::new(value.to_string()), input.into());
    score.score(Candidate::new(&response, &request).with_value(&value)).await.unwrap().score
}

#[tokio::test(start_paused = true)]
async fn made_up_values_fail_over_and_grounded_ones_serve() {
    let first = MockProvider::new("first", [Step::text(invoice("ACME Corp", 99.0))]);
    let second = MockProvider::new("second", [Step::text(invoice("Müller & Söhne", 1234.5))]);
    let chain = Chain::builder().target(first.model("m")).target(second.model("m")).build().unwrap();
    let answer = chain.extractor::<Invoice>().input(MAIL).check(Grounded::new()).await.unwrap();
    assert_eq!(answer.value.vendor, "Müller & Söhne");
    let failed = &answer.report.attempts[0];
    assert_eq!((failed.failure(), failed.score), (Some(FailureKind::Rejected), Some(1.0 / 3.0)));
    let report = serde_json::to_string(&*answer.report).unwrap();
    assert!(report.contains("2 of 3 values do not occur") && !report.contains("ACME"), "{report}");
    assert_eq!(failed.check.as_deref(), Some("grounded"));
    assert!(report.contains("rejected (check `grounded`, score 0.33): "), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_policy_may_ask_again_and_then_the_model_learns_what_does_not_occur() {
    let steps = [Step::text(invoice("ACME Corp", 1234.5)), Step::text(invoice("Müller & Söhne", 1234.5))];
    let mock = MockProvider::new("mock", steps);
    let policy = FailurePolicy::default().on(FailureKind::Rejected, Disposition::Retry);
    let chain = Chain::builder().target(mock.clone().model("m")).policy(policy).build().unwrap();
    let answer =
        chain.extractor::<Invoice>().input(MAIL).check(Grounded::new().threshold(1.0)).await.unwrap();
    assert_eq!(answer.report.attempts[1].remedies, [Remedy::Feedback]);
    let sent = mock.seen()[1].last_text();
    assert!(
        sent.contains("`/vendor`: expected what the input says, as it stands there, found \"ACME Corp\""),
        "{sent}"
    );
}

#[tokio::test(start_paused = true)]
async fn on_a_chain_the_value_is_read_from_the_answer_and_changes_are_recorded_once() {
    let good = format!("```json\n{}\n```", invoice("Müller & Söhne", 1234.5));
    let first = MockProvider::new("first", [Step::text(invoice("ACME Corp", 99.0))]);
    let second = MockProvider::new("second", [Step::text(good)]);
    let chain = Chain::builder()
        .target(first.model("m"))
        .target(second.model("m"))
        .check(Grounded::new())
        .build()
        .unwrap();
    let answer = chain.extract::<Invoice>(MAIL).await.unwrap();
    assert_eq!(answer.report.served_by(), Some("second/m"));
    let fences = answer.repairs.iter().filter(|repair| repair.kind == "fence").count();
    assert_eq!(fences, 1, "{:?}", answer.repairs);
}

#[tokio::test]
async fn values_are_compared_as_they_are_meant() {
    for (value, expected) in [
        (json!({"a": "MÜLLER  &  SÖHNE gmbh"}), Some(1.0)),
        (json!({"a": 1234.5, "b": "1,234.50", "c": "1234.50 EUR", "d": -1234.5}), Some(1.0)),
        (json!({"a": "2024-03-05", "b": "05.03.2024", "c": "2024-03-05T00:00:00Z"}), Some(1.0)),
        (json!({"a": "2024-03-06", "b": 1234, "c": "anvi"}), Some(1.0 / 3.0)),
        (json!({"a": "Schmidt", "b": true, "c": null, "d": ""}), Some(0.0)),
        (json!({"b": false, "c": null}), None),
        (json!([]), None),
    ] {
        assert_eq!(grade(&Grounded::new(), MAIL, value.clone()).await, expected, "{value}");
    }
}

#[tokio::test]
async fn examples_do_not_count_as_input_but_a_conversation_may() {
    let request = Request::new("The anvil is from ACME.")
        .message(Message::assistant("Noted."))
        .message(Message::user("Which vendor?"));
    let value = json!({"vendor": "ACME"});
    assert_eq!(grade(&Grounded::new(), &request, value.clone()).await, Some(0.0));
    let all = Grounded::new().against(Against::Conversation);
    assert_eq!(grade(&all, &request, value.clone()).await, Some(1.0));
    let picture =
        Request::default().message(Message::new(Role::User, vec![Media::image("image/png", b"x").into()]));
    assert_eq!(grade(&Grounded::new(), &picture, value.clone()).await, None);
    let known = Grounded::new().against(Against::Text("acme inc.".into()));
    assert_eq!(grade(&known, &picture, value).await, Some(1.0));
}

#[tokio::test]
async fn labels_of_the_schema_and_ignored_places_are_not_judged() {
    let schema = json!({"properties": {"kind": {"enum": ["goods", "services"]}}});
    let request = Request::new("One anvil").json_schema("x", schema);
    let value = json!({"kind": "goods", "item": "anvil", "notes": [{"text": "made up"}]});
    assert_eq!(grade(&Grounded::new().ignore("/notes/*/text"), &request, value.clone()).await, Some(1.0));
    assert_eq!(grade(&Grounded::new(), &request, value).await, Some(0.5));
}

#[tokio::test]
async fn large_inputs_and_values_stay_bounded() {
    let input = "lorem ipsum 1,234,567,890,123 ".repeat(100_000);
    let value: Value = (0..5_000).map(|n| json!(format!("made up {n}"))).collect();
    let started = std::time::Instant::now();
    assert_eq!(grade(&Grounded::new(), input, value).await, Some(0.0));
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_input_of_which_the_server_saw_half_is_rejected() {
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(500);
    let seen = |tokens| Step::text("A fox.").usage(Usage::new(tokens, 5));
    let half = MockProvider::new("half", [seen(2_000)]);
    let whole = MockProvider::new("whole", [seen(5_100)]);
    let chain = Chain::builder()
        .target(half.model("m"))
        .target(whole.model("m"))
        .check(InputSeen::new())
        .build()
        .unwrap();
    let answer = chain.complete(text).await.unwrap();
    assert_eq!(answer.report.served_by(), Some("whole/m"));
    let score = answer.report.attempts[0].score.unwrap();
    assert!((score - 2_000.0 / 4_500.0).abs() < 0.01, "{score}");
}

#[tokio::test]
async fn without_the_vendors_own_count_nothing_is_judged() {
    let request = Request::new("word ".repeat(5_000));
    let judge = |usage: Option<Usage>, request: &Request| {
        let mut response = Response::new("x");
        response.usage = usage;
        let request = request.clone();
        async move { InputSeen::new().check(Candidate::new(&response, &request)).await }
    };
    assert!(judge(None, &request).await.is_ok());
    assert!(judge(Some(Usage::new(10, 1).as_estimate()), &request).await.is_ok());
    assert!(judge(Some(Usage::new(0, 1)), &request).await.is_ok());
    assert!(judge(Some(Usage::new(10, 1)), &request).await.is_err());
    assert!(
        judge(Some(Usage::new(10, 1)), &Request::new("word ".repeat(100))).await.is_ok(),
        "too small to tell"
    );
    let thai = Request::new("สวัสดีชาวโลก".repeat(500));
    assert!(judge(Some(Usage::new(100, 1)), &thai).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_threshold_out_of_its_range_costs_no_request() {
    let mock = MockProvider::new("mock", [Step::text(invoice("Müller & Söhne", 1234.5))]);
    let judge = Judge::new(chain_of(&mock), "It is complete.");
    let passed = || PassFail(verdict("yes", Ok(())));
    let wrong: [(&str, Arc<dyn Check>); 11] = [
        ("threshold", Arc::new(Grounded::new().threshold(80.0))),
        ("threshold", Arc::new(Grounded::new().threshold(-1.0))),
        ("threshold", Arc::new(Grounded::new().threshold(f64::NAN))),
        ("threshold", Arc::new(InputSeen::new().threshold(1.01))),
        ("threshold", Arc::new(judge.clone().threshold(7.0))),
        ("deadline", Arc::new(judge.clone().deadline(Duration::ZERO))),
        ("threshold", Arc::new(Weighted::new(75.0).add(1.0, Grounded::new()))),
        ("weight", Arc::new(Weighted::new(0.5).add(-1.0, Grounded::new()))),
        ("weight", Arc::new(Weighted::new(0.5).add(f64::NAN, passed()))),
        ("threshold", Arc::new(MinLength(1).and(Grounded::new().threshold(2.0)))),
        ("threshold", Arc::new(Weighted::new(0.5).add(1.0, PassFail(InputSeen::new().threshold(9.0))))),
    ];
    for (setting, check) in wrong {
        let built = Chain::builder().target(mock.clone().model("m")).check(Arc::clone(&check)).build();
        let error = built.unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{setting}` of the ")), "{error}");
        let chain = chain_of(&mock);
        let extraction = chain.extractor::<Invoice>().input(MAIL).check(Arc::clone(&check));
        let error = extraction.await.unwrap_err();
        assert_eq!(error.kind(), ChainErrorKind::Config);
        assert!(error.to_string().contains(setting), "{error}");
        let schema = Schema::new("x", json!({})).unwrap();
        let error = chain.call("x", Untyped::new(schema).check(check)).await.unwrap_err();
        assert_eq!(error.kind(), ChainErrorKind::Config);
    }
    assert_eq!(mock.calls(), 0);
    for edge in [0.0, 1.0] {
        let check = Weighted::new(edge).add(1.0, Grounded::new().threshold(edge));
        assert!(Chain::builder().target(mock.clone().model("m")).check(check).build().is_ok());
    }
}

#[tokio::test]
async fn a_threshold_that_is_no_number_passes_nothing() {
    let check = Weighted::new(f64::NAN).add(1.0, PassFail(verdict("yes", Ok(()))));
    assert!(passes(check).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn of_checks_in_one_the_one_that_rejects_is_named() {
    let mock = MockProvider::new("mock", [Step::text("no")]);
    let both = verdict("yes", Ok(())).and(verdict("brave", Err(0.5)));
    let chain = Chain::builder().target(mock.model("m")).check(both).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.report().attempts[0].check.as_deref(), Some("brave"));
}

#[tokio::test(start_paused = true)]
async fn an_extraction_from_nothing_costs_no_request() {
    let mock = MockProvider::new("mock", [Step::text(invoice("Müller & Söhne", 1234.5))]);
    let chain = chain_of(&mock);
    let example: Invoice = serde_json::from_str(&invoice("ACME", 1.0)).unwrap();
    let bare = || chain.extractor::<Invoice>().instructions("Read the invoice.");
    let shown = bare().example("ACME: 1 EUR", &example);
    for error in [
        chain.extractor::<Invoice>().await.unwrap_err(),
        bare().await.unwrap_err(),
        bare().stream().await.unwrap_err(),
        shown.await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ChainErrorKind::Config);
        assert!(error.to_string().contains("`.input(…)`"), "{error}");
    }
    assert_eq!(mock.calls(), 0);
    bare().request(MAIL).await.unwrap();
}

fn chain_of(mock: &MockProvider) -> Chain {
    Chain::builder().target(mock.clone().model("m")).build().unwrap()
}

fn verdict(name: &'static str, result: Result<(), f64>) -> impl Check {
    check::from_fn(name, move |_| result.map_err(|score| Rejection::new(name).with_score(score)))
}

async fn passes(check: impl Check) -> Result<(), Rejection> {
    let (response, request) = (Response::new("x"), Request::new("y"));
    check.check(Candidate::new(&response, &request)).await
}

#[tokio::test]
async fn checks_combine() {
    let (yes, no) = (|| verdict("yes", Ok(())), || verdict("no", Err(0.2)));
    assert!(passes(yes().and(yes())).await.is_ok());
    assert_eq!(passes(yes().and(no())).await.unwrap_err().reason(), "no");
    assert!(passes(no().or(yes())).await.is_ok());
    let neither = passes(no().or(verdict("nor", Err(0.4)))).await.unwrap_err();
    assert_eq!((neither.reason(), neither.score()), ("no; and nor", Some(0.4)));
    assert!(passes(no().inverted("must fail")).await.is_ok());
    assert_eq!(passes(yes().inverted("must fail")).await.unwrap_err().reason(), "must fail");
    assert_eq!(yes().and(no()).or(yes()).name(), "yes and no or yes");
}

#[test]
fn the_beginning_of_a_stream_is_judged_by_the_parts() {
    let declined = "I'm sorry, but I can't help with that request.";
    let refusal = || Refusal::default();
    assert!(MinLength(9).and(refusal()).check_head(declined).is_err());
    assert!(refusal().or(refusal()).check_head(declined).is_err());
    assert!(refusal().or(MinLength(9)).check_head(declined).is_ok(), "the whole answer may be long enough");
    assert!(std::sync::Arc::new(refusal()).check_head(declined).is_err());
    assert!(refusal().inverted("x").check_head(declined).is_ok());
}

#[tokio::test]
async fn the_second_of_an_alternative_is_asked_only_if_needed() {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counter = std::sync::Arc::clone(&asked);
    let second = check::from_fn("second", move |_| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    });
    assert!(passes(verdict("yes", Ok(())).or(second)).await.is_ok());
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[tokio::test]
async fn weighted_scores_add_up_and_skip_what_has_nothing_to_measure() {
    let half = Weighted::new(0.5)
        .add(1.0, PassFail(verdict("yes", Ok(()))))
        .add(1.0, PassFail(verdict("no", Err(0.0))));
    assert!(passes(half).await.is_ok());
    let less = Weighted::new(0.5)
        .add(1.0, PassFail(verdict("yes", Ok(()))))
        .add(3.0, PassFail(verdict("no", Err(0.0))));
    let rejection = passes(less).await.unwrap_err();
    assert_eq!(rejection.score(), Some(0.25));
    assert!(rejection.reason().contains("yes 1.00, no 0.00"), "{rejection}");
    let nothing = Weighted::new(1.0).add(5.0, InputSeen::new()).add(1.0, PassFail(MinLength(1)));
    assert!(passes(nothing).await.is_ok());
    assert!(passes(Weighted::new(1.0).add(0.0, PassFail(verdict("no", Err(0.0))))).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn repairs_and_coercions_of_the_accepted_answer_are_all_there() {
    let bad = r#"{"vendor": 'ACME',}"#;
    let good = "Sure:\n```json\n{\"vendor\": \"ACME\", \"total\": \"12.5\", \"date\": \"2024-03-05\", \"kind\": \"goods\",}\n```";
    let mock = MockProvider::new("mock", [Step::text(bad), Step::text(good)]);
    let chain = Chain::builder().target(mock.model("m")).build().unwrap();
    let answer = chain.call("…", Typed::<Invoice>::new().check(MinLength(1))).await.unwrap();
    let kinds = |changes: &[backstop_core::Change]| -> Vec<(String, String)> {
        changes.iter().map(|change| (change.kind.to_string(), change.pointer.clone())).collect()
    };
    let repairs = kinds(&answer.repairs);
    for kind in ["trailing_comma", "fence", "prose"] {
        assert!(repairs.iter().any(|(name, _)| name == kind), "{kind}: {repairs:?}");
    }
    assert!(!repairs.iter().any(|(name, _)| name.contains("quote")), "of the rejected answer: {repairs:?}");
    let coercions = kinds(&answer.coercions);
    assert_eq!(coercions.len(), 2, "{coercions:?}");
    for (kind, pointer) in [("string_to_number", "/total"), ("enum_spelling", "/kind")] {
        assert!(coercions.contains(&(kind.to_owned(), pointer.to_owned())), "{coercions:?}");
    }
}
