//! Chooses the passages of the answer: first by the kind of question, then by what they add to the
//! best one.

use super::calendar::Day;
use super::confidence;
use super::cues;
use super::passage::{self, Passage, Piece};
use super::question::{Operation, ParsedQuestion, QuestionKind};
use super::rank::{Candidate, Ranked};
use super::score;
use super::units::{Form, Unit, leads_in};
use super::whole_rows::{self, RowCount};
use super::{announced_items, dated_rows, lists, newest, rows, sides, steps, times};
use local_agent_verify::says_nothing_new;

/// Maximum number of passages for one question, and of characters in all of them together.
const MAX_PASSAGES: usize = 3;
const MAX_LENGTH: usize = 1600;
/// A further passage must have at least this share of the best one's score …
const NEAR_BEST: f32 = 0.85;
/// … and add this share of the question's weight, …
const GAIN: f32 = 0.18;
/// … or be in another note and cover this share of what the best one covers.
const AS_WELL: f32 = 0.93;
/// A second passage with this share of the best one's score is as likely to be the answer.
const TIE: f32 = 0.95;
/// A word of the question with at least this much credit adds nothing new.
const KNOWN: f32 = 0.5;
/// Two units repeat each other if they share more than this share of the shorter one's words.
const SAME: f32 = 0.7;
/// Number of passages that are shown when nothing is certain, …
const CLOSEST: usize = 3;
/// … or only one, if the best one covers less than this share of the question.
const RELATED: f32 = 0.2;

/// The chosen passages.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub passages: Vec<Passage>,
    /// Whether they answer the question; otherwise they are only the closest.
    pub certain: bool,
    /// What the passages leave out: one plain sentence.
    pub cut: Option<String>,
}

impl Choice {
    pub(super) fn certain(passages: Vec<Passage>) -> Self {
        Self {
            passages,
            certain: true,
            cut: None,
        }
    }

    /// The answer when only `shown` of `all` things are in `passages`; `what` names the things.
    pub(super) fn part_of(
        passages: Vec<Passage>,
        (shown, all): (usize, usize),
        what: &str,
    ) -> Self {
        Self {
            cut: (shown < all).then(|| format!("{shown} of {all} {what} are shown.")),
            ..Self::certain(passages)
        }
    }
}

/// Chooses the passages for a question; none if there is nothing to choose from.
pub(super) fn choose(ranked: &Ranked<'_>) -> Choice {
    let by_kind = match ranked.question.kind {
        QuestionKind::Steps => steps::choose(ranked),
        QuestionKind::List => dated_rows::choose(ranked).or_else(|| lists::choose(ranked)),
        QuestionKind::Difference => sides::choose(ranked),
        QuestionKind::Latest => newest::choose(ranked).or_else(|| times::latest(ranked)),
        QuestionKind::Fact => dated_rows::choose(ranked).or_else(|| of_fact(ranked)),
        _ if ranked.question.period.is_some() => times::in_period(ranked),
        QuestionKind::YesNo => sides::in_one_table(ranked),
        _ => None,
    };
    if let Some(choice) = by_kind {
        return with_announced(ranked, choice);
    }
    let fitting = first_choice(ranked)
        .filter(|best| confidence::fits_alone(ranked, best))
        .filter(|best| has_value(ranked, best))
        .filter(|best| !is_row_without_steps(ranked, best))
        .filter(|best| !rows::is_undecided(ranked, best));
    let shown = fitting.map(|best| passages(ranked, best));
    match shown.filter(|shown| says_something(ranked, shown)) {
        Some(shown) => counted(ranked, shown),
        None => closest(ranked),
    }
}

/// The passages of the days in question, or the rows of the two things that it compares.
fn of_fact(ranked: &Ranked<'_>) -> Option<Choice> {
    match ranked.question.period {
        Some(_) => times::in_period(ranked),
        None => sides::in_one_table(ranked),
    }
}

