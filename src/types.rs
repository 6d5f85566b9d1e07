//! Identities and spans used by every room.
//!
//! Each type keeps its fields private and has one constructor, so a value that exists is a value that holds
//! its promise: a [`RelPath`] cannot leave its root, a [`ByteSpan`] cannot end before it starts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256 as Hasher};

/// Why a text is not the value it was read as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(&'static str);

/// Writes `bytes` as lower-case hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// Reads exactly `N` bytes of lower-case hexadecimal.
fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return None;
    }
    let nibble = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let mut out = [0; N];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(out)
}

macro_rules! text_form {
    ($type:ty, $expected:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(|_| serde::de::Error::custom($expected))
            }
        }
    };
}

macro_rules! hex_identity {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// Takes the raw bytes as they are.
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }

            /// The raw bytes.
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&to_hex(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                from_hex(text).map(Self).ok_or(Invalid($expected))
            }
        }

        text_form!($name, $expected);
    };
}

hex_identity!(
    /// SHA-256 of some bytes; written as 64 lower-case hexadecimal digits.
    Sha256, 32, "64 lower-case hexadecimal digits"
);
hex_identity!(
    /// The identity of one chunk; written as 32 lower-case hexadecimal digits.
    ChunkKey, 16, "32 lower-case hexadecimal digits"
);
hex_identity!(
    /// Sixteen random bytes that one publishing transaction gives its database. Projections carry the value they
    /// were made from and are compared for equality, never for order.
    CommitId, 16, "32 lower-case hexadecimal digits"
);
hex_identity!(
    /// Everything that decides what vector a text gets: weights, tokenizer, pooling, prefixes, window, input
    /// template, arithmetic class. Two vectors are comparable only when their fingerprints are equal.
    Fingerprint, 32, "64 lower-case hexadecimal digits"
);

