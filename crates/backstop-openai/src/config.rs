//! The provider and its settings.

use std::{borrow::Cow, fmt, sync::Arc};

use backstop_core::{ConfigError, CredentialId, Target};
use backstop_http::{
    ApiKey, BaseUrl, ClientOptions, HttpClient,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
    process_env,
};

use crate::models::{self, ModelTraits, TokenLimit};

const OFFICIAL: &str = "https://api.openai.com/v1";

/// OpenAI, or a server that speaks its Chat Completions. Cloning is cheap; clones share their connections.
///
/// ```
/// use backstop_openai::OpenAi;
///
/// let openai = OpenAi::new("sk-0123456789")?;
/// let target = openai.model("gpt-4o");
///
/// // A compatible server, here one without a key.
/// let local = OpenAi::builder().name("vllm").base_url("http://localhost:8000/v1").build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct OpenAi(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) name: Cow<'static, str>,
    pub(crate) base: BaseUrl,
    pub(crate) http: HttpClient,
    pub(crate) key: Option<ApiKey>,
    pub(crate) headers: HeaderMap,
    pub(crate) stream_usage: bool,
    instance: String,
    base_traits: ModelTraits,
    rules: Vec<(String, ModelTraits)>,
}

impl OpenAi {
    /// OpenAI with this key.
    ///
    /// # Errors
    /// The key cannot be sent in a header.
    pub fn new(key: impl Into<String>) -> Result<Self, ConfigError> {
        Self::builder().api_key(key).build()
    }

    /// OpenAI with what the environment says: `OPENAI_API_KEY`, and if they are set `OPENAI_BASE_URL`,
    /// `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`.
    ///
    /// # Errors
    /// `OPENAI_API_KEY` is not set, or one of them cannot work.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_env_with(process_env)
    }

    /// The same with another environment: `env` looks a variable up.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_env_with(env: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        Self::builder().env(env)?.build()
    }

    /// All settings.
    pub fn builder() -> OpenAiBuilder {
        OpenAiBuilder::default()
    }

    /// A target: this server with one of its models.
    pub fn model(&self, model: impl Into<Cow<'static, str>>) -> Target {
        Target::new(Arc::new(self.clone()), model)
    }

    pub(crate) fn traits(&self, model: &str) -> ModelTraits {
        let own = self.0.rules.iter().rev().find(|(prefix, _)| models::belongs(model, prefix));
        own.map_or_else(|| models::traits_of(model, self.0.base_traits), |(_, traits)| *traits)
    }

    pub(crate) fn instance_name(&self) -> &str {
        &self.0.instance
    }

    pub(crate) fn credential_id(&self) -> CredentialId {
        self.0.key.as_ref().map(ApiKey::credential_id).unwrap_or_default()
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("name", &self.0.name)
            .field("base_url", &self.0.base)
            .finish_non_exhaustive()
    }
}

/// In which header the key is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// `Authorization: Bearer …` (default).
    #[default]
    Bearer,
    /// The key alone in this header, such as Azure's `api-key`.
    Header(Cow<'static, str>),
}

/// Settings of an [`OpenAi`] provider.
///
/// | setting | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | `https://api.openai.com/v1` |
/// | [`api_key`](Self::api_key) | none; needed for the default base URL only |
/// | [`name`](Self::name) | `openai` |
/// | [`client`](Self::client) | see [`ClientOptions`] |
/// | [`default_traits`](Self::default_traits) | `max_completion_tokens` at OpenAI, `max_tokens` at other base URLs |
/// | [`stream_usage`](Self::stream_usage) | on |
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct OpenAiBuilder {
    name: Cow<'static, str>,
    base_url: Option<String>,
    key: Option<Result<ApiKey, Arc<ConfigError>>>,
    auth: Auth,
    organization: Option<String>,
    project: Option<String>,
    http: Option<HttpClient>,
    options: ClientOptions,
    base_traits: Option<ModelTraits>,
    rules: Vec<(String, ModelTraits)>,
    stream_usage: bool,
}

