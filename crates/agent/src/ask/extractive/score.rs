//! Rates how well one unit of evidence answers a question.

use std::collections::HashSet;

use super::calendar;
use super::constraints;
use super::cues;
use super::question::{Operation, ParsedQuestion, QuestionKind, Term, Wants};
use super::units::{Form, Unit, leads_in};
use local_agent_verify::says_nothing_new;

/// The features for judging a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Features {
    /// Share of the question's weight that is in the unit or, discounted, around it.
    pub covered: f32,
    /// Share that is in the unit itself.
    pub own: f32,
    /// Cosine of the question and the unit under its heading; 0 without a model.
    pub similar: f32,
    /// 1: the requested kind of thing is present; −1: it is not; 0: no particular kind is
    /// requested.
    pub kind: f32,
    /// The retrieval score of its place as a share of the best one.
    pub rank: f32,
    /// 1 for a question or a list introduction, less for a reference to another place.
    pub empty: f32,
    /// 1 if its note says that it is not, or no longer, valid.
    pub retired: f32,
    /// 1 when its time or number differs from the question's.
    pub time_mismatch: f32,
    /// Share of the question's weight in words that name another note and are not around the unit.
    pub other_note: f32,
    /// 1 if a name of the question is not around the unit.
    pub unknown_name: f32,
    /// How certainly it lacks the kind of answer that the question asks for, 0 to 2.5.
    pub missing_answer_type: f32,
    /// 1 when it is in another language than the question; 0 without a model.
    pub other_language: f32,
}

/// The score of a unit; `legible` is how well the model reads the question, 0 without a model.
///
/// The weights with a model began as softmax regressions ("the passage with the answer is the best
/// one") on questions of three vaults and on rewordings of them without a word of the note. Those
/// without a model were fitted on XQuAD and the example vault. All are rounded. A sentence without
/// an answer, from an invalid note, or about another thing or time ranks below any sentence that
/// nearly fits.
pub(super) fn score(f: &Features, legible: f32) -> f32 {
    let with_model = 0.6 * f.covered + 0.95 * f.similar + 0.2 * f.rank + 0.12 * f.kind
        - 0.2 * f.empty
        - 0.3 * f.retired
        - 0.2 * f.time_mismatch
        - 0.1 * f.other_note
        - 0.1 * f.unknown_name
        - 0.15 * f.missing_answer_type;
    let without = 0.6 * f.covered + 0.2 * f.own + 0.4 * f.rank + 0.11 * f.kind
        - 0.3 * f.empty
        - 0.3 * f.retired
        - 0.3 * f.time_mismatch
        - 0.3 * f.other_note
        - 0.2 * f.unknown_name
        - 0.1 * f.missing_answer_type;
    legible * with_model + (1.0 - legible) * without
}

/// The share of a term's weight that counts if the term is around the unit instead of in it.
const IN_LEAD: f32 = 0.75;
const IN_PLACE: f32 = 0.7;
const IN_HEADING: f32 = 0.85;
/// For a property: the shares for the note's other properties, and for the first `BESIDE` units of
/// the note.
const IN_PROPERTIES: f32 = 0.55;
const BESIDE: usize = 24;
const IN_BEFORE: f32 = 0.5;
/// The share for a related word (`deliver`, `delivery`).
pub(super) const RELATED: f32 = 0.8;
/// The share for a synonym (`car`, `automobile`).
const SYNONYM: f32 = 0.7;
/// The share for a word that differs by one letter from a word of the question that no note
/// contains.
const MISSPELT: f32 = 0.7;

/// How much of each term of the question a unit covers, 0 to 1, in the order of the terms.
#[derive(Debug, Clone, Default)]
pub(super) struct Credits {
    /// By the unit with its surroundings.
    pub all: Vec<f32>,
    /// By the unit itself.
    pub own: Vec<f32>,
    /// By the text above it, without a discount: headings, the note's names, the lead-in.
    pub above: Vec<f32>,
    /// The best cosine of the word with a word of the unit; empty without a model that gives word
    /// vectors.
    pub meant: Vec<f32>,
}

