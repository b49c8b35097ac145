//! OpenAI Responses, `POST …/responses`.

use serde_json::{Map, Value, json};

use super::{
    super::{
        ApiError, Completion, ReceivedMessage,
        completion::{Finish, ToolCall, Usage},
    },
    encoding::{CREATED, Context, Encoding, StreamParts},
    openai_words, sse,
};

pub(super) struct OpenAiResponses;

impl Encoding for OpenAiResponses {
    fn completion(&self, completion: &Completion, context: &Context<'_>) -> Value {
        let (status, reason) = outcome(completion.finish());
        let output = items(completion, context).into_iter().map(|item| item.value).collect();
        let mut response = response(completion, context, status, output);
        if let Some(reason) = reason {
            response.insert("incomplete_details".into(), json!({ "reason": reason }));
        }
        if completion.usage.sent {
            response.insert("usage".into(), usage(completion.usage));
        }
        Value::Object(response)
    }

    fn error(&self, error: &ApiError, _: &Context<'_>) -> (u16, Value) {
        openai_words::envelope(error)
    }

    /// A 200 with an error is a response that failed.
    fn in_band(&self, error: &ApiError, context: &Context<'_>) -> Value {
        let settled = openai_words::settle(error);
        let mut response = response(&Completion::empty(), context, "failed", Vec::new());
        let code = settled.code.unwrap_or_else(|| settled.kind.into());
        response.insert("error".into(), json!({ "code": code, "message": settled.message }));
        Value::Object(response)
    }

    fn stream(&self, completion: &Completion, pieces: &[&str], context: &Context<'_>) -> StreamParts {
        let mut numbered = Numbered::default();
        let whole = self.completion(completion, context);
        let started = response(completion, context, "in_progress", Vec::new());
        let mut lead = vec![
            numbered.event(json!({ "type": "response.created", "response": started })),
            numbered.event(json!({ "type": "response.in_progress", "response": started })),
        ];
        let mut spoken = Vec::new();
        let mut tail = Vec::new();
        for (index, item) in items(completion, context).iter().enumerate() {
            match item.role {
                Role::Reasoning(text) => {
                    lead.extend(
                        reasoning_events(text, &item.value, index).map(|event| numbered.event(event)),
                    );
                }
                Role::Message => {
                    let message = Message { item: &item.value, index, refuses: completion.refusal.is_some() };
                    lead.extend(message.opening().map(|event| numbered.event(event)));
                    spoken = pieces.iter().map(|piece| numbered.event(message.delta(piece))).collect();
                    tail.extend(message.closing(completion.spoken()).map(|event| numbered.event(event)));
                }
                Role::Call(call) => {
                    tail.extend(call_events(call, &item.value, index).map(|event| numbered.event(event)));
                }
            }
        }
        let (status, _) = outcome(completion.finish());
        let end = numbered.event(json!({ "type": format!("response.{status}"), "response": whole }));
        let (content_type, keep_alive) = (sse::CONTENT_TYPE, sse::COMMENT);
        StreamParts { content_type, lead, pieces: spoken, tail, end: Some(end), keep_alive }
    }

    /// Flat, unlike every other error of OpenAI.
    fn stream_error(&self, error: &ApiError, sent: usize, _: &Context<'_>) -> String {
        let settled = openai_words::settle(error);
        let code = settled.code.unwrap_or_else(|| settled.kind.into());
        sse::named(&json!({ "type": "error", "code": code, "message": settled.message,
                            "param": settled.param, "sequence_number": sent }))
    }

    fn messages(&self, request: &Value) -> Vec<ReceivedMessage> {
        let mut messages = Vec::new();
        if let Some(text) = request.get("instructions").and_then(Value::as_str) {
            messages.push(ReceivedMessage::new("system", text));
        }
        match request.get("input") {
            Some(Value::String(text)) => messages.push(ReceivedMessage::new("user", text)),
            input => messages.extend(ReceivedMessage::list(input, |item| {
                item.get("content").map(openai_words::content_text).unwrap_or_default()
            })),
        }
        messages
    }

    fn request_id_header(&self) -> Option<&'static str> {
        Some("x-request-id")
    }
}

/// Every field that OpenAI's schema requires, whether a client reads it or not.
fn response(
    completion: &Completion,
    context: &Context<'_>,
    status: &str,
    items: Vec<Value>,
) -> Map<String, Value> {
    let mut response = Map::new();
    let mut put = |name: &str, value: Value| response.insert(name.to_owned(), value);
    put("id", format!("resp_mock_{}", context.number).into());
    put("object", "response".into());
    put("created_at", CREATED.into());
    put("status", status.into());
    put("error", Value::Null);
    put("incomplete_details", Value::Null);
    put("instructions", context.request.get("instructions").cloned().unwrap_or(Value::Null));
    put("metadata", json!({}));
    put("model", context.served(completion).into());
    put("output", items.into());
    put("parallel_tool_calls", true.into());
    put("temperature", 1.0.into());
    put("top_p", 1.0.into());
    put("tool_choice", "auto".into());
    put("tools", json!([]));
    put("usage", Value::Null);
    response
}

/// Status and reason of incompleteness.
fn outcome(finish: &Finish) -> (&str, Option<&str>) {
    match finish {
        Finish::Stop | Finish::ToolCalls => ("completed", None),
        Finish::Length => ("incomplete", Some("max_output_tokens")),
        Finish::Filtered => ("incomplete", Some("content_filter")),
        Finish::Word(word) if word == "completed" => ("completed", None),
        Finish::Word(reason) => ("incomplete", Some(reason)),
    }
}

