//! L4: a value of a list of "label: value" belongs to its own label: "- Baguette: 2 h" and "- Brioche:
//! 4 h" do not support "A baguette takes 4 h".

use std::ops::Range;

use super::affinity::label_end;
use super::negation::is_than;
use super::passages::Passages;
use super::referent::{Thing, things};
use super::things::computes;
use super::{Case, Effect, Source};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::Token;

use local_agent_text::markdown::BlockRole;

/// Maximum number of words of an item with a label and a value, and of items of a list on each side of
/// one.
const LONGEST: usize = 16;
const MOST_ITEMS: usize = 64;

/// Maximum number of values of a claim that are looked up, and of lists with one value.
const MOST_VALUES: usize = 8;
const MOST_LISTS: usize = 8;

/// One item of a list.
struct LabelledItem<'r> {
    /// The stems of its label.
    label: Vec<u32>,
    /// Its numbers and dates with their tokens.
    values: Vec<&'r (Range<usize>, Thing)>,
    sentence: usize,
}

/// Items that follow each other.
type List<'r> = Vec<LabelledItem<'r>>;

/// The value of another label, as the objection shows it.
struct OtherLabel<'c> {
    /// The word of the claim that names the label.
    word: &'c Token,
    /// The tokens of the value of that label.
    value: Range<usize>,
    sentence: usize,
}

/// The doubt about a value that the cited list gives to another label than the claim does.
pub(super) fn check(case: &Case<'_>, _: &Passages<'_>) -> Option<Objection> {
    if compares(case.claim) {
        return None;
    }
    let values = values(case.claim).into_iter();
    let mut unexplained = values
        .filter(|(at, _)| !case.claim.is_explained(at.start))
        .take(MOST_VALUES);
    unexplained.find_map(|value| of_another_label(case, value))
}

/// The doubt about one value of the claim. The value must be in items of lists alone, wherever the
/// cited text has it.
fn of_another_label(case: &Case<'_>, value: &(Range<usize>, Thing)) -> Option<Objection> {
    let lists: Vec<Vec<List<'_>>> = case
        .cited
        .iter()
        .map(|source| lists_with(source.reading, &value.1))
        .collect::<Option<_>>()?;
    let mut cited = case.cited.iter().zip(&lists);
    cited.find_map(|(source, lists)| objection(case.claim, source, lists, value))
}

/// The lists of a text that have a value, each once; `None` if the value is somewhere else too.
fn lists_with<'r>(reading: &'r Reading, value: &Thing) -> Option<Vec<List<'r>>> {
    let values = values(reading);
    let mut lists: Vec<List<'r>> = Vec::new();
    for (at, _) in values.iter().filter(|(_, own)| own.same(value)) {
        let sentence = reading.sentence_of(at.start);
        let is_known = |list: &List<'_>| list.iter().any(|item| item.sentence == sentence);
        if lists.iter().any(is_known) {
            continue;
        }
        labelled_item(reading, &values, sentence)?;
        if lists.len() < MOST_LISTS {
            lists.push(list_around(reading, &values, sentence));
        }
    }
    Some(lists)
}

/// The items before and behind a sentence that follow each other without another sentence.
fn list_around<'r>(
    reading: &'r Reading,
    values: &[&'r (Range<usize>, Thing)],
    sentence: usize,
) -> List<'r> {
    let item = |n: usize| labelled_item(reading, values, n);
    let mut list: List<'r> = (0..sentence)
        .rev()
        .map_while(item)
        .take(MOST_ITEMS)
        .collect();
    list.reverse();
    list.extend((sentence..).map_while(item).take(MOST_ITEMS));
    list
}

/// Whether the claim compares, computes, denies or speaks of the rest: then it may name two labels and
/// one value.
fn compares(claim: &Reading) -> bool {
    let mut tokens = claim.text.tokens.iter();
    computes(claim) || tokens.any(|t| t.negates() || t.does(Role::Excepting) || is_than(claim, t))
}

/// The numbers and dates of a text with their tokens, in order.
fn values(reading: &Reading) -> Vec<&(Range<usize>, Thing)> {
    let things = things(reading).iter();
    things
        .filter(|(_, thing)| !matches!(thing, Thing::Name(_)))
        .collect()
}

