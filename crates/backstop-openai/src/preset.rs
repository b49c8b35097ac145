//! In what servers differ from OpenAI, as data.

mod builders;
mod vendors;

use backstop_core::FailureKind;

use crate::models::ModelTraits;

/// A server that speaks OpenAI's API, and in what it differs. Each is a constant; a changed copy is a preset for
/// another server, and every field has a setting on [`OpenAiBuilder`](crate::OpenAiBuilder) that comes before it.
///
/// ```
/// use backstop_openai::{OpenAi, Preset};
///
/// let groq = OpenAi::groq().api_key("gsk-0123456789").build()?;
///
/// let mut mine = Preset::VLLM;
/// mine.name = "mine";
/// mine.base_url = Some("http://10.0.0.7:8000/v1");
/// mine.lacks = &["seed"];
/// let mine = OpenAi::builder().preset(mine).build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
///
/// What vendors do is taken from their documentation and client libraries; where a constant's text says *not
/// verified*, no more than reports of users stand behind it. Names of models are open-ended everywhere.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The name in reports and metrics.
    pub name: &'static str,
    /// Where the API is. `None`: it must be given.
    pub base_url: Option<&'static str>,
    /// What is put behind a base URL that has no path.
    pub default_path: &'static [&'static str],
    /// How the model gets into the URL.
    pub route: Route,
    /// The environment variable with the key, for [`from_env`](crate::OpenAiBuilder::from_env).
    pub key_variable: Option<&'static str>,
    /// Whether it can be asked without a key.
    pub key_required: bool,
    /// The environment variable with the base URL.
    pub base_url_variable: Option<&'static str>,
    /// The header with the key. `None`: `Authorization: Bearer …`.
    pub key_header: Option<&'static str>,
    /// How models are asked that nothing is known about.
    pub traits: ModelTraits,
    /// Reasoning models get their instructions as `developer`.
    pub developer_role: bool,
    /// Which schemas it takes.
    pub schemas: Schemas,
    /// Streams are asked for token counts.
    pub stream_usage: bool,
    /// Parameters that it does not take. They are left out and noted.
    pub lacks: &'static [&'static str],
    /// Parameters that it has under another name: OpenAI's, then its own.
    pub renames: &'static [(&'static str, &'static str)],
    /// Which ids of tool calls it takes.
    pub tool_ids: ToolIds,
    /// Fields of the body that every request has.
    pub body: &'static [(&'static str, &'static str)],
    /// What a status means where neither a code nor a text says what happened, before what it usually means.
    pub statuses: &'static [(u16, FailureKind)],
    /// Understands [`OpenRouterOptions`](crate::OpenRouterOptions).
    pub routing: bool,
    /// What it makes of a prompt that is worth caching.
    pub caching: Caching,
}

/// What a server makes of a prompt that is marked as worth caching ([`CacheHint`](backstop_core::CacheHint)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caching {
    /// Nothing that is known: hints are left out and noted.
    Unknown,
    /// It caches the beginnings of prompts by itself, for as long as it likes. A short hint needs no word; a long one
    /// is noted.
    Automatic,
    /// The same, and it keeps them for a day (`prompt_cache_retention`) with models that have
    /// [`long_cache`](crate::ModelTraits::long_cache).
    Retention,
    /// It takes a `cache_control` at the parts that are marked, and passes it on in the form of the vendor behind.
    Marks,
}

/// How the model gets into the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// Not at all: it stands in the body.
    Body,
    /// Azure: `deployments/{model}/` before `chat/completions`, so a model is the name of a deployment.
    Deployments,
}

/// Which JSON Schemas a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schemas {
    /// OpenAI's strict subset; what does not fit is given as a hint.
    OpenAi,
    /// Those that can be turned into a grammar; what does not fit goes into the prompt.
    Grammar,
}

/// Which ids of tool calls a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolIds {
    /// Any.
    Any,
    /// Nine letters and digits. Ids of other vendors are replaced, the same by the same.
    NineAlphanumeric,
}
