//! The directions in which the vectors of one index differ by language.
//!
//! A multilingual encoder places texts of one language near each other: a question is closer to
//! unrelated notes in its own language than to the answer in another one. The means of the vectors
//! of each language span a small space. Without its part in that space, a question has the same
//! distance to all languages, and only its subject counts. (Removing the mean of each language:
//! Libovický, Rosa and Fraser 2020, arXiv:2004.05160; here only the question is changed, so stored
//! vectors do not change.)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vectors::dot;
use local_agent_text::language::Language;

/// Minimum number of passages of a language in the sample. The mean of fewer would reflect their
/// subjects more than the language.
const FEWEST_PASSAGES: usize = 6;

/// Maximum number of languages, the most frequent first.
const MOST_LANGUAGES: usize = 6;

/// A shorter direction is noise.
const LEAST_LENGTH: f32 = 1e-3;

/// One language of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LanguageShare {
    /// Its English name.
    pub language: String,
    /// The number of passages of the sample that are written in it.
    pub passages: usize,
}

/// The space in which the languages of one index differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LanguageSpace {
    /// The languages, the most frequent first; at least two.
    pub languages: Vec<LanguageShare>,
    /// Directions of length 1, at right angles to each other; one fewer than languages, or less.
    directions: Vec<Vec<f32>>,
    /// The mean of all passages, as its part in each direction.
    mean: Vec<f32>,
}

/// A question without its part in the space of languages.
#[derive(Debug, Clone, PartialEq)]
pub struct NeutralQuestion {
    /// The vector to search with; its length is not 1.
    pub vector: Vec<f32>,
    length: f32,
    /// Added to each product, so that the mean over all passages stays the same.
    offset: f32,
}

impl NeutralQuestion {
    /// A question that is used unchanged, because the notes are in one language.
    pub fn unchanged(vector: &[f32]) -> Self {
        Self {
            vector: vector.to_vec(),
            length: 1.0,
            offset: 0.0,
        }
    }

    /// The cosine used for ranking, from the cosine of [`Self::vector`] and a passage.
    pub fn cosine(&self, found: f32) -> f32 {
        found * self.length + self.offset
    }

    /// The same cosine, from a passage's vector of length 1.
    pub fn with(&self, passage: &[f32]) -> f32 {
        dot(&self.vector, passage) + self.offset
    }
}

impl LanguageSpace {
    /// The space of these passages; `None` if they are in one language, or too few.
    pub fn of(passages: &[(Option<Language>, &[f32])]) -> Option<Self> {
        let groups = groups(passages);
        let (_, first) = groups.first()?;
        let origin = mean(first);
        let mut directions: Vec<Vec<f32>> = Vec::new();
        for (_, vectors) in groups.iter().skip(1) {
            let mut direction: Vec<f32> = mean(vectors)
                .iter()
                .zip(&origin)
                .map(|(x, o)| x - o)
                .collect();
            for known in &directions {
                let part = dot(&direction, known);
                subtract(&mut direction, known, part);
            }
            let length = dot(&direction, &direction).sqrt();
            if length > LEAST_LENGTH {
                divide(&mut direction, length);
                directions.push(direction);
            }
        }
        if directions.is_empty() {
            return None;
        }
        let all: Vec<&[f32]> = passages.iter().map(|(_, vector)| *vector).collect();
        let center = mean(&all);
        let shares = groups.iter().map(|(language, vectors)| LanguageShare {
            language: language.name().to_owned(),
            passages: vectors.len(),
        });
        Some(Self {
            languages: shares.collect(),
            mean: directions.iter().map(|d| dot(d, &center)).collect(),
            directions,
        })
    }

    /// Removes the language from the vector of a question. A vector with another number of
    /// dimensions than those of the passages is returned unchanged.
    pub fn neutral(&self, question: &[f32]) -> NeutralQuestion {
        let mut vector = question.to_vec();
        let mut offset = 0.0;
        for (direction, mean) in self.directions.iter().zip(&self.mean) {
            if direction.len() == question.len() {
                let part = dot(question, direction);
                subtract(&mut vector, direction, part);
                offset += part * mean;
            }
        }
        NeutralQuestion {
            length: dot(&vector, &vector).sqrt(),
            vector,
            offset,
        }
    }
}

