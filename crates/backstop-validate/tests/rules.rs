//! Rules on typed values, through a chain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::ops::Bound;

use backstop_core::{Chain, ChainErrorKind, FailureKind, ProviderExt, Remedy};
use backstop_mock::{MockProvider, Step};
use backstop_validate::{
    ChainExt, Schema, Typed, Untyped,
    rules::{FieldRule, field, optional},
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "backstop_validate::schemars")]
struct Line {
    name: String,
    amount: f64,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(crate = "backstop_validate::schemars")]
struct Invoice {
    invoice_number: String,
    currency: String,
    total: f64,
    discount: Option<f64>,
    lines: Vec<Line>,
}

fn rules() -> Vec<FieldRule<Invoice>> {
    vec![
        field("/invoiceNumber", |invoice: &Invoice| &invoice.invoice_number)
            .matches(r"^INV-\d+$")
            .length(5..=12)
            .into(),
        field("/currency", |invoice: &Invoice| &invoice.currency).one_of(["EUR", "USD"]).into(),
        optional("/discount", |invoice: &Invoice| invoice.discount.as_ref()).within(0.0..=0.5).into(),
        field("/lines", |invoice: &Invoice| &invoice.lines)
            .length(1..)
            .each([field("/amount", |line: &Line| &line.amount).more_than(0.0).at_most(1000.0).into()])
            .into(),
        FieldRule::new("/total", "the sum of the lines' amounts", |invoice: &Invoice| {
            (invoice.lines.iter().map(|line| line.amount).sum::<f64>() - invoice.total).abs() < 0.01
        }),
        FieldRule::explained("", |invoice: &Invoice| {
            match invoice.lines.iter().any(|line| line.name.is_empty()) {
                true => Err("every line needs a name from the document".to_owned()),
                false => Ok(()),
            }
        }),
    ]
}

fn invoices() -> Typed<Invoice> {
    rules().into_iter().fold(Typed::new(), Typed::rule)
}

fn good() -> Value {
    json!({
        "invoiceNumber": "INV-77", "currency": "EUR", "total": 12.5, "discount": null,
        "lines": [{"name": "tea", "amount": 10.0}, {"name": "milk", "amount": 2.5}]
    })
}

fn bad() -> Value {
    json!({
        "invoiceNumber": "77", "currency": "eur", "total": 7, "discount": 0.9,
        "lines": [{"name": "tea", "amount": 10.0}, {"name": "", "amount": -2.5}]
    })
}

fn chain(answers: &[&Value]) -> (Chain, MockProvider) {
    let mock = MockProvider::new("mock", answers.iter().map(|answer| Step::text(answer.to_string())));
    (Chain::builder().target(mock.clone().model("m")).build().unwrap(), mock)
}

