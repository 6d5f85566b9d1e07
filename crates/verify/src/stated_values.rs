//! The values that a text states, in a form that compares two texts without comparing all pairs of
//! their sentences.
//!
//! Each number, date, time and version of a sentence is one value. The rest of the sentence is the
//! subject of the value, reduced to a key: the stems of the content words with their negation, the
//! names in their order, the word before the value, the other values, and whether the sentence is
//! in the past tense. Sentences with the same key make the same statement about the same thing. So
//! values of one key that differ contradict each other, if their places mean the same thing: see
//! [`StatedValue::contradicts`]. Equal and comparable amounts are defined as for the remark
//! `CONFLICT`.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use local_agent_text::evidence::Normal;
use local_agent_text::markdown::BlockRole;

use super::atoms::{Atom, Literal, Time, What};
use super::checks::{Thing, is_name};
use super::reading::Reading;
use super::source_text::cuts;
use super::tables::{Mood, Role};
use super::text::{Lexicon, Token};

/// Maximum number of values of a sentence; one with more is a list of figures.
const MOST_VALUES: usize = 4;

/// Maximum number of words of a sentence; a longer one is rarely repeated with another value.
const MOST_WORDS: usize = 40;

/// Minimum number of content words, besides the value, that identify a thing in any note. A single
/// word identifies a thing only within its note.
const NAMED_WORDS: usize = 2;

/// Minimum number of content words, besides the value, of a sentence that describes a state and
/// uses no proper name: "The rent of the harbour office is 840 euros".
const SPECIFIC_WORDS: usize = 3;

/// Two titles name two things of one kind if they share at least this much of their words and each
/// has others: "Get statement", "Put statement".
const SIBLINGS: f64 = 1.0 / 3.0;

/// The place of a passage in the notes.
#[derive(Debug, Clone, Copy)]
pub struct PassagePlace<'a> {
    /// The title of its note.
    pub title: &'a str,
    /// The path of its note.
    pub path: &'a str,
    /// The titles of the headings above it.
    pub headings: &'a str,
}

/// One value and its subject.
#[derive(Debug, Clone)]
pub struct StatedValue {
    /// Equal for sentences that make the same statement about the same thing.
    pub subject: u64,
    /// The sentence, in bytes of the passage.
    pub sentence: Range<usize>,
    /// The value, in bytes of the passage.
    pub value: Range<usize>,
    amount: ComparableValue,
    manner: Manner,
    place: Arc<PlaceWords>,
}

/// The form of the sentence that states the value.
#[derive(Debug, Clone, Copy)]
struct Manner {
    /// It has a proper name and is not a row of a table.
    is_named: bool,
    /// It describes a state in enough words to identify the subject, and is not a row of a table.
    is_specific: bool,
    /// It has one word besides its value: "Salt: 10 g".
    is_brief: bool,
    /// It describes a present or future state.
    is_standing: bool,
    /// It reports an event without a date.
    is_event: bool,
    /// For a date: it is the day of an event that happens once.
    happens_once: bool,
}

impl Manner {
    /// Whether the sentence says of what it speaks, wherever it stands.
    fn names_its_thing(self) -> bool {
        self.is_named || self.is_specific
    }
}

/// The words that name the subject of a place.
#[derive(Debug, PartialEq, Eq)]
struct PlaceWords {
    title: BTreeSet<u64>,
    headings: BTreeSet<u64>,
    /// The digits in path, title and headings: of a date, a version, an edition.
    numbers: BTreeSet<u64>,
    /// Whether they are the digits of a date.
    is_dated: bool,
    /// Whether a heading says that the text is not, or no longer, in force.
    is_past: bool,
}

