use backstop_core::{
    CacheHint, Capabilities, FailureKind, Media, Message, Output, Overlay, Part, Request, Role,
    StructuredOutput, Tool, ToolCall, ToolChoice, ToolResult,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Fallback, Fallbacks, Sampling};

/// A model that takes everything but strict output.
const OLDER: ModelTraits = ModelTraits::compatible().max_tokens(1_000);
const STRICT: ModelTraits =
    OLDER.capabilities(Capabilities::unknown().with_structured_output(StructuredOutput::Strict));

fn rendered(request: &Request, traits: ModelTraits) -> Result<(Value, Rendered), ProviderError> {
    let rendered = render(&Attempt::new("m", request), &traits, false)?;
    Ok((serde_json::from_slice(&rendered.body).unwrap(), rendered))
}

fn body(request: &Request) -> Value {
    rendered(request, OLDER).unwrap().0
}

fn fault(request: &Request, traits: ModelTraits) -> ProviderError {
    rendered(request, traits).err().expect("the request is refused")
}

fn person() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]})
}

fn with_schema() -> Request {
    Request::new("Ann").json_schema("a person", person())
}

fn options(options: &AnthropicOptions) -> Request {
    Request::new("x").options(options).unwrap()
}

#[test]
fn a_plain_request() {
    let request =
        Request::new("Hi").system("Be brief.").temperature(0.5).stop("END").metadata("user_id", "u1");
    assert_eq!(
        body(&request),
        json!({
            "model": "m",
            "max_tokens": 1000,
            "system": "Be brief.",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
            "temperature": 0.5,
            "stop_sequences": ["END"],
            "metadata": {"user_id": "u1"},
        })
    );
    assert_eq!(body(&Request::new("Hi").max_tokens(5))["max_tokens"], 5);
    assert_eq!(body(&Request::new("Hi").system("  ")).get("system"), None);
}

#[test]
fn a_stream_is_asked_for() {
    let request = Request::new("Hi");
    let rendered = render(&Attempt::new("m", &request), &OLDER, true).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&rendered.body).unwrap()["stream"], true);
    assert_eq!(body(&request).get("stream"), None);
}

#[test]
fn messages_of_one_role_are_one_turn_and_results_come_first() {
    let call = ToolCall::new("call:1", "f", r#"{"b":1, "a":12345678901234567890123}"#);
    let request = Request::new("one")
        .message(Message::user("two"))
        .message(Message::new(Role::Assistant, vec![Part::Text(String::new()), Part::ToolCall(call.clone())]))
        .message(Message::user("three"))
        .message(Message::tool_result(ToolResult::new(&call, "42")))
        .message(Message::tool_result(ToolResult::new(&call, "").error()))
        .message(Message::user(" \n"));
    let text = String::from_utf8(rendered(&request, OLDER).unwrap().1.body).unwrap();
    assert!(text.contains(r#""input":{"b":1, "a":12345678901234567890123}"#), "{text}");
    assert_eq!(
        body(&request)["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "call_1", "name": "f", "input": {"b": 1, "a": 12345678901234567890123.0}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "42"},
                {"type": "tool_result", "tool_use_id": "call_1", "is_error": true},
                {"type": "text", "text": "three"},
            ]},
        ])
    );
}

#[test]
fn arguments_that_are_no_object_become_one() {
    let table =
        [("", json!({})), ("[1]", json!({"arguments": "[1]"})), ("{oops", json!({"arguments": "{oops"}))];
    for (arguments, expected) in table {
        let call = Part::ToolCall(ToolCall::new("", "f", arguments));
        let request =
            Request::new("x").message(Message::new(Role::Assistant, vec![call])).message(Message::user("y"));
        let block = &body(&request)["messages"][1]["content"][0];
        assert_eq!((&block["input"], &block["id"]), (&expected, &json!("_")), "{arguments}");
    }
}

