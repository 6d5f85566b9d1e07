//! Ways to make a true sentence false, one word at a time.
//!
//! The tables here belong to the attacker: nothing is shared with the rules that should catch the
//! attacks. Each operator changes as little as it can, which is the hardest case, and returns
//! `None` if a sentence contains nothing to change.

use std::sync::LazyLock;

use regex::Regex;

/// The kind of change to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edit {
    /// Another number, in digits or words, or another magnitude.
    Number,
    /// Another unit or currency, including per cent instead of points.
    Unit,
    /// Another month, day, year or weekday.
    Date,
    /// Another version, or another comparison before it.
    Version,
    /// Another proper name.
    Name,
    /// A negation added or removed.
    Negation,
    /// The opposite direction.
    Direction,
    /// A stronger quantity than in the source.
    Quantifier,
    /// More certainty than in the source.
    Modality,
}

impl Edit {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Number,
        Self::Unit,
        Self::Date,
        Self::Version,
        Self::Name,
        Self::Negation,
        Self::Direction,
        Self::Quantifier,
        Self::Modality,
    ];

    /// The operator's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Unit => "unit",
            Self::Date => "date",
            Self::Version => "version",
            Self::Name => "name",
            Self::Negation => "negation",
            Self::Direction => "direction",
            Self::Quantifier => "quantifier",
            Self::Modality => "modality",
        }
    }

    /// `claim` with one such change; `seed` selects the place and the kind of change.
    pub fn apply(self, claim: &str, seed: u64) -> Option<String> {
        let changed = match self {
            Self::Number => number(claim, seed),
            Self::Unit => swap(claim, UNITS, seed),
            Self::Date => date(claim, seed),
            Self::Version => version(claim, seed),
            Self::Name => name(claim, seed),
            Self::Negation => negation(claim, seed),
            Self::Direction => swap(claim, DIRECTIONS, seed),
            Self::Quantifier => one_way(claim, QUANTIFIERS, seed),
            Self::Modality => one_way(claim, MODALITIES, seed),
        }?;
        (changed != claim).then_some(changed)
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const NUMBER_WORDS: [&str; 14] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "twenty", "thirty", "hundred",
];

/// Pairs of words that are replaced by each other, in both directions.
type Pairs = &'static [(&'static str, &'static str)];

const UNITS: Pairs = &[
    ("ms", "s"),
    ("milliseconds", "seconds"),
    ("seconds", "minutes"),
    ("minutes", "hours"),
    ("hours", "days"),
    ("days", "weeks"),
    ("weeks", "months"),
    ("months", "years"),
    ("KB", "MB"),
    ("MB", "GB"),
    ("MiB", "MB"),
    ("GiB", "GB"),
    ("TB", "GB"),
    ("°C", "°F"),
    ("$", "€"),
    ("£", "$"),
    ("euros", "dollars"),
    ("dollars", "pounds"),
    ("km", "miles"),
    ("kilometres", "miles"),
    ("metres", "feet"),
    ("meters", "feet"),
    ("cm", "mm"),
    ("kg", "g"),
    ("mg", "g"),
    ("kilograms", "pounds"),
    ("litres", "gallons"),
    ("kW", "MW"),
    ("Hz", "kHz"),
    ("percent", "percentage points"),
    ("per cent", "percentage points"),
    (" %", " percentage points"),
    ("%", " percentage points"),
];

