//! The words of a text that another text has too, or that differ from it.

use std::ops::Range;

use maud::{Markup, html};

use local_agent_text::language::is_unspaced;

/// The fewest characters of a question's word that is marked, in a script with blanks.
const SHORTEST: usize = 3;

/// The fewest characters of a word for which two texts are said to agree. Shorter ones are marked
/// only beside such a word, or beside a number: "and" alone says nothing.
const WEIGHTY: usize = 4;

/// The fewest characters that two texts have in common, in a script without blanks.
const SHORTEST_UNSPACED: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// The other text has it, too.
    Same,
    /// The other text has something else.
    Differs,
}

/// What is marked in a text.
#[derive(Debug, Default)]
pub(super) struct Marks<'t> {
    /// Words in lower case.
    words: Vec<String>,
    /// The other text in lower case, for scripts without blanks.
    other: String,
    differing: Vec<&'t str>,
    /// Whether a word that is too short to say anything is marked on its own.
    marks_light_words: bool,
    /// Whether everything is marked that does not differ.
    marks_everything: bool,
}

impl<'t> Marks<'t> {
    /// Marks the words of a question, except the shortest.
    pub(super) fn of_question(question: &str) -> Self {
        let mut marks = Self::of_text(question);
        marks.words.retain(|word| word.chars().count() >= SHORTEST);
        marks.marks_light_words = true;
        marks
    }

    /// Marks every word of a text.
    pub(super) fn of_text(text: &str) -> Self {
        let other = text.to_lowercase();
        let words = other.split(|c: char| !c.is_alphanumeric());
        Self {
            words: words
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
            other,
            ..Self::default()
        }
    }

    /// Marks the whole of a text: it stands there word for word.
    pub(super) fn of_everything() -> Self {
        Self {
            marks_everything: true,
            ..Self::default()
        }
    }

    /// Marks these words as different, too.
    #[must_use]
    pub(super) fn with_differing(mut self, words: Vec<&'t str>) -> Self {
        self.differing = words;
        self.differing.retain(|words| !words.trim().is_empty());
        self
    }

    /// The text with its marked words: the same ones highlighted, the different ones underlined.
    pub(super) fn show(&self, text: &str) -> Markup {
        html! {
            @for (part, mark) in self.parts(text) {
                @match mark {
                    None => (part),
                    Some(Mark::Same) => mark { (part) },
                    Some(Mark::Differs) => u { (part) },
                }
            }
        }
    }

    /// The text with marks only inside these ranges of bytes.
    pub(super) fn show_in(&self, text: &str, ranges: &[Range<usize>]) -> Markup {
        let mut pieces: Vec<(&str, bool)> = Vec::new();
        let mut at = 0;
        for range in ranges {
            let (start, end) = (range.start.max(at), range.end.min(text.len()));
            if let (Some(before), Some(inside)) = (text.get(at..start), text.get(start..end)) {
                pieces.extend([(before, false), (inside, true)]);
                at = end;
            }
        }
        pieces.push((text.get(at..).unwrap_or_default(), false));
        html! {
            @for (piece, is_inside) in pieces {
                @if is_inside { (self.show(piece)) } @else { (piece) }
            }
        }
    }

    fn parts<'p>(&self, text: &'p str) -> Vec<(&'p str, Option<Mark>)> {
        let mut ends: Vec<(usize, Option<Mark>)> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let (length, mark) = self.next(text, at);
            at += length;
            join(&mut ends, text, (at, mark));
        }
        let mut from = 0;
        let parts = ends.into_iter().map(|(end, mark)| {
            let part = &text[from..end];
            from = end;
            (
                part,
                mark.filter(|mark| *mark != Mark::Same || self.says_something(part)),
            )
        });
        parts.collect()
    }

    /// Whether a marked part has a word with weight, or a number.
    fn says_something(&self, part: &str) -> bool {
        let has_weight = |word: &str| {
            word.chars().count() >= WEIGHTY
                || word.contains(|c: char| c.is_numeric() || is_unspaced(c))
        };
        self.marks_light_words
            || self.marks_everything
            || part.split(|c: char| !c.is_alphanumeric()).any(has_weight)
    }

    /// The length of the next part of the text, and its mark.
    fn next(&self, text: &str, at: usize) -> (usize, Option<Mark>) {
        let rest = &text[at..];
        let differing = self.differing.iter().filter(|one| stands_at(text, at, one));
        if let Some(length) = differing.map(|one| one.len()).max() {
            return (length, Some(Mark::Differs));
        }
        let Some(first) = rest.chars().next() else {
            return (rest.len(), None);
        };
        if self.marks_everything {
            return (first.len_utf8(), Some(Mark::Same));
        }
        if is_unspaced(first) {
            let same = self.common(rest);
            let mark = (same > 0).then_some(Mark::Same);
            return (same.max(first.len_utf8()), mark);
        }
        let length = word_end(rest, first);
        let word = rest[..length].to_lowercase();
        let is_same = first.is_alphanumeric() && self.words.contains(&word);
        (length, is_same.then_some(Mark::Same))
    }

    /// The length of the longest beginning that the other text has too, in a script without blanks.
    fn common(&self, rest: &str) -> usize {
        let ends = rest.char_indices().take_while(|(_, c)| is_unspaced(*c));
        let ends = ends.map(|(at, c)| at + c.len_utf8());
        let fits = |end: &usize| self.other.contains(&rest[..*end].to_lowercase());
        let fitting: Vec<usize> = ends.take_while(fits).collect();
        match fitting.len() >= SHORTEST_UNSPACED {
            true => fitting.last().copied().unwrap_or(0),
            false => 0,
        }
    }
}

