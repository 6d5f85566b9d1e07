//! The metadata of a file, and the reasons for leaving a file out.

use std::fmt;
use std::str::FromStr;

use super::Invalid;

/// Why a file under a root is not in the index. These names are stored, counted and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SkipReason {
    /// A symbolic link; links are not followed here.
    Symlink,
    /// The policy does not allow its name, its extension or a folder above it.
    Denied,
    /// It is hard-linked under several names, and hard links are not allowed.
    HardLink,
    /// A FIFO, socket or device.
    NotRegular,
    /// Larger than `security.max_file_bytes`.
    TooLarge,
    /// The system refused to open or read it.
    Unreadable,
    /// Its bytes are not UTF-8.
    NotUtf8,
    /// Its name is not UTF-8, or contains control characters or a backslash.
    BadName,
    /// This build cannot extract text from files of its kind.
    NotBuilt,
    /// No text could be extracted: the file is damaged, encrypted, of another kind than its name
    /// says, or beyond a limit.
    NotExtracted,
}

impl SkipReason {
    /// All reasons.
    pub const ALL: [Self; 10] = [
        Self::Symlink,
        Self::Denied,
        Self::HardLink,
        Self::NotRegular,
        Self::TooLarge,
        Self::Unreadable,
        Self::NotUtf8,
        Self::BadName,
        Self::NotBuilt,
        Self::NotExtracted,
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
            Self::NotBuilt => "not_built",
            Self::NotExtracted => "not_extracted",
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
        Self::ALL
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or(Invalid("a reason for skipping a file"))
    }
}

text_form!(SkipReason, "a reason for skipping a file");

/// The metadata of a file as the file system reports it. Two equal stamps mean "unchanged" only if
/// the modification time is old enough; the indexing job implements that rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970 (negative before).
    pub mtime_ns: i64,
    /// Status-change time, nanoseconds since 1970; 0 if the system has none.
    pub ctime_ns: i64,
    /// Inode number; 0 if the system has none.
    pub inode: u64,
}
