//! The latest day that a text names, for putting the newer of two statements first.

use super::words;

/// Year, month, day; a part that is not named is 0.
pub(super) type Day = (u32, u32, u32);

/// The latest date in `text`: `2026-02-01`, `1 February 2026`, `February 2026`, `1. Februar 2026`,
/// `01.02.2026`, `2026年2月1日`. A bare year does not count.
pub(super) fn latest(text: &str) -> Option<Day> {
    let lower = text.to_lowercase();
    let tokens: Vec<&str> = tokens(&lower);
    let number = |i: Option<usize>| {
        i.and_then(|i| tokens.get(i))
            .and_then(|t| t.parse::<u32>().ok())
    };
    let mut best: Option<Day> = None;
    for (i, token) in tokens.iter().enumerate() {
        let year = number(Some(i)).filter(|y| token.len() == 4 && (1000..3000).contains(y));
        let Some(year) = year else { continue };
        let before = i
            .checked_sub(1)
            .and_then(|i| tokens.get(i))
            .and_then(|t| words::month(t));
        let small = |n: Option<u32>, most: u32| n.filter(|n| (1..=most).contains(n));
        let forward = small(number(Some(i + 1)), 12).zip(small(number(Some(i + 2)), 31));
        let backward = small(number(i.checked_sub(1)), 12).zip(small(number(i.checked_sub(2)), 31));
        let day = match (before, forward, backward) {
            (Some(month), _, _) => (
                year,
                month,
                small(number(i.checked_sub(2)), 31).unwrap_or(0),
            ),
            (_, Some((month, day)), _) | (_, _, Some((month, day))) => (year, month, day),
            _ => continue,
        };
        best = best.max(Some(day));
    }
    best
}

/// Runs of digits and runs of other letters.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for word in words::split(text) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let digit = first.is_ascii_digit();
            let end = rest
                .find(|c: char| c.is_ascii_digit() != digit)
                .unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            // The marks of a Japanese date stand between its numbers.
            if !matches!(run, "年" | "月" | "日") {
                out.push(run);
            }
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_however_they_are_written() {
        for text in [
            "on 2026-02-01",
            "1 February 2026",
            "am 1. Februar 2026",
            "01.02.2026",
            "2026年2月1日から",
            "1 Feb 2026",
        ] {
            assert_eq!(latest(text), Some((2026, 2, 1)), "{text}");
        }
        assert_eq!(latest("since May 2026"), Some((2026, 5, 0)));
        assert_eq!(
            latest("2025-01-03 and then 3 March 2026, built in 1998"),
            Some((2026, 3, 3))
        );
        assert_eq!(latest("in 1998 we paid 2026 euros"), None);
    }
}
