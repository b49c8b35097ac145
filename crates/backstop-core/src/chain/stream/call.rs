//! A stream that was not asked for yet, and its options.

use std::{borrow::Cow, fmt, future::IntoFuture, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;

use super::{
    answer::AnswerStream,
    drive::drive,
    head::Head,
    mailbox::{Mailbox, Side},
};
use crate::{
    chain::{
        call::{CallOptions, Chain},
        engine::FAR,
    },
    error::ChainError,
    policy::FailurePolicy,
    request::Request,
};

/// What happens when a stream breaks after something of it was shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnInterrupt {
    /// The stream ends with [`Interrupted`](crate::Interrupted) (default). Only the caller knows whether what was
    /// shown can be taken back.
    #[default]
    Error,
    /// The targets that follow answer anew, after a [`StreamEvent::Restarted`](crate::StreamEvent::Restarted) at which
    /// the consumer clears what it has shown.
    Restart,
    /// A target that follows goes on with the text so far, after a
    /// [`StreamEvent::Continued`](crate::StreamEvent::Continued). Only targets whose
    /// [`Capabilities::prefill`](crate::Capabilities::prefill) is known to be true are asked, and only where the text
    /// was cut: not after a refusal, a filter, a tool call or an end. The report marks the attempt as continued.
    Continue,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) first_content: Option<Duration>,
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
    pub(crate) head: Head,
    pub(crate) reasoning: bool,
    pub(crate) on_interrupt: OnInterrupt,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            first_content: None,
            idle: Duration::from_secs(30),
            total: Duration::from_secs(600),
            head: Head { chars: 120, wait: Duration::from_millis(500) },
            reasoning: false,
            on_interrupt: OnInterrupt::Error,
        }
    }
}

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
        }
    }
}

/// A stream that was not asked for yet: set options, then `.await` it.
///
/// | setting | default | why |
/// | --- | --- | --- |
/// | [`deadline`](Self::deadline) | the chain's | it ends the search for a target that answers, not the answer |
/// | [`first_content`](Self::first_content) | each target's timeout | who waits for a whole answer waits as long |
/// | [`idle`](Self::idle) | 30 s | models pause to reason in the middle of an answer, which is no content |
/// | [`total`](Self::total) | 10 min | the longest answers of large models take about that |
/// | [`head`](Self::head) | 120 characters or 500 ms | most refusals say so in their first sentence |
/// | [`on_interrupt`](Self::on_interrupt) | [`OnInterrupt::Error`] | only the caller knows what can be taken back |
/// | [`reasoning`](Self::reasoning) | off | it is shown before it is known whether an answer follows |
#[must_use = "a stream does nothing until awaited"]
pub struct StreamCall {
    chain: Chain,
    request: Request,
    options: CallOptions,
    settings: Settings,
}

impl StreamCall {
    /// Most time until the first content, over all targets, from the first poll, if it is less than the chain's.
    /// After an interruption, targets that take over have the same time once more.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options.deadline = Some(deadline);
        self
    }

    /// On whose behalf, for the report.
    pub fn tenant(mut self, tenant: impl Into<Arc<str>>) -> Self {
        self.options.tenant = Some(tenant.into());
        self
    }

    /// What kind of work it is, for the report. Quality windows are kept for each.
    pub fn task(mut self, task: impl Into<Arc<str>>) -> Self {
        self.options.task = Some(task.into());
        self
    }

    /// A label for the report.
    pub fn tag(mut self, key: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.options.tags.insert(key.into(), value.into());
        self
    }

    /// Asks this target only, by its name (`provider/model` unless it was given one).
    pub fn only(mut self, target: impl Into<Cow<'static, str>>) -> Self {
        self.options.only = Some(target.into());
        self
    }

    /// Asks the first target only.
    pub fn no_failover(mut self) -> Self {
        self.options.no_failover = true;
        self
    }

    /// What failures of this call lead to, instead of the targets' and the chain's policies.
    pub fn policy(mut self, policy: FailurePolicy) -> Self {
        self.options.policy = Some(Arc::new(policy));
        self
    }

    /// Most time for an attempt until its first content, if it is less than the target's timeout. Roles, empty
    /// pieces, keep-alives and reasoning are no content.
    pub fn first_content(mut self, most: Duration) -> Self {
        self.settings.first_content = Some(most.min(FAR));
        self
    }

    /// Most time between one piece of content and the next. It runs only while the consumer waits for it.
    pub fn idle(mut self, most: Duration) -> Self {
        self.settings.idle = most.min(FAR);
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
    /// after the first content. 0 characters: nothing is held back, nor judged.
    pub fn head(mut self, chars: usize, wait: Duration) -> Self {
        self.settings.head = Head { chars, wait: wait.min(FAR) };
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
        let Self { chain, request, options, settings } = self;
        let mailbox = Arc::new(Mailbox::default());
        let side = Side::new(settings, Arc::clone(&mailbox));
        AnswerStream::begin(Box::pin(drive(chain, request, options, side)), mailbox).await
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
