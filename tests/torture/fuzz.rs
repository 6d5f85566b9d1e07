//! Mutated markdown and mutated messages. No run crashes, every chunk is word for word at the
//! position that its row names, a second run changes nothing, and a server sends only valid
//! protocol.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use local_agent_index::store::IndexReader;
use local_agent_text::types::Sha256;
use serde_json::json;

use super::churn::{Dice, check_rows};
use super::client::Client;
use super::fresh::{empty_world, said};
use super::harness::World;
use super::program::run as run_here;
use super::tally::{Budget, Tally};

/// Files of one batch.
const BATCH: usize = 60;

/// The parts that markdown consists of.
const PIECES: &[&str] = &[
    "# ",
    "## ",
    "---\n",
    "tags: [a, b]\n",
    "```\n",
    "~~~",
    "> ",
    "- ",
    "1. ",
    "| a | b |\n",
    "|---|\n",
    "[[",
    "]]",
    "[a](b.md)",
    "![",
    "<!-- ",
    "-->",
    "<b>",
    "%%",
    "==",
    "$$",
    "\\",
    "^id",
    "#tag ",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "    ",
    "\u{feff}",
    "é",
    "e\u{301}",
    "日本",
    "\u{200b}",
    "\u{202e}",
    "[^1]",
    "[^1]: ",
    "***",
    "&amp;",
    "oven. ",
    "Granite is hard. ",
    ":::",
    "\u{2028}",
    "title: \"",
    "date: 2026-13-45\n",
    "{{",
    "\u{0}",
    "…",
    "- [ ] ",
];

/// One operation is one mutated file or one mutated message.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("fuzz", seed, budget);
    let mut dice = Dice::new(seed);
    let mut seeds = Vec::new();
    read_notes(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/vault"),
        &mut seeds,
    );
    let world = empty_world(&budget.place);
    let versions = world.root().join("versions");
    fs::create_dir_all(&versions).unwrap();
    while tally.goes_on(budget) {
        let done = tally.operations;
        for at in 0..BATCH {
            let bytes = mutated(&mut dice, &seeds);
            fs::write(versions.join(Sha256::of(&bytes).to_string()), &bytes).unwrap();
            fs::write(world.vault().join(format!("n{at}.md")), bytes).unwrap();
        }
        index(&mut tally, &world, &versions);
        read(&mut tally, &mut dice, &world);
        let messages = messages(&mut tally, &mut dice, &world);
        tally.operations = done + BATCH + messages;
    }
    tally
}

fn read_notes(folder: &Path, notes: &mut Vec<Vec<u8>>) {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_notes(&path, notes);
        } else {
            notes.push(fs::read(path).unwrap());
        }
    }
}

/// A note with parts inserted, removed, doubled and swapped; sometimes no longer UTF-8.
fn mutated(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = if dice.below(4) == 0 {
        Vec::new()
    } else {
        seeds[dice.below(seeds.len())].clone()
    };
    for _ in 0..=dice.below(40) {
        let at = boundary(&bytes, dice.below(bytes.len() + 1));
        let end = boundary(&bytes, (at + dice.below(60)).min(bytes.len()));
        match dice.below(6) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part.repeat(1 + dice.below(30)));
            }
            2 if dice.below(20) == 0 && at < bytes.len() => bytes[at] = dice.roll() as u8,
            _ => {
                let piece = PIECES[dice.below(PIECES.len())].repeat(1 + dice.below(3));
                bytes.splice(at..at, piece.into_bytes());
            }
        }
    }
    bytes
}

/// The first position from `at` on where a character begins.
fn boundary(bytes: &[u8], at: usize) -> usize {
    (at..bytes.len())
        .find(|at| bytes[*at] & 0xc0 != 0x80)
        .unwrap_or(bytes.len())
}

fn index(tally: &mut Tally, world: &World, versions: &Path) {
    tally.must("index", &run_here(world, &["index", "--json"]));
    let again = run_here(world, &["index", "--verify", "--json"]);
    if tally.must("index --verify", &again) && again.json()["docs_changed"] != 0 {
        tally.defect("a second run changes something", again.stdout);
    }
    let checked = catch_unwind(AssertUnwindSafe(|| {
        check_rows(
            &IndexReader::required(&world.state().join("index.sqlite")).unwrap(),
            versions,
        )
    }));
    if let Err(why) = checked {
        tally.defect("a chunk is not word for word", said(&*why));
    }
}

fn read(tally: &mut Tally, dice: &mut Dice, world: &World) {
    for _ in 0..4 {
        let name = format!("n{}.md", dice.below(BATCH));
        let ran = run_here(world, &["get", &name, "--json"]);
        let file = fs::read(world.vault().join(&name)).unwrap();
        if tally.judge("get", &ran)
            && ran.json()["text"].as_str().map(str::as_bytes) != Some(&file[..])
        {
            tally.defect("get gives other bytes", format!("{name}: {}", ran.stdout));
        }
        let path = format!("path={name}");
        tally.judge(
            "outline",
            &run_here(world, &["tool", "run", "outline", "--arg", &path, "--json"]),
        );
    }
}

/// Lines that are almost messages. The server answers a ping after them, and ends cleanly.
fn messages(tally: &mut Tally, dice: &mut Dice, world: &World) -> usize {
    let count = 20 + dice.below(40);
    let mut client = match Client::start(world) {
        Ok(client) => client,
        Err(why) => {
            tally.defect("mcp", why);
            return 0;
        }
    };
    let calls = [
        json!({"name": "search", "arguments": {"query": "oven", "limit": 3}}),
        json!({"name": "get", "arguments": {"address": "n1.md"}}),
        json!({"name": "verify", "arguments": {"answer": "It is so [E1]."}}),
    ];
    let mut sent = Vec::new();
    for at in 0..count {
        let params = &calls[dice.below(calls.len())];
        let line = json!({"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": params})
            .to_string();
        let mut line = mutated(dice, &[line.into_bytes()]);
        line.retain(|byte| *byte != b'\n');
        line.truncate(4096);
        line.push(b'\n');
        sent.push(String::from_utf8_lossy(&line).into_owned());
        if client.raw(&line).is_err() {
            break;
        }
    }
    let alive = client.request("ping", &json!({}));
    let ended = alive.and_then(|_| client.end());
    if let Err(why) = ended {
        tally.defect(
            "mcp",
            format!(
                "{why}; the last lines: {:?}",
                &sent[sent.len().saturating_sub(3)..]
            ),
        );
    }
    count
}
