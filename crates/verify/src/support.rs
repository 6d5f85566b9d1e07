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
        Self {
            weights: NAMES.map(|name| weight_named(text, name)),
            bias: weight_named(text, "bias"),
            supported: weight_named(text, "supported"),
            low: weight_named(text, "low"),
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

/// The number behind a name at the beginning of a line; 0 without such a line.
fn weight_named(text: &str, name: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|v| v.trim().parse().ok()).unwrap_or(0.0)
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
        .enumerate()
        .filter(|(at, t)| (!t.is_stop() || t.is_light()) && !claim.is_explained(*at))
        .map(|(_, t)| *t)
        .take(MOST_WORDS)
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
    counted
        .iter()
        .map(|token| word_weight(token, texts, sentences))
        .collect()
}

fn word_weight(token: &Token, texts: &[&Reading], sentences: usize) -> f64 {
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
}

/// How much of a claim is in each sentence of a text, and in each window that starts there.
struct SentenceMatches {
    sentence: Vec<f64>,
    window: Vec<f64>,
    /// The match of one word in each sentence; all 0 between two words.
    word: Vec<f64>,
}

impl SentenceMatches {
    fn of(text: &Reading, counted: &[Token], weights: &[f64], lexicon: &Lexicon) -> Self {
        let len = text.text.sentences.len();
        let mut this = Self {
            sentence: vec![0.0; len],
            window: vec![0.0; len],
            word: vec![0.0; len],
        };
        for (token, weight) in counted.iter().zip(weights) {
            let exact = text.sentences_with(token.id);
            let like = text.sentences_like(token.id, lexicon);
            this.add(exact, like, *weight);
        }
        this
    }

    /// Adds a word that is in the sentences `exact`, and a similar one that is in `like`.
    fn add(&mut self, exact: &[u32], like: &[u32], weight: f64) {
        self.raise_word(like, ALIKE);
        self.raise_word(exact, 1.0);
        let len = self.word.len();
        let touched = exact.iter().chain(like).map(|s| *s as usize);
        let first = touched.clone().min().unwrap_or(len);
        let end = touched.max().map_or(0, |s| s + 1);
        for s in first.saturating_sub(WINDOW - 1)..end {
            let reach = self.word.get(s..(s + WINDOW).min(len)).unwrap_or(&[]);
            if let (Some(w), Some(o)) = (self.window.get_mut(s), self.sentence.get_mut(s)) {
                *w += weight * reach.iter().copied().fold(0.0, f64::max);
                *o += weight * reach.first().copied().unwrap_or(0.0);
            }
        }
        self.clear_word(exact);
        self.clear_word(like);
    }

    fn raise_word(&mut self, sentences: &[u32], value: f64) {
        for s in sentences {
            if let Some(found) = self.word.get_mut(*s as usize) {
                *found = value.max(*found);
            }
        }
    }

    fn clear_word(&mut self, sentences: &[u32]) {
        for s in sentences {
            if let Some(found) = self.word.get_mut(*s as usize) {
                *found = 0.0;
            }
        }
    }

