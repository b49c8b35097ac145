//! The conversation on the wire.

use backstop_core::{Attempt, Media, MediaSource, Message, Part, Role, ToolCall, ToolResult};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::value::RawValue;

use crate::{models::ModelTraits, response::made_up};

/// Switches the check of thought signatures off. Google documents it for calls that its models did not make, and for
/// conversations that have lost theirs: <https://ai.google.dev/gemini-api/docs/thought-signatures>.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The turns. Neighbours of one role become one turn: Google wants the results of all calls of a turn together.
pub(super) struct Contents<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    pub(super) traits: &'a ModelTraits,
    /// Instructions for a model that has no other place for them.
    pub(super) opening: &'a Texts<'a>,
}

impl Serialize for Contents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages: Vec<&Message> = self.attempt.messages().collect();
        let signed = self.traits.signed_calls;
        let mut opening = self.opening.0.as_slice();
        let mut list = serializer.serialize_seq(None)?;
        if !opening.is_empty() && messages.first().is_none_or(|first| first.role != Role::User) {
            list.serialize_element(&Turn { opening: std::mem::take(&mut opening), messages: &[], signed })?;
        }
        for messages in messages.chunk_by(|one, next| one.role == next.role) {
            list.serialize_element(&Turn { opening: std::mem::take(&mut opening), messages, signed })?;
        }
        list.end()
    }
}

struct Turn<'a> {
    opening: &'a [&'a str],
    messages: &'a [&'a Message],
    signed: bool,
}

impl Serialize for Turn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of_model = self.messages.first().is_some_and(|message| message.role == Role::Assistant);
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("role", if of_model { "model" } else { "user" })?;
        map.serialize_entry("parts", &Parts(self))?;
        map.end()
    }
}

struct Parts<'a>(&'a Turn<'a>);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Turn { opening, messages, signed } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        let mut written = 0_usize;
        for text in *opening {
            list.serialize_element(&Text { text })?;
            written += 1;
        }
        // Of several calls in one turn, a model signs the first.
        let mut sign = *signed;
        // Google refuses parts without content.
        let with_content = |part: &&Part| part.as_text() != Some("");
        for part in messages.iter().flat_map(|message| &message.parts).filter(with_content) {
            match part {
                Part::Text(text) => list.serialize_element(&Text { text })?,
                Part::Image(media) | Part::Document(media) => list.serialize_element(&File(media))?,
                Part::ToolCall(call) => {
                    let stand_in = std::mem::take(&mut sign).then_some(UNSIGNED);
                    let signature = call.signature.as_deref().or(stand_in);
                    list.serialize_element(&Called { call, signature })?;
                }
                Part::ToolResult(result) => list.serialize_element(&Answered(result))?,
                _ => continue,
            }
            written += 1;
        }
        if written == 0 {
            list.serialize_element(&Text { text: "" })?;
        }
        list.end()
    }
}

/// Texts as the parts of an instruction.
#[derive(Default)]
pub(super) struct Texts<'a>(pub(super) Vec<&'a str>);

impl Serialize for Texts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts: Vec<Text<'_>> = self.0.iter().map(|text| Text { text }).collect();
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("parts", &parts)?;
        map.end()
    }
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

/// Bytes within the request, or an address.
struct File<'a>(&'a Media);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inline<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stored<'a> {
    mime_type: &'a str,
    file_uri: &'a str,
}

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mime_type = &self.0.media_type;
        let mut map = serializer.serialize_map(Some(1))?;
        match &self.0.source {
            MediaSource::Base64(data) => map.serialize_entry("inlineData", &Inline { mime_type, data })?,
            MediaSource::Url(file_uri) => {
                map.serialize_entry("fileData", &Stored { mime_type, file_uri })?;
            }
            _ => {}
        }
        map.end()
    }
}

/// A call that the model has made.
struct Called<'a> {
    call: &'a ToolCall,
    signature: Option<&'a str>,
}

impl Serialize for Called<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ToolCall { id, name, arguments, .. } = self.call;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(
            "functionCall",
            &Call { id: sent_id(id), name, args: Object::of("arguments", arguments) },
        )?;
        if let Some(signature) = self.signature {
            map.serialize_entry("thoughtSignature", signature)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Object<'a>,
}

/// What a tool gave back. Google matches it by name, and by id where it gave one.
struct Answered<'a>(&'a ToolResult);

impl Serialize for Answered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ToolResult { call_id, name, content, is_error, .. } = self.0;
        let response = match is_error {
            true => Object::Text("error", content),
            false => Object::of("output", content),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("functionResponse", &Given { id: sent_id(call_id), name, response })?;
        map.end()
    }
}

#[derive(Serialize)]
struct Given<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Object<'a>,
}

/// Ids of our own making say nothing to Google.
fn sent_id(id: &str) -> Option<&str> {
    Some(id).filter(|id| !id.is_empty() && !made_up(id))
}

/// Text where Google takes an object only: as it is if it is one, otherwise under a key.
enum Object<'a> {
    Json(&'a RawValue),
    Text(&'static str, &'a str),
    Empty,
}

impl<'a> Object<'a> {
    fn of(key: &'static str, text: &'a str) -> Self {
        match serde_json::from_str::<&RawValue>(text) {
            Ok(json) if json.get().starts_with('{') => Self::Json(json),
            _ if text.trim().is_empty() => Self::Empty,
            _ => Self::Text(key, text),
        }
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(json) => json.serialize(serializer),
            Self::Text(key, text) => serializer.collect_map([(key, text)]),
            Self::Empty => serializer.serialize_map(Some(0))?.end(),
        }
    }
}
