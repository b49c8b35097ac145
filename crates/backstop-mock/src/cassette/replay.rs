//! Answers from a cassette.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, ChunkStream, FailureKind, Provider, ProviderError, Response, chunk,
};
use futures_util::{StreamExt, future::pending, stream};
use serde_json::Value;

use super::{
    CassetteError, Unmatched,
    asked::{asked, differences},
    entry::{Answer, End, Entry, Streamed},
    tape,
};

/// Answers from a cassette that a [`Recorder`](super::Recorder) has written, under the recorded provider's name. Each
/// entry answers once. Clones share what is left.
///
/// A request that does not match fails as [`FailureKind::InvalidRequest`]; the error says what differs, and its source
/// is an [`Unmatched`]. What was recorded as cancelled never answers, so that a timeout is met again; paused time
/// spares the wait. What was recorded whole is streamed in one piece if a stream is asked for, not the other way
/// round.
#[derive(Clone)]
pub struct Replay(Arc<Inner>);

struct Inner {
    provider: String,
    matching: Matching,
    /// In the order of asking.
    entries: Mutex<Vec<Recorded>>,
}

struct Recorded {
    line: usize,
    entry: Entry,
    played: bool,
}

/// Which entry answers a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Matching {
    /// The first that was asked just this and has not answered yet: model, instructions, messages, output, tools,
    /// limits, sampling, and what a retry changes (default).
    #[default]
    Strict,
    /// The next one, as long as the model is the same: for prompts that hold the time of day.
    InOrder,
}

impl Replay {
    /// Answers from a file, strictly.
    ///
    /// # Errors
    /// It cannot be read, or is no cassette.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        Self::open_with(path, Matching::Strict)
    }

    /// Answers from a file.
    ///
    /// # Errors
    /// It cannot be read, or is no cassette.
    pub fn open_with(path: impl AsRef<Path>, matching: Matching) -> Result<Self, CassetteError> {
        let (provider, entries) = tape::read(path.as_ref())?;
        let entries = entries.into_iter().map(|(line, entry)| Recorded { line, entry, played: false });
        Ok(Self(Arc::new(Inner { provider, matching, entries: Mutex::new(entries.collect()) })))
    }

    /// How many entries have not been asked for: zero at the end of a test that asks all that it did when recorded.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.entries().iter().filter(|recorded| !recorded.played).count()
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, attempt: &Attempt<'_>, streams: bool) -> Result<Answer, ProviderError> {
        let asked = asked(attempt);
        let mut entries = self.entries();
        let found =
            entries.iter_mut().filter(|recorded| !recorded.played).find(|recorded| match self.0.matching {
                Matching::Strict => recorded.entry.asked == asked && recorded.entry.serves(streams),
                Matching::InOrder => true,
            });
        match found {
            Some(found)
                if found.entry.serves(streams) && found.entry.asked.get("model") == asked.get("model") =>
            {
                found.played = true;
                Ok(found.entry.answer.clone())
            }
            // The next in order does not fit.
            Some(found) => Err(unmatched(found.unlike(&asked, streams))),
            None => Err(unmatched(nearest(&entries, &asked, streams))),
        }
    }
}

impl Entry {
    fn serves(&self, streams: bool) -> bool {
        streams || !matches!(self.answer, Answer::Stream(_))
    }
}

impl Recorded {
    fn unlike(&self, asked: &Value, streams: bool) -> Unmatched {
        let mut differs = differences(&self.entry.asked, asked);
        if !self.entry.serves(streams) {
            differs.insert(0, "stream".to_owned());
        }
        Unmatched { nearest: Some(self.line), differs }
    }
}

/// What is most like the request: of those that have not answered, or else of those that have.
fn nearest(entries: &[Recorded], asked: &Value, streams: bool) -> Unmatched {
    let unlike = |played: bool| {
        let entries = entries.iter().filter(move |recorded| recorded.played == played);
        entries.map(|recorded| recorded.unlike(asked, streams)).min_by_key(|unlike| unlike.differs.len())
    };
    let spent = unlike(true).filter(|spent| spent.differs.is_empty());
    spent.or_else(|| unlike(false)).unwrap_or(Unmatched { nearest: None, differs: Vec::new() })
}

fn unmatched(unmatched: Unmatched) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, unmatched.to_string()).with_source(unmatched)
}

#[async_trait]
impl Provider for Replay {
    fn name(&self) -> &str {
        &self.0.provider
    }

    /// As they were when the model was first recorded.
    fn capabilities(&self, model: &str) -> Capabilities {
        let entries = self.entries();
        let of_model = entries
            .iter()
            .find(|recorded| recorded.entry.asked.get("model").and_then(Value::as_str) == Some(model));
        of_model.map_or(Capabilities::unknown(), |recorded| recorded.entry.capabilities)
    }

    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        match self.take(attempt, false)? {
            Answer::Response(response) => Ok(*response),
            Answer::Error(failed) => Err((&*failed).into()),
            Answer::Cancelled | Answer::Stream(_) => pending().await,
        }
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        match self.take(attempt, true)? {
            Answer::Response(response) => Ok(chunk::whole(*response)),
            Answer::Error(failed) => Err((&*failed).into()),
            Answer::Cancelled => pending().await,
            Answer::Stream(streamed) => Ok(played(streamed)),
        }
    }
}

fn played(streamed: Streamed) -> ChunkStream {
    let chunks = stream::iter(streamed.chunks.into_iter().map(Ok));
    match streamed.end {
        End::Finished => chunks.boxed(),
        End::Error(failed) => chunks.chain(stream::once(async move { Err((&*failed).into()) })).boxed(),
        End::Cancelled => chunks.chain(stream::once(pending())).boxed(),
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("provider", &self.0.provider)
            .field("matching", &self.0.matching)
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}
