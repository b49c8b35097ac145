//! What a whole call costs over a socket: CPU time of the calling thread, by `reqwest` alone with the same JSON, by the
//! adapter alone, and by a chain, against the same server.
//!
//! The floor does what an application does by hand for one server: a request struct to JSON, the key in a header, the
//! status looked at, the body read and decoded into a struct of `String`s. One call after the other, and 64 at a time.
//! Linux only. Names of rows as arguments run only these, each once, for a profiler.

use std::{future::Future, hint::black_box};

use backstop_benches::{cpu, server::serve};
use backstop_core::{Attempt, Chain, Provider, ProviderExt, Request};
use backstop_openai::OpenAi;
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

const CALLS: usize = 2_000;
const AT_A_TIME: [usize; 2] = [1, 64];
const ROUNDS: usize = 9;
const PROMPT: &str = "Name the capital of France, and nothing else.";
const ANSWER: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1750000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Paris","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":17,"completion_tokens":2,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}},"service_tier":"default"}"#;

/// Runs all calls of a row, so many at a time.
type Run = fn(&Bench, usize);

const ROWS: [(&str, Run); 3] = [("bare", run::bare), ("adapter", run::adapter), ("chain", run::chain)];

fn main() {
    if cpu::thread_nanos().is_none() {
        println!("needs /proc/thread-self/schedstat");
        return;
    }
    let bench = Bench::new();
    let only: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with("--")).collect();
    for (name, run) in ROWS.iter().filter(|(name, _)| only.iter().any(|only| only == name)) {
        println!("{name}: {:.1} µs/call", cpu::nanos(|| run(&bench, 1)) / CALLS as f64 / 1_000.0);
    }
    if !only.is_empty() {
        return;
    }
    for at_a_time in AT_A_TIME {
        let best = cpu::best(ROUNDS, |row| {
            ROWS.get(row).into_iter().for_each(|(_, run)| run(&bench, at_a_time));
        });
        let [bare, adapter, chain] = best.map(|nanos: f64| nanos / CALLS as f64 / 1_000.0);
        println!(
            "{at_a_time:>2} at a time: bare {bare:.1} µs/call, adapter {adapter:.1} ({:.2} times), chain {chain:.1} ({:.2} times)",
            adapter / bare,
            chain / bare
        );
    }
}

struct Bench {
    runtime: Runtime,
    client: reqwest::Client,
    url: String,
    openai: OpenAi,
    chain: Chain,
    request: Request,
}

impl Bench {
    fn new() -> Self {
        let url = format!("http://{}/v1", serve("application/json", ANSWER.as_bytes()));
        let openai = OpenAi::builder().base_url(&url).api_key("k").build().expect("a provider");
        Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"),
            client: reqwest::Client::new(),
            chain: Chain::builder().target(openai.clone().model("m")).build().expect("a chain"),
            request: Request::new(PROMPT),
            url: format!("{url}/chat/completions"),
            openai,
        }
    }

    fn all<F: Future<Output = String>>(&self, at_a_time: usize, call: impl Fn() -> F) {
        let mut calls = stream::iter(0..CALLS).map(|_| call()).buffer_unordered(at_a_time);
        self.runtime.block_on(async {
            while let Some(text) = calls.next().await {
                assert_eq!(black_box(text), "Paris");
            }
        });
    }
}

/// One function for each row, to be found in a profile.
mod run {
    use super::*;

    #[inline(never)]
    pub fn bare(bench: &Bench, at_a_time: usize) {
        bench.all(at_a_time, || by_hand(&bench.client, &bench.url));
    }

    #[inline(never)]
    pub fn adapter(bench: &Bench, at_a_time: usize) {
        bench.all(at_a_time, || async {
            bench.openai.complete(&Attempt::new("m", &bench.request)).await.expect("an answer").text
        });
    }

    #[inline(never)]
    pub fn chain(bench: &Bench, at_a_time: usize) {
        bench.all(at_a_time, || async {
            bench.chain.complete(&bench.request).await.expect("an answer").value
        });
    }
}

async fn by_hand(client: &reqwest::Client, url: &str) -> String {
    let question = wire::Question { model: "m", messages: [wire::Said { role: "user", content: PROMPT }] };
    let request = client
        .post(url)
        .header("content-type", "application/json")
        .bearer_auth("k")
        .body(serde_json::to_vec(&question).expect("JSON"));
    let response = request.send().await.expect("a response").error_for_status().expect("a success");
    let body = response.bytes().await.expect("a body");
    let answer: wire::Answer = black_box(serde_json::from_slice(&body).expect("an answer"));
    answer.choices.into_iter().next().and_then(|choice| choice.message.content).unwrap_or_default()
}

/// The fields that the adapter writes and reads, with the types that the vendor documents.
#[allow(dead_code, reason = "decoded, as an application would, and not all looked at")]
mod wire {
    use super::{Deserialize, Serialize};

    #[derive(Serialize)]
    pub struct Question<'a> {
        pub model: &'a str,
        pub messages: [Said<'a>; 1],
    }

    #[derive(Serialize)]
    pub struct Said<'a> {
        pub role: &'a str,
        pub content: &'a str,
    }

    #[derive(Deserialize)]
    pub struct Answer {
        pub id: Option<String>,
        pub model: Option<String>,
        pub choices: Vec<Choice>,
        pub usage: Option<Usage>,
    }

    #[derive(Deserialize)]
    pub struct Choice {
        pub message: Message,
        pub finish_reason: Option<String>,
    }

    #[derive(Deserialize)]
    pub struct Message {
        pub content: Option<String>,
        pub refusal: Option<String>,
    }

    #[derive(Deserialize)]
    pub struct Usage {
        pub prompt_tokens: u64,
        pub completion_tokens: u64,
        pub prompt_tokens_details: Option<PromptDetails>,
        pub completion_tokens_details: Option<CompletionDetails>,
    }

    #[derive(Deserialize)]
    pub struct PromptDetails {
        pub cached_tokens: Option<u64>,
    }

    #[derive(Deserialize)]
    pub struct CompletionDetails {
        pub reasoning_tokens: Option<u64>,
    }
}
