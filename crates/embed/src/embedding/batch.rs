//! Embeds many texts on many cores: cuts them into windows, and gives each core micro-batches that
//! fit in its cache.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use local_agent_kernels::elementwise as kernels;
use local_agent_kernels::network::BATCH_TOKENS;

use super::network::{TextNetwork, TextScratch};
use super::tokens::TokenCounter;
use local_agent_text::error::{Failure, Result};

/// The vector of one passage, with the cost of computing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// The vector, of length 1.
    pub vector: Vec<f32>,
    /// Tokens of the input, not counting special tokens and the prefix.
    pub tokens: u32,
    /// The number of windows into which the input was cut; their vectors were averaged.
    pub windows: u32,
}

/// The tokens around every window, and how many tokens of text fit between them.
pub(super) struct Frame {
    /// Special tokens at the start.
    pub before: Vec<u32>,
    /// Special tokens at the end.
    pub after: Vec<u32>,
    /// The prefix of every text, and its tokens.
    pub prefix_text: String,
    pub prefix: Vec<u32>,
    /// The token for a window that would otherwise be empty.
    pub filler: u32,
    /// Tokens of text that fit into one window.
    pub room: usize,
}

/// A text as tokens: those of its prefix, and its own.
pub(super) struct Framed<'a> {
    /// The tokens of the prefix.
    pub prefix: &'a [u32],
    /// The tokens of the text.
    pub own: Vec<u32>,
}

impl Frame {
    /// The tokens of a text.
    pub(super) fn tokens(&self, tokens: &TokenCounter, text: &str) -> Result<Framed<'_>> {
        let (same, own) = tokens.ids_behind(&self.prefix_text, &self.prefix, text)?;
        Ok(Framed {
            prefix: self.prefix.get(..same).unwrap_or(&self.prefix),
            own,
        })
    }

    /// The inputs for one text: as many windows as it needs, of nearly equal length, so that none
    /// is nearly empty.
    pub(super) fn windows(&self, text: &Framed<'_>) -> Vec<Vec<u32>> {
        let ids = text.own.as_slice();
        let count = ids.len().div_ceil(self.room).max(1);
        let size = ids.len().div_ceil(count).max(1);
        if ids.is_empty() {
            vec![self.window(text.prefix, ids)]
        } else {
            ids.chunks(size)
                .map(|part| self.window(text.prefix, part))
                .collect()
        }
    }

    fn window(&self, prefix: &[u32], part: &[u32]) -> Vec<u32> {
        let mut window = [&self.before, prefix, part, &self.after].concat();
        if window.is_empty() {
            window.push(self.filler);
        }
        window
    }
}

/// One window of one text.
struct Window {
    text: usize,
    ids: Vec<u32>,
}

/// Embeds `texts`; the results are in the same order.
pub(super) fn embed(
    network: &TextNetwork,
    tokens: &TokenCounter,
    frame: &Frame,
    texts: &[&str],
    threads: usize,
    batch_tokens: usize,
    on_done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Embedded>> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let counted = tokenise(tokens, frame, texts, threads)?;
    let mut windows = Vec::with_capacity(texts.len());
    for (text, (_, own)) in counted.iter().enumerate() {
        windows.extend(own.iter().map(|ids| Window {
            text,
            ids: ids.clone(),
        }));
    }
    // Longest first, so that the last batches to finish are short.
    windows.sort_by_key(|w| std::cmp::Reverse(w.ids.len()));
    let batches = micro_batches(&windows, batch_tokens.min(BATCH_TOKENS));
    let left: Vec<AtomicUsize> = counted
        .iter()
        .map(|(_, own)| AtomicUsize::new(own.len()))
        .collect();
    let job = Job {
        network,
        batches: &batches,
        left: &left,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        on_done,
    };
    let parts = on_workers(threads.min(batches.len()), || job.run())?;

    let mut out: Vec<Embedded> = counted
        .iter()
        .map(|(count, own)| Embedded {
            vector: vec![0.0; network.dimensions()],
            tokens: u32::try_from(*count).unwrap_or(u32::MAX),
            windows: u32::try_from(own.len()).unwrap_or(u32::MAX),
        })
        .collect();
    // In the order of the windows and not of the workers, because a sum of floats depends on its
    // order.
    let mut vectors: Vec<_> = parts.into_iter().flatten().collect();
    vectors.sort_by_key(|(batch, _)| *batch);
    for (window, vector) in windows
        .iter()
        .zip(vectors.into_iter().flat_map(|(_, vectors)| vectors))
    {
        let sum = &mut out[window.text].vector;
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    for embedded in out.iter_mut().filter(|e| e.windows > 1) {
        if !kernels::normalise(&mut embedded.vector) {
            return Err(Failure::internal(
                "the windows of a text cancel each other out",
            ));
        }
    }
    Ok(out)
}

/// Token count and windows of every text, computed on `threads` threads.
fn tokenise(
    tokens: &TokenCounter,
    frame: &Frame,
    texts: &[&str],
    threads: usize,
) -> Result<Vec<(usize, Vec<Vec<u32>>)>> {
    let size = texts.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = texts
            .chunks(size)
            .map(|part| {
                scope.spawn(move || {
                    part.iter()
                        .map(|text| cut_into_windows(frame, tokens, text))
                        .collect::<Result<Vec<_>>>()
                })
            })
            .collect();
        let mut all = Vec::with_capacity(texts.len());
        for worker in workers {
            all.extend(worker.join().map_err(|_| panicked())??);
        }
        Ok(all)
    })
}

