//! One file, read whole: `ask --read FILE`, or a question that names exactly one readable file.
//!
//! The evidence is the file as it was read, and the last line of every answer says so: how much of
//! the file was read, and its SHA-256. Claims need no citation of their own, for there is only one
//! thing they can rest on; numbers, names, negations and quotes are held against the whole text.
//!
//! When a question names the file, a chat model is asked first which file it wants to read (pass 1)
//! and must ask for that one. With `--read` a person has read it out already, so the program makes
//! that call itself; so it does for the extractive answerer. Then the model answers from what was
//! read (pass 2).
//!
//! | file | what it holds |
//! | --- | --- |
//! | `pattern` | which questions are about a file |
//! | `contract` | reading it, and what a result of reading must hold |
//! | `call` | a model's call of the one tool |
//! | `form` | tables, calls and footers in a reply |

mod call;
mod contract;
mod form;
mod pattern;

use std::collections::HashMap;
use std::sync::Arc;

pub use contract::FileScope;
pub use pattern::{named_file, unreadable_file};

use super::answerer::{Answerer, ChatAnswerer, Chosen};
use super::drafting::{Asker, BLANK, not_seen, objections, refused};
use super::extractive::{Evidence, Extract, extract};
use super::prompt::{self, Nonce};
use super::trail::{Asked, Event, Observe, Purpose, Round, Trail};
use super::{Answer, Outcome, gate, similarities};
use crate::llm::{Message, Reply, Role, bytes_of};
use contract::{TextResult, acquire};
use local_agent_embed::embedding::Embedder;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::lexical;
use local_agent_index::retrieval::{Coverage, Packed};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::{Draft, EvidenceSnapshot, Freshness};
use local_agent_verify::{self as verify, Outcome as Judged, Report, Scope, VerifyOptions};

/// A question about one file.
#[derive(Debug)]
pub struct FileQuestion<'a> {
    pub text: &'a str,
    /// The file, as the person or the question names it.
    pub file: &'a str,
    /// Whether the question named it, so that a model has to ask for it.
    pub named_by_question: bool,
    /// Characters of the file that are read at first.
    pub max_chars: usize,
    pub verify: VerifyOptions,
    /// Fail with `ASK_CITATION_INVALID` instead of falling back to the file's own sentences.
    pub strict: bool,
}

/// Answers a question from one file behind `sandbox`, by `chosen`. `load` gives the embedding model
/// of the extractive answerer.
pub fn ask_file(
    question: &FileQuestion<'_>,
    sandbox: &Sandbox,
    chosen: &Chosen,
    observe: &mut Observe<'_>,
    load: impl FnOnce() -> Result<Arc<Embedder>>,
) -> Asked {
    let mut trail = Trail::of(chosen);
    let answer = answer(question, sandbox, chosen, &mut trail, observe, load);
    Asked { answer, trail }
}

