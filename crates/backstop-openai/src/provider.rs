//! One attempt, from request to response.

use std::{borrow::Cow, time::SystemTime};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Capabilities, ChunkStream, CredentialId, Progress, Provider, ProviderError, Response, chunk,
};
use backstop_http::{Post, Reply, recognise::Asked, streaming};

use crate::{
    OpenAi,
    api::Api,
    chat, error,
    format::Format,
    params::OPTIONAL,
    preset::Route,
    request::{self, Rendered},
    responses,
    stream::{Events, Reader},
};

#[async_trait]
impl Provider for OpenAi {
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
        let Rendered { body, format, notes } = self.render(attempt, false)?;
        let reply = self.0.endpoint.http.send(self.post(attempt, body)?, &attempt.progress).await?;
        let response = self.read(&reply, attempt, &format)?;
        if let Some(usage) = response.usage {
            attempt.progress.usage(usage);
        }
        Ok(finished(response, &format, notes))
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        let Rendered { body, format, notes } = self.render(attempt, true)?;
        let opened = self.0.endpoint.http.open(self.post(attempt, body)?, &attempt.progress).await?;
        if opened.is_stream() {
            let (id, progress) = (opened.request_id.clone(), attempt.progress.clone());
            let reader = self.reader(id, progress, &format).with_answer(format.restorer());
            return Ok(chunk::noted(streaming::chunks(opened, reader), notes));
        }
        let reply = opened.read().await?;
        let response = self.read(&reply, attempt, &format)?;
        Ok(chunk::whole(finished(response, &format, notes)))
    }
}

impl OpenAi {
    pub(crate) fn render(&self, attempt: &Attempt<'_>, streaming: bool) -> Result<Rendered, ProviderError> {
        request::render(attempt, &self.traits(attempt.model), &self.0.server, self.0.api, streaming)
    }

    fn post(&self, attempt: &Attempt<'_>, body: Vec<u8>) -> Result<Post, ProviderError> {
        let mut path = match (self.0.server.route, self.0.api) {
            (Route::Deployments, Api::Chat) => vec!["deployments", attempt.model],
            _ => Vec::new(),
        };
        path.extend(self.0.api.path());
        self.0.endpoint.post(&path, body).with_extra_headers(attempt)
    }

    pub(crate) fn reader(&self, id: Option<String>, progress: Progress, format: &Format) -> Reader {
        Reader::new(events(self.0.api), id, progress, format.refusable(), self.0.endpoint.key.clone())
    }

    pub(crate) fn read(
        &self,
        reply: &Reply,
        attempt: &Attempt<'_>,
        format: &Format,
    ) -> Result<Response, ProviderError> {
        let server = &self.0.server;
        let asked = Asked::new(format.refusable(), OPTIONAL, self.0.endpoint.key.as_ref())
            .with_statuses(&server.statuses);
        let keep_raw = attempt.request.keep_raw;
        match (reply.status, self.0.api) {
            (200..=299, _) if reply.is_events() => {
                let (id, progress) = (reply.request_id.clone(), Progress::default());
                streaming::collect(reply, self.reader(id, progress, format))
            }
            (200..=299, Api::Chat) => chat::response::read(reply, keep_raw, &asked),
            (200..=299, Api::Responses) => responses::response::read(reply, keep_raw, &asked),
            _ => error::read(reply, &asked, SystemTime::now()),
        }
    }
}

fn events(api: Api) -> Box<dyn Events> {
    match api {
        Api::Chat => Box::new(chat::stream::ChatEvents),
        Api::Responses => Box::<responses::stream::ResponseEvents>::default(),
    }
}

fn finished(response: Response, format: &Format, notes: Vec<String>) -> Response {
    let mut response = format.restore(response);
    response.notes.extend(notes.into_iter().map(Cow::Owned));
    response
}
