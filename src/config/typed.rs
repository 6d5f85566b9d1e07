//! From tree to typed values: every key of a file is known and every value is of the right type, or it is a problem
//! with a file, a line and a remedy. A value is never replaced by a default because it was mistyped.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::keys::{self, Key, Kind};
use super::raw::{Node, Value, shown};
use crate::error::{ErrorCode, Failure, Result};
use crate::types::{RelPath, SourceName};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `configs/default.yaml`, compiled in.
    Default,
    /// A line of a file, counted from 1.
    File { path: PathBuf, line: u32 },
    /// A command-line flag, with its dashes.
    Flag(String),
    /// An environment variable.
    Environment(&'static str),
    /// The workroot only: the folder of this file, found by walking up.
    Found(PathBuf),
}

impl Origin {
    /// The same place, at a line of the same file. Line 0 means "no line of its own".
    pub(super) fn at(&self, line: u32) -> Self {
        match self {
            Self::File { path, .. } if line > 0 => Self::File { path: path.clone(), line },
            other => other.clone(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Found(path) => write!(f, "found {}", path.display()),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

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

/// One entry of `sources`; its root is not resolved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypedSource {
    pub name: SourceName,
    pub root: Item,
    pub kind: String,
}

/// A key that was typed somewhere.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    pub key: &'static Key,
    pub val: Val,
    pub origin: Origin,
}

/// What is wrong, and what was read differently from what it says.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub problems: Vec<Failure>,
    pub warnings: Vec<String>,
}

impl Findings {
    /// A mistake at a place. A flag's is `INVALID_ARGS`, everything else `CONFIG_ERROR`.
    pub fn problem(&mut self, origin: &Origin, message: impl fmt::Display, fix: Option<String>) {
        let code = if matches!(origin, Origin::Flag(_)) { ErrorCode::InvalidArgs } else { ErrorCode::ConfigError };
        let fix = fix.unwrap_or_else(|| match origin {
            Origin::File { path, line } => {
                format!("mend line {line} of {}, then run `local-agent config check`", path.display())
            }
            Origin::Flag(name) => format!("give {name} another value"),
            _ => "local-agent config check".to_owned(),
        });
        self.problems.push(Failure::new(code, format!("{origin}: {message}")).with_hint(fix));
    }

