//! A stream that was not asked for yet, and its options.

use std::{fmt, future::IntoFuture, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;

use super::{
    answer::AnswerStream,
    drive::drive,
    head::Head,
    mailbox::{Mailbox, Side},
    settings::{Hold, OnInterrupt, Settings},
};
use crate::{
    chain::{
        call::Chain,
        judge::Judge,
        options::{CallOptions, setters},
    },
    clock::FAR,
    error::{ChainError, ConfigError},
    reask::Reask,
    request::Request,
};

impl Chain {
    /// A stream of text. Its `.await` runs to the first content that may be shown: until then failing over is silent,
    /// and the error is a call's. What comes after that is in the items of the stream.
    ///
    /// ```
    /// use backstop_core::{Chain, ProviderExt, StreamEvent};
    /// # use backstop_core::{Attempt, Provider, ProviderError, Response};
    /// # struct Poet;
    /// # #[async_trait::async_trait] impl Provider for Poet {
    /// #     fn name(&self) -> &str { "poet" }
    /// #     async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> { Ok(Response::new("Roses")) }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let chain = Chain::builder().target(Poet.model("m")).build()?;
    /// let mut answer = chain.stream("Write a poem.").await?;
    /// while let Some(event) = answer.next().await {
    ///     match event? {
    ///         StreamEvent::Delta(text) => print!("{text}"),
    ///         StreamEvent::Finished { report, .. } => println!("\n{report}"),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn stream(&self, request: impl Into<Request>) -> StreamCall {
        StreamCall {
            chain: self.clone(),
            request: request.into(),
            options: CallOptions::default(),
            settings: Settings::default(),
            prepared: Ok(()),
            judge: None,
        }
    }
}

/// A stream that was not asked for yet: set options, then `.await` it.
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | [`deadline`](Self::deadline) | the chain's | it ends the search for a target that answers, not the answer |
/// | [`first_content`](Self::first_content) | each target's | who waits for a whole answer waits as long |
/// | [`idle`](Self::idle) | each target's | models pause to reason in the middle of an answer, which is no content |
/// | [`total`](Self::total) | 10 min | the longest answers of large models take about that |
/// | [`head`](Self::head) | 120 characters or 500 ms | most refusals say so in their first sentence, and many streams that break do so at once |
/// | [`on_interrupt`](Self::on_interrupt) | [`OnInterrupt::Error`] | only the caller knows what can be taken back |
/// | [`hold`](Self::hold) | off | whoever streams wants to show something |
/// | [`reasoning`](Self::reasoning) | off | it is shown before it is known whether an answer follows |
///
/// ```
/// use backstop_core::{Chain, Interrupted, OnInterrupt, StreamEvent};
///
/// async fn shown(chain: &Chain, question: &str) -> Result<String, Box<dyn std::error::Error>> {
///     let (mut text, mut stream) =
///         (String::new(), chain.stream(question).on_interrupt(OnInterrupt::Restart).await?);
///     while let Some(event) = stream.next().await {
///         match event {
///             Ok(StreamEvent::Delta(piece)) => text.push_str(&piece),
///             Ok(StreamEvent::Restarted { .. }) => text.clear(),
///             Ok(_) => {}
///             Err(Interrupted { text: so_far, cause, .. }) => return Ok(format!("{so_far} … ({cause})")),
///         }
///     }
///     Ok(text)
/// }
/// ```
#[must_use = "a stream does nothing until awaited"]
pub struct StreamCall {
    chain: Chain,
    pub(super) request: Request,
    options: CallOptions,
    settings: Settings,
    pub(super) prepared: Result<(), ConfigError>,
    pub(super) judge: Option<Arc<dyn Judge>>,
}

