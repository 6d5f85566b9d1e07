//! The second line of defence: the kernel restricts this process to the folders it needs, so that a
//! bug in this program or one of its libraries still cannot open anything else. It uses Landlock on
//! Linux; other systems and older kernels have only the first line of defence.

use std::path::PathBuf;

/// How far the kernel confines the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// Only the named places can be opened, by this thread and every thread that it starts.
    Enforced,
    /// An older kernel enforces only a part: it restricts reading, but not every kind of writing.
    Partly,
    /// This system does not support it, or does not allow it for this process.
    Absent,
}

impl Confinement {
    /// Its stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Partly => "partly",
            Self::Absent => "absent",
        }
    }
}

/// The folders and files that a process is restricted to; those that do not exist are left out.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Folders and files that may be read.
    pub read: Vec<PathBuf>,
    /// Folders and files that may be read and written.
    pub write: Vec<PathBuf>,
}

/// Restricts this thread, and every thread that it starts from now on, to `places` and to the files
/// that system libraries read. It cannot be undone. Files that are already open stay open; network
/// and processes are not restricted.
#[cfg(target_os = "linux")]
pub fn confine(places: &Places) -> Confinement {
    use landlock::{
        ABI, Access as _, AccessFs, RestrictionStatus, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetError, RulesetStatus, path_beneath_rules,
    };

    /// Files that system libraries read: names of hosts and users, time zones, libraries that are
    /// loaded late, system information.
    const SYSTEM: [&str; 8] = [
        "/etc",
        "/usr",
        "/lib",
        "/lib64",
        "/proc",
        "/sys",
        "/run/systemd/resolve",
        "/run/nscd",
    ];
    /// The terminal, random numbers, the null device.
    const DEVICES: [&str; 4] = ["/dev/tty", "/dev/null", "/dev/urandom", "/dev/pts"];

    let all = AccessFs::from_all(ABI::V5);
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let confined = || -> Result<RestrictionStatus, RulesetError> {
        Ruleset::default()
            .handle_access(all)?
            .create()?
            .add_rules(path_beneath_rules(SYSTEM, read))?
            .add_rules(path_beneath_rules(DEVICES, all))?
            .add_rules(path_beneath_rules(&places.read, read))?
            .add_rules(path_beneath_rules(&places.write, all))?
            .restrict_self()
    };
    match confined().map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => Confinement::Enforced,
        Ok(RulesetStatus::PartiallyEnforced) => Confinement::Partly,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Confinement::Absent,
    }
}

/// Only Linux has Landlock.
#[cfg(not(target_os = "linux"))]
pub fn confine(_: &Places) -> Confinement {
    Confinement::Absent
}

/// Runs `work` on a separate thread that is restricted to `places`, together with every thread that
/// it starts; this thread is not restricted.
///
/// # Errors
/// The system's error if the thread cannot be started.
pub fn run_confined<T: Send>(
    places: &Places,
    work: impl FnOnce() -> T + Send,
) -> std::io::Result<T> {
    let confined = || {
        confine(places);
        // The threads of the shared pool may already be running, or may later be used by others.
        match rayon::ThreadPoolBuilder::new().build() {
            Ok(pool) => Ok(pool.install(work)),
            Err(e) => Err(std::io::Error::other(e)),
        }
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("confined".to_owned())
            .spawn_scoped(scope, confined)?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// What [`confine`] would return on this system; tested on a temporary thread.
pub fn confinement_offered() -> Confinement {
    let tried = std::thread::Builder::new().spawn(|| confine(&Places::default()));
    tried.map_or(Confinement::Absent, |thread| {
        thread.join().unwrap_or(Confinement::Absent)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn confined_work_leaves_its_caller_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "x").unwrap();
        let read = || fs::read(dir.path().join("file")).is_ok();
        let inside =
            run_confined(&Places::default(), || (read(), rayon::join(read, read))).unwrap();
        if confinement_offered() != Confinement::Absent {
            assert_eq!(inside, (false, (false, false)));
        }
        assert!(read());
    }

    #[test]
    fn a_confined_thread_opens_nothing_beside_its_places() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["read", "write", "other"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("file"), name).unwrap();
        }
        let at = |name: &str| dir.path().join(name);
        let places = Places {
            read: vec![at("read"), at("missing")],
            write: vec![at("write")],
        };
        let offered = confinement_offered();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let got = confine(&places);
                assert_eq!(got, offered);
                assert_eq!(fs::read(at("read/file")).unwrap(), b"read");
                fs::write(at("write/new"), "x").unwrap();
                fs::rename(at("write/new"), at("write/newer")).unwrap();
                if got == Confinement::Absent {
                    return;
                }
                assert!(fs::read(at("other/file")).is_err());
                assert!(fs::read_dir(at("other")).is_err());
                assert!(fs::read_dir(dir.path()).is_err());
                assert!(fs::write(at("read/file"), "changed").is_err());
                assert!(fs::write(at("read/new"), "made").is_err());
                assert!(fs::remove_file(at("read/file")).is_err());
                // Threads that are started later are restricted, too.
                std::thread::scope(|inner| {
                    inner.spawn(|| assert!(fs::read(at("other/file")).is_err()));
                });
            });
        });
        // Other threads are not.
        assert_eq!(fs::read(at("other/file")).unwrap(), b"other");
    }
}
