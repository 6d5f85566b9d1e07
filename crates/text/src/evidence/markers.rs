//! Finds every citation in a text, and everything that could be mistaken for one.
//!
//! One pass with bounded look-ahead. Everything that looks like a citation is either parsed or
//! reported. Other code decides whether a reported look-alike is excused because it is verbatim in
//! the cited evidence.

use crate::types::{ByteSpan, Label};

use super::citation::{OPEN, RawCitation};
use super::fold::{next_folded, next_visible};

/// The kind of a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkerKind {
    /// `[E3]`, or `[E1, E2]`.
    Labels(Vec<Label>),
    /// `[E3: "verbatim quote"]`; `quote` is the range between the quote marks, in the whole text.
    Quoted {
        /// The cited item.
        label: Label,
        /// Where the quoted words are in the text.
        quote: ByteSpan,
    },
    /// `[source: path#heading | key]`.
    Source(Box<RawCitation>),
    /// `[9]` (or `[9, 12]`) where a claim could end. With other brackets or digits it is a
    /// look-alike.
    Number,
    /// Starts like a citation but is not one. The text is the end of the sentence "The citation …".
    Malformed(&'static str),
    /// Looks like `[source: …]` to a reader. The text is the end of the sentence "The marker …".
    SourceLookalike(&'static str),
    /// Looks like `[E3]` to a reader.
    LabelLookalike(&'static str),
}

/// One marker and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The bytes of the text it covers; for one that could not be parsed, at least its opening.
    pub span: ByteSpan,
    /// What it is.
    pub kind: MarkerKind,
}

/// All markers of `text`, in order, not overlapping. Linear in the length of the text.
pub fn scan_markers(text: &str) -> Vec<Marker> {
    let mut scan = Scan {
        text,
        close: Next::default(),
        line: Next::default(),
        quote: Next::default(),
    };
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(open) = next_candidate(text, at) {
        match scan.marker(open) {
            Some((end, kind)) => {
                out.extend(ByteSpan::new(open, end).map(|span| Marker { span, kind }));
                at = end.max(open + 1);
            }
            None => at = open + 1,
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    out
}

/// The maximum length of a citation's body, in bytes: a path of 4,096 bytes with every byte
/// percent-encoded, and its headings.
const MAX_BODY_BYTES: usize = 16_384;

/// The next byte at which an opening bracket could be, plain or disguised.
fn next_candidate(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes().get(from..)?;
    for (at, &b) in (from..).zip(bytes) {
        let possible = match b {
            b'[' | b'(' | b'{' | b'<' | b'%' | b'&' | b'\\' => true,
            // Only the first byte of a character counts.
            0xc2..=0xf4 => true,
            _ => false,
        };
        if possible
            && next_folded(text, at).is_some_and(|(c, _)| matches!(c, '[' | '(' | '{' | '<'))
        {
            return Some(at);
        }
    }
    None
}

/// The next position of a character, cached, so that repeated queries cost nothing.
#[derive(Default)]
struct Next {
    /// The first position at or after `asked`.
    found: Option<usize>,
    asked: Option<usize>,
}

impl Next {
    fn at(&mut self, from: usize, find: impl FnOnce(usize) -> Option<usize>) -> Option<usize> {
        let known = self
            .asked
            .is_some_and(|asked| asked <= from && self.found.is_none_or(|f| f >= from));
        if !known {
            self.asked = Some(from);
            self.found = find(from);
        }
        self.found
    }
}

struct Scan<'a> {
    text: &'a str,
    close: Next,
    line: Next,
    quote: Next,
}

impl Scan<'_> {
    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    /// Parses the marker that opens at `at`; returns its end.
    fn marker(&mut self, at: usize) -> Option<(usize, MarkerKind)> {
        if let Some(found) = self.source(at) {
            return Some(found);
        }
        let (bracket, inside) = next_folded(self.text, at)?;
        if bracket != '[' {
            return None;
        }
        let (first, after) = next_visible(self.text, inside)?;
        match first {
            'e' => self.label(at, after),
            'm' => self.memory(at, after),
            d if d.is_numeric() => self.number(at, inside),
            _ => None,
        }
    }

    /// Parses `[source:` and its disguises.
    fn source(&mut self, at: usize) -> Option<(usize, MarkerKind)> {
        let (_, mut end) = next_folded(self.text, at)?;
        for wanted in "source".chars() {
            let (c, next) = next_visible(self.text, end)?;
            if c != wanted {
                return None;
            }
            end = next;
        }
        let (mut c, mut next) = next_visible(self.text, end)?;
        if c == 's' {
            (c, next) = next_visible(self.text, next)?;
        }
        if !self.rest(at).starts_with(OPEN) {
            if !(c == ':' || c == '=' || c == '#' || c.is_numeric()) {
                return None;
            }
            let why = "is not written as `[source: path#heading | key]`";
            return Some((next, MarkerKind::SourceLookalike(why)));
        }
        let body = at + OPEN.len();
        if at.checked_sub(1).and_then(|i| self.text.as_bytes().get(i)) == Some(&b'[') {
            return Some((
                body,
                MarkerKind::SourceLookalike("stands inside other brackets"),
            ));
        }
        let line = self.line_end(body);
        let text = self.text;
        let close = self
            .close
            .at(body, |from| text.get(from..)?.find(']').map(|i| from + i));
        let Some(close) = close.filter(|close| *close < line && close - body < MAX_BODY_BYTES)
        else {
            let split = close.is_some_and(|close| close - body < 1024);
            let why = if split {
                "is split over two lines"
            } else {
                "has no closing `]`"
            };
            return Some((body, MarkerKind::Malformed(why)));
        };
        Some(match RawCitation::parse_body(self.text.get(body..close)?) {
            Ok(raw) => (close + 1, MarkerKind::Source(Box::new(raw))),
            Err(_) if self.has_upper_key(body, close) => (
                body,
                MarkerKind::SourceLookalike("has a key that only looks like one"),
            ),
            Err(why) => (body, MarkerKind::Malformed(why)),
        })
    }

    /// Whether the text in place of the key is a key after upper case and look-alike letters are
    /// replaced.
    fn has_upper_key(&self, body: usize, close: usize) -> bool {
        let Some((_, key)) = self.text.get(body..close).and_then(|b| b.rsplit_once('|')) else {
            return false;
        };
        let key = key.trim();
        let valid = |key: &str| key.parse::<crate::types::ChunkKey>().is_ok();
        key.len() < 256 && !valid(key) && valid(&super::fold::skeleton(key).to_lowercase())
    }

    fn line_end(&mut self, from: usize) -> usize {
        let text = self.text;
        let end = self.line.at(from, |from| {
            text.get(from..)?.find(['\n', '\r']).map(|i| from + i)
        });
        end.unwrap_or(text.len())
    }

    /// Parses `[E3]`, `[E1, E2]`, `[E3: "…"]` and their disguises. `after` is the position after
    /// the `E`.
    fn label(&mut self, at: usize, after: usize) -> Option<(usize, MarkerKind)> {
        let (digit, digits_end) = next_visible(self.text, after)?;
        if !digit.is_numeric() {
            return None;
        }
        let inner = self.rest(at + 1);
        let exact = self.rest(at).starts_with("[E")
            && inner.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if !exact {
            return self.disguised_label(digits_end);
        }
        let before = at
            .checked_sub(1)
            .and_then(|i| self.text.as_bytes().get(i))
            .copied();
        let number = inner.len()
            - 1
            - inner
                .get(1..)?
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let end = at + 2 + number;
        let next = self.rest(end).chars().next();
        if before == Some(b'[') {
            return self.in_brackets(at, end);
        }
        if next.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let label: Option<Label> = self.text.get(at + 1..end)?.parse().ok();
        if next == Some(':') {
            return Some(self.quoted(end, label));
        }
        Some(self.labels(at, end))
    }

    /// Parses a label directly after `[`: a link to a note of that name, or a nested marker.
    fn in_brackets(&mut self, at: usize, end: usize) -> Option<(usize, MarkerKind)> {
        let line = self.line_end(end);
        let text = self.text;
        let close = self
            .close
            .at(end, |from| text.get(from..)?.find(']').map(|i| from + i));
        let close = close.filter(|close| *close < line && self.rest(*close).starts_with("]]"));
        let target = close.and_then(|close| self.text.get(at + 1..close));
        // `[[E1]]`, `[[E1|alias]]`, `[[E1#part]]`, `[[E1 notes]]` are links.
        let link = target.is_some_and(|t| !t.contains('['));
        (!link).then_some((
            end,
            MarkerKind::LabelLookalike("stands inside other brackets"),
        ))
    }

    fn quoted(&mut self, colon: usize, label: Option<Label>) -> (usize, MarkerKind) {
        let fallback = (
            colon + 1,
            MarkerKind::Malformed("has no quote after the colon: write `[E3: \"words\"]`"),
        );
        let rest = self.rest(colon + 1);
        let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let Some(mark) = rest
            .get(gap..)
            .and_then(|r| r.chars().next())
            .filter(|c| matches!(c, '"' | '“' | '„'))
        else {
            return fallback;
        };
        let start = colon + 1 + gap + mark.len_utf8();
        let text = self.text;
        let close = self.quote.at(start, |from| closing_quote(text, from));
        let Some(close) = close.filter(|close| {
            close - start < MAX_BODY_BYTES
                && !text.get(start..*close).is_some_and(|t| t.contains("\n\n"))
        }) else {
            return (
                colon + 1,
                MarkerKind::Malformed("has no closing quote mark and `]`"),
            );
        };
        let tail = self.rest(close);
        let tail = tail.len() - tail.trim_start_matches(['"', '”', '“', ' ', '\t']).len();
        match (label, ByteSpan::new(start, close)) {
            (Some(label), Some(quote)) => (close + tail + 1, MarkerKind::Quoted { label, quote }),
            _ => (
                close + tail + 1,
                MarkerKind::Malformed("has a number that no item can have"),
            ),
        }
    }

    fn labels(&self, at: usize, end: usize) -> (usize, MarkerKind) {
        let inside = self.rest(at + 1);
        // The limit is long enough for any list that a person would write.
        let close = inside
            .bytes()
            .take(512)
            .position(|b| !(b.is_ascii_alphanumeric() || b", ;".contains(&b)));
        let Some(close) = close.filter(|c| inside.as_bytes().get(*c) == Some(&b']')) else {
            return (
                end,
                MarkerKind::Malformed("is not closed by `]` directly after its number"),
            );
        };
        let parts = inside
            .get(..close)
            .unwrap_or("")
            .split([',', ';'])
            .map(|p| p.trim().parse::<Label>());
        let kind = match parts.collect::<Result<Vec<_>, _>>() {
            Ok(labels) => MarkerKind::Labels(labels),
            Err(_) => MarkerKind::Malformed("is not a list of labels as `[E1, E2]`"),
        };
        (at + 1 + close + 1, kind)
    }

    /// Recognises `[M1]` in any disguise. Memory has labels too, which a reader could mistake for a
    /// source.
    fn memory(&self, at: usize, after: usize) -> Option<(usize, MarkerKind)> {
        let mut end = after;
        for digits in 0..4 {
            let (c, next) = next_visible(self.text, end)?;
            end = next;
            if c == ']' && digits > 0 {
                let why = "names a memory, and memory is not evidence";
                let other = self.is_index(at) || self.is_link(at, end);
                return (!other).then_some((end, MarkerKind::LabelLookalike(why)));
            }
            if !c.is_numeric() {
                return None;
            }
        }
        None
    }

    /// Recognises text that looks like `[E3]` but is written differently.
    fn disguised_label(&self, digits_end: usize) -> Option<(usize, MarkerKind)> {
        let mut end = digits_end;
        // A label has at most this many more characters.
        for _ in 0..20 {
            let (c, next) = next_visible(self.text, end)?;
            if c == ']' || c == '†' {
                return Some((next, MarkerKind::LabelLookalike("is not written as `[E1]`")));
            }
            if !(c.is_numeric() || matches!(c, ',' | ';' | ':' | 'e')) {
                return None;
            }
            end = next;
        }
        None
    }

    /// Parses `[9]`, `[1, 2]`, `[3-5]` or `【9†source】` where a claim could end.
    fn number(&self, at: usize, inside: usize) -> Option<(usize, MarkerKind)> {
        let mut end = inside;
        let mut digits = 0;
        let mut dagger = false;
        loop {
            let (c, next) = next_visible(self.text, end)?;
            end = next;
            match c {
                ']' => break,
                _ if dagger && end - at < 64 => {}
                '†' | '‡' => dagger = true,
                d if d.is_numeric() && digits < 12 => digits += 1,
                ',' | ';' | '-' | '–' | '—' => {}
                _ => return None,
            }
        }
        let raw = self.text.get(at..end)?;
        if !raw.is_ascii() {
            return Some((end, MarkerKind::LabelLookalike("is not written as `[E1]`")));
        }
        if !raw.starts_with('[')
            || self.is_index(at)
            || self.is_link(at, end)
            || !self.ends_a_claim(end)
        {
            return None;
        }
        Some((end, MarkerKind::Number))
    }

    /// Whether the bracket at `at` is an index after a name: `a[1]`, `row_2[0]`, `f(x)[1]`. After
    /// an ordinary word or a number it is a citation marker without a space.
    fn is_index(&self, at: usize) -> bool {
        if self.rest(at).starts_with("[0]") {
            return true;
        }
        let before = self.text.get(..at).unwrap_or("");
        let word: String = before
            .chars()
            .rev()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ')'))
            .take(24)
            .collect();
        let Some(nearest) = word.chars().next() else {
            return false;
        };
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let odd = word.contains(['_', '$', ')'])
            || word
                .chars()
                .rev()
                .skip(1)
                .any(|c| c.is_numeric() || c.is_uppercase());
        (nearest.is_alphabetic() || matches!(nearest, '_' | '$' | ')'))
            && letters > 0
            && (letters <= 4 || odd)
    }

    /// Whether the bracket is a link: `[9](address)`, `[9]: address` at the start of a line,
    /// `[[9]]`.
    fn is_link(&self, at: usize, end: usize) -> bool {
        let line_start = self
            .text
            .get(..at)
            .is_some_and(|b| b.trim_end_matches([' ', '>']).ends_with('\n') || b.is_empty());
        let wiki = at.checked_sub(1).and_then(|i| self.text.as_bytes().get(i)) == Some(&b'[')
            && self.rest(end).starts_with(']');
        self.rest(end).starts_with('(') || self.rest(end).starts_with(':') && line_start || wiki
    }

    /// Whether the clause ends at `end`: only closing marks, other markers and punctuation follow.
    fn ends_a_claim(&self, end: usize) -> bool {
        let rest = self.rest(end);
        let rest = rest.trim_start_matches([')', '*', '_', '"', '”', '\'', ' ', '\t']);
        rest.chars().next().is_none_or(|c| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '[' | '\n' | '\r' | '|' | '<' | '。' | '，' | '、' | '！' | '？' | '【'))
            // After a full stop, the marker belongs to the previous sentence, whatever follows.
            || self.text.get(..end).and_then(|b| b.rfind('[')).and_then(|open| self.text.get(..open)).is_some_and(|b| {
                b.trim_end().ends_with(['.', '!', '?', '"', '”'])
            })
    }
}

