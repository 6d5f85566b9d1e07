//! L3: quoted words must appear in the evidence as one unbroken run.
//!
//! Twelve characters or more between quote marks, and every block quote, must be found in a cited
//! item under the declared normalisation ([`local_agent_text::evidence::Normal`]); punctuation that
//! closes the quote is ignored. Parts joined by an ellipsis must be in one item, in order, and what
//! was left out must not contain a negation. A quote that fails is examined further, within a fixed
//! budget, to give the reason.

mod marks;

pub(crate) use marks::{has_marks, quoted_ranges};

use std::cell::Cell;
use std::ops::Range;

use super::Code;
use super::source_text::{SourceText, SourceTexts, tokens};
use local_agent_text::evidence::Normal;
use local_agent_text::types::Label;

/// The shortest text between quote marks that counts as a quote, in characters.
pub(crate) const SHORTEST: usize = 12;

/// Maximum number of word comparisons per answer for examining failed quotes.
const BUDGET: usize = 8_000_000;

/// The result for one quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QuoteMatch {
    /// It is in this item, at this range of its normalised text.
    In(Label, Range<usize>),
    /// It was not found, for this reason.
    Rejected(Code, String),
}

/// Judges the quotes of one answer.
pub(crate) struct Judge<'a> {
    texts: &'a SourceTexts<'a>,
    question: Normal,
    left: Cell<usize>,
}

impl<'a> Judge<'a> {
    /// A judge with a full budget.
    pub(crate) fn new(texts: &'a SourceTexts<'a>, question: &str) -> Self {
        Self {
            texts,
            question: Normal::of(question),
            left: Cell::new(BUDGET),
        }
    }

    /// Whether the quote repeats the question's own words.
    pub(crate) fn is_from_question(&self, quote: &str) -> bool {
        self.question.find(bare(quote)).is_some()
    }

    /// Judges `quote` (normalised) against the cited items.
    pub(crate) fn judge(&self, quote: &str, cited: &[Label]) -> QuoteMatch {
        let bare = bare(quote);
        let mut cited_texts = cited.iter().filter_map(|l| self.texts.get(*l));
        if let Some(found) = cited_texts.find_map(|t| verbatim(t, bare)) {
            return found;
        }
        let elsewhere = self
            .texts
            .iter()
            .filter(|t| !cited.contains(&t.item.label))
            .find_map(|t| verbatim(t, bare));
        if let Some(QuoteMatch::In(label, _)) = elsewhere {
            let why = format!("These words are in {label}, which is not cited here.");
            return QuoteMatch::Rejected(Code::QuoteMisattributed, why);
        }
        let pieces = pieces(bare);
        if pieces.len() > 1 || pieces.first().is_some_and(|p| *p != bare) {
            return self.pieces(&pieces, cited);
        }
        self.explain(bare, cited)
    }

    /// Judges a quote with ellipses: its parts must be in one item, in order, with no negation left
    /// out.
    fn pieces(&self, pieces: &[&str], cited: &[Label]) -> QuoteMatch {
        let mut hidden = None;
        for text in cited.iter().filter_map(|l| self.texts.get(*l)) {
            let Some(places) = in_order(text, pieces) else {
                continue;
            };
            let hay = text.normal().as_str();
            let gaps = places
                .windows(2)
                .filter_map(|w| hay.get(w[0].end..w[1].start));
            match gaps.flat_map(negations).next() {
                Some(word) => hidden = Some(word.to_owned()),
                None => {
                    let (first, last) = (places.first(), places.last());
                    if let (Some(first), Some(last)) = (first, last) {
                        return QuoteMatch::In(text.item.label, first.start..last.end);
                    }
                }
            }
        }
        if let Some(word) = hidden {
            let why = format!("The ellipsis leaves out “{word}”, which changes the meaning.");
            return QuoteMatch::Rejected(Code::QuoteStitched, why);
        }
        if pieces
            .iter()
            .all(|p| self.texts.iter().any(|t| verbatim(t, p).is_some()))
        {
            let why = "No cited item contains its pieces in this order.".to_owned();
            return QuoteMatch::Rejected(Code::QuoteStitched, why);
        }
        let odd = pieces
            .iter()
            .copied()
            .find(|p| self.texts.iter().all(|t| verbatim(t, p).is_none()));
        self.explain(odd.unwrap_or(""), cited)
    }

