use super::*;
use proptest::prelude::*;

fn parsed(body: &str) -> Result<Response, ProviderError> {
    read(&Reply::new(200, Default::default(), body.to_owned()), false, &Asked::default())
}

fn with(parts: &str, finish: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"finishReason":"{finish}"}}]}}"#
    )
}

#[test]
fn a_whole_answer_is_read() {
    let body = r#"{
        "candidates": [{
            "content": { "role": "model", "parts": [
                { "text": "Let me see.", "thought": true, "thoughtSignature": "c2ln" },
                { "text": "{\"name\":" }, { "inlineData": { "mimeType": "image/png", "data": "" } }, { "text": "\"Ann\"}" }
            ] },
            "finishReason": "STOP", "index": 0, "safetyRatings": [], "avgLogprobs": -0.1, "brandNew": {}
        }],
        "usageMetadata": {
            "promptTokenCount": 12, "cachedContentTokenCount": 8, "candidatesTokenCount": 6,
            "thoughtsTokenCount": 40, "toolUsePromptTokenCount": 3, "totalTokenCount": 61, "trafficType": "ON_DEMAND"
        },
        "modelVersion": "gemini-x-001", "responseId": "r-1"
    }"#;
    let response = parsed(body).unwrap();
    assert_eq!(response.text, r#"{"name":"Ann"}"#);
    assert_eq!(response.finish, FinishReason::new(FinishKind::Stop, "STOP"));
    assert_eq!(response.usage, Some(Usage::new(15, 46).with_cached(8).with_reasoning(40)));
    assert_eq!(
        (response.model.as_deref(), response.request_id.as_deref()),
        (Some("gemini-x-001"), Some("r-1"))
    );
    assert_eq!(response.raw, None);
}

#[test]
fn every_finish_reason_has_a_meaning_and_keeps_its_word() {
    use FinishKind::{ContentFilter, Length, Other, Paused, Stop};
    let table = [
        ("STOP", Stop),
        ("MAX_TOKENS", Length),
        ("CONTINUATION", Paused),
        ("SAFETY", ContentFilter),
        ("RECITATION", ContentFilter),
        ("LANGUAGE", ContentFilter),
        ("BLOCKLIST", ContentFilter),
        ("PROHIBITED_CONTENT", ContentFilter),
        ("SPII", ContentFilter),
        ("ESCALATION", ContentFilter),
        ("MODEL_ARMOR", ContentFilter),
        ("IMAGE_SAFETY", ContentFilter),
        ("IMAGE_PROHIBITED_CONTENT", ContentFilter),
        ("IMAGE_RECITATION", ContentFilter),
        ("OTHER", Other),
        ("IMAGE_OTHER", Other),
        ("NO_IMAGE", Other),
        ("MISSING_THOUGHT_SIGNATURE", Other),
        ("A_WORD_OF_NEXT_YEAR", Other),
        ("FINISH_REASON_UNSPECIFIED", FinishKind::Unknown),
    ];
    for (word, kind) in table {
        let response = parsed(&with(r#"{"text":"so far"}"#, word)).unwrap();
        assert_eq!(response.finish, FinishReason::new(kind, word));
        assert_eq!(response.text, "so far", "{word}");
    }
    for word in BROKEN {
        let response = parsed(&with(r#"{"text":"so far"},{"functionCall":{"name":"f"}}"#, word)).unwrap();
        assert_eq!(response.finish, FinishReason::new(Other, *word));
        assert_eq!(
            (response.text.as_str(), response.tool_calls.len(), response.notes.len()),
            ("", 0, 1),
            "{word}"
        );
    }
    let error = parsed(&with("", "PUP_LIMITED_DISABLED")).unwrap_err();
    assert_eq!((error.kind(), error.code()), (FailureKind::Permission, Some("PUP_LIMITED_DISABLED")));
}

#[test]
fn a_blocked_prompt_is_an_answer_that_was_filtered() {
    for reason in ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "JAILBREAK", "SOMETHING_NEW"] {
        for candidates in ["", r#""candidates":[],"#, r#""candidates":null,"#] {
            let body = format!(
                r#"{{{candidates}"promptFeedback":{{"blockReason":"{reason}"}},"usageMetadata":{{"promptTokenCount":12}}}}"#
            );
            let response = parsed(&body).unwrap();
            assert_eq!(response.finish, FinishReason::new(FinishKind::ContentFilter, reason));
            assert_eq!((response.text.as_str(), response.usage), ("", Some(Usage::new(12, 0))));
        }
    }
}

#[test]
fn no_candidate_at_all_is_malformed_and_its_cost_is_kept() {
    for body in
        ["{}", "[]", r#"{"candidates":[]}"#, r#"{"promptFeedback":{}}"#, r#"{"candidates":[{"index":1}]}"#]
    {
        assert_eq!(parsed(body).unwrap_err().kind(), FailureKind::MalformedResponse, "{body}");
    }
    let error = parsed(r#"{"usageMetadata":{"promptTokenCount":7},"responseId":"r"}"#).unwrap_err();
    assert_eq!((error.usage(), error.request_id()), (Some(Usage::new(7, 0)), Some("r")));
}

#[test]
fn candidates_without_text_are_empty_answers() {
    let table = [
        r#"{"candidates":[{"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"content":{},"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]},"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"content":null,"finishReason":"STOP","index":"0"}]}"#,
    ];
    for body in table {
        let response = parsed(body).unwrap();
        assert_eq!((response.text.as_str(), response.finish.kind), ("", FinishKind::Stop), "{body}");
    }
    let response = parsed(r#"{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}"#).unwrap();
    assert_eq!((response.text.as_str(), response.finish.kind), ("x", FinishKind::Unknown));
}

#[test]
fn numbers_and_words_may_change_places() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":1}],
        "usageMetadata":{"promptTokenCount":"12","candidatesTokenCount":-3,"thoughtsTokenCount":null}}"#;
    let response = parsed(body).unwrap();
    assert_eq!(response.finish, FinishReason::new(FinishKind::Other, "1"));
    assert_eq!(response.usage, Some(Usage::new(12, 0)));
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"x","thought":"no"},
        {"functionCall":{"id":7,"name":"f"}}]},"finishReason":{}}],
        "promptFeedback":[],"usageMetadata":"none","modelVersion":3,"responseId":{}}"#;
    let response = parsed(body).unwrap();
    assert_eq!((response.text.as_str(), response.tool_calls[0].id.as_str()), ("x", "7"));
    assert_eq!((response.model.as_deref(), response.request_id, response.usage), (Some("3"), None, None));
}

