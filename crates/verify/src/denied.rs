//! What a sentence says is not in the notes, although it is.

use super::Code;
use super::atoms::What;
use super::coverage::Kind;
use super::examine::MOST_SENTENCES;
use super::finding::{Effect, Finding, Place};
use super::judge::Court;
use super::phrases::{Asked, open_questions, plain_lower};
use super::reading::Reading;
use super::tables::Role;
use super::text::{Token, has_stem};
use local_agent_text::language::is_common_english_word;
use local_agent_text::types::Label;

const REASONS: &[&str] = list!("denied.reasons");
const PLACES: &[&str] = list!("denied.places");
const TIMES: &[&str] = list!("denied.times");
const DOERS: &[&str] = list!("denied.doers");
const PASSIVE: &[&str] = list!("denied.passive");

/// Maximum number of sentences around an answer that may complete it.
const AROUND: usize = 2;

impl Court<'_> {
    /// The objection to "The notes do not say when …" if a sentence of the cited items, or without a
    /// citation of any item, says it. It rejects if that sentence has every word of the question
    /// and a value of the kind that is asked for.
    pub(super) fn answered_question(
        &self,
        words: &str,
        kind: Kind,
        labels: &[Label],
    ) -> Option<Finding> {
        if !matches!(kind, Kind::Refusal { .. } | Kind::Claim) {
            return None;
        }
        let lower = plain_lower(words);
        let mut questions = open_questions(&lower).into_iter();
        questions.find_map(|(asked, topic)| self.answer_to(asked, &topic, labels))
    }

    fn answer_to(&self, asked: Asked, topic: &str, labels: &[Label]) -> Option<Finding> {
        let topic = Reading::claim(topic, &mut self.texts.lexicon().borrow_mut());
        let tokens = topic.text.tokens.iter();
        let mut words: Vec<&Token> = tokens.filter(|t| t.is_content_or_number()).collect();
        if words.iter().any(|t| !t.does(Role::Everyday)) {
            words.retain(|t| !t.does(Role::Everyday));
        }
        if words.is_empty() || matches!(asked, Asked::Whether) && words.len() < 2 {
            return None;
        }
        let mut texts = self
            .texts
            .iter()
            .filter(|text| labels.is_empty() || labels.contains(&text.item.label));
        let mut is_sure = false;
        let place = texts.find_map(|text| {
            let reading = self.texts.reading(text);
            let mut sentences: Vec<u32> = words
                .iter()
                .flat_map(|w| reading.sentences_with(w.id).iter().take(MOST_SENTENCES))
                .copied()
                .collect();
            sentences.sort_unstable();
            sentences.dedup();
            let mut sentences = sentences.into_iter().map(|n| n as usize);
            let found = sentences.find(|n| answers(reading, *n, asked, &words))?;
            is_sure = is_plainly_told(reading, found, asked, &words);
            text.place(reading.sentence(found)?.bytes.clone())
        })?;
        let finding = speaks_of(&topic, place);
        let effect = match is_sure && !speaks_of_another(&topic) {
            true => Effect::Rejects,
            false => finding.effect,
        };
        Some(Finding { effect, ..finding })
    }
}

/// Words by which a question asks for more than the text tells: "the next one", "exactly when".
const OTHERS: &[&str] = list!("denied.others");

/// Whether a question is about another time or thing of the same kind.
fn speaks_of_another(topic: &Reading) -> bool {
    let mut tokens = topic.text.tokens.iter();
    tokens.any(|t| OTHERS.contains(&&*topic.lower_word(t)))
}

/// Number of words of a question from which on one of them may be missing.
const MANY: usize = 4;

/// Least number of words of a question that one sentence must have to answer it for certain.
const PLAIN: usize = 2;

/// Whether sentence `n` has every word of the question, and the question asks for a kind of value
/// that can be recognised.
fn is_plainly_told(reading: &Reading, n: usize, asked: Asked, words: &[&Token]) -> bool {
    let own = reading.tokens_of(n);
    let is_exact = matches!(asked, Asked::When | Asked::Amount | Asked::Whether);
    is_exact && words.len() >= PLAIN && words.iter().all(|w| has_stem(own, w.id))
}

/// The doubt about a sentence that says that nothing is said of a topic, for this place says something.
pub(super) fn speaks_of(topic: &Reading, place: Place) -> Finding {
    let why = format!("The cited text speaks of “{}”.", topic.normal);
    Finding {
        effect: Effect::Doubts,
        evidence: Some(place),
        ..Finding::pointer(Code::Negation, why)
    }
}

