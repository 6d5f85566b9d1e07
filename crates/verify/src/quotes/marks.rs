//! Finds the quotations of a text by their marks.
//!
//! One mark can open and close: "»" opens a German quotation and closes a French one, "”" opens a
//! Swedish one, and "’" is an apostrophe more often than a mark. So an opening mark is preceded by
//! no letter and followed by no blank, where it could also close, and a single closing mark is
//! followed by no letter.

use std::ops::Range;

use super::SHORTEST;

/// Marks that open a quotation wherever they are, with the marks that close it.
const PAIRS: &[(char, &[char])] = &[
    ('“', &['”', '“']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
    ('‹', &['›']),
    ('‚', &['‘', '’']),
    ('‘', &['’']),
    ('「', &['」']),
    ('『', &['』']),
    ('《', &['》']),
    ('〈', &['〉']),
];

/// Marks that open a quotation only in front of a word, with the marks that close it.
const TURNED_PAIRS: &[(char, &[char])] = &[('»', &['«', '»']), ('›', &['‹', '›']), ('”', &['”'])];

/// Whether a text has a mark that opens a quotation.
pub(crate) fn has_marks(text: &str) -> bool {
    text.contains(|c: char| c == '"' || pair(c).is_some())
}

fn pair(opening: char) -> Option<&'static [char]> {
    let mut pairs = PAIRS.iter().chain(TURNED_PAIRS);
    pairs
        .find(|(mark, _)| *mark == opening)
        .map(|(_, closing)| *closing)
}

/// The texts between quote marks in `block`, marks excluded, outermost first found, not
/// overlapping. `skip` tells which bytes are not prose.
pub(crate) fn quoted_ranges(block: &str, skip: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut straight: Option<usize> = None;
    let mut hopeless: Vec<char> = Vec::new();
    let mut before = ' ';
    let mut until = 0;
    for (at, c) in block.char_indices() {
        let previous = std::mem::replace(&mut before, c);
        if at < until || skip(at) {
            continue;
        }
        if c == '"' {
            let next = block.get(at + 1..).and_then(|r| r.chars().next());
            let closes = !previous.is_whitespace() && !next.is_some_and(char::is_alphanumeric);
            let opens = !previous.is_alphanumeric() && next.is_some_and(|n| !n.is_whitespace());
            match straight {
                Some(start) if closes => {
                    out.push(start..at);
                    straight = None;
                }
                _ if opens => straight = Some(at + 1),
                _ => {}
            }
            continue;
        }
        let Some(closing) = pair(c) else { continue };
        let from = at + c.len_utf8();
        let rest = block.get(from..).unwrap_or("");
        if hopeless.contains(&c) || straight.is_some() || !opens(previous, c, rest) {
            continue;
        }
        match end(rest, c, closing) {
            Some((len, mark)) => {
                out.push(from..from + len);
                until = from + len + mark.len_utf8();
            }
            None => hopeless.push(c),
        }
    }
    out.retain(|r| {
        block
            .get(r.clone())
            .is_some_and(|q| q.chars().count() >= SHORTEST)
    });
    out
}

/// Whether a mark between `previous` and `rest` opens a quotation.
fn opens(previous: char, mark: char, rest: &str) -> bool {
    let next = rest.chars().next();
    let is_turned = TURNED_PAIRS.iter().any(|(opening, _)| *opening == mark);
    if is_turned || mark == '‘' {
        let is_in_front = !previous.is_alphanumeric() && next.is_some_and(|n| !n.is_whitespace());
        let follows_a_sentence = is_turned && matches!(previous, '.' | '!' | '?' | ',' | '…' | '%');
        return is_in_front && !follows_a_sentence && !(mark == '‘' && is_left_out(rest));
    }
    true
}

/// Words that are written with an apostrophe for what they leave out at their beginning.
const SHORTENED: &[&str] = list!("quotes.shortened");

/// Whether `rest`, behind an apostrophe, begins with a shortened word or a decade: "‘tis", "‘90s".
fn is_left_out(rest: &str) -> bool {
    let word = rest.split(|c: char| !c.is_alphanumeric()).next();
    let word = word.unwrap_or("").to_lowercase();
    let is_decade = word.len() < 4 && word.starts_with(|c: char| c.is_ascii_digit());
    is_decade || SHORTENED.contains(&word.as_str())
}

