use backstop_core::{Chunk, FailureKind, FinishKind, FinishReason, Progress, ProviderError, Response, Usage};
use backstop_http::{Reply, StreamLimits, header::HeaderMap, streaming, testing};
use proptest::prelude::*;

use super::ChatEvents;
use crate::stream::{Reader, Step};

fn read(body: &str) -> Vec<Step> {
    read_in([body.as_bytes()])
}

/// The same of a body that comes in these pieces.
fn read_in<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<Step> {
    let reader = Reader::new(Box::new(ChatEvents), Some("req-1".into()), Progress::default(), false, None);
    testing::chunks(reader, StreamLimits::default(), pieces)
}

fn chunks(body: &str) -> Vec<Chunk> {
    read(body).into_iter().map(Result::unwrap).collect()
}

fn events(events: &[&str]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn delta(delta: &str) -> String {
    format!(r#"{{"id":"c1","model":"m-1","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

fn meta() -> Chunk {
    Chunk::Meta { model: Some("m-1".into()), request_id: Some("req-1".into()) }
}

fn end(kind: FinishKind, word: &'static str) -> Chunk {
    Chunk::End(FinishReason::new(kind, word))
}

const STOP: &str = r#"{"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn a_usual_stream() {
    let body = events(&[
        &delta(r#"{"role":"assistant","content":""}"#),
        &delta(r#"{"content":"bl"}"#),
        &delta(r#"{"content":"ue"}"#),
        STOP,
        r#"{"model":"m-1","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1}}"#,
        "[DONE]",
    ]);
    let expected = [
        meta(),
        Chunk::Ping,
        Chunk::Text("bl".into()),
        Chunk::Text("ue".into()),
        Chunk::Ping,
        Chunk::Usage(Usage::new(4, 1)),
        end(FinishKind::Stop, "stop"),
    ];
    assert_eq!(chunks(&body), expected);
}

proptest! {
    #[test]
    fn how_a_stream_is_cut_into_pieces_makes_no_difference(
        text in "\\PC{0,40}", size in 1..200_usize, end in 0..1_000_usize
    ) {
        let content = format!(r#"{{"content":{}}}"#, serde_json::Value::from(text));
        let body = events(&[&delta(&content), &delta(&content), STOP, "[DONE]"]);
        let body = &body.as_bytes()[..end.min(body.len())];
        let comparable = |steps: Vec<Step>| -> Vec<_> {
            steps.into_iter().map(|step| step.map_err(|error| error.to_string())).collect()
        };
        prop_assert_eq!(comparable(read_in(body.chunks(size))), comparable(read_in([body])));
    }
}

#[test]
fn reasoning_refusals_and_calls() {
    let body = events(&[
        &delta(r#"{"reasoning_content":"hm"}"#),
        &delta(r#"{"reasoning":"hm"}"#),
        &delta(r#"{"refusal":"No."}"#),
        &delta(r#"{"tool_calls":[{"index":1,"id":"a","function":{"name":"f","arguments":""}}]}"#),
        &delta(r#"{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}"#),
        r#"{"model":"m-1","choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
    ]);
    let call = |id: Option<&str>, name: Option<&str>, arguments: &str| Chunk::ToolCall {
        index: 1,
        id: id.map(Into::into),
        name: name.map(Into::into),
        arguments: arguments.into(),
    };
    let expected = [
        meta(),
        Chunk::Reasoning("hm".into()),
        Chunk::Reasoning("hm".into()),
        Chunk::Refusal("No.".into()),
        call(Some("a"), Some("f"), ""),
        call(None, None, "{}"),
        Chunk::Ping,
        end(FinishKind::ToolCalls, "tool_calls"),
    ];
    assert_eq!(chunks(&body), expected);
}

#[test]
fn a_stream_without_an_end_has_none() {
    let cut = chunks(&events(&[&delta(r#"{"content":"bl"}"#)]));
    assert_eq!(cut, [meta(), Chunk::Text("bl".into())]);
    assert_eq!(chunks(""), []);
}

#[test]
fn ends_of_every_kind() {
    // The server says that it is done, without a reason.
    assert_eq!(chunks(&events(&["[DONE]"])), [Chunk::End(FinishReason::from(FinishKind::Unknown))]);
    // A reason, and the body's end instead of the word.
    assert_eq!(chunks(&events(&[STOP])).last(), Some(&end(FinishKind::Stop, "stop")));
    // The last counts win, wherever they stand; Groq has its own place for them.
    let body = events(&[
        r#"{"model":"m-1","choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":4,"completion_tokens":1}}"#,
        r#"{"model":"m-1","choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":4,"completion_tokens":3}}}"#,
    ]);
    let counts: Vec<_> = chunks(&body).into_iter().filter(|chunk| matches!(chunk, Chunk::Usage(_))).collect();
    assert_eq!(counts, [Chunk::Usage(Usage::new(4, 1)), Chunk::Usage(Usage::new(4, 3))]);
}

#[test]
fn keep_alives_and_empty_events_are_pings() {
    let body = format!(
        ": PROCESSING\n\n{}",
        events(&[r#"{"choices":[],"prompt_filter_results":[]}"#, &delta("{}")])
    );
    let expected = [
        Chunk::Ping,
        Chunk::Meta { model: None, request_id: Some("req-1".into()) },
        Chunk::Ping,
        // Azure names the model only in the second event.
        meta(),
        Chunk::Ping,
    ];
    assert_eq!(chunks(&body), expected);
}

#[test]
fn errors_end_the_stream() {
    let half = delta(r#"{"content":"he"}"#);
    let table: &[(&str, FailureKind)] = &[
        (r#"{"error":{"message":"overloaded"}}"#, FailureKind::Overloaded),
        (r#"{"error":{"code":"rate_limit_exceeded"}}"#, FailureKind::RateLimited),
        (
            r#"{"id":"c","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"gone"}}"#,
            FailureKind::Server,
        ),
        (r#"{"choices":[{"delta":{},"finish_reason":"abort"}]}"#, FailureKind::Server),
        ("{\"cut", FailureKind::MalformedResponse),
        ("hello", FailureKind::MalformedResponse),
    ];
    for (event, kind) in table {
        let mut steps = read(&events(&[&half, event, &half, "[DONE]"]));
        assert_eq!(steps.pop().unwrap().unwrap_err().kind(), *kind, "{event}");
        assert!(steps.iter().any(|step| matches!(step, Ok(Chunk::Text(text)) if text == "he")));
    }
}

#[test]
fn json_that_is_no_event() {
    let error = read("{\"error\": {\n\"message\": \"overloaded\"}}\n").pop().unwrap().unwrap_err();
    assert_eq!(error.kind(), FailureKind::Overloaded);
    let whole = chunks(r#"{"model":"m-1","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}"#);
    assert!(
        whole.contains(&Chunk::Text("ok".into())) && whole.contains(&end(FinishKind::Stop, "stop")),
        "{whole:?}"
    );
}

fn collect_from(body: impl Into<Vec<u8>>) -> Result<Response, ProviderError> {
    let reader = Reader::new(Box::new(ChatEvents), None, Progress::default(), false, None);
    streaming::collect(&Reply::new(200, HeaderMap::new(), body.into()), reader)
}

fn collected(body: &str) -> Result<Response, ProviderError> {
    collect_from(body.to_owned())
}

#[test]
fn a_stream_nobody_asked_for_is_put_together() {
    let body = events(&[
        &delta(r#"{"content":"bl"}"#),
        &delta(r#"{"content":"ue"}"#),
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}"#),
        &delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#),
        STOP,
        r#"{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1}}"#,
        "[DONE]",
    ]);
    let response = collected(&body).unwrap();
    assert_eq!((response.text.as_str(), response.usage), ("blue", Some(Usage::new(4, 1))));
    assert_eq!(response.tool_calls[0].arguments, r#"{"x":1}"#);
    assert_eq!(response.model.as_deref(), Some("m-1"));
    let cut = collected(&events(&[&delta(r#"{"content":"bl"}"#)])).unwrap_err();
    assert_eq!(cut.kind(), FailureKind::MalformedResponse);
    assert_eq!(collected(&events(&[r#"{"error":"x"}"#])).unwrap_err().kind(), FailureKind::Server);
}
