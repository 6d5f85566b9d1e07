//! Turns text into terms, in the same way for indexing and for queries.
//!
//! Analysis is a large share of the cost of indexing, so one pass over a text yields all forms:
//! each word as it is (*exact*: NFKC, lower case) and as its stem (*stem*: accents folded, Snowball
//! stemmer of its script); identifiers, versions, hyphenated words and paths both whole and in
//! parts; scripts written without spaces as single characters (exact) and as pairs (stem).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::Language;
use super::scan::{prefix, skip};
use super::script::{is_hangul, is_unspaced};
use super::stem::{LocalStems, Stems};

/// Maximum length of a term in bytes. Longer terms are truncated (at a character boundary), both in
/// the index and in queries, so that an over-long token is still found.
pub const MAX_TERM_BYTES: usize = 96;

/// Maximum length in bytes of a path that is also indexed as a whole. Longer ones would fill the
/// dictionary, and nobody types them; they are only split into names and words.
const MAX_PATH_BYTES: usize = 32;

/// Maximum length in bytes of a run whose stems are cached. Longer runs rarely occur twice.
const MAX_CACHED_RUN: usize = 32;

/// The cache of runs is cleared when it has more than this, which bounds memory for any input.
const MAX_CACHED_RUNS: usize = 30_000;

/// The separators at which a run is split, from the outside in: a path into names, a name into
/// terms, a term into words. Words are also split at changes of case.
const LEVELS: [&[char]; 3] = [&['/'], &['.', ':', '@', '&'], &['-', '_', '\'']];

/// One form produced by the analysis of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A compound as a whole, at the position of the first part, which follows. With `joined`, its
    /// parts have no separators left (`email`, `getusername`), so it may occur elsewhere as a word.
    Whole {
        /// Folded, not stemmed.
        exact: &'a str,
        /// Folded and stemmed.
        stem: &'a str,
        /// Whether its parts have no separators left.
        joined: bool,
    },
    /// A word; takes the next position.
    Word {
        /// Folded, not stemmed.
        exact: &'a str,
        /// Folded and stemmed.
        stem: &'a str,
        /// Whether the word is so common that it says little.
        stop: bool,
        /// Whether it belongs to the last [`Token::Whole`].
        part: bool,
    },
    /// A character of a script written without spaces; takes the next position.
    Char {
        /// The character.
        text: &'a str,
        /// Whether it has no neighbour.
        alone: bool,
    },
    /// Two adjacent characters of such a script, at the position of the second.
    Pair(&'a str),
}

/// Analyses texts, with a cache, so one analyzer should be used for many texts.
#[derive(Default)]
pub struct Analyzer {
    stems: Stems,
    local_stems: LocalStems,
    /// The run being analysed, if it had to be normalised.
    normal: String,
    /// A compound without connectors.
    whole: String,
    lower: String,
    pieces: Vec<RunPiece>,
    /// Run → the stems of its words that are not stop words, each followed by a line feed.
    content_stems: HashMap<Box<str>, Box<str>, RandomState>,
}

/// A part of a run without connectors: `start..end` in bytes.
#[derive(Clone, Copy)]
struct RunPiece {
    start: usize,
    end: usize,
    kind: PieceKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    /// Begins after a connector, or at the start of the run.
    Word,
    /// Begins at a change of case within a word (`camelCase`).
    Camel,
    /// Text in a script written without spaces.
    Unspaced,
}

impl Analyzer {
    /// Passes every token of `text` to `emit`, in order.
    pub fn analyze(&mut self, text: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let mut rest = text;
        while let Some((run, after)) = next_run(rest) {
            self.run(run, emit);
            rest = after;
        }
    }

    /// Passes the stem of every word of `text` that is not a stop word to `take`, in order: those of
    /// [`Token::Word`]. Running text consists mostly of the same few thousand runs, so each run is
    /// analysed once.
    pub fn each_content_stem(&mut self, text: &str, take: &mut dyn FnMut(&str)) {
        let mut rest = text;
        while let Some((run, after)) = next_run(rest) {
            rest = after;
            if let Some(stems) = self.content_stems.get(run) {
                each_line(stems, take);
                continue;
            }
            let stems = self.content_stems_of(run);
            each_line(&stems, take);
            if run.len() <= MAX_CACHED_RUN {
                if self.content_stems.len() >= MAX_CACHED_RUNS {
                    self.content_stems.clear();
                }
                self.content_stems.insert(run.into(), stems.into());
            }
        }
    }

