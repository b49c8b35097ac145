//! What other vendors and servers are sent, and what their answers and errors mean.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_core::{
    Attempt, Chunk, FailureKind, FinishKind, Provider, ProviderError, Request, Response, Usage,
};
use backstop_mock::server::{MockServer, Reply};
use backstop_openai::{Api, OpenAi, OpenAiBuilder, Preset};
use futures_util::StreamExt;
use serde_json::{Value, json};

use FailureKind::*;

const KEY: &str = "sk-test-0123456789";

fn all() -> Vec<(Preset, OpenAiBuilder)> {
    let at = "https://acme.openai.azure.com";
    vec![
        (Preset::AZURE, OpenAi::azure(at)),
        (Preset::AZURE_DEPLOYMENTS, OpenAi::azure_deployments(at, "2024-10-21")),
        (Preset::OPENROUTER, OpenAi::openrouter()),
        (Preset::GROQ, OpenAi::groq()),
        (Preset::MISTRAL, OpenAi::mistral()),
        (Preset::DEEPSEEK, OpenAi::deepseek()),
        (Preset::TOGETHER, OpenAi::together()),
        (Preset::FIREWORKS, OpenAi::fireworks()),
        (Preset::VLLM, OpenAi::vllm()),
        (Preset::LLAMA_CPP, OpenAi::llama_cpp()),
        (Preset::LM_STUDIO, OpenAi::lm_studio()),
    ]
}

#[test]
fn every_preset_builds_with_its_key_and_says_which_one_is_missing() {
    for (preset, builder) in all() {
        let env = |name: &str| (Some(name) == preset.key_variable).then(|| KEY.to_owned());
        let with = builder.clone().from_env_with(env).unwrap();
        assert_eq!(with.name(), preset.name);
        let address = preset.base_url.unwrap_or("https://acme.openai.azure.com/openai");
        assert!(with.instance().starts_with(&format!("{} {address}", preset.name)), "{}", with.instance());
        let without = builder.from_env_with(|_| None);
        match preset.key_variable {
            Some(variable) if preset.key_required => {
                assert!(without.unwrap_err().to_string().contains(variable), "{}", preset.name);
            }
            None => assert_eq!(without.unwrap().credential(), Default::default()),
            Some(_) => assert_ne!(without.unwrap().credential(), with.credential(), "{}", preset.name),
        }
    }
}

#[test]
fn a_base_url_of_another_server_needs_no_key() {
    let only = |variable: &'static str, url: &'static str| {
        move |name: &str| (name == variable).then(|| url.to_owned())
    };
    let local = OpenAi::from_env_with(only("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")).unwrap();
    assert_eq!(local.instance(), "openai http://127.0.0.1:8000/v1");
    assert_eq!(local.credential(), Default::default());
    let gateway = OpenAi::groq().from_env_with(only("GROQ_BASE_URL", "http://gateway/groq")).unwrap();
    assert_eq!(gateway.instance(), "groq http://gateway/groq");
    let error = OpenAi::from_env_with(only("OPENAI_BASE_URL", "https://api.openai.com/v1")).unwrap_err();
    assert!(error.to_string().starts_with("`OPENAI_API_KEY` is not set"), "{error}");
    let error = OpenAi::builder().base_url("https://api.openai.com").build().unwrap_err();
    assert!(error.to_string().starts_with("`api_key` is missing"), "{error}");
    for url in ["localhost:8000/v1", "nonsense", "ftp://h"] {
        let error = OpenAi::from_env_with(only("OPENAI_BASE_URL", url)).unwrap_err();
        assert!(error.to_string().starts_with("`OPENAI_BASE_URL` is not a"), "{error}");
        let error = OpenAi::builder().base_url(url).build().unwrap_err();
        assert!(error.to_string().starts_with("`base_url` is not a"), "{error}");
    }
}

#[test]
fn settings_of_the_builder_come_before_preset_and_environment() {
    let env = |name: &str| Some(if name.contains("KEY") { KEY } else { "http://from-env/v1" }.to_owned());
    let vllm = OpenAi::builder()
        .base_url("http://mine")
        .name("mine")
        .preset(Preset::VLLM)
        .from_env_with(env)
        .unwrap();
    assert_eq!(vllm.instance(), "mine http://mine/v1");
    assert_eq!(OpenAi::vllm().from_env_with(env).unwrap().instance(), "vllm http://from-env/v1");
    let azure = OpenAi::builder().preset(Preset::AZURE).from_env_with(env).unwrap();
    assert_eq!(azure.instance(), "azure http://from-env/v1");
    let error = OpenAi::builder().preset(Preset::AZURE).api_key(KEY).build().unwrap_err();
    assert!(error.to_string().contains("`base_url`"), "{error}");
}

