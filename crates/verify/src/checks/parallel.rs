//! L4: a claim must not mix two parts of the text that have one pattern and contrast two things.
//!
//! "The red cable carries 5 volts, the blue cable carries 12 volts": both parts have the words
//! "the … cable carries", and each has its own word and its own value in the same places. A claim
//! that puts the value of one part to the word of the other mixes them, whether or not these words
//! are names.

use std::ops::Range;

use super::align::common_in_order;
use super::referent::{Thing, is_row, segment, things};
use super::{Case, Effect};
use crate::Code;
use crate::reading::Reading;
use crate::text::{Token, has_stem};

/// Maximum number of values of a claim, of places of such a value and of parts of one item that are
/// compared; all bound the work on hostile text.
const MOST_VALUES: usize = 8;
const MOST_PLACES: usize = 6;
const MOST_RIVALS: usize = 12;

/// Maximum number of words of a part, and of its own words in one place.
const LONGEST: usize = 40;
const LONGEST_GAP: usize = 4;

/// A part of a text with one thing in it.
struct Part<'a> {
    reading: &'a Reading,
    /// The tokens of the thing.
    own: Range<usize>,
    /// All its tokens.
    all: Range<usize>,
}

impl<'a> Part<'a> {
    fn of(reading: &'a Reading, own: &Range<usize>) -> Self {
        let all = segment(reading, own);
        let own = own.start.max(all.start)..own.end.min(all.end).max(own.start.max(all.start));
        Self { reading, own, all }
    }

    fn tokens(&self) -> &'a [Token] {
        slice(self.reading, self.all.clone())
    }

    /// The tokens before the thing, and those behind it.
    fn sides(&self) -> [&'a [Token]; 2] {
        [
            slice(self.reading, self.all.start..self.own.start),
            slice(self.reading, self.own.end..self.all.end),
        ]
    }
}

fn slice(reading: &Reading, range: Range<usize>) -> &[Token] {
    reading.text.tokens.get(range).unwrap_or(&[])
}

/// The words that two parts have in the same place, and do not share.
struct Gap<'a> {
    here: Vec<&'a Token>,
    there: Vec<&'a Token>,
}

/// The objection to a value that the text has with another thing in a part of the same pattern.
pub(super) fn check(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    let values = things(case.claim).iter();
    let mut values = values.filter(|(_, kind)| !matches!(kind, Thing::Name(_)));
    values
        .by_ref()
        .take(MOST_VALUES)
        .find_map(|(own, kind)| moved(case, own, kind))
}

/// The objection to the value at `own`.
fn moved(case: &Case<'_>, own: &Range<usize>, kind: &Thing) -> Option<(Effect, Code, String)> {
    let claim = Part::of(case.claim, own);
    let said = slice(case.claim, clause_of(case.claim, own));
    let places = case.cited.iter().flat_map(|source| {
        let here = things(source.reading)
            .iter()
            .filter(|(_, other)| kind.same(other));
        here.map(|(range, _)| Part::of(source.reading, range))
    });
    let places: Vec<Part<'_>> = places.take(MOST_PLACES + 1).collect();
    if places.is_empty() || places.len() > MOST_PLACES {
        return None;
    }
    for here in places.iter().filter(|p| is_prose(p)) {
        let Some((label, rival)) = rival_of(&claim, kind, here, said) else {
            continue;
        };
        if places.iter().any(|p| sentence_has(p, label)) {
            return None;
        }
        let shown = case.claim.shown(own.clone());
        let theirs = here.reading.shown(rival);
        let word = case.claim.word(label);
        let why = format!(
            "In the cited text “{shown}” belongs to something else; “{word}” has “{theirs}” there."
        );
        let unsure = said.iter().any(|t| stands_for_another(case.claim, t));
        let effect = match unsure || runs_on(here, kind) {
            true => Effect::Doubts,
            false => Effect::Rejects,
        };
        return Some((effect, Code::Referent, why));
    }
    None
}

/// Whether the sentence of a place has so many values of a kind that it is rather several lines
/// without full stops, whose parts cannot be told apart.
fn runs_on(place: &Part<'_>, kind: &Thing) -> bool {
    const MOST: usize = 3;
    let sentence = place.reading.sentence_of(place.own.start);
    let Some(own) = place.reading.sentence(sentence).map(|s| &s.tokens) else {
        return false;
    };
    let all = things(place.reading);
    let from = all.partition_point(|(range, _)| range.start < own.start);
    let inside = all.get(from..).unwrap_or(&[]).iter();
    let inside = inside.take_while(|(range, _)| range.start < own.end);
    let same = inside.filter(|(_, other)| kind.same(other) || kind.is_rival(other));
    same.take(MOST + 1).count() > MOST
}

/// Whether a word is a pronoun, which may mean the right thing: "Without the trial it costs 20".
fn stands_for_another(claim: &Reading, token: &Token) -> bool {
    const ANAPHORS: [&str; 16] = *list!("names.anaphors");
    const ARTICLES: [&str; 3] = ["the", "this", "these"];
    let word = claim.lower_word(token);
    ANAPHORS.contains(&&*word) && !ARTICLES.contains(&&*word)
}

/// The clause of a thing in the claim.
fn clause_of(claim: &Reading, own: &Range<usize>) -> Range<usize> {
    let tokens = &claim.text.tokens;
    let clause = tokens.get(own.start).map(|t| t.clause);
    let mut from = own.start;
    while from > 0 && tokens.get(from - 1).map(|t| t.clause) == clause {
        from -= 1;
    }
    let behind = tokens.get(own.end..).unwrap_or(&[]).iter();
    let to = own.end + behind.take_while(|t| Some(t.clause) == clause).count();
    from..to
}

