//! The system's notifications, and what is done without them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::Said;
use local_agent_agent::config::Config;
use local_agent_index::store::on_network;

/// Between two walks where changes are told, and where they are not.
const TOLD: Duration = Duration::from_secs(60);
const NOT_TOLD: Duration = Duration::from_secs(5);

/// Between two looks for a root that is missing.
const MISSING: Duration = Duration::from_secs(1);

/// A stream of changes without a pause is acted on after so many times the quiet that is waited
/// for.
const PATIENCE: u32 = 10;

/// Files that decide which others count.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".local-agentignore"];

/// Sees that something changed, never what.
pub(super) struct Eyes {
    roots: Vec<PathBuf>,
    poll: Option<Duration>,
    watcher: Option<RecommendedWatcher>,
    changed: Receiver<()>,
    /// Roots that are watched, with what they were.
    armed: BTreeMap<PathBuf, Identity>,
    /// Why notifications are of no use.
    blind: Arc<Mutex<Option<String>>>,
    /// Whether that was said.
    said_blind: bool,
}

/// Tells a folder from another one of its name.
type Identity = (u64, Option<SystemTime>);

impl Eyes {
    pub(super) fn open(config: &Config, notifications: bool, poll: Option<Duration>) -> Self {
        let roots: Vec<PathBuf> = config
            .sources
            .iter()
            .map(|source| source.root.clone())
            .collect();
        let blind = Arc::new(Mutex::new(None));
        // One place: however much changes, it is one reason to look.
        let (send, changed) = sync_channel(1);
        let filter = Filter {
            roots: roots.clone(),
            protected: config.protected.clone(),
        };
        let handler = handler(filter, send, Arc::clone(&blind));
        let watcher = match RecommendedWatcher::new(
            handler,
            notify::Config::default().with_follow_symlinks(false),
        ) {
            Ok(watcher) => Some(watcher),
            Err(e) => {
                set(&blind, format!("the system gives no notifications: {e}"));
                None
            }
        };
        if !notifications {
            set(&blind, "notifications are switched off".to_owned());
        }
        if let Some(root) = roots.iter().find(|root| on_network(root)) {
            set(
                &blind,
                format!(
                    "{} stands on a network, where changes by others are not told",
                    root.display()
                ),
            );
        }
        let mut eyes = Self {
            roots,
            poll,
            watcher,
            changed,
            armed: BTreeMap::new(),
            blind,
            said_blind: false,
        };
        eyes.tend();
        eyes
    }

    /// How it sees now.
    pub(super) fn says(&self) -> Said {
        let why = get(&self.blind);
        Said::Watching {
            by: if why.is_some() {
                "walks"
            } else {
                "notifications"
            },
            why,
        }
    }

    /// Watches roots that are there and were not, or are other folders than before. `true`:
    /// notifications have become useless, which was not said yet.
    pub(super) fn tend(&mut self) -> bool {
        for root in self.roots.clone() {
            let now = identity(&root);
            if self.armed.get(&root).copied() == now {
                continue;
            }
            let Some(watcher) = &mut self.watcher else {
                continue;
            };
            if self.armed.remove(&root).is_some() {
                // It is gone already.
                let _ = watcher.unwatch(&root);
            }
            let Some(now) = now else { continue };
            match watcher.watch(&root, RecursiveMode::Recursive) {
                Ok(()) => drop(self.armed.insert(root, now)),
                // Deleted again meanwhile: the next look finds it.
                Err(_) if !root.exists() => {}
                Err(e) => set(
                    &self.blind,
                    format!("{} cannot be watched: {e}", root.display()),
                ),
            }
        }
        let news = get(&self.blind).is_some() && !self.said_blind;
        if news {
            // What cannot see everything is not worth its memory.
            self.watcher = None;
            self.armed.clear();
            self.said_blind = true;
        }
        news
    }

    /// Waits for a change and then for quiet, or for the time of the next walk.
    pub(super) fn wait(&self, at_most: Option<Duration>, quiet: Duration) {
        let usual = self.poll.unwrap_or(if self.watcher.is_some() {
            TOLD
        } else {
            NOT_TOLD
        });
        let all_there = self.watcher.is_none() || self.armed.len() == self.roots.len();
        let usual = if all_there { usual } else { usual.min(MISSING) };
        let limit = at_most.map_or(usual, |at_most| at_most.min(usual));
        match self.changed.recv_timeout(limit) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return,
            Err(RecvTimeoutError::Disconnected) => return std::thread::sleep(limit),
        }
        let until = Instant::now() + quiet * PATIENCE;
        while Instant::now() < until && self.changed.recv_timeout(quiet).is_ok() {}
    }
}

fn set(blind: &Mutex<Option<String>>, why: String) {
    blind
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert(why);
}

fn get(blind: &Mutex<Option<String>>) -> Option<String> {
    blind.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
    filter: Filter,
    changed: SyncSender<()>,
    blind: Arc<Mutex<Option<String>>>,
) -> impl FnMut(notify::Result<Event>) + Send + 'static {
    move |told| {
        match told {
            Ok(event) if !filter.counts(&event) => return,
            Ok(_) => {}
            Err(e) => set(&blind, format!("the system's notifications ended: {e}")),
        }
        // Full: there is a reason to look already.
        let _ = changed.try_send(());
    }
}

/// Which events are a reason to look.
struct Filter {
    roots: Vec<PathBuf>,
    /// The program's own files.
    protected: Vec<PathBuf>,
}

impl Filter {
    fn counts(&self, event: &Event) -> bool {
        if event.need_rescan() {
            return true;
        }
        let by_name = match event.kind {
            EventKind::Access(_) => return false,
            // A folder that comes, goes or is renamed brings or takes notes, whatever it is called.
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

    /// `by_name`: only what is called like a note.
    fn path_counts(&self, path: &Path, by_name: bool) -> bool {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if self.protected.iter().any(|own| path.starts_with(own)) {
            return false;
        }
        if self.roots.iter().any(|root| path == root) {
            return true;
        }
        let below = self
            .roots
            .iter()
            .find_map(|root| path.strip_prefix(root).ok())
            .unwrap_or(path);
        let mut folders = below.parent().into_iter().flat_map(Path::components);
        let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        if folders.any(is_hidden) {
            return false;
        }
        if IGNORE_FILES.contains(&name) {
            return true;
        }
        if name.starts_with('.') {
            return false;
        }
        let is_note = path.extension().is_some_and(|ext| {
            ext.eq_ignore_ascii_case("md") || ext.eq_ignore_ascii_case("markdown")
        });
        is_note || !by_name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, DataChange, Flag, MetadataKind, RemoveKind, RenameMode};

    #[test]
    fn only_what_can_change_the_index_is_a_reason_to_look() {
        let filter = Filter {
            roots: vec!["/notes".into()],
            protected: vec!["/notes/state".into()],
        };
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::Any));
        for (kind, path, counts) in [
            (written, "/notes/a.md", true),
            (written, "/notes/deep/A.MD", true),
            (written, "/notes/.gitignore", true),
            (written, "/notes/deep/.local-agentignore", true),
            (written, "/notes/a.png", false),
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
    }
}
