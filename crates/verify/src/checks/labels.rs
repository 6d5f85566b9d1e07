//! L4: what the claim says about a label appears under that label in the cited text.
//!
//! Table rows, list items, lines and sections have names. What a claim says about one of them is
//! searched for under its name and under the neighbouring names. If other words of the claim appear
//! only under another name, the claim has the wrong one.

use std::ops::Range;

use super::affinity::label_end;
use super::{Case, Effect, Extent};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::Token;
use local_agent_text::markdown::BlockRole;

/// Maximum number of labels of one table or list, and of tables and lists of one source; both bound
/// the work on hostile text.
const MOST_LABELS: usize = 40;
const MOST_FAMILIES: usize = 24;

/// Maximum number of words of a label.
const LONGEST: usize = 6;

/// Maximum number of words of a claim.
const MOST_WORDS: usize = 60;

/// One label and what is under it.
pub(crate) struct Labelled {
    /// Those of its words that not all neighbouring labels have.
    ids: Vec<u32>,
    /// The label as written.
    text: String,
    /// The sentences that it names.
    sentences: Range<usize>,
}

impl Labelled {
    fn has_sentence(&self, s: u32) -> bool {
        self.sentences.contains(&(s as usize))
    }
}

/// Neighbouring labels.
pub(crate) type Family = Vec<Labelled>;

/// The labels of a text.
pub(crate) fn families(reading: &Reading) -> Vec<Family> {
    let mut out = Vec::new();
    let mut open: Family = Vec::new();
    let mut open_role: Option<BlockRole> = None;
    let mut headings: Family = Vec::new();
    let sentences = &reading.text.sentences;
    for (s, sentence) in sentences.iter().enumerate() {
        let role = sentence.role;
        let goes_on = s > 0
            && sentences
                .get(s - 1)
                .is_some_and(|b| b.block == sentence.block && b.role == role);
        if role == BlockRole::Heading {
            if let Some(last) = headings.last_mut() {
                last.sentences.end = s;
            }
            let label = sentence.tokens.clone();
            headings.extend(labelled(reading, label, s + 1..sentences.len()));
        }
        if open_role != Some(role) {
            close(&mut open, &mut out);
            open_role = Some(role);
        }
        let label = match role {
            BlockRole::TableRow => first_cell(reading, s),
            BlockRole::ListItem if goes_on => {
                if let Some(last) = open.last_mut() {
                    last.sentences.end = s + 1;
                }
                None
            }
            BlockRole::ListItem | BlockRole::Code | BlockRole::Paragraph => {
                label_end(reading, s).map(|end| sentence.tokens.start..end)
            }
            _ => None,
        };
        open.extend(label.and_then(|label| labelled(reading, label, s..s + 1)));
    }
    close(&mut open, &mut out);
    close(&mut headings, &mut out);
    out.truncate(MOST_FAMILIES);
    out
}

fn labelled(reading: &Reading, label: Range<usize>, sentences: Range<usize>) -> Option<Labelled> {
    let tokens = reading.text.tokens.get(label.clone())?;
    let text = match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => reading.normal.get(first.start..last.end)?.to_owned(),
        _ => return None,
    };
    let mut ids: Vec<u32> = tokens
        .iter()
        .filter(|t| t.is_content_or_number())
        .map(|t| t.id)
        .collect();
    ids.dedup();
    (!ids.is_empty() && ids.len() <= LONGEST).then_some(Labelled {
        ids,
        text,
        sentences,
    })
}

/// Keeps a family if it has at least two labels, each with words that distinguish it from the
/// others.
fn close(open: &mut Family, out: &mut Vec<Family>) {
    let mut family = std::mem::take(open);
    if family.len() < 2 || family.len() > MOST_LABELS {
        return;
    }
    let common: Vec<u32> = family
        .first()
        .map(|first| first.ids.clone())
        .unwrap_or_default()
        .into_iter()
        .filter(|id| family.iter().all(|l| l.ids.contains(id)))
        .collect();
    for label in &mut family {
        label.ids.retain(|id| !common.contains(id));
    }
    family.retain(|l| !l.ids.is_empty());
    if family.len() > 1 {
        out.push(family);
    }
}

fn first_cell(reading: &Reading, s: usize) -> Option<Range<usize>> {
    let sentence = reading.sentence(s)?;
    let text = reading.normal.get(sentence.bytes.clone())?;
    let lead = usize::from(text.starts_with('|'));
    let cell = text.get(lead..)?.find('|')? + lead + sentence.bytes.start;
    let end = sentence
        .tokens
        .clone()
        .find(|i| reading.text.tokens.get(*i).is_none_or(|t| t.start >= cell))?;
    Some(sentence.tokens.start..end)
}

/// The objection to words of the claim that the cited text has under another label.
pub(super) fn check(case: &Case<'_>) -> Option<Objection> {
    if case.extent == Extent::LeadIn {
        return None;
    }
    let mut best: Option<(usize, Objection)> = None;
    for source in case.cited {
        for family in source.reading.families() {
            for segment in segments(case, family) {
                if let Some((weight, found)) =
                    judge(case, source.reading, source.item.label, family, &segment)
                    && best.as_ref().is_none_or(|b| b.0 < weight)
                {
                    best = Some((weight, found));
                }
            }
        }
    }
    best.map(|(_, found)| found)
}

/// Words of the claim that are about one label.
struct Segment {
    /// Which label of the family.
    label: usize,
    /// Where it is named.
    at: Range<usize>,
    /// The words about it.
    words: Range<usize>,
}

