//! A provider that answers by script, in process: no socket, and paused time works.

use std::{
    borrow::Cow,
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, ChunkStream, CredentialId, FailureKind, FinishKind, Message, Provider,
    ProviderError, Request, Response, Stage, ToolCall, Usage, chunk,
};
use futures_util::StreamExt;
use tokio::{sync::Notify, time::sleep};

use crate::piece::{self, Piece};

/// A provider that answers by script and remembers what it was asked. Clones share script and memory, so a test
/// keeps one and gives the other to the chain.
///
/// Steps are taken in order; the last one repeats. Rules added by [`when`](Self::when) come first.
///
/// ```
/// use backstop_core::{Chain, FailureKind, ProviderExt};
/// use backstop_mock::{MockProvider, Step};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let down = MockProvider::new("down", [Step::fail(FailureKind::Overloaded)]);
/// let up = MockProvider::new("up", [Step::text("hello")]);
/// let chain = Chain::builder().target(down.clone().model("m").retries(0)).target(up.model("m")).build()?;
/// assert_eq!(chain.complete("hi").await?.value, "hello");
/// assert_eq!(down.calls(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct MockProvider(Arc<Inner>);

struct Inner {
    name: Cow<'static, str>,
    instance: Mutex<Option<String>>,
    credential: Mutex<CredentialId>,
    capabilities: Mutex<Capabilities>,
    script: Mutex<Script>,
    seen: Mutex<Vec<Seen>>,
    in_flight: AtomicUsize,
}

struct Script {
    rules: Vec<(Predicate, Step)>,
    steps: VecDeque<Step>,
    last: Option<Step>,
}

type Predicate = Box<dyn Fn(&Seen) -> bool + Send + Sync>;

/// One request as the provider got it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Seen {
    /// The model that was asked for.
    pub model: String,
    /// The caller's request.
    pub request: Request,
    /// The conversation, re-asks included.
    pub messages: Vec<Message>,
    /// Which attempt at the target, from 1.
    pub number: u32,
    /// The token limit of this attempt.
    pub max_tokens: Option<u32>,
    /// Whether JSON was asked for without a schema.
    pub json_mode: bool,
    /// Parameters that were left out.
    pub dropped: Vec<Cow<'static, str>>,
}

impl Seen {
    fn new(attempt: &Attempt<'_>) -> Self {
        Self {
            model: attempt.model.to_owned(),
            request: attempt.request.clone(),
            messages: attempt.messages().cloned().collect(),
            number: attempt.number,
            max_tokens: attempt.max_tokens(),
            json_mode: attempt.json_mode(),
            dropped: attempt.overlay.dropped.clone(),
        }
    }

    /// The text of the last message.
    #[must_use]
    pub fn last_text(&self) -> String {
        self.messages.last().map(|message| message.text().into_owned()).unwrap_or_default()
    }
}

/// One thing that a [`MockProvider`] does when it is asked.
#[derive(Clone)]
#[must_use = "a step does nothing until a provider has it"]
pub struct Step {
    action: Action,
    before: Vec<Before>,
    usage: Option<Usage>,
    request_id: Option<String>,
}

#[derive(Clone)]
enum Action {
    Respond(Box<Response>),
    Compute(Arc<dyn Fn(&Seen) -> Response + Send + Sync>),
    Fail(Arc<dyn Fn() -> ProviderError + Send + Sync>),
    Hang(Stage),
    Stream(Arc<[Piece]>),
}

#[derive(Clone)]
enum Before {
    Delay(Duration),
    Wait(Arc<Notify>),
}

impl Step {
    fn of(action: Action) -> Self {
        Self { action, before: Vec::new(), usage: Some(Usage::new(10, 5)), request_id: None }
    }

    /// Answers with a text that ended normally, at 10 tokens in and 5 out.
    pub fn text(text: impl Into<String>) -> Self {
        Self::response(Response::new(text))
    }

    /// Answers with any response.
    pub fn response(response: Response) -> Self {
        Self::of(Action::Respond(Box::new(response)))
    }

