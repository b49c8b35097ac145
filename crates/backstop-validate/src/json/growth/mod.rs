//! What has come of a value that is still being written: `value` is what is shown, `tree` how it grows.

mod tree;
mod value;

pub(crate) use tree::Tree;
pub(crate) use value::NOTHING;
pub use value::PartialValue;
