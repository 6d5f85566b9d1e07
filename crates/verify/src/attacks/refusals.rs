//! L2: what is no claim after all. A false sentence must not pass as a refusal or as advice.

use super::*;

const RECIPE: &str =
    "# Cake\n\nThe recipe contains butter and 200 g of walnuts. The table seats six people.\n";
const HULL: &str =
    "# Survey\n\nThe surveyors found three defects in the hull. The mast is sound.\n";
const DESK: &str = "# Insurance\n\nThe guide covers water damage. The price is stated on the box. Water damage is covered.\n";

fn outcome(note: &str, answer: &str) -> Outcome {
    check_in(answer, &snapshot(&[note])).outcome
}

/// The cases that are clean, or not clean, against what is expected.
fn expect_clean(expected: bool, cases: &[(&str, &str)]) {
    let missed: Vec<_> = cases
        .iter()
        .filter(|(note, answer)| is_clean(note, answer) != expected)
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Whether the answer is shown as if nothing were wrong with it.
fn is_clean(note: &str, answer: &str) -> bool {
    let report = check_in(answer, &snapshot(&[note]));
    let fine = |c: &Claim| matches!(c.verdict, Verdict::Checked | Verdict::Verified);
    report.outcome == Outcome::Abstained || report.ok && report.claims.iter().all(fine)
}

#[test]
fn a_cited_denial_about_a_thing_of_the_world_is_examined_as_a_claim() {
    expect_clean(
        false,
        &[
            (RECIPE, "The recipe does not contain nuts [n1.md:3]."),
            (RECIPE, "The recipe does not contain walnuts [E1]."),
            (RECIPE, "The recipe contains no butter [E1]."),
            (RECIPE, "The table does not show six people [E1]."),
            (HULL, "We found no defects in the hull [E1]."),
            (HULL, "I found no defects in the hull [E1]."),
            (HULL, "There is nothing in the hull [E1]."),
            (
                HULL,
                "Unfortunately, the surveyors could not find defects in the hull [E1].",
            ),
            (
                HULL,
                "From the deck, the surveyors could not find defects in the hull [E1].",
            ),
            (HULL, "Your surveyors found no defects in the hull [E1]."),
            (DESK, "The guide does not cover water damage [E1]."),
            (DESK, "Water damage is not covered [E1]."),
            (DESK, "The price is not stated on the box [E1]."),
        ],
    );
}

#[test]
fn an_uncited_denial_about_a_thing_of_the_world_needs_a_citation() {
    for (note, answer) in [
        (RECIPE, "The recipe does not contain nuts."),
        (RECIPE, "The table does not list six people."),
        (HULL, "We found no defects in the hull."),
        (HULL, "The surveyors could not find a defect."),
        (HULL, "There is nothing in the hull."),
        (HULL, "In the bilge, divers could not find a leak."),
        (DESK, "The guide does not cover water damage."),
        (DESK, "The mayor did not say whether he would resign."),
        (DESK, "The witness mentions nothing about the car."),
        (DESK, "Water damage is not covered."),
        (DESK, "The price is not stated."),
        (DESK, "Your phone cannot answer calls in the tunnel."),
    ] {
        assert_eq!(outcome(note, answer), Outcome::Rejected, "{answer}");
    }
}

#[test]
fn a_denial_that_the_evidence_makes_itself_needs_a_citation() {
    let note = "The notes of Otto do not mention the fee. We found no leak in the attic.";
    for answer in [
        "The notes do not mention the fee.",
        "The notes mention no fee.",
        "We found no leak in the notes.",
    ] {
        assert_eq!(outcome(note, answer), Outcome::Rejected, "{answer}");
    }
    for answer in [
        "Your notes do not mention the owner.",
        "The provided notes do not mention the owner.",
        "The notes do not say who owns it.",
        "I found no note on the owner.",
        "There's no mention of an owner.",
    ] {
        assert_eq!(outcome(note, answer), Outcome::Abstained, "{answer}");
    }
}

#[test]
fn a_cited_refusal_is_doubted_when_the_text_speaks_of_what_it_denies() {
    for (note, answer) in [
        (RECIPE, "Your notes do not mention walnuts [E1]."),
        (RECIPE, "Your notes contain nothing about butter [E1]."),
        (
            HULL,
            "The notes do not mention any defects in the hull [E1].",
        ),
        (
            HULL,
            "The notes do not say who found the defects in the hull [E1].",
        ),
    ] {
        let report = check_in(answer, &snapshot(&[note]));
        assert_eq!(
            report.doubts,
            [Code::Negation],
            "{answer}: {:#?}",
            report.claims
        );
    }
    expect_clean(
        true,
        &[
            (RECIPE, "Your notes do not mention almonds [E1]."),
            (HULL, "The notes do not say when the mast was made [E1]."),
        ],
    );
}

#[test]
fn a_true_refusal_stays_free() {
    for answer in [
        "The notes do not say when it opens.",
        "Your notes contain nothing about the price.",
        "I found no note on this.",
        "The provided recipe does not mention almonds.",
        "Your guide says nothing about the opening hours.",
        "The given table does not list the owner.",
        "None of the cited pages mention a deadline.",
        "The harbour notes don't explain why it was built.",
        "In your notes, I could not find anything about the owner.",
        "Unfortunately, I couldn't find the date.",
        "There is no information about the owner.",
        "There is no mention of a deadline.",
        "There is nothing about it in your vault.",
        "The owner is not mentioned in the provided documents.",
        "Which languages it supports is not stated.",
        "It does not say which of them is better.",
        "We found nothing about this in the notes.",
        "It cannot be determined from the notes who paid.",
        "Based on the provided notes, I cannot answer this question.",
        "The question cannot be answered from the notes.",
        "There is not enough information.",
        "Diese Frage kann ich nicht beantworten.",
        "Leider kann ich die Frage nicht beantworten.",
        "Die Notizen enthalten nichts über den Preis.",
        "Ich weiß es nicht.",
        "Je ne peux pas répondre à cette question.",
        "No puedo responder a esta pregunta.",
        "Non posso rispondere.",
        "Não posso responder.",
        "无法回答这个问题。",
        "この質問には回答できません。",
        "질문에 답변할 수 없습니다.",
    ] {
        for note in [RECIPE, HULL] {
            assert_eq!(
                outcome(note, answer),
                Outcome::Abstained,
                "{answer}: {:#?}",
                check_in(answer, &snapshot(&[note])).claims
            );
        }
    }
}

#[test]
fn a_refusal_beside_a_claim_that_denies_what_the_text_says_is_doubted() {
    expect_clean(
        false,
        &[
            (
                HULL,
                "I found no defects in the hull, but the mast is sound [E1].",
            ),
            (
                HULL,
                "The mast is sound, but I found no defects in the hull [E1].",
            ),
        ],
    );
    expect_clean(
        true,
        &[
            (
                HULL,
                "I found no owner of the hull, but the mast is sound [E1].",
            ),
            (
                HULL,
                "The mast is sound, but I could not find who made it [E1].",
            ),
        ],
    );
}

#[test]
fn a_refusal_behind_a_claim_does_not_make_the_claim_free() {
    for answer in [
        "The mast leans at noon, though the notes do not mention the owner.",
        "The mast leans at noon; who owns it is not stated.",
        "The notes say that the mast leans at noon, but they do not say where.",
    ] {
        assert_eq!(outcome(HULL, answer), Outcome::Rejected, "{answer}");
        let cited = answer.replacen(',', " [E1],", 1).replacen(';', " [E1];", 1);
        let report = check_in(&cited, &snapshot(&[HULL]));
        assert_eq!(report.claims.len(), 1, "{cited}");
    }
    for answer in [
        "I looked through your notes, but could not find the owner.",
        "As for the owner, the notes do not say who it is.",
    ] {
        assert_eq!(outcome(HULL, answer), Outcome::Abstained, "{answer}");
    }
}

#[test]
fn a_refusal_behind_a_claim_stays_free_and_hides_nothing() {
    expect_clean(
        true,
        &[
            (
                HULL,
                "The mast is sound, but the notes do not say who made it [E1].",
            ),
            (
                HULL,
                "The mast is sound [E1], and I found no note on its maker.",
            ),
            (
                HULL,
                "The notes do not say who made the mast, but the mast is sound [E1].",
            ),
        ],
    );
    expect_clean(
        false,
        &[
            (
                HULL,
                "The mast is not sound, but the notes do not say who made it [E1].",
            ),
            (
                HULL,
                "The mast is not sound [E1], and I found no note on its maker.",
            ),
            (
                HULL,
                "The notes do not say who made the mast, but the mast is not sound [E1].",
            ),
        ],
    );
}

#[test]
fn advice_after_a_refusal_claims_nothing_or_needs_a_citation() {
    for advice in [
        "You may want to check the original document.",
        "Try another search.",
        "Let me know if you have another question.",
        "Please add a note about it.",
        "If you share more details, I can look again.",
        "Would you like me to search again?",
        "Sie können mehr Notizen hinzufügen.",
    ] {
        let answer = format!("The notes do not say when it opens. {advice}");
        assert_eq!(outcome(HULL, &answer), Outcome::Abstained, "{advice}");
    }
    for advice in [
        "You can take two tablets a day.",
        "If you mix bleach with vinegar it is safe.",
        "Try 300 mg.",
        "Try aspirin.",
        "Please press the red button first.",
        "Consider a lower dose.",
        "You may cross the border without a visa.",
        "Feel free to mix bleach with vinegar.",
        "Let me know if you need the dose, which is two tablets.",
        "Bitte nehmen Sie zwei Tabletten am Tag.",
        "Vous pouvez prendre deux comprimés.",
        "Puedes mezclar lejía con vinagre.",
    ] {
        let answer = format!("The notes do not say when it opens. {advice}");
        let report = check_in(&answer, &snapshot(&[HULL]));
        assert!(
            report.codes.contains(&Code::Uncited),
            "{advice}: {:?}",
            report.codes
        );
    }
}

#[test]
fn advice_inside_a_refusal_claims_nothing_or_needs_a_citation() {
    for advice in [
        "but you could try another search",
        "but if you share the note, I can look again",
        "but I can look for other notes",
    ] {
        let answer = format!("I cannot answer this, {advice}.");
        assert_eq!(outcome(HULL, &answer), Outcome::Abstained, "{advice}");
    }
    for advice in [
        "but you can take two tablets a day",
        "but if you mix bleach with vinegar it is safe",
        "but please press the red button first",
        "but I would try the red button",
        "pero si mezcla lejía con vinagre es seguro",
    ] {
        let answer = format!("I cannot answer this, {advice}.");
        let report = check_in(&answer, &snapshot(&[HULL]));
        assert!(
            report.codes.contains(&Code::AbstainWithClaims),
            "{advice}: {:?}",
            report.codes
        );
    }
}
