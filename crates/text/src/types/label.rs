//! `E1`: the label of an item of evidence.

use std::fmt;
use std::str::FromStr;

use super::Invalid;

/// The number of one evidence item in one snapshot; written `E1`, `E2`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(u32);

impl Label {
    /// `None` for 0: labels count from 1.
    pub const fn new(number: u32) -> Option<Self> {
        if number == 0 {
            None
        } else {
            Some(Self(number))
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_one_spelling() {
        assert_eq!("E12".parse::<Label>().unwrap().number(), 12);
        for bad in ["E0", "E01", "e1", "E", "E+1", "E1 ", "1"] {
            assert!(bad.parse::<Label>().is_err(), "{bad:?}");
        }
    }
}