impl Sha256 {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Hasher::digest(bytes).into())
    }

    /// Hashes several fields so that no two different lists collide: each field is preceded by its length.
    pub fn of_fields(fields: &[&[u8]]) -> Self {
        let mut hasher = Hasher::new();
        for field in fields {
            hasher.update((field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        Self(hasher.finalize().into())
    }
}

impl ChunkKey {
    /// The first 16 bytes of the SHA-256 over (source, path, heading path, text hash, n-th identical occurrence).
    ///
    /// Nothing positional goes in except the count among *identical* chunks, so inserting a section elsewhere in the
    /// file changes no other key.
    pub fn derive(
        source: &SourceName,
        path: &RelPath,
        heading: &HeadingPath,
        text_sha256: &Sha256,
        occurrence: u32,
    ) -> Self {
        let digest = Sha256::of_fields(&[
            source.as_str().as_bytes(),
            path.as_str().as_bytes(),
            heading.to_canonical().as_bytes(),
            text_sha256.as_bytes(),
            &occurrence.to_le_bytes(),
        ]);
        let mut key = [0; 16];
        key.copy_from_slice(&digest.as_bytes()[..16]);
        Self(key)
    }
}

impl Fingerprint {
    /// The fingerprint of a list of facts.
    pub fn of_fields(fields: &[&[u8]]) -> Self {
        Self(*Sha256::of_fields(fields).as_bytes())
    }
}

/// A path below a root: UTF-8, `/` between segments, never absolute, no `.` or `..` segment, no control character.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelPath(String);

impl RelPath {
    /// Accepts `path` as it stands; nothing is normalised away.
    pub fn new(path: impl Into<String>) -> Result<Self, Invalid> {
        let path = path.into();
        if path.is_empty() {
            return Err(Invalid("the path is empty"));
        }
        if path.chars().any(|c| c.is_control() || c == '\\') {
            return Err(Invalid("the path holds a control character or a backslash"));
        }
        match path.split('/').find(|s| matches!(*s, "" | "." | "..")) {
            Some("") => Err(Invalid("the path is absolute or holds an empty segment")),
            Some(_) => Err(Invalid("the path holds a `.` or `..` segment")),
            None => Ok(Self(path)),
        }
    }

    /// The whole path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The last segment without its extension; a leading dot is not an extension.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[..dot],
            _ => name,
        }
    }

    /// The segments from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for RelPath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

text_form!(RelPath, "a relative path without `.` or `..`");

/// The name of a source: what stands before the colon in `source:rel/path.md`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceName(String);

impl SourceName {
    /// Accepts a non-blank name without white space at its ends, `:`, `/`, `\` or control characters.
    pub fn new(name: impl Into<String>) -> Result<Self, Invalid> {
        let name = name.into();
        if name.trim().is_empty() || name.trim() != name {
            return Err(Invalid("a source name is not blank and has no white space at its ends"));
        }
        if name.chars().any(|c| c.is_control() || matches!(c, ':' | '/' | '\\')) {
            return Err(Invalid("a source name holds no `:`, `/`, `\\` or control character"));
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for SourceName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

text_form!(SourceName, "a source name");

/// A half-open range of byte offsets into one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "RawSpan", into = "RawSpan")]
pub struct ByteSpan {
    start: usize,
    end: usize,
}

#[derive(Serialize, Deserialize)]
struct RawSpan {
    start: usize,
    end: usize,
}

impl TryFrom<RawSpan> for ByteSpan {
    type Error = Invalid;

    fn try_from(raw: RawSpan) -> Result<Self, Invalid> {
        Self::new(raw.start, raw.end).ok_or(Invalid("a span that ends before it starts"))
    }
}

impl From<ByteSpan> for RawSpan {
    fn from(span: ByteSpan) -> Self {
        Self { start: span.start, end: span.end }
    }
}

impl ByteSpan {
    /// `None` when `end` lies before `start`.
    pub const fn new(start: usize, end: usize) -> Option<Self> {
        if start <= end { Some(Self { start, end }) } else { None }
    }

    /// The first byte.
    pub const fn start(self) -> usize {
        self.start
    }

    /// One past the last byte.
    pub const fn end(self) -> usize {
        self.end
    }

    /// How many bytes.
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it covers nothing.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes it names, or `None` when `bytes` is shorter.
    pub fn slice(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start..self.end)
    }
}

/// A range of lines of one file: 1-based, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineSpan {
    first: u32,
    last: u32,
}

impl LineSpan {
    /// `None` when `first` is 0 or `last` lies before it.
    pub const fn new(first: u32, last: u32) -> Option<Self> {
        if first >= 1 && first <= last { Some(Self { first, last }) } else { None }
    }

    /// The first line.
    pub const fn first(self) -> u32 {
        self.first
    }

    /// The last line, included.
    pub const fn last(self) -> u32 {
        self.last
    }
}

impl fmt::Display for LineSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { write!(f, "{}", self.first) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

impl FromStr for LineSpan {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        first
            .parse()
            .ok()
            .zip(last.parse().ok())
            .and_then(|(first, last)| Self::new(first, last))
            .ok_or(Invalid("lines as `12` or `12-18`, counted from 1"))
    }
}

text_form!(LineSpan, "lines as `12` or `12-18`, counted from 1");

/// The number of one evidence item in one snapshot; written `E1`, `E2`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(u32);

impl Label {
    /// `None` for 0: labels count from 1.
    pub const fn new(number: u32) -> Option<Self> {
        if number == 0 { None } else { Some(Self(number)) }
    }

    /// The number, from 1.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{}", self.0)
    }
}

impl FromStr for Label {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.strip_prefix('E')
            .filter(|digits| !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .and_then(Self::new)
            .ok_or(Invalid("a label as `E1`"))
    }
}

text_form!(Label, "a label as `E1`");

/// One heading on the way from a document's top to a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The plain text of the heading, trimmed.
    pub title: String,
}

