//! The conversation on the wire.

use std::fmt;

use backstop_core::{
    Attempt, FailureKind, Media, MediaSource, Message, Part, ProviderError, Role, ToolCall, ToolResult,
};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use super::Format;
use crate::models::{ModelTraits, SystemRole};

pub(super) struct Messages<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    pub(super) traits: &'a ModelTraits,
    pub(super) format: &'a Format,
}

/// What Chat Completions has no form for.
pub(super) fn check(attempt: &Attempt<'_>) -> Result<(), ProviderError> {
    let by_address = |part: &Part| matches!(part, Part::Document(Media { source: MediaSource::Url(_), .. }));
    if attempt.messages().flat_map(|message| &message.parts).any(by_address) {
        let message = "Chat Completions takes documents as bytes only, not by address";
        return Err(ProviderError::new(FailureKind::Unsupported, message));
    }
    Ok(())
}

/// Enough room for the body, so that writing a large prompt does not move it from buffer to buffer: the bytes that
/// have to be written, an eighth for what JSON escapes, and something for all the rest.
pub(super) fn room(attempt: &Attempt<'_>) -> usize {
    let of_part = |part: &Part| match part {
        Part::Text(text) => escaped(text.len()),
        Part::Image(Media { source: MediaSource::Base64(data), .. })
        | Part::Document(Media { source: MediaSource::Base64(data), .. }) => data.len() + 256,
        Part::ToolCall(call) => escaped(call.arguments.len()),
        Part::ToolResult(result) => escaped(result.content.len()),
        _ => 256,
    };
    let parts: usize =
        attempt.messages().flat_map(|message| &message.parts).map(|part| of_part(part) + 128).sum();
    let system = attempt.request.system.as_ref().map_or(0, |text| escaped(text.len()));
    parts + system + 4096
}

fn escaped(bytes: usize) -> usize {
    bytes + bytes / 8
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let added = self.format.instructions();
        let system = self.attempt.request.system.as_deref();
        if system.is_some() || added.is_some() {
            let role = match self.traits.system_role {
                SystemRole::Developer => "developer",
                SystemRole::System => "system",
            };
            list.serialize_element(&Spoken { role, content: &Joined(system, added.as_deref()) })?;
        }
        if self.traits.joined_turns {
            let messages: Vec<&Message> = self.attempt.messages().collect();
            for neighbours in messages.chunk_by(|one, next| one.role == next.role) {
                match neighbours {
                    [message] => turns(message, &mut list)?,
                    neighbours => turns(&joined(neighbours), &mut list)?,
                }
            }
        } else {
            for message in self.attempt.messages() {
                turns(message, &mut list)?;
            }
        }
        list.end()
    }
}

/// Messages of one role as one. Texts that follow each other become one text: a strict template takes no list.
fn joined(neighbours: &[&Message]) -> Message {
    let mut whole = Message::new(neighbours.first().map_or(Role::User, |first| first.role), Vec::new());
    for message in neighbours {
        let mut is_new = true;
        for part in &message.parts {
            match (whole.parts.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) if is_new => {
                    before.push_str("\n\n");
                    before.push_str(text);
                }
                _ => whole.parts.push(part.clone()),
            }
            is_new = false;
        }
    }
    whole
}

/// Writes one message; results of tools are messages of their own here.
fn turns<L: SerializeSeq>(message: &Message, list: &mut L) -> Result<(), L::Error> {
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            list.serialize_element(&Answered(result))?;
        }
    }
    if message.role == Role::Assistant {
        return list.serialize_element(&Assistant(message));
    }
    let rest: Vec<&Part> = message.parts.iter().filter(|part| !matches!(part, Part::ToolResult(_))).collect();
    match rest.as_slice() {
        [] if !message.parts.is_empty() => Ok(()),
        [] => list.serialize_element(&Spoken { role: "user", content: "" }),
        [Part::Text(text)] => list.serialize_element(&Spoken { role: "user", content: text }),
        parts => {
            let parts: Vec<WirePart<'_>> = parts.iter().map(|part| WirePart(part)).collect();
            list.serialize_element(&Spoken { role: "user", content: &parts })
        }
    }
}

#[derive(Serialize)]
struct Spoken<'a, C: ?Sized> {
    role: &'static str,
    content: &'a C,
}

/// The caller's instructions and ours.
struct Joined<'a>(Option<&'a str>, Option<&'a str>);

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0, self.1) {
            (Some(system), Some(added)) => serializer.collect_str(&format_args!("{system}\n\n{added}")),
            (one, other) => serializer.serialize_str(one.or(other).unwrap_or_default()),
        }
    }
}

struct Assistant<'a>(&'a Message);

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let calls: Vec<WireCall<'_>> = self.0.parts.iter().filter_map(WireCall::of).collect();
        let text = self.0.text();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        // Beside tool calls the content may be missing, and some servers want it to be null then.
        map.serialize_entry("content", &Some(&text).filter(|text| !text.is_empty() || calls.is_empty()))?;
        if !calls.is_empty() {
            map.serialize_entry("tool_calls", &calls)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> WireCall<'a> {
    fn of(part: &'a Part) -> Option<Self> {
        let Part::ToolCall(ToolCall { id, name, arguments, .. }) = part else { return None };
        Some(Self { id, r#type: "function", function: Called { name, arguments } })
    }
}

struct Answered<'a>(&'a ToolResult);

impl Serialize for Answered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "tool")?;
        map.serialize_entry("tool_call_id", &self.0.call_id)?;
        map.serialize_entry("content", &self.0.content)?;
        map.end()
    }
}

struct WirePart<'a>(&'a Part);

impl Serialize for WirePart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            Part::Image(media) => {
                map.serialize_entry("type", "image_url")?;
                map.serialize_entry("image_url", &Address { url: DataUrl(media) })?;
            }
            Part::Document(media) => {
                map.serialize_entry("type", "file")?;
                let filename = media.name.as_deref().unwrap_or("document");
                map.serialize_entry("file", &File { filename, file_data: DataUrl(media) })?;
            }
            other => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", other.as_text().unwrap_or_default())?;
            }
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Address<'a> {
    url: DataUrl<'a>,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: DataUrl<'a>,
}

/// An address, or the bytes as a `data:` address, written without putting them together first.
struct DataUrl<'a>(&'a Media);

impl fmt::Display for DataUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            MediaSource::Base64(data) => write!(f, "data:{};base64,{data}", self.0.media_type),
            MediaSource::Url(url) => f.write_str(url),
            _ => Ok(()),
        }
    }
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
