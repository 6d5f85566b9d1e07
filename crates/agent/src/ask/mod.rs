//! Question → snapshot → draft → verify → answer or abstention.
//!
//! Every draft goes through one gate, whatever wrote it: nothing reaches the user that the verifier
//! has not passed.
//!
//! | file | contents |
//! | --- | --- |
//! | `answerer` | who writes the answer, and why |
//! | `prompt` | the prompts for a chat model |
//! | `conversation` | the only conversation with a chat model: reply, judgement, one repair |
//! | `conclusion`, `salvage` | which parts of it are shown: all, the part that passes, or nothing |
//! | `claim_notes` | a rejected or doubtful sentence, its reason, its source |
//! | `second_opinion` | a model that is asked whether the cited text supports a claim |
//! | `grounded` | its turns when everything is in one prompt |
//! | `asker` | one call of a model, recorded |
//! | `extractive` | answering without a model |
//! | `gather`, `meaning` | the notes and the model that extraction uses |
//! | `readable` | an answer formatted for people |
//! | `file` | questions about one file |
//! | `bounded`, `tool_results` | the loop in which a model may call tools that read |
//! | `wanted`, `envelope` | the calls of tools in a reply, in the server's format and as text |
//! | `chat` | replies without evidence |
//! | `gate` | which parts of an extracted answer may be shown |
//! | `trail` | everything that happened, for the record |

mod answerer;
mod asker;
mod bounded;
mod chat;
mod claim_notes;
mod conclusion;
mod conversation;
mod envelope;
mod extractive;
mod file;
mod gate;
mod gather;
mod grounded;
mod meaning;
mod prompt;
mod readable;
mod salvage;
mod second_opinion;
mod tool_results;
mod trail;
mod wanted;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::config::FolderContext;
use local_agent_embed::embedding::Embedder;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{
    self, Coverage, Engine, Hit, Mode, PackLimits, Packed, Request, Scope, Stale,
};
use local_agent_text::error::{Failure, Result};
use local_agent_text::evidence::Draft;
use local_agent_verify::{Report, VerifyOptions};

pub use answerer::{Answerer, ChatAnswerer, Chosen, choose, choose_for_chat};
pub use bounded::Toolbox;
pub use chat::{Chatted, chat};
pub use claim_notes::{ClaimNote, SourceSentence};
pub use extractive::{Computed, Day, Operation, PieceForm, Shown, ShownPiece};
pub use file::{FileQuestion, FileScope, ask_file, file_options, named_file, unreadable_file};
pub use readable::{Readable, TextLine, TextRun, readable};
pub use second_opinion::{AskedModel, ClaimOpinion};
pub use trail::{Asked, Call, Event, Observe, Purpose, Round, Timing, ToolStep, Trail};

use asker::Asker;
use conclusion::{Conclusion, Written, conclude};
use conversation::{JudgedDraft, Rules, converse};
use extractive::{Evidence, Extracted, Rarity};
use grounded::GroundedTurns;

/// Number of hits considered for each item in the snapshot, because neighbours, duplicates and
/// changed files are dropped on the way.
const HITS_PER_ITEM: usize = 6;

/// Maximum number of chunks per document in one snapshot.
const PER_DOCUMENT: usize = 3;

/// A question and the limits for its answer.
#[derive(Debug)]
pub struct Question<'a> {
    /// Plain words; no query language.
    pub text: &'a str,
    pub scope: Scope,
    pub fusion: Fusion,
    pub vector_weight: Option<f32>,
    /// Maximum number of evidence items.
    pub top_n: usize,
    /// Maximum number of evidence tokens.
    pub max_tokens: usize,
    pub verify: VerifyOptions,
    /// Fail with `ASK_CITATION_INVALID` when anything in the draft is rejected, instead of leaving
    /// it out.
    pub strict: bool,
    /// The day of the question, for resolving "yesterday" and "last week".
    pub today: Day,
    /// Descriptions of folders, for a chat model.
    pub contexts: &'a [FolderContext],
}

