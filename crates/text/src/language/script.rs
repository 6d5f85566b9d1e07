//! Writing systems, by the Unicode script property (UAX #24).

use unicode_script::UnicodeScript as _;
pub use unicode_script::{Script, ScriptExtension};

/// The first letter of a script written without blanks (Thai). Smaller characters need no lookup.
const FIRST_UNSPACED: char = '\u{e00}';

/// Whether `c` is an ideograph: a Chinese character, including those used in Japanese and Korean.
pub fn is_ideographic(c: char) -> bool {
    c >= '\u{2e80}' && c.script() == Script::Han
}

/// Whether `c` is in a script without blanks between words: ideographs, kana, Bopomofo, Yi, Thai,
/// Lao, Myanmar, Khmer, Tai. The Japanese length mark is included.
pub fn is_unspaced(c: char) -> bool {
    c >= FIRST_UNSPACED && (is_southeast_asian(c) || is_chinese_or_japanese(c))
}

/// Whether `c` is a Chinese, Japanese or Korean letter.
pub fn is_east_asian(c: char) -> bool {
    is_hangul(c) || c >= '\u{2e80}' && is_chinese_or_japanese(c)
}

fn is_southeast_asian(c: char) -> bool {
    matches!(
        c.script(),
        Script::Yi
            | Script::Thai
            | Script::Lao
            | Script::Myanmar
            | Script::Khmer
            | Script::Tai_Le
            | Script::New_Tai_Lue
            | Script::Tai_Tham
            | Script::Tai_Viet
    )
}

fn is_chinese_or_japanese(c: char) -> bool {
    match c.script() {
        Script::Han | Script::Hiragana | Script::Katakana | Script::Bopomofo => true,
        Script::Common | Script::Inherited => c.is_alphanumeric() && shared_by_unspaced(c),
        _ => false,
    }
}

/// Whether a character shared by several scripts is used only by kana or ideographs: `ー`, `々`.
fn shared_by_unspaced(c: char) -> bool {
    let scripts = c.script_extension();
    [Script::Hiragana, Script::Katakana, Script::Han]
        .into_iter()
        .any(|script| scripts.contains_script(script))
        && !scripts.contains_script(Script::Latin)
}

/// Whether `c` is in the Korean alphabet, which attaches particles to words.
pub fn is_hangul(c: char) -> bool {
    c >= '\u{1100}' && c.script() == Script::Hangul
}

/// Whether blanks do not separate all words of the script of `c`: [`is_unspaced`] or
/// [`is_hangul`].
pub fn is_unspaced_or_hangul(c: char) -> bool {
    is_unspaced(c) || is_hangul(c)
}

/// The script of the first letter of `word` that has a specific script; `None` without such a
/// letter.
pub fn of_word(word: &str) -> Option<Script> {
    if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Some(Script::Latin);
    }
    word.chars()
        .filter(|c| c.is_alphabetic())
        .map(|c| c.script())
        .find(|script| !matches!(script, Script::Common | Script::Inherited))
}

/// The script of more than half of the first 400 letters of `text`. Ideographs, kana and Hangul are
/// counted together: a text with kana is [`Script::Hiragana`], one with Hangul [`Script::Hangul`].
pub fn of_text(text: &str) -> Option<Script> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    let mut all = 0;
    for c in text.chars().filter(|c| c.is_alphabetic()).take(400) {
        all += 1;
        let script = if c.is_ascii() {
            Script::Latin
        } else {
            match c.script() {
                Script::Katakana | Script::Hiragana | Script::Hangul => Script::Han,
                other => other,
            }
        };
        match counts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => *count += 1,
            None => counts.push((script, 1)),
        }
    }
    let (script, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    if count * 2 <= all {
        return None;
    }
    Some(match script {
        Script::Han => east_asian(text),
        other => other,
    })
}

/// The East Asian script of a text: a tenth of its letters is enough for kana or Hangul.
fn east_asian(text: &str) -> Script {
    let (mut all, mut kana, mut hangul) = (0, 0, 0);
    for c in text.chars().filter(|c| c.is_alphabetic()).take(400) {
        all += 1;
        match c.script() {
            Script::Hiragana | Script::Katakana => kana += 1,
            Script::Hangul => hangul += 1,
            _ => {}
        }
    }
    if hangul * 10 > all && hangul >= kana {
        Script::Hangul
    } else if kana * 10 > all {
        Script::Hiragana
    } else {
        Script::Han
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_scripts_without_blanks_are_told_from_others() {
        for c in "漢々〇ひカーｶㄅกກမខꀀ".chars() {
            assert!(is_unspaced(c), "{c}");
        }
        for c in "aß1éяαعא한தह.、。「 \u{301}\u{200d}".chars() {
            assert!(!is_unspaced(c), "{c}");
        }
        assert!(is_hangul('한') && is_unspaced_or_hangul('한') && !is_hangul('字'));
        assert!(is_east_asian('한') && is_east_asian('ー') && !is_east_asian('ก'));
        assert!(is_ideographic('字') && is_ideographic('々') && !is_ideographic('か'));
    }

    #[test]
    fn the_script_of_a_text_is_that_of_most_of_its_letters() {
        for (text, script) in [
            ("A house", Some(Script::Latin)),
            ("Дом у реки, HTTP", Some(Script::Cyrillic)),
            ("το σπίτι", Some(Script::Greek)),
            ("这是一本书", Some(Script::Han)),
            ("これは本です", Some(Script::Hiragana)),
            ("이것은 책입니다", Some(Script::Hangul)),
            ("123 !", None),
        ] {
            assert_eq!(of_text(text), script, "{text}");
        }
    }
}
