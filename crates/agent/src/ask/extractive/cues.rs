//! Function words of the best-supported languages: question words, numerals, the calendar. The
//! lists contain no content words. A question in another language is still answered, because its
//! frequent words have a low idf.

use local_agent_text::language::lexicon::{Section, all_items};
use local_agent_text::language::lists::list;
use local_agent_text::language::{Language, calendar, detect, numerals};

/// The data file with all lists of this module.
pub(super) const DATA: &str = include_str!("data/cues.txt");

/// Words separated by one space.
pub(super) type WordList = &'static str;

/// Phrases separated by `|`: first for scripts with spaces (found at word boundaries), then for
/// scripts without (found anywhere).
pub(super) struct Cues(WordList, WordList);

impl Cues {
    /// The phrases for scripts with spaces, separated by spaces and `|`.
    pub(super) const fn spaced(&self) -> WordList {
        self.0
    }

    /// Whether `lower` (in lower case) contains one of them.
    pub(super) fn are_in(&self, lower: &str) -> bool {
        let spaced = format!(" {} ", split(lower).collect::<Vec<_>>().join(" "));
        self.0
            .split('|')
            .any(|cue| spaced.contains(&format!(" {cue} ")))
            || self.is_in_unspaced(lower)
    }

    /// Whether `lower` contains one of the phrases for scripts without spaces.
    pub(super) fn is_in_unspaced(&self, lower: &str) -> bool {
        self.1
            .split('|')
            .any(|cue| !cue.is_empty() && lower.contains(cue))
    }
}

/// The runs of letters and digits of `text`.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
}

/// Whether `list` contains `word`.
pub(super) fn holds(list: WordList, word: &str) -> bool {
    list.split(' ').any(|w| w == word)
}

/// The language in which `lower` (a question in lower case) seems to be written: the one with most
/// function words; English if there are none.
pub(super) fn of_language(lower: &str) -> Language {
    let mut best = (count_grammar(lower, Language::English), Language::English);
    for language in Language::ALL {
        let found = count_grammar(lower, *language);
        if found > best.0 && found >= least_grammar(*language) {
            best = (found, *language);
        }
    }
    best.1
}

/// How many function words of a language show that a question is written in it. Those of smaller
/// languages are nouns elsewhere: "van" is a function word in Dutch, and "care" in Romanian.
fn least_grammar(language: Language) -> usize {
    use Language::{English, French, German, Russian, Spanish};
    match language {
        English | German | French | Spanish | Russian => 1,
        _ => 2,
    }
}

/// How many words of the text are function words of the language.
fn count_grammar(lower: &str, language: Language) -> usize {
    split(lower)
        .filter(|word| is_grammar(language, word))
        .count()
}

/// Whether a word in lower case is a function word of the language, which says nothing about the
/// subject of a question.
pub(super) fn is_grammar(language: Language, lower: &str) -> bool {
    language.lexicon().contains(Section::QuestionStop, lower)
}

/// The language whose function words occur most in `lower`, a question in lower case. Returns
/// `None` if no function word occurs or two languages tie.
pub(super) fn language(lower: &str) -> Option<Language> {
    if let Some(language) = of_question_word(lower).or_else(|| detect(lower)) {
        return Some(language);
    }
    let counts = Language::ALL.iter().map(|language| {
        let count = count_grammar(lower, *language);
        let is_enough = count >= least_grammar(*language);
        (if is_enough { count } else { 0 }, *language)
    });
    let counts: Vec<(usize, Language)> = counts.collect();
    let (most, language) = *counts.iter().max_by_key(|(count, _)| *count)?;
    let tie = counts.iter().filter(|(count, _)| *count == most).count() > 1;
    (most > 0 && !tie).then_some(language)
}

/// The language of the question words in `lower`, if those that only one language has are all of
/// the same.
fn of_question_word(lower: &str) -> Option<Language> {
    let lists = [
        (Language::English, list(DATA, "asking-english")),
        (Language::German, list(DATA, "asking-german")),
        (Language::French, list(DATA, "asking-french")),
        (Language::Spanish, list(DATA, "asking-spanish")),
        (Language::Italian, list(DATA, "asking-italian")),
        (Language::Portuguese, list(DATA, "asking-portuguese")),
        (Language::Dutch, list(DATA, "asking-dutch")),
    ];
    let asks = |words: WordList| split(lower).any(|word| holds(words, word));
    let mut asked = lists.into_iter().filter(|(_, words)| asks(words));
    let first = asked.next().map(|(language, _)| language);
    first.filter(|_| asked.next().is_none())
}

/// Whether `lower` is a pronoun for a person in any language with a data file: "she", "его".
pub(super) fn is_person_pronoun(lower: &str) -> bool {
    all_items(Section::PersonPronouns).any(|(_, pronoun)| pronoun == lower)
}

/// Whether the language capitalises every noun.
pub(super) fn capitalises_nouns(language: Language) -> bool {
    language == Language::German
}

/// Verbs with little meaning. A note on the servings of a chili need not say that it "makes" them.
pub(super) const LIGHT: WordList = list(DATA, "light");

