//! Chat Completions, `POST …/chat/completions`: the API that compatible servers speak.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod stream;
