//! Question → snapshot → draft → verify → answer or abstention.
//!
//! Whatever wrote the draft, it goes through one gate: nothing reaches a person that the verifier has not passed.

mod dates;
mod extractive;
mod fit;
mod gate;
mod question;
mod score;
mod select;
mod units;
mod words;

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::config::{AskProvider, Fusion};
use crate::embedding::Embedder;
use crate::error::{ErrorCode, Failure, Result};
use crate::evidence::Draft;
use crate::lexical::Query;
use crate::retrieval::{self, Coverage, Engine, Mode, PackLimits, Packed, Request, Scope, Stale};
use crate::sandbox::Sandbox;
use crate::verify::{Report, VerifyOptions};

pub use extractive::{Evidence, Extract, extract};

/// Hits looked at for each place in the snapshot: neighbours, duplicates and changed files fall out on the way.
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
    /// Fail with `ASK_CITATION_INVALID` when anything in the draft is rejected, instead of leaving it out.
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
}

/// The answer with everything that is needed to check it again.
#[derive(Debug)]
pub struct Answer {
    pub outcome: Outcome,
    /// The answer with canonical citations; `None` when abstained.
    pub text: Option<String>,
    /// Why there is no answer, or not all of it.
    pub why: Option<String>,
    pub packed: Packed,
    /// What the verifier found in the answer, or in the draft that it refused; `None` when there was no draft.
    pub report: Option<Report>,
    /// The draft that `report` is about.
    pub draft: Option<Draft>,
    pub coverage: Coverage,
    pub stale: Vec<Stale>,
    pub top_cosine: Option<f32>,
    /// Who wrote the draft.
    pub answerer: &'static str,
}

impl Answer {
    fn take(&mut self, passed: gate::Passed) {
        self.outcome = if passed.text.is_some() { Outcome::Answered } else { Outcome::Abstained };
        self.text = passed.text;
        self.why = passed.held_back;
        self.report = Some(passed.report);
        self.draft = Some(passed.draft);
    }
}

/// Answers `question` from the index behind `engine` and the files behind `sandbox`. `load` gives the model; it is
/// called at most once, and only when there are vectors.
pub fn ask(
    question: &Question<'_>,
    engine: &Engine,
    sandbox: &Sandbox,
    load: impl FnOnce() -> Result<Embedder> + Send,
) -> Result<Answer> {
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
                Some(thread) => {
                    thread.join().unwrap_or_else(|_| Err(Failure::internal("loading the model panicked")))?
                }
                None => return Err(Failure::internal("vectors are searched without a model")),
            };
            asked = embedder.embed_query(question.text)?;
            let _ = model.set(embedder);
            Ok(asked.clone())
        })
    })?;
    let limits = PackLimits { top_n: question.top_n, max_tokens: question.max_tokens, per_document: PER_DOCUMENT };
    let packed = retrieval::pack(question.text, &found.hits, engine.index(), sandbox, &limits)?;
    let mut answer = Answer {
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
    };
    let similarity = |texts: &[&str]| similarities(model.get(), &asked, texts);
    match draft(question.text, engine, &answer.packed, model.get().is_some().then_some(&similarity))? {
        Extract::Nothing { why } => answer.why = Some(why),
        Extract::Answer(draft) => answer.take(gate::gate(
            draft,
            &answer.packed.snapshot,
            &answer.packed.freshness,
            &question.verify,
            question.strict,
        )?),
    }
    Ok(answer)
}

/// Cosine of the question with each text.
type Similarity<'a> = &'a dyn Fn(&[&str]) -> Result<Vec<f32>>;

fn draft(question: &str, engine: &Engine, packed: &Packed, similarity: Option<Similarity<'_>>) -> Result<Extract> {
    let stats = match engine.lexical() {
        Some(reader) => reader.term_stats(&Query::plain(question))?,
        None => Vec::new(),
    };
    let idf: HashMap<&str, f32> = stats.iter().map(|stat| (stat.term.as_str(), stat.idf())).collect();
    let idf = |term: &str| idf.get(term).copied().unwrap_or(1.0);
    let evidence = Evidence { snapshot: &packed.snapshot, scores: &packed.scores, idf: &idf, similarity };
    extract(question, &evidence)
}

/// Cosine of the question with each text; the question's vector is `asked`.
fn similarities(model: Option<&Embedder>, asked: &[f32], texts: &[&str]) -> Result<Vec<f32>> {
    let Some(model) = model else { return Ok(vec![0.0; texts.len()]) };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let embedded = model.embed_passages(texts, threads, 1024, &|_| ())?;
    let dot = |vector: &[f32]| vector.iter().zip(asked).map(|(a, b)| a * b).sum();
    Ok(embedded.iter().map(|one| dot(&one.vector)).collect())
}

/// Which answerer the configuration asks for, and whether this program can be it.
pub fn answerer(provider: AskProvider) -> Result<&'static str> {
    match provider {
        AskProvider::Auto | AskProvider::Extractive => Ok("extractive"),
        AskProvider::Ollama | AskProvider::OpenAi => Err(Failure::new(
            ErrorCode::AskError,
            "this version answers by extraction only; `ask.provider` names a chat server",
        )
        .with_hint("set ask.provider to auto or extractive")),
    }
}
