//! Saying that one cannot answer, and claiming something all the same.

use super::{FINITE, is_meta, starts_with_any, words};

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
    "bitte",
    "sie können",
    "du kannst",
    "vous pouvez",
    "tu peux",
    "puede",
    "puedes",
    "può",
    "puoi",
    "pode",
];

/// Words after which something else is said than before.
const CONTRASTS: &[&str] = &[
    "but",
    "however",
    "although",
    "though",
    "albeit",
    "nevertheless",
    "nonetheless",
    "except",
    "whereas",
    "aber",
    "jedoch",
    "allerdings",
    "dennoch",
    "trotzdem",
    "obwohl",
    "sondern",
    "mais",
    "cependant",
    "toutefois",
    "pourtant",
    "néanmoins",
    "pero",
    "aunque",
    "però",
    "tuttavia",
    "mas",
    "porém",
    "contudo",
];

/// The same, where a clause begins with them; elsewhere they mean something else ("I still cannot answer", "ma").
const CONTRASTS_IN_FRONT: &[&str] = &["still", "yet", "while", "doch", "ma"];

/// The same in writing without blanks.
const CONTRASTS_WITHIN: &[&str] =
    &["但是", "但", "不过", "不過", "然而", "可是", "しかし", "ですが", "けれど", "ただし", "하지만", "그러나", "지만"];

/// Words that begin what hangs on a question, in what follows a contrast ("but not when").
const ASKING: &[&str] = &[
    "who", "what", "when", "where", "which", "whether", "how", "why", "if", "please", "or", "nor", "wer", "wann", "wo",
    "ob", "qui", "quand", "où", "si", "quién", "cuándo", "dónde",
];

/// How an offer begins.
const OFFERS: &[&str] = &["i can", "i could", "i will", "i would", "i'll", "i'd"];

/// What is offered.
const OFFERED: &[&str] = &["search", "look", "try", "help", "check", "happy", "glad"];

/// Words that make a clause a part of the refusal and not a claim of its own.
const SUBORDINATE: &[&str] = &[
    "who", "what", "when", "where", "which", "whether", "how", "why", "if", "for", "about", "in", "from", "on", "at",
    "of", "based", "with", "to", "please", "as", "or", "given", "using", "nor",
];

/// Whether and how the sentence refuses.
pub fn abstention(lower: &str) -> Option<Abstention> {
    if lower.len() > 600 {
        return None;
    }
    // "Bob cannot answer the phone" and "There was not enough evidence to convict" are about the world.
    let first = words(lower).next().unwrap_or("");
    let spoken = far_eastern(lower)
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

/// Whether a sentence that refuses claims something beside. After a contrast the rest is a claim, whatever its verb,
/// unless it refuses too, asks, advises or offers; elsewhere a clause claims by a number or a finite verb.
pub fn refuses_and_claims(lower: &str) -> bool {
    let mut contrast = false;
    for clause in clauses(lower) {
        contrast |= clause.contrast;
        let mut words: Vec<&str> = words(clause.text).collect();
        while words.first().is_some_and(|w| matches!(*w, "and" | "so" | "that" | "because" | "since" | "therefore")) {
            words.remove(0);
        }
        if !says_enough(clause.text, &words, contrast) {
            continue;
        }
        if claims(clause.text, &words, contrast) {
            return true;
        }
        contrast = false;
    }
    false
}

/// Whether a clause has the words of a statement: three, two after a contrast, four signs in writing without blanks.
fn says_enough(clause: &str, words: &[&str], contrast: bool) -> bool {
    let long = far_eastern(clause) && clause.chars().filter(|c| c.is_alphanumeric()).count() >= 4;
    words.len() >= if contrast { 2 } else { 3 } || contrast && long
}

fn claims(clause: &str, words: &[&str], contrast: bool) -> bool {
    let head = words.first().copied().unwrap_or("");
    let numeric = clause.contains(|c: char| c.is_numeric());
    let phrase = clause.trim_start().trim_start_matches("still ");
    let refuses = abstention(clause).is_some() || WHOLE.iter().any(|refusal| phrase.starts_with(refusal));
    if refuses || starts_with_any(clause.trim_start(), ADVICE) || is_meta(clause, "") {
        return false;
    }
    if !contrast {
        return !SUBORDINATE.contains(&head) && (numeric || words.iter().any(|w| FINITE.contains(w)));
    }
    let offer = starts_with_any(clause.trim_start(), OFFERS) && words.iter().take(5).any(|w| OFFERED.contains(w));
    let short = matches!(head, "not" | "no" | "none" | "nothing" | "only" | "for")
        && (words.len() <= 4 || words.get(1).is_some_and(|w| ASKING.contains(w)));
    numeric || !(offer || short || ASKING.contains(&head))
}

fn far_eastern(text: &str) -> bool {
    text.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

/// A part of a sentence.
struct Clause<'t> {
    text: &'t str,
    /// Whether a word of contrast opens it.
    contrast: bool,
}

/// Cut at commas, semicolons, dashes, colons and contrasts.
fn clauses(lower: &str) -> Vec<Clause<'_>> {
    let mut out = Vec::new();
    let (mut start, mut contrast) = (0, false);
    let mut cut = |start: &mut usize, end: usize, next: usize, contrast: &mut bool, opens: bool| {
        let text = lower.get(*start..end).unwrap_or("");
        out.push(Clause { text, contrast: *contrast });
        // "However, …": the contrast is that of what follows the comma.
        *contrast = opens || *contrast && !text.contains(char::is_alphanumeric);
        *start = next;
    };
    let mut word_start = 0;
    for (at, c) in lower.char_indices().chain([(lower.len(), ' ')]) {
        if at < word_start
            || c.is_alphanumeric() && !far_eastern(lower.get(at..at + c.len_utf8()).unwrap_or(""))
            || c == '\''
        {
            continue;
        }
        let word = lower.get(word_start..at).unwrap_or("").trim();
        let in_front = !lower.get(start..word_start).unwrap_or("").contains(char::is_alphanumeric);
        let before = lower.get(..word_start).unwrap_or("").trim_end();
        let spanish = word == "embargo" && before.ends_with("sin") || word == "obstante" && before.ends_with("no");
        if CONTRASTS.contains(&word) || spanish || in_front && CONTRASTS_IN_FRONT.contains(&word) {
            cut(&mut start, word_start, at, &mut contrast, true);
        } else if word == "because" {
            cut(&mut start, word_start, at, &mut contrast, false);
        }
        let rest = lower.get(at..).unwrap_or("");
        let within = CONTRASTS_WITHIN.iter().find(|sign| rest.starts_with(**sign));
        word_start = at + c.len_utf8();
        if let Some(sign) = within.filter(|_| !lower.get(..at).is_some_and(|before| before.ends_with('不'))) {
            word_start = at + sign.len();
            cut(&mut start, at, word_start, &mut contrast, true);
        } else if matches!(c, ',' | ';' | ':' | '—' | '–' | '，' | '；' | '：' | '、') {
            cut(&mut start, at, word_start, &mut contrast, false);
        }
    }
    cut(&mut start, lower.len(), lower.len(), &mut contrast, false);
    out
}

