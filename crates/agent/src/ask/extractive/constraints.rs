//! Constraints on a question: a time, or one of several things that differ by a number: "2023", "in
//! March", "Q3", "week 7", "version 2.8.3". A sentence about another year covers nearly all words
//! of such a question but does not answer it.
//!
//! Only contradictions count against a sentence, such as another year instead of the requested one.
//! A note without a year can be about any year.

use super::cues;
use local_agent_text::language::calendar::is_day;

/// One constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Constraint {
    /// A year, 1900 to 2099.
    Year(u32),
    /// A month, 1 to 12.
    Month(u32),
    /// A day: the month, 1 to 12, and the day in it.
    Day(u32, u32),
    /// A quarter, 1 to 4.
    Quarter(u32),
    /// A version: numbers with at least two dots between them.
    Version(String),
    /// One of several things with the same name: the name, in lower case, and the number after it.
    Numbered(String, u32),
    /// An amount with a unit: the unit as written, in lower case, and the digits before it.
    Measured(String, String),
}

impl Constraint {
    /// Whether both constrain the same thing, so that one could replace the other.
    fn is_rival(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Numbered(a, _), Self::Numbered(b, _)) => a == b,
            (Self::Measured(a, _), Self::Measured(b, _)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// Whether the surroundings of a sentence contradict it: a constraint of the question is missing,
/// and a rival is present. `near` begins with the sentence, its lead-in, and its place (any of them
/// may contain the constraint); the rest is checked in order, and the first text with the
/// constraint or a rival decides.
pub(super) fn contradict(
    constraints: &[Constraint],
    near: [&str; 3],
    further: impl Iterator<Item = String> + Clone,
) -> bool {
    let near: Vec<Constraint> = near.iter().flat_map(|text| of(text)).collect();
    constraints.iter().any(|constraint| {
        if near.contains(constraint) {
            return false;
        }
        if near.iter().any(|other| other.is_rival(constraint)) {
            return true;
        }
        let levels = further.clone().map(|text| of(&text));
        let mut deciding =
            levels.filter(|level| level.iter().any(|other| other.is_rival(constraint)));
        deciding
            .next()
            .is_some_and(|level| !level.contains(constraint))
    })
}

/// All constraints of a question. "Before 16 May" and "from 3 to 16 May" ask for other days than
/// those.
pub(super) fn of_question(text: &str) -> Vec<Constraint> {
    let mut constraints = of(text);
    let is_day = |constraint: &&Constraint| matches!(constraint, Constraint::Day(..));
    let days = constraints.iter().filter(is_day).count();
    if days > 1 || cues::names_open_time(&text.to_lowercase()) {
        constraints.retain(|constraint| !is_day(&constraint));
    }
    constraints
}

/// All constraints of a text, in order of appearance.
pub(super) fn of(text: &str) -> Vec<Constraint> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "_|,;()[]".contains(c))
        .collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at
            .checked_sub(1)
            .and_then(|at| words.get(at))
            .copied()
            .unwrap_or("");
        let after = words.get(at + 1).copied().unwrap_or("");
        one(before, word, after, &mut out);
        out.extend(named_day(before, word, after));
    }
    out
}

/// The day that a number and the month beside it name: "16 May", "May 16th", "16. Mai".
fn named_day(before: &str, word: &str, after: &str) -> Option<Constraint> {
    let number = word.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_ordinal = matches!(
        &number[digits.len()..],
        "" | "st" | "nd" | "rd" | "th" | "er"
    );
    let day: u32 = digits.parse().ok().filter(|_| is_ordinal)?;
    let month = month_in_word(after).or_else(|| month_in_word(before))?;
    is_day(None, month, day).then_some(Constraint::Day(month, day))
}

/// The constraints in one word.
fn one(before: &str, word: &str, after: &str, out: &mut Vec<Constraint>) {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let bare = bare.strip_suffix(".md").unwrap_or(bare);
    let lower = bare.to_lowercase();
    if numeric_date(bare, word.ends_with('.'), out) || unspaced_date(bare, out) {
        return;
    }
    if bare.contains(['-', '/']) {
        // `2024-Q3`, `income-2022`, `log/2024/march`.
        for part in bare.split(['-', '/']) {
            one("", part, "", out);
        }
        return;
    }
    let count = bare.parse::<u32>().ok();
    let dotted = bare
        .split('.')
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    let previous = before
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let next = after
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    if cues::holds(cues::QUARTER, &lower) {
        out.extend(quarter_beside(&previous, &next));
    } else if let Some(quarter) = lower
        .strip_prefix('q')
        .and_then(|n| n.parse().ok())
        .filter(|q| (1..=4).contains(q))
    {
        out.push(Constraint::Quarter(quarter));
    } else if dotted
        && (bare.matches('.').count() > 1
            || bare.contains('.') && cues::holds(cues::VERSION, &previous))
    {
        out.push(Constraint::Version(bare.to_owned()));
    } else if let Some(number) = count {
        let is_amount =
            word.starts_with(['€', '$', '£']) || local_agent_verify::unit(&next).is_some();
        if cues::holds(cues::SIZES, &next) {
            out.push(Constraint::Measured(next.clone(), bare.to_owned()));
        }
        let grammar = cues::of_language(&format!("{before} {word} {after}"));
        let names = previous.chars().count() > 1 && previous.chars().all(char::is_alphabetic);
        if bare.len() == 4 && (1900..2100).contains(&number) {
            out.extend(
                (!is_amount && !after.starts_with(['€', '$', '£']))
                    .then_some(Constraint::Year(number)),
            );
        } else if names
            && !is_amount
            && !cues::is_grammar(grammar, &previous)
            && cues::month(&previous).is_none()
        {
            out.push(Constraint::Numbered(previous, number));
        }
    } else {
        let beside_number = [&previous, &next]
            .iter()
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        out.extend(named_month(bare, before.is_empty(), beside_number));
    }
}

