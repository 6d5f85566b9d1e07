//! Thoughts that a model writes before its reply. They are no part of the answer, are never shown
//! and never recorded.

/// Opening and closing mark.
const MARKS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("[THINK]", "[/THINK]"),
    (
        "<|channel|>analysis<|message|>",
        "<|channel|>final<|message|>",
    ),
];

/// The reply without the thoughts it begins with, and whether there were any.
///
/// Marks count only at the start, so that an answer about such a mark keeps it. A mark that is
/// never closed leaves nothing: the model did not come to its reply. A closing mark without an
/// opening one ends thoughts whose opening the server kept to itself.
pub(super) fn without_thinking(text: &str) -> (String, bool) {
    let mut rest = text.trim_start();
    let mut had = false;
    'again: loop {
        for (open, close) in MARKS {
            if let Some(inside) = rest.strip_prefix(open) {
                had = true;
                rest = inside
                    .split_once(close)
                    .map_or("", |(_, after)| after.trim_start());
                continue 'again;
            }
        }
        break;
    }
    if !had {
        for (open, close) in MARKS {
            if let Some((before, after)) = rest.split_once(close)
                && !before.contains(open)
            {
                rest = after;
                had = true;
            }
        }
    }
    (rest.trim().to_owned(), had)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_before_a_reply_are_no_part_of_it() {
        for (text, expected) in [
            (
                "<think>E1 says 5.</think>\n\nIt is 5 [E1].",
                "It is 5 [E1].",
            ),
            ("  <thinking>a</thinking><think>b</think> X", "X"),
            ("the opening was kept away</think> X [E1].", "X [E1]."),
            (
                "<|channel|>analysis<|message|>hm<|channel|>final<|message|>X",
                "X",
            ),
            ("<think>never ends, and cites [E1]", ""),
        ] {
            assert_eq!(
                without_thinking(text),
                (expected.to_owned(), true),
                "{text}"
            );
        }
    }

    #[test]
    fn an_answer_about_such_a_mark_keeps_it() {
        for text in ["Write `<think>` and `</think>` [E1].", "X", ""] {
            assert_eq!(without_thinking(text), (text.to_owned(), false));
        }
    }
}
