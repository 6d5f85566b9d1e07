//! Many processes at once: agents, a writer, jobs, memory, questions, readers. At the end the state
//! is the same as if they had run one after another.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::churn::{Dice, WORDS};
use super::client::{Client, code_of};
use super::fresh::compare;
use super::harness::World;
use super::program::{self, Ran};
use super::shown::Versions;
use super::stage::{Stage, failing, memory_add, said};
use super::tally::{Budget, Kind, Tally};

/// Findings of doctor that are allowed while there are writers: files changed, and the jobs have
/// not processed them yet.
const BEHIND: &[&str] = &[
    "DOCTOR_FILES_STALE",
    "DOCTOR_LEXICAL_STALE",
    "DOCTOR_VECTORS_STALE_REQUIRE_PHASE3",
    "DOCTOR_EMBED_MISSING_REQUIRE_PHASE3",
];

/// Whether a finding of doctor reports changed files. If every note changed since the last `embed`,
/// no vector belongs to a chunk any more.
fn is_behind((code, fix): &(String, String)) -> bool {
    let all_changed = code == "DOCTOR_PHASE3_RETRIEVAL_NOT_READY" && fix == "local-agent embed";
    all_changed || BEHIND.contains(&code.as_str())
}

/// The data that all actors share.
struct Shared<'a> {
    stage: Mutex<&'a mut Stage>,
    tally: Mutex<Tally>,
    versions: Mutex<Versions>,
    over: AtomicBool,
    budget: &'a Budget,
    world: &'a World,
}

/// One operation is one command or one call.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut stage = Stage::new(seed, &budget.place, 24, [3, 1, 18]);
    // The world is only read below; only the notes and the memories change.
    let world = std::mem::replace(&mut stage.world, World::empty_in(&budget.place.folder));
    let tally = Tally::new("mix", seed, budget);
    let mut tally = at_once(seed, budget, &world, &mut stage, tally);
    let operations = tally.operations;
    stage.world = world;
    compare(&mut tally, &stage.world, &budget.place);
    stage.check_memory(&mut tally);
    stage.check_ledger(&mut tally);
    stage.check_doctor(&mut tally);
    tally.operations = operations;
    tally
}

/// Lets all actors work until the budget is used up.
fn at_once(seed: u64, budget: &Budget, world: &World, stage: &mut Stage, tally: Tally) -> Tally {
    let shared = Shared {
        versions: Mutex::new(Versions::of(&world.root().join("versions"))),
        stage: Mutex::new(stage),
        tally: Mutex::new(tally),
        over: AtomicBool::new(false),
        budget,
        world,
    };
    let actors: [fn(&Shared<'_>, &mut Dice); 8] =
        [agent, agent, agent, writer, jobs, memory, asker, reader];
    std::thread::scope(|threads| {
        for (at, actor) in actors.into_iter().enumerate() {
            let shared = &shared;
            threads.spawn(move || {
                let mut dice = Dice::new(seed ^ ((at as u64) << 32));
                while shared.goes_on() {
                    actor(shared, &mut dice);
                }
            });
        }
    });
    shared.tally.into_inner().unwrap()
}

impl Shared<'_> {
    fn goes_on(&self) -> bool {
        let more =
            !self.over.load(Ordering::Relaxed) && self.tally.lock().unwrap().goes_on(self.budget);
        if !more {
            self.over.store(true, Ordering::Relaxed);
        }
        more
    }

    fn find(&self, kind: Kind, case: &str, what: String) {
        self.tally.lock().unwrap().find(kind, case, what);
    }

    /// A command that may only fail with one of `codes`.
    fn may(&self, case: &str, ran: &Ran, codes: &[&str]) -> bool {
        let mut tally = self.tally.lock().unwrap();
        if codes.contains(&ran.code().as_str()) {
            tally.judge(case, ran)
        } else {
            tally.must(case, ran)
        }
    }

    /// A call that may only fail with one of `codes`; returns its data.
    fn called(
        &self,
        client: &mut Client,
        tool: &str,
        arguments: &Value,
        codes: &[&str],
    ) -> Option<Value> {
        let result = client.call(tool, arguments);
        self.tally.lock().unwrap().operations += 1;
        match result {
            Err(why) => self.find(Kind::Defect, "mcp", format!("{tool} {arguments}: {why}")),
            Ok(result) => match code_of(&result) {
                None => return Some(result["structuredContent"].clone()),
                Some(code) if codes.contains(&code.as_str()) => {}
                Some(code) => self.find(
                    Kind::UnexpectedError,
                    &format!("mcp {tool}"),
                    format!("{code}: {result}"),
                ),
            },
        }
        None
    }

    fn all_stand_in_notes(&self, answer: &Value) {
        if let Some(foreign) = self.versions.lock().unwrap().foreign(answer) {
            self.find(Kind::Defect, "text that is in no note", foreign);
        }
    }
}

fn word(dice: &mut Dice) -> &'static str {
    WORDS[dice.below(WORDS.len())]
}

