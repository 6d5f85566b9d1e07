//! L6: measures how much of a claim the cited text supports, in numbers that people can inspect.
//!
//! Every feature is a share or a flag that can be checked by hand; the score is their weighted sum.
//! Weights and thresholds are in `data/support.txt` with their provenance. The score uses only
//! sums, products and quotients, so it is the same on every machine.

use std::sync::LazyLock;

use super::reading::{ALIKE, Reading};
use super::tables::{Mood, Quantity};
use super::text::{Lexicon, Token};

/// Maximum number of words of one claim that are examined; bounds the work on hostile answers.
const MOST_WORDS: usize = 300;

/// Sentences in a window.
pub(crate) const WINDOW: usize = 3;

/// The names of the features, in the order of [`Features::values`].
pub(crate) const NAMES: [&str; 7] = [
    "cover",
    "said",
    "stranger",
    "numbers",
    "direction",
    "universal",
    "hedge",
];

/// The features of one claim and its evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Features {
    /// Share of the claim's words that appear anywhere in the evidence.
    pub cover: f64,
    /// The share within the best window, with rare words weighted more, of the words after the
    /// claim's opening names. These words are the statement about the subject. Texts often name
    /// their subject only in their titles, and the rest of a claim is where it can be true or
    /// false.
    pub said: f64,
    /// 1 when a name among those words is not in the window.
    pub stranger: f64,
    /// Share of the claim's numbers that appear anywhere in the evidence.
    pub numbers: f64,
    /// 1 when the best sentence says the opposite of a word of the claim.
    pub direction: f64,
    /// 1 when the claim says "all", "only" or "never", and the window does not.
    pub universal: f64,
    /// 1 when the best sentence is unsure and the claim is not.
    pub hedge: f64,
}

impl Features {
    /// The values in the order of [`NAMES`].
    pub(crate) const fn values(&self) -> [f64; 7] {
        [
            self.cover,
            self.said,
            self.stranger,
            self.numbers,
            self.direction,
            self.universal,
            self.hedge,
        ]
    }
}

/// The weights and where they come from.
pub(crate) struct Weights {
    weights: [f64; 7],
    bias: f64,
    /// With this score or more, a claim counts as supported where a yes or no is needed (`eval
    /// claims`).
    pub supported: f64,
    /// Below this score the gate says `LOW_SUPPORT`.
    pub low: f64,
}

static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| Weights::read(include_str!("data/support.txt")));

/// The fitted weights.
pub(crate) fn weights() -> &'static Weights {
    &WEIGHTS
}

impl Weights {
    fn read(text: &str) -> Self {
        let value = |name: &str| {
            let line = text
                .lines()
                .find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|v| v.trim().parse().ok()).unwrap_or(0.0)
        };
        Self {
            weights: NAMES.map(value),
            bias: value("bias"),
            supported: value("supported"),
            low: value("low"),
        }
    }

    /// The weighted sum.
    pub(crate) fn score(&self, features: &Features) -> f64 {
        features
            .values()
            .iter()
            .zip(&self.weights)
            .map(|(x, w)| x * w)
            .sum::<f64>()
            + self.bias
    }
}

/// The best window of one text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    /// Which of the texts.
    pub text: usize,
    /// Its first sentence.
    pub first: usize,
    /// The sentence in it that contributes most.
    pub best: usize,
    /// Weighted share of the claim's words in the window.
    pub share: f64,
    /// The same for the best sentence.
    pub best_share: f64,
}

/// The words of a claim that are used to measure support.
pub(crate) fn counted(claim: &Reading) -> Vec<Token> {
    claim
        .text
        .tokens
        .iter()
        .filter(|t| !t.is_stop() || t.is_light())
        .take(MOST_WORDS)
        .copied()
        .collect()
}

/// A rising function of a count without logarithms: 0, 1, 1.5, 1.83, … (harmonic numbers).
fn harmonic(n: usize) -> f64 {
    (1..=n.min(64))
        .map(|k| 1.0 / f64::from(u32::try_from(k).unwrap_or(1)))
        .sum()
}

