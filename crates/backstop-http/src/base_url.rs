//! Where a provider is reached, and how a path is put behind it.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use backstop_core::ConfigError;
use reqwest::Url;

/// The base URL of a provider. A path and a query in it are kept: `https://host/openai?api-version=1` works.
///
/// ```
/// use backstop_http::BaseUrl;
///
/// let base = BaseUrl::parse("https://gateway.example/llm/v1/?tenant=a")?;
/// assert_eq!(base.join(&["chat", "completions"]).as_str(), "https://gateway.example/llm/v1/chat/completions?tenant=a");
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct BaseUrl {
    url: Url,
    /// The path that was put behind it first, and the outcome: most providers have one for all requests.
    first: Arc<OnceLock<(Vec<String>, Url)>>,
}

impl PartialEq for BaseUrl {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for BaseUrl {}

impl BaseUrl {
    /// Reads an absolute `http` or `https` URL.
    ///
    /// # Errors
    /// It is relative, has another scheme, or holds a user or a password.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::parse_setting("base_url", text)
    }

    /// The same for a URL that stands in another setting, such as an environment variable, which the error names.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_setting(setting: &'static str, text: &str) -> Result<Self, ConfigError> {
        let fault = |why: String| ConfigError::setting(setting, why);
        // The text is not shown: it may hold a password and cannot be taken apart.
        let mut url = Url::parse(text.trim())
            .map_err(|error| fault(format!("is not a URL ({error}); write it like https://host/path")))?;
        url.set_fragment(None);
        let base = Self::at(url);
        if !matches!(base.url.scheme(), "http" | "https") || !base.url.has_host() {
            return Err(fault("is not an http or https URL; write it like https://host/path".to_owned()));
        }
        if !base.url.username().is_empty() || base.url.password().is_some() {
            return Err(fault(
                "holds a user or a password; pass credentials as a key or a header".to_owned(),
            ));
        }
        Ok(base)
    }

    /// This URL with `path` behind it if it has no path of its own, as in `https://host` for `https://host/v1`.
    pub fn with_default_path(self, path: &[&str]) -> Self {
        if matches!(self.url.path(), "" | "/") { Self::at(self.joined(path)) } else { self }
    }

    /// This URL without `path` at its end: people paste the whole address of an endpoint.
    #[must_use]
    pub fn without_endpoint(self, path: &[&str]) -> Self {
        let mut url = self.url;
        let end: String = path.iter().map(|segment| format!("/{segment}")).collect();
        let own = url.path();
        if let Some(rest) = own.strip_suffix('/').unwrap_or(own).strip_suffix(&end) {
            let rest = rest.to_owned();
            url.set_path(&rest);
        }
        Self::at(url)
    }

    /// This URL with `name=value` in its query, instead of what it has under that name.
    pub fn with_query(self, name: &str, value: &str) -> Self {
        let mut url = self.url;
        let others: Vec<(String, String)> =
            url.query_pairs().filter(|(known, _)| known != name).map(|(k, v)| (k.into(), v.into())).collect();
        url.query_pairs_mut().clear().extend_pairs(others).append_pair(name, value);
        Self::at(url)
    }

    /// This URL with `segments` behind its path. Each is one segment: a `/` or `..` in it is encoded.
    pub fn join(&self, segments: &[&str]) -> Url {
        if let Some((path, url)) = self.first.get() {
            if path.iter().eq(segments) {
                return url.clone();
            }
        }
        let url = self.joined(segments);
        if !segments.is_empty() {
            self.first
                .get_or_init(|| (segments.iter().map(|&segment| segment.to_owned()).collect(), url.clone()));
        }
        url
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn host(&self) -> Option<&str> {
        self.url.host_str()
    }

    fn at(url: Url) -> Self {
        Self { url, first: Arc::default() }
    }

    fn joined(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            // `http` and `https` URLs always have a path, so this is no branch that could be missed.
            path.pop_if_empty().extend(segments);
        }
        url
    }
}

