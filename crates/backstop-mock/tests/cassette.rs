//! What is recorded is played back, and nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, Chain, Chunk, ChunkStream, FailureKind, FinishKind, Message, Provider,
    ProviderError, ProviderExt, Remedy, Request, Response, Stage, ToolCall, Usage,
};
use backstop_mock::{
    MockProvider, Recorder, Replay, Step,
    cassette::{CassetteError, Matching, Unmatched},
};
use futures_util::{StreamExt, stream};

/// A path of the test's own, without a file.
fn path(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cassettes").join(format!("{test}.jsonl"));
    let _ = fs::remove_file(&path);
    path
}

async fn ask(provider: &impl Provider, request: &Request) -> Result<Response, ProviderError> {
    provider.complete(&Attempt::new("m", request)).await
}

fn unmatched(error: &ProviderError) -> Unmatched {
    let source = std::error::Error::source(error).expect("a source");
    source.downcast_ref::<Unmatched>().expect("an `Unmatched`").clone()
}

#[tokio::test]
async fn answers_and_errors_come_back_as_they_were() {
    let path = path("whole");
    let full = || {
        Response::new("blue")
            .with_tool_call(ToolCall::new("1", "f", "{}"))
            .with_usage(Usage::new(3, 1).with_cached(2))
            .with_model("m-1")
            .with_request_id("req-1")
            .with_note("noted")
    };
    let failing = || {
        ProviderError::new(FailureKind::RateLimited, "slow down")
            .with_status(429)
            .with_code("tokens")
            .with_param("p")
            .with_request_id("req-2")
            .with_retry_after(Duration::from_millis(1500))
            .with_server_retry(true)
            .with_remedy(Remedy::DropParam)
            .with_usage(Usage::new(1, 0))
            .with_stage(Stage::Body)
            .as_stale()
    };
    let capabilities = Capabilities::unknown().with_max_output_tokens(9);
    let vendor =
        MockProvider::new("vendor", [Step::response(full()), Step::error(failing)]).capable(capabilities);
    let recorder = Recorder::new(vendor.clone(), &path).unwrap();
    let (first, second) = (Request::new("one"), Request::new("two").temperature(0.5));
    assert_eq!(ask(&recorder, &first).await.unwrap(), full());
    ask(&recorder, &second).await.unwrap_err();
    assert_eq!(vendor.calls(), 2);

    let replay = Replay::open(&path).unwrap();
    assert_eq!((replay.name(), replay.remaining()), ("vendor", 2));
    assert_eq!(replay.capabilities("m"), capabilities);
    assert_eq!(replay.capabilities("other"), Capabilities::unknown());
    // In another order: what is asked decides.
    let error = ask(&replay, &second).await.unwrap_err();
    assert_eq!(ask(&replay, &first).await.unwrap(), full());
    assert_eq!(format!("{error:?}"), format!("{:?}", failing()), "nothing of the error is lost");
    assert_eq!(replay.remaining(), 0);
}

#[tokio::test]
async fn equal_requests_get_their_answers_in_order_and_no_more_than_there_are() {
    let path = path("equal");
    let recorder = Recorder::new(MockProvider::new("v", ["a", "b"].map(Step::text)), &path).unwrap();
    let request = Request::new("x");
    for _ in 0..2 {
        ask(&recorder.clone(), &request).await.unwrap();
    }
    let replay = Replay::open(&path).unwrap();
    assert_eq!(ask(&replay, &request).await.unwrap().text, "a");
    assert_eq!(ask(&replay.clone(), &request).await.unwrap().text, "b");
    let error = ask(&replay, &request).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert_eq!(unmatched(&error).differs, [""; 0]);
    assert!(error.message().contains("line 2 was asked for already"), "{error}");
    let error = ask(&replay, &Request::new("y")).await.unwrap_err();
    assert_eq!(unmatched(&error).nearest, None, "{error}");
}

#[tokio::test]
async fn an_unknown_request_is_told_what_differs_and_shows_nothing() {
    let path = path("unknown");
    let recorder = Recorder::new(MockProvider::new("v", [Step::text("ok")]), &path).unwrap();
    ask(&recorder, &Request::new("far off").system("other").stop("END")).await.unwrap();
    ask(&recorder, &Request::new("private one").max_tokens(5)).await.unwrap();
    let replay = Replay::open(&path).unwrap();
    let error = ask(&replay, &Request::new("private two").max_tokens(6)).await.unwrap_err();
    let found = unmatched(&error);
    assert_eq!(found.nearest, Some(3));
    assert_eq!(found.differs, ["/max_tokens", "/messages/0/parts/0/text"]);
    assert!(error.message().contains("line 3") && error.message().contains("`/max_tokens`"), "{error}");
    assert!(!error.to_string().contains("private"), "{error}");
    assert_eq!(replay.remaining(), 2, "nothing was used up");
    let other = replay.complete(&Attempt::new("m2", &Request::new("private one").max_tokens(5))).await;
    assert_eq!(unmatched(&other.unwrap_err()).differs, ["/model"]);
}

