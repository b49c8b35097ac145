//! The provider and its settings.

use std::{borrow::Cow, fmt, sync::Arc};

use backstop_core::{ConfigError, FailureKind, Target};
use backstop_http::{
    ApiKey, BaseUrl, Connect, Endpoint, connect_settings,
    header::{HeaderMap, HeaderValue},
    process_env,
};
use serde_json::Value;

use crate::{
    api::Api,
    models::{self, ModelTraits},
    preset::Preset,
    server::{Own, Server},
};

/// OpenAI, or a server that speaks its API. Cloning is cheap; clones share their connections.
///
/// ```
/// use backstop_openai::OpenAi;
///
/// let openai = OpenAi::new("sk-0123456789")?;
/// let target = openai.model("gpt-4o");
///
/// // Another vendor, and a compatible server of your own without a key.
/// let groq = OpenAi::groq().api_key("gsk-0123456789").build()?;
/// let local = OpenAi::builder().name("local").base_url("http://localhost:8000/v1").build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct OpenAi(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) api: Api,
    pub(crate) server: Server,
    pub(crate) endpoint: Endpoint,
    developer_role: bool,
    base_traits: ModelTraits,
    rules: Vec<(String, Rule)>,
}

/// What is said about models whose names begin alike.
#[derive(Clone, Debug)]
enum Rule {
    Traits(ModelTraits),
    Like(String),
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
    /// `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`. The key may be left out where the base URL names another server.
    ///
    /// # Errors
    /// A key is needed and `OPENAI_API_KEY` is not set, or one of them cannot work.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::builder().from_env()
    }

    /// The same with another environment: `env` looks a variable up.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_env_with(env: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        Self::builder().from_env_with(env)
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
        let known = match own {
            Some((_, Rule::Traits(traits))) => return *traits,
            Some((_, Rule::Like(known))) => known,
            None => model,
        };
        models::traits_of(known, self.0.base_traits, self.0.developer_role)
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("endpoint", &self.0.endpoint).finish_non_exhaustive()
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
/// | [`preset`](Self::preset) | [`Preset::OPENAI`]; with a base URL of another server, [`Preset::COMPATIBLE`] |
/// | [`api`](Self::api) | [`Api::Chat`] |
/// | [`client`](Self::client) | see [`ClientOptions`](crate::ClientOptions) |
/// | all others | the preset's |
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct OpenAiBuilder {
    preset: Option<Preset>,
    api: Api,
    connect: Connect,
    api_version: Option<String>,
    auth: Option<Auth>,
    organization: Option<String>,
    project: Option<String>,
    base_traits: Option<ModelTraits>,
    rules: Vec<(String, Rule)>,
    own: Own,
}

connect_settings! {
    /// Where the API is; `/chat/completions` or `/responses` at its end is left out. A URL without a path gets the
    /// preset's, mostly `/v1`; a query in it is kept.
    OpenAiBuilder
}

/// Which server it is, and what it wants to know of the caller.
impl OpenAiBuilder {
    /// In what the server differs. [`OpenAi::groq`] and the like set it; other settings come before it, whether they
    /// were made earlier or later.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = Some(preset);
        self
    }

    /// Which of OpenAI's APIs is spoken. Default Chat Completions, the one that compatible servers have.
    pub fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }

    /// Adds `api-version=…` to every URL, for Azure's deployments.
    pub fn api_version(mut self, version: impl Into<String>) -> Self {
        self.api_version = Some(version.into());
        self
    }

    /// In which header the key is sent.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = Some(auth);
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
}

/// How it is asked, and what its answers mean.
impl OpenAiBuilder {
    /// How models are asked that nothing is known about.
    pub fn default_traits(mut self, traits: ModelTraits) -> Self {
        self.base_traits = Some(traits);
        self
    }

    /// How models are asked whose names begin with `prefix`. The last rule that fits counts, before all that
    /// this adapter knows.
    pub fn model_traits(mut self, prefix: impl Into<String>, traits: ModelTraits) -> Self {
        self.rules.push((prefix.into(), Rule::Traits(traits)));
        self
    }

    /// Asks models whose names begin with `prefix` as it asks `known`: for deployments and aliases whose names do not
    /// say what stands behind them.
    ///
    /// ```
    /// use backstop_core::Provider;
    /// use backstop_openai::OpenAi;
    ///
    /// let azure = OpenAi::azure("https://acme.openai.azure.com")
    ///     .api_key("0123456789abcdef")
    ///     .model_like("invoices-prod", "gpt-5.2")
    ///     .build()?;
    /// assert_eq!(azure.capabilities("invoices-prod").context_window, Some(400_000));
    /// # Ok::<(), backstop_core::ConfigError>(())
    /// ```
    pub fn model_like(mut self, prefix: impl Into<String>, known: impl Into<String>) -> Self {
        self.rules.push((prefix.into(), Rule::Like(known.into())));
        self
    }

