//! State folders that came with somebody else's clone, and links in state folders. No file outside
//! is read, changed, created or removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::harness::{World, copy};

/// Commands that open the state, with their arguments.
const COMMANDS: &[&[&str]] = &[
    &["index"],
    &["index", "--rebuild"],
    &["index", "--verify"],
    &["embed"],
    &["query", "boiler"],
    &["query", "--refresh", "boiler"],
    &["ask", "How warm is the boiler?"],
    &["status"],
    &["get", "a.md"],
    &[
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "manual",
        "--content",
        "x",
    ],
    &["memory", "list"],
    &["memory", "repair"],
    &["runs", "list"],
    &["runs", "verify"],
    &["runs", "head", "--renew"],
    &["runs", "prune", "--keep", "0"],
    &["tool", "run", "list_dir"],
    &["tool", "log"],
];

/// A vault with an index, vectors, a memory and a run.
fn used() -> World {
    let world = World::with(&[("a.md", "# Boiler\n\nThe boiler runs at 72 degrees.\n")]);
    world.ok(&["index"]);
    world.ok(&["embed"]);
    world.ok(&[
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "manual",
        "--content",
        "x",
    ]);
    world.ok(&["ask", "How warm is the boiler?"]);
    world
}

/// A folder outside the vault, with files that an attacker wants to reach.
fn victim(world: &World) -> PathBuf {
    let victim = world.root().join("victim");
    fs::create_dir_all(victim.join("folder")).unwrap();
    for name in [
        "thesis.md",
        "folder/manifest.json",
        "folder/meta.json",
        "folder/seg-0123456789abcdef0123456789abcdef.vec",
    ] {
        fs::write(victim.join(name), "precious, without a line end").unwrap();
    }
    victim
}

/// Every file below a folder, with its bytes and mode.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>, u32)> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        if path.is_dir() {
            out.push((path.clone(), Vec::new(), mode));
            out.extend(contents(&path));
        } else {
            out.push((path.clone(), fs::read(&path).unwrap(), mode));
        }
    }
    out.sort();
    out
}

/// A clone of `world`'s vault for a user who has never used that vault.
fn cloned(world: &World) -> World {
    let clone = World::empty();
    copy(&world.vault(), &clone.vault());
    clone
}

#[test]
fn a_state_folder_that_was_not_made_here_is_used_by_no_command() {
    let clone = cloned(&used());
    let before = clone.photograph();
    for command in COMMANDS {
        let envelope = clone.fails(command);
        assert_eq!(envelope["error_code"], "CONFIG_UNTRUSTED", "{command:?}");
        assert!(
            envelope["hint"]
                .as_str()
                .unwrap()
                .starts_with("local-agent config trust"),
            "{command:?}"
        );
        clone.is_as(&before, command);
    }
    let report = clone.run(&["doctor", "--offline", "--json"]);
    assert_eq!(report.code, 1);
    assert!(
        report.stdout.contains("DOCTOR_CONFIG_UNTRUSTED")
            && report.stdout.contains("was not made by you")
    );
    clone.is_as(&before, &["doctor"]);
    // One command is enough to trust it, and then everything works.
    let trusted = clone.json(&["config", "trust"]);
    assert_eq!(trusted["state_folders"].as_array().unwrap().len(), 1);
    for command in COMMANDS {
        clone.ok(command);
    }
}

