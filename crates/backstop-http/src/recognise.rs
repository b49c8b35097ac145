//! What a vendor's error means: from status, codes and text to a [`FailureKind`].
//!
//! The status alone is not enough: a 400 may be a bad key, a spend limit, a filtered prompt or a prompt that is too
//! long; a 403 may be any of these; a 429 may be an empty account. So codes are asked first, then types, then the
//! text, where a vendor says it in text only, and the status last.
//!
//! [`CODES`] and [`PHRASES`] are shared by all adapters: compatible servers and routers pass on each other's words.

use std::time::SystemTime;

use backstop_core::{FailureKind, ProviderError, Stage};
use serde_json::Value;

use crate::{
    error_body::{ErrorBody, LONGEST_MESSAGE},
    exchange::Reply,
    header::HeaderMap,
    retry_after,
    secret::{self, ApiKey},
};

use FailureKind::{
    Authentication, Connect, ContextTooLong, Filtered, InvalidRequest, MalformedResponse, ModelNotFound,
    Overloaded, ParamRejected, Permission, QuotaExhausted, RateLimited, SchemaRejected, Server, Unknown,
    Unsupported,
};

/// Codes and types of all vendors. The first that is found in a body decides.
pub const CODES: &[(&str, FailureKind)] = &[
    // Money and quota: no wait helps. OpenAI, then Anthropic, then OpenRouter.
    ("credit_balance_exhausted", QuotaExhausted),
    ("organization_spend_limit_exceeded", QuotaExhausted),
    ("project_spend_limit_exceeded", QuotaExhausted),
    ("organization_usage_limit_exceeded", QuotaExhausted),
    ("insufficient_quota", QuotaExhausted),
    ("billing_hard_limit_reached", QuotaExhausted),
    ("billing_not_active", QuotaExhausted),
    ("enforced_spend_limit_reached", QuotaExhausted),
    ("contract_spend_limit_reached", QuotaExhausted),
    ("linked_organization_billing_unavailable", QuotaExhausted),
    ("linked_organization_spend_limit_reached", QuotaExhausted),
    ("billing_error", QuotaExhausted),
    // In-flight budget of OpenRouter: a 402 that passes.
    ("openrouter_in_flight_budget", RateLimited),
    ("payment_required", QuotaExhausted),
    // Filters.
    ("content_filter", Filtered),
    ("ContentFiltered", Filtered),
    ("ResponsibleAIPolicyViolation", Filtered),
    ("content_policy_violation", Filtered),
    ("image_content_policy_violation", Filtered),
    ("moderation_blocked", Filtered),
    ("moderation", Filtered),
    ("invalid_prompt", Filtered),
    ("bio_policy", Filtered),
    ("misalignment_policy_violation", Filtered),
    ("refusal", Filtered),
    // Length.
    ("context_length_exceeded", ContextTooLong),
    ("exceed_context_size_error", ContextTooLong),
    ("token_limit_exceeded", ContextTooLong),
    ("tokens_limit_reached", ContextTooLong),
    ("string_too_long", ContextTooLong),
    ("string_above_max_length", ContextTooLong),
    ("request_too_large", ContextTooLong),
    ("request_body_too_large_after_decoding", ContextTooLong),
    ("payload_too_large", ContextTooLong),
    // Credentials and permissions.
    ("invalid_api_key", Authentication),
    ("API_KEY_INVALID", Authentication),
    ("authentication_error", Authentication),
    ("authentication", Authentication),
    ("UNAUTHENTICATED", Authentication),
    ("organization_on_hold", Permission),
    ("unsupported_country_region_territory", Permission),
    ("permission_error", Permission),
    ("permission_denied", Permission),
    ("PERMISSION_DENIED", Permission),
    // Models.
    ("model_not_found", ModelNotFound),
    ("DeploymentNotFound", ModelNotFound),
    ("unknown_model", ModelNotFound),
    // Schemas.
    ("invalid_json_schema", SchemaRejected),
    // Rates.
    ("rate_limit_exceeded", RateLimited),
    ("ramp_limit_exceeded", RateLimited),
    ("rate_limit_error", RateLimited),
    ("rate_limited", RateLimited),
    // Capacity.
    ("server_is_overloaded", Overloaded),
    ("provider_overloaded", Overloaded),
    ("overloaded_error", Overloaded),
    ("insufficient_system_resource", Overloaded),
    ("unavailable_error", Overloaded),
    ("UNAVAILABLE", Overloaded),
    // What the server cannot do at all. llama.cpp.
    ("not_supported_error", Unsupported),
    // Pictures that cannot be used. OpenAI's Responses, then OpenRouter.
    ("invalid_image", InvalidRequest),
    ("invalid_image_format", InvalidRequest),
    ("invalid_base64_image", InvalidRequest),
    ("invalid_image_url", InvalidRequest),
    ("invalid_image_mode", InvalidRequest),
    ("image_too_large", InvalidRequest),
    ("image_too_small", InvalidRequest),
    ("image_parse_error", InvalidRequest),
    ("image_file_too_large", InvalidRequest),
    ("image_file_not_found", InvalidRequest),
    ("unsupported_image_media_type", InvalidRequest),
    ("empty_image_file", InvalidRequest),
    ("failed_to_download_image", InvalidRequest),
    ("unsupported_image_format", InvalidRequest),
    ("image_not_found", InvalidRequest),
    ("image_download_failed", InvalidRequest),
    ("data_residency_mismatch", InvalidRequest),
    // Failures.
    ("server_error", Server),
    ("api_error", Server),
    ("timeout_error", Server),
    ("provider_unavailable", Server),
    ("vector_store_timeout", Server),
    ("INTERNAL", Server),
    ("DEADLINE_EXCEEDED", Server),
];