impl Credits {
    pub(super) fn of(question: &ParsedQuestion, units: &[Unit], index: usize) -> Self {
        let mut out = Self::default();
        let Some(unit) = units.get(index) else {
            return out;
        };
        let lead = unit.lead.and_then(|i| units.get(i));
        let above_lead = lead.and_then(|u| u.lead).and_then(|i| units.get(i));
        let before = unit.before.and_then(|i| units.get(i));
        for term in &question.terms {
            let in_place = covers(&unit.place.stems, term);
            let in_lead = credit_in(term, lead).max(credit_in(term, above_lead));
            // A row is quoted under its header, so the header's words count too.
            let in_unit = match unit.form {
                Form::Row => credit_in(term, Some(unit)).max(in_lead),
                _ => credit_in(term, Some(unit)),
            };
            out.own.push(in_unit);
            out.above.push(in_place.max(in_lead));
            out.all.push(
                in_unit
                    .max(IN_LEAD * in_lead)
                    .max(IN_PLACE * in_place)
                    .max(IN_HEADING * covers(&unit.place.heading_stems, term))
                    .max(IN_BEFORE * credit_in(term, before)),
            );
        }
        out
    }
}

/// How well a unit covers the word; 0 without a unit.
fn credit_in(term: &Term, unit: Option<&Unit>) -> f32 {
    unit.map_or(0.0, |u| covers(&u.stems, term))
}

/// Adds to the credits of a property what the other properties and the beginning of its note cover.
pub(super) fn credit_properties(
    question: &ParsedQuestion,
    units: &[Unit],
    index: usize,
    credits: &mut Credits,
) {
    let Some(unit) = units.get(index) else {
        return;
    };
    let is_beside = |u: &&Unit| u.note == unit.note && u.section <= 1;
    let before = units[..index].iter().rev().take_while(is_beside);
    let beside: Vec<&Unit> = before
        .chain(units[index + 1..].iter().take_while(is_beside).take(BESIDE))
        .collect();
    for (term, credit) in question.terms.iter().zip(&mut credits.all) {
        if !term.is_name {
            let here = beside.iter().map(|u| covers(&u.stems, term));
            *credit = credit.max(IN_PROPERTIES * here.fold(0.0, f32::max));
        }
    }
}

/// Whether a property itself answers the question: its key or value contains a word of the question
/// that does not name the note. Tags count only when the question asks for tags.
pub(super) fn says_itself(question: &ParsedQuestion, unit: &Unit) -> bool {
    let tags = ["tag", "tags"]
        .iter()
        .any(|key| unit.plain.starts_with(key));
    let mut terms = question.terms.iter();
    terms.any(|t| covers(&unit.stems, t) > 0.0 && !unit.place.names.contains(&t.stem))
        && question
            .terms
            .iter()
            .any(|t| !tags || t.word.to_lowercase().starts_with("tag"))
}

/// 1 when the term is in `set`, less when only a related word is, or a word that the term may be a
/// misspelling of.
pub(super) fn covers(set: &HashSet<String>, term: &Term) -> f32 {
    let stem = term.stem.as_str();
    if set.contains(stem) {
        1.0
    } else if set.iter().any(|other| related(other, stem)) {
        RELATED
    } else if term.synonyms.iter().any(|other| set.contains(other)) {
        SYNONYM
    } else if !term.known && set.iter().any(|other| differs_in_one(other, stem)) {
        MISSPELT
    } else {
        0.0
    }
}

/// Whether two stems share a prefix of at least five characters and three quarters of the longer
/// one, or one is the short name of the other month. Digits are never related.
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
    (shared >= 5 && shared * 4 >= longer * 3)
        || (shared >= 3 && cues::month(a).is_some() && cues::month(a) == cues::month(b))
}

