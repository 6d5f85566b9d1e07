//! Which sentences claim nothing: announcements, questions, labels, abstentions.
//!
//! Closed word lists, so that what passes without a citation can be read here. English first; the other languages
//! have the words for saying that one cannot answer.

use crate::evidence::Normal;

/// How a sentence refuses to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abstention {
    /// "I cannot answer": the whole question.
    Whole,
    /// "The notes do not say who approved it": one thing.
    Gap,
}

/// Phrases that give up the whole question.
const WHOLE: &[&str] = &[
    "insufficient_evidence",
    "insufficient evidence",
    "insufficient information",
    "cannot answer",
    "can't answer",
    "can not answer",
    "could not answer",
    "couldn't answer",
    "unable to answer",
    "not able to answer",
    "cannot be answered",
    "can't be answered",
    "i do not know",
    "i don't know",
    "not enough information",
    "not enough evidence",
    "no relevant evidence",
    "no relevant information",
    "no relevant notes",
    "no relevant passages",
    "nicht beantworten",
    "nicht genügend informationen",
    "ich weiß es nicht",
    "ne peux pas répondre",
    "pas assez d'informations",
    "no puedo responder",
    "no hay suficiente información",
    "non posso rispondere",
    "não posso responder",
    "无法回答",
    "無法回答",
    "没有足够的信息",
    "回答できません",
    "わかりません",
    "답변할 수 없습니다",
];

/// Phrases that name a gap wherever they stand.
const GAP: &[&str] = &[
    "could not find",
    "couldn't find",
    "cannot find",
    "can't find",
    "did not find",
    "didn't find",
    "unable to find",
    "found no ",
    "found nothing",
    "find no ",
    "cannot determine",
    "can't determine",
    "unable to determine",
    "cannot be determined",
    "cannot tell",
    "can't tell",
    "cannot confirm",
    "can't confirm",
    "unable to confirm",
    "no mention of",
    "there is no information",
    "there is no evidence in",
    "there is no mention",
    "there is nothing",
];

/// Phrases that name a gap when they are followed by a word for the evidence.
const ABSENT_FROM: &[&str] = &[
    "not mentioned in",
    "not covered in",
    "not covered by",
    "not stated in",
    "not specified in",
    "not found in",
    "not in the",
    "nothing in the",
    "nothing in your",
];

/// Who speaks of the evidence and not of the world, among the first four words of a sentence.
const SPEAKERS: &[&str] = &[
    "i",
    "we",
    "unfortunately",
    "sorry",
    "question",
    "based",
    "given",
    "your",
    "provided",
    "ich",
    "leider",
    "je",
    "yo",
];

/// The same, as the very first word.
const FIRST_WORDS: &[&str] = &[
    "there",
    "insufficient",
    "insufficient_evidence",
    "not",
    "no",
    "none",
    "nothing",
    "from",
    "non",
    "não",
    "die",
    "diese",
];

/// What "does not say" can be said of without being a claim about the world.
const EVIDENCE: &[&str] = &[
    "notes",
    "note",
    "evidence",
    "source",
    "sources",
    "excerpts",
    "excerpt",
    "passages",
    "passage",
    "snapshot",
    "vault",
    "context",
    "documents",
    "files",
    "material",
    "information",
];

const SAYING: &[&str] = &[
    "mention",
    "say",
    "state",
    "contain",
    "cover",
    "specify",
    "include",
    "describe",
    "discuss",
    "provide",
    "address",
    "indicate",
    "explain",
    "give",
    "answer",
    "list",
    "tell",
    "show",
    "record",
    "name",
    "define",
    "identify",
    "report",
    "reveal",
    "clarify",
    "mentions",
    "says",
    "states",
    "contains",
    "covers",
    "specifies",
    "includes",
    "describes",
    "provides",
    "addresses",
    "indicates",
    "explains",
    "gives",
    "answers",
    "shows",
];

/// Words of announcements.
const META: &[&str] = &[
    "a",
    "about",
    "above",
    "according",
    "all",
    "an",
    "and",
    "answer",
    "answers",
    "are",
    "as",
    "asked",
    "available",
    "based",
    "below",
    "brief",
    "can",
    "certainly",
    "conclusion",
    "concerning",
    "context",
    "course",
    "detail",
    "details",
    "document",
    "documents",
    "evidence",
    "excerpts",
    "file",
    "files",
    "find",
    "findings",
    "first",
    "following",
    "follows",
    "for",
    "found",
    "from",
    "given",
    "have",
    "help",
    "helps",
    "here",
    "here's",
    "hope",
    "i",
    "i've",
    "in",
    "info",
    "information",
    "is",
    "it",
    "key",
    "let",
    "list",
    "listed",
    "main",
    "me",
    "mention",
    "mentions",
    "my",
    "next",
    "note",
    "notes",
    "of",
    "okay",
    "ok",
    "on",
    "or",
    "our",
    "overall",
    "overview",
    "passages",
    "point",
    "points",
    "provided",
    "question",
    "questions",
    "quote",
    "quotes",
    "regarding",
    "relevant",
    "result",
    "results",
    "say",
    "says",
    "see",
    "short",
    "show",
    "shows",
    "snapshot",
    "source",
    "sources",
    "state",
    "states",
    "sum",
    "summarized",
    "summary",
    "sure",
    "thanks",
    "that",
    "the",
    "these",
    "this",
    "those",
    "to",
    "up",
    "us",
    "vault",
    "was",
    "we",
    "were",
    "what",
    "with",
    "you",
    "your",
];

