//! Selects the parts of a rejected draft that may be shown: the sentences that pass, and one note
//! for each omitted one.
//!
//! A sentence is removed from the displayed answer together with its citations. A list item or row
//! that is empty afterwards is removed as a whole, and so is a line that only introduced it. Inside
//! a paragraph, an ellipsis replaces the sentence, so that its neighbours do not seem adjacent. The
//! remaining text is verified again until all of it passes.

use std::ops::Range;

use super::claim_notes::{ClaimNote, claim_notes};
use super::conversation::JudgedDraft;
use local_agent_text::evidence::{Draft, Piece, Rendered, Segment};
use local_agent_verify::{self as verify, Outcome, Report, Verdict, VerifyOptions};

/// Replaces a sentence inside a paragraph.
const GAP: &str = "…";

/// The result of searching rejected drafts for usable parts.
pub(super) struct Remains {
    /// The part to show; `None` when no sentence passes.
    pub salvaged: Option<JudgedDraft>,
    /// Every sentence omitted from that draft, or from the last one.
    pub left_out: Vec<ClaimNote>,
}

/// Chooses the draft with the largest part that passes; on a tie, the later one. `drafts` are
/// rejected drafts, the last one first.
pub(super) fn salvage(drafts: Vec<JudgedDraft>, options: &VerifyOptions) -> Remains {
    let mut best: Option<(usize, JudgedDraft, Vec<ClaimNote>)> = None;
    let mut of_last = None;
    for judged in drafts {
        let notes = claim_notes(&judged.report, &judged.packed.snapshot, Verdict::Rejected);
        let (salvaged, later) = pass(judged, options);
        let notes: Vec<ClaimNote> = notes.into_iter().chain(later).collect();
        let Some(salvaged) = salvaged else {
            of_last.get_or_insert(notes);
            continue;
        };
        let passed = salvaged.report.claims.len();
        if best.as_ref().is_none_or(|(most, ..)| passed > *most) {
            best = Some((passed, salvaged, notes));
        }
    }
    match best {
        Some((_, salvaged, left_out)) => Remains {
            salvaged: Some(salvaged),
            left_out,
        },
        None => Remains {
            salvaged: None,
            left_out: of_last.unwrap_or_default(),
        },
    }
}

/// Removes rejected claims until all of the text passes. Also returns the claims that were rejected
/// only after the first removal.
fn pass(judged: JudgedDraft, options: &VerifyOptions) -> (Option<JudgedDraft>, Vec<ClaimNote>) {
    let JudgedDraft {
        mut draft,
        mut report,
        packed,
    } = judged;
    let mut later = Vec::new();
    while !report.ok {
        let rendered = draft.lay_out(&packed.snapshot);
        let rest = without(&draft, &rendered, &rejected(&report));
        // Every round must remove something, otherwise the loop would not end.
        if rest == draft {
            return (None, later);
        }
        draft = rest;
        report = verify::verify(&draft, &packed.snapshot, &packed.freshness, options);
        later.extend(claim_notes(&report, &packed.snapshot, Verdict::Rejected));
    }
    let says_something = report.outcome == Outcome::Passed && !report.claims.is_empty();
    if !says_something {
        return (None, later);
    }
    let judged = JudgedDraft {
        draft,
        report,
        packed,
    };
    (Some(judged), later)
}

fn rejected(report: &Report) -> Vec<Range<usize>> {
    report
        .claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Rejected)
        .map(|claim| claim.span.start()..claim.span.end())
        .collect()
}

/// `draft` without these byte ranges of its rendered form.
fn without(draft: &Draft, rendered: &Rendered, claims: &[Range<usize>]) -> Draft {
    let cuts = cuts(&rendered.text, claims);
    let mut out = Draft::default();
    let mut next = 0;
    for (segment, (range, piece)) in draft.segments().iter().zip(&rendered.pieces) {
        if *piece != Piece::Text {
            let first = cuts.partition_point(|cut| cut.bytes.end <= range.start);
            let is_cut = cuts
                .get(first)
                .is_some_and(|cut| cut.bytes.start < range.end);
            if !is_cut {
                out.push(segment.clone());
            }
            continue;
        }
        let mut at = range.start;
        while let Some(cut) = cuts.get(next).filter(|cut| cut.bytes.start < range.end) {
            push_text(&mut out, &rendered.text, at..cut.bytes.start.max(at));
            if cut.leaves_gap && cut.bytes.start >= range.start {
                out.push(Segment::Text(GAP.to_owned()));
            }
            at = cut.bytes.end.clamp(at, range.end);
            if cut.bytes.end > range.end {
                break;
            }
            next += 1;
        }
        push_text(&mut out, &rendered.text, at..range.end);
    }
    out
}

