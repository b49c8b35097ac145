//! Tools: passed through to the vendor and back. The caller runs them.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A function that the model may ask the caller to run. `Debug` shows its name only.
///
/// ```
/// use backstop_core::{Message, Request, Response, Tool, ToolResult};
/// use serde_json::json;
///
/// let weather = Tool::new("weather", json!({ "type": "object", "properties": { "city": { "type": "string" } } }))
///     .description("The weather in a city.");
/// let request = Request::new("Do I need an umbrella in Oslo?").tool(weather);
///
/// // What the tools of an answer gave back goes into the next request.
/// fn next(request: Request, answer: &Response) -> Request {
///     answer.tool_calls.iter().fold(request, |request, call| {
///         request.message(Message::tool_result(ToolResult::new(call, "rain")))
///     })
/// }
/// # let _ = (request, next);
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tool {
    /// The name the model calls it by.
    pub name: Cow<'static, str>,
    /// What it does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Cow<'static, str>>,
    /// JSON Schema of its arguments.
    pub parameters: Arc<Value>,
}

impl Tool {
    /// A tool whose arguments follow `parameters`, a JSON Schema of an object.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, parameters: impl Into<Arc<Value>>) -> Self {
        Self { name: name.into(), description: None, parameters: parameters.into() }
    }

    /// Tells the model what the tool does.
    #[must_use]
    pub fn description(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.description = Some(text.into());
        self
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Whether the model may, must or must not call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides (default).
    #[default]
    Auto,
    /// No tool may be called.
    None,
    /// Some tool must be called.
    Required,
    /// This tool must be called.
    Tool(String),
}

/// A call that the model asks for. `Debug` hides the arguments.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The vendor's id, to be given back with the result. Made up by the adapter where the vendor has none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, but a model may write anything.
    pub arguments: String,
    /// What the vendor wants back with the call in later turns, and nobody else can read. Gemini's thought signatures
    /// stand here; adapters of vendors without such a thing ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl ToolCall {
    /// A call with its arguments as JSON text.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), signature: None }
    }

    /// Sets what the vendor wants back with the call.
    #[must_use]
    pub fn with_signature(mut self, signature: impl Into<String>) -> Self {
        self.signature = Some(signature.into());
        self
    }

    /// The arguments as JSON.
    ///
    /// # Errors
    /// The model wrote something that is not JSON.
    pub fn arguments_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&self.arguments)
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes of arguments)", self.name, self.id, self.arguments.len())
    }
}

/// What a tool gave back. `Debug` hides the content.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the [`ToolCall`] that this answers.
    pub call_id: String,
    /// The tool's name; some vendors match by name instead of id.
    pub name: String,
    /// The result as text or JSON text.
    pub content: String,
    /// The tool failed; `content` says how.
    #[serde(default)]
    pub is_error: bool,
}

impl ToolResult {
    /// The result of `call`.
    #[must_use]
    pub fn new(call: &ToolCall, content: impl Into<String>) -> Self {
        Self { call_id: call.id.clone(), name: call.name.clone(), content: content.into(), is_error: false }
    }

    /// Marks the result as a failure of the tool.
    #[must_use]
    pub fn error(mut self) -> Self {
        self.is_error = true;
        self
    }
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.name, self.call_id, self.content.len())
    }
}