impl StreamCall {
    /// Most time until the first content, over all targets, from the first poll, if it is less than the chain's.
    /// After an interruption, targets that take over have the same time once more.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options.deadline = Some(deadline);
        self
    }

    setters!();

    /// Most time for an attempt until its first content, if it is less than the
    /// [target's](crate::Target::first_content). Roles, empty pieces, keep-alives and reasoning are no content. A
    /// timeout that only this caller was in a hurry for leads to the next target, but counts for no breaker.
    pub fn first_content(mut self, most: Duration) -> Self {
        self.settings.first_content = Some(most.min(FAR));
        self
    }

    /// Most time between one piece of content and the next, instead of the [target's](crate::Target::idle). It runs
    /// only while the consumer waits for it. One that is shorter than the target's counts for no breaker.
    pub fn idle(mut self, most: Duration) -> Self {
        self.settings.idle = Some(most.min(FAR));
        self
    }

    /// Most time for the whole stream. The consumer's own time, between taking an event and asking for the next, is
    /// not counted.
    pub fn total(mut self, most: Duration) -> Self {
        self.settings.total = most.min(FAR);
        self
    }

    /// How much of the beginning is held back, for [`Check::check_head`](crate::Check::check_head) to judge before
    /// anything is shown: so many characters, the first sentence of 40 characters or more, or what has come `wait`
    /// after the first content. What breaks meanwhile fails over unseen, so it is held back in a chain without checks
    /// too. 0 characters: nothing is held back, nor judged.
    pub fn head(mut self, chars: usize, wait: Duration) -> Self {
        self.settings.head = Head { chars, wait: wait.min(FAR) };
        self
    }

    /// Holds the whole answer back until it has ended and was accepted. Everything that is wrong with it then leads where
    /// the policy says, unseen: another attempt, feedback to the model, the next target. The deadline holds until
    /// then, less what is kept for the targets to come.
    pub fn hold(mut self, hold: bool) -> Self {
        self.settings.hold = if hold { Hold::All } else { Hold::Nothing };
        self
    }

    /// Holds the answer back until a piece of its text for which `begins` says yes, or until its end: for consumers that
    /// show nothing before, such as one that looks for JSON in what a model writes. What is wrong with the answer up to
    /// there leads where the policy says, as with [`hold`](Self::hold).
    ///
    /// ```
    /// # fn ask(chain: &backstop_core::Chain) {
    /// let call = chain.stream("Your reasons, then `ANSWER:` and the answer.").hold_until(|piece| piece.contains(':'));
    /// # let _ = call;
    /// # }
    /// ```
    pub fn hold_until(mut self, begins: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.settings.hold = Hold::Until(Arc::new(begins));
        self
    }

    /// How the model is told that its answer cannot be used, instead of the chain's words. An answer of which something
    /// was shown is not asked for again.
    pub fn reask(mut self, reask: Reask) -> Self {
        self.options.reask = Some(reask);
        self
    }

    /// Shows the model's reasoning, where the vendor does. The `.await` is then over at the first of it; a target
    /// that takes over after that begins with a [`StreamEvent::Restarted`](crate::StreamEvent::Restarted). Such a
    /// call is not hedged.
    pub fn reasoning(mut self, show: bool) -> Self {
        self.settings.reasoning = show;
        self
    }

    /// What happens when the stream breaks after something of it was shown.
    pub fn on_interrupt(mut self, what: OnInterrupt) -> Self {
        self.settings.on_interrupt = what;
        self
    }

    async fn run(self) -> Result<AnswerStream, ChainError> {
        let Self { chain, request, options, settings, prepared, judge } = self;
        let mailbox = Arc::new(Mailbox::default());
        let side = Side::new(settings, judge, Arc::clone(&mailbox));
        AnswerStream::begin(Box::pin(drive(chain, request, options, prepared, side)), mailbox).await
    }
}

impl IntoFuture for StreamCall {
    type Output = Result<AnswerStream, ChainError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for StreamCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamCall")
            .field("chain", &self.chain)
            .field("request", &self.request)
            .field("options", &self.options)
            .field("settings", &self.settings)
            .finish()
    }
}