/// Question words.
pub(super) const ASKING: WordList = list(DATA, "asking");

/// Chinese characters that are mostly grammar or question words.
pub(super) const CHINESE_GRAMMAR: &str = list(DATA, "chinese-grammar");

/// Words that ask for an amount after "how" or "wie".
pub(super) const DEGREES: WordList = list(DATA, "degrees");

pub(super) const TIME: Cues = Cues(list(DATA, "time"), list(DATA, "time.unspaced"));
pub(super) const NUMBER: Cues = Cues(list(DATA, "number"), list(DATA, "number.unspaced"));
pub(super) const EXTENT: Cues = Cues(list(DATA, "extent"), list(DATA, "extent.unspaced"));
pub(super) const PERSON: Cues = Cues(list(DATA, "person"), list(DATA, "person.unspaced"));
pub(super) const REASON: Cues = Cues(list(DATA, "reason"), list(DATA, "reason.unspaced"));
pub(super) const STEPS: Cues = Cues(list(DATA, "steps"), list(DATA, "steps.unspaced"));
pub(super) const DEFINITION: Cues =
    Cues(list(DATA, "definition"), list(DATA, "definition.unspaced"));
pub(super) const CODE: Cues = Cues(list(DATA, "code"), list(DATA, "code.unspaced"));

/// Ordinals for the quarters of a year, and the words for a quarter.
pub(super) const ORDINALS: [WordList; 4] = [
    list(DATA, "ordinals.1"),
    list(DATA, "ordinals.2"),
    list(DATA, "ordinals.3"),
    list(DATA, "ordinals.4"),
];
pub(super) const QUARTER: WordList = list(DATA, "quarter");

/// Words that introduce a reason. In a heading, the question word itself does too.
pub(super) const BECAUSE: Cues = Cues(list(DATA, "because"), list(DATA, "because.unspaced"));

/// Words with which a note says that its content is not, or no longer, valid.
pub(super) const NOT_IN_FORCE: Cues = Cues(
    list(DATA, "not-in-force"),
    list(DATA, "not-in-force.unspaced"),
);

/// Months, English and German, by number.
const MONTHS: [WordList; 12] = [
    list(DATA, "months.1"),
    list(DATA, "months.2"),
    list(DATA, "months.3"),
    list(DATA, "months.4"),
    list(DATA, "months.5"),
    list(DATA, "months.6"),
    list(DATA, "months.7"),
    list(DATA, "months.8"),
    list(DATA, "months.9"),
    list(DATA, "months.10"),
    list(DATA, "months.11"),
    list(DATA, "months.12"),
];

/// The number, 1 to 12, of a month in lower case: in English and German written out or abbreviated
/// to its first three or more letters; in the other languages as their data files list it.
pub(super) fn month(lower: &str) -> Option<u32> {
    let own = MONTHS
        .iter()
        .position(|names| names_month(lower, names))
        .and_then(|i| u32::try_from(i + 1).ok());
    own.or_else(|| calendar::any_month(lower))
}

/// Whether the word begins one of a month's names.
fn names_month(lower: &str, names: &str) -> bool {
    names
        .split(' ')
        .any(|name| lower.chars().count() > 2 && name.starts_with(lower))
}

/// Weekdays and times of day.
const DAYS: WordList = list(DATA, "days");

/// Whether `lower` names a weekday or a time of day, in any language with a data file.
pub(super) fn names_day(lower: &str) -> bool {
    holds(DAYS, lower) || calendar::any_weekday(lower).is_some()
}

/// Words for an amount without a number.
pub(super) const SOME: WordList = list(DATA, "some");

/// Characters for numbers and counting, in scripts without spaces.
pub(super) const COUNTING: &str = list(DATA, "counting");

/// Words that mean a span of time.
pub(super) const SPANS: WordList = list(DATA, "spans");

/// Numbers written out. "One" is more often a pronoun.
const NUMERALS: WordList = list(DATA, "numerals");

/// Whether `lower` is a number from two on, written out in any language with a data file.
pub(super) fn is_numeral(lower: &str) -> bool {
    holds(NUMERALS, lower) || numerals::any_cardinal(lower).is_some_and(|value| value >= 2.0)
}

/// Phrases that ask for a place.
pub(super) const PLACE: Cues = Cues(list(DATA, "place"), list(DATA, "place.unspaced"));

/// Phrases that ask what a thing contains.
pub(super) const CONTENT: Cues = Cues(list(DATA, "content"), "");

/// Phrases that ask for a year.
pub(super) const YEAR: Cues = Cues(list(DATA, "year"), list(DATA, "year.unspaced"));

/// Words for a year.
pub(super) const YEARS: WordList = list(DATA, "years");

/// Phrases that ask for a list.
pub(super) const LIST: Cues = Cues(list(DATA, "list"), list(DATA, "list.unspaced"));

/// Phrases that compare two things.
pub(super) const DIFFERENCE: Cues =
    Cues(list(DATA, "difference"), list(DATA, "difference.unspaced"));

/// Phrases that ask for the newest thing.
pub(super) const LATEST: Cues = Cues(list(DATA, "latest"), list(DATA, "latest.unspaced"));

