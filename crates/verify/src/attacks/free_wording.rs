//! Answers in the answerer's own words. Each rule has true and false sentences and tells apart what
//! disproves a sentence, what raises a doubt, and what only changes the wording.

use super::*;

/// The findings on the first claim of `answer`: codes that reject it, and codes that doubt it.
fn found(note: &str, answer: &str) -> (Vec<Code>, Vec<Code>) {
    let report = check_in(&format!("{answer} [E1]."), &snapshot(&[note]));
    let claim = &report.claims[0];
    (claim.codes.clone(), claim.doubts.clone())
}

/// Each (note, answer) is rejected for `code`.
fn rejected(code: Code, cases: &[(&str, &str)]) {
    for (note, answer) in cases {
        let (codes, _) = found(note, answer);
        assert!(codes.contains(&code), "{note} | {answer}: {codes:?}");
    }
}

/// Each (note, answer) passes with a doubt of `code`.
fn doubted(code: Code, cases: &[(&str, &str)]) {
    for (note, answer) in cases {
        let (codes, doubts) = found(note, answer);
        assert!(codes.is_empty(), "{note} | {answer}: {codes:?}");
        assert!(doubts.contains(&code), "{note} | {answer}: {doubts:?}");
    }
}

/// Each (note, answer) has no finding of `code`.
fn without(code: Code, cases: &[(&str, &str)]) {
    for (note, answer) in cases {
        let (codes, doubts) = found(note, answer);
        let all = [codes, doubts].concat();
        assert!(!all.contains(&code), "{note} | {answer}: {all:?}");
    }
}

#[test]
fn a_value_rejects_only_what_the_text_is_about() {
    let carts = "The yard has barrels. A cart takes 12 barrels to the brewery.";
    rejected(
        Code::Number,
        &[(carts, "A cart takes 14 barrels to the brewery")],
    );
    let own = "Emptying a cellar of that size keeps a driver busy with a cart on some 14 days";
    doubted(Code::Number, &[(carts, own)]);
}

#[test]
fn what_is_less_exact_than_a_value_rejects_only_what_is_nearly_the_same() {
    let prices = "The pump costs 5 euros, the valve costs 7 euros.";
    rejected(Code::Referent, &[(prices, "The pump costs 7 euros")]);
    let club = "Some members agreed to the plan.";
    rejected(
        Code::Quantifier,
        &[(club, "All members agreed to the plan")],
    );
    let free = "In the end all members of the rowing club were talked into supporting the plan";
    without(
        Code::Quantifier,
        &[(club, "Some members agreed to the plan")],
    );
    assert_eq!(found(club, free).0, []);
    // A reason that the text does not give is an addition to something that it says.
    let harbour = "The harbour closed in March. The pier is old.";
    let reason = "The harbour closed in March because the crane driver was ill";
    rejected(Code::Cause, &[(harbour, reason)]);
}

#[test]
fn parts_that_two_statements_exchanged_are_doubted() {
    let gates = "The north gate opens for carts and the south gate opens for riders.";
    let lists = "- Thin rope: for the jib.\n- Thick rope: for the anchor.\n";
    doubted(
        Code::Referent,
        &[
            (
                gates,
                "Carts take the south gate, and riders are sent to the north gate",
            ),
            (
                lists,
                "You hold the jib with the thick rope and the anchor with the thin one",
            ),
        ],
    );
    without(
        Code::Referent,
        &[
            (
                gates,
                "Carts take the north gate, and riders are sent to the south gate",
            ),
            (
                lists,
                "You hold the jib with the thin rope and the anchor with the thick one",
            ),
            (
                gates,
                "Both carts and riders have a gate, one of them north",
            ),
        ],
    );
}

#[test]
fn a_denial_of_what_the_text_never_denies_is_doubted() {
    let desk = "Guests borrow bicycles at the desk.";
    let none = "Guests borrow no bicycles at the desk.";
    let plan = "The Team plan costs 20 euros a month. It includes backups.";
    let turned = "The Team plan does not include backups";
    rejected(Code::Negation, &[(plan, turned)]);
    let denial = "For guests there is a desk, but they do not get bicycles from it";
    doubted(Code::Negation, &[(desk, denial)]);
    without(
        Code::Negation,
        &[
            (none, denial),
            (
                desk,
                "For guests there is a desk, and they get bicycles from it",
            ),
            (desk, "Guests ride off on bicycles without a fuss"),
        ],
    );
}

#[test]
fn a_word_that_the_text_only_denies_may_be_denied_in_another_way() {
    let letters = "The tool never stores the letters that you send.";
    without(
        Code::Negation,
        &[(
            letters,
            "Nothing of the letters is stored, whatever you send",
        )],
    );
    rejected(
        Code::Negation,
        &[(letters, "The letters are stored with whatever you send")],
    );
}

#[test]
fn a_wish_of_the_reader_is_no_condition() {
    let rooms = "The hall seats 40 people. The tent seats 90 people.";
    without(
        Code::Condition,
        &[
            (rooms, "If you need more room, the tent seats 90 people"),
            (rooms, "Unless told otherwise, the tent seats 90 people"),
        ],
    );
    doubted(
        Code::Condition,
        &[(rooms, "If the weather holds, the tent seats 90 people")],
    );
}

#[test]
fn a_name_inside_code_is_part_of_the_code() {
    let note = "The pattern `&Pxx` prints the page in one of the colours that Anna chose.";
    let answer = "The pattern `&Kxx` prints the page in one of the colours";
    without(Code::Name, &[(note, answer)]);
    rejected(Code::Code, &[(note, answer)]);
    rejected(
        Code::Name,
        &[(
            note,
            "The pattern prints the page in one of the colours that Otto chose",
        )],
    );
}

#[test]
fn code_without_a_citation_may_use_words_of_the_question() {
    let note = excerpt("a.md", "", 0, "Rename a tag: `mill tag rename OLD NEW`.");
    let asked = |question: &str| EvidenceSnapshot::freeze(question.to_owned(), vec![note.clone()]);
    let answer =
        "A tag is renamed with one command [E1].\n\n```sh\nmill tag rename flour grain\n```";
    let named = asked("How do I turn the tag flour into grain?").unwrap();
    let report = check_in(answer, &named);
    assert!(report.ok, "{:#?}", report.claims);
    assert!(report.claims.iter().any(|c| c.doubts == [Code::Code]));
    let unnamed = asked("How do I rename a tag?").unwrap();
    assert_eq!(check_in(answer, &unnamed).codes, [Code::Uncited]);
}

#[test]
fn a_number_is_not_taken_for_a_day_a_time_or_an_amount_of_another_unit() {
    let rates = "Payments for the boat shed. Three of £40 each: 2 May and 30 May and 27 June. June's payment was late.";
    let barge = "Barge, Ottilie: left Saturday 19:05, tied up 21:40. Fuel for 2019: 300 litres.";
    without(
        Code::Referent,
        &[
            (rates, "There are three payments of £40 each"),
            (barge, "Ottilie tied up at 21:40"),
            (
                barge,
                "Ottilie left on Saturday at 19:05 and tied up at 21:40",
            ),
        ],
    );
    let vats = "Vat Rosa was filled in 2017. Vat Lina was filled in 2019.";
    let (codes, doubts) = found(vats, "Vat Lina was filled in 2017");
    assert!(codes.contains(&Code::Referent) || doubts.contains(&Code::Referent));
}
