//! Parses a question: the words of its subject, and the kind of answer that it needs.
//!
//! The word lists give only hints. None of them rules out an answer.

use std::collections::{HashMap, HashSet};

use super::attributes;
use super::calendar::{self, Day, Period};
use super::conditions::{self, AmountCondition};
use super::constraints::{self, Constraint};
use super::cues;
use super::periods::{self, NamedTime};
use super::synonyms;
use local_agent_index::lexical;
use local_agent_text::language::Language;

/// The rarity of a stemmed term in the index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rarity {
    /// Its inverse document frequency.
    pub idf: f32,
    /// Whether any chunk contains it.
    pub known: bool,
}

/// A word of the question that describes its subject.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    /// The stem, as returned by [`lexical::terms`].
    pub stem: String,
    /// The original word.
    pub word: String,
    /// Its importance: the idf in the index, times the share of the word that is not grammar.
    pub weight: f32,
    /// Whether it is a name or number of one specific thing, which no other word can replace.
    pub is_name: bool,
    /// Whether any chunk contains it.
    pub known: bool,
    /// Stems of words with the same meaning; none for a name.
    pub synonyms: Vec<String>,
}

/// The kind of answer, which determines how it is composed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum QuestionKind {
    #[default]
    Fact,
    Steps,
    List,
    Definition,
    Difference,
    Reason,
    Latest,
    Tasks,
    Total(Operation),
    YesNo,
    Summary,
}

/// The computation over several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The sum of a column of amounts.
    Sum,
    /// The number of items.
    Count,
    /// The smallest amount of a column.
    Minimum,
    /// The largest amount of a column.
    Maximum,
    /// The mean of a column.
    Average,
    /// The days between two dates.
    Days,
    /// The whole years since a date.
    Years,
    /// By how much two amounts differ.
    Difference,
    /// Yes or no, by a property with a status.
    YesOrNo,
}

/// What the answer must contain. More than one may be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wants {
    pub time: bool,
    /// A year, asked for by that word.
    pub year: bool,
    pub number: bool,
    /// A code, a number or a price of a thing, which has digits.
    pub code_number: bool,
    /// A price, asked for without "how much".
    pub price: bool,
    /// "How long?": an amount of time or length.
    pub extent: bool,
    pub person: bool,
    pub phone: bool,
    pub email: bool,
    pub reason: bool,
    /// "What is X?", about one thing.
    pub definition: bool,
    /// "How do I …?"
    pub steps: bool,
    /// A command or code, explicitly asked for.
    pub code: bool,
    /// Something no longer valid, because the question itself is about it.
    pub past: bool,
    /// More than one thing: "when …, and what …?"
    pub several: bool,
}

/// The share of its weight that a light verb keeps.
const LIGHT: f32 = 0.35;

/// The weight, as a share of the mean, of a word that no note contains and that is not a name.
const UNKNOWN: f32 = 0.6;

/// A question, analysed.
#[derive(Debug, Clone)]
pub(super) struct ParsedQuestion {
    pub text: String,
    pub terms: Vec<Term>,
    pub kind: QuestionKind,
    pub wants: Wants,
    /// The time or number that the answer must match.
    pub constraints: Vec<Constraint>,
    /// The conditions on amounts and years that a table may decide.
    pub conditions: Vec<AmountCondition>,
    /// The days that the answer must match.
    pub period: Option<Period>,
    /// Whether it names several dates, or an open time, and does not say which days it means.
    pub has_unclear_time: bool,
    /// Whether it asks for everything of these days: "What did I do last week?"
    pub is_about_days_alone: bool,
    /// The day on which it is asked.
    pub today: Day,
    /// For "what is the … of …?": which term is the attribute.
    pub attribute: Option<usize>,
    /// For "how many … are there?": which term is counted.
    pub counted: Option<usize>,
}

