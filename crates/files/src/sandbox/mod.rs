//! The only code that opens files below users' roots.
//!
//! A [`Sandbox`] is built once, from roots that an operator named, and cannot be widened. A request
//! is checked twice: by its text and the policy alone (`PATH_DENIED`, before any system call), then
//! on the way down from the root's handle, one name at a time. Every error that depends on the disk
//! has the same wording (`FILE_NOT_FOUND`), so no reply reveals anything about files outside the
//! roots.

mod change;
mod confine;
mod disks;
mod ignores;
mod list;
mod named;
mod place;
mod policy;
mod private;
mod refusal;
mod request;
mod selection;
mod walk;

#[cfg(all(test, unix))]
mod attacks;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use local_agent_extract::text_of;
use local_agent_text::documents::CODE_EXTENSIONS;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{FileStamp, RelPath, SkipReason, SourceName};

pub use confine::{Confinement, Places, confine, confinement_offered, run_confined};
pub use disks::Disks;
pub use list::{Folder, Listed};
pub use local_agent_extract::readable;
pub use policy::{FollowLinks, HardLinks, Policy, Security};
pub use private::PrivateNotes;
pub use refusal::RefusalReason;
pub use selection::{NOTE_EXTENSIONS, Selection};
pub use walk::{Entry, WalkOutcome};

use place::OpenRoot;
use policy::{Denied, names_of};
use refusal::Refusal;
use request::{Candidate, RootText};

/// Maximum number of candidates that `AMBIGUOUS_PATH` lists.
const MAX_LISTED: usize = 10;

/// A root as the configuration names it.
#[derive(Debug, Clone)]
pub struct RootSpec {
    /// The part of an address before the colon; unique.
    pub name: SourceName,
    /// An absolute path.
    pub path: PathBuf,
    /// A free-form label shown with each hit.
    pub kind: String,
    /// Whether source files below it ([`CODE_EXTENSIONS`]) are documents, and may be read even if
    /// `allowed_exts` does not list their extension.
    pub code: bool,
    /// Which of its files are visible to this program.
    pub selection: Selection,
}

/// A root after the attempt to open it.
#[derive(Debug)]
pub struct Root {
    /// The part of an address before the colon.
    pub name: SourceName,
    /// An absolute path, with links resolved if it could be opened.
    pub path: PathBuf,
    /// A free-form label shown with each hit.
    pub kind: String,
    /// Whether source files below it may be read.
    pub code: bool,
    /// Why nothing below it can be read, as the system reports it; `None` when it is open.
    pub unavailable: Option<String>,
    dir: Option<Dir>,
}

/// The address of a document: `source:rel/path.md`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The root's name.
    pub source: SourceName,
    /// The path below the root.
    pub path: RelPath,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.path)
    }
}

/// The bytes of a file, and its metadata just before it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The file's bytes, neither decoded nor changed. For a document whose bytes are not its text
    /// ([`documents::extracted`](local_agent_text::documents::extracted)), the extracted text.
    /// Every reader gets the same bytes, so hashes and spans mean the same to all.
    pub bytes: Vec<u8>,
    /// The metadata from the same handle, from before the first byte was read.
    pub stamp: FileStamp,
}

/// Why a file was not read.
#[derive(Debug, Clone)]
pub struct NotRead {
    /// The failure to report.
    pub failure: Failure,
    /// Why no text could be extracted from a document, if that is the reason.
    pub no_text: Option<SkipReason>,
}

impl NotRead {
    fn of(failure: Failure) -> Box<Self> {
        Box::new(Self {
            failure,
            no_text: None,
        })
    }
}

/// The text of a file, of at most the maximum size of a file.
fn words_of(path: &str, bytes: Vec<u8>, policy: &Policy) -> std::result::Result<Vec<u8>, Refusal> {
    text_of(path, bytes, policy.max_file_bytes).map_err(Refusal::NoText)
}

/// The handles of the roots, and the policy. Immutable; a clone shares the handles.
///
/// A root's handle stays with the folder it was opened on. So a process that runs for a long time
/// builds a new sandbox for each job, to notice a root that was moved away or mounted again.
#[derive(Debug, Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
    /// Set if private notes are withheld.
    private: Option<Arc<PrivateNotes>>,
}

