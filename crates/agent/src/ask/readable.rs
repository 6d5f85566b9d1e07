//! An answer for people: passages without markup, one number per source, a list of sources.

use local_agent_text::evidence::{Draft, EvidenceSnapshot, Segment};
use local_agent_text::markdown::plain;
use local_agent_text::types::{ByteSpan, Label};
use local_agent_verify::Report;

use super::extractive::{Operation, PieceForm, Shown, ShownPiece};
use super::readable_sources::{ReadableSource, Sources};
use super::recompute::RecomputedValue;
use super::{Answer, Outcome, verdict_marks};

/// Text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRun {
    /// Part of one line, without a line break.
    pub text: String,
    /// Whether it is the text that answers the question.
    pub bold: bool,
}

/// A line of text.
pub type TextLine = Vec<TextRun>;

/// An answer, formatted in lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readable {
    /// The lines in order; an empty one separates passages.
    pub lines: Vec<TextLine>,
    /// The sources, in the order of their numbers.
    pub sources: Vec<ReadableSource>,
    /// One line on how many statements there are and how each was checked.
    pub checked: Option<String>,
}

/// Formats an answer; `None` for an abstention.
pub fn readable(answer: &Answer) -> Option<Readable> {
    let (Some(draft), Some(report), Some(_)) = (answer.draft(), answer.report(), answer.text())
    else {
        return None;
    };
    let snapshot = &answer.packed.snapshot;
    let mut sources = Sources::of(snapshot);
    let quoted: Vec<(Label, ByteSpan)> = draft
        .segments()
        .iter()
        .filter_map(|segment| match segment {
            Segment::Quote { label, span } => Some((*label, *span)),
            _ => None,
        })
        .collect();
    let mut lines: Vec<TextLine> = Vec::new();
    if let Some(computed) = answer.computed() {
        lines.push(computed_line(computed));
        lines.push(Vec::new());
    }
    if answer.shown().is_empty() {
        lines.extend(words(&marked(draft, snapshot, report), &mut sources));
    }
    let mut nearest = None;
    for shown in answer.shown() {
        let pieces: Vec<&ShownPiece> = shown
            .pieces
            .iter()
            .filter(|p| quoted.contains(&(p.label, p.span)))
            .collect();
        if pieces.is_empty() {
            continue;
        }
        if lines.last().is_some_and(|line| !line.is_empty()) {
            lines.push(Vec::new());
        }
        lines.extend(passage(shown, &pieces, answer, &mut sources));
        nearest.get_or_insert(lines.len());
    }
    // Passages that are only close are no answer: the nearest one is shown, of the others the places.
    let is_closest = answer.is_closest();
    if let Some(end) = nearest.filter(|_| is_closest) {
        lines.truncate(end);
    }
    let checked = verdict_marks::summary(report, verdict_marks::is_quoted(draft));
    Some(Readable {
        lines,
        sources: sources.list(),
        checked: checked.filter(|_| !is_closest),
    })
}

/// The value and how it was computed.
fn computed_line(value: &RecomputedValue) -> TextLine {
    let RecomputedValue {
        computed,
        derivation,
    } = value;
    let (one, several) = match computed.operation {
        Operation::Sum => ("row added up", "rows added up"),
        Operation::Average => ("row averaged", "rows averaged"),
        Operation::Minimum | Operation::Maximum | Operation::Difference => {
            ("amount compared", "amounts compared")
        }
        Operation::Count | Operation::YesOrNo => ("counted", "counted"),
        Operation::Days | Operation::Years => ("date", "dates"),
    };
    let what = if computed.count == 1 { one } else { several };
    let value = TextRun {
        text: computed.value.clone(),
        bold: true,
    };
    let notes = match computed.notes {
        1 => "1 note".to_owned(),
        n => format!("{n} notes"),
    };
    let twice = match derivation {
        Some(_) => "; computed twice",
        None => "",
    };
    let how = match computed.operation {
        Operation::Count => format!(" = {} in {notes}", computed.arithmetic),
        Operation::YesOrNo => format!(": {}", computed.arithmetic),
        _ => format!(
            " = {} ({} {what}, {notes}{twice})",
            computed.arithmetic, computed.count
        ),
    };
    vec![
        value,
        TextRun {
            text: how,
            bold: false,
        },
    ]
}

