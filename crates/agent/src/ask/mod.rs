//! Answers a question: question → snapshot → draft → verification → answer or abstention.
//!
//! Every draft passes through the same gate, whoever wrote it. The user sees only text that the
//! verifier accepted.
//!
//! | file | contents |
//! | --- | --- |
//! | `answer` | the result of a question |
//! | `answerer` | chooses who writes the answer |
//! | `prompt`, `defang` | the prompts for a chat model, and how untrusted text is made harmless |
//! | `conversation` | the one conversation with a chat model: reply, judgement, one repair |
//! | `conclusion`, `salvage` | the part of it that is shown: all, the claims that pass, or nothing |
//! | `claim_notes` | a rejected or doubtful sentence, its reason, its source |
//! | `second_opinion` | a model that is asked whether the cited text supports a claim |
//! | `grounded` | its turns when everything is in one prompt |
//! | `asker` | one call of a model, recorded |
//! | `arriving` | the sentences of a draft that pass while the rest still arrives |
//! | `extractive` | answering without a model |
//! | `summary_extent` | what a summary of one note leaves out |
//! | `gather`, `meaning` | the notes and the model that extraction uses |
//! | `readable`, `readable_sources` | an answer formatted for people, and the list of its sources |
//! | `verdict_marks` | how each sentence was checked, in marks and in one line |
//! | `file` | questions about one file |
//! | `bounded`, `tool_results` | the loop in which a model may call tools that read |
//! | `wanted`, `envelope` | the calls of tools in a reply, in the server's format and as text |
//! | `chat` | replies without evidence |
//! | `gate` | which parts of an extracted answer may be shown |
//! | `trail` | everything that happened, for the record |

mod answer;
mod answerer;
mod arriving;
mod asker;
mod bounded;
mod chat;
mod claim_notes;
mod conclusion;
mod conversation;
mod defang;
mod envelope;
mod extractive;
mod file;
mod gate;
mod gather;
mod grounded;
mod meaning;
mod prompt;
mod readable;
mod readable_sources;
mod recompute;
mod salvage;
mod second_opinion;
mod summary_extent;
mod tool_requests;
mod tool_results;
mod trail;
mod verdict_marks;

use std::collections::HashMap;

use crate::config::FolderContext;
use local_agent_embed::embedding::{Embedder, QuestionEmbedder};
use local_agent_files::sandbox::Sandbox;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{
    self, Coverage, Engine, Found, Hit, Mode, PackLimits, Packed, Request, Reranked, Scope,
    SharedReranker, Stale,
};
use local_agent_net::http::is_server_failure;
use local_agent_text::error::{Failure, Result};
use local_agent_verify::VerifyOptions;

pub use answer::{
    Abstention, Answer, AnswerResult, AskResult, Certainty, CheckedDraft, ExtractedAnswer, Outcome,
    WrittenAnswer,
};
pub use answerer::{Answerer, ChatAnswerer, Chosen, choose, choose_for_chat, choose_or_search};
pub use bounded::Toolbox;
pub use chat::{Chatted, chat};
pub use claim_notes::{ClaimNote, SourceSentence, source_sentence};
pub use extractive::{
    Computed, Day, Operation, PieceForm, Shown, ShownPiece, named_day, stated_day,
};
pub use file::{
    FileQuestion, FileScope, ask_file, file_options, named_file, requested_file, unread_names,
    unreadable_file,
};
pub use readable::{Readable, TextLine, TextRun, readable, table_cells};
pub use readable_sources::ReadableSource;
pub use recompute::RecomputedValue;
pub use second_opinion::{AskedModel, ClaimOpinion};
pub use trail::{Call, Event, Observe, Purpose, Round, Timing, ToolStep, Trail};
pub use verdict_marks::{is_quoted, summary, with_marks};

use answer::{Grounded, of_conversation, of_extracted};
use asker::Asker;
use conclusion::{Conclusion, conclude};
use conversation::{Rules, converse};
use extractive::{Evidence, Rarity};
use grounded::GroundedTurns;

/// Number of hits considered for each item in the snapshot, because neighbours, duplicates and
/// changed files are dropped on the way.
const HITS_PER_ITEM: usize = 6;

/// Maximum number of chunks per document in one snapshot.
const PER_DOCUMENT: usize = 3;

/// A question and the limits for its answer.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The question in plain words, without query syntax.
    pub text: &'a str,
    /// Whether whoever asks may see every document of the index. Otherwise nothing is said of all its
    /// words and documents.
    pub sees_all: bool,
    /// The documents that are searched. Documents outside it are never evidence.
    pub scope: Scope,
    /// How the lexical and the vector list are merged.
    pub fusion: Fusion,
    /// Share of the vectors in `Convex`, 0 to 1; `None`: the share in the model's profile.
    pub vector_weight: Option<f32>,
    /// Maximum number of evidence items.
    pub top_n: usize,
    /// Maximum number of evidence tokens.
    pub max_tokens: usize,
    /// How strictly the draft is checked.
    pub verify: VerifyOptions,
    /// Fail with `ASK_CITATION_INVALID` when anything in the draft is rejected, instead of leaving
    /// it out.
    pub strict: bool,
    /// The day of the question, for resolving "yesterday" and "last week".
    pub today: Day,
    /// Descriptions of folders, for a chat model.
    pub contexts: &'a [FolderContext],
    /// The reranker for the best hits; `None`: they are not reranked.
    pub reranker: Option<&'a SharedReranker>,
}

