//! Parses the list of sources: `{name, root, kind, code, extensions, include, exclude}`. Names must
//! be unique, and required fields must be present.

use std::collections::{BTreeMap, HashSet};

use super::findings::{Findings, Origin};
use super::keys::Key;
use super::raw::{Node, Value, shown};
use super::typed::{Item, Val};
use local_agent_files::sandbox::Selection;
use local_agent_text::types::SourceName;

/// One entry of `sources`; its root is not resolved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypedSource {
    pub name: SourceName,
    pub root: Item,
    pub kind: String,
    pub code: bool,
    pub selection: Selection,
}

/// The key that this file parses.
const SOURCES: &str = "sources";

/// Parses `sources`: names must be unique and well-formed, and every source needs a root.
pub(super) fn sources(
    key: &Key,
    node: &Node,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<Val> {
    let Value::List(nodes) = &node.value else {
        let why = format!(
            "`{}` takes {}, not {}",
            key.path,
            key.takes(),
            node.describe()
        );
        findings.problem(
            SOURCES,
            origin,
            why,
            Some("write `sources:` and below it `  - {name: notes, root: notes}`".into()),
        );
        return None;
    };
    let before = findings.problems.len();
    let mut out: Vec<TypedSource> = Vec::new();
    let mut names: HashSet<SourceName> = HashSet::new();
    for entry in nodes {
        let here = origin.at(entry.line);
        let Some(source) = source(key, entry, &here, findings) else {
            continue;
        };
        if !names.insert(source.name.clone()) {
            let why = format!("two sources are called `{}`", source.name);
            findings.problem(
                SOURCES,
                &here,
                why,
                Some("give each source a name of its own".into()),
            );
        }
        out.push(source);
    }
    (findings.problems.len() == before).then_some(Val::Sources(out))
}

/// The fields of one entry, as written.
#[derive(Default)]
struct SourceFields {
    words: BTreeMap<&'static str, Item>,
    extensions: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
}

const FIELDS: [&str; 7] = [
    "name",
    "root",
    "kind",
    "code",
    "extensions",
    "include",
    "exclude",
];

fn source(
    key: &Key,
    entry: &Node,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<TypedSource> {
    let mut written = written(key, entry, origin, findings)?;
    let name = required("name", &mut written, origin, findings);
    let root = required("root", &mut written, origin, findings);
    let (name, root) = (name?, root?);
    let kind = written.words.remove("kind");
    let code = code(written.words.remove("code"), origin, findings)?;
    let selection = selection(&written, origin, findings)?;
    match SourceName::new(name.text) {
        Ok(name) => Some(TypedSource {
            name,
            root,
            kind: kind.map_or_else(|| "notes".to_owned(), |item| item.text),
            code,
            selection,
        }),
        Err(why) => {
            findings.problem(SOURCES, &origin.at(name.line), why, None);
            None
        }
    }
}

/// Parses which files of the source are visible; an invalid pattern or extension is a problem.
fn selection(
    written: &SourceFields,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<Selection> {
    let (found, how) = match Selection::new(&written.include, &written.exclude) {
        Ok(selection) => (
            selection.with_extensions(&written.extensions),
            "write them as `[.txt, .org]`",
        ),
        Err(why) => (Err(why), "write it as a line of a `.gitignore`"),
    };
    found
        .map_err(|why| findings.problem(SOURCES, origin, why, Some(how.into())))
        .ok()
}

/// Parses the fields of an entry; an unknown field, or one of the wrong type, is a problem.
fn written(
    key: &Key,
    entry: &Node,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<SourceFields> {
    let Value::Map(map) = &entry.value else {
        let why = format!(
            "an entry of `{}` is {}, not `{{{}}}`",
            key.path,
            entry.describe(),
            FIELDS.join(", ")
        );
        findings.problem(SOURCES, origin, why, None);
        return None;
    };
    let mut out = SourceFields::default();
    for (name, node) in map {
        let here = origin.at(node.line);
        let field = known_field(name, &here, findings)?;
        match field {
            "extensions" => out.extensions = word_list(field, node, &here, findings)?,
            "include" => out.include = word_list(field, node, &here, findings)?,
            "exclude" => out.exclude = word_list(field, node, &here, findings)?,
            _ => out.words.extend(words(field, node, &here, findings)?),
        }
    }
    Some(out)
}

/// The field with this name; an unknown name is a problem that suggests the nearest one.
fn known_field(name: &str, origin: &Origin, findings: &mut Findings) -> Option<&'static str> {
    if let Some(field) = FIELDS.into_iter().find(|f| *f == name) {
        return Some(field);
    }
    let near = FIELDS
        .into_iter()
        .max_by_key(|f| (strsim::jaro_winkler(f, name) * 1000.0) as u32);
    let near = near.filter(|f| strsim::jaro_winkler(f, name) > 0.6);
    let guess = near.map_or_else(String::new, |f| format!("; did you mean `{f}`?"));
    let why = format!("a source has no key `{}`{guess}", shown(name));
    findings.problem(SOURCES, origin, why, None);
    None
}

/// The words of a field; empty if the field is blank. `None` is a problem.
fn words(
    field: &'static str,
    node: &Node,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<Option<(&'static str, Item)>> {
    match &node.value {
        Value::Scalar { text, .. } if !node.is_unset() && !text.chars().any(char::is_control) => {
            let (text, line) = (text.trim().to_owned(), node.line);
            Some(Some((field, Item { text, line })))
        }
        Value::Scalar { text, plain: true } if text == "~" => {
            let why = "`~` alone means nothing in YAML";
            findings.problem(SOURCES, origin, why, Some("write `~/`".into()));
            None
        }
        Value::Scalar { text, .. } if text.trim().is_empty() || text == "null" => Some(None),
        _ => {
            let why = format!("a source's `{field}` takes words, not {}", node.describe());
            findings.problem(SOURCES, origin, why, None);
            None
        }
    }
}

/// A field that every source must have.
fn required(
    field: &str,
    written: &mut SourceFields,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<Item> {
    let item = written.words.remove(field);
    if item.is_none() {
        let how = format!("add `{field}:` to this entry");
        findings.problem(
            SOURCES,
            origin,
            format!("a source has no `{field}`"),
            Some(how),
        );
    }
    item
}

fn code(item: Option<Item>, origin: &Origin, findings: &mut Findings) -> Option<bool> {
    let Some(item) = item else {
        return Some(false);
    };
    match item.text.as_str() {
        "true" => Some(true),
        "false" => Some(false),
        other => {
            let other = shown(other);
            let why = format!("a source's `code` takes `true` or `false`, not `{other}`");
            findings.problem(SOURCES, &origin.at(item.line), why, None);
            None
        }
    }
}

/// The value of `extensions`, `include` or `exclude`: a list of words, or one word.
fn word_list(
    field: &str,
    node: &Node,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<Vec<String>> {
    let nodes = match &node.value {
        _ if node.is_unset() => return Some(Vec::new()),
        Value::List(nodes) => nodes.iter().collect(),
        _ => vec![node],
    };
    let mut out = Vec::new();
    for one in nodes {
        match &one.value {
            Value::Scalar { text, .. } if !text.trim().is_empty() => {
                out.push(text.trim().to_owned());
            }
            _ => {
                let (what, how) = if field == "extensions" {
                    ("extensions", "write `[.txt, .org]`")
                } else {
                    ("patterns", "write `[archive/, \"*.draft.md\"]`")
                };
                let why = format_args!("`{field}` takes {what}, not {}", one.describe());
                findings.problem(SOURCES, origin, why, Some(how.into()));
                return None;
            }
        }
    }
    Some(out)
}