#[test]
fn a_state_folder_is_recognised_wherever_its_owner_moves_it() {
    let world = used();
    let moved = world.root().join("moved");
    fs::rename(world.vault(), &moved).unwrap();
    let run = world
        .command()
        .current_dir(&moved)
        .args(["query", "boiler"])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn files_that_a_list_in_the_index_names_are_never_removed() {
    for names in [
        vec!["VICTIM"],
        vec!["../durable.sqlite"],
        vec!["VICTIM", "../durable.sqlite", "../../a.md"],
    ] {
        for command in [
            &["index"][..],
            &["query", "--refresh", "boiler"],
            &["index", "--rebuild"],
            &["index", "--verify"],
        ] {
            let world = used();
            let victim = victim(&world).join("thesis.md");
            let list = world.state().join("lexical/.managed.json");
            let mut managed: Vec<String> =
                serde_json::from_slice(&fs::read(&list).unwrap()).unwrap();
            managed.extend(
                names
                    .iter()
                    .map(|name| name.replace("VICTIM", &victim.to_string_lossy())),
            );
            fs::write(&list, serde_json::to_vec(&managed).unwrap()).unwrap();
            world.write("b.md", "# Pump\n\nThe pump runs at noon.\n");
            world.ok(command);
            assert!(
                victim.exists() && world.vault().join("a.md").exists(),
                "{names:?} {command:?}"
            );
            let list = world.json(&["memory", "list"]);
            assert_eq!(list["count"], 1, "{names:?} {command:?}");
            // The projection is rebuilt.
            assert!(
                world
                    .ok(&["query", "--mode", "lexical", "boiler"])
                    .stdout
                    .contains("a.md"),
                "{command:?}"
            );
            assert!(
                world
                    .ok(&["query", "--mode", "lexical", "pump"])
                    .stdout
                    .contains("b.md"),
                "{command:?}"
            );
        }
    }
}

/// Each file and folder of the state is in turn replaced by a link to a file or folder of the user.
/// Every command, with the state trusted, either refuses with a typed failure or works without
/// using the link. The victim's files do not change.
#[test]
fn no_command_follows_a_link_in_the_state_folder() {
    let places = [
        ("index.lock", "thesis.md"),
        ("embed.lock", "thesis.md"),
        ("watch.lock", "thesis.md"),
        ("index.sqlite", "thesis.md"),
        ("index.sqlite-wal", "thesis.md"),
        ("index.sqlite-shm", "thesis.md"),
        ("index.sqlite-journal", "thesis.md"),
        ("embeddings.sqlite", "thesis.md"),
        ("embeddings.sqlite-wal", "made-by-the-program"),
        ("durable.sqlite", "thesis.md"),
        ("durable.sqlite-wal", "made-by-the-program"),
        ("runs", "folder"),
        ("runs/ledger.lock", "thesis.md"),
        ("runs/ledger.jsonl", "thesis.md"),
        ("lexical", "folder"),
        ("lexical/meta.json", "thesis.md"),
        ("lexical/.managed.json", "thesis.md"),
        ("lexical/.tantivy-writer.lock", "thesis.md"),
        ("vectors", "folder"),
        ("vectors/manifest.json", "thesis.md"),
        (".gitignore", "made-by-the-program"),
    ];
    let made = used();
    for (place, target) in places {
        let world = World::empty();
        copy(made.root(), world.root());
        let victim = victim(&world);
        let place = world.state().join(place);
        if place.is_dir() {
            fs::remove_dir_all(&place).unwrap();
        } else {
            let _ = fs::remove_file(&place);
        }
        symlink(victim.join(target), &place).unwrap();
        let before = contents(&victim);
        for command in COMMANDS {
            let run = world.run(command);
            assert_eq!(
                contents(&victim),
                before,
                "{command:?} through {}",
                place.display()
            );
            assert!(
                run.code == 0 || run.stderr.contains("error["),
                "{command:?} {}: {}",
                place.display(),
                run.stderr
            );
            assert!(
                !run.stdout.contains("precious"),
                "{command:?} through {}",
                place.display()
            );
        }
    }
}

#[test]
fn a_link_in_the_state_folder_is_named_with_the_way_to_remove_it() {
    let world = used();
    let victim = victim(&world);
    fs::remove_file(world.state().join("embed.lock")).unwrap();
    symlink(victim.join("thesis.md"), world.state().join("embed.lock")).unwrap();
    world.write("b.md", "# Pump\n\nThe pump runs at noon.\n");
    world.ok(&["index"]);
    let envelope = world.fails(&["embed"]);
    assert_eq!(envelope["error_code"], "CONFIG_UNTRUSTED");
    assert!(
        envelope["error_message"]
            .as_str()
            .unwrap()
            .contains("embed.lock is a link")
    );
    let hint = envelope["hint"].as_str().unwrap();
    assert!(hint.starts_with("rm "), "{hint}");
    fs::remove_file(world.state().join("embed.lock")).unwrap();
    world.ok(&["embed"]);
    assert_eq!(
        fs::read_to_string(victim.join("thesis.md")).unwrap(),
        "precious, without a line end"
    );
}

#[test]
fn a_lock_that_is_a_second_name_of_a_file_is_not_written() {
    let world = used();
    let victim = victim(&world).join("thesis.md");
    fs::remove_file(world.state().join("index.lock")).unwrap();
    fs::hard_link(&victim, world.state().join("index.lock")).unwrap();
    assert_eq!(world.code(&["index"]), "CONFIG_UNTRUSTED");
    assert_eq!(
        fs::read_to_string(victim).unwrap(),
        "precious, without a line end"
    );
}

#[test]
fn what_the_program_writes_is_for_its_owner_alone() {
    let world = used();
    let open = |world: &World| -> Vec<PathBuf> {
        let all = contents(&world.state()).into_iter().chain([(
            world.state(),
            Vec::new(),
            fs::metadata(world.state()).unwrap().permissions().mode(),
        )]);
        all.filter(|(_, _, mode)| mode & 0o077 != 0)
            .map(|(path, ..)| path)
            .collect()
    };
    assert_eq!(open(&world), Vec::<PathBuf>::new());
    assert!(
        fs::read_to_string(world.state().join(".gitignore"))
            .unwrap()
            .contains("\n*\n")
    );
    // An earlier version may have left a folder open to others; the next job restricts it.
    for (path, ..) in contents(&world.state()) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(world.state(), fs::Permissions::from_mode(0o755)).unwrap();
    world.ok(&["index"]);
    assert_eq!(
        fs::metadata(world.state()).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let left: Vec<PathBuf> = open(&world)
        .into_iter()
        .filter(|path| !path.starts_with(world.state().join("runs")))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn looking_makes_no_state_folder() {
    let world = World::with(&[("a.md", "# A\n\ntext\n")]);
    let before = world.photograph();
    for command in [
        &["status"][..],
        &["get", "a.md"],
        &["runs", "list"],
        &["memory", "list"],
    ] {
        world.run(command);
        assert!(!world.state().exists(), "{command:?}");
        world.is_as(&before, command);
    }
}
