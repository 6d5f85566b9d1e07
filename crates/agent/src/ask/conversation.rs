//! The single conversation with a chat model about evidence of any kind.
//!
//! ```text
//! next reply ──▶ right form? ──no, once──▶ ask again for the form
//!                    │
//!                    ▼
//!                 verify ──ok──▶ accepted (an answer, or an honest refusal to answer)
//!                    │
//!                    └──rejected, cut off or blank──once──▶ ask again with the objections ──▶ accepted | rejected
//! ```
//!
//! Only the prompts and the evidence differ between the kinds: see [`Turns`]. Nothing of a reply is
//! an answer before the verifier has judged all of it. The observer gets the sentences that pass on
//! the way, which may still change: see [`super::Event::Sentence`].

use super::asker::Asker;
use super::prompt;
use super::trail::{Call, Purpose, Round};
use crate::llm::{Finish, Reply};
use local_agent_index::retrieval::Packed;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::Draft;
use local_agent_verify::{self as verify, Outcome, Report, Verdict, VerifyOptions};

/// The reason for rejecting a reply that the token limit cut off.
pub(super) const CUT: &str = "LLM_REPLY_CUT";

/// The reason for rejecting a blank reply.
pub(super) const BLANK: &str = "LLM_REPLY_BLANK";

/// A reply in words, and the call that produced it; it is not recorded yet.
pub(super) struct Received {
    pub purpose: Purpose,
    pub call: Call,
    pub reply: Reply,
}

/// The result of checking the form of a reply.
pub(super) enum ReplyForm<'r> {
    /// The form is correct, and this part of the reply is the draft.
    Draft(&'r str),
    /// The form is wrong, so the reply cannot be verified.
    Wrong {
        /// The code for the record.
        code: &'static str,
        /// The objection sent to the model.
        objection: &'static str,
    },
}

/// The turns of one kind of conversation: the prompts, and the evidence for judging replies.
pub(super) trait Turns {
    /// Gets the next reply in words. `again`: the previous reply was rejected, and [`Self::object`]
    /// was called. This function records calls that gave no draft.
    fn next_reply(&mut self, again: Option<Purpose>, asker: &mut Asker<'_, '_>)
    -> Result<Received>;

    /// The evidence that the last reply is judged against.
    fn evidence(&self) -> Result<Packed>;

    /// Checks the form of a reply. A failure ends the conversation.
    fn form<'r>(&self, reply: &'r str) -> Result<ReplyForm<'r>> {
        Ok(ReplyForm::Draft(reply))
    }

    /// Adds a rejected reply, and what is wrong with it, to the conversation.
    fn object(&mut self, reply: &str, objections: &str);
}

/// A draft, and the verifier's report on it.
pub(super) struct JudgedDraft {
    pub draft: Draft,
    pub report: Report,
    /// The evidence that `report` compared it with.
    pub packed: Packed,
}

/// The rules for judging drafts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub options: VerifyOptions,
    /// With `true`, a doubt counts as a rejection, and a rejected draft ends in a failure.
    pub strict: bool,
}

/// How a conversation ended.
pub(super) enum ConversationEnd {
    /// The verifier passed all of it, or it makes no claim and says that the evidence does not
    /// contain the answer.
    Accepted {
        judged: Box<JudgedDraft>,
        /// The report on the draft before it, if that one was rejected.
        before: Option<Box<Report>>,
    },
    /// The verifier rejected two drafts.
    Rejected {
        /// The codes for the last draft, or another word for the reason.
        reasons: String,
        /// The drafts, newest first.
        drafts: Vec<JudgedDraft>,
    },
}