#[tokio::test]
async fn azure_is_asked_by_either_of_its_urls() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("ok"));
    let request = Request::new("x").max_tokens(3);
    let by_version =
        |api| OpenAi::azure_deployments(server.url(), "2024-10-21").api_key(KEY).api(api).build().unwrap();
    let v1 = OpenAi::azure(server.url()).api_key(KEY).build().unwrap();
    let bearer =
        OpenAi::azure(server.url()).auth(backstop_openai::Auth::Bearer).api_key(KEY).build().unwrap();
    for provider in [v1, by_version(Api::Chat), by_version(Api::Responses), bearer] {
        provider.complete(&Attempt::new("my prod", &request)).await.unwrap();
    }
    let seen = server.requests();
    assert_eq!(seen[0].path(), "/openai/v1/chat/completions");
    assert_eq!(seen[1].path(), "/openai/deployments/my%20prod/chat/completions");
    assert_eq!(seen[2].path(), "/openai/responses");
    assert_eq!((seen[0].header("api-key"), seen[0].header("authorization")), (Some(KEY), None));
    assert_eq!((seen[3].header("api-key"), seen[3].header("authorization").is_some()), (None, true));
    assert_eq!(
        (&seen[0].json()["model"], &seen[0].json()["max_completion_tokens"]),
        (&json!("my prod"), &json!(3))
    );
}

async fn answered(
    builder: &OpenAiBuilder,
    reply: impl Into<Reply>,
    request: &Request,
) -> Result<Response, ProviderError> {
    let server = MockServer::start().await.unwrap();
    server.push(reply);
    let provider = builder.clone().base_url(server.url()).api_key(KEY).build().unwrap();
    provider.complete(&Attempt::new("m", request)).await
}

/// Server, status, body, and what it means.
type Row = (OpenAiBuilder, u16, Value, FailureKind);