/// Words of vendors that give no code, in lower case, and the statuses with which they count.
pub const PHRASES: &[(&[u16], &str, FailureKind)] = &[
    (&[400, 429], "specified api usage limits", QuotaExhausted),
    (&[400, 429], "workspace api usage limits", QuotaExhausted),
    (&[400, 402, 403, 429], "credit balance is too low", QuotaExhausted),
    (&[402, 403, 429], "prepayment credits are depleted", QuotaExhausted),
    (&[402, 429], "exceeded your current quota, please check your plan", QuotaExhausted),
    (&[400], "api key not valid", Authentication),
    (&[400, 403, 404], "incorrect api key", Authentication),
    (&[400, 403], "organization has been disabled", Permission),
    (&[400, 403, 422], "content management policy", Filtered),
    (&[400, 403, 422], "prompt was filtered", Filtered),
    (&[400, 403, 422], "response was filtered", Filtered),
    (&[400, 403, 422], "our usage polic", Filtered),
    (&[400, 403, 422], "our safety system", Filtered),
    (&[400, 403, 422], "content policy", Filtered),
    (&[400, 403], "requires moderation", Filtered),
    (&[429], "request too large", ContextTooLong),
    (&[400, 403, 413, 422, 500], "maximum context length", ContextTooLong),
    (&[400, 403, 413, 422, 500], "context length", ContextTooLong),
    (&[400, 403, 413, 422, 500], "context limit", ContextTooLong),
    (&[400, 403, 413, 422, 500], "context window", ContextTooLong),
    (&[400, 403, 413, 422, 500], "context size", ContextTooLong),
    (&[400, 413, 422], "prompt is too long", ContextTooLong),
    (&[400, 413, 422], "input is too long", ContextTooLong),
    (&[400, 413, 422], "exceeds the maximum number of tokens allowed", ContextTooLong),
    (&[400, 413, 422], "maximum prompt length", ContextTooLong),
    (&[400, 413, 422], "maximum model length", ContextTooLong),
    (&[400, 413, 422], "maximum input length", ContextTooLong),
    (&[400, 413, 422], "model token limit", ContextTooLong),
    (&[400, 413, 422], "prompt token count", ContextTooLong),
    (&[400, 413, 422], "too many tokens", ContextTooLong),
    (&[400, 413, 422], "reduce the length of the", ContextTooLong),
    (&[400, 413, 422], "`max_new_tokens` must be", ContextTooLong),
    (&[400, 422], "invalid schema", SchemaRejected),
    (&[400, 422], "schema is too complex", SchemaRejected),
    (&[400, 422], "grammar is too large", SchemaRejected),
    (&[400], "does not exist or you do not have access", ModelNotFound),
    (&[429, 500, 502], "overloaded", Overloaded),
    // llama.cpp, as a 500.
    (&[400, 500, 501], "image input is not supported", Unsupported),
];