/// Runs the conversation to its end: at most one more reply to correct the form, and one to correct
/// the content.
///
/// Errors: those of the turns and of the observer; `SECOND_PASS_FORMAT_VIOLATION`.
pub(super) fn converse(
    turns: &mut dyn Turns,
    rules: &Rules,
    asker: &mut Asker<'_, '_>,
) -> Result<ConversationEnd> {
    asker.rules = Some(*rules);
    let mut again = None;
    let (mut reformed, mut drafts): (bool, Vec<JudgedDraft>) = (false, Vec::new());
    loop {
        let received = match turns.next_reply(again, asker) {
            // The first draft can still be judged.
            Err(failure) if failure.code == ErrorCode::ContextTruncated && !drafts.is_empty() => {
                let reasons = failure.code.to_string();
                return Ok(ConversationEnd::Rejected { reasons, drafts });
            }
            received => received?,
        };
        let packed = turns.evidence()?;
        let text = received.reply.text.clone();
        let body = match turns.form(&text) {
            Ok(ReplyForm::Draft(body)) => body,
            Ok(ReplyForm::Wrong { code, objection }) => {
                note(received, &packed, None, Some(code.to_owned()), asker)?;
                if reformed {
                    return Err(form_violation(code));
                }
                (reformed, again) = (true, Some(Purpose::Format));
                turns.object(&text, objection);
                continue;
            }
            Err(failure) => {
                let code = Some(failure.code.to_string());
                note(received, &packed, None, code, asker)?;
                return Err(failure);
            }
        };
        let draft = Draft::parse(body, &packed.snapshot);
        let report = asker.trail.timed("verify", || {
            verify::verify(&draft, &packed.snapshot, &packed.freshness, &rules.options)
        });
        asker.report(&report, rules)?;
        let refused = refused(body, received.reply.finish, &report, rules.strict);
        let judged = JudgedDraft {
            draft,
            report,
            packed,
        };
        note(
            received,
            &judged.packed,
            Some(&judged.report),
            refused.clone(),
            asker,
        )?;
        let Some(reasons) = refused else {
            // "I can't answer" after a draft with sentences that pass: those are shown.
            let gives_up = !rules.strict && judged.report.outcome == Outcome::Abstained;
            if let Some(first) = drafts.first().filter(|first| gives_up && has_passed(first)) {
                let reasons = codes(&first.report, false);
                return Ok(ConversationEnd::Rejected { reasons, drafts });
            }
            let before = drafts.into_iter().next();
            return Ok(ConversationEnd::Accepted {
                judged: Box::new(judged),
                before: before.map(|judged| Box::new(judged.report)),
            });
        };
        let objections = objections(&reasons, &judged, rules.strict);
        drafts.insert(0, judged);
        if drafts.len() > 1 {
            return Ok(ConversationEnd::Rejected { reasons, drafts });
        }
        again = Some(Purpose::Repair);
        turns.object(&text, &objections);
    }
}

/// Whether a claim of a rejected draft passes.
fn has_passed(judged: &JudgedDraft) -> bool {
    let mut claims = judged.report.claims.iter();
    claims.any(|claim| claim.verdict != Verdict::Rejected)
}

/// Why a draft is rejected; `None` if it is accepted.
fn refused(body: &str, finish: Finish, report: &Report, strict: bool) -> Option<String> {
    // A model that thinks may use up its tokens before it writes a word.
    if finish == Finish::Length {
        return Some(CUT.to_owned());
    }
    if body.trim().is_empty() {
        return Some(BLANK.to_owned());
    }
    let ok = if strict {
        report.ok_without_doubts()
    } else {
        report.ok
    };
    (!ok).then(|| codes(report, strict))
}

/// The codes of rejections, and of doubts if they count, separated by commas.
pub(super) fn codes(report: &Report, strict: bool) -> String {
    let doubts = report.doubts.iter().filter(|_| strict);
    let mut codes: Vec<&str> = report
        .codes
        .iter()
        .chain(doubts)
        .map(|c| c.as_str())
        .collect();
    codes.dedup();
    codes.join(", ")
}

/// The objections to a draft, as sent to the model.
fn objections(reasons: &str, judged: &JudgedDraft, strict: bool) -> String {
    match reasons {
        BLANK => "- It was blank.\n".to_owned(),
        CUT => "- It was cut off at the length limit. Write at most half as much.\n".to_owned(),
        _ => prompt::objections(&judged.report, &judged.packed.snapshot, strict),
    }
}

fn note(
    received: Received,
    packed: &Packed,
    report: Option<&Report>,
    refused: Option<String>,
    asker: &mut Asker<'_, '_>,
) -> Result<()> {
    asker.note(Round {
        purpose: received.purpose,
        call: received.call,
        snapshot: Some(packed.snapshot.clone()),
        freshness: packed.freshness.clone(),
        report: report.cloned(),
        refused,
        steps: Vec::new(),
    })
}

/// The failure `SECOND_PASS_FORMAT_VIOLATION`.
fn form_violation(what: &str) -> Failure {
    let message = format!("The model did not keep the form that was asked for, twice: {what}.");
    Failure::new(ErrorCode::FormatViolation, message)
        .with_hint("ask again, or configure another model")
}
