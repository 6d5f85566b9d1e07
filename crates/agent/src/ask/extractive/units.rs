//! Cuts notes into the sentences, items, rows, code blocks and properties that an answer can be
//! made of, each with its surroundings.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use local_agent_index::lexical::terms;
use local_agent_text::markdown::{BlockKind, BlockRole, Sentence, plain, sentences};
use local_agent_text::types::HeadingPath;

use super::calendar::{self, Day};
use super::note::NoteText;
use super::question::is_unspaced;

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Sentence,
    /// A sentence of a list item.
    Item,
    /// A row of a table.
    Row,
    /// The header of a table.
    Header,
    Code,
    /// A key of the frontmatter with its value.
    Property,
    /// Not shown to readers or without content: comments, HTML, definitions.
    Hidden,
}

/// The text above a unit: the note's names and the headings.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The innermost heading, otherwise the note's title.
    pub heading: String,
    /// Stems of the innermost heading only.
    pub heading_stems: HashSet<String>,
    pub stems: HashSet<String>,
    /// Stems of the note's names only.
    pub names: HashSet<String>,
    /// Path and headings, as written.
    pub written: String,
}

/// A part of a note that can be quoted.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Index of the note.
    pub note: usize,
    /// Bytes of the file.
    pub span: Range<usize>,
    pub form: Form,
    /// The innermost block around it; `None` for properties.
    pub block: Option<usize>,
    /// The outermost block around it.
    pub outer: Option<usize>,
    /// The innermost list item around it.
    pub item: Option<usize>,
    pub section: usize,
    /// For a task: whether it is ticked.
    pub task: Option<bool>,
    /// The words as a reader sees them.
    pub plain: String,
    pub stems: HashSet<String>,
    pub place: Rc<Place>,
    /// The lead-in: the sentence that ends with a colon, the table's header, the item around it.
    pub lead: Option<usize>,
    /// The sentence before it in the same block.
    pub before: Option<usize>,
    /// Its day: its own, otherwise that of its headings or its note.
    pub date: Option<Day>,
    /// The day that is shown before it: the one it begins with, otherwise that of its headings or its
    /// note. A day that it only mentions is not the day of the entry.
    pub entry_day: Option<Day>,
    /// Retrieval score of its place, 0 to 1.
    pub rank: f32,
    /// Whether it ends by pointing the reader elsewhere with a link.
    pub points_away: bool,
    /// Whether it can be quoted as an answer or part of one. Other units are only context.
    pub sayable: bool,
    /// Whether it is a line that serves as a heading: a whole paragraph in bold with another block
    /// behind it, or a short line without an end mark directly above a list.
    pub is_heading_line: bool,
}

/// All units of `notes`, in order.
pub(super) fn of_notes(notes: &[NoteText]) -> Vec<Unit> {
    let mut out = Vec::new();
    for (index, note) in notes.iter().enumerate() {
        Cutter::new(index, note).cut(&mut out);
    }
    out
}

/// Walks one note.
struct Cutter<'a> {
    index: usize,
    note: &'a NoteText,
    names: HashSet<String>,
    places: Vec<Option<Rc<Place>>>,
    /// The index of this note's first unit.
    first: usize,
}

impl<'a> Cutter<'a> {
    fn new(index: usize, note: &'a NoteText) -> Self {
        let names = terms(&note.names.join("\n")).into_iter().collect();
        Self {
            index,
            note,
            names,
            places: vec![None; note.sections.len()],
            first: 0,
        }
    }

    fn cut(mut self, out: &mut Vec<Unit>) {
        self.first = out.len();
        for index in 0..self.note.properties.len() {
            let unit = self.property(index);
            out.extend(unit);
        }
        for part in &self.note.parts {
            for sentence in sentences(self.note.slice(part)) {
                if sentence.role == BlockRole::Heading {
                    continue;
                }
                let unit = self.unit(sentence, part.start, out);
                match out.last_mut().filter(|last| is_same_fence(last, &unit)) {
                    Some(last) => {
                        last.span.end = unit.span.end;
                        last.plain.push('\n');
                        last.plain.push_str(&unit.plain);
                        last.stems.extend(unit.stems);
                    }
                    None => out.push(unit),
                }
            }
        }
    }

