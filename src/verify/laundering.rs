//! L7: notes that speak to whoever answers instead of to a reader. Flagged, never obeyed, and no reason to reject: a
//! note about such tricks is a note too. (Citations planted in notes are found in `identity`.)

use std::collections::BTreeSet;

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
    let suspicious = |text: &str| {
        let lower = text.to_lowercase();
        ORDERS.iter().any(|order| lower.contains(order))
    };
    texts.iter().filter(|t| suspicious(t.normal().as_str()) || suspicious(&t.item.text)).map(|t| t.item.label).collect()
}
