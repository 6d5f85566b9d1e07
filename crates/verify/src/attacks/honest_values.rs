//! L4: true sentences whose values stand in the cited text in another form, each beside a false one.

use super::*;

/// The outcomes of a true and a false sentence about one note, with what was found.
fn outcomes(note: &str, right: &str, wrong: &str) -> [(Verdict, String); 2] {
    [right, wrong].map(|answer| {
        let report = check_in(answer, &snapshot(&[note]));
        let found: Vec<&str> = report.claims.iter().map(|c| c.why.as_str()).collect();
        let verdicts = report.claims.iter().map(|c| c.verdict);
        let worst = verdicts.max_by_key(|verdict| match verdict {
            Verdict::Rejected => 2,
            Verdict::Doubtful => 1,
            _ => 0,
        });
        let worst = worst.expect("every answer has a claim");
        (worst, format!("{answer}: {}", found.join(" ")))
    })
}

/// What is missed if no false sentence passes and every true one has an accepted outcome.
fn missed(cases: &[(&str, &str, &str)], accepts: fn(Verdict) -> bool) -> Vec<String> {
    let mut out = Vec::new();
    for (note, right, wrong) in cases {
        let [(right, shown), (wrong, other)] = outcomes(note, right, wrong);
        if !accepts(right) {
            out.push(format!("{right:?} {shown}"));
        }
        if !matches!(wrong, Verdict::Rejected | Verdict::Doubtful) {
            out.push(format!("{wrong:?} {other}"));
        }
    }
    out
}

/// No true sentence is rejected, and no false one passes.
fn tells_apart(cases: &[(&str, &str, &str)]) {
    let missed = missed(cases, |verdict| verdict != Verdict::Rejected);
    assert!(missed.is_empty(), "{missed:#?}");
}

