//! A reply's status and body, in the words of the request's wire format.

use serde_json::Value;

use super::{
    Completion, Received, Reply,
    completion::FILLER,
    part::{Chunk, Part},
    reply::Content,
    wire::{Context, Format},
};

/// Status, type and body.
pub(super) struct Payload {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) parts: Vec<Part>,
    /// Whether the length is unknown when the body begins.
    pub(super) streamed: bool,
}

const JSON: &str = "application/json";

impl Payload {
    /// What the reply says to this request; `None` for bytes that are no HTTP.
    pub(super) fn of(reply: &Reply, received: &Received) -> Option<Self> {
        let format = Format::nearest(received.path());
        let encoding = format.encoding();
        let context = context(received);
        let streams = received.is_stream() && !reply.streaming.ignored;
        let mut payload = match &reply.content {
            Content::Completion(completion) if streams => streamed(reply, completion, format, &context),
            Content::Completion(completion) => {
                let body = encoding.completion(completion, &context).to_string();
                Self::whole(200, JSON, Chunk::fill_in(body, FILLER, completion.filler))
            }
            Content::Error(error) => {
                let (status, body) = encoding.error(error, &context);
                Self::json(status, &body)
            }
            Content::InBand(error) if streams => {
                let event = encoding.stream_error(error, 0, &context);
                let content_type = encoding.stream(&Completion::empty(), &[], &context).content_type;
                Self {
                    streamed: true,
                    ..Self::whole(200, content_type, vec![Chunk::Bytes(event.into_bytes())])
                }
            }
            Content::InBand(error) => Self::json(200, &encoding.in_band(error, &context)),
            Content::Body { status, content_type, parts, streamed } => Self {
                status: *status,
                content_type: content_type.clone(),
                parts: parts.iter().map(|chunk| Part::Data(vec![chunk.clone()])).collect(),
                streamed: *streamed,
            },
            Content::Garbage(_) => return None,
        };
        if reply.blank_lines > 0 {
            let lines = Chunk::Bytes(vec![b'\n'; reply.blank_lines]);
            payload.parts.insert(0, Part::Data(vec![lines]));
        }
        payload.status = reply.status.unwrap_or(payload.status);
        Some(payload)
    }

    fn whole(status: u16, content_type: &str, chunks: Vec<Chunk>) -> Self {
        let (content_type, parts) = (Some(content_type.to_owned()), vec![Part::Data(chunks)]);
        Self { status, content_type, parts, streamed: false }
    }

    fn json(status: u16, body: &Value) -> Self {
        Self::whole(status, JSON, vec![Chunk::Bytes(body.to_string().into_bytes())])
    }

    pub(super) fn length(&self) -> u64 {
        let data = |part: &Part| match part {
            Part::Data(chunks) => chunks.iter().map(Chunk::len).sum(),
            Part::Hold(_) => 0,
        };
        self.parts.iter().map(data).sum()
    }
}

fn context(received: &Received) -> Context<'_> {
    Context {
        number: received.number(),
        model: received.model(),
        request: received.json(),
        wants_sse: received.wants_sse(),
    }
}

fn streamed(reply: &Reply, completion: &Completion, format: Format, context: &Context<'_>) -> Payload {
    let encoding = format.encoding();
    let pieces = reply.streaming.pieces(completion);
    let parts = encoding.stream(completion, &pieces, context);
    let content_type = Some(parts.content_type.to_owned());
    let error = |error: &super::ApiError, sent: usize| encoding.stream_error(error, sent, context);
    let parts = reply.streaming.arrange(parts, completion.filler, error);
    Payload { status: 200, content_type, parts, streamed: true }
}
