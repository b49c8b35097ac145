//! Where an adapter sends its requests, with which key and over which client: the settings that all builders share, and
//! what is made of them.

use std::{borrow::Cow, fmt};

use backstop_core::{ConfigError, CredentialId};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    base_url::BaseUrl,
    client::{ClientOptions, HttpClient},
    exchange::Post,
    header::{HeaderMap, HeaderName},
    secret::ApiKey,
};

/// The settings that the builders of all adapters share. [`connect_settings!`](crate::connect_settings) gives a
/// builder their methods.
#[derive(Clone, Debug, Default)]
#[must_use = "settings do nothing until an endpoint is made of them"]
pub struct Connect {
    name: Option<Cow<'static, str>>,
    base_url: Option<String>,
    /// The environment variable that the base URL is from.
    base_url_from: Option<&'static str>,
    key: Option<Key>,
    http: Option<HttpClient>,
    options: ClientOptions,
}

#[derive(Clone, Debug)]
enum Key {
    /// Checked when the endpoint is made, so that setting it cannot fail.
    Given(SecretString),
    Checked(ApiKey),
}

impl Connect {
    /// No settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name in reports and metrics.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where the API is.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self.base_url_from = None;
        self
    }

    /// Where the API is by this variable of an environment, unless it was set before. `env` looks a variable up; an
    /// error will name it.
    pub fn base_url_from_env(
        mut self,
        variable: &'static str,
        env: impl FnOnce(&str) -> Option<String>,
    ) -> Self {
        if self.base_url.is_none() {
            self.base_url = env(variable).filter(|url| !url.trim().is_empty());
            self.base_url_from = self.base_url.is_some().then_some(variable);
        }
        self
    }

    /// The key. It is checked by [`open`](Self::open).
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Key::Given(SecretString::from(key.into())));
        self
    }

    /// A key that was checked, as from the environment.
    pub fn checked_key(mut self, key: ApiKey) -> Self {
        self.key = Some(Key::Checked(key));
        self
    }

    /// Settings of the HTTP client.
    pub fn client(mut self, options: ClientOptions) -> Self {
        self.options = options;
        self
    }

    /// An HTTP client that others share. Settings of a client do not count then.
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.http = Some(client);
        self
    }

    /// The base URL, if it was set.
    pub fn place(&self) -> Option<&str> {
        self.base_url.as_deref()
    }

    /// The base URL, or `official` if none was set.
    ///
    /// # Errors
    /// It cannot be one. The error names the setting or the environment variable.
    pub fn base(&self, official: &str) -> Result<BaseUrl, ConfigError> {
        BaseUrl::parse_setting(self.base_url_from.unwrap_or("base_url"), self.place().unwrap_or(official))
    }

    /// Whether the base URL was set and is not on the host of `official`, so that the vendor's key may not be needed
    /// there. One that cannot be read is not, either.
    pub fn is_elsewhere(&self, official: &str) -> bool {
        let host = |base: BaseUrl| base.host().map(str::to_owned);
        let official = BaseUrl::parse(official).ok().and_then(host);
        self.base_url.is_some() && self.base("").ok().and_then(host) != official
    }

    /// Whether there is a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Says that a key is missing, and where it may stand.
    ///
    /// # Errors
    /// There is none.
    pub fn require_key(&self, variable: &str) -> Result<(), ConfigError> {
        if self.has_key() {
            return Ok(());
        }
        let why = format!("is missing: pass a key, or set {variable} and use `from_env`");
        Err(ConfigError::setting("api_key", why))
    }

    /// The endpoint at `base`, which is called `name` if no name was set. The key is not sent yet: see
    /// [`Endpoint::with_key_in`].
    ///
    /// # Errors
    /// A setting cannot work; the error names it. No secret is printed.
    pub fn open(self, name: &'static str, base: BaseUrl) -> Result<Endpoint, ConfigError> {
        let name = self.name.unwrap_or(Cow::Borrowed(name));
        if name.is_empty() {
            return Err(ConfigError::setting("name", "is empty; reports need a name"));
        }
        let key = match self.key {
            None => None,
            Some(Key::Checked(key)) => Some(key),
            Some(Key::Given(key)) => Some(ApiKey::new(key.expose_secret())?),
        };
        let http = self.http.map_or_else(|| self.options.build(), Ok)?;
        reachable(&base, http.has_tls(), self.base_url_from)?;
        let instance = format!("{name} {base}");
        Ok(Endpoint { name, base, http, key, headers: HeaderMap::new(), instance })
    }
}