/// The month that a word beside a number names: "May 3", not "may 3".
fn month_in_word(word: &str) -> Option<u32> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    match named_month(bare, false, true)? {
        Constraint::Month(month) => Some(month),
        _ => None,
    }
}

/// The quarter that adjacent words name: "third quarter", "quarter 3", "3. Quartal".
fn quarter_beside(previous: &str, next: &str) -> Option<Constraint> {
    let ordinal = cues::ORDINALS
        .iter()
        .position(|names| cues::holds(names, previous))
        .map(|at| at as u32 + 1);
    let digit = previous.parse().ok().or(next.parse().ok());
    ordinal
        .or(digit)
        .filter(|quarter| (1..=4).contains(quarter))
        .map(Constraint::Quarter)
}

/// The month that a word names. "may" and "march" are also verbs; the first word of a question is
/// capitalised, so a capital proves nothing there. "Jan" without a number is a person.
fn named_month(bare: &str, is_first: bool, beside_number: bool) -> Option<Constraint> {
    let lower = bare.to_lowercase();
    let is_name = bare.starts_with(char::is_uppercase) && (!is_first || lower != "may");
    let is_long = lower.chars().count() > 3;
    let is_whole = is_long || matches!(lower.as_str(), "may" | "mai");
    let is_named = is_name && (is_whole || beside_number)
        || !matches!(lower.as_str(), "may" | "march") && is_long;
    cues::month(&lower)
        .filter(|_| is_named)
        .map(Constraint::Month)
}

/// Reads `2024-03-11`, `11.03.2024`, `3/11/2024`, `2024-03`, `03/2024` or `11.3.`.
fn numeric_date(bare: &str, ends_in_dot: bool, out: &mut Vec<Constraint>) -> bool {
    let parts: Vec<&str> = bare.split(['-', '.', '/']).collect();
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
    let Some(numbers) = numbers else { return false };
    let months: Vec<u32> = match *numbers.as_slice() {
        [year, month, day] if is_plausible_year(year) => {
            Vec::from_iter(month_in_year(year, month, day))
        }
        // The day or the month may come first.
        [a, b, year] if is_plausible_year(year) && bare.contains('/') => {
            let either = [month_in_year(year, a, b), month_in_year(year, b, a)];
            either.into_iter().flatten().collect()
        }
        [day, month, year] if is_plausible_year(year) => {
            Vec::from_iter(month_in_year(year, month, day))
        }
        [year, month] | [month, year] if is_plausible_year(year) => vec![month],
        [day, month] if ends_in_dot && bare.contains('.') && is_day(None, month, day) => {
            vec![month]
        }
        _ => return false,
    };
    // A day that does not exist is ignored, including its year.
    if numbers.len() == 3 && months.is_empty() {
        return true;
    }
    out.extend(written_day(&numbers, &months));
    let months = months.into_iter().filter(|month| (1..=12).contains(month));
    out.extend(
        numbers
            .iter()
            .copied()
            .filter(|n| is_plausible_year(*n))
            .map(Constraint::Year),
    );
    out.extend(months.map(Constraint::Month));
    true
}

/// The day in the numbers of a date, if there is only one way to read them.
fn written_day(numbers: &[u32], months: &[u32]) -> Option<Constraint> {
    let [month] = months else { return None };
    let day = match *numbers {
        [year, _, day] if is_plausible_year(year) => day,
        [a, b, _] => a + b - month,
        [day, other] if !is_plausible_year(day) && !is_plausible_year(other) => day,
        _ => return None,
    };
    is_day(None, *month, day).then_some(Constraint::Day(*month, day))
}

/// The month, if the day exists.
fn month_in_year(year: u32, month: u32, day: u32) -> Option<u32> {
    is_day(i32::try_from(year).ok(), month, day).then_some(month)
}

/// Whether a number may be a year of a note.
fn is_plausible_year(n: u32) -> bool {
    (1900..2100).contains(&n)
}

/// Reads `2026年3月`.
fn unspaced_date(bare: &str, out: &mut Vec<Constraint>) -> bool {
    let (year, month) = (number_before(bare, '年'), number_before(bare, '月'));
    out.extend(
        year.filter(|year| (1900..2100).contains(year))
            .map(Constraint::Year),
    );
    out.extend(
        month
            .filter(|month| (1..=12).contains(month))
            .map(Constraint::Month),
    );
    year.is_some() || month.is_some()
}

