//! From server-sent events to chunks.

mod event;
mod reader;

use std::collections::BTreeMap;

use backstop_core::{
    Chunk, ChunkStream, FailureKind, FinishKind, Progress, ProviderError, Response, ToolCall,
};
use backstop_http::{ApiKey, Opened, Reply, SseDecoder, StreamLimits, recognise::Asked};
use futures_util::{StreamExt, stream};

use crate::request::Format;
use reader::Reader;

/// What one event of the body brings.
type Step = Result<Chunk, ProviderError>;

/// Turns a body into chunks.
pub(crate) fn chunks(
    opened: Opened,
    progress: Progress,
    format: &Format,
    key: Option<ApiKey>,
) -> ChunkStream {
    let decoder = SseDecoder::new(opened.limits());
    let reader = Reader::new(opened.request_id.clone(), progress, format, key);
    let open = Open { opened, decoder, reader, ended: false };
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
    let chunks: Vec<Step> = reader::pieces(response).map(Ok).collect();
    stream::iter(chunks).boxed()
}

/// A stream that came as an answer to a request for a whole answer.
pub(crate) fn collect(reply: &Reply, format: &Format, asked: &Asked<'_>) -> Result<Response, ProviderError> {
    let mut decoder = SseDecoder::new(StreamLimits::new(reply.body.len(), reply.body.len()));
    let mut reader = Reader::new(reply.request_id.clone(), Progress::default(), format, asked.key.cloned());
    decoder.push(&reply.body);
    decoder.finish();
    let mut response = Response::new("").with_finish(FinishKind::Unknown);
    let mut calls = BTreeMap::<usize, ToolCall>::new();
    let mut ended = false;
    while !reader.is_done() {
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
            let call = calls.entry(index).or_insert_with(|| ToolCall::new("", "", ""));
            call.id = id.unwrap_or_else(|| std::mem::take(&mut call.id));
            call.name = name.unwrap_or_else(|| std::mem::take(&mut call.name));
            call.arguments.push_str(&arguments);
        }
        _ => {}
    }
}

fn malformed(message: &'static str) -> ProviderError {
    ProviderError::new(FailureKind::MalformedResponse, message).with_status(200)
}

struct Open {
    opened: Opened,
    decoder: SseDecoder,
    reader: Reader,
    /// The body has ended.
    ended: bool,
}

impl Open {
    async fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(step) = self.reader.next() {
                return Some(step);
            }
            if self.reader.is_done() {
                return None;
            }
            match self.decoder.next_item() {
                Some(item) => self.reader.item(item),
                None if self.ended => self.reader.finish(),
                None => match self.opened.chunk().await {
                    Ok(Some(bytes)) => self.decoder.push(&bytes),
                    Ok(None) => {
                        self.decoder.finish();
                        self.ended = true;
                    }
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests;
