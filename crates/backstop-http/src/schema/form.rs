//! A wanted schema in the form in which a target is given it.

use std::sync::Arc;

use backstop_core::OutputSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Dialect, Rendered, render_shared};

/// A schema as it is sent and as the caller has it. It is serialised as it is sent.
#[derive(Clone, Debug)]
pub struct Form {
    rendered: Arc<Rendered>,
    original: Arc<Value>,
}

impl Form {
    /// Renders a schema in a dialect. `streaming`: its answers go out as they come, so they must need no change.
    ///
    /// # Errors
    /// Why the schema has no such form.
    pub fn render(wanted: &OutputSchema, dialect: &Dialect, streaming: bool) -> Result<Self, String> {
        let rendered = render_shared(&wanted.schema, dialect).map_err(|why| why.to_string())?;
        if streaming && rendered.changes_answers() {
            return Err("its answers would have to be changed, and a stream's cannot".to_owned());
        }
        Ok(Self { rendered, original: Arc::clone(&wanted.schema) })
    }

    /// The schema as it is, for the prompt.
    pub fn as_is(wanted: &OutputSchema) -> Self {
        let any_root = Dialect { object_root: false, ..Dialect::PROMPT };
        let rendered = render_shared(&wanted.schema, &any_root)
            .unwrap_or_else(|_| Arc::new(Rendered::unchanged(Value::clone(&wanted.schema))));
        Self { rendered, original: Arc::clone(&wanted.schema) }
    }

    /// The schema that is sent.
    pub fn schema(&self) -> &Value {
        &self.rendered.schema
    }

    /// An answer's text in the form of the caller's schema.
    pub fn restore(&self, text: String) -> String {
        self.rendered.restore(&self.original, text)
    }
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rendered.wire().serialize(serializer)
    }
}
