//! Identities and spans used by every module.
//!
//! Each type keeps its fields private and has one constructor, so every value is valid: a
//! [`RelPath`] cannot leave its root, a [`ByteSpan`] cannot end before it starts.
//!
//! | file | contents |
//! | --- | --- |
//! | `hash` | identities of bytes, chunks, commits and vectors |
//! | `path` | the location of a file: its source and its path |
//! | `span` | bytes and lines of a text |
//! | `heading` | the headings above a chunk |
//! | `label` | `E1`: the label of an item of evidence |
//! | `spelling` | how texts with special characters are shown and stored |
//! | `file` | the metadata of a file, and the reasons for leaving one out |
//! | `id_set` | rows of a database |

macro_rules! text_form {
    ($type:ty, $expected:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse()
                    .map_err(|_| serde::de::Error::custom($expected))
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "description": $expected})
            }
        }
    };
}

mod file;
mod hash;
mod heading;
mod label;
mod path;
mod span;
mod spelling;

pub use file::{FileStamp, SkipReason};
pub use hash::{ChunkKey, CommitId, Fingerprint, Sha256, to_hex};
pub use heading::{Heading, HeadingPath};
pub use label::Label;
pub use path::{RelPath, SourceName};
pub use span::{ByteSpan, LineSpan};
pub use spelling::{percent_decode, percent_encode, visible};

/// Why a text could not be parsed as a value of the type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(&'static str);