fn answer(
    question: &FileQuestion<'_>,
    sandbox: &Sandbox,
    chosen: &Chosen,
    trail: &mut Trail,
    observe: &mut Observe<'_>,
    load: impl FnOnce() -> Result<Arc<Embedder>>,
) -> Result<Answer> {
    if let (Answerer::Chat(chat), true) = (&chosen.answerer, question.named_by_question) {
        let first = chat.first.as_ref().unwrap_or(&chat.chat);
        let mut asker = Asker {
            chat: first,
            trail,
            observe,
        };
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
    let snapshot = EvidenceSnapshot::freeze(question.text, vec![excerpt])?;
    let freshness = snapshot
        .items()
        .iter()
        .map(|item| (item.label, Freshness::Fresh))
        .collect();
    let packed = Packed {
        snapshot,
        freshness,
        scores: vec![1.0],
        index_stale: Vec::new(),
    };
    observe(&Event::Frozen {
        snapshot: &packed.snapshot,
        freshness: &packed.freshness,
    })?;
    let mut answer = Answer {
        outcome: Outcome::Abstained,
        text: None,
        why: None,
        packed,
        report: None,
        draft: None,
        coverage: Coverage {
            chunks: 0,
            embedded: 0,
        },
        stale: Vec::new(),
        top_cosine: None,
        answerer: "extractive",
        file: Some(scope),
    };
    if read.text.trim().is_empty() {
        answer.why = Some("The file is empty.".to_owned());
        return Ok(answer);
    }
    match &chosen.answerer {
        Answerer::Extractive => {
            trail.timed("extract", || extracted(question, &mut answer, load))?
        }
        Answerer::Chat(chat) => {
            let mut asker = Asker {
                chat: &chat.chat,
                trail,
                observe,
            };
            if let Some(reasons) = second_pass(question, &read, chat, &mut answer, &mut asker)? {
                trail.timed("extract", || extracted(question, &mut answer, load))?;
                answer.replaces(&chat.chat.model().name, &reasons);
            }
        }
    }
    if let (Some(text), Some(file)) = (&mut answer.text, &answer.file) {
        *text = format!("{}\n\n{}", text.trim_end(), file.footer);
    }
    Ok(answer)
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
        Message::new(Role::User, prompt::template_free(question.text)),
    ];
    let (call, outcome) = asker.call(Purpose::Acquire, messages, chat.sampling)?;
    let outcome = outcome.and_then(|reply| {
        let wanted = call::requested(&reply.text)?;
        // The model's own path goes through the sandbox and nowhere else.
        if sandbox.resolve(&wanted)? == sandbox.resolve(question.file)? {
            return Ok(());
        }
        let message = "The model asked for another file than the one that the question names.";
        Err(Failure::new(ErrorCode::EvidenceInvalid, message).with_hint(read_hint(question)))
    });
    let refused = outcome
        .as_ref()
        .err()
        .map(|failure: &Failure| failure.code.to_string());
    asker.note(Round {
        purpose: Purpose::Acquire,
        call,
        snapshot: None,
        freshness: Default::default(),
        report: None,
        refused,
        steps: Vec::new(),
    })?;
    outcome
}

fn read_hint(question: &FileQuestion<'_>) -> String {
    format!("local-agent ask --read '{}' QUESTION", question.file)
}