/// The answer of these passages, each with all rows of its table that the question means. It says how
/// many of them are left out.
fn counted(ranked: &Ranked<'_>, mut passages: Vec<Passage>) -> Choice {
    let rows: Vec<RowCount> = passages
        .iter_mut()
        .filter_map(|passage| whole_rows::complete(ranked, passage))
        .collect();
    let shown = rows.iter().map(|count| count.shown).sum();
    let all = rows.iter().map(|count| count.all).sum();
    with_announced(ranked, Choice::part_of(passages, (shown, all), "rows"))
}

/// The answer, which says how many items or rows behind an introduction are left out.
fn with_announced(ranked: &Ranked<'_>, choice: Choice) -> Choice {
    let mut counts = choice
        .passages
        .iter()
        .filter_map(|passage| announced_items::count(ranked, passage));
    match counts.find(|count| count.shown < count.all) {
        Some(count) if choice.cut.is_none() && choice.certain => {
            Choice::part_of(choice.passages, (count.shown, count.all), count.what)
        }
        _ => choice,
    }
}

/// Whether a piece of the passages is a statement: questions, introductions and courtesies alone are
/// no answer.
fn says_something(ranked: &Ranked<'_>, passages: &[Passage]) -> bool {
    passages.iter().any(|passage| {
        let note = ranked.found.notes.get(passage.note);
        let texts = passage.pieces.iter();
        let mut texts = texts.filter_map(|piece| Some(note?.slice(&piece.span).trim_end()));
        texts.any(|text| !text.ends_with(['?', '？', ':', '：']) && !says_nothing_new(text))
    })
}

/// The unit to show if it fits: the best one, or, for a question for a reason, the best of those
/// nearly as good that say "because". A link alone does not say how to do a thing.
fn first_choice<'r>(ranked: &'r Ranked<'_>) -> Option<&'r Candidate> {
    let asks_how = ranked.question.kind == QuestionKind::Steps;
    let is_open = |c: &&Candidate| !asks_how || !steps::is_link(ranked.found, c);
    let best = ranked.order.iter().find(is_open)?;
    let gives_reason = |c: &&Candidate| {
        let unit = ranked.unit(c.index);
        c.score >= NEARLY_BEST * best.score
            && c.features.unknown_name == 0.0
            && unit.is_some_and(|unit| cues::says_why(&unit.plain.to_lowercase()))
    };
    let asks_why = ranked.question.kind == QuestionKind::Reason;
    let near = ranked.order.iter().take(6).filter(|_| asks_why);
    let mut reasons = near.filter(gives_reason);
    reasons.next().or(Some(best))
}

/// A unit that gives a reason is preferred to the best one from this share of its score on.
const NEARLY_BEST: f32 = 0.7;

/// Whether a question for steps meets a row of a table that does not say what to do: a row about the
/// loom does not tell how to oil it.
fn is_row_without_steps(ranked: &Ranked<'_>, best: &Candidate) -> bool {
    let question = &ranked.question;
    let is_row = ranked
        .unit(best.index)
        .is_some_and(|unit| unit.form == Form::Row);
    let terms = question.terms.iter().zip(&best.credits.all);
    let mut others = terms.filter(|(term, _)| !term.is_name);
    question.kind == QuestionKind::Steps && is_row && others.any(|(_, credit)| *credit == 0.0)
}

/// Whether a unit may contain the value to compute. A property without a number may not, nor a
/// sentence without one if a sum or a mean is asked for.
fn has_value(ranked: &Ranked<'_>, best: &Candidate) -> bool {
    let QuestionKind::Total(operation) = ranked.question.kind else {
        return true;
    };
    let adds = matches!(operation, Operation::Sum | Operation::Average);
    !ranked.unit(best.index).is_some_and(|unit| {
        let has_digits = unit.plain.contains(|c: char| c.is_ascii_digit());
        (adds || unit.form == Form::Property) && !has_digits
    })
}

