//! A provider of one's own: implement one trait, and everything else works with it.

use std::error::Error;

use async_trait::async_trait;
use backstop::prelude::*;

/// Answers from a list of facts, as an in-house service might. With more than one endpoint or key, `instance` and
/// `credential` are to be implemented as well.
struct Facts;

#[async_trait]
impl Provider for Facts {
    fn name(&self) -> &str {
        "facts"
    }

    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        let question = attempt.messages().last().map(|message| message.text()).unwrap_or_default();
        let answer = match question.to_lowercase() {
            q if q.contains("france") => r#"{"city": "Paris", "inhabitants": 2100000}"#,
            q if q.contains("portugal") => r#"{"city": "Lisbon", "inhabitants": 545000}"#,
            // The model exists but has nothing to say on this: another target may.
            _ => return Err(ProviderError::new(FailureKind::Unsupported, "no fact about this country")),
        };
        Ok(Response::new(answer).with_usage(Usage::new(question.len() as u64 / 4, 12)))
    }
}

/// What is asked for.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Capital {
    city: String,
    inhabitants: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let chain = Chain::builder().target(Facts.model("2026")).build()?;
    let capital = chain.extract::<Capital>("The capital of Portugal?").await?;
    println!("{}: {} inhabitants\n{}\n", capital.value.city, capital.value.inhabitants, capital.report);
    if let Err(error) = chain.extract::<Capital>("The capital of Atlantis?").await {
        println!("{error}");
    }
    Ok(())
}