    /// Answers with what the closure makes of the request.
    pub fn compute(answer: impl Fn(&Seen) -> Response + Send + Sync + 'static) -> Self {
        Self::of(Action::Compute(Arc::new(answer)))
    }

    /// Streams these pieces; texts can be given as they are. Without [`Piece::end`] the stream is cut. The step's
    /// usage comes before the end. Who asks for a whole answer gets the pieces put together, after all their waits.
    ///
    /// ```
    /// use backstop_mock::{Piece, Step};
    ///
    /// let cut = Step::stream(["Once upon ".into(), Piece::ping(), "a time".into()]);
    /// # let _ = cut;
    /// ```
    pub fn stream(pieces: impl IntoIterator<Item = Piece>) -> Self {
        Self::of(Action::Stream(pieces.into_iter().collect()))
    }

    /// Declines by the vendor's own signal.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self::response(Response::new("").with_refusal(text))
    }

    /// Is cut off by the token limit after this text.
    pub fn truncated(text: impl Into<String>) -> Self {
        Self::response(Response::new(text).with_finish(FinishKind::Length))
    }

    /// Asks for a tool.
    pub fn tool_call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let call = ToolCall::new("call-1", name, arguments);
        Self::response(Response::new("").with_finish(FinishKind::ToolCalls).with_tool_call(call))
    }

    /// Fails with a kind.
    pub fn fail(kind: FailureKind) -> Self {
        Self::error(move || ProviderError::new(kind, "scripted"))
    }

    /// Fails with any error.
    pub fn error(error: impl Fn() -> ProviderError + Send + Sync + 'static) -> Self {
        Self::of(Action::Fail(Arc::new(error)))
    }

    /// Never answers, after having come to `stage`.
    pub fn hang(stage: Stage) -> Self {
        Self::of(Action::Hang(stage))
    }

    /// Waits before anything else. May be called several times.
    pub fn after(mut self, delay: Duration) -> Self {
        self.before.push(Before::Delay(delay));
        self
    }

    /// Waits until the test calls `notify_one` or `notify_waiters`.
    pub fn once_notified(mut self, gate: Arc<Notify>) -> Self {
        self.before.push(Before::Wait(gate));
        self
    }

    /// Sets the tokens, of failures too.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Names no tokens.
    pub fn without_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Sets the vendor's request id, noted before the step hangs or fails.
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Respond(response) => write!(f, "Respond({response:?})"),
            Action::Compute(_) => f.write_str("Compute"),
            Action::Fail(error) => write!(f, "Fail({})", error()),
            Action::Hang(stage) => write!(f, "Hang({stage})"),
            Action::Stream(pieces) => write!(f, "Stream({} pieces)", pieces.len()),
        }
    }
}

impl MockProvider {
    /// A provider with a script. An empty script fails every attempt as [`FailureKind::Server`].
    pub fn new(name: impl Into<Cow<'static, str>>, script: impl IntoIterator<Item = Step>) -> Self {
        let script = Script { rules: Vec::new(), steps: script.into_iter().collect(), last: None };
        Self(Arc::new(Inner {
            name: name.into(),
            instance: Mutex::default(),
            credential: Mutex::default(),
            capabilities: Mutex::default(),
            script: Mutex::new(script),
            seen: Mutex::default(),
            in_flight: AtomicUsize::new(0),
        }))
    }

