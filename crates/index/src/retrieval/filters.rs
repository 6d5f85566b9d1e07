//! Converts `name:value` filters and scopes to the set of documents that both sides may return.

use crate::lexical::Filter;
use crate::store::IndexReader;
use local_agent_text::error::Result;
use local_agent_text::types::IdSet;

use super::Scope;

/// The documents that a scope allows; `None`: all of them.
pub(super) fn documents(index: &IndexReader, scope: &Scope) -> Result<Option<IdSet>> {
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    if !scope.sources.is_empty() {
        let marks: Vec<String> = scope
            .sources
            .iter()
            .map(|source| {
                values.push(source.as_str().to_owned());
                format!("?{}", values.len())
            })
            .collect();
        conditions.push(format!("sources.name IN ({})", marks.join(", ")));
    }
    if let Some(prefix) = &scope.path_prefix {
        values.push(prefix.as_str().to_owned());
        conditions.push(below("rel_path", &format!("?{}", values.len())));
    }
    for filter in &scope.filters {
        values.push(filter.value.clone());
        let condition = condition(filter, &mut values);
        conditions.push(if filter.negated {
            format!("NOT ({condition})")
        } else {
            condition
        });
    }
    if conditions.is_empty() {
        return Ok(None);
    }
    Ok(Some(
        index.documents_where(&conditions.join(" AND "), &values)?,
    ))
}

/// A condition for the document itself, or for everything in the folder of that name, both SQL. It
/// is never a plain string prefix: `pub` does not match `public`.
fn below(path: &str, folder: &str) -> String {
    format!(
        "({path} = {folder} OR substr({path}, 1, length(rtrim({folder}, '/')) + 1) = rtrim({folder}, '/') || '/')"
    )
}

/// The SQL for one filter, whose value is the last of `values`. Case and composition are ignored.
fn condition(filter: &Filter, values: &mut Vec<String>) -> String {
    let n = values.len();
    let value = format!("folded(?{n})");
    match filter.key.as_str() {
        "source" => format!("folded(sources.name) = {value}"),
        "path" => path_condition(&filter.value, n),
        "tag" => format!(
            "EXISTS (SELECT 1 FROM tags WHERE document_id = documents.id AND {})",
            below("folded(tag)", &format!("ltrim({value}, '#')"))
        ),
        "after" => format!("{NOTE_DATE} >= ?{n}"),
        "before" => format!("{NOTE_DATE} < ?{n}"),
        key => {
            values.push(key.to_owned());
            let key = values.len();
            let (top, one) = (as_written("top"), as_written("one"));
            format!(
                "EXISTS (SELECT 1 FROM json_each(frontmatter_json) AS top
                     WHERE folded(top.key) = folded(?{key}) AND ({top} = {value} OR (top.type = 'array'
                         AND EXISTS (SELECT 1 FROM json_each(top.value) AS one WHERE {one} = {value}))))"
            )
        }
    }
}

/// The SQL for a folder or a glob, which may begin with the name of the source: `source/folder`,
/// `source:folder`, and `qmd://source/folder` as other programs write it. A name alone is a folder.
fn path_condition(value: &str, n: usize) -> String {
    let begin = "qmd://".len() + 1;
    let asked = match value.strip_prefix("qmd://") {
        Some(_) => format!("folded(substr(?{n}, {begin}))"),
        None => format!("folded(?{n})"),
    };
    let mut paths = vec!["folded(rel_path)".to_owned()];
    for mark in ['/', ':'] {
        let may_have_source = value.trim_end_matches(['/', ':']).contains(mark);
        if may_have_source || value.starts_with("qmd://") {
            paths.push(format!("folded(sources.name || '{mark}' || rel_path)"));
        }
    }
    let is_glob = value.contains(['*', '?']);
    let ways: Vec<String> = paths
        .iter()
        .map(|path| match is_glob {
            true => format!("{path} GLOB {asked}"),
            false => below(path, &asked),
        })
        .collect();
    format!("({})", ways.join(" OR "))
}

/// The SQL for a JSON value in lower case. SQLite gives 1 and 0 for `true` and `false`.
fn as_written(table: &str) -> String {
    format!(
        "CASE {table}.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
             ELSE folded(CAST({table}.value AS TEXT)) END"
    )
}

/// The day of a note: the date it states, otherwise the day in its name or folders, otherwise the day
/// its file last changed (UTC).
const NOTE_DATE: &str =
    "coalesce(note_date, day_in_path(rel_path), date(mtime_ns / 1000000000, 'unixepoch'))";
