//! From server-sent events to chunks.

use std::{borrow::Cow, collections::VecDeque};

use backstop_core::{Chunk, FinishReason, Progress, ProviderError, Response, ToolCall, Usage};
use backstop_http::{
    ApiKey, DecodeError, Reply, SseDecoder, SseItem, StreamLimits,
    recognise::{self, Asked},
    streaming::{StreamReader, malformed},
};

use crate::{
    error,
    response::{self, BROKEN, Candidate, Generated, Piece, WireCall, WirePart, WireUsage},
};

/// A stream that came as an answer to a request for a whole answer.
pub(crate) fn collect(reply: &Reply, asked: &Asked<'_>) -> Result<Response, ProviderError> {
    let mut decoder = SseDecoder::new(StreamLimits::new(reply.body.len(), reply.body.len()));
    decoder.push(&reply.body);
    decoder.finish();
    let mut chunks = Vec::new();
    while let Some(item) = decoder.next_item() {
        chunks.push(match item.map_err(undecodable)? {
            SseItem::Event(event) => event.data.to_owned(),
            SseItem::Stray(text) => text.to_owned(),
            _ => continue,
        });
    }
    let mut all = Generated::default();
    for chunk in &chunks {
        all = all.and(serde_json::from_str(chunk).map_err(not_a_chunk)?);
    }
    let mut response = all.complete(reply)?.into_response(asked)?;
    response.request_id = reply.request_id.clone().or(response.request_id);
    Ok(response)
}

/// Reads events into chunks; knows nothing of where the bytes come from.
pub(crate) struct Reader {
    waiting: VecDeque<Result<Chunk, ProviderError>>,
    progress: Progress,
    request_id: Option<String>,
    met: bool,
    schema: bool,
    key: Option<ApiKey>,
    /// Tool calls so far.
    calls: usize,
    usage: WireUsage,
    /// Why the model stopped, once it has said so. More may follow, so the end is the end of the body.
    finish: Option<FinishReason>,
    /// Nothing more is to come.
    done: bool,
}

impl StreamReader for Reader {
    type Decoder = SseDecoder;

    fn item(&mut self, item: Result<SseItem<'_>, DecodeError>) {
        match item {
            Ok(SseItem::Event(event)) => match serde_json::from_str(event.data) {
                Ok(generated) => self.event(generated),
                Err(error) => self.fail(not_a_chunk(error)),
            },
            Ok(SseItem::Stray(text)) => self.stray(text),
            Ok(_) => self.waiting.push_back(Ok(Chunk::Ping)),
            Err(error) => self.fail(undecodable(error)),
        }
    }

    /// Without a reason why the model stopped the body was cut, and there is no end.
    fn finish(&mut self) {
        self.waiting.extend(self.finish.take().map(|finish| Ok(Chunk::End(finish))));
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
            calls: 0,
            usage: WireUsage::default(),
            finish: None,
            done: false,
        }
    }

    fn fail(&mut self, error: ProviderError) {
        self.waiting.push_back(Err(error));
        self.done = true;
    }

    /// JSON outside of any event: an error, or a whole answer without a stream around it.
    fn stray(&mut self, text: &str) {
        let reply = Reply::new(200, Default::default(), text.to_owned());
        match response::read(&reply, false, &Asked::new(self.schema, &[], self.key.as_ref())) {
            Ok(response) => {
                self.waiting.extend(Chunk::all_of(response).map(Ok));
                self.done = true;
            }
            Err(error) => self.fail(error),
        }
    }

    fn event(&mut self, mut event: Generated<'_>) {
        if let Some(error) = event.error.take().filter(recognise::is_error) {
            let error = error::in_band(error, &Asked::new(self.schema, &[], self.key.as_ref()));
            return self.fail(error);
        }
        let before = self.waiting.len();
        self.meet(&mut event);
        match (event.take_candidate(), event.block_reason()) {
            (Some(candidate), _) => {
                if let Err(error) = self.candidate(candidate) {
                    return self.fail(error);
                }
            }
            (None, Some(reason)) => self.finish = Some(response::blocked(reason)),
            (None, None) => {}
        }
        if let Some(usage) = event.usage_metadata {
            self.usage = self.usage.updated(usage);
            let usage = Usage::from(self.usage);
            self.progress.usage(usage);
            self.waiting.push_back(Ok(Chunk::Usage(usage)));
        }
        if self.waiting.len() == before {
            self.waiting.push_back(Ok(Chunk::Ping));
        }
    }

    fn meet(&mut self, event: &mut Generated<'_>) {
        if std::mem::replace(&mut self.met, true) {
            return;
        }
        let request_id = self.request_id.take().or_else(|| event.response_id.take().map(Cow::into_owned));
        if let Some(id) = &request_id {
            self.progress.request_id(id);
        }
        let model = event.model_version.take().map(Cow::into_owned);
        self.waiting.push_back(Ok(Chunk::Meta { model, request_id }));
    }

    fn call(&mut self, call: WireCall<'_>) {
        let index = self.calls;
        self.calls += 1;
        let ToolCall { id, name, arguments, signature, .. } = call.into_call(index);
        self.waiting.push_back(Ok(Chunk::ToolCall { index, id: Some(id), name: Some(name), arguments }));
        let signature = signature.map(|signature| Chunk::ToolSignature { index, signature });
        self.waiting.extend(signature.map(Ok));
    }

    fn candidate(&mut self, mut candidate: Candidate<'_>) -> Result<(), ProviderError> {
        for piece in candidate.parts().into_iter().filter_map(WirePart::into_piece) {
            self.waiting.push_back(Ok(match piece {
                Piece::Text(text) => Chunk::Text(text),
                Piece::Thought(text) => Chunk::Reasoning(text),
                Piece::Call(call) => {
                    self.call(call);
                    continue;
                }
            }));
        }
        if candidate.finish_reason.is_some() {
            let finish = response::finish(candidate.finish_reason, self.calls > 0)?;
            if let Some(word) = finish.raw.as_deref().filter(|word| BROKEN.contains(word)) {
                // What has gone out cannot be taken back, so this must not look like an end.
                return Err(malformed("Gemini calls its own answer broken").with_code(word));
            }
            self.finish = Some(finish);
        }
        Ok(())
    }
}

fn undecodable(error: DecodeError) -> ProviderError {
    malformed("the stream cannot be decoded").with_source(error)
}

/// The parser's own error is left out: it may quote the answer.
fn not_a_chunk(_: serde_json::Error) -> ProviderError {
    malformed("an event of the stream is not a chunk of `generateContent`")
}

#[cfg(test)]
mod tests;
