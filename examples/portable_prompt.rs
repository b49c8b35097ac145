//! One prompt for three vendors, over loopback servers: each is sent its own words in its own wire format. The first is
//! down and the second declines, so the third answers; then the prompt as each of them got it.

use std::error::Error;

use backstop::{
    CacheHint, PromptTemplate,
    mock::server::{ApiError, MockServer, Reply},
    openai::OpenAiOptions,
    prelude::*,
};

fn sorting() -> Result<PromptTemplate, backstop::PromptError> {
    PromptTemplate::builder()
        .system("You sort mail for {{company}}. Answer with one word: shipping, invoice or other.")
        .example("Where is my parcel?", "shipping")
        .user("<mail>{{mail}}</mail>")
        .cache_system(CacheHint::Short)
        .for_provider("anthropic", |parts| {
            parts.system("<task>Sort mail for {{company}}.</task> <answer>shipping|invoice|other</answer>")
        })
        // Small models follow examples better than rules.
        .for_model("ollama", "llama3*", |parts| {
            parts
                .system("Sort the mail. One word.")
                .example("Where is my parcel?", "shipping")
                .example("I was charged twice.", "invoice")
                .example("Thank you!", "other")
        })
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let openai = server(Reply::from(ApiError::overloaded())).await?;
    let anthropic = server(Reply::refusal("I do not read other people's mail.")).await?;
    let ollama = server(Reply::text("invoice")).await?;

    let key = "not-a-real-key";
    let chain = Chain::builder()
        .target(OpenAi::builder().base_url(openai.url()).api_key(key).build()?.model("gpt-4o").retries(0))
        .target(
            Anthropic::builder().base_url(anthropic.url()).api_key(key).build()?.model("claude-sonnet-4-5"),
        )
        // A model that answers at length unless it is stopped.
        .target(
            Ollama::builder()
                .base_url(ollama.url())
                .build()?
                .model("llama3.1:8b")
                .adapt(|request| request.max_tokens(8)),
        )
        .build()?;

    let request = sorting()?
        .render([("company", "Acme"), ("mail", "Your bill is wrong: {{company}} owes me money.")])?
        .options(&OpenAiOptions::new().prompt_cache_key("mail-sorting"))?;
    let answer = chain.complete(request).await?;
    println!("{}\n{}", answer.value, answer.report);
    for note in answer.report.attempts.iter().flat_map(|attempt| &attempt.notes) {
        println!("note: {note}");
    }
    for (name, server) in [("openai", openai), ("anthropic", anthropic), ("ollama", ollama)] {
        for request in server.requests() {
            println!("\n{name} was sent {:#}", request.json());
        }
    }
    Ok(())
}

async fn server(reply: Reply) -> Result<MockServer, Box<dyn Error>> {
    let server = MockServer::start().await?;
    server.push(reply);
    Ok(server)
}
