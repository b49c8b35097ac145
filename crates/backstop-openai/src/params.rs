//! The optional parameters of a request, as data: which ones there are, and which of them this server takes.

use std::{borrow::Cow, collections::BTreeMap};

use backstop_core::Attempt;
use serde::Serialize;

use crate::{
    api::Api,
    models::{ModelTraits, TokenLimit},
    options::OpenAiOptions,
    server::Server,
};

/// Parameters without which a request is still the same request.
pub(crate) const OPTIONAL: &[&str] = &[
    "frequency_penalty",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "metadata",
    "parallel_tool_calls",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "random_seed",
    "reasoning.effort",
    "reasoning_effort",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream_options",
    "temperature",
    "text.verbosity",
    "top_p",
    "verbosity",
];

/// The value of one parameter.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Param<'a> {
    Count(u64),
    Number(f64),
    Flag(bool),
    Word(&'a str),
    Words(&'a [String]),
    Entries(&'a BTreeMap<String, String>),
}

/// The parameters that are sent, by the name that the server knows them by.
pub(crate) struct Params<'a>(Vec<(&'static str, Param<'a>)>);

impl<'a> Params<'a> {
    /// What the request sets and the model, the server and the API take; the rest is noted.
    pub(crate) fn gather(
        attempt: &'a Attempt<'a>,
        options: &'a OpenAiOptions,
        traits: &ModelTraits,
        server: &Server,
        api: Api,
        retention: bool,
        notes: &mut Vec<String>,
    ) -> Self {
        // With reasoning switched off, a reasoning model samples like any other.
        let sampling = traits.sampling || options.reasoning_effort.as_deref() == Some("none");
        let mut sent = Vec::new();
        for (name, value) in wanted(attempt, options, traits, api, retention) {
            let Some(value) = value else { continue };
            let by_model = match name {
                "temperature" | "top_p" => sampling,
                "stop" => traits.stop,
                _ => true,
            };
            if !by_model {
                notes.push(format!("`{name}` was left out: {} does not take it", attempt.model));
            } else if api.lacks().contains(&name) {
                notes.push(format!("`{name}` was left out: the Responses API does not have it"));
            } else if server.lacks(name) {
                notes.push(format!("`{name}` was left out: {} does not take it", server.name));
            } else if !attempt.is_dropped(name) && !attempt.is_dropped(api.place_of(name)) {
                sent.push((server.word_for(name), value));
            }
        }
        Self(sent)
    }

    /// One of them.
    pub(crate) fn get(&self, name: &str) -> Option<Param<'a>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, Param<'a>)> {
        self.0.iter().copied()
    }
}

/// All parameters, with what the request sets.
fn wanted<'a>(
    attempt: &'a Attempt<'a>,
    options: &'a OpenAiOptions,
    traits: &ModelTraits,
    api: Api,
    retention: bool,
) -> [(&'static str, Option<Param<'a>>); 16] {
    use Param::{Count, Entries, Flag, Number, Word, Words};
    let request = attempt.request;
    let limit = match (api, traits.token_limit) {
        (Api::Responses, _) => "max_output_tokens",
        (Api::Chat, TokenLimit::MaxCompletionTokens) => "max_completion_tokens",
        (Api::Chat, TokenLimit::MaxTokens) => "max_tokens",
    };
    let word = |text: &'a Option<String>| text.as_deref().map(Word);
    // Chat Completions takes metadata only with answers that OpenAI keeps.
    let keeps = api == Api::Responses || options.store == Some(true);
    [
        (limit, attempt.max_tokens().map(|tokens| Count(tokens.into()))),
        ("temperature", request.temperature.map(Number)),
        ("top_p", request.top_p.map(Number)),
        ("stop", (!request.stop.is_empty()).then_some(Words(&request.stop))),
        ("seed", request.seed.map(Count)),
        ("reasoning_effort", word(&options.reasoning_effort)),
        ("verbosity", word(&options.verbosity)),
        ("service_tier", word(&options.service_tier)),
        ("parallel_tool_calls", options.parallel_tool_calls.map(Flag)),
        ("store", options.store.map(Flag)),
        ("prompt_cache_key", word(&options.prompt_cache_key)),
        ("prompt_cache_retention", retention.then_some(Word("24h"))),
        ("safety_identifier", word(&options.safety_identifier)),
        ("presence_penalty", options.presence_penalty.map(Number)),
        ("frequency_penalty", options.frequency_penalty.map(Number)),
        ("metadata", Some(Entries(&request.metadata)).filter(|_| keeps && !request.metadata.is_empty())),
    ]
}

/// A name that vendors take: 1 to 64 letters, digits, `_` and `-`.
pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match name {
        "" => Cow::Borrowed("answer"),
        name if name.len() <= 64 && name.chars().all(fits) => Cow::Borrowed(name),
        name => Cow::Owned(name.chars().take(64).map(|c| if fits(c) { c } else { '_' }).collect()),
    }
}