/// Where a quotation ends that `mark` opened in front of `rest`, and the mark that ends it.
fn end(rest: &str, mark: char, closing: &[char]) -> Option<(usize, char)> {
    match mark {
        '‘' | '‚' => end_of_single(rest, mark, closing),
        _ => rest.char_indices().find(|(_, c)| closing.contains(c)),
    }
}

/// Where a quotation in single marks ends. An apostrophe within a word ends nothing, and that of a
/// plural ("the dogs’ bowls") does not if the mark comes later in the sentence.
fn end_of_single(rest: &str, opening: char, closing: &[char]) -> Option<(usize, char)> {
    let mut first = None;
    let mut before = opening;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let previous = std::mem::replace(&mut before, c);
        let next = chars.peek().map(|(_, next)| *next);
        if c == opening || first.is_some() && ends_a_sentence(previous, c) {
            break;
        }
        let is_within = next.is_some_and(char::is_alphanumeric) && c == '’';
        if !closing.contains(&c) || is_within || previous.is_whitespace() {
            continue;
        }
        let may_be_plural = c == '’' && matches!(previous, 's' | 'x' | 'z') && next == Some(' ');
        if !may_be_plural {
            return Some((at, c));
        }
        first = first.or(Some((at, c)));
    }
    first
}

fn ends_a_sentence(previous: char, c: char) -> bool {
    c == '\n' || c.is_whitespace() && matches!(previous, '.' | '!' | '?')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(text: &str) -> Vec<&str> {
        quoted_ranges(text, |_| false)
            .into_iter()
            .map(|r| &text[r])
            .collect()
    }

    #[test]
    fn quotes_are_found_between_their_marks() {
        assert_eq!(
            quotes("He said \"one two three\" and “four five six”."),
            ["one two three", "four five six"]
        );
        assert_eq!(
            quotes("„eins zwei drei“ «un deux trois» 「一二三四五六七八九十一二」").len(),
            3
        );
        assert_eq!(
            quotes("a 5\" pipe and a 6\" pipe of steel"),
            Vec::<&str>::new()
        );
        assert_eq!(
            quotes("(\"in brackets here\") \"x\" “never closed at all"),
            ["in brackets here"]
        );
    }

    #[test]
    fn c26_a_two_word_quote_is_no_quote() {
        for text in ["the \"fast path\" is", "“so called” x", "«deux mots» y"] {
            assert!(quotes(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn every_kind_of_mark_is_read() {
        for text in [
            "»der alte Anleger«",
            "›der alte Anleger‹",
            "« le vieux ponton »",
            "‹le vieux ponton›",
            "‘the old landing’",
            "‚der alte Anleger‘",
            "‚der alte Anleger’",
            "„der alte Anleger“",
            "„der alte Anleger”",
            "„der alte Anleger\"",
            "”den gamla bryggan”",
            "»den gamla bryggan»",
            "《港口预算二零二六年是五百万欧元》",
            "〈港口预算二零二六年是五百万欧元〉",
        ] {
            let said = format!("Es heißt {text}, so steht es da.");
            assert_eq!(quotes(&said).len(), 1, "{said}");
        }
    }

    #[test]
    fn an_apostrophe_is_no_mark() {
        for text in [
            "I don’t know what they’re doing in the ’90s at five o’clock",
            "the dogs’ bowls and the cats’ food are the neighbours’ gift",
            "the ‘90s were good, and it’s the dogs’ day today",
            "‘tis the season of the dogs’ and cats’ food again",
            "rock ’n’ roll is here to stay for all the boys’ schools",
            "l’eau de l’Atlantique, c’est l’été aujourd’hui",
            "a 5’ pipe and a 6’ pipe of very old steel",
            "File » Save as… » Somewhere else and File › Save › Here",
        ] {
            assert_eq!(quotes(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn apostrophes_within_single_marks_belong_to_the_quotation() {
        assert_eq!(
            quotes("He says ‘it doesn’t rain in the ’90s style’ and leaves"),
            ["it doesn’t rain in the ’90s style"]
        );
        assert_eq!(
            quotes("He says ‘the dogs’ bowls are empty’ and leaves."),
            ["the dogs’ bowls are empty"]
        );
        assert_eq!(
            quotes("He saw ‘two of the dogs’ and leaves. The cats’."),
            ["two of the dogs"]
        );
    }
}
