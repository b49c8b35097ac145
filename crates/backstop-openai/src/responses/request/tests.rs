use backstop_core::{
    Attempt, Capabilities, Media, Message, Output, Overlay, Part, Request, Response, StructuredOutput, Tool,
    ToolCall, ToolChoice, ToolResult,
};
use serde_json::{Value, json};

use crate::{
    OpenAiOptions, OpenRouterOptions,
    api::Api,
    models::{ModelTraits, SystemRole},
    preset::Preset,
    request::{self, Rendered},
    server::{Own, Server},
};

const PLAIN: ModelTraits = Preset::OPENAI.traits;

fn render_with(attempt: &Attempt<'_>, traits: &ModelTraits, streaming: bool) -> Rendered {
    let server = Server::new("openai".into(), &Preset::OPENAI, Own::default());
    request::render(attempt, traits, &server, Api::Responses, streaming).unwrap()
}

fn rendered(request: &Request, traits: &ModelTraits) -> (Value, Vec<String>) {
    let rendered = render_with(&Attempt::new("m", request), traits, false);
    (serde_json::from_slice(&rendered.body).unwrap(), rendered.notes)
}

fn body(request: &Request) -> Value {
    rendered(request, &PLAIN).0
}

fn able(mode: StructuredOutput) -> ModelTraits {
    PLAIN.capabilities(Capabilities::unknown().with_structured_output(mode))
}

#[test]
fn hosts_of_openrouter_are_named_here_too() {
    let server = Server::new("openrouter".into(), &Preset::OPENROUTER, Own::default());
    let hosts = OpenRouterOptions::new().only(["a".to_owned()]);
    let request = Request::new("x").options(&hosts).unwrap();
    let bound = request.clone().json_schema("answer", json!({ "type": "object", "properties": {} }));
    for (request, expected) in
        [(request, json!({ "only": ["a"] })), (bound, json!({ "only": ["a"], "require_parameters": true }))]
    {
        let attempt = Attempt::new("m", &request);
        let rendered = request::render(&attempt, &PLAIN, &server, Api::Responses, false).unwrap();
        let sent: Value = serde_json::from_slice(&rendered.body).unwrap();
        assert_eq!(sent["provider"], expected);
    }
}

#[test]
fn a_bare_question_is_not_kept_at_the_vendor() {
    let sent = body(&Request::new("Hi"));
    assert_eq!(sent, json!({"model": "m", "input": [{"role": "user", "content": "Hi"}], "store": false}));
}

#[test]
fn parameters_have_names_of_their_own() {
    let options =
        OpenAiOptions::new().reasoning_effort("none").verbosity("low").service_tier("flex").store(true);
    let request = Request::new("Hi")
        .system("Be kind.")
        .max_tokens(9)
        .temperature(0.5)
        .metadata("job", "1")
        .options(&options)
        .unwrap();
    let (sent, notes) = rendered(&request, &PLAIN.sampling(false));
    assert_eq!(
        sent,
        json!({
            "model": "m", "instructions": "Be kind.", "input": [{"role": "user", "content": "Hi"}],
            "max_output_tokens": 9, "temperature": 0.5, "service_tier": "flex", "store": true,
            "reasoning": {"effort": "none"}, "text": {"verbosity": "low"}, "metadata": {"job": "1"},
        })
    );
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn what_responses_do_not_have_is_left_out_and_noted() {
    let options = OpenAiOptions::new().presence_penalty(0.1).frequency_penalty(0.1);
    let request = Request::new("Hi").stop("END").seed(7).options(&options).unwrap();
    let (sent, notes) = rendered(&request, &PLAIN);
    assert_eq!(sent.as_object().unwrap().len(), 3, "{sent}");
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes.iter().all(|note| note.contains("Responses API")), "{notes:?}");
}

