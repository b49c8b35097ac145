//! The conversation on the wire: turns of alternating roles, each a list of blocks.

use backstop_core::{Attempt, CacheHint, Message, Part, ProviderError, Role};
use backstop_http::CacheControl;
use serde::{Serialize, Serializer, ser::SerializeSeq};

use super::{cache::Marks, content::Content, invalid, unsupported};
use crate::models::ModelTraits;

/// All that one side says at a stretch.
#[derive(Serialize)]
pub(super) struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

impl Turn<'_> {
    /// About how many bytes it has on the wire.
    pub(super) fn bytes(&self) -> usize {
        self.content.iter().map(|block| block.content.bytes() + 128).sum()
    }
}

/// One block, perhaps with a mark for the cache.
#[derive(Serialize)]
pub(super) struct Block<'a> {
    #[serde(flatten)]
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

/// Whether a message holds a call of a tool.
pub(super) fn calls_a_tool(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)))
}

/// The conversation, with messages of one role in a row put together and those without content left out: the vendor
/// refuses empty texts, and wants all results of tools right after their calls.
pub(super) fn turns<'a>(
    attempt: &Attempt<'a>,
    traits: &ModelTraits,
    marks: &Marks,
) -> Result<Vec<Turn<'a>>, ProviderError> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for (at, message) in attempt.messages().enumerate() {
        let mut blocks = blocks(message)?;
        if let (Some(hint), Some(last)) = (message.cache.filter(|_| marks.keeps(at)), blocks.last_mut()) {
            last.cache_control = Some(CacheControl(hint));
        }
        let role = role(message);
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(turn) if turn.role == role => turn.content.append(&mut blocks),
            _ => turns.push(Turn { role, content: blocks }),
        }
    }
    for turn in &mut turns {
        turn.content.sort_by_key(|block| !block.content.is_result());
    }
    match turns.last_mut() {
        None => Err(invalid("the request has no message with content; the vendor wants one")),
        Some(last) if last.role == "user" => Ok(turns),
        Some(_) if !traits.prefill => Err(unsupported(format!(
            "{} cannot go on with an answer that has begun; end the conversation with a message of the user",
            attempt.model
        ))),
        Some(last) => {
            if let Some(block) = last.content.last_mut() {
                block.content.trim_end();
            }
            Ok(turns)
        }
    }
}

fn role(message: &Message) -> &'static str {
    match message.role {
        Role::Assistant => "assistant",
        _ => "user",
    }
}

fn blocks(message: &Message) -> Result<Vec<Block<'_>>, ProviderError> {
    let from_user = message.role != Role::Assistant;
    let contents = message.parts.iter().filter_map(|part| Content::of(part, from_user).transpose());
    contents.map(|content| Ok(Block { content: content?, cache_control: None })).collect()
}

/// The `system` field.
pub(super) struct System<'a> {
    texts: [Option<&'a str>; 2],
    cache: Option<CacheHint>,
}

impl<'a> System<'a> {
    /// The caller's instructions and ours. Ours stand behind the mark: they differ from task to task.
    pub(super) fn of(own: Option<&'a str>, added: Option<&'a str>, cache: Option<CacheHint>) -> Option<Self> {
        let own = own.filter(|text| !text.trim().is_empty());
        (own.is_some() || added.is_some()).then_some(Self { texts: [own, added], cache })
    }
}

impl Serialize for System<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let ([Some(text), None] | [None, Some(text)], None) = (self.texts, self.cache) {
            return serializer.serialize_str(text);
        }
        let [own, added] = self.texts;
        let mut list = serializer.serialize_seq(None)?;
        for (text, cache) in [(own, self.cache), (added, None)] {
            if let Some(text) = text {
                let cache_control = cache.map(CacheControl);
                list.serialize_element(&Block { content: Content::Text(text), cache_control })?;
            }
        }
        list.end()
    }
}
