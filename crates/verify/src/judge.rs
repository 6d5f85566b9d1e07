//! L8: combines what all layers found into one verdict per claim.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::answer::{Answer, MarkKind, Unit};
use super::checks::{Language, has_all_words, has_line, of_answer};
use super::coverage::{Covered, Kind, cover};
use super::evidence_statements::EvidenceStatements;
use super::examine::Examined;
use super::finding::{Effect, Finding, Place};
use super::hidden_markup::active_elements;
use super::identity::{Resolved, Resolver};
use super::phrases::{Abstention, may_announce, may_name_a_gap, plain_lower};
use super::quotes::{Judge, QuoteMatch, SHORTEST, has_marks, quoted_ranges};
use super::report::{CitationReport, Claim, Report, Verdict};
use super::source_text::{SourceTexts, content_words};
use super::{Code, Derivation, Scope, TableHeads, VerifyOptions, laundering};
use local_agent_text::documents::said_lines;
use local_agent_text::evidence::{
    Draft, EvidenceSnapshot, Freshness, FreshnessReport, MarkerKind, Normal,
};
use local_agent_text::markdown::BlockRole;
use local_agent_text::types::{ByteSpan, Label};

/// Maximum number of different elements of HTML that are looked for in the cited text.
const MOST_ELEMENTS: usize = 256;

/// Maximum number of sentences in the explanation of one claim.
const MOST_REASONS: usize = 5;

/// What is known about one quotation.
pub(super) struct Quote {
    /// Its bytes in the answer.
    range: Range<usize>,
    /// Its words, normalised.
    pub(super) words: String,
    /// The only item that may contain the quotation, if the citation says so.
    bound: Option<Label>,
}

/// Everything known about one answer before the verdicts.
pub(super) struct Court<'a> {
    pub(super) answer: Answer,
    pub(super) resolved: Vec<Resolved>,
    pub(super) covered: Vec<Covered>,
    pub(super) quotes: Vec<Quote>,
    pub(super) texts: &'a SourceTexts<'a>,
    pub(super) snapshot: &'a EvidenceSnapshot,
    pub(super) freshness: &'a FreshnessReport,
    pub(super) options: &'a VerifyOptions,
    /// Markers that are excused: their bracket appears verbatim in a cited item.
    pub(super) excused: BTreeSet<usize>,
    /// The language of the answer, if it is known.
    pub(super) language: Option<Language>,
    /// Items with instructions to the answerer.
    pub(super) suspects: BTreeSet<Label>,
}

pub(super) fn judge(
    draft: &Draft,
    snapshot: &EvidenceSnapshot,
    freshness: &FreshnessReport,
    options: &VerifyOptions,
    heads: &TableHeads,
) -> Report {
    let answer = Answer::of(draft, snapshot);
    let resolver = Resolver::new(snapshot, freshness, options);
    let resolved: Vec<Resolved> = answer
        .marks
        .iter()
        .map(|m| resolver.resolve(m, &answer.text))
        .collect();
    let quotes = find_quotes(&answer);
    let ranges: Vec<Range<usize>> = quotes.iter().map(|q| q.range.clone()).collect();
    let texts = SourceTexts::with_heads(snapshot, heads);
    let mut statements = EvidenceStatements::new(&texts);
    let covered = cover(
        &answer,
        snapshot.question(),
        &ranges,
        &mut statements,
        |mark| resolved.get(mark).is_some_and(Resolved::is_good),
    );
    let excused = BTreeSet::new();
    let suspects = laundering::suspects(&texts);
    let texts = &texts;
    let language = of_answer(&answer.masked);
    let mut court = Court {
        language,
        answer,
        resolved,
        covered,
        quotes,
        texts,
        snapshot,
        freshness,
        options,
        excused,
        suspects,
    };
    court.excuse();
    court.cover_code();
    let claims = court.claims();
    court.report(claims)
}

