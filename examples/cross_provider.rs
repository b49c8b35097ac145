//! The same typed call over two vendors' servers: the first is down, the second answers. Each target has its own
//! timeout, model and limits; the call does not know who will serve it.

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
    let cloud = MockServer::start().await?;
    cloud.push(Reply::from(ApiError::rate_limited()).retry_after(20));
    let local = MockServer::start().await?;
    local.push(Reply::text(r#"Sure! {"score": 0.6, "reason": "praises the tea"}"#));

    let chain = Chain::builder()
        .target(
            OpenAi::builder()
                .name("cloud")
                .base_url(cloud.url())
                .api_key("not-a-real-key")
                .build()?
                .model("gpt-4o")
                .timeout(Duration::from_secs(10)),
        )
        .target(
            OpenAi::builder()
                .name("local")
                .base_url(local.url())
                .build()?
                .model("llama-3.1-8b")
                .timeout(Duration::from_secs(20))
                .retries(0),
        )
        .build()?;

    for review in ["Lovely tea!", "Lovely tea, again!"] {
        let answer = chain.extract::<Sentiment>(format!("How does this sound? {review}")).await?;
        println!("{} because it {}\n{}\n", answer.value.score, answer.value.reason, answer.report);
    }
    println!("requests: cloud {}, local {}", cloud.requests().len(), local.requests().len());
    Ok(())
}
