//! Targets that read text and do not access the disk.

use std::collections::BTreeSet;

use local_agent_index::lexical::Query;
use local_agent_text::evidence::{
    EvidenceSnapshot, Excerpt, FreshnessReport, RawCitation, scan_markers,
};
use local_agent_text::language::terms;
use local_agent_text::markdown::{
    ChunkOptions, Document, FrontmatterState, Scheme, parse, plain, sentences, shallow,
};
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, SourceName};
use local_agent_verify::{VerifyOptions, file_citations, verify_text};

/// Markers are in order and inside the text; a citation that is parsed, written and parsed again is
/// the same.
pub(super) fn citations(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut at = 0;
    for marker in scan_markers(text) {
        assert!(marker.span.start() >= at, "markers overlap");
        let inner = inside(text, marker.span);
        at = marker.span.end();
        if let Ok(citation) = RawCitation::parse(inner) {
            let again = RawCitation::parse(&citation.to_string());
            assert_eq!(again.as_ref(), Ok(&citation), "{inner}");
        }
    }
    for citation in file_citations(text).citations {
        assert!(text.get(citation.span).is_some());
    }
}

/// The frontmatter is parsed or not; in either case the body after it begins at the start of a
/// line.
pub(super) fn frontmatter(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for note in [text.to_owned(), format!("---\n{text}\n---\nbody\n")] {
        let document = document(&note, Scheme::ObsidianV2, 40);
        let head = &document.frontmatter;
        match head.state {
            FrontmatterState::Absent => assert!(head.span.is_none()),
            FrontmatterState::Present => assert!(head.error.is_none()),
            FrontmatterState::Unknown => assert!(head.error.is_some()),
        }
        if let Some(span) = head.span {
            inside(&note, span);
        }
        let json = head.frontmatter_json();
        assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
    }
}

/// Spans of chunks, headings and sentences are inside the note and in order; chunks of the current
/// scheme leave no text out.
pub(super) fn markdown(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    assert_eq!(shallow(text).len(), text.len());
    plain(text);
    let mut at = 0;
    for sentence in sentences(text) {
        assert!(sentence.span.start() >= at, "sentences overlap");
        inside(text, sentence.span);
        at = sentence.span.end();
    }
    for scheme in [
        Scheme::ObsidianV2,
        Scheme::ObsidianV1,
        Scheme::FixedWindowV1,
    ] {
        let document = document(text, scheme, 12);
        for heading in &document.headings {
            inside(text, heading.span);
        }
        for chunk in &document.chunks {
            inside(text, chunk.span);
        }
        if scheme == Scheme::ObsidianV2 {
            nothing_is_left_out(text, &document);
        }
    }
}

fn nothing_is_left_out(text: &str, document: &Document) {
    let mut at = document.frontmatter.span.map_or(0, ByteSpan::end);
    let between = |from: usize, to: usize| {
        let gap = &text[from..to];
        let gap = gap.strip_prefix('\u{feff}').unwrap_or(gap);
        assert!(gap.trim().is_empty(), "left out: {gap:?}");
    };
    for chunk in &document.chunks {
        assert!(chunk.span.start() >= at, "chunks overlap");
        between(at, chunk.span.start());
        at = chunk.span.end();
    }
    between(at, text.len());
}

/// Every text is a valid query; no part of the parsed query is empty.
pub(super) fn query(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let known: BTreeSet<String> = ["status", "Größe"].map(str::to_owned).into();
    let query = Query::parse(text, &known);
    let lists = [&query.words, &query.phrases];
    assert!(lists.iter().all(|list| list.iter().all(|w| !w.is_empty())));
    assert!(query.filters.iter().all(|filter| !filter.value.is_empty()));
    // With a filter alone, the query lists notes and exclusions stay exclusions.
    let is_list = !query.filters.is_empty();
    assert!(!query.is_blank() || is_list || query.excluded.is_empty());
    for term in terms(text) {
        assert!(!term.is_empty() && !term.chars().any(char::is_control));
    }
}

/// The same bytes give the same report, and every claim has a reason. The answer is the part before
/// the first zero byte, the evidence the part after it.
pub(super) fn verify(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (answer, evidence) = text.split_once('\0').unwrap_or((text, text));
    let Some(snapshot) = frozen(evidence) else {
        return;
    };
    let options = VerifyOptions::default();
    let judge = || verify_text(answer, &snapshot, &FreshnessReport::default(), &options);
    let report = judge();
    assert_eq!(report.sha256, judge().sha256);
    assert!(report.claims.iter().all(|claim| !claim.why.is_empty()));
}

fn frozen(text: &str) -> Option<EvidenceSnapshot> {
    let excerpt = Excerpt {
        path_is_shared: false,
        chunk_key: ChunkKey::from_bytes([1; 16]),
        merged: vec![],
        source: SourceName::new("notes").ok()?,
        path: RelPath::new("a.md").ok()?,
        heading: HeadingPath::default(),
        span: ByteSpan::new(0, text.len())?,
        lines: LineSpan::new(1, 1)?,
        text: text.to_owned(),
    };
    EvidenceSnapshot::freeze("", vec![excerpt]).ok()
}

fn document(text: &str, scheme: Scheme, size: usize) -> Document {
    let options = ChunkOptions {
        scheme,
        max_tokens: size,
        max_chars: size * 4,
        overlap: size,
    };
    parse(text, &options, &|text| text.split_whitespace().count())
}

fn inside(text: &str, span: ByteSpan) -> &str {
    text.get(span.start()..span.end())
        .unwrap_or_else(|| panic!("{span:?} is not inside the text"))
}
