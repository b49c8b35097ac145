//! A key appears in the request's header and nowhere else, whatever fails.

use std::fmt::Write as _;

use backstop::{
    mock::{
        MockServer,
        server::{ApiError, Reply},
    },
    prelude::*,
};
use backstop_tests::Log;

use crate::support::{KEY, chain, provider};

const PROMPT: &str = "prompt-text-3141592";
const ANSWER: &str = "answer-text-2718281";

#[tokio::test(flavor = "current_thread")]
async fn neither_key_nor_prompt_nor_answer_is_in_debug_errors_reports_or_logs() {
    let (log, _guard) = Log::begin();
    let echo = format!("Incorrect API key provided: {KEY}. You sent: {PROMPT}");
    let faults: Vec<Reply> = vec![
        Reply::from(ApiError::bad_key().message(&echo)),
        Reply::from(ApiError::invalid_request().message("Invalid value")),
        Reply::from(ApiError::server()),
        Reply::text(ANSWER),
        Reply::refusal(ANSWER),
        Reply::html(502, format!("<html>{ANSWER}</html>")),
    ];
    let mut shown = String::new();
    for fault in faults {
        let server = MockServer::start().await.unwrap();
        server.push(fault);
        let chain = chain(&[&server]);
        let request = Request::new(PROMPT).system(PROMPT).extra_header("x-secret", KEY);
        let call = chain.extract::<Vec<u8>>(request);
        write!(shown, "{call:?}\n{chain:?}\n{:?}\n", provider(&server)).unwrap();
        let error = call.await.unwrap_err();
        write!(shown, "{error}\n{error:?}\n{}\n", error.report()).unwrap();
        writeln!(shown, "{}", serde_json::to_string(error.report()).unwrap()).unwrap();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            write!(shown, "{cause}\n{cause:?}\n").unwrap();
            source = cause.source();
        }
        assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
    shown.push_str(&log.text());
    assert!(shown.contains("backstop"), "nothing was logged");
    assert!(!shown.contains(KEY), "the key is shown:\n{shown}");
    assert!(!shown.contains(ANSWER), "an answer is shown:\n{shown}");
    let prompts = shown.matches(PROMPT).count();
    assert_eq!(prompts, shown.matches(&format!("You sent: {PROMPT}")).count(), "a prompt is shown:\n{shown}");
}

#[test]
fn a_key_with_a_newline_is_a_config_error_that_does_not_print_it() {
    for key in [format!("{KEY}\n"), format!("{KEY}\r\nx: y"), String::new(), "  ".to_owned()] {
        let error = OpenAi::builder().api_key(&key).build().unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert!(shown.to_lowercase().contains("key"), "{shown}");
    }
}