/// Fields in which a schema travels, as vendors spell them in complaints about it.
const SCHEMA_FIELDS: &[&str] = &[
    "response_format",
    "text.format",
    "json_schema",
    "output_config",
    "response_schema",
    "responseSchema",
    "response_json_schema",
    "responseJsonSchema",
];

/// Codes with which a vendor names a parameter that it does not take.
const UNSUPPORTED: &[&str] = &["unsupported_parameter", "unsupported_value", "extra_forbidden"];

/// What an adapter notes with an answer that has reasoning and nothing else: the model did work, and was paid for it.
pub const ONLY_REASONING: &str = "the answer has reasoning and no text";

/// What the request had, as far as it matters for what an error means.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Asked<'a> {
    /// A schema went with it, so complaints about schemas are about that.
    pub schema: bool,
    /// Names of the parameters in it that could be left out.
    pub optional: &'a [&'a str],
    /// The key that went with it, which may be quoted.
    pub key: Option<&'a ApiKey>,
    /// What a status means at this server, where neither a code nor a text says what happened.
    pub statuses: &'a [(u16, FailureKind)],
    /// What is advised where a 404 says nothing about a model: the path is not there.
    pub path_advice: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// A request that had a schema or not, with these optional parameters.
    pub fn new(schema: bool, optional: &'a [&'a str], key: Option<&'a ApiKey>) -> Self {
        Self { schema, optional, key, statuses: &[], path_advice: None }
    }

    /// Sets what is advised where a 404 says nothing about a model. Default: to check the base URL.
    #[must_use]
    pub fn with_path_advice(mut self, advice: &'a str) -> Self {
        self.path_advice = Some(advice);
        self
    }

    /// Sets what statuses mean at this server, before what they usually mean.
    #[must_use]
    pub fn with_statuses(mut self, statuses: &'a [(u16, FailureKind)]) -> Self {
        self.statuses = statuses;
        self
    }
}

/// What an error means, by its code, its type, its text and its status, in that order.
pub fn kind(status: u16, headers: &HeaderMap, body: &ErrorBody, asked: &Asked<'_>) -> FailureKind {
    let kind = by_code(body).or_else(|| by_param(status, body, asked)).or_else(|| by_phrase(status, body));
    let kind = match kind {
        Some(SchemaRejected) if !asked.schema => None,
        kind => kind,
    };
    match kind {
        // Says that something is too fast, but 503 says what: the server.
        Some(RateLimited) if status == 503 => Overloaded,
        // The code is the vendor's word for any failure; the status says which.
        Some(Server) if matches!(status, 503 | 529) => Overloaded,
        Some(Server) => by_phrase(status, body).filter(|kind| *kind == Unsupported).unwrap_or(Server),
        Some(QuotaExhausted) if status == 402 && waits(headers, body) => RateLimited,
        // A limit of tokens per minute that this one request is over by itself.
        Some(RateLimited) => {
            by_phrase(status, body).filter(|kind| *kind != Overloaded).unwrap_or(RateLimited)
        }
        Some(kind) => kind,
        None => {
            let own = asked.statuses.iter().find(|(known, _)| *known == status);
            own.map_or_else(|| by_status(status, headers, body), |(_, kind)| *kind)
        }
    }
}

