//! What a question came to, with everything that is needed to check it again.

use super::answerer::ChatAnswerer;
use super::claim_notes::ClaimNote;
use super::conclusion::{self, Conclusion, Written};
use super::conversation::JudgedDraft;
use super::extractive::{self, Computed, Extracted, Shown};
use super::file::FileScope;
use super::gate;
use super::second_opinion::ClaimOpinion;
use super::trail::Trail;
use local_agent_index::retrieval::{Coverage, Packed, Reranked, Stale};
use local_agent_text::error::Result;
use local_agent_text::evidence::Draft;
use local_agent_verify::{Report, VerifyOptions};

/// How it ended, when it ended without a technical failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is an answer, and every claim in it passed.
    Answered,
    /// A chat model's answer was refused twice; what is shown are the sentences of it that passed.
    Partial,
    /// No sentence answers the question for certain; what is shown comes closest.
    Closest,
    /// The notes hold nothing on the question.
    Abstained,
    /// A chat model's answer was refused twice; what is shown instead are the best sentences
    /// themselves.
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

/// The answer with everything that is needed to check it again.
#[derive(Debug)]
pub struct Answer {
    /// What is shown, or why nothing is.
    pub result: AnswerResult,
    /// The evidence.
    pub packed: Packed,
    /// Sentences of a model's answer that were refused and are not shown.
    pub left_out: Vec<ClaimNote>,
    /// How much of the index could be searched by meaning.
    pub coverage: Coverage,
    /// What the search could not see as it is now.
    pub stale: Vec<Stale>,
    /// The greatest cosine of the search, when it searched by meaning.
    pub top_cosine: Option<f32>,
    /// What a reranker did with the hits, if one ranked them.
    pub reranked: Option<Reranked>,
    /// The one file that the answer rests on, when it was asked about; its footer is the last line
    /// of the answer.
    pub file: Option<FileScope>,
}

/// How a question ended, and everything on the way.
#[derive(Debug)]
pub struct Asked {
    /// The answer, or the typed failure.
    pub answer: Result<Answer>,
    /// Every prompt, reply and judgement on the way.
    pub trail: Trail,
}

/// What is shown, or why nothing is.
#[derive(Debug)]
pub enum AnswerResult {
    /// Passages of the notes.
    Extracted(ExtractedAnswer),
    /// What a chat model wrote.
    Written(WrittenAnswer),
    /// Nothing.
    Nothing(Abstention),
}

/// A draft, and what the verifier found in it.
#[derive(Debug)]
pub struct CheckedDraft {
    /// As it was judged.
    pub draft: Draft,
    /// Of that draft.
    pub report: Report,
}

/// Passages of the notes as an answer.
#[derive(Debug)]
pub struct ExtractedAnswer {
    /// With canonical citations.
    pub text: String,
    /// How surely they answer.
    pub certainty: Certainty,
    /// The passages themselves.
    pub shown: Vec<Shown>,
    /// A value that was computed from them.
    pub computed: Option<Computed>,
    /// What a person should know beside them.
    pub why: Option<String>,
    /// What `text` was rendered from.
    pub checked: CheckedDraft,
}

/// How surely extracted passages answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// They answer.
    Certain,
    /// They come closest.
    Closest,
    /// They stand in for an answer of a model of which no sentence passed.
    InPlace,
}

/// What a chat model wrote.
#[derive(Debug)]
pub struct WrittenAnswer {
    /// With canonical citations.
    pub text: String,
    /// `ollama` or `openai`.
    pub provider: &'static str,
    /// Why it is not all that the model wrote; `None`: it is.
    pub cut: Option<String>,
    /// What was thought of its claims beside the checks; the report holds it already.
    pub opinions: Vec<ClaimOpinion>,
    /// What `text` was rendered from.
    pub checked: CheckedDraft,
}

/// That there is no answer.
#[derive(Debug)]
pub struct Abstention {
    /// Whose abstention it is: `extractive`, `ollama` or `openai`.
    pub answerer: &'static str,
    /// Why there is none.
    pub why: String,
    /// What was thought of the draft's claims beside the checks.
    pub opinions: Vec<ClaimOpinion>,
    /// The draft that says so, or was refused.
    pub checked: Option<CheckedDraft>,
}

/// Who extracts.
const EXTRACTIVE: &str = "extractive";

/// What is said of the closest passages.
const NOT_CERTAIN: &str = "No sentence of the notes answers this for certain.";

