//! What a text says from the other side: a limit, an exception, an open task, "without" and "excluding",
//! a temperature below zero, "twice", and two cited texts with two values.

use super::outcomes::{all_objected, all_passed, all_rejected, all_undoubted};
use super::*;

const RULES: &str = "Files larger than 50 MB are rejected. More than 20 guests are turned away. Bookings under 3 days are not accepted. The temperature in the store must not fall below 5 degrees Celsius.\n";
const REGELN: &str = "Dateien über 50 MB werden abgelehnt. Bis zu 20 Gäste werden eingelassen.\n";

#[test]
fn a_limit_is_stated_from_its_other_side() {
    all_passed(&[
        (RULES, "You can upload files of up to 50 MB"),
        (RULES, "Files up to 50 MB are accepted"),
        (RULES, "Up to 20 guests are let in"),
        (RULES, "At most 20 guests are admitted"),
        (RULES, "Bookings of at least 3 days are accepted"),
        (
            RULES,
            "The temperature in the store must stay at or above 5 °C",
        ),
        (REGELN, "Dateien bis zu 50 MB werden angenommen"),
        (REGELN, "Mehr als 20 Gäste werden nicht eingelassen"),
    ]);
    all_rejected(
        &[
            Code::Quantifier,
            Code::Status,
            Code::Direction,
            Code::Negation,
            Code::Number,
        ],
        &[
            (RULES, "Files up to 50 MB are rejected"),
            (RULES, "Files larger than 50 MB are accepted"),
            (RULES, "You can upload files of up to 60 MB"),
            (RULES, "Up to 30 guests are let in"),
            (RULES, "Bookings of at most 3 days are accepted"),
            (
                RULES,
                "The temperature in the store must stay at or below 5 °C",
            ),
        ],
    );
}

const COLD: &str =
    "The cold store is kept at minus 15 degrees Celsius. The office is kept at 20 °C.\n";
const KALT: &str = "Das Kühlhaus hat minus 18 Grad.\n";
const SIGN: &str = "The cold store is kept at -15 °C.\n";

#[test]
fn a_temperature_below_zero_is_one_value_in_every_form() {
    let forms = [
        "minus 15 degrees Celsius",
        "−15 °C",
        "-15 °C",
        "minus 15 °C",
    ];
    for form in forms {
        let claim = format!("The cold store is kept at {form}");
        all_passed(&[(COLD, &claim), (SIGN, &claim)]);
    }
    all_passed(&[
        (KALT, "Das Kühlhaus hat -18 °C"),
        (KALT, "Das Kühlhaus hat minus 18 °C"),
    ]);
    all_objected(
        &[Code::Number, Code::Unit],
        &[
            (COLD, "The cold store is kept at 15 °C"),
            (SIGN, "The cold store is kept at 15 °C"),
            (COLD, "The office is kept at -20 °C"),
            (KALT, "Das Kühlhaus hat 18 °C"),
        ],
    );
    // A word before a number that is no temperature takes away.
    let price = "The price is 80 €, minus 20 % for members. Il faut au moins 15 °C.\n";
    all_passed(&[
        (price, "Members get 20 % off"),
        (price, "At least 15 °C are needed"),
    ]);
}

#[test]
fn twice_is_two_times() {
    let note = "Redis lost jobs twice in November.\n";
    all_undoubted(&[(note, "Redis lost jobs two times in November")]);
    all_rejected(
        &[Code::Number],
        &[(note, "Redis lost jobs three times in November")],
    );
    let notiz = "Der Server fiel im November zweimal aus.\n";
    all_passed(&[(notiz, "Der Server fiel im November zwei Mal aus")]);
    all_objected(
        &[Code::Number],
        &[(notiz, "Der Server fiel im November drei Mal aus")],
    );
}

