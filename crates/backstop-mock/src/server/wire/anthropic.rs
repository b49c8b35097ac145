//! Anthropic Messages, `POST …/messages`.

use serde_json::{Map, Value, json};

use super::{
    super::{
        ApiError, Completion, ReceivedMessage,
        api_error::{Problem, Words},
        completion::{Finish, ToolCall, Usage},
    },
    encoding::{Context, Encoding, StreamParts},
    openai_words::content_text,
    sse,
};

pub(super) struct Anthropic;

impl Encoding for Anthropic {
    fn completion(&self, completion: &Completion, context: &Context<'_>) -> Value {
        let mut message = message(completion, context, blocks(completion, context));
        let (reason, details) = stop(completion);
        message.insert("stop_reason".into(), reason.into());
        message.insert("stop_details".into(), details);
        if completion.usage.sent {
            message.insert("usage".into(), usage(completion.usage, completion.usage.output));
        }
        Value::Object(message)
    }

    fn error(&self, error: &ApiError, context: &Context<'_>) -> (u16, Value) {
        let settled = error.settle(words(error.problem));
        let mut object = Map::new();
        object.insert("type".into(), settled.kind.into());
        object.insert("message".into(), settled.message.into());
        if let Some(code) = &settled.code {
            object.insert("details".into(), json!({ "error_code": code }));
        }
        settled.add_fields(&mut object);
        let request_id = format!("req_mock_{}", context.number);
        (settled.status, json!({ "type": "error", "error": object, "request_id": request_id }))
    }

    fn stream(&self, completion: &Completion, pieces: &[&str], context: &Context<'_>) -> StreamParts {
        let mut opening = message(completion, context, Vec::new());
        opening.insert("stop_reason".into(), Value::Null);
        opening.insert("usage".into(), usage(completion.usage, 1));
        let mut lead = vec![sse::named(&json!({ "type": "message_start", "message": opening }))];
        let mut spoken = Vec::new();
        let mut tail = Vec::new();
        let mut calls = completion.tool_calls.iter();
        for (index, block) in blocks(completion, context).into_iter().enumerate() {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => {
                    lead.push(start(index, &json!({ "type": "text", "text": "" })));
                    let text = |piece: &&str| delta(index, &json!({ "type": "text_delta", "text": piece }));
                    spoken = pieces.iter().map(text).collect();
                    tail.push(stop_block(index));
                }
                Some("thinking") => lead.extend(thinking_events(index, completion)),
                _ => tail.extend(calls.next().into_iter().flat_map(|call| tool_events(index, &block, call))),
            }
        }
        let (reason, details) = stop(completion);
        let change = json!({ "stop_reason": reason, "stop_sequence": null, "stop_details": details });
        let counted = json!({ "output_tokens": completion.usage.output });
        tail.push(sse::named(&json!({ "type": "message_delta", "delta": change, "usage": counted })));
        let end = Some(sse::named(&json!({ "type": "message_stop" })));
        let keep_alive = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
        StreamParts { content_type: sse::CONTENT_TYPE, lead, pieces: spoken, tail, end, keep_alive }
    }

    fn stream_error(&self, error: &ApiError, _: usize, context: &Context<'_>) -> String {
        sse::named(&self.error(error, context).1)
    }

    fn messages(&self, request: &Value) -> Vec<ReceivedMessage> {
        let text_of = |message: &Value| message.get("content").map(content_text).unwrap_or_default();
        let system = request.get("system").map(|system| ReceivedMessage::new("system", content_text(system)));
        let turns = ReceivedMessage::list(request.get("messages"), text_of);
        system.into_iter().chain(turns).collect()
    }

    fn request_id_header(&self) -> Option<&'static str> {
        Some("request-id")
    }
}

