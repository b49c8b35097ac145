//! The conversation as a list of items.

use std::borrow::Cow;

use backstop_core::{Media, MediaSource, Message, Part, Role, ToolCall, ToolResult};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

use crate::{media::DataUrl, models::SystemRole, parts::Parts, preset::ToolIds, tool_ids};

pub(super) struct Input<'a>(pub(super) &'a Parts<'a>);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0;
        let mut list = serializer.serialize_seq(None)?;
        // JSON mode is refused unless the *input* speaks of JSON; `instructions` do not count.
        if let Some(added) = parts.format.instructions() {
            let role = match parts.traits.system_role {
                SystemRole::Developer => "developer",
                SystemRole::System => "system",
            };
            list.serialize_element(&Said { role, content: added.as_str() })?;
        }
        parts.each_turn(|message| items(message, parts.server.tool_ids, &mut list))?;
        list.end()
    }
}

/// Writes one message. Calls of tools and their results are items of their own here.
fn items<L: SerializeSeq>(message: &Message, ids: ToolIds, list: &mut L) -> Result<(), L::Error> {
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            list.serialize_element(&output(result, ids))?;
        }
    }
    if message.role == Role::Assistant {
        let text = message.text();
        if !text.is_empty() {
            list.serialize_element(&Said { role: "assistant", content: text.as_ref() })?;
        }
        let mut calls = message.parts.iter().filter_map(|part| call(part, ids));
        return calls.try_for_each(|call| list.serialize_element(&call));
    }
    let rest: Vec<&Part> = message.parts.iter().filter(|part| !matches!(part, Part::ToolResult(_))).collect();
    match rest.as_slice() {
        [] if !message.parts.is_empty() => Ok(()),
        [] => list.serialize_element(&Said { role: "user", content: "" }),
        [Part::Text(text)] => list.serialize_element(&Said { role: "user", content: text.as_str() }),
        parts => {
            let content: Vec<WirePart<'_>> = parts.iter().map(|part| WirePart(part)).collect();
            list.serialize_element(&Said { role: "user", content })
        }
    }
}

#[derive(Serialize)]
struct Said<C> {
    role: &'static str,
    content: C,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    FunctionCall { call_id: Cow<'a, str>, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: Cow<'a, str>, output: &'a str },
}

fn call(part: &Part, ids: ToolIds) -> Option<Item<'_>> {
    let Part::ToolCall(ToolCall { id, name, arguments, .. }) = part else { return None };
    Some(Item::FunctionCall { call_id: tool_ids::fit(id, ids), name, arguments })
}

fn output(result: &ToolResult, ids: ToolIds) -> Item<'_> {
    Item::FunctionCallOutput { call_id: tool_ids::fit(&result.call_id, ids), output: &result.content }
}

struct WirePart<'a>(&'a Part);

impl Serialize for WirePart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            Part::Image(media) => {
                map.serialize_entry("type", "input_image")?;
                map.serialize_entry("image_url", &DataUrl(media))?;
                map.serialize_entry("detail", "auto")?;
            }
            Part::Document(media) => {
                map.serialize_entry("type", "input_file")?;
                file(media, &mut map)?;
            }
            other => {
                map.serialize_entry("type", "input_text")?;
                map.serialize_entry("text", other.as_text().unwrap_or_default())?;
            }
        }
        map.end()
    }
}

/// A name goes with bytes only; an address has its own.
fn file<M: SerializeMap>(media: &Media, map: &mut M) -> Result<(), M::Error> {
    if let MediaSource::Url(url) = &media.source {
        return map.serialize_entry("file_url", url);
    }
    map.serialize_entry("filename", media.name.as_deref().unwrap_or("document"))?;
    map.serialize_entry("file_data", &DataUrl(media))
}