fn reachable(base: &BaseUrl, tls: bool, from: Option<&'static str>) -> Result<(), ConfigError> {
    if tls || !base.is_https() {
        return Ok(());
    }
    let why = "is https, and this build has no TLS: enable the feature `rustls` or `native-tls`";
    Err(ConfigError::setting(from.unwrap_or("base_url"), why))
}

/// A vendor's API at one place, with one key.
#[derive(Clone)]
#[non_exhaustive]
pub struct Endpoint {
    /// The name in reports and metrics.
    pub name: Cow<'static, str>,
    /// Where the API is.
    pub base: BaseUrl,
    /// What requests are sent with.
    pub http: HttpClient,
    /// The key.
    pub key: Option<ApiKey>,
    /// What every request has in its head.
    pub headers: HeaderMap,
    instance: String,
}

impl Endpoint {
    /// Sends the key, if there is one, in this header, with `before` before it.
    ///
    /// # Errors
    /// That is not the name of a header.
    pub fn with_key_in(mut self, header: &str, before: &str) -> Result<Self, ConfigError> {
        let Some(key) = &self.key else { return Ok(self) };
        let name = HeaderName::from_bytes(header.as_bytes()).map_err(|_| {
            ConfigError::setting("auth", format!("names {header:?}, which is not a header name"))
        })?;
        self.headers.insert(name, key.header(before)?);
        Ok(self)
    }

    /// Name and place, which tell it from others.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// What tells its key from others.
    pub fn credential(&self) -> CredentialId {
        self.key.as_ref().map(ApiKey::credential_id).unwrap_or_default()
    }

    /// A request to a path behind the base URL.
    pub fn post(&self, path: &[&str], body: Vec<u8>) -> Post {
        Post::new(self.base.join(path), body).with_headers(self.headers.clone())
    }
}

/// Without its key and headers.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("base_url", &self.base)
            .finish_non_exhaustive()
    }
}