    fn place(&mut self, section: usize) -> Rc<Place> {
        if let Some(Some(place)) = self.places.get(section) {
            return Rc::clone(place);
        }
        let headings = self.note.sections.get(section).map(|s| &s.heading);
        let titles: Vec<String> = headings
            .into_iter()
            .flat_map(HeadingPath::headings)
            .map(|h| plain(&h.title))
            .collect();
        let mut stems = self.names.clone();
        stems.extend(terms(&titles.join("\n")));
        let folders = self
            .note
            .path
            .as_str()
            .rsplit_once('/')
            .map_or("", |(f, _)| f);
        stems.extend(terms(&folders.replace('/', " ")));
        let heading = titles.last().unwrap_or(&self.note.title).clone();
        let place = Rc::new(Place {
            heading_stems: terms(&heading).into_iter().collect(),
            heading,
            stems,
            names: self.names.clone(),
            written: format!("{}\n{}", self.note.path, titles.join("\n")),
        });
        if let Some(slot) = self.places.get_mut(section) {
            *slot = Some(Rc::clone(&place));
        }
        place
    }

    fn property(&mut self, index: usize) -> Option<Unit> {
        let property = self.note.properties.get(index)?;
        let key = spaced(&property.key);
        let value = plain(&property.value);
        let words = format!("{key}: {value}");
        let quiet = ["uuid", "id", "cssclass", "cssclasses", "publish", "title"];
        Some(Unit {
            note: self.index,
            span: property.span.clone(),
            form: Form::Property,
            block: None,
            outer: None,
            item: None,
            section: 0,
            task: None,
            stems: terms(&words).into_iter().collect(),
            date: calendar::latest(&value).or(self.note.date),
            entry_day: match calendar::latest(&value) {
                Some(_) => None,
                None => self.note.date,
            },
            rank: self.note.rank_at(&(0..self.note.text.len())),
            sayable: !quiet.contains(&property.key.to_lowercase().as_str()),
            plain: words,
            place: self.place(0),
            lead: None,
            before: None,
            points_away: false,
            is_heading_line: false,
        })
    }

    fn unit(&mut self, sentence: Sentence, offset: usize, out: &[Unit]) -> Unit {
        let whole = sentence.span.start() + offset..sentence.span.end() + offset;
        let text = &self.note.text;
        let bare = match sentence.role {
            BlockRole::Code | BlockRole::TableRow | BlockRole::TableHeader => whole.clone(),
            _ => without_marks(text, whole.clone()),
        };
        let raw = text.get(bare.clone()).unwrap_or("");
        let form = form(sentence.role);
        let words = match form {
            Form::Code => raw.to_owned(),
            _ => plain(raw),
        };
        let block = self.note.block_at(&bare);
        let item = block.and_then(|b| self.innermost(b, BlockKind::Item));
        let section = self.note.section_at(bare.start);
        let outer = block.map(|b| self.note.outermost(b));
        let own = out.get(self.first..).unwrap_or(&[]);
        let place = self.place(section);
        let span = match (form, block) {
            (Form::Code, Some(block)) if self.note.kind_of(block) == Some(BlockKind::Code) => {
                self.note.span_of(block)
            }
            _ => bare.clone(),
        };
        let (lead, before) = self.surroundings(form, block, item, section, own);
        let own_day = (form != Form::Code)
            .then(|| calendar::latest(&words))
            .flatten();
        let written = calendar::latest(&place.heading).or(self.note.date);
        Unit {
            note: self.index,
            rank: self.note.rank_at(&span),
            form,
            block,
            outer,
            item,
            section,
            task: item.and_then(|i| self.note.blocks.get(i)?.task),
            stems: terms(&words).into_iter().collect(),
            date: own_day.or(written),
            entry_day: own_day
                .filter(|_| form == Form::Row || begins_with_day(&words))
                .or(written),
            points_away: raw.trim_end_matches(['.', '!', ')']).ends_with("]]"),
            sayable: is_sayable(form, raw, &words) && !leads_to_page(line_at(text, span.start)),
            is_heading_line: form == Form::Sentence
                && block.is_some_and(|b| self.is_heading_line(b, section)),
            plain: words,
            place,
            lead,
            before,
            span,
        }
    }

