//! L4: the claim must not swap parts of two statements of the text.
//!
//! "The whole part is the time, the fraction is the date" takes words from two neighbouring pieces
//! of the text and combines each half of one with a half of the other. A claim that only sums up
//! two pieces keeps each piece together somewhere, or uses a word of one piece alone.
//!
//! A set of claim words is a bit mask, so that two pieces are compared with a few operations.

use super::{Case, Effect, Extent, Source};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::{Token, has_stem};

/// Maximum number of different words of a claim: the bits of a set.
const MOST_WORDS: usize = 64;

/// Maximum number of content words of a piece; a longer one makes too many statements.
const LONGEST: usize = 16;

/// How many later pieces a piece of the text is compared with, and how many sentences apart they
/// are at most.
const NEXT: usize = 6;
const APART: usize = 3;

/// Maximum number of pieces of a claim, and of a cited item; both bound the work on hostile text.
const MOST_OWN: usize = 12;
const MOST_PIECES: usize = 120;

/// A set of words of the claim.
type WordSet = u64;

/// A piece of a cited item: the words between two commas, "and" or "or".
struct Piece<'a> {
    source: Source<'a>,
    sentence: usize,
    tokens: &'a [Token],
    /// The words of the claim that the piece contains.
    words: WordSet,
    /// Whether it is short enough to be compared.
    is_short: bool,
}

/// Four words of the claim. The claim combines `first.0` with `first.1` and `second.0` with
/// `second.1`; the text has the `.0` words in one piece and the `.1` words in another.
struct Exchange {
    first: (usize, usize),
    second: (usize, usize),
}

/// The objection to the first swap of parts.
pub(super) fn check(case: &Case<'_>) -> Option<Objection> {
    if case.extent == Extent::LeadIn {
        return None;
    }
    let words = distinct(case.claim);
    let own = own_pieces(case.claim, &words);
    if own.len() < 2 {
        return None;
    }
    let pieces: Vec<Piece<'_>> = case
        .cited
        .iter()
        .flat_map(|source| text_pieces(*source, &words))
        .collect();
    let together = together(&pieces, words.len());
    for (i, one) in pieces.iter().enumerate().filter(|(_, p)| p.is_short) {
        for other in pieces.iter().skip(i + 1).take(NEXT) {
            if !other.is_short || !are_parallel(one, other) {
                continue;
            }
            if let Some(found) = exchange(one.words, other.words, &own, &together) {
                return objection(case, &words, &found, one);
            }
        }
    }
    None
}

/// The different words of a claim, in order.
fn distinct(claim: &Reading) -> Vec<&Token> {
    let mut out: Vec<&Token> = Vec::new();
    let counted = claim
        .text
        .tokens
        .iter()
        .filter(|t| t.is_content_or_number());
    for token in counted {
        if out.len() < MOST_WORDS && !out.iter().any(|t| t.id == token.id) {
            out.push(token);
        }
    }
    out
}

/// The words of the claim among some tokens.
fn set_of(tokens: &[Token], words: &[&Token]) -> WordSet {
    let counted = tokens.iter().filter(|t| t.is_content_or_number());
    let places = counted.filter_map(|t| words.iter().position(|w| w.id == t.id));
    places.fold(0, |set, at| set | 1 << at)
}

/// Words that begin a new piece.
const OPENERS: &[&str] = list!("exchanged.openers");

/// Whether a word begins a new piece.
fn begins(reading: &Reading, token: &Token) -> bool {
    OPENERS.contains(&&*reading.lower_word(token))
}

/// Cuts tokens at commas and other signs, and at words like "and", "or" and "while". A label stays
/// together with what follows its colon, and code with its own signs: `/a:b,c`.
fn cut<'t>(reading: &Reading, tokens: &'t [Token]) -> Vec<&'t [Token]> {
    tokens
        .chunk_by(|a, b| (a.clause == b.clause || is_joined(reading, a, b)) && !begins(reading, b))
        .collect()
}

/// Whether only the signs of code, or the colon of a label, are between two words.
fn is_joined(reading: &Reading, a: &Token, b: &Token) -> bool {
    let gap = reading.normal.get(a.end..b.start).unwrap_or("");
    let is_label = gap.contains(": ") && !gap.contains(['(', ')', '|', ';']);
    is_label || !gap.contains(char::is_whitespace)
}

