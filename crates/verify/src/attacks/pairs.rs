//! Minimal pairs: one note, an answer that agrees with it, and one that does not.

use super::*;

/// Whether `answer` may be shown when `note` is the evidence.
fn passes_over(note: &str, answer: &str) -> bool {
    check_in(answer, &snapshot(&[note])).ok
}

#[test]
fn what_the_note_says_passes() {
    for (note, answer) in [
        (
            "The Enterprise plan has single sign-on. The Basic plan does not.",
            "The Basic plan does not have single sign-on [E1].",
        ),
        (
            "The Enterprise plan has single sign-on. The Basic plan does not.",
            "The Basic plan has no single sign-on [E1].",
        ),
        (
            "The Enterprise plan has single sign-on. The Basic plan does not.",
            "The Enterprise plan has single sign-on [E1].",
        ),
        (
            "- **Live editing.** Not available.",
            "Live editing is not available [E1].",
        ),
        (
            "Supported image formats are JPEG, PNG and GIF.",
            "JPEG, PNG and GIF are supported [E1].",
        ),
        (
            "The harbour closed in March because the ice was thick.",
            "The harbour closed in March because the ice was thick [E1].",
        ),
        (
            "The ice was thick, so the harbour closed in March.",
            "The harbour closed in March because the ice was thick [E1].",
        ),
        (
            "| Plan | Encryption |\n| --- | --- |\n| Free | Yes |\n| Team | Yes |\n",
            "The free plan includes encryption [E1].",
        ),
        (
            "| Plan | Encryption |\n| --- | --- |\n| Free | No |\n| Team | Yes |\n",
            "The free plan does not include encryption [E1].",
        ),
        (
            "You can sign in with:\n\n- a password\n- a security key\n",
            "There are two methods to sign in: a password and a security key [E1].",
        ),
        (
            "You can sign in with:\n\n- a password\n- a security key\n",
            "You can sign in in two ways [E1].",
        ),
        (
            "You can sign in with:\n\n- a password\n- a security key\n",
            "You can sign in with both a password and a security key [E1].",
        ),
        (
            "1. Close the valve.\n2. Drain the tank.\n3. Open the cover.\n",
            "First close the valve, then drain the tank, and finally open the cover [E1].",
        ),
        (
            "1. Close the valve.\n2. Drain the tank.\n3. Open the cover.\n",
            "Close the valve, drain the tank and open the cover [E1].",
        ),
        (
            "1. Close the valve.\n2. Drain the tank.\n3. Open the cover.\n",
            "Drain the tank before you open the cover [E1].",
        ),
        (
            "The tool reads at most 20 files at once.",
            "The tool reads up to 20 files at once [E1].",
        ),
        (
            "All members may edit the page, except the owner.",
            "Everyone except the owner may edit the page [E1].",
        ),
        (
            "Run this:\n\n```sh\ncargo run --release\n```\n",
            "Run this [E1]:\n\n```sh\ncargo run --release\n```",
        ),
        ("The pump weighs 1,200 kg.", "The pump weighs 1200 kg [E1]."),
        ("The pump weighs 1,200 kg.", "The pump weighs 1.2 t [E1]."),
        ("The camp lasts two weeks.", "The camp lasts 2 weeks [E1]."),
        ("The grant is 5 million euros.", "The grant is €5m [E1]."),
        (
            "Press the reset button for five seconds.",
            "Press the reset button for 5 seconds [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "The boiler runs at 4 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "The boiler runs at 72 degrees [E1].",
        ),
    ] {
        assert!(passes_over(note, answer), "{note} | {answer}");
    }
}

#[test]
fn what_it_does_not_say_is_refused() {
    for (note, answer) in [
        (
            "The Enterprise plan has single sign-on. The Basic plan does not.",
            "The Basic plan has single sign-on [E1].",
        ),
        (
            "The Enterprise plan has single sign-on. The Basic plan does not.",
            "The Enterprise plan does not have single sign-on [E1].",
        ),
        (
            "- **Live editing.** Not available.",
            "Live editing is available [E1].",
        ),
        (
            "The viewer opens images in common formats.",
            "Image formats: TIFF, BMP [E1].",
        ),
        (
            "Supported image formats are JPEG, PNG and GIF.",
            "JPEG, PNG and BMP are supported [E1].",
        ),
        (
            "Supported image formats are JPEG, PNG and GIF.",
            "The formats are JPEG, PNG and BMP [E1].",
        ),
        (
            "Supported image formats are JPEG, PNG and GIF.",
            "Supported image formats: JPEG, PNG, BMP [E1].",
        ),
        (
            "The harbour closed in March. The pier is old.",
            "The harbour closed in March because the crane driver was ill [E1].",
        ),
        (
            "| Plan | Encryption |\n| --- | --- |\n| Free | Yes |\n| Team | Yes |\n",
            "The free plan does not include encryption [E1].",
        ),
        (
            "| Plan | Encryption |\n| --- | --- |\n| Free | No |\n| Team | Yes |\n",
            "The free plan includes encryption [E1].",
        ),
        (
            "You can sign in with:\n\n- a password\n- a security key\n",
            "There are three methods to sign in: a password and a security key [E1].",
        ),
        (
            "1. Close the valve.\n2. Drain the tank.\n3. Open the cover.\n",
            "First drain the tank, then close the valve, and finally open the cover [E1].",
        ),
        (
            "1. Close the valve.\n2. Drain the tank.\n3. Open the cover.\n",
            "Open the cover before you drain the tank [E1].",
        ),
        (
            "The tool reads at most 20 files at once.",
            "The tool reads at least 20 files at once [E1].",
        ),
        (
            "The pump weighs 1,200 kg.",
            "The pump weighs 1,300 kg [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "The boiler runs at 72 bar [E1].",
        ),
        (
            "The boiler runs at 72 degrees and 4 bar.",
            "The pressure is 72 bar [E1].",
        ),
    ] {
        assert!(!passes_over(note, answer), "{note} | {answer}");
    }
}

/// The verdict on the first claim of `answer` when `note` is the evidence.
fn verdict_over(note: &str, answer: &str) -> Verdict {
    check_in(answer, &snapshot(&[note])).claims[0].verdict
}

#[test]
fn a_first_word_that_no_dictionary_has_is_a_doubtful_name() {
    let note = "In the last match the guard gave up 308 points against the visitors.";
    let claim = "Castellane gave up 308 points against the visitors [E1].";
    assert_eq!(verdict_over(note, claim), Verdict::Doubtful);
    for own_word in [
        "Defenders gave up 308 points against the visitors [E1].",
        "Unfortunately the guard gave up 308 points against the visitors [E1].",
    ] {
        assert_ne!(
            verdict_over(note, own_word),
            Verdict::Doubtful,
            "{own_word}"
        );
    }
}

#[test]
fn the_difference_of_two_amounts_of_a_row_is_derived() {
    let note = "| Measure | Goal | Reached |\n| --- | --- | --- |\n| Visitors | 8,000 | 9,300 |\n";
    let right = "The number of visitors is 1,300 above the goal [E1].";
    let wrong = "The number of visitors is 1,500 above the goal [E1].";
    assert!(passes_over(note, right));
    assert!(!passes_over(note, wrong));
}

#[test]
fn not_smaller_than_is_a_comparison_and_no_denial() {
    let note = "The result is undefined if the width is greater than or equal to the limit.";
    let answer = "The result is undefined if the width is not smaller than the limit [E1].";
    assert!(passes_over(note, answer));
}
