//! Records which configuration files found by walking up are trusted, and finds the requests that
//! an untrusted file must not make.
//!
//! A file that came with somebody else's folder is data. It may name sources below itself and tune
//! the search. It must not open anything outside its folder, loosen the sandbox, or send text to
//! another machine. Trust applies to the exact bytes: after every edit the user must give it again.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::findings::Origin;
use super::keys::Kind;
use super::raw;
use super::typed::{Item, Typed, Val};
use super::values::Values;
use super::{keys, places};
use local_agent_files::state::quoted;
use local_agent_net::ServerUrl;
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
    .with_hint(format!(
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

/// The requests of an untrusted file that go beyond its own folder, and beyond the layers below it.
/// With `found`, the file was found by walking up. A file whose folder the operator named may reach
/// further, but must not disable the two outermost restrictions.
pub(super) fn faults(
    layer: &[Typed],
    below: &Values,
    folder: &Path,
    home: Option<&Path>,
    found: bool,
) -> Vec<Fault> {
    let mut out = Vec::new();
    for typed in layer {
        let line = if let Origin::File { line, .. } = typed.origin {
            line
        } else {
            0
        };
        let mut fault = |line: u32, what: String| {
            out.push(Fault {
                key: typed.key.path,
                line,
                what,
            });
        };
        match (typed.key.path, &typed.val) {
            ("security.roots_must_be_within_security_root", Val::Bool(false))
            | ("security.allow_any_path", Val::Bool(true)) => {
                fault(line, format!("sets `{}`", typed.key.path));
            }
            _ if found => {
                for (line, what) in reaches_out(typed, line, below, folder, home) {
                    fault(line, what);
                }
            }
            _ => {}
        }
    }
    out
}

/// All ways in which one key reaches outside `folder`, with its line.
fn reaches_out(
    typed: &Typed,
    line: u32,
    below: &Values,
    folder: &Path,
    home: Option<&Path>,
) -> Vec<(u32, String)> {
    let key = typed.key.path;
    match (key, &typed.val) {
        // The location of the workroot is decided before this file is read.
        ("workroot", _) => Vec::new(),
        (_, Val::Text(text))
            if typed.key.kind.is_place(text) && leads_outside(folder, home, text) =>
        {
            vec![(line, format!("`{key}` is outside its folder"))]
        }
        (_, Val::List(items)) if typed.key.kind == Kind::Paths => items
            .iter()
            .filter(|item| leads_outside(folder, home, &item.text))
            .map(|item| {
                (
                    item.line,
                    format!("an entry of `{key}` is outside its folder"),
                )
            })
            .collect(),
        (_, Val::Sources(sources)) => sources
            .iter()
            .filter(|source| leads_outside(folder, home, &source.root.text))
            .map(source_outside)
            .collect(),
        ("llm.base_url", Val::Text(url))
            if ServerUrl::parse(url).is_ok_and(|url| !url.is_loopback()) =>
        {
            vec![(line, "`llm.base_url` is another machine".to_owned())]
        }
        (_, Val::Text(word)) if typed.key.kind == keys::RULES => {
            let looser = below
                .text(key)
                .is_ok_and(|before| strictness_of(word) < strictness_of(before));
            Vec::from_iter(looser.then(|| (line, format!("`{key}` is `{word}`"))))
        }
        ("tools.max_writes", Val::Int(most))
            if below.int(key).is_ok_and(|before: i64| *most > before) =>
        {
            vec![(line, format!("`{key}` is raised"))]
        }
        ("security.deny_names", Val::List(items)) => {
            let missing = absent(below.list(key), items);
            let lacks = !missing.is_empty();
            Vec::from_iter(lacks.then(|| (line, format!("`{key}` lacks {missing}"))))
        }
        // A default is the program's choice; a value that the user typed is the user's choice.
        ("security.allowed_exts", Val::List(items)) if below.origin(key) != Origin::Default => {
            let added = absent(items, below.list(key));
            let adds = !added.is_empty();
            Vec::from_iter(adds.then(|| (line, format!("`{key}` adds {added}"))))
        }
        (_, Val::Bool(false)) if protects(key, below) => {
            vec![(line, format!("`{key}` is off"))]
        }
        (_, Val::Text(word)) if follows_links(key, word) => {
            vec![(line, format!("`{key}` is `{word}`"))]
        }
        _ => Vec::new(),
    }
}

/// Whether a switch protects the user while it is on.
fn protects(key: &str, below: &Values) -> bool {
    match key {
        "ask.strict" => below.bool(key).is_ok_and(|strict| strict),
        "security.deny_hidden_paths" | "security.deny_absolute_paths" | "runs.enabled" => true,
        _ => false,
    }
}

/// Whether a value lets links lead to other files.
fn follows_links(key: &str, word: &str) -> bool {
    match key {
        "security.hard_links" => word != "deny",
        "security.follow_links" => word != "never",
        _ => false,
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

/// Whether a place is not below the folder.
fn leads_outside(folder: &Path, home: Option<&Path>, text: &str) -> bool {
    !places::expand(text, folder, home).is_ok_and(|path| places::is_inside(&path, folder))
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
        .with_hint("read those lines; if you agree to them, run `local-agent config trust`")
}
