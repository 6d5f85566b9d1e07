//! L2: which units of an answer are claims, and which citations belong to them.
//!
//! A citation covers its own sentence, list item or row, and nothing more, with these exceptions
//! only: a paragraph of citations covers the sentence before it, or the whole code or quote block
//! before it; a short answer ("Yes.") is covered by the sentence after it; a cited sentence that
//! ends with a colon covers the code or quote block after it; a quotation of several sentences is
//! covered by the citation after it; a lead-in is covered when everything it introduces is.

use std::borrow::Cow;
use std::ops::Range;

use super::answer::{Answer, Unit};
use super::evidence_statements::EvidenceStatements;
use super::phrases::{
    Abstention, abstention, announces, answers_in_short, ends_with_colon, is_advice, is_courtesy,
    is_meta, is_question, plain_lower, refuses_and_claims, says_more, title_claims,
};
use super::quotes::quoted_ranges;
use local_agent_text::markdown::BlockRole;

/// Maximum number of citations that one unit takes over from others; bounds the work on hostile
/// answers.
const MOST_INHERITED: usize = 32;

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It says something that could be wrong.
    Claim,
    /// It introduces a list, table or block that makes the claims.
    LeadIn,
    /// An announcement, question, title or label.
    Free,
    /// It refuses to answer.
    Refusal {
        /// The whole question, or one detail.
        extent: Abstention,
        /// Whether it also makes a claim.
        claims: bool,
    },
    /// It has only markers.
    Empty,
}

/// What coverage found out about one unit.
#[derive(Debug, Clone)]
pub(crate) struct Covered {
    /// What it is.
    pub kind: Kind,
    /// Markers that belong to it, as indices.
    pub own: Vec<usize>,
    /// Markers of its neighbours that cover it too, as indices.
    pub inherited: Vec<usize>,
    /// How many items or rows it introduces.
    pub listed: usize,
}

/// Decides for every unit what it is and which markers cover it. `quotes` are the ranges of
/// quotations in the text, in order; `statements` looks up what the evidence says itself; `cites` tells whether
/// a marker may cover something.
pub(crate) fn cover(
    answer: &Answer,
    question: &str,
    quotes: &[Range<usize>],
    statements: &mut EvidenceStatements<'_, '_>,
    cites: impl Fn(usize) -> bool,
) -> Vec<Covered> {
    let question = plain_lower(question);
    let lower: Vec<String> = answer.units.iter().map(|u| plain_lower(&u.words)).collect();
    let kinds = kinds(&answer.units, &lower, &question, statements);
    let mut out: Vec<Covered> = kinds
        .into_iter()
        .zip(&answer.units)
        .map(|(kind, unit)| Covered {
            kind,
            own: unit.marks.clone(),
            inherited: Vec::new(),
            listed: 0,
        })
        .collect();
    attach_citation_paragraphs(answer, &mut out);
    cover_blocks_after_colons(answer, &lower, &mut out, &cites);
    share_within_quotes(answer, quotes, &mut out);
    cover_lead_ins(answer, &mut out, &cites);
    cover_short_answers(answer, &lower, &mut out, &cites);
    out
}

fn kinds(
    units: &[Unit],
    lower: &[String],
    question: &str,
    statements: &mut EvidenceStatements<'_, '_>,
) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::with_capacity(units.len());
    let mut next = None;
    for (unit, lower) in units.iter().zip(lower).rev() {
        kinds.push(kind(unit, lower, question, next, statements));
        next = if unit.says_something() {
            Some(unit)
        } else {
            next
        };
    }
    kinds.reverse();
    if kinds.iter().any(|k| matches!(k, Kind::Refusal { .. })) {
        for (kind, lower) in kinds.iter_mut().zip(lower) {
            if *kind == Kind::Claim && is_advice(lower) {
                *kind = Kind::Free;
            }
        }
    }
    kinds
}

fn kind(
    unit: &Unit,
    lower: &str,
    question: &str,
    next: Option<&Unit>,
    statements: &mut EvidenceStatements<'_, '_>,
) -> Kind {
    if !unit.says_something() {
        return Kind::Empty;
    }
    match unit.role {
        BlockRole::Paragraph | BlockRole::ListItem => {}
        BlockRole::Heading => return title(&unit.words),
        BlockRole::TableHeader => {
            let claims = unit.words.split('|').any(title_claims);
            return if claims { Kind::Claim } else { Kind::Free };
        }
        _ => return Kind::Claim,
    }
    if let Some(refusal) = abstention(&outside_quotes(lower)) {
        let cites = !unit.marks.is_empty();
        let is_gap = refusal.extent == Abstention::Gap;
        let claims = refuses_and_claims(lower) || is_gap && says_more(lower, cites);
        let worldly = cites && !claims && refusal.worldly || statements.says(refusal.said);
        if !worldly {
            let extent = refusal.extent;
            return Kind::Refusal { extent, claims };
        }
    }
    if is_question(lower) || is_meta(lower, question) || is_courtesy(lower) {
        return Kind::Free;
    }
    if is_bold_line(&unit.words) {
        return title(&unit.words);
    }
    let leads = next.is_some_and(|next| next.block != unit.block && leads_to(unit, next));
    if (ends_with_colon(lower) && leads) || announces(lower) {
        return Kind::LeadIn;
    }
    if unit.role == BlockRole::ListItem && leads && !title_claims(&unit.words) {
        return Kind::LeadIn;
    }
    Kind::Claim
}