/// The objection to a value of the claim, if the lists of the source that have it give it to another
/// label.
fn objection(
    claim: &Reading,
    source: &Source<'_>,
    lists: &[List<'_>],
    (at, value): &(Range<usize>, Thing),
) -> Option<Objection> {
    let reading = source.reading;
    let mut other = None;
    for list in lists {
        other = Some(other_label(claim, list, (at, value))?);
    }
    let other = other?;
    let detail = Detail::Elsewhere {
        said: claim.shown(at.clone()).to_owned(),
        of: claim.word(other.word).to_owned(),
        belongs_to: None,
        found: Some(reading.shown(other.value).to_owned()),
    };
    let tokens = claim.text.tokens.get(at.clone())?;
    let bytes = tokens.first()?.start..tokens.last()?.end;
    let found = Objection::new(Code::Referent, Effect::Doubts, detail).at(bytes);
    let place = reading.sentence(other.sentence)?.bytes.clone();
    Some(found.against(source.item.label, place))
}

/// The label that the claim gives the value to, if its item in the list has another one of the kind.
fn other_label<'c>(
    claim: &'c Reading,
    list: &[LabelledItem<'_>],
    (at, value): (&Range<usize>, &Thing),
) -> Option<OtherLabel<'c>> {
    let named = named_items(claim, list);
    let said: Vec<&(Range<usize>, Thing)> = values(claim)
        .into_iter()
        .filter(|(_, own)| own.same(value) || value.is_rival(own))
        .collect();
    let own = match named.as_slice() {
        [own] => own,
        several => several.get(place_in_turn(several, &said, at)?)?,
    };
    let (_, word, item) = own;
    let mut rivals = item.values.iter().filter(|(_, own)| value.is_rival(own));
    let (at, rival) = rivals.next()?;
    let is_said = named.len() == 1 && said.iter().any(|(_, own)| own.same(rival));
    if item.has(value) || rivals.next().is_some() || is_said {
        return None;
    }
    Some(OtherLabel {
        word,
        value: at.clone(),
        sentence: item.sentence,
    })
}

/// Which label a value has in a claim where labels and values take turns: "A costs 5 and B 7", "5 for A
/// and 7 for B".
fn place_in_turn(
    named: &[NamedItem<'_, '_, '_>],
    said: &[&(Range<usize>, Thing)],
    at: &Range<usize>,
) -> Option<usize> {
    let labels: Vec<usize> = named.iter().map(|(place, ..)| *place).collect();
    let values: Vec<usize> = said.iter().map(|(at, _)| at.start).collect();
    let is_in_turn = |first: &[usize], second: &[usize]| {
        let pairs = || first.iter().zip(second);
        pairs().all(|(a, b)| a < b) && pairs().zip(first.iter().skip(1)).all(|((_, b), a)| b < a)
    };
    let fits = labels.len() == values.len()
        && (is_in_turn(&labels, &values) || is_in_turn(&values, &labels));
    fits.then(|| values.iter().position(|start| *start == at.start))?
}

/// A word of the claim with its place, and the item that it names.
type NamedItem<'c, 'l, 'r> = (usize, &'c Token, &'l LabelledItem<'r>);

/// The items that the claim names, in the order of the claim.
fn named_items<'c, 'l, 'r>(
    claim: &'c Reading,
    list: &'l [LabelledItem<'r>],
) -> Vec<NamedItem<'c, 'l, 'r>> {
    let items = list.iter();
    let mut named: Vec<_> = items
        .filter_map(|item| {
            let (place, word) = item.named_by(claim, list)?;
            Some((place, word, item))
        })
        .collect();
    named.sort_by_key(|(place, ..)| *place);
    named
}

impl LabelledItem<'_> {
    fn has(&self, value: &Thing) -> bool {
        self.values.iter().any(|(_, own)| own.same(value))
    }

    /// The first word of the claim that names this item and no other of its list, with its place. Half
    /// of the words of the label must be in the claim.
    fn named_by<'c>(&self, claim: &'c Reading, list: &[Self]) -> Option<(usize, &'c Token)> {
        let said = self.label.iter().filter(|id| claim.has(**id)).count();
        if said * 2 < self.label.len() {
            return None;
        }
        let is_shared = |id: u32| {
            let mut others = list.iter().filter(|item| item.sentence != self.sentence);
            others.any(|item| item.label.contains(&id))
        };
        let mut tokens = claim.text.tokens.iter().enumerate();
        tokens.find(|(_, token)| self.label.contains(&token.id) && !is_shared(token.id))
    }
}

/// A short list item with a label and values, or a line of "label: value". The label is before the
/// first number or date and before a colon or dash; without words there, it is behind the last value.
/// `values` are those of the whole text.
fn labelled_item<'r>(
    reading: &Reading,
    values: &[&'r (Range<usize>, Thing)],
    n: usize,
) -> Option<LabelledItem<'r>> {
    let sentence = reading.sentence(n)?;
    let tokens = sentence.tokens.clone();
    let label_end = label_end(reading, n);
    let is_item = sentence.role == BlockRole::ListItem
        || matches!(sentence.role, BlockRole::Paragraph | BlockRole::Quote) && label_end.is_some();
    if !is_item || tokens.len() > LONGEST {
        return None;
    }
    let from = values.partition_point(|(at, _)| at.start < tokens.start);
    let own = values.get(from..)?.iter().copied();
    let values: Vec<_> = own.take_while(|(at, _)| at.start < tokens.end).collect();
    let (first, last) = (values.first()?.0.start, values.last()?.0.end);
    let before = tokens.start..label_end.unwrap_or(first).min(first);
    let mut label = content(reading, before);
    if label.is_empty() {
        label = content(reading, last..tokens.end);
    }
    (!label.is_empty()).then_some(LabelledItem {
        label,
        values,
        sentence: n,
    })
}

/// The stems of the words with content among these tokens, each once.
fn content(reading: &Reading, tokens: Range<usize>) -> Vec<u32> {
    let tokens = reading.text.tokens.get(tokens).unwrap_or(&[]).iter();
    let mut stems: Vec<u32> = tokens
        .filter(|t| t.is_content() && !t.number)
        .map(|t| t.id)
        .collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}
