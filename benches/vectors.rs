//! Measures the time of one search with each kernel, compared with the time for only reading the
//! same bytes.
//!
//! `cargo bench -- vectors` measures 50,000, 250,000 and 1,000,000 random unit vectors of 384
//! dimensions (the last writes 1.2 GB of temporary files); sizes may be given instead.
//!
//! Random vectors are the hardest case for 8-bit codes. If `LOCAL_AGENT_BENCH_STATE` names the
//! state folder of an index that was embedded with the compiled-in model, and
//! `LOCAL_AGENT_BENCH_QUERIES` a file of questions (`{"text": …}` per line), recall is measured on
//! those.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use local_agent_embed::embedding::Encoder;
use local_agent_embed::models::ModelFiles;
use local_agent_index::ids::{ChunkId, RowId as _};
use local_agent_index::vectors::{Kernel, Matrix, MatrixStamp, Row, VectorWriter};
use local_agent_text::types::{ChunkKey, CommitId, Fingerprint};

const DIM: usize = 384;
const QUERIES: u64 = 20;
const HITS: usize = 10;

type Failed = Box<dyn std::error::Error>;
/// Score and id of the true best rows of one query, best first.
type Truth = Vec<(f32, i64)>;

/// Runs the benchmark; see the top of this file.
pub(crate) fn run(sizes: &[String]) -> Result<(), String> {
    let size = |word: &String| {
        word.parse()
            .map_err(|_| format!("{word} is no number of rows"))
    };
    let mut sizes = sizes.iter().map(size).collect::<Result<Vec<u64>, _>>()?;
    if sizes.is_empty() {
        sizes = vec![50_000, 250_000, 1_000_000];
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{cores} cores; {QUERIES} queries for {HITS} hits; ratio: best to floor (a best too)");
    println!(
        "{:>9}  {:<12} {:>9} {:>9} {:>9} {:>9} {:>7}  recall@{HITS}",
        "rows", "kernel", "first ms", "median ms", "best ms", "floor ms", "ratio"
    );
    let mut lines = 0;
    if let (Some(state), Some(queries)) = (
        std::env::var_os("LOCAL_AGENT_BENCH_STATE"),
        std::env::var_os("LOCAL_AGENT_BENCH_QUERIES"),
    ) {
        match real(&Path::new(&state).join("vectors"), Path::new(&queries)) {
            Ok(n) => lines += n,
            Err(failure) => eprintln!("{}: {failure}", state.display()),
        }
    }
    for size in sizes {
        match measure(size) {
            Ok(n) => lines += n,
            Err(failure) => eprintln!("{size} rows: {failure}"),
        }
    }
    if lines > 0 {
        Ok(())
    } else {
        Err("nothing was measured".to_owned())
    }
}

/// Prints one line per kernel and returns the number of lines.
fn measure(rows: u64) -> Result<usize, Failed> {
    let dir = tempfile::tempdir()?;
    let queries: Vec<_> = (0..QUERIES).map(|q| unit(u64::MAX / 2 + q)).collect();
    let truth = build(dir.path(), rows, &queries)?;
    let data: Vec<u64> = (0..rows * DIM as u64 / 8).collect();
    let mut lines = 0;
    for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
        let matrix = Matrix::open(dir.path())?.ok_or("no matrix")?;
        let (mut times, mut floors, mut found) = (Vec::new(), Vec::new(), 0);
        for (query, best) in queries.iter().zip(&truth) {
            // Measured alternately, so that other load of the machine slows both.
            floors.push(read_ms(&data));
            let start = Instant::now();
            let hits = black_box(matrix.search_with(kernel, query, HITS, None)?);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            found += hits
                .iter()
                .filter(|h| best.iter().any(|(_, id)| *id == h.chunk_id.row()))
                .count();
        }
        let first = times.first().copied().ok_or("no query")?;
        let (best, median) = best_and_median(times);
        let (floor, _) = best_and_median(floors);
        let recall = found as f64 / truth.iter().map(Vec::len).sum::<usize>() as f64;
        println!(
            "{rows:>9}  {:<12} {first:>9.2} {median:>9.2} {best:>9.2} {floor:>9.2} {:>7.2}  {recall:.4}",
            kernel.as_str(),
            best / floor
        );
        lines += 1;
    }
    Ok(lines)
}

