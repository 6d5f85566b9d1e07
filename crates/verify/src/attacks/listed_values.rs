//! Values of a list of labels: each belongs to its own label.

use super::outcomes::{all_objected, all_passed, all_undoubted};
use super::*;

const BAKING: &str = "## Baking times\n\n- Baguette: 2 h\n- Brioche: 4 h\n- Rye: 45 min\n";
const PRICES: &str = "Prices today:\n\n- **Oat milk** — 2.40 EUR\n- **Rye flour** — 1.10 EUR\n- **Salt** — 0.80 EUR\n";
const ROOMS: &str = "- Kitchen 21 degrees\n- Bedroom 17 degrees\n- Bathroom 24 degrees\n";
const PARTIES: &str = "- Anna: 14 March\n- Tom: 2 May\n- Ruth: 30 July\n";
const CAR: &str = "# Car\n\nFront tyres: 2.3 bar\nRear tyres: 2.6 bar\nSpare wheel: 4.2 bar\n";
const SHOPPING: &str = "- [ ] 2 kg potatoes\n- [ ] 500 g flour\n- [x] 300 g goat cheese\n";
const COSTS: &str = "- Miete: 900 €\n- Strom: 75 €\n- Wasser: 40 €\n";

#[test]
fn a_value_of_another_label_is_doubted() {
    all_objected(
        &[Code::Referent, Code::Number, Code::Date],
        &[
            (BAKING, "A baguette takes 4 h."),
            (BAKING, "A brioche takes 2 h."),
            (PRICES, "Salt costs 1.10 EUR."),
            (PRICES, "The price of salt is 2.40 EUR."),
            (PRICES, "Oat milk costs 1.10 EUR."),
            (ROOMS, "The bedroom has 21 degrees."),
            (ROOMS, "It is 17 degrees in the kitchen."),
            (PARTIES, "Tom's birthday is on 30 July."),
            (COSTS, "Der Strom kostet 40 €."),
            (COSTS, "Für Wasser zahlen wir 75 €."),
            (COSTS, "Der Strom kostet 40 € und das Wasser 75 €."),
            (COSTS, "Man zahlt 40 € für Strom und 75 € für Wasser."),
            (CAR, "The spare wheel is pumped up to 2.6 bar."),
            (SHOPPING, "You need 300 g of flour."),
        ],
    );
}

#[test]
fn the_own_value_and_comparisons_are_not_doubted() {
    all_undoubted(&[
        (BAKING, "A baguette takes 2 h."),
        (BAKING, "The brioche bakes for 4 h and the rye for 45 min."),
        (
            BAKING,
            "The brioche takes twice as long as the baguette, 4 h.",
        ),
        (PRICES, "Salt costs 0.80 EUR."),
        (PRICES, "Rye flour is 1.10 EUR and salt 0.80 EUR."),
        (ROOMS, "The bathroom is the warmest room with 24 degrees."),
        (PARTIES, "Anna has her birthday on 14 March."),
        (COSTS, "Der Strom kostet 75 €."),
        (COSTS, "Der Strom kostet 75 € und das Wasser 40 €."),
        (CAR, "The spare wheel is pumped up to 4.2 bar."),
        (CAR, "The front tyres have 2.3 bar, the rear tyres 2.6 bar."),
        (SHOPPING, "You need 500 g of flour and 2 kg of potatoes."),
    ]);
    all_passed(&[(PRICES, "All things but the salt cost 1.10 EUR or more.")]);
}

/// A sentence that a line begins and the next one ends was proven by its end alone.
#[test]
fn the_end_of_a_denied_sentence_is_no_sentence() {
    const EXAM: &str = "Status: open 3\nResult: we do not believe that\nAnna passed the test.\n";
    const PLAN: &str = "Plan: nobody should think that\nTom: 40 EUR is enough.\n";
    all_objected(
        &[Code::Negation, Code::Quantifier, Code::LowSupport],
        &[
            (EXAM, "Anna passed the test."),
            (PLAN, "Tom: 40 EUR is enough."),
        ],
    );
}