#[derive(Debug)]
struct Inner {
    roots: Vec<Root>,
    /// The index of each root in `roots`, by name.
    named: HashMap<SourceName, usize>,
    texts: Vec<RootText>,
    base: Option<Vec<String>>,
    policy: Policy,
}

impl Sandbox {
    /// Opens every root. A root that cannot be opened is kept and marked unavailable.
    ///
    /// `CONFIG_ERROR` when a root's path is not absolute or two roots have the same name.
    pub fn open(roots: Vec<RootSpec>, policy: Policy) -> Result<Self> {
        Self::build(roots, policy, None)
    }

    /// Like [`Sandbox::open`], but requests may also be relative to `security_root`, an absolute
    /// path: if the text of `security_root/request` is below a root, that is one of the candidates.
    pub fn with_base(roots: Vec<RootSpec>, policy: Policy, security_root: &Path) -> Result<Self> {
        Self::build(roots, policy, Some(names_of(security_root)))
    }

    fn build(specs: Vec<RootSpec>, policy: Policy, base: Option<Vec<String>>) -> Result<Self> {
        let mut roots: Vec<Root> = Vec::with_capacity(specs.len());
        let mut texts = Vec::with_capacity(specs.len());
        let mut named = HashMap::with_capacity(specs.len());
        for spec in specs {
            let config_error = |what: String| {
                Failure::new(ErrorCode::ConfigError, what).with_command("local-agent config show")
            };
            if !spec.path.is_absolute() {
                return Err(config_error(format!(
                    "The root of `{}` is not an absolute path.",
                    spec.name
                )));
            }
            if named.insert(spec.name.clone(), roots.len()).is_some() {
                return Err(config_error(format!(
                    "Two roots are called `{}`.",
                    spec.name
                )));
            }
            texts.push(RootText {
                name: spec.name.clone(),
                place: names_of(&spec.path),
                own_state: own_state_below(&spec.path, &policy),
                extensions: extensions_of(&spec),
                selection: spec.selection.clone(),
            });
            roots.push(open_root(spec, &policy));
        }
        let inner = Arc::new(Inner {
            roots,
            named,
            texts,
            base,
            policy,
        });
        Ok(Self {
            inner,
            private: None,
        })
    }

    /// The roots in the order of the configuration.
    pub fn roots(&self) -> &[Root] {
        &self.inner.roots
    }

    /// The policy this sandbox was built with.
    pub fn policy(&self) -> &Policy {
        &self.inner.policy
    }

    /// Finds the one readable file that a request means: `source:rel/path.md`; `rel/path.md` when
    /// one root has it; a path relative to the base; or a bare file name, searched below all roots
    /// when none has it at its top level (first with the exact spelling, then ignoring case and
    /// Unicode composition).
    ///
    /// `INVALID_ARGS` (blank), `PATH_DENIED`, `FILE_NOT_FOUND`, `PATH_IS_DIRECTORY`,
    /// `AMBIGUOUS_PATH` (listing the candidates). Nothing is opened yet: a file that is too large
    /// is found here, but reading it fails with `FILE_TOO_LARGE`.
    pub fn resolve(&self, request: &str) -> Result<Address> {
        let plan = request::plan(
            request,
            &self.inner.texts,
            self.inner.base.as_deref(),
            &self.inner.policy,
        )
        .map_err(|d| self.denied(request, d))?;
        let mut found = Vec::new();
        let mut is_directory = false;
        for candidate in plan.candidates {
            match self.find(&candidate) {
                Ok(_) | Err(Refusal::TooLarge { .. }) if self.may_name(&candidate) => {
                    found.push(candidate);
                }
                Err(Refusal::Directory) => is_directory = true,
                _ => {}
            }
        }
        if found.is_empty()
            && let Some(name) = &plan.bare_name
        {
            found = self.search(name);
        }
        let found = self.distinct(found);
        match found.as_slice() {
            [] if is_directory => Err(Refusal::Directory.into_failure(request)),
            [] => Err(refusal::not_found(request)),
            [one] => Ok(one.clone()),
            many => Err(ambiguous(request, many)),
        }
    }

