//! From an attempt to the JSON of `generateContent`.
//!
//! Everything is serialised from borrowed parts straight into the bytes that are sent: the prompt is copied once,
//! however large it is.

mod contents;
mod format;
mod tools;

use backstop_core::{Attempt, CacheHint, FailureKind, ProviderError, Request};
use backstop_http::{Fields, check_numbers, room_for};
use serde::{Serialize, Serializer};

use contents::{Contents, Texts};
pub(crate) use format::Format;
use tools::Declared;

use crate::{
    models::ModelTraits,
    options::{GeminiOptions, SafetySetting},
    params::OPTIONAL,
};

/// A request that is ready to be sent.
pub(crate) struct Rendered {
    pub(crate) body: Vec<u8>,
    /// How the answer is held to JSON.
    pub(crate) format: Format,
    /// What of the request could not be honoured.
    pub(crate) notes: Vec<String>,
}

/// Renders an attempt. `safety` counts where the request has no safety settings of its own.
pub(crate) fn render(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    safety: &[SafetySetting],
) -> Result<Rendered, ProviderError> {
    check_numbers(attempt)?;
    let options: GeminiOptions = attempt
        .request
        .options_of()
        .map_err(|error| invalid(format!("the options for `gemini` cannot be read: {error}")))?
        .unwrap_or_default();
    let mut notes = Vec::new();
    let format = format::choose(attempt, traits, &mut notes);
    let tools = tools::declare(attempt.request, traits, &mut notes);
    let safety = if options.safety_settings.is_empty() { safety } else { &options.safety_settings };
    let added = format.instructions();
    let generate = Generate { attempt, traits, options: &options, format: &format, safety, tools, added };
    generate.note_omissions(&mut notes);
    let mut body = Vec::with_capacity(room_for(attempt));
    serde_json::to_writer(&mut body, &generate)
        .map_err(|error| invalid(format!("the request cannot be written as JSON: {error}")))?;
    Ok(Rendered { body, format, notes })
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}

struct Generate<'a> {
    attempt: &'a Attempt<'a>,
    traits: &'a ModelTraits,
    options: &'a GeminiOptions,
    format: &'a Format,
    safety: &'a [SafetySetting],
    tools: Vec<Declared<'a>>,
    /// What we add to the instructions.
    added: Option<String>,
}

impl Generate<'_> {
    fn request(&self) -> &Request {
        self.attempt.request
    }

    /// A cached prompt brings its own instructions and tools; Google refuses others beside it.
    fn is_cached(&self) -> bool {
        self.options.cached_content.is_some()
    }

    fn note_omissions(&self, notes: &mut Vec<String>) {
        let request = self.request();
        if self.is_cached() && (request.system.is_some() || !request.tools.is_empty()) {
            notes.push("instructions and tools were left out: the cached content brings its own".to_owned());
        }
        // It caches beginnings by itself, for a short time.
        if !self.is_cached() && request.longest_cache() == Some(CacheHint::Long) {
            let why = "for a long time Gemini keeps only what `GeminiOptions::cached_content` names";
            notes.push(format!("the longer life in a cache was not asked for: {why}"));
        }
    }

    /// The instructions: the caller's, and ours.
    fn instructions(&self) -> Texts<'_> {
        let system = self.request().system.as_deref().filter(|_| !self.is_cached());
        Texts(system.into_iter().chain(self.added.as_deref()).collect())
    }
}

impl Serialize for Generate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request();
        let texts = self.instructions();
        let system = self.traits.system_instruction && !self.is_cached();
        let (system, opening) = if system { (texts, Texts::default()) } else { (Texts::default(), texts) };
        let mut fields = Fields::of_body(serializer.serialize_map(None)?, self.attempt).with_names(OPTIONAL);
        if !system.0.is_empty() {
            fields.put("systemInstruction", &system)?;
        }
        fields
            .put("contents", &Contents { attempt: self.attempt, traits: self.traits, opening: &opening })?;
        fields.object(CONFIG, &Config(self))?;
        if !self.is_cached() {
            tools::write(&self.tools, &request.tool_choice, &mut fields)?;
        }
        fields.maybe("safetySettings", Some(self.safety).filter(|settings| !settings.is_empty()))?;
        fields.maybe("cachedContent", self.options.cached_content.as_deref())?;
        fields.maybe("serviceTier", self.options.service_tier.as_deref())?;
        fields.end()
    }
}

const CONFIG: &str = "generationConfig";

/// The field [`CONFIG`].
struct Config<'a>(&'a Generate<'a>);

impl Serialize for Config<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Generate { attempt, options, format, .. } = self.0;
        let request = self.0.request();
        let map = serializer.serialize_map(None)?;
        let mut fields = Fields::of_object(map, attempt, CONFIG).with_names(OPTIONAL);
        fields.maybe("maxOutputTokens", attempt.max_tokens())?;
        fields.maybe("temperature", request.temperature)?;
        fields.maybe("topP", request.top_p)?;
        fields.maybe("topK", options.top_k)?;
        fields.maybe("stopSequences", Some(&request.stop).filter(|stop| !stop.is_empty()))?;
        // The field has 32 bits and a sign.
        fields.maybe("seed", request.seed.map(|seed| seed & 0x7fff_ffff))?;
        fields.maybe("presencePenalty", options.presence_penalty)?;
        fields.maybe("frequencyPenalty", options.frequency_penalty)?;
        fields.maybe("mediaResolution", options.media_resolution.as_deref())?;
        fields.maybe("thinkingConfig", Some(Thinking(self.0)).filter(Thinking::is_asked_for))?;
        format.write(&mut fields)?;
        fields.end()
    }
}

/// The field `thinkingConfig`.
struct Thinking<'a>(&'a Generate<'a>);

impl Thinking<'_> {
    fn is_asked_for(&self) -> bool {
        let options = self.0.options;
        options.include_thoughts.is_some()
            || options.thinking_budget.is_some()
            || options.thinking_level.is_some()
    }
}

impl Serialize for Thinking<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Generate { attempt, options, .. } = self.0;
        let mut fields = Fields::plain(serializer.serialize_map(None)?, attempt).with_names(OPTIONAL);
        fields.maybe("includeThoughts", options.include_thoughts)?;
        fields.maybe("thinkingBudget", options.thinking_budget)?;
        fields.maybe("thinkingLevel", options.thinking_level.as_deref().map(str::to_uppercase))?;
        fields.end()
    }
}

#[cfg(test)]
mod tests;