impl Default for OpenAiBuilder {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed("openai"),
            base_url: None,
            key: None,
            auth: Auth::Bearer,
            organization: None,
            project: None,
            http: None,
            options: ClientOptions::new(),
            base_traits: None,
            rules: Vec::new(),
            stream_usage: true,
        }
    }
}

impl OpenAiBuilder {
    /// The name in reports and metrics, for telling servers apart.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Where the API is; `/chat/completions` at its end is left out. A URL without a path gets `/v1`; a query in it is kept.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The key. It is checked by [`build`](Self::build).
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(ApiKey::new(key).map_err(Arc::new));
        self
    }

    /// In which header the key is sent.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// The organisation that pays (`OpenAI-Organization`).
    pub fn organization(mut self, id: impl Into<String>) -> Self {
        self.organization = Some(id.into());
        self
    }

    /// The project that pays (`OpenAI-Project`).
    pub fn project(mut self, id: impl Into<String>) -> Self {
        self.project = Some(id.into());
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

    /// How models are asked that nothing is known about.
    pub fn default_traits(mut self, traits: ModelTraits) -> Self {
        self.base_traits = Some(traits);
        self
    }

    /// How models are asked whose names begin with `prefix`. The last rule that fits counts, before all that
    /// this adapter knows.
    pub fn model_traits(mut self, prefix: impl Into<String>, traits: ModelTraits) -> Self {
        self.rules.push((prefix.into(), traits));
        self
    }

    /// Whether streams are asked for token counts. Some compatible servers reject the question.
    pub fn stream_usage(mut self, yes: bool) -> Self {
        self.stream_usage = yes;
        self
    }

    /// Takes key, base URL, organisation and project from an environment.
    fn env(mut self, env: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        self.key = Some(Ok(ApiKey::from_env_with("OPENAI_API_KEY", &env)?));
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        self.base_url = set("OPENAI_BASE_URL");
        self.organization = set("OPENAI_ORG_ID");
        self.project = set("OPENAI_PROJECT_ID");
        Ok(self)
    }

    /// Builds the provider.
    ///
    /// # Errors
    /// A setting cannot work; the error names it. No secret is printed.
    pub fn build(self) -> Result<OpenAi, ConfigError> {
        let official = self.base_url.is_none();
        let base = BaseUrl::parse(self.base_url.as_deref().unwrap_or(OFFICIAL))?;
        let base = base.without_endpoint(&["chat", "completions"]).with_default_path(&["v1"]);
        let key = self.key.transpose().map_err(|error| {
            Arc::try_unwrap(error).unwrap_or_else(|error| ConfigError::setting("api_key", error.to_string()))
        })?;
        if official && key.is_none() {
            return Err(ConfigError::setting(
                "api_key",
                "is missing: pass a key, or set OPENAI_API_KEY and use `from_env`",
            ));
        }
        if self.name.is_empty() {
            return Err(ConfigError::setting("name", "is empty; reports need a name"));
        }
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            match &self.auth {
                Auth::Bearer => headers.insert(AUTHORIZATION, key.header("Bearer ")?),
                Auth::Header(name) => headers.insert(header_name(name)?, key.header("")?),
            };
        }
        for (setting, header, value) in [
            ("organization", "openai-organization", self.organization),
            ("project", "openai-project", self.project),
        ] {
            if let Some(value) = value {
                let value = HeaderValue::from_str(&value)
                    .map_err(|_| ConfigError::setting(setting, "cannot be sent in a header"))?;
                headers.insert(header, value);
            }
        }
        let http = self.http.map_or_else(|| self.options.build(), Ok)?;
        let limit = if official { TokenLimit::MaxCompletionTokens } else { TokenLimit::MaxTokens };
        Ok(OpenAi(Arc::new(Inner {
            instance: format!("{} {base}", self.name),
            name: self.name,
            base,
            http,
            key,
            headers,
            stream_usage: self.stream_usage,
            base_traits: self.base_traits.unwrap_or(ModelTraits::new(limit)),
            rules: self.rules,
        })))
    }
}

fn header_name(name: &str) -> Result<HeaderName, ConfigError> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| ConfigError::setting("auth", format!("names {name:?}, which is not a header name")))
}
