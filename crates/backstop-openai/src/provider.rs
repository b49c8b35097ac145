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
    OpenAi, error,
    request::{self, Format, OPTIONAL, Rendered, StreamUsage},
    response, stream,
};

#[async_trait]
impl Provider for OpenAi {
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
        let Rendered { body, format, notes } = request::render(attempt, &self.traits(attempt.model), None)?;
        let reply = self.0.http.send(self.post(attempt, body)?, &attempt.progress).await?;
        let response = self.read(&reply, attempt, &format)?;
        if let Some(usage) = response.usage {
            attempt.progress.usage(usage);
        }
        Ok(finished(response, &format, notes))
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let usage = if self.0.stream_usage { StreamUsage::Asked } else { StreamUsage::NotAsked };
        let Rendered { body, format, notes } =
            request::render(attempt, &self.traits(attempt.model), Some(usage))?;
        let opened = self.0.http.open(self.post(attempt, body)?, &attempt.progress).await?;
        if opened.is_success() && !is_json(&opened.headers) {
            return Ok(stream::chunks(
                opened,
                attempt.progress.clone(),
                format.is_sent(),
                self.0.key.clone(),
            ));
        }
        let reply = opened.read().await?;
        let response = self.read(&reply, attempt, &format)?;
        Ok(stream::whole(finished(response, &format, notes)))
    }
}

impl OpenAi {
    fn post(&self, attempt: &Attempt<'_>, body: Vec<u8>) -> Result<Post, ProviderError> {
        let mut headers = self.0.headers.clone();
        for (name, value) in &attempt.request.extra_headers {
            let (Ok(name), Ok(mut value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            else {
                let message = format!("the extra header {name:?} cannot be sent: not a header name or value");
                return Err(ProviderError::new(FailureKind::InvalidRequest, message));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Post::new(self.0.base.join(&["chat", "completions"]), body).with_headers(headers))
    }

    fn read(&self, reply: &Reply, attempt: &Attempt<'_>, format: &Format) -> Result<Response, ProviderError> {
        let asked = Asked::new(format.is_sent(), OPTIONAL, self.0.key.as_ref());
        match reply.status {
            200..=299 if is_events(&reply.headers) => stream::collect(reply, &asked),
            200..=299 => response::read(reply, attempt.request.keep_raw, &asked),
            _ => error::read(reply, &asked, SystemTime::now()),
        }
    }
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
