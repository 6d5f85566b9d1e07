//! An answer with its proof: below each sentence the cited lines with their numbers, in which the
//! words of the sentence are highlighted and what differs is underlined; next to it the evidence.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::marks::Marks;
use super::page::{Shell, behind, first_and_last, in_query_of_link, items, page, place, text};
use local_agent_verify::Counts;

/// The most lines of a proof that are shown without being asked for.
const FEW_LINES: usize = 8;

/// The most words of a refused sentence that are underlined although they are no numbers.
const FEW_WORDS: usize = 4;

/// A report of the verifier with the texts that it is about.
pub(super) struct Proof<'v> {
    pub report: &'v Value,
    /// The items of the evidence, each with its text; empty if it cannot be read.
    pub passages: Vec<(&'v Value, &'v str)>,
    /// What the ids of the evidence begin with, so that two proofs fit on one page.
    pub prefix: &'static str,
}

/// An answer: each sentence with its verdict and its proof, next to the evidence. `passages` are
/// the current words of each evidence item.
pub(super) fn answered(shell: &Shell, answer: &Value) -> Markup {
    page(&shell.text, shell, &answer_content(shell, answer))
}

/// An answer without the frame.
pub(super) fn answer_content(shell: &Shell, answer: &Value) -> Markup {
    let texts = items(answer, "passages").iter();
    let texts = texts.map(|passage| passage.as_str().unwrap_or_default());
    let proof = Proof {
        report: &answer["citation_validation"],
        passages: items(answer, "evidence").iter().zip(texts).collect(),
        prefix: "",
    };
    html! {
        h1 dir="auto" { (shell.text) }
        div class="proof" {
            section aria-label="Answer" { (judged(answer, &proof)) }
            section aria-label="Evidence" { h2 { "Evidence" } (proof.evidence()) }
        }
        @if let Some(id) = answer["run_id"].as_str() {
            p class="trail" { a href={ "/run?id=" (in_query_of_link(id)) } { "The record of this answer" } }
        }
        (behind(answer))
    }
}

fn judged(answer: &Value, proof: &Proof<'_>) -> Markup {
    html! {
        @match text(answer, "outcome") {
            "closest" => { p { "No sentence answers this for certain. These passages come closest:" } }
            "abstained" => { p { "The notes hold nothing on this." } }
            _ => {}
        }
        @if let Some(computed) = answer["computed"].as_object() {
            p class="computed" {
                (computed.get("value").and_then(Value::as_str).unwrap_or_default()) " = "
                (computed.get("arithmetic").and_then(Value::as_str).unwrap_or_default())
            }
        }
        (proof.sentences())
        @if let Some(why) = answer["why"].as_str() { p class="why" { (why) } }
        @for left_out in items(answer, "left_out") {
            div class="refused" {
                @let said = text(left_out, "sentence");
                @let found = text(&left_out["source"], "text");
                p {
                    "Left out: “" bdi { (Marks::default().with_differing(only_in(said, found)).show(said)) }
                    "” " bdi { (text(left_out, "reason")) }
                }
                @if left_out["source"].is_object() {
                    p class="place" { (place(&left_out["source"])) }
                    blockquote { (Marks::default().with_differing(only_in(found, said)).show(found)) }
                }
            }
        }
        (proof.faults())
    }
}

/// The words of one sentence that another does not have; only its numbers if many of its words
/// differ.
fn only_in<'t>(one: &'t str, other: &str) -> Vec<&'t str> {
    if other.is_empty() {
        return Vec::new();
    }
    let lower = other.to_lowercase();
    let known: Vec<&str> = words_of(&lower).collect();
    let differing: Vec<&str> = words_of(one)
        .filter(|word| !known.contains(&word.to_lowercase().as_str()))
        .collect();
    let is_number = |word: &&str| word.contains(|c: char| c.is_numeric());
    match differing.len() > FEW_WORDS {
        true => differing.into_iter().filter(is_number).collect(),
        false => differing,
    }
}

/// The words of a text; a point or comma inside a number is a part of it.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',');
    let words = text.split(move |c: char| !is_part(c));
    words
        .map(|word| word.trim_matches(['.', ',']))
        .filter(|word| !word.is_empty())
}

