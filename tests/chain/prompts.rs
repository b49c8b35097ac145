//! One request, as each target gets it: templates and adapted requests.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use backstop_core::{
    CacheHint, Capabilities, Chain, FailureKind, Hedge, Media, Message, Output, PromptTemplate, ProviderExt,
    Request, Response, StreamEvent, Target, Usage,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{course, millis};
use futures_util::StreamExt;
use serde_json::json;

fn failing(name: &'static str) -> MockProvider {
    MockProvider::new(name, [Step::fail(FailureKind::Server)])
}

fn answering(name: &'static str) -> MockProvider {
    MockProvider::new(name, [Step::text(name)])
}

fn system(provider: &MockProvider) -> Vec<String> {
    provider.seen().iter().map(|seen| seen.request.system.clone().unwrap_or_default()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_template_is_rendered_for_each_target_and_stays_so_when_it_is_asked_again() {
    let template = PromptTemplate::builder()
        .system("for all")
        .user("{{question}}")
        .for_provider("second", |parts| parts.system("for second").user("Q: {{question}}"))
        .for_model("third", "small*", |parts| parts.system("for small"))
        .build()
        .unwrap();
    let (first, second, third) = (failing("first"), failing("second"), answering("third"));
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.clone().model("m"))
        .target(third.clone().model("small-2"))
        .build()
        .unwrap();
    let answer = chain.complete(template.render([("question", "why?")]).unwrap()).await.unwrap();
    assert_eq!(answer.value, "third");
    assert_eq!(system(&first), ["for all"; 2]);
    assert_eq!(system(&second), ["for second"; 2]);
    assert_eq!(system(&third), ["for small"]);
    let asked = |provider: &MockProvider| provider.seen()[0].last_text();
    assert_eq!([asked(&first), asked(&second), asked(&third)], ["why?", "Q: why?", "why?"]);
}

#[tokio::test(start_paused = true)]
async fn an_adapted_request_is_made_once_for_a_call_and_seen_by_its_target_only() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let (first, second) = (failing("first"), answering("second"));
    let adapted = first.clone().model("m").adapt(move |request| {
        count.fetch_add(1, Ordering::SeqCst);
        request.system("adapted").temperature(0.5)
    });
    let adapted = adapted.adapt(|request| {
        let longer = format!("{} twice", request.system.as_deref().unwrap_or_default());
        request.system(longer)
    });
    let chain = Chain::builder().target(adapted).target(second.clone().model("m")).build().unwrap();
    let request = Request::new("x").system("plain");
    chain.complete(&request).await.unwrap();
    assert_eq!(system(&first), ["adapted twice"; 2], "the retry too");
    assert_eq!(first.seen()[1].request.temperature, Some(0.5));
    assert_eq!(made.load(Ordering::SeqCst), 1);
    assert_eq!(system(&second), ["plain"]);
    assert!(second.seen()[0].request.ptr_eq(&request), "nothing was copied for the other");
    chain.complete(&request).await.unwrap();
    assert_eq!(made.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_target_that_cannot_do_something_is_asked_if_its_request_does_not_need_it() {
    let blind = |adapt: bool| {
        let provider = answering("blind").capable(Capabilities::unknown().with_images(false));
        let target = provider.model("m");
        let without = |mut request: Request| {
            request.body_mut().messages.iter_mut().for_each(|message| message.parts.truncate(1));
            request
        };
        if adapt { target.adapt(without) } else { target }
    };
    let seen_by = |target: Target| async move {
        let chain = Chain::builder().target(target).target(answering("seeing").model("m")).build().unwrap();
        let picture = Message::user("What is it?").part(Media::image("image/png", b"x"));
        chain.complete(Request::default().message(picture)).await.unwrap().value
    };
    assert_eq!(seen_by(blind(false)).await, "seeing");
    assert_eq!(seen_by(blind(true)).await, "blind");
}

#[tokio::test(start_paused = true)]
async fn answers_are_judged_by_the_callers_request() {
    let provider = MockProvider::new("p", [Step::tool_call("look_up", "{}")]);
    let adapted = provider.clone().model("m").adapt(|request| request.output(Output::Json)).reasks(0);
    let chain = Chain::builder().target(adapted).build().unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(answer.response.tool_calls.len(), 1, "text was asked for, so a tool call is content");
    assert_eq!(provider.seen()[0].request.output, Output::Json);
}

#[tokio::test(start_paused = true)]
async fn a_larger_limit_starts_from_the_adapted_one() {
    let provider = MockProvider::new("p", [Step::truncated("a"), Step::text("all")]);
    let chain =
        Chain::builder().target(provider.clone().model("m").adapt(|request| request.max_tokens(50))).build();
    chain.unwrap().complete(Request::new("x").max_tokens(7)).await.unwrap();
    let limits: Vec<_> = provider.seen().iter().map(|seen| seen.max_tokens).collect();
    assert_eq!(limits, [Some(50), Some(100)]);
}

#[tokio::test(start_paused = true)]
async fn hedged_targets_get_their_own_requests() {
    let slow = MockProvider::new("slow", [Step::text("slow").after(millis(5_000))]);
    let quick = answering("quick");
    let chain = Chain::builder()
        .target(slow.clone().model("m").adapt(|request| request.system("for slow")))
        .target(quick.clone().model("m").adapt(|request| request.system("for quick")))
        .hedge(Hedge::after(millis(100)))
        .build()
        .unwrap();
    assert_eq!(chain.complete("x").await.unwrap().value, "quick");
    assert_eq!((system(&slow), system(&quick)), (vec!["for slow".into()], vec!["for quick".into()]));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_says_that_a_marked_prompt_was_read_without_its_cache() {
    let notes = |request: Request, usage: Usage| async move {
        let served = Step::response(Response::new("ok")).usage(usage);
        let chain = Chain::builder()
            .target(failing("first").model("m").retries(0))
            .target(MockProvider::new("second", [served]).model("m"))
            .build()
            .unwrap();
        let answer = chain.complete(request).await.unwrap();
        assert_eq!(course(&answer.report), [("first/m", Some(FailureKind::Server)), ("second/m", None)]);
        let noted = answer.report.attempts[1].notes.clone();
        assert_eq!(noted, answer.response.notes);
        noted
    };
    let plain = || Request::new("x").system("long");
    let marked = || plain().cache_system(CacheHint::Short);
    let cold = notes(marked(), Usage::new(900, 5)).await;
    assert_eq!(cold, ["the prompt was read without a cache: what is cached of it at first/m was of no use"]);
    let message = Request::default().message(Message::user("x").cached(CacheHint::Long));
    assert_eq!(notes(message, Usage::new(900, 5)).await.len(), 1);
    assert!(notes(plain(), Usage::new(900, 5)).await.is_empty(), "nothing was marked");
    assert!(notes(marked(), Usage::new(900, 5).with_cached(800)).await.is_empty(), "it was warm there too");
    let chain = Chain::builder().target(answering("only").model("m")).build().unwrap();
    assert!(chain.complete(marked()).await.unwrap().response.notes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_templates_schema_is_the_same_for_all_targets() {
    let template = PromptTemplate::builder()
        .user("x")
        .json_schema("thing", json!({ "type": "object", "description": "about {{what}}" }))
        .for_provider("second", |parts| parts.system("JSON, please."))
        .build()
        .unwrap();
    let (first, second) = (failing("first"), MockProvider::new("second", [Step::text("{}")]));
    let targets = [first.clone().model("m").retries(0), second.clone().model("m")];
    let chain =
        targets.into_iter().fold(Chain::builder(), |chain, target| chain.target(target)).build().unwrap();
    chain.complete(template.render([("what", "tea")]).unwrap()).await.unwrap();
    let output = |provider: &MockProvider| provider.seen()[0].request.output.clone();
    assert_eq!(output(&first), output(&second));
    assert!(matches!(output(&first), Output::Schema(schema) if schema.schema["description"] == "about tea"));
}

#[tokio::test(start_paused = true)]
async fn streams_get_the_same_requests_and_the_same_note() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let (first, second) = (failing("first"), answering("second"));
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.clone().model("m").adapt(move |request| {
            count.fetch_add(1, Ordering::SeqCst);
            request.system("adapted")
        }))
        .build()
        .unwrap();
    let request = Request::new("x").system("long").cache_system(CacheHint::Short);
    let events: Vec<_> = chain.stream(request).await.unwrap().collect().await;
    assert_eq!((system(&first), system(&second)), (vec!["long".into(); 2], vec!["adapted".to_owned()]));
    assert_eq!(made.load(Ordering::SeqCst), 1);
    let Some(Ok(StreamEvent::Finished { report, .. })) = events.last() else { panic!("{events:?}") };
    let notes = report.attempts.last().unwrap().notes.join("; ");
    assert!(notes.contains("what is cached of it at first/m was of no use"), "{notes}");
}
