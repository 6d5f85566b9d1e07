//! Does anything fit? The decision between an answer and "closest".
//!
//! Two logistic regressions. With a model: over what the best unit covers, how near it is, and how
//! far it is ahead of the best unit of another section; fitted on 193 answers to questions of a
//! vault of 70 notes (a second brain and a product's manual), of which 20 questions have no answer
//! and weigh three times. Without a model: over what it covers, on 397 questions of XQuAD, each
//! asked once of all documents and once of all but its own, and on the example vault. The signs
//! that a unit speaks of something else come from a regression on questions of parallel subjects
//! and times (`benches/answers/parallel.jsonl`): 2.6, 1.2 and 2.0; the first was raised until one
//! full of the question's words gives way. A name that is missing forbids an answer.

use super::rank::{Candidate, Ranked};

/// What the decision is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    /// Share of the question's weight that the best unit and its surroundings cover.
    pub covered: f32,
    /// Cosine of the question and the best unit; 0 without a model.
    pub similar: f32,
    /// Share of the question's weight that stands in the unit itself.
    pub own: f32,
    /// The retrieval score of its place as a share of the best one.
    pub rank: f32,
    /// How far its score is above that of the best unit of another section, at most [`CLEAR`].
    pub ahead: f32,
    /// The largest uncovered share of one word: "the mixer" in "the warranty of the mixer".
    pub missing: f32,
    /// What of its features speaks against the best unit.
    pub time_mismatch: f32,
    pub other_note: f32,
    pub missing_answer_type: f32,
    pub unknown_name: f32,
}

impl Signals {
    /// The signals of a unit.
    pub fn of(ranked: &Ranked<'_>, candidate: &Candidate) -> Self {
        let total = ranked.question.total();
        let worst = ranked
            .question
            .terms
            .iter()
            .zip(&candidate.credits.all)
            .map(|(t, c)| t.weight * (1.0 - c))
            .fold(0.0, f32::max);
        Self {
            covered: candidate.features.covered,
            similar: candidate.features.similar,
            own: candidate.features.own,
            rank: candidate.features.rank,
            ahead: ahead(ranked, candidate),
            missing: if total > 0.0 { worst / total } else { 1.0 },
            time_mismatch: candidate.features.time_mismatch,
            other_note: candidate.features.other_note,
            missing_answer_type: candidate.features.missing_answer_type,
            unknown_name: candidate.features.unknown_name,
        }
    }

    /// Log-odds that the unit answers the question; `legible` as in [`Ranked`].
    pub fn odds(&self, legible: f32) -> f32 {
        let Self {
            covered,
            similar,
            own,
            rank,
            ahead,
            missing,
            time_mismatch,
            other_note,
            missing_answer_type,
            unknown_name,
        } = self;
        let against =
            3.5 * time_mismatch + 1.2 * other_note + 2.0 * missing_answer_type + 6.0 * unknown_name;
        let with_model = 1.0 * covered + 1.6 * own + 2.7 * similar + 1.2 * rank + 2.8 * ahead
            - 0.3 * missing
            - 4.2;
        let without = 6.6 * covered - 2.2 * missing - 2.6;
        legible * with_model + (1.0 - legible) * without - against
    }
}

/// A unit that is this far ahead has no rival; one without any other section counts half of it.
const CLEAR: f32 = 0.4;

/// How far a unit is ahead of the best one of another section.
fn ahead(ranked: &Ranked<'_>, candidate: &Candidate) -> f32 {
    let section = |c: &Candidate| ranked.unit(c.index).map(|u| (u.note, u.section));
    let own = section(candidate);
    let other = ranked.order.iter().find(|c| section(c) != own);
    other.map_or(CLEAR / 2.0, |other| {
        (candidate.score - other.score).clamp(-CLEAR, CLEAR)
    })
}

/// Below these log-odds nothing fits.
const FLOOR: f32 = 0.25;

/// Whether a unit is good enough to be shown as the answer.
pub(super) fn fits(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    Signals::of(ranked, candidate).odds(ranked.legible) >= FLOOR
}
