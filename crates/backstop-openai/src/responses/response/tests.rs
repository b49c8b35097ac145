use backstop_core::{FailureKind, FinishKind, ProviderError, Response, Usage};
use backstop_http::{Reply, header::HeaderMap, recognise::Asked};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::read;

fn answer(body: &Value) -> Result<Response, ProviderError> {
    read(&Reply::new(200, HeaderMap::new(), body.to_string()), false, &Asked::default())
}

fn message(content: Value) -> Value {
    json!({"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content})
}

fn said(text: &str) -> Value {
    message(json!([{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]))
}

fn completed(output: Value) -> Value {
    json!({"id": "resp_1", "status": "completed", "error": null, "model": "m-1", "output": output})
}

#[test]
fn the_answer_is_never_simply_the_first_item() {
    let reasoning =
        json!({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "no"}]});
    let mut aside = said("I will now look.");
    aside["phase"] = json!("commentary");
    let mut last = said("ue");
    last["phase"] = json!("final_answer");
    let body = completed(json!([reasoning, aside, said("bl"), {"type": "web_search_call"}, last]));
    let response = answer(&body).unwrap();
    assert_eq!(response.text, "blue");
    assert_eq!((response.model.as_deref(), response.request_id.as_deref()), (Some("m-1"), Some("resp_1")));
    assert_eq!((response.finish.kind, response.finish.raw.as_deref()), (FinishKind::Stop, Some("completed")));
}

#[test]
fn refusals_calls_and_silence() {
    let refusal =
        answer(&completed(json!([message(json!([{"type": "refusal", "refusal": "No."}]))]))).unwrap();
    assert_eq!((refusal.text.as_str(), refusal.refusal.as_deref()), ("", Some("No.")));
    let calls = json!([
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{\"x\":1}"},
        {"type": "function_call", "id": "fc_2", "name": "g", "arguments": {"y": 2}},
        {"type": "function_call"},
    ]);
    let called = answer(&completed(calls)).unwrap();
    let seen: Vec<_> =
        called.tool_calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.as_str())).collect();
    assert_eq!(seen, [("call_1", "f", r#"{"x":1}"#), ("fc_2", "g", r#"{"y":2}"#), ("call_2", "", "")]);
    assert_eq!(called.finish.kind, FinishKind::ToolCalls);
    for output in [json!([]), json!([{"type": "reasoning"}]), json!([message(json!([]))]), json!([{}])] {
        assert_eq!(answer(&completed(output)).unwrap().text, "");
    }
}

#[test]
fn endings_keep_their_word() {
    let table = [
        (json!("completed"), json!(null), FinishKind::Stop, Some("completed")),
        (
            json!("incomplete"),
            json!({"reason": "max_output_tokens"}),
            FinishKind::Length,
            Some("max_output_tokens"),
        ),
        (
            json!("incomplete"),
            json!({"reason": "content_filter"}),
            FinishKind::ContentFilter,
            Some("content_filter"),
        ),
        (json!("incomplete"), json!({"reason": "steered"}), FinishKind::Other, Some("steered")),
        (json!("incomplete"), json!(null), FinishKind::Other, Some("incomplete")),
        (json!("resting"), json!(null), FinishKind::Other, Some("resting")),
        (json!(null), json!(null), FinishKind::Unknown, None),
        (json!(3), json!("odd"), FinishKind::Unknown, None),
    ];
    for (status, details, kind, raw) in table {
        let body = json!({"status": status, "incomplete_details": details, "output": [said("half")]});
        let response = answer(&body).unwrap();
        assert_eq!(
            (response.text.as_str(), response.finish.kind, response.finish.raw.as_deref()),
            ("half", kind, raw),
            "{body}"
        );
    }
}

#[test]
fn failures_are_read_by_their_code() {
    use FailureKind::*;
    let failed =
        |code: &str| json!({"status": "failed", "error": {"code": code, "message": "m"}, "output": []});
    let table = [
        (failed("server_error"), Server),
        (failed("rate_limit_exceeded"), RateLimited),
        (failed("invalid_prompt"), Filtered),
        (failed("bio_policy"), Filtered),
        (failed("misalignment_policy_violation"), Filtered),
        (failed("image_content_policy_violation"), Filtered),
        (failed("vector_store_timeout"), Server),
        (failed("data_residency_mismatch"), InvalidRequest),
        (failed("invalid_image_format"), InvalidRequest),
        (failed("failed_to_download_image"), InvalidRequest),
        (failed("something_new"), Server),
        (json!({"status": "failed", "error": null, "output": []}), Server),
        (json!({"status": "cancelled", "output": []}), Server),
        (json!({"status": "in_progress", "output": []}), MalformedResponse),
        (json!({"status": "queued"}), MalformedResponse),
        (json!({"status": "completed"}), MalformedResponse),
        (json!({}), MalformedResponse),
        (json!([]), MalformedResponse),
        (json!({"error": {"message": "overloaded"}}), Overloaded),
        (json!({"error": {"code": 502, "message": "gone"}, "output": [said("x")]}), Server),
    ];
    for (body, kind) in table {
        assert_eq!(answer(&body).unwrap_err().kind(), kind, "{body}");
    }
}

#[test]
fn token_counts_also_of_what_failed() {
    let usage = json!({"input_tokens": 30, "input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 2},
                       "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 8}, "total_tokens": 50});
    let counts = Usage::new(30, 20).with_cached(7).with_cache_write(2).with_reasoning(8);
    let mut body = completed(json!([said("x")]));
    body["usage"] = usage.clone();
    assert_eq!(answer(&body).unwrap().usage, Some(counts));
    let failed =
        json!({"id": "resp_9", "status": "failed", "error": {"code": "server_error"}, "usage": usage});
    let error = answer(&failed).unwrap_err();
    assert_eq!((error.usage(), error.request_id()), (Some(counts), Some("resp_9")));
    body["usage"] = json!({"input_tokens": "many"});
    assert_eq!(answer(&body).unwrap().usage, None);
}

#[test]
fn the_whole_answer_is_kept_on_request() {
    let reply = Reply::new(200, HeaderMap::new(), completed(json!([said("x")])).to_string());
    assert_eq!(read(&reply, true, &Asked::default()).unwrap().raw.unwrap()["id"], "resp_1");
}

proptest! {
    #[test]
    fn any_bytes_and_any_json_are_read(
        bytes in proptest::collection::vec(any::<u8>(), 0..100),
        (place, odd) in (0..6usize, proptest::sample::select(vec!["null", "7", "\"x\"", "[1]", "{}", "true"])),
    ) {
        let _ = read(&Reply::new(200, HeaderMap::new(), bytes), false, &Asked::default());
        // Every field in turn has another type.
        let mut body = completed(json!([said("x"), {"type": "function_call", "call_id": "c", "name": "f"}]));
        let pointer = ["/id", "/status", "/output/0/content", "/output/1/name", "/output/0/content/0/text", "/model"];
        *body.pointer_mut(pointer[place]).unwrap() = serde_json::from_str(odd).unwrap();
        prop_assert!(answer(&body).is_ok(), "{}", body);
    }
}
