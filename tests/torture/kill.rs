//! SIGKILL at random moments. The next run repairs the state, all confirmed data are there, and the
//! ledger verifies.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::fresh::compare;
use super::program::{self, Running};
use super::stage::{Stage, memory_add};
use super::tally::{Budget, Tally};

const JOBS: &[&str] = &[
    "index", "rebuild", "embed", "ask", "memory", "tool", "watch", "refresh",
];

/// One operation is one kill.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("kill", seed, budget);
    let mut stage = Stage::new(seed, &budget.place, 24, [3, 1, 18]);
    let mut pace: BTreeMap<&str, Duration> = BTreeMap::new();
    let (mut kills, mut ended) = (0, 0);
    while tally.goes_on(budget) {
        let job = JOBS[(kills + ended) % JOBS.len()];
        let before = tally.operations;
        if kill_one(&mut stage, job, &mut pace, &mut tally) {
            kills += 1;
        } else {
            ended += 1;
        }
        stage.check_query(&mut tally, "lexical");
        stage.check_memory(&mut tally);
        stage.check_ledger(&mut tally);
        if kills % 20 == 19 {
            settle(&mut stage, &mut tally, budget);
        }
        tally.operations = before + 1;
    }
    let done = tally.operations;
    settle(&mut stage, &mut tally, budget);
    tally.operations = done;
    tally
}

fn settle(stage: &mut Stage, tally: &mut Tally, budget: &Budget) {
    compare(tally, &stage.world, &budget.place);
    stage.check_doctor(tally);
    stage.check_query(tally, "hybrid");
}

/// Starts a job and kills it; returns whether it was still running.
fn kill_one(
    stage: &mut Stage,
    job: &'static str,
    pace: &mut BTreeMap<&'static str, Duration>,
    tally: &mut Tally,
) -> bool {
    stage.vault.churn(3);
    if job == "embed" {
        tally.must(
            "index before embed",
            &program::run(&stage.world, &["index", "--json"]),
        );
    }
    let question = format!("Which {} is made of {}?", stage.word(), stage.word());
    let content = stage.new_memory();
    let args: Vec<&str> = match job {
        "rebuild" => vec!["index", "--rebuild", "--json"],
        "ask" => vec!["ask", &question, "--json"],
        "memory" => memory_add(&content),
        "tool" => vec!["tool", "run", "grep", "--arg", "pattern=oven", "--json"],
        "watch" => vec!["watch", "--debounce", "20", "--json"],
        "refresh" => vec!["query", "oven", "--refresh", "--json"],
        job => vec![job, "--json"],
    };
    let usual = pace.get(job).copied().unwrap_or(Duration::from_millis(250));
    let wait = usual.mul_f64(1.2 * stage.dice.share());
    let began = Instant::now();
    let mut running = Running::start(stage.command(&args)).unwrap();
    let mut killed = true;
    while began.elapsed() < wait {
        if running.child.try_wait().unwrap().is_some() {
            killed = false;
            break;
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    if job == "watch" {
        stage.vault.churn(2);
    }
    let _ = running.child.kill();
    let ran = running.wait(program::LIMIT);
    if !killed || ran.done() {
        pace.insert(job, began.elapsed());
        tally.must(job, &ran);
    }
    if job == "memory" && ran.stdout.contains("memory_id") {
        stage.confirmed.insert(content);
    }
    killed
}
