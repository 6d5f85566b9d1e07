//! Measures the scale of a model's cosines on the index itself: headings are treated as questions,
//! and their sections as the passages that answer them.

use std::path::Path;

use crate::ids::DocumentId;
use crate::profile::{Cosines, LanguageSpace, Measured, Origin, Profile, separation};
use crate::store::IndexReader;
use crate::vectors::{Matrix, dot};
use local_agent_embed::embedding::Embedder;
use local_agent_text::error::Result;
use local_agent_text::language::{self, Language};
use local_agent_text::types::Fingerprint;

/// Number of passages that every question is compared with.
const PASSAGES: usize = 256;

/// Number of headings that are embedded as questions; a server gets a separate request for each.
const QUESTIONS: usize = 48;

/// With fewer passages nothing is measured, because an estimate is just as good.
const FEWEST_PASSAGES: usize = 16;

/// Number of words of a passage without a heading that are used as a question.
const FIRST_WORDS: usize = 8;

/// One passage of the sample.
struct Passage {
    document: DocumentId,
    language: Option<Language>,
    question: String,
    vector: Vec<f32>,
}

/// Whether the next `embed` would measure the vectors in `dir`: the program ships no profile for
/// them, there are enough of them, and they were not measured yet, or on a smaller index.
///
/// Errors: those of the matrix and of the stored profile.
pub fn profile_is_wanted(dir: &Path, fingerprint: &Fingerprint) -> Result<bool> {
    if Profile::is_fixed(fingerprint) {
        return Ok(false);
    }
    let Some(matrix) = Matrix::open(dir)?.filter(|m| m.stamp().fingerprint == *fingerprint) else {
        return Ok(false);
    };
    let measured = Measured::read(dir, fingerprint)?;
    Ok(matrix.len() >= FEWEST_PASSAGES && measured.is_none_or(|one| one.is_outdated(matrix.len())))
}

/// Measures the model on the vectors in `dir` and stores the profile next to them, or that it cannot
/// be measured.
///
/// Errors: those of the databases and of the embedder; `WRITE_ERROR`.
pub(super) fn measure(index_db: &Path, dir: &Path, embedder: &Embedder) -> Result<()> {
    let index = IndexReader::required(index_db)?;
    let Some(matrix) = Matrix::open(dir)? else {
        return Ok(());
    };
    let passages = sample(&index, &matrix)?;
    let views = passages.iter().map(|p| (p.language, p.vector.as_slice()));
    let languages = LanguageSpace::of(&views.collect::<Vec<_>>());
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for (at, passage) in passages.iter().enumerate().take(QUESTIONS) {
        let question = embedder.embed_query(&passage.question)?.vector;
        let neutral = languages.as_ref().map(|space| space.neutral(&question));
        for (other_at, other) in passages.iter().enumerate() {
            let cosine = match &neutral {
                Some(neutral) => neutral.with(&other.vector),
                None => dot(&question, &other.vector),
            };
            if other_at == at {
                near.push(cosine);
            } else if other.document != passage.document {
                far.push(cosine);
            }
        }
    }
    let profile = Cosines::of(&far).map(|unrelated| Profile {
        latin_only: embedder.reads_latin_only(),
        languages,
        ..Profile::new(Origin::Measured, unrelated, separation(&near, &far))
    });
    let measured = Measured {
        fingerprint: embedder.fingerprint(),
        chunks: matrix.len(),
        profile,
    };
    measured.write(dir)
}

/// Passages of the matrix, each with a question that it answers.
fn sample(index: &IndexReader, matrix: &Matrix) -> Result<Vec<Passage>> {
    let mut passages = Vec::new();
    for (id, vector) in matrix.sample(PASSAGES) {
        let Some(chunk) = index.chunks(&[id])?.pop() else {
            continue;
        };
        let heading = chunk.heading.headings().last();
        let question = heading.map_or_else(
            || {
                let words: Vec<&str> = chunk.text.split_whitespace().take(FIRST_WORDS).collect();
                words.join(" ")
            },
            |heading| heading.title.clone(),
        );
        passages.push(Passage {
            document: chunk.document_id,
            language: language::detect(&chunk.text),
            question,
            vector,
        });
    }
    Ok(passages)
}
