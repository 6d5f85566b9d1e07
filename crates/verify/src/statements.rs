//! Splits a text into statements, and adds the words that a reader would supply.
//!
//! A sentence is cut where a new statement begins. A part that cannot be understood alone is
//! completed: a short one by the rest of its sentence or by the sentence before it; "The other does
//! not." by the verb of the sentence before it; a table cell by the names of its row and column; a
//! list item by its label.

use std::ops::Range;

use super::reading::Reading;
use super::text::{Token, has_stem};
use local_agent_text::markdown::BlockRole;

/// Number of content words that make a part understandable alone.
const ENOUGH: usize = 3;

/// Maximum number of words that one statement takes over; bounds the work on hostile text.
const MOST_TAKEN: usize = 40;

/// One statement.
pub(crate) struct Statement {
    /// Its sentence.
    pub sentence: usize,
    /// Its own tokens, as indices.
    pub own: Range<usize>,
    /// All its tokens: its own and those that complete it, negated as they are here.
    pub tokens: Vec<Token>,
}

/// The statements of a text, in order.
pub(crate) fn statements(reading: &Reading) -> Vec<Statement> {
    let mut out = Vec::new();
    let mut header: Option<usize> = None;
    for (s, sentence) in reading.text.sentences.iter().enumerate() {
        match sentence.role {
            BlockRole::TableHeader => header = Some(s),
            BlockRole::TableRow => row(reading, s, header, &mut out),
            _ => {
                header = None;
                parts(reading, s, &mut out);
            }
        }
    }
    out
}

/// The parts of a sentence, completed.
fn parts(reading: &Reading, s: usize, out: &mut Vec<Statement>) {
    let Some(sentence) = reading.sentence(s) else {
        return;
    };
    let all = sentence.tokens.clone();
    let parts = reading.parts();
    let mut from = all.start;
    while from < all.end {
        let to = (from + 1..all.end)
            .find(|i| parts.get(*i) != parts.get(from))
            .unwrap_or(all.end);
        let own = from..to;
        let mut tokens: Vec<Token> = slice(reading, own.clone()).to_vec();
        if is_elliptic(reading, slice(reading, own.clone())) {
            let rest = match content(&tokens) {
                0 => behind(reading, &all, to),
                _ => without_subject(&tokens, before(reading, s, &own)),
            };
            tokens.extend(rest.iter().map(|t| t.with_negation(!t.negated)));
        } else if content(&tokens) < ENOUGH {
            let ahead = slice(reading, all.start..own.start).iter();
            let rest = ahead.chain(slice(reading, own.end..all.end));
            tokens.extend(rest.take(MOST_TAKEN).copied());
            if content(&tokens) < ENOUGH {
                tokens.extend(before(reading, s, &all).iter().copied());
            }
        }
        out.push(Statement {
            sentence: s,
            own,
            tokens,
        });
        from = to;
    }
}

fn slice(reading: &Reading, range: Range<usize>) -> &[Token] {
    reading.text.tokens.get(range).unwrap_or(&[])
}

fn content(tokens: &[Token]) -> usize {
    tokens.iter().filter(|t| t.is_content()).count()
}

/// Whether a part ends with a negation that governs nothing: "The other does not".
fn is_elliptic(reading: &Reading, own: &[Token]) -> bool {
    let is_tail = own.last().is_some_and(|t| {
        own.len() > 1 && matches!(&*reading.lower_word(t), "yet" | "either" | "anymore")
    });
    let cue = own.len().checked_sub(if is_tail { 2 } else { 1 });
    let Some(at) = cue.filter(|at| ends_with_not(reading, own.get(*at))) else {
        return false;
    };
    let verb = at.checked_sub(1).and_then(|before| own.get(before));
    let is_auxiliary = verb.is_some_and(|t| AUXILIARY.contains(&&*reading.lower_word(t)));
    let is_contracted = own.get(at).is_some_and(|t| t.end - t.start > NOT.len());
    let is_placed = own
        .first()
        .is_some_and(|t| PLACING.contains(&&*reading.lower_word(t)));
    is_auxiliary || is_contracted || !is_placed && content(own) < ENOUGH
}

const NOT: &str = "not";
const AUXILIARY: &[&str] = list!("elliptic.auxiliary");

/// "May go out on exercise, on service not": such a part denies only what it says itself.
const PLACING: &[&str] = list!("statements.placing");

fn ends_with_not(reading: &Reading, token: Option<&Token>) -> bool {
    token.is_some_and(|token| {
        let word = reading.lower_word(token);
        token.negates() && (word == NOT || word.ends_with("'t") || word == "nicht")
    })
}

/// The words after a part that ends at `from`: "It was not, it was written by her." A contrast is
/// not part of the denial.
fn behind<'r>(reading: &'r Reading, sentence: &Range<usize>, from: usize) -> &'r [Token] {
    let rest = slice(reading, from..sentence.end.min(from + MOST_TAKEN));
    let contrast = rest
        .first()
        .is_some_and(|t| matches!(&*reading.lower_word(t), "but" | "sondern" | "aber" | "mais"));
    if contrast { &[] } else { rest }
}

