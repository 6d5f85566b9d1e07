//! An answer with its proof: the sentences as flowing text, each marked with its verdict; below them
//! why, with the cited lines and their numbers, in which what the sentence rests on is highlighted
//! and what differs is underlined; next to it the evidence.

use std::ops::Range;

use maud::{Markup, html};
use serde_json::{Value, json};

use super::marks::Marks;
use super::page::{
    Shell, behind, counted, first_and_last, headings, in_query_of_link, items, moment, page, place,
    text,
};
use super::page_runs::outcome_badge;
use local_agent_text::markdown::sentences;
use local_agent_verify::Counts;

/// The most lines of a passage that are shown without being asked for.
const FEW_LINES: usize = 6;

/// The number of lines that are shown before and after a cited one.
const AROUND: usize = 1;

/// The most words of a refused sentence that are underlined although they are no numbers.
const FEW_WORDS: usize = 4;

/// What the verdicts mean, for the legend.
const MEANINGS: [(&str, &str); 4] = [
    ("verified", "word for word in a note"),
    ("derived", "computed from numbers in a note"),
    (
        "checked",
        "every fact is in a note; the wording is the answer's own",
    ),
    ("doubtful", "a word is missing, or a note says otherwise"),
];

/// One item of the evidence with its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passage<'v> {
    pub item: &'v Value,
    /// Empty if it cannot be read.
    pub text: &'v str,
    /// Whether the text begins at the first byte of the item, and has the bytes that were judged.
    pub is_exact: bool,
    /// Whether the text is that of the file, because the record keeps only its beginning.
    pub is_of_file: bool,
}

impl<'v> Passage<'v> {
    /// An item with the passage that was read for it, as `passages` of an answer has it.
    pub(super) fn new(item: &'v Value, passage: &'v Value) -> Self {
        Self {
            item,
            text: text(passage, "text"),
            is_exact: passage["exact"] == json!(true),
            is_of_file: passage["of_file"] == json!(true),
        }
    }

    /// The first byte of the item in its file.
    fn first_byte(&self) -> Option<usize> {
        let at = self.item["start_byte"].as_u64();
        let at = at.or_else(|| self.item["span"]["start"].as_u64())?;
        usize::try_from(at).ok()
    }

    /// The lines, each with its number and its first byte in the text.
    fn lines(&self) -> Vec<(usize, usize, &'v str)> {
        let first = first_and_last(self.item).map_or(1, |(first, _)| first);
        let mut at = 0;
        let mut lines = Vec::new();
        for (number, line) in (first..).zip(self.text.split_inclusive('\n')) {
            lines.push((number, at, line.trim_end_matches(['\n', '\r'])));
            at += line.len();
        }
        lines
    }

    /// The bytes of the text that a place means: exactly those that were judged, or else its lines.
    fn range_of(&self, at: &Value) -> Option<Range<usize>> {
        let byte = |name: &str| usize::try_from(at["span"][name].as_u64()?).ok();
        if self.is_exact
            && let (Some(base), Some(start), Some(end)) =
                (self.first_byte(), byte("start"), byte("end"))
            && let (Some(start), Some(end)) = (start.checked_sub(base), end.checked_sub(base))
            && self.text.get(start..end).is_some()
        {
            return Some(start..end);
        }
        let (first, last) = first_and_last(at)?;
        let lines = self.lines();
        let mut inside = lines
            .iter()
            .filter(|(number, _, _)| (first..=last).contains(number));
        let first = inside.next()?;
        let (_, at, line) = inside.next_back().unwrap_or(first);
        Some(first.1..at + line.len())
    }
}

/// A report of the verifier with the texts that it is about.
pub(super) struct Proof<'v> {
    pub report: &'v Value,
    pub passages: Vec<Passage<'v>>,
    /// What the ids on the page begin with, so that two proofs fit on one page.
    pub prefix: &'static str,
    /// Whether a record is shown, which says where it keeps only the beginning of a text.
    pub is_record: bool,
}

/// An answer: each sentence with its verdict and its proof, next to the evidence. `passages` are
/// the texts of the items of evidence.
pub(super) fn answered(shell: &Shell, answer: &Value) -> Markup {
    let title = text(answer, "question");
    let title = if title.is_empty() { &shell.text } else { title };
    page(title, shell, &answer_content(shell, answer))
}

