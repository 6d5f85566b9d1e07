//! What a citation of a file names: a path or a note, and a part of it.

/// The part of a file that is cited.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CitedPart {
    /// All of it.
    Whole,
    /// Lines, counted from 1, `first <= last`.
    Lines {
        /// The first one.
        first: u32,
        /// The last one, included.
        last: u32,
    },
    /// The section under this heading, as written or as its anchor.
    Heading(String),
    /// The block that ends in `^name`.
    Block(String),
    /// Nothing that can be cited: a path alone between brackets, or lines that no file has (`0`, `9-8`).
    /// The text is no citation, but may be meant as one.
    Unclear {
        /// The lines as written; `None`: a path alone.
        lines: Option<String>,
    },
}

/// One file or note that a citation names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTarget {
    /// The path as written, percent-decoded; for a note, its name or path without extension.
    pub path: String,
    /// Whether it names a note without its extension.
    pub is_note: bool,
    /// The part of it that is cited.
    pub part: CitedPart,
}

/// A note that a wiki link names.
pub(super) struct NoteTarget {
    pub target: FileTarget,
    pub path: String,
    /// Bytes of the link's text that are the note's name.
    pub name_length: usize,
}

/// Reads `a.md:12-18, 20; b.md:4`, `a.md#Heading` and `a.md#^block`. A part without a path refers to
/// the file before it.
pub(super) fn places(raw: &str) -> Option<Vec<FileTarget>> {
    let mut out: Vec<FileTarget> = Vec::new();
    for piece in raw.split([',', ';']) {
        let piece = piece.trim().trim_matches('`');
        let target = match (place(piece), out.last()) {
            (Some(target), _) => target,
            (None, Some(before)) => FileTarget {
                part: lines(piece)?,
                ..before.clone()
            },
            (None, None) => return None,
        };
        out.push(target);
    }
    Some(out)
}

/// Reads `a.md:12-18`, `a.md:12`, `a.rs:12:5`, `a.md#L12-L18`, `a.md#Heading` or `a.md#^block`.
fn place(raw: &str) -> Option<FileTarget> {
    place_by_lines(raw).or_else(|| place_by_name(raw))
}

/// Reads a path alone, or with lines that no file has.
pub(super) fn unclear_place(raw: &str) -> Option<FileTarget> {
    let raw = raw.trim().trim_matches('`');
    let is_file = is_path(raw) && has_extension(raw) && !raw.contains([':', '#', '|', ',']);
    let alone = is_file.then(|| target(raw, CitedPart::Unclear { lines: None }));
    alone.or_else(|| unclear_lines(raw))
}

