//! Bounds and determinism.

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
        verify_text(&answer, &frozen, &FreshnessReport::default(), &VerifyOptions::default());
    }
    let markers = "It is so [E1]. ".repeat(10_000);
    assert!(verify_text(&markers, &frozen, &FreshnessReport::default(), &VerifyOptions::default()).ok);
}

/// Nanoseconds that this thread has computed, where the system counts them: a machine busy with other things does not
/// make them more.
fn computed() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

/// What makes much of one kind of work; repeated until the answer is long enough.
const DENSE: &[&str] = &[
    "It is so [E1]. ",
    "word ",
    "Word ",
    "Name and word ",
    "7",
    "7 ",
    "1,",
    "May 5 ",
    "[",
    "[[",
    "](",
    "\"",
    "“",
    "\"abc def ghi\" ",
    "|",
    "| a ",
    "| 7 [E1] |\n",
    "> ",
    "- ",
    "(",
    "`",
    "*",
    "_a",
    "<",
    "%%",
    "not ",
    "but, ",
    "I cannot answer, but ",
    "[E1]",
    "[E1: \"",
    "[source: ",
    "【E1】",
    "…",
    ". ",
    "e\u{301}",
    "没",
    "&#91;",
    "a.b",
    "https://a/",
    "v1.2.3 ",
];

/// Judges `unit`, repeated to `size` bytes and cited at its end; the work it took.
fn work(frozen: &EvidenceSnapshot, unit: &str, size: usize) -> Option<u64> {
    let answer = format!("{} [E1].", unit.repeat(size / unit.len()));
    let before = computed()?;
    verify_text(&answer, frozen, &FreshnessReport::default(), &VerifyOptions::default());
    Some(computed()? - before)
}

/// Those of [`DENSE`] that took more than nine times the work for four times the text, where linear work takes four
/// times and quadratic work sixteen.
fn steep(mut run: impl FnMut(&str, usize) -> Option<u64>) -> Vec<String> {
    let mut out = Vec::new();
    for unit in DENSE {
        // The least of some runs: what other threads do to the caches is no work of this one.
        let mut least = |size: usize| (0..2).filter_map(|_| run(unit, size)).min();
        let (Some(few), Some(many)) = (least(12_000), least(48_000)) else { continue };
        // Eight milliseconds are two ticks of the clock that counts.
        if many > 9 * few.max(8_000_000) {
            out.push(format!("{unit:?}: {few} ns, then {many} ns"));
        }
    }
    out
}

#[test]
fn c43_four_times_the_answer_is_not_sixteen_times_the_work() {
    let frozen = frozen();
    assert_eq!(steep(|unit, size| work(&frozen, unit, size)), [""; 0]);
}

#[test]
fn c43_four_times_the_evidence_is_not_sixteen_times_the_work() {
    let answer = "Alice does not lead 7 of the word groups since 5 May, not \"abc def ghi jkl\" [E1]. ".repeat(10);
    let run = |unit: &str, size: usize| {
        let frozen = snapshot(&[&format!("Alice leads.\n\n{}\n", unit.repeat(size / unit.len()))]);
        let before = computed()?;
        verify_text(&answer, &frozen, &FreshnessReport::default(), &VerifyOptions::default());
        Some(computed()? - before)
    };
    assert_eq!(steep(run), [""; 0]);
}

#[test]
fn the_hash_covers_the_report_and_nothing_else() {
    let one = check("The budget is 5 million euros [E1].");
    assert_eq!(one, check("The budget is 5 million euros [E1]."));
    assert_ne!(one.sha256, check("The budget is 5 million euros [E2].").sha256);
    let mut json = serde_json::to_value(&one).unwrap();
    json.as_object_mut().unwrap().remove("sha256");
    let bytes = crate::evidence::canonical_json(&json);
    assert_eq!(crate::types::Sha256::of(bytes.as_bytes()), one.sha256);
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
                // Nothing that carries no citation ever passes.
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
