//! Typed extraction on a chain.

use std::{fmt, future::IntoFuture};

use backstop_core::{
    Answer, Call, Chain, ChainError, Check, ConfigError, Message, Part, Reask, Request, Role,
};
use futures_util::{Stream, StreamExt, future::BoxFuture, stream};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    checks::CheckedText,
    coerce::Mode,
    json::{Candidates, Policy},
    refusal::Detector,
    rules::FieldRule,
    streamed::StreamedExtraction,
    typed::Typed,
    untyped::Untyped,
};

/// Typed extraction on a [`Chain`].
pub trait ChainExt {
    /// A `T` out of the model's answer: the schema of `T` goes into the request, JSON is found in fences or prose and
    /// repaired where that is safe, and what does not follow the schema is sent back once with the errors before the
    /// next target is asked.
    ///
    /// ```
    /// use backstop_core::{Chain, ProviderExt};
    /// use backstop_mock::{MockProvider, Step};
    /// use backstop_validate::ChainExt;
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # #[schemars(crate = "backstop_validate::schemars")]
    /// struct Invoice {
    ///     total: f64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let provider = MockProvider::new("mock", [Step::text("```json\n{\"total\": 9.5}\n```")]);
    /// let chain = Chain::builder().target(provider.model("m")).build()?;
    /// let invoice = chain.extract::<Invoice>("Pull the invoice out of this mail: …").await?;
    /// assert_eq!(invoice.value.total, 9.5);
    /// # Ok(()) }
    /// ```
    fn extract<T>(&self, request: impl Into<Request>) -> Call<'static, T>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static;

    /// The long form of [`extract`](Self::extract): instructions, examples, several inputs, settings.
    fn extractor<T>(&self) -> Extraction<T>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static;

    /// A [`Value`] that follows a schema known at run time. A wrong schema makes the call fail as
    /// [`ChainErrorKind::Config`](backstop_core::ChainErrorKind::Config) before anything is sent.
    fn extract_value(&self, schema: Value, request: impl Into<Request>) -> Call<'static, Value>;

    /// Extracts from many inputs, so many at a time. Results come as they are ready, each with the index of its
    /// input; one that fails ends nothing. Dropping the stream cancels what is under way.
    fn extract_all<T, I>(
        &self,
        inputs: I,
        concurrency: usize,
    ) -> impl Stream<Item = (usize, Result<Answer<T>, ChainError>)> + Send
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
        I: IntoIterator<Item: Into<Request>, IntoIter: Send>;

    /// Text that is not empty, not cut off and not a refusal, by the vendor's signal or in words.
    fn text(&self, request: impl Into<Request>) -> Call<'static, String>;
}

impl ChainExt for Chain {
    fn extract<T>(&self, request: impl Into<Request>) -> Call<'static, T>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        self.call(request, Typed::<T>::new())
    }

    fn extractor<T>(&self) -> Extraction<T>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        Extraction::new(self.clone())
    }

    fn extract_value(&self, schema: Value, request: impl Into<Request>) -> Call<'static, Value> {
        self.call(request, Untyped::compiling("answer", schema))
    }

    fn extract_all<T, I>(
        &self,
        inputs: I,
        concurrency: usize,
    ) -> impl Stream<Item = (usize, Result<Answer<T>, ChainError>)> + Send
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
        I: IntoIterator<Item: Into<Request>, IntoIter: Send>,
    {
        let chain = self.clone();
        let calls = inputs.into_iter().enumerate().map(move |(index, input)| {
            let call = chain.extract::<T>(input).into_future();
            async move { (index, call.await) }
        });
        stream::iter(calls).buffer_unordered(concurrency.max(1))
    }

    fn text(&self, request: impl Into<Request>) -> Call<'static, String> {
        self.call(request, CheckedText::default())
    }
}

/// A typed extraction that has not started. `.await` it, or turn it into a [`Call`] for the call's own options.
///
/// ```
/// use backstop_core::{Chain, ProviderExt};
/// use backstop_mock::{MockProvider, Step};
/// use backstop_validate::{ChainExt, coerce::Mode};
/// #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
/// # #[schemars(crate = "backstop_validate::schemars")]
/// struct Person {
///     name: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let provider = MockProvider::new("mock", [Step::text("{\"name\": \"Grace\"}")]);
/// # let chain = Chain::builder().target(provider.model("m")).build()?;
/// let person = chain
///     .extractor::<Person>()
///     .instructions("Names only, without titles.")
///     .example("Dr. Ada Lovelace", &Person { name: "Ada Lovelace".into() })
///     .input("Rear Admiral Grace Hopper")
///     .coercion(Mode::Off)
///     .await?;
/// assert_eq!(person.value.name, "Grace");
/// # Ok(()) }
/// ```
#[must_use = "an extraction does nothing until awaited"]
pub struct Extraction<T> {
    chain: Chain,
    request: Request,
    input: Vec<Part>,
    validator: Typed<T>,
    reask: Option<Reask>,
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Extraction<T> {
    fn new(chain: Chain) -> Self {
        Self { chain, request: Request::default(), input: Vec::new(), validator: Typed::new(), reask: None }
    }

    /// Starts from a request: its model settings, tools and earlier messages are kept.
    pub fn request(mut self, request: impl Into<Request>) -> Self {
        self.request = request.into();
        self
    }

    /// Tells the model what to do, as the system text.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.request = self.request.system(text);
        self
    }