/// Phrases in which "last" names a period.
pub(super) const NOT_LATEST: Cues = Cues(list(DATA, "not-latest"), "");

pub(super) const YESTERDAY: Cues = Cues(list(DATA, "yesterday"), list(DATA, "yesterday.unspaced"));
pub(super) const TODAY: Cues = Cues(list(DATA, "today"), list(DATA, "today.unspaced"));
pub(super) const LAST_WEEK: Cues = Cues(list(DATA, "last-week"), list(DATA, "last-week.unspaced"));
pub(super) const THIS_WEEK: Cues = Cues(list(DATA, "this-week"), list(DATA, "this-week.unspaced"));
pub(super) const LAST_MONTH: Cues =
    Cues(list(DATA, "last-month"), list(DATA, "last-month.unspaced"));
pub(super) const THIS_MONTH: Cues =
    Cues(list(DATA, "this-month"), list(DATA, "this-month.unspaced"));
pub(super) const LAST_YEAR: Cues = Cues(list(DATA, "last-year"), list(DATA, "last-year.unspaced"));

/// All phrases that name a time as seen from today.
pub(super) const RELATIVE_TIMES: [&Cues; 8] = [
    &YESTERDAY,
    &TODAY,
    &LAST_WEEK,
    &THIS_WEEK,
    &NEXT_WEEK,
    &LAST_MONTH,
    &THIS_MONTH,
    &LAST_YEAR,
];

/// Whether a word such as "since" or "before" stands before a time as seen from today.
pub(super) fn opens_relative_time(lower: &str) -> bool {
    let spaced = format!(" {} ", split(lower).collect::<Vec<_>>().join(" "));
    let phrases = RELATIVE_TIMES.iter().flat_map(|cue| cue.0.split('|'));
    let mut places = phrases.flat_map(|phrase| spaced.match_indices(phrase));
    places.any(|(at, _)| {
        let before = spaced.get(..at).unwrap_or("");
        let last = split(before).filter(|word| !holds(ARTICLES, word)).last();
        last.is_some_and(|word| holds(OPEN_TIME.0, word))
    })
}

/// Words before the first of two things: "from the start to the end".
pub(super) const RANGE_FROM: WordList = list(DATA, "range-from");
/// Words between a thing and what it belongs to.
pub(super) const BELONGS_TO: WordList = list(DATA, "belongs-to");
/// Words before the first date of a time.
pub(super) const RANGE_BETWEEN: WordList = list(DATA, "range-between");
/// Words between the two dates of a time, such as "to" …
pub(super) const RANGE_TO: WordList = list(DATA, "range-to");
/// … or, after "between", "and".
pub(super) const RANGE_AND: WordList = list(DATA, "range-and");
/// Words before the beginning of a time that is still going on.
pub(super) const SINCE: WordList = list(DATA, "since");
/// Words before a date that begins or ends a time.
pub(super) const OPEN_TIME: Cues = Cues(list(DATA, "open-time"), list(DATA, "open-time.unspaced"));
/// Whether a question in lower case asks for the time before, after or between some days.
pub(super) fn names_open_time(lower: &str) -> bool {
    let mut words = split(lower);
    words.any(|word| holds(OPEN_TIME.spaced(), word) || holds(RANGE_BETWEEN, word))
        || OPEN_TIME.is_in_unspaced(lower)
}

/// Words with which a note says that something must be done.
pub(super) const NEED: Cues = Cues(list(DATA, "need"), "");
/// Phrases that ask for an amount.
pub(super) const HOW_MUCH: Cues = Cues(list(DATA, "how-much"), "");
/// Words that say that a thing costs nothing.
pub(super) const FREE_OF_CHARGE: WordList = list(DATA, "free-of-charge");
/// Words for money that goes out …
pub(super) const MONEY_OUT: WordList = list(DATA, "money-out");
/// … and comes in.
pub(super) const MONEY_IN: WordList = list(DATA, "money-in");
/// Words between an amount and what it is counted by, and those of them that end there.
pub(super) const RATES: WordList = list(DATA, "rates");
pub(super) const RATES_ALONE: WordList = list(DATA, "rates-alone");
/// Phrases that ask by how much two things differ.
pub(super) const GAP: Cues = Cues(list(DATA, "gap"), "");
/// Comparisons before an amount, …
pub(super) const AMOUNT_BELOW: Cues = Cues(list(DATA, "amount-below"), "");
pub(super) const AMOUNT_AT_MOST: Cues = Cues(list(DATA, "amount-at-most"), "");
pub(super) const AMOUNT_ABOVE: Cues = Cues(list(DATA, "amount-above"), "");
pub(super) const AMOUNT_AT_LEAST: Cues = Cues(list(DATA, "amount-at-least"), "");
/// … behind one, …
pub(super) const AMOUNT_OR_MORE: Cues = Cues(list(DATA, "amount-or-more"), "");
pub(super) const AMOUNT_OR_LESS: Cues = Cues(list(DATA, "amount-or-less"), "");
/// … and before a year.
pub(super) const YEAR_BEFORE: Cues = Cues(list(DATA, "year-before"), "");
pub(super) const YEAR_AFTER: Cues = Cues(list(DATA, "year-after"), "");
/// Articles, and words between them and a noun, that may stand before a date.
pub(super) const ARTICLES: WordList = list(DATA, "articles");

