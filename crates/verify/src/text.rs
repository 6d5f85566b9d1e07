//! Splits normalised text into words, with their stems, clauses and negations. Both sides of every
//! comparison are parsed by this code.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use local_agent_text::markdown::BlockRole;

use super::atoms::{digits_of_numeral, fraction_sign};
use super::checks::{Language, of_answer};
use super::tables::{Entry, Mood, Quantity, Role, Status, tables};

/// Stems as numbers; shared by all texts of one verification.
#[derive(Default)]
pub(crate) struct Lexicon {
    ids: HashMap<String, u32, RandomState>,
    stems: Vec<String>,
    /// For every stem: the number of its first letters, if it is long enough to be compared by
    /// them.
    alike: Vec<Option<u32>>,
    openings: HashMap<String, u32, RandomState>,
    words: HashMap<String, Known, RandomState>,
}

#[derive(Clone, Copy)]
struct Known {
    id: u32,
    entry: Option<&'static Entry>,
}

/// Words that mean a number when words are compared ("one" is too often a pronoun).
const NUMBERS: &[(&str, &str)] = &[
    ("zero", "0"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("third", "3"),
    ("fourth", "4"),
    ("fifth", "5"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("seventeen", "17"),
    ("eighteen", "18"),
    ("nineteen", "19"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
];

/// How many first letters two stems must share to be similar.
const ALIKE_LETTERS: usize = 5;

impl Lexicon {
    /// The number of a stem, or of a name that is compared as a whole; assigned if it is new.
    pub(crate) fn intern(&mut self, stem: &str) -> u32 {
        if let Some(id) = self.ids.get(stem) {
            return *id;
        }
        let id = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
        self.ids.insert(stem.to_owned(), id);
        self.stems.push(stem.to_owned());
        let opening: String = stem.chars().take(ALIKE_LETTERS).collect();
        let comparable = opening.chars().count() == ALIKE_LETTERS
            && !opening.starts_with(|c: char| c.is_ascii_digit());
        let next = u32::try_from(self.openings.len()).unwrap_or(u32::MAX);
        self.alike
            .push(comparable.then(|| *self.openings.entry(opening).or_insert(next)));
        id
    }

    /// The number of the first letters of a stem; stems with the same number are similar.
    pub(crate) fn alike(&self, id: u32) -> Option<u32> {
        self.alike.get(id as usize).copied().flatten()
    }

    fn word(&mut self, lower: &str) -> Known {
        if let Some(known) = self.words.get(lower) {
            return *known;
        }
        let number = NUMBERS.iter().find(|(word, _)| *word == lower);
        let digits = number.map(|(_, digits)| (*digits).to_owned());
        let digits = digits.or_else(|| digits_of_numeral(lower));
        let stem = digits.unwrap_or_else(|| tables().stem_of(lower));
        let known = Known {
            id: self.intern(&stem),
            entry: tables().entry(lower, &stem),
        };
        self.words.insert(lower.to_owned(), known);
        known
    }

    /// A word in any case, or a number with its separators of thousands.
    fn word_as_written(&mut self, shown: &str) -> Known {
        if begins_with_digit(shown) && shown.contains([',', '\'']) {
            self.word(&shown.replace([',', '\''], ""))
        } else {
            self.word(&lower_case(shown))
        }
    }

    /// The stem behind an id.
    pub(crate) fn stem(&self, id: u32) -> &str {
        self.stems.get(id as usize).map_or("", String::as_str)
    }
}

/// One word or number.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    /// First byte in the normalised text.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// The stem.
    pub id: u32,
    /// Whether it begins with a digit, or is a number word.
    pub number: bool,
    /// Whether it begins with a capital letter.
    pub capital: bool,
    /// Whether it begins its sentence, or follows a colon, a bullet or an opening quote mark.
    pub first: bool,
    /// Which clause of the text.
    pub clause: u32,
    /// Whether an odd number of negations governs it.
    pub negated: bool,
    /// Whether it is the first content word after such a negation.
    pub head: bool,
    /// Whether it is "May", the month, and not the modal verb.
    month: bool,
    entry: Option<&'static Entry>,
}

impl Token {
    /// A copy of the token, negated as given; a negated content word is itself the head of the
    /// negation.
    pub(crate) fn with_negation(self, negated: bool) -> Self {
        Self {
            negated,
            head: self.is_content(),
            ..self
        }
    }

    /// Whether it has no content of its own.
    pub(crate) fn is_stop(&self) -> bool {
        // "gate B", "vitamin D": a letter used as a name.
        if self.capital && self.end - self.start == 1 && !self.first && !self.is_light() {
            return false;
        }
        self.entry.is_some_and(|e| e.stop)
            || (!self.number && self.end - self.start == 1 && !self.is_light())
    }

    /// Whether it has little content.
    pub(crate) fn is_light(&self) -> bool {
        self.entry.is_some_and(|e| e.light)
    }

    /// A noun, verb, adjective or number: neither stop nor light, and not a negation.
    pub(crate) fn is_content(&self) -> bool {
        !(self.is_stop() || self.is_light() || self.negates())
    }

    /// Whether it can be compared: a word with content, or a number.
    pub(crate) fn is_content_or_number(&self) -> bool {
        self.is_content() || self.number
    }

    /// Whether it negates what follows.
    pub(crate) fn negates(&self) -> bool {
        self.entry.is_some_and(|e| e.negates)
    }

    /// Whether it is a verb or noun that negates what follows.
    pub(crate) fn turns(&self) -> bool {
        self.entry.is_some_and(|e| e.turns)
    }

    /// Whether its opposite says the same with the two parties swapped.
    pub(crate) fn is_converse(&self) -> bool {
        self.entry.is_some_and(|e| e.converse)
    }

    /// Whether a number or a date may begin here.
    pub(crate) fn may_be_amount(&self) -> bool {
        self.number || self.entry.is_some_and(|e| e.amount)
    }

    /// Its quantity, if it is one.
    pub(crate) fn quantity(&self) -> Option<Quantity> {
        self.entry.and_then(|e| e.quantity)
    }

    /// Its mood, if it has one.
    pub(crate) fn mood(&self) -> Option<Mood> {
        self.entry.filter(|_| !self.month).and_then(|e| e.mood)
    }

    /// Its status, if it is one.
    pub(crate) fn status(&self) -> Option<Status> {
        self.entry.and_then(|e| e.status)
    }

    /// The pairs of opposites it is in.
    pub(crate) fn pairs(&self) -> &'static [(u16, bool)] {
        self.entry.map_or(&[], |e| e.pairs.as_slice())
    }

    /// Whether both are on the same side of a pair of opposites.
    pub(crate) fn is_on_one_side_with(&self, other: &Self) -> bool {
        let mut pairs = self.pairs().iter();
        pairs.any(|pair| other.pairs().contains(pair))
    }

    /// Whether the other is the opposite of it in one of its pairs.
    pub(crate) fn is_opposite_of(&self, other: &Self) -> bool {
        self.pairs()
            .iter()
            .any(|(n, side)| other.pairs().contains(&(*n, !side)))
    }

    /// Whether it has this role in a sentence.
    pub(crate) fn does(&self, role: Role) -> bool {
        self.entry.is_some_and(|e| e.roles.has(role))
    }

    /// Whether it cancels a negation before it.
    pub(crate) fn hollow(&self) -> bool {
        self.entry.is_some_and(|e| e.hollow)
    }
}

/// Where a sentence, cell row or line of code is in a normalised text, and in what kind of block.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    /// Bytes of the normalised text.
    pub bytes: Range<usize>,
    /// The kind of block.
    pub role: BlockRole,
    /// Which block of its text.
    pub block: usize,
}

