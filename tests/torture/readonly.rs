//! A state that may be read but not written. Reading works or is refused with a code, writing is
//! refused with a code, and no data are lost.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use super::full::Mount;
use super::harness::World;
use super::program::{LIMIT, Ran, Running, run as run_here};
use super::stage::{Stage, memories};
use super::tally::{Budget, Kind, Tally};

/// An unprivileged user, to which tests that run as root switch.
const NOBODY: u32 = 65534;

const COMMANDS: &[&[&str]] = &[
    &["query", "oven", "--json"],
    &["status", "--json"],
    &["get", "#", "--json"],
    &["doctor", "--offline", "--json"],
    &["memory", "list", "--json"],
    &["runs", "verify", "--json"],
    &["ask", "What is the oven made of?", "--json"],
    &["index", "--json"],
    &["embed", "--json"],
    &[
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "manual",
        "--content",
        "late",
        "--json",
    ],
    &["tool", "run", "grep", "--arg", "pattern=oven", "--json"],
];

pub(crate) fn run(tally: &mut Tally, seed: u64, budget: &Budget) {
    let mut stage = Stage::new(seed + 2, &budget.place, 6, [2, 1, 12]);
    for _ in 0..2 {
        tally.must("memory add", &stage.remember());
    }
    tally.must(
        "ask",
        &run_here(
            &stage.world,
            &["ask", "What is the oven made of?", "--json"],
        ),
    );
    stage.vault.churn(2);
    closed(tally, &stage);
    mounted(tally, &stage);
}

/// Removes the write permission of every folder and file of the state.
fn closed(tally: &mut Tally, stage: &Stage) {
    let root = fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
    if root {
        each(stage.world.root(), &|path| {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        });
        if as_nobody(&stage.world, &["--version"]).is_none_or(|ran| !ran.done()) {
            tally
                .skipped
                .push("no closed folders: another user cannot start the program here".to_owned());
            return each(stage.world.root(), &|path| {
                chown(path, Some(0), Some(0)).unwrap();
            });
        }
    }
    let state = stage.world.state();
    let chmod = |write: u32| {
        each(&state, &|path| {
            let folder = if path.is_dir() { 0o500 } else { 0o400 };
            fs::set_permissions(path, fs::Permissions::from_mode(folder | write)).unwrap();
        });
    };
    chmod(0);
    for args in COMMANDS {
        let ran = if root {
            as_nobody(&stage.world, args).unwrap()
        } else {
            run_here(&stage.world, args)
        };
        tally.judge("closed state", &ran);
    }
    chmod(0o200);
    if root {
        each(stage.world.root(), &|path| {
            chown(path, Some(0), Some(0)).unwrap();
        });
    }
    writable_again(tally, stage, "after closed state");
}

fn writable_again(tally: &mut Tally, stage: &Stage, case: &str) {
    for args in [["index", "--json"], ["embed", "--json"]] {
        tally.must(case, &run_here(&stage.world, &args));
    }
    let listed = memories(&run_here(&stage.world, &["memory", "list", "--json"]).json());
    if !stage.confirmed.is_subset(&listed) {
        tally.find(Kind::LostRow, case, format!("{listed:?}"));
    }
    stage.check_ledger(tally);
}

/// Runs the same checks on a file system that is mounted read-only.
fn mounted(tally: &mut Tally, stage: &Stage) {
    let kept = stage.world.root().join("kept");
    super::harness::copy(&stage.world.state(), &kept);
    let Some(disk) = Mount::over(&stage.world.state(), 16_384) else {
        return tally
            .skipped
            .push("no read-only file systems: this user may not mount one".to_owned());
    };
    super::harness::copy(&kept, &stage.world.state());
    run_here(&stage.world, &["config", "trust", "--json"]);
    if !disk.again("ro") {
        return tally
            .skipped
            .push("a mounted file system cannot be made read-only".to_owned());
    }
    for args in COMMANDS {
        tally.judge("read-only mount", &run_here(&stage.world, args));
    }
    if disk.again("rw") {
        writable_again(tally, stage, "after a read-only mount");
    }
}

fn as_nobody(world: &World, args: &[&str]) -> Option<Ran> {
    let mut command = world.command();
    command.args(args).uid(NOBODY).gid(NOBODY);
    Running::start(command)
        .ok()
        .map(|running| running.wait(LIMIT))
}

/// Calls `act` for a path and everything below it. A folder comes before its contents.
fn each(path: &Path, act: &dyn Fn(&Path)) {
    if path.is_symlink() {
        return;
    }
    act(path);
    if path.is_dir() {
        fs::read_dir(path)
            .unwrap()
            .flatten()
            .for_each(|entry| each(&entry.path(), act));
    }
}
