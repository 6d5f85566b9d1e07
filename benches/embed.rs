//! Measures how many tokens are embedded per second of processor time, in every precision and with
//! candle's own BERT, on the markdown files below `LOCAL_AGENT_BENCH_DIR`: paragraphs as they are,
//! and chunks that fill the window.
//!
//! Processor time is the user and system time of the whole process with all threads, from
//! `/proc/self/stat`; unlike wall time, it hardly depends on the other load of the machine. The
//! engines take turns, and the best of three rounds counts. `LOCAL_AGENT_BENCH_TOKENS` (30,000) is
//! the approximate number of tokens that are embedded each time (with candle: the first 2,000),
//! `LOCAL_AGENT_BENCH_THREADS` (1; 0: all) is the number of threads. With
//! `LOCAL_AGENT_BENCH_VECTORS=FILE` the texts and their f32 vectors are written as JSON lines, for
//! `tests/data/reference_vectors.py --compare FILE` and `benches/rivals.py FILE`; those of texts
//! that fill a window are written to `FILE.full`. Exits with 1 if it measured nothing.

use std::path::{Path, PathBuf};
use std::time::Instant;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use local_agent_embed::embedding::{Embedded, Encoder, TokenCounter};
use local_agent_embed::models::Precision;
use local_agent_embed::models::{ModelFiles, NetworkConfig};
use tokenizers::Tokenizer;

/// Tokens of text in a full window of the compiled-in model.
const FULL: usize = 254;

/// Padded tokens in one of candle's batches: the size at which it is fastest.
const CANDLE_TOKENS: usize = 1024;

const ROUNDS: usize = 3;

/// Clock ticks per second in `/proc/self/stat`: 100 on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// Runs the benchmark; see the top of this file.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let dir = std::env::var_os("LOCAL_AGENT_BENCH_DIR")
        .ok_or("set LOCAL_AGENT_BENCH_DIR to a folder of markdown")?;
    let wanted = number("LOCAL_AGENT_BENCH_TOKENS", 30_000)?;
    let threads = number("LOCAL_AGENT_BENCH_THREADS", 1)?;
    let files = ModelFiles::embedded().map_err(|e| e.to_string())?;
    let counter = TokenCounter::load(&files).map_err(|e| e.to_string())?;
    let natural = passages(Path::new(&dir), wanted, &counter)?;
    let full = full_windows(&natural, &counter);
    questions(&files)?;
    let mut encoders = Vec::new();
    for (name, precision) in [
        ("f32", Precision::F32),
        ("bf16", Precision::Bf16),
        ("mixed", Precision::Mixed),
        ("int8", Precision::Int8),
    ] {
        let (start, cpu) = (Instant::now(), cpu_seconds()?);
        let encoder =
            Encoder::load(&files.clone().with_precision(precision)).map_err(|e| e.to_string())?;
        let wall = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "load {name:<6} {wall:>8.1} ms wall, {:.2} CPU s",
            cpu_seconds()? - cpu
        );
        encoders.push((name, encoder));
    }
    let candle = Candle::load(&files)?;
    let out = std::env::var_os("LOCAL_AGENT_BENCH_VECTORS").map(PathBuf::from);
    for (kind, texts) in [("natural", &natural), ("full", &full)] {
        let vectors = compare(kind, texts, &encoders, &candle, threads)?;
        if let Some(path) = &out {
            let path = if kind == "full" {
                PathBuf::from(format!("{}.full", path.display()))
            } else {
                path.clone()
            };
            let line = |(text, e): (&String, &Embedded)| {
                serde_json::json!({"text": text, "vector": e.vector}).to_string()
            };
            let lines: Vec<String> = texts.iter().zip(&vectors).map(line).collect();
            std::fs::write(path, lines.join("\n")).map_err(|e| e.to_string())?;
        }
    }
    println!("peak RSS {:.1} MiB", peak_mib()?);
    Ok(())
}