/// A value that can be compared.
#[derive(Debug, Clone)]
enum ComparableValue {
    /// A number with its unit, or a date.
    Thing(Thing),
    Time(Time),
    /// Its parts, and the comparison before it.
    Version(String, &'static str),
}

impl ComparableValue {
    fn of(what: &What) -> Option<Self> {
        match what {
            What::Number(n) if !n.ordinal => Some(Self::Thing(Thing::Number(*n))),
            What::Date(d) if d.weekday.is_none() || d.day.is_some() => {
                Some(Self::Thing(Thing::Date(*d)))
            }
            What::Time(time) => Some(Self::Time(*time)),
            What::Literal(Literal::Version { key, compare }) => {
                Some(Self::Version(key.clone(), compare))
            }
            _ => None,
        }
    }

    /// Whether the other is of the same kind and differs.
    fn contradicts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Thing(a), Self::Thing(b)) => a.is_rival(b) && !a.same(b) && same_form(a, b),
            (Self::Time(a), Self::Time(b)) => !a.agrees(*b),
            (Self::Version(a, above), Self::Version(b, below)) => {
                above == below && !a.starts_with(b.as_str()) && !b.starts_with(a.as_str())
            }
            _ => false,
        }
    }
}

/// Whether both numbers have the same bound and the same second unit, and the month of each date is
/// certain.
fn same_form(a: &Thing, b: &Thing) -> bool {
    match (a, b) {
        (Thing::Number(a), Thing::Number(b)) => {
            a.bound == b.bound && a.per == b.per && a.range == b.range
        }
        (Thing::Date(a), Thing::Date(b)) => !a.ambiguous && !b.ambiguous,
        _ => true,
    }
}

impl StatedValue {
    /// Whether both make the same statement about the same thing, with different values.
    ///
    /// Their places must allow it. The subject of a sentence without a name is the subject of its
    /// note. So the title and the headings of one must be among those of the other, and notes on
    /// two things of one kind have different subjects. An event can happen twice. Notes with
    /// different dates may describe different days, unless both sentences describe a state.
    pub fn contradicts(&self, other: &Self) -> bool {
        self.subject == other.subject
            && self.amount.contradicts(&other.amount)
            && self.is_of_one_time(other)
            && self.is_of_one_place(other)
    }

    /// Whether both give the same value, or values that cannot be compared.
    pub fn agrees(&self, other: &Self) -> bool {
        !self.amount.contradicts(&other.amount)
    }

    fn is_of_one_time(&self, other: &Self) -> bool {
        let (a, b) = (self.manner, other.manner);
        if let ComparableValue::Thing(Thing::Date(_)) = self.amount {
            return a.happens_once && b.happens_once;
        }
        if a.is_event || b.is_event {
            return false;
        }
        let (here, there) = (&self.place, &other.place);
        let differ =
            !here.numbers.is_empty() && !there.numbers.is_empty() && here.numbers != there.numbers;
        !differ || here.is_dated && there.is_dated && a.is_standing && b.is_standing
    }

    fn is_of_one_place(&self, other: &Self) -> bool {
        let (here, there) = (&self.place, &other.place);
        if here.is_past || there.is_past || are_siblings(&here.title, &there.title) {
            return false;
        }
        if self.manner.is_brief && here.title != there.title {
            return false;
        }
        self.manner.names_its_thing() && other.manner.names_its_thing()
            || are_nested(&here.title, &there.title)
                && !here.title.is_disjoint(&there.title)
                && are_nested(&here.headings, &there.headings)
    }
}

