//! Streams: their borders, their gates, and the ways in which they break.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod client;

use std::{
    io::ErrorKind,
    time::{Duration, Instant},
};

use backstop_mock::server::{ApiError, Completion, End, Gate, MockServer, Reply, Streaming};
use client::{CHAT, Client, Response, streamed_question};
use serde_json::{Value, json};

async fn asked(server: &MockServer) -> Client {
    let mut client = Client::connect(server).await;
    client.post(CHAT, &streamed_question()).await;
    client
}

async fn streamed(server: &MockServer, reply: Reply) -> Response {
    server.clear_scripts().push(reply);
    asked(server).await.response().await
}

fn contents(events: &[Value]) -> Vec<&str> {
    let content = |event: &'_ Value| event.pointer("/choices/0/delta/content").is_some();
    let events = events.iter().filter(|event| content(event));
    events.filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect()
}

#[tokio::test]
async fn a_stream_has_a_role_pieces_a_reason_the_usage_asked_for_and_an_end() {
    let server = MockServer::start().await.unwrap();
    let reply = Completion::pieces(["Hel", "", "lo"]).tokens(7, 3).model("served");
    let response = streamed(&server, reply.into()).await;
    assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let events = response.json_events();
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(contents(&events), ["", "Hel", "", "lo"]);
    assert_eq!(events[4]["choices"][0]["finish_reason"], "stop");
    assert_eq!((&events[5]["choices"], &events[5]["usage"]["total_tokens"]), (&json!([]), &json!(10)));
    assert!(events.iter().all(|event| event["model"] == "served"));
    assert_eq!(response.events().last().unwrap(), "[DONE]");
    assert_eq!(response.chunks.len(), response.events().len(), "one chunk each");
}

#[tokio::test]
async fn usage_is_streamed_only_if_it_was_asked_for() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("x"));
    let mut client = Client::connect(&server).await;
    let response = client.ask(CHAT, &json!({ "model": "m", "messages": [], "stream": true })).await;
    assert!(!response.text().contains("usage"));
    let response = streamed(&server, Completion::text("x").no_usage().into()).await;
    assert!(!response.text().contains("usage"));
}

#[tokio::test]
async fn text_is_cut_into_pieces_of_so_many_characters() {
    let server = MockServer::start().await.unwrap();
    let reply = Reply::text("日本語で").streamed(Streaming::new().piece_chars(3));
    assert_eq!(contents(&streamed(&server, reply).await.json_events()), ["", "日本語", "で"]);
}

#[tokio::test]
async fn events_are_written_at_borders_that_respect_nothing() {
    let server = MockServer::start().await.unwrap();
    let text = "naïve 日本語 👩‍👩‍👧";
    let whole = streamed(&server, Reply::text(text)).await;
    for bytes in [1, 2, 3, 7, 64, usize::MAX] {
        let reply = Reply::text(text).streamed(Streaming::new().write_bytes(bytes));
        let response = streamed(&server, reply).await;
        // Ids are numbered, hence compared without them.
        assert_eq!(contents(&response.json_events()), contents(&whole.json_events()));
        let (last, full) = response.chunks.split_last().unwrap();
        assert!(full.iter().all(|chunk| chunk.len() == bytes) && last.len() <= bytes, "{bytes}");
        if bytes == 1 {
            assert!(full.iter().any(|chunk| std::str::from_utf8(chunk).is_err()), "characters are split too");
        }
    }
}

#[tokio::test]
async fn keep_alives_come_before_each_piece_and_are_no_events() {
    let server = MockServer::start().await.unwrap();
    let reply = Completion::pieces(["a", "b"]);
    let reply = Reply::from(reply).streamed(Streaming::new().keep_alives(2));
    let response = streamed(&server, reply).await;
    assert_eq!(response.text().matches(": keep-alive\n\n").count(), 4);
    assert_eq!(contents(&response.json_events()), ["", "a", "b"]);
}

