//! The provider and its settings.

use std::{borrow::Cow, fmt, sync::Arc};

use backstop_core::{ConfigError, StructuredOutput, Target};
use backstop_http::{ApiKey, BaseUrl, Connect, Endpoint, connect_settings, process_env};

use crate::{
    host,
    models::{self, ModelTraits},
    options::KeepAlive,
};

pub(crate) const NAME: &str = "ollama";
const LOCAL: &str = "http://127.0.0.1:11434";
const CLOUD: &str = "https://ollama.com";

/// An Ollama server. Cloning is cheap; clones share their connections.
///
/// ```
/// use backstop_ollama::Ollama;
///
/// let target = Ollama::local().model("llama3.1:8b");
/// let remote = Ollama::builder().base_url("http://gpu.example:11434").num_ctx(32_768).build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Ollama(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    /// Or why there is none.
    pub(crate) endpoint: Result<Endpoint, String>,
    pub(crate) num_ctx: Option<u32>,
    pub(crate) keep_alive: Option<KeepAlive>,
    base_traits: ModelTraits,
    rules: Vec<(String, ModelTraits)>,
}

impl Ollama {
    /// The server on this machine, `http://127.0.0.1:11434`.
    ///
    /// If no HTTP client can be built, which takes a broken TLS setup of the machine, calls fail and say so.
    pub fn local() -> Self {
        let builder = Self::builder();
        let endpoint = builder.endpoint().map_err(|error| error.to_string());
        builder.at(endpoint)
    }

    /// Ollama's cloud with this key.
    ///
    /// # Errors
    /// The key cannot be sent in a header.
    pub fn cloud(key: impl Into<String>) -> Result<Self, ConfigError> {
        Self::builder().base_url(CLOUD).api_key(key).build()
    }

    /// The server that `OLLAMA_HOST` names, in any form that Ollama's own client takes, or else the one on this
    /// machine; with the key in `OLLAMA_API_KEY` if it is set.
    ///
    /// # Errors
    /// A value cannot work.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_env_with(process_env)
    }

    /// The same with another environment: `env` looks a variable up.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_env_with(env: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let mut builder = Self::builder();
        if let Some(value) = set("OLLAMA_HOST") {
            builder = builder.base_url(host::base_url(&value)?);
        }
        if set("OLLAMA_API_KEY").is_some() {
            builder.connect = builder.connect.checked_key(ApiKey::from_env_with("OLLAMA_API_KEY", set)?);
        }
        builder.build()
    }

    /// All settings.
    pub fn builder() -> OllamaBuilder {
        OllamaBuilder::default()
    }

    /// A target: this server with one of its models.
    pub fn model(&self, model: impl Into<Cow<'static, str>>) -> Target {
        Target::new(Arc::new(self.clone()), model)
    }

    pub(crate) fn traits(&self, model: &str) -> ModelTraits {
        let own = self.0.rules.iter().rev().find(|(prefix, _)| model.starts_with(prefix.as_str()));
        let mut traits = own.map_or_else(|| models::traits_of(model, self.0.base_traits), |(_, own)| *own);
        let window = &mut traits.capabilities.context_window;
        *window = window.or(self.0.num_ctx);
        traits
    }
}

impl fmt::Debug for Ollama {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ollama").field("endpoint", &self.0.endpoint).finish_non_exhaustive()
    }
}

/// Settings of an [`Ollama`] provider.
///
/// | setting | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | `http://127.0.0.1:11434` |
/// | [`api_key`](Self::api_key) | none |
/// | [`name`](Self::name) | `ollama` |
/// | [`client`](Self::client) | see [`ClientOptions`](crate::ClientOptions) |
/// | [`num_ctx`](Self::num_ctx) | the server's |
/// | [`keep_alive`](Self::keep_alive) | the server's, usually five minutes |
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct OllamaBuilder {
    connect: Connect,
    num_ctx: Option<u32>,
    keep_alive: Option<KeepAlive>,
    default_traits: Option<ModelTraits>,
    rules: Vec<(String, ModelTraits)>,
}

connect_settings! {
    /// Where the server is; `/api/chat` at its end is left out. A query in it is kept.
    OllamaBuilder
}

/// How models are asked, and building.
impl OllamaBuilder {
    /// Tokens of prompt and answer together, for all requests that do not say otherwise. The models of this server
    /// count as having that context window.
    pub fn num_ctx(mut self, tokens: u32) -> Self {
        self.num_ctx = Some(tokens);
        self
    }

    /// How long a model stays loaded after a request, for all requests that do not say otherwise.
    pub fn keep_alive(mut self, keep_alive: impl Into<KeepAlive>) -> Self {
        self.keep_alive = Some(keep_alive.into());
        self
    }

    /// How models are asked that have no rule of their own.
    pub fn default_traits(mut self, traits: ModelTraits) -> Self {
        self.default_traits = Some(traits);
        self
    }

    /// How models are asked whose names begin with `prefix`. The last rule that fits counts.
    pub fn model_traits(mut self, prefix: impl Into<String>, traits: ModelTraits) -> Self {
        self.rules.push((prefix.into(), traits));
        self
    }

    /// Builds the provider.
    ///
    /// # Errors
    /// A setting cannot work; the error names it. No secret is printed.
    pub fn build(self) -> Result<Ollama, ConfigError> {
        if self.num_ctx == Some(0) {
            return Err(ConfigError::setting("num_ctx", "is 0; no prompt fits into it"));
        }
        let endpoint = self.endpoint()?;
        Ok(self.at(Ok(endpoint)))
    }

