//! The evidence in the form that verification uses. Each item is normalised and cut into sentences
//! once, on first use.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use local_agent_text::evidence::{EvidenceItem, EvidenceSnapshot, Normal};
use local_agent_text::markdown::{BlockRole, Sentence, sentences};
use local_agent_text::types::Label;

use super::TableHeads;
use super::finding::Place;
use super::reading::Reading;
use super::text::{Cut, Lexicon};

/// All items of a snapshot.
pub(crate) struct SourceTexts<'a> {
    texts: Vec<SourceText<'a>>,
    lexicon: RefCell<Lexicon>,
    arounds: RefCell<BTreeMap<Vec<Label>, Rc<Reading>>>,
}

/// One item.
pub(crate) struct SourceText<'a> {
    /// The item itself.
    pub item: &'a EvidenceItem,
    /// The item with the header of its table before its text, if it begins inside a table.
    with_head: Option<EvidenceItem>,
    normal: OnceCell<Normal>,
    cuts: OnceCell<Vec<Cut>>,
    reading: OnceCell<Reading>,
    starts: OnceCell<Starts>,
    words: OnceCell<HashSet<String>>,
    tokens: OnceCell<Vec<Range<usize>>>,
    vocabulary: OnceCell<HashSet<String>>,
}

/// Where sentences begin and end in the normalised text.
struct Starts {
    /// Sentence starts with the first bytes of what follows, sorted.
    by_opening: Vec<([u8; OPENING], usize)>,
    ends: Vec<usize>,
}

const OPENING: usize = 8;

impl<'a> SourceTexts<'a> {
    /// Wraps a snapshot; each text is prepared on first use.
    #[cfg(test)]
    pub(crate) fn new(snapshot: &'a EvidenceSnapshot) -> Self {
        Self::with_heads(snapshot, &TableHeads::new())
    }

    /// The same, with the headers of tables inside which items begin.
    pub(crate) fn with_heads(snapshot: &'a EvidenceSnapshot, heads: &TableHeads) -> Self {
        let texts = snapshot.items().iter().map(|item| {
            let head = heads.get(&item.label);
            let with_head = head.map(|head| EvidenceItem {
                text: format!("{head}{}", item.text),
                ..item.clone()
            });
            SourceText::new(item, with_head)
        });
        Self {
            texts: texts.collect(),
            lexicon: RefCell::default(),
            arounds: RefCell::default(),
        }
    }

    /// The stems of all texts.
    pub(crate) fn lexicon(&self) -> &RefCell<Lexicon> {
        &self.lexicon
    }

    /// The text of an item, parsed for comparison.
    pub(crate) fn reading<'s>(&self, text: &'s SourceText<'a>) -> &'s Reading {
        text.reading.get_or_init(|| {
            Reading::of(
                text.normal().as_str(),
                text.cuts(),
                &mut self.lexicon.borrow_mut(),
            )
        })
    }

    /// The headings and paths of these items (`text` makes the text), parsed once.
    pub(crate) fn around(&self, labels: Vec<Label>, text: impl FnOnce() -> String) -> Rc<Reading> {
        let mut arounds = self.arounds.borrow_mut();
        let known = arounds.entry(labels).or_insert_with(|| {
            let normal = Normal::of(&text());
            Rc::new(Reading::claim(
                normal.as_str(),
                &mut self.lexicon.borrow_mut(),
            ))
        });
        Rc::clone(known)
    }

    /// The item with this label.
    pub(crate) fn get(&self, label: Label) -> Option<&SourceText<'a>> {
        self.texts
            .get(usize::try_from(label.number()).ok()?.checked_sub(1)?)
    }

    /// All items, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &SourceText<'a>> {
        self.texts.iter()
    }
}

impl<'a> SourceText<'a> {
    fn new(item: &'a EvidenceItem, with_head: Option<EvidenceItem>) -> Self {
        Self {
            item,
            with_head,
            normal: OnceCell::new(),
            cuts: OnceCell::new(),
            starts: OnceCell::new(),
            words: OnceCell::new(),
            tokens: OnceCell::new(),
            vocabulary: OnceCell::new(),
            reading: OnceCell::new(),
        }
    }

    /// The item as it is read: with the header of the table that it begins in.
    pub(crate) fn as_read(&self) -> &EvidenceItem {
        self.with_head.as_ref().unwrap_or(self.item)
    }

