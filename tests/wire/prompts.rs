//! One template through two adapters: each vendor is sent its own texts in its own form.

use backstop::{
    CacheHint, PromptTemplate,
    anthropic::AnthropicOptions,
    mock::{
        MockServer,
        server::{ApiError, Reply},
    },
    openai::OpenAiOptions,
    prelude::*,
};
use serde_json::{Value, json};

use crate::support::{KEY, provider};

fn template() -> PromptTemplate {
    PromptTemplate::builder()
        .system("Sort mail for {{company}}.")
        .example("Where is my parcel?", "shipping")
        .user("<mail>{{mail}}</mail>")
        .cache_system(CacheHint::Long)
        .cache_examples(CacheHint::Short)
        .for_provider("anthropic", |parts| parts.system("You sort mail for {{company}}. One word."))
        .build()
        .unwrap()
}

/// What the two servers are sent when the first is down.
async fn sent(request: Request) -> ([Value; 2], Answer<String>) {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    first.push(Reply::from(ApiError::overloaded()));
    second.push(Reply::text("invoice"));
    let anthropic = Anthropic::builder().base_url(second.url()).api_key(KEY).build().unwrap();
    let chain = Chain::builder()
        .target(provider(&first).model("gpt-4o").retries(0))
        .target(anthropic.model("claude-sonnet-4-5").adapt(|request| request.max_tokens(77)))
        .build()
        .unwrap();
    let answer = chain.complete(request).await.unwrap();
    let body = |server: &MockServer| server.requests().first().unwrap().json().clone();
    ([body(&first), body(&second)], answer)
}

#[tokio::test]
async fn one_template_is_rendered_for_each_vendor() {
    let request = template().render([("company", "Acme"), ("mail", "{{company}}?")]).unwrap();
    let ([openai, anthropic], answer) = sent(request).await;
    assert_eq!(
        openai["messages"],
        json!([
            { "role": "system", "content": "Sort mail for Acme." },
            { "role": "user", "content": "Where is my parcel?" },
            { "role": "assistant", "content": "shipping" },
            { "role": "user", "content": "<mail>{{company}}?</mail>" },
        ]),
        "instructions are a message, and there is nothing to say about the cache"
    );
    let system = json!([{
        "type": "text",
        "text": "You sort mail for Acme. One word.",
        "cache_control": { "type": "ephemeral", "ttl": "1h" }
    }]);
    assert_eq!(anthropic["system"], system, "instructions are a field, with the mark for the cache");
    let messages = anthropic["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let shown = messages[1].to_string();
    assert!(shown.contains("shipping") && shown.contains("ephemeral"), "{shown}");
    assert!(messages[2].to_string().contains("<mail>{{company}}?</mail>"), "{messages:?}");
    assert_eq!((openai.get("max_tokens"), anthropic["max_tokens"].as_u64()), (None, Some(77)));
    let notes = answer.report.attempts.last().unwrap().notes.join("; ");
    assert!(notes.contains("what is cached of it at openai/gpt-4o was of no use"), "{notes}");
}

#[tokio::test]
async fn hints_for_one_vendors_routing_do_not_reach_another() {
    let request = template()
        .render([("company", "Acme"), ("mail", "x")])
        .unwrap()
        .options(&OpenAiOptions::new().prompt_cache_key("mail-sorting"))
        .unwrap()
        .options(&AnthropicOptions::new().cache(CacheHint::Short))
        .unwrap();
    let ([openai, anthropic], _) = sent(request).await;
    assert_eq!(openai["prompt_cache_key"], "mail-sorting");
    assert_eq!(openai.get("cache_control"), None);
    assert_eq!(anthropic.get("prompt_cache_key"), None);
    assert_eq!(anthropic["cache_control"], json!({ "type": "ephemeral" }));
}

#[tokio::test]
async fn messages_added_to_a_template_are_merged_where_a_vendor_wants_turns() {
    let request = template().render([("company", "Acme"), ("mail", "x")]).unwrap();
    let ([openai, anthropic], _) = sent(request.message(Message::user("PS: hurry"))).await;
    let last = openai["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("PS: hurry"), "{last}");
    let messages = anthropic["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"], "neighbours of one role are one turn");
    let last = messages[2].to_string();
    assert!(last.contains("<mail>x</mail>") && last.contains("PS: hurry"), "{last}");
}
