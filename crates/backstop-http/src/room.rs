//! How large the body of a request will be.

use backstop_core::{Attempt, Media, MediaSource, Part};

/// Bytes beside its text that a part takes: its type, its name, the brackets around it.
const AROUND_PART: usize = 256;
/// Bytes beside the messages: options, tools, the schema.
const AROUND_ALL: usize = 4096;

/// Enough bytes for the JSON of an attempt's request, so that a large prompt is not moved from buffer to buffer while it
/// is written. For [`Vec::with_capacity`]; a little more than the body will have.
pub fn room_for(attempt: &Attempt<'_>) -> usize {
    let parts = attempt.messages().flat_map(|message| &message.parts);
    let parts: usize = parts.map(|part| of_part(part) + AROUND_PART).sum();
    parts + attempt.request.system.as_ref().map_or(0, |text| escaped(text.len())) + AROUND_ALL
}

fn of_part(part: &Part) -> usize {
    match part {
        Part::Text(text) => escaped(text.len()),
        Part::Image(Media { source: MediaSource::Base64(data), .. })
        | Part::Document(Media { source: MediaSource::Base64(data), .. }) => data.len(),
        Part::ToolCall(call) => escaped(call.arguments.len()),
        Part::ToolResult(result) => escaped(result.content.len()),
        _ => 0,
    }
}

/// Line ends and quotes take two bytes.
fn escaped(bytes: usize) -> usize {
    bytes + bytes / 8
}
