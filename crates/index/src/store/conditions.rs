//! Conditions on documents, and their SQL.

use super::IndexReader;
use super::error::Result;
use crate::ids::{DocumentId, IdSet};
use local_agent_text::types::{RelPath, SourceName};

/// A condition on an indexed document. Text is compared without regard to case and composition,
/// unless the variant says something else.
#[derive(Debug, Clone)]
pub enum DocumentCondition<'a> {
    /// It is in one of these sources.
    InSources(&'a [SourceName]),
    /// It has exactly this path.
    HasPath(&'a RelPath),
    /// It has exactly this path, or is below the folder with exactly this path.
    AtOrBelow(&'a RelPath),
    /// Its path contains a text like this pattern of SQL, in which `%` and `_` are wildcards.
    PathContains(&'a str),
    /// Its source has this name.
    SourceIs(&'a str),
    /// It is at or below this path, or matches this glob. Either may begin with the name of the
    /// source: `source/folder`, `source:folder`, and `qmd://source/folder` as other programs write
    /// it. A name alone is a folder.
    PathMatches(&'a str),
    /// It has this tag, or one below it.
    HasTag(&'a str),
    /// Its date is this day or later, in ISO form.
    OnOrAfter(&'a str),
    /// Its date is before this day, in ISO form.
    Before(&'a str),
    /// Its frontmatter gives a property this value, or a list with this value.
    HasProperty {
        /// Name of the property.
        name: &'a str,
        /// The value, as text.
        value: &'a str,
    },
    /// It has a task, open or completed.
    HasTask,
    /// The condition does not hold.
    Not(Box<DocumentCondition<'a>>),
}

impl IndexReader {
    /// The indexed documents for which all these conditions hold.
    pub fn documents_where(
        &self,
        conditions: &[DocumentCondition<'_>],
    ) -> Result<IdSet<DocumentId>> {
        let mut parameters = Parameters::default();
        let mut sql = "SELECT documents.id FROM documents JOIN sources ON sources.id = source_id
             WHERE status = 'indexed'"
            .to_owned();
        for condition in conditions {
            sql.push_str(" AND ");
            sql.push_str(&parameters.sql(condition));
        }
        let mut statement = self.conn.prepare(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(parameters.values), |row| {
            row.get::<_, DocumentId>(0)
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// The values of a statement, in the order of their numbers.
#[derive(Default)]
struct Parameters {
    values: Vec<String>,
}

impl Parameters {
    /// The parameter with this value.
    fn add(&mut self, value: &str) -> String {
        self.values.push(value.to_owned());
        format!("?{}", self.values.len())
    }

    /// The SQL of a condition.
    fn sql(&mut self, condition: &DocumentCondition<'_>) -> String {
        match condition {
            DocumentCondition::InSources(names) => {
                let names: Vec<String> = names.iter().map(|name| self.add(name.as_str())).collect();
                format!("sources.name IN ({})", names.join(", "))
            }
            DocumentCondition::HasPath(path) => format!("rel_path = {}", self.add(path.as_str())),
            DocumentCondition::AtOrBelow(path) => at_or_below("rel_path", &self.add(path.as_str())),
            DocumentCondition::PathContains(part) => {
                format!("rel_path LIKE {}", self.add(&format!("%{part}%")))
            }
            DocumentCondition::SourceIs(name) => {
                format!("folded(sources.name) = folded({})", self.add(name))
            }
            DocumentCondition::PathMatches(path) => {
                let parameter = self.add(path);
                path_matches(path, &parameter)
            }
            DocumentCondition::HasTag(tag) => format!(
                "EXISTS (SELECT 1 FROM tags WHERE document_id = documents.id AND {})",
                at_or_below(
                    "folded(tag)",
                    &format!("ltrim(folded({}), '#')", self.add(tag))
                )
            ),
            DocumentCondition::OnOrAfter(day) => format!("{NOTE_DATE} >= {}", self.add(day)),
            DocumentCondition::Before(day) => format!("{NOTE_DATE} < {}", self.add(day)),
            DocumentCondition::HasProperty { name, value } => {
                has_property(&self.add(name), &self.add(value))
            }
            DocumentCondition::HasTask => HAS_TASK.to_owned(),
            DocumentCondition::Not(condition) => format!("NOT ({})", self.sql(condition)),
        }
    }
}

/// The SQL for documents with a task.
const HAS_TASK: &str = "documents.id IN (SELECT document_id FROM chunks
     WHERE text LIKE '%[ ] %' OR text LIKE '%[x] %')";

/// The day of a note: the date it states, otherwise the day in its name or folders, otherwise the day
/// its file last changed (UTC).
const NOTE_DATE: &str =
    "coalesce(note_date, day_in_path(rel_path), date(mtime_ns / 1000000000, 'unixepoch'))";

/// The SQL for the document itself, or for everything in the folder of that name, both SQL. It is
/// never a plain string prefix: `pub` does not match `public`.
fn at_or_below(path: &str, folder: &str) -> String {
    format!(
        "({path} = {folder} OR substr({path}, 1, length(rtrim({folder}, '/')) + 1) = rtrim({folder}, '/') || '/')"
    )
}

/// The SQL for [`DocumentCondition::PathMatches`] with the value of this parameter.
fn path_matches(value: &str, parameter: &str) -> String {
    let begin = "qmd://".len() + 1;
    let asked = match value.strip_prefix("qmd://") {
        Some(_) => format!("folded(substr({parameter}, {begin}))"),
        None => format!("folded({parameter})"),
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
            false => at_or_below(path, &asked),
        })
        .collect();
    format!("({})", ways.join(" OR "))
}

/// The SQL for [`DocumentCondition::HasProperty`] with the values of these parameters.
fn has_property(name: &str, value: &str) -> String {
    let (top, one) = (as_written("top"), as_written("one"));
    format!(
        "EXISTS (SELECT 1 FROM json_each(frontmatter_json) AS top
             WHERE folded(top.key) = folded({name}) AND ({top} = folded({value}) OR (top.type = 'array'
                 AND EXISTS (SELECT 1 FROM json_each(top.value) AS one WHERE {one} = folded({value})))))"
    )
}

/// The SQL for a JSON value in lower case. SQLite gives 1 and 0 for `true` and `false`.
fn as_written(table: &str) -> String {
    format!(
        "CASE {table}.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
             ELSE folded(CAST({table}.value AS TEXT)) END"
    )
}
