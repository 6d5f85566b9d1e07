//! Resolves a user's name for a note to a file and a place in it.
//!
//! A request is first read as a path by the sandbox. If that file does not exist, the request is
//! read as the name in a link: the end of its path, its title or one of its aliases. A heading
//! comes after `#`, a block after `#^`.

use std::ops::Range;

use super::anchors;
use crate::config::Config;
use crate::tools::link_target::{bare, means};
use local_agent_files::sandbox::{Address, Sandbox, What};
use local_agent_files::state::in_quotes;
use local_agent_index::store::IndexReader;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{RelPath, SkipReason, SourceName};

/// Number of alternatives suggested in a failure.
const NEAREST: usize = 3;

/// Minimum similarity for a suggestion, 0 to 1 (Jaro-Winkler).
const ALIKE: f64 = 0.7;

/// A place in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteAnchor {
    /// The section below a heading.
    Heading(String),
    /// The block that ends in `^name`.
    Block(String),
}

/// The file that `request` means, and the place in it. `request` may be a path, `source:path`, a
/// note's name, title or alias, or `[[a link]]`, each optionally followed by `#Heading` or
/// `#^block`.
///
/// # Errors
/// Those of [`Sandbox::resolve`]; `FILE_NOT_FOUND` with the notes whose names are closest;
/// `AMBIGUOUS_PATH` with all possible notes; `PATH_IS_DIRECTORY` for a folder of notes.
pub fn find(
    config: &Config,
    sandbox: &Sandbox,
    request: &str,
) -> Result<(Address, Option<NoteAnchor>)> {
    let trimmed = request.trim();
    // Other programs use this form for a document.
    let trimmed = trimmed.strip_prefix("qmd://").unwrap_or(trimmed);
    // An embedded note is written with `!` before its link.
    let trimmed = match trimmed.strip_prefix('!') {
        Some(link) if link.starts_with("[[") => link,
        _ => trimmed,
    };
    let link = trimmed
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"));
    // Text after `|` in a link is only its display text.
    let target = link.map_or(trimmed, |inner| inner.split('|').next().unwrap_or(inner));
    let mut as_path = match sandbox.resolve(target) {
        Ok(at) => return Ok((at, None)),
        Err(failure) => failure,
    };
    let (name, anchor) = split_anchor(target);
    if anchor.is_some() {
        as_path = match sandbox.resolve(name) {
            Ok(at) => return Ok((at, anchor)),
            Err(failure) => failure,
        };
    }
    let folder = name.trim_end_matches('/');
    if !may_be_a_name(&as_path, folder) {
        return Err(as_path);
    }
    let known = known_notes(config, sandbox);
    let found = match folder == name {
        true => by_name(&known.notes, name),
        false => Vec::new(),
    };
    if found.is_empty()
        && let Some(place) = folder_named(&known.notes, folder)
    {
        return Err(is_folder(name, &place));
    }
    // A client learns no more of such a file than of one that does not exist.
    if found.is_empty()
        && config.client.is_none()
        && let Some(at) = link_named(&known, folder)
    {
        return Err(is_link(&at));
    }
    if folder != name {
        return Err(as_path);
    }
    match found.as_slice() {
        [] if has_extension(name) && as_path.code != ErrorCode::FileNotFound => Err(as_path),
        [] => Err(not_found(&known.notes, name)),
        [one] => Ok((one.clone(), anchor)),
        many => Err(ambiguous(name, many)),
    }
}

/// The bytes of `text` that an anchor names.
///
/// # Errors
/// `SYMBOL_NOT_FOUND` with the nearest headings, or the existing blocks.
pub fn place(text: &str, anchor: &NoteAnchor, at: &Address) -> Result<Range<usize>> {
    match anchor {
        NoteAnchor::Heading(title) => {
            anchors::section(text, title).ok_or_else(|| no_heading(text, title, at))
        }
        NoteAnchor::Block(name) => {
            anchors::block(text, name).ok_or_else(|| no_block(text, name, at))
        }
    }
}

/// Splits `name#Heading` and `name#^block`. For `name#A#B` the last heading counts, as in Obsidian.
fn split_anchor(target: &str) -> (&str, Option<NoteAnchor>) {
    let Some((name, rest)) = target.split_once('#') else {
        return (target, None);
    };
    let last = rest.rsplit('#').next().unwrap_or(rest).trim();
    let anchor = match last.strip_prefix('^') {
        Some(block) => NoteAnchor::Block(block.to_owned()),
        None => NoteAnchor::Heading(last.to_owned()),
    };
    (name.trim(), (!last.is_empty()).then_some(anchor))
}

/// Whether a request that was refused as a path may still be the name of a note.
fn may_be_a_name(refused: &Failure, name: &str) -> bool {
    let code = matches!(
        refused.code,
        ErrorCode::FileNotFound | ErrorCode::PathDenied | ErrorCode::PathIsDirectory
    );
    let is_path = name.starts_with(['/', '~', '.', '\\'])
        || name.split(['/', '\\']).any(|part| part == "..")
        || name.contains('\\')
        || name.ends_with([':', '/']);
    code && !is_path && !name.is_empty()
}

