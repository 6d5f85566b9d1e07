//! The result of a check as data, and the only code that turns it into words.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::Code;
use local_agent_text::types::{ByteSpan, Label, LineSpan, RelPath, SourceName};

/// The place in the evidence that supports or contradicts a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// The item.
    pub label: Label,
    /// Its source.
    pub source: SourceName,
    /// Its file.
    pub path: RelPath,
    /// The bytes of the file: the matching words if they were found, otherwise the whole item.
    pub span: ByteSpan,
    /// The lines of `span`.
    pub lines: LineSpan,
}

/// The effect of a finding on its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// No effect: it is information for the reader.
    Remarks,
    /// The claim is doubtful, unless something else rejects it.
    Doubts,
    /// The claim is rejected.
    Rejects,
}

/// What was found, as structured data. The texts are copied from the claim and the evidence, except
/// for white space and markup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Detail {
    /// A fault in a citation, a quotation or the coverage, in one sentence.
    Pointer {
        /// The sentence.
        why: String,
    },
    /// The cited text does not have `said`.
    Absent {
        /// Words of the claim.
        said: String,
    },
    /// The cited text has `found` where the claim has `said`.
    Differs {
        /// Words of the claim.
        said: String,
        /// Words of the evidence.
        found: String,
    },
    /// The cited text has `said` too, but about something else.
    Elsewhere {
        /// Words of the claim.
        said: String,
        /// What the claim says them about.
        of: String,
        /// What the cited text says them about.
        belongs_to: Option<String>,
        /// What the cited text says about `of` instead.
        found: Option<String>,
    },
    /// The claim negates what the cited text asserts.
    ClaimNegates {
        /// The negated words of the claim.
        said: String,
    },
    /// The cited text negates what the claim asserts.
    TextNegates {
        /// The words of the claim that are negated in the evidence.
        said: String,
    },
    /// The cited text says the opposite of `said`.
    Opposite {
        /// Words of the claim.
        said: String,
        /// Words of the evidence.
        found: String,
    },
    /// The cited text has the same two things in the opposite order.
    Reversed {
        /// What the claim puts first.
        first: String,
        /// What the claim puts second.
        second: String,
    },
    /// The cited text says `found`, which narrows the statement, and the claim leaves it out.
    LeftOut {
        /// Words of the evidence.
        found: String,
    },
    /// The claim adds `said`, which narrows or widens it, and the cited text does not have it.
    Added {
        /// Words of the claim.
        said: String,
    },
    /// Too little of the claim is in the cited items.
    Unsupported {
        /// The cited items.
        cited: Vec<Label>,
        /// Another item that seems to support it.
        better: Option<Label>,
    },
    /// Another item, which is not cited, says something else about the same thing.
    Contradicted {
        /// That item.
        by: Label,
    },
    /// One of several cited items says something else about the same thing.
    Disputed {
        /// That item.
        by: Label,
    },
}

/// One thing that a check found in one claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// What it does to the claim.
    pub effect: Effect,
    /// The bytes of the answer that the finding is about; they are inside the claim's span. `None`:
    /// the whole claim.
    pub span: Option<ByteSpan>,
    /// The sentence of the evidence that contradicts the claim, if there is one.
    pub evidence: Option<Place>,
    /// What was found.
    pub detail: Detail,
}

impl Finding {
    /// The finding as one sentence for people.
    pub fn sentence(&self) -> String {
        self.detail.sentence(self.code)
    }

    /// A fault that already has its wording, about the whole claim.
    pub(crate) fn pointer(code: Code, why: impl Into<String>) -> Self {
        Self {
            code,
            effect: Effect::Rejects,
            span: None,
            evidence: None,
            detail: Detail::Pointer { why: why.into() },
        }
    }
}

impl Detail {
    fn sentence(&self, code: Code) -> String {
        match self {
            Self::Pointer { why } => why.clone(),
            Self::Absent { said } => match code {
                Code::Name => format!("The cited text does not contain the name “{said}”."),
                Code::Cause => format!("The cited text does not give this reason: “{said}”."),
                _ => format!("The cited text does not contain “{said}”."),
            },
            Self::Differs { said, found } => {
                format!("The claim says “{said}”, but the cited text says “{found}”.")
            }
            Self::Elsewhere {
                said,
                of,
                belongs_to,
                found,
            } => elsewhere(said, of, belongs_to.as_deref(), found.as_deref()),
            Self::ClaimNegates { said } => {
                format!("The claim negates “{said}”, but the cited text does not.")
            }
            Self::TextNegates { said } => {
                format!("The cited text negates “{said}”, but the claim does not.")
            }
            Self::Opposite { said, found } => {
                format!("The claim says “{said}”, but the cited text says the opposite: “{found}”.")
            }
            Self::Reversed { first, second } => {
                format!("The cited text has “{first}” and “{second}” in the opposite order.")
            }
            Self::LeftOut { found } => {
                format!("The cited text says “{found}”, but the claim leaves it out.")
            }
            Self::Added { said } => {
                format!("The claim says “{said}”, but the cited text does not.")
            }
            Self::Unsupported { cited, better } => unsupported(cited, *better),
            Self::Contradicted { by } => {
                format!("{by} says something else, and is not cited here.")
            }
            Self::Disputed { by } => format!("{by}, which is cited too, says something else."),
        }
    }
}