    fn content_stems_of(&mut self, run: &str) -> String {
        let mut stems = String::new();
        self.run(run, &mut |token| {
            if let Token::Word {
                stem, stop: false, ..
            } = token
            {
                stems.push_str(stem);
                stems.push('\n');
            }
        });
        stems
    }

    /// The stem of a word (lower case) in a language, with its mark.
    pub fn local(&mut self, language: Language, word: &str) -> &str {
        self.local_stems.term(language, word)
    }

    /// Passes every token of one run to `emit`: words and the connectors between them, as returned
    /// by [`next_run`].
    pub fn run(&mut self, run: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let mut normal = std::mem::take(&mut self.normal);
        let mut pieces = std::mem::take(&mut self.pieces);
        let run = if run.is_ascii() {
            run
        } else {
            normal.clear();
            normal.extend(
                run.chars()
                    .filter(|c| !is_joiner(*c))
                    .map(plain_connector)
                    .nfkc(),
            );
            normal.as_str()
        };
        pieces.clear();
        cut(run, &mut pieces);
        let suffix = &run[pieces.last().map_or(run.len(), |last| last.end)..];
        if !suffix.is_empty() {
            self.emit_whole(run, &pieces, suffix, emit);
        }
        self.emit_level(run, &pieces, 0, !suffix.is_empty(), emit);
        self.normal = normal;
        self.pieces = pieces;
    }