    /// Shows the model an input and the right answer to it. A model that gives this answer back for another input has
    /// not answered; it is asked again.
    pub fn example(mut self, input: impl Into<String>, answer: &T) -> Self
    where
        T: Serialize,
    {
        match serde_json::to_value(answer) {
            Ok(value) => {
                let answer = Message::assistant(value.to_string());
                self.request = self.request.message(Message::user(input)).message(answer);
                self.validator.reading().examples.push(value);
            }
            Err(error) => {
                let mistake = ConfigError::caused("example", "does not serialise to JSON", error);
                self.validator = self.validator.failing(mistake);
            }
        }
        self
    }

    /// Adds a text, picture or document to extract from.
    pub fn input(mut self, part: impl Into<Part>) -> Self {
        self.input.push(part.into());
        self
    }

    /// What may be repaired in the answer's text. Default [`Policy::Tolerant`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.validator = self.validator.policy(policy);
        self
    }

    /// What to do when several different values fit. Default: refuse.
    pub fn candidates(mut self, candidates: Candidates) -> Self {
        self.validator = self.validator.candidates(candidates);
        self
    }

    /// How far values are converted to the schema's types. Default [`Mode::Safe`].
    pub fn coercion(mut self, mode: Mode) -> Self {
        self.validator = self.validator.coercion(mode);
        self
    }

    /// What counts as a refusal when there is no valid value. Default [`Detector::balanced`].
    pub fn refusals(mut self, detector: Detector) -> Self {
        self.validator = self.validator.refusals(detector);
        self
    }

    /// A rule that the value must keep, beyond its schema; see [`rules`](crate::rules).
    pub fn rule(mut self, rule: impl Into<FieldRule<T>>) -> Self {
        self.validator = self.validator.rule(rule);
        self
    }

    /// The rules of the type's own `#[derive(garde::Validate)]`; see [`Typed::validated`].
    #[cfg(feature = "garde")]
    pub fn validated(mut self) -> Self
    where
        T: garde::Validate<Context: Default>,
    {
        self.validator = self.validator.validated();
        self
    }

    /// A check that the value must pass once it follows schema and rules.
    pub fn check(mut self, check: impl Check) -> Self {
        self.validator = self.validator.check(check);
        self
    }

    /// How the model is told that its answer cannot be used, instead of the chain's words.
    pub fn reask(mut self, reask: Reask) -> Self {
        self.reask = Some(reask);
        self
    }

    /// The call, for its deadline, tags and so on.
    pub fn call(self) -> Call<'static, T> {
        self.checked().calling()
    }

    /// Examples alone ask for nothing.
    fn checked(mut self) -> Self {
        let examples = 2 * self.validator.reading().examples.len();
        if self.input.is_empty() && self.request.messages.len() <= examples {
            let mistake =
                ConfigError::setting("input", "is missing: add what to extract from with `.input(…)`");
            self.validator = self.validator.failing(mistake);
        }
        self
    }

    fn calling(self) -> Call<'static, T> {
        let call = self.chain.call(with_input(self.request, self.input), self.validator);
        match self.reask {
            Some(reask) => call.reask(reask),
            None => call,
        }
    }

    /// Shows the value while the answer is being written.
    ///
    /// ```
    /// use backstop_core::{Chain, ProviderExt};
    /// use backstop_mock::{MockProvider, Piece, Step};
    /// use backstop_validate::ChainExt;
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # #[schemars(crate = "backstop_validate::schemars")]
    /// struct Person {
    ///     name: String,
    ///     born: u16,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pieces = ["{\"name\": \"Ada Love", "lace\", \"bo", "rn\": 18", "15}"];
    /// # let step = Step::stream(pieces.map(Piece::text).into_iter().chain([Piece::end()]));
    /// # let chain = Chain::builder().target(MockProvider::new("mock", [step]).model("m")).build()?;
    /// let mut person = chain.extractor::<Person>().input("Who wrote the first program?").stream().await?;
    /// while let Some(update) = person.next().await {
    ///     for pointer in update?.changed {
    ///         let Some(value) = person.partial().pointer(&pointer) else { continue };
    ///         println!("{pointer}: {:?}, finished: {}", value.to_value(), value.is_finished());
    ///     }
    /// }
    /// let answer = person.finish().await?;
    /// assert_eq!((answer.value.name.as_str(), answer.value.born), ("Ada Lovelace", 1815));
    /// # Ok(()) }
    /// ```
    pub fn stream(self) -> StreamedExtraction<T> {
        self.checked().streaming()
    }

    fn streaming(self) -> StreamedExtraction<T> {
        let request = with_input(self.request, self.input);
        let call = self.chain.stream(request.clone());
        let call = match self.reask {
            Some(reask) => call.reask(reask),
            None => call,
        };
        StreamedExtraction::new(call, request, self.validator)
    }
}

fn with_input(request: Request, input: Vec<Part>) -> Request {
    if input.is_empty() { request } else { request.message(Message::new(Role::User, input)) }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> IntoFuture for Extraction<T> {
    type Output = Result<Answer<T>, ChainError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.call().into_future()
    }
}

impl<T> fmt::Debug for Extraction<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extraction")
            .field("chain", &self.chain)
            .field("request", &self.request)
            .field("input", &self.input)
            .finish_non_exhaustive()
    }
}
