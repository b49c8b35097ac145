//! The engine against the scripted provider, on paused time.

mod breaker;
mod course;
mod taxonomy;
