//! Requests that one vendor takes and the next does not.

use backstop::{
    CacheHint, Message, Part, Tool, ToolCall, ToolResult,
    anthropic::AnthropicOptions,
    mock::{
        MockServer,
        server::{ApiError, Received, Reply},
    },
    openai::{ModelTraits, TokenLimit},
    prelude::*,
};
use serde_json::{Value, json};

use crate::support::{answering, at, at_anthropic, at_gemini, bodies, chain, hits, kinds, server, short};

fn rejects(param: &'static str) -> ApiError {
    ApiError::status(400).code("unsupported_value").param(param).message("only the default is taken")
}

#[tokio::test]
async fn rq_02_a_parameter_that_a_model_does_not_take_is_left_out_once_that_is_known() {
    let picky = MockServer::start().await.unwrap();
    picky.respond_with(|request: &Received| match request.json().get("temperature") {
        Some(_) => Reply::from(rejects("temperature")),
        None => Reply::text("ok"),
    });
    let target = short(crate::support::openai(&picky).model("next-year"), "first").may_drop("temperature");
    let chain_ = chain([target]);
    let request = Request::new("x").temperature(0.3);
    let answer = chain_.complete(request.clone()).await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::ParamRejected]);
    let answer = chain_.complete(request.clone()).await.unwrap();
    assert_eq!(answer.report.attempts.len(), 1, "the target remembers\n{}", answer.report);
    assert!(!answer.report.attempts[0].remedies.is_empty(), "and says so");
    assert_eq!(hits(&picky), 3);

    let other = server([ApiError::invalid_request().param("messages")]).await;
    let target = short(crate::support::openai(&other).model("m"), "first").may_drop("temperature");
    let error = chain([target]).complete(request).await.unwrap_err();
    assert_eq!((kinds(error.report()), hits(&other)), (vec![FailureKind::InvalidRequest], 1));
}

/// Roles of a conversation as a server got it.
fn roles(body: &Value) -> Vec<String> {
    let turns = body["messages"].as_array().or(body["contents"].as_array()).unwrap();
    turns.iter().map(|turn| turn["role"].as_str().unwrap().to_owned()).collect()
}

fn stuttering() -> Request {
    Request::new("one")
        .message(Message::user("two"))
        .message(Message::assistant("three"))
        .message(Message::assistant("four"))
        .message(Message::user("five"))
}

#[tokio::test]
async fn rq_03_neighbours_of_one_role_are_joined_for_servers_that_want_turns() {
    let request = stuttering();
    let (first, second, third) = (answering("ok").await, answering("ok").await, answering("ok").await);
    let strict = ModelTraits::new(TokenLimit::MaxTokens).joined_turns(true);
    let vllm = OpenAi::builder().base_url(first.url()).default_traits(strict).build().unwrap();
    for target in
        [short(vllm.model("m"), "first"), at_anthropic(&second, "second"), at_gemini(&third, "third")]
    {
        chain([target]).complete(request.clone()).await.unwrap();
    }
    assert_eq!(roles(&bodies(&first)[0]), ["user", "assistant", "user"]);
    assert_eq!(roles(&bodies(&second)[0]), ["user", "assistant", "user"]);
    assert_eq!(roles(&bodies(&third)[0]), ["user", "model", "user"]);
    for server in [&first, &second, &third] {
        let sent = bodies(server)[0].to_string();
        let places: Vec<_> =
            ["one", "two", "three", "four", "five"].map(|word| sent.find(word).unwrap()).into();
        assert!(places.is_sorted(), "{sent}");
    }
    assert_eq!(request, stuttering(), "the caller's request is as it was");
}