/// The number before the first mark.
fn number_before(bare: &str, mark: char) -> Option<u32> {
    let (head, _) = bare.split_once(mark)?;
    let digits = head
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(head, |at| {
            head[at..].trim_start_matches(|c: char| !c.is_ascii_digit())
        });
    digits.parse::<u32>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Constraint::{Day, Month, Quarter, Year};

    #[test]
    fn a_question_is_pinned_by_years_months_quarters_versions_and_numbered_things() {
        let week = Constraint::Numbered("week".to_owned(), 7);
        let version = Constraint::Version("2.8.3".to_owned());
        for (question, constraints) in [
            ("What did I earn in 2023?", &[Year(2023)][..]),
            (
                "How much did we save in Q4 2024?",
                &[Quarter(4), Year(2024)],
            ),
            (
                "What was planned for the third quarter of 2024?",
                &[Quarter(3), Year(2024)],
            ),
            ("Was war im 2. Quartal geplant?", &[Quarter(2)]),
            ("How many guests came in March?", &[Month(3)]),
            ("what happened in april", &[Month(4)]),
            (
                "What did the plumber fix on 2024-03-11?",
                &[Day(3, 11), Year(2024), Month(3)],
            ),
            ("How long is the run in week 7?", &[week]),
            ("What did version 2.8.3 fix?", &[version]),
            ("When does Jan arrive?", &[]),
            ("How much did we save last quarter?", &[]),
            ("May I freeze it?", &[]),
            ("What may I eat?", &[]),
            ("What are the 3 workshop rules?", &[]),
            ("Which 4K monitor is in the office?", &[]),
            (
                "Who brings the cake for the party with 40 guests at 9:30?",
                &[],
            ),
            ("Can I get it for 2000 euros?", &[]),
            ("What happened on 31.02.2024?", &[]),
            ("What happened on 2023-02-29?", &[]),
        ] {
            assert_eq!(of(question), constraints, "{question}");
        }
    }

    #[test]
    fn a_day_is_a_constraint_unless_it_begins_or_ends_a_time() {
        for text in [
            "What did Ada take on 16 May?",
            "What happened on May 16th?",
            "Was war am 16. Mai?",
            "Was war am 16.5. in Kiel?",
        ] {
            assert!(of_question(text).contains(&Day(5, 16)), "{text}");
        }
        for text in [
            "What is due before 16 May?",
            "What did we do from 3 May to 16 May?",
            "What did 16 people do in May?",
            "What may 16 people do?",
        ] {
            let has_day = |one: &Constraint| matches!(one, Day(..));
            assert!(!of_question(text).iter().any(has_day), "{text}");
        }
        let asked = of_question("What did Ada take on 16 May?");
        let none = std::iter::empty();
        assert!(contradict(
            &asked,
            ["Ada took it.", "", "2026-05-03.md"],
            none
        ));
    }

    #[test]
    fn a_pin_is_the_same_however_it_is_written() {
        for (constraint, texts) in [
            (
                Month(3),
                &[
                    "on 11 March 2026",
                    "2026-03-11",
                    "11.03.2026",
                    "in Mar 2026",
                    "am 11. März",
                    "am 11.3.",
                    "3/11/2026",
                ][..],
            ),
            (
                Quarter(3),
                &[
                    "Budget 2024-Q3.md",
                    "the third quarter",
                    "Quarter 3",
                    "im dritten Quartal",
                ],
            ),
            (
                Year(2026),
                &[
                    "2026-03-11",
                    "in 2026,",
                    "2026年3月から",
                    "log/2026/03/x.md",
                    "2026-02-11.md",
                    "income-2026.md",
                    "**2026**",
                ],
            ),
        ] {
            for text in texts {
                assert!(
                    of(text).contains(&constraint),
                    "{constraint:?}: {text}: {:?}",
                    of(text)
                );
            }
        }
    }

    #[test]
    fn what_is_not_said_does_not_contradict() {
        let constraints = of("How much was the rent in 2023?");
        let against = |near: [&str; 3], further: &[&str]| {
            contradict(
                &constraints,
                near,
                further.iter().map(|text| (*text).to_owned()),
            )
        };
        assert!(
            !against(["The rent is 735 euros.", "", "Flat.md"], &[]),
            "no year anywhere"
        );
        assert!(!against(
            ["The rent is 735 euros.", "", "2023/Flat.md"],
            &[]
        ));
        assert!(!against(
            ["Up from 710 in 2022, it is 735.", "", "Rent 2023"],
            &[]
        ));
        assert!(!against(
            ["It is 735 euros.", "", "Flat.md"],
            &["We moved in 2023."]
        ));
        assert!(against(
            ["In 2022 the rent was 710 euros.", "", "Flat.md"],
            &["In 2023 we bought a lamp."]
        ));
        assert!(against(
            ["The rent is 735 euros.", "", "Rent 2022"],
            &["In 2023 we bought a lamp."]
        ));
        assert!(against(
            ["It is 735 euros.", "", "Flat.md"],
            &["We moved in 2021.", "Sold in 2023."]
        ));
    }
}
