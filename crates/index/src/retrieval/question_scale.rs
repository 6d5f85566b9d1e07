//! The scale of one question's cosines, if the profile does not describe it.
//!
//! A profile is measured on headings and passages of the index, which are mostly in one language. A
//! question in another language has lower cosines with all of these passages, also with the one
//! that answers it: an English question over Chinese notes has a cosine of .69 with unrelated ones
//! and .76 with the right one, but two unrelated Chinese texts have one of .83. Then only
//! cosines that are high for this question mean anything. The median of its cosines with a
//! sample of the passages takes the place of the profile's mean.
//!
//! The same holds for any question whose best cosine is below that mean: otherwise the vectors would
//! not rank the notes at all.

use super::fuse::VectorSide;
use super::{AskedVector, Engine, Hit};
use crate::profile::reference_cosines;
use crate::vectors::Matrix;
use local_agent_text::error::Result;
use local_agent_text::language::{Language, detect};

/// Number of passages whose cosines with the question are compared.
const PASSAGES: usize = 256;

/// Number of passages whose languages are those of the index.
const READ_FOR_LANGUAGES: usize = 32;

/// A language with a smaller share of the passages is not one of the index.
const LEAST_SHARE: f32 = 0.1;

/// The more passages there are, the higher is the best cosine of unrelated ones. The likeness of a
/// hit in another language is lowered by `spread · (GROWTH · √(2 ln passages) − USUAL)`, where the
/// root is the expected maximum of so many normal values. Chosen on four vaults of 6 to 10 notes,
/// each with 18 questions in other languages: 65 of the 72 are answered, and of 84 questions about
/// something else 15.
const GROWTH: f32 = 0.6;

/// See [`GROWTH`].
const USUAL: f32 = 1.1;

/// What is added to the likenesses of one question.
#[derive(Debug, Clone, Default)]
pub(super) struct QuestionScale {
    /// For ranking; 0 if the profile describes the question.
    pub rank_lift: f32,
    /// For the chance of a hit in another language than the question; `None`: no hit is.
    across: Option<Across>,
}

/// How hits in another language than the question are judged.
#[derive(Debug, Clone)]
struct Across {
    /// Added to the likeness of such a hit.
    lift: f32,
    /// The languages that the question may be in.
    question: Vec<Language>,
    /// Whether none of them is a language of the index.
    is_foreign: bool,
    /// Whether the index is in one language.
    is_of_one_language: bool,
}

impl QuestionScale {
    /// Records the likeness of a hit in another language than the question.
    pub(super) fn rate_across(&self, hit: &mut Hit) {
        if let Some(across) = &self.across
            && hit.trace.cosine.is_some()
            && across.concerns(&hit.chunk.text)
        {
            hit.trace.likeness_across = Some(hit.trace.likeness + across.lift);
        }
    }
}

impl Across {
    /// Whether a passage is in another language than the question.
    fn concerns(&self, passage: &str) -> bool {
        if self.is_foreign && self.is_of_one_language {
            return true;
        }
        detect(passage).map_or(self.is_foreign, |language| {
            !self.question.contains(&language)
        })
    }
}

impl Engine {
    /// The scale of this question's cosines. `vectors` are its hits on the scale of the profile.
    pub(super) fn question_scale(
        &self,
        asked: Option<&AskedVector>,
        vectors: VectorSide<'_>,
    ) -> Result<QuestionScale> {
        let Some((asked, best)) = asked.zip(vectors.hits.first()) else {
            return Ok(QuestionScale::default());
        };
        let question = &asked.question.languages;
        let reads_others = vectors.profile.is_some_and(|profile| !profile.latin_only);
        let of_index = match reads_others && !question.is_empty() {
            true => self.languages()?,
            false => Vec::new(),
        };
        let is_foreign = !of_index.is_empty() && !of_index.iter().any(|one| question.contains(one));
        let is_of_one_language = of_index.len() < 2;
        let is_low = vectors.likeness(best.score) < reference_cosines().mean;
        let may_be_across = is_foreign || of_index.len() > 1;
        if !is_low && !may_be_across {
            return Ok(QuestionScale::default());
        }
        let lift = self.lift(asked, vectors).max(0.0);
        let less = less_for(self.projections.matrix.as_ref().map_or(0, Matrix::len));
        Ok(QuestionScale {
            rank_lift: if is_low || is_foreign { lift } else { 0.0 },
            across: may_be_across.then(|| Across {
                lift: (lift - less).max(0.0),
                question: question.clone(),
                is_foreign,
                is_of_one_language,
            }),
        })
    }

