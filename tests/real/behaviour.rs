//! What every adapter that the server understands must do.

use std::{sync::Arc, time::Duration};

use backstop::{Attempt, Chunk, FinishKind, Stage, StructuredOutput, openai::Api, prelude::*};
use futures_util::StreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::server::{CONTEXT, KEY, RealServer};

/// The server through each adapter and API that it understands.
fn adapters(server: &RealServer, key: &str) -> Vec<Arc<dyn Provider>> {
    let openai = |api| OpenAi::llama_cpp().base_url(server.url()).api_key(key).api(api).build().unwrap();
    let anthropic = Anthropic::builder().base_url(server.url()).api_key(key).build().unwrap();
    vec![Arc::new(openai(Api::Chat)), Arc::new(openai(Api::Responses)), Arc::new(anthropic)]
}

fn openai(server: &RealServer) -> OpenAi {
    OpenAi::llama_cpp().base_url(server.url()).api_key(KEY).build().unwrap()
}

#[tokio::test]
async fn a_question_is_answered_with_counts_and_the_servers_own_name_of_the_model() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let request = Request::new("Hello").system("Be brief.").max_tokens(8);
    for adapter in adapters(&server, KEY) {
        let attempt = Attempt::new("any-name", &request);
        let response = adapter.complete(&attempt).await.unwrap();
        let usage = response.usage.unwrap();
        assert!(usage.input_tokens > 10 && (1..=8).contains(&usage.output_tokens), "{usage:?}");
        assert!(response.model.is_some_and(|model| model != "any-name"), "{}", adapter.name());
        assert_eq!(attempt.progress.stage(), Stage::Body);
    }
}

/// An answer that only the limit ends.
fn endless(max_tokens: u32) -> Request {
    let mut request = Request::new("Hello").max_tokens(max_tokens);
    request.body_mut().extra_body.insert("ignore_eos".to_owned(), true.into());
    request
}

#[tokio::test]
async fn an_answer_that_the_limit_cuts_is_truncated() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let request = endless(3);
    let response = openai(&server).complete(&Attempt::new("m", &request)).await.unwrap();
    assert_eq!((response.finish.kind, response.usage.unwrap().output_tokens), (FinishKind::Length, 3));
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    Green,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Car {
    #[expect(dead_code, reason = "that it is there is what counts")]
    colour: Colour,
    electric: bool,
    #[expect(dead_code, reason = "that it may stay away is what counts")]
    towing: Option<bool>,
}

#[tokio::test]
async fn a_schema_holds_a_model_that_knows_nothing() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let chain = Chain::builder().target(openai(&server).model("m").reasks(0)).build().unwrap();
    let request = Request::new("A red car.").max_tokens(200);
    let car = chain.extract::<Car>(request.clone()).await.unwrap();
    assert!([true, false].contains(&car.value.electric));
    // A root that is no object is wrapped on the wire, and taken out again.
    let colours = chain.extract::<[Colour; 2]>(request).await.unwrap();
    assert_eq!((colours.value.len(), colours.report.attempts.len()), (2, 1));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_context_too_long() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let request = Request::new("abcdefgh".repeat(1_000)).max_tokens(8);
    for adapter in adapters(&server, KEY) {
        let attempt = Attempt::new("m", &request);
        let whole = adapter.complete(&attempt).await.unwrap_err();
        let streamed = adapter.stream(&attempt).await.err().unwrap();
        assert_eq!(
            [whole.kind(), streamed.kind()],
            [FailureKind::ContextTooLong; 2],
            "{}: {whole}",
            adapter.name()
        );
    }
}

#[tokio::test]
async fn a_stream_has_pieces_counts_and_an_end() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let request = endless(12);
    for adapter in adapters(&server, KEY) {
        let stream = adapter.stream(&Attempt::new("m", &request)).await.unwrap();
        let chunks: Vec<Chunk> = stream.map(Result::unwrap).collect().await;
        let pieces = chunks.iter().filter(|chunk| matches!(chunk, Chunk::Text(_))).count();
        let counted =
            chunks.iter().any(|chunk| matches!(chunk, Chunk::Usage(usage) if usage.output_tokens > 0));
        let named = chunks.iter().any(|chunk| matches!(chunk, Chunk::Meta { model: Some(_), .. }));
        assert!(pieces > 1 && counted && named, "{}: {chunks:?}", adapter.name());
        assert!(matches!(chunks.last(), Some(Chunk::End(_))), "{}: {chunks:?}", adapter.name());
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_stops_the_server() {
    let Some(server) = RealServer::ready(8_192) else { return };
    // Half a minute of work, if nobody stops it.
    let request = endless(7_000);
    for adapter in adapters(&server, KEY) {
        let mut stream = adapter.stream(&Attempt::new("m", &request)).await.unwrap();
        while !matches!(stream.next().await.unwrap().unwrap(), Chunk::Text(_)) {}
        assert!(server.is_busy(), "{}", adapter.name());
        drop(stream);
        let idle = async {
            while server.is_busy() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let idle = tokio::time::timeout(Duration::from_secs(10), idle).await;
        assert!(idle.is_ok(), "{} left the server working", adapter.name());
    }
}

#[tokio::test]
async fn a_wrong_key_is_an_authentication_failure() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let request = Request::new("Hello");
    for adapter in adapters(&server, "sk-wrong-0123456789") {
        let error = adapter.complete(&Attempt::new("m", &request)).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Authentication, "{}", adapter.name());
        assert!(!error.to_string().contains("sk-wrong"), "{error}");
    }
}

#[tokio::test]
async fn a_picture_that_the_model_cannot_see_is_unsupported() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let picture = Media::image("image/png", b"\x89PNG\r\n\x1a\n");
    let request = Request::default().message(Message::user("Look:").part(picture));
    for api in [Api::Chat, Api::Responses] {
        let provider = OpenAi::llama_cpp().base_url(server.url()).api_key(KEY).api(api).build().unwrap();
        let error = provider.complete(&Attempt::new("m", &request)).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (FailureKind::Unsupported, Some(500)), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_starts_is_refused_or_overloaded_until_it_answers() {
    let Some(server) = RealServer::start(CONTEXT) else { return };
    let provider = openai(&server);
    let request = Request::new("Hello").max_tokens(2);
    let mut failures = Vec::new();
    let answered = async {
        loop {
            match provider.complete(&Attempt::new("m", &request)).await {
                Ok(response) => return response,
                Err(error) => failures.push(error.kind()),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), answered).await.unwrap();
    assert!(failures.contains(&FailureKind::Connect), "{failures:?}");
    let known = [FailureKind::Connect, FailureKind::Overloaded];
    assert!(failures.iter().all(|kind| known.contains(kind)), "{failures:?}");
}

#[tokio::test]
async fn a_template_without_tools_still_gives_an_answer_where_a_tool_should_take_it() {
    let Some(server) = RealServer::ready(CONTEXT) else { return };
    let tools = backstop::Capabilities::unknown().with_structured_output(StructuredOutput::Tool);
    let traits = backstop::openai::Preset::LLAMA_CPP.traits.capabilities(tools);
    let provider =
        OpenAi::llama_cpp().base_url(server.url()).api_key(KEY).default_traits(traits).build().unwrap();
    let schema = json!({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]});
    let request = Request::new("x").max_tokens(8).json_schema("answer", schema);
    let response = provider.complete(&Attempt::new("m", &request)).await.unwrap();
    assert!(response.tool_calls.is_empty() && response.usage.is_some());
}
