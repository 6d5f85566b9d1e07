//! Claims in markup: inline tags, headings, link addresses.

use super::*;

/// Whether `answer` may be shown when `note` is the evidence.
fn is_shown(note: &str, answer: &str) -> bool {
    check_in(answer, &snapshot(&[note])).ok
}

#[test]
fn harmless_markup_passes() {
    for (note, answer) in [
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "<b>The boiler runs at 4 bar</b> [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "The boiler runs<br>at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "# Boiler\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "# Summary\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "## Step 1: Check the pressure\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual](https://example.org/manual) [E1].",
        ),
    ] {
        assert!(is_shown(note, answer), "{note} | {answer}");
    }
}

#[test]
fn markup_hides_no_claim_and_no_foreign_address() {
    for (note, answer) in [
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "<b>The boiler explodes at noon.</b> The boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "The boiler runs at 4 bar [E1]. <i>It explodes at noon.</i>",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "<p>The boiler explodes at noon.</p>\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "<div>\nThe boiler explodes at noon.\n</div>\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "<details><summary>The boiler explodes at noon</summary></details>\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "# Mara Lind stole the money\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "## The boiler explodes\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "## The boiler runs at 9 bar\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "# Mara Lind\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "# The boiler is broken\n\nThe boiler runs at 4 bar [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual](https://evil.example/manual) [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual](javascript:alert(1)) [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual](data:text/html,x) [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has a manual <https://evil.example> [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has ![a manual](https://evil.example/x.png) [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual][1] [E1].\n\n[1]: https://evil.example/x",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual](//evil.example/x) [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual](file:///etc/passwd) [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has [a manual](mailto:evil@evil.example) [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has <a href=\"https://evil.example\">a manual</a> [E1].",
        ),
        (
            "See [the manual](https://example.org/manual) for the boiler.",
            "The boiler has <a href='javascript:alert(1)'>a manual</a> [E1].",
        ),
    ] {
        assert!(!is_shown(note, answer), "{note} | {answer}");
    }
}

/// The note has the name, so the heading passed: what it says of the name was not looked at.
#[test]
fn a_heading_that_says_what_somebody_did_is_a_claim() {
    let note =
        "The boiler of the north hall runs at 72 degrees. It was inspected by Mara Lind in May.";
    let cited = "The boiler of the north hall runs at 72 degrees [E1].";
    for heading in [
        "# Mara Lind stole the money",
        "# Mara Lind stole the money #",
        "Mara Lind stole the money\n===",
        "**Mara Lind stole the money**",
        "# Mara Lind resigned in May",
        "# Mara Lind Sold the Boiler",
    ] {
        assert!(
            !is_shown(note, &format!("{heading}\n\n{cited}")),
            "{heading}"
        );
    }
    for heading in [
        "# Mara Lind",
        "# The boiler",
        "# Inspection by Mara Lind",
        "**Mara Lind**",
        "# What Mara Lind inspected",
    ] {
        assert!(
            is_shown(note, &format!("{heading}\n\n{cited}")),
            "{heading}"
        );
    }
}

/// An element beside all sentences was no part of any claim, and was shown.
#[test]
fn html_that_loads_runs_or_hides_something_is_in_the_cited_text_or_not_shown() {
    let note = "The boiler runs at 4 bar. <img src=\"gauge.png\">";
    let cited = "The boiler runs at 4 bar [E1].";
    for element in [
        "<img src=\"http://evil.example/x.png\">",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<video src=\"http://evil.example/x.mp4\"></video>",
        "<script>alert(1)</script>",
        "<!-- Bob Stone stole the money. -->",
        "<iframe src=//evil.example>",
    ] {
        for answer in [
            format!("{cited} {element}"),
            format!("{cited}\n\n{element}"),
            format!("{element}\n\n{cited}"),
            format!("The boiler {element} runs at 4 bar [E1]."),
            format!("- {cited}\n- {element}"),
        ] {
            assert!(!is_shown(note, &answer), "{answer}");
        }
    }
    for answer in [
        format!("{cited}\n\n`<svg onload=x>` is shown nowhere [E1]."),
        format!("{cited}<br><br>"),
    ] {
        let is_refused = check_in(&answer, &snapshot(&[note])).claims;
        let is_html = |claim: &Claim| claim.why.contains("contains this HTML");
        assert!(!is_refused.iter().any(is_html), "{answer}");
    }
}

/// A description of a picture is rejected if the note has no such picture.
#[test]
fn a_picture_that_the_cited_text_does_not_have_is_not_shown() {
    let note = "The boiler runs at 4 bar. ![its gauge](gauge.png)";
    for answer in [
        "The boiler runs at 4 bar ![the boiler explodes](x.png) [E1].",
        "[![The boiler explodes](x.png)](boiler.md) The boiler runs at 4 bar [E1].",
        "![The [old] boiler explodes](x.png) The boiler runs at 4 bar [E1].",
        "The boiler runs at 4 bar ![[The boiler explodes.png]] [E1].",
        "The boiler runs at 4 bar <img alt=\"the boiler explodes\" src=\"x.png\"> [E1].",
        "The boiler runs at 4 bar [E1]. ![The boiler explodes](x.png)",
        "The boiler runs at 4 bar [E1]. ![](x.png \"The boiler explodes\")",
        // The address "e" appears in the note as part of a word, not as an address.
        "![The boiler explodes](e) The boiler runs at 4 bar [E1].",
        "![The boiler explodes]() The boiler runs at 4 bar [E1].",
    ] {
        assert!(!is_shown(note, answer), "{answer}");
    }
    assert!(is_shown(
        note,
        "The boiler runs at 4 bar ![its gauge](gauge.png) [E1]."
    ));
}
