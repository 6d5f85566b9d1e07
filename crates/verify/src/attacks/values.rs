//! Times, dates, frequencies, bounds, places in lists and units in other words than the note has.

use super::household::*;
use super::outcomes::{all_objected, all_passed, all_undoubted};
use super::*;

const CODES: &[Code] = &[
    Code::Number,
    Code::Unit,
    Code::Date,
    Code::Quantifier,
    Code::Referent,
    Code::Direction,
    Code::Order,
    Code::Name,
    Code::LowSupport,
];

#[test]
fn times_and_frequencies() {
    all_undoubted(&[
        (BAKERY, "The baker starts at half past four in the morning"),
        (BAKERY, "The helper comes every two weeks"),
        (
            BAKERY,
            "The starter is fed four times an hour during the first hour",
        ),
        (
            GARDEN,
            "The greenhouse opens at half past six in the evening",
        ),
        (
            TRIP,
            "The return ferry leaves at quarter to six in the evening",
        ),
        (FEST, "Der Bus fährt dreimal pro Stunde"),
        (HOUSE, "The painter comes at 12:00"),
    ]);
    all_passed(&[(FEST, "Das Essen gibt es um 18:30 Uhr")]);
    all_objected(
        CODES,
        &[
            (BAKERY, "The baker starts at half past five in the morning"),
            (
                BAKERY,
                "The baker starts at half past four in the afternoon",
            ),
            (BAKERY, "The baker starts at 16:30"),
            (BAKERY, "The helper comes every week"),
            (BAKERY, "The helper comes every three weeks"),
            (
                BAKERY,
                "The starter is fed twice an hour during the first hour",
            ),
            (
                GARDEN,
                "The greenhouse opens at half past six in the morning",
            ),
            (
                GARDEN,
                "The greenhouse opens at half past seven in the evening",
            ),
            (GARDEN, "The greenhouse opens at noon"),
            (
                TRIP,
                "The return ferry leaves at quarter past six in the evening",
            ),
            (
                TRIP,
                "The return ferry leaves at quarter to six in the morning",
            ),
            (CLINIC, "The practice opens at nine in the morning"),
            (CLINIC, "The practice closes at half past one"),
            (CLINIC, "Do the knee exercise twice a day"),
            (CLINIC, "Do the knee exercise every three days"),
            (CLINIC, "Do the knee exercise three times a week"),
            (FEST, "Das Essen gibt es um 19:30 Uhr"),
            (FEST, "Das Essen gibt es um halb acht"),
            (FEST, "Der Bus fährt zweimal pro Stunde"),
            (HOUSE, "The painter comes at midnight"),
            (HOUSE, "The painter comes at three in the afternoon"),
        ],
    );
}

#[test]
fn parts_of_months() {
    all_objected(
        CODES,
        &[
            (GARDEN, "The radishes were sown in late March"),
            (GARDEN, "The radishes were sown at the end of March"),
            (GARDEN, "The tomatoes go outside in early May"),
            (GARDEN, "The tomatoes go outside in mid-June"),
            (GARDEN, "The lease of the plot ends on 5 December 2025"),
            (CLUB, "The concert is on the second Monday of May 2026"),
            (CLINIC, "The first session was in late January"),
            (
                CLINIC,
                "The first session took place on Thursday, 9 January 2026",
            ),
            (CAR, "The inspection lasts until early September 2026"),
            (HOUSE, "Work begins in early April"),
        ],
    );
}

#[test]
fn units() {
    all_undoubted(&[
        (BAKERY, "The dough rests for an hour and a half"),
        (RECIPE, "Let the batter rest for 30 minutes"),
        (RECIPE, "Fry the pancakes at about 355 °F"),
    ]);
    all_passed(&[(BAKERY, "The oven is heated to about 428 °F")]);
    all_objected(
        CODES,
        &[
            (BAKERY, "The dough rests for two hours"),
            (BAKERY, "The dough rests for 1.9 hours"),
            (BAKERY, "The dough rests for half an hour"),
            (BAKERY, "The oven is heated to about 220 °F"),
            (BAKERY, "The oven is heated to 480 °F"),
            (GARDEN, "A can holds 150 ml of feed"),
            (GARDEN, "The bed is 24 m long"),
            (TRIP, "The island is 1,200 m away"),
            (CAR, "The car weighs 120 kg"),
            (RECIPE, "Let the batter rest for 45 minutes"),
            (RECIPE, "You need a quarter of a litre of milk"),
            (RECIPE, "Use 2.5 kg of flour"),
            (RECIPE, "Fry the pancakes at about 400 °F"),
            (HOUSE, "The work takes 24 days"),
        ],
    );
}

#[test]
fn bounds() {
    all_undoubted(&[
        (GARDEN, "Watering needs at least 10 litres a day"),
        (GARDEN, "Watering needs up to 20 litres a day"),
        (CLINIC, "Strength training takes more than half an hour"),
        (CAR, "The battery lasts at least three years"),
        (CAR, "The battery lasts up to five years"),
    ]);
    all_objected(
        CODES,
        &[
            (GARDEN, "Watering needs at most 10 litres a day"),
            (GARDEN, "Watering needs at least 20 litres a day"),
            (GARDEN, "Watering needs between 20 and 30 litres a day"),
            (GARDEN, "Watering needs exactly 10 litres a day"),
            (TRIP, "A bag may weigh at least 20 kg"),
            (TRIP, "There is room for at most ten bicycles on board"),
            (TRIP, "Exactly 10 bicycles fit on board"),
            (CLINIC, "Ice the knee for at least 20 minutes"),
            (CAR, "The battery lasts at least five years"),
            (CAR, "The battery lasts at most three years"),
            (RECIPE, "Leftovers keep for at least two days in the fridge"),
        ],
    );
}

#[test]
fn numbers_in_words() {
    all_undoubted(&[
        (GARDEN, "Slugs ate about 67 % of the lettuce"),
        (FEST, "75 % der Gäste kommen mit dem Bus"),
    ]);
    all_objected(
        CODES,
        &[
            (GARDEN, "35 % of the seedlings died"),
            (GARDEN, "One in five seedlings died"),
            (GARDEN, "Half of the seedlings died"),
            (GARDEN, "Slugs ate half of the lettuce"),
            (GARDEN, "Slugs ate one third of the lettuce"),
            (FEST, "Die Hälfte der Gäste kommt mit dem Bus"),
            (RECIPE, "The batter makes two dozen pancakes"),
        ],
    );
}

#[test]
fn places_in_lists() {
    all_objected(
        CODES,
        &[
            (GARDEN, "The second step is to fill the pot with soil"),
            (GARDEN, "The last step is to loosen the root ball"),
            (GARDEN, "The third step is to water the plant"),
            (RECIPE, "The third step is whisking in the milk"),
            (RECIPE, "The last step is resting the batter"),
        ],
    );
}
