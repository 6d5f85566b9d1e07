//! Ranks the units of the evidence.

use std::collections::HashSet;

use super::cues;
use super::note::NoteText;
use super::question::ParsedQuestion;
use super::score::{self, Credits, Features};
use super::units::{Form, Unit};
use super::versions;
use local_agent_text::error::Result;
use local_agent_text::language::{Language, detect, script};

/// Maximum number of units that the model scores; without it, the others ranked far lower.
const MAX_COMPARED: usize = 32;

/// A word of the question and a word of a unit are unrelated below the first cosine, and mean the
/// same above the second. The last hidden states of MiniLM give .25 on average for unrelated words
/// in running text, and .75 for the same word in two sentences.
const UNRELATED: f32 = 0.42;
const SAME: f32 = 0.78;

/// A name and a word in another script are the same name if their cosine is at least this.
const SAME_NAME: f32 = 0.6;

/// The credit for a different word with the same meaning.
const ALIGNED: f32 = 0.85;

/// A model's comparison of some texts with a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Comparison {
    /// The cosine of the question and each text.
    pub cosines: Vec<f32>,
    /// For each text and each word of the question: the best cosine of the word with a word of the
    /// text. Empty if the model gives no word vectors.
    pub words: Vec<Vec<f32>>,
    /// How well the model reads each word of the question, 0 to 1; empty like `words`.
    pub legible: Vec<f32>,
}

/// A model that compares a question with texts.
pub(crate) trait Meaning {
    /// Compares `question`, whose words are `words`, with each of `texts`.
    ///
    /// # Errors
    /// Those of the model.
    fn compare(&self, question: &str, words: &[&str], texts: &[&str]) -> Result<Comparison>;
}

/// A unit and its score.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Its index in [`Ranked::units`].
    pub index: usize,
    pub features: Features,
    pub credits: Credits,
    pub score: f32,
}

/// The search results: notes and their units.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub notes: &'a [NoteText],
    pub units: &'a [Unit],
}

impl<'a> Found<'a> {
    /// The decimal sign of the language of a note, if it is known.
    pub(super) fn decimal_sign(self, note: usize) -> Option<char> {
        let language = detect(&self.notes.get(note)?.text)?;
        language.lexicon().property("decimal")?.chars().next()
    }

    pub(super) fn unit(&self, index: usize) -> Option<&'a Unit> {
        self.units.get(index)
    }

    pub(super) fn note_of(&self, unit: &Unit) -> Option<&'a NoteText> {
        self.notes.get(unit.note)
    }
}

/// A question, its search results, and how well each quotable unit answers it.
pub(super) struct Ranked<'a> {
    pub question: ParsedQuestion,
    pub found: Found<'a>,
    /// The quotable units, best first.
    pub order: Vec<Candidate>,
    /// How well the model reads the question, 0 to 1; 0 without a model.
    pub legible: f32,
}

impl<'a> Ranked<'a> {
    pub(super) fn unit(&self, index: usize) -> Option<&'a Unit> {
        self.found.unit(index)
    }

    pub(super) fn best(&self) -> Option<&Candidate> {
        self.order.first()
    }
}

/// Ranks all units for `question`; the only error is that of `meaning`.
pub(super) fn rank<'a>(
    question: ParsedQuestion,
    found: Found<'a>,
    meaning: Option<&dyn Meaning>,
) -> Result<Ranked<'a>> {
    let retired = retired(found.units);
    let superseded = versions::superseded(&question, found);
    let other_note = other_note(&question, found);
    let mentions = Mentions::of(&question, found.units);
    let mut order: Vec<Candidate> = Vec::new();
    for (index, unit) in found.units.iter().enumerate().filter(|(_, u)| u.sayable) {
        let mut credits = Credits::of(&question, found.units, index);
        if unit.form == Form::Property {
            score::credit_properties(&question, found.units, index, &mut credits);
        }
        let mut features = score::features(
            &question,
            found.units,
            index,
            &credits,
            retired.contains(&unit.note) || superseded.contains(&index),
        );
        features.other_note = other_note.get(unit.note).copied().unwrap_or(0.0);
        if unit.form == Form::Property && !score::says_itself(&question, unit) {
            features.empty = 0.9;
        }
        features.unknown_name = mentions.unknown_name(&question, index, &credits);
        order.push(Candidate {
            index,
            score: score::score(&features, 0.0),
            features,
            credits,
        });
    }
    sort(&mut order);
    let mut ranked = Ranked {
        question,
        found,
        order,
        legible: 0.0,
    };
    if let Some(meaning) = meaning {
        compare(&mut ranked, meaning)?;
    }
    Ok(ranked)
}

