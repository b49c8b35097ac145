//! A template, read once and rendered for each call.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::Deserialize;
use serde_json::Value;

use super::{
    PromptBuilder, PromptError, Variants,
    parts::{Named, Texts},
    variants::{Filled, Variant},
};
use crate::{
    message::{CacheHint, Message},
    request::{Output, OutputSchema, Request},
};

/// A prompt with variables, and with other texts for some providers and models. Cloning is one atomic increment.
///
/// `{{name}}` stands for a value, `\{{` for the braces themselves. Values are put in as they are: what looks like a
/// variable in them stays text. A variable without a value is an error, and so is a value that no text uses.
///
/// ```
/// use backstop_core::PromptTemplate;
///
/// let template = PromptTemplate::builder()
///     .system("You sort mail for {{company}}. Answer with one word.")
///     .example("Where is my parcel?", "shipping")
///     .user("<mail>{{mail}}</mail>")
///     .for_provider("ollama", |parts| parts.system("Sort the mail. One word, no explanation."))
///     .build()?;
/// let request = template.render([("company", "Acme"), ("mail", "My {{invoice}} is wrong.")])?;
/// assert_eq!(request.messages[2].text(), "<mail>My {{invoice}} is wrong.</mail>");
/// assert!(request.for_target("ollama", "llama3.1:8b").system.as_deref().unwrap().starts_with("Sort the mail."));
/// # Ok::<(), backstop_core::PromptError>(())
/// ```
#[derive(Clone, Deserialize)]
#[serde(try_from = "PromptBuilder")]
pub struct PromptTemplate(Arc<Inner>);

struct Inner {
    base: Texts,
    overrides: Vec<Override>,
    schema: Option<Schema>,
    cache_system: Option<CacheHint>,
    cache_examples: Option<CacheHint>,
    variables: BTreeSet<String>,
}

struct Override {
    provider: String,
    model: Option<String>,
    texts: Texts,
}

/// A schema with the descriptions that hold variables.
struct Schema {
    output: OutputSchema,
    texts: Vec<(String, Named)>,
}

impl PromptTemplate {
    /// Begins a template.
    pub fn builder() -> PromptBuilder {
        PromptBuilder::default()
    }

