//! Refusals that also make a claim: "I cannot answer, but the budget is 5".

use std::ops::Range;

use super::abstention::{WHOLE, abstention, far_eastern, is_answerer};
use super::advice::{is_advice, is_without_content, sends_to_somebody};
use super::{FINITE, is_meta, starts_with_any, words};

/// Words after which a different statement begins.
const CONTRASTS: &[&str] = list!("beside.contrasts");

/// Words that begin a different statement only at the start of a clause; elsewhere they mean
/// something else ("I still cannot answer", "ma").
const CONTRASTS_IN_FRONT: &[&str] = &["still", "yet", "while", "doch", "ma"];

/// Such words in scripts that are written without spaces.
const CONTRASTS_WITHIN: &[&str] = list!("beside.contrasts-within");

/// Words after a contrast that continue the question instead of making a claim ("but not when").
const ASKING: &[&str] = list!("beside.asking");

/// How an offer begins.
const OFFERS: &[&str] = list!("beside.offers");

/// Words for what is offered.
const OFFERED: &[&str] = list!("beside.offered");

/// Words that make a clause part of the refusal and not a separate claim.
pub(super) const SUBORDINATE: &[&str] = list!("beside.subordinate");

/// Whether a sentence that refuses also makes a claim. After a contrast, the rest is a claim,
/// whatever its verb, unless it refuses too, asks, advises or offers; elsewhere a clause is a claim
/// if it has a number or a finite verb.
pub(crate) fn refuses_and_claims(lower: &str) -> bool {
    let mut contrast = false;
    for clause in clauses(lower) {
        contrast |= clause.contrast;
        let mut words: Vec<&str> = words(clause.text).collect();
        while words.first().is_some_and(|w| {
            matches!(
                *w,
                "and" | "so" | "that" | "because" | "since" | "therefore"
            )
        }) {
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

/// Whether a sentence that names a gap also says something else in a clause of its own: any other
/// clause if it cites something, otherwise one before a contrast with the gap. A clause that tells
/// where the answerer looked is none.
pub(crate) fn says_more(lower: &str, cites: bool) -> bool {
    let clauses = clauses(lower);
    let first_gap = clauses.iter().position(|clause| refuses(clause.text));
    clauses.iter().enumerate().any(|(n, clause)| {
        let is_before = first_gap.is_some_and(|gap| n < gap && is_apart(lower, &clauses, gap));
        (cites || is_before) && states_more(clause)
    })
}

/// Whether a clause stands behind a contrast or a strong sign.
fn is_apart(lower: &str, clauses: &[Clause<'_>], at: usize) -> bool {
    clauses.get(at).is_some_and(|clause| {
        let before = lower.get(..clause.range.start).unwrap_or("").trim_end();
        clause.contrast || before.ends_with([';', '；', '—', '–', ':', '：'])
    })
}

fn states_more(clause: &Clause<'_>) -> bool {
    let mut all = words(clause.text).skip_while(|w| matches!(*w, "and" | "so" | "that"));
    let head = all.next().unwrap_or("");
    let is_search = is_answerer(head) || SUBORDINATE.contains(&head);
    let enough = all.count() >= 2 || far_eastern(clause.text);
    enough && !is_search && !refuses(clause.text) && !is_free(clause.text)
}

/// Whether a clause has enough words for a statement: three, two after a contrast, or four
/// characters in scripts without blanks.
fn says_enough(clause: &str, words: &[&str], contrast: bool) -> bool {
    let long = far_eastern(clause) && clause.chars().filter(|c| c.is_alphanumeric()).count() >= 4;
    words.len() >= if contrast { 2 } else { 3 } || contrast && long
}

fn claims(clause: &str, words: &[&str], contrast: bool) -> bool {
    let head = words.first().copied().unwrap_or("");
    let numeric = clause.contains(|c: char| c.is_numeric());
    if refuses(clause) || is_free(clause) {
        return false;
    }
    if !contrast {
        return !SUBORDINATE.contains(&head)
            && (numeric || words.iter().any(|w| FINITE.contains(w)));
    }
    let short = matches!(head, "not" | "no" | "none" | "nothing" | "only" | "for")
        && (words.len() <= 4 || words.get(1).is_some_and(|w| ASKING.contains(w)));
    numeric || !(short || ASKING.contains(&head))
}

/// Whether a clause declines to answer.
fn refuses(clause: &str) -> bool {
    let phrase = clause.trim_start().trim_start_matches("still ");
    abstention(clause).is_some() || WHOLE.iter().any(|refusal| phrase.starts_with(refusal))
}

/// Whether a clause only announces, advises or offers.
fn is_free(clause: &str) -> bool {
    let offers = starts_with_any(clause.trim_start(), OFFERS)
        && words(clause).take(5).any(|w| OFFERED.contains(&w))
        && is_without_content(clause);
    offers || is_advice(clause) || sends_to_somebody(clause) || is_meta(clause, "")
}

/// A sentence that refuses and claims, with blanks in the place of its clauses that refuse. `None`
/// if nothing else is left.
pub(crate) fn without_refusals(normal: &str) -> Option<String> {
    let lower = normal.to_lowercase();
    // A few letters have another length in lower case.
    if lower.len() != normal.len() {
        return None;
    }
    let mut out = normal.to_owned();
    let mut after = false;
    for clause in clauses(&lower) {
        let mut range = clause.range.clone();
        let was_refusal = std::mem::replace(&mut after, refuses(clause.text));
        if !after {
            range.end = range.start + opening_of_rest(clause.text, was_refusal);
        }
        let blank = " ".repeat(range.len());
        out.get(range.clone())?;
        out.replace_range(range, &blank);
    }
    out.contains(char::is_alphanumeric).then_some(out)
}

/// The length of the word that ties a clause to the refusal before it: "…, only that it is closed".
fn opening_of_rest(clause: &str, was_refusal: bool) -> usize {
    let body = clause.trim_start();
    let is_tied = ["only ", "just ", "except "]
        .iter()
        .any(|word| body.starts_with(word));
    match body.find(' ') {
        Some(end) if was_refusal && is_tied => clause.len() - body.len() + end,
        _ => 0,
    }
}

/// A part of a sentence.
pub(super) struct Clause<'t> {
    pub(super) text: &'t str,
    /// Its bytes.
    range: Range<usize>,
    /// Whether a contrast word opens it.
    contrast: bool,
}

/// Splits a sentence at commas, semicolons, dashes, colons and contrasts.
pub(super) fn clauses(lower: &str) -> Vec<Clause<'_>> {
    let mut cutter = ClauseCutter {
        lower,
        out: Vec::new(),
        start: 0,
        contrast: false,
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
        let in_front = !lower
            .get(cutter.start..word_start)
            .unwrap_or("")
            .contains(char::is_alphanumeric);
        let before = lower.get(..word_start).unwrap_or("").trim_end();
        let spanish = word == "embargo" && before.ends_with("sin")
            || word == "obstante" && before.ends_with("no");
        if CONTRASTS.contains(&word) || spanish || in_front && CONTRASTS_IN_FRONT.contains(&word) {
            cutter.cut(word_start..at, true);
        } else if word == "because" {
            cutter.cut(word_start..at, false);
        }
        let rest = lower.get(at..).unwrap_or("");
        let within = CONTRASTS_WITHIN
            .iter()
            .find(|sign| rest.starts_with(**sign));
        word_start = at + c.len_utf8();
        if let Some(sign) =
            within.filter(|_| !lower.get(..at).is_some_and(|before| before.ends_with('不')))
        {
            word_start = at + sign.len();
            cutter.cut(at..word_start, true);
        } else if matches!(c, ',' | ';' | ':' | '—' | '–' | '，' | '；' | '：' | '、') {
            cutter.cut(at..word_start, false);
        }
    }
    cutter.cut(lower.len()..lower.len(), false);
    cutter.out
}

/// The clauses of a sentence that were cut so far.
struct ClauseCutter<'t> {
    lower: &'t str,
    out: Vec<Clause<'t>>,
    /// Where the next clause begins.
    start: usize,
    /// Whether a contrast word opens it.
    contrast: bool,
}

impl ClauseCutter<'_> {
    /// Ends a clause before `between`, and begins the next behind it; `opens`: with a contrast.
    fn cut(&mut self, between: Range<usize>, opens: bool) {
        let text = self.lower.get(self.start..between.start).unwrap_or("");
        self.out.push(Clause {
            text,
            range: self.start..self.start + text.len(),
            contrast: self.contrast,
        });
        // "However, …": the contrast applies to what follows the comma.
        self.contrast = opens || self.contrast && !text.contains(char::is_alphanumeric);
        self.start = between.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrases::plain_lower;

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
