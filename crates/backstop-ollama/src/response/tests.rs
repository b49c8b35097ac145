use super::*;
use proptest::prelude::*;

fn parsed(body: &str) -> Result<Response, ProviderError> {
    read(&Reply::new(200, Default::default(), body.to_owned()), false, &Asked::default(), "m")
}

fn with(message: &str, rest: &str) -> String {
    format!(
        r#"{{"model":"m:latest","created_at":"2026-01-01T00:00:00Z","message":{message},"done":true{rest}}}"#
    )
}

#[test]
fn a_whole_answer_is_read() {
    let body = with(
        r#"{"role":"assistant","content":"{\"name\":\"Ann\"}","thinking":"hm","images":null}"#,
        r#","done_reason":"stop","total_duration":5,"load_duration":1,"prompt_eval_count":26,"eval_count":8,"brand_new":{}"#,
    );
    let response = parsed(&body).unwrap();
    assert_eq!(response.text, r#"{"name":"Ann"}"#);
    assert_eq!(response.finish, FinishReason::new(FinishKind::Stop, "stop"));
    assert_eq!(response.usage, Some(Usage::new(26, 8)));
    assert_eq!((response.model.as_deref(), response.request_id), (Some("m:latest"), None));
}

#[test]
fn every_reason_has_a_meaning_and_keeps_its_word() {
    let table = [
        (r#","done_reason":"stop""#, FinishReason::new(FinishKind::Stop, "stop")),
        (r#","done_reason":"length""#, FinishReason::new(FinishKind::Length, "length")),
        (r#","done_reason":"unload""#, FinishReason::new(FinishKind::Other, "unload")),
        (r#","done_reason":"next_year""#, FinishReason::new(FinishKind::Other, "next_year")),
        (r#","done_reason":7"#, FinishReason::new(FinishKind::Other, "7")),
        (r#","done_reason":"""#, FinishReason::from(FinishKind::Unknown)),
        (r#","done_reason":null"#, FinishReason::from(FinishKind::Unknown)),
        ("", FinishReason::from(FinishKind::Unknown)),
    ];
    for (rest, finish) in table {
        assert_eq!(parsed(&with(r#"{"content":"x"}"#, rest)).unwrap().finish, finish, "{rest}");
    }
    let loaded = parsed(&with(r#"{"role":"assistant","content":""}"#, r#","done_reason":"load""#)).unwrap();
    assert_eq!((loaded.text.as_str(), loaded.finish.kind, loaded.notes.len()), ("", FinishKind::Other, 1));
}

#[test]
fn counts_that_are_left_out_are_zero_or_unknown() {
    let usage = |rest: &str| parsed(&with(r#"{"content":"x"}"#, rest)).unwrap().usage;
    assert_eq!(usage(r#","eval_count":8"#), Some(Usage::new(0, 8)));
    assert_eq!(usage(r#","prompt_eval_count":3,"eval_count":-1"#), Some(Usage::new(3, 0)));
    assert_eq!(usage(""), None);
}

#[test]
fn fields_of_another_type_are_not_there() {
    let body = r#"{"model":{},"message":{"content":"x","thinking":[]},"done":"yes","eval_count":"8"}"#;
    let response = parsed(body).unwrap();
    assert_eq!((response.text.as_str(), response.model, response.usage), ("x", None, None));
}

#[test]
fn calls_of_tools_are_read_as_they_were_written() {
    let message = r#"{"content":"","tool_calls":[
        {"id":"c-1","function":{"index":0,"name":"add","arguments":{"b":2, "a":1.10}}},
        {"function":{"name":"look","arguments":"{\"at\":\"x\"}"}}, {"function":{"name":"now"}}, {}]}"#;
    let response = parsed(&with(message, r#","done_reason":"stop""#)).unwrap();
    assert_eq!(response.finish, FinishReason::new(FinishKind::ToolCalls, "stop"));
    let expected = [
        ToolCall::new("c-1", "add", r#"{"b":2, "a":1.10}"#),
        ToolCall::new("call_1", "look", r#"{"at":"x"}"#),
        ToolCall::new("call_2", "now", "{}"),
        ToolCall::new("call_3", "", "{}"),
    ];
    assert_eq!(response.tool_calls, expected);
}

#[test]
fn lines_in_place_of_a_whole_answer_are_put_together() {
    let body = r#"{"model":"m","message":{"content":"one "},"done":false}
{"message":{"content":"","tool_calls":[{"function":{"name":"f"}}]},"done":false}
{"message":{"content":"two"},"done":true,"done_reason":"stop","eval_count":2}"#;
    let response = parsed(body).unwrap();
    assert_eq!((response.text.as_str(), response.tool_calls.len()), ("one two", 1));
    assert_eq!((response.model.as_deref(), response.usage), (Some("m"), Some(Usage::new(0, 2))));
    let (cut, _) = body.rsplit_once('\n').unwrap();
    assert_eq!(parsed(cut).unwrap_err().kind(), FailureKind::MalformedResponse);
    let failed = format!("{cut}\n{{\"error\":\"model 'm' not found\"}}");
    assert_eq!(parsed(&failed).unwrap_err().kind(), FailureKind::ModelNotFound);
}

#[test]
fn what_is_not_the_api_is_malformed_and_its_cost_is_kept() {
    for body in [
        "",
        " \n",
        "{}",
        "[]",
        "null!",
        "<html>login</html>",
        "\"text\"",
        r#"{"message":7}"#,
        r#"{"done":true}"#,
    ] {
        assert_eq!(parsed(body).unwrap_err().kind(), FailureKind::MalformedResponse, "{body}");
    }
    let error = parsed(r#"{"done":true,"prompt_eval_count":7}"#).unwrap_err();
    assert_eq!(error.usage(), Some(Usage::new(7, 0)));
}

#[test]
fn no_error_is_no_error() {
    for none in ["null", "false", "\"\""] {
        let body = with(r#"{"content":"x"}"#, &format!(r#","error":{none}"#));
        assert_eq!(parsed(&body).unwrap().text, "x");
    }
}

#[test]
fn the_whole_answer_is_kept_on_request() {
    let one = with(r#"{"tool_calls":[{"function":{"name":"f","arguments":{}}}]}"#, "");
    let raw = |body: &str| {
        let reply = Reply::new(200, Default::default(), body.to_owned());
        *read(&reply, true, &Asked::default(), "m").unwrap().raw.unwrap()
    };
    assert_eq!(raw(&one), serde_json::from_str::<Value>(&one).unwrap());
    assert_eq!(raw(&format!("{one}\n{one}")).as_array().unwrap().len(), 2);
}

#[test]
fn thinking_alone_is_noted() {
    let alone = parsed(&with(r#"{"content":"","thinking":"hm"}"#, "")).unwrap();
    assert_eq!(
        (alone.text.as_str(), alone.notes.as_slice()),
        ("", [recognise::ONLY_REASONING.into()].as_slice())
    );
    let answered = parsed(&with(r#"{"content":"x","thinking":"hm"}"#, "")).unwrap();
    assert!(answered.notes.is_empty());
}

proptest! {
    #[test]
    fn a_damaged_answer_is_read_or_refused(at in 0..400_usize, byte: u8) {
        let message = r#"{"content":"x","tool_calls":[{"function":{"name":"f","arguments":{"a":[1]}}}]}"#;
        let mut body = with(message, r#","done_reason":"stop","eval_count":2"#).into_bytes();
        let at = at % body.len();
        body[at] = byte;
        let _ = read(&Reply::new(200, Default::default(), body), true, &Asked::default(), "m");
    }
}
