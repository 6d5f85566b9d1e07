//! How much of a question a text covers, with words weighted by rarity.

use std::collections::HashSet;

use super::search::idf;
use super::{Query, Reader, failure, guarded};
use local_agent_text::error::Result;
use local_agent_text::language::tokenize::{Analyzer, Token};

/// How common a term of a query is in the index.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStat {
    /// The term, as returned by [`super::terms`].
    pub term: String,
    /// Number of documents that contain it, in any field.
    pub doc_freq: u64,
    /// Total number of documents.
    pub docs: u64,
}

impl TermStat {
    /// BM25's inverse document frequency: ln(1 + (N − n + ½) / (n + ½)); positive.
    pub fn idf(&self) -> f32 {
        idf(self.doc_freq, self.docs)
    }
}

/// The share, 0 to 1, of the terms in `stats` that are in `text`, weighted by their idf; 0 without
/// terms.
pub fn coverage(stats: &[TermStat], text: &str) -> f32 {
    let mut analyzer = Analyzer::default();
    let mut present = HashSet::new();
    analyzer.analyze(text, &mut |token| match token {
        Token::Word { stem, .. } | Token::Whole { stem, .. } => {
            present.insert(stem.to_owned());
        }
        Token::Char { text, .. } | Token::Pair(text) => {
            present.insert(text.to_owned());
        }
    });
    let (mut found, mut all) = (0.0, 0.0);
    for stat in stats {
        let idf = stat.idf();
        all += idf;
        if present.contains(&stat.term) {
            found += idf;
        }
    }
    if all > 0.0 { found / all } else { 0.0 }
}

impl Reader {
    /// How common every term in words and phrases is, in order of appearance; each term once.
    pub fn term_stats(&self, query: &Query) -> Result<Vec<TermStat>> {
        let text = query
            .words
            .iter()
            .chain(&query.phrases)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n");
        let mut seen = HashSet::new();
        let terms: Vec<_> = super::terms(&text)
            .into_iter()
            .filter(|term| seen.insert(term.clone()))
            .collect();
        let freqs = guarded(|| self.doc_freqs(&terms).map_err(|error| failure(&error)))?;
        let docs = self.doc_count();
        Ok(terms
            .into_iter()
            .zip(freqs)
            .map(|(term, doc_freq)| TermStat {
                term,
                doc_freq,
                docs,
            })
            .collect())
    }
}