/// One sentence: its bytes in the normalised text, and its tokens.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    /// Bytes of the normalised text.
    pub bytes: Range<usize>,
    /// Indices of tokens.
    pub tokens: Range<usize>,
    /// The kind of block that it is in.
    pub role: BlockRole,
    /// Which block of the text.
    pub block: usize,
}

/// A text as words.
#[derive(Default)]
pub(crate) struct Text {
    /// All tokens, in order.
    pub tokens: Vec<Token>,
    /// All sentences, in order.
    pub sentences: Vec<Sentence>,
}

impl Text {
    /// Reads `text` (normalised), cut into sentences at `cuts`.
    pub(crate) fn read(text: &str, cuts: &[Cut], lexicon: &mut Lexicon) -> Self {
        // In most languages a word and the blank after it take five bytes or more.
        let mut this = Self {
            tokens: Vec::with_capacity(text.len() / 5 + 1),
            sentences: Vec::with_capacity(cuts.len()),
        };
        let is_portuguese = looks_portuguese(text);
        for Cut { bytes, role, block } in cuts {
            let from = this.tokens.len();
            this.sentence(text, bytes.clone(), lexicon);
            if is_portuguese {
                let tokens = this.tokens.get_mut(from..).unwrap_or(&mut []);
                read_no_as_in(tokens, text, lexicon);
            }
            if this.tokens.len() > from {
                mark_negation(this.tokens.get_mut(from..).unwrap_or(&mut []), text);
                this.sentences.push(Sentence {
                    bytes: bytes.clone(),
                    tokens: from..this.tokens.len(),
                    role: *role,
                    block: *block,
                });
            }
        }
        this
    }

