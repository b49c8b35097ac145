//! API keys: checked once, printed never.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use backstop_core::{ConfigError, CredentialId};
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

/// Keys shorter than this are not looked for in texts: `test` would be taken out of every other word.
const SHORTEST_SCRUBBED: usize = 8;
/// Quotes of a shell or a text editor that were copied with a key.
const QUOTES: &[char] = &['"', '\'', '`', '\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}'];
const REDACTED: &str = "[redacted]";

/// An API key. `Debug` shows nothing of it, and its memory is wiped on drop.
///
/// ```
/// use backstop_http::ApiKey;
///
/// let key = ApiKey::new("sk-0123456789")?;
/// assert_eq!(format!("{key:?}"), "ApiKey([redacted])");
/// assert!(ApiKey::new("sk-01234\n").is_err());
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// Takes a key that can be sent in a header: visible ASCII, without a space or a quote at either end, and without
    /// the `Bearer ` that goes before it.
    ///
    /// # Errors
    /// Says what is wrong without printing the key.
    pub fn new(key: impl Into<String>) -> Result<Self, ConfigError> {
        Self::checked("api_key", key.into())
    }

    fn checked(setting: &'static str, key: String) -> Result<Self, ConfigError> {
        let key = SecretString::from(key);
        match fault(key.expose_secret()) {
            None => Ok(Self(key)),
            Some(why) => Err(ConfigError::setting(setting, why)),
        }
    }

    /// The key in the environment variable `variable`, which must be there and not empty.
    ///
    /// `env` looks a variable up; [`process_env`] reads the process's own environment.
    ///
    /// # Errors
    /// There is no such key, or it cannot be sent. The error names the variable.
    pub fn from_env_with(
        variable: &'static str,
        env: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        match env(variable) {
            Some(key) if !key.is_empty() => Self::checked(variable, key),
            _ => Err(ConfigError::setting(
                variable,
                "is not set: set this environment variable, or pass a key",
            )),
        }
    }

    /// A name for this key that tells nothing about it: equal keys have equal names within one process.
    ///
    /// It is a hash under a random key of the process, meant for the gates that belong to a credential.
    pub fn credential_id(&self) -> CredentialId {
        static SALT: OnceLock<RandomState> = OnceLock::new();
        CredentialId(SALT.get_or_init(RandomState::new).hash_one(self.0.expose_secret()))
    }

    /// `text` without this key and without words that look like any key, for texts of a vendor that may quote it.
    pub fn scrub(&self, text: &str) -> String {
        scrub(text, Some(self))
    }

    /// The key after `prefix` as a header value that is marked sensitive, so that no HTTP layer prints it.
    ///
    /// # Errors
    /// `prefix` cannot stand in a header.
    pub fn header(&self, prefix: &str) -> Result<HeaderValue, ConfigError> {
        let text = SecretString::from(format!("{prefix}{}", self.0.expose_secret()));
        let mut value = HeaderValue::from_str(text.expose_secret())
            .map_err(|_| ConfigError::setting("api_key", "cannot be sent in a header"))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([redacted])")
    }
}

/// Looks `name` up in the environment of the process; a value that is not Unicode counts as absent.
pub fn process_env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `text` without `key` and without words that look like a key: behind a gateway the key that a vendor quotes is
/// not ours.
pub(crate) fn scrub(text: &str, key: Option<&ApiKey>) -> String {
    let known = key.map(|key| key.0.expose_secret()).filter(|key| key.len() >= SHORTEST_SCRUBBED);
    let text = known.map_or_else(|| text.to_owned(), |key| text.replace(key, REDACTED));
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (word, tail) = rest.split_at(rest.find(|c| !in_word(c)).unwrap_or(rest.len()));
        clean.push_str(if looks_like_a_key(word) { REDACTED } else { word });
        let (between, tail) = tail.split_at(tail.find(in_word).unwrap_or(tail.len()));
        clean.push_str(between);
        rest = tail;
    }
    clean
}