const DIRECTIONS: Pairs = &[
    ("increased", "decreased"),
    ("increases", "decreases"),
    ("increase", "decrease"),
    ("raised", "lowered"),
    ("raises", "lowers"),
    ("rose", "fell"),
    ("rises", "falls"),
    ("grew", "shrank"),
    ("higher", "lower"),
    ("more", "less"),
    ("greater", "smaller"),
    ("larger", "smaller"),
    ("above", "below"),
    ("before", "after"),
    ("earlier", "later"),
    ("first", "last"),
    ("faster", "slower"),
    ("enabled", "disabled"),
    ("enable", "disable"),
    ("enables", "disables"),
    ("minimum", "maximum"),
    ("opens", "closes"),
    ("opened", "closed"),
    ("starts", "ends"),
    ("started", "ended"),
    ("won", "lost"),
    ("positive", "negative"),
    ("north", "south"),
    ("northern", "southern"),
    ("east", "west"),
    ("eastern", "western"),
    ("left", "right"),
    ("up", "down"),
    ("inside", "outside"),
    ("added", "removed"),
    ("better", "worse"),
    ("best", "worst"),
    ("older", "younger"),
    ("stronger", "weaker"),
    ("promotes", "inhibits"),
    ("promote", "inhibit"),
    ("activates", "inhibits"),
    ("improved", "worsened"),
    ("accepted", "rejected"),
    ("approved", "rejected"),
    ("bought", "sold"),
    ("joined", "left"),
    ("public", "private"),
    ("internal", "external"),
];

const QUANTIFIERS: Pairs = &[
    ("some", "all"),
    ("Some", "All"),
    ("most", "all"),
    ("Most", "All"),
    ("many", "all"),
    ("Many", "All"),
    ("several", "all"),
    ("few", "all"),
    ("often", "always"),
    ("sometimes", "always"),
    ("usually", "always"),
    ("rarely", "never"),
    ("at least", "exactly"),
    ("at most", "at least"),
    ("up to", "at least"),
    ("more than", "exactly"),
    ("almost", "more than"),
    ("all", "some"),
    ("every", "no"),
    ("each", "no"),
    ("both", "neither"),
    ("always", "never"),
    ("only", "not only"),
];

const MODALITIES: Pairs = &[
    ("may", "must"),
    ("might", "will"),
    ("could", "will"),
    ("can", "must"),
    ("should", "must"),
    ("must", "may"),
    ("will", "might"),
    ("proposed", "decided"),
    ("planned", "completed"),
    ("expected", "confirmed"),
    ("suggests", "proves"),
    ("recommended", "required"),
    ("optional", "mandatory"),
    ("required", "optional"),
    ("likely", "certainly"),
    ("possible", "certain"),
    ("deprecated", "recommended"),
];

/// Where `word` appears in `text` as a separate word (signs such as `%` and `$` match anywhere).
fn places(text: &str, word: &str) -> Vec<usize> {
    let sign = !word.starts_with(char::is_alphanumeric);
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| {
            let before = text[..*at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            (sign
                || is_word_edge(before)
                || (word.len() <= 3 && before.is_some_and(|c| c.is_ascii_digit())))
                && (is_word_edge(after) || word == "$" || word == "€" || word == "£")
        })
        .collect()
}

/// Whether a word begins or ends next to this character: it is neither a letter nor a digit.
fn is_word_edge(c: Option<char>) -> bool {
    c.is_none_or(|c| !c.is_alphanumeric())
}

fn put(text: &str, at: usize, len: usize, new: &str) -> String {
    format!("{}{new}{}", &text[..at], &text[at + len..])
}

fn pick<T>(list: Vec<T>, seed: u64) -> Option<T> {
    let n = u64::try_from(list.len()).ok().filter(|n| *n > 0)?;
    list.into_iter().nth(usize::try_from(seed % n).ok()?)
}

fn swap(claim: &str, pairs: Pairs, seed: u64) -> Option<String> {
    let mut found = Vec::new();
    for (a, b) in pairs {
        for (from, to) in [(a, b), (b, a)] {
            found.extend(
                places(claim, from)
                    .into_iter()
                    .map(|at| put(claim, at, from.len(), to)),
            );
        }
    }
    if std::ptr::eq(pairs, UNITS) {
        // A unit counts only after a number, a currency only before one.
        let near = Regex::new(r"(\d[\d.,]*)\s?(ms|milliseconds|s|seconds|minutes|hours|days|weeks|months|years|KB|MB|GB|TB|MiB|GiB|°C|°F|€|\$|£|euros|dollars|pounds|km|miles|kilometres|metres|meters|feet|cm|mm|kg|g|mg|kilograms|litres|gallons|kW|MW|Hz|kHz|percent|per cent|%)(?:\W|$)|([$€£])\d").ok()?;
        let spans: Vec<(usize, usize)> = near
            .captures_iter(claim)
            .filter_map(|c| c.get(2).or(c.get(3)).map(|m| (m.start(), m.end())))
            .collect();
        found = Vec::new();
        for (start, end) in spans {
            let unit = &claim[start..end];
            for (a, b) in pairs {
                if *a == unit {
                    found.push(put(claim, start, unit.len(), b));
                } else if *b == unit {
                    found.push(put(claim, start, unit.len(), a));
                }
            }
        }
    }
    pick(found, seed)
}

