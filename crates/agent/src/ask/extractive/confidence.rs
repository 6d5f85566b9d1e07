//! Does anything fit? The decision between an answer and "closest".
//!
//! A logistic regression over three signals of the best unit. It was fitted on 397 questions of
//! XQuAD, each asked once of all documents and once of all but its own (so that the same article's
//! other paragraphs tempt), and on the questions of the example vault (67 answerable, 20 not), the
//! two sets weighing the same. Signs that the unit speaks of something else were added later: a
//! regression on such questions and 128 of a vault in which parallel subjects and times tempt
//! (`benches/answers/parallel.jsonl`) gave the last three 2.6, 1.2 and 2.0; the first was raised
//! until one full of the question's words gives way. A name that is missing forbids an answer.

use super::rank::{Candidate, Ranked};

/// What the decision is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    /// Share of the question's weight that the best unit and its surroundings cover.
    pub covered: f32,
    /// Cosine of the question and the best unit; 0 without a model.
    pub similar: f32,
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
            missing,
            time_mismatch,
            other_note,
            missing_answer_type,
            unknown_name,
        } = self;
        let against =
            3.5 * time_mismatch + 1.2 * other_note + 2.0 * missing_answer_type + 6.0 * unknown_name;
        let with_model = 5.3 * covered + 4.4 * similar - 2.2 * missing - 4.3;
        let without = 6.6 * covered - 2.2 * missing - 2.6;
        legible * with_model + (1.0 - legible) * without - against
    }
}

/// Below these log-odds nothing fits.
const FLOOR: f32 = 0.0;

/// Whether a unit is good enough to be shown as the answer.
pub(super) fn fits(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    Signals::of(ranked, candidate).odds(ranked.legible) >= FLOOR
}
