//! What a stream costs: CPU time of the consuming thread for each event, by bare `reqwest` with decoding, by the
//! adapter alone, and by the whole chain, over the same bytes from the same server.
//!
//! CPU time of one thread instead of a clock on the wall: the server runs in another thread, and a busy machine
//! changes neither. Linux only; elsewhere it says so and measures nothing.

use std::{
    fs,
    hint::black_box,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    thread,
};

use backstop_core::{Attempt, Chain, Chunk, Provider, ProviderExt, Request, StreamEvent};
use backstop_http::{SseDecoder, SseItem, StreamLimits};
use backstop_openai::OpenAi;
use futures_util::StreamExt;

const EVENTS: usize = 20_000;
const ROUNDS: usize = 9;

fn main() {
    if cpu_nanos().is_none() {
        println!("needs /proc/thread-self/schedstat");
        return;
    }
    let server = serve();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let client = reqwest::Client::new();
    let url = format!("http://{server}/v1");
    let openai = OpenAi::builder().base_url(&url).api_key("k").build().expect("a provider");
    let chain = Chain::builder().target(openai.clone().model("m")).build().expect("a chain");
    let (mut bare, mut adapter, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    // In turn, so that all meet the same machine.
    for _ in 0..ROUNDS {
        bare.push(measure(|| runtime.block_on(with_reqwest(&client, &url))));
        adapter.push(measure(|| runtime.block_on(with_adapter(&openai))));
        whole.push(measure(|| runtime.block_on(with_chain(&chain))));
    }
    let (bare, adapter, whole) = (best(bare), best(adapter), best(whole));
    println!("reqwest, events and JSON decoded: {bare:>6.0} ns/event");
    println!("the adapter's own stream:         {adapter:>6.0} ns/event, {:.2} times that", adapter / bare);
    println!(
        "chain.stream:                     {whole:>6.0} ns/event, {:.2} times that, {:.2} times the adapter's",
        whole / bare,
        whole / adapter
    );
}

/// Nanoseconds of CPU for each event.
fn measure(run: impl FnOnce() -> usize) -> f64 {
    let before = cpu_nanos().unwrap_or_default();
    let bytes = black_box(run());
    let after = cpu_nanos().unwrap_or_default();
    assert_eq!(bytes, EVENTS * 6, "all of the text came");
    (after - before) as f64 / EVENTS as f64
}

fn best(rounds: Vec<f64>) -> f64 {
    rounds.into_iter().fold(f64::INFINITY, f64::min)
}

async fn with_reqwest(client: &reqwest::Client, url: &str) -> usize {
    #[derive(serde::Deserialize)]
    struct Event {
        choices: Vec<Choice>,
    }
    #[derive(serde::Deserialize)]
    struct Choice {
        delta: Delta,
    }
    #[derive(serde::Deserialize)]
    struct Delta {
        content: Option<String>,
    }
    let mut response =
        client.post(format!("{url}/chat/completions")).body("{}").send().await.expect("a response");
    let mut decoder = SseDecoder::new(StreamLimits::new(1 << 20, 1 << 30));
    let mut text = String::new();
    while let Some(bytes) = response.chunk().await.expect("a body") {
        decoder.push(&bytes);
        while let Some(item) = decoder.next_item() {
            let SseItem::Event(event) = item.expect("an event") else { continue };
            if let Ok(event) = serde_json::from_str::<Event>(&event.data) {
                for choice in event.choices {
                    text.push_str(&choice.delta.content.unwrap_or_default());
                }
            }
        }
    }
    text.len()
}

async fn with_adapter(openai: &OpenAi) -> usize {
    let request = Request::new("hi");
    let mut chunks = openai.stream(&Attempt::new("m", &request)).await.expect("a stream");
    let mut text = String::new();
    while let Some(chunk) = chunks.next().await {
        if let Chunk::Text(piece) = chunk.expect("a chunk") {
            text.push_str(&piece);
        }
    }
    text.len()
}

async fn with_chain(chain: &Chain) -> usize {
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

/// CPU time of this thread.
fn cpu_nanos() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

/// Answers every request with the same stream, from a thread of its own.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let body = body();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            // The requests are shorter than that.
            let mut request = [0; 8_192];
            let mut read = 0;
            while !request.get(..read).is_some_and(|seen| seen.ends_with(b"}")) {
                read += stream.read(request.get_mut(read..).unwrap_or_default()).expect("a request");
            }
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).expect("a reader");
        }
    });
    address
}

fn body() -> Vec<u8> {
    let event = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1750000000,\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut body = event("{\"role\":\"assistant\",\"content\":\"\"}", "null");
    for index in 0..EVENTS {
        body.push_str(&event(&format!("{{\"content\":\"{:<6}\"}}", index % 100_000), "null"));
    }
    body.push_str(&event("{}", "\"stop\""));
    body.push_str("data: [DONE]\n\n");
    body.into_bytes()
}