fn own_pieces(claim: &Reading, words: &[&Token]) -> Vec<WordSet> {
    let pieces = cut(claim, &claim.text.tokens).into_iter();
    let sets = pieces.map(|tokens| set_of(tokens, words));
    sets.filter(|set| *set != 0).take(MOST_OWN).collect()
}

/// The pieces of an item that contain a word of the claim.
fn text_pieces<'a>(source: Source<'a>, words: &[&Token]) -> Vec<Piece<'a>> {
    let mut sentences: Vec<u32> = words
        .iter()
        .flat_map(|w| source.reading.sentences_with(w.id).iter().take(MOST_PIECES))
        .copied()
        .collect();
    sentences.sort_unstable();
    sentences.dedup();
    let mut out = Vec::new();
    for sentence in sentences.into_iter().map(|n| n as usize) {
        for tokens in cut(source.reading, source.reading.tokens_of(sentence)) {
            let set = set_of(tokens, words);
            if out.len() < MOST_PIECES && set != 0 {
                out.push(Piece {
                    source,
                    sentence,
                    tokens,
                    words: set,
                    is_short: tokens.iter().filter(|t| t.is_content()).count() <= LONGEST,
                });
            }
        }
    }
    out
}

/// For each word: all words that share a piece with it.
fn together(pieces: &[Piece<'_>], words: usize) -> Vec<WordSet> {
    (0..words).map(|n| words_beside(pieces, n)).collect()
}

fn words_beside(pieces: &[Piece<'_>], word: usize) -> WordSet {
    let holders = pieces.iter().filter(|p| p.words >> word & 1 == 1);
    holders.fold(0, |set, p| set | p.words)
}

/// Whether two pieces can be two sides of one thing: in one sentence, or near each other and with a
/// word in common.
fn are_parallel(a: &Piece<'_>, b: &Piece<'_>) -> bool {
    if a.source.item.label != b.source.item.label || b.sentence - a.sentence > APART {
        return false;
    }
    a.sentence == b.sentence
        || a.tokens
            .iter()
            .any(|t| t.is_content() && has_stem(b.tokens, t.id))
}

/// Finds two pieces of the claim that each mix a word that only `a` has with a word that only `b`
/// has.
fn exchange(a: WordSet, b: WordSet, own: &[WordSet], together: &[WordSet]) -> Option<Exchange> {
    let (only_a, only_b) = (a & !b, b & !a);
    let mixed: Vec<WordSet> = own
        .iter()
        .copied()
        .filter(|c| c & only_a != 0 && c & only_b != 0)
        .collect();
    for (i, one) in mixed.iter().enumerate() {
        for other in mixed.iter().skip(i + 1) {
            let (left, right) = (one & !other, other & !one);
            if let (Some(first), Some(second)) = (
                strangers(left & only_a, left & only_b, together),
                strangers(right & only_a, right & only_b, together),
            ) {
                return Some(Exchange { first, second });
            }
        }
    }
    None
}

/// A word of `a` and a word of `b` that share no piece of the text.
fn strangers(a: WordSet, b: WordSet, together: &[WordSet]) -> Option<(usize, usize)> {
    let mut of_a = together.iter().enumerate();
    of_a.find_map(|(n, with)| {
        let apart = b & !with;
        (a >> n & 1 == 1 && apart != 0).then(|| (n, apart.trailing_zeros() as usize))
    })
}

fn objection(
    case: &Case<'_>,
    words: &[&Token],
    found: &Exchange,
    piece: &Piece<'_>,
) -> Option<Objection> {
    let said = words.get(found.first.0)?;
    let of = words.get(found.first.1)?;
    let belongs_to = words.get(found.second.0);
    let detail = Detail::Elsewhere {
        said: case.claim.word(said).to_owned(),
        of: case.claim.word(of).to_owned(),
        belongs_to: belongs_to.map(|t| case.claim.word(t).to_owned()),
        found: None,
    };
    let sentence = piece.source.reading.sentence(piece.sentence)?.bytes.clone();
    let found = Objection::new(Code::Referent, Effect::Doubts, detail);
    Some(
        found
            .at(said.start..said.end)
            .against(piece.source.item.label, sentence),
    )
}
