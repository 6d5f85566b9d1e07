//! L7: notes that speak to whoever answers instead of to a reader. Flagged, never obeyed, and no reason to reject: a
//! note about such tricks is a note too. (Citations planted in notes are found in `identity`.)

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::source_text::SourceTexts;
use crate::types::Label;

/// What is said to an answerer, in lower case.
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

/// The items that hold such a phrase.
pub fn suspects(texts: &SourceTexts<'_>) -> BTreeSet<Label> {
    texts
        .iter()
        .filter(|t| gives_orders(t.normal().as_str()) || gives_orders(&t.item.text))
        .map(|t| t.item.label)
        .collect()
}

/// The orders by their first byte: a text is read once, not once an order.
static BY_FIRST: LazyLock<Vec<Vec<&'static [u8]>>> = LazyLock::new(|| {
    let with = |first: u8| ORDERS.iter().map(|order| order.as_bytes()).filter(|o| o.first() == Some(&first)).collect();
    (0..=u8::MAX).map(with).collect()
});

fn gives_orders(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut rest = lower.as_bytes();
    while let Some(first) = rest.first() {
        if BY_FIRST.get(usize::from(*first)).is_some_and(|orders| orders.iter().any(|order| rest.starts_with(order))) {
            return true;
        }
        rest = rest.get(1..).unwrap_or(&[]);
    }
    false
}
