//! Any answer over any evidence: no panic, and the same report twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, FreshnessReport};
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, SourceName};
use local_agent_verify::{VerifyOptions, verify_text};

fuzz_target!(|input: (&str, &str)| {
    let (answer, text) = input;
    let (Ok(source), Ok(path)) = (SourceName::new("notes"), RelPath::new("a.md")) else { return };
    let (Some(span), Some(lines)) = (ByteSpan::new(0, text.len()), LineSpan::new(1, 1)) else { return };
    let excerpt = Excerpt {
        path_is_shared: false,
        chunk_key: ChunkKey::from_bytes([1; 16]),
        merged: vec![],
        source,
        path,
        heading: HeadingPath::default(),
        span,
        lines,
        text: text.to_owned(),
    };
    let Ok(snapshot) = EvidenceSnapshot::freeze("", vec![excerpt]) else { return };
    let run = || verify_text(answer, &snapshot, &FreshnessReport::default(), &VerifyOptions::default());
    assert_eq!(run().sha256, run().sha256);
});