    pub fn warn(&mut self, origin: &Origin, message: impl fmt::Display) {
        self.warnings.push(format!("{origin}: {message}"));
    }
}

/// Reads every key below `map`. `lenient`: the file was written for the ancestor, whose own sections take its spellings
/// of true and false.
pub(super) fn read_map(
    map: &[(String, Node)],
    prefix: &str,
    origin: &Origin,
    lenient: bool,
    findings: &mut Findings,
) -> Vec<Typed> {
    let mut out = Vec::new();
    for (name, node) in map {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let here = origin.at(node.line);
        if let Some(key) = Key::find(&path) {
            if node.is_unset() {
                continue;
            }
            let lenient = key.is_ancestor() || (lenient && key.section() == "security");
            if let Some(val) = check(key, node, &here, lenient, findings) {
                out.push(Typed { key, val, origin: here });
            }
        } else if keys::is_section(&path) {
            match &node.value {
                Value::Map(inner) => out.extend(read_map(inner, &path, origin, lenient, findings)),
                _ if node.is_unset() => {}
                _ => findings.problem(&here, format_args!("`{path}` is a section, not {}", node.describe()), None),
            }
        } else {
            let near = keys::nearest(&path);
            let guess = near.map_or_else(String::new, |k| format!("; did you mean `{k}`?"));
            let fix = near.map(|k| format!("write `{k}`; docs/config.md lists every key"));
            findings.problem(&here, format_args!("there is no key `{}`{guess}", shown(&path)), fix);
        }
    }
    out
}

/// A value for `key`, or a problem.
pub(super) fn check(key: &Key, node: &Node, origin: &Origin, lenient: bool, findings: &mut Findings) -> Option<Val> {
    match key.kind {
        Kind::Sources => sources(key, node, origin, findings),
        Kind::Words | Kind::Exts | Kind::Names | Kind::Paths => list(key, node, origin, lenient, findings),
        _ => match scalar(key, node, lenient) {
            Ok((val, None)) => Some(val),
            Ok((val, Some(remark))) => {
                findings.warn(origin, format_args!("`{}` {remark}", key.path));
                Some(val)
            }
            Err(fix) => {
                let why = format!("`{}` takes {}, not {}", key.path, key.takes(), node.describe());
                findings.problem(origin, why, fix);
                None
            }
        },
    }
}

type Remark = Option<&'static str>;

/// A single value; the remark is a warning. An error is a remedy, when there is a special one.
fn scalar(key: &Key, node: &Node, lenient: bool) -> std::result::Result<(Val, Remark), Option<String>> {
    let Value::Scalar { text, plain } = &node.value else { return Err(None) };
    let text = text.trim();
    if text.chars().any(char::is_control) {
        return Err(None);
    }
    let val = match key.kind {
        Kind::Bool => return boolean(text, *plain, lenient),
        Kind::Int { min, max } => {
            let remark = if *plain { None } else { Some("is a number in quotes; read as the number") };
            let number = text.parse().ok().filter(|n| (min..=max).contains(n)).ok_or(None)?;
            return if *plain || lenient {
                Ok((Val::Int(number), remark))
            } else {
                Err(Some("remove the quotes".into()))
            };
        }
        Kind::Float { min, max } if *plain || lenient => {
            Val::Float(text.parse().ok().filter(|n| (min..=max).contains(n)).ok_or(None)?)
        }
        Kind::OneOf(words) => {
            let nearest = |w: &&&str| (strsim::normalized_damerau_levenshtein(text, w) * 1000.0) as u32;
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
        Kind::Text | Kind::Path | Kind::Url if !(*plain && matches!(text, "true" | "false")) => {
            Val::Text(text.to_owned())
        }
        _ => return Err(None),
    };
    Ok((val, None))
}

/// `true` and `false`; the ancestor's other spellings where they were accepted.
fn boolean(text: &str, plain: bool, lenient: bool) -> std::result::Result<(Val, Remark), Option<String>> {
    match text {
        "true" | "True" | "TRUE" if plain => return Ok((Val::Bool(true), None)),
        "false" | "False" | "FALSE" if plain => return Ok((Val::Bool(false), None)),
        _ => {}
    }
    let meant = match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => true,
        "0" | "false" | "no" | "off" => false,
        _ => {
            let near = ["true", "false"].into_iter().find(|w| strsim::damerau_levenshtein(w, text) <= 2);
            return Err(near.map(|w| format!("write `{w}`")));
        }
    };
    match (lenient, meant) {
        (true, true) => Ok((Val::Bool(true), Some("is read as `true`; write `true`"))),
        (true, false) => Ok((Val::Bool(false), Some("is read as `false`; write `false`"))),
        (false, _) => Err(Some(format!("write `{meant}`, without quotes"))),
    }
}

/// A folder inside the sources in its one spelling.
fn prefix(text: &str) -> Option<String> {
    let slashes = text.replace('\\', "/");
    RelPath::new(slashes.trim_end_matches('/')).ok().map(|p| p.as_str().to_owned())
}

/// A list of scalars. Blank entries are left out, with a warning.
fn list(key: &Key, node: &Node, origin: &Origin, lenient: bool, findings: &mut Findings) -> Option<Val> {
    let Value::List(nodes) = &node.value else {
        let fix = match &node.value {
            Value::Scalar { text, .. } => Some(format!("write `[{}]`", shown(text))),
            _ => None,
        };
        findings.problem(origin, format_args!("`{}` takes {}, not {}", key.path, key.takes(), node.describe()), fix);
        return None;
    };
    let before = findings.problems.len();
    let mut items = Vec::new();
    for entry in nodes {
        let here = origin.at(entry.line);
        let Value::Scalar { text, .. } = &entry.value else {
            findings.problem(
                &here,
                format_args!("`{}` takes {}, not {}", key.path, key.takes(), entry.describe()),
                None,
            );
            continue;
        };
        if entry.is_unset() {
            findings.warn(&here, format_args!("a blank entry of `{}` is left out", key.path));
            continue;
        }
        match entry_text(key.kind, text.trim()) {
            Some(text) => items.push(Item { text, line: entry.line }),
            None => findings.problem(&here, format_args!("`{}` is not an entry for `{}`", shown(text), key.path), None),
        }
    }
    if findings.problems.len() > before {
        return None;
    }
    if items.is_empty() && key.kind == Kind::Exts {
        if lenient {
            findings.warn(origin, format_args!("`{}` is empty; the default holds", key.path));
        } else {
            findings.problem(origin, format_args!("`{}` is empty, so nothing could be read", key.path), None);
        }
        return None;
    }
    Some(Val::List(items))
}

/// One entry in its one spelling.
fn entry_text(kind: Kind, text: &str) -> Option<String> {
    let one_segment = !text.contains(['/', '\\']) && !text.chars().any(char::is_control);
    match kind {
        Kind::Exts => {
            let bare = text.trim_start_matches('.').to_lowercase();
            (one_segment && !bare.is_empty() && !bare.contains(char::is_whitespace)).then(|| format!(".{bare}"))
        }
        Kind::Names => one_segment.then(|| text.to_owned()),
        _ => (!text.chars().any(char::is_control)).then(|| text.to_owned()),
    }
}

/// `sources`: names unique and well-formed, roots given.
fn sources(key: &Key, node: &Node, origin: &Origin, findings: &mut Findings) -> Option<Val> {
    let Value::List(nodes) = &node.value else {
        let why = format!("`{}` takes {}, not {}", key.path, key.takes(), node.describe());
        findings.problem(origin, why, Some("write `sources:` and below it `  - {name: notes, root: notes}`".into()));
        return None;
    };
    let before = findings.problems.len();
    let mut out: Vec<TypedSource> = Vec::new();
    for entry in nodes {
        let here = origin.at(entry.line);
        let Some(source) = source(key, entry, &here, findings) else { continue };
        if out.iter().any(|other| other.name == source.name) {
            let why = format!("two sources are called `{}`", source.name);
            findings.problem(&here, why, Some("give each source a name of its own".into()));
        }
        out.push(source);
    }
    (findings.problems.len() == before).then_some(Val::Sources(out))
}

fn source(key: &Key, entry: &Node, origin: &Origin, findings: &mut Findings) -> Option<TypedSource> {
    const FIELDS: [&str; 3] = ["name", "root", "kind"];
    let Value::Map(map) = &entry.value else {
        findings.problem(
            origin,
            format_args!("an entry of `{}` is {}, not `{{name, root, kind}}`", key.path, entry.describe()),
            None,
        );
        return None;
    };
    let mut fields: BTreeMap<&str, Item> = BTreeMap::new();
    for (name, node) in map {
        let here = origin.at(node.line);
        let Some(field) = FIELDS.into_iter().find(|f| f == name) else {
            let near = FIELDS.into_iter().max_by_key(|f| (strsim::jaro_winkler(f, name) * 1000.0) as u32);
            let near = near.filter(|f| strsim::jaro_winkler(f, name) > 0.6);
            let guess = near.map_or_else(String::new, |f| format!("; did you mean `{f}`?"));
            findings.problem(&here, format_args!("a source has no key `{}`{guess}", shown(name)), None);
            return None;
        };
        match &node.value {
            Value::Scalar { text, .. } if !node.is_unset() && !text.chars().any(char::is_control) => {
                fields.insert(field, Item { text: text.trim().to_owned(), line: node.line });
            }
            Value::Scalar { text, plain: true } if text == "~" => {
                findings.problem(&here, "`~` alone means nothing in YAML", Some("write `~/`".into()));
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
    let kind = fields.remove("kind").map_or_else(|| "notes".to_owned(), |item| item.text);
    match SourceName::new(name.text) {
        Ok(name) => Some(TypedSource { name, root, kind }),
        Err(why) => {
            findings.problem(&origin.at(name.line), why, None);
            None
        }
    }
}

/// The value in force for every key that has one.
#[derive(Debug, Default)]
pub(super) struct Values(pub BTreeMap<&'static str, Typed>);

impl Values {
    pub fn get(&self, key: &str) -> Option<&Typed> {
        self.0.get(key)
    }

    /// Where the value comes from; the default when nobody typed one.
    pub fn origin(&self, key: &str) -> Origin {
        self.get(key).map_or(Origin::Default, |t| t.origin.clone())
    }

    fn missing<T>(key: &str) -> Result<T> {
        Err(Failure::internal(format!("the default configuration has no usable `{key}`")))
    }

    pub fn bool(&self, key: &str) -> Result<bool> {
        match self.get(key).map(|t| &t.val) {
            Some(Val::Bool(b)) => Ok(*b),
            _ => Self::missing(key),
        }
    }

    /// A whole number as any integer type; ranges are checked by the table, so a misfit is our own mistake.
    pub fn int<T: TryFrom<i64>>(&self, key: &str) -> Result<T> {
        self.opt_int(key)?.map_or_else(|| Self::missing(key), Ok)
    }

    pub fn opt_int<T: TryFrom<i64>>(&self, key: &str) -> Result<Option<T>> {
        match self.get(key).map(|t| &t.val) {
            None => Ok(None),
            Some(Val::Int(n)) => T::try_from(*n).map(Some).or_else(|_| Self::missing(key)),
            _ => Self::missing(key),
        }
    }

    pub fn float(&self, key: &str) -> Result<f32> {
        match self.get(key).map(|t| &t.val) {
            Some(Val::Float(x)) => Ok(*x as f32),
            _ => Self::missing(key),
        }
    }

    pub fn opt_text(&self, key: &str) -> Option<&str> {
        match self.get(key).map(|t| &t.val) {
            Some(Val::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn text(&self, key: &str) -> Result<&str> {
        self.opt_text(key).map_or_else(|| Self::missing(key), Ok)
    }

    pub fn list(&self, key: &str) -> &[Item] {
        match self.get(key).map(|t| &t.val) {
            Some(Val::List(items)) => items,
            _ => &[],
        }
    }

    pub fn words(&self, key: &str) -> Vec<String> {
        self.list(key).iter().map(|i| i.text.clone()).collect()
    }

    pub fn sources(&self) -> &[TypedSource] {
        match self.get("sources").map(|t| &t.val) {
            Some(Val::Sources(sources)) => sources,
            _ => &[],
        }
    }
}
