//! What the engine tells `tracing`, and what it does not.

use std::{
    cell::{Cell, RefCell},
    fmt::{Debug, Write},
    future::IntoFuture,
    rc::Rc,
    sync::Once,
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, BreakerConfig, Candidate, Chain, Chunk, ChunkStream, FailureKind, FinishKind, Message, Provider,
    ProviderError, ProviderExt, Registry, Rejection, Request, Response, validator,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::secs;
use futures_util::{StreamExt, stream};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

/// One span or event.
#[derive(Clone, Debug)]
struct Line {
    level: Level,
    target: String,
    name: String,
    text: String,
    /// In how many spans.
    inside: usize,
}

/// What was written on the thread of this test.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<Line>>>);

thread_local! {
    static HERE: RefCell<Option<Log>> = const { RefCell::new(None) };
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

impl Log {
    /// Listens to this thread from now on. Tests run on one each.
    fn begin() -> Self {
        static INSTALL: Once = Once::new();
        // One for all threads: beside scoped subscribers, a thread without one decides what others get to see.
        INSTALL.call_once(|| {
            tracing::subscriber::set_global_default(Everything).unwrap();
            tracing::callsite::rebuild_interest_cache();
        });
        let log = Self::default();
        HERE.set(Some(log.clone()));
        log
    }

    fn lines(&self, holds: impl Fn(&Line) -> bool) -> Vec<Line> {
        self.0.borrow().iter().filter(|line| holds(line)).cloned().collect()
    }
}

/// Takes spans and events of every level.
struct Everything;

impl Everything {
    fn write(metadata: &Metadata<'_>, record: impl FnOnce(&mut Text<'_>)) {
        let Some(log) = HERE.with_borrow(Clone::clone) else { return };
        if !metadata.target().starts_with("backstop") {
            return;
        }
        let mut text = String::new();
        record(&mut Text(&mut text));
        let (target, name) = (metadata.target().to_owned(), metadata.name().to_owned());
        log.0.borrow_mut().push(Line { level: *metadata.level(), target, name, text, inside: INSIDE.get() });
    }
}

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        Self::write(span.metadata(), |text| span.record(text));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        Self::write(event.metadata(), |text| event.record(text));
    }

    fn enter(&self, _: &Id) {
        INSIDE.set(INSIDE.get() + 1);
    }

    fn exit(&self, _: &Id) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

#[tokio::test(start_paused = true)]
async fn there_is_one_span_for_each_call_and_one_for_each_attempt() {
    let log = Log::begin();
    let first = MockProvider::new("first", [Step::fail(FailureKind::Server)]);
    let second = MockProvider::new("second", [Step::text("hi")]);
    let chain = Chain::builder().target(first.model("m")).target(second.model("m")).build().unwrap();
    let report = chain.complete("x").await.unwrap().report;
    let calls = log.lines(|line| line.name == "call");
    assert_eq!(calls.len(), 1);
    assert!(calls[0].text.contains(&format!("call_id={}", report.call_id)), "{calls:?}");
    let attempts = log.lines(|line| line.name == "attempt");
    let texts: Vec<_> = attempts.iter().map(|line| line.text.trim()).collect();
    assert_eq!(texts, ["target=first/m number=1", "target=first/m number=2", "target=second/m number=1"]);
    assert!(
        log.lines(|line| line.level <= Level::WARN).is_empty(),
        "a call that was served warns of nothing"
    );
}

/// Says something with each chunk.
struct Talkative;

