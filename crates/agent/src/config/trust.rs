//! Records which configuration files found by walking up are trusted, and finds the requests that
//! an untrusted file must not make.
//!
//! A file that came with somebody else's folder is data. It may name sources below itself and tune
//! the search. It must not open anything outside its folder, loosen the sandbox, show private notes
//! to agents, or send text to another machine. `untrusted` lists all keys that it may set. Trust
//! applies to the exact bytes: after every edit the user must give it again.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::findings::Origin;
use super::places;
use super::raw;
use super::this_machine::{is_cloud_model, is_far};
use super::typed::{Item, Typed, Val};
use super::untrusted::{self, UntrustedLimit};
use super::values::Values;
use local_agent_files::state::quoted;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// Maximum size of the trust file.
const MAX_STORE_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Store {
    version: u32,
    files: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Canonical path.
    path: PathBuf,
    /// Hash of the whole file.
    sha256: Sha256,
}

impl Store {
    fn read(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Ok(Self {
                version: 1,
                files: Vec::new(),
            });
        }
        let store: Self = serde_json::from_slice(
            &raw::read_file(file, MAX_STORE_BYTES).map_err(|why| broken_trust(file, why))?,
        )
        .map_err(|e| broken_trust(file, format!("cannot be understood: {e}")))?;
        if store.version != 1 {
            Err(broken_trust(file, "is of another version".to_owned()))
        } else {
            Ok(store)
        }
    }

    fn holds(&self, path: &Path, sha256: &Sha256) -> bool {
        self.files
            .iter()
            .any(|e| e.path == path && e.sha256 == *sha256)
    }
}

/// The failure for a trust file that cannot be used.
fn broken_trust(file: &Path, why: String) -> Failure {
    Failure::new(
        ErrorCode::ConfigError,
        format!("the trust file {} {why}", file.display()),
    )
    .with_command(format!(
        "mv {0} {0}.damaged && local-agent config trust (in each folder that you trust)",
        quoted(file)
    ))
}

/// Records that the operator trusts the current content of `file`; returns the recorded SHA-256. An
/// earlier entry for the same file is replaced. The store is written completely or not at all.
///
/// # Errors
/// `CONFIG_ERROR` when `file` or the store cannot be read, `WRITE_ERROR` when the store cannot be
/// written.
pub fn trust(store: &Path, file: &Path) -> Result<Sha256> {
    let path = canonical(file)?;
    let sha256 = Sha256::of(&read(&path)?);
    let mut held = Store::read(store)?;
    held.files.retain(|e| e.path != path);
    held.files.push(Entry { path, sha256 });
    write(store, &held).map_err(|e| {
        Failure::new(
            ErrorCode::WriteError,
            format!(
                "the trust file {} could not be written: {e}",
                store.display()
            ),
        )
    })?;
    Ok(sha256)
}

/// Whether the operator trusts exactly the current bytes of `file`.
///
/// # Errors
/// `CONFIG_ERROR` when `file` or the store cannot be read.
pub fn is_trusted(store: &Path, file: &Path) -> Result<bool> {
    let path = canonical(file)?;
    holds(store, &path, &read(&path)?)
}

/// Whether the store has an entry for `file` with these bytes. They are the bytes that are parsed,
/// so the file cannot change in between.
pub(super) fn holds(store: &Path, file: &Path, bytes: &[u8]) -> Result<bool> {
    Ok(Store::read(store)?.holds(&canonical(file)?, &Sha256::of(bytes)))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    raw::read_file(file, raw::MAX_FILE_BYTES).map_err(|why| raw::unreadable(file, &why))
}

fn canonical(file: &Path) -> Result<PathBuf> {
    file.canonicalize()
        .map_err(|e| raw::unreadable(file, &format!("cannot be read: {e}")))
}

fn write(file: &Path, store: &Store) -> std::io::Result<()> {
    let folder = file
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // A new file is readable only by its owner; renaming it over the old one is atomic.
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut new, store)?;
    new.write_all(b"\n")?;
    new.as_file().sync_all()?;
    new.persist(file).map_err(|e| e.error)?;
    Ok(())
}

/// A request in a file that needs the operator's trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub key: &'static str,
    pub line: u32,
    pub what: String,
}