/// How it ended, if there was no technical failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is an answer, and every claim in it passed.
    Answered,
    /// A chat model's answer was rejected twice; the sentences of it that passed are shown.
    Partial,
    /// No sentence certainly answers the question; the closest ones are shown.
    Closest,
    /// The notes contain nothing about the question.
    Abstained,
    /// A chat model's answer was rejected twice; the best sentences of the notes are shown instead.
    ExtractiveFallback,
}

impl Outcome {
    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Partial => "partial",
            Self::Closest => "closest",
            Self::Abstained => "abstained",
            Self::ExtractiveFallback => "extractive_fallback",
        }
    }
}

/// The answer with everything needed to check it again.
#[derive(Debug)]
pub struct Answer {
    pub outcome: Outcome,
    /// The answer with canonical citations; `None` when abstained.
    pub text: Option<String>,
    /// The passages of an extracted answer; empty for a model's answer.
    pub shown: Vec<Shown>,
    /// A value that was computed from the passages.
    pub computed: Option<Computed>,
    /// Why there is no answer, only part of one, or not the model's.
    pub why: Option<String>,
    pub packed: Packed,
    /// The verifier's report on the answer, or on the rejected draft; `None` if there was no draft.
    pub report: Option<Report>,
    /// The draft that `report` is about.
    pub draft: Option<Draft>,
    /// Sentences of a model's answer that were rejected and are not in `text`.
    pub left_out: Vec<ClaimNote>,
    /// Opinions on claims in addition to the checks; already included in `report`.
    pub opinions: Vec<ClaimOpinion>,
    pub coverage: Coverage,
    pub stale: Vec<Stale>,
    pub top_cosine: Option<f32>,
    /// Which answerer wrote what is shown: `extractive`, `ollama` or `openai`.
    pub answerer: &'static str,
    /// The one file that the answer rests on, if the question was about a file; its footer is the
    /// last line of the answer.
    pub file: Option<FileScope>,
}

/// The sentence shown with the closest passages.
const NOT_CERTAIN: &str = "No sentence of the notes answers this for certain.";

impl Answer {
    /// Takes over what passed the gate. `certain`: it is an answer, not just the closest passages.
    fn take(&mut self, passed: gate::Passed, certain: bool) {
        self.outcome = match (&passed.text, certain) {
            (None, _) => Outcome::Abstained,
            (Some(_), true) => Outcome::Answered,
            (Some(_), false) => Outcome::Closest,
        };
        self.text = passed.text;
        let reasons = [self.why.take(), passed.held_back];
        let reasons: Vec<String> = reasons.into_iter().flatten().collect();
        self.why = (!reasons.is_empty()).then(|| reasons.join(" "));
        self.report = Some(passed.report);
        self.draft = Some(passed.draft);
    }

    /// The sentences of the answer that are in doubt, with the reasons.
    pub fn doubts(&self) -> Vec<ClaimNote> {
        let report = self.report.as_ref().filter(|_| self.text.is_some());
        report.map_or_else(Vec::new, |report| conclusion::doubts(report, &self.packed))
    }

    /// Takes over the result of a conversation. `what`: where the model looked. `extract`: runs the
    /// extractive answerer if no sentence of the model passed.
    fn conclude(
        &mut self,
        conclusion: Conclusion,
        chat: &ChatAnswerer,
        what: &str,
        extract: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let name = &chat.chat.model().name;
        match conclusion {
            Conclusion::Whole(written) => {
                let is_answer = written.text.is_some();
                self.write(written, chat);
                if is_answer {
                    self.outcome = Outcome::Answered;
                } else {
                    self.why = Some(format!("`{name}` found no answer in {what}."));
                }
            }
            Conclusion::Part {
                written,
                left_out,
                reasons,
            } => {
                self.write(written, chat);
                self.outcome = Outcome::Partial;
                self.left_out = left_out;
                self.why = Some(format!(
                    "The answer of `{name}` did not pass verification as a whole ({reasons}); shown is what passed."
                ));
            }
            Conclusion::Nothing { left_out, reasons } => {
                extract(self)?;
                self.left_out = left_out;
                self.replaces(name, &reasons);
            }
        }
        Ok(())
    }

