//! What the examples share: the invoice they extract, and a stand-in for a model that reads the text it is sent.

pub mod invoice;
pub mod stand_in;
