//! Typed extraction, shown while the answer is being written.

use std::{fmt, future::IntoFuture, sync::Arc};

use backstop_core::{
    Accepted, Answer, AnswerStream, ChainError, Interrupted, OnInterrupt, Report, Request, Response,
    StreamCall, StreamEvent, TargetId,
};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;

use crate::{
    json::growth::NOTHING,
    json::pointer::strip_key,
    partial::{Changes, PartialParser, PartialValue},
    schema::WRAPPER,
    typed::Typed,
};

/// A streamed extraction that has not started: set options, then `.await` it. See
/// [`Extraction::stream`](crate::Extraction::stream).
///
/// Its `.await` runs to the first content that may be shown. Until then failing over is silent, and the error is a call's.
#[must_use = "an extraction does nothing until awaited"]
pub struct StreamedExtraction<T> {
    call: StreamCall,
    accepted: Accepted<T>,
    validator: Arc<Typed<T>>,
    request: Request,
    partials: bool,
}

impl<T: DeserializeOwned + Send + 'static> StreamedExtraction<T> {
    pub(crate) fn new(call: StreamCall, request: Request, validator: Typed<T>) -> Self {
        let validator = Arc::new(validator);
        let (call, accepted) = call.validated(Arc::clone(&validator));
        Self { call, accepted, validator, request, partials: true }
    }

    /// Whether the value is shown while it grows (default). Without, the answer is held back until it was accepted: what
    /// is wrong with it then leads where the policy says, unseen, as in a call that is not streamed.
    pub fn partials(mut self, show: bool) -> Self {
        self.partials = show;
        self
    }

    /// What happens when the stream breaks, or its answer may not be used, after something of it was shown. Default:
    /// [`OnInterrupt::Error`].
    pub fn on_interrupt(mut self, what: OnInterrupt) -> Self {
        self.call = self.call.on_interrupt(what);
        self
    }

    /// Sets the options of the stream: timers, head, deadline, labels and so on.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use backstop_core::Chain;
    /// # use backstop_validate::ChainExt;
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # #[schemars(crate = "backstop_validate::schemars")]
    /// # struct Invoice { total: f64 }
    /// # fn ask(chain: &Chain) {
    /// let streamed = chain.extractor::<Invoice>().input("…").stream();
    /// let streamed = streamed.options(|call| call.idle(Duration::from_secs(5)).tag("page", "invoices"));
    /// # let _ = streamed;
    /// # }
    /// ```
    pub fn options(mut self, set: impl FnOnce(StreamCall) -> StreamCall) -> Self {
        self.call = set(self.call);
        self
    }

    async fn run(self) -> Result<ExtractionStream<T>, ChainError> {
        let Self { call, accepted, validator, request, partials } = self;
        // Nothing of the value is shown before it begins.
        let call =
            if partials { call.hold_until(|piece| piece.contains(['{', '['])) } else { call.hold(true) };
        let stream = call.await?;
        let parser = partials.then(|| parser(&validator, &request));
        Ok(ExtractionStream {
            stream,
            accepted,
            validator,
            request,
            parser,
            unwraps: false,
            end: None,
            told: false,
        })
    }
}

/// A parser that keeps the first document which the extraction would take: it would take no other, or refuse both.
fn parser<T: DeserializeOwned + Send + 'static>(
    validator: &Arc<Typed<T>>,
    request: &Request,
) -> PartialParser {
    let (validator, request) = (Arc::clone(validator), request.clone());
    PartialParser::new()
        .keep_when(move |value| value.to_value().is_some_and(|value| validator.fits(&value, &request)))
}

impl<T: DeserializeOwned + Send + 'static> IntoFuture for StreamedExtraction<T> {
    type Output = Result<ExtractionStream<T>, ChainError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for StreamedExtraction<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedExtraction")
            .field("call", &self.call)
            .field("partials", &self.partials)
            .finish_non_exhaustive()
    }
}

/// What is new about the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Update {
    /// JSON pointers (RFC 6901) of the leaves that have come, grown or been finished and of the containers that have opened
    /// or closed, in order; the empty pointer is the value itself.
    pub changed: Vec<String>,
    /// Whether what was shown before is void: another target begins anew, or the model does (see
    /// [`partial`](crate::partial)). What is shown now is in the value alone.
    pub cleared: bool,
    /// Who answers from here on, if that is news: in the first update, and when another target takes over.
    pub target: Option<TargetId>,
}

/// What a stream that ended well has brought.
type Finished = (Box<Response>, Arc<Report>);

