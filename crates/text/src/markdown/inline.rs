//! Links and tags inside a line.

use std::ops::Range;

use crate::types::{ByteSpan, percent_decode};

/// How a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `[[Note]]`.
    Wiki,
    /// `![[Note]]` or `![[picture.png]]`.
    Embed,
    /// `[text](target)` or a reference to a definition.
    Markdown,
    /// `![alt](target)`.
    Image,
    /// `<https://…>`.
    Autolink,
}

impl LinkKind {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wiki => "wiki",
            Self::Embed => "embed",
            Self::Markdown => "markdown",
            Self::Image => "image",
            Self::Autolink => "autolink",
        }
    }
}

/// A link in the text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// How it is written.
    pub kind: LinkKind,
    /// The link target without the anchor; percent escapes in a path are decoded. Empty for a link
    /// into the same document. A target with a scheme (`https:`) is kept whole.
    pub target: String,
    /// The text after `#`: a heading (the innermost, if several are given) or `^block-id`.
    pub anchor: Option<String>,
    /// The displayed words, if they differ from the target.
    pub text: Option<String>,
    /// Its position in the file.
    pub span: ByteSpan,
}

impl Link {
    /// Whether it points outside the vault: the target has a scheme or names a host.
    pub fn is_external(&self) -> bool {
        has_scheme(&self.target)
    }
}

/// Splits the anchor from the target of a link whose text is complete.
pub(super) fn finish(mut link: Link) -> Link {
    let text = link
        .text
        .take()
        .map(|t| t.split_whitespace().collect::<Vec<_>>().join(" "));
    let whole = std::mem::take(&mut link.target);
    link.text = text.filter(|t| !t.is_empty() && *t != whole);
    let wiki = matches!(link.kind, LinkKind::Wiki | LinkKind::Embed);
    if !wiki && has_scheme(&whole) {
        link.target = whole;
        return link;
    }
    // In a table, the pipe of an alias is escaped, and the backslash remains in the target.
    let whole = whole.trim_end_matches('\\');
    let (target, anchor) = whole
        .split_once('#')
        .map_or((whole, None), |(t, a)| (t, Some(a)));
    let innermost = anchor
        .map(|a| a.rsplit('#').next().unwrap_or(a).trim())
        .filter(|a| !a.is_empty());
    link.target = unescaped(target.trim(), wiki);
    link.anchor = innermost.map(|a| unescaped(a, wiki));
    link
}

/// Decodes percent escapes. A wikilink has none and is not decoded.
fn unescaped(text: &str, wiki: bool) -> String {
    let decoded = if wiki { None } else { percent_decode(text) };
    decoded.unwrap_or_else(|| text.to_owned())
}

/// Whether `target` begins with `scheme:` or `//`.
fn has_scheme(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or("");
    let named = scheme.len() > 1 && scheme.len() < target.len() && scheme.len() <= 32;
    let letters = scheme
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    target.starts_with("//")
        || named && letters && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Adds the tags that begin in `text[range]` to `out`, without `#`. A tag is after white space or
/// at the start of a line, consists of letters, digits, `_`, `-`, `/` or symbols, and has at least
/// one character that is not a digit.
pub(super) fn tags(text: &str, range: Range<usize>, out: &mut Vec<String>) {
    let mut at = range.start;
    while let Some(offset) = text[at..range.end].find('#') {
        let mark = at + offset;
        at = mark + 1;
        if mark > 0 && !text[..mark].ends_with(char::is_whitespace) {
            continue;
        }
        let rest = &text[at..];
        let name = &rest[..rest.find(|c| !is_tag_char(c)).unwrap_or(rest.len())];
        at = (at + name.len()).min(range.end).max(mark + 1);
        let name = name.trim_end_matches('/');
        if name
            .chars()
            .any(|c| !c.is_numeric() && !matches!(c, '/' | '-' | '_'))
        {
            out.push(name.to_owned());
        }
    }
}

fn is_tag_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
    }
    // Letters and symbols of other scripts, but not their spaces and punctuation.
    let punctuation = matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff5b}'..='\u{ff65}' | '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}');
    !(punctuation || c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        tags(text, 0..text.len(), &mut out);
        out
    }

    #[test]
    fn tags_are_told_from_other_hashes() {
        assert_eq!(
            found("#a/b #c_d-e, #日本 x#no (#no) #1984 #y1984 http://u/#no # #/ #🎉"),
            ["a/b", "c_d-e", "日本", "y1984", "🎉"]
        );
        assert_eq!(found("#tag/ #two。"), ["tag", "two"]);
    }

    #[test]
    fn schemes_are_told_from_paths() {
        for external in [
            "https://a.b/c#d",
            "mailto:a@b",
            "//host/x",
            "obsidian://open",
        ] {
            assert!(has_scheme(external), "{external}");
        }
        for inside in ["a.md", "C:", "a b: c.md", "../x.md#h", ""] {
            assert!(!has_scheme(inside), "{inside}");
        }
    }
}
