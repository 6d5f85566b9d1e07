//! A world with a vault that changes, the memories added there, and the checks that every mode
//! makes.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use super::churn::{Dice, Vault};
use super::fresh::empty_world;
use super::harness::World;
use super::program::{Ran, run};
use super::shown::Versions;
use super::tally::{Kind, Place, Tally};

pub(crate) struct Stage {
    pub world: World,
    pub vault: Vault,
    pub dice: Dice,
    pub versions: Versions,
    /// Memories that `memory add` confirmed, and memories of runs that were killed before they
    /// could confirm them.
    pub confirmed: BTreeSet<String>,
    pub asked: BTreeSet<String>,
}

impl Stage {
    /// A vault of this many notes, indexed and embedded.
    pub(crate) fn new(seed: u64, place: &Place, notes: usize, size: [usize; 3]) -> Self {
        let world = empty_world(place);
        let kept = world.root().join("versions");
        let vault = Vault::new(&world.vault(), &kept, seed, notes, size);
        world.ok(&["index"]);
        world.ok(&["embed"]);
        Self {
            versions: Versions::of(&kept),
            world,
            vault,
            dice: Dice::new(seed ^ 0x5eed),
            confirmed: BTreeSet::new(),
            asked: BTreeSet::new(),
        }
    }

    pub(crate) fn word(&mut self) -> &'static str {
        super::churn::WORDS[self.dice.below(super::churn::WORDS.len())]
    }

    /// A memory text that does not exist yet.
    pub(crate) fn new_memory(&mut self) -> String {
        let content = format!("memory {} of {}", self.asked.len(), self.word());
        self.asked.insert(content.clone());
        content
    }

    pub(crate) fn remember(&mut self) -> Ran {
        let content = self.new_memory();
        let ran = run(&self.world, &memory_add(&content));
        if ran.done() {
            self.confirmed.insert(content);
        }
        ran
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.command();
        command.args(args);
        command
    }

    /// Checks that every confirmed memory exists, and that every other one was requested.
    pub(crate) fn check_memory(&self, tally: &mut Tally) {
        let ran = run(&self.world, &["memory", "list", "--json"]);
        if !tally.must("memory list", &ran) {
            return;
        }
        let listed = memories(&ran.json());
        for lost in self.confirmed.difference(&listed) {
            tally.find(Kind::LostRow, "memory lost", lost.as_str());
        }
        for foreign in listed.difference(&self.asked) {
            tally.defect("memory that nobody added", foreign.as_str());
        }
    }

    pub(crate) fn check_ledger(&self, tally: &mut Tally) {
        let ran = run(&self.world, &["runs", "verify", "--json"]);
        if !tally.judge("runs verify", &ran) && ran.wrong().is_none() {
            tally.find(Kind::FalseAlarm, "runs verify", ran.stdout.as_str());
        }
    }

    /// Shows hits of a word that many notes contain; all of them must be in the notes.
    pub(crate) fn check_query(&mut self, tally: &mut Tally, mode: &str) {
        let word = self.word();
        let ran = run(
            &self.world,
            &["query", word, "--mode", mode, "--limit", "20", "--json"],
        );
        if tally.must("query", &ran)
            && let Some(foreign) = self.versions.foreign(&ran.json())
        {
            tally.defect("text that is in no note", foreign);
        }
    }

    /// Doctor must report no problems.
    pub(crate) fn check_doctor(&self, tally: &mut Tally) {
        let ran = run(&self.world, &["doctor", "--offline", "--json"]);
        if tally.judge("doctor", &ran) || ran.wrong().is_some() {
            return;
        }
        tally.find(Kind::FalseAlarm, "doctor", said(&ran.json()));
    }
}

pub(crate) fn memory_add(content: &str) -> Vec<&str> {
    vec![
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "manual",
        "--content",
        content,
        "--json",
    ]
}

/// The contents in the output of `memory list --json`.
pub(crate) fn memories(list: &Value) -> BTreeSet<String> {
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item["content"].as_str().map(str::to_owned))
        .collect()
}

/// Code and suggested fix of doctor's failing checks.
pub(crate) fn failing(report: &Value) -> Vec<(String, String)> {
    let checks = report["checks"].as_array().cloned().unwrap_or_default();
    let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
    let bad = checks.iter().filter(|check| check["ok"] == false);
    bad.map(|check| (text(check, "error_code"), text(check, "suggested_fix")))
        .collect()
}

/// Doctor's failing checks in full, for a finding.
pub(crate) fn said(report: &Value) -> String {
    let checks = report["checks"].as_array().cloned().unwrap_or_default();
    let bad = checks.iter().filter(|check| check["ok"] == false);
    bad.map(|check| format!("{check} ")).collect()
}