    /// What brings the question's median likeness to the mean of unrelated texts.
    fn lift(&self, asked: &AskedVector, vectors: VectorSide<'_>) -> f32 {
        let sample = self.projections.matrix.iter();
        let mut found: Vec<f32> = sample
            .flat_map(|matrix| matrix.sample(PASSAGES))
            .map(|(_, passage)| vectors.likeness(asked.neutral.with(&passage)))
            .collect();
        found.sort_unstable_by(f32::total_cmp);
        let median = found.get(found.len() / 2).copied();
        median.map_or(0.0, |median| reference_cosines().mean - median)
    }

    /// The languages of the index, from a sample; empty if they are unclear.
    fn languages(&self) -> Result<Vec<Language>> {
        if let Some(known) = self.projections.languages.get() {
            return Ok(known.clone());
        }
        let sample = self.projections.matrix.as_ref();
        let sample = sample.map(|matrix| matrix.sample_ids(READ_FOR_LANGUAGES));
        let texts = self.index.texts_and_tokens(&sample.unwrap_or_default())?;
        let texts: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        let found = languages_of(&texts);
        Ok(self.projections.languages.get_or_init(|| found).clone())
    }
}

/// The languages of these passages, without rare ones. If none of them says its language, that of
/// all of them together.
fn languages_of(passages: &[&str]) -> Vec<Language> {
    let detected: Vec<Language> = passages.iter().filter_map(|text| detect(text)).collect();
    if detected.is_empty() {
        return detect(&passages.join("\n")).into_iter().collect();
    }
    let count = |language: &Language| detected.iter().filter(|one| *one == language).count();
    let is_frequent =
        |language: &&Language| count(language) as f32 >= LEAST_SHARE * detected.len() as f32;
    Language::ALL
        .iter()
        .filter(|language| detected.contains(language))
        .filter(is_frequent)
        .copied()
        .collect()
}

/// What is subtracted from the likeness of a hit in another language among so many passages.
fn less_for(passages: usize) -> f32 {
    let expected = (2.0 * (passages.max(1) as f32).ln()).sqrt();
    reference_cosines().spread * (GROWTH * expected - USUAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GERMAN: &str = "Der Kessel ist alt, und der Druck soll nicht zu hoch sein.";
    const ENGLISH: &str = "The boiler is old, and the pressure should not be too high.";

    #[test]
    fn the_languages_of_an_index_are_those_of_a_tenth_of_its_passages() {
        assert_eq!(languages_of(&[]), []);
        assert_eq!(languages_of(&["Brot", "Milch"]), []);
        assert_eq!(languages_of(&[GERMAN, "Brot"]), [Language::German]);
        let mut passages = vec![GERMAN; 30];
        passages.push(ENGLISH);
        assert_eq!(languages_of(&passages), [Language::German]);
        passages.extend([ENGLISH; 4]);
        assert_eq!(
            languages_of(&passages),
            [Language::English, Language::German]
        );
    }

    #[test]
    fn only_passages_in_another_language_are_judged_by_the_scale_of_the_question() {
        let of_two = Across {
            lift: 0.1,
            question: vec![Language::English],
            is_foreign: false,
            is_of_one_language: false,
        };
        assert!(of_two.concerns(GERMAN) && !of_two.concerns(ENGLISH));
        assert!(!of_two.concerns("9.4 kg"), "it says nothing of a language");
        let foreign = Across {
            is_foreign: true,
            is_of_one_language: true,
            ..of_two
        };
        assert!(foreign.concerns("9.4 kg"));
    }

    #[test]
    fn the_best_of_many_passages_has_to_stand_out_more() {
        assert!(less_for(1) < less_for(8) && less_for(8) < less_for(500));
    }
}
