use super::*;
use proptest::prelude::*;

/// Every target as `path part`.
fn found(text: &str) -> Vec<String> {
    shown(&file_citations(text).citations)
}

fn shown(citations: &[FileCitation]) -> Vec<String> {
    citations
        .iter()
        .flat_map(|citation| &citation.targets)
        .map(|target| {
            let part = match &target.part {
                CitedPart::Whole => String::new(),
                CitedPart::Lines { first, last } => format!(":{first}-{last}"),
                CitedPart::Heading(heading) => format!("#{heading}"),
                CitedPart::Block(block) => format!("#^{block}"),
                CitedPart::Unclear { lines: None } => "?".to_owned(),
                CitedPart::Unclear { lines: Some(lines) } => format!("?{lines}"),
            };
            let note = if target.is_note { "note " } else { "" };
            format!("{note}{}{part}", target.path)
        })
        .collect()
}

#[test]
fn lines_are_read_in_every_spelling() {
    for (text, expected) in [
        ("It is so [notes/a.md:12-18].", "notes/a.md:12-18"),
        ("It is so [a.md:7]", "a.md:7-7"),
        ("It is so [notes:a.md:7]", "notes:a.md:7-7"),
        (
            "[the plan](my%20notes/a.md#L3-L4) says",
            "my notes/a.md:3-4",
        ),
        ("([1](a.md#L3))", "a.md:3-3"),
        ("[x](a.md:3-5)", "a.md:3-5"),
        ("It is `src/a.rs:12`.", "src/a.rs:12-12"),
        ("It is ``src/a.rs:12–14``.", "src/a.rs:12-14"),
        ("It is (src/a.rs:12:5).", "src/a.rs:12-12"),
        ("[`a.rs`](src/a.rs#L3C1-L4C9)", "src/a.rs:3-4"),
        ("It is so (see notes/a.md line 12).", "notes/a.md:12-12"),
        ("It is so (a.md, lines 12-18).", "a.md:12-18"),
        ("It is so (See a.md:7).", "a.md:7-7"),
        ("It is so (see also a.md, Line 2).", "a.md:2-2"),
        ("So ist es (siehe a.md, Zeile 3).", "a.md:3-3"),
        ("It is so (source: `a.md:8`).", "a.md:8-8"),
        ("It is so [source: a.md:8].", "a.md:8-8"),
        ("It is so [Source: `notes/a.md:8-9`].", "notes/a.md:8-9"),
        ("So ist es (Quelle: a.md:8).", "a.md:8-8"),
        ("It is so (source: a.md, line 8).", "a.md:8-8"),
        // A source of this name.
        ("It is so [source:a.md:8].", "source:a.md:8-8"),
    ] {
        assert_eq!(found(text), [expected], "{text}");
    }
    assert_eq!(
        found("[a.md:1-2, 7; b.md:4]"),
        ["a.md:1-2", "a.md:7-7", "b.md:4-4"]
    );
}

#[test]
fn what_is_meant_as_a_citation_and_names_no_part_is_found() {
    for (text, expected) in [
        ("It is so [a.md].", "a.md?"),
        ("It is so [notes/a.md].", "notes/a.md?"),
        ("It is so [a.md:0].", "a.md?0"),
        ("It is so [a.md:9-8].", "a.md?9-8"),
        ("It is so `a.md:9-8`.", "a.md?9-8"),
        ("It is so [source: a.md].", "a.md?"),
    ] {
        let unclear = shown(&file_citations(text).unclear);
        assert_eq!(unclear, [expected], "{text}");
    }
    for plain in [
        "The plan (a.md) says so.",
        "The plan `a.md` says so.",
        "[a.md]: https://example.org",
        "An [option] or a [list, of things].",
        "It is so [E1].",
    ] {
        assert!(file_citations(plain).unclear.is_empty(), "{plain}");
    }
}