    /// The normalised text, as it is read.
    pub(crate) fn normal(&self) -> &Normal {
        self.normal.get_or_init(|| Normal::of(&self.as_read().text))
    }

    /// Where the header of a table that is no part of the item ends in the normalised text.
    pub(crate) fn head_end(&self) -> usize {
        match self.as_read().text.len() - self.item.text.len() {
            0 => 0,
            head => self.normal().position(head),
        }
    }

    /// The words and numbers of the normalised text, as [`tokens`] cuts them.
    pub(crate) fn tokens(&self) -> &[Range<usize>] {
        self.tokens.get_or_init(|| tokens(self.normal().as_str()))
    }

    /// The words of the normalised text as written.
    pub(crate) fn vocabulary(&self) -> &HashSet<String> {
        let hay = self.normal().as_str();
        self.vocabulary.get_or_init(|| {
            self.tokens()
                .iter()
                .filter_map(|r| hay.get(r.clone()))
                .map(str::to_owned)
                .collect()
        })
    }

    /// The longer words of the text in lower case.
    pub(crate) fn words(&self) -> &HashSet<String> {
        self.words
            .get_or_init(|| content_words(self.normal().as_str()).collect())
    }

    /// Where `claim` (normalised) appears as one or more whole sentences; its closing punctuation
    /// is ignored.
    pub(crate) fn find_sentences(&self, claim: &str) -> Option<Range<usize>> {
        let claim = claim.trim_end_matches(is_closing);
        if claim.is_empty() {
            return None;
        }
        let hay = self.normal().as_str();
        let starts = self.starts();
        // A claim shorter than the opening may have anything after it.
        let (least, most) = (padded(claim, 0), padded(claim, u8::MAX));
        let from = starts
            .by_opening
            .partition_point(|(opening, _)| *opening < least);
        let known = starts
            .by_opening
            .iter()
            .skip(from)
            .take_while(|(opening, _)| *opening <= most);
        let head = self.head_end();
        known
            .map(|(_, start)| *start)
            .filter(|start| *start >= head && starts.fits(hay, *start, claim))
            .min()
            .map(|start| start..start + claim.len())
    }

    /// The sentences of the normalised text.
    pub(crate) fn cuts(&self) -> &[Cut] {
        self.cuts
            .get_or_init(|| cuts(&self.as_read().text, self.normal()))
    }

    fn starts(&self) -> &Starts {
        self.starts
            .get_or_init(|| Starts::of(self.normal().as_str(), self.cuts()))
    }

    /// The place of a range of the normalised text. What stands in the header of its table has that of
    /// the whole item.
    pub(crate) fn place(&self, range: Range<usize>) -> Option<Place> {
        let raw = self.normal().raw(range)?;
        let head = self.as_read().text.len() - self.item.text.len();
        let Some(start) = raw.start.checked_sub(head) else {
            return Some(self.whole());
        };
        let (span, lines) = self.item.locate(start, raw.end - head)?;
        Some(Place {
            span,
            lines,
            ..self.whole()
        })
    }

    /// The place of the whole item.
    pub(crate) fn whole(&self) -> Place {
        let EvidenceItem {
            label,
            source,
            path,
            span,
            lines,
            ..
        } = self.item;
        Place {
            label: *label,
            source: source.clone(),
            path: path.clone(),
            span: *span,
            lines: *lines,
        }
    }
}

impl Starts {
    fn of(hay: &str, cuts: &[Cut]) -> Self {
        let starts = cuts.iter().map(|cut| cut.bytes.start);
        let mut by_opening: Vec<_> = starts
            .map(|start| (padded(hay.get(start..).unwrap_or(""), 0), start))
            .collect();
        by_opening.sort_unstable();
        Self {
            by_opening,
            ends: cuts.iter().map(|cut| cut.bytes.end).collect(),
        }
    }
    /// Whether `claim` is at `start`, and ends with a sentence.
    fn fits(&self, hay: &str, start: usize, claim: &str) -> bool {
        let end = start + claim.len();
        hay.get(start..end) == Some(claim) && self.ends_at(hay, end)
    }
    /// Whether a sentence ends at `end`, ignoring its closing punctuation.
    fn ends_at(&self, hay: &str, end: usize) -> bool {
        let next = self.ends.partition_point(|e| *e < end);
        let rest = self.ends.get(next).and_then(|e| hay.get(end..*e));
        rest.is_some_and(|rest| rest.chars().all(is_closing))
    }
}