/// The end of the run of characters of one kind: those of words, or others.
fn word_end(rest: &str, first: char) -> usize {
    let is_word = first.is_alphanumeric();
    rest.find(|c: char| c.is_alphanumeric() != is_word || is_unspaced(c))
        .unwrap_or(rest.len())
}

/// Whether the words are here, as whole words.
fn stands_at(text: &str, at: usize, words: &str) -> bool {
    let is_inside = |outer: Option<char>, inner: Option<char>| match (outer, inner) {
        (Some(outer), Some(inner)) => {
            outer.is_alphanumeric() && inner.is_alphanumeric() && !is_unspaced(outer)
        }
        _ => false,
    };
    let (before, rest) = text.split_at(at);
    let Some(after) = rest.strip_prefix(words) else {
        return false;
    };
    !is_inside(before.chars().next_back(), words.chars().next())
        && !is_inside(after.chars().next(), words.chars().next_back())
}

/// Adds a part. Parts of the same kind, and what is between two marked words, become one.
fn join(ends: &mut Vec<(usize, Option<Mark>)>, text: &str, (end, mark): (usize, Option<Mark>)) {
    if let [.., (before, Some(Mark::Same)), (gap, None)] = ends[..]
        && mark == Some(Mark::Same)
        && !text[before..gap].contains(char::is_alphanumeric)
    {
        ends.pop();
    }
    match ends.last_mut() {
        Some((last, known)) if *known == mark => *last = end,
        _ => ends.push((end, mark)),
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    #[test]
    fn what_two_texts_share_is_highlighted_and_what_differs_is_underlined() {
        let shown = |marks: Marks<'_>, text: &str| marks.show(text).into_string();
        let claim = || Marks::of_text("The zebra eats 14 apples.");
        for (marks, text, wanted) in [
            (claim(), "The zebra eats", "<mark>The zebra eats</mark>"),
            (claim(), "A zebra, 14!", "A <mark>zebra, 14</mark>!"),
            (
                claim(),
                "zebra sleeps zebra",
                "<mark>zebra</mark> sleeps <mark>zebra</mark>",
            ),
            (
                claim().with_differing(vec!["15"]),
                "15 apples, 150",
                "<u>15</u> <mark>apples</mark>, 150",
            ),
            (claim().with_differing(vec!["", " "]), "15", "15"),
            (
                Marks::of_question("is the oven"),
                "the oven is",
                "<mark>the oven</mark> is",
            ),
            (
                Marks::of_text("会議は水曜です"),
                "次の会議は木曜",
                "次の<mark>会議は</mark>木曜",
            ),
            (
                Marks::default().with_differing(vec!["木曜"]),
                "会議は木曜です",
                "会議は<u>木曜</u>です",
            ),
            (
                claim(),
                "<b>zebra</b>",
                "&lt;b&gt;<mark>zebra</mark>&lt;/b&gt;",
            ),
            (claim(), "", ""),
            // A short word alone says nothing.
            (
                Marks::of_text("It is at 27 °C and dry."),
                "32 °C and 80",
                "32 °C and 80",
            ),
            (Marks::of_question("oil"), "oil", "<mark>oil</mark>"),
        ] {
            assert_eq!(shown(marks, text), wanted, "{text}");
        }
    }

    #[test]
    fn nothing_is_marked_outside_of_the_ranges() {
        let text = "An oven of stone. The oven is hot.";
        let marks = Marks::of_text("The oven is hot.");
        assert_eq!(
            marks.show_in(text, from_ref(&(18..34))).into_string(),
            "An oven of stone. <mark>The oven is hot</mark>."
        );
        let all = Marks::of_everything();
        assert_eq!(
            all.show_in("né. <b>", from_ref(&(5..99))).into_string(),
            "né. <mark>&lt;b&gt;</mark>"
        );
        // A range that ends inside a character marks nothing.
        assert_eq!(all.show_in("né", from_ref(&(0..2))).into_string(), "né");
        assert_eq!(all.show_in("abc", &[]).into_string(), "abc");
    }
}