#[test]
fn words_of_order_that_begin_a_sentence_are_no_names() {
    let verein = "Vor dem Saisonstart wird der Steg repariert, danach werden die Boote geputzt.\n";
    for opener in ["Zuerst", "Zunächst", "Erst"] {
        let claim = format!("{opener} wird der Steg repariert, danach werden die Boote geputzt");
        all_passed(&[(verein, &claim)]);
    }
    for opener in ["Anschließend", "Schließlich", "Danach"] {
        let claim = format!("{opener} werden die Boote geputzt");
        all_passed(&[(verein, &claim)]);
    }
    all_objected(
        &[Code::Name],
        &[(
            verein,
            "Vor dem Saisonstart wird in Hamburg der Steg repariert, danach werden die Boote geputzt",
        )],
    );
}

const ROLES: &str = "Everyone except the workspace owner can be removed by an admin. Nobody but the chair may sign cheques.\n";
const ROLLEN: &str = "Alle Mitglieder außer dem Kassenwart dürfen abstimmen.\n";

#[test]
fn what_is_said_of_all_but_one_is_denied_of_that_one() {
    all_passed(&[
        (ROLES, "The workspace owner cannot be removed by an admin"),
        (ROLES, "The chair may sign cheques"),
        (ROLES, "Members can be removed by an admin"),
        (ROLLEN, "Der Kassenwart darf nicht abstimmen"),
    ]);
    all_objected(
        &[Code::Negation],
        &[
            (ROLES, "The workspace owner can be removed by an admin"),
            (ROLES, "The chair may not sign cheques"),
            (ROLLEN, "Der Kassenwart darf abstimmen"),
        ],
    );
}

const TASKS: &str = "- [ ] Move the gateway to automatic renewal (Paul), due 2025-06-30\n- [x] Alert on certificates that expire within 21 days (Mira)\n";

#[test]
fn an_open_task_is_not_done() {
    all_passed(&[
        (
            TASKS,
            "The gateway has not been moved to automatic renewal yet",
        ),
        (TASKS, "Paul is to move the gateway to automatic renewal"),
        (
            TASKS,
            "The gateway is to be moved to automatic renewal by Paul",
        ),
    ]);
    all_objected(
        &[Code::Status],
        &[(TASKS, "The gateway was moved to automatic renewal")],
    );
}

#[test]
fn without_and_excluding_are_one_thing() {
    let plans =
        "All prices are per workspace and month, without VAT. The trip is 80 €, without lunch.\n";
    all_passed(&[
        (plans, "Prices are per workspace and month, excluding VAT"),
        (plans, "The trip costs 80 €, excluding lunch"),
    ]);
    all_objected(
        &[Code::Negation, Code::Condition],
        &[(plans, "Prices are per workspace and month, including VAT")],
    );
}

#[test]
fn must_not_forbids_and_need_not_allows() {
    let logs = "Debug logs must not be shipped to the vendor. Access logs need not be kept.\n";
    all_passed(&[
        (logs, "Debug logs may not be shipped to the vendor"),
        (logs, "Access logs need not be kept"),
        (
            "The loaf must not be cut before the next day.\n",
            "The loaf may only be cut on the next day or later",
        ),
        (
            "A payload may be up to 5 MB.\n",
            "A payload must not exceed 5 MB",
        ),
    ]);
    all_rejected(
        &[Code::Modality, Code::Negation],
        &[
            (logs, "Debug logs need not be shipped to the vendor"),
            (logs, "Debug logs must be shipped to the vendor"),
        ],
    );
}

#[test]
fn a_bold_label_has_its_verdict() {
    let rental = "- **Tandems.** Not for rent.\n- **Helmets.** Free with every rental.\n- **Insurance.** Not included; 5 € per day.\n- **Search.** Supported, but not in attachments.\n";
    all_passed(&[
        (rental, "Insurance is not included"),
        (rental, "Helmets are free with every rental"),
        (rental, "Search is supported"),
        (rental, "Search is not supported in attachments"),
    ]);
    all_objected(
        &[Code::Negation],
        &[
            (rental, "Insurance is included"),
            (rental, "Tandems are for rent"),
            (rental, "Search is not supported"),
        ],
    );
}