    /// The tokens of one sentence.
    pub(crate) fn of(&self, sentence: &Sentence) -> &[Token] {
        self.tokens.get(sentence.tokens.clone()).unwrap_or(&[])
    }

    fn sentence(&mut self, text: &str, bytes: Range<usize>, lexicon: &mut Lexicon) {
        let mut clause = self.tokens.last().map_or(0, |t| t.clause + 1);
        let mut first = true;
        let mut at = bytes.start;
        let body = text.get(..bytes.end).unwrap_or("");
        while let Some(c) = body.get(at..).and_then(|r| r.chars().next()) {
            if c.is_alphanumeric() {
                let end = word_end(body, at, c);
                self.push(body, at..end, (clause, first), lexicon);
                if matches!(
                    body.get(at..end),
                    Some("and" | "but" | "because" | "although" | "while" | "whereas" | "though")
                ) {
                    clause += 1;
                }
                first = false;
                at = end;
                continue;
            }
            let next = at + c.len_utf8();
            if matches!(
                c,
                ',' | ';'
                    | ':'
                    | '('
                    | ')'
                    | '—'
                    | '–'
                    | '|'
                    | '，'
                    | '；'
                    | '：'
                    | '、'
                    | '،'
                    | '؛'
            ) {
                clause += 1;
            }
            first |= matches!(c, ':' | '|' | '"' | '(' | '•' | '.' | '!' | '?')
                && !body
                    .get(next..)
                    .is_some_and(|r| r.starts_with(char::is_alphanumeric) && c == '.');
            at = next;
        }
    }