/// Phrases that ask for tasks.
pub(super) const TASKS: Cues = Cues(list(DATA, "tasks"), list(DATA, "tasks.unspaced"));
/// Names of tasks, in a question for their number, and words between "how many" and such a name.
const COUNTED_TASKS: WordList = list(DATA, "counted-tasks");
const BEFORE_TASKS: WordList = list(DATA, "before-tasks");

/// Before tasks this asks for a count; before other things it may ask for their number: "the number
/// of the flight".
const NUMBER_OF: &str = "number of ";

/// Whether `lower` asks for a number of tasks: "how many open tasks", "how many garden tasks". It
/// does not if another thing is counted, as in "how many hours does the task take".
pub(super) fn counts_tasks(lower: &str) -> bool {
    let spaced = format!(" {} ", split(lower).collect::<Vec<_>>().join(" "));
    let cues = COUNT.0.split('|').chain([NUMBER_OF]);
    let mut counts = cues.flat_map(|cue| {
        let places = spaced.match_indices(cue);
        places.map(move |(at, found)| at + found.len())
    });
    counts.any(|at| begins_with_tasks(spaced.get(at..).unwrap_or("")))
        || COUNT.is_in_unspaced(lower) && TASKS.is_in_unspaced(lower)
}

/// Whether a text begins with a name of tasks, with at most one word before it that says which.
fn begins_with_tasks(text: &str) -> bool {
    let mut others = 0;
    for word in split(text) {
        if holds(COUNTED_TASKS, word) {
            return true;
        }
        others += usize::from(!holds(BEFORE_TASKS, word));
        if others > 1 {
            return false;
        }
    }
    false
}

/// Phrases that ask for overdue tasks.
pub(super) const OVERDUE: Cues = Cues(list(DATA, "overdue"), list(DATA, "overdue.unspaced"));
/// Phrases for a day by which something must be done.
pub(super) const DUE: Cues = Cues(list(DATA, "due"), "");
pub(super) const NEXT_WEEK: Cues = Cues(list(DATA, "next-week"), list(DATA, "next-week.unspaced"));
/// Words in a question about tasks that do not identify the task.
pub(super) const TASK_WORDS: WordList = list(DATA, "task-words");
/// Phrases that ask for completed tasks.
pub(super) const DONE: Cues = Cues(list(DATA, "done"), list(DATA, "done.unspaced"));

/// Phrases that ask for tasks that are not completed.
pub(super) const NOT_DONE: Cues = Cues(list(DATA, "not-done"), list(DATA, "not-done.unspaced"));

pub(super) const SUM: Cues = Cues(list(DATA, "sum"), list(DATA, "sum.unspaced"));
pub(super) const MINIMUM: Cues = Cues(list(DATA, "minimum"), list(DATA, "minimum.unspaced"));
pub(super) const MAXIMUM: Cues = Cues(list(DATA, "maximum"), list(DATA, "maximum.unspaced"));
pub(super) const AVERAGE: Cues = Cues(list(DATA, "average"), list(DATA, "average.unspaced"));
pub(super) const COUNT: Cues = Cues(list(DATA, "count"), list(DATA, "count.unspaced"));
/// Phrases that ask for a number of days …
pub(super) const DAYS_ASKED: Cues =
    Cues(list(DATA, "days-asked"), list(DATA, "days-asked.unspaced"));
/// … between two dates …
pub(super) const BETWEEN: Cues = Cues(list(DATA, "between"), list(DATA, "between.unspaced"));
/// … or from today on.
pub(super) const UNTIL: Cues = Cues(list(DATA, "until"), list(DATA, "until.unspaced"));

/// Phrases that ask for an age.
pub(super) const AGE: Cues = Cues(list(DATA, "age"), list(DATA, "age.unspaced"));
/// Words of a question for an age at another time than today.
pub(super) const AGE_THEN: WordList = list(DATA, "age-then");
/// Words for a birth, unlike a birthday.
pub(super) const BIRTH: WordList = list(DATA, "birth");
/// Words for a death.
pub(super) const DEATH: WordList = list(DATA, "death");
/// Words that may stand before a name without changing who is meant.
pub(super) const BEFORE_NAME: WordList = list(DATA, "before-name");
/// Words without content between a name, a birth and its day.
pub(super) const BETWEEN_NAME_AND_BIRTH: WordList = list(DATA, "between-name-and-birth");
/// Words for a date in the name of a property.
pub(super) const DATE_KEY_WORDS: WordList = list(DATA, "date-key-words");
/// Names of properties with the day of a birth.
pub(super) const BIRTHDAY_KEYS: WordList = list(DATA, "birthday-keys");
/// Words for a date that recurs every year.
pub(super) const YEARLY: Cues = Cues(list(DATA, "yearly"), list(DATA, "yearly.unspaced"));
/// Words of a question that asks for everything from certain days.
pub(super) const ALL_OF_DAYS: WordList = list(DATA, "all-of-days");