fn hosted_errors() -> Vec<Row> {
    let azure = || OpenAi::azure("http://h");
    let filtered = json!({"error": {"message": "m", "type": null, "param": "prompt", "code": "content_filter", "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": true, "severity": "high"}}}}});
    let router = |code: u16, metadata: Value| json!({"error": {"code": code, "message": "Provider returned error", "metadata": metadata}, "user_id": "u"});
    vec![
        (azure(), 400, filtered, Filtered),
        (
            azure(),
            400,
            json!({"error": {"code": "new_code", "message": "reworded", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
            Filtered,
        ),
        (
            azure(),
            400,
            json!({"error": {"message": "The response was filtered due to the prompt triggering a policy"}}),
            Filtered,
        ),
        (
            azure(),
            404,
            json!({"error": {"code": "DeploymentNotFound", "message": "reworded"}}),
            ModelNotFound,
        ),
        (
            azure(),
            401,
            json!({"error": {"code": "401", "message": "Access denied due to invalid subscription key"}}),
            Authentication,
        ),
        (
            azure(),
            429,
            json!({"error": {"code": "429", "message": "System is experiencing high demand"}}),
            RateLimited,
        ),
        (
            OpenAi::openrouter(),
            400,
            router(
                400,
                json!({"raw": "{\"error\":{\"message\":\"odd\",\"code\":\"context_length_exceeded\"}}", "provider_name": "P"}),
            ),
            ContextTooLong,
        ),
        (
            OpenAi::openrouter(),
            400,
            router(400, json!({"error_type": "context_length_exceeded"})),
            ContextTooLong,
        ),
        (
            OpenAi::openrouter(),
            403,
            router(403, json!({"reasons": ["violence"], "flagged_input": "…"})),
            Filtered,
        ),
        (OpenAi::openrouter(), 403, router(403, json!({"error_type": "permission_denied"})), Permission),
        (OpenAi::openrouter(), 402, router(402, json!({})), QuotaExhausted),
        (
            OpenAi::openrouter(),
            402,
            router(402, json!({"limit_source": "openrouter_in_flight_budget"})),
            RateLimited,
        ),
        (OpenAi::openrouter(), 502, router(502, json!({"error_type": "provider_unavailable"})), Server),
        (OpenAi::openrouter(), 503, router(503, json!({"error_type": "provider_overloaded"})), Overloaded),
        (
            OpenAi::openrouter(),
            200,
            router(429, json!({"raw": "slow", "retry_after_seconds": 3})),
            RateLimited,
        ),
        (
            OpenAi::openrouter(),
            200,
            json!({"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "gone"}, "message": {"content": "half"}}]}),
            Server,
        ),
        (
            OpenAi::openrouter(),
            200,
            json!({"error": {"message": "m", "metadata": {"error_type": "invalid_request"}}}),
            InvalidRequest,
        ),
        (OpenAi::groq(), 498, json!({"error": {"message": "flex capacity"}}), Overloaded),
        (OpenAi::groq(), 422, json!({"error": {"message": "reworded"}}), Server),
        (
            OpenAi::groq(),
            422,
            json!({"error": {"message": "m", "code": "context_length_exceeded"}}),
            ContextTooLong,
        ),
        (OpenAi::groq(), 424, json!({"error": {"message": "failed dependency"}}), Server),
        (
            OpenAi::groq(),
            413,
            json!({"error": {"message": "Request too large", "type": "tokens", "code": "rate_limit_exceeded"}}),
            RateLimited,
        ),
        (
            OpenAi::groq(),
            429,
            json!({"error": {"message": "Request too large for model", "type": "tokens", "code": "rate_limit_exceeded"}}),
            ContextTooLong,
        ),
        (
            OpenAi::mistral(),
            429,
            json!({"object": "error", "message": "m", "type": "rate_limited", "param": null, "code": "1300", "raw_status_code": 429}),
            RateLimited,
        ),
        (
            OpenAi::mistral(),
            400,
            json!({"object": "error", "message": "m", "type": "invalid_request_error", "code": "3280"}),
            InvalidRequest,
        ),
        (
            OpenAi::mistral(),
            400,
            json!({"object": "error", "message": "m", "type": "invalid_model", "code": "unknown_model"}),
            ModelNotFound,
        ),
        (
            OpenAi::mistral(),
            422,
            json!({"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra inputs"}]}, "type": "invalid_request_error", "code": null}),
            ParamRejected,
        ),
        (
            OpenAi::mistral(),
            422,
            json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "random_seed"], "msg": "m"}]}),
            ParamRejected,
        ),
        (
            OpenAi::mistral(),
            422,
            json!({"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "m"}]}),
            InvalidRequest,
        ),
        (
            OpenAi::mistral(),
            422,
            json!({"detail": [{"type": "value_error", "loc": ["body", "response_format", "json_schema", "strict"], "msg": "m"}]}),
            SchemaRejected,
        ),
        (OpenAi::mistral(), 401, json!({"message": "Unauthorized", "request_id": "r"}), Authentication),
        (OpenAi::mistral(), 402, json!({"message": "Payment required"}), QuotaExhausted),
        (
            OpenAi::deepseek(),
            402,
            json!({"error": {"message": "Insufficient Balance", "type": "unknown_error", "code": "invalid_request_error"}}),
            QuotaExhausted,
        ),
        (OpenAi::deepseek(), 503, json!({"error": {"message": "busy"}}), Overloaded),
        (
            OpenAi::deepseek(),
            200,
            json!({"choices": [{"finish_reason": "insufficient_system_resource", "message": {"content": "half"}}]}),
            Overloaded,
        ),
        (
            OpenAi::together(),
            403,
            json!({"error": {"message": "reworded", "type": "x", "code": null}}),
            ContextTooLong,
        ),
        (
            OpenAi::together(),
            403,
            json!({"error": {"message": "m", "code": "permission_denied"}}),
            Permission,
        ),
        (OpenAi::together(), 402, json!({"error": {"message": "limit of the month"}}), QuotaExhausted),
        (
            OpenAi::fireworks(),
            400,
            json!({"error": {"object": "error", "type": "invalid_request_error", "message": "The prompt is longer than the model's context length"}}),
            ContextTooLong,
        ),
        (OpenAi::fireworks(), 503, json!({"error": {"message": "scaling up"}}), Overloaded),
    ]
}

