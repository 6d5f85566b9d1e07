//! L4: code between back-ticks must appear as code in the cited text.
//!
//! A command that the claim builds from a pattern in the cited text ("`tool add NAME`") is compared
//! word by word: a word that appears nowhere rejects; words that are never adjacent raise a doubt.

use super::{Case, Effect, atoms};
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
        if shown.is_empty() || atoms::stands(case, shown) {
            continue;
        }
        let Some(effect) = weigh(case, shown) else {
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
    let absent = |word: &&str| {
        let word = folded(word);
        !word.is_empty() && !cited.iter().any(|text| holds(text, &word))
    };
    if words.iter().any(absent) {
        let elsewhere = |text: &str| holds(&folded(text), &folded(shown));
        let others = case.others.iter().any(|s| elsewhere(&s.item.text));
        let free = words.len() > 2 && words.iter().filter(|w| absent(w)).all(|w| is_free(w));
        let filled = words
            .iter()
            .filter(|w| absent(w))
            .all(|w| fills_a_pattern(w, &cited));
        // Two words, one from the text and one made up: "`tool NAME`".
        let option = |word: &&str| shown.contains(&format!("-{word}")) || word.starts_with('-');
        let known = words.len() == 2 && words.iter().filter(|w| !absent(w)).count() == 1;
        let known = known && !words.iter().any(option);
        // `double` may be an ordinary word that the answerer wrote as code.
        let common = words.iter().all(|w| is_common_english_word(w));
        // The code may be an example with values from the question or from another passage.
        let named = |w: &&&str| case.asked.lower().contains(&folded(w)) || elsewhere_word(case, w);
        let put_in = words.len() > 2 && words.iter().filter(|w| absent(w)).all(|w| named(&w));
        return match (free, others || filled || known || common || put_in) {
            (true, _) => None,
            (_, true) => Some(Effect::Doubts),
            (_, false) => Some(Effect::Rejects),
        };
    }
    let beside = |pair: &[&str]| {
        let (a, b) = (folded(pair[0]), folded(pair[1]));
        cited.iter().any(|text| are_beside(text, &a, &b))
    };
    let apart = words.windows(2).any(|pair| !beside(pair));
    (apart && words.len() > 1).then_some(Effect::Doubts)
}

/// Whether each word of a line of code is in one of these texts, as a whole word.
pub(crate) fn has_all_words(line: &str, texts: &[&str]) -> bool {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    let mut words = line
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '#' | '/')))
        .map(|word| word.trim_matches(['.', '#', '/']))
        .filter(is_word)
        .peekable();
    words.peek().is_some() && words.all(|word| texts.iter().any(|text| holds(text, word)))
}

/// Whether another passage has the word.
fn elsewhere_word(case: &Case<'_>, word: &str) -> bool {
    let word = folded(word);
    let holds_it = |s: &super::Source<'_>| holds(&folded(&s.item.text), &word);
    case.others.iter().any(holds_it)
}

/// Whether it is a key combination that the cited text has, ignoring blanks.
fn is_chord(case: &Case<'_>, shown: &str) -> bool {
    let bare = |text: &str| -> String {
        let lower = text.to_lowercase();
        lower.chars().filter(|c| !c.is_whitespace()).collect()
    };
    let chord = bare(shown);
    shown.contains('+')
        && case
            .cited
            .iter()
            .any(|s| bare(&s.item.text).contains(&chord))
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

/// Whether `word` is in `text` and not part of a longer word.
fn holds(text: &str, word: &str) -> bool {
    places(text, word).next().is_some()
}

fn places<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| {
            let starts = word.starts_with(|c: char| c.is_alphanumeric());
            let ends = word.ends_with(|c: char| c.is_alphanumeric());
            let before = text.get(..*at).and_then(|t| t.chars().next_back());
            let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
            !(starts && is_part(before) || ends && is_part(after))
        })
}

/// Maximum number of characters between two adjacent words: brackets, quote marks.
const GAP: usize = 6;

/// Maximum number of occurrences of a word that are checked.
const MOST_PLACES: usize = 64;

fn are_beside(text: &str, a: &str, b: &str) -> bool {
    places(text, a).take(MOST_PLACES).any(|at| {
        let rest = text.get(at + a.len()..).unwrap_or("");
        let found = rest.find(b).unwrap_or(usize::MAX);
        found <= GAP
            && rest
                .get(..found)
                .is_some_and(|gap| !gap.contains(char::is_alphanumeric))
    })
}
