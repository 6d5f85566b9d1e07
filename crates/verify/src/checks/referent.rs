//! L4: a number or a name belongs to the thing that the claim names; and C38: another item gives a
//! different number.

use super::align::{Aligned, Alignment};
use super::{Case, Effect, Extent, names};
use crate::Code;
use crate::atoms::{self as a, What};
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::Token;

/// One thing of a clause that could be confused with another of its kind.
struct CandidatePlace<'a> {
    reading: &'a Reading,
    /// Its own tokens.
    own: std::ops::Range<usize>,
    /// The tokens of its clause, row or item; computed late, only for the places that are compared.
    segment: std::ops::Range<usize>,
    /// Its sentence.
    sentence: usize,
}

impl<'a> CandidatePlace<'a> {
    fn is_in(&self, aligned: &Aligned<'_>) -> bool {
        self.sentence == aligned.sentence && std::ptr::eq(self.reading, aligned.source.reading)
    }

    /// The tokens of its segment.
    fn tokens(&self) -> &'a [Token] {
        let tokens = &self.reading.text.tokens;
        tokens.get(self.segment.clone()).unwrap_or(&[])
    }

    /// The tokens of its segment besides its own.
    fn others(&self) -> impl Iterator<Item = &'a Token> {
        let tokens = self.tokens().iter().enumerate();
        tokens
            .filter(|(i, _)| !self.own.contains(&(self.segment.start + i)))
            .map(|(_, t)| t)
    }

    /// The stems of the other words with content, and of numbers.
    fn words(&self) -> Vec<u32> {
        let counted = self.others().filter(|t| t.is_content_or_number());
        counted.map(|t| t.id).collect()
    }

    /// Whether it has a name besides its own that is not among these words.
    fn has_other_name(&self, words: &[&Token]) -> bool {
        self.others()
            .any(|t| names::is_name(t) && !words.iter().any(|w| w.id == t.id))
    }

    fn has_name(&self) -> bool {
        self.tokens().iter().any(names::is_name)
    }

    /// The share of the claim's words in its sentence; 0 if that is not among the nearest.
    fn share(&self, alignment: &Alignment<'_>) -> f64 {
        let aligned = alignment.0.iter().find(|a| self.is_in(a));
        aligned.map_or(0.0, |a| a.share)
    }
}

/// Maximum number of places that are compared; bounds the work on hostile evidence.
const MOST_PLACES: usize = 64;

/// The objection to a value that belongs to another thing: "A costs 5, B costs 7" does not support
/// "A costs 7".
pub(super) fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Code, String)> {
    // Whether the claim also names a thing of a source: computed once, however often the claim
    // names such things.
    let mut asked: Vec<Vec<Option<bool>>> = case
        .cited
        .iter()
        .map(|source| vec![None; things(source.reading).len()])
        .collect();
    for (own, kind) in things(case.claim) {
        // Names are in many sentences; `binding` checks them.
        if matches!(kind, Thing::Name(_)) {
            continue;
        }
        let (mut here, mut rivals) = candidates(case, kind, &mut asked);
        if here.is_empty() || rivals.is_empty() {
            continue;
        }
        let wanted = other_words(case.claim, own);
        // If the nearest sentence contains the thing itself, only its neighbours there can be meant
        // instead, except when it is a table row that is the nearest only because of that thing.
        let nearest = alignment.best().filter(|b| b.share >= 0.5)?;
        let for_itself = is_row(nearest.source.reading, nearest.sentence)
            && !nearest
                .tokens()
                .iter()
                .any(|t| wanted.iter().any(|w| w.id == t.id));
        if here.iter().any(|p| p.is_in(nearest)) && !for_itself {
            here.retain(|p| p.is_in(nearest));
            rivals.retain(|p| p.is_in(nearest));
        }
        if rivals.is_empty() {
            continue;
        }
        for place in here.iter_mut().chain(&mut rivals) {
            place.segment = segment(place.reading, &place.own);
        }
        if let Some(rival) = rivals
            .iter()
            .find(|r| here.iter().all(|h| beats(r, h, &wanted, alignment)))
        {
            let shown = case.claim.shown(own.clone());
            let said = rival.reading.shown(rival.own.clone());
            let why = format!(
                "In the cited text “{shown}” belongs to something else. The thing in the claim has “{said}”."
            );
            return Some((Code::Referent, why));
        }
    }
    None
}

