//! Turns the tree into typed values. An unknown key or a value of the wrong type is a problem with
//! file, line and fix. A mistyped value is never replaced by a default.

use super::findings::{Findings, Origin};
use super::keys::{self, Key, Kind};
use super::raw::{Node, Value, shown};
use super::sources::{TypedSource, sources};
use local_agent_text::types::RelPath;

/// A value of the right type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Val {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Item>),
    Sources(Vec<TypedSource>),
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub text: String,
    pub line: u32,
}

/// A key that was typed somewhere.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    pub key: &'static Key,
    pub val: Val,
    pub origin: Origin,
}

/// Reads every key below `map`. With `lenient`, the file was written for the Python version, and
/// the Python version's sections accept its spellings of true and false.
pub(super) fn read_map(
    map: &[(String, Node)],
    prefix: &str,
    origin: &Origin,
    lenient: bool,
    findings: &mut Findings,
) -> Vec<Typed> {
    let mut out = Vec::new();
    for (name, node) in map {
        let path = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        let here = origin.at(node.line);
        if let Some(key) = Key::find(&path) {
            if node.is_unset() {
                continue;
            }
            let lenient = key.is_ancestor() || (lenient && key.section() == "security");
            if let Some(val) = check(key, node, &here, lenient, findings) {
                out.push(Typed {
                    key,
                    val,
                    origin: here,
                });
            }
        } else if keys::is_section(&path) {
            match &node.value {
                Value::Map(inner) => out.extend(read_map(inner, &path, origin, lenient, findings)),
                _ if node.is_unset() => {}
                _ => findings.problem(
                    &path,
                    &here,
                    format_args!("`{path}` is a section, not {}", node.describe()),
                    None,
                ),
            }
        } else {
            let near = keys::nearest(&path);
            let guess = near.map_or_else(String::new, |k| format!("; did you mean `{k}`?"));
            let fix = near.map(|k| format!("write `{k}`; docs/config.md lists every key"));
            findings.problem(
                &path,
                &here,
                format_args!("there is no key `{}`{guess}", shown(&path)),
                fix,
            );
        }
    }
    out
}

/// A value for `key`, or a problem.
pub(super) fn check(
    key: &Key,
    node: &Node,
    origin: &Origin,
    lenient: bool,
    findings: &mut Findings,
) -> Option<Val> {
    match key.kind {
        Kind::Sources => sources(key, node, origin, findings),
        Kind::Words | Kind::Exts | Kind::Names | Kind::Paths => {
            list(key, node, origin, lenient, findings)
        }
        _ => match scalar(key, node, lenient) {
            Ok((val, None)) => Some(val),
            Ok((val, Some(remark))) => {
                findings.warn(origin, format_args!("`{}` {remark}", key.path));
                Some(val)
            }
            Err(fix) => {
                let why = format!(
                    "`{}` takes {}, not {}",
                    key.path,
                    key.takes(),
                    node.describe()
                );
                findings.problem(key.path, origin, why, fix);
                None
            }
        },
    }
}

type Remark = Option<&'static str>;

/// Parses a single value, with a remark that becomes a warning. The error is a specific fix, if one
/// is known.
fn scalar(key: &Key, node: &Node, lenient: bool) -> Result<(Val, Remark), Option<String>> {
    let Value::Scalar { text, plain } = &node.value else {
        return Err(None);
    };
    let text = if key.kind == Kind::Prompt {
        text.as_str()
    } else {
        text.trim()
    };
    if text.chars().any(char::is_control) {
        return Err(None);
    }
    let val = match key.kind {
        Kind::Bool => return boolean(text, *plain, lenient),
        Kind::Int { min, max } => {
            let remark = if *plain {
                None
            } else {
                Some("is a number in quotes; read as the number")
            };
            let number = text
                .parse()
                .ok()
                .filter(|n| (min..=max).contains(n))
                .ok_or(None)?;
            return if *plain || lenient {
                Ok((Val::Int(number), remark))
            } else {
                Err(Some("remove the quotes".into()))
            };
        }
        Kind::Float { min, max } if *plain || lenient => Val::Float(
            text.parse()
                .ok()
                .filter(|n| (min..=max).contains(n))
                .ok_or(None)?,
        ),
        Kind::OneOf(words) => {
            let nearest =
                |w: &&&str| (strsim::normalized_damerau_levenshtein(text, w) * 1000.0) as u32;
            let known = words.contains(&text);
            if !known {
                return Err(words
                    .iter()
                    .max_by_key(nearest)
                    .filter(|w| nearest(w) >= 500)
                    .map(|w| format!("write `{w}`")));
            }
            Val::Text(text.to_owned())
        }
        Kind::Prefix => Val::Text(prefix(text).ok_or(None)?),
        Kind::Text | Kind::Prompt | Kind::Path | Kind::Model | Kind::Url
            if !(*plain && matches!(text, "true" | "false")) =>
        {
            Val::Text(text.to_owned())
        }
        _ => return Err(None),
    };
    Ok((val, None))
}