/// Without the query, which may hold a credential.
impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.url.clone();
        url.set_query(None);
        // Both fail only for URLs that cannot hold a user at all.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        f.write_str(url.as_str())
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_its_own_outcome() {
        let base = BaseUrl::parse("http://h/v1").unwrap();
        for (path, expected) in [("a", "http://h/v1/a"), ("b", "http://h/v1/b"), ("a", "http://h/v1/a")] {
            assert_eq!(base.join(&[path]).as_str(), expected);
        }
        assert_eq!(base.with_query("k", "v").join(&["a"]).as_str(), "http://h/v1/a?k=v");
    }

    #[test]
    fn paths_are_put_behind_the_base() {
        let table = [
            ("http://h", "http://h/v1/chat"),
            ("http://h/", "http://h/v1/chat"),
            ("http://h/v1", "http://h/v1/chat"),
            ("http://h/v1/", "http://h/v1/chat"),
            ("http://h/api/v1", "http://h/api/v1/chat"),
            (
                "http://h/openai/deployments/x?api-version=1",
                "http://h/openai/deployments/x/chat?api-version=1",
            ),
            ("  https://h:8443/v1#part ", "https://h:8443/v1/chat"),
            ("http://[::1]:11434", "http://[::1]:11434/v1/chat"),
        ];
        for (base, expected) in table {
            let url = BaseUrl::parse(base).unwrap().with_default_path(&["v1"]).join(&["chat"]);
            assert_eq!(url.as_str(), expected, "{base}");
        }
    }

    #[test]
    fn the_address_of_an_endpoint_is_taken_for_that_of_its_api() {
        let table = [
            ("http://h/v1/chat/completions", "http://h/v1"),
            ("http://h/v1/chat/completions/?a=b", "http://h/v1?a=b"),
            ("http://h/chat/completions", "http://h/"),
            ("http://h/v1/", "http://h/v1/"),
            ("http://h/mychat/completions", "http://h/mychat/completions"),
        ];
        for (base, expected) in table {
            let base = BaseUrl::parse(base).unwrap().without_endpoint(&["chat", "completions"]);
            assert_eq!(base, BaseUrl::parse(expected).unwrap());
        }
    }

    #[test]
    fn a_query_is_added_or_replaced() {
        let with =
            |base: &str| BaseUrl::parse(base).unwrap().with_query("v", "1 &2").join(&["x"]).to_string();
        assert_eq!(with("http://h/a"), "http://h/a/x?v=1+%262");
        assert_eq!(with("http://h/a?k=l&v=0"), "http://h/a/x?k=l&v=1+%262");
    }

    #[test]
    fn a_segment_stays_one_segment() {
        let base = BaseUrl::parse("http://h/v1beta/models").unwrap();
        let table = [
            ("llama3:8b", "http://h/v1beta/models/llama3:8b"),
            ("a/b?c#d", "http://h/v1beta/models/a%2Fb%3Fc%23d"),
            ("é x", "http://h/v1beta/models/%C3%A9%20x"),
        ];
        for (segment, expected) in table {
            assert_eq!(base.join(&[segment]).as_str(), expected);
        }
    }

    #[test]
    fn what_cannot_be_a_base_is_refused_without_printing_secrets() {
        for text in [
            "",
            "h/v1",
            "ftp://h",
            "file:///x",
            "mailto:a@b",
            "http://",
            "http://me:hush@h",
            "me:hush@h",
            "http://hush@h",
        ] {
            let error = BaseUrl::parse(text).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(shown.contains("base_url") && !shown.contains("hush"), "{shown}");
        }
    }

    #[test]
    fn printing_leaves_out_the_query() {
        let base = BaseUrl::parse("https://h/v1?key=hush").unwrap();
        assert_eq!(
            (base.to_string(), format!("{base:?}")),
            ("https://h/v1".into(), "BaseUrl(https://h/v1)".into())
        );
    }
}
