//! One attempt, from request to response.

use std::{borrow::Cow, time::SystemTime};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, ChunkStream, CredentialId, FailureKind, Progress, Provider, ProviderError,
    Response, chunk,
};
use backstop_http::{ApiKey, Endpoint, Post, Reply, recognise::Asked, streaming};

use crate::{
    Ollama,
    config::NAME,
    error,
    request::{self, Defaults, Format, Rendered},
    response,
    stream::{Question, Reader},
};

#[async_trait]
impl Provider for Ollama {
    fn name(&self) -> &str {
        self.0.endpoint.as_ref().map_or(NAME, |endpoint| &endpoint.name)
    }

    fn instance(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.endpoint.as_ref().map_or(NAME, Endpoint::instance))
    }

    fn credential(&self) -> CredentialId {
        self.0.endpoint.as_ref().map(Endpoint::credential).unwrap_or_default()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.traits(model).capabilities
    }

    async fn complete(&self, attempt: &Attempt<'_>) -> Result<Response, ProviderError> {
        let endpoint = self.endpoint()?;
        let Rendered { body, format, notes } = self.render(attempt, false)?;
        let post = post(endpoint, attempt, body)?;
        let reply = endpoint.http.send(post, &attempt.progress).await.map_err(error::unreached)?;
        let response = self.read(&reply, attempt, &format)?;
        if let Some(usage) = response.usage {
            attempt.progress.usage(usage);
        }
        Ok(noted(response, notes))
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let endpoint = self.endpoint()?;
        let Rendered { body, format, notes } = self.render(attempt, true)?;
        let post = post(endpoint, attempt, body)?;
        let opened = endpoint.http.open(post, &attempt.progress).await.map_err(error::unreached)?;
        if opened.is_stream() {
            let (id, progress) = (opened.request_id.clone(), attempt.progress.clone());
            let chunks = streaming::chunks(opened, self.reader(id, progress, attempt.model, &format));
            return Ok(chunk::noted(chunks, notes));
        }
        let reply = opened.read().await?;
        let response = self.read(&reply, attempt, &format)?;
        Ok(chunk::whole(noted(response, notes)))
    }
}

impl Ollama {
    fn endpoint(&self) -> Result<&Endpoint, ProviderError> {
        let why = |why: &String| ProviderError::new(FailureKind::InvalidRequest, why.clone());
        self.0.endpoint.as_ref().map_err(why)
    }

    fn key(&self) -> Option<&ApiKey> {
        self.0.endpoint.as_ref().ok().and_then(|endpoint| endpoint.key.as_ref())
    }

    pub(crate) fn render(&self, attempt: &Attempt<'_>, stream: bool) -> Result<Rendered, ProviderError> {
        let defaults = Defaults { num_ctx: self.0.num_ctx, keep_alive: self.0.keep_alive };
        request::render(attempt, &self.traits(attempt.model), defaults, stream)
    }

    pub(crate) fn reader(
        &self,
        id: Option<String>,
        progress: Progress,
        model: &str,
        format: &Format,
    ) -> Reader {
        let (model, key) = (model.to_owned(), self.key().cloned());
        Reader::new(id, progress, Question { model, schema: format.has_schema(), key })
    }

    pub(crate) fn read(
        &self,
        reply: &Reply,
        attempt: &Attempt<'_>,
        format: &Format,
    ) -> Result<Response, ProviderError> {
        let asked = Asked::new(format.has_schema(), &[], self.key());
        if reply.is_success() {
            return response::read(reply, attempt.request.keep_raw, &asked, attempt.model);
        }
        Err(error::read(reply, &asked, attempt.model, SystemTime::now()))
    }
}

fn post(endpoint: &Endpoint, attempt: &Attempt<'_>, body: Vec<u8>) -> Result<Post, ProviderError> {
    endpoint.post(&["api", "chat"], body).with_extra_headers(attempt)
}

fn noted(mut response: Response, notes: Vec<String>) -> Response {
    response.notes.extend(notes.into_iter().map(Cow::Owned));
    response
}