fn local_errors() -> Vec<Row> {
    vec![
        (
            OpenAi::vllm(),
            400,
            json!({"error": {"message": "This model's maximum context length is 10 tokens", "type": "BadRequestError", "param": null, "code": 400}}),
            ContextTooLong,
        ),
        (
            OpenAi::vllm(),
            404,
            json!({"error": {"message": "no such model", "type": "NotFoundError", "param": "model", "code": 404}}),
            ModelNotFound,
        ),
        (
            OpenAi::vllm(),
            500,
            json!({"error": {"message": "m", "type": "InternalServerError", "code": 500}}),
            Server,
        ),
        (
            OpenAi::vllm(),
            400,
            json!({"object": "error", "message": "m", "type": "BadRequestError", "param": null, "code": 400}),
            InvalidRequest,
        ),
        (
            OpenAi::vllm(),
            200,
            json!({"choices": [{"finish_reason": "abort", "message": {"content": ""}}]}),
            Server,
        ),
        (
            OpenAi::llama_cpp(),
            400,
            json!({"error": {"code": 400, "message": "reworded", "type": "exceed_context_size_error", "n_prompt_tokens": 2048, "n_ctx": 1024}}),
            ContextTooLong,
        ),
        (
            OpenAi::llama_cpp(),
            503,
            json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
            Overloaded,
        ),
        (
            OpenAi::llama_cpp(),
            401,
            json!({"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}),
            Authentication,
        ),
        (
            OpenAi::llama_cpp(),
            500,
            json!({"error": {"code": 500, "message": "image input is not supported - hint", "type": "server_error"}}),
            Unsupported,
        ),
        (
            OpenAi::llama_cpp(),
            501,
            json!({"error": {"code": 501, "message": "m", "type": "not_supported_error"}}),
            Unsupported,
        ),
        (
            OpenAi::llama_cpp(),
            500,
            json!({"error": {"code": 500, "message": "m", "type": "server_error"}}),
            Server,
        ),
        (
            OpenAi::llama_cpp(),
            400,
            json!({"error": {"code": 400, "message": "response_format type must be one of \"text\"", "type": "invalid_request_error"}}),
            SchemaRejected,
        ),
        (
            OpenAi::lm_studio(),
            400,
            json!({"error": "'response_format.type' must be 'json_schema' or 'text'"}),
            SchemaRejected,
        ),
        (
            OpenAi::lm_studio(),
            400,
            json!({"error": "The number of tokens to keep is greater than the context length"}),
            ContextTooLong,
        ),
        (
            OpenAi::lm_studio(),
            404,
            json!({"error": {"message": "m", "code": "model_not_found"}}),
            ModelNotFound,
        ),
    ]
}

#[tokio::test]
async fn what_each_vendor_says_means_what_it_means_there() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let request = Request::new("x").temperature(0.5).seed(7).json_schema("s", schema);
    for (builder, status, body, kind) in hosted_errors().into_iter().chain(local_errors()) {
        let error = answered(&builder, Reply::json(&body).status(status), &request).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{status} {body}");
    }
}

#[tokio::test]
async fn a_caller_knows_better_what_a_status_means() {
    let body = json!({"error": {"message": "reworded"}});
    let mine = OpenAi::together().status_means(403, Permission).status_means(418, Overloaded);
    for (status, kind) in [(403, Permission), (418, Overloaded)] {
        let error = answered(&mine, Reply::json(&body).status(status), &Request::new("x")).await.unwrap_err();
        assert_eq!(error.kind(), kind);
    }
}

#[tokio::test]
async fn answers_have_their_own_words_too() {
    let said = |finish: &str, message: Value| json!({"model": "m-2", "choices": [{"finish_reason": finish, "message": message}]});
    let table = [
        (
            OpenAi::together(),
            said("eos", json!({"content": "ok", "reasoning": "no"})),
            "ok",
            FinishKind::Stop,
        ),
        (OpenAi::mistral(), said("model_length", json!({"content": "ok"})), "ok", FinishKind::Length),
        (
            OpenAi::mistral(),
            said(
                "stop",
                json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "no"}]}, {"type": "text", "text": "ok"}]}),
            ),
            "ok",
            FinishKind::Stop,
        ),
        (
            OpenAi::deepseek(),
            said("stop", json!({"content": "ok", "reasoning_content": "no"})),
            "ok",
            FinishKind::Stop,
        ),
        (
            OpenAi::deepseek(),
            said("stop", json!({"content": "", "reasoning_content": "no"})),
            "",
            FinishKind::Stop,
        ),
        (OpenAi::vllm(), said("repetition", json!({"content": "ok"})), "ok", FinishKind::Other),
        (
            OpenAi::azure("http://h"),
            said("content_filter", json!({"role": "assistant"})),
            "",
            FinishKind::ContentFilter,
        ),
        (
            OpenAi::openrouter(),
            said("stop", json!({"content": "ok", "reasoning_details": [1], "refusal": null})),
            "ok",
            FinishKind::Stop,
        ),
    ];
    for (builder, body, text, finish) in table {
        let response =
            answered(&builder, Reply::json(&body).blank_lines(2), &Request::new("x")).await.unwrap();
        assert_eq!((response.text.as_str(), response.finish.kind), (text, finish), "{body}");
        assert_eq!(response.model.as_deref(), Some("m-2"));
    }
    let thrown_away = json!({"error": {"message": "m", "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": "{\"a\":1}"}});
    let response =
        answered(&OpenAi::groq(), Reply::json(&thrown_away).status(400), &Request::new("x")).await.unwrap();
    assert_eq!((response.text.as_str(), response.notes.len()), ("{\"a\":1}", 1));
}