fn has_extension(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let stem = last.rsplit_once('.');
    stem.is_some_and(|(_, ext)| (1..=8).contains(&ext.len()) && !ext.contains(' '))
}

/// A note with all its names.
struct KnownNote {
    at: Address,
    /// Title and aliases, in lower case.
    names: Vec<String>,
}

/// What a request may name.
#[derive(Default)]
struct Nameable {
    notes: Vec<KnownNote>,
    /// Symbolic links, which are not followed.
    links: Vec<Address>,
}

/// All notes: those in the folders now, with the titles and aliases from the index; and the symbolic
/// links next to them. A folder that cannot be listed is left out.
fn known_notes(config: &Config, sandbox: &Sandbox) -> Nameable {
    let mut known = Nameable::default();
    for root in sandbox.roots() {
        for entry in sandbox.readable(&root.name).unwrap_or_default() {
            let Ok(path) = RelPath::new(entry.path.as_str()) else {
                continue;
            };
            let source = root.name.clone();
            let at = Address { source, path };
            match entry.what {
                What::Found(_) => known.notes.push(KnownNote {
                    at,
                    names: Vec::new(),
                }),
                What::Skipped(SkipReason::Symlink) => known.links.push(at),
                What::Skipped(_) => {}
            }
        }
    }
    let indexed = IndexReader::open(&config.index.db_path)
        .ok()
        .flatten()
        .and_then(|index| index.notes().ok())
        .unwrap_or_default();
    let mut names = std::collections::HashMap::new();
    for note in indexed {
        let mut all = note.aliases;
        all.push(note.title);
        let all: Vec<String> = all.iter().map(|name| name.to_lowercase()).collect();
        names.insert(format!("{}:{}", note.source, note.path), all);
    }
    for note in &mut known.notes {
        note.names = names.remove(&note.at.to_string()).unwrap_or_default();
    }
    known
}

/// The notes that `name` may mean: by path first; by title and alias if no path matches.
fn by_name(known: &[KnownNote], name: &str) -> Vec<Address> {
    let (source, rest) = match name.split_once(':') {
        Some((source, rest)) if SourceName::new(source).is_ok() => (Some(source), rest),
        _ => (None, name),
    };
    let path = bare(rest);
    let by_path: Vec<Address> = known
        .iter()
        .filter(|note| is_in_source(note, source) && is_at(note, &path))
        .map(|note| note.at.clone())
        .collect();
    if !by_path.is_empty() {
        return by_path;
    }
    let wanted = name.to_lowercase();
    known
        .iter()
        .filter(|note| note.names.contains(&wanted))
        .map(|note| note.at.clone())
        .collect()
}

/// The folder `name` (`folder` or `source:folder`) as `ls` takes it: `source/folder`, if a note is
/// below it.
fn folder_named(known: &[KnownNote], name: &str) -> Option<String> {
    let (source, rest) = match name.split_once(':') {
        Some((source, rest)) if SourceName::new(source).is_ok() => (Some(source), rest),
        _ => (None, name),
    };
    let below = format!("{rest}/");
    let note = known
        .iter()
        .find(|note| is_in_source(note, source) && note.at.path.as_str().starts_with(&below))?;
    Some(format!("{}/{rest}", note.at.source))
}

