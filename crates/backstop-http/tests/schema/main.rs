//! Schemas in every dialect: what comes out, what is reported, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod arbitrary;
mod checker;
mod dialects;
mod restored;
