//! The adapter against a loopback server that speaks the real wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_core::{
    Attempt, Capabilities, Chain, Chunk, FailureKind, FinishKind, Provider, ProviderError, Request, Response,
    Stage, StructuredOutput, Usage,
};
use backstop_mock::server::{ApiError, Completion, MockServer, Reply};
use backstop_openai::{Api, Auth, ClientOptions, ModelTraits, OpenAi, TokenLimit};
use futures_util::StreamExt;
use serde_json::json;

const KEY: &str = "sk-test-0123456789";

fn provider(server: &MockServer) -> OpenAi {
    OpenAi::builder().base_url(server.url()).api_key(KEY).build().unwrap()
}

async fn ask(server: &MockServer, request: &Request) -> Result<Response, ProviderError> {
    provider(server).complete(&Attempt::new("m", request)).await
}

async fn answered(reply: impl Into<Reply>) -> Result<Response, ProviderError> {
    let server = MockServer::start().await.unwrap();
    server.push(reply);
    ask(&server, &Request::new("x")).await
}

async fn streamed(reply: impl Into<Reply>) -> Vec<Result<Chunk, ProviderError>> {
    let server = MockServer::start().await.unwrap();
    server.push(reply);
    let request = Request::new("x");
    let stream = provider(&server).stream(&Attempt::new("m", &request)).await.unwrap();
    stream.collect().await
}

fn text(chunks: &[Result<Chunk, ProviderError>]) -> String {
    chunks.iter().filter_map(|c| if let Ok(Chunk::Text(t)) = c { Some(t.as_str()) } else { None }).collect()
}

#[tokio::test]
async fn a_plain_answer() {
    let server = MockServer::start().await.unwrap();
    server.push(Completion::text("blue").tokens(12, 3).cached_tokens(4).model("m-2026"));
    let request =
        Request::new("Name a colour.").system("One word.").max_tokens(16).extra_header("x-team", "blue");
    let attempt = Attempt::new("m", &request);
    let response = provider(&server).complete(&attempt).await.unwrap();
    assert_eq!((response.text.as_str(), response.finish.kind), ("blue", FinishKind::Stop));
    assert_eq!(response.usage, Some(Usage::new(12, 3).with_cached(4)));
    assert_eq!(response.model.as_deref(), Some("m-2026"));
    assert_eq!(attempt.progress.stage(), Stage::Body);
    assert_eq!(attempt.progress.take(), (response.request_id, response.usage));
    let received = &server.requests()[0];
    assert_eq!(received.path(), "/v1/chat/completions");
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received.header("x-team"), Some("blue"));
    assert_eq!(
        received.json(),
        &json!({
            "model": "m",
            "messages": [{"role": "system", "content": "One word."}, {"role": "user", "content": "Name a colour."}],
            "max_tokens": 16,
        })
    );
}

#[tokio::test]
async fn a_refused_schema_and_a_refused_parameter() {
    let server = MockServer::start().await.unwrap();
    server.push(ApiError::schema_rejected());
    let with_schema = Request::new("x")
        .json_schema("s", json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    assert_eq!(ask(&server, &with_schema).await.unwrap_err().kind(), FailureKind::SchemaRejected);
    server.clear_scripts().push(ApiError::invalid_request().code("unsupported_value").param("temperature"));
    let error = ask(&server, &Request::new("x").temperature(0.1)).await.unwrap_err();
    assert_eq!((error.kind(), error.param()), (FailureKind::ParamRejected, Some("temperature")));
}

#[tokio::test]
async fn a_server_that_knows_no_formats_at_all_is_asked_in_the_prompt() {
    let server = MockServer::start().await.unwrap();
    server.respond_with(|received| match received.json().get("response_format") {
        Some(_) => Reply::from(ApiError::schema_rejected().message("unknown field `response_format`")),
        None => Reply::text("{}"),
    });
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let request = Request::new("x").json_schema("s", schema);
    let only_json = ModelTraits::new(TokenLimit::MaxTokens)
        .capabilities(Capabilities::unknown().with_structured_output(StructuredOutput::JsonObject));
    for (traits, attempts) in [(ModelTraits::new(TokenLimit::MaxTokens), 3), (only_json, 2)] {
        let provider = OpenAi::builder().base_url(server.url()).default_traits(traits).build().unwrap();
        let chain = Chain::builder().target(provider.model("m")).build().unwrap();
        let answer = chain.complete(request.clone()).await.unwrap();
        assert_eq!((answer.value.as_str(), answer.report.attempts.len()), ("{}", attempts));
        let sent = server.requests().last().unwrap().json().to_string();
        assert!(sent.contains("JSON Schema") && !sent.contains("response_format"), "{sent}");
    }
}

#[tokio::test]
async fn a_tool_takes_the_answer_also_in_a_stream() {
    let server = MockServer::start().await.unwrap();
    server.push(Completion::empty().tool_call("s", "{\"a\":\"日本\"}"));
    let by_tool = Capabilities::unknown().with_structured_output(StructuredOutput::Tool);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let request = Request::new("x").json_schema("s", schema);
    for api in [Api::Chat, Api::Responses] {
        let traits = ModelTraits::new(TokenLimit::MaxTokens).capabilities(by_tool);
        let provider =
            OpenAi::builder().base_url(server.url()).default_traits(traits).api(api).build().unwrap();
        let attempt = Attempt::new("m", &request);
        let whole = provider.complete(&attempt).await.unwrap();
        assert_eq!((whole.text.as_str(), whole.finish.kind), ("{\"a\":\"日本\"}", FinishKind::Stop));
        assert!(whole.tool_calls.is_empty());
        let chunks: Vec<_> = provider.stream(&attempt).await.unwrap().collect().await;
        assert_eq!(text(&chunks), whole.text);
        assert!(matches!(chunks.last(), Some(Ok(Chunk::End(finish))) if finish.kind == FinishKind::Stop));
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Ok(Chunk::ToolCall { .. }))), "{chunks:?}");
    }
}

