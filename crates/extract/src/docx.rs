//! DOCX: the paragraphs of Word, their headings by style, lists, tables and footnotes. Deleted text
//! is left out. In a document without headings, the last page breaks that Word stored are the
//! places.

use std::collections::HashMap;
use std::io::{Cursor, Read as _};

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use zip::ZipArchive;

use super::NoText;
use super::flow::{Flow, Role};

/// Maximum unpacked size of all parts of one document together, in bytes.
const MOST_UNPACKED: u64 = 64 << 20;

/// Elements with text that does not belong to the document: moved text, or a copy for old programs.
const UNSEEN: [&str; 3] = ["Fallback", "moveFrom", "del"];

/// The text of a document; an error if it has none.
pub(crate) fn text(bytes: &[u8], most: usize) -> Result<String, NoText> {
    let archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| NoText::broken(format!("it is not a DOCX file: {error}")))?;
    let mut parts = Parts {
        archive,
        left: MOST_UNPACKED,
    };
    let Some(body) = parts.read("word/document.xml")? else {
        return Err(NoText::broken(
            "it is not a DOCX file: it has no word/document.xml",
        ));
    };
    let levels = match parts.read("word/styles.xml")? {
        Some(styles) => heading_levels(&styles)?,
        None => HashMap::new(),
    };
    let mut reader = BodyReader::new(&levels, most);
    reader.pages = !reader.has_headings(&body)?;
    if let Some(title) = parts.read("docProps/core.xml")?.map(|core| title(&core)) {
        reader.flow.place(1, &title?)?;
    }
    reader.read(&body)?;
    for (part, name) in [("footnotes", "footnotes"), ("endnotes", "endnotes")] {
        if let Some(notes) = parts.read(&format!("word/{part}.xml"))? {
            reader.pages = false;
            reader.waiting = Some(name);
            reader.read(&notes)?;
        }
    }
    reader.flow.finish()
}

/// The files in the archive.
struct Parts<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Number of bytes that may still be unpacked.
    left: u64,
}

impl Parts<'_> {
    fn read(&mut self, name: &str) -> Result<Option<String>, NoText> {
        let broken = |error: &dyn std::fmt::Display| NoText::broken(format!("{name}: {error}"));
        if self.archive.index_for_name(name).is_none() {
            return Ok(None);
        }
        let part = self.archive.by_name(name).map_err(|error| broken(&error))?;
        let mut bytes = Vec::new();
        part.take(self.left + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| broken(&error))?;
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| NoText::broken("it unpacks to more than 64 MiB"))?;
        let text = String::from_utf8(bytes).map_err(|_| broken(&"it is not UTF-8"))?;
        Ok(Some(text))
    }
}

/// The next event of a part; an error if it cannot be read.
fn next<'x>(reader: &mut Reader<&'x [u8]>) -> Result<Event<'x>, NoText> {
    reader
        .read_event()
        .map_err(|error| NoText::broken(format!("its XML is broken: {error}")))
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    tag.attributes()
        .with_checks(false)
        .flatten()
        .find(|one| one.key.local_name().as_ref() == name)
        .map(|one| one.value.into_owned())
}

/// The heading level of each style, by style id: from the style's outline level, or from its name,
/// which is English in every language of Word.
fn heading_levels(styles: &str) -> Result<HashMap<String, u8>, NoText> {
    let mut levels = HashMap::new();
    let mut style = String::new();
    let mut reader = Reader::from_str(styles);
    loop {
        let tag = match next(&mut reader)? {
            Event::Start(tag) | Event::Empty(tag) => tag,
            Event::Eof => return Ok(levels),
            _ => continue,
        };
        match tag.local_name().as_ref() {
            "style" => style = attribute(&tag, "styleId").unwrap_or_default(),
            "name" => {
                let name = attribute(&tag, "val").unwrap_or_default().to_lowercase();
                let level = match name.strip_prefix("heading ") {
                    Some(level) => level.parse().ok(),
                    None => (name == "title").then_some(1),
                };
                levels.extend(level.map(|level| (style.clone(), level)));
            }
            "outlineLvl" => {
                levels.extend(outline_level(&tag).map(|level| (style.clone(), level)));
            }
            _ => {}
        }
    }
}