    /// Adds the word at `range`, or its parts: "5kg", "don't".
    fn push(
        &mut self,
        text: &str,
        range: Range<usize>,
        (clause, first): (u32, bool),
        lexicon: &mut Lexicon,
    ) {
        let word = text.get(range.clone()).unwrap_or("");
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.push_number(text, range, (clause, first), lexicon);
            return;
        }
        if word.starts_with(|c: char| fraction_sign(c).is_some()) {
            self.push_fraction(text, range, (clause, first), lexicon);
            return;
        }
        let Some(apostrophe) = word.find('\'') else {
            return self.push_token(text, range, (clause, first), lexicon);
        };
        let (stem, tail) = (
            word.get(..apostrophe).unwrap_or(""),
            word.get(apostrophe + 1..).unwrap_or(""),
        );
        if tail.eq_ignore_ascii_case("t") && stem.ends_with(['n', 'N']) {
            self.push_negated_verb(text, range, (stem, clause, first), lexicon);
            return;
        }
        let cut = range.start + apostrophe;
        self.push_token(text, range.start..cut, (clause, first), lexicon);
        if !(tail.eq_ignore_ascii_case("s") || tail.is_empty()) {
            self.push_token(text, cut + 1..range.end, (clause, false), lexicon);
        }
    }

    /// Adds a number and, unless it is an ordinal ending, what is written behind it: "5kg".
    fn push_number(
        &mut self,
        text: &str,
        range: Range<usize>,
        (clause, first): (u32, bool),
        lexicon: &mut Lexicon,
    ) {
        let word = text.get(range.clone()).unwrap_or("");
        let rest =
            word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\''));
        let cut = range.start + word.len() - rest.len();
        self.push_token(text, range.start..cut, (clause, first), lexicon);
        if !rest.is_empty() && !matches!(rest, "st" | "nd" | "rd" | "th" | "s") {
            self.push_fraction(text, cut..range.end, (clause, false), lexicon);
        }
    }

    /// Adds a word that may begin with a fraction in one character: "½cup".
    fn push_fraction(
        &mut self,
        text: &str,
        range: Range<usize>,
        (clause, first): (u32, bool),
        lexicon: &mut Lexicon,
    ) {
        let word = text.get(range.clone()).unwrap_or("");
        let sign = word.chars().next().filter(|c| fraction_sign(*c).is_some());
        let cut = range.start + sign.map_or(0, char::len_utf8);
        if cut > range.start {
            self.push_token(text, range.start..cut, (clause, first), lexicon);
        }
        if cut < range.end {
            self.push_token(text, cut..range.end, (clause, false), lexicon);
        }
    }

    /// Adds "don't" as "do" and "not"; `stem` is what is before its apostrophe.
    fn push_negated_verb(
        &mut self,
        text: &str,
        range: Range<usize>,
        (stem, clause, first): (&str, u32, bool),
        lexicon: &mut Lexicon,
    ) {
        let keeps_its_n = stem.eq_ignore_ascii_case("can") || stem.eq_ignore_ascii_case("won");
        let cut = range.start + stem.len() - usize::from(!keeps_its_n);
        let verb = range.start..cut.max(range.start + 1);
        self.push_token(text, verb, (clause, first), lexicon);
        let negation = range.start + stem.len() - 1..range.end;
        self.push_token(text, negation, (clause, false), lexicon);
        if let Some(last) = self.tokens.last_mut() {
            let known = lexicon.word("not");
            (last.id, last.entry) = (known.id, known.entry);
        }
    }

    fn push_token(
        &mut self,
        text: &str,
        range: Range<usize>,
        (clause, first): (u32, bool),
        lexicon: &mut Lexicon,
    ) {
        let shown = text.get(range.clone()).unwrap_or("");
        let known = lexicon.word_as_written(shown);
        let before = self.tokens.last().map(|t| shown_token(t, text));
        self.tokens.push(Token {
            start: range.start,
            end: range.end,
            id: known.id,
            number: begins_with_digit(shown) || begins_with_digit(lexicon.stem(known.id)),
            capital: shown.starts_with(char::is_uppercase),
            first,
            clause,
            negated: false,
            head: false,
            month: shown == "May" && !first && before.is_some_and(comes_before_a_month),
            entry: known.entry,
        });
    }
}

/// Whether a text is Portuguese, where "no" means "in the".
fn looks_portuguese(text: &str) -> bool {
    const SIGNS: [&str; 5] = ["ã", "õ", " é ", " às ", " ao "];
    let mut signs = SIGNS.iter();
    !text.is_ascii() && signs.any(|sign| text.contains(sign))
        || of_answer(text) == Some(Language::Portuguese)
}

/// Makes every "no" a preposition.
fn read_no_as_in(tokens: &mut [Token], text: &str, lexicon: &mut Lexicon) {
    let preposition = lexicon.word("nos");
    for token in tokens {
        if shown_token(token, text).eq_ignore_ascii_case("no") {
            (token.id, token.entry) = (preposition.id, preposition.entry);
        }
    }
}

fn begins_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || fraction_sign(c).is_some())
}

/// A token as written.
fn shown_token<'t>(token: &Token, text: &'t str) -> &'t str {
    text.get(token.start..token.end).unwrap_or("")
}

/// Whether one of these tokens has this stem.
pub(crate) fn has_stem(tokens: &[Token], id: u32) -> bool {
    tokens.iter().any(|t| t.id == id)
}

/// Whether a capitalised word after `word` can be a month: "since May", "3 May".
fn comes_before_a_month(word: &str) -> bool {
    const WORDS: &[&str] = list!("text.words");
    word.starts_with(|c: char| c.is_ascii_digit()) || WORDS.contains(&&*lower_case(word))
}

