//! Traps that an attacker can put into the state folder of a vault that is given away, each kind
//! once.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

/// One change to a state folder.
#[derive(Debug, Clone)]
pub(crate) enum Trap {
    /// A link in place of an entry, existing or not. It leads to a file of the victim, to a folder,
    /// or to a path that does not exist yet.
    Link {
        at: String,
        to: Target,
    },
    /// The state folder itself is a link.
    Whole,
    /// Names of foreign files in the list of the lexical projection's own files.
    Managed,
    /// Names of foreign files as segments in the manifest of vectors, or in the lexical
    /// projection's.
    Manifest(&'static str),
    /// Triggers on every table of a database, or views in place of its tables.
    Triggers(&'static str),
    Views(&'static str),
    /// A ledger and records that name folders outside.
    Ledger,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    File,
    Folder,
    Nothing,
}

const DATABASES: [&str; 3] = ["index.sqlite", "embeddings.sqlite", "durable.sqlite"];

/// Entries that need not exist to be opened or created.
const POSSIBLE: [&str; 9] = [
    "watch.lock",
    "embed.lock",
    "index.lock",
    "runs/ledger.lock",
    "runs/ledger.jsonl",
    "lexical/.tantivy-writer.lock",
    "lexical/.tantivy-meta.lock",
    "vectors/manifest.json",
    "lexical/meta.json",
];

/// Every trap for a state folder that looks like this one.
pub(crate) fn all(state: &Path) -> Vec<Trap> {
    let lock = Trap::Link {
        at: "embed.lock".to_owned(),
        to: Target::File,
    };
    let mut traps = vec![Trap::Managed, lock, Trap::Whole, Trap::Ledger];
    traps.extend(["vectors/manifest.json", "lexical/meta.json"].map(Trap::Manifest));
    for name in DATABASES {
        traps.extend([Trap::Triggers(name), Trap::Views(name)]);
        for side in ["-wal", "-shm", "-journal"] {
            traps.push(Trap::Link {
                at: format!("{name}{side}"),
                to: Target::File,
            });
            traps.push(Trap::Link {
                at: format!("{name}{side}"),
                to: Target::Nothing,
            });
        }
    }
    for name in POSSIBLE {
        for to in [Target::File, Target::Nothing] {
            traps.push(Trap::Link {
                at: name.to_owned(),
                to,
            });
        }
    }
    let mut entries = Vec::new();
    list(state, Path::new(""), &mut entries);
    for (at, folder) in entries {
        traps.push(Trap::Link {
            at,
            to: if folder { Target::Folder } else { Target::File },
        });
    }
    traps
}

fn list(folder: &Path, below: &Path, entries: &mut Vec<(String, bool)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let at = below.join(entry.file_name());
        let is_folder = entry.path().is_dir();
        entries.push((at.to_string_lossy().into_owned(), is_folder));
        if is_folder {
            list(&entry.path(), &at, entries);
        }
    }
}

impl Trap {
    /// A name without its random parts.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Link { at, to } => {
                let plain = |part: &str| !part.chars().any(|c| c.is_ascii_digit());
                let short: Vec<&str> = at
                    .split('/')
                    .map(|part| if plain(part) { part } else { "…" })
                    .collect();
                format!(
                    "link {} to {}",
                    short.join("/"),
                    format!("{to:?}").to_lowercase()
                )
            }
            Self::Whole => "the folder is a link".to_owned(),
            Self::Managed => "names in .managed.json".to_owned(),
            Self::Manifest(at) => format!("names in {at}"),
            Self::Triggers(at) => format!("triggers in {at}"),
            Self::Views(at) => format!("views in {at}"),
            Self::Ledger => "names in the ledger".to_owned(),
        }
    }

    /// Sets the trap; `victim` is a folder with `precious.md` and `folder/`.
    pub(crate) fn set(&self, state: &Path, victim: &Path) {
        match self {
            Self::Link { at, to } => link(&state.join(at), *to, victim),
            Self::Whole => {
                fs::remove_dir_all(state).unwrap();
                symlink(victim.join("folder"), state).unwrap();
            }
            Self::Managed => managed(state, victim),
            Self::Manifest(at) => manifest(&state.join(at), victim),
            Self::Triggers(at) => triggers(&state.join(at)),
            Self::Views(at) => views(&state.join(at)),
            Self::Ledger => ledger(state),
        }
    }
}

fn link(at: &Path, to: Target, victim: &Path) {
    let target = match to {
        Target::File => victim.join("precious.md"),
        Target::Folder => victim.join("folder"),
        Target::Nothing => victim.join("made-by-a-stranger"),
    };
    let _ = if at.is_dir() {
        fs::remove_dir_all(at)
    } else {
        fs::remove_file(at)
    };
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(target, at).unwrap();
}

/// Names of foreign files: absolute paths, or paths with `..`.
fn foreign(victim: &Path) -> Vec<String> {
    let absolute = |path: PathBuf| path.to_string_lossy().into_owned();
    vec![
        absolute(victim.join("precious.md")),
        absolute(victim.join("folder/inner.md")),
        "../../../outside/precious.md".to_owned(),
        "../../precious-note.md".to_owned(),
        "../durable.sqlite".to_owned(),
    ]
}

fn managed(state: &Path, victim: &Path) {
    let file = state.join("lexical/.managed.json");
    let mut names: Vec<Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    names.extend(foreign(victim).into_iter().map(Value::from));
    fs::write(file, json!(names).to_string()).unwrap();
}

/// Every text of the file that names a segment is in turn replaced by the name of a foreign file.
fn manifest(file: &Path, victim: &Path) {
    let mut value: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let mut names = foreign(victim).into_iter().cycle();
    replace(&mut value, &mut names);
    fs::write(file, value.to_string()).unwrap();
}

fn replace(value: &mut Value, names: &mut impl Iterator<Item = String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, names)),
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                if ["segment_id", "file", "name", "id", "dead"].contains(&name.as_str())
                    && field.is_string()
                {
                    *field = names.next().into();
                } else {
                    replace(field, names);
                }
            }
        }
        _ => {}
    }
}

fn tables(db: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = db.prepare(sql).unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn triggers(file: &Path) {
    let db = Connection::open(file).unwrap();
    for table in tables(&db) {
        for event in ["INSERT", "UPDATE", "DELETE"] {
            let sql = format!(
                "CREATE TRIGGER \"t {table} {event}\" AFTER {event} ON \"{table}\" BEGIN DELETE FROM \"{table}\"; END"
            );
            let _ = db.execute_batch(&sql);
        }
    }
}

fn views(file: &Path) {
    let db = Connection::open(file).unwrap();
    db.execute_batch("PRAGMA foreign_keys = off; PRAGMA legacy_alter_table = on")
        .unwrap();
    for table in tables(&db) {
        let endless = format!(
            "ALTER TABLE \"{table}\" RENAME TO \"was {table}\";
             CREATE VIEW \"{table}\" AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
             SELECT t.* FROM n, \"was {table}\" AS t"
        );
        let _ = db.execute_batch(&endless);
    }
}

/// Lines and records whose run names lead to folders outside.
fn ledger(state: &Path) {
    let file = state.join("runs/ledger.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let named = text
        .split("\"run\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or("none")
        .to_owned();
    fs::write(&file, text.replace(&named, "../../../outside/folder")).unwrap();
    for entry in fs::read_dir(state.join("runs")).unwrap().flatten() {
        let record = entry.path().join("run.json");
        if let Ok(text) = fs::read_to_string(&record) {
            fs::write(record, text.replace(&named, "../../../outside/folder")).unwrap();
        }
    }
}
