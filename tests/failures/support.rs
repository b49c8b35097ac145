//! Targets at loopback servers, and what tests ask of reports.

use backstop::{
    Registry, Response,
    mock::{
        MockServer,
        server::{Received, Reply},
    },
    openai::{ClientOptions, HttpClient},
    prelude::*,
};
use backstop_core::breaker::{BreakerKey, Snapshot, State};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{millis, secs};
use serde_json::Value;

/// Sent to every server; must be seen nowhere else.
pub const KEY: &str = "sk-test-5e4d3c2b1a-SECRET";

/// A server with this script.
pub async fn server<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> MockServer {
    let server = MockServer::start().await.unwrap();
    for reply in replies {
        server.push(reply);
    }
    server
}

/// A server that answers every request with this text.
pub async fn answering(text: &str) -> MockServer {
    server([Reply::text(text)]).await
}

/// A body that no vendor would send, as it stands.
pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
    Reply::bytes(content_type, body).status(status)
}

pub fn openai(server: &MockServer) -> OpenAi {
    OpenAi::builder().base_url(server.url()).api_key(KEY).http_client(http()).build().unwrap()
}

pub fn anthropic(server: &MockServer) -> Anthropic {
    Anthropic::builder().base_url(server.url()).api_key(KEY).http_client(http()).build().unwrap()
}

pub fn gemini(server: &MockServer) -> Gemini {
    Gemini::builder().base_url(server.url()).api_key(KEY).http_client(http()).build().unwrap()
}

/// The client of this test, which runs on a thread of its own: reading the system's certificates takes long.
pub fn http() -> HttpClient {
    thread_local! {
        static CLIENT: HttpClient = ClientOptions::new().no_proxy().build().unwrap();
    }
    CLIENT.with(HttpClient::clone)
}

/// A target at a server, with a short timeout and almost no wait between retries.
pub fn short(target: Target, name: &'static str) -> Target {
    target.named(name).timeout(millis(2_000)).retry(RetryPolicy::default().base(millis(1)).cap(millis(1)))
}

pub fn at(server: &MockServer, name: &'static str) -> Target {
    short(openai(server).model("gpt-4o"), name)
}

pub fn at_anthropic(server: &MockServer, name: &'static str) -> Target {
    short(anthropic(server).model("claude-sonnet-4-5"), name)
}

pub fn at_gemini(server: &MockServer, name: &'static str) -> Target {
    short(gemini(server).model("gemini-2.5-flash"), name)
}

/// A chain over targets, in order.
pub fn chain(targets: impl IntoIterator<Item = Target>) -> Chain {
    targets.into_iter().fold(Chain::builder(), backstop::ChainBuilder::target).build().unwrap()
}

/// A chain over servers that speak Chat Completions, named `first`, `second`, `third`.
pub fn over(servers: &[&MockServer]) -> Chain {
    chain(servers.iter().zip(["first", "second", "third"]).map(|(server, name)| at(server, name)))
}

/// The kinds of failure, in order.
pub fn kinds(report: &Report) -> Vec<FailureKind> {
    report.failures().map(|(_, kind)| kind).collect()
}

/// How many requests a server got.
pub fn hits(server: &MockServer) -> usize {
    server.requests().len()
}

/// The JSON bodies that a server got.
pub fn bodies(server: &MockServer) -> Vec<Value> {
    server.requests().iter().map(Received::json).cloned().collect()
}

/// Breakers that open after so many failures in a row, for so many seconds.
pub fn registry(failures: u32, cooldown: u64) -> Registry {
    let config = BreakerConfig::builder()
        .consecutive_failures(failures)
        .without_failure_rate()
        .cooldown(secs(cooldown))
        .jitter(0.0)
        .build()
        .unwrap();
    Registry::builder().config(config).build()
}

/// The breaker of a scripted provider whose model is `m`.
pub fn breaker(registry: &Registry, provider: &str) -> Snapshot {
    registry.breaker(&BreakerKey::new(provider, "m")).snapshot()
}

pub fn state(registry: &Registry, provider: &str) -> State {
    breaker(registry, provider).state
}

/// A scripted provider that always fails so.
pub fn failing(name: &'static str, kind: FailureKind) -> MockProvider {
    MockProvider::new(name, [Step::fail(kind)])
}

/// A scripted provider that always answers with this text.
pub fn saying(name: &'static str, text: &str) -> MockProvider {
    MockProvider::new(name, [Step::text(text)])
}

/// What an adapter makes of an answer, without a chain.
pub async fn ask(provider: &impl Provider, model: &str) -> Result<Response, ProviderError> {
    let request = Request::new("x");
    provider.complete(&Attempt::new(model, &request)).await
}
