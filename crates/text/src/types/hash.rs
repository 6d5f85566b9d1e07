//! Identities: hashes and random bytes, written as hexadecimal.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256 as Hasher};

use super::{HeadingPath, Invalid, RelPath, SourceName};

/// Writes `bytes` as lower-case hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
            let _ = write!(out, "{b:02x}");
            out
        })
}

/// Parses exactly `N` bytes of lower-case hexadecimal.
fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return None;
    }
    let mut out = [0; N];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(out)
}

/// The value of a lower-case hexadecimal digit.
fn nibble(b: u8) -> Option<u8> {
    match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    }
}

macro_rules! hex_identity {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// The value of these raw bytes.
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
    /// Sixteen random bytes that identify a publishing transaction of a database. Projections store
    /// the value they were made from; values are compared for equality, never for order.
    CommitId, 16, "32 lower-case hexadecimal digits"
);
hex_identity!(
    /// Everything that determines the vector of a text: weights, tokenizer, pooling, prefixes,
    /// window, input template, arithmetic class. Two vectors are comparable only when their
    /// fingerprints are equal.
    Fingerprint, 32, "64 lower-case hexadecimal digits"
);

impl Sha256 {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Hasher::digest(bytes).into())
    }

    /// Hashes several fields so that no two different lists collide: each field is preceded by its
    /// length.
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
    /// The first 16 bytes of the SHA-256 over (source, path, heading path, text hash, n-th
    /// identical occurrence).
    ///
    /// The only positional input is the count among *identical* chunks, so inserting a section
    /// elsewhere in the file changes no other key.
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
    /// The fingerprint of a list of fields.
    pub fn of_fields(fields: &[&[u8]]) -> Self {
        Self(*Sha256::of_fields(fields).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
