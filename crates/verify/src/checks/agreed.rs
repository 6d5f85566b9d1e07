//! L5: the cited text denies in other words what the claim denies: "is not on" and "is off", "no
//! longer meets there" and "met there until May", "not every" and "most".

use super::passages::{Passage, Passages};
use super::{Case, elliptic};
use crate::reading::Reading;
use crate::tables::Quantity;
use crate::text::Token;

/// Words of a text about a state that has ended.
const FORMER: &[&str] = list!("agreed.former");

/// Words that make a denial an order of events or a condition: "not until".
const WAITING: &[&str] = list!("agreed.waiting");

/// How many words behind a negation are searched for a word with an opposite.
const REACH: usize = 4;

/// A sentence with this many words of the claim is about the same thing.
const ABOUT: usize = 2;

/// Maximum number of denied words of a claim that are looked up.
const MOST_WORDS: usize = 12;

/// Whether the cited text denies what the claim denies, in these or in other words.
pub(super) fn denies_too(case: &Case<'_>, passages: &Passages<'_>) -> bool {
    denies_one_of_the_words(case, passages)
        || says_the_opposite(case, passages)
        || leaves_some_out(case, passages)
        || ended(case, passages)
        || elliptic::denies_too(case, passages)
        || has_instead(case, passages)
}

const INSTEAD: &[&str] = list!("agreed.instead");

/// Whether a text says that one thing takes the place of another: "a walker instead of the stick".
pub(super) fn says_instead(reading: &Reading) -> bool {
    INSTEAD
        .iter()
        .any(|phrase| reading.lower().contains(phrase))
}

/// Whether a sentence with a word that the claim denies says that another thing takes its place.
fn has_instead(case: &Case<'_>, passages: &Passages<'_>) -> bool {
    let tokens = case.claim.text.tokens.iter();
    let denied = tokens.filter(|t| t.negated && t.is_content());
    let ids: Vec<u32> = denied.map(|t| t.id).take(MOST_WORDS).collect();
    let mut about = passages.with(ABOUT);
    about.any(|p| {
        let text = p.reading().lower().get(p.bytes()).unwrap_or("");
        INSTEAD.iter().any(|phrase| text.contains(phrase))
            && p.tokens().iter().any(|t| ids.contains(&t.id))
    })
}

/// Whether a denial of the claim says when or on what condition something happens.
pub(super) fn waits(claim: &Reading) -> bool {
    let tokens = claim.text.tokens.iter();
    let mut behind = tokens.skip_while(|t| !t.negates());
    behind.any(|t| WAITING.contains(&&*claim.lower_word(t)))
}

/// Whether a sentence about the same thing denies one of the words that the claim denies.
fn denies_one_of_the_words(case: &Case<'_>, passages: &Passages<'_>) -> bool {
    let tokens = case.claim.text.tokens.iter();
    let denied = tokens.filter(|t| t.negated && t.is_content());
    let ids: Vec<u32> = denied.map(|t| t.id).take(MOST_WORDS).collect();
    let mut about = passages.with(ABOUT);
    about.any(|p| p.tokens().iter().any(|t| t.negated && ids.contains(&t.id)))
}

/// Whether a word behind a negation of the claim has its opposite in a sentence about the same
/// thing. Small words count too: "not on", "off".
fn says_the_opposite(case: &Case<'_>, passages: &Passages<'_>) -> bool {
    let tokens = case.claim.text.tokens.as_slice();
    let cues = (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(Token::negates));
    let mut opposed = cues.flat_map(|at| tokens.iter().skip(at + 1).take(REACH));
    opposed.any(|own| {
        let mut about = passages.with(ABOUT);
        !own.pairs().is_empty() && about.any(|p| has_opposite(p, own))
    })
}

fn has_opposite(passage: &Passage<'_>, own: &Token) -> bool {
    let tokens = passage.tokens().iter();
    let mut asserted = tokens.filter(|t| !t.negated);
    asserted.any(|t| own.is_opposite_of(t))
}

/// "Not every member": the text says "most members", or takes some out.
fn leaves_some_out(case: &Case<'_>, passages: &Passages<'_>) -> bool {
    if !is_not_every(&case.claim.text.tokens) {
        return false;
    }
    let mut about = passages.with(ABOUT);
    about.any(|p| p.tokens().iter().any(is_part))
}

/// Whether a negation is directly before "all" or its like.
pub(super) fn is_not_every(tokens: &[Token]) -> bool {
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| pair[0].negates() && pair[1].quantity() == Some(Quantity::Universal))
}

fn is_part(token: &Token) -> bool {
    let part = matches!(
        token.quantity(),
        Some(Quantity::Mostly | Quantity::Partial | Quantity::Rare)
    );
    part || token.negates() || token.does(crate::tables::Role::Excepting)
}

/// "It no longer meets there": the text says that it did.
fn ended(case: &Case<'_>, passages: &Passages<'_>) -> bool {
    let tokens = case.claim.text.tokens.as_slice();
    let mut pairs = tokens.windows(2);
    let no_longer = pairs.any(|pair| {
        pair[0].negates()
            && matches!(
                &*case.claim.lower_word(&pair[1]),
                "longer" | "more" | "anymore"
            )
    });
    no_longer && passages.with(1).any(is_former)
}

/// Whether a sentence speaks of a state that has ended.
pub(super) fn is_former(passage: &Passage<'_>) -> bool {
    let reading = passage.reading();
    let mut tokens = passage.tokens().iter();
    tokens.any(|t| FORMER.contains(&&*reading.lower_word(t)))
}