#[tokio::test(start_paused = true)]
async fn broken_rules_are_asked_for_again_with_pointer_and_expectation() {
    let (chain, mock) = chain(&[&bad(), &good()]);
    let answer = chain.call("…", invoices()).await.unwrap();
    assert_eq!(answer.value.total, 12.5);
    assert_eq!(answer.report.attempts[0].failure(), Some(FailureKind::SchemaMismatch));
    assert_eq!(answer.report.attempts[1].remedies, [Remedy::Feedback]);
    let sent = mock.seen()[1].last_text();
    for line in [
        "- `/invoiceNumber`: expected a text that matches `^INV-\\d+$`, found \"77\"",
        "- `/invoiceNumber`: expected 5 to 12 characters, found \"77\"",
        "- `/currency`: expected one of \"EUR\", \"USD\", found \"eur\"",
        "- `/discount`: expected a value from 0 to 0.5, found 0.9",
        "- `/lines/1/amount`: expected more than 0, found -2.5",
        "- and 2 more",
    ] {
        assert!(sent.contains(line), "{line}\n{sent}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_report_names_the_rule_and_quotes_nothing() {
    let (chain, _) = chain(&[&bad()]);
    let error = chain.call("…", invoices()).await.unwrap_err();
    let report = serde_json::to_string(error.report()).unwrap();
    assert!(report.contains("expected one of"), "{report}");
    for secret in ["eur", "-2.5", "0.9"] {
        assert!(
            !report.contains(&format!("{secret}\"")) && !report.contains(&format!("found {secret}")),
            "{report}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn words_of_an_explained_rule_go_to_the_model_only() {
    let mut unnamed = good();
    unnamed["lines"][0]["name"] = json!("");
    let (chain, mock) = chain(&[&unnamed, &good()]);
    let answer = chain.call("…", invoices()).await.unwrap();
    assert!(mock.seen()[1].last_text().contains("- the whole value: every line needs a name"));
    assert!(!serde_json::to_string(&*answer.report).unwrap().contains("needs a name"));
}

#[tokio::test(start_paused = true)]
async fn rules_of_an_extraction_and_of_a_run_time_schema_work_alike() {
    let (chain, mock) = chain(&[&json!({"n": 3}), &json!({"n": 4})]);
    let even = || {
        FieldRule::new("/n", "an even number", |value: &Value| {
            value["n"].as_i64().is_some_and(|n| n % 2 == 0)
        })
    };
    let schema =
        Schema::new("n", json!({"type": "object", "properties": {"n": {"type": "integer"}}})).unwrap();
    let answer = chain.call("…", Untyped::new(schema).rule(even())).await.unwrap();
    assert_eq!((answer.value, mock.calls()), (json!({"n": 4}), 2));
    assert!(mock.seen()[1].last_text().contains("`/n`: expected an even number, found 3"));

    let (chain, mock) = self::chain(&[&bad(), &good()]);
    let extraction =
        rules().into_iter().fold(chain.extractor::<Invoice>().input("…"), |all, rule| all.rule(rule));
    assert_eq!(extraction.await.unwrap().value.lines.len(), 2);
    assert_eq!(mock.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_cannot_work_fails_the_call_before_anything_is_sent() {
    let currency = || field("/currency", |invoice: &Invoice| &invoice.currency);
    let total = || field("/total", |invoice: &Invoice| &invoice.total);
    let none: [&str; 0] = [];
    #[allow(clippy::reversed_empty_ranges)] // They are what is tested.
    let broken: [FieldRule<Invoice>; 12] = [
        currency().length(5..=3).into(),
        currency().length(3..3).into(),
        currency().length(..0).into(),
        currency().length((Bound::Excluded(3), Bound::Excluded(4))).into(),
        currency().one_of(none).into(),
        total().within(9.0..=1.0).into(),
        total().within(f64::NAN..=1.0).into(),
        total().at_least(f64::NAN).into(),
        field("/lines", |invoice: &Invoice| &invoice.lines)
            .each([field("/name", |line: &Line| &line.name).length(2..=1).into()])
            .into(),
        field("/currency", |invoice: &Invoice| &invoice.currency).matches("(").into(),
        FieldRule::new("currency", "x", |_: &Invoice| true),
        field("/lines", |invoice: &Invoice| &invoice.lines)
            .each([field("/name", |line: &Line| &line.name).matches("[").into()])
            .into(),
    ];
    for rule in broken {
        let (chain, mock) = chain(&[&good()]);
        let error = chain.call("…", Typed::<Invoice>::new().rule(rule)).await.unwrap_err();
        assert!(matches!(error.kind(), ChainErrorKind::Config), "{error}");
        assert!(error.to_string().contains("rule"), "{error}");
        assert_eq!(mock.calls(), 0);
    }
    let (chain, mock) = chain(&[&good()]);
    let least: FieldRule<Invoice> = currency().length(..=3).length(3..4).one_of(["EUR"]).into();
    chain.call("…", Typed::<Invoice>::new().rule(least)).await.unwrap();
    assert_eq!(mock.calls(), 1);
}

#[cfg(feature = "garde")]
mod derived {
    use super::*;

    #[derive(Debug, Deserialize, schemars::JsonSchema, garde::Validate)]
    #[serde(rename_all = "camelCase")]
    #[schemars(crate = "backstop_validate::schemars")]
    struct Order {
        #[garde(custom(a_known_series))]
        order_number: String,
        #[garde(dive)]
        order_lines: Vec<OrderLine>,
    }

    #[derive(Debug, Deserialize, schemars::JsonSchema, garde::Validate)]
    #[serde(rename_all = "camelCase")]
    #[schemars(crate = "backstop_validate::schemars")]
    struct OrderLine {
        #[garde(range(min = 0.0), custom(whole_cents))]
        unit_price: f64,
    }

    fn a_known_series(number: &str, (): &()) -> garde::Result {
        if number.starts_with('7') { Ok(()) } else { Err(garde::Error::new("is of no series that we know")) }
    }

    fn whole_cents(price: &f64, (): &()) -> garde::Result {
        if (price * 100.0).fract() == 0.0 {
            Ok(())
        } else {
            Err(garde::Error::new("is no whole number of cents"))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn derived_rules_are_asked_for_again_under_the_names_of_the_json() {
        let bad = json!({"orderNumber": "1", "orderLines": [{"unitPrice": 1.0}, {"unitPrice": 1.234}]});
        let good = json!({"orderNumber": "723", "orderLines": [{"unitPrice": 1.0}]});
        let (chain, mock) = chain(&[&bad, &good]);
        let answer = chain.extractor::<Order>().input("…").validated().await.unwrap();
        assert_eq!((answer.value.order_number.as_str(), answer.value.order_lines.len()), ("723", 1));
        let sent = mock.seen()[1].last_text();
        assert!(sent.contains("- `/orderNumber`: is of no series that we know"), "{sent}");
        assert!(sent.contains("- `/orderLines/1/unitPrice`: is no whole number of cents"), "{sent}");
    }

    #[test]
    fn derived_ranges_and_lengths_stand_in_the_schema_as_well() {
        let schema = Schema::of::<OrderLine>().unwrap();
        assert_eq!(schema.original()["properties"]["unitPrice"]["minimum"], json!(0.0));
    }
}
