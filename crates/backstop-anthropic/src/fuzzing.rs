//! The decoders on any bytes, for the fuzz target and this crate's property tests.

use std::sync::LazyLock;

use backstop_core::{Attempt, Progress, ProviderError, Request, Response};
use backstop_http::{
    Reply,
    testing::{self, Decoders, KEY},
};

use crate::{
    Anthropic, ModelTraits,
    request::{self, Format},
    stream::Reader,
};

/// Decodes `data` as an answer; see [`testing::check`].
///
/// # Panics
/// A decoder does not keep a rule.
pub fn decode(data: &[u8]) {
    static FORMS: LazyLock<Vec<Form>> = LazyLock::new(forms);
    testing::check(&FORMS, data);
}

struct Form {
    anthropic: Anthropic,
    request: Request,
    format: Format,
}

/// A text, an answer by the output format, and one that is the input of a tool.
// Without them there is nothing to check.
#[allow(clippy::expect_used)]
fn forms() -> Vec<Form> {
    let builder = Anthropic::builder().base_url("http://localhost").api_key(KEY);
    let anthropic = builder.build().expect("the settings work");
    let [text, object] = testing::questions();
    let form = |(request, traits): (Request, ModelTraits)| {
        let attempt = Attempt::new("m", &request);
        let format = request::render(&attempt, &traits, false).expect("it can be asked").format;
        Form { anthropic: anthropic.clone(), request, format }
    };
    let (latest, compatible) = (ModelTraits::latest(), ModelTraits::compatible());
    [(text, latest), (object.clone(), latest), (object, compatible)].map(form).into()
}

impl Decoders for Form {
    type Reader = Reader;

    fn read(&self, reply: &Reply) -> Result<Response, ProviderError> {
        let mut response = self.anthropic.read(reply, &Attempt::new("m", &self.request), &self.format)?;
        response.text = self.format.restore(response.text);
        Ok(response)
    }

    fn reader(&self) -> Reader {
        self.anthropic.reader(None, Progress::default(), &self.format)
    }
}

#[cfg(test)]
mod tests {
    use allocation_counter::measure;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_endless_stream_takes_a_bounded_amount_of_memory() {
        const EVENT: &str = "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"again\"}}\n\n";
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
