//! The same answers as a stream.

use backstop::{
    CacheHint, Chunk, FailureKind, FinishKind, Tool,
    mock::server::{ApiError, Completion, End, Format, Reply, Streaming},
    prelude::*,
};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use crate::{
    adapters::{EndMark, Has},
    bench::every,
};

const TEXT: &str = "naïve — 日本語 👩‍👩‍👧, \"quoted\"\nand done.";

#[tokio::test]
async fn a_stream_says_what_the_whole_answer_says_however_it_is_cut() {
    every(async |bench| {
        let completion = Completion::text(TEXT).reasoning("hm").tokens(12, 7).model("served");
        let whole = bench.answered(completion.clone()).await.unwrap();
        for bytes in [1, 2, 7, 64, usize::MAX] {
            let streaming = Streaming::new().piece_chars(3).keep_alives(1).write_bytes(bytes);
            let streamed = bench.streamed(Reply::from(completion.clone()).streamed(streaming)).await;
            assert_eq!(streamed.text(), whole.text, "{bytes} bytes at a time");
            assert_eq!((streamed.usage(), streamed.end()), (whole.usage, Some(&whole.finish)));
            let (model, request_id) = streamed.meta();
            assert_eq!(model, whole.model.as_deref());
            assert_eq!(request_id.is_some(), whole.request_id.is_some());
            let empty = |chunk: &Chunk| matches!(chunk, Chunk::Text(text) if text.is_empty());
            assert!(!streamed.chunks.iter().any(empty), "an empty piece is no content");
        }
        assert!(bench.received().is_stream());
    })
    .await;
}

/// A text with its stream: characters a piece, keep-alives between pieces, bytes a write.
fn any_stream() -> impl Strategy<Value = (String, Streaming)> {
    let text = "[a-z ]{0,3}\\PC{1,30}[.\n\t\"\\\\é日👩🏽]{0,4}z";
    (text, 1..12_usize, 0..3_usize, 1..90_usize).prop_map(|(text, chars, keep_alives, bytes)| {
        (text, Streaming::new().piece_chars(chars).keep_alives(keep_alives).write_bytes(bytes))
    })
}

