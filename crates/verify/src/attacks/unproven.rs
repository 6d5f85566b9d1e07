//! True sentences that were refused or doubted although nothing disproves them, each with a false one.

use super::outcomes::{all_objected, all_passed, all_undoubted};
use super::*;

const POOL: &str = "# Pool\n\n| Day | Lanes | Visitors | Water (°C) |\n|---|---|---|---|\n| 3 Mar | 4 | 212 | 27.5 |\n\
    | 10 Mar | 6 | 305 | 28.0 |\n| 17 Mar | 6 | 268 | 26.5 |\n\nDeep end closed on 12 May, reopened on the 19th.\n";
const MARKET: &str = "# Fees\n\nFee: minimum is £12, maximum £40.\nStall holders: the licence is up to EUR 90 a year. The stalls \
    are to be inspected again (still open, 3 of 5 done).\nShed agreed unanimously, only for one year.\n";
const RADIO: &str = "# Radio club\n\nKoenig got 8 masts for €2,400 from Telmast AG, no guy wires.\n\nAntenna A (without the \
    rotator, 150 more) costs 780, antenna B 1,010.\n\nVisitors not on the roof until the mast is earthed.\n";
const QUILT: &str = "# Quilt guild\n\n| No | Block | Fabric | Pieces | Sewn by |\n|---|---|---|---|---|\n| 1 | star | linen | 24 \
    | Ada |\n| 2 | fan | cotton | 18 | Bo |\n| 3 | maple | linen | 31 | Cy |\n| 4 | basket | silk | 12 | Dee |\n";
const GARDEN: &str = "# Jardin\n\nTuyau : au moins 7 mètres, 12 € le mètre. Les enfants n'entrent pas seuls, sauf le \
    mercredi.\n";
const STORE: &str = "# Склад\n\n| Дата | Приход | Расход |\n|---|---|---|\n| 4 янв | 120 | 80 |\n| 8 фев | 140 | 150 |\n";
const HOTEL: &str = "# 民宿\n\n| 房间 | 平日(元) | 周末(元) |\n|---|---|---|\n| 山景 | 260 | 330 |\n| 湖景 | 310 | 420 |\n";
const CLINIC: &str =
    "# Przychodnia\n\nGabinet: Poznań, od maja. Wizyty przejmuje doktor Rudzień.\n";
const WORKSHOP: &str = "# Taller\n\nLuz cortada el 3 de abril, vuelta el 8. No se usa el torno hasta revisar el motor.\n";
const REGATTA: &str = "# Regatta\n\nRegata a 5 e 6 de maio, em caso de nevoeiro a 19 e 20 de maio. Inscritos 14, lugares 30.\n";

/// The verdict on the last sentence of an answer, which has no citation.
fn without_citation(note: &str, sentence: &str) -> Option<Verdict> {
    let answer = format!("Anna wrote this down [E1]. {sentence}");
    let note = format!("{note}\nAnna wrote this down.\n");
    let report = check_in(&answer, &snapshot(&[&note]));
    let last = report.claims.into_iter().find(|c| c.text == sentence);
    last.map(|c| c.verdict)
}

#[test]
fn a_computed_number_without_proof_is_no_contradiction() {
    all_passed(&[
        (POOL, "Between 3 and 10 March the visitors rose by 93."),
        (
            POOL,
            "On 17 March the water was 1.5 degrees colder than on 10 March.",
        ),
        (
            POOL,
            "The deep end reopened seven days after it closed on 12 May.",
        ),
        (
            WORKSHOP,
            "La luz volvió cinco días después, tras el corte del 3 de abril.",
        ),
        (REGATTA, "Ainda há dezasseis lugares."),
        (HOTEL, "湖景房周末420元，比山景房贵90元。"),
        (
            RADIO,
            "With the rotator, antenna A comes to 930, which is 80 less than antenna B.",
        ),
    ]);
    all_objected(
        &[Code::Number, Code::Unit, Code::LowSupport],
        &[
            (POOL, "Between 3 and 10 March the visitors rose by 97."),
            (
                POOL,
                "On 17 March the water was 2.4 degrees colder than on 10 March.",
            ),
            (
                WORKSHOP,
                "La luz volvió seis días después, tras el corte del 3 de abril.",
            ),
            (HOTEL, "湖景房周末420元，比山景房贵80元。"),
            (
                RADIO,
                "With the rotator, antenna A comes to 940, which is 80 less than antenna B.",
            ),
        ],
    );
}

