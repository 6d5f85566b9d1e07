//! The normalisation under which a quote is verbatim, with a mapping back to the original text.
//!
//! The rules: canonical composition (NFC); every run of white space, including line breaks and `>`
//! marks of quoted lines, becomes one space; curly and angled quote marks become straight; hyphens
//! that differ only in breaking become `-`; the digits of every script become ASCII digits, and
//! Arabic and full-width signs beside them become plain; soft hyphens and zero-width spaces are removed;
//! emphasis, code ticks, highlight marks, backslash escapes and the addresses of links are removed.
//! Words, case, values and punctuation do not change. The result records, for every byte, the
//! original bytes.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

use crate::language::is_unspaced;

/// A normalised text with the original position of each of its bytes.
#[derive(Debug, Clone, Default)]
pub struct Normal {
    text: String,
    /// For every byte of `text`: its range in the raw text.
    from: Vec<(u32, u32)>,
}

impl Normal {
    /// Normalises `raw`. Texts of 4 GiB or more are truncated.
    pub fn of(raw: &str) -> Self {
        let raw = raw.get(..u32::MAX as usize).unwrap_or(raw);
        let mut out = Self {
            text: String::with_capacity(raw.len()),
            from: Vec::with_capacity(raw.len()),
        };
        let markup = link_markup(raw);
        let mut markup = markup.iter().peekable();
        let mut at = 0;
        let mut line_start = true;
        // Up to here, the start of this line was checked and has no quote mark.
        let mut unquoted = 0;
        while let Some(c) = raw.get(at..).and_then(|r| r.chars().next()) {
            if let Some(skip) = markup.next_if(|r| r.start <= at) {
                at = at.max(skip.end);
                continue;
            }
            if line_start && at >= unquoted {
                let (marks, quoted) = quote_marks(&raw[at..]);
                if quoted {
                    out.space(at, at + marks);
                    at += marks;
                    line_start = false;
                    continue;
                }
                unquoted = at + marks;
            }
            if c.is_whitespace() {
                line_start = c == '\n' || line_start;
                out.space(at, at + c.len_utf8());
                at += c.len_utf8();
                continue;
            }
            line_start = false;
            let end = markup.peek().map_or(raw.len(), |r| r.start);
            at = match plain_run(raw, at, end) {
                0 => out.visible(raw, at, c),
                len => out.plain(raw, at..at + len),
            };
        }
        out.trim_end();
        out
    }

    /// The normalised text: without white space at its ends, and without double spaces.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The range of the raw text for `range` of the normalised text; `None` if the range is empty
    /// or out of bounds.
    pub fn raw(&self, range: Range<usize>) -> Option<Range<usize>> {
        let from = self.from.get(range)?;
        Some(from.first()?.0 as usize..from.last()?.1 as usize)
    }

    /// The position of byte `raw` of the raw text in the normalised text. If that byte was removed,
    /// it is the position of the next byte that was kept.
    pub fn position(&self, raw: usize) -> usize {
        self.from
            .partition_point(|(start, _)| (*start as usize) < raw)
    }

    /// The first place where `needle` (also normalised) occurs as whole words: see [`whole_words`].
    pub fn find(&self, needle: &str) -> Option<Range<usize>> {
        self.find_from(needle, 0)
    }

    /// Like [`Self::find`], from byte `start` on.
    pub fn find_from(&self, needle: &str, start: usize) -> Option<Range<usize>> {
        if needle.is_empty() {
            return None;
        }
        let mut from = start;
        loop {
            let at = from + self.text.get(from..)?.find(needle)?;
            let range = at..at + needle.len();
            if whole_words(&self.text, range.clone()) {
                return Some(range);
            }
            from = at + needle.chars().next().map_or(1, char::len_utf8);
        }
    }

    fn push(&mut self, c: char, start: usize, end: usize) {
        self.text.push(c);
        // Offsets fit because `of` truncated the text to `u32::MAX` bytes.
        self.from
            .resize(self.text.len(), (start as u32, end as u32));
    }

    /// Copies ASCII characters unchanged; returns where the next one starts.
    fn plain(&mut self, raw: &str, range: Range<usize>) -> usize {
        self.text.push_str(&raw[range.clone()]);
        self.from
            .extend(range.clone().map(|at| (at as u32, at as u32 + 1)));
        range.end
    }

