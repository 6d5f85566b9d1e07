//! A chat without evidence: the model's text is unchecked, and every output must say so.

use super::answerer::ChatAnswerer;
use super::asker::{Asker, fitted};
use super::bounded::{ToolSession, Toolbox};
use super::conversation::BLANK;
use super::defang::template_free;
use super::trail::{Observe, Purpose, Round, Trail};
use super::{Answerer, Chosen};
use crate::llm::{Finish, Message, Role};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// The result of a chat: the model's own words, unchecked.
#[derive(Debug)]
pub struct Chatted {
    /// The model's words, with a note at the end if the token limit cut them off; or the failure.
    pub text: Result<String>,
    /// Every prompt and reply on the way.
    pub trail: Trail,
}

/// Sends one prompt to the chat model, without evidence; with `tools`, runs the bounded loop.
///
/// Errors: `PHASE3_ASK_ERROR` without a chat model; those of [`crate::llm::Chat::ask`],
/// `TOOL_LIMIT`, and those of the observer.
pub fn chat(
    prompt: &str,
    chosen: &Chosen,
    tools: Option<&Toolbox<'_>>,
    observe: &mut Observe<'_>,
) -> Chatted {
    let mut trail = Trail::of(chosen);
    let text = match &chosen.answerer {
        Answerer::Chat(answerer) => say(
            prompt,
            answerer,
            tools,
            &mut Asker::new(&answerer.chat, &mut trail, observe),
        ),
        Answerer::Extractive => Err(no_model(chosen)),
        Answerer::Unusable(failure) => Err(failure.clone()),
    };
    Chatted { text, trail }
}

/// The failure `PHASE3_ASK_ERROR`: the request needs a chat model.
pub(super) fn no_model(chosen: &Chosen) -> Failure {
    let message = format!(
        "This needs a chat model, and there is none: {}.",
        chosen.why
    );
    let failure = Failure::new(ErrorCode::AskError, message);
    match &chosen.unavailable {
        Some(Failure {
            hint: Some(hint),
            fix,
            ..
        }) => failure.with_fix(fix.clone(), hint),
        _ => failure.with_fix(Fix::ChangeSetting, "set llm.model and ask.provider"),
    }
}

fn say(
    prompt: &str,
    answerer: &ChatAnswerer,
    tools: Option<&Toolbox<'_>>,
    asker: &mut Asker<'_, '_>,
) -> Result<String> {
    let question = Message::new(Role::User, template_free(prompt));
    let (call, reply, purpose) = match tools {
        Some(tools) => {
            let mut session = ToolSession::new(&answerer.chat, tools, Vec::new())?;
            session.messages = vec![Message::new(Role::System, session.rules()), question];
            let (call, reply) = session.until_words(answerer, asker)?;
            (call, reply, Purpose::Turn)
        }
        None => {
            let messages = [question];
            let sampling = fitted(&answerer.chat, &messages, answerer.sampling)?;
            let (call, reply) = asker.ask(Purpose::Chat, &messages, &[], sampling, None)?;
            (call, reply, Purpose::Chat)
        }
    };
    if reply.text.is_empty() {
        asker.note(Round {
            refused: Some(BLANK.to_owned()),
            ..Round::plain(purpose, call)
        })?;
        let message = "The model gave a blank reply.";
        return Err(Failure::new(ErrorCode::ServerError, message).with_hint("ask again"));
    }
    asker.note(Round::plain(purpose, call))?;
    Ok(match reply.finish {
        Finish::Length => format!("{}\n[the reply was cut off at the token limit]", reply.text),
        Finish::Stop => reply.text,
    })
}
