//! How closely two terms are related in the cited text.
//!
//! Terms are related when one statement has both: the same clause; a table cell and the names of
//! its row and column; a list item and its label. They are less closely related when they share a
//! sentence, a list and its lead-in, a text and its heading, or a sentence and the one before it
//! that its pronoun refers to.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Source;
use crate::reading::Reading;
use crate::terms::Term;
use local_agent_text::markdown::BlockRole;

/// Two terms in the same clause.
const CLAUSE: f64 = 1.0;
/// Two terms in the same part of a sentence.
const PART: f64 = 0.65;
/// Two terms in the same sentence.
const SENTENCE: f64 = 0.5;
/// The words that introduce a list, and an item of the list.
const LEAD_IN: f64 = 0.45;
/// The label of a paragraph, and an item of the list below it.
const BELOW: f64 = 0.8;
/// A sentence and its heading.
const HEADING: f64 = 0.35;
/// A sentence and the one before it.
const BEFORE: f64 = 0.4;

/// Maximum number of sentences of one source in which a term is looked up, and of sentences that
/// one lead-in or heading reaches; both bound the work on hostile text.
const MOST_SENTENCES: usize = 24;

/// One occurrence of a term.
#[derive(Clone, Copy)]
struct WordPlace {
    /// Which source, and which of its sentences.
    sentence: (usize, usize),
    /// Which clause; `None`: it applies to the whole sentence.
    clause: Option<u32>,
    /// Which part of the sentence.
    part: u32,
    /// How closely it is tied to the sentence.
    weight: f64,
}

impl WordPlace {
    /// Whether it names a whole row, column or item.
    fn is_label(&self) -> bool {
        self.clause.is_none() && self.weight >= CLAUSE
    }
}

/// Looks up terms in the cited text, each once.
pub(super) struct Affinities<'a> {
    sources: &'a [Source<'a>],
    places: HashMap<u32, Vec<WordPlace>, RandomState>,
}

impl<'a> Affinities<'a> {
    /// An empty lookup.
    pub(super) fn new(sources: &'a [Source<'a>]) -> Self {
        Self {
            sources,
            places: HashMap::default(),
        }
    }

    /// Looks up the places of a term.
    pub(super) fn look_up(&mut self, id: u32) {
        if self.places.contains_key(&id) {
            return;
        }
        let mut out = Vec::new();
        for (n, source) in self.sources.iter().enumerate() {
            let reading = source.reading;
            for s in reading.sentences_with(id).iter().take(MOST_SENTENCES) {
                places(reading, n, *s as usize, id, &mut out);
            }
        }
        self.places.insert(id, out);
    }

    /// Whether the term names a row, a column or an item somewhere.
    pub(super) fn is_label(&self, id: u32) -> bool {
        let places = self.places.get(&id);
        places.is_some_and(|places| places.iter().any(WordPlace::is_label))
    }

    /// Whether the term is anywhere in the cited text.
    pub(super) fn has(&self, id: u32) -> bool {
        self.places.get(&id).is_some_and(|p| !p.is_empty())
    }

    /// How closely two terms are related: 0 to 1. Both must have been looked up.
    pub(super) fn of(&self, a: u32, b: u32) -> f64 {
        let (Some(a), Some(b)) = (self.places.get(&a), self.places.get(&b)) else {
            return 0.0;
        };
        let mut best = 0.0_f64;
        for x in a {
            for y in b.iter().filter(|y| y.sentence == x.sentence) {
                best = best.max(together(x, y));
            }
        }
        best
    }
}

fn together(a: &WordPlace, b: &WordPlace) -> f64 {
    let near = match (a.clause, b.clause) {
        (Some(x), Some(y)) if x == y => CLAUSE,
        (Some(_), Some(_)) if a.part == b.part => PART,
        (Some(_), Some(_)) => SENTENCE,
        // Two row or column names say nothing about each other.
        (None, None) => SENTENCE,
        _ => CLAUSE,
    };
    near * a.weight.min(b.weight)
}

/// The places that sentence `s` of source `n` contributes for a term.
fn places(reading: &Reading, n: usize, s: usize, id: u32, out: &mut Vec<WordPlace>) {
    let Some(sentence) = reading.sentence(s) else {
        return;
    };
    let label_ends = label_end(reading, s);
    for term in reading.terms_of(s).iter().filter(|t| t.id == id) {
        let at = term.tokens.start;
        let part = reading.parts().get(at).copied().unwrap_or(0);
        let clause = match sentence.role {
            BlockRole::TableRow => column(reading, s, term).filter(|c| *c > 1),
            _ if label_ends.is_some_and(|end| at < end) => None,
            _ => reading.text.tokens.get(at).map(|t| t.clause),
        };
        let whole_row = sentence.role == BlockRole::TableRow;
        out.push(WordPlace {
            sentence: (n, s),
            clause,
            part: if whole_row { 0 } else { part },
            weight: 1.0,
        });
        reach(reading, n, s, term, out);
    }
}