/// The next quote mark that is followed, after blanks, by `]`.
fn closing_quote(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut at = from;
    for piece in rest.split_inclusive(']') {
        let end = at + piece.len();
        if let Some(body) = piece.strip_suffix(']') {
            let body = body.trim_end_matches([' ', '\t']);
            if let Some(mark) = body
                .chars()
                .next_back()
                .filter(|c| matches!(c, '"' | '”' | '“'))
            {
                return Some(at + body.len() - mark.len_utf8());
            }
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn kinds(text: &str) -> Vec<String> {
        scan_markers(text)
            .into_iter()
            .map(|m| {
                let what = match m.kind {
                    MarkerKind::Labels(l) => {
                        l.iter().map(Label::to_string).collect::<Vec<_>>().join("+")
                    }
                    MarkerKind::Quoted { label, quote } => {
                        format!("{label}={}", &text[quote.start()..quote.end()])
                    }
                    MarkerKind::Source(raw) => format!("source {}", raw.path),
                    MarkerKind::Number => "number".into(),
                    MarkerKind::Malformed(_) => "malformed".into(),
                    MarkerKind::SourceLookalike(_) => "like source".into(),
                    MarkerKind::LabelLookalike(_) => "like label".into(),
                };
                format!("{what}@{}", &text[m.span.start()..m.span.end()])
            })
            .collect()
    }

    fn one(text: &str) -> String {
        let found = kinds(text);
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        found[0].split('@').next().unwrap().to_owned()
    }

    #[test]
    fn proper_markers_are_read() {
        assert_eq!(
            kinds("A [E1]. B.[E2][E12] C"),
            ["E1@[E1]", "E2@[E2]", "E12@[E12]"]
        );
        assert_eq!(kinds("A [E1, E2; E3]."), ["E1+E2+E3@[E1, E2; E3]"]);
        assert_eq!(
            kinds("A [E3: \"the words\"]."),
            ["E3=the words@[E3: \"the words\"]"]
        );
        assert_eq!(
            kinds("[E3: “a \"b\" [c] d”]"),
            ["E3=a \"b\" [c] d@[E3: “a \"b\" [c] d”]"]
        );
        let full = format!("[source: a b.md#H1: X > H2: Y | {KEY}]");
        assert_eq!(
            kinds(&format!("A {full}.")),
            [format!("source a b.md@{full}")]
        );
    }

    #[test]
    fn w4_c31_every_disguise_of_a_source_marker_is_seen() {
        for text in [
            "[Source: a.md | k]",
            "[ source: a.md | k]",
            "(source: a.md)",
            "{source: a.md}",
            "［source: a.md］",
            "【source: a.md】",
            "「ｓｏｕｒｃｅ：a.md」",
            "[sources: a.md]",
            "[source 3]",
            "[SOURCE:a.md]",
            "[s\u{200b}ource: a.md]",
            "[\u{202e}source: a.md]",
            "[sou\nrce: a.md]",
            "[ѕource: a.md]",
            "%5Bsource: a.md%5D",
            "&#91;source: a.md]",
            "\\[source: a.md\\]",
            "(ѕοurсе∶ a.md)",
        ] {
            assert_eq!(one(text), "like source", "{text}");
        }
        let upper = format!("[source: a.md | {}]", KEY.to_uppercase());
        let cyrillic = format!("[source: a.md | {}]", KEY.replace('a', "а"));
        let nested = format!("[[source: a.md | {KEY}]]");
        for text in [upper, cyrillic, nested] {
            assert_eq!(one(&text), "like source", "{text}");
        }
    }

    #[test]
    fn c31_a_marker_that_is_not_finished_is_malformed() {
        for text in [
            "[source: a.md",
            "[source: a.md]",
            "[source:]",
            "[source: a.md | 00ff]",
            "[E1",
            "[E1: words]",
            "[E1: \"words]",
            "[E01]",
            "[E0]",
            "[E1 and more]",
            "[E1, x]",
            "[E99999999999999999999]",
        ] {
            assert_eq!(one(text), "malformed", "{text}");
        }
        assert_eq!(
            one(&format!("[source: a.md#H1: A\nB | {KEY}]")),
            "malformed"
        );
        let nested = format!("[source: a [source: b.md#H1: B | {KEY}] | {KEY}]");
        assert!(
            kinds(&nested).len() == 1,
            "one citation whose source has an odd name: L1 refuses it"
        );
    }

    #[test]
    fn c31_disguised_labels_are_seen() {
        for text in [
            "【E1】",
            "［Ｅ１］",
            "[Е1]",
            "[E１]",
            "[e1]",
            "[ E1 ]",
            "[E\u{200b}1]",
            "[E 1]",
            "\\[E1\\]",
            "&#91;E1&#93;",
            "【E1†source】",
            "【9】",
            "[９]",
        ] {
            assert_eq!(one(text), "like label", "{text}");
        }
    }

    #[test]
    fn c02_a_bare_number_where_a_claim_ends_is_seen() {
        for text in [
            "X is 5 [9].",
            "X is 5. [9]",
            "X is 5.[9] Y",
            "X is 5[9].",
            "X is approved[9].",
            "- X [9]",
            "X [1, 2].",
            "X [3-5]",
            "| X [9] |",
            "(X [9]).",
        ] {
            assert_eq!(one(text), "number", "{text}");
        }
        assert_eq!(kinds("X is 5 [9][10].").len(), 2);
    }

    #[test]
    fn what_is_no_marker_is_left_alone() {
        for text in [
            "- [x] done",
            "- [ ] open",
            "[[E1]]",
            "[[E1|alias]]",
            "[[9]]",
            "[text](E1.md)",
            "[9](http://a.b)",
            "[^1]",
            "a[1]",
            "xs[12].",
            "f(x)[1]",
            "row_id[3]",
            "array[0]",
            "see [9] for more words",
            "[1]: http://a.b",
            "[E2E tests]",
            "[Ex 1]",
            "(E1)",
            "resource: a",
            "the source: a.md",
            "[outsource: x]",
            "[source](http://a.b)",
            "<source src=\"a\">",
            "[...]",
            "100%",
            "[éa]",
            "[]",
            "[",
            "日本【重要】",
            "List<E1>",
            "[ERR_1]",
        ] {
            assert_eq!(kinds(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn c43_hostile_texts_take_linear_time() {
        for unit in [
            "[source:",
            "[E1: \"",
            "[[",
            "[E1",
            "[ s",
            "[\u{200b}",
            "%5B",
            "&#91;",
            "【",
            "[9",
            "(source",
            "[E1: \"x\" ",
            "[source: a | b\n",
            "]",
            "\"]",
        ] {
            scan_markers(&unit.repeat(1_000_000 / unit.len()));
        }
    }

    proptest! {
        #[test]
        fn scanning_never_panics_and_markers_are_in_order(
            text in any::<String>(), md in "[\\[\\]E13 :\"“”source|a.;,%5B&#91;\\\\(【】\n\u{200b}-]{0,80}"
        ) {
            for t in [&text, &md] {
                let mut end = 0;
                for marker in scan_markers(t) {
                    prop_assert!(marker.span.start() >= end && !marker.span.is_empty());
                    prop_assert!(t.get(marker.span.start()..marker.span.end()).is_some());
                    end = marker.span.end();
                }
            }
        }
    }
}
