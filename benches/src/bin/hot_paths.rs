//! Runs one hot path so many times: `hot_paths <name> <count>`, for counting instructions. Without arguments it names
//! the paths.
//!
//! What the paths need is made before, in the same amount whatever the count: the difference of two counts is the path
//! alone.
#![allow(clippy::expect_used, reason = "a path that does not work has nothing else to say")]
#![allow(clippy::print_stdout, reason = "it prints the names")]

use std::{future::Future, hint::black_box};

use backstop_benches::{
    ready::Ready,
    server::{chat_events, serve},
};
use backstop_core::{
    Attempt, Chain, Provider, ProviderExt, Request, StreamEvent,
    breaker::{Breaker, BreakerKey, Outcome},
};
use backstop_http::{SseDecoder, StreamLimits};
use backstop_openai::OpenAi;
use backstop_validate::{
    ChainExt,
    json::{Extractor, Policy},
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

/// Runs a path so many times.
type Path = fn(usize);

const PATHS: [(&str, Path); 9] = [
    ("provider_call", provider_call),
    ("chain_call", chain_call),
    ("extraction", extraction),
    ("breaker", breaker),
    ("strict_1k", strict_1k),
    ("tolerant_1k", tolerant_1k),
    ("sse_event", sse_event),
    ("stream_event", stream_event),
    ("adapter_event", adapter_event),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        PATHS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let count = arguments.next().and_then(|count| count.parse().ok()).expect("how many times");
    let (_, path) = PATHS.iter().find(|(path, _)| *path == name).expect("the name of a path");
    path(count);
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

fn chain_of(provider: impl Provider) -> Chain {
    Chain::builder().target(provider.model("m")).build().expect("a chain")
}

/// What the provider itself costs, to be taken off `chain_call`.
fn provider_call(count: usize) {
    let (provider, request) = (Ready::text("ok"), Request::new("hi"));
    run(async {
        for _ in 0..count {
            black_box(provider.complete(&Attempt::new("m", &request)).await).expect("an answer");
        }
    });
}

fn chain_call(count: usize) {
    let (chain, request) = (chain_of(Ready::text("ok")), Request::new("hi"));
    run(async {
        for _ in 0..count {
            black_box(chain.complete(&request).await).expect("an answer");
        }
    });
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "decoded, and not looked at")]
#[schemars(crate = "schemars")]
struct Invoice {
    number: String,
    customer: String,
    total: f64,
    currency: String,
    paid: bool,
    lines: Vec<Line>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "decoded, and not looked at")]
#[schemars(crate = "schemars")]
struct Line {
    text: String,
    quantity: u32,
    price: f64,
}

/// About 300 bytes.
const INVOICE: &str = r#"{"number":"2025-0117","customer":"Aurelia Books, 12 Harbour Street","total":187.5,"currency":"EUR","paid":false,"lines":[{"text":"Hardcover atlas of the northern sky","quantity":3,"price":49.5},{"text":"Shipping within the union, insured and tracked","quantity":1,"price":39.0}]}"#;

/// A call whose answer is taken out of its text, checked against its schema and decoded.
fn extraction(count: usize) {
    let chain = chain_of(Ready::text(INVOICE));
    run(async {
        for _ in 0..count {
            black_box(chain.extract::<Invoice>("An invoice.").await).expect("an invoice");
        }
    });
}

/// Admission and a success.
fn breaker(count: usize) {
    let breaker = Breaker::builder(BreakerKey::new("provider", "model")).build();
    for _ in 0..count {
        black_box(breaker.try_acquire()).expect("closed").settle(black_box(Outcome::Success));
    }
}

/// About 1,000 bytes of valid JSON.
fn kilobyte() -> String {
    format!("[{INVOICE},{INVOICE},{INVOICE}]")
}

fn strict_1k(count: usize) {
    parse(&kilobyte(), Policy::Strict, count);
}

/// The same as a model might write it: in prose, with a comment, single quotes and a trailing comma.
fn tolerant_1k(count: usize) {
    let json = kilobyte().replace("\"paid\"", "'paid'").replace("39.0}]", "39.0},]");
    parse(&format!("Here it is:\n// all three\n{json}\n"), Policy::Tolerant, count);
}

fn parse(text: &str, policy: Policy, count: usize) {
    let extractor = Extractor::new().policy(policy);
    for _ in 0..count {
        black_box(extractor.extract(black_box(text))).expect("JSON");
    }
}

/// Server-sent events, cut out of a body that comes in pieces of 8 KiB.
fn sse_event(count: usize) {
    let event = chat_events([]).split_inclusive(|byte| *byte == b'\n').take(2).collect::<Vec<_>>().concat();
    let events = event.repeat(8_192 / event.len());
    let mut decoder = SseDecoder::new(StreamLimits::new(usize::MAX, usize::MAX));
    let mut left = count;
    while left > 0 {
        decoder.push(&events);
        while let Some(item) = decoder.next_item() {
            black_box(item).expect("an event");
            left = left.saturating_sub(1);
        }
    }
}

/// Events of a chain's stream, whose chunks are there already.
fn stream_event(count: usize) {
    read(&chain_of(Ready::new(std::iter::repeat_n("piece ".to_owned(), count))));
}

/// The same from the adapter, over a socket.
fn adapter_event(count: usize) {
    let body = chat_events(std::iter::repeat_n("piece ".to_owned(), count));
    let url = format!("http://{}/v1", serve("text/event-stream", &body));
    read(&chain_of(OpenAi::builder().base_url(url).api_key("k").build().expect("a provider")));
}

fn read(chain: &Chain) {
    run(async {
        let mut answer = chain.stream("hi").await.expect("a stream");
        while let Some(event) = answer.next().await {
            if let StreamEvent::Delta(text) = event.expect("no interruption") {
                black_box(text);
            }
        }
    });
}