/// The words before `own`: the part before it, or the previous sentence in the same block.
fn before<'r>(reading: &'r Reading, s: usize, own: &Range<usize>) -> &'r [Token] {
    let Some(sentence) = reading.sentence(s) else {
        return &[];
    };
    if own.start > sentence.tokens.start {
        let from = own
            .start
            .saturating_sub(MOST_TAKEN)
            .max(sentence.tokens.start);
        return slice(reading, from..own.start);
    }
    let earlier = s.checked_sub(1).and_then(|s| reading.sentence(s));
    let earlier = earlier.filter(|earlier| earlier.block == sentence.block);
    earlier.map_or(&[], |earlier| {
        let from = earlier.tokens.end.saturating_sub(MOST_TAKEN);
        slice(reading, from.max(earlier.tokens.start)..earlier.tokens.end)
    })
}

/// The earlier statement without its subject, if both subjects share a word: "The Team plan has it.
/// The Basic plan does not."
fn without_subject<'r>(own: &[Token], before: &'r [Token]) -> &'r [Token] {
    let mut subject = before.iter().take(SUBJECT);
    let last = subject.position(|t| t.is_content() && has_stem(own, t.id));
    last.map_or(before, |at| before.get(at + 1..).unwrap_or(&[]))
}

/// Maximum number of words of a subject.
const SUBJECT: usize = 6;

/// The cells of a row, each with the names of its row and column. "No" denies the column.
fn row(reading: &Reading, s: usize, header: Option<usize>, out: &mut Vec<Statement>) {
    let cells = cells(reading, s);
    let columns = header.map(|h| self::cells(reading, h)).unwrap_or_default();
    let name = cells.first().cloned().unwrap_or(0..0);
    for (n, cell) in cells.iter().enumerate().skip(1) {
        let own = slice(reading, cell.clone());
        let denies = cell_denies(reading, s, n, own);
        let mut tokens: Vec<Token> = slice(reading, name.clone()).to_vec();
        let column = columns.get(n).cloned().unwrap_or(0..0);
        let named = slice(reading, column).iter();
        tokens.extend(named.map(|t| match denies {
            true => t.with_negation(!t.negated),
            false => *t,
        }));
        tokens.extend(own);
        out.push(Statement {
            sentence: s,
            own: cell.clone(),
            tokens,
        });
    }
}

/// A cell that says yes or no.
pub(crate) struct CellVerdict<'r> {
    /// Its row.
    pub sentence: usize,
    /// The name of its row.
    pub row: &'r [Token],
    /// The name of its column.
    pub column: &'r [Token],
    /// Whether it says yes.
    pub holds: bool,
}

/// The cells of all tables that say yes or no and nothing else, in order.
pub(crate) fn verdicts(reading: &Reading) -> Vec<CellVerdict<'_>> {
    let mut out = Vec::new();
    let mut header: Option<usize> = None;
    for (s, sentence) in reading.text.sentences.iter().enumerate() {
        match sentence.role {
            BlockRole::TableHeader => header = Some(s),
            BlockRole::TableRow => {
                let cells = cells(reading, s);
                let columns = header.map(|h| self::cells(reading, h)).unwrap_or_default();
                let row = slice(reading, cells.first().cloned().unwrap_or(0..0));
                for (n, (cell, column)) in cells.iter().zip(columns).enumerate().skip(1) {
                    let own = slice(reading, cell.clone());
                    let holds = match own {
                        [one] => reading.lower_word(one) == "yes",
                        _ => false,
                    };
                    if holds || own.len() < 2 && cell_denies(reading, s, n, own) {
                        out.push(CellVerdict {
                            sentence: s,
                            row,
                            column: slice(reading, column),
                            holds,
                        });
                    }
                }
            }
            _ => header = None,
        }
    }
    out
}

/// Whether a cell says no.
fn cell_denies(reading: &Reading, s: usize, n: usize, own: &[Token]) -> bool {
    match own {
        [] => {
            let sentence = reading.sentence(s).map(|s| s.bytes.clone());
            let text = sentence.and_then(|b| reading.normal.get(b)).unwrap_or("");
            let cell = text.trim_start_matches('|').split('|').nth(n).unwrap_or("");
            matches!(cell.trim(), "✗" | "✘" | "❌" | "x" | "-" | "–" | "—")
        }
        [one] => matches!(&*reading.lower_word(one), "no" | "none" | "nein" | "x"),
        [one, two] => {
            one.negates() && matches!(&*reading.lower_word(two), "available" | "supported")
        }
        _ => false,
    }
}

/// The tokens of each cell of a row.
fn cells(reading: &Reading, s: usize) -> Vec<Range<usize>> {
    let Some(sentence) = reading.sentence(s) else {
        return Vec::new();
    };
    let text = reading.normal.get(sentence.bytes.clone()).unwrap_or("");
    let lead = usize::from(text.starts_with('|'));
    let mut at = sentence.tokens.start;
    let mut end = sentence.bytes.start + lead;
    let mut out = Vec::new();
    for cell in text
        .get(lead..)
        .unwrap_or("")
        .trim_end_matches('|')
        .split('|')
    {
        end += cell.len();
        let to = (at..sentence.tokens.end)
            .find(|i| reading.text.tokens.get(*i).is_none_or(|t| t.start >= end))
            .unwrap_or(sentence.tokens.end);
        out.push(at..to);
        at = to;
        end += 1;
    }
    out
}