    /// A provider that answers every request with what the closure makes of it.
    pub fn answering(
        name: impl Into<Cow<'static, str>>,
        answer: impl Fn(&Seen) -> Response + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, [Step::compute(answer)])
    }

    /// Takes this step whenever the predicate holds, before the script.
    #[must_use]
    pub fn when(self, predicate: impl Fn(&Seen) -> bool + Send + Sync + 'static, step: Step) -> Self {
        lock(&self.0.script).rules.push((Box::new(predicate), step));
        self
    }

    /// Sets what [`Provider::capabilities`] says.
    #[must_use]
    pub fn capable(self, capabilities: Capabilities) -> Self {
        *lock(&self.0.capabilities) = capabilities;
        self
    }

    /// Sets what [`Provider::instance`] says.
    #[must_use]
    pub fn at(self, instance: impl Into<String>) -> Self {
        *lock(&self.0.instance) = Some(instance.into());
        self
    }

    /// Sets what [`Provider::credential`] says, also while a chain uses the provider: a rotated key.
    pub fn set_credential(&self, credential: CredentialId) {
        *lock(&self.0.credential) = credential;
    }

    /// Adds a step to the script.
    pub fn push(&self, step: Step) {
        lock(&self.0.script).steps.push_back(step);
    }

    /// How many requests there were.
    #[must_use]
    pub fn calls(&self) -> usize {
        lock(&self.0.seen).len()
    }

    /// Every request, in order.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.0.seen).clone()
    }

    /// How many requests are being answered now. A dropped future is not.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.0.in_flight.load(Ordering::SeqCst)
    }

    fn next(&self, seen: &Seen) -> Option<Step> {
        let mut script = lock(&self.0.script);
        if let Some((_, step)) = script.rules.iter().find(|(holds, _)| holds(seen)) {
            return Some(step.clone());
        }
        if let Some(step) = script.steps.pop_front() {
            script.last = Some(step);
        }
        script.last.clone()
    }
}

impl fmt::Debug for MockProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockProvider")
            .field("name", &self.0.name)
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for MockProvider {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn instance(&self) -> Cow<'_, str> {
        match &*lock(&self.0.instance) {
            Some(instance) => Cow::Owned(instance.clone()),
            None => Cow::Borrowed(&self.0.name),
        }
    }

    fn credential(&self) -> CredentialId {
        *lock(&self.0.credential)
    }

    fn capabilities(&self, _model: &str) -> Capabilities {
        *lock(&self.0.capabilities)
    }

    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        let _in_flight = InFlight::begin(&self.0);
        let (seen, step) = self.begin(attempt).await?;
        step.answer(&seen, attempt).await
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let in_flight = InFlight::begin(&self.0);
        let (seen, step) = self.begin(attempt).await?;
        let chunks = match &step.action {
            Action::Stream(pieces) => {
                attempt.progress.enter(Stage::Body);
                piece::chunks(Arc::clone(pieces), step.usage)
            }
            _ => chunk::whole(step.answer(&seen, attempt).await?),
        };
        // Under way until the stream is dropped.
        Ok(chunks.map(move |chunk| (chunk, &in_flight).0).boxed())
    }
}

impl MockProvider {
    /// Notes a request, finds what to do with it, and waits as long as that says.
    async fn begin(&self, attempt: &Attempt<'_>) -> Result<(Seen, Step), ProviderError> {
        let seen = Seen::new(attempt);
        let step = self.next(&seen);
        lock(&self.0.seen).push(seen.clone());
        let Some(step) = step else {
            return Err(ProviderError::new(FailureKind::Server, "the mock has no step for this request"));
        };
        for before in &step.before {
            match before {
                Before::Delay(delay) => sleep(*delay).await,
                Before::Wait(gate) => gate.notified().await,
            }
        }
        if let Some(id) = &step.request_id {
            attempt.progress.request_id(id.as_str());
        }
        Ok((seen, step))
    }
}

impl Step {
    async fn answer(&self, seen: &Seen, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        let complete = |mut response: Response| {
            response.usage = response.usage.or(self.usage);
            response.request_id = response.request_id.or_else(|| self.request_id.clone());
            response
        };
        match &self.action {
            Action::Respond(response) => Ok(complete((**response).clone())),
            Action::Compute(answer) => Ok(complete(answer(seen))),
            Action::Fail(error) => Err(error()),
            Action::Hang(stage) => {
                attempt.progress.enter(*stage);
                std::future::pending().await
            }
            Action::Stream(pieces) => piece::together(Arc::clone(pieces)).await.map(complete),
        }
    }
}

/// Counts a request until it ends or is dropped.
struct InFlight(Arc<Inner>);

impl InFlight {
    fn begin(inner: &Arc<Inner>) -> Self {
        inner.in_flight.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(inner))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