/// The best passages when none is certain, each from a different block.
pub(super) fn closest(ranked: &Ranked<'_>) -> Choice {
    let mut passages: Vec<Passage> = Vec::new();
    let covered = ranked.order.iter().map(|c| c.features.covered);
    let is_related = covered.fold(0.0, f32::max) >= RELATED;
    let most = if is_related { CLOSEST } else { 1 };
    for candidate in &ranked.order {
        if passages.len() >= most {
            break;
        }
        let Some(unit) = ranked.unit(candidate.index) else {
            continue;
        };
        let shown = passages.iter().any(|p| p.shows(unit.note, &unit.span));
        if candidate.features.empty < 1.0 && !shown {
            let mut passage = around(ranked, candidate.index);
            if let Some(passage) = &mut passage {
                passage.date = unit.entry_day;
            }
            passages.extend(passage);
        }
    }
    Choice {
        passages,
        certain: false,
        cut: None,
    }
}

/// The passage around the best unit, and those that add to it.
pub(super) fn passages(ranked: &Ranked<'_>, best: &Candidate) -> Vec<Passage> {
    let question = &ranked.question;
    let mut out: Vec<Passage> = Vec::new();
    let mut chosen: Vec<&Candidate> = Vec::new();
    let mut covered = vec![0.0f32; question.terms.len()];
    for candidate in std::iter::once(best).chain(&ranked.order) {
        if out.len() >= MAX_PASSAGES || candidate.score < NEAR_BEST * best.score {
            break;
        }
        let Some(unit) = ranked.unit(candidate.index) else {
            continue;
        };
        if out.iter().any(|p| p.shows(unit.note, &unit.span)) {
            continue;
        }
        let first = chosen.is_empty();
        if !first && !adds(ranked, best, candidate, &chosen, &covered) {
            continue;
        }
        let Some(passage) = around(ranked, candidate.index) else {
            continue;
        };
        let length: usize = out.iter().map(Passage::len).sum();
        if !first && length + passage.len() > MAX_LENGTH {
            continue;
        }
        for (had, credit) in covered.iter_mut().zip(&candidate.credits.all) {
            *had = had.max(*credit);
        }
        chosen.push(candidate);
        add(&mut out, passage);
    }
    newest_first(ranked, &chosen, &mut out);
    out
}

/// Whether a further unit says something that the chosen ones do not.
fn adds(
    ranked: &Ranked<'_>,
    best: &Candidate,
    candidate: &Candidate,
    chosen: &[&Candidate],
    covered: &[f32],
) -> bool {
    let f = &candidate.features;
    let worse = f.empty >= 0.5
        || is_property(ranked, candidate) && !is_property(ranked, best)
        || f.unknown_name > 0.0
        || f.time_mismatch > best.features.time_mismatch
        || f.kind < best.features.kind
        || chosen
            .iter()
            .any(|c| says_same(ranked, c.index, candidate.index));
    if worse {
        return false;
    }
    let gained: Vec<f32> = candidate
        .credits
        .own
        .iter()
        .zip(covered)
        .map(|(c, had)| {
            if *had >= KNOWN {
                0.0
            } else {
                (c - had).max(0.0)
            }
        })
        .collect();
    let gains = score::share(&ranked.question, &gained) >= GAIN;
    let as_well = f.covered >= AS_WELL * best.features.covered
        && candidate.score >= AS_WELL * best.score
        && note_of(ranked, best) != note_of(ranked, candidate);
    let tie = candidate.score >= TIE * best.score;
    gains && note_of(ranked, best) == note_of(ranked, candidate) || as_well || tie
}

/// The note that a candidate is from.
fn note_of(ranked: &Ranked<'_>, c: &Candidate) -> Option<usize> {
    ranked.unit(c.index).map(|u| u.note)
}

/// Whether the candidate is a property of a note.
fn is_property(ranked: &Ranked<'_>, c: &Candidate) -> bool {
    ranked
        .unit(c.index)
        .is_some_and(|u| u.form == Form::Property)
}

/// Adds a passage; if it shares pieces with another passage of its note, they are merged.
pub(super) fn add(out: &mut Vec<Passage>, passage: Passage) {
    match out.iter_mut().find(|other| shares_piece(&passage, other)) {
        Some(other) => {
            let new = passage.pieces.into_iter();
            let new: Vec<Piece> = new.filter(|p| !other.pieces.contains(p)).collect();
            other.pieces.extend(new);
            other.pieces.sort_by_key(|p| p.span.start);
            other.keys.extend(passage.keys);
        }
        None => out.push(passage),
    }
}