impl ParsedQuestion {
    /// Parses `text`, asked on `today`; `rarity` weighs a stem. Terms are distinct and in order of
    /// appearance.
    pub(super) fn read(text: &str, today: Day, rarity: &dyn Fn(&str) -> Rarity) -> Self {
        let lower = text.to_lowercase();
        let mut terms = terms(text, &lower, rarity);
        let days_alone = terms.iter().all(is_about_days);
        let named_days = || {
            days_alone
                .then(|| calendar::named_days(text, today))
                .flatten()
        };
        let period = calendar::period(text, today).or_else(named_days);
        let content = terms.len();
        let wants = Wants::of(&lower, content);
        let due = period.is_some() && cues::DUE.are_in(&lower) && !wants.time && !wants.number;
        let kind = match due {
            true => QuestionKind::Tasks,
            false => QuestionKind::of(&lower, &wants, content),
        };
        let since = || {
            matches!(kind, QuestionKind::Total(_))
                .then(|| {
                    let since = periods::since_month(text, today);
                    since.or_else(|| periods::named_months(text, today))
                })
                .flatten()
        };
        let period = period.or_else(since);
        let mut quiet = quiet_words(kind, period.is_some());
        if wants.year {
            quiet.push(cues::YEARS);
        }
        if terms.iter().any(|term| !is_quiet(&quiet, term)) {
            terms.retain(|term| !is_quiet(&quiet, term));
        }
        settle_weights(&mut terms);
        let place_of = |word: &str| terms.iter().position(|t| t.word == word);
        let in_any_language = || attributes::in_any_language(text);
        let attribute = attributes::in_english(text)
            .or_else(|| in_any_language().filter(|_| wants.is_of_no_type()))
            .and_then(place_of)
            .or_else(|| {
                terms
                    .iter()
                    .position(|term| (wants.time || cues::is_typed(&lower)) && names_birthday(term))
            });
        let counted = cues::counted(text).and_then(place_of);
        let conditions = conditions::of(&lower);
        let bounds_years = conditions.iter().any(|one| one.year().is_some());
        Self {
            text: text.to_owned(),
            terms,
            kind,
            wants,
            constraints: conditions::without_years(&conditions, constraints::of_question(text)),
            conditions,
            period,
            has_unclear_time: !bounds_years
                && periods::named_time(text, today) == NamedTime::Unclear,
            is_about_days_alone: days_alone && period.is_some(),
            today,
            attribute,
            counted,
        }
    }

    /// The weight of all terms together.
    pub(super) fn total(&self) -> f32 {
        self.terms.iter().map(|t| t.weight).sum()
    }

    /// Whether it asks for tasks, which may be in any note, or for their number.
    pub(super) fn is_about_tasks(&self) -> bool {
        self.kind == QuestionKind::Tasks || self.counts_tasks()
    }

    /// Whether it asks how many tasks there are.
    pub(super) fn counts_tasks(&self) -> bool {
        let counts = self.kind == QuestionKind::Total(Operation::Count);
        counts && cues::counts_tasks(&self.text.to_lowercase())
    }

    /// Whether its answer is a value computed from whole notes.
    pub(super) fn is_computed(&self) -> bool {
        matches!(self.kind, QuestionKind::Total(_))
            || self.is_about_tasks()
            || self.is_about_spending()
            || self.asks_how_much()
            || !self.conditions.is_empty()
    }

    /// Whether it asks how much money was spent in some time: "How much did we pay the vet last
    /// month?" One row of a table may be the answer, or the sum of several.
    pub(super) fn is_about_spending(&self) -> bool {
        self.kind == QuestionKind::Fact
            && self.wants.number
            && self.period.is_some()
            && cues::MONEY.are_in(&self.text.to_lowercase())
    }

    /// Whether it has a word beside a name and the attribute of the named thing: "Ada's birthday" is
    /// not that of somebody else, but "the birthday of Ada's sister" is.
    pub(super) fn names_relation(&self) -> bool {
        let is_attribute = |at: usize| self.attribute == Some(at) || self.counted == Some(at);
        let mut terms = self.terms.iter().enumerate();
        terms.any(|(at, term)| !term.is_name && !is_attribute(at))
    }

    /// The position of the verb in "who built the shed?" and in "when will the shed be built?".
    pub(super) fn predicate(&self) -> Option<usize> {
        let lower = self.text.to_lowercase();
        let words: Vec<&str> = cues::split(&lower).collect();
        let verb = cues::asked_verb(&words)?;
        let mut terms = self.terms.iter();
        terms.position(|term| !term.is_name && term.word.to_lowercase() == verb)
    }