/// The number of tokens of a text, and its windows.
fn cut_into_windows(
    frame: &Frame,
    tokens: &TokenCounter,
    text: &str,
) -> Result<(usize, Vec<Vec<u32>>)> {
    let framed = frame.tokens(tokens, text)?;
    Ok((framed.own.len(), frame.windows(&framed)))
}

/// Splits windows into batches of at most `budget` tokens; a single window is always a batch.
fn micro_batches(windows: &[Window], budget: usize) -> Vec<&[Window]> {
    let (mut batches, mut rest) = (Vec::new(), windows);
    while let Some(first) = rest.first() {
        let mut tokens = first.ids.len();
        let mut count = 1;
        for window in &rest[1..] {
            tokens += window.ids.len();
            if tokens > budget {
                break;
            }
            count += 1;
        }
        let (batch, others) = rest.split_at(count);
        batches.push(batch);
        rest = others;
    }
    batches
}

/// The data that the workers share.
struct Job<'a> {
    network: &'a TextNetwork,
    batches: &'a [&'a [Window]],
    /// For each text, the number of its unfinished windows.
    left: &'a [AtomicUsize],
    next: AtomicUsize,
    stop: AtomicBool,
    on_done: &'a (dyn Fn(usize) + Sync),
}

impl Job<'_> {
    /// Processes batches until none is left; returns the results with the batch numbers.
    fn run(&self) -> Result<Vec<(usize, Vec<Vec<f32>>)>> {
        let mut done = Vec::new();
        let mut scratch = TextScratch::default();
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = self.batches.get(number) else {
                break;
            };
            let ids: Vec<&[u32]> = batch.iter().map(|w| w.ids.as_slice()).collect();
            let vectors = self.network.encode(&ids, &mut scratch);
            let vectors = vectors.inspect_err(|_| self.stop.store(true, Ordering::Relaxed))?;
            done.push((number, vectors));
            let finished = batch
                .iter()
                .filter(|w| self.left[w.text].fetch_sub(1, Ordering::AcqRel) == 1)
                .count();
            if finished > 0 {
                (self.on_done)(finished);
            }
        }
        Ok(done)
    }
}

/// Runs `work` on `threads` threads at once and collects the results.
pub(super) fn on_workers<T: Send>(
    threads: usize,
    work: impl Fn() -> Result<T> + Sync,
) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| alone(&work))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().map_err(|_| panicked())?)
            .collect()
    })
}

/// Runs `work` in a pool of one thread. candle splits each matrix product over the threads of its
/// pool, and one product per core is faster than one product over all cores.
pub(super) fn alone<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.map_err(|e| Failure::internal(format!("no thread for the encoder: {e}")))?
        .install(work)
}

fn panicked() -> Failure {
    Failure::internal("a thread of the encoder panicked")
}
