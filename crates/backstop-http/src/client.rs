//! The HTTP client under an adapter and its settings.

use std::time::Duration;

use backstop_core::ConfigError;
use reqwest::{Client, ClientBuilder, Proxy, redirect};

use crate::{
    connections::Connections,
    header::{HeaderMap, HeaderName, HeaderValue},
    lines::StreamLimits,
};

/// Settings of the HTTP client under an adapter.
///
/// | setting | default | reason |
/// | --- | --- | --- |
/// | [`connect_timeout`](Self::connect_timeout) | 5 s | a host that does not answer by then is down; the attempt's own timeout covers the rest |
/// | [`body_limit`](Self::body_limit) | 16 MiB | far above any answer, below a memory problem |
/// | [`event_limit`](Self::event_limit) | 4 MiB | the same for one event of a stream |
/// | [`error_body_wait`](Self::error_body_wait) | 2 s | the status of an error says enough; its body may never end |
/// | [`pool_idle_timeout`](Self::pool_idle_timeout) | 50 s | load balancers commonly drop idle connections after 60 s |
/// | [`user_agent`](Self::user_agent) | `backstop/<version>` | vendors ask for one |
/// | proxy | from the environment (`HTTPS_PROXY`, `NO_PROXY`, …) | as `curl` does it |
///
/// Two things cannot be set: redirects are not followed, because they would carry the API key and the prompt to
/// another place, and the client never retries, because whether to retry is the chain's decision.
///
/// ```
/// use std::time::Duration;
/// use backstop_http::ClientOptions;
///
/// let client = ClientOptions::new().connect_timeout(Duration::from_secs(2)).no_proxy().build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "options do nothing until an adapter is built with them"]
pub struct ClientOptions {
    client: Option<Client>,
    connect_timeout: Duration,
    pool_idle_timeout: Duration,
    body_limit: usize,
    event_limit: usize,
    error_body_wait: Duration,
    user_agent: String,
    headers: Vec<(String, Hidden)>,
    proxy: ProxyChoice,
    roots: Vec<Hidden>,
    tls: Option<Tls>,
}

/// A value that `Debug` leaves out: a header or a proxy's address may hold a credential.
#[derive(Clone)]
struct Hidden(Vec<u8>);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

#[derive(Clone, Debug)]
enum ProxyChoice {
    Environment,
    None,
    Url(Hidden),
}

/// Which TLS implementation to use, where the build has more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tls {
    /// rustls with the platform's certificate verifier.
    #[cfg(feature = "rustls")]
    Rustls,
    /// The platform's own TLS.
    #[cfg(feature = "native-tls")]
    Native,
}

impl Default for ClientOptions {
    fn default() -> Self {
        let limits = StreamLimits::default();
        Self {
            client: None,
            connect_timeout: Duration::from_secs(5),
            pool_idle_timeout: Duration::from_secs(50),
            body_limit: limits.total,
            event_limit: limits.event,
            error_body_wait: Duration::from_secs(2),
            user_agent: concat!("backstop/", env!("CARGO_PKG_VERSION")).to_owned(),
            headers: Vec::new(),
            proxy: ProxyChoice::Environment,
            roots: Vec::new(),
            tls: None,
        }
    }
}