/// Rows of tables are compared cell by cell elsewhere.
fn is_prose(part: &Part<'_>) -> bool {
    let sentence = part.reading.sentence_of(part.own.start);
    part.all.len() <= LONGEST && !is_row(part.reading, sentence)
}

/// Whether the sentence of a place has the word too.
fn sentence_has(part: &Part<'_>, label: &Token) -> bool {
    let sentence = part.reading.sentence_of(part.own.start);
    let all = part.reading.tokens_of(sentence);
    let tokens = if all.len() > part.all.len() {
        part.tokens()
    } else {
        all
    };
    has_stem(tokens, label.id)
}

/// The word of the claim that the part of `here` does not have, and the value that the text has with
/// that word instead, in a part of the same pattern.
fn rival_of<'c>(
    claim: &Part<'c>,
    kind: &Thing,
    here: &Part<'_>,
    said: &'c [Token],
) -> Option<(&'c Token, Range<usize>)> {
    let all = things(here.reading);
    let at = all.partition_point(|(range, _)| range.start < here.own.start);
    let near = all
        .get(at.saturating_sub(MOST_RIVALS / 2)..)
        .unwrap_or(&[])
        .iter();
    for (range, other) in near.take(MOST_RIVALS) {
        if kind.same(other) || !kind.is_rival(other) || says(claim.reading, said, other) {
            continue;
        }
        let there = Part::of(here.reading, range);
        if !is_prose(&there) || there.all == here.all {
            continue;
        }
        if let Some(label) = gaps(here, &there).and_then(|gaps| label_of(said, &gaps)) {
            return Some((label, range.clone()));
        }
    }
    None
}

/// Whether the clause of the claim has this value too: "12 volts instead of 5 volts".
fn says(claim: &Reading, said: &[Token], other: &Thing) -> bool {
    let (Some(first), Some(last)) = (said.first(), said.last()) else {
        return false;
    };
    things(claim).iter().any(|(range, own)| {
        let start = claim.text.tokens.get(range.start).map_or(0, |t| t.start);
        own.same(other) && (first.start..last.end).contains(&start)
    })
}

/// The own words of two parts, when both have one pattern: they share words on the same sides of
/// their values, and differ in few others.
fn gaps<'a>(here: &Part<'a>, there: &Part<'a>) -> Option<Vec<Gap<'a>>> {
    let mut out = Vec::new();
    let mut shared = 0;
    for (ours, theirs) in here.sides().into_iter().zip(there.sides()) {
        let common = common_in_order(ours, theirs, |x, y| x.id == y.id);
        shared += common.len();
        let mut from = (0, 0);
        let ends = common.iter().copied().chain([(ours.len(), theirs.len())]);
        for (i, j) in ends {
            let gap = (ours.get(from.0..i)?, theirs.get(from.1..j)?);
            out.extend(Gap::of(here, gap.0, there, gap.1)?);
            from = (i + 1, j + 1);
        }
    }
    (shared > 0 && !out.is_empty()).then_some(out)
}

impl<'a> Gap<'a> {
    /// The gap of two runs of words; `Some(None)` if they have no own words, `None` if they are too
    /// long, or if only one of them has such words.
    fn of(
        here: &Part<'a>,
        ours: &'a [Token],
        there: &Part<'a>,
        theirs: &'a [Token],
    ) -> Option<Option<Self>> {
        if ours.len().max(theirs.len()) > LONGEST_GAP {
            return None;
        }
        let gap = Self {
            here: telling(here.reading, ours, there.tokens()),
            there: telling(there.reading, theirs, here.tokens()),
        };
        match (gap.here.is_empty(), gap.there.is_empty()) {
            (true, true) => Some(None),
            (false, false) => Some(Some(gap)),
            // "The valve 7 euros": the verb of the first part is understood.
            (false, true) => Some(None),
            (true, false) => None,
        }
    }
}

/// The words that tell a part from the other one: with content, a number, or a letter as a name.
fn telling<'a>(reading: &Reading, run: &'a [Token], other: &[Token]) -> Vec<&'a Token> {
    let tokens = run.iter();
    tokens
        .filter(|t| t.is_content_or_number() || is_letter(reading, t))
        .filter(|t| !is_particle(reading.word(t)))
        .filter(|t| !has_stem(other, t.id))
        .collect()
}

/// A Japanese sign of grammar; most are written in Hiragana.
fn is_particle(word: &str) -> bool {
    word.chars().all(|c| matches!(c, '\u{3041}'..='\u{309f}'))
}

/// "A", "B": a letter as a name.
fn is_letter(reading: &Reading, token: &Token) -> bool {
    let word = reading.word(token);
    token.capital && word.chars().count() == 1 && word != "I"
}

/// The word of the claim that belongs to the other part, if the claim has it instead of the first
/// word that this part has in its place, and has no other such word of this part.
fn label_of<'c>(said: &'c [Token], gaps: &[Gap<'_>]) -> Option<&'c Token> {
    let leads = |gap: &Gap<'_>| {
        gap.here
            .first()
            .is_some_and(|w| has_letter_or_stem(said, w))
    };
    if gaps.iter().any(leads) {
        return None;
    }
    let mut theirs = gaps.iter().flat_map(|gap| &gap.there);
    theirs.find_map(|word| {
        said.iter()
            .find(|t| t.id == word.id && !t.negated && same_case(t, word))
    })
}

fn has_letter_or_stem(tokens: &[Token], word: &Token) -> bool {
    tokens.iter().any(|t| t.id == word.id && same_case(t, word))
}

/// A letter as a name is no article: "a pump", "A".
fn same_case(token: &Token, word: &Token) -> bool {
    word.end - word.start > 1 || token.capital == word.capital
}