#[tokio::test]
async fn output_that_the_server_threw_away_is_an_answer() {
    let body = json!({"error": {"message": "no JSON", "code": "json_validate_failed", "failed_generation": "{\"a\":"}});
    let response = answered(Reply::json(&body).status(400)).await.unwrap();
    assert_eq!((response.text.as_str(), response.notes.len()), ("{\"a\":", 1));
}

#[tokio::test]
async fn optional_properties_and_list_roots_come_back_as_the_caller_has_them() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text(r#"{"name":"Ann","age":null}"#));
    server.push(Reply::text(r#"{"value":["a","b"]}"#));
    let person = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]});
    let response = ask(&server, &Request::new("x").json_schema("person", person)).await.unwrap();
    assert_eq!(response.text, r#"{"name":"Ann"}"#);
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(
        ask(&server, &Request::new("x").json_schema("list", list)).await.unwrap().text,
        r#"["a","b"]"#
    );
}

#[tokio::test]
async fn a_server_that_mixes_up_streams_and_answers() {
    let whole = json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]});
    assert_eq!(text(&streamed(Reply::json(&whole)).await), "ok");
    let event = json!({"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}).to_string();
    let response = answered(Reply::bytes("text/event-stream", format!("data: {event}\n\ndata: [DONE]\n\n")))
        .await
        .unwrap();
    assert_eq!(response.text, "ok");
}

#[tokio::test]
async fn servers_that_differ() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("ok"));
    let request = Request::new("x").max_tokens(3);
    let local = OpenAi::builder()
        .name("local")
        .base_url(format!("{}/v1/", server.url()))
        .client(ClientOptions::new().no_proxy())
        .model_traits("big", ModelTraits::new(TokenLimit::MaxCompletionTokens))
        .build()
        .unwrap();
    local.complete(&Attempt::new("small", &request)).await.unwrap();
    local.complete(&Attempt::new("big-7b", &request)).await.unwrap();
    let keyed = OpenAi::builder()
        .base_url(server.url())
        .api_key(KEY)
        .auth(Auth::Header("api-key".into()))
        .organization("org")
        .project("pro")
        .build()
        .unwrap();
    keyed.complete(&Attempt::new("m", &request)).await.unwrap();
    let seen = server.requests();
    assert_eq!((seen[0].path(), seen[0].header("authorization")), ("/v1/chat/completions", None));
    assert_eq!(
        (&seen[0].json()["max_tokens"], &seen[1].json()["max_completion_tokens"]),
        (&json!(3), &json!(3))
    );
    assert_eq!((seen[2].header("api-key"), seen[2].header("authorization")), (Some(KEY), None));
    assert_eq!(
        (seen[2].header("openai-organization"), seen[2].header("openai-project")),
        (Some("org"), Some("pro"))
    );
    assert_eq!(
        (local.name(), local.instance().as_ref()),
        ("local", format!("local {}/v1/", server.url()).as_str())
    );
}

#[test]
fn settings_that_cannot_work_are_named() {
    let table = [
        (OpenAi::builder().build(), "api_key"),
        (OpenAi::new("sk-hush\n"), "api_key"),
        (OpenAi::builder().base_url("hush").build(), "base_url"),
        (OpenAi::builder().base_url("http://h").organization("hush\n").build(), "organization"),
        (OpenAi::builder().base_url("http://h").name("").build(), "name"),
        (
            OpenAi::builder().base_url("http://h").api_key(KEY).auth(Auth::Header("a b".into())).build(),
            "auth",
        ),
        (OpenAi::from_env_with(|_| None), "OPENAI_API_KEY"),
        (OpenAi::from_env_with(|_| Some(String::new())), "OPENAI_API_KEY"),
    ];
    for (built, setting) in table {
        let error = built.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains(&format!("`{setting}`")) && !shown.contains("hush"), "{setting}: {shown}");
    }
}

#[test]
fn the_environment_says_where_and_with_what() {
    let env = |name: &str| match name {
        "OPENAI_API_KEY" => Some(KEY.to_owned()),
        "OPENAI_BASE_URL" => Some("http://h/openai".to_owned()),
        _ => None,
    };
    let openai = OpenAi::from_env_with(env).unwrap();
    assert_eq!(openai.instance(), "openai http://h/openai");
    assert!(!format!("{openai:?}").contains("test"));
    let other = OpenAi::builder().base_url("http://h").api_key("sk-other-012345").build().unwrap();
    assert_ne!(openai.credential(), other.credential());
    assert_eq!(openai.credential(), OpenAi::from_env_with(env).unwrap().credential());
    assert_eq!(openai.capabilities("gpt-4o").context_window, Some(128_000));
    assert_eq!(openai.capabilities("who-knows").context_window, None);
}