/// The places of a thing in the cited text, and those of others of its kind that the claim does not
/// name.
fn candidates<'a>(
    case: &Case<'a>,
    kind: &Thing,
    asked: &mut [Vec<Option<bool>>],
) -> (Vec<CandidatePlace<'a>>, Vec<CandidatePlace<'a>>) {
    let (mut here, mut rivals) = (Vec::new(), Vec::new());
    for (source, asked) in case.cited.iter().zip(asked) {
        for ((range, other), asked) in things(source.reading).iter().zip(asked) {
            if here.len() + rivals.len() >= MOST_PLACES {
                break;
            }
            let same = kind.same(other);
            let rival = !same
                && kind.is_rival(other)
                && !*asked.get_or_insert_with(|| mentioned(case.claim, other));
            if same || rival {
                let places = if same { &mut here } else { &mut rivals };
                places.push(CandidatePlace {
                    reading: source.reading,
                    own: range.clone(),
                    segment: 0..0,
                    sentence: source.reading.sentence_of(range.start),
                });
            }
        }
    }
    (here, rivals)
}

/// The words with content, and numbers, besides those of a thing.
fn other_words<'r>(claim: &'r Reading, own: &std::ops::Range<usize>) -> Vec<&'r Token> {
    let tokens = claim.text.tokens.iter().enumerate();
    tokens
        .filter(|(i, t)| !own.contains(i) && t.is_content_or_number())
        .map(|(_, t)| t)
        .collect()
}

/// Things that can be confused.
#[derive(Debug, Clone)]
pub(crate) enum Thing {
    Number(a::Number),
    Date(a::Date),
    /// A name, as the id of its stem.
    Name(u32),
}

impl Thing {
    /// Whether both are the same amount, day or name.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(n), Self::Number(m)) => match (n.unit, m.unit) {
                (Some(x), Some(y)) => a::equal_amounts(n.value, x, m.value, y),
                _ => a::same(n.value, m.value),
            },
            (Self::Date(d), Self::Date(e)) => d.is_part_of(e) || e.is_part_of(d),
            (Self::Name(x), Self::Name(y)) => x == y,
            _ => false,
        }
    }

    /// Whether the other is of the same kind, so that one can replace the other.
    pub(crate) fn is_rival(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(n), Self::Number(m)) => match (n.unit, m.unit) {
                (Some(x), Some(y)) => a::same_kind(x, y),
                (None, None) => n.ordinal == m.ordinal,
                _ => false,
            },
            (Self::Date(d), Self::Date(e)) => {
                d.year.is_some() == e.year.is_some() && d.month.is_some() == e.month.is_some()
                    || d.year.is_some() && e.year.is_some()
            }
            (Self::Name(_), Self::Name(_)) => true,
            _ => false,
        }
    }
}

/// The numbers, dates and names of a text with their tokens; computed once per text.
pub(super) fn things(reading: &Reading) -> &[(std::ops::Range<usize>, Thing)] {
    reading.things.get_or_init(|| find_things(reading))
}

