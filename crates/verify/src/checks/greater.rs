//! L4: a computed difference or change also says which of its two amounts is the greater one: "9 kg less
//! than the year before", "grew by 25". It is derived only if the two amounts show that.

use std::collections::HashSet;
use std::ops::Range;

use super::column_units::head_range;
use super::derive::ClaimNumber;
use super::things::{own_column, thing_in_its_clause};
use super::{Case, Effect, arithmetic};
use crate::Code;
use crate::atoms::{Atom, Date, Number, What};
use crate::derivation::{Derivation, Operation};
use crate::reading::Reading;
use crate::text::Token;

/// What the two amounts of a computed number show about the direction that the claim gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The claim gives none.
    Unsaid,
    /// It is that of the claim.
    Shown,
    /// It is the opposite.
    Turned,
    /// Nothing shows which amount the claim means first.
    Open,
}

/// How a claim words the direction of a difference or a change.
struct Wording {
    is_more: bool,
    /// Whether a verb or noun of change says it: "rose by 9".
    is_change: bool,
    /// Where the amount of the thing may stand that is said to be greater or smaller, and that of the
    /// other one.
    first: Vec<Range<usize>>,
    second: Vec<Range<usize>>,
    /// The words of the first one: those of its clause, if that has any.
    words: Vec<Range<usize>>,
}

/// Maximum number of words from a difference to the word of its direction, before and behind it.
const NEAR_BEFORE: usize = 3;
const NEAR_BEHIND: usize = 4;

/// Maximum number of words from a difference to what it is compared with.
const NEAR: usize = 24;

/// Maximum number of places of one amount in the cited text.
const MOST_PLACES: usize = 4;

const RISING: &[&str] = list!("compared.rising");
const FALLING: &[&str] = list!("compared.falling");
const FROM: &[&str] = list!("compared.from");
const TO: &[&str] = list!("compared.to");
const SECOND: &[&str] = list!("compared.second");

/// Whether the direction of a computed number is that of its amounts.
pub(super) fn direction(
    case: &Case<'_>,
    result: ClaimNumber<'_>,
    derivation: &Derivation,
) -> Direction {
    match (derivation.operation, derivation.from.as_slice()) {
        (Operation::Difference, [x, y]) => of_amounts(case, result, [x, y]),
        // One amount without two others.
        (Operation::Difference, _) if wording(case.claim, result).is_some() => Direction::Open,
        _ => Direction::Unsaid,
    }
}

/// Whether the direction of a number that is computed from these two amounts, as shown, is theirs.
pub(super) fn of_amounts(case: &Case<'_>, result: ClaimNumber<'_>, from: [&str; 2]) -> Direction {
    let Some(wording) = wording(case.claim, result) else {
        return Direction::Unsaid;
    };
    let [xs, ys] = from.map(|shown| places(case, result, shown));
    let mut pairs = xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y)));
    let has_one_place = pairs.any(|(x, y)| are_in_one_sentence(x, y));
    let mut found = Direction::Open;
    for x in &xs {
        for y in &ys {
            if has_one_place && !are_in_one_sentence(x, y) {
                continue;
            }
            let Some(is_greater) = is_greater(x, y) else {
                continue;
            };
            let Some(is_first) = is_first(case.claim, &wording, x, y) else {
                continue;
            };
            // The one that is meant is the greater one, or it is not.
            if (is_first == is_greater) == wording.is_more {
                return Direction::Shown;
            }
            found = Direction::Turned;
        }
    }
    found
}

/// Whether a percentage is said to be a growth or a decline, and which.
pub(super) fn change(claim: &Reading, result: ClaimNumber<'_>) -> Option<bool> {
    wording(claim, result).map(|wording| wording.is_more)
}

/// The doubt about a computed number whose direction is not that of its amounts, or is not shown.
pub(super) fn doubt(
    case: &Case<'_>,
    result: ClaimNumber<'_>,
    derivation: &Derivation,
) -> Option<(Effect, Code, String)> {
    let [x, y] = derivation.from.as_slice() else {
        return None;
    };
    let why = match direction(case, result, derivation) {
        Direction::Unsaid | Direction::Shown => return None,
        Direction::Turned => super::compared::turned(x, y),
        Direction::Open => {
            let shown = case.claim.shown_amount(result.atom);
            format!(
                "“{shown}” may be computed from “{x}” and “{y}”, but it is open which of them is the greater one."
            )
        }
    };
    Some((Effect::Doubts, Code::Number, why))
}