/// What a vendor says about one field of the request.
fn by_param(status: u16, body: &ErrorBody, asked: &Asked<'_>) -> Option<FailureKind> {
    if !matches!(status, 400 | 422) {
        return None;
    }
    let param = body.param.as_deref().unwrap_or_default();
    let place = if param.is_empty() { body.message.as_deref().unwrap_or_default() } else { param };
    if asked.schema && SCHEMA_FIELDS.iter().any(|field| place.contains(field)) {
        return Some(SchemaRejected);
    }
    let unsupported = body.codes.iter().any(|code| UNSUPPORTED.contains(&code.as_str()));
    (unsupported && asked.optional.contains(&param)).then_some(ParamRejected)
}

fn by_code(body: &ErrorBody) -> Option<FailureKind> {
    if body.codes.iter().any(|code| code.contains("PerDay")) {
        // Google's daily quotas are named like `GenerateRequestsPerDayPerProjectPerModel`.
        return Some(QuotaExhausted);
    }
    body.codes.iter().find_map(|code| CODES.iter().find(|(known, _)| known == code)).map(|(_, kind)| *kind)
}

/// Classes that say no more than a status would; they count where there is none.
fn by_class(body: &ErrorBody) -> Option<FailureKind> {
    body.codes.iter().find_map(|code| match code.as_str() {
        "invalid_request_error" | "invalid_request" | "BadRequestError" => Some(InvalidRequest),
        "not_found_error" | "not_found" | "NotFoundError" => Some(ModelNotFound),
        _ => None,
    })
}

fn by_phrase(status: u16, body: &ErrorBody) -> Option<FailureKind> {
    let text = body.message.as_deref()?;
    // What a vendor has to say stands at the beginning; a quoted prompt may follow.
    let text: String = text.chars().take(2 * LONGEST_MESSAGE).collect::<String>().to_lowercase();
    let found =
        PHRASES.iter().find(|(statuses, phrase, _)| statuses.contains(&status) && text.contains(phrase));
    found.map(|(_, _, kind)| *kind)
}

fn waits(headers: &HeaderMap, body: &ErrorBody) -> bool {
    body.retry_after.is_some() || retry_after::named(headers, SystemTime::UNIX_EPOCH).is_some()
}

fn by_status(status: u16, headers: &HeaderMap, body: &ErrorBody) -> FailureKind {
    match status {
        401 => Authentication,
        402 if waits(headers, body) => RateLimited,
        402 => QuotaExhausted,
        403 => Permission,
        404 => ModelNotFound,
        // Google: billing is off, or the free tier is not offered in the caller's country.
        400 if body.codes.iter().any(|code| code == "FAILED_PRECONDITION") => QuotaExhausted,
        400 | 422 => InvalidRequest,
        413 => ContextTooLong,
        429 => RateLimited,
        // 498: Groq has no capacity left for the tier.
        498 | 503 | 529 => Overloaded,
        // 424: something behind the server failed.
        408 | 409 | 424 | 425 => Server,
        // A gateway that cannot reach or does not trust the server behind it.
        521 | 522 | 523 | 525 | 526 => Connect,
        500..=599 => Server,
        100..=399 => MalformedResponse,
        _ => Unknown,
    }
}

/// The failure that a response with an error status is.
///
/// `now` is what a date in `retry-after` is read against if the response has no `Date`.
pub fn http_error(reply: &Reply, asked: &Asked<'_>, now: SystemTime) -> ProviderError {
    let body = ErrorBody::read(&reply.body);
    let kind = kind(reply.status, &reply.headers, &body, asked);
    let wait = retry_after::named(&reply.headers, now).or(body.retry_after).or_else(|| {
        (kind == RateLimited).then(|| retry_after::rate_limit_reset(&reply.headers, now)).flatten()
    });
    let mut said = message(reply.status, &body, asked.key);
    if kind == ModelNotFound && reply.status == 404 && !speaks_of_a_model(&body) {
        said = format!("{said}; {}", asked.path_advice.unwrap_or(WRONG_PATH));
    }
    let mut error = ProviderError::new(kind, said).with_status(reply.status);
    if let Some(wait) = wait {
        error = error.with_retry_after(wait);
    }
    if let Some(retry) = retry_after::should_retry(&reply.headers) {
        error = error.with_server_retry(retry);
    }
    if let Some(id) = reply.request_id.clone().or_else(|| body.request_id.clone()) {
        error = error.with_request_id(id);
    }
    labelled(error, &body, asked.key).with_stage(Stage::Body)
}

