//! What a rendered request holds beside its own texts: those of the targets that get others.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{message::Message, request::RequestBody};

/// The variants of a request, and which of its messages they may replace. Mostly none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Variants(Option<Arc<Inner>>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    /// How many of the first messages are examples.
    examples: usize,
    /// How many after them are the template's question.
    user: usize,
    list: Vec<Variant>,
}

/// Other texts for some targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Variant {
    provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(flatten)]
    parts: Filled,
}

/// Texts with their values.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Filled {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) examples: Option<Vec<Message>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
}

impl Variants {
    pub(crate) fn new(base: &Filled, list: Vec<Variant>) -> Self {
        Self((!list.is_empty()).then(|| {
            let examples = base.examples.as_ref().map_or(0, Vec::len);
            let user = usize::from(base.has_user());
            Arc::new(Inner { examples, user, list })
        }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The caller sets other instructions, which are meant for everybody.
    pub(crate) fn forget_system(&mut self) {
        if let Some(inner) = &mut self.0 {
            Arc::make_mut(inner).list.iter_mut().for_each(|variant| variant.parts.system = None);
        }
    }

    /// The texts of a target that gets others, laid over each other, and how many messages are examples and question.
    pub(crate) fn of(&self, provider: &str, model: &str) -> Option<(Filled, [usize; 2])> {
        let inner = self.0.as_deref()?;
        let mut matching = inner.list.iter().filter(|variant| variant.matches(provider, model));
        let first = matching.next()?.parts.clone();
        let parts = matching.fold(first, |parts, next| parts.overlaid(&next.parts));
        Some((parts, [inner.examples, inner.user]))
    }
}

impl Variant {
    pub(crate) fn new(provider: String, model: Option<String>, parts: Filled) -> Self {
        Self { provider, model, parts }
    }

    fn matches(&self, provider: &str, model: &str) -> bool {
        let fits = |pattern: &str| match pattern.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning),
            None => model == pattern,
        };
        self.provider == provider && self.model.as_deref().is_none_or(fits)
    }
}

impl Filled {
    fn has_user(&self) -> bool {
        self.user.as_ref().is_some_and(|text| !text.is_empty())
    }

    fn overlaid(self, over: &Self) -> Self {
        Self {
            system: over.system.clone().or(self.system),
            examples: over.examples.clone().or(self.examples),
            user: over.user.clone().or(self.user),
        }
    }

    /// Writes the texts into a request in place of its first messages: so many examples, so many questions.
    pub(crate) fn place(self, body: &mut RequestBody, [examples, user]: [usize; 2]) {
        let has_user = self.user.is_some();
        if let Some(system) = self.system {
            body.system = Some(system).filter(|text| !text.is_empty());
        }
        let examples_end = examples.min(body.messages.len());
        let end = (examples_end + user).min(body.messages.len());
        if has_user {
            let question = self.user.filter(|text| !text.is_empty()).map(Message::user);
            body.messages.splice(examples_end..end, question);
        }
        if let Some(messages) = self.examples {
            body.messages.splice(..examples_end, messages);
        }
    }
}

impl std::fmt::Debug for Filled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filled")
            .field("system_bytes", &self.system.as_ref().map(String::len))
            .field("examples", &self.examples.as_ref().map(Vec::len))
            .field("user_bytes", &self.user.as_ref().map(String::len))
            .finish()
    }
}
