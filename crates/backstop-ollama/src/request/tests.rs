use std::{borrow::Cow, time::Duration};

use backstop_core::{
    Capabilities, Media, Message, Output, Overlay, Part, Role, StructuredOutput, ToolCall, ToolResult,
};
use serde_json::json;

use super::*;
use crate::{models::traits_of, options::Think};

fn rendered(model: &str, request: &Request) -> (Value, Vec<String>) {
    let traits = traits_of(model, ModelTraits::new());
    let rendered = render(&Attempt::new(model, request), &traits, Defaults::default(), false).unwrap();
    (serde_json::from_slice(&rendered.body).unwrap(), rendered.notes)
}

fn body(request: &Request) -> Value {
    rendered("m", request).0
}

fn person() -> Value {
    json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] })
}

fn tool(name: &'static str) -> Tool {
    Tool::new(name, json!({ "type": "object" })).description("Does it.")
}

#[test]
fn a_whole_request_in_ollamas_words() {
    let options = OllamaOptions::new()
        .num_ctx(8_192)
        .keep_alive(Duration::from_secs(60))
        .think(Think::Level("low".into()))
        .top_k(40)
        .min_p(0.25)
        .repeat_penalty(1.5);
    let request = Request::new("Ann is 31")
        .system("Extract.")
        .max_tokens(200)
        .temperature(0.0)
        .top_p(0.5)
        .stop("END")
        .seed(u64::MAX)
        .tool(tool("look"))
        .options(&options)
        .unwrap();
    let expected = json!({
        "model": "m",
        "messages": [
            { "role": "system", "content": "Extract." },
            { "role": "user", "content": "Ann is 31" },
        ],
        "stream": false,
        "think": "low",
        "keep_alive": 60.0,
        "truncate": false,
        "shift": false,
        "tools": [{ "type": "function", "function": {
            "name": "look", "description": "Does it.", "parameters": { "type": "object" },
        } }],
        "options": {
            "num_ctx": 8_192, "num_predict": 200, "temperature": 0.0, "top_p": 0.5, "top_k": 40, "min_p": 0.25,
            "repeat_penalty": 1.5, "stop": ["END"], "seed": i64::MAX,
        },
    });
    assert_eq!(body(&request), expected);
}

#[test]
fn the_server_is_told_to_drop_nothing_unless_the_caller_wants_it() {
    let plain = body(&Request::new("Hi"));
    let expected = json!({
        "model": "m", "messages": [{ "role": "user", "content": "Hi" }], "stream": false,
        "truncate": false, "shift": false, "options": {},
    });
    assert_eq!(plain, expected);
    let options = OllamaOptions::new().truncate(true).shift(true);
    let wanted = body(&Request::new("Hi").options(&options).unwrap());
    assert_eq!((&wanted["truncate"], &wanted["shift"]), (&json!(true), &json!(true)));
}

#[test]
fn a_request_says_otherwise_than_its_provider() {
    let defaults = Defaults { num_ctx: Some(4_096), keep_alive: Some(KeepAlive::Forever) };
    let sent = |request: &Request| {
        let rendered = render(&Attempt::new("m", request), &ModelTraits::new(), defaults, true).unwrap();
        let body: Value = serde_json::from_slice(&rendered.body).unwrap();
        assert_eq!(body["stream"], true);
        (body["options"]["num_ctx"].clone(), body["keep_alive"].clone())
    };
    assert_eq!(sent(&Request::new("x")), (json!(4_096), json!(-1)));
    let options = OllamaOptions::new().num_ctx(9).keep_alive(Duration::ZERO);
    assert_eq!(sent(&Request::new("x").options(&options).unwrap()), (json!(9), json!(0.0)));
}

