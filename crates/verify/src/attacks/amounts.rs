//! Numbers that are computed, counted, ordered or bounded: what follows from the note passes, and
//! nothing else does.

use super::*;

/// The only claim of an answer that cites `note`.
fn claim_over(note: &str, answer: &str) -> Claim {
    let report = check_in(&format!("{answer} [E1]."), &snapshot(&[note]));
    let [claim] = report.claims.as_slice() else {
        panic!("{answer}: {:#?}", report.claims);
    };
    claim.clone()
}

/// Each claim is derived, and its arithmetic is shown like this.
fn derived(cases: &[(&str, &str, &str)]) {
    for (note, answer, shown) in cases {
        let claim = claim_over(note, answer);
        assert_eq!(claim.verdict, Verdict::Derived, "{answer}: {}", claim.why);
        let derivation = claim.derivation.unwrap().to_string();
        assert_eq!(derivation, *shown, "{answer}");
    }
}

/// Each claim is rejected or doubtful.
fn questioned(cases: &[(&str, &str)]) {
    for (note, answer) in cases {
        let claim = claim_over(note, answer);
        let questioned = matches!(claim.verdict, Verdict::Rejected | Verdict::Doubtful);
        assert!(questioned, "{answer}: {:?} {}", claim.verdict, claim.why);
    }
}

/// Each claim is rejected.
fn refused(cases: &[(&str, &str)]) {
    for (note, answer) in cases {
        let claim = claim_over(note, answer);
        assert_eq!(claim.verdict, Verdict::Rejected, "{answer}: {}", claim.why);
    }
}

/// Each claim passes without a doubt.
fn accepted(cases: &[(&str, &str)]) {
    for (note, answer) in cases {
        let claim = claim_over(note, answer);
        let questioned = matches!(claim.verdict, Verdict::Rejected | Verdict::Doubtful);
        assert!(!questioned, "{answer}: {:?} {}", claim.verdict, claim.why);
    }
}

const TIMES: &str = "The walk takes 1 h and the talk takes 30 min.";
const LENGTHS: &str = "The road is 2 km long and the path is 500 m long.";
const PRICES: &str = "The pump costs 50 euros and the hose costs 10 euros.";
const THREE_PRICES: &str =
    "The pump costs 50 euros, the hose costs 10 euros and the valve costs 30 euros.";
const PRICE_TABLE: &str =
    "| Item | Price |\n| --- | --- |\n| Pump | 50 € |\n| Hose | 10 € |\n| Valve | 30 € |\n";
const TIME_TABLE: &str = "| Task | Time |\n| --- | --- |\n| Cut | 1 h |\n| Sew | 30 min |\n";

#[test]
fn amounts_in_different_units_are_converted_before_they_are_combined() {
    derived(&[
        (
            TIMES,
            "The walk takes 1 h and the talk 30 min, together 90 min",
            "1 h + 30 min = 90 min",
        ),
        (
            TIMES,
            "The walk takes 1 h and the talk 30 min, together 1.5 h",
            "1 h + 30 min = 1.5 h",
        ),
        (
            LENGTHS,
            "The path is 500 m and the road is 2 km long, together 2.5 km",
            "500 m + 2 km = 2.5 km",
        ),
        (
            LENGTHS,
            "The path is 500 m and the road 2 km, so the road is 1500 m longer",
            "2 km − 500 m = 1500 m",
        ),
        (
            LENGTHS,
            "The road is 2 km and the path 500 m long; the road is four times as long",
            "2 km ÷ 500 m = four times",
        ),
        (
            TIME_TABLE,
            "The tasks take 90 min in total",
            "1 h + 30 min = 90 min",
        ),
        (
            "Der Weg dauert 1 Stunde und die Rede dauert 30 Minuten.",
            "Der Weg dauert 1 Stunde und die Rede 30 Minuten, zusammen 90 Minuten",
            "1 Stunde + 30 Minuten = 90 Minuten",
        ),
    ]);
}

