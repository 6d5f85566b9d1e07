//! Sentences of other languages that say that the notes do not say something: "Das steht nicht in
//! den Notizen", "Las notas no dicen cuándo", "メモには書かれていません".
//!
//! A clause is one if it has a word for the evidence, a negation and a verb by which a text speaks,
//! close together; or if the answerer finds nothing; or if there is no information.

use super::abstention::far_eastern;

/// The words of one language.
struct Tongue {
    /// The evidence: "Notizen".
    evidence: &'static [&'static str],
    /// Things that can be a text, when an open question follows: "Protokoll".
    things: &'static [&'static str],
    negations: &'static [&'static str],
    /// Verbs by which a text speaks, or something stands in it.
    saying: &'static [&'static str],
    /// Verbs of finding.
    finding: &'static [&'static str],
    /// The answerer, or a verb that only the answerer is the subject of.
    answerer: &'static [&'static str],
    /// "Information".
    information: &'static [&'static str],
    /// "About".
    about: &'static [&'static str],
    /// Words of open questions.
    asking: &'static [&'static str],
}

macro_rules! tongue {
    ($code:literal) => {
        Tongue {
            evidence: list!(concat!("gaps.", $code, ".evidence")),
            things: list!(concat!("gaps.", $code, ".things")),
            negations: list!(concat!("gaps.", $code, ".negations")),
            saying: list!(concat!("gaps.", $code, ".saying")),
            finding: list!(concat!("gaps.", $code, ".finding")),
            answerer: list!(concat!("gaps.", $code, ".answerer")),
            information: list!(concat!("gaps.", $code, ".information")),
            about: list!(concat!("gaps.", $code, ".about")),
            asking: list!(concat!("gaps.", $code, ".asking")),
        }
    };
}

const TONGUES: [Tongue; 8] = [
    tongue!("de"),
    tongue!("fr"),
    tongue!("es"),
    tongue!("it"),
    tongue!("nl"),
    tongue!("pt"),
    tongue!("ru"),
    tongue!("pl"),
];

/// The same in scripts without blanks: the evidence, what is done with what is said, and how that
/// is denied before or behind it.
struct Signs {
    evidence: &'static [&'static str],
    saying: &'static [&'static str],
    denied_before: &'static [&'static str],
    denied_behind: &'static [&'static str],
    asking: &'static [&'static str],
}

const SIGNS: [Signs; 3] = [
    Signs {
        evidence: list!("gaps.zh.evidence"),
        saying: list!("gaps.zh.saying"),
        denied_before: list!("gaps.zh.negations"),
        denied_behind: &[],
        asking: list!("gaps.zh.asking"),
    },
    Signs {
        evidence: list!("gaps.ja.evidence"),
        saying: list!("gaps.ja.saying"),
        denied_before: &[],
        denied_behind: list!("gaps.ja.negations"),
        asking: list!("gaps.ja.asking"),
    },
    Signs {
        evidence: list!("gaps.ko.evidence"),
        saying: list!("gaps.ko.saying"),
        denied_before: &[],
        denied_behind: list!("gaps.ko.negations"),
        asking: list!("gaps.ko.asking"),
    },
];

/// Maximum number of words between a verb and its negation, between the verb and the evidence, and
/// in a clause.
const NEAR_NEGATION: usize = 4;
const NEAR_EVIDENCE: usize = 7;
const MOST_WORDS: usize = 40;

/// Verbs that say so only of what stands in a text, and words for "in" before it.
const WEAK: &[&str] = list!("gaps.weak");
const IN: &[&str] = list!("gaps.in");

/// Maximum number of words from "in" to the evidence: "in Ihren Notizen".
const MOST_LEADS: usize = 2;

/// What a clause that names a gap speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForeignGap<'t> {
    /// The word for the evidence; empty if there is none.
    pub evidence: &'t str,
    /// The verb, or the noun "information".
    pub verb: &'t str,
    /// What is said to be missing; empty if the clause asks an open question.
    pub topic: String,
}

/// Whether a word is a text, a denial, or a word by which a text speaks, in another language.
pub(super) fn is_foreign_text(word: &str) -> bool {
    let mut all = TONGUES.iter();
    all.any(|t| t.evidence.contains(&word) || t.things.contains(&word))
}

/// The same for a denial.
pub(super) fn is_foreign_denial(word: &str) -> bool {
    TONGUES.iter().any(|t| t.negations.contains(&word))
}

/// The same for a word by which a text speaks.
pub(super) fn is_foreign_saying(word: &str) -> bool {
    TONGUES.iter().any(|t| t.saying.contains(&word))
}

/// The gap that a clause names.
pub(super) fn foreign_gap(clause: &str) -> Option<ForeignGap<'_>> {
    if far_eastern(clause) {
        return SIGNS.iter().find_map(|signs| in_signs(signs, clause));
    }
    let all = words_apart(clause);
    if all.len() > MOST_WORDS {
        return None;
    }
    TONGUES.iter().find_map(|tongue| in_words(tongue, &all))
}

/// The words of a clause; an apostrophe parts two words.
fn words_apart(clause: &str) -> Vec<&str> {
    let words = clause.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    words
        .filter(|w| !w.is_empty())
        .take(MOST_WORDS + 1)
        .collect()
}

fn position(all: &[&str], list: &[&str]) -> Option<usize> {
    all.iter().position(|w| list.contains(w))
}

