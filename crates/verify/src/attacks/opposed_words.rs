//! L5 and L2: "before" for "after", "including" for "except", another person's act, and a refusal that
//! the text answers, in several languages.

use super::swaps::{found, without};
use super::*;

#[test]
fn an_order_turned_round_is_found_in_several_languages() {
    found(
        Code::Order,
        &[
            (
                "Air the hall before the guests arrive.",
                "The hall is aired once the guests arrive",
            ),
            (
                "Il pane è arrivato da Siena dopo la festa di giugno.",
                "Il pane è arrivato da Siena prima della festa di giugno",
            ),
        ],
    );
    without(
        Code::Order,
        &[(
            "Air the hall before the guests arrive.",
            "The guests arrive after the hall is aired",
        )],
    );
}

#[test]
fn an_exception_that_becomes_a_part_is_found_in_several_languages() {
    found(
        Code::Condition,
        &[(
            "En juin la piscine est fermée, sauf pour le club.",
            "En juin la piscine est fermée, y compris pour le club",
        )],
    );
    without(
        Code::Condition,
        &[(
            "En juin la piscine est fermée, sauf pour le club.",
            "En juin la piscine est fermée, excepté pour le club",
        )],
    );
}

#[test]
fn a_refusal_is_rejected_if_one_sentence_has_the_question_and_its_answer() {
    let note = "The pool closes at 21:30. The lifeguard came on 3 May.";
    let outcome = |answer: &str| check_in(answer, &snapshot(&[note])).outcome;
    assert_eq!(
        outcome("The notes do not say when the pool closes."),
        Outcome::Rejected
    );
    assert_ne!(
        outcome("The notes do not say when the lifeguard will come again."),
        Outcome::Rejected
    );
}

#[test]
fn an_act_of_one_person_is_not_given_to_another() {
    let note = "Nasreen proposed to open longer in summer. The youth group painted the shed in May. \
                The floor is dry. Dorothy keeps the key.";
    found(
        Code::Referent,
        &[(note, "Dorothy wanted to open longer in summer")],
    );
    without(
        Code::Referent,
        &[
            (note, "Nasreen wanted to open longer in summer"),
            (note, "Dorothy keeps the key"),
        ],
    );
}
