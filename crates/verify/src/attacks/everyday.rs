//! Everyday notes: what a stranger's answer says in its own words, and the same turned round.

use super::outcomes::{all_objected, all_passed, all_rejected, all_undoubted};
use super::*;

const WATER: &str = "The pump by the lower gate was replaced in March because the old one leaked. The tap near the \
    compost bays is still broken. Priya offered to ask a plumber. Nobody objected.\n\nHoses are only allowed after six in \
    the evening. Sprinklers are forbidden, except on seedlings.\n";
const TASKS: &str = "## Tasks\n\n- [x] Order gravel (Priya)\n- [ ] Repair the fence (Olu)\n- [ ] Write to the council about \
    the footpath (Ruth)\n- [x] Clean the shed (Greta)\n";
const BREAD: &str = "The dough contains no egg and no milk. It should not be put in the fridge, because it goes hard there. \
    It can be frozen, but only without the butter.\n\nUse spelt instead of wheat for a nuttier taste. Do not add sugar \
    unless the yeast is old. Let the dough rest under a cloth until it has doubled.\n";
const LEASE: &str = "Subletting is not allowed without consent; the landlord may refuse it only for an important reason. The \
    garden may be used by all tenants of the house, the garage only by the ground floor.\n\n\
    Email counts as notice, letters under the door do not.\n\nHeating: included from the second year.\n";
const MACHINE: &str = "If the tap symbol blinks, the machine gets too little water. Open the tap and clean the filter. If \
    the drain symbol blinks, the hose is kinked. Never use washing-up liquid: it foams.\n\nThe door opens by itself at the \
    end of every programme except Rinse. The child lock is switched off by default.\n";
const TRIP: &str = "The hotel is booked, the boat tour is not yet. Ivan wants to book it by phone since the website does not \
    accept our card. We decided against the camping site.\n\nThe aquarium costs 12 euros per adult, the boat tour 18 euros. \
    The dog stays with the neighbours, who have a garden. Grandma visits her sister.\n\nIf it rains on Saturday, we go to \
    the aquarium.\n";
const CLUB: &str = "The club meets every Tuesday in room B. Until last autumn it met in the canteen. Beginners are taught by \
    Mr. Lund, advanced players by Ms. Ortiz. Most members own a board. Parents are welcome; they are asked not to give \
    advice during a game.\n\nThe summer tournament was planned for July. It has been cancelled since the hall is being \
    painted. Entry is free for members, and guests pay 5 euros.\n\nDo we need insurance? Lund agreed to pay for the clocks.\n";

#[test]
fn a_denial_in_other_words_is_no_contradiction() {
    all_undoubted(&[
        (
            WATER,
            "The tap by the compost bays has not been repaired yet.",
        ),
        (MACHINE, "The child lock is not on by default."),
        (CLUB, "The club no longer meets in the canteen."),
        (CLUB, "Not every member owns a board, but most do."),
        (
            CLUB,
            "Parents should refrain from giving advice during a game.",
        ),
        (
            BREAD,
            "Don't keep the dough in the fridge; it hardens there.",
        ),
    ]);
    all_rejected(
        &[Code::Negation, Code::Direction],
        &[
            (
                BREAD,
                "It should be put in the fridge, because it goes hard there.",
            ),
            (BREAD, "Add sugar unless the yeast is old."),
        ],
    );
    all_objected(
        &[Code::Negation, Code::Status, Code::Direction],
        &[
            (MACHINE, "The child lock is switched on by default."),
            (WATER, "The tap near the compost bays has been repaired."),
            (MACHINE, "A little washing-up liquid is fine."),
        ],
    );
}

#[test]
fn tasks_with_boxes_are_open_or_done_and_have_a_person() {
    all_passed(&[
        (TASKS, "Olu still has to repair the fence."),
        (TASKS, "Priya has ordered the gravel."),
        (TASKS, "Ruth will write to the council about the footpath."),
    ]);
    all_rejected(
        &[Code::Status, Code::Referent],
        &[
            (TASKS, "The fence has been repaired by Olu."),
            (TASKS, "The shed still has to be cleaned by Greta."),
            (TASKS, "Olu will write to the council about the footpath."),
            (TASKS, "Greta ordered the gravel."),
        ],
    );
}

#[test]
fn an_act_belongs_to_the_person_who_does_it() {
    all_undoubted(&[
        (WATER, "Priya will ask a plumber."),
        (CLUB, "Beginners are taught by Mr. Lund."),
        (TRIP, "The dog stays with the neighbours."),
    ]);
    all_rejected(
        &[Code::Referent],
        &[(TASKS_AND_WATER, "Tomas offered to ask a plumber.")],
    );
    all_objected(
        &[Code::Referent, Code::Direction, Code::Negation],
        &[
            (CLUB, "Beginners are taught by Ms. Ortiz."),
            (CLUB, "Lund refused to pay for the clocks."),
            (STAYS, "The dog stays with the sister."),
        ],
    );
}

const STAYS: &str = "The dog stays with the neighbours. They have a garden. We eat at noon. The sister comes by train.\n";
const TASKS_AND_WATER: &str =
    "Tomas reported that the pump leaked. Priya offered to ask a plumber.\n";

