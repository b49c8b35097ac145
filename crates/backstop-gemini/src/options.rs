//! Options that only this adapter understands.

use backstop_http::provider_options;
use serde::{Deserialize, Serialize};

provider_options! {
    /// Parameters of Gemini beyond those that every vendor has, for
    /// [`Request::options`](backstop_core::Request::options). What is not set is not sent.
    ///
    /// ```
    /// use backstop_core::Request;
    /// use backstop_gemini::{GeminiOptions, HarmCategory, HarmThreshold};
    ///
    /// let options = GeminiOptions::new().safety(HarmCategory::Harassment, HarmThreshold::None).top_k(40);
    /// let request = Request::new("Hello").options(&options)?;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    GeminiOptions for "gemini" {
        /// Most tokens of thinking; 0 switches it off where the model allows that, -1 leaves it to the model. For 2.5.
        thinking_budget: i32 = i32,
        /// `minimal`, `low`, `medium`, `high`, … as the model has them. For Gemini 3 and later, instead of a budget.
        thinking_level: String = impl Into<String>,
        /// Streams summaries of the thoughts. They are never part of the text.
        include_thoughts: bool = bool,
        /// Samples from so many of the likeliest tokens.
        top_k: u32 = u32,
        /// Makes new topics likelier. Not every model takes it.
        presence_penalty: f64 = f64,
        /// Makes repetition less likely. Not every model takes it.
        frequency_penalty: f64 = f64,
        /// How finely pictures and documents are read: `MEDIA_RESOLUTION_LOW`, …
        media_resolution: String = impl Into<String>,
        /// A prompt kept at Google, `cachedContents/…`. It holds instructions and tools too, so the request's own are not
        /// sent.
        cached_content: String = impl Into<String>,
        /// `standard`, `flex`, `priority`, …
        service_tier: String = impl Into<String>,
    } {
        /// From which probability of harm on an answer is blocked, by kind of harm. Empty: those of the provider.
        safety_settings: Vec<SafetySetting>,
    }
}

impl GeminiOptions {
    /// Adds a safety setting. With one or more, those of the provider do not count.
    #[must_use]
    pub fn safety(mut self, category: HarmCategory, threshold: HarmThreshold) -> Self {
        self.safety_settings.push(SafetySetting::new(category, threshold));
        self
    }
}

/// From which probability on one kind of harm is blocked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SafetySetting {
    /// The kind of harm.
    pub category: HarmCategory,
    /// What is blocked.
    pub threshold: HarmThreshold,
}

impl SafetySetting {
    /// Blocks this kind of harm from this threshold on.
    #[must_use]
    pub fn new(category: HarmCategory, threshold: HarmThreshold) -> Self {
        Self { category, threshold }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$of])* $variant,)*
            /// Another word, sent as it stands.
            Other(String),
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)*
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$variant => $word.to_owned(),)*
                    $name::Other(word) => word,
                }
            }
        }
    };
}

words! {
    /// A kind of harm that Google's filter looks for.
    HarmCategory {
        /// Harassment.
        Harassment = "HARM_CATEGORY_HARASSMENT",
        /// Hate speech.
        HateSpeech = "HARM_CATEGORY_HATE_SPEECH",
        /// Sexually explicit content.
        SexuallyExplicit = "HARM_CATEGORY_SEXUALLY_EXPLICIT",
        /// Dangerous content.
        DangerousContent = "HARM_CATEGORY_DANGEROUS_CONTENT",
        /// Content about elections and public affairs.
        CivicIntegrity = "HARM_CATEGORY_CIVIC_INTEGRITY",
    }
}

words! {
    /// From which probability on harm is blocked.
    HarmThreshold {
        /// Low probability and above.
        LowAndAbove = "BLOCK_LOW_AND_ABOVE",
        /// Medium probability and above.
        MediumAndAbove = "BLOCK_MEDIUM_AND_ABOVE",
        /// High probability only.
        OnlyHigh = "BLOCK_ONLY_HIGH",
        /// Nothing is blocked; ratings are still made.
        None = "BLOCK_NONE",
        /// The filter is off.
        Off = "OFF",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_not_known_stay_as_they_are() {
        let text = r#"{"category":"HARM_CATEGORY_NEW","threshold":"BLOCK_NONE"}"#;
        let setting: SafetySetting = serde_json::from_str(text).unwrap();
        assert_eq!(setting.threshold, HarmThreshold::None);
        assert_eq!(setting.category, HarmCategory::Other("HARM_CATEGORY_NEW".into()));
        assert_eq!(serde_json::to_string(&setting).unwrap(), text);
    }
}