fn find_things(reading: &Reading) -> Vec<(std::ops::Range<usize>, Thing)> {
    let mut out = Vec::new();
    let mut taken = vec![false; reading.text.tokens.len()];
    for i in reading.atoms.iter().flat_map(|a| a.tokens.clone()) {
        if let Some(taken) = taken.get_mut(i) {
            *taken = true;
        }
    }
    for atom in &reading.atoms {
        match &atom.what {
            What::Number(n) => out.push((atom.tokens.clone(), Thing::Number(*n))),
            What::Date(d) if d.weekday.is_none() || d.day.is_some() => {
                out.push((atom.tokens.clone(), Thing::Date(*d)));
            }
            _ => {}
        }
    }
    let tokens = &reading.text.tokens;
    let mut small: Vec<u32> = tokens.iter().filter(|t| !t.capital).map(|t| t.id).collect();
    small.sort_unstable();
    for (i, token) in tokens.iter().enumerate() {
        let atom = taken.get(i).copied().unwrap_or(false);
        // The last word of a run of capitalised words represents the name; the first word of a
        // sentence counts only inside a run.
        let goes_on = tokens
            .get(i + 1)
            .is_some_and(|n| names::is_name(n) && n.start <= token.end + 1);
        let goes_before = i.checked_sub(1).and_then(|p| tokens.get(p));
        let in_run = goes_before.is_some_and(|p| names::is_name(p) && token.start <= p.end + 1);
        // A common word appears in lower case elsewhere, or has the ending of a common word.
        let opens = token.first
            && !in_run
            && (names::ends_as_a_word(reading.word(token))
                || small.binary_search(&token.id).is_ok());
        if names::is_name(token) && !atom && !goes_on && !opens {
            out.push((i..i + 1, Thing::Name(token.id)));
        }
    }
    out
}

/// Whether the claim names this thing too.
fn mentioned(claim: &Reading, other: &Thing) -> bool {
    things(claim).iter().any(|(_, own)| own.same(other))
}

/// The clause of an item: its tokens up to the next clause on both sides, in its sentence.
pub(super) fn segment(reading: &Reading, own: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let sentence = reading.sentence_of(own.start);
    let Some(bounds) = reading.sentence(sentence).map(|s| s.tokens.clone()) else {
        return own.clone();
    };
    let tokens = &reading.text.tokens;
    // A short sentence with one amount is about one thing: "Oslo: 14 offices".
    let amounts = reading
        .atoms_of(sentence)
        .iter()
        .filter(|a| matches!(a.what, What::Number(_) | What::Date(_)))
        .count();
    if is_row(reading, sentence) || amounts == 1 && bounds.len() <= 12 {
        return bounds;
    }
    let clause = tokens.get(own.start).map_or(0, |t| t.clause);
    let mut from = own.start;
    while from > bounds.start && tokens.get(from - 1).is_some_and(|t| t.clause == clause) {
        from -= 1;
    }
    let mut to = own.end;
    while to < bounds.end && tokens.get(to).is_some_and(|t| t.clause == clause) {
        to += 1;
    }
    from..to
}

/// Whether a sentence is a row of a table.
pub(super) fn is_row(reading: &Reading, sentence: usize) -> bool {
    let own = reading
        .sentence(sentence)
        .and_then(|s| reading.normal.get(s.bytes.clone()));
    own.is_some_and(|text| text.starts_with('|'))
}