/// Phrases that ask for the meaning of a word.
pub(super) const MEANS: Cues = Cues(list(DATA, "means"), list(DATA, "means.unspaced"));

/// Phrases that ask for money.
pub(super) const MONEY: Cues = Cues(list(DATA, "money"), list(DATA, "money.unspaced"));
/// Phrases that ask for a price.
pub(super) const PRICE: Cues = Cues(list(DATA, "price"), list(DATA, "price.unspaced"));
/// Holidays and forms of address. English capitalises them, but they do not name one thing.
pub(super) const NOT_NAMES: WordList = list(DATA, "not-names");
/// Names of columns with dates and numbers of days, months and years.
/// Words for a counter whose readings are subtracted.
pub(super) const COUNTERS: WordList = list(DATA, "counters");
pub(super) const DAYS_COUNTED: WordList = list(DATA, "days-counted");
pub(super) const DATE_COLUMNS: WordList = list(DATA, "date-columns");
/// Names of rows with the total of other rows.
pub(super) const TOTAL_ROWS: WordList = list(DATA, "total-rows");
/// Names of columns with amounts of money.
pub(super) const MONEY_COLUMNS: WordList = list(DATA, "money-columns");
/// Currency signs.
pub(super) const MONEY_MARKS: &str = list(DATA, "money-marks");

/// Words for ways to contact a person.
pub(super) const PHONE: Cues = Cues(list(DATA, "phone"), list(DATA, "phone.unspaced"));
pub(super) const EMAIL: Cues = Cues(list(DATA, "email"), list(DATA, "email.unspaced"));

/// Phrases that ask for a summary of a note.
pub(super) const SUMMARY: Cues = Cues(list(DATA, "summary"), list(DATA, "summary.unspaced"));
/// Words for all notes together.
pub(super) const COLLECTION: WordList = list(DATA, "collection");
/// Words beside them that leave none out.
pub(super) const WHOLE: WordList = list(DATA, "whole");
/// Verbs that ask for one name after the other.
pub(super) const ENUMERATE: WordList = list(DATA, "enumerate");
/// Words with which a question asks for all that there are.
pub(super) const OWNED: WordList = list(DATA, "enumerate.owned");

/// The first word of a yes-or-no question.
pub(super) const POLAR: WordList = list(DATA, "polar");

/// Whether `lower`, a question in lower case, can be answered with yes or no. German "was" means
/// "what".
pub(super) fn asks_yes_or_no(lower: &str) -> bool {
    let first = split(lower).next().unwrap_or("");
    let is_polar =
        holds(POLAR, first) && !(first == "was" && of_language(lower) == Language::German);
    let asks_other = || split(lower).any(|word| holds(ASKING, word));
    is_polar || inverts_subject(lower) && !asks_other()
}

/// Whether a verb and its subject are inverted, as French does after the subject's noun too: "Le
/// gîte a-t-il un four ?"
fn inverts_subject(lower: &str) -> bool {
    if !lower.contains('-') || of_language(lower) != Language::French {
        return false;
    }
    let mut pairs = lower
        .split_whitespace()
        .filter_map(|word| word.rsplit_once('-'));
    pairs.any(|(verb, subject)| {
        !verb.is_empty() && !holds(NOT_INVERTED, verb) && holds(INVERTED, subject)
    })
}

/// Words before a pronoun that are no verb: "rendez-vous".
const NOT_INVERTED: WordList = list(DATA, "not-inverted");
/// French pronouns behind a verb.
const INVERTED: WordList = list(DATA, "inverted");

/// Whether `lower` is not a question but words as they are typed for a search.
pub(super) fn is_typed(lower: &str) -> bool {
    !lower.contains('?') && !asks_yes_or_no(lower) && !split(lower).any(|word| holds(ASKING, word))
}

/// Words between two things that are compared.
pub(super) const SIDES: WordList = list(DATA, "sides");

/// Words before a version's number.
pub(super) const VERSION: WordList = list(DATA, "version");

/// Units that distinguish several things with one name: sizes, never prices or times.
pub(super) const SIZES: WordList = list(DATA, "sizes");

/// Words that put one thing before or after another in time.
const BEFORE_AND_AFTER: WordList = list(DATA, "before-and-after");

/// Words of a question for a time, or for what was.
pub(super) const OF_THE_PAST: WordList = list(DATA, "of-the-past");

/// Whether a question asks for something before or after a thing with a name or a number.
pub(super) fn relation(text: &str) -> bool {
    let words: Vec<&str> = split(text).collect();
    words.windows(2).any(|pair| {
        holds("before after", pair[0])
            && pair[1].starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
    })
}

/// Whether a unit says that something was before or after another.
pub(super) fn relates(plain: &str) -> bool {
    let lower = plain.to_lowercase();
    let more =
        "previously former formerly predecessor successor then until later earlier bis dann vorher";
    split(&lower).any(|w| holds(BEFORE_AND_AFTER, w) || holds(more, w))
}

