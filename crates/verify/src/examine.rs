//! Runs L4–L6 on a cited claim: parses the claim once, collects what it is checked against, and
//! skips what needs no check.

use std::ops::Range;
use std::rc::Rc;

use super::answer::Unit;
use super::atoms::{CalendarPlace, What, calendar_place, code_spans};
use super::checks::{self, Case, Extent, Findings, Source};
use super::coverage::Kind;
use super::denied::speaks_of;
use super::finding::Place;
use super::finding::{Detail, Effect, Finding, Objection};
use super::judge::Court;
use super::phrases::{
    asks, denied_topics, is_advice, plain_lower, says_nothing_new, without_refusals,
};
use super::reading::Reading;
use super::text::{Lexicon, Token, has_stem};
use super::{Code, Derivation};
use local_agent_text::evidence::Normal;
use local_agent_text::markdown::BlockRole;
use local_agent_text::types::{ByteSpan, Label};

/// Maximum number of sentences of one item that are searched for a topic.
pub(super) const MOST_SENTENCES: usize = 40;

/// The result of the layers for one claim.
#[derive(Default)]
pub(super) struct Examined {
    pub findings: Vec<Finding>,
    /// The computation, when a number of the claim follows from the cited text.
    pub derivation: Option<Derivation>,
    /// The sentence that supports most of the claim.
    pub near: Option<Place>,
    /// Whether the claim is in another language than what it cites.
    pub is_foreign: bool,
}

impl<'a> Court<'a> {
    /// Applies L4–L6 to unit `i`, which relies on `labels`. A unit that is verbatim in the evidence
    /// is only checked for contradictions in other items.
    pub(super) fn examine(&self, i: usize, labels: &[Label], verbatim: bool) -> Examined {
        let (Some(unit), Some(covered)) = (self.answer.units.get(i), self.covered.get(i)) else {
            return Examined::default();
        };
        if labels.is_empty() || self.is_structural(unit) {
            return Examined::default();
        }
        let extent = match (unit.role, covered.kind) {
            (BlockRole::Code, _) => return self.code(unit, labels),
            (_, Kind::LeadIn) => Extent::LeadIn,
            (_, Kind::Refusal { claims: true, .. }) => Extent::Sentence,
            (BlockRole::TableRow | BlockRole::TableHeader, _) => Extent::Row,
            (_, Kind::Claim) => Extent::Sentence,
            _ => return Examined::default(),
        };
        let normal = Normal::of(&unit.words);
        // "I found no owner, but the budget is 5": the refusal is the answerer's own.
        let is_refusal = matches!(covered.kind, Kind::Refusal { .. });
        let rest = is_refusal.then(|| without_refusals(normal.as_str()));
        let (stated, extent) = match &rest {
            Some(Some(rest)) => (rest.as_str(), extent),
            Some(None) => (normal.as_str(), Extent::Row),
            None => (normal.as_str(), extent),
        };
        let claim = Reading::claim(stated, &mut self.texts.lexicon().borrow_mut());
        let (cited, others) = self.sources(labels);
        let around = self.around(&cited);
        let asked = self.asked();
        // A claim is compared once, so each comparison needs its own.
        let is_disputable = !verbatim
            && extent == Extent::Sentence
            && checks::disputed::may_be_disputed(&claim, &cited);
        let alone = cited.iter().filter(|_| is_disputable).map(|source| {
            let claim = Reading::claim(stated, &mut self.texts.lexicon().borrow_mut());
            (claim, self.around(std::slice::from_ref(source)))
        });
        let alone: Vec<(Reading, Rc<Reading>)> = alone.collect();
        let case = Case {
            claim: &claim,
            raw: &unit.words,
            code: code_spans(&unit.words),
            cited: &cited,
            others: &others,
            around: &around,
            asked: &asked,
            language: self.language,
            listed: covered.listed,
            extent,
            lexicon: &self.texts.lexicon().borrow(),
        };
        let found = if verbatim {
            checks::conflicts(&case)
        } else {
            checks::check(&case)
        };
        let alone = alone.iter().zip(&cited).map(|((claim, around), source)| {
            checks::check(&Case {
                claim,
                around,
                cited: std::slice::from_ref(source),
                others: &[],
                code: case.code.clone(),
                ..case
            })
        });
        let found = match is_disputable {
            true => checks::disputed::settle(&case, found, alone.collect()),
            false => found,
        };
        let Findings {
            objections,
            derivation,
            place,
            is_foreign,
        } = found;
        let near = place.and_then(|(label, range)| self.texts.get(label)?.place(range));
        let findings = objections
            .into_iter()
            .map(|o| self.finding(unit, &normal, o));
        Examined {
            findings: findings.collect(),
            derivation,
            near,
            is_foreign,
        }
    }