/// Whether the claim's other words match the rival's place better than that of its own number.
fn beats(
    rival: &CandidatePlace<'_>,
    here: &CandidatePlace<'_>,
    wanted: &[&Token],
    alignment: &Alignment<'_>,
) -> bool {
    let (theirs, ours) = (rival.words(), here.words());
    let only_rival: Vec<&&Token> = wanted
        .iter()
        .filter(|t| theirs.contains(&t.id) && !ours.contains(&t.id))
        .collect();
    let only_here = wanted
        .iter()
        .any(|t| ours.contains(&t.id) && !theirs.contains(&t.id));
    let strange_here = ours
        .iter()
        .any(|id| !wanted.iter().any(|t| t.id == *id) && !theirs.contains(id));
    let one_sentence = rival.sentence == here.sentence && std::ptr::eq(rival.reading, here.reading);
    // Each clause has its own name, and the claim gives the other one: "Iberian sales grew 8 %,
    // Nordic sales 2 %".

    let contrast = one_sentence
        && only_rival.iter().any(|t| names::is_name(t))
        && here.has_other_name(wanted)
        && !rival.has_other_name(wanted);
    if contrast {
        return true;
    }
    let matched = wanted
        .iter()
        .filter(|t| ours.contains(&t.id) || theirs.contains(&t.id))
        .count();
    if only_rival.is_empty() || only_here || !strange_here || only_rival.len() * 2 < matched {
        return false;
    }
    if one_sentence {
        // Two clauses of one sentence can share a subject. They are rivals if they share a frame
        // ("costs"), or if each has a name.
        let framed = theirs
            .iter()
            .any(|id| ours.contains(id) && wanted.iter().any(|t| t.id == *id));
        let named = here.has_name() && rival.has_name() && !is_one_name(here);
        return framed || only_rival.len() >= 2 || named;
    }
    // A rival in another sentence counts if that sentence is about the whole claim, and this one
    // hardly.
    !is_one_name(here)
        && rival.share(alignment) >= 0.5
        && (only_rival.len() >= 2
            || only_rival.iter().any(|t| t.capital || t.number)
            || here.share(alignment) == 0.0)
}

/// Whether the thing at a place is a name. A name is in many sentences, and a claim rarely means
/// one particular occurrence.
fn is_one_name(place: &CandidatePlace<'_>) -> bool {
    place
        .reading
        .text
        .tokens
        .get(place.own.start)
        .is_some_and(names::is_name)
        && place.own.len() == 1
}

/// The remark that another item, or one of several cited ones, gives a different number for the same
/// thing. It does not reject.
pub(super) fn conflict(case: &Case<'_>) -> Option<Objection> {
    if case.extent != Extent::Sentence
        || !case
            .claim
            .atoms
            .iter()
            .any(|a| matches!(a.what, What::Number(_) | What::Date(_)))
    {
        return None;
    }
    let counted: Vec<&Token> = case
        .claim
        .text
        .tokens
        .iter()
        .filter(|t| t.is_content() && !t.number)
        .collect();
    if counted.len() < 2 {
        return None;
    }
    let cited = case.cited.iter().filter(|_| case.cited.len() > 1);
    for other in case.others.iter().chain(cited) {
        for n in sentences_about(other.reading, &counted) {
            if says_otherwise(case.claim, other.reading, n) {
                let by = other.item.label;
                let is_cited = case.cited.iter().any(|cited| cited.item.label == by);
                let detail = match is_cited {
                    true => Detail::Disputed { by },
                    false => Detail::Contradicted { by },
                };
                return Some(Objection::new(Code::Conflict, Effect::Remarks, detail));
            }
        }
    }
    None
}

/// The sentences that have four of five of these words.
fn sentences_about(reading: &Reading, words: &[&Token]) -> Vec<usize> {
    let mut shared = vec![0_usize; reading.text.sentences.len()];
    for n in words.iter().flat_map(|t| reading.sentences_with(t.id)) {
        if let Some(count) = shared.get_mut(*n as usize) {
            *count += 1;
        }
    }
    let shared = shared.iter().enumerate();
    let near = shared.filter(|(_, shared)| **shared * 5 >= words.len() * 4);
    near.map(|(n, _)| n).collect()
}

/// Whether a sentence has other values of the kind of one of the claim's, and none that the claim has.
fn says_otherwise(claim: &Reading, reading: &Reading, sentence: usize) -> bool {
    things(claim).iter().any(|(_, own)| {
        let rivals: Vec<&Thing> = things(reading)
            .iter()
            .filter(|(r, t)| {
                reading.sentence_of(r.start) == sentence
                    && !matches!(t, Thing::Name(_))
                    && own.is_rival(t)
            })
            .map(|(_, t)| t)
            .collect();
        let is_claimed = |rival: &&Thing| things(claim).iter().any(|(_, own)| own.same(rival));
        !rivals.is_empty() && !rivals.iter().any(is_claimed)
    })
}
