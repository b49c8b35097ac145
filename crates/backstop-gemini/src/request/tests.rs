use std::borrow::Cow;

use backstop_core::{Media, Message, Overlay, Part, Role, Tool, ToolCall, ToolChoice, ToolResult};
use serde_json::{Value, json};

use super::*;
use crate::{
    models::{SchemaField, traits_of},
    options::{HarmCategory, HarmThreshold},
};

fn rendered(model: &str, request: &Request) -> (Value, Vec<String>) {
    let traits = traits_of(model, ModelTraits::new());
    let rendered = render(&Attempt::new(model, request), &traits, &[]).unwrap();
    (serde_json::from_slice(&rendered.body).unwrap(), rendered.notes)
}

fn body(model: &str, request: &Request) -> Value {
    rendered(model, request).0
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "age": { "type": "integer" } },
        "required": ["name", "age"],
    })
}

fn adder() -> Tool {
    let numbers = json!({ "type": "object", "properties": { "a": { "type": "number" } }, "required": ["a"] });
    Tool::new("add", numbers).description("Adds.")
}

#[test]
fn a_whole_request_in_googles_words() {
    let options = GeminiOptions::new()
        .safety(HarmCategory::HateSpeech, HarmThreshold::OnlyHigh)
        .thinking_level("low")
        .include_thoughts(true)
        .top_k(40)
        .presence_penalty(0.5)
        .frequency_penalty(0.25)
        .media_resolution("MEDIA_RESOLUTION_LOW")
        .service_tier("flex");
    let request = Request::new("Ann is 31")
        .system("Extract.")
        .max_tokens(300)
        .temperature(0.25)
        .top_p(0.5)
        .stop("END")
        .seed(u64::from(u32::MAX))
        .json_schema("person", person())
        .options(&options)
        .unwrap();
    let expected = json!({
        "systemInstruction": { "parts": [{ "text": "Extract." }] },
        "contents": [{ "role": "user", "parts": [{ "text": "Ann is 31" }] }],
        "generationConfig": {
            "maxOutputTokens": 300, "temperature": 0.25, "topP": 0.5, "topK": 40, "stopSequences": ["END"],
            "seed": 2_147_483_647, "presencePenalty": 0.5, "frequencyPenalty": 0.25,
            "mediaResolution": "MEDIA_RESOLUTION_LOW",
            "thinkingConfig": { "includeThoughts": true, "thinkingLevel": "LOW" },
            "responseMimeType": "application/json",
            "responseJsonSchema": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "age": { "type": "integer" } },
                "required": ["name", "age"],
                "propertyOrdering": ["name", "age"],
            },
        },
        "safetySettings": [{ "category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "BLOCK_ONLY_HIGH" }],
        "serviceTier": "flex",
    });
    assert_eq!(body("gemini-3-flash-preview", &request), expected);
}

#[test]
fn a_plain_request_says_nothing_that_was_not_asked_for() {
    let expected =
        json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hi" }] }], "generationConfig": {} });
    assert_eq!(body("gemini-2.5-flash", &Request::new("Hi")), expected);
}

#[test]
fn turns_alternate_and_media_become_parts() {
    let picture = Media::image("image/png", b"pixels");
    let stored = Media::from_url("application/pdf", "https://example.com/files/f1").named("f1.pdf");
    let request = Request::new("one")
        .message(Message::user("two").part(picture).part(stored))
        .message(Message::assistant("three").part(""))
        .message(Message::new(Role::User, vec![]));
    let expected = json!([
        { "role": "user", "parts": [
            { "text": "one" }, { "text": "two" },
            { "inlineData": { "mimeType": "image/png", "data": "cGl4ZWxz" } },
            { "fileData": { "mimeType": "application/pdf", "fileUri": "https://example.com/files/f1" } },
        ] },
        { "role": "model", "parts": [{ "text": "three" }] },
        { "role": "user", "parts": [{ "text": "" }] },
    ]);
    assert_eq!(body("gemini-2.5-flash", &request)["contents"], expected);
}

