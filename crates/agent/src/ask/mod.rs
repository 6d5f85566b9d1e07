//! Question → snapshot → draft → verify → answer or abstention.
//!
//! Whatever wrote the draft, it goes through one gate: nothing reaches a person that the verifier
//! has not passed.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `answerer` | who writes the answer, and why |
//! | `prompt` | what a chat model is told |
//! | `drafting` | the state machine around a chat model |
//! | `extractive` and its helpers | answering without a model |
//! | `file` | questions about one file |
//! | `bounded` | the loop in which a model may call tools that read |
//! | `wanted`, `envelope` | the calls of tools in a reply, in the server's format and as text |
//! | `chat` | words without evidence |
//! | `gate` | what of an extracted answer may be shown |
//! | `trail` | everything that happened, for the record |

mod answerer;
mod bounded;
mod chat;
mod dates;
mod drafting;
mod envelope;
mod extractive;
mod file;
mod fit;
mod gate;
mod pins;
mod prompt;
mod question;
mod score;
mod select;
mod trail;
mod units;
mod wanted;
mod words;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use local_agent_embed::embedding::Embedder;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{
    self, Coverage, Engine, Mode, PackLimits, Packed, Request, Scope, Stale,
};
use local_agent_text::error::{Failure, Result};
use local_agent_text::evidence::Draft;
use local_agent_verify::{Report, VerifyOptions};

pub use answerer::{Answerer, ChatAnswerer, Chosen, choose, choose_for_chat};
pub use bounded::Toolbox;
pub use chat::{Chatted, chat};
pub use extractive::{Evidence, Extract, extract};
pub use file::{FileQuestion, FileScope, ask_file, file_options, named_file, unreadable_file};
pub use trail::{Asked, Call, Event, Observe, Purpose, Round, Timing, ToolStep, Trail};

use drafting::{Asker, Drafted};

/// Hits looked at for each place in the snapshot: neighbours, duplicates and changed files fall out
/// on the way.
const HITS_PER_ITEM: usize = 6;

/// Chunks of one document in one snapshot.
const PER_DOCUMENT: usize = 3;

/// A question and the bounds of its answer.
#[derive(Debug)]
pub struct Question<'a> {
    /// Plain words; no query language.
    pub text: &'a str,
    pub scope: Scope,
    pub fusion: Fusion,
    pub vector_weight: f32,
    /// Items of evidence.
    pub top_n: usize,
    /// Tokens of evidence.
    pub max_tokens: usize,
    pub verify: VerifyOptions,
    /// Fail with `ASK_CITATION_INVALID` when anything in the draft is rejected, instead of leaving
    /// it out.
    pub strict: bool,
}

/// How it ended, when it ended without a technical failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is an answer, and every claim in it passed.
    Answered,
    /// The notes hold nothing that answers the question.
    Abstained,
    /// A chat model's answer was refused twice; what is shown instead are the best sentences
    /// themselves.
    ExtractiveFallback,
}

impl Outcome {
    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Abstained => "abstained",
            Self::ExtractiveFallback => "extractive_fallback",
        }
    }
}

/// The answer with everything that is needed to check it again.
#[derive(Debug)]
pub struct Answer {
    pub outcome: Outcome,
    /// The answer with canonical citations; `None` when abstained.
    pub text: Option<String>,
    /// Why there is no answer, not all of it, or not the model's.
    pub why: Option<String>,
    pub packed: Packed,
    /// What the verifier found in the answer, or in the draft that it refused; `None` when there
    /// was no draft.
    pub report: Option<Report>,
    /// The draft that `report` is about.
    pub draft: Option<Draft>,
    pub coverage: Coverage,
    pub stale: Vec<Stale>,
    pub top_cosine: Option<f32>,
    /// Who wrote what is shown: `extractive`, `ollama` or `openai`.
    pub answerer: &'static str,
    /// The one file that the answer rests on, when it was asked about; its footer is the last line
    /// of the answer.
    pub file: Option<FileScope>,
}

impl Answer {
    fn take(&mut self, passed: gate::Passed) {
        self.outcome = if passed.text.is_some() {
            Outcome::Answered
        } else {
            Outcome::Abstained
        };
        self.text = passed.text;
        self.why = passed.held_back;
        self.report = Some(passed.report);
        self.draft = Some(passed.draft);
    }

