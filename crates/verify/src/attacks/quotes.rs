//! L3: quoted words appear in the place that the citation names.

use super::*;

#[test]
fn c23_fabricated_and_altered_quotes() {
    for answer in [
        "\"The mayor sold the harbour to pirates\" [E1].",
        "The note says “all invoices were burned last summer” [E1].",
        "[E1: \"nothing of this was ever written\"]",
        "> The ferry sank in the storm of 1953.\n\n[E1]",
    ] {
        rejected_only_with(answer, Code::QuoteFabricated);
    }
    for answer in [
        "\"The harbour budget is 6 million euros in 2026\" [E1].",
        "The note says “It was approved by the council” [E1].",
        "[E1: \"Alice owns the project\"]",
        "> The harbour budget is 5 million dollars in 2026.\n\n[E1]",
        "It says \"the Harbour budget is 5 million\" [E1].",
    ] {
        rejected_only_with(answer, Code::QuoteAltered);
    }
}

#[test]
fn c24_stitched_quotes() {
    for answer in [
        "\"The harbour budget is 5 million euros over the harbour is green\" [E1][E2].",
        "\"It was … approved by the council\" [E1].",
        "\"Alice leads the project ... The harbour budget is\" [E1].",
        "\"The harbour budget is […] green at dusk\" [E1][E2].",
        "\"Bob pays the invoices The harbour budget is 5 million\" [E1].",
    ] {
        rejected_only_with(answer, Code::QuoteStitched);
    }
    for answer in [
        "\"The harbour budget … in 2026\" [E1].",
        "\"Alice leads [...] Bob pays the invoices\" [E1].",
        "\"... budget is 5 million ...\" [E1].",
    ] {
        passes(answer);
    }
}

#[test]
fn c25_a_true_quote_of_another_item() {
    for answer in [
        "\"The sky over the harbour is green\" [E1].",
        "> Alice leads the project\n\n[E2]",
        "[E2: \"Bob pays the invoices\"]",
    ] {
        let report = rejected_with(answer, Code::QuoteMisattributed);
        assert_eq!(report.codes, [Code::QuoteMisattributed], "{answer}");
        assert!(report.claims[0].why.contains("which is not cited here"));
    }
}

#[test]
fn c26_two_quoted_words_prove_nothing() {
    for answer in [
        "The \"big plan\" is dead [E1].",
        "The “green sky” is dead [E1].",
        "A \"so-called\" harbour was sold [E1].",
    ] {
        let report = check(answer);
        assert!(
            report.claims[0].verdict != Verdict::Verified
                && !report.codes.iter().any(|c| c.layer() == "L3"),
            "{answer}"
        );
    }
}

#[test]
fn a_long_quote_is_covered_by_the_citation_after_it() {
    let long: String = (0..40)
        .map(|i| format!("Sentence number {i} of the long story goes like this. "))
        .collect();
    let frozen = snapshot(&[&long]);
    let report = check_in(&format!("\"{}\" [E1]", long.trim()), &frozen);
    assert!(report.ok, "{:?}", report.codes);
}

#[test]
fn a_quotation_in_any_marks_is_compared_word_for_word() {
    const MARKS: [(&str, &str); 14] = [
        ("»", "«"),
        ("›", "‹"),
        ("« ", " »"),
        ("‹", "›"),
        ("‘", "’"),
        ("‚", "‘"),
        ("‚", "’"),
        ("„", "“"),
        ("„", "”"),
        ("”", "”"),
        ("»", "»"),
        ("《", "》"),
        ("〈", "〉"),
        ("「", "」"),
    ];
    for (open, close) in MARKS {
        let says = |words: &str| format!("The note says {open}{words}{close} about it [E1].");
        for (words, code) in [
            ("The harbour budget is 6 million euros", Code::QuoteAltered),
            (
                "all invoices were burned last summer",
                Code::QuoteFabricated,
            ),
            (
                "The sky over the harbour is green",
                Code::QuoteMisattributed,
            ),
        ] {
            rejected_with(&says(words), code);
        }
        passes(&says("The harbour budget is 5 million euros"));
        passes(&says("The “old” pier's roof will be repaired"));
    }
}

#[test]
fn an_apostrophe_opens_no_quotation() {
    for answer in [
        "Alice doesn’t leave the project, and the project’s lead isn’t Bob’s [E1].",
        "The pier’s roof will be repaired in the project’s spring [E1].",
        "At five o’clock the harbour’s sky is green, it’s said [E2].",
        "The council’s ’26 budget wasn’t approved, and the pier’s isn’t either [E1].",
    ] {
        let report = check(answer);
        assert!(
            !report.codes.iter().any(|c| c.layer() == "L3"),
            "{answer}: {:?}",
            report.codes
        );
    }
}

#[test]
fn a_whole_sentence_between_quotation_marks_has_no_objection() {
    let note = "Copy the last decision and raise the number by one.\n\n\
                Not: electric bicycles, phones, anything under a maker's warranty\n\n\
                It costs nothing; there is a jar.\n\nKeine Nüsse, kein Sesam, auch nicht auf dem Blech.\n\n\
                1. Copy the last decision\n2. Sign it\n3. File it\n";
    for (quotation, ok) in [
        (
            "The note says “Copy the last decision and raise the number by one.”",
            true,
        ),
        (
            "The note says “Not: electric bicycles, phones, anything under a maker's warranty”",
            true,
        ),
        ("The note says “It costs nothing; there is a jar.”", true),
        (
            "It says “Keine Nüsse, kein Sesam, auch nicht auf dem Blech.”",
            true,
        ),
        // What stands outside the quotation is checked.
        (
            "Only if the note says so: “It costs nothing; there is a jar.”",
            false,
        ),
        (
            "The note never says “It costs nothing; there is a jar.”",
            false,
        ),
    ] {
        let report = check_in(&format!("{quotation} [E1]."), &snapshot(&[note]));
        let clean = report.outcome == Outcome::Passed && report.doubts.is_empty();
        assert_eq!(
            clean, ok,
            "{quotation} {:?} {:?}",
            report.codes, report.doubts
        );
    }
}
