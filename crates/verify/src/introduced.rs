//! Whether a unit only introduces a quotation: "The note says “…”".

use local_agent_text::evidence::Normal;
use local_agent_text::types::Label;

use super::answer::Unit;
use super::judge::{Court, Quote};
use super::quotes::QuoteMatch;
use super::reading::Reading;
use super::tables::Role;
use super::text::Token;

/// Maximum number of words that introduce a quotation.
const MOST_WORDS: usize = 8;

impl Court<'_> {
    /// Whether the unit has nothing but whole sentences of a cited item between quotation marks, and
    /// words that introduce them. The sentences were compared letter by letter, so their words need
    /// no other check. Several quotations may be joined wrongly, so they are checked.
    pub(super) fn only_introduces(
        &self,
        unit: &Unit,
        quotes: &[(&Quote, &QuoteMatch)],
        labels: &[Label],
    ) -> bool {
        let [(quote, _)] = quotes else { return false };
        let normal = Normal::of(&unit.words);
        let Some((before, behind)) = normal.as_str().split_once(&quote.words) else {
            return false;
        };
        if !self.is_sentence_of(&quote.words, labels) {
            return false;
        }
        let rest = format!("{before} {behind}");
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
    let changes = token.negates() || token.quantity().is_some() || token.mood().is_some();
    let relates = [
        Role::Causal,
        Role::Conditional,
        Role::Restricting,
        Role::Excepting,
    ];
    is_hollow && !changes && !token.number && !relates.iter().any(|role| token.does(*role))
}
