//! What pins a question to one time, or to one of several things that differ by a number: "2023", "in March", "Q3",
//! "week 7". A sentence of another year covers nearly all words of such a question and answers another one.

use super::words;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pin {
    /// Digits, by their value: a year, a week, a version's part.
    Number(u64),
    /// 1 to 12.
    Month(u32),
    /// 1 to 4.
    Quarter(u64),
}

/// The pins of a question, in order of appearance.
pub(super) fn of_question(text: &str) -> Vec<Pin> {
    let mut first = true;
    let mut all = Vec::new();
    for word in words::split(text) {
        // "in May" is a month, "May I" is not.
        let may_be_month = !first && (word.chars().count() > 3 || word.starts_with(char::is_uppercase));
        first = false;
        let month = words::month(&word.to_lowercase()).filter(|_| may_be_month);
        all.extend(month.map(Pin::Month));
    }
    let tokens = tokens(text);
    let mut quarters = quarters(&tokens);
    // The fourth quarter of a match is none of a year.
    let written = |quarter: &u64| tokens.iter().any(|token| number(token) == Some(*quarter));
    let of_a_year = tokens.iter().any(|token| token.len() == 4 && number(token).is_some());
    quarters.retain(|quarter| of_a_year || written(quarter));
    let numbers = tokens.iter().filter_map(|token| number(token)).filter(|n| !quarters.contains(n));
    all.extend(numbers.map(Pin::Number));
    all.extend(quarters.iter().map(|quarter| Pin::Quarter(*quarter)));
    all
}

/// Whether `text`, what a sentence says and what stands around it, holds `pin`.
pub(super) fn is_held(pin: Pin, text: &str) -> bool {
    let tokens = tokens(text);
    match pin {
        Pin::Number(wanted) => tokens.iter().any(|token| number(token).or(words::numeral(token)) == Some(wanted)),
        Pin::Quarter(wanted) => quarters(&tokens).contains(&wanted),
        Pin::Month(wanted) => {
            let named = |token: &String| token.chars().count() > 2 && words::month(token) == Some(wanted);
            // Beside a year: 2026-03-11, 11.03.2026, 03/2026.
            let is = |token: &String, value: u64| token.len() < 3 && number(token) == Some(value);
            let year = |token: &String| token.len() == 4 && number(token).is_some();
            let wanted = u64::from(wanted);
            let beside =
                |pair: &[String]| year(&pair[0]) && is(&pair[1], wanted) || is(&pair[0], wanted) && year(&pair[1]);
            tokens.iter().any(named) || tokens.windows(2).any(beside)
        }
    }
}

/// Runs of digits and runs of letters, in lower case.
fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in words::split(&text.to_lowercase()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let digit = first.is_ascii_digit();
            let end = rest.find(|c: char| c.is_ascii_digit() != digit).unwrap_or(rest.len());
            out.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
    }
    out
}

fn number(token: &str) -> Option<u64> {
    token.starts_with(|c: char| c.is_ascii_digit()).then(|| token.parse().ok()).flatten()
}

/// The quarters of a year that are named: `Q3`, "third quarter", "quarter 3", "3. Quartal".
fn quarters(tokens: &[String]) -> Vec<u64> {
    let place = |token: &str| match number(token) {
        Some(n) => (1..=4).contains(&n).then_some(n),
        None => words::ORDINALS.iter().position(|names| words::holds(names, token)).map(|at| at as u64 + 1),
    };
    let is_quarter = |token: &str| words::holds(words::QUARTER, token);
    let named = |pair: &[String]| match (pair[0].as_str(), pair[1].as_str()) {
        ("q", n) => place(n).filter(|_| number(n).is_some()),
        (n, quarter) if is_quarter(quarter) && place(n).is_some() => place(n),
        (quarter, n) if is_quarter(quarter) && number(n).is_some() => place(n),
        _ => None,
    };
    tokens.windows(2).filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_pinned_by_years_months_quarters_and_numbers() {
        use Pin::{Month, Number, Quarter};
        for (question, pins) in [
            ("What did I earn in 2023?", &[Number(2023)][..]),
            ("How much did we save in Q4 2024?", &[Number(2024), Quarter(4)]),
            ("What was planned for the third quarter of 2024?", &[Number(2024), Quarter(3)]),
            ("Who lost the ball in the fourth quarter?", &[]),
            ("Was war im 2. Quartal geplant?", &[Quarter(2)]),
            ("How many guests came in March?", &[Month(3)]),
            ("How long is the run in week 7?", &[Number(7)]),
            ("May I freeze it?", &[]),
            ("What may I eat?", &[]),
            ("Who runs the shop?", &[]),
        ] {
            assert_eq!(of_question(question), pins, "{question}");
        }
    }

    #[test]
    fn a_pin_is_held_however_it_is_written() {
        for (pin, texts) in [
            (Pin::Month(3), &["on 11 March 2026", "2026-03-11", "11.03.2026", "Mar 2026", "am 11. März"][..]),
            (Pin::Quarter(3), &["Budget 2024-Q3", "the third quarter", "Quarter 3", "im dritten Quartal"]),
            (Pin::Number(7), &["week 07", "Week 7", "7th", "seven weeks", "sieben Wochen"]),
            (Pin::Number(2026), &["2026-03-11", "in 2026", "2026年3月"]),
        ] {
            assert!(texts.iter().all(|text| is_held(pin, text)), "{pin:?}");
        }
        for (pin, text) in [
            (Pin::Month(3), "2026-04-03"),
            (Pin::Month(3), "3 apples"),
            (Pin::Quarter(3), "a quarter of 3 litres"),
            (Pin::Number(7), "2007"),
            (Pin::Number(2023), "in 2024"),
        ] {
            assert!(!is_held(pin, text), "{pin:?}: {text}");
        }
    }
}