/// A value that grows as the answer comes, and in the end is a checked `T`. Updates say what has changed; the value itself
/// is lent, not copied.
///
/// Dropping it cancels the request.
#[must_use = "a stream does nothing unless polled"]
pub struct ExtractionStream<T> {
    stream: AnswerStream,
    accepted: Accepted<T>,
    validator: Arc<Typed<T>>,
    request: Request,
    /// None if nothing is to be shown.
    parser: Option<PartialParser>,
    /// The value is in the object that the schema has put around it.
    unwraps: bool,
    end: Option<Result<Finished, Interrupted>>,
    /// The interruption was given out.
    told: bool,
}

impl<T: DeserializeOwned + Send + 'static> ExtractionStream<T> {
    /// What is new; `None` once the answer has ended. A future that is dropped loses nothing.
    ///
    /// # Errors
    /// The stream broke, or its answer may not be used, after something of it was shown. It is the last item, and what
    /// [`finish`](Self::finish) gives.
    pub async fn next(&mut self) -> Option<Result<Update, Interrupted>> {
        while self.end.is_none() {
            let update = match self.stream.next().await? {
                Ok(event) => self.take(event),
                Err(interrupted) => {
                    self.end = Some(Err(interrupted));
                    self.parse(PartialParser::catch_up)
                }
            };
            if update != Update::default() {
                return Some(Ok(update));
            }
        }
        match &self.end {
            Some(Err(interrupted)) if !std::mem::replace(&mut self.told, true) => {
                Some(Err(interrupted.clone()))
            }
            _ => None,
        }
    }

    /// What there is of the value so far, as the model wrote it: before any conversion to the schema's types.
    #[must_use]
    pub fn partial(&self) -> &PartialValue {
        let Some(parser) = &self.parser else { return &NOTHING };
        let value = parser.value();
        match value.get(WRAPPER) {
            Some(inner) if self.unwraps => inner,
            _ if self.hides(value) => &NOTHING,
            _ => value,
        }
    }

    /// Reads the answer to its end, and gives the value: extracted from the whole text, converted, checked against schema,
    /// rules and checks as in a call that is not streamed.
    ///
    /// # Errors
    /// The stream broke, or its answer may not be used, after something of it was shown.
    pub async fn finish(mut self) -> Result<Answer<T>, Interrupted> {
        // Nobody will look at it.
        self.parser = None;
        while self.next().await.is_some() {}
        let (response, report) = self.end.unwrap_or_else(|| Ok(Default::default()))?;
        self.accepted.into_answer(response, report)
    }

    /// Cancels the request and gives what happened so far; after the end, the report of the whole call.
    #[must_use]
    pub fn cancel(self) -> Report {
        self.stream.cancel()
    }

    fn take(&mut self, event: StreamEvent) -> Update {
        let target = |target| Update { target: Some(target), ..Update::default() };
        match event {
            StreamEvent::Started { target: name } | StreamEvent::Continued { target: name } => target(name),
            StreamEvent::Restarted { target: name } => {
                self.parser = self.parser.take().map(|_| parser(&self.validator, &self.request));
                self.unwraps = false;
                Update { cleared: true, ..target(name) }
            }
            StreamEvent::Delta(text) => self.parse(|parser| parser.push(&text)),
            StreamEvent::Finished { response, report } => {
                self.end = Some(Ok((response, report)));
                self.parse(PartialParser::finish)
            }
            _ => Update::default(),
        }
    }

    fn parse(&mut self, parse: impl FnOnce(&mut PartialParser) -> Changes) -> Update {
        let Some(parser) = &mut self.parser else { return Update::default() };
        let changes = parse(parser);
        if changes.is_empty() { Update::default() } else { self.update(changes) }
    }

    /// The changes as they look from inside the object around the value, if there is one.
    fn update(&mut self, changes: Changes) -> Update {
        let Changes { pointers, mut cleared } = changes;
        let unwrapped = self.unwraps;
        self.unwraps = self.parser.as_ref().is_some_and(|parser| self.is_wrapped(parser.value()));
        cleared |= unwrapped && !self.unwraps;
        let hidden = self.parser.as_ref().is_some_and(|parser| self.hides(parser.value()));
        let changed = match (self.unwraps, hidden) {
            (true, _) => pointers.iter().filter_map(|pointer| strip_key(pointer, WRAPPER)).collect(),
            (false, true) => Vec::new(),
            (false, false) => pointers,
        };
        Update { changed, cleared, target: None }
    }

    fn is_wrapped(&self, value: &PartialValue) -> bool {
        let only = value.members().is_some_and(|members| members.len() == 1);
        only && self.validator.wraps() && value.get(WRAPPER).is_some()
    }

    /// Whether it is the object around a value that has not come yet.
    fn hides(&self, value: &PartialValue) -> bool {
        self.validator.wraps() && value.members().is_some_and(|members| members.len() == 0)
    }
}

impl<T> fmt::Debug for ExtractionStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractionStream").field("stream", &self.stream).finish_non_exhaustive()
    }
}
