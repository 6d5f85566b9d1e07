//! L4: whether code, a path or an address of a claim is in a text as a whole, and not only within a
//! longer one: `api/v1` is not in "api/v10", `a@b.org` is not in "aa@b.org.uk".

use super::Case;
use super::atoms::readings;
use crate::atoms::has_file_extension;
use local_agent_text::language::is_unspaced_or_hangul;
use local_agent_text::language::scan::prefix;

/// How a text has a piece of code, a path or an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Not at all, or only within another word.
    Absent,
    /// Only as a part of a longer name or path, which may be another thing.
    Part,
    /// As a whole: what is before and behind it does not belong to it.
    Whole,
}

/// How a cited item, its heading or its path has a literal. Plain words and camelCase may differ in
/// case.
pub(super) fn standing(case: &Case<'_>, literal: &str) -> Standing {
    let bare = without_ending(literal);
    let mut best = Standing::Absent;
    for reading in readings(case) {
        best = best.max(standing_in(&reading.normal, bare));
    }
    for source in case.cited {
        let path = source.item.path.as_str();
        best = best.max(standing_in(&source.item.text, bare));
        best = best.max(standing_in(path, bare));
        if path.strip_prefix(bare).is_some_and(|r| r.starts_with('/')) {
            best = Standing::Whole;
        }
    }
    let plain = bare.chars().all(|c| c.is_alphanumeric() || c == ' ');
    if best < Standing::Whole && plain {
        let lower = bare.to_lowercase();
        for reading in readings(case) {
            best = best.max(standing_in(reading.lower(), &lower));
        }
    }
    best
}

/// Without the brackets of a call, or the slash that ends the address of a page.
fn without_ending(literal: &str) -> &str {
    let bare = literal.trim_end_matches("()");
    let page = bare.strip_suffix('/').filter(|page| page.contains("://"));
    page.unwrap_or(bare)
}

/// How a text has a literal in the best of its places.
pub(super) fn standing_in(text: &str, literal: &str) -> Standing {
    let mut best = Standing::Absent;
    if literal.is_empty() {
        return best;
    }
    for (at, _) in text.match_indices(literal) {
        best = best.max(standing_at(text, at, literal));
        if best == Standing::Whole {
            break;
        }
    }
    best
}

/// How the literal that is at byte `at` of a text stands there.
pub(super) fn standing_at(text: &str, at: usize, literal: &str) -> Standing {
    let before = text.get(..at).unwrap_or("");
    let after = text.get(at + literal.len()..).unwrap_or("");
    let left = left_end(before, literal);
    if left == Standing::Whole && begins_a_hash(literal, after) {
        return Standing::Whole;
    }
    left.min(right_end(literal, after))
}

/// How a literal begins behind `before`.
fn left_end(before: &str, literal: &str) -> Standing {
    let mut back = before.chars().rev();
    let (Some(last), second) = (back.next(), back.next()) else {
        return Standing::Whole;
    };
    let Some(first) = literal.chars().next() else {
        return Standing::Absent;
    };
    let is_joined = is_letter(last) || last == '_';
    match first {
        '-' if is_joined || last == '-' => Standing::Absent,
        '@' if is_joined => Standing::Absent,
        '/' if is_joined || matches!(last, '/' | '.' | '~') => Standing::Part,
        '.' if last == '.' || is_joined && !is_ending(literal) => Standing::Absent,
        _ if !(first.is_alphanumeric() || first == '_') => Standing::Whole,
        _ => match last {
            _ if are_of_two_scripts(first, last) => Standing::Whole,
            c if c.is_ascii_digit() && is_unit_behind(before, literal) => Standing::Whole,
            c if c.is_alphanumeric() => Standing::Absent,
            '@' => Standing::Part,
            // The name of an option without its hyphens.
            '-' if !second.is_some_and(is_letter) => Standing::Part,
            '-' | '_' => part_of_a_name(literal),
            '.' if second.is_some_and(char::is_alphanumeric) => part_of_a_dotted_name(literal),
            '.' if second.is_none_or(char::is_whitespace) => part_of_a_dotted_name(literal),
            _ => Standing::Whole,
        },
    }
}

