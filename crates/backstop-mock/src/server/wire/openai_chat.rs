//! OpenAI Chat Completions, `POST …/chat/completions`.

use serde_json::{Map, Value, json};

use super::{
    super::{
        ApiError, Completion, ReceivedMessage,
        completion::{Finish, Usage},
    },
    encoding::{CREATED, Context, Encoding, StreamParts},
    openai_words, sse,
};

pub(super) struct OpenAiChat;

impl Encoding for OpenAiChat {
    fn completion(&self, completion: &Completion, context: &Context<'_>) -> Value {
        let choices = if completion.no_choices { json!([]) } else { json!([choice(completion, context)]) };
        let mut body = head("chat.completion", completion, context);
        body.insert("choices".into(), choices);
        if completion.usage.sent {
            body.insert("usage".into(), usage(completion.usage));
        }
        Value::Object(body)
    }

    fn error(&self, error: &ApiError, _: &Context<'_>) -> (u16, Value) {
        openai_words::envelope(error)
    }

    fn stream(&self, completion: &Completion, pieces: &[&str], context: &Context<'_>) -> StreamParts {
        let chunk = |choices: Value| {
            let mut chunk = head("chat.completion.chunk", completion, context);
            chunk.insert("choices".into(), choices);
            chunk
        };
        let delta = |delta: Value, finish: Option<&str>| {
            let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
            sse::data(&Value::Object(chunk(json!([choice]))))
        };
        let field = if completion.refusal.is_some() { "refusal" } else { "content" };
        let mut lead = vec![delta(json!({ "role": "assistant", "content": "", "refusal": null }), None)];
        lead.extend(
            completion.reasoning.iter().map(|text| delta(json!({ "reasoning_content": text }), None)),
        );
        let pieces = pieces.iter().map(|piece| delta(json!({ field: piece }), None)).collect();

        let mut tail: Vec<String> =
            tool_call_deltas(completion, context).map(|call| delta(call, None)).collect();
        tail.push(delta(json!({}), Some(finish_word(completion.finish()))));
        if completion.no_choices {
            lead.clear();
            tail.clear();
        }
        if wants_usage(context.request) && completion.usage.sent {
            let mut last = chunk(json!([]));
            last.insert("usage".into(), usage(completion.usage));
            tail.push(sse::data(&Value::Object(last)));
        }
        let end = Some("data: [DONE]\n\n".to_owned());
        StreamParts { content_type: sse::CONTENT_TYPE, lead, pieces, tail, end, keep_alive: sse::COMMENT }
    }

    fn stream_error(&self, error: &ApiError, _: usize, _: &Context<'_>) -> String {
        sse::data(&openai_words::envelope(error).1)
    }

    fn messages(&self, request: &Value) -> Vec<ReceivedMessage> {
        ReceivedMessage::list(request.get("messages"), |message| {
            message.get("content").map(openai_words::content_text).unwrap_or_default()
        })
    }

    fn request_id_header(&self) -> Option<&'static str> {
        Some("x-request-id")
    }
}

fn head(object: &str, completion: &Completion, context: &Context<'_>) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("id".into(), format!("chatcmpl-mock-{}", context.number).into());
    head.insert("object".into(), object.into());
    head.insert("created".into(), CREATED.into());
    head.insert("model".into(), context.served(completion).into());
    head.insert("system_fingerprint".into(), "fp_mock".into());
    head
}

fn choice(completion: &Completion, context: &Context<'_>) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    message.insert("content".into(), completion.text.as_deref().map_or(Value::Null, Value::from));
    message.insert("refusal".into(), completion.refusal.as_deref().map_or(Value::Null, Value::from));
    if let Some(reasoning) = &completion.reasoning {
        message.insert("reasoning_content".into(), reasoning.as_str().into());
    }
    if !completion.tool_calls.is_empty() {
        let calls = completion.tool_calls.iter().enumerate().map(|(index, call)| {
            json!({ "id": call_id(context, index), "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments } })
        });
        message.insert("tool_calls".into(), calls.collect());
    }
    let finish = finish_word(completion.finish());
    json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish })
}

/// Name first, then the arguments in parts.
fn tool_call_deltas(completion: &Completion, context: &Context<'_>) -> impl Iterator<Item = Value> {
    completion.tool_calls.iter().enumerate().flat_map(move |(index, call)| {
        let start = json!({ "index": index, "id": call_id(context, index), "type": "function",
                            "function": { "name": call.name, "arguments": "" } });
        let [first, second] = call.halves();
        let more = |arguments: &str| json!({ "index": index, "function": { "arguments": arguments } });
        [start, more(first), more(second)].map(|call| json!({ "tool_calls": [call] }))
    })
}

fn call_id(context: &Context<'_>, index: usize) -> String {
    format!("call_mock_{}_{index}", context.number)
}

fn finish_word(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Filtered => "content_filter",
        Finish::ToolCalls => "tool_calls",
        Finish::Word(word) => word,
    }
}

fn wants_usage(request: &Value) -> bool {
    request.pointer("/stream_options/include_usage").and_then(Value::as_bool).unwrap_or(false)
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
    })
}