/// A session of several calls.
fn agent(shared: &Shared<'_>, dice: &mut Dice) {
    let mut client = match Client::start(shared.world) {
        Ok(client) => client,
        Err(why) => return shared.find(Kind::Defect, "mcp", why),
    };
    for _ in 0..40 {
        if !shared.goes_on() {
            break;
        }
        let query = json!({"query": format!("{} {}", word(dice), word(dice)), "limit": 6});
        let Some(found) = shared.called(&mut client, "search", &query, &[]) else {
            continue;
        };
        shared.all_stand_in_notes(&found);
        let hit = &found["hits"][0];
        match dice.below(5) {
            0 if hit.is_object() => {
                let address = json!({"address": hit["rel_path"]});
                shared.called(&mut client, "get", &address, &["FILE_NOT_FOUND"]);
            }
            1 if hit.is_object() => {
                let sentence = hit["text"]
                    .as_str()
                    .unwrap_or_default()
                    .lines()
                    .last()
                    .unwrap_or_default();
                let text = json!({"answer": format!("{sentence} {}", hit["cite"].as_str().unwrap_or_default())});
                shared.called(
                    &mut client,
                    "verify",
                    &text,
                    &["FILE_NOT_FOUND", "INVALID_ARGS"],
                );
            }
            2 => drop(shared.called(&mut client, "status", &json!({}), &[])),
            3 => {
                let question = json!({"question": format!("What is the {} made of?", word(dice))});
                shared.called(&mut client, "ask", &question, &[]);
            }
            _ => drop(shared.called(&mut client, "grep", &json!({"pattern": word(dice)}), &[])),
        }
    }
    if let Err(why) = client.end() {
        shared.find(Kind::Defect, "mcp", why);
    }
}

fn writer(shared: &Shared<'_>, dice: &mut Dice) {
    shared.stage.lock().unwrap().vault.churn(1 + dice.below(4));
    std::thread::sleep(std::time::Duration::from_millis(
        30 + dice.below(100) as u64,
    ));
}

fn jobs(shared: &Shared<'_>, dice: &mut Dice) {
    let (args, case): (&[&str], &str) = match dice.below(8) {
        0 => (&["index", "--rebuild", "--json"], "index --rebuild"),
        1 => (&["index", "--verify", "--json"], "index --verify"),
        2..=4 => (&["index", "--json"], "index"),
        _ => (&["embed", "--json"], "embed"),
    };
    shared.may(case, &program::run(shared.world, args), &["LOCKED"]);
}

fn memory(shared: &Shared<'_>, dice: &mut Dice) {
    let content = shared.stage.lock().unwrap().new_memory();
    if shared.may(
        "memory add",
        &program::run(shared.world, &memory_add(&content)),
        &[],
    ) {
        shared.stage.lock().unwrap().confirmed.insert(content);
    }
    std::thread::sleep(std::time::Duration::from_millis(dice.below(60) as u64));
}

fn asker(shared: &Shared<'_>, dice: &mut Dice) {
    let question = format!("What is the {} made of?", word(dice));
    shared.may(
        "ask",
        &program::run(shared.world, &["ask", &question, "--json"]),
        &[],
    );
}

fn reader(shared: &Shared<'_>, dice: &mut Dice) {
    match dice.below(4) {
        0 => {
            let ran = program::run(shared.world, &["doctor", "--offline", "--json"]);
            shared.tally.lock().unwrap().judge("doctor", &ran);
            let bad = failing(&ran.json());
            if let Some((code, _)) = bad.iter().find(|bad| !is_behind(bad)) {
                shared.find(
                    Kind::FalseAlarm,
                    &format!("doctor {code}"),
                    said(&ran.json()),
                );
            }
        }
        1 => {
            let ran = program::run(shared.world, &["runs", "verify", "--json"]);
            let done = shared.tally.lock().unwrap().judge("runs verify", &ran);
            if !done && ran.wrong().is_none() {
                shared.find(Kind::FalseAlarm, "runs verify", ran.stdout);
            }
        }
        _ => {
            // Nearly every note contains this word.
            let ran = program::run(
                shared.world,
                &[
                    "query", "note", "--mode", "lexical", "--limit", "10", "--json",
                ],
            );
            if shared.may("query", &ran, &["NOT_FRESH"]) {
                let answer = ran.json();
                shared.all_stand_in_notes(&answer);
                // Between the two commits of `index` the projection is out of date, and the answer
                // must say so.
                let said = answer["stale"].to_string().contains("lexical");
                if answer["count"] == 0 && !said {
                    shared.find(
                        Kind::LostRow,
                        "nothing is found beside a writer, and nothing is said",
                        ran.stdout,
                    );
                }
            }
        }
    }
}
