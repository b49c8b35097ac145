//! Numbers of a request that no vendor takes.

use backstop_core::{Attempt, FailureKind, ProviderError};

/// Looks at what an attempt asks for before it is rendered: JSON has no word for what is no number and would say `null`,
/// which vendors take for a default.
///
/// # Errors
/// [`InvalidRequest`](FailureKind::InvalidRequest) with the parameter: `temperature` or `top_p` is not a number from 0
/// on (`top_p`: to 1), or `max_tokens` is 0.
pub fn check_numbers(attempt: &Attempt<'_>) -> Result<(), ProviderError> {
    let request = attempt.request;
    let within = |number: Option<f64>, most: f64| number.is_none_or(|number| (0.0..=most).contains(&number));
    let fault = match () {
        () if !within(request.temperature, f64::MAX) => ("temperature", "a number from 0 on"),
        () if !within(request.top_p, 1.0) => ("top_p", "a number from 0 to 1"),
        () if attempt.max_tokens() == Some(0) => ("max_tokens", "at least 1"),
        () => return Ok(()),
    };
    let (param, wanted) = fault;
    let message = format!("`{param}` cannot be sent: it has to be {wanted}");
    Err(ProviderError::new(FailureKind::InvalidRequest, message).with_param(param))
}

#[cfg(test)]
mod tests {
    use backstop_core::Request;

    use super::*;

    #[test]
    fn what_is_no_number_or_out_of_range_is_named() {
        let plain = || Request::new("x");
        let table = [
            (plain(), None),
            (plain().temperature(0.0).top_p(1.0).max_tokens(1), None),
            (plain().temperature(100.0), None),
            (plain().temperature(f64::NAN), Some("temperature")),
            (plain().temperature(f64::INFINITY), Some("temperature")),
            (plain().temperature(-0.1), Some("temperature")),
            (plain().top_p(f64::NAN), Some("top_p")),
            (plain().top_p(1.1), Some("top_p")),
            (plain().max_tokens(0), Some("max_tokens")),
        ];
        for (request, param) in table {
            let error = check_numbers(&Attempt::new("m", &request)).err();
            let found = error.as_ref().map(|error| (error.kind(), error.param()));
            let expected = param.map(|param| (FailureKind::InvalidRequest, Some(param)));
            assert_eq!(found, expected, "{request:?}");
        }
    }
}
