//! A stranger's vault with a state folder. Whatever it contains, trusted or not, no file outside
//! the state folder is changed, created or deleted, and every failure has a code.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use local_agent_text::types::Sha256;
use serde_json::json;

use super::churn::Dice;
use super::client::Client;
use super::fresh::warm;
use super::harness::{World, copy};
use super::hostile::{self, Trap};
use super::program::{LIMIT, Running, run as run_here};
use super::stage::Stage;
use super::tally::{Budget, Tally};

/// Every command that opens the state.
const COMMANDS: &[&[&str]] = &[
    &["status", "--json"],
    &["doctor", "--offline", "--json"],
    &["query", "oven", "--json"],
    &["ask", "What is the oven made of?", "--json"],
    &[
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "manual",
        "--content",
        "mine",
        "--json",
    ],
    &["memory", "list", "--json"],
    &["memory", "search", "mine", "--json"],
    &["memory", "repair", "--drop", "--json"],
    &[
        "memory",
        "delete",
        "00000000-0000-4000-8000-000000000000",
        "--json",
    ],
    &["runs", "list", "--json"],
    &["runs", "verify", "--json"],
    &["runs", "head", "--json"],
    &["tool", "log", "--json"],
    &["tool", "run", "grep", "--arg", "pattern=oven", "--json"],
    &["get", "#00000000000000000000000000000000", "--json"],
    &["multi-get", "**/*.md", "--json"],
    &["index", "--json"],
    &["query", "oven", "--refresh", "--json"],
    &["embed", "--json"],
    &["index", "--verify", "--json"],
    &["runs", "head", "--renew", "--json"],
    &["runs", "prune", "--keep", "0", "--json"],
    &["index", "--rebuild", "--json"],
    &["embed", "--rebuild", "--json"],
    &["ask", "What is the oven made of?", "--json"],
    &["config", "show", "--json"],
    &["init", "--here", "--source", "notes=.", "--json"],
];

/// One operation is one command in a hostile world.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("hostile_state", seed, budget);
    let template = template(seed, budget);
    let mut traps = hostile::all(&template.state());
    let mut dice = Dice::new(seed);
    // The worst first, then all the others in an order that depends on the seed.
    for at in (8..traps.len()).rev() {
        traps.swap(at, 8 + dice.below(at - 7));
    }
    'all: loop {
        for trap in &traps {
            for trusted in [false, true] {
                if !tally.goes_on(budget) {
                    break 'all;
                }
                world(&mut tally, &template, trap, trusted, budget);
            }
        }
    }
    tally
}

/// A vault with everything in its state folder.
fn template(seed: u64, budget: &Budget) -> World {
    let mut stage = Stage::new(seed, &budget.place, 5, [2, 1, 12]);
    stage.remember();
    stage.world.ok(&["ask", "What is the oven made of?"]);
    stage
        .world
        .write("precious-note.md", "# Precious\n\nThis note is mine.\n");
    stage.world
}

/// One clone of the vault, in the home of a user who has never used it.
fn world(tally: &mut Tally, template: &World, trap: &Trap, trusted: bool, budget: &Budget) {
    let world = World::empty_in(&budget.place.folder);
    copy(&template.vault(), &world.vault());
    warm(&world);
    let outside = world.root().join("outside");
    for path in [
        "outside/precious.md",
        "outside/folder/inner.md",
        "home/.bashrc",
        "home/.ssh/keys",
    ] {
        let file = world.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{path} is precious\n")).unwrap();
    }
    symlink("precious.md", outside.join("link")).unwrap();
    trap.set(&world.state(), &outside);
    // If a user trusts a state folder that is a link, their state is in the link's target.
    let is_moved = trusted && matches!(trap, Trap::Whole);
    let state = is_moved.then(|| outside.join("folder"));
    if trusted {
        tally.judge(
            "config trust",
            &run_here(&world, &["config", "trust", "--json"]),
        );
    }
    let place = Watched {
        world: &world,
        before: photograph(&world),
        state,
    };
    let name = trap.name();
    for args in COMMANDS {
        let ran = run_here(&world, args);
        tally.judge(&format!("{name}: {}", args[0]), &ran);
        if place.is_touched(tally, &name, &format!("{args:?}, trusted: {trusted}")) {
            return;
        }
    }
    watch(tally, &world, &name);
    agent(&world);
    tally.operations += 1;
    place.is_touched(tally, &name, &format!("watch or mcp, trusted: {trusted}"));
}

fn watch(tally: &mut Tally, world: &World, name: &str) {
    fs::write(world.vault().join("new.md"), "# New\n\noven\n").unwrap();
    let mut command = world.command();
    command.args(["watch", "--debounce", "20", "--json"]);
    let mut running = Running::start(command).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    if running.child.try_wait().unwrap().is_some() {
        tally.judge(&format!("{name}: watch"), &running.wait(LIMIT));
    } else {
        let _ = running.child.kill();
        running.wait(LIMIT);
    }
    fs::remove_file(world.vault().join("new.md")).unwrap();
}

/// A session of an agent. A server may refuse to start, which is correct.
fn agent(world: &World) {
    let Ok(mut client) = Client::start(world) else {
        return;
    };
    for (tool, arguments) in [
        ("status", json!({})),
        ("search", json!({"query": "oven"})),
        ("ask", json!({"question": "What is the oven made of?"})),
        ("grep", json!({"pattern": "oven"})),
    ] {
        let _ = client.call(tool, &arguments);
    }
    let _ = client.end();
}

/// Everything in the world except the state folder and the program's own files in the home folder.
fn photograph(world: &World) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    look(world.root(), &world.state(), &mut found);
    found.retain(|path, _| {
        !path.starts_with(world.home().join(".cache"))
            && !path.starts_with(world.home().join(".config"))
    });
    found.retain(|path, _| !path.starts_with(world.home().join(".local")));
    found
}

fn look(folder: &Path, but: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path == but {
            continue;
        }
        let kind = entry.file_type().unwrap();
        let what = if kind.is_symlink() {
            format!("link to {}", fs::read_link(&path).unwrap().display())
        } else if kind.is_dir() {
            look(&path, but, found);
            "folder".to_owned()
        } else {
            Sha256::of(&fs::read(&path).unwrap_or_default()).to_string()
        };
        found.insert(path, what);
    }
}

/// A world, and all of its files outside the state folder at the start.
struct Watched<'a> {
    world: &'a World,
    before: BTreeMap<PathBuf, String>,
    /// The state folder, if it is outside the vault. New files in it are allowed.
    state: Option<PathBuf>,
}

impl Watched<'_> {
    fn is_touched(&self, tally: &mut Tally, name: &str, after: &str) -> bool {
        let now = photograph(self.world);
        let is_state = |path: &&PathBuf| {
            let state = self.state.as_ref();
            state.is_some_and(|state| path.starts_with(state))
        };
        let changed: Vec<_> = self
            .before
            .iter()
            .filter(|(path, what)| now.get(*path) != Some(what))
            .map(|(path, _)| path)
            .collect();
        let made: Vec<_> = now
            .keys()
            .filter(|path| !self.before.contains_key(*path) && !is_state(path))
            .collect();
        let any = !changed.is_empty() || !made.is_empty();
        if any {
            tally.defect(
                &format!("{name}: touched outside"),
                format!("{after}: changed {changed:?}, made {made:?}"),
            );
        }
        any
    }
}
