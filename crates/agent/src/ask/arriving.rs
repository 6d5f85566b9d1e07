//! The sentences of a draft that pass while the rest of it still arrives.
//!
//! The beginning of a draft is judged like a whole draft: by the same verifier, against the same
//! evidence. Its last sentence is left out, because it may go on. What follows can still change the
//! verdict on a sentence, and a repair can replace the draft, so a sentence that was reported is
//! not part of the answer until the answer contains it.

use super::conversation::Rules;
use super::trail::{Event, Observe};
use crate::llm::without_thinking;
use local_agent_index::retrieval::Packed;
use local_agent_text::error::Result;
use local_agent_text::evidence::Draft;
use local_agent_verify::{self as verify, Claim, Verdict};

/// Maximum number of times that one draft is judged before it is whole. Each time takes longer than
/// the one before.
const MOST_TIMES: u32 = 64;

/// Maximum size in bytes of a beginning that is judged.
const MAX_JUDGED_BYTES: usize = 32 << 10;

/// Maximum size in bytes of a beginning with the reasoning before it.
const LONGEST_WITH_REASONING: usize = 256 << 10;

/// A draft that arrives.
pub(super) struct ArrivingDraft<'a> {
    evidence: &'a Packed,
    rules: Rules,
    /// Number of bytes of the text that was judged last.
    judged: usize,
    /// How often the draft was judged.
    times: u32,
    passing: Vec<Claim>,
}

impl<'a> ArrivingDraft<'a> {
    pub(super) fn new(evidence: &'a Packed, rules: Rules) -> Self {
        Self {
            evidence,
            rules,
            judged: 0,
            times: 0,
            passing: Vec::new(),
        }
    }

    /// The sentences of the text so far that pass, except one that may go on.
    pub(super) fn passing(&mut self, text: &str) -> Vec<&Claim> {
        let added = text.get(self.judged..).unwrap_or_default();
        let is_short = text.len() <= LONGEST_WITH_REASONING;
        if self.times < MOST_TIMES && is_short && begins_sentence(added) {
            self.judged = text.len();
            let (text, _) = without_thinking(text);
            if !text.is_empty() && text.len() <= MAX_JUDGED_BYTES {
                self.times += 1;
                self.passing = self.judge(&text);
            }
        }
        self.passing.iter().collect()
    }

    fn judge(&self, text: &str) -> Vec<Claim> {
        let Packed {
            snapshot,
            freshness,
            ..
        } = self.evidence;
        let draft = Draft::parse(text, snapshot);
        let mut claims = verify::verify(&draft, snapshot, freshness, &self.rules.options).claims;
        let rendered = draft.lay_out(snapshot).text;
        if claims.last().is_some_and(|last| may_go_on(last, &rendered)) {
            claims.pop();
        }
        passing(&claims, &self.rules).into_iter().cloned().collect()
    }
}

/// The claims that may be shown.
pub(super) fn passing<'c>(claims: &'c [Claim], rules: &Rules) -> Vec<&'c Claim> {
    let passes = |claim: &&Claim| match claim.verdict {
        Verdict::Rejected => false,
        Verdict::Doubtful => !rules.strict,
        Verdict::Verified | Verdict::Checked | Verdict::Derived => true,
    };
    claims.iter().filter(passes).collect()
}

/// Whether the last claim of a rendered text may go on: no word follows it. A first word like "A" is
/// no claim yet.
fn may_go_on(last: &Claim, rendered: &str) -> bool {
    let rest = rendered.get(last.span.end()..).unwrap_or_default();
    !rest.contains(char::is_alphanumeric)
}

/// Whether a text has the end of a sentence, and words after it that belong to the next one. The
/// words of a citation do not.
fn begins_sentence(text: &str) -> bool {
    let Some(end) = text.find(['.', '!', '?', '。', '！', '？', '\n']) else {
        return false;
    };
    let mut is_citation = false;
    text[end..].chars().any(|c| {
        is_citation = match c {
            '[' => true,
            ']' => false,
            _ => is_citation,
        };
        !is_citation && c.is_alphanumeric()
    })
}

/// The sentences that the observer got.
#[derive(Default)]
pub(super) struct ReportedSentences {
    /// The number of drafts so far of which a sentence was reported.
    draft: u32,
    reported: Vec<(String, Verdict)>,
}

impl ReportedSentences {
    /// Begins another draft.
    pub(super) fn begin(&mut self) {
        self.reported.clear();
    }

