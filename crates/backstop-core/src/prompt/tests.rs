use std::collections::BTreeMap;

use serde_json::json;

use super::{PromptBuilder, PromptError, PromptTemplate};
use crate::{
    message::{CacheHint, Message, Role},
    request::{Output, Request},
};

fn sorting() -> PromptBuilder {
    PromptTemplate::builder()
        .system("Sort mail for {{company}}.")
        .example("Where is my parcel?", "shipping")
        .example("Too much!", "invoice")
        .user("<mail>{{mail}}</mail>")
        .for_provider("ollama", |parts| parts.system("Sort for {{company}}. One word.").no_examples())
        .for_model("openai", "o*", |parts| parts.system("").user("Sort: {{mail}} ({{effort}})"))
        .for_model("openai", "o3", |parts| parts.example("A {{mail}}?", "yes"))
}

fn render(template: &PromptTemplate) -> Request {
    template.render([("company", "Acme"), ("mail", "{{company}} & co"), ("effort", "low")]).unwrap()
}

fn texts(request: &Request) -> Vec<(Role, String)> {
    request.messages.iter().map(|message| (message.role, message.text().into_owned())).collect()
}

fn user(text: &str) -> (Role, String) {
    (Role::User, text.to_owned())
}

fn assistant(text: &str) -> (Role, String) {
    (Role::Assistant, text.to_owned())
}

#[test]
fn a_template_is_rendered_in_order_and_values_are_not_read_again() {
    let request = render(&sorting().build().unwrap());
    assert_eq!(request.system.as_deref(), Some("Sort mail for Acme."));
    let expected = [
        user("Where is my parcel?"),
        assistant("shipping"),
        user("Too much!"),
        assistant("invoice"),
        user("<mail>{{company}} & co</mail>"),
    ];
    assert_eq!(texts(&request), expected);
    assert_eq!(request.output, Output::Text);
}

#[test]
fn each_target_gets_its_own_texts_and_later_overrides_lie_over_earlier_ones() {
    let request = render(&sorting().build().unwrap());
    let other = request.for_target("anthropic", "claude-sonnet-4-5");
    assert!(other.ptr_eq(&request), "nothing was copied");
    let ollama = request.for_target("ollama", "llama3.1:8b");
    assert_eq!(ollama.system.as_deref(), Some("Sort for Acme. One word."));
    assert_eq!(texts(&ollama), [user("<mail>{{company}} & co</mail>")]);
    let mini = request.for_target("openai", "o4-mini");
    assert_eq!(mini.system, None, "an empty text means none");
    assert_eq!(texts(&mini).len(), 5);
    assert_eq!(texts(&mini)[4], user("Sort: {{company}} & co (low)"));
    let o3 = request.for_target("openai", "o3");
    let expected = [user("A {{company}} & co?"), assistant("yes"), user("Sort: {{company}} & co (low)")];
    assert_eq!(texts(&o3), expected);
    assert_eq!(o3.system, None);
    assert!(request.for_target("openai", "gpt-4o").ptr_eq(&request));
    assert!(o3.for_target("ollama", "x").ptr_eq(&o3), "a target's request has no other variants");
}

#[test]
fn what_is_added_to_the_request_reaches_every_target() {
    let request = render(&sorting().build().unwrap()).message(Message::user("PS")).max_tokens(9);
    for (provider, model) in [("openai", "o3"), ("ollama", "x"), ("gemini", "y")] {
        let sent = request.for_target(provider, model);
        assert_eq!(texts(&sent).last(), Some(&user("PS")), "{provider}");
        assert_eq!(sent.max_tokens, Some(9), "{provider}");
    }
    let own = request.clone().system("Mine.").for_target("ollama", "x");
    assert_eq!(own.system.as_deref(), Some("Mine."), "set by the caller, so meant for everybody");
    assert_eq!(texts(&own)[0], user("<mail>{{company}} & co</mail>"));
    let mut emptied = request;
    emptied.body_mut().messages.clear();
    let sent = emptied.for_target("openai", "o3");
    assert_eq!(texts(&sent).len(), 3, "the override still has its place");
}

#[test]
fn marks_for_the_cache_stand_at_the_end_of_instructions_and_examples() {
    let template = sorting().cache_system(CacheHint::Long).cache_examples(CacheHint::Short).build().unwrap();
    let marks = |request: &Request| {
        request.messages.iter().map(|message| message.cache.is_some()).collect::<Vec<_>>()
    };
    let request = render(&template);
    assert_eq!(request.system_cache, Some(CacheHint::Long));
    assert_eq!(marks(&request), [false, false, false, true, false]);
    assert_eq!(marks(&request.for_target("openai", "o3")), [false, true, false]);
    assert!(request.is_cached() && !render(&sorting().build().unwrap()).is_cached());
}