/// The verb of a question for a person, or for a time with an auxiliary verb: "built" in "who built
/// the shed?", "when will the shed be built?", "who is Mara married to?", "wer hat den Schuppen
/// gebaut?" and "qui a construit la remise ?". The words are in lower case.
pub(super) fn asked_verb<'t>(words: &[&'t str]) -> Option<&'t str> {
    let is_auxiliary = |word: &&str| holds(POLAR, word);
    match words {
        ["when" | "wann" | "wer", auxiliary, .., verb] if is_auxiliary(auxiliary) => Some(verb),
        [
            "who" | "whom",
            auxiliary,
            _,
            ..,
            verb,
            "to" | "with" | "by" | "for",
        ]
        | [
            "mit" | "von" | "bei" | "für",
            "wem" | "wen",
            auxiliary,
            _,
            ..,
            verb,
        ] if is_auxiliary(auxiliary) => Some(verb),
        ["qui" | "quién" | "chi" | "кто", auxiliary, verb, _, ..]
            if is_auxiliary(auxiliary) || holds(list(DATA, "has"), auxiliary) =>
        {
            Some(verb)
        }
        ["who" | "wer" | "qui" | "quién" | "chi" | "кто", verb, _, ..] => Some(verb),
        _ => None,
    }
}

/// Words before the thing that is counted.
/// The question without the words with which it begins when it is a request: "show me".
pub(super) fn without_request(text: &str) -> &str {
    let text = text.trim_start();
    let behind = |request: &str| {
        let begin = text.get(..request.len())?;
        let rest = text.get(request.len()..)?;
        let is_whole = rest.starts_with(char::is_whitespace);
        (is_whole && begin.to_lowercase() == request).then_some(rest)
    };
    let mut requests = REQUESTS.split('|');
    requests.find_map(behind).unwrap_or(text)
}

const REQUESTS: WordList = list(DATA, "requests");
const COUNTED: WordList = list(DATA, "counted");
const REPEATS: WordList = list(DATA, "counted.repeats");

/// Words for amounts of a thing, and the words between them and the thing: "bags of".
const MEASURES: WordList = list(DATA, "measures");
const OF_MEASURED: WordList = list(DATA, "of-measured");

/// The word for what a question counts: "pages" in "how many pages does it have?", "flour" in "how
/// many kg of flour do we need?"
pub(super) fn counted(text: &str) -> Option<&str> {
    let words: Vec<&str> = split(text).collect();
    let at = words
        .iter()
        .position(|word| holds(COUNTED, &word.to_lowercase()))?;
    let grammar = of_language(&text.to_lowercase());
    let behind = words.get(at + 1..)?;
    let lower: Vec<String> = behind.iter().map(|word| word.to_lowercase()).collect();
    let is_content = |word: &String| !is_grammar(grammar, word);
    let first = lower.iter().position(is_content)?;
    let thing = measured(&lower, first).unwrap_or(first);
    behind.get(thing).copied()
}

/// The unit directly behind "how many", in small letters: the answer is an amount, and no number of
/// things. "How many times" asks for a number of things.
pub(super) fn counted_unit(text: &str) -> Option<String> {
    let mut words = split(text).skip_while(|word| !holds(COUNTED, &word.to_lowercase()));
    let unit = words.nth(1)?.to_lowercase();
    let is_unit = local_agent_verify::unit(&unit).is_some() && !holds(REPEATS, &unit);
    is_unit.then_some(unit)
}

fn is_measure(word: &str) -> bool {
    holds(MEASURES, word) || holds(SIZES, word) || local_agent_verify::unit(word).is_some()
}

/// The position of the thing behind a measure: "flour" in "kg of flour".
fn measured(lower: &[String], measure: usize) -> Option<usize> {
    let mut at = measure;
    while is_measure(lower.get(at)?) {
        at += 1;
    }
    let of = lower.get(at).is_some_and(|word| holds(OF_MEASURED, word));
    (at > measure && of).then_some(at + 1)
}

/// Whether a question begins with "which" and a singular noun, and so asks for one thing: "which
/// bit does Tolly wear?"
pub(super) fn asks_which_one(lower: &str) -> bool {
    let words: Vec<&str> = split(lower).collect();
    let Some(["which", rest @ ..]) = words.get(..) else {
        return false;
    };
    let verb = rest.iter().position(|w| holds(POLAR, w));
    let noun = verb.and_then(|at| rest.get(at.checked_sub(1)?));
    let is_plural = |noun: &&str| noun.ends_with('s') && !noun.ends_with("ss");
    let singular = noun.is_some_and(|noun| !is_plural(noun) && noun.len() > 2);
    singular
        && verb
            .and_then(|at| rest.get(at))
            .is_some_and(|verb| holds(SINGULAR, verb))
}

/// English verbs behind a singular noun, or behind either.
const SINGULAR: WordList = list(DATA, "singular");

/// Prepositions that follow an attribute: "the number **of** the flight".
pub(super) const ATTRIBUTED: WordList = list(DATA, "attributed");

