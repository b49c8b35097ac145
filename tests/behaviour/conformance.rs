//! What the loopback server sends follows the vendors' specifications. Requests are checked in every test.

use backstop::{
    Tool,
    mock::server::{Completion, Reply, Streaming},
    prelude::*,
};
use serde_json::json;

use crate::{
    bench::{Bench, every},
    problem::Problem,
    raw::{Raw, replay},
    spec::{Role, assert_valid},
};

fn completions() -> Vec<Completion> {
    vec![
        Completion::text("blue"),
        Completion::text("blue").tokens(120, 30).cached_tokens(100).reasoning_tokens(20),
        Completion::text("blue").reasoning("The sky is."),
        Completion::text("See:").tool_call("f", r#"{"a":1}"#).tool_call("f", "{}"),
        Completion::empty(),
        Completion::truncated("half"),
        Completion::filtered("half"),
        Completion::refusal("I can't do that."),
    ]
}

fn request() -> Request {
    Request::new("x")
        .tool(Tool::new("f", json!({ "type": "object", "properties": { "a": { "type": "integer" } } })))
}

/// The bytes of a reply to a request of the adapter's own.
async fn bytes(bench: &Bench, reply: Reply, stream: bool) -> Raw {
    bench.answers(reply.until_close());
    let request = request();
    match stream {
        true => drop(bench.stream(&request).await),
        false => drop(bench.complete(&request).await),
    }
    replay(&bench.server, &bench.received()).await
}

#[tokio::test]
async fn answers_of_the_server_follow_the_specifications() {
    every(async |bench| {
        for completion in completions() {
            let raw = bytes(bench, completion.into(), false).await;
            assert_eq!(raw.status, 200);
            assert_valid(bench.adapter.format, Role::Answer, &raw.json());
        }
    })
    .await;
}

#[tokio::test]
async fn streams_of_the_server_follow_the_specifications() {
    every(async |bench| {
        for completion in completions() {
            let reply = Reply::from(completion).streamed(Streaming::new().keep_alives(1));
            let events = bytes(bench, reply, true).await.events();
            assert!(!events.is_empty());
            for event in events {
                assert_valid(bench.adapter.format, Role::Event, &event);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn errors_of_the_server_follow_the_specifications() {
    every(async |bench| {
        for problem in Problem::ALL {
            let raw = bytes(bench, problem.error().into(), false).await;
            assert!(raw.status >= 400, "{problem:?}");
            assert_valid(bench.adapter.format, Role::Error, &raw.json());
        }
    })
    .await;
}