/// The words by which a claim says that an amount is so much more or less.
fn wording(claim: &Reading, result: ClaimNumber<'_>) -> Option<Wording> {
    let tokens = claim.text.tokens.as_slice();
    let at = &result.atom.tokens;
    let (is_more, is_change) = beside(claim, at)?;
    let is_second = |t: &Token| SECOND.contains(&&*claim.lower_word(t));
    let last = at.end.saturating_add(NEAR).min(tokens.len());
    let behind = tokens.get(at.end..last)?.iter().position(is_second);
    let (first, second) = match behind {
        Some(than) => {
            let than = at.end + than;
            (vec![0..at.start, at.end..than], only(than + 1..last))
        }
        None => match above_or_below(claim, tokens.get(at.end)) {
            true => (only(0..at.start), only(at.end + 1..last)),
            false => before_a_difference(claim, at, is_second),
        },
    };
    let from = clause_start(claim, at);
    let words = first.iter().map(|range| match range.end == at.start {
        true => range.start.max(from)..range.end,
        false => range.clone(),
    });
    Some(Wording {
        is_more,
        is_change,
        words: words.collect(),
        first,
        second,
    })
}

/// One range of words.
fn only(words: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(words).collect()
}

/// Where the clause of a difference begins, if words with content stand in it before the difference;
/// otherwise where the claim begins.
fn clause_start(claim: &Reading, at: &Range<usize>) -> usize {
    let tokens = claim.text.tokens.as_slice();
    let before = tokens.get(..at.start).unwrap_or(&[]);
    let clause = tokens.get(at.start).map_or(0, |t| t.clause);
    let own = before.iter().rev().take_while(|t| t.clause == clause);
    let start = at.start - own.clone().count();
    let has_words = own.clone().any(|t| t.is_content() && !t.number);
    if has_words { start } else { 0 }
}

/// The words of both things if what a difference is compared with stands before it, or nowhere:
/// "Compared with 2019, it has 25 members more".
fn before_a_difference(
    claim: &Reading,
    at: &Range<usize>,
    is_second: impl Fn(&Token) -> bool,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let tokens = claim.text.tokens.as_slice();
    let end = at.end.saturating_add(NEAR).min(tokens.len());
    let before = tokens.get(..at.start).unwrap_or(&[]);
    let Some(than) = before.iter().rposition(is_second) else {
        return (vec![0..at.start, at.end..end], Vec::new());
    };
    let comma = before.iter().enumerate().skip(than + 1).find(|(n, t)| {
        let last = tokens.get(n - 1).map_or(0, |last| last.end);
        claim
            .normal
            .get(last..t.start)
            .is_some_and(|gap| gap.contains(','))
    });
    match comma {
        Some((comma, _)) => (
            vec![0..than, comma..at.start, at.end..end],
            only(than + 1..comma),
        ),
        None => (only(0..at.start), Vec::new()),
    }
}

/// Whether the words beside a difference say "more" or "less", and whether they are words of a change.
fn beside(claim: &Reading, at: &Range<usize>) -> Option<(bool, bool)> {
    const MORE: &[&str] = list!("compared.more");
    const LESS: &[&str] = list!("compared.less");
    const ABOVE: &[&str] = list!("compared.above");
    const BELOW: &[&str] = list!("compared.below");
    const GAINS: &[&str] = list!("compared.gains");
    const LOSSES: &[&str] = list!("compared.losses");
    const BETWEEN: &[&str] = list!("compared.between");
    let tokens = claim.text.tokens.as_slice();
    let clause = tokens.get(at.start)?.clause;
    let side = |t: &Token| {
        let word = claim.lower_word(t);
        let is_in = |list: &[&str]| list.contains(&&*word);
        match (
            is_in(RISING) || is_in(GAINS),
            is_in(FALLING) || is_in(LOSSES),
        ) {
            (true, false) => Some((true, true)),
            (false, true) => Some((false, true)),
            _ if is_in(MORE) => Some((true, false)),
            _ if is_in(LESS) => Some((false, false)),
            _ => None,
        }
    };
    let next = tokens.get(at.end).map(|t| claim.lower_word(t));
    if let Some(word) = next.filter(|word| ABOVE.contains(&&**word) || BELOW.contains(&&**word)) {
        return Some((ABOVE.contains(&&*word), false));
    }
    let mut behind = tokens.iter().skip(at.end).take(NEAR_BEHIND);
    let found = behind.find_map(|t| side(t).filter(|_| t.clause == clause && !t.number));
    found.or_else(|| {
        let before = tokens.get(..at.start)?;
        let near = before.iter().rev().take(NEAR_BEFORE);
        let skipped = |t: &&Token| BETWEEN.contains(&&*claim.lower_word(t));
        let word = near.clone().find(|t| !skipped(t))?;
        side(word).filter(|(_, is_change)| *is_change && word.clause == clause)
    })
}

