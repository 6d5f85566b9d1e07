//! How much of a question a text covers, weighted by how rare its words are.

use std::collections::HashSet;

use local_agent_text::language::tokenize::{Analyzer, Token};
use super::search::idf;
use super::{Query, Reader, failure, guarded};
use local_agent_text::error::Result;

/// How common a term of a query is.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStat {
    /// The term as [`super::terms`] gives it.
    pub term: String,
    /// Documents that hold it, in any field.
    pub doc_freq: u64,
    /// All documents.
    pub docs: u64,
}

impl TermStat {
    /// BM25's inverse document frequency: ln(1 + (N − n + ½) / (n + ½)); positive.
    pub fn idf(&self) -> f32 {
        idf(self.doc_freq, self.docs)
    }
}

/// The share, 0 to 1, of the terms in `stats`, weighted by their idf, that stand in `text`; 0
/// without terms.
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
    /// For every term of words and phrases, how common it is, in order of appearance; each once.
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