/// All quotations: in quote marks, in `[E3: "…"]`, in block quotes. In order of their starts.
fn find_quotes(answer: &Answer) -> Vec<Quote> {
    let mut out = quotes_in_marks(answer);
    out.extend(block_quotes(answer));
    out.extend(quotes_in_citations(answer));
    out.sort_by_key(|q| q.range.start);
    out.retain(|q| q.bound.is_some() || q.words.chars().count() >= SHORTEST);
    out
}

fn quotes_in_marks(answer: &Answer) -> Vec<Quote> {
    let mut out = Vec::new();
    for block in answer.units.chunk_by(|a, b| a.block == b.block) {
        let (Some(first), Some(last)) = (block.first(), block.last()) else {
            continue;
        };
        if matches!(
            first.role,
            BlockRole::Code | BlockRole::Quote | BlockRole::Html
        ) {
            continue;
        }
        let base = first.range.start;
        let text = answer.masked.get(base..last.range.end).unwrap_or("");
        if !has_marks(text) {
            continue;
        }
        for found in quoted_ranges(text, |at| answer.contexts.name_at(base + at).is_some()) {
            let range = base + found.start..base + found.end;
            out.push(Quote {
                words: normal_words(answer, &range),
                range,
                bound: None,
            });
        }
    }
    out
}

fn normal_words(answer: &Answer, range: &Range<usize>) -> String {
    let text = answer.text.get(range.clone()).unwrap_or("");
    Normal::of(text).as_str().to_owned()
}

fn block_quotes(answer: &Answer) -> impl Iterator<Item = Quote> {
    let blocks = answer
        .units
        .chunk_by(|a, b| a.role == BlockRole::Quote && b.role == BlockRole::Quote);
    blocks.filter_map(block_quote)
}

/// The quotation of these units, if they are a block quote.
fn block_quote(block: &[Unit]) -> Option<Quote> {
    let first = block.first().filter(|u| u.role == BlockRole::Quote)?;
    let text: Vec<&str> = block
        .iter()
        .filter(|u| u.says_something())
        .map(|u| u.words.as_str())
        .collect();
    Some(Quote {
        range: first.range.start..block.last()?.range.end,
        words: Normal::of(&text.join("\n")).as_str().to_owned(),
        bound: None,
    })
}

fn quotes_in_citations(answer: &Answer) -> impl Iterator<Item = Quote> {
    answer.marks.iter().filter_map(|mark| match &mark.kind {
        MarkKind::Written(MarkerKind::Quoted { label, quote }) => Some(Quote {
            words: normal_words(answer, &(quote.start()..quote.end())),
            range: mark.range.clone(),
            bound: Some(*label),
        }),
        _ => None,
    })
}

/// Whether the line, or each of its words, is in these texts.
fn is_line_known(line: &str, known: &[&str]) -> bool {
    known.iter().any(|text| has_line(text, line)) || has_all_words(line, known)
}

/// What is wrong with the coverage of a unit: a claim without a citation, or beside a refusal.
fn add_coverage_problems(
    unit: &Unit,
    kind: Kind,
    is_cited: bool,
    refused: bool,
    problems: &mut Vec<(Code, String)>,
) {
    match kind {
        Kind::Claim | Kind::LeadIn => {
            if refused {
                let why = "The answer says that it cannot answer, but claims this anyway.";
                problems.push((Code::AbstainWithClaims, why.to_owned()));
            }
            let is_marked = problems
                .iter()
                .any(|(code, _)| matches!(code.layer(), "L0" | "L1"));
            let may_be_free = kind == Kind::Claim && may_claim_nothing(unit);
            if !is_cited && !is_marked && !may_be_free {
                let what = what(unit.role);
                problems.push((Code::Uncited, format!("This {what} has no citation.")));
            }
        }
        // "I found no owner, but the budget is 5 million [E1]": a gap next to a cited claim.
        Kind::Refusal {
            claims: true,
            extent: Abstention::Gap,
        } if is_cited => {}
        Kind::Refusal { claims: true, .. } => {
            let why = "This sentence says that it cannot answer, but claims something anyway.";
            problems.push((Code::AbstainWithClaims, why.to_owned()));
        }
        _ => {}
    }
}

