//! The rules of the house: which room may use which, and what only one room may do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Room: the rooms it may use. Every room may use `types` and `error`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("types", &[]),
    ("error", &[]),
    ("state", &[]),
    ("config", &[]),
    ("net", &[]),
    ("models", &["config", "net"]),
    ("sandbox", &["config"]),
    ("markdown", &["config"]),
    ("evidence", &["config", "markdown"]),
    ("store", &["state"]),
    ("lexical", &["state"]),
    ("vectors", &["state"]),
    ("embedding", &["config", "models", "net"]),
    ("llm", &["config", "net"]),
    ("verify", &["config", "evidence", "markdown"]),
    ("tools", &["config", "evidence", "markdown", "sandbox"]),
    ("indexing", &["config", "sandbox", "markdown", "store", "lexical", "vectors", "embedding"]),
    ("retrieval", &["config", "evidence", "lexical", "sandbox", "store", "vectors"]),
    (
        "ask",
        &[
            "config",
            "embedding",
            "evidence",
            "lexical",
            "llm",
            "markdown",
            "retrieval",
            "sandbox",
            "store",
            "tools",
            "verify",
        ],
    ),
    ("runs", &["config", "evidence", "sandbox", "state", "store", "verify"]),
    ("memory", &["lexical", "store"]),
    (
        "doctor",
        &[
            "config",
            "embedding",
            "indexing",
            "lexical",
            "markdown",
            "memory",
            "models",
            "net",
            "retrieval",
            "runs",
            "sandbox",
            "store",
            "vectors",
        ],
    ),
    ("eval", &["config", "evidence", "lexical", "markdown", "retrieval", "verify"]),
    (
        "operations",
        &[
            "ask",
            "config",
            "embedding",
            "evidence",
            "indexing",
            "lexical",
            "llm",
            "markdown",
            "memory",
            "models",
            "retrieval",
            "runs",
            "sandbox",
            "store",
            "tools",
            "vectors",
            "verify",
        ],
    ),
    ("watch", &["config", "indexing", "models", "operations", "sandbox", "store"]),
    ("mcp", &["ask", "config", "evidence", "llm", "operations", "retrieval", "runs", "sandbox", "tools", "verify"]),
    (
        "cli",
        &[
            "ask",
            "config",
            "doctor",
            "embedding",
            "eval",
            "evidence",
            "indexing",
            "lexical",
            "llm",
            "markdown",
            "mcp",
            "memory",
            "models",
            "net",
            "operations",
            "retrieval",
            "runs",
            "sandbox",
            "state",
            "store",
            "tools",
            "verify",
            "vectors",
            "watch",
        ],
    ),
];

fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// Room → (file, code without comments and without its tests).
fn rooms() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&src, &mut files);
    let mut rooms: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
    for file in files {
        let relative = file.strip_prefix(&src).unwrap().to_path_buf();
        let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
        let room = first.trim_end_matches(".rs").to_owned();
        if matches!(room.as_str(), "main" | "lib") || relative.file_stem().is_some_and(|s| s == "tests") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code: Vec<&str> = text
            .lines()
            .take_while(|line| line.trim() != "#[cfg(test)]")
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        rooms.entry(room).or_default().push((relative, code.join("\n")));
    }
    rooms
}

/// The rooms that a piece of code names: `crate::room`, also inside `use crate::{a, b::c}`.
fn used(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = 0;
            for (i, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    ',' | '}' if depth == 0 => {
                        names.push(head(&group[start..i]));
                        start = i + 1;
                        if c == '}' {
                            break;
                        }
                    }
                    '}' => depth -= 1,
                    _ => {}
                }
            }
        } else {
            names.push(head(rest));
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn head(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn every_room_uses_only_what_stands_above_it() {
    let rooms = rooms();
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for (room, files) in &rooms {
        let allowed = table.get(room.as_str()).unwrap_or_else(|| panic!("the room `{room}` is not in the table"));
        for (file, code) in files {
            for name in used(code) {
                let own = name == *room || matches!(name.as_str(), "types" | "error");
                assert!(own || allowed.contains(&name.as_str()), "{} uses `{name}`", file.display());
            }
        }
    }
    for (room, allowed) in MAY_USE {
        assert!(rooms.contains_key(*room), "the table names a room that does not exist: {room}");
        let place = |name: &str| MAY_USE.iter().position(|(room, _)| *room == name).unwrap();
        for name in *allowed {
            assert!(place(name) < place(room), "`{room}` may not use `{name}`: the arrow would point up");
        }
    }
}

/// Fails with every line outside `homes` that holds one of `words`.
fn only_in(homes: &[&str], words: &[&str], why: &str) {
    let mut found = Vec::new();
    for (room, files) in rooms() {
        for (file, code) in files {
            let shown = file.to_string_lossy().replace('\\', "/");
            if homes.iter().any(|home| room == *home || shown.starts_with(home)) {
                continue;
            }
            for line in code.lines().filter(|line| words.iter().any(|word| line.contains(word))) {
                found.push(format!("{shown}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

#[test]
fn only_cli_prints_reads_the_environment_or_exits() {
    only_in(
        &["cli"],
        &[
            "println!",
            "print!(",
            "eprintln!",
            "dbg!(",
            "env::var",
            "env::args",
            "process::exit",
            "io::stdout",
            "io::stderr",
        ],
        "only cli/ prints, reads the environment or exits",
    );
}

#[test]
fn s40_only_net_opens_sockets() {
    only_in(&["net"], &["reqwest::", "hf_hub::", "TcpStream", "UdpSocket", "ureq::"], "only net/ opens sockets");
}

#[test]
fn pure_rooms_touch_neither_disk_nor_clock() {
    for (room, files) in rooms() {
        if !matches!(room.as_str(), "verify" | "markdown" | "evidence") {
            continue;
        }
        for (file, code) in files {
            for word in ["std::fs", "File::", "SystemTime", "Instant", "std::net", "std::env", "getrandom", "thread::"]
            {
                assert!(!code.contains(word), "{} is pure and must not use {word}", file.display());
            }
        }
    }
}

#[test]
fn unsafe_stands_only_in_kernels_and_read_only_maps() {
    only_in(
        &["vectors/kernels", "vectors/map", "vectors/mod", "models/map", "lexical/readonly"],
        &["allow(unsafe_code)", "unsafe {", "unsafe fn"],
        "unsafe is allowed in SIMD kernels and in read-only file maps",
    );
}