/// Adds the other places to which a term applies: the cells below a header, the items after a
/// lead-in, the text below a heading, the sentence that continues with a pronoun.
fn reach(reading: &Reading, n: usize, s: usize, term: &Term, out: &mut Vec<WordPlace>) {
    let Some(sentence) = reading.sentence(s) else {
        return;
    };
    let text = reading.normal.get(sentence.bytes.clone()).unwrap_or("");
    let own = sentence.role;
    match own {
        BlockRole::TableHeader => {
            let rows = run_after(s, |n| is_in(reading, n, BlockRole::TableRow));
            add_places(out, n, rows, column(reading, s, term), 1.0);
        }
        BlockRole::Heading => {
            let below = run_after(s, |n| is_below_heading(reading, n));
            add_places(out, n, below, None, HEADING);
        }
        _ if text.ends_with(':') => {
            let listed = run_after(s, |n| is_listed(reading, n, own));
            add_places(out, n, listed, None, LEAD_IN);
        }
        _ => {
            // "**Overfitting**: …" and a list below it: the items are about what the label names.
            if own == BlockRole::Paragraph && is_in_label(reading, s, term) {
                let items = run_after(s, |n| is_in(reading, n, BlockRole::ListItem));
                add_places(out, n, items, None, BELOW);
            }
            if is_in(reading, s + 1, own) && begins_with_pronoun(reading, s + 1) {
                add_places(out, n, [s + 1], None, BEFORE);
            }
        }
    }
}

/// Adds whole sentences of source `n`.
fn add_places(
    out: &mut Vec<WordPlace>,
    n: usize,
    sentences: impl IntoIterator<Item = usize>,
    clause: Option<u32>,
    weight: f64,
) {
    out.extend(sentences.into_iter().map(|s| WordPlace {
        sentence: (n, s),
        clause,
        part: 0,
        weight,
    }));
}

/// The sentences directly after `s` for which this holds, up to [`MOST_SENTENCES`].
fn run_after(s: usize, holds: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
    let run = (s + 1..).take_while(move |n| holds(*n));
    run.take(MOST_SENTENCES)
}

fn is_in(reading: &Reading, s: usize, role: BlockRole) -> bool {
    reading.sentence(s).is_some_and(|s| s.role == role)
}

fn is_below_heading(reading: &Reading, s: usize) -> bool {
    let sentence = reading.sentence(s);
    sentence.is_some_and(|s| s.role != BlockRole::Heading)
}

/// Whether a sentence is what one in a block of the kind `lead` introduces.
fn is_listed(reading: &Reading, s: usize, lead: BlockRole) -> bool {
    let role = reading.sentence(s).map(|s| s.role);
    matches!(role, Some(BlockRole::Code | BlockRole::TableRow))
        || role == Some(BlockRole::ListItem) && lead != BlockRole::ListItem
}

fn is_in_label(reading: &Reading, s: usize, term: &Term) -> bool {
    label_end(reading, s).is_some_and(|end| term.tokens.start < end)
}

fn begins_with_pronoun(reading: &Reading, s: usize) -> bool {
    let first = reading.tokens_of(s).first();
    first.is_some_and(|t| {
        matches!(
            &*reading.lower_word(t),
            "it" | "they" | "this" | "these" | "he" | "she" | "its" | "their" | "es" | "sie" | "er"
        )
    })
}

/// The cell of its row that a term is in, counted from 1.
fn column(reading: &Reading, s: usize, term: &Term) -> Option<u32> {
    let sentence = reading.sentence(s)?;
    let token = reading.text.tokens.get(term.tokens.start)?;
    let before = reading.normal.get(sentence.bytes.start..token.start)?;
    u32::try_from(before.matches('|').count()).ok()
}

/// Maximum number of words of a label.
const LABEL: usize = 6;

/// Where the label of a sentence ends, in tokens: "Label: text", "Label – text".
pub(super) fn label_end(reading: &Reading, s: usize) -> Option<usize> {
    let sentence = reading.sentence(s)?;
    let tokens = sentence.tokens.clone();
    let inside = tokens.start + 1..tokens.end.min(tokens.start + LABEL + 1);
    inside.into_iter().find(|at| is_behind_label(reading, *at))
}

/// Whether a colon or a dash is before token `at`.
fn is_behind_label(reading: &Reading, at: usize) -> bool {
    let tokens = &reading.text.tokens;
    let (Some(before), Some(token)) = (tokens.get(at - 1), tokens.get(at)) else {
        return false;
    };
    let gap = reading.normal.get(before.end..token.start).unwrap_or("");
    gap.contains(": ") || gap.contains(" – ") || gap.contains(" — ") || gap.contains(" - ")
}