    /// Why a run of words is not in the evidence: a word or two differ, it was joined from several
    /// places, or it was made up.
    fn explain(&self, quote: &str, cited: &[Label]) -> QuoteMatch {
        let words: Vec<&str> = tokens(quote)
            .into_iter()
            .filter_map(|r| quote.get(r))
            .collect();
        let order = cited.iter().filter_map(|l| self.texts.get(*l));
        let others = self.texts.iter().filter(|t| !cited.contains(&t.item.label));
        let allowed = match words.len() {
            0..=2 => 0,
            3..=5 => 1,
            _ => 2,
        };
        for text in order.chain(others) {
            if allowed > 0
                && let Some((differences, nearest)) = self.nearest(text, &words, allowed)
            {
                let s = if differences == 1 {
                    "One word differs"
                } else {
                    "Two words differ"
                };
                let why = format!(
                    "{s} from {}, which says “{}”.",
                    text.item.label,
                    super::identity::shorten(nearest)
                );
                return QuoteMatch::Rejected(Code::QuoteAltered, why);
            }
        }
        if self.is_joined(&words) {
            let why = "The evidence contains its parts, but not next to each other.".to_owned();
            return QuoteMatch::Rejected(Code::QuoteStitched, why);
        }
        QuoteMatch::Rejected(
            Code::QuoteFabricated,
            "These words are nowhere in the evidence.".to_owned(),
        )
    }

    /// Takes `cost` from the budget; `false` when it is used up.
    fn spend(&self, cost: usize) -> bool {
        let left = self.left.get().checked_sub(cost);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// The part of `text` that differs from `words` in the fewest words, if at most `allowed`
    /// differ. Word-level edit distance with free ends in the text (Sellers 1980).
    fn nearest<'t>(
        &self,
        text: &'t SourceText<'_>,
        words: &[&str],
        allowed: usize,
    ) -> Option<(usize, &'t str)> {
        let hay = text.normal().as_str();
        let tokens = text.tokens();
        // All but `allowed` words must be somewhere in the text.
        let strange = words
            .iter()
            .filter(|w| !text.vocabulary().contains(**w))
            .count();
        if strange > allowed || !self.spend(words.len().saturating_mul(tokens.len())) {
            return None;
        }
        // One column per word of the quote: (distance, start of the run in the text).
        let mut column: Vec<(usize, usize)> = (0..=words.len()).map(|i| (i, 0)).collect();
        let mut best: Option<(usize, Range<usize>)> = None;
        for (j, token) in tokens.iter().enumerate() {
            let word = hay.get(token.clone()).unwrap_or("");
            let mut diagonal = column.first().copied().unwrap_or((0, 0));
            if let Some(top) = column.first_mut() {
                *top = (0, j + 1);
            }
            let mut above = (0, j + 1);
            for (cell, wanted) in column.iter_mut().skip(1).zip(words) {
                let left = *cell;
                let substituted = (diagonal.0 + usize::from(*wanted != word), diagonal.1);
                let inserted = (left.0 + 1, left.1);
                let removed = (above.0 + 1, above.1);
                let next = [substituted, inserted, removed]
                    .into_iter()
                    .min_by_key(|c| c.0)
                    .unwrap_or(substituted);
                diagonal = left;
                *cell = next;
                above = next;
            }
            let Some((distance, start)) = column.last().copied() else {
                continue;
            };
            if distance <= allowed && best.as_ref().is_none_or(|b| distance < b.0) && start <= j {
                best = Some((distance, start..j + 1));
            }
        }
        let (distance, run) = best?;
        let (first, last) = (tokens.get(run.start)?, tokens.get(run.end - 1)?);
        Some((distance, hay.get(first.start..last.end)?))
    }

    /// Whether at most four runs of three words or more, from any items, make up the whole quote.
    fn is_joined(&self, words: &[&str]) -> bool {
        let mut from = 0;
        for _ in 0..4 {
            let rest = words.get(from..).unwrap_or(&[]);
            let longest = self
                .texts
                .iter()
                .map(|t| self.longest_start(t, rest))
                .max()
                .unwrap_or(0);
            from += longest;
            if longest < 3 {
                return false;
            }
            if from >= words.len() {
                return true;
            }
        }
        false
    }

