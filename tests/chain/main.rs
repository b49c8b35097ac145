//! The engine against the scripted provider, on paused time.

mod breaker;
mod budget;
mod chaos;
mod course;
mod deadline;
mod hedge;
mod limits;
mod logs;
mod mistakes;
mod observers;
mod probes;
mod prompts;
mod reports;
mod routing;
mod simulation;
mod stream;
mod taxonomy;