#[test]
fn pictures_and_documents() {
    let message = Message::user("look")
        .part(Media::image("image/jpg", "pixels"))
        .part(Media::from_url("image/heic", "https://h/p"))
        .part(Media::from_bytes("application/pdf", "pdf").named("Bill"))
        .part(Media::from_bytes("text/markdown", "# \u{e9}"))
        .part(Part::Document(Media::from_url("application/pdf", "https://h/d")));
    let content = &body(&Request::default().message(message))["messages"][0]["content"];
    assert_eq!(
        *content,
        json!([
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "cGl4ZWxz"}},
            {"type": "image", "source": {"type": "url", "url": "https://h/p"}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "cGRm"}, "title": "Bill"},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "# \u{e9}"}},
            {"type": "document", "source": {"type": "url", "url": "https://h/d"}},
        ])
    );
}

#[test]
fn what_the_vendor_has_no_form_for_is_unsupported() {
    let of = |role, part: Media| Request::default().message(Message::new(role, vec![part.into()]));
    let root = |schema: Value| Request::new("x").tool(Tool::new("f", schema));
    let table = [
        of(Role::User, Media::image("image/heic", "x")),
        of(Role::User, Media::from_bytes("application/msword", "x")),
        of(Role::Assistant, Media::image("image/png", "x")),
        root(json!({"anyOf": [{"type": "object"}]})),
        root(json!({"type": "array"})),
        root(json!(true)),
    ];
    for request in table {
        assert_eq!(fault(&request, OLDER).kind(), FailureKind::Unsupported, "{request:?}");
    }
    let forced = Request::new("x").tool(Tool::new("f", json!({}))).tool_choice(ToolChoice::Required);
    assert_eq!(fault(&forced, OLDER.forced_tools(false)).kind(), FailureKind::Unsupported);
    let begun = Request::new("x").message(Message::assistant("{"));
    assert_eq!(fault(&begun, OLDER.prefill(false)).kind(), FailureKind::Unsupported);
    let binary = of(Role::User, Media::from_bytes("text/plain", b"\xff"));
    assert_eq!(fault(&binary, OLDER).kind(), FailureKind::InvalidRequest);
    assert_eq!(fault(&Request::new(" "), OLDER).kind(), FailureKind::InvalidRequest);
}

#[test]
fn an_answer_that_has_begun_ends_without_white_space() {
    let request = Request::new("x").message(Message::assistant("The answer: \n"));
    assert_eq!(body(&request)["messages"][1]["content"][0]["text"], "The answer:");
}

#[test]
fn schemas_go_into_the_output_format_where_it_is_known() {
    let (body, rendered) = rendered(&with_schema(), STRICT).unwrap();
    assert_eq!(
        body["output_config"],
        json!({"format": {"type": "json_schema", "schema": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "minLength: 1"}},
            "required": ["name"],
            "additionalProperties": false,
        }}})
    );
    assert!(rendered.format.has_schema() && rendered.format.answer_tool().is_none());
    assert_eq!((rendered.notes.len(), body.get("tools")), (0, None));
}

#[test]
fn schemas_go_into_a_forced_tool_elsewhere() {
    let (body, rendered) = rendered(&with_schema(), OLDER).unwrap();
    assert_eq!(body["tools"][0]["name"], "a_person");
    assert_eq!(body["tools"][0]["input_schema"], person());
    assert_eq!(
        body["tool_choice"],
        json!({"type": "tool", "name": "a_person", "disable_parallel_tool_use": true})
    );
    assert_eq!(rendered.format.answer_tool(), Some("a_person"));
    assert_eq!(body.get("output_config"), None);
}

#[test]
fn the_answers_tool_stands_beside_the_callers() {
    let request = with_schema().tool(Tool::new("a_person", json!({})).description("Mine."));
    let body = body(&request);
    assert_eq!(
        body["tools"][0],
        json!({"name": "a_person", "description": "Mine.", "input_schema": {"type": "object"}})
    );
    assert_eq!(
        (&body["tools"][1]["name"], &body["tool_choice"]),
        (&json!("a_person_"), &json!({"type": "any"}))
    );
    let only_the_answer = self::body(&request.clone().tool_choice(ToolChoice::None));
    assert_eq!(only_the_answer["tool_choice"]["name"], "a_person_");
}