    /// Reports the sentences that are new. If an older one is no longer among them, all are
    /// reported again, as those of another draft.
    ///
    /// Errors: those of the observer.
    pub(super) fn report(&mut self, claims: &[&Claim], observe: &mut Observe<'_>) -> Result<()> {
        let is_reported = |((text, verdict), claim): (&(String, Verdict), &&Claim)| {
            *text == claim.text && *verdict == claim.verdict
        };
        let is_same = self.reported.len() <= claims.len()
            && self.reported.iter().zip(claims).all(is_reported);
        if !is_same {
            self.reported.clear();
        }
        for claim in claims.iter().skip(self.reported.len()) {
            if self.reported.is_empty() {
                self.draft += 1;
            }
            self.reported.push((claim.text.clone(), claim.verdict));
            let draft = self.draft;
            observe(&Event::Sentence { draft, claim })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;
    use local_agent_text::evidence::{Freshness, FreshnessReport};
    use local_agent_verify::VerifyOptions;

    const NOTES: &[&str] = &[
        "The zebra eats 14 apples a day.\n",
        "The lion sleeps in the old barn.\n",
    ];

    fn rules() -> Rules {
        Rules {
            options: VerifyOptions::default(),
            strict: false,
        }
    }

    fn evidence() -> Packed {
        let snapshot = snapshot(NOTES);
        let items = snapshot.items().iter();
        let freshness: FreshnessReport = items.map(|item| (item.label, Freshness::Fresh)).collect();
        Packed {
            snapshot,
            freshness,
            scores: vec![1.0; NOTES.len()],
            index_stale: Vec::new(),
        }
    }

    /// What is reported while these drafts arrive letter by letter, and at the end of each.
    fn reported(drafts: &[&str]) -> Vec<(u32, String)> {
        let evidence = evidence();
        let mut heard = Vec::new();
        let mut observe = |event: &Event<'_>| {
            if let Event::Sentence { draft, claim } = event {
                heard.push((*draft, claim.text.clone()));
            }
            Ok(())
        };
        let mut reported = ReportedSentences::default();
        for text in drafts {
            let mut draft = ArrivingDraft::new(&evidence, rules());
            reported.begin();
            for (at, c) in text.char_indices() {
                let passing = draft.passing(&text[..at + c.len_utf8()]);
                reported.report(&passing, &mut observe).unwrap();
            }
        }
        heard
    }

    #[test]
    fn a_sentence_is_reported_once_the_next_one_begins() {
        let text = "The zebra eats 14 apples a day [E1]. The lion sleeps in the old barn [E2]. An";
        let heard = reported(&[text]);
        let wanted = [
            "The zebra eats 14 apples a day.",
            "The lion sleeps in the old barn.",
        ];
        let wanted: Vec<_> = wanted.map(|text| (1, text.to_owned())).into();
        assert_eq!(heard, wanted);
        // The last sentence may go on: " and 3 pears".
        assert_eq!(reported(&["The zebra eats 14 apples a day [E1]"]), []);
        assert_eq!(reported(&["The zebra eats 14 apples a day. [E1]"]), []);
    }

    #[test]
    fn what_does_not_pass_is_never_reported() {
        for text in [
            "The zebra eats 15 apples a day [E1]. The lion",
            "The zebra eats 14 apples a day. The lion",
            "<think>The zebra eats 14 apples a day [E1]. The lion",
            "The lion is in [E",
        ] {
            assert_eq!(reported(&[text]), [], "{text}");
        }
        let mixed = "The zebra eats 15 apples a day [E1]. The lion sleeps in the old barn [E2]. An";
        assert_eq!(
            reported(&[mixed]),
            [(1, "The lion sleeps in the old barn.".to_owned())]
        );
    }

    #[test]
    fn reasoning_before_a_draft_uses_up_nothing() {
        let reasoning = "It may be so. ".repeat(2 * MOST_TIMES as usize);
        let text = format!("<think>{reasoning}</think>The zebra eats 14 apples a day [E1]. An");
        let wanted = (1, "The zebra eats 14 apples a day.".to_owned());
        assert_eq!(reported(&[&text]), [wanted]);
    }

    #[test]
    fn another_draft_has_another_number_as_soon_as_a_sentence_of_it_passes() {
        let first = "The zebra eats 14 apples a day [E1]. The lion";
        let none = "The zebra eats 15 apples a day [E1]. The lion";
        let heard = reported(&[none, first, none, first]);
        let drafts: Vec<u32> = heard.iter().map(|(draft, _)| *draft).collect();
        assert_eq!(drafts, [1, 2]);
    }

    #[test]
    fn sentences_that_changed_are_reported_again_as_another_draft() {
        let report = |text: &str| {
            let Packed {
                snapshot,
                freshness,
                ..
            } = evidence();
            let draft = Draft::parse(text, &snapshot);
            verify::verify(&draft, &snapshot, &freshness, &rules().options)
        };
        let one =
            report("The zebra eats 14 apples a day [E1]. The lion sleeps in the old barn [E2].");
        let other =
            report("The lion sleeps in the old barn [E2]. The zebra eats 14 apples a day [E1].");
        let mut drafts = Vec::new();
        let mut observe = |event: &Event<'_>| {
            if let Event::Sentence { draft, .. } = event {
                drafts.push(*draft);
            }
            Ok(())
        };
        let mut reported = ReportedSentences::default();
        for report in [&one, &one, &other] {
            reported
                .report(&passing(&report.claims, &rules()), &mut observe)
                .unwrap();
        }
        assert_eq!(drafts, [1, 1, 2, 2]);
    }

    #[test]
    fn an_endless_draft_is_judged_a_bounded_number_of_times() {
        let evidence = evidence();
        let mut draft = ArrivingDraft::new(&evidence, rules());
        let mut text = String::new();
        for _ in 0..2 * MOST_TIMES {
            text.push_str("The zebra eats 14 apples a day [E1]. A");
            draft.passing(&text);
        }
        assert_eq!(draft.times, MOST_TIMES);
    }
}
