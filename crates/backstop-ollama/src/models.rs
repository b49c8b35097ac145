//! What is known about models. Names are open-ended, and they say little: what a model can do depends on how it was
//! packed, so what is unknown is tried.

use backstop_core::{Capabilities, StructuredOutput};

/// How a model is to be asked.
///
/// ```
/// use backstop_core::Capabilities;
/// use backstop_ollama::ModelTraits;
///
/// let text_only = ModelTraits::new().capabilities(Capabilities::unknown().with_images(false));
/// assert!(text_only.schema_in_prompt);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelTraits {
    /// The schema goes into the prompt beside `format`. It costs its tokens, and tells the model what the fields mean.
    pub schema_in_prompt: bool,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl Default for ModelTraits {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelTraits {
    /// A model that is held to schemas and takes no documents; whether it takes pictures and tools is unknown.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            schema_in_prompt: true,
            capabilities: Capabilities::unknown()
                .with_structured_output(StructuredOutput::Strict)
                .with_documents(false)
                .with_streaming(true),
        }
    }

    /// Sets whether the schema goes into the prompt too.
    #[must_use]
    pub const fn schema_in_prompt(mut self, yes: bool) -> Self {
        self.schema_in_prompt = yes;
        self
    }

    /// Sets what it can do.
    #[must_use]
    pub const fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

/// What is known about `model`, `base` for what is not.
pub(crate) fn traits_of(model: &str, base: ModelTraits) -> ModelTraits {
    // A local server passes these on to the cloud, which knows no schemas.
    if model.ends_with("-cloud") || model.ends_with(":cloud") {
        return base.capabilities(base.capabilities.with_structured_output(StructuredOutput::None));
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_the_cloud_are_known_by_their_tag() {
        use StructuredOutput::{None, Strict};
        for (name, expected) in
            [("gpt-oss:120b-cloud", None), ("glm-5:cloud", None), ("cloud", Strict), ("", Strict)]
        {
            let traits = traits_of(name, ModelTraits::new());
            assert_eq!(traits.capabilities.structured_output, Some(expected), "{name}");
        }
    }
}