const WRONG_PATH: &str = "no word about the model, so check `base_url`: the path may be wrong";

fn speaks_of_a_model(body: &ErrorBody) -> bool {
    let said = body.message.iter().chain(&body.param).chain(&body.codes);
    said.into_iter().any(|text| {
        let text = text.to_lowercase();
        ["model", "deployment", "engine"].iter().any(|word| text.contains(word))
    })
}

/// Whether the `error` of a success is one: `null`, `false` and `""` are none.
pub fn is_error(error: &Value) -> bool {
    !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("")
}

/// The failure that an error inside a success response or a stream is: by its own code, as if it were a status.
pub fn in_band_error(body: &ErrorBody, asked: &Asked<'_>) -> ProviderError {
    let headers = HeaderMap::new();
    let status = body.status.filter(|status| *status >= 400);
    let kind = match status {
        Some(status) => kind(status, &headers, body, asked),
        // Without a status the text is read as that of a failing server, unless the class says who is at fault.
        None => by_code(body).or_else(|| by_phrase(500, body)).or_else(|| by_class(body)).unwrap_or(Server),
    };
    let mut error = ProviderError::new(kind, message(status.unwrap_or(200), body, asked.key));
    if let Some(status) = status {
        error = error.with_status(status);
    }
    if let Some(wait) = body.retry_after {
        error = error.with_retry_after(wait);
    }
    labelled(error, body, asked.key).with_stage(Stage::Body)
}

fn labelled(mut error: ProviderError, body: &ErrorBody, key: Option<&ApiKey>) -> ProviderError {
    let scrubbed = |text: &String| shortened(&secret::scrub(text, key), 100);
    if let Some(code) = body.code.as_ref().or(body.kind.as_ref()).or(body.codes.first()) {
        error = error.with_code(scrubbed(code));
    }
    if let Some(param) = &body.param {
        error = error.with_param(scrubbed(param));
    }
    error
}

/// What the vendor says, without the key and in one short line; or what its silence means.
fn message(status: u16, body: &ErrorBody, key: Option<&ApiKey>) -> String {
    match &body.message {
        Some(text) => shortened(&secret::scrub(text, key), LONGEST_MESSAGE),
        None if (300..400).contains(&status) => {
            "the server redirects, and redirects are not followed; set `base_url` to where the API is"
                .to_owned()
        }
        None if body.html => "the answer is a web page; a proxy or a wrong `base_url` is likely".to_owned(),
        None => "the vendor gave no message".to_owned(),
    }
}

/// At most `limit` characters.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    let text = text.trim();
    let cut = text.char_indices().nth(limit).and_then(|(end, _)| text.get(..end));
    cut.map_or_else(|| text.to_owned(), |start| format!("{start}…"))
}

/// A success status with a body that is not what the API promises.
pub fn malformed(reply: &Reply, why: &str) -> ProviderError {
    let body = reply.body.trim_ascii();
    let what = match body {
        [] => "the body is empty",
        [b'<', ..] => "the body is a web page; a proxy or a wrong `base_url` is likely",
        _ => why,
    };
    let error = ProviderError::new(MalformedResponse, what.to_owned())
        .with_status(reply.status)
        .with_stage(Stage::Body);
    match &reply.request_id {
        Some(id) => error.with_request_id(id),
        None => error,
    }
}
