use std::sync::Arc;

use backstop_core::{
    Attempt, CacheHint, Capabilities, Chunk, FailureKind, FinishKind, FinishReason, Media, Message, Output,
    Overlay, Request, Response, StructuredOutput, Tool, ToolCall, ToolChoice, ToolResult,
};
use serde_json::{Value, json};

use crate::{
    OpenAiOptions, OpenRouterOptions,
    api::Api,
    models::{ModelTraits, SystemRole, TokenLimit, traits_of},
    preset::Preset,
    request::{self, Rendered},
    server::{Own, Server},
};

const PLAIN: ModelTraits = ModelTraits::new(TokenLimit::MaxTokens);

fn server(preset: &Preset) -> Server {
    Server::new("test".into(), preset, Own::default())
}

fn render(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    streaming: bool,
) -> Result<Rendered, backstop_core::ProviderError> {
    request::render(attempt, traits, &server(&Preset::COMPATIBLE), Api::Chat, streaming)
}

fn body_of(rendered: &Rendered) -> Value {
    serde_json::from_slice(&rendered.body).unwrap()
}

fn whole(request: &Request, traits: &ModelTraits) -> (Value, Vec<String>) {
    let rendered = render(&Attempt::new("m", request), traits, false).unwrap();
    (body_of(&rendered), rendered.notes)
}

fn body(request: &Request) -> Value {
    whole(request, &PLAIN).0
}

fn messages(request: &Request) -> Value {
    body(request)["messages"].clone()
}

fn restored(rendered: &Rendered, text: &str) -> String {
    rendered.format.restore(Response::new(text)).text
}

fn able(mode: StructuredOutput) -> ModelTraits {
    PLAIN.capabilities(Capabilities::unknown().with_structured_output(mode))
}

#[test]
fn a_bare_question_sends_nothing_else() {
    assert_eq!(
        body(&Request::new("Hi")),
        json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    );
}

#[test]
fn parameters_go_where_the_model_takes_them() {
    let request =
        Request::new("Hi").system("Be kind.").max_tokens(9).temperature(0.5).top_p(0.9).seed(7).stop("END");
    let (sent, notes) = whole(&request, &PLAIN);
    assert_eq!(
        sent,
        json!({
            "model": "m",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}],
            "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["END"],
        })
    );
    assert!(notes.is_empty());
    let reasoning = ModelTraits::new(TokenLimit::MaxCompletionTokens)
        .sampling(false)
        .stop(false)
        .system_role(SystemRole::Developer);
    let (sent, notes) = whole(&request, &reasoning);
    assert_eq!(
        sent,
        json!({
            "model": "m",
            "messages": [{"role": "developer", "content": "Be kind."}, {"role": "user", "content": "Hi"}],
            "max_completion_tokens": 9, "seed": 7,
        })
    );
    assert_eq!(notes.len(), 3, "{notes:?}");
}

#[test]
fn a_reasoning_model_samples_when_it_does_not_reason() {
    let options = OpenAiOptions::new().reasoning_effort("none");
    let request = Request::new("Hi").temperature(0.5).options(&options).unwrap();
    let (sent, notes) = whole(&request, &PLAIN.sampling(false));
    assert_eq!((&sent["temperature"], &sent["reasoning_effort"]), (&json!(0.5), &json!("none")));
    assert!(notes.is_empty());
}

#[test]
fn parts_become_content_parts() {
    let png = Media::image("image/png", b"pixels");
    let pdf = Media::from_bytes("application/pdf", b"paper").named("a.pdf");
    let request = Request::default().message(
        Message::user("Look:").part(png).part(Media::from_url("image/jpeg", "https://host/x.jpg")).part(pdf),
    );
    assert_eq!(
        messages(&request),
        json!([{"role": "user", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,cGl4ZWxz"}},
            {"type": "image_url", "image_url": {"url": "https://host/x.jpg"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGFwZXI="}},
        ]}])
    );
}

#[test]
fn documents_by_address_are_not_sent() {
    let request = Request::default()
        .message(Message::user("x").part(Media::from_url("application/pdf", "https://h/x")));
    let error = render(&Attempt::new("m", &request), &PLAIN, false).err().unwrap();
    assert_eq!(error.kind(), FailureKind::Unsupported);
}

#[test]
fn a_turn_with_tools() {
    let call = ToolCall::new("call_1", "weather", r#"{"city":"Bern"}"#);
    let request = Request::new("Weather?")
        .message(Message::assistant("").part(backstop_core::Part::ToolCall(call.clone())))
        .message(Message::tool_result(ToolResult::new(&call, "12 C")).part("And tomorrow?"))
        .message(Message::assistant("Rain."))
        .tool(Tool::new("weather", json!({"type": "object"})).description("Looks outside."))
        .tool(Tool::new("time", json!({"type": "object"})))
        .tool_choice(ToolChoice::Tool("weather".into()));
    let sent = body(&request);
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Bern\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "12 C"},
            {"role": "user", "content": "And tomorrow?"},
            {"role": "assistant", "content": "Rain."},
        ])
    );
    assert_eq!(
        sent["tools"],
        json!([
            {"type": "function", "function": {"name": "weather", "description": "Looks outside.", "parameters": {"type": "object"}}},
            {"type": "function", "function": {"name": "time", "parameters": {"type": "object"}}},
        ])
    );
    assert_eq!(sent["tool_choice"], json!({"type": "function", "function": {"name": "weather"}}));
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
    ] {
        assert_eq!(body(&request.clone().tool_choice(choice))["tool_choice"], expected);
    }
}

