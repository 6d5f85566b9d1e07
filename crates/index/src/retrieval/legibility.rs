//! Whether a model can read a text, judged by the number of word pieces.
//!
//! A vocabulary for one script cuts words of its own languages into a few long pieces, and words in
//! other scripts into single letters. Texts in Latin script have at least 1.9 letters per piece
//! (the first percentile of English, German and code); Chinese, Russian and Arabic have 1.0, at
//! most 1.22 (the 95th percentile). No text is in between.

use local_agent_embed::embedding::QueryVector;

/// The letters per piece below which a text is illegible, and those from which it is fully legible.
const RAMP: (f32, f32) = (1.2, 1.8);

/// A question in Latin script with fewer letters is too short to judge.
const FEWEST_LETTERS: usize = 8;

/// Number of letters, and of the word pieces they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pieces {
    pub letters: usize,
    pub pieces: usize,
}

impl Pieces {
    /// The characters of `text` without white space, taking this many `pieces`.
    pub(super) fn of(text: &str, pieces: usize) -> Self {
        let letters = text.chars().filter(|c| !c.is_whitespace()).count();
        Self { letters, pieces }
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            letters: self.letters + other.letters,
            pieces: self.pieces + other.pieces,
        }
    }

    /// Letters per piece. `None` without pieces.
    fn ratio(self) -> Option<f32> {
        (self.pieces > 0).then(|| self.letters as f32 / self.pieces as f32)
    }
}

/// How well the model can read both the question and the index, 0 to 1. Used only if the vector has
/// the number of word pieces of the question, as for vocabularies of one script.
pub(super) fn legibility(question: &QueryVector, index: Pieces) -> f32 {
    let Some(pieces) = question.pieces else {
        return 1.0;
    };
    let own = Pieces {
        letters: question.letters,
        pieces,
    };
    let is_judged = own.letters >= FEWEST_LETTERS || question.is_in_another_script;
    let own = own.ratio().filter(|_| is_judged);
    let index = index.ratio().filter(|_| index.letters >= FEWEST_LETTERS);
    let least = match (own, index) {
        (Some(own), Some(index)) => own.min(index),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return 1.0,
    };
    ramp(least)
}

/// How well the model can read these texts, 0 to 1. A few letters say nothing about that.
pub(super) fn of_index(index: Pieces) -> f32 {
    let is_judged = index.letters >= FEWEST_LETTERS;
    index.ratio().filter(|_| is_judged).map_or(1.0, ramp)
}

fn ramp(ratio: f32) -> f32 {
    let (from, to) = RAMP;
    ((ratio - from) / (to - from)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(letters: usize, pieces: Option<usize>) -> QueryVector {
        QueryVector {
            vector: Vec::new(),
            letters,
            pieces,
            ..QueryVector::default()
        }
    }

    #[test]
    fn the_smaller_of_question_and_index_decides() {
        let english = Pieces::of("The proofbox holds sourdough", 7);
        let chinese = Pieces::of("面包发酵箱的温度", 8);
        assert_eq!(legibility(&question(40, Some(10)), english), 1.0);
        assert_eq!(legibility(&question(40, Some(10)), chinese), 0.0);
        assert_eq!(legibility(&question(12, Some(12)), english), 0.0);
    }

    #[test]
    fn a_few_letters_of_notes_are_not_judged() {
        assert_eq!(of_index(Pieces::of("b c", 2)), 1.0);
        assert_eq!(of_index(Pieces::of("面包发酵箱的温度", 8)), 0.0);
    }

    #[test]
    fn short_questions_in_another_script_are_judged() {
        let english = Pieces::of("The proofbox holds sourdough", 7);
        let short = QueryVector {
            is_in_another_script: true,
            ..question(5, Some(5))
        };
        assert_eq!(legibility(&short, english), 0.0);
    }

    #[test]
    fn short_questions_take_the_index_s_value_and_other_vocabularies_are_not_judged() {
        let english = Pieces::of("The proofbox holds sourdough", 7);
        assert_eq!(legibility(&question(5, Some(5)), english), 1.0);
        assert_eq!(legibility(&question(12, None), Pieces::of("面包", 2)), 1.0);
        assert_eq!(legibility(&question(5, Some(5)), Pieces::default()), 1.0);
    }
}