/// Whether "above" or "below" is directly behind a difference.
fn above_or_below(claim: &Reading, next: Option<&Token>) -> bool {
    const ABOVE: &[&str] = list!("compared.above");
    const BELOW: &[&str] = list!("compared.below");
    let word = next.map(|t| claim.lower_word(t));
    word.is_some_and(|word| ABOVE.contains(&&*word) || BELOW.contains(&&*word))
}

/// An amount of the cited text, the claim, or both.
struct AmountPlace<'t> {
    number: Number,
    /// Where the cited text has it.
    cited: Option<(&'t Reading, &'t Atom)>,
    /// Where the claim has it.
    claimed: Option<Range<usize>>,
}

/// Whether the cited text has both amounts in one sentence or row.
fn are_in_one_sentence(x: &AmountPlace<'_>, y: &AmountPlace<'_>) -> bool {
    let (Some((of_x, x)), Some((of_y, y))) = (x.cited, y.cited) else {
        return false;
    };
    std::ptr::eq(of_x, of_y) && of_x.sentence_of(x.tokens.start) == of_y.sentence_of(y.tokens.start)
}

/// Where an amount stands that is shown in this way.
fn places<'t>(case: &Case<'t>, result: ClaimNumber<'_>, shown: &str) -> Vec<AmountPlace<'t>> {
    let own = case.claim.atoms.iter();
    let own = own.filter(|atom| atom.bytes != result.atom.bytes);
    let own = own.filter_map(|atom| Some((atom, number(atom)?)));
    let own: Vec<(&Atom, &Number)> = own.collect();
    let cited = case.cited.iter().flat_map(|source| {
        let atoms = source.reading.atoms.iter();
        atoms.map(|atom| (source.reading, atom))
    });
    let cited = cited.filter(|(reading, atom)| reading.shown_amount(atom) == shown);
    let cited = cited.filter_map(|(reading, atom)| {
        let n = number(atom)?;
        let mut own = own.iter();
        let claimed = own.find(|(_, m)| super::numbers::equal(m, n, reading));
        Some(AmountPlace {
            number: *n,
            cited: Some((reading, atom)),
            claimed: claimed.map(|(atom, _)| atom.tokens.clone()),
        })
    });
    let mut found: Vec<AmountPlace<'t>> = cited.take(MOST_PLACES).collect();
    if found.is_empty() {
        let mut own = own.iter();
        let own = own.find(|(atom, _)| case.claim.shown_amount(atom) == shown);
        found.extend(own.map(|(atom, n)| AmountPlace {
            number: **n,
            cited: None,
            claimed: Some(atom.tokens.clone()),
        }));
    }
    found
}

fn number(atom: &Atom) -> Option<&Number> {
    match &atom.what {
        What::Number(n) if !n.ordinal => Some(n),
        _ => None,
    }
}

/// Whether the first amount is the greater one. An amount without a unit has that of the other.
fn is_greater(x: &AmountPlace<'_>, y: &AmountPlace<'_>) -> Option<bool> {
    let (x, y) = (&x.number, &y.number);
    let other = match (x.unit, y.unit) {
        (Some(_), Some(_)) => arithmetic::in_unit_of(x, y)?,
        _ => y.value,
    };
    Some(x.value > other)
}

/// Whether the claim is about the first amount and compares it with the second one.
fn is_first(
    claim: &Reading,
    wording: &Wording,
    x: &AmountPlace<'_>,
    y: &AmountPlace<'_>,
) -> Option<bool> {
    let [mut for_first, mut for_second] = by_place(claim, wording, x, y);
    let both = [
        by_words(claim, wording, x, y),
        by_time(claim, wording, x, y),
    ];
    for [first, second] in both {
        for_first += first;
        for_second += second;
    }
    match for_first.cmp(&for_second) {
        std::cmp::Ordering::Greater => (for_first >= 2 * for_second).then_some(true),
        std::cmp::Ordering::Less => (for_second >= 2 * for_first).then_some(false),
        std::cmp::Ordering::Equal => None,
    }
}

/// The weight of a sure sign, and of a good one.
const SURE: usize = 4;
const GOOD: usize = 2;

