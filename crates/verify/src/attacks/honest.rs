//! Honest answers: users switch off a gate that raises false alarms.

use super::*;

#[test]
fn a_properly_cited_answer_passes_and_only_verbatim_sentences_are_verified() {
    let report = passes(
        "The harbour budget is 5 million euros in 2026 [E1]. The sky is green in the evening. [E2]",
    );
    let verdicts: Vec<_> = report.claims.iter().map(|c| c.verdict).collect();
    assert_eq!(verdicts, [Verdict::Verified, Verdict::Checked]);
    let place = report.claims[0].evidence.as_ref().unwrap();
    assert_eq!(
        &BUDGET[place.span.start()..place.span.end()],
        "The harbour budget is 5 million euros in 2026"
    );
    assert_eq!((place.lines.first(), place.path.as_str()), (3, "n1.md"));
    assert_eq!(
        report.footer(),
        "(missing=0, path_mismatches=0, sha_mismatches=0, not_in_snapshot=0)"
    );
}

#[test]
fn a_part_of_a_sentence_is_never_verified() {
    for part in [
        "The harbour budget is 5 million euros [E1].",
        "The sky turns green [E2].",
        "Why the sky turns green [E2].",
    ] {
        assert_eq!(passes(part).claims[0].verdict, Verdict::Checked, "{part}");
    }
}

#[test]
fn c45_a_quote_that_differs_only_in_its_spelling_passes() {
    for answer in [
        "The note says \"The \"old\" pier's roof will be repaired in spring\" [E1].",
        "The note says “The “old” pier's roof will be repaired in spring.” [E1]",
        "It reads \"the harbour is **green** at dusk\" and \"harbour is _green_ at dusk\" [E2].",
        "[E1: \"pier's roof will be repaired in spring.\"]",
        "> The harbour budget is 5\n> million euros in 2026.\n\n[E1]",
        "He read \"The harbour budget is 5\u{a0}million euros, in fact\" nowhere.",
    ] {
        let report = check(answer);
        let good = !answer.contains("nowhere");
        assert_eq!(
            report.ok, good,
            "{answer}: {:?} {:#?}",
            report.codes, report.claims
        );
    }
}

#[test]
fn c48_announcements_pass_uncited() {
    for answer in [
        "Here is what I found:\n\nThe budget is 5 million euros [E1].",
        "Based on your notes:\n\n- Alice leads the project [E1]\n- Bob pays [E1]",
        "Here's a summary of the key points.\n\nAlice leads the project [E1].",
        "What is the budget? The budget is 5 million euros [E1].",
        "## Budget\n\nIt is 5 million euros [E1].\n\n**Summary:**\n\nAlice leads the project [E1].",
        "Here is what the notes say about the budget:\n\nIt is 5 million euros [E1].",
    ] {
        passes(answer);
    }
}

#[test]
fn c49_a_lead_in_passes_when_everything_it_leads_to_is_cited() {
    for answer in [
        "The project has two people:\n\n- Alice leads it [E1]\n- Bob pays the invoices [E1]",
        "The costs by year:\n\n| year | cost |\n|---|---|\n| 2026 | 5 [E2] |\n| 2027 | 7 [E2] |",
        "The command is as follows:\n\n```sh\ncargo run --release\n```\n\n[E2]",
        "- People\n  - Alice leads the project [E1]\n  - Bob pays the invoices [E1]",
        "The people are:\n1. Alice leads it. [E1]\n2. Bob pays it. [E1]",
    ] {
        passes(answer);
    }
    for answer in [
        "The project has two people:\n\n- Alice leads it [E1]\n- Bob pays the invoices",
        "The project is dead:\n\nAlice leads it [E1].",
        "The project is dead:",
    ] {
        rejected_with(answer, Code::Uncited);
    }
}

#[test]
fn c50_w1_a_correct_abstention_is_its_own_outcome() {
    for answer in [
        "INSUFFICIENT_EVIDENCE",
        "I cannot answer this question from your notes.",
        "There is not enough information in the notes to answer this. Please add a note about it.",
        "The notes do not say who approved the budget.",
        "I could not find anything about that in the evidence.",
        "Ich kann die Frage nicht beantworten.",
    ] {
        let report = check(answer);
        assert_eq!(
            report.outcome,
            Outcome::Abstained,
            "{answer}: {:?}",
            report.claims
        );
        assert!(report.claims.is_empty() && report.codes.is_empty());
    }
}

