//! L7: finds notes that give orders to the answerer instead of informing a reader. They are flagged
//! and never obeyed. They do not reject a claim, because a note about such tricks is a legitimate
//! note. `identity` finds citations planted in notes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::source_text::SourceTexts;
use local_agent_text::types::Label;

/// Phrases that are addressed to an answerer; case is ignored.
const ORDERS: &[&str] = &[
    "ignore previous instructions",
    "ignore all previous",
    "ignore the above",
    "ignore the instructions",
    "ignore all instructions",
    "ignore any instructions",
    "ignore prior instructions",
    "disregard previous",
    "disregard the above",
    "disregard all",
    "disregard your instructions",
    "forget your instructions",
    "forget the instructions",
    "forget everything above",
    "new instructions:",
    "end of evidence",
    "end of context",
    "end of documents",
    "always cite",
    "never cite",
    "do not cite",
    "cite this note as",
    "cite source",
    "you are now",
    "you must answer",
    "your answer must",
    "as an ai language model",
    "system prompt",
    "system message",
    "<|im_start|>",
    "<|im_end|>",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "</evidence>",
    "begin system",
];

/// The items that contain such a phrase.
pub(crate) fn suspects(texts: &SourceTexts<'_>) -> BTreeSet<Label> {
    texts
        .iter()
        .filter(|t| {
            let normal = t.normal().as_str();
            gives_orders(normal) || normal != t.item.text.trim() && gives_orders(&t.item.text)
        })
        .map(|t| t.item.label)
        .collect()
}

/// Matches all phrases at once, so each text is read only once. `None` if the automaton could not
/// be built; the test `c41_orders_are_found_in_any_case` shows that it can.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    builder
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(ORDERS)
        .ok()
});

fn gives_orders(text: &str) -> bool {
    FINDER.as_ref().is_some_and(|finder| finder.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c41_orders_are_found_in_any_case() {
        for order in ORDERS {
            for written in [
                (*order).to_owned(),
                order.to_uppercase(),
                format!("x{order}y"),
            ] {
                assert!(gives_orders(&written), "{written}");
            }
        }
        assert!(!gives_orders(
            "It cites all of its sources, and prompts nobody."
        ));
    }
}