/// An answer without the frame.
pub(super) fn answer_content(shell: &Shell, answer: &Value) -> Markup {
    let passages = items(answer, "evidence")
        .iter()
        .zip(items(answer, "passages"));
    let proof = Proof {
        report: &answer["citation_validation"],
        passages: passages
            .map(|(item, passage)| Passage::new(item, passage))
            .collect(),
        prefix: "",
        is_record: false,
    };
    html! {
        div class="asked" {
            h1 dir="auto" { (shell.text) }
            (about(answer, &proof))
        }
        div class="proof" {
            section aria-label="Answer" { (judged(answer, &proof)) }
            section class="evidence" aria-label="Evidence" { h2 { "Evidence" } (proof.evidence()) }
        }
        (behind(answer))
    }
}

/// The line below the question: how it ended, how many sentences have which verdict, the record.
fn about(answer: &Value, proof: &Proof<'_>) -> Markup {
    let claims = items(proof.report, "claims");
    html! {
        p class="meta" {
            (outcome_badge(text(answer, "outcome")))
            @for verdict in MEANINGS.map(|(verdict, _)| verdict) {
                @let count = claims.iter().filter(|claim| claim["verdict"] == verdict).count();
                @if count > 0 { span { (count) " " (verdict) } }
            }
            @if let Some(at) = answer["started_at"].as_str() { span { "asked " (moment(at)) } }
            @if let Some(id) = answer["run_id"].as_str() {
                a href={ "/run?id=" (in_query_of_link(id)) } { "The record of this answer" }
            }
        }
    }
}

/// What the marks of the sentences mean.
pub(super) fn legend() -> Markup {
    html! {
        ul class="legend" aria-label="What the marks mean" {
            @for (verdict, meaning) in MEANINGS { li { span class={ "badge " (verdict) } { (verdict) } " " (meaning) } }
        }
    }
}

fn judged(answer: &Value, proof: &Proof<'_>) -> Markup {
    html! {
        @match text(answer, "outcome") {
            "closest" => { p class="notice" { "No sentence answers this for certain. These passages come closest:" } }
            "abstained" => { p class="notice" { "The notes hold nothing on this." } }
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
        @for left_out in items(answer, "left_out") { (refused_sentence(left_out)) }
        (proof.faults())
    }
}

/// A sentence that is not in the answer, with the reason, beside that of its source.
pub(super) fn refused_sentence(left_out: &Value) -> Markup {
    let said = text(left_out, "sentence");
    let found = text(&left_out["source"], "text");
    html! {
        div class="refused" {
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
}

/// The words of one sentence that another does not have: its numbers, if any differ, because they are
/// what matters; otherwise its words, unless they are many.
fn only_in<'t>(one: &'t str, other: &str) -> Vec<&'t str> {
    let differing = differing_words(one, other);
    let is_number = |word: &&str| word.contains(|c: char| c.is_numeric());
    match differing.iter().any(is_number) || differing.len() > FEW_WORDS {
        true => differing.into_iter().filter(is_number).collect(),
        false => differing,
    }
}

/// All words of one sentence that another does not have.
pub(super) fn differing_words<'t>(one: &'t str, other: &str) -> Vec<&'t str> {
    if other.is_empty() {
        return Vec::new();
    }
    let lower = other.to_lowercase();
    let known: Vec<&str> = words_of(&lower).collect();
    words_of(one)
        .filter(|word| !known.contains(&word.to_lowercase().as_str()))
        .collect()
}

/// The words of a text; a point or comma inside a number is a part of it.
pub(super) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',');
    let words = text.split(move |c: char| !is_part(c));
    words
        .map(|word| word.trim_matches(['.', ',']))
        .filter(|word| !word.is_empty())
}

impl<'v> Proof<'v> {
    /// The sentences as flowing text, and the proof of each.
    pub(super) fn sentences(&self) -> Markup {
        let claims = items(self.report, "claims");
        html! {
            @if !claims.is_empty() {
                p class="flow" dir="auto" {
                    @for (number, claim) in (1..).zip(claims) { (self.sentence(number, claim)) " " }
                }
                (legend())
                ul class="claims" { @for (number, claim) in (1..).zip(claims) { (self.proof_of(number, claim)) } }
            }
        }
    }