fn looks_like_a_key(word: &str) -> bool {
    let marked = ["sk-", "sk_", "gsk_", "xai-", "hf_", "AIza"].iter().any(|mark| word.starts_with(mark));
    marked && word.len() >= 12 && word.contains(|c: char| c.is_ascii_digit())
}

fn fault(key: &str) -> Option<&'static str> {
    match () {
        () if key.is_empty() => Some("is empty"),
        () if key.contains(['\n', '\r']) => Some("contains a line break; check how it was copied"),
        () if key.trim() != key => Some("begins or ends with a space; check how it was copied"),
        () if key.starts_with(QUOTES) || key.ends_with(QUOTES) => {
            Some("begins or ends with a quote; pass what stands between the quotes")
        }
        () if key.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer ")) => {
            Some("begins with `Bearer `, which is added where it belongs; pass the key alone")
        }
        () if !key.bytes().all(|b| (0x20..0x7f).contains(&b)) => {
            Some("contains a character that is not ASCII text; check how it was copied")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-secret-0123456789";

    #[test]
    fn faulty_keys_are_named_and_not_printed() {
        let table: &[(&str, &str)] = &[
            ("", "is empty"),
            ("sk-hush\n", "line break"),
            ("sk-hush\r\nx: y", "line break"),
            (" sk-hush", "space"),
            ("sk-hush ", "space"),
            ("sk-hush\u{e9}", "not ASCII"),
            ("sk-\0hush", "not ASCII"),
            ("\"sk-hush\"", "quote"),
            ("'sk-hush", "quote"),
            ("\u{201c}sk-hush\u{201d}", "quote"),
            ("Bearer sk-hush", "Bearer"),
            ("bearer sk-hush", "Bearer"),
        ];
        for (key, why) in table {
            let error = ApiKey::new(*key).unwrap_err();
            let text = format!("{error} {error:?}");
            assert!(text.contains(why) && !text.contains("hush"), "{text}");
        }
    }

    #[test]
    fn a_key_comes_from_the_environment_given() {
        let env = |name: &str| (name == "SOME_KEY").then(|| KEY.to_owned());
        let key = ApiKey::from_env_with("SOME_KEY", env).unwrap();
        assert_eq!(key.header("Bearer ").unwrap(), format!("Bearer {KEY}"));
        for empty in [None, Some(String::new())] {
            let error = ApiKey::from_env_with("SOME_KEY", |_| empty).unwrap_err();
            assert!(error.to_string().contains("`SOME_KEY` is not set"), "{error}");
        }
    }

    #[test]
    fn nothing_prints_the_key() {
        let key = ApiKey::new(KEY).unwrap();
        let header = key.header("Bearer ").unwrap();
        assert!(header.is_sensitive());
        assert!(!format!("{key:?} {header:?} {:?}", key.credential_id()).contains("secret"));
    }

    #[test]
    fn a_quoted_key_is_taken_out_of_texts() {
        let key = ApiKey::new(KEY).unwrap();
        assert_eq!(key.scrub(&format!("bad key {KEY}, {KEY}")), "bad key [redacted], [redacted]");
        assert_eq!(ApiKey::new("test").unwrap().scrub("a test"), "a test");
        let table = [
            ("Incorrect API key provided: sk-live-123456.", "Incorrect API key provided: [redacted]."),
            ("key 'AIzaSyA1b2C3d4' (é)", "key '[redacted]' (é)"),
            ("sk-li***456 and task-12345678901 stay", "sk-li***456 and task-12345678901 stay"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(scrub(text, None), expected);
        }
    }

    #[test]
    fn credentials_are_told_apart() {
        let id = |key: &str| ApiKey::new(key).unwrap().credential_id();
        assert_eq!(id(KEY), id(KEY));
        assert_ne!(id(KEY), id("sk-other-0123456789"));
    }
}