/// The text with blanks instead of what is between quotation marks: the advice to say "I don't know"
/// refuses nothing. A text that is quoted as a whole stays.
fn outside_quotes(lower: &str) -> Cow<'_, str> {
    let ranges = quoted_ranges(lower, |_| false);
    if ranges.is_empty() {
        return Cow::Borrowed(lower);
    }
    let mut outside = lower.to_owned();
    for range in ranges {
        let blanks = " ".repeat(range.len());
        outside.replace_range(range, &blanks);
    }
    match outside.contains(char::is_alphanumeric) {
        true => Cow::Owned(outside),
        false => Cow::Borrowed(lower),
    }
}

fn title(words: &str) -> Kind {
    if title_claims(words) {
        Kind::Claim
    } else {
        Kind::Free
    }
}

/// A line that is entirely bold acts as a heading.
fn is_bold_line(words: &str) -> bool {
    let inner = words
        .strip_prefix("**")
        .and_then(|w| w.trim_end_matches(':').strip_suffix("**"));
    inner.is_some_and(|inner| !inner.contains("**") && !inner.contains('\n') && inner.len() < 120)
}

/// Whether `next` is the list, table or block that `unit` introduces.
fn leads_to(unit: &Unit, next: &Unit) -> bool {
    match next.role {
        BlockRole::ListItem => unit.role != BlockRole::ListItem || next.indent > unit.indent,
        BlockRole::TableHeader | BlockRole::TableRow | BlockRole::Code | BlockRole::Quote => true,
        _ => false,
    }
}

/// Paragraphs of citations belong to what is before them; at the top, to what follows.
fn attach_citation_paragraphs(answer: &Answer, out: &mut [Covered]) {
    let units = &answer.units;

    let first = out.iter().position(|c| c.kind != Kind::Empty);
    let mut before: Option<usize> = None;
    for i in 0..units.len() {
        if out.get(i).is_some_and(|c| c.kind != Kind::Empty) {
            before = Some(i);
            continue;
        }
        let marks = out.get(i).map(|c| c.own.clone()).unwrap_or_default();
        if marks.iter().any(|mark| is_hidden(answer, *mark)) {
            continue;
        }
        let Some(home) = before.or(first) else {
            continue;
        };
        if let Some(covered) = out.get_mut(i) {
            covered.own.clear();
        }
        let block = block_before(units, out, home);
        for covered in out.get_mut(block).unwrap_or(&mut []) {
            if covered.inherited.len() >= MOST_INHERITED {
                break;
            }
            covered.inherited.extend(&marks);
        }
        if let Some(covered) = out.get_mut(home) {
            covered.own.extend(marks);
        }
    }
}

fn is_hidden(answer: &Answer, mark: usize) -> bool {
    answer.marks.get(mark).is_some_and(|m| m.hidden.is_some())
}

/// The units of the code or quote block that ends just before `home`, without `home` itself.
fn block_before(units: &[Unit], out: &[Covered], home: usize) -> Range<usize> {
    let role = units.get(home).map(|u| u.role);
    if !matches!(role, Some(BlockRole::Code | BlockRole::Quote)) {
        return home..home;
    }
    let mut start = home;
    while start > 0
        && units.get(start - 1).map(|u| u.role) == role
        && out
            .get(start - 1)
            .is_some_and(|c| c.kind != Kind::Empty && c.inherited.len() < MOST_INHERITED)
    {
        start -= 1;
    }
    start..home
}