#[tokio::test]
async fn any_text_comes_through_any_borders_between_pieces_and_writes() {
    every(async |bench| {
        let mut runner = TestRunner::new(Config::default());
        for _ in 0..40 {
            let (text, streaming) = any_stream().new_tree(&mut runner).unwrap().current();
            let completion = Completion::text(&text).tokens(12, 7);
            let whole = bench.streamed(completion.clone()).await;
            let cut = bench.streamed(Reply::from(completion).streamed(streaming.clone())).await;
            assert_eq!((whole.text(), cut.text()), (text.clone(), text.clone()), "{streaming:?}");
            assert_eq!((cut.usage(), cut.end()), (whole.usage(), whole.end()), "{text:?} {streaming:?}");
            assert!(cut.error.is_none() && cut.meta().0 == whole.meta().0, "{text:?} {streaming:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_stream_notes_usage_and_request_id() {
    every(async |bench| {
        bench.answers(Completion::text("blue").tokens(12, 3));
        let request = Request::new("x");
        let attempt = bench.attempt(&request);
        let stream = bench.provider.stream(&attempt).await.unwrap();
        futures_util::StreamExt::collect::<Vec<_>>(stream).await;
        let (request_id, usage) = attempt.progress.take();
        assert_eq!(usage, Some(Usage::new(12, 3)));
        assert_eq!(request_id.is_some(), bench.adapter.vendor.request_id.is_there());
    })
    .await;
}

#[tokio::test]
async fn what_could_not_be_honoured_is_noted_with_a_stream_too() {
    every(async |bench| {
        let marked = Message::user("x").cached(CacheHint::Long);
        let request = Request::default().message(marked).metadata("a", "b").temperature(0.5).seed(1);
        let whole = bench.answers(Reply::text("blue")).complete(&request).await.unwrap();
        let streamed = bench.stream(&request).await;
        let notes = |chunk: &Chunk| match chunk {
            Chunk::Note(note) => Some(note.clone()),
            _ => None,
        };
        assert_eq!(streamed.chunks.iter().filter_map(notes).collect::<Vec<_>>(), whole.notes);
        assert_eq!(whole.notes.is_empty(), bench.adapter.format == Format::Ollama, "{:?}", whole.notes);
    })
    .await;
}

#[tokio::test]
async fn tool_calls_come_in_pieces_that_fit_together() {
    every(async |bench| {
        let request = Request::new("x").tool(Tool::new("f", json!({ "type": "object", "properties": {} })));
        let completion = Completion::text("Let me see.")
            .tool_call("f", r#"{"city":"Köln","days":[1,2]}"#)
            .tool_call("g", r#"{"n":7}"#);
        for bytes in [1, usize::MAX] {
            let reply = Reply::from(completion.clone()).streamed(Streaming::new().write_bytes(bytes));
            let streamed = bench.answers(reply).stream(&request).await;
            let calls = streamed.tool_calls();
            assert_eq!(streamed.text(), "Let me see.");
            let names: Vec<_> = calls.iter().map(|(_, name, _)| name.as_str()).collect();
            assert_eq!(names, ["f", "g"]);
            assert!(!calls[0].0.is_empty() && calls[0].0 != calls[1].0);
            let arguments: Vec<Value> =
                calls.iter().map(|call| serde_json::from_str(&call.2).unwrap()).collect();
            assert_eq!(arguments, [json!({ "city": "Köln", "days": [1, 2] }), json!({ "n": 7 })]);
            assert_eq!(streamed.end().map(|end| end.kind), Some(FinishKind::ToolCalls));
        }
    })
    .await;
}

#[tokio::test]
async fn refusals_limits_and_filters_end_a_stream_as_they_end_an_answer() {
    every(async |bench| {
        for completion in [
            Completion::refusal("I can't do that."),
            Completion::truncated("half an"),
            Completion::filtered("half"),
            Completion::empty(),
        ] {
            let whole = bench.answered(completion.clone()).await.unwrap();
            let streamed = bench.streamed(completion).await;
            assert_eq!((streamed.text(), streamed.end()), (whole.text, Some(&whole.finish)), "{streamed:?}");
            let refused = streamed.chunks.iter().any(|chunk| matches!(chunk, Chunk::Refusal(_)));
            assert_eq!(refused, whole.refusal.is_some(), "{streamed:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_error_in_the_middle_ends_the_stream() {
    every(async |bench| {
        let streaming = Streaming::new().error_after(2, ApiError::overloaded());
        let reply = Reply::from(Completion::pieces(["one ", "two ", "three"])).streamed(streaming);
        let streamed = bench.streamed(reply).await;
        assert_eq!(streamed.text(), "one two ");
        assert_eq!(
            streamed.error.as_ref().map(ProviderError::kind),
            Some(FailureKind::Overloaded),
            "{streamed:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_was_cut_never_looks_complete() {
    every(async |bench| {
        let pieces = || Reply::from(Completion::pieces(["one ", "two ", "three"]));
        let ended = bench.streamed(pieces().streamed(Streaming::new().end_after(2))).await;
        assert_eq!((ended.text().as_str(), ended.end()), ("one two ", None), "{ended:?}");
        for end in [End::Close, End::Reset] {
            let torn = bench.streamed(pieces().cut_at(120, end)).await;
            assert!(torn.error.is_some() && torn.end().is_none(), "{end:?}: {torn:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_mark_of_the_end_counts_where_it_says_more_than_the_finish_reason() {
    every(async |bench| {
        let streamed = bench.streamed(Reply::text("all").streamed(Streaming::new().no_end())).await;
        assert_eq!(streamed.text(), "all");
        let complete = match &bench.adapter.vendor.end_mark {
            Has::Yes(mark) => *mark == EndMark::Dispensable,
            Has::No(_) => true,
        };
        assert_eq!(streamed.end().is_some(), complete, "{streamed:?}");
    })
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    every(async |bench| {
        let completion = Completion::text("all at once").tool_call("f", "{}").tokens(12, 3);
        let whole = Reply::from(completion).streamed(Streaming::new().ignored());
        let streamed = bench.streamed(whole).await;
        assert_eq!((streamed.text().as_str(), streamed.tool_calls().len()), ("all at once", 1));
        assert_eq!(streamed.usage(), Some(Usage::new(12, 3)));
        assert_eq!(streamed.end().map(|end| end.kind), Some(FinishKind::ToolCalls), "{streamed:?}");
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_is_none_is_an_error() {
    every(async |bench| {
        let table = [Reply::events(["data: {broken\n\n"]), Reply::garbage("SSH-2.0-OpenSSH\r\n\r\n")];
        for (index, reply) in table.into_iter().enumerate() {
            let streamed = bench.streamed(reply).await;
            let kind = streamed.error.as_ref().map(ProviderError::kind);
            assert_eq!(kind, Some(FailureKind::MalformedResponse), "reply {index}: {streamed:?}");
        }
    })
    .await;
}
