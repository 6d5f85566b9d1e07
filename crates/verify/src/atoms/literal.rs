//! Finds the parts of a text that the evidence must contain character by character: addresses,
//! paths, flags, identifiers, hashes, versions.

use std::ops::Range;

use crate::text::lower_case;

/// The kind of a run of characters without blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    /// A web or mail address.
    Url,
    /// An identifier, path, flag, hash or assignment.
    Code,
    /// A version; `key` contains its number: `2.8.3`. A comparison may come before it.
    Version {
        /// Without `v`.
        key: String,
        /// `>=`, `>`, `<=`, `<`, `^`, `~`, `=`, or the word that means one.
        compare: &'static str,
    },
}

/// Finds the literals of a normalised text (all white space in it is single blanks), in order.
pub(super) fn literals(text: &str, range: Range<usize>) -> Vec<(Range<usize>, Literal)> {
    let mut out = Vec::new();
    let body = text.get(range.clone()).unwrap_or("");
    let mut at = range.start;
    let mut before = "";
    let mut before2 = "";
    for blob in body.split(|c: char| c == ' ' || is_far_eastern(c)) {
        let start = at;
        at += blob.len();
        at += body
            .get(at - range.start..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8);
        if is_plain(blob) {
            if !blob.is_empty() {
                (before2, before) = (before, blob);
            }
            continue;
        }
        let left = blob.trim_start_matches(['(', '[', '{', '"', '\'', '<', '“', '|', ',']);
        let lead = blob.len() - left.len();
        let bare = left.trim_end_matches([
            '.', ',', ';', ':', '!', '?', ']', '}', '"', '\'', '”', '|', '…',
        ]);
        let bare = if bare.contains('(') {
            bare
        } else {
            bare.trim_end_matches([')', '.', ','])
        };
        if bare.len() > 1 && bare.len() < 400 {
            let place = start + lead..start + lead + bare.len();
            if let Some(kind) = classify(bare, before, before2) {
                out.push((place, kind));
            }
        }
        if !blob.is_empty() {
            (before2, before) = (before, blob);
        }
    }
    out
}

/// A character of a script that is written without spaces. Code ends where such text begins.
fn is_far_eastern(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Whether `bare` has only lower-case letters, perhaps after one capital or before a full stop or
/// comma. Most words are like that, and none of them is a literal.
fn is_plain(blob: &str) -> bool {
    let word = blob.strip_suffix(['.', ',']).unwrap_or(blob).as_bytes();
    word.split_first().is_none_or(|(first, rest)| {
        first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase)
    })
}

fn classify(bare: &str, before: &str, before2: &str) -> Option<Literal> {
    // Most words have only letters, with no digit, symbol or capital inside: they are not literals.
    let mut bytes = bare.bytes();
    if bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_lowercase())
    {
        return None;
    }
    if bare.contains("://") || bare.starts_with("www.") {
        return Some(Literal::Url);
    }
    if let Some((name, host)) = bare.split_once('@')
        && !name.is_empty()
        && host.contains('.')
    {
        return Some(Literal::Url);
    }
    if let Some(version) = version(bare, before, before2) {
        return Some(version);
    }
    is_code(bare).then_some(Literal::Code)
}

const COMPARISONS: &[&str] = &[">=", "<=", "==", "~>", "≥", "≤", ">", "<", "^", "~", "="];

fn version(bare: &str, before: &str, before2: &str) -> Option<Literal> {
    let bare_word = bare.starts_with(|c: char| c.is_ascii_alphanumeric());
    let sign = COMPARISONS
        .iter()
        .find(|c| !bare_word && bare.starts_with(**c))
        .copied();
    let rest = bare.trim_start_matches(['>', '<', '=', '~', '^', '≥', '≤', '@']);
    let named = rest.strip_prefix(['v', 'V']);
    let number = named.unwrap_or(rest);
    let core_len = number
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(number.len());
    let (core, tail) = number.split_at(core_len);
    let core = core.trim_end_matches('.');
    let parts = core.split('.').count();
    let digits = !core.is_empty() && core.split('.').all(|p| !p.is_empty() && p.len() <= 6);
    let plain_tail = tail.is_empty()
        || tail.starts_with(['-', '+']) && tail.len() < 20
        || matches!(tail, "a" | "b" | "rc" | "x" | ".x");
    if !digits || !plain_tail {
        return None;
    }
    let lower = lower_case(before.trim_end_matches([',', ':']));
    let announced = matches!(
        &*lower,
        "version"
            | "versions"
            | "release"
            | "releases"
            | "v"
            | "kernel"
            | "ver."
            | "rust"
            | "python"
            | "node"
            | "java"
    );
    let compared = COMPARISONS.contains(&before.trim()) && !is_result(before, before2);
    let dated = parts == 3 && core.split('.').next_back().is_some_and(|p| p.len() == 4);
    let thousands = parts > 2 && core.split('.').skip(1).all(|p| p.len() == 3);
    let is_one = !(dated || thousands && named.is_none() && !announced)
        && (parts > 2
            || named.is_some()
            || parts == 2 && (announced || sign.is_some() || compared)
            || parts == 1 && announced && &*lower != "python" && core.len() < 4);
    if !is_one {
        return None;
    }
    let compare = sign
        .or_else(|| COMPARISONS.iter().find(|c| before.trim() == **c).copied())
        .map_or("", normal_comparison);
    let lower2 = lower_case(before2);
    let worded = match (&*lower2, &*lower) {
        ("at", "least") => ">=",
        ("at", "most") => "<=",
        (_, "than") if matches!(&*lower2, "newer" | "later" | "higher" | "more" | "greater") => ">",
        (_, "than") => "<",
        _ => "",
    };
    let key = format!("{core}{}", tail.to_lowercase());
    Some(Literal::Version {
        key,
        compare: if compare.is_empty() { worded } else { compare },
    })
}

