//! Chains over loopback servers.

use std::time::Duration;

use backstop::{ChainBuilder, mock::MockServer, prelude::*};

/// A key that must appear nowhere but in the request's header.
pub const KEY: &str = "sk-test-9f8e7d6c5b4a-SECRET";

pub fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub fn provider(server: &MockServer) -> OpenAi {
    OpenAi::builder().base_url(server.url()).api_key(KEY).build().unwrap()
}

/// A target with a short timeout and almost no wait between retries.
pub fn target(server: &MockServer, name: &'static str) -> Target {
    let retry = RetryPolicy::default().base(millis(1)).cap(millis(1));
    provider(server).model("gpt-4o").named(name).timeout(millis(2_000)).retry(retry)
}

/// A chain over servers named `first` and `second`.
pub fn chain(servers: &[&MockServer]) -> Chain {
    let names = ["first", "second", "third"];
    let targets = servers.iter().zip(names).map(|(server, name)| target(server, name));
    targets.fold(Chain::builder(), ChainBuilder::target).build().unwrap()
}

/// The kinds of failure in order.
pub fn kinds(report: &Report) -> Vec<FailureKind> {
    report.failures().map(|(_, kind)| kind).collect()
}