    /// A sentence in the text, which leads to its proof.
    fn sentence(&self, number: usize, claim: &Value) -> Markup {
        let verdict = text(claim, "verdict");
        let marks = Marks::default().with_differing(words(claim, &SAID));
        html! {
            a class={ "s " (verdict) } href={ "#" (self.prefix) "s" (number) } title=(verdict) { (marks.show(text(claim, "text"))) }
            @for label in labels(claim) {
                " " a class="cite" href={ "#" (self.prefix) (label) } { (label) }
            }
        }
    }

    /// Why a sentence has its verdict, and the lines that it rests on. Those of a sentence in doubt
    /// are there at once, and the others a key away.
    fn proof_of(&self, number: usize, claim: &Value) -> Markup {
        let verdict = text(claim, "verdict");
        let is_in_doubt = matches!(verdict, "doubtful" | "rejected");
        let places = places(claim);
        let rivals = self.rivals(claim);
        let is_contested = places.len() > 1 || !rivals.is_empty();
        html! {
            li class=(verdict) {
                span class="at" id={ (self.prefix) "s" (number) } {}
                span class="number" { "Sentence " (number) } " " span class="badge" { (verdict) }
                span class="why" { (text(claim, "why")) }
                @for at in places {
                    @if is_in_doubt || is_contested {
                        (self.cited(claim, at))
                    } @else {
                        details { summary { "Cited lines" } (self.cited(claim, at)) }
                    }
                }
                @for passage in &rivals { (self.rival_line(claim, passage)) }
            }
        }
    }

