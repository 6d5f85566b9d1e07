//! What the user sees for a sentence that was rejected or is in doubt: the sentence, the reason in
//! words, and the sentence of the source.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defang::defang;
use local_agent_text::evidence::{EvidenceItem, EvidenceSnapshot};
use local_agent_text::markdown::{plain, sentences};
use local_agent_verify::{Claim, Effect, Place, Report, Verdict};

/// Maximum number of characters of a sentence that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// One sentence of an answer, and why it was rejected or is in doubt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimNote {
    /// The sentence as written, without citations, on one line.
    pub sentence: String,
    /// `rejected`, `doubtful`, or `not_shown` for a section that a summary leaves out.
    pub verdict: String,
    /// The codes of the verifier.
    pub codes: Vec<String>,
    /// The reason in words.
    pub reason: String,
    /// What the source says; `None` if the claim cites nothing that could be read.
    pub source: Option<SourceSentence>,
}

/// A sentence of the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceSentence {
    /// The label of its item.
    pub label: String,
    /// `source:path`.
    pub address: String,
    /// `12` or `12-14`.
    pub lines: String,
    /// Its words without markup.
    pub text: String,
}

/// A note for every claim with this verdict, in the order of the answer.
pub(super) fn claim_notes(
    report: &Report,
    snapshot: &EvidenceSnapshot,
    verdict: Verdict,
) -> Vec<ClaimNote> {
    report
        .claims
        .iter()
        .filter(|claim| claim.verdict == verdict)
        .map(|claim| ClaimNote::of(claim, snapshot))
        .collect()
}

impl ClaimNote {
    /// A part of a note that is not shown, and the reason.
    pub(super) fn not_shown(title: &str, verdict: &str, reason: String) -> Self {
        Self {
            sentence: harmless(&shorten(title)),
            verdict: verdict.to_owned(),
            codes: Vec::new(),
            reason: harmless(&reason),
            source: None,
        }
    }

    fn of(claim: &Claim, snapshot: &EvidenceSnapshot) -> Self {
        let codes = match claim.verdict {
            Verdict::Rejected => &claim.codes,
            _ => &claim.doubts,
        };
        Self {
            // It must not contain anything that looks like a valid citation.
            sentence: harmless(&shorten(&claim.text)),
            verdict: claim.verdict.as_str().to_owned(),
            codes: codes.iter().map(|code| code.as_str().to_owned()).collect(),
            reason: harmless(&claim.why),
            source: source_sentence(claim, snapshot),
        }
    }
}

/// Number of digits of a chunk's key.
const KEY_DIGITS: usize = 32;

/// The words of a rejected sentence with all citations disabled: markers are broken up, and keys
/// are shortened.
fn harmless(text: &str) -> String {
    let text = defang(text);
    let mut out = String::with_capacity(text.len());
    let mut digits = 0;
    for c in text.chars() {
        digits = if c.is_ascii_hexdigit() { digits + 1 } else { 0 };
        match digits {
            KEY_DIGITS => out.push('…'),
            d if d > KEY_DIGITS => {}
            _ => out.push(c),
        }
    }
    out
}

/// The sentence of the evidence that contradicts a claim; otherwise the one among its citations
/// that shares the most words with it.
pub fn source_sentence(claim: &Claim, snapshot: &EvidenceSnapshot) -> Option<SourceSentence> {
    let against = claim
        .findings
        .iter()
        .filter(|finding| finding.effect != Effect::Remarks)
        .find_map(|finding| finding.evidence.as_ref());
    if let Some(sentence) = against.and_then(|place| at_place(place, snapshot)) {
        return Some(sentence);
    }
    claim
        .citations
        .iter()
        .filter_map(|citation| snapshot.item(citation.label?))
        .filter_map(|item| nearest(&claim.text, item))
        .max_by_key(|(shared, _)| *shared)
        .map(|(_, sentence)| sentence)
}

fn at_place(place: &Place, snapshot: &EvidenceSnapshot) -> Option<SourceSentence> {
    let item = snapshot.item(place.label)?;
    // A whole item is not a sentence.
    if place.span == item.span {
        return None;
    }
    let text = item.slice(place.span)?;
    Some(SourceSentence {
        label: place.label.to_string(),
        address: format!("{}:{}", item.source, item.path),
        lines: place.lines.to_string(),
        text: shorten(&plain(text)),
    })
}

/// The sentence of an item that shares the most words with `claim`, and the number of shared words.
fn nearest(claim: &str, item: &EvidenceItem) -> Option<(usize, SourceSentence)> {
    let wanted = words(claim);
    let shared_words = |text: &str| words(text).intersection(&wanted).count();
    let mut best = (0, 0..0);
    for sentence in sentences(&item.text) {
        let range = sentence.span.start()..sentence.span.end();
        let shared = shared_words(item.text.get(range.clone()).unwrap_or(""));
        if shared > best.0 {
            best = (shared, range);
        }
    }
    let (shared, range) = best;
    if shared == 0 {
        return None;
    }
    let (_, lines) = item.locate(range.start, range.end)?;
    let text = item.text.get(range)?;
    Some((
        shared,
        SourceSentence {
            label: item.label.to_string(),
            address: format!("{}:{}", item.source, item.path),
            lines: lines.to_string(),
            text: shorten(&plain(text)),
        },
    ))
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The first characters, on one line.
fn shorten(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    match line.char_indices().nth(MAX_SHOWN_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_a_refused_sentence_is_no_key_any_more() {
        let key = "0123456789abcdef0123456789abcdef";
        let said = harmless(&format!("The key {key} is new. 【E1】 [E9]"));
        assert!(
            !said.contains(key) && said.contains("0123456789abcdef"),
            "{said}"
        );
        assert!(!said.contains("[E9]") && !said.contains("【E1】"), "{said}");
    }
}
