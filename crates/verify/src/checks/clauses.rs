//! L5: reasons and conditions in the claim match those of the cited text.
//!
//! The words after "because" or "if" must appear together in the cited text, like those of every
//! other part of the claim. A reason whose words appear nowhere was made up by the answerer.

use std::borrow::Cow;
use std::ops::Range;

use super::nearest::{self, Near, Pairing};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::Token;

/// A reason or condition is doubtful if the cited text has less than this share of its words.
const LEAST: f64 = 0.5;

/// A reason is rejected if the cited text has less than this share of its words.
const NOTHING: f64 = 0.2;

/// A clause with fewer content words is not checked.
const ENOUGH: usize = 2;

/// Maximum number of words of a reason or condition.
const MOST_WORDS: usize = 30;

/// Finds reasons and conditions without support, and reversed conditions.
pub(super) fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let tokens = &case.claim.text.tokens;
    let mut out: Vec<Objection> = pairings
        .iter()
        .filter_map(|pairing| turned(case, pairing).or_else(|| widened(case, pairing)))
        .collect();
    for (i, token) in tokens.iter().enumerate() {
        let word = case.claim.lower_word(token);
        let next = tokens.get(i + 1).map(|t| case.claim.lower_word(t));
        let code = match (&*word, next.as_deref()) {
            ("because" | "since" | "weil" | "da", _) | ("due" | "owing", Some("to")) => Code::Cause,
            ("reason" | "reasons", Some("of" | "is")) => Code::Cause,
            ("if" | "unless" | "when" | "wenn" | "once" | "provided", _) => Code::Condition,
            _ => continue,
        };
        if code == Code::Cause || !is_wish(case.claim, tokens, i) {
            out.extend(unsupported(case, i, code));
        }
    }
    out.extend(tied(case));
    out.truncate(1);
    out
}

/// Words that begin a wish ("if you want"), and words near its beginning.
const WISH_BEGINS: &[&str] = list!("clauses.wish-begins");
const WISHES: &[&str] = list!("clauses.wishes");

/// Maximum number of words between the word that begins a condition and its wish.
const WISH: usize = 3;

/// Whether a condition only says for whom something is meant and requires nothing: "If you want
/// more room", "unless told otherwise".
pub(super) fn is_wish(reading: &Reading, tokens: &[Token], at: usize) -> bool {
    let behind = tokens.iter().skip(at + 1).take(WISH);
    let mut words = behind.map(|t| reading.lower_word(t));
    let begins = words.next();
    let addressed = begins.is_some_and(|word| WISH_BEGINS.contains(&&*word));
    addressed && words.any(|word| WISHES.contains(&&*word))
}

/// Two conditions are the same if they share at least this much.
const SAME: f64 = 0.6;

/// The objection to a reversed condition: the claim has "if the alarm rings" where the text has
/// "unless the alarm rings", with the same negation in both.
fn turned(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let first = case.claim.text.tokens.get(pairing.own.own.start)?;
    let own = holds(case.claim, first)?;
    let mut same = pairing.near.iter().filter(|near| near.share >= SAME);
    let (near, other, theirs) = same.find_map(condition)?;
    let reading = near.source.reading;
    let sentence_of = nearest::sentence(near)?;
    let same = count_denials(case.claim, &case.claim.text.tokens)
        == count_denials(reading, near.sentence_tokens());
    if own == theirs || !same {
        return None;
    }
    let detail = Detail::Opposite {
        said: case.claim.word(first).to_owned(),
        found: reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Condition, Effect::Doubts, detail);
    let found = found.at(first.start..first.end);
    Some(found.against(near.source.item.label, sentence_of))
}

/// The word that begins a statement, if it is a condition, and whether it must be true.
fn condition<'n, 'a>(near: &'n Near<'a>) -> Option<(&'n Near<'a>, &'a Token, bool)> {
    let reading = near.source.reading;
    let start = near.statement.own.start;
    let first = reading.text.tokens.get(start)?;
    let before = start
        .checked_sub(1)
        .and_then(|at| reading.text.tokens.get(at));
    // "Except if" means "unless".
    let excepts = before.is_some_and(|t| t.does(Role::Excepting));
    Some((near, first, holds(reading, first)? != excepts))
}

/// The number of negations besides those that begin a condition.
fn count_denials(reading: &Reading, tokens: &[Token]) -> usize {
    let negations = tokens.iter().filter(|t| t.negates());
    negations.filter(|t| holds(reading, t).is_none()).count()
}

/// Two conditions are compared if their statements share at least this much.
const ABOUT_THE_SAME: f64 = 0.4;