    /// The failure for a request that its text rules out. The name of a folder has no extension that
    /// is allowed.
    fn denied(&self, request: &str, denied: Denied) -> Failure {
        match denied {
            Denied::Extension if self.list(request).is_ok() => {
                Refusal::Directory.into_failure(request)
            }
            _ => refusal::denied(request, denied),
        }
    }

    /// Reads a whole file, at most `security.max_file_bytes`, and as much text of it.
    ///
    /// `PATH_DENIED`, `FILE_NOT_FOUND`, `PATH_IS_DIRECTORY`, `FILE_TOO_LARGE`, `FILE_READ_ERROR`.
    pub fn read(&self, at: &Address) -> Result<FileBytes> {
        self.read_or_skip(at).map_err(|refused| refused.failure)
    }

    /// Reads as [`Sandbox::read`]. For a document without text, the error has the reason for lists.
    ///
    /// # Errors
    /// Those of [`Sandbox::read`].
    pub fn read_or_skip(&self, at: &Address) -> std::result::Result<FileBytes, Box<NotRead>> {
        let candidate = self.admitted(at).map_err(NotRead::of)?;
        let read = || {
            readable(at.path.as_str()).map_err(Refusal::NoText)?;
            let root = self.open_root(candidate.root)?;
            let (file, stamp) = root.open(&root.find(&candidate.path)?)?;
            let bytes = place::read_to_cap(file, stamp, &self.inner.policy)?;
            let bytes = words_of(at.path.as_str(), bytes, &self.inner.policy)?;
            self.keep_private(at, FileBytes { bytes, stamp })
        };
        read().map_err(|refusal: Refusal| {
            let no_text = match &refusal {
                Refusal::NoText(_) => refusal.as_skipped(),
                _ => None,
            };
            Box::new(NotRead {
                failure: refusal.into_failure(&at.to_string()),
                no_text,
            })
        })
    }

    /// The metadata of a file, without opening it. Errors: see [`Sandbox::read`].
    pub fn stamp(&self, at: &Address) -> Result<FileStamp> {
        let candidate = self.admitted(at)?;
        self.find(&candidate)
            .map(|leaf| leaf.stamp)
            .map_err(|r| r.into_failure(&at.to_string()))
    }

    /// The real reason why a request is `FILE_NOT_FOUND`; `None` if it is not, or no longer.
    ///
    /// Only for the operator's audit row: it reveals what the reply must not reveal.
    pub fn explain(&self, request: &str) -> Option<RefusalReason> {
        let plan = request::plan(
            request,
            &self.inner.texts,
            self.inner.base.as_deref(),
            &self.inner.policy,
        )
        .ok()?;
        let mut why = RefusalReason::Missing;
        for candidate in &plan.candidates {
            let opened = self
                .open_root(candidate.root)
                .and_then(|root| root.open(&root.find(&candidate.path)?));
            match opened {
                Err(Refusal::Unseen(RefusalReason::Missing)) => {}
                Err(Refusal::Unseen(other)) => why = other,
                _ => return None,
            }
        }
        if plan
            .bare_name
            .is_some_and(|name| !self.search(&name).is_empty())
        {
            None
        } else {
            Some(why)
        }
    }

    fn find(&self, candidate: &Candidate) -> std::result::Result<place::Leaf, Refusal> {
        self.open_root(candidate.root)?.find(&candidate.path)
    }

