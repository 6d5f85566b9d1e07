//! False sentences that share nearly all words with the text, each beside a true one.

use super::outcomes::{all_abstained, all_objected, all_passed, all_undoubted};
use super::*;

const FERRY: &str = "## Ferry\n\n- Fares: adults 12 euros (was 10), dogs free\n- Cabin ventilation: serviced in May, cost \
    340 euros\n- Reservations: two of three confirmed, Malmö still missing\n- Night watch: by Joost\n\nThe anchor winch was \
    repaired. Safety drill for Helena.\n";

const ORCHARD: &str = "## Orchard\n\nAll trees are pruned except the quince. Two of the five grafts took. Only members may \
    pick cherries. The ladder is shared by everybody. Wasps were found in the loft, so the shed is closed because the floor \
    is rotten.\n\nThe basket holds apples and pears.\n";

const JOBS: &str = "## Jobs\n\n- [x] varnish for the hull\n- [ ] sails for the dinghy: patch two seams, new reef points\n- [ ] \
    ring the harbour office about the mooring\n- [x] engine oil changed\n";

const HIVES: &str = "| Street | Cars | Fee |\n|---|---|---|\n| Mill Lane | 41 | €310 |\n| Church Row | 12 | €95 |\n\
    | Station Road | 77 | €540 |\n";

#[test]
fn a_question_that_the_text_answers_is_not_open() {
    all_objected(
        &[Code::Negation],
        &[
            (FERRY, "The notes do not say what the adult fares are [E1]."),
            (FERRY, "The notes do not say how the fares changed [E1]."),
            (
                FERRY,
                "The notes do not say which reservation is missing [E1].",
            ),
            (
                FERRY,
                "The notes do not say how much was paid for the ventilation [E1].",
            ),
            (
                FERRY,
                "The notes do not say whether the anchor winch ever got repaired [E1].",
            ),
            (FERRY, "The notes do not say who needs a safety drill [E1]."),
        ],
    );
    all_abstained(&[
        (
            FERRY,
            "The notes do not say who repaired the anchor winch [E1].",
        ),
        (
            FERRY,
            "The notes do not say which engine the ferry has [E1].",
        ),
        (
            FERRY,
            "The notes do not say whether the cabin has a window [E1].",
        ),
        (FERRY, "The notes do not say when the dogs eat [E1]."),
    ]);
}

#[test]
fn an_exception_of_the_text_is_no_part_of_all() {
    all_objected(
        &[Code::Quantifier, Code::Condition],
        &[
            (ORCHARD, "Every tree is pruned, without exception [E1]."),
            (ORCHARD, "The trees are pruned without any exception [E1]."),
            (ORCHARD, "All five grafts took [E1]."),
            (ORCHARD, "Only Ruben shares the ladder [E1]."),
        ],
    );
    all_passed(&[
        (ORCHARD, "All trees but the quince are pruned [E1]."),
        (ORCHARD, "Two of the five grafts took [E1]."),
        (ORCHARD, "Everybody shares the ladder [E1]."),
    ]);
}

#[test]
fn what_is_added_behind_and_needs_a_word_of_the_text() {
    all_objected(
        &[Code::LowSupport, Code::Cause],
        &[
            (ORCHARD, "The basket holds apples, pears and a melon [E1]."),
            (
                ORCHARD,
                "The shed is closed, as the roof leaks, and wasps were found in the loft [E1].",
            ),
        ],
    );
    all_undoubted(&[
        (ORCHARD, "The basket holds pears and apples [E1]."),
        (ORCHARD, "The shed is closed, as its floor is rotten [E1]."),
    ]);
}

#[test]
fn a_task_with_an_open_box_is_not_done() {
    all_objected(
        &[Code::Status],
        &[
            (
                JOBS,
                "The varnish for the hull is finished, and so are the dinghy's sails [E1].",
            ),
            (
                JOBS,
                "Engine oil has been changed, and so is ringing the harbour office [E1].",
            ),
        ],
    );
    all_passed(&[
        (
            JOBS,
            "The varnish for the hull is finished, and the engine oil is changed [E1].",
        ),
        (JOBS, "The engine oil is changed [E1]."),
    ]);
}

#[test]
fn the_least_of_a_column_is_not_its_most() {
    all_objected(
        &[Code::Direction],
        &[
            (HIVES, "The cheapest was Station Road at €540 [E1]."),
            (
                HIVES,
                "The lowest number of cars, 77, was on Station Road [E1].",
            ),
            (HIVES, "The highest fee is €95, in Church Row [E1]."),
        ],
    );
    all_undoubted(&[
        (HIVES, "The dearest was Station Road at €540 [E1]."),
        (HIVES, "The highest fee is €540, in Station Road [E1]."),
        (HIVES, "The lowest fee is €95, in Church Row [E1]."),
        // The cheapest of them all, although its notice is the longest.
        (
            "| Plan | Price | Notice in months |\n|---|---|---|\n| Basic | €4 | 24 |\n| Plus | €9 | 12 |\n| Pro | €19 | 3 |\n",
            "The cheapest plan has a notice of 24 months [E1].",
        ),
    ]);
}

#[test]
fn a_word_without_its_denying_prefix_is_not_the_same() {
    const PORT: &str = "The crossing was unguarded at 04:05. The lid is non-magnetic. The clause is invalid, and the stairs are \
        uneven. The gate stays unlocked at night.\n";
    all_objected(
        &[Code::Negation, Code::Direction],
        &[
            (PORT, "At 04:05 there was a guarded crossing [E1]."),
            (PORT, "The clause is valid [E1]."),
            (PORT, "The gate stays locked at night [E1]."),
        ],
    );
    all_passed(&[
        (PORT, "At 04:05 there was an unguarded crossing [E1]."),
        (PORT, "The gate is not locked at night [E1]."),
    ]);
}

#[test]
fn what_holds_only_on_a_condition_does_not_hold_in_any_case() {
    const GATE: &str = "The lock gate may be forced only if the name on the permit matches. Das Depot wird ausgezahlt, \
        wenn beide Seiten unterschrieben haben. The bell rings at noon, even if nobody is there.\n";
    all_objected(
        &[Code::Condition],
        &[
            (
                GATE,
                "The lock gate may be forced whether or not the name on the permit matches [E1].",
            ),
            (
                GATE,
                "Das Depot wird ausgezahlt, auch wenn nur eine Seite unterschrieben hat [E1].",
            ),
        ],
    );
    all_undoubted(&[(GATE, "The bell rings at noon even if nobody is there [E1].")]);
}
