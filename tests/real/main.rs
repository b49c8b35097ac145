//! The adapters against a real server: llama.cpp's, out of a Python wheel, with a tiny model that speaks in letters.
//!
//! What is tested is behaviour, never content. `BACKSTOP_SHARED` names the folder that has the server's scripts in
//! `real-servers`. Its Python environment is made once, and only if `BACKSTOP_REAL_SERVER=1` says so. What is missing
//! is said on standard error, and the tests pass.

mod behaviour;
mod environment;
mod server;
