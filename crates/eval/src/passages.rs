//! Scores of passages against marked evidence: do the first k passages contain the answer to the
//! question, and how much other text do they contain? Everything is measured in characters, or in
//! lines if a set marks only lines.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::set::{Evidence, Mark};

/// A passage that was found: characters are counted from 0, `end` is exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The path of the document, below `docs/`.
    pub path: String,
    /// Its first character.
    pub start: u64,
    /// The position after its last character.
    pub end: u64,
}

/// Passages found for each question, best first.
pub type PassageRun = BTreeMap<String, Vec<Passage>>;

/// Means over all questions for one k. Each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct PassageScores {
    /// The number of passages that are scored.
    pub k: usize,
    /// Whether a passage contains at least half of one marked stretch.
    pub hit: f64,
    /// Share of the marked text that the passages cover.
    pub recall: f64,
    /// Share of the passages' text that is marked.
    pub precision: f64,
    /// The text in both, divided by the text in either.
    pub iou: f64,
}

/// The positions of the line starts of a document in characters, and its end: line n is `[n -
/// 1]..[n]`.
pub fn line_starts(text: &str) -> Vec<u64> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split('\n') {
        at += line.chars().count() as u64 + 1;
        starts.push(at);
    }
    starts
}

/// Scores `run` at `k`. `lines` returns the line starts of a document; it is called only for marks
/// in lines. A question that is missing in `run` scores 0.
pub fn score(
    evidence: &[Evidence],
    run: &PassageRun,
    k: usize,
    lines: &dyn Fn(&str) -> Option<Vec<u64>>,
) -> PassageScores {
    let mut sum = PassageScores {
        k,
        ..PassageScores::default()
    };
    for one in evidence {
        let found = run
            .get(&one.id)
            .map_or(&[][..], |passages| &passages[..passages.len().min(k)]);
        let marks: Vec<Passage> = one
            .refs
            .iter()
            .map(|mark| in_characters(mark, lines))
            .collect();
        let (gold, top) = (unions(&marks), unions(found));
        let both: u64 = gold
            .iter()
            .map(|(path, spans)| shared(spans, top.get(path).map_or(&[], Vec::as_slice)))
            .sum();
        let (gold, top) = (total(&gold), total(&top));
        sum.hit += f64::from(u8::from(is_hit(&marks, found)));
        sum.recall += fraction(both, gold);
        sum.precision += fraction(both, top);
        sum.iou += fraction(both, gold + top - both);
    }
    let count = evidence.len().max(1) as f64;
    for value in [
        &mut sum.hit,
        &mut sum.recall,
        &mut sum.precision,
        &mut sum.iou,
    ] {
        *value /= count;
    }
    sum
}

/// `part` divided by `of`; 0 if `of` is 0.
fn fraction(part: u64, of: u64) -> f64 {
    if of > 0 { part as f64 / of as f64 } else { 0.0 }
}

fn is_hit(marks: &[Passage], found: &[Passage]) -> bool {
    found
        .iter()
        .any(|passage| marks.iter().any(|mark| covers_half(mark, passage)))
}

/// Whether the passage contains at least half of the mark.
fn covers_half(mark: &Passage, passage: &Passage) -> bool {
    let overlap = mark
        .end
        .min(passage.end)
        .saturating_sub(mark.start.max(passage.start));
    mark.path == passage.path && mark.end > mark.start && overlap * 2 >= mark.end - mark.start
}

/// A mark as a range of characters. Lines beyond the document's end are ignored.
fn in_characters(mark: &Mark, lines: &dyn Fn(&str) -> Option<Vec<u64>>) -> Passage {
    if let (Some(start), Some(end)) = (mark.start, mark.end) {
        return passage_of(mark, start, end);
    }
    let (Some(first), Some(last), Some(starts)) =
        (mark.start_line, mark.end_line, lines(&mark.path))
    else {
        return passage_of(mark, 0, 0);
    };
    let last = last.min(starts.len().saturating_sub(1) as u64);
    match (
        start_of_line(&starts, first.max(1) - 1),
        start_of_line(&starts, last),
    ) {
        (Some(start), Some(end)) if first.max(1) <= last => passage_of(mark, start, end),
        _ => passage_of(mark, 0, 0),
    }
}

/// Where a line starts, counted in characters.
fn start_of_line(starts: &[u64], line: u64) -> Option<u64> {
    usize::try_from(line)
        .ok()
        .and_then(|line| starts.get(line))
        .copied()
}

/// The passage of the marked file between two characters.
fn passage_of(mark: &Mark, start: u64, end: u64) -> Passage {
    Passage {
        path: mark.path.clone(),
        start,
        end,
    }
}

