//! Drafts made by the program, one-file answers, merged and shared paths.

use super::*;

#[test]
fn an_extractive_draft_is_verified_sentence_by_sentence() {
    let frozen = frozen();
    let quote = |text: &str, n: u32, source: &str| {
        let start = source.find(text).unwrap();
        Segment::Quote {
            label: label(n),
            span: ByteSpan::new(start, start + text.len()).unwrap(),
        }
    };
    let text = |t: &str| Segment::Text(t.to_owned());
    let draft = Draft::new(vec![
        text("- "),
        quote(
            "The harbour budget is 5 million euros in 2026. It was not approved by the council.",
            1,
            BUDGET,
        ),
        text(" "),
        Segment::Cite(label(1)),
        text("\n- "),
        quote("| 2026 | 5 |", 2, SKY),
        text(" "),
        Segment::Cite(label(2)),
    ]);
    let report = verify(
        &draft,
        &frozen,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    let verdicts: Vec<_> = report
        .claims
        .iter()
        .map(|c| (c.verdict, c.text.as_str()))
        .collect();
    assert!(
        report.ok && verdicts.iter().all(|v| v.0 == Verdict::Verified) && verdicts.len() == 3,
        "{verdicts:?}"
    );
    // The same draft without its citations, or with another one, is rejected.
    let bare = Draft::new(
        draft
            .segments()
            .iter()
            .filter(|s| !matches!(s, Segment::Cite(_)))
            .cloned()
            .collect(),
    );
    let report = verify(
        &bare,
        &frozen,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    assert_eq!(report.codes, [Code::Uncited, Code::NoCitations]);
}

#[test]
fn a_draft_that_names_what_is_not_there_is_refused() {
    let frozen = frozen();
    for (segment, code) in [
        (Segment::Cite(label(9)), Code::NotInSnapshot),
        (
            Segment::Quote {
                label: label(1),
                span: ByteSpan::new(0, 9_000).unwrap(),
            },
            Code::SpanOutOfRange,
        ),
        (
            Segment::Quote {
                label: label(9),
                span: ByteSpan::new(0, 9).unwrap(),
            },
            Code::NotInSnapshot,
        ),
    ] {
        let draft = Draft::new(vec![Segment::Text("It is so ".into()), segment]);
        let report = verify(
            &draft,
            &frozen,
            &FreshnessReport::default(),
            &VerifyOptions::default(),
        );
        assert_eq!(report.codes, [code]);
    }
}

#[test]
fn a_marker_inside_an_exact_quote_is_quoted_text() {
    let frozen = snapshot(&["The old answer said: it is so [E7] 【9】 (source: x).\n"]);
    let span = frozen.items()[0].span;
    let whole = ByteSpan::new(span.start(), span.end() - 1).unwrap();
    let draft = Draft::new(vec![
        Segment::Quote {
            label: label(1),
            span: whole,
        },
        Segment::Text(" ".into()),
        Segment::Cite(label(1)),
    ]);
    let report = verify(
        &draft,
        &frozen,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    assert!(report.ok, "{:#?}", report.claims);
}

#[test]
fn one_file_answers_need_no_citations_and_still_no_false_quotes() {
    let file = VerifyOptions {
        scope: Scope::File,
        ..VerifyOptions::default()
    };
    let frozen = snapshot(&[BUDGET]);
    let ask = |answer: &str| verify_text(answer, &frozen, &FreshnessReport::default(), &file);
    assert!(ask("The budget is 5 million euros. It says \"Alice leads the project\".").ok);
    assert_eq!(
        ask("It says \"Alice burned the project\".").codes,
        [Code::QuoteAltered]
    );
    assert_eq!(
        ask("The harbour budget is 5 million euros in 2026.").claims[0].verdict,
        Verdict::Verified
    );
}

#[test]
fn merged_neighbours_are_cited_by_their_keys_too() {
    let mut merged = excerpt("a.md", "H1: A", 0, "One is red. Two is blue.\n");
    let neighbour = ChunkKey::from_bytes([5; 16]);
    merged.merged = vec![neighbour];
    let frozen = EvidenceSnapshot::freeze("q", vec![merged]).unwrap();
    assert!(
        check_in(
            &format!("Two is blue [source: a.md#H2: Next | {neighbour}]."),
            &frozen
        )
        .ok
    );
    assert!(
        !check_in(
            &format!("Two is blue [source: b.md#H2: Next | {neighbour}]."),
            &frozen
        )
        .ok
    );
}

#[test]
fn w23_equal_paths_of_two_sources_are_told_apart() {
    let mut other = excerpt("a.md", "H1: A", 0, "One is blue.\n");
    other.source = SourceName::new("work").unwrap();
    let frozen = EvidenceSnapshot::freeze(
        "q",
        vec![excerpt("a.md", "H1: A", 0, "One is red.\n"), other],
    )
    .unwrap();
    let (red, blue) = (cite(&frozen, 1), cite(&frozen, 2));
    assert!(check_in(&format!("One is red {red}. One is blue {blue}."), &frozen).ok);
    let swapped = blue.replace("work:", "notes:");
    assert_eq!(
        check_in(&format!("One is blue {swapped}."), &frozen).codes,
        [Code::PathMismatch]
    );
}
