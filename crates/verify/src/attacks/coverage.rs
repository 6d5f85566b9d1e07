//! L2: every claim is cited, and an answer that cannot answer claims nothing.

use super::*;

#[test]
fn c27_every_kind_of_claim_needs_its_own_citation() {
    for answer in [
        "The budget is 5 million euros [E1]. It was raised twice. Alice leads the project [E1].",
        "- Alice leads it [E1]\n- Bob owns it\n- Carol pays [E1]",
        "| year | cost |\n|---|---|\n| 2026 | 5 [E2] |\n| 2027 | 9 |",
        "## The budget is 5 million\n\nAlice leads the project [E1].",
        "## Cost: 7\n\nAlice leads the project [E1].",
        "Alice leads it [E1] and so on. **Bob is dead.**",
        "- Redis\n- Alice leads it [E1]",
    ] {
        rejected_only_with(answer, Code::Uncited);
    }
}

#[test]
fn c28_w2_one_citation_covers_one_sentence() {
    for (answer, uncited) in [
        (
            "One is so. Two is so. Three is so. Four is so. Five is so. Six is so [E1].",
            5,
        ),
        (
            "One is so. Two is so. Three is so. Four is so. Five is so. Six is so. [E1]",
            5,
        ),
        (
            "One is so. Two is so.\nThree is so. Four is so. Five is so. Six is so.\n\n[E1]",
            5,
        ),
        ("[E1] One is so. Two is so. Three is so.", 2),
    ] {
        let report = rejected_with(answer, Code::Uncited);
        let count = report
            .claims
            .iter()
            .filter(|c| c.codes == [Code::Uncited])
            .count();
        assert_eq!(count, uncited, "{answer}: {:#?}", report.claims);
    }
}

#[test]
fn c30_a_claim_in_a_fence_or_table_is_a_claim() {
    for answer in [
        "Alice leads it [E1].\n\n```\nThe budget is 9 million.\n```",
        "Alice leads it [E1].\n\n```text\nThe budget is 9 million.",
        "Alice leads it [E1].\n\n    The budget is 9 million.",
        "Alice leads it [E1].\n\n| a |\n|---|\n| The budget is 9 million |",
        "Alice leads it [E1].\n\n<div>The budget is 9 million.</div>",
        "Alice leads it [E1].\n\n<!-- The budget is 9 million. -->",
        "Alice leads it [E1].\n\n%%The budget is 9 million.%%",
        "Alice leads it [E1]. ```\nOne\n\nTwo is nine.",
    ] {
        rejected_with(answer, Code::Uncited);
    }
    for answer in [
        "Run this [E2]:\n\n```sh\ncargo run --release\n```",
        "```sh\ncargo run --release\n```\n\n[E2]",
        "| year | cost | from |\n|---|---|---|\n| 2026 | 5 | [E2] |",
    ] {
        passes(answer);
    }
}

#[test]
fn c36_w1_a_fluent_answer_without_citations() {
    for answer in [
        "The budget is 5 million euros. Alice leads the project.",
        "- Alice leads\n- Bob pays",
        "According to your notes, the harbour budget is 5 million euros in 2026.",
        "",
        "Here is what I found:",
        "---",
    ] {
        let report = rejected_with(answer, Code::NoCitations);
        assert!(!report.ok && !report.valid);
    }
}

#[test]
fn c37_a_refusal_that_claims() {
    for answer in [
        "I cannot answer, but the budget is 5 million.",
        "I cannot answer this. The budget is 5 million.",
        "INSUFFICIENT_EVIDENCE. However, Alice leads the project [E1].",
        "The notes do not say who approved it. The budget is 5 million.",
        "I don't know the owner, the budget is 5 million.",
        "I cannot answer this, but the deadline is 5 May.",
        "I cannot answer this, but visitors usually come at noon.",
        "I cannot answer this; however, sailors prefer the north pier.",
        "I cannot answer this. However, sailors prefer the north pier.",
        "Ich kann das nicht beantworten, aber die Besucher kommen meist mittags.",
        "Je ne peux pas répondre, mais les visiteurs viennent vers midi.",
        "No puedo responder, sin embargo los visitantes llegan al mediodía.",
        "无法回答，但访客通常中午来。",
    ] {
        rejected_with(answer, Code::AbstainWithClaims);
    }
    for answer in [
        "I cannot answer this, but you could ask the council.",
        "I still cannot answer this from your notes.",
        "I cannot answer this, but I can search again.",
        "The notes do not say who approved the budget, but not why either.",
    ] {
        assert_eq!(
            check(answer).outcome,
            Outcome::Abstained,
            "{answer}: {:?}",
            check(answer).claims
        );
    }
}

#[test]
fn c42_padding_is_remarked_on_each_citation() {
    let frozen = snapshot(&[
        BUDGET,
        "Tea needs water.\n",
        "Cats sleep all day.\n",
        "Rust has traits.\n",
        "Winter is cold.\n",
    ]);
    for answer in [
        "The harbour budget is 5 million euros in 2026 [E1][E2][E3][E4][E5].",
        "The harbour budget amounts to 5 million euros [E1, E2, E3, E4, E5].",
        "Euros for the harbour: 5 million. [E5] [E4] [E3] [E2] [E1]",
    ] {
        let report = check_in(answer, &frozen);
        assert!(report.ok, "a remark rejects nothing");
        let padded: Vec<_> = report.claims[0]
            .citations
            .iter()
            .filter(|c| c.codes == [Code::Precision])
            .filter_map(|c| c.label)
            .collect();
        assert_eq!(padded.len(), 4, "{answer}: {padded:?}");
        assert!(!padded.contains(&label(1)));
    }
}
