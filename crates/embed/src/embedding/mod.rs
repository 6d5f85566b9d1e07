//! Text → vectors.
//!
//! The encoder is a BERT network in pure Rust (the package `crates/kernels/`; candle checks it), a
//! network that candle computes, or a table of token vectors: the same binary works on every
//! machine, with a compiled-in model or one from a folder. A vector depends only on what is in its
//! [`Fingerprint`]: not on the machine, the path, the version or a URL.

mod batch;
mod bert;
mod candle;
mod lazy;
mod network;
mod oracle;
mod packed;
mod pieces;
mod pooling;
mod reranker;
mod server;
mod states;
mod table;
mod tokens;
mod unigram;
mod weights;
mod words;

use bert::Purpose;
use local_agent_kernels::Isa;

use crate::models::Precision;
use crate::models::{Engine, ModelFiles};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::language::script::{self, Script};
use local_agent_text::language::{Language, languages_of_question};
use local_agent_text::types::{Fingerprint, HeadingPath};

pub use batch::Embedded;
pub use lazy::{LazyEmbedder, LazyLoaded, QuestionEmbedder};
pub use oracle::{Agreement, second_opinion, second_opinion_on_pairs};
pub use reranker::{PairScores, Reranker};
pub use server::{ServerEmbedder, ServerSpec, Wire};
pub use states::{TokenStates, WordState};
pub use tokens::TokenCounter;

/// The version of [`passage_input`] and of how long inputs are cut. It is raised if either changes.
pub const TEMPLATE_VERSION: u32 = 1;

/// The name of the arithmetic. Vectors of different kinds of arithmetic differ in the last digits.
/// Within one kind, the vectors of all processors agree to a thousandth of a cosine. (The name for
/// f32 comes from the first library that computed it.)
const fn arithmetic(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "candle-f32",
        Precision::Bf16 => "kernels:bf16",
        Precision::Int8 => "kernels:int8, turned",
        Precision::Mixed => "kernels:int8+bf16, turned",
    }
}

/// Number of headings in a passage's input.
const HEADINGS: usize = 2;

/// The vector of a question, and how the model tokenised it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryVector {
    /// The vector, of length 1.
    pub vector: Vec<f32>,
    /// Characters of the question, not counting white space.
    pub letters: usize,
    /// The number of word pieces in the question, if the model's vocabulary is for Latin script.
    /// Then few letters per piece show that the model cannot read the question.
    pub pieces: Option<usize>,
    /// The languages that the question may be in; empty if that is unclear.
    pub languages: Vec<Language>,
    /// Whether it is written in another script than Latin.
    pub is_in_another_script: bool,
}

impl QueryVector {
    /// The vector of `text`, without any further information.
    pub fn new(vector: Vec<f32>, text: &str) -> Self {
        Self {
            vector,
            letters: text.chars().filter(|c| !c.is_whitespace()).count(),
            pieces: None,
            languages: languages_of_question(text),
            is_in_another_script: script::of_text(text).is_some_and(|one| one != Script::Latin),
        }
    }
}

/// A loaded encoder. Immutable; any number of threads may use it at once.
pub struct Encoder {
    network: network::TextNetwork,
    tokens: TokenCounter,
    query: batch::Frame,
    passage: batch::Frame,
    fingerprint: Fingerprint,
}

impl Encoder {
    /// Loads weights and tokenizer in parallel.
    ///
    /// Errors: `MODEL_INVALID` when the files are not a usable encoder, `CONFIG_ERROR` when the
    /// machine lacks the requested instructions.
    pub fn load(files: &ModelFiles) -> Result<Self> {
        Self::load_for(files, Purpose::Passages(files.precision()), isa(files)?)
    }

    /// Like [`Self::load`], for a process that embeds one question. In f32 it is ready in a
    /// fraction of the time, because nothing is packed. It is slower for every text, and the last
    /// digits differ. Other precisions map weights that were packed before; if these cannot be
    /// stored, loading takes as long as [`Self::load`].
    ///
    /// Errors: see [`Self::load`].
    pub fn for_questions(files: &ModelFiles) -> Result<Self> {
        let purpose = match files.precision() {
            Precision::F32 => Purpose::Questions,
            precision => Purpose::Passages(precision),
        };
        Self::load_for(files, purpose, isa(files)?)
    }

