//! The last hidden states of texts: what each word means in its context.
//!
//! The vector of a text is the mean of these states. Comparing two texts word by word is finer
//! ("late interaction", as in ColBERT, Khattab and Zaharia 2020).

use std::sync::atomic::{AtomicUsize, Ordering};

use local_agent_kernels::elementwise as kernels;
use local_agent_kernels::network::BATCH_TOKENS;

use super::batch::{Frame, on_workers};
use super::bert::{Bert, Scratch};
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
}

impl TokenStates {
    /// The vectors of the tokens, in order.
    pub fn tokens(&self) -> impl Iterator<Item = &[f32]> {
        self.rows.chunks_exact(self.vector.len().max(1))
    }

    /// The highest cosine of `vector` (of length 1) with a token; −1 without tokens.
    pub fn best_cosine(&self, vector: &[f32]) -> f32 {
        let dot = |row: &[f32]| row.iter().zip(vector).map(|(a, b)| a * b).sum::<f32>();
        self.tokens().map(dot).fold(-1.0, f32::max)
    }
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct WordState {
    /// The word as it was given.
    pub word: String,
    /// The mean of its tokens' states, of length 1.
    pub vector: Vec<f32>,
    /// Number of tokens that the word was cut into; many tokens for few characters mean that the
    /// model does not know it.
    pub tokens: usize,
}

/// The states of `texts`, in the same order, computed by `threads` workers.
pub(super) fn of_texts(
    bert: &Bert,
    tokens: &TokenCounter,
    frame: &Frame,
    texts: &[&str],
    threads: usize,
) -> Result<Vec<TokenStates>> {
    let mut windows: Vec<(usize, Vec<u32>)> = Vec::with_capacity(texts.len());
    for (text, words) in texts.iter().enumerate() {
        let ids = tokens.ids(words)?;
        let cut = ids.get(..frame.room).unwrap_or(&ids);
        windows.extend(frame.windows(cut).into_iter().map(|ids| (text, ids)));
    }
    windows.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    let batches = batches(&windows);
    let next = AtomicUsize::new(0);
    let own = frame.prefix.len() + 1;
    let work = || -> Result<Vec<(usize, TokenStates)>> {
        let (mut scratch, mut done) = (Scratch::default(), Vec::new());
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ids: Vec<&[u32]> = batch.iter().map(|(_, ids)| ids.as_slice()).collect();
            let states = bert.states(&ids, &mut scratch)?;
            let texts = batch.iter().map(|(text, _)| *text);
            done.extend(texts.zip(states.into_iter().map(|one| inner(bert, one, own))));
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
    bert: &Bert,
    tokens: &TokenCounter,
    frame: &Frame,
    words: &[&str],
) -> Result<Vec<WordState>> {
    let mut ids = vec![frame.first];
    ids.extend(&frame.prefix);
    let mut places = Vec::with_capacity(words.len());
    let limit = frame.room + ids.len();
    for word in words {
        let own = tokens.ids(word)?;
        if ids.len() + own.len() > limit {
            break;
        }
        places.push(ids.len()..ids.len() + own.len());
        ids.extend(own);
    }
    ids.push(frame.last);
    let states = bert.states(&[ids.as_slice()], &mut Scratch::default())?;
    let rows = states.into_iter().next().unwrap_or_default().1;
    let width = bert.dim();
    let of = |(word, place): (&&str, std::ops::Range<usize>)| {
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
    };
    Ok(words.iter().zip(places).map(of).collect())
}

/// Drops the special tokens and the prefix, and scales every row to length 1.
fn inner(bert: &Bert, (vector, rows): (Vec<f32>, Vec<f32>), skip: usize) -> TokenStates {
    let width = bert.dim();
    let end = rows.len().saturating_sub(width);
    let mut rows = rows.get(skip * width..end).unwrap_or(&[]).to_vec();
    rows.chunks_exact_mut(width).for_each(|row| {
        kernels::normalise(row);
    });
    TokenStates { vector, rows }
}

/// Batches of at most [`BATCH_TOKENS`] tokens; a single window is always a batch.
fn batches(windows: &[(usize, Vec<u32>)]) -> Vec<&[(usize, Vec<u32>)]> {
    let mut tokens = 0;
    let mut starts = vec![0];
    for (at, (_, ids)) in windows.iter().enumerate() {
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