/// Source: the errors page of Anthropic's documentation.
fn words(problem: Problem) -> Words {
    const INVALID: &str = "invalid_request_error";
    let new = Words::new;
    match problem {
        Problem::BadKey => new(401, "authentication_error", None, "invalid x-api-key"),
        Problem::Forbidden => new(403, "permission_error", None, "The key has no permission for this."),
        Problem::QuotaExhausted => {
            new(429, "rate_limit_error", Some("enforced_spend_limit_reached"), "The spend limit is reached.")
        }
        Problem::RateLimited => {
            new(429, "rate_limit_error", None, "The request would exceed the rate limit of the organization.")
        }
        Problem::Overloaded => new(529, "overloaded_error", None, "Overloaded"),
        Problem::Server => new(500, "api_error", None, "Internal server error"),
        Problem::Timeout => new(504, "timeout_error", None, "The request timed out."),
        Problem::ModelNotFound => new(404, "not_found_error", None, "The model was not found."),
        Problem::NoSuchPath => new(404, "not_found_error", None, "Not found."),
        Problem::InvalidRequest => new(400, INVALID, None, "The request is invalid."),
        Problem::ContextTooLong => {
            new(400, INVALID, None, "prompt is too long: 205000 tokens > 200000 maximum")
        }
        Problem::SchemaRejected => new(400, INVALID, None, "Schema is too complex for compilation."),
        Problem::PromptFiltered => new(400, INVALID, None, "Output blocked by content filtering policy."),
        Problem::TooLarge => new(413, "request_too_large", None, "Request exceeds the maximum size."),
        Problem::Status(status) => new(status, kind_of(status), None, "The mock server was told to fail."),
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn message(completion: &Completion, context: &Context<'_>, content: Vec<Value>) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("id".into(), format!("msg_mock_{}", context.number).into());
    message.insert("type".into(), "message".into());
    message.insert("role".into(), "assistant".into());
    message.insert("model".into(), context.served(completion).into());
    message.insert("content".into(), content.into());
    message.insert("stop_sequence".into(), Value::Null);
    message
}

fn blocks(completion: &Completion, context: &Context<'_>) -> Vec<Value> {
    if completion.no_choices || completion.refusal.is_some() {
        return Vec::new();
    }
    let thinking = completion.reasoning.iter();
    let thinking = thinking.map(|text| json!({ "type": "thinking", "thinking": text, "signature": "mock" }));
    let text = completion.text.iter().map(|text| json!({ "type": "text", "text": text }));
    let calls = completion.tool_calls.iter().enumerate().map(|(index, call)| {
        let id = format!("toolu_mock_{}_{index}", context.number);
        json!({ "type": "tool_use", "id": id, "name": call.name, "input": call.arguments_value() })
    });
    thinking.chain(text).chain(calls).collect()
}

/// Reason and details. Anthropic has no word of its own for its output filter: that is a refusal as well.
fn stop(completion: &Completion) -> (&str, Value) {
    let refused = completion.refusal.is_some();
    let reason = match completion.finish() {
        Finish::Word(word) => word,
        _ if refused => "refusal",
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Filtered => "refusal",
        Finish::ToolCalls => "tool_use",
    };
    let details = match reason {
        "refusal" => json!({ "type": "refusal", "category": null, "explanation": null }),
        _ => Value::Null,
    };
    (reason, details)
}

fn start(index: usize, block: &Value) -> String {
    sse::named(&json!({ "type": "content_block_start", "index": index, "content_block": block }))
}

fn delta(index: usize, delta: &Value) -> String {
    sse::named(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
}

fn stop_block(index: usize) -> String {
    sse::named(&json!({ "type": "content_block_stop", "index": index }))
}

fn thinking_events(index: usize, completion: &Completion) -> [String; 4] {
    let text = completion.reasoning.as_deref().unwrap_or_default();
    [
        start(index, &json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(index, &json!({ "type": "thinking_delta", "thinking": text })),
        delta(index, &json!({ "type": "signature_delta", "signature": "mock" })),
        stop_block(index),
    ]
}

/// The arguments come as text in parts, although the block in one piece has them as an object.
fn tool_events(index: usize, block: &Value, call: &ToolCall) -> [String; 4] {
    let mut opened = block.clone();
    if let Some(opened) = opened.as_object_mut() {
        opened.insert("input".into(), json!({}));
    }
    let part = |part: &str| delta(index, &json!({ "type": "input_json_delta", "partial_json": part }));
    let [first, second] = call.halves().map(part);
    [start(index, &opened), first, second, stop_block(index)]
}

/// Anthropic counts cached tokens apart from the input.
fn usage(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
        "output_tokens_details": { "thinking_tokens": usage.reasoning.min(output) },
    })
}
