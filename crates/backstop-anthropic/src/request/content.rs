//! The blocks that a message is made of.

use std::borrow::Cow;

use backstop_core::{Media, MediaSource, Part, ProviderError, ToolCall, ToolResult};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{invalid, unsupported};

const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The content of a block.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(#[serde(serialize_with = "text")] &'a str),
    Medium {
        r#type: &'static str,
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    Call {
        r#type: &'static str,
        id: Cow<'a, str>,
        name: &'a str,
        input: Input<'a>,
    },
    Result {
        r#type: &'static str,
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

fn text<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Text<'a> {
        r#type: &'static str,
        text: &'a str,
    }
    Text { r#type: "text", text }.serialize(serializer)
}

/// Where the bytes of a picture or document are.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Text { media_type: &'static str, data: String },
    Url { url: &'a str },
}

/// The arguments of an earlier call. The vendor takes an object only, but a model may have written anything.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Input<'a> {
    Object(&'a RawValue),
    None {},
    Text { arguments: &'a str },
}

impl<'a> Content<'a> {
    /// The block for a part; `None` for a text without content, which the vendor refuses.
    pub(super) fn of(part: &'a Part, from_user: bool) -> Result<Option<Self>, ProviderError> {
        if !from_user && matches!(part, Part::Image(_) | Part::Document(_)) {
            return Err(unsupported("the vendor takes pictures and documents from the user only"));
        }
        Ok(match part {
            Part::Text(text) if text.trim().is_empty() => None,
            Part::Text(text) => Some(Self::Text(text)),
            Part::Image(media) => Some(Self::image(media)?),
            Part::Document(media) => Some(Self::document(media)?),
            Part::ToolCall(call) => Some(Self::call(call)),
            Part::ToolResult(result) => Some(Self::result(result)),
            _ => return Err(unsupported("a part of a message has a form that this adapter does not know")),
        })
    }

    fn image(media: &'a Media) -> Result<Self, ProviderError> {
        // A common slip.
        let media_type = if media.media_type == "image/jpg" { "image/jpeg" } else { &media.media_type };
        let source = match &media.source {
            MediaSource::Url(url) => Source::Url { url },
            MediaSource::Base64(data) if IMAGES.contains(&media_type) => Source::Base64 { media_type, data },
            _ => return Err(unsupported(format!("the vendor takes no pictures of the type {media_type}"))),
        };
        Ok(Self::Medium { r#type: "image", source, title: None })
    }

    fn document(media: &'a Media) -> Result<Self, ProviderError> {
        let media_type = &*media.media_type;
        let source = match &media.source {
            MediaSource::Url(url) => Source::Url { url },
            MediaSource::Base64(data) if media_type == "application/pdf" => {
                Source::Base64 { media_type, data }
            }
            MediaSource::Base64(data) if media_type.starts_with("text/") => {
                let bytes = STANDARD.decode(data.as_bytes());
                let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
                let data =
                    text.ok_or_else(|| invalid(format!("a document of the type {media_type} is not UTF-8")))?;
                Source::Text { media_type: "text/plain", data }
            }
            _ => return Err(unsupported(format!("the vendor takes no documents of the type {media_type}"))),
        };
        Ok(Self::Medium { r#type: "document", source, title: media.name.as_deref() })
    }

    fn call(call: &'a ToolCall) -> Self {
        let text = call.arguments.trim();
        let input = match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) if text.starts_with('{') => Input::Object(raw),
            _ if text.is_empty() => Input::None {},
            _ => Input::Text { arguments: text },
        };
        Self::Call { r#type: "tool_use", id: id(&call.id), name: &call.name, input }
    }

    fn result(result: &'a ToolResult) -> Self {
        Self::Result {
            r#type: "tool_result",
            tool_use_id: id(&result.call_id),
            content: &result.content,
            is_error: result.is_error,
        }
    }

    /// The bytes that may be many.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Result { content: text, .. } => text.len(),
            Self::Medium { source: Source::Base64 { data, .. }, .. } => data.len(),
            Self::Medium { source: Source::Text { data, .. }, .. } => data.len(),
            Self::Medium { source: Source::Url { url }, .. } => url.len(),
            Self::Call { input: Input::Object(raw), .. } => raw.get().len(),
            Self::Call { input: Input::Text { arguments }, .. } => arguments.len(),
            Self::Call { .. } => 0,
        }
    }

    pub(super) fn is_result(&self) -> bool {
        matches!(self, Self::Result { .. })
    }

    /// Cuts white space off the end of a text: the vendor refuses it where the model goes on.
    pub(super) fn trim_end(&mut self) {
        if let Self::Text(text) = self {
            *text = text.trim_end();
        }
    }
}

/// An id with the characters that the vendor takes; that of another vendor's call may have others.
fn id(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(fits) && !id.is_empty() {
        return Cow::Borrowed(id);
    }
    let id: String = id.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    Cow::Owned(if id.is_empty() { "_".to_owned() } else { id })
}
