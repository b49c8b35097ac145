//! From server-sent events to chunks.

mod event;
mod reader;

pub(crate) use reader::Reader;

#[cfg(test)]
mod tests;
