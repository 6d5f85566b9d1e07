//! Bytes and lines of a text.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Invalid;

/// A half-open range of byte offsets into one file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "RawSpan", into = "RawSpan")]
pub struct ByteSpan {
    start: usize,
    end: usize,
}

#[derive(Serialize, Deserialize, JsonSchema)]
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
        Self {
            start: span.start,
            end: span.end,
        }
    }
}

impl ByteSpan {
    /// The span; `None` if `end` is before `start`.
    pub const fn new(start: usize, end: usize) -> Option<Self> {
        if start <= end {
            Some(Self { start, end })
        } else {
            None
        }
    }

    /// The first byte.
    pub const fn start(self) -> usize {
        self.start
    }

    /// One past the last byte.
    pub const fn end(self) -> usize {
        self.end
    }

    /// The number of bytes.
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it is empty.
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
    /// The span; `None` if `first` is 0 or `last` is before it.
    pub const fn new(first: u32, last: u32) -> Option<Self> {
        if first >= 1 && first <= last {
            Some(Self { first, last })
        } else {
            None
        }
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
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
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
