//! L4–L6: does the cited text say what the claim says? Each check has its own file; this module
//! combines them.

mod actors;
mod added_details;
mod addresses;
mod affinity;
mod agreed;
mod align;
mod arithmetic;
mod asserted;
mod atoms;
mod averages;
mod binding;
mod bounds;
mod boxes;
mod cells;
mod clauses;
mod code;
mod column_units;
mod combinations;
mod comparatives;
mod compared;
mod complements;
mod consequences;
mod contrast;
mod counts;
mod crossed;
mod denials;
mod derive;
mod direction;
pub(crate) mod disputed;
mod durations;
mod elliptic;
mod ends;
mod equations;
mod exceptions;
mod exchanged;
mod explained;
mod extremes;
mod foreign;
mod former;
mod formulas;
mod fractions;
mod frequencies;
mod governed;
mod greater;

mod added_modifiers;
mod anchored;
mod circumstances;
mod initials;
mod labelled_verdicts;
mod labels;
mod language;
mod left_out;
mod limits;
mod listed_parts;
mod listed_values;
mod literals;
mod modality;
mod month_parts;
mod name_codes;
mod name_forms;
mod names;
mod nearest;
mod negation;
mod notations;
mod nouns;
mod novelty;
mod numbers;
mod operands;
mod opposed_words;
mod opposite_prepositions;
mod order;
mod ordinals;
mod pairs;
mod parallel;
mod parties;
mod passages;
mod prefixes;
mod quantity;
mod reasons;
mod recombined;
mod referent;
mod rejection;
mod replaced_names;
mod restated_limits;
mod rivals;
mod rows;
mod scopes;
mod sequence;
mod shifted;
mod status;
mod superlatives;
mod support_or_opposition;
mod things;
mod totals;
mod unconditional;
mod units_left_out;
mod unticked;
mod years;

use std::ops::Range;

use super::finding::{Detail, Effect, Objection};
use super::reading::Reading;
use super::support::{self, Features, Window, best_window, measure, weights};
use super::text::Lexicon;
use super::{Code, Derivation};
use local_agent_text::evidence::EvidenceItem;
use local_agent_text::types::Label;

use self::align::Alignment;
pub(crate) use self::code::{has_all_words, has_line};
pub(crate) use self::labels::{Family, families};
pub(crate) use self::language::{Language, of_answer};
pub(crate) use self::names::is_name;
pub(crate) use self::referent::Thing;

/// One item of evidence, parsed for comparison.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The item.
    pub item: &'a EvidenceItem,
    /// Its text.
    pub reading: &'a Reading,
}

/// One claim and everything it is checked against.
pub(crate) struct Case<'a> {
    /// The claim, parsed.
    pub claim: &'a Reading,
    /// The claim as written.
    pub raw: &'a str,
    /// Its code spans, without the back-ticks.
    pub code: Vec<&'a str>,
    /// The items that it cites.
    pub cited: &'a [Source<'a>],
    /// The other items of the snapshot.
    pub others: &'a [Source<'a>],
    /// The headings and paths of the cited items, parsed: a name may appear there.
    pub around: &'a Reading,
    /// The question, parsed: the person who asked knows the names in it.
    pub asked: &'a Reading,
    /// The language of the whole answer, if it is known.
    pub language: Option<Language>,
    /// The number of items in the list that the claim introduces.
    pub listed: usize,
    /// Which layers apply.
    pub extent: Extent,
    /// The stems of all texts.
    pub lexicon: &'a Lexicon,
}

/// Maximum number of numbers, dates and names in a claim whose values are computed or looked for in
/// lists, one by one; bounds the work on hostile text.
const MOST_ATOMS: usize = 64;

impl Case<'_> {
    /// Whether the claim has so many numbers, dates and names that none of them is computed.
    fn has_many_atoms(&self) -> bool {
        self.claim.atoms.len() > MOST_ATOMS
    }
}