    fn endpoint(&self) -> Result<Endpoint, ConfigError> {
        // The documentation gives the API's address with `/api`.
        let url = self.connect.place().unwrap_or(LOCAL).trim().trim_end_matches('/');
        let base =
            BaseUrl::parse(url.strip_suffix("/api").unwrap_or(url))?.without_endpoint(&["api", "chat"]);
        self.connect.clone().open(NAME, base)?.with_key_in("authorization", "Bearer ")
    }

    fn at(self, endpoint: Result<Endpoint, String>) -> Ollama {
        let base_traits = self.default_traits.unwrap_or_else(|| {
            let traits = ModelTraits::new();
            let cloud = endpoint
                .as_ref()
                .is_ok_and(|endpoint| endpoint.base.to_string().starts_with(&format!("{CLOUD}/")));
            let none = traits.capabilities.with_structured_output(StructuredOutput::None);
            if cloud { traits.capabilities(none) } else { traits }
        });
        Ollama(Arc::new(Inner {
            endpoint,
            num_ctx: self.num_ctx,
            keep_alive: self.keep_alive,
            base_traits,
            rules: self.rules,
        }))
    }
}

#[cfg(test)]
mod tests {
    use backstop_core::Capabilities;

    use super::*;

    type Row = (&'static [(&'static str, &'static str)], Result<&'static str, &'static str>);

    #[test]
    fn the_environment_names_place_and_key() {
        let table: &[Row] = &[
            (&[], Ok("http://127.0.0.1:11434/")),
            (&[("OLLAMA_HOST", "")], Ok("http://127.0.0.1:11434/")),
            (&[("OLLAMA_HOST", "0.0.0.0:5678"), ("OLLAMA_API_KEY", "k")], Ok("http://127.0.0.1:5678/")),
            (&[("OLLAMA_HOST", "ollama.com")], Ok("https://ollama.com/")),
            (&[("OLLAMA_HOST", "http://x:port")], Err("`OLLAMA_HOST`")),
            (&[("OLLAMA_API_KEY", "two\nlines")], Err("`OLLAMA_API_KEY`")),
        ];
        for (variables, expected) in table {
            let env = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            match (Ollama::from_env_with(env), expected) {
                (Ok(ollama), Ok(base)) => {
                    assert_eq!(ollama.0.endpoint.as_ref().unwrap().base.to_string(), *base);
                    assert_eq!(ollama.0.endpoint.as_ref().unwrap().key.is_some(), variables.len() == 2);
                }
                (Err(error), Err(part)) => assert!(error.to_string().starts_with(part), "{error}"),
                (built, _) => panic!("{variables:?}: {built:?}"),
            }
        }
    }

    #[test]
    fn what_a_place_can_do() {
        let structured = |ollama: &Ollama, model| ollama.traits(model).capabilities.structured_output;
        let cloud = Ollama::cloud("hush-hush-hush").unwrap();
        assert_eq!(structured(&cloud, "gpt-oss:120b"), Some(StructuredOutput::None));
        assert_eq!(structured(&Ollama::local(), "gpt-oss:120b"), Some(StructuredOutput::Strict));
        let sized = Ollama::builder().num_ctx(9_000).build().unwrap();
        assert_eq!(sized.traits("llama3.1:8b").capabilities.context_window, Some(9_000));
        let able = ModelTraits::new().capabilities(Capabilities::unknown().with_tools(false));
        let ruled = Ollama::builder().model_traits("llama3", able).build().unwrap();
        assert_eq!(ruled.traits("llama3.1:8b").capabilities.tools, Some(false));
        assert_eq!(ruled.traits("mistral").capabilities.tools, None);
        let near = Ollama::builder().base_url("https://ollama.community").build().unwrap();
        assert_eq!(structured(&near, "gpt-oss:120b"), Some(StructuredOutput::Strict));
    }

    #[test]
    fn settings_that_cannot_work_are_named_and_the_key_is_never_shown() {
        let table = [
            (Ollama::builder().name(""), "`name`"),
            (Ollama::builder().num_ctx(0), "`num_ctx`"),
            (Ollama::builder().base_url("localhost"), "`base_url`"),
            (Ollama::builder().api_key("hush-hush\n"), "`api_key` contains a line break"),
        ];
        for (builder, part) in table {
            let shown = format!("{builder:?}");
            let error = builder.build().unwrap_err();
            assert!(error.to_string().starts_with(part), "{error}");
            assert!(!format!("{shown} {error} {error:?}").contains("hush"), "{error}");
        }
        let shown = format!("{:?}", Ollama::cloud("hush-hush-hush").unwrap());
        assert!(!shown.contains("hush") && shown.contains("ollama.com"), "{shown}");
    }

    #[test]
    fn the_address_of_the_api_is_an_address_of_the_server() {
        for url in ["https://gpu.example/x", "https://gpu.example/x/", "https://gpu.example/x/api"] {
            let ollama = Ollama::builder().base_url(url).build().unwrap();
            assert_eq!(
                ollama.0.endpoint.as_ref().unwrap().base.to_string().trim_end_matches('/'),
                "https://gpu.example/x"
            );
        }
    }
}