/// The weight of each counted word: more for numbers and names, less for function words and for
/// words that are in many sentences.
fn word_weights(counted: &[Token], texts: &[&Reading]) -> Vec<f64> {
    let sentences: usize = texts.iter().map(|t| t.text.sentences.len()).sum();
    let one = |token: &Token| {
        let base = match token {
            t if t.number => 1.5,
            t if t.is_light() => 0.7,
            t if t.capital => 1.2,
            _ => 1.0,
        };
        let df: usize = texts.iter().map(|t| t.sentences_with(token.id).len()).sum();
        if sentences > 3 && df > 0 {
            base / (1.0 + harmonic(df) / 2.0)
        } else {
            base
        }
    };
    counted.iter().map(one).collect()
}

/// Finds the best window of `texts` for the claim. `None` if the claim has no word to measure or
/// `texts` is empty.
pub(crate) fn best_window(
    claim: &Reading,
    texts: &[&Reading],
    lexicon: &Lexicon,
) -> Option<Window> {
    let counted = counted(claim);
    let weights = word_weights(&counted, texts);
    let total: f64 = weights.iter().sum();
    let mut best: Option<Window> = None;
    for (n, text) in texts.iter().enumerate() {
        let len = text.text.sentences.len();
        // The match of each word in each sentence; per sentence, and per window that starts there.
        let mut single = vec![0.0_f64; len];
        let mut window = vec![0.0_f64; len];
        let mut found = vec![0.0_f64; len];
        for (token, weight) in counted.iter().zip(&weights) {
            let (exact, like) = (
                text.sentences_with(token.id),
                text.sentences_like(token.id, lexicon),
            );
            let mut set = |list: &[u32], value: f64| {
                for s in list {
                    if let Some(f) = found.get_mut(*s as usize) {
                        *f = value.max(*f);
                    }
                }
            };
            set(like, ALIKE);
            set(exact, 1.0);
            let touched = exact.iter().chain(like).map(|s| *s as usize);
            let from = touched
                .clone()
                .min()
                .unwrap_or(len)
                .saturating_sub(WINDOW - 1);
            let to = touched.max().map_or(0, |s| s + 1);
            for s in from..to {
                let reach = found.get(s..(s + WINDOW).min(len)).unwrap_or(&[]);
                if let (Some(w), Some(o)) = (window.get_mut(s), single.get_mut(s)) {
                    *w += weight * reach.iter().copied().fold(0.0, f64::max);
                    *o += weight * reach.first().copied().unwrap_or(0.0);
                }
            }
            let mut clear = |list: &[u32]| {
                for s in list {
                    if let Some(f) = found.get_mut(*s as usize) {
                        *f = 0.0;
                    }
                }
            };
            clear(exact);
            clear(like);
        }
        for (first, share) in window.iter().enumerate() {
            let share = if total > 0.0 { share / total } else { 0.0 };
            if best.is_none_or(|b| share > b.share) {
                let inside = first..(first + WINDOW).min(len);
                let (at, top) = inside.fold((first, -1.0), |(at, top), s| match single.get(s) {
                    Some(v) if *v > top => (s, *v),
                    _ => (at, top),
                });
                let best_share = if total > 0.0 { top / total } else { 0.0 };
                best = Some(Window {
                    text: n,
                    first,
                    best: at,
                    share,
                    best_share,
                });
            }
        }
    }
    best.filter(|_| !counted.is_empty())
}

