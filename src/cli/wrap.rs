//! Breaks text into the lines of a terminal, between words.

use console::measure_text_width;

/// The text in lines of at most `width` columns. A word that is longer stays whole. Lines after the
/// first begin as far in as the first one. Escape sequences take no column.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    if is_laid_out(text) || measure_text_width(text) <= width {
        return vec![text.to_owned()];
    }
    let indent = &text[..text.len() - text.trim_start_matches(' ').len()];
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    let mut used = indent.len();
    let (mut gap, mut is_empty) = (0, true);
    for word in text[indent.len()..].split(' ') {
        if word.is_empty() {
            gap += 1;
            continue;
        }
        let columns = measure_text_width(word);
        if !is_empty && used + gap + 1 + columns > width {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            used = indent.len();
            is_empty = true;
        }
        if !is_empty {
            line.push_str(&" ".repeat(gap + 1));
            used += gap + 1;
        }
        line.push_str(word);
        used += columns;
        (gap, is_empty) = (0, false);
    }
    lines.push(line);
    lines
}

/// Whether the text is in columns, which would be lost: rows of a table and code.
fn is_laid_out(text: &str) -> bool {
    let text = text.trim_end();
    let words = text.rsplit_once("   [").map_or(text, |(words, _)| words);
    words.starts_with("    ") || words.trim_start().contains("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(
            wrap("until the new oven came", 13),
            ["until the new", "oven came"]
        );
        assert_eq!(wrap("  a bc de", 6), ["  a bc", "  de"]);
        assert_eq!(wrap("unbreakable word", 4), ["unbreakable", "word"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn columns_are_those_of_the_terminal() {
        assert_eq!(wrap("食パン 食パン", 6), ["食パン", "食パン"]);
        let bold = "\x1b[1mab\x1b[0m cd";
        assert_eq!(wrap(bold, 5), [bold]);
    }

    #[test]
    fn the_rows_of_a_table_and_code_stay_on_one_line() {
        for text in [
            "Dough    Humidity   [1]",
            "    sudo systemctl stop orderbook",
        ] {
            assert_eq!(wrap(text, 8), [text]);
        }
        assert_eq!(wrap("two words   [1]", 10), ["two words", "[1]"]);
    }
}
