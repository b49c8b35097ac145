//! What is asked for, and the answer.

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Item {
    pub sku: String,
    pub quantity: u32,
    pub price: f64,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Invoice {
    pub number: String,
    pub vendor: String,
    pub date: String,
    pub currency: String,
    pub total: f64,
    pub paid: bool,
    pub items: Vec<Item>,
    pub notes: String,
}

pub const SYSTEM: &str = "Give the invoice in the text as JSON.";
pub const TEXT: &str = "Our invoice 2031-88 of 4 May: six lamps (L-7) at 189.75 each and one ladder (D-2) at 146.00, \
                        1284.50 euros in all, not yet paid. Payable within a fortnight. Northern Light & Sons";

pub fn invoice() -> Invoice {
    let item = |sku: &str, quantity, price| Item { sku: sku.into(), quantity, price };
    Invoice {
        number: "2031-88".into(),
        vendor: "Northern Light & Sons".into(),
        date: "2031-05-04".into(),
        currency: "EUR".into(),
        total: 1284.5,
        paid: false,
        items: vec![item("L-7", 6, 189.75), item("D-2", 1, 146.0)],
        notes: "Payable within a fortnight".into(),
    }
}

pub fn schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Invoice).to_value();
    if let Some(root) = schema.as_object_mut() {
        root.insert("additionalProperties".into(), false.into());
    }
    schema
}

/// Whether a client's text is the document.
pub fn decode(text: &str) -> Result<Invoice, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
