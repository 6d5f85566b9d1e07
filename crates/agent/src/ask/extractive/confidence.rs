//! Does anything fit? The decision to say "nothing found" instead of quoting what is merely
//! nearest.
//!
//! A logistic regression over three signals of the best unit. It was fitted on 397 questions of
//! XQuAD, each asked once of all documents and once of all but its own (so that the same article's
//! other paragraphs tempt), and on the questions of the example vault (67 answerable, 20 not), the
//! two sets weighing the same. Three signs that the unit speaks of something else were added later:
//! a regression on such questions and 128 of a vault in which parallel subjects and times tempt
//! (`benches/answers/parallel.jsonl`) gave them 2.6, 1.2 and 2.0; the first was raised until one
//! full of the question's words gives way.

use super::extractive::Ranked;
use super::score::Credits;

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
    pub elsewhen: f32,
    pub elsewhere: f32,
    pub lacks: f32,
}

impl Signals {
    /// The signals of the best unit; `None` when there is no unit.
    pub fn of(ranked: &Ranked<'_>) -> Option<Self> {
        let best = ranked.order.first()?;
        let total = ranked.question.total();
        let credits = Credits::of(&ranked.question, &ranked.units, best.index).all;
        let worst = ranked
            .question
            .terms
            .iter()
            .zip(&credits)
            .map(|(t, c)| t.weight * (1.0 - c))
            .fold(0.0, f32::max);
        Some(Self {
            covered: best.features.covered,
            similar: best.features.similar,
            missing: if total > 0.0 { worst / total } else { 1.0 },
            elsewhen: best.features.elsewhen,
            elsewhere: best.features.elsewhere,
            lacks: best.features.lacks,
        })
    }

    /// Log-odds that the best unit answers the question.
    pub fn odds(&self, with_model: bool) -> f32 {
        let Self {
            covered,
            similar,
            missing,
            elsewhen,
            elsewhere,
            lacks,
        } = self;
        let against = 3.5 * elsewhen + 1.2 * elsewhere + 2.0 * lacks;
        if with_model {
            5.3 * covered + 4.4 * similar - 2.2 * missing - 4.3 - against
        } else {
            6.6 * covered - 2.2 * missing - 2.6 - against
        }
    }
}

/// Below these log-odds nothing fits.
const FLOOR: f32 = 0.0;

/// Whether the best unit is good enough to be shown.
pub(super) fn fits(ranked: &Ranked<'_>) -> bool {
    Signals::of(ranked).is_some_and(|s| s.odds(ranked.with_model) >= FLOOR)
}