/// Reads `a.md:0` and `a.md:9-8`.
pub(super) fn unclear_lines(raw: &str) -> Option<FileTarget> {
    let raw = raw.trim().trim_matches('`');
    let (path, written) = raw.rsplit_once(':')?;
    let mut numbers = written.split(['-', '–']);
    let is_number = |n: &str| {
        let digits = n.trim().trim_start_matches('L');
        !digits.is_empty() && digits.len() < 8 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let are_numbers = numbers.clone().count() <= 2 && numbers.all(is_number);
    let is_file = is_path(path) && has_extension(path) && are_numbers && lines(written).is_none();
    let lines = Some(written.to_owned());
    is_file.then(|| target(path, CitedPart::Unclear { lines }))
}

/// Reads `a.md#Heading` or `a.md#^block`. The canonical form of a citation has a key behind `|`.
fn place_by_name(raw: &str) -> Option<FileTarget> {
    let (path, fragment) = raw.split_once('#')?;
    let is_file = is_path(path) && has_extension(path) && !path.contains(": ");
    let is_name = !fragment.trim().is_empty() && !fragment.contains('|');
    (is_file && is_name).then(|| target(path, part(fragment.trim())))
}

fn place_by_lines(raw: &str) -> Option<FileTarget> {
    let (path, numbers) = match raw.rsplit_once("#L") {
        Some((path, numbers)) => (path, numbers),
        None => raw.rsplit_once(':')?,
    };
    // A compiler puts the column after the line.
    if let Some((shorter, line)) = path.rsplit_once(':')
        && is_path(shorter)
        && let Some(part) = lines(line)
    {
        return Some(target(shorter, part));
    }
    let part = lines(numbers)?;
    is_path(path).then(|| target(path, part))
}

/// Reads `12`, `12-18`, `L12-L18` or `12C3-18C9`.
fn lines(raw: &str) -> Option<CitedPart> {
    let mut numbers = raw.split(['-', '–']).map(|number| {
        let number = number.trim().trim_start_matches('L');
        let number = number.split_once('C').map_or(number, |(line, _)| line);
        number.parse::<u32>().ok().filter(|number| *number > 0)
    });
    let first = numbers.next()??;
    let last = match numbers.next() {
        Some(last) => last?,
        None => first,
    };
    (numbers.next().is_none() && last >= first).then_some(CitedPart::Lines { first, last })
}

/// Whether it can be a file path: it contains a folder or an extension, and is not a web address.
fn is_path(path: &str) -> bool {
    (path.contains('.') || path.contains('/'))
        && path.trim() == path
        && !path.contains("://")
        && !path.ends_with('/')
}

/// Whether the last name of a path has an extension.
fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, ext)| {
        !stem.is_empty() && !ext.is_empty() && ext.chars().all(char::is_alphanumeric)
    })
}

/// The target of `[text](target)`; `None` for web addresses and places in the same text.
pub(super) fn link_target(raw: &str) -> Option<FileTarget> {
    let raw = raw.trim();
    let raw = match raw.strip_prefix('<') {
        Some(rest) => rest.split('>').next().unwrap_or(rest),
        // A title follows the path.
        None => raw.split_once(" \"").map_or(raw, |(path, _)| path).trim(),
    };
    if let Some(place) = place(raw) {
        return Some(place);
    }
    let (path, fragment) = raw.split_once('#').unwrap_or((raw, ""));
    let has_scheme = path
        .split_once(':')
        .is_some_and(|(scheme, rest)| rest.starts_with("//") || scheme == "mailto");
    (has_extension(path) && !has_scheme).then(|| target(path, part(fragment)))
}

/// The target of `[[target]]`: `Note`, `folder/Note#Heading`, `Note#^block`.
pub(super) fn note_target(raw: &str) -> Option<NoteTarget> {
    let (name, fragment) = raw.split_once('#').unwrap_or((raw, ""));
    let path = name.trim();
    if path.is_empty() || path.contains("://") || path.contains('[') {
        return None;
    }
    // For a path of headings, the last one names the section.
    let fragment = fragment.rsplit('#').next().unwrap_or(fragment);
    let has_extension = path.to_lowercase().ends_with(".md");
    Some(NoteTarget {
        target: FileTarget {
            path: path.to_owned(),
            is_note: !has_extension,
            part: part(fragment.trim()),
        },
        path: path.to_owned(),
        name_length: name.len(),
    })
}

fn part(fragment: &str) -> CitedPart {
    match fragment.strip_prefix('^') {
        _ if fragment.is_empty() => CitedPart::Whole,
        Some(block) => CitedPart::Block(block.to_owned()),
        None => CitedPart::Heading(unescaped(fragment)),
    }
}

fn target(path: &str, part: CitedPart) -> FileTarget {
    FileTarget {
        path: unescaped(path),
        is_note: false,
        part,
    }
}

/// Percent-decoded, if the result is UTF-8.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let raw = path.as_bytes();
    let mut at = 0;
    while let Some(b) = raw.get(at) {
        let hex = raw
            .get(at + 1..at + 3)
            .filter(|_| *b == b'%')
            .and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(*b);
                at += 1;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}