fn segments(case: &Case<'_>, family: &Family) -> Vec<Segment> {
    let claim = case.claim;
    let tokens = &claim.text.tokens;
    let tokens = tokens.get(..tokens.len().min(MOST_WORDS)).unwrap_or(&[]);
    let row = claim.normal.starts_with('|');
    let named = label_end(claim, 0).unwrap_or(0);
    let mut parts = claim.parts().to_vec();
    let whole = if row {
        parts.len()
    } else {
        named.min(parts.len())
    };
    parts[..whole].fill(0);
    let mut out: Vec<Segment> = Vec::new();
    let mut from = 0;
    while from < tokens.len() {
        let mut rest = from + 1..tokens.len();
        let to = rest
            .find(|i| parts.get(*i) != parts.get(from))
            .unwrap_or(tokens.len());
        let end = if from < named { tokens.len() } else { to };
        said_of(tokens, from..to, end, family, &mut out);
        from = to;
    }
    out
}

/// What one part of the claim says about each label that it names; if it names only one, everything
/// up to `end`.
fn said_of(
    tokens: &[Token],
    part: Range<usize>,
    end: usize,
    family: &Family,
    out: &mut Vec<Segment>,
) {
    let mentions = family.iter().enumerate();
    let mut mentions: Vec<(usize, Range<usize>)> = mentions
        .filter_map(|(n, label)| Some((n, mention(tokens, part.clone(), label)?)))
        .collect();
    mentions.sort_by_key(|(_, at)| at.start);
    for (k, (label, at)) in mentions.iter().enumerate() {
        let next = mentions.get(k + 1).map(|(_, next)| next.start);
        let from = if k == 0 { part.start } else { at.start };
        let to = match next {
            Some(next) => next,
            None if k == 0 => end,
            None => part.end,
        };
        out.push(Segment {
            label: *label,
            at: at.clone(),
            words: from..to,
        });
    }
}

/// Where a label is named in some tokens of the claim: all its words, adjacent.
fn mention(tokens: &[Token], range: Range<usize>, label: &Labelled) -> Option<Range<usize>> {
    let first = label.ids.first()?;
    let count = label.ids.len();
    range.clone().find_map(|i| {
        tokens.get(i).filter(|t| t.id == *first)?;
        let end = (i + count + 1).min(range.end);
        let here = tokens.get(i..end)?;
        let all = label.ids.iter().all(|id| here.iter().any(|t| t.id == *id));
        all.then_some(i..(i + count).min(range.end))
    })
}

/// How many words of a segment are under its own label, and under the other ones only.
struct LabelVotes {
    for_own: usize,
    against: Vec<usize>,
    /// The first word under each of the other labels.
    voice: Vec<Option<usize>>,
}

impl LabelVotes {
    fn of(case: &Case<'_>, reading: &Reading, family: &Family, segment: &Segment) -> Option<Self> {
        let own = family.get(segment.label)?;
        let mut votes = Self {
            for_own: 0,
            against: vec![0; family.len()],
            voice: vec![None; family.len()],
        };
        for i in segment.words.clone() {
            let Some(token) = case
                .claim
                .text
                .tokens
                .get(i)
                .filter(|t| t.is_content_or_number() && !is_in_a_label(family, t.id))
            else {
                continue;
            };
            let exact = reading.sentences_with(token.id);
            let like = reading.sentences_like(token.id, case.lexicon);
            if exact.iter().chain(like).any(|s| own.has_sentence(*s)) {
                votes.for_own += 1;
                continue;
            }
            for (n, label) in family.iter().enumerate() {
                if exact.iter().any(|s| label.has_sentence(*s)) {
                    votes.against[n] += 1;
                    votes.voice[n] = votes.voice[n].or(Some(i));
                }
            }
        }
        Some(votes)
    }
}

fn is_in_a_label(family: &Family, id: u32) -> bool {
    family.iter().any(|label| label.ids.contains(&id))
}

fn judge(
    case: &Case<'_>,
    reading: &Reading,
    source: local_agent_text::types::Label,
    family: &Family,
    segment: &Segment,
) -> Option<(usize, Objection)> {
    let tokens = case.claim.text.tokens.as_slice();
    let own = family.get(segment.label)?;
    // Only where the label is the subject: "`alias` defines the name".
    let opens = tokens
        .get(segment.words.start..segment.at.start)
        .unwrap_or(&[])
        .iter()
        .all(|t| !t.is_content());
    if !opens {
        return None;
    }
    let votes = LabelVotes::of(case, reading, family, segment)?;
    let (rival, most) = votes
        .against
        .iter()
        .copied()
        .enumerate()
        .max_by_key(|(n, count)| (*count, std::cmp::Reverse(*n)))?;
    if most == 0 {
        return None;
    }
    let rivals = votes.against.iter().filter(|n| **n == most).count();
    let effect = match (votes.for_own, most) {
        (0 | 1, 2..) if rivals == 1 => Effect::Doubts,
        _ => return None,
    };
    let said = tokens.get(votes.voice[rival]?)?;
    let other = family.get(rival)?;
    let detail = Detail::Elsewhere {
        said: case.claim.word(said).to_owned(),
        of: own.text.clone(),
        belongs_to: Some(other.text.clone()),
        found: None,
    };
    let found = Objection::new(Code::Referent, effect, detail).at(said.start..said.end);
    let place = reading.sentence(other.sentences.start)?.bytes.clone();
    Some((most, found.against(source, place)))
}
