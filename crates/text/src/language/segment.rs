//! Finds the ends of sentences inside a paragraph.
//!
//! Unicode's default rules (UAX 29) break after "Dr." and at every line break, and do not know
//! citation marks. The rules here are for notes: abbreviations, ordinals, file names and versions,
//! quotes, CJK punctuation, marks like `[E3]`. In unclear cases, a sentence ends before a capital
//! letter but not before a lower-case one. Each error has a cost: a sentence cut in two causes
//! false alarms in verification, and two sentences in one let an uncited claim share its
//! neighbour's citation.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::lexicon::{Section, all_items};
use super::scan::prefix;
use super::script::is_unspaced_or_hangul;

/// The words that decide whether a dot ends a sentence, for all languages. The language of a text
/// is ignored, because a claim and its evidence must be cut in the same way, even if they seem to
/// be in different languages.
struct SentenceWords {
    abbreviations: Set,
    before_number: Set,
    at_end: Set,
    starters: Set,
    before_ordinal: Set,
    /// Months of the languages that write ordinals with a dot ("3. Mai").
    months: Set,
}

type Set = HashSet<&'static str, RandomState>;

static WORDS: LazyLock<SentenceWords> = LazyLock::new(|| {
    let all = |section| all_items(section).map(|(_, item)| item).collect();
    SentenceWords {
        abbreviations: all(Section::Abbreviations),
        before_number: all(Section::AbbreviationsBeforeNumber),
        at_end: all(Section::AbbreviationsAtEnd),
        starters: all(Section::SentenceStarters),
        before_ordinal: all(Section::BeforeOrdinal),
        months: all_items(Section::Months)
            .filter(|(language, _)| language.lexicon().property("ordinal-dot") == Some("yes"))
            .map(|(_, item)| item)
            .collect(),
    }
});

