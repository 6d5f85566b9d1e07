//! L4: code between back-ticks must appear as code in the cited text.
//!
//! A command that the claim builds from a pattern in the cited text ("`tool add NAME`") is compared
//! word by word: a word that appears nowhere rejects; words that are never adjacent raise a doubt.

use super::literals::{Standing, standing, standing_at, standing_in};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use local_agent_text::evidence::Normal;
use local_agent_text::language::is_common_english_word;

/// Maximum number of words of one piece of code.
const MOST_WORDS: usize = 12;

/// Finds code in the claim that is not in the cited text.
pub(super) fn check(case: &Case<'_>) -> Vec<Objection> {
    let mut out: Vec<Objection> = Vec::new();
    let mut from = 0;
    for span in case.code.iter().copied() {
        let normal = Normal::of(span);
        let shown = normal.as_str();
        let standing = standing(case, shown);
        if shown.is_empty() || standing == Standing::Whole {
            continue;
        }
        let is_part = standing == Standing::Part;
        let Some(effect) = weigh(case, shown).or(is_part.then_some(Effect::Doubts)) else {
            continue;
        };
        let said = crate::identity::shorten(shown);
        let found = Objection::new(Code::Code, effect, Detail::Absent { said });
        let at = case
            .claim
            .normal
            .get(from..)
            .and_then(|rest| rest.find(shown));
        out.push(match at {
            Some(at) => {
                let start = from + at;
                from = start + shown.len();
                found.at(start..from)
            }
            None => found,
        });
    }
    out
}

/// The effect of a missing piece of code on the claim.
fn weigh(case: &Case<'_>, shown: &str) -> Option<Effect> {
    let words: Vec<&str> = words(shown).take(MOST_WORDS).collect();
    if is_chord(case, shown) {
        return None;
    }
    let cited: Vec<String> = case.cited.iter().map(|s| folded(&s.item.text)).collect();
    let absent: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| is_absent(word, &cited))
        .collect();
    if absent.is_empty() {
        let apart = words
            .windows(2)
            .any(|pair| !are_beside_in_one(&cited, pair[0], pair[1]));
        return (apart && words.len() > 1).then_some(Effect::Doubts);
    }
    if words.len() > 2 && absent.iter().all(|word| is_free(word)) {
        return None;
    }
    let elsewhere = case
        .others
        .iter()
        .any(|s| holds(&folded(&s.item.text), &folded(shown)));
    let excused = elsewhere
        || absent.iter().all(|word| fills_a_pattern(word, &cited))
        || is_half_known(&words, &absent, shown)
        // `double` may be a word of the answerer's own, written as code.
        || words.iter().all(|word| is_common_english_word(word))
        || words.len() > 2 && absent.iter().all(|word| is_from_elsewhere(case, word));
    Some(if excused {
        Effect::Doubts
    } else {
        Effect::Rejects
    })
}

/// Whether a word of code is in none of these texts.
fn is_absent(word: &str, cited: &[String]) -> bool {
    let word = folded(word);
    !word.is_empty() && !cited.iter().any(|text| holds(text, &word))
}

/// Two words, one from the text and one from the answerer, and no option: "`tool NAME`".
fn is_half_known(words: &[&str], absent: &[&str], shown: &str) -> bool {
    words.len() == 2 && absent.len() == 1 && !words.iter().any(|word| is_option(word, shown))
}

fn is_option(word: &str, shown: &str) -> bool {
    shown.contains(&format!("-{word}")) || word.starts_with('-')
}

/// An example with the values of the question, or of another passage.
fn is_from_elsewhere(case: &Case<'_>, word: &str) -> bool {
    case.asked.lower().contains(&folded(word)) || elsewhere_word(case, word)
}

/// Whether one text has both words beside each other.
fn are_beside_in_one(cited: &[String], a: &str, b: &str) -> bool {
    let (a, b) = (folded(a), folded(b));
    cited.iter().any(|text| are_beside(text, &a, &b))
}

/// Whether each word of a line of code is in one of these texts, as a whole word.
pub(crate) fn has_all_words(line: &str, texts: &[&str]) -> bool {
    let mut words = line
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '#' | '/')))
        .map(|word| word.trim_matches(['.', '#', '/']))
        .filter(|word| word.contains(char::is_alphanumeric))
        .peekable();
    words.peek().is_some() && words.all(|word| texts.iter().any(|text| holds(text, word)))
}

/// Whether a text has a line of code that does not end within a word.
pub(crate) fn has_line(text: &str, line: &str) -> bool {
    standing_in(text, line) == Standing::Whole
}

/// Whether another passage has the word.
fn elsewhere_word(case: &Case<'_>, word: &str) -> bool {
    let word = folded(word);
    let mut others = case.others.iter();
    others.any(|s| holds(&folded(&s.item.text), &word))
}

/// Whether it is a key combination that the cited text has, ignoring blanks.
fn is_chord(case: &Case<'_>, shown: &str) -> bool {
    let chord = without_blanks(shown);
    let mut cited = case.cited.iter();
    shown.contains('+') && cited.any(|s| without_blanks(&s.item.text).contains(&chord))
}

/// In lower case, and without blanks.
fn without_blanks(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The words of a piece of code: cut at blanks and at brackets, commas and equals signs.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | ',' | '[' | ']' | '"' | ';' | '=')
    })
    .filter(|word| word.chars().filter(|c| c.is_alphanumeric()).count() > 1)
}

/// Whether a word is an example value that a user would fill in: a path, a number, a name in
/// capitals.
fn is_free(word: &str) -> bool {
    let number = word
        .chars()
        .all(|c| c.is_numeric() || matches!(c, '.' | '-'));
    number || word.contains('/') && !word.starts_with(['-', '/']) || word.starts_with("/path")
}

/// Whether a word is a pattern of the cited text with a number in place of its `N`.
fn fills_a_pattern(word: &str, cited: &[String]) -> bool {
    let name = folded(word.trim_end_matches(|c: char| c.is_ascii_digit()));
    let pattern = format!("{name}n");
    name.len() > 1 && name.len() < word.len() && cited.iter().any(|text| holds(text, &pattern))
}

fn folded(text: &str) -> String {
    text.to_lowercase()
}

/// Whether `word` is in `text` and not within another word.
fn holds(text: &str, word: &str) -> bool {
    standing_in(text, word) > Standing::Absent
}

fn places<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| standing_at(text, *at, word) > Standing::Absent)
}

/// Maximum number of characters between two adjacent words: brackets, quote marks.
const GAP: usize = 6;

/// Maximum number of occurrences of a word that are checked.
const MOST_PLACES: usize = 64;

fn are_beside(text: &str, a: &str, b: &str) -> bool {
    let mut behind = places(text, a)
        .take(MOST_PLACES)
        .map(|at| text.get(at + a.len()..).unwrap_or(""));
    behind.any(|rest| begins_nearly_with(rest, b))
}

/// Whether only a few signs are before a word.
fn begins_nearly_with(text: &str, word: &str) -> bool {
    let gap = text.find(word).and_then(|at| text.get(..at));
    gap.is_some_and(|gap| gap.len() <= GAP && !gap.contains(char::is_alphanumeric))
}