/// Whether two passages of one note show the same piece.
fn shares_piece(passage: &Passage, other: &Passage) -> bool {
    other.note == passage.note && passage.pieces.iter().any(|p| other.pieces.contains(p))
}

/// If two notes make a statement about the same thing, the newer one comes first.
fn newest_first(ranked: &Ranked<'_>, chosen: &[&Candidate], out: &mut [Passage]) {
    let (Some(first), Some(second)) = (
        date_of(ranked, chosen.first()),
        date_of(ranked, chosen.get(1)),
    ) else {
        return;
    };
    let apart = out.len() > 1 && out[0].note != out[1].note;
    let equal = chosen[1].score >= AS_WELL * chosen[0].score;
    if apart && equal && second > first {
        out.swap(0, 1);
    }
}

/// The date of a candidate.
fn date_of(ranked: &Ranked<'_>, c: Option<&&Candidate>) -> Option<Day> {
    c.and_then(|c| ranked.unit(c.index)?.date)
}

/// Whether one of two units repeats the other.
fn says_same(ranked: &Ranked<'_>, a: usize, b: usize) -> bool {
    let (Some(a), Some(b)) = (ranked.unit(a), ranked.unit(b)) else {
        return false;
    };
    let shared = a.stems.intersection(&b.stems).count() as f32;
    shared / a.stems.len().min(b.stems.len()).max(1) as f32 > SAME
}

/// The passage around a unit, with the additions that the question's kind requires.
pub(super) fn around(ranked: &Ranked<'_>, index: usize) -> Option<Passage> {
    let found = ranked.found;
    let unit = found.unit(index)?;
    if let Some(entry) = glossary_entry(ranked, unit) {
        return Some(entry);
    }
    let mut out = match section_around(ranked, unit) {
        Some(section) => section,
        None => match announced_list(ranked, unit) {
            Some(list) => list,
            None => passage::around(found, index)?,
        },
    };
    let lacks_subject = ranked.question.wants.person && !says_who(ranked, unit)
        || unit.form == Form::Property && !is_asked_by_name(ranked, unit);
    if lacks_subject && !says_title(ranked, unit, &out) {
        with_title(ranked, unit, &mut out);
    }
    if ranked.question.wants.time {
        out.date = unit.entry_day;
    }
    if ranked.question.wants.reason || needs_next(ranked, unit, index) {
        with_next(ranked, index, &mut out);
    }
    if ranked.question.wants.code {
        with_code(ranked, unit, &mut out);
    }
    Some(out)
}

/// The whole entry of a glossary that defines what the question asks, without its neighbours.
fn glossary_entry(ranked: &Ranked<'_>, unit: &Unit) -> Option<Passage> {
    let is_listed = matches!(unit.form, Form::Item | Form::Sentence);
    let defines = ranked.question.kind == QuestionKind::Definition
        && is_listed
        && score::is_entry(&ranked.question, unit);
    let note = ranked.found.note_of(unit).filter(|_| defines)?;
    let is_beside = |other: &&Unit| match unit.form {
        Form::Item => other.item == unit.item,
        _ => other.block == unit.block,
    };
    let units = passage::of_note(ranked.found, unit.note).map(|(_, other)| other);
    let entry: Vec<&Unit> = units
        .filter(|other| other.sayable && other.span.start >= unit.span.start)
        .filter(is_beside)
        .take_while(|other| other.span == unit.span || !has_own_label(other))
        .collect();
    let last = entry.last().filter(|last| leads_in(last)).copied();
    let mut pieces = passage::joined(note, entry.into_iter());
    // "The rotor is wiped with:" is nothing without what follows.
    if let Some(last) = last {
        pieces.extend(passage::announced(ranked.found, note, last));
    }
    let mut out = Passage::new(unit.note, pieces);
    out.keys.push(unit.span.clone());
    Some(out)
}

