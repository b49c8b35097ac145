//! What is known about models: which parameters they take and how much fits into them.
//!
//! Names are open-ended. A model that no rule knows is asked like a current one of the same server; a rule of the
//! caller's own ([`OpenAiBuilder::model_traits`](crate::OpenAiBuilder::model_traits)) comes before those here.

use backstop_core::{Capabilities, StructuredOutput};

/// The field that limits an answer's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenLimit {
    /// `max_completion_tokens`, which counts hidden reasoning too. OpenAI's reasoning models take only this one.
    MaxCompletionTokens,
    /// `max_tokens`, which most compatible servers know, and some know alone.
    MaxTokens,
}

/// The role of the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemRole {
    /// `developer`, for OpenAI's reasoning models.
    Developer,
    /// `system`, which every server knows.
    System,
}

/// How a model is to be asked.
///
/// ```
/// use backstop_openai::{ModelTraits, TokenLimit};
///
/// let traits = ModelTraits::new(TokenLimit::MaxTokens).sampling(false);
/// assert!(!traits.sampling);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelTraits {
    /// The field that limits an answer's length.
    pub token_limit: TokenLimit,
    /// The role of the instructions.
    pub system_role: SystemRole,
    /// Takes `temperature` and `top_p`. They are left out, and noted, where it does not.
    pub sampling: bool,
    /// Takes `stop`. It is left out, and noted, where it does not.
    pub stop: bool,
    /// Wants the turns of user and assistant to alternate, as the chat templates of many open models do. Messages of
    /// one role in a row are joined then, with a blank line between their texts.
    pub joined_turns: bool,
    /// Takes JSON mode (`json_object`). Where it does not, the prompt alone asks for JSON.
    pub json_object: bool,
    /// A schema that the server enforces goes into the prompt as well, because the server does not show it to the model.
    pub schema_in_prompt: bool,
    /// Its prompts can be kept in the vendor's cache for a day (`prompt_cache_retention`), for
    /// [`CacheHint::Long`](backstop_core::CacheHint::Long). Known for GPT-5 and later and GPT-4.1 (*not verified*),
    /// but not for their small and chat models.
    pub long_cache: bool,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl ModelTraits {
    /// A model that takes all parameters, with this field for the limit.
    #[must_use]
    pub const fn new(token_limit: TokenLimit) -> Self {
        Self {
            token_limit,
            system_role: SystemRole::System,
            sampling: true,
            stop: true,
            joined_turns: false,
            json_object: true,
            schema_in_prompt: false,
            long_cache: false,
            capabilities: Capabilities::unknown(),
        }
    }

    /// Sets the role of the instructions.
    #[must_use]
    pub const fn system_role(mut self, role: SystemRole) -> Self {
        self.system_role = role;
        self
    }

    /// Sets whether it takes `temperature` and `top_p`.
    #[must_use]
    pub const fn sampling(mut self, yes: bool) -> Self {
        self.sampling = yes;
        self
    }

    /// Sets whether it takes `stop`.
    #[must_use]
    pub const fn stop(mut self, yes: bool) -> Self {
        self.stop = yes;
        self
    }

    /// Sets whether it wants the turns of user and assistant to alternate.
    #[must_use]
    pub const fn joined_turns(mut self, yes: bool) -> Self {
        self.joined_turns = yes;
        self
    }

    /// Sets whether it takes JSON mode.
    #[must_use]
    pub const fn json_object(mut self, yes: bool) -> Self {
        self.json_object = yes;
        self
    }

    /// Sets whether a schema that the server enforces goes into the prompt as well.
    #[must_use]
    pub const fn schema_in_prompt(mut self, yes: bool) -> Self {
        self.schema_in_prompt = yes;
        self
    }

    /// Sets whether its prompts can be kept in the vendor's cache for a day.
    #[must_use]
    pub const fn long_cache(mut self, yes: bool) -> Self {
        self.long_cache = yes;
        self
    }

    /// Sets what it can do.
    #[must_use]
    pub const fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

/// One of OpenAI's families, by the beginning of its names.
struct Family {
    prefix: &'static str,
    reasoning: bool,
    /// Tokens of prompt and answer together, and most tokens of an answer.
    window: u32,
    output: u32,
    structured: StructuredOutput,
}

const fn family(
    prefix: &'static str,
    reasoning: bool,
    window: u32,
    output: u32,
    structured: StructuredOutput,
) -> Family {
    Family { prefix, reasoning, window, output, structured }
}

/// OpenAI's families as of November 2026; the longest prefix counts.
const FAMILIES: &[Family] = {
    use StructuredOutput::{JsonObject, None, Strict};
    &[
        family("gpt-3.5-turbo", false, 16_385, 4_096, JsonObject),
        family("gpt-4", false, 8_192, 4_096, None),
        family("gpt-4-1106-preview", false, 128_000, 4_096, JsonObject),
        family("gpt-4-turbo", false, 128_000, 4_096, JsonObject),
        family("gpt-4.1", false, 1_047_576, 32_768, Strict),
        family("gpt-4o", false, 128_000, 16_384, Strict),
        family("gpt-4o-2024-05-13", false, 128_000, 4_096, JsonObject),
        family("gpt-5", true, 400_000, 128_000, Strict),
        family("gpt-5-chat", false, 128_000, 16_384, Strict),
        family("gpt-5.1-chat", false, 128_000, 16_384, Strict),
        family("gpt-5.2-chat", false, 128_000, 16_384, Strict),
        family("o1", true, 200_000, 100_000, Strict),
        family("o3", true, 200_000, 100_000, Strict),
        family("o4-mini", true, 200_000, 100_000, Strict),
    ]
};

/// What is known about `model`, `base` for what is not. `developer`: the server knows that role.
pub(crate) fn traits_of(model: &str, base: ModelTraits, developer: bool) -> ModelTraits {
    // Aggregators put a vendor before the name, fine-tuned models a marker.
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let known = FAMILIES
        .iter()
        .filter(|family| belongs(name, family.prefix))
        .max_by_key(|family| family.prefix.len());
    let Some(family) = known else { return base };
    let capabilities = Capabilities::unknown()
        .with_structured_output(family.structured)
        .with_context_window(family.window)
        .with_max_output_tokens(family.output);
    let known = base.capabilities(base.capabilities.overlaid(capabilities)).long_cache(keeps_prompts(name));
    match (family.reasoning, developer) {
        (true, true) => known.sampling(false).stop(false).system_role(SystemRole::Developer),
        (true, false) => known.sampling(false).stop(false),
        (false, _) => known,
    }
}

/// Whether OpenAI keeps the prompts of this model in its cache for a day if asked to.
fn keeps_prompts(name: &str) -> bool {
    let smaller = ["mini", "nano", "chat"].iter().any(|size| name.contains(size));
    !smaller && (belongs(name, "gpt-5") || belongs(name, "gpt-4.1"))
}

/// Whether `name` begins with `prefix` and the prefix ends there: `o1` is not the family of `o100`.
pub(crate) fn belongs(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: ModelTraits = ModelTraits::new(TokenLimit::MaxCompletionTokens);

    #[test]
    fn names_find_their_family() {
        let table: &[(&str, Option<u32>, bool)] = &[
            ("gpt-4o", Some(128_000), true),
            ("gpt-4o-2024-08-06", Some(128_000), true),
            ("ft:gpt-4o-mini:acme::abc", Some(128_000), true),
            ("openai/gpt-4.1-nano", Some(1_047_576), true),
            ("gpt-4-0613", Some(8_192), true),
            ("gpt-5.2", Some(400_000), false),
            ("gpt-5-mini-2025-08-07", Some(400_000), false),
            ("gpt-5.1-chat-latest", Some(128_000), true),
            ("o3", Some(200_000), false),
            ("o3-mini", Some(200_000), false),
            ("o300", None, true),
            ("openai/gpt-4o:nitro", Some(128_000), true),
            ("openai/o3-mini:online", Some(200_000), false),
            ("llama3:8b", None, true),
            ("", None, true),
        ];
        for (name, window, sampling) in table {
            let traits = traits_of(name, BASE, true);
            assert_eq!((traits.capabilities.context_window, traits.sampling), (*window, *sampling), "{name}");
        }
    }

    #[test]
    fn only_servers_that_know_developers_are_sent_one() {
        let role = |model, developer| traits_of(model, BASE, developer).system_role;
        assert_eq!(role("o3", true), SystemRole::Developer);
        assert_eq!(role("o3", false), SystemRole::System);
        assert_eq!(role("gpt-4o", true), SystemRole::System);
    }

    #[test]
    fn what_the_base_knows_stays_where_the_family_says_nothing() {
        let base =
            ModelTraits::new(TokenLimit::MaxTokens).capabilities(Capabilities::unknown().with_images(false));
        let traits = traits_of("gpt-4o", base, true);
        assert_eq!((traits.token_limit, traits.capabilities.images), (TokenLimit::MaxTokens, Some(false)));
    }
}