/// Lets the model score the best units.
fn compare(ranked: &mut Ranked<'_>, meaning: &dyn Meaning) -> Result<()> {
    ranked.order.truncate(MAX_COMPARED);
    if ranked.order.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = ranked
        .order
        .iter()
        .map(|c| compared(ranked.found, c.index))
        .collect();
    let views: Vec<&str> = texts.iter().map(String::as_str).collect();
    let words = ranked.question.words();
    let comparison = meaning.compare(&ranked.question.text, &words, &views)?;
    let legible = legibility(&ranked.question, &words, &comparison);
    let languages = Languages::of(&ranked.question, ranked.found);
    let question = &ranked.question;
    for (at, candidate) in ranked.order.iter_mut().enumerate() {
        let Some(cosine) = comparison.cosines.get(at) else {
            continue;
        };
        candidate.features.similar = *cosine;
        let unit = ranked.found.unit(candidate.index);
        candidate.features.other_language = unit.map_or(0.0, |unit| languages.differs(unit));
        if let Some(best) = comparison.words.get(at) {
            align(question, &words, best, &comparison.legible, candidate);
            if unit.is_some_and(|unit| is_in_other_script(question, unit)) {
                align_names(question, &words, best, candidate);
            }
        }
        candidate.score = score::score(&candidate.features, legible);
    }
    ranked.legible = legible;
    sort(&mut ranked.order);
    Ok(())
}

/// Credits words of the question for words of the unit with the same meaning. A name has no words
/// with the same meaning.
fn align(
    question: &ParsedQuestion,
    words: &[&str],
    best: &[f32],
    legible: &[f32],
    candidate: &mut Candidate,
) {
    candidate.credits.meant = question
        .terms
        .iter()
        .map(|t| nearness_of(words, best, legible, t).unwrap_or(0.0))
        .collect();
    for (term, credit) in question.terms.iter().zip(&mut candidate.credits.all) {
        let Some(at) = words.iter().position(|w| *w == term.word) else {
            continue;
        };
        let (Some(cosine), Some(legible)) = (best.get(at), legible.get(at)) else {
            continue;
        };
        if !term.is_name {
            let means = ((cosine - UNRELATED) / (SAME - UNRELATED)).clamp(0.0, 1.0);
            *credit = credit.max(ALIGNED * legible * means);
        }
    }
    candidate.features.covered = score::share(question, &candidate.credits.all);
}

/// The similarity of a word of the question to the text, limited by how well the model reads the
/// word.
fn nearness_of(
    words: &[&str],
    best: &[f32],
    legible: &[f32],
    term: &super::question::Term,
) -> Option<f32> {
    let at = words.iter().position(|w| *w == term.word)?;
    Some(best.get(at)? * legible.get(at)?)
}

/// Credits names of the question for their spelling in another script: "Tamara" and "Тамара".
fn align_names(question: &ParsedQuestion, words: &[&str], best: &[f32], candidate: &mut Candidate) {
    for (term, credit) in question.terms.iter().zip(&mut candidate.credits.all) {
        let at = words.iter().position(|w| *w == term.word);
        let cosine = at.and_then(|at| best.get(at)).copied().unwrap_or(0.0);
        if term.is_name && cosine >= SAME_NAME {
            *credit = credit.max(ALIGNED);
        }
    }
    let credits = question.terms.iter().zip(&candidate.credits.all);
    let mut names = credits.filter(|(term, _)| term.is_name);
    if names.all(|(_, credit)| *credit > 0.0) {
        candidate.features.unknown_name = 0.0;
    }
    candidate.features.covered = score::share(question, &candidate.credits.all);
}

