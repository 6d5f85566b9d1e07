//! Special characters of texts that are shown and stored.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Percent-encodes `%`, control characters and every character of `special` as UTF-8 bytes.
pub fn percent_encode<'t>(text: &'t str, special: &str) -> Cow<'t, str> {
    let is_special = |c: char| c == '%' || c.is_control() || special.chars().any(|own| own == c);
    let Some(first) = text.find(is_special) else {
        return Cow::Borrowed(text);
    };
    let mut out = text[..first].to_owned();
    for c in text[first..].chars() {
        if is_special(c) {
            let mut utf8 = [0; 4];
            for byte in c.encode_utf8(&mut utf8).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Undoes [`percent_encode`]; `None` for a broken escape or bytes that are not UTF-8.
pub fn percent_decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digits = text
                .get(at + 1..at + 3)
                .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}

/// Makes control, bidirectional, zero-width and tag characters visible; line breaks and tabs stay.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(hidden) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| {
            if hidden(c) {
                format!("\\u{{{:x}}}", c as u32)
            } else {
                c.to_string()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percent_encoding_round_trips(text in any::<String>()) {
            let encoded = percent_encode(&text, "]|#>:");
            prop_assert!(!encoded.chars().any(|c| c.is_control() || "]|#>:".contains(c)));
            prop_assert_eq!(percent_decode(&encoded), Some(text.clone()));
        }
    }
}
