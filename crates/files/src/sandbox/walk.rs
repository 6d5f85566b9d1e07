//! Walks a root: lists every document below it through handles, each with its stamp or with the
//! reason why it is left out. Links are never followed here, not even with `follow_links: inside`:
//! the target of such a link is under the same root and is found under its own name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirEntry, FileType};
use rayon::slice::ParallelSliceMut as _;

use super::Sandbox;
use super::disks::{Disks, Mount, mount_of};
use super::ignores::{FILES, Ignores};
use super::place::{OpenRoot, admit};
use super::policy::{Denied, MAX_DEPTH, MAX_PATH_BYTES, Policy, fold, has_extension};
use super::refusal::{Refusal, RefusalReason};
use super::request::RootText;
use super::selection::NOTE_EXTENSIONS;
use local_agent_extract::readable;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{FileStamp, RelPath, SkipReason, SourceName, percent_encode};

/// Number of entries of one folder that one thread processes in a row.
const CHUNK: usize = 1024;

/// An entry that a walk found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path below the root. For [`SkipReason::BadName`] a name for display: bytes that are not
    /// possible in a path are percent-encoded.
    pub path: RelPath,
    /// The kind of entry.
    pub what: WalkOutcome,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkOutcome {
    /// A document that can be read.
    Found(FileStamp),
    /// A document that is not read, or a folder that was not searched, and why.
    Skipped(SkipReason),
}

impl Sandbox {
    /// Lists the documents of one root whose extension is in `exts` (with the dot, any case),
    /// sorted by the bytes of their paths.
    ///
    /// It silently skips other extensions, hidden names, `.obsidian`, `.trash`, and names that
    /// `.gitignore`, `.ignore` or `.local-agentignore` leave out. Everything else that is not read
    /// is listed with its reason: files with such an extension, every symbolic link (it may be a
    /// folder), folders that are denied or cannot be listed. If a folder is listed as
    /// [`SkipReason::Unreadable`], the documents below it are unknown, which does not mean that
    /// they are gone.
    ///
    /// `CONFIG_ERROR` if the root is unknown or cannot be listed.
    pub fn walk(&self, source: &SourceName, exts: &[&str]) -> Result<Vec<Entry>> {
        Ok(self.walked(source, exts)?.0)
    }

    /// The entries of [`Sandbox::walk`], and the disks on which the walk found them.
    fn walked(&self, source: &SourceName, exts: &[&str]) -> Result<(Vec<Entry>, Disks)> {
        let exts: Vec<String> = exts.iter().map(|e| e.to_lowercase()).collect();
        let at = self.listable(source)?;
        let (entries, disks) = self
            .open_root(at)
            .and_then(|open| walk(&open, Wanted::Extensions(&exts)))
            .map_err(|_| gone(source))?;
        Ok((self.drop_private(source, entries), disks))
    }

    /// Lists the documents of one root: notes, and files of the kinds that the root names. See
    /// [`Sandbox::walk`].
    ///
    /// `CONFIG_ERROR` if the root is unknown or cannot be listed.
    pub fn documents(&self, source: &SourceName) -> Result<Vec<Entry>> {
        Ok(self.documents_and_disks(source)?.0)
    }

