//! The engine of backstop: a [`Chain`] tries targets in order until one gives a valid answer.
//!
//! The crate knows no HTTP, no vendor and no JSON Schema. Adapters implement [`Provider`], validation crates
//! [`Validator`] and [`Check`]; everything between them is here:
//!
//! | module | holds |
//! | --- | --- |
//! | [`request`], [`message`], [`tool`], [`prompt`] | what is asked |
//! | [`response`], [`chunk`] | what comes back, whole or streamed |
//! | [`provider`], [`attempt`], [`capabilities`], [`target`] | who is asked, and how |
//! | [`validator`], [`check`] | whether an answer may be used |
//! | [`error`] | the taxonomy of failures |
//! | [`policy`], [`retry`], [`reask`] | what a failure leads to |
//! | [`breaker`], [`gate`], [`registry`], [`clock`] | who is down, throttled or locked out |
//! | [`budget`], [`quality`] | how often a provider is asked again, and for what it is no good |
//! | [`chain`] | one call, step by step |
//! | [`report`], [`observer`] | what happened |

pub mod attempt;
pub mod breaker;
pub mod budget;
pub mod capabilities;
pub mod chain;
pub mod check;
pub mod chunk;
pub mod clock;
pub mod error;
pub mod gate;
mod human;
#[cfg(feature = "adaptive")]
pub mod latency;
pub mod message;
pub mod observer;
pub mod policy;
pub mod prompt;
pub mod provider;
pub mod quality;
#[cfg(feature = "rate-limit")]
mod rate_limit;
pub mod reask;
pub mod registry;
pub mod report;
pub mod request;
pub mod response;
pub mod retry;
pub mod target;
pub mod tool;
pub mod validator;

pub use attempt::{Attempt, CallId, Overlay, Progress};
pub use breaker::{Breaker, BreakerConfig};
pub use budget::BudgetConfig;
pub use capabilities::{Capabilities, StructuredOutput};
pub use chain::{
    Accepted, Answer, AnswerStream, Call, Chain, ChainBuilder, ChainSnapshot, Hedge, Interrupted,
    OnInterrupt, StreamCall, StreamEvent,
};
pub use check::Check;
pub use chunk::{Chunk, ChunkStream};
pub use error::{
    ChainError, ChainErrorKind, ConfigError, Failure, FailureKind, ProviderError, Rejection, Stage,
};
#[cfg(feature = "adaptive")]
pub use latency::AdaptiveTimeout;
pub use message::{CacheHint, Media, MediaSource, Message, Part, Role};
pub use observer::{CallOutcome, Event, Observer};
pub use policy::{Disposition, FailurePolicy, Remedy};
pub use prompt::{PromptBuilder, PromptError, PromptParts, PromptTemplate};
pub use provider::{CredentialId, Provider};
pub use quality::QualityWindows;
pub use reask::Reask;
pub use registry::Registry;
pub use report::{AttemptOutcome, AttemptRecord, LimitedBy, Report, Skip, SkipRecord};
pub use request::{Output, OutputSchema, ProviderOptions, Request, RequestBody};
pub use response::{FinishKind, FinishReason, Response, Usage};
pub use retry::RetryPolicy;
pub use target::{ProviderExt, Target, TargetId};
pub use tool::{Tool, ToolCall, ToolChoice, ToolResult};
pub use validator::{BoxValidator, Candidate, Change, ChangeClass, Changes, Risk, Validator, ValidatorExt};
