//! Splits markdown text into sentences, each with its position and the kind of block it is in.
//!
//! Both sides of verification need the same split: an answer's claims and the evidence that
//! supports them. So all text that a person could read is included. Text that the markdown parser
//! consumes without showing it, such as a link definition, becomes a separate unit.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::comments;
use super::shallow::MASK;
use crate::language::segment;
use crate::types::ByteSpan;

/// The kind of block a sentence is in: the innermost one that affects how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockRole {
    /// Running text.
    Paragraph,
    /// Text of a list item.
    ListItem,
    /// One whole row of a table, with its pipes.
    TableRow,
    /// The header row of a table.
    TableHeader,
    /// A heading, without its marks.
    Heading,
    /// A group of code lines, without the fence.
    Code,
    /// Text of a block quote or callout.
    Quote,
    /// A block of HTML, one unit.
    Html,
    /// A paragraph that consists of a `%%comment%%`, which readers do not see.
    Comment,
    /// A line that markdown consumes without showing it: a link definition.
    Definition,
}

/// One sentence, row or code group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence {
    /// Byte range in the input text: trimmed, without the list, quote or heading mark before it.
    pub span: ByteSpan,
    /// The kind of block.
    pub role: BlockRole,
    /// The index of its block in the text, from 0. Paragraphs, items, rows and fences each count as
    /// one.
    pub block: usize,
}

/// Splits markdown text (a chunk of a note, or an answer) into sentences, in order, not
/// overlapping. Every byte that is neither white space nor markup belongs to exactly one. A soft
/// line break is a space; a hard one ends a sentence, and so does one between lines like "Front tyres:
/// 2.3 bar".
pub fn sentences(text: &str) -> Vec<Sentence> {
    let (masked, _) = comments::mask(text);
    let leaves = Leaves::of(&masked);
    let mut out = Vec::new();
    for (block, leaf) in leaves.iter().enumerate() {
        let mut push = |piece: Range<usize>| {
            let piece = trim(text, piece, leaf.quoted);
            out.extend(
                ByteSpan::new(piece.start, piece.end)
                    .filter(|s| !s.is_empty())
                    .map(|span| Sentence {
                        span,
                        role: leaf.role,
                        block,
                    }),
            );
        };
        match leaf.role {
            BlockRole::TableRow
            | BlockRole::TableHeader
            | BlockRole::Html
            | BlockRole::Comment
            | BlockRole::Heading => {
                push(leaf.range.clone());
            }
            BlockRole::Code => line_groups(text, leaf.range.clone())
                .into_iter()
                .for_each(push),
            _ => {
                for line in leaf.hard_lines(&masked) {
                    segment::cut(&masked, line, &leaf.whole)
                        .into_iter()
                        .for_each(&mut push);
                }
            }
        }
    }
    out
}

/// A block that contains text directly.
struct Leaf {
    role: BlockRole,
    range: Range<usize>,
    /// Whether lines may begin with `>`.
    quoted: bool,
    /// Ranges that are never split.
    whole: Vec<Range<usize>>,
    /// Positions after which a new sentence begins.
    breaks: Vec<usize>,
}

impl Leaf {
    /// The range, split at hard line breaks, between lines of "label: value", and after a callout's
    /// title.
    fn hard_lines(&self, text: &str) -> Vec<Range<usize>> {
        let mut range = self.range.clone();
        let mut breaks = self.breaks.clone();
        if let Some(mark) = callout_mark(&text[range.clone()]).filter(|_| self.quoted) {
            let title_end = text[range.clone()]
                .find(['\n', '\r'])
                .map_or(range.end, |i| range.start + i);
            range.start += mark;
            breaks.insert(0, title_end.max(range.start));
        }
        breaks.extend(between_labelled_lines(text, &range));
        breaks.push(range.end);
        // A hard break can be inside the callout's marker.
        breaks.sort_unstable();
        breaks.dedup();
        breaks.retain(|b| range.contains(b) || *b == range.end);
        let starts = std::iter::once(range.start).chain(breaks.clone());
        starts
            .zip(&breaks)
            .map(|(s, e)| s..*e)
            .filter(|r| !r.is_empty())
            .collect()
    }
}