/// Whether a sentence may say nothing about the world: "No price is given", "Here is how it went".
fn may_claim_nothing(unit: &Unit) -> bool {
    let is_prose = matches!(unit.role, BlockRole::Paragraph | BlockRole::ListItem);
    let lower = plain_lower(&unit.words);
    is_prose && (may_name_a_gap(&lower) || may_announce(&lower))
}

/// The doubt about such a sentence without a citation.
fn uncited_doubt(unit: &Unit) -> Finding {
    let why = format!("This {} has no citation.", what(unit.role));
    Finding {
        effect: Effect::Doubts,
        ..Finding::pointer(Code::Uncited, why)
    }
}

fn is_mild(code: Code) -> bool {
    matches!(
        code,
        Code::Malformed | Code::Lookalike | Code::HiddenContext | Code::NotInSnapshot
    )
}

impl Court<'_> {
    /// The items that the claim in unit `i` relies on: cited properly, in a place that counts.
    fn labels(&self, i: usize) -> Vec<Label> {
        let Some(covered) = self.covered.get(i) else {
            return Vec::new();
        };
        let marks = covered.own.iter().chain(&covered.inherited);
        let good = marks
            .filter_map(|m| self.resolved.get(*m))
            .filter(|r| r.is_good());
        let mut labels: BTreeSet<Label> = good.flat_map(|r| r.labels.iter().copied()).collect();
        labels.extend(self.structural(i));
        if labels.is_empty() && self.options.scope == Scope::File {
            labels.extend(self.snapshot.items().iter().map(|item| item.label));
        }
        labels.into_iter().collect()
    }

    /// The items whose exact, cited bytes overlap unit `i`, if their files still contain them.
    fn structural(&self, i: usize) -> impl Iterator<Item = Label> {
        let range = self
            .answer
            .units
            .get(i)
            .map(|u| u.range.clone())
            .unwrap_or_default();
        let from = self
            .answer
            .quotes
            .partition_point(|q| q.range.end <= range.start);
        let here = self
            .answer
            .quotes
            .get(from..)
            .unwrap_or(&[])
            .iter()
            .take_while(move |q| q.range.start < range.end);
        here.filter(|q| {
            q.cited
                && !matches!(
                    self.freshness.of(q.label),
                    Freshness::Stale | Freshness::Gone
                )
        })
        .map(|q| q.label)
    }

    /// Excuses markers that only look like citations if a cited item of the same claim contains
    /// their whole bracket verbatim.
    fn excuse(&mut self) {
        let mut excused = BTreeSet::new();
        for (i, covered) in self.covered.iter().enumerate() {
            let suspects: Vec<usize> = covered
                .own
                .iter()
                .copied()
                .filter(|m| self.is_excusable(*m))
                .collect();
            if suspects.is_empty() {
                continue;
            }
            let labels = self.labels(i);
            excused.extend(suspects.into_iter().filter(|m| {
                self.bracket(*m)
                    .is_some_and(|bracket| self.stands_in_one(&labels, bracket))
            }));
        }
        self.excused = excused;
    }

    fn stands_in_one(&self, labels: &[Label], text: &str) -> bool {
        let mut items = labels.iter().filter_map(|l| self.texts.get(*l));
        items.any(|t| t.item.text.contains(text))
    }

    fn is_blank(&self, label: Label) -> bool {
        let text = self.texts.get(label);
        text.is_some_and(|text| text.item.text.trim().is_empty())
    }

    fn is_good(&self, mark: usize) -> bool {
        self.resolved.get(mark).is_some_and(Resolved::is_good)
    }

    /// Code without a citation uses the citations of the paragraph before it, if the cited text and
    /// the question have all its lines, or all words of a line. If the text has only the words, the
    /// code is doubtful: see [`Self::examine`].
    fn cover_code(&mut self) {
        let mut before: Vec<usize> = Vec::new();
        let mut block = None;
        for i in 0..self.covered.len() {
            let (Some(unit), Some(covered)) = (self.answer.units.get(i), self.covered.get(i))
            else {
                continue;
            };
            let marks = covered.own.iter().chain(&covered.inherited).copied();
            let own: Vec<usize> = marks.filter(|m| self.is_good(*m)).collect();
            if unit.role != BlockRole::Code {
                if block != Some(unit.block) {
                    before.clear();
                }
                block = Some(unit.block);
                before.extend(own.into_iter().take(MOST_REASONS));
                before.drain(..before.len().saturating_sub(MOST_REASONS * 4));
                continue;
            }
            let labels: BTreeSet<Label> = before
                .iter()
                .filter_map(|m| self.resolved.get(*m))
                .flat_map(|r| r.labels.iter().copied())
                .collect();
            let cited = labels.iter().filter_map(|l| self.texts.get(*l));
            let mut known: Vec<&str> = cited.map(|t| t.item.text.as_str()).collect();
            if known.is_empty() {
                continue;
            }
            // The question may name the object of the command.
            known.push(self.snapshot.question());
            let lines = unit.words.lines().map(str::trim);
            let mut lines = lines.filter(|l| l.chars().any(char::is_alphanumeric));
            let stands = unit.says_something() && lines.all(|line| is_line_known(line, &known));
            if own.is_empty()
                && stands
                && let Some(covered) = self.covered.get_mut(i)
            {
                covered.inherited.extend(before.iter().take(MOST_REASONS));
            }
        }
    }

    fn is_excusable(&self, mark: usize) -> bool {
        let Some(resolved) = self.resolved.get(mark) else {
            return false;
        };
        let source = matches!(
            self.answer.marks.get(mark).map(|m| &m.kind),
            Some(MarkKind::Written(MarkerKind::Source(_)))
        );
        !source
            && !resolved.problems.is_empty()
            && resolved.problems.iter().all(|(code, _)| is_mild(*code))
    }

    /// The whole bracket that a marker opens, on its line.
    fn bracket(&self, mark: usize) -> Option<&str> {
        let range = &self.answer.marks.get(mark)?.range;
        let own = self.answer.text.get(range.clone())?;
        let closers = [']', ')', '}', '】', '］', '〕', '」', '』', '）', '>'];
        if own.ends_with(closers) {
            return Some(own);
        }
        let rest = self.answer.text.get(range.end..)?;
        let line = rest
            .char_indices()
            .take(300)
            .take_while(|(_, c)| !matches!(c, '\n' | '\r'));
        let close = line.into_iter().find(|(_, c)| closers.contains(c))?;
        self.answer
            .text
            .get(range.start..range.end + close.0 + close.1.len_utf8())
    }

    /// The claims of the answer, and everything else that has an objection.
    fn claims(&mut self) -> Vec<Claim> {
        let judge = Judge::new(self.texts, self.snapshot.question());
        let found: Vec<Option<QuoteMatch>> = self
            .quotes
            .iter()
            .map(|q| self.judge_quote(&judge, q))
            .collect();
        let refusal = self.covered.iter().find_map(|c| match c.kind {
            Kind::Refusal {
                extent: Abstention::Whole,
                ..
            } => Some(()),
            _ => None,
        });
        let mut quotes_of: Vec<Vec<usize>> = vec![Vec::new(); self.covered.len()];
        for (n, quote) in self.quotes.iter().enumerate() {
            quotes_of
                .get_mut(self.units_of(&quote.range))
                .into_iter()
                .flatten()
                .for_each(|unit| unit.push(n));
        }
        let mut out = Vec::new();
        for (i, quotes) in quotes_of.iter().enumerate() {
            let here = quotes
                .iter()
                .filter_map(|n| Some((self.quotes.get(*n)?, found.get(*n)?.as_ref()?)));
            out.extend(self.claim(i, here.collect(), refusal.is_some()));
        }
        for &mark in &self.answer.strays {
            out.extend(self.stray(mark));
        }
        out.extend(self.hidden_markup());
        out.sort_by_key(|c| (c.span.start(), c.span.end()));
        out
    }

    /// `None` when there is nothing to report: the quote repeats the question, or is exact by
    /// structure.
    fn judge_quote(&self, judge: &Judge<'_>, quote: &Quote) -> Option<QuoteMatch> {
        let exact = &self.answer.quotes;
        let from = exact.partition_point(|q| q.range.end < quote.range.end);
        if exact
            .get(from)
            .is_some_and(|q| q.range.start <= quote.range.start && quote.range.end <= q.range.end)
        {
            return None;
        }
        let cited = match quote.bound {
            Some(label) => vec![label],
            None => {
                let mut labels: BTreeSet<Label> = BTreeSet::new();
                self.units_of(&quote.range)
                    .for_each(|i| labels.extend(self.labels(i)));
                labels.into_iter().collect()
            }
        };
        match judge.judge(&quote.words, &cited) {
            QuoteMatch::Rejected(_, _)
                if quote.bound.is_none() && judge.is_from_question(&quote.words) =>
            {
                None
            }
            // Without a citation, the objection is the missing citation, not a wrong target.
            QuoteMatch::Rejected(Code::QuoteMisattributed, _) if cited.is_empty() => None,
            found => Some(found),
        }
    }

    fn units_of(&self, range: &Range<usize>) -> Range<usize> {
        let first = self
            .answer
            .units
            .partition_point(|u| u.range.end <= range.start);
        let end = self
            .answer
            .units
            .partition_point(|u| u.range.start < range.end);
        first..end.max(first)
    }

    /// The report on unit `i`, if it claims something or something is wrong with it.
    fn claim(&self, i: usize, quotes: Vec<(&Quote, &QuoteMatch)>, refused: bool) -> Option<Claim> {
        let (unit, covered) = (self.answer.units.get(i)?, self.covered.get(i)?);
        let labels = self.labels(i);
        let mut problems = self.marker_problems(&covered.own);
        if !labels.is_empty() && labels.iter().all(|label| self.is_blank(*label)) {
            let why = "The cited lines have no text.".to_owned();
            problems.push((Code::SpanOutOfRange, why));
        }
        let introduces = self.only_introduces(unit, &quotes, &labels);
        let quoted = self.quoted_place(unit, quotes, &mut problems);
        if covered.kind == Kind::Free {
            problems.extend(self.title(unit));
        }
        let is_cited = !labels.is_empty();
        add_coverage_problems(unit, covered.kind, is_cited, refused, &mut problems);
        let is_claim = matches!(
            covered.kind,
            Kind::Claim | Kind::LeadIn | Kind::Refusal { claims: true, .. }
        );
        let denied = self.denied_topic(unit, covered.kind, &labels);
        let denied = denied
            .or_else(|| self.answered_question(&unit.words, covered.kind, &labels))
            .filter(|_| !introduces);
        let unsure = !is_cited && !refused && problems.is_empty() && covered.kind == Kind::Claim;
        let unsure = (unsure && may_claim_nothing(unit)).then(|| uncited_doubt(unit));
        if problems.is_empty() && !is_claim && denied.is_none() {
            return None;
        }
        let exact = self.find_exact(i, &labels);
        // A rejected claim needs no further check, and a quotation was already compared letter by
        // letter.
        let is_rejected = problems
            .iter()
            .any(|(code, _)| matches!(code.layer(), "L0" | "L1" | "L3"));
        let examined = if is_rejected || unit.role == BlockRole::Quote && quoted.is_some() {
            Examined::default()
        } else {
            self.examine(i, &labels, exact.is_some() || introduces)
        };
        let mut findings: Vec<Finding> = problems
            .into_iter()
            .map(|(code, why)| Finding::pointer(code, why))
            .collect();
        findings.extend(examined.findings);
        findings.extend(denied);
        findings.extend(unsure);
        let source = exact.as_ref().or(quoted.as_ref());
        let citations = self.citations(covered, &unit.words, &labels, source);
        let carriers = Carriers {
            exact,
            quoted,
            near: examined.near,
            is_foreign: examined.is_foreign,
        };
        let judged = self.verdict(&findings, carriers, examined.derivation.as_ref(), &labels);
        Some(Claim {
            text: if unit.words.is_empty() {
                self.slice(&unit.range)
            } else {
                unit.words.clone()
            },
            span: ByteSpan::new(unit.range.start, unit.range.end)?,
            verdict: judged.verdict,
            codes: codes_of(&findings, Effect::Rejects),
            doubts: codes_of(&findings, Effect::Doubts),
            remarks: codes_of(&findings, Effect::Remarks),
            citations,
            findings,
            derivation: examined.derivation,
            evidence: judged.evidence,
            why: judged.why,
        })
    }

    /// The place of the bytes that a unit quotes, by structure or in quotation marks. Adds a problem
    /// for each quotation that was rejected.
    fn quoted_place(
        &self,
        unit: &Unit,
        quotes: Vec<(&Quote, &QuoteMatch)>,
        problems: &mut Vec<(Code, String)>,
    ) -> Option<Place> {
        let mut quoted = self.structural_place(unit.range.clone());
        for (quote, found) in quotes {
            match found {
                QuoteMatch::Rejected(code, why) => {
                    let start = super::identity::shorten(&quote.words);
                    problems.push((*code, format!("“{start}”: {why}")));
                }
                QuoteMatch::In(label, range) => {
                    quoted = quoted.or_else(|| self.texts.get(*label)?.place(range.clone()));
                }
            }
        }
        quoted
    }

    /// The bytes that a unit quotes by structure, when it lies inside such a quote.
    fn structural_place(&self, range: Range<usize>) -> Option<Place> {
        let from = self
            .answer
            .quotes
            .partition_point(|q| q.range.end <= range.start);
        let quote = self
            .answer
            .quotes
            .get(from)
            .filter(|q| q.cited && q.range.start < range.end)?;
        let item = self.snapshot.item(quote.label)?;
        let start = quote.span.start().checked_sub(item.span.start())?;
        let (span, lines) = item.locate(start, start + quote.span.len())?;
        Some(Place {
            span,
            lines,
            ..self.texts.get(quote.label)?.whole()
        })
    }

    /// L8. Rejections decide first, then doubts, then the wording.
    fn verdict(
        &self,
        findings: &[Finding],
        carriers: Carriers,
        derivation: Option<&Derivation>,
        labels: &[Label],
    ) -> Judgement {
        let worst = findings.iter().map(|f| f.effect).max();
        let remarks = sentences_of(findings, Effect::Remarks);
        let own = match worst {
            Some(Effect::Rejects) => Some((Verdict::Rejected, Effect::Rejects)),
            Some(Effect::Doubts) => Some((Verdict::Doubtful, Effect::Doubts)),
            Some(Effect::Remarks) | None => None,
        };
        let cited = labels.first().and_then(|l| self.texts.get(*l));
        let Carriers {
            exact,
            quoted,
            near,
            is_foreign,
        } = carriers;
        if let Some((verdict, effect)) = own {
            let mut against = findings.iter().filter(|f| f.effect == effect);
            let against = against.find_map(|f| f.evidence.clone());
            let carrier = exact.or(quoted).or(against).or(near);
            return Judgement {
                verdict,
                evidence: carrier.or_else(|| cited.map(super::source_text::SourceText::whole)),
                why: join(sentences_of(findings, effect), remarks),
            };
        }
        let (verdict, evidence, why) = if let Some(place) = exact {
            let why = format!("Word for word in {}.", shown(&place));
            (Verdict::Verified, Some(place), why)
        } else if let Some(place) = quoted {
            let why = format!(
                "The quoted words are in {}. The sentence around them is not proven.",
                shown(&place)
            );
            (Verdict::Checked, Some(place), why)
        } else {
            let place = near.or_else(|| cited.map(super::source_text::SourceText::whole));
            let at = place.as_ref().map_or_else(String::new, shown);
            match derivation {
                Some(derivation) => {
                    let why = format!(
                        "Computed from {at}: {derivation}. The words around it are not proven."
                    );
                    (Verdict::Derived, place, why)
                }
                None => {
                    let what = match is_foreign {
                        true => {
                            "It is in another language: only numbers, dates and names were compared."
                        }
                        false => "The wording is the answer's own and is not proven.",
                    };
                    let why = format!("Properly cited to {at}. {what}");
                    (Verdict::Checked, place, why)
                }
            }
        };
        Judgement {
            verdict,
            evidence,
            why: join(vec![why], remarks),
        }
    }

    fn marker_problems(&self, marks: &[usize]) -> Vec<(Code, String)> {
        let marks = marks.iter().filter(|m| !self.excused.contains(m));
        marks
            .filter_map(|m| self.resolved.get(*m))
            .flat_map(|r| r.problems.iter().cloned())
            .collect()
    }

    /// Where the claim appears word for word, as whole sentences.
    fn find_exact(&self, i: usize, labels: &[Label]) -> Option<Place> {
        let unit = self.answer.units.get(i)?;
        let normal = Normal::of(&unit.words);
        let words = normal.as_str().trim_matches('"').trim();
        labels
            .iter()
            .filter_map(|l| self.texts.get(*l))
            .find_map(|t| t.place(t.find_sentences(words)?))
    }

    /// Those of several items that have no word of the claim, while others have some.
    fn items_without_words(&self, claim: &str, labels: &[Label]) -> BTreeSet<Label> {
        if labels.len() < 2 {
            return BTreeSet::new();
        }
        let words: Vec<String> = content_words(claim).collect();
        let (without, with): (BTreeSet<Label>, BTreeSet<Label>) = labels
            .iter()
            .copied()
            .partition(|label| !self.has_one_of(*label, &words));
        if with.is_empty() {
            return BTreeSet::new();
        }
        without
    }

    fn has_one_of(&self, label: Label, words: &[String]) -> bool {
        let text = self.texts.get(label);
        text.is_some_and(|t| words.iter().any(|w| t.words().contains(w)))
    }

    fn citations(
        &self,
        covered: &Covered,
        words: &str,
        labels: &[Label],
        place: Option<&Place>,
    ) -> Vec<CitationReport> {
        let mut padding = self.items_without_words(words, labels);
        padding.retain(|label| place.is_none_or(|p| p.label != *label));
        let mut out = Vec::new();
        for &mark in covered.own.iter().chain(&covered.inherited) {
            let (Some(m), Some(resolved)) = (self.answer.marks.get(mark), self.resolved.get(mark))
            else {
                continue;
            };
            if self.excused.contains(&mark) {
                continue;
            }
            let Some(span) = ByteSpan::new(m.range.start, m.range.end) else {
                continue;
            };
            let codes: BTreeSet<Code> = resolved.problems.iter().map(|(code, _)| *code).collect();
            if resolved.labels.is_empty() {
                let codes = codes.iter().copied().collect();
                let chunk_key = resolved.unknown_key;
                out.push(CitationReport {
                    span,
                    label: None,
                    chunk_key,
                    freshness: None,
                    codes,
                });
            }
            for label in &resolved.labels {
                let mut codes: Vec<Code> = codes.iter().copied().collect();
                codes.extend(self.suspects.contains(label).then_some(Code::Injection));
                codes.extend(padding.contains(label).then_some(Code::Precision));
                let chunk_key = self.snapshot.item(*label).map(|item| item.chunk_key);
                let freshness = Some(self.freshness.of(*label));
                out.push(CitationReport {
                    span,
                    label: Some(*label),
                    chunk_key,
                    freshness,
                    codes,
                });
            }
        }
        out
    }

    fn slice(&self, range: &Range<usize>) -> String {
        self.answer.text.get(range.clone()).unwrap_or("").to_owned()
    }

    /// A marker outside every unit, when something is wrong with it.
    fn stray(&self, mark: usize) -> Option<Claim> {
        let problems = self.marker_problems(&[mark]);
        let range = self.answer.marks.get(mark)?.range.clone();
        self.beside_units(range, problems)
    }

    /// The elements of HTML that load, run or hide something and that no cited item has.
    fn hidden_markup(&self) -> Vec<Claim> {
        const WHY: &str = "No text that this answer cites contains this HTML.";
        let html = self.answer.contexts.html();
        let elements = html.iter().flat_map(|part| {
            let text = self.answer.text.get(part.clone()).unwrap_or("");
            let found = active_elements(text).into_iter();
            found.map(move |range| part.start + range.start..part.start + range.end)
        });
        let elements: Vec<Range<usize>> = elements.collect();
        if elements.is_empty() {
            return Vec::new();
        }
        let mut cited = self.labels_of_answer();
        cited.sort_unstable();
        cited.dedup();
        // Each is looked for once, and only so many; the others count as foreign.
        let mut known: HashMap<&str, bool> = HashMap::new();
        let foreign = elements.into_iter().filter(|range| {
            let element = self.answer.text.get(range.clone()).unwrap_or("");
            let may_look = known.len() < MOST_ELEMENTS;
            let is_there = || may_look && self.stands_in_one(&cited, element);
            !*known.entry(element).or_insert_with(is_there)
        });
        let problems = || vec![(Code::Code, WHY.to_owned())];
        foreign
            .filter_map(|range| self.beside_units(range, problems()))
            .collect()
    }

    /// The report on a part of the answer that belongs to no unit; `None` if nothing is wrong.
    fn beside_units(&self, range: Range<usize>, problems: Vec<(Code, String)>) -> Option<Claim> {
        if problems.is_empty() {
            return None;
        }
        let findings: Vec<Finding> = problems
            .into_iter()
            .map(|(code, why)| Finding::pointer(code, why))
            .collect();
        let judged = self.verdict(&findings, Carriers::default(), None, &[]);
        Some(Claim {
            text: self.slice(&range),
            span: ByteSpan::new(range.start, range.end)?,
            verdict: judged.verdict,
            codes: codes_of(&findings, Effect::Rejects),
            doubts: Vec::new(),
            remarks: Vec::new(),
            citations: Vec::new(),
            findings,
            derivation: None,
            evidence: judged.evidence,
            why: judged.why,
        })
    }
}