#[test]
fn pictures_calls_and_results_have_their_places() {
    let one = ToolCall::new("call_0", "add", r#"{"a":12345678901234567890123}"#);
    let two = ToolCall::new("", "now", "");
    let three = ToolCall::new("c", "look", "not json");
    let calls = [&one, &two, &three].map(|call| Part::ToolCall(call.clone())).to_vec();
    let results = vec![
        Part::ToolResult(ToolResult::new(&one, "42")),
        Part::ToolResult(ToolResult::new(&two, "noon")),
        Part::Text("go on".into()),
    ];
    let request = Request::default()
        .message(Message::user("look").part(Media::image("image/png", b"pixels")).part("here"))
        .message(Message::new(Role::Assistant, calls))
        .message(Message::new(Role::User, results))
        .message(Message::new(Role::User, vec![]));
    let rendered =
        render(&Attempt::new("m", &request), &ModelTraits::new(), Defaults::default(), false).unwrap();
    let text = String::from_utf8(rendered.body).unwrap();
    // Numbers do not pass through our hands.
    assert!(text.contains(r#""arguments":{"a":12345678901234567890123}"#), "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    let mut messages = body["messages"].clone();
    messages[1]["tool_calls"][0] = Value::Null;
    let expected = json!([
        { "role": "user", "content": "look\nhere", "images": ["cGl4ZWxz"] },
        { "role": "assistant", "content": "", "tool_calls": [
            null,
            { "function": { "name": "now", "arguments": {} } },
            { "id": "c", "function": { "name": "look", "arguments": { "arguments": "not json" } } },
        ] },
        { "role": "tool", "content": "42", "tool_name": "add", "tool_call_id": "call_0" },
        { "role": "tool", "content": "noon", "tool_name": "now" },
        { "role": "user", "content": "go on" },
        { "role": "user", "content": "" },
    ]);
    assert_eq!(messages, expected);
}

#[test]
fn what_ollama_has_no_form_for_is_not_sent() {
    let table = [
        Media::from_bytes("application/pdf", b"%PDF"),
        Media::from_url("application/pdf", "https://example.com/a.pdf"),
        Media::from_url("image/png", "https://example.com/a.png"),
    ];
    for media in table {
        let request = Request::default().message(Message::user("read").part(media));
        let attempt = Attempt::new("m", &request);
        let error = render(&attempt, &ModelTraits::new(), Defaults::default(), false).err().unwrap();
        assert_eq!(error.kind(), FailureKind::Unsupported);
    }
}

#[test]
fn a_schema_is_enforced_and_shown() {
    let request = Request::new("x").system("Extract.").json_schema("person", person());
    let (sent, notes) = rendered("m", &request);
    assert_eq!(sent["format"], person());
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Extract.\n\nAnswer only with JSON"), "{system}");
    assert!(system.contains(r#""required":["name"]"#) && notes.is_empty(), "{system} {notes:?}");
    let terse = ModelTraits::new().schema_in_prompt(false);
    let rendered = render(&Attempt::new("m", &request), &terse, Defaults::default(), false).unwrap();
    let sent: Value = serde_json::from_slice(&rendered.body).unwrap();
    assert_eq!((&sent["format"], &sent["messages"][0]["content"]), (&person(), &json!("Extract.")));
}

#[test]
fn json_without_a_schema_takes_the_strongest_form_there_is() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let traits = |mode| ModelTraits::new().capabilities(Capabilities::unknown().with_structured_output(mode));
    let json = Request::new("x").output(Output::Json);
    let object = Request::new("x").json_schema("person", person());
    let array = Request::new("x").json_schema("names", list);
    use StructuredOutput::{JsonObject, None, Strict};
    let table = [
        (&json, Strict, json!("json"), "JSON only"),
        (&json, None, Value::Null, "JSON only"),
        (&object, JsonObject, json!("json"), "JSON Schema"),
        // JSON mode would allow objects only.
        (&array, JsonObject, Value::Null, "JSON Schema"),
        (&object, None, Value::Null, "JSON Schema"),
    ];
    for (request, mode, format, prompt) in table {
        let rendered =
            render(&Attempt::new("m", request), &traits(mode), Defaults::default(), false).unwrap();
        let body: Value = serde_json::from_slice(&rendered.body).unwrap();
        assert_eq!(body.get("format").unwrap_or(&Value::Null), &format, "{mode:?}");
        assert!(body["messages"][0]["content"].as_str().unwrap().contains(prompt), "{mode:?}");
        assert!(!rendered.format.has_schema());
    }
    assert!(body(&array)["format"].is_object());
    assert!(rendered("glm-5:cloud", &object).0.get("format").is_none());
}

#[test]
fn a_refused_schema_and_refused_parameters_are_left_out_next_time() {
    let options = OllamaOptions::new().think(Think::Switch(true));
    let request = Request::new("x").json_schema("person", person()).top_p(0.5).max_tokens(9);
    let request = request.options(&options).unwrap();
    let mut overlay = Overlay::new();
    overlay.json_mode = true;
    overlay.dropped = ["top_p", "think"].map(Cow::Borrowed).to_vec();
    overlay.max_tokens = Some(77);
    let mut attempt = Attempt::new("m", &request);
    attempt.overlay = &overlay;
    let rendered = render(&attempt, &ModelTraits::new(), Defaults::default(), false).unwrap();
    let body: Value = serde_json::from_slice(&rendered.body).unwrap();
    assert_eq!((&body["format"], &body["options"]), (&json!("json"), &json!({ "num_predict": 77 })));
    assert!(body.get("think").is_none());
}

#[test]
fn which_tools_are_shown_is_all_that_can_be_said_about_them() {
    let shown = |choice: ToolChoice| {
        let request = Request::new("x").tool(tool("one")).tool(tool("two")).tool_choice(choice);
        let (body, notes) = rendered("m", &request);
        (body.get("tools").map_or(0, |tools| tools.as_array().unwrap().len()), notes.len())
    };
    assert_eq!(shown(ToolChoice::Auto), (2, 0));
    assert_eq!(shown(ToolChoice::None), (0, 0));
    assert_eq!(shown(ToolChoice::Required), (2, 1));
    assert_eq!(shown(ToolChoice::Tool("two".into())), (1, 1));
}

#[test]
fn a_long_cache_hint_keeps_the_model_loaded_unless_it_is_said_how_long() {
    let long = Request::new("x").message(Message::user("y").cached(CacheHint::Long));
    let own = OllamaOptions::new().keep_alive(Duration::from_secs(60));
    let table = [
        (Request::new("x").message(Message::user("y").cached(CacheHint::Short)), None),
        (long.clone(), Some(3_600.0)),
        (long.options(&own).unwrap(), Some(60.0)),
    ];
    for (request, seconds) in table {
        let (body, notes) = rendered("m", &request);
        assert_eq!((body.get("keep_alive").and_then(Value::as_f64), notes.len()), (seconds, 0));
    }
}

#[test]
fn fields_of_the_callers_own_are_laid_over_ours() {
    let request = Request::new("x")
        .temperature(0.5)
        .max_tokens(5)
        .extra_body("ollama", "options", json!({ "temperature": 1.5, "mirostat": 1 }))
        .extra_body("ollama", "truncate", true)
        .extra_body("ollama", "logprobs", true)
        .for_target("ollama", "m");
    let rendered =
        render(&Attempt::new("m", &request), &ModelTraits::new(), Defaults::default(), false).unwrap();
    let text = String::from_utf8(rendered.body).unwrap();
    assert_eq!((text.matches("temperature").count(), text.matches("truncate").count()), (1, 1), "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["options"], json!({ "num_predict": 5, "temperature": 1.5, "mirostat": 1 }));
    assert_eq!((&body["truncate"], &body["logprobs"]), (&json!(true), &json!(true)));
    let whole = Request::new("x").temperature(0.5).extra_body("ollama", "options", Value::Null);
    let whole = whole.for_target("ollama", "m");
    assert_eq!(super::tests::body(&whole)["options"], Value::Null);
}

#[test]
fn options_that_cannot_be_read_are_the_callers_mistake() {
    let mut request = Request::new("x");
    request.body_mut().provider_options.insert("ollama".into(), json!({ "num_ctx": "large" }));
    let error =
        render(&Attempt::new("m", &request), &ModelTraits::new(), Defaults::default(), false).err().unwrap();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert!(error.to_string().contains("options for `ollama`"), "{error}");
}

#[test]
fn a_large_prompt_is_written_into_one_buffer() {
    let line = "One \"quoted\" word in a line.\n".repeat(1 << 14);
    let picture = Media::image("image/png", vec![7; 1 << 20]);
    let request = Request::new(line.clone()).system(line).message(Message::user("see").part(picture));
    let attempt = Attempt::new("m", &request);
    let body = render(&attempt, &ModelTraits::new(), Defaults::default(), false).unwrap().body;
    assert_eq!(body.capacity(), backstop_http::room_for(&attempt), "it was moved while it was written");
    assert!(body.capacity() < body.len() + body.len() / 8);
}