#[test]
fn amounts_in_different_units_are_never_combined_as_they_stand() {
    questioned(&[
        (
            TIMES,
            "The walk takes 1 h and the talk 30 min, together 31 min",
        ),
        (
            TIMES,
            "The walk takes 1 h and the talk 30 min, together 31 h",
        ),
        (TIMES, "The walk takes 1 h and the talk 30 min, 31 in total"),
        (
            TIMES,
            "The walk takes 1 h and the talk 30 min, so the walk is 29 min longer",
        ),
        (TIME_TABLE, "The tasks take 31 min in total"),
        (
            LENGTHS,
            "The road is 2 km and the path 500 m, together 502 km",
        ),
        (
            LENGTHS,
            "The road is 2 km and the path 500 m, together 502 m",
        ),
        (
            LENGTHS,
            "The road is 2 km and the path 500 m long; the road is 250 times as long",
        ),
        (
            "Der Weg dauert 1 Stunde und die Rede dauert 30 Minuten.",
            "Der Weg dauert 1 Stunde und die Rede 30 Minuten, zusammen 31 Minuten",
        ),
        (
            "The trip takes 3 days and costs 200 euros.",
            "The trip takes 3 days and costs 200 euros, 203 in total",
        ),
        (
            "The bag weighs 2 kg and costs 40 euros.",
            "The bag weighs 2 kg and costs 40 euros, so it costs 42 euros",
        ),
        (
            "The club has 6 members and 2 rooms.",
            "The club has 6 members and 2 rooms, so there are 8 members",
        ),
    ]);
}

#[test]
fn a_ratio_is_one_of_values_of_one_kind() {
    derived(&[
        (
            PRICES,
            "The hose at 10 euros costs 20 % of the pump at 50 euros",
            "10 euros ÷ 50 euros = 20 %",
        ),
        (
            "Of the 50 members, 40 came.",
            "Of the 50 members 40 came, 80 % of them",
            "40 ÷ 50 = 80 %",
        ),
        (
            PRICES,
            "The pump costs 50 euros and the hose 10 euros, a factor of 5",
            "50 euros ÷ 10 euros = 5",
        ),
    ]);
    questioned(&[
        (
            PRICES,
            "The hose at 10 euros costs 25 % of the pump at 50 euros",
        ),
        (
            "The rent rose from 40 euros to 50 euros.",
            "The rent rose by 125 % from 40 euros to 50 euros",
        ),
        (
            "The bag weighs 2 kg and costs 40 euros.",
            "The bag weighs 2 kg and costs 40 euros, 20 times as much",
        ),
        (
            "The bag weighs 2 kg and costs 40 euros.",
            "The bag weighs 2 kg and costs 40 euros, a factor of 20",
        ),
    ]);
}

#[test]
fn a_thing_with_its_own_number_has_no_computed_one() {
    refused(&[
        (PRICES, "The pump costs 40 euros"),
        (PRICES, "A pump can be had for 60 euros"),
        (PRICE_TABLE, "The pump costs 40 €"),
        (PRICE_TABLE, "The pump costs 90 €"),
        (
            "- Pump: 50 euros\n- Hose: 10 euros\n",
            "The pump costs 60 euros",
        ),
        (
            THREE_PRICES,
            "The pump costs 40 euros, the valve costs 30 euros and the hose costs 10 euros",
        ),
        (
            "Die Pumpe kostet 50 Euro, der Schlauch kostet 10 Euro und das Ventil kostet 30 Euro.",
            "Die Pumpe kostet 40 Euro, das Ventil kostet 30 Euro und der Schlauch kostet 10 Euro",
        ),
        (
            "La pompe coûte 50 euros, le tuyau coûte 10 euros et la vanne coûte 30 euros.",
            "La pompe coûte 40 euros, la vanne coûte 30 euros et le tuyau coûte 10 euros",
        ),
        (
            "La bomba cuesta 50 euros, la manguera cuesta 10 euros y la válvula cuesta 30 euros.",
            "La bomba cuesta 40 euros, la válvula cuesta 30 euros y la manguera cuesta 10 euros",
        ),
    ]);
    derived(&[
        (
            PRICES,
            "The pump costs 40 euros more than the hose",
            "50 euros − 10 euros = 40 euros",
        ),
        (
            PRICES,
            "Together they cost 60 euros",
            "50 euros + 10 euros = 60 euros",
        ),
        (
            THREE_PRICES,
            "The valve costs 30 euros and the hose 10 euros, together 40 euros",
            "30 euros + 10 euros = 40 euros",
        ),
        (
            PRICE_TABLE,
            "All parts cost 90 € together, with a pump at 50 € in it",
            "50 € + 10 € + 30 € = 90 €",
        ),
        (
            "Die Pumpe kostet 50 Euro und der Schlauch kostet 10 Euro.",
            "Die Pumpe kostet 40 Euro mehr als der Schlauch",
            "50 Euro − 10 Euro = 40 Euro",
        ),
    ]);
    for (note, answer) in [
        (PRICES, "The pump and the hose cost 60 euros"),
        (THREE_PRICES, "Together they cost 60 euros"),
    ] {
        let claim = claim_over(note, answer);
        assert_eq!(claim.verdict, Verdict::Doubtful, "{answer}: {}", claim.why);
    }
}

