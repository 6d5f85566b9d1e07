//! Races: one thread replaces the file at a path while others read it. No byte from outside may be
//! read, with either way in which the sandbox's library opens files: `openat2`, or its own walk if
//! the kernel does not have that call. A reader that checks first and then opens loses the same
//! race, which shows that the race can be lost.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use local_agent_agent::config::Config;
use local_agent_files::sandbox::FollowLinks;
use local_agent_files::sandbox::{Address, Policy, RootSpec, Sandbox, Selection};
use local_agent_text::types::{RelPath, SourceName};

/// Number of reads in one race, over all threads. Twelve races for each way of opening are 100,800.
const READS: usize = 8_400;
const THREADS: usize = 3;
/// Set for a child process in which `openat2` does not exist.
const WITHOUT: &str = "LOCAL_AGENT_TEST_WITHOUT_OPENAT2";

struct World {
    _dir: tempfile::TempDir,
    vault: PathBuf,
    outside: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let world = Self {
            vault: base.join("vault"),
            outside: base.join("outside"),
            _dir: dir,
        };
        for folder in ["vault/folder", "vault/.hidden", "outside"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        for (path, text) in [
            ("vault/note.md", "inside"),
            ("vault/folder/secret.md", "inside"),
            ("vault/.hidden/secret.md", "HIDDEN"),
            ("outside/secret.md", "SECRET"),
        ] {
            fs::write(base.join(path), text).unwrap();
        }
        world
    }

    fn sandbox(&self, follow: FollowLinks) -> Sandbox {
        let mut rules = Config::defaults(Path::new("/nowhere")).unwrap().security;
        rules.follow_links = follow;
        let name = SourceName::new("notes").unwrap();
        let root = RootSpec {
            name,
            path: self.vault.clone(),
            kind: "notes".into(),
            code: false,
            selection: Selection::default(),
        };
        Sandbox::open(vec![root], Policy::from(&rules)).unwrap()
    }
}

/// Calls `read` in several threads while `swap` runs in another. Returns every text that was read,
/// with its count.
fn race(
    read: impl Fn() -> Option<Vec<u8>> + Sync,
    swap: impl Fn() + Sync,
    enough: impl Fn(&[u8]) -> bool + Sync,
) -> (usize, usize) {
    let (done, inside, leaked, left) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicUsize::new(READS),
    );
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap();
            }
        });
        let readers: Vec<_> = (0..THREADS)
            .map(|_| {
                threads.spawn(|| {
                    while left
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                        .is_ok()
                    {
                        let Some(bytes) = read() else { continue };
                        if enough(&bytes) {
                            leaked.fetch_add(1, Ordering::Relaxed)
                        } else {
                            inside.fetch_add(1, Ordering::Relaxed)
                        };
                    }
                })
            })
            .collect();
        for reader in readers {
            reader.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    (inside.into_inner(), leaked.into_inner())
}

/// Checks that the sandbox read the file and no other. If threads take turns on few processors, the
/// file may be replaced each time; then the race is run again.
fn never_leaves(world: &World, follow: FollowLinks, path: &str, swap: impl Fn() + Sync) {
    let sandbox = world.sandbox(follow);
    let at = Address {
        source: SourceName::new("notes").unwrap(),
        path: RelPath::new(path).unwrap(),
    };
    let read = || sandbox.read(&at).ok().map(|file| file.bytes);
    for _ in 0..50 {
        let (inside, leaked) = race(read, &swap, |bytes| bytes != b"inside");
        assert_eq!(leaked, 0, "bytes from outside");
        if inside > 0 {
            return;
        }
    }
    panic!("the file was never there");
}

/// Puts a link to `target` at `path`, then the file again, each with one rename.
fn swap_file(path: &Path, target: &Path) {
    let beside = path.with_extension("beside");
    let _ = symlink(target, &beside).and_then(|()| fs::rename(&beside, path));
    let _ = fs::write(&beside, "inside").and_then(|()| fs::rename(&beside, path));
    std::thread::yield_now();
}

