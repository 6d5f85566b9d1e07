//! Times, dates, frequencies, bounds, places in lists and units in other words than the note has.

use super::outcomes::{all_objected, all_passed, all_undoubted};
use super::*;

const BAKERY: &str = "# Bakery week\n\
    \n\
    | Item | Price | Sold on Monday |\n\
    | --- | --- | --- |\n\
    | Rye loaf | 4 € | 20 |\n\
    | Plum cake | 18 € | 3 |\n\
    | Pretzel | 1.20 € | 45 |\n\
    \n\
    Flour: 400 g wheat and 350 g rye go into one batch. The dough rests for 90 minutes. The oven is heated to 220 °C.\n\
    The baker starts at 4:30 am. A helper comes every other week. The starter is fed every 15 minutes during the first hour.\n";

const CAR: &str = "# Car log\n\
    \n\
    | Date | Litres | Cost | Odometer |\n\
    | --- | --- | --- | --- |\n\
    | 2026-02-01 | 40 | 68 € | 12,000 km |\n\
    | 2026-02-15 | 35 | 63 € | 12,500 km |\n\
    | 2026-03-01 | 45 | 81 € | 13,100 km |\n\
    \n\
    The car was bought in 2019 for 18,400 €. It weighs 1.2 t. The next service is due at 15,000 km or in June 2026. The tyres are at 2.4 bar. The battery lasts 3 to 5 years. The inspection lasts until the end of September 2026.\n";

const CLINIC: &str = "# Physio plan\n\
    \n\
    - Warm-up: 10 minutes\n\
    - Stretching: 15 minutes\n\
    - Strength: 35 minutes\n\
    \n\
    The first session was on 9 January 2026, the last one on 20 February 2026. Each session costs 45 euros and there are 8 sessions. The insurance pays 80 %.\n\
    Do the knee exercise three times a day. The practice is open from 8:00 to 12:30. Patients should drink 2 litres of water a day. Ice the knee for no longer than 20 minutes.\n\
    Of the 40 patients, 30 finished the plan.\n";

const CLUB: &str = "# Choir\n\
    \n\
    The choir was founded in 1987. In 2026 it has 48 members, 36 of them sing alto or soprano. Rehearsals are on the first Monday of each month from 19:30 to 21:30.\n\
    Anna was born in 1990 and joined in 2015. Membership is 60 euros a year. The concert is on 4 May 2026.\n\
    The hall has 300 seats; 225 are sold. The choir sang 3 concerts in 2024, 5 in 2025 and 4 in 2026.\n";

const FEST: &str = "# Sommerfest\n\
    \n\
    Das Fest beginnt um 14 Uhr und endet um 22:30 Uhr. 120 Gäste sind angemeldet, davon 45 Kinder. Ein Kuchen reicht für 12 Personen. Der Saal kostet 600 Euro, die Band 900 Euro. Die Anzahlung von 400 Euro ist bezahlt.\n\
    Das Essen gibt es um halb sieben. Der Bus fährt alle 20 Minuten. Drei Viertel der Gäste kommen mit dem Bus. Das Fest ist am 27. Juni 2026, Anmeldeschluss war am 6. Juni 2026.\n";

const GARDEN: &str = "# Garden log\n\
    \n\
    Radishes were sown on 3 March 2026 and harvested on 11 April 2026. The tomatoes go outside on 15 May.\n\
    The tank holds 1.5 l of feed per can. Watering needs 10–20 litres a day. The bed is 240 cm long.\n\
    A quarter of the seedlings died. The greenhouse opens at 18:30 and closes at 21:00.\n\
    The plot is leased from 5 December 2025. Slugs ate two thirds of the lettuce.\n\
    \n\
    ## Repotting\n\
    \n\
    1. Water the plant\n\
    2. Loosen the root ball\n\
    3. Fill the pot with soil\n\
    4. Press the soil down\n";

const HOUSE: &str = "# House repair\n\
    \n\
    The roofer quoted 8,400 euros, the carpenter 5,600 euros and the painter 2,000 euros. We have 12,000 euros saved. Work begins on Monday 13 April 2026 and takes three weeks. The old roof dates from 1974. The loan runs for 10 years at 3.5 %. The invoice of 2,400 euros is payable in 4 equal instalments. The attic is 6 m long and 4.5 m wide. The painter comes at noon. The doctor in the house was born in 1958.\n";

const RECIPE: &str = "# Pancakes\n\
    \n\
    Serves 4. Mix 250 g flour, 500 ml milk and 3 eggs. Let it rest for half an hour. Fry each pancake for 2 minutes per side at 180 °C. The batter makes 12 pancakes.\n\
    \n\
    1. Sift the flour\n\
    2. Whisk in the milk\n\
    3. Add the eggs\n\
    4. Rest the batter\n\
    5. Fry in butter\n\
    \n\
    Keep leftovers at most 2 days in the fridge.\n";

const TRIP: &str = "# Ferry trip\n\
    \n\
    The group has 24 people; 15 of them are children. A ticket costs 12 euros for adults and 7 euros for children.\n\
    The first ferry departs at 7:30 and arrives at 10:00. The return ferry leaves at 17:45. Luggage may weigh at most 20 kg.\n\
    The deposit is 150 euros and was paid on 2 June 2026. The trip takes place on 14 June 2026. The rest of the 393 euros is due on the day of the trip.\n\
    At least 10 bicycles fit on board. The island is 12 km away.\n";

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
