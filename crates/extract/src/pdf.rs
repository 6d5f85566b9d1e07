//! PDF: the words of each page in drawing order, below the page's number.
//!
//! The parser runs on a separate thread with a large stack, for a limited time, because a hostile
//! page can keep it busy.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use lopdf::content::Content;
use lopdf::{Document, Encoding, LoadOptions, Object, ObjectId};

use super::rendition::Rendition;
use super::{MOST_SECONDS, NoText};

/// Maximum inflated size of one stream of a document, in bytes.
const MOST_INFLATED: usize = 32 << 20;
/// Maximum inflated size of the contents of all pages together, in bytes.
const MOST_CONTENT: usize = 256 << 20;
/// Maximum number of pages that are read.
const MOST_PAGES: usize = 10_000;
/// Stack size of the thread; memory that is not used costs nothing.
const STACK_BYTES: usize = 64 << 20;
/// An adjustment below this, in thousandths of the font size, is a space between words.
const SPACE: f32 = -180.0;

/// The text of a document; an error if it has none.
pub(crate) fn text(bytes: Vec<u8>, most: usize) -> Result<String, NoText> {
    within(Duration::from_secs(MOST_SECONDS), move || {
        read(&bytes, most)
    })
}

/// Runs `work` on a separate thread. If it takes longer, it is abandoned.
fn within(
    time: Duration,
    work: impl FnOnce() -> Result<String, NoText> + Send + 'static,
) -> Result<String, NoText> {
    let (done, waits) = mpsc::channel();
    std::thread::Builder::new()
        .name("pdf".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || done.send(work()))
        .map_err(|error| NoText::broken(format!("no thread could be started: {error}")))?;
    match waits.recv_timeout(time) {
        Ok(text) => text,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(NoText::TooSlow),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(NoText::broken("its parser failed")),
    }
}

fn read(bytes: &[u8], most: usize) -> Result<String, NoText> {
    let options = LoadOptions::with_max_decompressed_size(MOST_INFLATED);
    let document = Document::load_mem_with_options(bytes, options)
        .map_err(|error| NoText::broken(format!("it is not a PDF file: {error}")))?;
    if document.is_encrypted() {
        return Err(NoText::broken("it is encrypted"));
    }
    let pages = document.get_pages();
    if pages.len() > MOST_PAGES {
        return Err(NoText::broken(format!(
            "it has more than {MOST_PAGES} pages"
        )));
    }
    let mut out = Rendition::new(most);
    out.heading(1, &title(&document).unwrap_or_default())?;
    let mut left = MOST_CONTENT;
    let mut has_words = pages.is_empty();
    for (number, page) in pages {
        let words = page_words(&document, page, &mut left, most)
            .map_err(|why| NoText::broken(format!("page {number}: {why}")))?;
        if !words.trim().is_empty() {
            has_words = true;
            out.heading(2, &format!("page {number}"))?;
            out.words(&words)?;
        }
    }
    match has_words {
        true => Ok(out.finish()),
        false => Err(NoText::broken("its pages hold pictures and no text")),
    }
}

/// The title in the document's metadata.
fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get(b"Info").ok()?;
    let info = match info.as_reference() {
        Ok(id) => document.get_dictionary(id).ok()?,
        Err(_) => info.as_dict().ok()?,
    };
    lopdf::decode_text_string(info.get(b"Title").ok()?).ok()
}

fn page_words(
    document: &Document,
    page: ObjectId,
    left: &mut usize,
    most: usize,
) -> Result<String, String> {
    let say = |error: lopdf::Error| error.to_string();
    let fonts = document.get_page_fonts(page).map_err(say)?;
    let encodings: BTreeMap<Vec<u8>, Encoding> = fonts
        .into_iter()
        .filter_map(|(name, font)| {
            let encoding = font.get_font_encoding_with_limit(document, MOST_INFLATED);
            Some((name, encoding.ok()?))
        })
        .collect();
    let limit = MOST_INFLATED.min(*left);
    let content = document
        .get_page_content_with_limit(page, limit)
        .map_err(say)?;
    *left -= content.len().min(*left);
    let content = Content::decode(&content).map_err(say)?;
    let mut page = PageWords::default();
    for operation in &content.operations {
        page.take(&operation.operator, &operation.operands, &encodings);
        if page.text.len() > most {
            return Err("its text is too large".to_owned());
        }
    }
    Ok(page.text)
}

/// The words of a page so far.
#[derive(Default)]
struct PageWords<'e> {
    text: String,
    encoding: Option<&'e Encoding<'e>>,
    /// The vertical position of the current line.
    height: Option<f32>,
}