fn in_words<'t>(tongue: &Tongue, all: &[&'t str]) -> Option<ForeignGap<'t>> {
    let negation = position(all, tongue.negations)?;
    let evidence = position(all, tongue.evidence);
    let verb = said(tongue, all, negation, evidence)
        .or_else(|| thing_said(tongue, all, negation))
        .or_else(|| found(tongue, all, negation, evidence))
        .or_else(|| informs(tongue, all, negation, evidence))?;
    let told = |w: &&&str| {
        let lists = [
            tongue.evidence,
            tongue.negations,
            tongue.saying,
            tongue.finding,
            tongue.answerer,
            tongue.information,
            tongue.about,
        ];
        !lists.iter().any(|list| list.contains(*w))
    };
    let asks = all.iter().any(|w| tongue.asking.contains(w));
    let topic: Vec<&str> = all.iter().filter(told).copied().collect();
    Some(ForeignGap {
        evidence: evidence.and_then(|at| all.get(at)).copied().unwrap_or(""),
        verb: all.get(verb).copied().unwrap_or(""),
        topic: if asks { String::new() } else { topic.join(" ") },
    })
}

/// The verb of saying that is denied of the evidence.
fn said(tongue: &Tongue, all: &[&str], negation: usize, evidence: Option<usize>) -> Option<usize> {
    let evidence = evidence?;
    let from = evidence.saturating_sub(MOST_LEADS);
    let before = all.get(from..evidence).unwrap_or(&[]);
    let is_placed = before.iter().any(|w| IN.contains(w));
    let mut verbs = all.iter().enumerate();
    verbs
        .find(|(at, w)| {
            tongue.saying.contains(w)
                && (is_placed || !WEAK.contains(w))
                && at.abs_diff(negation) <= NEAR_NEGATION
                && at.abs_diff(evidence) <= NEAR_EVIDENCE
        })
        .map(|(at, _)| at)
}

/// The verb of "the minutes do not say whether": a text and an open question.
fn thing_said(tongue: &Tongue, all: &[&str], negation: usize) -> Option<usize> {
    let thing = position(all, tongue.things)?;
    let verb = said(tongue, all, negation, Some(thing))?;
    let behind = all.get(verb.max(negation) + 1..).unwrap_or(&[]);
    let is_open = behind.is_empty() || behind.iter().take(2).any(|w| tongue.asking.contains(w));
    (thing < verb && is_open).then_some(verb)
}

/// The verb of "I found nothing".
fn found(tongue: &Tongue, all: &[&str], negation: usize, evidence: Option<usize>) -> Option<usize> {
    let verb = position(all, tongue.finding)?;
    let speaks = evidence.is_some() || all.iter().any(|w| tongue.answerer.contains(w));
    (speaks && verb.abs_diff(negation) <= NEAR_EVIDENCE).then_some(verb)
}

/// The noun of "there is no information about".
fn informs(
    tongue: &Tongue,
    all: &[&str],
    negation: usize,
    evidence: Option<usize>,
) -> Option<usize> {
    let noun = position(all, tongue.information)?;
    let next = all.get(noun + 1).copied().unwrap_or("");
    let speaks = evidence.is_some() || tongue.about.contains(&next);
    let is_near = negation < noun && noun - negation <= NEAR_NEGATION;
    (speaks && is_near).then_some(noun)
}

fn in_signs<'t>(signs: &Signs, clause: &'t str) -> Option<ForeignGap<'t>> {
    let evidence = signs.evidence.iter().find_map(|e| slice(clause, e))?;
    let verb = signs
        .saying
        .iter()
        .filter_map(|verb| slice(clause, verb))
        .find(|verb| is_denied(signs, clause, verb))?;
    let asks = signs.asking.iter().any(|word| clause.contains(word));
    let rest = clause.split(verb).next().unwrap_or("");
    let rest = rest.replace(evidence, " ");
    // Hiragana are endings and little words.
    let topic: String = rest
        .chars()
        .map(|c| {
            if matches!(c, '\u{3040}'..='\u{309f}') {
                ' '
            } else {
                c
            }
        })
        .collect();
    let topic = match signs.denied_before {
        [] if !asks => topic.trim().to_owned(),
        _ => String::new(),
    };
    Some(ForeignGap {
        evidence,
        verb,
        topic,
    })
}

/// Whether a verb of the clause stands beside its negation.
fn is_denied(signs: &Signs, clause: &str, verb: &str) -> bool {
    let mut places = clause.match_indices(verb);
    places.any(|(at, _)| {
        let before = clause.get(..at).unwrap_or("");
        let behind = clause.get(at + verb.len()..).unwrap_or("");
        let mut heads = signs.denied_before.iter();
        let mut tails = signs.denied_behind.iter();
        heads.any(|n| before.ends_with(n)) || tails.any(|n| behind.starts_with(n))
    })
}

fn slice<'t>(clause: &'t str, word: &str) -> Option<&'t str> {
    let at = clause.find(word)?;
    clause.get(at..at + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_names_the_evidence_a_denial_and_a_verb_of_saying() {
        for gap in [
            "das steht nicht in den notizen",
            "les notes ne précisent pas la date",
            "las notas no dicen cuándo",
            "le note non dicono chi",
            "de notities vermelden niet wie",
            "as notas não dizem quem",
            "в заметках не указано",
            "メモには時間は書かれていません",
            "笔记中没有提到屋顶",
            "a ata não diz se há outros",
        ] {
            assert!(foreign_gap(gap).is_some(), "{gap}");
        }
        for claim in [
            "der garten hat keinen zaun",
            "anna findet den schlüssel nicht",
            "la note est de douze sur vingt",
            "el acta no menciona a pilar",
            "мария не нашла ключи",
            "駐車場は有料ではありません",
            "周一不营业",
            "a nota não está assinada",
            "la note n'a pas été payée",
            "die quelle enthält kein nitrat",
        ] {
            assert!(foreign_gap(claim).is_none(), "{claim}");
        }
    }
}