/// The signs that the first amount is meant first, and that the second one is, by where the claim has
/// them: "31 kg, 9 kg less", "25 more, from 40 to 65".
fn by_place(
    claim: &Reading,
    wording: &Wording,
    x: &AmountPlace<'_>,
    y: &AmountPlace<'_>,
) -> [usize; 2] {
    let sides = [x, y].map(|place| side_in_claim(claim, wording, place));
    // Two amounts of one side are told apart by nothing.
    match sides {
        [Some(x), Some(y)] if x == y => [0, 0],
        [Some(true), _] | [_, Some(false)] => [SURE, 0],
        [Some(false), _] | [_, Some(true)] => [0, SURE],
        [None, None] => [0, 0],
    }
}

/// Whether the claim has an amount as the one that is meant first, or as the one it is compared with.
fn side_in_claim(claim: &Reading, wording: &Wording, place: &AmountPlace<'_>) -> Option<bool> {
    let at = place.claimed.as_ref()?;
    let before = at.start.checked_sub(1);
    let before = before.and_then(|n| claim.text.tokens.get(n));
    let is = |list: &[&str]| before.is_some_and(|t| list.contains(&&*claim.lower_word(t)));
    // "A harvest of 31 kg" and "eine Ernte von 31 kg" are no beginning.
    if wording.is_change || has_both_ends(claim) {
        if is(TO) {
            return Some(true);
        }
        if is(FROM) {
            return Some(false);
        }
    }
    let is_in = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.contains(&at.start));
    match (is_in(&wording.first), is_in(&wording.second)) {
        (true, false) if !wording.is_change => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Whether a claim has an amount behind "from" and another one behind "to".
fn has_both_ends(claim: &Reading) -> bool {
    let mut is_before = [false; 2];
    for atom in claim.atoms.iter().filter(|atom| number(atom).is_some()) {
        let before = atom.tokens.start.checked_sub(1);
        let word = before.and_then(|n| claim.text.tokens.get(n));
        let word = word.map(|t| claim.lower_word(t));
        is_before[0] |= word.as_ref().is_some_and(|word| FROM.contains(&&**word));
        is_before[1] |= word.as_ref().is_some_and(|word| TO.contains(&&**word));
    }
    is_before == [true; 2]
}

/// The same by the words and dates that each amount has in the cited text.
fn by_words(
    claim: &Reading,
    wording: &Wording,
    x: &AmountPlace<'_>,
    y: &AmountPlace<'_>,
) -> [usize; 2] {
    let (Some(first), Some(second)) = (x.cited, y.cited) else {
        return [0, 0];
    };
    let [xs, ys] = [first, second].map(|(reading, atom)| words_of(reading, atom));
    let [firsts, seconds] = [&wording.words, &wording.second].map(|ranges| words_in(claim, ranges));
    let shared =
        |own: &[(u32, bool)], other: &[(u32, bool)], said: &HashSet<u32>, not: &HashSet<u32>| {
            let own = own
                .iter()
                .filter(|(id, _)| !other.iter().any(|(o, _)| o == id));
            let own = own.filter(|(id, _)| said.contains(id) && !not.contains(id));
            own.map(|(_, has_opposite)| if *has_opposite { GOOD + 1 } else { 1 })
                .sum::<usize>()
        };
    let [x_date, y_date] = [first, second].map(|(reading, atom)| date_of(reading, atom));
    let dated = |date: Option<&Date>, other: Option<&Date>, ranges: &[Range<usize>]| {
        let is_said = |date: &Date| dates_in(claim, ranges).any(|own| own.is_part_of(date));
        let told_apart = date.is_some_and(is_said) && !other.is_some_and(is_said);
        if told_apart { SURE } else { 0 }
    };
    // Between "2019" and "2023" nothing is first.
    let [on_x, on_y] = [(x_date, y_date), (y_date, x_date)].map(|(own, other)| {
        let for_own = dated(own, other, &wording.words);
        [for_own, dated(own, other, &wording.second)]
    });
    [
        shared(&xs, &ys, &firsts, &seconds)
            + shared(&ys, &xs, &seconds, &firsts)
            + on_x[0].max(on_y[1]),
        shared(&ys, &xs, &firsts, &seconds)
            + shared(&xs, &ys, &seconds, &firsts)
            + on_y[0].max(on_x[1]),
    ]
}

/// The same by time, if the claim tells of a change, or compares with an earlier time: what is later is
/// meant first.
fn by_time(
    claim: &Reading,
    wording: &Wording,
    x: &AmountPlace<'_>,
    y: &AmountPlace<'_>,
) -> [usize; 2] {
    const FORMER: &[&str] = list!("compared.former");
    let (Some(first), Some(second)) = (x.cited, y.cited) else {
        return [0, 0];
    };
    let is_former = |reading: &Reading, t: &Token| FORMER.contains(&&*reading.lower_word(t));
    let seconds = wording.second.iter();
    let mut seconds = seconds.filter_map(|range| claim.text.tokens.get(range.clone()));
    let with_former = seconds.any(|tokens| tokens.iter().any(|t| is_former(claim, t)));
    let begins_alone = wording.is_change && wording.second.is_empty();
    if !with_former && !begins_alone {
        return [0, 0];
    }
    if let [Some(x), Some(y)] = [first, second].map(|(reading, atom)| date_of(reading, atom))
        && let Some(is_later) = is_later(x, y)
    {
        return if is_later { [SURE, 0] } else { [0, SURE] };
    }
    // "It went from 40 to 65".
    let is_behind = |(reading, atom): (&Reading, &Atom), list: &[&str]| {
        let before = atom.tokens.start.checked_sub(1);
        let before = before.and_then(|at| reading.text.tokens.get(at));
        before.is_some_and(|t| list.contains(&&*reading.lower_word(t)))
    };
    if is_behind(first, TO) && is_behind(second, FROM) {
        return [SURE, 0];
    }
    if is_behind(first, FROM) && is_behind(second, TO) {
        return [0, SURE];
    }
    let former = [first, second].map(|(reading, atom)| {
        let own = thing_in_its_clause(reading, atom);
        own.into_iter().any(|t| is_former(reading, t))
    });
    match former {
        [false, true] => [GOOD, 0],
        [true, false] => [0, GOOD],
        _ => [0, 0],
    }
}

/// Whether a date is after another one, if they differ.
fn is_later(x: &Date, y: &Date) -> Option<bool> {
    match (x.year, y.year) {
        (Some(x), Some(y)) if x != y => Some(x > y),
        _ => {
            let days = x.days_after(y)?;
            (days != 0.0).then_some(days > 0.0)
        }
    }
}

/// The stems of what an amount belongs to, and whether each has an opposite.
fn words_of(reading: &Reading, atom: &Atom) -> Vec<(u32, bool)> {
    let own = thing_in_its_clause(reading, atom);
    let above = own_column(reading, atom);
    let words = own.into_iter().chain(above);
    let words = words.filter(|t| t.is_content() && !t.number);
    words.map(|t| (t.id, !t.pairs().is_empty())).collect()
}

fn words_in(claim: &Reading, ranges: &[Range<usize>]) -> HashSet<u32> {
    let tokens = ranges
        .iter()
        .filter_map(|range| claim.text.tokens.get(range.clone()));
    let words = tokens.flatten().filter(|t| t.is_content() && !t.number);
    words.map(|t| t.id).collect()
}

fn dates_in<'c>(claim: &'c Reading, ranges: &[Range<usize>]) -> impl Iterator<Item = &'c Date> {
    claim.atoms.iter().filter_map(move |atom| match &atom.what {
        What::Date(date)
            if ranges
                .iter()
                .any(|range| range.contains(&atom.tokens.start)) =>
        {
            Some(date)
        }
        _ => None,
    })
}

