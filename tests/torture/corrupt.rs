//! Random damage to one file of state or cache: the result is correct or a typed failure. The
//! printed fixes, followed exactly, lead to a healthy state, and only data that can be rebuilt is
//! lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::churn::Dice;
use super::fresh::compare;
use super::harness::{World, copy};
use super::program::{Ran, command_of, run as run_here, shell};
use super::stage::{Stage, failing, memories};
use super::tally::{Budget, Kind, Tally};

/// Commands that are run in a damaged state before any fix.
const LOOKS: &[&[&str]] = &[
    &[
        "query",
        "oven flour",
        "--mode",
        "lexical",
        "--limit",
        "20",
        "--json",
    ],
    &[
        "query",
        "what is made of granite",
        "--limit",
        "20",
        "--json",
    ],
    &["status", "--json"],
    &["memory", "list", "--json"],
    &["runs", "list", "--json"],
    &["ask", "What is the oven made of?", "--json"],
    &["index", "--json"],
    &["embed", "--json"],
    &["get", "#00000000000000000000000000000000", "--json"],
    &["tool", "log", "--json"],
];

/// Commands that must succeed in the end.
const HEALTHY: &[&[&str]] = &[
    &["index", "--verify", "--json"],
    &["embed", "--json"],
    &["query", "what is made of granite", "--json"],
    &["memory", "list", "--json"],
    &["runs", "verify", "--json"],
    &["models", "verify", "--json"],
];

/// Maximum number of fixes before a state counts as impossible to fix.
const FIXES: usize = 12;

/// One operation is one damage.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("corrupt", seed, budget);
    let mut stage = Stage::new(seed, &budget.place, 8, [2, 1, 14]);
    for _ in 0..3 {
        tally.must("memory add", &stage.remember());
        tally.must(
            "ask",
            &run_here(
                &stage.world,
                &["ask", "What is the oven made of?", "--json"],
            ),
        );
    }
    let kept = [
        stage.world.root().join("kept-state"),
        stage.world.root().join("kept-home"),
    ];
    let live = [stage.world.state(), stage.world.home()];
    live.iter().zip(&kept).for_each(|(from, to)| copy(from, to));
    let files = damageable(&stage.world);
    tally.operations = 0;
    while tally.goes_on(budget) {
        let done = tally.operations;
        for (place, copy_of) in live.iter().zip(&kept) {
            empty(place);
            copy(copy_of, place);
        }
        let file = files[stage.dice.below(files.len())].clone();
        let damage = damage(&mut stage.dice, &file);
        let class = class_of(&stage.world, &file);
        trial(
            &mut tally,
            &mut stage,
            &class,
            &format!("{} {damage}", file.display()),
        );
        if done % 25 == 24 {
            compare(&mut tally, &stage.world, &budget.place);
        }
        tally.operations = done + 1;
    }
    tally
}

/// Every file of state and cache except those that contain only locks and shared memory.
fn damageable(world: &World) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in [world.state(), world.home()] {
        list(&folder, &mut files);
    }
    files.retain(|file| fs::metadata(file).is_ok_and(|found| found.len() > 0));
    files.retain(|file| !file.to_string_lossy().ends_with("-shm") && !file.ends_with("trust.json"));
    files.sort();
    files
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Empties a folder but does not remove it.
fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let _ = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
    }
}

/// The name of a file without its random parts.
fn class_of(world: &World, file: &Path) -> String {
    let short = file
        .strip_prefix(world.state())
        .or_else(|_| file.strip_prefix(world.home()))
        .unwrap_or(file);
    let name = short.to_string_lossy().into_owned();
    for (start, class) in [
        ("lexical", "lexical"),
        ("vectors", "vectors"),
        ("runs/2", "run.json"),
        (".cache", "cache"),
    ] {
        if name.starts_with(start) {
            return class.to_owned();
        }
    }
    name
}

/// Damages a file in one of the ways in which disks and people damage files, and returns a
/// description.
fn damage(dice: &mut Dice, file: &Path) -> String {
    let mut bytes = fs::read(file).unwrap();
    let at = dice.below(bytes.len());
    let way = dice.below(6);
    match way {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at..]
            .iter_mut()
            .take(64)
            .for_each(|byte| *byte = dice.roll() as u8),
        2 => bytes.truncate(at),
        3 => bytes.clear(),
        4 => bytes[at..].iter_mut().take(4096).for_each(|byte| *byte = 0),
        _ => {
            fs::remove_file(file).unwrap();
            return "deleted".to_owned();
        }
    }
    fs::write(file, &bytes).unwrap();
    format!(
        "{} at {at}",
        ["bit flipped", "overwritten", "cut", "emptied", "zeroes"][way]
    )
}

