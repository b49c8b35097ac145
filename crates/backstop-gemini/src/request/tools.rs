//! Tools on the wire.

use std::sync::Arc;

use backstop_core::{Request, Tool, ToolChoice};
use backstop_http::{
    Fields,
    schema::{self, Wire},
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::format::dialect;
use crate::models::{ModelTraits, SchemaField};

/// A tool with its arguments in Google's dialect.
pub(super) struct Declared<'a> {
    tool: &'a Tool,
    field: &'static str,
    /// None: the model is told nothing about the arguments.
    parameters: Option<Arc<Value>>,
}

/// Puts the tools into Google's dialect.
pub(super) fn declare<'a>(
    request: &'a Request,
    traits: &ModelTraits,
    notes: &mut Vec<String>,
) -> Vec<Declared<'a>> {
    let field = match traits.schema_field {
        SchemaField::JsonSchema => "parametersJsonSchema",
        SchemaField::OpenApi => "parameters",
    };
    let declared = request.tools.iter().map(|tool| {
        let parameters = match schema::render(&tool.parameters, dialect(traits.schema_field)) {
            _ if takes_nothing(&tool.parameters) => None,
            Ok(rendered) => Some(Arc::new(rendered.schema)),
            Err(why) if traits.schema_field == SchemaField::JsonSchema => {
                notes.push(format!("the arguments of tool {:?} were sent as they are: {why}", tool.name));
                Some(Arc::clone(&tool.parameters))
            }
            Err(why) => {
                notes.push(format!("the arguments of tool {:?} were left out: {why}", tool.name));
                None
            }
        };
        Declared { tool, field, parameters }
    });
    declared.collect()
}

/// Google refuses objects without properties.
fn takes_nothing(parameters: &Value) -> bool {
    let listed = parameters.get("properties").and_then(Value::as_object);
    let is_object = parameters.get("type").is_some_and(|kind| kind == "object");
    is_object && listed.is_none_or(|listed| listed.is_empty()) && parameters.get("$ref").is_none()
}

/// Writes tools, and whether they may or must be called.
pub(super) fn write<M: SerializeMap>(
    tools: &[Declared<'_>],
    choice: &ToolChoice,
    fields: &mut Fields<'_, M>,
) -> Result<(), M::Error> {
    if tools.is_empty() {
        return Ok(());
    }
    fields.put("tools", &[Group { function_declarations: tools }])?;
    let mode = match choice {
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
        // The model decides by default.
        _ => return Ok(()),
    };
    fields.put("toolConfig", &json!({ "functionCallingConfig": mode }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Group<'a> {
    function_declarations: &'a [Declared<'a>],
}

impl Serialize for Declared<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.tool.name)?;
        if let Some(description) = &self.tool.description {
            map.serialize_entry("description", description)?;
        }
        if let Some(parameters) = &self.parameters {
            map.serialize_entry(self.field, &Wire(parameters))?;
        }
        map.end()
    }
}
