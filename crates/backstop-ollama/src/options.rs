//! Options that only this adapter understands.

use std::time::Duration;

use backstop_http::{provider_options, retry_after::parse_duration};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

provider_options! {
    /// Parameters of Ollama beyond those that every vendor has, for
    /// [`Request::options`](backstop_core::Request::options). What is not set is left to the server, unless it is
    /// said otherwise. Others of the server's go into `options` of the request's extra body.
    ///
    /// ```
    /// use backstop_core::Request;
    /// use backstop_ollama::{OllamaOptions, Think};
    ///
    /// let options = OllamaOptions::new().num_ctx(32_768).think(Think::Switch(false));
    /// let request = Request::new("Hello").options(&options)?;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    OllamaOptions for "ollama" {
        /// Tokens of prompt and answer together. Not set: what the provider was built with.
        num_ctx: u32 = u32,
        /// How long the model stays loaded. Not set: what the provider was built with.
        keep_alive: KeepAlive = impl Into<KeepAlive>,
        /// Whether the model thinks before it answers.
        think: Think = Think,
        /// Drops the oldest messages of a prompt that is too long. Not set: it does not, and there is an error instead.
        truncate: bool = bool,
        /// Drops the beginning when the context is full during the answer. Not set: it does not, and the answer ends.
        shift: bool = bool,
        /// Samples from so many of the likeliest tokens.
        top_k: u32 = u32,
        /// Samples no token that is less likely than this share of the likeliest.
        min_p: f64 = f64,
        /// Makes repetition less likely; 1 is neutral.
        repeat_penalty: f64 = f64,
    }
}

/// Whether and how long a model thinks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Think {
    /// On or off.
    Switch(bool),
    /// `low`, `medium`, `high`, … for models that have levels.
    Level(String),
}

/// How long a model stays loaded after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepAlive {
    /// So long; not at all if it is zero.
    For(Duration),
    /// Until the server ends or needs the room.
    Forever,
}

impl From<Duration> for KeepAlive {
    fn from(time: Duration) -> Self {
        Self::For(time)
    }
}

/// As on the wire: seconds, or -1.
impl Serialize for KeepAlive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::For(time) => serializer.serialize_f64(time.as_secs_f64()),
            Self::Forever => serializer.serialize_i8(-1),
        }
    }
}

/// As Ollama reads it: seconds, or a duration with its unit; anything below zero means for ever.
impl<'de> Deserialize<'de> for KeepAlive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Seconds(f64),
            Text(String),
        }
        let fault = || serde::de::Error::custom("keep_alive is seconds, or a duration such as \"10m\"");
        match Form::deserialize(deserializer)? {
            Form::Seconds(seconds) if seconds < 0.0 => Ok(Self::Forever),
            Form::Seconds(seconds) => {
                Duration::try_from_secs_f64(seconds).map(Self::For).map_err(|_| fault())
            }
            Form::Text(text) if text.starts_with('-') => Ok(Self::Forever),
            Form::Text(text) => parse_duration(&text).map(Self::For).ok_or_else(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_keep_alive_is_read_and_one_is_written() {
        let of = |seconds| KeepAlive::For(Duration::from_secs(seconds));
        let table = [
            ("300", of(300), "300.0"),
            ("0", of(0), "0.0"),
            ("\"10m\"", of(600), "600.0"),
            ("\"1h0m1s\"", of(3_601), "3601.0"),
            ("-1", KeepAlive::Forever, "-1"),
            ("\"-1s\"", KeepAlive::Forever, "-1"),
        ];
        for (text, expected, written) in table {
            let read: KeepAlive = serde_json::from_str(text).unwrap();
            assert_eq!(read, expected, "{text}");
            assert_eq!(serde_json::to_string(&read).unwrap(), written);
            assert_eq!(serde_json::from_str::<KeepAlive>(written).unwrap(), expected);
        }
        assert!(serde_json::from_str::<KeepAlive>("\"soon\"").is_err());
    }

    #[test]
    fn thinking_is_a_switch_or_a_level() {
        for (text, think) in [("true", Think::Switch(true)), ("\"high\"", Think::Level("high".into()))] {
            assert_eq!(serde_json::from_str::<Think>(text).unwrap(), think);
            assert_eq!(serde_json::to_string(&think).unwrap(), text);
        }
    }
}
