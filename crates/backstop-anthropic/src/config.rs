//! The provider and its settings.

use std::{borrow::Cow, fmt, sync::Arc};

use backstop_core::{ConfigError, Target};
use backstop_http::{ApiKey, BaseUrl, Connect, Endpoint, connect_settings, header::HeaderValue, process_env};

use crate::models::{self, ModelTraits};

const OFFICIAL_HOST: &str = "api.anthropic.com";
const OFFICIAL: &str = "https://api.anthropic.com";
const OFFICIAL_VERSION: &str = "2026-10-21";
/// The version that other servers know.
const COMMON_VERSION: &str = "2023-06-01";

/// Anthropic, or a server that speaks its Messages API. Cloning is cheap; clones share their connections.
///
/// ```
/// use backstop_anthropic::{Anthropic, Auth};
///
/// let anthropic = Anthropic::new("sk-ant-0123456789")?;
/// let target = anthropic.model("claude-sonnet-4-5");
///
/// // A gateway that wants a bearer token.
/// let gateway = Anthropic::builder()
///     .name("gateway")
///     .base_url("https://llm.example/anthropic")
///     .api_key("token-0123456789")
///     .auth(Auth::Bearer)
///     .build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Anthropic(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) endpoint: Endpoint,
    pub(crate) betas: Vec<String>,
    version: String,
    base_traits: ModelTraits,
    rules: Vec<(String, ModelTraits)>,
}

impl Anthropic {
    /// Anthropic with this key.
    ///
    /// # Errors
    /// The key cannot be sent in a header.
    pub fn new(key: impl Into<String>) -> Result<Self, ConfigError> {
        Self::builder().api_key(key).build()
    }

    /// Anthropic with what the environment says: `ANTHROPIC_API_KEY`, and `ANTHROPIC_BASE_URL` if it is set. The key
    /// may be left out where the base URL names another server.
    ///
    /// # Errors
    /// A key is needed and `ANTHROPIC_API_KEY` is not set, or one of them cannot work.
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
    pub fn builder() -> AnthropicBuilder {
        AnthropicBuilder::default()
    }

    /// A target: this server with one of its models.
    pub fn model(&self, model: impl Into<Cow<'static, str>>) -> Target {
        Target::new(Arc::new(self.clone()), model)
    }

    pub(crate) fn traits(&self, model: &str) -> ModelTraits {
        let inner = &*self.0;
        let own = inner.rules.iter().rev().find(|(prefix, _)| models::belongs(model, prefix));
        own.map_or_else(|| models::traits_of(model, &inner.version, inner.base_traits), |(_, traits)| *traits)
    }
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Anthropic")
            .field("endpoint", &self.0.endpoint)
            .field("version", &self.0.version)
            .finish_non_exhaustive()
    }
}

/// In which header the key is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// `x-api-key` (default), which every version of the API and most proxies take.
    #[default]
    ApiKey,
    /// `Authorization: Bearer …`, for OAuth tokens and gateways.
    Bearer,
    /// The key alone in this header.
    Header(Cow<'static, str>),
}

/// Settings of an [`Anthropic`] provider.
///
/// | setting | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | `https://api.anthropic.com` |
/// | [`api_key`](Self::api_key) | none; needed for the default base URL only |
/// | [`auth`](Self::auth) | `x-api-key` |
/// | [`version`](Self::version) | `2026-10-21` at Anthropic, `2023-06-01` at other base URLs, which may know no later one |
/// | [`name`](Self::name) | `anthropic` |
/// | [`client`](Self::client) | see [`ClientOptions`](crate::ClientOptions) |
/// | [`default_traits`](Self::default_traits) | [`ModelTraits::latest`] at Anthropic, [`ModelTraits::compatible`] at other base URLs |
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct AnthropicBuilder {
    connect: Connect,
    auth: Auth,
    version: Option<String>,
    betas: Vec<String>,
    base_traits: Option<ModelTraits>,
    rules: Vec<(String, ModelTraits)>,
}

