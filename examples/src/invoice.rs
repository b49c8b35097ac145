//! The type that the examples extract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An invoice or receipt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Invoice {
    /// The number that the vendor gave it.
    pub number: String,
    /// When it was issued.
    #[schemars(extend("format" = "date"))]
    pub date: String,
    /// Who sells.
    pub vendor: String,
    /// ISO 4217 code.
    #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
    pub currency: String,
    /// What was sold.
    pub lines: Vec<Line>,
    /// What is to be paid, taxes included.
    pub total: f64,
}

/// One line of an invoice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// What it is.
    pub description: String,
    /// How many.
    pub quantity: u32,
    /// The price of all of them together.
    pub amount: f64,
}