/// The date of an amount: that in the head of its column, the one right behind it or right before it in its clause, or the only one of
/// its sentence.
fn date_of<'t>(reading: &'t Reading, atom: &Atom) -> Option<&'t Date> {
    const RIGHT_BEHIND: usize = 2;
    let date = |atom: &'t Atom| match &atom.what {
        What::Date(date) => Some(date),
        _ => None,
    };
    if let Some(head) = head_range(reading, atom) {
        let mut above = reading
            .atoms
            .iter()
            .filter(|other| head.start <= other.bytes.start && other.bytes.end <= head.end);
        if let Some(date) = above.find_map(date) {
            return Some(date);
        }
    }
    let clause = |at: usize| reading.text.tokens.get(at).map(|t| t.clause);
    let is_beside = |other: &&Atom| clause(other.tokens.start) == clause(atom.tokens.start);
    let own = reading.atoms_of(reading.sentence_of(atom.tokens.start));
    let at = own.partition_point(|other| other.tokens.start < atom.tokens.start);
    let next = own.get(at + 1).filter(is_beside);
    let next = next.filter(|next| next.tokens.start <= atom.tokens.end + RIGHT_BEHIND);
    let last = at.checked_sub(1).and_then(|last| own.get(last));
    let last = last.filter(is_beside);
    next.and_then(date)
        .or_else(|| last.and_then(date))
        .or_else(|| {
            let mut dates = own.iter().filter_map(date);
            dates.next().filter(|_| dates.next().is_none())
        })
}