/// Brackets and quotes that keep sentences together, if they are short.
const PAIRS: &[(char, char)] = &[
    ('(', ')'),
    ('（', '）'),
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('‹', '›'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
];

/// Maximum length of a bracketed or quoted part that is kept in one sentence, in bytes.
const HELD_TOGETHER: usize = 400;

/// Maximum length of a citation mark, in bytes.
const LONGEST_MARK: usize = 2048;

/// Cuts `text[range]` at the ends of its sentences; `whole` are ranges (sorted by start) that are
/// never cut: code, links, citation marks. The pieces are adjacent and cover the range.
pub fn cut(text: &str, range: Range<usize>, whole: &[Range<usize>]) -> Vec<Range<usize>> {
    let body = &text[..range.end];
    let held = merge(
        whole
            .iter()
            .cloned()
            .chain(pairs(body, range.start))
            .collect(),
    );
    let mut out = Vec::new();
    let (mut start, mut at) = (range.start, range.start);
    let last_word = body[start..]
        .rfind(char::is_alphanumeric)
        .map_or(start, |i| start + i);
    let mut first_word = first_word_after(body, start);
    while let Some(offset) = body[at..].find(is_stop) {
        let stop = at + offset;
        let run = stop + run_of(&body[stop..], is_stop);
        at = run;
        let Some(end) = end_of_sentence(body, start, stop, run, &held) else {
            continue;
        };
        // Marks that were read up to here are not read again, even if nothing is cut here.
        at = end;
        if first_word < end && end <= last_word {
            out.push(start..end);
            start = end;
            first_word = first_word_after(body, start);
        }
    }
    if start < range.end || out.is_empty() {
        out.push(start..range.end);
    }
    out
}

/// Where the first word at or after `from` begins.
fn first_word_after(body: &str, from: usize) -> usize {
    body[from..]
        .find(char::is_alphanumeric)
        .map_or(body.len(), |i| from + i)
}

/// The end of the sentence if the punctuation at `stop..run` ends one, including closing quotes and
/// citation marks.
fn end_of_sentence(
    body: &str,
    start: usize,
    stop: usize,
    run: usize,
    held: &[Range<usize>],
) -> Option<usize> {
    let closed = run + run_of(&body[run..], is_closer);
    let after = held.partition_point(|r| r.start <= stop);
    if after.checked_sub(1).is_some_and(|i| closed < held[i].end) {
        return None;
    }
    let end = closed + citation_marks(&body[closed..]);
    let rest = &body[end..];
    let stops = &body[stop..run];
    let wide = stops.contains(is_wide_stop);
    if !(wide || end > closed || rest.starts_with(char::is_whitespace)) {
        return None;
    }
    let next = rest.trim_start_matches(|c: char| c.is_whitespace() || is_opener(c));
    let small = next.starts_with(char::is_lowercase);
    if end == closed
        && body[run..closed].contains(|c| !"*_~=".contains(c))
        && rest.starts_with(char::is_alphanumeric)
    {
        return None; // 「はい。」と言った: the sentence around the quote continues.
    }
    let cited = end > closed || body[..stop].ends_with([']', '】', '］']);
    let ends = if wide || cited {
        true
    } else if stops.contains(['!', '?']) {
        !(small && closed > run)
    } else if stops.len() > 1 || body[run..closed].contains(['"', '”', '’', '»', '“']) {
        // `It says "There is no file." in red.`
        !small
    } else {
        !is_abbreviation(&body[start..stop], next, small)
    };
    ends.then_some(end)
}

/// Whether the dot after `before` (the sentence so far) belongs to its last word and does not end
/// the sentence.
fn is_abbreviation(before: &str, next: &str, small: bool) -> bool {
    let (head, word) = match before.rfind(char::is_whitespace) {
        Some(at) => before.split_at(at + before[at..].chars().next().map_or(0, char::len_utf8)),
        None => ("", before),
    };
    let word = word
        .trim_matches(|c: char| is_opener(c) || is_closer(c))
        .to_lowercase();
    let next_word: String = next
        .chars()
        .take_while(|c| c.is_alphanumeric())
        .take(16)
        .collect::<String>()
        .to_lowercase();
    let words = &*WORDS;
    let starter = !small && words.starters.contains(next_word.as_str());
    let previous = head.split_whitespace().next_back().unwrap_or("");
    let letters = word.chars().count();
    let word_is_in = |set: &Set| set.contains(word.as_str());
    if word_is_in(&words.abbreviations)
        || word_is_in(&words.before_number) && next.starts_with(char::is_numeric)
    {
        return true;
    }
    if word_is_in(&words.at_end) {
        return !starter;
    }
    if word.chars().all(char::is_numeric) && letters <= 2 {
        // "1. First" at the start, "am 3. Mai", "3. mai": an ordinal.
        return small
            || head.trim().is_empty()
            || words.months.contains(next_word.as_str())
            || words
                .before_ordinal
                .contains(previous.to_lowercase().as_str());
    }
    if letters == 1 && !word.chars().all(is_unspaced_or_hangul) {
        // An initial, or an abbreviation with blanks ("z. B.") whose parts are single letters with
        // dots.
        let spaced = previous.chars().count() == 2 && previous.ends_with('.')
            || next_word.chars().count() == 1 && next.chars().nth(1) == Some('.');
        let after_word = previous.chars().count() > 1 && previous.chars().all(char::is_lowercase);
        return spaced || !(after_word && starter);
    }
    let dotted = word.contains('.')
        && word
            .split('.')
            .all(|p| p.chars().count() <= 2 && p.chars().all(char::is_alphabetic));
    if dotted {
        return !starter;
    }
    small
        && !(letters >= 5 && word.chars().all(char::is_alphabetic)
            || letters >= 3 && word.chars().all(char::is_numeric))
}

/// The number of bytes of citation marks at the start of `rest`, including the blanks and commas
/// between them: `[E3]`, `[source: …]`, `[1]`, `[^2]` in half- or full-width spelling.
fn citation_marks(rest: &str) -> usize {
    let mut end = 0;
    loop {
        let gap = rest[end..].len()
            - rest[end..]
                .trim_start_matches([' ', '\t', ',', '\u{a0}'])
                .len();
        let Some(mark) = citation_mark(&rest[end + gap..]) else {
            break;
        };
        end += gap + mark;
    }
    if end > 0 {
        end += run_of(&rest[end..], |c| is_stop(c) || is_closer(c));
    }
    end
}

/// The length of the citation mark at the start of `rest`, if there is one.
pub fn citation_mark(rest: &str) -> Option<usize> {
    let mut chars = rest.chars();
    let open = chars.next().filter(|c| matches!(c, '[' | '［' | '【'))?;
    let label: String = chars
        .filter(|c| !is_invisible(*c))
        .take(8)
        .map(half_width)
        .collect::<String>()
        .to_lowercase();
    let label = label.trim_start();
    let digits = |t: &str| t.starts_with(|c: char| c.is_numeric());
    let fits = label.starts_with("source")
        || digits(label)
        || label.starts_with('^')
        || label.strip_prefix('e').is_some_and(digits);
    // This is checked first, because searching from every bracket of a text full of brackets would
    // be slow.
    if !fits {
        return None;
    }
    let from = open.len_utf8();
    let body = prefix(&rest[from..], LONGEST_MARK);
    let quoted = body
        .find('"')
        .filter(|q| !body[..*q].contains([']', '］', '】', '\n']));
    let close = match quoted.and_then(|q| body[q + 1..].find("\"]").map(|c| q + 2 + c)) {
        Some(close) => close,
        None => body.find([']', '］', '】'])?,
    };
    let close_len = body[close..].chars().next().map_or(1, char::len_utf8);
    let is_link = body[close + close_len..].starts_with('(');
    (!is_link).then_some(from + close + close_len)
}

/// Short bracketed or quoted parts of `body[from..]`.
fn pairs(body: &str, from: usize) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    // Most texts have no such part.
    if !body.as_bytes()[from..]
        .iter()
        .any(|b| matches!(b, b'"' | b'(') || !b.is_ascii())
    {
        return out;
    }
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut straight: Option<usize> = None;
    let mut before = ' ';
    for (i, c) in body[from..].char_indices() {
        let at = from + i;
        if c == '"' {
            match straight.take() {
                Some(start) if !before.is_whitespace() => out.push(start..at + 1),
                _ if !before.is_alphanumeric() => straight = Some(at),
                _ => {}
            }
        } else if let Some(depth) = open.iter().rposition(|(close, _)| *close == c) {
            out.push(open[depth].1..at + c.len_utf8());
            open.truncate(depth);
        } else if let Some((_, close)) = PAIRS.iter().find(|(o, _)| *o == c)
            && open.len() < 16
        {
            open.push((*close, at));
        }
        before = c;
    }
    out.retain(|r| r.len() <= HELD_TOGETHER);
    out
}

