//! How well one unit of evidence answers a question.

use std::collections::HashSet;

use super::pins;
use super::question::{Question, Wants};
use super::units::Unit;
use super::words;
use local_agent_text::markdown::BlockRole;
use local_agent_verify::says_nothing_new;

/// What a unit is judged by.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Features {
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
    /// 1 for a question or the announcement of a list, less for a pointer to elsewhere.
    pub empty: f32,
    /// 1 when its note says that it is not in force.
    pub retired: f32,
    /// 1 when it is of another time or number than the question names.
    pub elsewhen: f32,
    /// Share of the question's weight that names another note and is nowhere around it.
    pub elsewhere: f32,
    /// How surely it lacks what is asked for, 0 to 2.5.
    pub lacks: f32,
}

/// The score of a unit. The weights of the first five began as a softmax regression ("the sentence
/// that holds the answer is the best one") on 394 questions of XQuAD and the questions of the
/// example vault, rounded; those with a model were fitted again on 119 and the 67. Words of the
/// question close together, the unit's length, its news and its first word were tried and gave
/// nothing. The others are set: a sentence that answers nothing, is not so, or is of another thing
/// or time, loses to any that nearly fits.
pub(super) fn score(f: &Features, with_model: bool) -> f32 {
    let common = 0.6 * f.covered + 0.11 * f.kind
        - 0.3 * f.empty
        - 0.3 * f.retired
        - 0.3 * f.elsewhen
        - 0.3 * f.elsewhere
        - 0.1 * f.lacks;
    if with_model {
        common + 0.33 * f.rank + 0.5 * f.similar
    } else {
        common + 0.2 * f.own + 0.4 * f.rank
    }
}

/// How much of a term's weight counts when it stands around the unit instead of in it.
const IN_LEAD: f32 = 0.75;
const IN_PLACE: f32 = 0.7;
const IN_BEFORE: f32 = 0.5;
/// A word of the same family (`deliver`, `delivery`) instead of the word.
const RELATED: f32 = 0.8;

/// How much of each term of the question a unit covers, 0 to 1, in the order of the terms.
#[derive(Debug, Clone, Default)]
pub(super) struct Credits {
    /// With its surroundings.
    pub all: Vec<f32>,
    /// By itself.
    pub own: Vec<f32>,
    /// By what stands above it: headings, the file's name, the lead-in. Not discounted.
    pub above: Vec<f32>,
}

impl Credits {
    pub fn of(question: &Question, units: &[Unit], index: usize) -> Self {
        let mut out = Self::default();
        let Some(unit) = units.get(index) else {
            return out;
        };
        let lead = unit.lead.and_then(|i| units.get(i));
        let before = unit.before.and_then(|i| units.get(i));
        for term in &question.terms {
            let in_unit = holds(&unit.stems, &term.stem);
            let in_place = holds(&unit.place, &term.stem);
            let in_lead = lead.map_or(0.0, |u| holds(&u.stems, &term.stem));
            // A row is quoted under its header: what stands there is said too.
            let in_unit = if unit.role == BlockRole::TableRow {
                in_unit.max(in_lead)
            } else {
                in_unit
            };
            let in_before = before.map_or(0.0, |u| holds(&u.stems, &term.stem));
            out.own.push(in_unit);
            out.above.push(in_place.max(in_lead));
            out.all.push(
                in_unit
                    .max(IN_LEAD * in_lead)
                    .max(IN_PLACE * in_place)
                    .max(IN_BEFORE * in_before),
            );
        }
        out
    }
}

/// 1 when `stem` is in `set`, less when only a word of its family is.
pub(super) fn holds(set: &HashSet<String>, stem: &str) -> f32 {
    if set.contains(stem) {
        1.0
    } else if set.iter().any(|other| related(other, stem)) {
        RELATED
    } else {
        0.0
    }
}

/// Whether two stems share a beginning that is at least five characters and three quarters of the
/// longer one, or one is the other month's short name. Digits never are related.
fn related(a: &str, b: &str) -> bool {
    if a.as_bytes().first() != b.as_bytes().first() {
        return false;
    }
    let shared = a
        .chars()
        .zip(b.chars())
        .take_while(|(x, y)| x == y && x.is_alphabetic())
        .count();
    let longer = a.chars().count().max(b.chars().count());
    let month = || shared >= 3 && words::month(a).is_some() && words::month(a) == words::month(b);
    (shared >= 5 && shared * 4 >= longer * 3) || month()
}