/// Whether a unit is written in another script than the question.
fn is_in_other_script(question: &ParsedQuestion, unit: &Unit) -> bool {
    let scripts = (
        script::of_text(&question.text),
        script::of_text(&unit.plain),
    );
    matches!(scripts, (Some(asked), Some(written)) if asked != written)
}

/// The language of the question, and of each note that was found.
struct Languages {
    asked: Option<Language>,
    notes: Vec<Option<Language>>,
}

impl Languages {
    fn of(question: &ParsedQuestion, found: Found<'_>) -> Self {
        let asked = cues::language(&question.text.to_lowercase());
        let notes = found.notes.iter().map(|note| detect(note.body()));
        Self {
            asked,
            notes: match asked {
                Some(_) => notes.collect(),
                None => Vec::new(),
            },
        }
    }

    /// 1 when a unit, or else its note, is clearly in another language than the question.
    fn differs(&self, unit: &Unit) -> f32 {
        let note = || self.notes.get(unit.note).copied().flatten();
        let written = self.asked.and_then(|_| detect(&unit.plain).or_else(note));
        let differs = matches!((self.asked, written), (Some(a), Some(b)) if a != b);
        f32::from(u8::from(differs))
    }
}

/// How well the model reads the subject of the question: the mean over its terms by weight. A model
/// without word vectors is assumed to read everything.
fn legibility(question: &ParsedQuestion, words: &[&str], comparison: &Comparison) -> f32 {
    if comparison.legible.is_empty() {
        return 1.0;
    }
    let shares: Vec<f32> = question
        .terms
        .iter()
        .map(|term| legibility_of(words, comparison, &term.word).unwrap_or(0.0))
        .collect();
    score::share(question, &shares)
}

/// How well the model can read a word.
fn legibility_of(words: &[&str], comparison: &Comparison, word: &str) -> Option<f32> {
    let at = words.iter().position(|w| *w == word)?;
    comparison.legible.get(at).copied()
}

/// Sorts by score, best first; ties keep the order of the evidence.
fn sort(order: &mut [Candidate]) {
    order.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
}

/// Which names of the question are mentioned shortly before each sentence of running text.
struct Mentions {
    /// For each unit and each term: whether the unit or one shortly before it contains the name.
    near: Vec<Vec<bool>>,
}

/// A name remains the topic for this many sentences.
const STILL_SPOKEN_OF: usize = 4;

impl Mentions {
    fn of(question: &ParsedQuestion, units: &[Unit]) -> Self {
        if !question.terms.iter().any(|t| t.is_name) {
            return Self { near: Vec::new() };
        }
        let held: Vec<Vec<bool>> = units
            .iter()
            .map(|unit| held_names(question, unit))
            .collect();
        Self {
            near: units
                .iter()
                .enumerate()
                .map(|(at, unit)| names_near(question, units, &held, (at, unit)))
                .collect(),
        }
    }

    /// 1 when a name of the question is neither in the unit, nor around it, nor shortly before it.
    fn unknown_name(&self, question: &ParsedQuestion, index: usize, credits: &Credits) -> f32 {
        let near = self.near.get(index);
        let mut names = question.terms.iter().enumerate().filter(|(_, t)| t.is_name);
        f32::from(u8::from(names.any(|(at, _)| lacks_name(credits, near, at))))
    }
}

/// Whether neither the unit nor the text shortly before it contains the name.
fn lacks_name(credits: &Credits, near: Option<&Vec<bool>>, at: usize) -> bool {
    let here = credits.all.get(at).is_some_and(|credit| *credit > 0.0);
    !here && !near.is_some_and(|near| near.get(at).copied().unwrap_or(false))
}