#[async_trait]
impl Provider for Talkative {
    fn name(&self) -> &str {
        "talkative"
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        Ok(Response::new("five words are said here"))
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let words: Vec<_> = self.complete(attempt).await?.text.split(' ').map(str::to_owned).collect();
        let chunks = words.into_iter().map(Chunk::Text).chain([Chunk::End(FinishKind::Stop.into())]);
        let talk = |_: &_| tracing::info!(target: "backstop", "a chunk");
        Ok(stream::iter(chunks.map(Ok).collect::<Vec<_>>()).inspect(talk).boxed())
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_says_while_it_streams_is_said_in_the_span_of_the_call() {
    let log = Log::begin();
    let chain = Chain::builder().target(Talkative.model("m")).build().unwrap();
    let mut answer = chain.stream("x").head(0, secs(0)).await.unwrap();
    while answer.next().await.is_some() {
        assert_eq!(INSIDE.get(), 0, "the consumer is in no span");
    }
    let said = log.lines(|line| line.text.contains("a chunk"));
    assert_eq!(said.len(), 6);
    assert!(said.iter().all(|line| line.inside > 0), "{said:?}");
}

#[tokio::test]
async fn a_timeout_that_is_not_below_the_cooldown_is_warned_of_when_the_chain_is_built() {
    let log = Log::begin();
    let provider = MockProvider::new("p", [Step::text("hi")]);
    let build = |seconds| Chain::builder().target(provider.clone().model("m").timeout(secs(seconds))).build();
    build(44).unwrap();
    assert!(log.lines(|line| line.level == Level::WARN).is_empty());
    build(45).unwrap();
    let warned = log.lines(|line| line.level == Level::WARN);
    assert!(warned.len() == 1 && warned[0].text.contains("45 s is not below"), "{warned:?}");
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_opens_is_warned_of_once_and_what_it_turns_away_is_for_debugging() {
    let log = Log::begin();
    let config = BreakerConfig::builder().consecutive_failures(2).jitter(0.0).build().unwrap();
    let registry = Registry::builder().config(config).build();
    let provider = MockProvider::new("p", [Step::fail(FailureKind::Overloaded)]);
    let chain = || Chain::builder().target(provider.clone().model("m")).breakers(&registry).build().unwrap();
    let chains = [chain(), chain(), chain()];
    for chain in &chains {
        chain.complete("x").await.unwrap_err();
    }
    let warned = log.lines(|line| line.level == Level::WARN);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert_eq!(warned[0].target, "backstop");
    assert!(
        warned[0].text.contains("breaker p/m: closed -> open for 45.0s: 2 failures in a row"),
        "{warned:?}"
    );
    let skipped = log.lines(|line| line.level == Level::DEBUG);
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(skipped[0].text.contains("target_id=p/m reason=breaker open, for 45 s"), "{skipped:?}");
}

#[tokio::test(start_paused = true)]
async fn a_latched_credential_is_one_alert_however_many_calls_find_out() {
    let log = Log::begin();
    let rejected = || {
        ProviderError::new(FailureKind::Authentication, "no").with_status(401).with_code("invalid_api_key")
    };
    let provider = MockProvider::new("p", [Step::error(rejected).after(secs(1))]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let calls: Vec<_> = (0..16).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    for call in calls {
        call.await.unwrap().unwrap_err();
    }
    chain.complete("x").await.unwrap_err();
    assert_eq!(provider.calls(), 16);
    let alerts = log.lines(|line| line.target == "backstop::alert");
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0].level, Level::ERROR);
    for part in ["target_id=p/m", "call_id=", "kind=authentication", "status=401", "code=\"invalid_api_key\""]
    {
        assert!(alerts[0].text.contains(part), "{part} is missing: {alerts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_answers_and_keys_are_in_no_event_and_no_span() {
    let log = Log::begin();
    let told = |kind| {
        Step::error(move || ProviderError::new(kind, "key KEY-TEXT was rejected for the prompt PROMPT-TEXT"))
    };
    let kinds = FailureKind::ALL.into_iter().filter(|kind| !kind.is_soft());
    let junk = ["ANSWER-TEXT one", "ANSWER-TEXT two"].map(Step::text);
    for step in kinds.map(told).chain(junk) {
        let provider = MockProvider::new("p", [step]);
        let chain = Chain::builder().target(provider.model("m")).build().unwrap();
        let picky = validator::from_fn(|answer: Candidate<'_>| -> Result<(), Rejection> {
            Err(Rejection::not_json(format!("`{}` is no JSON", answer.text())).with_feedback("FEEDBACK-TEXT"))
        });
        let request = Request::new("PROMPT-TEXT").system("SYSTEM-TEXT").message(Message::user("PROMPT-TEXT"));
        chain.call(request, picky).tenant("TENANT-TEXT").tag("tag", "TAG-TEXT").await.unwrap_err();
    }
    let lines = log.lines(|_| true);
    assert!(lines.iter().any(|line| line.target == "backstop::alert"));
    let leaks: Vec<_> = lines.iter().filter(|line| line.text.contains("-TEXT")).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
}