impl<'v> Proof<'v> {
    /// The sentences, each with its verdict and its proof.
    pub(super) fn sentences(&self) -> Markup {
        html! {
            ul class="claims" {
                @for claim in items(self.report, "claims") {
                    li class=(text(claim, "verdict")) {
                        p dir="auto" {
                            span class="verdict" { (text(claim, "verdict")) } " "
                            (Marks::default().with_differing(words(claim, &SAID)).show(text(claim, "text")))
                            @for label in labels(claim) {
                                " " a class="cite" href={ "#" (self.prefix) (label) } { (label) }
                            }
                        }
                        @for place in places(claim) { (self.cited(claim, place)) }
                        p class="why" { (text(claim, "why")) }
                    }
                }
            }
        }
    }

    /// The lines of a place in the evidence, with the words of the claim highlighted.
    fn cited(&self, claim: &Value, at: &'v Value) -> Markup {
        let lines = self.lines(at);
        let marks = Marks::of_text(text(claim, "text")).with_differing(words(claim, &FOUND));
        html! {
            p class="place" { (place(at)) }
            @if lines.len() > FEW_LINES {
                details { summary { (lines.len()) " lines" } (numbered(&lines, &marks)) }
            } @else {
                (numbered(&lines, &marks))
            }
            (self.cut(at))
        }
    }

    /// The item of the evidence that a place is in, with its text.
    fn item(&self, at: &Value) -> Option<(&'v Value, &'v str)> {
        let mut passages = self.passages.iter();
        let found = passages.find(|(item, _)| item["label"] == at["label"]);
        found.copied()
    }

    /// Whether the text of a place is not whole, because a record keeps only a part of it.
    fn is_cut(&self, at: &Value) -> bool {
        let (Some((item, text)), Some((_, last))) = (self.item(at), first_and_last(at)) else {
            return false;
        };
        let first = first_and_last(item).map_or(1, |(first, _)| first);
        // The last line may be cut, unless its end is there.
        let whole_lines = text.matches('\n').count();
        item["excerpt_truncated"] == json!(true) && first + whole_lines <= last
    }

    /// The line that says so if the text of a place is not whole.
    fn cut(&self, at: &Value) -> Markup {
        html! { @if self.is_cut(at) { p class="cut" { "… The record keeps no more of this text." } } }
    }

    /// The numbered lines of a place; empty if its text cannot be read.
    fn lines(&self, at: &Value) -> Vec<(usize, &'v str)> {
        let (Some((item, text)), Some((first, last))) = (self.item(at), first_and_last(at)) else {
            return Vec::new();
        };
        let from = first_and_last(item).map_or(first, |(first, _)| first);
        let numbered = (from..).zip(text.lines());
        numbered
            .filter(|(number, _)| (first..=last).contains(number))
            .collect()
    }

    /// The items of the evidence, with the words of the sentences that cite them highlighted.
    pub(super) fn evidence(&self) -> Markup {
        html! {
            @for (item, _) in &self.passages {
                article id={ (self.prefix) (text(item, "label")) } {
                    h3 { (text(item, "label")) " " (place(item)) }
                    (numbered(&self.lines(item), &self.marks_of(item)))
                    (self.cut(item))
                }
            }
        }
    }

    fn marks_of(&self, item: &Value) -> Marks<'v> {
        let label = text(item, "label");
        let claims = items(self.report, "claims").iter();
        let citing: Vec<&Value> = claims
            .filter(|claim| labels(claim).contains(&label))
            .collect();
        let texts: Vec<&str> = citing.iter().map(|claim| text(claim, "text")).collect();
        let found = citing.iter().flat_map(|claim| words(claim, &FOUND));
        Marks::of_text(&texts.join("\n")).with_differing(found.collect())
    }

    /// The line that counts wrong citations, if there are any.
    pub(super) fn faults(&self) -> Markup {
        let counts = Counts::of_report(self.report);
        let faults = counts.and_then(|counts| counts.in_words());
        html! { @if let Some(faults) = faults { p class="checks" { (faults) } } }
    }
}

/// The parts of a finding with words of the sentence.
const SAID: [&str; 3] = ["said", "first", "second"];

/// The parts of a finding with words of the evidence.
const FOUND: [&str; 2] = ["found", "belongs_to"];

/// What the findings about a claim say of its words, or of those of the evidence.
fn words<'v>(claim: &'v Value, parts: &[&str]) -> Vec<&'v str> {
    let findings = items(claim, "findings").iter();
    let said = findings.flat_map(|finding| {
        let detail = &finding["detail"];
        parts.iter().filter_map(move |part| detail[*part].as_str())
    });
    said.collect()
}

