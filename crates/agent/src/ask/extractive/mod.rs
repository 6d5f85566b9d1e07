//! The extractive answerer: the fewest sentences of the evidence that answer the question, in their
//! exact bytes.
//!
//! No model writes anything here, so nothing can be made up; what can go wrong is that the
//! sentences do not fit, and [`super::fit`] decides that.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `question` | what is asked for: weighed words, the kind of answer |
//! | `pins` | the time or number that the answer must be of |
//! | `units` | what can be quoted: sentences, items, rows, code blocks, each with its surroundings |
//! | `score` | how well one unit answers |
//! | `select` | which units make the answer, and in what order |
//! | `fit` | whether the best one is good enough to be shown |
//! | `words`, `dates` | function words, question words, the calendar |

use std::collections::HashSet;

use super::question::Question;
use super::score::{self, Features};
use super::select::Part;
use super::units::{self, Unit};
use super::{fit, select, words};
use local_agent_text::error::Result;
use local_agent_text::evidence::{Draft, EvidenceItem, EvidenceSnapshot, Segment};
use local_agent_text::markdown::BlockRole;

/// What an answer is extracted from.
pub struct Evidence<'a> {
    /// The frozen evidence.
    pub snapshot: &'a EvidenceSnapshot,
    /// The fused retrieval score of each item, in the snapshot's order, 0 or more; missing ones
    /// count as 0.
    pub scores: &'a [f32],
    /// The inverse document frequency of a stemmed term ([`local_agent_index::lexical::terms`]) in
    /// the whole index. Asked only for terms of the question.
    pub idf: &'a dyn Fn(&str) -> f32,
    /// The cosine of the question with each text, when a model is at hand. Called at most once.
    pub similarity: Option<&'a Similarity<'a>>,
}

/// Cosines of the question with some texts, in their order.
pub type Similarity<'a> = dyn Fn(&[&str]) -> Result<Vec<f32>> + 'a;

/// The outcome of extraction.
#[derive(Debug, Clone, PartialEq)]
pub enum Extract {
    /// Quotes in the bytes of their files, a citation after each; between them nothing but white
    /// space.
    Answer(Draft),
    /// The evidence holds nothing that fits.
    Nothing {
        /// One plain sentence for a person.
        why: String,
    },
}

/// At most this many units are given to the model; the others were far behind before it was asked.
const MAX_COMPARED: usize = 32;

/// Extracts the answer to `question`. The same arguments give the same answer; the only error is
/// that of `similarity`.
pub fn extract(question: &str, evidence: &Evidence<'_>) -> Result<Extract> {
    let ranked = rank(question, evidence)?;
    if !fit::fits(&ranked) {
        let why = if ranked.order.is_empty() {
            "The search found no text that could be quoted."
        } else {
            "The notes that were found do not say."
        };
        return Ok(Extract::Nothing {
            why: why.to_owned(),
        });
    }
    Ok(Extract::Answer(draft(
        evidence.snapshot,
        &select::select(&ranked),
    )))
}

/// A unit and how well it answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Its place in [`Ranked::units`].
    pub index: usize,
    pub features: Features,
    pub score: f32,
}

/// A question, the units of the evidence, and how well each sayable one answers it.
pub(super) struct Ranked<'a> {
    pub question: Question,
    pub snapshot: &'a EvidenceSnapshot,
    pub units: Vec<Unit>,
    /// The units that can be quoted, best first.
    pub order: Vec<Candidate>,
    pub with_model: bool,
}

impl Ranked<'_> {
    pub fn unit(&self, index: usize) -> Option<&Unit> {
        self.units.get(index)
    }
}