/// "Run this [E1]:" covers the code or quote block after it.
fn cover_blocks_after_colons(
    answer: &Answer,
    lower: &[String],
    out: &mut [Covered],
    cites: &impl Fn(usize) -> bool,
) {
    let mut covering: Vec<usize> = Vec::new();
    let mut role = None;
    for (i, unit) in answer.units.iter().enumerate() {
        let block = matches!(unit.role, BlockRole::Code | BlockRole::Quote);
        if !block {
            let covered = out.get(i);
            let covered = covered.filter(|_| lower.get(i).is_some_and(|l| ends_with_colon(l)));
            let own = covered.map_or(&[][..], |c| c.own.as_slice());
            covering = own.iter().copied().filter(|m| cites(*m)).collect();
            role = None;
            continue;
        }
        if role.is_some_and(|r| r != unit.role) {
            covering.clear();
        }
        role = Some(unit.role);
        if let Some(covered) = out.get_mut(i) {
            covered
                .inherited
                .extend(covering.iter().take(MOST_INHERITED));
        }
    }
}

/// The citation after a quotation covers all sentences inside it.
fn share_within_quotes(answer: &Answer, quotes: &[Range<usize>], out: &mut [Covered]) {
    for quote in quotes {
        let first = answer.units.partition_point(|u| u.range.end <= quote.start);
        let last = answer
            .units
            .partition_point(|u| u.range.start < quote.end)
            .saturating_sub(1);
        if last <= first {
            continue;
        }
        let marks = out.get(last).map(|c| c.own.clone()).unwrap_or_default();
        for covered in out.get_mut(first..last).unwrap_or(&mut []) {
            covered.inherited.extend(marks.iter().take(MOST_INHERITED));
        }
    }
}

/// "Yes." and similar words at the beginning of an answer or a paragraph are covered by the
/// citations of the next sentence.
fn cover_short_answers(
    answer: &Answer,
    lower: &[String],
    out: &mut [Covered],
    cites: &impl Fn(usize) -> bool,
) {
    for i in 0..answer.units.len() {
        let (Some(unit), Some(text)) = (answer.units.get(i), lower.get(i)) else {
            continue;
        };
        let before = i.checked_sub(1).and_then(|before| answer.units.get(before));
        let begins = before.is_none_or(|u| u.block != unit.block);
        let own = out
            .get(i)
            .map(|c| (c.kind, c.own.iter().any(|m| cites(*m))));
        let free = matches!(own, Some((Kind::Claim, false)));
        if !(free && begins && unit.role == BlockRole::Paragraph && answers_in_short(text)) {
            continue;
        }
        let next = out.get(i + 1..).unwrap_or(&[]).iter().take(2);
        let marks = next
            .map(|c| c.own.iter().chain(&c.inherited).copied())
            .map(|marks| marks.filter(|m| cites(*m)).collect::<Vec<_>>())
            .find(|marks| !marks.is_empty());
        if let (Some(covered), Some(marks)) = (out.get_mut(i), marks) {
            covered.kind = Kind::LeadIn;
            covered
                .inherited
                .extend(marks.into_iter().take(MOST_INHERITED));
        }
    }
}

/// A lead-in is covered by the citations of everything it introduces, if all of it is cited.
fn cover_lead_ins(answer: &Answer, out: &mut [Covered], cites: &impl Fn(usize) -> bool) {
    for i in (0..answer.units.len()).rev() {
        let (Some(unit), Some(Kind::LeadIn)) = (answer.units.get(i), out.get(i).map(|c| c.kind))
        else {
            continue;
        };
        let mut all = true;
        let mut marks: Vec<usize> = Vec::new();
        let mut items = 0;
        let mut listed = 0;
        let mut block = unit.block;
        let after = answer.units.get(i + 1..).unwrap_or(&[]);
        for (next, covered) in after.iter().zip(out.get(i + 1..).unwrap_or(&[])) {
            if covered.kind == Kind::Empty {
                continue;
            }
            let inside = leads_to(unit, next)
                || (items > 0 && next.role == BlockRole::ListItem && next.indent > unit.indent);
            // An announcement before plain paragraphs introduces the first of them.
            let announced = items == 0 && next.role == BlockRole::Paragraph;
            if !(inside || announced) {
                break;
            }
            items += 1;
            // An item of a list may have several sentences.
            listed += usize::from(next.role != BlockRole::ListItem || next.block != block);
            block = next.block;
            if matches!(covered.kind, Kind::Claim | Kind::LeadIn) {
                let mut own = covered.own.iter().chain(&covered.inherited);
                let room = MOST_INHERITED.saturating_sub(marks.len());
                marks.extend(own.clone().take(room));
                all &= own.any(|m| cites(*m));
            }
            if !all || announced {
                break;
            }
        }
        if let Some(covered) = out.get_mut(i) {
            covered.listed = listed;
        }
        if let Some(covered) = out.get_mut(i).filter(|_| all && items > 0) {
            marks.retain(|m| cites(*m));
            marks.sort_unstable();
            marks.dedup();
            covered.inherited.extend(marks);
        }
    }
}
