//! The markdown of a document. The document's own words never become markup: a line that would be a
//! heading, a fence or a block of HTML gets a backslash.

use super::NoText;

/// The maximum heading level of markdown.
pub(crate) const DEEPEST: u8 = 6;

/// A text under construction, with a maximum size in bytes.
#[derive(Debug)]
pub(crate) struct Rendition {
    text: String,
    most: usize,
}

impl Rendition {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            text: String::new(),
            most,
        }
    }

    /// Adds a heading of the document, or one that names a place. A blank title adds nothing.
    pub(crate) fn heading(&mut self, level: u8, title: &str) -> Result<(), NoText> {
        let title = one_line(title);
        if title.is_empty() {
            return Ok(());
        }
        let marks = "#".repeat(usize::from(level.clamp(1, DEEPEST)));
        self.block(&format!("{marks} {}", disarmed_line(&title)))
    }

    /// Adds lines of the document's own words.
    #[cfg(any(feature = "html", feature = "docx", feature = "pdf"))]
    pub(crate) fn words(&mut self, text: &str) -> Result<(), NoText> {
        let lines: Vec<String> = text.lines().map(|line| disarmed(line.trim())).collect();
        self.block(&lines.join("\n"))
    }

    /// Adds markdown unchanged, with a blank line before it.
    pub(crate) fn block(&mut self, markdown: &str) -> Result<(), NoText> {
        let body = markdown.trim_matches('\n').trim_end();
        if body.trim().is_empty() {
            return Ok(());
        }
        if self.text.len().saturating_add(body.len()) >= self.most {
            return Err(NoText::TooLarge);
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.extend(body.chars().map(printable));
        self.text.push('\n');
        Ok(())
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Collapses all white space to single spaces.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// The words of one line, in which no `%%` opens or closes a comment.
pub(crate) fn disarmed_line(line: &str) -> String {
    // A backslash before the pair could itself be escaped by one of the words.
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if c == '%' && out.ends_with('%') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Replaces control characters by spaces, except line breaks and tabs.
fn printable(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        c if c.is_control() => ' ',
        c => c,
    }
}

/// A line that is not read as markup.
pub(crate) fn disarmed(line: &str) -> String {
    let after = line.trim_start_matches('#');
    let is_heading = after.len() < line.len() && (after.is_empty() || after.starts_with(' '));
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    let is_rule = !line.is_empty()
        && ["-", "=", "_", "*"]
            .iter()
            .any(|mark| line.split(mark).all(str::is_empty));
    let is_html = line.starts_with('<')
        && line[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
    let line = disarmed_line(line);
    match is_heading || is_fence || is_rule || is_html {
        true => format!("\\{line}"),
        false => line,
    }
}

#[cfg(all(test, any(feature = "html", feature = "docx", feature = "pdf")))]
mod tests {
    use super::*;

    #[test]
    fn words_never_become_markup() {
        let mut out = Rendition::new(1000);
        out.words("---\nprivate: true\n---").unwrap();
        out.heading(9, " page\n 3 ").unwrap();
        out.words("# one\n%% a \\%%\n#tag\n```sh\n<div>\na < b\n=====\n")
            .unwrap();
        out.words("  \n").unwrap();
        out.heading(1, " ").unwrap();
        assert_eq!(
            out.finish(),
            "\\---\nprivate: true\n\\---\n\n###### page 3\n\n\\# one\n%\\% a \\%\\%\n#tag\n\\```sh\n\\<div>\na < b\n\\=====\n"
        );
    }

    #[test]
    fn a_text_is_no_longer_than_it_may_be() {
        let mut out = Rendition::new(10);
        assert_eq!(out.words("0123456789"), Err(NoText::TooLarge));
        assert!(out.words("a\u{0}b\u{1b}c").is_ok());
        assert_eq!(out.finish(), "a b c\n");
    }
}