fn are_nested(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> bool {
    a.is_subset(b) || b.is_subset(a)
}

/// Whether two titles name two things of one kind.
fn are_siblings(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> bool {
    let shared = a.intersection(b).count();
    let all = a.union(b).count();
    let each_has_more = shared < a.len() && shared < b.len();
    each_has_more && shared as f64 >= SIBLINGS * all as f64
}

/// The values that the sentences of a passage (markdown) state, in order.
pub fn stated_values(passage: &str, place: &PassagePlace<'_>) -> Vec<StatedValue> {
    let mut lexicon = Lexicon::default();
    let normal = Normal::of(passage);
    let reading = Reading::of(normal.as_str(), &cuts(passage, &normal), &mut lexicon);
    let mut out = Vec::new();
    let mut here = Arc::new(PlaceWords::of(place, ""));
    let mut header = None;
    for (n, sentence) in reading.text.sentences.iter().enumerate() {
        let text = reading.normal.get(sentence.bytes.clone()).unwrap_or("");
        match sentence.role {
            BlockRole::Heading => here = Arc::new(PlaceWords::of(place, text)),
            BlockRole::TableHeader => header = Some(n),
            BlockRole::Paragraph | BlockRole::ListItem | BlockRole::TableRow
                if states(&reading, n, text) =>
            {
                let header = header.filter(|_| sentence.role == BlockRole::TableRow);
                let values = values_of(&reading, (n, header), &lexicon, &here);
                out.extend(values.filter_map(|value| value.placed(&normal)));
            }
            _ => {}
        }
    }
    out
}

impl StatedValue {
    /// The value with its ranges in the raw text.
    fn placed(self, normal: &Normal) -> Option<Self> {
        Some(Self {
            sentence: normal.raw(self.sentence)?,
            value: normal.raw(self.value)?,
            ..self
        })
    }
}

/// Whether a sentence makes a statement that another text can contradict. A question, a condition,
/// a guess and a sentence that refers to the text around it do not.
fn states(reading: &Reading, n: usize, text: &str) -> bool {
    const ANAPHORS: &[&str] = list!("stated.anaphors");
    let tokens = reading.tokens_of(n);
    tokens.len() <= MOST_WORDS
        && !text.ends_with(['?', ':', '…'])
        && !tokens.iter().any(is_unsure)
        && !tokens
            .iter()
            .any(|token| ANAPHORS.contains(&&*reading.lower_word(token)))
}

/// Whether a word makes a guess, a condition or a question of its sentence.
fn is_unsure(token: &Token) -> bool {
    matches!(token.mood(), Some(Mood::May | Mood::Hedge))
        || token.does(Role::Conditional)
        || token.does(Role::Asking) && token.first
}

/// The values of sentence `n`, with ranges of the normalised text.
fn values_of<'r>(
    reading: &'r Reading,
    (n, header): (usize, Option<usize>),
    lexicon: &'r Lexicon,
    place: &'r Arc<PlaceWords>,
) -> impl Iterator<Item = StatedValue> + 'r {
    let atoms = reading.atoms_of(n);
    let amounts = atoms
        .iter()
        .filter_map(|atom| Some((atom, ComparableValue::of(&atom.what)?)));
    let is_list = amounts.clone().count() > MOST_VALUES;
    let amounts = amounts.filter(move |_| !is_list);
    amounts.filter_map(move |(atom, amount)| {
        let said = Said {
            reading,
            n,
            header,
            atom,
        };
        said.value(amount, lexicon, place)
    })
}

/// The bytes of a value with the currency or percent sign beside it in its sentence.
fn with_sign(text: &str, sentence: &Range<usize>, value: &Range<usize>) -> Range<usize> {
    let before = text.get(sentence.start..value.start).unwrap_or_default();
    let after = text.get(value.end..sentence.end).unwrap_or_default();
    let blank = usize::from(after.starts_with(' '));
    let behind = after.get(blank..).and_then(|rest| rest.chars().next());
    let ahead = before.chars().next_back();
    let end = match bytes_of_sign(behind) {
        0 => value.end,
        sign => value.end + blank + sign,
    };
    value.start - bytes_of_sign(ahead)..end
}

/// The length of a currency or percent sign; 0 for every other letter.
fn bytes_of_sign(letter: Option<char>) -> usize {
    const SIGNS: [char; 7] = ['€', '$', '£', '¥', '%', '‰', '₹'];
    let sign = letter.filter(|c| SIGNS.contains(c));
    sign.map_or(0, char::len_utf8)
}

