//! OpenAI Chat Completions and compatible servers for backstop.