/// Pass 2: the model answers from what was read. `Some`: its answer was refused twice, and why.
fn second_pass(
    question: &FileQuestion<'_>,
    read: &TextResult,
    chat: &ChatAnswerer,
    answer: &mut Answer,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<String>> {
    let nonce = Nonce::draw(std::iter::once(read.text.as_str()))?;
    let mut messages = call::answer_from(&nonce, question.text, read);
    let (mut repaired, mut reformed) = (false, false);
    let mut purpose = Purpose::Draft;
    loop {
        let (call, outcome) = asker.call(purpose, messages.clone(), chat.sampling)?;
        let outcome = match outcome {
            Ok(reply) if reply.is_truncated(bytes_of(&messages)) => Err(not_seen(&chat.chat)),
            other => other,
        };
        let judged = outcome
            .and_then(|reply| Ok((judge(&reply, answer, &options(question), asker)?, reply)));
        let (refusal, report) = match &judged {
            Ok((judged, _)) => (judged.refused.clone(), judged.report.clone()),
            Err(failure) => (Some(failure.code.to_string()), None),
        };
        asker.note(Round {
            purpose,
            call,
            snapshot: Some(answer.packed.snapshot.clone()),
            freshness: answer.packed.freshness.clone(),
            report: report.clone(),
            refused: refusal.clone(),
            steps: Vec::new(),
        })?;
        let (judged, reply) = judged?;
        let Some(reasons) = refusal else {
            answer.answerer = chat.chat.model().provider;
            if report
                .as_ref()
                .is_some_and(|r| r.outcome == Judged::Abstained)
            {
                answer.why = Some(format!(
                    "`{}` found no answer in the file.",
                    chat.chat.model().name
                ));
            } else {
                answer.outcome = Outcome::Answered;
                answer.text = Some(judged.text);
            }
            answer.report = report;
            answer.draft = judged.draft;
            return Ok(None);
        };
        match report {
            // Only a reply in the wrong form is not judged.
            None if reformed => return Err(form::violation(&reasons)),
            None => {
                (reformed, purpose) = (true, Purpose::Format);
                messages = prompt::repair(messages, &reply.text, form::NO_TABLE);
            }
            Some(report) if repaired && question.strict => return Err(gate::refusal(&report)),
            Some(_) if repaired => return Ok(Some(reasons)),
            Some(report) => {
                (repaired, purpose) = (true, Purpose::Repair);
                messages = prompt::repair(messages, &reply.text, &objections(&reply, &report));
            }
        }
    }
}

/// What was thought of one reply of pass 2.
struct JudgedReply {
    text: String,
    /// `None` when its form was wrong.
    report: Option<Report>,
    /// What `report` is about.
    draft: Option<Draft>,
    refused: Option<String>,
}

fn judge(
    reply: &Reply,
    answer: &Answer,
    options: &VerifyOptions,
    asker: &mut Asker<'_, '_>,
) -> Result<JudgedReply> {
    if call::is_call(&reply.text) {
        let message =
            "The model called a tool again instead of answering from the file that was read.";
        return Err(Failure::new(ErrorCode::UnexpectedToolCall, message)
            .with_hint("ask again, or configure another model"));
    }
    let body = form::without_footer(&reply.text);
    if form::has_table(body) {
        let refused = Some(form::MARKDOWN_TABLE.to_owned());
        return Ok(JudgedReply {
            text: String::new(),
            report: None,
            draft: None,
            refused,
        });
    }
    let packed = &answer.packed;
    let draft = Draft::parse(body, &packed.snapshot);
    let report = asker.trail.timed("verify", || {
        verify::verify(&draft, &packed.snapshot, &packed.freshness, options)
    });
    let refused = if body.is_empty() {
        Some(BLANK.to_owned())
    } else {
        refused(reply, &report)
    };
    let text = draft.render(&packed.snapshot)?.text;
    Ok(JudgedReply {
        text,
        report: Some(report),
        draft: Some(draft),
        refused,
    })
}

/// How a question about one file is judged: against all of the file.
pub fn file_options(verify: VerifyOptions) -> VerifyOptions {
    VerifyOptions {
        scope: Scope::File,
        ..verify
    }
}

/// The extractive answer from the file's own sentences.
fn extracted(
    question: &FileQuestion<'_>,
    answer: &mut Answer,
    load: impl FnOnce() -> Result<Arc<Embedder>>,
) -> Result<()> {
    let topic = pattern::topic(question.text, question.file);
    if pattern::wants_summary(question.text) && topic.split_whitespace().count() < 2 {
        answer.why = Some(
            "Without a chat model nothing is summed up; ask what the file says about something."
                .to_owned(),
        );
        return Ok(());
    }
    let model = load()?;
    let asked = model.embed_query(&topic)?;
    let similarity = |texts: &[&str]| similarities(Some(&model), &asked, texts);
    let idf = rarity(&answer.packed.snapshot);
    let idf = |term: &str| idf(term);
    let packed = &answer.packed;
    let evidence = Evidence {
        snapshot: &packed.snapshot,
        scores: &packed.scores,
        idf: &idf,
        similarity: Some(&similarity),
    };
    match extract(&topic, &evidence)? {
        Extract::Nothing { .. } => {
            answer.why = Some("No sentence of the file answers this.".to_owned())
        }
        Extract::Answer(draft) => {
            let passed = gate::gate(
                draft,
                &packed.snapshot,
                &packed.freshness,
                &options(question),
                question.strict,
            )?;
            answer.take(passed);
        }
    }
    Ok(())
}

/// How rare a term is among the paragraphs of the file: its inverse document frequency, paragraphs
/// for documents.
fn rarity(snapshot: &EvidenceSnapshot) -> impl Fn(&str) -> f32 + use<> {
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
        terms
            .into_iter()
            .for_each(|term| *counts.entry(term).or_default() += 1);
    }
    move |term| {
        let (all, with) = (
            paragraphs as f32,
            counts.get(term).copied().unwrap_or(0) as f32,
        );
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}