/// The weighted mean of `credits`.
pub(super) fn share(question: &Question, credits: &[f32]) -> f32 {
    let total = question.total();
    let found: f32 = question
        .terms
        .iter()
        .zip(credits)
        .map(|(t, c)| t.weight * c)
        .sum();
    if total > 0.0 { found / total } else { 0.0 }
}

/// The features of one unit, without a model. `rank` and `retired` are the item's.
pub(super) fn features(
    question: &Question,
    units: &[Unit],
    index: usize,
    rank: f32,
    retired: bool,
) -> Features {
    let Some(unit) = units.get(index) else {
        return Features::default();
    };
    let credits = Credits::of(question, units, index);
    Features {
        covered: share(question, &credits.all),
        own: share(question, &credits.own),
        similar: 0.0,
        kind: kind(question, unit),
        rank,
        empty: emptiness(
            unit,
            units
                .get(index + 1)
                .is_some_and(|next| next.lead == Some(index)),
        ),
        retired: if retired && !question.wants.past {
            1.0
        } else {
            0.0
        },
        elsewhen: elsewhen(question, units, index),
        elsewhere: 0.0,
        lacks: lacks(question, unit),
    }
}

/// How surely what is asked for would stand in the unit, and does not: 2.5 of a row with an empty
/// cell, 1 of a unit without an amount where one is asked for, ½ when it holds an amount of
/// something else than time or length.
fn lacks(question: &Question, unit: &Unit) -> f32 {
    let wants = question.wants;
    if kind(question, unit) >= 0.0 {
        return 0.0;
    }
    if unit.role == BlockRole::TableRow && unit.plain.split('|').any(|cell| cell.trim().is_empty())
    {
        return 2.5;
    }
    let some =
        || words::split(&unit.plain.to_lowercase()).any(|word| words::holds(words::SOME, word));
    match wants.number || wants.extent {
        false => 0.0,
        true if wants.extent && has_number(question, &unit.plain) => 0.5,
        true if some() => 0.0,
        true => 1.0,
    }
}

/// 1 when a pin of the question is not around the unit, and another of its kind is: in the
/// sentence, its lead-in, its headings and path, or else in the running text of its file above it,
/// the nearest first.
fn elsewhen(question: &Question, units: &[Unit], index: usize) -> f32 {
    let Some(unit) = units.get(index).filter(|_| !question.pins.is_empty()) else {
        return 0.0;
    };
    let lead = unit
        .lead
        .and_then(|lead| units.get(lead))
        .map_or("", |lead| &lead.plain);
    let running = |other: &&Unit| matches!(other.role, BlockRole::Paragraph | BlockRole::Quote);
    let above = units[..index]
        .iter()
        .rev()
        .filter(|other| other.file == unit.file)
        .filter(running);
    let above = above.map(|other| other.plain.clone());
    if pins::contradict(&question.pins, [&unit.plain, lead, &unit.above], above) {
        1.0
    } else {
        0.0
    }
}

/// A question, an announcement or a courtesy answers nothing, and the verifier counts none of them
/// as a claim; a pointer answers little.
fn emptiness(unit: &Unit, leads: bool) -> f32 {
    let plain = unit.plain.trim_end();
    match unit.role {
        BlockRole::Code => 0.0,
        _ if leads || plain.ends_with(['?', '？']) || says_nothing_new(plain) => 1.0,
        _ if unit.points_away => 0.4,
        _ if plain.ends_with([':', '：']) => 0.2,
        _ => 0.0,
    }
}

/// Whether the unit holds the kind of thing the question asks for: 1, −1, or 0 when no particular
/// kind is.
pub(super) fn kind(question: &Question, unit: &Unit) -> f32 {
    let Wants {
        time,
        number,
        extent,
        person,
        reason,
        definition,
        ..
    } = question.wants;
    let asked = [
        (time, has_time(&unit.plain)),
        (
            number && !time && !extent,
            has_number(question, &unit.plain),
        ),
        (extent, has_extent(&unit.plain)),
        (person, has_name(question, &unit.plain)),
        (reason, has_reason(unit)),
        (definition, defines(question, &unit.plain)),
    ];
    let wanted: Vec<bool> = asked
        .into_iter()
        .filter(|(asked, _)| *asked)
        .map(|(_, there)| there)
        .collect();
    match (wanted.is_empty(), wanted.iter().any(|there| *there)) {
        (true, _) => 0.0,
        (false, true) => 1.0,
        (false, false) => -1.0,
    }
}

