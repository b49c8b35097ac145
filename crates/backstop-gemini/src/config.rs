//! The provider and its settings.

use std::{borrow::Cow, fmt, sync::Arc};

use backstop_core::{ConfigError, Target};
use backstop_http::{ApiKey, Connect, Endpoint, connect_settings, process_env};

use crate::{
    models::{self, ModelTraits},
    options::SafetySetting,
};

const OFFICIAL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// Gemini. Cloning is cheap; clones share their connections.
///
/// ```
/// use backstop_gemini::Gemini;
///
/// let gemini = Gemini::new("AIza0123456789")?;
/// let target = gemini.model("gemini-2.5-flash");
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Gemini(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) endpoint: Endpoint,
    pub(crate) safety: Vec<SafetySetting>,
    base_traits: ModelTraits,
    rules: Vec<(String, ModelTraits)>,
}

impl Gemini {
    /// Google's Gemini API with this key.
    ///
    /// # Errors
    /// The key cannot be sent in a header.
    pub fn new(key: impl Into<String>) -> Result<Self, ConfigError> {
        Self::builder().api_key(key).build()
    }

    /// Gemini with what the environment says: the key in `GEMINI_API_KEY` or else `GOOGLE_API_KEY`, and if it is set
    /// the base URL in `GOOGLE_GEMINI_BASE_URL`. The key may be left out where the base URL names another server.
    ///
    /// # Errors
    /// A key is needed and there is none, or a value cannot work.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_env_with(process_env)
    }

    /// The same with another environment: `env` looks a variable up.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_env_with(env: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let variable = ["GEMINI_API_KEY", "GOOGLE_API_KEY"].into_iter().find(|name| set(name).is_some());
        let mut builder = Self::builder();
        builder.connect = builder.connect.base_url_from_env("GOOGLE_GEMINI_BASE_URL", set);
        if variable.is_some() || !builder.connect.is_elsewhere(OFFICIAL) {
            let key = ApiKey::from_env_with(variable.unwrap_or("GEMINI_API_KEY"), set)?;
            builder.connect = builder.connect.checked_key(key);
        }
        builder.build()
    }

    /// All settings.
    pub fn builder() -> GeminiBuilder {
        GeminiBuilder::default()
    }

    /// A target: this server with one of its models, named with or without `models/` before it.
    pub fn model(&self, model: impl Into<Cow<'static, str>>) -> Target {
        Target::new(Arc::new(self.clone()), model)
    }

    pub(crate) fn traits(&self, model: &str) -> ModelTraits {
        let name = models::plain_name(model);
        let own = self.0.rules.iter().rev().find(|(prefix, _)| models::belongs(name, prefix));
        own.map_or_else(|| models::traits_of(name, self.0.base_traits), |(_, traits)| *traits)
    }
}

impl fmt::Debug for Gemini {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gemini").field("endpoint", &self.0.endpoint).finish_non_exhaustive()
    }
}

/// In which header the key is sent. It never goes into the URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// `x-goog-api-key` (default).
    #[default]
    ApiKey,
    /// `Authorization: Bearer …`, for an OAuth token or a gateway. A token that expires is to be replaced by building
    /// the provider anew.
    Bearer,
}

/// Settings of a [`Gemini`] provider.
///
/// | setting | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | `https://generativelanguage.googleapis.com/v1beta` |
/// | [`api_key`](Self::api_key) | none; needed for the default base URL only |
/// | [`auth`](Self::auth) | the header `x-goog-api-key` |
/// | [`name`](Self::name) | `gemini` |
/// | [`client`](Self::client) | see [`ClientOptions`](crate::ClientOptions) |
/// | [`safety_settings`](Self::safety_settings) | none: those of the model |
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct GeminiBuilder {
    connect: Connect,
    auth: Auth,
    safety: Vec<SafetySetting>,
    base_traits: Option<ModelTraits>,
    rules: Vec<(String, ModelTraits)>,
}

connect_settings! {
    /// Where the API is, up to what comes before `/models/…`. A URL without a path gets `/v1beta`; a query in it is
    /// kept.
    GeminiBuilder
}

