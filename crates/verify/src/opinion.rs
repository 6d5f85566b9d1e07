//! A second opinion on a claim: from another model, or from the program itself when it knows how
//! the claim was produced. An opinion is not proof: it moves a claim only between `checked` and
//! `doubtful`.

use super::finding::{Detail, Effect, Finding};
use super::report::{Report, Verdict};
use super::text::{Cut, Lexicon, Text};
use super::{Code, Outcome};
use local_agent_text::evidence::Normal;
use local_agent_text::markdown::BlockRole;

/// An opinion on one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// Which claim of the report, from 0.
    pub claim: usize,
    /// The code of the resulting finding.
    pub code: Code,
    /// Whether the opinion is that the cited text supports the claim.
    pub supports: bool,
    /// The opinion in one sentence.
    pub why: String,
}

impl Report {
    /// The report with these opinions: a `checked` claim that is not supported becomes `doubtful`,
    /// a `doubtful` claim that is supported becomes `checked`; other claims do not change. The
    /// report is sealed again. The same opinions in the same order give the same report.
    pub fn with_opinions(mut self, opinions: &[Opinion]) -> Self {
        for opinion in opinions {
            self.take_opinion(opinion);
        }
        let mut doubts: Vec<Code> = self
            .claims
            .iter()
            .flat_map(|claim| claim.doubts.iter().copied())
            .collect();
        doubts.sort_unstable();
        doubts.dedup();
        if self.outcome != Outcome::Rejected {
            self.doubts = doubts;
        }
        self.seal()
    }

    fn take_opinion(&mut self, opinion: &Opinion) {
        let Some(claim) = self.claims.get_mut(opinion.claim) else {
            return;
        };
        let (verdict, effect) = match (claim.verdict, opinion.supports) {
            (Verdict::Checked, false) => (Verdict::Doubtful, Effect::Doubts),
            (Verdict::Doubtful, true) => (Verdict::Checked, Effect::Remarks),
            (verdict @ (Verdict::Checked | Verdict::Doubtful), _) => (verdict, Effect::Remarks),
            _ => return,
        };
        match (verdict, effect) {
            (Verdict::Doubtful, Effect::Doubts) => claim.doubts.push(opinion.code),
            (Verdict::Checked, _) => {
                // The reason for the doubt is still worth knowing.
                claim.remarks.append(&mut claim.doubts);
                for finding in &mut claim.findings {
                    finding.effect = Effect::Remarks;
                }
                claim.remarks.push(opinion.code);
            }
            _ => claim.remarks.push(opinion.code),
        }
        claim.remarks.sort_unstable();
        claim.remarks.dedup();
        claim.verdict = verdict;
        claim.findings.push(Finding {
            code: opinion.code,
            effect,
            span: None,
            evidence: None,
            detail: Detail::Pointer {
                why: opinion.why.clone(),
            },
        });
        claim.why = format!("{} {}", claim.why, opinion.why);
    }
}

/// Whether one sentence denies what the other asserts, and all their other relevant words agree.
pub fn differs_only_in_negation(a: &str, b: &str) -> bool {
    let mut lexicon = Lexicon::default();
    let a = denied(a, &mut lexicon);
    let b = denied(b, &mut lexicon);
    !a.content.is_empty() && a.content == b.content && a.is_denied != b.is_denied
}

struct Denied {
    /// The relevant words, sorted.
    content: Vec<u32>,
    is_denied: bool,
}

fn denied(sentence: &str, lexicon: &mut Lexicon) -> Denied {
    let normal = Normal::of(sentence);
    let whole = Cut {
        bytes: 0..normal.as_str().len(),
        role: BlockRole::Paragraph,
        block: 0,
    };
    let text = Text::read(normal.as_str(), &[whole], lexicon);
    let content = text.tokens.iter().filter(|t| t.is_content());
    let mut content: Vec<u32> = content.map(|t| t.id).collect();
    content.sort_unstable();
    let negations = text.tokens.iter().filter(|token| token.negates()).count();
    Denied {
        content,
        is_denied: negations % 2 == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{VerifyOptions, verify_text};
    use local_agent_testing::fixture::snapshot;
    use local_agent_text::evidence::FreshnessReport;

    fn report(answer: &str) -> Report {
        let frozen = snapshot(&["The harbour was built in 1901 by the town council.\n"]);
        let unknown = FreshnessReport::default();
        verify_text(answer, &frozen, &unknown, &VerifyOptions::default())
    }

    fn opinion(supports: bool) -> [Opinion; 1] {
        [Opinion {
            claim: 0,
            code: Code::SecondOpinion,
            supports,
            why: "The model `m` thinks so.".to_owned(),
        }]
    }

    #[test]
    fn an_opinion_moves_a_claim_between_checked_and_doubtful_and_no_further() {
        let checked = report("The town council built the harbour in 1901 [E1].");
        assert_eq!(checked.claims[0].verdict, Verdict::Checked);
        let doubtful = checked.clone().with_opinions(&opinion(false));
        assert_eq!(doubtful.claims[0].verdict, Verdict::Doubtful);
        assert_eq!(doubtful.doubts, [Code::SecondOpinion]);
        assert!(doubtful.ok && doubtful.sha256 != checked.sha256);
        let cleared = doubtful.with_opinions(&opinion(true));
        assert_eq!(cleared.claims[0].verdict, Verdict::Checked);
        assert!(cleared.doubts.is_empty() && cleared.claims[0].why.ends_with("thinks so."));
        for (answer, verdict) in [
            (
                "The harbour was built in 1901 by the town council. [E1]",
                Verdict::Verified,
            ),
            (
                "The town council built the harbour in 1950 [E1].",
                Verdict::Rejected,
            ),
        ] {
            for supports in [true, false] {
                let after = report(answer).with_opinions(&opinion(supports));
                assert_eq!(after.claims[0].verdict, verdict, "{answer}");
            }
        }
    }

    #[test]
    fn a_sentence_that_only_lost_or_gained_its_negation_is_known() {
        for (a, b) in [
            (
                "The Basic plan does not include backups.",
                "The Basic plan includes backups.",
            ),
            ("The door is locked.", "The door is not locked."),
            (
                "There is no ferry on Sundays.",
                "There is a ferry on Sundays.",
            ),
        ] {
            assert!(differs_only_in_negation(a, b), "{a} / {b}");
            assert!(differs_only_in_negation(b, a), "{b} / {a}");
            assert!(!differs_only_in_negation(a, a));
        }
        for (a, b) in [
            ("The door is not locked.", "The gate is locked."),
            ("The ferry takes 14 cars.", "The ferry takes 15 cars."),
            ("", ""),
        ] {
            assert!(!differs_only_in_negation(a, b), "{a} / {b}");
        }
    }
}
