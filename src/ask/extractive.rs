//! The extractive answerer: the fewest sentences of the evidence that answer the question, in their exact bytes.
//!
//! No model writes anything here, so nothing can be made up; what can go wrong is that the sentences do not fit, and
//! [`super::fit`] decides that.

use super::fit;
use super::question::Question;
use super::score::{self, Features};
use super::select::{self, Part};
use super::units::{self, Unit};
use crate::error::Result;
use crate::evidence::{Draft, EvidenceSnapshot, Segment};

/// What an answer is extracted from.
pub struct Evidence<'a> {
    /// The frozen evidence.
    pub snapshot: &'a EvidenceSnapshot,
    /// The fused retrieval score of each item, in the snapshot's order, 0 or more; missing ones count as 0.
    pub scores: &'a [f32],
    /// The inverse document frequency of a stemmed term ([`crate::lexical::terms`]) in the whole index.
    pub idf: &'a dyn Fn(&str) -> f32,
    /// The cosine of the question with each text, when a model is at hand. Called once.
    pub similarity: Option<&'a Similarity<'a>>,
}

/// Cosines of the question with some texts, in their order.
pub type Similarity<'a> = dyn Fn(&[&str]) -> Result<Vec<f32>> + 'a;

/// The outcome of extraction.
#[derive(Debug, Clone, PartialEq)]
pub enum Extract {
    /// Quotes with a citation after each; nothing else but white space and list marks.
    Answer(Draft),
    /// The evidence holds nothing that fits.
    Nothing {
        /// One plain sentence for a person.
        why: String,
    },
}

/// At most this many units are given to the model: about a third of a second on one core.
const MAX_COMPARED: usize = 64;

/// Extracts the answer to `question`. Pure, except for `similarity`, whose error is passed on.
pub fn extract(question: &str, evidence: &Evidence<'_>) -> Result<Extract> {
    let ranked = rank(question, evidence)?;
    let parts = select::select(&ranked);
    match fit::why_not(&ranked, &parts) {
        Some(why) => Ok(Extract::Nothing { why }),
        None => Ok(Extract::Answer(draft(evidence.snapshot, &parts))),
    }
}

/// A question, the units of the evidence, and how well each sayable one answers it.
pub(super) struct Ranked<'a> {
    pub question: Question,
    pub snapshot: &'a EvidenceSnapshot,
    pub units: Vec<Unit>,
    /// Index of the unit, features, score; best first.
    pub order: Vec<(usize, Features, f32)>,
    pub with_model: bool,
}

pub(super) fn rank<'a>(question: &str, evidence: &Evidence<'a>) -> Result<Ranked<'a>> {
    let question_text = question;
    let question = Question::read(question, evidence.idf);
    let wants = question.wants;
    let items = evidence.snapshot.items();
    let units = units::of_items(items, wants.code || wants.steps);
    let best = evidence.scores.iter().copied().fold(0.0, f32::max);
    let rank = |item: usize| {
        let score = evidence.scores.get(item).copied().unwrap_or(0.0);
        if best > 0.0 { (score / best).clamp(0.0, 1.0) } else { 0.0 }
    };
    let mut order: Vec<(usize, Features, f32)> = (0..units.len())
        .filter(|i| units.get(*i).is_some_and(|u| u.sayable))
        .map(|i| {
            let features = score::features(&question, &units, i, units.get(i).map_or(0.0, |u| rank(u.item)));
            (i, features, score::score(&features, false))
        })
        .collect();
    order.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    let _ = question_text;
    if let Some(similarity) = evidence.similarity {
        order.truncate(MAX_COMPARED);
        let texts: Vec<String> = order.iter().map(|(i, _, _)| compared(&units, *i)).collect();
        let views: Vec<&str> = texts.iter().map(String::as_str).collect();
        let cosines = similarity(&views)?;
        for ((_, features, score), cosine) in order.iter_mut().zip(cosines) {
            features.similar = cosine;
            *score = score::score(features, true);
        }
        order.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    }
    let with_model = evidence.similarity.is_some();
    Ok(Ranked { question, snapshot: evidence.snapshot, units, order, with_model })
}

/// What the model compares with the question: the unit under its heading.
fn compared(units: &[Unit], index: usize) -> String {
    let Some(unit) = units.get(index) else { return String::new() };
    let lead = unit.lead.and_then(|i| units.get(i)).map(|u| format!("{}\n", u.plain)).unwrap_or_default();
    if unit.heading.is_empty() {
        format!("{lead}{}", unit.plain)
    } else {
        format!("{}\n{lead}{}", unit.heading, unit.plain)
    }
}

/// Lays the parts out: each quote is followed by its citation.
fn draft(snapshot: &EvidenceSnapshot, parts: &[Part]) -> Draft {
    let mut draft = Draft::default();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            draft.push(Segment::Text(part.joint.to_owned()));
        }
        let Some(item) = snapshot.items().get(part.item) else { continue };
        let Some((span, _)) = item.locate(part.span.start, part.span.end) else { continue };
        draft.push(Segment::Quote { label: item.label, span });
        if part.cited {
            draft.push(Segment::Text(part.before_cite.to_owned()));
            draft.push(Segment::Cite(item.label));
        }
    }
    draft
}

/// Development only.
#[doc(hidden)]
pub fn dump(question: &str, evidence: &Evidence<'_>) -> Result<Vec<(String, usize, Features, f32)>> {
    let ranked = rank(question, evidence)?;
    Ok(ranked.order.iter().map(|(i, f, s)| (ranked.units[*i].plain.clone(), ranked.units[*i].item, *f, *s)).collect())
}
#[doc(hidden)]
pub fn fit_dump(question: &str, evidence: &Evidence<'_>) -> Result<Vec<f32>> {
    let ranked = rank(question, evidence)?;
    let parts = select::select(&ranked);
    Ok(fit::signals(&ranked, &parts).to_vec())
}