    fn open_root(&self, root: usize) -> std::result::Result<OpenRoot<'_>, Refusal> {
        let dir = self.inner.roots[root]
            .dir
            .as_ref()
            .ok_or(Refusal::Unseen(RefusalReason::RootUnavailable))?;
        Ok(OpenRoot {
            dir,
            text: &self.inner.texts[root],
            policy: &self.inner.policy,
        })
    }

    /// An address can come from anywhere (an index, a model), so it is checked like a request.
    fn admitted(&self, at: &Address) -> Result<Candidate> {
        let root = self
            .inner
            .named
            .get(&at.source)
            .copied()
            .ok_or(Denied::UnknownSource);
        root.and_then(|root| {
            self.inner.texts[root].check(&at.path, &self.inner.policy)?;
            Ok(Candidate {
                root,
                path: at.path.clone(),
            })
        })
        .map_err(|d| refusal::denied(&at.to_string(), d))
    }

    /// Every file below the roots that may be named and whose name is exactly `name`; if no name is
    /// exactly equal, every one whose folded name matches.
    fn search(&self, name: &str) -> Vec<Candidate> {
        let folded = policy::fold(name);
        let (mut exact, mut alike) = (Vec::new(), Vec::new());
        for root in 0..self.inner.roots.len() {
            let Ok(open) = self.open_root(root) else {
                continue;
            };
            for entry in walk::named(&open, &folded).unwrap_or_default() {
                let same = entry.path.file_name() == name;
                let candidate = Candidate {
                    root,
                    path: entry.path,
                };
                if !self.may_name(&candidate) {
                    continue;
                }
                if same {
                    exact.push(candidate);
                } else {
                    alike.push(candidate);
                }
            }
        }
        if exact.is_empty() { alike } else { exact }
    }

    /// Removes duplicates that appear because roots are nested; the root that was named first keeps
    /// the file.
    fn distinct(&self, found: Vec<Candidate>) -> Vec<Address> {
        let mut seen = std::collections::HashSet::new();
        let mut kept = Vec::with_capacity(found.len());
        for Candidate { root, path } in found {
            let root = &self.inner.roots[root];
            if seen.insert(root.path.join(path.as_str())) {
                kept.push(Address {
                    source: root.name.clone(),
                    path,
                });
            }
        }
        kept
    }
}

/// The extensions that this root allows in addition to the policy.
fn extensions_of(spec: &RootSpec) -> Vec<String> {
    let named = spec.selection.extensions().iter().cloned();
    let code = CODE_EXTENSIONS.iter().map(|ext| (*ext).to_owned());
    named.chain(code.filter(|_| spec.code)).collect()
}

fn open_root(spec: RootSpec, policy: &Policy) -> Root {
    let RootSpec {
        name,
        path,
        kind,
        code,
        selection: _,
    } = spec;
    if policy
        .own_state
        .iter()
        .any(|state| real(&path).starts_with(real(state)))
    {
        let reason = "it holds this program's own state".to_owned();
        return Root {
            name,
            path,
            kind,
            code,
            unavailable: Some(reason),
            dir: None,
        };
    }
    match Dir::open_ambient_dir(&path, ambient_authority()) {
        Ok(dir) => Root {
            name,
            path: real(&path),
            kind,
            code,
            unavailable: None,
            dir: Some(dir),
        },
        Err(error) => Root {
            name,
            path,
            kind,
            code,
            unavailable: Some(error.to_string()),
            dir: None,
        },
    }
}

/// The folders below a root that contain this program's own state, as folded names relative to the
/// root.
fn own_state_below(root: &Path, policy: &Policy) -> Vec<Vec<String>> {
    policy
        .own_state
        .iter()
        .filter_map(|state| names_below((real(state), real(root))))
        .collect()
}

/// The folded names on the path from the root to the state folder; `None` if it is not below the
/// root.
fn names_below((state, root): (PathBuf, PathBuf)) -> Option<Vec<String>> {
    let rest = state.strip_prefix(root).ok()?.to_path_buf();
    let names: Vec<String> = names_of(&rest).iter().map(|n| policy::fold(n)).collect();
    if names.is_empty() { None } else { Some(names) }
}

/// A path with its links resolved in the part that exists.
fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = std::fs::canonicalize(above) {
            return match path.strip_prefix(above) {
                Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                _ => real,
            };
        }
    }
    path.to_path_buf()
}

fn ambiguous(request: &str, found: &[Address]) -> Failure {
    let names: Vec<String> = found.iter().map(Address::to_string).collect();
    ambiguous_words(request, "file", &names)
}

/// The failure `AMBIGUOUS_PATH` with the possible meanings of a request; `names` is not empty.
fn ambiguous_words(request: &str, what: &str, names: &[String]) -> Failure {
    let mut listed: Vec<String> = names
        .iter()
        .take(MAX_LISTED)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > MAX_LISTED {
        listed.push(format!("{} more", names.len() - MAX_LISTED));
    }
    let message = format!(
        "`{request}` fits more than one {what}: {}.",
        listed.join(", ")
    );
    let first = names.first().map_or("", String::as_str);
    Failure::new(ErrorCode::AmbiguousPath, message)
        .with_hint(format!("name one in full, for example `{first}`"))
}
