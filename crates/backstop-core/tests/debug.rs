//! No `Debug` of a public type shows prompts, answers or secrets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{collections::BTreeSet, fmt::Debug, fs, future::IntoFuture, path::Path};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Candidate, Chain, ChunkStream, Failure, Interrupted, Media, Message, OnInterrupt, Overlay, Part,
    PromptParts, PromptTemplate, Provider, ProviderError, ProviderExt, Reask, Rejection, Request, Response,
    StreamEvent, Tool, ToolCall, ToolResult, ValidatorExt, chunk, message::MediaSource, validator,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

/// Stands in whatever a caller or a model has written, and in secrets.
const MAGIC: &str = "xyzzy";

/// Types without text of prompts and answers: numbers, settings, kinds, and names that the configuration gives.
const PLAIN: &[&str] = &[
    // Settings, and what is built of them.
    "AdaptiveTimeout BreakerBuilder BreakerConfig BreakerConfigBuilder BreakerConfigError BreakerKey BudgetConfig",
    "Capabilities ChainBuilder ConfigError FailurePolicy Hedge OnInterrupt QualityWindows RegistryBuilder RetryPolicy",
    "Rule StructuredOutput Target TargetId Text",
    // What is remembered.
    "Breaker BudgetSnapshot ChainSnapshot Credential CredentialId CredentialKey CredentialSnapshot Gate GateKey",
    "GateSnapshot Latch MemberSnapshot Registry RegistrySnapshot Snapshot Subscription TargetSnapshot WindowCounts",
    "Admission Evidence LeaseAnswer LeaseRequest LeaseToken LeaseVerdict Outcome Permit QualityPermit QualitySkip",
    "Reason RejectReason Rejected SharedStatus State Transition",
    "ManualClock SystemClock TokioClock",
    // Kinds and decisions.
    "AttemptOutcome BreakerEffect CacheHint CallId CallOutcome ChainErrorKind ChangeClass Closing Decision DecisionContext",
    "Disposition FailureKind FinishKind FinishReason GateEffect LimitedBy Remedy Risk Role Shown Skip SkipRecord Stage",
    "ToolChoice Usage Why",
    // Reports, whose messages name what happened, and what they are made of.
    "AttemptRecord Change Changes Event Progress PromptError Report",
];

/// Answers whatever it is asked with the magic word; streams break off after it.
struct Parrot;

#[async_trait]
impl Provider for Parrot {
    fn name(&self) -> &str {
        "parrot"
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        Ok(response())
    }

    async fn stream(&self, _: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        Ok(chunk::whole(response()).take(2).boxed())
    }
}

fn response() -> Response {
    let call = ToolCall::new("1", "f", json!({ "x": MAGIC }).to_string()).with_signature(MAGIC);
    Response::new(MAGIC).with_tool_call(call).with_raw(json!(MAGIC))
}

fn request() -> Request {
    let tool = Tool::new("f", json!({ "description": MAGIC })).description(MAGIC);
    let turn = Message::assistant(MAGIC).part(Media::from_url("image/png", MAGIC));
    Request::new(MAGIC)
        .system(MAGIC)
        .message(turn.part(Part::ToolCall(ToolCall::new("1", "f", MAGIC))))
        .message(Message::tool_result(ToolResult::new(&ToolCall::new("1", "f", MAGIC), MAGIC)))
        .json_schema("s", json!({ "description": MAGIC }))
        .tool(tool)
        .stop(MAGIC)
        .metadata("user", MAGIC)
        .extra_header("authorization", MAGIC)
        .extra_body("p", "extra", MAGIC)
}

