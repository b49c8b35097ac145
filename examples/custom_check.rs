//! Checks and validators of one's own: a check that a chain owns for all its calls, a look at the typed value, and a
//! validator that makes something of the text.

use std::error::Error;

use backstop::{
    check,
    mock::{MockProvider, Step},
    prelude::*,
    validate::Typed,
};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Review {
    stars: u8,
    summary: String,
}

/// Accepts one word and makes a mood of it.
struct Mood;

impl Validator for Mood {
    type Output = bool;

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        *request = request.clone().system("Answer with one word: good or bad.");
        Ok(())
    }

    async fn validate(&self, answer: Candidate<'_>) -> Result<bool, Rejection> {
        match answer.text().trim().trim_end_matches('.').to_lowercase().as_str() {
            "good" => Ok(true),
            "bad" => Ok(false),
            _ => Err(Rejection::new("neither good nor bad").with_feedback("Answer `good` or `bad`.")),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let first = MockProvider::new(
        "first",
        [
            Step::text(r#"{"stars": 9, "summary": "Lovely tea, slow service."}"#),
            Step::text(r#"{"stars": 4, "summary": "As an AI, I liked the tea."}"#),
            Step::text("Hard to say."),
        ],
    );
    let second = MockProvider::new(
        "second",
        [Step::text(r#"{"stars": 4, "summary": "Lovely tea, slow service."}"#), Step::text("Good.")],
    );
    let in_voice = check::from_fn("in_voice", |answer: Candidate<'_>| {
        if answer.text().contains("As an AI") { Err(Rejection::new("speaks of itself")) } else { Ok(()) }
    });
    let chain =
        Chain::builder().target(first.model("m")).target(second.model("m")).check(in_voice).build()?;

    // A rejected value fails over; with feedback and a kind that re-asks, the model gets a second chance first.
    let five_stars = Typed::<Review>::new().verify(|review| {
        if (1..=5).contains(&review.stars) {
            return Ok(());
        }
        let words = format!("`stars` is {}, it must be from 1 to 5", review.stars);
        Err(Rejection::schema("stars out of range").with_feedback(words))
    });
    let review = chain.call("Sum up: the tea was lovely, the service slow.", &five_stars).await?;
    println!("{} stars: {}\n{}\n", review.value.stars, review.value.summary, review.report);

    let mood = chain.call("Was the guest content?", Mood).await?;
    println!("content: {}\n{}", mood.value, mood.report);
    Ok(())
}
