//! Files and folders are swapped for links to the outside, thousands of times a second, while the
//! program reads. Bytes from outside are never printed, and are never stored in the state.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::client::Client;
use super::fresh::empty_world;
use super::harness::World;
use super::program;
use super::tally::{Budget, Tally};

/// A text that is in no note.
const SECRET: &str = "outside-word-9d1c";
const INSIDE: &str = "# Inside\n\nThe oven is made of granite.\n";

/// One operation is one read.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("race", seed, budget);
    let world = empty_world(&budget.place);
    prepare(&world);
    world.ok(&["index"]);
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let swaps = [
            ("note.md", "note-link"),
            ("folder", "folder-link"),
            ("deep", "deep-link"),
            ("hidden.md", "hidden-link"),
        ];
        for (here, there) in swaps {
            let (vault, over) = (world.vault(), &over);
            threads.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let _ = renameat_with(
                        CWD,
                        vault.join(here),
                        CWD,
                        vault.join(there),
                        RenameFlags::EXCHANGE,
                    );
                    std::thread::yield_now();
                }
            });
        }
        while tally.goes_on(budget) {
            agent(&world, &mut tally, budget);
            commands(&world, &mut tally);
        }
        over.store(true, Ordering::Relaxed);
    });
    let mut files = Vec::new();
    kept(&world.state(), &mut files);
    for file in files {
        if holds(&fs::read(&file).unwrap_or_default()) {
            tally.defect(
                "bytes from outside in the state",
                file.display().to_string(),
            );
        }
    }
    tally
}

fn prepare(world: &World) {
    let outside = world.root().join("outside");
    fs::create_dir_all(outside.join("inner")).unwrap();
    let foreign = format!("# Outside\n\nThe {SECRET} is made of granite.\n");
    for path in ["secret.md", "inner/secret.md"] {
        fs::write(outside.join(path), &foreign).unwrap();
    }
    for path in [
        "note.md",
        "hidden.md",
        "folder/secret.md",
        "deep/inner/secret.md",
        "still.md",
    ] {
        world.write(path, INSIDE);
    }
    world.write(".private/secret.md", &foreign);
    let vault = world.vault();
    symlink(outside.join("secret.md"), vault.join("note-link")).unwrap();
    symlink("../outside", vault.join("folder-link")).unwrap();
    symlink(&outside, vault.join("deep-link")).unwrap();
    symlink(".private/secret.md", vault.join("hidden-link")).unwrap();
}

fn agent(world: &World, tally: &mut Tally, budget: &Budget) {
    let mut client = match Client::start(world) {
        Ok(client) => client,
        Err(why) => {
            tally.operations += 1;
            return tally.defect("mcp", why);
        }
    };
    for _ in 0..40 {
        for path in [
            "note.md",
            "hidden.md",
            "folder/secret.md",
            "deep/inner/secret.md",
        ] {
            said(tally, client.call("get", &json!({"address": path})));
        }
        said(tally, client.call("multi_get", &json!({"glob": "**/*.md"})));
        said(tally, client.call("grep", &json!({"pattern": "granite"})));
        said(
            tally,
            client.call("search", &json!({"query": "made of granite"})),
        );
        if !tally.goes_on(budget) {
            break;
        }
    }
}

fn said(tally: &mut Tally, answer: Result<serde_json::Value, String>) {
    tally.operations += 1;
    match answer {
        Ok(answer) if holds(answer.to_string().as_bytes()) => {
            tally.defect("bytes from outside", answer.to_string());
        }
        Ok(_) => {}
        Err(why) => tally.defect("mcp", why),
    }
}

fn commands(world: &World, tally: &mut Tally) {
    let all: [&[&str]; 7] = [
        &["get", "note.md", "--json"],
        &["get", "folder/secret.md", "--raw"],
        &[
            "tool",
            "run",
            "read_text_file",
            "--arg",
            "path=deep/inner/secret.md",
            "--json",
        ],
        &["tool", "run", "outline", "--arg", "path=note.md", "--json"],
        &["index", "--rebuild", "--json"],
        &["query", "granite", "--mode", "lexical", "--json"],
        &["index", "--json"],
    ];
    for args in all {
        let ran = program::run(world, args);
        tally.judge("commands", &ran);
        if holds(ran.stdout.as_bytes()) || holds(ran.stderr.as_bytes()) {
            tally.defect(
                "bytes from outside",
                format!("{}: {}", ran.args, ran.stdout),
            );
        }
    }
}

fn holds(bytes: &[u8]) -> bool {
    bytes
        .windows(SECRET.len())
        .any(|window| window == SECRET.as_bytes())
}

fn kept(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            kept(&path, files);
        } else {
            files.push(path);
        }
    }
}
