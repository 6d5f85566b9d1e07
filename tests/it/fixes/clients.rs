//! Entries in the configurations of clients, and a server that is to be ended.

use super::case::{Case, Follow, Then, case};
use super::place::indexed;
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [entries(), linked(), server()].concat()
}

/// A vault with the configuration of a client that cannot be read.
fn broken_client() -> World {
    let world = indexed();
    world.write("client.json", "[ not JSON");
    world
}

fn entries() -> Vec<Case> {
    vec![
        case(
            "the configuration of a client cannot be read",
            broken_client,
            &[
                "mcp",
                "uninstall",
                "--client",
                "cursor",
                "--file",
                "client.json",
            ],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("it is removed by hand", |world| {
                world.write("client.json", "{\"mcpServers\": {}}\n");
            }),
            Then::Health,
        ),
        case(
            "a client that cannot take the address of a server",
            indexed,
            &[
                "mcp",
                "install",
                "--client",
                "zed",
                "--http",
                "http://127.0.0.1:8377/mcp",
            ],
            "CONFIG_ERROR",
        )
        .ends(Follow::Printed, Then::Instead),
    ]
}

#[cfg(unix)]
fn linked() -> Vec<Case> {
    let link = || {
        let world = indexed();
        let file = world.vault().join("client.json");
        std::os::unix::fs::symlink(world.root().join("nothing"), file).unwrap();
        world
    };
    vec![
        case(
            "the configuration of a client is a link to nothing",
            link,
            &[
                "mcp",
                "install",
                "--client",
                "cursor",
                "--file",
                "client.json",
            ],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("the link is removed", |world| {
                std::fs::remove_file(world.vault().join("client.json")).unwrap();
            }),
            Then::Health,
        ),
    ]
}

#[cfg(not(unix))]
fn linked() -> Vec<Case> {
    Vec::new()
}

fn server() -> Vec<Case> {
    vec![
        case(
            "no server runs",
            indexed,
            &["serve", "stop"],
            "SERVER_UNREACHABLE",
        )
        .ends(
            Follow::ByHand("nothing is to be done", |_| {}),
            Then::Instead,
        ),
    ]
}
