//! Tables and lists as evidence: means, superlatives, counts, and cells of the wrong row.

use super::outcomes::{all_objected, all_passed, all_rejected, all_undoubted};
use super::*;

const TRIP: &str = "# Trip\n\n| Item | Cost |\n| --- | --- |\n| Ferry | 12 € |\n| Hotel | 30 € |\n\
    | Dinner | 7 € |\n| Museum | 9 € |\n";
const TEAM: &str = "# Team\n\n| Name | Age | City |\n| --- | --- | --- |\n| Anna | 34 | Kiel |\n\
    | Bela | 51 | Ulm |\n| Cleo | 19 | Bonn |\n";
const BILLS: &str = "# Bills\n\n- Rent: 900 €\n- Power: 80 €\n- Phone: 20 €\n- Water: 40 €\n";
const READINGS: &str = "The readings were 10 cm, 20 cm and 60 cm.";
const PLANS: &str = "# Plans\n\n| Plan | Price | Encryption |\n| --- | --- | --- |\n\
    | Free | 0 EUR | Yes |\n| Team | 12 EUR | No |\n| Business | 30 EUR | Yes |\n";
const LIMITS: &str = "More than 20 attachments are rejected. Fewer than 3 photos are not accepted.";

/// The average of any two or three of the amounts was accepted, and that of four rows refused.
#[test]
fn an_average_is_that_of_all_amounts() {
    all_passed(&[
        (TRIP, "The average cost is 14.50 €"),
        (TRIP, "On average an item costs 14.50 €"),
        (BILLS, "On average the bills are 260 €"),
        (READINGS, "On average the readings were 30 cm"),
        (TEAM, "Their average age is 34.7"),
    ]);
    all_objected(
        &[Code::Number],
        &[
            (TRIP, "The average cost is 16.33 €"),
            (READINGS, "On average the readings were 35 cm"),
            (TEAM, "Their average age is 42.5"),
        ],
    );
}

/// A superlative was only looked at beside a number.
#[test]
fn a_superlative_of_a_row_is_true_of_its_column() {
    all_undoubted(&[
        (TRIP, "The hotel is the most expensive item"),
        (TRIP, "Dinner is the cheapest item"),
        (TEAM, "Bela is the oldest"),
        (TEAM, "Cleo is the youngest of the team"),
        (BILLS, "The rent is the largest cost"),
        // The table does not say how long something took.
        (TRIP, "The ferry is the longest part"),
    ]);
    all_objected(
        &[Code::Direction],
        &[
            (TRIP, "The ferry is the most expensive item"),
            (TRIP, "The museum is the cheapest item"),
            (TEAM, "Anna is the oldest"),
            (TEAM, "Anna is the youngest of the team"),
            (BILLS, "Power is the largest cost"),
        ],
    );
}

/// "4 bills" was refused where "four bills" passed.
#[test]
fn digits_count_what_is_listed() {
    all_passed(&[
        (BILLS, "There are 4 bills: rent, power, phone and water"),
        (BILLS, "There are 4 bills"),
        (TEAM, "The table lists 3 people"),
    ]);
    all_objected(
        &[Code::Number],
        &[
            (BILLS, "There are 5 bills: rent, power, phone and water"),
            (BILLS, "There are 5 bills"),
            (TEAM, "The table lists 7 people"),
            (BILLS, "The house has 4 cats"),
        ],
    );
}

/// With a word more, "Team costs 30 EUR" passed.
#[test]
fn an_amount_belongs_to_the_row_that_has_it() {
    all_passed(&[
        (PLANS, "The Team plan costs 12 EUR"),
        (PLANS, "The Team plan costs EUR 12"),
        (
            PLANS,
            "The Business plan costs 18 EUR more than the Team plan",
        ),
    ]);
    all_rejected(
        &[Code::Referent],
        &[
            (PLANS, "The Team plan costs 30 EUR"),
            (PLANS, "The Free plan costs 12 EUR"),
            (TEAM, "Anna from the team is 51"),
        ],
    );
}

/// A cell that says "No" negates its column: the true sentence was in doubt.
#[test]
fn a_cell_that_says_yes_or_no_decides() {
    all_undoubted(&[
        (PLANS, "The Team plan does not include encryption"),
        (PLANS, "The Business plan includes encryption"),
    ]);
    all_rejected(
        &[Code::Negation],
        &[
            (PLANS, "The Team plan includes encryption"),
            (PLANS, "The Business plan does not include encryption"),
        ],
    );
}

/// What a bound forbids beyond it, it allows up to it.
#[test]
fn a_bound_may_be_said_from_its_other_side() {
    all_passed(&[
        (LIMITS, "Up to 20 attachments are accepted"),
        (LIMITS, "At least 3 photos are accepted"),
    ]);
    all_rejected(
        &[Code::Quantifier, Code::Direction, Code::Negation],
        &[
            (LIMITS, "Up to 20 attachments are rejected"),
            (LIMITS, "More than 20 attachments are accepted"),
        ],
    );
}

