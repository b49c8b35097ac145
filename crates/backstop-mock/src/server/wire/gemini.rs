//! Gemini, `POST …/models/{model}:generateContent` and `:streamGenerateContent`.

use serde_json::{Map, Value, json};

use super::{
    super::{
        ApiError, Completion, ReceivedMessage,
        api_error::{Problem, Words},
        completion::{Finish, Usage},
    },
    encoding::{Context, Encoding, StreamParts},
    sse,
};

pub(super) struct Gemini;

impl Encoding for Gemini {
    fn completion(&self, completion: &Completion, context: &Context<'_>) -> Value {
        let mut parts: Vec<Value> = thoughts(completion).collect();
        parts.extend(completion.text.iter().map(|text| json!({ "text": text })));
        parts.extend(calls(completion));
        let finish = Some(finish_word(completion.finish()));
        response(completion, context, candidate(parts, finish), Some(completion.usage.output))
    }

    fn error(&self, error: &ApiError, _: &Context<'_>) -> (u16, Value) {
        let settled = error.settle(words(error.problem));
        let mut object = Map::new();
        object.insert("code".into(), settled.status.into());
        object.insert("message".into(), settled.message.into());
        object.insert("status".into(), settled.kind.into());
        if let Some(reason) = &settled.code {
            let info = json!({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason,
                               "domain": "googleapis.com" });
            object.insert("details".into(), json!([info]));
        }
        settled.add_fields(&mut object);
        (settled.status, json!({ "error": object }))
    }

    /// With `alt=sse` server-sent events, without it the elements of one JSON array.
    fn stream(&self, completion: &Completion, pieces: &[&str], context: &Context<'_>) -> StreamParts {
        let speaks = completion.refusal.is_none() && !completion.no_choices;
        let part = |part: Value| response(completion, context, candidate(vec![part], None), None);
        let mut framing = Framing { sse: context.wants_sse, first: true };
        let lead =
            thoughts(completion).filter(|_| speaks).map(|thought| framing.frame(&part(thought))).collect();
        let pieces = pieces.iter().filter(|_| speaks);
        let pieces = pieces.map(|piece| framing.frame(&part(json!({ "text": piece })))).collect();
        let finish = Some(finish_word(completion.finish()));
        let last = candidate(calls(completion).collect(), finish);
        let last = response(completion, context, last, Some(completion.usage.output));
        let tail = vec![framing.frame(&last)];
        let (content_type, end) = if context.wants_sse {
            (sse::CONTENT_TYPE, None)
        } else {
            ("application/json; charset=UTF-8", Some("]".to_owned()))
        };
        // Google's own client fails on a comment, so the service sends none.
        StreamParts { content_type, lead, pieces, tail, end, keep_alive: "" }
    }

    fn stream_error(&self, error: &ApiError, sent: usize, context: &Context<'_>) -> String {
        let mut framing = Framing { sse: context.wants_sse, first: sent == 0 };
        let mut event = framing.frame(&self.error(error, context).1);
        if !context.wants_sse {
            event.push(']');
        }
        event
    }

    fn messages(&self, request: &Value) -> Vec<ReceivedMessage> {
        let system = request.get("systemInstruction").or_else(|| request.get("system_instruction"));
        let system = system.map(|system| ReceivedMessage::new("system", parts_text(system)));
        system.into_iter().chain(ReceivedMessage::list(request.get("contents"), parts_text)).collect()
    }

    fn asks_for_stream(&self, _: &Value, path: &str) -> bool {
        path.ends_with(":streamGenerateContent")
    }

    fn request_id_header(&self) -> Option<&'static str> {
        None
    }
}

