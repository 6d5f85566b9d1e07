//! Numbers that follow from several numbers of a note: sums, differences, products, shares, averages, ages and
//! durations. What follows passes, and what does not is never shown without a mark.

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
fn sums() {
    all_undoubted(&[
        (BAKERY, "Together the wheat and rye flour weigh 750 g"),
        (HAUS, "Miete und Nebenkosten betragen zusammen 1060 Euro"),
        (CAR, "The three fill-ups cost 212 € altogether"),
        (FEST, "Saal und Band kosten zusammen 1500 Euro"),
    ]);
    all_passed(&[
        (BAKERY, "The flour amounts to 750 g in one batch"),
        (CLUB, "The choir sang 12 concerts from 2024 to 2026"),
        (CLINIC, "The three parts add up to 60 minutes"),
        (CAR, "In total 120 litres were filled up"),
        (HOUSE, "The three quotes come to 16,000 euros in total"),
    ]);
    all_objected(
        CODES,
        &[
            (BAKERY, "The flour amounts to 850 g in one batch"),
            (BAKERY, "Together the wheat and rye flour weigh 700 g"),
            (BAKERY, "The wheat and the rye weigh 400 g + 350 g = 700 g"),
            (BAKERY, "In total 78 items were sold on Monday"),
            (CLUB, "The choir sang 14 concerts from 2024 to 2026"),
            (HAUS, "Miete und Nebenkosten betragen zusammen 1160 Euro"),
            (
                CLINIC,
                "A session takes an hour altogether: 10 + 15 + 45 minutes",
            ),
            (CLINIC, "The three parts add up to 70 minutes"),
            (CAR, "In total 130 litres were filled up"),
            (CAR, "The three fill-ups cost 202 € altogether"),
            (FEST, "Saal und Band kosten zusammen 1400 Euro"),
            (HOUSE, "The three quotes come to 17,000 euros in total"),
            (
                HOUSE,
                "8,400 + 5,600 = 15,000 euros go to the roofer and the carpenter",
            ),
        ],
    );
}

#[test]
fn differences() {
    all_undoubted(&[
        (TRIP, "The remaining 9 people are adults"),
        (TRIP, "A child’s ticket is 5 euros cheaper than an adult’s"),
        (CLUB, "75 seats are left"),
        (
            CLINIC,
            "Stretching takes five minutes longer than the warm-up",
        ),
    ]);
    all_passed(&[
        (TRIP, "9 of the people in the group are adults"),
        (TRIP, "The remaining amount is 243 euros"),
        (CLINIC, "The patient pays 20 % of the cost himself"),
        (CAR, "Between 1 February and 1 March the car drove 1,100 km"),
        (CAR, "1,900 km are left until the next service"),
        (FEST, "Nach der Anzahlung sind noch 1100 Euro offen"),
    ]);
    all_objected(
        CODES,
        &[
            (BAKERY, "The wheat is 150 g more than the rye"),
            (BAKERY, "The rye is 50 g more than the wheat"),
            (TRIP, "8 of the people in the group are adults"),
            (TRIP, "The remaining 11 people are adults"),
            (TRIP, "The remaining amount is 253 euros"),
            (TRIP, "A child’s ticket is 6 euros cheaper than an adult’s"),
            (CLUB, "85 seats are left"),
            (CLINIC, "The patient pays 30 % of the cost himself"),
            (CLINIC, "15 patients did not finish the plan"),
            (
                CLINIC,
                "Stretching takes ten minutes longer than the warm-up",
            ),
            (
                CLINIC,
                "The warm-up takes five minutes longer than stretching",
            ),
            (CAR, "Between 1 February and 1 March the car drove 1,300 km"),
            (FEST, "85 der Gäste sind Erwachsene"),
            (FEST, "Nach der Anzahlung sind noch 1200 Euro offen"),
            (
                HOUSE,
                "The roofer is 3,800 euros more expensive than the carpenter",
            ),
            (
                HOUSE,
                "The carpenter is 2,800 euros more expensive than the roofer",
            ),
        ],
    );
}

#[test]
fn products() {
    all_undoubted(&[
        (
            BAKERY,
            "Monday’s rye loaves brought in 80 €, 20 loaves at 4 € each",
        ),
        (HAUS, "Alle 4 Schlüssel kosten zusammen 140 Euro"),
        (HOUSE, "The attic has a floor area of 27 m²"),
    ]);
    all_passed(&[
        (BAKERY, "Selling 3 plum cakes at 18 € each makes 54 €"),
        (TRIP, "The children’s tickets cost 105 euros in total"),
        (CLINIC, "All 8 sessions together cost 360 euros"),
        (RECIPE, "Each pancake fries for four minutes in all"),
    ]);
    all_objected(
        CODES,
        &[
            (
                BAKERY,
                "Monday’s rye loaves brought in 90 €, 20 loaves at 4 € each",
            ),
            (BAKERY, "Selling 3 plum cakes at 18 € each makes 64 €"),
            (TRIP, "The children’s tickets cost 115 euros in total"),
            (HAUS, "Alle 4 Schlüssel kosten zusammen 150 Euro"),
            (CLINIC, "All 8 sessions together cost 340 euros"),
            (HOUSE, "The attic has a floor area of 37 m²"),
        ],
    );
}

