//! The list of sources as it is typed: `{name, root, kind, code, include, exclude}`, names unique, nothing missing.

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
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

/// `sources`: names unique and well-formed, roots given.
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
                &here,
                why,
                Some("give each source a name of its own".into()),
            );
        }
        out.push(source);
    }
    (findings.problems.len() == before).then_some(Val::Sources(out))
}

fn source(
    key: &Key,
    entry: &Node,
    origin: &Origin,
    findings: &mut Findings,
) -> Option<TypedSource> {
    const FIELDS: [&str; 6] = ["name", "root", "kind", "code", "include", "exclude"];
    let Value::Map(map) = &entry.value else {
        findings.problem(
            origin,
            format_args!(
                "an entry of `{}` is {}, not `{{name, root, kind, code, include, exclude}}`",
                key.path,
                entry.describe()
            ),
            None,
        );
        return None;
    };
    let mut fields: BTreeMap<&str, Item> = BTreeMap::new();
    let mut patterns: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, node) in map {
        let here = origin.at(node.line);
        let Some(field) = FIELDS.into_iter().find(|f| f == name) else {
            let near = FIELDS
                .into_iter()
                .max_by_key(|f| (strsim::jaro_winkler(f, name) * 1000.0) as u32);
            let near = near.filter(|f| strsim::jaro_winkler(f, name) > 0.6);
            let guess = near.map_or_else(String::new, |f| format!("; did you mean `{f}`?"));
            findings.problem(
                &here,
                format_args!("a source has no key `{}`{guess}", shown(name)),
                None,
            );
            return None;
        };
        if matches!(field, "include" | "exclude") {
            let list = pattern_list(field, node, &here, findings)?;
            patterns.insert(field, list);
            continue;
        }
        match &node.value {
            Value::Scalar { text, .. }
                if !node.is_unset() && !text.chars().any(char::is_control) =>
            {
                fields.insert(
                    field,
                    Item {
                        text: text.trim().to_owned(),
                        line: node.line,
                    },
                );
            }
            Value::Scalar { text, plain: true } if text == "~" => {
                findings.problem(
                    &here,
                    "`~` alone means nothing in YAML",
                    Some("write `~/`".into()),
                );
                return None;
            }
            Value::Scalar { text, .. } if text.trim().is_empty() || text == "null" => {}
            _ => {
                findings.problem(
                    &here,
                    format_args!("a source's `{field}` takes words, not {}", node.describe()),
                    None,
                );
                return None;
            }
        }
    }
    let mut take = |field: &str| {
        let item = fields.remove(field);
        if item.is_none() {
            findings.problem(
                origin,
                format_args!("a source has no `{field}`"),
                Some(format!("add `{field}:` to this entry")),
            );
        }
        item
    };
    let (name, root) = (take("name")?, take("root")?);
    let kind = fields
        .remove("kind")
        .map_or_else(|| "notes".to_owned(), |item| item.text);
    let code = match fields.remove("code") {
        None => false,
        Some(item) if matches!(item.text.as_str(), "true" | "false") => item.text == "true",
        Some(item) => {
            let why = format_args!(
                "a source's `code` takes `true` or `false`, not `{}`",
                shown(&item.text)
            );
            findings.problem(&origin.at(item.line), why, None);
            return None;
        }
    };
    let include = patterns.remove("include").unwrap_or_default();
    let exclude = patterns.remove("exclude").unwrap_or_default();
    if let Err(why) = Selection::new(&include, &exclude) {
        findings.problem(
            origin,
            why,
            Some("write it as a line of a `.gitignore`".into()),
        );
        return None;
    }
    match SourceName::new(name.text) {
        Ok(name) => Some(TypedSource {
            name,
            root,
            kind,
            code,
            include,
            exclude,
        }),
        Err(why) => {
            findings.problem(&origin.at(name.line), why, None);
            None
        }
    }
}

/// The patterns of `include` or `exclude`: a list of words, or one word.
fn pattern_list(
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
                let why = format_args!("`{field}` takes patterns, not {}", one.describe());
                findings.problem(
                    origin,
                    why,
                    Some("write `[archive/, \"*.draft.md\"]`".into()),
                );
                return None;
            }
        }
    }
    Some(out)
}