fn person() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]})
}

#[test]
fn a_schema_is_strict_where_it_can_be() {
    let request = Request::new("Ann").json_schema("a person!", person());
    let rendered = render(&Attempt::new("m", &request), &PLAIN, false).unwrap();
    let text = String::from_utf8(rendered.body.clone()).unwrap();
    assert!(
        text.contains(r#""properties":{"name":{"type":"string"},"age":{"type":["integer","null"]}}"#),
        "{text}"
    );
    assert_eq!(
        body_of(&rendered)["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "a_person_", "strict": true, "schema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}},
            "required": ["name", "age"],
            "additionalProperties": false,
        }}})
    );
    assert_eq!(restored(&rendered, r#"{"name":"Ann","age":null}"#), r#"{"name":"Ann"}"#);
}

#[test]
fn weaker_forms_of_a_schema() {
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let (sent, notes) = whole(&Request::new("x").json_schema("map", map.clone()), &PLAIN);
    assert_eq!(
        sent["response_format"]["json_schema"],
        json!({"name": "map", "strict": false, "schema": map})
    );
    assert!(notes[0].contains("not enforced"), "{notes:?}");

    let (sent, _) = whole(
        &Request::new("x").system("S.").json_schema("p", person()),
        &able(StructuredOutput::JsonObject),
    );
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("S.\n\n") && system.contains("JSON Schema") && system.contains("\"age\""),
        "{system}"
    );

    let (sent, _) = whole(&Request::new("x").json_schema("p", person()), &able(StructuredOutput::None));
    assert_eq!(sent.get("response_format"), None);
    assert!(sent["messages"][0]["content"].as_str().unwrap().contains("JSON Schema"));

    let (sent, _) = whole(&Request::new("x").output(Output::Json), &PLAIN);
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
    assert!(sent["messages"][0]["content"].as_str().unwrap().contains("JSON"));

    let external = json!({"$ref": "https://host/schema"});
    let (sent, notes) = whole(&Request::new("x").json_schema("p", external), &PLAIN);
    assert_eq!(sent.get("response_format"), None);
    assert!(notes.iter().any(|note| note.contains("went into the prompt")), "{notes:?}");
}