/// Whether a text in lower case asks for a code or a number of a thing: "gate code", "code for the
/// gate", "what is the number of the flight".
pub(super) fn asks_for_code_number(lower: &str) -> bool {
    let words: Vec<&str> = split(lower).collect();
    let Some(at) = words.iter().position(|w| holds(CODE_NUMBERS, w)) else {
        return false;
    };
    let before = words.get(..at).unwrap_or_default();
    let is_typed = before
        .iter()
        .all(|w| !is_grammar(Language::English, w) && !holds(ASKING, w));
    let is_asked = matches!(before, ["what", "is" | "was" | "s", "the", ..]);
    let ends = words.get(at + 1).is_none_or(|next| holds(ATTRIBUTED, next));
    ends && (is_typed || is_asked)
}

/// Words for attributes that are written in digits.
const CODE_NUMBERS: WordList = list(DATA, "code-numbers");

/// Words that say how old something is.
pub(super) const AGES: WordList = list(DATA, "ages");

/// Words that negate a condition: "not" in "which have not been paid back?"
const NEGATION: WordList = list(DATA, "negation");

/// Whether a question in lower case contains a negation.
pub(super) fn negates(lower: &str) -> bool {
    let words: Vec<&str> = split(lower).collect();
    // "isn't" is two words.
    let mut pairs = words.windows(2);
    pairs.any(|pair| pair[0].ends_with('n') && pair[1] == "t")
        || words.iter().any(|word| holds(NEGATION, word))
}

/// What a cell of a table says that has only "yes" or "no", or a mark that means one of them.
pub(super) fn yes_or_no(cell: &str) -> Option<bool> {
    let lower = cell.trim_matches(['*', '_', '`', ' ']).to_lowercase();
    match () {
        () if holds(YES_CELLS, &lower) => Some(true),
        () if holds(NO_CELLS, &lower) => Some(false),
        () => None,
    }
}

const YES_CELLS: WordList = list(DATA, "yes-cells");
const NO_CELLS: WordList = list(DATA, "no-cells");

/// Names of columns and properties with the state of a thing.
pub(super) const STATUS_KEYS: WordList = list(DATA, "status-keys");

/// Phrases before a thing that the question leaves out: "allergic to besides nuts".
pub(super) const BESIDES: Cues = Cues(list(DATA, "besides"), "");

/// Names of feasts; those of one feast are between two bars.
const FEASTS: WordList = list(DATA, "feasts");

/// The feasts that a text in lower case names, by their number.
pub(super) fn feasts(lower: &str) -> Vec<usize> {
    let named = |names: &'static str| split(lower).any(|word| holds(names, word));
    let feasts = FEASTS.split('|').enumerate();
    feasts
        .filter(|(_, names)| named(names))
        .map(|(at, _)| at)
        .collect()
}

/// Words for currencies.
pub(super) const CURRENCIES: WordList = list(DATA, "currencies");

/// Words before a month that is a time.
pub(super) const BEFORE_MONTH: WordList = list(DATA, "before-month");

/// Whether a word in lower case says where somebody lives. German joins the word for a street to its
/// name: "Lindenstraße".
pub(super) fn is_residence(lower: &str) -> bool {
    let mut endings = RESIDENCE_ENDINGS.split(' ');
    holds(RESIDENCE, lower) || endings.any(|ending| lower.ends_with(ending))
}

/// Words between two things that are compared, and only there.
pub(super) const OPPOSED: WordList = list(DATA, "opposed");
/// Words between two things behind an adjective that compares: "older than".
pub(super) const THAN: WordList = list(DATA, "than");

/// Adjectives that compare; in some languages they follow a word such as "plus".
const COMPARATIVES: WordList = list(DATA, "comparatives");
const COMPARING: WordList = list(DATA, "comparing");

/// Whether a question in lower case compares two things: "which is older, the van or the bike?", "is
/// the van older than the bike?"
pub(super) fn compares(lower: &str) -> bool {
    let between = |word: &str| holds(THAN, word) || holds(SIDES, word);
    split(lower).any(between) && has_comparative(lower)
}

/// Whether a question in lower case has an adjective that compares.
fn has_comparative(lower: &str) -> bool {
    let words: Vec<&str> = split(lower).collect();
    let is_one_word = matches!(of_language(lower), Language::English | Language::German);
    let is_compared = |pair: &[&str]| is_one_word || holds(COMPARING, pair[0]);
    let mut pairs = words.windows(2);
    pairs.any(|pair| holds(COMPARATIVES, pair[1]) && is_compared(pair))
}

/// Words for an entry of a log.
pub(super) const ENTRIES: WordList = list(DATA, "entries");
/// Words of a question for the newest of several notes that do not say which note is meant.
pub(super) const HAPPENED: WordList = list(DATA, "happened");
/// Verbs for living somewhere, as a question asks for it, and words with which a note says it.
pub(super) const RESIDENCE_VERBS: WordList = list(DATA, "residence-verbs");
const RESIDENCE: WordList = list(DATA, "residence");
const RESIDENCE_ENDINGS: WordList = list(DATA, "residence-endings");
/// Words for tags.
pub(super) const TAGGED: WordList = list(DATA, "tagged");