/// The headings that stand above a chunk, outermost first; empty for text before any heading.
///
/// Two text forms. *Display* (`H1: Title > H2: Title`) is for people. *Canonical* is the same with every character
/// that means something in a citation percent-encoded inside titles (`% ] | # >` and control characters), so it can
/// be cited, stored and read back without loss.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct HeadingPath(Vec<Heading>);

impl HeadingPath {
    /// Accepts headings of levels 1 to 6; a title's white space is collapsed.
    pub fn new(headings: Vec<Heading>) -> Result<Self, Invalid> {
        if headings.iter().any(|h| !(1..=6).contains(&h.level)) {
            return Err(Invalid("a heading level is 1 to 6"));
        }
        let collapse =
            |h: Heading| Heading { level: h.level, title: h.title.split_whitespace().collect::<Vec<_>>().join(" ") };
        Ok(Self(headings.into_iter().map(collapse).collect()))
    }

    /// The headings, outermost first.
    pub fn headings(&self) -> &[Heading] {
        &self.0
    }

    /// Whether the chunk stands above all headings.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The reversible form used in citations and databases; empty at the root.
    pub fn to_canonical(&self) -> String {
        let one = |h: &Heading| format!("H{}: {}", h.level, percent_encode(&h.title, "]|#>"));
        self.0.iter().map(one).collect::<Vec<_>>().join(" > ")
    }

    /// Reads what [`Self::to_canonical`] wrote.
    pub fn from_canonical(text: &str) -> Result<Self, Invalid> {
        const BAD: Invalid = Invalid("a heading path as `H1: Title > H2: Title`");
        if text.is_empty() {
            return Ok(Self::default());
        }
        let one = |part: &str| {
            let (level, title) = part.split_once(':').ok_or(BAD)?;
            let level = level.trim().strip_prefix('H').and_then(|l| l.parse().ok()).ok_or(BAD)?;
            let title = percent_decode(title.trim()).ok_or(BAD)?;
            Ok(Heading { level, title })
        };
        Self::new(text.split('>').map(str::trim).map(one).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for HeadingPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, h) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { " > " };
            write!(f, "{separator}H{}: {}", h.level, h.title)?;
        }
        Ok(())
    }
}

/// Percent-encodes `%`, control characters and every character of `special` as UTF-8 bytes.
pub fn percent_encode(text: &str, special: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '%' || c.is_control() || special.contains(c) {
            let mut utf8 = [0; 4];
            for byte in c.encode_utf8(&mut utf8).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Undoes [`percent_encode`]; `None` for a broken escape or bytes that are not UTF-8.
pub fn percent_decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digits = text.get(at + 1..at + 3).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}

/// Makes control, bidirectional, zero-width and tag characters visible; line breaks and tabs stay.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(hidden) {
        return text.to_owned();
    }
    text.chars().map(|c| if hidden(c) { format!("\\u{{{:x}}}", c as u32) } else { c.to_string() }).collect()
}

/// Why a file under a root is not in the index. Stored, counted and shown by these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SkipReason {
    /// A symbolic link, and links are not followed here.
    Symlink,
    /// Its name or a folder above it is on the deny list.
    Denied,
    /// More than one name points at it, and hard links are not allowed.
    HardLink,
    /// A FIFO, socket or device.
    NotRegular,
    /// Larger than `security.max_file_bytes`.
    TooLarge,
    /// The system refused to open or read it.
    Unreadable,
    /// Its bytes are not UTF-8.
    NotUtf8,
    /// Its name is not UTF-8, or holds control characters or a backslash.
    BadName,
}

impl SkipReason {
    /// Every reason, for tables and round trips.
    pub const ALL: [Self; 8] = [
        Self::Symlink,
        Self::Denied,
        Self::HardLink,
        Self::NotRegular,
        Self::TooLarge,
        Self::Unreadable,
        Self::NotUtf8,
        Self::BadName,
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Symlink => "symlink",
            Self::Denied => "denied",
            Self::HardLink => "hard_link",
            Self::NotRegular => "not_regular",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
            Self::NotUtf8 => "not_utf8",
            Self::BadName => "bad_name",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SkipReason {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|r| r.as_str() == text).ok_or(Invalid("a reason for skipping a file"))
    }
}