#[test]
fn calls_of_tools_are_read_as_they_were_written() {
    let parts = r#"{"functionCall":{"id":"fc-1","name":"add","args":{"b":2, "a":1.10}},"thoughtSignature":"c2ln"},
        {"functionCall":{"name":"now"}}"#;
    let response = parsed(&with(parts, "STOP")).unwrap();
    assert_eq!(response.finish, FinishReason::new(FinishKind::ToolCalls, "STOP"));
    let expected = [
        ToolCall::new("fc-1", "add", r#"{"b":2, "a":1.10}"#).with_signature("c2ln"),
        ToolCall::new("call_1", "now", "{}"),
    ];
    assert_eq!(response.tool_calls, expected);
    assert!(made_up("call_1") && !made_up("fc-1") && !made_up("call_") && !made_up("call_a1"));
}

#[test]
fn chunks_in_an_array_are_one_answer() {
    let body = r#"[{"candidates":[{"content":{"parts":[{"text":"one "}]}}],"usageMetadata":{"promptTokenCount":9},"modelVersion":"m"},
        {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]},
        {"candidates":[{"content":{"parts":[{"text":"two"}]},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"candidatesTokenCount":2}}]"#;
    let response = parsed(body).unwrap();
    assert_eq!((response.text.as_str(), response.tool_calls.len()), ("one two", 1));
    assert_eq!(response.finish.kind, FinishKind::Length);
    assert_eq!(response.usage, Some(Usage::new(9, 2)));
    let cut = r#"[{"candidates":[{"content":{"parts":[{"text":"one "}]}}]}]"#;
    assert_eq!(parsed(cut).unwrap_err().kind(), FailureKind::MalformedResponse);
}

#[test]
fn an_error_inside_a_success_counts_as_its_own_code_says() {
    let error = parsed(r#"{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}"#);
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.status()), (FailureKind::RateLimited, Some(429)));
    let error = parsed(r#"[{"error":{"code":"503","message":"busy","status":"UNAVAILABLE"}}]"#).unwrap_err();
    assert_eq!(error.kind(), FailureKind::Overloaded);
    assert_eq!(
        parsed(&with(r#"{"text":"x"}"#, "STOP").replacen('{', r#"{"error":null,"#, 1)).unwrap().text,
        "x"
    );
}

#[test]
fn what_is_not_the_api_is_malformed() {
    for body in
        ["", "null!", "<html>login</html>", "\"text\"", "[1]", "{\"candidates\":7}", "{\"candidates\":[{"]
    {
        let error = parsed(body).unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedResponse, "{body}");
    }
}

#[test]
fn the_whole_answer_is_kept_on_request() {
    let body = with(r#"{"functionCall":{"name":"f","args":{}}}"#, "STOP");
    let reply = Reply::new(200, Default::default(), body.clone());
    let response = read(&reply, true, &Asked::default()).unwrap();
    assert_eq!(response.raw.as_deref(), Some(&serde_json::from_str::<Value>(&body).unwrap()));
}

#[test]
fn thoughts_alone_are_noted() {
    let alone = parsed(&with(r#"{"text":"hm","thought":true}"#, "STOP")).unwrap();
    assert_eq!(
        (alone.text.as_str(), alone.notes.as_slice()),
        ("", [recognise::ONLY_REASONING.into()].as_slice())
    );
    let answered = parsed(&with(r#"{"text":"hm","thought":true},{"text":"x"}"#, "STOP")).unwrap();
    assert!(answered.notes.is_empty());
}

proptest! {
    #[test]
    fn a_damaged_answer_is_read_or_refused(at in 0..300_usize, byte: u8) {
        let mut body = with(r#"{"text":"x","thought":false},{"functionCall":{"name":"f","args":{"a":[1]}}}"#, "STOP").into_bytes();
        let at = at % body.len();
        body[at] = byte;
        let _ = read(&Reply::new(200, Default::default(), body), true, &Asked::default());
    }
}
