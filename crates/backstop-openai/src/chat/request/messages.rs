//! The conversation on the wire.

use std::borrow::Cow;

use backstop_core::{Message, Part, Role, ToolCall, ToolResult};
use backstop_http::CacheControl;
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use crate::{media::DataUrl, models::SystemRole, parts::Parts, preset::ToolIds, tool_ids};

pub(super) struct Messages<'a>(pub(super) &'a Parts<'a>);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let parts = self.0;
        let added = parts.format.instructions();
        let system = parts.request().system.as_deref();
        if system.is_some() || added.is_some() {
            let role = match parts.traits.system_role {
                SystemRole::Developer => "developer",
                SystemRole::System => "system",
            };
            let text = Joined(system, added.as_deref());
            match parts.cache.system {
                None => list.serialize_element(&Spoken { role, content: &text })?,
                mark => list.serialize_element(&Spoken { role, content: &[MarkedText::new(text, mark)] })?,
            }
        }
        let mut cache = parts.cache;
        parts.each_turn(|message| turns(message, parts.server.tool_ids, cache.next(message), &mut list))?;
        list.end()
    }
}

/// Writes one message; results of tools are messages of their own here.
fn turns<L: SerializeSeq>(
    message: &Message,
    ids: ToolIds,
    mark: Option<CacheControl>,
    list: &mut L,
) -> Result<(), L::Error> {
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            list.serialize_element(&Answered(result, ids))?;
        }
    }
    if message.role == Role::Assistant {
        return list.serialize_element(&Assistant(message, ids, mark));
    }
    let rest: Vec<&Part> = message.parts.iter().filter(|part| !matches!(part, Part::ToolResult(_))).collect();
    match rest.as_slice() {
        [] if !message.parts.is_empty() => Ok(()),
        [] => list.serialize_element(&Spoken { role: "user", content: "" }),
        [Part::Text(text)] if mark.is_none() => {
            list.serialize_element(&Spoken { role: "user", content: text })
        }
        parts => {
            let mut parts: Vec<WirePart<'_>> = parts.iter().map(|part| WirePart(part, None)).collect();
            if let Some(last) = parts.last_mut() {
                last.1 = mark;
            }
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

/// A text with the mark that it is worth caching.
#[derive(Serialize)]
struct MarkedText<T> {
    r#type: &'static str,
    text: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

impl<T> MarkedText<T> {
    fn new(text: T, cache_control: Option<CacheControl>) -> Self {
        Self { r#type: "text", text, cache_control }
    }
}

struct Assistant<'a>(&'a Message, ToolIds, Option<CacheControl>);

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let calls: Vec<WireCall<'_>> =
            self.0.parts.iter().filter_map(|part| WireCall::of(part, self.1)).collect();
        let text = self.0.text();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        // Beside tool calls the content may be missing, and some servers want it to be null then.
        match Some(&text).filter(|text| !text.is_empty() || calls.is_empty()) {
            Some(text) if self.2.is_some() => {
                map.serialize_entry("content", &[MarkedText::new(text, self.2)])?;
            }
            text => map.serialize_entry("content", &text)?,
        }
        if !calls.is_empty() {
            map.serialize_entry("tool_calls", &calls)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> WireCall<'a> {
    fn of(part: &'a Part, ids: ToolIds) -> Option<Self> {
        let Part::ToolCall(ToolCall { id, name, arguments, .. }) = part else { return None };
        Some(Self { id: tool_ids::fit(id, ids), r#type: "function", function: Called { name, arguments } })
    }
}

struct Answered<'a>(&'a ToolResult, ToolIds);

impl Serialize for Answered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "tool")?;
        map.serialize_entry("tool_call_id", &tool_ids::fit(&self.0.call_id, self.1))?;
        map.serialize_entry("content", &self.0.content)?;
        map.end()
    }
}

struct WirePart<'a>(&'a Part, Option<CacheControl>);

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
        if let Some(mark) = self.1 {
            map.serialize_entry("cache_control", &mark)?;
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