/// Formats one passage: its pieces without markup, its day or title before it, and its number after
/// it.
fn passage(
    shown: &Shown,
    pieces: &[&ShownPiece],
    answer: &Answer,
    sources: &mut Sources<'_>,
) -> Vec<TextLine> {
    let snapshot = &answer.packed.snapshot;
    let mut out: Vec<TextLine> = vec![Vec::new()];
    let title = title_of(pieces, shown, snapshot);
    let all = pieces;
    let pieces = match title {
        // The title is before the passage, and not after the property.
        Some(_) => &pieces[..pieces.len() - 1],
        None => pieces,
    };
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let table = pieces[at..]
            .iter()
            .take_while(|p| matches!(p.form, PieceForm::Header | PieceForm::Row))
            .count();
        if table > 0 {
            start_line(&mut out, &piece.joint);
            let rows = pieces[at..at + table].iter();
            out.pop();
            out.extend(self::table(rows.filter_map(|p| bytes(snapshot, p)), shown));
            at += table;
            continue;
        }
        add_piece(&mut out, shown, piece, snapshot);
        at += 1;
    }
    out.retain(|line| line.iter().any(|run| !run.text.is_empty()) || line.is_empty());
    let front = front(answer, shown, pieces, title);
    if let Some(front) = front {
        add_front(&mut out, front, pieces);
    }
    let labels = all.iter().map(|p| (p.label, p.span));
    let numbers = sources.numbers(labels);
    if let Some(line) = out.last_mut() {
        line.push(TextRun {
            text: format!("   {numbers}"),
            bold: false,
        });
    }
    out
}

/// Adds the text before a passage: on its first line, or on a line of its own above a list or a
/// table.
fn add_front(out: &mut Vec<TextLine>, front: String, pieces: &[&ShownPiece]) {
    let begins = pieces.first().map(|piece| piece.form);
    let is_apart = matches!(
        begins,
        Some(PieceForm::Item | PieceForm::Header | PieceForm::Row | PieceForm::Code)
    );
    let run = |text: String| TextRun { text, bold: true };
    match out.first_mut() {
        Some(line) if !is_apart => line.insert(0, run(front)),
        _ => out.insert(0, vec![run(front.trim_end().to_owned())]),
    }
}

/// The title at the end of a passage that begins with a property of the note: the property does not
/// say what it is about.
fn title_of<'a>(
    pieces: &[&ShownPiece],
    shown: &Shown,
    snapshot: &'a EvidenceSnapshot,
) -> Option<&'a str> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let title = bytes(snapshot, last)?;
    let is_title = last.form == PieceForm::Text && plain(title) == plain(&shown.title);
    (first.form == PieceForm::Property && is_title).then_some(title)
}

/// The text before a passage: its title or its day, unless the passage says it itself.
fn front(
    answer: &Answer,
    shown: &Shown,
    pieces: &[&ShownPiece],
    title: Option<&str>,
) -> Option<String> {
    let snapshot = &answer.packed.snapshot;
    let is_property = pieces
        .first()
        .is_some_and(|p| p.form == PieceForm::Property);
    let is_closest = answer.outcome() == Outcome::Closest;
    let says = |words: &str| {
        let mut texts = pieces.iter().filter_map(|p| bytes(snapshot, p));
        texts.any(|text| text.contains(words))
    };
    match (title, &shown.date) {
        (Some(title), _) => Some(format!("{}: ", plain(title))),
        (None, Some(day)) if is_closest => {
            let written = day.to_string();
            Some(match shown.title.contains(&written) || says(&written) {
                true => format!("{}: ", shown.title),
                false => format!("{}, {day}: ", shown.title),
            })
        }
        (None, Some(day)) if !says(&day.to_string()) => Some(format!("{day}: ")),
        _ if is_closest || is_property && !says(&shown.title) => Some(format!("{}: ", shown.title)),
        _ => None,
    }
}

