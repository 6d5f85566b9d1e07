//! L4: a comparison without numbers agrees with the numbers of the cited text: "The aquarium is
//! cheaper" where it costs 12 euros and the boat tour 18.

use super::passages::Passages;
use super::things::thing;
use super::{Case, Effect, Source};
use crate::Code;
use crate::atoms::{self as a, Number, What};
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::Token;

/// Words that say which of two amounts is smaller or greater; those of prices are only about money.
const LESS: &[&str] = list!("comparatives.less");
const MORE: &[&str] = list!("comparatives.more");
const LESS_MONEY: &[&str] = list!("comparatives.less-money");
const MORE_MONEY: &[&str] = list!("comparatives.more-money");

/// Maximum number of sentences with a word, and of amounts, that are compared.
const MOST_SENTENCES: usize = 12;
const MOST_AMOUNTS: usize = 24;

/// What a claim compares: whether its subject has the smaller amount, and of which kind.
struct Comparative<'t> {
    word: &'t Token,
    is_less: bool,
    of_money: bool,
    subject: Vec<&'t Token>,
    rival: Vec<&'t Token>,
}

/// An amount of the cited text and what it belongs to.
struct ComparedAmount<'a> {
    number: &'a Number,
    of: Vec<u32>,
    source: Source<'a>,
    sentence: usize,
}

/// The objection to a comparison that the amounts of the text turn round.
pub(super) fn check(case: &Case<'_>, _: &Passages<'_>) -> Option<Objection> {
    verdict(case)?.err()
}

/// Whether the amounts of the text prove a comparison.
pub(super) fn is_proven(case: &Case<'_>) -> bool {
    matches!(verdict(case), Some(Ok(())))
}

/// The result of comparing the amounts; `None` if the claim or the text does not say enough.
fn verdict(case: &Case<'_>) -> Option<Result<(), Objection>> {
    let claim = case.claim;
    let compared = comparison(claim)?;
    let amounts = amounts(case, &compared);
    let mut own = amounts.iter().filter(|m| names(m, &compared.subject));
    let first = own.next()?;
    if own.any(|m| !is_same(m, first)) {
        return None;
    }
    let mut rivals = amounts.iter().filter(|m| {
        let is_it = match compared.rival.is_empty() {
            true => m.sentence.abs_diff(first.sentence) <= NEAR,
            false => names(m, &compared.rival),
        };
        is_it && !names(m, &compared.subject) && comparable(first, m)
    });
    let rival = rivals.next()?;
    if rivals.any(|m| !is_same(m, rival)) {
        return None;
    }
    let value = super::arithmetic::in_unit_of(first.number, rival.number)?;
    let is_right = match compared.is_less {
        true => first.number.value < value,
        false => first.number.value > value,
    };
    if is_right {
        return Some(Ok(()));
    }
    let [said, found] = [first, rival].map(|m| shown(m));
    let why = format!(
        "The claim says “{}”, but the cited text has “{said}” for it and “{found}” for the other.",
        claim.word(compared.word)
    );
    let detail = Detail::Pointer { why };
    let found = Objection::new(Code::Direction, Effect::Rejects, detail);
    let found = found.at(compared.word.start..compared.word.end);
    let bytes = first.source.reading.sentence(first.sentence)?.bytes.clone();
    Some(Err(found.against(first.source.item.label, bytes)))
}

/// How many sentences apart two amounts are compared without the name of the other thing.
const NEAR: usize = 2;

fn shown(amount: &ComparedAmount<'_>) -> String {
    let reading = amount.source.reading;
    let mut atoms = reading.atoms_of(amount.sentence).iter();
    let atom = atoms.find(|a| matches!(&a.what, What::Number(n) if std::ptr::eq(n, amount.number)));
    atom.map_or_else(String::new, |a| reading.shown_amount(a).to_owned())
}

fn is_same(one: &ComparedAmount<'_>, other: &ComparedAmount<'_>) -> bool {
    let value = super::arithmetic::in_unit_of(one.number, other.number);
    value.is_some_and(|value| a::same(value, one.number.value))
}

fn comparable(one: &ComparedAmount<'_>, other: &ComparedAmount<'_>) -> bool {
    super::arithmetic::in_unit_of(one.number, other.number).is_some()
}

/// Whether an amount belongs to a thing with all these words.
fn names(amount: &ComparedAmount<'_>, words: &[&Token]) -> bool {
    !words.is_empty() && words.iter().all(|t| amount.of.contains(&t.id))
}

/// What a claim without numbers compares.
fn comparison(claim: &Reading) -> Option<Comparative<'_>> {
    let tokens = claim.text.tokens.as_slice();
    if tokens.iter().any(Token::negates) || claim.atoms.iter().any(is_number) {
        return None;
    }
    let is = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let at = tokens
        .iter()
        .position(|t| is(t, LESS) || is(t, MORE) || is(t, LESS_MONEY) || is(t, MORE_MONEY))?;
    let word = tokens.get(at)?;
    // "The cheaper one is the aquarium".
    let turned = tokens.iter().skip(at + 1).take(3);
    let verb = turned
        .filter(|t| matches!(&*claim.lower_word(t), "is" | "are" | "was"))
        .map(|t| t.start)
        .next();
    let than = tokens.iter().position(|t| claim.lower_word(t) == "than");
    let end = than.unwrap_or(tokens.len());
    let subject = match verb {
        Some(start) => words(tokens.iter().filter(|t| t.start > start).take(SUBJECT)),
        None => words(tokens.get(..at)?.iter().rev().take(SUBJECT)),
    };
    let next = tokens.get(at + 1).map(|t| claim.lower_word(t));
    let of_money =
        is(word, LESS_MONEY) || is(word, MORE_MONEY) || next.as_deref() == Some("expensive");
    Some(Comparative {
        word,
        is_less: is(word, LESS) || is(word, LESS_MONEY),
        of_money,
        subject,
        rival: words(tokens.get(end..)?.iter()),
    })
}

/// Maximum number of words of a subject.
const SUBJECT: usize = 8;

fn is_number(atom: &a::Atom) -> bool {
    matches!(&atom.what, What::Number(n) if !n.words)
}

fn words<'t>(tokens: impl Iterator<Item = &'t Token>) -> Vec<&'t Token> {
    tokens
        .filter(|t| t.is_content() && !t.number && !t.does(Role::Everyday))
        .collect()
}

/// The amounts of the text in sentences with a word of the claim's subject, and near them.
fn amounts<'a>(case: &Case<'a>, compared: &Comparative<'_>) -> Vec<ComparedAmount<'a>> {
    let mut out = Vec::new();
    let Some(first) = compared.subject.first() else {
        return out;
    };
    for source in case.cited {
        let reading = source.reading;
        let mut sentences: Vec<usize> = Vec::new();
        let rival = compared.rival.first();
        for word in std::iter::once(first).chain(rival) {
            for n in reading.sentences_with(word.id).iter().take(MOST_SENTENCES) {
                let n = *n as usize;
                sentences.extend(n.saturating_sub(NEAR)..=n + NEAR);
            }
        }
        sentences.sort_unstable();
        sentences.dedup();
        for n in sentences {
            for atom in reading.atoms_of(n) {
                let What::Number(number) = &atom.what else {
                    continue;
                };
                let is_money = number.unit.is_some_and(a::is_currency);
                let fits = number.unit.is_some() && is_money == compared.of_money;
                if fits && !number.ordinal && out.len() < MOST_AMOUNTS {
                    out.push(ComparedAmount {
                        number,
                        of: thing(reading, atom),
                        source: *source,
                        sentence: n,
                    });
                }
            }
        }
    }
    out
}