async fn streamed(builder: OpenAiBuilder, events: &[&str]) -> Vec<Result<Chunk, ProviderError>> {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::events(events.iter().map(|event| format!("{event}\n\n"))));
    let provider = builder.base_url(server.url()).api_key(KEY).build().unwrap();
    let request = Request::new("x");
    let stream = provider.stream(&Attempt::new("m", &request)).await.unwrap();
    stream.filter(|chunk| std::future::ready(!matches!(chunk, Ok(Chunk::Ping)))).collect().await
}

#[tokio::test]
async fn streams_of_routers_and_filters() {
    let said = r#"data: {"id":"gen-1","model":"a/b","choices":[{"index":0,"delta":{"content":"he"}}]}"#;
    let gone = r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"m","metadata":{"error_type":"provider_unavailable"}}}"#;
    let mut chunks = streamed(OpenAi::openrouter(), &[": OPENROUTER PROCESSING", said, gone]).await;
    assert_eq!(chunks.pop().unwrap().unwrap_err().kind(), Server);
    assert!(matches!(&chunks[1], Ok(Chunk::Text(text)) if text == "he"), "{chunks:?}");

    let first = r#"data: {"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#;
    let last = r#"data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"content_filter","content_filter_results":{}}]}"#;
    let chunks = streamed(OpenAi::azure("http://h"), &[first, last, "data: [DONE]"]).await;
    assert!(
        matches!(chunks.last(), Some(Ok(Chunk::End(finish))) if finish.kind == FinishKind::ContentFilter)
    );

    let usage = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":4,"completion_tokens":1}}}"#;
    let chunks = streamed(OpenAi::groq(), &[usage]).await;
    assert!(
        chunks.iter().any(|chunk| matches!(chunk, Ok(Chunk::Usage(usage)) if *usage == Usage::new(4, 1)))
    );

    let broken = r#"data: {"error":{"message":"m","type":"InternalServerError","code":500}}"#;
    let mut chunks = streamed(OpenAi::vllm(), &[said, broken, "data: [DONE]"]).await;
    assert_eq!(chunks.pop().unwrap().unwrap_err().kind(), Server);
}

#[tokio::test]
async fn a_stream_is_asked_for_counts_where_the_question_is_known() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("ok"));
    let request = Request::new("x");
    for (builder, asked) in
        [(OpenAi::mistral(), false), (OpenAi::groq(), true), (OpenAi::groq().stream_usage(false), false)]
    {
        let provider = builder.base_url(server.url()).api_key(KEY).build().unwrap();
        provider
            .stream(&Attempt::new("m", &request))
            .await
            .unwrap()
            .for_each(|_| std::future::ready(()))
            .await;
        assert_eq!(server.requests().last().unwrap().json().get("stream_options").is_some(), asked);
    }
}
