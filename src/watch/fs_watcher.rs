//! Waits for changes, by notifications of the file system or by polling.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::WatchEvent;
use local_agent_agent::config::Config;
use local_agent_files::sandbox::NOTE_EXTENSIONS;
use local_agent_index::indexing::Source;
use local_agent_index::store::on_network;
use local_agent_text::documents::CODE_EXTENSIONS;

/// Poll interval while file-system events arrive, and without them.
const POLL_WITH_EVENTS: Duration = Duration::from_secs(60);
const POLL_WITHOUT_EVENTS: Duration = Duration::from_secs(5);

/// Poll interval while a root is missing.
const POLL_MISSING_ROOT: Duration = Duration::from_secs(1);

/// Number of debounce periods after which continuous changes are processed without a pause.
const MAX_DEBOUNCE_PERIODS: u32 = 10;

/// Files that determine which other files are indexed.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".local-agentignore"];

/// Folders of other programs that are never indexed, even if hidden ones are.
const NEVER_INDEXED: [&str; 4] = [".obsidian", ".trash", ".trash-local-agent", ".git"];

/// Reports that something changed, but not what.
pub(super) struct FsWatcher {
    roots: Vec<PathBuf>,
    poll: Option<Duration>,
    watcher: Option<RecommendedWatcher>,
    changed: Receiver<()>,
    /// The watched roots, each with its identity when the watch began.
    armed: BTreeMap<PathBuf, Identity>,
    /// Why notifications are not used.
    degraded: Arc<Mutex<Option<String>>>,
    /// Whether the caller has been given that reason.
    reported_degraded: bool,
}

/// Inode and creation time, which change when a folder is deleted and recreated.
type Identity = (u64, Option<SystemTime>);

impl FsWatcher {
    /// Starts to watch the roots of `config`. Falls back to polling at `poll` (or a default
    /// interval) if the system provides no notifications, `notifications` is off, or a root is on a
    /// network file system.
    pub(super) fn open(config: &Config, notifications: bool, poll: Option<Duration>) -> Self {
        let roots: Vec<PathBuf> = config
            .sources
            .iter()
            .map(|source| source.root.clone())
            .collect();
        let degraded = Arc::new(Mutex::new(None));
        // One slot is enough, because many changes cause one check.
        let (send, changed) = sync_channel(1);
        let filter = EventFilter {
            roots: config.sources.iter().map(WatchedRoot::of).collect(),
            protected: config.protected.clone(),
            takes_hidden: !config.security.deny_hidden_paths,
        };
        let handler = handler(filter, send, Arc::clone(&degraded));
        let notify_watcher = match RecommendedWatcher::new(
            handler,
            notify::Config::default().with_follow_symlinks(false),
        ) {
            Ok(watcher) => Some(watcher),
            Err(e) => {
                set(&degraded, format!("the system gives no notifications: {e}"));
                None
            }
        };
        if !notifications {
            set(&degraded, "notifications are switched off".to_owned());
        }
        if let Some(root) = roots.iter().find(|root| on_network(root)) {
            set(
                &degraded,
                format!(
                    "{} is on a network, which does not report changes by other computers",
                    root.display()
                ),
            );
        }
        let mut watcher = Self {
            roots,
            poll,
            watcher: notify_watcher,
            changed,
            armed: BTreeMap::new(),
            degraded,
            reported_degraded: false,
        };
        watcher.rearm();
        watcher
    }

    /// The current way of noticing changes.
    pub(super) fn status(&self) -> WatchEvent {
        let why = get(&self.degraded);
        WatchEvent::Watching {
            by: if why.is_some() {
                "walks"
            } else {
                "notifications"
            },
            why,
        }
    }

