//! HTML of an answer that may load or run something, or that a reader does not see.

use std::ops::Range;

/// Elements that load or run something, or ask for input, even without attributes.
const ACTIVE: &[&str] = list!("markup.active");

/// Attributes that neither load nor run anything.
const PLAIN: &[&str] = list!("markup.plain");

/// A comment with fewer words is an instruction for a program: "<!-- prettier-ignore -->".
const SAYS_SOMETHING: usize = 3;

/// The elements of some HTML that have attributes, are active, or are comments; in order. Plain
/// elements such as `<b>` only format, and unknown ones such as `<String>` do nothing.
pub(crate) fn active_elements(html: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = html.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + start;
        let rest = html.get(start..).unwrap_or("");
        let close = if rest.starts_with("<!--") { "-->" } else { ">" };
        let length = rest.find(close).map_or(rest.len(), |end| end + close.len());
        let element = rest.get(..length).unwrap_or(rest);
        if is_active(element) {
            out.push(start..start + length);
        }
        at = start + length;
    }
    out
}

fn is_active(element: &str) -> bool {
    let inner = element.trim_start_matches('<');
    if let Some(comment) = inner.strip_prefix("!--") {
        let words = comment.split_whitespace();
        let words = words.filter(|word| word.starts_with(char::is_alphabetic));
        return words.count() >= SAYS_SOMETHING;
    }
    if inner.starts_with(['!', '?']) {
        return true;
    }
    let name = inner.trim_start_matches('/');
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(name.len());
    let name = name.get(..end).unwrap_or("").to_ascii_lowercase();
    !name.is_empty() && (ACTIVE.contains(&name.as_str()) || !has_only_plain_attributes(element))
}

/// Whether every word before a "=" is the name of an attribute that neither loads nor runs anything.
fn has_only_plain_attributes(element: &str) -> bool {
    let parts: Vec<&str> = element.split('=').collect();
    let names = parts.split_last().map_or(&[][..], |(_, before)| before);
    names.iter().all(|part| {
        let part = part.trim_end();
        let start = part
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .map_or(0, |at| at + 1);
        let name = part.get(start..).unwrap_or("").to_ascii_lowercase();
        PLAIN.contains(&name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_load_run_or_hide_something_are_found() {
        for active in [
            "<img src=\"http://a.b/x.png\">",
            "<IMG SRC=x onerror=alert(1)>",
            "<svg onload=alert(1)>",
            "<svg/onload=alert(1)>",
            "<script>",
            "</script >",
            "<iframe",
            "<a href='x'>",
            "<b style=\"x\">",
            "<!-- Bob stole it -->",
            "<a id=\"x\"onclick=alert(1)>",
            "<!DOCTYPE html>",
            "<?php x ?>",
        ] {
            let whole = 0..active.len();
            assert_eq!(active_elements(active), [whole], "{active}");
        }
        for plain in [
            "<b>",
            "<a id=\"x\">",
            "<!-- toc -->",
            "</b>",
            "<br/>",
            "<String>",
            "a < b = c",
            "",
            "< img",
        ] {
            assert!(active_elements(plain).is_empty(), "{plain}");
        }
        assert_eq!(
            active_elements("<p>x<!-- a\nb c -->y<img src=z>"),
            [4..18, 19..30]
        );
    }
}