    fn space(&mut self, start: usize, end: usize) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.push(' ', start, end);
        }
    }

    fn trim_end(&mut self) {
        let len = self.text.trim_end().len();
        self.text.truncate(len);
        self.from.truncate(len);
    }

    /// Processes the character (or composed cluster) at `at`; returns where the next one starts.
    fn visible(&mut self, raw: &str, at: usize, c: char) -> usize {
        let mut at = at;
        if c.is_ascii() {
            match ascii_markup(raw, at, c) {
                Run::Markup(len) => return at + len,
                // All but the last character of the run. The last one may combine with a mark that
                // follows. So each run is processed once.
                Run::Text(len) => {
                    for _ in 1..len {
                        self.push(c, at, at + 1);
                        at += 1;
                    }
                }
            }
        }
        let end = at + c.len_utf8();
        if c.is_ascii() {
            // A combining mark may follow and compose with this character.
            if raw.as_bytes().get(end).is_none_or(u8::is_ascii) {
                self.push(c, at, end);
                return end;
            }
        }
        if matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}') {
            return end;
        }
        let cluster = cluster_end(raw, end, c);
        if cluster == end {
            self.push(straight(c), at, end);
        }
        if cluster > end || straight(c) == c && !c.is_ascii() {
            if cluster == end {
                // Already pushed above; canonical composition may still replace a single character.
                let len = self.text.len() - c.len_utf8();
                self.text.truncate(len);
                self.from.truncate(len);
            }
            for composed in raw[at..cluster].nfc() {
                self.push(straight(composed), at, cluster);
            }
        }
        cluster
    }
}

/// Whether `range` of `text` splits neither a word nor an amount. No letter or digit may continue
/// at either end (except in scripts without spaces), no decimal, per cent or degree sign may follow
/// a final digit, and no sign or currency may precede a first digit.
pub fn whole_words(text: &str, range: Range<usize>) -> bool {
    let (Some(before), Some(inside), Some(after)) = (
        text.get(..range.start),
        text.get(range.clone()),
        text.get(range.end..),
    ) else {
        return false;
    };
    let digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let (first, last) = (inside.chars().next(), inside.chars().next_back());
    let mut back = before.chars().rev();
    let (left, left2) = (back.next(), back.next());
    let mut ahead = after.chars();
    let (right, right2) = (ahead.next(), ahead.next());
    let cut_before = is_spaced_letter(first) && is_spaced_letter(left)
        || digit(first)
            && (joins_digits(left) && digit(left2)
                || matches!(left, Some('$' | '€' | '£' | '¥' | '−' | '+' | '±' | '~'))
                || left == Some('-') && !is_spaced_letter(left2));
    let cut_after = is_spaced_letter(last) && is_spaced_letter(right)
        || digit(last)
            && (joins_digits(right) && digit(right2)
                || matches!(right, Some('%' | '‰' | '°' | '€' | '$')));
    !(cut_before || cut_after)
}

/// Whether the character can be inside a number.
fn joins_digits(c: Option<char>) -> bool {
    matches!(c, Some('.' | ',' | '\'' | ':' | '/' | '-'))
}

/// Whether the character belongs to a word of a script with spaces between words.
fn is_spaced_letter(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c))
}

/// The number of bytes from `at` to `end` that are ASCII letters and digits and combine with
/// nothing. The last one before a non-ASCII character does not count, because that character may
/// combine with it.
fn plain_run(raw: &str, at: usize, end: usize) -> usize {
    let rest = raw.as_bytes().get(at..end).unwrap_or(&[]);
    let len = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    let alone = raw.as_bytes().get(at + len).is_none_or(u8::is_ascii);
    if alone { len } else { len.saturating_sub(1) }
}

/// The digit zero of each script whose digits have values; the others follow it. Smaller characters
/// need no lookup.
const ZEROS: &[char] = &[
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}',
    '\u{be6}', '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}',
    '\u{17e0}', '\u{1810}', '\u{ff10}',
];

/// The ASCII digit with the value of a digit of another script.
fn ascii_digit(c: char) -> Option<char> {
    let last = ZEROS.partition_point(|zero| *zero <= c).checked_sub(1)?;
    let value = u32::from(c) - u32::from(*ZEROS.get(last)?);
    char::from_digit(value, 10)
}

