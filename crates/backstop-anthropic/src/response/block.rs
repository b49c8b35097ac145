//! The blocks of an answer.

use std::borrow::Cow;

use backstop_http::lenient;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a block is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Thinking,
    ToolUse,
    /// The vendor's own fallback went on to another model.
    Fallback,
    /// The vendor's own tools and their results, and what comes later.
    Other,
}

/// A block, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(crate) text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(crate) thinking: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient::object")]
    from: Option<Model<'a>>,
    #[serde(borrow, deserialize_with = "lenient::object")]
    to: Option<Model<'a>>,
    #[serde(borrow, deserialize_with = "lenient::object")]
    trigger: Option<Trigger<'a>>,
}

#[derive(Deserialize)]
struct Model<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    model: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Trigger<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    category: Option<Cow<'a, str>>,
}

/// The blocks of a message's content; those that cannot be read are left out.
pub(super) fn list(content: &RawValue) -> Vec<Block<'_>> {
    if let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        return blocks.into_iter().filter_map(Block::read).collect();
    }
    // Some compatible servers send the text alone.
    let text = serde_json::from_str::<Cow<'_, str>>(content.get()).ok();
    text.into_iter().map(|text| Block { text: Some(text), ..Block::default() }).collect()
}

impl<'a> Block<'a> {
    pub(crate) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.r#type.as_deref() {
            Some("text") => Kind::Text,
            None if self.text.is_some() => Kind::Text,
            Some("thinking" | "redacted_thinking") => Kind::Thinking,
            Some("tool_use") => Kind::ToolUse,
            Some("fallback") => Kind::Fallback,
            _ => Kind::Other,
        }
    }

    /// The vendor's id of a call; the first one has the number 0.
    pub(crate) fn id_or(&self, number: usize) -> String {
        let id = self.id.as_deref().filter(|id| !id.is_empty());
        id.map_or_else(|| format!("call_{number}"), str::to_owned)
    }

    /// The arguments of a call as the vendor wrote them.
    pub(crate) fn input_text(&self) -> &'a str {
        self.input.map_or("{}", RawValue::get)
    }

    /// The model that a fallback went on to.
    pub(crate) fn next_model(&self) -> Option<&str> {
        self.to.as_ref().and_then(|to| to.model.as_deref())
    }

    /// A fallback in words.
    pub(super) fn hop(&self) -> String {
        let name = |model: &Option<Model<'_>>| {
            let name = model.as_ref().and_then(|model| model.model.as_deref());
            name.unwrap_or("a model").to_owned()
        };
        let category = self.trigger.as_ref().and_then(|trigger| trigger.category.as_deref());
        let category = category.map(|category| format!(" ({category})")).unwrap_or_default();
        format!("{} declined{category}; the vendor went on to {}", name(&self.from), name(&self.to))
    }
}
