//! L5: an item with a label and a verdict in one or two words: "**Insurance.** Not included; 5 € per
//! day", "**Search.** Supported, but not in attachments".

use super::passages::Passages;
use super::{Case, Effect, Extent, Source};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Quantity;
use crate::text::{Token, has_stem};
use local_agent_text::markdown::BlockRole;

/// Maximum number of words of a label, and of a verdict.
const LABEL: usize = 4;
const VERDICT: usize = 3;

/// Maximum number of items that are looked at; bounds the work on hostile text.
const MOST: usize = 200;

/// Finds a claim that names a label and says the opposite of its verdict.
pub(super) fn check(case: &Case<'_>, _: &Passages<'_>) -> Option<Objection> {
    if case.extent != Extent::Sentence {
        return None;
    }
    let mut found = None;
    for source in case.cited {
        let sentences = source.reading.text.sentences.len().min(MOST);
        for sentence in 1..sentences {
            let Some(objection) = of_item(case, source, sentence) else {
                continue;
            };
            // A claim about two labels is not compared.
            if found.replace(objection).is_some() {
                return None;
            }
        }
    }
    found
}

/// The objection to a claim about the item whose verdict begins this sentence.
fn of_item(case: &Case<'_>, source: &Source<'_>, sentence: usize) -> Option<Objection> {
    let reading = source.reading;
    let label = label_before(source, sentence)?;
    let tokens = reading.tokens_of(sentence);
    let verdict = verdict(reading, tokens)?;
    let claim = case.claim.text.tokens.as_slice();
    let mut words = label.iter().filter(|t| t.is_content()).peekable();
    words.peek()?;
    if !words.all(|t| has_stem(claim, t.id)) {
        return None;
    }
    let word = verdict.last().filter(|t| !denies(t))?;
    let own = claim.iter().find(|t| t.id == word.id)?;
    let is_denied = verdict.iter().any(denies);
    let denials = claim.iter().filter(|t| denies(t) || t.turns()).count();
    let rest = tokens.get(verdict.len()..).unwrap_or(&[]);
    let said = case.claim.word(own).to_owned();
    let (effect, detail) = match (is_denied, denials) {
        (true, 0) => (Effect::Rejects, Detail::TextNegates { said }),
        // "Supported, but not in attachments": the claim may be about the second half.
        (false, 1) if !mentions(claim, rest) => (Effect::Doubts, Detail::ClaimNegates { said }),
        _ => return None,
    };
    let found = Objection::new(Code::Negation, effect, detail).at(own.start..own.end);
    let bytes = reading.sentence(sentence)?.bytes.clone();
    Some(found.against(source.item.label, bytes))
}

fn denies(token: &Token) -> bool {
    token.negates() || token.quantity() == Some(Quantity::Nothing)
}

fn mentions(claim: &[Token], rest: &[Token]) -> bool {
    let mut words = rest.iter().filter(|t| t.is_content());
    words.any(|t| has_stem(claim, t.id))
}

/// The words of the bold label that stands alone before a sentence of the same item.
fn label_before<'r>(source: &Source<'r>, sentence: usize) -> Option<&'r [Token]> {
    let reading = source.reading;
    let before = sentence.checked_sub(1)?;
    let (label, own) = (reading.sentence(before)?, reading.sentence(sentence)?);
    let is_item = |role| matches!(role, BlockRole::ListItem | BlockRole::Paragraph);
    if label.block != own.block || !is_item(own.role) {
        return None;
    }
    let first = before.checked_sub(1).and_then(|n| reading.sentence(n));
    let begins_item = first.is_none_or(|first| first.block != own.block);
    let words = reading.normal.get(label.bytes.clone())?;
    let words = words.trim().trim_end_matches(['.', ':']);
    let is_bold = source.item.text.contains(&format!("**{words}"));
    let tokens = reading.tokens_of(before);
    (begins_item && is_bold && tokens.len() <= LABEL).then_some(tokens)
}

/// The verdict that begins a sentence, up to its first punctuation.
fn verdict<'t>(reading: &Reading, tokens: &'t [Token]) -> Option<&'t [Token]> {
    let end = tokens.windows(2).position(|pair| {
        let gap = reading.normal.get(pair[0].end..pair[1].start);
        gap.is_some_and(|gap| gap.contains([',', ';', '.', ':', '(', '–', '—']))
    });
    let end = end.map_or(tokens.len(), |at| at + 1);
    let verdict = tokens.get(..end)?;
    let begins = verdict.first().is_some_and(denies);
    let is_short = verdict.len() == 1 || begins && (2..=VERDICT).contains(&verdict.len());
    is_short.then_some(verdict)
}
