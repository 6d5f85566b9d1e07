//! L4: numbers that count things without coming from the text: "two methods", "all four". They must
//! agree with the lists of the claim or of the cited text.

use super::derive::ClaimNumber;
use super::{Case, Extent};
use crate::atoms::{self as a, Atom, Number, What};
use crate::reading::Reading;
use crate::text::Token;

/// What is known about a number that may count things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// It counts the things that the claim or the cited text lists.
    Fits,
    /// It counts things that nothing lists.
    Unknown,
    /// It is no count, or the cited text counts otherwise.
    IsNone,
}

/// Highest number that people count at a glance.
const MOST_COUNTED: f64 = 12.0;

/// Whether a number that is not in the cited text counts things: "two methods", "all four". It must
/// agree with a list in the claim, a list that the claim introduces, or a list in the cited text.
pub(super) fn count(case: &Case<'_>, number: ClaimNumber<'_>) -> Count {
    let (n, atom) = (number.number, number.atom);
    let whole = n.value.fract() == 0.0 && (1.0..=MOST_COUNTED).contains(&n.value);
    // A count of table rows may leave out the header.
    let listed = has_value(n, case.listed) || has_value(n, case.listed.saturating_sub(1));
    if case.listed > 1 && listed && n.value.fract() == 0.0 {
        return Count::Fits;
    }
    let counted = case.claim.text.tokens.get(atom.tokens.end);
    let sources = counted.map(|t| case.claim.word(t));
    if matches!(
        sources,
        Some("notes" | "sources" | "documents" | "files" | "passages")
    ) {
        return fits(has_value(n, case.cited.len()));
    }
    let measured = n.unit.is_some() || n.per.is_some() || n.bound.is_some();
    if n.ordinal || measured || !whole || case.extent == Extent::Row {
        return Count::IsNone;
    }
    if !n.words {
        return fits(is_count_in_digits(case, atom, n));
    }
    if case.listed > 1 && case.extent == Extent::LeadIn || counts_otherwise(case, atom, n) {
        return Count::IsNone;
    }
    if is_of_a_whole(case, atom) {
        return Count::Fits;
    }
    match own_list(case.claim, atom.tokens.end) {
        Some(items) => fits(has_value(n, items)),
        None if !counts_a_noun(case, atom) => Count::Fits,
        None if case.has_many_atoms() => Count::Unknown,
        None if is_listed(case, atom, n) => Count::Fits,
        None => Count::Unknown,
    }
}

/// Whether digits count what the claim lists behind them, or, after words such as "there are", what the
/// cited text lists. Other digits are a fact of the text, not a count of its lines.
fn is_count_in_digits(case: &Case<'_>, atom: &Atom, n: &Number) -> bool {
    if case.has_many_atoms() || !counts_a_noun(case, atom) || counts_otherwise(case, atom, n) {
        return false;
    }
    match own_list(case.claim, atom.tokens.end) {
        Some(items) => has_value(n, items),
        None => is_introduced(case.claim, atom) && is_listed(case, atom, n),
    }
}

/// Whether words for a list, such as "there are", are directly before an amount.
fn is_introduced(claim: &Reading, atom: &Atom) -> bool {
    const INTRODUCING: &[&str] = list!("counts.introducing");
    let before = claim.normal.get(..atom.bytes.start).unwrap_or("");
    let before = before.trim_end().to_lowercase();
    let mut phrases = INTRODUCING.iter();
    phrases.any(|phrase| {
        let rest = before.strip_suffix(phrase);
        rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    })
}

fn fits(agrees: bool) -> Count {
    match agrees {
        true => Count::Fits,
        false => Count::IsNone,
    }
}

fn has_value(n: &Number, count: usize) -> bool {
    u32::try_from(count).is_ok_and(|c| a::same(f64::from(c), n.value))
}

/// How many things a claim lists after a colon that follows token `from`: "three kinds: a, b and
/// c". `None` when it lists nothing.
fn own_list(claim: &Reading, from: usize) -> Option<usize> {
    let start = claim.text.tokens.get(from.checked_sub(1)?)?.end;
    let rest = claim.normal.get(start..)?;
    let colon = rest.find(": ").or_else(|| rest.find(" – "))?;
    if rest.get(..colon)?.contains([',', ';', '.']) {
        return None;
    }
    let list = rest.get(colon + 2..)?;
    let list = list.split(['.', ';']).next()?;
    let (before, last) = list
        .rsplit_once(" and ")
        .or_else(|| list.rsplit_once(" or "))?;
    let items: Vec<&str> = before.split(", ").collect();
    let plain = items
        .iter()
        .all(|item| is_short(item.trim_end_matches(',')))
        && is_short(last);
    plain.then_some(items.len() + 1)
}

/// Whether an item has few enough words to be one of a list within a sentence.
fn is_short(item: &str) -> bool {
    (1..=4).contains(&item.split_whitespace().count())
}

/// Whether a noun follows: "these two" and "the two of them" count what was named before.
fn counts_a_noun(case: &Case<'_>, atom: &Atom) -> bool {
    let noun = case.claim.text.tokens.get(atom.tokens.end);
    noun.is_some_and(|t| t.is_content() && !t.number)
}

