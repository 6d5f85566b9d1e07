//! Word overlap on judged claims, as the baseline for the verifier.
//!
//! `cover`: share of the claim's content words that appear in the evidence. `window`: the same
//! within the best three sentences. `guarded`: window, but 0 when a number of the claim is missing,
//! and half when only one side is negated.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

const STOP: &str = "a an the of to in on at for from by with and or but if as is are was were be been being has have had \
    do does did it its this that these those he she they them his her their we you your i my our us who whom which what \
    when where how than then so also not no will would can could may might should there here into over about after \
    before more most some such s t";

static STOPS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| STOP.split_whitespace().collect());
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[^\W_]+").ok());
static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d[\d,.]*").ok());
static NEGATIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(not|no|never|none|nor|neither|without|cannot|n't|fail(?:s|ed)? to|lack(?:s|ed)?)\b|n't\b").ok()
});

fn stem(word: &str) -> &str {
    for ending in [
        "ingly", "edly", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "ly",
    ] {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.chars().count() >= 3
        {
            return rest;
        }
    }
    word
}

fn words(text: &str) -> Vec<String> {
    let Some(pattern) = WORDS.as_ref() else {
        return Vec::new();
    };
    pattern
        .find_iter(&text.to_lowercase())
        .map(|m| m.as_str().to_owned())
        .collect()
}

fn numbers(text: &str) -> HashSet<String> {
    let Some(pattern) = NUMBERS.as_ref() else {
        return HashSet::new();
    };
    pattern
        .find_iter(text)
        .map(|m| m.as_str().replace(',', "").trim_end_matches('.').to_owned())
        .collect()
}

/// Splits after full stops and at line ends.
fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for line in text.split('\n').map(str::trim) {
        let mut start = 0;
        for (at, c) in line.char_indices().filter(|(_, c)| c.is_whitespace()) {
            if line.get(..at).is_some_and(|l| l.ends_with(['.', '!', '?'])) {
                out.push(line.get(start..at).unwrap_or(""));
                start = at + c.len_utf8();
            }
        }
        out.push(line.get(start..).unwrap_or(""));
    }
    out.retain(|s| !s.is_empty());
    if out.is_empty() { vec![""] } else { out }
}

/// `cover`, `window` and `guarded`, each from 0 to 1.
pub(crate) fn overlap(claim: &str, evidence: &str) -> [f64; 3] {
    let all = words(claim);
    let wanted: Vec<&str> = all
        .iter()
        .filter(|w| !STOPS.contains(w.as_str()))
        .map(|w| stem(w))
        .collect();
    if wanted.is_empty() {
        return [0.0; 3];
    }
    let held: Vec<HashSet<String>> = sentences(evidence)
        .iter()
        .map(|s| words(s).iter().map(|w| stem(w).to_owned()).collect())
        .collect();
    let mut best = 0;
    for i in 1..held.len() {
        if share_in_window(&wanted, &held, i) > share_in_window(&wanted, &held, best) {
            best = i;
        }
    }
    let near = sentences(evidence)
        .get(best..)
        .map(|s| s.iter().take(3).copied().collect::<Vec<_>>().join(" "))
        .unwrap_or_default();
    let guarded = if !numbers(claim).is_subset(&numbers(evidence)) {
        0.0
    } else if is_negated(claim) != is_negated(&near) {
        share_in_window(&wanted, &held, best) / 2.0
    } else {
        share_in_window(&wanted, &held, best)
    };
    [
        share_of_words(&wanted, &held),
        share_in_window(&wanted, &held, best),
        guarded,
    ]
}

/// The share of the wanted words in three sentences from here.
fn share_in_window(wanted: &[&str], held: &[HashSet<String>], i: usize) -> f64 {
    held.get(i..(i + 3).min(held.len()))
        .map_or(0.0, |sets| share_of_words(wanted, sets))
}

/// Whether the text contains a negation.
fn is_negated(text: &str) -> bool {
    NEGATIONS.as_ref().is_some_and(|n| n.is_match(text))
}

/// The share of the wanted words that one of the sets contains.
fn share_of_words(wanted: &[&str], sets: &[HashSet<String>]) -> f64 {
    let found = wanted
        .iter()
        .filter(|w| sets.iter().any(|s| s.contains(**w)))
        .count();
    f64::from(u32::try_from(found).unwrap_or(0))
        / f64::from(u32::try_from(wanted.len()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_counts_are_what_they_say() {
        let evidence = "The harbour budget is 5 million. It was not approved.";
        assert_eq!(
            overlap("The harbour budget is 5 million.", evidence),
            [1.0, 1.0, 0.5]
        );
        assert_eq!(
            overlap("The harbour budget is 6 million.", evidence),
            [0.75, 0.75, 0.0]
        );
        assert_eq!(overlap("It is.", evidence), [0.0; 3]);
    }
}
