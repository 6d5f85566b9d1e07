//! The work of verifying a text grows in proportion to the text, whatever its content.

use std::fs;

use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, FreshnessReport};
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, SourceName};
use local_agent_verify::{VerifyOptions, verify_text};

fn frozen(text: &str) -> EvidenceSnapshot {
    let excerpt = Excerpt {
        path_is_shared: false,
        chunk_key: ChunkKey::from_bytes([1; 16]),
        merged: Vec::new(),
        source: SourceName::new("notes").unwrap(),
        path: RelPath::new("n1.md").unwrap(),
        heading: HeadingPath::default(),
        span: ByteSpan::new(0, text.len()).unwrap(),
        lines: LineSpan::new(1, text.lines().count() as u32).unwrap(),
        text: text.to_owned(),
    };
    EvidenceSnapshot::freeze("Who leads?", vec![excerpt]).unwrap()
}

/// Nanoseconds of processor time of this thread, if the system counts them. Other load of the
/// machine does not increase them.
fn computed() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat")
        .ok()?
        .split(' ')
        .next()?
        .parse()
        .ok()
}

/// Texts that cause much work of one kind, repeated until the answer is long enough.
const DENSE: &[&str] = &[
    "It is so [E1]. ",
    "word ",
    "Word ",
    "Name and word ",
    "7",
    "7 ",
    "`7a` 7 ",
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
    "wo{n}rd ",
    "{n} ",
    "Nam{n}e ",
    "\"abc def ghi {n}\" ",
    "Dr. ",
    "John's ",
    "Alice Berg and ",
    "{E1}",
    "&#91;E1&#93;",
    "[Е1] ",
    "[s\u{200b}ource: ",
    "[E1, ",
    "[[E1",
    "[1] ",
    "[a](",
    "![a](<",
    "[a](http://b/",
    "[^1]",
    "[a{n}]: b\n",
    "==",
    "a = == ",
    "\\",
    "~~~\na\n",
    "```\n",
    "<a b=\"",
    "<!-- ",
    "\u{200b}",
    "a\u{ad}",
    "\u{202e}a",
    "nor ",
    "7 above ",
    "7 EUR more than ",
    "average 7 EUR ",
    "7 each ",
    "7 days before ",
    "until 5 May ",
    "every 7 days ",
    "half past two ",
    "twenty ",
    "neither a nor ",
    "no es ",
    "não ",
    "the 7th and last ",
    "no longer ",
    "because ",
    "7 and 8, 9 May, ",
    "nobody has less than 7 EUR, ",
    "the sample was taken, ",
    "5 instead of 4 ",
    "rose from 6 to 1, ",
    "the notes have no words, ",
    "with a word, without a word, ",
];

/// Combinations of two kinds of work, one in each half of the answer.
const HALVES: &[(&str, &str)] = &[
    ("> ", "a\n"),
    ("> ", "> a\n"),
    ("- ", "a\n"),
    ("- ", "  a\n"),
    ("1. ", "    a\n"),
    ("+ > ", "- a\n"),
    ("|a", "|a|\n"),
    ("|-", "|a|\n"),
    ("[", "](b)"),
    ("*", "a*"),
    ("`", "a`"),
    ("\u{301}", "e"),
];

/// `unit` repeated to `size` bytes, with `{n}` in it counted up.
fn repeated(unit: &str, size: usize) -> String {
    if !unit.contains("{n}") {
        return unit.repeat(size / unit.len());
    }
    let mut out = String::with_capacity(size + unit.len());
    for n in 0_u32.. {
        if out.len() >= size {
            break;
        }
        out.push_str(&unit.replace("{n}", &n.to_string()));
    }
    out
}

/// Verifies `words` with a citation at their end; returns the processor time.
fn work(frozen: &EvidenceSnapshot, words: &str) -> Option<u64> {
    let answer = format!("{words} [E1].");
    let before = computed()?;
    verify_text(
        &answer,
        frozen,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    Some(computed()? - before)
}

/// The entries of [`DENSE`] and [`HALVES`] that took more than nine times the work for four times
/// the text; linear work takes four times, quadratic work sixteen times.
fn steep(mut run: impl FnMut(&str) -> Option<u64>) -> Vec<String> {
    let mut out = Vec::new();
    for (unit, rest) in DENSE
        .iter()
        .map(|unit| (*unit, ""))
        .chain(HALVES.iter().copied())
    {
        // The minimum of several runs is used, because other threads affect the caches.
        let mut least = |size: usize, runs: usize| {
            let text = match rest {
                "" => repeated(unit, size),
                rest => format!(
                    "{}a\n{}",
                    repeated(unit, size / 2),
                    repeated(rest, size / 2)
                ),
            };
            (0..runs).filter_map(|_| run(&text)).min()
        };
        // Eight milliseconds are two ticks of the clock that counts. A suspicious result gets more
        // runs.
        let is_steep = |few: u64, many: u64| many > 9 * few.max(8_000_000);
        let (Some(few), Some(many)) = (least(12_000, 2), least(48_000, 2)) else {
            continue;
        };
        if !is_steep(few, many) {
            continue;
        }
        let (few, many) = (
            least(12_000, 6).unwrap_or(few),
            least(48_000, 6).unwrap_or(many),
        );
        if is_steep(few, many) {
            out.push(format!("{unit:?} {rest:?}: {few} ns, then {many} ns"));
        }
    }
    out
}

#[test]
fn c43_four_times_the_answer_is_not_sixteen_times_the_work() {
    let frozen = frozen("Alice leads.\n");
    assert_eq!(steep(|words| work(&frozen, words)), [""; 0]);
}

#[test]
fn c43_four_times_the_evidence_is_not_sixteen_times_the_work() {
    let answer =
        "Alice does not lead 7 of the word groups since 5 May, not \"abc def ghi jkl\" [E1]. "
            .repeat(10);
    let run = |text: &str| {
        let frozen = frozen(&format!("Alice leads.\n\n{text}\n"));
        let before = computed()?;
        verify_text(
            &answer,
            &frozen,
            &FreshnessReport::default(),
            &VerifyOptions::default(),
        );
        Some(computed()? - before)
    };
    assert_eq!(steep(run), [""; 0]);
}

#[test]
fn c43_a_megabyte_of_anything_gets_a_verdict() {
    let frozen = frozen("Alice leads.\n");
    for (unit, rest) in [
        ("[", "]"),
        ("> ", "a\n"),
        ("- ", "\n"),
        ("|", "|\n"),
        ("\"", "7"),
        ("\u{301}", "`"),
    ] {
        let answer = format!(
            "{}{} [E1].",
            unit.repeat(500_000 / unit.len()),
            rest.repeat(500_000 / rest.len())
        );
        let report = verify_text(
            &answer,
            &frozen,
            &FreshnessReport::default(),
            &VerifyOptions::default(),
        );
        assert!(
            report.claims.iter().all(|c| !c.why.is_empty()),
            "{unit:?} {rest:?}"
        );
    }
}