impl Answer {
    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        self.result.outcome()
    }

    /// The answer with canonical citations; `None` when abstained.
    pub fn text(&self) -> Option<&str> {
        match &self.result {
            AnswerResult::Extracted(extracted) => Some(&extracted.text),
            AnswerResult::Written(written) => Some(&written.text),
            AnswerResult::Nothing(_) => None,
        }
    }

    /// The passages of an answer that was extracted; of a model's answer none.
    pub fn shown(&self) -> &[Shown] {
        match &self.result {
            AnswerResult::Extracted(extracted) => &extracted.shown,
            AnswerResult::Written(_) | AnswerResult::Nothing(_) => &[],
        }
    }

    /// A value that was computed from the passages.
    pub fn computed(&self) -> Option<&Computed> {
        match &self.result {
            AnswerResult::Extracted(extracted) => extracted.computed.as_ref(),
            AnswerResult::Written(_) | AnswerResult::Nothing(_) => None,
        }
    }

    /// Why there is no answer, not all of it, or not the model's.
    pub fn why(&self) -> Option<&str> {
        match &self.result {
            AnswerResult::Extracted(extracted) => extracted.why.as_deref(),
            AnswerResult::Written(written) => written.cut.as_deref(),
            AnswerResult::Nothing(abstention) => Some(&abstention.why),
        }
    }

    fn checked(&self) -> Option<&CheckedDraft> {
        match &self.result {
            AnswerResult::Extracted(extracted) => Some(&extracted.checked),
            AnswerResult::Written(written) => Some(&written.checked),
            AnswerResult::Nothing(abstention) => abstention.checked.as_ref(),
        }
    }

    /// What the verifier found in the answer, or in the draft that it refused; `None` when there
    /// was no draft.
    pub fn report(&self) -> Option<&Report> {
        self.checked().map(|checked| &checked.report)
    }

    /// The draft that [`Answer::report`] is about.
    pub fn draft(&self) -> Option<&Draft> {
        self.checked().map(|checked| &checked.draft)
    }

    /// What was thought of claims beside the checks; the report holds it already.
    pub fn opinions(&self) -> &[ClaimOpinion] {
        match &self.result {
            AnswerResult::Extracted(_) => &[],
            AnswerResult::Written(written) => &written.opinions,
            AnswerResult::Nothing(abstention) => &abstention.opinions,
        }
    }

    /// Who wrote what is shown: `extractive`, `ollama` or `openai`.
    pub fn answerer(&self) -> &'static str {
        match &self.result {
            AnswerResult::Extracted(_) => EXTRACTIVE,
            AnswerResult::Written(written) => written.provider,
            AnswerResult::Nothing(abstention) => abstention.answerer,
        }
    }

    /// The sentences of the answer that are in doubt, with what raises the doubt.
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
                Certainty::InPlace => Outcome::ExtractiveFallback,
            },
            Self::Written(written) if written.cut.is_none() => Outcome::Answered,
            Self::Written(_) => Outcome::Partial,
            Self::Nothing(_) => Outcome::Abstained,
        }
    }

    /// Nothing was drafted, for this reason.
    pub(super) fn nothing(why: &str) -> Self {
        Self::Nothing(Abstention {
            answerer: EXTRACTIVE,
            why: why.to_owned(),
            opinions: Vec::new(),
            checked: None,
        })
    }

    /// With `footer` as the last line of what is shown.
    pub(super) fn with_footer(mut self, footer: &str) -> Self {
        let text = match &mut self {
            Self::Extracted(extracted) => &mut extracted.text,
            Self::Written(written) => &mut written.text,
            Self::Nothing(_) => return self,
        };
        *text = format!("{}\n\n{footer}", text.trim_end());
        self
    }

    /// As it stands in for an answer of `model` of which no sentence passed.
    fn in_place_of(mut self, model: &str, reasons: &str) -> Self {
        let (what, why) = match &mut self {
            Self::Extracted(extracted) => {
                extracted.certainty = Certainty::InPlace;
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

/// A result with the evidence that it rests on.
pub(super) struct Grounded {
    pub result: AnswerResult,
    /// What was given, with what the result added at its end.
    pub packed: Packed,
    /// Sentences of a model that were refused and are not shown.
    pub left_out: Vec<ClaimNote>,
}

/// What was extracted, as far as it passes the gate. `packed`: the evidence so far.
///
/// Errors: `ASK_CITATION_INVALID` when `strict` and a claim is rejected.
pub(super) fn of_extracted(
    extracted: Extracted,
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
    // A value of which a row is missing is not shown.
    let is_whole = passed.draft.segments().len() == whole;
    let (certainty, why) = match extracted.certain {
        true => (Certainty::Certain, extracted.why),
        false => (Certainty::Closest, Some(NOT_CERTAIN.to_owned())),
    };
    let reasons: Vec<String> = [why, passed.held_back].into_iter().flatten().collect();
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
            computed: extracted.computed.filter(|_| is_whole),
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
        left_out: Vec::new(),
    })
}

/// What a conversation came to. `what`: where the model looked. `extract`: what is extracted where
/// no sentence of the model passed.
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