    /// The passages that a finding names beside the cited ones, because they say something else, or
    /// say what those do not.
    fn rivals(&self, claim: &Value) -> Vec<Passage<'v>> {
        let findings = items(claim, "findings").iter();
        let labels = findings.filter_map(|finding| {
            let detail = &finding["detail"];
            detail["by"].as_str().or_else(|| detail["better"].as_str())
        });
        let labels: Vec<&str> = labels.collect();
        let named = |passage: &&Passage<'v>| labels.contains(&text(passage.item, "label"));
        self.passages.iter().filter(named).copied().collect()
    }

    /// The sentence of a passage that is closest to a claim, in its line, with what differs underlined.
    fn rival_line(&self, claim: &Value, passage: &Passage<'v>) -> Markup {
        let said = text(claim, "text");
        let Some(range) = closest_sentence(passage.text, said) else {
            return html! {};
        };
        let found = passage.text.get(range.clone()).unwrap_or_default();
        let marks = Marks::of_text(said).with_differing(only_in(found, said));
        let mut lines = passage.lines();
        lines.retain(|(_, at, line)| range.start < at + line.len() && *at < range.end);
        html! {
            p class="place" { span class="label" { (text(passage.item, "label")) } " " (place(passage.item)) }
            (numbered(&lines, &marks, &[range]))
        }
    }

    /// The lines of a place in the evidence, with what the claim rests on highlighted.
    fn cited(&self, claim: &Value, at: &'v Value) -> Markup {
        let passage = self.passage(at);
        let lines = self.lines(at);
        let range = passage.and_then(|passage| passage.range_of(at));
        let marks = self.marks(claim, at);
        let ranges: Vec<Range<usize>> = range.into_iter().collect();
        html! {
            p class="place" { (place(at)) }
            (numbered(&lines, &marks, &ranges))
            (self.cut(at))
        }
    }

    /// What is marked in a place of a claim. All of it if it is the sentence itself; otherwise the
    /// words that both have, and those that differ.
    fn marks(&self, claim: &'v Value, at: &Value) -> Marks<'v> {
        let is_its_own = claim["evidence"] == *at && at["span"].is_object();
        let is_exact = self.passage(at).is_some_and(|passage| passage.is_exact);
        let differing = words(claim, &FOUND);
        match claim["verdict"] == "verified" && is_its_own && is_exact {
            true => Marks::of_everything(),
            false => Marks::of_text(text(claim, "text")),
        }
        .with_differing(differing)
    }

    /// The passage that a place is in.
    fn passage(&self, at: &Value) -> Option<Passage<'v>> {
        let mut passages = self.passages.iter();
        let found = passages.find(|passage| passage.item["label"] == at["label"]);
        found.copied()
    }

    /// Whether the text of a place is not whole, because a record keeps only a part of it.
    fn is_cut(&self, at: &Value) -> bool {
        let (Some(passage), Some((_, last))) = (self.passage(at), first_and_last(at)) else {
            return false;
        };
        let first = first_and_last(passage.item).map_or(1, |(first, _)| first);
        // The last line may be cut, unless its end is there.
        let whole_lines = passage.text.matches('\n').count();
        passage.item["excerpt_truncated"] == json!(true)
            && !passage.is_of_file
            && first + whole_lines <= last
    }

    /// The line that says so if the record does not keep the whole text of a place.
    fn cut(&self, at: &Value) -> Markup {
        html! { @if self.is_cut(at) { p class="cut" { "… " (KEEPS_NO_MORE) } } }
    }

    /// The numbered lines of a place, each with its first byte; empty if its text cannot be read.
    fn lines(&self, at: &Value) -> Vec<(usize, usize, &'v str)> {
        let (Some(passage), Some((first, last))) = (self.passage(at), first_and_last(at)) else {
            return Vec::new();
        };
        let mut lines = passage.lines();
        lines.retain(|(number, _, _)| (first..=last).contains(number));
        lines
    }

    /// The items of the evidence that are cited, with what the sentences rest on highlighted, and
    /// then, folded, the others.
    pub(super) fn evidence(&self) -> Markup {
        let (cited, others): (Vec<Passage<'_>>, Vec<Passage<'_>>) = self
            .passages
            .iter()
            .partition(|passage| !self.claims_on(passage).is_empty());
        html! {
            @for passage in &cited { (self.article(passage)) }
            @if !others.is_empty() {
                @let said = counted(&json!(others.len()), if cited.is_empty() { "passage" } else { "other passage" });
                details class="rest" open[cited.is_empty()] {
                    summary { (said) " found, and not cited" }
                    @for passage in &others { (self.article(passage)) }
                }
            }
        }
    }

    fn article(&self, passage: &Passage<'v>) -> Markup {
        let item = passage.item;
        let trail = headings(text(item, "heading_path"), "");
        html! {
            article id={ (self.prefix) (text(item, "label")) } {
                h3 { span class="label" { (text(item, "label")) } " " (place(item)) }
                @if !trail.is_empty() { p class="trail" { bdi { (trail) } } }
                (self.excerpt(passage))
                (self.cut(item))
                @if passage.is_of_file && self.is_record { p class="cut" { (KEEPS_NO_MORE) " It is shown from the file, which still has the same bytes here." } }
            }
        }
    }

    /// A passage: the lines around those that are cited, and all of them a key away.
    fn excerpt(&self, passage: &Passage<'v>) -> Markup {
        let claims = self.claims_on(passage);
        let mut ranges: Vec<Range<usize>> = claims
            .iter()
            .filter_map(|(_, at)| passage.range_of(at))
            .collect();
        ranges.sort_by_key(|range| range.start);
        let marks = self.marks_of(&claims);
        let lines = passage.lines();
        let short = short(&lines, &ranges);
        html! {
            (numbered(&short, &marks, &ranges))
            @if short.len() < lines.len() {
                details { summary { "Show all " (lines.len()) " lines" } (numbered(&lines, &marks, &ranges)) }
            }
        }
    }

    /// The claims that rest on a passage, each with its place there.
    fn claims_on(&self, passage: &Passage<'_>) -> Vec<(&'v Value, &'v Value)> {
        let mut on = Vec::new();
        for claim in items(self.report, "claims") {
            let places = places(claim);
            let here = places
                .into_iter()
                .filter(|at| at["label"] == passage.item["label"]);
            on.extend(here.map(|at| (claim, at)));
        }
        on
    }

    /// The marks of a passage: everything in its ranges if each claim on it is word for word there.
    fn marks_of(&self, claims: &[(&'v Value, &'v Value)]) -> Marks<'v> {
        let is_literal = |(claim, at): &(&Value, &Value)| {
            claim["verdict"] == "verified"
                && claim["evidence"] == **at
                && self.passage(at).is_some_and(|passage| passage.is_exact)
        };
        let found = claims.iter().flat_map(|(claim, _)| words(claim, &FOUND));
        let found: Vec<&str> = found.collect();
        if claims.iter().all(is_literal) {
            return Marks::of_everything().with_differing(found);
        }
        let texts: Vec<&str> = claims
            .iter()
            .map(|(claim, _)| text(claim, "text"))
            .collect();
        Marks::of_text(&texts.join("\n")).with_differing(found)
    }

    /// The line that counts wrong citations, if there are any.
    pub(super) fn faults(&self) -> Markup {
        let counts = Counts::of_report(self.report);
        let faults = counts.and_then(|counts| counts.in_words());
        html! { @if let Some(faults) = faults { p class="checks" { (faults) } } }
    }
}