fn has_time(plain: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    let year = plain.split(|c: char| !digit(c)).any(|d| d.len() == 4);
    let clock = plain.split(char::is_whitespace).any(|w| {
        w.split_once(':')
            .is_some_and(|(hour, minute)| hour.ends_with(digit) && minute.starts_with(digit))
    });
    // 3日 is a day; 一日に12個 holds a number and is none.
    let counts = |c: char| digit(c) || ('０'..='９').contains(&c);
    let mut pairs = plain.chars().zip(plain.chars().skip(1));
    let unspaced = pairs.any(|(a, b)| counts(a) && matches!(b, '年' | '月' | '日' | '時'));
    let named =
        |w: &str| words::holds(words::DAYS, w) || (w.len() > 3 && words::month(w).is_some());
    year || clock
        || unspaced
        || plain.contains('曜')
        || words::split(&plain.to_lowercase()).any(named)
}

/// An amount with a unit of time or of space, or time in words.
fn has_extent(plain: &str) -> bool {
    use local_agent_verify::Kind::{Calendar, Length, Time};
    let digit = |c: char| c.is_ascii_digit();
    let measures = |word: &str| {
        local_agent_verify::unit(word).is_some_and(|of| {
            of.iter()
                .any(|(kind, _)| matches!(kind, Time | Calendar | Length))
        })
    };
    let words: Vec<&str> = words::split(plain).collect();
    let amount =
        |word: &str| word.ends_with(digit) || words::holds(words::NUMERALS, &word.to_lowercase());
    let joined = |word: &str| word.starts_with(digit) && measures(word.trim_start_matches(digit));
    words
        .windows(2)
        .any(|pair| amount(pair[0]) && measures(pair[1]))
        || words
            .iter()
            .any(|word| joined(word) || words::holds(words::SPANS, &word.to_lowercase()))
}

/// A number that the question does not already hold.
fn has_number(question: &Question, plain: &str) -> bool {
    let asked = |n: &str| question.terms.iter().any(|t| t.stem == n);
    let digits = plain
        .split(|c: char| !c.is_ascii_digit())
        .any(|d| !d.is_empty() && !asked(d));
    let unspaced = || plain.chars().any(|c| words::COUNTING.contains(c));
    digits
        || unspaced()
        || words::split(&plain.to_lowercase()).any(|w| words::holds(words::NUMERALS, w))
}

/// A capitalised word that the question does not hold. The first word of a sentence is capitalised
/// anyway; it counts when the second is capitalised too.
fn has_name(question: &Question, plain: &str) -> bool {
    let new = |word: &str| {
        let stems = local_agent_index::lexical::terms(word);
        word.starts_with(char::is_uppercase)
            && stems
                .iter()
                .all(|s| question.terms.iter().all(|t| t.stem != *s))
    };
    words::split(plain).skip(1).any(new)
}

fn has_reason(unit: &Unit) -> bool {
    words::BECAUSE.are_in(&unit.plain.to_lowercase())
        || words::BECAUSE.are_in(&unit.heading.to_lowercase())
}

/// Whether the unit begins with the thing asked about.
fn defines(question: &Question, plain: &str) -> bool {
    let start: Vec<&str> = plain.split_whitespace().take(2).collect();
    let stems = local_agent_index::lexical::terms(&start.join(" "));
    question.terms.iter().any(|t| stems.contains(&t.stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_year_a_clock_or_a_day_and_no_other_number() {
        for text in [
            "in 1998",
            "at 9:40",
            "on Monday",
            "毎週火曜日",
            "11月に来る",
            "１０時に開く",
        ] {
            assert!(has_time(text), "{text}");
        }
        for text in ["14 apples", "9.40 euros", "一日に120斤しか焼かない"] {
            assert!(!has_time(text), "{text}");
        }
    }

    #[test]
    fn words_of_one_family_are_related_and_numbers_never() {
        for (a, b) in [
            ("deliver", "deliveri"),
            ("decemb", "dec"),
            ("prüfung", "prüfungen"),
        ] {
            assert!(related(a, b) && related(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("12345", "12346"),
            ("port", "portal"),
            ("mar", "mara"),
            ("inter", "internet"),
        ] {
            assert!(!related(a, b), "{a} {b}");
        }
    }
}