    /// The names of its variables, sorted.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.variables.iter().map(String::as_str)
    }

    /// A request with these values in the texts of every target. Messages can be added to it, everything else can be
    /// set on it.
    ///
    /// # Errors
    /// A variable has no value or two, or a value has no variable. Overrides count as the rest does, so that a
    /// failover is not the first to find a mistake.
    pub fn render<N: Into<String>, V: Into<String>>(
        &self,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Request, PromptError> {
        let values = self.check(values)?;
        let inner = &*self.0;
        let base = inner.fill(&inner.base, &values)?;
        let variants = inner.overrides.iter().map(|other| {
            let parts = inner.fill(&other.texts, &values)?;
            Ok(Variant::new(other.provider.clone(), other.model.clone(), parts))
        });
        let variants = variants.collect::<Result<Vec<_>, _>>()?;
        let output = inner.schema.as_ref().map(|schema| schema.fill(&values)).transpose()?;
        let mut request = Request::default();
        let body = request.body_mut();
        body.variants = Variants::new(&base, variants);
        base.place(body, [0, 0]);
        body.system_cache = inner.cache_system;
        body.output = output.map_or(Output::Text, Output::Schema);
        Ok(request)
    }

    fn check<N: Into<String>, V: Into<String>>(
        &self,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<BTreeMap<String, String>, PromptError> {
        let mut checked = BTreeMap::new();
        for (name, value) in values {
            let name = name.into();
            if !self.0.variables.contains(&name) {
                return Err(PromptError::Unused { variable: name });
            }
            if checked.insert(name.clone(), value.into()).is_some() {
                return Err(PromptError::Twice { variable: name });
            }
        }
        Ok(checked)
    }
}

impl Inner {
    fn fill(&self, texts: &Texts, values: &BTreeMap<String, String>) -> Result<Filled, PromptError> {
        let fill = |text: &Option<Named>| text.as_ref().map(|text| text.fill(values)).transpose();
        let examples = texts.examples.as_ref().map(|examples| self.examples(examples, values)).transpose()?;
        Ok(Filled { system: fill(&texts.system)?, examples, user: fill(&texts.user)? })
    }

    fn examples(
        &self,
        examples: &[[Named; 2]],
        values: &BTreeMap<String, String>,
    ) -> Result<Vec<Message>, PromptError> {
        let mut messages = Vec::with_capacity(examples.len() * 2);
        for [user, assistant] in examples {
            messages.push(Message::user(user.fill(values)?));
            messages.push(Message::assistant(assistant.fill(values)?));
        }
        if let Some(last) = messages.last_mut() {
            last.cache = self.cache_examples;
        }
        Ok(messages)
    }
}

impl Schema {
    fn parse(output: OutputSchema) -> Result<Self, PromptError> {
        let (mut texts, mut open) = (Vec::new(), vec![(String::new(), &*output.schema)]);
        while let Some((pointer, value)) = open.pop() {
            match value {
                Value::Array(items) => {
                    open.extend(items.iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), item)));
                }
                Value::Object(fields) => {
                    for (key, value) in fields {
                        let place = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                        match (key.as_str(), value) {
                            ("title" | "description", Value::String(text)) => {
                                let named = Named::parse(format!("the schema's {place}"), text)?;
                                if text.contains("{{") {
                                    texts.push((place, named));
                                }
                            }
                            // Values of the caller's own, whatever they look like.
                            ("const" | "default" | "enum" | "examples", _)
                                if !pointer.ends_with("/properties") => {}
                            _ => open.push((place, value)),
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(Self { output, texts })
    }

    fn fill(&self, values: &BTreeMap<String, String>) -> Result<OutputSchema, PromptError> {
        if self.texts.is_empty() {
            return Ok(self.output.clone());
        }
        let mut schema = Value::clone(&self.output.schema);
        for (pointer, text) in &self.texts {
            let text = text.fill(values)?;
            if let Some(place) = schema.pointer_mut(pointer) {
                *place = Value::String(text);
            }
        }
        Ok(OutputSchema::new(self.output.name.clone(), schema))
    }
}

impl TryFrom<PromptBuilder> for PromptTemplate {
    type Error = PromptError;

    fn try_from(builder: PromptBuilder) -> Result<Self, PromptError> {
        let base = builder.base().parse("")?;
        if base.all().next().is_none() {
            return Err(PromptError::Empty);
        }
        let overrides = builder.overrides.into_iter().map(|other| {
            if other.provider.is_empty() {
                return Err(PromptError::Override { what: "provider" });
            }
            if other.model.as_ref().is_some_and(String::is_empty) {
                return Err(PromptError::Override { what: "model" });
            }
            let model = other.model.as_ref().map(|model| format!("/{model}")).unwrap_or_default();
            let texts = other.parts().parse(&format!(" for {}{model}", other.provider))?;
            Ok(Override { provider: other.provider, model: other.model, texts })
        });
        let overrides = overrides.collect::<Result<Vec<_>, _>>()?;
        let schema = builder.output.map(Schema::parse).transpose()?;
        let texts = base.all().chain(overrides.iter().flat_map(|other| other.texts.all()));
        let described = schema.iter().flat_map(|schema| schema.texts.iter().map(|(_, text)| text));
        let variables = texts.chain(described).flat_map(Named::variables).map(str::to_owned).collect();
        let (cache_system, cache_examples) = (builder.cache_system, builder.cache_examples);
        Ok(Self(Arc::new(Inner { base, overrides, schema, cache_system, cache_examples, variables })))
    }
}

impl fmt::Debug for PromptTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let overrides = self.0.overrides.iter().map(|other| (&other.provider, &other.model));
        f.debug_struct("PromptTemplate")
            .field("variables", &self.0.variables)
            .field("overrides", &overrides.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