/// Maximum number of bytes and words of the label of a line, and of words of its value.
const LONGEST_LABEL: usize = 48;
const MOST_LABEL_WORDS: usize = 5;
const MOST_VALUE_WORDS: usize = 6;

/// Where lines begin that are "label: value", as the one before them is. The first of such lines must
/// begin its paragraph or be below the end of a sentence: "nobody thinks that" may go on in them.
fn between_labelled_lines(text: &str, range: &Range<usize>) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = range.start;
    let (mut is_in_run, mut may_begin) = (false, true);
    for line in text[range.clone()].split_inclusive('\n') {
        let is_labelled = is_labelled(line);
        if is_labelled && is_in_run {
            // The line break belongs to what is after it, and so do the quote marks.
            out.push(at - 1);
        }
        is_in_run = is_labelled && (is_in_run || may_begin);
        may_begin = line.trim_end().ends_with(['.', ':', '!', '?']);
        at += line.len();
    }
    out
}

/// Signs before the label of a line: quote marks and emphasis.
const MARKS: &[char] = &[' ', '\t', '>', '*', '_'];

/// Whether a line is "label: value" with a short value that has a digit. Words alone may go on in the
/// next line.
fn is_labelled(line: &str) -> bool {
    let line = line.trim_start_matches(MARKS);
    let Some((label, value)) = line.split_once(':') else {
        return false;
    };
    let begins = |c: char| c.is_alphanumeric() && !c.is_lowercase();
    label.len() <= LONGEST_LABEL
        && label.starts_with(begins)
        && label.split_whitespace().count() <= MOST_LABEL_WORDS
        && !label.contains(['.', '?', '!', '|'])
        && value.trim_start_matches('*').starts_with([' ', '\t'])
        && value.contains(|c: char| c.is_ascii_digit())
        && value.split_whitespace().count() <= MOST_VALUE_WORDS
        && !value.trim_end().ends_with([',', '–', '—', '-'])
}

/// The length of `[!note]`, `[!note]+` or `[!note]-` at the start of a callout.
pub(super) fn callout_mark(text: &str) -> Option<usize> {
    let body = text.strip_prefix("[!")?;
    let close = body
        .bytes()
        .take(64)
        .position(|b| matches!(b, b']' | b'\n' | b'['))?;
    if close == 0 || body.as_bytes()[close] != b']' {
        return None;
    }
    let fold = usize::from(body[close + 1..].starts_with(['+', '-']));
    Some(2 + close + 1 + fold)
}

/// Collects the leaves of a text from the parser's events.
struct Leaves<'a> {
    text: &'a str,
    out: Vec<Leaf>,
    /// The open containers: quotes and items.
    containers: Vec<BlockRole>,
    quotes: usize,
    /// The leaf being collected.
    open: Option<Leaf>,
    /// The end of the text processed so far.
    covered: usize,
}

impl<'a> Leaves<'a> {
    fn of(text: &'a str) -> Vec<Leaf> {
        let mut this = Self {
            text,
            out: Vec::new(),
            containers: Vec::new(),
            quotes: 0,
            open: None,
            covered: 0,
        };
        for (event, range) in Parser::new_ext(text, super::dialect()).into_offset_iter() {
            this.take(&event, range);
        }
        this.close();
        this.gap(text.len());
        this.out
    }