/// Answers `question` with the answerer `chosen`, from the index behind `engine` and the files
/// behind `sandbox`. `embedder` is loaded only if there are vectors. `observe` receives every
/// event. It receives the frozen evidence before any of it is sent to a chat model.
pub fn ask(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    chosen: &Chosen,
    observe: &mut Observe<'_>,
    embedder: &QuestionEmbedder<'_>,
) -> AskResult {
    ask_with(question, engine, sandbox, chosen, None, observe, embedder)
}

/// Like [`ask`]. With `tools`, the chat model may read more than the search found, and is asked
/// even if the search found nothing. `PHASE3_ASK_ERROR` if there are tools but no chat model.
pub fn ask_with(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    chosen: &Chosen,
    tools: Option<&Toolbox<'_>>,
    observe: &mut Observe<'_>,
    embedder: &QuestionEmbedder<'_>,
) -> AskResult {
    let mut trail = Trail::of(chosen);
    let answer = answer(
        question,
        engine,
        sandbox,
        (chosen, tools),
        (&mut trail, observe),
        embedder,
    );
    AskResult { answer, trail }
}

fn answer(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    (chosen, tools): (&Chosen, Option<&Toolbox<'_>>),
    (trail, observe): (&mut Trail, &mut Observe<'_>),
    embedder: &QuestionEmbedder<'_>,
) -> Result<Answer> {
    if let (Some(_), Answerer::Extractive) = (tools, &chosen.answerer) {
        return Err(chat::no_model(chosen));
    }
    let stores = Stores {
        question,
        engine,
        sandbox,
    };
    let EvidenceSearch {
        packed,
        found,
        state,
    } = trail.timed("retrieve", || retrieve(&stores, embedder))?;
    observe(&Event::Frozen {
        snapshot: &packed.snapshot,
        freshness: &packed.freshness,
    })?;
    let chat = match &chosen.answerer {
        Answerer::Chat(chat) => chat,
        Answerer::Extractive => {
            let extracted = trail.timed("extract", || found.extract(&stores, packed))?;
            return Ok(state.answer(extracted));
        }
        Answerer::Unusable(failure) => {
            trail.keeps_unanswered(failure, &packed);
            return Err(failure.clone());
        }
    };
    // The search found nothing relevant, so no model is asked.
    if tools.is_none() && (packed.snapshot.items().is_empty() || !found.is_relevant) {
        let extracted = trail.timed("extract", || found.extract(&stores, packed))?;
        if extracted.result.outcome() != Outcome::Answered {
            return Ok(state.answer(extracted));
        }
        let packed = extracted.packed.first(usize::MAX);
        let conclusion = concluded(&stores, &packed, chat, tools, (&mut *trail, observe))?;
        let written = of_conversation(conclusion, chat, EVIDENCE, || Ok(extracted))?;
        return Ok(state.answer(written));
    }
    let conclusion = concluded(&stores, &packed, chat, tools, (&mut *trail, observe))?;
    let written = of_conversation(conclusion, chat, EVIDENCE, || {
        trail.timed("extract", || found.extract(&stores, packed))
    })?;
    Ok(state.answer(written))
}

/// The name of a chat model's evidence in messages to the user.
const EVIDENCE: &str = "the evidence";

/// The result of the conversation with a chat model about `packed`.
fn concluded(
    stores: &Stores<'_>,
    packed: &Packed,
    chat: &ChatAnswerer,
    tools: Option<&Toolbox<'_>>,
    (trail, observe): (&mut Trail, &mut Observe<'_>),
) -> Result<Conclusion> {
    let question = stores.question;
    let rules = Rules {
        options: question.verify,
        strict: question.strict,
    };
    let mut asker = Asker::new(&chat.chat, trail, observe);
    let drafted = match tools {
        Some(tools) => {
            let mut turns =
                bounded::ToolTurns::new(chat, packed, stores.sandbox, tools, question.contexts)?;
            converse(&mut turns, &rules, &mut asker)
        }
        None => {
            let mut turns = GroundedTurns::new(chat, packed, question.contexts)?;
            converse(&mut turns, &rules, &mut asker)
        }
    };
    let concluded = drafted.and_then(|drafted| conclude(drafted, &rules, chat, &mut asker));
    if let Err(failure) = &concluded {
        trail.keeps_unanswered(failure, packed);
    }
    concluded
}

/// A question, and the stores that are searched for its answer.
struct Stores<'a> {
    question: &'a Question<'a>,
    engine: &'a Engine,
    sandbox: &'a Sandbox,
}

/// The result of the search for one question.
struct EvidenceSearch<'a> {
    packed: Packed,
    found: FoundEvidence<'a>,
    state: SearchState,
}

/// The parts of a search result that extraction uses.
struct FoundEvidence<'a> {
    /// The model that embedded the question; `None` if it was not embedded.
    model: Option<&'a Embedder>,
    hits: Vec<Hit>,
    /// Whether the best hit is better than a guess.
    is_relevant: bool,
}

