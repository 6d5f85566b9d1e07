//! The days between the dates of two things.

use std::collections::{BTreeSet, HashSet};

use super::calendar::{Day, dated_tokens, tokens};
use super::cues;
use super::passage::{self, Passage};
use super::question::{Operation, ParsedQuestion};
use super::rank::Ranked;
use super::score::{self, Credits};
use super::totals::{Computed, days_of};
use local_agent_index::lexical;

/// The days between the dates of the two things in question; `None` unless each has exactly one
/// date.
pub(super) fn between(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let things = TwoThings::of(&ranked.question)?;
    let own = |credits: &Credits| literal(&credits.own);
    let all = |credits: &Credits| credits.all.clone();
    let stated = things.dates(ranked, own)?;
    let around = things.dates(ranked, all).unwrap_or_default();
    let (one, a) = stated
        .first
        .one()
        .or_else(|| around.first.one_if_none(&stated.first))?;
    let (two, b) = stated
        .second
        .one()
        .or_else(|| around.second.one_if_none(&stated.second))?;
    let (from, to) = if a <= b { (a, b) } else { (b, a) };
    let mut passages = vec![passage::around(ranked.found, one)?];
    if one != two {
        passages.extend(passage::around(ranked.found, two));
    }
    let notes: HashSet<usize> = passages.iter().map(|p| p.note).collect();
    let computed = Computed {
        operation: Operation::Days,
        value: days_of(to.number() - from.number()),
        arithmetic: format!("from {from} to {to}"),
        count: 2,
        notes: notes.len(),
    };
    Some((computed, passages))
}

/// Whether the question asks for the days from one thing to another, and not from today on.
pub(super) fn names_two_things(question: &ParsedQuestion) -> bool {
    TwoThings::of(question).is_some()
}

/// The words of the question that name each of two things. Words of both are in neither list.
struct TwoThings {
    first: Vec<usize>,
    second: Vec<usize>,
    /// Words that both things have: "Falcon" in "between the kickoff and the launch of Falcon".
    shared: Vec<usize>,
}

/// The dates of one thing, each with its unit.
#[derive(Default)]
struct ThingDates(Vec<(usize, Day)>);

impl ThingDates {
    /// The date, if there is only one.
    fn one(&self) -> Option<(usize, Day)> {
        let days: BTreeSet<Day> = self.0.iter().map(|(_, day)| *day).collect();
        let first = self.0.first().copied();
        first.filter(|_| days.len() == 1)
    }

    /// The date, if there is only one and `better` has none.
    fn one_if_none(&self, better: &Self) -> Option<(usize, Day)> {
        better.0.is_empty().then(|| self.one()).flatten()
    }
}

/// The dates of two things.
#[derive(Default)]
struct DatesOfTwo {
    first: ThingDates,
    second: ThingDates,
}