fn one_way(claim: &str, pairs: Pairs, seed: u64) -> Option<String> {
    let found = pairs.iter().flat_map(|(a, b)| {
        places(claim, a)
            .into_iter()
            .map(move |at| put(claim, at, a.len(), b))
    });
    pick(found.collect(), seed)
}

static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d[\d,]*(?:\.\d+)?").ok());
static VERSION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bv?\d+\.\d+(?:\.\d+)+\b").ok());
static YEAR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b(1[89]\d\d|20\d\d)\b").ok());
static CAPITAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b\p{Lu}\p{Ll}{2,}\b").ok());

fn number(claim: &str, seed: u64) -> Option<String> {
    let taken: Vec<(usize, usize)> = [VERSION.as_ref(), YEAR.as_ref()]
        .into_iter()
        .flatten()
        .flat_map(|r| r.find_iter(claim).map(|m| (m.start(), m.end())))
        .collect();
    let mut found = Vec::new();
    for m in DIGITS.as_ref()?.find_iter(claim) {
        let inside = taken.iter().any(|(s, e)| m.start() >= *s && m.end() <= *e);
        let before = claim[..m.start()].chars().next_back();
        let after = claim[m.end()..].chars().next();
        let part = before
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '/' | '.' | '_' | ':'))
            || after.is_some_and(|c| c.is_alphabetic() || matches!(c, '-' | '/' | '_' | ':'));
        if inside || part {
            continue;
        }
        let old = m.as_str().trim_end_matches(',');
        for new in [
            transposed(old),
            format!("{old}0"),
            bumped(old, 1),
            bumped(old, 3),
        ] {
            if new != old {
                found.push(put(claim, m.start(), old.len(), &new));
            }
        }
    }
    for (i, word) in NUMBER_WORDS.iter().enumerate() {
        let other = NUMBER_WORDS[(i + 1 + (seed % 5) as usize) % NUMBER_WORDS.len()];
        found.extend(
            places(claim, word)
                .into_iter()
                .map(|at| put(claim, at, word.len(), other)),
        );
    }
    for (a, b) in [
        ("million", "billion"),
        ("billion", "million"),
        ("thousand", "million"),
    ] {
        found.extend(
            places(claim, a)
                .into_iter()
                .map(|at| put(claim, at, a.len(), b)),
        );
    }
    pick(found, seed)
}

fn transposed(old: &str) -> String {
    let mut digits: Vec<char> = old.chars().collect();
    for i in 1..digits.len() {
        if digits[i].is_ascii_digit()
            && digits[i - 1].is_ascii_digit()
            && digits[i] != digits[i - 1]
        {
            digits.swap(i, i - 1);
            break;
        }
    }
    digits.into_iter().collect()
}

/// The last digit, increased by `by`.
fn bumped(old: &str, by: u8) -> String {
    let mut out = old.to_owned();
    if let Some(last) = out.pop() {
        let digit = last.to_digit(10).unwrap_or(0) as u8;
        out.push(char::from(b'0' + (digit + by) % 10));
    }
    out
}

fn date(claim: &str, seed: u64) -> Option<String> {
    let mut found = Vec::new();
    for list in [&MONTHS[..], &DAYS[..]] {
        for (i, word) in list.iter().enumerate() {
            let other = list[(i + 1 + (seed % 4) as usize) % list.len()];
            // "May" and "March" at the start of a sentence can be other words.
            let at = places(claim, word).into_iter().filter(|at| *at > 0);
            found.extend(at.map(|at| put(claim, at, word.len(), other)));
        }
    }
    for m in YEAR.as_ref()?.find_iter(claim) {
        for new in [bumped(m.as_str(), 1), bumped(m.as_str(), 7)] {
            found.push(put(claim, m.start(), 4, &new));
        }
    }
    pick(found, seed)
}

