//! The id of one run.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::macros::format_description;

use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::to_hex;

/// `<YYYYMMDD>T<HHMMSS>Z_<16 hexadecimal digits>`: when the run began, in UTC; then three bytes of
/// the second's fraction and five random ones, so that ids sort by time and are unique.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// A new, unique id.
    pub fn new(began: OffsetDateTime) -> Result<Self> {
        let mut tail = [0; 8];
        getrandom::fill(&mut tail).map_err(|e| {
            Failure::new(
                ErrorCode::WriteError,
                format!("the system gave no random bytes for a run's name: {e}"),
            )
        })?;
        let fraction = (u64::from(began.nanosecond()) << 24) / 1_000_000_000;
        tail[..3].copy_from_slice(&fraction.to_be_bytes()[5..]);
        let form = format_description!("[year][month][day]T[hour][minute][second]Z");
        let at = began
            .format(form)
            .map_err(|e| Failure::internal(format!("the time cannot be written: {e}")))?;
        Ok(Self(format!("{at}_{}", to_hex(&tail))))
    }

    /// The id as text, which is also the name of its folder.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let fits = text.len() == 33
            && text.bytes().enumerate().all(|(at, b)| match at {
                8 => b == b'T',
                15 => b == b'Z',
                16 => b == b'_',
                0..16 => b.is_ascii_digit(),
                _ => matches!(b, b'0'..=b'9' | b'a'..=b'f'),
            });
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("`{text}` is not a run name"))
        }
    }
}

impl TryFrom<String> for RunId {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_never_repeat_and_are_no_paths() {
        let at = |second: i64| OffsetDateTime::from_unix_timestamp(1_700_000_000 + second).unwrap();
        let (first, second) = (RunId::new(at(0)).unwrap(), RunId::new(at(1)).unwrap());
        assert!(first < second && first != RunId::new(at(0)).unwrap());
        assert_eq!(first.as_str().parse(), Ok(first.clone()));
        assert!(first.as_str().starts_with("20231114T221320Z_000000"));
        let later = RunId::new(at(0) + std::time::Duration::from_millis(500)).unwrap();
        assert!(
            later.as_str().starts_with("20231114T221320Z_800000")
                && first < later
                && later < second
        );
        for bad in [
            "",
            "..",
            "20231114T221320Z_",
            "20231114T221320Z_../../etc/pass",
            "20231114T221320Z_00000000000000AA",
        ] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }
}