/// The ranges sorted, with overlapping ones joined.
fn merge(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|r| r.start);
    let mut out: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// Length in bytes of the leading run of characters that satisfy `is`.
fn run_of(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.len() - text.trim_start_matches(is).len()
}

fn is_stop(c: char) -> bool {
    matches!(
        c,
        '.' | '!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' | '؟' | '۔' | '।' | '॥' | '።'
    ) || is_wide_stop(c)
}

/// Sentence-ending punctuation of scripts without a space after it.
fn is_wide_stop(c: char) -> bool {
    matches!(c, '。' | '｡' | '！' | '？' | '︒')
}

fn is_closer(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '”'
            | '’'
            | '“'
            | '»'
            | '›'
            | ')'
            | ']'
            | '}'
            | '）'
            | '」'
            | '』'
            | '】'
            | '》'
            | '*'
            | '_'
            | '~'
            | '='
    )
}

fn is_opener(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '“'
            | '‘'
            | '„'
            | '«'
            | '‹'
            | '('
            | '['
            | '{'
            | '（'
            | '「'
            | '『'
            | '【'
            | '《'
            | '*'
            | '_'
            | '~'
            | '='
            | '>'
    )
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

/// A full-width Latin letter, digit or symbol in its plain form.
fn half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_citation_marks_with_a_stop_inside_are_cut_in_linear_time() {
        // With a second look at every mark, this would take an hour.
        let text = format!("a {}", "[1.]".repeat(400_000));
        assert_eq!(cut(&text, 0..text.len(), &[]).len(), 1);
        let text = format!("One. {} Two.", "[1.]".repeat(400_000));
        assert_eq!(cut(&text, 0..text.len(), &[]).len(), 2);
    }
}
