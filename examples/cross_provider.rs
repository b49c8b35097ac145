//! The same typed call over four vendors, each through its own adapter and wire format: the first is rate limited, the
//! second overloaded, the third declines, the fourth answers. The call does not know who will serve it.

use std::{error::Error, time::Duration};

use backstop::{
    mock::server::{ApiError, MockServer, Reply},
    prelude::*,
};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Sentiment {
    /// From -1 to 1.
    score: f64,
    reason: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let openai = server(Reply::from(ApiError::rate_limited()).retry_after(20)).await?;
    let anthropic = server(Reply::from(ApiError::overloaded())).await?;
    let gemini = server(Reply::refusal("I cannot rate what people write.")).await?;
    let ollama = server(Reply::text(r#"Sure! {"score": 0.6, "reason": "praises the tea"}"#)).await?;

    let key = "not-a-real-key";
    let chain = Chain::builder()
        .target(
            OpenAi::builder()
                .base_url(openai.url())
                .api_key(key)
                .build()?
                .model("gpt-4o")
                .timeout(Duration::from_secs(10)),
        )
        .target(
            Anthropic::builder()
                .base_url(anthropic.url())
                .api_key(key)
                .build()?
                .model("claude-sonnet-4-5")
                .retries(0),
        )
        .target(Gemini::builder().base_url(gemini.url()).api_key(key).build()?.model("gemini-2.5-flash"))
        .target(Ollama::builder().base_url(ollama.url()).build()?.model("llama3.1:8b"))
        .build()?;

    for review in ["Lovely tea!", "Lovely tea, again!"] {
        let answer = chain.extract::<Sentiment>(format!("How does this sound? {review}")).await?;
        println!("{} because it {}\n{}\n", answer.value.score, answer.value.reason, answer.report);
    }
    for (name, server) in
        [("openai", openai), ("anthropic", anthropic), ("gemini", gemini), ("ollama", ollama)]
    {
        let paths: Vec<_> = server.requests().iter().map(|request| request.path().to_owned()).collect();
        println!("{name:<9} {}", paths.join(", "));
    }
    Ok(())
}

async fn server(reply: Reply) -> Result<MockServer, Box<dyn Error>> {
    let server = MockServer::start().await?;
    server.push(reply);
    Ok(server)
}