/// Whether two words of at least five letters differ by one letter that is missing, added, changed
/// or swapped with the next.
fn differs_in_one(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().min(b.len()) < 4
        || a.len().max(b.len()) < 5
        || a.len().abs_diff(b.len()) > 1
        || a.iter().chain(&b).any(char::is_ascii_digit)
    {
        return false;
    }
    let front = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
    let swapped = a.len() == 2 && b.len() == 2 && a[0] == b[1] && a[1] == b[0];
    swapped || a.len().max(b.len()) <= 1
}

/// The weighted mean of `credits`.
pub(super) fn share(question: &ParsedQuestion, credits: &[f32]) -> f32 {
    let total = question.total();
    let found: f32 = question
        .terms
        .iter()
        .zip(credits)
        .map(|(t, c)| t.weight * c)
        .sum();
    if total > 0.0 { found / total } else { 0.0 }
}

/// The features of one unit, without a model.
pub(super) fn features(
    question: &ParsedQuestion,
    units: &[Unit],
    index: usize,
    credits: &Credits,
    retired: bool,
) -> Features {
    let Some(unit) = units.get(index) else {
        return Features::default();
    };
    let leads = units
        .get(index + 1)
        .is_some_and(|next| next.lead == Some(index));
    let retired = retired && !question.wants.past;
    Features {
        covered: share(question, &credits.all),
        own: share(question, &credits.own),
        similar: 0.0,
        kind: answer_type(question, unit, lead_of(units, unit)),
        rank: unit.rank,
        empty: emptiness(unit, leads),
        retired: f32::from(u8::from(retired)),
        time_mismatch: time_mismatch(question, units, index),
        other_note: 0.0,
        unknown_name: 0.0,
        missing_answer_type: missing_answer_type(question, unit, lead_of(units, unit)),
        other_language: 0.0,
    }
}

/// How certainly the unit lacks the requested kind of answer: 2.5 for a row with an empty cell, or
/// without an age, a year, a code, money, a phone number or an email address if one is asked for; 1
/// for a unit without the requested amount, or with the name of a day where a person is asked for;
/// ½ if the question asks for a time or length and the unit has another number.
fn missing_answer_type(question: &ParsedQuestion, unit: &Unit, lead: Option<&Unit>) -> f32 {
    let wants = question.wants;
    if question.kind == QuestionKind::Total(Operation::Years) && !says_age(&unit.plain) {
        return 2.5;
    }
    if wants.year && !says_year(unit) || wants.code_number && !has_digits(unit) {
        return 2.5;
    }
    if answer_type(question, unit, lead) >= 0.0 {
        return 0.0;
    }
    if wants.phone || wants.email {
        return 2.5;
    }
    if unit.form == Form::Row && unit.plain.split('|').any(|cell| cell.trim().is_empty()) {
        return 2.5;
    }
    let asks_for_money = asks_for_money(question);
    if asks_for_money && !(has_digits(unit) && says_money(unit, lead)) {
        return if says_free(unit) { 0.0 } else { 2.5 };
    }
    match wants.number || wants.extent || wants.price {
        false if wants.person && has_common_capital(&unit.plain) => 1.0,
        false => 0.0,
        true if wants.extent && has_number(question, &unit.plain) => 0.5,
        true if !asks_for_money && says_some(unit) => 0.0,
        true => 1.0,
    }
}

/// Whether the text may say how old something is: it has a word for an age, or a year.
fn says_age(plain: &str) -> bool {
    cues::split(&plain.to_lowercase()).any(|word| cues::holds(cues::AGES, word) || is_year(word))
}

/// Whether the unit, its headings or its path have a year, or it has a day of its own.
fn says_year(unit: &Unit) -> bool {
    let written = [unit.plain.as_str(), &unit.place.written];
    unit.date.is_some() || written.into_iter().flat_map(cues::split).any(is_year)
}

/// Whether the unit may hold a code or a number: it has digits or a numeral, or is code.
fn has_digits(unit: &Unit) -> bool {
    unit.form == Form::Code
        || unit.plain.contains(|c: char| c.is_ascii_digit())
        || cues::split(&unit.plain.to_lowercase()).any(cues::is_numeral)
}

