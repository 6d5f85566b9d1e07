//! How well one unit of evidence answers a question.
//!
//! The features are few and general, each between 0 and 1 or −1 and 1; [`WEIGHTS`] says how they were weighed.

use std::collections::HashSet;

use super::question::{Question, Wants};
use super::units::Unit;
use super::words;
use crate::markdown::BlockRole;

/// What a unit is judged by.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Features {
    /// Share of the question's weight that stands in the unit or, discounted, around it.
    pub covered: f32,
    /// Share that stands in the unit itself.
    pub own: f32,
    /// Cosine of the question and the unit under its heading; 0 without a model.
    pub similar: f32,
    /// 1: the kind of thing asked for is there; −1: it is not; 0: no particular kind is asked for.
    pub kind: f32,
    /// The item's retrieval score as a share of the best item's.
    pub rank: f32,
    /// 1 for a sentence that points back at something before it.
    pub dangling: f32,
    /// 1 for a question, a lead-in or a pointer to elsewhere.
    pub empty: f32,
    /// Words beyond forty, in forties, at most 1.
    pub long: f32,
}

/// How much of a term's weight counts when it stands around the unit instead of in it.
const IN_LEAD: f32 = 0.75;
const IN_PLACE: f32 = 0.7;
const IN_BEFORE: f32 = 0.5;
/// A word of the same family (`deliver`, `delivery`) instead of the word.
const RELATED: f32 = 0.8;

/// How much of each term of the question a unit covers, 0 to 1, in the order of the terms; and the same for the unit
/// itself, without its surroundings.
pub(super) fn credits(question: &Question, units: &[Unit], index: usize) -> (Vec<f32>, Vec<f32>) {
    let Some(unit) = units.get(index) else { return Default::default() };
    let lead = unit.lead.and_then(|i| units.get(i));
    let before = unit.before.and_then(|i| units.get(i));
    let both = |stem: &str| {
        let own = holds(&unit.stems, stem);
        let around = [
            lead.map_or(0.0, |u| IN_LEAD * holds(&u.stems, stem)),
            IN_PLACE * holds(&unit.place, stem),
            before.map_or(0.0, |u| IN_BEFORE * holds(&u.stems, stem)),
        ];
        (around.into_iter().fold(own, f32::max), own)
    };
    question.terms.iter().map(|t| both(&t.stem)).unzip()
}

/// 1 when `stem` is in `set`, less when only a word of its family is.
fn holds(set: &HashSet<String>, stem: &str) -> f32 {
    if set.contains(stem) {
        1.0
    } else if set.iter().any(|other| related(other, stem)) {
        RELATED
    } else {
        0.0
    }
}

/// Whether two stems share a beginning that is at least five characters and three quarters of the longer one. Digits
/// never are related.
fn related(a: &str, b: &str) -> bool {
    if a.len() < 5 || b.len() < 5 || a.as_bytes().first() != b.as_bytes().first() {
        return false;
    }
    let shared = a.chars().zip(b.chars()).take_while(|(x, y)| x == y && x.is_alphabetic()).count();
    let longer = a.chars().count().max(b.chars().count());
    shared >= 5 && shared * 4 >= longer * 3
}

/// The weighted mean of `credits`.
pub(super) fn share(question: &Question, credits: &[f32]) -> f32 {
    let total = question.total();
    let found: f32 = question.terms.iter().zip(credits).map(|(t, c)| t.weight * c).sum();
    if total > 0.0 { found / total } else { 0.0 }
}

/// The features of one unit. `rank` and `similar` come from outside.
pub(super) fn features(question: &Question, units: &[Unit], index: usize, rank: f32) -> Features {
    let Some(unit) = units.get(index) else { return Features::default() };
    let (around, own) = credits(question, units, index);
    let words = unit.plain.split_whitespace().count() as f32;
    Features {
        covered: share(question, &around),
        own: share(question, &own),
        similar: 0.0,
        kind: kind(question, unit),
        rank,
        dangling: f32::from(u8::from(points_back(&unit.plain))),
        empty: f32::from(u8::from(says_nothing(unit))),
        long: ((words - 40.0) / 40.0).clamp(0.0, 1.0),
    }
}

/// Whether a sentence begins with a word that stands for something said before.
pub(super) fn points_back(plain: &str) -> bool {
    let first = plain.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty()).unwrap_or("").to_lowercase();
    words::BACKWARD.contains(&first.as_str()) || words::BACKWARD_BARE.iter().any(|w| plain.starts_with(w))
}

/// A question, or a sentence that only announces what follows.
fn says_nothing(unit: &Unit) -> bool {
    unit.role != BlockRole::Code && unit.plain.trim_end().ends_with(['?', '？', ':', '：'])
}

/// Whether the unit holds the kind of thing the question asks for.
fn kind(question: &Question, unit: &Unit) -> f32 {
    let Wants { time, number, person, reason, .. } = question.wants;
    let asked = [
        (time, has_time(&unit.plain)),
        (number && !time, has_number(question, &unit.plain)),
        (person, has_name(question, &unit.plain)),
        (reason, has_reason(&unit.plain)),
    ];
    let wanted: Vec<bool> = asked.into_iter().filter(|(asked, _)| *asked).map(|(_, there)| there).collect();
    match (wanted.is_empty(), wanted.iter().any(|there| *there)) {
        (true, _) => 0.0,
        (false, true) => 1.0,
        (false, false) => -1.0,
    }
}

fn lower_words(plain: &str) -> impl Iterator<Item = String> {
    plain.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase)
}

fn has_time(plain: &str) -> bool {
    let digits = plain.contains(|c: char| c.is_ascii_digit());
    let unspaced = ['年', '月', '日', '時', '分', '曜'].iter().any(|c| plain.contains(*c));
    let year = plain.split(|c: char| !c.is_ascii_digit()).any(|d| d.len() == 4);
    let clock = plain.split(char::is_whitespace).any(|w| {
        w.split_once(':').is_some_and(|(h, m)| {
            h.ends_with(|c: char| c.is_ascii_digit()) && m.starts_with(|c: char| c.is_ascii_digit())
        })
    });
    year || clock || (digits && unspaced) || lower_words(plain).any(|w| words::CALENDAR.contains(&w.as_str()))
}

/// A number that the question does not already hold.
fn has_number(question: &Question, plain: &str) -> bool {
    let asked = |n: &str| question.terms.iter().any(|t| t.stem == n);
    let digits = plain.split(|c: char| !c.is_ascii_digit()).any(|d| !d.is_empty() && !asked(d));
    digits || lower_words(plain).any(|w| words::NUMERALS.contains(&w.as_str()))
}

/// A capitalised word, not the first of the sentence, that the question does not hold.
fn has_name(question: &Question, plain: &str) -> bool {
    plain.split_whitespace().skip(1).any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.starts_with(char::is_uppercase)
            && crate::lexical::terms(word).iter().all(|stem| question.terms.iter().all(|t| t.stem != *stem))
    })
}

fn has_reason(plain: &str) -> bool {
    words::contains(&words::BECAUSE, &plain.to_lowercase())
}

/// The score of a unit.
pub(super) fn score(f: &Features, with_model: bool) -> f32 {
    let lexical = 0.6 * f.covered + 0.25 * f.own + 0.1 * f.rank + 0.08 * f.kind
        - 0.05 * f.dangling
        - 0.3 * f.empty
        - 0.1 * f.long;
    if with_model { lexical * 0.6 + 0.6 * f.similar } else { lexical }
}