/// A value in its sentence.
struct Said<'r> {
    reading: &'r Reading,
    n: usize,
    /// The names of the columns, if it is a row of a table.
    header: Option<usize>,
    atom: &'r Atom,
}

impl<'r> Said<'r> {
    /// The value, with ranges of the normalised text; `None` if it is said of nothing.
    fn value(
        &self,
        amount: ComparableValue,
        lexicon: &Lexicon,
        place: &Arc<PlaceWords>,
    ) -> Option<StatedValue> {
        let manner = self.manner();
        let sentence = self.reading.sentence(self.n)?;
        let least = if manner.is_named { NAMED_WORDS } else { 1 };
        if self.is_part_of_a_name() || self.subject_words() < least {
            return None;
        }
        Some(StatedValue {
            subject: self.subject(lexicon),
            sentence: sentence.bytes.clone(),
            value: with_sign(&self.reading.normal, &sentence.bytes, &self.atom.bytes),
            amount,
            manner,
            place: Arc::clone(place),
        })
    }
    /// The tokens of the sentence besides the value.
    fn around(&self) -> impl Iterator<Item = &'r Token> {
        let start = self.reading.sentence(self.n).map_or(0, |s| s.tokens.start);
        let own = self.atom.tokens.clone();
        let tokens = self.reading.tokens_of(self.n).iter().enumerate();
        tokens
            .filter(move |(i, _)| !own.contains(&(start + i)))
            .map(|(_, token)| token)
    }

    fn word(&self, token: &Token) -> String {
        self.reading.lower_word(token).into_owned()
    }

    fn has_any(&self, words: &[&str]) -> bool {
        self.around()
            .any(|token| words.contains(&self.word(token).as_str()))
    }

    /// The token before the value, in its sentence.
    fn before(&self) -> Option<&'r Token> {
        let first = self.reading.sentence(self.n)?.tokens.start;
        let before = self.atom.tokens.start.checked_sub(1)?;
        (before >= first).then(|| self.reading.text.tokens.get(before))?
    }

    /// Whether the number is a name or part of one: "Table 3", "§ 5", "Windows 11", "msvc-160".
    fn is_part_of_a_name(&self) -> bool {
        const NUMBERED: &[&str] = list!("stated.numbered");
        let text = self.reading.normal.get(..self.atom.bytes.start);
        let text = text.unwrap_or_default();
        if text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '.')) {
            return true;
        }
        let is_bare = match &self.atom.what {
            What::Number(number) => number.unit.is_none(),
            What::Date(date) => date.month.is_none(),
            What::Literal(_) => true,
            What::Time(_) => false,
        };
        let named = self.before().is_some_and(|token| {
            let is_next = text.get(token.end..).is_some_and(|gap| gap == " ");
            let is_label = token.does(Role::Textual)
                || is_name(token)
                || NUMBERED.contains(&self.word(token).as_str());
            is_next && is_label
        });
        is_bare && (named || text.trim_end().ends_with(['#', '§', '№', '<', '>']))
    }

    /// The number of content words besides the value.
    fn subject_words(&self) -> usize {
        let content = self.around().filter(|t| t.is_content() && !t.number);
        content.count()
    }

    fn subject(&self, lexicon: &Lexicon) -> u64 {
        const BEFORE: &[&str] = list!("stated.before");
        const PAST: &[&str] = list!("stated.past");
        let counted = self.around().filter(|t| t.is_content() || t.number);
        let mut words: Vec<(&str, bool)> =
            counted.map(|t| (lexicon.stem(t.id), t.negated)).collect();
        words.sort_unstable();
        let names = self.around().filter(|t| is_name(t) && !t.first);
        let names: Vec<&str> = names.map(|t| lexicon.stem(t.id)).collect();
        let before = self.before().map(|token| self.word(token));
        let before = before.filter(|word| BEFORE.contains(&word.as_str()));
        let header = self.header.map_or(&[][..], |n| self.reading.tokens_of(n));
        let columns: Vec<&str> = header.iter().map(|t| lexicon.stem(t.id)).collect();
        hash(&(words, names, before, columns, self.has_any(PAST)))
    }

    /// Whether a word reports an event: a past form without a form of "to be" before it.
    fn tells_the_past(&self) -> bool {
        const PAST: &[&str] = list!("stated.past");
        const PRESENT: &[&str] = list!("stated.present");
        self.has_any(PAST)
            || !self.has_any(PRESENT) && self.around().any(|token| self.ends_in_ed(token))
    }

    fn ends_in_ed(&self, token: &Token) -> bool {
        let word = self.word(token);
        word.len() > 4 && word.ends_with("ed")
    }

    fn manner(&self) -> Manner {
        const PRESENT: &[&str] = list!("stated.present");
        const ONCE: &[&str] = list!("stated.once");
        let names = self.around().filter(|t| is_name(t) && !t.first);
        let atoms = self.reading.atoms_of(self.n).iter();
        let mut others = atoms.filter(|atom| atom.bytes != self.atom.bytes);
        let is_past = self.tells_the_past();
        let is_standing = self.has_any(PRESENT) && !is_past;
        let is_prose = self.header.is_none();
        Manner {
            is_named: is_prose && names.count() > 0,
            is_specific: is_prose && is_standing && self.subject_words() >= SPECIFIC_WORDS,
            is_brief: self.subject_words() < NAMED_WORDS,
            is_standing,
            is_event: is_past && !others.any(|atom| matches!(atom.what, What::Date(_))),
            happens_once: self.has_any(ONCE),
        }
    }
}