#[tokio::test]
async fn a_test_steps_through_a_stream() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    let reply = Reply::from(Completion::pieces(["a", "b", "c"])).streamed(Streaming::new().step(&gate));
    server.push(reply);
    let mut client = asked(&server).await;
    client.head().await;
    client.chunk().await.unwrap();
    for (index, piece) in ["a", "b", "c"].into_iter().enumerate() {
        gate.reached(index + 1).await.unwrap();
        client.hears_nothing().await;
        gate.release_one();
        let chunk = String::from_utf8(client.chunk().await.unwrap()).unwrap();
        assert!(chunk.contains(&format!(r#"{{"content":"{piece}"}}"#)), "{chunk}");
    }
    assert!(client.chunk().await.is_some(), "the rest needs no permit");
}

#[tokio::test]
async fn gates_stand_before_a_piece_and_after_the_last_one() {
    let server = MockServer::start().await.unwrap();
    let (second, end) = (Gate::new(), Gate::new());
    let streaming = Streaming::new().gate_at(1, &second).gate_at(2, &end);
    server.push(Reply::from(Completion::pieces(["a", "b"])).streamed(streaming));
    let mut client = asked(&server).await;
    client.head().await;
    for _ in 0..2 {
        client.chunk().await.unwrap();
    }
    second.reached(1).await.unwrap();
    client.hears_nothing().await;
    second.release();
    client.chunk().await.unwrap();
    end.reached(1).await.unwrap();
    client.hears_nothing().await;
    end.release();
    let mut rest = Vec::new();
    while let Some(chunk) = client.chunk().await {
        rest.extend(chunk);
    }
    assert!(String::from_utf8(rest).unwrap().ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn pauses_pass_before_each_piece() {
    let server = MockServer::start().await.unwrap();
    let pause = Duration::from_millis(15);
    let start = Instant::now();
    let reply = Reply::from(Completion::pieces(["a", "b", "c"])).streamed(Streaming::new().pause(pause));
    streamed(&server, reply).await;
    assert!(start.elapsed() >= pause * 3);
}

#[tokio::test]
async fn a_stream_ends_without_its_end() {
    let server = MockServer::start().await.unwrap();
    let reply = Reply::text("x").streamed(Streaming::new().no_end());
    let response = streamed(&server, reply).await;
    assert!(!response.text().contains("[DONE]") && response.text().contains("\"finish_reason\":\"stop\""));

    let reply = Reply::from(Completion::pieces(["a", "b", "c"])).streamed(Streaming::new().end_after(2));
    let response = streamed(&server, reply).await;
    assert_eq!(contents(&response.json_events()), ["", "a", "b"]);
    assert!(!response.text().contains("[DONE]") && !response.text().contains("stop"));
}

#[tokio::test]
async fn an_error_breaks_into_a_stream_or_is_all_of_it() {
    let server = MockServer::start().await.unwrap();
    let streaming = || Streaming::new().error_after(1, ApiError::overloaded().message("no more"));
    let response = streamed(&server, Reply::from(Completion::pieces(["a", "b"])).streamed(streaming())).await;
    let events = response.json_events();
    assert_eq!(contents(&events), ["", "a"]);
    assert_eq!(events.last().unwrap()["error"]["message"], "no more");
    assert_eq!((response.status, events.len()), (200, 3));

    let response = streamed(&server, Reply::in_band(ApiError::rate_limited())).await;
    assert_eq!((response.status, response.events().len()), (200, 1));
    assert_eq!(response.json_events()[0]["error"]["code"], "rate_limit_exceeded");
}

#[tokio::test]
async fn an_error_before_the_stream_is_no_stream() {
    let server = MockServer::start().await.unwrap();
    let response = streamed(&server, ApiError::rate_limited().into()).await;
    assert_eq!((response.status, response.header("content-type")), (429, Some("application/json")));
    assert_eq!(response.json()["error"]["code"], "rate_limit_exceeded");
}

#[tokio::test]
async fn a_stream_is_cut_at_any_byte() {
    let server = MockServer::start().await.unwrap();
    let whole = streamed(&server, Reply::text("some text")).await.body;
    for at in (0..=whole.len()).step_by(41).chain([whole.len() - 1, whole.len()]) {
        for (end, kind) in [(End::Close, None), (End::Reset, Some(ErrorKind::ConnectionReset))] {
            server.clear_scripts().push(Reply::text("some text").until_close().cut_at(at as u64, end));
            let mut client = asked(&server).await;
            client.head().await;
            let (bytes, error) = client.rest().await;
            assert_eq!((bytes.len(), error), (at, kind), "{at} {end:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_hangs_and_the_client_that_gives_up_is_noticed() {
    let server = MockServer::start().await.unwrap();
    let never = Gate::new();
    let reply = Reply::from(Completion::pieces(["a", "b"])).streamed(Streaming::new().gate_at(1, &never));
    server.push(reply);
    let client = asked(&server).await;
    never.reached(1).await.unwrap();
    drop(client);
    let disconnects = server.wait_for_disconnects(1).await.unwrap();
    assert!(disconnects[0].sent > 0 && disconnects[0].request.as_ref().unwrap().is_stream());
}

#[tokio::test]
async fn a_server_may_ignore_the_wish_for_a_stream() {
    let server = MockServer::start().await.unwrap();
    let response = streamed(&server, Reply::text("whole").streamed(Streaming::new().ignored())).await;
    assert_eq!(response.json()["choices"][0]["message"]["content"], "whole");
}

#[tokio::test]
async fn raw_events_are_sent_as_they_are() {
    let server = MockServer::start().await.unwrap();
    // An empty event must not become the empty chunk that ends a body.
    let events = ["\u{feff}data: {\"a\":1}\r\n\r\n", ":\n", "", "data:no space\n\n", "event: odd\r\rdata"];
    let response = streamed(&server, Reply::events(events)).await;
    assert_eq!(response.text(), events.concat());
    assert_eq!(response.chunks.len(), 4);
}

#[tokio::test]
async fn a_huge_event_is_one_event() {
    let server = MockServer::start().await.unwrap();
    let response = streamed(&server, Completion::huge(3_000_000).into()).await;
    let events = response.json_events();
    let texts = contents(&events);
    assert_eq!(texts.iter().map(|text| text.len()).collect::<Vec<_>>(), [0, 3_000_000]);
}
