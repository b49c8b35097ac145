//! What is known about models: what they take and how much fits into them.
//!
//! Names are open-ended. A rule of the caller's own
//! ([`GeminiBuilder::model_traits`](crate::GeminiBuilder::model_traits)) comes before those here.

use backstop_core::{Capabilities, StructuredOutput};

/// The field in which a schema is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaField {
    /// `responseJsonSchema` and `parametersJsonSchema`: a subset of JSON Schema, with references.
    JsonSchema,
    /// `responseSchema` and `parameters`: a subset of OpenAPI 3.0.
    OpenApi,
}

/// How a model is to be asked.
///
/// ```
/// use backstop_gemini::{ModelTraits, SchemaField};
///
/// let traits = ModelTraits::new().schema_field(SchemaField::OpenApi).json_with_tools(false);
/// assert!(traits.system_instruction);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelTraits {
    /// The field in which a schema is sent.
    pub schema_field: SchemaField,
    /// Takes `systemInstruction`. Instructions come first in the conversation where it does not.
    pub system_instruction: bool,
    /// Takes JSON mode and schemas beside tools. They go into the prompt where it does not.
    pub json_with_tools: bool,
    /// Wants a thought signature on the tool calls of earlier turns.
    pub signed_calls: bool,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl Default for ModelTraits {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelTraits {
    /// A model that takes everything and wants no thought signatures.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            schema_field: SchemaField::JsonSchema,
            system_instruction: true,
            json_with_tools: true,
            signed_calls: false,
            capabilities: Capabilities::unknown(),
        }
    }

    /// Sets the field in which a schema is sent.
    #[must_use]
    pub const fn schema_field(mut self, field: SchemaField) -> Self {
        self.schema_field = field;
        self
    }

    /// Sets whether it takes `systemInstruction`.
    #[must_use]
    pub const fn system_instruction(mut self, yes: bool) -> Self {
        self.system_instruction = yes;
        self
    }

    /// Sets whether it takes JSON mode and schemas beside tools.
    #[must_use]
    pub const fn json_with_tools(mut self, yes: bool) -> Self {
        self.json_with_tools = yes;
        self
    }

    /// Sets whether it wants a thought signature on earlier tool calls.
    #[must_use]
    pub const fn signed_calls(mut self, yes: bool) -> Self {
        self.signed_calls = yes;
        self
    }

    /// Sets what it can do.
    #[must_use]
    pub const fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

/// What differs between generations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Generation {
    /// 1.5 and 2.0: `responseSchema`.
    Early,
    /// 2.5: JSON Schema, but not beside tools.
    Middle,
    /// 3 and later, and whatever comes: thought signatures.
    Late,
    /// Gemma 3: no instructions, JSON mode or tools (as users report; Google's pages do not say).
    Gemma3,
    /// Later Gemmas, about which little is known.
    Gemma,
}

/// A family, by the beginning of its names, with the tokens of prompt and answer.
struct Family {
    prefix: &'static str,
    generation: Generation,
    window: Option<u32>,
    output: Option<u32>,
}

const fn family(prefix: &'static str, generation: Generation, window: u32, output: u32) -> Family {
    Family { prefix, generation, window: Some(window), output: Some(output) }
}

/// Google's families as of November 2026; the longest prefix counts.
const FAMILIES: &[Family] = {
    use Generation::{Early, Gemma, Gemma3, Late, Middle};
    &[
        Family { prefix: "gemini", generation: Late, window: None, output: None },
        family("gemini-1.5-flash", Early, 1_048_576, 8_192),
        family("gemini-1.5-pro", Early, 2_097_152, 8_192),
        family("gemini-2.0", Early, 1_048_576, 8_192),
        family("gemini-2.5", Middle, 1_048_576, 65_536),
        family("gemini-3", Late, 1_048_576, 65_536),
        family("gemini-4", Late, 1_048_576, 65_536),
        family("gemini-4-argon", Late, 1_048_576, 1_048_576),
        family("gemini-flash-latest", Late, 1_048_576, 65_536),
        family("gemini-flash-lite-latest", Late, 1_048_576, 65_536),
        family("gemini-pro-latest", Late, 1_048_576, 65_536),
        family("gemma-3", Gemma3, 131_072, 8_192),
        family("gemma-4", Gemma, 262_144, 32_768),
    ]
};

/// What is known about `name`, `base` for what is not.
pub(crate) fn traits_of(name: &str, base: ModelTraits) -> ModelTraits {
    let known = FAMILIES
        .iter()
        .filter(|family| belongs(name, family.prefix))
        .max_by_key(|family| family.prefix.len());
    let Some(family) = known else { return base };
    let mut able = able(family.generation);
    able.context_window = family.window;
    able.max_output_tokens = family.output;
    let known = base.capabilities(base.capabilities.overlaid(able));
    match family.generation {
        Generation::Early => known.schema_field(SchemaField::OpenApi).json_with_tools(false),
        Generation::Middle => known.json_with_tools(false),
        Generation::Late => known.signed_calls(true),
        Generation::Gemma3 => known.system_instruction(false),
        Generation::Gemma => known,
    }
}

fn able(generation: Generation) -> Capabilities {
    let any = Capabilities::unknown().with_images(true).with_streaming(true);
    match generation {
        Generation::Gemma => any,
        Generation::Gemma3 => {
            any.with_documents(false).with_tools(false).with_structured_output(StructuredOutput::None)
        }
        _ => any.with_documents(true).with_tools(true).with_structured_output(StructuredOutput::Strict),
    }
}

/// The name without the collection that it may be written with.
pub(crate) fn plain_name(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

/// Whether `name` begins with `prefix` and the prefix ends there: `gemini-3` is not the family of `gemini-30`.
pub(crate) fn belongs(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_family() {
        use SchemaField::{JsonSchema, OpenApi};
        let table: &[(&str, Option<u32>, SchemaField, bool, bool)] = &[
            ("gemini-1.5-pro-002", Some(2_097_152), OpenApi, false, false),
            ("gemini-2.0-flash", Some(1_048_576), OpenApi, false, false),
            ("gemini-2.5-flash-lite", Some(1_048_576), JsonSchema, false, false),
            ("gemini-3-flash-preview", Some(1_048_576), JsonSchema, true, true),
            ("gemini-3.1-pro-preview", Some(1_048_576), JsonSchema, true, true),
            ("gemini-30", None, JsonSchema, true, true),
            ("gemini-flash-latest", Some(1_048_576), JsonSchema, true, true),
            ("gemma-4-31b-it", Some(262_144), JsonSchema, true, false),
            ("my-tuned-model", None, JsonSchema, true, false),
            ("", None, JsonSchema, true, false),
        ];
        for (name, window, field, json_with_tools, signed) in table {
            let traits = traits_of(name, ModelTraits::new());
            assert_eq!(traits.capabilities.context_window, *window, "{name}");
            assert_eq!(traits.schema_field, *field, "{name}");
            assert_eq!((traits.json_with_tools, traits.signed_calls), (*json_with_tools, *signed), "{name}");
        }
    }

    #[test]
    fn what_the_base_knows_stays_where_the_family_says_nothing() {
        let base = ModelTraits::new().capabilities(Capabilities::unknown().with_context_window(9));
        assert_eq!(traits_of("gemini-9", base).capabilities.context_window, Some(9));
        assert_eq!(traits_of("gemma-3-27b-it", base).capabilities.tools, Some(false));
    }
}
