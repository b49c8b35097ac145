//! The five wire formats say the same things in their own words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod client;

use backstop_mock::server::{ApiError, Completion, Format, MockServer, Reply, Streaming};
use client::{Client, Response};
use serde_json::{Value, json};

const FORMATS: [(Format, &str); 5] = [
    (Format::OpenAiChat, "/v1/chat/completions"),
    (Format::OpenAiResponses, "/v1/responses"),
    (Format::Anthropic, "/v1/messages"),
    (Format::Gemini, "/v1beta/models/m:generateContent"),
    (Format::Ollama, "/api/chat"),
];
const GEMINI_SSE: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";
const GEMINI_ARRAY: &str = "/v1beta/models/m:streamGenerateContent";

async fn answer(reply: impl Into<Reply>, path: &str) -> Response {
    ask(reply, path, &json!({ "model": "m", "stream": false })).await
}

async fn streamed(reply: impl Into<Reply>, format: Format) -> Response {
    let path = FORMATS.iter().find(|(known, _)| *known == format).unwrap().1;
    let path = if format == Format::Gemini { GEMINI_SSE } else { path };
    ask(reply, path, &json!({ "model": "m", "stream": true })).await
}

async fn ask(reply: impl Into<Reply>, path: &str, body: &Value) -> Response {
    let server = MockServer::start().await.unwrap();
    server.push(reply);
    Client::connect(&server).await.ask(path, body).await
}

/// The part of each format's answer that `pointers` name, in the order of [`FORMATS`].
async fn in_every_format(reply: impl Into<Reply>, pointers: [&str; 5]) -> Vec<Value> {
    let reply = reply.into();
    let mut found = Vec::new();
    for ((_, path), pointer) in FORMATS.into_iter().zip(pointers) {
        let body = answer(reply.clone(), path).await.json();
        found.push(body.pointer(pointer).cloned().unwrap_or(json!("absent")));
    }
    found
}

const TEXT: [&str; 5] = [
    "/choices/0/message/content",
    "/output/0/content/0/text",
    "/content/0/text",
    "/candidates/0/content/parts/0/text",
    "/message/content",
];
const FINISH: [&str; 5] = [
    "/choices/0/finish_reason",
    "/incomplete_details/reason",
    "/stop_reason",
    "/candidates/0/finishReason",
    "/done_reason",
];

#[tokio::test]
async fn text_model_and_finish_reason() {
    let reply = Completion::text("hello").model("served");
    assert_eq!(in_every_format(reply.clone(), TEXT).await, ["hello"; 5]);
    let models =
        in_every_format(reply.clone(), ["/model", "/model", "/model", "/modelVersion", "/model"]).await;
    assert_eq!(models, ["served"; 5]);
    let finish = in_every_format(reply, FINISH).await;
    assert_eq!(finish, [json!("stop"), json!("absent"), json!("end_turn"), json!("STOP"), json!("stop")]);
    let models = ["/model", "/model", "/model", "/modelVersion", "/model"];
    assert_eq!(in_every_format(Reply::text("x"), models).await, ["m"; 5], "the request's own");
}

#[tokio::test]
async fn truncation_and_filters_have_their_words() {
    let truncated = in_every_format(Completion::truncated("{"), FINISH).await;
    assert_eq!(truncated, ["length", "max_output_tokens", "max_tokens", "MAX_TOKENS", "length"]);
    let filtered = in_every_format(Completion::filtered(""), FINISH).await;
    assert_eq!(filtered, ["content_filter", "content_filter", "refusal", "SAFETY", "stop"]);
    let odd = in_every_format(Completion::text("").finish_word("odd"), FINISH).await;
    assert_eq!(odd, ["odd"; 5]);
    let statuses = ["/x", "/status", "/x", "/x", "/x"];
    assert_eq!(in_every_format(Completion::truncated("{"), statuses).await[1], "incomplete");
    assert_eq!(in_every_format(Reply::text("{}"), statuses).await[1], "completed");
}

