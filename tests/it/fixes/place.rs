//! The worlds that cases start from.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::harness::{World, copy};

const NOTES: [(&str, &str); 3] = [
    (
        "oven.md",
        "---\ntags: [kitchen]\n---\n# Oven\n\nThe oven is made of granite. See [[pump]].\n",
    ),
    ("pump.md", "# Pump\n\nThe pump was mended in May.\n"),
    (
        "deep/pump.md",
        "# Deep pump\n\nThe deep pump stands in the cellar.\n",
    ),
];

/// A vault of three notes with a configuration.
pub(super) fn plain() -> World {
    World::with(&NOTES)
}

/// The plain vault, indexed.
pub(super) fn indexed() -> World {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    copy_of(MADE.get_or_init(|| {
        let world = plain();
        world.ok(&["index"]);
        taken(&world)
    }))
}

/// The indexed vault, embedded, with a memory that refers to a chunk and two recorded runs.
pub(super) fn used() -> World {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    copy_of(MADE.get_or_init(|| {
        let world = indexed();
        world.ok(&["embed"]);
        let found = world.json(&["query", "granite", "--mode", "lexical"]);
        let key = found["hits"][0]["chunk_key"].as_str().unwrap();
        world.ok(&[
            "memory",
            "add",
            "--type",
            "user_fact",
            "--source",
            "manual",
            "--content",
            "I bake on Fridays",
        ]);
        world.ok(&[
            "memory",
            "add",
            "--type",
            "user_fact",
            "--source",
            "manual",
            "--content",
            "Granite it is",
            "--chunk-key",
            key,
        ]);
        for _ in 0..2 {
            world.ok(&["ask", "What is the oven made of?"]);
        }
        taken(&world)
    }))
}

fn taken(world: &World) -> TempDir {
    let kept = tempfile::tempdir().unwrap();
    copy(world.root(), kept.path());
    kept
}

fn copy_of(made: &TempDir) -> World {
    let world = World::empty();
    for folder in [world.vault(), world.home()] {
        fs::remove_dir_all(folder).unwrap();
    }
    copy(made.path(), world.root());
    // The index has the old paths of its sources, so it is updated.
    world.ok(&["index"]);
    if world.state().join("vectors").is_dir() {
        world.ok(&["embed"]);
    }
    world
}

/// Replaces the configuration: the one source of these worlds, and these lines below it.
pub(super) fn configure(world: &World, lines: &str) {
    world.write(
        "local-agent.yaml",
        &format!("sources: [{{name: notes, root: .}}]\n{lines}"),
    );
}

/// The same, trusted.
pub(super) fn configure_trusted(world: &World, lines: &str) {
    configure(world, lines);
    world.ok(&["config", "trust"]);
}

/// The indexed vault with these lines in its configuration, trusted.
pub(super) fn configured(lines: &str) -> World {
    let world = indexed();
    configure_trusted(&world, lines);
    world
}

/// The folder of a model of this user.
pub(super) fn model_folder(world: &World, name: &str) -> PathBuf {
    let models = world.home().join(".local/share/local-agent/models");
    models.join(name)
}

/// Copies a tiny model or reranker of `tests/data/encoders`; returns its folder.
pub(super) fn give_model(world: &World, from: &str, name: &str) -> PathBuf {
    let encoders = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/encoders");
    let folder = model_folder(world, name);
    copy(&encoders.join(from), &folder);
    folder
}

/// A file of the state folder.
pub(super) fn file(world: &World, name: &str) -> PathBuf {
    world.state().join(name)
}

/// Damages every page of a database except the first.
pub(super) fn damage(world: &World, name: &str) {
    let file = file(world, name);
    let mut bytes = fs::read(&file).unwrap();
    for page in bytes.chunks_mut(4096).skip(1) {
        page.iter_mut().take(16).for_each(|byte| *byte ^= 0x55);
    }
    fs::write(file, bytes).unwrap();
}

/// Replaces the first bytes of a file, so that its type is unknown.
pub(super) fn behead(world: &World, name: &str) {
    let file = file(world, name);
    let mut bytes = fs::read(&file).unwrap();
    bytes.iter_mut().take(100).for_each(|byte| *byte ^= 0x55);
    fs::write(file, bytes).unwrap();
}

/// Changes a database by SQL.
pub(super) fn sql(world: &World, name: &str, statements: &str) {
    let db = rusqlite::Connection::open(file(world, name)).unwrap();
    db.execute_batch(statements).unwrap();
}

/// The only folder of a recorded run, the newest of several.
pub(super) fn newest_run(world: &World) -> PathBuf {
    let entries = fs::read_dir(file(world, "runs")).unwrap().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.pop().unwrap()
}
