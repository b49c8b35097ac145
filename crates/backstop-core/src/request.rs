//! What is asked, in terms that every vendor can be given.

use std::{borrow::Cow, collections::BTreeMap, fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    message::{CacheHint, Message},
    prompt::Variants,
    tool::{Tool, ToolChoice},
};

/// What is asked. Cloning is one atomic increment and all attempts of a call share the same bytes; setters copy
/// on write. Fields are read through `Deref` ([`RequestBody`]).
///
/// `Debug` shows sizes, never the prompt or the extra headers.
///
/// ```
/// use backstop_core::Request;
///
/// let request = Request::new("Name a colour.").system("Answer with one word.").max_tokens(16);
/// assert_eq!(request.max_tokens, Some(16));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[must_use = "a request does nothing until a chain is called with it"]
pub struct Request(Arc<RequestBody>);

/// The fields of a [`Request`].
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RequestBody {
    /// Version of this serialised form.
    pub version: u32,
    /// Instructions to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The system text is worth caching.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_cache: Option<CacheHint>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// What the answer must be.
    pub output: Output,
    /// Tools the model may ask for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Whether it may, must or must not.
    pub tool_choice: ToolChoice,
    /// Most tokens of the answer. None: the target's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Texts that end the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Asks for repeatable sampling where the vendor has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Passed to vendors that store it with the request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// HTTP headers added to every request. May hold secrets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_headers: BTreeMap<String, String>,
    /// Fields added to the vendor's JSON body, over those that the adapter writes. Every target gets what stands here;
    /// [`Request::extra_body`] is for one provider.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra_body: Map<String, Value>,
    /// The same by the provider that they are for, until the request is one for a target.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) extra_by_provider: BTreeMap<String, Map<String, Value>>,
    /// Typed options by provider name, set with [`Request::options`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub provider_options: BTreeMap<Cow<'static, str>, Value>,
    /// Keep the vendor's whole answer in [`Response::raw`](crate::Response::raw).
    pub keep_raw: bool,
    /// An answer without text is an answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_empty: bool,
    /// The texts of a template for targets that get others than those above.
    #[serde(skip_serializing_if = "Variants::is_empty")]
    pub(crate) variants: Variants,
}

impl Default for RequestBody {
    fn default() -> Self {
        Self {
            version: 1,
            system: None,
            system_cache: None,
            messages: Vec::new(),
            output: Output::Text,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_tokens: None,
            temperature: None,
            top_p: None,
            stop: Vec::new(),
            seed: None,
            metadata: BTreeMap::new(),
            extra_headers: BTreeMap::new(),
            extra_body: Map::new(),
            extra_by_provider: BTreeMap::new(),
            provider_options: BTreeMap::new(),
            keep_raw: false,
            allow_empty: false,
            variants: Variants::default(),
        }
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBody")
            .field("system_bytes", &self.system.as_ref().map(String::len))
            .field("messages", &self.messages)
            .field("output", &self.output)
            .field("tools", &self.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>())
            .field("max_tokens", &self.max_tokens)
            .field("temperature", &self.temperature)
            .field("extra_headers", &self.extra_headers.keys().collect::<Vec<_>>())
            .field("extra_body", &self.extra_body.keys().collect::<Vec<_>>())
            .field("extra_by_provider", &self.extra_by_provider.keys().collect::<Vec<_>>())
            .field("provider_options", &self.provider_options.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// What the answer must be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Output {
    /// Text (default).
    #[default]
    Text,
    /// Any JSON.
    Json,
    /// JSON that follows a schema.
    Schema(OutputSchema),
}

/// A JSON Schema with the name that vendors ask for.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputSchema {
    /// Letters, digits, `_` and `-`; adapters shorten what their vendor does not take.
    pub name: Cow<'static, str>,
    /// The caller's schema. Each adapter renders it in its vendor's dialect; answers are held against this one.
    pub schema: Arc<Value>,
}

impl OutputSchema {
    /// A named schema.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, schema: impl Into<Arc<Value>>) -> Self {
        Self { name: name.into(), schema: schema.into() }
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputSchema").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Options that only one adapter understands; the type lives in that adapter's crate.
///
/// ```
/// use backstop_core::{ProviderOptions, Request};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct VendorOptions {
///     safe_mode: bool,
/// }
///
/// impl ProviderOptions for VendorOptions {
///     const PROVIDER: &'static str = "vendor";
/// }
///
/// let request = Request::new("Name a colour.").options(&VendorOptions { safe_mode: true })?;
/// // In the adapter:
/// let options: Option<VendorOptions> = request.options_of()?;
/// assert!(options.is_some_and(|options| options.safe_mode));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait ProviderOptions: Serialize + DeserializeOwned {
    /// The name of the adapter that reads them, as [`Provider::name`](crate::Provider::name) gives it.
    const PROVIDER: &'static str;
}

impl Request {
    /// One user message.
    pub fn new(text: impl Into<String>) -> Self {
        Self::default().message(Message::user(text))
    }