    /// Watches roots that appeared or were replaced since the last call. Returns `true` if
    /// notifications have become unusable and this has not been reported yet.
    pub(super) fn rearm(&mut self) -> bool {
        for root in self.roots.clone() {
            let now = identity(&root);
            if self.armed.get(&root).copied() == now {
                continue;
            }
            let Some(watcher) = &mut self.watcher else {
                continue;
            };
            if self.armed.remove(&root).is_some() {
                // The old folder is gone, so there may be nothing to unwatch.
                let _ = watcher.unwatch(&root);
            }
            let Some(now) = now else { continue };
            match watcher.watch(&root, RecursiveMode::Recursive) {
                Ok(()) => drop(self.armed.insert(root, now)),
                // The root was deleted again meanwhile; the next call notices it.
                Err(_) if !root.exists() => {}
                Err(e) => set(
                    &self.degraded,
                    format!("{} cannot be watched: {e}", root.display()),
                ),
            }
        }
        let newly_degraded = get(&self.degraded).is_some() && !self.reported_degraded;
        if newly_degraded {
            // A watcher that misses changes is useless, so its memory is freed.
            self.watcher = None;
            self.armed.clear();
            self.reported_degraded = true;
        }
        newly_degraded
    }

    /// Waits for a change and then for `quiet` without one. Ends at the latest when the next poll
    /// is due, or after `at_most`.
    pub(super) fn wait(&self, at_most: Option<Duration>, quiet: Duration) {
        let usual = self.poll.unwrap_or(if self.watcher.is_some() {
            POLL_WITH_EVENTS
        } else {
            POLL_WITHOUT_EVENTS
        });
        let all_there = self.watcher.is_none() || self.armed.len() == self.roots.len();
        let usual = if all_there {
            usual
        } else {
            usual.min(POLL_MISSING_ROOT)
        };
        let limit = at_most.map_or(usual, |at_most| at_most.min(usual));
        match self.changed.recv_timeout(limit) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return,
            Err(RecvTimeoutError::Disconnected) => return std::thread::sleep(limit),
        }
        let until = Instant::now() + quiet * MAX_DEBOUNCE_PERIODS;
        while Instant::now() < until && self.changed.recv_timeout(quiet).is_ok() {}
    }
}

fn set(degraded: &Mutex<Option<String>>, why: String) {
    degraded
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert(why);
}

fn get(degraded: &Mutex<Option<String>>) -> Option<String> {
    degraded
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

#[cfg(unix)]
fn identity(root: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::metadata(root).ok().filter(fs::Metadata::is_dir)?;
    Some((meta.ino(), meta.created().ok()))
}

#[cfg(not(unix))]
fn identity(root: &Path) -> Option<Identity> {
    let meta = fs::metadata(root).ok().filter(fs::Metadata::is_dir)?;
    Some((0, meta.created().ok()))
}

fn handler(
    filter: EventFilter,
    changed: SyncSender<()>,
    degraded: Arc<Mutex<Option<String>>>,
) -> impl FnMut(notify::Result<Event>) + Send + 'static {
    move |event| {
        match event {
            Ok(event) if !filter.counts(&event) => return,
            Ok(_) => {}
            Err(e) => set(&degraded, format!("the system's notifications ended: {e}")),
        }
        // If the channel is full, a check is already pending.
        let _ = changed.try_send(());
    }
}

/// A root, and the kinds of its documents.
struct WatchedRoot {
    path: PathBuf,
    /// In lower case, with their dots.
    extensions: Vec<String>,
}

impl WatchedRoot {
    fn of(source: &Source) -> Self {
        let code: &[&str] = if source.code { &CODE_EXTENSIONS } else { &[] };
        let known = NOTE_EXTENSIONS.iter().chain(code);
        let named = source.selection.extensions().iter().cloned();
        Self {
            path: source.root.clone(),
            extensions: known.map(|ext| (*ext).to_owned()).chain(named).collect(),
        }
    }

    /// Whether a file with this name can be a document of this root.
    fn takes(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.extensions.iter().any(|ext| name.ends_with(ext))
    }
}

/// Decides which events cause a check.
struct EventFilter {
    roots: Vec<WatchedRoot>,
    /// The program's own files.
    protected: Vec<PathBuf>,
    /// Whether hidden files and folders are indexed.
    takes_hidden: bool,
}