    fn innermost(&self, block: usize, kind: BlockKind) -> Option<usize> {
        self.note
            .around(block)
            .find(|b| self.note.kind_of(*b) == Some(kind))
    }

    /// Whether a paragraph is a line that serves as a heading: one in bold with another block of its
    /// section behind it, or a short one without an end mark above a list or a table. One of a few
    /// words may have a blank line below it.
    fn is_heading_line(&self, block: usize, section: usize) -> bool {
        let span = self.note.span_of(block);
        let written = self.note.slice(&span).trim();
        let may_be = is_all_bold(written) || is_title_line(written);
        if self.note.kind_of(block) != Some(BlockKind::Paragraph) || !may_be {
            return false;
        }
        let end = self.note.sections.get(section).map_or(0, |s| s.span.end);
        let mut behind = self.note.blocks.iter().enumerate();
        let next = behind.find(|(_, b)| b.span.start() >= span.end && b.span.start() < end);
        let Some((next, _)) = next else { return false };
        let kind = self.note.kind_of(next);
        let is_list = matches!(kind, Some(BlockKind::List { .. } | BlockKind::Table));
        let start = self.note.span_of(next).start;
        let between = self.note.text.get(span.end..start).unwrap_or("");
        let lines = match written.split_whitespace().count() <= TITLE_WORDS {
            true => 2,
            false => 1,
        };
        is_all_bold(written) || is_list && between.matches('\n').count() <= lines
    }

    /// The lead-in unit, and the previous unit in the same block.
    fn surroundings(
        &self,
        form: Form,
        block: Option<usize>,
        item: Option<usize>,
        section: usize,
        own: &[Unit],
    ) -> (Option<usize>, Option<usize>) {
        let at = |i: usize| Some(self.first + i);
        let Some(last) = own
            .last()
            .filter(|u| u.section == section && u.block.is_some())
        else {
            return (None, None);
        };
        let index = own.len() - 1;
        let before = (last.block == block && last.item == item && form != Form::Row)
            .then(|| at(index))
            .flatten();
        let is_first_of_block = before.is_none();
        let lead = match form {
            Form::Row if last.form == Form::Header => at(index),
            Form::Row if last.form == Form::Row => last.lead,
            _ if !is_first_of_block => last.lead,
            Form::Item => self.lead_of_item(item, own),
            Form::Code | Form::Header if leads_in(last) => at(index),
            _ => None,
        };
        (lead, before)
    }

    /// For an item inside another item: the outer item's text; for other items: the sentence above
    /// the list, if it is a lead-in.
    fn lead_of_item(&self, item: Option<usize>, own: &[Unit]) -> Option<usize> {
        let item = item?;
        let parent = self
            .note
            .around(item)
            .skip(1)
            .find(|b| self.note.kind_of(*b) == Some(BlockKind::Item));
        if let Some(parent) = parent {
            let of_parent = own.iter().rposition(|u| u.item == Some(parent));
            return of_parent.map(|i| self.first + i);
        }
        let outer = self.note.outermost(item);
        let above = own.iter().rposition(|u| u.outer != Some(outer))?;
        let near = own.get(above + 1).is_none_or(|u| u.outer == Some(outer));
        let unit = own.get(above).filter(|u| near && leads_in(u))?;
        (unit.form == Form::Sentence).then_some(self.first + above)
    }
}

/// Whether the unit introduces the next block: it ends with a colon or serves as a heading.
pub(super) fn leads_in(unit: &Unit) -> bool {
    unit.is_heading_line || unit.plain.trim_end().ends_with([':', '：'])
}

/// A line with at most this many bytes may be a title.
const LONGEST_TITLE: usize = 60;

/// A line with at most this many words may be a title of what follows a blank line.
const TITLE_WORDS: usize = 5;

/// Whether a paragraph is one short line that does not end as a sentence does.
fn is_title_line(written: &str) -> bool {
    let ends = ['.', '!', '?', ':', ';', ',', '…', '。', '！', '？', '：'];
    !written.contains('\n') && written.len() <= LONGEST_TITLE && !written.ends_with(ends)
}