/// The keys that name folders whose files may be read.
const SOURCES: &str = "sources";
const ROOTS: &str = "security.allowed_roots";

/// A file that was found in a workroot, and what it is judged by.
pub(super) struct JudgedFile<'a> {
    /// The keys of the file.
    pub layer: &'a [Typed],
    /// The values without this file: the defaults and the user's own.
    pub below: &'a Values,
    /// The folder of the file.
    pub folder: &'a Path,
    /// The meaning of `~`.
    pub home: Option<&'a Path>,
    /// Whether the file was found by walking up. A file whose folder the operator named may reach
    /// further, but must not disable the two outermost restrictions.
    pub found: bool,
    /// Whether the model server in force, with this file, is on another machine.
    pub is_server_far: bool,
}

/// The requests of an untrusted file that go beyond its own folder, and beyond the layers below it.
pub(super) fn faults(file: &JudgedFile<'_>) -> Vec<Fault> {
    let mut out = Vec::new();
    for typed in file.layer {
        let line = if let Origin::File { line, .. } = typed.origin {
            line
        } else {
            0
        };
        let key = typed.key.path;
        let whats = match (key, &typed.val) {
            ("security.roots_must_be_within_security_root", Val::Bool(false))
            | ("security.allow_any_path", Val::Bool(true)) => {
                vec![(line, format!("sets `{key}`"))]
            }
            _ if file.found => file.reaches_out(typed, line),
            _ => Vec::new(),
        };
        out.extend(
            whats
                .into_iter()
                .map(|(line, what)| Fault { key, line, what }),
        );
    }
    out
}

