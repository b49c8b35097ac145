//! Settings that users get wrong, and what must not leak when they do.

use std::{fmt::Write as _, process::Command};

use backstop::{
    mock::{
        MockServer,
        server::{ApiError, ClosedPort, Reply},
    },
    openai::ClientOptions,
    prelude::*,
};
use backstop_tests::Log;

use crate::support::{KEY, answering, ask, at, chain, gemini, server};

#[tokio::test]
async fn cf_01_a_base_url_may_be_written_in_every_way_that_is_common() {
    let server = answering("ok").await;
    let cases = [
        ("", "/v1/chat/completions", None),
        ("/", "/v1/chat/completions", None),
        ("/v1", "/v1/chat/completions", None),
        ("/v1/", "/v1/chat/completions", None),
        ("/api/v1", "/api/v1/chat/completions", None),
        (
            "/openai/deployments/d?api-version=1",
            "/openai/deployments/d/chat/completions",
            Some("api-version=1"),
        ),
        ("/v1/chat/completions", "/v1/chat/completions", None),
        ("/v1/chat/completions/?x=y", "/v1/chat/completions", Some("x=y")),
    ];
    for (base, path, query) in cases {
        let provider = OpenAi::builder().base_url(format!("{}{base}", server.url())).build().unwrap();
        ask(&provider, "m").await.unwrap();
        let requests = server.requests();
        let last = requests.last().unwrap();
        assert_eq!((last.path(), last.query()), (path, query), "{base}");
    }
    for base in ["", "/", "/v1", "/v1/", "/v1/messages"] {
        let provider =
            Anthropic::builder().base_url(format!("{}{base}", server.url())).api_key(KEY).build().unwrap();
        ask(&provider, "claude-sonnet-4-5").await.unwrap();
        assert_eq!(server.requests().last().unwrap().path(), "/v1/messages", "{base}");
    }
}

/// Runs in a process of its own, whose environment names a proxy that is not there.
#[tokio::test]
#[ignore = "run by cf_02_loopback_servers_are_reached_past_a_proxy"]
async fn behind_a_dead_proxy() {
    let server = answering("ok").await;
    let options = match std::env::var("CASE").as_deref() {
        Ok("option") => ClientOptions::new().no_proxy(),
        _ => ClientOptions::new(),
    };
    let provider = OpenAi::builder().base_url(server.url()).client(options).build().unwrap();
    ask(&provider, "m").await.unwrap();
}

#[test]
fn cf_02_loopback_servers_are_reached_past_a_proxy() {
    let dead = "http://127.0.0.1:9";
    for (case, no_proxy) in [("environment", "127.0.0.1,localhost"), ("option", "elsewhere.example")] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "config::behind_a_dead_proxy", "--ignored"])
            .envs([("HTTP_PROXY", dead), ("http_proxy", dead), ("ALL_PROXY", dead)])
            .envs([("NO_PROXY", no_proxy), ("no_proxy", no_proxy), ("CASE", case)])
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && shown.contains("1 passed"), "{case}: {shown}");
    }
}

#[tokio::test]
async fn cf_03_a_missing_key_is_found_before_anything_is_sent_and_no_key_is_no_header() {
    let errors = [
        OpenAi::from_env_with(|_| None).unwrap_err(),
        OpenAi::from_env_with(|_| Some(String::new())).unwrap_err(),
        OpenAi::builder().build().unwrap_err(),
        OpenAi::new("").unwrap_err(),
        Anthropic::from_env_with(|_| None).unwrap_err(),
        Anthropic::new("").unwrap_err(),
        Gemini::from_env_with(|_| None).unwrap_err(),
        Gemini::new("").unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().to_lowercase().contains("key"), "{error}");
    }
    let server = answering("ok").await;
    let keyless = OpenAi::builder().base_url(server.url()).build().unwrap();
    ask(&keyless, "m").await.unwrap();
    assert_eq!(server.requests()[0].header("authorization"), None);
}

/// All that a failed call shows, the log included.
async fn shown(target: Target, provider: &(impl Provider + std::fmt::Debug)) -> String {
    let (log, _guard) = Log::begin();
    let error = chain([target]).complete("x").await.unwrap_err();
    let mut text = format!("{provider:?}\n{error}\n{error:?}\n");
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        writeln!(text, "{inner}\n{inner:?}").unwrap();
        cause = inner.source();
    }
    text.push_str(&serde_json::to_string(error.report()).unwrap());
    text.push_str(&log.text());
    text
}

#[tokio::test(flavor = "current_thread")]
async fn cf_05_a_key_travels_in_a_header_and_is_shown_nowhere() {
    let closed = ClosedPort::reserve().unwrap();
    let away = Gemini::builder().base_url(closed.url()).api_key(KEY).build().unwrap();
    let refusing = server([ApiError::invalid_request()]).await;
    let there = gemini(&refusing);
    for provider in [&away, &there] {
        let text = shown(provider.model("gemini-2.5-flash").retries(0), provider).await;
        assert!(!text.contains(KEY) && text.contains("call_id"), "{text}");
    }
    let request = &refusing.requests()[0];
    assert_eq!((request.header("x-goog-api-key"), request.query()), (Some(KEY), None));
}

#[tokio::test(flavor = "current_thread")]
async fn cf_06_a_key_that_a_vendor_quotes_is_not_passed_on() {
    let of_a_gateway = "sk-live-0123456789abcdef";
    for quoted in [KEY, of_a_gateway] {
        let refusing =
            server([ApiError::bad_key().message(format!("Incorrect API key provided: {quoted}"))]).await;
        let provider = crate::support::openai(&refusing);
        let text = shown(at(&refusing, "first"), &provider).await;
        assert!(!text.contains(quoted) && text.contains("Incorrect API key"), "{text}");
    }
}

#[tokio::test]
async fn cf_07_model_names_arrive_as_they_were_given() {
    let server = MockServer::start().await.unwrap();
    server.when(|_| true, Reply::text("ok"));
    for model in ["openai/gpt-oss-20b", "llama3.1:8b", "ft:gpt-4o:org::id", "a b"] {
        ask(&crate::support::openai(&server), model).await.unwrap();
        assert_eq!(server.requests().last().unwrap().json()["model"], model);
    }
    let cases = [
        ("gemini-x", "models/gemini-x"),
        ("models/gemini-x", "models/gemini-x"),
        ("tunedModels/mine", "tunedModels/mine"),
        ("a/../b?c#d e", "models/a%2F..%2Fb%3Fc%23d%20e"),
    ];
    for (model, path) in cases {
        let _ = ask(&gemini(&server), model).await;
        let requests = server.requests();
        assert_eq!(requests.last().unwrap().path(), format!("/v1beta/{path}:generateContent"), "{model}");
    }
}