/// The vectors of each language that has enough of them, the most frequent first.
fn groups<'a>(passages: &[(Option<Language>, &'a [f32])]) -> Vec<(Language, Vec<&'a [f32]>)> {
    let mut groups: Vec<(Language, Vec<&[f32]>)> = Vec::new();
    for (language, vector) in passages {
        let Some(language) = language else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| known == language) {
            Some((_, vectors)) => vectors.push(vector),
            None => groups.push((*language, vec![vector])),
        }
    }
    groups.retain(|(_, vectors)| vectors.len() >= FEWEST_PASSAGES);
    groups.sort_by_key(|(language, vectors)| (std::cmp::Reverse(vectors.len()), language.name()));
    groups.truncate(MOST_LANGUAGES);
    groups
}

fn mean(vectors: &[&[f32]]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, |vector| vector.len())];
    for vector in vectors {
        sum.iter_mut().zip(*vector).for_each(|(sum, x)| *sum += x);
    }
    let count = vectors.len().max(1) as f32;
    divide(&mut sum, count);
    sum
}

fn divide(vector: &mut [f32], by: f32) {
    for x in vector {
        *x /= by;
    }
}

/// Subtracts `times · direction`.
fn subtract(vector: &mut [f32], direction: &[f32], times: f32) {
    vector
        .iter_mut()
        .zip(direction)
        .for_each(|(x, d)| *x -= times * d);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector with a language in the first two dimensions and a subject in the others.
    fn vector(language: [f32; 2], subject: usize) -> Vec<f32> {
        let mut vector = vec![language[0], language[1], 0.0, 0.0, 0.0];
        vector[2 + subject] = 0.6;
        let length = dot(&vector, &vector).sqrt();
        vector.iter().map(|x| x / length).collect()
    }

    const ENGLISH: [f32; 2] = [0.8, 0.0];
    const GERMAN: [f32; 2] = [0.0, 0.8];

    fn passages() -> Vec<(Option<Language>, Vec<f32>)> {
        (0..18)
            .map(|at| match at % 2 {
                0 => (Some(Language::English), vector(ENGLISH, at / 2 % 3)),
                _ => (Some(Language::German), vector(GERMAN, at / 2 % 3)),
            })
            .collect()
    }

    fn space(passages: &[(Option<Language>, Vec<f32>)]) -> Option<LanguageSpace> {
        let views: Vec<_> = passages.iter().map(|(l, v)| (*l, v.as_slice())).collect();
        LanguageSpace::of(&views)
    }

    #[test]
    fn a_question_is_as_near_to_its_subject_in_each_language() {
        let space = space(&passages()).unwrap();
        assert_eq!(space.languages.len(), 2);
        let question = vector(ENGLISH, 1);
        let answer = vector(GERMAN, 1);
        let other = vector(ENGLISH, 2);
        assert!(dot(&question, &answer) < dot(&question, &other));
        let neutral = space.neutral(&question);
        let cosine = |passage: &[f32]| neutral.with(passage);
        assert!(cosine(&answer) > cosine(&other) + 0.1);
        let same = vector(ENGLISH, 1);
        assert!((cosine(&answer) - cosine(&same)).abs() < 1e-5);
    }

    #[test]
    fn the_mean_cosine_over_all_passages_stays_the_same() {
        let passages = passages();
        let question = vector(ENGLISH, 1);
        let neutral = space(&passages).unwrap().neutral(&question);
        let plain: f32 = passages.iter().map(|(_, p)| dot(&question, p)).sum();
        let changed: f32 = passages
            .iter()
            .map(|(_, p)| neutral.cosine(dot(&neutral.vector, p) / neutral.length))
            .sum();
        assert!((plain - changed).abs() < 1e-4);
    }

    #[test]
    fn one_language_has_no_space() {
        let mut all = passages();
        all.retain(|(language, _)| *language == Some(Language::English));
        assert_eq!(space(&all), None);
        all.push((Some(Language::German), vector(GERMAN, 0)));
        assert_eq!(space(&all), None, "one passage says nothing");
        assert_eq!(LanguageSpace::of(&[]), None);
    }
}
