use backstop_core::{Chunk, FailureKind, FinishKind, Progress, Stage, ToolCall, Usage};
use backstop_http::{
    Reply, SseDecoder, SseItem, StreamLimits,
    header::HeaderMap,
    streaming::{StreamReader, collect},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::request::Format;

/// What a body gives, cut into pieces of so many bytes.
fn read(body: &[u8], piece: usize, answer_tool: bool) -> Vec<Result<Chunk, String>> {
    let mut decoder = SseDecoder::new(StreamLimits::default());
    let mut reader = Reader::new(Some("req_1".into()), Progress::default(), &format(answer_tool), None);
    let mut chunks = Vec::new();
    let mut pieces = body.chunks(piece.max(1));
    while !reader.is_done() {
        match decoder.next_item() {
            Some(item) => reader.item(item),
            None => match pieces.next() {
                Some(piece) => decoder.push(piece),
                None => {
                    decoder.finish();
                    match decoder.next_item() {
                        Some(item) => reader.item(item),
                        None => reader.finish(),
                    }
                }
            },
        }
        while let Some(step) = reader.next() {
            chunks.push(step.map_err(|error| error.to_string()));
        }
    }
    chunks
}

/// A reader of the text in this reply.
fn plain(reply: &Reply) -> Reader {
    Reader::new(reply.request_id.clone(), Progress::default(), &Format::Text, None)
}

/// A text, or an answer by the tool `answer`.
fn format(answer_tool: bool) -> Format {
    if !answer_tool {
        return Format::Text;
    }
    let request = backstop_core::Request::new("x").json_schema("answer", json!({"type": "object"}));
    let attempt = backstop_core::Attempt::new("m", &request);
    crate::request::render(&attempt, &crate::ModelTraits::compatible(), true).unwrap().format
}

fn sse(events: &[Value]) -> String {
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x"));
    events.iter().map(event).collect()
}

fn chunks(events: &[Value]) -> Vec<Result<Chunk, String>> {
    read(sse(events).as_bytes(), usize::MAX, false)
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

fn input(index: u64, part: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": part}))
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn opening() -> Value {
    let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 3, "output_tokens": 1});
    json!({"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": [], "stop_reason": null, "usage": usage}})
}

fn ending(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 6}}),
        json!({"type": "message_stop"}),
    ]
}

fn tool(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

/// A stream with one of everything.
fn full() -> Vec<Value> {
    let mut events = vec![
        opening(),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "s"})),
        stop(0),
        start(1, json!({"type": "text", "text": ""})),
        text(1, "Hé"),
        delta(1, json!({"type": "citations_delta", "citation": {}})),
        text(1, "llo"),
        stop(1),
        start(2, tool("t1", "f")),
        input(2, ""),
        input(2, "{\"a\":"),
        input(2, "1}"),
        stop(2),
        start(3, tool("t2", "g")),
        stop(3),
        json!({"type": "newest_event", "delta": 7}),
    ];
    events.extend(ending("tool_use"));
    events
}

/// Without what only says that the server lives.
fn said(chunks: Vec<Result<Chunk, String>>) -> Vec<Chunk> {
    chunks.into_iter().map(Result::unwrap).filter(|chunk| *chunk != Chunk::Ping).collect()
}

fn call(index: usize, head: Option<(&str, &str)>, arguments: &str) -> Chunk {
    let (id, name) = head.map(|(id, name)| (id.to_owned(), name.to_owned())).unzip();
    Chunk::ToolCall { index, id, name, arguments: arguments.to_owned() }
}

#[test]
fn one_of_everything() {
    let early = Usage::new(15, 1).with_cached(3);
    assert_eq!(
        said(chunks(&full())),
        [
            Chunk::Meta { model: Some("m".into()), request_id: Some("req_1".into()) },
            Chunk::Usage(early),
            Chunk::Reasoning("hm".into()),
            Chunk::Text("Hé".into()),
            Chunk::Text("llo".into()),
            call(0, Some(("t1", "f")), ""),
            call(0, None, "{\"a\":"),
            call(0, None, "1}"),
            call(1, Some(("t2", "g")), ""),
            call(1, None, "{}"),
            Chunk::Usage(Usage::new(15, 6).with_cached(3)),
            Chunk::End(crate::response::finish(Some("tool_use"), false)),
        ]
    );
}

