//! The findings of doctor, with the fixes that it suggests.

mod durable;
mod index;
mod models;
mod settings;
mod vectors;

use super::case::{Case, Follow, Then, case};
use super::place::{configure, used};
use crate::harness::World;

const DOCTOR: &[&str] = &["doctor", "--offline"];
const STRICT: &[&str] = &["doctor", "--offline", "--require-phase3"];

const NAMED: &[&str] = &["doctor", "--offline", "--config", "local-agent.yaml"];

pub(super) fn cases() -> Vec<Case> {
    [
        settings::cases(),
        index::cases(),
        vectors::cases(),
        models::cases(),
        durable::cases(),
    ]
    .concat()
}

/// A finding whose fix, followed as printed, leads to health.
fn mends(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    case(state, make, DOCTOR, code).ends(Follow::Printed, Then::Health)
}

/// The same with `--require-phase3`.
fn strict(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    case(state, make, STRICT, code).ends(Follow::Printed, Then::Health)
}

/// A finding whose fix a person follows by hand.
fn by_hand(
    state: &'static str,
    make: fn() -> World,
    code: &'static str,
    words: &'static str,
    act: fn(&World),
) -> Case {
    case(state, make, DOCTOR, code).ends(Follow::ByHand(words, act), Then::Health)
}

/// A finding of `doctor` with the configuration named, so that nothing waits for trust.
fn named(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    case(state, make, NAMED, code).ends(
        Follow::ByHand("the line is taken out", mend_configuration),
        Then::Health,
    )
}

/// A vault in use, changed.
fn with(change: impl FnOnce(&World)) -> World {
    let world = used();
    change(&world);
    world
}

fn mend_configuration(world: &World) {
    configure(world, "");
}