/// The symbolic link that `name` (`path` or `source:path`) leads to or through.
fn link_named(known: &Nameable, name: &str) -> Option<Address> {
    let (source, path) = match name.split_once(':') {
        Some((source, rest)) if SourceName::new(source).is_ok() => (Some(source), rest),
        _ => (None, name),
    };
    let link = known.links.iter().find(|at| {
        let rest = path.strip_prefix(at.path.as_str());
        source.is_none_or(|source| at.source.as_str() == source)
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    link.cloned()
}

/// The failure for a symbolic link.
fn is_link(at: &Address) -> Failure {
    let message = format!("`{at}` is refused because it is a symbolic link.");
    Failure::new(ErrorCode::PathDenied, message)
        .with_hint("see `security.follow_links` in: local-agent config show")
}

/// The failure for a folder in place of a note.
fn is_folder(name: &str, place: &str) -> Failure {
    let message = format!("`{name}` is a folder.");
    Failure::new(ErrorCode::PathIsDirectory, message)
        .with_hint(format!("local-agent ls {}", in_quotes(place)))
}

/// Whether the note is in the source, if one is named.
fn is_in_source(note: &KnownNote, source: Option<&str>) -> bool {
    source.is_none_or(|source| note.at.source.as_str() == source)
}

/// Whether `path` is the note's path or its end; `source/path` also counts.
fn is_at(note: &KnownNote, path: &str) -> bool {
    let own = bare(note.at.path.as_str());
    means(path, &own) || format!("{}/{own}", note.at.source.as_str().to_lowercase()) == path
}

fn not_found(known: &[KnownNote], name: &str) -> Failure {
    let nearest = nearest(
        name,
        known.iter().map(|note| {
            let path = note.at.path.as_str();
            (
                note.at.to_string(),
                vec![stem_of(path), path.to_lowercase()],
                &note.names,
            )
        }),
    );
    let message = if nearest.is_empty() {
        format!("No file or note is called `{name}`.")
    } else {
        format!(
            "No file or note is called `{name}`; the nearest names: {}.",
            joined(nearest.iter())
        )
    };
    let hint = nearest.first().map_or_else(
        || "local-agent ls".to_owned(),
        |first| format!("local-agent get {}", in_quotes(first)),
    );
    Failure::new(ErrorCode::FileNotFound, message).with_hint(hint)
}

fn ambiguous(name: &str, many: &[Address]) -> Failure {
    let listed: Vec<String> = many.iter().take(10).map(Address::to_string).collect();
    let message = format!(
        "`{name}` fits more than one note: {}.",
        joined(listed.iter())
    );
    let hint = listed
        .first()
        .map(|first| format!("local-agent get {}", in_quotes(first)));
    Failure {
        hint,
        ..Failure::new(ErrorCode::AmbiguousPath, message)
    }
}

/// The last segment of a path without its extension, in lower case.
fn stem_of(path: &str) -> String {
    let path = bare(path);
    path.rsplit('/').next().unwrap_or(&path).to_owned()
}

/// The addresses whose names are most similar to `name`, the most similar first.
fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = (String, Vec<String>, &'a Vec<String>)>,
) -> Vec<String> {
    let name = match name.split_once(':') {
        Some((source, rest)) if SourceName::new(source).is_ok() => rest,
        _ => name,
    };
    let wanted = bare(name);
    let stem = stem_of(name);
    let mut scored: Vec<(f64, String)> = candidates
        .map(|(address, paths, names)| {
            let best = paths
                .iter()
                .chain(names)
                .map(|other| likeness(&wanted, &stem, other))
                .fold(0.0, f64::max);
            (best, address)
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    scored.sort_by(|(a, m), (b, n)| b.total_cmp(a).then_with(|| m.cmp(n)));
    scored
        .into_iter()
        .take(NEAREST)
        .map(|(_, address)| address)
        .collect()
}

fn likeness(wanted: &str, stem: &str, other: &str) -> f64 {
    let spelled = strsim::jaro_winkler(wanted, other).max(strsim::jaro_winkler(stem, other));
    // A partial name counts as much as a typo.
    let holds = stem.chars().count() >= 3 && other.contains(stem);
    if holds {
        spelled.max(ALIKE + 0.1)
    } else {
        spelled
    }
}

fn joined<T: AsRef<str>>(names: impl Iterator<Item = T>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{}`", name.as_ref())).collect();
    quoted.join(", ")
}

/// The failure for a heading that the note does not have.
fn no_heading(text: &str, title: &str, at: &Address) -> Failure {
    let titles = anchors::titles(text);
    let none = Vec::new();
    let near = nearest(
        title,
        titles
            .iter()
            .map(|one| (one.clone(), vec![one.to_lowercase()], &none)),
    );
    let have = if near.is_empty() {
        joined(titles.iter().take(NEAREST))
    } else {
        joined(near.iter())
    };
    let message = if titles.is_empty() {
        format!("{at} has no headings")
    } else {
        format!("{at} has no heading `{title}`; it has {have}")
    };
    Failure::new(ErrorCode::SymbolNotFound, message)
        .with_hint(format!("local-agent get {}", in_quotes(&at.to_string())))
}

/// The failure for a block that the note does not have.
fn no_block(text: &str, name: &str, at: &Address) -> Failure {
    let names = anchors::block_names(text);
    let have = if names.is_empty() {
        "it has no block with a name".to_owned()
    } else {
        format!("its blocks are: {}", joined(names.iter().take(NEAREST)))
    };
    let message = format!("{at} has no block `^{name}`; {have}");
    Failure::new(ErrorCode::SymbolNotFound, message)
        .with_hint(format!("local-agent get {}", in_quotes(&at.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_split_off_and_the_last_heading_counts() {
        let heading = |title: &str| Some(NoteAnchor::Heading(title.to_owned()));
        assert_eq!(split_anchor("a.md"), ("a.md", None));
        assert_eq!(split_anchor("a.md#Top"), ("a.md", heading("Top")));
        assert_eq!(
            split_anchor("Note#Top#Below it"),
            ("Note", heading("Below it"))
        );
        assert_eq!(
            split_anchor("Note#^sum-1"),
            ("Note", Some(NoteAnchor::Block("sum-1".to_owned())))
        );
        assert_eq!(split_anchor("Note#"), ("Note", None));
    }

    #[test]
    fn an_extension_is_short_and_without_spaces() {
        assert!(has_extension("a/key.pem") && has_extension("x.md"));
        assert!(!has_extension("v1.2 release notes") && !has_extension("Note"));
    }
}
