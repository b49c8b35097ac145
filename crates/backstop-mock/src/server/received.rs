//! A request as the server got it.

use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{Format, http::Head, wire};

/// A recorded request. Cheap to clone. `Debug` shows neither keys nor prompts.
///
/// ```
/// use backstop_mock::server::{MockServer, Received, Reply};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = MockServer::start().await?;
/// server.respond_with(|request: &Received| Reply::text(request.last_user_text().to_uppercase()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Received {
    number: usize,
    content: Arc<Content>,
}

/// What a request says, parsed once.
pub(super) struct Content {
    connection: usize,
    method: String,
    path: String,
    query: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    json: Value,
}

/// A message of a received conversation, whatever the format calls its parts. The texts of instructions and system
/// fields come first, with the role `system`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedMessage {
    /// The role as the wire has it: `user`, `assistant` (`model` at Gemini), `system`, `developer`, `tool`.
    pub role: String,
    /// The text parts, put together.
    pub text: String,
}

/// Shows the role and the length: prompts do not belong in logs.
impl fmt::Debug for ReceivedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceivedMessage({}, {} bytes)", self.role, self.text.len())
    }
}

impl ReceivedMessage {
    pub(super) fn new(role: &str, text: impl Into<String>) -> Self {
        Self { role: role.to_owned(), text: text.into() }
    }

    /// Reads a JSON list of messages, each with a text of the format's own kind. Items of another type than a message
    /// have no role but that type; a message without a role is the user's.
    pub(super) fn list(messages: Option<&Value>, text: impl Fn(&Value) -> String) -> Vec<Self> {
        let messages = messages.and_then(Value::as_array).into_iter().flatten();
        let role = |message: &Value| {
            let role = message.get("role").or_else(|| message.get("type"));
            role.and_then(Value::as_str).unwrap_or("user").to_owned()
        };
        messages.map(|message| Self { role: role(message), text: text(message) }).collect()
    }
}

impl Content {
    pub(super) fn new(connection: usize, head: Head, body: Vec<u8>) -> Arc<Self> {
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let (path, query) = match head.target.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (head.target, None),
        };
        let (method, headers) = (head.method, head.headers);
        Arc::new(Self { connection, method, path, query, headers, body, json })
    }
}

impl Received {
    pub(super) fn new(number: usize, content: Arc<Content>) -> Self {
        Self { number, content }
    }

    /// The request's number at this server, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The number of the connection it came on, from 1: equal numbers mean that the client reused its connection.
    pub fn connection(&self) -> usize {
        self.content.connection
    }

    /// The method, upper case as sent.
    pub fn method(&self) -> &str {
        &self.content.method
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.content.path
    }

    /// What follows the `?`, undecoded.
    pub fn query(&self) -> Option<&str> {
        self.content.query.as_deref()
    }

    /// The first header of this name, in any case. Bytes that are no UTF-8 are replaced.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All headers, in order. Keys are in clear here: tests must be able to check them.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.content.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The body's bytes.
    pub fn body(&self) -> &[u8] {
        &self.content.body
    }

    /// The body as JSON, `Null` if it is none.
    pub fn json(&self) -> &Value {
        &self.content.json
    }

    /// The wire format, `None` if the path is no completion endpoint.
    pub fn format(&self) -> Option<Format> {
        Format::of_path(self.path())
    }

    /// The model asked for, in the body or (Gemini, Azure) in the path; empty if there is none.
    pub fn model(&self) -> &str {
        let in_body = self.json().get("model").and_then(Value::as_str);
        in_body.or_else(|| wire::model_in_path(self.path())).unwrap_or_default()
    }

    /// The conversation; empty if the path is no completion endpoint.
    pub fn messages(&self) -> Vec<ReceivedMessage> {
        self.format().map(|format| format.encoding().messages(self.json())).unwrap_or_default()
    }

    /// The text of the last message of the user that has any (tool results have none); empty if there is none.
    pub fn last_user_text(&self) -> String {
        let last =
            self.messages().into_iter().rfind(|message| message.role == "user" && !message.text.is_empty());
        last.map(|message| message.text).unwrap_or_default()
    }

    /// Whether the request asks for a stream. Ollama streams unless told not to; Gemini says it in the path.
    pub fn is_stream(&self) -> bool {
        self.format().is_some_and(|format| format.encoding().asks_for_stream(self.json(), self.path()))
    }

    /// Whether the request shows this API key in one of the ways the vendors use.
    pub(super) fn shows_key(&self, key: &str) -> bool {
        let bearer = self.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let in_header = KEY_HEADERS.iter().any(|name| self.header(name) == Some(key));
        let in_query = self.query().into_iter().flat_map(|query| query.split('&'));
        bearer == Some(key)
            || in_header
            || in_query.filter_map(|pair| pair.strip_prefix("key=")).any(|k| k == key)
    }

    pub(super) fn wants_sse(&self) -> bool {
        self.query().is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"))
    }
}

const KEY_HEADERS: [&str; 3] = ["x-api-key", "x-goog-api-key", "api-key"];

