//! The day that the path of a note names: `daily/2026-01-10.md`, `20260110 Bread.md`,
//! `2026/01/10.md`.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

use super::error::Result;
use local_agent_text::language::calendar::is_day;

/// Adds the function `day_in_path(path)` to the SQL of a connection: the day as `YYYY-MM-DD`, or
/// NULL.
pub(super) fn register(conn: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    Ok(conn.create_scalar_function("day_in_path", 1, flags, day_argument)?)
}

fn day_argument(context: &Context<'_>) -> rusqlite::Result<Option<String>> {
    let path: Option<String> = context.get(0)?;
    Ok(path.as_deref().and_then(day_in_path))
}

/// The last day in a path. The name of the file comes last, so it counts before the folders.
fn day_in_path(path: &str) -> Option<String> {
    let bytes = path.as_bytes();
    (0..bytes.len()).rev().find_map(|at| {
        let is_inside = at > 0 && bytes[at - 1].is_ascii_digit();
        if is_inside {
            None
        } else {
            day_at(&bytes[at..])
        }
    })
}

/// The day that these bytes begin with. Its parts are separated by the same character, or by none.
fn day_at(bytes: &[u8]) -> Option<String> {
    let separator = *bytes.get(4)?;
    let (month, day, end) = match separator {
        b'-' | b'_' | b'.' | b'/' if bytes.get(7) == Some(&separator) => (5, 8, 10),
        b'0'..=b'9' => (4, 6, 8),
        _ => return None,
    };
    if bytes.get(end).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let year = number(bytes.get(0..4)?)?;
    let month = number(bytes.get(month..month + 2)?)?;
    let day = number(bytes.get(day..day + 2)?)?;
    let is_year = (1900..2200).contains(&year);
    (is_year && is_day(i32::try_from(year).ok(), month, day))
        .then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// The number that these digits write.
fn number(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_in_a_name_or_in_folders_is_found() {
        for (path, day) in [
            ("Journal/2026-01-10.md", Some("2026-01-10")),
            ("2026-01-20 Oven dealer.md", Some("2026-01-20")),
            ("2025-01-01/2026_03_02.md", Some("2026-03-02")),
            ("20260110 Bread.md", Some("2026-01-10")),
            ("2026/01/10.md", Some("2026-01-10")),
            ("食パン 2026-01-10.md", Some("2026-01-10")),
            ("2026-02-30.md", None),
            ("2026-01.md", None),
            ("call 49202601101.md", None),
            ("12026-01-10.md", None),
            ("Bread.md", None),
        ] {
            assert_eq!(day_in_path(path).as_deref(), day, "{path}");
        }
    }
}
