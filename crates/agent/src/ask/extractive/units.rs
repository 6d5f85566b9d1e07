//! Evidence → the sentences, items, rows and code blocks an answer can be made of, each with its
//! surroundings.

use std::collections::HashSet;
use std::ops::Range;

use super::question::is_unspaced;
use local_agent_text::evidence::EvidenceItem;
use local_agent_text::markdown::{BlockRole, Sentence, plain, sentences};

/// Something that can be quoted.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Index of the item in the snapshot.
    pub item: usize,
    /// Bytes of the item's text.
    pub span: Range<usize>,
    pub role: BlockRole,
    /// Block of the item's text, as [`sentences`] counts.
    pub block: usize,
    /// Section of the item's text, counted from 0.
    pub section: usize,
    /// The list it belongs to, counted from 0; items of one list follow each other.
    pub list: Option<usize>,
    /// Whether it is a numbered item.
    pub numbered: bool,
    /// The words a person reads.
    pub plain: String,
    pub stems: HashSet<String>,
    /// The headings above it and the file's name: innermost heading, and all stems.
    pub heading: String,
    pub place: HashSet<String>,
    /// Source and path.
    pub file: String,
    /// The file's path and the headings, as they are written.
    pub above: String,
    /// The sentence or table header that leads in: index in the list of all units.
    pub lead: Option<usize>,
    /// The sentence before it in the same block.
    pub before: Option<usize>,
    /// Whether it ends by sending the reader elsewhere: with a link.
    pub points_away: bool,
    /// Whether it can be quoted as (part of) an answer; the others are only surroundings.
    pub sayable: bool,
}

impl Unit {
    /// Whether it ends like a sentence; fragments in lists, captions and notes to oneself mostly do
    /// not.
    pub fn ends(&self) -> bool {
        let closing = |c: char| {
            c.is_whitespace() || matches!(c, ')' | ']' | '"' | '\'' | '”' | '’' | '»' | '」' | '』')
        };
        self.plain
            .trim_end_matches(closing)
            .ends_with(['.', '!', '?', '…', '。', '！', '？'])
    }
}

/// All units of `items`, in order.
pub(super) fn of_items(items: &[EvidenceItem], with_code: bool) -> Vec<Unit> {
    let mut out = Vec::new();
    for (index, item) in items.iter().enumerate() {
        Cutter::new(index, item, with_code).cut(&mut out);
    }
    out
}

/// Whether both are groups of lines of one code block.
fn out_of_one_fence(last: &Unit, unit: &Unit) -> bool {
    unit.role == BlockRole::Code
        && last.item == unit.item
        && last.role == unit.role
        && last.block == unit.block
}

/// Walks one item.
struct Cutter<'a> {
    index: usize,
    item: &'a EvidenceItem,
    with_code: bool,
    /// Headings above the current sentence, with their levels.
    path: Vec<(u8, String)>,
    place: HashSet<String>,
    above: String,
    file: String,
    section: usize,
    list: usize,
}

impl<'a> Cutter<'a> {
    fn new(index: usize, item: &'a EvidenceItem, with_code: bool) -> Self {
        let file = format!("{}:{}", item.source, item.path);
        let path = item
            .heading
            .headings()
            .iter()
            .map(|h| (h.level, plain(&h.title)))
            .collect();
        let mut this = Self {
            index,
            item,
            with_code,
            path,
            place: HashSet::new(),
            above: String::new(),
            file,
            section: 0,
            list: 0,
        };
        this.settle();
        this
    }

    /// What the file's name and the headings say.
    fn settle(&mut self) {
        let titles: String = self
            .path
            .iter()
            .map(|(_, title)| format!("\n{title}"))
            .collect();
        let all = format!("{}{titles}", self.item.path.stem());
        self.place = local_agent_index::lexical::terms(&all)
            .into_iter()
            .collect();
        // Folders are called by years, too.
        self.above = format!("{}{titles}", self.item.path);
    }

    fn cut(mut self, out: &mut Vec<Unit>) {
        let first = out.len();
        for sentence in sentences(&self.item.text) {
            if sentence.role == BlockRole::Heading {
                self.enter(sentence);
                continue;
            }
            let unit = self.unit(sentence, out.get(first..).unwrap_or(&[]), first);
            match out.last_mut().filter(|last| out_of_one_fence(last, &unit)) {
                Some(last) => {
                    last.span.end = unit.span.end;
                    last.plain.push_str("\n\n");
                    last.plain.push_str(&unit.plain);
                    last.stems.extend(unit.stems);
                }
                None => out.push(unit),
            }
        }
    }

    /// A heading inside the item: the path changes from here on.
    fn enter(&mut self, heading: Sentence) {
        let text = &self.item.text;
        let span = heading.span;
        let line = text[..span.start()].rfind('\n').map_or(0, |i| i + 1);
        let marks = text[line..span.start()]
            .bytes()
            .filter(|b| *b == b'#')
            .count();
        let underline = text[span.end()..].trim_start_matches(['\r', '\n', ' ']);
        let level = match marks {
            0 if underline.starts_with('=') => 1,
            0 => 2,
            n => u8::try_from(n).unwrap_or(6),
        };
        self.path.retain(|(above, _)| *above < level);
        self.path
            .push((level, plain(&text[span.start()..span.end()])));
        self.settle();
        self.section += 1;
    }

