//! Question → snapshot → draft → verify → answer or abstention.
//!
//! Whatever wrote the draft, it goes through one gate: nothing reaches a person that the verifier
//! has not passed.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `answerer` | who writes the answer, and why |
//! | `prompt` | what a chat model is told |
//! | `conversation` | the one conversation with a chat model: reply, judgement, one repair |
//! | `conclusion`, `salvage` | what of it is shown: all, the part that passes, or nothing |
//! | `claim_notes` | a refused or doubtful sentence, its reason, its source |
//! | `second_opinion` | a model that is asked whether the cited text supports a claim |
//! | `grounded` | its turns when everything is in one prompt |
//! | `asker` | one call of a model, noted |
//! | `extractive` | answering without a model |
//! | `gather`, `meaning` | the notes and the model that extraction asks |
//! | `readable` | an answer as a person reads it |
//! | `file` | questions about one file |
//! | `bounded`, `tool_results` | the loop in which a model may call tools that read |
//! | `wanted`, `envelope` | the calls of tools in a reply, in the server's format and as text |
//! | `chat` | words without evidence |
//! | `gate` | what of an extracted answer may be shown |
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
    pub vector_weight: Option<f32>,
    /// Items of evidence.
    pub top_n: usize,
    /// Tokens of evidence.
    pub max_tokens: usize,
    pub verify: VerifyOptions,
    /// Fail with `ASK_CITATION_INVALID` when anything in the draft is rejected, instead of leaving
    /// it out.
    pub strict: bool,
    /// The day on which it is asked: what "yesterday" and "last week" are seen from.
    pub today: Day,
    /// What is said about folders, for a chat model.
    pub contexts: &'a [FolderContext],
}

/// How it ended, when it ended without a technical failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is an answer, and every claim in it passed.
    Answered,
    /// A chat model's answer was refused twice; what is shown are the sentences of it that passed.
    Partial,
    /// No sentence answers the question for certain; what is shown comes closest.
    Closest,
    /// The notes hold nothing on the question.
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
            Self::Partial => "partial",
            Self::Closest => "closest",
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
    /// The passages of an answer that was extracted; of a model's answer none.
    pub shown: Vec<Shown>,
    /// A value that was computed from the passages.
    pub computed: Option<Computed>,
    /// Why there is no answer, not all of it, or not the model's.
    pub why: Option<String>,
    pub packed: Packed,
    /// What the verifier found in the answer, or in the draft that it refused; `None` when there
    /// was no draft.
    pub report: Option<Report>,
    /// The draft that `report` is about.
    pub draft: Option<Draft>,
    /// Sentences of a model's answer that were refused and are not shown in `text`.
    pub left_out: Vec<ClaimNote>,
    /// What was thought of claims beside the checks; `report` holds it already.
    pub opinions: Vec<ClaimOpinion>,
    pub coverage: Coverage,
    pub stale: Vec<Stale>,
    pub top_cosine: Option<f32>,
    /// Who wrote what is shown: `extractive`, `ollama` or `openai`.
    pub answerer: &'static str,
    /// The one file that the answer rests on, when it was asked about; its footer is the last line
    /// of the answer.
    pub file: Option<FileScope>,
}

/// What is said of the closest passages.
const NOT_CERTAIN: &str = "No sentence of the notes answers this for certain.";

impl Answer {
    /// Takes what passed the gate. `certain`: it answers, instead of coming closest.
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

    /// The sentences of the answer that are in doubt, with what raises the doubt.
    pub fn doubts(&self) -> Vec<ClaimNote> {
        let report = self.report.as_ref().filter(|_| self.text.is_some());
        report.map_or_else(Vec::new, |report| conclusion::doubts(report, &self.packed))
    }

    /// Takes what a conversation came to. `what`: where the model looked. `extract`: lets the
    /// extractive answerer answer where no sentence of the model passed.
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

    /// What a model wrote, in place of whatever was here.
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

    /// Takes what was extracted, as far as it passes the gate.
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
        // A value of which a row is missing is not shown.
        let is_whole = passed.draft.segments().len() == whole && passed.text.is_some();
        self.computed = extracted.computed.filter(|_| is_whole);
        self.why = match extracted.certain {
            true => extracted.why,
            false => Some(NOT_CERTAIN.to_owned()),
        };
        self.take(passed, extracted.certain);
        Ok(())
    }

    /// Back to where nothing was drafted.
    fn forget(&mut self) {
        self.outcome = Outcome::Abstained;
        (self.text, self.why, self.report, self.draft) = (None, None, None, None);
        self.shown.clear();
        self.computed = None;
    }

    /// What was extracted stands in for an answer of `model` of which no sentence passed. The
    /// report and the draft are of what is shown.
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
            .timed("extract", || search.extract(question, engine, sandbox))
            .map(|()| search.answer);
    };
    // Nothing that bears on the question: no model is asked to make something of it.
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

/// What was found for one question, and what extraction needs beside it.
struct EvidenceSearch {
    answer: Answer,
    found: FoundEvidence,
    is_relevant: bool,
}

/// What extraction needs of a search.
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
    /// Lets the extractive answerer answer.
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
    /// Lets the extractive answerer answer in place of whatever `answer` holds.
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

/// Of a term that the index was not asked for.
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
