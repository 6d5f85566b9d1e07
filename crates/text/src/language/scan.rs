//! Helpers for scanning a text.

/// The first position from `at` on whose character fails `test`.
pub fn skip(text: &str, mut at: usize, test: impl Fn(char) -> bool) -> usize {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let c = if byte < 128 {
            char::from(byte)
        } else {
            match text[at..].chars().next() {
                Some(c) => c,
                None => break,
            }
        };
        if !test(c) {
            break;
        }
        at += c.len_utf8();
    }
    at
}

/// At most the first `bytes` bytes of `text`, without splitting a character.
pub fn prefix(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}
