//! What a provider was asked, in the form in which it is recorded and compared.

use backstop_core::Attempt;
use serde_json::{Map, Value, json};

/// What of an attempt decides what is answered. Holds no header's value and nothing of the body's extra fields but
/// their names.
pub(super) fn asked(attempt: &Attempt<'_>) -> Value {
    let request = attempt.request;
    let mut asked = Map::new();
    let mut put = |key: &str, value: Value| {
        let says_nothing = match &value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if !says_nothing {
            asked.insert(key.to_owned(), value);
        }
    };
    put("model", json!(attempt.model));
    put("system", json!(request.system));
    put("messages", attempt.messages().map(|message| without_media(json!(message))).collect());
    put("output", json!(request.output));
    put("tools", json!(request.tools));
    put("tool_choice", json!(request.tool_choice));
    put("max_tokens", json!(attempt.max_tokens()));
    put("temperature", json!(request.temperature.filter(|_| !attempt.is_dropped("temperature"))));
    put("top_p", json!(request.top_p.filter(|_| !attempt.is_dropped("top_p"))));
    put("stop", json!(request.stop));
    put("seed", json!(request.seed));
    put("json_mode", json!(attempt.json_mode()));
    put("prompt_only", json!(attempt.prompt_only()));
    put("dropped", json!(attempt.overlay.dropped));
    put("extra_headers", request.extra_headers.keys().map(|name| json!(name)).collect());
    put("extra_body", request.extra_body.keys().map(|name| json!(name)).collect());
    Value::Object(asked)
}

/// Pictures and documents as length and digest, addresses without what may sign them.
fn without_media(mut message: Value) -> Value {
    let parts = message.get_mut("parts").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten() {
        for kind in ["image", "document"] {
            let Some(source) = part.get_mut(kind).and_then(|media| media.get_mut("source")) else { continue };
            if let Some(data) = source.get("base64").and_then(Value::as_str) {
                *source =
                    json!({ "bytes": data.len(), "digest": format!("{:016x}", fnv1a(data.as_bytes())) });
            } else if let Some(url) = source.get("url").and_then(Value::as_str) {
                *source = json!({ "url": bare(url) });
            }
        }
    }
    message
}

/// An address without user, query and fragment.
fn bare(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        // Other schemes hold data.
        Some((scheme, rest)) if scheme.starts_with("http") => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}/{path}")
        }
        _ => format!("digest:{:016x}", fnv1a(url.as_bytes())),
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every version, which `std`'s hashes need not be.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// JSON pointers to what differs between two values, of the first.
pub(super) fn differences(recorded: &Value, asked: &Value) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![(String::new(), recorded, asked)]);
    while let Some((at, one, other)) = open.pop() {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                let added = other.keys().filter(|key| !one.contains_key(*key));
                for key in one.keys().chain(added) {
                    let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                    let null = &Value::Null;
                    open.push((place, one.get(key).unwrap_or(null), other.get(key).unwrap_or(null)));
                }
            }
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                let pairs = one.iter().zip(other).enumerate();
                open.extend(pairs.map(|(index, (one, other))| (format!("{at}/{index}"), one, other)));
            }
            (one, other) if one != other => found.push(at),
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use backstop_core::{Media, Message, Part, Request};

    use super::*;

    #[test]
    fn differences_are_pointers_in_order() {
        let one = json!({ "a": [1, { "b": 2 }], "c/d": 1, "e": [1], "gone": true });
        let other = json!({ "a": [1, { "b": 3 }], "c/d": 2, "e": [1, 2], "new": 0 });
        assert_eq!(differences(&one, &other), ["/a/1/b", "/c~1d", "/e", "/gone", "/new"]);
        assert!(differences(&one, &one).is_empty());
    }

    #[test]
    fn media_are_told_apart_without_being_kept() {
        let of = |media: Media| {
            let request = Request::default().message(Message::user("x").part(Part::Image(media)));
            asked(&Attempt::new("m", &request))
        };
        let picture = of(Media::image("image/png", b"pixels"));
        assert!(!picture.to_string().contains("cGl4ZWxz"), "{picture}");
        assert_eq!(picture, of(Media::image("image/png", b"pixels")));
        assert_ne!(picture, of(Media::image("image/png", b"Pixels")));
        let url = of(Media::from_url("image/png", "https://user:pw@host.example/a/b?sig=s3cret#x"));
        assert!(url.to_string().contains("\"https://host.example/a/b\""), "{url}");
        let inline = of(Media::from_url("image/png", "data:image/png;base64,c2VjcmV0")).to_string();
        assert!(inline.contains("digest:") && !inline.contains("c2VjcmV0"), "{inline}");
    }

    #[test]
    fn the_digest_is_that_of_the_books() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
