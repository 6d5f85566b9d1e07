//! The last hidden states of texts, which represent each word in its context.
//!
//! The vector of a text is the mean of these states. A comparison of two texts word by word is more
//! precise ("late interaction", as in ColBERT, Khattab and Zaharia 2020).

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use local_agent_kernels::elementwise as kernels;
use local_agent_kernels::network::BATCH_TOKENS;

use super::batch::{Frame, on_workers};
use super::network::{TextNetwork, TextScratch};
use super::tokens::TokenCounter;
use local_agent_text::error::Result;

/// The vector of a text and one vector for each of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenStates {
    /// The vector of the text, of length 1; for a text longer than the window, the vector of its
    /// beginning.
    pub vector: Vec<f32>,
    /// One vector of length 1 per token, concatenated, without special tokens.
    rows: Vec<f32>,
    /// Length of the vector of a token, which may be greater than that of a text.
    width: usize,
}

impl TokenStates {
    /// The vectors of the tokens, in order.
    pub fn tokens(&self) -> impl Iterator<Item = &[f32]> {
        self.rows.chunks_exact(self.width.max(1))
    }

    /// The highest cosine of `vector` (of length 1) with a token; −1 without tokens.
    pub fn best_cosine(&self, vector: &[f32]) -> f32 {
        self.tokens()
            .map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum::<f32>())
            .fold(-1.0, f32::max)
    }
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct WordState {
    /// The word as it was given.
    pub word: String,
    /// The mean of its tokens' states, of length 1.
    pub vector: Vec<f32>,
    /// Number of tokens of the word. Many tokens for few characters show that the model does not
    /// know the word.
    pub tokens: usize,
}

/// The window of a text.
struct StateWindow {
    text: usize,
    ids: Vec<u32>,
    /// The range of the text's own tokens.
    own: Range<usize>,
}

/// The states of `texts`, in the same order, computed by `threads` workers.
pub(super) fn of_texts(
    network: &TextNetwork,
    tokens: &TokenCounter,
    frame: &Frame,
    texts: &[&str],
    threads: usize,
) -> Result<Vec<TokenStates>> {
    let mut windows: Vec<StateWindow> = Vec::with_capacity(texts.len());
    for (text, words) in texts.iter().enumerate() {
        let mut framed = frame.tokens(tokens, words)?;
        framed.own.truncate(frame.room);
        let start = frame.before.len() + framed.prefix.len();
        let own = start..start + framed.own.len();
        let ids = frame.windows(&framed).into_iter();
        windows.extend(ids.map(|ids| StateWindow {
            text,
            ids,
            own: own.clone(),
        }));
    }
    windows.sort_by_key(|window| std::cmp::Reverse(window.ids.len()));
    let batches = batches(&windows);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, TokenStates)>> {
        let (mut scratch, mut done) = (TextScratch::default(), Vec::new());
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ids: Vec<&[u32]> = batch.iter().map(|window| window.ids.as_slice()).collect();
            let states = network.states(&ids, &mut scratch)?;
            let inner = |(window, (vector, rows)): (&StateWindow, (Vec<f32>, Vec<f32>))| {
                let states = inner(network.width(), vector, &rows, &window.own);
                (window.text, states)
            };
            done.extend(batch.iter().zip(states).map(inner));
        }
        Ok(done)
    };
    let parts = on_workers(threads.clamp(1, batches.len().max(1)), work)?;
    let mut all: Vec<(usize, TokenStates)> = parts.into_iter().flatten().collect();
    all.sort_by_key(|(text, _)| *text);
    Ok(all.into_iter().map(|(_, states)| states).collect())
}

/// The words of `text` (as cut by `split`), each in the context of all of them.
pub(super) fn of_words(
    network: &TextNetwork,
    tokens: &TokenCounter,
    frame: &Frame,
    words: &[&str],
) -> Result<Vec<WordState>> {
    let mut ids = [frame.before.as_slice(), &frame.prefix].concat();
    let beginning = ids.len();
    let mut places = Vec::with_capacity(words.len());
    let limit = frame.room + ids.len();
    for word in words {
        let own = if ids.len() == beginning && frame.prefix.is_empty() {
            tokens.ids(word)?
        } else {
            tokens.ids_of_next_word(word)?
        };
        if ids.len() + own.len() > limit {
            break;
        }
        places.push(ids.len()..ids.len() + own.len());
        ids.extend(own);
    }
    ids.extend(&frame.after);
    if ids.is_empty() {
        ids.push(frame.filler);
    }
    let states = network.states(&[ids.as_slice()], &mut TextScratch::default())?;
    let rows = states.into_iter().next().unwrap_or_default().1;
    let width = network.width();
    Ok(words
        .iter()
        .zip(places)
        .map(|(word, place)| mean_of_word(&rows, width, (word, place)))
        .collect())
}

/// The mean of the states of a word's tokens.
fn mean_of_word(rows: &[f32], width: usize, (word, place): (&&str, Range<usize>)) -> WordState {
    let mut vector = vec![0.0; width];
    for row in rows.chunks_exact(width).skip(place.start).take(place.len()) {
        vector.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    kernels::normalise(&mut vector);
    WordState {
        word: (*word).to_owned(),
        vector,
        tokens: place.len(),
    }
}

/// Keeps the rows of the text's `own` tokens, and scales each to length 1.
fn inner(width: usize, vector: Vec<f32>, rows: &[f32], own: &Range<usize>) -> TokenStates {
    let own = rows.get(own.start * width..own.end * width);
    let mut rows = own.unwrap_or(&[]).to_vec();
    rows.chunks_exact_mut(width).for_each(|row| {
        kernels::normalise(row);
    });
    TokenStates {
        vector,
        rows,
        width,
    }
}

/// Batches of at most [`BATCH_TOKENS`] tokens; a single window is always a batch.
fn batches(windows: &[StateWindow]) -> Vec<&[StateWindow]> {
    let mut tokens = 0;
    let mut starts = vec![0];
    for (at, StateWindow { ids, .. }) in windows.iter().enumerate() {
        tokens += ids.len();
        if tokens > BATCH_TOKENS && starts.last() != Some(&at) {
            starts.push(at);
            tokens = ids.len();
        }
    }
    let ends = starts.iter().skip(1).copied().chain([windows.len()]);
    let ranges = starts.iter().copied().zip(ends);
    ranges
        .filter_map(|(start, end)| windows.get(start..end).filter(|batch| !batch.is_empty()))
        .collect()
}