    fn load_for(files: &ModelFiles, purpose: Purpose, isa: Isa) -> Result<Self> {
        let (tokens, network) = std::thread::scope(|scope| {
            let tokens = scope.spawn(|| TokenCounter::load(files));
            let network = network::TextNetwork::load(files, purpose, isa);
            (
                tokens
                    .join()
                    .map_err(|_| Failure::internal("loading the tokenizer panicked")),
                network,
            )
        });
        let (tokens, network) = (tokens??, network?);
        Ok(Self {
            query: frame(files, &tokens, &files.prefixes().query)?,
            passage: frame(files, &tokens, &files.prefixes().passage)?,
            network,
            tokens,
            fingerprint: fingerprint(files),
        })
    }

    /// Length of a vector.
    pub fn dim(&self) -> usize {
        self.network.dimensions()
    }

    /// The fingerprint of the vectors that this encoder makes.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The unit vector of a question. A question longer than the window is cut like a passage.
    ///
    /// Errors: `MODEL_INVALID` when the result is not finite.
    pub fn embed_query(&self, text: &str) -> Result<QueryVector> {
        let one = batch::embed(
            &self.network,
            &self.tokens,
            &self.query,
            &[text],
            1,
            1,
            &|_| (),
        )?;
        let Some(one) = one.into_iter().next() else {
            return Err(Failure::internal("a question has no vector"));
        };
        let pieces = self.tokens.is_latin().then_some(one.tokens as usize);
        Ok(QueryVector {
            pieces,
            ..QueryVector::new(one.vector, text)
        })
    }

    /// The unit vectors of passages, in the same order.
    ///
    /// `threads` workers (0: one per core) take micro-batches of at most `batch_tokens` tokens, and
    /// no more than fit in a core's cache (256). A worker needs about 2 MB and 10 kB per token of
    /// its largest batch. A text longer than the window is cut into windows of nearly equal length
    /// and gets the mean of their vectors. The workers call `on_done` with the number of texts that
    /// a batch completed; the calls add up to `texts.len()`.
    ///
    /// Errors: `MODEL_INVALID` when a result is not finite; then no vectors are returned.
    pub fn embed_passages(
        &self,
        texts: &[&str],
        threads: usize,
        batch_tokens: usize,
        on_done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Embedded>> {
        batch::embed(
            &self.network,
            &self.tokens,
            &self.passage,
            texts,
            threads,
            batch_tokens,
            on_done,
        )
    }

    /// The vectors of passages and of each of their tokens, in the same order, computed by
    /// `threads` workers. Text that does not fit in the window is cut off.
    ///
    /// Errors: `MODEL_INVALID` when a result is not finite.
    pub fn token_states(&self, texts: &[&str], threads: usize) -> Result<Vec<TokenStates>> {
        states::of_texts(&self.network, &self.tokens, &self.passage, texts, threads)
    }

    /// The vectors of the words of a question, each in the context of all words; words beyond the
    /// window are left out.
    ///
    /// Errors: `MODEL_INVALID` when a result is not finite.
    pub fn word_states(&self, words: &[&str]) -> Result<Vec<WordState>> {
        states::of_words(&self.network, &self.tokens, &self.query, words)
    }
}

/// The tokens around a text with this prefix.
fn frame(files: &ModelFiles, tokens: &TokenCounter, prefix: &str) -> Result<batch::Frame> {
    let (before, after, filler) = match files.network().engine() {
        // A table averages the token vectors of the text only.
        Engine::Table => {
            let unknown = table::unknown_token(files.tokenizer());
            (Vec::new(), Vec::new(), unknown.unwrap_or_default())
        }
        Engine::Kernels | Engine::Candle => {
            let (before, after) = tokens.frame(files.id())?;
            (before, after, 0)
        }
    };
    let own = tokens.ids(prefix)?;
    let around = before.len() + after.len() + own.len();
    let Some(room) = files.window().checked_sub(around).filter(|room| *room > 0) else {
        let reason = "its prefix leaves no room for text in the window";
        return Err(weights::invalid(files.id(), reason));
    };
    Ok(batch::Frame {
        before,
        after,
        prefix_text: prefix.to_owned(),
        prefix: own,
        filler,
        room,
    })
}

/// The source of vectors, chosen once by the configuration.
pub enum Embedder {
    /// This process.
    Candle(Box<Encoder>),
    /// A server.
    Server(Box<ServerEmbedder>),
}

impl Embedder {
    /// The fingerprint of its vectors.
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Candle(encoder) => encoder.fingerprint(),
            Self::Server(server) => server.fingerprint(),
        }
    }

    /// Whether its vocabulary is known to contain only Latin script, so that it cannot read other
    /// scripts.
    pub fn reads_latin_only(&self) -> bool {
        match self {
            Self::Candle(encoder) => encoder.tokens.is_latin(),
            Self::Server(_) => false,
        }
    }

    /// The unit vector of a question.
    ///
    /// Errors: `MODEL_INVALID`, `SERVER_UNREACHABLE`, `SERVER_ERROR`.
    pub fn embed_query(&self, text: &str) -> Result<QueryVector> {
        match self {
            Self::Candle(encoder) => encoder.embed_query(text),
            Self::Server(server) => Ok(QueryVector::new(server.embed_query(text)?, text)),
        }
    }

    /// The unit vectors of passages, in the same order; see [`Encoder::embed_passages`]. A server
    /// gets all of `texts` in one request; `threads` and `batch_tokens` are ignored.
    ///
    /// Errors: see [`Self::embed_query`].
    pub fn embed_passages(
        &self,
        texts: &[&str],
        threads: usize,
        batch_tokens: usize,
        on_done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Embedded>> {
        match self {
            Self::Candle(encoder) => encoder.embed_passages(texts, threads, batch_tokens, on_done),
            Self::Server(server) => server
                .embed_passages(texts)
                .inspect(|done| on_done(done.len())),
        }
    }
}

