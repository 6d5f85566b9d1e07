//! Marks that say how each sentence of an answer was checked, and the line that counts them.
//!
//! A sentence without a mark is word for word in the notes. `checked` only means that nothing was
//! found against a sentence, so it has a mark and must never look proved.

use local_agent_text::evidence::{Draft, Segment};
use local_agent_verify::{Claim, Report, Verdict};

/// The mark after a sentence with this verdict; `None` for one that is word for word in the notes.
const fn mark(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Verified => None,
        Verdict::Derived => Some("[=]"),
        Verdict::Checked => Some("[~]"),
        Verdict::Doubtful | Verdict::Rejected => Some("[?]"),
    }
}

/// Where the marks belong: the ends of the sentences that need one, in ascending order.
pub(super) fn ends(report: &Report) -> Vec<(usize, &'static str)> {
    let marked = report
        .claims
        .iter()
        .filter_map(|claim| Some((claim.span.end(), mark(claim.verdict)?)));
    let mut ends: Vec<(usize, &'static str)> = marked.collect();
    ends.sort_unstable();
    ends
}

/// The text that `report` is about, with a mark after each sentence that is not word for word.
pub fn with_marks(text: &str, report: &Report) -> String {
    let mut out = text.to_owned();
    for (end, mark) in ends(report).into_iter().rev() {
        if out.is_char_boundary(end) {
            out.insert_str(end, &format!(" {mark}"));
        }
    }
    out
}

/// Whether a draft has no words of its own: everything in it is quoted.
pub fn is_quoted(draft: &Draft) -> bool {
    !draft.segments().iter().any(|segment| match segment {
        Segment::Text(text) => text.contains(char::is_alphanumeric),
        _ => false,
    })
}

/// `2 statements: 1 word for word from your notes, 1 checked …`; `None` for an answer that was
/// rejected or states nothing. If everything `is_quoted`, what is no whole sentence is a part of
/// one.
pub fn summary(report: &Report, is_quoted: bool) -> Option<String> {
    if !report.ok || report.claims.is_empty() {
        return None;
    }
    let checked = match is_quoted {
        true => "quoted in part",
        false => "checked [~] (not contradicted by your notes, but not proved)",
    };
    let kinds = [
        (Verdict::Verified, "word for word from your notes"),
        (Verdict::Derived, "computed from your notes [=]"),
        (Verdict::Checked, checked),
        (Verdict::Doubtful, "in doubt [?]"),
    ];
    let counted: Vec<(usize, &str)> = kinds
        .into_iter()
        .map(|(verdict, words)| (count(&report.claims, verdict), words))
        .filter(|(n, _)| *n > 0)
        .collect();
    let all = match report.claims.len() {
        1 => "1 statement".to_owned(),
        n => format!("{n} statements"),
    };
    Some(match counted.as_slice() {
        [(_, words)] => format!("{all}, {words}"),
        kinds => {
            let kinds: Vec<String> = kinds.iter().map(|(n, w)| format!("{n} {w}")).collect();
            format!("{all}: {}", kinds.join(", "))
        }
    })
}

fn count(claims: &[Claim], verdict: Verdict) -> usize {
    let same = claims.iter().filter(|claim| claim.verdict == verdict);
    same.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;
    use local_agent_verify::{VerifyOptions, verify_text};

    fn report(answer: &str) -> Report {
        let frozen = snapshot(&["The harbour was built in 1901 by the town council.\n"]);
        let options = VerifyOptions::default();
        verify_text(answer, &frozen, &Default::default(), &options)
    }

    #[test]
    fn a_sentence_that_is_only_not_disproved_never_looks_proved() {
        let verbatim = "The harbour was built in 1901 by the town council [E1].";
        let reworded = "The town council built the harbour in 1901 [E1].";
        let answer = format!("{verbatim} {reworded}");
        let report = report(&answer);
        let verdicts: Vec<Verdict> = report.claims.iter().map(|c| c.verdict).collect();
        assert_eq!(verdicts, [Verdict::Verified, Verdict::Checked]);
        assert_eq!(
            with_marks(&answer, &report),
            format!("{verbatim} {reworded} [~]")
        );
        assert_eq!(
            summary(&report, false).unwrap(),
            "2 statements: 1 word for word from your notes, 1 checked [~] \
             (not contradicted by your notes, but not proved)"
        );
    }

    #[test]
    fn statements_of_one_kind_are_counted_once() {
        let report = report("The harbour was built in 1901 by the town council [E1].");
        assert_eq!(
            summary(&report, false).unwrap(),
            "1 statement, word for word from your notes"
        );
    }

    #[test]
    fn an_answer_that_states_nothing_has_no_count() {
        assert_eq!(summary(&report(""), false), None);
    }
}
