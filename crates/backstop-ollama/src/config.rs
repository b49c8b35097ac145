//! The provider and its settings.

use std::{borrow::Cow, fmt, sync::Arc};

use backstop_core::{ConfigError, CredentialId, StructuredOutput, Target};
use backstop_http::{
    ApiKey, BaseUrl, ClientOptions, HttpClient,
    header::{AUTHORIZATION, HeaderMap},
    process_env,
};

use crate::{
    host,
    models::{self, ModelTraits},
    options::KeepAlive,
};

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
    pub(crate) name: Cow<'static, str>,
    pub(crate) instance: String,
    /// What it takes to send a request, or why there is none.
    pub(crate) line: Result<Line, String>,
    pub(crate) key: Option<ApiKey>,
    pub(crate) num_ctx: Option<u32>,
    pub(crate) keep_alive: Option<KeepAlive>,
    base_traits: ModelTraits,
    rules: Vec<(String, ModelTraits)>,
}

pub(crate) struct Line {
    pub(crate) base: BaseUrl,
    pub(crate) http: HttpClient,
    pub(crate) headers: HeaderMap,
}

impl Ollama {
    /// The server on this machine, `http://127.0.0.1:11434`.
    ///
    /// If no HTTP client can be built, which takes a broken TLS setup of the machine, calls fail and say so.
    pub fn local() -> Self {
        let builder = Self::builder();
        let line = builder.line().map_err(|error| error.to_string());
        builder.with(line)
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
            builder.key = Some(Ok(ApiKey::from_env_with("OLLAMA_API_KEY", set)?));
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

    pub(crate) fn credential_id(&self) -> CredentialId {
        self.0.key.as_ref().map(ApiKey::credential_id).unwrap_or_default()
    }
}

impl fmt::Debug for Ollama {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ollama")
            .field("name", &self.0.name)
            .field("base_url", &self.0.line.as_ref().map(|line| &line.base))
            .finish_non_exhaustive()
    }
}

/// Settings of an [`Ollama`] provider.
///
/// | setting | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | `http://127.0.0.1:11434` |
/// | [`api_key`](Self::api_key) | none |
/// | [`name`](Self::name) | `ollama` |
/// | [`client`](Self::client) | see [`ClientOptions`] |
/// | [`num_ctx`](Self::num_ctx) | the server's |
/// | [`keep_alive`](Self::keep_alive) | the server's, usually five minutes |
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct OllamaBuilder {
    name: Cow<'static, str>,
    base_url: Cow<'static, str>,
    key: Option<Result<ApiKey, Arc<ConfigError>>>,
    http: Option<HttpClient>,
    options: ClientOptions,
    num_ctx: Option<u32>,
    keep_alive: Option<KeepAlive>,
    default_traits: Option<ModelTraits>,
    rules: Vec<(String, ModelTraits)>,
}

impl Default for OllamaBuilder {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed("ollama"),
            base_url: Cow::Borrowed(LOCAL),
            key: None,
            http: None,
            options: ClientOptions::new(),
            num_ctx: None,
            keep_alive: None,
            default_traits: None,
            rules: Vec::new(),
        }
    }
}

impl OllamaBuilder {
    /// The name in reports and metrics, for telling servers apart.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Where the server is; `/api/chat` at its end is left out. A query in it is kept.
    pub fn base_url(mut self, url: impl Into<Cow<'static, str>>) -> Self {
        self.base_url = url.into();
        self
    }

    /// The key, sent as `Authorization: Bearer …`. It is checked by [`build`](Self::build).
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(ApiKey::new(key).map_err(Arc::new));
        self
    }

    /// Settings of the HTTP client.
    pub fn client(mut self, options: ClientOptions) -> Self {
        self.options = options;
        self
    }

    /// An HTTP client that other providers share.
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.http = Some(client);
        self
    }

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
        if self.name.is_empty() {
            return Err(ConfigError::setting("name", "is empty; reports need a name"));
        }
        if self.num_ctx == Some(0) {
            return Err(ConfigError::setting("num_ctx", "is 0; no prompt fits into it"));
        }
        let line = self.line()?;
        Ok(self.with(Ok(line)))
    }

    fn line(&self) -> Result<Line, ConfigError> {
        // The documentation gives the API's address with `/api`.
        let url = self.base_url.trim().trim_end_matches('/');
        let base =
            BaseUrl::parse(url.strip_suffix("/api").unwrap_or(url))?.without_endpoint(&["api", "chat"]);
        let mut headers = HeaderMap::new();
        match &self.key {
            Some(Ok(key)) => {
                headers.insert(AUTHORIZATION, key.header("Bearer ")?);
            }
            Some(Err(error)) => return Err(ConfigError::setting("api_key", why(error))),
            None => {}
        }
        let http = self.http.clone().map_or_else(|| self.options.clone().build(), Ok)?;
        Ok(Line { base, http, headers })
    }

    fn with(self, line: Result<Line, String>) -> Ollama {
        let place = line.as_ref().map_or_else(|_| self.base_url.to_string(), |line| line.base.to_string());
        let base_traits = self.default_traits.unwrap_or_else(|| {
            let traits = ModelTraits::new();
            let cloud = place.starts_with(&format!("{CLOUD}/"));
            let none = traits.capabilities.with_structured_output(StructuredOutput::None);
            if cloud { traits.capabilities(none) } else { traits }
        });
        Ollama(Arc::new(Inner {
            instance: format!("{} {place}", self.name),
            name: self.name,
            line,
            key: self.key.and_then(Result::ok),
            num_ctx: self.num_ctx,
            keep_alive: self.keep_alive,
            base_traits,
            rules: self.rules,
        }))
    }
}

/// What an error about a setting says, without the setting's name.
fn why(error: &ConfigError) -> String {
    match error {
        ConfigError::Setting { why, .. } => why.to_string(),
        other => other.to_string(),
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
                    assert_eq!(ollama.0.line.as_ref().unwrap().base.to_string(), *base);
                    assert_eq!(ollama.0.key.is_some(), variables.len() == 2);
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
                ollama.0.line.as_ref().unwrap().base.to_string().trim_end_matches('/'),
                "https://gpu.example/x"
            );
        }
    }
}
