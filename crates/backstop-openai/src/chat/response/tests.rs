use backstop_core::{FailureKind, FinishKind, ProviderError, Response, Usage};
use backstop_http::{
    Reply,
    header::HeaderMap,
    recognise::{Asked, ONLY_REASONING},
};

use super::read;

fn answer(body: &str) -> Result<Response, ProviderError> {
    read(&Reply::new(200, HeaderMap::new(), body.to_owned()), false, &Asked::default())
}

/// An answer with one choice, whose fields these are.
fn choice(fields: &str) -> Result<Response, ProviderError> {
    answer(&format!(r#"{{"id":"c1","model":"m-1","choices":[{{{fields}}}],"usage":null}}"#))
}

#[test]
fn finish_reasons_keep_their_word() {
    let table = [
        (r#""stop""#, FinishKind::Stop, Some("stop")),
        (r#""eos""#, FinishKind::Stop, Some("eos")),
        (r#""length""#, FinishKind::Length, Some("length")),
        (r#""model_length""#, FinishKind::Length, Some("model_length")),
        (r#""tool_calls""#, FinishKind::ToolCalls, Some("tool_calls")),
        (r#""function_call""#, FinishKind::ToolCalls, Some("function_call")),
        (r#""content_filter""#, FinishKind::ContentFilter, Some("content_filter")),
        (r#""endturn""#, FinishKind::Other, Some("endturn")),
        (r#""""#, FinishKind::Unknown, None),
        ("null", FinishKind::Unknown, None),
    ];
    for (word, kind, raw) in table {
        let response = choice(&format!(r#""finish_reason":{word},"message":{{"content":"ok"}}"#)).unwrap();
        assert_eq!(
            (response.text.as_str(), response.finish.kind, response.finish.raw.as_deref()),
            ("ok", kind, raw)
        );
    }
    assert_eq!(choice(r#""message":{"content":"ok"}"#).unwrap().finish.kind, FinishKind::Unknown);
}

#[test]
fn a_server_that_breaks_off_is_a_failure_and_its_text_is_not_used() {
    let table = [
        (
            r#""finish_reason":"error","error":{"code":502,"message":"up"},"message":{"content":"half"}"#,
            FailureKind::Server,
        ),
        (
            r#""finish_reason":"stop","error":{"code":429,"message":"slow"},"message":{"content":"half"}"#,
            FailureKind::RateLimited,
        ),
        (r#""finish_reason":"error","message":{"content":"half"}"#, FailureKind::Server),
        (r#""finish_reason":"abort","message":{"content":""}"#, FailureKind::Server),
        (
            r#""finish_reason":"insufficient_system_resource","message":{"content":"x"}"#,
            FailureKind::Overloaded,
        ),
    ];
    for (fields, kind) in table {
        assert_eq!(choice(fields).unwrap_err().kind(), kind, "{fields}");
    }
}

#[test]
fn texts_of_every_shape() {
    let table = [
        (r#""message":{"content":"a"}"#, "a"),
        (r#""message":{"content":null}"#, ""),
        (r#""message":{}"#, ""),
        (r#""message":null"#, ""),
        (r#""index":0"#, ""),
        (
            r#""message":{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"text":"no"}]},{"type":"text","text":"b"}]}"#,
            "ab",
        ),
        (r#""message":{"content":{"odd":1}}"#, ""),
        (r#""message":{"content":"","reasoning_content":"thoughts","reasoning":"thoughts"}"#, ""),
    ];
    for (fields, text) in table {
        assert_eq!(choice(fields).unwrap().text, text, "{fields}");
    }
}

#[test]
fn refusals_and_calls() {
    let response =
        choice(r#""finish_reason":"stop","message":{"content":null,"refusal":"I can't."}"#).unwrap();
    assert_eq!((response.text.as_str(), response.refusal.as_deref()), ("", Some("I can't.")));
    assert_eq!(choice(r#""message":{"content":"x","refusal":""}"#).unwrap().refusal, None);
    let calls = choice(
        r#""message":{"tool_calls":[
            {"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},
            {"function":{"name":"g","arguments":{"y":2}}},
            {"id":"","function":{}}]}"#,
    )
    .unwrap()
    .tool_calls;
    let seen: Vec<_> =
        calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(seen, [("a", "f", r#"{"x":1}"#), ("call_1", "g", r#"{"y":2}"#), ("call_2", "", "")]);
}

#[test]
fn token_counts_of_every_server() {
    let table = [
        (
            r#"{"prompt_tokens":2000,"completion_tokens":9,"total_tokens":2009,"prompt_tokens_details":{"cached_tokens":1800,"cache_write_tokens":5},"completion_tokens_details":{"reasoning_tokens":4}}"#,
            Some(Usage::new(2000, 9).with_cached(1800).with_cache_write(5).with_reasoning(4)),
        ),
        (
            r#"{"prompt_tokens":7,"completion_tokens":1,"prompt_tokens_details":null,"completion_tokens_details":null}"#,
            Some(Usage::new(7, 1)),
        ),
        (
            r#"{"prompt_tokens":7,"completion_tokens":1,"prompt_cache_hit_tokens":6}"#,
            Some(Usage::new(7, 1).with_cached(6)),
        ),
        (r#"{"prompt_tokens":7}"#, Some(Usage::new(7, 0))),
        (r#""none""#, None),
        (r#"{"prompt_tokens":-1}"#, None),
        ("null", None),
    ];
    for (usage, expected) in table {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"x"}}}}],"usage":{usage}}}"#);
        assert_eq!(answer(&body).unwrap().usage, expected, "{usage}");
    }
}

#[test]
fn bodies_that_are_no_answer() {
    let table = [
        ("", FailureKind::MalformedResponse),
        ("<html>login</html>", FailureKind::MalformedResponse),
        ("[]", FailureKind::MalformedResponse),
        ("{}", FailureKind::MalformedResponse),
        (r#"{"choices":null}"#, FailureKind::MalformedResponse),
        (
            r#"{"choices":[],"usage":{"prompt_tokens":19,"completion_tokens":0}}"#,
            FailureKind::MalformedResponse,
        ),
        (r#"{"choices":[{"message":{"content":"cut"#, FailureKind::MalformedResponse),
        (r#"{"error":{"message":"overloaded"}}"#, FailureKind::Overloaded),
        (r#"{"error":"broken","choices":[{"message":{"content":"x"}}]}"#, FailureKind::Server),
    ];
    for (body, kind) in table {
        assert_eq!(answer(body).unwrap_err().kind(), kind, "{body}");
    }
    let invalid = Reply::new(
        200,
        HeaderMap::new(),
        b"{\"choices\":[{\"message\":{\"content\":\"caf\xe9\"}}]}".to_vec(),
    );
    assert_eq!(read(&invalid, false, &Asked::default()).unwrap_err().kind(), FailureKind::MalformedResponse);
}

#[test]
fn what_a_failed_answer_cost_is_kept() {
    let error =
        answer(r#"{"id":"c9","choices":[],"usage":{"prompt_tokens":19,"completion_tokens":2}}"#).unwrap_err();
    assert_eq!((error.usage(), error.request_id()), (Some(Usage::new(19, 2)), Some("c9")));
}

#[test]
fn blank_lines_before_the_answer_and_null_errors_are_passed_over() {
    let response = answer("\n\n\n{\"error\":null,\"choices\":[{\"message\":{\"content\":\"ok\"}}]}").unwrap();
    assert_eq!(response.text, "ok");
}

#[test]
fn fields_of_another_type_are_not_there() {
    let body = r#"{"id":7,"model":{},"choices":[{"finish_reason":3,"message":{"content":"ok"}}]}"#;
    let response = answer(body).unwrap();
    assert_eq!((response.text.as_str(), response.model, response.request_id), ("ok", None, None));
    assert_eq!(response.finish.kind, FinishKind::Unknown);
}

#[test]
fn the_whole_answer_is_kept_on_request() {
    let body = r#"{"id":"c1","choices":[{"message":{"content":"x"}}],"service_tier":"flex"}"#;
    let mut reply = Reply::new(200, HeaderMap::new(), body.to_owned());
    reply.request_id = Some("req-1".into());
    let response = read(&reply, true, &Asked::default()).unwrap();
    assert_eq!(response.raw.unwrap()["service_tier"], "flex");
    assert_eq!(response.request_id.as_deref(), Some("req-1"));
    assert!(answer(body).unwrap().raw.is_none());
}

#[test]
fn reasoning_alone_is_noted() {
    for field in ["reasoning", "reasoning_content"] {
        let alone = choice(&format!(r#""message":{{"content":null,"{field}":"hm"}}"#)).unwrap();
        assert_eq!((alone.text.as_str(), alone.notes.as_slice()), ("", [ONLY_REASONING.into()].as_slice()));
        let answered = choice(&format!(r#""message":{{"content":"x","{field}":"hm"}}"#)).unwrap();
        assert!(answered.notes.is_empty());
        let none = choice(&format!(r#""message":{{"content":"","{field}":""}}"#)).unwrap();
        assert!(none.notes.is_empty());
    }
}