impl EventFilter {
    fn counts(&self, event: &Event) -> bool {
        if event.need_rescan() {
            return true;
        }
        let by_name = match event.kind {
            EventKind::Access(_) => return false,
            // Creating, removing or renaming a folder moves notes, whatever its name is.
            EventKind::Create(notify::event::CreateKind::Folder)
            | EventKind::Remove(notify::event::RemoveKind::Folder)
            | EventKind::Modify(ModifyKind::Name(_))
            | EventKind::Any
            | EventKind::Other => false,
            EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) => true,
        };
        event.paths.is_empty()
            || event
                .paths
                .iter()
                .any(|path| self.path_counts(path, by_name))
    }

    /// Whether a change of `path` counts. With `by_name`, only files with names of documents do.
    fn path_counts(&self, path: &Path, by_name: bool) -> bool {
        if self.protected.iter().any(|own| path.starts_with(own)) {
            return false;
        }
        let mut is_known = false;
        for root in &self.roots {
            if let Ok(rest) = path.strip_prefix(&root.path) {
                is_known = true;
                if self.counts_below(root, rest, by_name) {
                    return true;
                }
            }
        }
        // Some systems report a path by its real name, which may differ from that of the root.
        let any_root = |root| self.counts_below(root, path, by_name);
        !is_known && self.roots.iter().any(any_root)
    }

    /// Whether a change of the path `rest` below a root counts.
    fn counts_below(&self, root: &WatchedRoot, rest: &Path, by_name: bool) -> bool {
        let Some(name) = rest.file_name() else {
            // The root itself.
            return true;
        };
        let name = name.to_string_lossy();
        let mut folders = rest.parent().into_iter().flat_map(Path::components);
        if folders.any(|part| self.passes_by(&part.as_os_str().to_string_lossy())) {
            return false;
        }
        IGNORE_FILES.contains(&&*name) || !self.passes_by(&name) && (!by_name || root.takes(&name))
    }

    /// Whether what has this name is not indexed, because it is hidden.
    fn passes_by(&self, name: &str) -> bool {
        name.starts_with('.') && (!self.takes_hidden || NEVER_INDEXED.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, DataChange, Flag, MetadataKind, RemoveKind, RenameMode};

    #[test]
    fn only_what_can_change_the_index_is_a_reason_to_look() {
        let root = |path: &str, extensions: &[&str]| WatchedRoot {
            path: path.into(),
            extensions: extensions.iter().map(|ext| (*ext).to_owned()).collect(),
        };
        let mut filter = EventFilter {
            roots: vec![
                root("/notes", &[".md", ".markdown"]),
                root("/notes/code", &[".md", ".rs", ".docx"]),
            ],
            protected: vec!["/notes/state".into()],
            takes_hidden: false,
        };
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::Any));
        for (kind, path, counts) in [
            (written, "/notes/a.md", true),
            (written, "/notes/deep/A.MD", true),
            (written, "/notes/.gitignore", true),
            (written, "/notes/deep/.local-agentignore", true),
            (written, "/notes/a.png", false),
            (written, "/notes/a.docx", false),
            (written, "/notes/code/a.DOCX", true),
            (written, "/notes/code/deep/b.rs", true),
            (written, "/notes/code/deep/b.png", false),
            (written, "/notes/.a.md.swp", false),
            (written, "/notes/.obsidian/x.md", false),
            (written, "/notes/.local-agent/index.sqlite", false),
            (written, "/notes/state/x.md", false),
            (renamed, "/notes/folder", true),
            (renamed, "/notes/4913", true),
            (EventKind::Create(CreateKind::Folder), "/notes/new", true),
            (EventKind::Create(CreateKind::File), "/notes/new", false),
            (EventKind::Remove(RemoveKind::Folder), "/notes", true),
            (
                EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)),
                "/notes/a.md",
                true,
            ),
            (
                EventKind::Access(notify::event::AccessKind::Any),
                "/notes/a.md",
                false,
            ),
        ] {
            assert_eq!(
                filter.counts(&Event::new(kind).add_path(path.into())),
                counts,
                "{kind:?} {path}"
            );
        }
        assert!(filter.counts(&Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        filter.takes_hidden = true;
        for (path, counts) in [
            ("/notes/.drafts/x.md", true),
            ("/notes/.x.md", true),
            ("/notes/.obsidian/x.md", false),
            ("/notes/.drafts/x.png", false),
        ] {
            let event = Event::new(written).add_path(path.into());
            assert_eq!(filter.counts(&event), counts, "{path}");
        }
    }
}
