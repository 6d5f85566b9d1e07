//! Every system call of `index`, `embed`, `ask` and `memory add` that changes a file fails, is
//! torn, or is the last one. The next run repairs the state, which then equals a fresh one, and
//! nothing durable is lost.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::churn::{State, Vault, fingerprint};
use super::fresh::{empty_world, said};
use super::harness::{World, copy};
use super::program::run as run_here;
use super::stage::{memories, memory_add};
use super::tally::{Budget, Kind, Tally};
use super::tracer::{Fault, trace};

/// A command under test, and the prepared state from which it starts.
struct Attack {
    name: &'static str,
    args: Vec<&'static str>,
    from: &'static str,
}

const QUESTION: &str = "What is the oven made of?";
const NEW: &str = "the memory that is being added";
const OLD: &str = "a memory of before";

fn attacks() -> Vec<Attack> {
    let attack = |name, from, args: &[&'static str]| Attack {
        name,
        args: args.to_vec(),
        from,
    };
    vec![
        attack("first index", "nothing", &["index", "--json"]),
        attack("index", "changed", &["index", "--json"]),
        attack("rebuild", "changed", &["index", "--rebuild", "--json"]),
        attack("first embed", "indexed", &["embed", "--json"]),
        attack("embed", "reindexed", &["embed", "--json"]),
        attack("first ask", "embedded", &["ask", QUESTION, "--json"]),
        attack("ask", "used", &["ask", QUESTION, "--json"]),
        attack("first memory", "embedded", &memory_add(NEW)),
        attack("memory", "used", &memory_add(NEW)),
        attack(
            "tool",
            "used",
            &["tool", "run", "grep", "--arg", "pattern=oven", "--json"],
        ),
    ]
}

/// Codes that report damage. A failed write leaves the files intact, so it must never lead to one
/// of these codes.
const ALARMS: &[&str] = &[
    "DB_CORRUPT",
    "DB_FOREIGN",
    "DURABLE_MISSING",
    "LEDGER_BROKEN",
    "RUN_TAMPERED",
    "CONFIG_UNTRUSTED",
];

/// A world, copies of its state at several moments, and the content of a fresh state of its notes.
struct Place {
    world: World,
    fresh: Vec<String>,
}

impl Place {
    fn new(seed: u64, budget: &Budget) -> Self {
        let world = empty_world(&budget.place);
        let kept = world.root().join("versions");
        let mut vault = Vault::new(&world.vault(), &kept, seed, 4, [2, 1, 14]);
        let place = Self {
            world,
            fresh: Vec::new(),
        };
        let world = &place.world;
        fs::create_dir_all(world.state()).unwrap();
        world.adopt_state();
        place.keep("nothing");
        for job in ["index", "embed"] {
            world.ok(&[job]);
        }
        vault.churn(3);
        place.keep("changed");
        world.ok(&["index"]);
        place.keep("reindexed");
        world.ok(&["embed"]);
        place.keep("embedded");
        world.ok(&["ask", QUESTION]);
        world.ok(&memory_add(OLD));
        place.keep("used");
        place.restore("nothing");
        place.world.ok(&["index"]);
        place.keep("indexed");
        place.world.ok(&["embed"]);
        let fresh = place.dump().unwrap();
        Self { fresh, ..place }
    }

    fn copy_of(&self, name: &str) -> PathBuf {
        self.world.root().join("states").join(name)
    }

    fn keep(&self, name: &str) {
        copy(&self.world.state(), &self.copy_of(name));
    }

    fn restore(&self, name: &str) {
        fs::remove_dir_all(self.world.state()).unwrap();
        copy(&self.copy_of(name), &self.world.state());
    }

    /// All rows of index and vectors, or the reason why they cannot be read.
    fn dump(&self) -> Result<Vec<String>, String> {
        let state = State(self.world.state());
        let dump = catch_unwind(AssertUnwindSafe(|| {
            [state.dump_index(), state.dump_vectors(&fingerprint())].concat()
        }));
        dump.map_err(|why| said(&*why))
    }

    fn folders(&self) -> [PathBuf; 2] {
        [self.world.state(), self.world.home()].map(|path| path.canonicalize().unwrap())
    }
}

/// A fault of the call with a number, in one of the attacks.
type Trial = (usize, usize, Fault);

/// One operation is one fault.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("fault", seed, budget);
    let place = Place::new(seed, budget);
    let all = trials(&mut tally, &place);
    tally.operations = 0;
    drop(place);
    let chosen = evenly(all, budget.operations, seed);
    let part = |number| {
        let mine = chosen.iter().skip(number).step_by(budget.threads);
        share(seed, budget, mine.copied().collect())
    };
    let part = &part;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..budget.threads)
            .map(|number| scope.spawn(move || part(number)))
            .collect();
        for thread in threads {
            tally.add(thread.join().unwrap());
        }
    });
    tally
}