/// `word` in lower case; most words already are, and are not copied.
pub(crate) fn lower_case(word: &str) -> Cow<'_, str> {
    match word
        .bytes()
        .find(|b| b.is_ascii_uppercase() || !b.is_ascii())
    {
        None => Cow::Borrowed(word),
        Some(_) if word.is_ascii() => Cow::Owned(word.to_ascii_lowercase()),
        Some(_) => Cow::Owned(word.to_lowercase()),
    }
}

/// Whether a letter is of a script without spaces.
fn is_word_alone(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Where the word that begins at `at` ends: letters and digits, apostrophes between letters,
/// separators between digits; each letter of a script without spaces is a separate word.
fn word_end(text: &str, at: usize, first: char) -> usize {
    let mut end = at + first.len_utf8();
    if is_word_alone(first) {
        return end;
    }
    let mut before = first;
    let mut apostrophes = 0;
    loop {
        // Most words are ASCII letters and digits, which always continue the word.
        while let Some(b) = text
            .as_bytes()
            .get(end)
            .filter(|b| b.is_ascii_alphanumeric())
        {
            before = char::from(*b);
            end += 1;
        }
        let Some(c) = text.get(end..).and_then(|r| r.chars().next()) else {
            break;
        };
        let next = text
            .get(end + c.len_utf8()..)
            .and_then(|r| r.chars().next());
        let joins = match c {
            '\'' if before.is_ascii_digit() => parts_thousands(text, end + 1),
            '\'' => {
                before.is_alphabetic() && next.is_some_and(char::is_alphabetic) && apostrophes == 0
            }
            '.' | ',' => before.is_ascii_digit() && next.is_some_and(|n| n.is_ascii_digit()),
            _ => c.is_alphanumeric() && !is_word_alone(c),
        };
        if !joins {
            break;
        }
        apostrophes += usize::from(c == '\'' && before.is_alphabetic());
        before = c;
        end += c.len_utf8();
    }
    end
}

/// Whether exactly three digits begin at `at`, as behind the mark of thousands: "1'200".
fn parts_thousands(text: &str, at: usize) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    let digits = rest.iter().take(4).take_while(|b| b.is_ascii_digit());
    digits.count() == 3
}

/// How many content words a negation governs.
const GOVERNED: usize = 3;

/// Maximum distance between a negation and the words it governs, in words.
const REACH: usize = 24;

/// How many words may be inserted between a negation and what it governs.
const PUT_IN: usize = 6;

/// The clause that a "not" governs when words between commas follow it: "They were not, by their
/// own account, towed".
fn governed_clause(from_cue: &[Token], text: &str) -> Option<u32> {
    let (cue, after) = from_cue.split_first()?;

    let between = after
        .iter()
        .take_while(|t| t.clause == cue.clause + 1)
        .count();
    let put_in = cue.negates()
        && text
            .get(cue.start..cue.end)
            .is_some_and(|w| w.ends_with("not") || w.ends_with("'t"))
        && is_followed_by_comma(cue, text)
        && (1..=PUT_IN).contains(&between)
        && after
            .get(between - 1)
            .is_some_and(|t| is_followed_by_comma(t, text));
    put_in.then_some(cue.clause + 2)
}

fn is_followed_by_comma(token: &Token, text: &str) -> bool {
    text.get(token.end..).is_some_and(|r| r.starts_with(','))
}

/// Marks what each negation of a sentence governs: the next content words of its clause.
fn mark_negation(tokens: &mut [Token], text: &str) {
    for i in 0..tokens.len() {
        let Some(cue) = tokens.get(i).copied() else {
            continue;
        };
        let next = tokens.get(i + 1).copied();
        let abbreviation = text.get(cue.end..).is_some_and(|r| r.starts_with('.'))
            && next.is_some_and(|n| n.number);
        let hollow = next.is_some_and(|n| n.hollow());
        if is_denying_phrase(cue, next, text) {
            let behind = tokens.get_mut(i + 2..).unwrap_or(&mut []);
            negate_governed(behind, (cue.clause, false), text);
            continue;
        }
        if keeps_from(tokens, i, text) {
            negate_what_is_kept_from(tokens, i, text);
            continue;
        }
        if !(cue.negates() || cue.turns())
            || hollow
            || abbreviation
            || is_of_a_bound(tokens, i, text)
            || is_quoted_words(cue, text)
        {
            continue;
        }
        // "lacks tests" and "prevents loss" govern a noun that both sides may express in many ways;
        // "failed to start" does not.
        let firm = cue.negates() || next.is_some_and(|n| text.get(n.start..n.end) == Some("to"));
        if is_second_of_neither(tokens, i, text) {
            continue;
        }
        let clause = governed_clause(tokens.get(i..).unwrap_or(&[]), text).unwrap_or(cue.clause);
        // "no longer supported" negates "supported".
        let is_longer = next.is_some_and(|n| shown_token(&n, text) == "longer");
        let skipped = usize::from(cue.negates() && is_longer);
        let behind = tokens.get_mut(i + 1 + skipped..).unwrap_or(&mut []);
        negate_governed(behind, (clause, firm), text);
    }
}

