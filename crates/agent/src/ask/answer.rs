//! The result of a question, with everything that is needed to verify it again.

use super::answerer::ChatAnswerer;
use super::claim_notes::ClaimNote;
use super::conclusion::{self, Conclusion, Written};
use super::conversation::JudgedDraft;
use super::extractive::{self, Extracted, Shown};
use super::file::FileScope;
use super::gate;
use super::recompute::RecomputedValue;
use super::second_opinion::ClaimOpinion;
use super::summary_extent;
use super::trail::Trail;
use local_agent_index::retrieval::{Coverage, Packed, Reranked, Stale};
use local_agent_text::error::Result;
use local_agent_text::evidence::Draft;
use local_agent_verify::{Report, VerifyOptions};

/// How a question ended, if no technical failure stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is an answer, and every claim in it passed.
    Answered,
    /// The verifier rejected a chat model's answer twice; the sentences that passed are shown.
    Partial,
    /// No sentence certainly answers the question; the closest ones are shown.
    Closest,
    /// The notes contain nothing about the question.
    Abstained,
    /// The verifier rejected a chat model's answer twice; the best sentences of the notes are shown
    /// instead.
    ExtractiveFallback,
}

impl Outcome {
    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Partial => "partial",
            Self::Closest => "closest",
            Self::Abstained => "abstained",
            Self::ExtractiveFallback => "extractive_fallback",
        }
    }
}

/// The answer with everything that is needed to verify it again.
#[derive(Debug)]
pub struct Answer {
    /// The answer that is shown, or the reason why none is.
    pub result: AnswerResult,
    /// The evidence.
    pub packed: Packed,
    /// The rejected sentences of a model's answer, which are not shown.
    pub left_out: Vec<ClaimNote>,
    /// The share of the index that has vectors for the search.
    pub coverage: Coverage,
    /// Files whose current content the search did not see.
    pub stale: Vec<Stale>,
    /// The greatest cosine of the vector search; `None` if there was no vector search.
    pub top_cosine: Option<f32>,
    /// The result of the reranker, if one ranked the hits.
    pub reranked: Option<Reranked>,
    /// The one file that the answer uses, if the question was about a file; its footer is the last
    /// line of the answer.
    pub file: Option<FileScope>,
}

/// The end of a question, and a record of every step.
#[derive(Debug)]
pub struct AskResult {
    /// The answer, or the typed failure.
    pub answer: Result<Answer>,
    /// Every prompt, reply and verdict.
    pub trail: Trail,
}

/// The answer that is shown, or the reason why none is.
#[derive(Debug)]
pub enum AnswerResult {
    /// Passages of the notes.
    Extracted(ExtractedAnswer),
    /// The text of a chat model.
    Written(WrittenAnswer),
    /// No answer.
    Nothing(Abstention),
}

/// A draft and the verifier's report on it.
#[derive(Debug)]
pub struct CheckedDraft {
    /// The draft as it was verified.
    pub draft: Draft,
    /// The report on that draft.
    pub report: Report,
}

/// Passages of the notes as an answer.
#[derive(Debug)]
pub struct ExtractedAnswer {
    /// The text with canonical citations.
    pub text: String,
    /// How certainly the passages answer the question.
    pub certainty: Certainty,
    /// The passages themselves.
    pub shown: Vec<Shown>,
    /// A value computed from the passages.
    pub computed: Option<RecomputedValue>,
    /// An explanation for the user.
    pub why: Option<String>,
    /// The draft from which `text` was rendered.
    pub checked: CheckedDraft,
}

/// How certainly extracted passages answer the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// They answer it.
    Certain,
    /// They are the closest passages.
    Closest,
    /// They replace a model's answer of which no sentence passed.
    InPlace,
    /// They are the closest passages, and replace a model's answer of which no sentence passed.
    ClosestInPlace,
}

/// The text of a chat model.
#[derive(Debug)]
pub struct WrittenAnswer {
    /// The text with canonical citations.
    pub text: String,
    /// `ollama` or `openai`.
    pub provider: &'static str,
    /// Why part of the model's answer is missing; `None` if it is complete.
    pub cut: Option<String>,
    /// Opinions on its claims in addition to the checks; the report already contains them.
    pub opinions: Vec<ClaimOpinion>,
    /// The draft from which `text` was rendered.
    pub checked: CheckedDraft,
}

/// The result without an answer.
#[derive(Debug)]
pub struct Abstention {
    /// The answerer that abstained: `extractive`, `ollama` or `openai`.
    pub answerer: &'static str,
    /// Why nothing is shown.
    pub why: String,
    /// Opinions on the claims of the draft in addition to the checks.
    pub opinions: Vec<ClaimOpinion>,
    /// The draft that abstains or was rejected.
    pub checked: Option<CheckedDraft>,
}

/// The name of the extractive answerer.
const EXTRACTIVE: &str = "extractive";

/// The sentence shown with the closest passages.
const NOT_CERTAIN: &str = "No sentence of the notes answers this for certain.";

impl Answer {
    /// How the question ended.
    pub fn outcome(&self) -> Outcome {
        self.result.outcome()
    }

