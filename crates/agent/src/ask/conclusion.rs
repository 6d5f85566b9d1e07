//! Decides which part of a conversation is shown: all, a part, or nothing. Also collects the doubts
//! and the opinions that were given in addition to the checks.

use super::answerer::{ChatAnswerer, Judge};
use super::asker::Asker;
use super::claim_notes::{ClaimNote, claim_notes};
use super::conversation::{BLANK, CUT, ConversationEnd, JudgedDraft, Rules, codes};
use super::salvage::salvage;
use super::second_opinion::{ClaimOpinion, second_opinions};
use local_agent_index::retrieval::Packed;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_verify::{Code, Opinion, Outcome, Report, Verdict, differs_only_in_negation};

/// An answer of a model that may be shown.
pub(super) struct Written {
    /// With canonical citations.
    pub text: String,
    pub judged: JudgedDraft,
    pub opinions: Vec<ClaimOpinion>,
}

/// The result of a conversation.
pub(super) enum Conclusion {
    /// The whole draft passed.
    Whole(Written),
    /// The model says that the evidence does not answer.
    Silent {
        judged: JudgedDraft,
        opinions: Vec<ClaimOpinion>,
    },
    /// Only part of a rejected draft passed.
    Part {
        written: Written,
        left_out: Vec<ClaimNote>,
        /// Why the draft was rejected, as part of a sentence.
        reasons: String,
    },
    /// No sentence passed.
    Nothing {
        left_out: Vec<ClaimNote>,
        /// Why the draft was rejected, as part of a sentence.
        reasons: String,
    },
}

/// Turns the end of a conversation into its result.
///
/// Errors: `ASK_CITATION_INVALID` when `rules` are strict and a claim is rejected or in doubt;
/// those of the observer.
pub(super) fn conclude(
    drafted: ConversationEnd,
    rules: &Rules,
    chat: &ChatAnswerer,
    asker: &mut Asker<'_, '_>,
) -> Result<Conclusion> {
    match drafted {
        ConversationEnd::Accepted { judged, before } => {
            let (judged, opinions) =
                with_opinions(*judged, before.as_deref(), chat.judge.as_ref(), asker)?;
            if rules.strict && !judged.report.ok_without_doubts() {
                return Err(refusal(&judged.report));
            }
            match judged.report.outcome {
                Outcome::Abstained => Ok(Conclusion::Silent { judged, opinions }),
                Outcome::Passed | Outcome::Rejected => {
                    written(judged, opinions).map(Conclusion::Whole)
                }
            }
        }
        ConversationEnd::Rejected { reasons, drafts } if rules.strict => {
            if reasons == BLANK || reasons == CUT {
                return Err(refused_because(&in_words(&reasons, chat)));
            }
            Err(drafts.first().map_or_else(
                || Failure::internal("a refused conversation holds no draft"),
                |judged| refusal(&judged.report),
            ))
        }
        ConversationEnd::Rejected { reasons, drafts } => {
            let reasons = in_words(&reasons, chat);
            let before = drafts.last().map(|judged| judged.report.clone());
            let remains = salvage(drafts, &rules.options);
            let left_out = remains.left_out;
            let Some(salvaged) = remains.salvaged else {
                return Ok(Conclusion::Nothing { left_out, reasons });
            };
            let (judged, opinions) =
                with_opinions(salvaged, before.as_ref(), chat.judge.as_ref(), asker)?;
            Ok(Conclusion::Part {
                written: written(judged, opinions)?,
                left_out,
                reasons,
            })
        }
    }
}

/// A draft that may be shown, with the opinions on it. `before` is the report on the rejected draft
/// before it.
fn with_opinions(
    judged: JudgedDraft,
    before: Option<&Report>,
    judge: Option<&Judge>,
    asker: &mut Asker<'_, '_>,
) -> Result<(JudgedDraft, Vec<ClaimOpinion>)> {
    let JudgedDraft {
        draft,
        report,
        packed,
    } = judged;
    let mut opinions = turned_around(&report, before);
    let known: Vec<Opinion> = opinions.iter().map(ClaimOpinion::opinion).collect();
    let mut report = report.with_opinions(&known);
    if let Some(judge) = judge {
        let more = second_opinions(judge, &report, &packed, asker)?;
        let new: Vec<Opinion> = more.iter().map(ClaimOpinion::opinion).collect();
        report = report.with_opinions(&new);
        opinions.extend(more);
    }
    let judged = JudgedDraft {
        draft,
        report,
        packed,
    };
    Ok((judged, opinions))
}