    /// The doubt about a refusal that cites a text: one sentence of the text has everything that it is
    /// said not to mention.
    pub(super) fn denied_topic(
        &self,
        unit: &Unit,
        kind: Kind,
        labels: &[Label],
    ) -> Option<Finding> {
        if !matches!(kind, Kind::Refusal { .. }) || labels.is_empty() {
            return None;
        }
        let lower = plain_lower(&unit.words);
        let mut topics = denied_topics(&lower).into_iter();
        topics.find_map(|topic| self.spoken_of(&topic, labels))
    }

    /// The doubt about a topic that one sentence of these items has.
    fn spoken_of(&self, topic: &str, labels: &[Label]) -> Option<Finding> {
        let topic = Reading::claim(topic, &mut self.texts.lexicon().borrow_mut());
        let tokens = topic.text.tokens.iter();
        let words: Vec<&Token> = tokens.filter(|t| t.is_content_or_number()).collect();
        let first = words.first()?;
        let mut texts = labels.iter().filter_map(|label| self.texts.get(*label));
        let place = texts.find_map(|text| {
            let reading = self.texts.reading(text);
            let mut sentences = reading.sentences_with(first.id).iter().take(MOST_SENTENCES);
            let found = sentences.find(|n| {
                let tokens = reading.tokens_of(**n as usize);
                words.iter().all(|w| has_stem(tokens, w.id))
            })?;
            text.place(reading.sentence(*found as usize)?.bytes.clone())
        })?;
        Some(speaks_of(&topic, place))
    }

    /// An objection with its places in the answer and in the files.
    fn finding(&self, unit: &Unit, normal: &Normal, objection: Objection) -> Finding {
        let Objection {
            code,
            effect,
            claim,
            evidence,
            detail,
        } = objection;
        let raw = claim.and_then(|range| normal.raw(range));
        let span = raw.and_then(|raw| {
            let (start, end) = (unit.place(raw.start)?, unit.place(raw.end - 1)? + 1);
            ByteSpan::new(start, end)
        });
        let evidence = evidence.and_then(|(label, range)| self.texts.get(label)?.place(range));
        Finding {
            code,
            effect,
            span,
            evidence,
            detail,
        }
    }

    /// The cited items and the others, parsed.
    fn sources(&self, labels: &[Label]) -> (Vec<Source<'a>>, Vec<Source<'a>>) {
        let all = self.texts.iter().map(|text| Source {
            item: text.as_read(),
            reading: self.texts.reading(text),
        });
        all.partition(|source| labels.contains(&source.item.label))
    }

    /// The question, parsed once.
    fn asked(&self) -> Rc<Reading> {
        self.texts
            .around(Vec::new(), || self.snapshot.question().to_owned())
    }

