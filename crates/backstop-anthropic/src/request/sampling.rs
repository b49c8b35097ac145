//! Which sampling parameters are sent.

use backstop_core::Attempt;

use crate::{
    models::{ModelTraits, Sampling},
    options::AnthropicOptions,
};

/// The sampling parameters that model, API version and thinking allow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampled {
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    pub(super) top_k: Option<u32>,
}

impl Sampled {
    pub(super) fn of(
        attempt: &Attempt<'_>,
        traits: &ModelTraits,
        options: &AnthropicOptions,
        notes: &mut Vec<String>,
    ) -> Self {
        let request = attempt.request;
        let wanted = Self { temperature: request.temperature, top_p: request.top_p, top_k: options.top_k };
        // Thinking goes with the default temperature only.
        let taken = if options.thinks() { Sampling::Rejected } else { traits.sampling };
        let mut sampled = match taken {
            Sampling::Rejected => Self::default(),
            Sampling::One => Self { top_p: wanted.top_p.filter(|_| wanted.temperature.is_none()), ..wanted },
            Sampling::Free => wanted,
        };
        for (name, left_out) in [
            ("temperature", wanted.temperature != sampled.temperature),
            ("top_p", wanted.top_p != sampled.top_p),
            ("top_k", wanted.top_k != sampled.top_k),
        ] {
            if left_out {
                let why = if options.thinks() { "thinking takes none" } else { "the model does not take it" };
                notes.push(format!("`{name}` was left out: {why}"));
            }
        }
        if sampled.temperature.is_some_and(|temperature| temperature > 1.0) {
            sampled.temperature = Some(1.0);
            notes.push("`temperature` was lowered to 1, the vendor's highest".to_owned());
        }
        sampled
    }
}