/// Measures a process with one question, and one with many.
fn questions(files: &ModelFiles) -> Result<(), String> {
    const QUESTION: &str = "how are nightly backups rotated and where are they kept";
    for (name, load) in [
        ("one", Encoder::for_questions as fn(&ModelFiles) -> _),
        ("many", Encoder::load),
    ] {
        let start = Instant::now();
        let encoder = load(files).map_err(|e| e.to_string())?;
        let loaded = start.elapsed().as_secs_f64() * 1e3;
        encoder.embed_query(QUESTION).map_err(|e| e.to_string())?;
        let first = start.elapsed().as_secs_f64() * 1e3 - loaded;
        let (start, cpu) = (Instant::now(), cpu_seconds()?);
        for _ in 0..50 {
            encoder.embed_query(QUESTION).map_err(|e| e.to_string())?;
        }
        let (wall, cpu) = (
            start.elapsed().as_secs_f64() * 20.0,
            (cpu_seconds()? - cpu) * 20.0,
        );
        println!(
            "question, {name:<4} load {loaded:.1} ms, first {first:.1} ms, then {wall:.1} ms wall, {cpu:.1} CPU ms"
        );
    }
    Ok(())
}

/// Measures all engines on `texts` in turn; returns the vectors of the first.
fn compare(
    kind: &str,
    texts: &[String],
    encoders: &[(&str, Encoder)],
    candle: &Candle,
    threads: usize,
) -> Result<Vec<Embedded>, String> {
    let inputs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut best = vec![(0.0_f64, 0.0_f64); encoders.len() + 1];
    let mut vectors: Vec<Vec<Embedded>> = Vec::new();
    for round in 0..ROUNDS {
        for (place, (_, encoder)) in encoders.iter().enumerate() {
            let (start, cpu) = (Instant::now(), cpu_seconds()?);
            let done = encoder
                .embed_passages(&inputs, threads, usize::MAX, &|_| ())
                .map_err(|e| e.to_string())?;
            let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds()? - cpu);
            let tokens = done.iter().map(|e| f64::from(e.tokens)).sum::<f64>();
            if tokens == 0.0 || cpu <= 0.0 {
                return Err("nothing was measured".into());
            }
            best[place] = (
                best[place].0.max(tokens / cpu),
                best[place].1.max(tokens / wall),
            );
            if round == 0 {
                vectors.push(done);
            }
        }
        let (start, cpu) = (Instant::now(), cpu_seconds()?);
        let tokens = candle.embed(&inputs)? as f64;
        let place = encoders.len();
        best[place].0 = best[place].0.max(tokens / (cpu_seconds()? - cpu));
        best[place].1 = best[place].1.max(tokens / start.elapsed().as_secs_f64());
    }
    let tokens = vectors[0].iter().map(|e| u64::from(e.tokens)).sum::<u64>();
    println!(
        "\n{kind}: {} texts, {tokens} tokens, {} threads",
        texts.len(),
        threads
    );
    println!("engine  tokens/CPU s  tokens/s  to candle  mean cosine  least cosine");
    let (candles, _) = best[encoders.len()];
    for (((name, _), found), (per_cpu, per_second)) in encoders.iter().zip(&vectors).zip(&best) {
        let cosines = found.iter().zip(&vectors[0]).map(|(a, b)| {
            a.vector
                .iter()
                .zip(&b.vector)
                .map(|(a, b)| f64::from(*a) * f64::from(*b))
                .sum::<f64>()
        });
        let (sum, least) = cosines.fold((0.0, 1.0_f64), |(sum, least), cosine| {
            (sum + cosine, least.min(cosine))
        });
        let (mean, ratio) = (sum / found.len() as f64, per_cpu / candles);
        println!(
            "{name:<7} {per_cpu:>12.0} {per_second:>9.0} {ratio:>10.2} {mean:>12.6} {least:>13.6}"
        );
    }
    println!(
        "candle  {candles:>12.0} {:>9.0} {:>10.2}",
        best[encoders.len()].1,
        1.0
    );
    Ok(vectors.remove(0))
}

/// candle-transformers' BERT, texts sorted by length, batches of few padded tokens, one thread.
struct Candle {
    bert: BertModel,
    tokenizer: Tokenizer,
    pool: rayon::ThreadPool,
}