/// How models are asked, and building.
impl GeminiBuilder {
    /// In which header the key is sent.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Safety settings of all requests that bring none of their own.
    pub fn safety_settings(mut self, settings: impl IntoIterator<Item = SafetySetting>) -> Self {
        self.safety = settings.into_iter().collect();
        self
    }

    /// How models are asked that nothing is known about.
    pub fn default_traits(mut self, traits: ModelTraits) -> Self {
        self.base_traits = Some(traits);
        self
    }

    /// How models are asked whose names begin with `prefix`. The last rule that fits counts, before all that this
    /// adapter knows.
    pub fn model_traits(mut self, prefix: impl Into<String>, traits: ModelTraits) -> Self {
        self.rules.push((prefix.into(), traits));
        self
    }

    /// Builds the provider.
    ///
    /// # Errors
    /// A setting cannot work; the error names it. No secret is printed.
    pub fn build(self) -> Result<Gemini, ConfigError> {
        let base = self.connect.base(OFFICIAL)?.with_default_path(&["v1beta"]);
        if !self.connect.is_elsewhere(OFFICIAL) {
            self.connect.require_key("GEMINI_API_KEY")?;
        }
        let endpoint = self.connect.open("gemini", base)?;
        let endpoint = match self.auth {
            Auth::ApiKey => endpoint.with_key_in("x-goog-api-key", "")?,
            Auth::Bearer => endpoint.with_key_in("authorization", "Bearer ")?,
        };
        Ok(Gemini(Arc::new(Inner {
            endpoint,
            safety: self.safety,
            base_traits: self.base_traits.unwrap_or_default(),
            rules: self.rules,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static [(&'static str, &'static str)], Result<&'static str, &'static str>);

    #[test]
    fn the_environment_names_key_and_place() {
        let table: &[Row] = &[
            (&[("GEMINI_API_KEY", "key-one")], Ok(OFFICIAL)),
            (&[("GOOGLE_API_KEY", "key-two")], Ok(OFFICIAL)),
            (&[("GEMINI_API_KEY", ""), ("GOOGLE_API_KEY", "key-two")], Ok(OFFICIAL)),
            (
                &[("GEMINI_API_KEY", "key-one"), ("GOOGLE_GEMINI_BASE_URL", "https://gateway.example")],
                Ok("https://gateway.example/v1beta"),
            ),
            (&[], Err("`GEMINI_API_KEY` is not set")),
            (&[("GOOGLE_API_KEY", "two\nlines")], Err("`GOOGLE_API_KEY` contains a line break")),
            (
                &[("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", "ftp://x")],
                Err("`GOOGLE_GEMINI_BASE_URL`"),
            ),
            (&[("GOOGLE_GEMINI_BASE_URL", "http://localhost:9/v1")], Ok("http://localhost:9/v1")),
            (&[("GOOGLE_GEMINI_BASE_URL", OFFICIAL)], Err("`GEMINI_API_KEY` is not set")),
        ];
        for (variables, expected) in table {
            let env = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            match (Gemini::from_env_with(env), expected) {
                (Ok(gemini), Ok(base)) => assert_eq!(gemini.0.endpoint.base.to_string(), *base),
                (Err(error), Err(part)) => assert!(error.to_string().starts_with(part), "{error}"),
                (built, _) => panic!("{variables:?}: {built:?}"),
            }
        }
    }

    #[test]
    fn the_more_specific_variable_wins() {
        let both = |name: &str| name.ends_with("_API_KEY").then(|| name.to_lowercase());
        let gemini = Gemini::from_env_with(both).unwrap();
        assert_eq!(gemini.0.endpoint.headers["x-goog-api-key"].to_str().unwrap(), "gemini_api_key");
    }

    #[test]
    fn a_key_is_needed_for_google_only_and_never_shown() {
        assert!(Gemini::builder().build().unwrap_err().to_string().contains("GEMINI_API_KEY"));
        assert!(Gemini::builder().base_url("http://127.0.0.1:1").build().is_ok());
        assert!(Gemini::builder().base_url("http://127.0.0.1:1").name("").build().is_err());
        let builder = Gemini::builder().api_key("hush-hush-hush").auth(Auth::Bearer);
        let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
        assert!(!shown.contains("hush"), "{shown}");
        let error = Gemini::new("hush-hush\n").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
    }
}
