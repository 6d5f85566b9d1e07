//! Changes only the list of sources or of contexts in a configuration file. Comments, order and
//! spelling of all other lines stay. The result is read again and compared before the file is
//! replaced, so that an unusual layout is refused and not damaged.

use std::path::Path;
use std::sync::OnceLock;

use regex::Regex;

use super::findings::{Findings, Origin};
use super::folder_context::FolderContext;
use super::keys::Key;
use super::raw::{self, Node, Value};
use super::show::quoted;
use super::sources::{TypedSource, sources};
use super::typed::Val;
use super::unknown_source::unknown_source;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::SourceName;

/// The keys that are changed. A file for the Python version has its sources in a section of their own.
const SOURCES: &str = "sources";
const ANCESTOR_SECTION: &str = "phase2";
const ANCESTOR_SOURCES: &str = "phase2.sources";
const CONTEXTS: &str = "contexts";

/// A source to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSource {
    /// The name of the source; no two sources in a file may have the same one.
    pub name: SourceName,
    /// The root as it will be written in the file.
    pub root: String,
    /// The kind of source. `notes` is not written, because it is the default.
    pub kind: String,
    /// Whether source code files are documents too. `false` is not written, because it is the
    /// default.
    pub code: bool,
    /// Extensions of documents besides notes, each with its dot.
    pub extensions: Vec<String>,
    /// Patterns of included files; empty: all files.
    pub include: Vec<String>,
    /// Patterns of excluded files; empty: no file is excluded.
    pub exclude: Vec<String>,
}

/// One change to the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceEdit {
    /// Adds a source at the end; `INVALID_ARGS` if its name is taken.
    Add(NewSource),
    /// Removes the source with this name; `INVALID_ARGS` if the name is unknown.
    Remove(SourceName),
    /// Renames the source with the first name to the second; `INVALID_ARGS` if the first name is
    /// unknown or the second is taken.
    Rename(SourceName, SourceName),
}

/// The text of a configuration file after one change to its `sources`. `file` is only used in error
/// messages.
///
/// # Errors
/// `INVALID_ARGS` if the name is taken or does not exist; `CONFIG_ERROR` when the file cannot be
/// read, or its layout cannot be changed without touching other lines.
pub fn edit_sources(file: &Path, text: &str, edit: &SourceEdit) -> Result<String> {
    let before = read(file, text)?;
    let wanted = applied(&before.sources, edit)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let changed = match &before.list {
        ListPlace::Absent => Some(append(text, &rendered(&wanted, ""))),
        ListPlace::Unclear => None,
        ListPlace::At(list) if list.is_block => Some(in_block(&lines, list, edit)),
        ListPlace::At(list) => Some(replace(&lines, list, &wanted)),
    };
    changed
        .filter(|changed| {
            let after = read(file, changed);
            after.is_ok_and(|after| {
                after.sources == wanted && same_rest(&before, &after, before.sources_key)
            })
        })
        .ok_or_else(|| unusual_layout(file, before.sources_key))
}

/// The text of a configuration file with `contexts` as its whole list of contexts.
///
/// # Errors
/// `CONFIG_ERROR` when the file cannot be read, or its layout cannot be changed without touching
/// other lines.
pub fn edit_contexts(file: &Path, text: &str, contexts: &[FolderContext]) -> Result<String> {
    let before = read(file, text)?;
    let block = rendered_contexts(contexts);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let changed = if before.tree.iter().any(|(key, _)| key == CONTEXTS) {
        extent(&lines, CONTEXTS)
            .map(|(key, end)| format!("{}{block}{}", lines[..key].concat(), lines[end..].concat()))
    } else {
        Some(append(text, &block))
    };
    let wanted: Vec<String> = contexts.iter().map(ToString::to_string).collect();
    changed
        .filter(|changed| {
            read(file, changed).is_ok_and(|after| {
                written_contexts(&after.tree) == wanted && same_rest(&before, &after, CONTEXTS)
            })
        })
        .ok_or_else(|| unusual_layout(file, CONTEXTS))
}

/// The contexts that a configuration file has.
///
/// # Errors
/// `CONFIG_ERROR` when the file, or one of its contexts, cannot be read.
pub fn contexts_in(file: &Path, text: &str) -> Result<Vec<FolderContext>> {
    let written = written_contexts(&read(file, text)?.tree);
    let contexts = written.iter().map(|entry| FolderContext::parse(entry));
    contexts
        .collect::<std::result::Result<_, _>>()
        .map_err(|why| {
            let message = format!("{}: {why}", file.display());
            Failure::new(ErrorCode::ConfigError, message).with_command("local-agent config check")
        })
}