#[test]
fn results_of_tools_go_back_by_name_together_and_as_they_were_written() {
    let one = ToolCall::new("call_0", "add", r#"{"a":12345678901234567890123}"#);
    let two = ToolCall::new("vendor-id", "look", "");
    let three = ToolCall::new("call_2", "look", "not json");
    let calls = [&one, &two, &three].map(|call| Part::ToolCall(call.clone())).to_vec();
    let request = Request::new("go")
        .message(Message::new(Role::Assistant, calls))
        .message(Message::tool_result(ToolResult::new(&one, r#"{"sum": 1.10}"#)))
        .message(Message::tool_result(ToolResult::new(&two, "42")))
        .message(Message::tool_result(ToolResult::new(&three, "no such place").error()));
    let traits = traits_of("gemini-3.1-pro-preview", ModelTraits::new());
    let rendered = render(&Attempt::new("m", &request), &traits, &[]).unwrap();
    let text = String::from_utf8(rendered.body).unwrap();
    // Numbers do not pass through our hands.
    assert!(text.contains(r#""args":{"a":12345678901234567890123}"#), "{text}");
    assert!(text.contains(r#""response":{"sum": 1.10}"#), "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    let mut called = body["contents"][1]["parts"].clone();
    assert_eq!(called[0]["thoughtSignature"], "skip_thought_signature_validator");
    called[0] = Value::Null;
    let expected = json!([
        null,
        { "functionCall": { "id": "vendor-id", "name": "look", "args": {} } },
        { "functionCall": { "name": "look", "args": { "arguments": "not json" } } },
    ]);
    assert_eq!(called, expected);
    let expected = json!([
        { "functionResponse": { "name": "add", "response": { "sum": 1.1 } } },
        { "functionResponse": { "id": "vendor-id", "name": "look", "response": { "output": "42" } } },
        { "functionResponse": { "name": "look", "response": { "error": "no such place" } } },
    ]);
    assert_eq!(body["contents"][2]["parts"], expected);
    assert_eq!(body["contents"].as_array().unwrap().len(), 3);
    let unsigned = super::tests::body("gemini-2.5-pro", &request);
    assert!(unsigned["contents"][1]["parts"][0].get("thoughtSignature").is_none());
}

#[test]
fn a_signature_goes_back_with_its_call_and_keeps_the_stand_in_away() {
    let signed = ToolCall::new("call_0", "look", "{}").with_signature("c2ln");
    let plain = ToolCall::new("call_1", "look", "{}");
    let turn = |calls: &[&ToolCall]| {
        let parts = calls.iter().map(|call| Part::ToolCall((*call).clone())).collect();
        let request = Request::new("x").message(Message::new(Role::Assistant, parts));
        let traits = traits_of("gemini-3.1-pro-preview", ModelTraits::new());
        let rendered = render(&Attempt::new("m", &request), &traits, &[]).unwrap();
        let body: Value = serde_json::from_slice(&rendered.body).unwrap();
        let parts = body["contents"][1]["parts"].as_array().unwrap().clone();
        parts.iter().map(|part| part["thoughtSignature"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let (own, stand_in) = (Some("c2ln".to_owned()), Some("skip_thought_signature_validator".to_owned()));
    assert_eq!(turn(&[&signed, &plain]), [own.clone(), None]);
    assert_eq!(turn(&[&plain, &plain]), [stand_in.clone(), None]);
    assert_eq!(turn(&[&plain, &signed]), [stand_in, own]);
}

#[test]
fn tools_and_whether_they_are_to_be_called() {
    let mode = |choice: ToolChoice| {
        let body = body("gemini-2.5-flash", &Request::new("x").tool(adder()).tool_choice(choice));
        assert_eq!(body["tools"][0]["functionDeclarations"][0]["name"], "add");
        body.get("toolConfig").map(|config| config["functionCallingConfig"].clone())
    };
    assert_eq!(mode(ToolChoice::Auto), None);
    assert_eq!(mode(ToolChoice::None), Some(json!({ "mode": "NONE" })));
    assert_eq!(mode(ToolChoice::Required), Some(json!({ "mode": "ANY" })));
    let named = json!({ "mode": "ANY", "allowedFunctionNames": ["add"] });
    assert_eq!(mode(ToolChoice::Tool("add".into())), Some(named));
}

#[test]
fn arguments_of_tools_follow_the_dialect() {
    let nothing = Tool::new("now", json!({ "type": "object" }));
    let map = Tool::new("tag", json!({ "type": "object", "additionalProperties": { "type": "string" } }));
    let declared = |model: &str, tool: &Tool| {
        let (body, notes) = rendered(model, &Request::new("x").tool(tool.clone()));
        (body["tools"][0]["functionDeclarations"][0].clone(), notes)
    };
    let (tool, notes) = declared("gemini-2.5-flash", &adder());
    assert_eq!(tool["parametersJsonSchema"]["properties"]["a"]["type"], "number");
    assert_eq!((tool["description"].as_str(), notes.len()), (Some("Adds."), 0));
    let (tool, _) = declared("gemini-1.5-flash", &adder());
    assert_eq!(tool["parameters"]["properties"]["a"]["type"], "NUMBER");
    for model in ["gemini-2.5-flash", "gemini-1.5-flash"] {
        assert_eq!(declared(model, &nothing), (json!({ "name": "now" }), vec![]));
    }
    // A map is an object without properties of its own, which OpenAPI's subset cannot say.
    assert_eq!(declared("gemini-1.5-flash", &map).0, json!({ "name": "tag" }));
}

#[test]
fn a_schema_is_enforced_where_it_can_be_and_prompted_where_it_cannot() {
    let asked = Request::new("x").json_schema("person", person());
    let with_tool = asked.clone().tool(adder());
    // Model and request; then the schema's field, JSON mode, and whether the schema stands in the prompt.
    let table: &[(&str, &Request, Option<&str>, bool, bool)] = &[
        ("gemini-2.5-flash", &asked, Some("responseJsonSchema"), true, false),
        ("gemini-1.5-flash", &asked, Some("responseSchema"), true, false),
        ("gemini-2.5-flash", &with_tool, None, false, true),
        ("gemini-3-pro-preview", &with_tool, Some("responseJsonSchema"), true, false),
        ("gemma-3-27b-it", &asked, None, false, true),
    ];
    for (model, request, field, mode, in_prompt) in table {
        let body = body(model, request);
        let config = &body["generationConfig"];
        for name in ["responseSchema", "responseJsonSchema"] {
            assert_eq!(config.get(name).is_some(), *field == Some(name), "{model} {name}");
        }
        assert_eq!(config.get("responseMimeType").is_some(), *mode, "{model}");
        assert_eq!(body.to_string().contains("follows this JSON Schema"), *in_prompt, "{model}");
    }
    let no_tool = with_tool.tool_choice(ToolChoice::None);
    assert!(body("gemini-2.5-flash", &no_tool)["generationConfig"].get("responseJsonSchema").is_some());
}

#[test]
fn what_the_dialects_cannot_express_goes_into_the_prompt_with_a_note() {
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "integer" } });
    let request = Request::new("x").json_schema("counts", schema);
    let (body, notes) = rendered("gemini-1.5-flash", &request);
    assert_eq!(body["generationConfig"], json!({ "responseMimeType": "application/json" }));
    let said = body["systemInstruction"]["parts"][0]["text"].as_str().unwrap();
    assert!(said.contains("additionalProperties"), "{said}");
    assert!(notes[0].contains("went into the prompt"), "{notes:?}");
}

#[test]
fn a_refused_schema_and_a_refused_parameter_are_left_out_next_time() {
    let options = GeminiOptions::new().thinking_level("low").include_thoughts(false);
    let request = Request::new("x").json_schema("person", person()).top_p(0.5).stop("END");
    let request = request.options(&options).unwrap();
    let mut overlay = Overlay::new();
    overlay.json_mode = true;
    overlay.dropped = ["top_p", "thinking_level"].map(Cow::Borrowed).to_vec();
    overlay.max_tokens = Some(77);
    let mut attempt = Attempt::new("gemini-2.5-flash", &request);
    attempt.overlay = &overlay;
    let rendered = render(&attempt, &ModelTraits::new(), &[]).unwrap();
    let body: Value = serde_json::from_slice(&rendered.body).unwrap();
    let expected = json!({
        "maxOutputTokens": 77, "stopSequences": ["END"], "thinkingConfig": { "includeThoughts": false },
        "responseMimeType": "application/json",
    });
    assert_eq!(body["generationConfig"], expected);
    assert!(!rendered.format.has_schema());
    // Beside tools the mode may have been what was refused.
    let request = request.tool(adder());
    let mut attempt = Attempt::new("unheard-of", &request);
    attempt.overlay = &overlay;
    let body: Value =
        serde_json::from_slice(&render(&attempt, &ModelTraits::new(), &[]).unwrap().body).unwrap();
    assert!(body["generationConfig"].get("responseMimeType").is_none(), "{body}");
}

#[test]
fn instructions_come_first_where_there_is_no_field_for_them() {
    let request = Request::default().system("Be brief.").message(Message::assistant("Hello"));
    let expected = json!([
        { "role": "user", "parts": [{ "text": "Be brief." }] },
        { "role": "model", "parts": [{ "text": "Hello" }] },
    ]);
    let body = body("gemma-3-27b-it", &request);
    assert_eq!(body["contents"], expected);
    assert!(body.get("systemInstruction").is_none());
    let request = Request::new("Hi").system("Be brief.").output(backstop_core::Output::Json);
    let expected = json!([{ "role": "user", "parts": [
        { "text": "Be brief." }, { "text": "Answer with JSON only." }, { "text": "Hi" },
    ] }]);
    assert_eq!(super::tests::body("gemma-3-27b-it", &request)["contents"], expected);
}

#[test]
fn cached_content_brings_its_own_instructions_and_tools() {
    let options = GeminiOptions::new().cached_content("cachedContents/abc");
    let request = Request::new("x").system("Be brief.").tool(adder()).options(&options).unwrap();
    let (body, notes) = rendered("gemini-2.5-flash", &request);
    assert_eq!(body["cachedContent"], "cachedContents/abc");
    assert!(body.get("systemInstruction").is_none() && body.get("tools").is_none(), "{body}");
    assert_eq!(notes.len(), 1);
}

#[test]
fn safety_settings_of_the_request_replace_those_of_the_provider() {
    let provider = [SafetySetting::new(HarmCategory::Harassment, HarmThreshold::None)];
    let options = GeminiOptions::new().safety(HarmCategory::HateSpeech, HarmThreshold::None);
    let settings = |request: &Request| {
        let rendered = render(&Attempt::new("m", request), &ModelTraits::new(), &provider).unwrap();
        let body: Value = serde_json::from_slice(&rendered.body).unwrap();
        body["safetySettings"][0]["category"].as_str().map(str::to_owned)
    };
    assert_eq!(settings(&Request::new("x")).as_deref(), Some("HARM_CATEGORY_HARASSMENT"));
    let own = Request::new("x").options(&options).unwrap();
    assert_eq!(settings(&own).as_deref(), Some("HARM_CATEGORY_HATE_SPEECH"));
}

#[test]
fn a_long_cache_hint_is_noted_unless_a_cached_prompt_is_named() {
    let cached = GeminiOptions::new().cached_content("cachedContents/7");
    let request = |hint| Request::new("x").message(Message::user("y").cached(hint));
    let table = [
        (request(CacheHint::Short), 0),
        (request(CacheHint::Long), 1),
        (request(CacheHint::Long).options(&cached).unwrap(), 0),
    ];
    for (request, notes) in table {
        let noted = rendered("gemini-2.5-flash", &request).1;
        assert_eq!(noted.len(), notes, "{noted:?}");
    }
}

#[test]
fn fields_of_the_callers_own_are_laid_over_ours() {
    let request = Request::new("x")
        .temperature(0.5)
        .max_tokens(5)
        .extra_body(
            "gemini",
            "generationConfig",
            json!({ "temperature": 1.5, "responseModalities": ["TEXT"] }),
        )
        .extra_body("gemini", "safetySettings", json!([]))
        .extra_body("gemini", "labels", json!({ "team": "a" }))
        .for_target("gemini", "m");
    let traits = ModelTraits::new();
    let safety = [SafetySetting::new(HarmCategory::Harassment, HarmThreshold::None)];
    let rendered = render(&Attempt::new("m", &request), &traits, &safety).unwrap();
    let text = String::from_utf8(rendered.body).unwrap();
    assert_eq!(text.matches("temperature").count(), 1, "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    let config = json!({ "maxOutputTokens": 5, "temperature": 1.5, "responseModalities": ["TEXT"] });
    assert_eq!(body["generationConfig"], config);
    assert_eq!((&body["safetySettings"], &body["labels"]["team"]), (&json!([]), &json!("a")));
    let whole = Request::new("x").temperature(0.5).extra_body("gemini", "generationConfig", Value::Null);
    let whole = whole.for_target("gemini", "m");
    assert_eq!(super::tests::body("m", &whole)["generationConfig"], Value::Null);
}

#[test]
fn options_that_cannot_be_read_are_the_callers_mistake() {
    let mut request = Request::new("x");
    request.body_mut().provider_options.insert("gemini".into(), json!({ "top_k": "many" }));
    let error = render(&Attempt::new("m", &request), &ModelTraits::new(), &[]).err().unwrap();
    assert_eq!(error.kind(), FailureKind::InvalidRequest);
    assert!(error.to_string().contains("options for `gemini`"), "{error}");
}

#[test]
fn own_traits_choose_the_schemas_field() {
    let traits = ModelTraits::new().schema_field(SchemaField::OpenApi);
    let request = Request::new("x").json_schema("person", person());
    let rendered = render(&Attempt::new("m", &request), &traits, &[]).unwrap();
    let body: Value = serde_json::from_slice(&rendered.body).unwrap();
    let schema = &body["generationConfig"]["responseSchema"];
    assert_eq!(schema["propertyOrdering"], json!(["name", "age"]));
    assert_eq!(schema["properties"]["age"]["type"], "INTEGER");
}

#[test]
fn a_large_prompt_is_written_into_one_buffer() {
    let line = "One \"quoted\" word in a line.\n".repeat(1 << 14);
    let picture = Media::image("image/png", vec![7; 1 << 20]);
    let request = Request::new(line.clone()).system(line).message(Message::user("see").part(picture));
    let attempt = Attempt::new("m", &request);
    let body = render(&attempt, &ModelTraits::new(), &[]).unwrap().body;
    assert_eq!(body.capacity(), backstop_http::room_for(&attempt), "it was moved while it was written");
    assert!(body.capacity() < body.len() + body.len() / 8);
}