#[test]
fn a_share_of_an_amount_needs_words_that_say_so() {
    const COSTS: &str =
        "The project cost 15 million euros. The state paid 50 % of it. Of the members, 20 % left.";
    accepted(&[
        (COSTS, "The state paid 50 %, about 7.5 million euros"),
        (
            COSTS,
            "Of the 15 million euros the state paid 7.5 million euros",
        ),
    ]);
    questioned(&[(COSTS, "The members who left paid 3 million euros")]);
}

const DOCTORS: &str = "Doctor Anna Weiss and doctor Ben Schmidt work at the practice.";
const METHODS: &str = "You can sign in with:\n\n- a password\n- a security key\n";

#[test]
fn a_count_agrees_with_a_list_of_the_note_or_is_doubted() {
    questioned(&[
        (DOCTORS, "The three doctors work at the practice"),
        (METHODS, "You can sign in with three methods"),
        (
            "You can sign in with a password or a security key.",
            "There are four ways to sign in",
        ),
        (
            "The practice has two doctors.",
            "The practice has three doctors",
        ),
    ]);
    accepted(&[
        (DOCTORS, "The two doctors work at the practice"),
        (DOCTORS, "Both doctors work at the practice"),
        (DOCTORS, "The two of them work at the practice"),
        (METHODS, "You can sign in with two methods"),
        (
            "You can sign in with a password, with a security key, or with a link.",
            "There are three ways to sign in",
        ),
        (
            "| Plan | Price |\n| --- | --- |\n| Free | 0 € |\n| Team | 9 € |\n| Firm | 19 € |\n",
            "A team can choose between three plans: Free, Team and Firm",
        ),
        (
            "Anna is a doctor at the practice. Ben is a doctor at the practice.",
            "The practice has two doctors",
        ),
        (
            "The old pump leaks and the new one does not.",
            "The new pump does not leak, and the old one does",
        ),
    ]);
}

const STEPS: &str = "1. Close the valve.\n2. Drain the tank.\n3. Open the cover.\n";

#[test]
fn an_ordinal_agrees_with_the_place_in_the_note() {
    questioned(&[
        (STEPS, "The second step is to close the valve"),
        (STEPS, "Closing the valve is the third step"),
        (STEPS, "The first step is to drain the tank"),
        (METHODS, "The second method is a password"),
        (
            "The first step is to close the valve. The second step is to drain the tank.",
            "The third step is to drain the tank",
        ),
    ]);
    accepted(&[
        (STEPS, "The second step is to drain the tank"),
        (STEPS, "Draining the tank is the second step"),
        (STEPS, "First close the valve, then drain the tank"),
        (METHODS, "The second method is a security key"),
        (
            "The museum opened in 1920 and closed in 1945.",
            "The museum first opened in 1920",
        ),
    ]);
}

#[test]
fn a_written_fraction_is_a_number() {
    questioned(&[
        (
            "A third of the members voted for the plan.",
            "Half of the members voted for the plan",
        ),
        (
            "A third of the members voted for the plan.",
            "A fifth of the members voted for the plan",
        ),
        (
            "A quarter of the members voted for the plan.",
            "A tenth of the members voted for the plan",
        ),
        (
            "A third of the members voted for the plan. Half of the council was absent.",
            "Half of the members voted for the plan",
        ),
    ]);
    accepted(&[
        (
            "A fifth of the members voted for the plan.",
            "One fifth of the members voted for the plan",
        ),
        (
            "A fifth of the members voted for the plan.",
            "20 % of the members voted for the plan",
        ),
        (
            "Half of the members voted for the plan.",
            "50 % of the members voted for the plan",
        ),
    ]);
}

#[test]
fn a_bound_of_the_note_bounds_the_claim() {
    const MOST: &str = "You may take up to 20 mg a day.";
    const LEAST: &str = "The pump needs at least 20 litres of oil.";
    const RANGE: &str = "A bag weighs 10–20 kg.";
    refused(&[
        (MOST, "You may take over 15 mg a day"),
        (MOST, "You may take at least 15 mg a day"),
        (MOST, "You may take at least 20 mg a day"),
        (MOST, "You may take more than 20 mg a day"),
        (LEAST, "The pump needs under 25 litres of oil"),
        (LEAST, "The pump needs at most 25 litres of oil"),
        (LEAST, "The pump needs at most 20 litres of oil"),
        (RANGE, "A bag weighs over 15 kg"),
        (RANGE, "A bag weighs less than 15 kg"),
    ]);
    accepted(&[
        (MOST, "You may take at most 20 mg a day"),
        (MOST, "You may take no more than 20 mg a day"),
        (MOST, "You may take less than 25 mg a day"),
        (LEAST, "The pump needs over 15 litres of oil"),
        (RANGE, "A bag weighs less than 25 kg"),
        (
            "The club has 5.4 million members.",
            "The club has more than 5 million members",
        ),
    ]);
}