impl ClientOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses a client of your own; only [`body_limit`](Self::body_limit), [`event_limit`](Self::event_limit) and
    /// [`error_body_wait`](Self::error_body_wait) count beside it.
    ///
    /// It brings its own redirect and retry policies: build it with `redirect::Policy::none()` and `retry::never()`.
    /// Its retries multiply with the chain's, and a redirect that it follows to another host sends the prompt there,
    /// and any key that is not in `authorization`. The type belongs to `reqwest`, which is older than its
    /// 1.0: this method follows its major versions.
    pub fn reqwest_client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    /// How long DNS, TCP and TLS may take together.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long an idle connection is kept for the next request.
    pub fn pool_idle_timeout(mut self, timeout: Duration) -> Self {
        self.pool_idle_timeout = timeout;
        self
    }

    /// The most bytes of a response's body, or of a whole stream. A larger one is an error.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// The most bytes of one event of a stream. A larger one is an error.
    pub fn event_limit(mut self, bytes: usize) -> Self {
        self.event_limit = bytes;
        self
    }

    /// How long the body of an error is waited for after its status has come. What has not come by then is left: the
    /// failure is then what status, headers and the rest of the body say, and not a timeout.
    pub fn error_body_wait(mut self, wait: Duration) -> Self {
        self.error_body_wait = wait;
        self
    }

    /// The `User-Agent` header.
    pub fn user_agent(mut self, text: impl Into<String>) -> Self {
        self.user_agent = text.into();
        self
    }

    /// A header for every request. Its value is treated as a secret.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Hidden(value.into().into_bytes())));
        self
    }

    /// Sends everything through this proxy (`http://`, `https://`; a user and a password may stand in it) instead
    /// of the one that the environment names.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = ProxyChoice::Url(Hidden(url.into().into_bytes()));
        self
    }

    /// Uses no proxy, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxy = ProxyChoice::None;
        self
    }

    /// Trusts these certificates (PEM, one or more) beside the platform's own.
    pub fn root_certificates_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots.push(Hidden(pem.into()));
        self
    }

    /// Which TLS implementation to use. Default: rustls if the build has it.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Builds the client. Adapters share its connections if they share the client, or clones of it.
    ///
    /// # Errors
    /// A setting cannot work; the error names it.
    pub fn build(self) -> Result<HttpClient, ConfigError> {
        for (setting, bytes) in [("body_limit", self.body_limit), ("event_limit", self.event_limit)] {
            if bytes == 0 {
                return Err(ConfigError::setting(setting, "is 0; no answer fits into it"));
            }
        }
        let limits = StreamLimits::new(self.event_limit, self.body_limit);
        let error_wait = self.error_body_wait;
        if let Some(client) = self.client {
            return Ok(HttpClient { client, limits, error_wait, connections: None });
        }
        let connections = Connections::default();
        let client =
            self.client_builder()?.connector_layer(connections.clone()).build().map_err(|error| {
                ConfigError::caused(
                    "client",
                    "cannot be built; check certificates, proxy and TLS",
                    error.without_url(),
                )
            })?;
        Ok(HttpClient { client, limits, error_wait, connections: Some(connections) })
    }

    fn client_builder(self) -> Result<ClientBuilder, ConfigError> {
        if self.connect_timeout.is_zero() {
            return Err(ConfigError::setting(
                "connect_timeout",
                "is 0; no connection can be made in that time",
            ));
        }
        let user_agent = HeaderValue::from_str(&self.user_agent)
            .map_err(|_| ConfigError::setting("user_agent", "cannot be sent in a header"))?;
        let builder = Client::builder()
            .redirect(redirect::Policy::none())
            // reqwest sends a request again by itself after some HTTP/2 refusals.
            .retry(reqwest::retry::never())
            .connect_timeout(self.connect_timeout)
            .pool_idle_timeout(self.pool_idle_timeout)
            .user_agent(user_agent)
            .referer(false)
            .default_headers(headers(self.headers)?);
        let builder = match &self.proxy {
            ProxyChoice::Environment => builder,
            ProxyChoice::None => builder.no_proxy(),
            ProxyChoice::Url(url) => builder.proxy(proxy(url)?),
        };
        with_tls(builder, &self.roots, self.tls)
    }
}

fn headers(pairs: Vec<(String, Hidden)>) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let key = HeaderName::from_bytes(name.as_bytes());
        let (Ok(key), Ok(mut value)) = (key, HeaderValue::from_bytes(&value.0)) else {
            return Err(ConfigError::setting(
                "header",
                format!("{name:?} cannot be sent: not a header name or value"),
            ));
        };
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}