#[test]
fn a_named_gap_beside_cited_claims_passes() {
    for answer in [
        "The budget is 5 million euros [E1]. The notes do not say who proposed it.",
        "I couldn't find who proposed it, but the budget is 5 million euros [E1].",
        "- Alice leads the project [E1]\n- I found nothing about her deputy in the notes.",
    ] {
        passes(answer);
    }
    rejected_only_with(
        "Alice leads it [E1]. I couldn't find the owner, but the budget is 7.",
        Code::AbstainWithClaims,
    );
}

/// The advice was taken for a refusal, and every other line of the answer was rejected for it.
#[test]
fn a_refusal_between_quotation_marks_refuses_nothing() {
    let frozen = snapshot(&["- bring water\n- say \"I don't know yet\" at least once\n"]);
    for answer in [
        "- bring water [E1]\n- say \"I don't know yet\" at least once [E1]",
        "- bring water [E1]\n- say “I don't know yet” at least once [E1]",
    ] {
        let report = check_in(answer, &frozen);
        assert_eq!(report.outcome, Outcome::Passed, "{:?}", report.claims);
    }
    rejected_with("Say \"I cannot answer this\" once.", Code::Uncited);
}

#[test]
fn answers_as_models_write_them_pass() {
    for answer in [
        "According to your notes, the harbour budget is 5 million euros in 2026 [E1].",
        "**People**\n\n1. Alice leads the project [E1].\n2. Bob pays the invoices [E1].\n",
        "Here are the key facts:\n- **Lead:** Alice [E1]\n- **Invoices:** Bob [E1]\n\nLet me know if you need more details!",
        "To run it, use:\n\n```bash\ncargo run --release\n```\n[E2]",
        "The sky is green (see [E2]). In summary, nobody knows why [E2].",
        "### People\nAlice leads it. [E1]\n\n### Sky\n* It is green. [E2]\n* Nobody knows why. [E2]",
        "The parts are:\n\n1. **Lead**: Alice [E1]\n   - of the harbour project [E1]\n2. **Sky**: green [E2]",
        "The plan was not approved [E1]. Why? Because of the council [E1].",
        "Alice leads it [E1].\n\nSources:\n- [E1]\n- [E2]",
        "I hope this helps! Alice leads it.[E1] Bob pays.[E1]",
        "Alice leads it [E1]; Bob pays [E1, E2].",
        "Alice (who leads) [E1] decides.",
    ] {
        passes(answer);
    }
}

#[test]
fn what_looks_like_markup_is_no_look_alike() {
    for answer in [
        "- [x] Alice leads the project [E1]",
        "Alice leads the [[harbour]] project [E1].",
        "The sky is green when you `cargo run` [E2].",
        "See [the plan](plan.md) of Alice [E1].",
        "Alice leads it [E1].[^1]\n\n[^1]: Bob pays the invoices [E1].",
    ] {
        let report = check(answer);
        let footnote = answer.contains("[^1]");
        assert_eq!(report.ok, !footnote, "{answer}: {:?}", report.claims);
    }
}

#[test]
fn bracket_text_that_stands_in_the_cited_text_is_excused() {
    let frozen = snapshot(&[
        "Smith said so [9]. The gene [E7] is odd (source: Smith 2020). Take 【2】 or [Source: x].\n",
    ]);
    for answer in [
        "Smith said so [9] [E1].",
        "The gene [E7] is odd [E1].",
        "It is odd (source: Smith 2020) [E1].",
        "Take 【2】 [E1].",
        "Take [Source: x] [E1].",
    ] {
        let report = check_in(answer, &frozen);
        assert_eq!(
            report.outcome,
            Outcome::Passed,
            "{answer}: {:#?}",
            report.claims
        );
    }
    for answer in [
        "Smith said so [8] [E1].",
        "The gene [E8] is odd [E1].",
        "It is odd (source: Smith 2021) [E1].",
        "Smith said so [9].",
    ] {
        assert_eq!(
            check_in(answer, &frozen).outcome,
            Outcome::Rejected,
            "{answer}"
        );
    }
}