fn elsewhere(said: &str, of: &str, belongs_to: Option<&str>, found: Option<&str>) -> String {
    let mut out = match belongs_to {
        Some(other) => format!("In the cited text “{said}” belongs to “{other}”, not to “{of}”."),
        None => format!("In the cited text “{said}” does not belong to “{of}”."),
    };
    if let Some(found) = found {
        out.push_str(&format!(" It has “{found}” for “{of}”."));
    }
    out
}

fn unsupported(cited: &[Label], better: Option<Label>) -> String {
    let names: Vec<String> = cited.iter().map(Label::to_string).collect();
    let (names, is_one) = (names.join(", "), cited.len() == 1);
    match (better, is_one) {
        (Some(label), true) => {
            format!("{names} does not say this. {label} seems to say it, but is not cited here.")
        }
        (Some(label), false) => {
            format!("{names} do not say this. {label} seems to say it, but is not cited here.")
        }
        (None, true) => format!("{names} contains too few of this sentence's words."),
        (None, false) => format!("{names} contain too few of this sentence's words."),
    }
}

/// A finding of a check, before its positions in the answer and in the files are known.
#[derive(Debug, Clone)]
pub(crate) struct Objection {
    pub code: Code,
    pub effect: Effect,
    /// Bytes of the claim's normalised text.
    pub claim: Option<Range<usize>>,
    /// An item, and bytes of its normalised text.
    pub evidence: Option<(Label, Range<usize>)>,
    pub detail: Detail,
}

impl Objection {
    /// An objection to the whole claim.
    pub(crate) fn new(code: Code, effect: Effect, detail: Detail) -> Self {
        Self {
            code,
            effect,
            claim: None,
            evidence: None,
            detail,
        }
    }

    /// The same, about these bytes of the claim's normalised text.
    pub(crate) fn at(mut self, claim: Range<usize>) -> Self {
        self.claim = Some(claim);
        self
    }

    /// The same, because of this sentence of the evidence.
    pub(crate) fn against(mut self, label: Label, sentence: Range<usize>) -> Self {
        self.evidence = Some((label, sentence));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_cited_items_do_not_say_is_said_plainly() {
        let label = |n| Label::new(n).unwrap();
        let sentence = |cited: &[u32], better: Option<u32>| {
            let detail = Detail::Unsupported {
                cited: cited.iter().copied().map(label).collect(),
                better: better.map(label),
            };
            detail.sentence(Code::LowSupport)
        };
        assert_eq!(
            sentence(&[1], None),
            "E1 contains too few of this sentence's words."
        );
        assert_eq!(
            sentence(&[1, 3], None),
            "E1, E3 contain too few of this sentence's words."
        );
        assert_eq!(
            sentence(&[1], Some(2)),
            "E1 does not say this. E2 seems to say it, but is not cited here."
        );
        assert_eq!(
            Detail::Contradicted { by: label(2) }.sentence(Code::Conflict),
            "E2 says something else, and is not cited here."
        );
        assert_eq!(
            Detail::Disputed { by: label(2) }.sentence(Code::Conflict),
            "E2, which is cited too, says something else."
        );
    }

    #[test]
    fn every_detail_is_one_plain_sentence() {
        let text = |s: &str| s.to_owned();
        let details = [
            Detail::Absent { said: text("a") },
            Detail::Differs {
                said: text("a"),
                found: text("b"),
            },
            Detail::Elsewhere {
                said: text("a"),
                of: text("b"),
                belongs_to: Some(text("c")),
                found: Some(text("d")),
            },
            Detail::ClaimNegates { said: text("a") },
            Detail::TextNegates { said: text("a") },
            Detail::Opposite {
                said: text("a"),
                found: text("b"),
            },
            Detail::Reversed {
                first: text("a"),
                second: text("b"),
            },
            Detail::LeftOut { found: text("a") },
            Detail::Added { said: text("a") },
        ];
        for detail in details {
            let sentence = detail.sentence(Code::Referent);
            assert!(
                sentence.ends_with('.') && sentence.contains("“"),
                "{sentence}"
            );
        }
    }
}
