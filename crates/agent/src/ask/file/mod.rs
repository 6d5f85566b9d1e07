//! One file, read whole: `ask --read FILE`, or a question that names exactly one readable file.
//!
//! The evidence is the file as it was read. The last line of every answer gives the file's SHA-256
//! and how much of it was read. Claims need no citation of their own, because there is only one
//! source; numbers, names, negations and quotes are checked against the whole text.
//!
//! When a question names the file, a chat model is first asked which file it wants to read (pass
//! 1), and it must ask for that one. With `--read` a person has already chosen the file, so the
//! program makes that call itself; it does the same for the extractive answerer. Then the model
//! answers from the file's text (pass 2).
//!
//! | file | contents |
//! | --- | --- |
//! | `pattern` | recognises questions about a file |
//! | `requested` | requests for a file by a path without a usual extension, or by a link |
//! | `contract` | reading the file, and what the result must contain |
//! | `call` | a model's call of the only tool |
//! | `form` | tables, calls and footers in a reply |

mod call;
mod contract;
mod form;
mod pattern;
mod requested;

use std::collections::HashMap;

pub use contract::FileScope;
pub use pattern::{named_file, unread_names, unreadable_file};
pub use requested::requested_file;

use super::answer::{Answer, AnswerResult, AskResult, Grounded, of_conversation, of_extracted};
use super::answerer::{Answerer, ChatAnswerer, Chosen};
use super::asker::Asker;
use super::conclusion::conclude;
use super::conversation::{Received, ReplyForm, Rules, Turns, converse};
use super::defang::template_free;
use super::extractive::{self, Day, Evidence, NoteSource, Rarity};
use super::meaning::EmbeddingComparer;
use super::prompt::{self, Nonce};
use super::trail::{Event, Observe, Purpose, Round, Trail};
use crate::llm::{Message, Role};
use contract::{TextResult, acquire};
use local_agent_embed::embedding::QuestionEmbedder;
use local_agent_files::sandbox::Sandbox;
use local_agent_files::state::in_quotes;
use local_agent_index::lexical;
use local_agent_index::retrieval::{Coverage, Packed};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, Freshness};
use local_agent_verify::{Scope, VerifyOptions};

/// A question about one file.
#[derive(Debug)]
pub struct FileQuestion<'a> {
    /// The question as typed.
    pub text: &'a str,
    /// The file, as named by the person or the question.
    pub file: &'a str,
    /// Whether the question named it, so that a model has to ask for it.
    pub named_by_question: bool,
    /// Maximum number of characters of the file; a longer file is refused.
    pub max_chars: usize,
    /// How strictly the answer is checked. Its scope is ignored: the whole file is the evidence.
    pub verify: VerifyOptions,
    /// Fail with `ASK_CITATION_INVALID` instead of falling back to the file's own sentences.
    pub strict: bool,
    /// The day on which it is asked.
    pub today: Day,
}

/// Answers a question from one file behind `sandbox` with the answerer `chosen`. `embedder` is the
/// model of the extractive answerer.
pub fn ask_file(
    question: &FileQuestion<'_>,
    sandbox: &Sandbox,
    chosen: &Chosen,
    observe: &mut Observe<'_>,
    embedder: &QuestionEmbedder<'_>,
) -> AskResult {
    let mut trail = Trail::of(chosen);
    let answer = answer(question, sandbox, chosen, &mut trail, observe, embedder);
    AskResult { answer, trail }
}