/// What is printed, under the type's name.
struct Table(Vec<(&'static str, String)>);

impl Table {
    fn row(&mut self, name: &'static str, value: impl Debug) {
        self.0.push((name, format!("{value:?} {value:#?}")));
    }
}

async fn table() -> Table {
    let (request, response) = (request(), response());
    let mut table = Table(Vec::new());
    asked(&mut table, &request);
    prompts(&mut table);
    judged(&mut table, &request, &response);
    called(&mut table, &request).await;
    table.row("Response", &response);
    for event in chunk::whole(response).collect::<Vec<_>>().await {
        table.row("Chunk", event.unwrap());
    }
    table
}

fn asked(table: &mut Table, request: &Request) {
    let mut overlay = Overlay::new();
    overlay.feedback = request.messages.clone();
    let mut attempt = Attempt::new("m", request);
    attempt.overlay = &overlay;
    table.row("Attempt", &attempt);
    table.row("Overlay", &overlay);
    table.row("Request", request);
    table.row("RequestBody", &**request);
    table.row("Output", &request.output);
    let backstop_core::Output::Schema(schema) = &request.output else { panic!("{:?}", request.output) };
    table.row("OutputSchema", schema);
    table.row("Tool", &request.tools[0]);
    for message in &request.messages {
        table.row("Message", message);
        for part in &message.parts {
            table.row("Part", part);
            match part {
                Part::Image(media) => table.row("Media", media),
                Part::ToolCall(call) => table.row("ToolCall", call),
                Part::ToolResult(result) => table.row("ToolResult", result),
                _ => {}
            }
        }
    }
    table.row("Media", Media::image("image/png", MAGIC).named(MAGIC));
    table.row("MediaSource", MediaSource::Base64(MAGIC.into()));
    table.row("MediaSource", MediaSource::Url(MAGIC.into()));
}

fn prompts(table: &mut Table) {
    let parts = |parts: PromptParts| parts.system(MAGIC).user(MAGIC).example(MAGIC, MAGIC);
    table.row("PromptParts", parts(PromptParts::default()));
    let builder = PromptTemplate::builder()
        .system(MAGIC)
        .example(MAGIC, MAGIC)
        .user("{{value}}")
        .json_schema("s", json!({ "description": MAGIC }))
        .for_provider("p", parts);
    table.row("PromptBuilder", &builder);
    let template = builder.build().unwrap();
    table.row("Request", template.render([("value", MAGIC)]).unwrap());
    table.row("PromptTemplate", template);
    table.row("Reask", Reask::new(format!("{MAGIC} {{errors}}")).unwrap());
}

fn judged(table: &mut Table, request: &Request, response: &Response) {
    let value = json!({ "total": MAGIC });
    table.row("Candidate", Candidate::new(response, request).with_value(&value));
    let rejection = Rejection::new("too short").with_feedback(MAGIC);
    table.row("Failure", Failure::Soft(rejection.clone()));
    table.row("Rejection", rejection);
    table.row("ProviderError", ProviderError::new(backstop_core::FailureKind::Server, "down"));
    let text = validator::from_fn(|answer: Candidate<'_>| Ok(answer.text().to_owned()));
    let verified = text.verify(|text| if text == MAGIC { Ok(()) } else { Err(Rejection::empty()) });
    table.row("Verify", &verified);
    table.row("BoxValidator", verified.boxed());
    table.row("FromFn", validator::from_fn(|_: Candidate<'_>| Ok(MAGIC)));
}

async fn called(table: &mut Table, request: &Request) {
    let chain = Chain::builder().target(Parrot.model("m").retries(0).reasks(0)).build().unwrap();
    table.row("Chain", &chain);
    let read = validator::from_fn(|answer: Candidate<'_>| Ok(json!({ "text": answer.text() })));
    let call = chain.call(request, read);
    table.row("Call", &call);
    let answer: backstop_core::Answer<Value> = call.await.unwrap();
    assert_eq!(answer.value["text"], MAGIC);
    table.row("Answer", answer);

    let bad = |_: Candidate<'_>| -> Result<(), _> { Err(Rejection::new("no").with_feedback(MAGIC)) };
    table.row("ChainError", chain.call(request, validator::from_fn(bad)).await.unwrap_err());

    let call = chain.stream(Request::new(MAGIC)).head(0, Default::default());
    table.row("StreamCall", &call);
    let mut stream = call.on_interrupt(OnInterrupt::Error).into_future().await.unwrap();
    table.row("AnswerStream", &stream);
    let mut interrupted: Option<Interrupted> = None;
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => table.row("StreamEvent", event),
            Err(error) => interrupted = Some(error),
        }
    }
    let interrupted = interrupted.expect("the stream was cut");
    assert_eq!(interrupted.text, MAGIC);
    table.row("Interrupted", interrupted);
    let anything = validator::from_fn(|answer: Candidate<'_>| Ok(answer.text().to_owned()));
    let (call, accepted) = chain.stream(Request::new(MAGIC)).validated(anything);
    table.row("StreamCall", call);
    table.row("Accepted", accepted);
    for event in [StreamEvent::Delta(MAGIC.into()), StreamEvent::Reasoning(MAGIC.into())] {
        table.row("StreamEvent", event);
    }
}

#[tokio::test]
async fn nothing_that_was_asked_or_answered_is_printed() {
    for (name, shown) in table().await.0 {
        assert!(!shown.contains(MAGIC), "{name}: {shown}");
        assert!(!shown.is_empty(), "{name}");
    }
}

/// The public types of these sources.
fn public_types(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            public_types(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.lines().filter_map(|line| {
                let rest = line.trim_start().strip_prefix("pub ")?;
                let rest = rest.strip_prefix("struct ").or_else(|| rest.strip_prefix("enum "))?;
                rest.split(|next: char| !next.is_alphanumeric()).next()
            });
            found.extend(names.map(str::to_owned));
        }
    }
}

#[tokio::test]
async fn every_public_type_is_in_the_table_or_known_to_hold_no_text() {
    let mut types = BTreeSet::new();
    public_types(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut types);
    let table = table().await;
    let known = table.0.iter().map(|(name, _)| *name).chain(PLAIN.iter().flat_map(|row| row.split(' ')));
    let known: BTreeSet<_> = known.map(str::to_owned).collect();
    let (missing, gone) = (&types - &known, &known - &types);
    assert!(missing.is_empty(), "new public types, does their `Debug` hide what it must? {missing:?}");
    assert!(gone.is_empty(), "no longer public: {gone:?}");
}