impl JudgedFile<'_> {
    /// All ways in which one key opens more than an untrusted file may, each with its line.
    fn reaches_out(&self, typed: &Typed, line: u32) -> Vec<(u32, String)> {
        let key = typed.key.path;
        let Some(leave) = untrusted::leave(key) else {
            return vec![(line, format!("sets `{key}`"))];
        };
        if leave == UntrustedLimit::Inside {
            return self.places_outside(typed, line);
        }
        let what = match &typed.val {
            Val::Bool(on) => self.switch(key, *on, leave),
            Val::Int(number) => self.number(key, *number, leave),
            Val::Text(word) => self.word(key, word, leave),
            Val::List(items) => self.entries(key, items, leave),
            Val::Float(_) | Val::Sources(_) if leave == UntrustedLimit::Any => None,
            Val::Float(_) | Val::Sources(_) => Some(format!("sets `{key}`")),
        };
        what.map(|what| (line, what)).into_iter().collect()
    }

    /// The places of a key that are outside the folder.
    fn places_outside(&self, typed: &Typed, line: u32) -> Vec<(u32, String)> {
        let key = typed.key.path;
        match &typed.val {
            Val::Text(text) if typed.key.kind.is_place(text) && self.is_outside(text) => {
                vec![(line, format!("`{key}` is outside its folder"))]
            }
            Val::List(items) => items
                .iter()
                .filter(|item| self.is_outside(&item.text))
                .map(|item| {
                    let what = format!("an entry of `{key}` is outside its folder");
                    (item.line, what)
                })
                .collect(),
            Val::Sources(sources) => sources
                .iter()
                .filter(|source| self.is_outside(&source.root.text))
                .map(source_outside)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What is wrong with a switch.
    fn switch(&self, key: &str, on: bool, leave: UntrustedLimit) -> Option<String> {
        let is_as_below = self.below.bool(key).is_ok_and(|below| below == on);
        let may = match leave {
            UntrustedLimit::Any => true,
            UntrustedLimit::Switch(safe) => on == safe || is_as_below,
            UntrustedLimit::SwitchUnlessTyped(safe) => {
                on == safe || is_as_below || !self.is_typed(key)
            }
            _ => false,
        };
        let state = if on { "on" } else { "off" };
        (!may).then(|| format!("`{key}` is {state}"))
    }

    /// What is wrong with a number.
    fn number(&self, key: &str, number: i64, leave: UntrustedLimit) -> Option<String> {
        let is_more = !self.below.int(key).is_ok_and(|below: i64| number <= below);
        let may = match leave {
            UntrustedLimit::Any => true,
            UntrustedLimit::NotMore => !is_more,
            UntrustedLimit::NotMoreUnlessTyped => !is_more || !self.is_typed(key),
            _ => false,
        };
        (!may).then(|| format!("`{key}` is raised"))
    }

    /// What is wrong with a word.
    fn word(&self, key: &str, word: &str, leave: UntrustedLimit) -> Option<String> {
        let below = self.below.opt_text(key);
        let is_as_below = below == Some(word);
        let may = match leave {
            UntrustedLimit::Any => true,
            UntrustedLimit::Word(safe) => word == safe || is_as_below,
            UntrustedLimit::Stricter => {
                below.is_some_and(|before| strictness_of(word) >= strictness_of(before))
            }
            UntrustedLimit::ThisMachine => {
                let is_far = is_far(word);
                return is_far.then(|| format!("`{key}` is another machine"));
            }
            UntrustedLimit::NearModel => is_as_below || !is_cloud_model(word),
            UntrustedLimit::NearServer(safe) => {
                let is_near = !self.is_server_far && !is_cloud_model(word);
                if is_near || safe == Some(word) || is_as_below {
                    return None;
                }
                return Some(format!("`{key}` sends text to another machine"));
            }
            _ => false,
        };
        (!may).then(|| format!("`{key}` is `{}`", raw::shown(word)))
    }

    /// What is wrong with a list.
    fn entries(&self, key: &str, items: &[Item], leave: UntrustedLimit) -> Option<String> {
        let below = self.below.list(key);
        if leave == UntrustedLimit::More {
            let missing = absent(below, items);
            return (!missing.is_empty()).then(|| format!("`{key}` lacks {missing}"));
        }
        let may = match leave {
            UntrustedLimit::Any => true,
            UntrustedLimit::OwnSources => self.has_only_own(SOURCES),
            UntrustedLimit::OwnFilesUnlessTyped => {
                let only_own = self.has_only_own(SOURCES) && self.has_only_own(ROOTS);
                only_own && !self.is_typed(key)
            }
            _ => false,
        };
        let added = absent(items, below);
        (!may && !added.is_empty()).then(|| format!("`{key}` adds {added}"))
    }

    /// Whether the user typed a value. A default is the program's choice.
    fn is_typed(&self, key: &str) -> bool {
        self.below.origin(key) != Origin::Default
    }

    /// Whether no folders of the user's own configuration are in force under this key.
    fn has_only_own(&self, key: &str) -> bool {
        self.layer.iter().any(|typed| typed.key.path == key) || !self.is_typed(key)
    }

    /// Whether a place is not below the folder.
    fn is_outside(&self, text: &str) -> bool {
        !places::expand(text, self.folder, self.home)
            .is_ok_and(|path| places::is_inside(&path, self.folder))
    }
}

/// The fault of a source outside the file's folder.
fn source_outside(source: &super::sources::TypedSource) -> (u32, String) {
    let what = format!("the source `{}` is outside its folder", source.name);
    (source.root.line, what)
}

/// The strictness of a rule; a greater number is stricter.
fn strictness_of(word: &str) -> Option<usize> {
    ["allow", "ask", "deny"].iter().position(|w| *w == word)
}

/// The entries of `wanted` that are not in `items`, ignoring case, as text.
fn absent(wanted: &[Item], items: &[Item]) -> String {
    wanted
        .iter()
        .filter(|name| is_missing(items, name))
        .map(|i| format!("`{}`", raw::shown(&i.text)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether no item has this text, ignoring case.
fn is_missing(items: &[Item], name: &Item) -> bool {
    !items
        .iter()
        .any(|i| i.text.eq_ignore_ascii_case(&name.text))
}

/// The failure `CONFIG_UNTRUSTED` with every line that needs trust.
pub(super) fn untrusted(file: &Path, faults: &[Fault]) -> Failure {
    let lines: Vec<_> = faults
        .iter()
        .map(|f| format!("line {} ({})", f.line, f.what))
        .collect();
    let message = format!(
        "{} asks for more than its own folder: {}",
        file.display(),
        lines.join(", ")
    );
    Failure::new(ErrorCode::ConfigUntrusted, message)
        .with_command("read those lines; if you agree to them, run `local-agent config trust`")
}