/// Whether the token is the "nor" of "neither ibuprofen nor aspirin", whose word is denied already.
fn is_second_of_neither(tokens: &[Token], i: usize, text: &str) -> bool {
    let is_nor = tokens
        .get(i)
        .is_some_and(|t| lower_case(shown_token(t, text)) == "nor");
    let next = tokens.get(i + 1..).unwrap_or(&[]);
    let mut near = next.iter().take(REACH);
    is_nor && near.find(|t| t.is_content()).is_some_and(|t| t.negated)
}

/// Whether two words deny what follows them, as in "free of" or "refrain from".
fn is_denying_phrase(cue: Token, next: Option<Token>, text: &str) -> bool {
    const PHRASES: &[&str] = list!("negation.phrases");
    let Some(next) = next.filter(|n| n.clause == cue.clause) else {
        return false;
    };
    let (first, second) = (shown_token(&cue, text), shown_token(&next, text));
    matches!(
        second,
        "of" | "from" | "out" | "without" | "than" | "off" | "away"
    ) && PHRASES.contains(&&*format!("{} {second}", lower_case(first)))
}

/// Maximum number of bytes of quoted words that name something, as in "a “no dogs” sign".
const QUOTED_NAME: usize = 32;

/// Whether the negation is the first of a few quoted words that name the next word, and denies nothing
/// of the sentence.
fn is_quoted_words(cue: Token, text: &str) -> bool {
    const OPENING: &[char] = &['"', '“', '„', '«', '「', '\u{201d}'];
    const CLOSING: &[char] = &['"', '”', '“', '»', '」'];
    const ENDS: &[char] = &['.', '!', '?', ',', ';', ':'];
    let is_opened = text
        .get(..cue.start)
        .is_some_and(|before| before.ends_with(OPENING));
    let behind = text.get(cue.end..).filter(|_| is_opened);
    behind.is_some_and(|behind| {
        let end = behind.find(CLOSING).filter(|end| *end <= QUOTED_NAME);
        let parts = end.and_then(|end| behind.split_at_checked(end));
        parts.is_some_and(|(quoted, after)| {
            // Anna said "no swimming": words at the end are a statement and no name.
            let mut after = after.chars().skip(1);
            let names = after.next() == Some(' ') && after.next().is_some_and(char::is_alphabetic);
            quoted.starts_with(' ') && !quoted.contains(ENDS) && names
        })
    })
}

/// Whether the negation at `i` is part of the bound of a number: "no more than 20".
fn is_of_a_bound(tokens: &[Token], i: usize, text: &str) -> bool {
    const NOT: &[&str] = list!("bounds.not");
    const SIDES: &[&str] = list!("bounds.sides");
    if tokens
        .get(i)
        .is_some_and(|cue| begins_a_bound(*cue, tokens, text))
    {
        return true;
    }
    // "Not under 400".
    if let [side, number, ..] = tokens.get(i + 1..).unwrap_or(&[]) {
        let is_side = SIDES.contains(&shown_token(side, text)) && number.may_be_amount();
        let cue = tokens.get(i).map_or("", |t| shown_token(t, text));
        if is_side && NOT.contains(&&*lower_case(cue)) {
            return true;
        }
    }
    let next = tokens.get(i + 1..i + 4).unwrap_or(&[]);
    let [_, than, number] = next else {
        return false;
    };
    const THAN: &[&str] = list!("bounds.than");
    let cue = tokens.get(i).map_or("", |t| shown_token(t, text));
    NOT.contains(&&*lower_case(cue)) && THAN.contains(&shown_token(than, text)) && number.number
}