#[tokio::test]
async fn in_order_the_next_answers_whatever_is_asked_of_the_same_model() {
    let path = path("order");
    let recorder = Recorder::new(MockProvider::new("v", ["a", "b"].map(Step::text)), &path).unwrap();
    for text in ["at 10:00", "at 10:01"] {
        ask(&recorder, &Request::new(text)).await.unwrap();
    }
    let replay = Replay::open_with(&path, Matching::InOrder).unwrap();
    assert_eq!(ask(&replay, &Request::new("at 11:00")).await.unwrap().text, "a");
    let request = Request::new("at 11:01");
    let other = replay.complete(&Attempt::new("another", &request)).await.unwrap_err();
    assert!(unmatched(&other).differs.contains(&"/model".to_owned()));
    assert_eq!(ask(&replay, &request).await.unwrap().text, "b");
}

/// Streams what it is given; an error where there is none.
struct Streaming(Vec<Option<Chunk>>);

#[async_trait]
impl Provider for Streaming {
    fn name(&self) -> &str {
        "streaming"
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        Ok(Response::new("whole"))
    }

    async fn stream(&self, _: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let broken = || ProviderError::new(FailureKind::StreamInterrupted, "gone");
        let chunks = self.0.iter().map(|chunk| chunk.clone().ok_or_else(broken)).collect::<Vec<_>>();
        Ok(stream::iter(chunks).boxed())
    }
}

fn chunks() -> Vec<Chunk> {
    vec![
        Chunk::Ping,
        Chunk::Meta { model: Some("m-1".into()), request_id: None },
        Chunk::Reasoning("hm".into()),
        Chunk::Text("bl".into()),
        Chunk::Text("ue".into()),
        Chunk::Refusal("no".into()),
        Chunk::ToolCall { index: 0, id: Some("1".into()), name: None, arguments: "{".into() },
        Chunk::Usage(Usage::new(2, 1)),
        Chunk::End(FinishKind::Stop.into()),
    ]
}

async fn streamed(provider: &impl Provider, request: &Request) -> Vec<Result<Chunk, String>> {
    let chunks = provider.stream(&Attempt::new("m", request)).await.unwrap();
    chunks.map(|chunk| chunk.map_err(|error| error.to_string())).collect().await
}

#[tokio::test]
async fn streams_come_back_chunk_by_chunk() {
    let path = path("streams");
    let provider = Streaming(chunks().into_iter().map(Some).collect());
    let recorder = Recorder::new(provider, &path).unwrap();
    let request = Request::new("x");
    let live = streamed(&recorder, &request).await;
    assert_eq!(live, chunks().into_iter().map(Ok).collect::<Vec<_>>());
    let replay = Replay::open(&path).unwrap();
    let error = ask(&replay, &request).await.unwrap_err();
    assert_eq!(unmatched(&error).differs, ["stream"], "it was not recorded whole");
    assert_eq!(streamed(&replay, &request).await, live);
    assert_eq!(replay.remaining(), 0);
}

#[tokio::test]
async fn a_stream_that_breaks_breaks_again_and_one_whose_reader_stops_at_its_end_is_whole() {
    let path = path("breaks");
    let broken = Streaming(vec![Some(Chunk::Text("a".into())), None]);
    let request = Request::new("x");
    streamed(&Recorder::new(broken, &path).unwrap(), &request).await;
    let played = streamed(&Replay::open(&path).unwrap(), &request).await;
    assert_eq!(played[0], Ok(Chunk::Text("a".into())));
    assert!(played[1].as_ref().unwrap_err().contains("gone") && played.len() == 2, "{played:?}");

    let recorder = Recorder::new(Streaming(chunks().into_iter().map(Some).collect()), &path).unwrap();
    let mut live = recorder.stream(&Attempt::new("m", &request)).await.unwrap();
    while !matches!(live.next().await, Some(Ok(Chunk::End(_)))) {}
    drop(live);
    assert_eq!(streamed(&Replay::open(&path).unwrap(), &request).await.len(), chunks().len());
}