/// How much of a claim is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything: a sentence.
    Sentence,
    /// A table row: what its cells contain, without polarity.
    Row,
    /// It introduces a list: its own words need little support.
    LeadIn,
}

/// The result of all checks of a claim.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The objections to the claim.
    pub objections: Vec<Objection>,
    /// The computation, when a number of the claim follows from the cited text.
    pub derivation: Option<Derivation>,
    /// The sentence that supports most of it: the item, and bytes of its normalised text.
    pub place: Option<(Label, Range<usize>)>,
    /// Whether the claim is in another language than what it cites, so that its words were not
    /// compared.
    pub is_foreign: bool,
}

impl Findings {
    fn worded(&mut self, effect: Effect, found: impl IntoIterator<Item = (Code, String)>) {
        self.objections.extend(
            found
                .into_iter()
                .map(|(code, why)| Objection::new(code, effect, Detail::Pointer { why })),
        );
    }

    /// Whether an objection rejects the claim.
    fn rejects(&self) -> bool {
        self.objections.iter().any(|o| o.effect == Effect::Rejects)
    }

    fn add(&mut self, found: impl IntoIterator<Item = (Code, String)>) {
        self.worded(Effect::Rejects, found);
    }
}

/// A claim with fewer words is doubtful if the cited text has none of them: "It looks that way."
const LEAST_WORDS: usize = 5;

/// Another item is suggested if its support is greater by at least this much.
const BETTER: f64 = 0.25;

/// Checks a claim against what it cites.
pub(crate) fn check(case: &Case<'_>) -> Findings {
    let mut out = Findings::default();
    let readings: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    let alignment = Alignment::of(case);
    out.derivation = explained::explain(case);
    let window = best_window(case.claim, &readings, case.lexicon);
    if let Some(place) = window.and_then(|w| place(case.cited, w)) {
        out.place = Some(place);
    }
    let foreign = language::differ(case.claim, case.language, &readings);
    out.is_foreign = foreign;
    for (effect, code, why) in atoms::check(case, &alignment) {
        out.worded(effect, [(code, why)]);
    }
    out.objections.extend(code::check(case));
    out.objections
        .extend(names::check(case, &alignment, foreign));
    out.objections.extend(pairs::check(case));
    belonging(case, &alignment, &mut out);
    out.objections.extend(exchanged::check(case));
    out.objections.extend(governed::check(case, foreign));
    let pairings = nearest::pairings(case);
    let passages = passages::Passages::of(case);
    if case.extent != Extent::Row {
        // Two languages deny with different words, in different places.
        if !foreign {
            polarity(case, &pairings, &alignment, &passages, &mut out);
        }
        out.objections.extend(direction::check(case, &pairings));
        let turned = order::check(case, &pairings);
        let parties = turned.is_empty().then(|| parties::check(case, &pairings));
        out.objections.extend(turned);
        out.objections.extend(parties.flatten());
        out.objections.extend(contrast::check(case));
        if case.extent == Extent::Sentence {
            out.objections.extend(quantity::check(case, &pairings));
            out.objections.extend(modality::check(case, &pairings));
            out.objections.extend(status::check(case, &pairings));
            if !foreign {
                out.objections.extend(clauses::check(case, &pairings));
                out.objections
                    .extend(novelty::check(case, &pairings, &alignment));
                out.objections.extend(added_modifiers::check(case));
                everyday(case, &passages, &mut out);
            }
        }
    }
    low_support(case, &readings, window, foreign, &mut out);
    let low = out.objections.iter().filter(|o| o.code == Code::LowSupport);
    let parts: Vec<Range<usize>> = low.clone().filter_map(|o| o.claim.clone()).collect();
    if low.count() > 0
        && (comparatives::is_proven(case)
            || says_little_more(case) && is_proven_by_a_row(case)
            || anchored::stands_in_one_place(case, &parts))
    {
        out.objections.retain(|o| o.code != Code::LowSupport);
    }
    complements::settle(case, &mut out.objections);
    out.objections.retain(|o| !negation::is_taken_out(case, o));
    restated_limits::settle(case, &mut out.objections);
    exceptions::settle(case, &passages, &mut out.objections);
    unticked::settle(case, &passages, &mut out.objections);
    rejection::settle(case, &mut out.objections, &pairings, &alignment, foreign);
    if case.extent == Extent::Sentence {
        out.objections.extend(referent::conflict(case));
    }
    out
}