connect_settings! {
    /// Where the API is, with or without `/v1` or `/v1/messages` at the end; a query in it is kept.
    AnthropicBuilder
}

/// What the API is to do with requests, and building.
impl AnthropicBuilder {
    /// In which header the key is sent.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// The API version (`anthropic-version`), a date. From `2026-10-21` on no sampling parameters are sent, unless
    /// [`model_traits`](Self::model_traits) says otherwise.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Adds an entry to the `anthropic-beta` header of every request.
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.betas.push(beta.into());
        self
    }

    /// How models are asked that nothing is known about.
    pub fn default_traits(mut self, traits: ModelTraits) -> Self {
        self.base_traits = Some(traits);
        self
    }

    /// How models are asked whose names begin with `prefix`. The last rule that fits counts, before all that this
    /// adapter knows about models and versions.
    pub fn model_traits(mut self, prefix: impl Into<String>, traits: ModelTraits) -> Self {
        self.rules.push((prefix.into(), traits));
        self
    }

    /// Takes key and base URL from an environment.
    fn env(mut self, env: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        self.connect = self.connect.base_url_from_env("ANTHROPIC_BASE_URL", &env);
        let is_set = env("ANTHROPIC_API_KEY").is_some_and(|value| !value.trim().is_empty());
        if is_set || !self.connect.is_elsewhere(OFFICIAL) {
            self.connect = self.connect.checked_key(ApiKey::from_env_with("ANTHROPIC_API_KEY", &env)?);
        }
        Ok(self)
    }

    /// Builds the provider.
    ///
    /// # Errors
    /// A setting cannot work; the error names it. No secret is printed.
    pub fn build(self) -> Result<Anthropic, ConfigError> {
        let base = self.connect.base(OFFICIAL)?.without_endpoint(&["messages"]);
        let url = base.join(&[]);
        let official = url.host_str() == Some(OFFICIAL_HOST);
        let has_version = url.path().trim_end_matches('/').ends_with("/v1");
        let base = if has_version { base } else { BaseUrl::parse(base.join(&["v1"]).as_str())? };
        if !self.connect.is_elsewhere(OFFICIAL) {
            self.connect.require_key("ANTHROPIC_API_KEY")?;
        }
        let defaults = if official {
            (OFFICIAL_VERSION, ModelTraits::latest())
        } else {
            (COMMON_VERSION, ModelTraits::compatible())
        };
        let version = self.version.unwrap_or_else(|| defaults.0.to_owned());
        let endpoint = self.connect.open("anthropic", base)?;
        let mut endpoint = match &self.auth {
            Auth::ApiKey => endpoint.with_key_in("x-api-key", "")?,
            Auth::Bearer => endpoint.with_key_in("authorization", "Bearer ")?,
            Auth::Header(name) => endpoint.with_key_in(name, "")?,
        };
        endpoint.headers.insert("anthropic-version", version_header(&version)?);
        if let Some(beta) = self.betas.iter().find(|beta| !is_token(beta)) {
            return Err(ConfigError::setting(
                "beta",
                format!("names {beta:?}, which cannot be sent in a header"),
            ));
        }
        Ok(Anthropic(Arc::new(Inner {
            endpoint,
            betas: self.betas,
            version,
            base_traits: self.base_traits.unwrap_or(defaults.1),
            rules: self.rules,
        })))
    }
}

fn version_header(version: &str) -> Result<HeaderValue, ConfigError> {
    let sent = Some(version).filter(|version| is_token(version)).map(HeaderValue::from_str);
    sent.and_then(Result::ok).ok_or_else(|| {
        ConfigError::setting("version", "cannot be sent in a header; write it like 2026-10-21")
    })
}

/// Visible ASCII without the comma that separates betas.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
}

#[cfg(test)]
mod tests {
    use backstop_core::Provider;

    use super::*;
    use crate::Sampling;

    const KEY: &str = "sk-hush-0123456789";