/// The contexts in a configuration file after a change to its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextsAfter {
    /// The whole list, in its order.
    pub kept: Vec<FolderContext>,
    /// Those of a removed source.
    pub removed: Vec<FolderContext>,
}

/// The contexts in a configuration file after this change to its sources: those of a renamed source
/// get its new name, those of a removed one go. `None` if nothing changes.
///
/// # Errors
/// `CONFIG_ERROR` when the file cannot be read.
pub fn contexts_after(file: &Path, text: &str, edit: &SourceEdit) -> Result<Option<ContextsAfter>> {
    let written = written_contexts(&read(file, text)?.tree);
    let before: std::result::Result<Vec<FolderContext>, String> = written
        .iter()
        .map(|entry| FolderContext::parse(entry))
        .collect();
    // A list with an entry that cannot be read is left to `config check`.
    let Ok(before) = before else {
        return Ok(None);
    };
    let changed = match edit {
        SourceEdit::Add(_) => return Ok(None),
        SourceEdit::Remove(name) | SourceEdit::Rename(name, _) => name,
    };
    let is_of = |one: &FolderContext| one.source.as_ref() == Some(changed);
    if !before.iter().any(is_of) {
        return Ok(None);
    }
    let SourceEdit::Rename(_, new) = edit else {
        let (removed, kept) = before.into_iter().partition(is_of);
        return Ok(Some(ContextsAfter { kept, removed }));
    };
    let mut kept = before;
    for one in kept.iter_mut().filter(|one| is_of(one)) {
        one.source = Some(new.clone());
    }
    Ok(Some(ContextsAfter {
        kept,
        removed: Vec::new(),
    }))
}

/// The failure for a layout that is not changed because other lines could be lost.
fn unusual_layout(file: &Path, key: &str) -> Failure {
    let message = format!(
        "the {key} of {} are written in a way that this command cannot change safely",
        file.display()
    );
    let hint = format!("change `{key}:` in that file by hand, then run `local-agent config check`");
    Failure::new(ErrorCode::ConfigError, message).with_command(hint)
}

/// Whether two files say the same under every key but this one, a dotted path.
fn same_rest(before: &Before, after: &Before, key: &str) -> bool {
    without_key(&before.tree, key) == without_key(&after.tree, key)
}

/// The entries without this key, a dotted path, and with all line numbers as 0.
fn without_key(entries: &[(String, Node)], key: &str) -> Vec<(String, Value)> {
    let (first, rest) = key.split_once('.').map_or((key, ""), |parts| parts);
    let mut out = Vec::new();
    for (name, node) in entries {
        match &node.value {
            Value::Map(inner) if name == first && !rest.is_empty() => {
                let inner = without_key(inner, rest);
                let names = inner
                    .into_iter()
                    .map(|(name, value)| (name, Node { line: 0, value }));
                out.push((name.clone(), Value::Map(names.collect())));
            }
            _ if name == first => {}
            value => out.push((name.clone(), without_lines(value))),
        }
    }
    out
}

/// The value with all line numbers as 0.
fn without_lines(value: &Value) -> Value {
    let node = |node: &Node| Node {
        line: 0,
        value: without_lines(&node.value),
    };
    match value {
        Value::Scalar { .. } => value.clone(),
        Value::List(nodes) => Value::List(nodes.iter().map(node).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), node(value)))
                .collect(),
        ),
    }
}

fn rendered_contexts(contexts: &[FolderContext]) -> String {
    if contexts.is_empty() {
        return "contexts: []\n".to_owned();
    }
    let entries = contexts
        .iter()
        .map(|one| format!("  - {}\n", quoted(&one.to_string())));
    std::iter::once("contexts:\n".to_owned())
        .chain(entries)
        .collect()
}

fn written_contexts(map: &[(String, Node)]) -> Vec<String> {
    let list = map.iter().find(|(key, _)| key == CONTEXTS);
    let Some(Value::List(nodes)) = list.map(|(_, node)| &node.value) else {
        return Vec::new();
    };
    nodes.iter().map(scalar_text).collect()
}

/// The text of a scalar; empty for anything else.
fn scalar_text(node: &Node) -> String {
    match &node.value {
        Value::Scalar { text, .. } => text.trim().to_owned(),
        _ => String::new(),
    }
}

