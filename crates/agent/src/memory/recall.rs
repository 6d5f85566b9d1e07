//! Searches memories by words, and chooses those that are shown as context with an answer.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use local_agent_index::store::MemoryRow;
use local_agent_text::language::terms;

/// Maximum number of memories shown with one answer.
const MAX_RECALLED: usize = 3;

/// A memory is shown if it contains at least this share of the question's words.
const SHARE: f32 = 1.0 / 3.0;

/// A memory shown with an answer. Its label is not an evidence label: nothing can cite it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Recalled {
    /// `M1`, `M2`, …
    pub label: String,
    /// The id used in commands.
    pub memory_id: String,
    /// The remembered text, in the user's words.
    pub content: String,
}

/// The memories that contain words of `text`, best first, with their scores: the summed rarity
/// (inverse document frequency among the memories) of the shared words.
pub fn search<'a>(rows: &'a [MemoryRow], text: &str) -> Vec<(&'a MemoryRow, f32)> {
    let asked: HashSet<String> = terms(text).into_iter().collect();
    let held: Vec<HashSet<String>> = rows
        .iter()
        .map(|row| terms(&row.content).into_iter().collect())
        .collect();
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for term in held.iter().flatten().filter(|term| asked.contains(*term)) {
        *frequency.entry(term).or_default() += 1;
    }
    let n = rows.len() as f32;
    // In the order of the words, so that the sums are the same on every run.
    let mut asked: Vec<&String> = asked.iter().collect();
    asked.sort_unstable();
    let mut found: Vec<(&MemoryRow, f32)> = rows
        .iter()
        .zip(&held)
        .map(|(row, held)| (row, rarity_of_shared(&asked, &frequency, n, held)))
        .filter(|(_, score)| *score > 0.0)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}

/// The summed rarity of the asked terms that a memory contains.
fn rarity_of_shared(
    asked: &[&String],
    frequency: &HashMap<&str, usize>,
    n: f32,
    held: &HashSet<String>,
) -> f32 {
    asked
        .iter()
        .filter(|term| held.contains(**term))
        .map(|term| rarity_of(frequency, n, term))
        .sum::<f32>()
}

/// The rarity of a term among the memories.
fn rarity_of(frequency: &HashMap<&str, usize>, n: f32, term: &str) -> f32 {
    frequency
        .get(term)
        .map_or(0.0, |df| (1.0 + n / *df as f32).ln())
}

/// The few memories that match a question.
pub fn recall(rows: &[MemoryRow], question: &str) -> Vec<Recalled> {
    let asked: HashSet<String> = terms(question).into_iter().collect();
    search(rows, question)
        .into_iter()
        .filter(|(row, _)| is_about(&asked, row))
        .take(MAX_RECALLED)
        .enumerate()
        .map(|(at, (row, _))| Recalled {
            label: format!("M{}", at + 1),
            memory_id: row.id.clone(),
            content: row.content.clone(),
        })
        .collect()
}

/// Whether a memory contains enough of the question's terms.
fn is_about(asked: &HashSet<String>, row: &MemoryRow) -> bool {
    let held: HashSet<String> = terms(&row.content).into_iter().collect();
    asked.intersection(&held).count() as f32 >= SHARE * asked.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, content: &str) -> MemoryRow {
        MemoryRow {
            id: id.to_owned(),
            kind: "user_fact".to_owned(),
            content: content.to_owned(),
            source: "manual".to_owned(),
            created_at: String::new(),
            updated_at: String::new(),
            links: Vec::new(),
        }
    }

    #[test]
    fn words_find_memories_and_rare_words_weigh_more() {
        let rows = [
            row("a", "The oven is repaired by Leyla."),
            row("b", "The oven has two doors."),
            row("c", "Antworten bitte auf Deutsch."),
            row("d", "食パンは三十分焼く。"),
        ];
        let ids = |text: &str| {
            search(&rows, text)
                .iter()
                .map(|(row, _)| row.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids("Who repairs ovens? Leyla?"), ["a", "b"]);
        assert_eq!(ids("食パン"), ["d"]);
        assert_eq!(ids("zebra"), [] as [&str; 0]);
        assert!(search(&[], "oven").is_empty());
    }

    #[test]
    fn only_what_a_question_is_about_is_context() {
        let rows = [
            row("a", "The oven is repaired by Leyla."),
            row("b", "Leyla likes tea."),
        ];
        let recalled = recall(&rows, "Who repairs the oven?");
        assert_eq!(
            recalled
                .iter()
                .map(|r| (r.label.as_str(), r.memory_id.as_str()))
                .collect::<Vec<_>>(),
            [("M1", "a")]
        );
        assert!(
            recall(
                &rows,
                "What did the council of the harbour town decide about Leyla in the last year?"
            )
            .is_empty()
        );
        let many: Vec<MemoryRow> = (0..9).map(|n| row(&n.to_string(), "the oven")).collect();
        assert_eq!(recall(&many, "oven").len(), MAX_RECALLED);
    }
}
