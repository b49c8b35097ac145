//! A provider whose answer is there before it is asked for.

use std::sync::Arc;

use async_trait::async_trait;
use backstop_core::{Attempt, Chunk, ChunkStream, FinishKind, Provider, ProviderError, Response};
use futures_util::{StreamExt, stream};

/// Answers at once, and streams the same in these pieces.
#[derive(Clone, Debug)]
pub struct Ready(Arc<[String]>);

impl Ready {
    /// The pieces of the answer.
    pub fn new(pieces: impl IntoIterator<Item = String>) -> Self {
        Self(pieces.into_iter().collect())
    }

    /// An answer in one piece.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([text.into()])
    }
}

#[async_trait]
impl Provider for Ready {
    fn name(&self) -> &str {
        "ready"
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        Ok(Response::new(self.0.concat()))
    }

    async fn stream(&self, _: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let end = std::iter::once(Chunk::End(FinishKind::Stop.into()));
        let chunks: Vec<_> = self.0.iter().cloned().map(Chunk::Text).chain(end).map(Ok).collect();
        Ok(stream::iter(chunks).boxed())
    }
}
