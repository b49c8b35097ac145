//! What a stream tells its consumer.

use std::{error::Error, fmt, sync::Arc};

use crate::{
    error::{Failure, FailureKind},
    human::Bytes,
    report::Report,
    response::{Response, Usage},
    target::TargetId,
};

/// Something new in a streamed answer. `Debug` shows sizes, never the text.
#[derive(Clone)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The first event: this target answers.
    Started {
        /// Who answers.
        target: TargetId,
    },
    /// A piece of the text, never empty.
    Delta(String),
    /// A piece of the model's reasoning, if [`StreamCall::reasoning`](crate::StreamCall::reasoning) asked for it.
    Reasoning(String),
    /// A piece of a tool call.
    ToolCall {
        /// Which call of the answer, from 0.
        index: usize,
        /// The vendor's id, in the first piece.
        id: Option<String>,
        /// The tool's name, in the first piece.
        name: Option<String>,
        /// A piece of the arguments' JSON text.
        arguments: String,
    },
    /// Another target begins the answer anew: what was shown so far is to be cleared. Only with
    /// [`OnInterrupt::Restart`](crate::OnInterrupt::Restart), or after reasoning that was shown.
    Restarted {
        /// Who answers now.
        target: TargetId,
    },
    /// Another target goes on with the text so far. Only with
    /// [`OnInterrupt::Continue`](crate::OnInterrupt::Continue).
    Continued {
        /// Who answers now.
        target: TargetId,
    },
    /// The last event: the answer is complete and was accepted.
    Finished {
        /// The whole answer. Its usage is an estimate where the vendor named none.
        response: Box<Response>,
        /// Everything that happened.
        report: Arc<Report>,
    },
}

impl fmt::Debug for StreamEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { target } => f.debug_struct("Started").field("target", target).finish(),
            Self::Delta(text) => f.debug_tuple("Delta").field(&Bytes(text)).finish(),
            Self::Reasoning(text) => f.debug_tuple("Reasoning").field(&Bytes(text)).finish(),
            Self::ToolCall { index, id, name, arguments } => f
                .debug_struct("ToolCall")
                .field("index", index)
                .field("id", id)
                .field("name", name)
                .field("arguments", &Bytes(arguments))
                .finish(),
            Self::Restarted { target } => f.debug_struct("Restarted").field("target", target).finish(),
            Self::Continued { target } => f.debug_struct("Continued").field("target", target).finish(),
            Self::Finished { response, .. } => {
                f.debug_struct("Finished").field("response", response).finish_non_exhaustive()
            }
        }
    }
}

/// The stream broke after something of it was shown. `Debug` shows sizes, never the text.
#[derive(Clone)]
#[non_exhaustive]
pub struct Interrupted {
    /// The text as it was shown, since the last [`StreamEvent::Restarted`] if there was one.
    pub text: String,
    /// Whose text it is.
    pub target: TargetId,
    /// What broke it. A soft failure if the answer came to its end and may not be used: it was cut off by the token
    /// limit, for example.
    pub cause: Arc<Failure>,
    /// What the broken attempt cost, as far as that is known or can be estimated; the report has the sum of all.
    pub usage: Option<Usage>,
    /// Everything that happened.
    pub report: Arc<Report>,
}

impl Interrupted {
    /// Where the cause stands in the taxonomy: [`FailureKind::StreamInterrupted`] if the stream was cut.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.cause.kind()
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.text.chars().count();
        write!(f, "the answer of {} was interrupted after {shown} characters: {}", self.target, self.cause)
    }
}

impl fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interrupted: {self}\n{}", self.report)
    }
}

impl Error for Interrupted {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}
