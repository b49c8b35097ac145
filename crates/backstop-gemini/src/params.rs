//! The optional parameters of a request.

/// Parameters without which a request is still the same request: their names on the wire, and in requests and options.
pub(crate) const OPTIONAL: &[(&str, &str)] = &[
    ("frequencyPenalty", "frequency_penalty"),
    ("includeThoughts", "include_thoughts"),
    ("maxOutputTokens", "max_tokens"),
    ("mediaResolution", "media_resolution"),
    ("presencePenalty", "presence_penalty"),
    ("safetySettings", "safety_settings"),
    ("seed", "seed"),
    ("serviceTier", "service_tier"),
    ("stopSequences", "stop"),
    ("temperature", "temperature"),
    ("thinkingBudget", "thinking_budget"),
    ("thinkingLevel", "thinking_level"),
    ("topK", "top_k"),
    ("topP", "top_p"),
];