#[test]
fn shares() {
    all_undoubted(&[
        (CLUB, "Three quarters of the members sing alto or soprano"),
        (CLUB, "75 % of the seats are sold"),
        (CLINIC, "Three quarters of the patients finished the plan"),
    ]);
    all_objected(
        CODES,
        &[
            (CLUB, "Two thirds of the members sing alto or soprano"),
            (CLUB, "80 % of the seats are sold"),
            (CLINIC, "Two thirds of the patients finished the plan"),
        ],
    );
}

#[test]
fn averages() {
    all_passed(&[(CLUB, "On average the choir sang 4 concerts a year")]);
    all_objected(
        CODES,
        &[
            (CLUB, "On average the choir sang 6 concerts a year"),
            (CAR, "On average a fill-up was 45 litres"),
        ],
    );
}

#[test]
fn rates() {
    all_undoubted(&[(CAR, "On 1 March a litre cost 1.80 €")]);
    all_passed(&[(CLUB, "Membership costs 5 euros a month")]);
    all_objected(
        CODES,
        &[
            (CLUB, "Membership costs 6 euros a month"),
            (CAR, "On 1 March a litre cost 2.80 €"),
        ],
    );
}

#[test]
fn quotients() {
    all_undoubted(&[(HOUSE, "Each instalment is 600 euros")]);
    all_passed(&[
        (FEST, "Für alle Gäste braucht man 10 Kuchen"),
        (
            RECIPE,
            "The batter makes a dozen pancakes, three for each person",
        ),
    ]);
    all_objected(CODES, &[(HOUSE, "Each instalment is 500 euros")]);
}

#[test]
fn longer_formulas() {
    all_undoubted(&[(HOUSE, "The savings are 4,000 euros short of the total")]);
}

#[test]
fn ages() {
    all_undoubted(&[
        (CLUB, "In 2026 the choir is 39 years old"),
        (CLUB, "Anna joined at the age of 25"),
        (CAR, "The car was seven years old in 2026"),
    ]);
    all_passed(&[(HOUSE, "The roof was 52 years old in 2026")]);
    all_objected(
        CODES,
        &[
            (CLUB, "In 2026 the choir is 29 years old"),
            (CLUB, "Anna joined at the age of 35"),
            (CAR, "The car was nine years old in 2026"),
            (HOUSE, "The roof was 42 years old in 2026"),
        ],
    );
}

#[test]
fn durations() {
    all_undoubted(&[
        (GARDEN, "The radishes were harvested 39 days after sowing"),
        (GARDEN, "The greenhouse is open for two and a half hours"),
        (TRIP, "The first ferry takes two and a half hours"),
        (TRIP, "The first ferry takes 150 minutes"),
        (TRIP, "The deposit was paid twelve days before the trip"),
        (CLUB, "Rehearsals last two hours"),
        (HAUS, "Der Keller ist zwölf Stunden offen"),
        (
            CLINIC,
            "There were six weeks between the first and the last session",
        ),
        (CLINIC, "The practice is open for four and a half hours"),
        (FEST, "Das Fest dauert achteinhalb Stunden"),
        (FEST, "Zwischen Anmeldeschluss und Fest liegen drei Wochen"),
    ]);
    all_passed(&[(HAUS, "Der Techniker kommt zwölf Tage später wieder")]);
    all_objected(
        CODES,
        &[
            (GARDEN, "The radishes were harvested 49 days after sowing"),
            (GARDEN, "The greenhouse is open for three and a half hours"),
            (GARDEN, "The greenhouse is open for four hours"),
            (TRIP, "The first ferry takes three and a half hours"),
            (TRIP, "The first ferry takes 90 minutes"),
            (TRIP, "The deposit was paid twelve days after the trip"),
            (TRIP, "The deposit was paid ten days before the trip"),
            (CLUB, "Rehearsals last three hours"),
            (HAUS, "Der Techniker kommt zehn Tage später wieder"),
            (HAUS, "Der Keller ist zehn Stunden offen"),
            (
                CLINIC,
                "There were five weeks between the first and the last session",
            ),
            (CLINIC, "The practice is open for five and a half hours"),
            (
                CAR,
                "There were three weeks between the first and the second fill-up",
            ),
            (FEST, "Das Fest dauert siebeneinhalb Stunden"),
            (FEST, "Zwischen Anmeldeschluss und Fest liegen vier Wochen"),
        ],
    );
}