#[test]
fn a_schema_takes_variables_in_its_descriptions_only() {
    let schema = json!({
        "type": "object",
        "title": "{{company}}",
        "properties": {
            "description": { "type": "string", "pattern": "{{x}}", "description": "What {{company}} \\{{did}}" },
            "enum": { "description": "{{company}}", "enum": ["{{y}}"], "default": { "title": "{{z}}" } }
        }
    });
    let template = PromptTemplate::builder().user("x").json_schema("deed", schema).build().unwrap();
    assert_eq!(template.variables().collect::<Vec<_>>(), ["company"]);
    let request = template.render([("company", "Acme \"{{a}}\"")]).unwrap();
    let Output::Schema(output) = &request.output else { panic!("{:?}", request.output) };
    assert_eq!(output.name, "deed");
    let expected = json!({
        "type": "object",
        "title": "Acme \"{{a}}\"",
        "properties": {
            "description": {
                "type": "string", "pattern": "{{x}}", "description": "What Acme \"{{a}}\" {{did}}"
            },
            "enum": {
                "description": "Acme \"{{a}}\"", "enum": ["{{y}}"], "default": { "title": "{{z}}" }
            }
        }
    });
    assert_eq!(*output.schema, expected);
}

#[test]
fn missing_unused_and_doubled_variables_are_named() {
    let template = sorting().build().unwrap();
    assert_eq!(template.variables().collect::<Vec<_>>(), ["company", "effort", "mail"]);
    let fails =
        |values: &[(&'static str, &'static str)]| template.render(values.iter().copied()).unwrap_err();
    assert_eq!(
        fails(&[("company", "a"), ("mail", "b")]),
        PromptError::Missing { variable: "effort".into(), part: "user for openai/o*".into() },
        "overrides are looked at too"
    );
    let missing = fails(&[("company", "a"), ("effort", "b")]).to_string();
    assert!(missing.contains("`mail` in user of"), "{missing}");
    assert_eq!(fails(&[("mial", "secret")]), PromptError::Unused { variable: "mial".into() });
    assert_eq!(fails(&[("mail", "a"), ("mail", "b")]), PromptError::Twice { variable: "mail".into() });
    let values: BTreeMap<String, String> =
        template.variables().map(|name| (name.into(), "v".into())).collect();
    assert!(template.render(values).is_ok(), "maps are values too");
}

#[test]
fn what_cannot_be_read_is_found_when_the_template_is_built() {
    let fails = |builder: PromptBuilder| builder.build().unwrap_err();
    assert_eq!(fails(PromptTemplate::builder()), PromptError::Empty);
    let error = fails(PromptTemplate::builder().user("x").example("ok", "not {{ok"));
    assert_eq!(error, PromptError::Syntax { part: "example 1".into(), offset: 4 });
    assert!(error.to_string().contains("`{{` at byte 4") && error.to_string().contains(r"`\{{`"), "{error}");
    let error = fails(sorting().for_provider("gemini", |parts| parts.system("{{}}")));
    assert_eq!(error, PromptError::Syntax { part: "system for gemini".into(), offset: 0 });
    let nobody = fails(sorting().for_provider("", |parts| parts));
    assert_eq!(nobody, PromptError::Override { what: "provider" });
    let nobody = fails(sorting().for_model("gemini", "", |parts| parts));
    assert_eq!(nobody, PromptError::Override { what: "model" });
}

#[test]
fn templates_and_their_requests_survive_as_data() {
    let builder = sorting().cache_system(CacheHint::Short).json_schema("s", json!({ "type": "object" }));
    let text = serde_json::to_string(&builder).unwrap();
    let template: PromptTemplate = serde_json::from_str(&text).unwrap();
    let request = render(&template);
    assert_eq!(request, render(&builder.build().unwrap()));
    let read: Request = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
    assert_eq!(texts(&read.for_target("openai", "o3")), texts(&request.for_target("openai", "o3")));
    for wrong in [
        r#"{"user": "x", "sistem": "y"}"#,
        r#"{"user": "x", "overrides": [{"provider": "p", "sistem": "y"}]}"#,
        r#"{"user": "{{"}"#,
    ] {
        assert!(serde_json::from_str::<PromptTemplate>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn debug_shows_neither_texts_nor_values() {
    let builder = sorting().system("private {{company}}");
    let template = builder.clone().build().unwrap();
    let shown = format!("{builder:?} {template:?} {:?}", render(&template));
    assert!(!shown.contains("private") && !shown.contains("Acme") && !shown.contains("parcel"), "{shown}");
}
