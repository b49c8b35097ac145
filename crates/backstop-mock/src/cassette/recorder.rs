//! Records what a provider is asked and what it answers.

use std::{
    borrow::Cow,
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, Chunk, ChunkStream, CredentialId, FailureKind, Provider, ProviderError, Response,
};
use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::{
    CassetteError,
    asked::asked,
    entry::{Answer, End, Entry, Streamed},
    tape::Tape,
};

/// Stands before a provider and records what it is asked and what it answers, whole or streamed, good or not. Clones
/// record to the same cassette; give each provider a file of its own.
///
/// The first entry replaces a file that is there already. An attempt that is cancelled, by a timeout too, is recorded
/// as such. For tests: files are written while the call waits. A cassette that cannot be written fails the attempt as
/// [`FailureKind::InvalidRequest`].
///
/// ```
/// use backstop_core::{Chain, ProviderExt};
/// use backstop_mock::{MockProvider, Recorder, Replay, Step};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = std::env::temp_dir().join(format!("backstop-recorder-{}", std::process::id()));
/// # let path = directory.join("colours.jsonl");
/// let vendor = MockProvider::new("vendor", [Step::text("blue")]);
/// let chain = Chain::builder().target(Recorder::new(vendor, &path)?.model("m")).build()?;
/// chain.complete("A colour?").await?;
///
/// let chain = Chain::builder().target(Replay::open(&path)?.model("m")).build()?;
/// assert_eq!(chain.complete("A colour?").await?.value, "blue");
/// assert!(chain.complete("A shape?").await.is_err(), "nobody recorded that");
/// # std::fs::remove_dir_all(directory)?;
/// # Ok(()) }
/// ```
pub struct Recorder<P> {
    provider: Arc<P>,
    tape: Arc<Mutex<Tape>>,
}

impl<P: Provider> Recorder<P> {
    /// Records a provider to a file. Directories on the way to it are made.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn new(provider: P, path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let tape = Tape::new(path.as_ref(), provider.name())?;
        Ok(Self { provider: Arc::new(provider), tape: Arc::new(Mutex::new(tape)) })
    }

    fn begin(&self, attempt: &Attempt<'_>) -> Recording {
        let number = self.tape.lock().unwrap_or_else(PoisonError::into_inner).begin();
        Recording {
            tape: Arc::clone(&self.tape),
            number,
            asked: asked(attempt),
            capabilities: self.provider.capabilities(attempt.model),
            streamed: None,
            closed: false,
        }
    }
}

#[async_trait]
impl<P: Provider> Provider for Recorder<P> {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn instance(&self) -> Cow<'_, str> {
        self.provider.instance()
    }

    fn credential(&self) -> CredentialId {
        self.provider.credential()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.provider.capabilities(model)
    }

    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        let recording = self.begin(attempt);
        let answered = self.provider.complete(attempt).await;
        recording.close(match &answered {
            Ok(response) => Answer::Response(Box::new(response.clone())),
            Err(error) => Answer::Error(Box::new(error.into())),
        })?;
        answered
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let mut recording = self.begin(attempt);
        match self.provider.stream(attempt).await {
            Ok(chunks) => {
                recording.streamed = Some(Vec::new());
                Ok(recorded(chunks, recording))
            }
            Err(error) => {
                recording.close(Answer::Error(Box::new((&error).into())))?;
                Err(error)
            }
        }
    }
}

/// The same chunks; the entry is written at their end, at an error, or when the caller goes away.
fn recorded(chunks: ChunkStream, recording: Recording) -> ChunkStream {
    let state = (chunks, Some(recording));
    let steps = stream::unfold(state, |(mut chunks, mut recording)| async move {
        let next = chunks.next().await;
        let end = match (&next, &mut recording) {
            (_, None) => None,
            (Some(Ok(chunk)), Some(recording)) => {
                recording.streamed.get_or_insert_default().push(chunk.clone());
                // Who has read it need not read on.
                matches!(chunk, Chunk::End(_)).then_some(End::Finished)
            }
            (Some(Err(error)), Some(_)) => Some(End::Error(Box::new(error.into()))),
            (None, Some(_)) => Some(End::Finished),
        };
        let mut next = next;
        if let Some(end) = end {
            let closed = recording.take().map_or(Ok(()), |recording| recording.end(end));
            if let Err(error) = closed {
                next = Some(Err(error));
            }
        }
        next.map(|next| (next, (chunks, recording)))
    });
    steps.boxed()
}

/// A request under way. Dropped without being closed it was cancelled.
struct Recording {
    tape: Arc<Mutex<Tape>>,
    number: u64,
    asked: Value,
    capabilities: Capabilities,
    /// What has come of a stream.
    streamed: Option<Vec<Chunk>>,
    closed: bool,
}

impl Recording {
    fn close(mut self, answer: Answer) -> Result<(), ProviderError> {
        self.write(answer).map_err(|error| {
            ProviderError::new(FailureKind::InvalidRequest, error.to_string()).with_source(error)
        })
    }

    fn end(mut self, end: End) -> Result<(), ProviderError> {
        let chunks = self.streamed.take().unwrap_or_default();
        self.close(Answer::Stream(Streamed { chunks, end }))
    }

    fn write(&mut self, answer: Answer) -> Result<(), CassetteError> {
        self.closed = true;
        let (number, asked, capabilities) = (self.number, self.asked.take(), self.capabilities);
        let entry = Entry { number, asked, answer, capabilities };
        self.tape.lock().unwrap_or_else(PoisonError::into_inner).write(&entry)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        let answer = match self.streamed.take() {
            Some(chunks) => Answer::Stream(Streamed { chunks, end: End::Cancelled }),
            None => Answer::Cancelled,
        };
        // Nobody is left to be told; the next entry meets the same error.
        let _ = self.write(answer);
    }
}

impl<P> Clone for Recorder<P> {
    fn clone(&self) -> Self {
        Self { provider: Arc::clone(&self.provider), tape: Arc::clone(&self.tape) }
    }
}

impl<P: Provider> fmt::Debug for Recorder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("provider", &self.provider.name()).finish_non_exhaustive()
    }
}
