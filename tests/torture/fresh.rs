//! Checks whether a state after many operations equals one that was built from the same notes at
//! once.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::churn::{State, fingerprint};
use super::harness::World;
use super::program::run;
use super::tally::{Kind, Place, Tally};

/// Copies markdown from one vault to another, without the program's own folder.
pub(crate) fn copy_notes(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            fs::create_dir_all(to.join(&name)).unwrap();
            copy_notes(&entry.path(), &to.join(&name));
        } else if kind.is_file() && entry.path().extension().is_some_and(|end| end == "md") {
            fs::copy(entry.path(), to.join(&name)).unwrap();
        }
    }
}

/// Copies files that save time and do not depend on the vault: the packed weights of the model.
pub(crate) fn warm(world: &World) {
    let cache = World::embedded().home().join(".cache");
    if cache.is_dir() {
        super::harness::copy(&cache, &world.home().join(".cache"));
    }
}

/// A world with an empty vault, configured, on the given file system.
pub(crate) fn empty_world(place: &Place) -> World {
    let world = World::empty_in(&place.folder);
    warm(&world);
    world.ok(&["init", "--here", "--source", "notes=."]);
    world
}

/// Updates index and vectors and compares them with fresh ones. Records the differences as
/// findings.
pub(crate) fn compare(tally: &mut Tally, world: &World, place: &Place) {
    for job in ["index", "embed"] {
        if !tally.must("job before comparison", &run(world, &[job, "--json"])) {
            return;
        }
    }
    let fresh = empty_world(place);
    copy_notes(&world.vault(), &fresh.vault());
    fresh.ok(&["index"]);
    fresh.ok(&["embed"]);
    let dumps = [world, &fresh].map(|one| {
        let state = State(one.state());
        catch_unwind(AssertUnwindSafe(|| {
            [state.dump_index(), state.dump_vectors(&fingerprint())].concat()
        }))
    });
    match dumps {
        [Ok(ours), Ok(theirs)] => differences(tally, &ours, &theirs),
        [Err(why), _] => tally.find(Kind::LostRow, "state cannot be read", said(&*why)),
        [_, Err(why)] => panic!("the fresh state cannot be read: {}", said(&*why)),
    }
}

/// The message of a panic.
pub(crate) fn said(why: &(dyn std::any::Any + Send)) -> String {
    let owned = why.downcast_ref::<String>().cloned();
    owned
        .or_else(|| why.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_default()
}

fn is_search(line: &str) -> bool {
    line.starts_with("search ") || line.starts_with("hybrid ")
}

fn differences(tally: &mut Tally, ours: &[String], theirs: &[String]) {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    ours.iter()
        .filter(|line| !is_search(line))
        .for_each(|line| *counts.entry(line).or_default() += 1);
    theirs
        .iter()
        .filter(|line| !is_search(line))
        .for_each(|line| *counts.entry(line).or_default() -= 1);
    let other: Vec<_> = counts.iter().filter(|(_, n)| **n != 0).collect();
    if let Some((line, n)) = other.first() {
        let what = if **n > 0 {
            "only here"
        } else {
            "only in the fresh one"
        };
        tally.find(
            Kind::LostRow,
            "rows are not those of a fresh index",
            format!("{} lines; {what}: {line}", other.len()),
        );
        return;
    }
    let order = |lines: &[String], start: &str| -> Vec<String> {
        lines
            .iter()
            .filter(|line| line.starts_with(start))
            .cloned()
            .collect()
    };
    for (start, case) in [
        ("search ", "search order is not that of a fresh index"),
        ("hybrid ", "hybrid order is not that of a fresh index"),
    ] {
        let (here, there) = (order(ours, start), order(theirs, start));
        if here != there {
            let first = here.iter().zip(&there).find(|(a, b)| a != b);
            tally.find(
                Kind::LostRow,
                case,
                format!("{} and {} lines; {first:?}", here.len(), there.len()),
            );
        }
    }
}
