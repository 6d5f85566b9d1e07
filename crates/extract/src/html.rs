//! HTML: headings, paragraphs, lists, tables, `pre`, links. What a page does not show (scripts,
//! styles, comments) is left out. The tokenizer builds no tree.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use super::NoText;
use super::flow::{Flow, Role};
use super::rendition::{disarmed_line, one_line};

/// Elements whose content a browser does not show as text.
const UNSEEN: [&str; 10] = [
    "audio", "canvas", "iframe", "noscript", "object", "script", "style", "svg", "template",
    "video",
];

/// Elements that begin and end a block.
const BLOCKS: [&str; 24] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "section",
    "summary",
];

/// The text of a page; an error if it has none. Bytes that are not UTF-8 have none.
pub(crate) fn text(bytes: &[u8], most: usize) -> Result<String, NoText> {
    let page = std::str::from_utf8(bytes)
        .map_err(|_| NoText::broken("it is not UTF-8; save it as UTF-8"))?;
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut reader = PageReader::new(most);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(token) = token;
        reader.take(&token)?;
    }
    reader.finish()
}

struct PageReader {
    flow: Flow,
    most: usize,
    /// The element whose content is left out, and the number of open elements with its name.
    unseen: Option<(String, usize)>,
    /// The content of `title`, and whether the element is open.
    title: String,
    in_title: bool,
    has_heading: bool,
    /// Whether a `pre` is open.
    lines: bool,
    /// The target of the open link, and its words.
    link: Option<(String, String)>,
    /// Number of open tables.
    tables: usize,
}

impl PageReader {
    fn new(most: usize) -> Self {
        Self {
            flow: Flow::new(most),
            most,
            unseen: None,
            title: String::new(),
            in_title: false,
            has_heading: false,
            lines: false,
            link: None,
            tables: 0,
        }
    }

    fn take(&mut self, token: &Token) -> Result<(), NoText> {
        match token {
            Token::StartTag(tag) => self.start(tag),
            Token::EndTag(tag) => self.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(words) => self.say(&String::from_utf8_lossy(words)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => Ok(()),
        }
    }

    fn say(&mut self, words: &str) -> Result<(), NoText> {
        if self.unseen.is_some() {
            return Ok(());
        }
        if self.in_title {
            self.title.push_str(words);
            return Ok(());
        }
        let words = match self.lines {
            true => words.replace("\r\n", "\n"),
            false => words.replace(['\n', '\r', '\t'], " "),
        };
        if let Some((_, inside)) = &mut self.link {
            inside.push_str(&words);
            return match inside.len() > self.most {
                true => Err(NoText::TooLarge),
                false => Ok(()),
            };
        }
        self.flow.say(&words)
    }

    fn start(&mut self, tag: &StartTag<()>) -> Result<(), NoText> {
        let name = String::from_utf8_lossy(&tag.name);
        let name = name.as_ref();
        if let Some((unseen, open)) = &mut self.unseen {
            *open += usize::from(unseen == name && !tag.self_closing);
            return Ok(());
        }
        match name {
            _ if UNSEEN.contains(&name) => {
                if !tag.self_closing {
                    self.unseen = Some((name.to_owned(), 1));
                }
                Ok(())
            }
            "title" => {
                self.in_title = self.title.is_empty();
                Ok(())
            }
            "a" => {
                self.end_link()?;
                self.link = attribute(tag, "href").map(|target| (target, String::new()));
                Ok(())
            }
            "img" => match attribute(tag, "alt") {
                Some(words) => self.say(&words),
                None => Ok(()),
            },
            "br" if self.lines || self.tables == 0 => self.flow_say("\n"),
            "br" => self.flow_say(" "),
            "table" => self.begin_table(),
            "tr" => {
                self.end_link()?;
                self.flow.begin_row()
            }
            "td" | "th" => self.begin_cell(),
            _ => self.start_block(name),
        }
    }

    fn start_block(&mut self, name: &str) -> Result<(), NoText> {
        let role = match name {
            "li" => Role::Item,
            "pre" => Role::Lines,
            _ => heading_level(name).map_or(Role::Paragraph, Role::Heading),
        };
        if role == Role::Paragraph && !is_block(name) {
            return Ok(());
        }
        self.end_link()?;
        if matches!(role, Role::Heading(_) | Role::Lines) {
            self.flow.leave_row()?;
            self.has_heading |= role != Role::Lines;
        }
        // `<li><p>words` is one item.
        let waits = self.flow.role() == Role::Item && role == Role::Paragraph && self.is_blank();
        if !waits {
            self.flow.end_block()?;
            self.flow.is(role);
        }
        self.lines = role == Role::Lines;
        Ok(())
    }

    fn is_blank(&self) -> bool {
        self.flow.is_blank() && self.link.is_none()
    }

    fn end(&mut self, name: &str) -> Result<(), NoText> {
        if let Some((unseen, open)) = &mut self.unseen {
            *open -= usize::from(unseen == name);
            if *open == 0 {
                self.unseen = None;
            }
            return Ok(());
        }
        match name {
            "title" => self.in_title = false,
            "a" => self.end_link()?,
            "td" | "th" => {
                self.end_link()?;
                self.flow.end_cell();
            }
            "tr" => {
                self.end_link()?;
                self.flow.end_row();
            }
            "table" => {
                self.end_link()?;
                self.tables = self.tables.saturating_sub(1);
                self.flow.end_table()?;
            }
            _ if is_block(name)
                || ["li", "pre"].contains(&name)
                || heading_level(name).is_some() =>
            {
                self.end_link()?;
                self.flow.end_block()?;
                self.lines = false;
            }
            _ => {}
        }
        Ok(())
    }

    /// Begins a table. If it is inside a cell, the outer table is used for layout.
    fn begin_table(&mut self) -> Result<(), NoText> {
        self.end_link()?;
        self.flow.leave_row()?;
        self.flow.end_block()?;
        self.flow.end_table()?;
        self.tables += 1;
        Ok(())
    }

    /// Begins a cell, after ending one that was never closed.
    fn begin_cell(&mut self) -> Result<(), NoText> {
        self.end_link()?;
        if !self.flow.is_blank() {
            self.flow.end_cell();
        }
        Ok(())
    }

    fn flow_say(&mut self, words: &str) -> Result<(), NoText> {
        match &mut self.link {
            Some((_, inside)) => {
                inside.push(' ');
                Ok(())
            }
            None => self.flow.say(words),
        }
    }

    /// Writes the open link. It is written as a link if markdown can represent both parts.
    fn end_link(&mut self) -> Result<(), NoText> {
        let Some((target, words)) = self.link.take() else {
            return Ok(());
        };
        let leads = leads_somewhere(&target);
        if !leads || self.lines || words.trim().is_empty() || words.contains(['[', ']']) {
            return self.flow.say(&words);
        }
        let space = |is: bool| if is { " " } else { "" };
        let before = space(words.starts_with(char::is_whitespace));
        let after = space(words.ends_with(char::is_whitespace));
        let words = one_line(&words);
        self.flow
            .say(&format!("{before}[{words}]({target}){after}"))
    }

    fn finish(mut self) -> Result<String, NoText> {
        self.end_link()?;
        let title = disarmed_line(&one_line(&self.title));
        let text = self.flow.finish()?;
        if self.has_heading || title.is_empty() {
            return Ok(text);
        }
        Ok(format!("# {title}\n\n{text}"))
    }
}

/// Whether a link is worth keeping: it leads to another page, and markdown can represent it.
fn leads_somewhere(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    let is_known = scheme.is_none_or(|scheme| {
        scheme.contains('/') || ["http", "https"].contains(&scheme.to_lowercase().as_str())
    });
    is_known
        && !target.is_empty()
        && !target.starts_with('#')
        && !target.contains(|c: char| c.is_whitespace() || c.is_control() || "()<>".contains(c))
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).trim().to_owned())
}

fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name) || ["ul", "thead", "tbody", "caption", "option"].contains(&name)
}

fn heading_level(name: &str) -> Option<u8> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &str) -> String {
        text(html.as_bytes(), 1 << 20).unwrap()
    }

    #[test]
    fn a_page_becomes_headings_paragraphs_lists_and_links() {
        let html = "<!doctype html><html><head><title>Kiln log</title><style>p{}</style>\
            <script>var x = '<p>no</p>';</script></head><body><h1>Kiln</h1>\n<p>Fired at\n 1240&nbsp;&deg;C, see <a href=\"glaze.html\">the\n glazes</a> and <a href='#top'>top</a>.<br>Second line</p>\
            <ul><li>clay<li><p>glaze</p></li></ul><!-- <p>no</p> --><pre>a  b\n  ```\n</pre></body></html>";
        assert_eq!(
            page(html),
            "# Kiln\n\nFired at 1240 °C, see [the glazes](glaze.html) and top.\nSecond line\n\n\
             - clay\n- glaze\n\n````\na  b\n  ```\n````\n"
        );
    }

    #[test]
    fn a_table_becomes_rows_and_one_for_its_looks_does_not() {
        let rows = "<table><tr><th>Glaze<th>Cone</tr><tr><td><p>Celadon|green</p></td><td>10</td></tr></table>after";
        assert_eq!(
            page(rows),
            "| Glaze | Cone |\n| --- | --- |\n| Celadon\\|green | 10 |\n\nafter\n"
        );
        let looks = "<table><tr><td>menu</td><td><h2>Page</h2><p>Words.</p></td></tr></table>";
        assert_eq!(page(looks), "menu\n\n## Page\n\nWords.\n");
    }

    #[test]
    fn a_title_stands_where_there_is_no_heading() {
        assert_eq!(
            page("<title>A &amp; B</title><p># not a heading"),
            "# A & B\n\n\\# not a heading\n"
        );
    }

    #[test]
    fn hostile_pages_end() {
        let deep = "<div><table><tr><td>".repeat(50_000);
        assert_eq!(page(&format!("{deep}x")), "| x |\n| --- |\n");
        assert_eq!(page("<script>lost"), "");
        let attributes = format!("<p {}>x", "a=1 ".repeat(100_000));
        assert_eq!(page(&attributes), "x\n");
        assert!(text(b"\xff\xfe<\0p\0", 100).is_err());
        assert_eq!(text("<p>0123456789".as_bytes(), 5), Err(NoText::TooLarge));
    }
}