/// The places that may support a claim, the strongest first.
#[derive(Default)]
struct Carriers {
    /// The place of the same words.
    exact: Option<Place>,
    /// The place of its quotation.
    quoted: Option<Place>,
    /// The sentence that supports most of it.
    near: Option<Place>,
    /// Whether the claim is in another language than what it cites.
    is_foreign: bool,
}

/// The verdict on one claim.
struct Judgement {
    verdict: Verdict,
    evidence: Option<Place>,
    why: String,
}

/// The codes with this effect; sorted, each once.
fn codes_of(findings: &[Finding], effect: Effect) -> Vec<Code> {
    let codes = findings.iter().filter(|f| f.effect == effect);
    let codes: BTreeSet<Code> = codes.map(|f| f.code).collect();
    codes.into_iter().collect()
}

/// The findings with this effect as sentences; each once, up to a limit.
fn sentences_of(findings: &[Finding], effect: Effect) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let of = findings.iter().filter(|f| f.effect == effect);
    for sentence in of.take(MOST_REASONS * 8).map(Finding::sentence) {
        if out.len() < MOST_REASONS && !out.contains(&sentence) {
            out.push(sentence);
        }
    }
    out
}

fn join(mut sentences: Vec<String>, more: Vec<String>) -> String {
    sentences.extend(more);
    sentences.join(" ")
}

/// A place in readable form: `E1 (plan.md, lines 3-4)`.
fn shown(place: &Place) -> String {
    let lines = said_lines(place.path.as_str(), place.lines);
    format!("{} ({}, {lines})", place.label, place.path)
}

fn what(role: BlockRole) -> &'static str {
    match role {
        BlockRole::ListItem => "list item",
        BlockRole::TableRow | BlockRole::TableHeader => "table row",
        BlockRole::Heading => "heading",
        BlockRole::Code => "block of code",
        BlockRole::Quote => "block quote",
        _ => "sentence",
    }
}