/// The words for what a superlative compares: "weight" for "lightest".
const SUPERLATIVE_ATTRIBUTES: WordList = list(DATA, "superlative-attributes");

/// The words for the attribute that a superlative of the question compares.
pub(super) fn compared_attributes(lower: &str) -> Vec<&'static str> {
    let spaced = format!(" {} ", split(lower).collect::<Vec<_>>().join(" "));
    let pairs = SUPERLATIVE_ATTRIBUTES.split('|');
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(phrase, _)| spaced.contains(&format!(" {phrase} ")))
        .flat_map(|(_, attributes)| attributes.split(' '))
        .collect()
}

/// Whether a text (in lower case) has a word for a cause. "Since spring" and "since 3 May" are times.
pub(super) fn says_why(lower: &str) -> bool {
    const TIMES: WordList = list(DATA, "since-times");
    let words: Vec<&str> = split(lower).collect();
    let is_time = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            || month(word).is_some()
            || names_day(word)
            || holds(TIMES, word)
    };
    let kept = words.iter().enumerate().filter(|(at, word)| {
        let next = words.get(at + 1);
        **word != "since" || !next.is_none_or(|next| is_time(next))
    });
    let kept: Vec<&str> = kept.map(|(_, word)| *word).collect();
    BECAUSE.are_in(&kept.join(" ")) || BECAUSE.is_in_unspaced(lower)
}

/// Whether a superlative of the question compares prices: "the cheapest".
pub(super) fn compares_prices(lower: &str) -> bool {
    compared_attributes(lower)
        .into_iter()
        .any(|attribute| holds(MONEY_COLUMNS, attribute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_no_part_of_what_is_asked() {
        for (text, rest) in [
            ("Show me all open tasks", " all open tasks"),
            ("zeig mir die Rezepte", " die Rezepte"),
            ("Покажи мне рецепты", " рецепты"),
            ("Showing the slides", "Showing the slides"),
            ("show me", "show me"),
            ("Wer ist da?", "Wer ist da?"),
        ] {
            assert_eq!(without_request(text), rest);
        }
    }

    #[test]
    fn an_amount_is_told_from_a_number_of_things() {
        for (text, unit) in [
            ("How many kilos of coffee did I buy?", Some("kilos")),
            ("How many km did I run in May?", Some("km")),
            ("Wie viele Stunden hat er gearbeitet?", Some("stunden")),
            ("How many times did I run in May?", None),
            ("How many recipes do I have?", None),
        ] {
            assert_eq!(counted_unit(text).as_deref(), unit, "{text}");
        }
    }

    #[test]
    fn the_language_of_a_question_is_that_of_its_function_words() {
        for (question, language) in [
            ("where is the key to the shed", Language::English),
            ("door code", Language::English),
            ("care home phone", Language::English),
            ("wo ist der schlüssel", Language::German),
            ("dove si trova la chiave della barca", Language::Italian),
            ("waar is de sleutel van de schuur", Language::Dutch),
            ("onde está a chave do galpão", Language::Portuguese),
        ] {
            assert_eq!(of_language(question), language, "{question}");
        }
    }

    #[test]
    fn an_inverted_subject_asks_for_yes_or_no() {
        assert!(asks_yes_or_no("le gîte a-t-il un four ?"));
        assert!(asks_yes_or_no("peut-on louer des draps ?"));
        assert!(!asks_yes_or_no("où as-tu rangé la clé ?"));
        assert!(!asks_yes_or_no("le rendez-vous du mardi"));
        assert!(!asks_yes_or_no("add-on battery price"));
    }

    #[test]
    fn what_is_counted_is_behind_its_measure() {
        for (question, thing) in [
            ("how many pages does it have?", "pages"),
            ("How many kg of leeks did I harvest?", "leeks"),
            ("how many bags of flour are left", "flour"),
            ("Wie viele Gäste kommen?", "Gäste"),
        ] {
            assert_eq!(counted(question), Some(thing), "{question}");
        }
    }

    #[test]
    fn the_verb_of_a_question_for_a_person_or_a_time_is_found_in_several_languages() {
        for (question, verb) in [
            ("who built the shed", Some("built")),
            ("when will the shed be built", Some("built")),
            ("who is mara lind married to", Some("married")),
            ("who was it sold by", Some("sold")),
            ("mit wem ist mara lind verheiratet", Some("verheiratet")),
            ("wer hat den schuppen gebaut", Some("gebaut")),
            ("wer baute den schuppen", Some("baute")),
            ("wann wird der ofen geliefert", Some("geliefert")),
            ("qui a construit la remise", Some("construit")),
            ("when", None),
            ("was kostet der ofen", None),
        ] {
            let words: Vec<&str> = split(question).collect();
            assert_eq!(asked_verb(&words), verb, "{question}");
        }
    }

    #[test]
    fn a_question_word_tells_the_language_of_a_short_question() {
        let french = "de quelle marque est la remorque de thierry";
        assert_eq!(language(french), Some(Language::French));
        assert_eq!(language("what does pourquoi mean"), Some(Language::English));
    }
}