pub(super) fn rank<'a>(question: &str, evidence: &Evidence<'a>) -> Result<Ranked<'a>> {
    let question = Question::read(question, evidence.idf);
    let items = evidence.snapshot.items();
    let units = units::of_items(items, question.wants.code || question.wants.steps);
    let best = evidence.scores.iter().copied().fold(0.0, f32::max);
    let rank = |item: usize| {
        let score = evidence.scores.get(item).copied().unwrap_or(0.0);
        if best > 0.0 {
            (score / best).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let retired = retired(items, &units);
    let elsewhere = elsewhere(&question, items, &units);
    let candidate = |(index, unit): (usize, &Unit)| {
        let mut features = score::features(
            &question,
            &units,
            index,
            rank(unit.item),
            retired.contains(&unit.item),
        );
        features.elsewhere = elsewhere.get(unit.item).copied().unwrap_or(0.0);
        Candidate {
            index,
            features,
            score: score::score(&features, false),
        }
    };
    let mut order: Vec<Candidate> = units
        .iter()
        .enumerate()
        .filter(|(_, u)| u.sayable)
        .map(candidate)
        .collect();
    sort(&mut order);
    if let Some(similarity) = evidence.similarity {
        order.truncate(MAX_COMPARED);
        let texts: Vec<String> = order.iter().map(|c| compared(&units, c.index)).collect();
        let views: Vec<&str> = texts.iter().map(String::as_str).collect();
        let cosines = if views.is_empty() {
            Vec::new()
        } else {
            similarity(&views)?
        };
        for (candidate, cosine) in order.iter_mut().zip(cosines) {
            candidate.features.similar = cosine;
            candidate.score = score::score(&candidate.features, true);
        }
        sort(&mut order);
    }
    let with_model = evidence.similarity.is_some();
    Ok(Ranked {
        question,
        snapshot: evidence.snapshot,
        units,
        order,
        with_model,
    })
}

/// Of each item: the share of the question's weight in words that name another file or a heading in
/// it, and stand nowhere in the item or above it. The question is about that other thing.
fn elsewhere(question: &Question, items: &[EvidenceItem], units: &[Unit]) -> Vec<f32> {
    let file = |item: usize| items.get(item).map(|i| (&i.source, &i.path));
    let total = question.total();
    let of_item = |item: usize| {
        let is_own = |stem: &str| {
            let mut own = units.iter().filter(|unit| unit.item == item);
            own.any(|unit| {
                score::holds(&unit.stems, stem) > 0.0 || score::holds(&unit.place, stem) > 0.0
            })
        };
        let names_another = |stem: &str| {
            units
                .iter()
                .any(|unit| file(unit.item) != file(item) && unit.place.contains(stem))
        };
        let others = question
            .terms
            .iter()
            .filter(|term| names_another(&term.stem) && !is_own(&term.stem));
        let weight: f32 = others.map(|term| term.weight).sum();
        if total > 0.0 { weight / total } else { 0.0 }
    };
    (0..items.len()).map(of_item).collect()
}

/// Best first; equals in the order of the evidence.
fn sort(order: &mut [Candidate]) {
    order.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
}

/// Longer than this, a sentence that holds a state's name is about something else.
const STATUS_WORDS: usize = 8;

/// The items of files that say of themselves, in a short line, that they are superseded, rejected
/// or the like.
fn retired(items: &[EvidenceItem], units: &[Unit]) -> HashSet<usize> {
    let says_so = |u: &&Unit| {
        matches!(u.role, BlockRole::Paragraph | BlockRole::Quote)
            && words::split(&u.plain).count() <= STATUS_WORDS
            && words::NOT_IN_FORCE.are_in(&u.plain.to_lowercase())
    };
    let file = |item: usize| items.get(item).map(|i| (&i.source, &i.path));
    let files: Vec<_> = units
        .iter()
        .filter(says_so)
        .filter_map(|u| file(u.item))
        .collect();
    (0..items.len())
        .filter(|i| file(*i).is_some_and(|f| files.contains(&f)))
        .collect()
}

/// What the model compares with the question: the unit under its heading and lead-in; of a row,
/// each cell with the name of its column.
fn compared(units: &[Unit], index: usize) -> String {
    let Some(unit) = units.get(index) else {
        return String::new();
    };
    let lead = unit
        .lead
        .and_then(|i| units.get(i))
        .map_or("", |u| u.plain.as_str());
    let lines = match unit.role {
        BlockRole::TableRow => {
            let cells = lead.split('|').zip(unit.plain.split('|'));
            let named: Vec<String> = cells
                .map(|(name, cell)| format!("{}: {}", name.trim(), cell.trim()))
                .collect();
            vec![unit.heading.clone(), named.join(", ")]
        }
        _ => vec![unit.heading.clone(), lead.to_owned(), unit.plain.clone()],
    };
    lines
        .into_iter()
        .filter(|l| !l.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Lays the parts out: each quote is followed by its citation.
fn draft(snapshot: &EvidenceSnapshot, parts: &[Part]) -> Draft {
    let mut draft = Draft::default();
    let text = |draft: &mut Draft, text: &str| {
        if !text.is_empty() {
            draft.push(Segment::Text(text.to_owned()));
        }
    };
    for part in parts {
        let Some(item) = snapshot.items().get(part.item) else {
            continue;
        };
        let Some((span, _)) = item.locate(part.span.start, part.span.end) else {
            continue;
        };
        text(&mut draft, part.joint);
        draft.push(Segment::Quote {
            label: item.label,
            span,
        });
        if let Some(before) = part.before_cite {
            text(&mut draft, before);
            draft.push(Segment::Cite(item.label));
        }
    }
    draft
}

#[cfg(test)]
mod tests;