/// The plain form of typographic variants with the same meaning.
fn straight(c: char) -> char {
    match c {
        '٪' | '％' => '%',
        '٫' => '.',
        '٬' => ',',
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' => '"',
        '‘' | '’' | '‚' | '‛' | '′' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        other => ascii_digit(other).unwrap_or(other),
    }
}

/// The end of the combining sequence that starts with `c` and continues at `at`.
fn cluster_end(raw: &str, mut at: usize, c: char) -> usize {
    let mut jamo = matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}');
    while let Some(next) = raw.get(at..).and_then(|r| r.chars().next()) {
        jamo = jamo && matches!(next, '\u{1100}'..='\u{11ff}');
        if canonical_combining_class(next) == 0 && !jamo {
            break;
        }
        at += next.len_utf8();
    }
    at
}

/// The length of `> > ` or of blanks at the start of a line, and whether it contains a mark.
fn quote_marks(line: &str) -> (usize, bool) {
    let marks = line
        .bytes()
        .take_while(|b| matches!(b, b'>' | b' ' | b'\t'));
    marks.fold((0, false), |(len, quoted), b| {
        (len + 1, quoted || b == b'>')
    })
}

/// Characters of one kind.
enum Run {
    /// This many bytes of hidden markup.
    Markup(usize),
    /// This many characters of the text, at least one.
    Text(usize),
}

/// The run that begins with the ASCII character `c` at `at`.
fn ascii_markup(raw: &str, at: usize, c: char) -> Run {
    let rest = &raw[at..];
    if !matches!(c, '`' | '*' | '_' | '=' | '\\') {
        return Run::Text(1);
    }
    let run = if c == '\\' {
        1
    } else {
        rest.len() - rest.trim_start_matches(c).len()
    };
    let (left, right) = (raw[..at].chars().next_back(), rest[run..].chars().next());
    let alnum = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let markup = match c {
        '`' => true,
        '*' | '_' => {
            let inner = alnum(left) && alnum(right);
            !(blank(left) && blank(right) || inner && (c == '_' || run == 1))
        }
        '=' => {
            run == 2 && alnum(left) != alnum(right) && (blank(left) != blank(right) || !blank(left))
        }
        _ => matches!(right, Some('*' | '_' | '[' | ']' | '#' | '|' | '~' | '`')),
    };
    if markup {
        Run::Markup(run)
    } else {
        Run::Text(run)
    }
}

/// The maximum length of a hidden link address, in bytes.
const LONGEST_ADDRESS: usize = 2048;

/// The hidden parts of links, in order: `[`, `](address)`, `[[`, `target|`, `]]`.
fn link_markup(raw: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    if !raw.contains('[') {
        return out;
    }
    let bytes = raw.as_bytes();
    let mut open: Vec<usize> = Vec::new();
    // The next byte that ends an address; each is searched for only once.
    let mut stop = 0;
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        let rest = &bytes[at..];
        let image = at > 0 && bytes.get(at - 1) == Some(&b'!');
        match b {
            b'\n' => open.clear(),
            b'[' if rest.starts_with(b"[[") && !image => {
                if let Some((inner, end)) = wikilink(raw, at) {
                    let shown = inner.rfind('|').map_or(at + 2, |bar| at + 2 + bar + 1);
                    out.push(at..shown);
                    out.push(end - 2..end);
                    at = end;
                    continue;
                }
            }
            b'[' if !image => open.push(at),
            b']' if rest.starts_with(b"](") => {
                if stop < at {
                    stop = rest
                        .iter()
                        .position(|b| matches!(b, b')' | b'\n'))
                        .map_or(bytes.len(), |len| at + len);
                }
                let close = stop - at;
                if let Some(start) = open.last()
                    && close < LONGEST_ADDRESS
                    && bytes.get(stop) == Some(&b')')
                {
                    out.push(*start..*start + 1);
                    out.push(at..at + close + 1);
                    open.clear();
                    at += close;
                }
            }
            b']' => {
                open.pop();
            }
            _ => {}
        }
        at += 1;
    }
    out.sort_unstable_by_key(|r| r.start);
    out
}