impl TwoThings {
    /// The things of "between … and …" or "from … to …"; `None` if the question has no such words,
    /// or the things have no words of their own.
    fn of(question: &ParsedQuestion) -> Option<Self> {
        let lower = question.text.to_lowercase();
        let words: Vec<&str> = cues::split(&lower).collect();
        let find = |from: usize, list: &'static str| {
            let rest = words.get(from..)?;
            let at = rest.iter().position(|word| cues::holds(list, word))?;
            Some(from + at)
        };
        let (start, middle) = match find(0, cues::RANGE_BETWEEN) {
            Some(start) => (start, find(start + 1, cues::RANGE_AND)?),
            None => {
                let start = find(0, cues::RANGE_FROM)?;
                let is_until = find(0, cues::RANGE_TO).is_some_and(|until| until < start);
                let end = find(start + 1, cues::RANGE_TO).filter(|_| !is_until)?;
                (start, end)
            }
        };
        let first = words.get(start + 1..middle)?;
        let second = words.get(middle + 1..)?;
        let belongs = |word: &str| cues::holds(cues::BELONGS_TO, word);
        // "Of Falcon" behind the second thing is said of both.
        let end = match first.iter().any(|word| belongs(word)) {
            true => second.len(),
            false => second
                .iter()
                .position(|word| belongs(word))
                .unwrap_or(second.len()),
        };
        let (second, both) = second.split_at(end);
        let of = |part: &[&str]| -> Vec<usize> {
            let terms = question.terms.iter().enumerate();
            terms
                .filter(|(_, t)| part.contains(&t.word.to_lowercase().as_str()))
                .map(|(at, _)| at)
                .collect()
        };
        let (one, two, mut shared) = (of(first), of(second), of(both));
        shared.extend(one.iter().filter(|at| two.contains(at)));
        let things = Self {
            first: without(&one, &shared),
            second: without(&two, &shared),
            shared,
        };
        (!things.first.is_empty() && !things.second.is_empty()).then_some(things)
    }

    /// The dates that units give the things, where `credits` says which words a unit has. `None` if
    /// a unit has both things, and dates of which it is not clear whose they are.
    fn dates(
        &self,
        ranked: &Ranked<'_>,
        credits: impl Fn(&Credits) -> Vec<f32>,
    ) -> Option<DatesOfTwo> {
        let mut out = DatesOfTwo::default();
        for candidate in &ranked.order {
            let written = Credits::of(&ranked.question, ranked.found.units, candidate.index);
            if candidate.features.unknown_name > 0.0 || !has(&written.all, &self.shared) {
                continue;
            }
            let credits = credits(&written);
            let has_first = has(&credits, &self.first);
            let has_second = has(&credits, &self.second);
            if !has_first && !has_second {
                continue;
            }
            let unit = ranked.unit(candidate.index)?;
            let lower = unit.plain.to_lowercase();
            let tokens = tokens(&lower);
            let dates = dated_tokens(&tokens);
            if dates.is_empty() {
                continue;
            }
            if has_first && has_second {
                let (a, b) = self.apart(&ranked.question, &tokens)?;
                out.first.0.push((candidate.index, a));
                out.second.0.push((candidate.index, b));
                continue;
            }
            let of = if has_first {
                &mut out.first
            } else {
                &mut out.second
            };
            let full = dates.iter().filter(|(_, day)| day.day > 0);
            of.0.extend(full.map(|(_, day)| (candidate.index, *day)));
        }
        Some(out)
    }

    /// The dates of the two things in one text: each stands behind the words of one thing, or each
    /// before them.
    fn apart(&self, question: &ParsedQuestion, tokens: &[&str]) -> Option<(Day, Day)> {
        let dates = dated_tokens(tokens);
        let [(one, a), (two, b)] = dates.as_slice() else {
            return None;
        };
        if a.day == 0 || b.day == 0 {
            return None;
        }
        let whose = |words: Option<&[&str]>| self.whose(question, words.unwrap_or(&[]));
        let front = whose(tokens.get(..one.start));
        let middle = whose(tokens.get(one.end..two.start));
        let back = whose(tokens.get(two.end..));
        match (front, middle, back) {
            (NamedThing::First, NamedThing::Second, NamedThing::Neither)
            | (NamedThing::Neither, NamedThing::First, NamedThing::Second) => Some((*a, *b)),
            (NamedThing::Second, NamedThing::First, NamedThing::Neither)
            | (NamedThing::Neither, NamedThing::Second, NamedThing::First) => Some((*b, *a)),
            _ => None,
        }
    }

    /// Which of the things the words name.
    fn whose(&self, question: &ParsedQuestion, words: &[&str]) -> NamedThing {
        let stems: HashSet<String> = lexical::terms(&words.join(" ")).into_iter().collect();
        let terms = question.terms.iter();
        let credits: Vec<f32> = terms.map(|t| score::covers(&stems, t)).collect();
        let credits = literal(&credits);
        let none = |terms: &[usize]| !terms.iter().any(|at| is_credited(&credits, *at));
        match (has(&credits, &self.first), has(&credits, &self.second)) {
            (true, false) if none(&self.second) => NamedThing::First,
            (false, true) if none(&self.first) => NamedThing::Second,
            (false, false) if none(&self.first) && none(&self.second) => NamedThing::Neither,
            _ => NamedThing::Unclear,
        }
    }
}

/// Which of two things some words name.
enum NamedThing {
    First,
    Second,
    Neither,
    Unclear,
}

/// The credits without those for synonyms: a kickoff is not the launch that it is told from.
fn literal(credits: &[f32]) -> Vec<f32> {
    let kept = |credit: &f32| {
        if *credit >= score::RELATED {
            *credit
        } else {
            0.0
        }
    };
    credits.iter().map(kept).collect()
}

/// Whether all of these words have a credit.
fn has(credits: &[f32], terms: &[usize]) -> bool {
    terms.iter().all(|at| is_credited(credits, *at))
}

fn is_credited(credits: &[f32], at: usize) -> bool {
    credits.get(at).is_some_and(|credit| *credit > 0.0)
}

/// The words that are not in the other list.
fn without(terms: &[usize], others: &[usize]) -> Vec<usize> {
    let own = terms.iter().filter(|at| !others.contains(at));
    own.copied().collect()
}
