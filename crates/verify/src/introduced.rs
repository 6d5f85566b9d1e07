//! Whether a unit only introduces quotations: "The note says “…”".

use local_agent_text::evidence::Normal;
use local_agent_text::types::Label;

use super::answer::Unit;
use super::judge::{Court, Quote};
use super::quotes::QuoteMatch;
use super::reading::Reading;
use super::tables::Role;
use super::text::Token;

/// Maximum number of words that introduce quotations.
const MOST_WORDS: usize = 8;

/// Maximum number of quotations in such a unit; bounds the work on hostile text.
const MOST_QUOTATIONS: usize = 4;

impl Court<'_> {
    /// Whether the unit has nothing but whole sentences of the cited items between quotation marks,
    /// and words that introduce them. The sentences were compared letter by letter, so their words
    /// need no other check.
    pub(super) fn only_introduces(
        &self,
        unit: &Unit,
        quotes: &[(&Quote, &QuoteMatch)],
        labels: &[Label],
    ) -> bool {
        if quotes.is_empty() || quotes.len() > MOST_QUOTATIONS {
            return false;
        }
        let normal = Normal::of(&unit.words);
        let mut rest = normal.as_str().to_owned();
        for (quote, _) in quotes {
            if !rest.contains(&quote.words) || !self.is_sentence_of(&quote.words, labels) {
                return false;
            }
            rest = rest.replacen(&quote.words, " ", 1);
        }
        let rest = Reading::claim(&rest, &mut self.texts.lexicon().borrow_mut());
        let tokens = &rest.text.tokens;
        tokens.len() <= MOST_WORDS && tokens.iter().all(introduces)
    }

    /// Whether a cited item has these words as whole sentences.
    fn is_sentence_of(&self, words: &str, labels: &[Label]) -> bool {
        let mut texts = labels.iter().filter_map(|label| self.texts.get(*label));
        texts.any(|text| text.find_sentences(words).is_some())
    }
}

/// Whether a word says nothing of its own: "the", "note", "says".
fn introduces(token: &Token) -> bool {
    let is_hollow = !token.is_content() || token.does(Role::Textual) || token.does(Role::Everyday);
    is_hollow && !token.negates() && !token.number && token.quantity().is_none()
}