#[test]
fn roots_that_are_no_objects_are_wrapped_and_taken_out_again() {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let request = Request::new("x").json_schema("list", list);
    for traits in [PLAIN, able(StructuredOutput::JsonObject)] {
        let rendered = render(&Attempt::new("m", &request), &traits, false).unwrap();
        assert_eq!(restored(&rendered, r#"{"value":["a"]}"#), r#"["a"]"#);
    }
    let rendered = render(&Attempt::new("m", &request), &able(StructuredOutput::None), false).unwrap();
    assert_eq!(restored(&rendered, r#"["a"]"#), r#"["a"]"#);
}

#[test]
fn a_stream_takes_only_forms_whose_answers_need_no_change() {
    let streamed = |schema: Value| {
        let request = Request::new("x").json_schema("s", schema);
        body_of(&render(&Attempt::new("m", &request), &PLAIN, true).unwrap())
    };
    let full = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(streamed(full)["response_format"]["json_schema"]["strict"], json!(true));
    assert_eq!(streamed(person())["response_format"]["json_schema"]["strict"], json!(false));
    let list = streamed(json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(list.get("response_format"), None);
    assert!(
        list["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains(r#"{"items":{"type":"string"},"type":"array"}"#)
    );
    assert_eq!((&list["stream"], &list["stream_options"]), (&json!(true), &json!({"include_usage": true})));
    let request = Request::new("x");
    let own = Own { stream_usage: Some(false), ..Own::default() };
    let silent = Server::new("test".into(), &Preset::COMPATIBLE, own);
    let silent = request::render(&Attempt::new("m", &request), &PLAIN, &silent, Api::Chat, true).unwrap();
    assert_eq!(body_of(&silent).get("stream_options"), None);
}

#[test]
fn an_overlay_changes_this_attempt_only() {
    let request = Request::new("x").json_schema("p", person()).max_tokens(5).temperature(0.1);
    let mut overlay = Overlay::new();
    overlay.feedback = vec![Message::assistant("{}"), Message::user("`name` is missing")];
    overlay.max_tokens = Some(10);
    overlay.json_mode = true;
    overlay.dropped = vec!["temperature".into()];
    let mut attempt = Attempt::new("m", &request);
    attempt.overlay = &overlay;
    let sent = body_of(&render(&attempt, &PLAIN, false).unwrap());
    assert_eq!((&sent["max_tokens"], sent.get("temperature")), (&json!(10), None));
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
    assert_eq!(sent["messages"].as_array().unwrap().len(), 4);
    assert_eq!(body(&request)["max_tokens"], json!(5));
}

#[test]
fn extra_body_comes_over_what_the_adapter_writes() {
    let request = Request::new("x")
        .max_tokens(5)
        .extra_body("openai", "max_tokens", 7)
        .extra_body("openai", "provider", json!({"only": ["p"]}))
        .for_target("openai", "m");
    let text = String::from_utf8(render(&Attempt::new("m", &request), &PLAIN, false).unwrap().body).unwrap();
    assert_eq!(text.matches("max_tokens").count(), 1, "{text}");
    let sent: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&sent["max_tokens"], &sent["provider"]), (&json!(7), &json!({"only": ["p"]})));
}

#[test]
fn options_of_this_adapter() {
    let options = OpenAiOptions::new()
        .verbosity("low")
        .service_tier("flex")
        .parallel_tool_calls(false)
        .store(true)
        .prompt_cache_key("k")
        .safety_identifier("u")
        .presence_penalty(0.5)
        .frequency_penalty(-0.5);
    let request = Request::new("x").metadata("job", "1").options(&options).unwrap();
    let sent = body(&request);
    for (key, expected) in [
        ("verbosity", json!("low")),
        ("service_tier", json!("flex")),
        ("parallel_tool_calls", json!(false)),
        ("store", json!(true)),
        ("prompt_cache_key", json!("k")),
        ("safety_identifier", json!("u")),
        ("presence_penalty", json!(0.5)),
        ("frequency_penalty", json!(-0.5)),
        ("metadata", json!({"job": "1"})),
    ] {
        assert_eq!(sent[key], expected, "{key}");
    }
    assert_eq!(body(&Request::new("x").metadata("job", "1")).get("metadata"), None);
}

#[test]
fn a_large_prompt_is_copied_once() {
    let image = Media::image("image/png", vec![7; 1 << 20]);
    let request = Request::new("a line of \"text\" that ends\n".repeat(1 << 16))
        .system("y".repeat(1 << 20))
        .message(Message::user("And this?").part(image))
        .json_schema("p", Arc::new(person()));
    let attempt = Attempt::new("m", &request);
    let rendered = render(&attempt, &able(StructuredOutput::JsonObject), false).unwrap();
    // The buffer is the one that was made for it: it never had to move to a larger place.
    assert!(rendered.body.len() > 3 << 20);
    assert_eq!(rendered.body.capacity(), backstop_http::room_for(&attempt));
}

#[test]
fn a_server_that_has_refused_a_form_gets_a_weaker_one() {
    use StructuredOutput::{JsonObject, None as Nothing, Strict, Tool};
    // What it can do, whether it takes JSON mode; the form asked for first, after one refusal and after two.
    let table = [
        (Strict, true, [Some("json_schema"), Some("json_object"), None]),
        (Strict, false, [Some("json_schema"), None, None]),
        (JsonObject, true, [Some("json_object"), None, None]),
        (Tool, true, [None, Some("json_object"), None]),
        (Tool, false, [None, None, None]),
        (Nothing, true, [None, None, None]),
    ];
    let mut refused_once = Overlay::new();
    refused_once.json_mode = true;
    let mut refused_twice = refused_once.clone();
    refused_twice.prompt_only = true;
    for (can, json_object, forms) in table {
        let traits = able(can).json_object(json_object);
        let request = Request::new("x").json_schema("p", person());
        for (overlay, form) in [&Overlay::new(), &refused_once, &refused_twice].into_iter().zip(forms) {
            let mut attempt = Attempt::new("m", &request);
            attempt.overlay = overlay;
            let rendered = render(&attempt, &traits, false).unwrap();
            let sent = body_of(&rendered);
            let asked = sent.pointer("/response_format/type").and_then(Value::as_str);
            assert_eq!(asked, form, "{can:?} {json_object:?} {overlay:?}");
            let (tool, prompt) =
                (sent.get("tools").is_some(), sent["messages"].to_string().contains("JSON Schema"));
            assert!(asked == Some("json_schema") || tool || prompt, "the schema is nowhere: {sent}");
            assert_eq!(rendered.format.refusable(), asked.is_some() || tool);
        }
    }
    for (json_object, form) in [(true, json!("json_object")), (false, Value::Null)] {
        let (sent, _) = whole(&Request::new("x").output(Output::Json), &PLAIN.json_object(json_object));
        assert_eq!(sent["response_format"]["type"], form, "{json_object:?}");
    }
}

#[test]
fn a_tool_may_take_the_answer() {
    let by_tool = able(StructuredOutput::Tool);
    let request = Request::new("x").json_schema("a person", person());
    let rendered = render(&Attempt::new("m", &request), &by_tool, false).unwrap();
    let sent = body_of(&rendered);
    assert_eq!(sent["tool_choice"], json!({"type": "function", "function": {"name": "a_person"}}));
    assert_eq!(sent["tools"][0]["function"]["parameters"], person());
    assert_eq!(sent.get("response_format"), None);

    let call = |name: &str, arguments: &str| ToolCall::new("1", name, arguments);
    let called = Response::new("I call it now.")
        .with_tool_call(call("a_person", r#"{"name":"Ann"}"#))
        .with_tool_call(call("a_person", "{}"))
        .with_finish(FinishKind::ToolCalls);
    let answer = rendered.format.restore(called);
    assert_eq!((answer.text.as_str(), answer.finish.kind), (r#"{"name":"Ann"}"#, FinishKind::Stop));
    assert!(answer.tool_calls.is_empty());
    let talked = rendered.format.restore(Response::new(r#"{"name":"Ann"}"#));
    assert_eq!(talked.text, r#"{"name":"Ann"}"#);
    // A root that is no object goes in an object, and out of it again.
    let list = Request::new("x").json_schema("list", json!({"type": "array", "items": {"type": "string"}}));
    let rendered = render(&Attempt::new("m", &list), &by_tool, false).unwrap();
    let answer = Response::new("").with_tool_call(call("list", r#"{"value":["a"]}"#));
    assert_eq!(rendered.format.restore(answer).text, r#"["a"]"#);
}

#[test]
fn the_answers_tool_stands_beside_the_callers() {
    let request =
        Request::new("x").json_schema("find", person()).tool(Tool::new("find", json!({"type": "object"})));
    let choice = |request: &Request| {
        let (sent, notes) = whole(request, &able(StructuredOutput::Tool));
        let names: Vec<Value> =
            sent["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].clone()).collect();
        (names, sent["tool_choice"].clone(), notes.len())
    };
    assert_eq!(choice(&request), (vec![json!("find"), json!("find_")], json!("required"), 0));
    let none = request.clone().tool_choice(ToolChoice::None);
    assert_eq!(choice(&none).1, json!({"type": "function", "function": {"name": "find_"}}));
    let forced = request.clone().tool_choice(ToolChoice::Required);
    assert_eq!(choice(&forced), (vec![json!("find")], json!("required"), 1));

    let rendered = render(&Attempt::new("m", &request), &able(StructuredOutput::Tool), false).unwrap();
    let other =
        Response::new("").with_tool_call(ToolCall::new("1", "find", "{}")).with_finish(FinishKind::ToolCalls);
    let other = rendered.format.restore(other);
    assert_eq!(
        (other.text.as_str(), other.tool_calls.len(), other.finish.kind),
        ("", 1, FinishKind::ToolCalls)
    );
}

#[test]
fn the_pieces_of_the_answers_call_are_pieces_of_text() {
    let request = Request::new("x").json_schema("p", person());
    let rendered = render(&Attempt::new("m", &request), &able(StructuredOutput::Tool), true).unwrap();
    let call = |index: usize, name: Option<&str>, arguments: &str| Chunk::ToolCall {
        index,
        id: None,
        name: name.map(Into::into),
        arguments: arguments.into(),
    };
    let end = || Chunk::End(FinishReason::new(FinishKind::ToolCalls, "tool_calls"));
    let mut restorer = rendered.format.restorer().unwrap();
    let sent = [call(0, Some("p"), ""), call(0, None, "{\"a\""), call(0, None, ":1}"), end()];
    let expected = [
        Chunk::Ping,
        Chunk::Text("{\"a\"".into()),
        Chunk::Text(":1}".into()),
        Chunk::End(FinishReason::new(FinishKind::Stop, "tool_calls")),
    ];
    assert_eq!(sent.map(|chunk| restorer.restore(chunk)), expected);
    let mut restorer = rendered.format.restorer().unwrap();
    for chunk in [call(0, Some("other"), "{}"), call(0, None, "x"), end()] {
        assert_eq!(restorer.restore(chunk.clone()), chunk);
    }
}

fn sent_to(preset: &Preset, own: Own, request: &Request) -> (Value, Vec<String>) {
    let server = Server::new(preset.name.into(), preset, own);
    let rendered =
        request::render(&Attempt::new("m", request), &preset.traits, &server, Api::Chat, false).unwrap();
    (body_of(&rendered), rendered.notes)
}

#[test]
fn servers_are_sent_what_they_know() {
    let options = OpenAiOptions::new().service_tier("flex").verbosity("low").parallel_tool_calls(true);
    let call = ToolCall::new("call_abc", "f", "{}");
    let request = Request::new("x")
        .seed(7)
        .max_tokens(5)
        .message(Message::assistant("").part(backstop_core::Part::ToolCall(call.clone())))
        .message(Message::tool_result(ToolResult::new(&call, "ok")))
        .options(&options)
        .unwrap();
    let (sent, notes) = sent_to(&Preset::MISTRAL, Own::default(), &request);
    assert_eq!((&sent["random_seed"], &sent["max_tokens"]), (&json!(7), &json!(5)));
    for absent in ["seed", "max_completion_tokens", "service_tier", "verbosity"] {
        assert_eq!(sent.get(absent), None, "{absent}");
    }
    assert_eq!(notes.len(), 2, "{notes:?}");
    let id = sent["messages"][1]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!((id.len(), &sent["messages"][2]["tool_call_id"]), (9, &json!(id)));

    let own = Own { lacks: vec!["seed".into()], body: vec![("top_k".into(), json!(3))], ..Own::default() };
    let request = request.extra_body("fireworks", "top_k", 4).for_target("fireworks", "m");
    let (sent, notes) = sent_to(&Preset::FIREWORKS, own, &request);
    assert_eq!((&sent["context_length_exceeded_behavior"], &sent["top_k"]), (&json!("error"), &json!(4)));
    assert_eq!((sent.get("seed"), notes.len()), (None, 1));
}

/// What is sent of the cache hints of a request, and whether something is noted.
fn cached(preset: &Preset, model: &str, request: &Request) -> (Value, bool) {
    let server = Server::new(preset.name.into(), preset, Own::default());
    let traits = traits_of(model, preset.traits, preset.developer_role);
    let rendered =
        request::render(&Attempt::new(model, request), &traits, &server, Api::Chat, false).unwrap();
    (body_of(&rendered), !rendered.notes.is_empty())
}

#[test]
fn cache_hints_are_given_in_the_servers_form_or_noted() {
    use CacheHint::{Long, Short};
    let table: &[(Preset, &str, CacheHint, Option<&str>, bool)] = &[
        (Preset::OPENAI, "gpt-5.2", Short, None, false),
        (Preset::OPENAI, "gpt-5.2", Long, Some("24h"), false),
        (Preset::OPENAI, "gpt-4.1-2025-04-14", Long, Some("24h"), false),
        (Preset::OPENAI, "gpt-5-mini", Long, None, true),
        (Preset::OPENAI, "gpt-4o", Long, None, true),
        (Preset::AZURE, "gpt-5.2", Long, None, true),
        (Preset::DEEPSEEK, "deepseek-chat", Short, None, false),
        (Preset::VLLM, "qwen3", Long, None, true),
        (Preset::MISTRAL, "mistral-large", Short, None, true),
        (Preset::COMPATIBLE, "m", Short, None, true),
    ];
    for (preset, model, hint, retention, noted) in table {
        let request = Request::default().system("s").message(Message::user("u").cached(*hint));
        let (sent, notes) = cached(preset, model, &request);
        let found = (sent.get("prompt_cache_retention").and_then(Value::as_str), notes);
        assert_eq!(found, (*retention, *noted), "{} {model} {hint:?}", preset.name);
        assert_eq!(sent["messages"][1]["content"], "u", "the text needs no mark");
    }
}

#[test]
fn marks_for_the_cache_stand_at_the_parts_that_they_end() {
    let request = Request::default()
        .system("s")
        .cache_system(CacheHint::Long)
        .message(Message::user("u1").cached(CacheHint::Short))
        .message(Message::assistant("a").cached(CacheHint::Short))
        .message(Message::user("u2").part(Media::image("image/png", b"x")).cached(CacheHint::Short))
        .message(Message::user("u3"))
        .message(Message::user("u4").cached(CacheHint::Short));
    let (sent, noted) = cached(&Preset::OPENROUTER, "anthropic/claude-sonnet-4.5", &request);
    let (short, long) = (json!({ "type": "ephemeral" }), json!({ "type": "ephemeral", "ttl": "1h" }));
    let text = |text: &str, mark: &Value| json!([{ "type": "text", "text": text, "cache_control": mark }]);
    let content = |at: usize| &sent["messages"][at]["content"];
    assert_eq!(*content(0), text("s", &long));
    assert_eq!(*content(1), "u1", "of five marks four are taken");
    assert!(noted);
    assert_eq!(*content(2), text("a", &short));
    assert_eq!((content(3)[0].get("cache_control"), &content(3)[1]["cache_control"]), (None, &short));
    assert_eq!(*content(4), "u3");
    assert_eq!(*content(5), text("u4", &short));
}

#[test]
fn a_grammar_leaves_optional_properties_optional() {
    let (sent, _) =
        sent_to(&Preset::LLAMA_CPP, Own::default(), &Request::new("x").json_schema("p", person()));
    assert_eq!(sent["response_format"]["json_schema"]["schema"]["required"], json!(["name"]));
    // A grammar tells the model nothing, so the prompt does.
    assert!(sent["messages"][0]["content"].as_str().unwrap().contains("JSON Schema"), "{sent}");
    // What a grammar cannot express goes into the prompt.
    let dynamic = json!({"$ref": "https://host/schema"});
    let (sent, notes) = sent_to(&Preset::VLLM, Own::default(), &Request::new("x").json_schema("p", dynamic));
    assert_eq!((sent.get("response_format"), notes.len()), (None, 1));
}

#[test]
fn only_a_router_is_told_where_to_go() {
    let options = OpenRouterOptions::new().order(vec!["a".to_owned()]).allow_fallbacks(false);
    let plain = Request::new("x");
    let hosts = plain.clone().options(&options).unwrap();
    let schema = |request: Request| request.json_schema("p", person());
    let provider =
        |request: &Request| sent_to(&Preset::OPENROUTER, Own::default(), request).0.get("provider").cloned();
    assert_eq!(provider(&plain), None);
    assert_eq!(provider(&hosts), Some(json!({"order": ["a"], "allow_fallbacks": false})));
    assert_eq!(provider(&schema(plain.clone())), Some(json!({"require_parameters": true})));
    assert_eq!(
        provider(&schema(hosts.clone())),
        Some(json!({"order": ["a"], "allow_fallbacks": false, "require_parameters": true}))
    );
    let lax = plain.options(&OpenRouterOptions::new().require_parameters(false)).unwrap();
    assert_eq!(provider(&schema(lax)), Some(json!({"require_parameters": false})));
    assert_eq!(sent_to(&Preset::GROQ, Own::default(), &hosts).0.get("provider"), None);
}

#[test]
fn turns_are_joined_where_they_have_to_alternate() {
    let picture = Media::image("image/png", b"x");
    let request = Request::new("one")
        .message(Message::user("two"))
        .message(Message::assistant("three"))
        .message(Message::assistant("four"))
        .message(Message::user("five"))
        .message(Message::user("six").part(picture).part("seven"))
        .message(Message::user("eight"));
    let (body, _) = whole(&request, &PLAIN.joined_turns(true));
    let expected = json!([
        {"role": "user", "content": "one\n\ntwo"},
        {"role": "assistant", "content": "three\n\nfour"},
        {"role": "user", "content": [
            {"type": "text", "text": "five\n\nsix"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}},
            {"type": "text", "text": "seven\n\neight"},
        ]},
    ]);
    assert_eq!(body["messages"], expected);
    let (body, _) = whole(&request, &PLAIN);
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(7));
}
