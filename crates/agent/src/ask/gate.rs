//! The gate between a draft and the user: only what the verifier passes gets through.
//!
//! In strict mode one rejected claim rejects the whole answer. Otherwise the statements with
//! rejected claims are removed and the rest is verified again, as often as needed. If nothing
//! remains, the answer is an abstention.

use std::ops::Range;

use super::conclusion::refusal;
use local_agent_text::error::Result;
use local_agent_text::evidence::{
    Draft, EvidenceSnapshot, FreshnessReport, Piece, Rendered, Segment,
};
use local_agent_verify::{self as verify, Report, Verdict, VerifyOptions};

/// The result of the gate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Passed {
    /// The answer with canonical citations; `None` when nothing may be shown.
    pub text: Option<String>,
    /// The report on the text; on the whole draft when nothing may be shown.
    pub report: Report,
    /// The draft that `report` is about.
    pub draft: Draft,
    /// What was withheld, and why: one plain sentence.
    pub held_back: Option<String>,
}

/// Passes `draft`, or as much of it as the verifier accepts. `ASK_CITATION_INVALID` when `strict`
/// and anything is rejected.
pub(super) fn gate(
    draft: Draft,
    snapshot: &EvidenceSnapshot,
    freshness: &FreshnessReport,
    options: &VerifyOptions,
    strict: bool,
) -> Result<Passed> {
    let first = verify::verify(&draft, snapshot, freshness, options);
    if strict && !first.ok {
        return Err(refusal(&first));
    }
    let mut report = first.clone();
    let whole = draft.clone();
    let mut draft = draft;
    let mut dropped = 0;
    while !report.ok {
        let rest = without_rejected(&draft, &draft.lay_out(snapshot), &report);
        // Every round must remove something, otherwise the loop would not end.
        let taken = draft.segments().len() - rest.segments().len();
        if taken == 0
            || !rest
                .segments()
                .iter()
                .any(|s| matches!(s, Segment::Cite(_)))
        {
            let held_back = format!(
                "What was found did not pass verification ({}), so it is not shown.",
                codes(&first)
            );
            return Ok(Passed {
                text: None,
                report: first,
                draft: whole,
                held_back: Some(held_back),
            });
        }
        dropped += report
            .claims
            .iter()
            .filter(|c| c.verdict == Verdict::Rejected)
            .count();
        report = verify::verify(&rest, snapshot, freshness, options);
        draft = rest;
    }
    let held_back = (dropped > 0).then(|| {
        let statements = if dropped == 1 {
            "1 statement was"
        } else {
            &format!("{dropped} statements were")
        };
        format!(
            "{statements} left out: not passed by verification ({}).",
            codes(&first)
        )
    });
    Ok(Passed {
        text: Some(draft.render(snapshot)?.text),
        report,
        draft,
        held_back,
    })
}