    /// Whether the text consists of passages of which none answers the question for certain.
    pub fn is_closest(&self) -> bool {
        let AnswerResult::Extracted(extracted) = &self.result else {
            return false;
        };
        matches!(
            extracted.certainty,
            Certainty::Closest | Certainty::ClosestInPlace
        )
    }

    /// The answer with canonical citations; `None` for an abstention.
    pub fn text(&self) -> Option<&str> {
        match &self.result {
            AnswerResult::Extracted(extracted) => Some(&extracted.text),
            AnswerResult::Written(written) => Some(&written.text),
            AnswerResult::Nothing(_) => None,
        }
    }

    /// The passages of an extracted answer; empty for a model's answer.
    pub fn shown(&self) -> &[Shown] {
        match &self.result {
            AnswerResult::Extracted(extracted) => &extracted.shown,
            AnswerResult::Written(_) | AnswerResult::Nothing(_) => &[],
        }
    }

    /// A value computed from the passages.
    pub fn computed(&self) -> Option<&RecomputedValue> {
        match &self.result {
            AnswerResult::Extracted(extracted) => extracted.computed.as_ref(),
            AnswerResult::Written(_) | AnswerResult::Nothing(_) => None,
        }
    }

    /// Why the answer is missing, incomplete, or not the model's.
    pub fn why(&self) -> Option<&str> {
        match &self.result {
            AnswerResult::Extracted(extracted) => extracted.why.as_deref(),
            AnswerResult::Written(written) => written.cut.as_deref(),
            AnswerResult::Nothing(abstention) => Some(&abstention.why),
        }
    }

    /// Gives another reason for an abstention; any other answer keeps its own.
    pub(crate) fn abstain_because(&mut self, why: String) {
        if let AnswerResult::Nothing(abstention) = &mut self.result {
            abstention.why = why;
        }
    }

    fn checked(&self) -> Option<&CheckedDraft> {
        match &self.result {
            AnswerResult::Extracted(extracted) => Some(&extracted.checked),
            AnswerResult::Written(written) => Some(&written.checked),
            AnswerResult::Nothing(abstention) => abstention.checked.as_ref(),
        }
    }

    /// The verifier's report on the answer, or on the draft that it rejected; `None` if there was
    /// no draft.
    pub fn report(&self) -> Option<&Report> {
        self.checked().map(|checked| &checked.report)
    }

    /// The draft that [`Answer::report`] is about.
    pub fn draft(&self) -> Option<&Draft> {
        self.checked().map(|checked| &checked.draft)
    }

    /// Opinions on claims in addition to the checks; the report already contains them.
    pub fn opinions(&self) -> &[ClaimOpinion] {
        match &self.result {
            AnswerResult::Extracted(_) => &[],
            AnswerResult::Written(written) => &written.opinions,
            AnswerResult::Nothing(abstention) => &abstention.opinions,
        }
    }

    /// The author of the shown text: `extractive`, `ollama` or `openai`.
    pub fn answerer(&self) -> &'static str {
        match &self.result {
            AnswerResult::Extracted(_) => EXTRACTIVE,
            AnswerResult::Written(written) => written.provider,
            AnswerResult::Nothing(abstention) => abstention.answerer,
        }
    }

    /// The doubtful sentences of the answer, each with the reason for the doubt.
    pub fn doubts(&self) -> Vec<ClaimNote> {
        let report = self.report().filter(|_| self.text().is_some());
        report.map_or_else(Vec::new, |report| conclusion::doubts(report, &self.packed))
    }
}

impl AnswerResult {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Extracted(extracted) => match extracted.certainty {
                Certainty::Certain => Outcome::Answered,
                Certainty::Closest => Outcome::Closest,
                Certainty::InPlace | Certainty::ClosestInPlace => Outcome::ExtractiveFallback,
            },
            Self::Written(written) if written.cut.is_none() => Outcome::Answered,
            Self::Written(_) => Outcome::Partial,
            Self::Nothing(_) => Outcome::Abstained,
        }
    }

    /// An abstention without a draft, for the reason `why`.
    pub(super) fn nothing(why: &str) -> Self {
        Self::Nothing(Abstention {
            answerer: EXTRACTIVE,
            why: why.to_owned(),
            opinions: Vec::new(),
            checked: None,
        })
    }

    /// Appends `footer` as the last line of the text.
    pub(super) fn with_footer(mut self, footer: &str) -> Self {
        let text = match &mut self {
            Self::Extracted(extracted) => &mut extracted.text,
            Self::Written(written) => &mut written.text,
            Self::Nothing(_) => return self,
        };
        *text = format!("{}\n\n{footer}", text.trim_end());
        self
    }

    /// Marks the result as a replacement for an answer of `model` of which no sentence passed.
    fn in_place_of(mut self, model: &str, reasons: &str) -> Self {
        let (what, why) = match &mut self {
            Self::Extracted(extracted) => {
                extracted.certainty = match extracted.certainty {
                    Certainty::Closest | Certainty::ClosestInPlace => Certainty::ClosestInPlace,
                    Certainty::Certain | Certainty::InPlace => Certainty::InPlace,
                };
                (
                    "shown are the best sentences themselves",
                    extracted.why.take(),
                )
            }
            Self::Nothing(abstention) => (
                "no sentence of the notes answers it either",
                Some(std::mem::take(&mut abstention.why)),
            ),
            Self::Written(_) => return self,
        };
        let own = why.map_or_else(String::new, |why| format!(" {why}"));
        let why = format!(
            "No sentence of the answer of `{model}` passed verification ({reasons}); {what}.{own}"
        );
        match &mut self {
            Self::Extracted(extracted) => extracted.why = Some(why),
            Self::Nothing(abstention) => abstention.why = why,
            Self::Written(_) => {}
        }
        self
    }
}

