//! Limits and determinism.

use proptest::prelude::*;

use super::*;

#[test]
fn c43_hostile_answers_end() {
    let frozen = frozen();
    let full = cite(&frozen, 1);
    let units = [
        "[E1]",
        "[E9]",
        "[source: ",
        "[[",
        "> ",
        "- ",
        "  - a:\n",
        "\"abc def ghi jkl\" [E1]. ",
        "“",
        "\"",
        "`",
        "```\n",
        "[E1: \"",
        "【E1】",
        "(source: ",
        "| a ",
        "x:\n\n- y [E1]\n\n",
        "a.\n\n[E1]\n\n",
        "%%",
        "*",
        "<!--",
        "[^1]: a\n\n",
        "... ",
        "I cannot answer, but. ",
        "[9] ",
        "![",
        "&#91;",
        "```\na\n```\n\n[E1]\n\n",
        "> a\n\n[E1]\n\n",
    ];
    for unit in units.into_iter().chain([full.as_str()]) {
        let answer = unit.repeat(40_000 / unit.len());
        verify_text(
            &answer,
            &frozen,
            &FreshnessReport::default(),
            &VerifyOptions::default(),
        );
    }
    let markers = "It is so [E1]. ".repeat(10_000);
    assert!(
        verify_text(
            &markers,
            &frozen,
            &FreshnessReport::default(),
            &VerifyOptions::default()
        )
        .ok
    );
}

#[test]
fn the_hash_covers_the_report_and_nothing_else() {
    let one = check("The budget is 5 million euros [E1].");
    assert_eq!(one, check("The budget is 5 million euros [E1]."));
    assert_ne!(
        one.sha256,
        check("The budget is 5 million euros [E2].").sha256
    );
    let mut json = serde_json::to_value(&one).unwrap();
    json.as_object_mut().unwrap().remove("sha256");
    let bytes = local_agent_text::evidence::canonical_json(&json);
    assert_eq!(
        local_agent_text::types::Sha256::of(bytes.as_bytes()),
        one.sha256
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_answer_is_judged_without_panic_and_always_alike(
        text in any::<String>(),
        md in "[\\[\\]E129 :\"“”.,`>#|~*%<!\n-]{0,80}",
        words in prop::collection::vec(
            prop::sample::select(vec![
                "The harbour", "budget", "is", "5 million", "[E1]", "[E2]", "[E9]", "[9]", ". ", "\n\n", "\n- ", "> ", "\"",
                "```\n", "| a | b |\n", "I cannot answer", ", but", ":", "[source: n1.md", "not", "“", "”", "…", "## ", "?",
            ]), 0..30),
    ) {
        let frozen = frozen();
        for answer in [text, md, words.join(" ")] {
            for draft in [Draft::verbatim(answer.as_str()), Draft::parse(&answer, &frozen)] {
                let run = || verify(&draft, &frozen, &FreshnessReport::default(), &VerifyOptions::default());
                let report = run();
                prop_assert_eq!(&report, &run());
                let text = draft.lay_out(&frozen).text;
                for claim in &report.claims {
                    prop_assert!(text.get(claim.span.start()..claim.span.end()).is_some());
                    prop_assert_eq!(claim.verdict == Verdict::Rejected, !claim.codes.is_empty());
                }
                // An answer without a citation never passes.
                prop_assert!(report.outcome != Outcome::Passed || report.parsed_citations_count > 0);
            }
        }
    }

    #[test]
    fn w6_labels_and_whole_citations_are_judged_alike(sentences in prop::collection::vec((0usize..4, 1usize..=2), 1..6)) {
        let frozen = frozen();
        let pool = ["The harbour budget is 5 million euros in 2026", "Nobody knows why the sky turns green", "It is so", "\"made up words here\" it is"];
        let write = |long: bool| {
            let one = |(s, n): &(usize, usize)| {
                let marker = if long { cite(&frozen, *n) } else { format!("[E{n}]") };
                format!("{} {marker}. ", pool[*s])
            };
            sentences.iter().map(one).collect::<String>()
        };
        let verdicts = |text: &str| {
            let report = verify_text(text, &frozen, &FreshnessReport::default(), &VerifyOptions::default());
            report.claims.iter().map(|c| (c.verdict, c.codes.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(verdicts(&write(false)), verdicts(&write(true)));
    }
}
