//! L5: who does something to whom.

use super::swaps::{found, rejected, without};
use super::*;

const DEBT: &str = "Anna owes Karl 50 euros.";

#[test]
fn two_people_who_change_their_parts_are_rejected() {
    rejected(
        Code::Order,
        &[
            (DEBT, "Karl owes Anna 50 euros"),
            (DEBT, "Karl owes 50 euros to Anna"),
            (DEBT, "Anna is owed 50 euros by Karl"),
            (
                "Yesterday Anna sent a letter to Karl.",
                "Karl sent a letter to Anna yesterday",
            ),
            (
                "The dog of Anna bit the uncle of Karl.",
                "The dog of Karl bit the uncle of Anna",
            ),
            ("Anna is the mother of Karl.", "Karl is the mother of Anna"),
            ("The letter says that Anna trusts Karl.", "Karl trusts Anna"),
            ("Anna was paid by Karl.", "Karl was paid by Anna"),
            (
                "Germany beat Brazil in the final.",
                "Brazil beat Germany in the final",
            ),
            ("Alice manages Bob and Carol.", "Bob manages Alice"),
            (
                "Anne doit 50 euros à Karl dans la lettre.",
                "Karl doit 50 euros à Anne dans la lettre",
            ),
        ],
    );
    found(
        Code::Order,
        &[("Anna schuldet Karl 50 Euro.", "Karl schuldet Anna 50 Euro")],
    );
}

#[test]
fn two_people_who_keep_their_parts_pass() {
    without(
        Code::Order,
        &[
            (DEBT, "Karl is owed 50 euros by Anna"),
            (DEBT, "Anna owes 50 euros to Karl"),
            (DEBT, "50 euros are owed to Karl by Anna"),
            ("Anna was paid by Karl.", "Karl paid Anna"),
            ("Anna met Karl in May.", "Karl met Anna in May"),
            ("Anna works with Karl.", "Karl works with Anna"),
            ("Anna and Karl owe 50 euros.", "Karl and Anna owe 50 euros"),
            ("Anna sent a letter to Karl.", "Karl's letter is from Anna"),
            ("Anna is the cousin of Karl.", "Karl is the cousin of Anna"),
            (
                "Anna trusts Karl, and Karl trusts Anna.",
                "Karl trusts Anna",
            ),
            (
                "Alice told Bob that she left.",
                "Bob was told that Alice left",
            ),
            ("Anna is as tall as Karl.", "Karl is as tall as Anna"),
            ("Bonn lies far from Berlin.", "Berlin lies far from Bonn"),
            ("Berlin replaced Bonn.", "Bonn was replaced by Berlin"),
            (
                "Anna told Karl that Otto left.",
                "Karl heard from Anna that Otto left",
            ),
            ("Redis is called by Kafka.", "Kafka calls Redis"),
            (
                "The train from Bonn reaches Berlin at noon.",
                "Berlin is reached by the train from Bonn at noon",
            ),
            (
                "Karl, whom Anna visited, is ill.",
                "Anna visited Karl, who is ill",
            ),
            ("It was Karl that Anna visited.", "Anna visited Karl"),
            (
                "Because Karl left, Anna wept.",
                "Anna wept because Karl left",
            ),
            (
                "Anna schuldet Karl 50 Euro und ist krank.",
                "Anna schuldet Karl 50 Euro",
            ),
            ("Анна должна Карлу 50 евро.", "Карлу должна Анна 50 евро"),
        ],
    );
}