    /// Splits `pieces` at `level` of [`LEVELS`]: emits the whole, if there are several parts, then
    /// each part.
    fn emit_level(
        &mut self,
        run: &str,
        pieces: &[RunPiece],
        level: usize,
        part: bool,
        emit: &mut dyn FnMut(Token<'_>),
    ) {
        let Some(separators) = LEVELS.get(level) else {
            for word in pieces.chunk_by(|_, next| next.kind == PieceKind::Camel) {
                self.emit_humps(run, word, part, emit);
            }
            return;
        };
        let together = |a: &RunPiece, b: &RunPiece| !run[a.end..b.start].contains(*separators);
        let several = pieces.chunk_by(together).nth(1).is_some();
        let length = pieces.last().map_or(0, |last| last.end)
            - pieces.first().map_or(0, |first| first.start);
        let whole = several && spaced(pieces) && (level > 0 || length <= MAX_PATH_BYTES);
        if whole {
            self.emit_whole(run, pieces, "", emit);
        }
        for group in pieces.chunk_by(together) {
            self.emit_level(run, group, level + 1, part || whole, emit);
        }
    }

    fn emit_humps(
        &mut self,
        run: &str,
        word: &[RunPiece],
        part: bool,
        emit: &mut dyn FnMut(Token<'_>),
    ) {
        if word.len() > 1 {
            self.emit_whole(run, word, "", emit);
        }
        for piece in word {
            let text = &run[piece.start..piece.end];
            match piece.kind {
                PieceKind::Unspaced => emit_unspaced(text, emit),
                PieceKind::Word | PieceKind::Camel => {
                    self.emit_word(text, part || word.len() > 1, emit);
                }
            }
        }
    }

    fn emit_word(&mut self, word: &str, part: bool, emit: &mut dyn FnMut(Token<'_>)) {
        lower_into(&mut self.lower, word);
        let exact = prefix(&self.lower, MAX_TERM_BYTES);
        let (stem, stop) = self.stems.get(exact);
        emit(Token::Word {
            exact,
            stem,
            stop,
            part,
        });
    }

    /// The whole of `pieces` and `suffix`: hyphens, underscores and camel-case boundaries between
    /// letters disappear (`e-mail` = `email`); the separators of a version, a date, a path or a
    /// name do not.
    fn emit_whole(
        &mut self,
        run: &str,
        pieces: &[RunPiece],
        suffix: &str,
        emit: &mut dyn FnMut(Token<'_>),
    ) {
        let Some(mut end) = pieces.first().map(|first| first.start) else {
            return;
        };
        let mut whole = std::mem::take(&mut self.whole);
        whole.clear();
        let mut joined = true;
        for piece in pieces {
            for c in run[end..piece.start].chars() {
                let keep = match c {
                    '-' | '_' => digits_meet(run, end, piece.start),
                    '\\' => false,
                    _ => true,
                };
                whole.extend(keep.then_some(c));
                joined &= !keep;
            }
            whole.push_str(&run[piece.start..piece.end]);
            end = piece.end;
        }
        whole.push_str(suffix);
        lower_into(&mut self.lower, &whole);
        let exact = prefix(&self.lower, MAX_TERM_BYTES);
        let (stem, _) = self.stems.get(exact);
        emit(Token::Whole {
            exact,
            stem,
            joined,
        });
        self.whole = whole;
    }
}

fn each_line(lines: &str, take: &mut dyn FnMut(&str)) {
    for line in lines.split_terminator('\n') {
        take(line);
    }
}

/// Whether the parts before and after a separator meet with digits on both sides.
fn digits_meet(run: &str, before: usize, after: usize) -> bool {
    run[..before].ends_with(|c: char| c.is_ascii_digit())
        && run[after..].starts_with(|c: char| c.is_ascii_digit())
}

fn spaced(pieces: &[RunPiece]) -> bool {
    pieces.iter().all(|piece| piece.kind != PieceKind::Unspaced)
}

fn emit_unspaced(text: &str, emit: &mut dyn FnMut(Token<'_>)) {
    let mut before: Option<usize> = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        emit(Token::Char {
            text: &text[at..end],
            alone: end == text.len() && before.is_none(),
        });
        if let Some(before) = before {
            emit(Token::Pair(&text[before..end]));
        }
        before = Some(at);
    }
}

/// The first run of `text` (words joined by single connectors) and the text after it.
pub fn next_run(text: &str) -> Option<(&str, &str)> {
    let start = skip(text, 0, |c| !c.is_alphanumeric());
    if start == text.len() {
        return None;
    }
    let mut end = start;
    loop {
        end = skip(text, end, |c| is_word(c) || is_joiner(c));
        // Most runs end here: a blank is neither connector nor suffix.
        if matches!(text.as_bytes().get(end), Some(b' ' | b'\n')) {
            return Some(text[start..].split_at(end - start));
        }
        match connector(text, end) {
            0 => break,
            length => end += length,
        }
    }
    end += suffix(&text[start..], end - start);
    Some((&text[start..end], &text[end..]))
}

/// The number of connector bytes at `at`, between two words; 0 where the run ends.
fn connector(text: &str, at: usize) -> usize {
    let mut after = text[at..].chars();
    let Some(c) = after.next() else { return 0 };
    let two = matches!(
        (c, after.as_str().as_bytes().first()),
        (':', Some(b':')) | ('\\', Some(b'_'))
    );
    let length = if two { 2 } else { c.len_utf8() };
    let Some(next) = text[at + length..].chars().next() else {
        return 0;
    };
    let joins = match c {
        _ if two => true,
        ':' => next.is_ascii_digit() && text[..at].ends_with(|c: char| c.is_ascii_digit()),
        '_' | '-' | '.' | '/' | '@' | '&' | '\'' | '\u{2019}' | '\u{2010}' | '\u{2011}' => true,
        _ => false,
    };
    if joins && next.is_alphanumeric() {
        length
    } else {
        0
    }
}

/// Length in bytes of `++` or `#` directly after a name of letters (`C++`, `F#`), which belongs to
/// the name.
fn suffix(run_and_rest: &str, end: usize) -> usize {
    let (run, rest) = run_and_rest.split_at(end);
    let length = if rest.starts_with("++") {
        2
    } else if rest.starts_with('#') {
        1
    } else {
        return 0;
    };
    let named = run.bytes().all(|b| b.is_ascii_alphabetic());
    let free = !rest[length..].starts_with(|c: char| is_word(c) || matches!(c, '+' | '#'));
    if named && free { length } else { 0 }
}

/// Splits a run at connectors, at changes of case and between scripts with and without spaces.
fn cut(run: &str, pieces: &mut Vec<RunPiece>) {
    let mut open: Option<RunPiece> = None;
    let mut before = [' ', ' ']; // the last two characters of the open piece
    let mut chars = run.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let in_word = is_word(c) || is_apostrophe(c) && elided(run, at);
        if !in_word {
            pieces.extend(open.take());
            before = [' ', ' '];
            continue;
        }
        let kind = match &open {
            _ if comes_in_pairs(c) => PieceKind::Unspaced,
            Some(piece) if piece.kind != PieceKind::Unspaced && hump(before, c, next) => {
                PieceKind::Camel
            }
            _ => PieceKind::Word,
        };
        let cut_here = match &open {
            None => true,
            Some(piece) => {
                kind == PieceKind::Camel
                    || (piece.kind == PieceKind::Unspaced) != (kind == PieceKind::Unspaced)
            }
        };
        if cut_here {
            pieces.extend(open.take());
            open = Some(RunPiece {
                start: at,
                end: at,
                kind,
            });
        }
        if let Some(piece) = &mut open {
            piece.end = at + c.len_utf8();
        }
        before = [before[1], c];
    }
    pieces.extend(open);
}

/// Whether a new part of a `camelCase` name begins at `c`: `userName`, `HTTPServer`; not `PDFs`.
fn hump(before: [char; 2], c: char, next: Option<char>) -> bool {
    if !c.is_uppercase() {
        return false;
    }
    if before[1].is_lowercase() || before[1].is_ascii_digit() && before[0].is_lowercase() {
        return true;
    }
    before[1].is_uppercase() && next.is_some_and(char::is_lowercase) && next != Some('s')
}

/// Whether the apostrophe at `at` comes before an English ending (`don't`, `user's`), so that both
/// are one word.
fn elided(run: &str, at: usize) -> bool {
    let mut after = run[at..].chars();
    after.next();
    let rest = after.as_str();
    let end = skip(rest, 0, is_word);
    ["s", "t", "d", "m", "re", "ve", "ll"]
        .iter()
        .any(|ending| rest[..end].eq_ignore_ascii_case(ending))
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        c.is_alphanumeric() || is_combining_mark(c)
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

/// Invisible characters inside words: soft hyphen, zero-width joiners. They are dropped.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}')
}

/// The ASCII form of a connector.
fn plain_connector(c: char) -> char {
    match c {
        '\u{2019}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        c => c,
    }
}

/// Whether `c` is indexed as single characters and pairs: scripts without blanks, and Hangul, whose
/// particles are attached to the word.
fn comes_in_pairs(c: char) -> bool {
    is_unspaced(c) || is_hangul(c)
}

fn lower_into(out: &mut String, text: &str) {
    out.clear();
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else {
        out.extend(
            text.chars()
                .flat_map(char::to_lowercase)
                .map(plain_connector),
        );
    }
}

/// Analyzers whose stems stay known from one text to the next.
static IDLE: Mutex<Vec<Analyzer>> = Mutex::new(Vec::new());

/// How many of them are kept.
const MOST_IDLE: usize = 4;

/// Passes an analyzer that may know the stems of earlier texts.
pub fn with_analyzer<T>(work: impl FnOnce(&mut Analyzer) -> T) -> T {
    let mut analyzer = idle_analyzers().pop().unwrap_or_default();
    let result = work(&mut analyzer);
    let mut idle = idle_analyzers();
    if idle.len() < MOST_IDLE {
        idle.push(analyzer);
    }
    result
}

fn idle_analyzers() -> MutexGuard<'static, Vec<Analyzer>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terms of `text` as in the search index: stems in order of appearance, without stop words
/// unless the text has no other words; ideographs and similar characters in pairs. Compounds yield
/// their parts.
pub fn terms(text: &str) -> Vec<String> {
    let (mut content, mut stops) = (Vec::new(), Vec::new());
    let mut take = |token: Token<'_>| match token {
        Token::Word {
            stem, stop: false, ..
        } => content.push(stem.to_owned()),
        Token::Word { stem, .. } => stops.push(stem.to_owned()),
        Token::Char { text, alone: true } | Token::Pair(text) => content.push(text.to_owned()),
        Token::Char { .. } | Token::Whole { .. } => {}
    };
    with_analyzer(|analyzer| analyzer.analyze(text, &mut take));
    if content.is_empty() { stops } else { content }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(text: &str) -> Vec<String> {
        forms(text).0
    }

    fn stems(text: &str) -> Vec<String> {
        forms(text).1
    }

    fn forms(text: &str) -> (Vec<String>, Vec<String>) {
        let (mut exacts, mut stems) = (Vec::new(), Vec::new());
        Analyzer::default().analyze(text, &mut |token| match token {
            Token::Whole {
                exact,
                stem,
                joined,
            } => {
                exacts.extend(joined.then(|| exact.to_owned()));
                stems.push(stem.to_owned());
            }
            Token::Word {
                exact, stem, stop, ..
            } => {
                exacts.push(exact.to_owned());
                stems.extend((!stop).then(|| stem.to_owned()));
            }
            Token::Char { text, .. } => exacts.push(text.to_owned()),
            Token::Pair(text) => stems.push(text.to_owned()),
        });
        (exacts, stems)
    }

    #[test]
    fn words_are_kept_as_they_stand_and_as_stems() {
        assert_eq!(
            exact("The Gardens' WATERING"),
            ["the", "gardens", "watering"]
        );
        assert_eq!(stems("The Gardens' WATERING"), ["garden", "water"]);
    }

    #[test]
    fn accents_are_folded_in_stems_only() {
        assert_eq!(
            forms("Café Straße naïve"),
            (
                vec!["café".into(), "straße".into(), "naïve".into()],
                vec!["cafe".into(), "strass".into(), "naiv".into()],
            )
        );
        assert_eq!(stems("ёлка Йод"), stems("елка йод"));
    }

    #[test]
    fn compatibility_forms_are_one() {
        assert_eq!(exact("ＡＢＣ １２ ﬁle"), exact("ABC 12 file"));
        assert_eq!(exact("cafe\u{301} soft\u{ad}ware"), exact("café software"));
    }

    #[test]
    fn compounds_come_whole_and_in_parts() {
        assert_eq!(stems("2.8.3"), ["2.8.3", "2", "8", "3"]);
        assert_eq!(stems("2024-05-01"), ["2024-05-01", "2024", "05", "01"]);
        assert_eq!(stems("e-mails"), ["email", "e", "mail"]);
        assert_eq!(
            stems("snake_case_name"),
            ["snakecasenam", "snake", "case", "name"]
        );
        assert_eq!(stems("snake\\_case"), ["snakecas", "snake", "case"]);
        assert_eq!(stems("getUserName"), ["getusernam", "get", "user", "name"]);
        assert_eq!(
            stems("HTTPServer PDFs"),
            ["httpserver", "http", "server", "pdfs"]
        );
        assert_eq!(stems("std::vector"), ["std::vector", "std", "vector"]);
        assert_eq!(
            stems("src/lexical/mod.rs"),
            ["src/lexical/mod.rs", "src", "lexic", "mod.rs", "mod", "rs"]
        );
        assert_eq!(
            stems("session_store.rs"),
            ["sessionstore.rs", "sessionstor", "session", "store", "rs"]
        );
        assert_eq!(
            stems("C++ F# TCP/IP"),
            ["c++", "c", "f#", "f", "tcp/ip", "tcp", "ip"]
        );
        assert_eq!(
            stems("don't user's l'homme"),
            ["don't", "user", "l'homm", "l", "homm"]
        );
        assert_eq!(stems("K4's K4\u{2019}s 1990s"), ["k4", "k4", "1990s"]);
    }

    #[test]
    fn scripts_without_spaces_come_in_characters_and_pairs() {
        assert_eq!(exact("黑豹队 x"), ["黑", "豹", "队", "x"]);
        assert_eq!(stems("黑豹队 x"), ["黑豹", "豹队", "x"]);
        assert_eq!(stems("第2天"), ["2"]);
        assert_eq!(stems("ﾃﾞｰﾀ"), stems("データ"));
    }

    #[test]
    fn an_over_long_token_is_cut_and_not_dropped() {
        let long = "ä".repeat(5_000);
        let [term] = &exact(&long)[..] else {
            panic!("one term")
        };
        assert_eq!(term.len(), MAX_TERM_BYTES);
    }

    #[test]
    fn a_text_of_connectors_and_marks_has_no_words() {
        assert!(exact("-- ... :: // ' _ # ++ @ & \u{200d} \u{301}").is_empty());
    }

    /// The stems of the content words of `text`, without the cache.
    fn content_stems(text: &str) -> Vec<String> {
        let mut stems = Vec::new();
        Analyzer::default().analyze(text, &mut |token| {
            if let Token::Word {
                stem, stop: false, ..
            } = token
            {
                stems.push(stem.to_owned());
            }
        });
        stems
    }

    proptest! {
        #[test]
        fn cached_stems_are_those_that_would_be_computed(texts in prop::collection::vec("[aBt9é水_./:'@&\\\\+# -]{0,24}", 0..6)) {
            let mut analyzer = Analyzer::default();
            for text in texts.iter().chain(&texts) {
                let mut stems = Vec::new();
                analyzer.each_content_stem(text, &mut |stem| stems.push(stem.to_owned()));
                prop_assert_eq!(stems, content_stems(text));
            }
        }

        #[test]
        fn any_text_gives_clean_terms(text in any::<String>()) {
            let (exact, stems) = forms(&text);
            for term in exact.iter().chain(&stems) {
                prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES + 8);
                prop_assert!(!term.chars().any(char::is_control));
            }
        }

        #[test]
        fn any_mixture_of_connectors_gives_clean_terms(text in "[aB9é水_./:'@&\\\\+# -]{0,24}") {
            for term in forms(&text).1 {
                prop_assert!(!term.is_empty());
            }
        }
    }
}