#[test]
fn parts_become_input_parts_and_documents_may_be_addresses() {
    let png = Media::image("image/png", b"pixels");
    let pdf = Media::from_bytes("application/pdf", b"paper").named("a.pdf");
    let request = Request::default().message(
        Message::user("Look:")
            .part(png)
            .part(pdf)
            .part(Media::from_url("application/pdf", "https://h/x.pdf")),
    );
    assert_eq!(
        body(&request)["input"],
        json!([{"role": "user", "content": [
            {"type": "input_text", "text": "Look:"},
            {"type": "input_image", "image_url": "data:image/png;base64,cGl4ZWxz", "detail": "auto"},
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,cGFwZXI="},
            {"type": "input_file", "file_url": "https://h/x.pdf"},
        ]}])
    );
}

#[test]
fn a_turn_with_tools_is_a_list_of_items() {
    let call = ToolCall::new("call_1", "weather", r#"{"city":"Bern"}"#);
    let request = Request::new("Weather?")
        .message(Message::assistant("Let me look.").part(Part::ToolCall(call.clone())))
        .message(Message::tool_result(ToolResult::new(&call, "12 C")).part("And tomorrow?"))
        .message(Message::assistant("Rain."))
        .tool(Tool::new("weather", json!({"type": "object"})).description("Looks outside."))
        .tool_choice(ToolChoice::Tool("weather".into()));
    let sent = body(&request);
    assert_eq!(
        sent["input"],
        json!([
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": "Let me look."},
            {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{\"city\":\"Bern\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "12 C"},
            {"role": "user", "content": "And tomorrow?"},
            {"role": "assistant", "content": "Rain."},
        ])
    );
    assert_eq!(
        sent["tools"],
        json!([{"type": "function", "name": "weather", "description": "Looks outside.", "parameters": {"type": "object"}, "strict": false}])
    );
    assert_eq!(sent["tool_choice"], json!({"type": "function", "name": "weather"}));
}

fn person() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]})
}

#[test]
fn a_schema_stands_flat_in_the_text_format() {
    let request = Request::new("Ann").json_schema("person", person());
    let format = &body(&request)["text"]["format"];
    assert_eq!(
        (&format["type"], &format["name"], &format["strict"], &format["schema"]["required"]),
        (&json!("json_schema"), &json!("person"), &json!(true), &json!(["name", "age"]))
    );
}

#[test]
fn json_mode_is_spoken_of_in_the_input() {
    let request = Request::new("Ann").system("S.").json_schema("person", person());
    let (sent, _) =
        rendered(&request, &able(StructuredOutput::JsonObject).system_role(SystemRole::Developer));
    assert_eq!(
        (&sent["text"]["format"], &sent["instructions"]),
        (&json!({"type": "json_object"}), &json!("S."))
    );
    assert_eq!(sent["input"][0]["role"], "developer");
    assert!(sent["input"][0]["content"].as_str().unwrap().contains("JSON Schema"), "{sent}");
    let any = body(&Request::new("x").output(Output::Json));
    assert_eq!(any["text"]["format"], json!({"type": "json_object"}));
}

#[test]
fn a_tool_may_take_the_answer() {
    let request = Request::new("Ann").json_schema("person", person());
    let attempt = Attempt::new("m", &request);
    let traits = able(StructuredOutput::Tool);
    let done = render_with(&attempt, &traits, false);
    let sent: Value = serde_json::from_slice(&done.body).unwrap();
    assert_eq!(sent["tool_choice"], json!({"type": "function", "name": "person"}));
    assert_eq!((&sent["tools"][0]["parameters"], sent.get("text")), (&person(), None));
    let answer = Response::new("").with_tool_call(ToolCall::new("1", "person", r#"{"name":"Ann"}"#));
    assert_eq!(done.format.restore(answer).text, r#"{"name":"Ann"}"#);
}

#[test]
fn refused_parameters_are_left_out_wherever_they_stand() {
    let options = OpenAiOptions::new().reasoning_effort("low").verbosity("low");
    let request = Request::new("x").temperature(0.1).options(&options).unwrap();
    let mut overlay = Overlay::new();
    overlay.dropped = ["temperature", "reasoning.effort", "text.verbosity"].map(Into::into).to_vec();
    let mut attempt = Attempt::new("m", &request);
    attempt.overlay = &overlay;
    let sent: Value = serde_json::from_slice(&render_with(&attempt, &PLAIN, true).body).unwrap();
    let fields: Vec<&str> = sent.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["input", "model", "store", "stream"]);
}