/// The content of a file, its `sources`, and their position.
struct Before {
    tree: Vec<(String, Node)>,
    /// The dotted path of the key with the sources.
    sources_key: &'static str,
    sources: Vec<NewSource>,
    list: ListPlace,
}

/// Where the list of sources is.
enum ListPlace {
    /// The file has no such key.
    Absent,
    /// The file has the key, but not at the start of a line.
    Unclear,
    /// On these lines.
    At(List),
}

/// The position of the list, in lines from 0.
struct List {
    /// The line of `sources:`.
    key: usize,
    /// The first line after the list.
    end: usize,
    /// The white space before `sources:`.
    indent: String,
    /// The first line of each entry.
    entries: Vec<usize>,
    /// Whether each entry begins with a dash on a separate line.
    is_block: bool,
}

fn read(file: &Path, text: &str) -> Result<Before> {
    let tree = raw::parse(&file.display().to_string(), text.as_bytes())?;
    let Some((sources_key, node)) = sources_node(&tree) else {
        return Ok(Before {
            tree,
            sources_key: SOURCES,
            sources: Vec::new(),
            list: ListPlace::Absent,
        });
    };
    let sources = if node.is_unset() {
        Vec::new()
    } else {
        typed(file, sources_key, node)?
    };
    Ok(Before {
        list: list(text, sources_key, node, sources.len())
            .map_or(ListPlace::Unclear, ListPlace::At),
        sources_key,
        sources,
        tree,
    })
}

/// The value with the sources, and the dotted path of its key. The Python version's list counts only
/// without ours, as when the file is loaded.
fn sources_node(tree: &[(String, Node)]) -> Option<(&'static str, &Node)> {
    if let Some(node) = value_of(tree, SOURCES) {
        return Some((SOURCES, node));
    }
    let Value::Map(inner) = &value_of(tree, ANCESTOR_SECTION)?.value else {
        return None;
    };
    Some((ANCESTOR_SOURCES, value_of(inner, SOURCES)?))
}

/// The value of a key among the entries of one level.
fn value_of<'e>(entries: &'e [(String, Node)], key: &str) -> Option<&'e Node> {
    let mut entries = entries.iter();
    entries.find(|(name, _)| name == key).map(|(_, node)| node)
}

fn typed(file: &Path, key: &str, node: &Node) -> Result<Vec<NewSource>> {
    let key = Key::find(key).ok_or_else(|| Failure::internal("there is no key `sources`"))?;
    let origin = Origin::File {
        path: file.to_owned(),
        line: node.line,
    };
    let mut findings = Findings::default();
    match sources(key, node, &origin, &mut findings) {
        Some(Val::Sources(list)) => Ok(list.into_iter().map(NewSource::from).collect()),
        _ => {
            let first = findings.problems.into_iter().next();
            Err(first.map_or_else(
                || Failure::internal("a list of sources has no problem and no value"),
                |problem| problem.failure,
            ))
        }
    }
}

impl From<TypedSource> for NewSource {
    fn from(source: TypedSource) -> Self {
        Self {
            name: source.name,
            root: source.root.text,
            kind: source.kind,
            code: source.code,
            extensions: source.selection.extensions().to_vec(),
            include: source.selection.include().to_vec(),
            exclude: source.selection.exclude().to_vec(),
        }
    }
}

fn list(text: &str, key: &str, node: &Node, count: usize) -> Option<List> {
    let lines: Vec<&str> = text.lines().collect();
    let (key, end) = match key {
        ANCESTOR_SOURCES => extent_in(&lines, ANCESTOR_SECTION, SOURCES)?,
        key => extent(&lines, key)?,
    };
    let entries: Vec<usize> = match &node.value {
        Value::List(nodes) => nodes
            .iter()
            .map(|entry| (entry.line as usize).saturating_sub(1))
            .collect(),
        _ => Vec::new(),
    };
    let is_block = count > 0 && entries.iter().all(|at| begins_entry(&lines, *at));
    Some(List {
        key,
        end,
        indent: indent_of(lines.get(key)?).to_owned(),
        entries,
        is_block,
    })
}

/// Whether the line begins an entry of a list.
fn begins_entry(lines: &[&str], at: usize) -> bool {
    lines
        .get(at)
        .is_some_and(|line| line.trim_start().starts_with('-'))
}