/// The bytes of the sentence of a text that shares the most words with another sentence.
fn closest_sentence(text: &str, said: &str) -> Option<Range<usize>> {
    let shared = |range: &Range<usize>| {
        let sentence = text.get(range.clone()).unwrap_or_default();
        words_of(sentence)
            .count()
            .saturating_sub(differing_words(sentence, said).len())
    };
    let sentences = sentences(text).into_iter().rev();
    let ranges = sentences.map(|sentence| sentence.span.start()..sentence.span.end());
    ranges.max_by_key(shared)
}

/// What is said of a text of which a record keeps only the beginning.
const KEEPS_NO_MORE: &str = "The record keeps no more of this text.";

/// The lines of a passage that have a range, with those around them; the first ones if none has.
fn short<'v>(
    lines: &[(usize, usize, &'v str)],
    ranges: &[Range<usize>],
) -> Vec<(usize, usize, &'v str)> {
    if lines.len() <= FEW_LINES {
        return lines.to_vec();
    }
    let is_meant = |(_, at, line): &(usize, usize, &str)| {
        let meets = |range: &Range<usize>| range.start <= at + line.len() && *at < range.end;
        ranges.iter().any(meets)
    };
    let meant: Vec<usize> = lines
        .iter()
        .filter(|line| is_meant(line))
        .map(|line| line.0)
        .collect();
    if meant.is_empty() {
        return lines.iter().take(FEW_LINES / 2).copied().collect();
    }
    let is_shown = |(number, _, line): &(usize, usize, &str)| {
        let nearest = meant.iter().map(|one| one.abs_diff(*number)).min();
        nearest.is_some_and(|far| far == 0 || far <= AROUND && !line.trim().is_empty())
    };
    lines
        .iter()
        .filter(|line| is_shown(line))
        .copied()
        .collect()
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

/// A table of lines with their numbers. Marks are only inside the ranges, which are in bytes of the
/// text that the lines are from. A row says so where lines are missing.
fn numbered(lines: &[(usize, usize, &str)], marks: &Marks<'_>, ranges: &[Range<usize>]) -> Markup {
    let mut before = None;
    html! {
        @if !lines.is_empty() {
            table class="lines" {
                @for (number, at, line) in lines {
                    @if before.is_some_and(|before: usize| before + 2 < *number) {
                        tr class="gap" { th scope="row" { "⋯" } td {} }
                    }
                    @let _ = before.insert(*number);
                    tr { th scope="row" { (number) } td { (marks.show_in(line, &inside(ranges, *at, line.len()))) } }
                }
            }
        }
    }
}

/// The ranges that meet a line, in bytes of the line.
fn inside(ranges: &[Range<usize>], at: usize, length: usize) -> Vec<Range<usize>> {
    let met = ranges
        .iter()
        .filter(|range| range.start < at + length && at < range.end);
    met.map(|range| range.start.saturating_sub(at)..(range.end - at).min(length))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage<'v>(item: &'v Value, text: &'v str) -> Passage<'v> {
        Passage {
            item,
            text,
            is_exact: false,
            is_of_file: false,
        }
    }

    /// Two sentences of one line: the words of each were once marked in the other.
    #[test]
    fn only_the_bytes_that_a_sentence_rests_on_are_marked() {
        let text = "# Box\n\nIt holds 27 °C and 78 %. For bread it is at 32 °C and 80 %.";
        let (one, two) = (7 + 20, 7 + 46);
        let report = json!({"claims": [{"text": "It holds 27 °C and 78 %.", "verdict": "verified",
            "citations": [{"label": "E1"}], "findings": [],
            "evidence": {"label": "E1", "source": "n", "path": "a.md", "lines": "3", "span": {"start": one, "end": one + 25}}}]});
        let item = json!({"label": "E1", "source": "n", "rel_path": "a.md", "lines": "1-3", "start_byte": 20});
        let exact = Passage {
            item: &item,
            text,
            is_exact: true,
            is_of_file: false,
        };
        let proof = Proof {
            report: &report,
            passages: vec![exact],
            prefix: "",
            is_record: false,
        };
        let wanted =
            "<td><mark>It holds 27 °C and 78 %.</mark> For bread it is at 32 °C and 80 %.</td>";
        for shown in [
            proof.sentences().into_string(),
            proof.evidence().into_string(),
        ] {
            assert!(shown.contains(wanted), "{two} {shown}");
            assert_eq!(shown.matches("<mark>").count(), 1, "{shown}");
        }
        assert!(proof.evidence().into_string().contains("<td># Box</td>"));
    }

    #[test]
    fn a_passage_that_says_something_else_stands_beside_the_sentence() {
        let report = json!({"claims": [{"text": "The oven heats to 280 °C.", "verdict": "checked", "citations": [],
            "evidence": {"label": "E1", "source": "n", "path": "a.md", "lines": "1"},
            "findings": [{"detail": {"kind": "contradicted", "by": "E2"}, "evidence": null}]}]});
        let item = json!({"label": "E1", "source": "n", "rel_path": "a.md", "lines": "1"});
        let other = json!({"label": "E2", "source": "n", "rel_path": "b.md", "lines": "1-3"});
        let passages = vec![
            passage(&item, "The oven heats to 280 °C."),
            passage(
                &other,
                "# New\n\nThe new oven heats to 300 °C. It came on 2026-02-03.",
            ),
        ];
        let proof = Proof {
            report: &report,
            passages,
            prefix: "",
            is_record: false,
        };
        let shown = proof.sentences().into_string();
        assert!(shown.contains("/note?address=n:b.md"), "{shown}");
        assert!(
            shown.contains("<th scope=\"row\">3</th>") && shown.contains("<u>300</u>"),
            "{shown}"
        );
        assert!(
            !shown.contains("# New") && shown.contains("It came on 2026-02-03."),
            "{shown}"
        );
    }

    #[test]
    fn a_long_passage_is_short_around_the_cited_line_and_all_of_it_a_key_away() {
        let lines: Vec<String> = (1..=30).map(|n| format!("line {n}")).collect();
        let text = lines.join("\n");
        let report = json!({"claims": [{"text": "line 20", "verdict": "checked", "citations": [], "findings": [],
            "evidence": {"label": "E1", "source": "n", "path": "a.md", "lines": "20"}}]});
        let item = json!({"label": "E1", "source": "n", "rel_path": "a.md", "lines": "1-30"});
        let other = json!({"label": "E2", "source": "n", "rel_path": "b.md", "lines": "1-30"});
        let passages = vec![passage(&item, &text), passage(&other, &text)];
        let proof = Proof {
            report: &report,
            passages,
            prefix: "",
            is_record: false,
        };
        let shown = proof.evidence().into_string();
        let (cited, others) = shown
            .split_once("1 other passage found, and not cited")
            .unwrap();
        let (short, all) = cited.split_once("Show all 30 lines").unwrap();
        assert_eq!(short.matches("<tr>").count(), 3, "{short}");
        assert_eq!(all.matches("<tr>").count(), 30, "{all}");
        let (few, _) = others.split_once("Show all 30 lines").unwrap();
        assert_eq!(few.matches("<tr>").count(), 3, "{few}");
    }

    #[test]
    fn the_words_that_differ_are_underlined_or_only_the_numbers_of_many() {
        let (said, found) = ("Then it is set to 230 °C.", "Then it is set to 210 °C.");
        assert_eq!(only_in(said, found), ["230"]);
        assert_eq!(only_in(found, said), ["210"]);
        let other = "Mara bought seven new lamps for the 3 rooms upstairs.";
        assert_eq!(only_in(other, found), ["3"]);
        assert_eq!(only_in(said, ""), Vec::<&str>::new());
        assert_eq!(only_in("It costs 1.12.", "It costs 1.08."), ["1.12"]);
        assert_eq!(only_in("The new oven is at 300.", "It is at 280."), ["300"]);
    }

    #[test]
    fn a_text_of_which_a_record_keeps_only_a_part_is_not_shown_as_whole() {
        let report = json!({});
        let is_cut = |text: &'static str, is_truncated: bool, lines: &str| {
            let item = json!({"label": "E1", "lines": "3-5", "excerpt_truncated": is_truncated});
            let proof = Proof {
                report: &report,
                passages: vec![passage(&item, text)],
                prefix: "",
                is_record: false,
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
            passages: vec![passage(&item, "# Gate\nThe gate closes at 27.")],
            prefix: "",
            is_record: false,
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
        assert!(
            shown.contains("href=\"#s1\"") && shown.contains("id=\"s1\""),
            "{shown}"
        );
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
