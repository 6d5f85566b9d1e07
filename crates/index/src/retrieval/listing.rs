//! Lists the documents that filters alone select.

use super::{Engine, Hit, Scope, Trace, filters};
use crate::ids::{DocumentId, IdSet};
use crate::lexical::Query;
use local_agent_text::error::Result;

impl Engine {
    /// The documents that a scope allows; `None`: all of them.
    ///
    /// # Errors
    /// Those of the database.
    pub fn allowed(&self, scope: &Scope) -> Result<Option<IdSet<DocumentId>>> {
        filters::documents(&self.index, scope)
    }

    /// The first chunk of each document that the scope allows and `query` does not exclude, by source
    /// and path, at most `limit`; and the number of documents. They are not ranked, because each of
    /// them matches. A document without text is counted but has no chunk.
    ///
    /// # Errors
    /// Those of the database.
    pub fn listing(&self, scope: &Scope, query: &Query, limit: usize) -> Result<(Vec<Hit>, usize)> {
        let allowed = filters::documents(&self.index, scope)?;
        let has_exclusions = !(query.excluded.is_empty() && query.excluded_phrases.is_empty());
        let excluded = match self.lexical().filter(|_| has_exclusions) {
            Some(reader) => reader.excluded(query)?,
            None => IdSet::default(),
        };
        let notes: Vec<DocumentId> = self
            .index
            .notes()?
            .iter()
            .map(|note| note.id)
            .filter(|id| allowed.as_ref().is_none_or(|ids| ids.contains(*id)))
            .filter(|id| !excluded.contains(*id))
            .collect();
        let mut hits = Vec::new();
        for id in &notes {
            if hits.len() == limit {
                break;
            }
            let Some(chunk) = self.index.chunk_at(*id, 0)? else {
                continue;
            };
            let trace = Trace {
                method: "filter",
                ..Trace::default()
            };
            hits.push(Hit {
                chunk,
                score: 1.0,
                chance: 1.0,
                trace,
            });
        }
        Ok((hits, notes.len()))
    }
}