/// How an announcement about the topic begins ("Here is what I found about the budget:").
const OPENERS: &[&str] = &[
    "here is",
    "here are",
    "here's",
    "below",
    "the following",
    "this is what",
    "these are",
    "based on",
    "according to",
    "from your",
    "from the",
    "in your",
    "in the notes",
    "regarding",
    "concerning",
    "about",
    "as for",
    "i found",
    "your notes",
    "the notes",
    "the evidence",
    "to summarize",
    "in summary",
    "in short",
];

/// How advice begins that follows an abstention.
const ADVICE: &[&str] = &[
    "you could",
    "you may",
    "you might",
    "you can",
    "please",
    "try",
    "consider",
    "let me know",
    "if you",
    "would you",
    "could you",
    "it may help",
    "it might help",
];

const CONTRASTS: &[&str] = &[
    "because",
    "but",
    "however",
    "although",
    "though",
    "nevertheless",
    "nonetheless",
    "yet",
    "except",
    "still",
    "aber",
    "mais",
    "pero",
    "jedoch",
];

/// Words that make a clause a part of the refusal and not a claim of its own.
const SUBORDINATE: &[&str] = &[
    "who", "what", "when", "where", "which", "whether", "how", "why", "if", "for", "about", "in", "from", "on", "at",
    "of", "based", "with", "to", "please", "as", "or", "given", "using", "nor",
];

/// Verbs that make a clause or a heading a statement.
const FINITE: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "will", "would", "must", "should", "can", "could", "may",
    "might", "cannot", "isn't", "aren't", "wasn't", "weren't", "won't", "does", "doesn't", "did", "didn't", "became",
    "grew", "fell", "rose", "went", "begins", "began", "belongs", "consists", "ist", "sind", "waren", "haben", "wird",
    "werden", "muss", "kann", "soll", "darf", "sont", "était",
];

/// `text` as words that can be compared: normalised, lower case.
pub fn plain_lower(text: &str) -> String {
    Normal::of(text).as_str().to_lowercase()
}

fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_' | '-')))
        .map(|w| w.trim_matches(['\'', '-', '_']))
        .filter(|w| !w.is_empty())
}

fn starts_with_any(lower: &str, list: &[&str]) -> bool {
    list.iter()
        .any(|opener| lower.strip_prefix(opener).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())))
}

/// Whether the sentence asks.
pub fn is_question(lower: &str) -> bool {
    lower.trim_end_matches(['"', '\'', ')', '*', ' ']).ends_with(['?', '？'])
}

/// Whether the sentence ends with a colon.
pub fn ends_with_colon(lower: &str) -> bool {
    lower.trim_end_matches(['*', '_', ' ', '"']).ends_with([':', '：'])
}

/// Whether the sentence only announces: words of announcement and nothing else; with an opener and a colon, words of
/// the question too. Numbers are never announcements.
pub fn is_meta(lower: &str, question_lower: &str) -> bool {
    if lower.contains(|c: char| c.is_numeric()) {
        return false;
    }
    let topic = ends_with_colon(lower) && starts_with_any(lower, OPENERS);
    let mut any = false;
    let known = |word: &str| META.contains(&word) || (topic && words(question_lower).any(|q| q == word));
    // Four words are enough to be sure, and a long sentence is no announcement.
    words(lower).take(40).all(|word| {
        any = true;
        known(word)
    }) && any
        && lower.len() < 400
}

/// Whether the sentence is a courtesy ("Let me know if you need more details!").
pub fn is_courtesy(lower: &str) -> bool {
    let polite = ["let me know", "feel free", "i hope this", "hope this helps", "please let me know"];
    starts_with_any(lower, &polite) && lower.len() < 120 && !lower.contains(|c: char| c.is_numeric() || c == ':')
}

/// Whether an opener announces what follows, whatever the topic.
pub fn announces(lower: &str) -> bool {
    ends_with_colon(lower) && starts_with_any(lower, OPENERS)
}