/// Whether a paragraph is one line in bold that is not a sentence.
fn is_all_bold(written: &str) -> bool {
    let inner = ["**", "__"].iter().find_map(|mark| {
        let inner = written.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.contains(mark)).then_some(inner)
    });
    inner.is_some_and(|inner| !inner.contains('\n') && !inner.ends_with(['.', '!', '。', '！']))
}

fn form(role: BlockRole) -> Form {
    match role {
        BlockRole::Paragraph | BlockRole::Quote => Form::Sentence,
        BlockRole::ListItem => Form::Item,
        BlockRole::TableRow => Form::Row,
        BlockRole::TableHeader => Form::Header,
        BlockRole::Code => Form::Code,
        _ => Form::Hidden,
    }
}

/// Whether both are groups of lines of one code block.
fn is_same_fence(last: &Unit, unit: &Unit) -> bool {
    unit.form == Form::Code
        && last.note == unit.note
        && last.form == Form::Code
        && last.block == unit.block
}

/// Splits a key into words: `dueDate`, `due_date`, `due-date` → `due date`.
fn spaced(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    let mut was_lower = false;
    for c in key.chars() {
        match c {
            '_' | '-' | '.' => out.push(' '),
            c if c.is_uppercase() && was_lower => {
                out.push(' ');
                out.push(c);
            }
            c => out.push(c),
        }
        was_lower = c.is_lowercase();
    }
    out
}

/// The sentence's bytes without trailing block ids, tags, footnote marks and comments, which are
/// not part of its text.
fn without_marks(text: &str, span: Range<usize>) -> Range<usize> {
    let (start, mut end) = (span.start, span.end);
    loop {
        let body = text.get(start..end).unwrap_or("").trim_end();
        let cut = if let Some(inside) = body.strip_suffix("%%") {
            inside.rfind("%%")
        } else if body.ends_with(']')
            && body
                .rfind('[')
                .is_some_and(|at| body[at..].starts_with("[^"))
        {
            body.rfind('[')
        } else {
            let last = body.split_whitespace().next_back().unwrap_or("");
            is_mark(last).then_some(body.len() - last.len())
        };
        match cut {
            Some(cut) if cut > 0 => end = start + cut,
            _ => return start..start + body.len(),
        }
    }
}

/// Whether the word is a `#tag` or a `^block-id`.
fn is_mark(word: &str) -> bool {
    word.strip_prefix(['#', '^']).is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .chars()
                .all(|c| c.is_alphanumeric() || "-_/".contains(c))
    })
}

/// Whether the unit carries information on its own.
/// Whether a text begins with a day, as an entry of a log does.
fn begins_with_day(words: &str) -> bool {
    let begin: Vec<&str> = words.split_whitespace().take(LONGEST_DAY).collect();
    calendar::latest(&begin.join(" ")).is_some()
}

/// Whether a line ends in dots and a number: "Descaling ........ 3".
pub(super) fn leads_to_page(line: &str) -> bool {
    let title = line.trim_end_matches(|c: char| c.is_ascii_digit());
    let words = title.trim_end_matches(['.', '…', '·', ' ']);
    let leader = title.get(words.len()..).unwrap_or("");
    let dots = leader.chars().map(|c| match c {
        ' ' => 0,
        '…' => 3,
        _ => 1,
    });
    title.len() < line.len() && !words.is_empty() && dots.sum::<usize>() >= FEWEST_DOTS
}

/// The line of a text that contains a position.
fn line_at(text: &str, at: usize) -> &str {
    let (before, behind) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = behind.find('\n').map_or(text.len(), |end| at + end);
    text.get(start..end).unwrap_or("").trim_end()
}

/// This many dots between a title and a number lead to a page.
const FEWEST_DOTS: usize = 4;

/// The words of a day: "on 3 October 2026".
const LONGEST_DAY: usize = 4;

/// Whether a text is crossed out: its author no longer says it.
fn is_crossed_out(raw: &str) -> bool {
    let raw = raw.trim_end_matches(['.', '!', '?', ' ']);
    let inner = raw
        .strip_prefix("~~")
        .and_then(|rest| rest.strip_suffix("~~"));
    inner.is_some_and(|inner| !inner.contains("~~"))
}

