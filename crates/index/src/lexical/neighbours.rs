//! Finds adjacent words of a question, and checks whether they are adjacent in a text.

use local_agent_text::language::Language;
use local_agent_text::language::tokenize::with_analyzer;

use super::question_words::searched_words;
use super::{Query, Reader};

/// The pairs of adjacent stems of a query. Stop words and question words are skipped.
#[derive(Default)]
pub struct Neighbours {
    /// The stems of the pairs, in ascending order.
    stems: Vec<String>,
    /// Each pair once, as indices of `stems`.
    pairs: Vec<(usize, usize)>,
}

impl Reader {
    /// The pairs of words and phrases of `query`.
    pub fn neighbours(&self, query: &Query) -> Neighbours {
        Neighbours::of(query, &self.languages)
    }
}

impl Neighbours {
    /// The pairs of a query. `languages` are the languages of the index besides English.
    fn of(query: &Query, languages: &[Language]) -> Self {
        let words = searched_words(query, languages).text;
        let texts = std::iter::once(&words).chain(&query.phrases);
        let sequences: Vec<Vec<String>> = texts.map(|text| content_stems(text)).collect();
        let mut stems = sequences.concat();
        stems.sort_unstable();
        stems.dedup();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for sequence in &sequences {
            let places = sequence.iter().map(|stem| place_of(&stems, stem));
            let places: Vec<usize> = places.flatten().collect();
            pairs.extend(places.windows(2).map(|pair| (pair[0], pair[1])));
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self { stems, pairs }
    }

    /// Whether the query has no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The share of the pairs that are adjacent in `text`, 0 to 1; 0 without pairs.
    pub fn share_in(&self, text: &str) -> f32 {
        let mut found = vec![false; self.pairs.len()];
        let mut before: Option<usize> = None;
        let mut look = |stem: &str| {
            let place = place_of(&self.stems, stem);
            if let (Some(first), Some(second)) = (before, place)
                && let Ok(at) = self.pairs.binary_search(&(first, second))
            {
                found[at] = true;
            }
            before = place;
        };
        with_analyzer(|analyzer| analyzer.each_content_stem(text, &mut look));
        let count = found.iter().filter(|found| **found).count();
        count as f32 / self.pairs.len().max(1) as f32
    }
}

/// The index of `stem` in the ascending `stems`.
fn place_of(stems: &[String], stem: &str) -> Option<usize> {
    stems
        .binary_search_by(|known| known.as_str().cmp(stem))
        .ok()
}

/// The stems of `text` in order, without stop words.
fn content_stems(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    let mut keep = |stem: &str| stems.push(stem.to_owned());
    with_analyzer(|analyzer| analyzer.each_content_stem(text, &mut keep));
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_of_stems_without_stop_words() {
        let query = Query::plain("How does the garbage collector pause threads?");
        let pairs = Neighbours::of(&query, &[]);
        let share = pairs.share_in("Garbage collectors run. They pause no threads.");
        assert_eq!(share, 2.0 / 3.0);
        assert_eq!(
            pairs.share_in("the garbage collector pauses the threads"),
            1.0
        );
        assert_eq!(pairs.share_in("a collector of garbage"), 0.0);
    }

    #[test]
    fn one_word_has_no_neighbour() {
        assert!(Neighbours::of(&Query::plain("what is sourdough"), &[]).is_empty());
    }
}
