//! Recognises texts that only refer to other places: contents lists, lists of links.

use std::ops::Range;

use super::outline::Outline;

/// Minimum number of links in such a text.
const FEWEST: usize = 3;

/// Whether the text (markdown) consists of links, headings, numbers and marks only.
pub fn is_list_of_links(text: &str) -> bool {
    let outline = Outline::of(text);
    if outline.links.len() < FEWEST {
        return false;
    }
    let links = outline
        .links
        .iter()
        .map(|link| link.span.start()..link.span.end());
    let headings = outline.headings.iter();
    let headings = headings.filter_map(|heading| outline.nodes.get(heading.node));
    let mut skipped: Vec<Range<usize>> = links.collect();
    skipped.extend(headings.map(|node| node.range.clone()));
    skipped.sort_by_key(|range| range.start);
    let mut at = 0;
    for range in skipped {
        if range.start > at && says_something(&text[at..range.start]) {
            return false;
        }
        at = at.max(range.end);
    }
    !says_something(&text[at..])
}

fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_and_lists_of_links_say_nothing_else() {
        for list in [
            "# Contents\n\n- [One](#one)\n- [Two](#two)\n    - [Three](#three)\n",
            "1. [[One]]\n2. [[Two|second]]\n3) [[Three]]\n",
            "[[a]] · [[b]] | [[c]]\n",
        ] {
            assert!(is_list_of_links(list), "{list}");
        }
        for text in [
            "- [[One]]\n- [[Two]]\n",
            "- [[One]]: what is first\n- [[Two]]\n- [[Three]]\n",
            "See [[a]], [[b]] and [[c]].\n",
            "# Title\n\nText without links.\n",
            "",
        ] {
            assert!(!is_list_of_links(text), "{text}");
        }
    }
}
