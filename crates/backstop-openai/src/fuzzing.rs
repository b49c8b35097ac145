//! The decoders of both APIs on any bytes, for the fuzz targets and this crate's property tests.

use std::sync::LazyLock;

use backstop_core::{Attempt, Capabilities, Progress, ProviderError, Request, Response, StructuredOutput};
use backstop_http::{
    Reply,
    testing::{self, Decoders, KEY},
};

use crate::{ModelTraits, OpenAi, TokenLimit, api::Api, format::Format, stream::Reader};

/// Decodes `data` as an answer of Chat Completions; see [`testing::check`].
///
/// # Panics
/// A decoder does not keep a rule.
pub fn chat(data: &[u8]) {
    static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| forms(Api::Chat));
    testing::check(&FORMS, data);
}

/// Decodes `data` as an answer of Responses; see [`testing::check`].
///
/// # Panics
/// A decoder does not keep a rule.
pub fn responses(data: &[u8]) {
    static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| forms(Api::Responses));
    testing::check(&FORMS, data);
}

struct Form {
    openai: OpenAi,
    request: Request,
    format: Format,
}

/// A text, an answer by a schema, and one that is the arguments of a tool.
// Without them there is nothing to check.
#[allow(clippy::expect_used)]
fn forms(api: Api) -> Vec<Form> {
    let tool = Capabilities::unknown().with_structured_output(StructuredOutput::Tool);
    let traits = ModelTraits::new(TokenLimit::MaxTokens).capabilities(tool);
    let builder =
        OpenAi::builder().base_url("http://localhost").api_key(KEY).api(api).model_traits("tool", traits);
    let openai = builder.build().expect("the settings work");
    let [text, object] = testing::questions();
    let form = |(request, model): (Request, &str)| {
        let format = openai.render(&Attempt::new(model, &request), false).expect("it can be asked").format;
        Form { openai: openai.clone(), request, format }
    };
    [(text, "m"), (object.clone(), "m"), (object, "tool")].map(form).into()
}

impl Decoders for Form {
    type Reader = Reader;

    fn read(&self, reply: &Reply) -> Result<Response, ProviderError> {
        let response = self.openai.read(reply, &Attempt::new("m", &self.request), &self.format)?;
        Ok(self.format.restore(response))
    }

    fn reader(&self) -> Reader {
        let reader = self.openai.reader(None, Progress::default(), &self.format);
        reader.with_answer(self.format.restorer())
    }
}

#[cfg(test)]
mod tests {
    use allocation_counter::measure;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_endless_stream_takes_a_bounded_amount_of_memory() {
        let table = [
            (Api::Chat, "data: {\"choices\":[{\"delta\":{\"content\":\"again\"}}]}\n\n"),
            (Api::Responses, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"again\"}\n\n"),
        ];
        for (api, event) in table {
            for form in forms(api) {
                let memory = measure(|| testing::check_endless(&form, event)).bytes_max;
                assert!(memory < 16 * testing::LIMITS.total as u64, "{memory} bytes");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded(data in proptest::collection::vec(any::<u8>(), 0..300)) {
            chat(&data);
            responses(&data);
        }
    }
}
