//! Converts `name:value` filters and scopes to the set of documents that both sides may return.

use crate::ids::{DocumentId, IdSet};
use crate::lexical::Filter;
use crate::store::{DocumentCondition, IndexReader};
use local_agent_text::error::Result;

use super::Scope;

/// The documents that a scope allows; `None`: all of them.
pub(super) fn documents(index: &IndexReader, scope: &Scope) -> Result<Option<IdSet<DocumentId>>> {
    let mut conditions = Vec::new();
    if !scope.sources.is_empty() {
        conditions.push(DocumentCondition::InSources(&scope.sources));
    }
    conditions.extend(scope.path_prefix.as_ref().map(DocumentCondition::AtOrBelow));
    conditions.extend(scope.filters.iter().map(condition));
    if conditions.is_empty() {
        return Ok(None);
    }
    Ok(Some(index.documents_where(&conditions)?))
}

/// The condition of one filter. A name that is not one of ours is that of a property.
fn condition(filter: &Filter) -> DocumentCondition<'_> {
    let value = filter.value.as_str();
    let condition = match filter.key.as_str() {
        "source" => DocumentCondition::SourceIs(value),
        "path" => DocumentCondition::PathMatches(value),
        "tag" => DocumentCondition::HasTag(value),
        "after" => DocumentCondition::OnOrAfter(value),
        "before" => DocumentCondition::Before(value),
        name => DocumentCondition::HasProperty { name, value },
    };
    match filter.negated {
        true => DocumentCondition::Not(Box::new(condition)),
        false => condition,
    }
}
