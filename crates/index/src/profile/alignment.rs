//! Converts a model's cosines of single words, and of a question and a sentence, to a common scale.
//!
//! A model's last hidden states have their own scale, which also depends on the script. Two cosines
//! define it: that of unrelated words (or texts), and that of a word and the same word in another
//! sentence (or of a question and a sentence of the text that answers it). They were measured on 60
//! questions of XQuAD in English and Chinese, each compared with the sentences of its own document
//! and of another one.

use serde::Deserialize;

/// The two cosines that define a scale.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Span {
    unrelated: f32,
    same: f32,
}

impl Span {
    /// Converts a cosine from this scale to `other`. At most 1.
    fn converted(self, cosine: f32, other: Self) -> f32 {
        if self == other {
            return cosine;
        }
        let share = (cosine - self.unrelated) / (self.same - self.unrelated);
        (other.unrelated + share * (other.same - other.unrelated)).min(1.0)
    }
}

/// The scales of words and of texts in one script.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Spans {
    words: Span,
    texts: Span,
}

/// The scales of one model, for Latin script and for all others.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Scales {
    latin: Spans,
    other: Spans,
}

impl Scales {
    fn of(&self, is_latin: bool) -> Spans {
        if is_latin { self.latin } else { self.other }
    }
}

/// Converts a model's cosines to the scale of the reference model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alignment {
    pub(super) from: Scales,
    pub(super) to: Scales,
}

impl Alignment {
    /// The cosine of a word of a question and a word of a text; `is_latin`: the question is written
    /// in Latin script.
    pub fn word(&self, cosine: f32, is_latin: bool) -> f32 {
        let to = self.to.of(is_latin);
        self.from.of(is_latin).words.converted(cosine, to.words)
    }

    /// The cosine of a question and a text.
    pub fn text(&self, cosine: f32, is_latin: bool) -> f32 {
        let to = self.to.of(is_latin);
        self.from.of(is_latin).texts.converted(cosine, to.texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_cosines_that_fix_a_scale_are_converted_to_those_of_the_other() {
        let own = Span {
            unrelated: 0.7,
            same: 0.9,
        };
        let other = Span {
            unrelated: 0.1,
            same: 0.8,
        };
        assert!((own.converted(0.7, other) - 0.1).abs() < 1e-6);
        assert!((own.converted(0.9, other) - 0.8).abs() < 1e-6);
        assert_eq!(own.converted(1.0, other), 1.0);
        assert!((other.converted(0.3, other) - 0.3).abs() < 1e-6);
    }
}
