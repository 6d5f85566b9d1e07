//! One fact of a sentence is replaced: a unit, a status, a name, a scope. Each beside what the note says.

use super::outcomes::{all_abstained, all_objected, all_passed, all_rejected, all_undoubted};
use super::*;

const SCALES: &str = "| Week | Weight (kg) | Length (cm) | Temp °C | Minutes |\n|---|---|---|---|---|\n\
    | 4 | 85 | 43 | 21 | 60 |\n| 5 | 87 | 44 | 23 | 45 |\n";

#[test]
fn a_number_of_a_table_has_the_unit_of_its_column() {
    all_objected(
        &[Code::Unit],
        &[
            (SCALES, "In week 4 the length was 43 mm"),
            (SCALES, "In week 4 the weight was 85 grams"),
            (SCALES, "In week 5 it took 45 seconds"),
        ],
    );
    all_passed(&[
        (SCALES, "In week 4 the length was 43 centimetres"),
        (SCALES, "In week 4 the weight was 85 kilograms"),
        (SCALES, "In week 4 the temperature was 21 degrees"),
        (SCALES, "In week 4 it took an hour"),
        (SCALES, "In week 5 it took 45 minutes"),
    ]);
}

#[test]
fn units_of_time_differ_in_spanish_and_polish_too() {
    all_rejected(
        &[Code::Unit],
        &[
            ("La entrega tarda 3 semanas.", "La entrega tarda tres meses"),
            ("Dostawa trwa 3 tygodnie.", "Dostawa trwa 3 dni"),
        ],
    );
    all_passed(&[
        (
            "La entrega tarda 3 semanas.",
            "La entrega tarda tres semanas",
        ),
        ("Dostawa trwa 3 tygodnie.", "Dostawa trwa 3 tygodnie"),
    ]);
}

#[test]
fn a_rise_to_less_is_none() {
    const RENT: &str =
        "| Month | Rent | Visitors |\n|---|---|---|\n| May | 900 € | 41 |\n| June | 640 € | 77 |\n";
    all_rejected(
        &[Code::Direction],
        &[
            (RENT, "The rent rose from 900 to 640 euros"),
            (RENT, "Visitors fell from 41 to 77"),
        ],
    );
    all_undoubted(&[
        (RENT, "The rent fell from 900 to 640 euros"),
        (RENT, "Visitors rose from 41 to 77"),
    ]);
}

#[test]
fn a_difference_is_that_of_the_two_amounts_beside_it() {
    const BEND: &str =
        "| Week | Bend | Weight |\n|---|---|---|\n| 2 | 62 | 815 g |\n| 16 | 134 | 1,040 g |\n";
    all_objected(
        &[Code::Number],
        &[
            (BEND, "The bend rose from 62 to 134, a gain of 82"),
            (
                BEND,
                "It gained 235 grams, from 815 g at arrival to 1,040 g at release",
            ),
        ],
    );
    all_passed(&[
        (BEND, "The bend rose from 62 to 134, a gain of 72"),
        (
            BEND,
            "It gained 225 grams, from 815 g at arrival to 1,040 g at release",
        ),
        (BEND, "The bend rose from 62 to 134 by week 16"),
    ]);
}

#[test]
fn each_of_two_superlatives_is_of_its_own_number() {
    const HALLS: &str = "| Hall | Seats | Price |\n|---|---|---|\n| North | 71 | £26 |\n| South | 35 | £24 |\n| West | 48 | £19 |\n";
    all_objected(
        &[Code::Direction],
        &[(
            HALLS,
            "North has the fewest seats at 71, South the most at 35",
        )],
    );
    all_undoubted(&[(
        HALLS,
        "North has the most seats at 71, South the fewest at 35",
    )]);
}

#[test]
fn what_is_planned_has_not_happened() {
    const STREAM: &str =
        "A repeat sample is planned for 6 Sept. The boiler service was done on 3 July.";
    all_objected(
        &[Code::Status],
        &[(STREAM, "A repeat sample was taken on 6 September")],
    );
    all_passed(&[
        (STREAM, "A repeat sample is planned for 6 September"),
        (STREAM, "A repeat sample was planned for 6 September"),
        (STREAM, "The boiler service was done on 3 July"),
    ]);
}

