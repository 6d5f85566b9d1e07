//! One answer of 20 sentences over 8 chunks, as the gate sees it; and hostile answers.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use local_agent::evidence::{EvidenceSnapshot, Excerpt, FreshnessReport};
use local_agent::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, SourceName};
use local_agent::verify::{Report, VerifyOptions, verify_text};

/// Eight chunks of about 200 words.
fn snapshot() -> EvidenceSnapshot {
    let excerpts = (0..8_u8).map(|n| {
        let text: String = (0..16)
            .map(|i| {
                format!(
                    "The pump number {i} of station {n} moves {} litres a minute since {} March 2024, and Alice Weber \
                     checks it every week. ",
                    100 * u32::from(n) + i,
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

/// The program's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn judge(answer: &str, snapshot: &EvidenceSnapshot) -> Report {
    verify_text(answer, snapshot, &FreshnessReport::default(), &VerifyOptions::default())
}

fn verify(c: &mut Criterion) {
    let frozen = snapshot();
    let answer: String = (0..20)
        .map(|i| {
            let (n, i) = (i % 8, i % 16);
            format!(
                "Since {} March 2024 pump {i} of station {n} has moved {} litres per minute [E{}]. ",
                i + 1,
                100 * n + i,
                n + 1
            )
        })
        .collect();
    let report = judge(&answer, &frozen);
    // A bench of nothing would be fast.
    let fault = report.claims.iter().find(|claim| !claim.codes.is_empty());
    assert!(report.ok && report.claims.len() == 20, "{:?} {fault:#?}", report.codes);
    c.bench_function("verify/20 sentences, 8 chunks", |b| b.iter(|| judge(black_box(&answer), &frozen)));
    let failing: String =
        (0..20).map(|i| format!("\"The pump number {i} of station 3 was sold to pirates last year\" [E4]. ")).collect();
    assert!(!judge(&failing, &frozen).ok);
    c.bench_function("verify/20 failing quotes", |b| b.iter(|| judge(black_box(&failing), &frozen)));
    let markers = "It is so [E1]. ".repeat(10_000);
    c.bench_function("verify/10,000 markers", |b| b.iter(|| judge(black_box(&markers), &frozen)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = verify
}
criterion_main!(benches);
