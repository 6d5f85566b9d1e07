//! Reads named lists from a data file next to the code that uses them. The lists are read at
//! compile time, and a missing list is a compile error.
//!
//! A line `name: …` contains one list; a line that begins with `#` is a comment. Phrases are
//! separated by `|` and matched exactly, blanks included.

/// The unchanged text of the list `name` of `data`.
///
/// # Panics
/// If the list is missing. Only constants call this, so the compiler reports it.
pub const fn list(data: &'static str, name: &str) -> &'static str {
    let bytes = data.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let mut end = start;
        while end < bytes.len() && bytes[end] != b'\n' {
            end += 1;
        }
        let next = end + 1;
        if end > start && bytes[end - 1] == b'\r' {
            end -= 1;
        }
        if is_named(bytes, start, end, name.as_bytes()) {
            return data.split_at(end).0.split_at(start + name.len() + 2).1;
        }
        start = next;
    }
    panic!("the data file has no list of this name")
}

/// Whether the line of these bytes begins with `name` and `: `.
const fn is_named(bytes: &[u8], start: usize, end: usize, name: &[u8]) -> bool {
    if start + name.len() + 2 > end {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if bytes[start + at] != name[at] {
            return false;
        }
        at += 1;
    }
    bytes[start + at] == b':' && bytes[start + at + 1] == b' '
}

/// The number of phrases in a list.
pub const fn count(list: &str) -> usize {
    let bytes = list.as_bytes();
    let (mut at, mut found) = (0, 1);
    while at < bytes.len() {
        if bytes[at] == b'|' {
            found += 1;
        }
        at += 1;
    }
    found
}

/// The phrases of a list.
///
/// # Panics
/// If the list does not have `N` phrases. Only constants call this, so the compiler reports it.
pub const fn split<const N: usize>(list: &'static str) -> [&'static str; N] {
    assert!(count(list) == N, "the list has another number of phrases");
    let bytes = list.as_bytes();
    let mut out = [""; N];
    let (mut at, mut start, mut found) = (0, 0, 0);
    while at <= bytes.len() {
        if at == bytes.len() || bytes[at] == b'|' {
            out[found] = list.split_at(at).0.split_at(start).1;
            found += 1;
            start = at + 1;
        }
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "# A comment: not a list\nab: one|two words |drei\r\na: x";

    #[test]
    fn a_list_is_found_by_its_whole_name() {
        const PHRASES: [&str; 3] = split(list(DATA, "ab"));
        assert_eq!(PHRASES, ["one", "two words ", "drei"]);
        assert_eq!(list(DATA, "a"), "x");
        assert_eq!(count("x"), 1);
    }
}