    /// The headings and paths of some items as words.
    fn around(&self, sources: &[Source<'_>]) -> Rc<Reading> {
        let labels = sources.iter().map(|s| s.item.label).collect();
        self.texts.around(labels, || headings_and_paths(sources))
    }

    /// Whether a unit consists of exact bytes of cited items.
    fn is_structural(&self, unit: &Unit) -> bool {
        let from = self
            .answer
            .quotes
            .partition_point(|q| q.range.end <= unit.range.start);
        let mut taken: Vec<Range<usize>> = self
            .answer
            .quotes
            .get(from..)
            .unwrap_or(&[])
            .iter()
            .take_while(|q| q.range.start < unit.range.end)
            .map(|q| q.range.clone())
            .collect();
        if taken.is_empty() {
            return false;
        }
        taken.extend(
            unit.marks
                .iter()
                .filter_map(|m| self.answer.marks.get(*m))
                .map(|m| m.range.clone()),
        );
        taken.sort_by_key(|r| r.start);
        let mut at = unit.range.start;
        let mut own = String::new();
        for range in taken {
            own.push_str(self.answer.text.get(at..range.start).unwrap_or(""));
            at = at.max(range.end);
        }
        own.push_str(
            self.answer
                .text
                .get(at..unit.range.end.max(at))
                .unwrap_or(""),
        );
        !own.chars().any(char::is_alphanumeric)
    }

    /// Checks that lines of code appear verbatim in a cited item.
    fn code(&self, unit: &Unit, labels: &[Label]) -> Examined {
        let cited: Vec<&str> = labels
            .iter()
            .filter_map(|l| self.texts.get(*l))
            .map(|t| t.item.text.as_str())
            .collect();
        let lines = unit
            .words
            .lines()
            .map(str::trim)
            .filter(|l| l.chars().any(char::is_alphanumeric));
        let mut strange =
            lines.filter(|line| !cited.iter().any(|text| checks::has_line(text, line)));
        let Some(first) = strange.next() else {
            return Examined::default();
        };
        // Code composed of words of the cited text and of the question is only doubtful.
        let mut known = cited.clone();
        known.push(self.snapshot.question());
        let composed = std::iter::once(first)
            .chain(strange)
            .all(|line| checks::has_all_words(line, &known));
        let said = super::identity::shorten(first);
        let finding = Finding {
            code: Code::Code,
            effect: match composed {
                true => Effect::Doubts,
                false => Effect::Rejects,
            },
            span: None,
            evidence: None,
            detail: Detail::Absent { said },
        };
        Examined {
            findings: vec![finding],
            ..Examined::default()
        }
    }

    /// Checks a line that needs no citation, such as a heading or a question. It may only mention
    /// things that the question or the cited items mention.
    pub(super) fn title(&self, unit: &Unit) -> Option<(Code, String)> {
        let titled = matches!(unit.role, BlockRole::Heading | BlockRole::TableHeader)
            || unit.words.starts_with("**");
        if says_nothing_new(&unit.words)
            || is_advice(&plain_lower(&unit.words))
            || !(titled || asks(&unit.words))
        {
            return None;
        }
        let question = Reading::claim(
            Normal::of(self.snapshot.question()).as_str(),
            &mut self.texts.lexicon().borrow_mut(),
        );
        let claim = Reading::claim(
            Normal::of(&unit.words).as_str(),
            &mut self.texts.lexicon().borrow_mut(),
        );
        let (cited, _) = self.sources(&self.labels_of_answer());
        let around = self.around(&cited);
        let readings: Vec<&Reading> = cited
            .iter()
            .map(|s| s.reading)
            .chain([&question, &*around])
            .collect();
        let is_header = unit.role == BlockRole::TableHeader;
        let lexicon = self.texts.lexicon().borrow();
        let odd = word_that_claims(&claim, is_header, &readings, &lexicon)?;
        Some((Code::Uncited, stands_nowhere(claim.word(odd))))
    }

    /// All items that the answer cites properly.
    pub(super) fn labels_of_answer(&self) -> Vec<Label> {
        let good = self.resolved.iter().filter(|r| r.is_good());
        let cited = self.answer.quotes.iter().filter(|q| q.cited);
        good.flat_map(|r| r.labels.iter().copied())
            .chain(cited.map(|q| q.label))
            .collect()
    }
}

/// The word of a title that makes it a claim of its own: one that no reading has.
fn word_that_claims<'c>(
    claim: &'c Reading,
    is_header: bool,
    readings: &[&Reading],
    lexicon: &Lexicon,
) -> Option<&'c Token> {
    let tokens = claim.text.tokens.as_slice();
    // "The boiler runs at 9 bar".
    let amount = tokens
        .iter()
        .find(|t| t.number && is_before_a_unit(claim, t) && !is_in_any(readings, t.id, lexicon));
    if amount.is_some() {
        return amount;
    }
    let content: Vec<&Token> = tokens
        .iter()
        .filter(|t| {
            t.is_content() && !is_usual_in_titles(claim.word(t)) && !is_item_number(claim, t)
        })
        .collect();
    let mut strange = content.clone();
    strange.retain(|t| !is_in_any(readings, t.id, lexicon) && !is_month_of(readings, claim, t));
    let may_oppose = content.len() > 1 && !is_header;
    let odd = strange.iter().copied().find(|t| {
        is_telling(t)
            || may_oppose && !t.pairs().is_empty()
            || is_act_of_a_thing(claim, &content, t)
    });
    let mostly_strange = content.len() >= 3 && strange.len() * 2 > content.len();
    odd.or_else(|| {
        let first = strange.first().copied();
        first.filter(|_| !is_header && mostly_strange)
    })
}

