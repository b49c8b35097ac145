//! The decoders on any bytes, for the fuzz target and this crate's property tests.

use std::sync::LazyLock;

use backstop_core::{Attempt, Progress, ProviderError, Request, Response};
use backstop_http::{
    Reply,
    testing::{self, Decoders, KEY},
};

use crate::{Gemini, request::Format, stream::Reader};

/// Decodes `data` as an answer; see [`testing::check`].
///
/// # Panics
/// A decoder does not keep a rule.
pub fn decode(data: &[u8]) {
    static FORMS: LazyLock<Vec<Form>> = LazyLock::new(forms);
    testing::check(&FORMS, data);
}

struct Form {
    gemini: Gemini,
    request: Request,
    format: Format,
}

/// A text, and an answer by a schema.
// Without them there is nothing to check.
#[allow(clippy::expect_used)]
fn forms() -> Vec<Form> {
    let builder = Gemini::builder().base_url("http://localhost").api_key(KEY);
    let gemini = builder.build().expect("the settings work");
    let form = |request: Request| {
        let format = gemini.render(&Attempt::new("m", &request)).expect("it can be asked").format;
        Form { gemini: gemini.clone(), request, format }
    };
    testing::questions().map(form).into()
}

impl Decoders for Form {
    type Reader = Reader;

    fn read(&self, reply: &Reply) -> Result<Response, ProviderError> {
        self.gemini.read(reply, &Attempt::new("m", &self.request), &self.format)
    }

    fn reader(&self) -> Reader {
        self.gemini.reader(None, Progress::default(), &self.format)
    }
}

#[cfg(test)]
mod tests {
    use allocation_counter::measure;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_endless_stream_takes_a_bounded_amount_of_memory() {
        const EVENT: &str = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"again\"}]}}]}\n\n";
        for form in forms() {
            let memory = measure(|| testing::check_endless(&form, EVENT)).bytes_max;
            assert!(memory < 16 * testing::LIMITS.total as u64, "{memory} bytes");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded(data in proptest::collection::vec(any::<u8>(), 0..300)) {
            decode(&data);
        }
    }
}
