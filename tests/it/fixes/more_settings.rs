//! Names of sources, folders outside, settings with a wrong value, and files that stand where the
//! program keeps its own.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{configure_trusted, configured, file, indexed, plain, used};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [names(), sources(), values(), places(), linked()].concat()
}

/// No configuration, and a folder of notes.
fn unconfigured() -> World {
    let world = World::empty();
    world.write("deep/pump.md", "# Deep pump\n\nIt stands in the cellar.\n");
    world
}

fn names() -> Vec<Case> {
    let added = || {
        let world = unconfigured();
        world.ok(&["source", "add", "deep"]);
        world
    };
    vec![
        case(
            "a name that a source cannot have",
            unconfigured,
            &["source", "add", "deep", "--name", "a:b"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["source", "add", "deep", "--name", "notes"]),
            Then::Health,
        ),
        case(
            "a name that a source cannot have",
            added,
            &["source", "rename", "deep", "a:b"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["source", "rename", "deep", "notes"]),
            Then::Health,
        ),
        case(
            "a name that another source has",
            indexed,
            &["source", "add", "deep", "--name", "notes"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["source", "add", "deep", "--name", "cellar"]),
            Then::Health,
        ),
        case(
            "a text that is neither a folder nor a named one",
            World::empty,
            &["init", "=."],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(&["init", "notes=."]), Then::Health),
        case(
            "a folder outside of the folder of its configuration",
            || {
                let world = World::empty();
                world.write("../home/notes/oven.md", "# Oven\n\nIt is hot.\n");
                world
            },
            &["init", "--here", "--source", "notes=../home/notes"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["init", "notes=../home/notes"]),
            Then::Health,
        ),
        case(
            "nothing was said about a folder",
            indexed,
            &["context", "add", "deep", " "],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
    ]
}

fn sources() -> Vec<Case> {
    vec![
        case(
            "an invalid pattern",
            indexed,
            &["source", "add", "deep", "--include", "{a"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "an invalid extension",
            indexed,
            &["source", "add", "deep", "--extension", "/"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "the sources are written in another layout",
            || {
                let world = indexed();
                let text = "\"sources\": [{name: notes, root: .}]\n";
                world.write("local-agent.yaml", text);
                world
            },
            &["source", "add", "deep", "--name", "cellar"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the source is added by hand", |world| {
                let more = "{name: cellar, root: deep}";
                let text = format!("\"sources\": [{{name: notes, root: .}}, {more}]\n");
                world.write("local-agent.yaml", &text);
                world.ok(&["config", "check"]);
            }),
            Then::Next("INVALID_ARGS"),
        ),
        case(
            "a configuration without sources",
            || {
                let world = indexed();
                world.write("local-agent.yaml", "sources: []\n");
                world
            },
            &["query", "oven"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Filled(&[("DIR", ".")]), Then::Health),
        case(
            "no source to rename",
            unconfigured,
            &["source", "rename", "notes", "cellar"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::Filled(&[("DIR", "deep")]),
            Then::Next("INVALID_ARGS"),
        ),
        case(
            "a configuration of the other program without folders",
            || {
                let world = unconfigured();
                world.write("qmd.yml", "models: {}\n");
                world
            },
            &["import", "qmd", "qmd.yml"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Filled(&[("DIR", "deep")]), Then::Instead),
        case(
            "a configuration is there already",
            plain,
            &["init", "--here", "--source", "cellar=deep"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Printed, Then::Instead),
        case(
            "the collections of another program cannot be read",
            || {
                let world = World::empty();
                world.write("qmd.yml", "collections: [\n");
                world
            },
            &["import", "qmd", "qmd.yml"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the line is mended", |world| {
                world.write("qmd.yml", "collections:\n  notes:\n    path: .\n");
            }),
            Then::Health,
        ),
        case(
            "a workroot that does not exist",
            World::empty,
            &["status", "--workroot", "nowhere"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(&["status"]), Then::Health),
        case(
            "-C with the number of candidates of another program",
            indexed,
            &["query", "oven", "-C", "5"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Again(&["query", "oven"]), Then::Health),
    ]
}

fn values() -> Vec<Case> {
    vec![
        case(
            "vectors that are longer than the model's",
            || configured("embed: {dimensions: 9999}\n"),
            &["embed"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the number is lowered", |world| {
                configure_trusted(world, "embed: {dimensions: 384}\n");
            }),
            Then::Health,
        ),
        case(
            "a tool of agents that does not exist",
            || configured("mcp: {tools: [dance]}\n"),
            &["mcp"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("one of them is named", |world| {
                configure_trusted(world, "mcp: {tools: [grep]}\n");
            }),
            Then::Health,
        ),
        case(
            "an operation of agents that does not exist",
            || configured("mcp: {operations: [dance]}\n"),
            &["mcp"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("one of them is named", |world| {
                configure_trusted(world, "mcp: {operations: [search]}\n");
            }),
            Then::Health,
        ),
    ]
}

/// Files in places where the program makes folders, so that it cannot write.
fn places() -> Vec<Case> {
    vec![
        case(
            "the state folder is below a file",
            || configured("state_dir: oven.md/x\n"),
            &["index"],
            "WRITE_ERROR",
        )
        .ends(
            Follow::ByHand("another folder is set", |world| {
                configure_trusted(world, "state_dir: other\n");
            }),
            Then::Health,
        ),
        case(
            "the folder of the own configuration is a file",
            || {
                let world = plain();
                let folder = world.home().join(".config");
                if folder.is_dir() {
                    fs::remove_dir_all(&folder).unwrap();
                }
                fs::write(folder, "x").unwrap();
                world
            },
            &["index"],
            "WRITE_ERROR",
        )
        .ends(
            Follow::ByHand("the folder can be written again", |world| {
                fs::remove_file(world.home().join(".config")).unwrap();
            }),
            Then::Health,
        ),
        case(
            "the list of state folders cannot be read",
            || {
                let world = used();
                let list = world.home().join(".config/local-agent/states");
                fs::rename(&list, world.root().join("states")).unwrap();
                fs::create_dir(list).unwrap();
                world
            },
            &["query", "oven"],
            "FILE_READ_ERROR",
        )
        .ends(
            Follow::ByHand("the file can be read again", |world| {
                let list = world.home().join(".config/local-agent/states");
                fs::remove_dir(&list).unwrap();
                fs::rename(world.root().join("states"), list).unwrap();
            }),
            Then::Health,
        ),
        case(
            "the folder of caches is a file",
            || {
                let world = plain();
                fs::write(world.home().join(".cache"), "x").unwrap();
                world
            },
            &["try", ".", "oven"],
            "WRITE_ERROR",
        )
        .ends(
            Follow::ByHand("the folder can be written again", |world| {
                fs::remove_file(world.home().join(".cache")).unwrap();
            }),
            Then::Health,
        ),
        case(
            "the records of runs cannot be written",
            || {
                let world = indexed();
                fs::write(file(&world, "runs"), "x").unwrap();
                world
            },
            &["ask", "What is the oven made of?"],
            "WRITE_ERROR",
        )
        .ends(
            Follow::ByHand("another folder is set", |world| {
                configure_trusted(world, "runs: {dir: records}\n");
            }),
            Then::Health,
        ),
        case(
            "the lexical projection cannot be written",
            || {
                let world = indexed();
                let folder = file(&world, "lexical");
                fs::remove_dir_all(&folder).unwrap();
                fs::write(folder, "x").unwrap();
                world
            },
            &["index"],
            "WRITE_ERROR",
        )
        .ends(
            Follow::ByHand("the folder can be written again", |world| {
                fs::remove_file(file(world, "lexical")).unwrap();
            }),
            Then::Health,
        ),
    ]
}

#[cfg(unix)]
fn linked() -> Vec<Case> {
    let state = || {
        let world = plain();
        world.write("local-agent.yaml", "sources: [{name: notes, root: .}]\n");
        fs::create_dir(world.home().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(world.home().join("elsewhere"), world.state()).unwrap();
        world
    };
    vec![
        case(
            "the state folder is a link to another folder",
            state,
            &["index"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
    ]
}

#[cfg(not(unix))]
fn linked() -> Vec<Case> {
    Vec::new()
}