fn trial(tally: &mut Tally, stage: &mut Stage, class: &str, what: &str) {
    let before = records(&stage.world);
    let durable = class.starts_with("durable");
    let mut said = false;
    for args in LOOKS {
        let ran = run_here(&stage.world, args);
        if let Some(wrong) = ran.wrong() {
            tally.defect(class, format!("{what}: {wrong}"));
        }
        said |= !ran.done() && !args.contains(&"get");
        if let Some(foreign) = stage.versions.foreign(&ran.json()) {
            tally.defect("text that is in no note", format!("{what}: {foreign}"));
        }
    }
    let (healthy, followed) = mend(tally, stage, class, what);
    said |= !followed.is_empty();
    if let Some(still) = healthy
        && !(durable || class == "run.json")
    {
        tally.defect(
            &format!("{class}: the fixes do not mend"),
            format!("{what}: {followed:?}: {still}"),
        );
    }
    let listed = memories(&run_here(&stage.world, &["memory", "list", "--json"]).json());
    let is_known = durable && said;
    if !is_known && !stage.confirmed.is_subset(&listed) {
        tally.find(
            Kind::LostRow,
            &format!("{class}: memory"),
            format!("{what}: {followed:?}: {listed:?}"),
        );
    }
    let gone: Vec<_> = before.difference(&records(&stage.world)).cloned().collect();
    if !gone.is_empty() && class != "run.json" {
        tally.find(
            Kind::LostRow,
            &format!("{class}: records of runs"),
            format!("{what}: {followed:?}: {gone:?}"),
        );
    }
}

/// The existing records of runs.
fn records(world: &World) -> BTreeSet<String> {
    let entries = fs::read_dir(world.state().join("runs"))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.filter(|entry| entry.path().join("run.json").is_file());
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Follows the printed fixes until no problem is left; returns the remaining problem and the
/// commands that were run.
fn mend(
    tally: &mut Tally,
    stage: &Stage,
    class: &str,
    what: &str,
) -> (Option<String>, Vec<String>) {
    let mut followed: Vec<String> = Vec::new();
    let mut wrong = None;
    for _ in 0..FIXES {
        let (why, fix) = match complaint(stage, &followed) {
            Ok(None) => return (None, followed),
            Ok(Some(found)) => found,
            Err(untyped) => {
                tally.defect(class, format!("{what}: {untyped}"));
                return (None, followed);
            }
        };
        wrong = Some(why);
        let Some(fix) = fix else {
            return (wrong, followed);
        };
        let ran = shell(&stage.world, &fix);
        if let Some(crash) = ran.crashed() {
            tally.defect(class, format!("{what}: {fix}: {crash}"));
        }
        followed.push(fix);
    }
    (wrong, followed)
}

type Complaint = (String, Option<String>);

/// The first problem with its suggested command. A command that was followed twice without effect
/// is skipped in favour of the next one.
fn complaint(stage: &Stage, followed: &[String]) -> Result<Option<Complaint>, String> {
    let mut found: Vec<Complaint> = Vec::new();
    for args in HEALTHY {
        let ran: Ran = run_here(&stage.world, args);
        if let Some(wrong) = ran.wrong() {
            return Err(wrong);
        }
        if !ran.done() {
            let named = ran.fix().or_else(|| fix_in_findings(&ran));
            found.push((format!("{}: {}", ran.args, ran.stdout.trim()), named));
        }
    }
    let ran = run_here(&stage.world, &["doctor", "--offline", "--json"]);
    if let Some(wrong) = ran.wrong() {
        return Err(wrong);
    }
    for (code, fix) in failing(&ran.json()) {
        found.push((code, command_of(&fix)));
    }
    let tried = |fix: &str| followed.iter().filter(|one| *one == fix).count();
    let new = found
        .iter()
        .position(|(_, fix)| fix.as_ref().is_some_and(|fix| tried(fix) < 2));
    Ok(match new {
        Some(at) => Some(found.swap_remove(at)),
        None => found.into_iter().next().map(|(why, _)| (why, None)),
    })
}

/// `runs verify` names a fix with each finding.
fn fix_in_findings(ran: &Ran) -> Option<String> {
    let findings = ran.json()["findings"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut fixes = findings.iter().flat_map(|one| {
        [
            one["fix"].clone(),
            one["hint"].clone(),
            one["suggested_fix"].clone(),
        ]
    });
    fixes.find_map(|fix| command_of(fix.as_str()?))
}
