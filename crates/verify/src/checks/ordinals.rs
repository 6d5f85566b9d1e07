//! L4: ordinal numbers of a claim that are not in the cited text: "the second step". The step must
//! not be another one there.

use std::collections::HashSet;
use std::ops::Range;

use super::align::Alignment;
use super::counts::{is_bullet, item_number};
use super::derive::ClaimNumber;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{self as a, Number, What};
use crate::reading::Reading;
use crate::tables::{Role, tables};
use crate::text::Token;

/// How much of the claim the nearest sentence must have to be about the same thing.
const CLOSE: f64 = 0.6;

/// How much of the claim the item of a list must have to be the thing that the claim orders.
const MOSTLY: f64 = 0.5;

/// Maximum number of items of lists that are compared with a claim.
const MOST_ITEMS: usize = 200;

/// The objection to an ordinal that orders a noun. Ordinals that only join sentences ("First, …",
/// "was first released") are not checked.
pub(super) fn check(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    number: ClaimNumber<'_>,
) -> Option<(Effect, Code, String)> {
    let noun = ordered_noun(case.claim, number)?;
    if relates_two_things(case.claim, number) {
        return None;
    }
    let other = other_ordinal(alignment, number.number, noun);
    if let Some(said) = other {
        let shown = shown(case.claim, number, noun);
        let why = format!("The claim says “{shown}”, but the cited text says “{said}”.");
        return Some((Effect::Rejects, Code::Number, why));
    }
    listed_elsewhere(case, number, noun)
}

/// The noun that an ordinal orders: "the second step".
fn ordered_noun<'c>(claim: &'c Reading, number: ClaimNumber<'_>) -> Option<&'c Token> {
    const DETERMINERS: &[&str] = list!("counts.determiners");
    let at = &number.atom.tokens;
    let before = claim.text.tokens.get(at.start.checked_sub(1)?)?;
    let noun = claim.text.tokens.get(at.end)?;
    let determined = DETERMINERS.contains(&&*claim.lower_word(before));
    (determined && noun.is_content() && !noun.number).then_some(noun)
}

/// Whether the claim has another ordinal, or puts one thing before another: then the ordinal may
/// belong to something else than the rest of the claim.
fn relates_two_things(claim: &Reading, number: ClaimNumber<'_>) -> bool {
    let mut atoms = claim.atoms.iter();
    let another = atoms.any(|atom| match &atom.what {
        What::Number(m) => m.ordinal && atom.bytes != number.atom.bytes,
        _ => false,
    });
    another || relates_with(claim)
}

/// Whether a word of the claim puts one thing before another, or denies or limits it.
fn relates_with(claim: &Reading) -> bool {
    let mut tokens = claim.text.tokens.iter();
    tokens.any(|t| {
        t.does(Role::Placing) || t.does(Role::Ordering) || t.does(Role::Conditional) || t.negates()
    })
}

/// The other ordinal that the nearest sentence has for the same noun, and the noun.
fn other_ordinal(alignment: &Alignment<'_>, n: &Number, noun: &Token) -> Option<String> {
    let best = alignment.best().filter(|best| best.share >= CLOSE)?;
    let reading = best.source.reading;
    let mut atoms = reading.atoms_of(best.sentence).iter();
    let atom = atoms.find(|atom| match &atom.what {
        What::Number(m) => {
            let next = reading.text.tokens.get(atom.tokens.end);
            m.ordinal && !a::same(m.value, n.value) && next.is_some_and(|t| t.id == noun.id)
        }
        _ => false,
    })?;
    Some(
        reading
            .shown(atom.tokens.start..atom.tokens.end + 1)
            .to_owned(),
    )
}

fn shown(claim: &Reading, number: ClaimNumber<'_>, noun: &Token) -> String {
    let bytes = number.atom.bytes.start..noun.end;
    claim.normal.get(bytes).unwrap_or("").to_owned()
}

/// An item of a list.
struct ListedItem<'t> {
    /// Its place, from 1.
    place: u32,
    /// Whether its list has numbers.
    is_numbered: bool,
    text: &'t str,
    /// How many words of the claim it has.
    words: usize,
}

/// The objection to an ordinal when a list of the cited text has the thing at another place.
fn listed_elsewhere(
    case: &Case<'_>,
    number: ClaimNumber<'_>,
    noun: &Token,
) -> Option<(Effect, Code, String)> {
    let own = own_words(case, &number.atom.tokens, noun);
    let items = case.cited.iter().flat_map(|s| items(&s.item.text));
    let items: Vec<ListedItem<'_>> = items
        .take(MOST_ITEMS)
        .map(|item| ListedItem {
            words: shared_words(item.text, &own),
            ..item
        })
        .collect();
    let best = items.iter().max_by_key(|item| item.words)?;
    let is_here = |item: &&ListedItem<'_>| a::same(f64::from(item.place), number.number.value);
    let here = items.iter().filter(is_here).map(|item| item.words).max();
    let enough = super::ratio(best.words, own.len()) >= MOSTLY && best.words > 0;
    if !enough || here.is_none_or(|words| words >= best.words) {
        return None;
    }
    let effect = match best.is_numbered {
        true => Effect::Rejects,
        false => Effect::Doubts,
    };
    let said = crate::identity::shorten(best.text);
    let shown = shown(case.claim, number, noun);
    let why = format!(
        "The claim says “{shown}”, but the cited text lists “{said}” as number {}.",
        best.place
    );
    Some((effect, Code::Number, why))
}

