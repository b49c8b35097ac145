//! A form that fills itself in the terminal while the model writes the answer: texts appear letter by letter, numbers once
//! they are complete, and a tick says that a field will not change any more. A loopback server plays the vendor: it runs
//! without a network and without a key.

use std::{
    error::Error,
    io::{IsTerminal, Write, stdout},
    time::Duration,
};

use backstop::{
    mock::server::{Completion, MockServer, Reply, Streaming},
    prelude::*,
    schemars::JsonSchema,
    validate::partial::PartialValue,
};
use serde::Deserialize;

const MAIL: &str = "Hello, could you have our terrace paved? 42.5 square metres, in grey granite, before 1 June. \
                    Best wishes, Hanna Lindqvist, Storgatan 5, Uppsala";
/// As models write: in prose and a fence, with a comma too many and a number as text.
const ANSWER: &str = r#"Here is the form:
```json
{
  "customer": "Hanna Lindqvist",
  "address": {"street": "Storgatan 5", "town": "Uppsala"},
  "work": "Pave the terrace in grey granite",
  "square_metres": "42.5",
  "until": "1 June",
}
```"#;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "backstop::schemars")]
struct Order {
    customer: String,
    address: Address,
    work: String,
    square_metres: f64,
    until: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "backstop::schemars")]
struct Address {
    street: String,
    town: String,
}

/// The form: a label for each field.
const FIELDS: [(&str, &str); 6] = [
    ("customer", "/customer"),
    ("street", "/address/street"),
    ("town", "/address/town"),
    ("work", "/work"),
    ("m\u{b2}", "/square_metres"),
    ("until", "/until"),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = MockServer::start().await?;
    let slowly = Streaming::new().piece_chars(4).pause(Duration::from_millis(25));
    server.push(Reply::from(Completion::text(ANSWER)).streamed(slowly));
    let provider = OpenAi::builder().base_url(server.url()).api_key("not-a-real-key").build()?;
    let chain = Chain::builder().target(provider.model("gpt-4o")).build()?;

    let extraction = chain.extractor::<Order>().instructions("Fill in the form.").input(MAIL);
    let mut order = extraction.stream().on_interrupt(OnInterrupt::Restart).await?;
    let is_terminal = stdout().is_terminal();
    while let Some(update) = order.next().await {
        if !update?.changed.is_empty() && is_terminal {
            draw(order.partial())?;
            // The next one is drawn over it.
            print!("\x1b[{}A", FIELDS.len());
        }
    }
    draw(order.partial())?;

    let answer = order.finish().await?;
    let Order { customer, address, work, square_metres, until } = answer.value;
    println!(
        "\n{customer}, {}, {}: {work}, {square_metres} m\u{b2}, until {until}",
        address.street, address.town
    );
    for change in answer.repairs.iter().chain(&answer.coercions) {
        println!("mended: {} {}", change.kind, change.pointer);
    }
    Ok(())
}

fn draw(order: &PartialValue) -> std::io::Result<()> {
    let mut out = stdout().lock();
    for (label, pointer) in FIELDS {
        let field = order.pointer(pointer);
        let mark = if field.is_some_and(PartialValue::is_finished) { "\u{2713}" } else { " " };
        let text = field.and_then(PartialValue::as_str).unwrap_or_default();
        writeln!(out, "{mark} {label:<9} {text}")?;
    }
    out.flush()
}