    /// The fields, for writing. Copies them if another handle shares them.
    pub fn body_mut(&mut self) -> &mut RequestBody {
        Arc::make_mut(&mut self.0)
    }

    /// Whether some targets get another request than others.
    pub(crate) fn has_variants(&self) -> bool {
        !self.variants.is_empty() || !self.extra_by_provider.is_empty()
    }

    fn with(mut self, change: impl FnOnce(&mut RequestBody)) -> Self {
        change(self.body_mut());
        self
    }

    /// Instructions to the model. Replaces earlier ones, also those that a template has for some targets.
    pub fn system(self, text: impl Into<String>) -> Self {
        self.with(|body| {
            body.system = Some(text.into());
            body.variants.forget_system();
        })
    }

    /// Marks the system text as worth caching.
    pub fn cache_system(self, hint: CacheHint) -> Self {
        self.with(|body| body.system_cache = Some(hint))
    }

    /// Adds a message.
    pub fn message(self, message: Message) -> Self {
        self.with(|body| body.messages.push(message))
    }

    /// Says what the answer must be. [`Chain::call`](crate::Chain::call) lets the validator say it.
    pub fn output(self, output: Output) -> Self {
        self.with(|body| body.output = output)
    }

    /// Asks for JSON that follows `schema`.
    pub fn json_schema(self, name: impl Into<Cow<'static, str>>, schema: impl Into<Arc<Value>>) -> Self {
        self.output(Output::Schema(OutputSchema::new(name, schema)))
    }

    /// Adds a tool.
    pub fn tool(self, tool: Tool) -> Self {
        self.with(|body| body.tools.push(tool))
    }

    /// Whether the model may, must or must not call a tool.
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.with(|body| body.tool_choice = choice)
    }

    /// Most tokens of the answer.
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.with(|body| body.max_tokens = Some(tokens))
    }

    /// Sampling temperature. Adapters leave it out for models that reject it.
    pub fn temperature(self, temperature: f64) -> Self {
        self.with(|body| body.temperature = Some(temperature))
    }

    /// Nucleus sampling.
    pub fn top_p(self, top_p: f64) -> Self {
        self.with(|body| body.top_p = Some(top_p))
    }

    /// Adds a text that ends the answer.
    pub fn stop(self, text: impl Into<String>) -> Self {
        self.with(|body| body.stop.push(text.into()))
    }

    /// Asks for repeatable sampling where the vendor has it.
    pub fn seed(self, seed: u64) -> Self {
        self.with(|body| body.seed = Some(seed))
    }

    /// Adds an entry that vendors store with the request.
    pub fn metadata(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|body| {
            body.metadata.insert(key.into(), value.into());
        })
    }

    /// Adds an HTTP header.
    pub fn extra_header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|body| {
            body.extra_headers.insert(name.into(), value.into());
        })
    }

    /// Adds a field to the JSON body that the providers of this name are sent, over what the adapter writes. The name is
    /// that of [`Provider::name`](crate::Provider::name), as in reports; to other targets of the chain the field is
    /// not sent, for they would refuse it, or take it for something else.
    ///
    /// ```
    /// use backstop_core::Request;
    ///
    /// let request = Request::new("Name a colour.").extra_body("vllm", "top_k", 20);
    /// assert_eq!(request.for_target("vllm", "qwen3").extra_body["top_k"], 20);
    /// assert!(request.for_target("openai", "gpt-4o").extra_body.is_empty());
    /// ```
    pub fn extra_body(
        self,
        provider: impl Into<String>,
        name: impl Into<String>,
        value: impl Into<Value>,
    ) -> Self {
        self.with(|body| {
            let fields = body.extra_by_provider.entry(provider.into()).or_default();
            fields.insert(name.into(), value.into());
        })
    }

    /// Options for one adapter. The others ignore them.
    ///
    /// # Errors
    /// The options do not serialise.
    pub fn options<O: ProviderOptions>(self, options: &O) -> Result<Self, serde_json::Error> {
        let value = serde_json::to_value(options)?;
        Ok(self.with(|body| {
            body.provider_options.insert(Cow::Borrowed(O::PROVIDER), value);
        }))
    }

    /// Keeps the vendor's whole answer in [`Response::raw`](crate::Response::raw).
    pub fn keep_raw(self) -> Self {
        self.with(|body| body.keep_raw = true)
    }

    /// Takes an answer without text for an answer: a model may have nothing to add. Default: it is a soft failure
    /// ([`Empty`](crate::FailureKind::Empty)). What validators and checks make of it is their business.
    pub fn allow_empty(self) -> Self {
        self.with(|body| body.allow_empty = true)
    }

    /// The request as a target of this provider and model is sent it: with the texts that its
    /// [template](crate::PromptTemplate) has for that target, and the [extra body](Self::extra_body) of that provider.
    /// Chains see to it by themselves.
    pub fn for_target(&self, provider: &str, model: &str) -> Self {
        let texts = self.variants.of(provider, model);
        if texts.is_none() && self.extra_by_provider.is_empty() {
            return self.clone();
        }
        self.clone().with(|body| {
            if let Some((parts, replaced)) = texts {
                body.variants = Variants::default();
                parts.place(body, replaced);
            }
            let mut extra = std::mem::take(&mut body.extra_by_provider);
            body.extra_body.extend(extra.remove(provider).unwrap_or_default());
        })
    }

    /// Whether two handles share the same bytes.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl RequestBody {
    /// Whether some of the prompt is marked as worth caching.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.system_cache.is_some() || self.messages.iter().any(|message| message.cache.is_some())
    }

    /// The longest life in a cache that some of the prompt is marked with.
    #[must_use]
    pub fn longest_cache(&self) -> Option<CacheHint> {
        let mut hints = self.messages.iter().map(|message| message.cache).chain([self.system_cache]);
        let long = hints.any(|hint| hint == Some(CacheHint::Long));
        if long { Some(CacheHint::Long) } else { self.is_cached().then_some(CacheHint::Short) }
    }

    /// The options set for one adapter.
    ///
    /// # Errors
    /// They were read from elsewhere and do not fit the type.
    pub fn options_of<O: ProviderOptions>(&self) -> Result<Option<O>, serde_json::Error> {
        self.provider_options.get(O::PROVIDER).map(O::deserialize).transpose()
    }
}

