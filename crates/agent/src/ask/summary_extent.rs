//! What a summary of one note without new words leaves out. It never ends at an introduction whose
//! list is missing, shows a short list whole, and names the sections that it does not show.

use std::ops::Range;

use super::claim_notes::ClaimNote;
use super::extractive::{Extracted, NoteText, Passage, Piece, PieceForm};
use local_agent_text::markdown::{Block, BlockKind};

/// A list of at most this many items is shown whole; of a longer one, as many.
const ITEMS: usize = 12;

/// Maximum number of sections that are listed; the others are counted.
const LISTED: usize = 12;

/// Number of sections that the sentence names.
const NAMED: usize = 3;

/// The verdict of a section that is not shown.
const NOT_SHOWN: &str = "not_shown";

/// What a summary does not show.
#[derive(Debug, Default)]
pub(super) struct SummaryExtent {
    /// One entry for each section.
    pub left_out: Vec<ClaimNote>,
    /// The same as a sentence; `None` if nothing is left out.
    pub said: Option<String>,
}

/// Completes the lists of a summary of one note, and says what it leaves out. Other answers, which
/// show no headings, stay as they are.
pub(super) fn complete(extracted: &mut Extracted) -> SummaryExtent {
    let Extracted {
        notes, passages, ..
    } = extracted;
    let [passage] = passages.as_mut_slice() else {
        return SummaryExtent::default();
    };
    let Some(note) = notes.get(passage.note) else {
        return SummaryExtent::default();
    };
    if headings(passage).count() < 2 {
        return SummaryExtent::default();
    }
    let cut = complete_lists(note, passage);
    let missing = sections_not_shown(note, passage);
    SummaryExtent {
        said: sentence(note, &missing, cut),
        left_out: missing
            .iter()
            .take(LISTED)
            .filter_map(|section| entry(note, *section))
            .collect(),
    }
}

fn headings(passage: &Passage) -> impl Iterator<Item = &Piece> {
    passage
        .pieces
        .iter()
        .filter(|piece| piece.form == PieceForm::Heading)
}

/// Adds the items of every list that is begun or announced; returns the number of items that are
/// not shown.
fn complete_lists(note: &NoteText, passage: &mut Passage) -> usize {
    let mut left = 0;
    let lists = note.blocks.iter().enumerate().filter(|(_, block)| {
        block.parent.is_none() && matches!(block.kind, BlockKind::List { .. })
    });
    for (list, block) in lists {
        if !is_begun(passage, block) && !is_announced(note, passage, block) {
            continue;
        }
        let items: Vec<Range<usize>> = note
            .blocks
            .iter()
            .filter(|item| item.parent == Some(list))
            .map(bytes)
            .collect();
        for (at, item) in items.iter().enumerate() {
            let is_shown = passage
                .pieces
                .iter()
                .any(|piece| overlaps(&piece.span, item));
            match (is_shown, at < ITEMS) {
                (true, _) => {}
                (false, true) => passage.pieces.push(Piece {
                    span: item.start..item.start + note.slice(item).trim_end().len(),
                    form: PieceForm::Item,
                }),
                (false, false) => left += 1,
            }
        }
    }
    passage.pieces.sort_by_key(|piece| piece.span.start);
    left
}