#[test]
fn a_bound_may_be_said_from_the_other_side() {
    all_passed(&[
        (MARKET, "Nobody may pay less than £12 or more than £40."),
        (MARKET, "The licence is up to 90 euros a year."),
    ]);
    all_objected(
        &[Code::Quantifier],
        &[
            (MARKET, "Nobody may pay more than £12 or less than £40."),
            (MARKET, "The licence is at least 90 euros a year."),
        ],
    );
}

#[test]
fn days_and_numerals_of_other_languages_are_read() {
    all_passed(&[
        (GARDEN, "Le tuyau a sept mètres ou plus."),
        (STORE, "8 февраля расход составил 150."),
        (
            REGATTA,
            "A regata é a 5 e 6 de maio, ou a 19 e 20 se houver nevoeiro.",
        ),
    ]);
    all_objected(
        &[Code::Number, Code::Date],
        &[
            (GARDEN, "Le tuyau a huit mètres ou plus."),
            (STORE, "9 февраля расход составил 150."),
            (
                REGATTA,
                "A regata é a 5 e 6 de maio, ou a 19 e 21 se houver nevoeiro.",
            ),
        ],
    );
}

#[test]
fn what_the_text_denies_with_an_exception_is_not_denied() {
    all_passed(&[
        (GARDEN, "Les enfants entrent seuls uniquement le mercredi."),
        (
            RADIO,
            "Visitors stay off the roof until the mast is earthed.",
        ),
        (
            WORKSHOP,
            "Primero se revisa el motor y después se usa el torno.",
        ),
        (
            MARKET,
            "The shed was agreed for one year only, and everybody agreed.",
        ),
        (MARKET, "Three of five stalls have been inspected again."),
    ]);
    all_objected(
        &[Code::Negation, Code::Quantifier],
        &[
            (GARDEN, "Les enfants entrent seuls chaque jour."),
            (RADIO, "Visitors go on the roof until the mast is earthed."),
        ],
    );
    all_undoubted(&[(
        "# Feeding\n\n- day-old chicks as base, mice twice a week; never beef\n",
        "Beef is never fed; day-old chicks are the base.",
    )]);
}

#[test]
fn all_values_of_a_row_belong_to_what_the_row_is_about() {
    all_undoubted(&[
        (QUILT, "The maple block has 31 pieces."),
        (QUILT, "Two blocks are of linen."),
        (
            POOL,
            "On 10 March 305 visitors came and six lanes were open.",
        ),
    ]);
    all_objected(
        &[Code::Referent],
        &[(QUILT, "The maple block has 24 pieces.")],
    );
}

#[test]
fn a_name_in_another_case_is_not_refused() {
    all_passed(&[(
        RADIO,
        "The eight masts that Koenig got from Telmast have no guy wires.",
    )]);
    all_objected(
        &[Code::Name, Code::Order],
        &[
            (CLINIC, "Gabinet jest od maja w Gdańsku."),
            (RADIO, "Telmast got eight masts from Koenig."),
        ],
    );
}

#[test]
fn a_sentence_that_may_name_a_gap_is_not_refused_for_its_missing_citation() {
    for sentence in [
        "No admission price is given.",
        "The log has no entries for April.",
        "Here is how the month went.",
        "Kein Preis ist angegeben.",
        "La liste ne contient aucun nom.",
        "Ningún precio se indica.",
        "Notatki nie podają, kto prowadzi rejestrację.",
        "W notatkach nie ma informacji o parkingu.",
    ] {
        let verdict = without_citation(POOL, sentence);
        assert_ne!(verdict, Some(Verdict::Rejected), "{sentence}");
    }
    for sentence in [
        "No swimmer was hurt.",
        "The log has been signed by Bo.",
        "Here is the price: 12 euros.",
        "Kein Schwimmer wurde verletzt.",
        "Nikt nie pływał.",
    ] {
        let verdict = without_citation(POOL, sentence);
        assert_eq!(verdict, Some(Verdict::Rejected), "{sentence}");
    }
}
