//! Closes what is open at the end of a text, so that a text put after it is not swallowed.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::comments;
use super::shallow::shallow;

/// A line that is a heading unless a block above it is still open.
const PROBE: &str = "\n\n# probe\n";

/// How often the end is closed: a `%%` that is open, then one block.
const ATTEMPTS: usize = 2;

/// The same markdown with an open fence, HTML block or comment at its end closed, so that a heading
/// after it is a heading. A `%%` that opens a comment without an end gets a backslash.
pub fn closed(text: &str) -> String {
    let mut out = without_open_comment(text);
    for _ in 0..ATTEMPTS {
        let Some(end) = end_of_open_block(&out) else {
            break;
        };
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&end);
    }
    // In a fence or an HTML block that is closed now, a `%%` may count again.
    without_open_comment(&out)
}

/// The byte ranges of code blocks in markdown, in order.
pub fn code_blocks(text: &str) -> Vec<Range<usize>> {
    Parser::new_ext(&shallow(text), super::dialect())
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect()
}

/// The text with a backslash before a `%%` that opens a comment without an end.
fn without_open_comment(text: &str) -> String {
    let (masked, _) = comments::mask(text);
    match comments::unclosed(&masked) {
        // `%\%`, so that the first sign does not become a mark with one before it.
        Some(at) => format!("{}\\{}", &text[..=at], &text[at + 1..]),
        None => text.to_owned(),
    }
}

/// What closes the block that is open at the end of the text; `None` if none is.
fn end_of_open_block(text: &str) -> Option<String> {
    let probed = format!("{text}{PROBE}");
    let (masked, _) = comments::mask(&probed);
    let mut last = None;
    for (event, range) in Parser::new_ext(&masked, super::dialect()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => last = Some((true, range)),
            Event::Start(Tag::HtmlBlock) => last = Some((false, range)),
            _ => {}
        }
    }
    let (is_code, range) = last.filter(|(_, range)| range.end > text.len() + 2)?;
    let opening = masked.get(range)?.trim_start();
    Some(match is_code {
        true => fence(opening),
        false => end_of_html(opening).to_owned(),
    })
}

/// The fence with which a code block begins.
fn fence(block: &str) -> String {
    let mark = block.chars().next();
    block.chars().take_while(|c| Some(*c) == mark).collect()
}

/// The end of an HTML block that blank lines do not end.
fn end_of_html(block: &str) -> &'static str {
    let begins = |mark: &str| {
        block
            .get(..mark.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    let ends = [
        ("<!--", "-->"),
        ("<![CDATA[", "]]>"),
        ("<?", "?>"),
        ("<!", ">"),
        ("<script", "</script>"),
        ("<style", "</style>"),
        ("<textarea", "</textarea>"),
    ];
    let end = ends.into_iter().find(|(start, _)| begins(start));
    end.map_or("</pre>", |(_, end)| end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{ChunkOptions, Scheme, parse};
    use proptest::prelude::*;

    /// The tags of a text and of a card below it.
    fn tags_below(text: &str) -> Vec<String> {
        let options = ChunkOptions {
            scheme: Scheme::ObsidianV2,
            max_tokens: 1000,
            max_chars: 1000,
            overlap: 0,
        };
        let both = format!("# a\n\n{}\n\n# next\n\nplain #below %% x\n", closed(text));
        parse(&both, &options, &str::len).tags
    }

    #[test]
    fn nothing_that_is_open_swallows_the_text_below() {
        for text in [
            "```sh\nx",
            "~~~~\nx\n~~~",
            "   ```\nx",
            "```x```",
            "```~~~",
            "~~~```",
            "    ```\nx",
            "- a\n  ```\n  x",
            "> ```\n> x",
            "a <!-- x",
            "<!-- x",
            "<SCRIPT>\nx\n\ny",
            "<pre>\nx",
            "<?x",
            "<!X",
            "<![CDATA[ x",
            "<div>\nx",
            "a %% b",
            "%%",
            "%%%",
            "a %% b %% c %% d",
            "```\n%%\n```\n%% x",
            "%% a\n```\nb",
            "<!-- %%\n",
            "`a",
            "[a",
        ] {
            assert_eq!(tags_below(text), ["below"], "{text:?} → {:?}", closed(text));
        }
    }

    #[test]
    fn what_is_closed_stays_as_it_is() {
        for text in [
            "",
            "a",
            "```\nx\n```",
            "a %%b%% c",
            "<!-- a -->\n\nb",
            "```x```",
        ] {
            assert_eq!(closed(text), text);
        }
        assert_eq!(closed("```\nx"), "```\nx\n```");
        assert_eq!(closed("a %% b"), "a %\\% b");
    }

    proptest! {
        #[test]
        fn any_text_keeps_to_itself(text in "(```|~~~|<!--|-->|%%|%|\\\\|<pre>|</pre>|<\\?| |\n|a|> |- ){0,14}") {
            prop_assert_eq!(tags_below(&text), ["below"], "{:?}", closed(&text));
        }
    }
}