#[test]
fn two_cited_texts_with_two_values_are_a_conflict() {
    let table = "| Plan | Price | Seats |\n| --- | --- | --- |\n| Basic | 18 € | 10 |\n| Enterprise | 240 € | 50 |\n";
    let old = "| Plan | Price | Seats |\n| --- | --- | --- |\n| Basic | 15 € | 8 |\n| Enterprise | 210 € | 40 |\n";
    let frozen = snapshot(&[table, old]);
    for claim in [
        "The Basic plan costs 18 €",
        "The Basic plan costs 15 €",
        "The Enterprise plan costs 240 €",
        "The Basic plan has 10 seats",
    ] {
        let report = check_in(&format!("{claim} [E1] [E2]."), &frozen);
        assert_ne!(
            report.outcome,
            Outcome::Rejected,
            "{claim}: {:#?}",
            report.claims
        );
        let remarks: Vec<Code> = report
            .claims
            .iter()
            .flat_map(|c| c.remarks.clone())
            .collect();
        assert_eq!(remarks, [Code::Conflict], "{claim}: {:#?}", report.claims);
        let why = &report.claims[0].why;
        assert!(!why.contains("is not cited"), "{why}");
    }
    let report = check_in("The Basic plan costs 20 € [E1] [E2].", &frozen);
    assert_eq!(report.outcome, Outcome::Rejected);
    // The value of another thing is no second value.
    let frozen = snapshot(&["The pump costs 5 €.", "The hose costs 7 €."]);
    let report = check_in("The pump costs 7 € [E1] [E2].", &frozen);
    assert_eq!(report.outcome, Outcome::Rejected);
    let report = check_in("The pump costs 5 € [E1] [E2].", &frozen);
    assert!(
        report.claims.iter().all(|c| c.remarks.is_empty()),
        "{:#?}",
        report.claims
    );
}

#[test]
fn rows_without_their_header_are_read_with_it() {
    let rows = "| Mobile app 3.0 | Paul | in progress |\n| Calendar sync | Ines | planned |\n";
    let head = "| Item | Owner | Status |\n| --- | --- | --- |\n";
    let free = "| Free | 0 € | Yes |\n";
    let plans = "| Plan | Price | Encryption |\n| --- | --- | --- |\n";
    let judged = |item: &str, head: &str, claim: &str| {
        let frozen = snapshot(&[item]);
        let label = Label::new(1).unwrap();
        let heads = TableHeads::from([(label, head.to_owned())]);
        let draft = Draft::parse(&format!("{claim} [E1]."), &frozen);
        let (fresh, options) = (FreshnessReport::default(), VerifyOptions::default());
        verify_with_table_heads(&draft, &frozen, &fresh, &options, &heads)
    };
    for (item, head, claim) in [
        (rows, head, "The mobile app 3.0 is owned by Ines"),
        (free, plans, "The free plan does not include encryption"),
    ] {
        let report = judged(item, head, claim);
        assert_eq!(
            report.outcome,
            Outcome::Rejected,
            "{claim}: {:#?}",
            report.claims
        );
        let evidence = report.claims[0].evidence.as_ref();
        assert!(
            evidence.is_some_and(|place| place.span.end() <= item.len()),
            "{claim}"
        );
    }
    for (item, head, claim) in [
        (rows, head, "The owner of the mobile app 3.0 is Paul"),
        (rows, head, "The mobile app 3.0 is owned by Paul"),
        (free, plans, "The free plan includes encryption"),
    ] {
        let report = judged(item, head, claim);
        assert_eq!(
            report.outcome,
            Outcome::Passed,
            "{claim}: {:#?}",
            report.claims
        );
    }
    // The header is not quoted.
    let report = judged(rows, head, "The note says “Item | Owner | Status”");
    assert_eq!(report.outcome, Outcome::Rejected, "{:#?}", report.claims);
}