#[test]
fn what_only_says_that_the_server_lives_is_a_ping() {
    let pings = chunks(&[json!({"type": "ping"}), json!({"type": "newest"}), text(0, "")]);
    assert_eq!(pings, [Ok(Chunk::Ping), Ok(Chunk::Ping), Ok(Chunk::Ping)]);
    assert_eq!(read(b": comment\n\n", 1, false), [Ok(Chunk::Ping)]);
}

#[test]
fn usage_and_id_are_noted_as_they_come() {
    let progress = Progress::default();
    let mut reader = Reader::new(None, progress.clone(), &Format::Text, None);
    let mut decoder = SseDecoder::new(StreamLimits::default());
    decoder.push(sse(&[opening()]).as_bytes());
    while let Some(item) = decoder.next_item() {
        reader.item(item);
    }
    assert_eq!(progress.take(), (Some("msg_1".into()), Some(Usage::new(15, 1).with_cached(3))));
    assert_eq!(progress.stage(), Stage::Connect, "the stage is the engine's to tell");
}

#[test]
fn the_answers_tool_gives_text_and_other_texts_wait() {
    let of = |events: &[Value]| said(read(sse(events).as_bytes(), usize::MAX, true));
    let mut events = vec![start(0, json!({"type": "text", "text": "Here"})), text(0, " it is"), stop(0)];
    let without_a_call: Vec<Value> = events.iter().cloned().chain(ending("end_turn")).collect();
    events.extend([start(1, tool("t", "answer")), input(1, "{\"a\""), input(1, ":1}"), stop(1)]);
    events.extend([start(2, tool("u", "answer")), input(2, "{\"a\":2}"), stop(2)]);
    events.extend(ending("tool_use"));
    let answer = of(&events);
    assert_eq!(answer[..2], [Chunk::Text("{\"a\"".into()), Chunk::Text(":1}".into())]);
    assert!(matches!(answer.last(), Some(Chunk::End(end)) if end.kind == FinishKind::Stop));
    assert_eq!(answer.len(), 4, "{answer:?}");
    assert!(of(&without_a_call).contains(&Chunk::Text("Here it is".into())));
    let empty = [start(0, tool("t", "answer")), stop(0)];
    assert!(
        of(&empty.iter().cloned().chain(ending("tool_use")).collect::<Vec<_>>())
            .contains(&Chunk::Text("{}".into()))
    );
}

#[test]
fn a_refusal_has_words_and_a_fallback_names_its_model() {
    let hop = json!({"type": "fallback", "from": {"model": "m"}, "to": {"model": "m-2"}, "trigger": {"type": "refusal"}});
    let refused = json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"category": "bio"}}});
    let all = said(chunks(&[
        opening(),
        start(0, hop),
        stop(0),
        text(1, "par"),
        refused,
        json!({"type": "message_stop"}),
    ]));
    assert!(all.contains(&Chunk::Meta { model: Some("m-2".into()), request_id: Some("req_1".into()) }));
    assert!(all.contains(&Chunk::Refusal("declined by the vendor's policy: bio".into())));
    assert!(matches!(all.last(), Some(Chunk::End(end)) if end.kind == FinishKind::Refusal));
}

#[test]
fn counts_may_come_more_than_once() {
    let count = |n: u64| json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": {"output_tokens": n}});
    let mut events = vec![opening(), count(3), count(5)];
    events.extend(ending("end_turn"));
    let usages: Vec<u64> = said(chunks(&events))
        .into_iter()
        .filter_map(|chunk| if let Chunk::Usage(usage) = chunk { Some(usage.output_tokens) } else { None })
        .collect();
    assert_eq!(usages, [1, 3, 5, 6]);
}

#[test]
fn blocks_that_are_not_closed_are_closed_at_the_end() {
    let mut events = vec![start(0, tool("t", "f"))];
    events.extend(ending("tool_use"));
    assert!(said(chunks(&events)).contains(&call(0, None, "{}")));
    let again = [start(0, tool("t", "f")), start(0, tool("u", "g"))];
    assert!(
        said(chunks(&again)).contains(&call(0, None, "{}")),
        "a block in the same place closes the one before"
    );
}

#[test]
fn a_cut_stream_has_no_end_wherever_it_is_cut() {
    let events = full();
    let whole = sse(&events);
    let reason = whole.find("\"stop_reason\":\"tool_use\"").unwrap();
    for cut in 0..whole.len() {
        let chunks = read(&whole.as_bytes()[..cut], usize::MAX, false);
        let ended = chunks.iter().any(|chunk| matches!(chunk, Ok(Chunk::End(_))));
        assert!(!ended || cut > reason, "{cut}");
    }
}