#[tokio::test]
async fn what_was_recorded_whole_can_be_streamed() {
    let path = path("whole-streamed");
    let recorder = Recorder::new(MockProvider::new("v", [Step::text("blue")]), &path).unwrap();
    let request = Request::new("x");
    ask(&recorder, &request).await.unwrap();
    let played = streamed(&Replay::open(&path).unwrap(), &request).await;
    assert!(played.contains(&Ok(Chunk::Text("blue".into()))), "{played:?}");
    assert_eq!(played.last(), Some(&Ok(Chunk::End(FinishKind::Stop.into()))));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_met_again() {
    let path = path("cancelled");
    let hanging = Recorder::new(MockProvider::new("first", [Step::hang(Stage::Headers)]), &path).unwrap();
    let second = || MockProvider::new("second", [Step::text("ok")]).model("m");
    let course = |chain: Chain| async move {
        let answer = chain.complete("x").await.unwrap();
        let kinds: Vec<_> = answer.report.failures().map(|(_, kind)| kind).collect();
        (answer.value, kinds)
    };
    let live = Chain::builder().target(hanging.model("m")).target(second()).build().unwrap();
    let live = course(live).await;
    assert_eq!(live, ("ok".to_owned(), vec![FailureKind::Timeout]));
    let replay = Replay::open(&path).unwrap();
    let again = Chain::builder().target(replay.model("m")).target(second()).build().unwrap();
    assert_eq!(course(again).await, live);
}

#[tokio::test]
async fn what_a_retry_changes_is_part_of_what_is_asked() {
    let path = path("retries");
    let vendor = MockProvider::new("v", [Step::truncated("a"), Step::text("all")]);
    let chain = |provider: Replay| Chain::builder().target(provider.model("m")).build().unwrap();
    let recorded = Chain::builder().target(Recorder::new(vendor, &path).unwrap().model("m")).build().unwrap();
    let request = Request::new("x").max_tokens(5);
    assert_eq!(recorded.complete(&request).await.unwrap().value, "all");
    let replay = Replay::open(&path).unwrap();
    assert_eq!(chain(replay.clone()).complete(&request).await.unwrap().value, "all");
    assert_eq!(replay.remaining(), 0);
}

#[tokio::test]
async fn no_key_and_no_headers_value_is_in_a_cassette() {
    /// A provider with a key, as an adapter keeps it.
    struct Keyed(String);

    #[async_trait]
    impl Provider for Keyed {
        fn name(&self) -> &str {
            "keyed"
        }

        async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
            assert!(!self.0.is_empty());
            Ok(Response::new("ok"))
        }
    }

    let path = path("secrets");
    let recorder = Recorder::new(Keyed("SECRET-key".into()), &path).unwrap();
    let request = Request::default()
        .message(Message::user("What is it?"))
        .message(Message::user("").part(backstop_core::Media::from_url(
            "image/png",
            "https://me:SECRET-user@host.example/cat.png?signature=SECRET-query#SECRET-fragment",
        )))
        .message(Message::user("").part(backstop_core::Media::image("image/png", b"SECRET-pixels")))
        .extra_header("authorization", "Bearer SECRET-header")
        .extra_body("mock", "api_key", "SECRET-body")
        .metadata("user", "SECRET-metadata")
        .for_target("mock", "m");
    ask(&recorder, &request).await.unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("SECRET") && !text.contains("U0VDUkVU"), "{text}");
    assert!(text.contains("authorization") && text.contains("api_key"), "the names are there: {text}");
    assert!(text.contains("What is it?"), "the prompt is there: {text}");
    let shown = format!("{recorder:?} {:?}", Replay::open(&path).unwrap());
    assert!(!shown.contains("SECRET") && !shown.contains("What is it?"), "{shown}");
}

#[tokio::test]
async fn a_cassette_is_whole_after_every_answer_and_replaces_an_older_one() {
    let path = path("atomic");
    let request = Request::new("x");
    for answer in ["old", "new"] {
        let recorder = Recorder::new(MockProvider::new("v", [Step::text(answer)]), &path).unwrap();
        for asked in 1..=3 {
            ask(&recorder, &request).await.unwrap();
            assert_eq!(Replay::open(&path).unwrap().remaining(), asked);
        }
        assert_eq!(ask(&Replay::open(&path).unwrap(), &request).await.unwrap().text, answer);
    }
    let beside = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = beside.filter(|name| name.to_string_lossy().starts_with("atomic.jsonl.")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn what_is_no_cassette_is_refused_and_what_cannot_be_written_fails_the_attempt() {
    let path = path("wrong");
    assert!(matches!(Replay::open(&path), Err(CassetteError::Io { .. })));
    let cases = [("", 0), ("{}\n", 0), ("{\"backstop_cassette\":2,\"provider\":\"v\"}\n", 0)];
    let head = "{\"backstop_cassette\":1,\"provider\":\"v\"}\n";
    let torn = format!("{head}\n{{\"number\":1,\"asked\":{{");
    for (text, wrong) in cases.into_iter().chain([(torn.as_str(), 3)]) {
        fs::write(&path, text).unwrap();
        match Replay::open(&path).unwrap_err() {
            CassetteError::Version { .. } => assert_eq!(wrong, 0, "{text}"),
            CassetteError::Line { line, .. } => assert_eq!(line, wrong, "{text}"),
            other => panic!("{other}"),
        }
    }
    fs::write(&path, head).unwrap();
    assert_eq!(Replay::open(&path).unwrap().remaining(), 0);
    let below_a_file = path.join("x.jsonl");
    let made = Recorder::new(MockProvider::new("v", []), &below_a_file);
    assert!(matches!(made, Err(CassetteError::Io { .. })));
    // A directory stands where the file should.
    let directory = path.with_extension("d");
    fs::create_dir_all(directory.join("full")).unwrap();
    let recorder = Recorder::new(MockProvider::new("v", [Step::text("x")]), &directory).unwrap();
    let error = ask(&recorder, &Request::new("x")).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert!(error.message().contains("cannot be used"), "{error}");
}