    #[test]
    fn messages_go_to_v1_whether_the_base_says_so_or_not() {
        let table = [
            ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
            ("http://h:8080/llm/anthropic?tenant=a", "http://h:8080/llm/anthropic/v1/messages?tenant=a"),
        ];
        for (base, expected) in table {
            let anthropic = Anthropic::builder().base_url(base).api_key(KEY).build().unwrap();
            assert_eq!(anthropic.0.endpoint.base.join(&["messages"]).as_str(), expected);
        }
    }

    #[test]
    fn other_servers_get_the_version_that_they_know() {
        let other = Anthropic::builder().base_url("http://127.0.0.1:1").build().unwrap();
        let official = Anthropic::new(KEY).unwrap();
        let version = |provider: &Anthropic| {
            provider.0.endpoint.headers["anthropic-version"].to_str().unwrap().to_owned()
        };
        assert_eq!((version(&other), version(&official)), (COMMON_VERSION.into(), OFFICIAL_VERSION.into()));
        assert_eq!(other.traits("claude-sonnet-4-5").sampling, Sampling::One);
        assert_eq!(official.traits("claude-sonnet-4-5").sampling, Sampling::Rejected);
        assert_eq!(other.traits("kimi"), ModelTraits::compatible());
        let older = Anthropic::builder().api_key(KEY).version(COMMON_VERSION).build().unwrap();
        assert_eq!(older.traits("claude-sonnet-4-5").sampling, Sampling::One);
    }

    #[test]
    fn the_callers_rule_comes_first() {
        let rule = ModelTraits::latest().sampling(Sampling::Free);
        let anthropic =
            Anthropic::builder().api_key(KEY).model_traits("claude-sonnet", rule).build().unwrap();
        assert_eq!(anthropic.traits("claude-sonnet-4-5"), rule);
        assert_ne!(anthropic.traits("claude-opus-4-5"), rule);
    }

    #[test]
    fn the_environment_is_read() {
        let env = |name: &str| match name {
            "ANTHROPIC_API_KEY" => Some(KEY.to_owned()),
            "ANTHROPIC_BASE_URL" => Some("http://127.0.0.1:1".to_owned()),
            _ => None,
        };
        let anthropic = Anthropic::from_env_with(env).unwrap();
        assert_eq!(anthropic.0.endpoint.instance(), "anthropic http://127.0.0.1:1/v1");
        assert_eq!(anthropic.credential(), Anthropic::new(KEY).unwrap().credential());
        let local = Anthropic::from_env_with(|name| env(name).filter(|value| value != KEY)).unwrap();
        assert_eq!(local.credential(), Default::default());
        let only =
            |url: &'static str| move |name: &str| (name == "ANTHROPIC_BASE_URL").then(|| url.to_owned());
        for error in [
            Anthropic::from_env_with(|_| None).unwrap_err(),
            Anthropic::from_env_with(only(OFFICIAL)).unwrap_err(),
        ] {
            assert!(error.to_string().starts_with("`ANTHROPIC_API_KEY` is not set"), "{error}");
        }
        let error = Anthropic::from_env_with(only("nonsense")).unwrap_err();
        assert!(error.to_string().starts_with("`ANTHROPIC_BASE_URL` is not a URL"), "{error}");
    }

    #[test]
    fn settings_that_cannot_work_are_named_and_secrets_are_not_printed() {
        let builder = || Anthropic::builder().api_key(KEY);
        let table = [
            (Anthropic::builder(), "api_key"),
            (builder().api_key("sk-hush\n"), "api_key"),
            (builder().base_url("ftp://h"), "base_url"),
            (builder().name(""), "name"),
            (builder().version("2026 10"), "version"),
            (builder().beta("a,b"), "beta"),
            (builder().auth(Auth::Header("x y".into())), "auth"),
        ];
        for (builder, setting) in table {
            let shown = format!("{builder:?}");
            assert!(!shown.contains("hush"), "{shown}");
            let error = builder.build().unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(&format!("`{setting}`")) && !shown.contains("hush"), "{shown}");
        }
        let anthropic = builder().build().unwrap();
        assert!(!format!("{anthropic:?}").contains("hush"));
    }
}