/// A draft as it is shown.
fn written(judged: JudgedDraft, opinions: Vec<ClaimOpinion>) -> Result<Written> {
    Ok(Written {
        text: judged.draft.render(&judged.packed.snapshot)?.text,
        judged,
        opinions,
    })
}

/// Opinions on claims that equal an earlier rejected claim apart from an added or dropped negation.
/// The objection may have been wrong, and then the new claim is wrong.
fn turned_around(report: &Report, before: Option<&Report>) -> Vec<ClaimOpinion> {
    let Some(before) = before else {
        return Vec::new();
    };
    let objected: Vec<&str> = before
        .claims
        .iter()
        .filter(|claim| matches!(claim.verdict, Verdict::Rejected | Verdict::Doubtful))
        .map(|claim| claim.text.as_str())
        .collect();
    report
        .claims
        .iter()
        .enumerate()
        .filter(|(_, claim)| claim.verdict == Verdict::Checked)
        .filter(|(_, claim)| {
            objected
                .iter()
                .any(|sentence| differs_only_in_negation(sentence, &claim.text))
        })
        .map(|(n, _)| ClaimOpinion {
            claim: n,
            supports: false,
            why: "After an objection the model only turned this sentence into its opposite."
                .to_owned(),
            by: None,
        })
        .collect()
}

/// The failure `ASK_CITATION_INVALID`: strict mode shows nothing of a rejected or doubtful draft.
pub(super) fn refusal(report: &Report) -> Failure {
    let counts = report.counts.in_words();
    let counts = counts.map_or_else(String::new, |counts| format!(" ({counts})"));
    let failure = refused_because(&format!("{}{counts}", codes(report, true)));
    // Indexing again helps if the evidence changed on disk; it does not help if the model is wrong.
    let is_old = report
        .codes
        .iter()
        .any(|code| matches!(code, Code::Stale | Code::Gone));
    match is_old {
        true => failure.with_command("local-agent index"),
        false => failure,
    }
}

/// The failure `ASK_CITATION_INVALID` for this reason.
fn refused_because(reason: &str) -> Failure {
    let message = format!("the answer did not pass verification: {reason}");
    Failure::new(ErrorCode::AskCitationInvalid, message).with_command("local-agent runs show last")
}

/// The reasons for a rejection as words for the user.
fn in_words(reasons: &str, chat: &ChatAnswerer) -> String {
    match reasons {
        BLANK => "it was blank".to_owned(),
        CUT => format!(
            "it was cut off after {} tokens; raise {}",
            chat.sampling.max_tokens, chat.keys.max_tokens
        ),
        codes => codes.to_owned(),
    }
}

/// The sentences of an answer that are in doubt.
pub(super) fn doubts(report: &Report, packed: &Packed) -> Vec<ClaimNote> {
    claim_notes(report, &packed.snapshot, Verdict::Doubtful)
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;
    use local_agent_verify::{VerifyOptions, verify_text};

    fn report(answer: &str) -> Report {
        let frozen = snapshot(&["The harbour was built in 1901 by the town council.\n"]);
        verify_text(
            answer,
            &frozen,
            &Default::default(),
            &VerifyOptions::default(),
        )
    }

    #[test]
    fn a_claim_that_only_turned_around_after_an_objection_is_doubted() {
        let before = report("The town council did not build the harbour in 1901 [E1].");
        assert_eq!(before.claims[0].verdict, Verdict::Rejected);
        let after = report("The town council built the harbour in 1901 [E1].");
        assert_eq!(after.claims[0].verdict, Verdict::Checked);
        let opinions = turned_around(&after, Some(&before));
        assert_eq!(opinions.len(), 1);
        assert!(!opinions[0].supports && opinions[0].by.is_none());
        // A corrected number does not reverse the claim. Without an earlier objection nothing is a
        // reversal.
        let corrected = report("The town council did not build the harbour in 1950 [E1].");
        assert!(turned_around(&after, Some(&corrected)).is_empty());
        assert!(turned_around(&after, None).is_empty());
    }
}