/// Whether a word is a year of the last centuries.
fn is_year(word: &str) -> bool {
    word.len() == 4
        && word
            .parse()
            .is_ok_and(|year: u32| (1500..=2100).contains(&year))
}

/// Whether the unit has a word for an amount without a number.
fn says_some(unit: &Unit) -> bool {
    cues::split(&unit.plain.to_lowercase()).any(|word| cues::holds(cues::SOME, word))
}

/// Whether the unit says that a thing costs nothing.
fn says_free(unit: &Unit) -> bool {
    let lower = unit.plain.to_lowercase();
    cues::split(&lower).any(|word| cues::holds(cues::FREE_OF_CHARGE, word))
}

/// 1 when the unit is about another time or number than the question: its day is outside the
/// question's days; or a constraint of the question is not around it, but another of its kind is:
/// in the sentence, its lead-in, its headings and path, or otherwise in the running text of its
/// note above it, the nearest first.
fn time_mismatch(question: &ParsedQuestion, units: &[Unit], index: usize) -> f32 {
    let Some(unit) = units.get(index) else {
        return 0.0;
    };
    if let Some(period) = question.period {
        return match unit.date {
            Some(day) if period.holds(day) => 0.0,
            Some(_) => 1.0,
            None => 0.5,
        };
    }
    if question.constraints.is_empty() {
        return f32::from(u8::from(is_other_row(question, units, index)));
    }
    let lead = unit
        .lead
        .and_then(|lead| units.get(lead))
        .map_or("", |lead| &lead.plain);
    let above = units[..index]
        .iter()
        .rev()
        .take_while(|other| other.note == unit.note)
        .filter(|other| other.form == Form::Sentence)
        .map(|other| other.plain.clone());
    if is_other_row(question, units, index) {
        return 1.0;
    }
    let near = [unit.plain.as_str(), lead, &unit.place.written];
    f32::from(u8::from(constraints::contradict(
        &question.constraints,
        near,
        above,
    )))
}

/// Whether the question names another row of the unit's table by its first cell, and not this one.
fn is_other_row(question: &ParsedQuestion, units: &[Unit], index: usize) -> bool {
    let Some(unit) = units.get(index).filter(|u| u.form == Form::Row) else {
        return false;
    };
    let own = first_cell(unit);
    let is_row = |u: &&Unit| u.note == unit.note && u.outer == unit.outer;
    let before = units[..index].iter().rev().take_while(is_row);
    let others: Vec<String> = before
        .chain(units[index + 1..].iter().take_while(is_row))
        .filter(|u| u.form == Form::Row)
        .map(first_cell)
        .collect();
    question.terms.iter().any(|term| {
        let word = term.word.to_lowercase();
        !has_word(&own, &word)
            && covers(&unit.stems, term) == 0.0
            && others.iter().any(|other| has_word(other, &word))
    })
}

/// Whether the cell contains the word.
fn has_word(cell: &str, word: &str) -> bool {
    cues::split(cell).any(|w| w == word)
}

/// The first cell of a row in small letters.
fn first_cell(u: &Unit) -> String {
    u.plain.split('|').next().unwrap_or("").to_lowercase()
}

/// A question, an introduction or a courtesy answers nothing, and the verifier counts none of them
/// as a claim; a pointer answers little.
fn emptiness(unit: &Unit, leads: bool) -> f32 {
    let plain = unit.plain.trim_end();
    match unit.form {
        Form::Code | Form::Row | Form::Property => 0.0,
        Form::Item if leads && !leads_in(unit) => 0.1,
        _ if plain.ends_with(['?', '？']) || says_nothing_new(plain) => 1.0,
        _ if leads => 0.6,
        _ if unit.points_away => 0.3,
        _ if leads_in(unit) => 0.2,
        _ => 0.0,
    }
}

/// The lead-in of a unit: the header of its table, the sentence above its list.
fn lead_of<'u>(units: &'u [Unit], unit: &Unit) -> Option<&'u Unit> {
    unit.lead.and_then(|lead| units.get(lead))
}

