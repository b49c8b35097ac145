//! What a streaming adapter yields.

use std::{borrow::Cow, fmt};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};

use crate::{
    error::ProviderError,
    human::Bytes,
    response::{FinishReason, Response, Usage},
};

/// A stream of chunks; it owns its connection, so it outlives the attempt that opened it. Dropping it cancels
/// the request.
pub type ChunkStream = BoxStream<'static, Result<Chunk, ProviderError>>;

/// One event of a vendor's stream. `Debug` shows sizes, never the text. Only [`Text`](Self::Text) that is not blank and
/// [`ToolCall`](Self::ToolCall) are content; everything else says that the vendor lives, not that it answers.
#[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// The signature of a tool call, if the vendor gives one; see [`ToolCall::signature`](crate::ToolCall::signature).
    ToolSignature {
        /// Which call of the answer, from 0. A piece of it has come before.
        index: usize,
        /// The whole signature.
        signature: String,
    },
    /// Token counts so far; a later one replaces it.
    Usage(Usage),
    /// A line for [`Response::notes`](crate::Response::notes): what of the request could not be honoured, say.
    Note(Cow<'static, str>),
    /// The model is done. A stream that ends without it was cut.
    End(FinishReason),
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ping => f.write_str("Ping"),
            Self::Meta { model, request_id } => {
                f.debug_struct("Meta").field("model", model).field("request_id", request_id).finish()
            }
            Self::Reasoning(text) => f.debug_tuple("Reasoning").field(&Bytes(text)).finish(),
            Self::Text(text) => f.debug_tuple("Text").field(&Bytes(text)).finish(),
            Self::Refusal(text) => f.debug_tuple("Refusal").field(&Bytes(text)).finish(),
            Self::ToolCall { index, id, name, arguments } => f
                .debug_struct("ToolCall")
                .field("index", index)
                .field("id", id)
                .field("name", name)
                .field("arguments", &Bytes(arguments))
                .finish(),
            Self::ToolSignature { index, signature } => f
                .debug_struct("ToolSignature")
                .field("index", index)
                .field("signature", &Bytes(signature))
                .finish(),
            Self::Usage(usage) => f.debug_tuple("Usage").field(usage).finish(),
            Self::Note(note) => f.debug_tuple("Note").field(note).finish(),
            Self::End(finish) => f.debug_tuple("End").field(finish).finish(),
        }
    }
}

/// A whole answer as a stream, for a provider that does not stream or does not want to this time.
///
/// ```
/// use backstop_core::{Chunk, Response, chunk};
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let chunks: Vec<_> = chunk::whole(Response::new("blue")).collect().await;
/// assert!(chunks.iter().any(|chunk| matches!(chunk, Ok(Chunk::Text(text)) if text == "blue")));
/// # }
/// ```
#[must_use]
pub fn whole(response: Response) -> ChunkStream {
    let chunks: Vec<_> = Chunk::all_of(response).map(Ok).collect();
    stream::iter(chunks).boxed()
}

/// A stream with what is to be noted about it, which comes first.
#[must_use]
pub fn noted<N>(chunks: ChunkStream, notes: impl IntoIterator<Item = N>) -> ChunkStream
where
    N: Into<Cow<'static, str>>,
{
    let notes: Vec<_> = notes.into_iter().map(|note| Ok(Chunk::Note(note.into()))).collect();
    if notes.is_empty() { chunks } else { stream::iter(notes).chain(chunks).boxed() }
}

impl Chunk {
    /// A whole answer as the chunks of a stream, in the order in which a stream would bring them.
    ///
    /// ```
    /// use backstop_core::{Chunk, FinishKind, Response};
    ///
    /// let chunks: Vec<Chunk> = Chunk::all_of(Response::new("blue")).collect();
    /// assert_eq!(chunks[1], Chunk::Text("blue".into()));
    /// assert_eq!(chunks[2], Chunk::End(FinishKind::Stop.into()));
    /// ```
    pub fn all_of(response: Response) -> impl Iterator<Item = Self> {
        let Response { text, tool_calls, finish, usage, model, request_id, refusal, notes, .. } = response;
        let calls = tool_calls.into_iter().enumerate().flat_map(|(index, call)| {
            let signature = call.signature.map(|signature| Self::ToolSignature { index, signature });
            let (id, name) = (Some(call.id), Some(call.name));
            std::iter::once(Self::ToolCall { index, id, name, arguments: call.arguments }).chain(signature)
        });
        std::iter::once(Self::Meta { model, request_id })
            .chain(notes.into_iter().map(Self::Note))
            .chain(refusal.map(Self::Refusal))
            .chain((!text.is_empty()).then_some(Self::Text(text)))
            .chain(calls)
            .chain(usage.map(Self::Usage))
            .chain(std::iter::once(Self::End(finish)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ToolCall;

    #[test]
    fn nothing_of_an_answer_is_lost_in_its_chunks() {
        let calls = [ToolCall::new("1", "f", "{}").with_signature("sealed"), ToolCall::new("2", "g", "[]")];
        let response = calls.into_iter().fold(Response::new("text"), Response::with_tool_call);
        let response =
            response.with_refusal("no").with_usage(Usage::new(1, 2)).with_model("m").with_note("n");
        let call = |index, id: &str, name: &str, arguments: &str| Chunk::ToolCall {
            index,
            id: Some(id.into()),
            name: Some(name.into()),
            arguments: arguments.into(),
        };
        let finish = response.finish.clone();
        let expected = [
            Chunk::Meta { model: Some("m".into()), request_id: None },
            Chunk::Note("n".into()),
            Chunk::Refusal("no".into()),
            Chunk::Text("text".into()),
            call(0, "1", "f", "{}"),
            Chunk::ToolSignature { index: 0, signature: "sealed".into() },
            call(1, "2", "g", "[]"),
            Chunk::Usage(Usage::new(1, 2)),
            Chunk::End(finish),
        ];
        assert_eq!(Chunk::all_of(response).collect::<Vec<_>>(), expected);
    }
}
