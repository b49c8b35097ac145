use backstop_core::FailureKind;
use backstop_http::header::HeaderMap;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parse(body: impl Into<Vec<u8>>, answer_tool: Option<&str>) -> Result<Response, ProviderError> {
    let reply = Reply::new(200, HeaderMap::new(), body.into());
    read(&reply, false, answer_tool, &Asked::new(true, &[], None))
}

fn message(body: Value) -> Response {
    parse(body.to_string(), None).unwrap()
}

fn answer(content: Value, stop_reason: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": content, "stop_reason": stop_reason})
}

#[test]
fn text_is_all_text_blocks_and_nothing_else() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "one "},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "text": "not this"},
        {"type": "text", "text": "two", "citations": [{"new": true}]},
    ]);
    let response = message(answer(content, "end_turn"));
    assert_eq!((response.text.as_str(), response.model.as_deref()), ("one two", Some("m-1")));
    assert_eq!((response.request_id.as_deref(), response.tool_calls.len()), (Some("msg_1"), 0));
}

#[test]
fn stop_reasons_keep_their_word() {
    let table = [
        ("end_turn", FinishKind::Stop),
        ("stop_sequence", FinishKind::Stop),
        ("max_tokens", FinishKind::Length),
        ("model_context_window_exceeded", FinishKind::Length),
        ("tool_use", FinishKind::ToolCalls),
        ("refusal", FinishKind::Refusal),
        ("pause_turn", FinishKind::Paused),
        ("compaction", FinishKind::Paused),
        ("something_new", FinishKind::Other),
    ];
    for (word, kind) in table {
        let finish = message(answer(json!([]), word)).finish;
        assert_eq!((finish.kind, finish.raw.as_deref()), (kind, Some(word)));
    }
    assert_eq!(message(json!({"content": []})).finish.kind, FinishKind::Unknown);
    assert_eq!(message(json!({"content": [], "stop_reason": null})).finish.kind, FinishKind::Unknown);
}

#[test]
fn refusals_have_words() {
    let refused = |details: Value| {
        let mut body = answer(json!([{"type": "text", "text": "par"}]), "refusal");
        body["stop_details"] = details;
        message(body)
    };
    let explained = refused(json!({"type": "refusal", "category": "bio", "explanation": "Because."}));
    assert_eq!((explained.text.as_str(), explained.refusal.as_deref()), ("par", Some("Because.")));
    let named = refused(json!({"category": "new_category", "explanation": null, "recommended_model": "m-2"}));
    assert_eq!(named.refusal.as_deref(), Some("declined by the vendor's policy: new_category"));
    assert_eq!(named.notes, ["declined as new_category", "the vendor recommends asking m-2"]);
    assert_eq!(explained.notes, ["declined as bio"], "an explanation may quote the prompt");
    for unknown in [Value::Null, json!("odd"), json!({"category": 7})] {
        assert_eq!(refused(unknown).refusal.as_deref(), Some("declined by the vendor's policy"));
    }
    assert_eq!(message(answer(json!([]), "end_turn")).refusal, None);
}

#[test]
fn thinking_alone_is_noted() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let alone = message(answer(json!([thinking]), "end_turn"));
    assert_eq!(
        (alone.text.as_str(), alone.notes.as_slice()),
        ("", [recognise::ONLY_REASONING.into()].as_slice())
    );
    let answered = message(answer(json!([thinking, {"type": "text", "text": "x"}]), "end_turn"));
    assert_eq!((answered.text.as_str(), answered.notes.len()), ("x", 0));
}

#[test]
fn the_last_model_that_a_fallback_went_on_to_has_served() {
    let hop =
        |from: &str, to: &str| json!({"type": "fallback", "from": {"model": from}, "to": {"model": to}});
    let mut body = answer(json!([hop("a", "b"), hop("b", "c"), {"type": "text", "text": "x"}]), "end_turn");
    body["model"] = json!("a");
    assert_eq!(message(body.clone()).model.as_deref(), Some("c"));
    body["content"] = json!([{"type": "fallback"}, {"type": "text", "text": "x"}]);
    assert_eq!(message(body).model.as_deref(), Some("a"));
}

#[test]
fn calls_of_tools() {
    let body = r#"{"content":[
        {"type":"text","text":"Let me see."},
        {"type":"tool_use","id":"t1","name":"f","input":{"z":1,"a":12345678901234567890123}},
        {"type":"tool_use","name":"g"}
    ],"stop_reason":"tool_use"}"#;
    let response = parse(body, None).unwrap();
    assert_eq!(response.text, "Let me see.");
    assert_eq!(
        response.tool_calls,
        [
            ToolCall::new("t1", "f", r#"{"z":1,"a":12345678901234567890123}"#),
            ToolCall::new("call_1", "g", "{}")
        ]
    );
}

