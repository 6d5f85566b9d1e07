//! Attacks on claims: true sentences are made false in known ways, and the verifier judges them.
//!
//! The claims have three sources: sentences taken from notes (`notes`), claims that people judged
//! as supported (`claims`), and hand-written paraphrases with their own faults (`paraphrases`,
//! `held_out`). The files `operators.rs`, `paraphrases.jsonl` and `held_out.jsonl` were written
//! before the measured rules. `held_out.jsonl` was not opened while rules were written.
//! `operators.rs` was read before the latest rules for negation and names, but the words of those
//! rules do not come from it.

mod operators;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use operators::Edit;

use super::invalid;
use local_agent_text::error::Result;
use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, FreshnessReport, Normal, citation_of};
use local_agent_text::markdown::{BlockRole, Sentence, sentences};
use local_agent_text::types::{
    ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, Sha256, SourceName,
};
use local_agent_verify::{Report, Verdict, VerifyOptions, verify_text};

/// Maximum length of a sentence that is attacked, in bytes; a longer one is seldom a single
/// sentence.
const MAX_SENTENCE_BYTES: usize = 400;

/// A claim with its evidence (`E1`) and an unrelated passage (`E2`).
#[derive(Debug, Clone)]
pub struct Sample {
    /// The source of the claim.
    pub source: &'static str,
    /// A sentence, without its full stop.
    pub claim: String,
    /// The evidence.
    pub snapshot: EvidenceSnapshot,
    /// Faulty versions written by hand: operator, sentence.
    pub faults: Vec<(String, String)>,
}

/// A text with its place in a file.
#[derive(Debug, Clone)]
pub struct AttackPassage {
    /// The path of its file.
    pub path: String,
    /// The headings above it.
    pub heading: HeadingPath,
    /// The byte at which it begins.
    pub start: usize,
    /// The line on which it begins, from 1.
    pub first_line: u32,
    /// Its bytes, verbatim.
    pub text: String,
}

impl AttackPassage {
    /// A passage that is a whole file.
    pub fn whole(path: &str, text: &str) -> Self {
        let heading = HeadingPath::from_canonical("H1: Notes").unwrap_or_default();
        Self {
            path: path.to_owned(),
            heading,
            start: 0,
            first_line: 1,
            text: text.to_owned(),
        }
    }

    fn excerpt(&self) -> Option<Excerpt> {
        let source = SourceName::new("notes").ok()?;
        let path = RelPath::new(&self.path).ok()?;
        let chunk_key = ChunkKey::derive(
            &source,
            &path,
            &self.heading,
            &Sha256::of(self.text.as_bytes()),
            0,
        );
        let breaks = u32::try_from(self.text.trim_end_matches('\n').matches('\n').count()).ok()?;
        Some(Excerpt {
            path_is_shared: false,
            chunk_key,
            merged: Vec::new(),
            source,
            path,
            heading: self.heading.clone(),
            span: ByteSpan::new(self.start, self.start + self.text.len())?,
            lines: LineSpan::new(self.first_line, self.first_line + breaks)?,
            text: self.text.clone(),
        })
    }
}

/// A snapshot of these passages.
pub(super) fn freeze(question: &str, passages: &[&AttackPassage]) -> Option<EvidenceSnapshot> {
    let excerpts = passages
        .iter()
        .map(|p| p.excerpt())
        .collect::<Option<Vec<_>>>()?;
    EvidenceSnapshot::freeze(question, excerpts).ok()
}

/// The words of a sentence of running text without markup, of moderate length; `None` for all
/// others.
pub(super) fn plain_sentence<'a>(text: &'a str, sentence: &Sentence) -> Option<&'a str> {
    let words = text.get(sentence.span.start()..sentence.span.end())?;
    let plain = matches!(sentence.role, BlockRole::Paragraph | BlockRole::ListItem)
        && !words.contains(['[', '`', '|', '<']);
    let whole = words.ends_with('.')
        && words.split_whitespace().count() >= 6
        && words.len() <= MAX_SENTENCE_BYTES;
    (plain && whole).then_some(words)
}