/// The objection to a condition that reaches further than that of the text: "unless it has a title"
/// where the text has "regardless of the title"; "even if the flag is missing" where it has "only
/// with the flag".
fn widened(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let own_tokens = case.claim.text.tokens.get(pairing.own.own.clone())?;
    let own = reach(case.claim, own_tokens)?;
    let best = pairing.near.first().filter(|n| n.share >= ABOUT_THE_SAME)?;
    let mut theirs = pairing.near.iter().filter_map(reach_of_sentence);
    let other = theirs.next().filter(|other| *other != own)?;
    if theirs.any(|other| other == own) {
        return None;
    }
    if own == Reach::Narrow && other == Reach::Narrow {
        return None;
    }
    let first = own_tokens.first()?;
    let said = case.claim.shown(pairing.own.own.clone()).to_owned();
    let found = Objection::new(Code::Condition, Effect::Doubts, Detail::Absent { said });
    let found = found.at(first.start..first.end);
    Some(found.against(best.source.item.label, nearest::sentence(best)?))
}

/// How far a condition reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// It applies in all cases.
    All,
    /// It applies with an exception.
    Exception,
    /// It applies in one case only.
    Narrow,
}

fn reach_of_sentence(near: &Near<'_>) -> Option<Reach> {
    reach(near.source.reading, near.sentence_tokens())
}

fn reach(reading: &Reading, tokens: &[Token]) -> Option<Reach> {
    let words: Vec<_> = tokens.iter().map(|t| reading.lower_word(t)).collect();
    let all = words
        .iter()
        .any(|word| matches!(&**word, "regardless" | "irrespective" | "whatever"));
    if all || has_pair(&words, "even", &["if", "when", "without", "though"]) {
        Some(Reach::All)
    } else if words.iter().any(|word| word == "unless") {
        Some(Reach::Exception)
    } else if has_pair(&words, "only", &["if", "when", "with", "after", "once"]) {
        Some(Reach::Narrow)
    } else {
        None
    }
}

