//! Pictures and documents on the wire, and how much room a request needs.

use std::fmt;

use backstop_core::{Attempt, Media, MediaSource, Part};
use serde::{Serialize, Serializer};

/// An address, or the bytes as a `data:` address, written without putting them together first.
pub(crate) struct DataUrl<'a>(pub(crate) &'a Media);

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

/// Enough room for the body, so that writing a large prompt does not move it from buffer to buffer: the bytes that
/// have to be written, an eighth for what JSON escapes, and something for all the rest.
pub(crate) fn room(attempt: &Attempt<'_>) -> usize {
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
