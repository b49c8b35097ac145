//! The Responses API, `POST …/responses`: OpenAI's own successor of Chat Completions.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod stream;