impl PlaceWords {
    /// The words of a place; `heading` is one inside the passage, below those of `place`.
    fn of(place: &PassagePlace<'_>, heading: &str) -> Self {
        const PAST: &[&str] = list!("stated.past-headings");
        let mut lexicon = Lexicon::default();
        let parts = [
            place.title,
            &format!("{} | {heading}", place.headings),
            &place.path.replace(['/', '_', '.'], " "),
        ];
        let parts = parts.map(|part| Reading::claim(Normal::of(part).as_str(), &mut lexicon));
        let is_past = parts.iter().any(|reading| {
            let mut tokens = reading.text.tokens.iter();
            tokens.any(|t| PAST.contains(&&*reading.lower_word(t)))
        });
        Self {
            title: content_words(&parts[0], &lexicon),
            headings: content_words(&parts[1], &lexicon),
            numbers: parts.iter().flat_map(digit_groups).collect(),
            is_dated: parts.iter().any(has_day),
            is_past,
        }
    }
}

fn content_words(reading: &Reading, lexicon: &Lexicon) -> BTreeSet<u64> {
    let tokens = reading.text.tokens.iter();
    let content = tokens.filter(|t| t.is_content() && !t.number);
    content.map(|t| hash(&lexicon.stem(t.id))).collect()
}

/// The digits of a text that stand together.
fn digit_groups(reading: &Reading) -> impl Iterator<Item = u64> {
    let groups = reading.normal.split(|c: char| !c.is_ascii_digit());
    groups
        .filter(|group| !group.is_empty())
        .map(|group| hash(&group))
}