/// For each name of the question: whether the unit, or a unit shortly before it in its section, has
/// it.
fn names_near(
    question: &ParsedQuestion,
    units: &[Unit],
    held: &[Vec<bool>],
    (at, unit): (usize, &Unit),
) -> Vec<bool> {
    let mut seen = vec![false; question.terms.len()];
    let above = (at.saturating_sub(STILL_SPOKEN_OF)..=at).rev();
    // Items and rows are about different things; in running text the topic continues.
    let parallel = unit.form != Form::Sentence;
    let above = above.take(if parallel { 1 } else { STILL_SPOKEN_OF + 1 });
    for other in above {
        let same = units
            .get(other)
            .is_some_and(|u| u.note == unit.note && u.section == unit.section);
        if let Some(held) = held.get(other).filter(|_| same) {
            seen.iter_mut().zip(held).for_each(|(slot, h)| *slot |= h);
        }
    }
    seen
}

/// For each term of the question: whether it is a name that the unit contains.
fn held_names(question: &ParsedQuestion, unit: &Unit) -> Vec<bool> {
    let terms = question.terms.iter();
    terms
        .map(|t| t.is_name && score::covers(&unit.stems, t) > 0.0)
        .collect()
}

/// For each note: the share of the question's weight in words that name another note and are not in
/// this one. A high share shows that the question is about the other note.
fn other_note(question: &ParsedQuestion, found: Found<'_>) -> Vec<f32> {
    let total = question.total();
    let mut named = vec![vec![false; question.terms.len()]; found.notes.len()];
    let mut held = named.clone();
    for unit in found.units {
        let (Some(named), Some(held)) = (named.get_mut(unit.note), held.get_mut(unit.note)) else {
            continue;
        };
        for (at, term) in question.terms.iter().enumerate() {
            let in_names = unit.place.names.contains(&term.stem);
            named[at] |= in_names;
            held[at] = held[at]
                || in_names
                || score::covers(&unit.stems, term) > 0.0
                || score::covers(&unit.place.stems, term) > 0.0;
        }
    }
    (0..found.notes.len())
        .map(|note| share_outside(question, &held, &named, total, note))
        .collect()
}

/// The share of the question's weight in words that name other notes and are not in this one.
fn share_outside(
    question: &ParsedQuestion,
    held: &[Vec<bool>],
    named: &[Vec<bool>],
    total: f32,
    note: usize,
) -> f32 {
    let weight: f32 = question
        .terms
        .iter()
        .enumerate()
        .filter(|(at, _)| !held.get(note).is_some_and(|held| held[*at]))
        .filter(|(at, _)| named.iter().any(|names| names[*at]))
        .map(|(_, term)| term.weight)
        .sum();
    if total > 0.0 { weight / total } else { 0.0 }
}

/// In a longer sentence, a status word describes something other than the note.
const STATUS_WORDS: usize = 8;

/// The notes that state, in a short line or a property, that they are superseded, rejected or
/// similar.
fn retired(units: &[Unit]) -> HashSet<usize> {
    units
        .iter()
        .filter(|u| says_not_in_force(u))
        .map(|u| u.note)
        .collect()
}

/// Whether a short line says that its note is not, or no longer, valid.
fn says_not_in_force(u: &Unit) -> bool {
    matches!(u.form, Form::Sentence | Form::Property)
        && cues::split(&u.plain).count() <= STATUS_WORDS
        && cues::NOT_IN_FORCE.are_in(&u.plain.to_lowercase())
}

/// The text of a unit for the model's comparison: below the note's title, the heading and the
/// lead-in. In a row, each cell follows the name of its column.
pub(super) fn compared(found: Found<'_>, index: usize) -> String {
    let Some(unit) = found.unit(index) else {
        return String::new();
    };
    let lead = unit
        .lead
        .and_then(|i| found.unit(i))
        .map_or("", |u| u.plain.as_str());
    let title = found
        .note_of(unit)
        .map_or_else(String::new, |note| note.title.clone());
    let lines = match unit.form {
        Form::Row => {
            let cells = lead.split('|').zip(unit.plain.split('|'));
            let named: Vec<String> = cells
                .map(|(name, cell)| format!("{}: {}", name.trim(), cell.trim()))
                .collect();
            vec![title, unit.place.heading.clone(), named.join(", ")]
        }
        _ => vec![
            title,
            unit.place.heading.clone(),
            lead.to_owned(),
            unit.plain.chars().take(600).collect(),
        ],
    };
    lines
        .into_iter()
        .filter(|l| !l.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}
