//! Extracts the text of documents that are not plain text, as markdown: canvases, HTML, DOCX, PDF; and
//! reads Org files as markdown.
//!
//! The text has the headings of the document. A document without headings gets places: `page 3`,
//! `line 14 of the file`. The same bytes give the same text, so a caller can read a document again
//! and compare. A version that gives another text must also raise `IMPLEMENTATION` of the cut
//! points; otherwise an older index would not match its files. This crate does not access the disk.
//! Any bytes give a text or an error, in bounded time and memory.

mod canvas;
#[cfg(feature = "docx")]
mod docx;
#[cfg(any(feature = "html", feature = "docx"))]
mod flow;
#[cfg(feature = "html")]
mod html;
mod org;
#[cfg(feature = "pdf")]
mod pdf;
mod rendition;

use std::panic::{AssertUnwindSafe, catch_unwind};

use local_agent_text::documents::{extracted, is_org};

/// Why no text could be extracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoText {
    /// This build cannot read the format; contains the Cargo feature that can.
    NotBuilt(&'static str),
    /// The document is damaged, encrypted, or of another format than its name says; contains half a
    /// sentence for people.
    Broken(String),
    /// Its text or its unpacked size exceeds the limit.
    TooLarge,
    /// The extraction was stopped after [`MOST_SECONDS`].
    TooSlow,
}

/// Maximum time for one PDF. The time for other formats is proportional to their size, which is
/// limited.
pub const MOST_SECONDS: u64 = 20;

impl NoText {
    pub(crate) fn broken(why: impl Into<String>) -> Self {
        Self::Broken(why.into())
    }
}

impl std::fmt::Display for NoText {
    /// Half a sentence that follows "because".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotBuilt(feature) => write!(
                f,
                "this program was built without support for {}",
                feature.to_uppercase()
            ),
            Self::Broken(why) => f.write_str(why),
            Self::TooLarge => f.write_str("its text is larger than `security.max_file_bytes`"),
            Self::TooSlow => write!(f, "it took more than {MOST_SECONDS} seconds"),
        }
    }
}

/// Whether this build can read the format of `path`; `NotBuilt` if not.
pub fn readable(path: &str) -> Result<(), NoText> {
    match extracted(path) {
        Some(".htm" | ".html") if cfg!(not(feature = "html")) => Err(NoText::NotBuilt("html")),
        Some(".docx") if cfg!(not(feature = "docx")) => Err(NoText::NotBuilt("docx")),
        Some(".pdf") if cfg!(not(feature = "pdf")) => Err(NoText::NotBuilt("pdf")),
        _ => Ok(()),
    }
}

/// The text of a document, at most `most` bytes. If the bytes of a document are its text, they are
/// returned unchanged.
pub fn text_of(path: &str, bytes: Vec<u8>, most: u64) -> Result<Vec<u8>, NoText> {
    if is_org(path) {
        return Ok(org::text(bytes));
    }
    let Some(extension) = extracted(path) else {
        return Ok(bytes);
    };
    readable(path)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let text = catch_unwind(AssertUnwindSafe(|| by_kind(extension, bytes, most)))
        .unwrap_or_else(|_| Err(NoText::broken("its parser failed")))?;
    if text.len() > most {
        return Err(NoText::TooLarge);
    }
    Ok(text.into_bytes())
}

fn by_kind(extension: &str, bytes: Vec<u8>, most: usize) -> Result<String, NoText> {
    match extension {
        ".canvas" => canvas::text(&bytes, most),
        #[cfg(feature = "html")]
        ".htm" | ".html" => html::text(&bytes, most),
        #[cfg(feature = "docx")]
        ".docx" => docx::text(&bytes, most),
        #[cfg(feature = "pdf")]
        ".pdf" => pdf::text(bytes, most),
        _ => Err(NoText::broken("its kind is not known")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_text_is_left_alone() {
        let bytes = b"\xff\0# x".to_vec();
        assert_eq!(text_of("a.md", bytes.clone(), 1).unwrap(), bytes);
    }

    #[test]
    fn a_text_beyond_the_limit_is_refused() {
        let board = r#"{"nodes":[{"id":"a","type":"text","text":"a long card"}]}"#;
        let text = |most| text_of("a.canvas", board.as_bytes().to_vec(), most);
        assert_eq!(text(8), Err(NoText::TooLarge));
        assert!(text(1000).is_ok());
    }

    #[cfg(not(feature = "pdf"))]
    #[test]
    fn a_kind_that_is_not_built_is_named() {
        let why = text_of("a.PDF", b"%PDF-1.7".to_vec(), 1000).unwrap_err();
        assert_eq!(why, NoText::NotBuilt("pdf"));
        assert_eq!(
            why.to_string(),
            "this program was built without support for PDF"
        );
    }

    proptest! {
        /// Any bytes give a text or an error, and always the same one.
        #[test]
        fn every_input_ends(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            tail in "[-<>a-z/=\"{}\\[\\]:,0-9 ]{0,200}",
            kind in prop::sample::select(vec!["a.canvas", "a.html", "a.docx", "a.org", "a.pdf"]),
        ) {
            let mut bytes = bytes;
            bytes.extend_from_slice(tail.as_bytes());
            let one = text_of(kind, bytes.clone(), 1 << 20);
            prop_assert_eq!(&one, &text_of(kind, bytes, 1 << 20));
        }
    }
}