/// 0 is the highest; 9 is body text.
fn outline_level(tag: &BytesStart<'_>) -> Option<u8> {
    let level: u8 = attribute(tag, "val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

fn title(core: &str) -> Result<String, NoText> {
    let mut reader = Reader::from_str(core);
    let (mut is_title, mut title) = (false, String::new());
    loop {
        match next(&mut reader)? {
            Event::Start(tag) => is_title = tag.local_name().as_ref() == "title",
            Event::End(_) => is_title = false,
            Event::Eof => return Ok(title),
            event if is_title => title.push_str(&words(&event)),
            _ => {}
        }
    }
}

/// The text that an event represents.
fn words(event: &Event<'_>) -> String {
    match event {
        Event::Text(text) => text.xml10_content().into_owned(),
        Event::CData(text) => text.xml10_content().into_owned(),
        Event::GeneralRef(name) => match name.resolve_char_ref() {
            Ok(Some(c)) => c.to_string(),
            _ => quick_xml::escape::resolve_xml_entity(&name.xml10_content())
                .unwrap_or_default()
                .to_owned(),
        },
        _ => String::new(),
    }
}

struct BodyReader<'l> {
    flow: Flow,
    levels: &'l HashMap<String, u8>,
    /// Whether the pages of the document are its places.
    pages: bool,
    page: u32,
    /// Whether a new page begins at the end of the open paragraph.
    turned: bool,
    /// A heading to be written before the next words.
    waiting: Option<&'static str>,
    /// Whether the reader is inside `w:t`.
    in_text: bool,
    /// Number of open elements whose content is left out.
    unseen: usize,
    /// Number of open tables.
    tables: usize,
}

impl<'l> BodyReader<'l> {
    fn new(levels: &'l HashMap<String, u8>, most: usize) -> Self {
        Self {
            flow: Flow::new(most),
            levels,
            pages: false,
            page: 1,
            turned: false,
            waiting: None,
            in_text: false,
            unseen: 0,
            tables: 0,
        }
    }

    fn has_headings(&self, body: &str) -> Result<bool, NoText> {
        let mut reader = Reader::from_str(body);
        loop {
            match next(&mut reader)? {
                Event::Start(tag) | Event::Empty(tag) if self.heading(&tag).is_some() => {
                    return Ok(true);
                }
                Event::Eof => return Ok(false),
                _ => {}
            }
        }
    }

    /// The heading level that a paragraph property sets.
    fn heading(&self, tag: &BytesStart<'_>) -> Option<u8> {
        match tag.local_name().as_ref() {
            "pStyle" => self.levels.get(&attribute(tag, "val")?).copied(),
            "outlineLvl" => outline_level(tag),
            _ => None,
        }
    }

    fn read(&mut self, part: &str) -> Result<(), NoText> {
        if self.pages {
            self.flow.place(2, "page 1")?;
        }
        let mut reader = Reader::from_str(part);
        loop {
            match next(&mut reader)? {
                Event::Start(tag) => self.start(&tag, false)?,
                Event::Empty(tag) => self.start(&tag, true)?,
                Event::End(tag) => self.end(tag.local_name().as_ref())?,
                Event::Eof => return Ok(()),
                event if self.in_text && self.unseen == 0 => self.say(&words(&event))?,
                _ => {}
            }
        }
    }

    fn say(&mut self, words: &str) -> Result<(), NoText> {
        if let Some(name) = self.waiting.take_if(|_| !words.trim().is_empty()) {
            self.flow.place(2, name)?;
        }
        self.flow.say(words)
    }

    fn start(&mut self, tag: &BytesStart<'_>, is_empty: bool) -> Result<(), NoText> {
        let name = tag.local_name();
        let name = name.as_ref();
        if self.unseen > 0 || UNSEEN.contains(&name) {
            self.unseen += usize::from(!is_empty);
            return Ok(());
        }
        match name {
            "p" => self.flow.end_block(),
            "t" => {
                self.in_text = !is_empty;
                Ok(())
            }
            "tab" | "br" | "cr" => self.space(tag, name),
            "lastRenderedPageBreak" => {
                self.turned = true;
                Ok(())
            }
            "numPr" if self.flow.role() == Role::Paragraph => {
                self.flow.is(Role::Item);
                Ok(())
            }
            "tbl" if !is_empty => {
                self.tables += 1;
                match self.tables {
                    1 => Ok(()),
                    _ => self.flow.leave_row(),
                }
            }
            "tr" if self.tables == 1 => self.flow.begin_row(),
            _ => {
                if let Some(level) = self.heading(tag) {
                    self.flow.is(Role::Heading(level));
                }
                Ok(())
            }
        }
    }

    /// Adds a tab or a break. Tab elements are in runs and in paragraph properties, where they only
    /// set tab stops.
    fn space(&mut self, tag: &BytesStart<'_>, name: &str) -> Result<(), NoText> {
        match attribute(tag, "type").as_deref() {
            Some("page") => {
                self.turned = true;
                Ok(())
            }
            _ if name == "tab" && attribute(tag, "pos").is_some() => Ok(()),
            _ if name == "tab" || self.tables > 0 => self.flow.say(" "),
            _ => self.flow.say("\n"),
        }
    }

    fn end(&mut self, name: &str) -> Result<(), NoText> {
        if self.unseen > 0 {
            self.unseen -= 1;
            return Ok(());
        }
        match name {
            "t" => self.in_text = false,
            "p" => {
                self.flow.end_block()?;
                self.turn()?;
            }
            "tc" if self.tables == 1 => self.flow.end_cell(),
            "tr" if self.tables == 1 => self.flow.end_row(),
            "tbl" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    self.flow.end_table()?;
                    self.turn()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Begins the pending page, unless a table is open.
    fn turn(&mut self) -> Result<(), NoText> {
        if !self.turned || self.tables > 0 {
            return Ok(());
        }
        self.turned = false;
        self.page += 1;
        match self.pages {
            true => self.flow.place(2, &format!("page {}", self.page)),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    fn packed(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, body) in parts {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(body.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn document(body: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><w:document xmlns:w=\"x\"><w:body>{body}</w:body></w:document>"
        )
    }

    fn paragraph(style: &str, words: &str) -> String {
        format!("<w:p><w:pPr>{style}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>")
    }

    const STYLES: &str = "<w:styles><w:style w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>\
        <w:style w:styleId=\"X\"><w:name w:val=\"Mine\"/><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr></w:style></w:styles>";

    #[test]
    fn a_document_becomes_headings_paragraphs_lists_and_tables() {
        let body = [
            paragraph("<w:pStyle w:val=\"berschrift1\"/>", "Lease"),
            paragraph("", "Rent is 1,200 &amp; due <w:tab/>monthly."),
            paragraph("<w:pStyle w:val=\"X\"/>", "Keys"),
            paragraph("<w:numPr/>", "front door"),
            paragraph("<w:numPr/>", "cellar"),
            "<w:p><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t>new &#228;</w:t></w:r></w:ins></w:p>".to_owned(),
            format!(
                "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
                paragraph("", "Month"),
                paragraph("", "Rent")
            ),
        ]
        .concat();
        let notes = format!("<w:footnotes>{}</w:footnotes>", paragraph("", "A note."));
        let core = "<c><dc:title>Flat &lt;3&gt;</dc:title><dc:creator>x</dc:creator></c>";
        let bytes = packed(&[
            ("word/document.xml", &document(&body)),
            ("word/styles.xml", STYLES),
            ("word/footnotes.xml", &notes),
            ("docProps/core.xml", core),
        ]);
        assert_eq!(
            text(&bytes, 1 << 20).unwrap(),
            "# Flat <3>\n\n# Lease\n\nRent is 1,200 & due monthly.\n\n## Keys\n\n- front door\n- cellar\n\n\
             new ä\n\n| Month | Rent |\n| --- | --- |\n\n## footnotes\n\nA note.\n"
        );
    }

    #[test]
    fn without_headings_pages_are_places() {
        let body = "<w:p><w:r><w:t>One.</w:t><w:br w:type=\"page\"/></w:r></w:p><w:p><w:r><w:t># Two.</w:t></w:r></w:p>";
        let bytes = packed(&[("word/document.xml", &document(body))]);
        assert_eq!(
            text(&bytes, 1000).unwrap(),
            "## page 1\n\nOne.\n\n## page 2\n\n\\# Two.\n"
        );
    }

    #[test]
    fn bombs_and_damage_are_said() {
        let why = |bytes: &[u8]| text(bytes, 1 << 20).unwrap_err().to_string();
        let bomb = document(&format!("<w:p>{}</w:p>", " ".repeat(70 << 20)));
        let bomb = packed(&[("word/document.xml", &bomb)]);
        assert!(bomb.len() < 1 << 20);
        assert_eq!(why(&bomb), "it unpacks to more than 64 MiB");
        assert!(why(b"MZ no archive").starts_with("it is not a DOCX"));
        assert!(why(&packed(&[("a", "b")])).contains("no word/document.xml"));
        let good = packed(&[("word/document.xml", &document("<w:p/>"))]);
        for cut in 0..good.len() {
            let _ = text(&good[..cut], 1000);
        }
        let open = packed(&[("word/document.xml", "<w:document><w:p></w:q>")]);
        assert!(why(&open).starts_with("its XML is broken"));
        let deep = document(&"<w:p>".repeat(200_000));
        assert!(text(&packed(&[("word/document.xml", &deep)]), 1000).is_err());
        let entities =
            "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><w:p><w:t>&b;x</w:t></w:p>";
        let bytes = packed(&[("word/document.xml", entities)]);
        assert_eq!(text(&bytes, 1000).unwrap(), "## page 1\n\nx\n");
    }
}