    /// Back to where nothing was drafted.
    fn forget(&mut self) {
        self.outcome = Outcome::Abstained;
        (self.text, self.why, self.report, self.draft) = (None, None, None, None);
    }

    /// What was extracted stands in for an answer of `model` that was refused for `reasons`.
    /// Nothing of the refused answer, its report included, is in here: a report holds the words it
    /// refuses.
    fn replaces(&mut self, model: &str, reasons: &str) {
        let own = self
            .why
            .take()
            .map_or_else(String::new, |why| format!(" {why}"));
        let what = if self.text.is_some() {
            self.outcome = Outcome::ExtractiveFallback;
            "shown are the best sentences themselves"
        } else {
            "no sentence of the notes answers it either"
        };
        self.why = Some(format!(
            "The answer of `{model}` did not pass verification ({reasons}); {what}.{own}"
        ));
    }
}

/// Answers `question` from the index behind `engine` and the files behind `sandbox`, by `chosen`.
/// `load` gives the embedding model; it is called at most once, and only when there are vectors.
/// `observe` is told what happens, the frozen evidence before a chat model is asked anything.
pub fn ask(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    chosen: &Chosen,
    observe: &mut Observe<'_>,
    load: impl FnOnce() -> Result<Arc<Embedder>> + Send,
) -> Asked {
    ask_with(question, engine, sandbox, chosen, None, observe, load)
}

/// The same; with `tools` the chat model may look further than what was found, and is asked even
/// when nothing was. `PHASE3_ASK_ERROR` when there are tools and no chat model.
pub fn ask_with(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    chosen: &Chosen,
    tools: Option<&Toolbox<'_>>,
    observe: &mut Observe<'_>,
    load: impl FnOnce() -> Result<Arc<Embedder>> + Send,
) -> Asked {
    let mut trail = Trail::of(chosen);
    let answer = answer(
        question,
        engine,
        sandbox,
        (chosen, tools),
        (&mut trail, observe),
        load,
    );
    Asked { answer, trail }
}

