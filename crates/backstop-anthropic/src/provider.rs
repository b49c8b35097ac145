//! One attempt, from request to response.

use std::{borrow::Cow, time::SystemTime};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, ChunkStream, CredentialId, FailureKind, Progress, Provider, ProviderError,
    Response, chunk,
};
use backstop_http::{Post, Reply, header::HeaderValue, recognise::Asked, streaming};

use crate::{
    Anthropic,
    config::is_token,
    error,
    options::FALLBACK_BETA,
    request::{self, Format, OPTIONAL, Rendered},
    response,
    stream::Reader,
};

const FALLBACK_BETAS: &str = "server-side-fallback-";
const BETA_HEADER: &str = "anthropic-beta";

#[async_trait]
impl Provider for Anthropic {
    fn name(&self) -> &str {
        &self.0.endpoint.name
    }

    fn instance(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.endpoint.instance())
    }

    fn credential(&self) -> CredentialId {
        self.0.endpoint.credential()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.traits(model).capabilities
    }

    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        let Rendered { body, format, betas, notes } =
            request::render(attempt, &self.traits(attempt.model), false)?;
        let reply = self.0.endpoint.http.send(self.post(attempt, body, betas)?, &attempt.progress).await?;
        let response = self.read(&reply, attempt, &format)?;
        if let Some(usage) = response.usage {
            attempt.progress.usage(usage);
        }
        Ok(finished(response, &format, notes))
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let Rendered { body, format, betas, notes } =
            request::render(attempt, &self.traits(attempt.model), true)?;
        let opened = self.0.endpoint.http.open(self.post(attempt, body, betas)?, &attempt.progress).await?;
        if opened.is_stream() {
            let (id, progress) = (opened.request_id.clone(), attempt.progress.clone());
            let chunks = streaming::chunks(opened, self.reader(id, progress, &format));
            return Ok(chunk::noted(chunks, notes));
        }
        let reply = opened.read().await?;
        let response = self.read(&reply, attempt, &format)?;
        Ok(chunk::whole(finished(response, &format, notes)))
    }
}

impl Anthropic {
    fn post(&self, attempt: &Attempt<'_>, body: Vec<u8>, betas: Vec<String>) -> Result<Post, ProviderError> {
        let mut post = self.0.endpoint.post(&["messages"], body);
        let mut all = self.0.betas.clone();
        all.extend(betas);
        for (name, value) in &attempt.request.extra_headers {
            // Would take the place of those that the request needs.
            if name.eq_ignore_ascii_case(BETA_HEADER) {
                all.extend(value.split(',').map(|beta| beta.trim().to_owned()));
            } else {
                post = post.with_extra_header(name, value)?;
            }
        }
        if let Some(value) = beta_header(all)? {
            post.headers.insert(BETA_HEADER, value);
        }
        post.request_id = &["request-id", "x-request-id"];
        Ok(post)
    }

    pub(crate) fn reader(&self, id: Option<String>, progress: Progress, format: &Format) -> Reader {
        Reader::new(id, progress, format, self.0.endpoint.key.clone())
    }

    pub(crate) fn read(
        &self,
        reply: &Reply,
        attempt: &Attempt<'_>,
        format: &Format,
    ) -> Result<Response, ProviderError> {
        let asked = Asked::new(format.has_schema(), OPTIONAL, self.0.endpoint.key.as_ref());
        match reply.status {
            200..=299 if reply.is_events() => {
                let (id, progress) = (reply.request_id.clone(), Progress::default());
                streaming::collect(reply, self.reader(id, progress, format))
            }
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
        _ => {
            let message = "a beta has a name that cannot be sent in a header";
            Err(ProviderError::new(FailureKind::InvalidRequest, message))
        }
    }
}

fn finished(mut response: Response, format: &Format, notes: Vec<String>) -> Response {
    response.text = format.restore(std::mem::take(&mut response.text));
    response.notes.extend(notes.into_iter().map(Cow::Owned));
    response
}