/// Whether the unit contains the kind of thing the question asks for: 1, −1, or 0 when it asks for
/// no particular kind. `lead` is the unit's lead-in.
pub(super) fn answer_type(question: &ParsedQuestion, unit: &Unit, lead: Option<&Unit>) -> f32 {
    let Wants {
        time,
        number,
        price,
        extent,
        person,
        phone,
        email,
        reason,
        definition,
        ..
    } = question.wants;
    if phone || email {
        let there = phone && has_phone(&unit.plain) || email && unit.plain.contains('@');
        return if there { 1.0 } else { -1.0 };
    }
    if question.kind == QuestionKind::Definition && is_entry(question, unit) {
        return 2.0;
    }
    let asked = [
        (time, has_time(&unit.plain)),
        (
            (number || price) && !time && !extent,
            has_number(question, &unit.plain)
                && (!asks_for_money(question) || says_money(unit, lead)),
        ),
        (extent, has_extent(&unit.plain)),
        (person, has_name(question, &unit.plain)),
        (reason, has_reason(unit)),
        (
            definition || question.kind == QuestionKind::Definition,
            defines(question, unit),
        ),
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

/// Whether the question asks for an amount of money.
fn asks_for_money(question: &ParsedQuestion) -> bool {
    let wants = question.wants;
    wants.price || wants.number && cues::MONEY.are_in(&question.text.to_lowercase())
}

/// Whether a unit has a sign or word for money: in its own text, its lead-in, its headings or the
/// names of its note. A year or a width is no price.
fn says_money(unit: &Unit, lead: Option<&Unit>) -> bool {
    let lead = lead.map_or("", |lead| &lead.plain);
    let mut texts = [unit.plain.as_str(), lead, &unit.place.written].into_iter();
    texts.any(|text| {
        let lower = text.to_lowercase();
        let mut words = cues::split(&lower);
        has_money_mark(text)
            || cues::MONEY.are_in(&lower)
            || words.any(|word| {
                cues::holds(cues::CURRENCIES, word) || cues::holds(cues::MONEY_COLUMNS, word)
            })
    })
}

/// Whether the text has a number of at least seven digits, with any separators between them.
fn has_phone(plain: &str) -> bool {
    let may_be_in_one =
        |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '/' | '(' | ')' | '+' | '\u{a0}');
    let runs = plain.split(|c: char| !may_be_in_one(c));
    runs.filter(|run| calendar::all(run).is_empty())
        .any(|run| run.chars().filter(char::is_ascii_digit).count() >= 7)
}

/// Whether the unit is a glossary entry for the subject of the question: the text before its first
/// colon, dash or bar contains only words of the question.
pub(super) fn is_entry(question: &ParsedQuestion, unit: &Unit) -> bool {
    let head = unit
        .plain
        .split([':', '–', '—', '|', '：'])
        .next()
        .unwrap_or("");
    let verb = ["is", "are", "means", "ist", "sind", "bedeutet", "est", "es"];
    let words: Vec<&str> = head.split_whitespace().take(6).collect();
    let end = words
        .iter()
        .position(|w| verb.contains(w))
        .unwrap_or(words.len());
    let head = words[..end].join(" ");
    let stems = local_agent_index::lexical::terms(&head);
    let bounded = head.len() < unit.plain.trim().len();
    bounded && !stems.is_empty() && stems.iter().all(|stem| is_asked_or_article(question, stem))
}

/// Whether the word is in the question or is an article.
fn is_asked_or_article(question: &ParsedQuestion, stem: &String) -> bool {
    let mut terms = question.terms.iter();
    terms.any(|t| t.stem == *stem) || ["a", "an", "the"].contains(&stem.as_str())
}

fn has_time(plain: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    let year = plain.split(|c: char| !digit(c)).any(|d| d.len() == 4);
    let clock = plain.split(char::is_whitespace).any(|w| {
        w.split_once(':')
            .is_some_and(|(hour, minute)| hour.ends_with(digit) && minute.starts_with(digit))
    });
    // 3日 is a day; 一日に12個 has a number but no day.
    let counts = |c: char| digit(c) || ('０'..='９').contains(&c);
    let mut pairs = plain.chars().zip(plain.chars().skip(1));
    let unspaced = pairs.any(|(a, b)| counts(a) && matches!(b, '年' | '月' | '日' | '時' | '点'));
    year || clock
        || unspaced
        || plain.contains('曜')
        || cues::split(&plain.to_lowercase())
            .any(|w| cues::names_day(w) || (w.len() > 2 && cues::month(w).is_some()))
}

/// Whether the text has an amount with a unit of time or length, or a time in words.
fn has_extent(plain: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    let words: Vec<&str> = cues::split(plain).collect();
    words
        .windows(2)
        .any(|pair| ends_in_amount(pair[0]) && measures_extent(pair[1]))
        || words.iter().any(|word| {
            (word.starts_with(digit) && measures_extent(word.trim_start_matches(digit)))
                || cues::holds(cues::SPANS, &word.to_lowercase())
        })
}

/// Whether the word is or ends in a number.
fn ends_in_amount(word: &str) -> bool {
    word.ends_with(|c: char| c.is_ascii_digit()) || cues::is_numeral(&word.to_lowercase())
}

/// Whether the word is a unit of time or of length.
fn measures_extent(word: &str) -> bool {
    use local_agent_verify::UnitKind::{Calendar, Length, Time};
    local_agent_verify::unit(word).is_some_and(|of| {
        of.iter()
            .any(|(kind, _)| matches!(kind, Time | Calendar | Length))
    })
}

/// Whether the text has a number that is not in the question, is not the year or day of a date, and
/// is not an ordinal (`23rd`).
fn has_number(question: &ParsedQuestion, plain: &str) -> bool {
    let asked = |n: &str| question.terms.iter().any(|t| t.stem == n);
    let words: Vec<&str> = plain.split_whitespace().collect();
    let digits = words
        .iter()
        .enumerate()
        .filter(|(at, word)| !is_date(word, words.get(at + 1).copied()))
        .filter(|(at, word)| !is_ordinal(word) && !is_day_of_month(&words, *at))
        .flat_map(|(_, word)| word.split(|c: char| !c.is_ascii_digit()))
        .any(|d| !d.is_empty() && !asked(d));
    digits
        || plain.chars().any(|c| cues::COUNTING.contains(c))
        || cues::split(&plain.to_lowercase()).any(cues::is_numeral)
}

/// Whether `word` is a year (1900 to 2099) or a date in digits (`2026-10-14`, `14.10.2026`). A
/// price, or a number before a unit, is an amount.
fn is_date(word: &str, next: Option<&str>) -> bool {
    if has_money_mark(word) || next.is_some_and(is_measure) {
        return false;
    }
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let number = bare.parse::<u32>();
    let is_year = bare.len() == 4 && number.is_ok_and(|n| (1900..2100).contains(&n));
    is_year || !calendar::all(bare).is_empty()
}

/// Whether the word is an English ordinal in digits: `23rd`.
fn is_ordinal(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = bare.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &bare[digits.len()..];
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && ["st", "nd", "rd", "th"].contains(&ending)
}

/// Whether the word at `at` is a number up to 31 beside the name of a month: `3 July`, `July 3`.
fn is_day_of_month(words: &[&str], at: usize) -> bool {
    let bare = |at: usize| {
        let word = words.get(at)?;
        Some(word.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    let is_month = |word: &str| {
        word.chars().any(char::is_uppercase) && cues::month(&word.to_lowercase()).is_some()
    };
    let is_day = bare(at)
        .and_then(|word| word.parse().ok())
        .is_some_and(|day: u32| (1..=31).contains(&day));
    let is_label = |at: &usize| words.get(*at).is_some_and(|word| word.ends_with(':'));
    let before = at.checked_sub(1).filter(|at| !is_label(at)).and_then(bare);
    is_day && before.into_iter().chain(bare(at + 1)).any(is_month)
}

/// Whether the word contains a currency sign.
fn has_money_mark(word: &str) -> bool {
    word.contains(|c: char| cues::MONEY_MARKS.contains(c))
}

/// Whether the word is a unit or begins with a currency sign.
fn is_measure(word: &str) -> bool {
    let unit = word.trim_matches(|c: char| !c.is_alphanumeric());
    has_money_mark(word) || local_agent_verify::unit(unit).is_some()
}

/// Whether the text has a capitalised word that is not in the question. The first word of a
/// sentence is always capitalised; it counts only when the second is capitalised too.
fn has_name(question: &ParsedQuestion, plain: &str) -> bool {
    cues::split(plain)
        .skip(1)
        .any(|word| is_new_name(question, word))
}

/// Whether the word begins with a capital letter and the question does not contain it.
fn is_new_name(question: &ParsedQuestion, word: &str) -> bool {
    let stems = local_agent_index::lexical::terms(word);
    word.starts_with(char::is_uppercase)
        && !is_abbreviation(word)
        && !is_common_capital(&word.to_lowercase())
        && stems
            .iter()
            .all(|s| question.terms.iter().all(|t| t.stem != *s))
}

/// Whether a word is three capital letters or more: "DNF" is nobody.
fn is_abbreviation(word: &str) -> bool {
    word.len() >= 3 && word.chars().all(|c| c.is_ascii_uppercase())
}

/// Whether the text has a word with a capital letter that names nobody, except at its beginning.
fn has_common_capital(plain: &str) -> bool {
    cues::split(plain)
        .skip(1)
        .any(|word| word.starts_with(char::is_uppercase) && is_common_capital(&word.to_lowercase()))
}

/// Whether a word has a capital letter although it names nobody: days, months, feasts.
fn is_common_capital(lower: &str) -> bool {
    cues::month(lower).is_some() || cues::names_day(lower) || cues::holds(cues::NOT_NAMES, lower)
}

/// Whether the unit, or its heading, has a word for a cause.
pub(super) fn has_reason(unit: &Unit) -> bool {
    cues::says_why(&unit.plain.to_lowercase()) || cues::says_why(&unit.place.heading.to_lowercase())
}

/// Whether the unit begins with the subject of the question: in its first words, in its first cell,
/// or because it is the beginning of the note with that name.
fn defines(question: &ParsedQuestion, unit: &Unit) -> bool {
    let start: Vec<&str> = unit.plain.split_whitespace().take(3).collect();
    let stems = local_agent_index::lexical::terms(&start.join(" "));
    let mut terms = question.terms.iter().filter(|t| t.known);
    terms.any(|t| stems.contains(&t.stem))
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
    fn a_day_of_a_month_is_no_amount() {
        for text in ["out on 3 July, back on July 12", "arriving Friday the 23rd"] {
            let words: Vec<&str> = text.split_whitespace().collect();
            let is_day = |at| is_ordinal(words[at]) || is_day_of_month(&words, at);
            let has_digits = |at: &usize| words[*at].contains(|c: char| c.is_ascii_digit());
            assert!((0..words.len()).filter(has_digits).all(is_day), "{text}");
        }
        for text in [
            "40 euros in July",
            "12 apples",
            "we may take 3",
            "July: 12 guests",
        ] {
            let words: Vec<&str> = text.split_whitespace().collect();
            let is_day = |at| is_ordinal(words[at]) || is_day_of_month(&words, at);
            assert!(!(0..words.len()).any(is_day), "{text}");
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

    #[test]
    fn a_slip_of_the_pen_is_one_letter() {
        for (a, b) in [
            ("recieve", "receive"),
            ("humidty", "humidity"),
            ("sabine", "sabina"),
        ] {
            assert!(differs_in_one(a, b) && differs_in_one(b, a), "{a} {b}");
        }
        for (a, b) in [("mara", "mari"), ("april", "apples"), ("12345", "12346")] {
            assert!(!differs_in_one(a, b), "{a} {b}");
        }
    }
}