#[tokio::test]
async fn rq_04_instructions_stand_where_each_vendor_wants_them() {
    let request = Request::new("one")
        .message(Message::assistant("two"))
        .message(Message::user("three"))
        .system("Be brief.");
    let (first, second, third) = (answering("ok").await, answering("ok").await, answering("ok").await);
    for target in [at(&first, "first"), at_anthropic(&second, "second"), at_gemini(&third, "third")] {
        chain([target]).complete(request.clone()).await.unwrap();
    }
    assert_eq!(roles(&bodies(&first)[0]), ["system", "user", "assistant", "user"]);
    assert_eq!(bodies(&second)[0]["system"], "Be brief.");
    assert_eq!(roles(&bodies(&second)[0]), ["user", "assistant", "user"]);
    assert!(bodies(&third)[0]["systemInstruction"].to_string().contains("Be brief."));
}

#[tokio::test]
async fn rq_07_the_protocol_is_the_adapters_and_its_cache_marks_survive_a_failover() {
    let (down, proxy) = (server([ApiError::overloaded()]).await, answering("ok").await);
    let custom =
        Anthropic::builder().base_url(format!("{}/gateway", proxy.url())).api_key("k-1").build().unwrap();
    let chain = chain([at(&down, "first"), short(custom.model("claude-sonnet-4-5"), "second")]);
    let request = Request::default()
        .system("A long manual.")
        .cache_system(CacheHint::Short)
        .message(Message::user("A long document.").cached(CacheHint::Short));
    chain.complete(request).await.unwrap();
    let request = &proxy.requests()[0];
    assert_eq!(request.path(), "/gateway/v1/messages");
    let (system, messages) = (&request.json()["system"], &request.json()["messages"]);
    assert!(system.to_string().contains("cache_control") && messages.to_string().contains("cache_control"));
    assert!(!bodies(&down)[0].to_string().contains("cache_control"));
}

#[tokio::test]
async fn rq_08_a_token_limit_is_lowered_to_what_the_model_can_write() {
    let (down, picky) = (server([ApiError::overloaded()]).await, MockServer::start().await.unwrap());
    picky.respond_with(|request: &Received| match request.json()["max_tokens"].as_u64() {
        Some(limit) if limit <= 8_192 => Reply::text("ok"),
        _ => Reply::from(ApiError::invalid_request().param("max_tokens")),
    });
    let chain =
        chain([at(&down, "first").max_output_tokens(64_000), at(&picky, "second").max_output_tokens(8_192)]);
    let answer = chain.complete(Request::new("x").max_tokens(32_000)).await.unwrap();
    let limits = |server: &MockServer| {
        bodies(server).iter().map(|body| body["max_tokens"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!((limits(&down), limits(&picky)), (vec![Some(32_000), Some(32_000)], vec![Some(8_192)]));
    let notes = answer.report.attempts[2].notes.join(" ");
    assert!(notes.contains("32000") && notes.contains("8192"), "{notes}");
}

#[tokio::test]
async fn rq_09_what_belongs_to_one_vendor_does_not_reach_another() {
    let (first, second) = (server([ApiError::rate_limited()]).await, answering("ok").await);
    let call = ToolCall::new("toolu_01", "look_up", "{\"q\": 1}");
    let request = Request::new("x")
        .tool(Tool::new("look_up", json!({"type": "object"})))
        .message(Message::assistant("Let me see.").part(Part::ToolCall(call.clone())))
        .message(Message::tool_result(ToolResult::new(&call, "nothing")))
        .options(&AnthropicOptions::new().top_k(7_u32))
        .unwrap();
    let chain = chain([at_anthropic(&first, "first"), at(&second, "second")]);
    chain.complete(request).await.unwrap();
    let (ours, theirs) = (bodies(&first)[0].to_string(), bodies(&second)[0].to_string());
    assert!(ours.contains("top_k") && !theirs.contains("top_k"), "{theirs}");
    for kept in ["Let me see.", "toolu_01", "nothing"] {
        assert!(theirs.contains(kept), "{kept} is missing in {theirs}");
    }
    for foreign in ["thinking", "signature", "tool_use", "tool_result"] {
        assert!(!theirs.contains(foreign), "{foreign} is in {theirs}");
    }
}
