//! Streams as the adapters read them.

use backstop::{
    Chunk, FinishKind,
    mock::{
        MockServer,
        server::{Completion, Reply, Streaming},
    },
    prelude::*,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::support::{ask, openai, over, server};

async fn streamed(server: &MockServer) -> Result<Vec<Chunk>, ProviderError> {
    let request = Request::new("x");
    let stream = openai(server).stream(&Attempt::new("m", &request)).await?;
    stream.collect::<Vec<_>>().await.into_iter().collect()
}

fn text(chunks: &[Chunk]) -> String {
    chunks
        .iter()
        .filter_map(|chunk| if let Chunk::Text(text) = chunk { Some(text.as_str()) } else { None })
        .collect()
}

fn usage(chunks: &[Chunk]) -> Option<Usage> {
    chunks.iter().rev().find_map(|chunk| if let Chunk::Usage(usage) = chunk { Some(*usage) } else { None })
}

fn finish(chunks: &[Chunk]) -> Option<FinishKind> {
    chunks.iter().find_map(|chunk| if let Chunk::End(finish) = chunk { Some(finish.kind) } else { None })
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn delta(content: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {"content": content}}]}))
}

fn stop() -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
}

const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn st_08_chunks_without_choices_are_read_for_what_they_hold() {
    let counts = event(&json!({"choices": [], "usage": {"prompt_tokens": 6, "completion_tokens": 2}}));
    let annotations = event(&json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}));
    let first = server([Reply::events([annotations, delta("ok"), stop(), counts, DONE.to_owned()])]).await;
    let chunks = streamed(&first).await.unwrap();
    assert_eq!((text(&chunks).as_str(), finish(&chunks)), ("ok", Some(FinishKind::Stop)));
    assert_eq!(usage(&chunks), Some(Usage::new(6, 2)));
}

#[tokio::test]
async fn st_09_a_stream_without_counts_has_none_rather_than_zero() {
    let first = server([Reply::events([delta("o"), delta("k"), stop(), DONE.to_owned()])]).await;
    let chunks = streamed(&first).await.unwrap();
    assert_eq!(
        (text(&chunks).as_str(), finish(&chunks), usage(&chunks)),
        ("ok", Some(FinishKind::Stop), None)
    );
}

#[tokio::test]
async fn st_10_running_totals_are_replaced_and_not_added_up() {
    let piece = |content: &str, count: u64| {
        let usage = json!({"prompt_tokens": 5, "completion_tokens": count});
        event(&json!({"choices": [{"index": 0, "delta": {"content": content}}], "usage": usage}))
    };
    let events = [piece("a", 1), piece("b", 2), piece("c", 3), stop(), DONE.to_owned()];
    let first = server([Reply::events(events)]).await;
    let chunks = streamed(&first).await.unwrap();
    assert_eq!((text(&chunks).as_str(), usage(&chunks)), ("abc", Some(Usage::new(5, 3))));
}

#[tokio::test]
async fn st_11_characters_may_be_cut_by_the_network_at_any_byte() {
    const TEXT: &str = "日本語 🦀 é";
    for bytes in [1, 2, 3, 5, 7] {
        let reply = Reply::from(Completion::text(TEXT)).streamed(Streaming::new().write_bytes(bytes));
        let first = server([reply]).await;
        assert_eq!(text(&streamed(&first).await.unwrap()), TEXT, "{bytes} bytes at a time");
    }
}

#[tokio::test]
async fn st_12_only_line_feeds_and_carriage_returns_end_lines() {
    const TEXT: &str = "one\u{2028}two\u{85}three\u{2029}four\u{b}five";
    let data = json!({"choices": [{"index": 0, "delta": {"content": TEXT}}]}).to_string();
    let cut = data.find(':').unwrap() + 1;
    let (head, tail) = data.split_at(cut);
    let forms = [
        format!("data: {data}\n\n"),
        format!("data:{data}\n\n"),
        format!("data: {data}\r\n\r\n"),
        format!("data: {data}\r\r"),
        format!(": a comment\nevent: x\nid: 7\ndata: {head}\ndata: {tail}\n\n"),
    ];
    for form in forms {
        let first = server([Reply::events([form.clone(), stop(), DONE.to_owned()])]).await;
        assert_eq!(text(&streamed(&first).await.unwrap()), TEXT, "{form:?}");
    }
}

#[tokio::test]
async fn st_17_an_answer_of_the_other_shape_than_was_asked_for_is_understood() {
    let events = || Reply::events([delta("o"), delta("k"), stop(), DONE.to_owned()]);
    let first = server([events()]).await;
    assert_eq!(over(&[&first]).complete("x").await.unwrap().value, "ok");
    assert_eq!(ask(&openai(&first), "m").await.unwrap().finish.kind, FinishKind::Stop);

    let whole = Reply::from(Completion::text("ok")).streamed(Streaming::new().ignored());
    let second = server([whole]).await;
    let chunks = streamed(&second).await.unwrap();
    assert_eq!((text(&chunks).as_str(), finish(&chunks)), ("ok", Some(FinishKind::Stop)));
}