    /// The stems of its conditions on amounts.
    pub(super) fn stems_of_conditions(&self) -> HashSet<String> {
        let conditions = self.conditions.iter();
        conditions.flat_map(AmountCondition::stems).collect()
    }

    /// Whether it asks for an amount by "how much", which several rows of a table may make up.
    pub(super) fn asks_how_much(&self) -> bool {
        self.kind == QuestionKind::Fact && cues::HOW_MUCH.are_in(&self.text.to_lowercase())
    }

    /// The days in which something is counted, if the question names some: a month need not have
    /// its year.
    pub(super) fn counted_days(&self) -> Option<Period> {
        let month = || periods::month_without_year(&self.text, self.today);
        match self.kind {
            QuestionKind::Total(Operation::Count) => self.period.or_else(month),
            _ => self.period,
        }
    }

    /// The words of the question, for a model's comparison of each with the words of a unit.
    pub(super) fn words(&self) -> Vec<&str> {
        cues::split(&self.text).collect()
    }
}

/// Whether a term is a word for a birthday.
fn names_birthday(term: &Term) -> bool {
    cues::holds(cues::BIRTHDAY_KEYS, &term.word.to_lowercase())
}

/// Whether one of the lists has the word.
fn is_quiet(quiet: &[&str], term: &Term) -> bool {
    let word = term.word.to_lowercase();
    quiet
        .iter()
        .any(|list| list.split([' ', '|']).any(|w| w == word))
}

/// Whether a word only says that the question asks for everything of certain days, or names the
/// days.
fn is_about_days(term: &Term) -> bool {
    let word = term.word.to_lowercase();
    let number = word.chars().all(|c| c.is_ascii_digit());
    let joins = cues::holds(cues::RANGE_BETWEEN, &word) || cues::holds(cues::SINCE, &word);
    number || joins || cues::holds(cues::ALL_OF_DAYS, &word) || cues::month(&word).is_some()
}

/// Words that indicate the kind of answer and not the subject.
fn quiet_words(kind: QuestionKind, dated: bool) -> Vec<&'static str> {
    let mut lists = match kind {
        QuestionKind::Latest => vec![cues::LATEST.spaced()],
        QuestionKind::Tasks => vec![cues::TASK_WORDS],
        QuestionKind::Difference => vec![cues::DIFFERENCE.spaced(), "between main"],
        QuestionKind::Summary => vec![
            cues::SUMMARY.spaced(),
            "give overview note notes noted wrote short gist key main points",
        ],
        QuestionKind::Total(Operation::Sum) => {
            vec![
                cues::SUM.spaced(),
                "come whole far added spend spent cost costs pay paid",
            ]
        }
        QuestionKind::Total(Operation::Count) => vec!["many number there"],
        QuestionKind::Total(Operation::Days) => {
            vec!["days weeks months between day week month long until left got passed"]
        }
        QuestionKind::Total(Operation::Years) => vec!["old age alt years jahre âge años"],
        QuestionKind::Total(Operation::Minimum) => vec![cues::MINIMUM.spaced()],
        QuestionKind::Total(Operation::Maximum) => vec![cues::MAXIMUM.spaced()],
        QuestionKind::Total(Operation::Average) => vec![cues::AVERAGE.spaced()],
        QuestionKind::Definition => vec![
            "mean means meant meaning define definition stand stands term exactly explain uses manual",
        ],
        QuestionKind::Reason => vec!["reason reasons come"],
        QuestionKind::Steps => {
            vec!["step steps schritt schritte étape étapes paso pasos passi шаги"]
        }
        QuestionKind::List => vec!["list name kinds types things items everything moment now"],
        _ => Vec::new(),
    };
    if dated {
        lists.push("yesterday today last next this week month year happened happen");
        lists.push("gestern heute letzte letzter letzten diese dieser woche monat jahr");
    }
    lists
}