fn answer(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    (chosen, tools): (&Chosen, Option<&Toolbox<'_>>),
    (trail, observe): (&mut Trail, &mut Observe<'_>),
    load: impl FnOnce() -> Result<Arc<Embedder>> + Send,
) -> Result<Answer> {
    if let (Some(_), Answerer::Extractive) = (tools, &chosen.answerer) {
        return Err(chat::no_model(&chosen.why));
    }
    let mut search = trail.timed("retrieve", || retrieve(question, engine, sandbox, load))?;
    observe(&Event::Frozen {
        snapshot: &search.answer.packed.snapshot,
        freshness: &search.answer.packed.freshness,
    })?;
    let Answerer::Chat(chat) = &chosen.answerer else {
        return trail
            .timed("extract", || search.extract(question, engine))
            .map(|()| search.answer);
    };
    // Nothing that bears on the question: no model is asked to make something of it.
    if tools.is_none() && (search.answer.packed.snapshot.items().is_empty() || !search.is_relevant)
    {
        trail.timed("extract", || search.extract(question, engine))?;
        if search.answer.text.is_none() {
            return Ok(search.answer);
        }
        search.answer.forget();
    }
    let mut asker = Asker {
        chat: &chat.chat,
        trail,
        observe,
    };
    let packed = &search.answer.packed;
    let drafted = match tools {
        Some(tools) => bounded::draft(chat, packed, sandbox, tools, &question.verify, &mut asker)?,
        None => drafting::draft(chat, packed, &question.verify, &mut asker)?,
    };
    match drafted {
        Drafted::Answer {
            text,
            draft,
            report,
            packed,
        } => {
            let answerer = chat.chat.model().provider;
            Ok(Answer {
                outcome: Outcome::Answered,
                text: Some(text),
                report: Some(report),
                draft: Some(draft),
                packed,
                answerer,
                ..search.answer
            })
        }
        Drafted::Refusal {
            draft,
            report,
            packed,
        } => {
            let why = format!(
                "`{}` found no answer in the evidence.",
                chat.chat.model().name
            );
            let answerer = chat.chat.model().provider;
            let (report, draft) = (Some(report), Some(draft));
            Ok(Answer {
                why: Some(why),
                report,
                draft,
                packed,
                answerer,
                ..search.answer
            })
        }
        Drafted::Rejected { report, .. } if question.strict => Err(gate::refusal(&report)),
        Drafted::Rejected { reasons, .. } => {
            trail.timed("extract", || search.extract(question, engine))?;
            search.answer.replaces(&chat.chat.model().name, &reasons);
            Ok(search.answer)
        }
    }
}

/// What was found for one question, and what extraction needs beside it.
struct Search {
    answer: Answer,
    model: OnceCell<Arc<Embedder>>,
    /// The question's vector; empty without a model.
    asked: Vec<f32>,
    is_relevant: bool,
}

fn retrieve(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    load: impl FnOnce() -> Result<Arc<Embedder>> + Send,
) -> Result<Search> {
    let query = Query::plain(question.text);
    let request = Request {
        query: &query,
        mode: Mode::Hybrid,
        scope: question.scope.clone(),
        limit: question.top_n.max(1) * HITS_PER_ITEM,
        fusion: question.fusion,
        vector_weight: question.vector_weight,
    };
    let model = OnceCell::new();
    let mut asked = Vec::new();
    let found = std::thread::scope(|threads| {
        let loading = engine.has_vectors().then(|| threads.spawn(load));
        engine.search(&request, || {
            let embedder = match loading {
                Some(thread) => thread
                    .join()
                    .unwrap_or_else(|_| Err(Failure::internal("loading the model panicked")))?,
                None => return Err(Failure::internal("vectors are searched without a model")),
            };
            asked = embedder.embed_query(question.text)?;
            let _ = model.set(embedder);
            Ok(asked.clone())
        })
    })?;
    let limits = PackLimits {
        top_n: question.top_n,
        max_tokens: question.max_tokens,
        per_document: PER_DOCUMENT,
    };
    let packed = retrieval::pack(question.text, &found.hits, engine.index(), sandbox, &limits)?;
    let answer = Answer {
        outcome: Outcome::Abstained,
        text: None,
        why: None,
        packed,
        report: None,
        draft: None,
        coverage: found.coverage,
        stale: found.stale,
        top_cosine: found.top_cosine,
        answerer: "extractive",
        file: None,
    };
    Ok(Search {
        answer,
        model,
        asked,
        is_relevant: found.is_relevant,
    })
}

impl Search {
    /// Lets the extractive answerer answer.
    fn extract(&mut self, question: &Question<'_>, engine: &Engine) -> Result<()> {
        let similarity =
            |texts: &[&str]| similarities(self.model.get().map(Arc::as_ref), &self.asked, texts);
        let with_model = self
            .model
            .get()
            .is_some()
            .then_some(&similarity as Similarity<'_>);
        match draft(question.text, engine, &self.answer.packed, with_model)? {
            Extract::Nothing { why } => self.answer.why = Some(why),
            Extract::Answer(draft) => {
                let packed = &self.answer.packed;
                let passed = gate::gate(
                    draft,
                    &packed.snapshot,
                    &packed.freshness,
                    &question.verify,
                    question.strict,
                )?;
                self.answer.take(passed);
            }
        }
        Ok(())
    }
}

/// Cosine of the question with each text.
type Similarity<'a> = &'a dyn Fn(&[&str]) -> Result<Vec<f32>>;

fn draft(
    question: &str,
    engine: &Engine,
    packed: &Packed,
    similarity: Option<Similarity<'_>>,
) -> Result<Extract> {
    let stats = match engine.lexical() {
        Some(reader) => reader.term_stats(&Query::plain(question))?,
        None => Vec::new(),
    };
    let idf: HashMap<&str, f32> = stats
        .iter()
        .map(|stat| (stat.term.as_str(), stat.idf()))
        .collect();
    let idf = |term: &str| idf.get(term).copied().unwrap_or(1.0);
    let evidence = Evidence {
        snapshot: &packed.snapshot,
        scores: &packed.scores,
        idf: &idf,
        similarity,
    };
    extract(question, &evidence)
}

/// Cosine of the question with each text; the question's vector is `asked`.
fn similarities(model: Option<&Embedder>, asked: &[f32], texts: &[&str]) -> Result<Vec<f32>> {
    let Some(model) = model else {
        return Ok(vec![0.0; texts.len()]);
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let embedded = model.embed_passages(texts, threads, 1024, &|_| ())?;
    let dot = |vector: &[f32]| vector.iter().zip(asked).map(|(a, b)| a * b).sum();
    Ok(embedded.iter().map(|one| dot(&one.vector)).collect())
}