#[test]
fn an_exception_or_a_restriction_is_not_dropped() {
    all_undoubted(&[
        (WATER, "Sprinklers are forbidden, except on seedlings."),
        (WATER, "Hoses may be used after six in the evening."),
        (LEASE, "All tenants of the house may use the garden."),
        (
            BREAD,
            "It can be frozen as long as it is without the butter.",
        ),
    ]);
    all_rejected(
        &[
            Code::Condition,
            Code::Direction,
            Code::Quantifier,
            Code::Order,
        ],
        &[
            (WATER, "Sprinklers are forbidden, even on seedlings."),
            (BREAD, "It can be frozen with the butter on it."),
            (BREAD, "Use wheat instead of spelt for a nuttier taste."),
            (LEASE, "The landlord may refuse subletting for any reason."),
            (TRIP, "We decided for the camping site."),
            (MACHINE, "If the tap symbol blinks, the hose is kinked."),
        ],
    );
    all_objected(
        &[Code::Condition, Code::Quantifier],
        &[
            (WATER, "Sprinklers are forbidden."),
            (LEASE, "Heating is included."),
            (LEASE, "The garage may be used by the tenants."),
            (
                MACHINE,
                "The door opens by itself at the end of every programme.",
            ),
            (TRIP, "On Saturday we go to the aquarium."),
            (CLUB, "Entry is free for everyone."),
        ],
    );
}

#[test]
fn two_things_in_one_sentence_keep_their_own_answers() {
    all_undoubted(&[
        (TRIP, "The boat tour still has to be booked."),
        (
            LEASE,
            "Email counts as notice, but a letter under the door does not.",
        ),
    ]);
    all_objected(
        &[Code::Negation],
        &[
            (TRIP, "The boat tour is booked, the hotel is not yet."),
            (
                LEASE,
                "A letter under the door counts as notice, but email does not.",
            ),
        ],
    );
}

#[test]
fn a_reason_is_the_one_of_the_text() {
    const CANAL: &str = "Work stopped for a year because the company had run out of money, not because of the floods.\n";
    all_undoubted(&[
        (
            WATER,
            "The pump by the lower gate leaked, so it was replaced in March.",
        ),
        (
            TRIP,
            "Ivan wants to book by phone because the website refuses our card.",
        ),
    ]);
    all_rejected(
        &[Code::Cause, Code::Negation],
        &[(CANAL, "Work stopped for a year because of floods.")],
    );
    all_objected(
        &[Code::Cause],
        &[
            (
                WATER,
                "The pump by the lower gate was replaced in March because it was too small.",
            ),
            (TRIP, "Ivan wants to book by phone because it is cheaper."),
        ],
    );
}

#[test]
fn what_was_is_not_what_is() {
    all_undoubted(&[
        (CLUB, "Until last autumn the club met in the canteen."),
        (
            CLUB,
            "The summer tournament was planned for July but has been cancelled.",
        ),
    ]);
    all_objected(
        &[Code::Status],
        &[
            (CLUB, "The club meets in the canteen."),
            (CLUB, "The summer tournament is planned for July."),
            (CLUB, "It has been decided that we need insurance."),
        ],
    );
}

#[test]
fn a_comparison_without_numbers_agrees_with_the_numbers() {
    all_undoubted(&[
        (TRIP, "So the aquarium is the cheaper of the two."),
        (TRIP, "The cheaper one is the aquarium."),
    ]);
    all_rejected(
        &[Code::Direction],
        &[
            (TRIP, "So the boat tour is the cheaper of the two."),
            (TRIP, "The boat tour is cheaper than the aquarium."),
        ],
    );
}

#[test]
fn an_open_question_that_the_text_answers_is_doubtful() {
    all_free(&[
        (WATER, "The notes do not say what the plumber charges."),
        (WATER, "The minutes do not say when the tap broke."),
        (LEASE, "The lease does not say whether smoking is allowed."),
    ]);
    all_objected(
        &[Code::Negation],
        &[
            (WATER, "The minutes do not say why the pump was replaced."),
            (WATER, "The notes do not say when the pump was replaced."),
            (TRIP, "The plan does not say where the dog stays."),
            (TASKS, "Who repairs the fence is not mentioned."),
            (LEASE, "The lease leaves open who may use the garage."),
        ],
    );
}

/// Each answer is a refusal without a doubt.
fn all_free(cases: &[(&str, &str)]) {
    for (evidence, answer) in cases {
        let report = check_in(answer, &snapshot(&[evidence]));
        let doubts = &report.doubts;
        assert!(report.ok && doubts.is_empty(), "{answer}: {doubts:?}");
    }
}

#[test]
fn a_refusal_without_a_citation_may_be_doubtful_too() {
    let report = check_in(
        "The notes do not say why the pump was replaced.",
        &snapshot(&[WATER]),
    );
    assert_eq!(report.outcome, Outcome::Abstained);
    assert_eq!(report.doubts, [Code::Negation]);
}

#[test]
fn a_copied_sentence_with_a_denial_more_is_not_excused_by_the_rest_of_it() {
    let note = "The bakery is open from Tuesday to Sunday, 07:00 to 14:00, and closed on Monday. \
                The cargo bike was bought second-hand and has no warranty.";
    for (answer, outcome) in [
        (
            "The bakery is not open from Tuesday to Sunday, 07:00 to 14:00, and closed on Monday [E1].",
            Outcome::Rejected,
        ),
        (
            "The cargo bike was not bought second-hand and has no warranty [E1].",
            Outcome::Rejected,
        ),
        (
            "The cargo bike was bought second-hand and has no warranty [E1].",
            Outcome::Passed,
        ),
    ] {
        let report = check_in(answer, &snapshot(&[note]));
        assert_eq!(report.outcome, outcome, "{answer} {:?}", report.doubts);
    }
}
