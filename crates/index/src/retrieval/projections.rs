//! The projections of one state of the index, which the engines of several threads share.

use std::path::Path;
use std::sync::OnceLock;

use super::document_sums::DocumentSums;
use super::legibility::Pieces;
use super::{Coverage, Stale};
use crate::ids::{ChunkId, IdSet};
use crate::lexical;
use crate::profile::Profile;
use crate::store::IndexReader;
use crate::vectors::Matrix;
use local_agent_text::error::Result;
use local_agent_text::language::Language;
use local_agent_text::types::{CommitId, Fingerprint};

/// The lexical projection and the matrix of one commit, and what was computed from them.
pub struct Projections {
    /// The newest commit of the index when they were opened.
    pub(super) commit: Option<CommitId>,
    pub(super) lexical: Option<lexical::Reader>,
    pub(super) matrix: Option<Matrix>,
    pub(super) stale: Vec<Stale>,
    /// Whether the matrix was made from another state of the index. It may still have a vector for
    /// each chunk.
    pub(super) has_older_vectors: bool,
    /// The profile of the matrix's cosines.
    pub(super) profile: Option<Profile>,
    /// Chunks that have a vector; computed on first use.
    pub(super) with_vector: OnceLock<IdSet<ChunkId>>,
    /// Letters and word pieces of some chunks.
    pub(super) pieces: OnceLock<Pieces>,
    /// The languages of some chunks.
    pub(super) languages: OnceLock<Vec<Language>>,
    /// Computed on first use.
    pub(super) coverage: OnceLock<Coverage>,
    pub(super) document_sums: DocumentSums,
}

impl Projections {
    /// Opens the projections for the commit that `index` sees. `fingerprint` is that of the query
    /// vectors; a matrix with another fingerprint is not searched.
    pub(super) fn open(
        index: &IndexReader,
        lexical_dir: &Path,
        vectors_dir: &Path,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Self> {
        let commit = index.commit_id()?;
        let mut stale = Vec::new();
        let lexical = lexical::Reader::open_for(lexical_dir, commit)?;
        stale.extend(why_stale(lexical.as_ref(), commit).map(|why| Stale {
            what: "lexical",
            why: why.to_owned(),
            fix: "local-agent index",
        }));
        let mut projections = Self {
            commit,
            lexical,
            matrix: None,
            stale,
            has_older_vectors: false,
            profile: None,
            with_vector: OnceLock::new(),
            pieces: OnceLock::new(),
            languages: OnceLock::new(),
            coverage: OnceLock::new(),
            document_sums: DocumentSums::default(),
        };
        if let Some(fingerprint) = fingerprint {
            projections.open_matrix(vectors_dir, fingerprint)?;
        }
        Ok(projections)
    }

    fn open_matrix(&mut self, dir: &Path, fingerprint: &Fingerprint) -> Result<()> {
        let mut stale = |why: &str| {
            self.stale.push(Stale {
                what: "vectors",
                why: why.to_owned(),
                fix: "local-agent embed",
            });
        };
        match Matrix::open(dir)? {
            None => stale("nothing was embedded yet, so meaning is not searched"),
            Some(matrix) if matrix.stamp().fingerprint != *fingerprint => {
                stale(
                    "the vectors were made by another model or another way of embedding, so they are not searched",
                );
            }
            Some(matrix) => {
                self.has_older_vectors = Some(matrix.stamp().index_commit) != self.commit;
                self.profile = Some(Profile::of_matrix(dir, &matrix)?);
                self.matrix = Some(matrix);
            }
        }
        Ok(())
    }
}

/// Why the lexical projection does not show the state of `commit`; `None` if it does.
fn why_stale(lexical: Option<&lexical::Reader>, commit: Option<CommitId>) -> Option<&'static str> {
    match lexical {
        None => Some("there is no word index, so words are not searched"),
        Some(reader) if reader.stamp().map(|stamp| stamp.index_commit) != commit => {
            Some("the word index is older than the notes' index")
        }
        Some(_) => None,
    }
}
