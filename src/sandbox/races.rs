//! Races: one thread swaps what stands at a path while another reads it. Not one byte from outside may arrive.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::attacks::{World, at};
use crate::config::FollowLinks;

const READS: usize = 20_000;

/// Reads `path` again and again while `swap` runs in another thread.
fn race(world: &World, follow: FollowLinks, path: &str, swap: impl Fn() + Sync) {
    let sandbox = world.open_with(|s| s.follow_links = follow);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap();
            }
        });
        let read: Vec<_> = (0..READS).filter_map(|_| sandbox.read(&at(path)).ok()).collect();
        // Judged only after the other thread was told to stop: a panic here would wait for it forever.
        done.store(true, Ordering::Relaxed);
        assert!(!read.is_empty(), "the file was never there");
        assert!(read.iter().all(|file| file.bytes == b"inside"), "bytes from outside");
    });
}

/// Puts a link to `target` at `path`, then the file from `spare` again, each by one rename.
fn swap_file(path: &Path, target: &Path) {
    let beside = path.with_extension("beside");
    let _ = symlink(target, &beside).and_then(|()| fs::rename(&beside, path));
    let _ = fs::write(&beside, "inside").and_then(|()| fs::rename(&beside, path));
}

#[test]
fn s11_w38_a_file_swapped_for_a_link_is_never_followed() {
    let world = World::new();
    world.write(".hidden/secret.md", "HIDDEN");
    let (path, secret) = (world.vault.join("note.md"), world.outside.join("secret.md"));
    for follow in [FollowLinks::Never, FollowLinks::Inside] {
        for target in [secret.as_path(), Path::new("../outside/secret.md"), Path::new(".hidden/secret.md")] {
            race(&world, follow, "note.md", || swap_file(&path, target));
        }
    }
}

#[test]
fn s12_w38_a_folder_swapped_for_a_link_is_never_entered() {
    let world = World::new();
    world.write("folder/secret.md", "inside");
    world.write(".hidden/secret.md", "HIDDEN");
    let [folder, away, link] = ["folder", "away", "link"].map(|n| world.vault.join(n));
    for follow in [FollowLinks::Never, FollowLinks::Inside] {
        for target in [world.outside.as_path(), Path::new("../outside"), Path::new(".hidden")] {
            symlink(target, &link).unwrap();
            race(&world, follow, "folder/secret.md", || {
                let _ = fs::rename(&folder, &away).and_then(|()| fs::rename(&link, &folder));
                let _ = fs::rename(&folder, &link).and_then(|()| fs::rename(&away, &folder));
            });
            fs::remove_file(&link).unwrap();
        }
    }
}
