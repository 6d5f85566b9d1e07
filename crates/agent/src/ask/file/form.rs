//! Checks the form of an answer about a file. It must not contain a table. The program writes the
//! last line itself.

/// The reason for rejecting an answer with a table.
pub(super) const MARKDOWN_TABLE: &str = "MARKDOWN_TABLE";

/// The objection to a table, as sent to the model.
pub(super) const NO_TABLE: &str = "- MARKDOWN_TABLE: it holds a table. Write no line with the character | at all; use sentences or a list.\n";

/// The reply without blank lines and scope lines at its end: the program writes the correct scope
/// line itself.
pub(super) fn without_footer(reply: &str) -> &str {
    let mut body = reply.trim_end();
    loop {
        let (rest, last) = body.rsplit_once('\n').unwrap_or(("", body));
        if !last.trim_start().starts_with("Scope:") {
            return body.trim();
        }
        body = rest.trim_end();
    }
}

/// Whether a body contains a table: a separator row and a bar anywhere else, or two consecutive
/// rows with three bars each.
pub(super) fn has_table(body: &str) -> bool {
    let bars = |line: &str| line.matches('|').count();
    let lines: Vec<&str> = body.lines().collect();
    let separators = lines.iter().filter(|l| is_table_rule(l)).count();
    (separators > 0 && lines.iter().any(|l| !is_table_rule(l) && bars(l) > 0))
        || lines
            .windows(2)
            .any(|pair| pair.iter().all(|l| bars(l) >= 3))
}

/// Whether the line separates the header of a table from its rows.
fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains("--")
        && line.contains('|')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_seen_and_other_bars_are_not() {
        for body in [
            "a | b\n--|--\n1 | 2",
            "| a | b |\n| 1 | 2 |",
            "x\n|:--|--:|\ny | z",
        ] {
            assert!(has_table(body), "{body}");
        }
        for body in [
            "use a | b in the shell",
            "a || b || c\nd",
            "---\na | b",
            "| a | b |\ntext\n| 1 | 2 |",
        ] {
            assert!(!has_table(body), "{body}");
        }
    }

    #[test]
    fn footers_at_the_end_are_taken_away_and_elsewhere_stay() {
        assert_eq!(
            without_footer("It is 5.\n\nScope: full\n Scope: x\n\n"),
            "It is 5."
        );
        assert_eq!(
            without_footer("Scope: it covers all.\nIt is 5."),
            "Scope: it covers all.\nIt is 5."
        );
        assert_eq!(without_footer("Scope: full evidence"), "");
    }
}