/// Whether and how the sentence refuses.
pub fn abstention(lower: &str) -> Option<Abstention> {
    if lower.len() > 600 {
        return None;
    }
    // "Bob cannot answer the phone" and "There was not enough evidence to convict" are about the world.
    let first = words(lower).next().unwrap_or("");
    let spoken = !lower.is_ascii() && !lower.contains(' ')
        || FIRST_WORDS.contains(&first)
        || words(lower).take(2).any(|w| EVIDENCE.contains(&w))
        || words(lower).take(4).any(|w| SPEAKERS.contains(&w));
    let past = words(lower).take(4).any(|w| matches!(w, "was" | "were" | "had"));
    if spoken && !past && WHOLE.iter().any(|phrase| lower.contains(phrase)) {
        return Some(Abstention::Whole);
    }
    let absent = |phrase: &&str| {
        let rest = lower.find(*phrase).and_then(|at| lower.get(at + phrase.len()..));
        rest.is_some_and(|rest| words(rest).take(4).any(|w| EVIDENCE.contains(&w)))
    };
    if (spoken && !past && GAP.iter().any(|phrase| lower.contains(phrase))) || ABSENT_FROM.iter().any(absent) {
        return Some(Abstention::Gap);
    }
    // "The notes do not say …": evidence, then a negation, then a verb of saying, close together.
    let all: Vec<&str> = words(lower).take(60).collect();
    let subject = all.iter().take(8).position(|w| EVIDENCE.contains(w))?;
    let no_subject = all.first().is_some_and(|w| matches!(*w, "no" | "none" | "nothing"));
    let near = all.get(subject + 1..).unwrap_or(&[]);
    let negated = near
        .iter()
        .take(5)
        .position(|w| matches!(*w, "not" | "don't" | "doesn't" | "didn't" | "never" | "nothing" | "no" | "nowhere"));
    let from = if no_subject { 0 } else { negated? + 1 };
    let says = near.get(from..).unwrap_or(&[]).iter().take(3).any(|w| SAYING.contains(w));
    let silent = negated.is_some_and(|n| near.get(..n).unwrap_or(&[]).iter().any(|w| SAYING.contains(w)));
    (says || silent).then_some(Abstention::Gap)
}

/// Whether a sentence that refuses claims something beside.
pub fn refuses_and_claims(lower: &str) -> bool {
    clauses(lower).into_iter().any(|clause| {
        let mut words: Vec<&str> = words(clause).collect();
        while words.first().is_some_and(|w| matches!(*w, "and" | "so" | "that" | "because" | "since" | "therefore")) {
            words.remove(0);
        }
        let head = words.first().copied().unwrap_or("");
        let claims = clause.contains(|c: char| c.is_numeric()) || words.iter().any(|w| FINITE.contains(w));
        words.len() >= 3
            && abstention(clause).is_none()
            && !SUBORDINATE.contains(&head)
            && !starts_with_any(clause.trim_start(), ADVICE)
            && !is_meta(clause, "")
            && claims
    })
}

/// Cut at commas, semicolons, dashes, colons and contrasts.
fn clauses(lower: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut word_start = 0;
    for (at, c) in lower.char_indices() {
        let stop = matches!(c, ',' | ';' | ':' | '—' | '–' | '，' | '；' | '：');
        if c.is_alphanumeric() || c == '\'' {
            continue;
        }
        let word = lower.get(word_start..at).unwrap_or("").trim();
        if CONTRASTS.contains(&word) && word_start >= start {
            out.extend(lower.get(start..word_start));
            start = at;
        }
        if stop {
            out.extend(lower.get(start..at));
            start = at + c.len_utf8();
        }
        word_start = at + c.len_utf8();
    }
    out.extend(lower.get(start..));
    out
}

/// Whether the sentence is advice after an abstention.
pub fn is_advice(lower: &str) -> bool {
    starts_with_any(lower, ADVICE) && !lower.contains(|c: char| c.is_numeric())
}

/// Whether a heading, a label or a table's header says something that could be wrong: it has a finite verb, a closing
/// stop, a value after a colon, an amount, or a past tense with an object.
pub fn title_claims(text: &str) -> bool {
    let normal = Normal::of(text);
    let text = normal.as_str().trim_start_matches(['#', ' ']);
    let lower = text.to_lowercase();
    if is_question(&lower) {
        return false;
    }
    let all: Vec<&str> = words(&lower).collect();
    let asks = all.first().is_some_and(|w| matches!(*w, "how" | "what" | "why" | "who" | "when" | "where" | "which"));
    if asks {
        return false;
    }
    // "May" in a title is a month.
    let verb = all.len() >= 3 && all.iter().skip(1).any(|w| *w != "may" && FINITE.contains(w));
    let stop = all.len() >= 3 && lower.ends_with(['.', '!', '。']);
    let valued = text.split_once([':', '=', '：']).is_some_and(|(name, value)| {
        let numbered = name.rsplit(' ').next().is_some_and(|n| n.chars().all(char::is_numeric));
        value.contains(|c: char| c.is_numeric()) && !numbered
    });
    let amount = text.contains(['%', '€', '$', '£']) && text.contains(|c: char| c.is_numeric());
    verb || stop || valued || amount || past_with_object(text)
}