fn bytes(block: &Block) -> Range<usize> {
    block.span.start()..block.span.end()
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn is_begun(passage: &Passage, list: &Block) -> bool {
    let list = bytes(list);
    let mut items = passage.pieces.iter();
    items.any(|piece| piece.form == PieceForm::Item && overlaps(&piece.span, &list))
}

/// Whether the passage shows the introduction of the list: the words before it, up to a colon.
fn is_announced(note: &NoteText, passage: &Passage, list: &Block) -> bool {
    let before = note.slice(&(0..list.span.start())).trim_end();
    let mut shown = passage.pieces.iter();
    before.ends_with([':', '：'])
        && shown.any(|piece| piece.form == PieceForm::Text && piece.span.end == before.len())
}

/// The sections with text below their heading of which the passage shows neither heading nor text.
fn sections_not_shown(note: &NoteText, passage: &Passage) -> Vec<usize> {
    let is_missing = |(at, section): &(usize, &super::extractive::Section)| {
        let has_text = section.level > 0
            && (!note
                .slice(&(section.body..section.span.end))
                .trim()
                .is_empty()
                || note.blocks_of_section(*at).next().is_some());
        has_text
            && !passage
                .pieces
                .iter()
                .any(|piece| overlaps(&piece.span, &section.span))
    };
    let sections = note.sections.iter().enumerate();
    sections.filter(is_missing).map(|(at, _)| at).collect()
}

fn title(note: &NoteText, section: usize) -> Option<String> {
    let headings = note.sections.get(section)?.heading.headings();
    headings.last().map(|heading| heading.title.clone())
}

fn entry(note: &NoteText, section: usize) -> Option<ClaimNote> {
    let span = &note.sections.get(section)?.span;
    let whole = span.start..span.start + note.slice(span).trim_end().len();
    Some(ClaimNote::not_shown(
        &title(note, section)?,
        NOT_SHOWN,
        format!(
            "this section is not in the summary: {}:{}:{}",
            note.source,
            note.path,
            note.lines(&whole)?
        ),
    ))
}

fn sentence(note: &NoteText, missing: &[usize], items: usize) -> Option<String> {
    let named: Vec<String> = missing
        .iter()
        .filter_map(|section| title(note, *section))
        .take(NAMED)
        .collect();
    let more = match missing.len() > named.len() {
        true => ", …",
        false => "",
    };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let sections = (!missing.is_empty()).then(|| {
        let count = missing.len();
        format!(
            "{count} section{} ({}{more})",
            plural(count),
            named.join(", ")
        )
    });
    let items = (items > 0).then(|| format!("{items} item{} of long lists", plural(items)));
    let parts: Vec<String> = sections.into_iter().chain(items).collect();
    (!parts.is_empty()).then(|| format!("Not shown: {}.", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::super::extractive::NoteSource;
    use super::*;
    use local_agent_text::types::{RelPath, SourceName};

    fn note(text: &str) -> NoteText {
        NoteText::read(NoteSource {
            source: SourceName::new("notes").unwrap(),
            path: RelPath::new("policy.md").unwrap(),
            path_is_shared: false,
            text: text.to_owned(),
            hits: Vec::new(),
        })
    }

    fn extracted(text: &str, shown: &[(&str, PieceForm)]) -> Extracted {
        let pieces = shown.iter().map(|(words, form)| {
            let start = text.find(words).unwrap();
            Piece {
                span: start..start + words.len(),
                form: *form,
            }
        });
        Extracted {
            passages: vec![Passage::new(0, pieces.collect())],
            notes: vec![note(text)],
            certain: true,
            computed: None,
            why: None,
        }
    }

    fn shown(extracted: &Extracted) -> Vec<&str> {
        let note = &extracted.notes[0];
        let pieces = extracted.passages[0].pieces.iter();
        pieces.map(|piece| note.slice(&piece.span)).collect()
    }

    #[test]
    fn a_summary_ends_at_no_introduction_and_names_the_sections_that_it_leaves_out() {
        let text = "# Policy\n\nWe trust you.\n\n## Equipment\n\nCompany provides:\n\n- Laptop\n- Chair\n\n\
                    ## Zones\n\nAny zone.\n\n## Travel\n\nAsk first.\n\n## Empty\n";
        let mut summary = extracted(
            text,
            &[
                ("# Policy", PieceForm::Heading),
                ("We trust you.", PieceForm::Text),
                ("## Equipment", PieceForm::Heading),
                ("Company provides:", PieceForm::Text),
            ],
        );
        let extent = complete(&mut summary);
        assert_eq!(shown(&summary)[4..], ["- Laptop", "- Chair"]);
        let said = extent.said.as_deref();
        assert_eq!(said, Some("Not shown: 2 sections (Zones, Travel)."));
        let left: Vec<&str> = extent
            .left_out
            .iter()
            .map(|one| one.sentence.as_str())
            .collect();
        assert_eq!(left, ["Zones", "Travel"]);
        assert!(
            extent.left_out[0].reason.ends_with("notes:policy.md:12-14"),
            "{extent:?}"
        );
    }

    #[test]
    fn a_begun_list_is_shown_whole_or_its_rest_is_counted() {
        let items: String = (1..=15).map(|n| format!("- item {n} is here\n")).collect();
        let text = format!("# A\n\n{items}\n# B\n\nWords.\n");
        let begun = [
            ("# A", PieceForm::Heading),
            ("- item 1 is here", PieceForm::Item),
            ("# B", PieceForm::Heading),
            ("Words.", PieceForm::Text),
        ];
        let mut summary = extracted(&text, &begun);
        let extent = complete(&mut summary);
        assert_eq!(shown(&summary).len(), 3 + ITEMS);
        assert_eq!(
            extent.said.as_deref(),
            Some("Not shown: 3 items of long lists.")
        );
    }

    #[test]
    fn an_answer_without_headings_stays_as_it_is() {
        let text = "# A\n\nIt costs:\n\n- 3 euros\n\n# B\n\nMore.\n";
        let mut answer = extracted(text, &[("It costs:", PieceForm::Text)]);
        let extent = complete(&mut answer);
        assert!(extent.said.is_none() && extent.left_out.is_empty());
        assert_eq!(shown(&answer), ["It costs:"]);
        let mut whole = extracted(
            text,
            &[
                ("# A", PieceForm::Heading),
                ("It costs:", PieceForm::Text),
                ("- 3 euros", PieceForm::Item),
                ("# B", PieceForm::Heading),
                ("More.", PieceForm::Text),
            ],
        );
        assert!(complete(&mut whole).said.is_none());
    }
}