    /// Whether streams are asked for token counts. Some compatible servers reject the question.
    pub fn stream_usage(mut self, yes: bool) -> Self {
        self.own.stream_usage = Some(yes);
        self
    }

    /// A parameter that the server does not take, by OpenAI's name for it. Where a request has it, it is left out and
    /// noted.
    pub fn leave_out(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.own.lacks.push(param.into());
        self
    }

    /// A field that the body of every request has, unless the request sets it.
    pub fn body_field(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        self.own.body.push((name.into(), value.into()));
        self
    }

    /// What a status means at this server where neither a code nor a text says what happened.
    pub fn status_means(mut self, status: u16, kind: FailureKind) -> Self {
        self.own.statuses.push((status, kind));
        self
    }
}

/// Building.
impl OpenAiBuilder {
    /// Builds the provider with what the environment says: the preset's variables for the key and the base URL, and
    /// for OpenAI `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`. What has been set here comes before it. No key is needed
    /// where the base URL names another server than the vendor's.
    ///
    /// # Errors
    /// The key is needed and not set, or a setting cannot work.
    pub fn from_env(self) -> Result<OpenAi, ConfigError> {
        self.from_env_with(process_env)
    }

    /// The same with another environment: `env` looks a variable up.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_env_with(mut self, env: impl Fn(&str) -> Option<String>) -> Result<OpenAi, ConfigError> {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let preset = self.preset.unwrap_or(Preset::OPENAI);
        if let Some(variable) = preset.base_url_variable {
            self.connect = self.connect.base_url_from_env(variable, &env);
        }
        if let (false, Some(variable)) = (self.connect.has_key(), preset.key_variable) {
            if self.needs_key(&preset) || set(variable).is_some() {
                self.connect = self.connect.checked_key(ApiKey::from_env_with(variable, &env)?);
            }
        }
        if self.preset.is_none() {
            self.organization = self.organization.or_else(|| set("OPENAI_ORG_ID"));
            self.project = self.project.or_else(|| set("OPENAI_PROJECT_ID"));
        }
        self.build()
    }

    /// Builds the provider.
    ///
    /// # Errors
    /// A setting cannot work; the error names it. No secret is printed.
    pub fn build(self) -> Result<OpenAi, ConfigError> {
        let elsewhere = self.is_elsewhere(&Preset::OPENAI);
        let preset = self.preset.unwrap_or(if elsewhere { Preset::COMPATIBLE } else { Preset::OPENAI });
        let base = self.base(&preset)?;
        if self.needs_key(&preset) {
            self.connect.require_key(preset.key_variable.unwrap_or("the vendor's variable"))?;
        }
        let by_preset =
            || preset.key_header.map_or(Auth::Bearer, |header| Auth::Header(Cow::Borrowed(header)));
        let endpoint = self.connect.open(preset.name, base)?;
        let mut endpoint = match self.auth.unwrap_or_else(by_preset) {
            Auth::Bearer => endpoint.with_key_in("authorization", "Bearer ")?,
            Auth::Header(name) => endpoint.with_key_in(&name, "")?,
        };
        add_account(&mut endpoint.headers, self.organization, self.project)?;
        Ok(OpenAi(Arc::new(Inner {
            api: self.api,
            server: Server::new(endpoint.name.clone(), &preset, self.own),
            endpoint,
            developer_role: preset.developer_role,
            base_traits: self.base_traits.unwrap_or(preset.traits),
            rules: self.rules,
        })))
    }

    /// Whether the base URL names another server than the preset's own.
    fn is_elsewhere(&self, preset: &Preset) -> bool {
        preset.base_url.is_some_and(|own| self.connect.is_elsewhere(own))
    }

    fn needs_key(&self, preset: &Preset) -> bool {
        preset.key_required && !self.is_elsewhere(preset)
    }

    fn base(&self, preset: &Preset) -> Result<BaseUrl, ConfigError> {
        if self.connect.place().or(preset.base_url).is_none() {
            let why = format!("is missing: {} has no address of its own", preset.name);
            return Err(ConfigError::setting("base_url", why));
        }
        let url = self.connect.base(preset.base_url.unwrap_or_default())?;
        let base = [Api::Chat, Api::Responses]
            .iter()
            .fold(url, |base, api| base.without_endpoint(api.path()))
            .with_default_path(preset.default_path);
        Ok(match &self.api_version {
            Some(version) => base.with_query("api-version", version),
            None => base,
        })
    }
}

fn add_account(
    headers: &mut HeaderMap,
    organization: Option<String>,
    project: Option<String>,
) -> Result<(), ConfigError> {
    for (setting, header, value) in
        [("organization", "openai-organization", organization), ("project", "openai-project", project)]
    {
        if let Some(value) = value {
            let value = HeaderValue::from_str(&value)
                .map_err(|_| ConfigError::setting(setting, "cannot be sent in a header"))?;
            headers.insert(header, value);
        }
    }
    Ok(())
}