#[test]
fn errors_in_the_stream() {
    let table = [
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "overloaded (HTTP 529",
        ),
        (json!({"type": "error", "error": {"type": "newest", "message": "?"}}), "server (newest)"),
        (json!({"type": "error"}), "malformed_response"),
    ];
    for (event, expected) in table {
        let chunks = chunks(&[text(0, "x"), event.clone(), text(0, "never")]);
        assert_eq!(chunks.len(), 2, "{event}");
        assert!(chunks[1].as_ref().unwrap_err().starts_with(expected), "{chunks:?}");
    }
    let stray = read(br#"{"type":"error","error":{"type":"api_error","message":"x"}}"#, usize::MAX, false);
    assert!(stray[0].as_ref().unwrap_err().starts_with("server (HTTP 500"), "{stray:?}");
    let no_json = read(b"data: nonsense\n\n", usize::MAX, false);
    assert!(no_json[0].as_ref().unwrap_err().starts_with("malformed_response"));
}

#[test]
fn events_are_known_by_either_name() {
    let only_data = "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"a\"}}\n\n";
    let only_name = "event: content_block_delta\ndata: {\"delta\":{\"text\":\"a\"}}\n\n";
    for body in [only_data, only_name] {
        assert_eq!(read(body.as_bytes(), usize::MAX, false), [Ok(Chunk::Text("a".into()))]);
    }
    let done = read(b"data: [DONE]\n\n", usize::MAX, false);
    assert!(matches!(done.last(), Some(Ok(Chunk::End(end))) if end.kind == FinishKind::Unknown));
}

#[test]
fn a_stream_read_as_a_whole_is_the_same_answer() {
    let reply = Reply::new(200, HeaderMap::new(), sse(&full()));
    let response = collect(&reply, plain(&reply)).unwrap();
    assert_eq!((response.text.as_str(), response.tool_calls.len()), ("Héllo", 2));
    assert_eq!(response.tool_calls[0], ToolCall::new("t1", "f", "{\"a\":1}"));
    assert_eq!(
        (response.request_id.as_deref(), response.finish.kind),
        (Some("msg_1"), FinishKind::ToolCalls)
    );
    let cut = Reply::new(200, HeaderMap::new(), sse(&full()[..9]));
    assert_eq!(collect(&cut, plain(&cut)).unwrap_err().kind(), FailureKind::MalformedResponse);
}

#[test]
fn pieces_make_no_difference() {
    let body = sse(&full());
    for answer_tool in [false, true] {
        let whole = read(body.as_bytes(), usize::MAX, answer_tool);
        for piece in 1..=100 {
            assert_eq!(read(body.as_bytes(), piece, answer_tool), whole, "{piece}");
        }
    }
}

proptest! {
    #[test]
    fn any_order_of_events_is_read(order in proptest::collection::vec(0_usize..21, 0..40), answer_tool: bool) {
        let all = full();
        let events: Vec<Value> = order.iter().filter_map(|&at| all.get(at).cloned()).collect();
        let read = read(sse(&events).as_bytes(), 64, answer_tool);
        let ends = read.iter().filter(|chunk| matches!(chunk, Ok(Chunk::End(_)))).count();
        prop_assert!(ends <= 1);
        let last = read.last().is_none_or(|chunk| matches!(chunk, Ok(Chunk::End(_))));
        prop_assert!(ends == 0 || last, "nothing comes after the end");
    }

    #[test]
    fn broken_events_are_read(cut in 0_usize..120, at in 0_usize..21) {
        let event = full()[at].to_string();
        let cut: String = event.chars().take(cut).collect();
        read(format!("data: {cut}\n\n").as_bytes(), usize::MAX, false);
    }
}

#[test]
fn stray_items_can_be_whole_answers() {
    let mut reader = Reader::new(None, Progress::default(), &Format::Text, None);
    let body = json!({"model": "m", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"});
    reader.item(Ok(SseItem::Stray(&body.to_string())));
    let chunks: Vec<Chunk> = std::iter::from_fn(|| reader.next()).map(Result::unwrap).collect();
    assert!(reader.is_done() && chunks.contains(&Chunk::Text("x".into())), "{chunks:?}");
}
