//! What a call allocates, counted on the thread that runs it.

use std::{
    future::{self, Future, IntoFuture},
    sync::mpsc,
    task::{Context, Waker},
};

use allocation_counter::{AllocationInfo, measure};
use async_trait::async_trait;
use backstop::{
    mock::{MockServer, server::Reply},
    prelude::*,
    validate::partial::PartialParser,
};
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs the call once to fill caches and pools, then counts.
fn counted(runtime: &Runtime, call: impl Fn() -> backstop::Call<'static, String>) -> AllocationInfo {
    runtime.block_on(async { call().await }).unwrap();
    measure(|| {
        runtime.block_on(async { call().await }).unwrap();
    })
}

/// A server on a thread of its own, so that its allocations are not counted.
fn server() -> (String, mpsc::Sender<()>) {
    let (send_url, url) = mpsc::channel();
    let (stop, stopped) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(MockServer::start()).unwrap();
        server.push(Reply::text("ok"));
        send_url.send(server.url().to_owned()).unwrap();
        stopped.recv().ok();
    });
    (url.recv().unwrap(), stop)
}

#[test]
fn the_prompts_bytes_are_copied_at_most_twice_on_the_way_out() {
    const PROMPT: usize = 8 << 20;
    let (url, _stop) = server();
    let runtime = runtime();
    let provider = OpenAi::builder().base_url(url).build().unwrap();
    let chain = Chain::builder().target(provider.model("m")).build().unwrap();
    let small = counted(&runtime, || chain.complete("hi"));
    let request = Request::new("x".repeat(PROMPT));
    let large = counted(&runtime, || chain.complete(&request));
    let copies = (large.bytes_total - small.bytes_total) as f64 / PROMPT as f64;
    println!("an 8 MiB prompt: {copies:.2} copies on the heap");
    assert!(copies <= 2.05, "{copies:.2} copies");
}

#[test]
fn an_empty_chain_call_allocates_little() {
    struct Ready;

    #[async_trait]
    impl Provider for Ready {
        fn name(&self) -> &str {
            "ready"
        }

        async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
            Ok(Response::new("ok"))
        }
    }

    let runtime = runtime();
    let chain = Chain::builder().target(Ready.model("m")).build().unwrap();
    let request = Request::new("hi");
    let call = counted(&runtime, || chain.complete(&request));
    println!("an empty chain call: {} allocations, {} bytes", call.count_total, call.bytes_total);
    assert!(call.count_total <= 20, "{} allocations", call.count_total);
}

#[test]
fn a_value_that_grows_takes_memory_in_proportion_to_its_text() {
    const LENGTH: usize = 256 << 10;
    let texts = [
        ("a long string", "{\"a\": \"", "lorem ipsum ", 8.0),
        ("numbers", "[", "1, ", 64.0),
        ("brackets", "[", "[[[]]], ", 64.0),
        ("the same key", "{", "\"a\": 1, ", 8.0),
        ("prose", "", "not a word of JSON ", 4.0),
    ];
    for (name, head, unit, most) in texts {
        let text = format!("{head}{}", unit.repeat(LENGTH / unit.len()));
        let info = measure(|| {
            let mut parser = PartialParser::new();
            for piece in text.as_bytes().chunks(50) {
                parser.push(std::str::from_utf8(piece).unwrap());
            }
        });
        let share = info.bytes_max as f64 / text.len() as f64;
        println!("{name}: at most {share:.1} bytes on the heap for each of the text");
        assert!(share <= most, "{name}: {share:.1} bytes on the heap for each of the text");
    }
}

/// Bytes on the heap for each of so many futures, boxed and polled once.
fn held_by_each<F: Future>(runtime: &Runtime, start: impl Fn() -> F) -> u64 {
    const MANY: u64 = 10_000;
    let held = measure(|| {
        let _context = runtime.enter();
        let mut waiting: Vec<_> = (0..MANY).map(|_| Box::pin(start())).collect();
        let mut context = Context::from_waker(Waker::noop());
        for one in &mut waiting {
            assert!(one.as_mut().poll(&mut context).is_pending(), "it waits for the provider");
        }
    });
    held.bytes_max / MANY
}

#[test]
fn ten_thousand_calls_in_flight_hold_a_few_kilobytes_each() {
    struct Silent;

    #[async_trait]
    impl Provider for Silent {
        fn name(&self) -> &str {
            "silent"
        }

        async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
            future::pending().await
        }
    }

    let runtime = runtime();
    let chain = Chain::builder().target(Silent.model("m")).build().unwrap();
    let request = Request::new("hi");
    let attempt = Attempt::new("m", &request);
    let bare = held_by_each(&runtime, || Silent.complete(&attempt));
    let call = held_by_each(&runtime, || chain.complete(&request).into_future());
    println!("in flight: {call} bytes a call, of which {bare} the provider's");
    assert!(call <= 8 * 1024, "{call} bytes");
}