/// How a literal ends in front of `after`.
fn right_end(literal: &str, after: &str) -> Standing {
    let mut ahead = after.chars();
    let (Some(next), second) = (ahead.next(), ahead.next()) else {
        return Standing::Whole;
    };
    let Some(last) = literal.chars().next_back() else {
        return Standing::Absent;
    };
    if !last.is_alphanumeric() || are_of_two_scripts(last, next) {
        return Standing::Whole;
    }
    let goes_on = second.is_some_and(|c| c.is_alphanumeric() || c == '_');
    match next {
        c if c.is_alphanumeric() => right_end_at_a_letter(literal, c, second),
        '_' => part_of_a_name(literal),
        '-' if !goes_on => Standing::Whole,
        // A German compound: "`.md`-Dateien".
        '-' if second.is_some_and(char::is_uppercase) && !last.is_uppercase() => Standing::Whole,
        '-' => part_of_a_name(literal),
        '.' if goes_on => part_of_a_dotted_name(literal),
        '/' if second.is_none_or(is_end_of_path) => Standing::Whole,
        '/' if literal.contains("://") => Standing::Part,
        '/' if literal.contains('/') && !goes_on_to_a_file(after) => Standing::Part,
        // The version of a package: "lodash@4".
        '@' if second.is_some_and(|c| c.is_ascii_digit()) => Standing::Whole,
        '@' => Standing::Part,
        _ => Standing::Whole,
    }
}

/// Whether only letters are behind a number: "em" of "1.5em".
fn is_unit_behind(before: &str, literal: &str) -> bool {
    let number = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    literal.chars().all(char::is_alphabetic)
        && !number.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// The longest rest of a path that is looked at, in bytes.
const LONGEST_REST: usize = 200;

/// Whether a path goes on to a file, so that its beginning is the folder of the file.
fn goes_on_to_a_file(after: &str) -> bool {
    let rest = prefix(after, LONGEST_REST);
    let rest = rest.split(is_end_of_path).next().unwrap_or("");
    has_file_extension(rest.trim_end_matches(['.', ':', '!', '?']))
}

/// The end of a literal at a letter or digit: a number may have a unit, and an abbreviation the
/// ending of the plural.
fn right_end_at_a_letter(literal: &str, next: char, second: Option<char>) -> Standing {
    let is_number = literal.chars().all(|c| c.is_numeric() || c == '.');
    let has_unit = is_number && !next.is_numeric();
    let is_plural = next == 's'
        && literal.ends_with(char::is_uppercase)
        && !second.is_some_and(char::is_alphanumeric);
    match has_unit || is_plural {
        true => Standing::Whole,
        false => Standing::Absent,
    }
}

/// A word may be a part of a name; an option, a path or an address with more letters is another
/// one.
fn part_of_a_name(literal: &str) -> Standing {
    let is_word = literal.chars().all(char::is_alphanumeric);
    match is_word && literal.contains(char::is_alphabetic) {
        true => Standing::Part,
        false => Standing::Absent,
    }
}

/// Code may be a part of longer code: `os.path` of "os.path.join". An address, a file or a number
/// with another ending is another one.
fn part_of_a_dotted_name(literal: &str) -> Standing {
    let is_exact = literal.contains(['@', '/'])
        || !literal.contains(char::is_alphabetic)
        || has_file_extension(literal);
    match is_exact {
        true => Standing::Absent,
        false => Standing::Part,
    }
}

/// Whether a literal is only the ending of files: `.md`.
fn is_ending(literal: &str) -> bool {
    literal
        .strip_prefix('.')
        .is_some_and(|rest| rest.chars().all(char::is_alphanumeric))
}

/// The fewest digits of a hash that name the whole of it.
const SHORTEST_HASH: usize = 7;

/// Whether a literal is the beginning of a longer hash.
fn begins_a_hash(literal: &str, after: &str) -> bool {
    let rest = after.bytes().take_while(u8::is_ascii_alphanumeric);
    literal.len() >= SHORTEST_HASH
        && literal.bytes().all(|b| b.is_ascii_hexdigit())
        && rest.into_iter().all(|b| b.is_ascii_hexdigit())
}

fn is_end_of_path(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '`' | '"' | '\'' | ')' | ']' | '>' | '|' | ',' | ';' | '…'
        )
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced_or_hangul(c)
}

