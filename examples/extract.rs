//! A typed extraction that survives outages and unusable answers.
//!
//! Without settings it runs on three loopback servers: a primary that answers 503 and then hangs, a secondary that
//! refuses, and a third whose first answer breaks the schema and whose second, asked for with the errors, is right.
//! The stand-in model behind the third reads the text it is sent, if that is an invoice laid out like those in `data`.
//!
//! ```text
//! cargo run --example extract                      # the texts in examples/data
//! cargo run --example extract -- my_mail.txt       # your own text
//! cat my_mail.txt | cargo run --example extract    # from standard input
//! OPENAI_API_KEY=… BACKSTOP_MODEL=gpt-4o-mini cargo run --example extract
//! ```
//!
//! `OPENAI_BASE_URL` names any server that speaks OpenAI's Chat Completions.

use std::{
    env,
    error::Error,
    io::{self, IsTerminal, Read},
    path::Path,
    process::ExitCode,
    sync::mpsc,
    time::Duration,
};

use backstop::{
    mock::server::{ApiError, End, MockServer, Received, Reply},
    prelude::*,
};
use backstop_examples::{invoice::Invoice, stand_in};

const STAND_IN: &str = "The model here is a stand-in that reads invoices laid out like those in examples/data; for other \
    texts, set OPENAI_API_KEY (or OPENAI_BASE_URL) and BACKSTOP_MODEL.";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("no invoice from {failed} text(s)");
            if !uses_real_server() {
                eprintln!("{STAND_IN}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// How many texts gave no invoice.
async fn run() -> Result<usize> {
    let texts = texts()?;
    // Held until the end: dropping a server stops it.
    let (chain, _servers) = if uses_real_server() { (real()?, Vec::new()) } else { loopback().await? };
    let mut failed = 0;
    for (name, text) in texts {
        println!("== {name}");
        let extraction =
            chain.extractor::<Invoice>().instructions("Pull the invoice out of the text.").input(text);
        match extraction.call().tag("text", name).await {
            Ok(invoice) => {
                println!("{}\n\n{}\n", serde_json::to_string_pretty(&invoice.value)?, invoice.report);
            }
            Err(error) => {
                failed += 1;
                println!("{error}\n\n{}\n", error.report());
            }
        }
    }
    Ok(failed)
}

fn uses_real_server() -> bool {
    ["OPENAI_API_KEY", "OPENAI_BASE_URL"].iter().any(|name| env::var_os(name).is_some())
}

fn real() -> Result<Chain> {
    let model = env::var("BACKSTOP_MODEL")
        .map_err(|_| "set BACKSTOP_MODEL to the model to ask, for example gpt-4o-mini")?;
    Ok(Chain::builder().target(OpenAi::from_env()?.model(model)).build()?)
}

async fn loopback() -> Result<(Chain, Vec<MockServer>)> {
    let primary = MockServer::start().await?;
    primary.respond_with(|request: &Received| match request.number() % 2 {
        1 => Reply::from(ApiError::overloaded()),
        _ => Reply::nothing(End::Hang),
    });
    let secondary = MockServer::start().await?;
    secondary.push(Reply::refusal("I'm sorry, I can't help with personal documents."));
    let third = MockServer::start().await?;
    third.respond_with(|request: &Received| {
        let messages = request.messages();
        let texts: Vec<&str> = messages
            .iter()
            .filter(|message| message.role == "user")
            .map(|message| message.text.as_str())
            .collect();
        let text = texts.first().copied().unwrap_or_default();
        Reply::text(if texts.len() > 1 { stand_in::careful(text) } else { stand_in::hasty(text) })
    });

    let target = |server: &MockServer, name: &'static str| -> Result<Target> {
        let provider = OpenAi::builder().base_url(server.url()).api_key("not-a-real-key").build()?;
        Ok(provider.model("stand-in").named(name))
    };
    let chain = Chain::builder()
        .target(target(&primary, "primary")?.timeout(Duration::from_millis(400)))
        .target(target(&secondary, "secondary")?)
        .target(target(&third, "third")?)
        .deadline(Duration::from_secs(10))
        .build()?;
    Ok((chain, vec![primary, secondary, third]))
}

/// Name and content: the file named on the command line, or standard input, or the texts in `data`.
fn texts() -> Result<Vec<(String, String)>> {
    if let Some(path) = env::args().nth(1) {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        return Ok(vec![(path, text)]);
    }
    if let Some(text) = piped() {
        return Ok(vec![("standard input".to_owned(), text)]);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        texts.push((name, std::fs::read_to_string(&path)?));
    }
    texts.sort();
    Ok(texts)
}

/// What is piped in, if anything is: a pipe that stays silent for half a second has nothing to say.
fn piped() -> Option<String> {
    if io::stdin().is_terminal() {
        return None;
    }
    let (began, begins) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (mut first, mut rest) = ([0], Vec::new());
        if io::stdin().read(&mut first).is_ok_and(|count| count == 1) && began.send(()).is_ok() {
            rest.push(first[0]);
            io::stdin().read_to_end(&mut rest).ok()?;
        }
        String::from_utf8(rest).ok()
    });
    begins.recv_timeout(Duration::from_millis(500)).ok()?;
    reader.join().ok()?.filter(|text| !text.trim().is_empty())
}
