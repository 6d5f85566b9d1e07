//! Configuration, trust, and the location of the program's own files.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{configure, indexed, plain, used};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [configuration(), trust(), places()].concat()
}

fn configured(text: &str) -> World {
    let world = plain();
    configure(&world, text);
    world
}

fn configuration() -> Vec<Case> {
    vec![
        case(
            "no configuration anywhere",
            World::empty,
            &["index"],
            "PHASE2_INDEX_ERROR",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "a configuration is there already",
            plain,
            &["init", "--here"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Again(&["init", "--here", "--force"]), Then::Health),
        case(
            "a line that is no YAML",
            || configured("index: ["),
            &["status"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the line is taken out", mend_configuration),
            Then::Health,
        ),
        case(
            "an unknown key",
            || configured("indx: {}\n"),
            &["index"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the key is taken out", mend_configuration),
            Then::Health,
        ),
        case(
            "a value of another kind",
            || configured("ask: {top_n: many}\n"),
            &["index"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the key is taken out", mend_configuration),
            Then::Health,
        ),
        case(
            "--config names no file",
            plain,
            &["status", "--config", "no.yaml"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the file is made", |world| world.write("no.yaml", "{}\n")),
            Then::Health,
        ),
        case(
            "-C names no folder",
            plain,
            &["status", "-C", "nowhere"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Again(&["status", "-C", "."]), Then::Health),
    ]
}

fn mend_configuration(world: &World) {
    world.write("local-agent.yaml", "sources: [{name: notes, root: .}]\n");
}

fn trust() -> Vec<Case> {
    let wide = || configured("security: {allow_any_path: true}\n");
    vec![
        case(
            "a found configuration asks for every path",
            wide,
            &["index"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the list of agreements is damaged",
            broken_trust,
            &["index"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "a state folder that somebody else made",
            stranger,
            &["query", "oven"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the list of state folders is damaged",
            || states("\u{fffd}"),
            &["query", "oven"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the list of state folders holds other bytes",
            states_of_bytes,
            &["query", "oven"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the list of state folders is far too long",
            || states(&"x".repeat(5 << 20)),
            &["query", "oven"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Printed, Then::Health),
    ]
}

fn broken_trust() -> World {
    let world = configured("security: {allow_any_path: true}\n");
    world.ok(&["config", "trust"]);
    fs::write(world.home().join(".config/local-agent/trust.json"), "{").unwrap();
    world
}

fn stranger() -> World {
    let world = used();
    fs::remove_file(world.home().join(".config/local-agent/states")).unwrap();
    world
}

fn states(text: &str) -> World {
    let world = used();
    fs::write(world.home().join(".config/local-agent/states"), text).unwrap();
    world
}

fn states_of_bytes() -> World {
    let world = used();
    fs::write(
        world.home().join(".config/local-agent/states"),
        [0xff, 0xfe, b'\n'],
    )
    .unwrap();
    world
}

#[cfg(unix)]
fn places() -> Vec<Case> {
    use std::os::unix::fs::symlink;
    let link = || {
        let world = indexed();
        let file = world.state().join("index.sqlite");
        fs::rename(&file, world.root().join("elsewhere")).unwrap();
        symlink(world.root().join("elsewhere"), file).unwrap();
        world
    };
    let lock_link = || {
        let world = indexed();
        symlink(
            world.root().join("elsewhere"),
            world.state().join("embed.lock"),
        )
        .unwrap();
        world
    };
    let twice = || {
        let world = indexed();
        fs::hard_link(
            world.state().join("index.sqlite"),
            world.root().join("second"),
        )
        .unwrap();
        world
    };
    let folder = || {
        let world = indexed();
        fs::create_dir(world.state().join("embed.lock")).unwrap();
        world
    };
    vec![
        case(
            "a database is a link to another folder",
            link,
            &["index"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Next("CONFIG_UNTRUSTED")),
        case(
            "a lock is a link",
            lock_link,
            &["embed"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "a database has a second name",
            twice,
            &["index"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "a folder stands where a lock should be",
            folder,
            &["embed"],
            "CONFIG_UNTRUSTED",
        )
        .ends(Follow::Printed, Then::Health),
    ]
}

#[cfg(not(unix))]
fn places() -> Vec<Case> {
    Vec::new()
}