/// The terms of a question without grammar words, each with its original word.
fn terms(text: &str, lower: &str, rarity: &dyn Fn(&str) -> Rarity) -> Vec<Term> {
    let language = cues::of_language(lower);
    let bare = without_grammar(cues::without_request(text), language);
    let source = if lexical::terms(&bare).is_empty() {
        text
    } else {
        &bare
    };
    let shares = unspaced_shares(lower);
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for word in cues::split(source) {
        let light = cues::holds(cues::LIGHT, &word.to_lowercase());
        for stem in lexical::terms(word) {
            let share = match light {
                true => LIGHT,
                false => shares.get(&stem).copied().unwrap_or(1.0),
            };
            let Rarity { idf, known } = rarity(&stem);
            let weight = idf.max(0.0) * share;
            if seen.insert(stem.clone()) {
                let is_name = is_name(word, text, language);
                let synonyms = match is_name {
                    true => Vec::new(),
                    false => synonyms::of(&stem),
                };
                out.push(Term {
                    stem,
                    word: word.to_owned(),
                    weight,
                    is_name,
                    known,
                    synonyms,
                });
            }
        }
    }
    if out.iter().any(|t| t.weight > 0.0) {
        out.retain(|t| t.weight > 0.0);
    } else {
        for term in &mut out {
            term.weight = 1.0;
        }
    }
    out
}

/// An unknown word must not have the highest weight: the notes may use another word for it.
fn settle_weights(terms: &mut [Term]) {
    let known: Vec<f32> = terms.iter().filter(|t| t.known).map(|t| t.weight).collect();
    if known.is_empty() {
        return;
    }
    let mean = known.iter().sum::<f32>() / known.len() as f32;
    for term in terms.iter_mut().filter(|t| !t.known && !t.is_name) {
        term.weight = term.weight.min(UNKNOWN * mean);
    }
}

/// Whether a word looks like a name: it has a capital that its position does not explain, or only
/// capitals, or a digit.
fn is_name(word: &str, text: &str, language: Language) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    if word.chars().any(|c| c.is_ascii_digit()) {
        return letters > 0 || is_code(word, text);
    }
    let shouted = letters > 1 && word.chars().all(char::is_uppercase);
    let Some(at) = text.find(word) else {
        return shouted;
    };
    let before = text[..at].trim_end_matches(|c: char| !c.is_alphanumeric() && !"?!.:".contains(c));
    let begins = before.is_empty() || before.ends_with(['?', '!', '.', ':']);
    let capital = word.starts_with(char::is_uppercase);
    let lower = word.to_lowercase();
    let common = cues::month(&lower).is_some()
        || cues::names_day(&lower)
        || cues::holds(cues::NOT_NAMES, &lower);
    let after = text.get(at + word.len()..).unwrap_or("");
    // "Mira's shoe size": the owner is capitalised because it is a name.
    let owns = after.starts_with("'s ") || after.starts_with("’s ");
    shouted || capital && (!begins || owns) && !common && !cues::capitalises_nouns(language)
}

/// Whether digits are part of a hyphenated name, like 502 in "TH-502" and 030 in "26-030".
fn is_code(word: &str, text: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].strip_suffix('-');
        before.is_some_and(|before| before.ends_with(char::is_uppercase) || numbers(before, word))
    })
}

/// Whether the number `word` and the one at the end of `before` form a name such as "26-030". The
/// numbers of a range or a date have about the same length.
fn numbers(before: &str, word: &str) -> bool {
    let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let rest = &before[..before.len() - digits];
    (1..=2).contains(&digits) && word.len() == 3 && !rest.ends_with(['-', '–'])
}

/// `text` with the function words of its language replaced by blanks; parts of compounds stay.
fn without_grammar(text: &str, language: Language) -> String {
    let mut out = String::with_capacity(text.len());
    let mut asks = false;
    for piece in text.split_inclusive(|c: char| c.is_whitespace() || "'’".contains(c)) {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        // "IT", "US": all capitals mean an abbreviation, not a pronoun.
        let shouted = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
        let lower = word.to_lowercase();
        // "May" is a month in "in May", and a verb in "May I".
        let month = !out.trim().is_empty()
            && word.starts_with(char::is_uppercase)
            && cues::month(&lower).is_some();
        // "long" after "how" asks for an amount; the answer need not contain the word.
        let degree = asks && cues::holds(cues::DEGREES, &lower);
        asks = matches!(lower.as_str(), "how" | "wie");
        let is_grammar =
            !shouted && !month && (degree || lower == "s" || is_all_grammar(language, &lower));
        out.push_str(if is_grammar { " " } else { piece });
    }
    out
}