    /// Lists the documents of one root like [`Sandbox::documents`], and the disks they are on.
    ///
    /// `CONFIG_ERROR` if the root is unknown or cannot be listed.
    pub fn documents_and_disks(&self, source: &SourceName) -> Result<(Vec<Entry>, Disks)> {
        let exts = self.document_extensions(source);
        self.walked(source, &exts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Whether a walk of a root does not enter a folder that is there: because of a link, a name that is
    /// denied or hidden, an ignore file, or the selection of the root. A folder that is missing, or
    /// cannot be looked for, is not left out.
    pub fn leaves_out(&self, source: &SourceName, folder: &RelPath) -> bool {
        self.is_not_entered(source, folder).unwrap_or(false)
    }

    /// [`Sandbox::leaves_out`]; `None` if a folder on the way cannot be listed.
    fn is_not_entered(&self, source: &SourceName, folder: &RelPath) -> Option<bool> {
        let open = self.open_root(self.listable(source).ok()?).ok()?;
        let mut parent: Option<RelPath> = None;
        for name in folder.segments() {
            let path = match &parent {
                Some(parent) => format!("{parent}/{name}"),
                None => name.to_owned(),
            };
            let here = RelPath::new(path).ok()?;
            let (_, folders) = Walk::of(&open, &[]).one(parent.as_ref()).ok()?;
            if !folders.contains(&here) {
                return Some(open.dir.symlink_metadata(here.as_str()).is_ok());
            }
            parent = Some(here);
        }
        Some(false)
    }

    /// Lists all readable files below one root. See [`Sandbox::walk`].
    ///
    /// `CONFIG_ERROR` if the root is unknown or cannot be listed.
    pub fn readable(&self, source: &SourceName) -> Result<Vec<Entry>> {
        let at = self.listable(source)?;
        self.walk(
            source,
            &self.policy().extensions(&self.inner.texts[at].extensions),
        )
    }

    /// The extensions of documents below a root, in lower case with their dots.
    fn document_extensions(&self, source: &SourceName) -> Vec<String> {
        let more = self
            .inner
            .named
            .get(source)
            .map(|at| &self.inner.texts[*at].extensions);
        let notes = NOTE_EXTENSIONS.iter().map(|ext| (*ext).to_owned());
        notes.chain(more.into_iter().flatten().cloned()).collect()
    }

    /// The number of files of one root that are not documents, by extension in lower case with its
    /// dot. The empty extension counts files without one. Files that [`Sandbox::walk`] skips for
    /// another reason are not counted.
    ///
    /// `CONFIG_ERROR` if the root is unknown or cannot be listed.
    pub fn other_kinds(&self, source: &SourceName) -> Result<BTreeMap<String, u64>> {
        let exts = self.document_extensions(source);
        let at = self.listable(source)?;
        self.open_root(at)
            .and_then(|open| other_kinds(&open, &exts))
            .map_err(|_| gone(source))
    }

    /// The index of a root that exists and can be listed.
    fn listable(&self, source: &SourceName) -> Result<usize> {
        let Some(at) = self.roots().iter().position(|r| r.name == *source) else {
            return Err(unlisted(format!("No source is called `{source}`.")));
        };
        match &self.roots()[at].unavailable {
            None => Ok(at),
            Some(reason) => Err(unlisted(format!(
                "The folder of `{source}` cannot be opened: {reason}."
            ))),
        }
    }
}

fn unlisted(what: String) -> Failure {
    Failure::new(ErrorCode::ConfigError, what).with_command("local-agent config show")
}

fn gone(source: &SourceName) -> Failure {
    unlisted(format!(
        "The folder of `{source}` is gone or cannot be listed."
    ))
}

fn other_kinds(
    root: &OpenRoot<'_>,
    exts: &[String],
) -> std::result::Result<BTreeMap<String, u64>, Refusal> {
    let walk = Walk {
        others: Some(Mutex::default()),
        ..Walk::of(root, exts)
    };
    let top = walk.list(String::new(), 0, None)?;
    rayon::scope(|scope| walk.look_through(scope, top));
    let others = walk.others.unwrap_or_default();
    Ok(others.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Every readable file below a root whose folded name is `folded`.
pub(super) fn named(root: &OpenRoot<'_>, folded: &str) -> std::result::Result<Vec<Entry>, Refusal> {
    let (mut entries, _) = walk(root, Wanted::Name(folded))?;
    entries.retain(is_in_folder);
    Ok(entries)
}

/// Whether the entry is a file that exists, even if it is not read.
fn is_in_folder(entry: &Entry) -> bool {
    match entry.what {
        WalkOutcome::Found(_) => true,
        WalkOutcome::Skipped(reason) => {
            matches!(reason, SkipReason::TooLarge | SkipReason::NotBuilt)
        }
    }
}

/// The files to list.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Extensions(&'a [String]),
    Name(&'a str),
}

impl Wanted<'_> {
    fn takes(self, name: &str) -> bool {
        match self {
            Self::Extensions(exts) => exts.iter().any(|ext| has_extension(name, ext)),
            Self::Name(folded) => fold(name) == folded,
        }
    }
}

pub(super) struct Walk<'a> {
    root: &'a Dir,
    text: &'a RootText,
    policy: &'a Policy,
    wanted: Wanted<'a>,
    out: Mutex<Vec<Entry>>,
    /// The folders at which something is mounted, with their devices.
    mounted: Mutex<BTreeMap<RelPath, u64>>,
    /// The counts of files of other kinds; `None` if these are not counted.
    others: Option<Mutex<BTreeMap<String, u64>>>,
}

/// A folder that is being processed. It is closed after its last chunk.
struct OpenFolder {
    /// Its path with a trailing slash; empty for the root.
    prefix: String,
    depth: usize,
    entries: Vec<DirEntry>,
    ignores: Option<Arc<Ignores>>,
    mount: Option<Mount>,
}

fn walk(
    root: &OpenRoot<'_>,
    wanted: Wanted<'_>,
) -> std::result::Result<(Vec<Entry>, Disks), Refusal> {
    // A folder that was removed while it is open is listed as empty. That must not look like a
    // vault without files.
    #[cfg(unix)]
    if root
        .dir
        .dir_metadata()
        .is_ok_and(|meta| cap_fs_ext::MetadataExt::nlink(&meta) == 0)
    {
        return Err(Refusal::Unseen(RefusalReason::Missing));
    }
    let walk = Walk {
        root: root.dir,
        text: root.text,
        policy: root.policy,
        wanted,
        out: Mutex::default(),
        mounted: Mutex::default(),
        others: None,
    };
    let top = walk.list(String::new(), 0, None)?;
    let device = top.mount.map(|mount| mount.device);
    // Jobs on the pool never wait for each other, so the number of open handles grows with depth,
    // not with the number of folders.
    rayon::scope(|scope| walk.look_through(scope, top));
    let mut entries = walk
        .out
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    // Found sorts before skipped, so of two entries with the same path the skipped one is removed.
    entries.par_sort_unstable_by(|a, b| {
        (a.path.as_str(), matches!(a.what, WalkOutcome::Skipped(_)))
            .cmp(&(b.path.as_str(), matches!(b.what, WalkOutcome::Skipped(_))))
    });
    entries.dedup_by(|later, first| later.path == first.path);
    let mounted = walk.mounted.into_inner();
    let disks = Disks {
        root: device,
        mounted: mounted.unwrap_or_else(PoisonError::into_inner),
    };
    Ok((entries, disks))
}

impl<'a> Walk<'a> {
    /// A walk that has not begun: [`Walk::one`] lists one folder of it.
    pub(super) fn of(root: &'a OpenRoot<'a>, exts: &'a [String]) -> Self {
        let wanted = Wanted::Extensions(exts);
        Self {
            root: root.dir,
            text: root.text,
            policy: root.policy,
            wanted,
            out: Mutex::default(),
            mounted: Mutex::default(),
            others: None,
        }
    }

    /// The entries and subfolders that a walk would find directly in one folder. The ignore files
    /// of the folders above apply to its contents, but not to `folder` itself, because it was
    /// requested explicitly.
    pub(super) fn one(
        self,
        folder: Option<&RelPath>,
    ) -> std::result::Result<(Vec<Entry>, Vec<RelPath>), Refusal> {
        let mut here = self.list(String::new(), 0, None)?;
        let mut prefix = String::new();
        for (depth, name) in folder.into_iter().flat_map(RelPath::segments).enumerate() {
            prefix = format!("{prefix}{name}/");
            here = self.list(prefix.clone(), depth + 1, here.ignores.clone())?;
        }
        let (mut entries, mut folders) = (Vec::new(), Vec::new());
        for entry in &here.entries {
            match self.classify(&here, entry) {
                Seen::Nothing => {}
                Seen::Entry(entry) => entries.push(entry),
                Seen::Folder(prefix) => folders.extend(RelPath::new(prefix.trim_end_matches('/'))),
            }
        }
        Ok((entries, folders))
    }
}

impl Walk<'_> {
    /// Processes a folder's entries in chunks; subfolders of `folder` become further jobs.
    fn look_through<'s>(&'s self, scope: &rayon::Scope<'s>, folder: OpenFolder) {
        let folder = Arc::new(folder);
        for start in (CHUNK..folder.entries.len()).step_by(CHUNK) {
            let folder = Arc::clone(&folder);
            scope.spawn(move |scope| self.look_at(scope, &folder, start));
        }
        self.look_at(scope, &folder, 0);
    }