/// Whether the list that follows has as many items as the number says: "three of the seven".
fn is_of_a_whole(case: &Case<'_>, atom: &Atom) -> bool {
    let before = case
        .claim
        .text
        .tokens
        .get(..atom.tokens.start)
        .unwrap_or(&[]);
    let mut words = before.iter().rev().take(2).map(|t| case.claim.word(t));
    words.any(|w| w == "of")
}

/// Maximum number of words from a number to what it counts: "5 decimal digits".
const NOUN_WITHIN: usize = 2;

/// Whether the cited text gives another number for the same things: "five boats" where it says
/// "three boats".
fn counts_otherwise(case: &Case<'_>, atom: &Atom, n: &Number) -> bool {
    let Some(noun) = case.claim.text.tokens.get(atom.tokens.end) else {
        return false;
    };
    noun.is_content()
        && case
            .cited
            .iter()
            .any(|s| has_other_count(s.reading, noun, n))
}

/// Whether the text has another number directly before the noun.
fn has_other_count(reading: &Reading, noun: &Token, n: &Number) -> bool {
    reading.atoms.iter().any(|e| match &e.what {
        What::Number(m) => {
            let next = reading.text.tokens.get(e.tokens.end..).unwrap_or(&[]);
            // "| 12 | 211 | coin |": a cell of a table does not count the next one.
            let next = next.iter().take(NOUN_WITHIN);
            let mut next = next.take_while(|t| {
                let between = reading.normal.get(e.bytes.end..t.start);
                !between.unwrap_or("").contains('|')
            });
            let same = next.any(|t| t.id == noun.id);
            same && !m.ordinal && !a::same(m.value, n.value)
        }
        _ => false,
    })
}

/// Whether the claim or the cited text lists as many things as the number says: in a list, a table
/// or a sentence, or by naming the noun as often.
fn is_listed(case: &Case<'_>, atom: &Atom, n: &Number) -> bool {
    if enumerates(&case.claim.normal, n) {
        return true;
    }
    let noun = case.claim.text.tokens.get(atom.tokens.end);
    case.cited.iter().any(|source| {
        let text = source.item.text.as_str();
        let named = noun.map_or(0, |noun| {
            let tokens = source.reading.text.tokens.iter();
            tokens.filter(|t| t.id == noun.id).count()
        });
        has_value(n, named)
            || list_lengths(text).any(|length| has_value(n, length))
            || text.lines().any(|line| enumerates(line, n))
    })
}

/// Whether a sentence of the text names as many things in a row: "a, b and c", "a and b".
fn enumerates(text: &str, n: &Number) -> bool {
    let mut sentences = text.split(['.', ';', '。', '；', '!', '?']);
    sentences.any(|sentence| has_value(n, joints(sentence) + 1))
}

/// The number of commas and words like "and" in a sentence; a comma before an "and" counts once.
fn joints(sentence: &str) -> usize {
    const AND: &[&str] = list!("counts.and");
    let mut count = 0;
    let mut after_comma = false;
    for word in sentence.split_whitespace() {
        let lower = word.to_lowercase();
        if AND.contains(&&*lower) && !after_comma {
            count += 1;
        }
        let commas = word.matches([',', '、', '，', '،', '/', '&']).count();
        count += commas;
        after_comma = word.ends_with([',', '،']);
    }
    count
}

/// The lengths of the lists and tables of a text: of each run of items of one depth.
fn list_lengths(text: &str) -> impl Iterator<Item = usize> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut closed: Vec<usize> = Vec::new();
    // A table may be counted without its header.
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let rows = rows.filter(|line| line.contains(char::is_alphanumeric));
    closed.extend(rows.count().checked_sub(1));
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        match kind_of_line(line.trim_start()) {
            LineKind::Item => {
                while open.last().is_some_and(|(other, _)| *other > depth) {
                    closed.extend(open.pop().map(|(_, length)| length));
                }
                match open.last_mut().filter(|(other, _)| *other == depth) {
                    Some((_, length)) => *length += 1,
                    None => open.push((depth, 1)),
                }
            }
            LineKind::Blank => {}
            LineKind::Other if depth > 0 => {}
            LineKind::Other => closed.extend(open.drain(..).map(|(_, length)| length)),
        }
    }
    closed.extend(open.into_iter().map(|(_, length)| length));
    let sections = text.lines().filter(|line| line.starts_with("##")).count();
    closed.into_iter().chain([sections])
}

enum LineKind {
    Item,
    Blank,
    Other,
}

fn kind_of_line(line: &str) -> LineKind {
    if line.is_empty() {
        return LineKind::Blank;
    }
    let is_table_row = line.starts_with('|') && line.contains(char::is_alphanumeric);
    match is_table_row || is_bullet(line) || item_number(line).is_some() {
        true => LineKind::Item,
        false => LineKind::Other,
    }
}

/// Whether a line is an item of a list without numbers.
pub(super) fn is_bullet(line: &str) -> bool {
    ["- ", "* ", "+ ", "• "]
        .iter()
        .any(|mark| line.starts_with(mark))
}

/// The number of an item of an ordered list: "2. Drain the tank".
pub(super) fn item_number(line: &str) -> Option<u32> {
    let line = line.trim_start();
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    let rest = line.get(end..)?;
    let marks = rest.starts_with(". ") || rest.starts_with(") ");
    marks.then(|| line.get(..end)?.parse().ok()).flatten()
}