impl Candle {
    fn load(files: &ModelFiles) -> Result<Self, String> {
        let NetworkConfig::Bert(shape) = files.network() else {
            return Err("the compiled-in model is not a BERT".to_owned());
        };
        let config = Config {
            vocab_size: shape.vocabulary,
            hidden_size: shape.hidden,
            num_hidden_layers: shape.layers,
            num_attention_heads: shape.heads,
            intermediate_size: shape.intermediate,
            max_position_embeddings: shape.positions,
            layer_norm_eps: f64::from(shape.norm_eps),
            ..Config::default()
        };
        let weights = VarBuilder::from_slice_safetensors(
            files.weights().as_slice(),
            DType::F32,
            &Device::Cpu,
        );
        let bert = weights.and_then(|weights| BertModel::load(weights, &config));
        let mut tokenizer = Tokenizer::from_bytes(files.tokenizer()).map_err(|e| e.to_string())?;
        tokenizer
            .with_truncation(None)
            .map_err(|e| e.to_string())?
            .with_padding(None);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self {
            bert: bert.map_err(|e| e.to_string())?,
            tokenizer,
            pool,
        })
    }

    /// Embeds texts until there are 2,000 tokens; returns the number of tokens, without special
    /// tokens.
    fn embed(&self, texts: &[&str]) -> Result<usize, String> {
        const TOKENS: usize = 2_000;
        let (mut all, mut tokens) = (Vec::new(), 0);
        // Texts are spread evenly, because the first ones may be short.
        for text in (0..7).flat_map(|offset| texts.iter().skip(offset).step_by(7)) {
            let ids = self
                .tokenizer
                .encode_fast(*text, true)
                .map_err(|e| e.to_string())?
                .get_ids()
                .to_vec();
            let ids = ids[..ids.len().min(FULL + 2)].to_vec();
            tokens += ids.len() - 2;
            all.push(ids);
            if tokens >= TOKENS {
                break;
            }
        }
        all.sort_by_key(|ids| std::cmp::Reverse(ids.len()));
        let mut rest = all.as_slice();
        while let Some(longest) = rest.first() {
            let (batch, others) =
                rest.split_at((CANDLE_TOKENS / longest.len()).clamp(1, rest.len()));
            rest = others;
            self.pool
                .install(|| self.forward(batch))
                .map_err(|e| e.to_string())?;
        }
        Ok(tokens)
    }

    fn forward(&self, batch: &[Vec<u32>]) -> candle_core::Result<Tensor> {
        let longest = batch[0].len();
        let padded = |of: fn(&u32) -> u32| {
            batch.iter().flat_map(move |ids| {
                ids.iter()
                    .map(of)
                    .chain(std::iter::repeat_n(0, longest - ids.len()))
            })
        };
        let shape = (batch.len(), longest);
        let ids = Tensor::from_iter(padded(|id| *id), &Device::Cpu)?.reshape(shape)?;
        let mask = Tensor::from_iter(padded(|_| 1), &Device::Cpu)?.reshape(shape)?;
        let tokens = self.bert.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let mask = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
        let sum = tokens.broadcast_mul(&mask)?.sum(1)?;
        sum.broadcast_div(&sum.sqr()?.sum_keepdim(1)?.sqrt()?)
    }
}

/// The words of `texts`, joined into texts that just fill a window.
fn full_windows(texts: &[String], counter: &TokenCounter) -> Vec<String> {
    let (mut full, mut text, mut tokens) = (Vec::new(), String::new(), 0);
    for word in texts.iter().flat_map(|text| text.split_whitespace()) {
        let count = counter.count(word);
        if tokens + count > FULL {
            full.push(std::mem::take(&mut text));
            tokens = 0;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
        tokens += count;
    }
    full
}

fn number(name: &str, default: usize) -> Result<usize, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|_| format!("{name} is not a number")),
        Err(_) => Ok(default),
    }
}

/// Paragraphs of the files below `dir`, with about `wanted` tokens in total.
fn passages(dir: &Path, wanted: usize, counter: &TokenCounter) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    collect(dir, &mut paths).map_err(|e| format!("{}: {e}", dir.display()))?;
    paths.sort();
    let (mut texts, mut tokens) = (Vec::new(), 0);
    // Every tenth file comes first, because neighbours in one folder are too similar.
    for path in (0..10).flat_map(|offset| paths.iter().skip(offset).step_by(10)) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for paragraph in text.split("\n\n").map(str::trim).filter(|p| p.len() > 20) {
            if tokens >= wanted {
                return Ok(texts);
            }
            tokens += counter.count(paragraph);
            texts.push(paragraph.to_owned());
        }
    }
    Ok(texts)
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            paths.push(path);
        }
    }
    Ok(())
}

/// User and system time of this process so far.
fn cpu_seconds() -> Result<f64, String> {
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|e| e.to_string())?;
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|t| t.parse::<f64>().ok())
        .sum();
    Ok(ticks / TICKS)
}

fn peak_mib() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    line.split_whitespace()
        .next()
        .and_then(|kb| kb.parse::<f64>().ok())
        .map(|kb| kb / 1024.0)
        .ok_or("no VmHWM".into())
}