/// The line of a top-level key, and the first line after its value, from 0. `None`: no line begins
/// with the key.
fn extent(lines: &[&str], name: &str) -> Option<(usize, usize)> {
    let key = lines.iter().position(|line| is_key_line(name, line))?;
    let end = lines[key + 1..].iter().position(|line| is_next_key(line));
    let mut end = end.map_or(lines.len(), |at| key + 1 + at);
    // Blank lines and comments above the next key belong to it.
    while end > key + 1 && is_remark(lines[end - 1]) {
        end -= 1;
    }
    Some((key, end))
}

/// As [`extent`], of a key in a section in block style.
fn extent_in(lines: &[&str], section: &str, name: &str) -> Option<(usize, usize)> {
    let (top, section_end) = extent(lines, section)?;
    let inside = lines.get(..section_end)?;
    let is_key = |line: &&str| is_key_line(name, line.trim_start_matches(' '));
    let key = top + 1 + inside.get(top + 1..)?.iter().position(is_key)?;
    let indent = indent_of(inside.get(key)?);
    let is_next = |line: &&str| {
        let own = indent_of(line).len();
        let is_entry = own == indent.len() && line.trim_start().starts_with('-');
        !is_remark(line) && own <= indent.len() && !is_entry
    };
    let next = inside.get(key + 1..)?.iter().position(is_next);
    let mut end = next.map_or(section_end, |at| key + 1 + at);
    while end > key + 1 && is_remark(inside.get(end - 1)?) {
        end -= 1;
    }
    (!indent.is_empty()).then_some((key, end))
}

/// The blanks that a line begins with.
fn indent_of(line: &str) -> &str {
    let text = line.trim_start_matches(' ');
    line.get(..line.len() - text.len()).unwrap_or("")
}

/// Whether the line begins another key.
fn is_next_key(line: &str) -> bool {
    !line.starts_with([' ', '\t', '#', '-', ']', '}']) && !line.trim().is_empty()
}

/// Whether the line begins with the key.
fn is_key_line(name: &str, line: &str) -> bool {
    line.trim_start_matches('\u{feff}')
        .strip_prefix(name)
        .is_some_and(|rest| rest.trim_start().starts_with(':'))
}

