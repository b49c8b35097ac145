//! One attempt, from request to response.

use std::{borrow::Cow, time::SystemTime};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, ChunkStream, CredentialId, Progress, Provider, ProviderError, Response, chunk,
};
use backstop_http::{Post, Reply, recognise::Asked, streaming};

use crate::{
    Gemini, error, models,
    request::{self, Format, Rendered},
    response,
    stream::{self, Reader},
};

#[async_trait]
impl Provider for Gemini {
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
        let Rendered { body, format, notes } = self.render(attempt)?;
        let reply =
            self.0.endpoint.http.send(self.post(attempt, Method::Generate, body)?, &attempt.progress).await?;
        let response = self.read(&reply, attempt, &format)?;
        if let Some(usage) = response.usage {
            attempt.progress.usage(usage);
        }
        // Google's id stands in the body.
        if let Some(id) = &response.request_id {
            attempt.progress.request_id(id);
        }
        Ok(noted(response, notes))
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let Rendered { body, format, notes } = self.render(attempt)?;
        let opened =
            self.0.endpoint.http.open(self.post(attempt, Method::Stream, body)?, &attempt.progress).await?;
        if opened.is_stream() {
            let (id, progress) = (opened.request_id.clone(), attempt.progress.clone());
            let chunks = streaming::chunks(opened, self.reader(id, progress, &format));
            return Ok(chunk::noted(chunks, notes));
        }
        let reply = opened.read().await?;
        let response = self.read(&reply, attempt, &format)?;
        Ok(chunk::whole(noted(response, notes)))
    }
}

/// Which method of a model is called.
#[derive(Clone, Copy)]
enum Method {
    Generate,
    Stream,
}

impl Gemini {
    pub(crate) fn render(&self, attempt: &Attempt<'_>) -> Result<Rendered, ProviderError> {
        request::render(attempt, &self.traits(attempt.model), &self.0.safety)
    }

    fn post(&self, attempt: &Attempt<'_>, method: Method, body: Vec<u8>) -> Result<Post, ProviderError> {
        let name = models::plain_name(attempt.model);
        let (collection, name) = match name.strip_prefix("tunedModels/") {
            Some(name) => ("tunedModels", name),
            None => ("models", name),
        };
        let endpoint = &self.0.endpoint;
        let post = match method {
            Method::Generate => endpoint.post(&[collection, &format!("{name}:generateContent")], body),
            Method::Stream => {
                let mut post = endpoint.post(&[collection, &format!("{name}:streamGenerateContent")], body);
                post.url.query_pairs_mut().append_pair("alt", "sse");
                post
            }
        };
        post.with_extra_headers(attempt)
    }

    pub(crate) fn reader(&self, id: Option<String>, progress: Progress, format: &Format) -> Reader {
        Reader::new(id, progress, format.has_schema(), self.0.endpoint.key.clone())
    }

    pub(crate) fn read(
        &self,
        reply: &Reply,
        attempt: &Attempt<'_>,
        format: &Format,
    ) -> Result<Response, ProviderError> {
        let asked = Asked::new(format.has_schema(), &[], self.0.endpoint.key.as_ref());
        match reply.status {
            200..=299 if reply.is_events() => stream::collect(reply, &asked),
            200..=299 => response::read(reply, attempt.request.keep_raw, &asked),
            _ => Err(error::read(reply, &asked, SystemTime::now())),
        }
    }
}

fn noted(mut response: Response, notes: Vec<String>) -> Response {
    response.notes.extend(notes.into_iter().map(Cow::Owned));
    response
}