/// Whether a date with its month is in the text.
fn has_day(reading: &Reading) -> bool {
    let mut atoms = reading.atoms.iter();
    atoms.any(|atom| matches!(&atom.what, What::Date(d) if d.month.is_some()))
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Title, path, text.
    type Note<'a> = (&'a str, &'a str, &'a str);

    fn values(note: Note<'_>) -> Vec<StatedValue> {
        let (title, path, text) = note;
        let place = PassagePlace {
            title,
            path,
            headings: "",
        };
        stated_values(text, &place)
    }

    /// The pairs of values that contradict each other, as written.
    fn pairs(one: Note<'_>, other: Note<'_>) -> Vec<String> {
        let (here, there) = (values(one), values(other));
        let mut out = Vec::new();
        for a in &here {
            for b in there.iter().filter(|b| a.contradicts(b)) {
                assert!(b.contradicts(a) && !a.agrees(b));
                out.push(format!(
                    "{} / {}",
                    &one.2[a.value.clone()],
                    &other.2[b.value.clone()]
                ));
            }
        }
        out
    }

    #[test]
    fn different_values_of_one_named_thing_contradict_each_other() {
        for (one, other, found) in [
            (
                "The budget of the Lisbon harbour is 5 million euros.",
                "The Lisbon harbour budget is 7 million euros.",
                "5 million euros / 7 million euros",
            ),
            (
                "The shop in Porto opens at 9:00.",
                "The shop in Porto opens at 10:00.",
                "9:00 / 10:00",
            ),
            (
                "- Deadline of the Tassin quartet: 14 February 2026",
                "The deadline of the quartet Tassin is **14 March 2026**.",
                "14 February 2026 / 14 March 2026",
            ),
            (
                "The server needs Postgres 14 and 8 GB of memory.",
                "The server needs Postgres 14 and 16 GB of memory.",
                "8 GB / 16 GB",
            ),
            (
                "Die Miete in Lyon beträgt 760 €.",
                "Die Miete in Lyon beträgt 840 €.",
                "760 € / 840 €",
            ),
        ] {
            let (one, other) = (("Plan", "a.md", one), ("Meeting", "b.md", other));
            assert_eq!(pairs(one, other), [found], "{one:?} {other:?}");
        }
    }

    #[test]
    fn what_is_no_contradiction_is_none() {
        for (one, other) in [
            // The same amount.
            (
                "The tunnel in Oslo is 1.5 km long.",
                "The tunnel in Oslo is 1500 m long.",
            ),
            // Other things.
            (
                "The office in Oslo has 14 desks.",
                "The office in Bergen has 12 desks.",
            ),
            (
                "The old ferry to Oslo costs 14 €.",
                "The ferry to Oslo costs 12 €.",
            ),
            (
                "The ferry to Oslo costs 14 €.",
                "The ferry to Oslo takes 12 hours.",
            ),
            (
                "A train from Oslo to Bergen takes 7 h.",
                "A train from Bergen to Oslo takes 8 h.",
            ),
            // Other times.
            (
                "In 2019 the Oslo office has 14 desks.",
                "In 2020 the Oslo office has 12 desks.",
            ),
            (
                "The Oslo office had 14 desks.",
                "The Oslo office has 12 desks.",
            ),
            ("We walked 5 km in Oslo.", "We walked 7 km in Oslo."),
            ("Ann walked 5 km in Oslo.", "Ann walked 7 km in Oslo."),
            (
                "Ann wrote to Oslo on 3 May 2024.",
                "Ann wrote to Oslo on 9 May 2024.",
            ),
            // Numbers that are names.
            ("See Oslo on page 12.", "See Oslo on page 14."),
            (
                "The Oslo plan needs Windows 10.",
                "The Oslo plan needs Windows 11.",
            ),
            // No statement, or a guess.
            (
                "Does the Oslo office have 14 desks?",
                "The Oslo office has 12 desks.",
            ),
            (
                "Perhaps the Oslo office has 14 desks.",
                "Perhaps the Oslo office has 12 desks.",
            ),
            (
                "If the Oslo office has 14 desks.",
                "If the Oslo office has 12 desks.",
            ),
            // Another limit.
            (
                "Oslo holds at least 14 people.",
                "Oslo holds at most 12 people.",
            ),
            // Nobody says what it is.
            ("It costs 14 € in Oslo.", "It costs 12 € in Oslo."),
            ("The budget is 5 million.", "The budget is 7 million."),
        ] {
            let (one, other) = (("Plan", "a.md", one), ("Meeting", "b.md", other));
            assert_eq!(pairs(one, other), [""; 0], "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_sentence_without_a_name_is_about_what_its_note_is_about() {
        let (five, seven) = (
            "The yearly budget is 5 million.",
            "The yearly budget is 7 million.",
        );
        let found = ["5 million / 7 million"];
        for (one, other) in [("Harbour", "Harbour"), ("Harbour", "Harbour plan")] {
            assert_eq!(pairs((one, "a.md", five), (other, "b.md", seven)), found);
        }
        for (one, other) in [
            ("Harbour", "Ferry"),
            ("Harbour ferry", "Harbour crane"),
            ("5", "7"),
        ] {
            assert!(
                pairs((one, "a.md", five), (other, "b.md", seven)).is_empty(),
                "{one} {other}"
            );
        }
        let salt = ("Bread", "a.md", "Salt: 10 g");
        for (title, count) in [("Bread", 1), ("Rye bread", 0)] {
            let found = pairs(salt, (title, "a.md", "Salt: 12 g"));
            assert_eq!(found.len(), count, "{title}");
        }
        for (heading, count) in [("Money", 1), ("Old money", 0), ("Draft", 0)] {
            let text = format!("# Harbour\n\n## {heading}\n\n{seven}\n");
            let found = pairs(("Harbour", "a.md", five), ("Harbour", "b.md", &text));
            assert_eq!(found.len(), count, "{heading}");
        }
    }

    #[test]
    fn rows_of_tables_are_compared_under_the_same_columns() {
        let one = table_of_ports("Default", 8080);
        for (title, column, expected) in [
            ("Server", "Default", &["8080 / 9090"][..]),
            ("Server", "Range", &[]),
            ("Client", "Default", &[]),
        ] {
            let other = table_of_ports(column, 9090);
            let found = pairs(("Server", "a.md", &one), (title, "b.md", &other));
            assert_eq!(found, expected, "{title} {column}");
        }
    }

    fn table_of_ports(column: &str, port: u32) -> String {
        format!("| Setting | {column} |\n|---|---|\n| port | {port} |\n")
    }

    #[test]
    fn a_thing_without_a_name_is_known_by_enough_words() {
        for (lease, budget, count) in [
            (
                "The rent of the harbour office is 840 euros.",
                "The harbour office has a rent.\n\nThe rent of the harbour office is 910 euros.",
                1,
            ),
            ("The rent is 840 euros.", "The rent is 910 euros.", 0),
        ] {
            let found = pairs(("Lease", "a.md", lease), ("Budget", "b.md", budget));
            assert_eq!(found.len(), count, "{lease}");
        }
    }

    #[test]
    fn entries_of_a_journal_may_differ_unless_they_say_how_things_are() {
        for (monday, tuesday, count) in [
            ("Weight of Ann: 61 kg.", "Weight of Ann: 62 kg.", 0),
            ("The rent of Ann is 700 €.", "The rent of Ann is 760 €.", 1),
        ] {
            let (one, two) = (
                ("Mon", "2025-11-10.md", monday),
                ("Tue", "2025-11-11.md", tuesday),
            );
            assert_eq!(pairs(one, two).len(), count, "{monday}");
        }
        let (v1, v2) = (
            ("Ann", "v1/ann.md", "Ann needs 2 GB."),
            ("Ann", "v2/ann.md", "Ann needs 3 GB."),
        );
        assert!(pairs(v1, v2).is_empty());
    }

    proptest! {
        #[test]
        fn values_lie_in_their_sentence_and_their_text(text in "\\PC{0,80}|[a-z 0-9.:|#*\n-]{0,80}") {
            for value in values(("Title 3", "2025/a.md", &text)) {
                prop_assert!(text.get(value.sentence.clone()).is_some());
                prop_assert!(text.get(value.value.clone()).is_some());
                prop_assert!(value.sentence.start <= value.value.start);
                prop_assert!(value.value.end <= value.sentence.end);
                prop_assert!(!value.contradicts(&value) && value.agrees(&value));
            }
        }
    }
}