/// Whether sentence `n` answers the question: it and its neighbours have enough words of the topic,
/// and it has such an answer.
fn answers(reading: &Reading, n: usize, asked: Asked, words: &[&Token]) -> bool {
    let own = reading.tokens_of(n);
    // "It was not approved by the council" does not say who approved it.
    let is_denied = |t: &Token| t.negated && words.iter().any(|w| w.id == t.id);
    if own.iter().any(is_denied) {
        return false;
    }
    let around = n.saturating_sub(AROUND)..n + AROUND + 1;
    let is_near = |w: &Token| around.clone().any(|n| has_stem(reading.tokens_of(n), w.id));
    let held = words.iter().filter(|w| has_stem(own, w.id)).count();
    let near = || words.iter().filter(|w| is_near(w)).count();
    let has = |w: Option<&&Token>| w.is_some_and(|w| has_stem(own, w.id));
    let is_told = match asked {
        // "Whether it contains sesame" needs the sesame.
        Asked::Whether => {
            let mostly = held >= 2 && held * 3 >= words.len() * 2;
            held == words.len() || mostly && has(words.last())
        }
        // A value may stand beside the thing alone: "Rug: 160".
        Asked::Amount | Asked::What | Asked::How => {
            (has(words.first()) || has(words.last())) && near() * 2 >= words.len()
        }
        Asked::Why | Asked::Topic | Asked::Who | Asked::When | Asked::Where | Asked::Which => {
            // One of many words may be said in another way.
            let missing = usize::from(words.len() >= MANY);
            held * 2 >= words.len() && near() + missing >= words.len()
        }
    };
    is_told && has_answer(reading, n, asked, words)
}

fn has_answer(reading: &Reading, n: usize, asked: Asked, words: &[&Token]) -> bool {
    let tokens = reading.tokens_of(n);
    let is_new = |t: &Token| !words.iter().any(|w| w.id == t.id);
    let is_one_of = |t: &Token, list: &[&str]| list.contains(&&*reading.lower_word(t));
    match asked {
        Asked::Why => tokens.iter().any(|t| is_one_of(t, REASONS)),
        Asked::When => {
            let mut atoms = reading.atoms_of(n).iter();
            atoms.any(|a| matches!(a.what, What::Date(_) | What::Time(_)))
                || tokens.iter().any(|t| is_one_of(t, TIMES))
        }
        Asked::Amount | Asked::What | Asked::How => {
            let mut atoms = reading.atoms_of(n).iter();
            atoms.any(|a| matches!(a.what, What::Number(_)))
        }
        Asked::Which => tokens
            .iter()
            .any(|t| is_new(t) && (t.number || t.capital && t.is_content() && !t.first)),
        Asked::Who => {
            tokens.iter().any(|t| {
                let known = is_common_english_word(reading.word(t));
                t.capital && t.is_content() && is_new(t) && !(t.first && known) && !t.number
            }) || follows_by(reading, tokens, &is_new)
                || precedes_act(reading, tokens, words)
        }
        Asked::Where => {
            tokens.windows(3).any(|w| {
                let object = w.iter().skip(1).find(|t| t.is_content());
                is_one_of(&w[0], PLACES) && object.is_some_and(|t| is_new(t) && !t.number)
            }) || follows_by(reading, tokens, &is_new)
        }
        Asked::Whether | Asked::Topic => true,
    }
}

/// "The neighbour paid": somebody stands before the act that is asked for.
fn precedes_act(reading: &Reading, tokens: &[Token], words: &[&Token]) -> bool {
    let Some(act) = words.first() else {
        return false;
    };
    let at = tokens.iter().position(|t| t.id == act.id);
    let before = at.and_then(|at| tokens.get(..at)).unwrap_or(&[]);
    let clause = at.and_then(|at| tokens.get(at)).map(|t| t.clause);
    let is_passive = |t: &Token| PASSIVE.contains(&&*reading.lower_word(t));
    let mut near = before.iter().rev().take(NEAR);
    near.any(|t| {
        t.is_content()
            && !t.number
            && Some(t.clause) == clause
            && !words.iter().any(|w| w.id == t.id)
    }) && !before.iter().rev().take(2).any(is_passive)
}

/// Maximum number of words between an act and who did it.
const NEAR: usize = 4;

/// "Paid by the tenants": somebody without a name.
fn follows_by(reading: &Reading, tokens: &[Token], is_new: &dyn Fn(&Token) -> bool) -> bool {
    tokens.windows(3).any(|w| {
        let object = w.iter().skip(1).find(|t| t.is_content());
        DOERS.contains(&&*reading.lower_word(&w[0]))
            && object.is_some_and(|t| is_new(t) && !t.number)
    })
}