fn proxy(url: &Hidden) -> Result<Proxy, ConfigError> {
    // No cause is attached: it may quote the address, and that a password.
    let fault = || ConfigError::setting("proxy", "is not a proxy URL; write it like http://host:port");
    let text = std::str::from_utf8(&url.0).map_err(|_| fault())?;
    Proxy::all(text).map_err(|_| fault())
}

#[cfg(any(feature = "rustls", feature = "native-tls"))]
fn with_tls(
    mut builder: ClientBuilder,
    roots: &[Hidden],
    tls: Option<Tls>,
) -> Result<ClientBuilder, ConfigError> {
    for pem in roots {
        let certificates = reqwest::Certificate::from_pem_bundle(&pem.0)
            .ok()
            .filter(|certificates| !certificates.is_empty())
            .ok_or_else(|| {
                ConfigError::setting("root_certificates_pem", "holds no certificate in PEM form")
            })?;
        builder = builder.tls_certs_merge(certificates);
    }
    // Features of the whole build may add the other backend: ours is named, so that it stays what it was.
    #[cfg(feature = "rustls")]
    let default = Tls::Rustls;
    #[cfg(not(feature = "rustls"))]
    let default = Tls::Native;
    Ok(match tls.unwrap_or(default) {
        #[cfg(feature = "rustls")]
        Tls::Rustls => builder.tls_backend_rustls(),
        #[cfg(feature = "native-tls")]
        Tls::Native => builder.tls_backend_native(),
    })
}

#[cfg(not(any(feature = "rustls", feature = "native-tls")))]
fn with_tls(
    builder: ClientBuilder,
    roots: &[Hidden],
    tls: Option<Tls>,
) -> Result<ClientBuilder, ConfigError> {
    match tls {
        Some(tls) => match tls {},
        None if roots.is_empty() => Ok(builder),
        None => {
            Err(ConfigError::setting("root_certificates_pem", "needs the feature `rustls` or `native-tls`"))
        }
    }
}

/// A client with its limits. Cloning shares its connections.
#[derive(Clone, Debug)]
pub struct HttpClient {
    pub(crate) client: Client,
    pub(crate) limits: StreamLimits,
    pub(crate) error_wait: Duration,
    /// Not counted for a client of the caller's own.
    pub(crate) connections: Option<Connections>,
}

impl HttpClient {
    /// Whether it can ask a server over `https`. Of a client of the caller's own that is not known, and believed.
    pub(crate) fn has_tls(&self) -> bool {
        cfg!(any(feature = "rustls", feature = "native-tls")) || self.connections.is_none()
    }

    /// The limits that its responses are held to.
    pub fn limits(&self) -> StreamLimits {
        self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_named_and_secrets_are_not_printed() {
        let table: Vec<(ClientOptions, &str)> = vec![
            (ClientOptions::new().connect_timeout(Duration::ZERO), "connect_timeout"),
            (ClientOptions::new().body_limit(0), "body_limit"),
            (ClientOptions::new().event_limit(0), "event_limit"),
            (ClientOptions::new().user_agent("a\nb"), "user_agent"),
            (ClientOptions::new().header("x y", "hush"), "header"),
            (ClientOptions::new().header("x-key", "hush\n"), "header"),
            (ClientOptions::new().proxy("::hush"), "proxy"),
            #[cfg(feature = "rustls")]
            (ClientOptions::new().root_certificates_pem("hush"), "root_certificates_pem"),
        ];
        for (options, setting) in table {
            let shown = format!("{options:?}");
            assert!(!shown.contains("hush"), "{shown}");
            let error = options.build().unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(&format!("`{setting}`")) && !shown.contains("hush"), "{shown}");
        }
    }

    #[test]
    fn a_proxy_with_a_password_is_taken_and_hidden() {
        let options = ClientOptions::new().proxy("http://me:hush@127.0.0.1:9").header("x-key", "hush");
        assert!(!format!("{options:?}").contains("hush"));
        let client = options.build().unwrap();
        assert!(!format!("{client:?}").contains("hush"), "{client:?}");
    }
}