fn answer(
    question: &FileQuestion<'_>,
    sandbox: &Sandbox,
    chosen: &Chosen,
    trail: &mut Trail,
    observe: &mut Observe<'_>,
    embedder: &QuestionEmbedder<'_>,
) -> Result<Answer> {
    if let Answerer::Unusable(failure) = &chosen.answerer {
        return Err(failure.clone());
    }
    if let (Answerer::Chat(chat), true) = (&chosen.answerer, question.named_by_question) {
        let first = chat.first.as_ref().unwrap_or(&chat.chat);
        let mut asker = Asker::new(first, trail, observe);
        first_pass(question, sandbox, chat, &mut asker)?;
    }
    let (read, excerpt) = trail.timed("read", || {
        acquire(sandbox, question.file, question.max_chars)
    })?;
    let scope = read.scope();
    if read.text.trim().is_empty() && pattern::wants_summary(question.text) {
        return Err(
            Failure::new(ErrorCode::FileEmpty, format!("{} is empty.", read.path))
                .with_hint("name another file"),
        );
    }
    let packed = frozen(question, excerpt)?;
    observe(&Event::Frozen {
        snapshot: &packed.snapshot,
        freshness: &packed.freshness,
    })?;
    let grounded = if read.text.trim().is_empty() {
        Grounded {
            result: AnswerResult::nothing("The file is empty."),
            packed,
            left_out: Vec::new(),
        }
    } else {
        match &chosen.answerer {
            Answerer::Extractive => {
                trail.timed("extract", || extracted(question, packed, embedder))?
            }
            Answerer::Unusable(failure) => return Err(failure.clone()),
            Answerer::Chat(chat) => {
                converse_about(question, &read, packed, chat, (trail, observe), embedder)?
            }
        }
    };
    Ok(Answer {
        result: grounded.result.with_footer(&scope.footer),
        packed: grounded.packed,
        left_out: grounded.left_out,
        coverage: Coverage {
            chunks: 0,
            embedded: 0,
        },
        stale: Vec::new(),
        top_cosine: None,
        reranked: None,
        file: Some(scope),
    })
}

/// The file as the only evidence.
fn frozen(question: &FileQuestion<'_>, excerpt: Excerpt) -> Result<Packed> {
    let snapshot = EvidenceSnapshot::freeze(question.text, vec![excerpt])?;
    let freshness = snapshot
        .items()
        .iter()
        .map(|item| (item.label, Freshness::Fresh))
        .collect();
    Ok(Packed {
        snapshot,
        freshness,
        scores: vec![1.0],
        index_stale: Vec::new(),
    })
}

/// Lets a chat model answer from the file.
fn converse_about(
    question: &FileQuestion<'_>,
    read: &TextResult,
    packed: Packed,
    chat: &ChatAnswerer,
    (trail, observe): (&mut Trail, &mut Observe<'_>),
    embedder: &QuestionEmbedder<'_>,
) -> Result<Grounded> {
    let mut asker = Asker::new(&chat.chat, trail, observe);
    let rules = Rules {
        options: options(question),
        strict: question.strict,
    };
    let mut turns = FileTurns::new(question.text, read, &packed, chat)?;
    let drafted = converse(&mut turns, &rules, &mut asker)?;
    let conclusion = conclude(drafted, &rules, chat, &mut asker)?;
    of_conversation(conclusion, chat, "the file", || {
        trail.timed("extract", || extracted(question, packed, embedder))
    })
}

fn options(question: &FileQuestion<'_>) -> VerifyOptions {
    file_options(question.verify)
}

/// Pass 1: the model asks for the file that the question names.
fn first_pass(
    question: &FileQuestion<'_>,
    sandbox: &Sandbox,
    chat: &ChatAnswerer,
    asker: &mut Asker<'_, '_>,
) -> Result<()> {
    let messages = vec![
        Message::new(Role::System, call::rules()),
        Message::new(Role::User, template_free(question.text)),
    ];
    let sent = asker.send(Purpose::Acquire, messages, &[], chat.sampling, None)?;
    let (call, outcome) = sent;
    let outcome = outcome.and_then(|reply| asks_for_the_file(&reply.text, question, sandbox));
    asker.note(match &outcome {
        Ok(()) => Round::plain(Purpose::Acquire, call),
        Err(failure) => Round::refused(Purpose::Acquire, call, failure, None),
    })?;
    outcome
}

/// Whether a reply asks for the file that the question names. The model's own path only ever goes
/// through the sandbox.
fn asks_for_the_file(reply: &str, question: &FileQuestion<'_>, sandbox: &Sandbox) -> Result<()> {
    let wanted =
        call::requested(reply).map_err(|failure| failure.with_command(read_hint(question)))?;
    if sandbox.resolve(&wanted)? == sandbox.resolve(question.file)? {
        return Ok(());
    }
    let message = "The model asked for another file than the one that the question names.";
    Err(Failure::new(ErrorCode::EvidenceInvalid, message).with_command(read_hint(question)))
}

fn read_hint(question: &FileQuestion<'_>) -> String {
    format!(
        "local-agent ask --read {} QUESTION",
        in_quotes(question.file)
    )
}

/// Pass 2: the model answers from the file that was read.
struct FileTurns<'a> {
    chat: &'a ChatAnswerer,
    packed: &'a Packed,
    messages: Vec<Message>,
}