/// Whether a sentence begins the next entry of a glossary: "**Weft**: the threads across".
fn has_own_label(unit: &Unit) -> bool {
    let head = unit.plain.split([':', '–', '—', '：']).next().unwrap_or("");
    head.len() < unit.plain.trim_end().len() && head.split_whitespace().count() <= LABEL_WORDS
}

/// The most words of the label of an entry.
const LABEL_WORDS: usize = 4;

/// A section is shown whole when it has at most this many characters …
const SHORT_SECTION: usize = 600;
/// … and its headings and its note's names cover this share of the question.
const HEADED: f32 = 0.5;

/// The whole list around an item, if the sentence that introduces it covers more of the question
/// than the item does, and the question asks for no particular kind of thing, or most items have one
/// of that kind: "Who is on the panel?" is answered by all of its people.
fn announced_list(ranked: &Ranked<'_>, unit: &Unit) -> Option<Passage> {
    let question = &ranked.question;
    let open = matches!(question.kind, QuestionKind::Fact | QuestionKind::List)
        && (answer_type(ranked, unit) == 0.0 || answers_by_most_items(ranked, unit));
    let lead = unit.lead.and_then(|i| ranked.unit(i));
    let lead = lead.filter(|l| open && unit.form == Form::Item && l.form == Form::Sentence)?;
    if share_of_stems(question, &lead.stems) <= share_of_stems(question, &unit.stems) {
        return None;
    }
    let mut out = lists::list(ranked, unit, unit.outer?)?;
    out.keys.push(unit.span.clone());
    passage::cut(&mut out, MAX_LENGTH);
    out.shows(unit.note, &unit.span).then_some(out)
}

/// Whether most items of the unit's list have what the question asks for.
fn answers_by_most_items(ranked: &Ranked<'_>, unit: &Unit) -> bool {
    let (mut items, mut answers) = (0, 0);
    for (_, other) in passage::of_note(ranked.found, unit.note) {
        let is_item = other.form == Form::Item && other.before.is_none();
        if is_item && other.outer == unit.outer {
            items += 1;
            answers += usize::from(answer_type(ranked, other) > 0.0);
        }
    }
    2 * answers > items
}

/// The whole section of a unit, when its heading covers the question and the unit alone does not.
fn section_around(ranked: &Ranked<'_>, unit: &Unit) -> Option<Passage> {
    let question = &ranked.question;
    let typed = answer_type(ranked, unit) != 0.0;
    let fits_kind = match question.kind {
        QuestionKind::List | QuestionKind::Steps | QuestionKind::Reason => true,
        QuestionKind::Fact | QuestionKind::YesNo => !typed,
        _ => false,
    };
    if !fits_kind || matches!(unit.form, Form::Property | Form::Row) {
        return None;
    }
    let above = share_of_stems(question, &unit.place.stems);
    if above < HEADED || above < share_of_stems(question, &unit.stems) {
        return None;
    }
    let note = ranked.found.note_of(unit)?;
    let section = note.sections.get(unit.section)?;
    if section.span.end - section.body > SHORT_SECTION {
        return None;
    }
    let blocks = note.blocks_of_section(unit.section);
    let pieces: Vec<Piece> = blocks
        .flat_map(|block| passage::whole_block(ranked.found, unit.note, block))
        .collect();
    let mut out = Passage::new(unit.note, pieces);
    out.keys.push(unit.span.clone());
    out.shows(unit.note, &unit.span).then_some(out)
}

/// The share of the question's words that these stems cover.
fn share_of_stems(question: &ParsedQuestion, set: &std::collections::HashSet<String>) -> f32 {
    let credits: Vec<f32> = question
        .terms
        .iter()
        .map(|t| score::covers(set, t))
        .collect();
    score::share(question, &credits)
}

/// Whether the next sentence has what the question asks for.
fn needs_next(ranked: &Ranked<'_>, unit: &Unit, index: usize) -> bool {
    let next = ranked.unit(index + 1).filter(|n| n.before == Some(index));
    answer_type(ranked, unit) < 0.0 && next.is_some_and(|n| answer_type(ranked, n) > 0.0)
}