    /// The longest run at the start of `words` that is in `text`.
    fn longest_start(&self, text: &SourceText<'_>, words: &[&str]) -> usize {
        let hay = text.normal().as_str();
        let tokens = text.tokens();
        let mut longest = 0;
        for at in 0..tokens.len() {
            let here = tokens
                .get(at..)
                .unwrap_or(&[])
                .iter()
                .filter_map(|r| hay.get(r.clone()));
            let run = here.zip(words).take_while(|(a, b)| a == *b).count();
            longest = longest.max(run);
            if !self.spend(run + 1) {
                return 0;
            }
        }
        longest
    }
}

fn verbatim(text: &SourceText<'_>, words: &str) -> Option<QuoteMatch> {
    // The header of a table that is not cited is not quoted either.
    text.normal()
        .find_from(words, text.head_end())
        .map(|range| QuoteMatch::In(text.item.label, range))
}

/// The quote without surrounding quote marks and blanks, and without closing punctuation.
fn bare(quote: &str) -> &str {
    let quote = quote.trim_matches(|c: char| c == '"' || c.is_whitespace());
    quote.trim_end_matches(['.', ',', ';', ':', '!', '?', ' ', '。', '，', '"'])
}

/// The non-empty parts between ellipses.
fn pieces(quote: &str) -> Vec<&str> {
    let mut out = vec![quote];
    for mark in ["[...]", "[…]", "(...)", "(…)", "...", "…"] {
        out = out.into_iter().flat_map(|p| p.split(mark)).collect();
    }
    out.into_iter()
        .map(bare)
        .map(|p| p.trim_start_matches([',', ';', ' ']))
        .filter(|p| !p.is_empty())
        .collect()
}

/// Where the parts are in one item, one after another.
fn in_order(text: &SourceText<'_>, pieces: &[&str]) -> Option<Vec<Range<usize>>> {
    let mut from = 0;
    pieces
        .iter()
        .map(|piece| {
            let found = text.normal().find_from(piece, from)?;
            from = found.end;
            Some(found)
        })
        .collect()
}

/// Words that reverse a statement when they are left out.
const NEGATIONS: &[&str] = list!("quotes.negations");

fn negations(text: &str) -> Vec<&str> {
    tokens(text)
        .into_iter()
        .filter_map(|r| text.get(r))
        .filter(|word| is_negation(word))
        .collect()
}

fn is_negation(word: &str) -> bool {
    let lower = word.to_lowercase();
    NEGATIONS.contains(&lower.as_str())
        || lower.ends_with("n't")
        || matches!(
            lower.as_str(),
            "不" | "没" | "沒" | "无" | "無" | "未" | "非"
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;
    use proptest::prelude::*;

    #[test]
    fn ellipses_cut_a_quote_into_pieces() {
        assert_eq!(pieces("a b … c d"), ["a b", "c d"]);
        assert_eq!(pieces("... a [...] b (…) c ..."), ["a", "b", "c"]);
        assert_eq!(pieces("a b"), ["a b"]);
    }

    #[test]
    fn the_nearest_run_is_named() {
        let frozen = snapshot(&["The whole budget is 5 million euros in 2026.\n"]);
        let texts = SourceTexts::new(&frozen);
        let judge = Judge::new(&texts, "");
        let one = [Label::new(1).unwrap()];
        let QuoteMatch::Rejected(code, why) = judge.judge("budget is 6 million euros", &one) else {
            panic!()
        };
        assert_eq!(code, Code::QuoteAltered);
        assert!(why.contains("budget is 5 million euros"), "{why}");
    }

    proptest! {
        #[test]
        fn any_text_is_judged_without_panic(text in any::<String>(), md in "[a-c\"“” .…n]{0,80}") {
            let frozen = snapshot(&["a b c. a a b. c b n. a … b\n"]);
            let texts = SourceTexts::new(&frozen);
            let judge = Judge::new(&texts, "a b");
            for t in [&text, &md] {
                for range in quoted_ranges(t, |_| false) {
                    prop_assert!(t.get(range).is_some());
                }
                judge.judge(Normal::of(t).as_str(), &[Label::new(1).unwrap()]);
            }
        }
    }
}