fn push_text(out: &mut Draft, text: &str, range: Range<usize>) {
    if let Some(part) = text.get(range).filter(|part| !part.is_empty()) {
        out.push(Segment::Text(part.to_owned()));
    }
}

/// Bytes to cut out.
#[derive(Debug, PartialEq)]
struct Cut {
    bytes: Range<usize>,
    leaves_gap: bool,
}

/// The cuts for these claims, for lines with nothing else, and for lines that only introduced them;
/// in order, without overlap.
fn cuts(text: &str, claims: &[Range<usize>]) -> Vec<Cut> {
    let mut gone = merged(claims.to_vec());
    let lines = lines(text);
    let mut whole: Vec<bool> = lines
        .iter()
        .map(|line| {
            let is_touched = first_after(&gone, line.start).is_some_and(|g| g.start < line.end);
            is_touched && !has_words(text, line, &gone)
        })
        .collect();
    let is_whole = |whole: &[bool], n: usize| whole.get(n).copied().unwrap_or(false);
    for (n, line) in lines.iter().enumerate() {
        let announces = text
            .get(line.clone())
            .is_some_and(|line| line.trim_end().ends_with(':'));
        if !announces {
            continue;
        }
        let mut next = line_with_words(text, &lines, n + 1);
        let is_followed = next.is_some_and(|(n, _)| is_whole(&whole, n));
        while let Some((at, _)) = next.filter(|(n, _)| is_whole(&whole, *n)) {
            next = line_with_words(text, &lines, at + 1);
        }
        let list_goes_on = next.is_some_and(|(_, line)| is_item(text, line));
        if is_followed
            && !list_goes_on
            && let Some(announcement) = whole.get_mut(n)
        {
            *announcement = true;
        }
    }
    gone.extend(
        lines
            .iter()
            .zip(&whole)
            .filter(|(_, whole)| **whole)
            .map(|(line, _)| line.clone()),
    );
    merged(gone)
        .into_iter()
        .map(|bytes| Cut {
            leaves_gap: is_inside_paragraph(text, &bytes),
            bytes,
        })
        .collect()
}

/// The first line from here that is not blank.
fn line_with_words<'l>(
    text: &str,
    lines: &'l [Range<usize>],
    from: usize,
) -> Option<(usize, &'l Range<usize>)> {
    lines
        .iter()
        .enumerate()
        .skip(from)
        .find(|(_, line)| !is_blank(text, line))
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// The first of these ranges, in order and without overlap, that ends after byte `at`.
fn first_after(ranges: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    ranges.get(ranges.partition_point(|range| range.end <= at))
}

/// The lines of a text, line breaks included.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let range = |line: &str| {
        let start = at;
        at += line.len();
        start..at
    };
    text.split_inclusive('\n').map(range).collect()
}

fn is_blank(text: &str, line: &Range<usize>) -> bool {
    text.get(line.clone())
        .is_none_or(|line| line.trim().is_empty())
}

/// Whether a line has a letter or a digit outside `gone`. The number of a list item is part of its
/// marker.
fn has_words(text: &str, line: &Range<usize>, gone: &[Range<usize>]) -> bool {
    let whole = text.get(line.clone()).unwrap_or("");
    let mark = item_mark(whole);
    whole
        .char_indices()
        .skip_while(|(at, _)| *at < mark)
        .filter(|(_, c)| c.is_alphanumeric())
        .any(|(at, _)| {
            let at = line.start + at;
            first_after(gone, at).is_none_or(|range| !range.contains(&at))
        })
}

/// Length of the list-item marker in bytes; 0 if it is not a list item.
fn item_mark(line: &str) -> usize {
    let lead = line.len() - line.trim_start().len();
    let rest = line.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = rest.get(digits..).unwrap_or("");
    let is_mark = match digits {
        0 => after.starts_with("- ") || after.starts_with("* ") || after.starts_with("+ "),
        _ => after.starts_with(". ") || after.starts_with(") "),
    };
    if is_mark { lead + digits + 2 } else { 0 }
}

fn is_item(text: &str, line: &Range<usize>) -> bool {
    text.get(line.clone())
        .is_some_and(|line| item_mark(line) > 0 || line.trim_start().starts_with('|'))
}

/// Whether words remain on the same line on both sides of a cut.
fn is_inside_paragraph(text: &str, cut: &Range<usize>) -> bool {
    let before = text.get(..cut.start).unwrap_or("");
    let before = before.rsplit('\n').next().unwrap_or("");
    let after = text.get(cut.end..).unwrap_or("");
    let after = after.split('\n').next().unwrap_or("");
    let mark = item_mark(before);
    is_worded(before.get(mark..).unwrap_or("")) && is_worded(after)
}