fn version(claim: &str, seed: u64) -> Option<String> {
    let mut found = Vec::new();
    for m in VERSION.as_ref()?.find_iter(claim) {
        let mut parts: Vec<&str> = m.as_str().split('.').collect();
        found.push(put(claim, m.start(), m.len(), &bumped(m.as_str(), 1)));
        let last = parts.len() - 1;
        parts.swap(last, last - 1);
        found.push(put(claim, m.start(), m.len(), &parts.join(".")));
    }
    for (a, b) in [(">= ", "> "), ("<= ", "< "), (">=", ">"), ("<=", "<")] {
        found.extend(claim.find(a).map(|at| put(claim, at, a.len(), b)));
    }
    found.retain(|new| new != claim);
    pick(found, seed)
}

const STRANGERS: [&str; 8] = [
    "Marlowe",
    "Okonkwo",
    "Vasquez",
    "Thornbury",
    "Ljungberg",
    "Castellane",
    "Whitcombe",
    "Zielinska",
];

/// Capitalised words that are not names.
const NO_NAMES: [&str; 24] = [
    "The", "This", "That", "These", "Those", "There", "When", "While", "After", "Before", "During",
    "For", "From", "And", "But", "His", "Her", "Its", "Their", "Our", "You", "Your", "Not", "With",
];

fn name(claim: &str, seed: u64) -> Option<String> {
    let mut found = Vec::new();
    for m in CAPITAL.as_ref()?.find_iter(claim) {
        let word = m.as_str();
        let calendar = MONTHS.contains(&word) || DAYS.contains(&word) || NO_NAMES.contains(&word);
        let head = claim[..m.start()].trim_end();
        let starts =
            head.is_empty() || head.ends_with(['.', '!', '?', ':', '|', '*', '-', '"', '(', '`']);
        let joined = claim[m.end()..].starts_with(['_', '-', '/', '(', '.', ':'])
            || claim[..m.start()].ends_with(['_', '-', '/', '.', '[', '`', '#']);
        if calendar || starts || joined {
            continue;
        }
        let stranger = STRANGERS[(seed % 8) as usize];
        found.push(put(claim, m.start(), m.len(), stranger));
    }
    pick(found, seed / 8)
}

fn negation(claim: &str, seed: u64) -> Option<String> {
    let out = ["not ", "never ", "no longer ", "cannot"];
    for cue in out {
        if let Some(at) = places(claim, cue.trim_end()).first() {
            let only = claim[at + cue.trim_end().len()..].starts_with(" only");
            if !only {
                let new = if cue == "cannot" { "can" } else { "" };
                let rest = claim.get(at + cue.len()..).unwrap_or("");
                return Some(format!("{}{new}{rest}", &claim[..*at]));
            }
        }
    }
    for (a, b) in [
        ("isn't", "is"),
        ("doesn't", "does"),
        ("don't", "do"),
        ("wasn't", "was"),
        ("didn't", "did"),
        ("can't", "can"),
        ("won't", "will"),
    ] {
        if let Some(at) = places(claim, a).first() {
            return Some(put(claim, *at, a.len(), b));
        }
    }
    let into = [
        "is",
        "are",
        "was",
        "were",
        "will",
        "can",
        "must",
        "should",
        "may",
        "could",
        "would",
        "has been",
        "have been",
    ];
    let found = into.iter().flat_map(|verb| {
        places(claim, verb)
            .into_iter()
            .filter(|at| *at > 0)
            .map(move |at| put(claim, at, verb.len(), &format!("{verb} not")))
    });
    let found: Vec<String> = found
        .filter(|new| !new.contains(" not not") && !new.contains(" not been"))
        .collect();
    pick(found, seed)
}
