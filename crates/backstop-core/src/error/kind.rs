//! The taxonomy: every way in which an attempt can fail.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{ProviderError, Rejection};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// Every way in which an attempt can fail, hard kinds first. Details (stage, wait, pointer) are in the
        /// error; the kind alone is a table index and a metrics label.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum FailureKind {
            $($(#[$doc])* $name,)*
        }

        impl FailureKind {
            /// All kinds, in the order of the taxonomy.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// The kind in snake case, as in reports and metrics.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

kinds! {
    /// The attempt took longer than its timeout; [`ProviderError::stage`] says where it hung.
    Timeout = "timeout",
    /// DNS, TCP or TLS failed, or the connection was reset before any byte of a response.
    Connect = "connect",
    /// Too many requests or tokens in a short time (429, or 402 with a wait).
    RateLimited = "rate_limited",
    /// The vendor says that it has no capacity (529, 503, vendor codes).
    Overloaded = "overloaded",
    /// The vendor failed (other 5xx, 408, 409).
    Server = "server",
    /// A success status with a body that is not what the API promises.
    MalformedResponse = "malformed_response",
    /// The account is out of money or over a spend limit.
    QuotaExhausted = "quota_exhausted",
    /// The key is missing, wrong or revoked.
    Authentication = "authentication",
    /// The key is known but may not do this.
    Permission = "permission",
    /// The vendor does not have the model, or not for this account.
    ModelNotFound = "model_not_found",
    /// The vendor says that the request is wrong.
    InvalidRequest = "invalid_request",
    /// Prompt and answer do not fit into the model's context.
    ContextTooLong = "context_too_long",
    /// The vendor does not take the schema.
    SchemaRejected = "schema_rejected",
    /// The vendor does not take an optional parameter.
    ParamRejected = "param_rejected",
    /// The vendor's filter stopped the prompt or the answer.
    Filtered = "filtered",
    /// The target cannot do what the request needs; nothing was sent.
    Unsupported = "unsupported",
    /// A stream broke or stalled after its first content.
    StreamInterrupted = "stream_interrupted",
    /// The caller went away.
    Cancelled = "cancelled",
    /// None of the other kinds.
    Unknown = "unknown",
    /// Soft: no usable text and no tool call.
    Empty = "empty",
    /// Soft: less text than the caller wants.
    TooShort = "too_short",
    /// Soft: the model declined.
    Refused = "refused",
    /// Soft: the answer was cut off.
    Truncated = "truncated",
    /// Soft: the answer holds no JSON.
    NotJson = "not_json",
    /// Soft: the JSON does not follow the schema.
    SchemaMismatch = "schema_mismatch",
    /// Soft: a tool call names no known tool or has wrong arguments.
    ToolCallInvalid = "tool_call_invalid",
    /// Soft: several different answers fit.
    Ambiguous = "ambiguous",
    /// Soft: the model asks for something that the request lacks ("please attach the document").
    NeedsInput = "needs_input",
    /// Soft: below the caller's own bar.
    Rejected = "rejected",
}

impl FailureKind {
    /// Whether the provider answered and only the answer may not be used.
    #[must_use]
    pub const fn is_soft(self) -> bool {
        self as u8 >= Self::Empty as u8
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why one attempt failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The provider gave no answer.
    #[error(transparent)]
    Hard(#[from] ProviderError),
    /// The provider gave an answer that may not be used.
    #[error(transparent)]
    Soft(#[from] Rejection),
}

impl Failure {
    /// Where it stands in the taxonomy.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Hard(error) => error.kind(),
            Self::Soft(rejection) => rejection.kind(),
        }
    }

    /// The hard failure, if it is one.
    #[must_use]
    pub fn as_hard(&self) -> Option<&ProviderError> {
        match self {
            Self::Hard(error) => Some(error),
            Self::Soft(_) => None,
        }
    }

    /// The soft failure, if it is one.
    #[must_use]
    pub fn as_soft(&self) -> Option<&Rejection> {
        match self {
            Self::Soft(rejection) => Some(rejection),
            Self::Hard(_) => None,
        }
    }

    /// The wait that the server named.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.as_hard().and_then(ProviderError::retry_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_follow_the_order_of_all_and_soft_kinds_come_last() {
        for (index, kind) in FailureKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert!(!FailureKind::Unknown.is_soft() && FailureKind::Empty.is_soft());
        assert!(FailureKind::ALL.windows(2).all(|pair| pair[0].is_soft() <= pair[1].is_soft()));
    }
}