    fn look_at<'s>(&'s self, scope: &rayon::Scope<'s>, folder: &OpenFolder, start: usize) {
        let end = folder.entries.len().min(start + CHUNK);
        let mut found = Vec::with_capacity(end - start);
        for entry in &folder.entries[start..end] {
            match self.classify(folder, entry) {
                Seen::Nothing => {}
                Seen::Entry(entry) => found.push(entry),
                Seen::Folder(prefix) => {
                    let (depth, ignores) = (folder.depth + 1, folder.ignores.clone());
                    let above = folder.mount;
                    scope.spawn(move |scope| self.go_into(scope, prefix, depth, ignores, above));
                }
            }
        }
        self.put(found);
    }

    fn go_into<'s>(
        &'s self,
        scope: &rayon::Scope<'s>,
        prefix: String,
        depth: usize,
        ignores: Option<Arc<Ignores>>,
        above: Option<Mount>,
    ) {
        let path = prefix.trim_end_matches('/').to_owned();
        match self.list(prefix, depth, ignores) {
            Ok(folder) => {
                self.note_mount(&path, folder.mount, above);
                self.look_through(scope, folder);
            }
            Err(refusal) => self.put(skipped(path, &refusal).into_iter().collect()),
        }
    }

    /// Notes a folder at which something is mounted, given where it and the folder above it lie.
    fn note_mount(&self, path: &str, here: Option<Mount>, above: Option<Mount>) {
        let Some(here) = here else { return };
        let is_mounted = here.is_root || above.is_some_and(|above| above.device != here.device);
        if is_mounted && let Ok(path) = RelPath::new(path.to_owned()) {
            let mut mounted = self.mounted.lock().unwrap_or_else(PoisonError::into_inner);
            mounted.insert(path, here.device);
        }
    }

    fn put(&self, mut entries: Vec<Entry>) {
        self.out
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut entries);
    }

    /// Opens a folder from the root down and reads its names and its ignore files.
    fn list(
        &self,
        prefix: String,
        depth: usize,
        above: Option<Arc<Ignores>>,
    ) -> std::result::Result<OpenFolder, Refusal> {
        let mut opened: Option<Dir> = None;
        for name in prefix.split_terminator('/') {
            let here = opened.as_ref().unwrap_or(self.root);
            opened = Some(
                here.open_dir_nofollow(name)
                    .map_err(|e| Refusal::of_lookup(&e))?,
            );
        }
        let dir = opened.as_ref().unwrap_or(self.root);
        let mut entries = Vec::new();
        let mut present = Vec::new();
        for entry in dir.entries().map_err(|e| Refusal::of_lookup(&e))? {
            // A listing that fails half-way must not look like a shorter folder.
            let entry = entry.map_err(|e| Refusal::of_lookup(&e))?;
            let name = entry.file_name();
            if let Some(file) = FILES
                .iter()
                .find(|f| name.as_encoded_bytes() == f.as_bytes())
            {
                present.push(*file);
            }
            entries.push(entry);
        }
        let (ignores, refused) = if present.is_empty() {
            (above, Vec::new())
        } else {
            Ignores::extend(above, dir, &prefix, &present, self.policy)
        };
        self.put(
            refused
                .iter()
                .filter_map(|(name, r)| skipped(format!("{prefix}{name}"), r))
                .collect(),
        );
        Ok(OpenFolder {
            prefix,
            depth,
            entries,
            ignores,
            mount: mount_of(dir),
        })
    }

    /// Counts a file of another kind, if these are counted and the file is not skipped.
    fn count_other(&self, folder: &OpenFolder, name: &str) {
        let Some(others) = &self.others else { return };
        // The program's own configuration file and its backup copy.
        if name.starts_with("local-agent.yaml") {
            return;
        }
        let path = format!("{}{name}", folder.prefix);
        let ignored = folder.ignores.as_ref();
        if self.policy.is_passed_by(name) || ignored.is_some_and(|i| i.leaves_out(&path, false)) {
            return;
        }
        if RelPath::new(path).is_ok_and(|path| !self.text.selection.takes(&path)) {
            return;
        }
        let ext = name
            .rsplit_once('.')
            .map_or_else(String::new, |(_, ext)| format!(".{}", ext.to_lowercase()));
        let mut others = others.lock().unwrap_or_else(PoisonError::into_inner);
        *others.entry(ext).or_default() += 1;
    }

    fn classify(&self, folder: &OpenFolder, entry: &DirEntry) -> Seen {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return self.badly_named(folder, entry, name.as_encoded_bytes());
        };
        let Ok(kind) = kind_of(entry) else {
            return Seen::Nothing;
        };
        if kind == Kind::Other && !self.wanted.takes(name) {
            self.count_other(folder, name);
            return Seen::Nothing;
        }
        if self.policy.is_passed_by(name) {
            return Seen::Nothing;
        }
        let Ok(path) = RelPath::new(format!("{}{name}", folder.prefix)) else {
            return self.badly_named(folder, entry, name.as_bytes());
        };
        if folder
            .ignores
            .as_ref()
            .is_some_and(|i| i.leaves_out(path.as_str(), kind == Kind::Folder))
        {
            return Seen::Nothing;
        }
        if !self.is_selected(&path, kind) {
            return Seen::Nothing;
        }
        match kind {
            Kind::Link => not_read(path, SkipReason::Symlink),
            Kind::Folder if self.check_name(name).is_err() || self.text.holds_own_state(&path) => {
                not_read(path, SkipReason::Denied)
            }
            Kind::Folder if folder.depth + 1 >= MAX_DEPTH => not_read(path, SkipReason::Unreadable),
            Kind::Folder => Seen::Folder(path.as_str().to_owned() + "/"),
            Kind::Other if !self.is_allowed(name, &path) => not_read(path, SkipReason::Denied),
            Kind::Other => self.stat(path, entry),
        }
    }

    /// Whether the root's selection admits an entry.
    fn is_selected(&self, path: &RelPath, kind: Kind) -> bool {
        match kind {
            Kind::Folder => !self.text.selection.leaves_out_folder(path),
            _ => self.text.selection.takes(path),
        }
    }

    /// [`RootText::check`] for a file in a folder that was already allowed: only the name of the
    /// file itself must still be checked.
    fn is_allowed(&self, name: &str, path: &RelPath) -> bool {
        path.as_str().len() <= MAX_PATH_BYTES
            && self.check_name(name).is_ok()
            && self
                .policy
                .check_extension(name, &self.text.extensions)
                .is_ok()
            && !self.text.holds_own_state(path)
    }

    fn check_name(&self, name: &str) -> std::result::Result<(), Denied> {
        self.policy.check_name(name, &self.text.extensions)
    }

    fn stat(&self, path: RelPath, entry: &DirEntry) -> Seen {
        let meta = entry.metadata().map_err(|e| Refusal::of_lookup(&e));
        match meta.and_then(|meta| admit(&meta, self.policy)) {
            Ok(_) if readable(path.as_str()).is_err() => Seen::Entry(Entry {
                path,
                what: WalkOutcome::Skipped(SkipReason::NotBuilt),
            }),
            Ok(stamp) => Seen::Entry(Entry {
                path,
                what: WalkOutcome::Found(stamp),
            }),
            Err(refusal) => refusal.as_skipped().map_or(Seen::Nothing, |reason| {
                Seen::Entry(Entry {
                    path,
                    what: WalkOutcome::Skipped(reason),
                })
            }),
        }
    }

    /// The result for a name that cannot be part of a path. It is listed under a name for display
    /// if a valid name of this kind would be listed.
    fn badly_named(&self, folder: &OpenFolder, entry: &DirEntry, name: &[u8]) -> Seen {
        let is_wanted = match kind_of(entry) {
            Ok(Kind::Other) => self.wanted.takes(&String::from_utf8_lossy(name)),
            Ok(_) => matches!(self.wanted, Wanted::Extensions(_)),
            Err(_) => false,
        };
        if !is_wanted || name.starts_with(b".") {
            return Seen::Nothing;
        }
        RelPath::new(format!("{}{}", folder.prefix, shown(name))).map_or(Seen::Nothing, |path| {
            Seen::Entry(Entry {
                path,
                what: WalkOutcome::Skipped(SkipReason::BadName),
            })
        })
    }
}

/// An entry that is not read, with the reason.
fn not_read(path: RelPath, reason: SkipReason) -> Seen {
    Seen::Entry(Entry {
        path,
        what: WalkOutcome::Skipped(reason),
    })
}

/// The result for one entry of a folder.
enum Seen {
    Nothing,
    Entry(Entry),
    /// Its path with a trailing slash.
    Folder(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    Link,
    /// A file, or something else.
    Other,
}

/// The kind as the listing itself reports it; the entry's metadata is read only if the listing does
/// not report it.
fn kind_of(entry: &DirEntry) -> std::io::Result<Kind> {
    let mut kind = entry.file_type()?;
    if kind == FileType::unknown() {
        kind = entry.metadata()?.file_type();
    }
    Ok(if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    })
}

fn skipped(path: String, refusal: &Refusal) -> Option<Entry> {
    let reason = refusal.as_skipped()?;
    RelPath::new(path).ok().map(|path| Entry {
        path,
        what: WalkOutcome::Skipped(reason),
    })
}

/// A name for display: readable parts unchanged, the rest as `%XX`.
fn shown(name: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        out.push_str(&percent_encode(chunk.valid(), "%\\"));
        for byte in chunk.invalid() {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
