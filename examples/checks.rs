//! Ready checks: an answer must keep the rules of its type, stand in the input, and please a second model.

use std::{error::Error, time::Duration};

use backstop::{
    Reask, Usage,
    mock::{MockProvider, Step},
    prelude::*,
    validate::{
        Grounded, InputSeen, Judge,
        rules::{FieldRule, field},
    },
};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Invoice {
    vendor: String,
    currency: String,
    lines: Vec<Line>,
    total: f64,
    /// One sentence, in your own words.
    summary: String,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Line {
    amount: f64,
}

const MAIL: &str = "Müller & Söhne bill you EUR 1.200,00 for an anvil and EUR 34,50 for its delivery.";

fn answer(vendor: &str, total: f64) -> Step {
    let summary = "An anvil, delivered.";
    let lines = [serde_json::json!({"amount": 1200}), serde_json::json!({"amount": 34.5})];
    let invoice = serde_json::json!({
        "vendor": vendor, "currency": "EUR", "lines": lines, "total": total, "summary": summary
    });
    Step::text(invoice.to_string()).usage(Usage::new(60, 40))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The first model makes up a vendor; the second adds up wrongly at first.
    let first = MockProvider::new("first", [answer("ACME Corp", 1234.5)]);
    let second =
        MockProvider::new("second", [answer("Müller & Söhne", 1200.0), answer("Müller & Söhne", 1234.5)]);
    let small = MockProvider::new("small", [Step::text(r#"{"reason": "Names both items.", "score": 9}"#)]);

    let chain = Chain::builder()
        .target(first.model("m"))
        .target(second.clone().model("m"))
        .check(InputSeen::new())
        .reask(Reask::new("Please correct this and send the whole invoice again:\n{errors}")?)
        .build()?;
    let judge = Judge::new(
        Chain::builder().target(small.model("m")).build()?,
        "The summary names everything that is billed, and nothing else.",
    )
    .deadline(Duration::from_secs(5))
    .max_calls(1000, Duration::from_secs(3600));

    let invoice = chain
        .extractor::<Invoice>()
        .instructions("Pull the invoice out of the mail.")
        .input(MAIL)
        .rule(field("/currency", |invoice: &Invoice| &invoice.currency).one_of(["EUR", "USD"]))
        .rule(
            field("/lines", |invoice: &Invoice| &invoice.lines).length(1..=100).each([field(
                "/amount",
                |line: &Line| &line.amount,
            )
            .more_than(0.0)
            .into()]),
        )
        .rule(FieldRule::new("/total", "the sum of the lines' amounts", |invoice: &Invoice| {
            let sum: f64 = invoice.lines.iter().map(|line| line.amount).sum();
            (invoice.total - sum).abs() < 0.01
        }))
        .check(Grounded::new().ignore("/summary").ignore("/total").threshold(1.0))
        .check(judge.clone())
        .await?;

    println!(
        "{} wants {} {}: {}",
        invoice.value.vendor, invoice.value.currency, invoice.value.total, invoice.value.summary
    );
    println!("{}\n", invoice.report);
    for record in &invoice.report.attempts {
        println!("{}: {:?}", record.target, record.outcome);
    }
    if let Some(asked_again) = second.seen().last() {
        println!("\nThe second model was asked again:\n{}", asked_again.last_text());
    }
    println!("\nThe judge: {:?}", judge.stats());
    Ok(())
}