/// Whether a unit contains what the question asks for, as in [`score::answer_type`].
fn answer_type(ranked: &Ranked<'_>, unit: &Unit) -> f32 {
    let lead = unit.lead.and_then(|lead| ranked.unit(lead));
    score::answer_type(&ranked.question, unit, lead)
}

/// Whether a unit names its own subject. A property does not, nor does a sentence that begins with
/// "she". A unit above all headings must contain a word of the note's title, because its subject is
/// the note.
fn says_who(ranked: &Ranked<'_>, unit: &Unit) -> bool {
    let first = cues::split(&unit.plain).next().map(str::to_lowercase);
    let is_pronoun = first.is_some_and(|word| cues::is_person_pronoun(&word));
    let is_about_note = is_first(ranked, unit) && unit.place.names.is_disjoint(&unit.stems);
    unit.form != Form::Property && !is_pronoun && !is_about_note
}

/// Whether the question has a word of the names of the unit's note, or of its headings.
fn is_asked_by_name(ranked: &Ranked<'_>, unit: &Unit) -> bool {
    let mut terms = ranked.question.terms.iter();
    terms.any(|term| score::covers(&unit.place.stems, term) > 0.0)
}

/// Whether a passage has all words of the title of its note.
fn says_title(ranked: &Ranked<'_>, unit: &Unit, passage: &Passage) -> bool {
    let Some(note) = ranked.found.note_of(unit) else {
        return false;
    };
    let mut said = rows::stems_of("");
    for piece in &passage.pieces {
        said.extend(rows::stems_of(note.slice(&piece.span)));
    }
    rows::stems_of(&note.title).is_subset(&said)
}

/// Whether a unit is in the note's first paragraph.
fn is_first(ranked: &Ranked<'_>, unit: &Unit) -> bool {
    let mut beside = passage::of_note(ranked.found, unit.note);
    let first = beside.find(|(_, u)| u.form != Form::Property && u.form != Form::Hidden);
    first.is_some_and(|(_, u)| u.form == Form::Sentence && u.block == unit.block)
}

/// Adds the title of the note, which names what it is about: the person meant by "she", the owner of
/// a property.
fn with_title(ranked: &Ranked<'_>, unit: &Unit, out: &mut Passage) {
    let note = ranked.found.note_of(unit);
    let title = note.and_then(|note| {
        // A note's first heading need not be its title.
        let level = note
            .sections
            .iter()
            .map(|s| s.level)
            .find(|level| *level > 0);
        passage::title(note)
            .filter(|piece| level == Some(1) || note.slice(&piece.span) == note.title)
    });
    out.pieces.extend(title);
    out.pieces.sort_by_key(|p| p.span.start);
}

/// Adds the next sentence, or, after a paragraph with one sentence, the next paragraph.
fn with_next(ranked: &Ranked<'_>, index: usize, out: &mut Passage) {
    let found = ranked.found;
    let (Some(unit), Some(next)) = (found.unit(index), found.unit(index + 1)) else {
        return;
    };
    let beside = next.note == unit.note && next.section == unit.section && next.sayable;
    if !beside || !matches!(next.form, Form::Sentence | Form::Item) {
        return;
    }
    if let Some(note) = found
        .note_of(next)
        .filter(|_| !out.shows(next.note, &next.span))
    {
        out.pieces.push(passage::piece(note, next));
        out.pieces.sort_by_key(|p| p.span.start);
    }
}

/// Adds the first code block of the section.
fn with_code(ranked: &Ranked<'_>, unit: &Unit, out: &mut Passage) {
    let found = ranked.found;
    if unit.form == Form::Code {
        return;
    }
    let code = passage::of_note(found, unit.note)
        .find(|(_, u)| u.form == Form::Code && u.section == unit.section && u.block.is_some());
    if let Some((_, code)) = code
        && let Some(note) = found.note_of(code)
        && !out.shows(code.note, &code.span)
    {
        out.pieces.push(passage::piece(note, code));
        out.pieces.sort_by_key(|p| p.span.start);
    }
}