fn is_remark(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// The list after the change.
fn applied(before: &[NewSource], edit: &SourceEdit) -> Result<Vec<NewSource>> {
    let mut after = before.to_vec();
    match edit {
        SourceEdit::Add(new) => {
            if position_of(before, &new.name).is_some() {
                return Err(taken_name(&new.name));
            }
            after.push(new.clone());
        }
        SourceEdit::Remove(name) => {
            after.remove(position_of(before, name).ok_or_else(|| unknown_name(before, name))?);
        }
        SourceEdit::Rename(from, to) => {
            let at = position_of(before, from).ok_or_else(|| unknown_name(before, from))?;
            if from != to && position_of(before, to).is_some() {
                return Err(taken_name(to));
            }
            after[at].name = to.clone();
        }
    }
    Ok(after)
}

/// The failure for a name that another source has.
fn taken_name(name: &SourceName) -> Failure {
    Failure::new(
        ErrorCode::InvalidArgs,
        format!("there is a source called `{name}` already"),
    )
    .with_command("local-agent source list (shows the names that are taken; choose another one)")
}

/// The failure for a name that no source has.
fn unknown_name(before: &[NewSource], name: &SourceName) -> Failure {
    unknown_source(name.as_str(), before.iter().map(|one| one.name.as_str()))
}

/// The place of a source.
fn position_of(before: &[NewSource], name: &SourceName) -> Option<usize> {
    before.iter().position(|one| one.name == *name)
}

/// The file with a new list at its end.
fn append(text: &str, block: &str) -> String {
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(block);
    out
}

/// The file with the whole list replaced.
fn replace(lines: &[&str], list: &List, wanted: &[NewSource]) -> String {
    let mut out = lines[..list.key].concat();
    out.push_str(&rendered(wanted, &list.indent));
    out.push_str(&lines[list.end..].concat());
    out
}

/// The list as YAML, in lines that begin with `indent`.
fn rendered(sources: &[NewSource], indent: &str) -> String {
    if sources.is_empty() {
        return format!("{indent}sources: []\n");
    }
    let deeper = format!("{indent}  ");
    let entries = sources.iter().map(|source| entry(source, &deeper));
    std::iter::once(format!("{indent}sources:\n"))
        .chain(entries)
        .collect()
}

fn entry(source: &NewSource, indent: &str) -> String {
    let mut out = format!(
        "{indent}- name: {}\n{indent}  root: {}\n",
        quoted(source.name.as_str()),
        quoted(&source.root)
    );
    if source.kind != "notes" {
        out.push_str(&format!("{indent}  kind: {}\n", quoted(&source.kind)));
    }
    if source.code {
        out.push_str(&format!("{indent}  code: true\n"));
    }
    let lists = [
        ("extensions", &source.extensions),
        ("include", &source.include),
        ("exclude", &source.exclude),
    ];
    for (key, patterns) in lists {
        if !patterns.is_empty() {
            let list: Vec<String> = patterns.iter().map(|one| quoted(one)).collect();
            out.push_str(&format!("{indent}  {key}: [{}]\n", list.join(", ")));
        }
    }
    out
}

/// The file with one entry of a block list added, removed or renamed.
fn in_block(lines: &[&str], list: &List, edit: &SourceEdit) -> String {
    let owned: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let indent: String = list.entries.first().map_or_else(
        || "  ".to_owned(),
        |at| lines[*at].chars().take_while(|c| *c == ' ').collect(),
    );
    match edit {
        SourceEdit::Add(new) => {
            let mut out = owned[..list.end].concat();
            if !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&entry(new, &indent));
            out.push_str(&owned[list.end..].concat());
            out
        }
        SourceEdit::Remove(name) => {
            let Some(n) = entry_of(lines, list, name) else {
                return owned.concat();
            };
            let gone = range(list, n);
            if list.entries.len() == 1 {
                return replace(lines, list, &[]);
            }
            let mut kept = owned;
            kept.drain(gone);
            kept.concat()
        }
        SourceEdit::Rename(from, to) => {
            let mut out = owned;
            if let (Some(n), Some(pattern)) = (entry_of(lines, list, from), name_pattern()) {
                for line in &mut out[range(list, n)] {
                    if pattern.is_match(line) {
                        let name = quoted(to.as_str());
                        let new = |found: &regex::Captures<'_>| format!("{}{name}", &found[1]);
                        *line = pattern.replace(line, new).into_owned();
                        break;
                    }
                }
            }
            out.concat()
        }
    }
}

/// The entry of a source.
fn entry_of(lines: &[&str], list: &List, name: &SourceName) -> Option<usize> {
    (0..list.entries.len()).find(|n| names(&lines[range(list, *n)].concat(), name))
}

/// The lines of entry number `n`.
fn range(list: &List, n: usize) -> std::ops::Range<usize> {
    let end = list.entries.get(n + 1).copied().unwrap_or(list.end);
    list.entries[n]..end
}

/// Whether an entry seems to have this name. The parser checks the result afterwards.
fn names(text: &str, name: &SourceName) -> bool {
    let found = name_pattern().and_then(|pattern| pattern.captures(text));
    found.is_some_and(|found| {
        let value = found[2].trim().trim_matches(['"', '\'']);
        value == name.as_str() || found[2].trim() == quoted(name.as_str())
    })
}

