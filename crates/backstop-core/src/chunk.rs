//! What a streaming adapter yields.

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};

use crate::{
    error::ProviderError,
    response::{FinishReason, Response, Usage},
};

/// A stream of chunks; it owns its connection, so it outlives the attempt that opened it. Dropping it cancels
/// the request.
pub type ChunkStream = BoxStream<'static, Result<Chunk, ProviderError>>;

/// One event of a vendor's stream. Only [`Text`](Self::Text) with at least one character and
/// [`ToolCall`](Self::ToolCall) are content; everything else says that the vendor lives, not that it answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Chunk {
    /// A keep-alive, a role, an empty delta.
    Ping,
    /// The model or request id became known.
    Meta {
        /// The model that serves, as the vendor names it.
        model: Option<String>,
        /// The vendor's request id.
        request_id: Option<String>,
    },
    /// Reasoning shown by the vendor.
    Reasoning(String),
    /// A piece of the answer.
    Text(String),
    /// A piece of the vendor's refusal text.
    Refusal(String),
    /// A piece of a tool call.
    ToolCall {
        /// Which call of the answer, from 0.
        index: usize,
        /// The vendor's id, in the first piece.
        id: Option<String>,
        /// The tool's name, in the first piece.
        name: Option<String>,
        /// A piece of the arguments' JSON text.
        arguments: String,
    },
    /// Token counts so far; a later one replaces it.
    Usage(Usage),
    /// The model is done. A stream that ends without it was cut.
    End(FinishReason),
}

/// A whole answer as a stream, for a provider that does not stream or does not want to this time.
#[must_use]
pub fn whole(response: Response) -> ChunkStream {
    let meta = Chunk::Meta { model: response.model, request_id: response.request_id };
    let calls = response.tool_calls.into_iter().enumerate().map(|(index, call)| Chunk::ToolCall {
        index,
        id: Some(call.id),
        name: Some(call.name),
        arguments: call.arguments,
    });
    let chunks = std::iter::once(meta)
        .chain(response.refusal.map(Chunk::Refusal))
        .chain((!response.text.is_empty()).then_some(Chunk::Text(response.text)))
        .chain(calls)
        .chain(response.usage.map(Chunk::Usage))
        .chain(std::iter::once(Chunk::End(response.finish)))
        .map(Ok)
        .collect::<Vec<_>>();
    stream::iter(chunks).boxed()
}