/// A result and its evidence.
pub(super) struct Grounded {
    pub result: AnswerResult,
    /// The evidence, including items that the result added at its end.
    pub packed: Packed,
    /// The rejected sentences of a model's answer, which are not shown.
    pub left_out: Vec<ClaimNote>,
}

/// The result of an extraction: the passages that pass the gate. `packed` is the evidence so far.
///
/// Errors: `ASK_CITATION_INVALID` if `strict` is set and a claim is rejected.
pub(super) fn of_extracted(
    mut extracted: Extracted,
    packed: Packed,
    options: &VerifyOptions,
    strict: bool,
) -> Result<Grounded> {
    if extracted.passages.is_empty() {
        return Ok(Grounded {
            result: AnswerResult::nothing("The search found no text that could be quoted."),
            packed,
            left_out: Vec::new(),
        });
    }
    let extent = summary_extent::complete(&mut extracted);
    let drafted = extractive::draft(&extracted.notes, &extracted.passages, &packed)?;
    let packed = drafted.packed;
    let whole = drafted.draft.segments().len();
    let passed = gate::gate(
        drafted.draft,
        &packed.snapshot,
        &packed.freshness,
        options,
        strict,
    )?;
    // A computed value is shown only if all its rows passed.
    let is_whole = passed.draft.segments().len() == whole;
    let computed = extracted.computed.filter(|_| is_whole);
    let computed = computed.map(|computed| {
        let (snapshot, freshness) = (&packed.snapshot, &packed.freshness);
        RecomputedValue::of(computed, &passed.draft, snapshot, freshness, options)
    });
    let (certainty, why) = match extracted.certain {
        true => (Certainty::Certain, extracted.why),
        false => (Certainty::Closest, Some(NOT_CERTAIN.to_owned())),
    };
    let reasons: Vec<String> = [why, extent.said, passed.held_back]
        .into_iter()
        .flatten()
        .collect();
    let why = reasons.join(" ");
    let checked = CheckedDraft {
        draft: passed.draft,
        report: passed.report,
    };
    let result = match passed.text {
        Some(text) => AnswerResult::Extracted(ExtractedAnswer {
            text,
            certainty,
            shown: drafted.shown,
            computed,
            why: (!why.is_empty()).then_some(why),
            checked,
        }),
        None => AnswerResult::Nothing(Abstention {
            answerer: EXTRACTIVE,
            why,
            opinions: Vec::new(),
            checked: Some(checked),
        }),
    };
    Ok(Grounded {
        result,
        packed,
        left_out: extent.left_out,
    })
}

/// The result of a conversation. `what` names the evidence of the model. `extract` extracts
/// passages if no sentence of the model passed.
pub(super) fn of_conversation(
    conclusion: Conclusion,
    chat: &ChatAnswerer,
    what: &str,
    extract: impl FnOnce() -> Result<Grounded>,
) -> Result<Grounded> {
    let model = chat.chat.model();
    let name = &model.name;
    match conclusion {
        Conclusion::Whole(written) => Ok(written_answer(written, model.provider, None)),
        Conclusion::Part {
            written,
            left_out,
            reasons,
        } => {
            let cut = format!(
                "The answer of `{name}` did not pass verification as a whole ({reasons}); shown is what passed."
            );
            Ok(Grounded {
                left_out,
                ..written_answer(written, model.provider, Some(cut))
            })
        }
        Conclusion::Silent { judged, opinions } => {
            let JudgedDraft {
                draft,
                report,
                packed,
            } = judged;
            let result = AnswerResult::Nothing(Abstention {
                answerer: model.provider,
                why: format!("`{name}` found no answer in {what}."),
                opinions,
                checked: Some(CheckedDraft { draft, report }),
            });
            Ok(Grounded {
                result,
                packed,
                left_out: Vec::new(),
            })
        }
        Conclusion::Nothing { left_out, reasons } => {
            let extracted = extract()?;
            Ok(Grounded {
                result: extracted.result.in_place_of(name, &reasons),
                left_out,
                ..extracted
            })
        }
    }
}

fn written_answer(written: Written, provider: &'static str, cut: Option<String>) -> Grounded {
    let JudgedDraft {
        draft,
        report,
        packed,
    } = written.judged;
    Grounded {
        result: AnswerResult::Written(WrittenAnswer {
            text: written.text,
            provider,
            cut,
            opinions: written.opinions,
            checked: CheckedDraft { draft, report },
        }),
        packed,
        left_out: Vec::new(),
    }
}
