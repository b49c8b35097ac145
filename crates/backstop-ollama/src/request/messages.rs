//! The conversation on the wire.

use backstop_core::{
    Attempt, FailureKind, Media, MediaSource, Message, Part, ProviderError, Role, ToolCall, ToolResult,
};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::value::RawValue;

pub(super) struct Messages<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    /// What we add to the instructions.
    pub(super) added: Option<String>,
}

/// What Ollama has no form for.
pub(super) fn check(attempt: &Attempt<'_>) -> Result<(), ProviderError> {
    let lack = attempt.messages().flat_map(|message| &message.parts).find_map(|part| match part {
        Part::Document(_) => {
            Some("Ollama takes no documents; give it their text, or pictures of their pages")
        }
        Part::Image(Media { source: MediaSource::Url(_), .. }) => {
            Some("Ollama takes pictures as bytes only, not by address")
        }
        _ => None,
    });
    lack.map_or(Ok(()), |lack| Err(ProviderError::new(FailureKind::Unsupported, lack)))
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let system = self.attempt.request.system.as_deref();
        if system.is_some() || self.added.is_some() {
            list.serialize_element(&Instructions(system, self.added.as_deref()))?;
        }
        for message in self.attempt.messages() {
            turns(message, &mut list)?;
        }
        list.end()
    }
}

/// Writes one message; results of tools are messages of their own here.
fn turns<L: SerializeSeq>(message: &Message, list: &mut L) -> Result<(), L::Error> {
    let mut answers = 0;
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            list.serialize_element(&Answered(result))?;
            answers += 1;
        }
    }
    if answers == 0 || answers < message.parts.len() {
        list.serialize_element(&Spoken(message))?;
    }
    Ok(())
}

/// The caller's instructions and ours.
struct Instructions<'a>(Option<&'a str>, Option<&'a str>);

impl Serialize for Instructions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("role", "system")?;
        map.serialize_entry("content", &Joined(self.0, self.1))?;
        map.end()
    }
}

struct Joined<'a>(Option<&'a str>, Option<&'a str>);

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0, self.1) {
            (Some(system), Some(added)) => serializer.collect_str(&format_args!("{system}\n\n{added}")),
            (one, other) => serializer.serialize_str(one.or(other).unwrap_or_default()),
        }
    }
}

struct Spoken<'a>(&'a Message);

impl Serialize for Spoken<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let calls: Vec<WireCall<'_>> = self.0.parts.iter().filter_map(WireCall::of).collect();
        let images: Vec<&str> = self.0.parts.iter().filter_map(image).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", if self.0.role == Role::Assistant { "assistant" } else { "user" })?;
        map.serialize_entry("content", &self.0.text())?;
        if !images.is_empty() {
            map.serialize_entry("images", &images)?;
        }
        if !calls.is_empty() {
            map.serialize_entry("tool_calls", &calls)?;
        }
        map.end()
    }
}

fn image(part: &Part) -> Option<&str> {
    match part {
        Part::Image(Media { source: MediaSource::Base64(data), .. }) => Some(data),
        _ => None,
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: Object<'a>,
}

impl<'a> WireCall<'a> {
    fn of(part: &'a Part) -> Option<Self> {
        let Part::ToolCall(ToolCall { id, name, arguments, .. }) = part else { return None };
        Some(Self { id, function: Called { name, arguments: Object::of(arguments) } })
    }
}

/// What a tool gave back. Ollama matches it by name, later versions by id too.
struct Answered<'a>(&'a ToolResult);

impl Serialize for Answered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "tool")?;
        map.serialize_entry("content", &self.0.content)?;
        map.serialize_entry("tool_name", &self.0.name)?;
        if !self.0.call_id.is_empty() {
            map.serialize_entry("tool_call_id", &self.0.call_id)?;
        }
        map.end()
    }
}

/// Arguments, which Ollama takes as an object only: as they are if they are one, otherwise under a key.
enum Object<'a> {
    Json(&'a RawValue),
    Text(&'a str),
    Empty,
}

impl<'a> Object<'a> {
    fn of(text: &'a str) -> Self {
        match serde_json::from_str::<&RawValue>(text) {
            Ok(json) if json.get().starts_with('{') => Self::Json(json),
            _ if text.trim().is_empty() => Self::Empty,
            _ => Self::Text(text),
        }
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(json) => json.serialize(serializer),
            Self::Text(text) => serializer.collect_map([("arguments", text)]),
            Self::Empty => serializer.serialize_map(Some(0))?.end(),
        }
    }
}
