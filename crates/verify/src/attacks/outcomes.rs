//! Many claims, each with its evidence: all that fail are listed at once.

use super::*;

/// What happened to the one claim of an answer: rejected or not, and its objections.
fn judged(evidence: &str, answer: &str) -> (Outcome, Vec<Code>, Vec<Code>) {
    let cited = match answer.contains("[E") {
        true => answer.to_owned(),
        false => format!("{} [E1].", answer.trim_end_matches('.')),
    };
    let frozen = snapshot(&[evidence]);
    let (fresh, options) = (FreshnessReport::default(), VerifyOptions::default());
    let report = verify_text(&cited, &frozen, &fresh, &options);
    let doubts = report.claims.iter().flat_map(|c| c.doubts.clone());
    (report.outcome, report.codes.clone(), doubts.collect())
}

fn all(cases: &[(&str, &str)], is_right: impl Fn(Outcome, &[Code], &[Code]) -> bool) {
    let mut wrong = Vec::new();
    for (evidence, answer) in cases {
        let (outcome, codes, doubts) = judged(evidence, answer);
        if !is_right(outcome, &codes, &doubts) {
            wrong.push(format!(
                "{evidence} | {answer}: {outcome:?} {codes:?} {doubts:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each (evidence, answer) is rejected with one of `codes`.
pub(super) fn all_rejected(codes: &[Code], cases: &[(&str, &str)]) {
    all(cases, |outcome, found, _| {
        outcome == Outcome::Rejected && found.iter().any(|c| codes.contains(c))
    });
}

/// Each (evidence, answer) is rejected or doubtful, with one of `codes`.
pub(super) fn all_objected(codes: &[Code], cases: &[(&str, &str)]) {
    all(cases, |_, found, doubts| {
        found.iter().chain(doubts).any(|c| codes.contains(c))
    });
}

/// Each (evidence, answer) passes without a doubt.
pub(super) fn all_undoubted(cases: &[(&str, &str)]) {
    all(cases, |outcome, _, doubts| {
        outcome == Outcome::Passed && doubts.is_empty()
    });
}

/// Each (evidence, answer) passes, perhaps with a doubt.
pub(super) fn all_passed(cases: &[(&str, &str)]) {
    all(cases, |outcome, _, _| outcome == Outcome::Passed);
}

/// Each (evidence, answer) is a refusal without a doubt.
pub(super) fn all_abstained(cases: &[(&str, &str)]) {
    all(cases, |outcome, _, doubts| {
        outcome == Outcome::Abstained && doubts.is_empty()
    });
}