#[test]
fn units_are_compared_in_every_language() {
    refused(&[
        ("Le voyage dure 3 heures.", "Le voyage dure 3 jours"),
        ("La ruta dura 5 horas.", "La ruta dura 5 semanas"),
        ("Поездка длится 3 часа.", "Поездка длится 3 дня"),
        ("会議は3時間です。", "会議は3週間です"),
        ("会议需要30分钟。", "会议需要30小时"),
        ("تستغرق الرحلة 3 ساعات.", "تستغرق الرحلة 3 أيام"),
        ("Resan tar 3 timmar.", "Resan tar 3 dagar"),
    ]);
    accepted(&[
        ("Le voyage dure 2 heures.", "Le voyage dure 120 minutes"),
        ("La ruta mide 5 kilómetros.", "La ruta mide 5000 m"),
        ("Поездка длится 2 часа.", "Поездка длится 120 минут"),
        ("会議は2時間です。", "会議は120分です"),
        ("会议需要2小时。", "会议需要120分钟"),
        ("Мост построили в 1998 году.", "Мост 1998 года"),
        ("这座桥建于1998年。", "桥建于1998年"),
        (
            "The first time it took 2 men.",
            "It took 2 men the first time",
        ),
    ]);
}

#[test]
fn bounds_are_read_in_other_languages() {
    refused(&[
        (
            "Die Pumpe braucht bis zu 20 Liter Öl.",
            "Die Pumpe braucht mehr als 15 Liter Öl",
        ),
        (
            "Die Pumpe braucht höchstens 20 Liter Öl.",
            "Die Pumpe braucht mindestens 20 Liter Öl",
        ),
        (
            "La pompe utilise au plus 20 litres.",
            "La pompe utilise au moins 20 litres",
        ),
        (
            "La bomba usa al menos 20 litros.",
            "La bomba usa como máximo 20 litros",
        ),
        (
            "Насос берёт не менее 20 литров.",
            "Насос берёт не более 20 литров",
        ),
        ("这台泵用油最多20升。", "这台泵用油至少20升"),
        ("部屋は20人以上です。", "部屋は20人以下です"),
    ]);
    accepted(&[
        (
            "Die Pumpe braucht bis zu 20 Liter Öl.",
            "Die Pumpe braucht höchstens 20 Liter Öl",
        ),
        (
            "Die Pumpe braucht höchstens 20 Liter Öl.",
            "Die Pumpe braucht nicht mehr als 20 Liter Öl",
        ),
        (
            "La bomba usa al menos 20 litros.",
            "La bomba usa por lo menos 20 litros",
        ),
    ]);
}

const CENTS_TABLE: &str =
    "| Item | Price |\n| --- | --- |\n| Oak | 12.50 € |\n| Glue | 30 € |\n| Nails | 7.20 € |\n";

/// The result of a computation with a decimal sign was read as a version: "= 49.70".
#[test]
fn a_computation_with_cents_is_derived_and_a_wrong_one_is_not() {
    derived(&[
        (
            CENTS_TABLE,
            "12.50 € + 30 € + 7.20 € = 49.70 €",
            "12.50 € + 30 € + 7.20 € = 49.70 €",
        ),
        (
            CENTS_TABLE,
            "12.50 + 30 + 7.20 = 49.70 €",
            "12.50 € + 30 € + 7.20 € = 49.70 €",
        ),
        (
            CENTS_TABLE,
            "30 € − 12.50 € = 17.50 €",
            "30 € − 12.50 € = 17.50 €",
        ),
    ]);
    refused(&[
        (CENTS_TABLE, "12.50 € + 30 € + 7.20 € = 49.80 €"),
        (CENTS_TABLE, "30 € − 12.50 € = 18.50 €"),
    ]);
    questioned(&[(
        "Update cargo = 49.60 on Mondays.",
        "Update cargo = 49.70 on Mondays",
    )]);
}
