//! What a conversation is made of: messages, their parts, media and cache hints.

use std::{borrow::Cow, fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use crate::tool::{ToolCall, ToolResult};

/// Who speaks. Instructions to the model are [`Request::system`](crate::Request::system), tool results are
/// parts of a user message; each adapter places both where its vendor wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The caller.
    User,
    /// The model.
    Assistant,
}

/// How long a vendor may keep the prompt up to a mark in its cache. Each adapter says it in its vendor's form, or notes
/// that it could not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheHint {
    /// The vendor's default life, about five minutes.
    Short,
    /// The vendor's longer life, about an hour, usually at a higher price for writing.
    Long,
}

/// One turn of a conversation. `Debug` shows sizes, never the text.
///
/// ```
/// use backstop_core::{Media, Message};
///
/// let turn = Message::user("What is on this receipt?").part(Media::image("image/png", b"..."));
/// assert_eq!(turn.text(), "What is on this receipt?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// The prompt up to and including this message is worth caching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheHint>,
}

/// How many characters of text messages have. Media are left out.
pub(crate) fn characters<'a>(messages: impl Iterator<Item = &'a Message>) -> usize {
    let parts = messages.flat_map(|message| &message.parts);
    parts.map(|part| if let Part::Text(text) = part { text.chars().count() } else { 0 }).sum()
}

impl Message {
    /// A message of any parts.
    #[must_use]
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts, cache: None }
    }

    /// A text of the caller.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Part::Text(text.into())])
    }

    /// A text of the model, as an example or from an earlier turn.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Part::Text(text.into())])
    }

    /// What a tool gave back for a call of the model.
    #[must_use]
    pub fn tool_result(result: ToolResult) -> Self {
        Self::new(Role::User, vec![Part::ToolResult(result)])
    }

    /// Adds a part.
    #[must_use]
    pub fn part(mut self, part: impl Into<Part>) -> Self {
        self.parts.push(part.into());
        self
    }

    /// Marks the prompt up to here as worth caching.
    #[must_use]
    pub fn cached(mut self, hint: CacheHint) -> Self {
        self.cache = Some(hint);
        self
    }

    /// All text parts, joined by a newline. Borrowed where there is only one.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.parts.iter().filter_map(Part::as_text);
        let first = texts.next().unwrap_or_default();
        texts.fold(Cow::Borrowed(first), |all, next| Cow::Owned(format!("{all}\n{next}")))
    }
}

/// One piece of a message.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Plain text.
    Text(String),
    /// A picture.
    Image(Media),
    /// A document, usually a PDF.
    Document(Media),
    /// A tool call that the model made in an earlier turn.
    ToolCall(ToolCall),
    /// What the caller's tool gave back.
    ToolResult(ToolResult),
}

impl Part {
    /// The text, if this is a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Image(media) => write!(f, "Image({media:?})"),
            Self::Document(media) => write!(f, "Document({media:?})"),
            Self::ToolCall(call) => write!(f, "ToolCall({call:?})"),
            Self::ToolResult(result) => write!(f, "ToolResult({result:?})"),
        }
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A picture sent as [`Part::Image`], anything else as [`Part::Document`], by its media type.
impl From<Media> for Part {
    fn from(media: Media) -> Self {
        if media.media_type.starts_with("image/") { Self::Image(media) } else { Self::Document(media) }
    }
}

/// A picture or document. The bytes are kept in base64, the form in which every vendor takes them, so that a
/// retry encodes nothing again.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Media {
    /// For example `image/png` or `application/pdf`.
    pub media_type: Cow<'static, str>,
    /// Where the bytes are.
    pub source: MediaSource,
    /// A file name to show to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Where the bytes of a [`Media`] are.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaSource {
    /// Standard base64 with padding.
    Base64(Arc<str>),
    /// An address that the vendor fetches. Not every vendor does.
    Url(String),
}

impl Media {
    /// A picture from its bytes.
    #[must_use]
    pub fn image(media_type: impl Into<Cow<'static, str>>, bytes: impl AsRef<[u8]>) -> Self {
        Self::from_bytes(media_type, bytes)
    }

    /// A picture or document from its bytes.
    #[must_use]
    pub fn from_bytes(media_type: impl Into<Cow<'static, str>>, bytes: impl AsRef<[u8]>) -> Self {
        let source = MediaSource::Base64(STANDARD.encode(bytes).into());
        Self { media_type: media_type.into(), source, name: None }
    }

    /// A picture or document that the vendor fetches itself.
    #[must_use]
    pub fn from_url(media_type: impl Into<Cow<'static, str>>, url: impl Into<String>) -> Self {
        Self { media_type: media_type.into(), source: MediaSource::Url(url.into()), name: None }
    }

    /// Names the file.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            MediaSource::Base64(data) => write!(f, "{}, {} base64 bytes", self.media_type, data.len()),
            MediaSource::Url(_) => write!(f, "{}, by address", self.media_type),
        }
    }
}

impl fmt::Debug for MediaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base64(data) => write!(f, "Base64({} bytes)", data.len()),
            Self::Url(_) => f.write_str("Url(..)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_sizes_and_no_content() {
        let message = Message::user("my secret").part(Media::image("image/png", b"pixels"));
        let shown = format!("{message:?}");
        assert!(!shown.contains("secret") && shown.contains("Text(9 bytes)"), "{shown}");
        assert!(shown.contains("image/png"), "{shown}");
    }

    #[test]
    fn texts_are_joined() {
        assert_eq!(Message::user("a").part("b").text(), "a\nb");
        assert!(matches!(Message::user("a").text(), Cow::Borrowed("a")));
    }
}