/// The plain sentences of passages of notes, at most `most`, spread evenly; each with its own
/// passage and the next one of another file.
pub fn from_notes(passages: &[AttackPassage], most: usize) -> Vec<Sample> {
    let mut all = Vec::new();
    for (n, passage) in passages.iter().enumerate() {
        let other = passages
            .iter()
            .cycle()
            .skip(n + 1)
            .take(passages.len())
            .find(|p| p.path != passage.path);
        let Some(snapshot) = other.and_then(|other| freeze("", &[passage, other])) else {
            continue;
        };
        for sentence in sentences(&passage.text) {
            if let Some(words) = plain_sentence(&passage.text, &sentence) {
                let claim = words.trim_end_matches('.').to_owned();
                all.push(Sample {
                    source: "notes",
                    claim,
                    snapshot: snapshot.clone(),
                    faults: Vec::new(),
                });
            }
        }
    }
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

/// Claims that people judged as supported, at most `most`, each with its evidence and that of
/// another claim.
pub fn from_claims(claims: &[super::claims::Claim], most: usize) -> Vec<Sample> {
    let good: Vec<_> = claims
        .iter()
        .filter(|c| c.label == 1 && c.claim.len() <= MAX_SENTENCE_BYTES)
        .collect();
    let step = good.len().div_ceil(most.max(1)).max(1);
    good.iter()
        .enumerate()
        .step_by(step)
        .filter_map(|(n, claim)| sample_with_other(&good, (n, claim)))
        .collect()
}

/// A claim with its own evidence and the evidence of another claim.
fn sample_with_other(
    good: &[&super::claims::Claim],
    (n, claim): (usize, &&super::claims::Claim),
) -> Option<Sample> {
    let other = good
        .iter()
        .cycle()
        .skip(n + 1)
        .take(good.len())
        .find(|c| c.evidence != claim.evidence)?;
    let passages = [
        AttackPassage::whole("evidence.md", &claim.evidence),
        AttackPassage::whole("other.md", &other.evidence),
    ];
    let snapshot = freeze("", &[&passages[0], &passages[1]])?;
    Some(Sample {
        source: "claims",
        claim: bare(&claim.claim),
        snapshot,
        faults: Vec::new(),
    })
}

#[derive(Deserialize)]
struct Written {
    note: String,
    claim: String,
    faults: Vec<(String, String)>,
}

/// The paraphrases written by hand: `paraphrases` and `held_out`.
pub fn paraphrases() -> Result<Vec<Sample>> {
    let files = [
        ("paraphrases", include_str!("paraphrases.jsonl")),
        ("held_out", include_str!("held_out.jsonl")),
    ];
    let mut out = Vec::new();
    for (source, text) in files {
        let all: Vec<Written> = text
            .lines()
            .map(serde_json::from_str)
            .collect::<std::result::Result<_, _>>()
            .map_err(|e| invalid(format!("{source}: {e}")))?;
        let passages: Vec<AttackPassage> = all
            .iter()
            .map(|w| AttackPassage::whole("note.md", &w.note))
            .collect();
        for (n, written) in all.iter().enumerate() {
            let own = passages.get(n);
            let next = all
                .get((n + 1) % all.len())
                .map(|w| AttackPassage::whole("other.md", &w.note));
            let Some(snapshot) = own
                .zip(next.as_ref())
                .and_then(|(a, b)| freeze("", &[a, b]))
            else {
                continue;
            };
            let faults = written
                .faults
                .iter()
                .map(|(op, text)| (op.clone(), bare(text)))
                .collect();
            out.push(Sample {
                source,
                claim: bare(&written.claim),
                snapshot,
                faults,
            });
        }
    }
    Ok(out)
}

pub(super) fn bare(sentence: &str) -> String {
    sentence.trim().trim_end_matches(['.', ' ']).to_owned()
}

/// One attack and its result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Attack {
    /// The source of the claim.
    pub source: &'static str,
    /// The operator; `none` is the unchanged claim.
    pub operator: String,
    /// The faulty answer.
    pub answer: String,
    /// Whether it was rejected.
    pub caught: bool,
    /// Whether the rule "accept any text that is part of the evidence" rejects it.
    pub substring_caught: bool,
    /// The codes of the rejection.
    pub codes: Vec<&'static str>,
    /// Whether the answer without the fault was rejected.
    pub base_rejected: bool,
    /// Whether that substring rule rejects the answer without the fault.
    pub substring_base_rejected: bool,
    /// Whether the answer without the fault was verified.
    pub base_verified: bool,
    /// The answer without the fault and its codes, if it was rejected.
    pub base: Option<(String, Vec<&'static str>)>,
}

struct Judged {
    rejected: bool,
    verified: bool,
    codes: Vec<&'static str>,
}

fn judge(answer: &str, snapshot: &EvidenceSnapshot) -> Judged {
    let report: Report = verify_text(
        answer,
        snapshot,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    Judged {
        rejected: !report.ok,
        verified: report.ok && report.claims.iter().all(|c| c.verdict == Verdict::Verified),
        codes: report.codes.iter().map(|c| c.as_str()).collect(),
    }
}

/// Attacks one sample in every possible way.
pub fn attack(sample: &Sample) -> Vec<Attack> {
    let seed = seed(&sample.claim);
    let cited = |claim: &str| format!("{claim} [E1].");
    let base = cited(&sample.claim);
    let mut out = Vec::new();
    let mut add = |operator: &str, base: &str, base_words: &str, answer: String, words: &str| {
        let (own, faulty) = (
            judge(base, &sample.snapshot),
            judge(&answer, &sample.snapshot),
        );
        out.push(Attack {
            source: sample.source,
            operator: operator.to_owned(),
            caught: faulty.rejected,
            substring_caught: !is_part(words, &sample.snapshot),
            codes: faulty.codes,
            answer,
            base_rejected: own.rejected,
            substring_base_rejected: !is_part(base_words, &sample.snapshot),
            base_verified: own.verified,
            base: own.rejected.then(|| (base.to_owned(), own.codes)),
        });
    };
    let claim = sample.claim.as_str();
    for edit in Edit::ALL {
        if let Some(faulty) = edit.apply(claim, seed) {
            add(edit.name(), &base, claim, cited(&faulty), &faulty);
        }
    }
    for (operator, faulty) in &sample.faults {
        add(
            &format!("{operator} (written)"),
            &base,
            claim,
            cited(faulty),
            faulty,
        );
    }
    for (operator, answer) in markers(sample, seed) {
        add(operator, &base, claim, answer, claim);
    }
    for (operator, good, faulty) in quotes(sample, seed) {
        let (a, b) = (
            format!("The note says “{good}” [E1]."),
            format!("The note says “{faulty}” [E1]."),
        );
        add(operator, &a, &good, b, &faulty);
    }
    out
}

/// A number that depends only on the text.
pub(super) fn seed(text: &str) -> u64 {
    let hash = Sha256::of(text.as_bytes()).to_string();
    u64::from_str_radix(hash.get(..15).unwrap_or("0"), 16).unwrap_or(0)
}

/// The baseline rule: the words appear in the cited item as one sequence.
fn is_part(words: &str, snapshot: &EvidenceSnapshot) -> bool {
    let plain = Normal::of(words);
    snapshot
        .items()
        .first()
        .is_some_and(|item| Normal::of(&item.text).as_str().contains(plain.as_str()))
}

/// Faulty citations of the true claim.
fn markers(sample: &Sample, seed: u64) -> Vec<(&'static str, String)> {
    let claim = &sample.claim;
    let Some(item) = sample.snapshot.items().first() else {
        return Vec::new();
    };
    let full = citation_of(item, &sample.snapshot);
    let key = item.chunk_key.to_string();
    let other_key = key.get(1..).map_or_else(String::new, |rest| {
        format!("{}{rest}", if key.starts_with('0') { '1' } else { '0' })
    });
    let path = item.path.as_str();
    let heading = item.heading.to_string();
    let stop = if seed.is_multiple_of(2) { "." } else { "" };
    let mut out = vec![
        ("cite key", format!("{claim} [E9].")),
        (
            "cite key",
            format!("{claim} {}.", full.replace(&key, &other_key)),
        ),
        (
            "path",
            format!(
                "{claim} {}.",
                full.replacen(path, &format!("old-{path}"), 1)
            ),
        ),
        ("moved citation", format!("{claim} [E2].")),
        (
            "dropped citation",
            format!("{claim} [E1]. Besides, {claim}."),
        ),
        ("look-alike marker", format!("{claim} 【E1】{stop}")),
        ("look-alike marker", format!("{claim} [1].")),
    ];
    if !heading.is_empty() && full.contains('#') {
        let end = full.rfind(" | ").unwrap_or(full.len());
        out.push((
            "heading",
            format!("{claim} {} (old){}.", &full[..end], &full[end..]),
        ));
    }
    out
}

/// Faulty quotes of the evidence: (operator, true quote, faulty quote).
fn quotes(sample: &Sample, seed: u64) -> Vec<(&'static str, String, String)> {
    let Some(item) = sample.snapshot.items().first() else {
        return Vec::new();
    };
    let whole: Vec<&str> = sentences(&item.text)
        .into_iter()
        .filter(|s| matches!(s.role, BlockRole::Paragraph | BlockRole::ListItem))
        .filter_map(|s| item.text.get(s.span.start()..s.span.end()))
        .filter(|s| {
            s.split_whitespace().count() >= 6
                && s.len() <= MAX_SENTENCE_BYTES
                && !s.contains(['"', '“', '”', '[', '`', '\n', '*', '_'])
        })
        .collect();
    let mut out = Vec::new();
    let Some(one) = word_at(&whole, seed) else {
        return out;
    };
    let words: Vec<&str> = one.split_whitespace().collect();
    let long: Vec<usize> = (1..words.len().saturating_sub(1))
        .filter(|i| {
            words
                .get(*i)
                .is_some_and(|w| w.len() > 4 && w.chars().all(char::is_alphabetic))
        })
        .collect();
    if let Some(place) = long.get(usize::try_from(seed % long.len().max(1) as u64).unwrap_or(0)) {
        let mut changed = words.clone();
        if let Some(word) = changed.get_mut(*place) {
            *word = "purportedly";
        }
        out.push(("quote word", words.join(" "), changed.join(" ")));
    }
    if let Some(two) = word_at(&whole, seed + 1).filter(|two| *two != one) {
        let tail: Vec<&str> = two.split_whitespace().collect();
        let joined = [words.get(..words.len() / 2), tail.get(tail.len() / 2..)]
            .into_iter()
            .flatten()
            .flatten()
            .copied();
        out.push((
            "stitched quote",
            words.join(" "),
            joined.collect::<Vec<_>>().join(" "),
        ));
    }
    out
}

/// The word at position `n`, counted cyclically.
fn word_at<'w>(whole: &[&'w str], n: u64) -> Option<&'w str> {
    whole
        .get(usize::try_from(n % whole.len().max(1) as u64).unwrap_or(0))
        .copied()
}

