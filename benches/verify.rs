//! Measures the verification of one answer of 20 sentences over 8 chunks, and of hostile answers.

use std::hint::black_box;

use criterion::Criterion;
use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, FreshnessReport};
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, SourceName};
use local_agent_verify::{Report, VerifyOptions, verify_text};

/// Number of sentences in a chunk of the usual length, and in one more than twice as long.
const CHUNK: u8 = 6;
const LONG_CHUNK: u8 = 16;

/// Eight chunks of this many sentences, with 23 words each.
fn snapshot(sentences: u8) -> EvidenceSnapshot {
    let excerpts = (0..8_u8).map(|n| {
        let text: String = (0..sentences)
            .map(|i| {
                format!(
                    "The pump number {i} of station {n} moves {} litres a minute since {} March 2024, and Alice Weber \
                     checks it every week. ",
                    100 * u32::from(n) + u32::from(i),
                    i + 1
                )
            })
            .collect();
        Excerpt {
            path_is_shared: false,
            chunk_key: ChunkKey::from_bytes([n + 1; 16]),
            merged: vec![],
            source: SourceName::new("notes").unwrap(),
            path: RelPath::new(format!("station{n}.md")).unwrap(),
            heading: HeadingPath::default(),
            span: ByteSpan::new(0, text.len()).unwrap(),
            lines: LineSpan::new(1, 1).unwrap(),
            text,
        }
    });
    EvidenceSnapshot::freeze("How much do the pumps move?", excerpts.collect()).unwrap()
}

fn judge(answer: &str, snapshot: &EvidenceSnapshot) -> Report {
    verify_text(
        answer,
        snapshot,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    )
}

/// Runs the benchmark; see the top of this file.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let mut c = Criterion::default().sample_size(20);
    let answer: String = (0..20)
        .map(|i| {
            let (n, i) = (i % 8, i / 8);
            format!(
                "Since {} March 2024 pump {i} of station {n} has moved {} litres per minute [E{}]. ",
                i + 1,
                100 * n + i,
                n + 1
            )
        })
        .collect();
    for sentences in [CHUNK, LONG_CHUNK] {
        let frozen = snapshot(sentences);
        let report = judge(&answer, &frozen);
        // Verifying nothing would be fast, but would measure nothing.
        let fault = report.claims.iter().find(|claim| !claim.codes.is_empty());
        assert!(
            report.ok && report.claims.len() == 20,
            "{:?} {fault:#?}",
            report.codes
        );
        let words: usize = frozen
            .items()
            .iter()
            .map(|item| item.text.split_whitespace().count())
            .sum();
        let name = format!("verify/20 sentences, 8 chunks of {} words", words / 8);
        c.bench_function(&name, |b| b.iter(|| judge(black_box(&answer), &frozen)));
    }
    let frozen = snapshot(LONG_CHUNK);
    let failing: String = (0..20)
        .map(|i| {
            format!("\"The pump number {i} of station 3 was sold to pirates last year\" [E4]. ")
        })
        .collect();
    assert!(!judge(&failing, &frozen).ok);
    c.bench_function("verify/20 failing quotes", |b| {
        b.iter(|| judge(black_box(&failing), &frozen));
    });
    let markers = "It is so [E1]. ".repeat(10_000);
    c.bench_function("verify/10,000 markers", |b| {
        b.iter(|| judge(black_box(&markers), &frozen));
    });
    c.final_summary();
    Ok(())
}