/// Whether the text has a letter or a digit.
fn is_worded(part: &str) -> bool {
    part.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_index::retrieval::Packed;
    use local_agent_testing::fixture::snapshot;
    use local_agent_text::evidence::{Freshness, FreshnessReport};

    const NOTES: &[&str] = &[
        "The zebra eats 14 apples a day.\n",
        "The lion sleeps in the old barn.\n",
        "The gate opens at 9.\n",
    ];

    fn judged(text: &str) -> JudgedDraft {
        let snapshot = snapshot(NOTES);
        let freshness: FreshnessReport = snapshot
            .items()
            .iter()
            .map(|item| (item.label, Freshness::Fresh))
            .collect();
        let draft = Draft::parse(text, &snapshot);
        let report = verify::verify(&draft, &snapshot, &freshness, &VerifyOptions::default());
        let packed = Packed {
            snapshot,
            freshness,
            scores: vec![1.0; NOTES.len()],
            index_stale: Vec::new(),
        };
        JudgedDraft {
            draft,
            report,
            packed,
        }
    }

    /// What remains of a draft, with its citations as labels.
    fn left(text: &str) -> (Option<String>, Vec<String>) {
        let remains = salvage(vec![judged(text)], &VerifyOptions::default());
        let text = remains.salvaged.map(|salvaged| {
            let segments = salvaged.draft.segments().to_vec();
            let show = |segment: &Segment| match segment {
                Segment::Text(text) => text.clone(),
                Segment::Cite(label) => format!("[{label}]"),
                other => format!("{other:?}"),
            };
            segments
                .iter()
                .map(show)
                .collect::<String>()
                .trim()
                .to_owned()
        });
        let sentences = remains.left_out.into_iter().map(|note| note.sentence);
        (text, sentences.collect())
    }

    #[test]
    fn a_sentence_goes_with_its_citations_and_leaves_a_mark() {
        let text = "The zebra eats 14 apples a day [E1]. The lion eats 90 zebras [E2]. The gate opens at 9 [E3].";
        let (kept, left_out) = left(text);
        let kept = kept.unwrap();
        assert!(
            kept.starts_with("The zebra eats 14 apples a day [E1].") && kept.contains('…'),
            "{kept}"
        );
        assert!(
            kept.ends_with("The gate opens at 9 [E3].") && !kept.contains("lion"),
            "{kept}"
        );
        assert_eq!(left_out, ["The lion eats 90 zebras."]);
    }

    #[test]
    fn an_item_goes_as_a_line_and_an_announcement_of_nothing_goes_too() {
        let (kept, _) = left(
            "- The zebra eats 14 apples a day [E1].\n- The lion eats 90 zebras [E2].\n- The gate opens at 9 [E3].\n",
        );
        assert_eq!(
            kept.unwrap(),
            "- The zebra eats 14 apples a day [E1].\n- The gate opens at 9 [E3]."
        );
        let (kept, _) = left(
            "The zebra eats 14 apples a day [E1].\n\nAnimals:\n\n1. The lion eats 90 zebras [E2].\n2. The lion eats 91 zebras [E2].\n",
        );
        assert_eq!(kept.unwrap(), "The zebra eats 14 apples a day [E1].");
    }

    #[test]
    fn nothing_that_passes_is_no_answer_and_every_sentence_is_named() {
        let (kept, left_out) = left("The lion eats 90 zebras [E2]. The gate opens at 11 [E3].");
        assert_eq!(kept, None);
        assert_eq!(left_out.len(), 2);
    }

    #[test]
    fn the_draft_of_which_most_passes_is_taken() {
        let options = VerifyOptions::default();
        let first = "The zebra eats 14 apples a day [E1]. The gate opens at 9 [E3]. The lion eats 90 zebras [E2].";
        let last = "The zebra eats 15 apples a day [E1]. The gate opens at 9 [E3].";
        let remains = salvage(vec![judged(last), judged(first)], &options);
        let kept = remains.salvaged.unwrap();
        let text = kept.draft.render(&kept.packed.snapshot).unwrap().text;
        assert!(text.contains("14 apples"), "{text}");
        assert_eq!(remains.left_out.len(), 1);
    }

    #[test]
    fn cuts_are_merged_and_lines_without_words_go() {
        let text = "Intro.\n- one\n- two\n";
        assert_eq!(
            cuts(text, std::slice::from_ref(&(9..12))),
            [Cut {
                bytes: 7..13,
                leaves_gap: false
            }]
        );
    }
}
