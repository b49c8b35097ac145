//! From an attempt to the bytes that are sent: what both APIs have in common.
//!
//! Everything is serialised from borrowed parts straight into the bytes that are sent: the prompt is copied once,
//! however large it is.

use backstop_core::{Attempt, FailureKind, ProviderError, ProviderOptions};
use backstop_http::{check_numbers, room_for};

use crate::{
    api::Api,
    cache::Cache,
    chat::request::Chat,
    format::{self, Format},
    models::ModelTraits,
    options::OpenAiOptions,
    params::Params,
    parts::Parts,
    responses::request::Respond,
    server::Server,
};

/// A request that is ready to be sent.
pub(crate) struct Rendered {
    pub(crate) body: Vec<u8>,
    /// How the answer is to be read.
    pub(crate) format: Format,
    /// What of the request could not be honoured.
    pub(crate) notes: Vec<String>,
}

/// Renders an attempt.
pub(crate) fn render(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    server: &Server,
    api: Api,
    streaming: bool,
) -> Result<Rendered, ProviderError> {
    check_numbers(attempt)?;
    let options: OpenAiOptions = options_of(attempt)?.unwrap_or_default();
    let routing = if server.routing { options_of(attempt)? } else { None };
    let mut notes = Vec::new();
    let format = format::choose(attempt, traits, server.schemas, streaming, &mut notes);
    let cache = Cache::hints(attempt, traits, server, api, &mut notes);
    let params = Params::gather(attempt, &options, traits, server, api, cache.retention, &mut notes);
    let (options, held) = (&options, &format);
    let parts = Parts { attempt, traits, server, options, routing, format: held, params, cache, streaming };
    let mut body = Vec::with_capacity(room_for(attempt));
    let written = match api {
        Api::Chat => serde_json::to_writer(&mut body, &Chat::new(&parts)?),
        Api::Responses => serde_json::to_writer(&mut body, &Respond(&parts)),
    };
    written.map_err(|error| invalid(format!("the request cannot be written as JSON: {error}")))?;
    Ok(Rendered { body, format, notes })
}

fn options_of<O: ProviderOptions>(attempt: &Attempt<'_>) -> Result<Option<O>, ProviderError> {
    attempt
        .request
        .options_of()
        .map_err(|error| invalid(format!("the options for `{}` cannot be read: {error}", O::PROVIDER)))
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}
