//! Odd names, odd contents, odd files. Every indexed text is shown word for word and found again by
//! its address. Every other file is skipped and reported. No part of a name reaches a terminal
//! unescaped.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use super::churn::Dice;
use super::fresh::empty_world;
use super::harness::World;
use super::program::run as run_here;
use super::tally::{Budget, Kind, Tally};

/// The parts that names consist of.
const PIECES: &[&[u8]] = &[
    b"caf\xc3\xa9",
    b"cafe\xcc\x81",
    b"NOTE",
    b"note",
    b"a\nb",
    b"a\tb",
    b"\x1b[31mred",
    b"\x1b]8;;http://a\x07",
    "\u{202e}abc".as_bytes(),
    b"\xff\xfe",
    b"caf\xe9",
    b"#",
    b"|",
    b"]",
    b"[",
    b"%2e",
    b"%",
    b"a:b",
    b"C:",
    b"*?",
    b"{a,b}",
    b" ",
    b"\\",
    b"\"",
    b"'",
    b"$(id)",
    b"-rf",
    "日本語".as_bytes(),
    "🦀".as_bytes(),
    b"..",
    b"~",
];

/// One operation is one name, one odd file or one edit.
pub(crate) fn run(seed: u64, budget: &Budget) -> Tally {
    let mut tally = Tally::new("odd", seed, budget);
    let mut dice = Dice::new(seed);
    let special = empty_world(&budget.place);
    special_files(&mut tally, &special);
    stamps(&mut tally, &special, &mut dice);
    while tally.goes_on(budget) {
        names(&mut tally, &mut dice, budget);
    }
    tally
}

fn odd_name(dice: &mut Dice) -> OsString {
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..=dice.below(3) {
        name.extend(PIECES[dice.below(PIECES.len())]);
    }
    if dice.below(8) == 0 {
        name.resize(252, b'n');
    }
    name.truncate(252);
    name.extend(b".md");
    OsString::from_vec(name)
}

/// A vault of twenty odd names, in which every word is read back.
fn names(tally: &mut Tally, dice: &mut Dice, budget: &Budget) {
    let world = empty_world(&budget.place);
    let mut made = Vec::new();
    for at in 0..20 {
        let name = odd_name(dice);
        let folder = if at % 4 == 0 {
            world.vault().join(odd_name(dice))
        } else {
            world.vault()
        };
        let _ = fs::create_dir_all(&folder);
        if fs::write(
            folder.join(&name),
            format!("# Title {at}\n\nThe zebra number {at} is odd.\n"),
        )
        .is_ok()
        {
            made.push(name);
        }
    }
    tally.operations += made.len();
    let operations = tally.operations;
    tally.must("index", &run_here(&world, &["index", "--json"]));
    let found = run_here(
        &world,
        &[
            "query", "zebra", "--mode", "lexical", "--limit", "50", "--json",
        ],
    );
    tally.must("query", &found);
    for hit in found.json()["hits"].as_array().cloned().unwrap_or_default() {
        reread(tally, &world, &hit);
    }
    for args in [
        &["query", "zebra", "--limit", "50"][..],
        &["status"],
        &["doctor", "--offline"],
        &["index", "--rebuild"],
    ] {
        let ran = run_here(&world, args);
        tally.judge(&format!("{args:?} beside odd files"), &ran);
    }
    tally.operations = operations;
}

/// A hit's text is in its file, and its address opens the file.
fn reread(tally: &mut Tally, world: &World, hit: &Value) {
    let path = hit["rel_path"].as_str().unwrap_or_default();
    let text = fs::read_to_string(world.vault().join(path)).unwrap_or_default();
    if !hit["text"]
        .as_str()
        .is_some_and(|shown| text.contains(shown))
    {
        tally.defect("text that is not the file's", hit.to_string());
    }
    let colon = if path.contains(':') {
        " with a colon"
    } else {
        ""
    };
    let ran = run_here(world, &["get", "--json", "--", &format!("notes:{path}")]);
    if tally.must(&format!("get an indexed name{colon}"), &ran)
        && ran.json()["text"].as_str() != Some(&text)
    {
        tally.defect("get gives other bytes", format!("{path:?}: {}", ran.stdout));
    }
}

