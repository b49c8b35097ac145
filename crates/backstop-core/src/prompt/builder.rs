//! Puts a template together, from code or from data.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    PromptError, PromptTemplate,
    parts::{Example, PromptParts},
};
use crate::{message::CacheHint, request::OutputSchema};

/// Builds a [`PromptTemplate`]. It is also the form in which a template is kept as data: field names are those of the
/// methods, overrides stand in `overrides`.
///
/// ```
/// use backstop_core::PromptTemplate;
///
/// let template: PromptTemplate = serde_json::from_str(r#"{
///     "system": "You sort mail for {{company}}.",
///     "examples": [{ "user": "Where is my parcel?", "assistant": "shipping" }],
///     "user": "{{mail}}",
///     "cache_system": "short",
///     "overrides": [{ "provider": "ollama", "model": "llama3*", "system": "Sort the mail. One word." }]
/// }"#)?;
/// # let _ = template;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct PromptBuilder {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<Example>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<OutputSchema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_system: Option<CacheHint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_examples: Option<CacheHint>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) overrides: Vec<Override>,
}

/// Other texts for some targets.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Override {
    pub(crate) provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    examples: Option<Vec<Example>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
}

impl Override {
    pub(crate) fn parts(&self) -> PromptParts {
        PromptParts { system: self.system.clone(), examples: self.examples.clone(), user: self.user.clone() }
    }
}

impl PromptBuilder {
    /// Instructions to the model.
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// What the caller asks; it comes after the examples.
    pub fn user(mut self, text: impl Into<String>) -> Self {
        self.user = Some(text.into());
        self
    }

    /// Adds a question with the answer that is wanted.
    pub fn example(mut self, user: impl Into<String>, assistant: impl Into<String>) -> Self {
        self.examples.push(Example { user: user.into(), assistant: assistant.into() });
        self
    }

    /// Asks for JSON that follows `schema`. Variables are read in its `title`s and `description`s only: models read
    /// them as part of the prompt. The same for all targets, since their answers are held against it;
    /// [`Chain::call`](crate::Chain::call) lets the validator's own schema take its place.
    pub fn json_schema(mut self, name: impl Into<Cow<'static, str>>, schema: impl Into<Arc<Value>>) -> Self {
        self.output = Some(OutputSchema::new(name, schema));
        self
    }

    /// Marks the instructions as worth caching.
    pub fn cache_system(mut self, hint: CacheHint) -> Self {
        self.cache_system = Some(hint);
        self
    }

    /// Marks the prompt up to the last example as worth caching.
    pub fn cache_examples(mut self, hint: CacheHint) -> Self {
        self.cache_examples = Some(hint);
        self
    }

    /// Other texts for all models of a provider, by the name of its adapter (`openai`, `anthropic`, …). Where several
    /// overrides match a target they are laid over each other in the order of being added.
    pub fn for_provider(
        self,
        provider: impl Into<String>,
        parts: impl FnOnce(PromptParts) -> PromptParts,
    ) -> Self {
        self.overridden(provider.into(), None, parts)
    }

    /// Other texts for one model of a provider, or with a `*` at its end for those whose names begin so.
    pub fn for_model(
        self,
        provider: impl Into<String>,
        model: impl Into<String>,
        parts: impl FnOnce(PromptParts) -> PromptParts,
    ) -> Self {
        self.overridden(provider.into(), Some(model.into()), parts)
    }

    fn overridden(
        mut self,
        provider: String,
        model: Option<String>,
        parts: impl FnOnce(PromptParts) -> PromptParts,
    ) -> Self {
        let PromptParts { system, examples, user } = parts(PromptParts::default());
        self.overrides.push(Override { provider, model, system, examples, user });
        self
    }

    /// Reads the texts.
    ///
    /// # Errors
    /// There is no text, a `{{` begins no variable, or an override names nobody.
    pub fn build(self) -> Result<PromptTemplate, PromptError> {
        PromptTemplate::try_from(self)
    }

    /// The texts for everybody.
    pub(crate) fn base(&self) -> PromptParts {
        PromptParts {
            system: self.system.clone(),
            examples: (!self.examples.is_empty()).then(|| self.examples.clone()),
            user: self.user.clone(),
        }
    }
}

impl fmt::Debug for PromptBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptBuilder")
            .field("base", &self.base())
            .field("output", &self.output)
            .field("overrides", &self.overrides.len())
            .finish_non_exhaustive()
    }
}
