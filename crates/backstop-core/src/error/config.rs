//! The caller's own mistakes, found before anything is sent.

use std::{borrow::Cow, error::Error};

/// A setting that cannot work. Says which one and what to do; never shows a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A chain without targets.
    #[error("a chain needs at least one target: add `.target(provider.model(\"…\"))`")]
    NoTargets,
    /// Two targets of a chain with one name.
    #[error(
        "two targets are named `{name}`, so that nobody could tell them apart: give one of them another name with \
         `.named(\"…\")`, or make one target of both with `Target::pool`"
    )]
    DuplicateTarget {
        /// The name.
        name: String,
    },
    /// A setting of a target.
    #[error("`{setting}` of target {target} is {value}: {why}")]
    Target {
        /// The target.
        target: String,
        /// The builder's method.
        setting: &'static str,
        /// What was given.
        value: String,
        /// Why it cannot work.
        why: Cow<'static, str>,
    },
    /// Any other setting.
    #[error("`{setting}` {why}")]
    Setting {
        /// The builder's method or the environment variable.
        setting: Cow<'static, str>,
        /// Why it cannot work, and what would.
        why: Cow<'static, str>,
        /// What lies behind it.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// A call named a target that the chain does not have.
    #[error("the chain has no target `{name}`; it has: {known}")]
    UnknownTarget {
        /// The name that was asked for.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
}

impl ConfigError {
    /// A setting and why it cannot work.
    #[must_use]
    pub fn setting(setting: impl Into<Cow<'static, str>>, why: impl Into<Cow<'static, str>>) -> Self {
        Self::Setting { setting: setting.into(), why: why.into(), source: None }
    }

    /// A setting, why it cannot work, and the error behind it.
    #[must_use]
    pub fn caused(
        setting: impl Into<Cow<'static, str>>,
        why: impl Into<Cow<'static, str>>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Setting { setting: setting.into(), why: why.into(), source: Some(source.into()) }
    }
}
