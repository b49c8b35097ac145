use backstop_core::{Chunk, FailureKind, FinishKind, FinishReason, Progress, ProviderError, Response, Usage};
use backstop_http::{
    Reply, SseDecoder, StreamLimits,
    header::HeaderMap,
    streaming::{self, StreamReader},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::ResponseEvents;
use crate::stream::{Reader, Step};

fn read_in(body: &[u8], piece: usize) -> Vec<Step> {
    let mut decoder = SseDecoder::new(StreamLimits::default());
    let mut reader =
        Reader::new(Box::<ResponseEvents>::default(), Some("req-1".into()), Progress::default(), false, None);
    let mut pieces = body.chunks(piece.max(1));
    let mut finished = false;
    while !reader.is_done() {
        match decoder.next_item() {
            Some(item) => reader.item(item),
            None => match pieces.next() {
                Some(piece) => decoder.push(piece),
                None if finished => reader.finish(),
                None => {
                    decoder.finish();
                    finished = true;
                }
            },
        }
    }
    std::iter::from_fn(|| reader.next()).collect()
}

fn read(body: &str) -> Vec<Step> {
    read_in(body.as_bytes(), body.len())
}

fn chunks(body: &str) -> Vec<Chunk> {
    read(body).into_iter().map(Result::unwrap).filter(|chunk| *chunk != Chunk::Ping).collect()
}

fn events(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn text(delta: &str) -> Value {
    json!({"type": "response.output_text.delta", "item_id": "m1", "output_index": 1, "content_index": 0, "delta": delta})
}

fn created() -> Value {
    json!({"type": "response.created", "sequence_number": 0,
           "response": {"id": "resp_1", "status": "in_progress", "model": "m-1", "output": [], "usage": null}})
}

fn last(kind: &str, more: Value) -> Value {
    let mut response = json!({"id": "resp_1", "model": "m-1", "status": kind, "output": [
        {"type": "reasoning", "id": "rs"},
        {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "blue"}]}],
        "usage": {"input_tokens": 4, "output_tokens": 2}});
    response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": format!("response.{kind}"), "response": response})
}

fn meta() -> Chunk {
    Chunk::Meta { model: Some("m-1".into()), request_id: Some("req-1".into()) }
}

fn counts() -> Chunk {
    Chunk::Usage(Usage::new(4, 2))
}

fn end(kind: FinishKind, word: &'static str) -> Chunk {
    Chunk::End(FinishReason::new(kind, word))
}

fn usual() -> String {
    events(&[
        created(),
        json!({"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs"}}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs"}}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "id": "m1", "content": []}}),
        json!({"type": "response.content_part.added", "output_index": 1, "part": {"type": "output_text", "text": ""}}),
        text("bl"),
        text("ue"),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "blue"}),
        json!({"type": "response.content_part.done", "output_index": 1, "part": {"type": "output_text", "text": "blue"}}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "message", "id": "m1"}}),
        json!({"type": "response.something_new", "delta": {"x": 1}}),
        last("completed", json!({})),
    ])
}

#[test]
fn a_usual_stream() {
    let expected = [
        meta(),
        Chunk::Reasoning("hm".into()),
        Chunk::Text("bl".into()),
        Chunk::Text("ue".into()),
        counts(),
        end(FinishKind::Stop, "completed"),
    ];
    assert_eq!(chunks(&usual()), expected);
    // Every event is a sign of life.
    assert_eq!(read(&usual()).len(), 14 + 2);
}

#[test]
fn endings() {
    let ended = |kind: &str, more: Value| chunks(&events(&[text("bl"), last(kind, more)])).pop().unwrap();
    let cut = json!({"incomplete_details": {"reason": "max_output_tokens"}});
    assert_eq!(ended("incomplete", cut), end(FinishKind::Length, "max_output_tokens"));
    let filtered = json!({"incomplete_details": {"reason": "content_filter"}});
    assert_eq!(ended("incomplete", filtered), end(FinishKind::ContentFilter, "content_filter"));
    // A server that says goodbye like Chat Completions.
    assert_eq!(chunks("data: [DONE]\n\n"), [Chunk::End(FinishReason::from(FinishKind::Unknown))]);
    // A cut stream has no end, even if all the text has come.
    let cut = chunks(&events(&[
        created(),
        text("blue"),
        json!({"type": "response.output_text.done", "text": "blue"}),
    ]));
    assert_eq!(cut, [meta(), Chunk::Text("blue".into())]);
}

#[test]
fn text_that_came_in_no_delta_is_taken_from_the_end() {
    let chunks = chunks(&events(&[created(), last("completed", json!({}))]));
    assert_eq!(chunks[1..], [counts(), Chunk::Text("blue".into()), end(FinishKind::Stop, "completed")]);
}

#[test]
fn asides_are_no_part_of_the_answer() {
    let aside = json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "phase": "commentary"}});
    let mut other = text("blue");
    other["output_index"] = json!(2);
    let body = events(&[aside, text("I look."), other]);
    assert_eq!(chunks(&body), [Chunk::Text("blue".into())]);
}

fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Chunk {
    let (id, name) = (id.map(Into::into), name.map(Into::into));
    Chunk::ToolCall { index, id, name, arguments: arguments.into() }
}