/// "Redis replaced Postgres", "The team approved the plan"; not "Features removed in 2.0".
fn past_with_object(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).skip(1).any(|pair| {
        let [verb, object] = pair else { return false };
        let past = verb.len() > 4 && verb.ends_with("ed") && verb.chars().all(char::is_lowercase);
        let article = matches!(*object, "the" | "a" | "an" | "our" | "its" | "their" | "all" | "by" | "to");
        past && (article || object.starts_with(|c: char| c.is_uppercase() || c.is_numeric()))
    })
}

/// Whether a line asks.
pub fn asks(text: &str) -> bool {
    is_question(&plain_lower(text))
}

/// Whether a line consists of words of announcement.
pub fn says_nothing_new(text: &str) -> bool {
    let lower = plain_lower(text);
    is_meta(&lower, "") || is_courtesy(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c48_announcements_claim_nothing_and_claims_are_no_announcements() {
        let question = "what is the budget for the harbour project?";
        for meta in [
            "Here is what I found:",
            "Here's a summary of the key points:",
            "Based on your notes:",
            "I found the following in your notes.",
            "Here is what the notes say about the harbour project budget:",
            "Sure, here are the details.",
            "In summary:",
        ] {
            assert!(is_meta(&plain_lower(meta), question), "{meta}");
        }
        for claim in [
            "Here is the answer: 5 million.",
            "The budget is for the harbour project.",
            "Here are 3 points:",
            "The notes say the harbour is closed:",
            "The harbour project is the budget",
            "Here is what the notes say about the corrupt mayor:",
        ] {
            assert!(!is_meta(&plain_lower(claim), question), "{claim}");
        }
    }

    #[test]
    fn c50_refusals_are_recognised() {
        for whole in [
            "INSUFFICIENT_EVIDENCE",
            "I cannot answer this question from your notes.",
            "There is not enough information to answer.",
            "I don’t know.",
            "Ich kann die Frage nicht beantworten.",
            "无法回答这个问题。",
        ] {
            assert_eq!(abstention(&plain_lower(whole)), Some(Abstention::Whole), "{whole}");
        }
        for gap in [
            "The notes do not say who approved it.",
            "I could not find anything about the owner.",
            "None of the provided sources mention a deadline.",
            "The evidence says nothing about costs.",
            "Your notes contain no deadline.",
            "The owner is not mentioned in the provided notes.",
            "There is nothing about it in your vault.",
        ] {
            assert_eq!(abstention(&plain_lower(gap)), Some(Abstention::Gap), "{gap}");
        }
        for claim in [
            "Bob found no evidence of fraud.",
            "Bob cannot answer the phone.",
            "There was insufficient evidence to convict Bob.",
            "Alice could not find the key.",
            "The key was not found in the drawer.",
            "The budget is not approved.",
            "Alice did not answer the letter.",
            "The report says no.",
        ] {
            assert_eq!(abstention(&plain_lower(claim)), None, "{claim}");
        }
    }

    #[test]
    fn c37_a_refusal_with_a_claim_is_one() {
        for both in [
            "I cannot answer, but the budget is 5 million.",
            "I don't know the owner, the budget is 5 million.",
            "There is not enough information; however, Alice was the owner.",
            "Insufficient evidence, although it may be 7.",
            "I cannot answer because the budget was cut.",
        ] {
            assert!(refuses_and_claims(&plain_lower(both)), "{both}");
        }
        for only in [
            "I cannot answer this question from your notes.",
            "I cannot answer, because the notes do not mention it.",
            "There is not enough information in the notes, so I cannot answer.",
            "I don't know who the owner is, or when it was decided.",
            "I cannot answer what the budget is for 2026.",
        ] {
            assert!(!refuses_and_claims(&plain_lower(only)), "{only}");
        }
    }

    #[test]
    fn c27_titles_that_claim_are_told_from_titles() {
        for claim in [
            "The budget is 5 million",
            "Budget: 5 million",
            "Revenue grew 12%",
            "The plan was rejected",
            "Redis replaced Postgres",
            "It works.  Really works.",
        ] {
            assert!(title_claims(claim), "{claim}");
        }
        for title in [
            "Budget",
            "Budget for 2026",
            "How it is done",
            "Features removed in 2.0",
            "Step 1: Preparation",
            "Phase 2: Plan 7",
            "Year",
            "What is new?",
            "Lessons learned",
            "Report of May 2026",
            "Total cost by year",
        ] {
            assert!(!title_claims(title), "{title}");
        }
    }
}