/// The figures of one operator on one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct AttackFigures {
    /// Number of attacks.
    pub attacks: usize,
    /// Share of attacks that were rejected.
    pub caught: f64,
    /// Share of the same answers without the fault that were rejected.
    pub false_rejects: f64,
    /// Share of those that were verified.
    pub verified: f64,
    /// Share that the rule "accept any text that is part of the evidence" catches.
    pub substring_caught: f64,
    /// Share of the answers without a fault that this rule rejects.
    pub substring_false_rejects: f64,
}

/// The figures by source and operator; the operator `all` is the total of a source.
pub fn rows(attacks: &[Attack]) -> BTreeMap<(String, String), AttackFigures> {
    let mut groups: BTreeMap<(String, String), Vec<&Attack>> = BTreeMap::new();
    for attack in attacks {
        for operator in [attack.operator.as_str(), "all"] {
            groups
                .entry((attack.source.to_owned(), operator.to_owned()))
                .or_default()
                .push(attack);
        }
    }
    groups
        .into_iter()
        .map(|(key, list)| {
            let row = AttackFigures {
                attacks: list.len(),
                caught: share_of(&list, |a| a.caught),
                false_rejects: share_of(&list, |a| a.base_rejected),
                verified: share_of(&list, |a| a.base_verified),
                substring_caught: share_of(&list, |a| a.substring_caught),
                substring_false_rejects: share_of(&list, |a| a.substring_base_rejected),
            };
            (key, row)
        })
        .collect()
}