/// The marked ranges of each document; adjacent ones are joined.
fn unions(passages: &[Passage]) -> BTreeMap<&str, Vec<(u64, u64)>> {
    let mut all: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for passage in passages
        .iter()
        .filter(|passage| passage.end > passage.start)
    {
        all.entry(&passage.path)
            .or_default()
            .push((passage.start, passage.end));
    }
    for spans in all.values_mut() {
        spans.sort_unstable();
        spans.dedup_by(|next, kept| {
            let touches = next.0 <= kept.1;
            if touches {
                kept.1 = kept.1.max(next.1);
            }
            touches
        });
    }
    all
}

fn total(unions: &BTreeMap<&str, Vec<(u64, u64)>>) -> u64 {
    unions
        .values()
        .flatten()
        .map(|(start, end)| end - start)
        .sum()
}

fn shared(a: &[(u64, u64)], b: &[(u64, u64)]) -> u64 {
    a.iter()
        .flat_map(|x| {
            b.iter()
                .map(move |y| x.1.min(y.1).saturating_sub(x.0.max(y.0)))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passage(path: &str, start: u64, end: u64) -> Passage {
        Passage {
            path: path.to_owned(),
            start,
            end,
        }
    }

    fn marked(start: u64, end: u64) -> Evidence {
        let mark = Mark {
            path: "a.md".into(),
            start: Some(start),
            end: Some(end),
            start_line: None,
            end_line: None,
        };
        Evidence {
            id: "1".into(),
            refs: vec![mark],
        }
    }

    fn scores(evidence: &Evidence, passages: Vec<Passage>, k: usize) -> PassageScores {
        score(
            std::slice::from_ref(evidence),
            &PassageRun::from([("1".to_owned(), passages)]),
            k,
            &|_| None,
        )
    }

    #[test]
    fn scores_are_those_worked_out_by_hand() {
        let found = vec![
            passage("b.md", 0, 50),
            passage("a.md", 0, 15),
            passage("a.md", 10, 30),
        ];
        let at = |k| scores(&marked(10, 30), found.clone(), k);
        assert_eq!(
            at(1),
            PassageScores {
                k: 1,
                ..PassageScores::default()
            }
        );
        // 5 of the 20 marked characters, in 65 characters of passages: less than half, so no hit.
        assert_eq!(
            at(2),
            PassageScores {
                k: 2,
                hit: 0.0,
                recall: 0.25,
                precision: 5.0 / 65.0,
                iou: 5.0 / 80.0
            }
        );
        assert_eq!(
            at(3),
            PassageScores {
                k: 3,
                hit: 1.0,
                recall: 1.0,
                precision: 20.0 / 80.0,
                iou: 20.0 / 80.0
            }
        );
    }

    #[test]
    fn half_of_a_mark_is_a_hit() {
        assert_eq!(
            scores(&marked(10, 30), vec![passage("a.md", 0, 20)], 1).hit,
            1.0
        );
        assert_eq!(
            scores(&marked(10, 30), vec![passage("a.md", 0, 19)], 1).hit,
            0.0
        );
    }

    #[test]
    fn marks_in_lines_are_read_in_characters() {
        let text = "αβ\nsecond\nthird";
        assert_eq!(line_starts(text), [0, 3, 10, 16]);
        let mark = Mark {
            path: "a.md".into(),
            start: None,
            end: None,
            start_line: Some(2),
            end_line: Some(9),
        };
        let place = in_characters(&mark, &|_| Some(line_starts(text)));
        assert_eq!((place.start, place.end), (3, 16));
        let beyond = Mark {
            start_line: Some(7),
            ..mark
        };
        assert_eq!(in_characters(&beyond, &|_| Some(line_starts(text))).end, 0);
    }

    proptest! {
        #[test]
        fn scores_are_shares_and_grow_with_k(
            spans in prop::collection::vec((0u64..80, 1u64..40), 0..8), start in 0u64..60, length in 1u64..40,
        ) {
            let found: Vec<Passage> = spans.iter().map(|(at, n)| passage("a.md", *at, at + n)).collect();
            let mut before = PassageScores::default();
            for k in 1..=found.len().max(1) {
                let now = scores(&marked(start, start + length), found.clone(), k);
                for value in [now.hit, now.recall, now.precision, now.iou] {
                    prop_assert!((0.0..=1.0).contains(&value));
                }
                prop_assert!(now.recall >= before.recall && now.hit >= before.hit);
                prop_assert!(now.iou <= now.recall && now.iou <= now.precision);
                before = now;
            }
        }
    }
}
