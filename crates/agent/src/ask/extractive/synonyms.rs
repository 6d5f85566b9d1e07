//! Everyday synonyms in English and German (`data/synonyms.txt`). A question and a note often use
//! different words.

use std::collections::HashMap;
use std::sync::OnceLock;

use local_agent_index::lexical;

/// One group per line; lines that begin with `#` are comments.
const GROUPS: &str = include_str!("data/synonyms.txt");

/// For each stem, the groups that contain it.
fn groups() -> &'static HashMap<String, Vec<usize>> {
    static ALL: OnceLock<HashMap<String, Vec<usize>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut out: HashMap<String, Vec<usize>> = HashMap::new();
        let groups = GROUPS.lines().filter(|line| !line.starts_with('#'));
        for (at, line) in groups.enumerate() {
            for stem in lexical::terms(line) {
                let of = out.entry(stem).or_default();
                if of.last() != Some(&at) {
                    of.push(at);
                }
            }
        }
        out
    })
}

/// The stems of the synonyms of the word with `stem`, without `stem` itself.
pub(super) fn of(stem: &str) -> Vec<String> {
    let all = groups();
    let Some(own) = all.get(stem) else {
        return Vec::new();
    };
    let mut out: Vec<String> = all
        .iter()
        .filter(|(other, of)| *other != stem && of.iter().any(|group| own.contains(group)))
        .map(|(other, _)| other.clone())
        .collect();
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        let (a, b) = (lexical::terms(a), lexical::terms(b));
        a.iter().any(|a| b.iter().any(|b| of(a).contains(b)))
    }

    #[test]
    fn everyday_words_mean_the_same_in_one_language_and_across_two() {
        for (a, b) in [
            ("automobile", "car"),
            ("landlord", "Vermieter"),
            ("invoice", "Rechnung"),
            ("reboot", "restart"),
        ] {
            assert!(same(a, b) && same(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("car", "train"),
            ("invoice", "reboot"),
            ("mother", "father"),
            ("wife", "husband"),
            ("allowed", "forbidden"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }
}