/// Whether the words of a bound with a denial in them begin here, directly before a number: "не более
/// 20", "pas plus de 20", "不超过16". "Nicht unterstützt" only begins like "nicht unter".
pub(crate) fn begins_a_bound(cue: Token, tokens: &[Token], text: &str) -> bool {
    const AT_MOST: &[&str] = list!("bounds.at-most");
    const AT_LEAST: &[&str] = list!("bounds.at-least");
    let begun = shown_token(&cue, text);
    let rest = text.get(cue.start..).unwrap_or("");
    let mut bounds = AT_MOST.iter().chain(AT_LEAST);
    bounds.any(|bound| {
        let end = cue.start + bound.len();
        let at = tokens.partition_point(|t| t.start < end);
        let next = tokens.get(at).filter(|t| t.start <= end + 1);
        bound.len() > begun.len()
            && rest.starts_with(bound)
            && next.is_some_and(Token::may_be_amount)
    })
}

/// Negates the next content words up to the end of `clause`; `firm`: the first is the head.
fn negate_governed(behind: &mut [Token], (clause, firm): (u32, bool), text: &str) {
    let mut left = GOVERNED;
    for token in behind.iter_mut().take(REACH) {
        if token.clause > clause || left == 0 {
            break;
        }
        if token.clause < clause {
            continue;
        }
        if !token.is_content() || token.mood().is_some() && left == GOVERNED && !token.turns() {
            continue;
        }
        token.negated = !token.negated;
        // "Not to Mrs Poole": the name is denied.
        if left == GOVERNED && is_title(token, text) {
            continue;
        }
        token.head = token.head || left == GOVERNED && firm;
        left -= 1;
    }
}

/// Whether a word is the title of a person.
fn is_title(token: &Token, text: &str) -> bool {
    const TITLES: &[&str] = list!("actors.titles");
    token.capital && TITLES.contains(&&*lower_case(shown_token(token, text)))
}

/// Maximum number of words between "keep" and "from": "keeps the old command from".
const KEPT: usize = 5;

/// The index of the "from" of "keep it from calling" when token `i` is its verb.
fn from_after(tokens: &[Token], i: usize, text: &str) -> Option<usize> {
    let next = tokens.get(i + 1..)?;
    let mut near = next.iter().take(KEPT);
    let at = near.position(|t| shown_token(t, text) == "from")?;
    let verb = next.get(at + 1)?;
    let word = shown_token(verb, text);
    let acts = word.len() > 4 && word.ends_with("ing");
    (acts && verb.clause == tokens.get(i)?.clause).then_some(i + 1 + at)
}

/// Whether token `i` begins a phrase like "keeps it from calling" or "stops them from loading",
/// which negates the verb after "from".
fn keeps_from(tokens: &[Token], i: usize, text: &str) -> bool {
    const VERBS: &[&str] = list!("negation.keep-from");
    let word = tokens.get(i).and_then(|t| text.get(t.start..t.end));
    word.is_some_and(|word| VERBS.contains(&&*lower_case(word)))
        && from_after(tokens, i, text).is_some()
}

/// Whether one of the tokens is the verb of such a phrase.
pub(crate) fn keeps_something_from(tokens: &[Token], text: &str) -> bool {
    (0..tokens.len()).any(|i| keeps_from(tokens, i, text))
}

/// Marks the verb after "from" as negated, and the words that it governs.
fn negate_what_is_kept_from(tokens: &mut [Token], i: usize, text: &str) {
    let Some(from) = from_after(tokens, i, text) else {
        return;
    };
    let Some(clause) = tokens.get(i).map(|t| t.clause) else {
        return;
    };
    let governed = tokens.get_mut(from + 1..).unwrap_or(&mut []).iter_mut();
    let governed = governed
        .take_while(|t| t.clause == clause)
        .filter(|t| t.is_content());
    for (n, token) in governed.take(GOVERNED).enumerate() {
        token.negated = !token.negated;
        token.head = token.head || n == 0;
    }
}