    /// The best sentence of the window that starts at `first`, and its match.
    fn best_sentence(&self, first: usize) -> (usize, f64) {
        let inside = first..(first + WINDOW).min(self.sentence.len());
        inside.fold((first, -1.0), |(at, top), s| match self.sentence.get(s) {
            Some(v) if *v > top => (s, *v),
            _ => (at, top),
        })
    }
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
        let matches = SentenceMatches::of(text, &counted, &weights, lexicon);
        for (first, share) in matches.window.iter().enumerate() {
            let share = if total > 0.0 { share / total } else { 0.0 };
            if best.is_none_or(|b| share > b.share) {
                let (at, top) = matches.best_sentence(first);
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

/// The words of a window, to be searched.
struct WindowWords<'l> {
    ids: Vec<u32>,
    like: Vec<u32>,
    lexicon: &'l Lexicon,
}

impl<'l> WindowWords<'l> {
    fn of(text: &Reading, window: &Window, lexicon: &'l Lexicon) -> Self {
        let inside = window.first..(window.first + WINDOW).min(text.text.sentences.len());
        let near: Vec<&Token> = inside.flat_map(|s| text.tokens_of(s)).collect();
        Self {
            ids: sorted(near.iter().map(|t| t.id)),
            like: sorted(near.iter().filter_map(|t| lexicon.alike(t.id))),
            lexicon,
        }
    }

    fn has(&self, id: u32) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// How well a word matches: 1, [`ALIKE`] or 0.
    fn matches(&self, id: u32) -> f64 {
        let alike = self.lexicon.alike(id);
        if self.has(id) {
            1.0
        } else if alike.is_some_and(|l| self.like.binary_search(&l).is_ok()) {
            ALIKE
        } else {
            0.0
        }
    }
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
    let words = WindowWords::of(text, window, lexicon);
    let own = claim.text.tokens.as_slice();
    let best = text.tokens_of(window.best);
    let cover = counted.iter().map(|t| best_match(texts, t.id, lexicon));
    let after = end_of_opening(claim);
    let weights = word_weights(&counted, texts);
    let mut said: Vec<(&Token, f64)> = counted.iter().zip(weights).collect();
    said.retain(|(t, _)| t.start >= after);
    let stranger = said
        .iter()
        .any(|(t, _)| t.capital && words.matches(t.id) == 0.0);
    let universal = own
        .iter()
        .any(|t| is_universal(t, lexicon) && !words.has(t.id));
    Features {
        cover: share(cover, counted.len()),
        said: share_of_said(&said, &words).unwrap_or(window.share),
        stranger: f64::from(stranger),
        numbers: share_of_numbers(&counted, texts),
        direction: f64::from(own.iter().any(|t| !words.has(t.id) && is_opposed(t, best))),
        universal: f64::from(universal),
        hedge: f64::from(best.iter().any(is_unsure) && own.iter().all(|t| t.mood().is_none())),
    }
}

/// How well a word matches in the text that has it best.
fn best_match(texts: &[&Reading], id: u32, lexicon: &Lexicon) -> f64 {
    let matches = texts.iter().map(|text| text.matches(id, lexicon));
    matches.fold(0.0, f64::max)
}

/// The share, by weight, of these words that the window has.
fn share_of_said(said: &[(&Token, f64)], words: &WindowWords<'_>) -> Option<f64> {
    let all: f64 = said.iter().map(|(_, weight)| weight).sum();
    let found = said.iter().map(|(t, weight)| weight * words.matches(t.id));
    (all > 0.0).then(|| found.sum::<f64>() / all)
}

/// The share of the numbers among these words that the texts have; 1 without numbers.
fn share_of_numbers(counted: &[Token], texts: &[&Reading]) -> f64 {
    let numbers: Vec<&Token> = counted.iter().filter(|t| t.number).collect();
    if numbers.is_empty() {
        return 1.0;
    }
    let found = numbers
        .iter()
        .filter(|t| texts.iter().any(|text| text.has(t.id)));
    share(found.map(|_| 1.0), numbers.len())
}

/// Whether a sentence has the opposite of a word, and not the word itself or its like.
fn is_opposed(token: &Token, sentence: &[Token]) -> bool {
    token.pairs().iter().any(|(n, side)| {
        has_side_of_pair(sentence, *n, !side) && !has_side_of_pair(sentence, *n, *side)
    })
}

fn has_side_of_pair(tokens: &[Token], pair: u16, side: bool) -> bool {
    tokens.iter().any(|t| t.pairs().contains(&(pair, side)))
}

/// "All", "only", "never" and their like.
fn is_universal(token: &Token, lexicon: &Lexicon) -> bool {
    matches!(
        token.quantity(),
        Some(Quantity::Universal | Quantity::Nothing)
    ) || matches!(lexicon.stem(token.id), "on" | "only" | "sol" | "exclus")
}

fn is_unsure(token: &Token) -> bool {
    matches!(token.mood(), Some(Mood::May | Mood::Hedge))
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