fn is_secret(header: &str) -> bool {
    let secret = ["authorization", "proxy-authorization", "cookie"];
    KEY_HEADERS.iter().chain(&secret).any(|name| header.eq_ignore_ascii_case(name))
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value)| if is_secret(name) { (name, "[redacted]") } else { (name, value) };
        let headers: Vec<_> = self.headers().map(shown).collect();
        f.debug_struct("Received")
            .field("number", &self.number())
            .field("connection", &self.connection())
            .field("method", &self.method())
            .field("path", &self.path())
            // Gemini's key may stand in the query.
            .field("query", &self.query().map(|_| "[redacted]"))
            .field("headers", &headers)
            .field("body_bytes", &self.body().len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(target: &str, headers: &[(&str, &str)], body: &str) -> Received {
        let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let head = Head { method: "POST".into(), target: target.into(), headers, keep_alive: true };
        Received::new(1, Content::new(1, head, body.as_bytes().to_vec()))
    }

    #[test]
    fn debug_shows_neither_keys_nor_prompts() {
        let headers = [
            ("Authorization", "Bearer hush-1"),
            ("X-Api-Key", "hush-2"),
            ("x-goog-api-key", "hush-3"),
            ("api-key", "hush-4"),
            ("accept", "application/json"),
        ];
        let body = r#"{"messages":[{"role":"user","content":"hush-5"}]}"#;
        let received = received("/v1/chat/completions?key=hush-6", &headers, body);
        let shown = format!("{received:?} {:?}", received.messages());
        assert!(!shown.contains("hush"), "{shown}");
        assert!(shown.contains("application/json") && shown.contains("/v1/chat/completions"), "{shown}");
    }

    #[test]
    fn a_key_counts_in_every_place_where_vendors_look_for_it() {
        for headers in [[("authorization", "Bearer k")], [("x-api-key", "k")], [("x-goog-api-key", "k")]] {
            assert!(received("/v1/messages", &headers, "").shows_key("k"), "{headers:?}");
            assert!(!received("/v1/messages", &headers, "").shows_key("other"), "{headers:?}");
        }
        assert!(received("/m:generateContent?alt=sse&key=k", &[], "").shows_key("k"));
        assert!(!received("/v1/messages", &[], "").shows_key("k"));
    }

    #[test]
    fn the_conversation_reads_the_same_in_every_format() {
        let cases = [
            (
                "/v1/chat/completions",
                r#"{"messages":[{"role":"system","content":"be brief"},
                    {"role":"user","content":[{"type":"text","text":"how "},{"type":"text","text":"many?"}]}]}"#,
            ),
            ("/v1/responses", r#"{"instructions":"be brief","input":"how many?"}"#),
            (
                "/v1/responses",
                r#"{"instructions":"be brief",
                    "input":[{"role":"user","content":[{"type":"input_text","text":"how many?"}]}]}"#,
            ),
            (
                "/v1/messages",
                r#"{"system":[{"type":"text","text":"be brief"}],
                    "messages":[{"role":"user","content":"how many?"}]}"#,
            ),
            (
                "/v1beta/models/g:generateContent",
                r#"{"systemInstruction":{"parts":[{"text":"be brief"}]},
                    "contents":[{"role":"user","parts":[{"text":"how "},{"text":"many?"}]}]}"#,
            ),
            (
                "/api/chat",
                r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"how many?"}]}"#,
            ),
        ];
        for (path, body) in cases {
            let messages = received(path, &[], body).messages();
            let expected =
                [ReceivedMessage::new("system", "be brief"), ReceivedMessage::new("user", "how many?")];
            assert!(messages == expected, "{path}: {body}");
            assert_eq!(received(path, &[], body).last_user_text(), "how many?", "{path}");
        }
    }

    #[test]
    fn tool_results_are_not_what_the_user_said() {
        let cases = [
            (
                "/v1/responses",
                r#"{"input":[{"role":"user","content":"go on"},
                    {"type":"function_call_output","call_id":"c","output":"42"}]}"#,
            ),
            (
                "/v1/messages",
                r#"{"messages":[{"role":"user","content":"go on"},
                    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"42"}]}]}"#,
            ),
            (
                "/v1/chat/completions",
                r#"{"messages":[{"role":"user","content":"go on"},{"role":"tool","content":"42"}]}"#,
            ),
        ];
        for (path, body) in cases {
            assert_eq!(received(path, &[], body).last_user_text(), "go on", "{path}");
        }
    }

    #[test]
    fn each_format_has_its_own_way_to_ask_for_a_stream() {
        let asks = |target: &str, body: &str| received(target, &[], body).is_stream();
        assert!(asks("/v1/chat/completions", r#"{"stream":true}"#));
        assert!(!asks("/v1/chat/completions", "{}"));
        assert!(asks("/api/chat", "{}"));
        assert!(!asks("/api/chat", r#"{"stream":false}"#));
        assert!(asks("/v1beta/models/g:streamGenerateContent?alt=sse", "{}"));
        assert!(!asks("/v1beta/models/g:generateContent", r#"{"stream":true}"#));
        assert!(!asks("/v1/models", r#"{"stream":true}"#));
    }
}
