//! From server-sent events to chunks.

use std::collections::{BTreeMap, VecDeque};

use backstop_core::{
    Chunk, ChunkStream, FailureKind, FinishKind, FinishReason, Progress, ProviderError, Response, ToolCall,
};
use backstop_http::{
    ApiKey, DecodeError, Opened, Reply, SseDecoder, SseItem, StreamLimits, recognise::Asked,
};
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::Value;

use crate::response::{self, Content, WireUsage, lenient};

/// What one event of the body brings.
type Step = Result<Chunk, ProviderError>;

/// Turns a body into chunks.
pub(crate) fn chunks(opened: Opened, progress: Progress, schema: bool, key: Option<ApiKey>) -> ChunkStream {
    let decoder = SseDecoder::new(opened.limits());
    let reader = Reader::new(opened.request_id.clone(), progress, schema, key);
    let open = Open { opened, decoder, reader };
    stream::unfold(Some(open), |open| async move {
        let mut open = open?;
        match open.next().await {
            // An error ends the stream.
            Some(Err(error)) => Some((Err(error), None)),
            Some(chunk) => Some((chunk, Some(open))),
            None => None,
        }
    })
    .boxed()
}

/// A whole answer as chunks, for a server that answers a stream request without a stream.
pub(crate) fn whole(response: Response) -> ChunkStream {
    let chunks: Vec<Step> = pieces(response).map(Ok).collect();
    stream::iter(chunks).boxed()
}

/// A stream that came as an answer to a request for a whole answer.
pub(crate) fn collect(reply: &Reply, asked: &Asked<'_>) -> Result<Response, ProviderError> {
    let mut decoder = SseDecoder::new(StreamLimits::new(reply.body.len(), reply.body.len()));
    let mut reader =
        Reader::new(reply.request_id.clone(), Progress::default(), asked.schema, asked.key.cloned());
    decoder.push(&reply.body);
    decoder.finish();
    let mut response = Response::new("").with_finish(FinishKind::Unknown);
    let mut calls = BTreeMap::<usize, ToolCall>::new();
    let mut ended = false;
    while !reader.done {
        match decoder.next_item() {
            Some(item) => reader.item(item),
            None => reader.finish(),
        }
        while let Some(chunk) = reader.next() {
            ended |= matches!(chunk, Ok(Chunk::End(_)));
            add(&mut response, &mut calls, chunk?);
        }
    }
    if !ended {
        return Err(malformed("the stream ended before the model was done"));
    }
    response.tool_calls = calls.into_values().collect();
    Ok(response)
}

fn add(response: &mut Response, calls: &mut BTreeMap<usize, ToolCall>, chunk: Chunk) {
    match chunk {
        Chunk::Text(text) => response.text.push_str(&text),
        Chunk::Refusal(text) => response.refusal.get_or_insert_default().push_str(&text),
        Chunk::Usage(usage) => response.usage = Some(usage),
        Chunk::End(finish) => response.finish = finish,
        Chunk::Meta { model, request_id } => (response.model, response.request_id) = (model, request_id),
        Chunk::ToolCall { index, id, name, arguments } => {
            let call = calls.entry(index).or_insert_with(|| ToolCall::new(format!("call_{index}"), "", ""));
            call.id = id.unwrap_or_else(|| std::mem::take(&mut call.id));
            call.name = name.unwrap_or_else(|| std::mem::take(&mut call.name));
            call.arguments.push_str(&arguments);
        }
        _ => {}
    }
}

struct Open {
    opened: Opened,
    decoder: SseDecoder,
    reader: Reader,
}

impl Open {
    async fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(step) = self.reader.next() {
                return Some(step);
            }
            if self.reader.done {
                return None;
            }
            match self.decoder.next_item() {
                Some(item) => self.reader.item(item),
                None => match self.opened.chunk().await {
                    Ok(Some(bytes)) => self.decoder.push(&bytes),
                    Ok(None) if self.reader.ended => self.reader.finish(),
                    Ok(None) => {
                        self.decoder.finish();
                        self.reader.ended = true;
                    }
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }
}

/// Reads events into chunks; knows nothing of where the bytes come from.
pub(crate) struct Reader {
    waiting: VecDeque<Step>,
    progress: Progress,
    request_id: Option<String>,
    met: bool,
    schema: bool,
    key: Option<ApiKey>,
    /// Why the model stopped, once it has said so.
    finish: Option<FinishReason>,
    /// The body has ended.
    ended: bool,
    /// Nothing more is to come.
    done: bool,
}

impl Reader {
    pub(crate) fn new(
        request_id: Option<String>,
        progress: Progress,
        schema: bool,
        key: Option<ApiKey>,
    ) -> Self {
        Self {
            waiting: VecDeque::new(),
            progress,
            request_id,
            met: false,
            schema,
            key,
            finish: None,
            ended: false,
            done: false,
        }
    }

    fn next(&mut self) -> Option<Step> {
        self.waiting.pop_front()
    }