#[test]
fn the_input_of_the_answers_tool_is_the_text() {
    let call =
        |name: &str, input: Value| json!({"type": "tool_use", "id": "t", "name": name, "input": input});
    let of = |content: Value| parse(answer(content, "tool_use").to_string(), Some("answer")).unwrap();
    let only = of(
        json!([{"type": "text", "text": "Here:"}, call("answer", json!({"a": 1})), call("answer", json!({"a": 2}))]),
    );
    assert_eq!(
        (only.text.as_str(), only.tool_calls.len(), only.finish.kind),
        (r#"{"a":1}"#, 0, FinishKind::Stop)
    );
    assert_eq!(only.finish.raw.as_deref(), Some("tool_use"));
    let other = of(json!([{"type": "text", "text": "Wait."}, call("f", json!({}))]));
    assert_eq!((other.text.as_str(), other.finish.kind), ("Wait.", FinishKind::ToolCalls));
    let text = parse(answer(json!([{"type": "text", "text": "{}"}]), "end_turn").to_string(), Some("answer"))
        .unwrap();
    assert_eq!(text.text, "{}");
}

#[test]
fn usage_counts_the_cache_in() {
    let mut body = answer(json!([]), "end_turn");
    body["usage"] = json!({
        "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 3}, "service_tier": "standard",
    });
    let expected = Usage::new(115, 7).with_cached(100).with_cache_write(5).with_reasoning(3);
    assert_eq!(message(body.clone()).usage, Some(expected));
    body["usage"] =
        json!({"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": null, "iterations": null});
    assert_eq!(message(body.clone()).usage, Some(Usage::new(10, 2)));
    body["usage"] = json!({"input_tokens": -1});
    assert_eq!(message(body).usage, None);
}

#[test]
fn hops_of_the_vendors_own_fallback_are_noted_and_counted() {
    let mut body = answer(
        json!([
            {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal", "category": "cyber"}},
            {"type": "fallback", "from": {"model": "b"}, "to": {"model": "c"}, "trigger": {"type": "refusal", "category": null}},
            {"type": "fallback"},
            {"type": "text", "text": "fine"},
        ]),
        "end_turn",
    );
    body["usage"] = json!({
        "input_tokens": 10, "output_tokens": 5,
        "iterations": [
            {"type": "message", "model": "a", "input_tokens": 10, "output_tokens": 1},
            {"type": "fallback_message", "model": "c", "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2},
        ],
    });
    let response = message(body);
    assert_eq!(response.text, "fine");
    assert_eq!(
        response.notes,
        [
            "a declined (cyber); the vendor went on to b",
            "b declined; the vendor went on to c",
            "a model declined; the vendor went on to a model",
        ]
    );
    assert_eq!(response.usage, Some(Usage::new(22, 6).with_cached(2)));
}

#[test]
fn unknown_and_missing_fields_are_no_failure() {
    let table = [
        json!({"content": [{"type": "newest", "text": 5}, 7, null, "x"], "stop_reason": "end_turn", "new": {}}),
        json!({"content": null, "stop_reason": "end_turn", "id": 5, "model": [], "usage": "none"}),
        json!({"stop_reason": "end_turn", "error": null}),
        json!({"content": {"odd": true}, "stop_reason": {"odd": true}}),
        json!({"content": [{"type": "text"}, {"type": "tool_use", "input": 5, "name": 1}]}),
    ];
    for body in table {
        assert_eq!(parse(body.to_string(), Some("x")).unwrap().text, "", "{body}");
    }
    assert_eq!(message(json!({"content": "plain", "stop_reason": "end_turn"})).text, "plain");
    assert_eq!(message(json!({"content": [{"text": "untyped"}]})).text, "untyped");
}

#[test]
fn what_is_no_message_is_malformed() {
    for body in ["", "{}", "[]", "null", "\"x\"", "5", "<html>", "{\"content\":", "{\"choices\":[]}"] {
        assert_eq!(parse(body, None).unwrap_err().kind(), FailureKind::MalformedResponse, "{body}");
    }
}

#[test]
fn an_error_in_a_success_body_is_an_error() {
    let body = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let error = parse(body.to_string(), None).unwrap_err();
    assert_eq!((error.kind(), error.status()), (FailureKind::Overloaded, Some(529)));
}

#[test]
fn the_whole_answer_is_kept_on_request() {
    let body = answer(json!([{"type": "text", "text": "x", "new": 1}]), "end_turn");
    let reply = Reply::new(200, HeaderMap::new(), body.to_string());
    let response = read(&reply, true, None, &Asked::default()).unwrap();
    assert_eq!(response.raw.as_deref(), Some(&body));
}

proptest! {
    #[test]
    fn any_values_in_the_known_fields_are_read(
        values in proptest::collection::vec("null|true|-1|1\\.5|\"\"|\"text\"|\\[\\]|\\{\\}|\\[\\{\"type\":\"text\"\\}\\]", 7),
    ) {
        let names = ["id", "model", "content", "stop_reason", "stop_details", "usage", "type"];
        let fields: Vec<String> = names.iter().zip(&values).map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let result = parse(format!("{{{}}}", fields.join(",")), Some("answer"));
        let absent = values[2] == "null" && !values[3].starts_with('"');
        prop_assert_eq!(result.is_err(), absent, "{:?}", values);
    }
}