/// Whether two characters do not belong to one word although no blank is between them: "rm命令".
fn are_of_two_scripts(a: char, b: char) -> bool {
    is_unspaced_or_hangul(a) || is_unspaced_or_hangul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(wanted: Standing, cases: &[(&str, &str)]) {
        for (text, literal) in cases {
            assert_eq!(standing_in(text, literal), wanted, "{literal} in {text}");
        }
    }

    #[test]
    fn a_literal_within_another_word_is_absent() {
        all(
            Standing::Absent,
            &[
                ("the alarm rings", "rm"),
                ("call api/v10 now", "api/v1"),
                ("at 110.0.0.12 only", "10.0.0.1"),
                ("at 10.0.0.12", "10.0.0.1"),
                ("at 10.0.0.1.7", "10.0.0.1"),
                ("write to aa@b.org", "a@b.org"),
                ("write to a@b.org.uk", "a@b.org"),
                ("see old-notes.md", "notes.md"),
                ("see notes.md.bak", "notes.md"),
                ("pass --no-verify-ssl", "--no-verify"),
                ("pass x-v", "-v"),
                ("max_retries_total", "max_retries"),
                ("see /usr.d/..x", ".x"),
                ("commit xa1b2c3d4", "a1b2c3d"),
                ("commit a1b2c3g", "a1b2c3"),
                ("", "x"),
                ("x", ""),
            ],
        );
    }

    #[test]
    fn a_literal_within_a_longer_name_or_path_is_a_part() {
        all(
            Standing::Part,
            &[
                ("use cargo-deny", "cargo"),
                ("use pre_commit", "commit"),
                ("call api/v1/users", "api/v1"),
                ("see https://x.org/guide", "https://x.org"),
                ("call /api/users", "/users"),
                ("os.path.join(a)", "os.path"),
                ("use --force", "force"),
                ("a@b.org", "b.org"),
            ],
        );
    }

    #[test]
    fn a_literal_with_a_boundary_at_both_ends_is_whole() {
        all(
            Standing::Whole,
            &[
                ("run rm -rf x", "rm"),
                ("run `rm`.", "rm"),
                ("foo(bar)", "foo"),
                ("foo(bar)", "bar"),
                ("set --x=3", "--x"),
                ("src/main.rs", "main.rs"),
                ("/home/a/src/main.rs", "src/main.rs"),
                ("src/main.rs", "src"),
                ("C:\\x\\y.txt", "y.txt"),
                ("note.md", ".md"),
                ("commit a1b2c3d4e5f60718", "a1b2c3d"),
                ("https://x.org/", "https://x.org"),
                ("https://x.org/a#b", "https://x.org/a"),
                ("使用rm命令", "rm"),
                ("rm을 쓴다", "rm"),
                ("die rm-Datei", "rm"),
                ("many URLs", "URL"),
                ("16px", "16"),
                ("1.5em wide", "em"),
                ("in .foam/new/a.md", ".foam/new"),
                ("npm i lodash@4", "lodash"),
                ("Vec::new", "Vec"),
                ("$HOME", "HOME"),
                ("alarm, then rm", "rm"),
            ],
        );
    }
}
