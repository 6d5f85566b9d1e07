//! A value that the cited text does not have: it is refused if the text gives another one in its place,
//! and doubted if nothing disproves it.

use super::outcomes::{all_objected, all_passed, all_rejected, all_undoubted};
use super::*;

/// Each (evidence, answer) is not rejected.
fn none_rejected(cases: &[(&str, &str)]) {
    let (fresh, options) = (FreshnessReport::default(), VerifyOptions::default());
    for (evidence, answer) in cases {
        let cited = format!("{answer} [E1].");
        let report = verify_text(&cited, &snapshot(&[evidence]), &fresh, &options);
        assert_ne!(
            report.outcome,
            Outcome::Rejected,
            "{evidence} | {answer}: {:?}",
            report.codes
        );
    }
}

const RENT: &str = "- Alquiler: 620 €, desde enero 690 € con calefacción.\n";
const FEE: &str =
    "Lid zijn kost 25 euro per jaar; vanaf september 30 euro, voor studenten blijft het 25.\n";
const VISBY: &str = "Nocleg w Visby: 420 SEK za dobę, dwie doby, płatne z góry.\n";

/// Answers that compute in a language whose words for it are unknown were refused.
#[test]
fn a_computed_amount_of_an_unknown_wording_is_no_rejection() {
    none_rejected(&[
        (
            RENT,
            "El alquiler sube setenta euros y queda en 690 con calefacción desde enero",
        ),
        (
            FEE,
            "De contributie van de vereniging stijgt in september voor alle leden met vijf euro, behalve voor studenten",
        ),
        (VISBY, "W Visby dwie doby wyniosły razem z opłatą 840 SEK"),
        (
            "Het ritje duurt 52 minuten; de trein van 13:35 doet er 70 minuten over.\n",
            "The journey takes 52 minutes, except on the 13:35 train, which needs 18 minutes longer",
        ),
    ]);
}

#[test]
fn another_amount_in_the_place_of_the_one_in_the_text_is_refused() {
    all_rejected(
        &[Code::Number, Code::Unit],
        &[
            (
                "The deposit for the hall is 300 € and is paid back within a week.\n",
                "The deposit for renting the hall in the old school is 450 € and is paid back within a week",
            ),
            (
                "La caution de la salle est de 300 € et se rend en une semaine.\n",
                "La caution de la salle est de 450 € et se rend en une semaine",
            ),
        ],
    );
    all_rejected(
        &[Code::Date],
        &[(
            "The exhibition in Lisbon opens on 18 September and closes on 4 October.\n",
            "The exhibition in Lisbon opens on 21 September and closes on 4 October",
        )],
    );
    all_objected(
        &[Code::Number, Code::LowSupport],
        &[(
            "The lion sleeps in the old barn behind the mill.\n",
            "The lion weighs 190 kg according to the keeper of the zoo in town",
        )],
    );
}

/// "The lever at the back (half a turn to the left)" had no half: "the back half" names a part.
#[test]
fn a_half_behind_a_bracket_is_an_amount() {
    all_passed(&[(
        "2. Release the tension with the lever at the back (half a turn to the left).\n",
        "Release the tension with half a turn of the lever to the left",
    )]);
}

/// "夜9時" and "午後4時" were numbers and no times.
#[test]
fn hours_with_the_sign_for_hour_are_times() {
    all_passed(&[
        (
            "- 8月2日(土)16時から20時半、三丁目公園。\n",
            "夏祭りは8月2日の午後4時から8時半までです",
        ),
        (
            "- 9月7日(日)9時にサイレン。\n",
            "9月7日の午前9時にサイレンが鳴ります",
        ),
    ]);
    all_objected(
        &[Code::Date, Code::Number],
        &[(
            "- 8月2日(土)16時から20時半、三丁目公園。\n",
            "夏祭りは8月2日の午後5時から8時半までです",
        )],
    );
    all_objected(
        &[Code::Date, Code::Number],
        &[("会議は12時に始まる。\n", "会議は夜1時に始まる")],
    );
}

/// A bound with a "not" in it, a comparison, a quoted name and "is off" were taken for denials.
#[test]
fn a_denial_in_a_bound_a_name_or_a_comparison_denies_nothing() {
    all_undoubted(&[
        (
            "兼职学生两名,每小时22元,每周最多16小时。\n",
            "兼职学生有两名,每周不超过16小时",
        ),
        (
            "- Odile: the exhibition opens on 18 September, not on the 11th.\n",
            "The exhibition opens on 18 September, a week later than the 11th",
        ),
    ]);
    none_rejected(&[
        (
            "- [x] Leo: order \"no dogs\" sign for the playground\n",
            "The dog sign for the playground has been ordered",
        ),
        (
            "- Splint for 10 days; no swimming until 16 June.\n",
            "The splint stays on for ten days and swimming is off until 16 June",
        ),
    ]);
    all_objected(
        &[Code::Negation],
        &[
            (
                "The exhibition does not open on the 11th.\n",
                "The exhibition opens on the 11th",
            ),
            (
                "Swimming is not allowed before 16 June.\n",
                "Swimming is allowed before 16 June",
            ),
            (
                "Der Export nach Word wird nicht unterstützt.\n",
                "Der Export nach Word wird unterstützt",
            ),
            (
                "Der Wirt ist nicht überzeugt vom neuen Ofen.\n",
                "Der Wirt ist überzeugt vom neuen Ofen",
            ),
            (
                "La piscine n'est pas ouverte le lundi.\n",
                "Le gardien dit que la piscine est ouverte le lundi",
            ),
            (
                "Anna on Monday: \"no swimming in the lake\".\n",
                "Anna on Monday: swimming in the lake",
            ),
        ],
    );
}