    fn take(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(end) => self.end(end, range),
            Event::HardBreak => {
                self.inline(range.clone());
                self.open
                    .iter_mut()
                    .for_each(|leaf| leaf.breaks.push(range.end));
            }
            Event::Code(_) | Event::InlineHtml(_) | Event::FootnoteReference(_) => {
                self.inline(range.clone());
                self.open
                    .iter_mut()
                    .for_each(|leaf| leaf.whole.push(range.clone()));
            }
            Event::Rule => {
                self.close();
                self.skip_to(range.start, range.end);
            }
            Event::TaskListMarker(_) => self.skip_to(range.start, range.end),
            _ => self.inline(range),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let role = match tag {
            Tag::BlockQuote(_) => {
                self.close();
                self.quotes += 1;
                return self.containers.push(BlockRole::Quote);
            }
            Tag::Item => {
                self.close();
                return self.containers.push(BlockRole::ListItem);
            }
            Tag::List(_) | Tag::FootnoteDefinition(_) | Tag::Table(_) => return self.close(),
            Tag::TableCell => return,
            Tag::Link { .. } | Tag::Image { .. } => {
                self.inline(range.clone());
                return self
                    .open
                    .iter_mut()
                    .for_each(|leaf| leaf.whole.push(range.clone()));
            }
            Tag::TableHead => BlockRole::TableHeader,
            Tag::TableRow => BlockRole::TableRow,
            Tag::Heading { .. } => BlockRole::Heading,
            Tag::CodeBlock(_) => BlockRole::Code,
            Tag::HtmlBlock => BlockRole::Html,
            Tag::Paragraph => self.role(),
            _ => return self.inline(range),
        };
        self.close();
        self.gap(range.start);
        let at = range.start;
        // Headings and code begin at their first text, the others at the start of the block.
        let range = if matches!(role, BlockRole::Heading | BlockRole::Code) {
            at..at
        } else {
            range
        };
        self.open = Some(self.leaf(role, range));
    }

    fn end(&mut self, end: &TagEnd, range: Range<usize>) {
        match end {
            TagEnd::BlockQuote(_) => {
                self.close();
                self.quotes -= 1;
                self.containers.pop();
            }
            TagEnd::Item => {
                self.close();
                self.containers.pop();
            }
            TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::TableHead
            | TagEnd::TableRow => {
                self.close();
                self.covered = self.covered.max(range.end);
            }
            TagEnd::Table => self.covered = self.covered.max(range.end),
            TagEnd::Paragraph | TagEnd::List(_) | TagEnd::FootnoteDefinition => self.close(),
            _ => {}
        }
    }

    fn role(&self) -> BlockRole {
        self.containers
            .last()
            .copied()
            .unwrap_or(BlockRole::Paragraph)
    }

    fn leaf(&self, role: BlockRole, range: Range<usize>) -> Leaf {
        Leaf {
            role,
            range,
            quoted: self.quotes > 0,
            whole: Vec::new(),
            breaks: Vec::new(),
        }
    }

    /// Text of the open leaf, or of a tight list item without its own paragraph.
    fn inline(&mut self, range: Range<usize>) {
        if self.open.is_none() {
            self.gap(range.start);
            self.open = Some(self.leaf(self.role(), range.clone()));
        }
        if let Some(leaf) = &mut self.open {
            if leaf.range.is_empty() {
                leaf.range.start = range.start;
            }
            leaf.range.end = leaf.range.end.max(range.end);
        }
    }

    fn close(&mut self) {
        let Some(mut leaf) = self.open.take() else {
            return;
        };
        self.covered = self.covered.max(leaf.range.end);
        let body = &self.text[leaf.range.clone()];
        if body.contains(MASK)
            && !body.contains(|c: char| !c.is_whitespace() && !matches!(c, MASK | '>'))
        {
            leaf.role = BlockRole::Comment;
        }
        if !leaf.range.is_empty() {
            self.out.push(leaf);
        }
    }

    /// Marks a piece of markup as processed.
    fn skip_to(&mut self, start: usize, end: usize) {
        self.gap(start);
        self.covered = self.covered.max(end);
    }

    /// The text between the last leaf and `to` that the parser skipped: markup, or a line that it
    /// consumed silently.
    fn gap(&mut self, to: usize) {
        let from = self.covered;
        if from >= to {
            return;
        }
        self.covered = to;
        let mut at = from;
        for line in self.text[from..to].split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            if !is_markup(line) {
                let marks = line.len() - line.trim_start_matches([' ', '\t', '>']).len();
                self.out
                    .push(self.leaf(BlockRole::Definition, range.start + marks..range.end));
            }
        }
    }
}

/// Whether a skipped line contains only marks: list and quote marks, rules, a footnote's label.
fn is_markup(line: &str) -> bool {
    let mut rest = line;
    loop {
        let before = rest.len();
        rest = rest
            .trim_start_matches(|c: char| c.is_whitespace() || "\u{feff}>*+-=#~`|:_".contains(c));
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && rest[digits..].starts_with(['.', ')']) {
            rest = &rest[digits + 1..];
        }
        if let Some(label) = rest.strip_prefix("[^")
            && let Some(end) = label.find("]:")
        {
            rest = &label[end + 2..];
        }
        for task in ["[ ]", "[x]", "[X]"] {
            rest = rest.strip_prefix(task).unwrap_or(rest);
        }
        if rest.len() == before {
            return rest.is_empty();
        }
    }
}