pub(super) fn codes(report: &Report) -> String {
    report
        .codes
        .iter()
        .map(|code| code.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// `draft` without the statements that a rejected claim overlaps. A statement ends with its
/// citations.
fn without_rejected(draft: &Draft, rendered: &Rendered, report: &Report) -> Draft {
    let rejected: Vec<Range<usize>> = report
        .claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Rejected)
        .map(|claim| claim.span.start()..claim.span.end())
        .collect();
    let mut out = Draft::default();
    let pieces: Vec<_> = draft.segments().iter().zip(&rendered.pieces).collect();
    for statement in pieces
        .chunk_by(|a, b| !matches!(&a.1.1, Piece::Cite(_)) || matches!(&b.1.1, Piece::Cite(_)))
    {
        let touched = statement.iter().any(|(_, (range, piece))| {
            // White space between statements is not part of a claim.
            let blank = *piece == Piece::Text
                && rendered
                    .text
                    .get(range.clone())
                    .is_some_and(|t| t.trim().is_empty());
            !blank
                && rejected
                    .iter()
                    .any(|r| r.start < range.end && range.start < r.end)
        });
        for (segment, _) in statement.iter().filter(|_| !touched) {
            let leads = out.segments().is_empty();
            match segment {
                Segment::Text(text) if leads && text.trim().is_empty() => {}
                segment => out.push((*segment).clone()),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;
    use local_agent_text::error::ErrorCode;
    use local_agent_text::evidence::Freshness;

    /// Quotes of whole items, each cited, an empty line between them.
    fn quotes(frozen: &EvidenceSnapshot) -> Vec<Segment> {
        let mut out = Vec::new();
        for item in frozen.items() {
            let (span, _) = item.locate(0, item.text.trim_end().len()).unwrap();
            let joint = if out.is_empty() { "" } else { "\n\n" };
            out.push(Segment::Text(joint.to_owned()));
            out.push(Segment::Quote {
                label: item.label,
                span,
            });
            out.push(Segment::Text(" ".to_owned()));
            out.push(Segment::Cite(item.label));
        }
        out
    }

    fn fresh(frozen: &EvidenceSnapshot) -> FreshnessReport {
        frozen
            .items()
            .iter()
            .map(|i| (i.label, Freshness::Fresh))
            .collect()
    }

    fn run(
        frozen: &EvidenceSnapshot,
        draft: Vec<Segment>,
        freshness: &FreshnessReport,
        strict: bool,
    ) -> Result<Passed> {
        gate(
            Draft::new(draft),
            frozen,
            freshness,
            &VerifyOptions::default(),
            strict,
        )
    }

    #[test]
    fn what_passes_is_shown_as_it_is() {
        let frozen = snapshot(&["The sky is green.\n", "The sea is red.\n"]);
        let passed = run(&frozen, quotes(&frozen), &fresh(&frozen), true).unwrap();
        assert!(passed.report.ok && passed.held_back.is_none());
        assert!(
            passed
                .text
                .unwrap()
                .starts_with("The sky is green. [source: n1.md#H1: Title | ")
        );
    }

    #[test]
    fn a_statement_that_fails_is_taken_out_and_the_rest_verified_again() {
        let frozen = snapshot(&[
            "The sky is green.\n",
            "The sea is red.\n",
            "The hill is blue.\n",
        ]);
        for bad in 0..3 {
            let mut freshness = fresh(&frozen);
            freshness.set(frozen.items()[bad].label, Freshness::Stale);
            let passed = run(&frozen, quotes(&frozen), &freshness, false).unwrap();
            let text = passed.text.unwrap();
            let kept: Vec<bool> = frozen
                .items()
                .iter()
                .map(|i| text.contains(i.text.trim_end()))
                .collect();
            assert_eq!(kept.iter().filter(|k| **k).count(), 2, "{text}");
            assert!(
                !kept[bad] && passed.report.ok && passed.report.claims.len() == 2,
                "{text}"
            );
            assert_eq!(text, text.trim());
            assert!(
                passed
                    .held_back
                    .unwrap()
                    .starts_with("1 statement was left out")
            );
        }
    }

    #[test]
    fn words_of_nobody_are_taken_out_too() {
        let frozen = snapshot(&["The sky is green.\n"]);
        let mut draft = quotes(&frozen);
        draft.push(Segment::Text("\n\nThe moon costs 40 euros.".to_owned()));
        let passed = run(&frozen, draft, &fresh(&frozen), false).unwrap();
        assert!(passed.report.ok && !passed.text.unwrap().contains("moon"));
    }

    #[test]
    fn nothing_left_is_no_answer_and_says_why() {
        let frozen = snapshot(&["The sky is green.\n"]);
        let mut stale = fresh(&frozen);
        stale.set(frozen.items()[0].label, Freshness::Stale);
        for (draft, freshness) in [
            (quotes(&frozen), &stale),
            (
                vec![Segment::Text("The moon costs 40 euros.".to_owned())],
                &fresh(&frozen),
            ),
            (
                vec![Segment::Text("The moon costs 40 euros [E9].".to_owned())],
                &fresh(&frozen),
            ),
            (Vec::new(), &fresh(&frozen)),
        ] {
            let passed = run(&frozen, draft, freshness, false).unwrap();
            assert_eq!(passed.text, None);
            assert!(
                !passed.report.ok
                    && passed
                        .held_back
                        .unwrap()
                        .contains("did not pass verification")
            );
        }
    }

    #[test]
    fn strict_mode_refuses_instead() {
        let frozen = snapshot(&["The sky is green.\n", "The sea is red.\n"]);
        let mut freshness = fresh(&frozen);
        freshness.set(frozen.items()[1].label, Freshness::Gone);
        let failure = run(&frozen, quotes(&frozen), &freshness, true).unwrap_err();
        assert_eq!(failure.code, ErrorCode::AskCitationInvalid);
    }
}