/// Whether a word in lower case is a function word; French joins several with hyphens: "a-t-il".
fn is_all_grammar(language: Language, lower: &str) -> bool {
    let mut parts = lower.split('-');
    cues::is_grammar(language, lower)
        || language == Language::French && parts.all(|part| cues::is_grammar(language, part))
}

/// Kinds of characters in scripts written without spaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Other,
}

fn script(c: char) -> Option<Script> {
    match c {
        'ぁ'..='ゟ' => Some(Script::Hiragana),
        'ァ'..='ヿ' => Some(Script::Katakana),
        c if is_unspaced(c) => Some(Script::Other),
        _ => None,
    }
}

/// Scripts written without spaces between words: kana, ideographs, Thai.
pub(super) const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{0e00}'..='\u{0e7f}' | '\u{20000}'..='\u{2ffff}')
}

/// The information in each pair of adjacent characters in unspaced scripts, 0 to 1.
///
/// Japanese writes its grammar in hiragana: a pair of two hiragana has no weight, one that begins
/// with hiragana is a particle and the start of a word, and one that ends with it is the end of a
/// word and its inflection. A katakana word of many characters is one word: its pairs share the
/// weight of one and a half. A pair across two scripts is a word boundary. Chinese (ideographs and
/// no kana) has separate characters for grammar: a pair with one of them has no weight.
fn unspaced_shares(text: &str) -> HashMap<String, f32> {
    let chars: Vec<char> = text.chars().collect();
    let mut shares = HashMap::new();
    let chinese = !chars
        .iter()
        .any(|c| matches!(script(*c), Some(Script::Hiragana | Script::Katakana)));
    let grammar =
        |pair: &[char]| chinese && pair.iter().any(|c| cues::CHINESE_GRAMMAR.contains(*c));
    let mut start = 0;
    while start < chars.len() {
        let kind = script(chars[start]);
        let end = start
            + chars[start..]
                .iter()
                .take_while(|c| script(**c) == kind)
                .count();
        let pairs = (end - start).saturating_sub(1);
        let share = match kind {
            Some(Script::Hiragana) => 0.0,
            Some(Script::Katakana) => (1.5 / pairs.max(1) as f32).min(1.0),
            _ => 1.0,
        };
        if kind.is_some() {
            for pair in chars[start..end].windows(2) {
                shares.insert(
                    pair.iter().collect(),
                    if grammar(pair) { 0.0 } else { share },
                );
            }
            if end - start == 1 && kind == Some(Script::Hiragana) {
                shares.insert(chars[start].to_string(), 0.0);
            }
            if let Some(next) = chars.get(end).filter(|c| script(**c).is_some()) {
                let seam = if kind == Some(Script::Hiragana) {
                    0.0
                } else {
                    0.35
                };
                shares.insert([chars[end - 1], *next].iter().collect(), seam);
            }
        }
        start = end;
    }
    shares
}

impl Wants {
    fn of(lower: &str, terms: usize) -> Self {
        let all: Vec<&str> = cues::split(lower).collect();
        let degree = all
            .windows(2)
            .any(|w| matches!(w, ["how" | "wie", d] if cues::holds(cues::DEGREES, d)));
        let is_open = !cues::asks_yes_or_no(lower);
        let other = [
            &cues::TIME,
            &cues::PERSON,
            &cues::REASON,
            &cues::STEPS,
            &cues::LIST,
        ];
        let price = is_open
            && cues::PRICE.are_in(lower)
            && !other.into_iter().any(|cues| cues.are_in(lower));
        Self {
            time: cues::TIME.are_in(lower),
            year: cues::YEAR.are_in(lower),
            code_number: cues::asks_for_code_number(lower),
            number: degree || cues::NUMBER.are_in(lower),
            price,
            extent: cues::EXTENT.are_in(lower),
            person: cues::PERSON.are_in(lower),
            phone: cues::PHONE.are_in(lower) && lower.split_whitespace().count() < 14,
            email: cues::EMAIL.are_in(lower) && !cues::STEPS.are_in(lower),
            reason: cues::REASON.are_in(lower),
            definition: terms <= 2
                && cues::DEFINITION.are_in(lower)
                && !cues::CONTENT.are_in(lower),
            steps: cues::STEPS.are_in(lower),
            code: cues::CODE.are_in(lower),
            past: cues::NOT_IN_FORCE.are_in(lower),
            several: cues::split(lower)
                .filter(|w| cues::holds(cues::ASKING, w))
                .count()
                > 1,
        }
    }
}

