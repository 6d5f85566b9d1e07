//! L5: the claim chooses and rejects the same things as the cited text. "Use A rather than B" is
//! not "B (not A)".

use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::Token;

/// Maximum number of sentences per source, among those that contain a word, that are checked.
const MOST_SENTENCES: usize = 12;

/// Maximum number of words of such a sentence, and of contrasts of a claim; both bound the work on
/// hostile text.
const LONGEST: usize = 160;
const MOST_CUES: usize = 4;

/// Maximum number of words between a contrast word and the thing that is rejected or chosen.
const REACH: usize = 8;

/// The number of words before the contrast word that show what is chosen.
const NEAREST: usize = 2;

/// The objection to a contrast that is reversed in the cited text.
pub(super) fn check(case: &Case<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let cues = (0..tokens.len()).filter_map(|at| Some((at, is_cue(case.claim, tokens, at)?)));
    for (cue, skip) in cues.take(MOST_CUES) {
        let (chosen, mut aside) = (
            side(tokens.get(..cue)?, true),
            side(tokens.get(cue + skip..)?, false),
        );
        // "Rather than contacting Owen": words that the text does not have are the answerer's own.
        aside.retain(|t| case.cited.iter().any(|s| s.reading.has(t.id)));
        for source in case.cited {
            let reading = source.reading;
            let Some(first) = aside.first() else { continue };
            for s in reading.sentences_with(first.id).iter().take(MOST_SENTENCES) {
                let theirs = reading.tokens_of(*s as usize);
                if theirs.len() > LONGEST {
                    continue;
                }
                if let Some((said, found)) = turned(reading, theirs, &chosen, &aside) {
                    let detail = Detail::Reversed {
                        first: case.claim.word(said).to_owned(),
                        second: case.claim.word(found).to_owned(),
                    };
                    let cue = tokens.get(cue)?;
                    let bytes = reading.sentence(*s as usize)?.bytes.clone();
                    let found = Objection::new(Code::Order, Effect::Rejects, detail);
                    return Some(
                        found
                            .at(cue.start..cue.end)
                            .against(source.item.label, bytes),
                    );
                }
            }
        }
    }
    None
}

/// The content words next to a contrast word, the nearest first.
fn side(tokens: &[Token], is_before: bool) -> Vec<&Token> {
    let mut near: Vec<&Token> = if is_before {
        tokens.iter().rev().collect()
    } else {
        tokens.iter().take(REACH).collect()
    };
    near.retain(|t| t.is_content_or_number() && !t.does(Role::Everyday));
    near
}

/// The number of words of the contrast that begins at token `at`; `None` if no contrast begins
/// there.
fn is_cue(reading: &Reading, tokens: &[Token], at: usize) -> Option<usize> {
    let token = tokens.get(at)?;
    let own = reading.lower_word(token);
    let next = tokens.get(at + 1).map(|t| reading.lower_word(t));
    let next = next.unwrap_or_default();
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    let gap = before.map_or("", |b| reading.normal.get(b.end..token.start).unwrap_or(""));
    match (&*own, &*next) {
        ("rather", "than") | ("instead", "of") => Some(2),
        ("not", _) if gap.contains([',', '(']) || gap.contains(" – ") || gap.contains(" — ") => {
            Some(1)
        }
        _ => None,
    }
}

/// Whether a sentence rejects the thing that the claim chooses and chooses the thing that the claim
/// rejects.
fn turned<'t>(
    reading: &Reading,
    theirs: &[Token],
    chosen: &[&'t Token],
    aside: &[&'t Token],
) -> Option<(&'t Token, &'t Token)> {
    for cue in 0..theirs.len() {
        let Some(skip) = is_cue(reading, theirs, cue) else {
            continue;
        };
        let (before, after) = (
            side(theirs.get(..cue)?, true),
            side(theirs.get(cue + skip..)?, false),
        );
        let mut near = chosen.iter().take(NEAREST);
        let mut far = aside.iter().take(1);
        let is_put_aside =
            near.len() > 0 && near.all(|t| has_word(&after, t) && !has_word(aside, t));
        let is_chosen = far.len() > 0 && far.all(|t| has_word(&before, t) && !has_word(&after, t));
        let wrong = chosen
            .iter()
            .take(NEAREST)
            .find(|t| has_word(&after, t) && !has_word(&before, t));
        let kept = chosen
            .iter()
            .take(NEAREST)
            .any(|t| has_word(&before, t) && !has_word(&after, t));
        if is_chosen && (is_put_aside || wrong.is_some() && !kept) {
            return Some((chosen.first()?, aside.first()?));
        }
    }
    None
}

fn has_word(words: &[&Token], word: &Token) -> bool {
    words.iter().any(|t| t.id == word.id)
}