/// Source: the troubleshooting page of the Gemini API and Google's canonical status codes.
fn words(problem: Problem) -> Words {
    const INVALID: &str = "INVALID_ARGUMENT";
    const EXHAUSTED: &str = "RESOURCE_EXHAUSTED";
    let new = Words::new;
    match problem {
        Problem::BadKey => {
            new(400, INVALID, Some("API_KEY_INVALID"), "API key not valid. Please pass a valid API key.")
        }
        Problem::Forbidden => new(403, "PERMISSION_DENIED", None, "The caller does not have permission."),
        Problem::QuotaExhausted => new(402, EXHAUSTED, None, "The prepayment credits are depleted."),
        Problem::RateLimited => new(429, EXHAUSTED, None, "Resource has been exhausted (e.g. check quota)."),
        Problem::Overloaded => new(503, "UNAVAILABLE", None, "The model is overloaded. Try again later."),
        Problem::Server => new(500, "INTERNAL", None, "An internal error has occurred."),
        Problem::Timeout => new(504, "DEADLINE_EXCEEDED", None, "The deadline expired."),
        Problem::ModelNotFound => new(404, "NOT_FOUND", None, "The model is not found for this API version."),
        Problem::NoSuchPath => new(404, "NOT_FOUND", None, "Not found."),
        Problem::InvalidRequest => new(400, INVALID, None, "Request contains an invalid argument."),
        Problem::ContextTooLong => new(
            400,
            INVALID,
            None,
            "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
        ),
        Problem::SchemaRejected => new(400, INVALID, None, "The response schema is not supported."),
        Problem::PromptFiltered => new(400, INVALID, None, "The prompt was blocked."),
        Problem::TooLarge => new(413, INVALID, None, "Request payload size exceeds the limit."),
        Problem::Status(status) => new(status, kind_of(status), None, "The mock server was told to fail."),
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        402 | 429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

fn thoughts(completion: &Completion) -> impl Iterator<Item = Value> {
    completion.reasoning.iter().map(|text| json!({ "text": text, "thought": true }))
}

fn calls(completion: &Completion) -> impl Iterator<Item = Value> {
    let calls = completion.tool_calls.iter();
    calls.map(|call| json!({ "functionCall": { "name": call.name, "args": call.arguments_value() } }))
}

/// A candidate without parts has no content at all.
fn candidate(parts: Vec<Value>, finish: Option<&str>) -> Value {
    let mut candidate = Map::new();
    candidate.insert("index".into(), 0.into());
    if !parts.is_empty() {
        candidate.insert("content".into(), json!({ "role": "model", "parts": parts }));
    }
    if let Some(finish) = finish {
        candidate.insert("finishReason".into(), finish.into());
    }
    Value::Object(candidate)
}

/// A whole response or a chunk: `output` is known at the end only.
fn response(completion: &Completion, context: &Context<'_>, candidate: Value, output: Option<u64>) -> Value {
    let mut response = Map::new();
    if completion.refusal.is_some() {
        response.insert("promptFeedback".into(), json!({ "blockReason": "PROHIBITED_CONTENT" }));
    } else if !completion.no_choices {
        response.insert("candidates".into(), json!([candidate]));
    }
    if completion.usage.sent {
        response.insert("usageMetadata".into(), usage(completion.usage, output));
    }
    response.insert("modelVersion".into(), context.served(completion).into());
    response.insert("responseId".into(), format!("mock-{}", context.number).into());
    Value::Object(response)
}

fn finish_word(finish: &Finish) -> &str {
    match finish {
        // A function call ends with STOP too.
        Finish::Stop | Finish::ToolCalls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filtered => "SAFETY",
        Finish::Word(word) => word,
    }
}

/// Gemini counts thoughts apart from the candidates.
fn usage(usage: Usage, output: Option<u64>) -> Value {
    let mut counts = Map::new();
    counts.insert("promptTokenCount".into(), usage.input.into());
    if usage.cached > 0 {
        counts.insert("cachedContentTokenCount".into(), usage.cached.into());
    }
    if let Some(output) = output {
        counts.insert("candidatesTokenCount".into(), output.saturating_sub(usage.reasoning).into());
        if usage.reasoning > 0 {
            counts.insert("thoughtsTokenCount".into(), usage.reasoning.into());
        }
    }
    counts.insert("totalTokenCount".into(), usage.input.saturating_add(output.unwrap_or(0)).into());
    Value::Object(counts)
}

fn parts_text(content: &Value) -> String {
    let parts = content.get("parts").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

/// Puts chunks into events or into the array.
struct Framing {
    sse: bool,
    first: bool,
}

impl Framing {
    fn frame(&mut self, chunk: &Value) -> String {
        let first = std::mem::replace(&mut self.first, false);
        match (self.sse, first) {
            (true, _) => sse::data(chunk),
            (false, true) => format!("[{chunk}"),
            (false, false) => format!(",\r\n{chunk}"),
        }
    }
}