/// Whether one of the words `next` is directly behind `first`.
fn has_pair(words: &[Cow<'_, str>], first: &str, next: &[&str]) -> bool {
    let mut pairs = words.windows(2);
    pairs.any(|pair| pair[0] == first && next.contains(&&*pair[1]))
}

/// Whether the word that begins a condition requires it to be true.
fn holds(reading: &Reading, token: &Token) -> Option<bool> {
    match &*reading.lower_word(token) {
        "if" | "when" | "whenever" | "once" | "wenn" | "falls" => Some(true),
        "unless" | "until" | "except" => Some(false),
        _ => None,
    }
}

/// A claim with at most this many words with content says little.
const LITTLE: usize = 3;

fn says_little(claim: &Reading) -> bool {
    let tokens = claim.text.tokens.iter();
    tokens
        .filter(|t| t.is_content_or_number())
        .take(LITTLE + 1)
        .count()
        <= LITTLE
}

fn unsupported(case: &Case<'_>, at: usize, code: Code) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let range = extent(case, at);
    let words: Vec<&Token> = tokens
        .get(range.clone())?
        .iter()
        .filter(|t| t.is_content_or_number())
        .collect();
    let found = words.iter().filter(|t| is_cited(case, t.id));
    let share = super::ratio(found.count(), words.len());
    // A single word can mean what other words of the text say, unless the claim says little else.
    if words.len() < ENOUGH && !(words.len() == 1 && says_little(case.claim)) || share >= LEAST {
        return None;
    }
    let effect = if code == Code::Cause && share <= NOTHING && words.len() > ENOUGH {
        Effect::Rejects
    } else {
        Effect::Doubts
    };
    let (first, last) = (tokens.get(range.start)?, tokens.get(range.end - 1)?);
    let bytes = first.start..last.end;
    let said = case.claim.normal.get(bytes.clone())?.to_owned();
    Some(Objection::new(code, effect, Detail::Absent { said }).at(bytes))
}

/// Whether the word or a similar one is in the cited text.
fn is_cited(case: &Case<'_>, id: u32) -> bool {
    let mut cited = case.cited.iter();
    cited.any(|s| s.reading.matches(id, case.lexicon) > 0.0)
}

/// The words of the clause that begins at token `at`, up to the next punctuation that ends it.
pub(super) fn extent(case: &Case<'_>, at: usize) -> Range<usize> {
    let tokens = &case.claim.text.tokens;
    let mut end = at + 1;
    while end < tokens.len().min(at + MOST_WORDS) {
        let gap = tokens
            .get(end - 1)
            .zip(tokens.get(end))
            .and_then(|(a, b)| case.claim.normal.get(a.end..b.start))
            .unwrap_or("");
        if end > at + 1 && gap.contains([',', ';', ':', '(', ')', '—', '–']) {
            break;
        }
        end += 1;
    }
    at..end
}

/// The kind of clause that a word begins, and the shares of the main clause and of this clause that
/// the cited text must have together.
#[derive(Debug, Clone, Copy)]
struct Tie {
    code: Code,
    /// How much of the rest must be in one sentence before the clause is expected there.
    main: f64,
    /// If less of the clause than this is near that sentence, a doubt is raised.
    least: f64,
}

/// Maximum number of clauses of one claim that are checked.
const MOST_TIES: usize = 4;

fn tie(reading: &Reading, tokens: &[Token], at: usize) -> Option<Tie> {
    let token = tokens.get(at)?;
    let own = reading.lower_word(token);
    let next = tokens.get(at + 1).map(|t| reading.lower_word(t));
    let due = matches!(&*own, "due" | "owing") && next.as_deref() == Some("to");
    // "As the sole cause", "as a gift": a role, no reason.
    let is_role = own == "as" && matches!(next.as_deref(), Some("the" | "a" | "an"));
    let (code, main, least) = if due || token.does(Role::Causal) && !is_role {
        (Code::Cause, 0.6, 0.5)
    } else if token.does(Role::Conditional) && !is_wish(reading, tokens, at) {
        (Code::Condition, 0.4, 0.5)
    } else if is_before_a_value(tokens, at) && matches!(&*own, "before" | "after" | "to") {
        // "After 14 December", "from 4 to 18": dates and numbers are compared as values.
        return None;
    } else if matches!(&*own, "before" | "after") {
        (Code::Order, 0.4, 0.5)
    } else if own == "to" && at > 0 {
        (Code::LowSupport, 0.8, 0.75)
    } else {
        return None;
    };
    Some(Tie { code, main, least })
}

/// Whether the first word with content behind a word is a number or may begin a date.
fn is_before_a_value(tokens: &[Token], at: usize) -> bool {
    const NEAR: usize = 3;
    let mut behind = tokens.iter().skip(at + 1).take(NEAR);
    let first = behind.find(|t| t.is_content_or_number());
    first.is_some_and(|t| t.number || t.may_be_amount())
}

/// The objection to a clause that the cited text does not have near the statement to which the
/// claim attaches it.
fn tied(case: &Case<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let ties = (0..tokens.len()).filter_map(|at| Some((at, tie(case.claim, tokens, at)?)));
    ties.take(MOST_TIES).find_map(|(at, tie)| {
        let range = extent(case, at);
        let (main, clause) = together(case, &range)?;
        if main < tie.main || clause >= tie.least {
            return None;
        }
        let said = case.claim.shown(range.clone()).to_owned();
        let bytes = tokens.get(range.start)?.start..tokens.get(range.end - 1)?.end;
        Some(Objection::new(tie.code, Effect::Doubts, Detail::Absent { said }).at(bytes))
    })
}

/// Two shares: of the claim's other words in the sentence that has most of them, and of the clause
/// in or next to that sentence. `None` if there are too few words.
fn together(case: &Case<'_>, clause: &Range<usize>) -> Option<(f64, f64)> {
    let inside = counted_words(case.claim, clause, true);
    let outside = counted_words(case.claim, clause, false);
    if inside.len() < ENOUGH || outside.len() < ENOUGH {
        return None;
    }
    let mut best: Option<(f64, f64)> = None;
    for source in case.cited {
        let (own, other) = (
            held(case, source.reading, &outside),
            held(case, source.reading, &inside),
        );
        for (s, main) in own.iter().enumerate() {
            let beside = other.get(s.saturating_sub(1)..(s + 2).min(other.len()));
            let found = beside.unwrap_or(&[]).iter().fold(0, |all, held| all | held);
            let share = super::ratio(found.count_ones() as usize, inside.len());
            let main = super::ratio(main.count_ones() as usize, outside.len());
            let total = main + share * BESIDE;
            if best.is_none_or(|best| total > best.0 + best.1 * BESIDE) {
                best = Some((main, share));
            }
        }
    }
    best
}

/// The words of a claim with content, and its numbers: those inside a clause, or the others.
fn counted_words<'r>(claim: &'r Reading, clause: &Range<usize>, inside: bool) -> Vec<&'r Token> {
    let tokens = claim.text.tokens.iter().enumerate();
    let chosen = tokens.filter(|(i, t)| clause.contains(i) == inside && t.is_content_or_number());
    chosen.map(|(_, t)| t).take(MOST_WORDS).collect()
}

/// The weight of the clause in the search for the sentence that it is attached to.
const BESIDE: f64 = 0.3;

/// For every sentence: which of these words it contains, one bit per word.
fn held(case: &Case<'_>, reading: &Reading, words: &[&Token]) -> Vec<u32> {
    let mut out = vec![0_u32; reading.text.sentences.len()];
    for (n, token) in words.iter().enumerate() {
        let exact = reading.sentences_with(token.id).iter();
        for s in exact.chain(reading.sentences_like(token.id, case.lexicon)) {
            out.get_mut(*s as usize)
                .into_iter()
                .for_each(|held| *held |= 1 << n);
        }
    }
    out
}
