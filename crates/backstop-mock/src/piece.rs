//! What a scripted stream is made of.

use std::{fmt, sync::Arc, time::Duration};

use backstop_core::{
    Chunk, ChunkStream, FailureKind, FinishKind, FinishReason, ProviderError, Response, ToolCall, Usage,
};
use futures_util::{StreamExt, stream};
use tokio::{sync::Notify, time::sleep};

/// One thing that a scripted stream does: see [`Step::stream`](crate::Step::stream). A text is a piece as it stands.
#[derive(Clone)]
pub struct Piece(Kind);

#[derive(Clone)]
enum Kind {
    Chunk(Chunk),
    Wait(Duration),
    Gate(Arc<Notify>),
    Fail(Arc<dyn Fn() -> ProviderError + Send + Sync>),
    Cut,
    Hang,
}

impl Piece {
    /// A piece of the answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Kind::Chunk(Chunk::Text(text.into())))
    }

    /// A sign of life.
    #[must_use]
    pub fn ping() -> Self {
        Self(Kind::Chunk(Chunk::Ping))
    }

    /// A piece of reasoning.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self(Kind::Chunk(Chunk::Reasoning(text.into())))
    }

    /// A piece of the vendor's refusal.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self(Kind::Chunk(Chunk::Refusal(text.into())))
    }

    /// The model and the request id become known.
    pub fn meta(model: impl Into<String>, request_id: impl Into<String>) -> Self {
        Self(Kind::Chunk(Chunk::Meta { model: Some(model.into()), request_id: Some(request_id.into()) }))
    }

    /// The first piece of a tool call. The arguments may be a part of them.
    pub fn tool_call(index: usize, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let (id, name) = (Some(format!("call-{index}")), Some(name.into()));
        Self(Kind::Chunk(Chunk::ToolCall { index, id, name, arguments: arguments.into() }))
    }

    /// More of the arguments of a tool call.
    pub fn arguments(index: usize, arguments: impl Into<String>) -> Self {
        let arguments = arguments.into();
        Self(Kind::Chunk(Chunk::ToolCall { index, id: None, name: None, arguments }))
    }

    /// Token counts so far.
    #[must_use]
    pub fn usage(usage: Usage) -> Self {
        Self(Kind::Chunk(Chunk::Usage(usage)))
    }

    /// Waits.
    #[must_use]
    pub fn wait(wait: Duration) -> Self {
        Self(Kind::Wait(wait))
    }

    /// Waits until the test calls `notify_one` or `notify_waiters`.
    #[must_use]
    pub fn gate(gate: Arc<Notify>) -> Self {
        Self(Kind::Gate(gate))
    }

    /// Fails with a kind, inside the stream.
    #[must_use]
    pub fn fail(kind: FailureKind) -> Self {
        Self::error(move || ProviderError::new(kind, "scripted"))
    }

    /// Fails with any error, inside the stream.
    pub fn error(error: impl Fn() -> ProviderError + Send + Sync + 'static) -> Self {
        Self(Kind::Fail(Arc::new(error)))
    }

    /// The model is done.
    #[must_use]
    pub fn end() -> Self {
        Self::end_with(FinishKind::Stop)
    }

    /// The model is done, for this reason.
    pub fn end_with(finish: impl Into<FinishReason>) -> Self {
        Self(Kind::Chunk(Chunk::End(finish.into())))
    }

    /// The stream ends here without an end. The same as no further piece.
    #[must_use]
    pub fn cut() -> Self {
        Self(Kind::Cut)
    }

    /// Nothing more comes, and the stream does not end.
    #[must_use]
    pub fn hang() -> Self {
        Self(Kind::Hang)
    }

    async fn play(&self) -> Option<Result<Chunk, ProviderError>> {
        match &self.0 {
            Kind::Chunk(chunk) => return Some(Ok(chunk.clone())),
            Kind::Fail(error) => return Some(Err(error())),
            Kind::Wait(wait) => sleep(*wait).await,
            Kind::Gate(gate) => gate.notified().await,
            Kind::Hang => std::future::pending().await,
            Kind::Cut => {}
        }
        None
    }

    fn ends(&self) -> bool {
        matches!(self.0, Kind::Chunk(Chunk::End(_)))
    }
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Chunk(chunk) => write!(f, "{chunk:?}"),
            Kind::Wait(wait) => write!(f, "Wait({wait:?})"),
            Kind::Gate(_) => f.write_str("Gate"),
            Kind::Fail(error) => write!(f, "Fail({})", error()),
            Kind::Cut => f.write_str("Cut"),
            Kind::Hang => f.write_str("Hang"),
        }
    }
}

/// Plays pieces one by one, as they are asked for.
pub(crate) fn chunks(pieces: Arc<[Piece]>, usage: Option<Usage>) -> ChunkStream {
    stream::unfold((pieces, usage, 0), |(pieces, mut usage, mut next)| async move {
        loop {
            let piece = pieces.get(next)?;
            if let Some(usage) = usage.take_if(|_| piece.ends()) {
                return Some((Ok(Chunk::Usage(usage)), (pieces, None, next)));
            }
            if matches!(piece.0, Kind::Cut) {
                return None;
            }
            next += 1;
            if let Some(chunk) = piece.play().await {
                return Some((chunk, (pieces, usage, next)));
            }
        }
    })
    .boxed()
}

/// The whole answer.
pub(crate) async fn together(pieces: Arc<[Piece]>) -> Result<Response, ProviderError> {
    let mut chunks = chunks(pieces, None);
    let mut response = Response::new("");
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            Chunk::Text(text) => response.text.push_str(&text),
            Chunk::Refusal(text) => response.refusal.get_or_insert_default().push_str(&text),
            Chunk::Usage(usage) => response.usage = Some(usage),
            Chunk::Note(note) => response.notes.push(note),
            Chunk::Meta { model, request_id } => (response.model, response.request_id) = (model, request_id),
            Chunk::ToolCall { index, id, name, arguments } => {
                while response.tool_calls.len() <= index {
                    response.tool_calls.push(ToolCall::new("", "", ""));
                }
                if let Some(call) = response.tool_calls.get_mut(index) {
                    call.id = id.unwrap_or_else(|| std::mem::take(&mut call.id));
                    call.name = name.unwrap_or_else(|| std::mem::take(&mut call.name));
                    call.arguments.push_str(&arguments);
                }
            }
            Chunk::End(finish) => {
                response.finish = finish;
                return Ok(response);
            }
            _ => {}
        }
    }
    Err(ProviderError::new(FailureKind::MalformedResponse, "the scripted stream has no end"))
}
