//! L4: parts of the text that a claim puts together wrongly, whether or not they are names.

use super::*;

fn claim(note: &str, answer: &str) -> Claim {
    let answer = format!("{} [E1].", answer.trim_end_matches('.'));
    let report = check_in(&answer, &snapshot(&[note]));
    report.claims.into_iter().next().unwrap()
}

/// The cases whose claim is not as it should be.
fn misses(cases: &[(&str, &str)], holds: impl Fn(&Claim) -> bool) -> Vec<String> {
    let judged = cases
        .iter()
        .map(|(note, answer)| (note, answer, claim(note, answer)));
    let missed = judged.filter(|(_, _, claim)| !holds(claim));
    missed
        .map(|(note, answer, claim)| {
            format!(
                "{note} | {answer}: {:?} {:?} {}",
                claim.codes, claim.doubts, claim.why
            )
        })
        .collect()
}

pub(super) fn rejected(code: Code, cases: &[(&str, &str)]) {
    let missed = misses(cases, |claim| claim.codes.contains(&code));
    assert!(missed.is_empty(), "{missed:#?}");
}

pub(super) fn found(code: Code, cases: &[(&str, &str)]) {
    let missed = misses(cases, |claim| claim.findings.iter().any(|f| f.code == code));
    assert!(missed.is_empty(), "{missed:#?}");
}

pub(super) fn without(code: Code, cases: &[(&str, &str)]) {
    let missed = misses(cases, |claim| {
        !claim.findings.iter().any(|f| f.code == code)
    });
    assert!(missed.is_empty(), "{missed:#?}");
}

fn fine(cases: &[(&str, &str)]) {
    let missed = misses(cases, |claim| {
        claim.codes.is_empty() && claim.doubts.is_empty()
    });
    assert!(missed.is_empty(), "{missed:#?}");
}

const CABLES: &str = "The red cable carries 5 volts, the blue cable carries 12 volts.";
const SENTENCES: &str = "The red cable carries 5 volts. The blue cable carries 12 volts.";
const FEEDS: &str = "The red cable feeds the pump, the blue cable feeds the lamp.";

#[test]
fn a_value_of_the_other_part_is_rejected_without_capitals() {
    rejected(
        Code::Referent,
        &[
            (CABLES, "The blue cable carries 5 volts"),
            (CABLES, "The red cable carries 12 volts"),
            (SENTENCES, "The blue cable carries 5 volts"),
            (SENTENCES, "The red cable carries 12 volts"),
            (
                CABLES,
                "5 volts run through the blue cable that carries them",
            ),
            (
                "赤いケーブルは5ボルト、青いケーブルは12ボルトです。",
                "青いケーブルは5ボルトです",
            ),
            ("红色电缆是5伏，蓝色电缆是12伏。", "蓝色电缆是5伏"),
            (
                "الكابل الأحمر يحمل 5 فولت، الكابل الأزرق يحمل 12 فولت.",
                "الكابل الأزرق يحمل 5 فولت",
            ),
            ("A costs 5, B costs 7.", "A costs 7"),
            ("A costs 5, B costs 7.", "B costs 5"),
            (
                "The pump costs 5 euros and the valve 7 euros.",
                "The valve costs 5 euros",
            ),
            (
                "The old gate opens on 3 May, the new gate opens on 9 June.",
                "The new gate opens on 3 May",
            ),
            (
                "Das rote Kabel führt 5 Volt, das blaue Kabel führt 12 Volt.",
                "Das blaue Kabel führt 5 Volt",
            ),
            (
                "Le câble rouge porte 5 volts, le câble bleu porte 12 volts.",
                "Le câble bleu porte 5 volts",
            ),
            (
                "El cable rojo lleva 5 voltios, el cable azul lleva 12 voltios.",
                "El cable azul lleva 5 voltios",
            ),
            (
                "Красный кабель несёт 5 вольт, синий кабель несёт 12 вольт.",
                "Синий кабель несёт 5 вольт",
            ),
        ],
    );
}

#[test]
fn parts_put_together_as_in_the_text_pass() {
    fine(&[
        (CABLES, "The blue cable carries 12 volts"),
        (
            CABLES,
            "The red cable carries 5 volts and the blue cable 12 volts",
        ),
        (
            CABLES,
            "The blue cable carries 12 volts, while the red one carries 5 volts",
        ),
        (CABLES, "The blue cable carries 12 volts instead of 5 volts"),
        (
            "The plan costs 20 euros a month, the trial costs 5 euros.",
            "After the trial the plan costs 20 euros a month",
        ),
        (
            "赤いケーブルは5ボルト、青いケーブルは12ボルトです。",
            "青いケーブルは12ボルトです",
        ),
        (
            "الكابل الأحمر يحمل 5 فولت، الكابل الأزرق يحمل 12 فولت.",
            "الكابل الأزرق يحمل 12 فولت",
        ),
        (
            "Adults take two tablets, children take one tablet.",
            "Children take one tablet",
        ),
        (CABLES, "The cables carry 5 volts and 12 volts"),
        (SENTENCES, "The red cable carries 5 volts"),
        (SENTENCES, "12 volts are carried by the blue cable"),
        ("A costs 5, B costs 7.", "A costs 5"),
        ("A costs 5, B costs 7.", "B costs 7"),
        (
            "The red cable carries 5 volts, the blue cable carries 12 volts. The blue cable also has a tap of 5 volts.",
            "The blue cable has a tap of 5 volts",
        ),
        (
            "Das rote Kabel führt 5 Volt, das blaue Kabel führt 12 Volt.",
            "Das blaue Kabel führt 12 Volt",
        ),
        (FEEDS, "The red cable feeds the pump"),
        (FEEDS, "The pump is fed by the red cable"),
        (
            FEEDS,
            "The lamp is fed by the blue cable, the pump by the red cable",
        ),
    ]);
}

#[test]
fn words_of_two_parts_put_together_are_found_without_capitals() {
    found(
        Code::Referent,
        &[
            (FEEDS, "The blue cable feeds the pump"),
            (FEEDS, "The pump is fed by the blue cable"),
            (
                "The red cable feeds the pump. The blue cable feeds the lamp.",
                "The blue cable feeds the pump",
            ),
            (
                "Adults take two tablets, children take one tablet.",
                "Children take two tablets",
            ),
            ("Cats eat fish. Dogs eat bones.", "Dogs eat fish"),
            (
                "Das rote Kabel speist die Pumpe, das blaue Kabel speist die Lampe.",
                "Das blaue Kabel speist die Pumpe",
            ),
        ],
    );
    fine(&[
        (
            "The old pier is long. The old pier is wide.",
            "The old pier is wide and long",
        ),
        (
            "The old pier holds boats. The wide pier holds carts. The old pier is wide.",
            "The old pier is wide",
        ),
    ]);
}