/// The state of the index as a search reports it.
struct SearchState {
    coverage: Coverage,
    stale: Vec<Stale>,
    top_cosine: Option<f32>,
    reranked: Option<Reranked>,
}

impl SearchState {
    fn answer(self, grounded: Grounded) -> Answer {
        Answer {
            result: grounded.result,
            packed: grounded.packed,
            left_out: grounded.left_out,
            coverage: self.coverage,
            stale: self.stale,
            top_cosine: self.top_cosine,
            reranked: self.reranked,
            file: None,
        }
    }
}

fn retrieve<'a>(
    stores: &Stores<'_>,
    embedder: &'a QuestionEmbedder<'_>,
) -> Result<EvidenceSearch<'a>> {
    let Stores {
        question,
        engine,
        sandbox,
    } = *stores;
    let query = Query::plain(question.text);
    let limit = question.top_n.max(1) * HITS_PER_ITEM;
    let spare = retrieval::with_spare(sandbox, limit);
    let request = Request {
        query: &query,
        mode: Mode::Hybrid,
        scope: question.scope.clone(),
        limit: question
            .reranker
            .map_or(spare, |_| retrieval::with_reranked(spare)),
        fusion: question.fusion,
        vector_weight: question.vector_weight,
    };
    let mut model = None;
    let searched = std::thread::scope(|threads| {
        let loading = engine
            .has_vectors()
            .then(|| threads.spawn(|| embedder.get()));
        engine.search(&request, || {
            let embedder = match loading {
                Some(thread) => thread
                    .join()
                    .unwrap_or_else(|_| Err(Failure::internal("loading the model panicked")))?,
                None => return Err(Failure::internal("vectors are searched without a model")),
            };
            model = Some(embedder);
            embedder.embed_query(question.text)
        })
    });
    let mut found = match searched {
        Err(failure) if is_server_failure(&failure) => {
            model = None;
            by_words_alone(engine, request, &failure)?
        }
        searched => searched?,
    };
    if let Some(reranker) = question.reranker {
        reranker.rerank(&mut found, question.text)?;
    }
    retrieval::keep_shown(sandbox, &mut found.hits, limit);
    let limits = PackLimits {
        top_n: question.top_n,
        max_tokens: question.max_tokens,
        per_document: PER_DOCUMENT,
    };
    let packed = retrieval::pack(question.text, &found.hits, engine.index(), sandbox, &limits)?;
    Ok(EvidenceSearch {
        packed,
        found: FoundEvidence {
            model,
            hits: found.hits,
            is_relevant: found.is_relevant,
        },
        state: SearchState {
            coverage: found.coverage,
            stale: found.stale,
            top_cosine: found.top_cosine,
            reranked: found.reranked,
        },
    })
}

/// The search for the words of a question whose meaning the embedding server did not compute.
fn by_words_alone(engine: &Engine, request: Request<'_>, failure: &Failure) -> Result<Found> {
    let request = Request {
        mode: Mode::Lexical,
        ..request
    };
    let mut found = engine.search(&request, || {
        Err(Failure::internal("a search for words asked for a vector"))
    })?;
    found.stale.push(retrieval::without_meaning(failure));
    Ok(found)
}

impl FoundEvidence<'_> {
    /// Extracts an answer. `packed` is the evidence so far.
    fn extract(&self, stores: &Stores<'_>, packed: Packed) -> Result<Grounded> {
        let Stores {
            question,
            engine,
            sandbox,
        } = *stores;
        let library = gather::OpenStores {
            engine,
            sandbox,
            scope: &question.scope,
            sees_all: question.sees_all,
        };
        let meaning = self.model.and_then(meaning::EmbeddingComparer::of);
        let rarity = rarity(question.text, engine)?;
        let evidence = Evidence {
            notes: library.notes(&self.hits)?,
            rarity: &|stem| rarity.get(stem).copied().unwrap_or(UNSEEN),
            meaning: meaning.as_ref().map(|m| m as &dyn extractive::Meaning),
            more: &|lookup| library.more(lookup),
            today: question.today,
        };
        let extracted = extractive::extract(question.text, evidence)?;
        of_extracted(extracted, packed, &question.verify, question.strict)
    }
}

/// The rarity of a term that was not looked up in the index.
const UNSEEN: Rarity = Rarity {
    idf: 1.0,
    known: true,
};

/// The rarity of each term of the question.
fn rarity(question: &str, engine: &Engine) -> Result<HashMap<String, Rarity>> {
    let Some(reader) = engine.lexical() else {
        return Ok(HashMap::new());
    };
    let stats = reader.term_stats(&Query::plain(question))?;
    Ok(stats.into_iter().map(term_rarity).collect())
}

/// A term with its rarity.
fn term_rarity(stat: local_agent_index::lexical::TermStat) -> (String, Rarity) {
    let rarity = Rarity {
        idf: stat.idf(),
        known: stat.doc_freq > 0,
    };
    (stat.term, rarity)
}