#[test]
fn all_is_not_only_and_every_is_not_the_first() {
    const CLUB: &str = "Dogs are allowed in the front bar only. The pump is checked before every trip. Anyone may join.";
    all_objected(
        &[Code::Quantifier],
        &[
            (CLUB, "Dogs are allowed in all bars"),
            (CLUB, "The pump is checked before the first trip"),
        ],
    );
    all_passed(&[
        (CLUB, "Dogs are allowed in the front bar only"),
        (CLUB, "The pump is checked before every trip"),
    ]);
}

#[test]
fn a_condition_that_the_text_sets_is_not_waived() {
    const TRIAL: &str = "The trial runs in May only if the test is clear.";
    all_rejected(
        &[Code::Condition],
        &[(
            TRIAL,
            "The trial runs in May whether or not the test is clear",
        )],
    );
    all_passed(&[(TRIAL, "The trial runs in May only if the test is clear")]);
}

#[test]
fn one_code_of_a_thing_is_not_another() {
    const FLEET: &str = "- FL1 counterbalance, 2.5 t; FL3 reach truck, 1.6 t\n- FL2 out of service since 30 May: mast chain \
        stretched\n- licences: 14 drivers\n";
    all_objected(
        &[Code::Referent],
        &[(
            FLEET,
            "FL3 has been out of service since 30 May with a stretched mast chain",
        )],
    );
    all_undoubted(&[(
        FLEET,
        "FL2 has been out of service since 30 May with a stretched mast chain",
    )]);
}

#[test]
fn what_held_before_does_not_hold_now() {
    const RULES: &str = "- default rule: one discard after 4 races (was: after 5)\n";
    all_rejected(
        &[Code::Order],
        &[(
            RULES,
            "One discard now applies after five instead of four races",
        )],
    );
    all_passed(&[(
        RULES,
        "One discard now applies after four instead of five races",
    )]);
}

#[test]
fn the_opposite_beside_the_same_word_is_doubted() {
    const MAKE: &str =
        "Yield: 5.9 kg, three wheels. Notes: too dry, scalded a bit long. The left hinge is rusty.";
    all_objected(
        &[Code::Direction],
        &[
            (MAKE, "It came out too wet after a rather long scald"),
            (MAKE, "The right hinge is rusty"),
        ],
    );
    all_passed(&[(MAKE, "It came out too dry after a rather long scald")]);
}

const REPAIRS: &str = "Roof leak: the upstairs neighbour paid the plumber. Hull survey: failed, two cracks near the keel.\n\n\
    Fuga en el techo: el vecino pagó al fontanero. Curso de vela: aplazado el 3 de mayo.\n\n\
    Zrezygnowano z nagrania z powodu kosztów.\n\n\
    新水泵3月20日到，价格800元。\n\nRemoved the old importer.\n";

#[test]
fn a_question_is_answered_in_other_languages_and_words_too() {
    all_objected(
        &[Code::Negation],
        &[
            (REPAIRS, "The notes do not say who paid the plumber [E1]."),
            (
                REPAIRS,
                "The notes do not say what happened with the hull survey [E1].",
            ),
            (REPAIRS, "Las notas no dicen quién pagó al fontanero [E1]."),
            (
                REPAIRS,
                "Notatki nie mówią, dlaczego zrezygnowano z nagrania [E1].",
            ),
            (REPAIRS, "笔记没有写新水泵什么时候到[E1]。"),
        ],
    );
    all_abstained(&[
        (
            REPAIRS,
            "The notes do not say who removed the importer [E1].",
        ),
        (
            REPAIRS,
            "The notes do not say what happened with the archive keys [E1].",
        ),
        (
            REPAIRS,
            "Las notas no dicen cuándo se reparó el techo [E1].",
        ),
        (REPAIRS, "笔记没有写谁订了水泵[E1]。"),
    ]);
}