/// Whether the number behind these two words is the result of a computation, and no version:
/// "2.50 € + 4 € = 6.50 €".
fn is_result(before: &str, before2: &str) -> bool {
    let is_operand = !before2.contains(char::is_alphabetic) || super::unit(before2).is_some();
    before.trim() == "=" && !before2.is_empty() && is_operand
}

fn normal_comparison(sign: &str) -> &'static str {
    match sign {
        ">=" | "≥" => ">=",
        "<=" | "≤" => "<=",
        ">" => ">",
        "<" => "<",
        "^" => "^",
        "~" | "~>" => "~",
        _ => "=",
    }
}

/// Whether a run of characters is an identifier, path, flag, hash or assignment, and not an
/// ordinary word.
fn is_code(bare: &str) -> bool {
    let bytes = bare.as_bytes();
    let letters = bare.chars().any(char::is_alphabetic);
    if !letters {
        return false;
    }
    if bare.trim_matches('_').contains('_')
        || bare.contains("::")
        || bare.ends_with("()")
        || bare.contains('\\')
        || bare.contains("->")
    {
        return true;
    }
    if bare.starts_with("--") && bytes.get(2).is_some_and(u8::is_ascii_alphabetic) {
        return true;
    }
    if bare.starts_with('$') && bytes.get(1).is_some_and(u8::is_ascii_alphabetic) && bare.len() > 3
    {
        return bare
            .bytes()
            .skip(1)
            .all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit());
    }
    if bare.contains('/') {
        let parts: Vec<&str> = bare.split('/').collect();
        let rooted = bare.starts_with(['/', '.', '~']);
        let named = parts.last().is_some_and(|last| has_file_extension(last));
        return parts.len() > 1
            && (rooted && bare.len() > 3 || named || parts.len() > 3)
            && !bare.contains("//");
    }
    if has_file_extension(bare) {
        return true;
    }
    let hex = bare.len() >= 7 && bytes.iter().all(u8::is_ascii_hexdigit);
    if hex && bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic) {
        return true;
    }
    // camelCase: starts with a lower-case letter, has a capital later, and only letters and digits.
    let word = bytes.iter().all(u8::is_ascii_alphanumeric);
    word && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().skip(2).any(u8::is_ascii_uppercase)
}

/// `name.ext` with a known file extension.
pub(crate) fn has_file_extension(bare: &str) -> bool {
    const KNOWN: &[&str] = &[
        "md", "txt", "rs", "py", "js", "ts", "json", "yaml", "yml", "toml", "html", "css", "csv",
        "pdf", "png", "jpg", "sh", "c", "h", "cpp", "java", "go", "log", "sql", "db", "sqlite",
        "xml", "ini", "cfg", "conf", "lock", "exe", "zip", "gz", "tar", "docx", "xlsx", "svg",
        "ipynb", "bak",
    ];
    bare.rsplit_once('.').is_some_and(|(name, ext)| {
        name.chars().any(char::is_alphanumeric)
            && KNOWN.contains(&ext.to_lowercase().as_str())
            && !name.ends_with('.')
    })
}

/// The contents of the code spans (`` `a b` ``) of the raw text.
pub(crate) fn code_spans(raw: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = raw;
    while let Some(open) = rest.find('`') {
        let ticks = rest
            .get(open..)
            .map_or(0, |r| r.len() - r.trim_start_matches('`').len());
        let Some(body) = rest.get(open + ticks..) else {
            break;
        };
        let fence = "`".repeat(ticks.min(8));
        let Some(close) = body.find(&fence) else {
            break;
        };
        out.extend(body.get(..close).map(str::trim).filter(|s| !s.is_empty()));
        rest = body
            .get(close + fence.len()..)
            .unwrap_or("")
            .trim_start_matches('`');
    }
    out
}