fn headings_and_paths(sources: &[Source<'_>]) -> String {
    let mut text = String::new();
    for source in sources {
        text.push_str(&source.item.heading.to_string());
        text.push_str(" | ");
        text.push_str(&source.item.path.as_str().replace(['/', '_'], " "));
        text.push_str(" | ");
    }
    text
}

fn is_in_any(readings: &[&Reading], id: u32, lexicon: &Lexicon) -> bool {
    readings.iter().any(|r| r.matches(id, lexicon) > 0.0)
}

/// Whether a word names a month that one of these texts names in another form: "March" and "Mar 25".
fn is_month_of(readings: &[&Reading], claim: &Reading, token: &Token) -> bool {
    let Some(CalendarPlace::Month(month)) = calendar_place(claim.word(token)) else {
        return false;
    };
    let mut dates = readings.iter().flat_map(|reading| &reading.atoms);
    dates.any(|atom| matches!(&atom.what, What::Date(date) if date.month == Some(month)))
}

fn is_before_a_unit(claim: &Reading, token: &Token) -> bool {
    let next = claim.text.tokens.iter().find(|n| n.start >= token.end);
    next.is_some_and(|n| super::atoms::unit(claim.word(n)).is_some())
}

/// "Step 3": a small number without a unit.
fn is_item_number(claim: &Reading, token: &Token) -> bool {
    token.number
        && claim.word(token).parse::<u32>().is_ok_and(|n| n <= 20)
        && !is_before_a_unit(claim, token)
}

fn is_usual_in_titles(word: &str) -> bool {
    says_nothing_new(word)
        || matches!(
            word.to_lowercase().as_str(),
            "step" | "phase" | "part" | "section" | "chapter" | "appendix" | "option"
        )
}

/// Whether a word alone makes a statement of a title.
fn is_telling(token: &Token) -> bool {
    token.number
        || token.status().is_some()
        || token.turns()
        || checks::is_name(token) && !token.first
}

/// "The boiler explodes": an article, a thing and what it does.
fn is_act_of_a_thing(claim: &Reading, content: &[&Token], token: &Token) -> bool {
    let first = claim.text.tokens.first();
    let article = first.is_some_and(|t| matches!(&*claim.lower_word(t), "the" | "a" | "an"));
    let word = claim.word(token);
    let verb = word.ends_with('s') && !word.ends_with("ss") || word.ends_with("ed");
    article && verb && content.len() > 1 && content.first().is_some_and(|f| f.start < token.start)
}

/// What is wrong with a line without a citation that says `word`.
fn stands_nowhere(word: &str) -> String {
    format!("No text that this answer cites contains “{word}”, and this line has no citation.")
}
