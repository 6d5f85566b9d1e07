//! Cursors and byte limits, so that long results come in pages.
//!
//! A cursor contains the position of the next page and a hash of the request. If the arguments or
//! the underlying data have changed, the cursor is refused, because it would continue in another
//! result.

use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// Smallest and largest byte limit for the text of one result.
const BUDGETS: std::ops::RangeInclusive<usize> = 256..=(256 << 10);

/// A hash that identifies a result, computed from everything that determines it.
pub(super) fn about(parts: &[&str]) -> String {
    let joined: Vec<String> = parts
        .iter()
        .map(|part| format!("{}:{part}", part.len()))
        .collect();
    Sha256::of(joined.concat().as_bytes()).to_string()[..16].to_owned()
}

/// The cursor for a position.
pub(super) fn cursor(at: usize, about: &str) -> String {
    format!("{at}-{about}")
}

/// The position of a cursor; 0 without one.
/// Errors: `INVALID_ARGS` if it is invalid or belongs to another result.
pub(super) fn place(cursor: Option<&str>, about: &str) -> Result<usize> {
    let Some(cursor) = cursor else { return Ok(0) };
    let (at, of) = cursor
        .split_once('-')
        .ok_or_else(|| refused_cursor("is not one of this server's"))?;
    let at = at
        .parse()
        .map_err(|_| refused_cursor("is not one of this server's"))?;
    if of != about {
        return Err(refused_cursor(
            "belongs to another call, or what it counted has changed since",
        ));
    }
    Ok(at)
}

/// The failure for a cursor that cannot be used.
fn refused_cursor(why: &str) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, format!("the cursor {why}"))
        .with_hint("make the same call without `cursor`")
}

/// The requested byte limit.
///
/// Errors: `INVALID_ARGS` outside [`BUDGETS`].
pub(super) fn budget(asked: Option<usize>, usual: usize) -> Result<usize> {
    let budget = asked.unwrap_or(usual);
    if !BUDGETS.contains(&budget) {
        let message = format!(
            "`max_bytes` is from {} to {}",
            BUDGETS.start(),
            BUDGETS.end()
        );
        return Err(
            Failure::new(ErrorCode::InvalidArgs, message).with_hint("leave `max_bytes` out")
        );
    }
    Ok(budget)
}

/// A prefix of `text` with at most `bytes` bytes, ending at a line's end if one is near, otherwise
/// between characters.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let head = &text[..end];
    match head.rfind('\n') {
        Some(end) if end >= head.len() / 2 => &head[..=end],
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_leads_only_into_what_it_counted() {
        let of = about(&["query", "state"]);
        assert_eq!(place(None, &of).unwrap(), 0);
        assert_eq!(place(Some(&cursor(7, &of)), &of).unwrap(), 7);
        for bad in ["", "7", "-", "x-y", "7-0000000000000000", "-1-ff"] {
            assert_eq!(
                place(Some(bad), &of).unwrap_err().code,
                ErrorCode::InvalidArgs,
                "{bad}"
            );
        }
        assert_ne!(about(&["a", "bc"]), about(&["ab", "c"]));
    }

    proptest! {
        #[test]
        fn cutting_makes_progress_and_never_splits_a_character(text in any::<String>(), bytes in 256usize..300) {
            let (mut left, mut back) = (text.as_str(), String::new());
            while !left.is_empty() {
                let head = cut(left, bytes);
                prop_assert!(!head.is_empty() && head.len() <= bytes);
                back.push_str(head);
                left = &left[head.len()..];
            }
            prop_assert_eq!(back, text);
        }
    }
}
