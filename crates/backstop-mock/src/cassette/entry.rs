//! The lines of a cassette.

use std::{borrow::Cow, time::Duration};

use backstop_core::{Capabilities, Chunk, FailureKind, ProviderError, Remedy, Response, Stage, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first line.
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    #[serde(rename = "backstop_cassette")]
    pub(super) version: u32,
    pub(super) provider: String,
}

/// One request and what came of it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    /// In the order in which requests began, from 1.
    pub(super) number: u64,
    pub(super) asked: Value,
    pub(super) answer: Answer,
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub(super) capabilities: Capabilities,
}

fn is_unknown(capabilities: &Capabilities) -> bool {
    *capabilities == Capabilities::unknown()
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Response(Box<Response>),
    Error(Box<Failed>),
    Stream(Streamed),
    /// The caller went away before there was an answer.
    Cancelled,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Streamed {
    pub(super) chunks: Vec<Chunk>,
    pub(super) end: End,
}

/// How a stream ended.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// By itself, with or without having said so.
    Finished,
    Error(Box<Failed>),
    /// The caller went away before its end.
    Cancelled,
}

/// A [`ProviderError`] without what lies behind it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Failed {
    kind: FailureKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    param: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server_retry: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remedy: Option<Remedy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stale: bool,
}

impl From<&ProviderError> for Failed {
    fn from(error: &ProviderError) -> Self {
        Self {
            kind: error.kind(),
            message: error.message().to_owned(),
            status: error.status(),
            code: error.code().map(str::to_owned),
            param: error.param().map(str::to_owned),
            request_id: error.request_id().map(str::to_owned),
            retry_after: error.retry_after(),
            server_retry: error.server_retry(),
            remedy: error.remedy(),
            usage: error.usage(),
            stage: error.stage(),
            stale: error.is_stale(),
        }
    }
}

impl From<&Failed> for ProviderError {
    fn from(failed: &Failed) -> Self {
        let mut error = Self::new(failed.kind, Cow::Owned(failed.message.clone()));
        let Failed { status, code, param, request_id, retry_after, server_retry, remedy, .. } =
            failed.clone();
        error = status.into_iter().fold(error, Self::with_status);
        error = code.into_iter().fold(error, Self::with_code);
        error = param.into_iter().fold(error, Self::with_param);
        error = request_id.into_iter().fold(error, Self::with_request_id);
        error = retry_after.into_iter().fold(error, Self::with_retry_after);
        error = server_retry.into_iter().fold(error, Self::with_server_retry);
        error = remedy.into_iter().fold(error, Self::with_remedy);
        error = failed.usage.into_iter().fold(error, Self::with_usage);
        error = failed.stage.into_iter().fold(error, Self::with_stage);
        if failed.stale { error.as_stale() } else { error }
    }
}