/// Whether the sentence is advice after an abstention.
pub fn is_advice(lower: &str) -> bool {
    starts_with_any(lower, ADVICE) && !lower.contains(|c: char| c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::phrases::plain_lower;

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
            "I cannot answer this, but the deadline is 5 May.",
            "I cannot answer this, but visitors usually come at noon.",
            "I cannot answer, but in spring the harbour closes.",
            "I don't know the owner; however, Alice pays the invoices.",
            "There is not enough information, yet most sailors prefer the north pier.",
            "I cannot answer this, although, as far as I know, Bob signs everything.",
            "The notes do not say who approved it, but Bob signs everything.",
            "Ich kann das nicht beantworten, aber die Besucher kommen meist mittags.",
            "Ich kann das nicht beantworten, allerdings gehört der Hafen der Stadt.",
            "Je ne peux pas répondre, mais les visiteurs viennent vers midi.",
            "No puedo responder, sin embargo los visitantes llegan al mediodía.",
            "Non posso rispondere, ma i visitatori arrivano a mezzogiorno.",
            "Não posso responder, mas os visitantes chegam cedo.",
            "无法回答，但访客通常中午来。",
            "回答できません。しかし、訪問者は昼に来ます。",
            "답변할 수 없습니다, 하지만 방문객은 정오에 옵니다.",
        ] {
            assert!(refuses_and_claims(&plain_lower(both)), "{both}");
        }
        for only in [
            "I cannot answer this question from your notes.",
            "I cannot answer, because the notes do not mention it.",
            "There is not enough information in the notes, so I cannot answer.",
            "I don't know who the owner is, or when it was decided.",
            "I cannot answer what the budget is for 2026.",
            "I still cannot answer this question from your notes.",
            "I cannot answer this yet.",
            "I cannot answer this, but I can search again.",
            "I cannot answer this, but you could ask the council.",
            "I could not find who leads the project, but not when it began.",
            "I don't know whether the embargo holds.",
            "I cannot answer this; however, please try another question.",
            "I don't know who approved it, though.",
            "There is not enough information, but no relevant passages either.",
            "Ich kann die Frage nicht beantworten, aber Sie können mehr Notizen hinzufügen.",
            "无法回答这个问题。",
        ] {
            assert!(!refuses_and_claims(&plain_lower(only)), "{only}");
        }
    }
}