/// Recall on real vectors and questions. The reference result is the same search with exact scores
/// for every row.
fn real(vectors: &Path, queries: &Path) -> Result<usize, Failed> {
    let matrix = Matrix::open(vectors)?.ok_or("no matrix")?;
    let encoder = Encoder::load(&ModelFiles::embedded()?)?;
    let texts = std::fs::read_to_string(queries)?;
    let (mut times, mut found, mut wanted) = (Vec::new(), 0, 0);
    for line in texts.lines() {
        let query: serde_json::Value = serde_json::from_str(line)?;
        let vector = encoder
            .embed_query(query["text"].as_str().ok_or("a question without a text")?)?
            .vector;
        let start = Instant::now();
        let hits = black_box(matrix.search(&vector, HITS, None)?);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let best = matrix.search(&vector, matrix.len(), None)?;
        found += best
            .iter()
            .take(HITS)
            .filter(|b| hits.iter().any(|h| h.chunk_id == b.chunk_id))
            .count();
        wanted += best.len().min(HITS);
    }
    if wanted == 0 {
        return Err("no question, or no row".into());
    }
    let (best, median) = best_and_median(times);
    let (rows, recall) = (matrix.len(), found as f64 / wanted as f64);
    println!(
        "{rows:>9}  real         {:>9} {median:>9.2} {best:>9.2} {:>9} {:>7}  {recall:.4}",
        "", "", ""
    );
    Ok(1)
}

/// Publishes the rows and returns the true best rows of each query, by brute force on the f32
/// vectors.
fn build(dir: &Path, rows: u64, queries: &[Vec<f32>]) -> Result<Vec<Truth>, Failed> {
    let start = Instant::now();
    let stamp = MatrixStamp {
        index_commit: CommitId::from_bytes([0; 16]),
        embed_commit: CommitId::from_bytes([0; 16]),
        fingerprint: Fingerprint::from_bytes([0; 32]),
        chunker_sig: "bench".into(),
        dim: DIM,
    };
    let mut writer = VectorWriter::rebuild(dir, stamp)?;
    let mut truth = vec![Vec::new(); queries.len()];
    let mut writing = 0.0;
    for n in 0..rows {
        let vector = unit(n);
        for (query, best) in queries.iter().zip(&mut truth) {
            let dot: f32 = query.iter().zip(&vector).map(|(a, b)| a * b).sum();
            keep_best(best, (dot, n as i64));
        }
        let add = Instant::now();
        let key = ChunkKey::from_bytes(u128::from(n).to_be_bytes());
        writer.add(&Row {
            chunk_id: ChunkId::from_row(n as i64),
            key,
            vector: &vector,
        })?;
        writing += add.elapsed().as_secs_f64();
    }
    let publish = Instant::now();
    writer.publish()?;
    writing += publish.elapsed().as_secs_f64();
    eprintln!(
        "{rows} rows: published in {writing:.1} s (of {:.1} s set-up)",
        start.elapsed().as_secs_f64()
    );
    Ok(truth)
}

fn keep_best(best: &mut Truth, new: (f32, i64)) {
    if best.len() == HITS && best.last().is_some_and(|worst| new.0 <= worst.0) {
        return;
    }
    let at = best.partition_point(|b| b.0 >= new.0);
    best.insert(at, new);
    best.truncate(HITS);
}

/// The time to read all of `data` once, with as many threads as a search of that size uses.
fn read_ms(data: &[u64]) -> f64 {
    let threads = if data.len() * 8 / DIM > 32 * 1024 {
        2
    } else {
        1
    };
    let start = Instant::now();
    std::thread::scope(|scope| {
        for part in data.chunks(data.len().div_ceil(threads).max(1)) {
            scope.spawn(|| black_box(sum(part)));
        }
    });
    start.elapsed().as_secs_f64() * 1e3
}

/// There are eight running sums, so that the additions do not wait for each other.
fn sum(data: &[u64]) -> u64 {
    let mut sums = [0u64; 8];
    for eight in data.as_chunks::<8>().0 {
        sums.iter_mut()
            .zip(eight)
            .for_each(|(s, v)| *s = s.wrapping_add(*v));
    }
    sums.iter().fold(0, |a, b| a ^ b)
}

fn best_and_median(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |i: usize| times.get(i).copied().unwrap_or(f64::NAN);
    (at(0), at(times.len() / 2))
}

/// A random direction: each value is the sum of four uniform numbers; the vector is then
/// normalised.
fn unit(seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut vector: Vec<f32> = (0..DIM)
        .map(|_| {
            // SplitMix64 (public-domain constants by S. Vigna).
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            let z = z ^ (z >> 31);
            (0..4)
                .map(|i| ((z >> (16 * i)) & 0xFFFF) as f32 / 65536.0 - 0.5)
                .sum()
        })
        .collect();
    let norm = vector
        .iter()
        .map(|v| f64::from(*v).powi(2))
        .sum::<f64>()
        .sqrt();
    for v in &mut vector {
        *v = (f64::from(*v) / norm) as f32;
    }
    vector
}
