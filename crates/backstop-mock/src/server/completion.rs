//! What the mocked model says, before a wire format puts it into its own words.

use serde_json::Value;

/// What the model says: text, refusal or tool calls, with finish reason and token counts. The same completion can
/// be sent in every wire format; a format that has no place for a field leaves it out.
///
/// Defaults: finish reason "stop" (or "tool calls", if there are any), 10 input and 5 output tokens, the model the
/// request asked for.
///
/// ```
/// use backstop_mock::server::{Completion, Reply};
///
/// let reply = Reply::from(Completion::text("42").model("gpt-x-2026-01-01").tokens(120, 7).cached_tokens(100));
/// # let _ = reply;
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a completion does nothing until it is in a reply"]
pub struct Completion {
    pub(super) text: Option<String>,
    /// The borders at which a stream cuts the text; `None` leaves them to the reply's streaming options.
    pub(super) pieces: Option<Vec<String>>,
    pub(super) refusal: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) tool_calls: Vec<ToolCall>,
    pub(super) no_choices: bool,
    pub(super) finish: Option<Finish>,
    pub(super) model: Option<String>,
    pub(super) usage: Usage,
    /// The text is [`FILLER`], to be replaced by so many bytes while it is sent.
    pub(super) filler: Option<u64>,
}

/// Stands for text that is too long to be stored. It needs no escape in JSON.
pub(super) const FILLER: &str = "<backstop-mock-filler>";

/// A call of a tool. Ids are made by the server.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    pub(super) name: String,
    /// JSON text, not checked: models send broken JSON too.
    pub(super) arguments: String,
}

impl ToolCall {
    /// The arguments for formats that carry them as an object; text that is no JSON stays a string.
    pub(super) fn arguments_value(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::String(self.arguments.clone()))
    }

    /// The arguments as a stream sends them: in two parts, because clients must put them together.
    pub(super) fn halves(&self) -> [&str; 2] {
        let text = self.arguments.as_str();
        let middle = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let (first, second) = text.split_at(middle);
        [first, second]
    }
}

/// Why the model stopped. Each format has its own words for the named ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    Filtered,
    ToolCalls,
    Word(String),
}

/// Token counts, in the arithmetic of OpenAI: `input` includes `cached`, `output` includes `reasoning`. Formats that
/// count otherwise convert.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) sent: bool,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { sent: true, input: 10, output: 5, cached: 0, reasoning: 0 }
    }
}

impl Usage {
    pub(super) fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Completion {
    /// A plain answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A plain answer that a stream delivers in exactly these pieces, empty ones included.
    pub fn pieces<S: Into<String>>(pieces: impl IntoIterator<Item = S>) -> Self {
        let pieces: Vec<String> = pieces.into_iter().map(Into::into).collect();
        Self { text: Some(pieces.concat()), pieces: Some(pieces), ..Self::default() }
    }

    /// The model declines, in the vendor's own way: the refusal field (OpenAI), the stop reason (Anthropic, which
    /// has no place for the words), a blocked prompt (Gemini). Ollama has no such signal: the words are the answer.
    pub fn refusal(words: impl Into<String>) -> Self {
        Self { refusal: Some(words.into()), ..Self::default() }
    }

    /// A text of so many bytes (the letter `a`), made while it is sent and never held in memory. A stream delivers it
    /// in one event.
    pub fn huge(bytes: u64) -> Self {
        Self { filler: Some(bytes), ..Self::pieces([FILLER]) }
    }

    /// A choice without text: `null`, `""` or no content block, as the vendor does it.
    pub fn empty() -> Self {
        Self::default()
    }

    /// No choice (candidate, output item) at all.
    pub fn no_choices() -> Self {
        Self { no_choices: true, ..Self::default() }
    }

    /// Text cut off by the token limit.
    pub fn truncated(text: impl Into<String>) -> Self {
        Self { finish: Some(Finish::Length), ..Self::text(text) }
    }

    /// An answer stopped by the vendor's content filter; `partial` is what came before; empty text is
    /// no text.
    pub fn filtered(partial: impl Into<String>) -> Self {
        let text = Some(partial.into()).filter(|partial| !partial.is_empty());
        Self { text, finish: Some(Finish::Filtered), ..Self::default() }
    }

    /// Adds a tool call. `arguments` is JSON text and may be broken on purpose.
    pub fn tool_call(mut self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.tool_calls.push(ToolCall { name: name.into(), arguments: arguments.into() });
        self
    }

    /// Adds reasoning that the vendor shows beside the answer: `reasoning_content`, a reasoning item, a thinking
    /// block, a thought part or `thinking`, by format.
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = Some(text.into());
        self
    }

    /// The finish reason as it goes over the wire, whatever the format calls its own ones.
    pub fn finish_word(mut self, word: impl Into<String>) -> Self {
        self.finish = Some(Finish::Word(word.into()));
        self
    }

    /// The model that claims to have served; without it, the one the request asked for.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Input tokens (cached ones included) and output tokens (reasoning included). Formats that count them apart,
    /// such as Anthropic's input, get the difference.
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.usage.input = input;
        self.usage.output = output;
        self
    }

    /// How many of the input tokens came from the vendor's prompt cache; Ollama has no such count.
    pub fn cached_tokens(mut self, tokens: u64) -> Self {
        self.usage.cached = tokens;
        self
    }

    /// How many of the output tokens were reasoning; Ollama has no such count.
    pub fn reasoning_tokens(mut self, tokens: u64) -> Self {
        self.usage.reasoning = tokens;
        self
    }

    /// Leaves the usage out, as some compatible servers do.
    pub fn no_usage(mut self) -> Self {
        self.usage.sent = false;
        self
    }

    pub(super) fn finish(&self) -> &Finish {
        match &self.finish {
            Some(finish) => finish,
            None if self.tool_calls.is_empty() => &Finish::Stop,
            None => &Finish::ToolCalls,
        }
    }

    /// Text as a format without a null sends it.
    pub(super) fn text_or_empty(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// What a stream delivers piece by piece: the refusal if there is one, else the text.
    pub(super) fn spoken(&self) -> &str {
        self.refusal.as_deref().unwrap_or_else(|| self.text_or_empty())
    }
}