/// Every fault of every call that the attacks make.
fn trials(tally: &mut Tally, place: &Place) -> Vec<Trial> {
    let mut all = Vec::new();
    for (which, attack) in attacks().iter().enumerate() {
        place.restore(attack.from);
        let mut command = place.world.command();
        command.args(&attack.args);
        let clean = trace(&command, &place.folders(), None);
        tally.must(attack.name, &clean.ran);
        if clean.calls.is_empty() {
            tally.defect(attack.name, "no call that changes a file was seen");
        }
        for (at, call) in clean.calls.iter().enumerate() {
            let name = call.split(' ').next().unwrap_or_default();
            let fitting = Fault::ALL.into_iter().filter(|fault| fault.fits(name));
            all.extend(fitting.map(|fault| (which, at, fault)));
        }
    }
    all
}

/// The trials of one thread, in a world of its own.
fn share(seed: u64, budget: &Budget, trials: Vec<Trial>) -> Tally {
    let mut tally = Tally::new("fault", seed, budget);
    let place = Place::new(seed, budget);
    let attacks = attacks();
    let number = trials.len();
    for (done, (which, at, fault)) in trials.into_iter().enumerate() {
        if !tally.goes_on(budget) {
            break;
        }
        trial(&mut tally, &place, &attacks[which], at, fault);
        tally.operations = done + 1;
        if tally.operations.is_multiple_of(250) {
            eprintln!(
                "fault: {} of {number}, {} findings",
                tally.operations,
                tally.findings.len()
            );
        }
    }
    tally
}

/// At most `most` elements of `all`, evenly spread; the seed determines the first.
fn evenly<T>(all: Vec<T>, most: usize, seed: u64) -> Vec<T> {
    let step = all.len().div_ceil(most.max(1)).max(1);
    let first = usize::try_from(seed).unwrap_or(0) % step;
    all.into_iter().skip(first).step_by(step).collect()
}

fn trial(tally: &mut Tally, place: &Place, attack: &Attack, at: usize, fault: Fault) {
    place.restore(attack.from);
    let before = memories(&run_here(&place.world, &["memory", "list", "--json"]).json());
    let mut records = place.world.complete_records();
    let mut command = place.world.command();
    command.args(&attack.args);
    let traced = trace(&command, &place.folders(), Some((at, fault)));
    let call = traced.calls.get(at).cloned().unwrap_or_default();
    let what = format!("{fault:?} at {at}, {call}");
    let ran = &traced.ran;
    if fault.kills() {
        if ran.late || ran.stderr.contains("panicked at") {
            tally.defect(attack.name, format!("{what}: {ran:?}"));
        }
    } else if let Some(wrong) = ran.wrong() {
        tally.defect(attack.name, format!("{what}: {wrong}"));
    } else if ALARMS.contains(&ran.code().as_str()) {
        tally.find(
            Kind::FalseAlarm,
            attack.name,
            format!("{what}: {}", ran.stdout),
        );
    }
    let done = ran.done();
    if done && let Some(record) = ran.json()["run_record"].as_str() {
        let folder = Path::new(record).parent().and_then(Path::file_name);
        records.extend(folder.map(|name| name.to_string_lossy().into_owned()));
    }
    mended(tally, place, attack, &what);
    let listed = memories(&run_here(&place.world, &["memory", "list", "--json"]).json());
    let mut kept = before;
    if done && attack.args[0] == "memory" {
        kept.insert(NEW.to_owned());
    }
    if !kept.is_subset(&listed) {
        let lost = format!("{what}: {kept:?} became {listed:?}");
        tally.find(Kind::LostRow, &format!("{}: memory", attack.name), lost);
    }
    let found = place.world.complete_records();
    if !records.is_subset(&found) {
        let lost = format!("{what}: {records:?} became {found:?}");
        tally.find(Kind::LostRow, &format!("{}: records", attack.name), lost);
    }
}

/// The next runs succeed, nothing is reported as damaged, and rows, vectors and the order of hits
/// are those of a fresh state.
fn mended(tally: &mut Tally, place: &Place, attack: &Attack, what: &str) {
    let next: [&[&str]; 6] = [
        &attack.args,
        &["index", "--json"],
        &["embed", "--json"],
        &["runs", "verify", "--json"],
        &["memory", "list", "--json"],
        &["doctor", "--offline", "--json"],
    ];
    for args in next {
        let ran = run_here(&place.world, args);
        if let Some(wrong) = ran.wrong() {
            tally.defect(attack.name, format!("after {what}: {wrong}"));
        } else if !ran.done() {
            let said = format!("after {what}: `{}`: {}", ran.args, ran.stdout);
            tally.find(Kind::UnexpectedError, attack.name, said);
        }
    }
    match place.dump() {
        Err(why) => tally.find(Kind::LostRow, attack.name, format!("after {what}: {why}")),
        Ok(rows) if rows != place.fresh => {
            let first = rows.iter().zip(&place.fresh).find(|(a, b)| a != b);
            let lines = (rows.len(), place.fresh.len());
            let why = format!("after {what}: {lines:?} rows; {first:?}");
            tally.find(Kind::LostRow, &format!("{}: rows", attack.name), why);
        }
        Ok(_) => {}
    }
}