#[test]
fn files_sections_and_notes_are_read() {
    for (text, expected) in [
        ("See [the plan](notes/a.md).", "notes/a.md"),
        ("See [the plan](<my notes/a.md>).", "my notes/a.md"),
        ("See [the plan](a.md \"Title\").", "a.md"),
        ("See [the plan](a.md#the-budget).", "a.md#the-budget"),
        ("It is 5 [a.md#The budget].", "a.md#The budget"),
        ("It is 5 [notes:a.md#^sum].", "notes:a.md#^sum"),
        ("It is 5 (work/a.md#^sum).", "work/a.md#^sum"),
        ("It is 5 [[Plan]].", "note Plan"),
        (
            "It is 5 [[work/Plan#The budget|plan]].",
            "note work/Plan#The budget",
        ),
        ("It is 5 [[Plan#Money#The budget]].", "note Plan#The budget"),
        ("It is 5 [[Plan#^b1]].", "note Plan#^b1"),
        ("It is 5 [[plan.md]].", "plan.md"),
        ("| It is 5 | [[Plan\\|p]] |", "note Plan"),
    ] {
        assert_eq!(found(text), [expected], "{text}");
    }
}

#[test]
fn a_footnote_that_only_cites_is_a_citation_where_its_mark_is() {
    let text = "It is 5.[^1] It is 6.[^n]\n\n[^1]: a.md:12\n[^n]: [the plan](b.md#L3), [[Plan]].\n";
    assert_eq!(found(text), ["a.md:12-12", "b.md:3-3", "note Plan"]);
    let notes = file_citations(text).footnotes;
    assert_eq!(notes.len(), 2);
    assert!(text[notes[1].clone()].starts_with("[^n]"));
    // A footnote that makes a statement is text.
    let says = "It is 5.[^1]\n\n[^1]: The budget is 5 [a.md:12].\n";
    assert_eq!(found(says), ["a.md:12-12"]);
    assert!(file_citations(says).footnotes.is_empty());
}

#[test]
fn other_brackets_are_no_citations() {
    for text in [
        "[E1] [12:30] [a.md:0] [a.md:9-3] [b:3]",
        "[u](http://a.b:80) [u](mailto:a@b.de) [x](#here) [x](folder/)",
        "`std::vec` `a.rs` `let x: u8 = 3` `x[a.md:3]`",
        "![picture](a.md) ![[Plan]]",
        "(see the plan) (12:30) (http://a.b/c:80)",
        "```\n[a.md:3]\n```\n",
        "<!-- [a.md:3] --> %%[a.md:3]%%",
        "It is 5.[^1]",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

/// They were taken for citations of files without an extension.
#[test]
fn remarks_with_a_slash_and_a_line_are_no_citations() {
    for text in [
        "Take the tram (M10/M13 line 5).",
        "It runs (on the 24/7 line 2).",
        "It runs (we take the U/S-Bahn line 5).",
        "It says so (see his/her line 2).",
        "It says so (see version 1.2 line 3).",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn words_of_a_link_stay_words() {
    let words = |text: &str| {
        file_citations(text).citations[0]
            .words
            .clone()
            .map(|range| text[range].to_owned())
    };
    for (text, expected) in [
        ("[The budget](a.md#L3) is 5.", "The budget"),
        ("[[Plan|The budget]] is 5.", "The budget"),
        ("[[Plan]] says that it is 5.", "Plan"),
    ] {
        assert_eq!(words(text).as_deref(), Some(expected), "{text}");
    }
    for text in [
        "[1](x/a.md#L3)",
        "[a.md](x/a.md#L3)",
        "[a](x/a.md#L3)",
        "[a.md:3](x/a.md#L3)",
        "[source](x/a.md#L3)",
        "It is 5 [[Plan]].",
        "It is 5 [[Plan|1]].",
    ] {
        assert_eq!(words(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(
        text in any::<String>(),
        md in "[\\[\\]()a./:#L0-9%^|`! \n-]{0,60}",
    ) {
        for t in [&text, &md] {
            let found = file_citations(t);
            let mut last = 0;
            for c in found.citations {
                prop_assert!(t.get(c.span.clone()).is_some() && c.span.start >= last);
                prop_assert!(!c.targets.is_empty());
                last = c.span.end;
                prop_assert!(c.words.is_none_or(|w| t.get(w).is_some()));
            }
        }
    }
}

#[test]
fn footnotes_inside_footnotes_and_endless_openings_are_read_in_linear_time() {
    // Each of these overflowed the stack, or took a minute.
    for opening in ["[^a]:", "[[", "![[", "`` ` ", "[^a] "] {
        let text = opening.repeat(300_000);
        assert_eq!(file_citations(&text), FileCitations::default(), "{opening}");
    }
}
