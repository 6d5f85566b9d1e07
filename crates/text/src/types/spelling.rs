//! Special characters of texts that are shown and stored.

use std::borrow::Cow;

use percent_encoding::{percent_decode_str, percent_encode_byte};

/// Percent-encodes `%`, control characters and every character in `special` as UTF-8 bytes. All
/// other characters, including non-ASCII ones, stay as they are, because people read the result.
pub fn percent_encode<'t>(text: &'t str, special: &str) -> Cow<'t, str> {
    if !text.contains(|c| must_be_escaped(special, c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut buffer = [0; 4];
    for c in text.chars() {
        if must_be_escaped(special, c) {
            out.extend(c.encode_utf8(&mut buffer).bytes().map(percent_encode_byte));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a character is written as a percent escape.
fn must_be_escaped(special: &str, c: char) -> bool {
    c == '%' || c.is_control() || special.contains(c)
}

/// Decodes the output of [`percent_encode`]; `None` for a broken escape or bytes that are not
/// UTF-8.
pub fn percent_decode(text: &str) -> Option<String> {
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// Whether two hexadecimal digits come first.
fn is_escape(part: &str) -> bool {
    let digits = part.as_bytes().get(..2);
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Makes control, bidirectional, zero-width and tag characters visible; line breaks and tabs stay. So
/// does a joiner or non-joiner after a letter of a script that is spelled with them, and after a
/// part of an emoji.
pub fn visible(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut before = '\0';
    for c in text.chars() {
        let is_spelling = matches!(c, '\u{200c}' | '\u{200d}') && takes_joiners(before);
        if is_hidden(c) && !is_spelling {
            out.push_str(&format!("\\u{{{:x}}}", c as u32));
        } else {
            out.push(c);
        }
        before = c;
    }
    out
}

/// Whether a joiner or non-joiner after a character is a matter of spelling: the character is of a
/// joining or an Indic script, or part of an emoji (Unicode 17, chapters 9, 12 and 23.2).
fn takes_joiners(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
        || matches!(c, '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}')
        || matches!(c, '\u{2600}'..='\u{27bf}' | '\u{fe0f}' | '\u{1f300}'..='\u{1faff}')
}

/// Whether a character is invisible or changes the direction of the text.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn joiners_stay_where_they_are_spelling_and_are_visible_elsewhere() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}🔬",
            "❤\u{fe0f}\u{200d}🔥",
        ] {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("pay\u{200d}pal"), "pay\\u{200d}pal");
        assert_eq!(visible("\u{200c}a"), "\\u{200c}a");
        assert_eq!(visible("می\u{200c}\u{200c}خ"), "می\u{200c}\\u{200c}خ");
        assert_eq!(visible("م\u{202e}x"), "م\\u{202e}x");
    }

    #[test]
    fn a_broken_escape_is_refused() {
        for broken in ["%", "%4", "%zz", "a%", "%+1", "%ff"] {
            assert_eq!(percent_decode(broken), None, "{broken}");
        }
        assert_eq!(percent_decode("caf%C3%A9").as_deref(), Some("café"));
    }

    proptest! {
        #[test]
        fn percent_encoding_round_trips(text in any::<String>()) {
            let encoded = percent_encode(&text, "]|#>:");
            prop_assert!(!encoded.chars().any(|c| c.is_control() || "]|#>:".contains(c)));
            prop_assert_eq!(percent_decode(&encoded), Some(text.clone()));
        }

        #[test]
        fn only_whole_escapes_of_utf8_are_decoded(text in "[a%0-9A-Fg]{0,12}") {
            if let Some(decoded) = percent_decode(&text) {
                prop_assert!(text.contains('%') || decoded == text);
            }
        }
    }
}
