//! Tools and whether they must be called.

use backstop_core::{Attempt, ProviderError, Tool, ToolChoice};
use backstop_http::schema;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::{Format, unsupported};
use crate::{models::ModelTraits, options::AnthropicOptions};

/// What the vendor refuses at the root of a tool's schema.
const COMBINATORS: &[&str] = &["allOf", "anyOf", "oneOf"];

/// The `tools` field: the caller's, and the one that takes the answer.
pub(super) fn all<'a>(attempt: &Attempt<'a>, format: &'a Format) -> Result<Vec<WireTool<'a>>, ProviderError> {
    let own = attempt.request.tools.iter().map(WireTool::of);
    own.chain(format.tool().map(Ok)).collect()
}

#[derive(Serialize)]
pub(super) struct WireTool<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    pub(super) input_schema: InputSchema<'a>,
}

impl<'a> WireTool<'a> {
    fn of(tool: &'a Tool) -> Result<Self, ProviderError> {
        let refused = |why: &str| {
            unsupported(format!(
                "the tool {:?} cannot be sent: its schema {why}; make it an object",
                tool.name
            ))
        };
        let Value::Object(root) = &*tool.parameters else { return Err(refused("is not an object")) };
        if let Some(keyword) = COMBINATORS.iter().find(|keyword| root.contains_key(**keyword)) {
            return Err(refused(&format!("has `{keyword}` at its root")));
        }
        if root.get("type").is_some_and(|kind| kind != "object") {
            return Err(refused("is not of the type `object`"));
        }
        let description = tool.description.as_deref();
        Ok(Self { name: &tool.name, description, input_schema: InputSchema(&tool.parameters) })
    }
}

/// A schema with its type, which the vendor requires and `{}` lacks.
pub(super) struct InputSchema<'a>(pub(super) &'a Value);

impl Serialize for InputSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_object() {
            Some(root) if !root.contains_key("type") => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "object")?;
                for (key, value) in root {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            _ => schema::Wire(self.0).serialize(serializer),
        }
    }
}

/// The `tool_choice` field.
#[derive(Debug, Serialize)]
pub(super) struct Choice<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

impl<'a> Choice<'a> {
    /// `None` where there are no tools, and where the vendor's default will do.
    pub(super) fn of(
        attempt: &Attempt<'a>,
        traits: &ModelTraits,
        options: &AnthropicOptions,
        format: &'a Format,
    ) -> Result<Option<Self>, ProviderError> {
        let request = attempt.request;
        if let Format::Tool { name, among_others, .. } = format {
            return Ok(Some(if *among_others { Self::new("any", None, options) } else { Self::only(name) }));
        }
        if request.tools.is_empty() {
            return Ok(None);
        }
        let choice = match &request.tool_choice {
            ToolChoice::None => Self { r#type: "none", name: None, disable_parallel_tool_use: None },
            ToolChoice::Required => Self::new("any", None, options),
            ToolChoice::Tool(name) => Self::new("tool", Some(name), options),
            _ if options.parallel_tool_calls.is_none() => return Ok(None),
            _ => Self::new("auto", None, options),
        };
        if matches!(choice.r#type, "any" | "tool") && !can_force(traits, options) {
            return Err(unsupported(format!(
                "{} cannot be made to call a tool, with thinking at least; let it choose, or set its traits",
                attempt.model
            )));
        }
        Ok(Some(choice))
    }

    fn new(r#type: &'static str, name: Option<&'a str>, options: &AnthropicOptions) -> Self {
        Self {
            r#type,
            name,
            disable_parallel_tool_use: options.parallel_tool_calls.map(|parallel| !parallel),
        }
    }

    /// One answer is wanted, so the tool that takes it may be called once.
    fn only(name: &'a str) -> Self {
        Self { r#type: "tool", name: Some(name), disable_parallel_tool_use: Some(true) }
    }
}

/// The vendor refuses to force a tool on a model that thinks.
pub(super) fn can_force(traits: &ModelTraits, options: &AnthropicOptions) -> bool {
    traits.forced_tools && !options.thinks()
}
