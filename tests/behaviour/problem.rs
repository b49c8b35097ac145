//! What a vendor may complain about, and what an adapter makes of it.

use backstop::{FailureKind, mock::server::ApiError};

/// A complaint in the vendor's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    BadKey,
    Permission,
    Quota,
    RateLimit,
    Overloaded,
    Server,
    Timeout,
    ModelNotFound,
    InvalidRequest,
    ContextTooLong,
    TooLarge,
    SchemaRejected,
    PromptFiltered,
}

impl Problem {
    pub const ALL: [Self; 13] = [
        Self::BadKey,
        Self::Permission,
        Self::Quota,
        Self::RateLimit,
        Self::Overloaded,
        Self::Server,
        Self::Timeout,
        Self::ModelNotFound,
        Self::InvalidRequest,
        Self::ContextTooLong,
        Self::TooLarge,
        Self::SchemaRejected,
        Self::PromptFiltered,
    ];

    pub fn error(self) -> ApiError {
        match self {
            Self::BadKey => ApiError::bad_key(),
            Self::Permission => ApiError::forbidden(),
            Self::Quota => ApiError::quota_exhausted(),
            Self::RateLimit => ApiError::rate_limited(),
            Self::Overloaded => ApiError::overloaded(),
            Self::Server => ApiError::server(),
            Self::Timeout => ApiError::timeout(),
            Self::ModelNotFound => ApiError::model_not_found(),
            Self::InvalidRequest => ApiError::invalid_request(),
            Self::ContextTooLong => ApiError::context_too_long(),
            Self::TooLarge => ApiError::too_large(),
            Self::SchemaRejected => ApiError::schema_rejected(),
            Self::PromptFiltered => ApiError::prompt_filtered(),
        }
    }

    /// What it means at every vendor that can say it.
    pub fn usual_kind(self) -> FailureKind {
        match self {
            Self::BadKey => FailureKind::Authentication,
            Self::Permission => FailureKind::Permission,
            Self::Quota => FailureKind::QuotaExhausted,
            Self::RateLimit => FailureKind::RateLimited,
            Self::Overloaded => FailureKind::Overloaded,
            Self::Server | Self::Timeout => FailureKind::Server,
            Self::ModelNotFound => FailureKind::ModelNotFound,
            Self::InvalidRequest => FailureKind::InvalidRequest,
            Self::ContextTooLong | Self::TooLarge => FailureKind::ContextTooLong,
            Self::SchemaRejected => FailureKind::SchemaRejected,
            Self::PromptFiltered => FailureKind::Filtered,
        }
    }
}
