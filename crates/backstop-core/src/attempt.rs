//! One request as one target gets it.

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{error::Stage, message::Message, request::Request, response::Usage};

/// The caller's request by reference, and what this one attempt changes about it. Adapters send
/// [`messages`](Self::messages), [`max_tokens`](Self::max_tokens) and so on rather than the request's own.
///
/// ```
/// use backstop_core::{Attempt, Request};
///
/// let request = Request::new("Hello");
/// let attempt = Attempt::new("some-model", &request);
/// assert_eq!(attempt.messages().count(), 1);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt<'a> {
    /// The model to ask.
    pub model: &'a str,
    /// The caller's request, shared by all attempts.
    pub request: &'a Request,
    /// What differs because of earlier attempts at this target.
    pub overlay: &'a Overlay,
    /// Which attempt at this target, from 1.
    pub number: u32,
    /// The call that it belongs to.
    pub call_id: CallId,
    /// When the engine gives up on it. Adapters need no timer of their own.
    pub deadline: Option<Instant>,
    /// Where the adapter notes what it learns on the way.
    pub progress: Progress,
}

impl<'a> Attempt<'a> {
    /// A first attempt without a deadline, for tests of an adapter.
    #[must_use]
    pub fn new(model: &'a str, request: &'a Request) -> Self {
        static PLAIN: Overlay = Overlay::new();
        Self {
            model,
            request,
            overlay: &PLAIN,
            number: 1,
            call_id: CallId(0),
            deadline: None,
            progress: Progress::default(),
        }
    }

    /// The conversation: the caller's, then the model's own bad answer and what was wrong with it.
    pub fn messages(&self) -> impl Iterator<Item = &'a Message> + Clone + use<'a> {
        self.request.messages.iter().chain(&self.overlay.feedback)
    }

    /// Most tokens of the answer.
    #[must_use]
    pub fn max_tokens(&self) -> Option<u32> {
        self.overlay.max_tokens.or(self.request.max_tokens)
    }

    /// Whether the vendor refused the schema, so that plain JSON mode is to be asked for.
    #[must_use]
    pub fn json_mode(&self) -> bool {
        self.overlay.json_mode
    }

    /// Whether the server refused JSON mode too, so that what is wanted may stand in the prompt only.
    #[must_use]
    pub fn prompt_only(&self) -> bool {
        self.overlay.prompt_only
    }

    /// Whether an optional parameter is to be left out because the vendor refused it.
    #[must_use]
    pub fn is_dropped(&self, param: &str) -> bool {
        self.overlay.dropped.iter().any(|dropped| dropped == param)
    }
}

/// How a request differs from the caller's: because of earlier attempts, of what the target has refused before, or of
/// the model's own limits. Local to one target of one call: nothing of it can reach another target.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Overlay {
    /// The model's own bad answer and the errors.
    pub feedback: Vec<Message>,
    /// A larger limit after a truncated answer.
    pub max_tokens: Option<u32>,
    /// Ask for JSON without a schema.
    pub json_mode: bool,
    /// Ask for JSON in words, without JSON mode.
    pub prompt_only: bool,
    /// Parameters to leave out.
    pub dropped: Vec<Cow<'static, str>>,
}

impl Overlay {
    /// No difference.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            feedback: Vec::new(),
            max_tokens: None,
            json_mode: false,
            prompt_only: false,
            dropped: Vec::new(),
        }
    }
}

/// Names one call in reports, spans and provider requests.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CallId(pub(crate) u64);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The same digits as in reports.
impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({self})")
    }
}

impl Serialize for CallId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

/// What an adapter learns while an attempt runs. A timeout or a cancel loses the adapter's future, but not this.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Cell>);

#[derive(Debug, Default)]
struct Cell {
    stage: AtomicU8,
    learnt: Mutex<Learnt>,
}

/// What [`Progress`] holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learnt {
    pub(crate) request_id: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) timing: Timing,
}

/// How fast a stream was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// From the beginning of the attempt to its first content.
    pub(crate) first_content: Option<Duration>,
    /// From one token to the next, on average.
    pub(crate) per_output_token: Option<Duration>,
}

impl Progress {
    /// Notes that the attempt has come to `stage`.
    pub fn enter(&self, stage: Stage) {
        self.0.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Notes the vendor's request id.
    pub fn request_id(&self, id: impl Into<String>) {
        self.learnt().request_id = Some(id.into());
    }

    /// Notes the tokens so far.
    pub fn usage(&self, usage: Usage) {
        self.learnt().usage = Some(usage);
    }

    pub(crate) fn timing(&self, timing: Timing) {
        self.learnt().timing = timing;
    }

    pub(crate) fn take_all(&self) -> Learnt {
        std::mem::take(&mut *self.learnt())
    }

    /// The tokens so far.
    pub(crate) fn usage_so_far(&self) -> Option<Usage> {
        self.learnt().usage
    }

    /// How far the attempt has come.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let index = usize::from(self.0.stage.load(Ordering::Relaxed));
        Stage::ALL.get(index).copied().unwrap_or_default()
    }

    /// Takes out what was noted.
    #[must_use]
    pub fn take(&self) -> (Option<String>, Option<Usage>) {
        let learnt = std::mem::take(&mut *self.learnt());
        (learnt.request_id, learnt.usage)
    }

    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.0.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_survives_the_attempt() {
        let request = Request::new("x");
        let attempt = Attempt::new("m", &request);
        let kept = attempt.progress.clone();
        attempt.progress.enter(Stage::Body);
        attempt.progress.request_id("req-1");
        drop(attempt);
        assert_eq!((kept.stage(), kept.take().0.as_deref()), (Stage::Body, Some("req-1")));
    }

    #[test]
    fn call_ids_round_trip_as_hex() {
        let text = serde_json::to_string(&CallId(0xab)).unwrap();
        assert_eq!(text, "\"00000000000000ab\"");
        assert_eq!(format!("{:?}", CallId(0xab)), "CallId(00000000000000ab)");
        assert_eq!(serde_json::from_str::<CallId>(&text).unwrap(), CallId(0xab));
    }
}
