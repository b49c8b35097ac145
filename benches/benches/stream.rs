//! What a stream costs: CPU time of the consuming thread for each event, over the same bytes from the same server.
//!
//! | row | does |
//! | --- | --- |
//! | bare | what one writes with `reqwest` alone for one server: pieces of the body, lines split at LF, `data: ` taken off, the same fields decoded into a struct of `String`s and `Vec`s, the text put together |
//! | adapter | the provider's own stream of chunks, the text put together |
//! | engine | `chain.stream` of chunks that are in memory already, less the time of reading these without a chain |
//! | chain | `chain.stream` with that provider |
//!
//! CPU time of one thread instead of a clock on the wall: the server runs in another thread, and a busy machine
//! changes neither. Linux only; elsewhere it says so and measures nothing. Names of rows as arguments measure only
//! these, each once: `valgrind --tool=callgrind --toggle-collect='*stream::run::adapter*'` then counts one.

use std::hint::black_box;

use backstop_benches::{
    cpu,
    ready::Ready,
    server::{chat_events, serve},
};
use backstop_core::{Attempt, Chain, Chunk, Provider, ProviderExt, Request, StreamEvent};
use backstop_openai::OpenAi;
use futures_util::StreamExt;
use serde::Deserialize;
use tokio::runtime::Runtime;

const EVENTS: usize = 20_000;
const ROUNDS: usize = 9;

/// Runs a row and says how long the text was.
type Run = fn(&Bench) -> usize;

const ROWS: [(&str, Run); 5] = [
    ("bare", run::bare),
    ("adapter", run::adapter),
    ("chunks", run::chunks),
    ("chunks by a chain", run::chunks_by_chain),
    ("chain", run::chain),
];

fn main() {
    if cpu::thread_nanos().is_none() {
        println!("needs /proc/thread-self/schedstat");
        return;
    }
    let bench = Bench::new();
    let only: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with("--")).collect();
    for (name, run) in only.iter().flat_map(|only| ROWS.iter().filter(move |(name, _)| only == name)) {
        println!("{name}: {:.0} ns/event", cpu::nanos(|| read_all(*run, &bench)) / EVENTS as f64);
    }
    if !only.is_empty() {
        return;
    }
    let best = cpu::best(ROUNDS, |row| ROWS.get(row).into_iter().for_each(|(_, run)| read_all(*run, &bench)));
    let [bare, adapter, chunks, by_chain, chain] = best.map(|nanos: f64| nanos / EVENTS as f64);
    println!("bare reqwest, lines and JSON: {bare:>6.0} ns/event");
    println!("the adapter's own stream:     {adapter:>6.0} ns/event, {:.2} times that", adapter / bare);
    println!("the engine alone:             {:>6.0} ns/event", by_chain - chunks);
    println!("chain.stream:                 {chain:>6.0} ns/event, {:.2} times bare", chain / bare);
}

fn read_all(run: Run, bench: &Bench) {
    assert_eq!(black_box(run(bench)), EVENTS * 6, "all of the text came");
}

struct Bench {
    runtime: Runtime,
    client: reqwest::Client,
    url: String,
    openai: OpenAi,
    chain: Chain,
    ready: Ready,
    chain_of_ready: Chain,
}

impl Bench {
    fn new() -> Self {
        let url = format!("http://{}/v1", serve("text/event-stream", &chat_events((0..EVENTS).map(word))));
        let openai = OpenAi::builder().base_url(&url).api_key("k").build().expect("a provider");
        let ready = Ready::new((0..EVENTS).map(word));
        Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"),
            client: reqwest::Client::new(),
            chain: Chain::builder().target(openai.clone().model("m")).build().expect("a chain"),
            chain_of_ready: Chain::builder().target(ready.clone().model("m")).build().expect("a chain"),
            url,
            openai,
            ready,
        }
    }
}

/// One function for each row, to be found in a profile.
mod run {
    use super::*;

    #[inline(never)]
    pub fn bare(bench: &Bench) -> usize {
        bench.runtime.block_on(by_hand(&bench.client, &bench.url))
    }

    #[inline(never)]
    pub fn adapter(bench: &Bench) -> usize {
        bench.runtime.block_on(provider(&bench.openai))
    }

    #[inline(never)]
    pub fn chunks(bench: &Bench) -> usize {
        bench.runtime.block_on(provider(&bench.ready))
    }

    #[inline(never)]
    pub fn chunks_by_chain(bench: &Bench) -> usize {
        bench.runtime.block_on(by_chain(&bench.chain_of_ready))
    }

    #[inline(never)]
    pub fn chain(bench: &Bench) -> usize {
        bench.runtime.block_on(by_chain(&bench.chain))
    }
}

async fn provider(provider: &dyn Provider) -> usize {
    let request = Request::new("hi");
    let mut chunks = provider.stream(&Attempt::new("m", &request)).await.expect("a stream");
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        if let Chunk::Text(piece) = chunk.expect("a chunk") {
            text.push_str(&piece);
        }
    }
    text.len()
}

async fn by_chain(chain: &Chain) -> usize {
    let mut answer = chain.stream("hi").await.expect("a stream");
    let mut length = 0;
    while let Some(event) = answer.next().await {
        match event.expect("no interruption") {
            StreamEvent::Delta(text) => length += black_box(text).len(),
            StreamEvent::Finished { response, .. } => assert_eq!(response.text.len(), length),
            _ => {}
        }
    }
    length
}

async fn by_hand(client: &reqwest::Client, url: &str) -> usize {
    let mut response =
        client.post(format!("{url}/chat/completions")).body("{}").send().await.expect("a response");
    let (mut buffer, mut text) = (Vec::new(), String::new());
    while let Some(bytes) = response.chunk().await.expect("a body") {
        buffer.extend_from_slice(&bytes);
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &buffer[start..]) {
            let line = &buffer[start..start + length];
            start += length + 1;
            let Some(data) = line.strip_prefix(b"data: ") else { continue };
            if data == b"[DONE]" {
                return text.len();
            }
            let event: wire::Event = black_box(serde_json::from_slice(data).expect("a chunk"));
            for choice in event.choices {
                text.push_str(choice.delta.content.as_deref().unwrap_or_default());
            }
        }
        buffer.drain(..start);
    }
    text.len()
}

/// The fields that the adapter reads, with the types that the vendor documents.
#[allow(dead_code, reason = "decoded, as an application would, and not all looked at")]
mod wire {
    use super::Deserialize;

    #[derive(Deserialize)]
    pub struct Event {
        pub id: Option<String>,
        pub model: Option<String>,
        pub choices: Vec<Choice>,
        pub usage: Option<Usage>,
    }

    #[derive(Deserialize)]
    pub struct Choice {
        pub index: u64,
        pub delta: Delta,
        pub finish_reason: Option<String>,
    }

    #[derive(Deserialize)]
    pub struct Delta {
        pub content: Option<String>,
        pub refusal: Option<String>,
        pub tool_calls: Option<Vec<Call>>,
    }

    #[derive(Deserialize)]
    pub struct Call {
        pub index: usize,
        pub id: Option<String>,
        pub function: Option<Function>,
    }

    #[derive(Deserialize)]
    pub struct Function {
        pub name: Option<String>,
        pub arguments: Option<String>,
    }

    #[derive(Deserialize)]
    pub struct Usage {
        pub prompt_tokens: u64,
        pub completion_tokens: u64,
    }
}

/// A piece of the text.
fn word(index: usize) -> String {
    format!("{:<6}", index % 100_000)
}