/// Groups of lines without a blank line between them.
fn line_groups(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut at = range.start;
    let mut blank = true;
    for line in text[range].split_inclusive('\n') {
        let this = at..at + line.len();
        at = this.end;
        let was_blank = std::mem::replace(
            &mut blank,
            line.trim_matches([' ', '\t', '\r', '\n', '>']).is_empty(),
        );
        match out.last_mut() {
            _ if blank => {}
            Some(last) if !was_blank => last.end = this.end,
            _ => out.push(this),
        }
    }
    out
}

/// The range without white space at both ends, and without the quote marks of the lines at which it
/// begins or ends.
fn trim(text: &str, range: Range<usize>, quoted: bool) -> Range<usize> {
    let mut body = &text[range.clone()];
    let mut start = range.start;
    let mut begins_line = false;
    loop {
        let rest = body.trim_start();
        start += body.len() - rest.len();
        body = rest;
        // Text after a mark at the beginning of a line counts as at the beginning too, so one look
        // back is enough.
        let mut at_begin = || {
            begins_line = begins_line
                || text[..start]
                    .trim_end_matches([' ', '\t', '>'])
                    .ends_with(['\n', '\r']);
            begins_line
        };
        let Some(rest) = rest
            .strip_prefix('>')
            .filter(|_| quoted && start > range.start && at_begin())
        else {
            break;
        };
        start += 1;
        body = rest;
    }
    start..start + body.trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<&str> {
        sentences(text)
            .iter()
            .map(|s| &text[s.span.start()..s.span.end()])
            .collect()
    }

    fn roles(text: &str) -> Vec<(BlockRole, &str)> {
        sentences(text)
            .iter()
            .map(|s| (s.role, &text[s.span.start()..s.span.end()]))
            .collect()
    }

    #[test]
    fn plain_sentences_are_cut_at_their_stops() {
        assert_eq!(
            cut("One is. Two is! Is three? Four"),
            ["One is.", "Two is!", "Is three?", "Four"]
        );
        assert_eq!(
            cut("A soft\nbreak is a space. Next."),
            ["A soft\nbreak is a space.", "Next."]
        );
        assert_eq!(cut("A hard  \nbreak ends"), ["A hard", "break ends"]);
        assert_eq!(
            cut("It was loaded. then it failed."),
            ["It was loaded.", "then it failed."]
        );
    }

    #[test]
    fn abbreviations_numbers_versions_and_names_do_not_cut() {
        for whole in [
            "See e.g. Berlin, i.e. Dr. Weber of the U.S. Army.",
            "Das gilt z. B. Hunden bzw. Katzen, vgl. Nr. 5 und Abb. 3.",
            "Use No. 5 in v1.2.3 of file.md at 3.5 percent.",
            "Am 3. Mai und am 2. Tag kam J. R. R. Tolkien.",
            "1. First things",
            "He waited... and waited… then left.",
            "Smith et al. Nature, approx. 5 pp. 12 ff.",
        ] {
            assert_eq!(cut(whole).len(), 1, "{:?}", cut(whole));
        }
        assert_eq!(
            cut("Take plan B. The rest is easy."),
            ["Take plan B.", "The rest is easy."]
        );
        assert_eq!(cut("No. That is wrong."), ["No.", "That is wrong."]);
        assert_eq!(
            cut("It began in 2019. Then it grew."),
            ["It began in 2019.", "Then it grew."]
        );
        assert_eq!(
            cut("Tea, milk, etc. Nothing else."),
            ["Tea, milk, etc.", "Nothing else."]
        );
    }

    #[test]
    fn german_abbreviations_and_ordinals_do_not_cut() {
        for whole in [
            "Der Umbau kostet 5 Mio. Euro, d. h. rund 3 Tsd. Euro je Platz.",
            "Das Werk in Halle Nr. 7 hat ca. 40 Std. Laufzeit inkl. Wartung.",
            "Am 3. Okt. 2026 und am 24. Dezember ist geschlossen.",
            "Nehmen Sie z. B. Mehl, evtl. Hefe, mind. 2 TL. Zucker.",
            "Der 1. Vorsitzende Dr. h. c. Meier sprach im 19. Jh. Latein.",
        ] {
            assert_eq!(cut(whole).len(), 1, "{:?}", cut(whole));
        }
        assert_eq!(
            cut("Das kostet 5 Mio. Die Bank zahlt."),
            ["Das kostet 5 Mio.", "Die Bank zahlt."]
        );
        assert_eq!(
            cut("Es gibt Tee, Milch usw. Mehr gibt es nicht."),
            ["Es gibt Tee, Milch usw.", "Mehr gibt es nicht."]
        );
    }

    #[test]
    fn abbreviations_of_other_languages_do_not_cut() {
        for whole in [
            "Voir p.ex. Lyon, M. Dupont et Mme. Petit, art. 5.",
            "El Sr. García vive en la Avda. Mayor, núm. 5, pág. 3.",
            "Il Sig. Rossi e la Dott. Bianchi, pag. 12.",
            "De Dhr. Jansen woont bijv. Amsterdam, blz. 4.",
            "Это стоит 5 млн. Рублей нет, см. Приложение, рис. 2.",
        ] {
            assert_eq!(cut(whole).len(), 1, "{:?}", cut(whole));
        }
    }

    #[test]
    fn quotes_and_brackets_stay_with_their_sentence() {
        assert_eq!(
            cut("He said \"Stop. Now.\" and left. Then"),
            ["He said \"Stop. Now.\" and left.", "Then"]
        );
        assert_eq!(cut("\"Go.\" It went."), ["\"Go.\"", "It went."]);
        assert_eq!(
            cut("One (see Fig. A. Or B.) two. Three"),
            ["One (see Fig. A. Or B.) two.", "Three"]
        );
        assert_eq!(cut("**Bold end.** Next."), ["**Bold end.**", "Next."]);
    }

    #[test]
    fn chinese_and_japanese_stops_need_no_space() {
        assert_eq!(
            cut("你好。今天好吗？好！"),
            ["你好。", "今天好吗？", "好！"]
        );
        assert_eq!(
            cut("彼は「はい。そう。」と言った。次。"),
            ["彼は「はい。そう。」と言った。", "次。"]
        );
    }

    #[test]
    fn a_citation_mark_after_the_stop_belongs_to_the_sentence_before_it() {
        assert_eq!(
            cut("Tea is hot. [E3] Ice is not [E4]. So."),
            ["Tea is hot. [E3]", "Ice is not [E4].", "So."]
        );
        assert_eq!(
            cut("A. [source: a.md#H1: B. C. | 00ff] [E2: \"x. y]\"] Done."),
            [
                "A. [source: a.md#H1: B. C. | 00ff] [E2: \"x. y]\"]",
                "Done."
            ]
        );
        assert_eq!(
            cut("Fact.[^1] Next.[2][3] Last."),
            ["Fact.[^1]", "Next.[2][3]", "Last."]
        );
        assert_eq!(
            cut("茶是热的。【E1】冰不是。"),
            ["茶是热的。【E1】", "冰不是。"]
        );
    }

    #[test]
    fn code_links_and_file_names_are_never_cut() {
        assert_eq!(
            cut("Run `a. B` or [c. D](http://e.f/g. H) now. Ok"),
            ["Run `a. B` or [c. D](http://e.f/g. H) now.", "Ok"]
        );
        assert_eq!(
            cut("See [[Dr. No. Film|x. Y]]. Ok"),
            ["See [[Dr. No. Film|x. Y]].", "Ok"]
        );
    }

    #[test]
    fn lines_of_label_and_value_are_cut_and_wrapped_lines_are_not() {
        assert_eq!(
            cut("Front tyres: 2.3 bar\nRear tyres: 2.6 bar when\nloaded"),
            ["Front tyres: 2.3 bar", "Rear tyres: 2.6 bar when\nloaded"]
        );
        assert_eq!(
            cut("> **Anna:** 3 keys\n> **Tom:** 4 keys\n> Both agreed."),
            ["**Anna:** 3 keys", "**Tom:** 4 keys\n> Both agreed."]
        );
        for whole in [
            "Note: this goes on in\nBerlin and in Rome",
            "we say: 1\nthey say: 2",
            "Status: open 3\nResult: we do not believe that\nAnna passed the test",
            "Plan 2: nobody should think that\nTom: 40 EUR is enough",
            "Nobody thinks that\nTom: 40 EUR",
            "结果: 我们不认为\n安娜通过了考试",
        ] {
            assert_eq!(cut(whole), [whole]);
        }
        assert_eq!(
            cut("Nobody thinks that\nTom: 40 EUR\nAnna: 50 EUR"),
            ["Nobody thinks that\nTom: 40 EUR\nAnna: 50 EUR"]
        );
    }

    #[test]
    fn every_kind_of_block_has_its_role() {
        use BlockRole::*;
        let text = "# Top #\n\nPara. Two\n\n- [x] item one\n  goes on\n- b\n\n  deep. er\n\n> quote. Of\n> lines\n\n| h | i |\n|---|---|\n| a. B | c |\n\n```rust\nlet x;\n\nlet y;\n```\n\n<div>hi. Ho</div>\n\n---\n\n%% hidden. Note %%\n\n[a]: http://b.c\n\n    indented";
        let expected = [
            (Heading, "Top"),
            (Paragraph, "Para."),
            (Paragraph, "Two"),
            (ListItem, "item one\n  goes on"),
            (ListItem, "b"),
            (ListItem, "deep. er"),
            (Quote, "quote."),
            (Quote, "Of\n> lines"),
            (TableHeader, "| h | i |"),
            (TableRow, "| a. B | c |"),
            (Code, "let x;"),
            (Code, "let y;"),
            (Html, "<div>hi. Ho</div>"),
            (Comment, "%% hidden. Note %%"),
            (Definition, "[a]: http://b.c"),
            (Code, "indented"),
        ];
        assert_eq!(roles(text), expected);
    }

    #[test]
    fn an_unclosed_fence_is_code_and_a_callout_title_stands_alone() {
        assert_eq!(roles("```\na. B\nc"), [(BlockRole::Code, "a. B\nc")]);
        let callout = roles("> [!note]- The title\n> A body. More.");
        let quote = |t| (BlockRole::Quote, t);
        assert_eq!(
            callout,
            [quote("The title"), quote("A body."), quote("More.")]
        );
        // Lines may end in a lone carriage return, before the title too.
        assert_eq!(roles("> [!e] \t\rn\n"), [quote("n")]);
        assert_eq!(
            roles("> [!e] The title\r> A body."),
            [quote("The title"), quote("A body.")]
        );
    }

    #[test]
    fn s25_a_long_line_of_stops_and_brackets_is_linear() {
        for unit in [
            ". ", "a. ", "[1 . ", "(a. ", "\"a. ", "[[a. ", "> ", "%% a. ", "。", "*a. ",
        ] {
            let text = unit.repeat(60_000);
            sentences(&text);
            super::super::plain(&text);
        }
    }

    proptest! {
        #[test]
        fn every_letter_belongs_to_exactly_one_sentence(text in "[aB .?。>*_#|()\"\n\r\t=+ü\\-]{0,80}") {
            let found = sentences(&text);
            let mut end = 0;
            for s in &found {
                prop_assert!(s.span.start() >= end && !s.span.is_empty());
                let piece = text.get(s.span.start()..s.span.end());
                prop_assert!(piece.is_some_and(|p| p.trim() == p));
                end = s.span.end();
            }
            for (i, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
                let owners = found.iter().filter(|s| s.span.start() <= i && i < s.span.end()).count();
                prop_assert_eq!(owners, 1, "{:?} at {}", c, i);
            }
        }

        #[test]
        fn any_text_is_cut_without_panic(text in any::<String>(), md in "[a1. `~>#|%=\\[\\]!^:x\n-]{0,60}") {
            for t in [&text, &md] {
                let mut end = 0;
                for s in sentences(t) {
                    prop_assert!(s.span.start() >= end && t.get(s.span.start()..s.span.end()).is_some());
                    end = s.span.end();
                }
                super::super::plain(t);
            }
        }
    }
}
