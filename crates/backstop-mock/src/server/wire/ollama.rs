//! Ollama's own API, `POST …/api/chat`.

use serde_json::{Map, Value, json};

use super::{
    super::{
        ApiError, Completion, ReceivedMessage,
        api_error::{Problem, Words},
        completion::{Finish, Usage},
    },
    encoding::{CREATED_TEXT, Context, Encoding, StreamParts},
    openai_words::content_text,
};

pub(super) struct Ollama;

impl Encoding for Ollama {
    fn completion(&self, completion: &Completion, context: &Context<'_>) -> Value {
        let mut message = Map::new();
        message.insert("role".into(), "assistant".into());
        message.insert("content".into(), completion.spoken().into());
        if let Some(thinking) = &completion.reasoning {
            message.insert("thinking".into(), thinking.as_str().into());
        }
        if !completion.tool_calls.is_empty() {
            message.insert("tool_calls".into(), tool_calls(completion));
        }
        let message = (!completion.no_choices).then_some(Value::Object(message));
        Value::Object(last(completion, context, message))
    }

    /// A bare string: no type, no code.
    fn error(&self, error: &ApiError, _: &Context<'_>) -> (u16, Value) {
        let settled = error.settle(words(error.problem));
        let mut body = Map::new();
        body.insert("error".into(), settled.message.into());
        settled.add_fields(&mut body);
        (settled.status, Value::Object(body))
    }

    fn stream(&self, completion: &Completion, pieces: &[&str], context: &Context<'_>) -> StreamParts {
        let saying = |message: Value| {
            let mut chunk = head(completion, context, Some(message));
            chunk.insert("done".into(), false.into());
            line(&Value::Object(chunk))
        };
        let thinking = completion.reasoning.iter();
        let thinking = thinking
            .map(|text| saying(json!({ "role": "assistant", "content": "", "thinking": text })))
            .collect();
        let speak = |piece: &&str| saying(json!({ "role": "assistant", "content": piece }));
        let pieces = if completion.no_choices { Vec::new() } else { pieces.iter().map(speak).collect() };
        let mut tail = Vec::new();
        if !completion.tool_calls.is_empty() {
            let calls = tool_calls(completion);
            tail.push(saying(json!({ "role": "assistant", "content": "", "tool_calls": calls })));
        }
        let message = (!completion.no_choices).then(|| json!({ "role": "assistant", "content": "" }));
        let end = Some(line(&Value::Object(last(completion, context, message))));
        let content_type = "application/x-ndjson";
        StreamParts { content_type, lead: thinking, pieces, tail, end, keep_alive: "" }
    }

    fn stream_error(&self, error: &ApiError, _: usize, context: &Context<'_>) -> String {
        line(&self.error(error, context).1)
    }

    fn messages(&self, request: &Value) -> Vec<ReceivedMessage> {
        ReceivedMessage::list(request.get("messages"), |message| {
            message.get("content").map(content_text).unwrap_or_default()
        })
    }

    /// Ollama streams unless told not to.
    fn asks_for_stream(&self, request: &Value, _: &str) -> bool {
        request.get("stream").and_then(Value::as_bool).unwrap_or(true)
    }

    fn request_id_header(&self) -> Option<&'static str> {
        None
    }
}

/// Source: Ollama's server and its API documentation.
fn words(problem: Problem) -> Words {
    let new = |status, message| Words::new(status, "", None, message);
    match problem {
        Problem::BadKey => new(401, "unauthorized"),
        Problem::Forbidden => new(403, "forbidden"),
        Problem::QuotaExhausted | Problem::RateLimited => new(429, "you have reached your usage limit"),
        Problem::Overloaded => new(503, "server busy, please try again.  maximum pending requests exceeded"),
        Problem::Server => new(500, "model runner has unexpectedly stopped"),
        Problem::Timeout => new(504, "timed out waiting for the model runner"),
        Problem::ModelNotFound => new(404, "model not found, try pulling it first"),
        Problem::NoSuchPath => new(404, "404 page not found"),
        Problem::InvalidRequest | Problem::PromptFiltered => new(400, "invalid request"),
        Problem::ContextTooLong => new(400, "the prompt exceeds the available context size"),
        Problem::SchemaRejected => new(400, "invalid JSON schema in format"),
        Problem::TooLarge => new(413, "request body too large"),
        Problem::Status(status) => new(status, "the mock server was told to fail"),
    }
}

fn head(completion: &Completion, context: &Context<'_>, message: Option<Value>) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("model".into(), context.served(completion).into());
    head.insert("created_at".into(), CREATED_TEXT.into());
    if let Some(message) = message {
        head.insert("message".into(), message);
    }
    head
}

fn last(completion: &Completion, context: &Context<'_>, message: Option<Value>) -> Map<String, Value> {
    let mut last = head(completion, context, message);
    last.insert("done".into(), true.into());
    last.insert("done_reason".into(), done_reason(completion.finish()).into());
    if completion.usage.sent {
        add_usage(&mut last, completion.usage);
    }
    last
}

/// Ollama filters nothing and has no reason of its own for tool calls.
fn done_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop | Finish::Filtered | Finish::ToolCalls => "stop",
        Finish::Length => "length",
        Finish::Word(word) => word,
    }
}

/// Durations are in nanoseconds; counts of zero are left out.
fn add_usage(last: &mut Map<String, Value>, usage: Usage) {
    last.insert("total_duration".into(), 3_000_000.into());
    last.insert("load_duration".into(), 1_000_000.into());
    for (count, tokens) in [("prompt_eval_count", usage.input), ("eval_count", usage.output)] {
        if tokens > 0 {
            last.insert(count.into(), tokens.into());
        }
    }
    last.insert("prompt_eval_duration".into(), 1_000_000.into());
    last.insert("eval_duration".into(), 1_000_000.into());
}

fn tool_calls(completion: &Completion) -> Value {
    let calls = completion.tool_calls.iter().enumerate();
    calls
        .map(|(index, call)| {
            json!({ "function": { "index": index, "name": call.name, "arguments": call.arguments_value() } })
        })
        .collect()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