/// The share of attacks for which `is` holds.
fn share_of(list: &[&Attack], is: fn(&Attack) -> bool) -> f64 {
    let n = list.iter().filter(|a| is(a)).count();
    f64::from(u32::try_from(n).unwrap_or(0))
        / f64::from(u32::try_from(list.len()).unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_changes_something_and_always_the_same() {
        let claim =
            "On 3 May 2024 Alice Weber must not pay more than 1,500 euros for 2.8.3, some say";
        for edit in Edit::ALL {
            let changed = edit
                .apply(claim, 5)
                .unwrap_or_else(|| panic!("{}", edit.name()));
            assert_ne!(changed, claim);
            assert_eq!(edit.apply(claim, 5), Some(changed));
        }
    }

    #[test]
    fn paraphrases_are_many_and_each_has_faults() {
        let all = paraphrases().unwrap();
        assert!(all.len() >= 60 && all.iter().all(|s| !s.faults.is_empty()));
        assert!(all.iter().filter(|s| s.source == "held_out").count() >= 30);
    }

    #[test]
    fn an_attack_is_caught_or_not_and_its_base_is_judged_too() {
        let own = AttackPassage::whole(
            "a.md",
            "The ferry carries twelve cars across the bay every morning. It is old.\n",
        );
        let other =
            AttackPassage::whole("b.md", "Tea needs hot water and patience, says the cook.\n");
        let samples = from_notes(&[own, other], 10);
        assert_eq!(samples.len(), 2);
        let attacks = attack(&samples[0]);
        let number = attacks.iter().find(|a| a.operator == "number").unwrap();
        assert!(
            number.caught && !number.base_rejected && number.base_verified,
            "{number:?}"
        );
        assert!(rows(&attacks)[&("notes".to_owned(), "all".to_owned())].attacks == attacks.len());
    }
}