#[test]
fn schemas_go_into_the_prompt_last() {
    let thinking = AnthropicOptions::new().thinking(Thinking::Adaptive);
    let own_tool = with_schema().tool(Tool::new("f", json!({})));
    let table = [
        (with_schema(), OLDER.forced_tools(false)),
        (with_schema().options(&thinking).unwrap(), OLDER),
        (own_tool.clone().tool_choice(ToolChoice::Required), OLDER),
        (own_tool.tool_choice(ToolChoice::Tool("f".into())), OLDER),
        (with_schema().message(Message::assistant("{")), STRICT),
        (
            with_schema(),
            OLDER.capabilities(Capabilities::unknown().with_structured_output(StructuredOutput::None)),
        ),
    ];
    for (request, traits) in table {
        let (body, rendered) = rendered(&request.clone().system("Mine."), traits).unwrap();
        assert_eq!(body["system"][0], json!({"type": "text", "text": "Mine."}), "{request:?}");
        let ours = body["system"][1]["text"].as_str().unwrap();
        assert!(ours.contains(r#""minLength":1"#), "{ours}");
        assert!(!rendered.format.has_schema() && body.get("output_config").is_none(), "{request:?}");
    }
}

#[test]
fn a_refused_schema_goes_on_in_the_next_form() {
    let request = with_schema();
    let mut overlay = Overlay::new();
    overlay.json_mode = true;
    let mut attempt = Attempt::new("m", &request);
    attempt.overlay = &overlay;
    let format = |traits| render(&attempt, &traits, false).unwrap().format;
    assert!(matches!(format(STRICT), Format::Tool { .. }));
    assert!(matches!(format(OLDER), Format::Prompt(_)));
    assert!(matches!(format(STRICT.forced_tools(false)), Format::Prompt(_)));
}

#[test]
fn a_schema_beyond_the_dialect_is_noted() {
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let (body, rendered) = rendered(&Request::new("x").json_schema("counts", map.clone()), STRICT).unwrap();
    assert_eq!(body["tools"][0]["input_schema"], map);
    assert!(rendered.notes[0].contains("not enforced"), "{:?}", rendered.notes);
}

#[test]
fn other_roots_are_wrapped_but_not_in_a_stream() {
    let request =
        Request::new("x").json_schema("list", json!({"type": "array", "items": {"type": "string"}}));
    let (_, rendered) = rendered(&request, STRICT).unwrap();
    assert!(matches!(rendered.format, Format::Schema(_)));
    assert_eq!(rendered.format.restore(r#"{"value":["a"]}"#.into()), r#"["a"]"#);
    let streamed = render(&Attempt::new("m", &request), &STRICT, true).unwrap();
    assert!(matches!(streamed.format, Format::Prompt(_)));
    assert_eq!(streamed.format.restore(r#"["a"]"#.into()), r#"["a"]"#);
}

#[test]
fn json_without_a_schema_is_asked_for_in_the_prompt() {
    let body = body(&Request::new("x").output(Output::Json));
    assert_eq!(body["system"], "Answer with JSON only.");
}

#[test]
fn sampling_parameters_are_sent_where_they_are_taken() {
    let wanted = options(&AnthropicOptions::new().top_k(5)).temperature(1.5).top_p(0.9).seed(1);
    let sent = |sampling| {
        let (body, rendered) = rendered(&wanted, OLDER.sampling(sampling)).unwrap();
        (["temperature", "top_p", "top_k"].map(|key| body.get(key).cloned()), rendered.notes.len())
    };
    assert_eq!(sent(Sampling::Free), ([Some(json!(1.0)), Some(json!(0.9)), Some(json!(5))], 2));
    assert_eq!(sent(Sampling::One), ([Some(json!(1.0)), None, Some(json!(5))], 3));
    assert_eq!(sent(Sampling::Rejected), ([None, None, None], 4));
}

#[test]
fn thinking_changes_what_else_is_sent() {
    let thinking = AnthropicOptions::new().thinking(Thinking::Enabled { budget_tokens: 2_000 }).effort("low");
    let request = options(&thinking).temperature(0.1);
    let body = body(&request);
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 2_000}));
    assert_eq!((&body["max_tokens"], &body["output_config"]), (&json!(3_000), &json!({"effort": "low"})));
    assert_eq!(body.get("temperature"), None);
    let call = Part::ToolCall(ToolCall::new("a", "f", "{}"));
    let later = request.message(Message::new(Role::Assistant, vec![call])).message(Message::user("y"));
    let (body, rendered) = rendered(&later, OLDER).unwrap();
    assert_eq!((body.get("thinking"), &body["temperature"]), (None, &json!(0.1)));
    assert!(rendered.notes[0].contains("thinking"), "{:?}", rendered.notes);
}

#[test]
fn cache_hints_mark_the_prompt_up_to_the_vendors_number() {
    let mut request = Request::new("a").system("s").cache_system(CacheHint::Long);
    for n in 0..4 {
        request = request.message(Message::user(format!("m{n}")).part("more").cached(CacheHint::Short));
    }
    let (body, rendered) = rendered(&request, OLDER).unwrap();
    let long = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(body["system"], json!([{"type": "text", "text": "s", "cache_control": long}]));
    let blocks = body["messages"][0]["content"].as_array().unwrap();
    let marked: Vec<usize> = blocks
        .iter()
        .enumerate()
        .filter(|(_, b)| b.get("cache_control").is_some())
        .map(|(at, _)| at)
        .collect();
    assert_eq!(marked, [4, 6, 8], "the last three, each on the last block of its message");
    assert_eq!(rendered.notes.len(), 1);
    let none = self::rendered(&request, OLDER.cache_breakpoints(0)).unwrap().1.body;
    assert!(!String::from_utf8(none).unwrap().contains("cache_control"));
    let automatic = options(&AnthropicOptions::new().cache(CacheHint::Short));
    assert_eq!(self::body(&automatic)["cache_control"], json!({"type": "ephemeral"}));
}

#[test]
fn the_vendors_own_fallbacks() {
    let listed = AnthropicOptions::new()
        .fallbacks([Fallback::new("b").max_tokens(9), Fallback::new("c").thinking(Thinking::Disabled)]);
    let (body, rendered) = rendered(&options(&listed), OLDER).unwrap();
    assert_eq!(
        body["fallbacks"],
        json!([{"model": "b", "max_tokens": 9}, {"model": "c", "thinking": {"type": "disabled"}}])
    );
    assert_eq!(rendered.betas, [FALLBACK_BETA]);
    let chosen = AnthropicOptions::new().fallbacks(Fallbacks::default_models());
    assert_eq!(self::body(&options(&chosen))["fallbacks"], "default");
}

#[test]
fn tool_choices() {
    let request = Request::new("x").tool(Tool::new("f", json!({"properties": {}})));
    let single = AnthropicOptions::new().parallel_tool_calls(false);
    let table = [
        (request.clone(), None),
        (request.clone().tool_choice(ToolChoice::None), Some(json!({"type": "none"}))),
        (request.clone().tool_choice(ToolChoice::Required), Some(json!({"type": "any"}))),
        (
            request.clone().tool_choice(ToolChoice::Tool("f".into())),
            Some(json!({"type": "tool", "name": "f"})),
        ),
        (request.options(&single).unwrap(), Some(json!({"type": "auto", "disable_parallel_tool_use": true}))),
    ];
    for (request, expected) in table {
        assert_eq!(body(&request).get("tool_choice"), expected.as_ref());
    }
}

#[test]
fn extra_fields_and_refused_parameters_replace_ours() {
    let request = Request::new("x")
        .temperature(0.3)
        .top_p(0.4)
        .extra_body("anthropic", "max_tokens", 7)
        .extra_body("anthropic", "new", "field")
        .for_target("anthropic", "m");
    let mut overlay = Overlay::new();
    overlay.dropped.push("top_p".into());
    let mut attempt = Attempt::new("m", &request);
    attempt.overlay = &overlay;
    let text = String::from_utf8(render(&attempt, &OLDER, false).unwrap().body).unwrap();
    assert_eq!(text.matches("max_tokens").count(), 1, "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&body["max_tokens"], &body["new"], body.get("top_p")), (&json!(7), &json!("field"), None));
    assert_eq!(body["temperature"], 0.3);
}

#[test]
fn options_that_cannot_be_read_are_the_callers_fault() {
    let mut request = Request::new("x");
    request.body_mut().provider_options.insert("anthropic".into(), json!({"top_k": "many"}));
    assert_eq!(fault(&request, OLDER).kind(), FailureKind::InvalidRequest);
}

#[test]
fn a_large_prompt_is_written_into_one_buffer() {
    let text = "A \"quoted\" line of a long document.\n".repeat(20_000);
    let message = Message::user(&text).part(Media::from_bytes("application/pdf", &text));
    let request = Request::default().message(message).system(&text);
    let body = rendered(&request, OLDER).unwrap().1.body;
    assert!(body.capacity() < body.len() + body.len() / 4, "{} of {}", body.len(), body.capacity());
}

#[test]
fn stop_texts_of_white_space_are_left_out() {
    let (body, rendered) = rendered(&Request::new("x").stop("\n\n").stop("END"), OLDER).unwrap();
    assert_eq!((&body["stop_sequences"], rendered.notes.len()), (&json!(["END"]), 1));
    assert_eq!(self::body(&Request::new("x").stop(" ")).get("stop_sequences"), None);
}

/// Any part that a conversation may hold.
fn part() -> impl Strategy<Value = Part> {
    let call = || ToolCall::new("c", "f", "{}");
    prop_oneof![
        "[ a\n]{0,3}".prop_map(Part::Text),
        Just(Part::ToolCall(call())),
        Just(Part::ToolResult(ToolResult::new(&call(), "r"))),
        any::<bool>().prop_map(|png| Media::image(if png { "image/png" } else { "image/x" }, "p").into()),
    ]
}

proptest! {
    #[test]
    fn any_conversation_becomes_alternating_turns(
        messages in proptest::collection::vec((any::<bool>(), proptest::collection::vec(part(), 0..4), any::<bool>()), 0..8),
    ) {
        let mut request = Request::default();
        for (user, parts, cached) in messages {
            let message = Message::new(if user { Role::User } else { Role::Assistant }, parts);
            request = request.message(if cached { message.cached(CacheHint::Short) } else { message });
        }
        let (body, rendered) = match rendered(&request, OLDER) {
            Ok(sent) => sent,
            Err(error) => {
                let refused = matches!(error.kind(), FailureKind::Unsupported | FailureKind::InvalidRequest);
                prop_assert!(refused, "{error}");
                return Ok(());
            }
        };
        let turns = body["messages"].as_array().unwrap();
        prop_assert!(turns.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"]));
        for turn in turns {
            let blocks = turn["content"].as_array().unwrap();
            prop_assert!(!blocks.is_empty());
            let results: Vec<bool> = blocks.iter().map(|block| block["type"] == "tool_result").collect();
            prop_assert!(results.is_sorted_by(|a, b| a >= b), "results come first");
            let blank = |block: &Value| block["text"].as_str().is_some_and(|text| text.trim().is_empty());
            prop_assert!(!blocks.iter().any(blank));
        }
        let marks = String::from_utf8(rendered.body).unwrap().matches("cache_control").count();
        prop_assert!(marks <= 4);
    }
}
