//! Where the wire is wider than its specification, with the reason for each.

use serde_json::{Value, json};

use super::sources::{ANTHROPIC_ERROR, ANTHROPIC_EVENT, ANTHROPIC_REQUEST, OPENAI};

/// What a schema takes beyond its specification.
enum Allow {
    /// `null`, too.
    Null,
    /// `true`, too.
    True,
    /// More than one of its alternatives at a time.
    Overlap,
    /// One more alternative, whose `type` is this.
    Alternative(&'static str),
}

struct Exception {
    file: &'static str,
    /// JSON pointer of the schema.
    at: &'static str,
    allow: Allow,
    #[expect(dead_code, reason = "for the reader of the table")]
    reason: &'static str,
}

static EXCEPTIONS: &[Exception] = &[
    Exception {
        file: OPENAI,
        at: "/components/schemas/CreateChatCompletionStreamResponse/properties/choices/items/properties/finish_reason",
        allow: Allow::Null,
        reason: "it is null in every event but the last, also in the specification's own example",
    },
    Exception {
        file: OPENAI,
        at: "/components/schemas/Response/allOf/2/properties/usage",
        allow: Allow::Null,
        reason: "nothing is counted before the answer is there, also in the specification's own example of a stream",
    },
    Exception {
        file: OPENAI,
        at: "/components/schemas/InputItem",
        allow: Allow::Overlap,
        reason: "a message with a list of contents is both a short and a full form of a message",
    },
    Exception {
        file: ANTHROPIC_REQUEST,
        at: "/properties/stream",
        allow: Allow::True,
        reason: "the file describes the parameters of a call without a stream; those of a stream differ in this alone",
    },
    Exception {
        file: ANTHROPIC_EVENT,
        at: "",
        allow: Allow::Alternative("ping"),
        reason: "the types of the vendor's library leave out signs of life, which its documentation has",
    },
    Exception {
        file: ANTHROPIC_ERROR,
        at: "/properties/error",
        allow: Allow::Alternative("request_too_large"),
        reason: "the types of the vendor's library list fewer errors than its documentation",
    },
];

/// Widens a document.
pub fn apply(file: &str, document: &mut Value) {
    for exception in EXCEPTIONS.iter().filter(|exception| exception.file == file) {
        let schema = document.pointer_mut(exception.at);
        let schema =
            schema.unwrap_or_else(|| panic!("{file} has no {}: the exception is out of date", exception.at));
        match exception.allow {
            Allow::Alternative(name) => {
                let more = json!({ "properties": { "type": { "const": name } }, "required": ["type"] });
                schema["anyOf"].as_array_mut().expect("a list of alternatives").push(more);
            }
            Allow::Overlap => {
                let alternatives = schema["oneOf"].take();
                assert!(alternatives.is_array(), "{file} has no alternatives at {}", exception.at);
                schema["anyOf"] = alternatives;
                schema.as_object_mut().expect("a schema").remove("oneOf");
            }
            Allow::True => *schema = json!({ "anyOf": [schema.take(), { "const": true }] }),
            Allow::Null => *schema = json!({ "anyOf": [schema.take(), { "type": "null" }] }),
        }
    }
}