/// "About" allowed a tenth more or less, whatever the digits say.
#[test]
fn about_is_a_rounded_amount() {
    const TOWN: &str = "The town has 1.2 million inhabitants and 187 ponds.";
    all_passed(&[
        (TOWN, "The town has about 1,200,000 inhabitants"),
        (TOWN, "The town has about 190 ponds"),
        (TOWN, "The town has about 185 ponds"),
        (TOWN, "The town has about 200 ponds"),
    ]);
    all_objected(
        &[Code::Number, Code::Quantifier],
        &[
            (TOWN, "The town has about 1,300,000 inhabitants"),
            (TOWN, "The town has about 170 ponds"),
        ],
    );
}

/// The comparison from the other side was refused.
#[test]
fn a_comparison_may_be_said_from_its_other_side() {
    const TOWNS: &str = "Lisbon is warmer than Porto.";
    all_passed(&[(TOWNS, "Porto is cooler than Lisbon")]);
    all_rejected(
        &[Code::Order, Code::Direction],
        &[
            (TOWNS, "Porto is warmer than Lisbon"),
            (TOWNS, "Lisbon is cooler than Porto"),
        ],
    );
}

#[test]
fn the_two_ends_of_a_way_are_not_exchanged() {
    const WAYS: &str = "Der Zug fährt von Kassel nach Fulda. Der Beitrag sank von 80 auf 60 Euro.";
    const WALK: &str =
        "The path leads from the mill to the chapel. The fee rose from 20 to 35 euros.";
    all_undoubted(&[
        (WAYS, "Der Zug fährt von Kassel nach Fulda"),
        (WALK, "The path goes from the mill to the chapel"),
        (WALK, "The fee went up from 20 to 35 euros"),
    ]);
    all_rejected(
        &[Code::Order, Code::Direction],
        &[
            (WAYS, "Der Zug fährt von Fulda nach Kassel"),
            (WAYS, "Der Beitrag stieg von 60 auf 80 Euro"),
            (WALK, "The path leads from the chapel to the mill"),
        ],
    );
}

#[test]
fn what_is_left_open_is_not_sure() {
    const LEAK: &str = "The leak might be caused by frost. The seal was replaced in May.";
    all_undoubted(&[
        (LEAK, "The leak might be caused by frost"),
        (LEAK, "The leak is possibly caused by frost"),
        (LEAK, "The seal was replaced in May"),
    ]);
    all_objected(&[Code::Modality], &[(LEAK, "The leak is caused by frost")]);
}

/// Only a note that was not cited could say otherwise.
#[test]
fn two_cited_notes_with_different_values_are_a_conflict() {
    let frozen = snapshot(&[
        "The harbour budget is 5 million euros.",
        "The harbour budget is 7 million euros.",
    ]);
    let remarks = |answer: &str| check_in(answer, &frozen).claims[0].remarks.clone();
    assert_eq!(
        remarks("The harbour budget is 5 million euros [E1][E2]."),
        [Code::Conflict]
    );
    let both = "The harbour budget is 5 million euros in one note and 7 million euros in another [E1][E2].";
    assert!(!remarks(both).contains(&Code::Conflict));
}

/// The unit above a column was not read, and the number of another room was held against the claim.
#[test]
fn amounts_below_a_unit_and_numbers_of_another_part() {
    const POWER: &str = "| Quartal | kWh |\n| --- | --- |\n| Q1 | 980 |\n| Q2 | 640 |\n| Q3 | 560 |\n| Q4 | 820 |\n";
    const HELPERS: &str =
        "| Name | Hours in Q1 |\n| --- | --- |\n| Walt | 22 |\n| Yasmin | 31 |\n| Chloe | 17 |\n";
    const RENTS: &str =
        "| Flat | Rent (EUR) |\n| --- | --- |\n| North | 900 |\n| South | 860 |\n| West | 1100 |\n";
    const ROOMS: &str = "Room 14 was renovated on 3 March 2024 and room 15 on 8 May 2024.";
    all_passed(&[
        (POWER, "Im ganzen Jahr waren es zusammen 3.000 kWh"),
        (POWER, "Im Mittel waren es 750 kWh"),
        (HELPERS, "Combined, the helpers put in 70 hours"),
        (RENTS, "The total rent is 2860 EUR"),
        (RENTS, "The average rent is 953.33 EUR"),
        (RENTS, "The West flat costs 1100 EUR"),
        (ROOMS, "Room 15 was renovated on 8 May 2024"),
    ]);
    all_objected(
        &[Code::Number, Code::Referent, Code::Date],
        &[
            (POWER, "Im Mittel waren es 820 kWh"),
            (HELPERS, "Combined, the helpers put in 60 hours"),
            (RENTS, "The total rent is 1760 EUR"),
            (RENTS, "The South flat costs 1100 EUR"),
            (ROOMS, "Room 15 was renovated on 3 March 2024"),
        ],
    );
}
