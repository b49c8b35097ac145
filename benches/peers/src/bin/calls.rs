//! What a typed call costs over loopback, beside other clients: `cargo run --release --bin calls [rounds [client]]`.
//!
//! Every client asks the same server for the same document and decodes it into its type. Only backstop chains and
//! checks: the others get a loop over two clients, written by hand, as their users would, and no schema check; `llm`
//! speaks the Responses API. CPU time is that of the client's thread; the server runs in others.

use std::{
    future::Future,
    hint::black_box,
    pin::Pin,
    sync::{Arc, Mutex},
};

use backstop_peer_benches::{Case, calls::*, compare};
use futures_util::stream::{FuturesUnordered, StreamExt};

const FLOOR: &str = "reqwest";
const CHECKED: &str = "reqwest and a schema check";
const OURS: &str = "backstop";
const DEAD: u64 = 1_000;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(15);
    let server = server::Server::start();
    for in_flight in [1, 64] {
        let title = format!("typed call, healthy primary, {in_flight} in flight");
        compare(&title, 1, rounds, &cases(&server, "healthy", in_flight), &[FLOOR, CHECKED]);
    }
    for in_flight in [1, 64] {
        let title = format!("typed call, dead primary (503), {in_flight} in flight");
        compare(&title, 1, rounds, &cases(&server, "dead", in_flight), &[FLOOR, CHECKED]);
    }
    requests_to_a_dead_primary(&server);
}

fn cases(server: &server::Server, primary: &str, in_flight: usize) -> Vec<Case> {
    let calls = if in_flight == 1 { 200 } else { 640 };
    clients(server, primary)
        .into_iter()
        .map(|(name, client)| {
            let runtime = Mutex::new(client::runtime());
            Case::new(name, calls, move |n| {
                let runtime = runtime.lock().expect("one thread");
                runtime.block_on(call_many(&*client, n, in_flight));
            })
        })
        .collect()
}

type Client = dyn Fn() -> Pin<Box<dyn Future<Output = Result<document::Invoice, String>>>> + Send + Sync;

fn clients(server: &server::Server, primary: &str) -> Vec<(&'static str, Arc<Client>)> {
    let urls = || [server.url(primary), server.url("healthy")];
    let all = vec![
        (FLOOR, boxed(bare::client(urls(), false))),
        (CHECKED, boxed(bare::client(urls(), true))),
        (OURS, boxed(ours::client(urls()))),
        ("async-openai", boxed(client::async_openai(urls()))),
        ("genai", boxed(client::genai(urls()))),
        ("llm", boxed(client::llm(urls()))),
        ("rstructor", boxed(client::rstructor(urls()))),
    ];
    // What the others are compared with is always there.
    let only = std::env::args().nth(2);
    let wanted =
        |name: &str| only.as_ref().is_none_or(|only| only == name || [FLOOR, CHECKED].contains(&name));
    all.into_iter().filter(|(name, _)| wanted(name)).collect()
}

fn boxed<F>(call: impl Fn() -> F + Send + Sync + 'static) -> Arc<Client>
where
    F: Future<Output = Result<document::Invoice, String>> + 'static,
{
    Arc::new(move || Box::pin(call()))
}

async fn call_many(client: &Client, calls: u64, in_flight: usize) {
    let mut left = calls;
    let mut running = FuturesUnordered::new();
    while left > 0 || !running.is_empty() {
        while left > 0 && running.len() < in_flight {
            running.push(client());
            left -= 1;
        }
        if let Some(done) = running.next().await {
            let invoice = black_box(done).expect("an answer");
            assert_eq!(invoice.total, 1284.5, "the answer is the document");
        }
    }
}

/// How often a primary that always fails was asked, by each client, in so many calls one after another.
fn requests_to_a_dead_primary(server: &server::Server) {
    println!("\nrequests to a dead primary in {DEAD} calls");
    for (name, client) in clients(server, "dead") {
        let before = server.dead();
        client::runtime().block_on(call_many(&*client, DEAD, 1));
        println!("{name:44} {:>8}", server.dead() - before);
    }
}
