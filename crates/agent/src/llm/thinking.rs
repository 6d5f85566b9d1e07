//! Reasoning that a model writes before its reply. It is not part of the answer, and is never shown
//! or recorded.

/// Opening and closing tag.
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

/// The reply without leading reasoning, and whether there was any.
///
/// Tags count only at the start, so that an answer about such a tag keeps it. If a tag is never
/// closed, the result is empty: the model never began its reply. A closing tag without an opening
/// one ends reasoning whose opening the server removed.
pub(crate) fn without_thinking(text: &str) -> (String, bool) {
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