/// The methods of a builder for the settings in its field `connect`, a [`Connect`]. What is said before the builder's
/// name is said about its base URL.
#[macro_export]
macro_rules! connect_settings {
    ($(#[$place:meta])* $builder:ident) => {
        /// Which server, and how it is reached.
        impl $builder {
            /// The name in reports and metrics, for telling servers apart.
            pub fn name(mut self, name: impl Into<std::borrow::Cow<'static, str>>) -> Self {
                self.connect = self.connect.name(name);
                self
            }

            $(#[$place])*
            pub fn base_url(mut self, url: impl Into<String>) -> Self {
                self.connect = self.connect.base_url(url);
                self
            }

            /// The key. It is checked by [`build`](Self::build).
            pub fn api_key(mut self, key: impl Into<String>) -> Self {
                self.connect = self.connect.api_key(key);
                self
            }

            /// Settings of the HTTP client.
            pub fn client(mut self, options: $crate::ClientOptions) -> Self {
                self.connect = self.connect.client(options);
                self
            }

            /// An HTTP client that other providers share.
            pub fn http_client(mut self, client: $crate::HttpClient) -> Self {
                self.connect = self.connect.http_client(client);
                self
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-hush-0123456789";

    fn base() -> BaseUrl {
        BaseUrl::parse("http://h/v1").unwrap()
    }

    #[test]
    fn an_endpoint_has_the_settings_and_hides_the_key() {
        let endpoint = Connect::new().api_key(KEY).open("vendor", base()).unwrap();
        assert_eq!((endpoint.name.as_ref(), endpoint.instance()), ("vendor", "vendor http://h/v1"));
        let own = Connect::new().name("mine").open("vendor", base()).unwrap();
        assert_eq!((own.instance(), own.credential()), ("mine http://h/v1", CredentialId::default()));
        assert_ne!(endpoint.credential(), own.credential());
        assert!(own.with_key_in("x-key", "").unwrap().headers.is_empty());
        let endpoint = endpoint.with_key_in("Authorization", "Bearer ").unwrap();
        let post = endpoint.post(&["chat"], Vec::new());
        assert_eq!(post.url.as_str(), "http://h/v1/chat");
        assert_eq!(post.headers["authorization"], format!("Bearer {KEY}"));
        assert!(!format!("{endpoint:?} {post:?}").contains("hush"));
    }

    #[test]
    fn without_tls_only_http_is_reached() {
        let https = BaseUrl::parse("https://h/v1").unwrap();
        assert!(reachable(&base(), false, None).is_ok() && reachable(&https, true, None).is_ok());
        let error = reachable(&https, false, None).unwrap_err().to_string();
        assert!(
            error.starts_with("`base_url` is https") && error.contains("`rustls` or `native-tls`"),
            "{error}"
        );
        let error = reachable(&https, false, Some("VENDOR_URL")).unwrap_err().to_string();
        assert!(error.starts_with("`VENDOR_URL` is https"), "{error}");
        let built = Connect::new().open("vendor", https.clone());
        assert_eq!(built.is_ok(), cfg!(any(feature = "rustls", feature = "native-tls")));
        let own = reqwest::Client::builder().build().unwrap();
        let own = Connect::new().client(ClientOptions::new().reqwest_client(own));
        assert!(own.open("vendor", https).is_ok());
    }

    #[test]
    fn a_place_from_the_environment_is_named_by_its_variable() {
        let env = |url: &'static str| move |name: &str| (name == "VENDOR_URL").then(|| url.to_owned());
        let from_env = |url| Connect::new().base_url_from_env("VENDOR_URL", env(url));
        let error = from_env("h:x").base("https://vendor").unwrap_err().to_string();
        assert!(error.starts_with("`VENDOR_URL` is not "), "{error}");
        let own = Connect::new().base_url("here").base_url_from_env("VENDOR_URL", env("http://h"));
        assert!(own.base("").unwrap_err().to_string().starts_with("`base_url` "));
        assert_eq!(from_env(" ").place(), None);
        for (url, elsewhere) in
            [("https://vendor/v2", false), ("http://vendor", false), ("http://h", true), ("nonsense", true)]
        {
            assert_eq!(from_env(url).is_elsewhere("https://vendor/v1"), elsewhere, "{url}");
        }
        assert!(!Connect::new().is_elsewhere("https://vendor/v1"));
    }

    #[test]
    fn settings_that_cannot_work_are_named() {
        let named = |error: ConfigError, setting: &str| {
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(&format!("`{setting}`")) && !shown.contains("hush"), "{shown}");
        };
        let open = |connect: Connect| connect.open("vendor", base()).unwrap_err();
        named(open(Connect::new().name("")), "name");
        named(open(Connect::new().api_key("hush\n")), "api_key");
        named(open(Connect::new().client(ClientOptions::new().body_limit(0))), "body_limit");
        named(Connect::new().require_key("VENDOR_KEY").unwrap_err(), "api_key");
        assert!(Connect::new().api_key("hush").require_key("VENDOR_KEY").is_ok());
        let keyed = Connect::new().api_key(KEY).open("vendor", base()).unwrap();
        named(keyed.with_key_in("x y", "").unwrap_err(), "auth");
    }
}
