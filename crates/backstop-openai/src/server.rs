//! What is known about the server: its preset, and what the builder says over it.

use std::borrow::Cow;

use backstop_core::FailureKind;
use serde_json::Value;

use crate::preset::{Caching, Preset, Route, Schemas, ToolIds};

/// In what the server differs.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: Cow<'static, str>,
    pub(crate) route: Route,
    pub(crate) schemas: Schemas,
    pub(crate) stream_usage: bool,
    pub(crate) tool_ids: ToolIds,
    pub(crate) routing: bool,
    pub(crate) caching: Caching,
    pub(crate) statuses: Vec<(u16, FailureKind)>,
    lacks: Vec<Cow<'static, str>>,
    renames: &'static [(&'static str, &'static str)],
    body: Vec<(Cow<'static, str>, Value)>,
}

impl Server {
    pub(crate) fn new(name: Cow<'static, str>, preset: &Preset, own: Own) -> Self {
        let known = preset.lacks.iter().copied().map(Cow::Borrowed);
        let fields = preset.body.iter().map(|(key, value)| (Cow::Borrowed(*key), Value::from(*value)));
        let mut body: Vec<_> = fields.filter(|(key, _)| own.body.iter().all(|(own, _)| own != key)).collect();
        body.extend(own.body);
        Self {
            name,
            route: preset.route,
            schemas: preset.schemas,
            stream_usage: own.stream_usage.unwrap_or(preset.stream_usage),
            tool_ids: preset.tool_ids,
            routing: preset.routing,
            caching: preset.caching,
            statuses: own.statuses.into_iter().chain(preset.statuses.iter().copied()).collect(),
            lacks: known.chain(own.lacks).collect(),
            renames: preset.renames,
            body,
        }
    }

    /// Whether it does not take a parameter, by OpenAI's name for it.
    pub(crate) fn lacks(&self, param: &str) -> bool {
        self.lacks.iter().any(|lacked| lacked == param)
    }

    /// Its own name for a parameter.
    pub(crate) fn word_for(&self, param: &'static str) -> &'static str {
        self.renames.iter().find(|(theirs, _)| *theirs == param).map_or(param, |(_, word)| word)
    }

    /// The fields that every request has, unless the caller sets them.
    pub(crate) fn body(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.body.iter().map(|(key, value)| (key.as_ref(), value))
    }
}

/// What the builder says over a preset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    pub(crate) stream_usage: Option<bool>,
    pub(crate) statuses: Vec<(u16, FailureKind)>,
    pub(crate) lacks: Vec<Cow<'static, str>>,
    pub(crate) body: Vec<(Cow<'static, str>, Value)>,
}