impl<'e> PageWords<'e> {
    fn take(
        &mut self,
        operator: &str,
        operands: &[Object],
        encodings: &'e BTreeMap<Vec<u8>, Encoding<'e>>,
    ) {
        match operator {
            "Tf" => {
                let name = operands.first().and_then(|one| one.as_name().ok());
                self.encoding = name.and_then(|name| encodings.get(name));
            }
            "Tj" | "TJ" => self.show(operands),
            "'" => {
                self.line();
                self.show(operands);
            }
            "\"" => {
                self.line();
                self.show(operands.get(2..).unwrap_or_default());
            }
            "T*" | "ET" => self.line(),
            "Td" | "TD" => match number(operands, 1) {
                Some(down) if down.abs() > 0.1 => self.line(),
                _ => self.space(),
            },
            "Tm" => {
                let height = number(operands, 5);
                let moved = |(new, old): (f32, f32)| (new - old).abs() > 0.1;
                match height.zip(self.height).is_none_or(moved) {
                    true => self.line(),
                    false => self.space(),
                }
                self.height = height;
            }
            _ => {}
        }
    }

    fn show(&mut self, operands: &[Object]) {
        for operand in operands {
            match operand {
                Object::Array(parts) => parts.iter().for_each(|part| self.show_part(part)),
                part => self.show_part(part),
            }
        }
    }

    fn show_part(&mut self, part: &Object) {
        match part {
            Object::String(bytes, _) => {
                let words = self
                    .encoding
                    .and_then(|encoding| Document::decode_text(encoding, bytes).ok());
                self.text.push_str(&words.unwrap_or_default());
            }
            part => {
                if part.as_float().is_ok_and(|step| step < SPACE) {
                    self.space();
                }
            }
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

fn number(operands: &[Object], at: usize) -> Option<f32> {
    operands.get(at)?.as_float().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document whose pages have these contents.
    fn document(pages: &[&str]) -> Vec<u8> {
        let kids: Vec<String> = (0..pages.len())
            .map(|n| format!("{} 0 R", 4 + 2 * n))
            .collect();
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            format!(
                "<< /Type /Pages /Kids [{}] /Count {} >>",
                kids.join(" "),
                pages.len()
            ),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
                .to_owned(),
        ];
        for (n, content) in pages.iter().enumerate() {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
                5 + 2 * n
            ));
            objects.push(format!(
                "<< /Length {} >>\nstream\n{content}\nendstream",
                content.len()
            ));
        }
        let mut out = "%PDF-1.4\n".to_owned();
        let mut places = Vec::new();
        for (n, object) in objects.iter().enumerate() {
            places.push(out.len());
            out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
        }
        let table = out.len();
        out.push_str(&format!(
            "xref\n0 {}\n0000000000 65535 f \n",
            objects.len() + 1
        ));
        for place in places {
            out.push_str(&format!("{place:010} 00000 n \n"));
        }
        out.push_str(&format!(
            "trailer\n<< /Size {} /Root 1 0 R /Info << /Title (Boiler manual) >> >>\nstartxref\n{table}\n%%EOF\n",
            objects.len() + 1
        ));
        out.into_bytes()
    }

    #[test]
    fn pages_are_places() {
        let first = "BT /F1 12 Tf 72 700 Td (The boiler is) Tj 0 -14 Td [(serv) 20 (iced) -300 (yearly.)] TJ ET";
        let second = "BT /F1 12 Tf 1 0 0 1 72 700 Tm (Call) Tj 1 0 0 1 99 700 Tm (Otto.) Tj ET";
        assert_eq!(
            text(document(&[first, "", second]), 1 << 20).unwrap(),
            "# Boiler manual\n\n## page 1\n\nThe boiler is\nserviced yearly.\n\n## page 3\n\nCall Otto.\n"
        );
    }

    #[test]
    fn damage_and_limits_are_said() {
        let why = |bytes: Vec<u8>| text(bytes, 1 << 20).unwrap_err().to_string();
        assert!(why(b"<html>no</html>".to_vec()).starts_with("it is not a PDF"));
        assert_eq!(
            why(document(&["0 0 m"])),
            "its pages hold pictures and no text"
        );
        let good = document(&["BT /F1 12 Tf (words) Tj ET"]);
        for cut in (0..good.len()).step_by(7) {
            let _ = text(good[..cut].to_vec(), 1000);
        }
        let deep = format!(
            "BT /F1 1 Tf {}(x){} TJ ET",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let _ = text(document(&[&deep]), 1000);
        let long = document(&[&format!("BT /F1 12 Tf ({}) Tj ET", "x".repeat(2000))]);
        assert!(text(long, 1000).is_err());
    }

    #[test]
    fn a_parser_that_does_not_end_or_panics_is_left_to_itself() {
        let slow = within(Duration::from_millis(20), || {
            std::thread::sleep(Duration::from_millis(500));
            Ok(String::new())
        });
        assert_eq!(slow, Err(NoText::TooSlow));
        let broken = within(Duration::from_secs(5), || panic!("on purpose"));
        assert_eq!(broken, Err(NoText::broken("its parser failed")));
    }
}
