//! L4: a name is a whole word of the cited text, in one of its forms.

use super::*;

/// Whether the claim has a finding about a name, and whether it is rejected for it.
fn finding(note: &str, answer: &str) -> Option<bool> {
    let answer = format!("{} [E1].", answer.trim_end_matches('.'));
    let report = check_in(&answer, &snapshot(&[note]));
    let claim = &report.claims[0];
    let rejected = claim.codes.contains(&Code::Name);
    (rejected || claim.doubts.contains(&Code::Name)).then_some(rejected)
}

/// The cases whose finding is not as it should be.
fn misses<'c>(
    cases: &[(&'c str, &'c str)],
    holds: impl Fn(Option<bool>) -> bool,
) -> Vec<(&'c str, &'c str)> {
    let mut missed = cases.to_vec();
    missed.retain(|(note, answer)| !holds(finding(note, answer)));
    missed
}

#[test]
fn a_name_that_only_stands_inside_another_word_is_no_name_of_the_text() {
    let missed = misses(
        &[
            (
                "The visit takes some time, says Anna Berg.",
                "The visit was planned by Tim Berg",
            ),
            (
                "Every customer of the yard knows Karl.",
                "Every customer of the yard knows Tom",
            ),
            (
                "The optimal course was set by Karl.",
                "The optimal course was set by Tim",
            ),
            ("The atom was split by Lise.", "The atom was split by Tom"),
            ("The banner was sewn by Lise.", "The banner was sewn by Ann"),
            ("Karl sold the Johnson yard.", "Karl sold the yard to John"),
            (
                "The alabaster bowl belongs to Lise.",
                "The alabaster bowl belongs to Ala",
            ),
            (
                "The letter is signed by Simone.",
                "The letter is signed by Simon",
            ),
            (
                "The magazine Time of May has Karl in it.",
                "The magazine of May has Tim in it",
            ),
            (
                "The letter is signed by Robert.",
                "The letter is signed by Robertson",
            ),
            (
                "Die Zeit des Besuchs hat Anna bestimmt, und der Hof ist zu.",
                "Die Zeit des Besuchs hat Eit bestimmt, und der Hof ist zu",
            ),
            (
                "L'automne a été peint par Lise dans la cour.",
                "L'automne a été peint par Tom dans la cour",
            ),
        ],
        |found| found.is_some(),
    );
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn the_names_of_the_examples_are_rejected() {
    let missed = misses(
        &[
            (
                "Every customer of the yard knows Karl.",
                "Every customer of the yard knows Tom",
            ),
            (
                "The optimal course was set by Karl.",
                "The optimal course was set by Tim",
            ),
        ],
        |found| found == Some(true),
    );
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_name_in_another_form_is_the_same_name() {
    let missed = misses(
        &[
            ("The yard belongs to Anna.", "It is Anna's yard"),
            (
                "Die Werft gehört Anna und ist alt.",
                "Das ist Annas Werft und sie ist alt",
            ),
            (
                "Die Werft gehört Müller und ist alt.",
                "Das ist Müllers Werft und sie ist alt",
            ),
            (
                "Müllers Werft ist alt und sie ist zu.",
                "Die Werft gehört Müller und ist alt",
            ),
            (
                "Die Stromrechnung ist bezahlt und sie liegt im Hof.",
                "Die Rechnung ist bezahlt und sie liegt im Hof",
            ),
            (
                "Die Werft mit den Booten ist zu.",
                "Die Werft ist zu, und das Boote ist da",
            ),
            ("Он живёт в Москве.", "Его город Москва"),
            ("Он пишет Ивану.", "Он пишет Иван"),
            ("Hän asuu Helsingissä.", "Hänen kotinsa on Helsinki"),
            ("Tapasin Annan.", "Tapasin Anna"),
            ("Ankara'da yaşıyor.", "O yaşıyor Ankara"),
            ("Mieszka w Warszawie.", "Miasto Warszawa"),
            (
                "The Jones-Smith yard is closed.",
                "The yard of Smith is closed",
            ),
            (
                "The yard uses PostgreSQL daily.",
                "The yard uses Postgres daily",
            ),
            ("The yard uses MySQL daily.", "The yard uses SQL daily"),
            (
                "The yard keeps harbour_plan daily.",
                "The yard keeps the Harbour plan daily",
            ),
            ("The yard uses Python3 daily.", "The yard uses Python daily"),
            ("今天Tim来了。", "今天来的人是 Tim"),
            ("The yard is run by Noël.", "The yard is run by Noel"),
            (
                "The Joneses run the yard.",
                "The Jones family runs the yard",
            ),
            (
                "The butter is Chinese, says Karl.",
                "The butter is from China, says Karl",
            ),
            (
                "Thatcher closed the yard.",
                "It was Thatcherism that closed the yard",
            ),
            (
                "The National Football League owns the yard.",
                "The yard is owned by the NFL",
            ),
        ],
        |found| found.is_none(),
    );
    assert!(missed.is_empty(), "{missed:#?}");
}