/// Measures the claim against the texts that it cites.
pub(crate) fn measure(
    claim: &Reading,
    texts: &[&Reading],
    window: &Window,
    lexicon: &Lexicon,
) -> Features {
    let counted = counted(claim);
    let Some(text) = texts.get(window.text) else {
        return Features::default();
    };
    let inside = window.first..(window.first + WINDOW).min(text.text.sentences.len());
    let near: Vec<&Token> = inside.clone().flat_map(|s| text.tokens_of(s)).collect();
    let ids = sorted(near.iter().map(|t| t.id));
    let like = sorted(near.iter().filter_map(|t| lexicon.alike(t.id)));
    let held = |id: u32| ids.binary_search(&id).is_ok();
    let in_window = |t: &Token| {
        if held(t.id) {
            1.0
        } else if lexicon
            .alike(t.id)
            .is_some_and(|l| like.binary_search(&l).is_ok())
        {
            ALIKE
        } else {
            0.0
        }
    };
    let anywhere = |t: &Token| {
        texts
            .iter()
            .map(|text| text.matches(t.id, lexicon))
            .fold(0.0, f64::max)
    };
    let numbers: Vec<&Token> = counted.iter().filter(|t| t.number).collect();
    let weights = word_weights(&counted, texts);
    let after = end_of_opening(claim);
    let said = || {
        counted
            .iter()
            .zip(&weights)
            .filter(|(t, _)| t.start >= after)
    };
    let said_weight: f64 = said().map(|(_, w)| w).sum();
    let flag = |b: bool| if b { 1.0 } else { 0.0 };
    let best = text.tokens_of(window.best);
    let opposite = |t: &Token| {
        let met = |side: bool, n: u16| best.iter().any(|e| e.pairs().contains(&(n, side)));
        !held(t.id)
            && t.pairs()
                .iter()
                .any(|(n, side)| met(!side, *n) && !met(*side, *n))
    };
    let wide = |t: &Token| {
        matches!(t.quantity(), Some(Quantity::Universal | Quantity::Nothing))
            || matches!(lexicon.stem(t.id), "on" | "only" | "sol" | "exclus")
    };
    let unsure = |t: &Token| matches!(t.mood(), Some(Mood::May | Mood::Hedge));
    let stands = |t: &&&Token| texts.iter().any(|text| text.has(t.id));
    Features {
        cover: share(counted.iter().map(anywhere), counted.len()),
        said: if said_weight > 0.0 {
            said().map(|(t, w)| w * in_window(t)).sum::<f64>() / said_weight
        } else {
            window.share
        },
        stranger: flag(said().any(|(t, _)| t.capital && in_window(t) == 0.0)),
        numbers: if numbers.is_empty() {
            1.0
        } else {
            share(numbers.iter().filter(stands).map(|_| 1.0), numbers.len())
        },
        direction: flag(claim.text.tokens.iter().any(opposite)),
        universal: flag(claim.text.tokens.iter().any(|t| wide(t) && !held(t.id))),
        hedge: flag(
            best.iter().any(unsure) && !claim.text.tokens.iter().any(|t| t.mood().is_some()),
        ),
    }
}

/// Where the names and function words at the start of a claim end: mostly its subject.
fn end_of_opening(claim: &Reading) -> usize {
    let goes_on = claim
        .text
        .tokens
        .iter()
        .find(|t| !(t.capital || t.is_stop()));
    goes_on.map_or(claim.normal.len(), |t| t.start)
}

/// The values sorted and without duplicates, for binary search.
fn sorted(values: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut out: Vec<u32> = values.collect();
    out.sort_unstable();
    out.dedup();
    out
}

fn share(values: impl Iterator<Item = f64>, of: usize) -> f64 {
    if of == 0 {
        0.0
    } else {
        values.sum::<f64>() / f64::from(u32::try_from(of).unwrap_or(u32::MAX))
    }
}

/// How much one text supports one claim, for evaluating the verifier itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimSupport {
    /// Higher is better; compare with [`ClaimSupport::threshold`].
    pub score: f64,
    /// The parts of the score, by name.
    pub features: Vec<(&'static str, f64)>,
}

impl ClaimSupport {
    /// The single threshold that was fitted for all sets.
    pub fn threshold() -> f64 {
        weights().supported
    }
}

/// Measures `claim` against `evidence` (markdown) as the gate does. A claim without a word to
/// measure has score 0 and no features.
pub fn claim_support(claim: &str, evidence: &str) -> ClaimSupport {
    let mut lexicon = Lexicon::default();
    let text = super::source_text::read(evidence, &mut lexicon);
    let claim = Reading::claim(
        local_agent_text::evidence::Normal::of(claim).as_str(),
        &mut lexicon,
    );
    let Some(window) = best_window(&claim, &[&text], &lexicon) else {
        return ClaimSupport {
            score: 0.0,
            features: Vec::new(),
        };
    };
    let features = measure(&claim, &[&text], &window, &lexicon);
    ClaimSupport {
        score: weights().score(&features),
        features: NAMES.into_iter().zip(features.values()).collect(),
    }
}
