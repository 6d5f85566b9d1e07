//! The entry points of `fuzz/`: every input of its corpora, and generated texts. No panics, spans
//! in order, and the same report twice.

#[path = "../../fuzz/src/projections.rs"]
mod projections;
#[path = "../../fuzz/src/records.rs"]
mod records;
#[path = "../../fuzz/src/server.rs"]
mod server;
#[path = "../../fuzz/src/text.rs"]
mod text;

use std::fs;
use std::path::Path;

use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, FreshnessReport, scan_markers};
use local_agent_text::markdown::sentences;
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, SourceName};
use local_agent_verify::{VerifyOptions, file_citations, verify_text};
use proptest::prelude::*;

/// A fuzz target: takes any bytes, panics when a guarantee is violated.
type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 8] = [
    ("citations", text::citations),
    ("frontmatter", text::frontmatter),
    ("ledger", records::ledger),
    ("manifest", projections::manifest),
    ("markdown", text::markdown),
    ("mcp", server::mcp),
    ("query", text::query),
    ("verify", text::verify),
];

#[test]
fn no_input_of_the_corpora_breaks_a_promise() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in TARGETS {
        let inputs: Vec<_> = fs::read_dir(corpora.join(name))
            .unwrap()
            .flatten()
            .collect();
        assert!(!inputs.is_empty(), "no input for {name}");
        for input in inputs {
            target(&fs::read(input.path()).unwrap());
        }
    }
}

/// Text with many of the characters that the grammar, the segmenter and the atom readers look for.
fn dense() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "[E1]",
        "[E2",
        "[source: ",
        "]",
        "(",
        ")",
        "![",
        "`",
        "```\n",
        "> ",
        "- ",
        "| a | b |\n",
        "\n\n",
        ". ",
        "\"",
        "“",
        "”",
        "…",
        "1,500",
        "3.5 %",
        "€",
        " million",
        " March ",
        "2026",
        "-03-03",
        "14:30",
        "v2.8.3",
        ">= ",
        "not ",
        "no longer ",
        "all ",
        "some ",
        "must ",
        "may ",
        "before ",
        "after ",
        "Alice ",
        "Bob ",
        "budget ",
        "approved ",
        "rejected ",
        "half a ",
        "twenty-five ",
        "two hundred and ",
        "per second",
        "http://a.b/c",
        "a_b",
        "--flag",
        "'s ",
        "n't ",
        "日本",
        "：",
        "\u{200b}",
        "é",
        "[a.md:1-2]",
        "(a.md#L3)",
        "> [!note]",
        ">[!e]",
        "\\",
        "  ",
        "\r",
        "\n",
        "\t",
        "n",
        "%%",
        "<!-- ",
        "[^1]: ",
        "[a]: b",
        "【E1】",
        "&#91;",
        "\u{301}",
        "\u{ad}",
        "|---|\n",
    ]);
    prop::collection::vec(parts, 0..60).prop_map(|parts| parts.concat())
}

/// The beginning of a block quote: a few bytes that combine callouts, hard breaks and line ends of
/// all kinds.
fn quoted() -> impl Strategy<Value = String> {
    "> ?\\[!e\\][\\\\ \\t\r\n>a.%]{0,8}"
}

fn frozen(text: &str) -> EvidenceSnapshot {
    let excerpt = Excerpt {
        path_is_shared: false,
        chunk_key: ChunkKey::from_bytes([1; 16]),
        merged: vec![],
        source: SourceName::new("notes").unwrap(),
        path: RelPath::new("a.md").unwrap(),
        heading: HeadingPath::default(),
        span: ByteSpan::new(0, text.len()).unwrap(),
        lines: LineSpan::new(1, 1).unwrap(),
        text: text.to_owned(),
    };
    EvidenceSnapshot::freeze("", vec![excerpt]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn grammar_and_segmenter_stay_inside_the_text(any in any::<String>(), dense in dense(), quoted in quoted()) {
        for text in [&any, &dense, &quoted] {
            let mut at = 0;
            for marker in scan_markers(text) {
                prop_assert!(marker.span.start() >= at && text.get(marker.span.start()..marker.span.end()).is_some());
                at = marker.span.end();
            }
            let mut at = 0;
            for sentence in sentences(text) {
                prop_assert!(sentence.span.start() >= at);
                prop_assert!(text.get(sentence.span.start()..sentence.span.end()).is_some());
                at = sentence.span.end();
            }
            for citation in file_citations(text).citations {
                prop_assert!(text.get(citation.span).is_some());
            }
        }
    }

    #[test]
    fn the_same_bytes_give_the_same_report(answer in dense(), evidence in dense(), any in any::<String>()) {
        for (answer, evidence) in [(&answer, &evidence), (&any, &evidence), (&answer, &any)] {
            let snapshot = frozen(evidence);
            let run = || verify_text(answer, &snapshot, &FreshnessReport::default(), &VerifyOptions::default());
            let report = run();
            prop_assert_eq!(report.sha256, run().sha256);
            prop_assert!(report.claims.iter().all(|c| !c.why.is_empty()));
        }
    }
}