fn special_files(tally: &mut Tally, world: &World) {
    let vault = world.vault();
    let at = |name: &str| vault.join(name);
    mknodat(
        CWD,
        at("fifo.md"),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(at("socket.md")).ok();
    symlink("loop-b.md", at("loop-a.md")).unwrap();
    symlink("loop-a.md", at("loop-b.md")).unwrap();
    symlink(".", at("round")).unwrap();
    symlink("/proc/self/environ", at("environ.md")).unwrap();
    world.write("plain.md", "# Plain\n\nzebra plain\n");
    fs::hard_link(at("plain.md"), at("second name.md")).unwrap();
    world.write(
        "line.md",
        &format!("zebra {}\n", "granite oven ".repeat(40_000)),
    );
    world.write("spaces.md", &" ".repeat(300_000));
    world.write("empty.md", "");
    world.write("bom.md", "\u{feff}# Bom\r\n\r\nzebra\rline\r\n");
    world.write("headings.md", &"# zebra\n".repeat(5_000));
    world.write("quotes.md", &format!("{}zebra\n", "> ".repeat(5_000)));
    fs::write(at("latin.md"), b"caf\xe9 zebra").unwrap();
    fs::write(at("zero.md"), b"zebra\0zebra").unwrap();
    let sparse = File::create(at("sparse.md")).unwrap();
    sparse.set_len(1 << 32).unwrap();
    world.write(
        &format!("{}zebra.md", "d/".repeat(150)),
        "# Deep\n\nzebra\n",
    );
    for args in [
        &["index", "--json"][..],
        &["index", "--verify", "--json"],
        &["query", "zebra", "--json"],
    ] {
        tally.must("special files", &run_here(world, args));
    }
    for name in [
        "fifo.md",
        "socket.md",
        "loop-a.md",
        "environ.md",
        "round",
        "sparse.md",
        "latin.md",
        "zero.md",
    ] {
        tally.judge("special files", &run_here(world, &["get", name, "--json"]));
    }
    let shown = run_here(world, &["query", "HOME", "--mode", "lexical", "--json"]);
    if shown.stdout.contains("RUST_BACKTRACE=") {
        tally.defect("text from outside", shown.stdout);
    }
}

/// Edits of the same size with the same time stamp, and time stamps of other centuries.
fn stamps(tally: &mut Tally, world: &World, dice: &mut Dice) {
    let file = world.vault().join("stamped.md");
    let epoch = SystemTime::UNIX_EPOCH;
    let day = Duration::from_secs(86_400);
    for (at, time) in [
        epoch - day,
        epoch,
        epoch + 99_500 * day,
        epoch + 20_000 * day,
    ]
    .into_iter()
    .enumerate()
    {
        for round in 0..2 {
            let word = format!("stamp{at}{round}{:04}", dice.below(10_000));
            put(&file, &format!("# Stamp\n\n{word}\n"), round == 1);
            let stamped = File::options()
                .write(true)
                .open(&file)
                .and_then(|open| open.set_modified(time));
            if stamped.is_err() {
                continue;
            }
            tally.must(
                "index after a stamp",
                &run_here(world, &["index", "--json"]),
            );
            let ran = run_here(world, &["query", &word, "--mode", "lexical", "--json"]);
            if tally.must("query after a stamp", &ran) && ran.json()["count"] != 1 {
                tally.find(
                    Kind::LostRow,
                    "an edit was not seen",
                    format!("{word} {time:?}: {}", ran.stdout),
                );
            }
        }
    }
}

/// Writes a file in place, or by a rename as editors do.
fn put(file: &Path, text: &str, rename: bool) {
    let half = file.with_extension("half");
    if rename {
        fs::write(&half, text)
            .and_then(|()| fs::rename(&half, file))
            .unwrap();
    } else {
        fs::write(file, text).unwrap();
    }
}
