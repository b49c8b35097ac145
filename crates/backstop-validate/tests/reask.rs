//! What is asked again, with which words, and at whose expense.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_core::{
    Capabilities, Chain, FailureKind, Media, ProviderExt, Reask, Remedy, Request, Target, Usage,
};
use backstop_mock::{MockProvider, Step};
use backstop_validate::ChainExt;
use serde_json::json;

#[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[schemars(crate = "backstop_validate::schemars")]
struct Person {
    name: String,
    age: u32,
}

const GOOD: &str = r#"{"name": "Grace", "age": 79}"#;
const BAD: &str = r#"{"name": "Grace", "age": "seventy-nine"}"#;
const CUT: &str = r#"{"name": "Grace", "age": 7"#;

fn mock(answers: &[&str]) -> MockProvider {
    MockProvider::new("mock", answers.iter().map(|answer| Step::text(*answer).usage(Usage::new(100, 40))))
}

fn chain(mock: &MockProvider) -> Chain {
    build(mock.clone().model("m"))
}

fn build(target: Target) -> Chain {
    Chain::builder().target(target).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn errors_go_back_without_the_schema_and_tokens_add_up() {
    let mock = mock(&[BAD, GOOD]);
    let answer = chain(&mock).extract::<Person>("Grace, 79").await.unwrap();
    assert_eq!(answer.value.age, 79);
    let seen = &mock.seen()[1];
    let texts: Vec<String> = seen.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!((texts[0].as_str(), texts[1].as_str()), ("Grace, 79", BAD));
    assert!(texts[2].contains("- `/age`: expected integer, found \"seventy-nine\""), "{}", texts[2]);
    assert!(!texts[2].contains("properties") && texts[2].len() < 300, "{}", texts[2]);
    assert_eq!(answer.report.usage, Usage::new(200, 80));
    assert!(answer.repairs.is_empty() && answer.coercions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn words_are_the_calls_else_the_chains() {
    let of_chain = Reask::new("Chain: {errors}").unwrap();
    let of_call = Reask::new("Call: {errors}").unwrap().without_answer();
    for (call, words, messages) in [(None, "Chain: - `/age`", 3), (Some(of_call), "Call: - `/age`", 2)] {
        let mock = mock(&[BAD, GOOD]);
        let chain = Chain::builder().target(mock.clone().model("m")).reask(of_chain.clone()).build().unwrap();
        let extraction = chain.extractor::<Person>().input("Grace, 79");
        match call.clone() {
            Some(reask) => extraction.reask(reask).await.unwrap(),
            None => extraction.await.unwrap(),
        };
        assert!(mock.seen()[1].last_text().starts_with(words), "{}", mock.seen()[1].last_text());
        assert_eq!(mock.seen()[1].messages.len(), messages);
        if let Some(reask) = call {
            mock.push(Step::text(BAD));
            mock.push(Step::text(GOOD));
            chain.extract::<Person>("Grace, 79").reask(reask).await.unwrap();
            assert!(mock.seen()[3].last_text().starts_with(words));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn re_asks_and_retries_have_budgets_of_their_own() {
    let steps = [Step::fail(FailureKind::Server), Step::text(BAD), Step::text(BAD), Step::text(GOOD)];
    let mock = MockProvider::new("mock", steps);
    let answer = build(mock.clone().model("m").retries(1).reasks(2)).extract::<Person>("…").await.unwrap();
    assert_eq!((answer.value.age, mock.calls()), (79, 4));

    let mock = MockProvider::new("mock", [Step::text(BAD)]);
    assert!(build(mock.clone().model("m").retries(9).reasks(0)).extract::<Person>("…").await.is_err());
    assert_eq!(mock.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_asked_for_with_a_larger_limit_also_when_the_vendor_says_stop() {
    for cut in [Step::truncated(CUT), Step::text(CUT), Step::text("```json\n{\"name\": \"Gra")] {
        let mock = MockProvider::new("mock", [cut, Step::text(GOOD)]);
        let request = Request::new("…").max_tokens(50);
        let answer = chain(&mock).extract::<Person>(request).await.unwrap();
        assert_eq!(answer.report.attempts[0].failure(), Some(FailureKind::Truncated));
        assert_eq!(answer.report.attempts[1].remedies, [Remedy::MoreTokens]);
        let limits: Vec<_> = mock.seen().iter().map(|seen| seen.max_tokens).collect();
        assert_eq!(limits, [Some(50), Some(100)]);
        assert_eq!(mock.seen()[1].messages.len(), 1, "no errors are sent: the same request, more room");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_never_asked_for_with_the_same_limit() {
    let mock = MockProvider::new("mock", [Step::text(CUT)]);
    let full = Capabilities::unknown().with_max_output_tokens(50);
    let chain = build(mock.clone().capable(full).model("m").retries(5));
    let error = chain.extract::<Person>(Request::new("…").max_tokens(50)).await.unwrap_err();
    assert_eq!(mock.calls(), 1);
    assert_eq!(error.report().failures().map(|(_, kind)| kind).collect::<Vec<_>>(), [FailureKind::Truncated]);

    let mock = MockProvider::new("mock", [Step::text(CUT)]);
    let room = Capabilities::unknown().with_max_output_tokens(70);
    let chain = build(mock.clone().capable(room).model("m").retries(5));
    chain.extract::<Person>(Request::new("…").max_tokens(50)).await.unwrap_err();
    let limits: Vec<_> = mock.seen().iter().map(|seen| seen.max_tokens).collect();
    assert_eq!(limits, [Some(50), Some(70)]);
}

#[tokio::test(start_paused = true)]
async fn a_schema_given_back_is_no_answer() {
    let mock = MockProvider::answering("mock", |seen| match (&seen.request.output, seen.number) {
        (backstop_core::Output::Schema(wanted), 1) => backstop_core::Response::new(wanted.schema.to_string()),
        _ => backstop_core::Response::new(GOOD),
    });
    let answer = chain(&mock).extract::<Person>("…").await.unwrap();
    assert_eq!(answer.value.age, 79);
    assert!(answer.report.to_string().contains("schema"), "{}", answer.report);
    assert!(mock.seen()[1].last_text().contains("It repeats the schema."));
}

fn ada() -> Person {
    Person { name: "Ada".into(), age: 36 }
}

#[tokio::test(start_paused = true)]
async fn an_example_given_back_is_no_answer() {
    let mock = mock(&[r#"{"age": 36, "name": "Ada"}"#, GOOD]);
    let extraction =
        chain(&mock).extractor::<Person>().example("Ada Lovelace, 36", &ada()).input("Grace, 79 years");
    let answer = extraction.await.unwrap();
    assert_eq!(answer.value.name, "Grace");
    let line = serde_json::to_string(&answer.report.attempts[0]).unwrap();
    assert!(line.contains("repeats an example"), "{line}");
    assert!(mock.seen()[1].last_text().contains("It repeats the answer of an example."));
}

#[tokio::test(start_paused = true)]
async fn an_answer_beside_the_example_is_taken() {
    let mock = mock(&[&format!("As in {{\"name\": \"Ada\", \"age\": 36}}, the answer is {GOOD}.")]);
    let extraction =
        chain(&mock).extractor::<Person>().example("Ada Lovelace, 36", &ada()).input("Grace, 79 years");
    let answer = extraction.await.unwrap();
    assert_eq!((answer.value.name.as_str(), mock.calls()), ("Grace", 1));
}

#[tokio::test(start_paused = true)]
async fn an_examples_answer_may_be_right_again() {
    let mock = mock(&[r#"{"name": "Ada", "age": 36}"#]);
    let again =
        chain(&mock).extractor::<Person>().example("Ada Lovelace, 36", &ada()).input("I am Ada, aged 36.");
    assert_eq!(again.await.unwrap().value, ada());

    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[schemars(crate = "backstop_validate::schemars")]
    enum Mood {
        Good,
        Bad,
    }
    let mock = self::mock(&[r#"{"value": "Good"}"#]);
    let label = chain(&mock).extractor::<Mood>().example("I love it", &Mood::Good).input("Splendid!");
    assert_eq!(label.await.unwrap().value, Mood::Good);
}

#[tokio::test(start_paused = true)]
async fn an_example_given_back_for_a_picture_is_no_answer() {
    let mock = mock(&[r#"{"name": "Ada", "age": 36}"#, GOOD]);
    let extraction = chain(&mock)
        .extractor::<Person>()
        .example("Ada Lovelace, 36", &ada())
        .input(Media::image("image/png", b"..."));
    assert_eq!(extraction.await.unwrap().value.name, "Grace");
}

#[tokio::test(start_paused = true)]
async fn error_pages_are_retried_as_they_were_and_named() {
    for (page, reason) in [
        ("<html><body>502</body></html>".to_owned(), "an HTML or XML page"),
        (
            json!({"error": {"message": "no healthy upstream", "code": 503}}).to_string(),
            "an error message in JSON",
        ),
        (
            "upstream connect error or disconnect/reset before headers".to_owned(),
            "the error message of a proxy",
        ),
    ] {
        let mock = mock(&[&page, GOOD]);
        let answer = chain(&mock).extract::<Person>("…").await.unwrap();
        assert_eq!((answer.value.age, mock.calls()), (79, 2), "{page}");
        let first = serde_json::to_string(&answer.report.attempts[0]).unwrap();
        assert!(first.contains(reason), "{first}");
        assert_eq!(answer.report.attempts[0].failure(), Some(FailureKind::NotJson));
        assert!(answer.report.attempts[1].remedies.is_empty(), "{page}");
        assert_eq!(mock.seen()[1].messages.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_the_rust_type_refuses_is_placed_and_never_quoted() {
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "backstop_validate::schemars")]
    struct Trip {
        #[allow(dead_code)]
        legs: Vec<Leg>,
    }
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "backstop_validate::schemars")]
    #[serde(try_from = "String")]
    struct Leg;
    impl TryFrom<String> for Leg {
        type Error = String;
        fn try_from(code: String) -> Result<Self, String> {
            if code.len() == 3 { Ok(Self) } else { Err(format!("{code} is no airport")) }
        }
    }
    let mock = mock(&[r#"{"legs": ["BER", "Atlantis", "OSL"]}"#, r#"{"legs": ["BER", "OSL"]}"#]);
    let answer = chain(&mock).extract::<Trip>("…").await.unwrap();
    let report = serde_json::to_string(&*answer.report).unwrap();
    assert!(report.contains("`/legs/1` follows the schema but not the Rust type"), "{report}");
    assert!(!report.contains("Atlantis"), "{report}");
    assert!(mock.seen()[1].last_text().contains("`/legs/1`: Atlantis is no airport"));
}