    /// Replaces the current content with a model's answer.
    fn write(&mut self, written: Written, chat: &ChatAnswerer) {
        self.forget();
        let JudgedDraft {
            draft,
            report,
            packed,
        } = written.judged;
        self.text = written.text;
        self.answerer = chat.chat.model().provider;
        (self.report, self.draft, self.packed) = (Some(report), Some(draft), packed);
        self.opinions = written.opinions;
    }

    /// Takes over what was extracted, as far as it passes the gate.
    fn take_extracted(
        &mut self,
        extracted: Extracted,
        options: &VerifyOptions,
        strict: bool,
    ) -> Result<()> {
        if extracted.passages.is_empty() {
            self.why = Some("The search found no text that could be quoted.".to_owned());
            return Ok(());
        }
        let drafted = extractive::draft(&extracted.notes, &extracted.passages, &self.packed)?;
        self.packed = drafted.packed;
        self.shown = drafted.shown;
        let whole = drafted.draft.segments().len();
        let passed = gate::gate(
            drafted.draft,
            &self.packed.snapshot,
            &self.packed.freshness,
            options,
            strict,
        )?;
        // A computed value is not shown if one of its rows is missing.
        let is_whole = passed.draft.segments().len() == whole && passed.text.is_some();
        self.computed = extracted.computed.filter(|_| is_whole);
        self.why = match extracted.certain {
            true => extracted.why,
            false => Some(NOT_CERTAIN.to_owned()),
        };
        self.take(passed, extracted.certain);
        Ok(())
    }

    /// Resets to the state before any draft.
    fn forget(&mut self) {
        self.outcome = Outcome::Abstained;
        (self.text, self.why, self.report, self.draft) = (None, None, None, None);
        self.shown.clear();
        self.computed = None;
    }

    /// The extracted answer replaces an answer of `model` of which no sentence passed. The report
    /// and the draft are those of what is shown.
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
            "No sentence of the answer of `{model}` passed verification ({reasons}); {what}.{own}"
        ));
    }
}

/// Answers `question` from the index behind `engine` and the files behind `sandbox`, using
/// `chosen`. `load` gives the embedding model; it is called at most once, and only when there are
/// vectors. `observe` receives every event, including the frozen evidence before a chat model is
/// asked anything.
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

/// Like [`ask`]; with `tools` the chat model may look beyond what was found, and is asked even if
/// nothing was found. `PHASE3_ASK_ERROR` when there are tools and no chat model.
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
            .timed("extract", || search.extract(question, engine, sandbox))
            .map(|()| search.answer);
    };
    // Nothing relevant was found: no model is asked to make an answer of it.
    let mut is_extracted = false;
    if tools.is_none() && (search.answer.packed.snapshot.items().is_empty() || !search.is_relevant)
    {
        trail.timed("extract", || search.extract(question, engine, sandbox))?;
        if search.answer.outcome != Outcome::Answered {
            return Ok(search.answer);
        }
        is_extracted = true;
    }
    let rules = Rules {
        options: question.verify,
        strict: question.strict,
    };
    let packed = search.answer.packed.first(usize::MAX);
    let mut asker = Asker {
        chat: &chat.chat,
        trail,
        observe,
    };
    let drafted = match tools {
        Some(tools) => {
            let mut turns =
                bounded::ToolTurns::new(chat, &packed, sandbox, tools, question.contexts)?;
            converse(&mut turns, &rules, &mut asker)?
        }
        None => converse(
            &mut GroundedTurns::new(chat, &packed, question.contexts)?,
            &rules,
            &mut asker,
        )?,
    };
    let conclusion = conclude(drafted, &rules, chat, &mut asker)?;
    let EvidenceSearch {
        mut answer,
        found: extraction,
        ..
    } = search;
    answer.conclude(conclusion, chat, "the evidence", |answer| {
        if is_extracted {
            return Ok(());
        }
        trail.timed("extract", || {
            extraction.extract_into(answer, question, engine, sandbox)
        })
    })?;
    Ok(answer)
}

/// The search result for one question, and what extraction needs in addition.
struct EvidenceSearch {
    answer: Answer,
    found: FoundEvidence,
    is_relevant: bool,
}