impl Wants {
    /// Whether it asks for nothing that can be told by its form, such as a time or a number.
    fn is_of_no_type(&self) -> bool {
        !(self.time
            || self.year
            || self.number
            || self.code_number
            || self.price
            || self.extent
            || self.person
            || self.phone
            || self.email)
    }
}

impl QuestionKind {
    fn of(lower: &str, wants: &Wants, terms: usize) -> Self {
        let latest = cues::LATEST.are_in(lower) && !cues::NOT_LATEST.are_in(lower);
        if cues::SUMMARY.are_in(lower) {
            return Self::Summary;
        }
        if cues::DIFFERENCE.are_in(lower) {
            return Self::Difference;
        }
        if let Some(operation) = Operation::of(lower) {
            return Self::Total(operation);
        }
        if cues::TASKS.are_in(lower) && !wants.steps {
            return Self::Tasks;
        }
        match () {
            () if wants.reason => Self::Reason,
            () if wants.steps => Self::Steps,
            () if latest => Self::Latest,
            () if cues::MEANS.are_in(lower) || wants.definition && terms <= 2 => Self::Definition,
            () if wants.time || wants.number || wants.extent || wants.person => Self::Fact,
            () if cues::PLACE.are_in(lower) => Self::Fact,
            () if cues::CONTENT.are_in(lower) => Self::List,
            () if cues::LIST.are_in(lower) && !cues::asks_which_one(lower) => Self::List,
            () if cues::asks_yes_or_no(lower) => Self::YesNo,
            () => Self::Fact,
        }
    }
}

