//! The texts of a template that may differ from target to target.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{PromptError, text::Text};

/// The texts that replace a template's own for some targets; what is not set stays. `Debug` shows sizes only.
#[derive(Clone, Default, PartialEq, Eq)]
#[must_use = "parts do nothing until they are given back"]
pub struct PromptParts {
    pub(crate) system: Option<String>,
    pub(crate) examples: Option<Vec<Example>>,
    pub(crate) user: Option<String>,
}

/// A question with the answer that is wanted.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example {
    pub(crate) user: String,
    pub(crate) assistant: String,
}

impl PromptParts {
    /// Instructions to the model. An empty text means none.
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// What the caller asks. An empty text means that nothing is asked here.
    pub fn user(mut self, text: impl Into<String>) -> Self {
        self.user = Some(text.into());
        self
    }

    /// Adds a question with the answer that is wanted. The first one replaces all of the template's own.
    pub fn example(mut self, user: impl Into<String>, assistant: impl Into<String>) -> Self {
        let example = Example { user: user.into(), assistant: assistant.into() };
        self.examples.get_or_insert_default().push(example);
        self
    }

    /// Leaves the template's examples out.
    pub fn no_examples(mut self) -> Self {
        self.examples = Some(Vec::new());
        self
    }

    /// Reads the texts. `of` says whose they are, for errors.
    pub(crate) fn parse(&self, of: &str) -> Result<Texts, PromptError> {
        let parse = |part: &str, text: &str| Named::parse(format!("{part}{of}"), text);
        let named =
            |part: &str, text: &Option<String>| text.as_deref().map(|text| parse(part, text)).transpose();
        let examples = self.examples.as_ref().map(|examples| {
            let pairs = examples.iter().zip(1..).map(|(example, number)| {
                let part = format!("example {number}");
                Ok([parse(&part, &example.user)?, parse(&part, &example.assistant)?])
            });
            pairs.collect()
        });
        Ok(Texts {
            system: named("system", &self.system)?,
            examples: examples.transpose()?,
            user: named("user", &self.user)?,
        })
    }
}

impl fmt::Debug for PromptParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptParts")
            .field("system_bytes", &self.system.as_ref().map(String::len))
            .field("examples", &self.examples.as_ref().map(Vec::len))
            .field("user_bytes", &self.user.as_ref().map(String::len))
            .finish()
    }
}

/// A text with its name for errors.
#[derive(Clone)]
pub(crate) struct Named {
    text: Text,
    part: String,
}

impl Named {
    pub(crate) fn parse(part: String, source: &str) -> Result<Self, PromptError> {
        match Text::parse(source) {
            Ok(text) => Ok(Self { text, part }),
            Err(offset) => Err(PromptError::Syntax { part, offset }),
        }
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.text.variables()
    }

    pub(crate) fn fill(&self, values: &BTreeMap<String, String>) -> Result<String, PromptError> {
        self.text.fill(values).map_err(|variable| PromptError::Missing {
            variable: variable.to_owned(),
            part: self.part.clone(),
        })
    }
}

/// The texts of [`PromptParts`], read.
#[derive(Clone)]
pub(crate) struct Texts {
    pub(crate) system: Option<Named>,
    pub(crate) examples: Option<Vec<[Named; 2]>>,
    pub(crate) user: Option<Named>,
}

impl Texts {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Named> {
        let examples = self.examples.iter().flatten().flatten();
        self.system.iter().chain(examples).chain(&self.user)
    }
}