/// Puts the link at `link` in place of the folder, then the folder again.
fn swap_folder(folder: &Path, away: &Path, link: &Path) {
    let _ = fs::rename(folder, away).and_then(|()| fs::rename(link, folder));
    let _ = fs::rename(folder, link).and_then(|()| fs::rename(away, folder));
    std::thread::yield_now();
}

fn all_races() {
    let world = World::new();
    let (path, secret) = (world.vault.join("note.md"), world.outside.join("secret.md"));
    let [folder, away, link] = ["folder", "away", "link"].map(|n| world.vault.join(n));
    for follow in [FollowLinks::Never, FollowLinks::Inside] {
        for target in [
            secret.as_path(),
            Path::new("../outside/secret.md"),
            Path::new(".hidden/secret.md"),
        ] {
            never_leaves(&world, follow, "note.md", || swap_file(&path, target));
        }
        for target in [
            world.outside.as_path(),
            Path::new("../outside"),
            Path::new(".hidden"),
        ] {
            symlink(target, &link).unwrap();
            never_leaves(&world, follow, "folder/secret.md", || {
                swap_folder(&folder, &away, &link);
            });
            fs::remove_file(&link).unwrap();
        }
    }
}

fn has_openat2() -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    openat2(
        CWD,
        ".",
        OFlags::RDONLY | OFlags::DIRECTORY,
        Mode::empty(),
        ResolveFlags::BENEATH,
    )
    .is_ok()
}

#[test]
fn s11_s12_w38_nothing_that_is_swapped_in_is_ever_read_with_openat2() {
    if !has_openat2() {
        return; // an old kernel; the other test covers the same races
    }
    all_races();
}

#[test]
fn s11_s12_w38_nothing_that_is_swapped_in_is_ever_read_without_openat2() {
    if std::env::var_os(WITHOUT).is_some() {
        take_openat2_away();
        assert!(!has_openat2(), "the filter does not hold");
        return all_races();
    }
    // The filter cannot be removed again, so the test runs in a separate process.
    let name = "races::s11_s12_w38_nothing_that_is_swapped_in_is_ever_read_without_openat2";
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(WITHOUT, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&child.stderr)
    );
}

/// Makes `openat2` fail as unknown from now on, in this process and all its threads.
fn take_openat2_away() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let openat2 = 437; // the same number on every architecture
    let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    let enosys = SeccompAction::Errno(38);
    let filter = SeccompFilter::new(
        [(openat2, vec![])].into(),
        SeccompAction::Allow,
        enosys,
        arch,
    )
    .unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter_all_threads(&program).unwrap();
}

/// Opens a file in the way of many servers: checks whether the path leads out of the root, then
/// opens it.
fn check_then_open(root: &Path, path: &Path) -> Option<Vec<u8>> {
    let real = path.canonicalize().ok()?;
    if !real.starts_with(root) || real.components().any(|c| c.as_os_str() == ".hidden") {
        return None;
    }
    fs::read(path).ok()
}

#[test]
fn s11_s12_a_reader_that_checks_and_then_opens_loses_the_same_races() {
    let world = World::new();
    let path = world.vault.join("note.md");
    let [folder, away, link] = ["folder", "away", "link"].map(|n| world.vault.join(n));
    symlink(&world.outside, &link).unwrap();
    let lost = |read: &(dyn Fn() -> Option<Vec<u8>> + Sync), swap: &(dyn Fn() + Sync)| {
        // It takes a few thousand reads; a machine with a single core may need more.
        (0..50).any(|_| race(read, swap, |bytes| bytes != b"inside" && !bytes.is_empty()).1 > 0)
    };
    let secret = world.outside.join("secret.md");
    assert!(
        lost(&|| check_then_open(&world.vault, &path), &|| swap_file(
            &path, &secret
        )),
        "S11 was never lost"
    );
    let inner = folder.join("secret.md");
    assert!(
        lost(&|| check_then_open(&world.vault, &inner), &|| swap_folder(
            &folder, &away, &link
        )),
        "S12 was never lost"
    );
}