/// Adds one piece that is not a row.
fn add_piece(
    out: &mut Vec<TextLine>,
    shown: &Shown,
    piece: &ShownPiece,
    snapshot: &EvidenceSnapshot,
) {
    let Some(text) = bytes(snapshot, piece) else {
        return;
    };
    start_line(out, &piece.joint);
    let Some(line) = out.last_mut() else {
        return;
    };
    match piece.form {
        PieceForm::Code => {
            out.pop();
            out.extend(code(text));
        }
        PieceForm::Heading => line.push(TextRun {
            text: plain(text).trim_start_matches(['#', ' ']).to_owned(),
            bold: true,
        }),
        PieceForm::Item => {
            let (mark, rest) = split_mark(text);
            line.push(TextRun {
                text: format!("{mark} "),
                bold: false,
            });
            let offset = text.len() - rest.len();
            line.extend(runs(shown, piece, rest, offset));
        }
        PieceForm::Property => {
            for (n, part) in text.lines().enumerate() {
                if n > 0 {
                    out.push(Vec::new());
                }
                if let Some(line) = out.last_mut() {
                    line.push(TextRun {
                        text: property_line(part),
                        bold: false,
                    });
                }
            }
        }
        _ => line.extend(runs(shown, piece, text, 0)),
    }
}

/// Starts the piece at its position: on the same line, on the next one, or after an empty one.
fn start_line(out: &mut Vec<TextLine>, joint: &str) {
    let breaks = joint.matches('\n').count();
    for _ in 0..breaks.min(2) {
        out.push(Vec::new());
    }
    let rest = joint.rsplit('\n').next().unwrap_or("");
    if let Some(line) = out.last_mut().filter(|_| !rest.is_empty()) {
        line.push(TextRun {
            text: rest.to_owned(),
            bold: false,
        });
    }
}

/// The words of a piece. Words that answer the question are bold if there are other words next to
/// them.
fn runs(shown: &Shown, piece: &ShownPiece, text: &str, offset: usize) -> Vec<TextRun> {
    let first = piece.span.start() + offset;
    let key = shown.keys.iter().find_map(|key| {
        let start = key.start().checked_sub(first)?;
        let end = key.end().checked_sub(first)?;
        (text.get(start..end).is_some() && end - start < text.len()).then_some((start, end))
    });
    let alone = shown.pieces.len() == 1;
    let is_key = shown
        .keys
        .iter()
        .any(|key| key.start() <= first && first + text.len() <= key.end());
    let Some((start, end)) = key else {
        return vec![folded_run(text, is_key && !alone)];
    };
    let parts = [
        (&text[..start], false),
        (&text[start..end], true),
        (&text[end..], false),
    ];
    let mut out: Vec<TextRun> = Vec::new();
    for (part, bold) in parts {
        let words = folded(part);
        if words.is_empty() {
            continue;
        }
        if let Some(last) = out.last_mut() {
            last.text.push(' ');
        }
        out.push(TextRun { text: words, bold });
    }
    out
}

/// The text on one line, bold or plain.
fn folded_run(text: &str, bold: bool) -> TextRun {
    TextRun {
        text: folded(text),
        bold,
    }
}

/// Words without markup on one line. What is crossed out keeps its marks: without them it would say
/// the opposite of what its author means.
fn folded(text: &str) -> String {
    let text = text.replace("\n> ", "\n").replace("\n>", "\n");
    plain(&text.replace("~~", "\\~\\~"))
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The marker of an item (`-`, `2.`, `- [ ]`) and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    let mark = text.find(char::is_whitespace).unwrap_or(0);
    let rest = text[mark..].trim_start();
    let task = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find(|t| rest.starts_with(**t));
    match task {
        Some(task) => {
            let end = text.len() - rest.len() + task.trim_end().len();
            (&text[..end], text[end..].trim_start())
        }
        None => (&text[..mark], rest),
    }
}

fn property_line(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let bare = line.trim();
    let shown = match bare.split_once(':') {
        Some((key, value)) if !bare.starts_with('-') => {
            let value = property_value(value.trim());
            format!("{key}: {value}").trim_end().to_owned()
        }
        _ => plain(bare.trim_start_matches("- ").trim_matches(['"', '\''])),
    };
    format!("{}{shown}", " ".repeat(indent))
}

