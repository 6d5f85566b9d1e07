//! Finds adjacent words of a question, and checks whether they are adjacent in a text.

use local_agent_text::language::Language;
use local_agent_text::language::tokenize::with_analyzer;

use super::question_words::searched_words;
use super::{Query, Reader};

/// The pairs of adjacent stems of a query. Stop words and question words are skipped.
#[derive(Default)]
pub struct Neighbours {
    /// Each pair once.
    pairs: Vec<(String, String)>,
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
        let mut pairs = Vec::new();
        let words = searched_words(query, languages);
        for text in std::iter::once(&words).chain(&query.phrases) {
            each_pair(text, |a, b| pairs.push((a.to_owned(), b.to_owned())));
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self { pairs }
    }

    /// Whether the query has no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The share of the pairs that are adjacent in `text`, 0 to 1; 0 without pairs.
    pub fn share_in(&self, text: &str) -> f32 {
        let mut found = vec![false; self.pairs.len()];
        each_pair(text, |a, b| {
            let at = self
                .pairs
                .iter()
                .position(|pair| pair.0 == a && pair.1 == b);
            if let Some(at) = at {
                found[at] = true;
            }
        });
        let count = found.iter().filter(|found| **found).count();
        count as f32 / self.pairs.len().max(1) as f32
    }
}

/// Passes every two adjacent stems of `text` to `take`, skipping stop words.
fn each_pair(text: &str, mut take: impl FnMut(&str, &str)) {
    let mut last = String::new();
    let mut pair_up = |stem: &str| {
        if !last.is_empty() {
            take(&last, stem);
        }
        last.clear();
        last.push_str(stem);
    };
    with_analyzer(|analyzer| analyzer.each_content_stem(text, &mut pair_up));
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
