//! Estimates the number of tokens in a text without the model's tokenizer.

use local_agent_text::language::is_east_asian;

use super::Message;

/// Tokens that a chat template may add to each message.
const PER_MESSAGE: usize = 16;

/// Counts one token per two bytes, and one per letter of Chinese, Japanese and Korean. A common
/// tokenizer produces fewer tokens for notes, so a text with this estimate fits into the window.
pub(super) fn estimate(messages: &[Message]) -> u32 {
    let tokens: usize = messages
        .iter()
        .map(|m| of_text(&m.content) + PER_MESSAGE)
        .sum();
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

fn of_text(text: &str) -> usize {
    let (mut halves, mut wide) = (0, 0);
    for c in text.chars() {
        if is_east_asian(c) {
            wide += 1;
        } else {
            halves += c.len_utf8();
        }
    }
    halves.div_ceil(2) + wide
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::*;

    #[test]
    fn the_estimate_is_half_the_bytes_and_all_wide_characters() {
        assert_eq!(of_text("abcde"), 3);
        assert_eq!(of_text("日本語"), 3);
        assert_eq!(
            estimate(&[Message::new(Role::User, "ab"), Message::new(Role::User, "")]),
            33
        );
    }
}