/// The labels of the evidence that a claim cites or rests on, each once.
fn labels(claim: &Value) -> Vec<&str> {
    let cited = items(claim, "citations").iter();
    let cited = cited.chain(places(claim));
    let mut labels: Vec<&str> = Vec::new();
    for label in cited.filter_map(|one| one["label"].as_str()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// The places in the evidence that support a claim, or speak against it, each once.
fn places(claim: &Value) -> Vec<&Value> {
    let findings = items(claim, "findings").iter();
    let against = findings.map(|finding| &finding["evidence"]);
    let mut places: Vec<&Value> = Vec::new();
    for place in std::iter::once(&claim["evidence"]).chain(against) {
        let is_known = |known: &&Value| {
            ["label", "lines"]
                .iter()
                .all(|key| known[key] == place[key])
        };
        if place.is_object() && !places.iter().any(is_known) {
            places.push(place);
        }
    }
    places
}

fn numbered(lines: &[(usize, &str)], marks: &Marks<'_>) -> Markup {
    html! {
        @if !lines.is_empty() {
            table class="lines" {
                @for (number, line) in lines { tr { th scope="row" { (number) } td { (marks.show(line)) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_differ_are_underlined_or_only_the_numbers_of_many() {
        let (said, found) = ("Then it is set to 230 °C.", "Then it is set to 210 °C.");
        assert_eq!(only_in(said, found), ["230"]);
        assert_eq!(only_in(found, said), ["210"]);
        let other = "Mara bought seven new lamps for the 3 rooms upstairs.";
        assert_eq!(only_in(other, found), ["3"]);
        assert_eq!(only_in(said, ""), Vec::<&str>::new());
        assert_eq!(only_in("It costs 1.12.", "It costs 1.08."), ["1.12"]);
    }

    #[test]
    fn a_text_of_which_a_record_keeps_only_a_part_is_not_shown_as_whole() {
        let report = json!({});
        let is_cut = |text: &'static str, is_truncated: bool, lines: &str| {
            let item = json!({"label": "E1", "lines": "3-5", "excerpt_truncated": is_truncated});
            let proof = Proof {
                report: &report,
                passages: vec![(&item, text)],
                prefix: "",
            };
            proof.is_cut(&json!({"label": "E1", "lines": lines}))
        };
        for (text, is_truncated, lines, wanted) in [
            ("three\nfour\nfi", true, "3-5", true),
            ("three\nfour\nfi", true, "5", true),
            ("three\nfour\nfi", true, "3-4", false),
            ("three\nfour\n", true, "4", false),
            ("three\nfour\n", true, "5", true),
            ("", true, "3", true),
            ("three\nfour\nfive", false, "3-5", false),
        ] {
            assert_eq!(
                is_cut(text, is_truncated, lines),
                wanted,
                "{text:?} {lines}"
            );
        }
    }

    #[test]
    fn a_sentence_has_its_lines_below_it_and_what_differs_is_marked_on_both_sides() {
        let claims = json!({"counts": {"missing": 0, "path_mismatches": 0, "sha_mismatches": 0, "not_in_snapshot": 0},
            "claims": [{"text": "The gate closes at 29.", "verdict": "doubtful", "why": "Why <b>.",
                "citations": [{"label": "E1"}], "evidence": null,
                "findings": [{"detail": {"kind": "differs", "said": "29", "found": "27"},
                    "evidence": {"label": "E1", "source": "n", "path": "a.md", "lines": "4"}}]}]});
        let item = json!({"label": "E1", "source": "n", "rel_path": "a.md", "lines": "3-4"});
        let proof = Proof {
            report: &claims,
            passages: vec![(&item, "# Gate\nThe gate closes at 27.")],
            prefix: "",
        };
        let shown = proof.sentences().into_string();
        for part in [
            "The gate closes at <u>29</u>.",
            "<a class=\"cite\" href=\"#E1\">E1</a>",
            "/note?address=n:a.md#L4",
            "<th scope=\"row\">4</th><td><mark>The gate closes at</mark> <u>27</u>.</td>",
            "Why &lt;b&gt;.",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(!shown.contains("# Gate"), "{shown}");
        let evidence = proof.evidence().into_string();
        for part in [
            "<article id=\"E1\">",
            "<th scope=\"row\">3</th>",
            "<u>27</u>",
        ] {
            assert!(evidence.contains(part), "{part} in {evidence}");
        }
        assert_eq!(proof.faults().into_string(), "");
        let mut wrong = claims.clone();
        wrong["counts"]["missing"] = json!(1);
        let wrong = Proof {
            report: &wrong,
            ..proof
        };
        assert!(
            wrong
                .faults()
                .into_string()
                .contains("1 gone or unreadable")
        );
    }
}