#[tokio::test]
async fn refusals_are_signalled_where_there_is_a_signal() {
    let pointers = [
        "/choices/0/message/refusal",
        "/output/0/content/0/refusal",
        "/stop_reason",
        "/promptFeedback/blockReason",
        "/message/content",
    ];
    let signals = in_every_format(Reply::refusal("I won't."), pointers).await;
    assert_eq!(signals, ["I won't.", "I won't.", "refusal", "PROHIBITED_CONTENT", "I won't."]);
    let texts = in_every_format(Reply::refusal("I won't."), TEXT).await;
    assert_eq!(texts, [json!(null), json!("absent"), json!("absent"), json!("absent"), json!("I won't.")]);
}

#[tokio::test]
async fn empty_answers_and_missing_choices_differ() {
    let lists = ["/choices", "/output", "/content", "/candidates", "/message"];
    let missing = in_every_format(Completion::no_choices(), lists).await;
    assert_eq!(missing, [json!([]), json!([]), json!([]), json!("absent"), json!("absent")]);
    let empty = in_every_format(Completion::empty(), lists).await;
    assert_eq!((&empty[0][0]["message"]["content"], &empty[1][0]["content"]), (&json!(null), &json!([])));
    assert_eq!((&empty[2], &empty[3]), (&json!([]), &json!([{ "finishReason": "STOP", "index": 0 }])));
    assert_eq!(empty[4]["content"], "");
}

#[tokio::test]
async fn usage_follows_each_vendors_arithmetic() {
    let reply = Completion::text("x").tokens(100, 30).cached_tokens(60).reasoning_tokens(20);
    let usage = in_every_format(reply, ["/usage", "/usage", "/usage", "/usageMetadata", ""]).await;
    assert_eq!((&usage[0]["prompt_tokens"], &usage[0]["completion_tokens"]), (&json!(100), &json!(30)));
    assert_eq!(usage[0]["prompt_tokens_details"]["cached_tokens"], 60);
    assert_eq!(usage[0]["completion_tokens_details"]["reasoning_tokens"], 20);
    assert_eq!((&usage[1]["input_tokens"], &usage[1]["total_tokens"]), (&json!(100), &json!(130)));
    assert_eq!(usage[1]["input_tokens_details"]["cached_tokens"], 60);
    assert_eq!(usage[1]["output_tokens_details"]["reasoning_tokens"], 20);
    assert_eq!((&usage[2]["input_tokens"], &usage[2]["cache_read_input_tokens"]), (&json!(40), &json!(60)));
    assert_eq!(usage[2]["output_tokens"], 30);
    assert_eq!(
        (&usage[3]["promptTokenCount"], &usage[3]["cachedContentTokenCount"]),
        (&json!(100), &json!(60))
    );
    assert_eq!(
        (&usage[3]["candidatesTokenCount"], &usage[3]["thoughtsTokenCount"]),
        (&json!(10), &json!(20))
    );
    assert_eq!(usage[3]["totalTokenCount"], 130);
    assert_eq!((&usage[4]["prompt_eval_count"], &usage[4]["eval_count"]), (&json!(100), &json!(30)));

    let gone = in_every_format(
        Completion::text("x").no_usage(),
        ["/usage", "/usage", "/usage", "/usageMetadata", "/eval_count"],
    );
    assert_eq!(gone.await, [json!("absent"), json!(null), json!("absent"), json!("absent"), json!("absent")]);
}

