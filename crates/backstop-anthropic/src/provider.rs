//! One attempt, from request to response.

use std::{borrow::Cow, time::SystemTime};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, ChunkStream, CredentialId, FailureKind, Provider, ProviderError, Response,
};
use backstop_http::{
    Post, Reply,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    recognise::Asked,
};

use crate::{
    Anthropic,
    config::is_token,
    error,
    request::{self, Format, OPTIONAL, Rendered},
    response, stream,
};

/// What the vendor's own fallbacks need in the `anthropic-beta` header.
pub(crate) const FALLBACK_BETA: &str = "server-side-fallback-2026-07-01";
const FALLBACK_BETAS: &str = "server-side-fallback-";
const BETA_HEADER: &str = "anthropic-beta";

#[async_trait]
impl Provider for Anthropic {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn instance(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.instance_name())
    }

    fn credential(&self) -> CredentialId {
        self.credential_id()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.traits(model).capabilities
    }

    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        let Rendered { body, format, betas, notes } =
            request::render(attempt, &self.traits(attempt.model), false)?;
        let reply = self.0.http.send(self.post(attempt, body, betas)?, &attempt.progress).await?;
        let response = self.read(&reply, attempt, &format)?;
        if let Some(usage) = response.usage {
            attempt.progress.usage(usage);
        }
        Ok(finished(response, &format, notes))
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let Rendered { body, format, betas, notes } =
            request::render(attempt, &self.traits(attempt.model), true)?;
        let opened = self.0.http.open(self.post(attempt, body, betas)?, &attempt.progress).await?;
        if opened.is_success() && !is_json(&opened.headers) {
            return Ok(stream::chunks(opened, attempt.progress.clone(), &format, self.0.key.clone()));
        }
        let reply = opened.read().await?;
        let response = self.read(&reply, attempt, &format)?;
        Ok(stream::whole(finished(response, &format, notes)))
    }
}

impl Anthropic {
    fn post(&self, attempt: &Attempt<'_>, body: Vec<u8>, betas: Vec<String>) -> Result<Post, ProviderError> {
        let mut headers = self.0.headers.clone();
        let mut all = self.0.betas.clone();
        all.extend(betas);
        for (name, value) in &attempt.request.extra_headers {
            // Would take the place of those that the request needs.
            if name.eq_ignore_ascii_case(BETA_HEADER) {
                all.extend(value.split(',').map(|beta| beta.trim().to_owned()));
                continue;
            }
            let (Ok(key), Ok(mut value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            else {
                return Err(unsendable(format!(
                    "the extra header {name:?} cannot be sent: not a header name or value"
                )));
            };
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        if let Some(value) = beta_header(all)? {
            headers.insert(BETA_HEADER, value);
        }
        let mut post = Post::new(self.0.base.join(&["messages"]), body).with_headers(headers);
        post.request_id = &["request-id", "x-request-id"];
        Ok(post)
    }

    fn read(&self, reply: &Reply, attempt: &Attempt<'_>, format: &Format) -> Result<Response, ProviderError> {
        let asked = Asked::new(format.has_schema(), OPTIONAL, self.0.key.as_ref());
        match reply.status {
            200..=299 if is_events(&reply.headers) => stream::collect(reply, format, &asked),
            200..=299 => response::read(reply, attempt.request.keep_raw, format.answer_tool(), &asked),
            _ => Err(error::read(reply, &asked, SystemTime::now())),
        }
    }
}

/// Each beta once; another version of the fallback beta, which only the caller can have named, takes the place of ours.
fn beta_header(all: Vec<String>) -> Result<Option<HeaderValue>, ProviderError> {
    let named = all.iter().any(|beta| beta.starts_with(FALLBACK_BETAS) && beta != FALLBACK_BETA);
    let mut betas: Vec<String> = Vec::new();
    for beta in all {
        let replaced = named && beta == FALLBACK_BETA;
        if !beta.is_empty() && !replaced && !betas.contains(&beta) {
            betas.push(beta);
        }
    }
    if betas.is_empty() {
        return Ok(None);
    }
    let value = Some(betas).filter(|betas| betas.iter().all(|beta| is_token(beta)));
    match value.map(|betas| HeaderValue::from_str(&betas.join(","))) {
        Some(Ok(value)) => Ok(Some(value)),
        _ => Err(unsendable("a beta has a name that cannot be sent in a header".to_owned())),
    }
}

fn unsendable(message: String) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}

fn finished(mut response: Response, format: &Format, notes: Vec<String>) -> Response {
    response.text = format.restore(std::mem::take(&mut response.text));
    response.notes.extend(notes.into_iter().map(Cow::Owned));
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

fn is_events(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"))
}

fn media_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next().map(str::trim)
}