/// The value of a property without quotation marks and brackets: `[tea, "black coffee"]` is "tea,
/// black coffee".
fn property_value(value: &str) -> String {
    let unquoted = |part: &str| plain(part.trim().trim_matches(['"', '\'']));
    let list = value
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .filter(|inner| !inner.starts_with('['));
    match list {
        Some(inner) => {
            let parts: Vec<String> = flow_items(inner).into_iter().map(unquoted).collect();
            parts.join(", ")
        }
        None => unquoted(value),
    }
}

/// The parts of a list between commas, but for commas inside quotation marks.
fn flow_items(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut quote = None;
    let mut start = 0;
    for (at, c) in list.char_indices() {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == ',' => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// The lines of a code block without its fences, indented.
fn code(text: &str) -> Vec<TextLine> {
    let lines: Vec<&str> = text.lines().filter(|line| !is_fence(line)).collect();
    let least = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| indent_of(line))
        .min()
        .unwrap_or(0);
    lines.iter().map(|line| code_line(least, line)).collect()
}

/// A line of code without the common indent.
fn code_line(least: usize, line: &str) -> TextLine {
    let cut = least.min(indent_of(line));
    vec![TextRun {
        text: format!("    {}", &line[cut..]),
        bold: false,
    }]
}

/// How many blanks the line begins with, in bytes.
fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether the line begins or ends a code block.
fn is_fence(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '>']);
    line.starts_with("```") || line.starts_with("~~~")
}

/// A table in columns of equal width.
fn table<'t>(rows: impl Iterator<Item = &'t str>, shown: &Shown) -> Vec<TextLine> {
    let rows: Vec<Vec<String>> = rows
        .map(|row| {
            table_cells(row)
                .into_iter()
                .map(|cell| folded(&cell))
                .collect()
        })
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| column_width(&rows, column))
        .collect();
    let one = rows.len() == 2 && shown.keys.len() == 1;
    rows.iter()
        .enumerate()
        .map(|(n, row)| {
            vec![TextRun {
                text: padded_row(&widths, row),
                bold: n == 0 && !one,
            }]
        })
        .collect()
}

/// The cells of a row, padded to the widths of their columns.
fn padded_row(widths: &[usize], row: &[String]) -> String {
    let cells: Vec<String> = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| {
            let pad = width.saturating_sub(cell.chars().count());
            format!("{cell}{}", " ".repeat(pad))
        })
        .collect();
    cells.join("  ").trim_end().to_owned()
}

/// The width of the widest cell of a column.
fn column_width(rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().filter_map(|row| row.get(column));
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
}

/// The cells of a row, split at bars that are neither escaped nor in code.
pub fn table_cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut out = vec![String::new()];
    let (mut escaped, mut in_code) = (false, false);
    for c in row.chars() {
        match c {
            '|' if !escaped && !in_code => out.push(String::new()),
            c => {
                if c == '`' {
                    in_code = !in_code;
                }
                if let Some(cell) = out.last_mut() {
                    if escaped && c == '|' {
                        cell.pop();
                    }
                    cell.push(c);
                }
            }
        }
        escaped = c == '\\' && !escaped;
    }
    out.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The segments of a draft, with a mark after every sentence that is not word for word.
fn marked(draft: &Draft, snapshot: &EvidenceSnapshot, report: &Report) -> Vec<Segment> {
    let ends = verdict_marks::ends(report);
    let rendered = draft.lay_out(snapshot);
    let mut out = Vec::new();
    for (segment, (range, _)) in draft.segments().iter().zip(&rendered.pieces) {
        let here = ends
            .iter()
            .filter(|(end, _)| range.start < *end && *end <= range.end);
        let Segment::Text(text) = segment else {
            out.push(segment.clone());
            out.extend(here.map(|(_, mark)| Segment::Text(format!(" {mark}"))));
            continue;
        };
        let mut words = text.clone();
        for (end, mark) in here.rev() {
            if words.is_char_boundary(end - range.start) {
                words.insert_str(end - range.start, &format!(" {mark}"));
            }
        }
        out.push(Segment::Text(words));
    }
    out
}