#[tokio::test]
async fn tool_calls_and_reasoning_come_beside_the_text() {
    let reply = Completion::text("so").reasoning("hm").tool_call("find", r#"{"q":1}"#);
    let calls = [
        "/choices/0/message/tool_calls/0/function",
        "/output/2",
        "/content/2",
        "/candidates/0/content/parts/2/functionCall",
        "/message/tool_calls/0/function",
    ];
    let calls = in_every_format(reply.clone(), calls).await;
    assert!(calls.iter().all(|call| call["name"] == "find"), "{calls:?}");
    let arguments = ["arguments", "arguments", "input", "args", "arguments"];
    let arguments: Vec<_> = calls.iter().zip(arguments).map(|(call, field)| call[field].clone()).collect();
    let (text, object) = (json!(r#"{"q":1}"#), json!({ "q": 1 }));
    assert_eq!(arguments, [text.clone(), text, object.clone(), object.clone(), object]);
    let reasons = in_every_format(reply.clone(), FINISH).await;
    assert_eq!(reasons[0], "tool_calls");
    assert_eq!(reasons[2], "tool_use");
    let reasoning = [
        "/choices/0/message/reasoning_content",
        "/output/0/summary/0/text",
        "/content/0/thinking",
        "/candidates/0/content/parts/0/text",
        "/message/thinking",
    ];
    assert_eq!(in_every_format(reply, reasoning).await, ["hm"; 5]);
}

#[tokio::test]
async fn errors_have_each_vendors_status_and_words() {
    type Row = (ApiError, [u16; 5], [&'static str; 5]);
    let rows: [Row; 6] = [
        (
            ApiError::rate_limited(),
            [429, 429, 429, 429, 429],
            ["rate_limit_exceeded", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED", "limit"],
        ),
        (
            ApiError::overloaded(),
            [503, 503, 529, 503, 503],
            ["server_is_overloaded", "server_is_overloaded", "overloaded_error", "UNAVAILABLE", "busy"],
        ),
        (
            ApiError::bad_key(),
            [401, 401, 401, 400, 401],
            ["invalid_api_key", "invalid_api_key", "authentication_error", "API_KEY_INVALID", "unauthorized"],
        ),
        (
            ApiError::quota_exhausted(),
            [429, 429, 429, 402, 429],
            ["insufficient_quota", "insufficient_quota", "enforced_spend_limit_reached", "credits", "limit"],
        ),
        (
            ApiError::model_not_found(),
            [404, 404, 404, 404, 404],
            ["model_not_found", "model_not_found", "not_found_error", "NOT_FOUND", "not found"],
        ),
        (
            ApiError::context_too_long(),
            [400, 400, 400, 400, 400],
            ["context_length_exceeded", "context_length_exceeded", "too long", "token count", "context size"],
        ),
    ];
    for (error, statuses, words) in rows {
        for (index, (format, path)) in FORMATS.into_iter().enumerate() {
            let response = answer(error.clone(), path).await;
            assert_eq!(response.status, statuses[index], "{format:?} {error:?}");
            assert!(
                response.json()["error"].to_string().contains(words[index]),
                "{format:?} {}",
                response.text()
            );
        }
    }
}

#[tokio::test]
async fn every_part_of_an_error_can_be_overridden() {
    let error = ApiError::status(418).kind("teapot").code(7).message("short and stout").param("handle");
    let error = error.field("metadata", json!({ "spout": true }));
    let response =
        answer(Reply::from(error.clone()).retry_after("soon").header("X-Request-Id", "mine"), FORMATS[0].1);
    let response = response.await;
    let expected = json!({ "error": { "type": "teapot", "code": 7, "message": "short and stout", "param": "handle",
                                      "metadata": { "spout": true } } });
    assert_eq!((response.status, response.json()), (418, expected));
    assert_eq!(
        (response.header("retry-after"), response.header("x-request-id")),
        (Some("soon"), Some("mine"))
    );
    assert_eq!(response.headers.iter().filter(|(name, _)| name == "x-request-id").count(), 1);

    let anthropic = answer(error.clone(), FORMATS[2].1).await.json();
    assert_eq!(anthropic["type"], "error");
    assert_eq!(
        (&anthropic["error"]["type"], &anthropic["error"]["details"]["error_code"]),
        (&json!("teapot"), &json!(7))
    );
    let gemini = answer(error.clone(), FORMATS[3].1).await.json();
    assert_eq!((&gemini["error"]["code"], &gemini["error"]["status"]), (&json!(418), &json!("teapot")));
    assert_eq!(answer(error, FORMATS[4].1).await.json()["error"], "short and stout");
}

#[tokio::test]
async fn an_error_inside_a_200_is_one_in_every_format() {
    for (format, path) in FORMATS {
        let response = answer(Reply::in_band(ApiError::overloaded().message("busy")), path).await;
        assert_eq!(response.status, 200);
        assert!(response.json()["error"].to_string().contains("busy"), "{format:?}");
    }
    let failed = answer(Reply::in_band(ApiError::overloaded()), FORMATS[1].1).await.json();
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("server_is_overloaded"))
    );
}

#[tokio::test]
async fn request_ids_come_in_each_vendors_header() {
    let ids = [Some("x-request-id"), Some("x-request-id"), Some("request-id"), None, None];
    for ((format, path), name) in FORMATS.into_iter().zip(ids) {
        let response = answer(Reply::text("x"), path).await;
        let found = ["x-request-id", "request-id"].into_iter().find(|name| response.header(name).is_some());
        assert_eq!(found, name, "{format:?}");
    }
}

/// The text that a client puts together, and whether the stream says that it is complete.
fn reassemble(format: Format, response: &Response) -> (String, bool) {
    let events: Vec<Value> = match format {
        Format::Ollama => response.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        _ => response.json_events(),
    };
    let of_type = |name: &str| events.iter().any(|event| event["type"] == name);
    let (pointer, complete) = match format {
        Format::OpenAiChat => ("/choices/0/delta/content", response.text().ends_with("data: [DONE]\n\n")),
        Format::OpenAiResponses => ("/delta", of_type("response.completed")),
        Format::Anthropic => ("/delta/text", of_type("message_stop")),
        Format::Gemini => (
            "/candidates/0/content/parts/0/text",
            events.iter().any(|e| e["candidates"][0]["finishReason"] == "STOP"),
        ),
        Format::Ollama => ("/message/content", events.last().unwrap()["done"] == true),
        other => panic!("{other:?}"),
    };
    let text = events.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect();
    (text, complete)
}

#[tokio::test]
async fn a_stream_put_together_is_the_text_in_every_format() {
    let text = "{\"naïve\": \"日本語 👩‍👩‍👧\", \"line\\n\": 1}\nsecond line";
    for (format, _) in FORMATS {
        for chars in [1, 4, 1000] {
            for bytes in [1, 10, usize::MAX] {
                let streaming = Streaming::new().piece_chars(chars).write_bytes(bytes).keep_alives(1);
                let response = streamed(Reply::text(text).streamed(streaming), format).await;
                assert_eq!(
                    reassemble(format, &response),
                    (text.to_owned(), true),
                    "{format:?} {chars} {bytes}"
                );
            }
        }
        let response = streamed(Reply::text(text).streamed(Streaming::new().end_after(2)), format).await;
        let (start, complete) = reassemble(format, &response);
        assert!(text.starts_with(&start) && start.chars().count() == 16 && !complete, "{format:?} {start}");
    }
}

#[tokio::test]
async fn named_events_carry_their_name_twice() {
    for format in [Format::OpenAiResponses, Format::Anthropic] {
        let reply = Completion::text("hello world").reasoning("hm").tool_call("find", "{}");
        let text = streamed(reply, format).await.text();
        let blocks = text.split("\n\n").filter(|block| !block.is_empty());
        for block in blocks {
            let (name, data) = block.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name.strip_prefix("event: ").unwrap(), data["type"], "{format:?}");
        }
    }
}

#[tokio::test]
async fn events_of_responses_are_numbered_and_end_with_the_whole() {
    let reply = Completion::pieces(["a", "b"]).reasoning("hm").tool_call("find", r#"{"q":1}"#).tokens(3, 4);
    let events = streamed(Reply::from(reply.clone()), Format::OpenAiResponses).await.json_events();
    let numbers: Vec<_> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let whole = answer(reply, FORMATS[1].1).await.json();
    assert_eq!(events.last().unwrap()["response"], whole);
    let of_arguments = |event: &&Value| event["type"] == "response.function_call_arguments.delta";
    let arguments = events.iter().filter(of_arguments).filter_map(|event| event["delta"].as_str());
    let arguments: String = arguments.collect();
    assert_eq!(arguments, r#"{"q":1}"#);

    let broken = Reply::text("x").streamed(Streaming::new().error_after(0, ApiError::overloaded()));
    let events = streamed(broken, Format::OpenAiResponses).await.json_events();
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["code"]), (&json!("error"), &json!("server_is_overloaded")));
    assert_eq!(last["sequence_number"], events.len() - 1);
}

#[tokio::test]
async fn blocks_of_anthropic_start_and_stop_in_order() {
    let reply = Completion::pieces(["a", "b"]).reasoning("hm").tool_call("find", r#"{"q":1}"#).tokens(3, 4);
    let reply = Reply::from(reply).streamed(Streaming::new().keep_alives(1));
    let events = streamed(reply, Format::Anthropic).await.json_events();
    let told = |event: &Value| {
        let kind = event["type"].as_str().unwrap().trim_start_matches("content_block_").to_owned();
        event["index"].as_u64().map_or(kind.clone(), |index| format!("{kind} {index}"))
    };
    assert_eq!(
        events.iter().map(told).collect::<Vec<_>>(),
        [
            "message_start",
            "start 0",
            "delta 0",
            "delta 0",
            "stop 0",
            "start 1",
            "ping",
            "delta 1",
            "ping",
            "delta 1",
            "stop 1",
            "start 2",
            "delta 2",
            "delta 2",
            "stop 2",
            "message_delta",
            "message_stop",
        ]
    );
    let input: String = events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
    assert_eq!(input, r#"{"q":1}"#);
    let end = &events[events.len() - 2];
    assert_eq!(
        (&end["delta"]["stop_reason"], &end["usage"]["output_tokens"]),
        (&json!("tool_use"), &json!(4))
    );
}

#[tokio::test]
async fn refusals_are_streamed_too() {
    let words = "I cannot help with that.";
    let chat = streamed(Reply::refusal(words), Format::OpenAiChat).await.json_events();
    let told: String =
        chat.iter().filter_map(|event| event["choices"][0]["delta"]["refusal"].as_str()).collect();
    assert_eq!(told, words);
    let responses = streamed(Reply::refusal(words), Format::OpenAiResponses).await.json_events();
    let deltas = responses.iter().filter(|event| event["type"] == "response.refusal.delta");
    assert_eq!(deltas.filter_map(|event| event["delta"].as_str()).collect::<String>(), words);
    let anthropic = streamed(Reply::refusal(words), Format::Anthropic).await.json_events();
    assert!(anthropic.iter().any(|event| event["delta"]["stop_reason"] == "refusal"));
    let gemini = streamed(Reply::refusal(words), Format::Gemini).await.json_events();
    assert_eq!(gemini.len(), 1);
    assert_eq!(gemini[0]["promptFeedback"]["blockReason"], "PROHIBITED_CONTENT");
}

#[tokio::test]
async fn gemini_streams_an_array_unless_asked_for_events() {
    let reply = Reply::from(Completion::pieces(["a", "b"]));
    let response = ask(reply.clone(), GEMINI_ARRAY, &json!({})).await;
    let array = response.json();
    let texts = array.as_array().unwrap().iter();
    let texts = texts.filter_map(|chunk| chunk["candidates"][0]["content"]["parts"][0]["text"].as_str());
    assert_eq!(texts.collect::<String>(), "ab");
    let broken = reply.streamed(Streaming::new().error_after(1, ApiError::overloaded()));
    let array = ask(broken, GEMINI_ARRAY, &json!({})).await.json();
    assert_eq!(array[1]["error"]["status"], "UNAVAILABLE");
    let alone = ask(Reply::in_band(ApiError::overloaded()), GEMINI_ARRAY, &json!({})).await.json();
    assert_eq!(alone[0]["error"]["status"], "UNAVAILABLE");
}

#[tokio::test]
async fn ollama_streams_unless_told_not_to() {
    let response = ask(Reply::text("hi"), "/api/chat", &json!({ "model": "m" })).await;
    assert_eq!(response.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(reassemble(Format::Ollama, &response), ("hi".into(), true));
    let broken = Reply::text("hi").streamed(Streaming::new().error_after(1, ApiError::server()));
    let text = ask(broken, "/api/chat", &json!({ "model": "m" })).await.text();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert!(last["error"].is_string() && !text.contains("\"done\":true"));
}
