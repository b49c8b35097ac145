//! One prompt for all vendors: texts with variables, and what differs for some of them.
//!
//! A [`PromptTemplate`] is built once, from code or from data, and rendered for each call. The request that comes out
//! holds the texts for everybody and, beside them, those of providers and models that get others; each target of a
//! chain is sent its own.

mod builder;
mod error;
mod parts;
mod template;
mod text;
mod variants;

pub use builder::PromptBuilder;
pub use error::PromptError;
pub use parts::PromptParts;
pub use template::PromptTemplate;
pub(crate) use variants::Variants;

#[cfg(test)]
mod tests;
