//! Which reply a request gets.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{ApiError, Completion, Received, Reply};

/// Replies in order. The last one repeats, unless the script is [`once`](Self::once).
///
/// A single reply, an array and a `Vec` of replies are scripts too.
///
/// ```
/// use backstop_mock::server::{ApiError, MockServer, Reply, Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = MockServer::start().await?;
/// // Every model works, but "flaky" fails twice first.
/// let twice = Script::once([ApiError::server(), ApiError::server()]);
/// server.when(|request| request.model() == "flaky", twice);
/// server.push(Reply::text("fine"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    next: VecDeque<Reply>,
    last: Option<Reply>,
    repeats: bool,
}

impl Script {
    /// A script that is over after its replies: then the next rule is asked.
    pub fn once<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self { repeats: false, ..replies.into_iter().collect() }
    }

    fn empty() -> Self {
        Self { next: VecDeque::new(), last: None, repeats: true }
    }

    fn take(&mut self) -> Option<Reply> {
        match self.next.pop_front() {
            Some(reply) if self.repeats => {
                self.last = Some(reply.clone());
                Some(reply)
            }
            Some(reply) => Some(reply),
            None => self.last.clone(),
        }
    }
}

impl<R: Into<Reply>> FromIterator<R> for Script {
    fn from_iter<I: IntoIterator<Item = R>>(replies: I) -> Self {
        Self { next: replies.into_iter().map(Into::into).collect(), ..Self::empty() }
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Self::from_iter([reply])
    }
}

impl From<Completion> for Script {
    fn from(completion: Completion) -> Self {
        Self::from_iter([completion])
    }
}

impl From<ApiError> for Script {
    fn from(error: ApiError) -> Self {
        Self::from_iter([error])
    }
}

impl<R: Into<Reply>> From<Vec<R>> for Script {
    fn from(replies: Vec<R>) -> Self {
        replies.into_iter().collect()
    }
}

impl<R: Into<Reply>, const N: usize> From<[R; N]> for Script {
    fn from(replies: [R; N]) -> Self {
        replies.into_iter().collect()
    }
}

type Matches = dyn Fn(&Received) -> bool + Send + Sync;
type Respond = dyn Fn(&Received) -> Reply + Send + Sync;

struct Rule {
    matches: Box<Matches>,
    script: Mutex<Script>,
}

/// All that was scripted. The test's closures run outside every lock, so that they may use the server.
#[derive(Default)]
pub(super) struct Scripts {
    rules: Mutex<Vec<Arc<Rule>>>,
    respond: Mutex<Option<Arc<Respond>>>,
    queue: Mutex<Option<Script>>,
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripts").field("rules", &lock(&self.rules).len()).finish_non_exhaustive()
    }
}

impl Scripts {
    pub(super) fn push(&self, reply: Reply) {
        lock(&self.queue).get_or_insert_with(Script::empty).next.push_back(reply);
    }

    pub(super) fn add_rule(
        &self,
        matches: impl Fn(&Received) -> bool + Send + Sync + 'static,
        script: Script,
    ) {
        let rule = Rule { matches: Box::new(matches), script: Mutex::new(script) };
        lock(&self.rules).push(Arc::new(rule));
    }

    pub(super) fn respond_with(&self, respond: impl Fn(&Received) -> Reply + Send + Sync + 'static) {
        *lock(&self.respond) = Some(Arc::new(respond));
    }

    pub(super) fn clear(&self) {
        lock(&self.rules).clear();
        *lock(&self.respond) = None;
        *lock(&self.queue) = None;
    }

    /// The reply of the first rule that matches and is not over.
    pub(super) fn by_rule(&self, request: &Received) -> Option<Reply> {
        let rules = lock(&self.rules).clone();
        rules.iter().filter(|rule| (rule.matches)(request)).find_map(|rule| lock(&rule.script).take())
    }

    /// The reply of the closure, or else of the queue.
    pub(super) fn by_default(&self, request: &Received) -> Option<Reply> {
        let respond = lock(&self.respond).clone();
        match respond {
            Some(respond) => Some(respond(request)),
            None => lock(&self.queue).as_mut().and_then(Script::take),
        }
    }
}

/// Nothing is left half-done under these locks, so a panic elsewhere does not spoil what they guard.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