impl Deref for Request {
    type Target = RequestBody;

    fn deref(&self) -> &RequestBody {
        &self.0
    }
}

impl From<&str> for Request {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Request {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Request {
    fn from(text: &String) -> Self {
        Self::new(text.as_str())
    }
}

impl From<&Self> for Request {
    fn from(request: &Self) -> Self {
        request.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_and_setters_copy_on_write() {
        let one = Request::new("hello");
        let two = one.clone();
        assert!(one.ptr_eq(&two));
        let three = two.max_tokens(5);
        assert!(!one.ptr_eq(&three));
        assert_eq!((one.max_tokens, three.max_tokens), (None, Some(5)));
    }

    #[test]
    fn the_longest_life_in_a_cache_counts() {
        let marked = |hint| Request::new("x").message(Message::user("y").cached(hint));
        let table = [
            (Request::new("x"), None),
            (marked(CacheHint::Short), Some(CacheHint::Short)),
            (marked(CacheHint::Short).cache_system(CacheHint::Long), Some(CacheHint::Long)),
            (marked(CacheHint::Long).message(Message::user("z")), Some(CacheHint::Long)),
        ];
        for (request, longest) in table {
            assert_eq!((request.longest_cache(), request.is_cached()), (longest, longest.is_some()));
        }
    }

    #[test]
    fn extra_fields_go_to_the_provider_that_they_are_for() {
        let request = Request::new("x").extra_body("vllm", "top_k", 3).extra_body("groq", "user", "u");
        let sent = |provider| Value::Object(request.for_target(provider, "m").extra_body.clone());
        assert_eq!(sent("vllm"), serde_json::json!({ "top_k": 3 }));
        assert_eq!(sent("groq"), serde_json::json!({ "user": "u" }));
        assert_eq!(sent("openai"), serde_json::json!({}));
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }

    #[test]
    fn debug_hides_prompt_and_headers() {
        let request = Request::new("prompt-x").system("system-x").extra_header("authorization", "key-x");
        let shown = format!("{request:?}");
        assert!(!shown.contains("-x"), "{shown}");
        assert!(shown.contains("authorization"), "{shown}");
    }

    #[test]
    fn serde_round_trip() {
        let request =
            Request::new("q").json_schema("thing", serde_json::json!({"type": "object"})).stop("END");
        let text = serde_json::to_string(&request).unwrap();
        assert!(text.contains("\"version\":1"), "{text}");
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
        assert_eq!(serde_json::from_str::<Request>("{\"messages\":[]}").unwrap().version, 1);
    }
}