/// The objection to "the last step" when a list of the cited text has the thing before its last
/// item.
pub(super) fn check_last(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    const LAST: &[&str] = list!("ordinals.last");
    const DETERMINERS: &[&str] = list!("counts.determiners");
    let claim = case.claim;
    let mut windows = claim.text.tokens.windows(3).enumerate();
    let (at, noun) = windows.find_map(|(at, three)| {
        let [before, last, noun] = three else {
            return None;
        };
        let named = DETERMINERS.contains(&&*claim.lower_word(before))
            && LAST.contains(&&*claim.lower_word(last))
            && noun.is_content()
            && !noun.number;
        named.then_some((at + 1, noun))
    })?;
    if relates_with(claim) || stands_in_the_text(case, at) {
        return None;
    }
    let own = own_words(case, &(at..at + 2), noun);
    let items = case.cited.iter().flat_map(|s| items(&s.item.text));
    let items: Vec<ListedItem<'_>> = items.take(MOST_ITEMS).collect();
    let shared = items.iter().map(|item| shared_words(item.text, &own));
    let shared: Vec<usize> = shared.collect();
    let (best, words) = (0..).zip(&shared).max_by_key(|(_, words)| **words)?;
    let enough = super::ratio(*words, own.len()) >= MOSTLY && *words > 0;
    let is_last = |at: usize| items.get(at + 1).is_none_or(|next| next.place == 1);
    let mut lasts = (0..items.len()).filter(|at| is_last(*at));
    let same = lasts.any(|at| shared.get(at).is_some_and(|other| other >= words));
    let item = items.get(best).filter(|_| enough && !same)?;
    let said = crate::identity::shorten(item.text);
    let shown = claim.shown(at..at + 2);
    let why = format!(
        "The claim says “{shown}”, but the cited text lists “{said}” as number {}.",
        item.place
    );
    let effect = match item.is_numbered {
        true => Effect::Rejects,
        false => Effect::Doubts,
    };
    Some((effect, Code::Number, why))
}

/// Whether the cited text has the two words at token `at` of the claim beside each other: "copy the
/// last decision" is no place in a list.
fn stands_in_the_text(case: &Case<'_>, at: usize) -> bool {
    let Some([last, noun]) = case.claim.text.tokens.get(at..at + 2) else {
        return false;
    };
    case.cited.iter().any(|source| {
        let mut pairs = source.reading.text.tokens.windows(2);
        pairs.any(|pair| matches!(pair, [x, y] if x.id == last.id && y.id == noun.id))
    })
}

/// The stems of what the claim says of the thing that it orders.
fn own_words<'c>(case: &'c Case<'_>, at: &Range<usize>, noun: &Token) -> HashSet<&'c str> {
    let tokens = case.claim.text.tokens.iter().enumerate();
    let own = tokens.filter(|(i, t)| t.is_content() && t.id != noun.id && !at.contains(i));
    own.map(|(_, t)| case.lexicon.stem(t.id)).collect()
}

fn shared_words(text: &str, own: &HashSet<&str>) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let stems = words.filter(|w| !w.is_empty());
    let stems: HashSet<String> = stems.map(|w| tables().stem_of(&w.to_lowercase())).collect();
    own.iter().filter(|stem| stems.contains(**stem)).count()
}

/// What begins an item of a list without numbers.
const BULLETS: [char; 5] = ['-', '*', '+', '•', ' '];

/// The items of the lists of a text that are not inside another one.
fn items(text: &str) -> impl Iterator<Item = ListedItem<'_>> {
    let mut place = 0;
    text.lines().filter_map(move |line| {
        if let Some(number) = item_number(line).filter(|_| !line.starts_with(' ')) {
            let text = line
                .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
            return Some(listed(number, true, text));
        }
        if is_bullet(line) {
            place += 1;
            return Some(listed(place, false, line.trim_start_matches(BULLETS)));
        }
        if !line.trim().is_empty() && !line.starts_with([' ', '\t']) {
            place = 0;
        }
        None
    })
}

fn listed(place: u32, is_numbered: bool, text: &str) -> ListedItem<'_> {
    ListedItem {
        place,
        is_numbered,
        text,
        words: 0,
    }
}