/// True sentences pass without a mark, and no false one passes.
fn passes_only_the_first(cases: &[(&str, &str, &str)]) {
    let missed = missed(cases, |verdict| {
        !matches!(verdict, Verdict::Rejected | Verdict::Doubtful)
    });
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_unit_may_stand_only_at_the_number_before() {
    passes_only_the_first(&[
        (
            "# Course\n\n- training: 40 h needed, 46 done\n",
            "With 46 hours of training you have done more than the 40 needed [E1].",
            "With 49 hours of training you have done more than the 40 needed [E1].",
        ),
        (
            "# Source\n\nThe flow was 0.8 l/s in early July, 0.3 end of August.\n",
            "At the end of August the flow was 0.3 l/s [E1].",
            "At the end of August the flow was 0.6 l/s [E1].",
        ),
        (
            "# Bid\n\n- heritage bid: sent 3 May, answer in 14 wks\n",
            "The answer to the heritage bid takes 14 weeks [E1].",
            "The answer to the heritage bid takes 14 days [E1].",
        ),
    ]);
    // "12 disks" is no amount of data.
    let [_, (wrong, _)] = outcomes(
        "# Server\n\nThe server has 12 disks and 8 TB.\n",
        "The server has 8 TB [E1].",
        "The server has 12 TB [E1].",
    );
    assert_eq!(wrong, Verdict::Rejected);
}

#[test]
fn a_price_behind_a_noun_is_no_part_of_a_name() {
    passes_only_the_first(&[
        (
            "# Fahrpreise\n\n- Fahrpreis: bleibt bei 3,00 €, Kinder 1,50. Der Verein wollte 4,00\n",
            "The fare stays at €3.00, or €1.50 for children [E1].",
            "The fare stays at €3.00, or €1.20 for children [E1].",
        ),
        (
            "# Bestuur\n\n- nieuwe kachel, mits subsidie van het dorp ≥ 3.000\n",
            "The new stove is bought on condition that the village gives at least €3,000 [E1].",
            "The new stove is bought on condition that the village gives at least €7,000 [E1].",
        ),
    ]);
}

#[test]
fn a_day_of_a_month_may_stand_without_its_month() {
    passes_only_the_first(&[
        (
            "# Averías\n\n1. 4 mar: fuga en la caldera\n2. 19 mar: corte de agua, sin daños\n",
            "El corte de agua del día 19 no causó daños [E1].",
            "El corte de agua del día 17 no causó daños [E1].",
        ),
        (
            "# Fahrplan\n\n- Samstag nur zwei Fahrten, Sonn- und Feiertage kein Betrieb\n",
            "Samstags gibt es nur zwei Fahrten, sonntags und feiertags keinen Betrieb [E1].",
            "Samstags gibt es nur zwei Fahrten, montags und feiertags keinen Betrieb [E1].",
        ),
    ]);
}

#[test]
fn a_time_before_a_german_am_is_no_time_in_the_morning() {
    passes_only_the_first(&[(
        "# Bus\n\n- Haltestelle am Hof: nur wenn bis 12 Uhr am Vortag angerufen wird\n",
        "The stop at the farm is served only if people ring by noon the day before [E1].",
        "The stop at the farm is served only if people ring by midnight the day before [E1].",
    )]);
}

#[test]
fn a_limit_in_other_words_is_the_same_limit() {
    passes_only_the_first(&[
        (
            "# Rules\n\n- The board wants a reserve not under four months of costs.\n",
            "The board wants a reserve of no less than four months of costs [E1].",
            "The board wants a reserve of no more than four months of costs [E1].",
        ),
        (
            "# Regeln\n\n- Der Verein hält eine Rücklage von nicht unter 400 Euro.\n",
            "Der Verein hält eine Rücklage von mindestens 400 Euro [E1].",
            "Der Verein hält eine Rücklage von höchstens 400 Euro [E1].",
        ),
    ]);
    // "Over" also says how much an invoice is.
    let [(right, _), _] = outcomes(
        "# Clients\n\n- The agency pays late; work stopped until it paid invoice 12 (€800).\n",
        "Work for the agency stopped until it paid invoice 12, over €800 [E1].",
        "The agency pays at once [E1].",
    );
    assert_ne!(right, Verdict::Rejected);
}

#[test]
fn a_number_that_may_follow_is_no_contradiction() {
    tells_apart(&[
        (
            "# Violin\n\n- client: Ms Berg, 9.600 €, deposit a third\n",
            "Of the 9.600 €, the deposit of a third is 3.200 € [E1].",
            "Of the 9.600 €, the deposit of a third is 4.100 € [E1].",
        ),
        (
            "# Regalo\n\n- una bicicletta (480 €, divisi in sei). Già ordinata\n",
            "The present, a bicycle for €480, comes to €80 for each of the six [E1].",
            "The present, a bicycle for €480, comes to €95 for each of the six [E1].",
        ),
        (
            "# Fête\n\nStalls 1,140; raffle 860; cake 390; bucket 510. Costs: marquee 300, printing 80.\n",
            "The stalls, raffle, cake and bucket took £2,900, and after costs of £380 there are £2,520 left [E1].",
            "The stalls, raffle, cake and bucket took £2,900, and after costs of £380 there are £2,190 left [E1].",
        ),
        (
            "# Koty\n\n- karma 340, weterynarz 980, żwirek 120\n",
            "W sierpniu poszło razem 1440 zł: 980 na weterynarza, 340 na karmę i 120 na żwirek [E1].",
            "W sierpniu poszło razem 1540 zł: 980 na weterynarza, 340 na karmę i 120 na żwirek [E1].",
        ),
        (
            "# Koty\n\n| | lipiec | sierpień |\n|---|---|---|\n| karma | 355 | 1340 |\n",
            "Karma kosztowała w sierpniu 1340 zł [E1].",
            "Karma kosztowała w sierpniu 1430 zł [E1].",
        ),
    ]);
}

#[test]
fn half_a_unit_is_read_in_writing_without_blanks() {
    passes_only_the_first(&[(
        "# 役員会\n\n- 回覧板をLINEにする案：半年だけ試す\n",
        "LINE is tried instead of the circular for half a year only [E1].",
        "LINE is tried instead of the circular for two years only [E1].",
    )]);
}

#[test]
fn a_code_stands_for_the_name_of_a_language() {
    tells_apart(&[
        (
            "# Work\n\n- sworn translator since 3 May, only FR>EN, not IT\n",
            "The sworn translator works only from French into English, not from Italian [E1].",
            "The sworn translator works only from French into Spanish, not from Italian [E1].",
        ),
        (
            "# Lista\n\n- a escola paga em janeiro se entregarmos a lista com RG\n",
            "A escola paga em janeiro se entregarmos a lista com os RGs [E1].",
            "A escola paga em janeiro se entregarmos a lista com os CPFs [E1].",
        ),
    ]);
}

#[test]
fn a_denial_in_two_words_is_one() {
    tells_apart(&[
        (
            "# Shops\n\n- two shops asked; said yes to Loof, no to the garden centre, they want sale or return\n",
            "Of the two shops that asked, you accepted Loof and turned the garden centre down [E1].",
            "Of the two shops that asked, you accepted the garden centre [E1].",
        ),
        (
            "# Crew\n\n- trainees: Bo, Lea. May go out on exercise, on service not until the course is done\n",
            "Bo may not go on service yet: as a trainee he may go out on exercise, but not on service until the course is done [E1].",
            "Bo, a trainee, may go on service before the course is done [E1].",
        ),
    ]);
}

#[test]
fn a_wish_may_be_said_in_other_words() {
    tells_apart(&[(
        "# Hand-back\n\n- The family may meet the later owner only if he or she wishes.\n- Isla wants another dog.\n",
        "You may meet the later owner only if he or she wants that [E1].",
        "You may not meet the later owner even if he or she wants that [E1].",
    )]);
}

#[test]
fn a_computation_that_the_claim_shows_is_checked() {
    passes_only_the_first(&[
        (
            "# Garden\n\nBeans: sown on 3 April in 3 rows of 25.\n",
            "The beans were sown on 3 April in three rows of 25, so 75 in all [E1].",
            "The beans were sown on 3 April in three rows of 25, so 80 in all [E1].",
        ),
        (
            "# Kosten\n\n- Saal 300 €, Musik 450 €, Blumen 120 €\n",
            "Das Fest kostet 870 €: Saal 300 €, Musik 450 € und Blumen 120 € [E1].",
            "Das Fest kostet 890 €: Saal 300 €, Musik 450 € und Blumen 120 € [E1].",
        ),
    ]);
}