fn is_sayable(form: Form, raw: &str, words: &str) -> bool {
    match form {
        Form::Code => return true,
        Form::Row => {
            let filled = words
                .split('|')
                .filter(|cell| cell.contains(char::is_alphanumeric));
            return filled.count() > 1;
        }
        Form::Header | Form::Hidden => return false,
        Form::Sentence | Form::Item | Form::Property => {}
    }
    let hidden = raw.contains("%%") || raw.contains("<!--");
    let formula = raw.starts_with("$$") || raw.starts_with("\\[");
    let links = raw.contains("[[") || raw.contains("](");
    let tells = tells(&without_links(raw)) || links && form != Form::Sentence && tells_links(words);
    let is_gone = hidden || formula || is_crossed_out(raw) || is_contents_entry(form, raw);
    !is_gone && !words.is_empty() && tells
}

/// Whether an item only links to a section of its own note, as in a list of contents.
fn is_contents_entry(form: Form, raw: &str) -> bool {
    let raw = raw.trim();
    let is_local = raw.starts_with("[[#") || raw.starts_with('[') && raw.contains("](#");
    form == Form::Item && is_local && is_link(raw)
}

/// Whether a text is nothing but a link.
pub(super) fn is_link(raw: &str) -> bool {
    let raw = raw.trim();
    !raw.is_empty() && link_length(raw) == raw.len()
}

/// Whether links can be an answer: a list of names can, a bare address cannot.
fn tells_links(words: &str) -> bool {
    !words.contains("://") && words.chars().filter(|c| c.is_alphabetic()).count() > 2
}

/// Whether the text has at least one word, or four characters of an unspaced script; tags do not
/// count.
fn tells(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|w| !is_mark(w) && w.contains(char::is_alphanumeric))
        .count();
    words > 0 || text.chars().filter(|c| is_unspaced(*c)).count() > 3
}

/// `raw` without links, pictures, embeds and bare addresses.
fn without_links(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find(['[', '<', 'h']) {
        let (before, link) = rest.split_at(at);
        out.push_str(before.strip_suffix('!').unwrap_or(before));
        let length = link_length(link);
        if length == 0 {
            let next = link.chars().next().map_or(1, char::len_utf8);
            out.push_str(&link[..next]);
            rest = &link[next..];
        } else {
            rest = &link[length..];
        }
    }
    out + rest
}

/// The length of the link at the start of `text`; 0 if `text` does not begin with a link.
fn link_length(text: &str) -> usize {
    if text.starts_with("[[") {
        return text.find("]]").map_or(0, |i| i + 2);
    }
    if text.starts_with('[') {
        let close = text
            .find("](")
            .and_then(|i| text[i..].find(')').map(|j| i + j + 1));
        return close.unwrap_or(0);
    }
    let (open, address) = match text.strip_prefix('<') {
        Some(rest) => (1, rest),
        None => (0, text),
    };
    if !address.starts_with("http://") && !address.starts_with("https://") {
        return 0;
    }
    let end = address
        .find(|c: char| c.is_whitespace() || c == '>')
        .unwrap_or(address.len());
    open + end + usize::from(open > 0 && address[end..].starts_with('>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_contents_list_lead_to_a_page() {
        for line in [
            "Descaling ........ 3",
            "1. Descaling…… 12",
            "Gasket . . . . . 7",
        ] {
            assert!(leads_to_page(line), "{line}");
        }
        for line in [
            "It was ... 3",
            "Version 1.2.3",
            "........ 3",
            "And so on .....",
        ] {
            assert!(!leads_to_page(line), "{line}");
        }
    }

    #[test]
    fn only_what_is_crossed_out_as_a_whole_is_gone() {
        for (text, gone) in [
            ("~~Do not wear gloves.~~", true),
            ("~~Do not wear gloves~~.", true),
            ("Meet at ~~noon~~ one.", false),
            ("~~noon~~ one or ~~two~~", false),
        ] {
            assert_eq!(is_crossed_out(text), gone, "{text}");
        }
    }

    #[test]
    fn an_entry_begins_with_its_day() {
        assert!(begins_with_day("2026-06-11: The countertop is in!"));
        assert!(begins_with_day("On 3 October 2026 it opens."));
        assert!(!begins_with_day("Ines called: it opens on 3 October 2026"));
    }
}