impl<'a> FileTurns<'a> {
    /// Errors: `INTERNAL_ERROR` if the system provides no random bytes.
    fn new(
        question: &str,
        read: &TextResult,
        packed: &'a Packed,
        chat: &'a ChatAnswerer,
    ) -> Result<Self> {
        let nonce = Nonce::draw(std::iter::once(read.text.as_str()))?;
        let messages = call::answer_from(&nonce, question, read);
        Ok(Self {
            chat,
            packed,
            messages,
        })
    }
}

impl Turns for FileTurns<'_> {
    fn next_reply(
        &mut self,
        again: Option<Purpose>,
        asker: &mut Asker<'_, '_>,
    ) -> Result<Received> {
        let purpose = again.unwrap_or(Purpose::Draft);
        let sampling = self.chat.sampling;
        let (call, reply) = asker.ask(purpose, &self.messages, &[], sampling, Some(self.packed))?;
        Ok(Received {
            purpose,
            call,
            reply,
        })
    }

    fn evidence(&self) -> Result<Packed> {
        Ok(self.packed.first(usize::MAX))
    }

    /// Rejects a reply that is a call or has a table, and removes a scope line, which the program
    /// writes itself.
    fn form<'r>(&self, reply: &'r str) -> Result<ReplyForm<'r>> {
        if call::is_call(reply) {
            let message =
                "The model called a tool again instead of answering from the file that was read.";
            return Err(Failure::new(ErrorCode::UnexpectedToolCall, message)
                .with_hint("ask again, or configure another model"));
        }
        let body = form::without_footer(reply);
        if form::has_table(body) {
            return Ok(ReplyForm::Wrong {
                code: form::MARKDOWN_TABLE,
                objection: form::NO_TABLE,
            });
        }
        Ok(ReplyForm::Draft(body))
    }

    fn object(&mut self, reply: &str, objections: &str) {
        let messages = std::mem::take(&mut self.messages);
        self.messages = prompt::repair(messages, reply, objections);
    }
}

/// The options for verifying an answer about one file: against the whole file.
pub fn file_options(verify: VerifyOptions) -> VerifyOptions {
    VerifyOptions {
        scope: Scope::File,
        ..verify
    }
}

/// The extractive answer from the file's own passages.
fn extracted(
    question: &FileQuestion<'_>,
    packed: Packed,
    embedder: &QuestionEmbedder<'_>,
) -> Result<Grounded> {
    let topic = pattern::topic(question.text, question.file);
    let whole = pattern::wants_summary(question.text) && topic.split_whitespace().count() < 2;
    let asked = if whole { question.text } else { &topic };
    let model = embedder.get()?;
    let rarity = rarity(&packed.snapshot);
    let notes = packed.snapshot.items().iter().map(|item| NoteSource {
        source: item.source.clone(),
        path: item.path.clone(),
        path_is_shared: item.path_is_shared,
        text: item.text.clone(),
        hits: vec![(0..item.text.len(), 1.0)],
    });
    let meaning = EmbeddingComparer::of(model);
    let evidence = Evidence {
        notes: notes.collect(),
        rarity: &rarity,
        meaning: meaning.as_ref().map(|m| m as &dyn extractive::Meaning),
        more: &|_| Ok(extractive::MoreNotes::default()),
        today: question.today,
    };
    let extracted = extractive::extract(asked, evidence)?;
    of_extracted(extracted, packed, &options(question), question.strict)
}

/// The rarity of a term in the file: its inverse document frequency, with paragraphs as documents.
fn rarity(snapshot: &EvidenceSnapshot) -> impl Fn(&str) -> Rarity + use<> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut paragraphs = 0;
    for paragraph in snapshot
        .items()
        .iter()
        .flat_map(|item| item.text.split("\n\n"))
    {
        paragraphs += 1;
        let mut terms = lexical::terms(paragraph);
        terms.sort_unstable();
        terms.dedup();
        for term in terms {
            *counts.entry(term).or_default() += 1;
        }
    }
    move |term| {
        let (all, with) = (
            paragraphs as f32,
            counts.get(term).copied().unwrap_or(0) as f32,
        );
        Rarity {
            idf: (1.0 + (all - with + 0.5) / (with + 0.5)).ln(),
            known: with > 0.0,
        }
    }
}
