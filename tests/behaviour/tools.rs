//! Tools: offered, called, answered.

use backstop::{
    Chunk, FailureKind, FinishKind, Part, Role, StreamEvent, Tool, ToolCall, ToolChoice, ToolResult,
    mock::server::{Completion, Reply},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    adapters::Has,
    bench::{Bench, every},
};

fn weather() -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": { "city": { "type": "string" } },
        "required": ["city"],
    });
    Tool::new("get_weather", parameters).description("The weather of a city.")
}

fn request() -> Request {
    Request::new("What is the weather in Köln and Paris?").tool(weather())
}

fn cities(calls: &[ToolCall]) -> Vec<Value> {
    calls.iter().map(|call| call.arguments_json().unwrap()["city"].clone()).collect()
}

fn two_calls() -> Completion {
    Completion::empty()
        .tool_call("get_weather", r#"{"city":"Köln"}"#)
        .tool_call("get_weather", r#"{"city":"Paris"}"#)
}

#[tokio::test]
async fn tools_are_offered_and_calls_come_back() {
    every(async |bench| {
        let response = bench.answers(two_calls()).complete(&request()).await.unwrap();
        assert_eq!(response.finish.kind, FinishKind::ToolCalls);
        assert_eq!(response.text, "");
        assert_eq!(cities(&response.tool_calls), ["Köln", "Paris"]);
        let [one, two] = response.tool_calls.as_slice() else { panic!("{:?}", response.tool_calls) };
        assert!(!one.id.is_empty() && one.id != two.id, "{} {}", one.id, two.id);
        assert_eq!((one.name.as_str(), two.name.as_str()), ("get_weather", "get_weather"));
        let body = bench.received().json().to_string();
        assert!(body.contains("get_weather") && body.contains("The weather of a city."), "{body}");
    })
    .await;
}

#[tokio::test]
async fn the_results_of_calls_go_back() {
    every(async |bench| {
        let response = bench.answers(two_calls()).complete(&request()).await.unwrap();
        let calls = response.tool_calls.iter().cloned().map(Part::ToolCall).collect();
        let results = response.tool_calls.iter().zip(["rain", r#"{"sky":"blue"}"#]);
        let results = results.map(|(call, said)| Part::ToolResult(ToolResult::new(call, said))).collect();
        let next = request()
            .message(Message::new(Role::Assistant, calls))
            .message(Message::new(Role::User, results));
        bench.answers(Reply::text("Rain in Köln.")).complete(&next).await.unwrap();
        let body = bench.received().json().to_string();
        let places: Vec<_> = ["Paris", "rain", "sky"].into_iter().map(|word| body.rfind(word)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {body}");
    })
    .await;
}

#[tokio::test]
async fn a_failed_tool_says_so() {
    every(async |bench| {
        let call = ToolCall::new("call-1", "get_weather", r#"{"city":"Köln"}"#);
        let failed = ToolResult::new(&call, "no such city").error();
        let next = request()
            .message(Message::new(Role::Assistant, vec![Part::ToolCall(call)]))
            .message(Message::tool_result(failed));
        bench.answers(Reply::text("I do not know.")).complete(&next).await.unwrap();
        let body = bench.received().json().to_string();
        assert!(body.contains("no such city"), "{body}");
        let marked = body.contains("\"is_error\":true") || body.contains("\"error\":");
        assert_eq!(marked, bench.adapter.vendor.failed_tools.is_there(), "{body}");
    })
    .await;
}

#[tokio::test]
async fn a_call_can_be_demanded_or_is_unsupported() {
    every(async |bench| {
        for choice in [ToolChoice::Required, ToolChoice::Tool("get_weather".into())] {
            let asked = bench.answers(two_calls()).complete(&request().tool_choice(choice)).await;
            match &bench.adapter.vendor.tool_demand {
                Has::Yes(()) => assert_eq!(asked.unwrap().tool_calls.len(), 2),
                Has::No(why) => match asked {
                    Ok(response) => assert!(!response.notes.is_empty(), "noted: {why}"),
                    Err(error) => assert_eq!(error.kind(), FailureKind::Unsupported, "{why}"),
                },
            }
        }
    })
    .await;
}

#[tokio::test]
async fn calls_can_be_forbidden() {
    every(async |bench| {
        bench.answers(Reply::text("blue")).complete(&request().tool_choice(ToolChoice::None)).await.unwrap();
        let body = bench.received().json().to_string().to_lowercase();
        assert!(body.contains("\"none\"") || !body.contains("get_weather"), "{body}");
    })
    .await;
}

#[tokio::test]
async fn arguments_that_are_no_json_are_passed_on() {
    every(async |bench| {
        let broken = Completion::empty().tool_call("get_weather", r#"{"city":"Kö"#);
        let response = bench.answers(broken).complete(&request()).await.unwrap();
        assert!(response.tool_calls[0].arguments.contains("Kö"));
        assert!(
            response.tool_calls[0].arguments_json().is_err()
                || response.tool_calls[0].arguments.starts_with('"')
        );
    })
    .await;
}

/// The calls of an answer that a chain has streamed.
async fn streamed_calls(bench: &Bench, answer: &str) -> Vec<ToolCall> {
    bench.answers(Reply::events([format!("data: {answer}\n\n")]));
    let mut stream = bench.chain().stream(request()).await.unwrap();
    loop {
        if let StreamEvent::Finished { response, .. } = stream.next().await.unwrap().unwrap() {
            return response.tool_calls;
        }
    }
}

#[tokio::test]
async fn what_the_vendor_seals_into_a_call_goes_back_with_it() {
    every(async |bench| {
        let answer = match bench.adapter.vendor.signed_calls {
            Has::Yes(answer) => answer,
            Has::No(why) => {
                let call = bench.answered(two_calls()).await.unwrap().tool_calls.swap_remove(0);
                return assert_eq!(call.signature, None, "{why}");
            }
        };
        bench.answers(Reply::bytes("application/json", answer));
        let call = bench.complete(&request()).await.unwrap().tool_calls.swap_remove(0);
        assert_eq!(call.signature.as_deref(), Some("c2lnbmVk"));
        let streamed = bench.streamed(Reply::events([format!("data: {answer}\n\n")])).await;
        let sealed = Chunk::ToolSignature { index: 0, signature: "c2lnbmVk".into() };
        assert!(streamed.chunks.contains(&sealed), "{streamed:?}");
        assert_eq!(streamed_calls(bench, answer).await.as_slice(), std::slice::from_ref(&call));
        let result = ToolResult::new(&call, "rain");
        let next = request()
            .message(Message::new(Role::Assistant, vec![Part::ToolCall(call)]))
            .message(Message::tool_result(result));
        bench.answers(Reply::text("Rain.")).complete(&next).await.unwrap();
        assert!(bench.received().json().to_string().contains("c2lnbmVk"));
    })
    .await;
}