/// L5: negations. A claim that denies what a cell of a table says no to is right.
fn polarity(
    case: &Case<'_>,
    pairings: &[nearest::Pairing<'_>],
    alignment: &Alignment<'_>,
    passages: &passages::Passages<'_>,
    out: &mut Findings,
) {
    if cells::denies(case) {
        return;
    }
    let found = negation::check(case, pairings, alignment, passages);
    out.objections.extend(found);
    out.objections.extend(denials::check(case));
}

/// Maximum number of content words of a claim that are in no cited text, if a row proves the rest.
const MOST_UNKNOWN: usize = 2;

/// Whether nearly all content words of a claim are in the cited text.
fn says_little_more(case: &Case<'_>) -> bool {
    let tokens = case.claim.text.tokens.iter();
    let content = tokens.filter(|t| t.is_content() && !t.number);
    let unknown = content.filter(|t| !case.cited.iter().any(|s| s.reading.has(t.id)));
    unknown.count() <= MOST_UNKNOWN
}

/// Whether a row of a table has all amounts of the claim, or its superlative is true of a row.
fn is_proven_by_a_row(case: &Case<'_>) -> bool {
    superlatives::is_proven(case) || cells::is_proven(case)
}

/// L4 and L5: what everyday notes say of tasks, people, reasons, exceptions and earlier times. A check
/// is asked only if nothing was found before.
fn everyday(case: &Case<'_>, passages: &passages::Passages<'_>, out: &mut Findings) {
    let checks: [EverydayCheck; 27] = [
        cells::check,
        listed_values::check,
        ends::check,
        boxes::check,
        boxes::person,
        actors::check,
        opposite_prepositions::check,
        elliptic::check,
        support_or_opposition::check,
        comparatives::check,
        asserted::check,
        consequences::check,
        former::check,
        reasons::check,
        left_out::check,
        circumstances::check,
        prefixes::check,
        extremes::check,
        superlatives::check,
        unticked::check,
        labelled_verdicts::check,
        exceptions::check,
        scopes::check,
        unconditional::check,
        opposed_words::check,
        replaced_names::check,
        added_details::check,
    ];
    for check in checks {
        if out.rejects() {
            return;
        }
        out.objections.extend(check(case, passages));
    }
}

/// A check of everyday notes.
type EverydayCheck = fn(&Case<'_>, &passages::Passages<'_>) -> Option<Objection>;

/// L4: whether values and words belong to what the claim says them about. A later check is asked only
/// if the earlier ones found nothing.
fn belonging(case: &Case<'_>, alignment: &Alignment<'_>, out: &mut Findings) {
    if out.objections.is_empty() {
        out.objections.extend(binding::check(case));
    }
    if out.objections.is_empty() {
        out.add(referent::check(case, alignment));
    }
    if !out.rejects()
        && let Some((effect, code, why)) = parallel::check(case)
    {
        out.worded(effect, [(code, why)]);
    }
    if out.objections.is_empty()
        && let Some((effect, code, why)) = crossed::check(case, alignment)
    {
        out.worded(effect, [(code, why)]);
    }
    if out.objections.is_empty()
        && let Some((effect, code, why)) = recombined::check(case, alignment)
    {
        out.worded(effect, [(code, why)]);
    }
    if out.objections.is_empty() {
        out.objections.extend(labels::check(case));
    }
}

/// Checks a claim that appears word for word in the evidence only against the other items, and the
/// addresses that its words do not show.
pub(crate) fn conflicts(case: &Case<'_>) -> Findings {
    let mut out = Findings::default();
    for (effect, code, why) in atoms::check_addresses(case) {
        out.worded(effect, [(code, why)]);
    }
    out.objections.extend(referent::conflict(case));
    out
}

fn ratio(part: usize, of: usize) -> f64 {
    as_float(part) / as_float(of.max(1))
}

fn as_float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn place(cited: &[Source<'_>], window: Window) -> Option<(Label, Range<usize>)> {
    let source = cited.get(window.text)?;
    Some((
        source.item.label,
        source.reading.sentence(window.best)?.bytes.clone(),
    ))
}

/// How much of a claim a window supports. Numbers were already checked in every notation; here only
/// words are counted.
fn score_of_words(case: &Case<'_>, readings: &[&Reading], window: &Window) -> f64 {
    let measured = measure(case.claim, readings, window, case.lexicon);
    weights().score(&Features {
        numbers: 1.0,
        ..measured
    })
}

/// "Three notes mention it" is said about the notes, not by them.
fn is_about_the_notes(case: &Case<'_>) -> bool {
    let mut tokens = case.claim.text.tokens.iter();
    case.cited.len() > 1
        && tokens.any(|t| {
            matches!(
                case.claim.word(t),
                "notes" | "sources" | "documents" | "files" | "passages"
            )
        })
}

/// The item beside the cited ones that has most of the claim, if that is clearly more than the
/// window has, and its score at least `wanted`.
fn better_item(case: &Case<'_>, window: &Window, wanted: f64) -> Option<Label> {
    let mut best: Option<(f64, Label)> = None;
    for other in case.others {
        let readings = [other.reading];
        let Some(found) = best_window(case.claim, &readings, case.lexicon) else {
            continue;
        };
        if found.share >= window.share + BETTER
            && score_of_words(case, &readings, &found) >= wanted
            && best.is_none_or(|(share, _)| found.share > share)
        {
            best = Some((found.share, other.item.label));
        }
    }
    best.map(|(_, label)| label)
}

/// L6: the objection to a claim with too few words in the cited text, and the item that has more.
fn low_support(
    case: &Case<'_>,
    readings: &[&Reading],
    window: Option<Window>,
    foreign: bool,
    out: &mut Findings,
) {
    let Some(window) = window.filter(|_| !foreign) else {
        return;
    };
    let own = score_of_words(case, readings, &window);
    let about = is_about_the_notes(case);
    let least = match case.extent {
        Extent::Sentence if about => f64::NEG_INFINITY,
        Extent::Sentence => weights().low,
        Extent::Row | Extent::LeadIn => f64::NEG_INFINITY,
    };
    let bare = case.extent != Extent::Sentence
        && window.share == 0.0
        && support::counted(case.claim).len() > 1
        && case.listed == 0;
    let low = own < least || bare;
    // Support that is not low can still be doubtful: then only another item that supports the claim
    // beyond doubt counts.
    let doubtful = case.extent == Extent::Sentence && !about && own < weights().supported;
    if !(low || doubtful) {
        return;
    }
    let wanted = if low {
        weights().low
    } else {
        weights().supported
    };
    let says_little = support::counted(case.claim).len() < LEAST_WORDS;
    let better = better_item(case, &window, wanted);
    // The cited text has some of the words: the claim may be a paraphrase, or lack support.
    let computed = out.derivation.is_some() || things::computes(case.claim);
    let (code, is_unsure) = match better {
        Some(_) => (Code::BetterSpan, says_little),
        None if low => {
            let is_unsure = computed || window.share > 0.0 || says_little;
            (Code::LowSupport, is_unsure)
        }
        None => return,
    };
    let effect = match is_unsure {
        true => Effect::Doubts,
        false => Effect::Rejects,
    };
    let cited = case.cited.iter().map(|s| s.item.label).collect();
    let detail = Detail::Unsupported { cited, better };
    out.objections.push(Objection::new(code, effect, detail));
}
