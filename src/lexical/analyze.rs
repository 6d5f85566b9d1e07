//! Text → terms, the same way for what is indexed and for what is asked.
//!
//! One pass over a text yields every form at once, because analysing is a large share of the cost of indexing:
//! each word as it stands (*exact*: NFKC, lower case) and as its stem (*stem*: accents folded, Snowball stemmer of
//! its script); identifiers, versions, hyphenated words and paths whole and in parts; scripts written without spaces
//! in single characters (exact) and in pairs (stem).

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::stem::Stems;

/// Longer terms are cut to this many bytes (at a character boundary), both in the index and in queries, so that an
/// over-long token is still found.
pub(super) const MAX_TERM_BYTES: usize = 96;

/// Longer paths are given only in names and words: as wholes they would fill the dictionary and nobody types them.
const MAX_PATH_BYTES: usize = 32;

/// One form that the analysis of a text yields.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A compound as a whole; stands at the position of the first part, which follows. `joined`: nothing stands between
    /// its parts any more (`email`, `getusername`), so that it may be a word elsewhere.
    Whole { exact: &'a str, stem: &'a str, joined: bool },
    /// A word; takes the next position. `part`: it belongs to the last [`Token::Whole`].
    Word { exact: &'a str, stem: &'a str, stop: bool, part: bool },
    /// A character of a script written without spaces; takes the next position. `alone`: it has no neighbour.
    Char { text: &'a str, alone: bool },
    /// Two neighbouring characters of such a script, at the position of the second.
    Pair(&'a str),
}

/// Analyses texts; keeps the stems it has seen, so one analyzer should be used for many texts.
#[derive(Default)]
pub(super) struct Analyzer {
    stems: Stems,
    /// The run being analysed, when it had to be normalised.
    normal: String,
    lower: String,
    pieces: Vec<Piece>,
}

/// A stretch of a run without connectors: `start..end` in bytes.
#[derive(Clone, Copy)]
struct Piece {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Begins after a connector, or at the start of the run.
    Word,
    /// Begins at a change of case within a word (`camelCase`).
    Camel,
    /// Of a script written without spaces.
    Unspaced,
}

impl Analyzer {
    /// Hands every token of `text` to `emit`, in order.
    pub(super) fn analyze(&mut self, text: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let mut rest = text;
        while let Some((run, after)) = next_run(rest) {
            self.run(run, emit);
            rest = after;
        }
    }

    /// One run: words and the connectors between them.
    fn run(&mut self, run: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let mut normal = std::mem::take(&mut self.normal);
        let mut pieces = std::mem::take(&mut self.pieces);
        let run = if run.is_ascii() {
            run
        } else {
            normal.clear();
            normal.extend(run.chars().filter(|c| !is_joiner(*c)).map(plain_connector).nfkc());
            normal.as_str()
        };
        pieces.clear();
        cut(run, &mut pieces);
        self.emit_pieces(run, &pieces, emit);
        self.normal = normal;
        self.pieces = pieces;
    }

    /// A run is cut at slashes into names, a name into words, a word into humps; each is given whole and in parts.
    fn emit_pieces(&mut self, run: &str, pieces: &[Piece], emit: &mut dyn FnMut(Token<'_>)) {
        let paths = run.contains('/') && run.len() <= MAX_PATH_BYTES && spaced(pieces);
        if paths {
            self.emit_whole(run, pieces, emit);
        }
        let mut rest = pieces;
        while let Some(first) = rest.first() {
            let name = run[first.start..].find('/').map_or(run.len(), |slash| first.start + slash);
            let (group, after) = rest.split_at(rest.partition_point(|piece| piece.start < name));
            self.emit_name(&run[..name], group, paths, emit);
            rest = after;
        }
    }

    /// `run` ends with the name; `part`: it belongs to a path that was emitted whole.
    fn emit_name(&mut self, run: &str, pieces: &[Piece], part: bool, emit: &mut dyn FnMut(Token<'_>)) {
        let suffix = run.ends_with(['+', '#']);
        let words = pieces.iter().filter(|p| p.kind == Kind::Word).count();
        let compound = spaced(pieces) && (words > 1 || suffix);
        if compound {
            self.emit_whole(run, pieces, emit);
        }
        let mut rest = pieces;
        while let Some(first) = rest.first() {
            let humps = rest.iter().skip(1).take_while(|p| p.kind == Kind::Camel).count();
            let (word, after) = rest.split_at(humps + 1);
            if first.kind == Kind::Unspaced {
                emit_unspaced(&run[first.start..first.end], emit);
            } else {
                let end = first.end;
                if humps > 0 {
                    self.emit_whole(&run[..word.last().map_or(end, |last| last.end)], word, emit);
                }
                for piece in word {
                    self.emit_word(&run[piece.start..piece.end], part || compound || humps > 0, emit);
                }
            }
            rest = after;
        }
    }

    fn emit_word(&mut self, word: &str, part: bool, emit: &mut dyn FnMut(Token<'_>)) {
        lower_into(&mut self.lower, word);
        let exact = cap(&self.lower);
        let (stem, stop) = self.stems.get(exact);
        emit(Token::Word { exact, stem, stop, part });
    }

    /// The whole of `pieces`, which end `run` but for a suffix: hyphens, underscores and humps vanish between letters
    /// (`e-mail` = `email`), what gives a version, a date, a path or a name its sense stays.
    fn emit_whole(&mut self, run: &str, pieces: &[Piece], emit: &mut dyn FnMut(Token<'_>)) {
        let Some(mut end) = pieces.first().map(|first| first.start) else { return };
        let digits_meet = |before: usize, after: usize| {
            run[..before].ends_with(|c: char| c.is_ascii_digit())
                && run[after..].starts_with(|c: char| c.is_ascii_digit())
        };
        let mut whole = String::with_capacity(run.len() - end);
        let mut joined = true;
        for piece in pieces {
            for c in run[end..piece.start].chars() {
                let keep = match c {
                    '-' | '_' => digits_meet(end, piece.start),
                    '\\' => false,
                    _ => true,
                };
                whole.extend(keep.then_some(c));
                joined &= !keep;
            }
            whole.push_str(&run[piece.start..piece.end]);
            end = piece.end;
        }
        whole.push_str(&run[end..]);
        lower_into(&mut self.lower, &whole);
        let exact = cap(&self.lower);
        let (stem, _) = self.stems.get(exact);
        emit(Token::Whole { exact, stem, joined });
    }
}

fn spaced(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| piece.kind != Kind::Unspaced)
}

fn emit_unspaced(text: &str, emit: &mut dyn FnMut(Token<'_>)) {
    let mut before: Option<usize> = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        emit(Token::Char { text: &text[at..end], alone: end == text.len() && before.is_none() });
        if let Some(before) = before {
            emit(Token::Pair(&text[before..end]));
        }
        before = Some(at);
    }
}

/// The first run of `text` (words joined by single connectors) and what follows it.
fn next_run(text: &str) -> Option<(&str, &str)> {
    let start = skip(text, 0, |c| !is_word(c));
    if start == text.len() {
        return None;
    }
    let mut end = start;
    loop {
        end = skip(text, end, |c| is_word(c) || is_joiner(c));
        match connector(text, end) {
            0 => break,
            length => end += length,
        }
    }
    end += suffix(&text[start..], end - start);
    Some((&text[start..end], &text[end..]))
}

/// The first position from `at` on whose character fails `test`.
fn skip(text: &str, mut at: usize, test: impl Fn(char) -> bool) -> usize {
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

/// How many bytes of connector stand at `at`, between two words; 0 where the run ends.
fn connector(text: &str, at: usize) -> usize {
    let mut after = text[at..].chars();
    let Some(c) = after.next() else { return 0 };
    let two = matches!((c, after.as_str().as_bytes().first()), (':', Some(b':')) | ('\\', Some(b'_')));
    let length = if two { 2 } else { c.len_utf8() };
    let Some(next) = text[at + length..].chars().next() else { return 0 };
    let joins = match c {
        _ if two => true,
        ':' => next.is_ascii_digit() && text[..at].ends_with(|c: char| c.is_ascii_digit()),
        '_' | '-' | '.' | '/' | '@' | '&' | '\'' | '\u{2019}' | '\u{2010}' | '\u{2011}' => true,
        _ => false,
    };
    if joins && is_word(next) { length } else { 0 }
}

/// `++` or `#` right after a name of letters (`C++`, `F#`) belongs to it. Length in bytes.
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

/// Cuts a run at connectors, at changes of case and between scripts with and without spaces.
fn cut(run: &str, pieces: &mut Vec<Piece>) {
    let mut open: Option<Piece> = None;
    let mut before = [' ', ' ']; // the last two characters of the open piece
    let mut chars = run.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        if !is_word(c) && !(is_apostrophe(c) && elided(run, at)) {
            pieces.extend(open.take());
            before = [' ', ' '];
            continue;
        }
        let kind = match &open {
            _ if is_unspaced(c) => Kind::Unspaced,
            Some(piece) if piece.kind != Kind::Unspaced && hump(before, c, next) => Kind::Camel,
            _ => Kind::Word,
        };
        let cut_here = match &open {
            None => true,
            Some(piece) => kind == Kind::Camel || (piece.kind == Kind::Unspaced) != (kind == Kind::Unspaced),
        };
        if cut_here {
            pieces.extend(open.take());
            open = Some(Piece { start: at, end: at, kind });
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

/// Whether the apostrophe at `at` stands before an English ending (`don't`, `user's`), so that it joins one word.
fn elided(run: &str, at: usize) -> bool {
    let mut after = run[at..].chars();
    after.next();
    let rest = after.as_str();
    let end = skip(rest, 0, is_word);
    ["s", "t", "d", "m", "re", "ve", "ll"].iter().any(|ending| rest[..end].eq_ignore_ascii_case(ending))
}

fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() || is_combining_mark(c) }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

/// Invisible characters inside words: soft hyphen, zero-width joiners. They are dropped.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}')
}

/// Other spellings of a connector, as ASCII.
fn plain_connector(c: char) -> char {
    match c {
        '\u{2019}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        c => c,
    }
}

/// Scripts written without spaces, and Hangul, whose particles are glued to the word: Unicode blocks of Thai, Lao,
/// Myanmar, Khmer, kana, Bopomofo, Hangul and the ideographs.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3021..=0x3029
        | 0x3040..=0x318F | 0x31A0..=0x31BF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xA960..=0xA97F
        | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0x1B000..=0x1B16F | 0x20000..=0x3FFFF)
}

fn lower_into(out: &mut String, text: &str) {
    out.clear();
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else {
        out.extend(text.chars().flat_map(char::to_lowercase).map(plain_connector));
    }
}

fn cap(term: &str) -> &str {
    &term[..term.floor_char_boundary(MAX_TERM_BYTES)]
}

/// The two encoded forms of the texts of one entry, ready for the index, and their length.
#[derive(Default)]
pub(super) struct Encoded {
    /// See [`super::schema::Encoding`].
    pub(super) exact: String,
    pub(super) stems: String,
    /// Words that are not stop words, parts of compounds counted once each; characters of unspaced scripts.
    pub(super) length: u64,
    /// Leave out stems that stand in `exact` as well; whoever looks for a stem looks there too. Half of all words are
    /// their own stem, and indexing costs by the term.
    pub(super) terse: bool,
}

impl Encoded {
    /// Adds what `analyzer` makes of `text`.
    pub(super) fn add(&mut self, analyzer: &mut Analyzer, text: &str) {
        analyzer.analyze(text, &mut |token| self.push(&token));
    }

    /// Moves on by some positions, so that no phrase reaches over this place.
    pub(super) fn gap(&mut self) {
        self.exact.push('\n');
    }

    fn push(&mut self, token: &Token<'_>) {
        match *token {
            Token::Whole { exact, stem, joined } => {
                if joined {
                    self.exact.push('\t');
                    line(&mut self.exact, exact);
                }
                self.stem(stem, joined && stem == exact);
            }
            Token::Word { exact, stem, stop, .. } => {
                line(&mut self.exact, exact);
                if !stop {
                    self.stem(stem, stem == exact);
                    self.length += 1;
                }
            }
            Token::Char { text, .. } => {
                line(&mut self.exact, text);
                self.length += 1;
            }
            Token::Pair(text) => line(&mut self.stems, text),
        }
    }

    fn stem(&mut self, stem: &str, in_exact: bool) {
        if !(self.terse && in_exact) {
            line(&mut self.stems, stem);
        }
    }
}

fn line(out: &mut String, term: &str) {
    out.push_str(term);
    out.push('\n');
}