impl Operation {
    fn of(lower: &str) -> Option<Self> {
        if cues::AGE.are_in(lower) {
            return Some(Self::Years);
        }
        let dates = cues::BETWEEN.are_in(lower) || cues::UNTIL.are_in(lower);
        if cues::DAYS_ASKED.are_in(lower) && dates {
            return Some(Self::Days);
        }
        if cues::counts_tasks(lower) {
            return Some(Self::Count);
        }
        // "Spent" may be in a question for the most or the mean, so sums come after them.
        [
            (&cues::MINIMUM, Self::Minimum),
            (&cues::MAXIMUM, Self::Maximum),
            (&cues::AVERAGE, Self::Average),
            (&cues::SUM, Self::Sum),
            (&cues::COUNT, Self::Count),
        ]
        .into_iter()
        .find(|(cue, _)| cue.are_in(lower))
        .map(|(_, operation)| operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ParsedQuestion {
        let today = Day::parse("2026-06-20").unwrap();
        let rarity = Rarity {
            idf: 1.0,
            known: true,
        };
        ParsedQuestion::read(text, today, &|_| rarity)
    }

    fn stems(text: &str) -> Vec<String> {
        read(text).terms.into_iter().map(|t| t.stem).collect()
    }

    #[test]
    fn feasts_weekdays_and_forms_of_address_are_no_names() {
        let names = |text: &str| -> Vec<String> {
            let terms = read(text).terms.into_iter();
            terms.filter(|t| t.is_name).map(|t| t.word).collect()
        };
        for (text, expected) in [
            (
                "When does Aunt Tamara visit us for Easter?",
                &["Tamara"][..],
            ),
            ("What did we decide about the Saturday school?", &[]),
            ("Who was at the Christmas dinner in March?", &[]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_counted_is_the_noun_behind_how_many() {
        for (text, word) in [
            ("How many pages does the oyster book have?", Some("pages")),
            ("Wie viele Seiten hat das Buch?", Some("Seiten")),
            ("What does the oyster book say?", None),
        ] {
            let question = read(text);
            let counted = question.counted.and_then(|at| question.terms.get(at));
            assert_eq!(counted.map(|t| t.word.as_str()), word, "{text}");
        }
    }

    #[test]
    fn which_one_and_what_is_in_it_are_told_apart() {
        for (text, kind) in [
            ("Which bit does Tolly wear?", QuestionKind::Fact),
            ("Which bits does Tolly wear?", QuestionKind::List),
            ("Which oven did we choose?", QuestionKind::Fact),
            ("Which glass is for the sherry?", QuestionKind::Fact),
            ("What is in the box?", QuestionKind::List),
            ("What is a box?", QuestionKind::Definition),
        ] {
            assert_eq!(read(text).kind, kind, "{text}");
        }
    }

    #[test]
    fn the_attribute_is_the_noun_and_not_the_verb_behind_it() {
        let question = read("What was Tolly's sire called?");
        let attribute = question.attribute.and_then(|at| question.terms.get(at));
        assert_eq!(attribute.map(|t| t.word.as_str()), Some("sire"));
    }

    #[test]
    fn the_most_comes_before_the_sum() {
        for (text, operation) in [
            ("At which shop did I spend the most?", Operation::Maximum),
            ("What did we spend on average?", Operation::Average),
            ("In which month did I spend the least?", Operation::Minimum),
            ("How much did I spend so far?", Operation::Sum),
            ("How many tasks are there in total?", Operation::Count),
        ] {
            assert_eq!(read(text).kind, QuestionKind::Total(operation), "{text}");
        }
    }

    #[test]
    fn grammar_is_not_what_a_question_is_about() {
        assert_eq!(
            stems("How do I reset the proofbox?"),
            lexical::terms("reset proofbox")
        );
        assert_eq!(
            stems("Wie hoch ist die Kaltmiete?"),
            lexical::terms("Kaltmiete")
        );
        assert_eq!(stems("May I bake in May?"), lexical::terms("bake May"));
        assert_eq!(stems("What does IT do?"), lexical::terms("IT"));
        assert!(
            !stems("who is it").is_empty(),
            "nothing but grammar is still asked"
        );
    }

    #[test]
    fn japanese_grammar_weighs_nothing_and_long_loanwords_no_more_than_words() {
        let question = read("定休日のベーカリーはいつですか。");
        let of = |stem: &str| {
            question
                .terms
                .iter()
                .find(|t| t.stem == stem)
                .map_or(0.0, |t| t.weight)
        };
        assert_eq!((of("定休"), of("です"), of("のベ")), (1.0, 0.0, 0.0));
        assert!(of("ーカ") > 0.0 && of("ーカ") < 0.5);
    }

    #[test]
    fn chinese_grammar_weighs_nothing() {
        let stems = stems("黑豹队的防守丢了多少分？");
        assert!(
            stems.contains(&"防守".to_owned()) && stems.contains(&"黑豹".to_owned()),
            "{stems:?}"
        );
        assert!(
            stems.iter().all(|s| !s.contains(['的', '了', '多'])),
            "{stems:?}"
        );
    }

    #[test]
    fn what_is_wanted_is_read_from_the_question() {
        let wants = |text: &str| read(text).wants;
        assert!(
            wants("When was it built?").time
                && wants("Wann kam er?").time
                && wants("いつ来ますか").time
        );
        assert!(wants("How far is the mill?").number && wants("Wie viele Brote?").number);
        assert!(
            wants("How do I bake?").steps
                && wants("Was ist zu tun?").steps
                && wants("どうすればいいですか").steps
        );
        assert!(
            wants("What is yudane?").definition
                && !wants("What is the price of a red wheel?").definition
        );
        assert!(
            wants("When did it come, and what did it cost?").several
                && wants("Wann und wo war es?").several
        );
        assert!(!wants("How many loaves do we bake a day?").several);
        assert_eq!(wants("blue umbrella"), Wants::default());
    }
}
