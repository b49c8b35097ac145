//! What is asked, and what only the right answer says.

use serde::{Deserialize, Serialize};

/// The answer of a typed call. The proof cannot be guessed from a part of the answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, backstop::schemars::JsonSchema)]
#[schemars(crate = "backstop::schemars")]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    pub(crate) proof: u64,
    pub(crate) words: Vec<String>,
}

impl Ticket {
    pub(crate) fn of(number: u64) -> Self {
        let proof = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        Self {
            number,
            proof,
            words: (0..number % 7).map(|word| format!("word {word} of {number}")).collect(),
        }
    }
}

pub(crate) fn question(number: u64) -> String {
    format!("What is the state of the ticket no. {number}?")
}

/// The number in a [`question`], wherever an adapter put it.
pub(crate) fn asked(text: &str) -> Option<u64> {
    let rest = text.split("ticket no. ").nth(1)?;
    rest.split('?').next()?.parse().ok()
}

/// The free text that the server of this name gives: a piece of it tells whose it is, and where in the text.
pub(crate) fn story(server: &str, number: u64) -> String {
    let lines = 3 + number % 20;
    (0..lines).map(|line| format!("Line {line} about ticket {number}, as {server} tells it.\n")).collect()
}