/// Where the sentences of `raw` are in its normalised text; for code, where its lines are.
pub(crate) fn cuts(raw: &str, normal: &Normal) -> Vec<Cut> {
    let mut out = Vec::new();
    for sentence in sentences(raw) {
        let (start, end) = (sentence.span.start(), sentence.span.end());
        if sentence.role != BlockRole::Code {
            out.push(cut_at(normal, start..end, &sentence));
            continue;
        }
        let mut at = start;
        for line in raw.get(start..end).unwrap_or("").split_inclusive('\n') {
            out.push(cut_at(normal, at..at + line.len(), &sentence));
            at += line.len();
        }
    }
    out
}

/// A range of the raw text, in bytes of the normalised text.
fn cut_at(normal: &Normal, raw: Range<usize>, sentence: &Sentence) -> Cut {
    let end = normal.position(raw.end);
    let end = normal
        .as_str()
        .get(..end)
        .map_or(end, |t| t.trim_end().len());
    Cut {
        bytes: normal.position(raw.start).min(end)..end,
        role: sentence.role,
        block: sentence.block,
    }
}

/// Parses markdown for comparison.
pub(crate) fn read(raw: &str, lexicon: &mut Lexicon) -> Reading {
    let normal = Normal::of(raw);
    Reading::of(normal.as_str(), &cuts(raw, &normal), lexicon)
}

/// Punctuation, closing marks and blanks after the last word of a sentence.
fn is_closing(c: char) -> bool {
    matches!(
        c,
        '.' | '!' | ';' | ',' | ':' | '"' | '\'' | ')' | '。' | '！' | '；' | '|'
    ) || c.is_whitespace()
}

/// The first bytes of a text, padded with `filler`.
fn padded(text: &str, filler: u8) -> [u8; OPENING] {
    let mut out = [filler; OPENING];
    out.iter_mut().zip(text.bytes()).for_each(|(o, b)| *o = b);
    out
}

/// Words and numbers; each letter of a script without spaces is a separate word.
pub(crate) fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut joins = false;
    for (at, c) in text.char_indices() {
        let single = matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
        let part = c.is_alphanumeric() || (matches!(c, '\'' | '-' | '.' | '_' | '%') && joins);
        match out.last_mut() {
            Some(last) if joins && part && !single => last.end = at + c.len_utf8(),
            _ if c.is_alphanumeric() => out.push(at..at + c.len_utf8()),
            _ => {}
        }
        joins = part && !single;
    }
    for token in &mut out {
        let len = text
            .get(token.clone())
            .map_or(0, |t| t.trim_end_matches(['\'', '-', '.']).len());
        token.end = token.start + len;
    }
    out
}

/// Lower-case words of four letters or more, numbers, and letters of scripts without spaces.
pub(crate) fn content_words(text: &str) -> impl Iterator<Item = String> + '_ {
    tokens(text)
        .into_iter()
        .filter_map(|range| text.get(range))
        .filter_map(|word| {
            let first = word.chars().next()?;
            let counts = first.is_numeric() || !first.is_ascii() || word.chars().count() >= 4;
            counts.then(|| word.to_lowercase())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;

    #[test]
    fn only_whole_sentences_are_found_as_sentences() {
        let frozen = snapshot(&[
            "# Plan\n\nIt is false that the plan was approved. The budget is 5 million in total, **net**.\n\n- Item one\n- Two\n\n| a | b |\n|---|---|\n| x | 7 |\n",
        ]);
        let texts = SourceTexts::new(&frozen);
        let text = texts.iter().next().unwrap();
        let has = |claim: &str| text.find_sentences(Normal::of(claim).as_str()).is_some();
        for whole in [
            "The budget is 5 million in total, net.",
            "The budget is 5 million in total, net",
            "Item one",
            "Two.",
            "| x | 7 |",
            "It is false that the plan was approved. The budget is 5 million in total, net.",
        ] {
            assert!(has(whole), "{whole}");
        }
        for part in [
            "the plan was approved.",
            "The budget is 5 million",
            "The budget is 5",
            "T",
            "Tw",
            "",
            "Item",
            "false that",
        ] {
            assert!(!has(part), "{part}");
        }
    }

    #[test]
    fn words_are_cut_at_their_edges() {
        let text = "It's v2.8.3, co-funded (7%) 日本.";
        let words: Vec<&str> = tokens(text).into_iter().map(|r| &text[r]).collect();
        assert_eq!(words, ["It's", "v2.8.3", "co-funded", "7%", "日", "本"]);
    }
}