/// The name of the instructions that this machine uses with these files.
///
/// Errors: `CONFIG_ERROR` when the machine lacks the requested instructions.
pub fn instructions(files: &ModelFiles) -> Result<&'static str> {
    Ok(isa(files)?.set().as_str())
}

fn isa(files: &ModelFiles) -> Result<Isa> {
    let Some(name) = files.instructions() else {
        return Ok(Isa::best());
    };
    Isa::all()
        .find(|isa| isa.set().as_str() == name)
        .ok_or_else(|| {
            let message =
                format!("`embed.instructions` is `{name}`, which this machine does not have.");
            let best = Isa::best().set().as_str();
            Failure::new(ErrorCode::ConfigError, message).with_fix(
                Fix::ChangeSetting,
                format!("set embed.instructions to auto (here that is {best})"),
            )
        })
}

/// The fingerprint of the vectors that these files make, on any machine; no weights are read.
pub fn fingerprint(files: &ModelFiles) -> Fingerprint {
    let arithmetic = match files.network().engine() {
        Engine::Kernels => arithmetic(files.precision()),
        Engine::Candle => "candle networks:f32",
        Engine::Table => "table:f32",
    };
    let (window, template) = (
        (files.window() as u64).to_le_bytes(),
        TEMPLATE_VERSION.to_le_bytes(),
    );
    let mut fields: Vec<&[u8]> = vec![
        files.weights_sha256().as_bytes(),
        files.tokenizer_sha256().as_bytes(),
        files.pooling().as_str().as_bytes(),
        files.prefixes().query.as_bytes(),
        files.prefixes().passage.as_bytes(),
        &window,
        &template,
        arithmetic.as_bytes(),
    ];
    // Vectors that are neither cut nor sent through a dense layer keep their original fingerprint.
    for layer in files.dense() {
        fields.extend([b"dense".as_slice(), layer.sha256().as_bytes()]);
    }
    let cut = files.cut().map(|dimensions| format!("cut to {dimensions}"));
    fields.extend(cut.as_deref().map(str::as_bytes));
    Fingerprint::of_fields(&fields)
}

/// The text that is embedded for a chunk: up to two innermost headings, a line break, the text. It
/// never contains a path or file name, so a moved file keeps its vectors.
pub fn passage_input(heading: &HeadingPath, text: &str) -> String {
    let headings = heading.headings();
    let inner = &headings[headings.len().saturating_sub(HEADINGS)..];
    if inner.is_empty() {
        return text.to_owned();
    }
    let titles: Vec<&str> = inner.iter().map(|h| h.title.as_str()).collect();
    format!("{}\n{text}", titles.join(" > "))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod network_tests;