/// An item of the output, and what it is for.
struct Item<'a> {
    value: Value,
    role: Role<'a>,
}

enum Role<'a> {
    Reasoning(&'a str),
    Message,
    Call(&'a ToolCall),
}

fn items<'a>(completion: &'a Completion, context: &Context<'_>) -> Vec<Item<'a>> {
    if completion.no_choices {
        return Vec::new();
    }
    let number = context.number;
    let mut items = Vec::new();
    if let Some(text) = &completion.reasoning {
        let summary = json!([{ "type": "summary_text", "text": text }]);
        let value = json!({ "type": "reasoning", "id": format!("rs_mock_{number}"), "summary": summary });
        items.push(Item { value, role: Role::Reasoning(text) });
    }
    let speaks = completion.refusal.is_some() || completion.text.is_some();
    if speaks || completion.tool_calls.is_empty() {
        let status = outcome(completion.finish()).0;
        let value = json!({ "type": "message", "id": format!("msg_mock_{number}"), "role": "assistant",
                            "status": status, "content": content(completion) });
        items.push(Item { value, role: Role::Message });
    }
    items.extend(completion.tool_calls.iter().enumerate().map(|(index, call)| {
        let value = json!({ "type": "function_call", "id": format!("fc_mock_{number}_{index}"),
                            "call_id": format!("call_mock_{number}_{index}"), "status": "completed",
                            "name": call.name, "arguments": call.arguments });
        Item { value, role: Role::Call(call) }
    }));
    items
}

fn content(completion: &Completion) -> Value {
    match (&completion.refusal, &completion.text) {
        (Some(words), _) => json!([{ "type": "refusal", "refusal": words }]),
        (None, Some(text)) => json!([output_text(text)]),
        (None, None) => json!([]),
    }
}

fn output_text(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// Gives events their ascending numbers.
#[derive(Default)]
struct Numbered {
    next: usize,
}

impl Numbered {
    fn event(&mut self, mut event: Value) -> String {
        if let Some(object) = event.as_object_mut() {
            object.insert("sequence_number".into(), self.next.into());
        }
        self.next += 1;
        sse::named(&event)
    }
}

/// The events around the message item.
struct Message<'a> {
    item: &'a Value,
    index: usize,
    refuses: bool,
}

impl Message<'_> {
    fn part(&self, text: &str) -> Value {
        if self.refuses { json!({ "type": "refusal", "refusal": text }) } else { output_text(text) }
    }

    /// An event about the message's only content part.
    fn about_part(&self, kind: &str, more: Value) -> Value {
        let mut event = json!({ "type": kind, "item_id": self.item.get("id"), "output_index": self.index,
                                "content_index": 0 });
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        event
    }

    fn opening(&self) -> [Value; 2] {
        let mut item = self.item.clone();
        if let Some(item) = item.as_object_mut() {
            item.insert("status".into(), "in_progress".into());
            item.insert("content".into(), json!([]));
        }
        [
            item_added(&item, self.index),
            self.about_part("response.content_part.added", json!({ "part": self.part("") })),
        ]
    }

    fn delta(&self, piece: &str) -> Value {
        if self.refuses {
            self.about_part("response.refusal.delta", json!({ "delta": piece }))
        } else {
            self.about_part("response.output_text.delta", json!({ "delta": piece, "logprobs": [] }))
        }
    }

    fn closing(&self, text: &str) -> [Value; 3] {
        let done = if self.refuses {
            self.about_part("response.refusal.done", json!({ "refusal": text }))
        } else {
            self.about_part("response.output_text.done", json!({ "text": text, "logprobs": [] }))
        };
        let part = self.about_part("response.content_part.done", json!({ "part": self.part(text) }));
        [done, part, item_done(self.item, self.index)]
    }
}

fn item_added(item: &Value, index: usize) -> Value {
    json!({ "type": "response.output_item.added", "output_index": index, "item": item })
}

fn item_done(item: &Value, index: usize) -> Value {
    json!({ "type": "response.output_item.done", "output_index": index, "item": item })
}

fn reasoning_events(text: &str, item: &Value, index: usize) -> [Value; 4] {
    let about = |kind: &str, field: &str, value: Value| {
        json!({ "type": format!("response.reasoning_summary_{kind}"), "item_id": item.get("id"),
                "output_index": index, "summary_index": 0, field: value })
    };
    let mut opened = item.clone();
    if let Some(opened) = opened.as_object_mut() {
        opened.insert("summary".into(), json!([]));
    }
    let part = about("part.added", "part", json!({ "type": "summary_text", "text": "" }));
    [item_added(&opened, index), part, about("text.delta", "delta", text.into()), item_done(item, index)]
}

fn call_events(call: &ToolCall, item: &Value, index: usize) -> [Value; 5] {
    let about = |kind: &str, field: &str, text: &str| {
        json!({ "type": format!("response.function_call_arguments.{kind}"), "item_id": item.get("id"),
                "output_index": index, field: text })
    };
    let mut opened = item.clone();
    if let Some(opened) = opened.as_object_mut() {
        opened.insert("status".into(), "in_progress".into());
        opened.insert("arguments".into(), "".into());
    }
    let [first, second] = call.halves().map(|part| about("delta", "delta", part));
    let mut done = about("done", "arguments", &call.arguments);
    if let Some(done) = done.as_object_mut() {
        done.insert("name".into(), call.name.as_str().into());
    }
    [item_added(&opened, index), first, second, done, item_done(item, index)]
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": { "cached_tokens": usage.cached, "cache_write_tokens": 0 },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": usage.total(),
    })
}