/// The words of a model's answer, with numbers for its citations.
fn words(segments: &[Segment], sources: &mut Sources<'_>) -> Vec<TextLine> {
    let mut text = String::new();
    for segment in segments {
        match segment {
            Segment::Text(words) => text.push_str(words),
            Segment::Quote { label, span } => {
                let item = sources.snapshot.item(*label);
                let quoted = item.and_then(|item| item.slice(*span)).unwrap_or("");
                text.push_str(&folded(quoted));
            }
            Segment::Cite(label) => {
                let whole = sources.snapshot.item(*label).map(|item| item.span);
                if let Some(span) = whole {
                    let number = sources.numbers([(*label, span)].into_iter());
                    text.push_str(&number);
                }
            }
            Segment::Unresolved { written, .. } => text.push_str(written),
        }
    }
    text.lines()
        .map(|line| {
            vec![TextRun {
                text: line.to_owned(),
                bold: false,
            }]
        })
        .collect()
}

fn bytes<'s>(snapshot: &'s EvidenceSnapshot, piece: &ShownPiece) -> Option<&'s str> {
    snapshot.item(piece.label)?.slice(piece.span)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_property_with_a_list_reads_as_words() {
        for (line, words) in [
            ("tags: [project, garden]", "tags: project, garden"),
            (
                r#"attendees: ["Ines Carvalho", "Reis, Duarte"]"#,
                "attendees: Ines Carvalho, Reis, Duarte",
            ),
            (r#"owner: "[[Ines]]""#, "owner: Ines"),
            ("title: [[Ines]]", "title: Ines"),
            ("rating: 4", "rating: 4"),
            ("note: it's late, it's dark", "note: it's late, it's dark"),
        ] {
            assert_eq!(property_line(line), words);
        }
    }

    #[test]
    fn what_is_crossed_out_keeps_its_marks() {
        assert_eq!(folded("at ~~noon~~ **one**"), "at ~~noon~~ one");
    }

    use super::super::extractive::Computed;
    use super::*;

    #[test]
    fn cells_are_cut_at_bars_that_are_bars() {
        assert_eq!(table_cells("| a | b |"), ["a", "b"]);
        assert_eq!(table_cells("| a \\| b | `x|y` |"), ["a | b", "`x|y`"]);
        assert_eq!(table_cells("| a | |"), ["a", ""]);
    }

    #[test]
    fn marks_of_items_are_told_from_their_words() {
        assert_eq!(split_mark("- [ ] Order glue"), ("- [ ]", "Order glue"));
        assert_eq!(split_mark("2. Press it"), ("2.", "Press it"));
        assert_eq!(split_mark("* x"), ("*", "x"));
    }

    #[test]
    fn a_property_is_shown_without_quote_marks_and_brackets() {
        assert_eq!(property_line("phone: \"+49 30 1\""), "phone: +49 30 1");
        assert_eq!(property_line("owner: \"[[people/Ann|Ann]]\""), "owner: Ann");
        assert_eq!(property_line("  - Bo"), "  Bo");
    }

    #[test]
    fn one_row_and_one_date_are_in_the_singular() {
        let line = |operation, count| {
            let computed = Computed {
                operation,
                value: "1".to_owned(),
                arithmetic: "1".to_owned(),
                count,
                notes: 1,
            };
            let line = computed_line(&RecomputedValue {
                computed,
                derivation: None,
            });
            line.iter().map(|run| run.text.as_str()).collect::<String>()
        };
        assert_eq!(line(Operation::Sum, 1), "1 = 1 (1 row added up, 1 note)");
        assert_eq!(line(Operation::Sum, 2), "1 = 1 (2 rows added up, 1 note)");
        assert_eq!(
            line(Operation::Maximum, 1),
            "1 = 1 (1 amount compared, 1 note)"
        );
        assert_eq!(line(Operation::Years, 1), "1 = 1 (1 date, 1 note)");
        assert_eq!(line(Operation::Days, 2), "1 = 1 (2 dates, 1 note)");
    }

    #[test]
    fn code_loses_its_fences_and_the_margin_of_its_item() {
        let lines = code("```sh\n   a\n     b\n   ```");
        let text: Vec<&str> = lines.iter().map(|l| l[0].text.as_str()).collect();
        assert_eq!(text, ["    a", "      b"]);
    }
}
