//! Converts a disguised text to the form that a reader sees.
//!
//! A citation can be faked with look-alike characters, invisible characters, and escapes that a
//! browser decodes. Folding undoes all of these, one character at a time, so that the scanner can
//! compare what a reader would see with a real citation.

use unicode_normalization::UnicodeNormalization as _;

/// Characters that are invisible and do not change the meaning, only comparison: zero-width, soft
/// hyphen, bidirectional controls, variation selectors, tags, fillers.
pub const fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

const fn is_combining(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// The ASCII letter or digit that `c` looks like, by the table of confusables of UTS #39. The table
/// does not distinguish `I`, `l`, `1` and `|`; here a capital letter of that group becomes `I`, and
/// the others `l`.
fn confusable_letter(c: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut prototype = unicode_security::skeleton(c.encode_utf8(&mut buffer));
    match (prototype.next()?, prototype.next(), prototype.next()) {
        ('l', None, _) if c.is_uppercase() => Some('I'),
        ('r', Some('n'), None) => Some('m'),
        (one, None, _) if one.is_ascii_alphanumeric() => Some(one),
        _ => None,
    }
}

/// Look-alikes that UTS #39 does not list: letters that pass for Latin ones in running text, and
/// characters that pass for those of a citation.
const fn further_twin(c: char) -> Option<char> {
    Some(match c {
        'ᴀ' => 'a',
        'ь' => 'b',
        'ɗ' | 'ᴅ' => 'd',
        'ε' | 'ᴇ' => 'e',
        'ғ' | 'ϝ' => 'f',
        'ʜ' => 'h',
        'κ' | 'к' => 'k',
        'м' => 'm',
        'ʀ' => 'r',
        'ʂ' => 's',
        'т' | 'τ' => 't',
        'χ' => 'x',
        '∶' | 'ː' | '׃' | '܃' | '꞉' | '፡' => ':',
        'ǁ' | '∣' | '│' | '┃' | '❘' => '|',
        _ => return None,
    })
}

/// The bracket that `c` resembles, if it could be mistaken for a citation's. Compatibility
/// decomposition folds full-width ones.
const fn bracket_twin(c: char) -> Option<char> {
    Some(match c {
        '【' | '〔' | '〖' | '〘' | '〚' | '「' | '『' | '《' | '〈' | '⟦' | '⟨' | '⟪' | '❲'
        | '⁅' | '⦋' | '⦗' | '❴' | '❬' | '⌈' | '⌊' | '⎡' | '⎣' | '‹' | '༺' => {
            '['
        }
        '】' | '〕' | '〗' | '〙' | '〛' | '」' | '』' | '》' | '〉' | '⟧' | '⟩' | '⟫' | '❳'
        | '⁆' | '⦌' | '⦘' | '❵' | '❭' | '⌉' | '⌋' | '⎤' | '⎦' | '›' | '༻' => {
            ']'
        }
        '❨' | '❪' | '⸨' => '(',
        '❩' | '❫' | '⸩' => ')',
        _ => return None,
    })
}

/// The ASCII character that `c` resembles in a citation.
fn twin(c: char) -> Option<char> {
    bracket_twin(c)
        .or_else(|| further_twin(c))
        .or_else(|| confusable_letter(c))
}

/// One character as a reader sees it; case is kept.
fn fold_char(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let mut parts = std::iter::once(c).nfkc();
    match (parts.next(), parts.next()) {
        (Some(one), None) if one.is_ascii() => one,
        (Some(one), None) => twin(c).or_else(|| twin(one)).unwrap_or(one),
        // A character that represents several, like ⑴, becomes the first of them.
        (Some(first), Some(_)) => twin(c).unwrap_or(first),
        _ => c,
    }
}

/// `text` with look-alike letters replaced, compatibility forms composed and invisible characters
/// removed. Two texts with the same skeleton look the same to a reader. Case is kept, because it is
/// visible.
pub fn skeleton(text: &str) -> String {
    text.nfkc()
        .filter(|c| !is_ignorable(*c))
        .map(fold_char)
        .collect()
}

/// The next character from byte `at` as a reader (or a browser) sees it, in lower case, and where
/// the one after it starts: percent escapes, HTML entities and backslash escapes are decoded.
/// `None` at the end of the text, or when `at` is not the start of a character.
pub(super) fn next_folded(text: &str, at: usize) -> Option<(char, usize)> {
    let rest = text.get(at..)?;
    let c = rest.chars().next()?;
    let (c, len) = match c {
        '%' => percent(rest).unwrap_or((c, 1)),
        '&' => entity(rest).unwrap_or((c, 1)),
        '\\' => match rest.as_bytes().get(1) {
            Some(b) if b.is_ascii_punctuation() => (char::from(*b), 2),
            _ => (c, 1),
        },
        _ => (c, c.len_utf8()),
    };
    let folded = fold_char(c);
    Some((folded.to_lowercase().next().unwrap_or(folded), at + len))
}

/// Like [`next_folded`], but skips invisible characters and white space.
pub(super) fn next_visible(text: &str, mut at: usize) -> Option<(char, usize)> {
    loop {
        let (c, next) = next_folded(text, at)?;
        if !(c.is_whitespace() || is_ignorable(c) || is_combining(c)) {
            return Some((c, next));
        }
        at = next;
    }
}

/// Decodes `%5B`, and longer runs that encode one UTF-8 character.
fn percent(rest: &str) -> Option<(char, usize)> {
    let first = percent_byte(rest, 0)?;
    let len = match first {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let bytes = (0..len)
        .map(|i| percent_byte(rest, i))
        .collect::<Option<Vec<u8>>>()?;
    let c = std::str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((c, len * 3))
}

/// The byte that the `i`th percent escape of `rest` encodes.
fn percent_byte(rest: &str, i: usize) -> Option<u8> {
    let digits = rest.get(i * 3..i * 3 + 3)?.strip_prefix('%')?;
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Decodes numeric HTML entities, and the named ones that can be part of a citation.
fn entity(rest: &str) -> Option<(char, usize)> {
    let end = rest.bytes().take(20).position(|b| b == b';')?;
    let name = rest.get(1..end)?;
    let c = if let Some(number) = name.strip_prefix('#') {
        let value = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        char::from_u32(value)?
    } else {
        match name {
            "lbrack" | "lsqb" | "LeftDoubleBracket" | "lobrk" => '[',
            "rbrack" | "rsqb" | "RightDoubleBracket" | "robrk" => ']',
            "lpar" => '(',
            "rpar" => ')',
            "lbrace" | "lcub" => '{',
            "rbrace" | "rcub" => '}',
            "lt" => '<',
            "gt" => '>',
            "colon" => ':',
            "vert" | "verbar" | "VerticalLine" => '|',
            "nbsp" | "NonBreakingSpace" | "Tab" | "NewLine" => ' ',
            "shy" | "ZeroWidthSpace" | "NoBreak" | "zwj" | "zwnj" => '\u{200b}',
            _ => return None,
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fold_all(text: &str) -> String {
        let (mut at, mut out) = (0, String::new());
        while let Some((c, next)) = next_visible(text, at) {
            out.push(c);
            at = next;
        }
        out
    }

    #[test]
    fn c31_disguises_fold_to_what_a_reader_sees() {
        for disguised in [
            "[source:",
            "［ｓｏｕｒｃｅ：",
            "【source：",
            "[s\u{200b}ou\u{2060}rce:",
            "\u{202e}[source:",
            "[Source :",
            "[ѕоurсе:",
            "%5Bsource%3A",
            "%5bsou%72ce:",
            "&#91;source&colon;",
            "&#x5B;source:",
            "\\[source:",
            "[sou\nrce:",
            "[𝐬𝐨𝐮𝐫𝐜𝐞:",
            "[ⓢource:",
            "%E3%80%90source:",
        ] {
            assert_eq!(fold_all(disguised), "[source:", "{disguised:?}");
        }
    }

    #[test]
    fn c32_twins_have_one_skeleton_and_different_texts_do_not() {
        assert_eq!(skeleton("nоtеs/рlan.md"), "notes/plan.md");
        assert_eq!(skeleton("cafe\u{301}.md"), skeleton("café.md"));
        assert_eq!(skeleton("a\u{200b}b.md"), "ab.md");
        assert_ne!(skeleton("Readme.md"), skeleton("README.md"));
        assert_ne!(skeleton("cafe.md"), skeleton("café.md"));
    }

    #[test]
    fn c32_letters_of_the_table_of_confusables_are_folded() {
        // Cherokee, Lisu, Coptic, Osage and mathematical letters.
        for (twin, letter) in [
            ('Ꮪ', 'S'),
            ('ꓢ', 'S'),
            ('ⲟ', 'o'),
            ('𐓪', 'o'),
            ('𝛎', 'v'),
            ('с', 'c'),
            ('І', 'I'),
            ('漢', '漢'),
        ] {
            assert_eq!(fold_char(twin), letter, "{twin}");
        }
    }

    proptest! {
        #[test]
        fn folding_always_ends_and_never_cuts_a_character(text in any::<String>()) {
            let mut at = 0;
            while let Some((_, next)) = next_folded(&text, at) {
                prop_assert!(next > at && text.is_char_boundary(next));
                at = next;
            }
            prop_assert_eq!(at, text.len());
        }
    }
}
