//! All that a request of either API is made of, before it is written.

use std::borrow::Cow;

use backstop_core::{Attempt, Message, Part, Request, Role, ToolChoice};
use backstop_http::schema::Form;
use serde::Serialize;
use serde_json::Value;

use crate::{
    cache::Cache,
    format::Format,
    models::ModelTraits,
    options::{OpenAiOptions, OpenRouterOptions},
    params::Params,
    server::Server,
};

/// All that a request is made of.
pub(crate) struct Parts<'a> {
    pub(crate) attempt: &'a Attempt<'a>,
    pub(crate) traits: &'a ModelTraits,
    pub(crate) server: &'a Server,
    pub(crate) options: &'a OpenAiOptions,
    pub(crate) routing: Option<OpenRouterOptions>,
    pub(crate) format: &'a Format,
    pub(crate) params: Params<'a>,
    pub(crate) cache: Cache,
    pub(crate) streaming: bool,
}

impl<'a> Parts<'a> {
    pub(crate) fn request(&self) -> &'a Request {
        self.attempt.request
    }

    /// All tools that the model may call: the caller's, and the one that takes the answer.
    pub(crate) fn tools(&self) -> Vec<ToolView<'_>> {
        let own = self.request().tools.iter().map(|tool| ToolView {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters: Parameters::Own(&tool.parameters),
        });
        let answer = self.format.answer_tool().map(|(name, form)| ToolView {
            name,
            description: Some("Takes the answer. Call it once, with the whole answer."),
            parameters: Parameters::Answer(form),
        });
        own.chain(answer).collect()
    }

    /// Goes through the conversation, turn by turn.
    pub(crate) fn each_turn<E>(&self, mut turn: impl FnMut(&Message) -> Result<(), E>) -> Result<(), E> {
        if !self.traits.joined_turns {
            return self.attempt.messages().try_for_each(turn);
        }
        let messages: Vec<&Message> = self.attempt.messages().collect();
        messages.chunk_by(|one, next| one.role == next.role).try_for_each(|neighbours| match neighbours {
            [message] => turn(message),
            neighbours => turn(&joined(neighbours)),
        })
    }

    /// Which hosts OpenRouter may ask. It leaves out what a host does not know, also the schema, unless it is told not
    /// to.
    pub(crate) fn routing(&self) -> Option<Cow<'_, OpenRouterOptions>> {
        let wanted = self.routing.as_ref();
        let bound = matches!(self.format, Format::Schema { .. } | Format::Tool { .. });
        if !self.server.routing || !bound || wanted.is_some_and(|wanted| wanted.require_parameters.is_some())
        {
            return wanted.map(Cow::Borrowed);
        }
        Some(Cow::Owned(wanted.cloned().unwrap_or_default().require_parameters(true)))
    }

    pub(crate) fn tool_choice(&self) -> Cow<'_, ToolChoice> {
        self.format.tool_choice(&self.request().tool_choice)
    }
}

/// Messages of one role as one. Texts that follow each other become one text: a strict template takes no list.
fn joined(neighbours: &[&Message]) -> Message {
    let mut whole = Message::new(neighbours.first().map_or(Role::User, |first| first.role), Vec::new());
    whole.cache = neighbours.iter().rev().find_map(|message| message.cache);
    for message in neighbours {
        let mut is_new = true;
        for part in &message.parts {
            match (whole.parts.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) if is_new => {
                    before.push_str("\n\n");
                    before.push_str(text);
                }
                _ => whole.parts.push(part.clone()),
            }
            is_new = false;
        }
    }
    whole
}

/// One tool, whoever it is from.
#[derive(Clone, Copy)]
pub(crate) struct ToolView<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) parameters: Parameters<'a>,
}

/// The schema of a tool's arguments.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Parameters<'a> {
    Own(&'a Value),
    Answer(&'a Form),
}
