//! What is printed holds neither prompts nor answers nor keys.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_http::{
    NdjsonDecoder, Post, Reply, SseDecoder, StreamLimits,
    header::{HeaderMap, HeaderValue},
};

const SECRET: &str = "do-not-print";

#[test]
fn requests_replies_and_decoders_print_no_text() {
    let mut headers = HeaderMap::new();
    headers.insert("x-key", HeaderValue::from_static(SECRET));
    let url = format!("https://example.com/v1?key={SECRET}").parse().unwrap();
    let mut post = Post::new(url, SECRET.into());
    post.headers = headers.clone();

    let limits = StreamLimits::new(1 << 10, 1 << 12);
    let (mut events, mut lines) = (SseDecoder::new(limits), NdjsonDecoder::new(limits));
    events.push(format!("data: {SECRET}\n\ndata: {SECRET}").as_bytes());
    lines.push(SECRET.as_bytes());
    let item = format!("{:?}", events.next_item().unwrap().unwrap());
    assert!(events.next_item().is_none() && lines.next_line().is_none());

    let reply = Reply::new(200, headers, SECRET);
    for shown in
        [format!("{post:?}"), format!("{reply:?}"), format!("{events:?}"), format!("{lines:?}"), item]
    {
        assert!(!shown.contains(SECRET), "{shown}");
        assert!(!shown.contains("100, 111, 45"), "as bytes: {shown}");
    }
}