#[test]
fn calls_of_tools() {
    let item = |id: &str, arguments: &str| json!({"type": "function_call", "id": id, "call_id": "c1", "name": "f", "arguments": arguments});
    let delta = |place: Value, text: &str| {
        let mut event = json!({"type": "response.function_call_arguments.delta", "delta": text});
        event.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
        event
    };
    let (first, second) = (json!({"output_index": 3}), json!({"output_index": 5}));
    let body = events(&[
        json!({"type": "response.output_item.added", "output_index": 3, "item": item("a", "")}),
        delta(first.clone(), "{\"x\""),
        json!({"type": "response.output_item.added", "output_index": 5, "item": item("b", "")}),
        delta(second, "{}"),
        delta(first, ":1}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 3, "arguments": "{\"x\":1}"}),
        json!({"type": "response.output_item.done", "output_index": 3, "item": item("a", "{\"x\":1}")}),
        last("completed", json!({"output": [item("a", "{\"x\":1}"), item("b", "{}")]})),
    ]);
    let expected = [
        call(0, Some("c1"), Some("f"), ""),
        call(0, None, None, "{\"x\""),
        call(1, Some("c1"), Some("f"), ""),
        call(1, None, None, "{}"),
        call(0, None, None, ":1}"),
        meta(),
        counts(),
        end(FinishKind::ToolCalls, "completed"),
    ];
    assert_eq!(chunks(&body), expected);
    // Without indexes, without deltas, without a beginning.
    let odd = events(&[
        json!({"type": "response.output_item.added", "item": item("a", "")}),
        json!({"type": "response.output_item.added", "item": item("b", "")}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "b", "delta": "{}"}),
        json!({"type": "response.output_item.done", "item": item("a", "{\"x\":1}")}),
        json!({"type": "response.output_item.done", "item": item("c", "{}")}),
    ]);
    let expected = [
        call(0, Some("c1"), Some("f"), ""),
        call(1, Some("c1"), Some("f"), ""),
        call(1, None, None, "{}"),
        call(0, None, None, "{\"x\":1}"),
        call(2, Some("c1"), Some("f"), "{}"),
    ];
    assert_eq!(chunks(&odd), expected);
}

#[test]
fn errors_of_every_shape_end_the_stream() {
    use FailureKind::*;
    let table = [
        (
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": null, "sequence_number": 3}),
            RateLimited,
        ),
        (json!({"type": "error", "code": "server_error", "message": "m"}), Server),
        (json!({"type": "error", "code": null, "message": "overloaded"}), Overloaded),
        (json!({"type": "error", "error": {"code": "insufficient_quota", "message": "m"}}), QuotaExhausted),
        (json!({"type": "odd", "error": {"code": 429, "message": "m"}}), RateLimited),
        (last("failed", json!({"error": {"code": "bio_policy", "message": "m"}})), Filtered),
        (json!({"type": "response.failed"}), Server),
        (json!({"type": "response.completed"}), MalformedResponse),
        (json!({"type": "response.completed", "response": {"status": "completed"}}), MalformedResponse),
    ];
    for (event, kind) in table {
        let mut steps = read(&events(&[text("he"), event.clone(), text("llo")]));
        assert_eq!(steps.pop().unwrap().unwrap_err().kind(), kind, "{event}");
        assert!(steps.iter().any(|step| matches!(step, Ok(Chunk::Text(text)) if text == "he")), "{event}");
    }
    assert_eq!(read("data: {\"cut\n\n").pop().unwrap().unwrap_err().kind(), MalformedResponse);
}

#[test]
fn a_failed_response_tells_what_it_cost() {
    let failed = last("failed", json!({"error": {"code": "server_error", "message": "m"}}));
    let steps = read(&events(&[failed]));
    assert!(steps.iter().any(|step| matches!(step, Ok(Chunk::Usage(usage)) if *usage == Usage::new(4, 2))));
}

fn collect_from(body: impl Into<Vec<u8>>) -> Result<Response, ProviderError> {
    let reader = Reader::new(Box::<ResponseEvents>::default(), None, Progress::default(), false, None);
    streaming::collect(&Reply::new(200, HeaderMap::new(), body.into()), reader)
}

fn collected(body: &str) -> Result<Response, ProviderError> {
    collect_from(body.to_owned())
}

#[test]
fn a_stream_nobody_asked_for_and_an_answer_without_one() {
    let response = collected(&usual()).unwrap();
    assert_eq!((response.text.as_str(), response.usage), ("blue", Some(Usage::new(4, 2))));
    assert_eq!(response.model.as_deref(), Some("m-1"));
    let whole = last("completed", json!({}))["response"].to_string();
    assert!(chunks(&whole).contains(&Chunk::Text("blue".into())));
}

#[test]
fn a_model_that_is_named_late_is_passed_on() {
    let unnamed = json!({"type": "response.created", "response": {"id": "resp_1"}});
    let chunks = chunks(&events(&[unnamed, last("completed", json!({}))]));
    let before = Chunk::Meta { model: None, request_id: Some("req-1".into()) };
    assert_eq!(chunks[..2], [before, meta()]);
}

/// What may be compared: errors by their text.
fn comparable(steps: Vec<Step>) -> Vec<Result<Chunk, String>> {
    steps.into_iter().map(|step| step.map_err(|error| error.to_string())).collect()
}

proptest! {
    #[test]
    fn how_a_stream_is_cut_into_pieces_makes_no_difference(piece in 1..200usize, cut in 0..3_000usize) {
        let body = usual();
        let bytes = &body.as_bytes()[..cut.min(body.len())];
        prop_assert_eq!(comparable(read_in(bytes, piece)), comparable(read_in(bytes, bytes.len())));
    }
}

#[test]
fn byte_by_byte_it_is_the_same_stream() {
    let body = usual();
    assert_eq!(comparable(read_in(body.as_bytes(), 1)), comparable(read(&body)));
}
