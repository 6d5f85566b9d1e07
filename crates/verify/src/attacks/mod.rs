//! Attacks and honest answers, named after the list they come from. Each appears in several
//! wordings.

mod amounts;
mod computed;
mod coverage;
mod drafts;
mod everyday;
mod examples;
mod free_wording;
mod greater;
mod honest;
mod honest_values;
mod hostile;
mod household;
mod languages;
mod listed_values;
mod literals;
mod markup;
mod names;
mod notations;
mod opposed_words;
mod other_sides;
mod outcomes;
mod pairs;
mod parties;
mod plain_notes;
mod pointers;
mod quotes;
mod refusals;
mod replaced_facts;
mod reworded;
mod rivals;
mod swaps;
mod tables;
mod unproven;
mod values;
mod wrong;
mod years;

use super::*;
use local_agent_testing::fixture::{excerpt, snapshot};
use local_agent_text::evidence::{Excerpt, Freshness, FreshnessReport, Segment, citation_of};
use local_agent_text::types::{ByteSpan, ChunkKey, Label, SourceName};

const BUDGET: &str = "# Budget\n\nThe harbour budget is 5 million euros in 2026. It was not approved by the council.\n\n\
    - Alice leads the project\n- Bob pays the invoices\n\nThe “old” pier’s **roof** will be re\u{ad}paired in\nspring.\n";
const SKY: &str = "The sky over the harbour is green at dusk. Nobody knows why the sky turns green.\n\n\
    ```sh\ncargo run --release\n```\n\n| year | cost |\n|------|------|\n| 2026 | 5 |\n| 2027 | 7 |\n";

fn frozen() -> EvidenceSnapshot {
    snapshot(&[BUDGET, SKY])
}

fn check(answer: &str) -> Report {
    check_in(answer, &frozen())
}

/// Verifies the text as it is **and** as a parsed draft: both must give the same outcome and codes.
fn check_in(answer: &str, frozen: &EvidenceSnapshot) -> Report {
    let (fresh, options) = (FreshnessReport::default(), VerifyOptions::default());
    let report = verify_text(answer, frozen, &fresh, &options);
    let parsed = verify(&Draft::parse(answer, frozen), frozen, &fresh, &options);
    assert_eq!(
        report.codes, parsed.codes,
        "{answer}\n{:#?}\n{:#?}",
        report.claims, parsed.claims
    );
    assert_eq!(report.ok, report.outcome != Outcome::Rejected);
    report
}

fn rejected_with(answer: &str, code: Code) -> Report {
    let report = check(answer);
    assert_eq!(report.outcome, Outcome::Rejected, "{answer}");
    assert!(report.codes.contains(&code), "{answer}: {:?}", report.codes);
    report
}

fn rejected_only_with(answer: &str, code: Code) {
    let report = rejected_with(answer, code);
    assert_eq!(report.codes, [code], "{answer}: {:#?}", report.claims);
}

fn passes(answer: &str) -> Report {
    let report = check(answer);
    assert_eq!(
        report.outcome,
        Outcome::Passed,
        "{answer}: {:?} {:#?}",
        report.codes,
        report.claims
    );
    report
}

/// The canonical citation of item `n` of `frozen`.
fn cite(frozen: &EvidenceSnapshot, n: usize) -> String {
    citation_of(&frozen.items()[n - 1], frozen)
}

fn key(n: usize) -> ChunkKey {
    frozen().items()[n - 1].chunk_key
}

fn label(n: u32) -> Label {
    Label::new(n).unwrap()
}
