//! From lines of JSON to chunks.

use std::{borrow::Cow, collections::VecDeque};

use backstop_core::{Chunk, Progress, ProviderError};
use backstop_http::{
    ApiKey, DecodeError, NdjsonDecoder,
    recognise::{self, Asked},
    streaming::{StreamReader, malformed},
};

use crate::{
    error,
    response::{self, Chat, WireMessage},
};

/// What of the request matters for reading its answer.
pub(crate) struct Question {
    pub(crate) model: String,
    /// A schema went with it.
    pub(crate) schema: bool,
    pub(crate) key: Option<ApiKey>,
}

/// Reads lines into chunks; knows nothing of where the bytes come from. A body that ends before the line that says
/// `done` was cut, and has no end.
pub(crate) struct Reader {
    waiting: VecDeque<Result<Chunk, ProviderError>>,
    progress: Progress,
    request_id: Option<String>,
    question: Question,
    met: bool,
    /// Tool calls so far.
    calls: usize,
    /// Nothing more is to come.
    done: bool,
}

impl StreamReader for Reader {
    type Decoder = NdjsonDecoder;

    fn item(&mut self, line: Result<&str, DecodeError>) {
        let chat = match line {
            // The parser's own error is left out: it may quote the answer.
            Ok(line) => serde_json::from_str(line)
                .map_err(|_| malformed("a line of the stream is not the JSON of `/api/chat`")),
            Err(error) => Err(malformed("the stream cannot be decoded").with_source(error)),
        };
        match chat {
            Ok(chat) => self.chat(chat),
            Err(error) => self.fail(error),
        }
    }

    fn finish(&mut self) {
        self.done = true;
    }

    fn next(&mut self) -> Option<Result<Chunk, ProviderError>> {
        self.waiting.pop_front()
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl Reader {
    pub(crate) fn new(request_id: Option<String>, progress: Progress, question: Question) -> Self {
        Self { waiting: VecDeque::new(), progress, request_id, question, met: false, calls: 0, done: false }
    }

    fn fail(&mut self, error: ProviderError) {
        self.waiting.push_back(Err(error));
        self.done = true;
    }

    fn chat(&mut self, mut chat: Chat<'_>) {
        if let Some(error) = chat.error.take().filter(recognise::is_error) {
            let asked = Asked::new(self.question.schema, &[], self.question.key.as_ref());
            let error = error::in_band(error, &asked, &self.question.model);
            return self.fail(error);
        }
        let before = self.waiting.len();
        if !std::mem::replace(&mut self.met, true) {
            let model = chat.model.take().map(Cow::into_owned);
            let request_id = self.request_id.take();
            self.waiting.push_back(Ok(Chunk::Meta { model, request_id }));
        }
        if let Some(message) = chat.message.take() {
            self.message(message);
        }
        if let Some(usage) = chat.usage() {
            self.progress.usage(usage);
            self.waiting.push_back(Ok(Chunk::Usage(usage)));
        }
        if chat.done == Some(true) {
            self.waiting.push_back(Ok(Chunk::End(response::finish(chat.done_reason, self.calls > 0))));
            self.done = true;
        } else if self.waiting.len() == before {
            self.waiting.push_back(Ok(Chunk::Ping));
        }
    }

    fn message(&mut self, message: WireMessage<'_>) {
        let thinking = message.thinking.filter(|text| !text.is_empty());
        self.waiting.extend(thinking.map(|text| Ok(Chunk::Reasoning(text.into_owned()))));
        let content = message.content.filter(|text| !text.is_empty());
        self.waiting.extend(content.map(|text| Ok(Chunk::Text(text))));
        for call in message.tool_calls.unwrap_or_default() {
            let index = self.calls;
            self.calls += 1;
            let call = call.into_call(index);
            let (id, name) = (Some(call.id), Some(call.name));
            self.waiting.push_back(Ok(Chunk::ToolCall { index, id, name, arguments: call.arguments }));
        }
    }
}

#[cfg(test)]
mod tests;