    fn unit(&mut self, sentence: Sentence, before: &[Unit], first: usize) -> Unit {
        let text = self.item.text.as_str();
        let bare = trim(text, sentence);
        let raw = text.get(bare.clone()).unwrap_or("");
        let words = if sentence.role == BlockRole::Code {
            raw.to_owned()
        } else {
            plain(raw)
        };
        let span = if sentence.role == BlockRole::Code {
            fenced(text, bare.clone())
        } else {
            bare.clone()
        };
        let last = before.last().filter(|u| u.section == self.section);
        let index = first + before.len();
        let is_item = sentence.role == BlockRole::ListItem;
        let follows_item = last.is_some_and(|u| u.role == BlockRole::ListItem);
        if is_item && !follows_item {
            self.list += 1;
        }
        let lead = last.and_then(|u| match sentence.role {
            BlockRole::TableRow if u.role == BlockRole::TableHeader => Some(index - 1),
            BlockRole::TableRow if u.role == BlockRole::TableRow => u.lead,
            BlockRole::ListItem if u.role == BlockRole::ListItem => u.lead,
            BlockRole::ListItem | BlockRole::Code if u.plain.ends_with([':', '：']) => {
                Some(index - 1)
            }
            _ => None,
        });
        let stems = local_agent_index::lexical::terms(&words)
            .into_iter()
            .collect();
        Unit {
            item: self.index,
            role: sentence.role,
            block: sentence.block,
            section: self.section,
            list: is_item.then_some(self.list),
            numbered: is_item
                && mark_before(text, bare.start).is_some_and(|(_, m)| m.ends_with(['.', ')'])),
            points_away: raw.trim_end_matches(['.', '!', ')']).ends_with("]]"),
            sayable: sayable(sentence.role, raw, &words, self.with_code),
            plain: words,
            stems,
            heading: self.path.last().map(|(_, t)| t.clone()).unwrap_or_default(),
            place: self.place.clone(),
            above: self.above.clone(),
            file: self.file.clone(),
            lead,
            before: last
                .filter(|u| u.block == sentence.block)
                .map(|_| index - 1),
            span,
        }
    }
}

/// The list mark (`-`, `2.`) that stands before `at` on its line, and where; `None` when something
/// else does.
fn mark_before(text: &str, at: usize) -> Option<(usize, &str)> {
    let line = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let lead = &text[line..at];
    let start = line + lead.len() - lead.trim_start_matches([' ', '\t', '>']).len();
    let mark = text[start..at].split_whitespace().next()?;
    let rest = text[start + mark.len()..at].trim();
    let numbered = mark
        .strip_suffix(['.', ')'])
        .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    let is_mark = numbered || matches!(mark, "-" | "*" | "+");
    (is_mark && matches!(rest, "" | "[ ]" | "[x]" | "[X]")).then_some((start, mark))
}

/// Where the list item whose text starts at `at` begins with its mark; `at` when it has none.
pub(super) fn with_mark(text: &str, at: usize) -> usize {
    mark_before(text, at).map_or(at, |(start, _)| start)
}

/// The lines of a code group with the fence around them, where the fence stands next to them.
fn fenced(text: &str, group: Range<usize>) -> Range<usize> {
    let is_fence = |line: &str| {
        let line = line.trim_start_matches([' ', '\t', '>']);
        line.starts_with("```") || line.starts_with("~~~")
    };
    let line_start = |at: usize| {
        text.get(..at)
            .and_then(|t| t.rfind('\n'))
            .map_or(0, |i| i + 1)
    };
    let first = line_start(group.start);
    let above = line_start(first.saturating_sub(1));
    let start = if text.get(above..first).is_some_and(is_fence) {
        above
    } else {
        group.start
    };
    let rest = text.get(group.end..).unwrap_or("");
    let below = rest.trim_start_matches(['\r', '\n']);
    let line = below.split('\n').next().unwrap_or("");
    let end = if is_fence(line) {
        group.end + (rest.len() - below.len()) + line.trim_end().len()
    } else {
        group.end
    };
    start..end
}

/// The sentence's bytes without trailing block ids, tags, footnote marks and comments, which are
/// not read as part of it.
fn trim(text: &str, sentence: Sentence) -> Range<usize> {
    let (start, mut end) = (sentence.span.start(), sentence.span.end());
    if matches!(
        sentence.role,
        BlockRole::Code | BlockRole::TableRow | BlockRole::TableHeader
    ) {
        return start..end;
    }
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

/// `#tag` or `^block-id`.
fn is_mark(word: &str) -> bool {
    word.strip_prefix(['#', '^']).is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .chars()
                .all(|c| c.is_alphanumeric() || "-_/".contains(c))
    })
}

/// Whether a reader learns something from it alone.
fn sayable(role: BlockRole, raw: &str, words: &str, with_code: bool) -> bool {
    match role {
        BlockRole::Code => return with_code,
        BlockRole::TableRow => {
            return words
                .split('|')
                .filter(|c| c.contains(char::is_alphanumeric))
                .count()
                > 1;
        }
        BlockRole::Paragraph | BlockRole::ListItem | BlockRole::Quote => {}
        _ => return false,
    }
    let hidden = raw.contains("%%") || raw.contains("<!--");
    let formula = raw.starts_with("$$") || raw.starts_with("\\[");
    !hidden && !formula && tells(&without_links(raw)) && !words.is_empty()
}

/// At least two words, or four characters of an unspaced script, tags not counted.
fn tells(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|w| !is_mark(w) && w.contains(char::is_alphanumeric))
        .count();
    words > 1 || text.chars().filter(|c| is_unspaced(*c)).count() > 3
}

/// `raw` with every link, picture, embed and bare address taken out.
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

/// The length of the link that `text` begins with; 0 for none.
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