text_form!(SkipReason, "a reason for skipping a file");

/// What the file system says about one file without reading it. Two equal stamps mean "unchanged" only when the
/// modification time is old enough; the indexing job holds that rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970 (negative before).
    pub mtime_ns: i64,
    /// Status-change time, nanoseconds since 1970; 0 where the system has none.
    pub ctime_ns: i64,
    /// Inode number; 0 where the system has none.
    pub inode: u64,
}

/// A set of database row ids (documents or chunks), as a bitmap. What a filter lets through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdSet {
    words: Vec<u64>,
    len: usize,
}

impl IdSet {
    /// Adds `id`; ids below 0 do not exist in our tables and are ignored.
    pub fn insert(&mut self, id: i64) {
        let Ok(id) = usize::try_from(id) else { return };
        if id / 64 >= self.words.len() {
            self.words.resize(id / 64 + 1, 0);
        }
        let word = &mut self.words[id / 64];
        let bit = 1 << (id % 64);
        self.len += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Whether `id` is in the set.
    pub fn contains(&self, id: i64) -> bool {
        usize::try_from(id).is_ok_and(|id| self.words.get(id / 64).is_some_and(|w| w >> (id % 64) & 1 == 1))
    }

    /// The ids, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).filter_map(move |bit| i64::try_from(at * 64 + bit).ok())
        })
    }

    /// How many ids.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is in it.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<i64> for IdSet {
    fn from_iter<I: IntoIterator<Item = i64>>(ids: I) -> Self {
        let mut set = Self::default();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rel_path_cannot_leave_its_root() {
        for bad in ["", "/a", "a//b", "a/", ".", "a/../b", "..", "a/./b", "a\\b", "a\nb"] {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a.md", "..foo", "a/.b/c.md", "ä/日本.md", "a b.md"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn labels_have_one_spelling() {
        assert_eq!("E12".parse::<Label>().unwrap().number(), 12);
        for bad in ["E0", "E01", "e1", "E", "E+1", "E1 ", "1"] {
            assert!(bad.parse::<Label>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_chunk_key_depends_on_every_part() {
        let source = SourceName::new("notes").unwrap();
        let other = SourceName::new("work").unwrap();
        let path = RelPath::new("a.md").unwrap();
        let root = HeadingPath::default();
        let sha = Sha256::of(b"text");
        let key = ChunkKey::derive(&source, &path, &root, &sha, 0);
        assert_ne!(key, ChunkKey::derive(&other, &path, &root, &sha, 0));
        assert_ne!(key, ChunkKey::derive(&source, &path, &root, &sha, 1));
        assert_eq!(key, key.to_string().parse().unwrap());
    }

    #[test]
    fn an_id_set_holds_what_was_put_in() {
        let set: IdSet = [3, 64, 3, 200, -1].into_iter().collect();
        assert_eq!(set.len(), 3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
        assert!(set.contains(64) && !set.contains(65) && !set.contains(-1) && !set.contains(10_000));
    }

    proptest! {
        #[test]
        fn heading_paths_round_trip(titles in prop::collection::vec((1u8..=6, "\\PC{0,24}"), 0..5)) {
            let headings = titles.into_iter().map(|(level, title)| Heading { level, title }).collect();
            let path = HeadingPath::new(headings).unwrap();
            let canonical = path.to_canonical();
            prop_assert!(!canonical.contains(['|', ']', '#']));
            prop_assert_eq!(HeadingPath::from_canonical(&canonical).unwrap(), path);
        }

        #[test]
        fn percent_encoding_round_trips(text in any::<String>()) {
            let encoded = percent_encode(&text, "]|#>:");
            prop_assert!(!encoded.chars().any(|c| c.is_control() || "]|#>:".contains(c)));
            prop_assert_eq!(percent_decode(&encoded), Some(text));
        }
    }
}