/// Parses `true` and `false`, and the Python version's other spellings where it accepted them.
fn boolean(text: &str, plain: bool, lenient: bool) -> Result<(Val, Remark), Option<String>> {
    match text {
        "true" | "True" | "TRUE" if plain => return Ok((Val::Bool(true), None)),
        "false" | "False" | "FALSE" if plain => return Ok((Val::Bool(false), None)),
        _ => {}
    }
    let meant = match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => true,
        "0" | "false" | "no" | "off" => false,
        _ => {
            let near = ["true", "false"]
                .into_iter()
                .find(|w| strsim::damerau_levenshtein(w, text) <= 2);
            return Err(near.map(|w| format!("write `{w}`")));
        }
    };
    match (lenient, meant) {
        (true, true) => Ok((Val::Bool(true), Some("is read as `true`; write `true`"))),
        (true, false) => Ok((Val::Bool(false), Some("is read as `false`; write `false`"))),
        (false, _) => Err(Some(format!("write `{meant}`, without quotes"))),
    }
}

/// A folder inside the sources, in canonical spelling.
fn prefix(text: &str) -> Option<String> {
    let slashes = text.replace('\\', "/");
    RelPath::new(slashes.trim_end_matches('/'))
        .ok()
        .map(|p| p.as_str().to_owned())
}

/// A list of scalars. Blank entries are left out, with a warning.
fn list(
    key: &Key,
    node: &Node,
    origin: &Origin,
    lenient: bool,
    findings: &mut Findings,
) -> Option<Val> {
    let Value::List(nodes) = &node.value else {
        let fix = match &node.value {
            Value::Scalar { text, .. } => Some(format!("write `[{}]`", shown(text))),
            _ => None,
        };
        findings.problem(
            key.path,
            origin,
            format_args!(
                "`{}` takes {}, not {}",
                key.path,
                key.takes(),
                node.describe()
            ),
            fix,
        );
        return None;
    };
    let before = findings.problems.len();
    let items = entries(key, nodes, origin, findings);
    if findings.problems.len() > before {
        return None;
    }
    if items.is_empty() && key.kind == Kind::Exts {
        if lenient {
            findings.warn(
                origin,
                format_args!("`{}` is empty; the default holds", key.path),
            );
        } else {
            findings.problem(
                key.path,
                origin,
                format_args!("`{}` is empty, so nothing could be read", key.path),
                None,
            );
        }
        return None;
    }
    Some(Val::List(items))
}

/// The valid entries of a list; each invalid entry is reported.
fn entries(key: &Key, nodes: &[Node], origin: &Origin, findings: &mut Findings) -> Vec<Item> {
    let mut items = Vec::new();
    for entry in nodes {
        let here = origin.at(entry.line);
        let Value::Scalar { text, .. } = &entry.value else {
            findings.problem(
                key.path,
                &here,
                format_args!(
                    "`{}` takes {}, not {}",
                    key.path,
                    key.takes(),
                    entry.describe()
                ),
                None,
            );
            continue;
        };
        if entry.is_unset() {
            findings.warn(
                &here,
                format_args!("a blank entry of `{}` is left out", key.path),
            );
            continue;
        }
        match entry_text(key.kind, text.trim()) {
            Some(text) => items.push(Item {
                text,
                line: entry.line,
            }),
            None => findings.problem(
                key.path,
                &here,
                format_args!("`{}` is not an entry for `{}`", shown(text), key.path),
                None,
            ),
        }
    }
    items
}

/// One entry in canonical spelling.
fn entry_text(kind: Kind, text: &str) -> Option<String> {
    let one_segment = !text.contains(['/', '\\']) && !text.chars().any(char::is_control);
    match kind {
        Kind::Exts => {
            let bare = text.trim_start_matches('.').to_lowercase();
            (one_segment && !bare.is_empty() && !bare.contains(char::is_whitespace))
                .then(|| format!(".{bare}"))
        }
        Kind::Names => one_segment.then(|| text.to_owned()),
        _ => (!text.chars().any(char::is_control)).then(|| text.to_owned()),
    }
}