/// `name:` and its value, in block or flow style.
fn name_pattern() -> Option<&'static Regex> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern =
        r#"(?m)((?:^|[\s{,-])name\s*:\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^,}#\n\r]*[^,}#\s])"#;
    PATTERN.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, root: &str) -> NewSource {
        NewSource {
            name: SourceName::new(name).unwrap(),
            root: root.to_owned(),
            kind: "notes".to_owned(),
            code: false,
            extensions: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
        }
    }

    fn edited(text: &str, edit: &SourceEdit) -> Result<String> {
        edit_sources(Path::new("x.yaml"), text, edit)
    }

    fn name(text: &str) -> SourceName {
        SourceName::new(text).unwrap()
    }

    #[test]
    fn contexts_are_written_anew_and_all_else_stays() {
        let one = |place: &str, text: &str| FolderContext::new(place, text).unwrap();
        let file = Path::new("x.yaml");
        let edit = |text: &str, list: &[FolderContext]| edit_contexts(file, text, list).unwrap();
        let first = edit(BLOCK, &[one("a", "the \"bakery\": all of it")]);
        assert!(first.starts_with(BLOCK));
        let list = [one("a", "papers"), one("b/old", "x")];
        let second = edit(&first, &list);
        assert_eq!(
            second,
            format!("{BLOCK}\ncontexts:\n  - \"a: papers\"\n  - \"b/old: x\"\n")
        );
        let third = edit(
            &format!("{second}\n# Else.\nruns: {{enabled: true}}\n"),
            &[],
        );
        assert!(third.ends_with("contexts: []\n\n# Else.\nruns: {enabled: true}\n"));
    }

    #[test]
    fn contexts_follow_their_source() {
        let text = "sources: [{name: a, root: a}]\ncontexts:\n  - \"a: papers\"\n  - \"a/old: x: y\"\n  - \"ab: z\"\n";
        let after = |edit: &SourceEdit| contexts_after(Path::new("x"), text, edit).unwrap();
        let shown = |list: &[FolderContext]| -> Vec<String> {
            list.iter().map(ToString::to_string).collect()
        };
        let renamed = after(&SourceEdit::Rename(name("a"), name("b c"))).unwrap();
        assert_eq!(
            shown(&renamed.kept),
            ["b c: papers", "b c/old: x: y", "ab: z"]
        );
        let removed = after(&SourceEdit::Remove(name("a"))).unwrap();
        assert_eq!(shown(&removed.kept), ["ab: z"]);
        assert_eq!(shown(&removed.removed), ["a: papers", "a/old: x: y"]);
        assert_eq!(after(&SourceEdit::Remove(name("other"))), None);
    }

    const BLOCK: &str = "# Mine.\nsources:\n  - name: \"a\"  # first\n    root: \"a\"\n  - {name: b, root: b, code: true}\n\n# What may be opened.\nsecurity:\n  follow_links: never\n";

    #[test]
    fn one_entry_is_added_and_nothing_else_changes() {
        let out = edited(BLOCK, &SourceEdit::Add(source("c d", "/c"))).unwrap();
        let new = "  - name: \"c d\"\n    root: \"/c\"\n";
        assert_eq!(out.replace(new, ""), BLOCK);
        assert!(out.contains(&format!("code: true}}\n{new}\n# What may")));
    }

    #[test]
    fn an_entry_is_taken_out_or_renamed_in_its_lines() {
        let out = edited(BLOCK, &SourceEdit::Remove(name("a"))).unwrap();
        assert_eq!(
            out,
            BLOCK.replace("  - name: \"a\"  # first\n    root: \"a\"\n", "")
        );
        let out = edited(BLOCK, &SourceEdit::Rename(name("b"), name("x"))).unwrap();
        assert_eq!(out, BLOCK.replace("{name: b,", "{name: \"x\","));
        let out = edited(BLOCK, &SourceEdit::Rename(name("a"), name("y z"))).unwrap();
        assert_eq!(out, BLOCK.replace("\"a\"  # first", "\"y z\"  # first"));
    }

    #[test]
    fn a_list_in_brackets_or_none_is_written_anew() {
        let out = edited(
            "sources: [{name: a, root: .}]\n",
            &SourceEdit::Add(source("b", "b")),
        );
        assert_eq!(
            out.unwrap(),
            "sources:\n  - name: \"a\"\n    root: \".\"\n  - name: \"b\"\n    root: \"b\"\n"
        );
        for empty in ["", "sources:\n  # - {name: x, root: x}\n", "sources: []\n"] {
            let out = edited(empty, &SourceEdit::Add(source("b", "b"))).unwrap();
            assert!(
                out.contains("sources:\n  - name: \"b\"\n    root: \"b\"\n"),
                "{out}"
            );
        }
        let last = edited(
            "sources:\n- name: a\n  root: b\n",
            &SourceEdit::Remove(name("a")),
        );
        assert_eq!(last.unwrap(), "sources: []\n");
    }

    #[test]
    fn a_layout_whose_other_settings_would_be_lost_is_refused() {
        for text in [
            "{\"sources\": [{\"name\": \"a\", \"root\": \"a\"}], \"ask\": {\"top_n\": 3}, \"contexts\": []}\n",
            "{\n  \"security\": {\"follow_links\": \"never\"},\n  \"sources\": [\n    {\"name\": \"a\", \"root\": \"a\"}\n  ],\n  \"contexts\": []\n}\n",
            "{ask: {top_n: 3}}\n",
            "  ask: {top_n: 3}\n  sources:\n    - {name: a, root: a}\n  contexts: []\n",
            "ask: {top_n: 3}\n\"sources\": [{name: a, root: a}]\n\"contexts\": []\n",
            "ask: {\ntop_n: 3,\n}\nsources: [\n{name: a, root: a},\nsources: x\n]\n",
        ] {
            let refused = edited(text, &SourceEdit::Add(source("b", "b"))).unwrap_err();
            assert_eq!(refused.code, ErrorCode::ConfigError, "{text}");
            assert!(refused.hint.is_some());
            let one = [FolderContext::new("a", "papers").unwrap()];
            let contexts = edit_contexts(Path::new("x.yaml"), text, &one);
            assert_eq!(contexts.unwrap_err().code, ErrorCode::ConfigError, "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_before_the_key_is_no_hindrance() {
        let text = "\u{feff}sources: [{name: a, root: .}]\nask: {top_n: 3}\n";
        let out = edited(text, &SourceEdit::Add(source("b", "b"))).unwrap();
        let after = read(Path::new("x"), &out).unwrap();
        assert_eq!(after.sources, [source("a", "."), source("b", "b")]);
        assert!(out.ends_with("ask: {top_n: 3}\n"), "{out}");
    }

    #[test]
    fn names_that_are_taken_or_missing_are_said() {
        for edit in [
            SourceEdit::Add(source("a", "x")),
            SourceEdit::Remove(name("nosuch")),
            SourceEdit::Rename(name("nosuch"), name("x")),
            SourceEdit::Rename(name("a"), name("b")),
        ] {
            assert_eq!(
                edited(BLOCK, &edit).unwrap_err().code,
                ErrorCode::InvalidArgs
            );
        }
    }

    const ANCESTOR: &str = "phase2:\n  # Where they are.\n  sources:\n    - {name: a, root: a}\n    - name: b\n      root: b\n\n  # What is cut.\n  chunking:\n    overlap: 0\nphase3:\n  sources: no\n";

    #[test]
    fn the_python_versions_list_is_changed_where_it_is() {
        let out = edited(ANCESTOR, &SourceEdit::Add(source("c", "c"))).unwrap();
        let new = "    - name: \"c\"\n      root: \"c\"\n";
        assert_eq!(
            out,
            ANCESTOR.replace("root: b\n", &format!("root: b\n{new}"))
        );
        let out = edited(ANCESTOR, &SourceEdit::Remove(name("a"))).unwrap();
        assert_eq!(out, ANCESTOR.replace("    - {name: a, root: a}\n", ""));
        let out = edited(ANCESTOR, &SourceEdit::Rename(name("b"), name("d"))).unwrap();
        assert_eq!(out, ANCESTOR.replace("name: b", "name: \"d\""));
        let flow = "phase2:\n  sources: [{name: a, root: a}]\n  chunking: {overlap: 0}\n";
        let out = edited(flow, &SourceEdit::Add(source("b", "b"))).unwrap();
        let after = read(Path::new("x"), &out).unwrap();
        assert_eq!(after.sources, [source("a", "a"), source("b", "b")]);
        assert!(out.ends_with("  chunking: {overlap: 0}\n"), "{out}");
        // A list at the depth of its key.
        let flat = "phase2:\n  sources:\n  - name: a\n    root: a\n  chunking: {overlap: 0}\n";
        let out = edited(flat, &SourceEdit::Remove(name("a"))).unwrap();
        assert_eq!(out, "phase2:\n  sources: []\n  chunking: {overlap: 0}\n");
        let inline = "phase2: {sources: [{name: a, root: a}]}\n";
        let refused = edited(inline, &SourceEdit::Add(source("b", "b"))).unwrap_err();
        assert_eq!(refused.code, ErrorCode::ConfigError);
        assert!(refused.hint.unwrap().contains("`phase2.sources:`"));
    }

    #[test]
    fn our_list_wins_over_the_python_versions() {
        let both = format!("{ANCESTOR}sources: [{{name: z, root: z}}]\n");
        let out = edited(&both, &SourceEdit::Add(source("b", "b"))).unwrap();
        assert!(out.starts_with(ANCESTOR), "{out}");
    }

    #[test]
    fn an_entry_whose_dash_stands_alone_is_refused_or_right() {
        let text = "sources:\n  -\n    name: a\n    root: a\n  -\n    name: b\n    root: b\n";
        let out = edited(text, &SourceEdit::Remove(name("a"))).unwrap();
        assert_eq!(
            read(Path::new("x"), &out).unwrap().sources,
            [source("b", "b")]
        );
    }
}