    fn item(&mut self, item: Result<SseItem, DecodeError>) {
        match item {
            Ok(SseItem::Event(event)) if event.data.trim() == "[DONE]" => self.complete(),
            Ok(SseItem::Event(event)) => self.data(&event.data),
            Ok(SseItem::Stray(text)) => self.stray(&text),
            Ok(_) => self.waiting.push_back(Ok(Chunk::Ping)),
            Err(error) => self.fail(malformed("the stream cannot be decoded").with_source(error)),
        }
    }

    /// The server says that the stream is over, which some do without a reason.
    fn complete(&mut self) {
        let finish = self.finish.take().unwrap_or_default();
        self.waiting.push_back(Ok(Chunk::End(finish)));
        self.done = true;
    }

    /// The body is over. Without a reason why the model stopped it was cut, and there is no end.
    fn finish(&mut self) {
        if self.finish.is_some() {
            self.complete();
        }
        self.done = true;
    }

    fn fail(&mut self, error: ProviderError) {
        self.waiting.push_back(Err(error));
        self.done = true;
    }

    fn data(&mut self, data: &str) {
        match serde_json::from_str::<Event>(data) {
            Ok(event) => self.event(event),
            Err(error) => self.fail(
                malformed("an event of the stream is not a chunk of a chat completion").with_source(error),
            ),
        }
    }

    /// JSON outside of any event: an error, or a whole answer without a stream around it.
    fn stray(&mut self, text: &str) {
        let reply = Reply::new(200, Default::default(), text.to_owned());
        match response::read(&reply, false, &Asked::new(self.schema, &[], self.key.as_ref())) {
            Ok(response) => {
                self.waiting.extend(pieces(response).map(Ok));
                self.done = true;
            }
            Err(error) => self.fail(error),
        }
    }

    fn event(&mut self, event: Event) {
        let asked = Asked::new(self.schema, &[], self.key.as_ref());
        if let Some(error) = event.error.filter(response::is_error) {
            let error = response::in_band(error, &asked);
            return self.fail(error);
        }
        if !self.met {
            self.met = true;
            let request_id = self.request_id.take().or(event.id);
            if let Some(id) = &request_id {
                self.progress.request_id(id);
            }
            self.waiting.push_back(Ok(Chunk::Meta { model: event.model, request_id }));
        }
        let before = self.waiting.len();
        let choice =
            event.choices.unwrap_or_default().into_iter().find(|choice| choice.index.unwrap_or(0) == 0);
        if let Some(choice) = choice {
            if let Err(error) = self.choice(choice) {
                return self.fail(error);
            }
        }
        if let Some(usage) = event.usage.or(event.x_groq.and_then(|groq| groq.usage)) {
            let usage = usage.into();
            self.progress.usage(usage);
            self.waiting.push_back(Ok(Chunk::Usage(usage)));
        }
        if self.waiting.len() == before {
            self.waiting.push_back(Ok(Chunk::Ping));
        }
    }

    fn choice(&mut self, choice: Choice) -> Result<(), ProviderError> {
        let delta = choice.delta.unwrap_or_default();
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        if let Some(text) = some(delta.reasoning_content.or(delta.reasoning)) {
            self.waiting.push_back(Ok(Chunk::Reasoning(text)));
        }
        if let Some(text) = some(delta.content.map(Content::into_text)) {
            self.waiting.push_back(Ok(Chunk::Text(text)));
        }
        if let Some(text) = some(delta.refusal) {
            self.waiting.push_back(Ok(Chunk::Refusal(text)));
        }
        for (place, call) in delta.tool_calls.unwrap_or_default().into_iter().enumerate() {
            let function = call.function.unwrap_or_default();
            self.waiting.push_back(Ok(Chunk::ToolCall {
                index: call.index.unwrap_or(place),
                id: some(call.id),
                name: some(function.name),
                arguments: function.arguments.unwrap_or_default(),
            }));
        }
        if choice.finish_reason.is_some() || choice.error.is_some() {
            let asked = Asked::new(self.schema, &[], self.key.as_ref());
            self.finish = Some(response::finish(choice.finish_reason.as_deref(), choice.error, &asked)?);
        }
        Ok(())
    }
}

fn malformed(message: &'static str) -> ProviderError {
    ProviderError::new(FailureKind::MalformedResponse, message).with_status(200)
}

fn pieces(response: Response) -> impl Iterator<Item = Chunk> {
    let Response { text, tool_calls, finish, usage, model, request_id, refusal, .. } = response;
    let calls = tool_calls.into_iter().enumerate().map(|(index, call)| Chunk::ToolCall {
        index,
        id: Some(call.id),
        name: Some(call.name),
        arguments: call.arguments,
    });
    std::iter::once(Chunk::Meta { model, request_id })
        .chain((!text.is_empty()).then_some(Chunk::Text(text)))
        .chain(refusal.map(Chunk::Refusal))
        .chain(calls)
        .chain(usage.map(Chunk::Usage))
        .chain(std::iter::once(Chunk::End(finish)))
}

#[derive(Deserialize)]
struct Event {
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<WireUsage>,
    #[serde(default, deserialize_with = "lenient")]
    x_groq: Option<Groq>,
    error: Option<Value>,
}

/// Groq puts the token counts here.
#[derive(Deserialize)]
struct Groq {
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta {
    content: Option<Content>,
    refusal: Option<String>,
    reasoning: Option<String>,
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[cfg(test)]
mod tests;