/// The content of `[[…]]` at `at`, and where it ends.
fn wikilink(raw: &str, at: usize) -> Option<(&str, usize)> {
    let body = raw.get(at + 2..)?;
    let close = body
        .bytes()
        .take(1024)
        .position(|b| matches!(b, b']' | b'[' | b'\n'))?;
    let inner = body.get(..close)?;
    (body.get(close..)?.starts_with("]]") && !inner.is_empty())
        .then_some((inner, at + 2 + close + 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn n(text: &str) -> String {
        Normal::of(text).as_str().to_owned()
    }

    #[test]
    fn c45_spellings_of_one_text_are_one() {
        let plain = n("The \"new\" budget's total is co-funded and café-bound.");
        for other in [
            "The “new” budget’s total is co-funded and café-bound.",
            "The \"new\" bud\u{ad}get's total\nis co\u{2011}funded and cafe\u{301}-bound.",
            "The **\"new\"** _budget's_ total is `co-funded` and café-bound.",
            "> The \"new\" budget's\n> total is co-funded\n> and café-bound.",
            "The \"new\" [budget's](b.md) total is [[x#y|co-funded]] and ==café-bound==.",
            "  The\u{a0}\"new\"  budget's\ttotal is\r\nco-funded and café-bound.  ",
        ] {
            assert_eq!(n(other), plain, "{other:?}");
        }
    }

    #[test]
    fn digits_of_every_script_are_digits() {
        for other in ["١٢٫٥٪", "۱۲.۵%", "१२.५%", "１２.５％", "๑๒.๕%"] {
            assert_eq!(n(other), "12.5%", "{other}");
        }
        assert_eq!(n("½ ² Ⅳ 三 ९a"), "½ ² Ⅳ 三 9a");
    }

    #[test]
    fn what_carries_meaning_stays() {
        for (a, b) in [
            ("5*3", "53"),
            ("snake_case", "snakecase"),
            ("a == b", "a b"),
            ("a==b", "ab"),
            ("~~done~~", "done"),
            ("Plan", "plan"),
            ("1.5", "15"),
            ("a[1]", "a1"),
            ("x \u{202e}y", "x y"),
        ] {
            assert_ne!(n(a), n(b), "{a} {b}");
        }
    }

    #[test]
    fn a_match_never_cuts_a_word_or_an_amount() {
        let hay = Normal::of("It costs 15.5 million, -3 % of $40 and 7% of v2.8.3; 日本語の本。");
        for part in [
            "5.5 million",
            "15",
            "cost",
            "3 %",
            "40 and",
            "7",
            "2.8.3",
            "v2.8",
        ] {
            assert_eq!(hay.find(part), None, "{part}");
        }
        for whole in [
            "15.5 million",
            "-3 % of $40",
            "7% of",
            "v2.8.3",
            "日本語",
            "本語の",
        ] {
            assert!(hay.find(whole).is_some(), "{whole}");
        }
    }

    #[test]
    fn a_match_knows_its_bytes() {
        let raw = "a **b “c”**\n> d e\u{301}f";
        let hay = Normal::of(raw);
        assert_eq!(hay.as_str(), "a b \"c\" d éf");
        let found = hay.find("b \"c\" d éf").unwrap();
        assert_eq!(&raw[hay.raw(found).unwrap()], "b “c”**\n> d e\u{301}f");
    }

    proptest! {
        #[test]
        fn normalising_never_panics_and_points_into_the_text(
            text in any::<String>(), md in "[a1 `*_=~>#\\[\\]()|\\\\\n\u{301}\u{ad}“é가-]{0,60}"
        ) {
            for raw in [&text, &md] {
                let normal = Normal::of(raw);
                prop_assert_eq!(normal.from.len(), normal.text.len());
                prop_assert!(!normal.text.contains("  ") && normal.text.trim() == normal.text);
                for (start, end) in &normal.from {
                    prop_assert!(raw.get(*start as usize..*end as usize).is_some());
                }
            }
        }

        #[test]
        fn a_raw_part_is_found_where_it_stands(words in prop::collection::vec("[a-zé]{1,6}", 3..12), i in 0usize..3) {
            let raw = words.join("\n");
            let hay = Normal::of(&raw);
            let part = n(&words[i..].join(" "));
            let found = hay.find(&part).unwrap();
            prop_assert_eq!(n(&raw[hay.raw(found).unwrap()]), part);
        }
    }
}