/// What extraction needs from a search.
struct FoundEvidence {
    model: OnceCell<Arc<Embedder>>,
    hits: Vec<Hit>,
}

fn retrieve(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    load: impl FnOnce() -> Result<Arc<Embedder>> + Send,
) -> Result<EvidenceSearch> {
    let query = Query::plain(question.text);
    let limit = question.top_n.max(1) * HITS_PER_ITEM;
    let request = Request {
        query: &query,
        mode: Mode::Hybrid,
        scope: question.scope.clone(),
        limit: retrieval::with_spare(sandbox, limit),
        fusion: question.fusion,
        vector_weight: question.vector_weight,
    };
    let model = OnceCell::new();
    let mut found = std::thread::scope(|threads| {
        let loading = engine.has_vectors().then(|| threads.spawn(load));
        engine.search(&request, || {
            let embedder = match loading {
                Some(thread) => thread
                    .join()
                    .unwrap_or_else(|_| Err(Failure::internal("loading the model panicked")))?,
                None => return Err(Failure::internal("vectors are searched without a model")),
            };
            let asked = embedder.embed_query(question.text)?;
            let _ = model.set(embedder);
            Ok(asked)
        })
    })?;
    retrieval::keep_shown(sandbox, &mut found.hits, limit);
    let limits = PackLimits {
        top_n: question.top_n,
        max_tokens: question.max_tokens,
        per_document: PER_DOCUMENT,
    };
    let packed = retrieval::pack(question.text, &found.hits, engine.index(), sandbox, &limits)?;
    let answer = Answer {
        outcome: Outcome::Abstained,
        text: None,
        shown: Vec::new(),
        computed: None,
        why: None,
        packed,
        report: None,
        draft: None,
        left_out: Vec::new(),
        opinions: Vec::new(),
        coverage: found.coverage,
        stale: found.stale,
        top_cosine: found.top_cosine,
        answerer: "extractive",
        file: None,
    };
    Ok(EvidenceSearch {
        answer,
        found: FoundEvidence {
            model,
            hits: found.hits,
        },
        is_relevant: found.is_relevant,
    })
}

impl EvidenceSearch {
    /// Runs the extractive answerer.
    fn extract(
        &mut self,
        question: &Question<'_>,
        engine: &Engine,
        sandbox: &Sandbox,
    ) -> Result<()> {
        self.found
            .extract_into(&mut self.answer, question, engine, sandbox)
    }
}

impl FoundEvidence {
    /// Runs the extractive answerer and replaces the content of `answer`.
    fn extract_into(
        &self,
        answer: &mut Answer,
        question: &Question<'_>,
        engine: &Engine,
        sandbox: &Sandbox,
    ) -> Result<()> {
        let library = gather::OpenStores {
            engine,
            sandbox,
            scope: &question.scope,
        };
        let model = self.model.get().map(Arc::as_ref);
        let meaning = model.and_then(meaning::ModelMeaning::of);
        let rarity = rarity(question.text, engine)?;
        let evidence = Evidence {
            notes: library.notes(&self.hits)?,
            rarity: &|stem| rarity.get(stem).copied().unwrap_or(UNSEEN),
            meaning: meaning.as_ref().map(|m| m as &dyn extractive::Meaning),
            more: &|lookup| library.more(lookup),
            today: question.today,
        };
        let extracted = extractive::extract(question.text, evidence)?;
        answer.take_extracted(extracted, &question.verify, question.strict)
    }
}

/// For a term that was not looked up in the index.
const UNSEEN: Rarity = Rarity {
    idf: 1.0,
    known: true,
};

/// How common each term of the question is.
fn rarity(question: &str, engine: &Engine) -> Result<HashMap<String, Rarity>> {
    let Some(reader) = engine.lexical() else {
        return Ok(HashMap::new());
    };
    let stats = reader.term_stats(&Query::plain(question))?;
    let of = |stat: local_agent_index::lexical::TermStat| {
        let rarity = Rarity {
            idf: stat.idf(),
            known: stat.doc_freq > 0,
        };
        (stat.term, rarity)
    };
    Ok(stats.into_iter().map(of).collect())
}
